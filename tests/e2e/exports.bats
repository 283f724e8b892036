#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the shim brings into a process, by its own tables, whichever compiler and level built it.

bats_require_minimum_version 1.5.0
load helpers
load tables

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

@test "exports the nine and one of its own, without a symbol version" {
    each_build exports_the_nine
}

@test "imports _r_debug alone, which nobody has to define, and needs libc.so.6 of any version" {
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
