/* SPDX-License-Identifier: Apache-2.0 */
/* Logs back into stacks: whole, damaged at any byte, of other makes. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/records/process.h"
#include "support_place.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/log/record_json.h"

struct text {
    char path[64];
    size_t n;
    char bytes[64 << 10];
};

static int begin(void **state) {
    struct text *t = must_allocate(sizeof(*t));
    int fd;

    temporary_name(t->path, sizeof(t->path));
    fd = mkstemp(t->path);
    if (fd < 0)
        return -1;
    close(fd);
    *state = t;
    return 0;
}

static int end(void **state) {
    struct text *t = *state;

    unlink(t->path);
    free(t);
    return 0;
}

static void write_file(const struct text *t, const char *bytes, size_t n) {
    FILE *to = fopen(t->path, "w");

    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, n, to), n);
    assert_int_equal(fclose(to), 0);
}

static struct wc_record record(enum wc_kind kind, int64_t seq, int64_t tid) {
    struct wc_record r;

    wc_record_begin(&r, kind);
    r.time = 1700000000000000 + seq;
    r.seq = seq;
    r.pid = 4711;
    r.tid = tid;
    return r;
}

static void add(struct text *t, const struct wc_record *r) {
    size_t n = wc_record_write(r, t->bytes + t->n, sizeof(t->bytes) - t->n);

    assert_true(n > 0);
    t->n += n;
}

static void add_request(struct text *t, int64_t seq, int64_t tid, const char *name) {
    struct wc_record r = record(WC_KIND_request, seq, tid);

    r.u.request.request = seq;
    r.u.request.operation = WC_operation_DLOPEN;
    r.u.request.name = name;
    add(t, &r);
}

static void add_call(struct text *t, int64_t seq, int64_t tid, const char *function,
                     enum wc_phase phase) {
    struct wc_record r = record(WC_KIND_call, seq, tid);

    r.u.call.function = function;
    r.u.call.phase = phase;
    add(t, &r);
}

/* A small log of each kind of thing. */
static void usual_log(struct text *t) {
    struct wc_record r = record(WC_KIND_process, 1, 4711);
    static const char *const arguments[] = {"python", "train.py"};

    r.u.process.node = "node7";
    r.u.process.arguments = (struct wc_strings){arguments, 2};
    add(t, &r);
    r = record(WC_KIND_machine, 2, 4711);
    add(t, &r);
    add_request(t, 3, 4711, "libcudnn.so.9");
    r = record(WC_KIND_object, 4, 4711);
    r.u.object.object = 1;
    r.u.object.role = WC_role_FACADE;
    r.u.object.path = "/a/\xC3\xA9/libcudnn.so.9";
    r.u.object.version = "9.1.0";
    add(t, &r);
    add_call(t, 5, 4711, "cudnnCreate", WC_phase_BEFORE);
}

static size_t count_lines(const char *bytes, size_t n) {
    size_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += bytes[i] == '\n';
    return lines;
}

/* Reads what t holds; it must be a log. */
static void read_log(const struct text *t, struct logs *logs) {
    char *trouble = NULL;

    memset(logs, 0, sizeof(*logs));
    write_file(t, t->bytes, t->n);
    if (!logs_read(logs, t->path, &trouble))
        fail_msg("%s", trouble);
    assert_int_equal(logs->file_count, 1);
}

static void assert_refused(const struct text *t, const char *bytes, size_t n, const char *why) {
    struct logs logs = {.files = NULL};
    char *trouble = NULL;

    write_file(t, bytes, n);
    assert_false(logs_read(&logs, t->path, &trouble));
    assert_int_equal(logs.file_count + logs.process_count, 0);
    if (!strstr(trouble, why))
        fail_msg("%s, not %s", trouble, why);
    free(trouble);
    logs_end(&logs);
}

/* ---- whole logs ---- */

