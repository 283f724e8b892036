#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The files that a process maps are the same with the shim and without, although another cuDNN is
# where the loader would look if anybody but the host did the asking. In each test the naive wrapper
# of tests/neutrality takes the shim's place once and must be found out.

bats_require_minimum_version 1.5.0
load helpers

neutrality=$WC_ROOT/tests/neutrality
built=$BUILD/neutrality
nine='cudnnGetVersion cudnnOpsVersionCheck cudnnCnnVersionCheck cudnnAdvVersionCheck'
eight='cudnnGetVersion cudnnOpsTrainVersionCheck cudnnCnnInferVersionCheck'
eight="$eight cudnnAdvInferVersionCheck"

setup_file() {
    local variant
    mkdir -p "$built"
    gcc -O2 -Wall -Wextra -shared -fPIC "$neutrality/naive_dlopen.c" -o "$built/naive.so" -ldl
    gcc -O2 -Wall -Wextra "$neutrality/mapped.c" -o "$built/mapped" -ldl
    for variant in O0 O2 coverage; do "$neutrality/shim-variant" "$variant"; done
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir logs
    elsewhere=$(pwd -P)/elsewhere # as /proc/self/maps has it
}

# What a run prints, less its preload: results of calls and mapped files.
with() { # PRELOAD COMMAND...
    local preload=$1
    shift
    "${place[@]}" env LD_PRELOAD="$preload" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off "$@" \
        >out 2>&1 || echo "status $?" >>out
    grep -vxF "mapped $preload" out
}

# same_files COMMAND...: under every build of the shim as without any; the naive wrapper differs, by
# a path of the other set, which is printed. `place` is what makes the other set be found.
same_files() {
    local variant
    with '' "$@" >bare
    cat bare
    for variant in O0 O2 coverage; do
        rm -f logs/*
        with "$BUILD/variants/$variant/libwhichcudnn.so" "$@" >shimmed
        diff bare shimmed
        validate_log "$(the_log logs)"
    done
    with "$built/naive.so" "$@" >naive
    run diff bare naive
    echo "the naive wrapper: $output"
    [ "$status" -eq 1 ]
    [[ $output == *"> mapped $elsewhere/libcudnn_"* ]]
    run ! grep "mapped $elsewhere/" bare
}

parts_mapped() { grep -c "^mapped $1/libcudnn_" bare; }

in_cache() {
    place=("$neutrality/with-cache" "$elsewhere")
    "${place[@]}" true || skip "no mount namespace: ld.so.cache cannot be another one here"
}

@test "four parts of a real release, another release in ld.so.cache" {
    local own
    own=$(realpath "$(fetch_cudnn nvidia-cudnn-cu13==9.19.0.56 --parts ops,adv --print lib)")
    make_standin 9.20.0 elsewhere
    in_cache
    # shellcheck disable=SC2086  # several names
    same_files "$built/mapped" "$own/libcudnn.so.9" $nine
    [ "$(parts_mapped "$own")" -eq 4 ]
}

@test "four parts of a real release, another release in LD_LIBRARY_PATH, which RPATH beats" {
    fetch_cudnn nvidia-cudnn-cu13==9.19.0.56 --parts ops,adv --into site >/dev/null
    local own
    own=$(pwd -P)/site/nvidia/cudnn/lib
    patchelf --force-rpath --set-rpath "\$ORIGIN" "$own/libcudnn.so.9"
    make_standin 9.20.0 elsewhere
    place=(env LD_LIBRARY_PATH="$elsewhere")
    # shellcheck disable=SC2086
    same_files "$built/mapped" "$own/libcudnn.so.9" $nine
    [ "$(parts_mapped "$own")" -eq 4 ]
}

@test "a real facade with its graph alone" {
    local own
    own=$(realpath "$(fetch_cudnn 9.1.0 --print lib)")
    make_standin 9.20.0 elsewhere
    in_cache
    same_files "$built/mapped" "$own/libcudnn.so.9" cudnnGetVersion cudnnCreate
    [ "$(parts_mapped "$own")" -eq 1 ]
}

@test "stand-ins of 8 and of 9, which ask for their parts by bare name" {
    make_standin 8.9.2 own8
    make_standin 9.10.0 own9
    make_standin 8.9.7 elsewhere
    make_standin 9.20.0 elsewhere
    in_cache
    # shellcheck disable=SC2086
    same_files "$built/mapped" "$(pwd -P)/own8/libcudnn.so.8" $eight
    [ "$(parts_mapped "$(pwd -P)/own8")" -ge 4 ]
    # shellcheck disable=SC2086
    same_files "$built/mapped" "$(pwd -P)/own9/libcudnn.so.9" $nine
    [ "$(parts_mapped "$(pwd -P)/own9")" -eq 4 ]
}
