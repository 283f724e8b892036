/* What the replays of the loader's search print about an object, and what stood beside it. */
#include "core/findings/finding.h"

const struct wc_searched *wc_search_of(const struct wc_stack *s, const struct wc_object *o) {
    for (size_t i = 0; o->r.object != WC_NULL && i < s->searches.n; i++) {
        const struct wc_searched *f = &s->searches.p[i];
        if (f->r.object == o->r.object && f->r.rule != WC_search_rule_UNKNOWN &&
            f->r.rule != WC_search_rule_LOADED)
            return f;
    }
    return NULL;
}

const struct wc_searched *wc_own_search_of(const struct wc_stack *s, const struct wc_object *host,
                                           const struct wc_object *library) {
    for (size_t i = 0; i < s->searches.n; i++) {
        const struct wc_searched *f = &s->searches.p[i];
        if (f->r.rule == WC_search_rule_LOADED && f->r.takes && f->r.object != WC_NULL &&
            f->r.object == library->r.object && wc_means(host, f->r.caller_object, f->r.caller))
            return f;
    }
    return NULL;
}

const struct wc_candidate *wc_candidate_of(const struct wc_stack *s, const struct wc_searched *f,
                                           const char *path) {
    for (size_t i = 0; i < s->candidates.n; i++) {
        const struct wc_candidate *b = &s->candidates.p[i];
        if (b->r.search == f->r.search && b->r.file_state == WC_file_state_FITS &&
            (path ? wc_str_same(b->r.path, path) : b->r.beaten))
            return b;
    }
    return NULL;
}

/* "LD_LIBRARY_PATH, /opt/lib", "DT_RPATH of libhost.so, $ORIGIN/lib", "ld.so.cache". */
static const char *format_rule(struct wc_case *c, enum wc_search_rule rule, const char *of,
                               const char *element) {
    const char *word = wc_enum_word(WC_ENUM_search_rule, rule);

    return wc_format(c, word ? word : "?", of ? " of " : "", of ? wc_format_name(c, of) : "",
                     element ? ", " : "", element ? (*element ? element : "the empty element") : "",
                     NULL);
}

const char *wc_format_found(struct wc_case *c, const struct wc_searched *f) {
    return format_rule(c, f->r.rule, f->r.of, f->r.element);
}

const char *wc_format_candidate(struct wc_case *c, const struct wc_candidate *b) {
    const char *state = b->r.file_state == WC_file_state_FITS
                            ? NULL
                            : wc_enum_word(WC_ENUM_file_state, b->r.file_state);

    return wc_format(c, b->r.path, b->r.version ? "  " : "", b->r.version ? b->r.version : "",
                     state ? "  " : "", state ? state : "", b->r.installation ? "  " : "",
                     b->r.installation ? wc_format_name(c, b->r.installation) : "", NULL);
}

void wc_case_candidates(struct wc_case *c, const struct wc_searched *f) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->candidates.n; i++) {
        const struct wc_candidate *b = &s->candidates.p[i];
        const char *name = b->r.rule == WC_search_rule_NOT_SEARCHED ? "a copy is in"
                           : b->r.beaten                            ? "behind it"
                                                                    : "passed over";
        if (b->r.search == f->r.search && !wc_str_same(b->r.path, f->r.takes))
            wc_case_fact(c, name, wc_format_candidate(c, b),
                         format_rule(c, b->r.rule, b->r.of, b->r.element));
    }
}

void wc_case_searched(struct wc_case *c, const struct wc_searched *f) {
    for (size_t i = 0; i < f->r.searched.n; i++)
        wc_case_fact(c, "searched", f->r.searched.p[i], "the loader's rules");
}

void wc_case_found(struct wc_case *c, const struct wc_object *o) {
    const struct wc_searched *f = wc_search_of(c->d->s, o);

    if (!f)
        return;
    wc_case_fact(c, "found by", wc_format_found(c, f), "the loader's rules");
    if (o->r.role == WC_role_FACADE)
        wc_case_candidates(c, f);
}
