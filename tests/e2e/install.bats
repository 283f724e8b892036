#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn install: the library in a directory that others see, whole or not at all.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir shared
    export TMPDIR=$PWD
}

# refused WORDS COMMAND...: it says so, with status 2, and the directory is as it was.
refused() {
    local words=$1 before
    shift
    before=$(ls -lAi shared)
    run -2 --separate-stderr "$@"
    echo "$stderr"
    [[ $output == "" && $stderr == "whichcudnn: "*"$words"* ]]
    is "$(ls -lAi shared)" "$before"
}

# library NAME SOURCE [FLAG]...: another library under our name.
library() {
    mkdir -p "$1"
    "${CC:-gcc}" -shared -fPIC -o "$1/libwhichcudnn.so" "${@:3}" -xc - <<<"$2"
    export WHICHCUDNN_SHIM=$PWD/$1/libwhichcudnn.so
}

@test "the copy is the library, readable by all, alone in its directory, and its path is printed" {
    umask 077
    run -0 --separate-stderr "$CMD" install ./shared/
    is "$output" "$PWD/shared/libwhichcudnn.so"
    is "$stderr" ''
    cmp "$SHIM" shared/libwhichcudnn.so
    is "$(stat -c %a shared/libwhichcudnn.so)" 644
    is "$(ls -A shared)" libwhichcudnn.so
    LD_PRELOAD=$output WHICHCUDNN_LOG=$PWD/ "$CMD" doctor >said || true
    grep -q "$output" said
}

@test "the library of a wheel is found from wherever that lies, the newest of several Pythons" {
    local prefix='a [1]{2,3}*' found
    mkdir -p "$prefix/bin" "$prefix"/lib/python3.{9,10}/site-packages/whichcudnn
    cp "$CMD" "$prefix/bin/whichcudnn"
    for found in "$prefix"/lib/python3.{10,9}/site-packages/whichcudnn/libwhichcudnn.so; do
        cp "$SHIM" "$found"
        sleep 0.01
        run "$prefix/bin/whichcudnn" doctor
        grep -qF "$PWD/$found cannot be preloaded: LD_PRELOAD splits at spaces" <<<"$output"
    done
}

@test "an older one is replaced: who has it mapped keeps it whole, and a link is not followed" {
    cp "$SHIM" shared/libwhichcudnn.so
    exec 7<shared/libwhichcudnn.so
    "$CMD" install shared
    [ "$(stat -L -c %i /proc/self/fd/7)" != "$(stat -c %i shared/libwhichcudnn.so)" ]
    cmp /proc/self/fd/7 "$SHIM"
    exec 7<&-
    echo mine >target
    ln -sf "$PWD/target" shared/libwhichcudnn.so
    "$CMD" install shared
    [ ! -L shared/libwhichcudnn.so ] && is "$(cat target)" mine
}

@test "many at once: one whole library, nothing else" {
    local n
    for n in {1..8}; do "$CMD" install shared >"said-$n" & done
    wait
    is "$(cat said-* | sort -u)" "$PWD/shared/libwhichcudnn.so"
    cmp "$SHIM" shared/libwhichcudnn.so
    is "$(ls -A shared)" libwhichcudnn.so
}

@test "no such directory, no directory, one that LD_PRELOAD cannot name, a directory in its place" {
    refused 'gone: No such file or directory' "$CMD" install gone
    touch file
    refused 'Not a directory' "$CMD" install file
    mkdir 'a b'
    refused 'LD_PRELOAD splits at spaces and colons' "$CMD" install 'a b'
    is "$(ls -A 'a b')" ''
    mkdir shared/libwhichcudnn.so
    refused 'Is a directory' "$CMD" install shared
    refused 'one directory is expected' "$CMD" install
    refused 'one directory is expected' "$CMD" install shared shared
}

@test "no right to write: said, and nothing is changed" {
    chmod 555 shared
    local as=()
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid 65534 --clear-groups)
    chmod a+rx . .. "$BATS_RUN_TMPDIR"
    refused 'nothing can be written there: Permission denied' "${as[@]}" "$CMD" install "$PWD/shared"
}

@test "a library for another processor, one that is cut off, one that is no library, one that is not there" {
    library other 'int x;'
    printf '\xf3\x00' | dd of=other/libwhichcudnn.so bs=1 seek=18 conv=notrunc status=none # RISC-V
    refused 'is for another processor than this one' "$CMD" install shared
    head -c 20000 "$SHIM" >other/libwhichcudnn.so
    refused 'or is truncated' "$CMD" install shared
    echo text >other/libwhichcudnn.so
    refused 'is not a library' "$CMD" install shared
    WHICHCUDNN_SHIM=$PWD/gone refused 'libwhichcudnn.so is neither' "$CMD" install shared
}