static void a_log_becomes_a_stack(void **state) {
    struct text *t = *state;
    struct logs logs;
    const struct source *p;

    usual_log(t);
    read_log(t, &logs);
    assert_int_equal(logs.process_count, 1);
    p = logs.processes[0];
    assert_int_equal(p->records, 5);
    assert_int_equal(p->pid, 4711);
    assert_int_equal(p->last_seq, 5);
    assert_true(p->first_time == 1700000000000001 && p->last_time == 1700000000000005);
    assert_string_equal(p->stack.process.node, "node7");
    assert_string_equal(p->stack.process.arguments.p[1], "train.py");
    assert_int_equal(p->stack.objects.n, 1);
    assert_string_equal(p->stack.objects.p[0].r.path, "/a/\xC3\xA9/libcudnn.so.9");
    assert_int_equal(p->stack.objects.p[0].version.major, 9);
    assert_int_equal(p->stack.requests, 1);
    assert_int_equal(p->file->damaged_lines, 0);
    logs_end(&logs);
}

static void each_process_record_begins_a_stack(void **state) {
    struct text *t = *state;
    struct wc_record r;
    struct logs logs;

    usual_log(t);
    usual_log(t);
    r = record(WC_KIND_outcome, 6, 1);
    add(t, &r);
    read_log(t, &logs);
    assert_int_equal(logs.process_count, 2);
    assert_int_equal(logs.processes[0]->records, 5);
    assert_int_equal(logs.processes[1]->records, 6);
    assert_false(logs.processes[0]->stack.has_outcome);
    assert_true(logs.processes[1]->stack.has_outcome);
    logs_end(&logs);
}

static void process_records_may_follow_each_other(void **state) {
    struct text *t = *state;
    struct wc_record r = record(WC_KIND_process, 1, 4711);
    struct logs logs;

    add(t, &r);
    add(t, &r);
    read_log(t, &logs);
    assert_int_equal(logs.process_count, 2);
    logs_end(&logs);
}

static void findings_said_live_are_kept_for_the_timeline(void **state) {
    struct text *t = *state;
    struct wc_record r = record(WC_KIND_finding, 6, 4711);
    struct logs logs;

    usual_log(t);
    r.u.finding.id = "runtime-too-old";
    add(t, &r);
    read_log(t, &logs);
    assert_int_equal(logs.processes[0]->stack.findings.n, 1);
    logs_end(&logs);
}

static void lists_hold_nothing_but_texts(void **state) {
    static const struct {
        enum wc_kind kind;
        const char *key, *value;
    } rows[] = {
        {WC_KIND_process, "arguments", "[\"a\", 1]"},
        {WC_KIND_process, "arguments", "[null]"},
        {WC_KIND_finding, "facts", "[{\"name\":\"a\",\"value\":\"b\"}]"},
        {WC_KIND_finding, "facts", "[{\"name\":\"a\",\"value\":1,\"source\":null}]"},
        {WC_KIND_finding, "facts", "[[]]"},
        {WC_KIND_finding, "severity", "\"fatal\""},
        {WC_KIND_finding, "severity", "\"none\""},
    };
    char line[WC_RECORD_MAX], trouble[RECORD_TROUBLE];
    struct heap_arena lists;
    struct wc_record r;
    json_t *json;
    (void)state;

    heap_arena_begin(&lists);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        r = record(rows[i].kind, 1, 1);
        json = json_loadb(line, wc_record_write(&r, line, sizeof(line)), 0, NULL);
        json_object_set_new(json, rows[i].key, json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(record_from_json(json, &lists.arena, &r, trouble), RECORD_DAMAGED);
        assert_int_equal(strncmp(trouble, rows[i].key, strlen(rows[i].key)), 0);
        json_decref(json);
    }
    heap_arena_end(&lists);
}

static void a_log_may_begin_in_the_middle(void **state) {
    struct text *t = *state;
    struct wc_record r = record(WC_KIND_outcome, 1, 99);
    struct logs logs;

    r.u.outcome.reason = "linked statically";
    add(t, &r);
    read_log(t, &logs);
    assert_int_equal(logs.process_count, 1);
    assert_false(logs.processes[0]->stack.has_process);
    assert_string_equal(logs.processes[0]->stack.outcome.reason, "linked statically");
    logs_end(&logs);
}

/* ---- damage ---- */

