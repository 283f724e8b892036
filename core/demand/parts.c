/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facade-and-parts-differ, parts-differ, part-from-other-installation, part-missing: what works
 * together in one set. cudnnGetVersion hands out a part's number, so that a mixed set looks sound
 * from outside.
 */
#include "core/names/symbols.h"
#include "finding.h"

struct set {
    const struct wc_object *facade;
    size_t parts, agree, differ;     /* all, and those of a known release against the facade */
    const struct wc_object *other;   /* the first part that differs from the facade */
    const struct wc_object *foreign; /* the first part of another installation */
    /* Two parts differ if and only if these two do: the part that must be newest, the part that
     * must be oldest. */
    const struct wc_object *newest, *oldest;
    struct wc_range newest_range, oldest_range;
    /* By which cuDNN, which looks into its parts, said that they differ. */
    const struct wc_call *said;
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

    set->parts++;
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
    struct set set = {.facade = facade};

    WC_EACH(o, s->objects)
        if (wc_in_set(s, o, facade))
            add(s, &set, o);
    return set;
}

/* ---- the matrix ---- */

/* That the facade's release looks for that part and has none, if so. */
static void not_shipped(struct wc_case *c, const struct wc_object *facade, const char *part) {
    const char *with = wc_part_comes_with(part, facade->version);

    if (with)
        wc_case_fact(c, WC_FACT_MIND,
                     wc_format(c, "cuDNN %s looks for %s, which its packages hold from %s on",
                               wc_format_version(c, facade->version), part, with));
}

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

/* Nothing inside shows its release, so that another one may have been put in its place. */
static bool is_unknown(const struct wc_object *o) {
    return o->r.version_source == WC_version_source_FILE_NAME || !wc_seen_range(o).exact;
}

/* May a part be of another release than the facade that uses it? One without parts of its own uses
 * those of another copy (koharu#694). */
static bool is_doubtful(const struct wc_stack *s, const struct set *set,
                        const struct wc_object *o) {
    return (wc_in_set(s, o, set->facade) ||
            (!set->parts && o->r.role == WC_role_PART && o->r.mapped &&
             wc_major_of(o) == wc_major_of(set->facade))) &&
           (is_unknown(o) || is_unknown(set->facade) ||
            !wc_ranges_meet(wc_own_range(o), wc_own_range(set->facade)));
}

