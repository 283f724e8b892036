#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What README.md shows is what a run says now.

bats_require_minimum_version 1.5.0
load ../setup/helper

@test "the picture in README.md is of what a fresh run says" {
    sed -n '/^<!-- picture: begin/,/^<!-- picture: end/p' "$WC_ROOT/README.md" | grep '^!' >"$BATS_TEST_TMPDIR/there"
    "$WC_ROOT/tests/setup/readme" print picture >"$BATS_TEST_TMPDIR/fresh"
    grep -q '^!\[error: ' "$BATS_TEST_TMPDIR/fresh"
    diff "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/fresh"
    # Nothing of the computer that it was made on.
    run ! grep -nE '/(home|root|work|Users)/|/tmp/[^w]' "$WC_ROOT/README.md"
}

@test "the first lines in README.md are those of a fresh run" {
    first() { sed -n '/^\$/,/^```$/p' | sed -E '/^```$/d; s/python3\.[0-9]+/python3/; s/gives [0-9.]+/gives N/'; }
    sed -n '/^<!-- run: begin/,/^<!-- run: end/p' "$WC_ROOT/README.md" | first >"$BATS_TEST_TMPDIR/there"
    "$WC_ROOT/tests/setup/readme" print run | first >"$BATS_TEST_TMPDIR/fresh"
    grep -q '^whichcudnn: error\[' "$BATS_TEST_TMPDIR/fresh"
    diff "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/fresh"
}

@test "make readme changes nothing but what it made" {
    mkdir -p "$BATS_TEST_TMPDIR/tree/docs"
    cp "$WC_ROOT/README.md" "$BATS_TEST_TMPDIR/tree"
    ln -s "$WC_ROOT"/{examples,tests} "$BATS_TEST_TMPDIR/tree"
    sed -i 's/runtime-too-old/nothing/' "$BATS_TEST_TMPDIR/tree/README.md"
    WC_ROOT=$BATS_TEST_TMPDIR/tree "$BATS_TEST_TMPDIR/tree/tests/setup/readme" write
    same() { sed -E 's/python3\.[0-9]+/python3/; s/gives [0-9.]+/gives N/' "$1"; }
    diff <(same "$WC_ROOT/README.md") <(same "$BATS_TEST_TMPDIR/tree/README.md")
    [ "$(head -c 4 "$BATS_TEST_TMPDIR/tree/docs/report.png" | tail -c 3)" = PNG ]
}
