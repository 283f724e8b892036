/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include "clock.h"
#include "config.h"
#include "core/base/hash.h"
#include "core/base/shown.h"
#include "core/demand/finding_text.h"
#include "core/demand/questions.h"
#include "core/records/emit.h"
#include "log.h"
#include "memory.h"
#include "process.h"
#include "self.h"
#include "sys.h"

static struct wc_stack stack;
static bool begun, relevant;
/* Number of records that may change findings, in the model and at the last diagnosis. */
static int64_t applied, judged;
/* Process (self.h) whose log is open; 0: none. Read without the lock, so changed atomically. */
static unsigned open_for;
static unsigned opened_by; /* the same, but a forked child still finds its parent here */
static int64_t seq, objects, requests, calls;
static char line[WC_RECORD_MAX];

bool journal_is_open(void) {
    unsigned process = __atomic_load_n(&open_for, __ATOMIC_RELAXED);
    return process && process == self_process();
}

struct wc_stack *journal_stack(void) {
    if (!begun) {
        wc_stack_begin(&stack, &memory_arena);
        begun = true;
    }
    return &stack;
}

int64_t journal_new_object(void) {
    return ++objects;
}

int64_t journal_new_request(void) {
    return ++requests;
}

/* Lines that could not be written. Their seq is skipped, and an unobserved record says so before
 * the next line. */
static int64_t lost, lost_in_all;
static int64_t left_out[WC_KINDS];
static bool has_first; /* process and machine are in the file */
static char parent_log[SYS_PATH];

static bool put_line(struct wc_record *r) {
    r->seq = seq + 1;
    r->pid = self_pid();
    r->tid = self_tid();
    if (!r->time)
        r->time = clock_now();
    size_t n = wc_record_write(r, line, sizeof line);
    if (n && !log_append(line, n))
        return false;
    seq++;
    return true;
}

static void emit_first(const struct wc_sink *to, struct wc_process *process) {
    process->r.parent_log = wc_str_or_null(parent_log);
    wc_emit_process(to, process);
    process_emit_machine(to);
}

static void try_line(void *good, struct wc_record *r) {
    *(bool *)good = *(bool *)good && put_line(r);
}

/* Tries again after a lost line: a full disk, or table of descriptors, may have room again. */
static bool emit_loss(void) {
    const char *why = log_trouble();
    bool good = true;
    const struct wc_sink to = {try_line, &good};
    const bool may_come = log_may_come();
    struct wc_process process;
    if (may_come || !has_first)
        process_describe(&process);
    if (may_come)
        log_create(process.r.node, self_pid(), process.r.start_ticks);
    if (!log_path()[0])
        return false;
    if (!has_first)
        emit_first(&to, &process);
    has_first = has_first || good;
    if (good)
        wc_emit_unobserved(&to, WC_UNOBSERVED_RECORDS, why, NULL);
    lost_in_all += good ? lost : 0;
    lost = good ? 0 : lost;
    return good;
}

static void write_line(struct wc_record *r) {
    if ((lost && !emit_loss()) || !put_line(r)) {
        seq++;
        lost++;
    }
}

void journal_add(struct wc_record *r) {
    bool writing = journal_is_open();
    r->time = r->time ? r->time : clock_now();
    if (writing)
        write_line(r);
    r->tid = self_tid();
    wc_stack_apply(journal_stack(), r);
    calls += r->kind == WC_KIND_call;
    applied += wc_changes_findings(r);
}

static void add(WC_UNUSED void *ctx, struct wc_record *r) {
    journal_add(r);
}
const struct wc_sink journal_sink = {add, NULL};

void journal_leave_out(enum wc_kind kind, int n) {
    left_out[kind] += n;
}

void journal_unobserved(const char *what, const char *why, const char *path) {
    if (!wc_stack_has_unobserved(journal_stack(), what, path))
        wc_emit_unobserved(&journal_sink, what, why, path);
}

/* WHICHCUDNN_EXPECT: a number like cudnnGetVersion's is the version that a host was built with; any
 * other text is a set of versions, or an invalid one, which a finding reports. */
static void add_expectation(void) {
    char built[WC_VERSION_TEXT];
    uint64_t number;
    size_t n = wc_str_length(config.expect);
    if (!n)
        return;
    bool is_number = wc_parse_number(config.expect, n, &number) == n && number >= 1000;
    struct wc_version v = is_number ? wc_version_from_number(number) : WC_VERSION_NONE;
    const char *text = wc_version_text(v, built);
    wc_emit_expectation(&journal_sink, "WHICHCUDNN_EXPECT", text ? NULL : config.expect, text);
}

static void write_snapshot_record(enum wc_kind kind, const void *entry, size_t size) {
    struct wc_record r;
    wc_record_begin(&r, kind);
    wc_mem_copy(&r.u, entry, size);
    write_line(&r);
}

