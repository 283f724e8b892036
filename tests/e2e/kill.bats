#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# SIGKILL at any system call of a run: what is in the log by then is whole lines, and the last request
# or call in it is the one that was in flight.

bats_require_minimum_version 1.5.0
load helpers

neutrality=$WC_ROOT/tests/neutrality
built=$BUILD/neutrality

setup_file() {
    mkdir -p "$built"
    gcc -O2 -Wall -Wextra "$neutrality/kill_each.c" -o "$built/kill_each"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir runs
    export PYTHONHASHSEED=0
}

# kill_at_each STEP COMMAND... < STEPS
kill_at_each() {
    local step=$1
    shift
    "$built/kill_each" "$step" "$PWD/runs" "LD_PRELOAD=$SHIM" WHICHCUDNN_STDERR=off "$@"
    "$PY" "$neutrality/check_kills.py" runs
}

@test "the JAX line, killed at each of its system calls" {
    local site
    site=$("$neutrality/jax-site" 9.1.0.70)
    kill_at_each 40 PYTHONPATH="$site" "$PY" -c '
from jax_cuda12_plugin import _versions as v
print("built with", v.cudnn_build_version(), "runs with", v.cudnn_get_version())' <<'END'
request _versions.so             opened
request libcudnn.so.9            opened
before cudnnGetVersion
request libcudnn_graph.so.9.1.0  opened
request libcudnn_graph.so.9.1    opened
request libcudnn_graph.so.9      opened
after cudnnGetVersion            written runs with 90100
END
}

@test "a C host that opens a real cuDNN and calls cudnnCreate, killed at each of its system calls" {
    [ ! -e /proc/driver/nvidia/version ] || skip "with a driver cudnnCreate starts threads"
    build_host dlopen "$(fetch_cudnn 9.1.0.70 --print lib)" host
    kill_at_each 20 ./host version create <<'END'
request libcudnn.so.9            opened
before cudnnGetVersion
request libcudnn_graph.so.9.1.0  opened
request libcudnn_graph.so.9.1    opened
request libcudnn_graph.so.9      opened
after cudnnGetVersion            written version 90100
before cudnnCreate
request libcudnn_graph.so.9.1.0  opened
request libcudnn_graph.so.9.1    opened
request libcudnn_graph.so.9
request libcuda.so.1             opened
after cudnnCreate                written create 1001
END
}

@test "a linked host, killed at each of its system calls" {
    make_standin 8.9.2 set
    build_host lazy set host
    kill_at_each 20 ./host version create <<'END'
before cudnnGetVersion
request libcudnn_ops_infer.so.8  opened
after cudnnGetVersion            written version 8902
before cudnnCreate
request libcudnn_ops_infer.so.8
after cudnnCreate                written create 1
END
}
