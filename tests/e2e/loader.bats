#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the loader allows, and what would crash or hang the host: each situation as a program, and each
# protection taken out once, to see that the program shows it.

bats_require_minimum_version 1.5.0
load helpers
load ../loader/loader

setup_file() { build_programs; }
setup() { enter_programs; }

# ---- an object is listed before it is relocated ----

@test "a thread of a start-up constructor opens a host while the others start" {
    fails_without start-up-return all_watched ./early
}

@test "a dl* call waits until another thread's host is relocated" {
    fails_without loader-s-lock all_watched ./meanwhile
}

@test "a function is looked up while another thread's host is relocated, with no lock of the shim" {
    all_watched ./meanwhile looks-up
}

@test "one thread reloads a host that is slow to relocate, another loads others" {
    fails_without loader-s-lock all_watched ./restless 200
}

@test "a host that another thread's dl* call notices first is told with the request that opened it" {
    as_bare ./restless 200
    is "$(records object "$(the_log "$logs")" | jq -r 'select(.role == "host" and .mapped and .request == null).path')" ''
}

@test "a resolver that runs in the middle of a host's relocation makes a dl* call" {
    fails_without look-at-pages all_watched ./opens ./host-now.so ./host-asks.so
}

@test "16 threads open, call and close a host each" {
    all_watched ./storm 16 200 ./now-%d.so
    as_bare ./storm-unpinned 16 200 ./now-%d.so
    all_watched ./storm 16 100 ./bare-%d.so dlsym
    all_watched ./storm 4 200 ./lazy-%d.so
}

@test "16 threads open, call and close the same host" {
    all_watched ./storm 16 200 ./host-now.so
    # While one thread's call is resolving a lazy slot, another's may go past us.
    as_bare ./storm 16 200 ./host-lazy.so
    as_bare ./storm-unpinned 16 200 ./host-lazy.so
}

# ---- __gmon_start__ ----

constructor_told() { # PROGRAM...
    as_bare "$@" &&
        tells_calls 'cudnnGetCudartVersion before host-at-start.so libcudnn.so.9' \
            'cudnnGetCudartVersion after host-at-start.so libcudnn.so.9'
}

@test "calls in constructors are seen: linked" {
    fails_without gmon-start constructor_told ./run-at-start
}

@test "calls in constructors are seen: opened" {
    fails_without gmon-start constructor_told ./opens ./host-at-start.so
}

@test "calls in constructors are seen: opened with RTLD_DEEPBIND" {
    fails_without gmon-start constructor_told ./opens deep:./host-at-start.so
}

profiled() {
    as_bare ./calls-profiled && all_watched ./calls-profiled && [ -s gmon.out ]
}

@test "a program built with -pg, whose __gmon_start__ hides ours" {
    fails_without own-constructor profiled
    rm gmon.out
    all_watched ./opens-profiled ./host-lazy.so ./host-now.so ./host-no-plt.so
}

@test "hosts without __gmon_start__ are seen in the next dl* call" {
    fails_without second-chance all_watched ./storm 1 3 ./host-bare.so dlsym
    all_watched ./opens ./host-bare.so
}

# ---- what no hook may do ----

# A lock that another thread holds when a process forks stays held in the child.

@test "children are forked beside dl calls of other threads" {
    as_bare ./fork-lookups 100
    as_bare ./fork-beside looks-up 100
    fails_without lock-that-fork-resets as_bare ./fork-beside reopens 300
    as_bare ./fork-beside itself 300
    as_bare ./fork-beside reopens 100 500
}

@test "children are forked beside a thread that imports" {
    fails_without lock-that-fork-resets as_bare ./fork-beside imports 300
    as_bare ./fork-beside imports 100 500
}

@test "libasan and libtsan in front get no call of ours" {
    local name sanitizer
    for name in libasan.so libtsan.so; do
        sanitizer=$(gcc -print-file-name=$name)
        [ "$sanitizer" != $name ]
        fails_without own-strings between "$sanitizer" '' as_bare ./opens ./host-lazy.so
    done
}

# ---- writing slots ----

@test "a RELRO that ends within a page leaves the page as it was" {
    fails_without relro-rounding all_watched ./opens ./host-writes.so
}

@test "the loader overwrites a lazy slot, and we return to it" {
    fails_without put-back all_watched ./calls-lazy 3
    all_watched ./calls-now 3
}

