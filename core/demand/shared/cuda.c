/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For which CUDA major a cuDNN or a host is made: the CUDA dependencies that it names, those that
 * it asked for, its package. CUDA dependencies say theirs by their names
 * (core/knowledge/names.def).
 */
#include "core/demand/finding.h"

enum { LEAST_WITH_MINOR = 65 }; /* cu65 was 6.5: from here on the last digit is the minor */

enum way { NEEDED, ASKED, PACKAGE, WAYS };
static const char *const sources[WAYS] = {"DT_NEEDED", "names it asked for", "package"};

int32_t wc_cuda_of(const struct wc_object *o) {
    int32_t cuda;

    if (o->r.role != WC_role_CUDA_DEPENDENCY || !o->r.mapped)
        return -1;
    cuda = wc_name_cuda(o->r.soname);
    if (cuda < 0)
        cuda = wc_name_cuda(o->r.path);
    return cuda > 0 ? cuda : -1;
}

int32_t wc_cuda_of_dependencies(const struct wc_stack *s) {
    const struct wc_object *first = WC_FIRST(o, s->objects, wc_cuda_of(o) > 0);

    return first ? wc_cuda_of(first) : -1;
}

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

bool wc_asked_by_cudnn(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_object *o = wc_caller_of(s, f);

    return o ? wc_is_cudnn(o) : wc_name_is_cudnn(f->r.caller);
}

/* What o says it by; NULL, or a text without a CUDA: it does not show it in this way. */
static const char *said_by(const struct wc_stack *s, const struct wc_object *o, enum way way) {
    const char *installation = o->r.installation;

    if (way == NEEDED) {
        WC_EACH(name, o->r.needed)
            if (wc_name_cuda(*name) > 0)
                return *name;
        return NULL;
    }
    /* Debian's package of cuDNN 8 has it in the version: 8.9.3.28-1+cuda12.1; so have wheels. */
    if (way == PACKAGE)
        return wc_cuda_in_package(installation) > 0 ? installation : o->r.installation_version;
    /* Asked for by it and loaded, or without success. */
    WC_EACH(other, s->objects) {
        const struct wc_object_record *r = &other->r;
        if (r->role == WC_role_CUDA_DEPENDENCY && wc_means(o, r->asked_by_object, r->asked_by) &&
            r->asked_how != WC_operation_NEEDED && wc_name_cuda(r->asked_name) > 0)
            return r->asked_name;
    }
    WC_EACH(f, s->failures)
        if (wc_is_load(f) && wc_means(o, f->r.caller_object, f->r.caller) &&
            wc_name_cuda(f->r.name) > 0)
            return f->r.name;
    return NULL;
}

static struct wc_cuda claim_of(const struct wc_stack *s, const struct wc_object *o, enum way way) {
    const char *by = said_by(s, o, way);
    int32_t major = way == PACKAGE ? wc_cuda_in_package(by) : wc_name_cuda(by);

    return (struct wc_cuda){major > 0 ? major : -1, by, sources[way], o, false};
}

static bool belongs_to(const struct wc_stack *s, const struct wc_object *o,
                       const struct wc_object *facade) {
    return o == facade || (o->r.role == WC_role_PART && wc_in_set(s, o, facade));
}

struct wc_cuda wc_cuda_of_set(const struct wc_stack *s, const struct wc_object *facade) {
    for (enum way way = NEEDED; way < WAYS; way++)
        WC_EACH(o, s->objects)
            if (belongs_to(s, o, facade) && claim_of(s, o, way).major > 0)
                return claim_of(s, o, way);
    return (struct wc_cuda){.major = -1};
}

struct wc_cuda wc_cuda_of_host(const struct wc_stack *s, const struct wc_object *host) {
    struct wc_cuda cuda = claim_of(s, host, NEEDED);

    if (cuda.major <= 0)
        cuda = claim_of(s, host, PACKAGE);
    if (cuda.major > 0)
        return cuda;
    WC_EACH(d, s->demands) { /* nvidia-cudnn-cu12; of several CUDAs each is for an option */
        int32_t major = wc_cuda_in_package(d->r.package);
        if (major <= 0 || !wc_is_demand_by(d, host))
            continue;
        if ((cuda.major > 0 && cuda.major != major) ||
            WC_ANY(p, s->packages, p->r.shared_with.n > 0)) /* whose files there are is not known */
            return (struct wc_cuda){.major = -1};
        cuda = (struct wc_cuda){major, d->r.package, d->r.source, host, true};
    }
    return cuda;
}

void wc_case_cuda(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    const char *told = NULL;

    for (enum way way = NEEDED; way < WAYS; way++)
        WC_EACH(o, s->objects) {
            struct wc_cuda cuda = {.major = -1};
            if (belongs_to(s, o, facade))
                cuda = claim_of(s, o, way);
            if (cuda.major <= 0 || wc_str_same(told, cuda.by))
                continue;
            told = cuda.by;
            wc_case_fact_from(c, WC_FACT_MADE_FOR,
                              wc_format(c, "CUDA %d: %s, %s", cuda.major, cuda.by,
                                        wc_format_name(c, wc_path_of(o))),
                              cuda.source);
        }
}
