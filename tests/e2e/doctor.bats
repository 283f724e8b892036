#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn doctor: one line per check, each of which can fail.

bats_require_minimum_version 1.5.0
load helpers

# The newest log, whatever lies in /tmp of this computer.
setup_file() {
    mkdir "$BATS_FILE_TMPDIR/tmp"
    printf '{"kind":"%s"}\n' process summary | make_log "$BATS_FILE_TMPDIR/tmp/whichcudnn-n-1-1.jsonl"
    touch -d '1 day' "$BATS_FILE_TMPDIR/tmp/whichcudnn-n-1-1.jsonl"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp "$SHIM" libwhichcudnn.so
    export WHICHCUDNN_SHIM=$PWD/libwhichcudnn.so TMPDIR=$BATS_FILE_TMPDIR/tmp ASAN_OPTIONS=verify_asan_link_order=0
    unset LD_PRELOAD
}

doctor() { "$CMD" doctor "$@"; }
# says STATE NAME TEXT: a line of $output.
says() {
    grep -qE "^$1 +$2 +.*$3" <<<"$output" && return
    echo "no line '$1 $2 ...$3' in:"
    echo "$output"
    return 1
}

@test "all is well, as far as a computer without a GPU can tell" {
    run -0 --separate-stderr doctor
    is "$stderr" ""
    says ok library "$PWD/libwhichcudnn.so"
    says ok preload 'a small child wrote a log'
    says ok others 'nothing else is preloaded'
    says ok variables ''
    says ok place "/tmp/whichcudnn-$(id -u) can be written"
    says ok system "glibc $(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)"
    grep -qE '^(ok|warning) +driver ' <<<"$output"
    grep -qE '^(ok|warning) +gpu ' <<<"$output"
    [[ $output != *$'\e['* && $(doctor --color=always) == *$'\e['* ]]
    # Nothing is left behind.
    is "$(ls -I 'separate-stderr*') $(ls "$TMPDIR")" "libwhichcudnn.so whichcudnn-n-1-1.jsonl"
}

@test "the tables: their day and newest release; a warning once they are older than a year" {
    local day
    day=$(($(date -ud "$(knows tables)" +%s) / 86400))
    # time() of a computer on which it is N days later than the tables.
    late() {
        "${CC:-gcc}" -shared -fPIC -x c - -o late.so <<<"#include <time.h>
time_t time(time_t *t) { time_t now = ($day + $1) * 86400L; if (t) *t = now; return now; }"
        LD_PRELOAD=$PWD/late.so run -0 doctor
    }
    late 365
    says ok tables "know cuDNN up to $(knows cudnn), read on $(knows tables)"
    late 366
    says warning tables "know cuDNN up to $(knows cudnn), read on $(knows tables)"
    [[ $output == *"a newer whichcudnn knows newer releases"* ]]
}

@test "as JSON: the same" {
    run -0 doctor --json
    is "$(jq -r '.checks[] | select(.name == "preload") | .state' <<<"$output")" ok
    is "$(jq -c 'keys, (.checks[0] | keys_unsorted)' <<<"$output" | xargs)" \
        '[checks,verdict] [name,state,text,fix]'
    is "$(jq '.checks | length' <<<"$output")" "$(doctor | grep -cE '^(ok|warning|error) ')"
    WHICHCUDNN_DISABLE=1 run -1 doctor --json
    is "$(jq -r .verdict <<<"$output")" errors
}

@test "the library: not there, not to be preloaded, none, of another processor" {
    WHICHCUDNN_SHIM=$PWD/gone.so run -1 doctor
    says error library 'is neither next to this program'
    [[ $output != *preload* || $output != *"small child"* ]]
    mkdir 'a b'
    cp libwhichcudnn.so 'a b'/
    WHICHCUDNN_SHIM="$PWD/a b/libwhichcudnn.so" run -1 doctor
    says error library 'splits at spaces'
    echo text >text.so
    WHICHCUDNN_SHIM=$PWD/text.so run -1 doctor
    says error library 'is not a library of 64 bits'
    cp libwhichcudnn.so other.so
    printf '\x15' | dd of=other.so bs=1 seek=18 conv=notrunc status=none # EM_PPC64
    WHICHCUDNN_SHIM=$PWD/other.so run -1 doctor
    says error library 'is for another processor'
    head -c 3000 libwhichcudnn.so >cut.so
    WHICHCUDNN_SHIM=$PWD/cut.so run -1 doctor
    says error 'library|preload' ''
}

