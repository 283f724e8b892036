#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn scan: what is there, and who would get what, before anything runs.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    export POOL=$BATS_FILE_TMPDIR/pool
    local v m
    mkdir "$POOL"
    for v in 9.3.0 8.9.2 7.6.5; do
        make_standin "$v" "$POOL/$v"
        for m in lazy now address stub dlopen; do
            build_host "library-$m" "$POOL/$v" "$BATS_FILE_TMPDIR/host" -Wl,--enable-new-dtags
            mv "$BATS_FILE_TMPDIR/host.so" "$POOL/$v/host-$m.so"
        done
    done
    make_standin --layout pip 9.1.0 "$POOL/pip"
    mkdir "$POOL/all"
    cp "$POOL"/{9.3.0,8.9.2,7.6.5}/lib* "$POOL/all"
    for v in 9.3.0 8.9.2; do
        for m in lazy now address stub dlopen; do
            cp "$POOL/$v/host-$m.so" "$POOL/all/host-$m-$v.so"
        done
        build_host lazy "$POOL/$v" "$BATS_FILE_TMPDIR/program.so"
        cp "$BATS_FILE_TMPDIR/program.so" "$POOL/all/program-$v.so"
    done
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o "$POOL/all/libnothing.so"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
}

scan() { "$CMD" scan "$@"; }
validate_scan() { "$PY" "$WC_ROOT/tests/schema/validate.py" scan "$@"; }
# Roles and paths of one environment's objects: "facade 9.3.0 /path".
objects() { # REPORT [ROLE]
    jq -r --arg role "${2:-}" '.reports['"$1"'].stack.objects[]
        | select($role == "" or .role == $role) | "\(.role) \(.version) \(.real_path)"' scan.json
}

# A wheel's site-packages in an environment of its own, with a host package beside.
make_environment() { # VERSION REQUIRED
    mkdir -p env/lib/python3.12/site-packages/frame
    of_python env
    make_standin --layout pip "$1" env/lib/python3.12/site-packages
    site=$PWD/env/lib/python3.12/site-packages
    build_host library-lazy "$site/nvidia/cudnn/lib" frame --no-rpath \
        -Wl,--disable-new-dtags -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    mv frame.so "$site/frame/_C.so"
    mkdir "$site/frame-2.0.dist-info"
    printf 'Metadata-Version: 2.1\nName: frame\nVersion: 2.0\nRequires-Dist: nvidia-cudnn-cu12%s\n' "$2" \
        >"$site/frame-2.0.dist-info/METADATA"
    echo 'frame/_C.so,,' >"$site/frame-2.0.dist-info/RECORD"
}

# ---- what is there ----

@test "every copy: version, SONAME, build-id, installation; hashed and renamed ones, links once" {
    mkdir -p t/bundle.libs t/toolkit
    cp "$POOL/8.9.2/libcudnn.so.8" t/bundle.libs/libcudnn-1a2b3c4d.so.8
    cp "$POOL/9.3.0/libcudnn_graph.so.9" t/renamed.so
    make_standin --layout toolkit 9.3.0 t/cuda-12.4
    cp -r "$POOL/pip" t/site-packages
    run -0 --separate-stderr scan --json t
    is "$stderr" ""
    echo "$output" >scan.json
    validate_scan scan.json
    is "$(jq -r '.copies[] | select(.path | contains("1a2b3c4d")) | "\(.role) \(.soname)"' scan.json)" \
        "facade libcudnn.so.8"
    is "$(jq -r '.copies[] | select(.path | endswith("renamed.so")) | "\(.role) \(.part) \(.version)"' scan.json)" \
        "part graph 9.3.0"
    is "$(jq -r '[.copies[] | select(.path | contains("cuda-12.4/lib64/libcudnn.so"))] | length' scan.json)" 1
    is "$(jq -r '.copies[] | select(.path | contains("cuda-12.4/lib64/libcudnn.so")) | .installation, .version' scan.json | xargs)" \
        "cuda-12.4 9.3.0"
    is "$(jq -r '[.copies[] | select(.path | contains("site-packages")) | .installation] | unique | .[]' scan.json)" \
        nvidia-cudnn-cu12
    want=$(readelf -n t/renamed.so | sed -n 's/.*Build ID: //p')
    is "$(jq -r '.copies[] | select(.path | endswith("renamed.so")) | .build_id' scan.json)" "$want"
    run -0 scan -v --color=never t
    [[ $output == *"graph renamed.so  9.3.0 (data symbol), SONAME libcudnn_graph.so.9, build-id $want"* ]]
    [[ $output == *"/t/site-packages/nvidia/cudnn/lib: wheel nvidia-cudnn-cu12 9.1.0.0"* ]]
}

@test "the same as find and readelf, on drawn trees" {
    local seed base=${SEED:-$RANDOM}
    for seed in $base $((base + 1)) $((base + 2)) $((base + 3)); do
        echo "seed $seed"
        mkdir "tree$seed"
        "$PY" "$WC_ROOT/tests/oracle/scan_oracle.py" --make "$seed" "$POOL/all" "tree$seed"
        "$PY" "$WC_ROOT/tests/oracle/scan_oracle.py" "tree$seed" "$CMD"
    done
}

@test "the oracle notices a copy or a host that is not told" {
    cat >less <<END
#!/bin/sh
"$CMD" "\$@" | jq '.copies |= .[1:]'
END
    chmod +x less
    cp -r "$POOL/9.3.0" t
    run -1 "$PY" "$WC_ROOT/tests/oracle/scan_oracle.py" t ./less
    [[ $output == *"copy "*"scan None"* ]]
    sed -i 's/\.copies.*/.reports |= map(.stack.objects |= map(select(.role != "host")))'"'"'/' less
    run -1 "$PY" "$WC_ROOT/tests/oracle/scan_oracle.py" t ./less
    [[ $output == *"host "*"not told"* ]]
}

# ---- who would get what ----

@test "a program: what it gets by its RUNPATH is what it then gets" {
    build_host lazy "$POOL/9.3.0" linked
    build_host dlopen "$POOL/9.3.0" opens
    for program in linked opens; do
        run -0 --separate-stderr scan --json "$program"
        echo "$output" >scan.json
        validate_scan scan.json
        is "$(objects 0 facade)" "facade 9.3.0 $POOL/9.3.0/libcudnn.so.9"
        is "$(jq -r '.reports[0].stack.searches[] | select(.name == "libcudnn.so.9") | .rule' scan.json)" DT_RUNPATH
        WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$program.jsonl LD_PRELOAD=$SHIM "./$program" >/dev/null
        "$CMD" report --json "$program.jsonl" >report.json || true
        is "$(jq -r '.stack.objects[] | select(.role == "facade") | "facade \(.version) \(.real_path)"' report.json)" \
            "$(objects 0 facade)"
        # Each part that came in was foreseen; others would come with other calls.
        jq -r '.stack.objects[] | select(.role == "part") | .real_path' report.json | sort >came
        objects 0 part | cut -d' ' -f3- | sort >foreseen
        is "$(comm -23 came foreseen)" ""
        [ -s came ]
    done
}

@test "a host that opens cuDNN by name, with such a name in its search path" {
    mkdir -p env/site-packages/frame
    cp -r "$POOL/9.3.0" libcudnn9
    build_host library-dlopen "$POOL/9.3.0" frame --no-rpath -Wl,-rpath,"$PWD/libcudnn9"
    mv frame.so env/site-packages/frame/_C.so
    scan --json env >scan.json
    is "$(objects 0 facade)" "facade 9.3.0 $PWD/libcudnn9/libcudnn.so.9"
}

@test "LD_LIBRARY_PATH: the own one, --ld-library-path, --env in lines and with NULs" {
    build_host lazy "$POOL/9.3.0" linked --no-rpath
    make_standin 9.1.0 other
    one=$POOL/9.3.0/libcudnn.so.9 two=$PWD/other/libcudnn.so.9
    LD_LIBRARY_PATH=$POOL/9.3.0 scan --json linked >scan.json
    is "$(objects 0 facade)" "facade 9.3.0 $one"
    LD_LIBRARY_PATH=$POOL/9.3.0 scan --json --ld-library-path "$PWD/other" linked >scan.json
    is "$(objects 0 facade)" "facade 9.1.0 $two"
    printf 'HOME=/\nLD_LIBRARY_PATH=%s\nX=a b\n' "$PWD/other" >lines
    LD_LIBRARY_PATH=$POOL/9.3.0 scan --json --env lines linked >scan.json
    is "$(objects 0 facade)" "facade 9.1.0 $two"
    # What stands behind a newline is a part of X.
    printf 'X=a\nLD_LIBRARY_PATH=/\0LD_LIBRARY_PATH=%s\0' "$PWD/other" >nuls
    LD_LIBRARY_PATH=$POOL/9.3.0 scan --json --env nuls linked >scan.json
    is "$(objects 0 facade)" "facade 9.1.0 $two"
    is "$(jq -r '.reports[0].stack.process.environment[]' scan.json)" "LD_LIBRARY_PATH=$PWD/other"
    scan --json --env nuls --ld-library-path "$POOL/9.3.0" linked >scan.json
    is "$(objects 0 facade)" "facade 9.3.0 $one"
}

