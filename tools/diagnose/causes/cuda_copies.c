/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two-cuda-copies: a CUDA library (cudart, cublas, nvrtc) is mapped from two files. Each copy keeps
 * what it knows for itself: handles, streams and modules of the one are nothing to the other.
 */
#include "core/demand/finding.h"

enum { COPIES_MOST = 16 };

struct copies { /* every library that is there twice, each one's copies one after another */
    const struct wc_object *p[COPIES_MOST];
    size_t n;
};

/* As far as its name shows: libcudart.so.12 of two installations is one library, 11 another; a name
 * without a number may be any. */
static struct wc_name name_of(const struct wc_object *o) {
    struct wc_name n = wc_name_read(o->r.soname);

    return n.kind == WC_NAME_CUDA_DEPENDENCY ? n : wc_name_read(o->r.path);
}

static bool is_copy_of(const struct wc_object *a, const struct wc_object *b) {
    struct wc_name x, y;

    if (a == b || !a->r.mapped || !b->r.mapped || a->r.role != WC_role_CUDA_DEPENDENCY ||
        b->r.role != a->r.role || !wc_str_same(a->r.part, b->r.part))
        return false;
    x = name_of(a);
    y = name_of(b);
    return x.kind == WC_NAME_CUDA_DEPENDENCY && y.kind == x.kind &&
           (x.version.major == y.version.major || x.version.major < 0 || y.version.major < 0) &&
           !wc_same_file(a, b) && !wc_str_same(wc_path_of(a), wc_path_of(b));
}

bool wc_has_cuda_copy(const struct wc_stack *s, const struct wc_object *o) {
    return o->r.role == WC_role_CUDA_DEPENDENCY && WC_ANY(other, s->objects, is_copy_of(o, other));
}

static void add(struct copies *f, const struct wc_object *o) {
    if (f->n < COPIES_MOST)
        f->p[f->n++] = o;
}

static struct copies find_copies(const struct wc_stack *s) {
    struct copies f = {.n = 0};

    WC_EACH(o, s->objects) {
        if (!o->r.mapped || WC_ANY(known, f, *known == o) || !wc_has_cuda_copy(s, o))
            continue;
        add(&f, o);
        WC_EACH(other, s->objects)
            if (is_copy_of(o, other) && !WC_ANY(known, f, *known == other))
                add(&f, other);
    }
    return f;
}

void wc_find_two_cuda_copies(struct wc_diagnosis *d) {
    struct copies f = find_copies(d->s);

    if (f.n < 2)
        return;
    struct wc_case *c = wc_case_begin(d);
    c->effect = wc_effect_of_copies(d);
    /* Of only the first one: how many there are changes as libraries come and go. */
    const char *a = wc_cuda_release(c, f.p[0]), *b = wc_cuda_release(c, f.p[1]);
    const bool told = a && b && !wc_str_same(a, b);
    c->r.title = wc_format(c, "%s is in the process twice%s%s%s%s",
                           wc_format_name(c, f.p[0]->r.soname ?: f.p[0]->r.path), told ? ": " : "",
                           told ? a : "", told ? " and " : "", told ? b : "");
    WC_EACH(o, f)
        wc_case_library(c, WC_FACT_COPY, *o);
    wc_case_fact(c, WC_FACT_MIND, "handles and streams of one copy mean nothing to the other");
    wc_case_crash(c);
    wc_case_end(c);
}
