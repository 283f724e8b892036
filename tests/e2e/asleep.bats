#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Until a name matters the shim sleeps: what it does then, what it costs, what wakes it.

bats_require_minimum_version 1.5.0
load helpers
load ../loader/loader

setup_file() {
    local variant
    for variant in O0 O2 clang clang-O0; do
        "$WC_ROOT/tests/neutrality/shim-variant" "$variant"
    done
    build_programs
}
setup() { enter_programs; }

# ---- what it does ----

@test "asleep: in a sandbox that allows writing and ending alone, programs go on" {
    local what
    for what in dlsym again dlclose dlerror exit strict; do
        echo "$what"
        as_bare ./sandboxed $what ./plain.so plain
        [ -z "$(ls "$logs")" ]
        as_bare env WHICHCUDNN_DISABLE=1 ./sandboxed $what ./plain.so plain
    done
}

# costs_little [true]: of asleep.py's bars, on the shim of now.
# shellcheck disable=SC2120  # fails_without gives it an argument
costs_little() {
    local out=$BATS_TEST_TMPDIR/costs
    mkdir -p "$out"
    gcc -O2 -D_GNU_SOURCE -o "$out/launch" "$WC_ROOT/tests/bench/launch.c"
    gcc -shared -fPIC -o "$out/empty.so" -x c /dev/null
    gcc -O2 -o "$out/dlcalls" "$WC_ROOT/tests/bench/dlcalls.c" -ldl
    "$PY" "$WC_ROOT/tests/bench/asleep.py" "$out" "$SHIM" 20 "$@" | tee "$work/costs.tsv"
    [ -s "$work/costs.tsv" ] && awk -F '\t' '$3 == "" || $3 > $4 { exit 1 }' "$work/costs.tsv"
}

@test "asleep: instructions, relocations, page faults, system calls over an empty preload" {
    # shellcheck disable=SC2119
    costs_little
    [ "$(wc -l <"$work/costs.tsv")" -ge 20 ]
}

@test "the bars notice a shim that wakes at once, and one that the loader relocates whole" {
    fails_without sleep costs_little true
    fails_without later-relocations costs_little
}

# ---- what it needs ----

# needs_no_table OBJECT...: none has one that would be relocated when the shim wakes, and they call one
# another, or what is only called to wake, or before the loader has relocated us.
needs_no_table() {
    local object needed known='_DYNAMIC _GLOBAL_OFFSET_TABLE_ __ehdr_start _end _r_debug auxv_value config config_load
        hooks_[a-z]+ memcpy memset rescan_in_initialisation'
    for object in "$@"; do
        if readelf -SW "$object" | grep -q '\.data\.rel\.ro'; then
            echo "$object has a table" && return 1
        fi
    done
    needed=$(comm -23 <(nm -u "$@" | awk 'NF == 2 { print $2 }' | sort -u) \
        <(nm --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u) |
        grep -vxE "$(tr -s ' \n' '|' <<<"$known" | sed 's/|$//')" || true)
    is "$needed" ""
}

@test "what runs asleep needs no table" {
    local variant part objects
    for variant in O0 O2 clang clang-O0; do
        echo "$variant:"
        part=$BUILD/variants/$variant/obj/shim
        needs_no_table "$part"/shim/{asleep,start,thread}.o "$part/shim/arch/$(uname -m)/entry.o" \
            "$part/core/names/hints.o"
        # Settings are read asleep.
        for objects in "$part"/shim/{config,auxv}.o; do
            run ! grep -q '\.data\.rel\.ro' <(readelf -SW "$objects")
        done
    done
    part=$BUILD/variants/O2/obj/shim
    run ! needs_no_table "$part/core/names/names.o"
    run ! needs_no_table "$part/shim/hooks.o"
}

# ---- what wakes it ----

told_request() { # NAME
    as_bare ./opens "$1" &&
        is "$(records request "$(the_log "$logs")" | jq -r .name | head -n 1)" "$1" &&
        is "$(records object "$(the_log "$logs")" | jq -r 'select(.role == "facade").mapped' | head -n 1)" true
}

@test "a library whose name says nothing brings cuDNN: the request for it is told" {
    fails_without kept-request told_request ./host-now.so
}

@test "tables are relocated once, also in a child that was forked in the middle of it" {
    take_out relocating-twice
    told_request ./host-now.so
    fails_without pointers-known told_request ./host-now.so
}

