#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# core/search against the loader itself (LD_DEBUG=libs): the whole list of files that are tried, in
# order, over drawn set-ups and over the fixtures; tests/real/check_measured.py asks the same of real
# files and frameworks. A failing run prints WC_SEED. WC_SETUPS: how many; 500 in `make test-cases`, and
# there on more processors.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    export DRIVER="$BATS_FILE_TMPDIR/search_driver"
    "$WC_ROOT/tests/oracle/build-search-driver" "$WC_ROOT/core" "$DRIVER"
}

ask() { # DRIVER SET-UPS [PROCESSOR]...
    "$PY" -B "$WC_ROOT/tests/oracle/search_oracle.py" "$1" \
        "$BATS_TEST_TMPDIR/set-ups" "${@:2}"
}

@test "the replay tries what the loader tries, in its order" {
    run ask "$DRIVER" "${WC_SETUPS:-20}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" set-ups, 0 differ"* ]]
}

# One of each list of subdirectories that qemu-user can be made to give: AMD's, on which a word stands
# twice, and Intel's, with no level, x86-64-v2 and -v3; haswell without them.
processors=(qemu64 EPYC Nehalem Haswell Haswell,-cx16)
[ -z "${WC_SETUPS:-}" ] ||
    processors+=(Opteron_G5 EPYC,-lahf-lm EPYC,vendor=GenuineIntel Dhyana core2duo Haswell,-avx
        Haswell,-movbe Haswell,-xsave Haswell,-f16c Haswell,vendor=CentaurHauls Skylake-Server
        KnightsMill max)

@test "the same on other processors" {
    [ "$(uname -m)" = x86_64 ] || skip 'models of x86-64 processors'
    run ask "$DRIVER" "$((${WC_SETUPS:-25} / 5))" "${processors[@]}"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" set-ups, 0 differ"* ]]
}

# on MODEL COMMAND...: on that processor; qemu's word on what it leaves out of the model is left out.
on() { qemu-x86_64 -cpu "$@" 2> >(grep -v "^qemu.*doesn't support requested" >&2); }
taken() { jq -rs '[.[] | select(.name == "libcudnn.so.9") | .takes] | unique[]'; }

# Which of the copies below a directory is taken, the loader says.
@test "on other processors shim and scan tell which copy the loader takes" {
    [ "$(uname -m)" = x86_64 ] || skip 'models of x86-64 processors'
    cd "$BATS_TEST_TMPDIR"
    local model below place version number=0
    local -A copy seen
    for below in . x86_64 x86_64/x86_64 haswell/x86_64 glibc-hwcaps/x86-64-{v2,v3}; do
        number=$((number + 1))
        make_standin "9.$number.0" "all/$below"
        copy[90${number}00]=$below
    done
    cp -r all words
    rm -r words/glibc-hwcaps
    build_host lazy all/. host
    for model in "${processors[@]}"; do
        for place in all words; do
            export LD_LIBRARY_PATH=$PWD/$place
            version=$(on "$model" ./host version)
            version=${version#version }
            echo "$model, $place: ${copy[$version]}"
            seen[${copy[$version]}]=1
            rm -rf logs && mkdir logs
            is "$(WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off on "$model" -E LD_PRELOAD="$SHIM" \
                ./host version)" "version $version"
            is "$(realpath "$(records search logs/* | taken)")" \
                "$(realpath "$place/${copy[$version]}/libcudnn.so.9")"
            is "$(realpath "$(on "$model" "$CMD" scan --json host | jq -c '.reports[].stack.searches[]' | taken)")" \
                "$(realpath "$place/${copy[$version]}/libcudnn.so.9")"
            unset LD_LIBRARY_PATH
        done
    done
    is "${#seen[@]}" 4
}

@test "an older glibc with glibc-hwcaps, as RHEL 8 has it, is known by its loader" {
    [ "$(uname -m)" = x86_64 ] || skip 'models of x86-64 processors'
    local loader
    loader=$(readelf -lW "$PY" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    run -0 on Haswell "$DRIVER" <<<"system"$'\t'"$loader"$'\t'28
    is "$(grep -m 3 subdirectory <<<"$output" | cut -f 2 | xargs)" \
        'glibc-hwcaps/x86-64-v3/ glibc-hwcaps/x86-64-v2/ tls/haswell/x86_64/'
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
    edit core/search/search.c '{"ORIGIN", origin}' '{"ORIGINS", origin}'
    "$WC_ROOT/tests/oracle/build-search-driver" core driver
    run -1 "$PY" -B "$WC_ROOT/tests/oracle/search_observed.py" ./driver ./host version create
    [[ $output == *"in the replay, from number"*"they differ" ]]
}

# Each rule broken once: the comparison must see it.
with_edit() { # FILE ANCHOR REPLACEMENT
    cp -r "$WC_ROOT/core" "$WC_ROOT/include" "$BATS_TEST_TMPDIR/"
    cd "$BATS_TEST_TMPDIR" || return
    edit "$@" && "$WC_ROOT/tests/oracle/build-search-driver" core driver
}
is_noticed() { # [SET-UPS PROCESSOR]
    WC_SEED=5 run ask "$BATS_TEST_TMPDIR/driver" "${1:-20}" "${@:2}"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"in the replay, from number"* ]]
}

@test "a replay without the DT_RPATH of those that loaded the caller is noticed" {
    with_edit core/search/search.c '!s->over; o = o->loaded_by)' '!s->over; o = NULL)'
    is_noticed
}

@test "a replay that forgets which directories are missing is noticed" {
    with_edit core/search/search.c 'bool missing = is_missing(s, s->path, base, sub);' \
        'bool missing = is_missing(s, s->path, base, sub) && s->over;'
    is_noticed
}

@test "a replay that leaves out the subdirectories is noticed" {
    with_edit core/search/search.c 'const char *const *sub = s->context->system->subdirectories;' \
        'const char *const *sub = (const char *const[]){NULL};'
    is_noticed
}

@test "a replay that does not know \$LIB is noticed" {
    with_edit core/search/search.c '{"LIB", context->system->lib}' \
        '{"LIBS", context->system->lib}'
    is_noticed
}

@test "a replay that tries a subdirectory once that the list has twice is noticed" {
    with_edit core/search/search.c 'd->sub == sub' '(d->sub == sub || sub)'
    is_noticed 3 qemu64
}
