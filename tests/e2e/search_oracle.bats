#!/usr/bin/env bats
# core/search against the loader itself (LD_DEBUG=libs): the whole list of files that are tried, in
# order, over drawn set-ups and over the fixtures; tests/real/check_measured.py asks the same of real
# files and frameworks. A failing run prints WC_SEED. WC_SETUPS: how many; 500 in `make test-cases`.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    export DRIVER="$BATS_FILE_TMPDIR/search_driver"
    "$WC_ROOT/tests/oracle/build-search-driver" "$WC_ROOT/core" "$DRIVER"
}

ask() { # DRIVER SET-UPS
    "$PY" -B "$WC_ROOT/tests/oracle/search_oracle.py" "$1" \
        "$BATS_TEST_TMPDIR/set-ups" "$2"
}

@test "the replay tries what the loader tries, in its order" {
    run ask "$DRIVER" "${WC_SETUPS:-20}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" set-ups, 0 differ"* ]]
}

# observed PROGRAM ARGUMENT...: what its loader tries is what the replay does; $tried counts it.
observed() {
    run -0 "$PY" -B "$WC_ROOT/tests/oracle/search_observed.py" "$DRIVER" "$@"
    [[ $output =~ ([0-9]+)" files tried, 0 differ"$ ]]
    tried=$((${tried:-0} + BASH_REMATCH[1]))
}

@test "every host of the fixtures: linked, weak, opened, in a library that is linked or opened" {
    cd "$BATS_TEST_TMPDIR"
    make_standin 9.1.0 set
    local mode shape modes
    mapfile -t modes < <(build_host 2>&1 | sed -nE 's/^  ([a-z-]+) .*/\1/p')
    [ "${#modes[@]}" -ge 13 ]
    for mode in "${modes[@]}"; do
        for shape in '' library- opened-; do
            case $shape$mode in *-library-* | *-no-pic*) continue ;; esac
            build_host "$shape$mode" set "host-$shape$mode"
            echo "$shape$mode"
            if [ "$mode" = dlopen-path ]; then
                observed "./host-$shape$mode" set/libcudnn.so.9 version create
            else
                observed "./host-$shape$mode" version create
            fi
        done
    done
    [ "$tried" -ge 300 ]
}

@test "every stand-in of the fixtures: releases, layouts, search paths, needs that nobody satisfies" {
    cd "$BATS_TEST_TMPDIR"
    local arguments lib number=0
    mkdir empty
    while read -r lib arguments; do
        number=$((number + 1))
        echo "$arguments"
        # shellcheck disable=SC2086  # words
        make_standin $arguments "$number"
        build_host lazy "$number/$lib" "linked-$number"
        observed "./linked-$number" version create
        build_host dlopen "$number/$lib" "opens-$number"
        LD_LIBRARY_PATH=empty:$PWD/nowhere:$PWD/$number/$lib observed "./opens-$number" version create
    done <<'END'
. 4.0.7
. 5.1.10
. 6.0.21
. 7.6.5
. 8.9.2
. 9.1.0
. 9.28.0
lib64 --layout toolkit 8.9.2
lib64 --layout toolkit 9.1.0
nvidia/cudnn/lib --layout pip 9.1.0
. --rpath 9.1.0
. --no-path 9.1.0
. --parts-no-path 9.1.0
. --only facade 9.1.0
. --without graph 9.19.0
. --needs graph=libnothing.so.1 9.1.0
. --asks libnothing.so.1:nothing 9.1.0
. --probes graph=libnothing.so.1 9.1.0
END
    [ "$number" -eq 18 ]
    [ "$tried" -ge 300 ]
}

@test "a program of whose search one rule is broken is noticed" {
    cp -r "$WC_ROOT/core" "$WC_ROOT/include" "$BATS_TEST_TMPDIR/"
    cd "$BATS_TEST_TMPDIR"
    make_standin 9.1.0 set
    build_host lazy set host
    observed ./host version create
    sed -i 's/{"ORIGIN", origin}/{"ORIGINS", origin}/' core/search/tokens.c
    run cmp core/search/tokens.c "$WC_ROOT/core/search/tokens.c"
    [ "$status" -eq 1 ]
    "$WC_ROOT/tests/oracle/build-search-driver" core driver
    run -1 "$PY" -B "$WC_ROOT/tests/oracle/search_observed.py" ./driver ./host version create
    [[ $output == *"in the replay, from number"*"they differ" ]]
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
