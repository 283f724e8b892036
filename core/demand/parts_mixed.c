/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facade-and-parts-differ, parts-differ, part-from-other-installation: what works together in one
 * set. cudnnGetVersion hands out a part's number, so that a mixed set looks sound from outside.
 */
#include "finding.h"

struct set {
    const struct wc_object *facade;
    struct wc_range own;
    size_t agree, differ;            /* parts against the facade */
    const struct wc_object *other;   /* the first part that differs from the facade */
    const struct wc_object *foreign; /* the first part of another installation */
    /* Two parts differ if and only if these two do: the part that must be newest, the part that
     * must be oldest. */
    const struct wc_object *newest, *oldest;
    struct wc_range newest_range, oldest_range;
};

/* In one directory a package's claim about one file says nothing about another file: whatever
 * replaced some of them left the metadata as it was. But its list may show which ones those are:
 * others have another size than it says, this one does not. Across installations the claim is all
 * there is. */
static struct wc_range range_beside(const struct wc_stack *s, const struct wc_object *o,
                                    const struct wc_object *other) {
    const char *path = wc_real_path_of(o), *installation = o->r.installation_path;
    const bool as_installed =
        path && installation &&
        WC_ANY(
            p, s->packages,
            p->r.changed.n && wc_str_same(p->r.installation_path, installation) &&
                !WC_ANY(file, p->r.changed, wc_str_same(wc_base_name(*file), wc_base_name(path))));

    return wc_same_installation(o, other) && !as_installed ? wc_seen_range(o) : wc_own_range(o);
}

static void add(const struct wc_stack *s, struct set *set, const struct wc_object *part) {
    struct wc_range range = range_beside(s, part, set->facade);
    struct wc_range own = range_beside(s, set->facade, part);
    bool meets = wc_ranges_meet(range, own);

    if (!set->foreign && !wc_same_installation(set->facade, part))
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

    WC_EACH(o, s->objects)
        if (wc_in_set(s, o, facade))
            add(s, &set, o);
    return set;
}

/* ---- the matrix ---- */

static void row(struct wc_case *c, const struct wc_object *o) {
    const char *directory = wc_directory_of(c, o), *installation = wc_format_installation(c, o);

    wc_case_named(c,
                  o->r.role == WC_role_FACADE ? wc_fact_rows[WC_FACT_FACADE].name
                  : o->r.part                 ? o->r.part
                                              : "part",
                  wc_format(c, "%s  %s%s%s", wc_format_own(c, o), directory ? directory : "?",
                            installation ? "  " : "", installation),
                  wc_own_range(o).source);
}

static void matrix(struct wc_case *c, const struct set *set) {
    const struct wc_stack *s = c->d->s;

    c->r.object = set->facade->r.object;
    row(c, set->facade);
    WC_EACH(o, s->objects) {
        if (!wc_in_set(s, o, set->facade))
            continue;
        row(c, o);
        wc_case_not_shipped(c, set->facade, o->r.part);
        /* Not the facade's doing: it found the part there. */
        if (o->r.asked_by && !wc_is_cudnn(wc_object_of(s, o->r.asked_by_object, o->r.asked_by)))
            wc_case_asker(c, o);
    }
}

/* A part that was not loaded because it requires what another one, of another release, lacks. */
static bool is_refusal(const struct wc_stack *s, const struct wc_object *facade,
                       const struct wc_failure *f) {
    struct wc_name n = wc_name_read(f->r.name);

    return f->reason == WC_REASON_PART_REFUSED && wc_facade_of(s, wc_caller_of(s, f)) == facade &&
           !WC_ANY(o, s->objects, wc_in_set(s, o, facade) && wc_str_same(o->r.part, n.part));
}

/* What the parts report about each other when they did not fit: a part that the loader refused, a
 * lookup that failed inside cuDNN. */
static void lookups(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;

    WC_EACH(f, s->failures) {
        if (is_refusal(s, facade, f))
            wc_case_request(c, f);
        if (!wc_is_load(f) && f->r.function && wc_means(facade, f->r.caller_object, f->r.caller))
            wc_case_fact_from(c, WC_FACT_NOT_FOUND_IN_A_PART, f->r.function,
                              f->r.text ? f->r.text : "dlsym");
    }
}

/* ---- the findings ---- */

static const char *format_part(struct wc_case *c, const struct wc_object *o) {
    return wc_format(c, "%s %s", o->r.part ? wc_format_name(c, o->r.part) : "?",
                     wc_format_own(c, o));
}

