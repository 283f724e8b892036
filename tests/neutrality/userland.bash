# SPDX-License-Identifier: Apache-2.0
# What the bats files on other userlands share: `load ../e2e/helpers`, `load ../loader/loader`,
# `load userland`. Each program runs there bare and with the shim; what it must do is stated.
# shellcheck shell=bash

build_enter() {
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -static -o "$BATS_FILE_TMPDIR/enter" \
        "$WC_ROOT/tests/neutrality/enter.c"
}

# Against that userland's headers, start files and libraries, by this machine's compiler. Where libdl
# is a library of its own, programs need it as with -ldl of old, except `probes`.
build_there() { # NAME
    local loader=$WC_ROOT/tests/loader own=$WC_ROOT/tests/neutrality/programs
    local libraries=$root/usr/lib/x86_64-linux-gnu cc programs=(opens storm)
    case $1 in
    musl) cc=(musl-gcc -DRTLD_DEEPBIND=0) ;;
    *)
        cc=(gcc --sysroot="$root" -B"$libraries" -L"$libraries")
        programs+=(looks_up fork_beside)
        "${cc[@]}" -fPIC -shared -o ordinary.so -x c - <<<'int ordinary(void) { return 1; }'
        for name in {0..199}; do cp ordinary.so "ordinary-$name.so"; done
        ;;
    esac
    cc+=(-std=gnu11 -D_GNU_SOURCE -g -O1 -Wl,-rpath,"\$ORIGIN")
    local dl=(-pthread -Wl,--no-as-needed -ldl) cudnn=libcudnn.so.9
    echo 'libcudnn.so.9 { global: cudnn*; calls_arrived; local: *; };' >node.map
    "${cc[@]}" -fPIC -shared -o $cudnn "$loader/cudnn.c" -Wl,-soname,$cudnn \
        -Wl,--version-script=node.map
    for how in lazy now; do
        "${cc[@]}" -fPIC -shared -o host-$how.so "$loader/host.c" $cudnn -Wl,-z,$how
        "${cc[@]}" -fPIE -pie -o calls-$how "$loader/calls.c" $cudnn -Wl,-z,$how "${dl[@]}"
    done
    for name in "${programs[@]}"; do
        "${cc[@]}" -fPIE -pie -o "$name" "$loader/$name.c" "${dl[@]}"
    done
    "${cc[@]}" -fPIE -pie -o asks "$own/asks.c" "${dl[@]}"
    "${cc[@]}" -fPIE -pie -o probes "$own/probes.c"
}

# inside NAME: that userland, in a folder with programs that are built for it. The shim lies there,
# too; options are those of `enter`.
inside() {
    ulimit -c 0
    options=() work=$BATS_TEST_TMPDIR logs=$BATS_TEST_TMPDIR/logs
    root=$("$WC_ROOT/tests/setup/userland" "$1")
    mkdir -p "$BATS_FILE_TMPDIR/$1"
    cd "$BATS_FILE_TMPDIR/$1" || return
    [ -e built ] || build_there "$1"
    touch built
    cp "$SHIM" .
    SHIM=$PWD/libwhichcudnn.so
}

runs() { # NAME PRELOAD COMMAND...
    local name=$1 preload=$2
    shift 2
    run_under "$name" "$preload" "$BATS_FILE_TMPDIR/enter" "$root" --with "$BATS_RUN_TMPDIR" \
        "${options[@]}" -- "$@"
}

ended() { # NAME STATUS: and its output is what is expected
    is "$(cat "$work/$1.status")" "$2" && diff "$work/expected" "$work/$1.out" && return
    echo "$1:" && cat "$work/$1.err"
    return 1
}

# alike STATUS COMMAND...: ends so and prints what stands on standard input, bare and with the shim;
# the errors are the same. $logs are of the run with the shim.
alike() {
    local status=$1
    shift
    cat >"$work/expected"
    runs bare '' "$@"
    runs shimmed "$SHIM" "$@"
    ended bare "$status" && ended shimmed "$status" && diff "$work/bare.err" "$work/shimmed.err"
}

no_log() { is "$(ls -A "$logs")" ''; }

# arrived LINE COMMAND...: with the shim; how calls arrived at cuDNN is the last line then.
arrived() {
    local line=$1
    shift
    options+=(--set COUNTS=1)
    runs counted "$SHIM" "$@"
    is "$(tail -n 1 "$work/counted.out")" "$line"
}

# The program's errors about what is not there differ among C libraries; that they are there, do not.
asks_in_vain() {
    alike 7 ./asks ./libcudnn.so.9 <<'END'
opened: yes
version: 90100
nowhere: NULL
dlsym: error names it
missing: NULL
dlopen: error names it
then: no error
closed: 0
END
}

# ---- what holds under every glibc ----

# Which library a lazy slot leads to is not known before the first call.
calls_of() { # HOST
    local target=libcudnn.so.9
    case $1 in *lazy*) target=- ;; esac
    tells_calls "cudnnCreate before $1 $target" "cudnnCreate after $1 libcudnn.so.9" \
        "cudnnGetVersion before $1 $target" "cudnnGetVersion after $1 libcudnn.so.9"
}

program_calls() { # PROGRAM
    alike 0 "./$1" <<<2
    calls_of "$1"
    arrived 'watched 2 direct 0' "./$1"
}

opened_host_calls() { # HOST
    alike 0 ./opens "./$1" <<<"./$1 90100"
    calls_of "$1"
    arrived 'watched 1 direct 0' ./opens "./$1"
}

program_looks_up() {
    alike 0 ./looks_up ./libcudnn.so.9 "$@" <<'END'
0 90100
./libcudnn.so.9: undefined symbol: cudnnNowhere
END
    tells_calls 'cudnnCreate before looks_up libcudnn.so.9' 'cudnnCreate after looks_up libcudnn.so.9'
    arrived 'watched 1 direct 0' ./looks_up ./libcudnn.so.9 "$@"
}

threads_open_and_call() {
    alike 0 ./storm 8 50 ./host-now.so <<<'400 of 400'
    validate_log "$(the_log "$logs")"
    alike 0 ./storm 8 50 ./host-lazy.so dlsym <<<'400 of 400'
    validate_log "$(the_log "$logs")"
    printf '%s\n' 48 2 >"$work/both"
    alike 0 ./calls-lazy threads <"$work/both"
}

fails_there() {
    asks_in_vain
    local log
    log=$(the_log "$logs")
    validate_log "$log"
    is "$(records failure "$log" | jq .request | sort -u | wc -l)" 2
}

forks_alike() { # COMMAND...
    alike 0 "${@/fork-beside/fork_beside}" <<<'all well'
}

# all_forks CHECK CHILDREN: beside each kind of dl calls.
all_forks() {
    local how check=$1 children=$2
    for how in looks-up reopens itself imports; do
        "$check" ./fork-beside $how "$children" || return
    done
    "$check" ./fork-beside imports "$children" 500
}

every_glibc() {
    program_calls calls-lazy
    options=() && program_calls calls-now
    options=() && opened_host_calls host-lazy.so
    options=() && opened_host_calls host-now.so
    options=() && program_looks_up
    options=() && program_looks_up dlvsym
    options=() && threads_open_and_call
    options=() && fails_there
    options=() && all_forks forks_alike 100
}
