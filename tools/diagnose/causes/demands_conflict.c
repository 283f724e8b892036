/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demands-conflict: two hosts of one process that no release of cuDNN suits both. Nothing is
 * reported where each got a library that it accepts: two majors in one process are two libraries.
 */
#include "core/demand/finding.h"

enum { HOSTS_MOST = 16, PAIRS_TOLD = 4 };

/* like NULL: any. */
static bool has_demand(const struct wc_stack *s, const struct wc_object *host,
                       const struct wc_demand_record *like) {
    return WC_ANY(
        d, s->demands,
        wc_is_demand_by(d, host) &&
            (!like || (d->r.demand_kind == like->demand_kind &&
                       wc_str_same(d->r.spec, like->spec) && wc_str_same(d->r.built, like->built) &&
                       wc_str_same(d->r.compatibility_rule, like->compatibility_rule) &&
                       wc_str_same(d->r.framework, like->framework))));
}

/* Does a require all that b requires? Libraries of one wheel do. */
static bool covers(const struct wc_stack *s, const struct wc_object *a, const struct wc_object *b) {
    return !WC_ANY(demand, s->demands, wc_is_demand_by(demand, b) && !has_demand(s, a, &demand->r));
}

/* Hosts with demands, one of those with the same. A refused one goes first. */
static void collect(const struct wc_diagnosis *d, struct wc_hosts *out) {
    const struct wc_stack *s = d->s;

    WC_EACH(o, s->objects) {
        bool like = false;
        if (!wc_wants_cudnn(o) || !has_demand(s, o, NULL))
            continue;
        for (size_t k = 0; k < out->n && !like; k++) {
            like = covers(s, out->p[k], o) && covers(s, o, out->p[k]);
            if (like && wc_is_refused(d, o) && !wc_is_refused(d, out->p[k]))
                out->p[k] = o;
        }
        if (!like && out->n < HOSTS_MOST)
            out->p[out->n++] = o;
    }
}

static void emit_host(struct wc_case *c, const struct wc_object *host) {
    const struct wc_hosts one = {{host}, 1};
    struct wc_version low, high;

    wc_case_fact(c, WC_FACT_HOST, wc_path_of(host));
    WC_EACH(demand, c->d->s->demands)
        if (wc_is_demand_by(demand, host))
            wc_case_demand(c, WC_FACT_WANTS, &demand->r);
    if (wc_common_releases(c->d->s, &one, &low, &high))
        wc_case_fact(c, WC_FACT_ACCEPTS, wc_format_releases(c->d->scratch, low, high));
    WC_EACH(use, c->d->uses)
        if (use->host == host)
            wc_case_fact_from(
                c, wc_is_refused(c->d, host) ? WC_FACT_GOT_AND_REFUSES : WC_FACT_GOT,
                wc_format(c, "%s  %s", wc_format_own(c, use->library), wc_path_of(use->library)),
                "bindings");
}

/* Each finds releases that suit it, and none suits both. */
static bool is_conflict(const struct wc_diagnosis *d, const struct wc_object *a,
                        const struct wc_object *b) {
    const struct wc_hosts first = {{a}, 1}, second = {{b}, 1}, pair = {{a, b}, 2};
    struct wc_version low, high;

    return (wc_is_refused(d, a) || wc_is_refused(d, b)) &&
           wc_common_releases(d->s, &first, &low, &high) &&
           wc_common_releases(d->s, &second, &low, &high) &&
           !wc_common_releases(d->s, &pair, &low, &high);
}

void wc_find_demands_conflict(struct wc_diagnosis *d) {
    struct wc_hosts hosts = {.n = 0};
    size_t told = 0;

    if (!d->judged.n) /* no host refuses anything */
        return;
    collect(d, &hosts);
    for (size_t i = 0; i < hosts.n; i++)
        for (size_t k = 0; k < i && told < PAIRS_TOLD; k++)
            if (is_conflict(d, hosts.p[k], hosts.p[i])) {
                const struct wc_object *a = hosts.p[k], *b = hosts.p[i];
                struct wc_case *c = wc_case_begin(d, NULL, wc_is_refused(d, a) ? a : b);
                c->r.title = wc_format(c, "no release of cuDNN suits both %s and %s",
                                       wc_format_who(c, a), wc_format_who(c, b));
                emit_host(c, a);
                emit_host(c, b);
                wc_case_end(c);
                told++;
            }
}
