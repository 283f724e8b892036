#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What `make` builds, installs and reports.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup_file() {
    cd "$WC_ROOT" || return
    unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs these tests
    export OUT=$BATS_FILE_TMPDIR/out
    make -s -j2 O="$OUT" >/dev/null
}

setup() {
    cd "$WC_ROOT" || return
}

@test "make help names every target that the others depend on" {
    run make help
    [ "$status" -eq 0 ]
    for target in test test-unit test-e2e test-real test-measured lint demo bench headers install clean; do
        [[ $output == *"$target"* ]]
    done
}

@test "O= keeps a whole build in one directory, and a second make does nothing" {
    [ -s "$OUT/libwhichcudnn.so" ]
    run "$OUT/whichcudnn" --version
    [ "$status" -eq 0 ]
    run make O="$OUT"
    [[ $output != *LINK* && $output != *SHIM* && $output != *CC* ]]
}

@test "without a library that the command is built with: a sentence that names the packages, not a compiler error" {
    local header flags include=$BATS_TEST_TMPDIR/include
    flags="-nostdinc -isystem $($CC -print-file-name=include) -isystem $include"
    flags+=" -isystem /usr/include/$($CC -print-multiarch)"
    for header in jansson.h uthash.h zlib.h; do
        rm -rf "$include"
        mkdir "$include"
        ln -s /usr/include/* "$include"
        rm "$include/$header"
        run make O="$BATS_TEST_TMPDIR/o" CFLAGS="$flags" "$BATS_TEST_TMPDIR/o/whichcudnn"
        [ "$status" -ne 0 ]
        [[ $output == *"$header was not found, "*"apt install libjansson-dev uthash-dev zlib1g-dev; Fedora: dnf install"*"jansson-devel uthash-devel zlib-devel;"* ]]
        [[ $output != *"error:"* ]]
    done
}

@test "an object is made anew for other flags, and only then" {
    local object=$BATS_TEST_TMPDIR/obj/command/core/names/version.o
    run make O="$BATS_TEST_TMPDIR" OPT=-O2 "$object"
    [[ $output == *core/names/version.c* ]]
    run make O="$BATS_TEST_TMPDIR" OPT=-O2 "$object"
    [[ $output != *core/names/version.c* ]]
    run make O="$BATS_TEST_TMPDIR" OPT=-O1 "$object"
    [[ $output == *core/names/version.c* ]]
}

@test "the shim needs libc alone, imports _r_debug alone, and exports what it says" {
    readelf -dW "$SHIM" | grep NEEDED | sed 's/.*\[\(.*\)\]/\1/' >"$BATS_TEST_TMPDIR/needed"
    echo libc.so.6 | diff - "$BATS_TEST_TMPDIR/needed"
    # gcov's run-time brings its own in; COVERAGE=1 is for tests only.
    if ! readelf -W --dyn-syms "$SHIM" | grep -q ' fopen@'; then
        readelf -W --dyn-syms "$SHIM" | awk '$7 == "UND" && $8 { sub("@.*", "", $8); print $8 }' \
            >"$BATS_TEST_TMPDIR/imports"
        echo _r_debug | diff - "$BATS_TEST_TMPDIR/imports"
    fi
    readelf -W --dyn-syms "$SHIM" | awk '$7 != "UND" && $8 && NR > 3 { print $8 }' | sort \
        >"$BATS_TEST_TMPDIR/exports"
    printf '%s\n' __gmon_start__ dladdr dladdr1 dlclose dlerror dlmopen dlopen dlsym dlvsym \
        whichcudnn_walk |
        diff - "$BATS_TEST_TMPDIR/exports"
}

@test "the shim wants no glibc above 2.17, no executable stack, no lazy binding, no text relocations" {
    readelf -VW "$SHIM" | grep -o 'GLIBC_[0-9.]*' | sort -uV >"$BATS_TEST_TMPDIR/glibc" || true
    [ "$( (cat "$BATS_TEST_TMPDIR/glibc"; echo GLIBC_2.17) | sort -V | tail -n 1)" = GLIBC_2.17 ]
    readelf -lW "$SHIM" | grep -q 'GNU_STACK.* RW '
    readelf -dW "$SHIM" | grep -q BIND_NOW
    run ! grep -q TEXTREL <(readelf -dW "$SHIM")
    # _init is what calls __gmon_start__.
    readelf -dW "$SHIM" | grep -q '(INIT)'
}

@test "install puts both where they are asked to be, and a mapped library stays whole" {
    local root=$BATS_TEST_TMPDIR/root
    make -s install O="$OUT" DESTDIR="$root" PREFIX=/opt/w LIBDIR=/opt/w/lib64 >/dev/null
    cmp "$OUT/libwhichcudnn.so" "$root/opt/w/lib64/libwhichcudnn.so"
    [ -x "$root/opt/w/bin/whichcudnn" ]
    diff <(ls "$OUT/man") <(find "$root/opt/w/share/man" -type f -printf '%f\n' | sort)
    cmp "$OUT/man/whichcudnn.1" "$root/opt/w/share/man/man1/whichcudnn.1"
    cmp completions/whichcudnn.bash "$root/opt/w/share/bash-completion/completions/whichcudnn"
    grep -q /opt/w/lib64 "$root/opt/w/bin/whichcudnn" # where it looks for the shim
    exec 7<"$root/opt/w/lib64/libwhichcudnn.so"
    local before
    before=$(stat -L -c %i /proc/self/fd/7)
    make -s install O="$OUT" DESTDIR="$root" PREFIX=/opt/w LIBDIR=/opt/w/lib64 >/dev/null
    [ "$before" != "$(stat -c %i "$root/opt/w/lib64/libwhichcudnn.so")" ]
    cmp /proc/self/fd/7 "$OUT/libwhichcudnn.so"
    [ -z "$(find "$root" -name '.*.new')" ]
}

@test "without pandoc everything but the man pages is there, and that is said" {
    local root=$BATS_TEST_TMPDIR/root
    run -0 --separate-stderr make -s install O="$OUT" DESTDIR="$root" PREFIX=/w PANDOC=
    [ "$stderr" = "man pages are left out: pandoc is not there" ]
    [ -x "$root/w/bin/whichcudnn" ] && [ ! -e "$root/w/share/man" ]
    rm -rf "$OUT/man"
    run -2 make man O="$OUT" PANDOC=
    [[ $output == *"pandoc is not there"* ]]
}

@test "without NVIDIA's headers make says how to get them" {
    run make O="$BATS_TEST_TMPDIR/other" CUDNN_INCLUDE=/nowhere
    [ "$status" -ne 0 ]
    [[ $output == *'make headers'* ]]
}

@test "the summary counts what failed, what was planned and never ran, and what died" {
    cd "$BATS_TEST_TMPDIR"
    printf '1..3\nok 1 a\nok 2 b # skip not here\nnot ok 3 # SKIP c\n' >skips.tap
    run "$WC_ROOT/tests/setup/summary" skips.tap
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "1 passed, 0 failed" ]
    printf '1..4\nok 1 # skips nothing, by its name\nnot ok 2 b\nok 3 c\n' >one.tap
    run "$WC_ROOT/tests/setup/summary" skips.tap one.tap
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "3 passed, 2 failed" ]
    printf '1..2\nok 1 a\nok 2 b\nBail out! died\n' >died.tap
    run "$WC_ROOT/tests/setup/summary" died.tap
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "2 passed, 1 failed" ]
    : >empty.tap
    run "$WC_ROOT/tests/setup/summary" empty.tap
    [ "${lines[-1]}" = "0 passed, 1 failed" ]
    run "$WC_ROOT/tests/setup/summary" nothing.tap
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "0 passed, 0 failed" ]
}

@test "a test program that dies, or fails after its last test, is a failure" {
    printf '#!/bin/sh\nprintf "1..1\\nok 1 a\\n"\nkill -SEGV $$\n' >"$BATS_TEST_TMPDIR/dies"
    chmod +x "$BATS_TEST_TMPDIR/dies"
    run "$WC_ROOT/tests/setup/run-unit" "$BATS_TEST_TMPDIR/tap" 0 "$BATS_TEST_TMPDIR/dies"
    [ "$status" -eq 1 ]
    run "$WC_ROOT/tests/setup/summary" "$BATS_TEST_TMPDIR"/tap/*.tap
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
    run "$WC_ROOT/tests/setup/run-unit" "$BATS_TEST_TMPDIR/tap" 2 "$BATS_TEST_TMPDIR/dies"
    run "$WC_ROOT/tests/setup/summary" "$BATS_TEST_TMPDIR"/tap/*.tap
    [ "${lines[-1]}" = "1 passed, 2 failed" ]
}

@test "where nothing can be installed, what is missing is listed" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in sh dirname sort tr id cat; do
        ln -s "$(command -v $tool)" "$BATS_TEST_TMPDIR/bin/$tool"
    done
    run env PATH="$BATS_TEST_TMPDIR/bin" "$WC_ROOT/tests/setup/install" lint
    [ "$status" -eq 1 ]
    [[ $output == *shellcheck* && $output == *clang-tidy* ]]
}
