#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# setup/anchors, by which `make lint` finds the changes of the sources that tests need and cannot make.

bats_require_minimum_version 1.5.0
load ../e2e/helpers

@test "a change of the sources that can no longer be made is told, of each kind" {
    local kinds='descriptor-of-s|dlerror-f|without k|plant of log|compat_oracle|planted/no|tests/mutants'
    cd "$BATS_TEST_TMPDIR"
    cp -r "$WC_ROOT"/{Makefile,README.md,core,examples,include,packaging,shim,tests,tools} .
    run -0 tests/setup/anchors . "$kinds"
    [ -z "$output" ]

    sed -i 's/fd > 2/fd >= 3/' shim/log.c                                  # an anchor of a named mutant
    sed -i 's/rescan_second_chance/second_chance/' shim/hooks.c            # what one calls
    sed -i 's/answers_find(/find_answer(/' shim/hooks.c                    # of a protection
    sed -i '/{file->lines, must_copy(reason)}/p' tools/observe/log/log_reader.c     # twice
    sed -i 's/FIRST_WITH_PROMISE/FIRST/' core/names/compat.c     # of a bats file
    echo '#error' >>tests/neutrality/planted/noload.c
    sed -i 's/return written;/return -1;/' shim/log.c                      # a survivor
    sed -i 's/"a forked child has a log/"a child has a log/' tests/e2e/forks.bats # a check
    run -1 tests/setup/anchors . "$kinds"
    is "$(grep -oE '^(the (mutant|plant) |without |tests/|survivors)[^:]*' <<<"$output" | sort)" \
        'survivors.tsv
tests/e2e/compat_oracle.bats
tests/mutants
tests/neutrality/planted/noload.c
the mutant descriptor-of-standard-output, on aarch64
the mutant descriptor-of-standard-output, on x86_64
the mutant dlerror-forgets, on aarch64
the mutant dlerror-forgets, on x86_64
the plant of log
without kept-answers'
    [[ $output == *"tests/mutants: named fork-reset-dropped: tests/e2e/forks.bats has no test"* ]]
}
