# SPDX-License-Identifier: Apache-2.0
# What the tests of what is shipped have in common: `load ../release/release`.
# shellcheck shell=bash

# One file of what make dist made, by a pattern.
shipped() { # PATTERN
    local files
    mapfile -t files < <(compgen -G "$DIST/$1")
    [ "${#files[@]}" -eq 1 ] && [ -f "${files[0]}" ] && echo "${files[0]}"
}

# What make dist makes for these processors, kept apart from a whole one; DIST is its folder.
make_dist() { # ARCH...
    export DIST=$WC_BUILD/dist-small
    # The directory as make knows it: of another name it would be made anew.
    flock "$WC_BUILD/dist.lock" make -s -C "$WC_ROOT" O="$(realpath --relative-base="$WC_ROOT" "$WC_BUILD")" CACHE="$WC_CACHE" DIST="$DIST" \
        "${@/#/dist-}" >&2
}

# make_demo DIR CC LIBRARIES: a host on a cuDNN whose facade is of 9.1.0 and whose parts are of 9.5.0; linked
# with the libraries of a portable build it runs on each glibc.
make_demo() {
    mkdir -p "$1"
    printf '#!/bin/sh\nexec %s -L%s "$@"\n' "$2" "$3" >"$1/cc"
    chmod +x "$1/cc"
    CC=$1/cc make_standin 9.1.0 "$1/cudnn"
    CC=$1/cc make_standin --only graph 9.5.0 "$1/cudnn"
    CC=$1/cc build_host lazy "$1/cudnn" "$1/host" -Wl,-rpath,"\$ORIGIN/cudnn"
}

# What the command says of it, whatever else it says.
says_mixed() { grep -E '^(whichcudnn: )?error\[facade-and-parts-differ\]' <<<"$1"; }

# Every file below a folder, with what it is and where a link leads.
listing() { (cd "$1" && find . -not -name __pycache__ -not -name '*.pyc' -printf '%y %p %l\n' | sort); }

at_most() { # KIB FILE
    local size
    size=$(stat -Lc %s "$2")
    printf '# %7d bytes of %7d  %s\n' "$size" $(($1 * 1024)) "$(basename "$2")" >&3
    [ "$size" -le $(($1 * 1024)) ]
}

# The library of each processor, and its wheel.
have_sizes() {
    local file failed=0
    for file in "$WC_BUILD"/portable-*/stage/libwhichcudnn.so; do at_most 352 "$file" || failed=1; done
    for file in "$DIST"/*.whl; do at_most 1024 "$file" || failed=1; done
    [ $failed -eq 0 ]
}
