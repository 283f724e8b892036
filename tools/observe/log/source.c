/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <uthash.h>

#include "core/knowledge/programs.h"
#include "core/names/names.h"
#include "core/records/process.h"
#include "log_reader.h"
#include "tools/util/memory.h"
#include "tools/util/program.h"

#define THREADS_MOST 65536           /* a log may have ever new ones */
#define PROC_MOST ((size_t)16 << 20) /* bytes */

struct flight {
    UT_hash_handle hh;
    int64_t tid, seq;
    char *what;   /* of a request: made when it is asked for */
    char *within; /* of a request: the function that made it; NULL: none is known */
    bool over;    /* that function came back */
    /* Of a request, as its record has it, with texts of its own; of a call the number is WC_NULL.
     */
    struct wc_request_record r;
    UT_hash_handle in_requests; /* the latter of a request with a number */
};

static void forget(struct in_flight *f, struct flight *one) {
    HASH_DEL(f->by_thread, one);
    if (one->r.request != WC_NULL)
        HASH_DELETE(in_requests, f->by_request, one);
    free(one->what);
    free(one->within);
    free((char *)one->r.name);
    free((char *)one->r.caller);
    free(one);
}

static void begin(struct in_flight *f, const struct wc_record *r, struct wc_request_record request,
                  char *what) {
    struct flight *one;

    HASH_FIND(hh, f->by_thread, &r->tid, sizeof(r->tid), one);
    char *within = request.request == WC_NULL || !one || one->over
                       ? NULL
                       : must_copy(one->r.request == WC_NULL ? one->what : one->within);
    if (!one && HASH_COUNT(f->by_thread) == THREADS_MOST)
        one = f->by_thread; /* the first that was noted */
    if (one)
        forget(f, one);
    one = must_allocate(sizeof(*one));
    one->tid = r->tid;
    one->what = what;
    one->within = within;
    one->seq = r->seq;
    one->r = request;
    one->r.name = must_copy(request.name);
    one->r.caller = must_copy(request.caller);
    HASH_ADD(hh, f->by_thread, tid, sizeof(one->tid), one);
    if (request.request != WC_NULL)
        HASH_ADD(in_requests, f->by_request, r.request, sizeof(one->r.request), one);
}

static void in_flight_end(struct in_flight *f) {
    struct flight *one, *next;

    HASH_ITER(hh, f->by_thread, one, next) {
        forget(f, one);
    }
}

static void in_flight_note(struct in_flight *f, const struct wc_record *r) {
    const int64_t *failed = &r->u.failure.request;
    struct flight *one;

    if (r->kind == WC_KIND_request) {
        begin(f, r, r->u.request, NULL);
    } else if (r->kind == WC_KIND_call) {
        const char *function = r->u.call.function ? r->u.call.function : "call";
        HASH_FIND(hh, f->by_thread, &r->tid, sizeof(r->tid), one);
        if (r->u.call.phase == WC_phase_BEFORE)
            begin(f, r, (struct wc_request_record){.request = WC_NULL}, must_copy(function));
        else if (one && one->r.request == WC_NULL && one->what && strcmp(one->what, function) == 0)
            forget(f, one);
        else if (one && one->within && strcmp(one->within, function) == 0)
            one->over = true;
    } else if (r->kind == WC_KIND_failure) {
        do { /* a damaged log may give a number twice */
            HASH_FIND(in_requests, f->by_request, failed, sizeof(*failed), one);
            if (one)
                forget(f, one);
        } while (one);
    } else if (r->kind == WC_KIND_summary) {
        in_flight_end(f);
    }
}

static struct flight *newest(const struct in_flight *f, bool with_over) {
    struct flight *last = NULL;

    for (struct flight *one = f->by_thread; one; one = one->hh.next)
        if ((with_over || !one->over) && (!last || one->seq > last->seq))
            last = one;
    return last;
}

const char *in_flight_last(const struct in_flight *f, int64_t *seq) {
    struct flight *last = newest(f, false);
    const char *operation = last ? wc_enum_word(WC_ENUM_operation, last->r.operation) : NULL;

    if (seq)
        *seq = last ? last->seq : WC_NULL;
    if (last && !last->what)
        last->what = must_format("%s %s", operation ? operation : "request",
                                 last->r.name ? last->r.name : "of the program itself");
    return last ? last->what : NULL;
}

bool in_flight_failure(const struct in_flight *f, struct wc_record *out) {
    const struct flight *last = newest(f, true);
    const struct wc_request_record *r = last ? &last->r : NULL;

    if (!r || r->request == WC_NULL || !r->name || (r->flags & RTLD_NOLOAD))
        return false;
    wc_record_begin(out, WC_KIND_failure);
    out->u.failure = (struct wc_failure_record){.request = r->request,
                                                .operation = r->operation,
                                                .name = r->name,
                                                .caller = r->caller,
                                                .caller_object = r->caller_object,
                                                .inferred = true};
    return true;
}

void in_flight_rewrite(struct in_flight *f, void (*replace)(const void *arg, char **text),
                       const void *arg) {
    for (struct flight *one = f->by_thread; one; one = one->hh.next) {
        replace(arg, &one->what);
        replace(arg, (char **)&one->r.name);
        replace(arg, (char **)&one->r.caller);
    }
}

char *proc_text(int64_t pid, const char *name, size_t *n) {
    OWNED char *path = must_format("/proc/%jd/%s", (intmax_t)pid, name);

    return disk_text(path, PROC_MOST, n) ?: must_copy("");
}

