#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# README.md promises what there is. (Its verdict is held against a fresh one in tests/real/readme.bats.)

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$WC_ROOT" || return
    unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs these tests
}

@test "README.md's first screen: one sentence, a command and what it says, install, five uses, limits" {
    local screen
    screen=$(awk '/^## / { exit } { print }' README.md)
    [ "$(wc -l <<<"$screen")" -le 36 ]
    [[ $(sed -n 3p <<<"$screen") =~ ^[A-Z][^.?]*[.?]$ ]]
    is "$(sed -n '/^```$/,/^```$/p' <<<"$screen" | grep -vc '^```')" 9
    [[ $screen == *$'\n$ whichcudnn run -- python train.py\n'* ]]
    [[ $screen == *'pip install whichcudnn'* && $screen == *'(docs/limits.md)'* ]]
    is "$(grep -c '^- ' <<<"$screen")" 5
}

@test "every make target and subcommand in README.md is there, and every subcommand is in README.md" {
    local target subcommand
    grep -oE '\bmake [a-z][a-z-]*' README.md | sort -u >"$BATS_TEST_TMPDIR/targets"
    grep -qx 'make demo' "$BATS_TEST_TMPDIR/targets"
    grep -qx 'make test' "$BATS_TEST_TMPDIR/targets"
    while read -r _ target; do
        echo "make $target"
        grep -qE "^($target|[a-z -]* $target)( [a-z -]*)?:" Makefile packaging/*.mk
    done <"$BATS_TEST_TMPDIR/targets"
    grep -oE '\bwhichcudnn [a-z]+' README.md | cut -d ' ' -f 2 | sort -u >"$BATS_TEST_TMPDIR/subcommands"
    diff <("$CMD" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort) "$BATS_TEST_TMPDIR/subcommands"
    while read -r subcommand; do
        run -0 "$CMD" "$subcommand" --help
    done <"$BATS_TEST_TMPDIR/subcommands"
}

@test "README.md lists the variables that the library reads" {
    diff <(sed -n 's/^| `\(WHICHCUDNN_[A-Z]*\)`.*/\1/p' README.md | sort) \
        <(grep -o '"WHICHCUDNN_[A-Z]\+"' shim/config.c | tr -d '"' | grep -vx WHICHCUDNN_RUN_PID | sort)
}

@test "what README.md says of WHICHCUDNN_EXPECT is what is understood" {
    local value number=0
    cd "$BATS_TEST_TMPDIR"
    make_standin 9.1.0 set
    build_host lazy set host
    while read -r value; do
        number=$((number + 1))
        echo "$value"
        mkdir "$number"
        WHICHCUDNN_LOG=$PWD/$number WHICHCUDNN_EXPECT=$value WHICHCUDNN_STDERR=off \
            LD_PRELOAD=$SHIM ./host version
        # 9.1 is met, the others are not; what is no version would be a warning.
        is "$("$CMD" report --json "$number" |
            jq -c '[.findings[] | select(.id | startswith("exp")) | .id, .severity]')" \
            "$([ "$number" -eq 1 ] && echo '[]' || echo '["expectation-not-met","error"]')"
    done < <(sed -n '/^| `WHICHCUDNN_EXPECT/p' "$WC_ROOT/README.md" | cut -d '|' -f 3 | grep -o '`[^`]*`' | tr -d '`')
    is "$number" 3
}
