#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# make matrix, over an index of stand-ins on the loopback.

bats_require_minimum_version 1.5.0
load ../e2e/helpers

# wheel NAME VERSION: packs site/NAME-VERSION.
wheel() {
    "$PY" "$WC_ROOT/tests/refresh/pack.py" "site/$1-$2" "index/${1//-/_}-$2-py3-none-manylinux_2_27_x86_64.whl"
}

# cudnn NAME RELEASE [option of make-standin]...
cudnn() {
    local name=$1 version=$2
    shift 2
    "$WC_ROOT/tests/fixtures/standin/make-standin" --layout pip --distribution "$name" --build "${version##*.}" "$@" \
        "${version%.*}" "site/$name-$version"
    wheel "$name" "$version"
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    mkdir -p index site/torch-2.5.0/{torch/lib,torch-2.5.0.dist-info} site/onnxruntime-gpu-1.31.0/onnxruntime/capi
    cudnn nvidia-cudnn-cu11 8.9.6.50
    cudnn nvidia-cudnn-cu12 9.0.0.312
    cudnn nvidia-cudnn-cu12 9.1.0.70
    cudnn nvidia-cudnn-cu12 9.20.0.48 --probes graph=libcudnn_engines_tensor_ir.so
    cudnn nvidia-cudnn-cu12 9.28.0.42
    cudnn nvidia-cudnn-cu13 9.28.0.42
    # shellcheck disable=SC2016 # the loader's
    "$WC_ROOT/tests/fixtures/hosts/build-host" library-lazy site/nvidia-cudnn-cu12-9.1.0.70/nvidia/cudnn/lib libhost \
        -Wl,-rpath,'$ORIGIN/../../nvidia/cudnn/lib'
    cp libhost.so site/torch-2.5.0/torch/lib/libtorch_python.so
    head -c 3000000 /dev/urandom >site/torch-2.5.0/torch/lib/libtorch_cpu.so # nobody need read
    printf 'Name: torch\nVersion: 2.5.0\nRequires-Dist: nvidia-cudnn-cu12==9.1.0.70\n' \
        >site/torch-2.5.0/torch-2.5.0.dist-info/METADATA
    wheel torch 2.5.0
    cat >hosts.toml <<'END'
[[framework]]
name = "PyTorch"
from = "2.0"
modules = 'torch/lib/libtorch_python\.so'
wheels = [{wheel = "torch"}]
END
    printf '<!-- matrix: begin -->\nold\n<!-- matrix: end -->\n' >page
    "$PY" "$WC_ROOT/tests/refresh/serve.py" index >port 2>asked 3>&- &
    echo $! >pid
    for _ in {1..100}; do [ ! -s port ] || break; sleep 0.1; done
    SOURCE_DATE_EPOCH=4102531200 matrix write >out 2>err || { cat out err && return 1; }
}

teardown_file() { xargs kill <"$BATS_FILE_TMPDIR/pid"; }

setup() { cd "$BATS_FILE_TMPDIR" || return; }

matrix() {
    PIP_INDEX_URL=http://127.0.0.1:$(cat port)/simple WC_FETCH_TRIES=1 no_proxy=127.0.0.1 "$PY" \
        "$WC_ROOT/tests/matrix/matrix.py" --cache "$PWD/cache" --table hosts.toml --page page "$@"
}

@test "a row: what fits alone, what an older and a newer system copy change, wheels of another CUDA" {
    is "$(grep '^| torch' page)" "| torch 2.5.0 | nvidia-cudnn-cu12==9.1.0.70, needs libcudnn.so.9 | cu12 | \
9.28.0 to 9.1.0: fits<br>9.0.0: \`runtime-too-old\` | the same | 9.20.0: \`parts-differ\` | \
cu13: 9.28.0: warning \`cuda-major-differs\`<br>cu11: 8.9.6: \`library-not-found\` | \`make matrix PLAY=torch==2.5.0\` |"
    grep -F 'Played on 2100-01-02: 12 cells, 6 wheels of cuDNN, 1 releases.' page
    run -1 grep ^old page
}

@test "played alone, with what the scan says and its repair" {
    run -0 --separate-stderr matrix play torch==2.5.0 nvidia-cudnn-cu12==9.0.0.312
    [[ $output == *'nvidia-cudnn-cu12==9.0.0.312, alone: error runtime-too-old: torch 2.5.0 got cuDNN 9.0.0'* ]]
    [[ $output == *"fix       pip install nvidia-cudnn-cu12==9.1.0.70"* ]]
    run -1 matrix play torch==1.0.0
    [[ $output == *"no framework of hosts.toml has torch==1.0.0"* ]]
}

@test "pieces are fetched once, and never what nobody need read" {
    : >asked
    matrix play torch==2.5.0 nvidia-cudnn-cu12==9.1.0.70
    run -1 grep /files/ asked
    [ "$(du -s --block-size=1 cache | cut -f1)" -lt 2000000 ]
}

@test "a stand-in has the facts of its library, and loads" {
    "$PY" - "$WC_ROOT/tests/matrix" site/*/nvidia/cudnn/lib/* libhost.so <<'END'
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import elf
wanted = lambda name: name.startswith("cudnn") or name == "dlopen"
for path in sys.argv[2:]:
    data = open(path, "rb").read()
    facts = elf.facts_of_file(data, wanted)
    made = elf.stand_in(facts)
    again = elf.facts_of_file(made, wanted)
    begun = elf.facts_of_beginning(data, facts["soname"], wanted)
    for name in facts:
        assert name == "symbols" or facts[name] == again[name], (path, name, facts[name], again[name])
    plain = [[name, is_defined] for name, _, is_defined, _ in sorted(facts["symbols"], key=str)]
    assert plain == [[one[0], one[2]] for one in sorted(again["symbols"], key=str)], path
    assert plain == [[one[0], one[2]] for one in sorted(begun["symbols"], key=str)], path
    assert (facts["soname"], sorted(facts["needed"])) == (begun["soname"], sorted(begun["needed"])), path
    assert [one[1] for one in again["symbols"] if one[2]] == [one[1] for one in facts["symbols"] if one[2]]
open("made.so", "wb").write(elf.stand_in({**facts, "needed": [], "verneed": {}, "symbols": []}))
ctypes.CDLL("./made.so")
END
}
