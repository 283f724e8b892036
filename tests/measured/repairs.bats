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
    find "$1" -printf '%p %m %u %s %T@ %l\n' | sort | sha256sum
    find "$1" -type f -size -9M -print0 | sort -z | xargs -0 sha256sum | sha256sum
}

# A toolkit of this computer's would be taken.
# shellcheck disable=SC2016
alone=(unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)

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
    [[ $stderr == "whichcudnn: cuDNN 9.8.0 from "*" (nvidia-cudnn-cu12) for jax-cuda12-plugin 0.10.2"*"whichcudnn: ok"* ]]
}

# tried_and_set DIRECTORY OUTPUT SAYS COMMAND...: by --try, after which all is as it was, and by what that
# says for one's shell, which --apply says, too
tried_and_set() {
    local directory=$1 output_then=$2 says=$3 before set
    shift 3
    before=$(sum "$directory")
    run -0 --separate-stderr "${alone[@]}" "$WHICHCUDNN" fix --try -- "$@"
    echo "$stderr"
    [ "${lines[-1]}" = "$output_then" ]
    [[ ${stderr_lines[-1]} == "whichcudnn: tried: status 0, $says. To keep it: "* ]]
    set=${stderr_lines[-1]#*To keep it: }
    run -1 --separate-stderr "${alone[@]}" "$WHICHCUDNN" fix --apply --yes -- "$@"
    [[ $stderr == *"to be typed in your shell, whose variables are its own: $set"* ]]
    [ "$(sum "$directory")" = "$before" ]
    eval "$set"
    run -0 --separate-stderr "${alone[@]}" "$WHICHCUDNN" run --fail-on=warning -- "$@"
    echo "$stderr"
    [ "${lines[-1]}" = "$output_then" ]
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
    venv=$(env -u PIP_NO_INDEX "$WC_ROOT/tests/setup/frameworks")
    # Its own way to cuDNN, which it takes where there is a GPU.
    cat >train.py <<'END'
import ctypes, os, tensorflow
print(ctypes.CDLL(os.path.dirname(tensorflow.__file__) + "/libtensorflow_framework.so.2").cudnnGetVersion())
END
    LD_LIBRARY_PATH=$(fetch_cudnn 9.1.0 --print lib) run -0 --separate-stderr \
        "$WHICHCUDNN" fix --try -- "$venv/bin/python" train.py
    [ "$output" = $'90100\n92800' ]
    echo "$stderr"
    [ "${stderr_lines[-1]}" = \
        "whichcudnn: tried: status 0, cuDNN 9.28.0, no finding. To keep it: unset LD_LIBRARY_PATH" ]
}

@test "CTranslate2, which has cuDNN's facade grafted in and no part" {
    unshare -Urm true || skip "no namespaces of users here"
    python3 -m venv venv
    PIP_NO_INDEX='' venv/bin/pip install -q ctranslate2==4.6.0 setuptools
    venv/bin/pip install -q --no-deps nvidia-cudnn-cu12==9.1.0.70
    cat >version.py <<'END'
import ctypes, glob, os, ctranslate2
[facade] = glob.glob(os.path.dirname(ctranslate2.__file__) + ".libs/libcudnn-*")
print("cuDNN", ctypes.CDLL(facade).cudnnGetVersion())
END
    run -134 "${alone[@]}" venv/bin/python version.py
    [[ $output == *"Unable to load any of {libcudnn_graph.so.9.1.0"* ]]
    tried_and_set venv "cuDNN 90100" "cuDNN 9.1.0, no finding" venv/bin/python version.py
    [ "$LD_LIBRARY_PATH" = "$(echo "$PWD"/venv/lib/python3*/site-packages/nvidia/cudnn/lib)" ]
}

@test "ONNX Runtime for GPUs, with cudart and the rest of CUDA in wheels that nothing leads to" {
    unshare -Urm true || skip "no namespaces of users here"
    local venv
    venv=$(env -u PIP_NO_INDEX "$WC_ROOT/tests/setup/frameworks")
    cp -al "$venv" venv 2>/dev/null || cp -a "$venv" venv
    PIP_NO_INDEX='' venv/bin/python -m pip install -q --no-deps onnxruntime-gpu==1.23.2 nvidia-curand-cu12
    # A driver without a GPU: what it says is the same before and after.
    mkdir driver
    gcc -shared -o driver/libcuda.so.1 -Wl,-soname,libcuda.so.1 -x c /dev/null
    export LD_LIBRARY_PATH=$PWD/driver
    run -0 "${alone[@]}" venv/bin/python "$WC_ROOT/tests/real/onnx_session.py"
    [[ $output == *"libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open"* ]]
    tried_and_set venv CPUExecutionProvider "cuDNN 9.28.0, no finding" \
        venv/bin/python "$WC_ROOT/tests/real/onnx_session.py"
    # Loaded, and then no GPU found.
    [[ $output$stderr == *"CUDA failure 35"* && $output$stderr != *"cannot open shared object"* ]]
}

@test "a conda prefix, behind a cuDNN that a module has put in front of it" {
    unshare -Urm true || skip "no namespaces of users here"
    local release
    python3 -m venv prefix
    prefix/bin/pip install -q --no-deps jax-cuda12-plugin nvidia-cuda-runtime-cu12
    # As conda-forge lays it out and lists it.
    mkdir prefix/conda-meta
    release=$(fetch_cudnn nvidia-cudnn-cu12==9.8.0.87 --print lib)
    for part in "" _graph; do
        cp "$release/libcudnn$part.so.9" prefix/lib/libcudnn$part.so.9.8.0
        ln -s libcudnn$part.so.9.8.0 prefix/lib/libcudnn$part.so.9
    done
    jq -n '{name: "libcudnn", version: "9.8.0.87", build: "h9cf4b31_0", depends: ["cuda-version >=12,<13.0a0"],
        files: ["" , "_graph" | "lib/libcudnn\(.).so.9", "lib/libcudnn\(.).so.9.8.0"]}' \
        >prefix/conda-meta/libcudnn-9.8.0.87-h9cf4b31_0.json
    export CONDA_PREFIX=$PWD/prefix
    LD_LIBRARY_PATH=$(fetch_cudnn 9.1.0 --print lib):$PWD/prefix/lib
    export LD_LIBRARY_PATH
    [ "$(prefix/bin/python train.py)" = "built with 90800 got 90100" ]
    tried_and_set prefix "built with 90800 got 90800" "cuDNN 9.8.0, no finding" prefix/bin/python train.py
    [ "$LD_LIBRARY_PATH" = "$PWD/prefix/lib" ]
}

