#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tools/knowledge/python_loaders.def, held against the packages themselves: what they open in environments that are
# drawn, and what a scan says of these. SEED repeats a draw, DRAWS is how many each package gets.

bats_require_minimum_version 1.5.0
load ../setup/helper

loaders() { # COMMAND SEED DRAWS [LOADER...]
    "$WC_PYTHON" "$WC_ROOT/tests/real/python_loaders.py" "$BATS_TEST_TMPDIR/work" "$1" "$WC_CACHE" "${@:2}"
}

@test "the file that each package takes, and its words for the place" {
    loaders "$WHICHCUDNN" "${SEED:-$RANDOM}" "${DRAWS:-5}"
}

@test "another file, another place and another exception are noticed" {
    local change
    for change in '.path = "/nowhere/libcudnn.so.9"' '.found_via = "planted"' '.raises = "Planted"' '.unpredicted = "planted"'; do
        printf '#!/bin/sh\n"%s" "$@" | jq '\''.loaders[] |= (%s)'\''\n' "$WHICHCUDNN" "$change" >"$BATS_TEST_TMPDIR/less"
        chmod +x "$BATS_TEST_TMPDIR/less"
        run loaders "$BATS_TEST_TMPDIR/less" 7 1 cuda-pathfinder
        echo "$change: $output"
        [ "$status" -eq 1 ]
        [[ $output == *"cuda-pathfinder 1."*": 0 of 1"* ]]
    done
}
