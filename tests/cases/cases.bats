#!/usr/bin/env bats
# What must hold of the cases without playing them.

load ../setup/helper

@test "every case of the field is re-created or left out for a reason" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" field
}

@test "only cases that are there stand open" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" open
}

@test "no version, library, package or function of a case stands in core or shim" {
    "$WC_PYTHON" "$WC_ROOT/tests/cases/check_table.py" literals
}
