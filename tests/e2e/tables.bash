# SPDX-License-Identifier: Apache-2.0
# Checks of the shim by its own tables: `load helpers`, `load tables`.
# shellcheck shell=bash

# Names of dynamic symbols: "defined" or "undefined", binding, name as printed (with its symbol version).
# Local ones are sections, which nobody can be bound to.
symbols() { # LIBRARY
    readelf -W --dyn-syms "$1" | awk 'NR > 3 && $1 ~ /^[0-9]+:$/ && $8 && $5 != "LOCAL" {
        print ($7 == "UND" ? "undefined" : "defined"), $5, $8 }' | sort
}

# The checks are used where bash does not stop at the first failure, so each says so itself.
exports_the_nine() { # and the one by which a walk is asked for
    # A defined name with an @ would have a symbol version.
    is "$(symbols "$1" | awk '$1 == "defined" { print $3 }' | tr '\n' ' ')" \
        "__gmon_start__ dladdr dladdr1 dlclose dlerror dlmopen dlopen dlsym dlvsym whichcudnn_walk " || return
    is "$(symbols "$1" | awk '$1 == "defined" { print $2 }' | sort -u)" GLOBAL || return
    lacks "$(readelf -VW "$1")" 'Version definition'
}

imports_one() {
    # Nobody has to define it, nor what the compiler's own start files may name.
    is "$(symbols "$1" | awk '$1 == "undefined" { print $2, $3 }' |
        grep -vxE 'WEAK (_ITM_(de)?registerTMCloneTable|__cxa_finalize(@.*)?|__gmon_start__)')" \
        'WEAK _r_debug' || return
    is "$(readelf -dW "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')" libc.so.6 || return
    lacks "$(readelf -VW "$1")" GLIBC_
}

is_tame() {
    local tags segments
    tags=$(readelf -dW "$1")
    segments=$(readelf -lW "$1" | sed -E 's/ 0x[0-9a-f]+//g')
    is "$(awk '$1 == "GNU_STACK" { print $2 }' <<<"$segments")" RW || return
    lacks "$segments" 'LOAD +RWE' || return
    lacks "$tags" 'TEXTREL|RPATH|RUNPATH|SYMBOLIC' || return
    is "$(sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' <<<"$tags")" libwhichcudnn.so || return
    grep -q 'FLAGS.*NOW' <<<"$tags"
}

lacks() { # TEXT PATTERN
    ! grep -E "$2" <<<"$1"
}
