#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# make refresh, over an index of stand-ins on the loopback: two releases of cuDNN that the tables lack,
# one of which drops a function, while the other is newer than all; and new releases of frameworks.

bats_require_minimum_version 1.5.0
load ../e2e/helpers

# What the tables know, and what they do not: the next patch, and the second minor from now.
KNOWN=$(knows cudnn)
KNOWN_WHEEL=$(sed -n 's/^CUDNN_RELEASE("\(.*\)", ., ., 1)$/\1/p' "$WC_ROOT/tools/knowledge/wheel_files.def" | tail -n 1)
IFS=. read -r MAJOR MINOR PATCH <<<"$KNOWN"
PATCHED=$MAJOR.$MINOR.$((PATCH + 1)) NEWER=$MAJOR.$((MINOR + 2))
TORCH=$(knows torch) TENSORFLOW=$(knows tensorflow)
next() { awk -F. '{ print $1 "." $2 + 1 }' <<<"$1"; }
DROPPED=cudnnCausalConv1dForward
TORCH_CHECK='
def _init():
    if _cudnn.getRuntimeVersion() %s _cudnn.getCompileVersion():
        raise RuntimeError("cuDNN version incompatibility")
'

# wheel NAME VERSION SITE [DAMAGE]: puts it on the index.
wheel() {
    "$PY" "$WC_ROOT/tests/refresh/pack.py" "$3" \
        "index/${1//-/_}-$2-py3-none-manylinux_2_27_x86_64.whl" "${@:4}"
}

# cudnn NAME RELEASE REQUIRES [option of make-standin]...: as NVIDIA's wheels are.
cudnn() {
    local name=$1 version=$2 requires=$3 part site=site/$1-$2 needs=()
    shift 3
    for part in graph ops cnn adv heuristic engines_{precompiled,runtime_compiled,tensor_ir} ext; do
        needs+=(--needs "$part=libz.so.1")
        [[ $part != heuristic && $part != engines_* ]] || needs+=(--needs "$part=libcudnn_graph.so.9")
    done
    maker/tests/fixtures/standin/make-standin --layout pip --distribution "$name" --build "${version##*.}" \
        "${needs[@]}" --needs engines_runtime_compiled=libcuda.so.1 "$@" "${version%.*}" "$site"
    # shellcheck disable=SC2016 # the loader's
    if [[ $name == *13 && $version == $MAJOR.$MINOR.* ]]; then
        patchelf --set-rpath \
            '$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../cuda_nvrtc/lib:$ORIGIN/../../cu13/lib' \
            "$site"/nvidia/cudnn/lib/libcudnn_[!e]*.so.9 "$site"/nvidia/cudnn/lib/libcudnn_e*.so.9
    elif [[ $name == *12 ]]; then
        patchelf --set-rpath '$ORIGIN:$ORIGIN/../../cublas/lib:$ORIGIN/../../cuda_nvrtc/lib' \
            "$site"/nvidia/cudnn/lib/libcudnn_*.so.9
    fi
    nm -D "$site"/nvidia/cudnn/lib/libcudnn.so.9 |
        sed -n 's/.* T \(cudnn[A-Za-z0-9_]*\).*/cudnnStatus_t CUDNNWINAPI \1(void);/p' \
            >"$site/nvidia/cudnn/include/cudnn.h"
    # shellcheck disable=SC2086 # words
    printf 'Requires-Dist: %s\n' $requires >>"$site/${name//-/_}-$version.dist-info/METADATA"
}

