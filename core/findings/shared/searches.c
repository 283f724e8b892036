/* SPDX-License-Identifier: Apache-2.0 */
/* What the replays of the loader's search say of an object, and what stood beside it. */
#include "core/findings/finding.h"

const struct wc_searched *wc_search_of(const struct wc_stack *s, const struct wc_object *o) {
    return WC_FIRST(f, s->searches,
                    o->r.object != WC_NULL && f->r.object == o->r.object &&
                        f->r.rule != WC_search_rule_UNKNOWN && f->r.rule != WC_search_rule_LOADED);
}

const struct wc_searched *wc_own_search_of(const struct wc_stack *s, const struct wc_object *host,
                                           const struct wc_object *library) {
    return WC_FIRST(f, s->searches,
                    f->r.rule == WC_search_rule_LOADED && f->r.takes && f->r.object != WC_NULL &&
                        f->r.object == library->r.object &&
                        wc_means(host, f->r.caller_object, f->r.caller));
}

const struct wc_candidate *wc_candidate_of(const struct wc_stack *s, const struct wc_searched *f,
                                           const char *path) {
    return WC_FIRST(b, s->candidates,
                    f && b->r.search == f->r.search && b->r.file_state == WC_file_state_FITS &&
                        (path ? wc_str_same(b->r.path, path) : b->r.beaten));
}

/* "LD_LIBRARY_PATH, /opt/lib", "DT_RPATH of libhost.so, $ORIGIN/lib", "ld.so.cache". */
static const char *format_rule(struct wc_case *c, enum wc_search_rule rule, const char *of,
                               const char *element) {
    const char *word = wc_enum_word(WC_ENUM_search_rule, rule);

    return wc_format(c, "%s%s%s%s%s", word ? word : "?", of ? " of " : "",
                     of ? wc_format_name(c, of) : "", element ? ", " : "",
                     element && !*element ? "the empty element" : element);
}

const char *wc_format_candidate(struct wc_case *c, const struct wc_candidate *b) {
    const char *state = b->r.file_state == WC_file_state_FITS
                            ? NULL
                            : wc_enum_word(WC_ENUM_file_state, b->r.file_state);
    const char *installation = b->r.installation ? wc_format_name(c, b->r.installation) : NULL;

    return wc_format(c, "%s%s%s%s%s%s%s", b->r.path, b->r.version ? "  " : "", b->r.version,
                     state ? "  " : "", state, installation ? "  " : "", installation);
}

void wc_case_own_search(struct wc_case *c, const struct wc_searched *f) {
    const struct wc_candidate *own = f ? wc_candidate_of(c->d->s, f, f->r.takes) : NULL;

    if (f)
        wc_case_fact(c, "its own search finds", own ? wc_format_candidate(c, own) : f->r.takes,
                     "the loader's rules");
}

static void candidates(struct wc_case *c, const struct wc_searched *f) {
    WC_EACH(b, c->d->s->candidates) {
        const char *name = b->r.rule == WC_search_rule_NOT_SEARCHED ? "a copy is in"
                           : b->r.beaten                            ? "behind it"
                                                                    : "passed over";
        if (b->r.search == f->r.search && !wc_str_same(b->r.path, f->r.takes))
            wc_case_fact(c, name, wc_format_candidate(c, b),
                         format_rule(c, b->r.rule, b->r.of, b->r.element));
    }
}

void wc_case_searched(struct wc_case *c, const struct wc_searched *f) {
    if (!f)
        return;
    WC_EACH(directory, f->r.searched)
        wc_case_fact(c, "searched", *directory, "the loader's rules");
    candidates(c, f);
}

void wc_case_found(struct wc_case *c, const struct wc_object *o) {
    const struct wc_searched *f = wc_search_of(c->d->s, o);

    if (!f)
        return;
    wc_case_fact(c, "found by", format_rule(c, f->r.rule, f->r.of, f->r.element),
                 "the loader's rules");
    if (o->r.role == WC_role_FACADE)
        candidates(c, f);
}
