/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver-missing: libcuda, which comes with NVIDIA's driver, is not found, or it can reach no
 * GPU. Reported by the loader; by cudnnCreate, or by a program with libcuda in it, where the
 * machine shows why: no module in the kernel, a device file that is missing or closed, a daemon
 * that does not run, a variable that hides all GPUs. Then the failed cudnnCreate is not a finding
 * of its own: it is a fact of this one. A toolkit contains a libcuda to link with, which does
 * nothing: loaded in the driver's place it is none.
 */
#include "core/demand/finding.h"
#include "driver.h"

struct signs {
    const struct wc_failure *request; /* the first one for libcuda itself */
    const struct wc_failure *victim;  /* a library that was not loaded for lack of it */
    const struct wc_call *call;       /* the first call that returned NOT_INITIALIZED */
    const struct wc_object *libcuda;  /* that was loaded */
    bool stub;                        /* it is none */
    const char *unreached;            /* why no GPU can be reached here; NULL: not known */
    bool by_host, by_cudnn;           /* the requester */
    bool gpu_wanted;                  /* a call was made that needs a GPU */
    bool reached;                     /* one returned something else than NOT_INITIALIZED */
};

static const char *unreached(const struct wc_stack *s) {
    static const char *const hiding[] = {NULL, "CUDA_VISIBLE_DEVICES hides all",
                                         "CUDA_VISIBLE_DEVICES names a GPU that does not exist"};

    if (lacks_driver(s))
        return "the kernel module is not loaded";
    return s->machine.device_fault ?: hiding[hides_gpus(s)];
}

static bool is_driver(const struct wc_object *o) {
    return wc_name_kind_of(o->r.soname) == WC_NAME_DRIVER;
}

static bool is_stub(const struct wc_object *libcuda) {
    return wc_lies_in_a(wc_real_path_of(libcuda), "stubs");
}

static struct signs signs_of(const struct wc_stack *s) {
    struct signs signs = {.libcuda = wc_driver_library(s), .unreached = unreached(s)};

    if (!signs.libcuda && !WC_ANY(o, s->objects, is_driver(o) && !is_stub(o)))
        signs.libcuda = WC_FIRST(o, s->objects, is_driver(o)); /* which CUDA has closed (PyTorch) */
    signs.stub = signs.libcuda && is_stub(signs.libcuda);
    WC_EACH(f, s->failures) {
        const struct wc_object *asker = wc_caller_of(s, f);
        if (signs.libcuda && !signs.stub)
            break; /* it was loaded later */
        if (!wc_is_load(f) || f->reason == WC_REASON_BAD_FILE || f->reason == WC_REASON_WRONG_NAME)
            continue;
        if (wc_name_kind_of(f->r.name) == WC_NAME_DRIVER) {
            if (!signs.request)
                signs.request = f;
            signs.by_cudnn = signs.by_cudnn || wc_is_cudnn(asker);
            signs.by_host = signs.by_host || (asker && wc_wants_cudnn(asker));
        } else if (!signs.victim && wc_name_kind_of(f->needs) == WC_NAME_DRIVER) {
            signs.victim = f;
        }
    }
    WC_EACH(call, s->calls) {
        bool wants = wc_wants_gpu(call->r.function);
        signs.gpu_wanted = signs.gpu_wanted || wants;
        const bool refused = wc_sort_of_call(s, &call->r) == WC_STATUS_NOT_INITIALIZED;
        signs.reached = signs.reached || (wants && call->r.status != WC_NULL && !refused);
        if (!signs.call && refused)
            signs.call = call;
    }
    return signs;
}

static void facts(struct wc_case *c, const struct signs *signs) {
    const struct wc_failure *failures[] = {signs->victim, signs->request};
    const struct wc_stack *s = c->d->s;
    const struct wc_machine_record *m = &s->machine;

    if (signs->stub)
        wc_case_fact(c, WC_FACT_LIBCUDA, wc_path_of(signs->libcuda));
    WC_EACH_ROW(f, failures)
        if (*f) {
            wc_case_request(c, *f);
            wc_case_asked_by(c, *f);
        }
    if (s->has_machine) {
        wc_case_fact(c, WC_FACT_KERNEL_MODULE, m->driver ?: "none loaded");
        if (m->gpu_devices != WC_NULL)
            wc_case_fact(c, WC_FACT_GPU_DEVICES,
                         m->gpu_devices ? wc_format(c, "%jd", m->gpu_devices) : "none");
        wc_case_fact(c, WC_FACT_DRIVER_STATE, m->device_fault);
        wc_case_fact(c, WC_FACT_CONTAINER, m->container);
    }
    wc_case_variable(c, "CUDA_VISIBLE_DEVICES");
    WC_EACH(call, s->calls) {
        const struct wc_call_record *r = &call->r;
        if (wc_sort_of_call(s, r) == WC_STATUS_NOT_INITIALIZED)
            wc_case_fact(c, WC_FACT_INIT_FAILED,
                         wc_format(c, "%s returned %jd %s", r->function ?: "a call", r->status,
                                   r->status_name ?: "CUDNN_STATUS_NOT_INITIALIZED"));
    }
}

