/* SPDX-License-Identifier: Apache-2.0 */
/* known-bad-release: this release of cuDNN has a defect that is written down somewhere. */
#include "core/demand/finding.h"
#include "tools/diagnose/wheels.h"

static const struct bad {
    const char *releases, *framework, *of_it, *what, *source;
} bad_releases[] = {
#define BAD_RELEASE(releases, framework, of_it, what, instead, source)                             \
    {releases, framework, of_it, what, source},
#include "core/knowledge/bad_releases.def"
};

/* The host in which it shows: no build without CUDA. */
static const struct wc_object *host_of(const struct wc_stack *s, const struct bad *bad) {
    return WC_FIRST(
        o, s->objects,
        o->r.mapped && (wc_wants_cudnn(o) || o->r.gpu_library) &&
            wc_str_same(o->r.framework, bad->framework) &&
            wc_text_accepts(bad->of_it, wheel_version(o->r.installation_version ?: "")) == WC_YES);
}

static void look(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct wc_runtime runtime = wc_runtime_of(d->s, facade);

    WC_EACH_ROW(bad, bad_releases) {
        const struct wc_object *host = bad->framework ? host_of(d->s, bad) : NULL;
        if (!runtime.range.exact || wc_text_accepts(bad->releases, runtime.range.low) != WC_YES ||
            (bad->framework && !host))
            continue;
        struct wc_case *c = wc_case_begin(d, facade, host);
        if (host && !wc_ended_badly(d->s))
            c->effect = WC_EFFECT_DOUBTED;
        c->r.title =
            wc_format(c, "%s is cuDNN %s, a release with a known defect%s%s",
                      wc_format_name(c, wc_name_of(facade)), wc_format_range(c, runtime.range),
                      host ? " under " : "", host ? bad->framework : "");
        c->r.predicted = runtime.predicted;
        wc_case_library(c, WC_FACT_CUDNN, facade);
        wc_case_runtime(c, &runtime);
        if (host)
            wc_case_fact_from(c, WC_FACT_FRAMEWORK,
                              wc_format(c, "%s %s", bad->framework, host->r.installation_version),
                              "files next to it");
        wc_case_fact_from(c, WC_FACT_DEFECT, bad->what, bad->source);
        wc_case_end(c);
    }
}

void wc_find_known_bad_release(struct wc_diagnosis *d) {
    wc_each_facade(d, true, look);
}
