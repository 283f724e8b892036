#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The verdict in README.md is what a run says now.

bats_require_minimum_version 1.5.0
load ../setup/helper

# The command, what the host printed, the first line, and all of the findings, with what differs from
# one computer to the next made equal. The tree in between may hold more on a computer with a GPU, and
# other copies may stand behind the one that is found. What a finding says is put on one line each.
shape() {
    awk '/^ {9}/ && NR > 1 { sub(/^ */, " "); printf "%s", $0; next } NR > 1 { print "" } { printf "%s", $0 }
        END { print "" }' |
        sed -E 's/python3\.[0-9]+/python3/g; /^ *behind it: /d' |
        sed -n '/^\$/p; /^built with/p; /^(exit status/p; /^error: /p; /^findings/,/^```$/p' | grep -v '^```'
}

@test "the verdict in README.md is that of a fresh run" {
    sed -n '/^<!-- verdict: begin/,/^<!-- verdict: end/p' "$WC_ROOT/README.md" | shape >"$BATS_TEST_TMPDIR/there"
    "$WC_ROOT/tests/setup/readme" print | shape >"$BATS_TEST_TMPDIR/fresh"
    grep -q 'error runtime-too-old: ' "$BATS_TEST_TMPDIR/fresh"
    diff "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/fresh"
    # Nothing of the computer that it was made on.
    run ! grep -nE '/(home|root|work|Users)/|/tmp/[^w]' "$WC_ROOT/README.md"
}

@test "the first lines in README.md are those of a fresh run" {
    first() { sed -n '/^\$/,/^```$/p' | sed -E '/^```$/d; s/-[0-9]+-[0-9]+\.jsonl/-N-N.jsonl/'; }
    sed -n '/^<!-- run: begin/,/^<!-- run: end/p' "$WC_ROOT/README.md" | first >"$BATS_TEST_TMPDIR/there"
    "$WC_ROOT/tests/setup/readme" print run | first >"$BATS_TEST_TMPDIR/fresh"
    grep -q '^whichcudnn: error\[' "$BATS_TEST_TMPDIR/fresh"
    diff "$BATS_TEST_TMPDIR/there" "$BATS_TEST_TMPDIR/fresh"
}

@test "make readme changes nothing but what it made" {
    mkdir "$BATS_TEST_TMPDIR/tree"
    cp "$WC_ROOT/README.md" "$BATS_TEST_TMPDIR/tree"
    ln -s "$WC_ROOT"/{examples,tests} "$BATS_TEST_TMPDIR/tree"
    sed -i 's/runtime-too-old/nothing/' "$BATS_TEST_TMPDIR/tree/README.md"
    WC_ROOT=$BATS_TEST_TMPDIR/tree "$BATS_TEST_TMPDIR/tree/tests/setup/readme" write
    outside() { sed '/^<!-- verdict: begin/,/^<!-- verdict: end/d; /^<!-- run: begin/,/^<!-- run: end/d' "$1"; }
    diff <(outside "$WC_ROOT/README.md") <(outside "$BATS_TEST_TMPDIR/tree/README.md")
    diff <(shape <"$WC_ROOT/README.md") <(shape <"$BATS_TEST_TMPDIR/tree/README.md")
    [ "$(grep -c '^```$' "$BATS_TEST_TMPDIR/tree/README.md")" -eq 4 ]
}
