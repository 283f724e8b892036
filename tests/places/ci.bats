#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# GitHub's workflow, pre-commit, systemd: validated by those who read them, and what they start is run.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load places

setup() {
    cd "$BATS_TEST_TMPDIR"
    make_training
    unset "${!GITHUB_@}"
    mkdir bin
    ln -s "$CMD" bin/whichcudnn
    PATH=$PWD/bin:$PATH
}

# What an environment of a project holds: a host, and a cuDNN of one release (good) or two (bad); or nothing.
make_project() { # bad|good|empty
    rm -rf .venv && mkdir -p .venv/lib
    [ "$1" != empty ] || return 0
    make_standin 9.1.0 .venv/lib
    [ "$1" = good ] || make_standin 9.5.0 .venv/lib --without facade
    build_host lazy .venv/lib .venv/host
}

# The `run` of that step of the workflow.
step() { # NAME
    "$PLACES/python" - "$examples/github/workflow.yaml" "$1" <<'END'
import sys
import yaml
with open(sys.argv[1]) as file:
    steps = yaml.safe_load(file)["jobs"]["test"]["steps"]
print(next(s["run"] for s in steps if s.get("name") == sys.argv[2]))
END
}

@test "github/workflow.yaml: zizmor finds nothing in it, and finds what is planted" {
    run -0 "$PLACES/zizmor" --offline --no-progress --no-config --persona=pedantic "$examples/github/workflow.yaml"
    sed 's/\(checkout\)@[0-9a-f]*/\1@v4/' "$examples/github/workflow.yaml" >planted.yaml
    run ! "$PLACES/zizmor" --offline --no-progress --no-config planted.yaml
    [[ $output == *unpinned-uses* ]]
}

@test "github/workflow.yaml: its steps fail where they say so" {
    mkdir .github
    cp "$examples/github/step.sh" .github
    for project in good empty; do
        make_project $project
        run -0 bash -e -o pipefail -c "$(step 'Which cuDNN would it get?')"
    done
    make_project bad
    run -1 bash -e -o pipefail -c "$(step 'Which cuDNN would it get?')"
    [[ $output == *'error[facade-and-parts-differ]'* ]]
    # pytest stands for the tests of a project.
    sed 's/^/    /; 1i def test_this():' train.py >test_train.py
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$PLACES/python" >bin/python3
    chmod +x bin/python3
    run -1 env GITHUB_STEP_SUMMARY="$PWD/summary" bash -e -o pipefail -c "$(step 'Test, watched')"
    [[ $output == *'1 passed'*'::error file=requirements.txt,title=cuDNN::error: libcudnn.so.9 is cuDNN 9.1.0'* ]]
    grep -q facade-and-parts-differ summary
    told_in whichcudnn-logs
}

@test "pre-commit/pre-commit-config.yaml: the hook stops a commit for an error, and no other" {
    export HOME=$PWD PRE_COMMIT_HOME=$PWD/home
    git init -q .
    git config user.email a@b.c
    git config user.name a
    echo .venv >.gitignore
    cp "$examples/pre-commit/pre-commit-config.yaml" .pre-commit-config.yaml
    "$PLACES/pre-commit" install
    make_project bad
    git add .gitignore .pre-commit-config.yaml
    git commit -qm 'nothing that was installed'
    echo torch >requirements.txt
    git add requirements.txt
    run -1 git commit -qm bad
    [[ $output == *'cuDNN fits who uses it'*Failed*'error[facade-and-parts-differ]'* ]]
    make_project good
    run -0 git commit -m good
    [[ $output == *'cuDNN fits who uses it'*Passed* ]]
    make_project empty
    echo jax >requirements.txt
    git add requirements.txt
    run -0 git commit -m empty
    [[ $output == *'cuDNN fits who uses it'*Passed* ]]
}

# service: what systemd says of a service with that drop-in
service() {
    SYSTEMD_UNIT_PATH=$PWD/units: systemd-analyze verify --man=no "$PWD/units/train.service"
}

@test "systemd/whichcudnn.conf: systemd finds nothing to say, and says what is planted; its variables" {
    local name value
    mkdir -p units/train.service.d logs
    printf '[Service]\nExecStart=/bin/true\n' >units/train.service
    cp "$examples/systemd/whichcudnn.conf" units/train.service.d
    run -0 service
    is "$output" ""
    while IFS='=' read -r _ name value; do
        value=${value/#'/usr/local/lib/libwhichcudnn.so'/$SHIM}
        export "$name=${value/#'%L/whichcudnn'/$PWD/logs}"
    done < <(grep ^Environment= "$examples/systemd/whichcudnn.conf")
    run -0 --separate-stderr python3 train.py
    unset LD_PRELOAD
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
    told_in logs
    grep -qx LogsDirectory=whichcudnn units/train.service.d/whichcudnn.conf
    edit -o units/train.service.d/whichcudnn.conf examples/systemd/whichcudnn.conf LogsDirectory= LogDirectory=
    run service
    [[ $output == *"Unknown key"*LogDirectory* ]]
}
