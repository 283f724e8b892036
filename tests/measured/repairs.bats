#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `whichcudnn fix` on real programs: one command each, nothing of the user's is touched by a try, and what
# was tried is what --apply then gives. PyTorch: tour.bats.

bats_require_minimum_version 1.5.0
load ../setup/helper
load ../setup/broken

setup_file() {
    wheelhouse "$BATS_FILE_TMPDIR/wheels" 9.1.0 nvidia-cudnn-cu12==9.8.0.87
    jax_packages "$BATS_FILE_TMPDIR/wheels"
    python3 -m venv "$BATS_FILE_TMPDIR/uv"
    "$BATS_FILE_TMPDIR/uv/bin/pip" install -q --disable-pip-version-check uv
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    wheels=$BATS_FILE_TMPDIR/wheels
    export PIP_NO_INDEX=1 PIP_FIND_LINKS=$wheels PYTHONDONTWRITEBYTECODE=1
    PATH=$BATS_FILE_TMPDIR/uv/bin:$PATH
    jax_program >train.py
}

sum() { # DIRECTORY
    find "$1" -printf '%p %m %u %T@ %l\n' | sort | sha256sum
    find "$1" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum
}

# tried_and_done DIRECTORY OUTPUT COMMAND...: the same by --try, after which all is as it was, and by --apply
tried_and_done() {
    local directory=$1 output_then=$2 before
    shift 2
    before=$(sum "$directory")
    run -0 --separate-stderr "$WHICHCUDNN" fix --try -- "$@"
    echo "$stderr"
    [ "${lines[-1]}" = "$output_then" ]
    [[ ${stderr_lines[-1]} == "whichcudnn: tried: status 0, cuDNN 9.8.0, no finding. To keep it: "* ]]
    [ "$(sum "$directory")" = "$before" ]
    run -0 --separate-stderr "$WHICHCUDNN" fix --try --apply --yes -- "$@"
    run -0 --separate-stderr "$WHICHCUDNN" run --fail-on=warning -- "$@"
    [ "$output" = "$output_then" ]
    [[ $stderr == "whichcudnn: ok: cuDNN 9.8.0 (nvidia-cudnn-cu12) for jax-cuda12-plugin 0.10.2"* ]]
}

@test "the JAX plugin with cuDNN 9.1" {
    jax_environment venv "$wheels" 9.1.0.70
    [ "$(venv/bin/python train.py)" = "built with 90800 got 90100" ]
    tried_and_done venv "built with 90800 got 90800" venv/bin/python train.py
}

@test "a project of uv's" {
    uv_project project "$wheels" 9.1.0.70
    mv train.py project/
    cd project
    tried_and_done "$PWD" "built with 90800 got 90800" .venv/bin/python train.py
    grep -q 'nvidia-cudnn-cu12>=9.8,<10.0' pyproject.toml
    uv sync -q --locked
    [ "$(.venv/bin/python train.py)" = "built with 90800 got 90800" ]
}

@test "TensorFlow behind a wrong LD_LIBRARY_PATH" {
    local venv
    venv=$("$WC_ROOT/tests/setup/frameworks")
    # Its own way to cuDNN, which it takes where there is a GPU.
    cat >train.py <<'END'
import ctypes, os, tensorflow
print(ctypes.CDLL(os.path.dirname(tensorflow.__file__) + "/libtensorflow_framework.so.2").cudnnGetVersion())
END
    LD_LIBRARY_PATH=$(fetch_cudnn 9.1.0 --print lib) run -0 --separate-stderr \
        "$WHICHCUDNN" fix --try -- "$venv/bin/python" train.py
    [ "$output" = $'90100\n92800' ]
    [ "${stderr_lines[-1]}" = \
        "whichcudnn: tried: status 0, cuDNN 9.28.0, no finding. To keep it: unset LD_LIBRARY_PATH" ]
}
