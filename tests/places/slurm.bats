#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A Slurm of one node: TaskProlog, and the SPANK plugin.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load places

setup() {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    cd "$BATS_TEST_TMPDIR"
    make_training
    mkdir -p job logs
    : >own.conf
}

# job COMMAND: of the shell, in job/, where srun has a Slurm with the lines of own.conf
job() {
    (cd job && exec timeout 120 "$WC_ROOT/tests/places/slurm-cluster" "$BATS_TEST_TMPDIR/slurm" \
        "$BATS_TEST_TMPDIR/own.conf" bash -c "$1")
}

@test "slurm/taskprolog.sh: each task is watched, its status is the task's; what has no cuDNN leaves nothing" {
    echo "TaskProlog=$examples/slurm/taskprolog.sh" >own.conf
    export WHICHCUDNN_SHIM=$SHIM
    run -3 --separate-stderr job 'srun sh -c "python3 ../train.py; exit 3"'
    is "$output" "$trained"
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
    local log=(job/*)
    [[ ${log[*]} == job/whichcudnn-*-node1-0-*.jsonl ]]
    validate_log "${log[0]}"
    is "$(field object version "${log[0]}" | head -n 1)" 9.5.0
    rm job/*
    run -0 --separate-stderr job 'srun true && LD_PRELOAD=libm.so.6 WHICHCUDNN_LOG=/mine srun env'
    grep -qx "LD_PRELOAD=libm.so.6:$SHIM" <<<"$output"
    grep -qx WHICHCUDNN_LOG=/mine <<<"$output"
    is "$stderr|$(ls job)" "|"
    # By a user alone.
    : >own.conf
    run -0 --separate-stderr job "srun --task-prolog=$examples/slurm/taskprolog.sh python3 ../train.py"
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
}

@test "slurm/whichcudnn_spank.c: tasks are watched; without the library or the plugin jobs run" {
    gcc -Wall -Wextra -Werror -shared -fPIC -o spank.so "$examples/slurm/whichcudnn_spank.c"
    echo "PlugStackConfig=$PWD/plugstack.conf" >own.conf
    echo "optional $PWD/spank.so $SHIM $PWD/logs" >plugstack.conf
    run -0 --separate-stderr job 'srun python3 ../train.py; LD_PRELOAD=libm.so.6 WHICHCUDNN_LOG=/mine srun env'
    is "${lines[0]}" "$trained"
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
    told_in logs
    grep -qx "LD_PRELOAD=libm.so.6:$SHIM" <<<"$output"
    grep -qx WHICHCUDNN_LOG=/mine <<<"$output"
    for line in "$PWD/spank.so $PWD/nowhere.so $PWD/logs" "$PWD/spank.so" "$PWD/nowhere.so $SHIM $PWD/logs"; do
        echo "optional $line" >plugstack.conf
        # shellcheck disable=SC2016
        run -4 --separate-stderr job 'srun sh -c "echo \${LD_PRELOAD-none}; exit 4"'
        is "$output" none
    done
}
