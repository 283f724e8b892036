#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What people read of the twelve most frequent findings, each from the log of a drawn world that had it.

bats_require_minimum_version 1.5.0

load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# WC_GOLDEN=write puts what is printed now there.
@test "a screen: which cuDNN, the verdict, evidence, repair, in 24 lines, and nothing twice" {
    local kept name
    for kept in "$WC_ROOT"/tests/e2e/golden/screens/*.jsonl; do
        name=$(basename "${kept%.jsonl}")
        cp "$kept" log.jsonl
        "$CMD" report log.jsonl >screen || true
        [ "${WC_GOLDEN:-}" != write ] || cp screen "${kept%.jsonl}.txt"
        diff "${kept%.jsonl}.txt" screen
        head -n 1 screen | grep -Eq '^(no cuDNN was loaded|cuDNN [0-9])'
        grep -Eq "^(error|warning|note)\[$name]: " screen
        grep -Eq '^  (fix|suggestion) ' screen
        is "$(grep -c '^more ' screen)" 1
        [ "$(wc -l <screen)" -le 24 ]
        is "$(sort screen | uniq -d)" ""
        run -1 grep -nE '^.{101}|above|_ctypes' screen
    done
}
