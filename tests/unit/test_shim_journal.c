/* SPDX-License-Identifier: Apache-2.0 */
/* What is written of a process, and when: each scene is a child's journal, read back from its log
 * and its standard error. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "shim/config.h"
#include "shim/journal.h"
#include "shim/log.h"
#include "support_place.h"

static char log_name[128];
static json_t *lines;
static char printed[8192]; /* on standard error */
static pid_t child;

static int enter(void **state) {
    if (enter_place(state) != 0)
        return -1;
    snprintf(log_name, sizeof(log_name), "%s/log.jsonl", place);
    memset(&config, 0, sizeof(config));
    config.loaded = true;
    strcpy(config.log, log_name);
    lines = NULL;
    return 0;
}

static int leave(void **state) {
    json_decref(lines);
    return leave_place(state);
}

static void read_log(const char *name) {
    char line[1 << 16];
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    json_decref(lines);
    lines = json_array();
    while (fgets(line, sizeof(line), f)) {
        json_error_t error;
        json_t *record = json_loads(line, 0, &error);
        assert_non_null(record);
        json_array_append_new(lines, record);
    }
    fclose(f);
}

/* Runs it in a child, whose standard error goes to a file; then both are read. */
static void play(void (*scene)(void)) {
    int status;
    child = fork();
    if (child == 0) {
        int fd = open("stderr", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        dup2(fd, 2);
        close(fd);
        log_note_standard_error(NULL);
        scene();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    FILE *f = fopen("stderr", "r");
    assert_non_null(f);
    printed[fread(printed, 1, sizeof(printed) - 1, f)] = 0;
    fclose(f);
    if (access(log_name, F_OK) == 0)
        read_log(log_name);
}

static json_t *line(size_t i) {
    json_t *record = json_array_get(lines, i);
    assert_non_null(record);
    return record;
}
static const char *text(const json_t *record, const char *key) {
    return json_string_value(json_object_get(record, key));
}
static int64_t number(const json_t *record, const char *key) {
    assert_true(json_is_integer(json_object_get(record, key)));
    return json_integer_value(json_object_get(record, key));
}

/* The kinds of all lines, in order. */
static void kinds_are(const char *expected) {
    char found[1024] = "";
    size_t i;
    json_t *record;
    json_array_foreach(lines, i, record) {
        strcat(strcat(found, i ? " " : ""), text(record, "kind"));
    }
    assert_string_equal(found, expected);
}

static void numbered_from_1(void) {
    for (size_t i = 0; i < json_array_size(lines); i++) {
        assert_int_equal(number(line(i), "seq"), i + 1);
        assert_int_equal(number(line(i), "pid"), child);
        assert_int_equal(number(line(i), "tid"), child);
        assert_true(number(line(i), "time") > 0);
    }
}

/* ---- what scenes do ---- */

static int64_t add_object(int64_t object, enum wc_role role, const char *path,
                          const char *version) {
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_object);
    r.u.object.object = object ? object : journal_new_object();
    r.u.object.role = role;
    r.u.object.is_host = role == WC_role_HOST;
    r.u.object.mapped = true;
    r.u.object.path = r.u.object.real_path = path;
    r.u.object.soname = role == WC_role_HOST ? "libhost.so" : "libcudnn.so.9";
    r.u.object.version = version;
    journal_add(&r);
    return r.u.object.object;
}

static void add_failure(const char *name) {
    static char words[256];
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_failure);
    r.u.failure.request = journal_new_request();
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = name;
    snprintf(words, sizeof words, "%s: cannot open shared object file: No such file or directory",
             name);
    r.u.failure.text = words;
    journal_add(&r);
}

/* Found: another version than the one expected. */
static int64_t disappoint(void) {
    strcpy(config.expect, ">=9.5");
    journal_open_relevant();
    int64_t facade = add_object(0, WC_role_FACADE, "/there/libcudnn.so.9", "9.1.0");
    journal_diagnose();
    return facade;
}

/* ---- the log begins ---- */

static void open_twice(void) {
    if (journal_is_open())
        _exit(1);
    journal_open_relevant();
    journal_open();
    if (!journal_is_open())
        _exit(1);
}

static void it_begins_with_process_and_machine(void **state) {
    (void)state;
    play(open_twice);
    kinds_are("process machine");
    numbered_from_1();
    assert_int_equal(number(line(0), "parent_pid"), getpid());
    assert_null(text(line(0), "parent_log"));
    assert_non_null(text(line(1), "kernel"));
}

