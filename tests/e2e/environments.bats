#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Environments as pip leaves them, broken as people broke theirs. What is printed is typed, or done as pip does it, and
# the program works then.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unshare -Urm true || skip "no namespaces of users here"
    unset LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH
    "$PY" -m venv --without-pip venv
    site=$(echo "$PWD"/venv/lib/python3*/site-packages)
}

# What the loader's cache of this computer knows would fill the gaps.
# shellcheck disable=SC2016
alone=(unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)

package() { # NAME VERSION [REQUIREMENT [FILE...]]
    local info=$site/$1-$2.dist-info
    mkdir -p "$info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" >"$info/METADATA"
    [ -z "${3:-}" ] || echo "Requires-Dist: $3" >>"$info/METADATA"
    echo pip >"$info/INSTALLER"
    printf '%s,,\n' "${@:4}" >"$info/RECORD"
}

wheel() { # NAME VERSION FOLDER LIBRARY...
    local library
    package "$1" "$2" '' "${@/#/nvidia/$3/lib/}"
    for library in "${@:4}"; do make_standin --empty "$library" "$site/nvidia/$3/lib"; done
}

library() { # OUT LIBRARY... [-- LINKER FLAG...]: needs these, which lie in the wheels
    local out=$1 needs=() name
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        name=$(find "$site/nvidia" -name "$1")
        needs+=("-L${name%/*}" "-l:$1")
        shift
    done
    mkdir -p "${out%/*}"
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o "$out" -Wl,--no-as-needed "${needs[@]}" "${@:2}"
}

# runs STATUS: under run; its report is in report.json.
runs() {
    rm -rf log
    run -"$1" --separate-stderr "${alone[@]}" "$CMD" run --log "$PWD/log" -- venv/bin/python main.py
    "${alone[@]}" "$CMD" report --json log >report.json || true
    validate_report report.json
}
told() { jq -r '.findings[0] | .id, (.fix[0] | .text, .checked)' report.json; }

of_mxnet() {
    make_standin 8.1.1 "$site" --layout pip --build 33 --distribution nvidia-cudnn-cu11
    wheel nvidia-cublas-cu11 11.5.1.109 cublas libcublas.so.11 libcublasLt.so.11
    wheel nvidia-cuda-runtime-cu11 11.3.109 cuda_runtime libcudart.so.11.0
    wheel nvidia-nvtx-cu11 11.3.109 nvtx libnvToolsExt.so.1
    library "$PWD/mxnet/libmxnet.so" libcudnn.so.8 libcublas.so.11 libnvToolsExt.so.1 libcudart.so.11.0
    echo "import ctypes; ctypes.CDLL('$PWD/mxnet/libmxnet.so')" >main.py
}

@test "a host that needs a library of no table, too: the variable leads to all that the wheels have" {
    of_mxnet
    runs 1
    is "$(jq -r '.findings[0] | .id, .fix[0].checked' report.json)" $'library-not-found\nreplayed'
    [[ $(jq -r '.findings[0].fix[0].command' report.json) == "export LD_LIBRARY_PATH="*nvidia/nvtx/lib* ]]
    run -0 bash -c "$(jq -r '.findings[0].fix[0].command' report.json)"'; exec "$@"' bash \
        "${alone[@]}" venv/bin/python main.py
}

@test "one of its libraries was uninstalled: it comes back, and nothing of the variable goes" {
    of_mxnet
    rm -r "$site"/nvidia/cublas "$site"/nvidia-cublas-cu11-*
    export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib:$site/nvidia/nvtx/lib:$site/nvidia/cuda_runtime/lib
    runs 1
    is "$(told)" "dependency-missing
install nvidia-cublas-cu11, then set LD_LIBRARY_PATH to $site/nvidia/cublas/lib:$LD_LIBRARY_PATH
replayed"
    # That another library is the first one missing is no repair.
    is "$(jq -r '.findings[0].rejected[] | select(.text == "unset LD_LIBRARY_PATH").because' report.json)" \
        "the load then fails for another reason"
    wheel nvidia-cublas-cu11 11.5.1.109 cublas libcublas.so.11 libcublasLt.so.11
    LD_LIBRARY_PATH=$site/nvidia/cublas/lib:$LD_LIBRARY_PATH run -0 "${alone[@]}" venv/bin/python main.py
}

@test "a host that needs cuDNN's parts, and no facade" {
    make_standin 8.5.0 "$site" --layout pip --build 96 --distribution nvidia-cudnn-cu11
    wheel nvidia-cublas-cu11 11.10.3.66 cublas libcublas.so.11 libcublasLt.so.11
    # shellcheck disable=SC2016
    library "$site/oneflow/_of.so" libcudnn_cnn_infer.so.8 libcudnn_ops_infer.so.8 libcublas.so.11 -- \
        -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN/../nvidia/cudnn/lib:$ORIGIN/../nvidia/cublas/lib'
    echo "import ctypes, os; ctypes.CDLL(os.path.dirname(__file__) + '/_of.so')" >"$site/oneflow/__init__.py"
    package oneflow 0.9.0 nvidia-cudnn-cu11 oneflow/_of.so oneflow/__init__.py
    echo 'import oneflow' >main.py
    runs 0
    [[ $stderr == "whichcudnn: parts of cuDNN 8.5.0 from "*" (nvidia-cudnn-cu11)"*$'\nwhichcudnn: ok'* ]]
    rm "$site/nvidia/cudnn/lib/libcudnn_ops_infer.so.8"
    runs 1
    is "$(told)" $'installation-incomplete\nreinstall nvidia-cudnn-cu11 8.5.0.96\nreplayed'
    rm -r "$site"/nvidia/cudnn "$site"/nvidia_cudnn_cu11-*
    runs 1
    is "$(told)" $'dependency-missing\ninstall nvidia-cudnn-cu11>=8,<9\nreplayed'
    make_standin 8.5.0 "$site" --layout pip --build 96 --distribution nvidia-cudnn-cu11
    runs 0
}