@test "under LD_BIND_NOT the slot stays ours" {
    fails_without put-back-check all_watched env LD_BIND_NOT=1 ./calls-lazy 3
    all_watched env LD_BIND_NOW=1 ./calls-lazy 3
}

@test "threads that resolve one slot at once overwrite it one after the other" {
    fails_without put-back-by-each all_watched env LD_LIBRARY_PATH=slow ./calls-lazy threads
}

@test "a lazy host may come and go" {
    local i files=()
    for i in {0..9}; do # each of the others takes the place of the one before
        files+=("close:./lazy-$i.so" "./now-$i.so")
    done
    fails_without lazy-instances-freed all_watched ./opens ./host-now.so "${files[@]}"
}

linked_by() { # LINKER
    [ -e "calls-$1-lazy" ] || skip "ld.$1 is not installed"
    local how
    for how in lazy now no-plt marked indirect; do
        echo "$1, $how:"
        all_watched "./calls-$1-$how" && all_watched env LD_BIND_NOW=1 "./calls-$1-$how" &&
            as_bare "./calls-$1-$how" threads && all_watched ./opens "./host-$1-$how.so" || return
    done
}

@test "hosts linked by bfd: lazily, at once, without PLT, with landing pads, beside indirect functions" {
    linked_by bfd
}
@test "hosts linked by gold" { linked_by gold; }
@test "hosts linked by lld" { linked_by lld; }
@test "hosts linked by mold, whose lazy slots all lead to one place" {
    linked_by mold
    fails_without passed-number all_watched ./calls-mold-lazy
}

@test "a host whose PLT has retpolines" {
    [ -e calls-retpoline ] || skip "for x86-64, where ld.lld is installed"
    all_watched ./calls-retpoline
}

# ---- tracers of the PLT ----

# Under the tracer each call of the host comes by: three functions, three times, and more of libc.
traced() { # PROGRAM...
    all_watched "$@" && counted env TRACED=1 "$@" &&
        [ "$(sed -n 's/^traced //p' "$work/counted.out")" -ge 9 ]
}

traced_by() { # BEFORE AFTER
    local how
    for how in lazy bfd-lazy bfd-marked gold-lazy lld-lazy mold-lazy retpoline; do
        [ ! -e "calls-$how" ] || between "$1" "$2" traced "./calls-$how" 3 || return
    done
    between "$1" "$2" as_bare ./calls-lazy threads
}

@test "a tracer takes a wrapper for the function and puts the lazy value back" {
    [ -e traces-plt.so ] || skip "for x86-64"
    traced_by ./traces-plt.so ''
    traced_by '' ./traces-plt.so
    fails_without put-back-of-tracer between '' ./traces-plt.so traced ./calls-lazy 3
}

hooked_and_watched() {
    all_watched ./opens ./host-hooks.so && is "$(cat "$work/bare.out")" './host-hooks.so 103'
}

hooked_and_left() {
    as_bare ./opens ./host-lazy.so ./host-hooks-first.so &&
        is "$(records unobserved "$(the_log "$logs")" | jq -r '"\(.what) \(.path)"')" \
            'calls through a lazy slot ./host-hooks-first.so'
}

@test "a host puts a function of its own into its lazy slot, after we saw it and before" {
    fails_without lazy-value hooked_and_watched
    fails_without known-code hooked_and_left
}

traced_and_left() {
    between '' ./traces-plt-first.so as_bare ./calls-lazy 3 &&
        between '' ./traces-plt-first.so counted ./calls-lazy 3 &&
        tells_bindings 'calls-lazy lazy slot - cudnnCreate,cudnnGetCudartVersion,cudnnGetVersion 0' &&
        tells_calls && [ ! -s "$work/told" ] && [ "$(counts)" = 'watched 0 direct 3' ] &&
        is "$(records unobserved "$(the_log "$logs")" | jq -r .what)" 'calls through a lazy slot'
}

@test "a tracer that was there before us: it is told, and the slot is left alone" {
    [ -e traces-plt.so ] || skip "for x86-64"
    fails_without known-resolver traced_and_left
    between ./traces-plt-first.so '' as_bare ./calls-mold-lazy 3
}

