#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Other preloads in front of the shim and behind it, and hosts built with sanitizers.

bats_require_minimum_version 1.5.0
load helpers
load ../loader/loader

setup_file() { build_programs; }
setup() { enter_programs; }

# Linked, opened and looked up; threads; the same outcome as without the shim, all calls seen.
# Sanitizers refuse RTLD_DEEPBIND.
everything() { # deep|flat [TRACER...]
    local how=$1
    shift
    all_watched "$@" ./calls-lazy threads && all_watched "$@" ./storm 8 40 ./now-%d.so &&
        all_watched "$@" ./opens ./host-at-start.so "$how:./host-lazy.so" \
            ./host-bare.so &&
        all_watched "$@" ./looks-up ./libcudnn.so.9 && all_watched "$@" ./looks-up ./libcudnn.so.9 dlvsym
}

@test "no other preload" {
    everything deep
}

@test "jemalloc, in front and behind" {
    local jemalloc
    for jemalloc in /usr/lib/*/libjemalloc.so.2; do
        between "$jemalloc" '' everything deep
        between '' "$jemalloc" everything deep
    done
    grep -q jemalloc <(LD_PRELOAD=$jemalloc cat /proc/self/maps) # it does get in
}

# Its own library is preloaded in front of ours.
@test "uftrace records, the program's calls and those of all libraries" {
    local uftrace=(uftrace record --force --no-event -d "$work/recorded")
    everything deep "${uftrace[@]}"
    everything deep "${uftrace[@]}" --nest-libcall
    [ "$(uftrace replay -d "$work/recorded" -f none | grep -c 'dlvsym()')" -gt 0 ]
}

@test "libasan in front" {
    between "$(gcc -print-file-name=libasan.so)" '' everything flat
}

@test "libtsan in front" {
    between "$(gcc -print-file-name=libtsan.so)" '' everything flat
}

@test "hosts built with the address sanitizer" {
    local libasan
    libasan=$(gcc -print-file-name=libasan.so)
    between "$libasan" '' all_watched ./calls-address threads
    between "$libasan" '' all_watched ./storm-address 4 40 ./host-sanitized.so
    # It insists on being first.
    run_under shimmed "$SHIM" ./calls-address
    grep -q 'does not come first' "$BATS_TEST_TMPDIR/shimmed.err"
    all_watched env ASAN_OPTIONS=verify_asan_link_order=0 ./calls-address threads
}

@test "hosts built with the thread sanitizer" {
    between "$(gcc -print-file-name=libtsan.so)" '' all_watched ./calls-thread threads
    all_watched ./calls-thread threads
}

@test "a preload that wraps the dl functions, in front and behind" {
    between ./wraps.so '' everything deep
    between '' ./wraps.so everything deep
}

blind_but_well() {
    as_bare ./looks-up ./libcudnn.so.9 && as_bare ./opens ./host-lazy.so &&
        as_bare ./looks-up ./libcudnn.so.9 && [ "$(field unobserved path "$(the_log "$BATS_TEST_TMPDIR/logs")")" = \
            ./wraps-by-version.so ]
}

@test "a preload in front that passes our dlsym over: said to be unobserved" {
    between ./wraps-by-version.so '' blind_but_well
    between '' ./wraps-by-version.so everything deep
}

@test "a preload behind that looks for itself by where dlopen is: asleep and awake" {
    between '' ./wraps-itself.so as_bare ./opens libcuda.so.1
    between '' ./wraps-itself.so all_watched ./opens ./host-lazy.so libcuda.so.1
}

@test "the shim twice, as two files" {
    local file told=0
    cp "$SHIM" libwhichcudnn-again.so
    between ./libwhichcudnn-again.so '' as_bare ./storm 8 40 ./now-%d.so
    between ./libwhichcudnn-again.so '' as_bare ./looks-up ./libcudnn.so.9
    for file in "$logs"/*; do # each has seen the library when the request for it ends
        is "$(records object "$file" | jq 'select(.role == "facade" and .mapped).request')" 1
    done
    between ./libwhichcudnn-again.so '' as_bare ./calls-lazy threads
    for file in "$BATS_TEST_TMPDIR"/logs/*; do
        validate_log "$file"
        told=$((told + $(calls_told "$file" | grep -c '^cudnnCreate before' || true)))
    done
    [ "$told" -eq 1 ]
    [ "$(find "$BATS_TEST_TMPDIR/logs" -type f | wc -l)" -eq 2 ]
}
