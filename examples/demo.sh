#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A real framework with the wrong cuDNN, watched. `make demo` calls this; by hand:
#   CUDNN=9.1.0 FRAMEWORK=jax examples/demo.sh
# CUDNN: any release on the package index. FRAMEWORK: jax (58 MB on disk), or torch (over 5 GB).
# The framework runs as it always does; the only additions are the two variables before the command.
# While it still runs, /proc/PID/maps is read, so that what whichcudnn says can be held against it.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${WC_BUILD:-$root/build}
cudnn=${CUDNN:-9.1.0}
framework=${FRAMEWORK:-jax}

case $framework in
jax)
    what='jax-cuda12-plugin 0.10.2'
    packages='--no-deps jax-cuda12-plugin==0.10.2 nvidia-cuda-runtime-cu12'
    line='from jax_cuda12_plugin import _versions as v; print("built with", v.cudnn_build_version(), "runs with", v.cudnn_get_version())'
    ;;
torch)
    what='torch 2.15.0'
    packages='torch==2.15.0'
    line='import torch; print("runs with", torch.backends.cudnn.version())'
    ;;
*)
    echo "demo: FRAMEWORK=$framework is not known; jax or torch" >&2
    exit 2
    ;;
esac

mkdir -p "$build/demo"
venv=$build/demo/venv-$(echo "$what" | tr ' ' -)
exec 9>"$venv.lock"
flock 9
if [ ! -e "$venv/.ready" ]; then
    echo "installing $what into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv"
    # shellcheck disable=SC2086  # an option and several names
    "$venv/bin/pip" install -q $packages
    touch "$venv/.ready"
fi

# What `pip uninstall` of any cuDNN and `pip install` of this one would leave, less the big parts.
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
rm -rf "$site"/nvidia/cudnn "$site"/nvidia_cudnn_cu1*.dist-info
"${WC_PYTHON:-$build/venv/bin/python}" "$root/tests/setup/fetch_cudnn.py" "$cudnn" \
    --into "$site" --prune-record >/dev/null

logs=$build/demo/log-$framework
rm -rf "$logs"
mkdir -p "$logs"
mkfifo "$logs/go"
echo "\$ LD_PRELOAD=$build/libwhichcudnn.so WHICHCUDNN_LOG=$logs python -c '$line'"
# It waits for a line on its standard input before it ends, or before it reports what was raised.
LD_PRELOAD="$build/libwhichcudnn.so" WHICHCUDNN_LOG="$logs" "$venv/bin/python" -c "
try:
    $line
finally:
    print(flush=True)
    input()" <"$logs/go" >"$logs/stdout" 2>"$logs/stderr" 9>&- &
host=$!
exec 8>"$logs/go"
until grep -q '^$' "$logs/stdout" || grep -q '^State:.*Z' "/proc/$host/status"; do sleep 0.1; done
mapped=$(awk '$6 ~ /libcudnn/ && !seen[$6]++ { print $6 }' "/proc/$host/maps" 2>/dev/null || true)
echo >&8
exec 8>&-
status=0
wait $host || status=$?
rm -f "$logs/go"
sed '/^$/d' "$logs/stdout"
cat "$logs/stderr" >&2
rm -f "$logs/stdout" "$logs/stderr"
echo "(exit status $status)"
echo
echo "What /proc/PID/maps of that process said:"
echo "$mapped" | sed 's/^/    /'
echo
echo "\$ whichcudnn report $logs"
verdict=0
"$build/whichcudnn" report "$logs" || verdict=$?
[ "$verdict" -le 1 ] # 0: nothing wrong, 1: findings; anything else means that nothing was seen
