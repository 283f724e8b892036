#!/usr/bin/env bats
# What the shim brings into a process, by its own tables, whichever compiler and level built it.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    local variant
    for variant in O0 O2 clang clang-O0 coverage; do
        "$WC_ROOT/tests/neutrality/shim-variant" "$variant"
    done
}

# each_build CHECK [ARGUMENT...]: `CHECK LIBRARY ARGUMENT...` for each build that is given to users.
each_build() {
    local variant
    for variant in O0 O2 clang clang-O0; do
        echo "$variant:"
        "$1" "$BUILD/variants/$variant/libwhichcudnn.so" "${@:2}"
    done
}

# Names of dynamic symbols: "defined" or "undefined", name as printed (with its version node).
symbols() { # LIBRARY
    readelf -W --dyn-syms "$1" | awk 'NR > 3 && $1 ~ /^[0-9]+:$/ && $8 {
        print ($7 == "UND" ? "undefined" : "defined"), $5, $8 }' | sort
}

# The checks are used where bash does not stop at the first failure, so each says so itself.
exports_the_nine() {
    # A defined name with an @ would have a version node.
    is "$(symbols "$1" | awk '$1 == "defined" { print $3 }' | tr '\n' ' ')" \
        "__gmon_start__ dladdr dladdr1 dlclose dlerror dlmopen dlopen dlsym dlvsym " || return
    is "$(symbols "$1" | awk '$1 == "defined" { print $2 }' | sort -u)" GLOBAL || return
    lacks "$(readelf -VW "$1")" 'Version definition'
}

imports_one() {
    local strong weak newest
    strong=$(symbols "$1" |
        awk '$1 == "undefined" && $2 == "GLOBAL" { sub("@.*", "", $3); print $3 }')
    is "$strong" dl_iterate_phdr || return
    # What the compiler's own start files may name; nobody has to define them.
    weak=$(symbols "$1" | awk '$1 == "undefined" && $2 != "GLOBAL" { print $3 }' |
        grep -vxE '_ITM_(de)?registerTMCloneTable|__cxa_finalize(@.*)?|__gmon_start__' || true)
    is "$weak" "" || return
    is "$(readelf -dW "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')" libc.so.6 || return
    newest=$(readelf -VW "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    [ -n "$newest" ] || return
    is "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" GLIBC_2.17
}

is_tame() {
    local tags segments
    tags=$(readelf -dW "$1")
    segments=$(readelf -lW "$1" | sed -E 's/ 0x[0-9a-f]+//g')
    is "$(awk '$1 == "GNU_STACK" { print $2 }' <<<"$segments")" RW || return
    lacks "$segments" 'LOAD +RWE' || return
    lacks "$tags" 'TEXTREL|RPATH|RUNPATH|SYMBOLIC' || return
    is "$(sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p' <<<"$tags")" libwhichcudnn.so || return
    # Everything is bound before anything runs, and then closed.
    grep -q 'FLAGS.*NOW' <<<"$tags" && grep -q GNU_RELRO <<<"$segments"
}

lacks() { # TEXT PATTERN
    ! grep -E "$2" <<<"$1"
}

@test "exports the nine and nothing else, without a version node" {
    each_build exports_the_nine
}

@test "imports dl_iterate_phdr alone, from libc.so.6 alone, of glibc 2.17 or older" {
    each_build imports_one
}

@test "no executable stack, no text relocations, no search path, no lazy binding" {
    each_build is_tame
}

@test "a coverage build exports the nine as well, and no more" {
    local library=$BUILD/variants/coverage/libwhichcudnn.so
    exports_the_nine "$library"
    is_tame "$library"
    # It really is one.
    symbols "$library" | grep -q 'undefined.* getenv'
}

@test "the checks notice: another export, a node, an import, an executable stack" {
    cd "$BATS_TEST_TMPDIR"
    cat >bad.c <<'END'
#include <string.h>
void *dlopen(const char *n, int f) { (void)f; return (void *)strlen(n); }
void extra(void) {}
END
    echo 'OURS { global: *; };' >node.map
    gcc -shared -fPIC -fno-builtin bad.c -o bad.so -Wl,-z,execstack
    gcc -shared -fPIC -fno-builtin bad.c -o node.so -Wl,--version-script=node.map
    run ! exports_the_nine bad.so
    run ! exports_the_nine node.so
    run ! imports_one bad.so
    run ! is_tame bad.so
}
