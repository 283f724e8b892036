#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Logs of real frameworks on a real GPU, which tests/gpu/run has kept.

bats_require_minimum_version 1.5.0
load helpers

@test "each log of a machine with a GPU is told as tests/gpu/cases.tsv says" {
    local name finding severity file seen=0
    while IFS=$'\t' read -r name _ _ _ _ finding severity; do
        file=$WC_ROOT/tests/fixtures/gpu/$name.jsonl.gz
        [ -f "$file" ] || continue
        run "$CMD" report --json "$file"
        is "$name: $(jq -r '[.findings[0] | .id, .severity | . // "-"] | join(" ")' <<<"$output")" "$name: $finding $severity"
        seen=$((seen + 1))
    done < <(grep -v '^#' "$WC_ROOT/tests/gpu/cases.tsv")
    is "$seen" "$(find "$WC_ROOT/tests/fixtures/gpu" -name '*.gz' | wc -l)"
    [ "$seen" -gt 20 ]
}

@test "what a GPU adds to a log: it is in the schema, and cuDNN was seen to compute" {
    local log=$BATS_TEST_TMPDIR/log.jsonl
    zcat "$WC_ROOT/tests/fixtures/gpu/healthy-torch.jsonl.gz" >"$log"
    validate_log "$log"
    is "$(records call "$log" | jq -c 'select(.function == "cudnnBackendExecute") | [.phase, .status]' | xargs)" \
        "[before,null] [after,0]"
    is "$(records machine "$log" | jq -rs '.[-1].gpus[0]')" "NVIDIA H200, 9.0"
}
