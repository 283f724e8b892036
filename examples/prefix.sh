#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Put before a command that fails, or that may have the wrong cuDNN:
#   examples/prefix.sh python train.py
#
# The command runs as without it: same arguments, input, output, signals and exit status, so this
# may stay in a job script. When it ends, however it ended, the verdict comes on standard error; the
# log stays for `whichcudnn report`. Where only the library is at hand, this does the same without a
# verdict at the end:
#   LD_PRELOAD=/path/to/libwhichcudnn.so WHICHCUDNN_LOG=logs python train.py
set -eu
whichcudnn=${WHICHCUDNN:-whichcudnn} # the command; `make install` puts it where PATH finds it
logs=${WHICHCUDNN_LOG:-whichcudnn-logs}

if [ $# -eq 0 ]; then
    echo "usage: prefix.sh COMMAND [ARGUMENT]..." >&2
    exit 2
fi
# Of its own, so that logs do not end up among the data. One that is named by a variable is used as
# it is: it may be a file name with %p (docs/log.md).
[ -n "${WHICHCUDNN_LOG:-}" ] || mkdir -p "$logs"
exec "$whichcudnn" run --log "$logs" -- "$@"
