/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part-missing: cuDNN asked for a part by every name that it knows and got none. cuDNN 9 tries up
 * to four names in turn, the bare one last; before 9 there is one name. A few parts are optional:
 * their absence is reported only when a call failed for lack of a part.
 */
#include "finding.h"

enum { FOUR_NAMES = 9, PARTS_NAMED = 8 };

/* Parts of cuDNN 9 without which nothing works; engines, heuristics and what later releases add are
 * loaded when needed, and some wheels come without them. */
static bool needed_at_once(const struct wc_name *n) {
    static const char *const parts[] = {"graph", "ops", "cnn", "adv"};

    WC_EACH_ROW(part, parts)
        if (wc_str_same(n->part, *part))
            return true;
    return n->version.major >= 0 && n->version.major < FOUR_NAMES;
}

/* Did a library of this facade's set ask for a part? facade NULL: one of no known set. */
static bool is_request(const struct wc_stack *s, const struct wc_failure *f,
                       const struct wc_object *facade, struct wc_name *n) {
    const struct wc_object *caller = wc_caller_of(s, f);

    *n = wc_name_read(f->r.name);
    return n->kind == WC_NAME_PART && wc_is_load(f) && wc_asked_by_cudnn(s, f) &&
           wc_facade_of(s, wc_is_cudnn(caller) ? caller : NULL) == facade;
}

/* The file that the loader took for f and did not load, of a host that did not ask why; NULL. */
static const struct wc_file_record *refused_file(const struct wc_stack *s,
                                                 const struct wc_failure *f) {
    const struct wc_file_record *file = wc_was_not_found(f) ? wc_file_like(s, f, f->r.name) : NULL;

    return file && wc_str_same(wc_base_name(file->path), wc_base_name(f->r.name)) ? file : NULL;
}

struct missing {
    const char *p[PARTS_NAMED];
    size_t n;
};

static bool listed(const struct missing *m, const char *part) {
    return WC_ANY(name, *m, wc_str_same(*name, part));
}

static struct missing look(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    int32_t major = facade ? wc_major_of(facade) : -1;
    bool wanted = WC_ANY(call, s->calls,
                         call->r.phase == WC_phase_AFTER && call->r.status != WC_NULL &&
                             wc_status_sort(call->r.status, major) == WC_STATUS_PART_UNAVAILABLE);
    struct missing m = {.n = 0};
    struct wc_name n, of_other;

    /* Of the names of a part the bare one, without a version, is the last; a replay gives one. */
    WC_EACH(f, s->failures)
        if (m.n < PARTS_NAMED && is_request(s, f, facade, &n) &&
            (n.version.major < FOUR_NAMES || s->replayed) && !listed(&m, n.part) &&
            (needed_at_once(&n) || wanted) &&
            !WC_ANY(o, s->objects,
                    o->r.role == WC_role_PART && wc_str_same(o->r.part, n.part) &&
                        (!facade || wc_in_set(s, o, facade) || !o->r.mapped)) &&
            /* Nor is the file there, and does not load for a reason that has a finding of its own.
             */
            !WC_ANY(other, s->failures,
                    is_request(s, other, facade, &of_other) && wc_str_same(of_other.part, n.part) &&
                        other->reason != WC_REASON_UNKNOWN && other->reason != WC_REASON_NOT_FOUND))
            m.p[m.n++] = wc_format(c, "%s", n.part);
    return m;
}

static void check(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct wc_case *c = wc_case_begin(d);
    struct missing m = look(c, facade);
    struct wc_name n;

    if (!m.n)
        return;
    const char *who = facade ? wc_format_name(c, wc_name_of(facade)) : "cuDNN";
    const char *parts = wc_format_list(c, m.p, m.n);
    bool refused = WC_ANY(f, d->s->failures, /* a file was there, and the loader did not take it */
                          is_request(d->s, f, facade, &n) && listed(&m, n.part) &&
                              (!wc_was_not_found(f) || refused_file(d->s, f)));
    c->r.title = wc_format(c, "%s %s %s part%s", who, refused ? "could not load its" : "found no",
                           parts, m.n == 1 ? "" : "s");
    if (facade) {
        c->r.object = facade->r.object;
        wc_case_library(c, WC_FACT_FACADE, facade);
        wc_case_fact(c, WC_FACT_PARTS_BELONG_INTO, wc_directory_of(c, facade));
        WC_EACH(part, m)
            wc_case_not_shipped(c, facade, *part);
    }
    if (d->s->replayed && facade && wc_is_grafted(facade))
        c->effect = WC_EFFECT_DOUBTED; /* no part was requested yet; only the facade was grafted */
    c->r.explained_by = wc_found_before(d, c->r.object, "installation-incomplete", NULL);
    WC_EACH(f, d->s->failures)
        if (is_request(d->s, f, facade, &n) && listed(&m, n.part)) {
            const struct wc_file_record *file = refused_file(d->s, f);
            if (file) {
                wc_case_file(c, WC_FACT_FOUND, file, "the loader's rules");
                wc_case_fact(c, WC_FACT_MIND,
                             "cuDNN did not ask for the loader's reason; LD_DEBUG=files prints it");
            }
            wc_case_request(c, f);
            wc_case_later(c, wc_search_in_vain(d->s, f));
        }
    wc_case_end(c);
}

void wc_find_part_missing(struct wc_diagnosis *d) {
    wc_each_facade(d, false, check);
    check(d, NULL);
}
