#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn explain: the pages of docs/findings.md. (That table, page and command agree is held by
# tests/unit/test_findings_page.c.)

bats_require_minimum_version 1.5.0
load helpers

explain() { "$CMD" explain "$@"; }
ids() { sed -n 's/^\(FINDING\|LIVE\)(.*, "\([a-z-]*\)", .*/\2/p' "$WC_ROOT/core/demand/findings.def"; }

@test "without an id: all findings of the table, in its order, with severity and sentence" {
    run -0 --separate-stderr explain
    is "$stderr" ""
    is "$(awk 'NR % 2 { print $2 }' <<<"$output")" "$(ids)"
    is "$(awk 'NR % 2 { print $1 }' <<<"$output" | sort -u | xargs)" "error note warning"
    [ "$(ids | wc -l)" -ge 16 ]
    [[ $output == "error    "*"a cuDNN that was asked for could not be loaded"* ]]
}

@test "each page has its parts in 80 columns, without marks and without colour" {
    local id
    while read -r id; do
        echo "$id"
        run -0 --separate-stderr explain "$id"
        is "$stderr" ""
        is "${lines[0]}" "$id"
        [[ $output =~ $'\n'(error|warning|note)": ".*$'\n\nWhy: '.*$'\n\nWhat to do: '.*$'\n\nHow to check: '.*$'\n    ' ]]
        # A line is longer only where it is one word.
        is "$(awk 'length($0) > 80 && NF > 1' <<<"$output")" ""
        run -1 grep -nE '\*\*|```|^#|\]\(|'$'\e' <<<"$output"
    done < <(ids)
}

@test "a paragraph is filled, code keeps its lines" {
    run -0 explain runtime-too-old
    [[ $output == *$'\nHow to check: the finding is gone, and the report\'s "runtime version" is the\nrequired one. '* ]]
    [[ $output == *$'\n    whichcudnn run -- python train.py\n'* ]]
    [[ $output == *$'(How a\ndemand is judged)'* ]]
}

@test "colour where it is wanted" {
    run -0 explain --color=always part-missing
    is "${lines[0]}" $'\e[1mpart-missing\e[0m'
    is "${lines[1]}" $'\e[1;31merror\e[0m: cuDNN requested its own parts and found none.'
    [[ $output == *$'\e[1mlibcudnn_graph\e[0m'* ]]
    is "$(explain --color=always part-missing | sed 's/\x1b\[[0-9;]*m//g')" "$(explain part-missing)"
    run -2 explain --color=often
}

@test "json: id, severity, title, page; a list without an id" {
    run -0 --separate-stderr explain --json driver-missing
    is "$(jq -c keys_unsorted <<<"$output")" '["id","severity","title","page"]'
    is "$(jq -r '.id, .severity, .title' <<<"$output" | xargs)" \
        "driver-missing error no NVIDIA driver or no GPU was found"
    is "$(jq -j .page <<<"$output")" "$(awk '/^## / { in_it = $2 == "`driver-missing`"; next } in_it' \
        "$WC_ROOT/docs/findings.md" | sed 1d)"
    is "$(explain --json | jq -r '.[].id')" "$(ids)"
}

@test "an unknown id: what is near, and status 2" {
    run -2 --separate-stderr explain libary-not-found
    is "$output" ""
    is "$stderr" "whichcudnn: explain: no finding is called libary-not-found; did you mean library-not-found?"
    run -2 explain two_copies_loaded
    [[ $output == *"did you mean two-copies-loaded?" ]]
    run -2 explain symbols
    [[ $output == *"did you mean missing-symbols"* ]]
    run -2 explain $'zzz\e[31m'
    [[ $output == *'zzz\x1b[31m; whichcudnn explain lists them' ]]
    run -2 explain "$(head -c 5000 /dev/zero | tr '\0' x)"
    [[ $output == *"; whichcudnn explain lists them" ]]
    run -2 explain part-missing parts-differ
    [[ $output == *"one id is expected"* ]]
}

@test "report, run and standard error name the page of what comes first" {
    cd "$BATS_TEST_TMPDIR"
    make_standin 9.1.0 set
    build_host lazy set host
    LD_PRELOAD=$SHIM WHICHCUDNN_LOG=direct.jsonl run env WHICHCUDNN_EXPECT='>=9.5' ./host version
    [[ $output == *$'\nmore        whichcudnn report has the repair; explain expectation-not-met\n'* ]]
    run env WHICHCUDNN_EXPECT='>=9.5' "$CMD" run --log logs/ -- ./host version
    [[ $output == *$'\nmore        whichcudnn explain expectation-not-met; whichcudnn report -v' ]]
    run -1 "$CMD" report logs
    [[ $output == *$'\nmore        whichcudnn explain expectation-not-met; whichcudnn report -v'* ]]
    rm -r logs
    run -0 "$CMD" run --log logs/ -- ./host version
    [[ $output != *"more"* ]]
}