audited() {
    local how
    for how in lazy bfd-marked gold-lazy lld-lazy mold-lazy retpoline; do
        [ ! -e "calls-$how" ] || as_bare env LD_AUDIT=./audits-plt.so "./calls-$how" 3 || return
        [ "$(grep -cE '^(enter|leave) ' "$work/bare.err")" -eq 18 ] || return
        [ "$(calls_told | grep -c ' after ')" -eq 3 ] || return
    done
    as_bare env LD_AUDIT=./audits-plt.so ./opens ./host-lazy.so
}

@test "an auditor of the PLT is told of the same calls" {
    [ -e traces-plt.so ] || skip "for x86-64"
    fails_without passed-number audited
}

# Output of the program, then what uftrace recorded of it.
by_uftrace() { # PRELOAD
    rm -rf "$logs" && mkdir "$logs" && rm -rf "$work/recorded"
    timeout 60 env LD_PRELOAD="$1" WHICHCUDNN_LOG="$logs" WHICHCUDNN_STDERR=off uftrace record \
        --force --no-event -d "$work/recorded" ./calls-lazy 3 &&
        uftrace replay -d "$work/recorded" -f none --no-event | grep -o 'cudnn[A-Za-z]*();'
}

@test "uftrace records the same calls" {
    by_uftrace '' >"$work/bare"
    by_uftrace "$SHIM" >"$work/shimmed"
    diff "$work/bare" "$work/shimmed"
    [ "$(grep -c cudnn "$work/bare")" -eq 9 ]
    [ "$(calls_told | grep -c ' after ')" -eq 3 ]
}

@test "a program that no loader starts" {
    as_bare ./calls-static 3
    [ -z "$(ls "$logs")" ]
}

# ---- which object is which ----

reloads() { # ID
    local files=("$BATS_TEST_TMPDIR/reload-1.so" "$BATS_TEST_TMPDIR/reload-2.so")
    cp "first-$1.so" "${files[0]}" && cp "second-$1.so" "${files[1]}"
    counted ./reload "${files[@]}" threads
    diff <(printf '%s\n' 1001 1002 'watched 2 direct 0') "$BATS_TEST_TMPDIR/counted.out" &&
        grep -qx 'same address' "$BATS_TEST_TMPDIR/counted.err" &&
        tells_calls 'cudnnOpsVersionCheck before reload-1.so libcudnn.so.9' \
            'cudnnCnnVersionCheck before reload-1.so libcudnn.so.9'
}

@test "another file at the same address is another host, by its build-id" {
    fails_without identity-by-file reloads sha1
}

@test "another file at the same address is another host, by its names where it has no build-id" {
    fails_without identity-by-names reloads none
}

# The first look at the one that does not matter is the one after the host went.
comes_where_it_did_not_matter() {
    local files=("$BATS_TEST_TMPDIR/reload-1.so" "$BATS_TEST_TMPDIR/reload-2.so")
    cp unlike-none.so "${files[0]}" && cp like-none.so "${files[1]}"
    counted ./reload "${files[@]}" after ./first-none.so
    diff <(printf '%s\n' 90100 'watched 1 direct 0') "$BATS_TEST_TMPDIR/counted.out" &&
        grep -qx 'same address' "$BATS_TEST_TMPDIR/counted.err" &&
        calls_told | grep -qx 'cudnnCreate before reload-1.so -'
}

@test "a host at the address of what did not matter is seen" {
    fails_without doubt-where-one-is-gone comes_where_it_did_not_matter
}

reloads_itself() {
    local files=("$BATS_TEST_TMPDIR/reload-1.so" "$BATS_TEST_TMPDIR/reload-2.so")
    cp host-now.so "${files[0]}" && cp host-now.so "${files[1]}"
    counted ./reload "${files[@]}" threads && [ "$(counts)" = 'watched 2 direct 0' ]
}

@test "a host that one thread closed and another opened has fresh slots" {
    fails_without known-hosts-again reloads_itself
}

in_its_place() { # HOW HOST
    local files=("$BATS_TEST_TMPDIR/reload-1.so" "$BATS_TEST_TMPDIR/reload-2.so")
    cp "$2" "${files[0]}" && cp "$2" "${files[1]}"
    counted env GLIBC_TUNABLES=glibc.malloc.arena_max=1 ./reload "${files[@]}" "$1" &&
        grep -qx 'same map' "$BATS_TEST_TMPDIR/counted.err" && [ "$(counts)" = 'watched 2 direct 0' ]
}

@test "a host that took another one's link map is another host" {
    fails_without in-its-place in_its_place threads host-now.so
    fails_without in-its-place in_its_place asks host-bare.so
}

