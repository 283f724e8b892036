/* Questions about single objects of a stack: see core/findings/finding.h. */
#include "core/findings/finding.h"

enum { CHAIN_MOST = 8 }; /* who asked for whom: longer ones are damaged records */

bool wc_is_cudnn(const struct wc_object *o) {
    return o && (o->r.role == WC_role_FACADE || o->r.role == WC_role_PART);
}

bool wc_wants_cudnn(const struct wc_object *o) {
    return !wc_is_cudnn(o) && (o->r.role == WC_role_HOST || o->r.is_host);
}

bool wc_means(const struct wc_object *o, int64_t object, const char *path) {
    if (object != WC_NULL)
        return o->r.object == object;
    return path && (wc_str_same(path, o->r.path) || wc_str_same(path, o->r.real_path));
}

const struct wc_object *wc_object_of(const struct wc_stack *s, int64_t object, const char *path) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (wc_means(&s->objects.p[i], object, path))
            return &s->objects.p[i];
    return NULL;
}

const char *wc_path_of(const struct wc_object *o) {
    if (o->r.path && *o->r.path)
        return o->r.path;
    return o->r.real_path ? o->r.real_path : o->r.asked_name;
}

const char *wc_name_of(const struct wc_object *o) {
    return wc_is_cudnn(o) && o->r.soname ? o->r.soname : wc_path_of(o);
}

const char *wc_format_directory(struct wc_case *c, const char *path) {
    char buffer[512];
    struct wc_text t;
    size_t n = path ? wc_dir_length(path) : 0;

    if (!n)
        return NULL;
    wc_text_begin(&t, buffer, sizeof buffer);
    wc_text_add_n(&t, path, n);
    return wc_format(c, buffer, t.cut ? "..." : "", NULL);
}

const char *wc_directory_of(struct wc_case *c, const struct wc_object *o) {
    return wc_format_directory(c, o->r.real_path ? o->r.real_path : o->r.path);
}

/* From cuDNN 4 on a SONAME ends in the major alone; libcudnn.so.6.5 and .7.0 of the releases before
 * are numbered after the CUDA toolkit (docs/findings.md, "major"). */
static int32_t major_in(const char *name) {
    struct wc_name n;

    wc_name_read(name, &n);
    if (!wc_kind_is_cudnn(n.kind))
        return -1;
    return n.version.minor < 0 ? n.version.major : -1;
}

int32_t wc_major_of(const struct wc_object *o) {
    int32_t major;

    if (wc_version_known(o->version))
        return o->version.major;
    if (wc_version_known(o->floor) && o->floor.major == o->ceiling.major)
        return o->floor.major;
    major = major_in(o->r.soname);
    return major >= 0 ? major : major_in(o->r.symbol_version);
}

bool wc_brought_by(const struct wc_stack *s, const struct wc_object *o, int64_t by,
                   const char *path) {
    for (int i = 0; o && i < CHAIN_MOST; i++) {
        if (by != WC_NULL && o->r.asked_by_object == by)
            return true;
        if (path && wc_str_same(o->r.asked_by, path))
            return true;
        o = wc_object_of(s, o->r.asked_by_object, o->r.asked_by);
    }
    return false;
}

static bool same_base(const char *a, const char *b) {
    return a && b && wc_str_compare(wc_base_name(a), wc_base_name(b)) == 0;
}

bool wc_answers_to(const struct wc_object *o, const char *name) {
    return same_base(o->r.soname, name) || same_base(o->r.path, name) ||
           same_base(o->r.real_path, name) || same_base(o->r.asked_name, name);
}

static bool named_driver(const char *name) {
    struct wc_name n;

    wc_name_read(name, &n);
    return n.kind == WC_NAME_DRIVER;
}

bool wc_is_stub(const char *libcuda) {
    size_t n = libcuda ? wc_dir_length(libcuda) : 0;

    return n > 6 && wc_mem_compare(libcuda + n - 6, "/stubs", 6) == 0;
}

const struct wc_object *wc_driver_library(const struct wc_stack *s) {
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object *o = &s->objects.p[i];
        if (o->r.mapped && (named_driver(o->r.soname) || named_driver(o->r.path)))
            return o;
    }
    return NULL;
}

bool wc_came_after(const struct wc_object *o, const struct wc_failure *f) {
    if (o->r.request != WC_NULL && f->r.request != WC_NULL)
        return o->r.request > f->r.request;
    return o->seq > f->seq;
}

const char *wc_variable(const struct wc_stack *s, const char *name) {
    size_t n = wc_str_length(name);

    for (size_t i = 0; i < s->process.environment.n; i++) {
        const char *e = s->process.environment.p[i];
        if (e && wc_str_starts(e, name) && e[n] == '=')
            return e + n + 1;
    }
    return NULL;
}

bool wc_a_call_failed(const struct wc_stack *s) {
    for (size_t i = 0; i < s->calls.n; i++) {
        const struct wc_call_record *r = &s->calls.p[i].r;
        const struct wc_object *target = wc_object_of(s, r->target, r->target_path);
        enum wc_status_sort sort;
        if (r->phase != WC_phase_AFTER || r->status == WC_NULL)
            continue;
        sort = wc_status_sort(r->status, target ? wc_major_of(target) : -1);
        if (sort != WC_STATUS_SUCCESS && sort != WC_STATUS_ANSWER &&
            sort != WC_STATUS_NOT_INITIALIZED)
            return true;
    }
    return false;
}