# ---- broken environments that people met, repaired by typing what is printed ----

# environment DIR PACKAGE...: by pip from the index; uv_environment: by uv. Nothing that they require beside.
environment() {
    python3 -m venv "$1"
    PIP_NO_INDEX='' "$1/bin/pip" install -q --disable-pip-version-check --no-deps "${@:2}"
    site=$(echo "$PWD/$1"/lib/python3*/site-packages)
}
uv_environment() {
    export UV_LINK_MODE=copy UV_NO_CACHE=1
    uv venv -q --python "$(command -v python3)" "$1"
    uv pip install -q --python "$1/bin/python" --no-deps "${@:2}"
    site=$(echo "$PWD/$1"/lib/python3*/site-packages)
}

# run_finds ID COMMAND...: it fails with that error first, whose repair was replayed and is the command `typed`.
run_finds() {
    local id=$1
    rm -rf log
    shift
    run --separate-stderr "${alone[@]}" "$WHICHCUDNN" run --log log/ -- "$@"
    echo "$stderr"
    [ "$status" -ne 0 ]
    [[ $(grep -m 1 '^whichcudnn: [a-z]*\[' <<<"$stderr") == "whichcudnn: error[$id]: "* ]]
    "${alone[@]}" "$WHICHCUDNN" report --json log >report.json || true
    typed=$(jq -er '.findings[0].fix[0] | select(.checked == "replayed") | .command' report.json)
    echo "$typed"
}

