/* SPDX-License-Identifier: Apache-2.0 */
/*
 * init-failed, call-failed: what a call returned. A symptom most of the time: explained by what was
 * found before it, reported only where nothing explains it. "Not supported" is not a failure.
 */
#include "core/demand/finding.h"

/* A warning where the program continued without it, a cause all the same. NULL: it is none. */
static const char *warned_of(const struct wc_diagnosis *d, const char *id) {
    return WC_ANY(r, *d->out, r->severity > WC_severity_NOTE && wc_str_same(r->id, id)) ? id : NULL;
}

static const char *cause_of(const struct wc_diagnosis *d, const struct wc_call_record *r) {
    switch (wc_sort_of_call(d->s, r)) {
    case WC_STATUS_VERSIONS_DIFFER:
        return wc_found_before(d, r->target, "facade-and-parts-differ", "parts-differ",
                               "installation-mixed", "installation-incomplete", NULL);
    case WC_STATUS_PART_UNAVAILABLE:
        return wc_found_before(d, r->target, "part-missing", "cuda-major-differs",
                               "dependency-missing", "cuda-dependency-differs",
                               "facade-and-parts-differ", "parts-differ", NULL);
    default:
        return wc_found_before(d, r->target, "cuda-major-differs", "dependency-missing",
                               "cuda-dependency-differs", "part-missing", "major-differs",
                               "facade-and-parts-differ", "parts-differ", "missing-symbols",
                               "driver-missing", "driver-mixed", "driver-too-old",
                               "gpu-unsupported", NULL)
                   ?: warned_of(d, "driver-missing")
                   ?: wc_str_same(r->function, "cudnnCreate") ? NULL /* an older one is created, too */
                                                              : warned_of(d, "runtime-too-old");
    }
}

static void emit(struct wc_diagnosis *d, const struct wc_call_record *r) {
    const struct wc_object *target = wc_object_of(d->s, r->target, r->target_path);
    const char *name =
        r->status_name ?: wc_status_name(r->status, target ? wc_major_of(target) : -1);
    const struct wc_object *driver = d->s->process.forked ? wc_driver_library(d->s) : NULL;
    const char *libcuda = NULL, *source = r->source ?: "watched call";
    struct wc_case *c = wc_case_begin(d, NULL, NULL);

    c->r.explained_by = cause_of(d, r);
    /* Where the parent requested for the driver, the parent may have begun to use it. A child's
     * log begins with its two heads, and with what it inherited. */
    if (!c->r.explained_by && wc_sort_of_call(d->s, r) == WC_STATUS_NOT_INITIALIZED && driver &&
        driver->r.request != WC_NULL && driver->seq == driver - d->s->objects.p + 3)
        libcuda = driver->r.path;
    c->r.title = wc_format(c, "%s, called by %s, returned %s%s",
                           r->function ? wc_format_name(c, r->function) : "a call",
                           r->host_path ? wc_format_name(c, r->host_path) : "the host",
                           name ?: wc_format(c, "%jd", r->status),
                           libcuda ? ", in a child forked after the driver was loaded" : "");
    c->r.host = r->host;
    c->r.object = r->target;
    if (c->r.explained_by && !wc_found_before(d, WC_NULL, c->r.explained_by, NULL))
        c->effect = WC_EFFECT_DOUBTED; /* as its cause */
    wc_case_fact_from(c, WC_FACT_CALL, r->function, source);
    wc_case_fact_from(c, WC_FACT_STATUS, wc_format(c, "%jd%s%s", r->status, name ? " " : "", name),
                      r->source ?: "returned status");
    wc_case_fact_from(c, WC_FACT_HOST, r->host_path, source);
    wc_case_library(c, WC_FACT_LIBRARY, target);
    wc_case_fact(c, WC_FACT_BEFORE_THE_FORK, libcuda);
    wc_case_fact(c, WC_FACT_DRIVER, d->s->machine.driver);
    wc_case_variable(c, "CUDA_VISIBLE_DEVICES");
    wc_case_end(c);
}

static void emit_all(struct wc_diagnosis *d, bool creation) {
    WC_EACH(call, d->s->calls) {
        enum wc_status_sort sort = wc_sort_of_call(d->s, &call->r);
        /* driver-missing carries these calls as its own facts. */
        bool reported = sort == WC_STATUS_NOT_INITIALIZED && warned_of(d, "driver-missing");
        /* The same function of the same library with the same status is reported once. */
        bool again = WC_FIRST(like, d->s->calls,
                              like->r.phase == call->r.phase && like->r.status == call->r.status &&
                                  like->r.target == call->r.target &&
                                  wc_str_same(like->r.function, call->r.function)) != call;
        if (wc_str_same(call->r.function, "cudnnCreate") == creation && sort != WC_STATUS_SUCCESS &&
            sort != WC_STATUS_ANSWER && !reported && !again)
            emit(d, &call->r);
    }
}

void wc_find_init_failed(struct wc_diagnosis *d) {
    emit_all(d, true);
}

void wc_find_call_failed(struct wc_diagnosis *d) {
    emit_all(d, false);
}