static void a_log_cut_at_any_byte_is_read_up_to_there(void **state) {
    struct text *t = *state;
    struct logs logs;
    size_t whole;

    usual_log(t);
    whole = t->n;
    for (t->n = whole; t->n > 0; t->n--) {
        size_t lines = count_lines(t->bytes, t->n);
        bool complete = t->bytes[t->n] == '\n' && t->n < whole; /* all but the newline */

        if (lines + complete == 0)
            break;
        read_log(t, &logs);
        assert_int_equal(logs.processes[0]->records, lines + complete);
        assert_int_equal(logs.files[0]->damaged_lines,
                         t->bytes[t->n - 1] != '\n' && !complete ? 1 : 0);
        assert_int_equal(logs.files[0]->open_end, t->bytes[t->n - 1] != '\n');
        if (logs.files[0]->damaged_lines) {
            assert_int_equal(logs.files[0]->damaged.p[0].line, lines + 1);
            assert_string_equal(logs.files[0]->damaged.p[0].reason, "cut off");
        }
        logs_end(&logs);
    }
    assert_refused(t, t->bytes, t->n, "not a log");
}

static void damaged_lines_are_passed_over_and_told(void **state) {
    static const char *const bad[] = {
        "",
        "{}",
        "[1]",
        "null",
        "{\"v\":4}",
        "{\"v\":\"1\",\"kind\":\"process\"}",
        "not json",
        "{\"v\":4,\"kind\":\"wonder\"}",
        "{\"v\":0,\"kind\":\"process\"}",
        "{\"v\":4,\"kind\":\"machine\",\"time\":1,\"pid\":1,\"tid\":1}",
        "{\"v\":4,\"kind\":\"machine\",\"seq\":9,\"pid\":1,\"tid\":1}",
        "{\"v\":3,\"kind\":\"machine\",\"seq\":9,\"pid\":1}",
        "{\"v\":4,\"v\":4}",
        "{\"v\":99999999999999999999}",
        "\xFF\xFE",
    };
    size_t n = sizeof(bad) / sizeof(bad[0]);
    struct text *t = *state;
    struct logs logs;

    usual_log(t);
    for (size_t i = 0; i < n; i++)
        t->n += (size_t)sprintf(t->bytes + t->n, "%s\n", bad[i]);
    add_call(t, 6, 4711, "cudnnCreate", WC_phase_AFTER);
    read_log(t, &logs);
    assert_int_equal(logs.processes[0]->records, 6);
    assert_int_equal(logs.files[0]->damaged_lines, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(logs.files[0]->damaged.p[i].line, 6 + i);
        assert_true(strlen(logs.files[0]->damaged.p[i].reason) > 0);
    }
    logs_end(&logs);
}

static void more_damage_than_is_told_is_still_counted(void **state) {
    struct text *t = *state;
    struct logs logs;

    usual_log(t);
    for (size_t i = 0; i < 3 * LOG_DAMAGED_TOLD; i++)
        t->n += (size_t)sprintf(t->bytes + t->n, "x\n");
    read_log(t, &logs);
    assert_int_equal(logs.files[0]->damaged_lines, 3 * LOG_DAMAGED_TOLD);
    logs_end(&logs);
}

static json_t *usual_json(const struct wc_field *f) {
    if (f->type == WC_FIELD_STRS || f->type == WC_FIELD_FACTS)
        return json_array();
    return f->type == WC_FIELD_BOOL ? json_false() : json_null();
}

