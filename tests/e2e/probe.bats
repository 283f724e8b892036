#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn probe: each way in which it can end. The driver is one of the tests' own.

bats_require_minimum_version 1.5.0
load helpers

# In a folder of their own, once: a driver with a GPU, and a cuDNN that computes.
setup_file() {
    export MADE=$BATS_FILE_TMPDIR/made
    mkdir -p "$MADE/cuda" "$MADE/works"
    local build=("${CC:-gcc}" -shared -fPIC -w -isystem "$CUDNN_INCLUDE" -isystem "$CUDA_INCLUDE")
    "${build[@]}" -o "$MADE/cuda/libcuda.so.1" -Wl,-soname,libcuda.so.1 \
        "$WC_ROOT/tests/fixtures/probe/cuda.c"
    "${build[@]}" -o "$MADE/works/libcudnn.so.9" -Wl,-soname,libcudnn.so.9 \
        "$WC_ROOT/tests/fixtures/probe/cudnn.c"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    # What the child has taken from the driver goes with it.
    export WHICHCUDNN_SHIM=$SHIM TMPDIR=$PWD ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
    export LD_LIBRARY_PATH=$MADE/works:$MADE/cuda
    unset LD_PRELOAD PROBE CUDA
}

probe() { "$CMD" probe "$@"; }

@test "the table of calls is that of NVIDIA's headers" {
    cat >check.c <<END
#include <cuda.h>
#include <cudnn.h>
#define CUDNN(name, arguments) cudnnStatus_t(*const check_##name) arguments = name;
#define CUDA(name, arguments) CUresult(*const check_##name) arguments = name;
#include "tools/commands/probe/probe_calls.def"
END
    "${CC:-gcc}" -Werror -fsyntax-only -I "$WC_ROOT" -isystem "$CUDNN_INCLUDE" \
        -isystem "$CUDA_INCLUDE" check.c
}

@test "it works: the version, the GPU, the files" {
    run -0 --separate-stderr probe
    is "$stderr" ""
    is "${lines[0]}" 'ok: cuDNN works here: 9.1.0, a convolution on A\x1b[31mGPU gave the right values'
    [[ $output == *"facade   $MADE/works/libcudnn.so.9"* ]]
    is "$(ls -I 'separate-stderr*')" "" # nothing is left
    run -0 probe --json
    is "$(jq -r '.verdict, .version, .step, .report.verdict != null' <<<"$output" | xargs)" \
        "works 9.1.0 null true"
}

@test "where it stops: each call of cuDNN, by its status" {
    for name in cudnnCreate cudnnCreateTensorDescriptor cudnnSetTensor4dDescriptor \
        cudnnCreateFilterDescriptor cudnnSetFilter4dDescriptor cudnnCreateConvolutionDescriptor \
        cudnnSetConvolution2dDescriptor cudnnGetConvolutionForwardWorkspaceSize \
        cudnnConvolutionForward cudnnDestroy; do
        PROBE=$name:3000 run -1 probe
        is "${lines[0]}" "error: cuDNN does not work here: $name returned CUDNN_STATUS_NOT_SUPPORTED (3000)"
    done
    PROBE=cudnnCreate:1001 run -1 probe --json
    is "$(jq -r '.verdict, .step, .stopped' <<<"$output" | xargs)" \
        "stops cudnnCreate cudnnCreate returned CUDNN_STATUS_NOT_INITIALIZED (1001)"
    validate_report <(jq .report <<<"$output")
}

@test "where it stops: each call of the driver" {
    for name in cuDevicePrimaryCtxRetain cuCtxSetCurrent cuMemAlloc_v2 cuMemcpyHtoD_v2 cuMemcpyDtoH_v2; do
        CUDA=${name%_v2}:2 run -1 probe
        is "${lines[0]}" "error: cuDNN does not work here: $name returned CUresult 2"
    done
}