#define SNAPSHOT(list, kind)                                                                       \
    WC_EACH(entry, stack.list)                                                                     \
    write_snapshot_record(WC_KIND_##kind, &entry->r, sizeof entry->r)

static void write_snapshot(void) {
    SNAPSHOT(objects, object);
    SNAPSHOT(packages, package);
    SNAPSHOT(demands, demand);
    SNAPSHOT(bindings, binding);
    SNAPSHOT(searches, search);
    SNAPSHOT(candidates, candidate);
    SNAPSHOT(files, file);
    SNAPSHOT(failures, failure);
    SNAPSHOT(calls, call);
    SNAPSHOT(unobserved, unobserved);
}

void journal_open(void) {
    if (journal_is_open() || !self_enter())
        return;
    bool child = begun && opened_by && opened_by != self_process();
    wc_str_copy(parent_log, sizeof parent_log, child ? log_path() : "");
    opened_by = self_process();
    seq = 0;
    memory_make_room();
    /* Without a place for the file the findings still go to standard error. */
    __atomic_store_n(&open_for, opened_by, __ATOMIC_RELAXED);
    struct wc_process process;
    process_describe(&process);
    log_create(process.r.node, self_pid(), process.r.start_ticks);
    journal_stack();
    lost = lost_in_all = 0;
    wc_mem_set(left_out, 0, sizeof left_out);
    has_first = false;
    emit_first(&journal_sink, &process);
    has_first = has_first || !lost;
    write_snapshot();
    if (!child)
        add_expectation();
}

void journal_open_if_eager(void) {
    if (process_is_eager())
        journal_open();
}

void journal_open_relevant(void) {
    relevant = true;
    journal_open();
}

/* The findings that were written: one entry for each finding and its subject. */
#define WRITTEN_MOST 256
static struct written {
    uint64_t id, title;
    int64_t object, host, seq;
    enum wc_severity severity;
} written[WRITTEN_MOST];
static size_t written_count;

/* The object or host of a finding may become known later: it is the same finding. */
static bool same_subject(int64_t a, int64_t b) {
    return a == b || a == WC_NULL || b == WC_NULL;
}

static struct written as_logged(const struct wc_finding_record *f) {
    uint64_t how = (uint64_t)f->predicted << 8 | f->severity;
    return (struct written){wc_hash_text(WC_HASH_START, f->id),
                            wc_hash_text(WC_HASH_START ^ how, f->title),
                            f->object,
                            f->host,
                            0,
                            f->severity};
}

static bool same_finding(const struct written *a, const struct written *b) {
    return a->id == b->id && same_subject(a->object, b->object) && same_subject(a->host, b->host);
}

static bool still_holds(const struct written *s, const struct wc_findings *now) {
    WC_EACH(f, *now) {
        struct written other = as_logged(f);
        if (other.title == s->title && same_finding(s, &other))
            return true;
    }
    return false;
}

/* The entry of an equal finding; else one of the same subject that no longer holds. One library and
 * host may have several findings at a time: one for each function that failed. */
static struct written *written_of(const struct written *f, const struct wc_findings *now,
                                  bool *subject_known) {
    struct written *past = NULL;
    *subject_known = false;
    for (size_t i = 0; i < written_count; i++) {
        struct written *s = &written[i];
        if (!same_finding(s, f))
            continue;
        *subject_known = true;
        if (s->title == f->title)
            return s;
        if (!past && !still_holds(s, now))
            past = s;
    }
    return past;
}

static void print_finding(const struct wc_finding_record *f) {
    static struct wc_finding_page page;
    static char process[512];
    const char *log = wc_str_or_null(log_path());
    const struct wc_finding_view view = {.before = "whichcudnn: ",
                                         .stack = &stack,
                                         .process = process,
                                         .log = log,
                                         .no_log = log ? NULL : log_trouble()};
    struct wc_text t;
    /* `whichcudnn run` sets WHICHCUDNN_STDERR=off because it reads the log; there may be none. */
    bool unheard = config.run_pid && log_trouble() && (!log || lost);
    bool on = config.standard_error != STDERR_OFF || unheard;
    if (config.standard_error != STDERR_ALL && !(on && f->severity == WC_severity_ERROR))
        return;
    wc_text_begin(&t, process, sizeof process);
    wc_finding_process(&t, self_pid(), &stack.process, NULL);
    wc_finding_text(&page, f, &view);
    log_to_standard_error(page.text, page.out.n);
}

/* A finding that finds no room in the table is not written: it would be written again and again. */
static void note_finding(const struct wc_finding_record *f, const struct wc_findings *now) {
    bool subject_known;
    struct written new = as_logged(f), *old = written_of(&new, now, &subject_known);
    struct wc_record r;
    if ((old && old->title == new.title) || (!old && written_count == WRITTEN_MOST))
        return;
    wc_record_begin(&r, WC_KIND_finding);
    r.u.finding = *f;
    r.u.finding.supersedes = old ? old->seq : WC_NULL;
    if (journal_is_open())
        write_line(&r);
    const bool worse = old && f->severity > old->severity;
    if (!old)
        old = &written[written_count++];
    new.seq = seq;
    *old = new;
    if (!subject_known || worse)
        print_finding(f);
}

static struct wc_findings found; /* by the last diagnosis */

static void find_findings(void) {
    struct wc_buffer_arena scratch;
    void *memory = memory_scratch_diagnose();
    if (applied == judged || !memory)
        return;
    judged = applied;
    wc_buffer_arena_begin(&scratch, memory, SCRATCH_DIAGNOSE);
    wc_diagnose_live(journal_stack(), &scratch.arena, &found);
}

/* A failed request may be one of several names and copies that the host tries. Such a finding is
 * written only when the process ends. */
static void note_findings(bool at_end) {
    static const char *const of_requests[] = {"bad-file", "wrong-name", "symbol-version-not-found",
                                              "missing-symbols"};
    WC_EACH(f, found) {
        bool probe =
            wc_str_same(f->id, "library-not-found") ||
            (f->object == WC_NULL && WC_ANY(id, WC_ROWS(of_requests), wc_str_same(f->id, *id)));
        if (at_end || !probe)
            note_finding(f, &found);
    }
}

void journal_diagnose(void) {
    if (applied == judged)
        return;
    find_findings();
    note_findings(false);
}

/* A diagnosis reads the whole model. In a large model one more record rarely changes a finding. */
#define EACH_JUDGED 64
void journal_diagnose_if_due(void) {
    if (applied <= EACH_JUDGED || applied - judged >= judged / 8)
        journal_diagnose();
}

/* The shim has no finding, but the command may have one. If the last failure was of cuDNN or CUDA,
 * and no more of them was used later, it may be why the process ends: prints the loader's message.
 */
static void print_last_words(void) {
    static char text[1024];
    const struct wc_failure *last =
        stack.failures.n ? &stack.failures.p[stack.failures.n - 1] : NULL;
    struct wc_text t;
    if (!last || written_count || config.standard_error == STDERR_OFF || !log_path()[0] ||
        !wc_kind_is_ours(wc_name_kind_of(last->r.name)))
        return;
    wc_fill_columns(&stack);
    if (last->fate == WC_FATE_MADE_GOOD || last->fate == WC_FATE_WENT_ON)
        return;
    wc_text_begin(&t, text, sizeof text);
    wc_text_add(&t, "whichcudnn: the loader's last words: ");
    wc_text_add_shown(&t, last->r.text ? last->r.text : last->r.name);
    wc_text_add(&t, "\nmore        whichcudnn report ");
    wc_text_add_shown(&t, log_path());
    wc_text_add(&t, " says why\n");
    if (t.cut)
        text[t.n - 1] = '\n';
    log_to_standard_error(text, t.n);
}

static void add_summary(void) {
    static const char *ids[64];
    static char fingerprint[17];
    struct wc_record r;
    struct wc_summary_record *s = &r.u.summary;
    wc_record_begin(&r, WC_KIND_summary);
    size_t n = 0;
    for (; n < found.n && n < sizeof ids / sizeof *ids; n++)
        ids[n] = found.p[n].id;
    s->findings.p = ids;
    s->findings.n = n;
    s->first_finding = n ? ids[0] : NULL;
    wc_stack_fingerprint(&stack, fingerprint);
    s->fingerprint = fingerprint;
    const char *later = process_visible_devices();
    s->later_environment = (struct wc_strings){&later, later != NULL};
    s->requests = requests;
    s->calls = calls;
    s->dropped = stack.dropped + lost_in_all + lost;
    s->repeated_requests = left_out[WC_KIND_request];
    s->repeated_failures = left_out[WC_KIND_failure];
    journal_add(&r);
}

void journal_close(void) {
    if (!journal_is_open())
        return;
    if (relevant) {
        find_findings();
        note_findings(true);
        add_summary();
        print_last_words();
        if (!has_first) /* it is empty: there was no room */
            log_remove();
    } else if (process_is_eager() && has_first) {
        add_summary(); /* shows `run` that the shim worked to the end; `run` removes the log */
    } else {
        log_remove();
        __atomic_store_n(&open_for, 0, __ATOMIC_RELAXED);
    }
}

void journal_forget(void) {
    begun = false;
    applied = judged = 0;
    found = (struct wc_findings){NULL, 0, 0};
    journal_stack();
}