/* Each key of each kind that is of another type, or what no line leaves out, is named. */
static void every_key_is_held_to_its_type(void **state) {
    static const char *const always[] = {"v", "kind", "time", "seq", "pid", "tid"};
    struct heap_arena lists;
    char line[WC_RECORD_MAX], trouble[RECORD_TROUBLE];
    struct wc_record r;
    const char *key;
    json_t *whole, *value, *copy;
    const struct wc_field *fields;
    (void)state;

    heap_arena_begin(&lists);
    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        r = record(kind, 1, 1);
        size_t n = wc_record_write(&r, line, sizeof(line));
        whole = json_loadb(line, n, 0, NULL);
        fields = wc_kind_fields(kind, &n);
        for (size_t i = 0; i < n; i++)
            json_object_set_new(whole, fields[i].name, usual_json(&fields[i]));
        assert_int_equal(record_from_json(whole, &lists.arena, &r, trouble), RECORD_READ);
        json_object_foreach(whole, key, value) {
            bool needed = false;
            for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
                needed = needed || strcmp(always[i], key) == 0;
            copy = json_copy(whole);
            json_object_del(copy, key);
            assert_int_equal(record_from_json(copy, &lists.arena, &r, trouble),
                             needed ? RECORD_DAMAGED : RECORD_READ);
            assert_true(!needed || strncmp(trouble, key, strlen(key)) == 0);
            json_object_set_new(copy, key, json_real(1.5));
            assert_int_equal(record_from_json(copy, &lists.arena, &r, trouble), RECORD_DAMAGED);
            assert_int_equal(strncmp(trouble, key, strlen(key)), 0);
            json_decref(copy);
        }
        json_decref(whole);
    }
    heap_arena_end(&lists);
}

static void changed_bytes_do_no_harm(void **state) {
    struct text *t = *state, *changed = must_allocate(sizeof(*changed));
    unsigned seed = (unsigned)time(NULL), at = seed;
    char *trouble;

    print_message("seed %u\n", seed);
    usual_log(t);
    for (int round = 0; round < 2000; round++) {
        struct logs logs = {.files = NULL};

        memcpy(changed, t, sizeof(*t));
        for (int i = 0; i < 1 + round % 8; i++) {
            at = at * 1103515245 + 12345;
            changed->bytes[(at >> 8) % t->n] = (char)(at >> 24);
        }
        write_file(changed, changed->bytes, changed->n);
        if (!logs_read(&logs, changed->path, &trouble))
            free(trouble);
        else
            assert_in_range(logs.files[0]->records + logs.files[0]->damaged_lines, 1,
                            count_lines(changed->bytes, changed->n) + 1);
        logs_end(&logs);
    }
    free(changed);
}

/* ---- what is no log ---- */

static void what_is_no_log_is_refused_with_the_reason(void **state) {
    struct text *t = *state;
    char *deep = must_allocate(50000);
    const char *newer = "{\"v\":5,\"kind\":\"process\"}\n";
    const char *older = "{\"v\":2,\"kind\":\"process\"}\n";

    assert_refused(t, "", 0, "empty");
    assert_refused(t, "root:x:0:0\n", 11, "line 1");
    assert_refused(t,
                   "\x7f"
                   "ELF\0\0\0\0",
                   8, "not a log");
    assert_refused(t, newer, strlen(newer),
                   "a log of version 5, written by a newer libwhichcudnn; this command reads "
                   "version 4");
    assert_refused(t, older, strlen(older),
                   "a log of version 2, written by an older libwhichcudnn; this command reads "
                   "version 4 (run the program again)");
    memset(deep, '[', 50000);
    assert_refused(t, deep, 50000, "not a log");
    free(deep);
}

static void a_line_of_another_version_anywhere_refuses_the_file(void **state) {
    struct text *t = *state;
    size_t n;

    usual_log(t);
    n = t->n;
    t->n += (size_t)sprintf(t->bytes + n, "{\"v\":5}\n");
    assert_refused(t, t->bytes, t->n, "newer");
    t->n = n + (size_t)sprintf(t->bytes + n, "{\"v\":1}\n");
    assert_refused(t, t->bytes, t->n, "older");
}

static void endless_lines_take_no_memory_and_end(void **state) {
    struct text *t = *state;
    struct logs logs;
    size_t long_line = 4 * WC_RECORD_MAX + 10;
    char *bytes;

    usual_log(t);
    bytes = must_allocate(t->n + long_line + t->n);
    memcpy(bytes, t->bytes, t->n);
    memset(bytes + t->n, '{', long_line);
    bytes[t->n + long_line - 1] = '\n';
    memcpy(bytes + t->n + long_line, t->bytes, t->n);
    write_file(t, bytes, t->n + long_line + t->n);
    memset(&logs, 0, sizeof(logs));
    assert_true(logs_read(&logs, t->path, &(char *){NULL}));
    assert_int_equal(logs.process_count, 2);
    assert_int_equal(logs.files[0]->damaged_lines, 1);
    assert_string_equal(logs.files[0]->damaged.p[0].reason, "longer than any record");
    logs_end(&logs);
    free(bytes);
}