@test "what is missing: an error, predicted, with the copy that is there" {
    build_host lazy "$POOL/8.9.2" linked --no-rpath
    run -1 --separate-stderr scan --json linked
    echo "$output" >scan.json
    is "$(jq -r '.reports[0].findings[0] | "\(.id) \(.predicted)"' scan.json)" "library-not-found true"
    CUDA_HOME=$PWD/cuda
    export CUDA_HOME
    make_standin --layout toolkit 8.9.2 cuda
    run -1 scan --color=never linked
    [[ $output == *"error[library-not-found]: linked needs libcudnn.so.8, which was not found"* ]]
    # A long command is continued on a line of its own.
    [[ ${output//$'\\\n            '/} == *"export LD_LIBRARY_PATH=$PWD/cuda/lib64"* ]]
}

@test "an environment: too old for what its package requires; the healthy twin is silent" {
    make_environment 9.1.0 '>=9.8'
    run -1 --separate-stderr scan --json env
    echo "$output" >scan.json
    validate_scan scan.json
    is "$(jq -r '.reports | length' scan.json)" 1
    is "$(jq -r '.reports[0].sources[0] | "\(.type) \(.path)"' scan.json)" "scan $site"
    is "$(jq -r '.reports[0].findings[] | "\(.id) \(.predicted)"' scan.json)" "runtime-too-old true"
    rm -rf env
    make_environment 9.9.0 '>=9.8'
    run -0 --separate-stderr scan --color=never env
    [[ $output == *$'\ncuDNN 9.9.0 from '*$'\nok\n'* && $output != *finding* ]]
    VIRTUAL_ENV=$PWD/env run -0 scan --color=never
    [[ $output == "scan of $PWD/env: "* ]]
}

@test "two packages of one environment that no release suits" {
    make_environment 9.1.0 '<9.5'
    mkdir "$site/other" "$site/other-1.0.dist-info"
    cp "$site/frame/_C.so" "$site/other/_C.so"
    sed 's/frame/other/; s/<9.5/>=9.8/; s/2\.0$/1.0/' "$site/frame-2.0.dist-info/METADATA" \
        >"$site/other-1.0.dist-info/METADATA"
    echo 'other/_C.so,,' >"$site/other-1.0.dist-info/RECORD"
    run -1 --separate-stderr scan --json env
    echo "$output" >scan.json
    [[ " $(jq -r '[.reports[0].findings[].id] | join(" ")' scan.json) " == *" demands-conflict "* ]]
}

@test "what JAX opens by its path comes first; what another package has loaded is there" {
    make_environment 9.9.0 '>=9.8'
    mkdir -p "$site/jax_plugins/xla_cuda12" "$site/ext"
    # By its own search it finds nothing.
    build_host library-stub "$POOL/9.3.0" plugin --no-rpath
    mv plugin.so "$site/jax_plugins/xla_cuda12/xla_cuda_plugin.so"
    # One that relies on a library of another package.
    echo 'int base(void) { return 1; }' | "${CC:-gcc}" -shared -fPIC -x c - -x none \
        -Wl,--no-as-needed "$site/nvidia/cudnn/lib/libcudnn.so.9" -Wl,--disable-new-dtags \
        -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib" -Wl,-soname,libbase.so -o "$site/frame/libbase.so"
    build_host library-lazy "$site/nvidia/cudnn/lib" ext --no-rpath -Wl,--no-as-needed \
        "$site/frame/libbase.so"
    mv ext.so "$site/ext/_C.so"
    run -0 --separate-stderr scan --json env
    echo "$output" >scan.json
    is "$(jq -r '[.reports[0].stack.objects[] | select(.role == "host")] | length' scan.json)" 4
    is "$(jq -c '.reports[0].stack.failures' scan.json)" '[]'
    is "$(objects 0 facade)" "facade 9.9.0 $site/nvidia/cudnn/lib/libcudnn.so.9"
}

# ---- who brings a host in ----

# As auditwheel leaves them: a host, and the facade that it needs under a name with a hash, in
# NAME.libs; the extension that needs the host is all that has a search path. Below a root of its
# own, so that this computer's cuDNN does not fill the gaps.
make_grafted() { # VERSION PACKAGE LIBS [WHAT THE EXTENSION SEARCHES]
    local hashed="libcudnn-1a2b3c4d.so.$1" libs facade
    site=/env/lib/python3.12/site-packages
    libs=root$site/$3
    mkdir -p "$libs" "root$site/$2"
    facade=$(basename "$POOL/$1"/libcudnn.so.?)
    cp "$POOL/$1/$facade" "$libs/$hashed"
    patchelf --set-soname "$hashed" --force-rpath --set-rpath "\$ORIGIN" "$libs/$hashed"
    cp "$POOL/$1/host-lazy.so" "$libs/libframe-5e6f7a8b.so.4.6.0"
    patchelf --remove-rpath "$libs/libframe-5e6f7a8b.so.4.6.0"
    patchelf --replace-needed "$facade" "$hashed" "$libs/libframe-5e6f7a8b.so.4.6.0"
    patchelf --set-soname libframe-5e6f7a8b.so.4.6.0 "$libs/libframe-5e6f7a8b.so.4.6.0"
    echo 'int init(void) { return 1; }' | "${CC:-gcc}" -shared -fPIC -x c - -x none \
        -o "root$site/$2/_ext.cpython-312-x86_64-linux-gnu.so" -Wl,--no-as-needed \
        "$libs/libframe-5e6f7a8b.so.4.6.0" -Wl,--allow-shlib-undefined \
        -Wl,--disable-new-dtags ${4:+"-Wl,-rpath,$4"}
    make_standin --layout flat "$1" root/parts
    rm -f root/parts/libcudnn.so*
}
found_by() { # NAME
    jq -r '.reports[].stack.searches[] | select(.name == "'"$1"'") | "\(.rule) \(.of // "-")"' scan.json
}
findings() { jq -r '[.reports[].findings[] | "\(.severity) \(.id)"] | join(", ")' scan.json; }

@test "a facade grafted into a wheel: found by the DT_RPATH of the extension that brings its host in" {
    local version
    for version in 8.9.2 9.3.0; do
        rm -rf root
        make_grafted "$version" frame frame.libs "\$ORIGIN/../frame.libs"
        scan --root root --json /env --ld-library-path /parts >scan.json
        is "$(objects 0 facade)" "facade $version $site/frame.libs/libcudnn-1a2b3c4d.so.$version"
        is "$(found_by "libcudnn-1a2b3c4d.so.$version")" \
            "DT_RPATH $site/frame/_ext.cpython-312-x86_64-linux-gnu.so"
        is "$(findings)" ""
        # The library alone, by its own path.
        scan --root root --json --ld-library-path /parts \
            "$site/frame.libs/libframe-5e6f7a8b.so.4.6.0" >scan.json
        is "$(findings)" ""
        is "$(jq -r '.reports[0].stack.failures | length' scan.json)" 0
    done
}

@test "an extension that does not search there: the host and its grafted facade are not found" {
    make_grafted 9.3.0 frame frame.libs
    run -1 scan --root root --json /env --ld-library-path /parts
    echo "$output" >scan.json
    [[ $(findings) == "error library-not-found" ]]
    # The folder has the name of the distribution, which is not that of what Python imports.
    rm -rf root
    make_grafted 9.3.0 frame frame_gpu.libs "\$ORIGIN/../frame_gpu.libs"
    scan --root root --json /env --ld-library-path /parts >scan.json
    is "$(findings)" ""
    scan --root root --json --ld-library-path /parts \
        "$site/frame_gpu.libs/libframe-5e6f7a8b.so.4.6.0" >scan.json
    is "$(findings)" ""
}

@test "a grafted facade without its parts: a warning, and no reinstallation; a copy of them is named" {
    make_grafted 9.3.0 frame frame.libs "\$ORIGIN/../frame.libs"
    run -0 scan --root root --json /env
    echo "$output" >scan.json
    [[ $(findings) == "warning part-missing" ]]
    jq -r '.reports[0].findings[0].fix[] | .text, .command' scan.json >fixes
    grep -q '^install nvidia-cudnn-cu12==9\.3\.0' fixes
    run -1 grep -i reinstall fixes
    # With NVIDIA's wheel of that release beside it.
    make_standin --layout pip 9.3.0 "root$site"
    run -0 scan --root root --json /env
    jq -r '.reports[0].findings[0].fix[0].command' <<<"$output" >fixes
    grep -qF "export LD_LIBRARY_PATH=$site/nvidia/cudnn/lib" fixes
    scan --root root --json --ld-library-path "$site/nvidia/cudnn/lib" /env >scan.json
    is "$(findings)" ""
}

@test "a grafted facade passes its calls on to newer parts: a warning; with older ones it is an error" {
    local facade parts severity
    while read -r facade parts severity; do
        rm -rf root
        make_grafted "$facade" frame frame.libs "\$ORIGIN/../frame.libs"
        rm -rf root/parts
        make_standin --layout flat "$parts" root/parts
        rm root/parts/libcudnn.so*
        scan --root root --json /env --ld-library-path /parts >scan.json || true
        [[ $(findings) == "$severity facade-and-parts-differ"* ]]
    done <<'END'
8.9.2 8.9.7 warning
8.9.2 8.5.0 error
9.3.0 9.8.0 warning
9.3.0 9.1.0 error
END
}

@test "two environments with the same names, or files (hard links, as uv makes): each has its own" {
    local links
    make_grafted 9.3.0 frame frame.libs "\$ORIGIN/../frame.libs"
    mkdir root/second
    for links in '' -l; do
        rm -rf root/second/env
        cp -r $links root/env root/second/env
        scan --root root --json / --ld-library-path /parts >scan.json
        is "$(findings)" ""
        is "$(jq -r '.reports[].stack.objects[] | select(.role == "facade") | .real_path' scan.json)" \
            "$site/frame.libs/libcudnn-1a2b3c4d.so.9.3.0
/second$site/frame.libs/libcudnn-1a2b3c4d.so.9.3.0"
    done
}

@test "programs of a directory: with what they need, and what these need by the program's DT_RPATH" {
    mkdir -p app/bin app/lib app/cudnn
    make_standin 9.3.0 app/cudnn
    build_host lazy "$POOL/9.3.0" app/bin/linked --no-rpath -Wl,-rpath,"\$ORIGIN/../cudnn"
    cp "$POOL/9.3.0/host-lazy.so" app/lib/libengine.so
    patchelf --remove-rpath --set-soname libengine.so app/lib/libengine.so
    echo 'int main(void) { return 0; }' | "${CC:-gcc}" -x c - -x none -o app/bin/tool \
        -Wl,--no-as-needed app/lib/libengine.so -Wl,--allow-shlib-undefined \
        -Wl,--disable-new-dtags -Wl,-rpath,"\$ORIGIN/../lib:\$ORIGIN/../cudnn"
    echo 'int main(void) { return 0; }' | "${CC:-gcc}" -x c - -o app/bin/other
    printf '#!/bin/sh\n' >app/bin/script
    chmod +x app/bin/script
    scan --json app >scan.json
    validate_scan scan.json
    is "$(jq -r '.reports[] | "\(.sources[0].path) \(.verdict)"' scan.json)" \
        "$PWD/app/bin/linked ok
$PWD/app/bin/tool ok"
    is "$(jq -r '[.reports[].stack.objects[] | select(.role == "facade") | .real_path] | unique | .[]' scan.json)" \
        "$PWD/app/cudnn/libcudnn.so.9"
    # What no program brings in stands for itself.
    rm app/bin/tool
    scan --json --ld-library-path "$PWD/app/cudnn" app >scan.json
    is "$(jq -r '.reports[].sources[0].path' scan.json)" "$PWD/app/bin/linked
$PWD/app/lib"
    # A program that finds none.
    build_host lazy "$POOL/8.9.2" app/bin/linked --no-rpath
    run -1 scan --color=never app/bin
    [[ $output == *"linked needs libcudnn.so.8, which was not found"* ]]
}

@test "what a wheel requires is told before a mixture of parts, which goes with that release" {
    make_environment 9.1.0 '>=9.8'
    rm "$site"/nvidia/cudnn/lib/libcudnn_ops.so.9
    sed -i /libcudnn_ops/d "$site"/nvidia_cudnn_cu12-*.dist-info/RECORD
    make_standin --only ops 9.9.0 elsewhere
    run -1 scan --json --ld-library-path "$PWD/elsewhere" env
    echo "$output" >scan.json
    is "$(jq -r '[.reports[0].findings[] | select(.severity == "error") | .id] | join(" ")' scan.json)" \
        "runtime-too-old parts-differ"
    jq -r '.reports[0].findings[] | select(.id == "parts-differ") | .fix[].command' scan.json >fixes
    grep -qF "pip install 'nvidia-cudnn-cu12>=9.8'" fixes
    run -1 grep -F 9.1.0 fixes
    # A mixture of what the wheel accepts is a mixture.
    rm -rf env elsewhere
    make_environment 9.9.0 '>=9.8'
    rm "$site"/nvidia/cudnn/lib/libcudnn_ops.so.9
    sed -i /libcudnn_ops/d "$site"/nvidia_cudnn_cu12-*.dist-info/RECORD
    make_standin --only ops 9.1.0 elsewhere
    run -1 scan --json --ld-library-path "$PWD/elsewhere" env
    echo "$output" >scan.json
    [[ $(findings) != *runtime-too-old* && $(findings) == *parts-differ* ]]
}

@test "JAX's plugin: by its own DT_RPATH, by a path where the package that opens it is there" {
    make_environment 9.9.0 '>=9.8'
    mkdir "$site/jax_cuda12_plugin"
    build_host library-dlopen "$site/nvidia/cudnn/lib" versions --no-rpath \
        -Wl,--disable-new-dtags -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    mv versions.so "$site/jax_cuda12_plugin/_versions.so"
    rm -r "$site"/frame*
    scan --json env >scan.json
    is "$(found_by libcudnn.so.9)" "DT_RPATH $site/jax_cuda12_plugin/_versions.so"
    # As a run says it.
    WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=jax.jsonl LD_PRELOAD=$SHIM "$PY" -c '
import ctypes, sys
getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])(0, None)' "$site/jax_cuda12_plugin/_versions.so" host_run || true
    "$CMD" report --json jax.jsonl >report.json || true
    is "$(jq -r '.stack.searches[] | select(.name == "libcudnn.so.9") | "\(.rule) \(.of)"' report.json)" \
        "$(found_by libcudnn.so.9)"
    mkdir -p "$site/jax_plugins/xla_cuda12"
    scan --json env >scan.json
    is "$(objects 0 facade)" "facade 9.9.0 $site/nvidia/cudnn/lib/libcudnn.so.9"
    is "$(found_by libcudnn.so.9)" ""
}

@test "a stub, which opens a name that it puts together: its repair is played" {
    unshare -Urm true || skip "no namespaces of users here"
    local site=env/lib/python3.12/site-packages
    of_python env
    mkdir -p "$site/jax_cuda12_plugin" "$site/jax_cuda12_plugin-0.10.2.dist-info"
    printf 'Metadata-Version: 2.1\nName: jax-cuda12-plugin\nVersion: 0.10.2\nRequires-Dist: nvidia-cudnn-cu12<10.0,>=9.8\n' \
        >"$site/jax_cuda12_plugin-0.10.2.dist-info/METADATA"
    printf 'jax_cuda12_plugin/_versions.so,,\n' >"$site/jax_cuda12_plugin-0.10.2.dist-info/RECORD"
    "${CC:-gcc}" -shared -fPIC -x c - -o "$site/jax_cuda12_plugin/_versions.so" \
        -Wl,--disable-new-dtags -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int cudnnCreate(void **handle) {
    char name[64];
    snprintf(name, sizeof(name), "lib%s.so.%d", "cudnn", 9);
    return ((int (*)(void **))dlsym(dlopen(name, RTLD_NOW), "cudnnCreate"))(handle);
}
END
    run -1 unshare -Urm sh -c 'mount --bind /dev/null /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh "$CMD" scan --json env
    is "$(jq -c '.reports[0].findings[0] | [.id, ([.fix[] | select(.action == "install")][0] | .command, .checked)]' <<<"$output")" \
        "[\"library-not-found\",\"pip install 'nvidia-cudnn-cu12<10.0,>=9.8'\",\"replayed\"]"
}

@test "cudnn-frontend: a copy in LD_LIBRARY_PATH by its path, else the wheel, else what the loader finds" {
    make_environment 9.9.0 '>=9.8'
    rm -r "$site"/frame*
    mkdir "$site/cudnn" "$site/other" without 9.8
    make_standin 9.8.0 9.8
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o "$site/cudnn/_compiled_module.cpython-312-x86_64-linux-gnu.so"
    scan --json env >scan.json
    is "$(objects 0 facade)" "facade 9.9.0 $site/nvidia/cudnn/lib/libcudnn.so.9"
    local odd='e[n]{v,*}' # its name is no pattern
    mv env "$odd"
    scan --json "$odd" >scan.json
    is "$(objects 0 facade)" "facade 9.9.0 $PWD/$odd/${site#"$PWD/env/"}/nvidia/cudnn/lib/libcudnn.so.9"
    mv "$odd" env
    scan --ld-library-path ":$PWD/without:$PWD/9.8:$POOL/9.3.0" --json env >scan.json
    is "$(objects 0 facade)" "facade 9.8.0 $PWD/9.8/libcudnn.so.9"
    is "$(found_by libcudnn.so.9)" ""
    mv "$site/nvidia/cudnn" "$site/nvidia/cudnn_jit"
    scan --json env >scan.json
    is "$(objects 0 facade)" "facade 9.9.0 $site/nvidia/cudnn_jit/lib/libcudnn.so.9"
    rm -r "$site"/nvidia*
    mkdir root
    mv env root
    run -1 scan --root root --json /env
    is "$(jq -c '[.reports[0].stack.failures[].name]' <<<"$output")" '["libcudnn.so.9","libcudnn.so"]'
    # Another package's module of that name.
    mv "root${site#"$PWD"}/cudnn" "root${site#"$PWD"}/another"
    run -3 scan --root root --json /env
    is "$(jq -c .reports <<<"$output")" '[]'
}

@test "Paddle opens the wheel by its path where it requires it" {
    make_environment 9.9.0 '>=9.8'
    mkdir -p "$site/paddle/libs" "$site/paddle/version"
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o "$site/paddle/libs/libphi.so"
    echo "cudnn_version = '9.3.0'" >"$site/paddle/version/__init__.py"
    rm -r "$site"/frame/
    mv "$site"/frame-2.0.dist-info "$site/paddlepaddle_gpu-3.1.dist-info"
    sed -i 's/frame/paddlepaddle-gpu/' "$site"/paddlepaddle_gpu-3.1.dist-info/METADATA
    echo 'paddle/libs/libphi.so,,' >"$site/paddlepaddle_gpu-3.1.dist-info/RECORD"
    scan --ld-library-path "$POOL/9.3.0" --json env >scan.json || [ $? -eq 1 ] # its parts are of that
    is "$(objects 0 facade)" "facade 9.9.0 $site/nvidia/cudnn/lib/libcudnn.so.9"
    sed -i /Requires-Dist/d "$site"/paddlepaddle_gpu-3.1.dist-info/METADATA
    scan --ld-library-path "$POOL/9.3.0" --json env >scan.json
    is "$(objects 0 facade)" "facade 9.3.0 $POOL/9.3.0/libcudnn.so.9"
}

# A package "sound" whose library needs CUDA's compiler by a name; $1: what its Python file says.
make_needy() {
    make_environment 9.9.0 '>=9.8'
    mkdir -p "$site"/{sound,nvidia/cuda_nvrtc/lib}
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o "$site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12" -Wl,-soname,libnvrtc.so.12
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -x none -o "$site/sound/libsound.so" -Wl,--no-as-needed \
        "$site"/nvidia/{cudnn/lib/libcudnn.so.9,cuda_nvrtc/lib/libnvrtc.so.12} -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    echo "$1" >"$site/sound/__init__.py"
}

@test "a host that needs a library of CUDA to which nothing leads, or which is not there, does not load" {
    make_needy 'import ctypes'
    rm -r "$site/frame"
    run -1 scan --color=never env
    [[ $output == *"error[dependency-missing]: libsound.so could not be loaded: it needs libnvrtc.so.12, which"* ]]
    # A long command is continued on a line of its own.
    [[ ${output//$'\\\n            '/} == *"LD_LIBRARY_PATH=$site/nvidia/cuda_nvrtc/lib"* && $output == *"no cuDNN would be loaded for libsound.so"* ]]
    run -0 scan --ld-library-path "$site/nvidia/cuda_nvrtc/lib" --json env
    mv "$site/nvidia/cuda_nvrtc" gone
    run -1 scan --color=never env
    [[ $output == *"error[dependency-missing]: libsound.so could not be loaded: it needs libnvrtc.so.12, which"* ]]
}

@test "a function that no library has: the host does not load; one that another library has may be there" {
    make_environment 9.9.0 '>=9.8'
    mkdir -p env/bin
    cp "$(readlink -f "$(command -v env)")" env/bin/python3.12 # its loader is that of this machine
    echo 'void plan_of_nobody(void); void *wanted = (void *)plan_of_nobody; void cudnnCreate(void); void *all = (void *)cudnnCreate;' |
        "${CC:-gcc}" -shared -fPIC -x c - -x none -o "$site/frame/_C.so" "$site/nvidia/cudnn/lib/libcudnn.so.9" \
            -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    run -1 scan --color=never env
    [[ $(tr -s "[:space:]" " " <<<"$output") == *"error[symbol-version-not-found]: _C.so was linked with other libraries than it found: plan_of_nobody is in none"* ]]
    echo 'void plan_of_nobody(void) {}' | "${CC:-gcc}" -shared -fPIC -x c - -o "$site/another.so"
    scan --json env >scan.json
    is "$(findings)" ""
}

@test "a function of a library of CUDA that the one found does not have: as the run tells it, with its repair" {
    make_needy 'import ctypes'
    rm -r "$site/frame"
    mkdir old cuda
    echo 'libnvrtc.so.12 { global: *; };' >map
    for dir in old cuda; do
        echo "void of_$dir(void) {}" | "${CC:-gcc}" -shared -fPIC -x c - -o "$dir/libnvrtc.so.12" -Wl,-soname,libnvrtc.so.12 \
            -Wl,--version-script=map
    done
    cp cuda/libnvrtc.so.12 "$site/nvidia/cuda_nvrtc/lib"
    echo 'void of_cuda(void); void *wanted = (void *)of_cuda;' | "${CC:-gcc}" -shared -fPIC -x c - -x none \
        -o "$site/sound/libsound.so" -Wl,--no-as-needed "$site"/nvidia/{cudnn/lib/libcudnn.so.9,cuda_nvrtc/lib/libnvrtc.so.12} \
        -Wl,--enable-new-dtags -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib:\$ORIGIN/../nvidia/cuda_nvrtc/lib"
    scan --json env >scan.json
    is "$(findings)" ""
    run -1 scan --color=never --ld-library-path "$PWD/old" env
    [[ $output == *"error[symbol-version-not-found]: libsound.so was linked with another libnvrtc.so.12"*"of_cuda"* ]]
    [[ $output == *"unset LD_LIBRARY_PATH"* ]]
}

@test "what cuDNN needs of CUDA: its host opens it first, if the host's own search leads there" {
    make_standin 8.9.2 lib --needs ops_infer=libcublas.so.12
    make_standin --empty libcublas.so.12 cuda
    build_host dlopen lib opener --no-rpath -Wl,--enable-new-dtags -Wl,-rpath,"$PWD/lib:$PWD/cuda"
    scan --json opener >scan.json
    is "$(findings)" ""
    build_host dlopen lib opener --no-rpath -Wl,--enable-new-dtags -Wl,-rpath,"$PWD/lib"
    run -1 scan --json opener
    echo "$output" >scan.json
    is "$(findings)" "error cuda-dependency-differs"
}

@test "a library of CUDA that a package opens first, or another host brings, is not missing" {
    make_needy "for file in glob('nvidia/*/lib/*'): ctypes.CDLL(file)"
    scan --json env >scan.json
    is "$(findings)" ""
    # A function that is there to be called may never be.
    echo 'def preload_dlls(): ctypes.CDLL("nvidia/cuda_nvrtc/lib/libnvrtc.so.12")' >"$site/sound/__init__.py"
    run -1 scan --json env
    # An optional plug-in: another library that it needs is not installed.
    mv "$site/sound/libsound.so" kept
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -o libother.so -Wl,-soname,libother.so.1
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -x none -o "$site/sound/libsound.so" -Wl,--no-as-needed libother.so \
        "$site"/nvidia/{cudnn/lib/libcudnn.so.9,cuda_nvrtc/lib/libnvrtc.so.12} -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib"
    scan --json env >scan.json
    is "$(findings)" ""
    mv kept "$site/sound/libsound.so"
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -x none -o "$site/frame/_D.so" -Wl,--no-as-needed \
        "$site"/nvidia/{cudnn/lib/libcudnn.so.9,cuda_nvrtc/lib/libnvrtc.so.12} \
        -Wl,-rpath,"\$ORIGIN/../nvidia/cudnn/lib:\$ORIGIN/../nvidia/cuda_nvrtc/lib"
    scan --json env >scan.json
    is "$(findings)" ""
}

@test "a host that finds no cuDNN, and another of its environment that brings one: which comes first is not known" {
    ! ldconfig -p | grep -qE 'libcudnn\.so\.8 |libcublas\.so\.11 ' || skip "this computer has those"
    local site=$PWD/venv/lib/python3.12/site-packages cublas
    cublas=$site/nvidia/cublas/lib
    mkdir -p "$site/frame" "$site/sound" "$cublas"
    make_standin 8.9.2 "$site" --layout pip --distribution nvidia-cudnn-cu11
    make_standin --empty libcublas.so.11 "$cublas"
    # shellcheck disable=SC2016  # for the loader
    build_host library-lazy "$site/nvidia/cudnn/lib" frame -L"$cublas" -Wl,--no-as-needed -l:libcublas.so.11 \
        -Wl,-rpath,'$ORIGIN/../nvidia/cudnn/lib:$ORIGIN/../nvidia/cublas/lib' --no-rpath
    mv frame.so "$site/frame/_frame.so"
    build_host library-lazy "$site/nvidia/cudnn/lib" sound -L"$cublas" -Wl,--no-as-needed -l:libcublas.so.11 --no-rpath
    mv sound.so "$site/sound/_sound.so"
    run -0 "$CMD" scan --json venv
    is "$(jq -c '.reports[0].findings[0] | [.severity, .id]' <<<"$output")" '["warning","dependency-missing"]'
    # As if it came first: what else the other one brings is not there, either.
    [[ $(jq -r '.reports[0].findings[0].fix[0].edits[0].value' <<<"$output") == *nvidia/cudnn/lib:*nvidia/cublas/lib ]]
    # Alone it is an error.
    rm "$site/frame/_frame.so"
    run -1 "$CMD" scan --json venv
    is "$(jq -c '.reports[0].findings[0] | [.severity, .id]' <<<"$output")" '["error","dependency-missing"]'
}

@test "parts that a library needs by itself: its package opens them where that fails" {
    make_environment 9.9.0 '>=9.8'
    mkdir "$site/transformer_engine"
    "${CC:-gcc}" -shared -fPIC -x c /dev/null -x none -o "$site/transformer_engine/libtransformer_engine.so" \
        -Wl,--no-as-needed "$site"/nvidia/cudnn/lib/libcudnn{,_adv}.so.9 -Wl,--allow-shlib-undefined
    mkdir root
    mv env root
    scan --root root --json /env >scan.json
    is "$(findings)" ""
    mv "root${site#"$PWD"}/transformer_engine" "root${site#"$PWD"}/another"
    run -0 scan --root root --json /env
    jq -e '.reports[0].stack.failures[] | select(.name == "libcudnn.so.9")' <<<"$output"
    is "$(jq -r '.reports[0].findings[0] | "\(.severity) \(.id)"' <<<"$output")" "warning library-not-found" # a host brings it
}

@test "a framework without CUDA: what another package requires is not to be removed" {
    mkdir -p env/lib/python3.12/site-packages/onnxruntime/capi
    site=$PWD/env/lib/python3.12/site-packages
    echo 'int one;' | "${CC:-gcc}" -shared -fPIC -x c - \
        -o "$site/onnxruntime/capi/onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so"
    for wheel in onnxruntime-1.20.1 faster_whisper-1.1.1; do
        mkdir "$site/$wheel.dist-info"
        printf 'Name: %s\n\nThe description.\nRequires-Dist: onnxruntime\n' "${wheel%-*}" \
            >"$site/$wheel.dist-info/METADATA"
    done
    # Which release of the other wheel is wanted is not known: nothing is to be pasted.
    local said='install no null install onnxruntime-gpu instead of onnxruntime; if a build for the CPU is intended, nothing needs repair'
    fix() { jq -r '.reports[0].findings[0].fix[0] | "\(.action) \(.checked) \(.command) \(.text)"' scan.json; }
    scan --json env >scan.json || true
    is "$(findings)" "warning cpu-only-build"
    is "$(fix)" "$said"
    # An extra is no requirement.
    sed -i "2i Requires-Dist: onnxruntime<2; extra == 'cpu'" "$site/faster_whisper-1.1.1.dist-info/METADATA"
    scan --json env >scan.json || true
    is "$(fix)" "$said"
    sed -i '2i Requires-Dist: Onnxruntime (<2,>=1.14)' "$site/faster_whisper-1.1.1.dist-info/METADATA"
    scan --json env >scan.json || true
    is "$(fix)" "$said"
    jq -e '.reports[0].findings[0].facts[] | select(.name == "required by" and .value == "faster-whisper 1.1.1")' scan.json
    # The library for GPUs of the other wheel lies there still, and a scan loads it by itself.
    build_host library-lazy "$POOL/9.3.0" provider
    mv provider.so "$site/onnxruntime/capi/libonnxruntime_providers_cuda.so"
    mkdir "$site/onnxruntime_gpu-1.20.1.dist-info"
    printf 'Name: onnxruntime-gpu\n' >"$site/onnxruntime_gpu-1.20.1.dist-info/METADATA"
    echo 'onnxruntime/capi/libonnxruntime_providers_cuda.so,,' >"$site/onnxruntime_gpu-1.20.1.dist-info/RECORD"
    echo 'onnxruntime/capi/onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so,,' >"$site/onnxruntime-1.20.1.dist-info/RECORD"
    scan --json env >scan.json || true
    is "$(findings)" "warning cpu-only-build"
    # It is installed: it is put back.
    mkdir env/bin
    ln -s "$PY" env/bin/python
    echo 'home = /usr/bin' >env/pyvenv.cfg
    scan --json env >scan.json || true
    is "$(fix)" "install no pip --python $PWD/env/bin/python install --force-reinstall --no-deps onnxruntime-gpu==1.20.1 ${said#* null }"
}

@test "a library that makes the numbered name asks for that, whatever plain name its constants have" {
    make_environment 9.9.0 '>=9.8'
    rm "$site/frame/_C.so"
    mkdir -p "$site/onnxruntime/capi" "$site/onnxruntime_gpu-1.30.0.dist-info"
    local provider=$site/onnxruntime/capi/libonnxruntime_providers_cuda.so
    # shellcheck disable=SC2016 # the loader's
    echo '#include <dlfcn.h>
void *open_it(void) { return dlopen("libcudnn.so", RTLD_NOW); }' |
        "${CC:-gcc}" -shared -fPIC -x c - -o "$provider" -Wl,-rpath,'$ORIGIN/../../nvidia/cudnn/lib'
    printf 'Name: onnxruntime-gpu\nVersion: 1.30.0\nProvides-Extra: cudnn\nRequires-Dist: nvidia-cudnn-cu12~=9.0; extra == "cudnn"\n' \
        >"$site/onnxruntime_gpu-1.30.0.dist-info/METADATA"
    echo 'onnxruntime/capi/libonnxruntime_providers_cuda.so,,' >"$site/onnxruntime_gpu-1.30.0.dist-info/RECORD"
    scan --json env >scan.json
    is "$(objects 0 facade)" "facade 9.9.0 $site/nvidia/cudnn/lib/libcudnn.so.9"
    mv "$provider" "$site/onnxruntime/capi/libother.so" # of which nothing is known
    scan --json env >scan.json || true
    [[ $(objects 0 facade) != *"$site"* ]] # nothing, or one of this machine
}

# ---- roots ----

make_image() { # DIR
    mkdir -p "$1"/{etc,opt/app,usr/lib/cudnn,lib64}
    make_standin 9.3.0 "$1/usr/lib/cudnn"
    build_host lazy "$POOL/9.3.0" "$1/opt/app/linked" --no-rpath
    ln -s /usr/lib/cudnn "$1/opt/link"
    cp "$(readelf -l "$1/opt/app/linked" | sed -n 's/.*interpreter: \(.*\)]/\1/p')" "$1/lib64/ld-linux-x86-64.so.2"
    # ldconfig writes the cache of that root, with its paths.
    ldconfig -r "$1" /usr/lib/cudnn 2>/dev/null
}

@test "--root: cache, links and paths inside of an image; the own environment does not count" {
    make_image image
    make_standin 9.1.0 outside
    LD_LIBRARY_PATH=$PWD/outside scan --root image --json /opt/app/linked >scan.json
    is "$(objects 0 facade)" "facade 9.3.0 /usr/lib/cudnn/libcudnn.so.9"
    is "$(jq -r '.reports[0].stack.searches[] | select(.name == "libcudnn.so.9") | .rule' scan.json)" ld.so.cache
    is "$(jq -r '.reports[0].stack.process.environment | length' scan.json)" 0
    # What the cache knows may have gone since.
    mv image/usr/lib/cudnn/libcudnn.so.9 kept
    ln -s libcudnn.so.9.3.0 image/usr/lib/cudnn/libcudnn.so.9
    run -1 scan --root image --json /opt/app/linked
    is "$(jq -r '.reports[0].findings[0].id, .reports[0].stack.files[0].rule' <<<"$output" | xargs)" "bad-file ld.so.cache"
    mv kept image/usr/lib/cudnn/libcudnn.so.9
    rm image/etc/ld.so.cache
    run -1 scan --root image /opt/app/linked
    [[ $output == *"libcudnn.so.9, which was not found"* ]]
    scan --root image --ld-library-path /opt/link --json /opt/app/linked >scan.json
    is "$(objects 0 facade)" "facade 9.3.0 /usr/lib/cudnn/libcudnn.so.9"
    # Without a path: all of it, with the program, whose cuDNN no cache names any more; a directory
    # that is an image is one without the option, too.
    run -1 scan --root image --json
    echo "$output" >scan.json
    is "$(jq -r '.copies | length' scan.json)" 8
    is "$(jq -r '.reports[] | "\(.sources[0].path) \(.findings[0].id)"' scan.json)" "/opt/app/linked library-not-found"
    echo 'ID=x' >image/etc/os-release
    run -1 scan --json image
    echo "$output" >scan.json
    is "$(jq -r '.copies[0].path' scan.json)" /usr/lib/cudnn/libcudnn.so.9
    is "$(jq -r '.path' scan.json)" image
}

build_launchers() {
    gcc -std=gnu11 -D_GNU_SOURCE -o filtered "$WC_ROOT/tests/faults/filtered.c"
    gcc -std=gnu11 -D_GNU_SOURCE -o swaps "$WC_ROOT/tests/e2e/swaps.c" 2>/dev/null || skip "no PTRACE_GET_SYSCALL_INFO"
}

@test "--root: a directory that is exchanged for a link meanwhile does not lead out of the image" {
    build_launchers
    make_standin 9.8.0 outside/nvidia
    mkdir -p image/opt/swap/nvidia
    ln -s "$PWD/outside" image/opt/other
    build_host now "$PWD/outside/nvidia" image/opt/host --no-rpath -Wl,-rpath,/opt/swap/nvidia
    ./swaps image/opt/swap image/opt/other true || skip "a process cannot be traced here"
    race=(./swaps image/opt/swap image/opt/other)
    # Where openat2 (437) is refused, the copy outside would be found: the race is one.
    run "${race[@]}" ./filtered 437:38 "$CMD" scan --root image --json
    [ "$status" -ne 98 ] || skip "this file system exchanges nothing"
    is "$(jq -r '.copies | length' <<<"$output")" 8
    run -1 --separate-stderr "${race[@]}" "$CMD" scan --root image --json
    is "$(jq -r '(.copies | length), .reports[0].findings[0].id' <<<"$output" | xargs)" "0 library-not-found"
    [[ $output != *9.8.0* ]]
    run -1 --separate-stderr "${race[@]}" "$CMD" scan --root image --json /opt/host
    [[ $output != *9.8.0* ]]
}

@test "--root: the same is found where a kernel or a sandbox has no openat2" {
    build_launchers
    make_image image
    local error
    scan --root image -v | grep -v _time\": >all
    [[ $(head -n 1 all) == "scan of image: 8 libraries of cuDNN's, 1 host, "* ]]
    for error in 38 1 7; do
        ./filtered "437:$error" "$CMD" scan --root image -v | grep -v _time\": >without
        diff all without
    done
    command -v strace >/dev/null || skip "no strace"
    # Once the root is open, nothing is looked at by its whole path.
    strace -f -qq -e trace=file,openat2 -o calls "$CMD" scan --root "$PWD/image" >out
    grep -q 'openat2(.*IN_ROOT' calls || skip "this kernel has no openat2"
    run -1 grep "\"$PWD/image/" calls
}

@test "--all: from the root, without /proc and /sys" {
    make_image image
    enter=(unshare --root "$PWD/image")
    cp "$CMD" image/whichcudnn
    ldd "$CMD" | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "image$(dirname "$library")"
        cp "$library" "image$library"
    done
    "${enter[@]}" /whichcudnn --version || skip "another root cannot be entered here"
    run -0 "${enter[@]}" /whichcudnn scan --all --color=never
    [[ $output == "scan of /: 8 libraries of cuDNN's, 1 host, "* && $output != *whichcudnn* ]]
    run -2 scan --all .
    [[ $output == *"--all takes neither"* ]]
}

# ---- usage ----

@test "exit status: 0, 1 above, 2 for what is not there or no ELF file, 3 for nothing" {
    mkdir empty
    run -3 --separate-stderr scan --color=never empty
    is "$output" "scan of empty: 0 libraries of cuDNN's, 0 hosts, 0 files seen"
    run -2 --separate-stderr scan nowhere
    is "$stderr" "whichcudnn: nowhere: No such file or directory"
    echo text >text
    run -2 --separate-stderr scan text
    is "$stderr" "whichcudnn: text: neither a directory nor a program or library (ELF, 64 bits)"
    # The rest is done.
    run -2 --separate-stderr scan nowhere "$POOL/9.3.0/libcudnn.so.9"
    [[ $output == *"facade libcudnn.so.9  9.3.0"* ]]
    run -2 --separate-stderr scan --env nowhere .
    is "$stderr" "whichcudnn: nowhere: No such file or directory"
    run -2 scan --wrong
    run -2 scan --color=sometimes .
    run -2 scan --root
}

@test "--fail-on: 1 for such a finding and for what cannot be looked at, else 0, nothing there too" {
    mkdir empty foreign
    make_environment 9.1.0 '>=9.8'
    for severity in error warning; do
        run -0 --separate-stderr scan --fail-on=$severity empty
        run -0 scan --fail-on $severity "$POOL/9.3.0"
        run -1 --separate-stderr scan --fail-on=$severity --json env
        is "$(jq -r '.reports[0].verdict' <<<"$output")" errors
    done
    # A facade without its parts.
    make_grafted 9.3.0 frame frame.libs "\$ORIGIN/../frame.libs"
    run -0 scan --root root --json /env
    is "$(jq -r '[.reports[].verdict] | unique | join(" ")' <<<"$output")" warnings
    run -0 scan --root root --fail-on=error /env
    run -1 scan --root root --fail-on=warning /env
    # What cannot be looked at has a status of its own, which is no pass.
    cp "$POOL/9.3.0/host-lazy.so" foreign
    printf '\xb7' | dd of=foreign/host-lazy.so bs=1 seek=18 conv=notrunc status=none
    run -3 scan foreign
    run -1 scan --fail-on=error foreign
    run -2 scan --fail-on=error nowhere
    for bad in note errors ''; do
        run -2 --separate-stderr scan --fail-on "$bad" empty
        is "${stderr_lines[0]}" "whichcudnn: --fail-on takes error or warning, not $bad"
    done
}

# A facade, or a part that it opens, of a newer system. In a process the loader says so.
@test "a copy that was built for a newer libc comes in for nobody, whichever way it is found" {
    mkdir -p newer old conda
    echo 'GLIBC_9.99 { global: *; };' >map
    echo 'int newer(void) { return 0; }' |
        "${CC:-gcc}" -shared -fPIC -nostdlib -Wl,-soname,libc.so.6,--version-script,map -x c - -o libc.so.6
    copy() { # DIR LIBRARY...
        echo 'int newer(void); int cudnnCreate(void **h) { return !h; }
            int cudnnBackendFinalize(void *d) { return d ? 1 : OTHER; }' |
            "${CC:-gcc}" -DOTHER="$2" -shared -fPIC -Wl,-soname,libcudnn.so.8 -x c - -x none "${@:3}" -o "$1/libcudnn.so.8"
    }
    copy old 0
    copy newer 'newer()' ./libc.so.6
    echo 'int cudnnCreate(void **); int main(void) { void *h; return cudnnCreate(&h); }' |
        "${CC:-gcc}" -x c - -x none old/libcudnn.so.8 -o linked
    build_host dlopen "$POOL/8.9.2" opens
    local host
    for host in linked opens; do
        LD_LIBRARY_PATH=$PWD/old run -0 "$CMD" scan "$host"
        LD_LIBRARY_PATH=$PWD/newer run -1 "$CMD" scan "$host"
        [[ $output == *"error[symbol-version-not-found]: libcudnn.so.8 was linked with another libc.so.6"*"GLIBC_9.99"* ]]
    done
    # What it would bring is no repair; the other one, near it, is.
    ln -s "$PWD/newer" conda/lib
    CONDA_PREFIX=$PWD/conda WHICHCUDNN_SHIM=$SHIM run -127 without_cache "$CMD" run --log logs/ -- ./linked
    [[ $output == *"error[library-not-found]"*"fix       export LD_LIBRARY_PATH=$PWD/old"$'\n'* ]]
}

@test "what no loader of this machine takes: said, and why" {
    echo 'int main(void) { return 0; }' | "${CC:-gcc}" -static -x c - -o static
    run -2 --separate-stderr scan static
    [[ $stderr == "whichcudnn: static: "*"is linked statically"* ]]
    # The field that names the machine; the loader that it asks for.
    build_host lazy "$POOL/9.3.0" other
    printf '\xb7' | dd of=other bs=1 seek=18 conv=notrunc status=none
    run -3 scan -v --color=never other
    [[ $output == *"not observed: $PWD/other is a program for another architecture"* ]]
    mkdir lib
    cp "$POOL/9.3.0/host-lazy.so" lib/foreign.so
    printf '\xb7' | dd of=lib/foreign.so bs=1 seek=18 conv=notrunc status=none
    run -3 scan -v --color=never lib
    [[ $output == *"not observed: it is for another architecture"* ]]
    build_host lazy "$POOL/9.3.0" musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
    run -3 scan -v --color=never musl
    [[ $output == *"is a program for musl"* ]]
}

@test "help fits a screen; several at once; colour where it is wanted" {
    run -0 scan --help
    [ "${#lines[@]}" -le 24 ]
    is "$(awk 'length > 80' <<<"$output")" ""
    build_host lazy "$POOL/8.9.2" linked --no-rpath
    build_host lazy "$POOL/9.3.0" well
    run -1 --separate-stderr scan --json linked well
    echo "$output" >scan.json
    is "$(jq -r '[.reports[].verdict] | join(" ")' scan.json)" "errors ok"
    run -1 scan --color=always linked
    [[ $output == *$'\e[1;31merror[library-not-found]\e[0m'* ]]
    NO_COLOR=1 run -1 scan linked
    [[ $output != *$'\e'* ]]
}

@test "a bar while it lasts, on a terminal alone" {
    mkdir -p t
    (cd t && mkdir -p {1..40}/{1..40})
    run -3 --separate-stderr scan t
    is "$stderr" ""
    script -qec "'$CMD' scan t" /dev/null >typescript || true
    tr '\r' '\n' <typescript >lines
    [[ $(tail -n 1 lines) != *"directories"* ]]
    grep -q '\[.*\] [0-9]* of [0-9]* directories' lines
    grep -q '0 libraries of cuDNN' lines
}

# ---- hostile trees ----

@test "links in circles, pipes, holes, damage, no permission, names with orders for the terminal" {
    mkdir -p t/deep t/locked
    ln -s . t/again
    ln -s ../t t/deep/up
    ln -s libloop.so t/libloop.so
    mkfifo t/libcudnn.so.9 t/pipe.so
    truncate -s 4T t/libhole.so t/libcudnn_ops.so.9
    for n in 0 20 64 100 1000 5000; do
        head -c "$n" "$POOL/9.3.0/host-lazy.so" >"t/cut$n.so"
    done
    cp "$POOL/9.3.0/libcudnn.so.9" "t/libcudnn-"$'\e[31mred\n.so.9' || true
    cp "$POOL/9.3.0/libcudnn.so.9" t/$'\xff\xfe'.so
    cp "$POOL/9.3.0/host-lazy.so" t/$'a\nb\e]0;x\a.so'
    (cd t/deep && for _ in {1..300}; do mkdir d_________________ && cd d_________________ || exit; done)
    timeout 20 "$CMD" scan --color=never t >out || [ $? -eq 1 ]
    run -1 grep -q $'\e' out
    grep -q 'passed over' out
    grep -q 'cut1000.so: ' out
    grep -q 'libcudnn_ops.so.9: named like a library of cuDNN, but is not a valid ELF file' out
    grep -q 'its path is too long' out
    scan --json t >scan.json || true
    validate_scan scan.json
    is "$(jq -r '[.copies[] | select(.soname == "libcudnn.so.9")] | length >= 1' scan.json)" true
}

@test "a package whose files are not those of its list, without any host: a command for it" {
    "$PY" -m venv --without-pip venv
    site=$(echo "$PWD"/venv/lib/python3*/site-packages)
    make_standin 9.8.0 "$site" --layout pip --build 87
    findings() { "$CMD" scan --json "$1" | jq -r '.. | objects | select(.facts?) | .severity + " " + .id'; }
    commands() { "$CMD" scan --json "$1" | jq -r '.. | objects | select(.checked? == "replayed") | .command' | sort -u; }
    is "$(findings venv)" ''
    rm "$site/nvidia/cudnn/lib/libcudnn_graph.so.9"
    is "$(findings venv)" 'warning installation-incomplete'
    is "$(commands venv)" "pip --python $PWD/venv/bin/python install --force-reinstall --no-deps nvidia-cudnn-cu12==9.8.0.87"
    mkdir target && cp -r "$site"/* target
    is "$(findings target)" 'warning installation-incomplete'
    is "$(commands target)" \
        "pip install --no-deps --upgrade --target cudnn-wheels nvidia-cudnn-cu12==9.8.0.87 && rm -r $PWD/target/nvidia_cudnn_cu12-9.8.0.87.dist-info && cp -a --remove-destination cudnn-wheels/. $PWD/target"
    # Links that lead nowhere, which pip would leave there, and fail.
    for name in graph ops; do
        ln -sfn "libcudnn_$name.so.9" "$site/nvidia/cudnn/lib/libcudnn_$name.so.9"
    done
    ln -sfn /nowhere "$site/nvidia/cudnn/lib/libcudnn_adv.so.9"
    command=$(commands venv)
    is "${command##*; }" "-delete && pip --python $PWD/venv/bin/python install --force-reinstall --no-deps nvidia-cudnn-cu12==9.8.0.87"
    bash -c "${command%% && *}"
    is "$(find "$site/nvidia/cudnn/lib" -type l | wc -l)" 0
    is "$(find "$site/nvidia/cudnn/lib" -type f | wc -l)" 5
    # Cut short, and all of them gone.
    make_standin 9.8.0 "$site" --layout pip --build 87
    truncate -s 100 "$site/nvidia/cudnn/lib/libcudnn_heuristic.so.9"
    is "$(findings venv)" 'warning installation-mixed'
    rm -r "$site/nvidia" && touch "$site/other.so"
    is "$(findings venv)" 'warning installation-incomplete'
    [[ $("$CMD" scan venv | tr -s ' \n' ' ') == *"all of its 8 cuDNN libraries are missing"* ]]
}

@test "dead links of a package are removed before it comes back, in its own folder alone" {
    "$PY" -m venv --without-pip env
    site=$(echo "$PWD"/env/lib/python3*/site-packages)
    make_standin 9.1.0 "$site" --layout pip --build 70
    ln -sf nowhere "$site/nvidia/cudnn/lib/libcudnn_graph.so.9"
    run "$CMD" scan --json env
    grep -F "find $site/nvidia/cudnn/lib -maxdepth 1 -type l" <<<"$output"
    rm "$site/nvidia/cudnn/lib/libcudnn_graph.so.9"
    mkdir outside
    ln -s nowhere outside/libcudnn_graph.so.9
    sed -i '1i ../../../../outside/libcudnn_graph.so.9,sha256=aa,123' "$site"/nvidia_cudnn_cu12-*.dist-info/RECORD
    run "$CMD" scan --json env
    [[ $output == *installation-incomplete* && $output != *"find "* ]]
}

@test "a damaged package on a read-only file system: that is why there is no command" {
    "$PY" -m venv --without-pip venv
    site=$(echo "$PWD"/venv/lib/python3*/site-packages)
    make_standin 9.8.0 "$site" --layout pip --build 87
    rm "$site/nvidia/cudnn/lib/libcudnn_graph.so.9"
    # shellcheck disable=SC2016
    run unshare -Urm sh -c 'mount --bind venv venv && mount -o remount,ro,bind venv || exit 99; exec "$@"' sh \
        "$CMD" scan venv
    [ "$status" -ne 99 ] || skip "its mounts cannot be made read-only here"
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"suggestion force its reinstallation"*"not replayed: read-only: $site "* ]]
}

# ---- packages that look for cuDNN themselves ----

@test "what cuda-pathfinder, cudnn-frontend and preload_dlls would take, in their own words" {
    "$PY" -m venv --without-pip venv
    site=$(echo "$PWD"/venv/lib/python3*/site-packages)
    make_standin 9.8.0 "$site" --layout pip
    make_standin 9.20.0 "$PWD/path"
    make_standin --empty libcublasLt.so.12 "$site/nvidia/cublas/lib"
    mkdir "$site"/{cuda_pathfinder-1.9.1,nvidia_cudnn_frontend-1.32.0,onnxruntime_gpu-1.31.1}.dist-info
    export LD_LIBRARY_PATH=$PWD/path
    takes() { jq -r '.loaders[] | "\(.loader) \(.unpredicted) \(.path) \(.cudnn_version) \(.found_via) \(.raises)"' <<<"$output"; }
    run "$CMD" scan --json venv
    echo "$output" >scan.json
    validate_scan scan.json
    is "$(takes)" "cuda-pathfinder null $site/nvidia/cudnn/lib/libcudnn.so.9 9.8.0 site-packages null
nvidia-cudnn-frontend null $PWD/path/libcudnn.so.9 9.20.0 LD_LIBRARY_PATH null
onnxruntime null $site/nvidia/cudnn/lib/libcudnn.so.9 9.8.0 site-packages null"
    [[ $("$CMD" scan venv) == *"
Python packages with a search of their own, and which cuDNN they load
  $site: cuda-pathfinder 1.9.1, load_nvidia_dynamic_lib(\"cudnn\"): $site/nvidia/cudnn/lib/libcudnn.so.9  9.8.0 (site-packages)
"* ]]
    # A file that is there and does not load ends the call; another release may have another rule.
    mv "$site"/nvidia_cudnn_frontend-1.{32.0,22.1}.dist-info
    : >path/libcudnn.so.9 && : >"$site/nvidia/cudnn/lib/libcudnn.so.9"
    run "$CMD" scan --json venv
    is "$(takes)" "cuda-pathfinder null null null null RuntimeError
nvidia-cudnn-frontend the rule of this release is not known null null null null
onnxruntime null null null null null"
    [[ $("$CMD" scan venv) == *"RuntimeError, for cudnn"*"not predicted: the rule of this release is not known"*": no cuDNN"* ]]
    # The user's own directory counts as Python has it.
    rm -r "$site/nvidia/cudnn"
    make_standin 9.20.0 other --layout pip
    mkdir -p "home/.local/lib/$(basename "${site%/*}")"
    ln -s "$PWD/other" "home/.local/lib/$(basename "${site%/*}")/site-packages"
    export HOME=$PWD/home LD_LIBRARY_PATH=$PWD/path
    own=$HOME/.local/lib/$(basename "${site%/*}")/site-packages/nvidia/cudnn/lib/libcudnn.so.9
    run "$CMD" scan --json venv
    [[ $(takes) != *"$own"* ]]
    sed -i 's/\(include-system-site-packages = \).*/\1true/' venv/pyvenv.cfg
    run "$CMD" scan --json venv
    [[ $(takes) == "cuda-pathfinder null $own 9.20.0 site-packages null"* ]]
    PYTHONNOUSERSITE=1 run "$CMD" scan --json venv
    [[ $(takes) != *"$own"* ]]
}

@test "what ctypes opens by name is looked for by its extension, which has a search path in conda's Python" {
    mkdir -p prefix/bin prefix/lib/python3.99/{lib-dynload,site-packages/cuda_pathfinder-1.9.1.dist-info}
    cp "$(readlink -f "$PY")" prefix/bin/python3.99
    make_standin 9.8.0 prefix/lib
    make_standin --empty libcublasLt.so.12 prefix/lib
    echo | "${CC:-gcc}" -shared -fPIC -x c - -Wl,-rpath,"\$ORIGIN/../.." \
        -o prefix/lib/python3.99/lib-dynload/_ctypes.cpython-399-x86_64-linux-gnu.so
    run "$CMD" scan --json --ld-library-path "" prefix
    is "$(jq -r '.loaders[] | "\(.path) \(.found_via)"' <<<"$output")" \
        "$PWD/prefix/lib/python3.99/lib-dynload/../../libcudnn.so.9 system-search"
}

# ---- files that say what should be installed ----

@test "a lock file beside the environment names a package of cuDNN that it has not, or in another version" {
    "$PY" -m venv --without-pip project/.venv
    site=$(echo "$PWD"/project/.venv/lib/python3*/site-packages)
    make_standin 9.8.0 "$site" --layout pip --build 87
    locked() {
        run "$CMD" scan --json project/.venv
        jq -r '.locked[] | "\(.file) \(.package) \(.version) \(.installed) \(.as_locked)"' <<<"$output" | sed "s,$PWD/,,"
    }
    printf '[[package]]\nname = "numpy"\nversion = "2.0"\n\n[[package]]\nname = "nvidia-cudnn-cu13"\nversion = "9.20.0.48"\n[[package]]\nname = "nvidia-cudnn-cu12"\nversion = "9.8.0.87"\nsource = { registry = "x" }\n' >project/uv.lock
    is "$(locked)" "project/uv.lock nvidia-cudnn-cu13 9.20.0.48 null false
project/uv.lock nvidia-cudnn-cu12 9.8.0.87 9.8.0.87 true"
    "$CMD" scan --json project/.venv >scan.json
    validate_scan scan.json
    [[ $("$CMD" scan project/.venv) == *"
$PWD/project/uv.lock locks nvidia-cudnn-cu13 9.20.0.48: $site does not have it"* ]]
    # Of several versions, for other platforms say, one is enough.
    sed -i 's/cu13/cu12/' project/uv.lock
    is "$(locked)" "project/uv.lock nvidia-cudnn-cu12 9.20.0.48 9.8.0.87 true"
    [[ $("$CMD" scan project/.venv) != *"uv.lock"* ]]
    rm project/uv.lock
    printf '[[packages]]\nname = "nvidia-cudnn-cu12"\nversion = "9.1.0.70"\n' >project/pylock.cuda.toml
    printf 'nvidia-cudnn-cu12==9.1.0.70 \\\n    --hash=sha256:00\nnvidia-cudnn-frontend==1.32.0\n' >project/requirements.txt
    is "$(locked)" "project/pylock.cuda.toml nvidia-cudnn-cu12 9.1.0.70 9.8.0.87 false
project/requirements.txt nvidia-cudnn-cu12 9.1.0.70 9.8.0.87 false"
    printf 'nvidia-cudnn-cu12==9.8.*\n' >project/requirements.txt
    is "$(locked | grep requirements)" "project/requirements.txt nvidia-cudnn-cu12 9.8.* 9.8.0.87 true"
    # Lines that end as Windows ends them, and lines for another Python or system.
    printf 'nvidia-cudnn-cu12==9.8.0.87\r\n' >project/requirements.txt
    printf '[[packages]]\r\nname = "nvidia-cudnn-cu12"\r\nversion = "9.1.0.70"\r\n' >project/pylock.cuda.toml
    is "$(locked)" "project/pylock.cuda.toml nvidia-cudnn-cu12 9.1.0.70 9.8.0.87 false
project/requirements.txt nvidia-cudnn-cu12 9.8.0.87 9.8.0.87 true"
    rm project/*.t*
    local marker
    for marker in 'python_version < "3"' "sys_platform == 'win32'" "'x' in y and python_full_version >= '4' # old" \
        "(os_name == 'posix' and sys_platform != 'linux') or platform_system=='Darwin'" "platform_machine == 'riscv'"; do
        echo "nvidia-cudnn-cu12==9.1.0.70 ; $marker" >project/requirements.txt
        is "$(locked)" ""
        printf '[[packages]]\nname = "nvidia-cudnn-cu12"\nversion = "9.1.0.70"\nmarker = "%s"\n[[packages]]\n' \
            "${marker//\"/\\\"}" >project/pylock.toml
        is "$(locked)" ""
        rm project/pylock.toml
    done
    for marker in 'python_version >= "3"' "extra == 'gpu'" "python_version < '3' or (platform_machine != 'riscv' and sys_platform == 'linux')"; do
        echo "nvidia-cudnn-cu12==9.1.0.70 ; $marker" >project/requirements.txt
        is "$(locked)" "project/requirements.txt nvidia-cudnn-cu12 9.1.0.70 9.8.0.87 false"
    done
    # What may not be read is said.
    local as=()
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod a+x . .. ../..
    cp "$CMD" command
    chmod 0 project/requirements.txt
    "${as[@]}" ./command scan --json project/.venv >scan.json || true
    is "$(jq -r '.passed_over[] | "\(.path) \(.why)"' scan.json)" "$PWD/project/requirements.txt Permission denied"
    rm -f project/*.t*
    printf 'nvidia-cudnn-cu12\n# nvidia-cudnn-cu12==9.1\nnvidia-cudnn-cu12>=9\n' >project/requirements.txt
    is "$(locked)" ""
    # conda's lists, and pixi's, three directories above.
    mkdir -p project/.venv/conda-meta work/.pixi/envs
    echo '{"name": "cudnn", "version": "9.10.1.4", "files": []}' >project/.venv/conda-meta/cudnn-9.10.1.4-h7646684_1.json
    printf '@EXPLICIT\nhttps://conda.anaconda.org/conda-forge/linux-64/cudnn-9.10.1.4-h7646684_1.conda#00\nhttps://conda.anaconda.org/conda-forge/linux-64/libcudnn-9.10.1.4-hf7e9902_1.conda\n' >project/conda-linux-64.lock
    is "$(locked)" "project/conda-linux-64.lock cudnn 9.10.1.4 9.10.1.4 true
project/conda-linux-64.lock libcudnn 9.10.1.4 null false"
    mv project/.venv work/.pixi/envs/default
    printf '      - pypi: https://files.pythonhosted.org/packages/00/nvidia_cudnn_cu12-9.1.0.70-py3-none-manylinux2014_x86_64.whl\n' >work/pixi.lock
    run "$CMD" scan --json work
    is "$(jq -r '.locked[] | "\(.package) \(.version) \(.installed)"' <<<"$output")" "nvidia_cudnn_cu12 9.1.0.70 9.8.0.87"
}