static void open_elsewhere(void) {
    config.run_pid = getpid() + 1;
    journal_open_if_eager();
}
static void open_eagerly(void) {
    config.run_pid = getpid();
    journal_open_if_eager();
}
static void open_eagerly_for_nothing(void) {
    open_eagerly();
    journal_close();
}
static void open_in_a_child_for_nothing(void) {
    open_elsewhere();
    journal_open();
    journal_close();
    if (journal_is_open())
        _exit(1);
}
static void open_eagerly_for_something(void) {
    open_eagerly();
    journal_open_relevant();
    journal_close();
}

static void nothing_is_made_where_nothing_is_wanted(void **state) {
    (void)state;
    play(open_elsewhere);
    assert_int_not_equal(access(log_name, F_OK), 0);
}

static void an_eager_log_stays_for_whom_it_was_begun(void **state) {
    (void)state;
    play(open_in_a_child_for_nothing);
    assert_int_not_equal(access(log_name, F_OK), 0);
    play(open_eagerly_for_nothing);
    kinds_are("process machine summary");
    assert_int_equal(unlink(log_name), 0);
    play(open_eagerly_for_something);
    kinds_are("process machine summary");
}

static void expect_release(void) {
    strcpy(config.expect, "90502");
    journal_open_relevant();
}
static void expect_versions(void) {
    strcpy(config.expect, ">=9.5,<10");
    journal_open_relevant();
}
static void expect_small_number(void) { /* no release: a version that begins with it */
    strcpy(config.expect, "9");
    journal_open_relevant();
}
static void expect_nonsense(void) {
    strcpy(config.expect, "@constraints");
    journal_open_relevant();
}

static void what_is_expected_is_a_demand(void **state) {
    (void)state;
    play(expect_release);
    kinds_are("process machine demand");
    assert_string_equal(text(line(2), "demand_kind"), "expectation");
    assert_string_equal(text(line(2), "source"), "WHICHCUDNN_EXPECT");
    assert_string_equal(text(line(2), "built"), "9.5.2");
    assert_null(text(line(2), "spec"));
    unlink(log_name);
    play(expect_versions);
    assert_string_equal(text(line(2), "spec"), ">=9.5,<10");
    assert_null(text(line(2), "built"));
    unlink(log_name);
    play(expect_nonsense); /* the finding says that it is none */
    kinds_are("process machine demand");
    assert_string_equal(text(line(2), "spec"), "@constraints");
    assert_null(text(line(2), "built"));
    unlink(log_name);
    play(expect_small_number);
    kinds_are("process machine demand");
    assert_string_equal(text(line(2), "spec"), "9");
    assert_null(text(line(2), "built"));
}

/* ---- what is told once ---- */

static void be_blind(void) {
    journal_open_relevant();
    journal_unobserved("this", "because", "/a");
    journal_unobserved("this", "again", "/a");
    journal_unobserved("this", "because", "/b");
    journal_unobserved("that", "because", "/b");
    journal_unobserved("that", "because", NULL);
    journal_unobserved("that", "because", NULL);
}

static void a_blind_spot_is_told_once_for_each_thing_and_path(void **state) {
    (void)state;
    play(be_blind);
    kinds_are("process machine unobserved unobserved unobserved unobserved");
    assert_string_equal(text(line(2), "path"), "/a");
    assert_string_equal(text(line(3), "path"), "/b");
    assert_string_equal(text(line(4), "what"), "that");
    assert_null(text(line(5), "path"));
}

static void find_again_and_again(void) {
    int64_t facade = disappoint();
    journal_diagnose(); /* nothing changed */
    add_object(0, WC_role_HOST, "/there/libhost.so", NULL);
    journal_diagnose(); /* nothing else is found */
    add_object(facade, WC_role_FACADE, "/there/libcudnn.so.9", "9.1.1");
    journal_diagnose(); /* the same thing, in other words */
}

static void a_finding_is_told_once_and_again_in_other_words(void **state) {
    (void)state;
    play(find_again_and_again);
    kinds_are("process machine demand object finding object object finding");
    numbered_from_1();
    assert_string_equal(text(line(4), "id"), "expectation-not-met");
    assert_non_null(strstr(text(line(4), "title"), "9.1.0"));
    assert_null(json_object_get(line(4), "supersedes"));
    assert_non_null(strstr(text(line(7), "title"), "9.1.1"));
    assert_int_equal(number(line(7), "supersedes"), 5);
    assert_string_equal(printed, ""); /* config.standard_error is off */
}

