/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/demand/finding_text.h over findings that no diagnosis makes: long paths, long commands,
 * hostile names. Of each kind of finding tests/unit/test_findings_page.c has the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/shown.h"
#include "core/demand/finding_text.h"
#include "support_seed.h"
#include "tools/diagnose/plan.h"
#include "tools/report/render.h"

static struct wc_finding_page page;

struct fix {
    const char *text, *command;
};
static struct repair repairs[8];
static struct plan_of_finding fixes_of_text = {.p = repairs};

static struct wc_finding_record finding_with(const char *title, const struct wc_fact *facts,
                                             size_t n, const struct fix *fixes, size_t m) {
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_finding);
    r.u.finding.id = "runtime-too-old";
    r.u.finding.severity = WC_severity_ERROR;
    r.u.finding.title = title;
    r.u.finding.facts.p = facts;
    r.u.finding.facts.n = n;
    for (size_t i = 0; i < m; i++)
        repairs[i] = (struct repair){
            .text = fixes[i].text, .command = fixes[i].command, .checked = REPAIR_REPLAYED};
    fixes_of_text.n = m;
    return r.u.finding;
}

static const char *text_of(const struct wc_finding_record *f, struct wc_finding_view view) {
    memset(&page, 0xA5, sizeof page);
    view.put_fixes = put_fix_rows;
    view.fixes = &fixes_of_text;
    return wc_finding_text(&page, f, &view);
}

static size_t lines_in(const char *text) {
    size_t n = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        n++;
    return n;
}

static void assert_fits(const char *text, size_t lines) {
    if (lines_in(text) > lines)
        fail_msg("more than %zu lines:\n%s", lines, text);
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        size_t n = strcspn(p, "\n");
        assert_int_equal(p[n], '\n');
        if (wc_columns_n(p, n) > 100 && strncmp(p, "  V = /", 7) != 0 &&
            strncmp(p, "  W = /", 7) != 0)
            fail_msg("a line of more than 100 columns:\n%s", text);
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)p[i] < ' ' || p[i] == 127)
                fail_msg("a character that moves the cursor:\n%s", text);
    }
}

static void assert_has(const char *text, const char *line) {
    if (!strstr(text, line))
        fail_msg("\"%s\" is not in:\n%s", line, text);
}

/* ---- paths ---- */

static void a_path_that_would_be_cut_gets_a_letter(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {
        {"got",
         "/data/projects/vision/environments/2026-03/experiments/second/attempt/of/the/week/cuda/"
         "lib64/libcudnn.so.9",
         "link map"},
        {"version", "9.1.0", "file name"}};
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", facts, 2, NULL, 0);
    const char *text = text_of(&f, (struct wc_finding_view){.before = NULL});
    assert_fits(text, 16);
    assert_has(text, "\n  got       V/libcudnn.so.9  9.1.0\n");
    assert_has(text,
               "\n  V = /data/projects/vision/environments/2026-03/experiments/second/attempt/of/"
               "the/week/cuda/lib64\n");
}

static void a_directory_of_several_paths_is_said_once(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {
        {"got", "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9", NULL},
        {"host", "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so", NULL},
        {"found by", "LD_LIBRARY_PATH, /venv/lib/python3.12/site-packages", NULL},
        {"behind it", "/venv/lib/python3.12/site-packages-of-old/libcudnn.so.9", NULL}};
    static const struct fix fix = {"install it",
                                   "pip install --target /venv/lib/python3.12/site-packages x"};
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", facts, 4, &fix, 1);
    const char *text = text_of(&f, (struct wc_finding_view){.before = NULL});
    assert_has(text, "\n  got       V/nvidia/cudnn/lib/libcudnn.so.9\n");
    assert_has(text, "\n  used by   V/torch/lib/libtorch_cuda.so\n");
    assert_has(text, "\n  found by  LD_LIBRARY_PATH, V\n");
    assert_has(text, "\n  V = /venv/lib/python3.12/site-packages\n");
    /* Another directory, and what is to be pasted, stay as they are. */
    assert_has(text, " /venv/lib/python3.12/site-packages-of-old/libcudnn.so.9\n");
    assert_has(text, "  fix       pip install --target /venv/lib/python3.12/site-packages x\n");
}