@test "where it stops: a crash, a hang, wrong values, the end of the process" {
    PROBE=cudnnConvolutionForward:crash run -1 probe
    is "${lines[0]}" "error: cuDNN does not work here: cudnnConvolutionForward: signal 6 (Aborted) ended the process"
    PROBE=cudnnCreate:hang run -1 probe --timeout 2
    is "${lines[0]}" "error: cuDNN does not work here: cudnnCreate did not come back in time"
    PROBE=cudnnConvolutionForward:wrong run -1 probe
    is "${lines[0]}" "error: cuDNN does not work here: the result the convolution gave wrong values"
    PROBE=cudnnGetVersion:crash run -1 probe
    [[ ${lines[0]} == *"cudnnGetVersion: signal 6"* ]]
    mkdir end
    echo '#include <stdlib.h>
__attribute__((destructor)) static void end(void) { abort(); }' >end.c
    "${CC:-gcc}" -shared -fPIC -w -isystem "$CUDNN_INCLUDE" -isystem "$CUDA_INCLUDE" -o end/libcudnn.so.9 \
        end.c "$WC_ROOT/tests/fixtures/probe/cudnn.c"
    LD_LIBRARY_PATH=end:$MADE/cuda run -1 probe
    [[ ${lines[0]} == *"the end of the process: signal 6"* ]]
}

@test "where it stops: not found, not whole, parts that differ or are missing" {
    mkdir empty
    if ! ldconfig -p | grep -q libcudnn; then
        LD_LIBRARY_PATH=$MADE/cuda run -1 probe
        [[ ${lines[0]} == *"does not work here: dlopen libcudnn.so.9: cannot open shared object"* ]]
        [[ $output == *"hint     frameworks find theirs"*"probe -- python"* ]]
    fi
    echo text >empty/libcudnn.so.9
    LD_LIBRARY_PATH=empty:$MADE/cuda run -1 probe
    [[ ${lines[0]} == *"dlopen"* || $output == *"facade"* ]] # the loader may go on to another one
    # One of 8: a computer with cuDNN 9 of its own has no such part to offer.
    make_standin --without ops_infer 8.9.7 partless
    ln -s libcudnn.so.8 partless/libcudnn.so.9
    LD_LIBRARY_PATH=partless:$MADE/cuda run -1 probe
    [[ ${lines[0]} == *": signal 6 (Aborted)"* ]]
    [[ $output == *"error["*ops_infer*"fix "*"more        whichcudnn explain part-missing"* ]]
    make_standin --without-function cudnnConvolutionForward 8.9.7 lacking
    ln -s libcudnn.so.8 lacking/libcudnn.so.9
    LD_LIBRARY_PATH=lacking:$MADE/cuda run -1 probe
    [[ ${lines[0]} == *"does not work here: dlsym it has no cudnnConvolutionForward" ]]
    make_standin --create-status 1 7.6.5 seven
    ln -s libcudnn.so.7 seven/libcudnn.so.9
    LD_LIBRARY_PATH=seven:$MADE/cuda run -1 probe
    [[ ${lines[0]} == *"cudnnCreate returned CUDNN_STATUS_NOT_INITIALIZED (1)"* ]]
}

@test "no GPU to try on: no library, no driver, no device" {
    LD_LIBRARY_PATH=$MADE/works run -3 probe
    [[ ${lines[0]} == "nothing tried: no GPU to try on: libcuda.so.1, "*"; cuDNN 9.1.0 is loaded"* ]]
    CUDA=cuInit:100 run -3 probe
    [[ ${lines[0]} == *"no GPU to try on: cuInit returned 100;"* ]]
    CUDA=none:1 run -3 probe --json
    is "$(jq -r '.verdict' <<<"$output")" no-gpu
    CUDA=cuInit:100 PROBE=cudnnCreate:1001 run -3 probe
    [[ ${lines[0]} == *"is loaded, cudnnCreate returned CUDNN_STATUS_NOT_INITIALIZED (1001)" ]]
    # What is wrong with the files is still said.
    make_standin --without ops_infer 8.9.7 partless
    ln -s libcudnn.so.8 partless/libcudnn.so.9
    LD_LIBRARY_PATH=partless run -1 probe
    [[ $output == *"error["*ops_infer* && $output != *driver-missing* ]]
}

