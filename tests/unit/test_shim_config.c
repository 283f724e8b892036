/* SPDX-License-Identifier: Apache-2.0 */
/* What the user set: variables as values, out of the constructor's environment or the kernel. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/config.h"

static void load(const char *const *envp) {
    memset(&config, 0, sizeof(config));
    config_load(envp);
}

static void nothing_set_is_the_default(void **state) {
    static const char *const envp[] = {"HOME=/", "WHICHCUDNNLOG=x", "WHICHCUDNN_LOGS=x",
                                       "WHICHCUDNN_=x", NULL};
    (void)state;
    load(envp);
    assert_true(config.loaded && config.calls);
    assert_false(config.off || config.secure || config.whole_arguments);
    assert_int_equal(config.standard_error, STDERR_FINDING);
    assert_string_equal(config.log, "");
    assert_string_equal(config.expect, "");
    assert_int_equal(config.run_pid, 0);
}

static void each_variable_has_its_effect(void **state) {
    static const char *const envp[] = {"WHICHCUDNN_LOG=/a/b",   "WHICHCUDNN_EXPECT=>=9.1",
                                       "WHICHCUDNN_STDERR=all", "WHICHCUDNN_CALLS=off",
                                       "WHICHCUDNN_ARGV=1",     "WHICHCUDNN_RUN_PID=4711",
                                       "WHICHCUDNN_DISABLE=1",  NULL};
    (void)state;
    load(envp);
    assert_string_equal(config.log, "/a/b");
    assert_string_equal(config.expect, ">=9.1");
    assert_int_equal(config.standard_error, STDERR_ALL);
    assert_false(config.calls);
    assert_true(config.whole_arguments);
    assert_int_equal(config.run_pid, 4711);
    assert_true(config.off);
}

/* As the kernel starts a set-user-ID program: the auxiliary vector lies behind the environment. */
static void with_other_rights_it_is_off(void **state) {
    static struct {
        const char *envp[2];
        Elf64_auxv_t vector[3];
        char text[sizeof "HOME=/"];
    } stack = {.envp = {stack.text},
               .vector = {{AT_PAGESZ, {4096}}, {AT_SECURE, {1}}, {AT_NULL, {0}}},
               .text = "HOME=/"};
    (void)state;
    load(stack.envp);
    assert_true(config.loaded && config.secure && config.off);
    stack.vector[1].a_un.a_val = 0;
    load(stack.envp);
    assert_false(config.secure || config.off);
}

static void other_values_are_the_default(void **state) {
    static const char *const envp[] = {"WHICHCUDNN_STDERR=loud", "WHICHCUDNN_CALLS=on",
                                       "WHICHCUDNN_ARGV=0",      "WHICHCUDNN_RUN_PID=x47",
                                       "WHICHCUDNN_DISABLE=0",   NULL};
    static const char *const off[] = {"WHICHCUDNN_STDERR=off", NULL};
    (void)state;
    load(envp);
    assert_int_equal(config.standard_error, STDERR_FINDING);
    assert_true(config.calls);
    assert_false(config.whole_arguments || config.off);
    assert_int_equal(config.run_pid, 0);
    load(off);
    assert_int_equal(config.standard_error, STDERR_OFF);
}

static void the_first_load_counts(void **state) {
    static const char *const first[] = {"WHICHCUDNN_LOG=/a", NULL};
    static const char *const second[] = {"WHICHCUDNN_LOG=/b", NULL};
    (void)state;
    load(first);
    config_load(second);
    assert_string_equal(config.log, "/a");
}

static void half_a_path_is_no_path(void **state) {
    static char variable[8192];
    const char *const envp[] = {variable, NULL};
    size_t name;
    (void)state;
    memset(variable, 'a', sizeof(variable) - 1);
    memcpy(variable, "WHICHCUDNN_LOG=/", 16);
    load(envp);
    assert_string_equal(config.log, "");
    name = 15;
    variable[name + sizeof(config.log) - 1] = 0; /* the longest that fits */
    load(envp);
    assert_int_equal(strlen(config.log), sizeof(config.log) - 1);
}

static void a_title_over_the_variables_changes_nothing(void **state) {
    /* In one piece: texts behind the list would be those that the kernel puts there. */
    static struct {
        char path[32], directory[32];
        const char *envp[3];
    } s = {"LD_LIBRARY_PATH=/a:/b", "TMPDIR=/t", {s.path, s.directory, NULL}};
    (void)state;
    load(s.envp);
    memset(s.path, 't', strlen(s.path));
    memset(s.directory, 't', strlen(s.directory));
    assert_string_equal(config_variable("LD_LIBRARY_PATH"), "/a:/b");
    assert_string_equal(config.temporary_directory, "/t");
}