# host NAME VERSION REQUIRES [COMPARISON]
host() {
    local site=site/$1-$2
    mkdir -p "$site/$1-$2.dist-info" "$site/torch/backends/cudnn"
    printf 'Name: %s\nVersion: %s\nRequires-Dist: %s\n' "$1" "$2" "$3" >"$site/$1-$2.dist-info/METADATA"
    # shellcheck disable=SC2059 # the text has a place for it
    [ $# -lt 4 ] || printf "$TORCH_CHECK" "$4" >"$site/torch/backends/cudnn/__init__.py"
    wheel "$1" "$2" "$site"
}

# module NAME VERSION PATH MODE [FILE NAME]...: a host of fixtures/hosts, and empty files, in a wheel.
module() {
    local site=site/$1-$2 name
    mkdir -p "$site/$1-$2.dist-info" "$site/$(dirname "$3")"
    printf 'Name: %s\nVersion: %s\n' "$1" "$2" >"$site/$1-$2.dist-info/METADATA"
    # shellcheck disable=SC2016 # the loader's
    "$WC_ROOT/tests/fixtures/hosts/build-host" "library-$4" \
        "$([ "$4" = dlopen ] && echo - || echo "site/nvidia-cudnn-cu13-$KNOWN_WHEEL/nvidia/cudnn/lib")" \
        "$site/${3%.so}" -Wl,-rpath,"${5-}" >&2
    rm -f "$site/${3%.so}"
    for name in "${@:6}"; do cp "site/nvidia-cudnn-cu13-$KNOWN_WHEEL/nvidia/cudnn/lib/libcudnn.so.9" "$site/$name"; done
    wheel "$1" "$2" "$site"
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    mkdir -p index maker/tests/fixtures maker/core old
    cp -r "$WC_ROOT/tests/fixtures/standin" maker/tests/fixtures/
    cp -r "$WC_ROOT/core/data" maker/core/
    # Stand-ins for today's newest release, and for two of tomorrow.
    printf 'cudnnZBrandNew\t%s\t\tdrawn\n' "$NEWER.0" >>maker/core/data/cudnn_symbols.tsv
    cudnn nvidia-cudnn-cu13 "$KNOWN_WHEEL" nvidia-cublas
    cudnn nvidia-cudnn-cu12 "$PATCHED.7" nvidia-cublas-cu12 --without-function $DROPPED
    cudnn nvidia-cudnn-cu13 "$PATCHED.7" nvidia-cublas --without-function $DROPPED
    cudnn nvidia-cudnn-cu13 "$NEWER.0.5" 'nvidia-cublas nvidia-cuda-nvrtc' --without-function $DROPPED \
        --needs cnn=libnew.so.1 --probes graph=libcudnn_future.so.9
    local lib=site/nvidia-cudnn-cu13-$NEWER.0.5/nvidia/cudnn/lib site
    mv "$lib/libcudnn_ext.so.9" "$lib/libcudnn_brand.so.9"
    patchelf --set-soname libcudnn_brand.so.9 "$lib/libcudnn_brand.so.9"
    for site in site/nvidia-*; do wheel "${site:5:17}" "${site:23}" "$site"; done
    # Of what is known the index has the newest, which nobody need read.
    awk -F'\t' 'NR > 3 && !/nvidia-cudnn-cu13|torch/ { gsub("-", "_", $1); print $1 "-" $2 }' \
        "$WC_ROOT/core/data/cudnn_knowledge.tsv" | while read -r name; do
        : >"index/$name-py3-none-manylinux_2_27_x86_64.whl"
    done
    # Of CUDA's, one that has lost the library that the table has.
    mkdir -p site/curand/nvidia_curand_cu12-99.1.dist-info
    echo 'Name: nvidia-curand-cu12' >site/curand/nvidia_curand_cu12-99.1.dist-info/METADATA
    wheel nvidia-curand-cu12 99.1 site/curand
    host torch "$TORCH" nvidia-cudnn-cu13 '!='
    host tensorflow "$TENSORFLOW" 'nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"'
    touch -d 2020-01-01 index/*
    # How frameworks come to cuDNN: by dlopen in place of DT_NEEDED, by a facade that is gone, a path that is new.
    local onnx=onnxruntime/capi/libonnxruntime_providers_cuda.so ct=ctranslate2.libs
    module onnxruntime-gpu "$(knows onnxruntime-gpu)" $onnx lazy
    module ctranslate2 "$(knows ctranslate2)" $ct/libctranslate2-01234567.so dlopen '' $ct/libcudnn-01234567.so.9.1.0
    touch -d 2020-01-01 index/{onnxruntime_gpu,ctranslate2}-*
    module onnxruntime-gpu "$(next "$(knows onnxruntime-gpu)").0" $onnx dlopen
    # shellcheck disable=SC2016 # the loader's
    module ctranslate2 "$(next "$(knows ctranslate2)").0" $ct/libctranslate2-76543210.so dlopen '$ORIGIN/../nvidia/cudnn/lib'
    host torch 2.0.9 'nvidia-cudnn-cu11 (==8.5.0.96)' '!=' # an old line goes on
    host torch "$(next "$TORCH").0" "nvidia-cudnn-cu13==$PATCHED.7; platform_system == \"Linux\"" '>='
    host tensorflow "$(next "$TENSORFLOW").1" 'nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"'
    touch -d 2100-01-01 index/torch-2.0.9-*
    cp -a index broken
    mkdir tree
    cp -r "$WC_ROOT"/{core,include,docs,tests} tree/
    knowledge "$WC_ROOT" tree
    start_index index
    refresh --limit 8 >out 2>err || { cat out err && return 1; }
    cp -r tree refreshed
}

teardown_file() { cat "$BATS_FILE_TMPDIR"/*.pid | xargs kill; }

setup() { cd "$BATS_FILE_TMPDIR" || return; }

# start_index DIRECTORY: leaves its process in DIRECTORY.pid, its port in DIRECTORY.port.
start_index() {
    "$PY" "$WC_ROOT/tests/refresh/serve.py" "$1" >"$1.port" 2>"$1.asked" 3>&- &
    echo $! >"$1.pid"
    for _ in {1..100}; do [ ! -s "$1.port" ] || break; sleep 0.1; done
}

# knowledge FROM TO: the tables of the command alone.
knowledge() { mkdir -p "$2/tools" && cp -r "$1/tools/knowledge" "$2/tools/"; }

# unchanged A B: their tables are the same.
unchanged() { diff -r "$1/core" "$2/core" && diff -r "$1/tools/knowledge" "$2/tools/knowledge"; }

# refresh [option]...: over $INDEX (index) with $CACHE (cache), of $TREE (tree).
refresh() {
    PIP_INDEX_URL=http://127.0.0.1:$(cat "${INDEX:-index}.port")/simple WC_FETCH_TRIES=1 \
        SOURCE_DATE_EPOCH="${DAY:-4102531200}" no_proxy=127.0.0.1 "$PY" "$WC_ROOT/tests/refresh/refresh.py" \
        --tree "${TREE:-tree}" --cache "${CACHE_OF:-$PWD/cache}" "$@"
}

row() { grep -qxF "$2" "refreshed/$1" || { echo "no row: $2" && unchanged "$WC_ROOT" refreshed; }; }

@test "functions: one came, one went, each with the releases that show it" {
    row core/data/cudnn_symbols.tsv "$(printf 'cudnnZBrandNew\t%s\t\texports: <=%s >%s' "$NEWER".0 "$NEWER".0 "$PATCHED")"
    grep -P "^$DROPPED\t9.22.0\t$KNOWN\t.*; gone <=$PATCHED, last seen $KNOWN$" \
        refreshed/core/data/cudnn_symbols.tsv
    is "$(diff "$WC_ROOT/core/data/cudnn_symbols.tsv" refreshed/core/data/cudnn_symbols.tsv | grep -c '^[<>]')" 3
}

@test "wheels: releases, files, what they need, where they look, what comes with them" {
    local table=tools/knowledge/wheel_files.def ext cnn
    ext=$(grep '^CUDNN_9(".*", "", "_ext"' "$WC_ROOT/$table")
    cnn=$(grep '^CUDNN_9(".*", "", "_cnn"' "$WC_ROOT/$table")
    row $table "CUDNN_RELEASE(\"$PATCHED.7\", 0, 1, 1)"
    row $table "CUDNN_RELEASE(\"$NEWER.0.5\", 0, 0, 1)"
    row $table "${ext/\"\"/\"$NEWER\"}"
    row $table "CUDNN_9(\"$NEWER\", \"\", \"_brand\", \"libz.so.1\")"
    row $table "${cnn/\"\"/\"$NEWER\"}"
    row $table "CUDNN_9(\"$NEWER\", \"\", \"_cnn\", OPS \" libnew.so.1 libz.so.1\")"
    row $table "WHEEL_PATH(\"nvidia-cudnn-cu13\", \"$NEWER\", \"\", \"\", RPATH, \"\$ORIGIN\")"
    row $table "WHEEL_REQUIRES(\"nvidia-cudnn-cu13\", \"$NEWER\", \"\", \"nvidia-cuda-nvrtc\")"
    is "$(diff "$WC_ROOT/tools/knowledge/wheel_files.def" refreshed/tools/knowledge/wheel_files.def | grep -c '^[<>]')" 10
    grep -F "nvidia-cudnn-cu13 $NEWER.0.5: version in libcudnn.so.9 (names it asks for), " out
}

@test "wheels of CUDA: the newest still has what the table says, or it is said" {
    grep -F 'by hand: nvidia-curand-cu12 99.1: no nvidia/curand/lib/libcurand.so.10, unlike' out
    row core/data/cudnn_knowledge.tsv $'nvidia-curand-cu12\t99.1'
}

@test "frameworks: what they require, and a text that has changed" {
    local torch tensorflow open
    torch=$(next "$TORCH")
    tensorflow=$(next "$TENSORFLOW")
    open=$(grep '^PINS("tensorflow"' "$WC_ROOT/core/knowledge/built_with.def" | tail -n 1)
    row core/knowledge/built_with.def "PINS(\"torch\", \"\", \"$torch\", \"$(next "$torch")\", \"nvidia-cudnn-cu13\", \"==$PATCHED.7\")"
    row core/knowledge/built_with.def "${open/\"$tensorflow\"/\"$(next "$tensorflow")\"}"
    is "$(diff "$WC_ROOT/core/knowledge/built_with.def" refreshed/core/knowledge/built_with.def | grep -c '^[<>]')" 3
    grep -F 'torch 2.0.9: requires nvidia-cudnn-cu11==8.5.0.96' out # new by its day alone
    is "$(grep -c '^by hand: ' out)" 3
    grep -F "by hand: tensorflow $tensorflow.1: what is it built with? BUILT_WITH in" out
    grep -F "by hand: torch $torch.0 compares versions otherwise than $TORCH: the rule torch" out
    grep -F '+    if _cudnn.getRuntimeVersion() >= _cudnn.getCompileVersion():' out
}

@test "frameworks: how they come to cuDNN, what they bring" {
    local onnx ct
    onnx=onnxruntime-gpu\ $(next "$(knows onnxruntime-gpu)").0 ct=ctranslate2\ $(next "$(knows ctranslate2)").0
    grep -xF "changed: $onnx: no longer so, unlike $(knows onnxruntime-gpu): \
onnxruntime/capi/libonnxruntime_providers_cuda.so needs libcudnn.so.9" out
    run -1 grep "changed: $onnx: .*names libcudnn" out # they had that name before
    grep -xF "changed: $ct: no longer so, unlike $(knows ctranslate2): it has ctranslate2.libs/libcudnn.so" out
    # shellcheck disable=SC2016 # the loader's
    grep -xF "changed: $ct: ctranslate2.libs/libctranslate2.so looks in \$ORIGIN/../nvidia/cudnn/lib, unlike $(knows ctranslate2)" out
    run -1 grep "changed: $ct: it has" out # by the name without its hash
    row core/data/cudnn_knowledge.tsv "$(printf 'ctranslate2\t%s.0' "$(next "$(knows ctranslate2)")")"
}

@test "parts: which a release looks for, before any has it" {
    row core/knowledge/parts.def "ADDED_PART(\"future\", \"$NEWER\", \"\")"
    is "$(diff "$WC_ROOT/core/knowledge/parts.def" refreshed/core/knowledge/parts.def | grep -c '^[<>]')" 1
}

@test "the tables carry their day, and the difference was shown" {
    row core/data/cudnn_knowledge.tsv $'tables\t2100-01-02'
    row core/data/cudnn_knowledge.tsv "$(printf 'cudnn\t%s.0' "$NEWER")"
    row core/data/cudnn_knowledge.tsv "$(printf 'torch\t%s.0' "$(next "$TORCH")")"
    is "$(cd tree && find . -name '*.new')" ''
    mkdir patched
    cp -r "$WC_ROOT/core" patched/
    knowledge "$WC_ROOT" patched
    # What was shown is what was written. The text of PyTorch's check comes first.
    sed -n '/^--- a\/\(core\|tools\)/,/^by hand/p' out | patch -s -p1 -d patched
    unchanged patched refreshed
}

@test "the tests that hold the tables pass with the new ones, and say what is new with the old ones" {
    cp -r refreshed held
    sed -i '/^#/!d' held/tests/real/exports.tsv # these stand-ins have none of them
    printf '%s\t%s\t0\t-\n' nvidia-cudnn-cu12 "$PATCHED.7" nvidia-cudnn-cu13 "$NEWER.0.5" >>held/tests/real/releases.tsv
    check() {
        "$PY" "$1/tests/real/check_releases.py" "$2" "cache/cudnn/nvidia-cudnn-cu12-$PATCHED.7" \
            "cache/cudnn/nvidia-cudnn-cu13-$NEWER.0.5"
    }
    check held exports
    check held wheels
    cp "$WC_ROOT"/core/data/*.tsv held/core/data/
    knowledge "$WC_ROOT" held
    run -1 check held exports
    [[ $output == *"functions that it lacks: got ['$DROPPED']"*"not know: got ['cudnnZBrandNew']"* ]]
    run -1 check held wheels
    [[ $output == *"$PATCHED.7: not among the releases"*"$NEWER.0.5: libraries: got"* ]]
    [[ $output == *"libcudnn_cnn.so.9: DT_NEEDED: got"*"where it looks: got"* ]]
}

@test "the unit test of the tables passes with the new ones" {
    local table
    mkdir -p unit
    for table in symbols knowledge; do
        python3 refreshed/core/data/generate_$table.py refreshed/core/data/cudnn_$table.tsv >unit/cudnn_$table.inc
    done
    cd refreshed
    "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE= -Iinclude -I. -I../unit -o ../unit/test tests/unit/test_symbols.c \
        core/names/{symbols,names,version,version_code}.c core/base/*.c core/elf/*.c -lcmocka
    WC_ROOT=$PWD ../unit/test
}

@test "a second time nothing is new, and nothing is read but the pages" {
    : >index.asked
    run -0 --separate-stderr refresh
    is "$output" "nothing is new"
    unchanged tree refreshed
    grep -q 'GET /simple/torch/' index.asked
    run -1 grep /files/ index.asked
    DAY=4102617600 run -0 --separate-stderr refresh --dry-run # a day later
    is "${lines[-1]}" "would change: core/data/cudnn_knowledge.tsv"
    unchanged tree refreshed
}

# fails SENTENCE [option]...: a refresh of today's tables ends so, and changes none.
fails() {
    TREE=$BATS_TEST_TMPDIR/tree
    mkdir -p "$TREE/tests"
    cp -r "$WC_ROOT/core" "$TREE/"
    knowledge "$WC_ROOT" "$TREE"
    cp -r "$WC_ROOT/tests/real" "$TREE/tests/"
    run -1 refresh
    grep -E "^refresh: .*$1" <<<"$output" || { echo "no '$1' in: $output" && return 1; }
    is "${lines[-1]}" "refresh: nothing was written"
    [[ $output != *Traceback* ]]
    unchanged "$WC_ROOT" "$TREE"
}

@test "a damaged wheel: an error that names it, and nothing changes, nor stays in the cache" {
    local file=broken/nvidia_cudnn_cu13-$NEWER.0.5-py3-none-manylinux_2_27_x86_64.whl whole torch
    torch=$(next "$TORCH").0
    INDEX=broken CACHE_OF=$BATS_TEST_TMPDIR/cache
    start_index broken
    whole=$(stat -c %s "$file")
    truncate -s $((whole - 100)) "$file"
    fails "nvidia-cudnn-cu13 $NEWER.0.5: .*zip file"
    cp -a index/"${file#*/}" "$file"
    printf damage | dd of="$file" bs=1 seek=200 conv=notrunc status=none # in the first library
    fails "nvidia-cudnn-cu13 $NEWER.0.5: "
    "$PY" "$WC_ROOT/tests/refresh/pack.py" "site/nvidia-cudnn-cu13-$NEWER.0.5" "$file" nvidia/cudnn/lib/libcudnn.so.9
    fails 'the wheel is damaged: nvidia/cudnn/lib/libcudnn.so.9 is not what its RECORD says'
    [ -d "$CACHE_OF/cudnn/nvidia-cudnn-cu13-$PATCHED.7" ]
    is "$(find "$CACHE_OF" -name "*$NEWER*" -o -name '.new-*')" ''
    rm "$file"
    : >"broken/torch-$torch-py3-none-manylinux_2_27_x86_64.whl"
    fails "torch $torch: "
}

