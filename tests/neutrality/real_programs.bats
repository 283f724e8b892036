#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs of the system at work (real_programs.tsv), bare and with the shim: the same status and output, no
# log, no file, no system call beyond those of a preload that does nothing. Installs what is missing.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup_file() {
    "$WC_ROOT/tests/setup/install" programs
    gcc -O2 -Wall -Wextra -shared -fPIC "$WC_ROOT/tests/neutrality/empty.c" \
        -o "$BATS_FILE_TMPDIR/empty.so" -Wl,-z,relro,-z,now
}

real_programs() { # PRELOAD [OPTION]...
    "$WC_PYTHON" -B "$WC_ROOT/tests/neutrality/random_programs.py" --shim "$1" \
        --empty "$BATS_FILE_TMPDIR/empty.so" --table "$WC_ROOT/tests/neutrality/real_programs.tsv" "${@:2}"
}

@test "real programs: at least 60, the same as bare" {
    run real_programs "$SHIM"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -cE $'\t(same|traced)\t$' <<<"$output")" -ge 60 ]
    grep ' programs: ' <<<"$output" | sed 's/^/# /' >&3
}

@test "real programs: a preload that writes a word is seen, and one that writes a file" {
    cd "$BATS_TEST_TMPDIR"
    cc -shared -fPIC -o loud.so "$WC_ROOT/tests/neutrality/planted/stderr.c"
    run real_programs "$PWD/loud.so" --only tcl
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"1 differs"* ]]
    cat >writes.c <<'END'
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void start(void) {
    close(open("left", O_WRONLY | O_CREAT, 0600));
}
END
    cc -shared -fPIC -o writes.so writes.c
    run real_programs "$PWD/writes.so" --only tcl
    echo "$output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"1 differs"* ]]
}
