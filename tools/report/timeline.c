/* SPDX-License-Identifier: Apache-2.0 */
/* See timeline.h. */
#include "timeline.h"

#include <stdlib.h>

#include "library.h"

static const char *or_unknown(const char *s) {
    return s ? s : "?";
}

/* "  by /path", "" where it is not known. The caller frees. */
static char *by(const char *path) {
    return path ? must_format(", by %s", path) : must_copy("");
}

static char *request_text(const struct wc_request_record *q) {
    char *caller = by(q->caller);
    char *text = must_format("asks for %s with %s%s", q->name ? q->name : "the program itself",
                             or_unknown(wc_enum_word(WC_ENUM_operation, q->operation)), caller);

    free(caller);
    return text;
}

static char *failure_text(const struct wc_failure_record *f) {
    char *caller = by(f->caller);
    char *text = must_format("not got: %s%s%s%s%s%s", f->function ? f->function : "",
                             f->function && f->name ? " in " : "", f->name ? f->name : "", caller,
                             f->text ? ": " : "", f->text ? f->text : "");

    free(caller);
    return text;
}

static char *object_text(const struct wc_object_record *o) {
    char *version = library_version(o);
    char *text = must_format("%s %s %s%s%s", o->mapped ? "got" : "unloaded:", library_label(o),
                             library_path(o), version ? " " : "", version ? version : "");

    free(version);
    return text;
}

static char *search_text(const struct wc_search_record *f) {
    const char *rule = wc_enum_word(WC_ENUM_search_rule, f->rule);

    if (!rule)
        return must_format("search for %s: by which rule is not known", or_unknown(f->name));
    return must_format("search for %s: found by %s%s%s%s%s", or_unknown(f->name), rule,
                       f->of ? " of " : "", f->of ? f->of : "", f->element ? ", " : "",
                       f->element ? f->element : "");
}

static char *candidate_text(const struct wc_candidate_record *c) {
    return must_format("%s %s%s%s", c->beaten ? "behind it:" : "passed over:", or_unknown(c->path),
                       c->version ? " " : "", c->version ? c->version : "");
}

static char *demand_text(const struct wc_demand_record *d) {
    return must_format("%s wants %s%s%s", or_unknown(d->host_path), d->spec ? d->spec : "cuDNN",
                       d->built ? ", built with " : "", d->built ? d->built : "");
}

static char *binding_text(const struct wc_binding_record *b) {
    return must_format("%s is bound to %s, functions: %zu", or_unknown(b->host_path),
                       b->target_path ? b->target_path : "nothing", b->functions.n);
}

static char *call_text(const struct wc_call_record *c) {
    if (c->phase == WC_phase_BEFORE)
        return must_format("calls %s in %s", or_unknown(c->function), or_unknown(c->target_path));
    if (c->returned_version != WC_NULL)
        return must_format("%s returned %lld", or_unknown(c->function),
                           (long long)c->returned_version);
    if (c->status_name)
        return must_format("%s returned %s", or_unknown(c->function), c->status_name);
    if (c->status == WC_NULL)
        return must_format("%s returned", or_unknown(c->function));
    return must_format("%s returned %lld", or_unknown(c->function), (long long)c->status);
}

static char *outcome_text(const struct wc_outcome_record *o) {
    return must_format("ended: %s %s", or_unknown(wc_enum_word(WC_ENUM_ending, o->ending)),
                       o->signal_name ? o->signal_name : "");
}

static char *text_of(const struct wc_record *r) {
    switch (r->kind) {
    case WC_KIND_request:
        return request_text(&r->u.request);
    case WC_KIND_failure:
        return failure_text(&r->u.failure);
    case WC_KIND_object:
        return object_text(&r->u.object);
    case WC_KIND_search:
        return search_text(&r->u.search);
    case WC_KIND_candidate:
        return candidate_text(&r->u.candidate);
    case WC_KIND_file:
        return must_format("in question: %s", or_unknown(r->u.file.path));
    case WC_KIND_package:
        return must_format("package %s %s", or_unknown(r->u.package.package),
                           r->u.package.package_version ? r->u.package.package_version : "");
    case WC_KIND_demand:
        return demand_text(&r->u.demand);
    case WC_KIND_binding:
        return binding_text(&r->u.binding);
    case WC_KIND_call:
        return call_text(&r->u.call);
    case WC_KIND_finding:
        return must_format("%s: %s", or_unknown(r->u.finding.id), or_unknown(r->u.finding.title));
    case WC_KIND_unobserved:
        return must_format("not observed: %s", or_unknown(r->u.unobserved.what));
    case WC_KIND_process:
        return must_format("start of %s", or_unknown(r->u.process.executable));
    case WC_KIND_summary:
        return must_copy("normal end");
    case WC_KIND_outcome:
        return outcome_text(&r->u.outcome);
    default:
        return NULL;
    }
}

static int earlier_first(const void *a, const void *b) {
    const struct moment *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

void timeline_make(struct timeline *t, const struct source *s) {
    int64_t passed;

    *t = (struct timeline){must_allocate(s->events.n * sizeof(*t->p)), 0};
    WC_EACH(r, s->events) {
        char *text = text_of(r);
        if (text)
            t->p[t->n++] = (struct moment){
                .time = r->time,
                .seq = r->seq,
                .tid = r->tid,
                .kind = r->kind,
                .severity = r->kind == WC_KIND_finding ? r->u.finding.severity : WC_severity_NONE,
                .text = text,
            };
    }
    qsort(t->p, t->n, sizeof(*t->p), earlier_first);
    for (size_t i = 0; i < t->n; i++)
        if (!__builtin_sub_overflow(t->p[i].time, t->p[0].time, &passed))
            t->p[i].seconds = (double)passed / 1e6;
}

void timeline_end(struct timeline *t) {
    for (size_t i = 0; i < t->n; i++)
        free(t->p[i].text);
    free(t->p);
}
