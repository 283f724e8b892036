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

@test "github/workflow.yaml, action.yml: zizmor finds nothing in them, and finds what is planted" {
    local check=("$PLACES/zizmor" --offline --no-progress --no-config)
    # The owner and the commit are for who uses it to fill in.
    sed "s/OWNER/an-owner/; s/COMMIT/$(printf '%040d' 1)/" "$examples/github/workflow.yaml" >workflow.yaml
    cp "$WC_ROOT/action.yml" .
    run -0 "${check[@]}" --persona=pedantic workflow.yaml action.yml
    sed 's/\(upload-artifact\)@[0-9a-f]*/\1@v4/' "$WC_ROOT/action.yml" >action.yml
    run ! "${check[@]}" action.yml
    [[ $output == *unpinned-uses* ]]
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