static void one_path_needs_no_letter(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {
        {"got", "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9", NULL}};
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", facts, 1, NULL, 0);
    const char *text = text_of(&f, (struct wc_finding_view){.before = NULL});
    assert_has(text, facts[0].value);
    assert_null(strstr(text, "V ="));
}

/* ---- commands ---- */

/* As a shell reads it. */
static void join_lines(char *text) {
    for (char *p; (p = strstr(text, " \\\n"));) {
        char *rest = p + 3 + strspn(p + 3, " ");
        memmove(p + 1, rest, strlen(rest) + 1);
    }
}

static void a_long_command_can_be_pasted(void **state) {
    (void)state;
    static const struct fix fix = {
        "install it",
        "pip uninstall -y nvidia-cudnn-cu12 && pip install 'a name with many blanks that has to "
        "stay in one piece, as it is' \"$HOME/and another one\" --force-reinstall --no-deps "
        "nvidia-cudnn-cu13==9.26.0.51"};
    char copy[4096], expected[1024];
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", NULL, 0, &fix, 1);
    const char *text = text_of(&f, (struct wc_finding_view){.before = NULL});
    assert_fits(text, 16);
    assert_has(text, " \\\n            ");
    snprintf(copy, sizeof copy, "%s", text);
    join_lines(copy);
    snprintf(expected, sizeof expected, "\n  fix       %s\n", fix.command);
    assert_has(copy, expected);
}

static void a_command_longer_than_that_is_told_by_its_text(void **state) {
    (void)state;
    char command[800] = "true";
    while (strlen(command) < 700)
        strcat(command, " && some-command --with an-argument");
    const struct fix fix = {"do all that is to be done", command};
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", NULL, 0, &fix, 1);
    const char *text = text_of(&f, (struct wc_finding_view){.before = NULL});
    assert_has(text, "\n  fix       do all that is to be done (its command: report -v)\n");
    assert_null(strstr(text, "some-command"));
    command[380] = '\0'; /* six lines */
    assert_has(text_of(&f, (struct wc_finding_view){.before = NULL}), "\n  fix       true && some");
    /* Where another line leaves no room for six. */
    text = text_of(&f, (struct wc_finding_view){.process = "a process", .lines = 9});
    assert_has(text, "\n  fix       do all that is to be done (its command: report -v)\n");
    assert_fits(text, 9);
    /* Nor for the text: it is cut, for without a fix there would seem to be none. */
    const struct fix both = {command, command};
    f = finding_with("a host got cuDNN 9.1.0", NULL, 0, &both, 1);
    text = text_of(&f, (struct wc_finding_view){.process = "a process", .lines = 8});
    assert_has(text, "\n  fix       true && some-command");
    assert_fits(text, 8);
}

/* ---- what is printed along with it ---- */

static void a_brief_one_has_the_first_lines_alone(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {{"got", "/opt/lib/libcudnn.so.9", NULL},
                                           {"wanted", "requires ==9.8", "METADATA of x 1"},
                                           {"found by", "ld.so.cache", NULL}};
    static const struct fix fix = {"install it", "pip install x"};
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", facts, 3, &fix, 1);
    const char *text = text_of(
        &f, (struct wc_finding_view){.lines = 5, .process = "1 on node", .log = "/tmp/x.jsonl"});
    assert_string_equal(text, "error[runtime-too-old]: a host got cuDNN 9.1.0\n"
                              "  got       /opt/lib/libcudnn.so.9\n"
                              "  required  ==9.8  (METADATA of x 1)\n"
                              "  fix       pip install x\n"
                              "            replayed\n");
}

