/* SPDX-License-Identifier: Apache-2.0 */
#include "process_state.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/records/process.h"

static bool read_stat(const char *process, char *text, size_t room) {
    OWNED char *path = must_format("/proc/%s/stat", process);
    OWNED_FILE FILE *from = fopen(path, "re");
    size_t n = from ? fread(text, 1, room - 1, from) : 0;

    text[n] = '\0';
    return n > 0;
}

static bool is_here(const struct wc_process_record *p) {
    struct utsname own;

    return p->node && uname(&own) == 0 && strcmp(p->node, own.nodename) == 0;
}

/* The letter after the name, which may hold anything. */
static bool has_ended(const char *stat) {
    const char *end = strrchr(stat, ')');

    return end && end[1] == ' ' && (end[2] == 'Z' || end[2] == 'X');
}

enum process_state process_state(const struct source *log) {
    const struct wc_process_record *p = &log->stack.process;
    char text[1024];
    OWNED char *pid = must_format("%jd", (intmax_t)log->pid);

    if (log->pid <= 0 || !log->stack.has_process || p->start_ticks == WC_NULL || !is_here(p) ||
        !read_stat("self", text, sizeof(text)))
        return PROCESS_NOT_KNOWN;
    return read_stat(pid, text, sizeof(text)) && wc_start_ticks(text) == p->start_ticks &&
                   !has_ended(text)
               ? PROCESS_RUNS
               : PROCESS_GONE;
}
