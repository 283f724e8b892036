/*
 * facade-and-parts-differ, parts-differ, part-from-other-installation: what works together in one
 * set. cudnnGetVersion hands out a part's number, so that a mixed set looks sound from outside.
 */
#include "finding.h"

enum { FACADES_MOST = 16 };

struct set {
    const struct wc_object *facade;
    struct wc_range own;
    size_t agree, differ;            /* parts against the facade */
    const struct wc_object *other;   /* the first part that differs from the facade */
    const struct wc_object *foreign; /* the first part of another installation */
    /* Two parts differ if and only if these two do: the one that must be newest, the one that must
     * be oldest. */
    const struct wc_object *newest, *oldest;
    struct wc_range newest_range, oldest_range;
};

static bool is_part(const struct wc_stack *s, size_t i, const struct wc_object *facade) {
    return s->objects.p[i].r.role == WC_role_PART && wc_in_set(s, &s->objects.p[i], facade);
}

/* In one directory a package's claim about one file says nothing against another file: whoever
 * replaced some of them left the metadata as it was. Across installations it is all there is. */
static void add(struct set *set, const struct wc_object *part) {
    bool near = wc_same_installation(set->facade, part);
    struct wc_range range = near ? wc_seen_range(part) : wc_own_range(part);
    struct wc_range own = near ? wc_seen_range(set->facade) : set->own;
    bool meets = wc_ranges_meet(&range, &own);

    if (!set->foreign && !near)
        set->foreign = part;
    if (!wc_version_known(range.low))
        return;
    set->agree += meets && range.exact;
    set->differ += !meets;
    if (!meets && !set->other)
        set->other = part;
    if (!set->newest || wc_version_compare(range.low, set->newest_range.low) > 0) {
        set->newest = part;
        set->newest_range = range;
    }
    if (!set->oldest || wc_version_compare(range.high, set->oldest_range.high) < 0) {
        set->oldest = part;
        set->oldest_range = range;
    }
}

static struct set set_of(const struct wc_stack *s, const struct wc_object *facade) {
    struct set set = {.facade = facade, .own = wc_own_range(facade)};

    for (size_t i = 0; i < s->objects.n; i++)
        if (is_part(s, i, facade))
            add(&set, &s->objects.p[i]);
    return set;
}

/* ---- the matrix ---- */

static void row(struct wc_case *c, const struct wc_object *o) {
    struct wc_range own = wc_own_range(o);
    const char *directory = wc_directory_of(c, o);
    const char *installation = wc_format_installation(c, o);

    wc_case_fact(c,
                 o->r.role == WC_role_FACADE ? "facade"
                 : o->r.part                 ? o->r.part
                                             : "part",
                 wc_format(c, wc_format_range(c, &own), "  ", directory ? directory : "?",
                           installation ? "  " : "", installation, NULL),
                 own.source);
}

static void matrix(struct wc_case *c, const struct set *set) {
    const struct wc_stack *s = c->d->s;

    row(c, set->facade);
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object *o = &s->objects.p[i];
        if (!is_part(s, i, set->facade))
            continue;
        row(c, o);
        /* Not the facade's doing: it found the part there. */
        if (o->r.asked_by && !wc_is_cudnn(wc_object_of(s, o->r.asked_by_object, o->r.asked_by)))
            wc_case_asker(c, o);
    }
}

static bool has_part(const struct wc_stack *s, const struct wc_object *facade, const char *name) {
    struct wc_name n;

    wc_name_read(name, &n);
    for (size_t i = 0; i < s->objects.n; i++)
        if (is_part(s, i, facade) && wc_str_same(s->objects.p[i].r.part, n.part))
            return true;
    return false;
}