# typed_repairs OUTPUT COMMAND...: as a person would, and without what the package requires beside.
typed_repairs() {
    local output_then=$1
    shift
    [[ $typed == *--no-deps* ]] || typed=${typed//pip install /pip install --no-deps }
    unset PIP_NO_INDEX
    eval "$typed"
    run -0 --separate-stderr "${alone[@]}" "$WHICHCUDNN" run -- "$@"
    echo "$output$stderr"
    [ "${lines[-1]}" = "$output_then" ]
    [[ $stderr != *"error["* && $stderr != *unexplained* ]]
}

# pytorch/pytorch#187824, #188892: its release has no engines_tensor_ir, the system's newer one is for another CUDA.
@test "a cuDNN whose graph part gets a part of the system's: the nearest release that has it, and the pin" {
    unshare -Urm true || skip "no namespaces of users here"
    local system
    environment venv nvidia-cudnn-cu13==9.20.0.48 nvidia-cudnn-frontend==1.32.0
    system=$(fetch_cudnn nvidia-cudnn-cu12==9.23.2.1 --parts engines_tensor_ir,ops --print lib)
    mkdir system # as NVIDIA's package for Debian has them
    for part in "$system"/*.so.9; do
        cp "$part" "system/${part##*/}.23.2"
        ln -s "${part##*/}.23.2" "system/${part##*/}"
    done
    echo "$PWD/system" >conf
    /sbin/ldconfig -C cache -f conf -X
    alone=(unshare -Urm sh -c 'mount --bind "$0" /etc/ld.so.cache && exec "$@"' "$PWD/cache")
    # What of PyTorch 2.12.1 says which release it wants.
    mkdir "$site/torch-2.12.1.dist-info"
    printf 'Metadata-Version: 2.4\nName: torch\nVersion: 2.12.1\nRequires-Dist: nvidia-cudnn-cu13==9.20.0.48\n' \
        >"$site/torch-2.12.1.dist-info/METADATA"
    cat >main.py <<'END'
import ctypes, glob, os, cudnn, nvidia.cudnn
facade = ctypes.CDLL(glob.glob(list(nvidia.cudnn.__path__)[0] + "/lib/libcudnn.so.9")[0])
tensor = ctypes.c_void_p()
def do(function, *arguments):
    status = getattr(facade, function)(*arguments)
    if status:
        raise SystemExit(f"{function}: {status}")
def put(name, kind, *values):
    as_c = ((ctypes.c_int if kind == 1 else ctypes.c_int64) * len(values))(*values)
    do("cudnnBackendSetAttribute", tensor, name, kind, ctypes.c_int64(len(values)), as_c)
do("cudnnBackendCreateDescriptor", 17, ctypes.byref(tensor))
put(900, 3, 16)           # the alignment
put(901, 1, 0)            # float
put(902, 3, 4, 4, 4, 4)   # dimensions
put(903, 3, 64, 16, 4, 1) # strides
put(906, 3, 1)            # a number of its own
do("cudnnBackendFinalize", tensor)
print("finalized", cudnn.backend_version())
END
    run_finds parts-differ venv/bin/python main.py
    [ "$typed" = "$PWD/venv/bin/python -m pip install 'nvidia-cudnn-cu13>=9.21,<9.22'" ]
    "${alone[@]}" "$WHICHCUDNN" report log | grep -q 'but torch 2.12.1 requires ==9.20.0.48'
    # Nobody has a driver here, and no search path brings one.
    [ "$(jq -r '.findings[] | select(.id == "driver-missing") | .fix[0].checked' report.json)" = no ]
    typed_repairs "finalized 92101" venv/bin/python main.py
}

@test "of two wheels in one folder one was uninstalled, and its files went with it: the other is put back" {
    unshare -Urm true || skip "no namespaces of users here"
    uv_environment venv nvidia-cudnn-frontend==1.32.0 nvidia-cudnn-cu13==9.20.0.48
    uv pip install -q --python venv/bin/python --no-deps nvidia-cudnn-cu12==9.20.0.48
    uv pip uninstall -q --python venv/bin/python nvidia-cudnn-cu13
    echo 'import cudnn; print(cudnn.backend_version())' >main.py
    run_finds installation-incomplete venv/bin/python main.py
    [ "$typed" = "uv pip install --python $PWD/venv/bin/python --reinstall --no-deps nvidia-cudnn-cu12==9.20.0.48" ]
    [ "$("${alone[@]}" "$WHICHCUDNN" scan --json venv | jq -r '.reports[0].findings[0].fix[0].command')" = "$typed" ]
    typed_repairs 92000 venv/bin/python main.py
}

@test "CuPy for CUDA 12 and no cuDNN; healthy, it looks for another release, which is no finding" {
    unshare -Urm true || skip "no namespaces of users here"
    uv_environment venv cupy-cuda12x==13.6.0 fastrlock 'numpy<2.3'
    cat >main.py <<'END'
import ctypes
from cupy_backends.cuda.libs import cudnn
version = cudnn.getVersion()
try:
    ctypes.CDLL("libcudnn.so.8.8.1")
except OSError:
    pass
print(version)
END
    run_finds library-not-found venv/bin/python main.py
    [ "$typed" = "uv pip install --python $PWD/venv/bin/python 'nvidia-cudnn-cu12>=8.8,<9' && \
export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib" ]
    typed_repairs 8907 venv/bin/python main.py
    [[ $stderr == "whichcudnn: cuDNN 8.9.7 from "*" (nvidia-cudnn-cu12) for cupy-cuda12x 13.6.0"*"whichcudnn: ok"* ]]
}