@test "no GPU to try on: a real cuDNN 9" {
    [ -e /proc/driver/nvidia/version ] && skip "there is a driver"
    real=$(fetch_cudnn 9.1.0 --print lib)
    LD_LIBRARY_PATH=$real run -3 probe
    [[ ${lines[0]} == "nothing tried: no GPU to try on: libcuda.so.1, "*"cuDNN 9.1.0 is loaded"* ]]
    [[ $output == *"facade   $real/libcudnn.so.9 9.1.0"*"part     $real/libcudnn_graph.so.9 9.1.0"* ]]
    [[ $output != *"error["* ]]
}

@test "--like: the environment and the files of a log" {
    make_standin 9.1.0 cudnn
    build_host dlopen cudnn host
    mkdir other
    LD_LIBRARY_PATH=$PWD/cudnn:$MADE/cuda CUDA_HOME=/there "$CMD" run --quiet --log logs/ -- ./host version
    # Here another one would be found.
    run -1 probe --like logs
    [[ $output == *"facade   $PWD/cudnn/libcudnn.so.9 9.1.0"*"like     logs/whichcudnn-"*": the same files"* ]]
    log=$(the_log logs)
    cd /
    run -1 --separate-stderr probe --like "$OLDPWD/$log"
    [[ $output == *": the same files"* ]]
    cd "$OLDPWD"
    run -1 probe --like logs --json
    is "$(jq -c '[.like, .differences]' <<<"$output")" "[\"$log\",[]]"
    is "$(jq -r '.report.stack.process.environment[]' <<<"$output" | grep CUDA_HOME)" CUDA_HOME=/there
}

@test "--like: what is no longer as it was" {
    make_standin 9.1.0 cudnn
    build_host dlopen cudnn host
    LD_LIBRARY_PATH=$PWD/cudnn:$MADE/cuda "$CMD" run --quiet --log logs/ -- ./host version
    touch -d 2001-01-01 cudnn/libcudnn_graph.so.9
    run -1 probe --like logs
    [[ $output == *"not the same files"*"libcudnn_graph.so.9 is another file than it was"* ]]
    mkdir moved
    mv cudnn/libcudnn_graph.so.9 moved/
    sed -i 's|"LD_LIBRARY_PATH=|&'"$PWD"'/moved:|' "$(the_log logs)"
    run -1 probe --like logs
    [[ $output == *"libcudnn_graph.so.9: No such file"* ]]
    rm cudnn/libcudnn.so.9
    run -1 probe --like logs
    [[ $output == *"dlopen $PWD/cudnn/libcudnn.so.9: cannot open"* ]]
}

# ---- code of other users ----

# spy DIR: a libcudnn.so.9 there that leaves its process's status and environment in $proof when it is loaded.
spy() {
    proof=$public/proof/loaded
    mkdir -p "$public/proof" "$1" && chmod 1777 "$public/proof"
    cat >spy.c <<END
#include <stdlib.h>
__attribute__((constructor)) static void leave(void) {
    system("umask 022; cat /proc/\$PPID/status >$proof; tr '\\\\0' '\\\\n' </proc/\$PPID/environ >$proof.environ");
}
END
    "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.9 -o "$1/libcudnn.so.9" spy.c
}
# spied LOG LIBRARY VARIABLE...: the log of a process that loaded that
spied() {
    printf '{"kind":"process","node":"n","directory":"%s","environment":%s}\n{"kind":"object","object":1,"role":"facade","mapped":true,"path":"%s"}\n' \
        "$public/lib" "$(printf '%s\n' "${@:3}" | jq -Rnc '[inputs | select(. != "")]')" "$2" | make_log "$1"
}
# is_refused PATH: of log.jsonl; nothing was loaded
is_refused() {
    rm -f "$proof"*
    run -2 --separate-stderr probe --like "$public/log.jsonl"
    [[ $stderr == "whichcudnn: not run: "*"$1"* ]] || { echo "$stderr" && return 1; }
    [ ! -e "$proof" ]
}
is_loaded() {
    rm -f "$proof"*
    run probe "$@" --like "$public/log.jsonl"
    [ -s "$proof" ] || { echo "$output" && return 1; }
}
need_root() {
    [ "$(id -u)" -eq 0 ] || skip "needs root to have files of another user"
    public=$(mktemp -d /tmp/owners-XXXXXX) && chmod 755 "$public"
    unset LD_LIBRARY_PATH TMPDIR
}
teardown() { [ -z "${public:-}" ] || rm -rf "$public"; }

