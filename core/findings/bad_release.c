/* known-bad-release: this release of cuDNN has a defect that is written down somewhere. */
#include "finding.h"

enum { FACADES_MOST = 16 };

static const struct bad {
    const char *release, *what, *instead, *source;
} bad_releases[] = {
#define BAD_RELEASE(release, what, instead, source) {release, what, instead, source},
#include "core/findings/shared/bad_releases.def"
};

static const struct bad *bad_release(struct wc_version v) {
    struct wc_version bad;

    for (size_t i = 0; i < sizeof bad_releases / sizeof *bad_releases; i++)
        if (wc_version_parse(bad_releases[i].release, wc_str_length(bad_releases[i].release),
                             &bad) &&
            wc_version_compare(v, bad) == 0)
            return &bad_releases[i];
    return NULL;
}

static void emit(struct wc_diagnosis *d, const struct wc_object *facade,
                 const struct wc_runtime *runtime, const struct bad *bad) {
    struct wc_case c;

    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, wc_format_name(&c, wc_name_of(facade)), " is cuDNN ", bad->release,
                          ", a release with a known defect", NULL);
    c.r.object = facade->r.object;
    c.r.predicted = runtime->predicted;
    wc_case_library(&c, "cuDNN", facade);
    wc_case_fact(&c, "runtime version", wc_format_range(&c, &runtime->range),
                 runtime->range.source);
    wc_case_fact(&c, "defect", bad->what, bad->source);
    wc_fix_install(&c, NULL, facade, bad->instead, NULL);
    wc_case_end(&c);
}

void wc_find_known_bad_release(struct wc_diagnosis *d) {
    size_t facades = 0;

    for (size_t i = 0; i < d->s->objects.n && facades < FACADES_MOST; i++) {
        const struct wc_object *o = &d->s->objects.p[i];
        struct wc_runtime runtime;
        const struct bad *bad;
        if (o->r.role != WC_role_FACADE || !o->r.mapped)
            continue;
        facades++;
        runtime = wc_runtime_of(d->s, o);
        bad = runtime.range.exact ? bad_release(runtime.range.low) : NULL;
        if (bad)
            emit(d, o, &runtime, bad);
    }
}
