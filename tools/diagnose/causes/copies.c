/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two-copies-loaded, two-cuda-copies: a library is mapped from two files. More than one facade, and
 * which host uses which; or a host that found its facade, and gets functions of another library,
 * which was loaded before. Of a CUDA library (cudart, cublas, nvrtc) each copy keeps what it knows
 * for itself: handles, streams and modules of the one are nothing to the other.
 */
#include "core/demand/finding.h"

enum { FACADES_MOST = 8, COPIES_MOST = 16 };

struct copies {
    const struct wc_object *p[COPIES_MOST];
    size_t n;
};

static void add(struct copies *f, const struct wc_object *o, size_t most) {
    if (f->n < most && !WC_ANY(known, *f, *known == o))
        f->p[f->n++] = o;
}

/* Two copies work next to each other, mostly. After a crash that nothing graver explains they are
 * the first thing to look at. */
static enum wc_effect effect_of_copies(const struct wc_diagnosis *d) {
    return !wc_has_error(d) && (wc_crash_of(d->s) || wc_a_call_failed(d->s)) ? WC_EFFECT_FELT
                                                                             : WC_EFFECT_DOUBTED;
}

static void crash_fact(struct wc_case *c) {
    const char *crash = wc_crash_of(c->d->s), *during = c->d->s->outcome.during;

    wc_case_fact_from(c, WC_FACT_ENDED_BY,
                      crash && during ? wc_format(c, "%s, in %s", crash, during) : crash,
                      c->d->s->has_outcome ? "wait" : "status of the command");
}

/* ---- facades ---- */

static bool same_file(const struct wc_object *a, const struct wc_object *b) {
    /* Some installers make files of links: the same bytes under several names. */
    if (a->r.build_id && wc_str_same(a->r.build_id, b->r.build_id) && a->r.size == b->r.size &&
        wc_same_installation(a, b))
        return true;
    if (a->r.inode != WC_NULL && b->r.inode != WC_NULL)
        return a->r.inode == b->r.inode && a->r.device == b->r.device;
    return wc_str_same(wc_path_of(a), wc_path_of(b));
}

/* What asks for no library leaves it to another, a framework's own stubs, to find one. */
static void find_answered_by(struct wc_diagnosis *d, const struct wc_use *use) {
    WC_EACH(b, d->s->bindings) {
        const struct wc_object *by = wc_object_of(d->s, b->r.target, b->r.target_path);
        if (b->r.how != WC_binding_how_SLOT || b->r.functions.n == 0 ||
            !wc_is_binding_of(b, use->host) || !by || by == use->host ||
            by->r.role != WC_role_HOST ||
            !wc_demand_of(d->s, wc_path_of(use->host), WC_demand_kind_NEEDED))
            continue;
        struct wc_case *c = wc_case_begin(d, by, use->host);
        c->effect = wc_ended_badly(d->s) ? WC_EFFECT_FELT : WC_EFFECT_DOUBTED;
        c->r.title = wc_format(c, "%s gets %s of %s, not of %s", wc_format_who(c, use->host),
                               b->r.functions.p[0], wc_format_who(c, by),
                               wc_format_name(c, wc_name_of(use->library)));
        wc_case_fact(c, WC_FACT_ANSWERS, wc_path_of(by));
        wc_case_library(c, WC_FACT_PASSED_OVER, use->library);
        wc_case_end(c);
    }
}