static void directories_and_nothing_are_refused(void **state) {
    struct logs logs = {.files = NULL};
    char *trouble;
    (void)state;

    assert_false(logs_read(&logs, "/tmp", &trouble));
    assert_string_equal(trouble, "Is a directory");
    free(trouble);
    assert_false(logs_read(&logs, "/tmp/no/such/log", &trouble));
    assert_string_equal(trouble, "No such file or directory");
    free(trouble);
}

/* ---- in flight ---- */

static void assert_in_flight(struct text *t, const char *what, int64_t seq) {
    struct logs logs;
    const char *found;
    int64_t found_seq;

    read_log(t, &logs);
    found = in_flight_last(&logs.processes[0]->in_flight, &found_seq);
    if (what)
        assert_string_equal(found, what);
    else
        assert_null(found);
    assert_true(found_seq == seq);
    logs_end(&logs);
}

static void the_last_thing_begun_and_not_over_is_in_flight(void **state) {
    struct text *t = *state;
    struct wc_record r;

    usual_log(t);
    assert_in_flight(t, "cudnnCreate", 5);
    add_call(t, 6, 4711, "cudnnCreate", WC_phase_AFTER);
    assert_in_flight(t, NULL, WC_NULL);
    add_request(t, 7, 4711, "libfoo.so");
    add_call(t, 8, 5000, "cudnnGetVersion", WC_phase_BEFORE); /* another thread */
    assert_in_flight(t, "cudnnGetVersion", 8);
    add_call(t, 9, 5000, "cudnnGetVersion", WC_phase_AFTER);
    assert_in_flight(t, "dlopen libfoo.so", 7);
    r = record(WC_KIND_failure, 10, 4711);
    r.u.failure.request = 7;
    add(t, &r);
    assert_in_flight(t, NULL, WC_NULL);
    add_request(t, 11, 4711, NULL);
    assert_in_flight(t, "dlopen of the program itself", 11);
    r = record(WC_KIND_summary, 12, 4711);
    add(t, &r);
    assert_in_flight(t, NULL, WC_NULL);
}

/* cudnnOpsVersionCheck asks for libcuda.so.1 and goes on without it. */
static void what_a_call_asked_for_is_over_with_the_call(void **state) {
    struct text *t = *state;

    usual_log(t);
    add_request(t, 6, 4711, "libcuda.so.1");
    add_request(t, 7, 4711, "libcuda.so.1");
    assert_in_flight(t, "dlopen libcuda.so.1", 7);
    add_call(t, 8, 4711, "cudnnGetVersion", WC_phase_AFTER); /* of which no "before" is known */
    assert_in_flight(t, "dlopen libcuda.so.1", 7);
    add_call(t, 9, 4711, "cudnnCreate", WC_phase_AFTER);
    assert_in_flight(t, NULL, WC_NULL);
    add_request(t, 10, 4711, "libfoo.so");
    assert_in_flight(t, "dlopen libfoo.so", 10);
}

static void an_after_of_another_call_ends_nothing(void **state) {
    struct text *t = *state;
    struct wc_record r;

    usual_log(t);
    add_call(t, 6, 4711, "cudnnGetVersion", WC_phase_AFTER);
    add_call(t, 7, 5000, "cudnnCreate", WC_phase_AFTER);
    r = record(WC_KIND_failure, 8, 4711); /* of no known request */
    add(t, &r);
    assert_in_flight(t, "cudnnCreate", 5);
}

/* ---- a request that a process died of ---- */

static int64_t own_start(void) {
    char stat[1024];
    FILE *f = fopen("/proc/self/stat", "r");

    assert_non_null(f);
    stat[fread(stat, 1, sizeof(stat) - 1, f)] = '\0';
    fclose(f);
    return wc_start_ticks(stat);
}

