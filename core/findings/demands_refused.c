/*
 * major-differs, runtime-too-old, runtime-too-new: a host refuses the cuDNN that it got, by its
 * framework's rule, its package's requirement, its functions or its symbol version
 * (core/findings/shared/judge.c decides, core/findings/shared/rules.def has the rules).
 */
#include "finding.h"

/* Does missing-symbols emit it better, function by function? */
static bool reported_by_functions(const struct wc_judgement *j) {
    return j->by_symbols_alone && j->strongest->r.newest_functions.n > 0;
}

static void also_wanted(struct wc_case *c, const struct wc_judgement *j) {
    for (size_t i = 0; i < c->d->judgements; i++) {
        const struct wc_judgement *o = &c->d->judged[i];
        if (o->reported_elsewhere && o->library == j->library && o->fit == j->fit &&
            wc_str_same(o->strongest->r.source, j->strongest->r.source))
            wc_case_fact(c, "also wanted by", wc_path_of(o->host), o->strongest->r.source);
    }
}

/* It never searched: another one had loaded a library of that name. */
static void own_search(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_searched *f = wc_own_search_of(c->d->s, j->host, j->library);
    const struct wc_candidate *own = f ? wc_candidate_of(c->d->s, f, f->r.takes) : NULL;

    if (f)
        wc_case_fact(c, "its own search finds",
                     own ? wc_format_candidate(c, own) : wc_format(c, f->r.takes, NULL),
                     "the loader's rules");
}

static void got(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_object *decider = j->runtime.decided_by;
    const char *part = wc_answering_part(wc_major_of(j->library));

    wc_case_library(c, "got", j->library);
    if (!decider) {
        wc_case_fact(c, "runtime version", wc_format_range(c, &j->runtime.range),
                     j->runtime.range.source);
    } else if (decider != j->library) {
        wc_case_fact(c, "runtime version", wc_format_range(c, &j->runtime.range),
                     wc_format(c, j->runtime.range.source, " of ", wc_path_of(decider), NULL));
    }
    if (c->r.predicted && part)
        wc_case_fact(
            c, "predicted",
            wc_format(c, "cudnnGetVersion will say what the ", part,
                      " part is, which is not loaded yet; this is the facade's own version", NULL),
            NULL);
    wc_case_fact(c, "host", wc_path_of(j->host), "link map");
    own_search(c, j);
    wc_case_demands(c, j);
    also_wanted(c, j);
}

static void users_of(const struct wc_stack *s, const struct wc_object *library,
                     struct wc_hosts *out) {
    const size_t most = sizeof out->p / sizeof *out->p;

    out->n = 0;
    for (size_t i = 0; i < s->objects.n && out->n < most; i++) {
        struct wc_uses uses;
        if (!wc_wants_cudnn(&s->objects.p[i]))
            continue;
        wc_uses_of(s, &s->objects.p[i], &uses);
        for (size_t k = 0; k < uses.n; k++)
            if (uses.library[k] == library) {
                out->p[out->n++] = &s->objects.p[i];
                break;
            }
    }
}

static bool refused_by_another(const struct wc_stack *s, const struct wc_hosts *users,
                               struct wc_version v) {
    for (size_t i = 0; i < s->demands.n; i++)
        for (size_t k = 0; k < users->n; k++)
            if (wc_means(users->p[k], s->demands.p[i].r.host, s->demands.p[i].r.host_path) &&
                wc_demand_refuses(&s->demands.p[i].r, v))
                return true;
    return false;
}

/* What suits the refused host, and the others that use the same library, where there is such a
 * release. */
static const char *to_install(struct wc_case *c, const struct wc_judgement *j) {
    const char *own = wc_format_acceptable(c, &j->strongest->r);
    struct wc_version low, high, floor;
    struct wc_hosts users;
    struct wc_spec spec;

    if (!own || !wc_spec_parse(own, wc_str_length(own), &spec))
        return own;
    users_of(c->d->s, j->library, &users);
    floor = wc_spec_floor(&spec);
    floor.build = -1;
    if (users.n < 2 || !wc_version_known(floor) || !refused_by_another(c->d->s, &users, floor) ||
        !wc_common_releases(c->d->s, &users, &low, &high))
        return own;
    wc_case_fact(c, "suits all hosts of it", wc_format_common(c, low, high),
                 "their demands together");
    return wc_format_common(c, low, high);
}

static void fixes(struct wc_case *c, const struct wc_judgement *j) {
    const struct wc_demand_record *r = &j->strongest->r;
    bool path_first = wc_next_fits(c->d->s, j->library, r);

    if (wc_own_search_of(c->d->s, j->host, j->library))
        wc_fix_load_order(c, wc_path_of(j->host), j->library);
    if (path_first)
        wc_fix_search_path(c, j->library);
    wc_fix_install(c, j->host, j->library, to_install(c, j), r->package);
    if (!path_first)
        wc_fix_search_path(c, j->library);
    wc_case_fix(c, WC_ACTION_UPGRADE_HOST,
                wc_format(c, "or take a release of ",
                          r->framework ? wc_format_name(c, r->framework)
                                       : wc_format_name(c, wc_path_of(j->host)),
                          " that is made for cuDNN ", wc_format_range(c, &j->runtime.range), NULL),
                NULL);
}

static void emit(struct wc_diagnosis *d, const struct wc_judgement *j) {
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, wc_format_name(&c, wc_path_of(j->host)), " got cuDNN ",
                          wc_format_range(&c, &j->runtime.range), ", ",
                          wc_format_demand(&c, &j->strongest->r), NULL);
    c.r.host = j->host->r.object;
    c.r.object = j->library->r.object;
    c.r.predicted = j->runtime.predicted && j->fit != WC_OTHER_MAJOR;
    if (j->own_would_fit)
        c.r.explained_by =
            wc_found_before(d, c.r.object, "facade-and-parts-differ", "parts-differ", NULL);
    if (!c.r.explained_by)
        c.r.explained_by = wc_found_before(d, c.r.object, "wrong-name", NULL);
    got(&c, j);
    fixes(&c, j);
    wc_case_end(&c);
}

static void emit_all(struct wc_diagnosis *d, enum wc_fit fit) {
    for (size_t i = 0; i < d->judgements; i++) {
        const struct wc_judgement *j = &d->judged[i];
        if (j->fit == fit && !j->reported_elsewhere && !reported_by_functions(j))
            emit(d, j);
    }
}

void wc_find_major_differs(struct wc_diagnosis *d) {
    emit_all(d, WC_OTHER_MAJOR);
}

void wc_find_runtime_too_old(struct wc_diagnosis *d) {
    emit_all(d, WC_TOO_OLD);
}

void wc_find_runtime_too_new(struct wc_diagnosis *d) {
    emit_all(d, WC_TOO_NEW);
}
