#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What must hold of the cases without playing them.

load ../setup/helper

@test "every case of the field is re-created or left out for a reason" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" field
}

@test "only cases that are there stand open" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" open
}

@test "every finding is expected by a case, or stands in the closed list; the table of the page counts the cases" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" findings
}

# changed NAME OLD NEW: check_table.py over the cases, one of which states something else.
changed() {
    cp "$WC_ROOT"/tests/cases/situations/*.py "$BATS_TEST_TMPDIR"
    sed -i "/^@case(\"$1\"/,/^@case/ s/$2/$3/" "$BATS_TEST_TMPDIR"/*.py
    ! diff -r -x __pycache__ "$WC_ROOT/tests/cases/situations" "$BATS_TEST_TMPDIR"
    run "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" findings "$BATS_TEST_TMPDIR"
    echo "$output"
    [ "$status" -eq 1 ]
}

@test "a finding that is none, one that no case expects and a number that is not so are noticed" {
    changed A32 known-bad-release known-bad-releas
    [[ $output == *"known-bad-releas: no finding is called so"* ]]
    [[ $output == *"known-bad-release: expected first nowhere, and not in not-first.tsv"* ]]
    [[ $output == *"1 played that expect known-bad-release, the cases have 0"* ]]
    rm -r "${BATS_TEST_TMPDIR:?}"/*
    changed A21 library-not-found demands-conflict
    [[ $output == *"demands-conflict: in not-first.tsv, and expected by a case"* ]]
}

@test "no version, library, package or function of a case stands in core or shim" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" literals
}

@test "a version of a case is noticed outside of the tables of public facts" {
    local planted='const char *planted(void) { return "9.1.0"; }'
    cp -r "$WC_ROOT/core" "$WC_ROOT/shim" "$BATS_TEST_TMPDIR"
    echo "$planted" >>"$BATS_TEST_TMPDIR/core/packages/metadata.c"
    echo "$planted" >>"$BATS_TEST_TMPDIR/shim/hooks.c"
    run "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" literals "$BATS_TEST_TMPDIR"
    [ "$status" -eq 1 ]
    [ "$output" = "core/packages/metadata.c: '9.1.0'"$'\n'"shim/hooks.c: '9.1.0'" ]
}

@test "the comparison of report, inspect and scan tells each difference" {
    local agreement=$WC_ROOT/tests/cases/agreement.py
    cd "$BATS_TEST_TMPDIR"
    make_standin 9.1.0 set
    build_host now set host
    gcc -shared -fPIC -o hold.so "$WC_ROOT/tests/fixtures/hosts/hold.c"
    LD_PRELOAD=$PWD/hold.so ./host >out 3>&- &
    until grep -q '^State:.T' "/proc/$!/status"; do sleep 0.1; done
    "$WHICHCUDNN" inspect --json "$!" >a
    kill -KILL "$!"
    "$WHICHCUDNN" scan --json host >b
    [ "$("$WC_PYTHON" "$agreement" a a b)" = "they agree" ]
    [ "$("$WC_PYTHON" "$agreement" --planted a a b)" = "they agree" ]
    jq '(.stack.objects[] | select(.part == "graph") | .version) = "9.9.9"' a >c
    run "$WC_PYTHON" "$agreement" a c b
    [ "$status" -eq 1 ]
    [ "$output" = "$PWD/set/libcudnn_graph.so.9: version is '9.1.0' for report, '9.9.9' for inspect" ]
    jq '(.reports[].stack.objects[] | select(.role == "facade") | .installation) = "x"' b >c
    run "$WC_PYTHON" "$agreement" a a c
    [ "$status" -eq 1 ]
    [ "$output" = "$PWD/set/libcudnn.so.9: installation is None for report, 'x' for scan" ]
}