static void matrix(struct wc_case *c, const struct set *set) {
    const struct wc_stack *s = c->d->s;

    row(c, set->facade);
    WC_EACH(o, s->objects) {
        if (!wc_in_set(s, o, set->facade) && !(set->said && is_doubtful(s, set, o)))
            continue;
        row(c, o);
        not_shipped(c, set->facade, o->r.part);
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
    return wc_format(c, "%s %s", wc_format_name(c, o->r.part), wc_format_own(c, o));
}

/* What runs together was seen to compute, no call failed, and the process ended well (JAX with the
 * facade of 9.19.0 over the parts of 9.14.0, on a GPU). */
static bool computed(const struct wc_stack *s, const struct wc_object *facade) {
    return wc_ended_well(s) && !wc_a_call_failed(s) &&
           WC_ANY(call, s->calls,
                  call->r.function && call->r.status == 0 &&
                      (wc_str_starts(call->r.function, "cudnnConvolution") ||
                       wc_str_same(call->r.function, "cudnnBackendExecute")) &&
                      wc_means(facade, call->r.target, call->r.target_path));
}

/* All known parts are of another version than the facade: only the facade differs. */
static void facade_differs(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct set set = set_of(d->s, facade);
    const char *answering = wc_answering_part(wc_major_of(facade));

    if (!set.differ || set.agree)
        return;
    struct wc_case *c = wc_case_begin(d, facade, NULL);
    /* A bundled facade forwards its calls to newer parts (8.5.0 to 8.9.7, 9.1.0 to 9.8.0
     * and 9.28.0: CTranslate2 with the wheel's parts). */
    if ((wc_is_grafted(facade) &&
         wc_version_compare(wc_own_range(facade).high, set.oldest_range.low) < 0) ||
        computed(d->s, facade))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s is cuDNN %s, its part%s not: %s",
                           wc_format_name(c, wc_name_of(facade)), wc_format_own(c, facade),
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

/* Where we cannot look into the parts, cuDNN's own check is believed. A call of no known library
 * (in a replay, which has no contents of files) counts where they come from elsewhere. */
static const struct wc_call *said_of(const struct wc_stack *s, const struct set *set) {
    const bool doubtful = WC_ANY(o, s->objects, is_doubtful(s, set, o));
    const bool foreign =
        WC_ANY(o, s->objects, is_doubtful(s, set, o) && !wc_same_installation(o, set->facade));

    return WC_FIRST(call, s->calls,
                    wc_sort_of_call(s, &call->r) == WC_STATUS_VERSIONS_DIFFER &&
                        (call->r.target_path ? doubtful && wc_means(set->facade, call->r.target,
                                                                    call->r.target_path)
                                             : foreign));
}

static void parts_differ(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct set set = set_of(d->s, facade);
    bool differ = set.newest && !wc_ranges_meet(set.newest_range, set.oldest_range);
    const struct wc_failure *refused = WC_FIRST(f, d->s->failures, is_refusal(d->s, facade, f));

    set.said = differ || refused || set.differ ? NULL : said_of(d->s, &set);
    if (!differ && !refused && !set.said)
        return;
    struct wc_case *c = wc_case_begin(d, facade, NULL);
    const char *name = wc_format_name(c, wc_name_of(facade));
    if (differ) {
        c->r.title = wc_format(c, "the parts of %s are of different releases: %s, %s", name,
                               format_part(c, set.oldest), format_part(c, set.newest));
    } else if (!refused) {
        c->r.title =
            wc_format(c, "cuDNN says that the parts of %s are of different releases", name);
        wc_case_fact_from(c, WC_FACT_CALL, set.said->r.function,
                          set.said->r.source ?: "watched call");
        WC_EACH(o, d->s->objects)
            if (is_doubtful(d->s, &set, o) && is_unknown(o))
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
    struct wc_case *c = wc_case_begin(d, facade, NULL);
    const char *directory = wc_directory_of(c, set.foreign);
    c->r.title = wc_format(c, "%s runs with part %s of another installation, in %s",
                           wc_format_name(c, wc_name_of(facade)),
                           wc_format_name(c, set.foreign->r.part), directory ?: "?");
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

/* ---- part-missing ---- */

/* cuDNN asked for a part by every name that it knows and got none. cuDNN 9 tries up
 * to four names in turn, the bare one last; before 9 there is one name. A few parts are optional:
 * their absence is reported only when a call failed for lack of a part. */
enum { FOUR_NAMES = 9, PARTS_NAMED = 8 };

/* Parts of cuDNN 9 without which nothing works; engines, heuristics and what later releases add are
 * loaded when needed, and some wheels come without them. */
static bool needed_at_once(const struct wc_name *n) {
    static const char *const parts[] = {"graph", "ops", "cnn", "adv"};

    return WC_ANY(part, WC_ROWS(parts), wc_str_same(n->part, *part)) ||
           (n->version.major >= 0 && n->version.major < FOUR_NAMES);
}

/* Did a library of this facade's set ask for a part? facade NULL: one of no known set. */
static bool is_request(const struct wc_stack *s, const struct wc_failure *f,
                       const struct wc_object *facade, struct wc_name *n) {
    *n = wc_name_read(f->r.name);
    return n->kind == WC_NAME_PART && wc_is_load(f) && wc_asked_by_cudnn(s, f) &&
           wc_facade_of(s, wc_caller_of(s, f)) == facade;
}

/* The file that the loader took for f and did not load, of a host that did not ask why; NULL. */
static const struct wc_file_record *refused_file(const struct wc_stack *s,
                                                 const struct wc_failure *f) {
    const struct wc_file_record *file = wc_was_not_found(f) ? wc_file_like(s, f, f->r.name) : NULL;

    return file && wc_str_same(wc_base_name(file->path), wc_base_name(f->r.name)) ? file : NULL;
}

struct missing {
    const char *p[PARTS_NAMED];
    size_t n;
};

static bool listed(const struct missing *m, const char *part) {
    return WC_ANY(name, *m, wc_str_same(*name, part));
}

static struct missing look(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    int32_t major = facade ? wc_major_of(facade) : -1;
    bool wanted = WC_ANY(call, s->calls,
                         call->r.phase == WC_phase_AFTER && call->r.status != WC_NULL &&
                             wc_status_sort(call->r.status, major) == WC_STATUS_PART_UNAVAILABLE);
    struct missing m = {.n = 0};
    struct wc_name n, of_other;

    /* Of the names of a part the bare one, without a version, is the last; a replay gives one. */
    WC_EACH(f, s->failures)
        if (m.n < PARTS_NAMED && is_request(s, f, facade, &n) &&
            (n.version.major < FOUR_NAMES || s->replayed) && !listed(&m, n.part) &&
            (needed_at_once(&n) || wanted) &&
            !WC_ANY(o, s->objects,
                    o->r.role == WC_role_PART && wc_str_same(o->r.part, n.part) &&
                        (!facade || wc_in_set(s, o, facade) || !o->r.mapped)) &&
            /* Nor is the file there, and does not load for a reason that is a finding itself. */
            !WC_ANY(other, s->failures,
                    is_request(s, other, facade, &of_other) && wc_str_same(of_other.part, n.part) &&
                        other->reason != WC_REASON_UNKNOWN && other->reason != WC_REASON_NOT_FOUND))
            m.p[m.n++] = wc_format(c, "%s", n.part);
    return m;
}

static void check(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct wc_case *c = wc_case_begin(d, facade, NULL);
    struct missing m = look(c, facade);
    struct wc_name n;

    if (!m.n)
        return;
    const char *who = facade ? wc_format_name(c, wc_name_of(facade)) : "cuDNN";
    const char *parts = wc_format_list(c, m.p, m.n);
    bool refused = WC_ANY(f, d->s->failures, /* a file was there, and the loader did not take it */
                          is_request(d->s, f, facade, &n) && listed(&m, n.part) &&
                              (!wc_was_not_found(f) || refused_file(d->s, f)));
    c->r.title = wc_format(c, "%s %s %s part%s", who, refused ? "could not load its" : "found no",
                           parts, m.n == 1 ? "" : "s");
    if (facade) {
        wc_case_library(c, WC_FACT_FACADE, facade);
        wc_case_fact(c, WC_FACT_PARTS_BELONG_INTO, wc_directory_of(c, facade));
        WC_EACH(part, m)
            not_shipped(c, facade, *part);
    }
    if (d->s->replayed && facade && wc_is_grafted(facade))
        c->effect = WC_EFFECT_DOUBTED; /* no part was requested yet; only the facade was grafted */
    c->r.explained_by = wc_found_before(d, c->r.object, "installation-incomplete", NULL);
    WC_EACH(f, d->s->failures)
        if (is_request(d->s, f, facade, &n) && listed(&m, n.part)) {
            const struct wc_file_record *file = refused_file(d->s, f);
            if (file) {
                wc_case_file(c, WC_FACT_FOUND, file, "the loader's rules");
                wc_case_fact(c, WC_FACT_MIND,
                             "cuDNN did not ask for the loader's reason; LD_DEBUG=files prints it");
            }
            wc_case_request(c, f);
            wc_case_later(c, wc_search_in_vain(d->s, f));
        }
    wc_case_end(c);
}

void wc_find_part_missing(struct wc_diagnosis *d) {
    wc_each_facade(d, false, check);
    check(d, NULL);
}
