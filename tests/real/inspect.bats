#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn inspect on a process with a real cuDNN, which was never preloaded.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    pid=
}

teardown() {
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
}

@test "a real cuDNN: copies, versions, installation, rules and bindings" {
    local lib
    lib=$(fetch_cudnn 9.1.0 --print lib)
    gcc -shared -fPIC -o hold.so "$WC_ROOT/tests/fixtures/hosts/hold.c"
    build_host now "$lib" host
    LD_PRELOAD=$PWD/hold.so ./host version >out 2>&1 3>&- &
    pid=$!
    until grep -q '^State:.T' "/proc/$pid/status"; do sleep 0.05; done
    "$WHICHCUDNN" inspect --json "$pid" >now
    jq -r '.stack.objects[] | select(.role != "host") |
        "\(.part) \(.version) \(.installation) \(.installation_version)"' now | diff - <(echo \
        "null 9.1.0 nvidia-cudnn-cu12 9.1.0.70"$'\n'"graph 9.1.0 nvidia-cudnn-cu12 9.1.0.70")
    # shellcheck disable=SC2016  # $ORIGIN is the library's own word
    jq -r '.stack.searches[] | "\(.name) \(.rule) \(.element)"' now | diff - <(echo \
        "libcudnn.so.9 DT_RUNPATH $lib"$'\n''libcudnn_graph.so.9 DT_RUNPATH $ORIGIN')
    [ "$(jq -r '.stack.bindings[0] | "\(.how) \(.target_path)"' now)" = "slot $lib/libcudnn.so.9" ]
    kill -CONT "$pid"
    wait "$pid"
}
