#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docs/tour.md is what happens now.

bats_require_minimum_version 1.5.0
load ../setup/helper

# Commands, what PyTorch answers, errors and fixes: what does not depend on the computer.
shape() {
    grep -E '^(\$ |RuntimeError|cuDNN |\(exit|whichcudnn: error|  fix       pip|object)'
}

@test "the tour: a PyTorch with a wrong cuDNN is repaired by what run prints, as the page says" {
    "$WC_ROOT/tests/setup/tour" print >"$BATS_TEST_TMPDIR/fresh"
    shape <"$BATS_TEST_TMPDIR/fresh" >"$BATS_TEST_TMPDIR/now"
    [ "$(grep -c '^whichcudnn: error' "$BATS_TEST_TMPDIR/now")" -ge 1 ]
    shape <"$WC_ROOT/docs/tour.md" | diff - "$BATS_TEST_TMPDIR/now"
    run ! grep -nE '/(work|root|Users)/' "$WC_ROOT/docs/tour.md"
}
