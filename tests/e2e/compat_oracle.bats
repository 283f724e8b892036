#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# core's verdicts on versions against oracles that were written without it. A failing run prints
# WC_SEED: run again with it in the environment to ask the same questions.

load ../setup/helper

setup_file() {
    export DRIVER="$BATS_FILE_TMPDIR/compat_driver"
    build_driver "$WC_ROOT/core" "$DRIVER"
}

# build_driver CORE PROGRAM
build_driver() {
    # shellcheck disable=SC2086  # CFLAGS are several words
    "${CC:-gcc}" -std=gnu11 -O1 -Wall -Wextra -Werror ${CFLAGS:-} -I"$1/../include" -I"$1/.." -o "$2" \
        "$WC_ROOT/tests/oracle/compat_driver.c" "$1"/base/text.c "$1"/names/{version,compat}.c "$1"/knowledge/frameworks.c
}

ask() {
    "${WC_PYTHON:-python3}" -B "$WC_ROOT/tests/oracle/$1" "$2"
}

@test "every framework's check agrees with its oracle at every boundary" {
    run ask compat_oracle.py "$DRIVER"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" questions, 0 wrong answers"* ]]
}

@test "sets of versions are read as Python packaging reads them" {
    run ask spec_oracle.py "$DRIVER"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *" questions, 0 wrong answers"* ]]
}

# A comparison that cannot fail proves nothing: the oracle must see one boundary moved by one.
@test "the oracle sees a boundary that is off by one" {
    cp -r "$WC_ROOT/core" "$BATS_TEST_TMPDIR/core"
    ln -s "$WC_ROOT/include" "$BATS_TEST_TMPDIR/include"
    cd "$BATS_TEST_TMPDIR"
    edit core/names/compat.c 'FIRST_WITH_PROMISE = 7' 'FIRST_WITH_PROMISE = 6'
    build_driver "$PWD/core" "$PWD/driver"
    run ask compat_oracle.py "$BATS_TEST_TMPDIR/driver"
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"expected"*"got"* ]]
}
