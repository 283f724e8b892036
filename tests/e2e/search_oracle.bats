#!/usr/bin/env bats
# core/search against the loader itself (LD_DEBUG=libs): the whole list of files that are tried, in
# order, over drawn set-ups. A failing run prints WC_SEED. WC_SETUPS: how many; 500 in `make test-cases`.

setup_file() {
    export WC_ROOT="${WC_ROOT:-$BATS_TEST_DIRNAME/../..}"
    export DRIVER="$BATS_FILE_TMPDIR/search_driver"
    "$WC_ROOT/tests/oracle/build-search-driver" "$WC_ROOT/core" "$DRIVER"
}

ask() { # DRIVER SET-UPS
    "${WC_PYTHON:-python3}" -B "$WC_ROOT/tests/oracle/search_oracle.py" "$1" \
        "$BATS_TEST_TMPDIR/set-ups" "$2"
}

@test "the replay tries what the loader tries, in its order" {
    run ask "$DRIVER" "${WC_SETUPS:-20}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" set-ups, 0 differ"* ]]
}

# Each rule broken once: the comparison must see it.
breaks() { # FILE ANCHOR REPLACEMENT
    cp -r "$WC_ROOT/core" "$WC_ROOT/include" "$BATS_TEST_TMPDIR/"
    grep -qF "$2" "$BATS_TEST_TMPDIR/core/search/$1"
    python3 -c 'import sys; p, a, b = sys.argv[1:]; s = open(p).read(); assert s.count(a) == 1
open(p, "w").write(s.replace(a, b))' "$BATS_TEST_TMPDIR/core/search/$1" "$2" "$3"
    "$WC_ROOT/tests/oracle/build-search-driver" "$BATS_TEST_TMPDIR/core" "$BATS_TEST_TMPDIR/driver"
    WC_SEED=5 run ask "$BATS_TEST_TMPDIR/driver" 20
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"in the replay, from number"* ]]
}

@test "a replay without the DT_RPATH of those that loaded the caller is noticed" {
    breaks search.c '!s->over; o = o->loaded_by)' '!s->over; o = NULL)'
}

@test "a replay that forgets which directories are missing is noticed" {
    breaks search.c 'bool missing = is_missing(s, s->path, base);' \
        'bool missing = is_missing(s, s->path, base) && s->over;'
}

@test "a replay that leaves out the subdirectories is noticed" {
    breaks search.c 'const char *const *sub = s->world->subdirectories;' \
        'const char *const *sub = NULL;'
}

@test "a replay that does not know \$LIB is noticed" {
    breaks tokens.c '{"LIB", world->lib}' '{"LIBS", world->lib}'
}
