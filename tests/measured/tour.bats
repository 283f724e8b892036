#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docs/tour.md is what happens now.

bats_require_minimum_version 1.5.0
load ../setup/helper

# Commands, what PyTorch answers, errors and fixes: what does not depend on the computer.
shape() {
    grep -E '^(\$ |RuntimeError|cuDNN |built with|\(exit|whichcudnn: (error|tr|done))'
}

@test "the tour: three environments are repaired by what fix does, as the page says" {
    "$WC_ROOT/tests/setup/tour" print >"$BATS_TEST_TMPDIR/fresh"
    shape <"$BATS_TEST_TMPDIR/fresh" >"$BATS_TEST_TMPDIR/now"
    [ "$(grep -c '^whichcudnn: tried: status 0' "$BATS_TEST_TMPDIR/now")" -eq 3 ]
    shape <"$WC_ROOT/docs/tour.md" | diff - "$BATS_TEST_TMPDIR/now"
    run ! grep -nE '/(work|root|Users)/' "$WC_ROOT/docs/tour.md"
}
