/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include "core/findings/finding.h"
#include "core/model/symbols.h"
#include "core/search/loader_words.h"

/* "<10.0,>=9.8" without blanks; NULL: nothing that a package manager would take. */
static const char *spec_of(struct finding_of *f, const char *spec) {
    struct wc_spec read;
    const char *made = "";

    if (!spec || !wc_spec_read(spec, &read))
        return NULL;
    for (; *spec; spec++)
        if (*spec != ' ')
            made = find_format(f, "%s%c", made, *spec);
    return made;
}

void find_installs(struct finding_of *f) {
    struct wc_hosts all = {.n = 0};

    WC_EACH(host, f->s->objects)
        if (wc_wants_cudnn(host) && all.n < 16)
            all.p[all.n++] = host;
    WC_EACH(d, f->s->demands) {
        const struct wc_object *host = wc_object_of(f->s, d->r.host, d->r.host_path);
        const char *environment = find_environment_of(f, host ? wc_path_of(host) : d->r.host_path);
        if (d->r.demand_kind == WC_demand_kind_REQUIRED && d->r.package)
            find_add_install(f, d->r.package, spec_of(f, d->r.spec), environment);
        if (!host && environment)
            find_add_install(f, find_package_for(f, environment, NULL),
                             candidates_accepted(f->out, &d->r), environment);
    }
    WC_EACH(host, all) {
        const char *environment = find_environment_of(f, wc_path_of(*host));
        struct wc_hosts one = {.p = {*host}, .n = 1};
        const char *package = environment ? find_package_for(f, environment, *host) : NULL;
        find_add_install(f, package, candidates_common(f->out, f->s, &all), environment);
        if (all.n > 1)
            find_add_install(f, package, candidates_common(f->out, f->s, &one), environment);
    }
    WC_EACH(o, f->s->objects) {
        const char *environment =
            o->r.role == WC_role_FACADE ? find_environment_of(f, wc_path_of(o)) : NULL;
        if (!environment)
            continue;
        find_add_install(f, find_package_for(f, environment, NULL),
                         candidates_common(f->out, f->s, &all), environment);
        find_other_releases(f, o);
    }
}

/* The release that a function came with, and those after it. */
static void add_function(struct finding_of *f, const struct wc_failure *failure,
                         const char *function) {
    const struct wc_version first = wc_function_first(wc_function_find(function));
    struct environments all;

    if (!wc_version_known(first))
        return;
    all = find_environments_of(f, failure);
    WC_EACH(o, f->s->objects)
        if (o->r.role == WC_role_FACADE)
            find_add_environment(&all, find_environment_of(f, wc_path_of(o)));
    for (size_t i = 0; i < all.n; i++)
        find_add_install(
            f, find_package_for(f, all.p[i], wc_caller_of(f->s, failure)),
            find_format(f, ">=%s,<%d", find_short_version(f->out, first), first.major + 1),
            all.p[i]);
}

void find_functions(struct finding_of *f) {
    WC_EACH(failure, f->s->failures) {
        struct wc_unmet unmet;
        if (failure->r.function)
            add_function(f, failure, failure->r.function);
        else if (wc_text_unmet(failure->r.text, &unmet) && unmet.symbol[0])
            add_function(f, failure, unmet.symbol);
    }
}
