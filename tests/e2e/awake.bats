#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What an event costs while the shim is awake, in system calls over bare: they are the same on every
# machine. `make bench` has the times.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    gcc -O2 -D_GNU_SOURCE -o awake "$WC_ROOT/tests/bench/awake.c" -ldl
    gcc -O2 -shared -fPIC -Wl,-soname,libcudnn.so.9 -o libcudnn.so.9 "$WC_ROOT/tests/bench/cudnn.c"
    gcc -O2 -shared -fPIC -o unrelated.so -x c - <<<'int unrelated(void) { return 1; }'
    local i
    for i in {0..159}; do
        mkdir "$i" && cp libcudnn.so.9 "$i"
    done
}
setup() {
    cd "$BATS_FILE_TMPDIR" || return
    logs=$BATS_TEST_TMPDIR/logs
}

# calls PRELOAD WHAT N: the system calls of a program that does it so often. How many calls a list takes is the
# directory's: each child lists /tmp, in which others put hundreds of files.
calls() {
    rm -rf "$logs" && mkdir "$logs"
    WHICHCUDNN_LOG=$logs WHICHCUDNN_STDERR=off strace -f -qq -c -e 'trace=!getdents64' -o "$BATS_TEST_TMPDIR/counted" \
        ${1:+-E LD_PRELOAD="$1"} ./awake "$2" "$3" "$PWD" || return
    awk '$NF == "total" { print $(NF - 1) ~ /^[0-9]+$/ && NF == 5 ? $(NF - 1) : $4 }' "$BATS_TEST_TMPDIR/counted"
}

# costs_at_most CALLS WHAT FEW MANY: one more costs so many over bare, once it was done FEW times.
# What is read once differs by the entries of /tmp, where others write.
costs_at_most() {
    local most=$1 what=$2 few=$3 many=$4 bare own
    bare=$(($(calls '' "$what" "$many") - $(calls '' "$what" "$few")))
    own=$(($(calls "$SHIM" "$what" "$many") - $(calls "$SHIM" "$what" "$few")))
    [ -n "$(ls "$logs")" ]
    echo "$what: $((own - bare)) more for $((many - few))"
    [ "$bare" -ge 0 ] && [ "$own" -gt 0 ]
    [ $((own - bare)) -le $((most * (many - few) + 200)) ]
}

@test "a dlopen of what is not there and does not matter: at most 8 system calls" {
    costs_at_most 8 failed-open 1200 2200
}

@test "a lookup of a function that is not there, and dlerror: at most 5, once many were told" {
    costs_at_most 5 failed-lookup 600 1600
}

@test "opening, asking and closing an unrelated library: at most 11" {
    costs_at_most 11 unrelated 50 1050
}

@test "one more cuDNN library: at most 130, however many there are" {
    costs_at_most 130 libraries 110 160
}

@test "a child that asks for cuDNN first: at most 330" {
    costs_at_most 330 children 5 15
}
