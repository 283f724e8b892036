/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: see tools/diagnose/verdict.h. */
#include "verdict.h"

#include "core/demand/finding.h"
#include "core/knowledge/programs.h"
#include "cudnn_knowledge.inc" /* made by core/data/generate_knowledge.py */
#include "entries.h"

enum { NAMED = 3, SENTENCES_MOST = 8, NUMBERED_MAJOR = 7 };

/* ---- what was asked for ---- */

static bool wants_facade_or_part(const struct wc_failure *f) {
    return wc_is_load(f) && (wc_name_is_cudnn(f->r.name) || wc_name_is_cudnn(f->needs));
}

static bool is_lookup(const struct wc_failure *f) {
    return !wc_is_load(f) && f->r.function;
}

/* A failure that may be the reason why a process dies. */
static bool may_matter(const struct wc_failure *f) {
    return is_lookup(f) || (wc_is_load(f) && (wc_name_kind_of(f->r.name) != WC_NAME_OTHER ||
                                              wc_name_hints(f->r.name) ||
                                              wc_name_kind_of(f->needs) != WC_NAME_OTHER));
}

/* What a process that continues may still need. What cuDNN itself asked for, or its host declares,
 * has findings, or is optional. */
static bool may_still_be_wanted(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_name n = wc_name_read(f->r.name);
    const struct wc_object *by = wc_caller_of(s, f);

    if (!wc_is_load(f) || f->r.priority || wc_asked_by_cudnn(s, f))
        return false;
    if (wants_facade_or_part(f)) /* Hosts try several names and majors: one works with what came,
                                    or with what was there. */
        return !WC_ANY(o, s->objects, wc_is_cudnn(o) && wc_came_after(o, f)) &&
               !WC_ANY(b, s->bindings, b->seq > f->seq) && !wc_is_probe(s, f);
    return n.kind == WC_NAME_CUDA_DEPENDENCY && by && by->r.role == WC_role_CUDA_DEPENDENCY &&
           wc_str_same(by->r.part, "nvrtc") &&
           !WC_ANY(o, s->objects, wc_str_same(o->r.part, n.part));
}

/* ---- what limits it ---- */

/* What a framework was built with decides; of others what they import says enough. */
static bool says_enough(const struct wc_demand *d, const struct wc_object *host) {
    const enum wc_demand_kind kind = d->r.demand_kind;
    /* TensorFlow's "built with 9" says no more than the name that it asks for. */
    const bool coarse = kind == WC_demand_kind_BUILT && wc_version_of(d->r.built).minor < 0;

    return !coarse && kind != WC_demand_kind_NEEDED && kind != WC_demand_kind_UNKNOWN &&
           wc_is_demand_by(d, host) &&
           (!host->r.framework || kind == WC_demand_kind_BUILT || kind == WC_demand_kind_REQUIRED);
}

static bool host_is_unknown(const struct wc_stack *s) {
    struct wc_spec spec;

    return !WC_ANY(d, s->demands,
                   d->r.demand_kind == WC_demand_kind_EXPECTATION &&
                       (d->r.built || wc_spec_read(d->r.spec, &spec))) &&
           (!WC_ANY(o, s->objects, wc_wants_cudnn(o)) ||
            WC_ANY(o, s->objects, wc_wants_cudnn(o) && !WC_ANY(d, s->demands, says_enough(d, o))));
}

