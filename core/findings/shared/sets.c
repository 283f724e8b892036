/*
 * Who belongs to whom: which library a host's calls end in, which parts work for which facade.
 * Several facades in one process are usual, and a framework's own stubs may stand between.
 */
#include "core/findings/finding.h"

enum { LAYERS_MOST = 4, CHAIN_MOST = 8 };

/* ---- a facade's parts ---- */

static bool same_major(const struct wc_object *a, const struct wc_object *b) {
    int32_t x = wc_major_of(a), y = wc_major_of(b);

    return x < 0 || y < 0 || x == y;
}

/* The first cuDNN facade on the way from a part to who asked for it. */
static const struct wc_object *asking_facade(const struct wc_stack *s, const struct wc_object *o) {
    for (int i = 0; o && i < CHAIN_MOST; i++) {
        o = wc_object_of(s, o->r.asked_by_object, o->r.asked_by);
        if (o && o->r.role == WC_role_FACADE)
            return o;
    }
    return NULL;
}

/* How many facades could a part nobody of cuDNN asked for work for? `near`: in its installation. */
static size_t rivals(const struct wc_stack *s, const struct wc_object *part, bool near) {
    size_t n = 0;

    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object *o = &s->objects.p[i];
        n += o->r.role == WC_role_FACADE && o->r.mapped && same_major(o, part) &&
             (!near || wc_same_installation(o, part));
    }
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
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object *o = &s->objects.p[i];
        if (o->r.role == WC_role_FACADE && wc_in_set(s, library, o))
            return o;
    }
    return NULL;
}

/* ---- a host's libraries ---- */

/* A facade that is still mapped beats one that is gone, a facade beats a part: what is weaker than
 * what is there is not taken, what is stronger replaces it. */
static int strength(const struct wc_object *o) {
    return 2 * o->r.mapped + (o->r.role == WC_role_FACADE);
}

static void add(struct wc_uses *out, const struct wc_object *library) {
    for (size_t i = 0; i < out->n; i++)
        if (out->library[i] == library)
            return;
    if (out->n && strength(library) > strength(out->library[0]))
        out->n = 0;
    if (out->n && strength(library) < strength(out->library[0]))
        return;
    if (out->n < WC_USES_MOST)
        out->library[out->n++] = library;
}

/* host -> its framework's stubs -> facade: follows up to LAYERS_MOST layers. */
static void by_bindings(const struct wc_stack *s, const struct wc_object *host, int layers,
                        struct wc_uses *out) {
    const struct wc_object *via = NULL;

    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *b = &s->bindings.p[i].r;
        const struct wc_object *target;
        if (!wc_means(host, b->host, b->host_path))
            continue;
        target = wc_object_of(s, b->target, b->target_path);
        if (wc_is_cudnn(target))
            add(out, target);
        else if (target && target != host)
            via = target;
    }
    if (!out->n && via && layers > 0)
        by_bindings(s, via, layers - 1, out);
    for (size_t i = 0; via && !out->n && i < s->objects.n; i++)
        if (wc_is_cudnn(&s->objects.p[i]) &&
            wc_brought_by(s, &s->objects.p[i], via->r.object, via->r.path))
            add(out, &s->objects.p[i]);
}

static bool needs(const struct wc_object *host, const struct wc_object *library) {
    for (size_t i = 0; i < host->r.needed.n; i++)
        if (host->r.needed.p[i] && (wc_str_same(host->r.needed.p[i], library->r.soname) ||
                                    wc_str_same(host->r.needed.p[i], library->r.asked_name)))
            return true;
    return false;
}

static bool asked_for(const struct wc_object *host, const struct wc_object *library) {
    return wc_means(host, library->r.asked_by_object, library->r.asked_by);
}

static void all_that(bool (*test)(const struct wc_object *, const struct wc_object *),
                     const struct wc_stack *s, const struct wc_object *host, struct wc_uses *out) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (wc_is_cudnn(&s->objects.p[i]) && test(host, &s->objects.p[i]))
            add(out, &s->objects.p[i]);
}

/* cuDNN linked into the host itself, or asked for in vain: another one's facade is none of its
 * business. */
static bool has_none_of_its_own(const struct wc_stack *s, const struct wc_object *host) {
    struct wc_name n;

    for (size_t i = 0; i < s->bindings.n; i++) {
        const struct wc_binding_record *b = &s->bindings.p[i].r;
        if (b->how == WC_binding_how_ITSELF && wc_means(host, b->host, b->host_path))
            return true;
    }
    for (size_t i = 0; i < s->failures.n; i++) {
        const struct wc_failure_record *f = &s->failures.p[i].r;
        wc_name_read(f->name, &n);
        if (n.kind == WC_NAME_FACADE && wc_means(host, f->caller_object, f->caller))
            return true;
    }
    return false;
}

static void the_only_one(const struct wc_stack *s, struct wc_uses *out) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.role == WC_role_FACADE)
            add(out, &s->objects.p[i]);
    if (out->n > 1)
        out->n = 0;
}

void wc_uses_of(const struct wc_stack *s, const struct wc_object *host, struct wc_uses *out) {
    out->n = 0;
    by_bindings(s, host, LAYERS_MOST, out);
    if (!out->n)
        all_that(asked_for, s, host, out);
    if (!out->n)
        all_that(needs, s, host, out);
    if (!out->n && !has_none_of_its_own(s, host))
        the_only_one(s, out);
}