@test "--like: another user's log and library are refused; --as-owner has them with that user's rights alone" {
    need_root
    spy "$public/lib"
    spied "$public/log.jsonl" "$public/lib/libcudnn.so.9" "LD_LIBRARY_PATH=$public/lib"
    is_loaded # the twin: all of it is root's
    is "$(awk '/^Uid/ { print $2 }' "$proof")" 0
    chown -R 65534:65534 "$public"
    is_refused "belongs to user nobody (uid 65534), not to you or root; --as-owner runs it"
    # A log that root copied does not make what it names root's.
    chown 0:0 "$public" "$public/log.jsonl"
    is_refused "$public/lib belongs to user nobody"
    SECRET=of-root XDG_RUNTIME_DIR=/run/user/0 is_loaded --as-owner 4<"$public/log.jsonl"
    is "$(awk '/^[UG]id/ { print $2, $3, $4, $5 }' "$proof" | sort -u)" "65534 65534 65534 65534"
    is "$(awk '/^Groups/ { print $2 }' "$proof")" ""
    is "$(awk '/^Cap/ { print $2 }' "$proof" | sort -u)" 0000000000000000
    is "$(awk '/^NoNewPrivs/ { print $2 }' "$proof")" 1
    grep -q '^HOME=/nonexistent$' "$proof.environ"
    run ! grep -E 'SECRET|XDG_RUNTIME_DIR' "$proof.environ"
    # Under sudo it is the same: what belongs to the user who called it is not root's.
    SUDO_UID=65534 SUDO_GID=65534 is_refused "$public/lib belongs to user nobody"
}

@test "--like: each place of which a log has something loaded" {
    need_root
    spy "$public/lib" && mkdir "$public/more" "$public/theirs" "$public/open"
    chown 65534 "$public/theirs" && chmod 1777 "$public/open"
    ln -s ../theirs "$public/more/link"
    local library=$public/lib/libcudnn.so.9
    while read -r variable of; do
        echo "$variable"
        spied "$public/log.jsonl" "$library" "$variable"
        is_refused "$of"
    done <<END
LD_LIBRARY_PATH=$public/theirs $public/theirs belongs
LD_LIBRARY_PATH=$public/lib:$public/more/link $public/more/../theirs belongs
LD_LIBRARY_PATH=/usr/include;../theirs $public/lib/../theirs belongs
LD_LIBRARY_PATH=$public/open all users may write to $public/open
LD_LIBRARY_PATH=$public/open/later all users may write to $public/open
LD_LIBRARY_PATH=\$ORIGIN/../theirs depends on the program
CUDA_HOME=$public/theirs/cuda $public/theirs belongs
CUDA_MPS_PIPE_DIRECTORY=$public/open/mps all users may write to $public/open
END
    # A library beside others, an element that is the working directory, one in a directory that all may change.
    spied "$public/log.jsonl" "$library" "LD_LIBRARY_PATH=:/usr/include"
    is_loaded
    chmod 777 "$public"
    is_refused "all users may write to $public"
    chmod 755 "$public"
    spied "$public/log.jsonl" "$library"
    touch "$public/lib/libcudnn_graph.so.9" && chown 65534 "$public/lib/libcudnn_graph.so.9"
    is_refused "$public/lib/libcudnn_graph.so.9 belongs"
    rm "$public/lib/libcudnn_graph.so.9" && is_loaded
    chmod g+w "$public/lib" && chgrp 65534 "$public/lib"
    is_refused "other users may write to $public/lib"
    chgrp 0 "$public/lib" && is_loaded
    # What the log has cuDNN write to is not written to.
    spied "$public/log.jsonl" "$library" "CUDNN_LOGDEST_DBG=$public/written"
    is_loaded
    run ! grep CUDNN_LOGDEST_DBG "$proof.environ"
    # From standard input a log is whose file that is.
    chown 65534 "$public/log.jsonl"
    rm -f "$proof" && run -2 --separate-stderr probe --like - <"$public/log.jsonl"
    [[ $stderr == *"$public/log.jsonl belongs to user nobody"* && ! -e $proof ]]
    rm -f "$proof" && run probe --like - < <(cat "$public/log.jsonl")
    [ -s "$proof" ]
}

