#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A container's entrypoint that watches whatever the container runs:
#   COPY libwhichcudnn.so /usr/local/lib/
#   COPY entrypoint.sh /
#   ENTRYPOINT ["/entrypoint.sh"]
#   CMD ["python", "train.py"]
#
# Processes that have nothing to do with cuDNN leave no log. Mount a volume over the log directory
# to keep the logs when the container is gone. `docker run -e WHICHCUDNN_DISABLE=1` switches it off.
# Any POSIX shell will do. Without the library, or with one that cannot be loaded here, the command
# runs unwatched.
shim=${WHICHCUDNN_SHIM:-/usr/local/lib/libwhichcudnn.so}
logs=/var/log/whichcudnn # unless WHICHCUDNN_LOG says otherwise

# One for another processor or for a newer libc would make the loader complain in every process.
loads() {
    [ -r "$shim" ] && complaint=$(LD_PRELOAD=$shim env true 2>&1) && [ -z "$complaint" ]
}

if [ "${WHICHCUDNN_DISABLE:-}" != 1 ] && loads; then
    # At the end: what is there already (an allocator, a sanitizer) may want to be first.
    export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$shim"
    if [ -z "${WHICHCUDNN_LOG:-}" ] && mkdir -p "$logs" 2>/dev/null && [ -w "$logs" ]; then
        export WHICHCUDNN_LOG="$logs"
    fi
fi

if [ $# -eq 0 ]; then
    echo "entrypoint.sh: no command was given" >&2
    exit 2
fi
# The command becomes this process, PID 1 in a container: it gets the signals, and its exit status
# is the container's.
exec "$@"
