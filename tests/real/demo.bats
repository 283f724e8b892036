#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# `make demo`: a real framework with a cuDNN too old, and with others. The path is held against
# /proc/PID/maps of that very run, the version against what the host itself prints, the verdict
# against pip's own arithmetic on the wheel's own requirement.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# `make demo` with the build that is tested: O= as it was given, or everything would be built anew.
demo() {
    make --no-print-directory -C "$WC_ROOT" O="${WC_BUILD#"$WC_ROOT"/}" CACHE="$WC_CACHE" "$@" demo
}

# Runs it and leaves: demo.out, demo.err, number (what the host printed), mapped (cuDNN's files in
# its maps), report.json, requirement (of the plugin's wheel).
run_demo() { # CUDNN
    local site
    demo CUDNN="$1" >demo.out 2>demo.err || { cat demo.out demo.err && return 1; }
    cat demo.out
    number=$(sed -n 's/^built with [0-9]* runs with \([0-9]*\)$/\1/p' demo.out)
    sed -n '/^What .proc.PID.maps/,/^$/s/^    //p' demo.out | sort >mapped
    site=$(echo "$WC_BUILD"/demo/venv-jax-*/lib/python*/site-packages)
    requirement=$(sed -n 's/^Requires-Dist: nvidia-cudnn-cu12\([^;]*\).*/\1/p' \
        "$site"/jax_cuda12_plugin-*.dist-info/METADATA)
    "$WHICHCUDNN" report --json "$WC_BUILD/demo/log-jax" >report.json || [ $? -eq 1 ]
    "$WC_PYTHON" "$WC_ROOT/tests/schema/validate.py" report report.json
    "$WC_PYTHON" "$WC_ROOT/tests/schema/validate.py" log "$WC_BUILD"/demo/log-jax/*.jsonl
    [ -n "$number" ] && [ -s mapped ] && [ -n "$requirement" ]
}

version() { # NUMBER
    local weight=$(($1 < 10000 ? 1000 : 10000))
    echo "$(($1 / weight)).$(($1 % weight / 100)).$(($1 % 100))"
}

accepted() { # VERSION, by the requirement: pip's word
    "$WC_PYTHON" -c '
import sys
from pip._vendor.packaging.specifiers import SpecifierSet
sys.exit(sys.argv[2] not in SpecifierSet(sys.argv[1]))' "$requirement" "$1"
}

# What holds for each release: the very files of that run, and the version that the host was told.
says_the_truth() {
    jq -r '.stack.objects[] | select(.role == "facade" or .role == "part") | .real_path' \
        report.json | sort | diff mapped -
    [ "$(jq -r '.stack.objects[] | select(.role == "facade") | .version' report.json)" = \
        "$(version "$number")" ]
    "$WHICHCUDNN" report -v "$WC_BUILD/demo/log-jax" >whole.out || [ $? -eq 1 ]
    grep -F "facade $(grep 'libcudnn\.so' mapped)" whole.out
    grep -F " $(version "$number")" demo.out
}

@test "make demo: too old, from which file, what the wheel requires, how to repair it" {
    run_demo 9.1.0
    says_the_truth
    run ! accepted "$(version "$number")"
    [ "$(jq -c '[.findings[].id]' report.json)" = '["runtime-too-old"]' ]
    grep -x "error\[runtime-too-old]: jax-cuda12-plugin [0-9.]* got cuDNN $(version "$number"), requires .*>=9\.8.*" \
        demo.out
    grep -F "$requirement" <(jq -r '.findings[0].facts[].value' report.json)
    # The first fix is one that the requirement accepts, and it can be pasted.
    [ "$(jq -r '.findings[0].fix[0] | .checked + ": " + .command' report.json)" = \
        "replayed: $(echo "$WC_BUILD"/demo/venv-jax*/bin/python) -m pip install 'nvidia-cudnn-cu12$requirement'" ]
    accepted "$(jq -r '.findings[0].fix[0].gives | split(" ")[0]' report.json)"
    # On standard error while it ran, in the log before the plugin's question went on to cuDNN,
    # whose first deed is to ask for a part.
    grep "^whichcudnn: error\[runtime-too-old]: jax-cuda12-plugin [0-9.]* got cuDNN $(version "$number")" demo.err
    jq -e -s '[.[] | select(.kind == "finding")][0].seq <
        [.[] | select(.kind == "request" and (.name | test("libcudnn_")))][0].seq' \
        "$WC_BUILD"/demo/log-jax/*.jsonl
}

@test "make demo CUDNN=...: a finding where the wheel does not accept it, none where it does" {
    local release seen=''
    for release in 9.3.0 9.8.0 9.10.2 ${WC_RELEASE:+"$WC_RELEASE"}; do
        case $release in *-cu13==* | *==7* | *==8* | [78].*) continue ;; esac # not for this plugin
        run_demo "$release"
        says_the_truth
        if accepted "$(version "$number")"; then
            seen+=' none'
            [ "$(jq -c '[.verdict, .findings]' report.json)" = '["ok",[]]' ]
            [ "$(grep -c '^whichcudnn: ' demo.err)" -eq 0 ]
        else
            seen+=' too-old'
            [ "$(jq -c '[.findings[].id]' report.json)" = '["runtime-too-old"]' ]
        fi
    done
    [[ $seen == ' too-old none none'* ]]
}

@test "make demo refuses what does not exist" {
    run demo FRAMEWORK=lisp
    [ "$status" -ne 0 ]
    [[ $output == *"FRAMEWORK=lisp is not known"* ]]
    run demo CUDNN=9.99.0
    [ "$status" -ne 0 ]
    [[ $output == *"no wheel for nvidia-cudnn-cu12==9.99.0"* ]]
}
