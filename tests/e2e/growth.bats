#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What comes twice as often costs twice as much. Instructions are counted: a machine has other things
# to do, too.

bats_require_minimum_version 1.5.0
load helpers
load ../loader/loader

setup_file() {
    build_programs
    gcc -shared -fPIC -o "$BATS_FILE_TMPDIR/empty.so" -x c /dev/null
}
setup() { enter_programs; }

# instructions PRELOAD WHAT N: of a program that does it so often.
instructions() {
    rm -rf "$logs" && mkdir "$logs"
    LD_PRELOAD=$1 WHICHCUDNN_LOG=$logs WHICHCUDNN_STDERR=off valgrind --tool=callgrind \
        --callgrind-out-file=/dev/null --log-file="$work/counted" ./many "$2" "$3" "$PWD" || return
    sed -n 's/.*Collected : //p' "$work/counted"
}

# own WHAT N: those that the shim adds. $bare: the others.
own() {
    local all
    all=$(instructions "$SHIM" "$1" "$2") && [ -n "$(the_log "$logs")" ] &&
        bare=$(instructions "$BATS_FILE_TMPDIR/empty.so" "$1" "$2") && own=$((all - bare))
}

# grows_in_line WHAT N
grows_in_line() {
    local bare own once
    own "$1" "$2" && once=$own && own "$1" $(($2 * 2)) || return
    echo "$1: $2 times $once, $(($2 * 2)) times $own"
    [ "$once" -gt 0 ] && [ $((own * 10)) -lt $((once * 25)) ]
}

@test "twice as many hosts cost twice as much" { grows_in_line hosts 160; }

@test "twice as many names that are not found cost twice as much" { grows_in_line names 400; }

@test "twice as many functions that are not found cost twice as much" {
    fails_without judging-in-steps grows_in_line functions 200
}

# Half of what the loader takes is what a further lookup adds.
adds_half() {
    local bare own few few_bare
    own lookups 1000 && few=$own few_bare=$bare && own lookups 5000 || return
    echo "lookups: own $((own - few)), bare $((bare - few_bare))"
    [ $(((own - few) * 2)) -le $((bare - few_bare)) ]
}

@test "twice as many lookups of one function cost twice as much, half of what the loader takes" {
    grows_in_line lookups 5000
    fails_without kept-answers adds_half
}
