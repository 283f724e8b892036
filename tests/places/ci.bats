#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# GitHub's workflow and systemd: validated by those who read them, and what they start is run.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load places

setup() {
    cd "$BATS_TEST_TMPDIR"
    make_training
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
