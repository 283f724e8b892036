#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Not run by a test: torchrun itself, which is 5 GB; one that starts ranks in the same way stands for it.
# On each node, in place of torchrun:
#   torchrun.sh --nproc-per-node=8 train.py
#
# Error: on standard error while the ranks still run; at the end the verdict of all, ranks that differ
# first. Exit status: torchrun's. Logs: whichcudnn-logs, the node and the rank in each name; then, of
# all nodes, `whichcudnn report whichcudnn-logs`.
set -eu
mkdir -p whichcudnn-logs
exec "${WHICHCUDNN:-whichcudnn}" run --log "${WHICHCUDNN_LOG:-whichcudnn-logs/%n-%r-%p.jsonl}" \
    -- "${TORCHRUN:-torchrun}" "$@"