static void find_about_two(void) {
    disappoint();
    add_object(0, WC_role_FACADE, "/elsewhere/libcudnn.so.9", "9.2.0");
    journal_diagnose();
}

static void the_same_finding_about_another_object_is_another(void **state) {
    int expectations = 0;
    (void)state;
    play(find_about_two);
    for (size_t i = 0; i < json_array_size(lines); i++)
        if (text(line(i), "id") && strcmp(text(line(i), "id"), "expectation-not-met") == 0) {
            assert_null(json_object_get(line(i), "supersedes"));
            expectations++;
        }
    assert_int_equal(expectations, 2);
}

/* What was found of the first holds no longer when the second comes. */
static void find_about_another_instead(void) {
    int64_t facade = disappoint();
    add_object(facade, WC_role_FACADE, "/there/libcudnn.so.9", "9.6.0");
    add_object(0, WC_role_FACADE, "/elsewhere/libcudnn.so.9", "9.2.0");
    journal_diagnose();
}

static void nor_does_it_supersede_what_no_longer_holds_of_the_first(void **state) {
    (void)state;
    play(find_about_another_instead);
    int found = 0;
    for (size_t i = 5; i < json_array_size(lines); i++)
        if (text(line(i), "id") && strcmp(text(line(i), "id"), "expectation-not-met") == 0) {
            assert_null(json_object_get(line(i), "supersedes"));
            assert_int_equal(number(line(i), "object"), 2);
            found++;
        }
    assert_int_equal(found, 1);
}

/* ---- the end ---- */

static void end_well(void) {
    struct wc_record r;
    disappoint();
    add_failure("libcudnn.so.9");
    journal_diagnose(); /* it may be one of several names */
    for (int i = 0; i < 3; i++) {
        wc_record_begin(&r, WC_KIND_call);
        r.u.call.function = "cudnnCreate";
        r.u.call.phase = i ? WC_phase_AFTER : WC_phase_BEFORE;
        r.u.call.status = 0;
        journal_add(&r);
    }
    journal_new_request();
    journal_leave_out(WC_KIND_request, 3);
    journal_leave_out(WC_KIND_request, -1);
    journal_leave_out(WC_KIND_failure, 1);
    journal_close();
}

static void the_summary_counts(void **state) {
    (void)state;
    play(end_well);
    json_t *summary = line(json_array_size(lines) - 1);
    assert_string_equal(text(summary, "kind"), "summary");
    assert_int_equal(number(summary, "requests"), 2);
    assert_int_equal(number(summary, "calls"), 3);
    assert_int_equal(number(summary, "dropped"), 0);
    assert_int_equal(number(summary, "repeated_requests"), 2);
    assert_int_equal(number(summary, "repeated_failures"), 1);
    assert_string_equal(text(summary, "first_finding"),
                        json_string_value(json_array_get(json_object_get(summary, "findings"), 0)));
    assert_int_equal(strlen(text(summary, "fingerprint")), 16);
    numbered_from_1();
}

static void fail_to_find(void) {
    config.standard_error = STDERR_ALL;
    journal_open_relevant();
    add_failure("libcudnn.so.9");
    journal_diagnose();
    if (lseek(2, 0, SEEK_END) != 0)
        _exit(1);
    journal_close();
}

static void a_name_that_was_not_found_is_told_at_the_end(void **state) {
    (void)state;
    play(fail_to_find);
    kinds_are("process machine failure finding summary");
    assert_string_equal(text(line(3), "id"), "library-not-found");
    assert_non_null(strstr(printed, text(line(3), "title")));
}

static void fail_with_what_is_judged_later(void) {
    config.standard_error = STDERR_FINDING;
    journal_open_relevant();
    add_failure("/a\033[2J\nwhichcudnn: ok: b/libcublasLt.so.12");
    journal_close();
}

/* A CUDA library that is missing is no finding of the library's. */
static void the_last_words_of_the_loader_are_said(void **state) {
    (void)state;
    play(fail_with_what_is_judged_later);
    kinds_are("process machine failure summary");
    assert_non_null(strstr(printed, "the loader's last words: "));
    assert_non_null(strstr(printed, "libcublasLt.so.12: cannot open shared object file"));
    assert_non_null(strstr(printed, "says why"));
    assert_null(strstr(printed, "\033")); /* the name is of a file: it gives no orders */
    assert_null(strstr(printed, "\nwhichcudnn: ok"));
}

