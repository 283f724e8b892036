#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `make test` draws (tests/setup/drawn), and the lines of tests/results.md (tests/setup/result).

bats_require_minimum_version 1.5.0
load helpers

drawn=$WC_ROOT/tests/setup/drawn

# Of all files of a row together, each test with how often it was drawn.
draws() { # PARTS FILE...
    local draw
    for ((draw = 41; draw < 41 + $1; draw++)); do
        WC_DRAW=$draw "$drawn" --filter "${@:2}" | sed 's/^^(//; s/)\$$//' | tr '|' '\n'
    done | grep . | sort | uniq -c | sed -E 's/^ *([0-9]+) /\1\t/'
}

@test "each test that is drawn comes once in as many draws as there are parts, each other one always" {
    local file parts pattern rows=0 name count expected
    while IFS=$'\t' read -r file parts pattern; do
        rows=$((rows + 1))
        # shellcheck disable=SC2206  # a pattern
        local files=("$WC_ROOT"/tests/$file)
        draws "$parts" "${files[@]}" >"$BATS_TEST_TMPDIR/drawn"
        is "$(wc -l <"$BATS_TEST_TMPDIR/drawn")" "$(cat "${files[@]}" | grep -c '^@test')"
        grep -q '^1	' "$BATS_TEST_TMPDIR/drawn"
        while IFS=$'\t' read -r count name; do
            expected=$parts
            ! [[ $name =~ $pattern ]] || expected=1
            is "$name: $count" "$name: $expected"
        done <"$BATS_TEST_TMPDIR/drawn"
    done < <(grep -v '^#' "$WC_ROOT/tests/setup/drawn.tsv")
    [ "$rows" -ge 4 ]
}

@test "without a draw every test runs, and a file that no row names has no filter" {
    is "$(env -u WC_DRAW "$drawn" --filter "$WC_ROOT/tests/faults/log.bats")" .
    is "$(WC_DRAW=3 "$drawn" --filter "$BATS_TEST_FILENAME")" .
    env -u WC_DRAW "$drawn" 4 name
    is "$(for draw in 5 6 7 8; do WC_DRAW=$draw "$drawn" 4 name && echo drawn || true; done)" drawn
}

@test "the number of a draw: the commits that lead to this one; a shallow clone has one from the hash" {
    local repository=$BATS_TEST_TMPDIR/repository
    mkdir -p "$repository/tests/setup"
    cp "$drawn" "$repository/tests/setup"
    cd "$repository"
    is "$(tests/setup/drawn)" 0
    git init -q .
    git -c user.name=n -c user.email=e commit -q --allow-empty -m 1
    git -c user.name=n -c user.email=e commit -q --allow-empty -m 2
    is "$(tests/setup/drawn)" 2
    git clone -q --depth 1 "file://$repository" ../shallow
    mkdir -p ../shallow/tests/setup
    cp "$drawn" ../shallow/tests/setup
    is "$(../shallow/tests/setup/drawn)" "$((16#$(git rev-parse HEAD | cut -c 1-7)))"
}

@test "a whole run writes its line in place of the former one; of a changed tree, or of two commits, none" {
    local repository=$BATS_TEST_TMPDIR/repository begun
    mkdir -p "$repository/tests/setup"
    cp "$WC_ROOT"/tests/setup/{result,summary} "$repository/tests/setup"
    cd "$repository"
    printf '%s\n' '# Results' '' '| Suite | Result |' '|---|---|' '| mutants | old |' '| places | old |' >tests/results.md
    git init -q .
    git add .
    commit() { git -c user.name=n -c user.email=e commit -q --allow-empty -m "$1"; }
    commit 1
    printf '%s\n' 1..2 'ok 1 killed >= 85 %: 91.2 (40 of 41)' 'not ok 2 b' >../mutants.tap
    begun=$(tests/setup/result begin)
    echo '| fuzz | what another run wrote meanwhile |' >>tests/results.md
    tests/setup/result mutants "$begun" ../mutants.tap
    grep -E "^\| mutants \| $(date -u +%Y)-.*\| $(git rev-parse --short=12 HEAD) \| 1 passed, 1 failed, killed >= 85 %: 91.2 \| 0 min [0-9]+ s \| .* cores, glibc [0-9.]+ \|$" tests/results.md
    is "$(grep -o '^| [a-z]* ' tests/results.md | tr -d '|\n')" ' fuzz  mutants  places '
    is "$(stat -c %a tests/results.md)" 644
    # What ran nothing, another commit, and a changed tree.
    cp tests/results.md ../before
    tests/setup/result places "$begun" ../nothing.tap
    commit 2
    run -0 tests/setup/result places "$begun" ../mutants.tap
    [[ $output == *'stays as it was'* ]]
    begun=$(tests/setup/result begin)
    echo changed >>tests/setup/summary
    run -0 tests/setup/result places "$begun" ../mutants.tap
    run -0 tests/setup/result places "$(tests/setup/result begin)" ../mutants.tap
    cmp tests/results.md ../before
}
