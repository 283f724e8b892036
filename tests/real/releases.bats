#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Real releases of cuDNN, each used by small hosts of every kind. What whichcudnn says is held
# against what these print, what /proc/PID/maps and readelf say, and the same run without the shim.
# `make test-real RELEASE=...` adds a release.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup_file() {
    local names=() distribution version
    while IFS=$'\t' read -r distribution version _; do
        names+=("$distribution==$version")
    done < <(releases)
    [ "${#names[@]}" -ge 12 ]
    fetch_cudnn "${names[@]}" >"$BATS_FILE_TMPDIR/directories"
}

check() { # hosts|neutral|exports|wheels
    local directories
    mapfile -t directories <"$BATS_FILE_TMPDIR/directories"
    "$WC_PYTHON" "$WC_ROOT/tests/real/check_releases.py" "$1" "${directories[@]}"
}

@test "files, versions, bindings, calls and findings are right for every release and host" {
    check hosts
}

@test "without package, header and file name the version is right, or the range of the functions" {
    check neutral
}

@test "every release exports the functions that the table says, but for the listed differences" {
    check exports
    # For whoever reads the results: what each has more or less than the table.
    check exports | sed 's/^/# /' >&3
}

@test "every wheel has the libraries that the table says, which need and look for one another so" {
    check wheels
}

@test "the checks notice a package that is another release, and a function or a file too many" {
    cp -r "$(fetch_cudnn 9.1.0.70)" "$BATS_TEST_TMPDIR/release"
    sed -i 's/"version": "[0-9.]*"/"version": "9.1.1.17"/' "$BATS_TEST_TMPDIR/release/wheel.json"
    run "$WC_PYTHON" "$WC_ROOT/tests/real/check_releases.py" hosts "$BATS_TEST_TMPDIR/release"
    [ "$status" -eq 1 ]
    [[ $output == *"FAILED nvidia-cudnn-cu12 9.1.1.17, lazy, version: "*"installation: got"* ]]
    sed -i 's/"version": "[0-9.]*"/"version": "9.22.0.51"/' "$BATS_TEST_TMPDIR/release/wheel.json"
    run "$WC_PYTHON" "$WC_ROOT/tests/real/check_releases.py" wheels "$BATS_TEST_TMPDIR/release"
    [ "$status" -eq 1 ]
    [[ $output == *"9.22.0.51: libraries: got "*"libcudnn_ext.so.9"*"not among the releases"* ]]
    [[ $output == *"libcudnn_cnn.so.9: DT_NEEDED: got "*"where it looks: got "* ]]
    run "$WC_PYTHON" "$WC_ROOT/tests/real/check_releases.py" exports "$(fetch_cudnn 7.6.5)"
    [ "$status" -eq 1 ] # in the list, and not in this release
    [[ $output == *"no release has: got ['cudnnGetRNNDropoutLocationsInternal']"* ]]
}
