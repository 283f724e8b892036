/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which releases would suit several hosts? Every rule and every set of versions changes its answer
 * only at versions that follow from the demand: what it names, and the beginnings of the next
 * patch, minor and major. So each demand is asked about each of these, and nothing has to know the
 * rules again.
 */
#include "core/demand/finding.h"

enum { NEAR = 6 };

/* ---- the versions at which an answer may change ---- */

static void near(struct wc_version v, struct wc_version out[NEAR]) {
    v = wc_version_filled(v, 0, 0);
    out[0] = v;
    out[1] = (struct wc_version){v.major, v.minor, 0, -1};
    out[2] = (struct wc_version){v.major, 0, 0, -1};
    out[3] = (struct wc_version){v.major, v.minor, v.patch + 1, -1};
    out[4] = (struct wc_version){v.major, v.minor + 1, 0, -1};
    out[5] = (struct wc_version){v.major + 1, 0, 0, -1};
}

/* The least one behind `after` replaces *least. */
static void take_near(const char *text, struct wc_version after, struct wc_version *least) {
    struct wc_spec spec;
    struct wc_version v[NEAR];

    if (!wc_spec_read(text, &spec))
        return;
    for (size_t i = 0; i < spec.n; i++) {
        if (spec.clause[i].version.major > WC_MAJOR_MOST)
            continue;
        near(spec.clause[i].version, v);
        for (size_t k = 0; k < NEAR; k++)
            if (wc_version_compare(v[k], after) > 0 &&
                (!wc_version_known(*least) || wc_version_compare(v[k], *least) < 0))
                *least = v[k];
    }
}

static struct wc_version next(const struct wc_demands *all, struct wc_version after) {
    struct wc_version least = WC_VERSION_NONE;

    WC_EACH(demand, *all) {
        take_near((*demand)->spec, after, &least);
        take_near((*demand)->built, after, &least);
    }
    return least;
}

bool wc_accepted_releases(const struct wc_demands *all, struct wc_version *low,
                          struct wc_version *high) {
    struct wc_version v = {0, 0, 0, -1};

    *low = *high = WC_VERSION_NONE;
    while (wc_version_known(v = next(all, v))) {
        bool good = !WC_ANY(demand, *all, wc_demand_refuses(*demand, v));
        if (good && !wc_version_known(*low))
            *low = v;
        if (!good && wc_version_known(*low)) {
            *high = v;
            return true;
        }
    }
    return wc_version_known(*low);
}

bool wc_common_releases(const struct wc_stack *s, const struct wc_hosts *hosts,
                        struct wc_version *low, struct wc_version *high) {
    struct wc_demands all = {.n = 0};

    WC_EACH(demand, s->demands)
        if (all.n < WC_DEMANDS_MOST && WC_ANY(host, *hosts, wc_is_demand_by(demand, *host)))
            all.p[all.n++] = &demand->r;
    return wc_accepted_releases(&all, low, high);
}

/* 10.0.0 as "10", 9.8.0 as "9.8". */
static const char *format_short(struct wc_version v, char out[WC_VERSION_TEXT]) {
    if (v.patch == 0)
        v.patch = -1;
    if (v.patch < 0 && v.minor == 0)
        v.minor = -1;
    return wc_version_text(v, out);
}

const char *wc_format_releases(struct wc_arena *memory, struct wc_version low,
                               struct wc_version high) {
    char first[WC_VERSION_TEXT], end[WC_VERSION_TEXT];

    return wc_arena_format(memory, ">=%s%s%s", format_short(low, first),
                           wc_version_known(high) ? ",<" : "", format_short(high, end));
}
