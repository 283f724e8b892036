/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel told the process: read from behind the environment, else from /proc. Each test
 * runs in a child, since the vector is looked for once. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/auxv.h"

static int in_child(int (*what)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(what());
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* As execve lays it out: pointers, NULL, more NULLs where variables were removed, the vector; then
 * the strings. */
struct start {
    const char *environment[4];
    Elf64_auxv_t vector[3];
    char strings[16];
};
#define OWN 12345 /* in no real vector */

static void lay_out(struct start *s, int variables, uint64_t first_type) {
    memset(s, 0, sizeof(*s));
    strcpy(s->strings, "A=1");
    for (int i = 0; i < variables; i++)
        s->environment[i] = s->strings;
    s->vector[0] = (Elf64_auxv_t){first_type, {8192}};
    s->vector[1] = (Elf64_auxv_t){AT_UID, {OWN}};
}

static bool is_taken(int variables, uint64_t first_type) {
    static struct start s;
    lay_out(&s, variables, first_type);
    auxv_note_environment(s.environment);
    return auxv_value(AT_UID) == OWN;
}

static int whole(void) {
    return is_taken(3, AT_PAGESZ) && auxv_page_size() == 8192 && auxv_value(AT_BASE) == 0;
}
static int shortened(void) {
    return is_taken(1, AT_PAGESZ) && auxv_page_size() == 8192;
}
static int no_vector(void) { /* a vector has a page size */
    return is_taken(3, AT_RANDOM);
}
static int no_end(void) { /* before the strings */
    static struct start s;
    lay_out(&s, 3, AT_PAGESZ);
    s.vector[2].a_type = AT_GID;
    auxv_note_environment(s.environment);
    return auxv_value(AT_UID) == OWN;
}
static int no_variable(void) { /* nothing says where the strings would be */
    return is_taken(0, AT_PAGESZ);
}

/* The host moved its environment: the strings are elsewhere. */
#define STACK_MOST (8 << 20)
static _Alignas(16) char around[STACK_MOST + 1024];

static bool is_taken_with_strings_at(char *(*where)(struct start *)) {
    struct start *s = (struct start *)(around + 256);
    lay_out(s, 3, AT_PAGESZ);
    s->environment[0] = where(s);
    auxv_note_environment(s->environment);
    return auxv_value(AT_UID) == OWN;
}
static char *before(struct start *s) {
    return (char *)s - 8;
}
static char *far_behind(struct start *s) {
    return (char *)s + STACK_MOST + 128;
}
static int strings_before(void) {
    return is_taken_with_strings_at(before);
}
static int strings_far_behind(void) {
    return is_taken_with_strings_at(far_behind);
}

static void the_vector_behind_the_environment_is_read(void **state) {
    (void)state;
    assert_int_equal(in_child(whole), 1);
    assert_int_equal(in_child(shortened), 1);
}

static void what_may_be_none_is_not(void **state) {
    (void)state;
    assert_int_equal(in_child(no_vector), 0);
    assert_int_equal(in_child(no_end), 0);
    assert_int_equal(in_child(no_variable), 0);
    assert_int_equal(in_child(strings_before), 0);
    assert_int_equal(in_child(strings_far_behind), 0);
}

static bool is_the_kernels(void) {
    return auxv_value(AT_UID) == getauxval(AT_UID) && auxv_value(AT_BASE) == getauxval(AT_BASE) &&
           auxv_value(AT_ENTRY) == getauxval(AT_ENTRY) && auxv_value(OWN) == 0 &&
           auxv_page_size() == (uintptr_t)sysconf(_SC_PAGESIZE);
}

static int from_proc(void) {
    return is_the_kernels();
}
static int elsewhere_then_from_proc(void) {
    return !is_taken_with_strings_at(before) && is_the_kernels();
}

/* One descriptor less than there are: nothing can be opened. */
static int cannot_be_read(void) {
    struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_NOFILE, &none) == 0 && auxv_value(AT_BASE) == 0 &&
           auxv_page_size() == 4096;
}

static void else_it_is_read_from_proc(void **state) {
    (void)state;
    assert_int_equal(in_child(from_proc), 1);
    assert_int_equal(in_child(elsewhere_then_from_proc), 1);
    assert_int_equal(in_child(cannot_be_read), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vector_behind_the_environment_is_read),
        cmocka_unit_test(what_may_be_none_is_not),
        cmocka_unit_test(else_it_is_read_from_proc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
