/* SPDX-License-Identifier: Apache-2.0 */
/* What watched.def says of a function is what cudnn.h declares: a wrapper copies no other
 * arguments. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shim/watched.h"

static const struct row_text {
    const char *name, *result;
    int integers, doubles, first, last;
} rows[] = {
#define WATCH(name, result, integers, doubles, first, last)                                        \
    {#name, RESULT_##result, integers, doubles, first, last},
#define RESULT_STATUS "cudnnStatus_t "
#define RESULT_VERSION "size_t "
#define RESULT_TEXT "const char *"
#define RESULT_NOTHING "void "
#include "shim/watched.def"
};

static int count(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what))) {
        text += strlen(what);
        n++;
    }
    return n;
}

/* All headers of cuDNN one behind the other, without comments, each blank a single one. */
static char headers[8 << 20];

static void read_headers(void) {
    const char *directory = getenv("CUDNN_INCLUDE");
    struct dirent **names;
    int n = scandir(directory ? directory : "", &names, NULL, alphasort);
    bool comment = false;
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, names[i]->d_name);
        FILE *file = strncmp(names[i]->d_name, "cudnn", 5) == 0 ? fopen(path, "r") : NULL;
        for (int c = file ? getc(file) : EOF, next; c != EOF; c = next) {
            next = getc(file);
            if (comment ? c == '*' && next == '/' : c == '/' && next == '*') {
                comment = !comment;
                next = ' ';
            } else if (!comment) {
                c = c == '\n' || c == '\t' ? ' ' : c;
                if (c != ' ' || !used || headers[used - 1] != ' ')
                    headers[used++] = (char)c;
            }
            assert_in_range(used, 0, sizeof headers - 1);
        }
        if (file)
            fclose(file);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

/* "CUDNNWINAPI NAME(PARAMETERS", behind its result; NULL: there is no such function. */
static const char *declaration_of(const char *name) {
    char text[128];
    snprintf(text, sizeof text, "CUDNNWINAPI %s(", name);
    return strstr(headers, text);
}

static void each_row_is_as_declared(void **state) {
    (void)state;
    read_headers();
    const char *defined = strstr(headers, "#define CUDNN_MAJOR ");
    if (!defined)
        fail_msg("no cudnn.h in $CUDNN_INCLUDE");
    int major = atoi(defined + strlen("#define CUDNN_MAJOR "));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row_text *r = &rows[i];
        const char *declared = declaration_of(r->name), *result = declared;
        if (!declared && (major < r->first || major > r->last))
            continue;
        if (!declared)
            fail_msg("%s: not in cudnn.h", r->name);
        const size_t n = strlen(r->result);
        char *parameters = strdup(strchr(declared, '(') + 1);
        char *end = strchr(parameters, ')');
        assert_non_null(end);
        const bool closed = end[1] == ';';
        *end = '\0';
        int whole = strcmp(parameters, "void") == 0 ? 0 : count(parameters, ",") + 1;
        if (strncmp(result - n, r->result, n) != 0 || !closed || strchr(parameters, '(') ||
            r->integers + r->doubles != whole || r->doubles != count(parameters, "double ") ||
            count(parameters, "double *") || strstr(parameters, "float ") ||
            strstr(parameters, "struct ") || strstr(parameters, "..."))
            fail_msg("%s%s(%s): %d integers, %d doubles", r->result, r->name, parameters,
                     r->integers, r->doubles);
        free(parameters);
    }
}

/* Each instance has one wrapper, and no other address is one. */
static void wrappers_lead_back(void **state) {
    (void)state;
    uintptr_t before = 0;
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < CALL_INSTANCES; k++) {
            uintptr_t wrapper = watched_wrapper_of(&instances[row][k]);
            assert_true(wrapper > before);
            assert_ptr_equal(watched_instance_at(wrapper), &instances[row][k]);
            assert_null(watched_instance_at(wrapper + 1));
            assert_int_equal(watched_row_of(&instances[row][k]), row);
            before = wrapper;
        }
    uintptr_t first = watched_wrapper_of(&instances[0][0]);
    uintptr_t size = watched_wrapper_of(&instances[0][1]) - first;
    assert_null(watched_instance_at(first - size));
    assert_null(watched_instance_at(before + size));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_as_declared),
        cmocka_unit_test(wrappers_lead_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
