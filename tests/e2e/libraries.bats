#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A library of a package, of whatever name, is missing, refused, or of another release than the
# package that needs it requires. What is printed is done, and the program works then.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset LD_LIBRARY_PATH VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH
    site=$PWD/venv/lib/python3.12/site-packages
    mkdir -p "$site/engine/lib"
    of_python venv
    make_standin 9.8.0 "$site" --layout pip --build 87
    "${CC:-gcc}" -o "$site/engine/host" -Wl,-rpath,"$site/nvidia/cublas/lib" -x c - <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW)) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
    return 0;
}
C
}

# library FILE [WORD]... < C: below the site; WORD: for the linker.
library() {
    mkdir -p "$(dirname "$site/$1")"
    "${CC:-gcc}" -w -shared -fPIC -o "$site/$1" -Wl,-soname,"${1##*/}" -x c - -x none -Wl,--no-as-needed "${@:2}"
}

# package NAME VERSION [FILE]...: with those files on its list; what it requires is read.
package() {
    local info=$site/${1//-/_}-$2.dist-info file
    mkdir -p "$info"
    printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$1" "$2" >"$info/METADATA"
    sed 's/^/Requires-Dist: /' >>"$info/METADATA"
    for file in "${@:3}"; do
        printf '%s,sha256=x,%s\n' "$file" "$(stat -c %s "$site/$file")"
    done >"$info/RECORD"
}

# record NAME-VERSION-BUILD FILE [DEPENDS]...: of conda's.
record() {
    mkdir -p conda/conda-meta
    printf '%s\n' "${@:3}" | jq -nR --arg file "$2" '{depends: [inputs], files: [$file]}' >"conda/conda-meta/$1.json"
}

# fixes FINDING [NAME]...: what is printed for a run of the host that opens those.
fixes() {
    rm -f log.jsonl
    run ! "$CMD" run -q --log log.jsonl -- "$site/engine/host" "${@:2}"
    fixes_of "$1" text log.jsonl
}
first() { fixes "$@" | head -n 1; }

@test "a library on a package's list that is gone is put back, whatever its name" {
    library engine.libs/libgomp-a34b3233.so.1 <<<'int gomp;'
    library engine/lib/libown.so "$site/engine.libs/libgomp-a34b3233.so.1" "$site/nvidia/cudnn/lib/libcudnn.so.9" \
        -Wl,-rpath,"\$ORIGIN/../../engine.libs:\$ORIGIN/../../nvidia/cudnn/lib" <<<'int own;'
    package engine 1.0 engine/host engine/lib/libown.so engine.libs/libgomp-a34b3233.so.1 </dev/null
    "$site/engine/host" "$site/engine/lib/libown.so"
    rm -r "$site/engine.libs"
    is "$(first dependency-missing "$site/engine/lib/libown.so")" 'reinstall engine 1.0'
    is "$(fixes_of dependency-missing checked log.jsonl | head -n 1)" replayed
    # No list has it: nothing is known to bring it.
    sed -i /libgomp/d "$site/engine-1.0.dist-info/RECORD"
    [[ $(first dependency-missing "$site/engine/lib/libown.so") != reinstall* ]]
}

@test "a library of CUDA's that its wheel lists, and that is gone, cut or a dead link, is put back" {
    library nvidia/cublas/lib/libcublasLt.so.12 <<<'int lt[4096] = {1};'
    library engine/lib/libown.so "$site/nvidia/cublas/lib/libcublasLt.so.12" -Wl,-rpath,"\$ORIGIN/../../nvidia/cublas/lib" <<<'int own;'
    package engine 1.0 engine/host engine/lib/libown.so <<<'nvidia-cublas-cu12'
    package nvidia-cublas-cu12 12.9.1.4 nvidia/cublas/lib/libcublasLt.so.12 </dev/null
    "$site/engine/host" libcublasLt.so.12 "$site/engine/lib/libown.so"
    cut=$site/nvidia/cublas/lib/libcublasLt.so.12
    mv "$cut" whole
    is "$(first cuda-dependency-differs libcublasLt.so.12)" 'reinstall nvidia-cublas-cu12 12.9.1.4'
    is "$(first dependency-missing "$site/engine/lib/libown.so")" 'reinstall nvidia-cublas-cu12 12.9.1.4'
    ln -s /gone/libcublasLt.so.12 "$cut"
    is "$(first bad-file libcublasLt.so.12)" 'reinstall nvidia-cublas-cu12 12.9.1.4'
    [[ $(fixes_of bad-file command log.jsonl | head -n 1) == "find ${cut%/*} -maxdepth 1 -type l"*" && "* ]]
    rm "$cut"
    head -c 100 whole >"$cut"
    is "$(first bad-file libcublasLt.so.12)" 'reinstall nvidia-cublas-cu12 12.9.1.4'
}

@test "a library of CUDA's that another wheel has overwritten, whose own needs more, is put back" { # NVIDIA/tensorflow#110
    local solver=nvidia/cusolver/lib/libcusolver.so.11
    library ../../../../libnvJitLink.so.12 <<<'int link;'
    library $solver <<<'int solver[4096] = {1};'
    package nvidia-cusolver-cu11 11.4.1.48 $solver </dev/null
    library nvidia/cublas/lib/libcublas.so.11 <<<'int blas;'
    library nvidia/cublas/lib/libcublasLt.so.11 <<<'int light;'
    cp "$site/$solver" whole
    library $solver libnvJitLink.so.12 <<<'int solver[9999] = {1};'
    rm libnvJitLink.so.12
    package nvidia-cusolver-cu12 11.7.1.2 $solver </dev/null
    export LD_LIBRARY_PATH=$site/nvidia/cublas/lib:$site/nvidia/cusolver/lib
    is "$(first dependency-missing libcusolver.so.11)" 'reinstall nvidia-cusolver-cu11 11.4.1.48'
    is "$(fixes_of dependency-missing checked log.jsonl | head -n 1)" replayed
    cp whole "$site/$solver"
    "$site/engine/host" libcusolver.so.11
    # What it needs of other makers no table has, nor what the package of another maker needs.
    library ../../../../libgomp-x.so.1 <<<'int omp;'
    library $solver libgomp-x.so.1 <<<'int solver[9999] = {1};'
    rm libgomp-x.so.1
    [[ $(first dependency-missing libcusolver.so.11) != reinstall* ]]
    library ../../../../libnvJitLink.so.12 <<<'int link;'
    library $solver libnvJitLink.so.12 <<<'int solver[9999] = {1};'
    rm libnvJitLink.so.12
    mv "$site/nvidia_cusolver_cu11-11.4.1.48.dist-info" "$site/solver-11.4.1.48.dist-info"
    sed -i 's/^Name:.*/Name: solver/' "$site/solver-11.4.1.48.dist-info/METADATA"
    [[ $(first dependency-missing libcusolver.so.11) != reinstall* ]]
}

@test "a library of CUDA's that its wheel lists, and that is gone: scan says so, whatever needs it" {
    library nvidia/cublas/lib/libcublas.so.12 <<<'int blas;'
    library nvidia/cublas/lib/libcublasLt.so.12 <<<'int light;'
    library nvidia/cublas/lib/libnvblas.so.12 <<<'int other;'
    library engine/lib/libown.so "$site/nvidia/cudnn/lib/libcudnn.so.9" -Wl,-rpath,"\$ORIGIN/../../nvidia/cudnn/lib" \
        <<<'int cudnnCreate(void); int own(void) { return cudnnCreate(); }'
    package engine 1.0 engine/lib/libown.so </dev/null
    package nvidia-cublas-cu12 12.9.1.4 nvidia/cublas/lib/lib{cublas,cublasLt,nvblas}.so.12 </dev/null
    says() { "$CMD" scan --json "$site" | jq -r ".reports[].findings[] | .id, .title, .fix[0].text, .fix[0].checked"; }
    is "$(says)" ''
    rm "$site/nvidia/cublas/lib/libnvblas.so.12" # neither cuDNN nor its hosts use it
    is "$(says)" ''
    rm "$site/nvidia/cublas/lib/libcublas.so.12"
    is "$(says)" 'installation-incomplete
1 of the 2 libraries of nvidia-cublas-cu12 12.9.1.4 is missing
reinstall nvidia-cublas-cu12 12.9.1.4
replayed'
}

@test "a library of CUDA's that its wheel lists, and that is gone, is put back where a toolkit's took its place" {
    local both=("$site"/nvidia/cublas/lib/libcublas{,Lt}.so.12)
    library nvidia/cublas/lib/libcublasLt.so.12 <<<'int light[4096] = {1};'
    library nvidia/cublas/lib/libcublas.so.12 "${both[1]}" -Wl,-rpath,"\$ORIGIN" <<<'int cublasCreate(void) { return 0; }'
    library engine/lib/libown.so "${both[@]}" "$site/nvidia/cudnn/lib/libcudnn.so.9" -Wl,--disable-new-dtags \
        -Wl,-rpath,"\$ORIGIN/../../nvidia/cublas/lib:\$ORIGIN/../../nvidia/cudnn/lib" \
        <<<'int cudnnCreate(void), cublasCreate(void); int own(void) { return cudnnCreate() + cublasCreate(); }'
    package engine 1.0 engine/host engine/lib/libown.so <<<'nvidia-cublas-cu12'
    package nvidia-cublas-cu12 12.9.1.4 nvidia/cublas/lib/libcublas{,Lt}.so.12 </dev/null
    mkdir -p cuda-12.9/lib64
    cp "${both[@]}" cuda-12.9/lib64
    rm "${both[0]}"
    LD_LIBRARY_PATH=$PWD/cuda-12.9/lib64 "$CMD" run -q --log log.jsonl -- "$site/engine/host" "$site/engine/lib/libown.so"
    is "$(fixes_of cuda-dependency-differs text log.jsonl | head -n 1)" 'reinstall nvidia-cublas-cu12 12.9.1.4'
    # One that is on no list: of the wheel nothing is gone.
    sed -i '/libcublas.so/d' "$site"/nvidia_cublas*/RECORD
    is "$(fixes_of cuda-dependency-differs text log.jsonl | head -n 1)" \
        'remove the directory of the other installation from LD_LIBRARY_PATH'
}

@test "where a file lies beside a wheel's own, the wheel stays, though another copy would take its place" {
    make_standin 9.8.0 other
    library engine/lib/libown.so "$site/nvidia/cudnn/lib/libcudnn.so.9" -Wl,-rpath,"\$ORIGIN/../../nvidia/cudnn/lib:$PWD/other" \
        <<<'int cudnnCreate(void); int own(void) { return cudnnCreate(); }'
    package engine 1.0 engine/host engine/lib/libown.so </dev/null
    ln -s "$PWD/other/libcudnn_ops.so.9" "$site/nvidia/cudnn/lib/libcudnn_ops.so.9.1"
    "$CMD" run -q --log log.jsonl -- "$site/engine/host" "$site/engine/lib/libown.so"
    is "$(fixes_of installation-mixed text log.jsonl)" "remove $site/nvidia/cudnn/lib/libcudnn_ops.so.9.1, which no package installed"
}

@test "a release that the asking package requires is installed, and both are named" {
    library famcore/lib/libfam_core.so <<<'int fam_old(void) { return 0; }'
    library famgpu/lib/libfam_gpu.so "$site/famcore/lib/libfam_core.so" "$site/nvidia/cudnn/lib/libcudnn.so.9" \
        -Wl,-rpath,"\$ORIGIN/../../famcore/lib:\$ORIGIN/../../nvidia/cudnn/lib" <<<'int fam_launch(void); void *p = fam_launch;'
    package fam-core 1.4.0 famcore/lib/libfam_core.so </dev/null
    package fam-gpu 2.0.0 famgpu/lib/libfam_gpu.so <<<'fam-core (>=2.0, <3)'
    is "$(first symbol-version-not-found "$site/famgpu/lib/libfam_gpu.so")" 'install fam-core>=2.0,<3, which fam-gpu 2.0.0 requires'
    is "$(fixes_of symbol-version-not-found checked log.jsonl | head -n 1)" replayed
    # Another package requires the one that is there.
    package fam-tools 1.0 <<<'fam-core==1.4.0'
    [[ $(first symbol-version-not-found "$site/famgpu/lib/libfam_gpu.so") == *'into separate environments'* ]]
    # Of a release that it accepts nothing is known.
    package fam-gpu 2.0.0 famgpu/lib/libfam_gpu.so <<<'fam-core>=1'
    [[ $(first symbol-version-not-found "$site/famgpu/lib/libfam_gpu.so") != "install fam-core"* ]]
}

@test "what conda's records list and require counts as what wheels do" {
    local in=../../../../conda lib=$PWD/conda/lib module=lib/python3.8/site-packages/cupy/cusparse.so
    printf 'libcusparse.so.10 { global: *; };' >map
    library "$in/lib/libcusparse.so.10" -Wl,--version-script=map <<<'int cusparseNew(void) { return 0; }'
    library "$in/$module" "$lib/libcusparse.so.10" "$site/nvidia/cudnn/lib/libcudnn.so.9" \
        -Wl,-rpath,"\$ORIGIN/../../..:$site/nvidia/cudnn/lib" <<<'int cusparseNew(void); void *p = cusparseNew;'
    library "$in/lib/libcusparse.so.10" -Wl,--version-script=map <<<'int cusparseOld(void) { return 0; }'
    record cudatoolkit-10.1.243-h0_6 lib/libcusparse.so.10 '__glibc >=2.17'
    record cupy-8.2.0-py38_0 "$module" 'python' 'cudatoolkit >=10.2,<10.3' 'python_abi 3.8.* *_cp38'
    is "$(first symbol-version-not-found "$PWD/conda/$module")" 'install cudatoolkit>=10.2,<10.3, which cupy 8.2.0 requires'
    is "$(fixes_of symbol-version-not-found checked log.jsonl | head -n 1)" replayed
    record cupy-8.2.0-py38_0 "$module" 'cudatoolkit 10.1|10.1.*'
    [[ $(first symbol-version-not-found "$PWD/conda/$module") != "install cudatoolkit"* ]]
    rm "$lib/libcusparse.so.10"
    is "$(first dependency-missing "$PWD/conda/$module")" 'reinstall cudatoolkit 10.1.243'
}

@test "a library of CUDA's that a file of conda's needs: of the CUDA that it is of" {
    local in=../../../../conda lib=$PWD/conda/lib module=lib/python3.8/site-packages/cupy/core.so
    library "$in/lib/libcublas.so.9.0" <<<'int blas;'
    library "$in/$module" "$lib/libcublas.so.9.0" -Wl,-rpath,"\$ORIGIN/../../.." <<<'int core;'
    mv "$lib"/libcublas.so.9.{0,2}
    record cudatoolkit-9.2-0 lib/libcublas.so.9.2
    record cudnn-7.3.1-cuda9.2_0 lib/libcudnn.so.7 'cudatoolkit 9.2.*'
    record cupy-5.1.0-py38_0 "$module" 'cudatoolkit >=9.0'
    is "$(first dependency-missing "$PWD/conda/$module")" 'install cudatoolkit==9.0.*'
    is "$(fixes_of dependency-missing checked log.jsonl | head -n 1)" replayed
    # What else there requires it has no other build; and what pip brought is not conda's.
    record lensflow-1.0-0 lib/liblens.so 'cudatoolkit 9.2.*'
    [[ $(first dependency-missing "$PWD/conda/$module") != "install cudatoolkit"* ]]
    rm conda/conda-meta/{lensflow,cupy}*
    [[ $(first dependency-missing "$PWD/conda/$module") != "install cudatoolkit"* ]]
}

@test "a part of the cuDNN that a framework's own package brings is gone: of conda's, of a wheel" { # dust3r#198
    local in=lib/python3.8/site-packages/torch/lib
    make_standin 8.5.0 "$PWD/conda/$in"
    cp -r "conda/$in" "$site/engine"
    mkdir conda/conda-meta
    (cd conda && printf '%s\n' "$in"/*) |
        jq -nR '{files: [inputs]}' >conda/conda-meta/pytorch-2.0.1-py3.8_cuda11.7_cudnn8.5.0_0.json
    rm "conda/$in/libcudnn_cnn_infer.so.8"
    is "$(first installation-incomplete "$PWD/conda/$in"/libcudnn{,_cnn_infer}.so.8)" 'reinstall pytorch 2.0.1'
    is "$(fixes_of installation-incomplete checked log.jsonl)" replayed
    package torch 1.13.1 engine/host engine/lib/libcudnn{,_{ops,cnn,adv}_{infer,train}}.so.8 </dev/null
    rm "$site/engine/lib/libcudnn_cnn_infer.so.8"
    is "$(first installation-incomplete "$site"/engine/lib/libcudnn{,_cnn_infer}.so.8)" 'reinstall torch 1.13.1'
    is "$(fixes_of installation-incomplete checked log.jsonl)" replayed
}

@test "a Python fails, and its framework's package lacks libraries: told without any cuDNN; not where it works" {
    local capi=onnxruntime/capi
    library "$capi/libonnxruntime_providers_shared.so" <<<'int shared;'
    library "$capi/onnxruntime_pybind11_state.so" <<<'int state;'
    package onnxruntime-gpu 1.18.1 "$capi"/{libonnxruntime_providers_shared,onnxruntime_pybind11_state}.so </dev/null
    ln -s "$(python3 -c 'import sys; print(sys.executable)')" venv/bin/python
    echo 'import sys; sys.exit(int(sys.argv[1]))' >exits.py
    exits() { run "$CMD" run --log log.jsonl -- venv/bin/python exits.py "$1"; }
    exits 1
    is "${lines[0]}" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    rm "$site/$capi/onnxruntime_pybind11_state.so"
    exits 0
    is "$output" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    exits 1
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"1 of the 2 libraries of onnxruntime-gpu 1.18.1 is missing"* ]]
    is "$(fixes_of installation-incomplete text log.jsonl | head -n 1)" 'reinstall onnxruntime-gpu 1.18.1'
    is "$(fixes_of installation-incomplete checked log.jsonl | head -n 1)" replayed
    [[ $("$CMD" scan venv | tr -s ' \n' ' ') == *"1 of the 2 libraries of onnxruntime-gpu 1.18.1 is missing"* ]]
}

@test "what a process that was started failed to load, and did not ask the loader about, is told where the command failed" {
    library backends/libcublas.so.77 <<<'int blas;'
    library backends/libggml-cuda.so "$site/backends/libcublas.so.77" <<<'int backend;'
    "${CC:-gcc}" -o runner -x c - <<'C'
#include <dlfcn.h>
int main(int argc, char **argv) { return argc > 1 && dlopen(argv[1], RTLD_NOW) ? 3 : 0; }
C
    rm "$site/backends/libcublas.so.77"
    run "$CMD" run --log logs/ -- sh -c './runner "$1"; exit 1' - "$site/backends/libggml-cuda.so"
    [[ $output == *"error[dependency-missing]: libggml-cuda.so could not be loaded: it needs"*"libcublas.so.77, which was not found"* ]]
    rm -r logs
    run -0 "$CMD" run --log logs/ -- sh -c './runner "$1"' - "$site/backends/libggml-cuda.so"
    [[ $output != *error* ]]
}

@test "of a host that asks for several by their names, the repair with which it finds all comes first" {
    site=$PWD/new/lib/python3.12/site-packages
    mkdir -p "$site"
    of_python new
    make_standin 8.9.7 "$site" --layout pip --build 29
    library ../../libcublas.so.12 <<<'int blas;'
    library tf/libtf.so <<'C'
#include <dlfcn.h>
int open_all(void) {
    void *blas = dlopen("libcublas.so.12", RTLD_NOW);
    return !dlopen("libcudnn.so.8", RTLD_NOW) || !blas;
}
C
    "${CC:-gcc}" -o tf -x c - <<'C'
#include <dlfcn.h>
int main(int argc, char **argv) {
    void *tf = dlopen(argv[argc - 1], RTLD_NOW);
    return ((int (*)(void))dlsym(tf, "open_all"))();
}
C
    run ! "$CMD" run -q --log log.jsonl -- ./tf "$site/tf/libtf.so"
    eval "$(fixes_of library-not-found command log.jsonl | head -n 1)"
    run -0 ./tf "$site/tf/libtf.so"
}

@test "in an unpacked image the usual places of a driver and of toolkits are looked into, too" {
    mkdir -p image/usr/bin image/usr/local/{cuda-12.4/targets/x86_64-linux/lib,nvidia/lib64} image/home/app
    cp "$site/engine/host" image/usr/bin/host
    library ../../../../image/usr/local/cuda-12.4/targets/x86_64-linux/lib/libcublas.so.12 <<<'int blas;'
    library ../../../../image/usr/local/nvidia/lib64/libcuda.so.1 <<<'int driver;'
    for one in usr/local/cuda-12.4/targets/x86_64-linux/lib/libcublas.so.12 usr/local/nvidia/lib64/libcuda.so.1; do
        library ../../../../image/home/app/libown.so "image/$one" "$site/nvidia/cudnn/lib/libcudnn.so.9" \
            -Wl,-rpath,"$site/nvidia/cudnn/lib" <<<'int own;'
        rm -f log.jsonl
        run ! "$CMD" run -q --log log.jsonl -- image/usr/bin/host "$PWD/image/home/app/libown.so"
        is "$("$CMD" report --json log.jsonl | jq -r '.findings[0].fix[0] | .checked, .command')" \
            "replayed
export LD_LIBRARY_PATH=$PWD/image/${one%/*}"
    done
}

@test "a pin on a library of CUDA's counts as one on cuDNN does" {
    printf 'libcublasLt.so.12 { global: *; };' >map
    library nvidia/cublas/lib/libcublasLt.so.12 -Wl,--version-script=map <<<'int cublasLtNew(void) { return 0; }'
    library fast/lib/libfast.so "$site/nvidia/cublas/lib/libcublasLt.so.12" "$site/nvidia/cudnn/lib/libcudnn.so.9" \
        -Wl,-rpath,"\$ORIGIN/../../nvidia/cublas/lib:\$ORIGIN/../../nvidia/cudnn/lib" <<<'int cublasLtNew(void); void *p = cublasLtNew;'
    library nvidia/cublas/lib/libcublasLt.so.12 -Wl,--version-script=map <<<'int cublasLtOld(void) { return 0; }'
    package nvidia-cublas-cu12 12.4.5.8 nvidia/cublas/lib/libcublasLt.so.12 </dev/null
    package fast 1.0 fast/lib/libfast.so <<<'nvidia-cublas-cu12>=12.9'
    is "$(first symbol-version-not-found "$site/fast/lib/libfast.so")" 'install nvidia-cublas-cu12>=12.9, which fast 1.0 requires'
    package old 1.0 <<<'nvidia-cublas-cu12==12.4.5.8'
    [[ $(first symbol-version-not-found "$site/fast/lib/libfast.so") == *'into separate environments'* ]]
    # Where nothing says which release has it, a newer one may: cupynumeric#1225.
    rm -r "$site"/old-1.0.dist-info
    package fast 1.0 fast/lib/libfast.so </dev/null
    is "$(first symbol-version-not-found "$site/fast/lib/libfast.so")" 'install a release of the library that has cublasLtNew'
    [[ $(fixes_of symbol-version-not-found command log.jsonl) == *install*"'nvidia-cublas-cu12>12.4.5.8,<13'" ]]
    is "$(fixes_of symbol-version-not-found why log.jsonl)" 'which functions a newer nvidia-cublas-cu12 has is not known'
    # What else it would break is said; a library of another major that has that name no newer one brings.
    package train 2.6.0 <<<'nvidia-cublas-cu12==12.4.5.8'
    fixes symbol-version-not-found "$site/fast/lib/libfast.so" >/dev/null
    [[ $(fixes_of symbol-version-not-found why log.jsonl) == 'train 2.6.0 requires ==12.4.5.8, and which'* ]]
    package train 2.6.0 <<<'nvidia-cublas-cu12<12.5,>=12.4'
    fixes symbol-version-not-found "$site/fast/lib/libfast.so" >/dev/null
    [[ $(fixes_of symbol-version-not-found why log.jsonl) == 'train 2.6.0 requires <12.5,>=12.4, and which'* ]]
    mv "$site"/nvidia/cublas/lib/libcublasLt.so.1{2,1}
    ln -s libcublasLt.so.11 "$site/nvidia/cublas/lib/libcublasLt.so.12"
    package nvidia-cublas-cu12 12.4.5.8 nvidia/cublas/lib/libcublasLt.so.11 </dev/null
    fixes symbol-version-not-found "$site/fast/lib/libfast.so" >/dev/null
    is "$(fixes_of symbol-version-not-found command log.jsonl)" null
}

none_of_the_computer() {
    ! ldconfig -p | grep -q -e 'libcudnn\.so\.8 ' -e 'libcudart\.so\.10\.0 ' || skip "this computer's would fill the gaps"
}

# program FILE LIBRARY [WORD]...: which needs that library.
program() {
    mkdir -p "$(dirname "$1")"
    "${CC:-gcc}" -o "$1" -x c - -x none -Wl,--no-as-needed,--allow-shlib-undefined "${@:2}" <<<'int main(void) { return 0; }'
}

@test "a copy that lies near the program or what it searches is named" {
    none_of_the_computer
    make_standin 8.5.0 app/old/lib
    make_standin 8.9.7 app/opt/cudnn/lib
    make_standin 8.7.0 app/opt/other/lib
    program app/bin/infer app/opt/cudnn/lib/libcudnn.so.8
    run ! "$CMD" run -q --log log.jsonl -- app/bin/infer
    [[ $(fixes_of library-not-found command log.jsonl | head -n 1) == "export LD_LIBRARY_PATH=$PWD/app/"* ]]
    # What lies in a folder of its own, two levels above, may be anybody's.
    mkdir -p deep/er
    mv app/bin deep/er/
    cd deep/er
    run ! "$CMD" run -q --log other.jsonl -- bin/infer
    [[ $(fixes_of library-not-found command other.jsonl | head -n 1) != export* ]]
}

@test "a directory that a program searches by itself, and that is not there, is made a link" {
    none_of_the_computer
    make_standin 8.9.7 opt/cudnn/lib
    program opt/trainer/bin/trainer opt/cudnn/lib/libcudnn.so.8 -Wl,--enable-new-dtags,-rpath,"\$ORIGIN/../lib"
    run ! "$CMD" run -q --log log.jsonl -- opt/trainer/bin/trainer
    is "$(fixes_of library-not-found command log.jsonl | head -n 1)" "ln -s $PWD/opt/cudnn/lib $PWD/opt/trainer/lib"
    eval "$(fixes_of library-not-found command log.jsonl | head -n 1)"
    opt/trainer/bin/trainer
}

@test "two libraries of two folders are named together, and what a plug-in needs, whatever its name" {
    none_of_the_computer
    make_standin 8.9.7 opt/cudnn/lib
    site=$PWD/opt library cuda/lib64/libcudart.so.10.0 <<<'int cudaMalloc;'
    site=$PWD/opt library vendor/libtok.so.3 <<<'int tok;'
    program infer opt/cuda/lib64/libcudart.so.10.0 opt/cudnn/lib/libcudnn.so.8
    run ! "$CMD" run -q --log log.jsonl -- ./infer
    eval "$(fixes_of library-not-found command log.jsonl | head -n 1)"
    ./infer
    unset LD_LIBRARY_PATH
    site=$PWD/opt library build/addon.so "$PWD/opt/vendor/libtok.so.3" "$PWD/opt/cudnn/lib/libcudnn.so.8" -Wl,-rpath,"\$ORIGIN/../cudnn/lib" <<<'int own;'
    is "$(first dependency-missing "$PWD/opt/build/addon.so")" "set LD_LIBRARY_PATH to $PWD/opt/vendor"
}

@test "a library of its own that is cut ends the process, and is put back" {
    library engine/lib/libbig.so "$site/nvidia/cudnn/lib/libcudnn.so.9" -Wl,-rpath,"\$ORIGIN/../../nvidia/cudnn/lib" <<<'char big[400000] = {1};'
    package engine 1.0 engine/host engine/lib/libbig.so </dev/null
    truncate -s 9000 "$site/engine/lib/libbig.so"
    is "$(first bad-file "$site/engine/lib/libbig.so")" 'reinstall engine 1.0'
    [[ $(fixes_of bad-file command log.jsonl | head -n 1) != find* ]]
}

@test "where a package brings an older library into the process first, the one of the system is preloaded" {
    local function=_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l # GLIBCXX_3.4.9
    printf 'GLIBCXX_3.4 { global: *; };' >map
    library audio/lib/libstdc++.so.6 -Wl,--version-script=map <<<'int first(void) { return 0; }'
    library audio/lib/libaudio.so "$site/audio/lib/libstdc++.so.6" -Wl,-rpath,"\$ORIGIN" <<<'int audio;'
    library train/lib/libtrain.so "$site/nvidia/cudnn/lib/libcudnn.so.9" -lstdc++ \
        -Wl,-rpath,"\$ORIGIN/../../nvidia/cudnn/lib" <<<"int $function(void); void *p = $function;"
    "$site/engine/host" "$site/train/lib/libtrain.so"
    fixes symbol-version-not-found "$site/audio/lib/libaudio.so" "$site/train/lib/libtrain.so"
    eval "$(fixes_of symbol-version-not-found command log.jsonl | head -n 1)"
    [[ $LD_PRELOAD == */libstdc++.so.6 ]]
    "$site/engine/host" "$site/audio/lib/libaudio.so" "$site/train/lib/libtrain.so"
}