@test "an index that does not answer, and one that lacks what the tables know" {
    echo 9 >silent.port # discard: nobody listens there
    INDEX=silent fails 'the index does not answer for nvidia-cudnn-cu11: '
    mkdir lacking
    cp -a index/nvidia_cudnn_cu1[12]* lacking/
    start_index lacking
    INDEX=lacking fails 'the index has no nvidia-cudnn-cu13'
}

@test "a half-written cache: an error that says what to remove; without it all is well" {
    local kept=$BATS_TEST_TMPDIR/cache torch
    torch=$(next "$TORCH").0
    CACHE_OF=$kept
    cp -r cache "$kept"
    truncate -s 1000 "$kept/cudnn/nvidia-cudnn-cu13-$NEWER.0.5/site-packages/nvidia/cudnn/lib/libcudnn.so.9"
    fails "half-written: nvidia/cudnn/lib/libcudnn.so.9 is not what .*; remove $kept/cudnn/nvidia-cudnn-cu13-$NEWER.0.5"
    cp -r cache/cudnn "$kept/"
    truncate -s 100 "$kept/cudnn/nvidia-cudnn-cu13-$PATCHED.7/wheel.json"
    fails "nvidia-cudnn-cu13 $PATCHED.7: "
    rm -r "$kept/cudnn/nvidia-cudnn-cu13-$PATCHED.7/"
    truncate -s 10 "$kept/hosts/torch-$torch/torch/backends/cudnn/__init__.py"
    fails "half-written: torch/backends/cudnn/__init__.py is not what .*; remove $kept/hosts/torch-$torch"
    rm -r "$kept/hosts/torch-$torch"
    run -0 refresh --dry-run
}

@test "of a release that is newer than the tables the verdict says so" {
    make_standin 9.99.0 "$BATS_TEST_TMPDIR/lib"
    build_host lazy "$BATS_TEST_TMPDIR/lib" "$BATS_TEST_TMPDIR/host"
    cd "$BATS_TEST_TMPDIR"
    LD_LIBRARY_PATH=$PWD/lib run -0 "$CMD" run --log log.jsonl -- ./host version
    run -0 "$CMD" report log.jsonl
    [[ $(xargs <<<"$output") == *"this release of cuDNN is not known to this build, whose newest is $(knows cudnn)"* ]]
}

@test "no release with tables that are older than 60 days" {
    local age=$WC_ROOT/tests/release/age table=refreshed/core/data/cudnn_knowledge.tsv # of 2100-01-02
    "$age" $table 2100-03-03
    run -1 "$age" $table 2100-03-04
    is "$output" "$table: the tables are of 2100-01-02, more than 60 days before 2100-03-04: make refresh"
    grep -q '^release-check: tables-are-young ' "$WC_ROOT/packaging/dist.mk"
}