static unsigned limits_of(const struct wc_stack *s, const struct wc_findings *f,
                          const struct wc_outside *outside, enum wc_end end) {
    const bool cudnn = wc_first_facade(s);
#define LIMIT_IF(name, holds) ((holds) ? WC_LIMIT(name) : 0)
    return LIMIT_IF(DIED, end == WC_END_FAILED) |
           LIMIT_IF(END_UNKNOWN, end == WC_END_UNKNOWN || end == WC_END_ASSUMED) |
           LIMIT_IF(STATUS_UNKNOWN, end == WC_END_NORMAL) |
           LIMIT_IF(RECORD_LOST,
                    outside->lost > 0 || s->dropped > 0 ||
                        (s->has_summary && s->summary.dropped > 0) || f->lost > 0 ||
                        WC_ANY(u, s->unobserved, wc_str_same(u->r.what, WC_UNOBSERVED_RECORDS))) |
           LIMIT_IF(UNOBSERVED, s->unobserved.n > 0) |
           LIMIT_IF(MAPS_CHANGED,
                    WC_ANY(u, s->unobserved, wc_str_same(u->r.what, WC_UNOBSERVED_MAPS))) |
           LIMIT_IF(HOST_UNKNOWN, cudnn && host_is_unknown(s)) |
           LIMIT_IF(NO_GPU_TO_ASK, cudnn && !s->machine.gpus.n) |
           LIMIT_IF(NEWER_THAN_TABLE,
                    WC_ANY(o, s->objects,
                           wc_is_cudnn(o) && o->r.mapped && wc_version_known(o->version) &&
                               wc_version_compare(wc_version_filled(o->version, -1, -1),
                                                  wc_version_of(WC_NEWEST_CUDNN)) > 0));
#undef LIMIT_IF
}

const char *wc_limit_text(enum wc_limit limit) {
    static const char *const texts[WC_limit_COUNT] = {
        [WC_limit_DIED] = "it did not end well",
        [WC_limit_END_UNKNOWN] = "how it ended is not known",
        [WC_limit_STATUS_UNKNOWN] = "its exit status is not known: only `whichcudnn run` sees it",
        [WC_limit_RECORD_LOST] = "some of its records are lost",
        [WC_limit_UNOBSERVED] = "something was not observed",
        [WC_limit_MAPS_CHANGED] = "libraries were loaded or unloaded meanwhile",
        [WC_limit_HOST_UNKNOWN] = "what its host requires of cuDNN is not known",
        [WC_limit_NO_GPU_TO_ASK] = "no GPU is known, so cuDNN's support for it was not checked",
        [WC_limit_NEWER_THAN_TABLE] = ("this release of cuDNN is not known to this build, "
                                       "whose newest is " WC_NEWEST_CUDNN),
    };

    return (unsigned)limit < WC_limit_COUNT ? texts[limit] : NULL;
}

/* ---- the words ---- */

static void add_known(struct wc_case *c, struct entries *known, const char *sentence) {
    if (known->n < SENTENCES_MOST)
        entries_add(c->d->scratch, known, sentence);
}

static const char *join(struct wc_case *c, const struct entries *names, const char *separator) {
    const char *list = names->n ? names->p[0] : NULL;

    for (size_t i = 1; i < names->n && i < NAMED; i++)
        list = wc_format(c, "%s%s%s", list, separator, names->p[i]);
    return names->n > NAMED ? wc_format(c, "%s and %zu more", list, names->n - NAMED) : list;
}

/* Up to cuDNN 7 frameworks print numbers: "runtime CuDNN library: 5005 (compatibility version
 * 5000)". */
static const char *format_release(struct wc_case *c, const struct wc_object *o) {
    const struct wc_range own = wc_own_range(o);
    const struct wc_range r = o->r.role == WC_role_FACADE ? wc_runtime_of(c->d->s, o).range : own;
    const char *release = wc_format_range(c, r);

    /* cudnnGetVersion has the number of a part. A header may be another release's. */
    if (!wc_ranges_meet(own, r) && o->r.version_source != WC_version_source_HEADER)
        return wc_format(c, "%s (facade %s)", release, wc_format_range(c, own));
    if (!wc_version_known(r.low) || r.low.major > NUMBERED_MAJOR || r.low.patch < 0 ||
        !wc_str_same(release, wc_format_version(c, r.low)))
        return release;
    return wc_format(c, "%s (%ju, compatible with %ju)", release, wc_version_to_number(r.low),
                     wc_compatibility_number(r.low));
}

/* Those that use it. A Python interpreter opens it for a package (PyTorch preloads it by ctypes):
 * its script is named only where nothing else is. */
static struct entries hosts_of(struct wc_case *c, const struct wc_object *library) {
    struct entries hosts = {NULL, 0};

