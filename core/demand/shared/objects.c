/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about single objects of a stack: see core/demand/finding.h. */
#include "core/demand/finding.h"

enum {
    CHAIN_MOST = 8, /* which object requested which: longer ones are damaged records */
    FACADES_MOST = 16,
    DIRECTORY_MOST = 511
};

bool wc_is_cudnn(const struct wc_object *o) {
    return o && (o->r.role == WC_role_FACADE || o->r.role == WC_role_PART);
}

bool wc_wants_cudnn(const struct wc_object *o) {
    return !wc_is_cudnn(o) && (o->r.role == WC_role_HOST || o->r.is_host);
}

bool wc_has_path(const struct wc_object *o, const char *path) {
    return path && (wc_str_same(path, o->r.path) || wc_str_same(path, o->r.real_path));
}

const struct wc_object *wc_object_of(const struct wc_stack *s, int64_t object, const char *path) {
    return object != WC_NULL ? wc_stack_object(s, object)
                             : WC_FIRST(o, s->objects, wc_means(o, object, path));
}

const struct wc_object *wc_caller_of(const struct wc_stack *s, const struct wc_failure *f) {
    return wc_object_of(s, f->r.caller_object, f->r.caller);
}

void wc_each_facade(struct wc_diagnosis *d, bool mapped,
                    void (*look)(struct wc_diagnosis *d, const struct wc_object *facade)) {
    size_t facades = 0;

    WC_EACH(o, d->s->objects)
        if (o->r.role == WC_role_FACADE && (o->r.mapped || !mapped) && facades++ < FACADES_MOST)
            look(d, o);
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
    size_t n = path ? wc_dir_length(path) : 0;

    if (n > DIRECTORY_MOST)
        return wc_format(c, "%.*s...", DIRECTORY_MOST, path);
    return n ? wc_format(c, "%.*s", (int)n, path) : NULL;
}

const char *wc_directory_of(struct wc_case *c, const struct wc_object *o) {
    return wc_format_directory(c, wc_real_path_of(o));
}

bool wc_lies_in(const char *path, const char *directory, size_t length) {
    return path && length && wc_dir_length(path) == length &&
           wc_mem_compare(path, directory, length) == 0;
}

bool wc_is_below(const char *path, const char *directory, size_t length) {
    return path && wc_str_length(path) > length && path[length] == '/' &&
           wc_mem_compare(path, directory, length) == 0;
}

bool wc_same_library(const char *a, const char *b, bool and_major) {
    struct wc_name x = wc_name_read(a), y = wc_name_read(b);

    return x.kind != WC_NAME_OTHER && x.kind == y.kind && wc_str_same(x.part, y.part) &&
           (!and_major || x.version.major < 0 || y.version.major < 0 ||
            x.version.major == y.version.major);
}

bool wc_kind_is_ours(enum wc_name_kind kind) {
    return wc_kind_is_cudnn(kind) || kind == WC_NAME_CUDA_DEPENDENCY;
}

