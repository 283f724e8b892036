#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `whichcudnn run` learns of the computer's GPUs, and a libcuda that is none: NVML and libcuda
# are stubs made here.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$PWD
    mkdir lib
}

# make_nvml CODE [GPU CAPABILITY]...: a libnvidia-ml.so.1 that does CODE when it is woken.
make_nvml() {
    local code=$1 names='' majors='' minors='' n=0
    shift
    while [ $# -gt 0 ]; do
        names+="\"$1\", " majors+="${2%.*}, " minors+="${2#*.}, " n=$((n + 1))
        shift 2
    done
    cat >nvml.c <<END
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *const names[] = {${names}0};
static const int majors[] = {${majors}0}, minors[] = {${minors}0};
static void woken(void) {
    char by[200] = "";
    ssize_t n = readlink("/proc/self/exe", by, sizeof by - 1);
    FILE *f = fopen("$PWD/woken", "a");
    fprintf(f, "%.*s\n", (int)n, by);
    fclose(f);
}
int nvmlInit_v2(void) { woken(); puts("noise"); fputs("noise\n", stderr); fflush(NULL); $code; return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = $n; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (char *)0 + i + 1; return 0; }
int nvmlDeviceGetName(void *d, char *to, unsigned cap) {
    strncpy(to, names[(char *)d - (char *)1], cap);
    return 0;
}
int nvmlDeviceGetCudaComputeCapability(void *d, int *major, int *minor) {
    *major = majors[(char *)d - (char *)1];
    *minor = minors[(char *)d - (char *)1];
    return 0;
}
END
    "${CC:-gcc}" -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 nvml.c -o lib/libnvidia-ml.so.1
}

# The findings of the log, without the notes: what else this computer has is none of these tests'.
told() {
    run --separate-stderr "$CMD" report --json logs
    jq -c '[.findings[] | select(.severity != "note") | .id]' <<<"$output"
}

# run_host VERSION WORD...: a host over stand-ins of that release, started by the command.
run_host() {
    make_standin "$1" cudnn
    build_host dlopen cudnn host
    shift
    rm -rf logs
    mkdir logs
    LD_LIBRARY_PATH=$PWD/cudnn:$PWD/lib run -0 --separate-stderr "$CMD" run --log logs -- ./host "$@"
    [[ $output == "version "* ]]
    validate_log "$(the_log logs)"
}

@test "an old GPU and a release without code for it: told at the end, by the command's own question" {
    make_nvml '' 'NVIDIA GeForce GTX 1080 Ti' 6.1
    run_host 9.14.0 version
    [[ $stderr == *"error[gpu-unsupported]: cuDNN 9.14.0 has no code for NVIDIA GeForce GTX 1080 Ti, 6.1"* ]]
    is "$(last_record machine "$(the_log logs)" | jq -c .gpus)" '["NVIDIA GeForce GTX 1080 Ti, 6.1"]'
    is "$(tail -n 1 "$(the_log logs)" | jq -r .kind)" outcome
    [[ $stderr != *noise* ]]
    # The host, and with it the shim, never asked.
    is "$(<woken)" "$(readlink -f "$CMD")"
    run -1 --separate-stderr "$CMD" report --json logs
    is "$(jq -r '.findings[0].id' <<<"$output")" gpu-unsupported
    # What else is known of the computer stays.
    is "$(records machine "$(the_log logs)" | jq -c 'del(.gpus, .seq, .time, .pid, .tid)' | sort -u |
        wc -l)" 1
}

@test "GPUs that fit, several of them; none; no NVML" {
    make_nvml '' 'NVIDIA A100-SXM4-40GB' 8.0 'NVIDIA H100' 9.0
    run_host 9.14.0 version
    is "$(told)" '[]'
    is "$(last_record machine "$(the_log logs)" | jq -c .gpus)" \
        '["NVIDIA A100-SXM4-40GB, 8.0","NVIDIA H100, 9.0"]'
    make_nvml ''
    run_host 9.14.0 version
    is "$(records machine "$(the_log logs)" | jq -c .gpus)" '[]'
    rm lib/libnvidia-ml.so.1
    run_host 9.14.0 version
    is "$(records machine "$(the_log logs)" | jq -c .gpus)" '[]'
    echo 'not a library' >lib/libnvidia-ml.so.1
    run_host 9.14.0 version
    is "$(records machine "$(the_log logs)" | jq -c .gpus)" '[]'
}

