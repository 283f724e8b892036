#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The check of `make lint` for files that need one another in a circle, on objects planted for it.

load ../setup/helper
bats_require_minimum_version 1.5.0

# Compiles one planted file: object NAME TEXT.
object() { echo "$2" | "${CC:-gcc}" -w -x c -c -o "$BATS_TEST_TMPDIR/$1.o" -; }
circles() { run --separate-stderr "$WC_ROOT/tests/setup/circles" "$BATS_TEST_TMPDIR"/*.o; }

@test "files that need one another in one direction only are no circle" {
    object top 'void left(void), right(void); void top(void) { left(); right(); }'
    object left 'void low(void); void left(void) { low(); }'
    object right 'void low(void); void right(void) { low(); }'
    object low 'void abort(void); static void self(void) { } void low(void) { self(); abort(); }'
    circles
    [ "$status" -eq 0 ]
    [ "$output$stderr" = '' ]
}

@test "a circle over three files is named with the symbols that close it, and no other file" {
    object first 'void second(void); void first(void) { second(); }'
    object second 'extern int third; void second(void) { third = 1; }'
    object third 'void first(void); int third; void leads_back(void) { first(); }'
    object user 'void first(void); void user(void) { first(); }'
    circles
    [ "$status" -eq 1 ]
    [ "$output" = 'a circle of 3 files:
  first needs second: second
  second needs third: third
  third needs first: first' ]
}

@test "two circles are told apart, and thread variables and weak symbols close one, too" {
    object a 'extern __thread int b; int *a(void) { return &b; }'
    object b 'int *a(void); __thread int b; void c(void) { a(); }'
    object x '__attribute__((weak)) void y(void); __attribute__((weak)) void x(void) { y(); }'
    object y 'void x(void); void y(void) { x(); }'
    circles
    [ "$status" -eq 1 ]
    [ "$output" = 'a circle of 2 files:
  a needs b: b
  b needs a: a
a circle of 2 files:
  x needs y: y
  y needs x: x' ]
}
