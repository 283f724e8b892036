/*
 * For which CUDA major a cuDNN or a host is made: the cuda_dependencies that it names, those that
 * it asked for, its package. CUDA dependencies emit theirs by their names (core/model/names.def).
 */
#include "core/findings/finding.h"

static const char needed[] = "DT_NEEDED", asked[] = "names it asked for", package[] = "package";

#define LEAST_WITH_MINOR 65 /* cu65 was 6.5: from here on the last digit is the minor */

int32_t wc_cuda_in_package(const char *text) {
    const char *p = text;

    while (p && (p = wc_str_find(p, "cu"))) {
        uint64_t n;
        size_t digits;
        p += wc_str_starts(p, "cuda") ? 4 : 2;
        p += *p == '-';
        digits = wc_parse_number(p, wc_str_length(p), &n);
        if (digits == 2 || digits == 3)
            return (int32_t)(n < LEAST_WITH_MINOR ? n : n / 10);
    }
    return -1;
}

bool wc_is_cuda_dependency(const struct wc_object *o, int32_t *cuda) {
    *cuda = -1;
    if (o->r.role != WC_role_CUDA_DEPENDENCY || !o->r.mapped)
        return false;
    *cuda = wc_name_cuda(o->r.soname);
    if (*cuda < 0)
        *cuda = wc_name_cuda(o->r.path);
    return *cuda > 0;
}

bool wc_asked_by_cudnn(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_object *o = wc_object_of(s, f->r.caller_object, f->r.caller);

    return o ? wc_is_cudnn(o) : wc_kind_is_cudnn(wc_name_kind_of(f->r.caller));
}

static struct wc_cuda claim(int32_t major, const char *by, const struct wc_object *of,
                            const char *source) {
    return (struct wc_cuda){major > 0 ? major : -1, by, of, source};
}

static struct wc_cuda by_needed(const struct wc_object *o) {
    for (size_t i = 0; i < o->r.needed.n; i++)
        if (wc_name_cuda(o->r.needed.p[i]) > 0)
            return claim(wc_name_cuda(o->r.needed.p[i]), o->r.needed.p[i], o, needed);
    return claim(-1, NULL, o, needed);
}

/* Asked for by it and loaded, or in vain. */
static struct wc_cuda by_asking(const struct wc_stack *s, const struct wc_object *o) {
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object_record *r = &s->objects.p[i].r;
        if (r->role == WC_role_CUDA_DEPENDENCY && wc_means(o, r->asked_by_object, r->asked_by) &&
            r->asked_how != WC_operation_NEEDED && wc_name_cuda(r->asked_name) > 0)
            return claim(wc_name_cuda(r->asked_name), r->asked_name, o, asked);
    }
    for (size_t i = 0; i < s->failures.n; i++) {
        const struct wc_failure *f = &s->failures.p[i];
        if (wc_is_load(f) && wc_means(o, f->r.caller_object, f->r.caller) &&
            wc_name_cuda(f->r.name) > 0)
            return claim(wc_name_cuda(f->r.name), f->r.name, o, asked);
    }
    return claim(-1, NULL, o, asked);
}

/* Debian's package of cuDNN 8 has it in the version: 8.9.3.28-1+cuda12.1; so has PyTorch. */
static struct wc_cuda by_package(const struct wc_object *o) {
    int32_t major = wc_cuda_in_package(o->r.installation);

    if (major > 0)
        return claim(major, o->r.installation, o, package);
    return claim(wc_cuda_in_package(o->r.installation_version), o->r.installation_version, o,
                 package);
}

/* The i-th way of the three. */
static struct wc_cuda claim_of(const struct wc_stack *s, const struct wc_object *o, int way) {
    return way == 0 ? by_needed(o) : way == 1 ? by_asking(s, o) : by_package(o);
}

enum { WAYS = 3 };

static bool of_set(const struct wc_stack *s, const struct wc_object *o,
                   const struct wc_object *facade) {
    return o == facade || (o->r.role == WC_role_PART && wc_in_set(s, o, facade));
}

struct wc_cuda wc_cuda_of_set(const struct wc_stack *s, const struct wc_object *facade) {
    for (int way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < s->objects.n; i++) {
            struct wc_cuda cuda;
            if (!of_set(s, &s->objects.p[i], facade))
                continue;
            cuda = claim_of(s, &s->objects.p[i], way);
            if (cuda.major > 0)
                return cuda;
        }
    }
    return claim(-1, NULL, facade, package);
}

struct wc_cuda wc_cuda_of_host(const struct wc_object *host) {
    struct wc_cuda cuda = by_needed(host);

    return cuda.major > 0 ? cuda : by_package(host);
}

void wc_case_cuda(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    const char *told = NULL;

    for (int way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < s->objects.n; i++) {
            const struct wc_object *o = &s->objects.p[i];
            struct wc_cuda cuda;
            if (!of_set(s, o, facade))
                continue;
            cuda = claim_of(s, o, way);
            if (cuda.major <= 0 || wc_str_same(told, cuda.by))
                continue;
            told = cuda.by;
            wc_case_fact(c, "made for",
                         wc_format(c, "CUDA ", wc_format_number(c, cuda.major), ": ", cuda.by, ", ",
                                   wc_format_name(c, wc_path_of(o)), NULL),
                         cuda.source);
        }
    }
}
