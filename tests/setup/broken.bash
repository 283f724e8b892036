# SPDX-License-Identifier: Apache-2.0
# Real programs in environments that are broken in ways that people meet, for the tour and for
# tests/measured/repairs.bats: `load ../setup/broken`, or source it, behind helper.bash.
# shellcheck shell=bash

# wheelhouse DIR RELEASE...: those releases of cuDNN as wheels, their facade and graph alone: what finds out
# which cuDNN it is needs no more, and the rest is 600 MB each.
wheelhouse() {
    local into=$1 release tree info
    shift
    mkdir -p "$into"
    for release; do
        tree=$(mktemp -d)
        fetch_cudnn "$release" --into "$tree" --prune-record >/dev/null
        # The cache may have more parts, for other tests.
        find "$tree" -name 'libcudnn_*' ! -name 'libcudnn_graph.*' -delete
        info=$(basename "$tree"/*.dist-info)
        sed -i '/^Requires-Dist/d' "$tree/$info/METADATA" # cuBLAS, which nobody here calls
        (cd "$tree" && find . -type f -printf '%P,,\n' >"$info/RECORD" &&
            "$WC_PYTHON" -m zipfile -c "$into/${info%.dist-info}-py3-none-any.whl" ./*)
        rm -rf "$tree"
    done
}

# jax_packages DIR: the real JAX plugin, which wants a cuDNN >=9.8,<10, as wheels (180 MB).
jax_packages() {
    "$WC_PYTHON" -m pip download -q --disable-pip-version-check --no-deps -d "$1" jax-cuda12-plugin==0.10.2 \
        jax-cuda12-pjrt==0.10.2 nvidia-cuda-runtime-cu12==12.9.79
}

# jax_environment VENV WHEELS [RELEASE]: a virtual environment with it and that cuDNN.
jax_environment() {
    python3 -m venv "$1"
    "$1/bin/pip" install -q --disable-pip-version-check --no-index --no-deps --find-links "$2" \
        jax-cuda12-plugin nvidia-cuda-runtime-cu12 ${3:+"nvidia-cudnn-cu12==$3"}
}

# uv_project DIR WHEELS RELEASE: a project of uv's with it and that cuDNN, and nothing but those wheels to choose from.
uv_project() {
    mkdir -p "$1"
    (cd "$1" && uv init -q --bare --name train --python "$(command -v python3)" &&
        printf '\n[tool.uv]\nno-index = true\nfind-links = ["%s"]\n' "$2" >>pyproject.toml &&
        uv add -q jax-cuda12-plugin nvidia-cuda-runtime-cu12 "nvidia-cudnn-cu12==$3")
}

jax_program() {
    cat <<'END'
from jax_cuda12_plugin import _versions as v
print("built with", v.cudnn_build_version(), "got", v.cudnn_get_version())
END
}