    for (int scripted = 0; scripted < 2 && !hosts.n; scripted++)
        WC_EACH(use, c->d->uses)
            if ((use->library == library || wc_facade_of(c->d->s, use->library) == library) &&
                wc_program_is(wc_path_of(use->host), WC_PROGRAM_LIBRARY) == scripted)
                entries_add_new(c->d->scratch, &hosts, wc_format_who(c, use->host));
    if (!hosts.n && library->r.asked_by)
        entries_add_new(c->d->scratch, &hosts, wc_format_asker(c, library->r.asked_by));
    return hosts;
}

/* "cuDNN 9.8.0 from /v/nvidia/cudnn/lib (nvidia-cudnn-cu12) for tensorflow 2.15". A host may need
 * the parts and no facade (oneflow 0.9). */
static const char *format_copy(struct wc_case *c, const struct wc_object *o) {
    const struct entries hosts = hosts_of(c, o);
    const char *directory = wc_directory_of(c, o); /* a lock has none */
    const char *whose = o->r.installation ? wc_format_name(c, o->r.installation)
                        : o->r.installation_kind == WC_installation_kind_DIRECTORY ? "in no package"
                                                                                   : NULL;

    return wc_format(c, "%scuDNN %s%s%s%s%s%s%s%s%s",
                     o->r.role == WC_role_FACADE ? "" : "parts of ", format_release(c, o),
                     directory ? " from " : "", directory, whose ? " (" : "", whose,
                     whose ? ")" : "", o->r.mapped ? "" : ", unloaded again",
                     hosts.n ? " for " : "", join(c, &hosts, ", "));
}

/* A line for each copy: what is mapped, else what was; a facade, else parts that a host opens. */
static struct entries find_copies(struct wc_case *c) {
    struct entries copies = {NULL, 0};

    for (int pass = 0; pass < (c->d->s->replayed ? 2 : 4) && !copies.n; pass++)
        WC_EACH(o, c->d->s->objects)
            if (wc_is_cudnn(o) && o->r.mapped == (pass < 2) &&
                (o->r.role == WC_role_FACADE) == (pass % 2 == 0) &&
                (pass % 2 == 0 || !wc_name_is_cudnn(o->r.asked_by)))
                entries_add_new(c->d->scratch, &copies, format_copy(c, o));
    if (copies.n > NAMED) {
        copies.p[NAMED - 1] =
            wc_format(c, "%s; and %zu more", copies.p[NAMED - 1], copies.n - NAMED);
        copies.n = NAMED;
    }
    return copies;
}

static const char *format_end(struct wc_case *c, const struct wc_outside *outside) {
    const struct wc_outcome_record *o = &c->d->s->outcome;

    if (!c->d->s->has_outcome)
        return outside->how ?: "did not end well";
    if (o->ending == WC_ending_SIGNALED)
        return wc_format(c, "was ended by %s",
                         o->signal_name ?: wc_format(c, "signal %jd", o->signal));
    if (o->ending == WC_ending_EXITED)
        return wc_format(c, "ended with status %jd", o->exit_status);
    return "did not start";
}

static const char *format_failure(struct wc_case *c, const struct wc_failure *f) {
    if (is_lookup(f))
        return wc_format(c, "last function that was not found: %s, asked for by %s",
                         wc_format_name(c, f->r.function), wc_format_caller(c, f));
    return wc_format(c, "last request that failed: %s, asked for by %s%s%s", f->r.name ?: "?",
                     wc_format_caller(c, f), f->r.text ? "; the loader said: " : "", f->r.text);
}

static const struct wc_failure *last_failure(const struct wc_stack *s, bool lookup) {
    const struct wc_failure *last = NULL;

    WC_EACH(f, s->failures)
        if ((may_matter(f) || f->fate >= WC_FATE_LEFT) && is_lookup(f) == lookup &&
            f->fate != WC_FATE_MADE_GOOD && !wc_is_probe(s, f) &&
            !(wc_is_load(f) && wc_name_kind_of(f->r.name) == WC_NAME_PART &&
              wc_asked_by_cudnn(s, f) &&
              WC_ANY(o, s->objects, wc_str_same(o->r.part, wc_name_read(f->r.name).part))))
            last = f;
    return last;
}