# ---- objects that take themselves away ----

among_vanishing() {
    local takes
    for takes in "$@"; do
        all_watched ./opens "only:./vanish-$takes.so" ./host-now.so close:./lazy-1.so ./host-lazy.so &&
            all_watched ./opens ./host-now.so "only:./vanish-$takes.so" ./lazy-1.so close:./lazy-2.so \
                "and-close:./first-none.so" ./lazy-3.so || return
    done
}

@test "an object that makes its headers unreadable, or its names" {
    fails_without asked-headers among_vanishing 1 2
    fails_without asked-tables among_vanishing 3
}

# ---- kinds of slots ----

bound_by_address() {
    all_watched ./opens ./host-no-plt.so &&
        tells_bindings 'host-no-plt.so slot libcudnn.so.9 cudnnCreate,cudnnGetVersion 2'
}

@test "a host without a PLT is bound and called through addresses" {
    fails_without address-slots bound_by_address
}

@test "gold makes an address and a jump slot: the address stays what it was" {
    readelf -rW host-gold.so | grep -q 'GLOB_DAT.* cudnnCreate'
    readelf -rW host-gold.so | grep -q 'JUMP_SLOT.* cudnnCreate'
    all_watched ./opens ./host-gold.so
    fails_without only-addresses as_bare ./addresses
}

through_the_program() {
    all_watched ./address &&
        tells_bindings 'address slot libcudnn.so.9 cudnnCreate 1' \
            'host-address.so slot libcudnn.so.9 cudnnCreate 1'
}

@test "addresses that are entries of a program's PLT lead to what its slot holds" {
    fails_without program-slot through_the_program
}

@test "a call through a host's own stub is counted once" {
    make_standin 9.1.0 "$BATS_TEST_TMPDIR/nine"
    build_host library-stub "$BATS_TEST_TMPDIR/nine" "$BATS_TEST_TMPDIR/stub" -Wl,-rpath,"$BATS_TEST_TMPDIR/nine"
    as_bare env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/nine" "$BATS_TEST_TMPDIR/stub" version version
    tells_calls 'cudnnGetVersion before stub.so libcudnn.so.9' \
        'cudnnGetVersion after stub.so libcudnn.so.9'
    [ "$(wc -l <"$BATS_TEST_TMPDIR/told")" -eq 2 ]
    tells_bindings 'stub.so dlsym libcudnn.so.9 cudnnGetVersion 1'
    grep -q '^stub.so itself ' "$BATS_TEST_TMPDIR/told"
}

# ---- before we are relocated ----

@test "an IFUNC resolver of a start-up library calls dlsym" {
    fails_without unrelocated as_bare ./resolves
}

@test "an IFUNC resolver of a start-up library calls dladdr and dlerror" {
    fails_without unrelocated as_bare ./resolves-more
}

@test "an IFUNC resolver calls dlsym where the loader was called by its name" {
    local loader
    loader=$(readelf -lW resolves | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
    [ -x "$loader" ]
    as_bare "$loader" ./resolves
}

# ---- a host that jumps ----

@test "an IFUNC resolver leaves dlsym by longjmp" {
    fails_without fresh-hooks all_watched ./jumps ./host-now.so
}

# ---- the tests themselves ----

@test "from wherever a profiler's signal comes, frames lead back to the program" {
    [ "$(uname -m)" = x86_64 ] || skip "which has a trap behind each instruction"
    as_bare ./stepped ./libcudnn.so.9 ./host-lazy.so
    counted ./stepped ./libcudnn.so.9 ./host-lazy.so
    grep -xE '[1-9][0-9]{3,} places in the shim' "$work/counted.out"
    take_out frames
    counted ./stepped ./libcudnn.so.9 ./host-lazy.so
    grep -E '^[1-9][0-9]{2,} places lead astray' "$work/counted.out"
}

@test "every protection is taken out somewhere" {
    local name count=0
    while read -r name; do
        echo "$name"
        grep -qE "(fails_without|take_out) $name( |$)" "$WC_ROOT"/tests/*/*.bats
        count=$((count + 1))
    done < <("$WC_ROOT/tests/loader/without")
    [ "$count" -ge 30 ]
    run ! "$WC_ROOT/tests/loader/without" nothing "$BATS_TEST_TMPDIR/nothing.so"
}
