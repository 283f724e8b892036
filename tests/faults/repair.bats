#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn fix --apply, ended at any moment. Which build of the shim there is makes no difference to it.

bats_require_minimum_version 1.5.0
load faults

@test "repair: fix --apply is killed at random, without an index, without room: all or nothing, or --undo" {
    moments=$(long 5 0 200)
    [ "$moments" -gt 0 ] || skip "with the first build of the shim"
    cd "$BATS_TEST_TMPDIR" || return
    ! ldconfig -p | grep -q 'libcudnn\.so\.8 ' || skip "a cuDNN 8 of this computer's would fill the gaps"
    mkdir wheels
    make_standin 8.9.2 tree --layout pip --build 26
    info=$(basename tree/*.dist-info)
    printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n' >"tree/$info/WHEEL"
    cp -r tree other && mv "other/$info" "other/${info/cu12/cu11}"
    sed -i s/cu12/cu11/ other/*.dist-info/METADATA
    for tree in tree other; do
        info=$(basename $tree/*.dist-info)
        (cd $tree && find . -type f -printf '%P,,\n' >"$info/RECORD" &&
            "$PY" -m zipfile -c "../wheels/${info%.dist-info}-py3-none-any.whl" ./*)
    done
    "$PY" -m venv --without-pip venv
    site=$(echo "$PWD"/venv/lib/python3*/site-packages)
    cp -a "$(dirname "$("$PY" -c 'import pip; print(pip.__path__[0])')")"/pip{,-*.dist-info} "$site"
    "$PY" -m pip --python venv/bin/python install -q --no-index --no-deps --no-compile wheels/*.whl
    mkdir -p "$site/engine" "$site/engine-1.0.dist-info"
    build_host dlopen "$site/nvidia/cudnn/lib" "$site/engine/host" -Wl,-rpath,'$ORIGIN/../nvidia/cudnn/lib'
    printf 'Metadata-Version: 2.1\nName: engine\nVersion: 1.0\nRequires-Dist: nvidia-cudnn-cu12>=8.8,<9\n' \
        >"$site/engine-1.0.dist-info/METADATA"
    printf 'engine/host,,\n' >"$site/engine-1.0.dist-info/RECORD"
    namespace=(unshare -m)
    "${namespace[@]}" true 2>/dev/null || namespace=(unshare -Urm)
    "${namespace[@]}" true 2>/dev/null || namespace=()
    "${namespace[@]}" "$PY" "$WC_ROOT/tests/faults/repair_kills.py" "$CMD" venv "$site/engine/host" wheels work \
        "$moments" "${WC_SEED:-1}" >repair.out 2>&1 || { cat repair.out && return 1; }
    sed 's/^/# /' repair.out >&3
}
