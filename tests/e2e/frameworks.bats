#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Frameworks in a process without cuDNN: stand-ins of their main libraries, found by name.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$PWD
    mkdir logs
    site=$PWD/site-packages
}

# library FILE [CODE]: an empty library, or one with that in it.
library() {
    mkdir -p "$(dirname "$1")"
    echo "${2-}" | "${CC:-gcc}" -shared -fPIC -x c - -o "$1"
}

# wheel NAME VERSION FILE...: these files are of that distribution.
wheel() {
    local info="$site/$1-$2.dist-info"
    mkdir -p "$info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" >"$info/METADATA"
    shift 2
    printf '%s,,\n' "$@" >"$info/RECORD"
}

# The findings of the log, without the notes: what else this computer has is none of these tests'.
told() {
    run --separate-stderr "$CMD" report --json logs
    jq -c '[.findings[] | select(.severity != "note") | .id]' <<<"$output"
}

# loads PATH: what a program says that opens it, under `whichcudnn run`.
loads() {
    run -0 --separate-stderr "$CMD" run --log logs -- python3 -c "
import ctypes
ctypes.CDLL('$1')"
}

@test "a build without CUDA: told where the command started it" {
    library "$site/torch/lib/libtorch_cpu.so"
    wheel torch 2.5.1+cpu torch/lib/libtorch_cpu.so
    loads "$site/torch/lib/libtorch_cpu.so"
    [[ $stderr == *"torch 2.5.1+cpu is a build without CUDA"* ]]
    validate_log "$(the_log logs)"
    is "$(last_record object "$(the_log logs)" | jq -c '[.role, .framework, .gpu_library]')" \
        '[null,"torch",null]'
    is "$(told)" '["cpu-only-build"]'
}

@test "a build for CUDA of which nothing was asked" {
    library "$site/torch/lib/libtorch_cpu.so"
    library "$site/torch/lib/libtorch_cuda.so"
    wheel torch 2.5.1 torch/lib/libtorch_cpu.so torch/lib/libtorch_cuda.so
    loads "$site/torch/lib/libtorch_cpu.so"
    is "$(last_record object "$(the_log logs)" | jq -r .gpu_library)" \
        "$site/torch/lib/libtorch_cuda.so"
    is "$(told)" '[]'
}

@test "what stopped a framework that has cuDNN's stubs in it" {
    library "$site/tensorflow/libtensorflow_framework.so.2" '
#include <dlfcn.h>
int cudnnCreate(void **h) { return h ? 4 : 1; }
unsigned long cudnnGetVersion(void) { return 0; }
__attribute__((constructor)) static void begin(void) {
    if (!dlopen("libcublas.so.77", RTLD_NOW)) dlerror();
}'
    wheel tensorflow 2.21.0 tensorflow/libtensorflow_framework.so.2
    loads "$site/tensorflow/libtensorflow_framework.so.2"
    [[ $stderr == *"tensorflow 2.21.0 has loaded no cuDNN: libcublas.so.77"* ]]
    is "$(last_record object "$(the_log logs)" | jq -r .gpu_library)" \
        "$site/tensorflow/libtensorflow_framework.so.2"
}

@test "a framework that asks for cuDNN itself is a host" {
    make_standin 9.14.0 "$PWD/cudnn"
    library "$site/torch/lib/libtorch_cpu.so" '
#include <dlfcn.h>
__attribute__((constructor)) static void begin(void) {
    void *h = dlopen("libcudnn.so.9", RTLD_NOW);
    if (h && dlsym(h, "cudnnGetVersion")) ((unsigned long (*)(void))dlsym(h, "cudnnGetVersion"))();
}'
    LD_LIBRARY_PATH=$PWD/cudnn loads "$site/torch/lib/libtorch_cpu.so"
    is "$(records object "$(the_log logs)" | jq -r 'select(.framework == "torch") | .role' | tail -n 1)" host
    is "$(told)" '[]'
}

# tensorflow#13973: both packages have their files in one folder.
@test "the build without CUDA over the one with CUDA: no variable repairs an operation of that" {
    make_standin 6.0.21 "$PWD/cudnn"
    library "$site/tensorflow/libtensorflow_framework.so" 'int of_tensorflow(void) { return 0; }'
    library "$site/tensorflow/ops/_op.so" '
int cudnnConvolutionBiasActivationForward(void);
int of_op(void) { return cudnnConvolutionBiasActivationForward(); }'
    wheel tensorflow_gpu 1.4.0 tensorflow/libtensorflow_framework.so tensorflow/ops/_op.so
    wheel tensorflow 1.4.0 tensorflow/libtensorflow_framework.so
    LD_LIBRARY_PATH=$PWD/cudnn run -1 --separate-stderr "$CMD" run --log logs -- python3 -c "
import ctypes, os
ctypes.CDLL('$site/tensorflow/libtensorflow_framework.so')
ctypes.CDLL('$site/tensorflow/ops/_op.so', os.RTLD_NOW)"
    local screen=$stderr
    run -1 --separate-stderr "$CMD" report --json logs
    is "$(jq -c '[.findings[] | select(.severity == "error") | .id]' <<<"$output")" '["cpu-only-build","missing-symbols"]'
    is "$(jq -c '[.findings[] | select(.severity == "error") | .fix[] | .checked] | unique' <<<"$output")" '["no"]'
    [[ $screen == *" tensorflow-gpu==1.4.0"* ]]
}

@test "without the command a framework alone leaves no log" {
    library "$site/torch/lib/libtorch_cpu.so" 'int there(void) { return 0; }'
    echo 'int there(void); int main(void) { return there(); }' >program.c
    "${CC:-gcc}" program.c -o program -L"$site/torch/lib" -ltorch_cpu -Wl,-rpath,"$site/torch/lib"
    WHICHCUDNN_LOG=$PWD/logs LD_PRELOAD=$SHIM run -0 ./program
    is "$(ls logs)" ''
    run -0 "$CMD" run --quiet --log logs -- ./program
    is "$(last_record object "$(the_log logs)" | jq -r .framework)" torch
}

@test "a python without a framework stays silent" {
    run -0 --separate-stderr "$CMD" run --log logs -- python3 -c 'import ctypes, ssl, json'
    is "$stderr" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    is "$(ls logs)" ''
}
