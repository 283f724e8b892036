#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The verdict in README.md is what a run says now.

bats_require_minimum_version 1.5.0
load ../setup/helper

# The command, what the host printed, and the finding, with what differs from one computer to the next
# made equal. The tree behind it may hold more on a computer with a GPU, and other copies may stand
# behind the one that is found.
shape() {
    sed -E 's/python3\.[0-9]+/python3/g; /^  not taken /d; s/^(process +)[0-9]+ /\1N /' |
        sed -n '/^\$/p; /^built with/p; /^(exit status/p; /^error\[/,/^more /p'
}

@test "the verdict in README.md is that of a fresh run" {
    sed -n '/^<!-- verdict: begin/,/^<!-- verdict: end/p' "$WC_ROOT/README.md" | shape >"$BATS_TEST_TMPDIR/there"
    "$WC_ROOT/tests/setup/readme" print | shape >"$BATS_TEST_TMPDIR/fresh"
    grep -q '^error\[runtime-too-old]: ' "$BATS_TEST_TMPDIR/fresh"
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
