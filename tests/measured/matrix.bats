#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docs/frameworks.md, played: whole frameworks, healthy and broken in five ways (matrix.toml).

bats_require_minimum_version 1.5.0
load ../setup/helper

matrix() { "$WC_PYTHON" "$WC_ROOT/tests/measured/matrix.py" "$@"; }

@test "real frameworks: the right first finding, none where they work; run, inspect and scan agree" {
    matrix check
}