/* "no cuDNN was loaded for train.py" */
static const char *format_none(struct wc_case *c) {
    const struct wc_stack *s = c->d->s;
    const struct wc_failure *failure = last_failure(s, false);
    struct entries hosts = {NULL, 0};

    WC_EACH(o, s->objects)
        if (wc_wants_cudnn(o) && (o->r.mapped || s->replayed))
            entries_add_new(c->d->scratch, &hosts, wc_format_who(c, o));
    if (!hosts.n && failure && failure->r.caller)
        entries_add_new(c->d->scratch, &hosts, wc_format_caller(c, failure));
    if (s->replayed && !hosts.n)
        return "no program or package here is known to use cuDNN";
    return wc_format(c, "no cuDNN %s%s%s", s->replayed ? "would be loaded" : "was loaded",
                     hosts.n ? " for " : "", join(c, &hosts, ", "));
}

static void write_unexplained(struct wc_case *c, const struct wc_outside *outside,
                              struct wc_conclusion *out) {
    struct entries known = {NULL, 0};
    const struct wc_stack *s = c->d->s;
    const struct wc_failure *request = last_failure(s, false), *lookup = last_failure(s, true);
    const struct wc_call *bad = NULL;

    WC_EACH(call, s->calls)
        if (wc_sort_of_call(s, &call->r) != WC_STATUS_SUCCESS)
            bad = call;
    out->text = out->died ? wc_format(c, "it %s, and nothing that was seen explains it",
                                      format_end(c, outside))
                          : "a request failed, and nothing that was seen explains it";
    WC_EACH(message, s->outcome.printed)
        add_known(c, &known, *message);
    WC_EACH(o, s->objects)
        if (o->r.role == WC_role_FACADE && o->r.mapped && o->r.header_version)
            add_known(c, &known,
                      wc_format(c,
                                "the header next to %s is of cuDNN %s: a program compiled with it "
                                "was built with that version",
                                wc_path_of(o), o->r.header_version));
    if (s->has_outcome && s->outcome.during && wc_str_starts(s->outcome.during, "cudnn"))
        add_known(c, &known, wc_format(c, "it was within %s", s->outcome.during));
    add_known(c, &known, request ? format_failure(c, request) : NULL);
    add_known(c, &known, lookup ? format_failure(c, lookup) : NULL);
    if (bad)
        add_known(c, &known,
                  wc_format(c, "last status: %jd %s of %s", bad->r.status, bad->r.status_name,
                            bad->r.function ?: "a call"));
    WC_EACH(u, s->unobserved)
        add_known(c, &known,
                  wc_format(c, "not observed: %s: %s", u->r.what ?: "something", u->r.why ?: "?"));
    out->known = (struct wc_strings){known.p, known.n};
}

/* A host without a driver may not request cuDNN: then that is reported, too. */
static void write_not_observed(struct wc_case *c, const struct wc_findings *f,
                               struct wc_conclusion *out) {
    const struct wc_finding_record *driver = WC_FIRST(r, *f, wc_str_same(r->id, "driver-missing"));
    const struct wc_stack *s = c->d->s;

    out->text = s->has_outcome && s->outcome.reason ? s->outcome.reason
                : out->blocking ? wc_limit_text((enum wc_limit)__builtin_ctz(out->blocking))
                : s->unobserved.n && s->unobserved.p[0].r.why ? s->unobserved.p[0].r.why
                                                              : "no cuDNN was loaded or asked for";
    if (driver && driver->title && !out->concerned && !out->blocking)
        out->text = wc_format(c, "%s; %s", out->text, driver->title);
}

/* ---- the decision ---- */