static void a_long_variable_is_found_where_it_stands(void **state) {
    static struct {
        char path[32 << 10];
        const char *envp[3];
    } s = {"LD_LIBRARY_PATH=/", {s.path, "LD_PRELOAD=x", NULL}};
    (void)state;
    memset(s.path + 17, 'a', sizeof(s.path) - 18);
    load(s.envp);
    assert_ptr_equal(config_variable("LD_LIBRARY_PATH"), s.path + 16);
    assert_string_equal(config_variable("LD_PRELOAD"), "x");
}

static char logged[4096];

static const char *list_logged(void) {
    logged[0] = 0;
    for (const char *const *variable = config_logged(); *variable; variable++) {
        strncat(logged, *variable, sizeof(logged) - strlen(logged) - 2);
        strcat(logged, "\n");
    }
    return logged;
}

static const char *of(const char *const *envp) {
    load(envp);
    return list_logged();
}

#define LOGGED(name) name "=1",
#define LOGGED_ALL(prefix) prefix "=1", prefix "LEVEL_DBG=2",
static const char *const all_logged[] = {
#include "core/records/logged_variables.def"
    NULL};
#undef LOGGED
#undef LOGGED_ALL

static void the_listed_variables_are_kept_and_no_other(void **state) {
    static const char *const others[] = {"AWS_SECRET=1",
                                         "LD_LIBRARY_PATHS=1",
                                         "RANKS=1",
                                         "LD_LIBRARY=1",
                                         "CUDNN=1",
                                         "XRANK=1",
                                         "LD_PRELOAD.x=1",
                                         "HOME=/",
                                         NULL};
    char expected[4096] = "";
    (void)state;
    for (size_t i = 0; all_logged[i]; i++) {
        strcat(expected, all_logged[i]);
        strcat(expected, "\n");
    }
    assert_string_equal(of(all_logged), expected);
    assert_string_equal(of(others), "");
}

/* setenv and unsetenv change the very list that the constructor was given. */
static void what_is_changed_later_does_not_count(void **state) {
    const char *envp[] = {"RANK=1", "LD_LIBRARY_PATH=/at/start", "TMPDIR=/a", NULL};
    (void)state;
    load(envp);
    envp[1] = "LD_LIBRARY_PATH=/later";
    envp[0] = envp[2] = NULL;
    assert_string_equal(config_variable("LD_LIBRARY_PATH"), "/at/start");
    assert_string_equal(config_variable("RANK"), "1");
    assert_null(config_variable("LD_LIBRARY"));
    assert_string_equal(config.temporary_directory, "/a");
}

/* The program once more, with an environment of its own, which only the kernel can emit of. */
static void again(const char *size, char *const *envp, int expected) {
    char command[4096] = "";
    char *const arguments[] = {"again", (char *)size, NULL};
    int status = -1;
    pid_t child = fork();
    ssize_t n;
    if (child == 0) {
        n = readlink("/proc/self/exe", command, sizeof(command) - 1);
        if (n > 0)
            execve(command, arguments, envp);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), expected);
}

static int in_the_other_environment(const char *size) {
    load(NULL);
    list_logged();
    bool large = strcmp(size, "large") == 0;
    bool good = strcmp(config.log, "/its/own") == 0 && strcmp(logged, "RANK=3\n") == 0;
    return good ? large ? 12 : 11 : 1;
}

static void without_the_constructor_s_it_is_the_kernel_s(void **state) {
    static char large[100 << 10] = "FUNCTION=";
    char *const small[] = {"WHICHCUDNN_LOG=/its/own", "RANK=3", NULL};
    char *const more[] = {large, "WHICHCUDNN_LOG=/its/own", "RANK=3", NULL};
    (void)state;
    memset(large + 9, 'f', sizeof(large) - 10);
    again("small", small, 11);
    again("large", more, 12);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_set_is_the_default),
        cmocka_unit_test(each_variable_has_its_effect),
        cmocka_unit_test(with_other_rights_it_is_off),
        cmocka_unit_test(other_values_are_the_default),
        cmocka_unit_test(the_first_load_counts),
        cmocka_unit_test(what_is_changed_later_does_not_count),
        cmocka_unit_test(half_a_path_is_no_path),
        cmocka_unit_test(a_title_over_the_variables_changes_nothing),
        cmocka_unit_test(a_long_variable_is_found_where_it_stands),
        cmocka_unit_test(the_listed_variables_are_kept_and_no_other),
        cmocka_unit_test(without_the_constructor_s_it_is_the_kernel_s),
    };
    if (argc == 2)
        return in_the_other_environment(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
