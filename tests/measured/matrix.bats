#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tests/measured/frameworks.md, played: whole frameworks, healthy and broken in five ways (matrix.toml).

bats_require_minimum_version 1.5.0
load ../setup/helper

matrix() { "$WC_PYTHON" "$WC_ROOT/tests/measured/matrix.py" "$@"; }

@test "real frameworks: the right first finding, none where they work; run, inspect and scan agree" {
    matrix check
}

@test "the matrix notices another first finding, another output, and a page that is out of step" {
    awk '/^\[\[row/ { row = "" } { row = row $0 "\n" } /^absent/ && row ~ /cudnn-frontend/ { printf "%s", row }' \
        "$WC_ROOT/tests/measured/matrix.toml" |
        sed 's/^absent = .*/absent = "part-missing"/; s/^says = .*/says = "planted"/; s/^release = "ok"/release = "ok, scan planted"/' \
            >"$BATS_TEST_TMPDIR/table"
    run matrix check --table "$BATS_TEST_TMPDIR/table"
    [ "$status" -eq 1 ]
    [[ $output == *"absent: first is library-not-found, expected part-missing"* ]]
    [[ $output == *"healthy: it said '1.32.0 92800"* ]]
    [[ $output == *"release: scan says ok, run ok"* ]]
    [[ $output == *"is out of step"* ]]
}