@test "--as-owner gives root's terminal up, and stays in its foreground" {
    need_root
    spy "$public/lib"
    spied "$public/log.jsonl" "$public/lib/libcudnn.so.9"
    chown -R 65534:65534 "$public"
    script -qec "'$CMD' probe --as-owner --like '$public/log.jsonl'" /dev/null </dev/null >/dev/null || true
    [ -s "$proof" ]
    chown -R 0:0 "$public"
    cat >"$public/lib/tty.c" <<END
#include <fcntl.h>
#include <stdio.h>
__attribute__((constructor)) static void leave(void) {
    FILE *to = fopen("$proof.tty", "w");
    fprintf(to, "%d\n", open("/dev/tty", O_RDWR) >= 0);
    fclose(to);
}
END
    "${CC:-gcc}" -shared -fPIC -o "$public/lib/libcudnn.so.9" "$public/lib/tty.c"
    script -qec "'$CMD' probe --like '$public/log.jsonl'" /dev/null </dev/null >/dev/null || true
    is "$(cat "$proof.tty")" 1 # root's own has it
    rm "$proof.tty" && chown -R 65534:65534 "$public"
    script -qec "'$CMD' probe --as-owner --like '$public/log.jsonl'" /dev/null </dev/null >/dev/null || true
    is "$(cat "$proof.tty")" 0
}

@test "-- COMMAND: the cuDNN that it loads" {
    make_standin 9.1.0 cudnn
    build_host dlopen cudnn host
    run -1 --separate-stderr probe -- env LD_LIBRARY_PATH="$PWD/cudnn:$MADE/cuda" ./host version
    [[ $output == *"facade   $PWD/cudnn/libcudnn.so.9 9.1.0"*"the same files"* ]]
    [[ $output != *"version 90100"* ]] # that is the host's own word
    run -0 probe -- python3 -c "import ctypes; ctypes.CDLL('$MADE/works/libcudnn.so.9')"
    run -3 probe -- true
    [[ $output == *"the command: no cuDNN was loaded there"* ]]
    run -3 probe -- sh -c 'echo why >&2; exit 4'
    [[ $output == *"said     why"* ]]
    is "$(ls -d whichcudnn-* 2>/dev/null)" ""
}

@test "usage" {
    run -0 --separate-stderr probe --help
    [[ $output == "Usage: whichcudnn probe"* && -z $stderr ]]
    run -2 probe --no-such
    run -2 probe --timeout soon
    run -2 probe --timeout 0
    run -2 probe --like /no/such/log
    [[ $output == *"/no/such/log: No such file"* ]]
    run -2 probe --like x -- true
    [[ $output == *"not both"* ]]
    : >empty.jsonl
    run -2 probe --like empty.jsonl
    make_child
    sed 's/RUN_PID/1/; /facade/d; /binding/d; /call/d; /demand/d' sick | make_log nothing.jsonl
    run -3 probe --like nothing.jsonl
    WHICHCUDNN_SHIM=/no/such.so run -2 probe
}