@test "a library of CUDA by its name without a number, before which a package looks into a wheel: that wheel" {
    make_standin 9.8.0 "$site" --layout pip --build 87
    wheel nvidia-cublas-cu12 12.4.5.8 cublas libcublas.so.12 libcublasLt.so.12
    library "$site/transformer_engine/libtransformer_engine.so"
    cat >"$site/transformer_engine/__init__.py" <<'END'
import ctypes, glob, os
site = os.path.dirname(os.path.dirname(__file__))
ctypes.CDLL(site + "/nvidia/cudnn/lib/libcudnn.so.9").cudnnGetVersion()
ctypes.CDLL(site + "/transformer_engine/libtransformer_engine.so")
found = glob.glob(site + "/nvidia/cuda_nvrtc/lib/libnvrtc.so*[0-9]")
ctypes.CDLL(found[0] if found else "libnvrtc.so")
END
    package transformer_engine 2.2.0 nvidia-cudnn-cu12 transformer_engine/__init__.py
    echo 'import transformer_engine' >main.py
    runs 1
    is "$(told)" $'cuda-dependency-differs\ninstall nvidia-cuda-nvrtc-cu12\nreplayed'
    wheel nvidia-cuda-nvrtc-cu12 12.4.127 cuda_nvrtc libnvrtc.so.12
    runs 0
}

@test "a library of cuDNN that was cut, and nobody who uses it: put back, not taken away" {
    make_standin 9.8.0 "$site" --layout pip --build 87
    truncate -s 5000 "$site/nvidia/cudnn/lib/libcudnn_heuristic.so.9"
    "$CMD" scan --json venv >scan.json
    is "$(jq -r '.reports[0].findings[0] | .id, (.fix[] | .action, .checked)' scan.json)" \
        $'installation-mixed\nreinstall\nreplayed'
}

# Both lists have these paths. The version of a file and the package of another list were told together.
@test "of two packages that list a file the one whose size it has is told with it" {
    local list path rest rows
    make_standin 9.12.0 "$site" --layout pip --build 46 --distribution nvidia-cudnn-cu13
    list=$(echo "$site"/nvidia_cudnn_cu13-*/RECORD)
    rows=$(cat "$list")
    while IFS= read -r rest; do
        path=${rest%%,*}
        [[ $path != *.so.9 ]] || truncate -s +512 "$site/$path"
        echo "${rest%,*},$(stat -c %s "$site/$path")"
    done <<<"$rows" >"$list"
    make_standin 9.10.2 "$site" --layout pip --build 21
    echo "import ctypes; exit(ctypes.CDLL('$site/nvidia/cudnn/lib/libcudnn.so.9').cudnnGetVersion() < 91200)" >main.py
    runs 1
    is "$(jq -r '.stack.objects[] | select(.role == "facade") | .version, .installation, .installation_version' report.json)" \
        $'9.10.2\nnvidia-cudnn-cu12\n9.10.2.21'
    is "$(told)" $'installation-mixed\nuninstall nvidia-cudnn-cu12, then reinstall nvidia-cudnn-cu13 9.12.0.46\nreplayed'
    # As pip does it.
    rm -r "$site"/nvidia/cudnn "$site"/nvidia_cudnn_cu*
    make_standin 9.12.0 "$site" --layout pip --build 46 --distribution nvidia-cudnn-cu13
    runs 0
}

@test "a part of another release that asks a part for an internal function: one edit for all of it" {
    make_standin 9.1.0 "$site" --layout pip --build 70
    wheel nvidia-cublas-cu12 12.4.5.8 cublas libcublas.so.12 libcublasLt.so.12
    make_standin 9.13.0 other --imports cnn=cudnnGetLibConfig --internal graph=cudnnGetLibConfig
    cp other/libcudnn_cnn.so.9 "$site/nvidia/cudnn/lib/"
    truncate -s +300 "$site/nvidia/cudnn/lib/libcudnn_cnn.so.9" # another size than the list has
    printf 'import ctypes\nctypes.CDLL("%s/libcudnn.so.9").cudnnGetVersion()\nctypes.CDLL("%s/libcudnn_cnn.so.9")\n' \
        "$site"/nvidia/cudnn/lib{,} >main.py
    runs 1
    is "$(told)" $'symbol-version-not-found\nreinstall nvidia-cudnn-cu12 9.1.0.70\nreplayed'
    make_standin 9.1.0 "$site" --layout pip --build 70
    runs 0
}