/* All known parts are of another version than the facade: only the facade differs. */
static void facade_differs(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct set set = set_of(d->s, facade);
    const char *answering = wc_answering_part(wc_major_of(facade));

    if (!set.differ || set.agree)
        return;
    struct wc_case *c = wc_case_begin(d);
    c->r.title = wc_format(c, "%s is cuDNN %s, its part%s not: %s",
                           wc_format_name(c, wc_name_of(facade)), wc_format_range(c, set.own),
                           set.differ > 1 ? "s are" : " is", format_part(c, set.other));
    c->r.explained_by = wc_found_before(d, facade->r.object, "installation-mixed",
                                        "installation-incomplete", "replaced-on-disk", NULL);
    matrix(c, &set);
    if (answering)
        wc_case_fact(c, WC_FACT_MIND,
                     wc_format(c, "cudnnGetVersion returns the %s part's number, not the facade's",
                               answering));
    lookups(c, facade);
    wc_case_end(c);
}

/* A part with nothing inside that shows its release: another may have been put in its place. */
static bool is_by_name_alone(const struct wc_stack *s, const struct wc_object *o,
                             const struct wc_object *facade) {
    return wc_in_set(s, o, facade) && (o->r.version_source == WC_version_source_FILE_NAME ||
                                       !wc_version_known(wc_seen_range(o).low));
}

static void parts_differ(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct set set = set_of(d->s, facade);
    bool differ = set.newest && !wc_ranges_meet(set.newest_range, set.oldest_range);
    const struct wc_failure *refused = WC_FIRST(f, d->s->failures, is_refusal(d->s, facade, f));
    /* cuDNN looks into its parts by means of its own. It is believed where we cannot look. */
    const bool believed = WC_ANY(o, d->s->objects, is_by_name_alone(d->s, o, facade));
    const struct wc_call *said =
        WC_FIRST(call, d->s->calls,
                 believed && wc_means(facade, call->r.target, call->r.target_path) &&
                     wc_sort_of_call(d->s, &call->r) == WC_STATUS_VERSIONS_DIFFER);

    if (!differ && !refused && (!said || set.differ))
        return;
    struct wc_case *c = wc_case_begin(d);
    const char *name = wc_format_name(c, wc_name_of(facade));
    if (differ) {
        c->r.title = wc_format(c, "the parts of %s are of different releases: %s, %s", name,
                               format_part(c, set.oldest), format_part(c, set.newest));
    } else if (!refused) {
        c->r.title =
            wc_format(c, "cuDNN says that the parts of %s are of different releases", name);
        wc_case_fact_from(c, WC_FACT_CALL, said->r.function, said->r.source ?: "watched call");
        WC_EACH(o, d->s->objects)
            if (is_by_name_alone(d->s, o, facade))
                wc_case_fact(c, WC_FACT_NOTHING_INSIDE_TELLS_THE_RELEASE_OF,
                             wc_format_name(c, wc_name_of(o)));
    } else {
        struct wc_name lacks = wc_name_read(refused->said.version);
        c->r.title = wc_format(
            c, "%s does not fit the other parts of %s: it needs a function that is missing in %s",
            wc_format_name(c, refused->culprit), name,
            lacks.kind == WC_NAME_PART ? wc_format_name(c, lacks.part) : "facade");
        wc_case_fact(c, WC_FACT_REFUSED, refused->culprit);
    }
    c->r.explained_by = wc_found_before(d, facade->r.object, "installation-mixed",
                                        "installation-incomplete", "replaced-on-disk", NULL);
    matrix(c, &set);
    lookups(c, facade);
    wc_case_end(c);
}

static void other_installation(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct set set = set_of(d->s, facade);

    /* A grafted facade has to find its parts elsewhere. */
    if (!set.foreign || (wc_is_grafted(facade) && set.agree && !set.differ))
        return;
    struct wc_case *c = wc_case_begin(d);
    const char *directory = wc_directory_of(c, set.foreign);
    c->r.title = wc_format(c, "%s runs with part %s of another installation, in %s",
                           wc_format_name(c, wc_name_of(facade)),
                           set.foreign->r.part ? wc_format_name(c, set.foreign->r.part) : "?",
                           directory ? directory : "?");
    matrix(c, &set);
    wc_case_end(c);
}

void wc_find_facade_and_parts_differ(struct wc_diagnosis *d) {
    wc_each_facade(d, false, facade_differs);
}

void wc_find_parts_differ(struct wc_diagnosis *d) {
    wc_each_facade(d, false, parts_differ);
}

void wc_find_part_from_other_installation(struct wc_diagnosis *d) {
    wc_each_facade(d, false, other_installation);
}