void wc_find_two_copies_loaded(struct wc_diagnosis *d) {
    struct copies f = {.n = 0};
    bool differ = false;

    WC_EACH(o, d->s->objects)
        if (o->r.role == WC_role_FACADE && o->r.mapped && !WC_ANY(x, f, same_file(*x, o))) {
            /* Parts and symbol versions of two majors have different names. */
            differ = differ || WC_ANY(x, f,
                                      wc_major_of(o) == wc_major_of(*x) &&
                                          !wc_ranges_meet(wc_own_range(o), wc_own_range(*x)));
            add(&f, o, FACADES_MOST);
        }
    if (f.n > 1) {
        struct wc_case *c = wc_case_begin(d, NULL, NULL);
        const char *versions = wc_format_own(c, f.p[0]);
        c->effect = differ ? WC_EFFECT_FELT : effect_of_copies(d);
        for (size_t i = 1; i < f.n; i++)
            versions = wc_format(c, "%s%s%s", versions, i + 1 < f.n ? ", " : " and ",
                                 wc_format_own(c, f.p[i]));
        c->r.title = wc_format(c, "%zu cuDNN facades in one process: %s", f.n, versions);
        WC_EACH(facade, f) {
            wc_case_library(c, WC_FACT_FACADE, *facade);
            WC_EACH(use, d->uses)
                if (use->library == *facade)
                    wc_case_fact(c, WC_FACT_USED_BY, wc_path_of(use->host));
        }
        crash_fact(c);
        wc_case_fact(c, WC_FACT_MIND,
                     "a request for a part by its bare name may get the part of the other copy");
        wc_case_end(c);
    }
    WC_EACH(use, d->uses)
        find_answered_by(d, use);
}

/* ---- libraries of CUDA ---- */

/* As far as its name shows: libcudart.so.12 of two installations is one library, 11 another; a name
 * without a number may be any. */
static struct wc_name name_of(const struct wc_object *o) {
    struct wc_name n = wc_name_read(o->r.soname);

    return n.kind == WC_NAME_CUDA_DEPENDENCY ? n : wc_name_read(o->r.path);
}

static bool is_copy_of(const struct wc_object *a, const struct wc_object *b) {
    if (a == b || !a->r.mapped || !b->r.mapped || a->r.role != WC_role_CUDA_DEPENDENCY ||
        b->r.role != a->r.role || !wc_str_same(a->r.part, b->r.part))
        return false;
    struct wc_name x = name_of(a);
    struct wc_name y = name_of(b);
    return x.kind == WC_NAME_CUDA_DEPENDENCY && y.kind == x.kind &&
           (x.version.major == y.version.major || x.version.major < 0 || y.version.major < 0) &&
           !same_file(a, b) && !wc_str_same(wc_path_of(a), wc_path_of(b));
}

bool wc_has_cuda_copy(const struct wc_stack *s, const struct wc_object *o) {
    return WC_ANY(other, s->objects, is_copy_of(o, other));
}

void wc_find_two_cuda_copies(struct wc_diagnosis *d) {
    struct copies f = {.n = 0}; /* each library's copies one after another */

    WC_EACH(o, d->s->objects)
        if (wc_has_cuda_copy(d->s, o)) {
            add(&f, o, COPIES_MOST);
            WC_EACH(other, d->s->objects)
                if (is_copy_of(o, other))
                    add(&f, other, COPIES_MOST);
        }
    if (f.n < 2)
        return;
    struct wc_case *c = wc_case_begin(d, NULL, NULL);
    /* Of only the first one: how many there are changes as libraries come and go. */
    const char *a = wc_cuda_release(c, f.p[0]), *b = wc_cuda_release(c, f.p[1]);
    const bool told = a && b && !wc_str_same(a, b);
    if (!told || !wc_failed_itself(d->s) || wc_has_error(d))
        c->effect = effect_of_copies(d);
    c->r.title = wc_format(c, "%s is in the process twice%s%s%s%s",
                           wc_format_name(c, f.p[0]->r.soname ?: f.p[0]->r.path), told ? ": " : "",
                           told ? a : "", told ? " and " : "", told ? b : "");
    WC_EACH(o, f)
        wc_case_library(c, WC_FACT_COPY, *o);
    wc_case_fact(c, WC_FACT_MIND, "handles and streams of one copy mean nothing to the other");
    crash_fact(c);
    wc_case_end(c);
}