static void what_a_terminal_would_heed_or_hide_is_spelled(void **state) {
    static const char *const rows[][2] = {
        {"a\x1b[2J\xff", "a\\x1b[2J\\xff"},
        {"\xc2\x9b \xe2\x80\xae", "\\u009b \\u202e"},
        {"\xf3\xa0\x80\x81 \xf0\x9d\x85\xb3", "\\ue0001 \\u1d173"}, /* beyond 16 bits */
        {"\xc3\xa4\xe4\xb8\xad", "\xc3\xa4\xe4\xb8\xad"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[64];
        struct wc_text t;
        wc_text_begin(&t, shown, sizeof shown);
        wc_text_add_shown(&t, rows[i][0]);
        assert_string_equal(shown, rows[i][1]);
    }
}

static void what_is_to_be_done_comes_before_what_is_also_known(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {{"got", "/opt/lib/libcudnn.so.9", NULL},
                                           {"wanted", "requires ==9.8", "METADATA of x 1"}};
    static const struct fix fixes[] = {{"a sentence of two lines, which says at length what the "
                                        "container that the program runs in "
                                        "is to be started with",
                                        NULL},
                                       {"look at it", "nvidia-smi"}};
    struct wc_finding_record f =
        finding_with("a host with a name that fills the line up to its very end, and which got "
                     "cuDNN 9.1.0 at the end",
                     facts, 2, fixes, 2);
    const char *text = text_of(&f, (struct wc_finding_view){.lines = 4});
    assert_fits(text, 4);
    assert_has(text, "\n  fix       a sentence of two lines");
    text = text_of(&f, (struct wc_finding_view){.lines = 3});
    assert_null(strstr(text, " or "));
}

static size_t count_of(const char *text, const char *what) {
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

static void a_file_in_no_package_is_said_to_be(void **state) {
    static const struct wc_fact facts[] = {{"got", "/opt/lib/libcudnn.so.9", "link map"},
                                           {"version", "9.1.0", "file name"}};
    static unsigned char memory[64 << 10];
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct wc_buffer_arena arena;
        struct wc_stack stack;
        struct wc_record r;
        wc_buffer_arena_begin(&arena, memory, sizeof memory);
        wc_stack_begin(&stack, &arena.arena);
        wc_record_begin(&r, WC_KIND_object);
        r.u.object.object = 1;
        r.u.object.path = "/opt/lib/libcudnn.so.9";
        r.u.object.installation_kind =
            kind ? WC_installation_kind_DIRECTORY : WC_installation_kind_UNKNOWN;
        assert_true(wc_stack_apply(&stack, &r));
        struct wc_finding_record f = finding_with("some host", facts, 2, NULL, 0);
        f.object = 1;
        const char *text = text_of(&f, (struct wc_finding_view){.stack = &stack});
        assert_int_equal(count_of(text, "9.1.0, in no package"), kind);
    }
}

/* Where there is no room for a second command, there is none for what it gives. */
static void what_a_fix_gives_is_not_said_without_it(void **state) {
    (void)state;
    char command[320] = "export LD_LIBRARY_PATH=";
    while (strlen(command) < 280)
        strcat(command, "/a/directory/of/some/length:");
    const struct fix fixes[] = {{"drop it", "unset LD_LIBRARY_PATH"}, {"set it", command}};
    for (size_t lines = 3; lines < 14; lines++) {
        struct wc_finding_record f = finding_with("some host", NULL, 0, fixes, 2);
        const char *text = text_of(&f, (struct wc_finding_view){.lines = lines});
        assert_true(count_of(text, "replayed") <=
                    count_of(text, "\n  fix ") + count_of(text, "\n   or "));
    }
}

static void the_first_fix_keeps_its_mark(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {{"got", "/opt/lib/libcudnn.so.9", NULL},
                                           {"wanted", "requires ==9.8", "METADATA of x 1"},
                                           {"wanted", "was built with 9.8", "METADATA of x 1"},
                                           {"wanted", "imports demand 9", "symbol versions"}};
    static const struct fix fixes[] = {{"set it", "export LD_LIBRARY_PATH=/opt/nine/lib"}};
    for (size_t lines = 4; lines < 14; lines++) {
        struct wc_finding_record f = finding_with("some host", facts, 4, fixes, 1);
        const char *text = text_of(&f, (struct wc_finding_view){.lines = lines});
        assert_int_equal(count_of(text, "\n  fix "), 1);
        assert_int_equal(count_of(text, "replayed"), 1);
    }
}

static void a_log_is_never_shortened_and_paint_has_no_columns(void **state) {
    (void)state;
    char path[300] = "/scratch";
    while (strlen(path) < 200)
        strcat(path, "/directory");
    struct wc_finding_record f = finding_with(
        "a host with a name that fills the line up to its very end, got cuDNN 9.1.0 at the end",
        NULL, 0, NULL, 0);
    const struct wc_finding_view plain = {.before = "whichcudnn: ", .log = path};
    struct wc_finding_view painted = plain;
    char expected[400], without[4096];
    painted.paint = "\033[1;31m";
    painted.unpaint = "\033[0m";
    snprintf(expected, sizeof expected, "\nlog         %s\n", path);
    snprintf(without, sizeof without, "%s", text_of(&f, plain));
    assert_has(without, expected);
    const char *text = text_of(&f, painted);
    assert_int_equal(lines_in(text), lines_in(without));
    assert_has(text, "whichcudnn: \033[1;31merror[runtime-too-old]\033[0m: a host");
    assert_string_equal(strchr(text, '\n'), strchr(without, '\n'));
}

/* As the shim has it, which knows no fix. */
static void without_fixes_it_says_who_has_them(void **state) {
    (void)state;
    struct wc_finding_record f = finding_with("a host got cuDNN 9.1.0", NULL, 0, NULL, 0);
    struct wc_finding_view view = {.log = "/tmp/x.jsonl"};
    assert_string_equal(wc_finding_text(&page, &f, &view),
                        "error[runtime-too-old]: a host got cuDNN 9.1.0\n"
                        "log         /tmp/x.jsonl\n"
                        "more        whichcudnn report has the repair; explain runtime-too-old\n");
    view.log = NULL;
    assert_has(wc_finding_text(&page, &f, &view),
               "\nmore        whichcudnn explain runtime-too-old\n");
}

/* ---- whatever comes ---- */

static char words[64][1400];

static const char *some_text(size_t i) {
    static const char *const pieces[] = {" ",
                                         "/",
                                         "a",
                                         "libcudnn.so.9",
                                         "\033[2J",
                                         "\n",
                                         "\r",
                                         "\xff",
                                         "\xe2\x80\xae",
                                         "9.1.0",
                                         "\xc3\xa4",
                                         "'",
                                         "site-packages",
                                         "/venv/lib/python3.12/site-packages/",
                                         ", ",
                                         ":"};
    size_t most = (size_t)rand() % 3 ? 60 : sizeof words[i];
    words[i][0] = '\0';
    while (strlen(words[i]) + 40 < most)
        strcat(words[i], pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)]);
    return words[i];
}

