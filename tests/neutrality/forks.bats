#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Children of a process whose other threads make dl calls, 2,000 of each kind, under four versions of
# glibc: none hangs, none comes to harm. `make test-neutral` runs this; e2e/loader.bats and
# old_libc.bats have the small part.
# shellcheck disable=SC2034,SC2154  # variables that userland.bash reads and sets

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load ../loader/loader
load userland

setup_file() { build_programs && build_enter; }
setup() { work=$BATS_TEST_TMPDIR logs=$BATS_TEST_TMPDIR/logs limit=900; }

@test "the glibc of this machine: 2,000 children beside each kind of dl calls" {
    enter_programs
    all_forks as_bare 2000
}

@test "glibc 2.31: 2,000 children beside each kind of dl calls" {
    inside bullseye
    all_forks forks_alike 2000
}

@test "glibc 2.41: 2,000 children beside each kind of dl calls" {
    inside trixie
    all_forks forks_alike 2000
}

@test "glibc of sid: 2,000 children beside each kind of dl calls" {
    inside sid
    all_forks forks_alike 2000
}

# Where the loader maps and unmaps, no child of any program is safe. How many hang bare goes from 3
# to 30 of 300, as the machine is busy: so pairs of runs are compared, and of 12 pairs of equal ones
# more than 10 go the same way three times in a thousand. A child that hangs takes a second of it.
@test "beside libraries that come and go, no more children hang than bare" {
    local i how more=0 children=${WC_CHILDREN:-200} # of each run
    local -A preload=([bare]='' [shimmed]=$SHIM) count all
    enter_programs
    for i in {1..12}; do
        for how in bare shimmed; do
            run_under "$how" "${preload[$how]}" ./fork-beside loads "$children"
            is "$(cat "$work/$how.status")" 0
            count[$how]=$(($(paste -sd+ "$work/$how.out")))
            all[$how]=$((${all[$how]:-0} + count[$how]))
        done
        more=$((more + (count[shimmed] > count[bare])))
    done
    echo "# of $((12 * children)): bare ${all[bare]}, shimmed ${all[shimmed]}, more in $more of 12 pairs" >&3
    [ "$more" -le 10 ]
}
