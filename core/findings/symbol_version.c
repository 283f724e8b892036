/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol-version-not-found: a library could not be loaded, because it was linked against another
 * release of a library than it found: there is no such symbol version in it, or that has no such
 * function. (Among parts of one cuDNN parts-differ tells it, behind a false name wrong-name does.)
 */
#include "finding.h"

/* What has to have the symbol version: the file, or the library that it is named after. */
static const char *library_of(const struct wc_unmet *u) {
    return u->library[0] ? u->library : u->version;
}

/* cuDNN's own needs count, too: an old libstdc++, say. */
static bool is_relevant(const struct wc_unmet *u) {
    return wc_kind_is_ours(wc_name_kind_of(library_of(u))) ||
           wc_kind_is_ours(wc_name_kind_of(u->file)) || wc_name_hints(wc_base_name(u->file));
}

/* Whatever it was: the loader refused it, and the process ended. */
static bool was_the_end(const struct wc_stack *s, const struct wc_failure *f) {
    return wc_ended_badly(s) && wc_was_the_last(s, f) &&
           !WC_ANY(other, s->failures, other->seq > f->seq);
}

/* Because a library lacks a symbol version, or a function of one? Among parts of one cuDNN
 * wc_refused_for_symbol tells. */
static bool failed_for_symbol_version(const struct wc_stack *s, const struct wc_failure *f,
                                      struct wc_unmet *u) {
    struct wc_refusal among_parts;

    return wc_is_load(f) && wc_text_unmet(f->r.text, u) && u->version[0] &&
           (is_relevant(u) || was_the_end(s, f)) &&
           !(wc_refused_for_symbol(f, &among_parts) && wc_is_cudnn(wc_caller_of(s, f)));
}

bool wc_reported_by_file(const struct wc_stack *s, const struct wc_failure *f) {
    struct wc_bad_file bad;
    struct wc_unmet unmet;

    return wc_failed_for_file(s, f, &bad) || wc_failed_for_system(s, f, &bad) ||
           wc_failed_for_name(s, f) || failed_for_symbol_version(s, f, &unmet);
}

static void emit(struct wc_diagnosis *d, const struct wc_failure *f, const struct wc_unmet *u) {
    /* The one that does not have it, where it was there before. */
    const struct wc_object *library = wc_mapped_as(d->s, library_of(u));
    const struct wc_file_record *file = wc_file_like(d->s, f, library_of(u));
    const struct wc_object *by = wc_caller_of(d->s, f);
    int function = wc_function_find(u->symbol);
    struct wc_case *c = wc_case_begin(d);
    const char *lacks = wc_format_name(c, u->symbol[0] ? u->symbol : u->version);

    if (!is_relevant(u))
        c->r.severity = WC_severity_WARNING;
    c->r.title =
        wc_format(c,
                  u->symbol[0] ? "%s was linked with another %s than it found: %s is not in %s"
                               : "%s was linked with another %s than it found: symbol version %s "
                                 "is not in %s",
                  wc_format_name(c, u->file), wc_format_name(c, library_of(u)), lacks,
                  !library && file && file->version ? file->version : "it");
    c->r.object = library ? library->r.object : WC_NULL;
    c->r.host = by && !wc_is_cudnn(by) ? by->r.object : WC_NULL;
    wc_case_fact(c, "refused", wc_format(c, "%s", u->file), "dlerror");
    wc_case_fact(c, "wanted symbol version", wc_format(c, "%s", u->version), "dlerror");
    if (u->symbol[0])
        wc_case_fact(c, "wanted function", wc_format(c, "%s", u->symbol), "dlerror");
    if (function != WC_NO_FUNCTION)
        wc_case_fact(c, "came with", wc_format_version(c, wc_function_first(function)),
                     "function table");
    if (library)
        wc_case_library(c, "library", library);
    else if (file)
        wc_case_file(c, "library", file, u->library[0] ? "dlerror" : "replay of the search");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

/* A facade asks for a part by up to four names, which may lead to one file. */
static bool is_told(const struct wc_diagnosis *d, const struct wc_unmet *u) {
    return wc_reported_before(d, u->file) ||
           WC_ANY(r, *d->out,
                  wc_str_same(r->id, d->kind->id) && r->facts.n > 1 && !u->symbol[0] &&
                      wc_str_same(r->facts.p[1].value, u->version) &&
                      wc_same_library(r->facts.p[0].value, u->file, true) &&
                      wc_same_directory(r->facts.p[0].value, u->file));
}

void wc_find_symbol_version_not_found(struct wc_diagnosis *d) {
    struct wc_unmet u;

    WC_EACH(f, d->s->failures)
        if (failed_for_symbol_version(d->s, f, &u) && !is_told(d, &u) && !wc_false_file(d->s, f) &&
            !wc_came_in_later(d->s, f, u.file))
            emit(d, f, &u);
}
