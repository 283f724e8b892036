/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, in time order: see render.h. */
#include <stdlib.h>

#include "library.h"
#include "render.h"

/* NULL: no moment of its own. The caller frees. */
static char *text_of(const struct wc_record *record) {
    const char *word;

    switch (record->kind) {
    case WC_KIND_request: {
        const struct wc_request_record *r = &record->u.request;
        return must_format("asks for %s with %s%s%s", r->name ?: "the program itself",
                           wc_enum_word(WC_ENUM_operation, r->operation) ?: "?",
                           r->caller ? ", by " : "", r->caller);
    }
    case WC_KIND_failure: {
        const struct wc_failure_record *r = &record->u.failure;
        return must_format("not got: %s%s%s%s%s%s%s", r->function,
                           r->function && r->name ? " in " : "", r->name, r->caller ? ", by " : "",
                           r->caller, r->text ? ": " : "", r->text);
    }
    case WC_KIND_candidate: {
        const struct wc_candidate_record *r = &record->u.candidate;
        return must_format("%s %s%s%s", r->beaten ? "unused:" : "skipped:", r->path ?: "?",
                           r->version ? " " : "", r->version);
    }
    case WC_KIND_demand: {
        const struct wc_demand_record *r = &record->u.demand;
        return must_format("%s requires %s%s%s", r->host_path ?: "?", r->spec ?: "cuDNN",
                           r->built ? ", built with " : "", r->built);
    }
    case WC_KIND_binding: {
        const struct wc_binding_record *r = &record->u.binding;
        return must_format("%s is bound to %s, functions: %jd", r->host_path ?: "?",
                           r->target_path ?: "nothing", wc_bound_functions(r));
    }
    case WC_KIND_search: {
        const struct wc_search_record *r = &record->u.search;
        word = wc_enum_word(WC_ENUM_search_rule, r->rule);
        if (!word)
            return must_format("search for %s: by which rule is not known", r->name ?: "?");
        return must_format("search for %s: found by %s%s%s%s%s", r->name ?: "?", word,
                           r->of ? " of " : "", r->of, r->element ? ", " : "", r->element);
    }
    case WC_KIND_outcome:
        return must_format("ended: %s %s",
                           wc_enum_word(WC_ENUM_ending, record->u.outcome.ending) ?: "?",
                           record->u.outcome.signal_name);
    case WC_KIND_object: {
        const struct wc_object_record *o = &record->u.object;
        OWNED char *version = library_version(o);
        return must_format("%s %s %s%s%s", o->mapped ? "got" : "unloaded:", library_label(o),
                           library_path(o), version ? " " : "", version);
    }
    case WC_KIND_call: {
        const struct wc_call_record *c = &record->u.call;
        const char *function = c->function ?: "?";
        const int64_t number = c->returned_version != WC_NULL ? c->returned_version
                               : !c->status_name              ? c->status
                                                              : WC_NULL;
        if (c->phase == WC_phase_BEFORE)
            return must_format("calls %s in %s", function, c->target_path ?: "?");
        if (number != WC_NULL)
            return must_format("%s returned %lld", function, (long long)number);
        return must_format("%s returned%s%s", function, c->status_name ? " " : "", c->status_name);
    }
    case WC_KIND_file:
        return must_format("in question: %s", record->u.file.path ?: "?");
    case WC_KIND_package:
        return must_format("package %s %s", record->u.package.package ?: "?",
                           record->u.package.package_version);
    case WC_KIND_unobserved:
        return must_format("not observed: %s", record->u.unobserved.what ?: "?");
    case WC_KIND_process:
        return must_format("start of %s", record->u.process.executable ?: "?");
    case WC_KIND_summary:
        return must_copy("normal end");
    default:
        return NULL;
    }
}

WC_COMPARE(earlier_first, struct moment,
           WC_ORDER(x->record->time, y->record->time) ?: WC_ORDER(x->record->seq, y->record->seq));

void timeline_make(struct timeline *t, const struct report *report) {
    const struct source *s = report->source;
    int64_t passed;

    *t = (struct timeline){must_allocate(s->events.n * sizeof(*t->p)), 0};
    WC_EACH(r, s->events) {
        /* A log has times; what was found is found again. */
        const struct wc_finding_record *found =
            r->kind == WC_KIND_finding
                ? WC_FIRST(f, report->findings, wc_str_same(f->id, r->u.finding.id))
                : NULL;
        char *text = found ? must_format("%s: %s", found->id, found->title) : text_of(r);
        if (text)
            t->p[t->n++] = (struct moment){r, 0, found ? found->severity : WC_severity_NONE, text};
    }
    qsort(t->p, t->n, sizeof(*t->p), earlier_first);
    for (size_t i = 0; i < t->n; i++)
        if (!__builtin_sub_overflow(t->p[i].record->time, t->p[0].record->time, &passed))
            t->p[i].seconds = (double)passed / 1e6;
}

void timeline_end(struct timeline *t) {
    for (size_t i = 0; i < t->n; i++)
        free(t->p[i].text);
    free(t->p);
}