static enum wc_verdict decide(const struct wc_stack *s, const struct wc_findings *f,
                              const struct wc_conclusion *c) {
    enum wc_severity worst = f->n ? f->p[0].severity : WC_severity_NONE;
    bool unwell = (c->died && (c->concerned || WC_ANY(a, s->failures, may_matter(a)))) ||
                  WC_ANY(a, s->failures, may_still_be_wanted(s, a)) ||
                  (c->limits & WC_LIMIT(STATUS_UNKNOWN) && /* nothing happened after it */
                   WC_ANY(a, s->failures,
                          a->fate == WC_FATE_LEFT && (a->said.what == WC_SAID_UNMET || a->needs)));

    if (worst == WC_severity_ERROR)
        return WC_verdict_ERRORS;
    if (worst == WC_severity_WARNING)
        return WC_verdict_WARNINGS;
    if (f->lost)
        return WC_verdict_NOT_OBSERVED; /* what explains it may be among them */
    if (unwell)
        return WC_verdict_UNEXPLAINED;
    if (!c->concerned || c->blocking)
        return WC_verdict_NOT_OBSERVED;
    return f->n ? WC_verdict_NOTES : WC_verdict_OK;
}

static void write_text(const struct wc_stack *s, const struct wc_findings *f,
                       const struct wc_outside *outside, struct wc_arena *memory,
                       struct wc_conclusion *out) {
    struct wc_diagnosis d = {.s = s, .scratch = memory, .out = &(struct wc_findings){.n = 0}};
    struct wc_case c = {.d = &d};
    const bool may_be_else = out->died && out->verdict != WC_verdict_ERRORS;
    const char *command = NULL;

    wc_find_uses(&d);
    struct entries copies = find_copies(&c);
    if (!copies.n && out->verdict != WC_verdict_NOT_OBSERVED &&
        !(out->limits & WC_LIMIT(RECORD_LOST)))
        entries_add_new(memory, &copies, format_none(&c));
    out->copies = (struct wc_strings){copies.p, copies.n};
    switch (out->verdict) {
    case WC_verdict_OK:
        out->text = join(&c, &copies, "; ");
        break;
    case WC_verdict_UNEXPLAINED:
        write_unexplained(&c, outside, out);
        break;
    case WC_verdict_NOT_OBSERVED:
        write_not_observed(&c, f, out);
        break;
    default:
        out->text = out->finding->title ?: out->finding->id;
        if (may_be_else)
            out->known = s->outcome.printed;
    }
    if (!may_be_else && out->verdict != WC_verdict_UNEXPLAINED)
        return;
    WC_EACH(word, s->process.arguments)
        command = wc_format(&c, "%s%s%s", command, command ? " " : "", *word);
    /* The program's messages explain every second end that nothing else does. */
    out->next = !s->outcome.words_read
                    ? wc_format(&c, "whichcudnn run --text -- %s", command ?: "COMMAND")
                : out->verdict == WC_verdict_UNEXPLAINED ? "whichcudnn report -v LOG"
                                                         : NULL;
}

void wc_conclude(const struct wc_stack *s, const struct wc_findings *f,
                 const struct wc_outside *outside, struct wc_arena *memory,
                 struct wc_conclusion *out) {
    const enum wc_end end = s->has_outcome && wc_ended_well(s) ? WC_END_WELL
                            : s->has_outcome                   ? WC_END_FAILED
                            : outside->end != WC_END_UNKNOWN   ? outside->end
                            : s->has_summary                   ? WC_END_NORMAL
                                                               : WC_END_UNKNOWN;

    *out = (struct wc_conclusion){
        .concerned = WC_ANY(o, s->objects, wc_is_cudnn(o) || wc_wants_cudnn(o) || o->r.framework) ||
                     WC_ANY(a, s->failures, is_lookup(a) || wants_facade_or_part(a)),
        .died = end == WC_END_FAILED};
    out->limits = limits_of(s, f, outside, end);
    out->blocking =
        out->limits & (WC_LIMIT(RECORD_LOST) |
                       (out->concerned && end == WC_END_UNKNOWN ? WC_LIMIT(END_UNKNOWN) : 0));
    out->verdict = decide(s, f, out);
    if (out->verdict == WC_verdict_NOTES || out->verdict == WC_verdict_WARNINGS ||
        out->verdict == WC_verdict_ERRORS)
        out->finding = f->p;
    out->passes = out->verdict != WC_verdict_UNEXPLAINED &&
                  (out->verdict != WC_verdict_NOT_OBSERVED || !out->blocking);
    if (memory)
        write_text(s, f, outside, memory, out);
}
