# SPDX-License-Identifier: Apache-2.0
# What the bats tests share: `load ../setup/helper`. make sets the WC_ variables; without make the
# defaults are those of `make` with no settings.
# shellcheck shell=bash

WC_ROOT=${WC_ROOT:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
WC_BUILD=${WC_BUILD:-$WC_ROOT/build}
WC_CACHE=${WC_CACHE:-$WC_BUILD/cache}
WC_PYTHON=${WC_PYTHON:-$WC_BUILD/venv/bin/python}
export WC_ROOT WC_BUILD WC_CACHE WC_PYTHON
export SHIM=$WC_BUILD/libwhichcudnn.so WHICHCUDNN=$WC_BUILD/whichcudnn

# A person's own settings are not the tests': of whichcudnn, the loader, CUDA, Python, shells, and the
# language in which other programs speak.
unset "${!WHICHCUDNN_@}" "${!LD_@}" "${!CUDNN_LOG@}" "${!CONDA_@}" CUDA_HOME CUDA_PATH \
    CUDA_VISIBLE_DEVICES VIRTUAL_ENV PYTHONPATH PYTHONHOME GLIBC_TUNABLES NO_COLOR CDPATH BASH_ENV ENV
export LC_ALL=C
umask 022
# Where `run` puts logs that no test named a place for: beside the test's own directory.
[ -z "${BATS_TEST_TMPDIR:-}" ] || export XDG_STATE_HOME=$BATS_TEST_TMPDIR-state

# shellcheck source=edit.bash
. "$WC_ROOT/tests/setup/edit.bash"

# Real releases: fetch_cudnn 9.1.0 --print lib (see --help).
fetch_cudnn() { "$WC_PYTHON" "$WC_ROOT/tests/setup/fetch_cudnn.py" "$@"; }

# drawn PARTS NAME: is NAME in the part that `make test` draws? Elsewhere everything is.
drawn() { "$WC_ROOT/tests/setup/drawn" "$@"; }

# Stand-ins for them and small programs that use them (see the first lines of each script).
make_standin() { "$WC_ROOT/tests/fixtures/standin/make-standin" "$@"; }
build_host() { "$WC_ROOT/tests/fixtures/hosts/build-host" "$@"; }

# Runs a program that cannot see what ld.so.cache knows: a machine's own cuDNN would fill the gaps of
# the sets that tests make. /proc/self/exe of that process is the loader.
without_cache() { # PROGRAM ARGUMENT...
    local loader
    loader=$(readelf -lW "$1" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    "$loader" --inhibit-cache "$@"
}

# The rows of tests/real/releases.tsv, and what RELEASE= of `make test` added ("9.x.y.z" or
# "distribution==version"; its number follows from the version).
releases() {
    grep -v '^#' "$WC_ROOT/tests/real/releases.tsv"
    [ -z "${WC_RELEASE:-}" ] && return
    local version=${WC_RELEASE##*==} distribution=nvidia-cudnn-cu12 major minor patch
    case $WC_RELEASE in *==*) distribution=${WC_RELEASE%%==*} ;; esac
    IFS=. read -r major minor patch _ <<<"$version"
    printf '%s\t%s\t%s\t-\n' "$distribution" "$version" \
        $((major * (major < 9 ? 1000 : 10000) + minor * 100 + patch))
}
