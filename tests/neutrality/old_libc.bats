#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Under another C library: musl, and a glibc from before libdl became a part of libc.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load ../loader/loader
load userland

setup_file() { build_enter; }
setup() { work=$BATS_TEST_TMPDIR logs=$BATS_TEST_TMPDIR/logs; }

@test "musl: the shim is in the process, forwards, and tells nothing" {
    inside musl
    asks_in_vain
    no_log
    alike 0 ./calls-lazy <<<2
    no_log
    alike 0 ./calls-now threads <<<$'48\n2'
    no_log
    arrived 'watched 0 direct 2' ./calls-lazy
    # Were it not in the process, this would do no harm, either.
    take_out dormant
    runs awake "$SHIM" ./asks ./libcudnn.so.9
    is "$(cat "$work/awake.status")" 139
}

@test "glibc 2.31: programs, opened hosts, lookups, threads, failures" {
    inside bullseye
    every_glibc
}

@test "glibc 2.31: weak references to dlopen without libdl are there, and answer NULL until it comes" {
    inside bullseye
    runs bare '' ./probes
    runs shimmed "$SHIM" ./probes
    cat >"$work/expected" <<'END'
dlopen missing, dlsym missing, dlclose missing
cuDNN 0
libdl came
dlopen missing, dlsym missing, dlclose missing
cuDNN 0
END
    ended bare 7
    # What docs/limits.md says of it.
    cat >"$work/expected" <<'END'
dlopen there, dlsym there, dlclose there
cuDNN 0
libdl came
dlopen there, dlsym there, dlclose there
cuDNN 90100
END
    ended shimmed 7
    diff "$work/bare.err" "$work/shimmed.err"
    validate_log "$(the_log "$logs")"
}
