#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After a crash of a process that had the shim in it: finds the newest log, says what it shows and
# what to do about it.
#   examples/after-a-crash.sh [DIRECTORY]
# DIRECTORY: default $WHICHCUDNN_LOG, else where the shim puts logs by itself. Exit status: that of
# `whichcudnn report`.
#
# Each record was written before the thing that it tells of went on, so the log is whole up to the
# moment of the crash; without a normal end the report says what was under way.
set -eu
whichcudnn=${WHICHCUDNN:-whichcudnn}
directory=${1:-${WHICHCUDNN_LOG:-/tmp/whichcudnn-$(id -u)}}

newest=
for log in "$directory"/whichcudnn-*.jsonl*; do
    [ -f "$log" ] || continue
    if [ -z "$newest" ] || [ -n "$(find "$log" -newer "$newest")" ]; then
        newest=$log
    fi
done
if [ -z "$newest" ]; then
    echo "No log in $directory. A process leaves one when it asks for cuDNN or CUDA: was the" >&2
    echo "shim in it (LD_PRELOAD), and WHICHCUDNN_LOG this directory?" >&2
    echo "\`whichcudnn run -- COMMAND\` tells." >&2
    exit 3
fi

status=0
"$whichcudnn" report "$newest" || status=$?

echo
case $status in
0)
    echo "What to do: nothing that was seen of cuDNN is wrong; the cause lies elsewhere. The first"
    echo "line says which cuDNN was in use."
    ;;
1)
    echo "What to do: begin with the first finding, what follows may only be its effect. Its \"fix\" lines"
    echo "say what to change, the best first; then run the same command again with the shim in it."
    ;;
*)
    echo "What to do: run the command again as \`whichcudnn run -- COMMAND\`, which says why"
    echo "nothing was seen."
    ;;
esac
echo "For a bug report, attach this one file (docs/log.md says what is in it, and what is not):"
echo "    $newest"
exit "$status"