/* A part that did not come in because it wants what another one, of another release, lacks. */
static bool is_refusal(const struct wc_stack *s, const struct wc_object *facade,
                       const struct wc_failure *f, struct wc_refusal *out) {
    const struct wc_object *caller = wc_object_of(s, f->r.caller_object, f->r.caller);

    return wc_is_load(f) && wc_is_cudnn(caller) && wc_facade_of(s, caller) == facade &&
           wc_refused_for_symbol(f, out) && !has_part(s, facade, f->r.name);
}

static bool first_refusal(const struct wc_stack *s, const struct wc_object *facade,
                          struct wc_refusal *out) {
    for (size_t i = 0; i < s->failures.n; i++)
        if (is_refusal(s, facade, &s->failures.p[i], out))
            return true;
    return false;
}

/* What the parts printed of each other when they did not fit: a part that the loader refused, a
 * lookup that failed inside cuDNN. */
static void lookups(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    struct wc_refusal refusal;

    for (size_t i = 0; i < s->failures.n; i++) {
        const struct wc_failure *f = &s->failures.p[i];
        if (is_refusal(s, facade, f, &refusal))
            wc_case_request(c, f);
        if (!wc_is_load(f) && f->r.function && wc_means(facade, f->r.caller_object, f->r.caller))
            wc_case_fact(c, "not found in a part", f->r.function, f->r.text ? f->r.text : "dlsym");
    }
}

/* Would the facade's own part come in, if that one were not found? */
static bool own_is_behind(const struct wc_stack *s, const struct wc_searched *f,
                          const struct wc_object *facade) {
    const struct wc_candidate *b = f ? wc_candidate_of(s, f, NULL) : NULL;
    const char *own = wc_path_of(facade);
    size_t n = own ? wc_dir_length(own) : 0;

    return b && b->r.path && n && wc_dir_length(b->r.path) == n &&
           wc_mem_compare(b->r.path, own, n) == 0;
}

static void fix_away(struct wc_case *c, const struct wc_object *wrong) {
    wc_case_fix(c, WC_ACTION_REMOVE,
                wc_format(c, c->fixes ? "or " : "",
                          "take the other cuDNN away from where the loader finds it: ",
                          wc_path_of(wrong), NULL),
                NULL);
}

/* Where the facade's own part is there, only found too late, no new installation helps. Where that
 * is not known, the variable comes first all the same. */
static void fixes(struct wc_case *c, const struct set *set, const struct wc_object *wrong) {
    bool foreign = wrong && !wc_same_installation(set->facade, wrong);
    const struct wc_searched *f = foreign ? wc_search_of(c->d->s, wrong) : NULL;
    bool behind = own_is_behind(c->d->s, f, set->facade), path_first = foreign && (behind || !f);

    if (path_first)
        wc_fix_search_path(c, wrong);
    if (behind)
        fix_away(c, wrong);
    wc_fix_reinstall(c, set->facade);
    if (foreign && !path_first)
        wc_fix_search_path(c, wrong);
    if (foreign && !behind)
        fix_away(c, wrong);
}

/* ---- the findings ---- */

static const char *format_part(struct wc_case *c, const struct wc_object *o) {
    return wc_format(c, o->r.part ? wc_format_name(c, o->r.part) : "?", " ", wc_format_own(c, o),
                     NULL);
}

/* All known parts are of another version than the facade: it is the facade that stands alone. */
static void facade_differs(struct wc_diagnosis *d, const struct set *set) {
    const char *answering = wc_answering_part(wc_major_of(set->facade));
    struct wc_case c;

    if (!set->differ || set->agree)
        return;
    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, wc_format_name(&c, wc_name_of(set->facade)), " is cuDNN ",
                          wc_format_range(&c, &set->own),
                          set->differ > 1 ? ", its parts are not: " : ", its part is not: ",
                          format_part(&c, set->other), NULL);
    c.r.object = set->facade->r.object;
    c.r.explained_by =
        wc_found_before(d, c.r.object, "installation-mixed", "installation-incomplete", NULL);
    matrix(&c, set);
    if (answering)
        wc_case_fact(&c, "mind",
                     wc_format(&c, "cudnnGetVersion returns the ", answering,
                               " part's number, not the facade's", NULL),
                     NULL);
    lookups(&c, set->facade);
    fixes(&c, set, set->foreign ? set->foreign : set->other);
    wc_case_end(&c);
}