const char *source_program(const struct source *s) {
    const struct wc_process_record *p = &s->stack.process;
    const char *script =
        p->arguments.n > 1 &&
                wc_program_is(p->arguments.p[0], WC_PROGRAM_PYTHON | WC_PROGRAM_SCRIPTED)
            ? p->arguments.p[1]
            : p->executable;

    return script && *script != '-' ? script : NULL;
}

enum writer_state writer_state(const struct source *log) {
    const struct wc_process_record *p = &log->stack.process;
    struct utsname here;

    if (log->pid <= 0 || !log->stack.has_process || p->start_ticks == WC_NULL || !p->node ||
        uname(&here) != 0 || strcmp(p->node, here.nodename) != 0)
        return WRITER_NOT_KNOWN;
    OWNED char *own = proc_text(getpid(), "stat", NULL);
    OWNED char *stat = proc_text(log->pid, "stat", NULL);
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
    if (s->keep_events) { /* texts go where those of the stack are */
        const size_t bytes = s->stack.kept;
        struct wc_record kept = *r;

        if (wc_stack_keep(&s->stack, r->kind, &kept.u, NULL))
            *MUST_ADD(s->events.p, s->events.n) = kept;
        s->stack.kept = bytes; /* their number has a bound of its own */
    }
    if (r->kind == WC_KIND_request && s->requests.n < SOURCE_REQUESTS_MOST) {
        struct source_request kept = {r->seq, r->u.request};

        if (wc_stack_keep(&s->stack, r->kind, &kept.r, NULL))
            *MUST_ADD(s->requests.p, s->requests.n) = kept;
    }
    in_flight_note(&s->in_flight, r);
    source_apply(s, r);
}

void source_add(void *source, struct wc_record *r) {
    struct source *s = source;

    r->seq = s->last_seq + 1;
    r->time = clock_now(CLOCK_REALTIME);
    r->pid = r->tid = s->pid;
    source_take(s, r);
}

struct wc_sink source_sink(struct source *s) {
    return (struct wc_sink){source_add, s};
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
    OWNED struct wc_machine *m = must_allocate(sizeof(*m));
    struct utsname names;

    if (uname(&names) == 0) {
        m->r.kernel = kernel ? names.release : NULL;
        m->r.architecture = names.machine;
    }
    m->r.glibc = glibc;
    wc_emit_machine(to, files, m);
}

void first_records_emit(const struct wc_sink *to, const struct disk *disk, const char *program,
                        const char *glibc, char *const *environment, int64_t run_pid) {
    bool own = !disk || !disk->root[0];
    OWNED char *directory = own ? getcwd(NULL, 0) : NULL;
    struct utsname computer;

    if (uname(&computer) == 0) {
        wc_emit_process(
            to, &(struct wc_process){.r.node = own ? computer.nodename : NULL,
                                     .r.start_ticks = WC_NULL,
                                     .r.parent_pid = run_pid == WC_NULL ? WC_NULL : getpid(),
                                     .r.executable = program,
                                     .r.directory = directory,
                                     .environment = (const char *const *)environment,
                                     .r.shim_version = WHICHCUDNN_VERSION,
                                     .r.run_pid = run_pid});
        machine_emit(to, disk ? &disk->files : &disk_files, glibc, own);
    }
}

bool image_counts(const struct source *log) {
    const struct wc_stack *s = &log->stack;

    /* What is expected is in each log. Failures count as the shim judges them. */
    return s->objects.n + s->bindings.n + s->calls.n + s->unobserved.n > 0 ||
           WC_ANY(f, s->failures,
                  f->r.function || wc_name_kind_of(f->r.name) != WC_NAME_OTHER ||
                      wc_name_hints(f->r.name) || wc_name_hints(f->r.text)) ||
           WC_ANY(d, s->demands, d->r.demand_kind != WC_demand_kind_EXPECTATION);
}

struct image {
    struct source *log;
    size_t place;
    bool replaced;
};

static int compare_process(const struct source *x, const struct source *y) {
    const struct wc_process_record *a = &x->stack.process, *b = &y->stack.process;

    return strcmp(a->node ? a->node : "", b->node ? b->node : "") ?: WC_ORDER(x->pid, y->pid)
           ?: WC_ORDER(a->start_ticks, b->start_ticks);
}

WC_COMPARE(by_process, struct image,
           compare_process(x->log, y->log) ?: WC_ORDER(x->log->first_time, y->log->first_time)
           ?: WC_ORDER(x->place, y->place));

WC_COMPARE(by_place, struct image,
           WC_ORDER(x->replaced, y->replaced) ?: WC_ORDER(x->place, y->place));

size_t images_join(struct source **logs, size_t n) {
    OWNED struct image *images = must_allocate(n * sizeof(*images));
    size_t kept = 0, last = 0;

    for (size_t i = 0; i < n; i++)
        images[i] = (struct image){logs[i], i, false};
    qsort(images, n, sizeof(*images), by_process);
    for (size_t i = 1; i < n; i++) {
        const struct source *before = images[i - 1].log, *log = images[i].log;
        /* A forked child may have its parent's pid, in a namespace of its own; exec leaves no
         * parent. */
        bool other = log->type != SOURCE_LOG || before->type != SOURCE_LOG ||
                     !log->stack.has_process || !before->stack.has_process ||
                     log->stack.process.start_ticks == WC_NULL || log->stack.process.parent_log ||
                     compare_process(before, log) != 0;
        bool better = image_counts(images[i].log) || !image_counts(images[last].log);
        images[last].replaced = !other && better;
        images[i].replaced = !other && !better;
        last = other || better ? i : last;
    }
    qsort(images, n, sizeof(*images), by_place);
    for (size_t i = 0; i < n; i++) {
        logs[i] = images[i].log;
        kept += !images[i].replaced;
    }
    return kept;
}