@test "a library that ends whoever loads it, that wants what is not there, or that talks" {
    cp "$SHIM" shared/libwhichcudnn.so
    library aborts '#include <stdlib.h>
__attribute__((constructor)) static void f(void) { abort(); }'
    refused 'a program that ran with it was ended by Aborted' "$CMD" install shared
    library exits '#include <unistd.h>
__attribute__((constructor)) static void f(void) { _exit(3); }'
    refused 'a program that ran with it gave status 3' "$CMD" install shared
    printf 'int gone(void) { return 1; }\n' | "${CC:-gcc}" -shared -fPIC -o libgone.so -xc -
    library wants 'int gone(void); int f(void) { return gone(); }' -Wl,--no-as-needed -L. -lgone
    rm libgone.so
    refused 'libgone.so' "$CMD" install shared
    library talks '#include <stdio.h>
__attribute__((constructor)) static void f(void) { fputs("hello\nyou\n", stderr); }'
    refused 'a program that ran with it said: hello' "$CMD" install shared
    cmp "$SHIM" shared/libwhichcudnn.so
}

@test "ended in the middle: nothing stays; a limit of sizes is an error" {
    library sleeps '#include <unistd.h>
__attribute__((constructor)) static void f(void) { sleep(60); }'
    local signal pid status
    for signal in HUP INT TERM; do
        # As a foreground program has it: a shell lets its background ignore SIGINT, nohup all of it SIGHUP.
        "$PY" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$CMD" install shared &
        pid=$!
        for _ in {1..100}; do [ -z "$(ls -A shared)" ] || break; sleep 0.1; done
        [[ $(ls -A shared) == .libwhichcudnn.so.?????? ]]
        kill -s "$signal" $pid
        status=0
        wait $pid || status=$? # not by run: its subshell is not the parent
        is $status $((128 + $(kill -l "$signal")))
        is "$(ls -A shared)" ''
    done
    unset WHICHCUDNN_SHIM
    # shellcheck disable=SC2016  # for the shell there
    refused 'the copy could not be written: File too large' bash -c 'ulimit -f 10; exec "$0" install shared' "$CMD"
}

@test "what a killed install left goes with a later one; what is new, or is another's, stays" {
    local name
    for name in AbCd12 zzzzzz; do echo x >"shared/.libwhichcudnn.so.$name"; done
    for name in .libwhichcudnn.so.new123 .libwhichcudnn.so.long123 .libwhichcudnn.so.sho12 .libwhichcudnn.so.a-b-c- libwhichcudnn.so.abcdef; do
        echo x >"shared/$name"
    done
    ln -s gone shared/.libwhichcudnn.so.link12
    mkdir shared/.libwhichcudnn.so.folder
    touch -hd '-1 hour' shared/.libwhichcudnn.so.[!n]* shared/libwhichcudnn.so.abcdef
    listed() { find shared -mindepth 1 -printf '%f\n' | sort; }
    { listed | grep -vE 'AbCd12|zzzzzz'; echo libwhichcudnn.so; } | sort >expected
    "$CMD" install shared
    listed | diff expected -
}

# small FLAGS COMMAND...: with a file system of its own on shared, mounted with these flags
small() {
    local how=(unshare -m)
    [ "$(id -u)" -eq 0 ] || how=(unshare -rm)
    # shellcheck disable=SC2016  # for the shell there
    "${how[@]}" sh -c 'mount -t tmpfs -o "$1" none shared || exit 77; shift; "$@"; s=$?; ls -A shared; exit $s' - "$@"
}

@test "a full disk, one without programs, one that cannot be written: said, and nothing stays" {
    run -2 --separate-stderr small size=64k "$CMD" install shared
    [[ $stderr == *"shared: the copy could not be written: No space left on device" && -z $output ]]
    run -2 --separate-stderr small noexec "$CMD" install shared
    [[ $stderr == *"a program that ran with it said: ERROR: ld.so: object "*"failed to map segment"* && -z $output ]]
    run -2 --separate-stderr small ro "$CMD" install shared
    [[ $stderr == *"nothing can be written there: Read-only file system" && -z $output ]]
    run -0 --separate-stderr small size=8m "$CMD" install shared
    [[ $stderr == '' ]]
}