@test "an NVML that hangs, crashes or fails is not waited for" {
    local code start
    for code in 'sleep(60)' 'abort()' '_exit(3)' 'return 9'; do
        make_nvml "$code" 'NVIDIA GT 710' 3.5
        rm -f woken
        start=$SECONDS
        run_host 9.14.0 version
        echo "$code: $((SECONDS - start)) s, $stderr"
        # Its 60 seconds of sleep were not waited for; a busy machine may take most of that.
        [ $((SECONDS - start)) -lt 55 ]
        is "$(records machine "$(the_log logs)" | jq -c .gpus)" '[]'
        [ -s woken ]
        is "$(told)" '[]'
    done
    # None of them is left behind.
    run -1 pgrep -f "$PWD/host"
}

@test "a process without cuDNN does not wake NVML" {
    make_nvml '' 'NVIDIA GT 710' 3.5
    LD_LIBRARY_PATH=$PWD/lib run -0 "$CMD" run --log "$PWD" -- /bin/true
    [ ! -e woken ]
}

# ---- libcuda ----

# make_libcuda FILE: a libcuda of that file name, and a libcuda.so.1 that leads to it.
make_libcuda() {
    mkdir -p "$(dirname "$1")"
    echo 'int cuInit(unsigned f) { return f ? 1 : 34; }' |
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcuda.so.1 -x c - -o "$1"
    ln -s "$(basename "$1")" "$(dirname "$1")/libcuda.so.1"
}

# A libcudart.so.N and a libcuda.so.1 are loaded, then cuDNN.
load_them() {
    [ ! -e /proc/driver/nvidia/version ] || skip "a real driver says more here"
    : | "${CC:-gcc}" -shared -fPIC -Wl,-soname,"$1" -x c - -o "lib/$1"
    make_standin 9.14.0 cudnn
    mkdir logs
    WHICHCUDNN_LOG=$PWD/logs LD_LIBRARY_PATH=$PWD/cudnn:$PWD/lib:$2 LD_PRELOAD=$SHIM run -0 python3 -c "
import ctypes
for name in '$1', 'libcuda.so.1', 'libcudnn.so.9':
    ctypes.CDLL(name)"
    run --separate-stderr "$CMD" report --json logs
    jq -r '.findings[] | .id + ": " + .title' <<<"$output"
}

@test "a toolkit's stub in the place of the driver's library" {
    make_libcuda "$PWD/toolkit/lib64/stubs/libcuda.so"
    load_them libcudart.so.13 "$PWD/toolkit/lib64/stubs"
    is "$(jq -r '.findings[0].id' <<<"$output")" driver-missing
    # Without the stub there is still no driver: what to do is said, and not to be pasted.
    is "$(jq -r '.findings[0].fix[0] | "\(.action) \(.checked) \(.command)"' <<<"$output")" "set-variable no null"
}

# Of the process while it ran: at the end it is known that this computer has no driver at all.
too_old() {
    jq -c 'select(.kind != "summary")' "$(the_log logs)" >running.jsonl
    "$CMD" report --json running.jsonl | jq -c '.findings[] | select(.id == "driver-too-old")'
}

@test "libcuda's release, by the file that it leads to, against the CUDA in use" {
    make_libcuda "$PWD/old/libcuda.so.535.104.05"
    load_them libcudart.so.13 "$PWD/old"
    is "$(too_old | jq -r '.facts[] | select(.name == "its release").value')" 535.104.05
    is "$(jq -r '.findings[0] | .id + ": " + .title' <<<"$output")" \
        "driver-missing: no GPU can be reached: the kernel module is not loaded"
    rm -r logs
    make_libcuda "$PWD/new/libcuda.so.580.65.06"
    load_them libcudart.so.13 "$PWD/new"
    is "$(too_old)" ""
}