@test "the preload: what the loader refuses, a library that does nothing" {
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o empty.so
    WHICHCUDNN_SHIM=$PWD/empty.so run -1 doctor
    says error preload 'wrote no log'
    "${CC:-gcc}" -shared -fPIC -o needs.so -Wl,--no-as-needed "$PWD/empty.so"
    mv empty.so gone.so
    WHICHCUDNN_SHIM=$PWD/needs.so run -1 doctor
    says error preload 'empty.so'
}

@test "the preload: another one in the way" {
    # One that ends every process that it is in, before it can ask for anything.
    echo '#include <unistd.h>
__attribute__((constructor)) static void end(void) { if (getenv("WHICHCUDNN_LOG")) _exit(0); }' |
        "${CC:-gcc}" -include stdlib.h -shared -fPIC -x c - -o end.so
    LD_PRELOAD=$PWD/end.so run -1 doctor
    says error preload 'does not work after the libraries that LD_PRELOAD names'
    says ok others "$PWD/end.so, in LD_PRELOAD"
}

@test "others: listed; one that is gone; another copy of ours" {
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o other.so
    LD_PRELOAD=$PWD/other.so run -0 doctor
    says ok others "$PWD/other.so, in LD_PRELOAD"
    says ok preload ''
    LD_PRELOAD=$PWD/gone.so run -0 --separate-stderr doctor
    says warning others "$PWD/gone.so in LD_PRELOAD: No such file"
    says warning preload 'the loader says: .*gone.so'
    mkdir copy
    cp libwhichcudnn.so copy/
    LD_PRELOAD=$PWD/copy/libwhichcudnn.so run -0 doctor
    says warning others 'is another copy of'
    LD_PRELOAD=$PWD/libwhichcudnn.so run -0 doctor
    says ok others 'nothing else'
}

@test "variables and their values" {
    WHICHCUDNN_STDERR=loud WHICHCUDNN_EXPECT=nine run -0 doctor
    says warning variables 'WHICHCUDNN_STDERR=loud is not understood'
    says warning variables 'WHICHCUDNN_EXPECT=nine is not understood'
    WHICHCUDNN_STDERR=all WHICHCUDNN_CALLS=off WHICHCUDNN_EXPECT='>=9.8,<10' run -0 doctor
    says ok variables 'all understood'
    WHICHCUDNN_DISABLE=1 run -1 doctor
    says error variables 'WHICHCUDNN_DISABLE=1'
    says ok preload ''
    WHICHCUDNN_STDERR=$'\e[31m' run -0 doctor
    [[ $output != *$'\e'* ]]
}

@test "the place of logs" {
    WHICHCUDNN_LOG=/no/such/place/ run -1 doctor
    says error place '/no/such/place'
    mkdir logs
    WHICHCUDNN_LOG=logs run -0 doctor
    says ok place "$PWD/logs can be written"
    WHICHCUDNN_LOG=$PWD/%p/log run -0 doctor
    says ok place 'its own directory'
    run -0 doctor
    says ok place "/tmp/whichcudnn-$(id -u) can be written"
    WHICHCUDNN_LOG=/dev/null run -0 doctor
    says warning place 'no log is written'
    [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || skip "needs a mount of its own"
    WHICHCUDNN_LOG=$PWD/logs run -0 unshare -m sh -c "mount -t tmpfs -o size=4k none logs; head -c 4096 /dev/zero >logs/full; '$CMD' doctor"
    says warning place 'hardly any room'
}

@test "a log's own trouble; the newest log by itself" {
    make_child
    (
        sed 's/RUN_PID/1/' sick
        echo '{"kind":"unobserved","what":"records of this log","why":"the log file takes no more"}'
        echo '{"kind":"summary","dropped":7}'
    ) | make_log trouble.jsonl
    run -0 doctor trouble.jsonl
    says warning log 'trouble.jsonl: records of this log: the log file takes no more'
    says warning log 'trouble.jsonl: 7 facts or records found no room'
    echo '{"half' >>trouble.jsonl
    run -0 doctor trouble.jsonl
    says warning log '1 lines cannot be read, the first is line 11'
    sed 's/RUN_PID/1/' well | make_log whichcudnn-n-5-5.jsonl
    touch -d '2 days' whichcudnn-n-5-5.jsonl
    run -0 doctor
    says ok log 'whichcudnn-n-5-5.jsonl: no trouble'
    run -2 doctor whichcudnn-n-5-5.jsonl /no/such/log
    says error log '/no/such/log: No such file'
}

@test "usage" {
    run -0 --separate-stderr doctor --help
    [[ $output == "Usage: whichcudnn doctor"* && -z $stderr ]]
    run -2 doctor --no-such
    run -2 doctor --color=perhaps
}