/* Appended to a log whose process is the given one, of this computer, and began as this one. */
static size_t failures_of(struct text *t, const char *name, int64_t flags, const char *other,
                          enum wc_kind end, int64_t pid) {
    struct wc_record r = record(WC_KIND_process, 1, 4711);
    struct utsname here;
    struct logs logs;
    size_t failures;

    assert_int_equal(uname(&here), 0);
    t->n = 0;
    r.pid = pid;
    r.u.process.node = here.nodename;
    r.u.process.start_ticks = own_start();
    add(t, &r);
    r = record(WC_KIND_request, 2, 4711);
    r.u.request.request = 1;
    r.u.request.operation = WC_operation_DLOPEN;
    r.u.request.name = name;
    r.u.request.caller = "/a/libcudnn_graph.so.9";
    r.u.request.flags = flags;
    add(t, &r);
    if (other) {
        r = record(WC_KIND_object, 3, 4711);
        r.u.object.object = 1;
        r.u.object.path = other;
        add(t, &r);
    }
    r = record(end, 4, 4711);
    add(t, &r);
    read_log(t, &logs);
    failures = logs.processes[0]->stack.failures.n;
    if (failures) {
        const struct wc_failure_record *f = &logs.processes[0]->stack.failures.p[0].r;
        assert_string_equal(f->name, name);
        assert_string_equal(f->caller, "/a/libcudnn_graph.so.9");
        assert_true(f->inferred && f->request == 1 && !f->text);
    }
    logs_end(&logs);
    return failures;
}

static void the_last_request_of_who_died_has_failed_if_nothing_answers(void **state) {
    enum { GONE = 99999999 }; /* no process has such a number */
    const enum wc_kind nothing = WC_KIND_unobserved, summary = WC_KIND_summary;
    const char *name = "libcublasLt.so.12";

    assert_int_equal(failures_of(*state, name, RTLD_NOW, NULL, nothing, GONE), 1);
    assert_int_equal(failures_of(*state, name, RTLD_NOW, "/b/libcublas.so.12", nothing, GONE), 1);
    assert_int_equal(failures_of(*state, name, RTLD_NOW, "/b/libcublasLt.so.12", nothing, GONE), 0);
    assert_int_equal(failures_of(*state, name, RTLD_NOW, NULL, summary, GONE), 0);
    assert_int_equal(failures_of(*state, name, RTLD_NOW, NULL, nothing, getpid()), 0);
    /* A number comes again. */
    assert_int_equal(failures_of(*state, name, RTLD_NOW, NULL, nothing, 1), 1);
    assert_int_equal(failures_of(*state, name, RTLD_NOW | RTLD_NOLOAD, NULL, nothing, GONE), 0);
    /* What has nothing to do with CUDA may have come in without a record. */
    assert_int_equal(failures_of(*state, "libfoo.so", RTLD_NOW, NULL, nothing, GONE), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_log_becomes_a_stack),
        TEST(each_process_record_begins_a_stack),
        TEST(process_records_may_follow_each_other),
        TEST(findings_said_live_are_kept_for_the_timeline),
        cmocka_unit_test(lists_hold_nothing_but_texts),
        TEST(a_log_may_begin_in_the_middle),
        TEST(a_log_cut_at_any_byte_is_read_up_to_there),
        TEST(damaged_lines_are_passed_over_and_told),
        TEST(more_damage_than_is_told_is_still_counted),
        cmocka_unit_test(every_key_is_held_to_its_type),
        TEST(changed_bytes_do_no_harm),
        TEST(what_is_no_log_is_refused_with_the_reason),
        TEST(a_line_of_another_version_anywhere_refuses_the_file),
        TEST(endless_lines_take_no_memory_and_end),
        cmocka_unit_test(directories_and_nothing_are_refused),
        TEST(the_last_thing_begun_and_not_over_is_in_flight),
        TEST(what_a_call_asked_for_is_over_with_the_call),
        TEST(an_after_of_another_call_ends_nothing),
        TEST(the_last_request_of_who_died_has_failed_if_nothing_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
