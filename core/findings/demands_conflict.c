/*
 * demands-conflict: two hosts of one process that no release of cuDNN suits both. Nothing is
 * printed where each got a library that it accepts: two majors in one process are two libraries.
 */
#include "finding.h"

enum { HOSTS_MOST = 16, PAIRS_TOLD = 4 };

static bool is_refused(const struct wc_diagnosis *d, const struct wc_object *host) {
    for (size_t i = 0; i < d->judgements; i++)
        if (d->judged[i].host == host)
            return true;
    return false;
}

static bool wants_the_same(const struct wc_demand_record *a, const struct wc_demand_record *b) {
    return a->demand_kind == b->demand_kind && wc_str_same(a->spec, b->spec) &&
           wc_str_same(a->built, b->built) &&
           wc_str_same(a->compatibility_rule, b->compatibility_rule) &&
           wc_str_same(a->framework, b->framework);
}

static bool has_demand(const struct wc_stack *s, const struct wc_object *host,
                       const struct wc_demand_record *like) {
    for (size_t i = 0; i < s->demands.n; i++)
        if (wc_means(host, s->demands.p[i].r.host, s->demands.p[i].r.host_path) &&
            (!like || wants_the_same(&s->demands.p[i].r, like)))
            return true;
    return false;
}

/* Does a want all that b wants? Libraries of one wheel do. */
static bool covers(const struct wc_stack *s, const struct wc_object *a, const struct wc_object *b) {
    for (size_t i = 0; i < s->demands.n; i++)
        if (wc_means(b, s->demands.p[i].r.host, s->demands.p[i].r.host_path) &&
            !has_demand(s, a, &s->demands.p[i].r))
            return false;
    return true;
}

/* Hosts with demands, one of those that want the same. A refused one goes before its like. */
static void collect(const struct wc_diagnosis *d, struct wc_hosts *out) {
    const struct wc_stack *s = d->s;

    out->n = 0;
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object *o = &s->objects.p[i];
        bool like = false;
        if (!wc_wants_cudnn(o) || !has_demand(s, o, NULL))
            continue;
        for (size_t k = 0; k < out->n && !like; k++) {
            like = covers(s, out->p[k], o) && covers(s, o, out->p[k]);
            if (like && is_refused(d, o) && !is_refused(d, out->p[k]))
                out->p[k] = o;
        }
        if (!like && out->n < HOSTS_MOST)
            out->p[out->n++] = o;
    }
}

static int32_t major_accepted(const struct wc_stack *s, const struct wc_object *host) {
    const struct wc_hosts one = {{host}, 1};
    struct wc_version low, high;

    return wc_common_releases(s, &one, &low, &high) ? low.major : -1;
}

static void emit_host(struct wc_case *c, const struct wc_object *host) {
    const struct wc_stack *s = c->d->s;
    const struct wc_hosts one = {{host}, 1};
    struct wc_version low, high;
    struct wc_uses uses;

    wc_case_fact(c, "host", wc_path_of(host), "link map");
    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        if (wc_means(host, r->host, r->host_path) && r->demand_kind != WC_demand_kind_EXPECTATION)
            wc_case_fact(c, "wants", wc_format_demand_whole(c, r), wc_format_demand_source(c, r));
    }
    if (wc_common_releases(s, &one, &low, &high))
        wc_case_fact(c, "accepts", wc_format_common(c, low, high), "all of these");
    wc_uses_of(s, host, &uses);
    for (size_t i = 0; i < uses.n; i++)
        wc_case_fact(c, is_refused(c->d, host) ? "got, and refuses" : "got",
                     wc_format(c, wc_format_own(c, uses.library[i]), "  ",
                               wc_path_of(uses.library[i]), NULL),
                     "bindings");
}

static const char *format_framework(struct wc_case *c, const struct wc_object *host) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        if (r->framework && wc_means(host, r->host, r->host_path))
            return wc_format_name(c, r->framework);
    }
    return wc_format_name(c, wc_path_of(host));
}

static void fixes(struct wc_case *c, const struct wc_object *a, const struct wc_object *b) {
    int32_t x = major_accepted(c->d->s, a), y = major_accepted(c->d->s, b);

    if (x >= 0 && y >= 0 && x != y)
        wc_case_fix(c, WC_ACTION_INSTALL,
                    wc_format(c, "let each find a cuDNN of its own: those of major ",
                              wc_format_number(c, x), " and ", wc_format_number(c, y),
                              " have different names and can be in one process", NULL),
                    NULL);
    wc_case_fix(c, WC_ACTION_UPGRADE_HOST,
                wc_format(c, x != y ? "or take" : "take", " a release of ", format_framework(c, a),
                          " or of ", format_framework(c, b),
                          " that accepts what the other one does", NULL),
                NULL);
    wc_case_fix(c, WC_ACTION_INSTALL,
                "or run the two in processes of their own, each with an environment of its own",
                NULL);
}

static void emit(struct wc_diagnosis *d, const struct wc_object *a, const struct wc_object *b) {
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, "no release of cuDNN suits both ", wc_format_name(&c, wc_path_of(a)),
                          " and ", wc_format_name(&c, wc_path_of(b)), NULL);
    c.r.host = is_refused(d, a) ? a->r.object : b->r.object;
    emit_host(&c, a);
    emit_host(&c, b);
    fixes(&c, a, b);
    wc_case_end(&c);
}

void wc_find_demands_conflict(struct wc_diagnosis *d) {
    struct wc_hosts hosts;
    size_t told = 0;

    collect(d, &hosts);
    for (size_t i = 0; i < hosts.n; i++)
        for (size_t k = 0; k < i && told < PAIRS_TOLD; k++) {
            const struct wc_hosts pair = {{hosts.p[k], hosts.p[i]}, 2};
            struct wc_version low, high;
            bool alone =
                major_accepted(d->s, hosts.p[k]) >= 0 && major_accepted(d->s, hosts.p[i]) >= 0;
            if (!(is_refused(d, hosts.p[i]) || is_refused(d, hosts.p[k])) || !alone ||
                wc_common_releases(d->s, &pair, &low, &high))
                continue;
            emit(d, hosts.p[k], hosts.p[i]);
            told++;
        }
}
