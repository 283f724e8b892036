/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sources: the input is two logs, parted by an empty line, and a setting: the second is a copy
 * of the first, or the same file. The first is read and reported, then the second: the first one's
 * report is the same afterwards, and both are compared. Or both are read together.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "support_fuzz.h"
#include "tools/commands/input.h"
#include "tools/observe/log/redact.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

enum { COPY = 1, SAME_FILE = 2, REDACT = 4, TOGETHER = 8 };

static struct side {
    int fd;
    char *path;
} sides[2];

static void begin(void) {
    for (size_t i = 0; i < 2; i++) {
        sides[i].fd = memfd_create("log", MFD_CLOEXEC);
        MUST(sides[i].fd >= 0 && asprintf(&sides[i].path, "/proc/self/fd/%d", sides[i].fd) > 0);
    }
}

static void put(const struct side *s, const uint8_t *p, size_t n) {
    MUST(ftruncate(s->fd, 0) == 0 && (n == 0 || pwrite(s->fd, p, n, 0) == (ssize_t)n));
}

static char *told(const struct source *s) {
    struct sink text;
    struct layout l = {.to = sink_begin(&text), .whole = true};
    struct report report;
    report_make(&report, s);
    render_text(&l, &report);
    report_end(&report);
    return sink_end(&text);
}

static void compare_both(struct source *a, struct source *b) {
    struct sink text;
    struct layout l = {.to = sink_begin(&text)};
    struct comparison c;
    ends_settle((struct source *const[]){a, b}, 2);
    compare(&c, a, b);
    render_comparison(&l, &c, "differs", (const struct compared_side[2]){{"A", NULL}, {"B", NULL}});
    comparison_end(&c);
    free(sink_end(&text));
}

static void read_apart(char *a, char *b, unsigned how) {
    struct inputs in = {.troubles = NULL};
    size_t n, all;
    char *before;
    input_read(&in, a);
    n = in.logs.process_count;
    if (n > 0) {
        struct source *first = in.logs.processes[n - 1];
        before = told(first);
        input_read(&in, b);
        all = in.logs.process_count;
        OWNED char *after = told(first);
        MUST(all >= n && in.logs.processes[n - 1] == first && strcmp(before, after) == 0);
        if (how & REDACT) {
            struct redaction *names = redaction_of_logs(&in.logs);
            redaction_apply_all(names, &in.logs);
            redaction_free(names);
        }
        if (all > n)
            compare_both(first, in.logs.processes[all - 1]);
        free(before);
    }
    inputs_end(&in);
}

static void read_together(char *a, char *b) {
    struct inputs in = {.troubles = NULL};
    struct report reports[16];
    struct merged m;
    size_t n;
    input_read_files(&in, (char *const[]){a, b}, 2);
    n = in.logs.process_count < 16 ? in.logs.process_count : 16;
    ends_settle(in.logs.processes, in.logs.process_count);
    for (size_t i = 0; i < n; i++)
        report_make(&reports[i], in.logs.processes[i]);
    if (n > 0) {
        merge(&m, reports, n);
        json_decref(render_merged_json(&m));
        merged_end(&m);
    }
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    inputs_end(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct controls c = {data, size};
    unsigned how = take_control(&c);
    const uint8_t *second = memmem(data, c.size, "\n\n", 2);
    size_t n = second ? (size_t)(second - data) + 1 : c.size;
    char *b;
    if (!sides[0].path)
        begin();
    put(&sides[0], data, n);
    put(&sides[1], how & COPY ? data : data + n, how & COPY ? n : c.size - n);
    b = sides[how & SAME_FILE ? 0 : 1].path;
    if (how & TOGETHER)
        read_together(sides[0].path, b);
    else
        read_apart(sides[0].path, b, how);
    return 0;
}