told_failure() {
    run_under bare '' ./opens ./lost.so
    run_under shimmed "$SHIM" ./opens ./lost.so
    diff "$work/bare.err" "$work/shimmed.err" &&
        is "$(records failure "$(the_log "$logs")" | jq -r '.name, .text' | head -n 2)" \
            "$(printf '%s\n' ./lost.so 'libcudnn-nowhere.so.9: cannot open shared object file: No such file or directory')"
}

make_lost() {
    cp host-now.so lost.so
    patchelf --replace-needed libcudnn.so.9 libcudnn-nowhere.so.9 lost.so
}

@test "the loader's words name cuDNN: the failed request for something else is told" {
    make_lost
    fails_without kept-request told_failure
}

@test "bound: 4 requests of all threads are kept while the shim sleeps" {
    make_lost
    as_bare ./pushed-out ./lost.so ./plain.so 3
    is "$(records failure "$(the_log "$logs")" | jq -r .name | head -n 1)" ./lost.so
    as_bare ./pushed-out ./lost.so ./plain.so 4
    [ -z "$(ls "$logs")" ]
}

@test "a copy of cuDNN by another name is seen when one of its functions is looked up, not before" {
    cp libcudnn.so.9 other.so
    as_bare ./comes-and-goes 1 ./other.so ./plain.so
    [ -z "$(ls "$logs")" ]
    as_bare ./looks-up ./other.so
    is "$(records object "$(the_log "$logs")" | jq -r 'select(.role == "facade").path')" ./other.so
}

titled() {
    as_bare ./titled ./host-now.so && [ -s "$(the_log "$logs")" ]
}

@test "a program writes its title over its environment before it asks for cuDNN" {
    fails_without early-settings titled
}

@test "a library of cuDNN's name that does not call __gmon_start__, opened by way of another, wakes nobody" {
    as_bare env LD_LIBRARY_PATH=bare ./opens ./host-bare.so
    [ -z "$(ls "$logs")" ]
    as_bare env LD_LIBRARY_PATH=bare ./opens ./host-bare.so ./host-now.so
    [ -s "$(the_log "$logs")" ]
}

@test "requests before a name mattered are not told, but for the last one" {
    as_bare ./comes-and-goes 3 ./plain.so ./host-now.so
    is "$(records request "$(the_log "$logs")" | jq -r .name | tr '\n' ' ')" './host-now.so '
}

@test "a name that says nothing, a library that goes, and others in its place wake nobody; cuDNN's does" {
    local i files=()
    for i in {0..9}; do
        cp plain.so "plain-$i.so"
        files+=("./plain-$i.so")
    done
    as_bare ./comes-and-goes 50 "${files[@]}"
    [ -z "$(ls "$logs")" ]
    as_bare ./opens only: only:./plain.so # the program itself
    [ -z "$(ls "$logs")" ]
    as_bare ./comes-and-goes 50 "${files[@]}" ./host-now.so
    is "$(records object "$(the_log "$logs")" | jq -r 'select(.role == "facade").mapped' | head -n 1)" true
}

# ---- how its tables are linked ----

# deferred CC OUT OBJECT...: linked as the shim is.
deferred() {
    "$PY" "$WC_ROOT/shim/defer_relocations.py" "$1" -shared -nostdlib -Wl,-z,norelro -o "$2" "${@:3}"
}

@test "a table holds distances until it is made right, also of what lies at the end of its section" {
    local flags=(-std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -ffreestanding -fvisibility=hidden) skip
    cd "$work"
    gcc "${flags[@]}" -c -o table.o "$WC_ROOT/tests/loader/deferred.c"
    deferred gcc table.so table.o
    is "$("$PY" -c 'import ctypes; t = ctypes.CDLL("./table.so"); print(t.at_start(), t.wake())')" '7 0'
    # Where in a page code lies decides what a linker for aarch64 puts between: wherever that is.
    command -v aarch64-linux-gnu-gcc || skip 'there is no compiler for aarch64'
    aarch64-linux-gnu-gcc "${flags[@]}" -c -o table.o "$WC_ROOT/tests/loader/deferred.c"
    for skip in {0..3584..512}; do
        aarch64-linux-gnu-gcc -DSKIP="$skip" -c -o code.o "$WC_ROOT/tests/loader/deferred_aarch64.S"
        deferred aarch64-linux-gnu-gcc table.so code.o table.o -Wl,--fix-cortex-a53-843419
    done
}
