#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Long and hard: killed at random, 64 threads at once, the same again and again. The long versions
# run with the first build of the shim alone (tests/faults/run), shorter ones with the others.
# shellcheck disable=SC2034,SC2154  # run_host uses limit; faults.bash sets work, log and cudnn

bats_require_minimum_version 1.5.0
load faults

setup_file() { build_faults; }
setup() { enter_faults; }

@test "endurance: killed at random, the log is what the host has counted" {
    mkdir kills
    "$PY" "$WC_ROOT/tests/faults/kills.py" "$SHIM ${FAULTS_BESIDE:-}" "$FAULTS/counted" \
        "$FAULTS/set" "$work/kills" "$(long 60 300 2000)" >kills.out ||
        { cat kills.out && return 1; }
    sed 's/^/# /' kills.out >&3
}

# The directories that crowd.c wants.
make_crowd() {
    local i
    CC=gcc make_standin --empty libcublas.so.12 crowd/one
    for i in {0..7}; do
        mkdir -p "crowd/facade/$i"
        ln -s "$FAULTS"/set/libcudnn_* "crowd/facade/$i"
        cp "$FAULTS/set/libcudnn.so.9" "crowd/facade/$i"
    done
    for i in {0..63}; do
        mkdir -p "crowd/own/$i"
        cp crowd/one/libcublas.so.12 "crowd/own/$i"
    done
}

@test "endurance: 64 threads in dlopen, dlsym, dlclose and first calls, and forks beside them" {
    limit=300
    make_crowd
    run_host bare "${FAULTS_BESIDE:-}" "$FAULTS/crowd" 2 "$work/crowd" "$work/counts"
    variables=(WHICHCUDNN_EXPECT=1.0) # a finding is told
    run_host shimmed "$SHIM ${FAULTS_BESIDE:-}" "$FAULTS/crowd" "$(long 5 10 60)" "$work/crowd" \
        "$work/counts"
    same status out err
    is "$(cat shimmed.status shimmed.out)" $'0\nall was well'
    "$PY" "$WC_ROOT/tests/faults/crowd.py" "$log" "$work/counts" "$work/crowd" >crowd.out ||
        { cat crowd.out && return 1; }
    sed 's/^/# /' crowd.out >&3
}

# constant N FILE [WHAT]: as many descriptors and mappings after the second half of N cycles as
# before, and no more memory, bare and with the shim; the log holds no more than RECORDS of it all.
constant() { # RECORDS N FILE [WHAT]
    local most=$1
    shift
    limit=300
    run_host bare "${FAULTS_BESIDE:-}" "$FAULTS/cycles" "$@"
    run_host shimmed "$SHIM ${FAULTS_BESIDE:-}" "$FAULTS/cycles" "$@"
    same status out said
    said 'descriptors +0 mappings +0 memory the same'
    validate_log "$log"
    [ "$(wc -l <"$log")" -le "$most" ] || { jq -r .kind "$log" | sort | uniq -c && return 1; }
}

@test "endurance: opened, called and closed again and again" {
    # Of each file 16 mappings and unmappings are told, so eight cycles of two first calls.
    constant 200 "$(long 300 2000 20000)" "$cudnn"
    is "$(records call "$log" | wc -l)" 32
    is "$(records object "$log" | jq -r 'select(.role == "facade").mapped' | sort | uniq -c | xargs)" \
        '8 false 8 true'
    constant 300 "$(long 300 2000 20000)" "$cudnn" absent
    is "$(records failure "$log" | jq -r 'select(.function == "cudnnAbsent") | .text | type' | sort |
        uniq -c | xargs)" '16 null 16 string' # at once, and with the loader's words
    is "$(records failure "$log" | jq -r 'select(.name == "libcudnn_absent.so.9") | .text' | wc -l)" 16
}

@test "endurance: asked whether it is loaded, and for what is not in it, again and again" {
    constant 40 "$(long 2000 20000 20000)" "$cudnn" ask
    constant 40 "$(long 2000 20000 20000)" "$cudnn" look
    is "$(records failure "$log" | wc -l)" 16
}
