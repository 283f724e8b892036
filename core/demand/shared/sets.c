/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which library belongs to which: which library a host's calls end in, which parts work for which
 * facade. Several facades in one process are usual, and a framework's own stubs may stand between.
 */
#include "core/demand/finding.h"

enum { LAYERS_MOST = 4, CHAIN_MOST = 8, USES_MOST = 4 };

/* ---- a facade's parts ---- */

static bool same_major(const struct wc_object *a, const struct wc_object *b) {
    int32_t x = wc_major_of(a), y = wc_major_of(b);

    return x < 0 || y < 0 || x == y;
}

/* The first cuDNN facade on the way from a part to its requester. */
static const struct wc_object *asking_facade(const struct wc_stack *s, const struct wc_object *o) {
    for (int i = 0; o && i < CHAIN_MOST; i++) {
        o = wc_object_of(s, o->r.asked_by_object, o->r.asked_by);
        if (o && o->r.role == WC_role_FACADE)
            return o;
    }
    return NULL;
}

/* How many facades could a part that cuDNN did not request work for? `near`: in its installation.
 */
static size_t rivals(const struct wc_stack *s, const struct wc_object *part, bool near) {
    size_t n = 0;

    WC_EACH(o, s->objects)
        n += o->r.role == WC_role_FACADE && o->r.mapped && same_major(o, part) &&
             (!near || wc_same_installation(o, part));
    return n;
}

bool wc_in_set(const struct wc_stack *s, const struct wc_object *part,
               const struct wc_object *facade) {
    const struct wc_object *asking;

    if (part->r.role != WC_role_PART || (facade->r.mapped && !part->r.mapped))
        return false;
    asking = asking_facade(s, part);
    if (asking)
        return asking == facade;
    if (!same_major(part, facade))
        return false;
    return rivals(s, part, false) < 2 ||
           (wc_same_installation(part, facade) && rivals(s, part, true) < 2);
}

const struct wc_object *wc_facade_of(const struct wc_stack *s, const struct wc_object *library) {
    const struct wc_object *asking;

    if (!library || library->r.role == WC_role_FACADE)
        return library;
    asking = asking_facade(s, library);
    if (asking)
        return asking;
    return WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE && wc_in_set(s, library, o));
}

/* ---- a host's libraries ---- */

struct uses {
    const struct wc_object *p[USES_MOST];
    size_t n;
};

/* A facade that is still mapped beats one that is gone, a facade beats a part: what is weaker than
 * what is there is not taken, what is stronger replaces it. */
static int strength(const struct wc_object *o) {
    return 2 * o->r.mapped + (o->r.role == WC_role_FACADE);
}

static void add(struct uses *out, const struct wc_object *library) {
    if (WC_ANY(known, *out, *known == library))
        return;
    if (out->n && strength(library) > strength(out->p[0]))
        out->n = 0;
    if (out->n < USES_MOST && (!out->n || strength(library) == strength(out->p[0])))
        out->p[out->n++] = library;
}

/* host -> its framework's stubs -> facade: follows up to LAYERS_MOST layers. */
static void by_bindings(const struct wc_stack *s, const struct wc_object *host, int layers,
                        struct uses *out) {
    const struct wc_object *via = NULL;

    WC_EACH(b, s->bindings) {
        const struct wc_object *target;
        if (!wc_is_binding_of(b, host))
            continue;
        target = wc_object_of(s, b->r.target, b->r.target_path);
        if (wc_is_cudnn(target))
            add(out, target);
        else if (target && target != host)
            via = target;
    }
    if (out->n || !via)
        return;
    if (layers > 0)
        by_bindings(s, via, layers - 1, out);
    for (size_t i = 0; !out->n && i < s->objects.n; i++)
        if (wc_is_cudnn(&s->objects.p[i]) &&
            wc_brought_by(s, &s->objects.p[i], via->r.object, via->r.path))
            add(out, &s->objects.p[i]);
}

static struct uses uses_of(const struct wc_stack *s, const struct wc_object *host) {
    struct uses out = {.n = 0};

    by_bindings(s, host, LAYERS_MOST, &out);
    if (!out.n)
        WC_EACH(o, s->objects)
            if (wc_is_cudnn(o) && wc_means(host, o->r.asked_by_object, o->r.asked_by))
                add(&out, o);
    if (!out.n)
        WC_EACH(o, s->objects)
            if (wc_is_cudnn(o) && WC_ANY(name, host->r.needed,
                                         *name && (wc_str_same(*name, o->r.soname) ||
                                                   wc_str_same(*name, o->r.asked_name))))
                add(&out, o);
    /* cuDNN linked into the host itself, or requested without success: another one's facade is none
     * of its business. */
    if (!out.n &&
        !WC_ANY(b, s->bindings, b->r.how == WC_binding_how_ITSELF && wc_is_binding_of(b, host)) &&
        !WC_ANY(f, s->failures,
                wc_name_kind_of(f->r.name) == WC_NAME_FACADE &&
                    wc_means(host, f->r.caller_object, f->r.caller))) {
        WC_EACH(o, s->objects)
            if (o->r.role == WC_role_FACADE)
                add(&out, o);
        out.n = out.n > 1 ? 0 : out.n; /* the only one */
    }
    return out;
}

void wc_find_uses(struct wc_diagnosis *d) {
    size_t hosts = 0;

    WC_EACH(o, d->s->objects)
        hosts += wc_wants_cudnn(o);
    hosts = hosts < WC_HOSTS_MOST ? hosts : WC_HOSTS_MOST;
    d->uses.p = hosts ? wc_arena_take(d->scratch, hosts * USES_MOST * sizeof *d->uses.p) : NULL;
    d->out->lost += hosts && !d->uses.p;
    WC_EACH(host, d->s->objects) {
        if (!d->uses.p || !hosts || !wc_wants_cudnn(host))
            continue;
        hosts--;
        struct uses uses = uses_of(d->s, host);
        WC_EACH(library, uses)
            d->uses.p[d->uses.n++] = (struct wc_use){host, *library};
    }
}
