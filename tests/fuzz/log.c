/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools/observe/log/log_reader.c, record_json.c, source.c: the input is a log, then a setting.
 * What was read is asked for again, as the report does, and each record of it survives being
 * written and read once more.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "support_fuzz.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

enum { LONG_LINE = 1, NEWLINE_BEHIND = 2, LONG = 70000 };

static int fd = -1;
static char path[64];
static FILE *nowhere;

static void begin(void) {
    fd = memfd_create("log", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    nowhere = fopen("/dev/null", "w");
    MUST(fd >= 0 && nowhere);
}

static void put(const void *p, size_t n) {
    MUST(n == 0 || write(fd, p, n) == (ssize_t)n);
}

static void make_log(const uint8_t *data, size_t size, unsigned how) {
    static char line[LONG + 1];
    MUST(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    if (how & LONG_LINE) {
        memset(line, '[', LONG);
        line[LONG] = '\n';
        put(line, sizeof line);
    }
    put(data, size);
    if (how & NEWLINE_BEHIND)
        put("\n", 1);
}

/* The quick reader has no other opinion than jansson. */
static void read_alike(const char *line, size_t n, const struct wc_record *expected) {
    static char room[WC_RECORD_MAX + 1];
    struct heap_arena lists;
    struct wc_record again;
    heap_arena_begin(&lists);
    if (record_from_line(line, n, room, &lists.arena, &again)) {
        json_t *a = record_to_json(expected->kind, &expected->u, NULL);
        json_t *b = record_to_json(again.kind, &again.u, NULL);
        MUST(json_equal(a, b));
        json_decref(a);
        json_decref(b);
    }
    heap_arena_end(&lists);
}

/* Through both writers: the command's and the shim's. */
static void survives(const struct wc_record *r) {
    static char line[WC_RECORD_MAX];
    char trouble[RECORD_TROUBLE];
    struct heap_arena lists;
    struct wc_record again;
    size_t n = wc_record_write(r, line, sizeof line);
    json_t *json = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    MUST(n > 1 && line[n - 1] == '\n' && json);
    heap_arena_begin(&lists);
    MUST(record_from_json(json, &lists.arena, &again, trouble) == RECORD_READ);
    MUST(again.kind == r->kind);
    read_alike(line, n - 1, &again);
    heap_arena_end(&lists);
    json_decref(json);
    json = record_to_json(r->kind, &r->u, NULL);
    MUST(json && json_object_size(json) > 0);
    json_decref(json);
}

#define SURVIVE(p, list, k)                                                                        \
    for (size_t i = 0; i < (p)->stack.list.n && i < 20; i++) {                                     \
        struct wc_record r;                                                                        \
        wc_record_begin(&r, WC_KIND_##k);                                                          \
        r.u.k = (p)->stack.list.p[i].r;                                                            \
        survives(&r);                                                                              \
    }

static void check_process(const struct source *p) {
    struct report report;
    MUST(p->records > 0 && p->file);
    in_flight_last(&p->in_flight, NULL);
    SURVIVE(p, objects, object)
    SURVIVE(p, demands, demand)
    SURVIVE(p, bindings, binding)
    SURVIVE(p, failures, failure)
    SURVIVE(p, calls, call)
    SURVIVE(p, findings, finding)
    report_make(&report, p);
    struct layout l = {.to = nowhere};
    render_text(&l, &report);
    l.whole = true;
    render_text(&l, &report);
    render_prometheus(nowhere, &report, 1, 0);
    json_t *json = render_json(&report);
    MUST(json);
    json_decref(json);
    report_end(&report);
}

static void check_file(const struct log_file *f) {
    MUST(f->records > 0 && f->lines >= f->records + f->damaged_lines);
    for (size_t i = 0; i < f->damaged_lines && i < LOG_DAMAGED_TOLD; i++)
        MUST(f->damaged.p[i].line <= f->lines && f->damaged.p[i].reason[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct controls c = {data, size};
    unsigned how = take_control(&c);
    struct logs logs = {.keep_events = 1000};
    char *trouble = NULL;
    if (fd < 0)
        begin();
    make_log(data, c.size, how);
    if (logs_read(&logs, path, &trouble)) {
        MUST(!trouble && logs.file_count == 1 && logs.process_count > 0);
        check_file(logs.files[0]);
        for (size_t i = 0; i < logs.process_count && i < 8; i++)
            check_process(logs.processes[i]);
    } else {
        MUST(trouble && trouble[0] && logs.file_count == 0 && logs.process_count == 0);
    }
    free(trouble);
    logs_end(&logs);
    return 0;
}
