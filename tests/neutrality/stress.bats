#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Random dl calls, forks and signals over random libraries, bare and with the shim: the same outcomes.
# WC_STRESS: for how many seconds; a failing run prints its seed. In the whole of test-neutral it is
# half an hour.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_standin 9.1.0 set
}

stress() { # PRELOAD [OPTION]...
    "$WC_PYTHON" -B "$WC_ROOT/tests/neutrality/stress.py" "$1" "$PWD" \
        --set "$PWD/set" "${@:2}"
}

@test "stress: the same outcomes as bare" {
    run stress "$SHIM" --seconds "${WC_STRESS:-15}" ${WC_SEED:+--seed "$WC_SEED"}
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" runs, 0 differ" ]]
    tail -n 1 <<<"$output" | sed 's/^/# /' >&3
}

@test "stress: finds a preload that takes the words of a failed call away, and one that leaves no log" {
    cc -shared -fPIC -o forgets.so "$WC_ROOT/tests/neutrality/planted/dlerror.c"
    run stress "$PWD/forgets.so" --rounds 200
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"1 runs, 1 differ" ]]
    cc -shared -fPIC -o nothing.so "$WC_ROOT/tests/neutrality/planted/nothing.c"
    run stress "$PWD/nothing.so" --rounds 200
    echo "$output"
    [[ "$output" == *"no log"*"1 runs, 1 differ" ]]
}