static void whatever_comes_fits_a_screen(void **state) {
    (void)state;
    static const char *const names[] = {"got",   "version", "wanted", "found by", "behind it",
                                        "check", "mind",    "defect", "asked for"};
    seed_draws();
    for (int round = 0; round < 2000; round++) {
        struct wc_fact facts[40];
        struct fix fixes[4];
        size_t n = (size_t)rand() % 41, m = (size_t)rand() % 5, w = 0;
        for (size_t i = 0; i < n; i++)
            facts[i] =
                (struct wc_fact){(size_t)rand() % 4 ? names[(size_t)rand() % 9] : some_text(60),
                                 some_text(w++), (size_t)rand() % 2 ? "link map" : NULL};
        for (size_t i = 0; i < m; i++)
            fixes[i] = (struct fix){some_text(w++), NULL};
        struct wc_finding_record f = finding_with(some_text(w), facts, n, fixes, m);
        struct wc_finding_view view = {.process = words[0], .no_log = words[1]};
        assert_fits(text_of(&f, view), 16);
        view.lines = 4;
        assert_fits(text_of(&f, view), 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_that_would_be_cut_gets_a_letter),
        cmocka_unit_test(a_directory_of_several_paths_is_said_once),
        cmocka_unit_test(one_path_needs_no_letter),
        cmocka_unit_test(a_long_command_can_be_pasted),
        cmocka_unit_test(a_command_longer_than_that_is_told_by_its_text),
        cmocka_unit_test(a_brief_one_has_the_first_lines_alone),
        cmocka_unit_test(what_a_terminal_would_heed_or_hide_is_spelled),
        cmocka_unit_test(what_is_to_be_done_comes_before_what_is_also_known),
        cmocka_unit_test(a_file_in_no_package_is_said_to_be),
        cmocka_unit_test(what_a_fix_gives_is_not_said_without_it),
        cmocka_unit_test(the_first_fix_keeps_its_mark),
        cmocka_unit_test(without_fixes_it_says_who_has_them),
        cmocka_unit_test(a_log_is_never_shortened_and_paint_has_no_columns),
        cmocka_unit_test(whatever_comes_fits_a_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
