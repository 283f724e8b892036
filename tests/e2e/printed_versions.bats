#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs in four languages that print which cuDNN they were built with and which one they got
# (printed_versions.tsv): explained with both numbers, each in its role, from a file, from a pipe, and
# from a saved text.

bats_require_minimum_version 1.5.0
load helpers

# The programs: each opens the cuDNN of its first argument, asks for its version, and ends as programs
# of its language do, with the second argument as its message.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    cat >c.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **of) {
    void *cudnn = dlopen(of[1], RTLD_NOW);
    size_t (*version)(void) = (size_t(*)(void))dlsym(cudnn, "cudnnGetVersion");
    if (n == 3 && version())
        fprintf(stderr, "%s\n", of[2]);
    return 1;
}
C
    cat >c++.cc <<'C'
#include <dlfcn.h>
#include <stddef.h>
#include <stdexcept>
int main(int, char **of) {
    void *cudnn = dlopen(of[1], RTLD_NOW);
    auto version = reinterpret_cast<size_t (*)()>(dlsym(cudnn, "cudnnGetVersion"));
    if (version())
        throw std::runtime_error(of[2]);
}
C
    cat >python.py <<'C'
import ctypes, sys
if ctypes.CDLL(sys.argv[1]).cudnnGetVersion():
    raise RuntimeError(sys.argv[2])
C
    cat >go.go <<'C'
package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
static unsigned long version(const char *path) {
    unsigned long (*of)(void) = (unsigned long (*)(void))dlsym(dlopen(path, RTLD_NOW), "cudnnGetVersion");
    return of();
}
*/
import "C"
import (
	"errors"
	"os"
)

func main() {
	if C.version(C.CString(os.Args[1])) > 0 {
		panic(errors.New(os.Args[2]))
	}
}
C
    "${CC:-gcc}" -o c c.c -ldl && "${CXX:-g++}" -o c++ c++.cc -ldl || return
    # Without a compiler for Go its program is the one in C.
    GOCACHE=$PWD/cache GO111MODULE=off go build -o go go.go || cp c go
    printf '#!/bin/sh\nexec %q -S %q "$@"\n' "$PY" "$PWD/python.py" >python
    chmod +x python
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$PWD
    ulimit -c 0
}

# with_each COMMAND: COMMAND LANGUAGE DEMANDED FOUND TEXT of each row; how many fail is printed.
with_each() {
    local language of wanted found text rows=0 failed=0
    while IFS=$'\t' read -r language of wanted found text; do
        ((++rows))
        "$1" "$language" "$wanted" "$found" "$(printf %b "$text")" ||
            { ((++failed)) && printf 'failed: %s of %s\n' "$language" "$of"; }
    done < <(grep -v '^#' "$WC_ROOT/tests/e2e/printed_versions.tsv")
    echo "$rows programs, $failed failed"
    ((rows >= 20 && failed == 0))
}

# A stand-in of that release. 9.1: 9.1.0.
cudnn_of() {
    local version=$1
    [[ $version == *.*.* ]] || version+=.0
    local where=$BATS_FILE_TMPDIR/cudnn-$version
    [ -d "$where" ] || make_standin --create-status 0 "$version" "$where" || return
    echo "$where/libcudnn.so.${version%%.*}"
}

# The verdict has both numbers: what it got, and what it was built with.
says_both() { # WANTED FOUND FILE
    grep -E "^whichcudnn: error\[[a-z-]+\]: .* got cuDNN ${2//./\\.}.*[^0-9.]${1//./\\.}" "$3" >both && return
    cat "$3"
    return 1
}

into_file() {
    "$CMD" run --log logs/ -- "$BATS_FILE_TMPDIR/$1" "$(cudnn_of "$3")" "$4" 2>printed
    says_both "$2" "$3" printed
}
into_pipe() {
    "$CMD" run --text --log logs/ -- "$BATS_FILE_TMPDIR/$1" "$(cudnn_of "$3")" "$4" 2>&1 | cat >printed
    says_both "$2" "$3" printed
}
saved() {
    "$BATS_FILE_TMPDIR/$1" "$(cudnn_of "$3")" "$4" 2>saved
    is "$("$CMD" explain --json --text saved | jq -r '.messages[] | select(.wanted and .found) | "\(.wanted) \(.found)"')" \
        "$2 $3"
}

@test "standard error is a file: run reads it" { with_each into_file; }

@test "standard error is a pipe: run --text reads it" { with_each into_pipe; }

@test "a saved text: explain --text reads it" { with_each saved; }
