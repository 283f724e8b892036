#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whole frameworks with a cuDNN that does not fit, and with one that does: the rows of
# tests/real/measured.tsv that need gigabytes.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# It also installs the PyTorch that the rows use.
@test "make demo FRAMEWORK=torch: PyTorch's own error, and what it does not say" {
    make --no-print-directory -C "$WC_ROOT" O="${WC_BUILD#"$WC_ROOT"/}" CACHE="$WC_CACHE" \
        FRAMEWORK=torch demo >demo.out 2>demo.err || { cat demo.out demo.err && return 1; }
    cat demo.out
    grep 'RuntimeError: cuDNN version incompatibility' demo.err
    sed -n '/^What .proc.PID.maps/,/^$/s/^    //p' demo.out | sort >mapped
    "$WHICHCUDNN" report --json "$WC_BUILD/demo/log-torch" >report.json || [ $? -eq 1 ]
    [ "$(jq -r '[.findings[] | select(.severity != "note") | .id] | join(" ")' report.json)" = \
        'cuda-major-differs runtime-too-old' ]
    jq -r '.stack.objects[] | select(.role == "facade" or .role == "part") | .real_path' \
        report.json | sort | diff mapped -
    local pin
    pin=$(sed -n 's/^Requires-Dist: \(nvidia-cudnn-cu13==[0-9.]*\).*/\1/p' \
        "$WC_BUILD"/demo/venv-torch-*/lib/python*/site-packages/torch-*.dist-info/METADATA)
    [ -n "$pin" ]
    tr -s ' \\\n' ' ' <demo.out | grep -qF "pip install $pin"
}

# docs/fleet.md says it.
@test "a healthy PyTorch process leaves at most 24 KiB of log, preloaded and under run" {
    local venv log
    venv=$(echo "$WC_BUILD"/demo/venv-torch-*/)
    "$venv/bin/python" -m pip uninstall -q -y nvidia-cudnn-cu12 # what the demo broke it with
    "$venv/bin/python" -m pip install -q --force-reinstall --no-deps "$(sed -n 's/^Requires-Dist: \(nvidia-cudnn-cu13==[0-9.]*\).*/\1/p' \
        "$venv"/lib/python*/site-packages/torch-*.dist-info/METADATA)"
    printf '%s\n' 'import torch' 'print(torch.nn.Conv2d(3, 8, 3)(torch.randn(1, 3, 16, 16)).shape)' >convolves.py
    mkdir preloaded under
    LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/preloaded" "$venv/bin/python" convolves.py
    "$WHICHCUDNN" run --log under/ -- "$venv/bin/python" convolves.py
    for log in preloaded/*.jsonl under/*.jsonl; do
        "$WC_PYTHON" "$WC_ROOT/tests/schema/validate.py" log "$log"
        [ "$(wc -l <"$log")" -ge 60 ]
        "$WHICHCUDNN" report --json "$log" >report.json
        [ "$(jq -r '[.findings[] | select(.severity != "note")] | length' report.json)" = 0 ]
        echo "$log: $(wc -c <"$log") bytes"
        [ "$(wc -c <"$log")" -le 24576 ]
    done
}

@test "PyTorch, JAX, TensorFlow, ONNX Runtime, CuPy, CTranslate2: the right findings, none where they work" {
    "$WC_PYTHON" "$WC_ROOT/tests/real/check_measured.py" large
}

@test "a scan of them says what find and readelf say, and is silent where they work" {
    local venv
    venv=$("$WC_ROOT/tests/setup/frameworks")
    "$WC_PYTHON" "$WC_ROOT/tests/oracle/scan_oracle.py" "$venv" "$WHICHCUDNN"
    "$WC_PYTHON" "$WC_ROOT/tests/oracle/scan_oracle.py" "$(echo "$WC_BUILD"/demo/venv-torch-*/)" "$WHICHCUDNN"
    "$WHICHCUDNN" scan --json "$venv" >scan.json
    [ "$(jq -c '[.reports[].verdict] | unique' scan.json)" = '["ok"]' ]
    [ "$(jq '[.reports[].stack.objects[] | select(.role == "host")] | length' scan.json)" -ge 4 ]
    [ "$(jq -c '[.passed_over]' scan.json)" = '[[]]' ]
}
