/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/records/process.h"
#include "log_reader.h"
#include "tools/util/clock.h"
#include "tools/util/program.h"

#define STAT_MOST 1024 /* bytes */

char *proc_text(int64_t pid, const char *name, size_t most) {
    OWNED char *path = must_format("/proc/%jd/%s", (intmax_t)pid, name);

    return disk_text(path, most, &(size_t){0}) ?: must_copy("");
}

enum writer_state writer_state(const struct source *log) {
    const struct wc_process_record *p = &log->stack.process;
    struct utsname here;

    if (log->pid <= 0 || !log->stack.has_process || p->start_ticks == WC_NULL || !p->node ||
        uname(&here) != 0 || strcmp(p->node, here.nodename) != 0)
        return WRITER_NOT_KNOWN;
    OWNED char *own = proc_text(getpid(), "stat", STAT_MOST);
    OWNED char *stat = proc_text(log->pid, "stat", STAT_MOST);
    const char state = *wc_stat_field(stat, 3);
    return !*own ? WRITER_NOT_KNOWN
           : wc_start_ticks(stat) != p->start_ticks || state == 'Z' || state == 'X' ? WRITER_GONE
                                                                                    : WRITER_RUNS;
}

struct source *source_new(enum source_type type, const char *path) {
    struct source *s = must_allocate(sizeof(*s));

    s->type = type;
    s->path = must_copy(path);
    heap_arena_begin(&s->memory);
    wc_stack_begin(&s->stack, &s->memory.arena);
    s->stack.keep_findings = true;
    s->stack.replayed = type == SOURCE_SCAN;
    return s;
}

void source_free(struct source *s) {
    in_flight_end(&s->in_flight);
    heap_arena_end(&s->memory);
    free(s->events.p);
    free(s->requests.p);
    free(s->root);
    free(s->path);
    free(s);
}

/* Texts go where those of the stack are. */
static void keep_event(struct source *s, const struct wc_record *r) {
    struct wc_record kept = *r;
    size_t bytes = s->stack.kept;

    if (wc_stack_keep(&s->stack, r->kind, &kept.u, NULL))
        *MUST_ADD(s->events.p, s->events.n) = kept;
    s->stack.kept = bytes; /* their number has a bound of its own */
}

static void keep_request(struct source *s, const struct wc_record *r) {
    struct wc_record kept = *r;

    if (s->requests.n < SOURCE_REQUESTS_MOST && wc_stack_keep(&s->stack, r->kind, &kept.u, NULL))
        *MUST_ADD(s->requests.p, s->requests.n) = (struct source_request){r->seq, kept.u.request};
}

#define SIGNAL_STATUS 128 /* and the signal: what a shell makes of one */

static void take_end(struct source *s, const struct wc_outcome_record *of_command) {
    bool well = of_command->ending == WC_ending_EXITED && of_command->exit_status == 0;
    struct wc_outcome_record kept = *of_command;

    if (wc_stack_keep(&s->stack, WC_KIND_outcome, &kept, NULL)) {
        s->stack.outcome.words_read = kept.words_read;
        s->stack.outcome.printed = kept.printed;
    }

    s->of_command = well ? WC_END_WELL : WC_END_FAILED;
    s->stack.command_ended = writer_state(s) != WRITER_RUNS;
    s->stack.command_failed = !well && s->stack.command_ended;
    if (s->stack.command_failed && of_command->exit_status > SIGNAL_STATUS)
        s->stack.command_signal = of_command->exit_status - SIGNAL_STATUS;
    if (of_command->ending == WC_ending_SIGNALED)
        s->how = wc_arena_format(&s->memory.arena, "belongs to a command that was ended by %s",
                                 of_command->signal_name ? of_command->signal_name : "a signal");
    else if (!well)
        s->how =
            wc_arena_format(&s->memory.arena, "belongs to a command that ended with status %jd",
                            of_command->exit_status);
}

void source_apply(struct source *s, const struct wc_record *r) {
    const struct wc_outcome_record *o = &r->u.outcome;

    if (r->kind == WC_KIND_outcome && s->stack.has_process && o->child != WC_NULL &&
        o->child != s->pid)
        take_end(s, o);
    else
        wc_stack_apply(&s->stack, r);
}

void source_take(struct source *s, const struct wc_record *r) {
    if (s->records++ == 0) {
        s->pid = r->pid;
        s->first_time = r->time;
    }
    s->last_time = r->time;
    if (r->seq > s->last_seq)
        s->last_seq = r->seq;
    if (r->cut > 0 && s->cut <= INT64_MAX - r->cut)
        s->cut += r->cut;
    if (s->keep_events)
        keep_event(s, r);
    if (r->kind == WC_KIND_request)
        keep_request(s, r);
    in_flight_note(&s->in_flight, r);
    source_apply(s, r);
}

void source_add(struct source *s, struct wc_record *r) {
    r->seq = s->last_seq + 1;
    r->time = clock_now(CLOCK_REALTIME);
    r->pid = r->tid = s->pid;
    source_take(s, r);
}

void source_settle(struct source *s) {
    struct heap_arena old = s->memory;
    bool all = true;

    heap_arena_begin(&s->memory);
    for (size_t i = 0; i < s->events.n; i++)
        all = wc_stack_keep(&s->stack, s->events.p[i].kind, &s->events.p[i].u, NULL) && all;
    s->how = wc_arena_string(&s->memory.arena, s->how);
    if (!wc_stack_settle(&s->stack) || !all)
        must_fail();
    heap_arena_end(&old);
}

static void add(void *source, struct wc_record *r) {
    source_add(source, r);
}

struct wc_sink source_sink(struct source *s) {
    return (struct wc_sink){add, s};
}

int64_t source_missing(const struct source *s) {
    int64_t there = (int64_t)s->records + (s->file ? (int64_t)s->file->damaged_lines : 0);

    return s->type == SOURCE_LOG && s->last_seq > there ? s->last_seq - there : 0;
}

const char *source_type_word(enum source_type type) {
    static const char *const words[] = {"log", "process", "scan", "lock"};

    return words[type];
}

void machine_emit(const struct wc_sink *to, const struct wc_files *files, const char *glibc,
                  bool kernel) {
    struct wc_machine *m = must_allocate(sizeof(*m));
    struct utsname names;

    if (uname(&names) == 0) {
        m->kernel = kernel ? names.release : NULL;
        m->architecture = names.machine;
    }
    m->glibc = glibc;
    wc_emit_machine(to, files, m);
    free(m);
}

void first_records_emit(const struct first_records *f, const struct wc_sink *to) {
    bool own = !f->disk || !f->disk->root[0];
    OWNED char *directory = own ? getcwd(NULL, 0) : NULL;
    struct utsname computer;

    if (uname(&computer) == 0) {
        wc_emit_process(
            to, &(struct wc_process){.node = own ? computer.nodename : NULL,
                                     .start_ticks = WC_NULL,
                                     .parent_pid = f->run_pid == WC_NULL ? WC_NULL : getpid(),
                                     .executable = f->program,
                                     .directory = directory,
                                     .environment = (const char *const *)f->environment,
                                     .shim_version = WHICHCUDNN_VERSION,
                                     .run_pid = f->run_pid});
        machine_emit(to, f->disk ? &f->disk->files : &disk_files, f->glibc, own);
    }
}