static void format_refusal(struct wc_case *c, const struct set *set, const struct wc_refusal *r) {
    c->r.title = wc_format(
        c, wc_format_name(c, wc_format(c, r->file, NULL)), " does not fit the other parts of ",
        wc_format_name(c, wc_name_of(set->facade)), ": it wants a function that ",
        wc_format_name(c, wc_format(c, r->part, NULL)), " does not have", NULL);
    wc_case_fact(c, "refused", wc_format(c, r->file, NULL), "dlerror");
}

/* A refused file of another directory came in because the facade's own has none. */
static void fix_refusal(struct wc_case *c, const struct set *set, const struct wc_refusal *r) {
    const char *home = wc_directory_of(c, set->facade);
    size_t n = wc_dir_length(r->file);

    if (n && home && (wc_str_length(home) != n || wc_mem_compare(home, r->file, n) != 0))
        wc_case_fix(c, WC_ACTION_REMOVE,
                    wc_format(c,
                              "if that does not help: take the other cuDNN away from where the "
                              "loader finds it: ",
                              r->file, NULL),
                    NULL);
}

static void parts_differ(struct wc_diagnosis *d, const struct set *set) {
    bool differ = set->newest && !wc_ranges_meet(&set->newest_range, &set->oldest_range);
    struct wc_refusal refusal;
    bool refused = first_refusal(d->s, set->facade, &refusal);
    struct wc_case c;

    if (!differ && !refused)
        return;
    wc_case_begin(&c, d);
    if (differ)
        c.r.title = wc_format(&c, "the parts of ", wc_format_name(&c, wc_name_of(set->facade)),
                              " are of different releases: ", format_part(&c, set->oldest), ", ",
                              format_part(&c, set->newest), NULL);
    else
        format_refusal(&c, set, &refusal);
    c.r.object = set->facade->r.object;
    c.r.explained_by =
        wc_found_before(d, c.r.object, "installation-mixed", "installation-incomplete", NULL);
    matrix(&c, set);
    lookups(&c, set->facade);
    fixes(&c, set, set->foreign ? set->foreign : set->newest);
    if (refused)
        fix_refusal(&c, set, &refusal);
    wc_case_end(&c);
}

static void other_installation(struct wc_diagnosis *d, const struct set *set) {
    struct wc_case c;
    const char *directory;

    if (!set->foreign)
        return;
    wc_case_begin(&c, d);
    directory = wc_directory_of(&c, set->foreign);
    c.r.title = wc_format(&c, wc_format_name(&c, wc_name_of(set->facade)), " runs with part ",
                          set->foreign->r.part ? wc_format_name(&c, set->foreign->r.part) : "?",
                          " of another installation, in ", directory ? directory : "?", NULL);
    c.r.object = set->facade->r.object;
    matrix(&c, set);
    fixes(&c, set, set->foreign);
    wc_case_end(&c);
}

static void each_set(struct wc_diagnosis *d,
                     void (*emit)(struct wc_diagnosis *, const struct set *)) {
    size_t facades = 0;

    for (size_t i = 0; i < d->s->objects.n && facades < FACADES_MOST; i++) {
        struct set set;
        if (d->s->objects.p[i].r.role != WC_role_FACADE)
            continue;
        facades++;
        set = set_of(d->s, &d->s->objects.p[i]);
        emit(d, &set);
    }
}

void wc_find_facade_and_parts_differ(struct wc_diagnosis *d) {
    each_set(d, facade_differs);
}

void wc_find_parts_differ(struct wc_diagnosis *d) {
    each_set(d, parts_differ);
}

void wc_find_part_from_other_installation(struct wc_diagnosis *d) {
    each_set(d, other_installation);
}