static const char *title(struct wc_case *c, const struct signs *signs) {
    const struct wc_call_record *r = signs->call ? &signs->call->r : NULL;

    if (signs->stub)
        return wc_format(c,
                         "no NVIDIA driver: the libcuda that is loaded is a stub for linking, %s",
                         wc_path_of(signs->libcuda));
    if (signs->victim)
        return wc_format(c, "%s could not be loaded: no NVIDIA driver, %s was not found",
                         wc_format_name(c, signs->victim->r.name),
                         wc_format_name(c, signs->victim->needs));
    if (!signs->request && (signs->libcuda || !r || !lacks_driver(c->d->s)))
        return wc_format(c, "no GPU can be reached: %s", signs->unreached);
    if (r)
        return wc_format(c, "no NVIDIA driver here: %s, called by %s, failed",
                         r->function ?: "a call",
                         r->host_path ? wc_format_name(c, r->host_path) : "the host");
    return wc_format(c, "no NVIDIA driver: %s asked for %s, which was not found",
                     wc_format_caller(c, signs->request),
                     wc_format_name(c, signs->request->r.name));
}

/* A host needs the driver, not only whether there is one. */
static bool is_felt(const struct signs *signs) {
    return signs->stub || signs->victim || signs->call || signs->by_host ||
           (signs->by_cudnn && signs->gpu_wanted);
}

/* A job that continues without the driver has not failed for it, whichever framework asked. As
 * long as its end is not known, what has failed already decides. A question in passing is blamed
 * for a failure only where nothing else is, such as a version of cuDNN that a host refuses. */
static enum wc_effect effect_of(const struct wc_diagnosis *d, const struct signs *signs) {
    const enum wc_ending ending = d->s->outcome.ending;
    bool ended = d->s->has_outcome && (ending == WC_ending_EXITED || ending == WC_ending_SIGNALED);
    bool failed = ended ? wc_ended_badly(d->s)
                        : signs->stub || signs->victim || signs->call ||
                              (signs->by_cudnn && signs->gpu_wanted);
    bool blamed = is_felt(signs) || (!wc_has_error(d) && !wc_turned_away(d->s, true));
    /* A GPU is there, in reach of this process, which continues without: not so of a machine that
     * has none, nor of a plain name, by which some only look whether it is there. */
    bool passed_by = signs->request && !wc_str_ends(signs->request->r.name, ".so") &&
                     d->s->has_machine && d->s->machine.driver && d->s->machine.gpu_devices > 0;

    if (failed && blamed)
        return WC_EFFECT_FELT;
    return is_felt(signs) || passed_by ? WC_EFFECT_DOUBTED : WC_EFFECT_NONE;
}

void wc_find_driver_missing(struct wc_diagnosis *d) {
    struct signs signs = signs_of(d->s);
    bool asked = signs.stub || signs.request || signs.victim;
    bool is_alone = signs.unreached && !wc_has_error(d);
    bool by_call = signs.call && (is_alone || lacks_driver(d->s));
    /* A missing device file is certain; what daemons do is not seen from everywhere. */
    const enum hiding hiding = hides_gpus(d->s);
    const char *fault = d->s->machine.device_fault;
    bool in_reach =
        fault ? d->s->machine.driver && wc_str_starts(fault, "/dev/") : hiding == NAMES_NO_GPU;
    bool passed_by = wc_has_ended(d->s) && hiding != HIDES_ALL && /* not meant */
                     (in_reach || lacks_driver(d->s));
    bool by_end =
        signs.libcuda && is_alone && !signs.reached && (wc_ended_badly(d->s) || passed_by);

    if (!asked && !by_call && !by_end)
        return;
    if (!is_felt(&signs) && signs.by_cudnn)
        return; /* a part asks when it is loaded, long before any call needs the driver */
    struct wc_case *c = wc_case_begin(d, NULL, NULL);
    c->r.title = title(c, &signs);
    c->effect = asked || by_call                   ? effect_of(d, &signs)
                : wc_ended_badly(d->s) || in_reach ? WC_EFFECT_DOUBTED
                                                   : WC_EFFECT_NONE;
    if (signs.call)
        c->r.host = signs.call->r.host;
    facts(c, &signs);
    wc_case_end(c);
}
