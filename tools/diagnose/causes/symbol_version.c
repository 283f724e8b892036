/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol-version-not-found: a library could not be loaded, because it was linked against another
 * release of a library than it found: there is no such symbol version in it, or that has no such
 * function. (Among parts of one cuDNN parts-differ reports it, after a false name wrong-name does.)
 */
#include "core/demand/finding.h"

/* What has to have the symbol version: the file, or the library that it is named after; NULL: any
 * may have the function. */
static const char *library_of(const struct wc_said *u) {
    return u->library ? u->library : u->version;
}

static void emit(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_said *u = &f->said;
    /* The library that does not have it, where it was there before. */
    const struct wc_object *library = wc_mapped_as(d->s, library_of(u));
    const struct wc_file_record *file = wc_file_like(d->s, f, library_of(u));
    const struct wc_object *by = wc_caller_of(d->s, f);
    int function = u->symbol ? wc_function_find(u->symbol) : WC_NO_FUNCTION;
    struct wc_case *c = wc_case_begin(d);
    const char *lacks = wc_format_name(c, u->symbol ? u->symbol : u->version);
    const char *refused = wc_format_name(c, u->file);

    if (!wc_symbol_version_matters(d->s, u) && !wc_was_the_end(d->s, f))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title =
        library_of(u)
            ? wc_format(c, "%s was linked with another %s than it found: %s%s is not in %s",
                        refused, wc_format_name(c, library_of(u)),
                        u->symbol ? "" : "symbol version ", lacks,
                        !library && file && file->version ? file->version : "it")
            : wc_format(c, "%s was linked with other libraries than it found: %s is in none",
                        refused, lacks);
    c->r.object = library ? library->r.object : WC_NULL;
    c->r.host = by && !wc_is_cudnn(by) ? by->r.object : WC_NULL;
    wc_case_fact(c, WC_FACT_REFUSED, u->file);
    wc_case_fact(c, WC_FACT_WANTED_SYMBOL_VERSION, u->version);
    if (u->symbol)
        wc_case_fact(c, WC_FACT_WANTED_FUNCTION, u->symbol);
    if (function != WC_NO_FUNCTION)
        wc_case_fact(c, WC_FACT_CAME_WITH, wc_format_version(c, wc_function_first(function)));
    if (library)
        wc_case_library(c, WC_FACT_LIBRARY, library);
    else if (file)
        wc_case_file(c, WC_FACT_LIBRARY, file, u->library ? "dlerror" : "replay of the search");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

void wc_find_symbol_version_not_found(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures) {
        const struct wc_said *u = &f->said;
        /* A facade asks for a part by up to four names, which may point to one file. */
        if (wc_is_unreported(d, f, WC_REASON_SYMBOL_VERSION) &&
            !WC_ANY(r, *d->out,
                    wc_str_same(r->id, d->kind->id) && r->facts.n > 1 && !u->symbol &&
                        wc_str_same(r->facts.p[1].value, u->version) &&
                        wc_same_library(r->facts.p[0].value, u->file, true) &&
                        wc_same_directory(r->facts.p[0].value, u->file)))
            emit(d, f);
    }
}
