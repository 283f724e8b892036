#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Watches every task of a job. By a user:
#   srun --task-prolog=/path/to/taskprolog.sh python train.py
# for all, in slurm.conf: TaskProlog=/path/to/taskprolog.sh
#
# Slurm puts each line `export NAME=VALUE` that this prints into the task's environment. (A value that
# `--export=` sets ends at a comma.)
# Error: on standard error of the task, so in slurm-JOB.out. Exit status: the task's. Logs: beside that
# file, of all nodes, if cuDNN was asked for; then `whichcudnn report whichcudnn-JOB-*`.
shim=${WHICHCUDNN_SHIM:-/usr/local/lib/libwhichcudnn.so}

[ "${WHICHCUDNN_DISABLE:-}" != 1 ] && [ -r "$shim" ] || exit 0
# One for another processor or for a newer libc would make the loader complain in every process.
complaint=$(LD_PRELOAD=$shim env true 2>&1) && [ -z "$complaint" ] || exit 0
echo "export LD_PRELOAD=${LD_PRELOAD:+$LD_PRELOAD:}$shim"
[ -n "${WHICHCUDNN_LOG:-}" ] ||
    echo "export WHICHCUDNN_LOG=${SLURM_SUBMIT_DIR:-.}/whichcudnn-${SLURM_JOB_ID:-0}-%n-%r-%p.jsonl"
