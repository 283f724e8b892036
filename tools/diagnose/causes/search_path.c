/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search-path-suspect: elements of LD_LIBRARY_PATH that make what is found depend on the working
 * directory; where a library was not found, also those that lead nowhere. And a value that the
 * process has set itself, too late for its own loader.
 */
#include "core/demand/finding.h"

/* Did a replay see that no such directory is there? */
static bool leads_nowhere(const struct wc_stack *s, struct wc_element e) {
    char missing[1024];

    while (e.n > 1 && e.p[e.n - 1] == '/')
        e.n--;
    if (!wc_str_format(missing, sizeof missing, "LD_LIBRARY_PATH %.*s/ (not there)", (int)e.n, e.p))
        return false;
    return WC_ANY(search, s->searches,
                  WC_ANY(text, search->r.searched, wc_str_same(*text, missing)));
}

void wc_find_search_path_suspect(struct wc_diagnosis *d) {
    const char *list = wc_variable(d->s, "LD_LIBRARY_PATH");
    bool failed =
        wc_found_before(d, WC_NULL, "part-missing", NULL) ||
        WC_ANY(r, *d->out,
               wc_str_same(r->id, "library-not-found") || wc_str_same(r->id, "dependency-missing"));
    size_t relative = 0, nowhere = 0;

    /* Set too late: reported with what was not found, or was refused, where it had that effect. */
    WC_EACH(f, d->s->searches) {
        const struct wc_object *got = wc_object_of(d->s, f->r.object, NULL);
        if (!got || got->r.role != WC_role_FACADE || !wc_later_of(d->s, f) ||
            wc_found_before(d, got->r.object, "major-differs", "runtime-too-old", "runtime-too-new",
                            "expectation-not-met", NULL))
            continue;
        struct wc_case *c = wc_case_begin(d, got, NULL);
        c->r.title = wc_format(c, "LD_LIBRARY_PATH was set too late for %s: %s was loaded",
                               wc_format_name(c, f->r.name), wc_format_own(c, got));
        wc_case_library(c, WC_FACT_GOT, got);
        wc_case_end(c);
    }
    if (!list || !*list)
        return;
    struct wc_case *c = wc_case_begin(d, NULL, NULL);
    c->on_disk = true;
    WC_EACH_ELEMENT(e, list, ":;") {
        const bool is_relative = e.p[0] != '/' && e.p[0] != '$';
        if (!is_relative && !(failed && leads_nowhere(d->s, e)))
            continue;
        ++*(is_relative ? &relative : &nowhere);
        wc_case_fact(c, is_relative ? WC_FACT_RELATIVE : WC_FACT_NO_SUCH_DIRECTORY,
                     e.n ? wc_format(c, "%.*s", (int)e.n, e.p)
                         : "an empty element: the working directory");
    }
    if (!relative && !nowhere)
        return;
    c->r.title = relative ? "LD_LIBRARY_PATH makes what is loaded depend on the working directory"
                          : "LD_LIBRARY_PATH names directories that do not exist";
    wc_case_end(c);
}
