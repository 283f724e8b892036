#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A log of another version: whoever reads logs says so, and status 2.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir old new
    stack | make_log good.jsonl
    sed 's/^{"v":4/{"v":2/' good.jsonl >old/whichcudnn-n-4711-88.jsonl
    sed 's/^{"v":4/{"v":5/' good.jsonl >new/whichcudnn-n-4711-88.jsonl
    "$CMD" lock -o good.lock good.jsonl
    older="whichcudnn-n-4711-88.jsonl: a log of version 2, written by an older libwhichcudnn; this command reads version 4 (run the program again)"
    newer="whichcudnn-n-4711-88.jsonl: a log of version 5, written by a newer libwhichcudnn; this command reads version 4"
}

# refuses COMMAND...: OLD stands for the log of version 2, then for that of version 5.
refuses() {
    run -2 --separate-stderr "$CMD" "${@/OLD/old}"
    is "$output" ""
    [[ $stderr == "whichcudnn: old"[:/]*"$older" ]]
    run -2 --separate-stderr "$CMD" "${@/OLD/new}"
    is "$output" ""
    [[ $stderr == "whichcudnn: new"[:/]*"$newer" ]]
}

log=whichcudnn-n-4711-88.jsonl

@test "report: of a log, and of a directory" {
    refuses report OLD/$log
    refuses report --json OLD
    refuses report -v OLD
    refuses report --html page.html OLD
}

@test "report: the other logs of the directory are reported, and the status is 2" {
    cp good.jsonl old/whichcudnn-n-1-1.jsonl
    run -2 --separate-stderr "$CMD" report old
    is "$stderr" "whichcudnn: old/$older"
    [[ $output == "cuDNN 9.8.0 from "*$'\nok\n'* ]]
}

@test "report without a log: the newest" {
    cd old
    run -2 --separate-stderr env -u TMPDIR WHICHCUDNN_LOG="$PWD" "$CMD" report
    [[ $stderr == *"$older" ]]
}

@test "diff: on either side" {
    refuses diff OLD/$log good.jsonl
    refuses diff good.jsonl OLD/$log
    refuses diff good.lock OLD
}

@test "lock" {
    refuses lock OLD/$log
    refuses lock --requirements OLD/$log
}

@test "check: against a lock" {
    refuses check good.lock OLD/$log
}

@test "probe --like: a log, and a directory" {
    refuses probe --like OLD/$log
    refuses probe --like OLD
}

@test "doctor" {
    run -2 --separate-stderr "$CMD" doctor old/$log
    [[ $output == *"a log of version 2"* ]]
}

# golden/version-3.jsonl was written by the last library of that version; version-4.jsonl says the same.
@test "version 3 is read for one release: reports are those of version 4, each with what its lines say" {
    local n
    for n in 3 4; do
        cp "$BATS_TEST_DIRNAME/golden/version-$n.jsonl" log.jsonl
        run -1 "$CMD" report log.jsonl
        printf '%s\n' "$output" >"$n.txt"
        run -1 "$CMD" report --json log.jsonl
        printf '%s\n' "$output" >"$n.json"
        run -1 "$CMD" report -v log.jsonl
        printf '%s\n' "$output" >>"$n.txt"
    done
    validate_log log.jsonl
    diff 3.txt 4.txt
    diff 3.json 4.json
    run ! grep -E '"[0-9]+/[0-9]+/' 3.json
    is "$(jq -r '.stack.searches[0].searched[0]' 3.json)" 'LD_LIBRARY_PATH /srv/demo/two/'
}