@test "another copy nearby is taken in place of one that is refused, or is not the right one" {
    none_of_the_computer
    make_standin 8.5.0 opt/old/lib
    make_standin 8.9.7 opt/new/lib
    program infer opt/old/lib/libcudnn.so.8 -Wl,-rpath,"$PWD/opt/old/lib" -Wl,--enable-new-dtags
    export WHICHCUDNN_EXPECT='>=8.9'
    "$CMD" run -q --log log.jsonl -- ./infer || true
    is "$(fixes_of expectation-not-met text log.jsonl | head -n 1)" "set LD_LIBRARY_PATH to $PWD/opt/new/lib"
    unset WHICHCUDNN_EXPECT
    file=$(readlink -f opt/old/lib/libcudnn.so.8)
    head -c 100 "$file" >short && cp short "$file"
    run ! "$CMD" run -q --log cut.jsonl -- ./infer
    eval "$(fixes_of bad-file command cut.jsonl | head -n 1)"
    ./infer
}

# siliconflow/onediff#766: the loader names what is missing, and not the library that needs it.
@test "a cuDNN for another CUDA, whose cuBLAS is missing, is what needs it: the wheel for the host's CUDA repairs" {
    site=$PWD/new/lib/python3.12/site-packages
    mkdir -p "$site" toolkit system
    of_python new
    library ../../../../toolkit/libcublas.so.12 <<<'int cublas12;'
    library ../../../../toolkit/libcublas.so.11 <<<'int cublas11;'
    library ../../../../system/libcudnn.so.8 "$PWD/toolkit/libcublas.so.11" <<<'int cudnnCreate(void **h) { return h != 0; }'
    library flow/_flow.so "$PWD/toolkit/libcublas.so.12" "$PWD/system/libcudnn.so.8" \
        -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib:\$ORIGIN/../nvidia/cublas/lib:$PWD/toolkit:$PWD/system" <<<'int flow;'
    package flow 1.0 flow/_flow.so <<<'numpy'
    rm toolkit/libcublas.so.11
    run ! "$CMD" run --log log.jsonl -- venv/lib/python3.12/site-packages/engine/host "$site/flow/_flow.so"
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"_flow.so could not be loaded: libcudnn.so.8 needs libcublas.so.11, which was not found"* ]]
    is "$(jq -r 'select(.kind == "search" and .name == "libcublas.so.11").caller' log.jsonl)" "$PWD/system/libcudnn.so.8"
    is "$(fixes_of dependency-missing text log.jsonl | head -n 1)" "install nvidia-cudnn-cu12>=8,<9"
    is "$(fixes_of dependency-missing checked log.jsonl | head -n 1)" replayed
}