/* ---- standard error ---- */

static void say_all(void) {
    config.standard_error = STDERR_ALL;
    disappoint();
}
static void say_findings(void) {
    config.standard_error = STDERR_FINDING;
    disappoint();
}
static void say_without_a_log(void) {
    config.standard_error = STDERR_FINDING;
    strcpy(config.log, "/no/such/directory/log");
    disappoint();
}
static void say_with_odd_characters(void) {
    config.standard_error = STDERR_ALL;
    strcpy(config.expect, ">=9.5");
    journal_open_relevant();
    add_object(0, WC_role_FACADE, "/a\033[31m b\177c\td\x80/libcudnn.so.9", "9.1.0");
    journal_diagnose();
}

/* The finding in the log as standard error has it: its title, what was seen, its log, and who knows
 * how to repair it. */
static void expect_said(const json_t *finding) {
    const json_t *fact = json_array_get(json_object_get(finding, "facts"), 0);
    char expected[1024];
    snprintf(expected, sizeof expected, "whichcudnn: %s[%s]: %s", text(finding, "severity"),
             text(finding, "id"), text(finding, "title"));
    assert_int_equal(strncmp(printed, expected, strlen(expected)), 0);
    snprintf(expected, sizeof expected, "\n  got       %s  9.1.0\n", text(fact, "value"));
    assert_non_null(strstr(printed, expected));
    assert_null(strstr(printed, "\n  fix "));
    snprintf(expected, sizeof expected,
             "\nlog         %s\nmore        whichcudnn report has the repair; explain %s\n",
             log_name, text(finding, "id"));
    assert_string_equal(strstr(printed, "\nlog "), expected);
    snprintf(expected, sizeof expected, "\nprocess     %jd on ", (intmax_t)number(line(0), "pid"));
    assert_non_null(strstr(printed, expected));
}

static void a_finding_is_said_with_its_facts_and_the_log(void **state) {
    (void)state;
    play(say_all);
    expect_said(line(4));
    assert_string_equal(text(line(4), "severity"), "error");
    unlink(log_name);
    play(say_findings);
    expect_said(line(4));
}

static void without_a_log_the_reason_is_said(void **state) {
    (void)state;
    play(say_without_a_log);
    assert_int_equal(strncmp(printed, "whichcudnn: error[", 18), 0);
    const char *end = strstr(printed, "\nno log ");
    assert_non_null(end);
    assert_string_equal(end, "\nno log      the log file cannot be created\n"
                             "more        whichcudnn explain expectation-not-met\n");
    assert_null(strstr(printed, "\nlog "));
}

static void a_path_moves_no_cursor(void **state) {
    (void)state;
    play(say_with_odd_characters);
    assert_non_null(strstr(printed, "/a\\x1b[31m b\\x7fc\\x09d\\x80/libcudnn.so.9"));
    assert_null(strpbrk(printed, "\033\177\t"));
}

/* ---- a forked child ---- */

static void search(void) {
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_search);
    r.u.search.search = 1;
    r.u.search.rule = WC_search_rule_RUNPATH;
    journal_add(&r);
    wc_record_begin(&r, WC_KIND_candidate);
    r.u.candidate.search = 1;
    r.u.candidate.path = "/b/libcudnn.so.9";
    journal_add(&r);
}

static void fork_a_child(void) {
    int status;
    disappoint();
    search();
    journal_unobserved("this", "because", "/a");
    pid_t inner = fork();
    if (inner == 0) {
        if (journal_is_open())
            _exit(1);
        journal_unobserved("not", "written", NULL);
        journal_open();
        add_object(0, WC_role_HOST, "/there/libhost.so", NULL);
        _exit(journal_is_open() ? 0 : 1);
    }
    if (waitpid(inner, &status, 0) != inner || status != 0)
        _exit(1);
    char from[256], to[256];
    snprintf(from, sizeof(from), "%s/log-%d.jsonl", place, inner);
    snprintf(to, sizeof(to), "%s/inner", place);
    _exit(rename(from, to) == 0 ? 0 : 1);
}