int32_t wc_major_of(const struct wc_object *o) {
    if (wc_version_known(o->version))
        return o->version.major;
    if (wc_version_known(o->floor) && o->floor.major == o->ceiling.major)
        return o->floor.major;
    int32_t major = wc_name_major(o->r.soname);
    return major >= 0 ? major : wc_name_major(o->r.symbol_version);
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

const struct wc_object *wc_mapped_as(const struct wc_stack *s, const char *name) {
    return WC_FIRST(o, s->objects, o->r.mapped && wc_answers_to(o, name));
}

bool wc_lies_in_a(const char *path, const char *name) {
    size_t n = path ? wc_dir_length(path) : 0, length = wc_str_length(name);

    return n > length && path[n - length - 1] == '/' &&
           wc_mem_compare(path + n - length, name, length) == 0;
}

const struct wc_object *wc_driver_library(const struct wc_stack *s) {
    return WC_FIRST(o, s->objects,
                    o->r.mapped && (wc_name_kind_of(o->r.soname) == WC_NAME_DRIVER ||
                                    wc_name_kind_of(o->r.path) == WC_NAME_DRIVER));
}

bool wc_came_after(const struct wc_object *o, const struct wc_failure *f) {
    if (o->r.request != WC_NULL && f->r.request != WC_NULL)
        return o->r.request > f->r.request;
    return o->seq > f->seq;
}

const char *wc_variable(const struct wc_stack *s, const char *name) {
    const struct wc_strings lists[] = {s->summary.later_environment, s->process.environment};
    const size_t n = wc_str_length(name);

    WC_EACH_ROW(list, lists)
        WC_EACH(e, *list) /* a name without "=": it was unset */
            if (*e && wc_str_starts(*e, name) && ((*e)[n] == '=' || !(*e)[n]))
                return (*e)[n] ? *e + n + 1 : NULL;
    return NULL;
}

void wc_case_variable(struct wc_case *c, const char *name) {
    wc_case_named(c, name, wc_variable(c->d->s, name),
                  WC_ANY(e, c->d->s->summary.later_environment, *e && wc_str_starts(*e, name))
                      ? "environment when libcuda was looked for"
                      : "environment at process start");
}

void wc_case_about(struct wc_case *c, const struct wc_object *o) {
    if (wc_is_cudnn(o))
        c->r.object = o->r.object;
    else if (o)
        c->r.host = o->r.object;
}

/* Functions that return text or a number have no status in the record. */
enum wc_status_sort wc_sort_of_call(const struct wc_stack *s, const struct wc_call_record *r) {
    const struct wc_object *target = wc_object_of(s, r->target, r->target_path);

    if (r->phase != WC_phase_AFTER || r->status == WC_NULL)
        return WC_STATUS_SUCCESS;
    return wc_status_sort(r->status, target ? wc_major_of(target) : -1);
}

bool wc_ended_badly(const struct wc_stack *s) {
    const struct wc_outcome_record *o = &s->outcome;

    if (!s->has_outcome)
        return s->command_failed;
    return o->ending == WC_ending_SIGNALED || (o->ending == WC_ending_EXITED && o->exit_status > 0);
}

bool wc_ended_well(const struct wc_stack *s) {
    return s->has_outcome && s->outcome.ending == WC_ending_EXITED && s->outcome.exit_status == 0;
}

bool wc_failed_itself(const struct wc_stack *s) {
    bool killed = s->has_outcome ? s->outcome.ending == WC_ending_SIGNALED : s->command_signal > 0;

    return wc_ended_badly(s) && (!killed || wc_crash_of(s));
}

bool wc_has_ended(const struct wc_stack *s) {
    return s->has_outcome || s->has_summary || s->command_ended;
}

/* Its version and the text of a status cuDNN gives without a GPU. */
bool wc_wants_gpu(const char *function) {
    return function && !wc_str_starts(function, "cudnnGet") &&
           !wc_str_ends(function, "VersionCheck");
}

bool wc_turned_away(const struct wc_stack *s, bool by_version) {
    return wc_has_ended(s) && !WC_ANY(call, s->calls, wc_wants_gpu(call->r.function)) &&
           (!by_version ||
            WC_ANY(call, s->calls, wc_str_same(call->r.function, "cudnnGetVersion")));
}

bool wc_call_failed(const struct wc_stack *s, const struct wc_call_record *r) {
    enum wc_status_sort sort = wc_sort_of_call(s, r);

    return sort != WC_STATUS_SUCCESS && sort != WC_STATUS_ANSWER &&
           sort != WC_STATUS_NOT_INITIALIZED;
}

bool wc_a_call_failed(const struct wc_stack *s) {
    return WC_ANY(call, s->calls, wc_call_failed(s, &call->r));
}

/* ---- where it is ---- */

bool wc_is_grafted(const struct wc_object *o) {
    const char *path = wc_path_of(o);

    return path && wc_str_starts(wc_base_name(path), "libcudnn-");
}

bool wc_in_search_path(const struct wc_stack *s, const struct wc_object *o) {
    WC_EACH_ELEMENT(e, wc_variable(s, "LD_LIBRARY_PATH"), ":") {
        size_t n = e.n;
        while (n > 1 && e.p[n - 1] == '/')
            n--;
        if (wc_lies_in(o->r.path, e.p, n) || wc_lies_in(o->r.real_path, e.p, n))
            return true;
    }
    return false;
}

/* ---- how it ended ---- */

static const struct crash {
    const char *name;
    int64_t number; /* the same on all that Linux runs on here */
} crashes[] = {{"SIGABRT", 6}, {"SIGSEGV", 11}, {"SIGBUS", 7}, {"SIGFPE", 8}, {"SIGILL", 4}};

const char *wc_crash_of(const struct wc_stack *s) {
    const struct crash *crash =
        WC_FIRST(one, WC_ROWS(crashes),
                 s->has_outcome ? s->outcome.ending == WC_ending_SIGNALED &&
                                      wc_str_same(s->outcome.signal_name, one->name)
                                : !s->has_summary && s->command_signal == one->number);

    return crash ? crash->name : NULL;
}
