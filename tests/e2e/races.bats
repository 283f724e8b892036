#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Race detectors over hosts with threads: they report nothing of the shim's, and what the host does wrong
# as without the shim. `make test-neutral PART=all` runs the programs of the matrix under them, too.

bats_require_minimum_version 1.5.0
load helpers
load ../loader/loader

setup_file() { build_programs; }
setup() { enter_programs; }

# The errors of a run, "0" if there are none.
errors() { # TOOL PRELOAD COMMAND...
    local tool=$1 preload=$2
    shift 2
    rm -rf "$logs" && mkdir "$logs"
    timeout 300 env LD_PRELOAD="$preload" WHICHCUDNN_LOG="$logs" WHICHCUDNN_STDERR=off valgrind \
        --tool="$tool" --log-file="$work/$tool" "$@" >"$work/out" 2>&1 || { cat "$work/out" && return 1; }
    sed -n 's/.*ERROR SUMMARY: \([0-9]*\) errors.*/\1/p' "$work/$tool"
}

silent() { # COMMAND...
    local tool bare shimmed
    for tool in helgrind drd; do
        bare=$(errors "$tool" '' "$@") && shimmed=$(errors "$tool" "$SHIM" "$@") || return
        echo "$tool, $*: $bare errors bare, $shimmed with the shim"
        [ "$shimmed" -le "$bare" ] || { head -50 "$work/$tool" && return 1; }
        [ "$(calls_told | grep -c ' after ')" -gt 0 ] || return
    done
}

@test "helgrind and drd: threads make their first calls at once" {
    fails_without unchecked-image silent ./calls-lazy threads
    silent ./calls-now threads
}

@test "helgrind and drd: threads open, call and close hosts" {
    fails_without unchecked-memory silent ./storm 2 3 ./now-%d.so
}

@test "helgrind and drd: a thread opens a host while the program starts" {
    fails_without unchecked-list silent ./early-asleep
}

@test "helgrind and drd find the host's own race" {
    local tool preload
    for tool in helgrind drd; do
        for preload in '' "$SHIM"; do
            [ "$(errors "$tool" "$preload" ./races)" -gt 0 ]
            grep -q 'write_after (races.c' "$work/$tool"
        done
    done
}

# TSan ends a program in which it found a race with 66.
by_tsan() { # COMMAND...
    between "$(gcc -print-file-name=libtsan.so)" '' "$@"
}
export TSAN_OPTIONS=suppressions=$WC_ROOT/tests/neutrality/tsan.suppressions

@test "the thread sanitizer reports nothing of the shim's" {
    by_tsan all_watched ./calls-thread threads
    by_tsan all_watched ./storm-thread 4 10 ./now-%d.so
    by_tsan as_bare ./storm-thread 4 10 ./lazy-%d.so dlsym
}

@test "the thread sanitizer finds the host's own race" {
    run_under shimmed "$(gcc -print-file-name=libtsan.so) $SHIM" ./races-thread
    is "$(cat "$work/shimmed.status")" 66
    grep -q 'WARNING: ThreadSanitizer: data race' "$work/shimmed.err"
    grep -q 'write_after .*races.c' "$work/shimmed.err"
    [ "$(calls_told | grep -c ' before ')" -eq 2 ]
}
