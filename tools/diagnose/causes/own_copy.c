/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own-copy-unused: the requester's environment has a cuDNN, and another was loaded, since
 * no search leads into the environment. A name without a number may point to any major.
 */
#include "core/demand/finding.h"
#include "core/knowledge/programs.h"

static bool is_below(const char *path, const char *prefix) {
    size_t n = prefix ? wc_str_length(prefix) : 0;

    while (n > 1 && prefix[n - 1] == '/')
        n--;
    return n && wc_is_below(path, prefix, n);
}

static bool has_number(const char *name) {
    return wc_name_read(name).version.major >= 0;
}

/* May that package have what was asked for by this name? */
static bool answers(const struct wc_package_record *p, const char *asked, struct wc_range got) {
    struct wc_version v = wc_version_of(p->package_version);

    if (!wc_version_known(v) || !wc_version_known(got.low))
        return false;
    return v.major == got.low.major ? v.minor != got.low.minor || v.patch != got.low.patch
                                    : !has_number(asked);
}

static const struct wc_package_record *own_of(const struct wc_stack *s, const char *asker,
                                              const struct wc_object *o) {
    struct wc_range own = wc_own_range(o);
    const struct wc_package *found =
        WC_FIRST(p, s->packages,
                 wc_is_of_environment(p->r.installation_kind) &&
                     p->r.package_state == WC_package_state_COMPLETE &&
                     !is_below(wc_real_path_of(o), p->r.prefix) &&
                     (is_below(asker, p->r.prefix) ||
                      wc_program_is(asker, WC_PROGRAM_PYTHON | WC_PROGRAM_LIBRARY)) &&
                     answers(&p->r, o->r.asked_name, own));

    return found ? &found->r : NULL;
}

static void look(struct wc_diagnosis *d, const struct wc_object *o) {
    const struct wc_searched *f = wc_search_of(d->s, o);
    const struct wc_object *host = wc_object_of(d->s, o->r.asked_by_object, o->r.asked_by);
    /* A path, a preload and a host's own search path name one file. */
    const bool by_chance =
        f && (f->r.rule == WC_search_rule_CACHE || f->r.rule == WC_search_rule_DEFAULT ||
              f->r.rule == WC_search_rule_LIBRARY_PATH);
    const struct wc_package_record *p =
        by_chance && o->r.asked_name && !wc_str_find_char(o->r.asked_name, '/')
            ? own_of(d->s, o->r.asked_by, o)
            : NULL;

    if (!p || wc_fit_of_release(d->s, host, o) == WC_FITS ||
        wc_found_before(d, o->r.object, "major-differs", "runtime-too-old", "runtime-too-new",
                        "missing-symbols", "expectation-not-met", NULL))
        return;
    struct wc_case *c = wc_case_begin(d);
    const char *directory = wc_format(
        c, "%s/lib",
        p->installation_kind == WC_installation_kind_CONDA ? p->prefix : p->installation_path);
    if (wc_version_of(p->package_version).major == wc_own_range(o).low.major &&
        (wc_has_error(d) || (!wc_ended_badly(d->s) && !wc_a_call_failed(d->s))))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s asked for %s and got %s; its environment has %s",
                           wc_format_name(c, o->r.asked_by), wc_format_name(c, o->r.asked_name),
                           wc_format_range(c, wc_runtime_of(d->s, o).range),
                           wc_format_name(c, p->package_version));
    c->r.object = o->r.object;
    wc_case_library(c, WC_FACT_GOT, o);
    wc_case_fact_at(c, WC_FACT_ITS_ENVIRONMENT_HAS, directory,
                    wc_format(c, "%s  %s %s", directory, p->package, p->package_version),
                    "package");
    if (!has_number(o->r.asked_name))
        wc_case_fact(c, WC_FACT_NO_NUMBER, "a name without a number may be any major");
    wc_case_end(c);
}

void wc_find_own_copy_unused(struct wc_diagnosis *d) {
    wc_each_facade(d, true, look);
}
