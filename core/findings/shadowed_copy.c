/*
 * shadowed-copy: one copy stands before another of another release. LD_LIBRARY_PATH puts it there,
 * or the host's own search path, which has a package's copy behind: then to upgrade that package
 * changes nothing. Where a host refuses what it got, that finding says so itself.
 */
#include "finding.h"

/* Both are in one search path of one object, and the second is of a package: somebody may upgrade
 * that, and wonder. What stands behind in the system's directories is nobody's business. */
static bool in_one_search_path(const struct wc_searched *f, const struct wc_candidate *b) {
    bool package = b->r.installation_kind == WC_installation_kind_WHEEL ||
                   b->r.installation_kind == WC_installation_kind_CONDA;

    return package && f->r.of && wc_str_same(f->r.of, b->r.of) && b->r.installation &&
           (f->r.rule == WC_search_rule_RPATH || f->r.rule == WC_search_rule_RUNPATH);
}

static const struct wc_candidate *shadowed(const struct wc_stack *s, const struct wc_object *o,
                                           const struct wc_searched *f) {
    const struct wc_candidate *b = f ? wc_candidate_of(s, f, NULL) : NULL;
    struct wc_range range = wc_runtime_of(s, o).range, other = {.exact = true};

    if (!b || !wc_version_known(b->version) || !wc_version_known(range.low) ||
        !(f->r.rule == WC_search_rule_LIBRARY_PATH || in_one_search_path(f, b)))
        return NULL;
    other.low = other.high = b->version;
    return wc_ranges_meet(&range, &other) ? NULL : b;
}

/* Would a host that uses this library refuse the other one? */
static bool is_refused(const struct wc_stack *s, const struct wc_object *o, struct wc_version v) {
    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        const struct wc_object *host = wc_object_of(s, r->host, r->host_path);
        struct wc_uses uses;
        if (!host || !wc_demand_refuses(r, v))
            continue;
        wc_uses_of(s, host, &uses);
        for (size_t k = 0; k < uses.n; k++)
            if (uses.library[k] == o)
                return true;
    }
    return false;
}

static void fix_search_path_of_host(struct wc_case *c, const struct wc_object *o,
                                    const struct wc_searched *f, const struct wc_candidate *b) {
    const char *directory = wc_directory_of(c, o), *quoted = NULL;

    wc_case_fact(c, "mind",
                 wc_format(c, "to upgrade ", wc_format_name(c, b->r.installation),
                           " changes nothing for it", NULL),
                 NULL);
    if (directory && !is_refused(c->d->s, o, b->version)) {
        quoted = wc_format_quoted(c, directory);
        wc_case_fix(c, WC_ACTION_REMOVE,
                    wc_format(c, "nothing, if that one will do; else remove the cuDNN in ",
                              directory, ": then the loader finds ", wc_format_candidate(c, b),
                              NULL),
                    quoted ? wc_format(c, "rm ", quoted, "/libcudnn*.so*", NULL) : NULL);
    }
    wc_case_fix(c, WC_ACTION_UPGRADE_HOST,
                wc_format(c, c->fixes ? "or " : "", "take another release of what brought it: ",
                          wc_format_name(c, f->r.of), NULL),
                NULL);
}

static void emit(struct wc_diagnosis *d, const struct wc_object *o, const struct wc_candidate *b) {
    const struct wc_searched *f = wc_search_of(d->s, o);
    bool by_variable = f->r.rule == WC_search_rule_LIBRARY_PATH;
    struct wc_range range = wc_runtime_of(d->s, o).range;
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, wc_name_of(o), " ", wc_format_range(&c, &range), " of ",
                          wc_enum_word(WC_ENUM_search_rule, f->r.rule), by_variable ? "" : " of ",
                          by_variable ? "" : wc_format_name(&c, f->r.of), " stands before ",
                          b->r.version, " in ", wc_format_directory(&c, b->r.path), NULL);
    c.r.object = o->r.object;
    wc_case_library(&c, "got", o);
    if (!by_variable)
        fix_search_path_of_host(&c, o, f, b);
    else if (!wc_fix_search_path(&c, o))
        wc_case_fix(&c, WC_ACTION_SET_VARIABLE,
                    "take its directory out of LD_LIBRARY_PATH, if the other one is wanted", NULL);
    wc_case_end(&c);
}

void wc_find_shadowed_copy(struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->s->objects.n && d->out->n < WC_FINDINGS_MOST; i++) {
        const struct wc_object *o = &d->s->objects.p[i];
        const struct wc_candidate *b =
            o->r.role == WC_role_FACADE ? shadowed(d->s, o, wc_search_of(d->s, o)) : NULL;
        if (b && !wc_found_before(d, o->r.object, "major-differs", "runtime-too-old",
                                  "runtime-too-new", "missing-symbols", NULL))
            emit(d, o, b);
    }
}