# As TensorFlow and PyTorch in one environment, one for CUDA 12, one for CUDA 13: each had a repair that broke the other.
@test "two hosts whose wheels of cuDNN share a folder: an environment for each, by run and by scan" {
    unshare -Urm true || skip "no namespaces of users here"
    wheelhouse "$PWD/wheels" nvidia-cudnn-cu12==9.10.2.21 nvidia-cudnn-cu13==9.20.0.48
    uv_environment venv jax-cuda12-plugin==0.10.2 jax-cuda13-plugin==0.10.2 nvidia-cuda-runtime-cu12==12.9.79 \
        nvidia-cuda-runtime==13.0.96
    for wheel in "$PWD"/wheels/*cu13*.whl "$PWD"/wheels/*cu12*.whl; do
        uv pip install -q --python venv/bin/python --no-deps "$wheel"
    done
    for cuda in 12 13; do
        jax_program | sed "s/cuda12/cuda$cuda/" >main.py
        rm -rf log
        run -0 --separate-stderr "${alone[@]}" "$WHICHCUDNN" run --log log/ -- venv/bin/python main.py
        echo "$stderr"
        [[ $stderr == "whichcudnn: cuDNN "*"whichcudnn: error["*"suggestion install the two into separate environments"* ]]
        run -1 "${alone[@]}" "$WHICHCUDNN" report --json log
        [ "$(jq -c '[.findings[].fix[] | select(.checked == "replayed")]' <<<"$output")" = "[]" ]
    done
    run -1 "${alone[@]}" "$WHICHCUDNN" scan --json venv
    [ "$(jq -c '[.reports[].findings[].fix[] | select(.checked == "replayed")]' <<<"$output")" = "[]" ]
    jq -e '[.reports[].findings[].fix[].why // ""] | any(startswith("another package requires what it removes: "))' \
        <<<"$output"
    # Which is what repairs: one environment for each.
    for cuda in 12 13; do
        uv_environment "venv$cuda" "jax-cuda$cuda-plugin==0.10.2" nvidia-cuda-runtime-cu12==12.9.79 \
            nvidia-cuda-runtime==13.0.96 "$(echo "$PWD"/wheels/*"cu$cuda"*.whl)"
        jax_program | sed "s/cuda12/cuda$cuda/" >main.py
        run -0 --separate-stderr "${alone[@]}" "$WHICHCUDNN" run --fail-on=warning -- "venv$cuda/bin/python" main.py
        echo "$stderr"
        [[ $stderr == "whichcudnn: cuDNN "*"whichcudnn: ok"* ]]
    done
}

# Five public threads of 2025 and 2026. What the loader sees is two libraries that were found: the message says it.
@test "cudnn-frontend 1.16 and libcudart of two releases of CUDA: what is printed, explained, and its command" {
    unshare -Urm true || skip "no namespaces of users here"
    wheelhouse "$PWD/wheels" nvidia-cudnn-cu12==9.10.2.21
    environment venv nvidia-cudnn-frontend==1.16.0 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-runtime==13.0.96 \
        "$(echo "$PWD"/wheels/*.whl)"
    export LD_LIBRARY_PATH=$site/nvidia/cuda_runtime/lib:$site/nvidia/cu13/lib
    cat >main.py <<'END'
import cudnn
g = cudnn.pygraph(io_data_type=cudnn.data_type.HALF, intermediate_data_type=cudnn.data_type.FLOAT,
                  compute_data_type=cudnn.data_type.FLOAT)
q, k, v = (g.tensor(name=n, dim=[2, 4, 64, 64], stride=[16384, 4096, 64, 1]) for n in "qkv")
o, _ = g.sdpa(name="s", q=q, k=k, v=v, is_inference=True, attn_scale=0.1, use_causal_mask=False)
o.set_output(True).set_dim([2, 4, 64, 64]).set_stride([16384, 4096, 64, 1])
g.validate()
END
    run -1 "${alone[@]}" venv/bin/python main.py
    echo "$output"
    [[ $output == *"Multiple libcudart libraries found: libcudart.so.12 and libcudart.so.13"* ]]
    typed=$("$WHICHCUDNN" explain --text - <<<"$output" | sed -n 's/^  next *//p')
    [ "$typed" = "python -m pip install 'nvidia-cudnn-frontend>=1.25'" ]
    (unset PIP_NO_INDEX && PATH=$PWD/venv/bin:$PATH && eval "${typed/install/install -q --no-deps}")
    run -0 "${alone[@]}" "$WHICHCUDNN" run --quiet --log log/ -- venv/bin/python main.py
    [[ $output != *RuntimeError* ]]
}