static void a_child_begins_with_what_was_known(void **state) {
    char inner[256];
    (void)state;
    play(fork_a_child);
    kinds_are("process machine demand object finding search candidate unobserved");
    snprintf(inner, sizeof(inner), "%s/inner", place);
    read_log(inner);
    kinds_are("process machine object demand search candidate unobserved unobserved object");
    assert_string_equal(text(line(0), "parent_log"), log_name);
    assert_int_equal(number(line(0), "parent_pid"), child);
    assert_int_not_equal(number(line(0), "pid"), child);
    assert_string_equal(text(line(2), "version"), "9.1.0");
    assert_string_equal(text(line(4), "rule"), "DT_RUNPATH");
    assert_string_equal(text(line(5), "path"), "/b/libcudnn.so.9");
    assert_string_equal(text(line(7), "what"), "not");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        assert_int_equal(number(line(i), "seq"), i + 1);
        assert_int_equal(number(line(i), "pid"), number(line(0), "pid"));
    }
}

static void fork_and_forget(void) {
    disappoint();
    journal_forget();
    if (journal_stack()->objects.n != 0)
        _exit(1);
    journal_diagnose(); /* nothing is known any more */
}

static void what_was_forgotten_is_not_told(void **state) {
    (void)state;
    play(fork_and_forget);
    kinds_are("process machine demand object finding");
}

/* ---- lines that are lost ---- */

static void lose_two_lines(void) {
    journal_open_relevant();
    journal_unobserved("first", "because", NULL);
    rename(log_name, "aside");
    journal_unobserved("second", "because", NULL);
    journal_unobserved("third", "because", NULL);
    rename("aside", log_name);
    journal_unobserved("fourth", "because", NULL);
    journal_unobserved("fifth", "because", NULL);
    journal_close();
}

static void what_was_lost_is_told(void **state) {
    static const int numbers[] = {1, 2, 3, 6, 7, 8, 9};
    (void)state;
    play(lose_two_lines);
    kinds_are("process machine unobserved unobserved unobserved unobserved summary");
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(number(line(i), "seq"), numbers[i]);
    assert_string_equal(text(line(2), "what"), "first");
    assert_string_equal(text(line(3), "what"), "records of this log");
    assert_string_equal(text(line(3), "why"), "the log file cannot be opened any more");
    assert_string_equal(text(line(4), "what"), "fourth");
    assert_string_equal(text(line(5), "what"), "fifth");
    assert_int_equal(number(line(6), "dropped"), 2);
}

static void begin_without_descriptors(void) {
    struct rlimit all, none;
    getrlimit(RLIMIT_NOFILE, &all);
    none = all;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    journal_open_relevant();
    journal_unobserved("first", "because", NULL);
    if (log_path()[0])
        _exit(1);
    setrlimit(RLIMIT_NOFILE, &all);
    journal_unobserved("second", "because", NULL);
    journal_unobserved("third", "because", NULL);
    rename(log_name, "aside");
    journal_unobserved("fourth", "because", NULL);
    rename("aside", log_name);
    journal_unobserved("fifth", "because", NULL);
    journal_close();
}

static void a_log_that_comes_late_begins_as_others_do(void **state) {
    (void)state;
    play(begin_without_descriptors);
    kinds_are("process machine unobserved unobserved unobserved unobserved unobserved summary");
    assert_string_equal(text(line(2), "what"), "records of this log");
    assert_string_equal(text(line(2), "why"), "the log file cannot be created");
    assert_string_equal(text(line(3), "what"), "second");
    assert_string_equal(text(line(4), "what"), "third");
    assert_string_equal(text(line(5), "what"), "records of this log");
    assert_string_equal(text(line(6), "what"), "fifth");
    assert_int_equal(number(line(7), "dropped"), 4);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(it_begins_with_process_and_machine),
        TEST(nothing_is_made_where_nothing_is_wanted),
        TEST(an_eager_log_stays_for_whom_it_was_begun),
        TEST(what_is_expected_is_a_demand),
        TEST(a_blind_spot_is_told_once_for_each_thing_and_path),
        TEST(a_finding_is_told_once_and_again_in_other_words),
        TEST(the_same_finding_about_another_object_is_another),
        TEST(nor_does_it_supersede_what_no_longer_holds_of_the_first),
        TEST(the_summary_counts),
        TEST(a_name_that_was_not_found_is_told_at_the_end),
        TEST(the_last_words_of_the_loader_are_said),
        TEST(a_finding_is_said_with_its_facts_and_the_log),
        TEST(without_a_log_the_reason_is_said),
        TEST(a_path_moves_no_cursor),
        TEST(a_child_begins_with_what_was_known),
        TEST(what_was_forgotten_is_not_told),
        TEST(what_was_lost_is_told),
        TEST(a_log_that_comes_late_begins_as_others_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
