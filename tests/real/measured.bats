#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Real files that do not fit together, each with the finding that must come first, and their healthy
# twins. The rows are those of measured.tsv; whole frameworks are in tests/measured.

bats_require_minimum_version 1.5.0
load ../setup/helper

measured() { "$WC_PYTHON" "$WC_ROOT/tests/real/check_measured.py" "$@"; }

@test "mixed, incomplete and sound sets: the right findings, before cuDNN aborts" {
    measured small
}

@test "the check notices a finding too few and one too many, and another end" {
    sed 's/part-missing$/dependency-missing/; s/SIGABRT/0/' "$WC_ROOT/tests/real/measured.tsv" |
        grep -E '^facade 8.9.2, no parts' >"$BATS_TEST_TMPDIR/table"
    run measured small "$BATS_TEST_TMPDIR/table"
    [ "$status" -eq 1 ]
    [[ $output == *"(linked): findings: got ['part-missing'], expected ['dependency-missing']"* ]]
    [[ $output == *"(opened): end: got 'SIGABRT', expected '0'"* ]]
    grep -E '^  twin: no cudnnCreate' "$WC_ROOT/tests/real/measured.tsv" |
        sed 's/-$/runtime-too-old/; s/version 90100/version 90101/' >"$BATS_TEST_TMPDIR/table"
    run measured small "$BATS_TEST_TMPDIR/table"
    [ "$status" -eq 1 ]
    [[ $output == *"findings: got [], expected ['runtime-too-old']"* ]]
    [[ $output == *"it said 'version 90100"* ]]
}
