#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Calls that a host makes in its constructor, before main or before dlopen returns, are seen.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir logs
    export WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off
    make_standin 9.1.0 set
}

# in_constructor MODE: the host's own words, and the records of its calls.
in_constructor() {
    build_host "$1" set host
    run env LD_PRELOAD="$SHIM" ./host
    echo "$1: $output"
    [ "$status" -eq 0 ]
    [[ $output == "constructor: version 90100 create 1001"* ]]
    validate_log "$(the_log logs)"
    # What main calls once more is not told once more.
    is "$(records call logs/* |
        jq -r '[.function, .phase, .returned_version, .status] | map(. // "-") | join(" ")')" \
"cudnnGetVersion before - -
cudnnGetVersion after 90100 -
cudnnCreate before - -
cudnnCreate after - 1001"
    # A lazy slot does not say where its first call will go.
    is "$(records call logs/* | jq -r 'select(.phase == "after").target_path' | sort -u)" \
        "$PWD/set/libcudnn.so.9"
    is "$(records call logs/* | jq -r .host_path | sort -u)" "$(host_file)"
    rm logs/*
}

@test "in a program's constructor" {
    host_file() { echo "$PWD/host"; }
    in_constructor constructor
}

@test "in the constructor of a library that the program is linked to" {
    host_file() { echo "$PWD/host.so"; }
    in_constructor library-constructor
}

@test "in the constructor of a library that is opened, before dlopen returns" {
    host_file() { echo "$PWD/host.so"; }
    in_constructor opened-constructor
    # And with the shim off the host says the same.
    run env LD_PRELOAD="$SHIM" WHICHCUDNN_DISABLE=1 ./host
    [[ $output == "constructor: version 90100 create 1001"* ]]
    is "$(ls logs)" ""
}

@test "in a constructor that runs before ours, in an object loaded ahead of us" {
    cat >early.c <<'END'
#include <stddef.h>
#include <stdio.h>
size_t cudnnGetVersion(void);
__attribute__((constructor(101))) static void at_start(void) {
    fprintf(stderr, "early: %zu\n", cudnnGetVersion());
}
END
    gcc -shared -fPIC early.c -o early.so set/libcudnn.so.9 -Wl,-rpath,"$PWD/set" \
        -Wl,--allow-shlib-undefined
    run env LD_PRELOAD="$SHIM $PWD/early.so" true
    is "$output" "early: 90100"
    is "$(records call logs/* | jq -r '.function + " " + .phase' | head -n 2)" \
        "cudnnGetVersion before
cudnnGetVersion after"
    is "$(records call logs/* | jq -r .host_path | head -n 1)" "$PWD/early.so"
}
