#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A small part of the worlds, and whether their judges can say no. `make test` draws which kinds: twelve draws in a row
# have each trained kind, three have each that is kept.

bats_require_minimum_version 1.5.0
load ../setup/helper

@test "the judges can say no, and installers do what the real ones do" {
    "$WC_PYTHON" "$WC_ROOT/tests/worlds/selftest.py"
}

@test "no broken world is told to be ok, no healthy one to be broken; each kind can be made" {
    run "$WC_PYTHON" "$WC_ROOT/tests/worlds/run" --seed 11 --worlds 36 --part "${WC_DRAW:-0}/12" \
        --kinds trained --quiet --floor
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" worlds judged, "* ]]
}

@test "what is not planted is not right" {
    run "$WC_PYTHON" "$WC_ROOT/tests/worlds/run" --seed 12 --worlds 12 --kinds trained --quiet --lie
    echo "$output"
    [ "$status" -eq 1 ]
    [[ $output == *"first finding: 0 right, "* ]]
}

@test "each kind that is kept can be made, and its fault shows: how it is told is not looked at" {
    run "$WC_PYTHON" "$WC_ROOT/tests/worlds/run" --seed 13 --worlds 12 --part "${WC_DRAW:-0}/3" \
        --kinds kept --bare
    echo "$output"
    [ "$status" -eq 0 ]
}

# Each of these once had words, or a command that did not repair.
REPAIRED=(asks_for_the_full_number cublaslt_missing cuda_by_apt_and_nothing_more driver_without_its_links
    image_brings_cudnn_for_another_cuda lock_without_dependencies path_written_down_when_built
    two_packages_own_the_files wheel_not_installed)

@test "repairs that were once not found are found, and repair" {
    run "$WC_PYTHON" "$WC_ROOT/tests/worlds/run" --seed 50 --worlds 18 --kinds all --fixes --quiet \
        "${REPAIRED[@]/#/--only=}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" 0 no cure, 0 loop, 0 harmful, "* ]]
}

# It was dropped twice, since no world of one seed needs it.
@test "what is put back needs the same library of CUDA: that is no repair" {
    run "$WC_PYTHON" "$WC_ROOT/tests/worlds/run" --seed 57 --worlds 4 --kinds all --fixes --quiet \
        --only=cublas_that_cudnn_needs_is_not_there
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" 0 no cure, 0 loop, 0 harmful, "* ]]
}

@test "of two hosts in one environment no repair breaks the other" {
    run "$WC_PYTHON" "$WC_ROOT/tests/worlds/pairs" --seed $((${WC_DRAW:-0} % 1000 + 1)) --pairs 40
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" 0 neither" ]]
}
