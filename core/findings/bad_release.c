/* SPDX-License-Identifier: Apache-2.0 */
/* known-bad-release: this release of cuDNN has a defect that is written down somewhere. */
#include "finding.h"

static const struct {
    const char *release, *what, *instead, *source;
} bad_releases[] = {
#define BAD_RELEASE(release, what, instead, source) {release, what, instead, source},
#include "core/findings/shared/bad_releases.def"
};

static void look(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct wc_runtime runtime = wc_runtime_of(d->s, facade);

    WC_EACH_ROW(bad, bad_releases) {
        if (!runtime.range.exact ||
            wc_version_compare(runtime.range.low, wc_version_of(bad->release)) != 0)
            continue;
        struct wc_case *c = wc_case_begin(d);
        c->r.title = wc_format(c, "%s is cuDNN %s, a release with a known defect",
                               wc_format_name(c, wc_name_of(facade)), bad->release);
        c->r.object = facade->r.object;
        c->r.predicted = runtime.predicted;
        wc_case_library(c, "cuDNN", facade);
        wc_case_runtime(c, &runtime);
        wc_case_fact(c, "defect", bad->what, bad->source);
        wc_fix_install(c, NULL, facade, bad->instead, NULL);
        wc_case_end(c);
    }
}

void wc_find_known_bad_release(struct wc_diagnosis *d) {
    wc_each_facade(d, true, look);
}
