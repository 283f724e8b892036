#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a process can notice all the same, in full: docs/limits.md, "what a process could notice", names
# it. The cases of groups/binding.toml show what stays the same beside it.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load ../loader/loader

setup_file() { GROUPS_ONLY=binding "$WC_ROOT/tests/neutrality/build" "$BATS_FILE_TMPDIR/built"; }
setup() { enter_programs; }

# The run with the shim differs from the bare one in these lines, "< bare" and "> shimmed", alone.
# shellcheck disable=SC2154  # loader.bash sets work
differs_in() { # EXPECTED COMMAND...
    local expected
    expected=$(sort <<<"$1")
    shift
    run_under bare '' "$@"
    run_under shimmed "$SHIM" "$@"
    is "$(cat "$work/bare.status") $(cat "$work/shimmed.status")" '0 0'
    [ ! -s "$work/bare.err" ] && [ ! -s "$work/shimmed.err" ]
    is "$(diff "$work/bare.out" "$work/shimmed.out" | grep '^[<>]' | sort)" "$expected"
}

@test "tables, RTLD_DEFAULT and the address slots of gold and lld say the function, the rest its wrapper" {
    local libraries=(answers/points-{gold,lld,table,data,table-calls}.so) expected
    expected=$(for way in table "${libraries[@]}" default; do
        echo "< address: $way: same, entry 0, 90100"
        echo "> address: $way: another, entry 1, 90100"
    done)
    differs_in "$expected" answers/compares-linked program answers/points-{code,calls,no-plt}.so table \
        "${libraries[@]}" default
}

@test "dladdr of a wrapper names the function, and of our dlopen the next one; the address asked about is another" {
    local expected names
    names=('taken libcudnn.so.9 cudnnGetErrorString' 'looked up libcudnn.so.9 cudnnCreate'
        'looked up libcudnn.so.9 cudnnGetVersion' 'by version libcudnn.so.9 cudnnCreate' 'dlopen libc.so.6 dlopen')
    expected=$(for _ in before after; do
        printf '< dladdr: %s\n' "${names[@]}"
        printf '> dladdr: %s+\n' "${names[@]}"
    done)
    differs_in "$expected" answers/names-it-now whole
}

@test "a backtrace shows one frame more, the wrapper's; in the first call another one" {
    local frames expected
    frames=$(answers/names-it-now frames | sed -n 's/backtrace: \(.*\) frames above main/\1/p' | head -n 1)
    expected=$(printf '%s backtrace: %d frames above main\n' '<' "$frames" '<' "$frames" \
        '>' $((frames + 1)) '>' $((frames + 2)))
    differs_in "$expected" answers/names-it-now frames
}
