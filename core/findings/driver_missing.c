/*
 * driver-missing: libcuda, which comes with NVIDIA's driver, cannot be had. Told by the loader, or
 * by cudnnCreate on a computer that shows no driver and no GPU. Then the failed cudnnCreate is no
 * finding of its own: it is a fact of this one. A toolkit brings a libcuda to link with, which does
 * nothing: loaded in the driver's place it is none.
 */
#include "finding.h"

enum { MISSING_NAME = 128 };

struct signs {
    const struct wc_failure *request; /* the first one for libcuda itself */
    const struct wc_failure *victim;  /* a library that did not come in for want of it */
    const struct wc_call *call;       /* the first call that returned NOT_INITIALIZED */
    const struct wc_object *stub;     /* a libcuda that is none */
    bool by_host, by_cudnn;           /* who asked for it */
    bool gpu_wanted;                  /* a call was made that needs a GPU */
};

static bool is_driver(const char *name) {
    struct wc_name n;

    wc_name_read(name, &n);
    return n.kind == WC_NAME_DRIVER;
}

static bool not_initialized(const struct wc_stack *s, const struct wc_call *call) {
    const struct wc_object *target = wc_object_of(s, call->r.target, call->r.target_path);

    return call->r.phase == WC_phase_AFTER && call->r.status != WC_NULL &&
           wc_status_sort(call->r.status, target ? wc_major_of(target) : -1) ==
               WC_STATUS_NOT_INITIALIZED;
}

static void note_asker(const struct wc_stack *s, const struct wc_failure *f, struct signs *signs) {
    const struct wc_object *o = wc_object_of(s, f->r.caller_object, f->r.caller);

    signs->by_cudnn = signs->by_cudnn || (o && wc_is_cudnn(o));
    signs->by_host = signs->by_host || (o && !wc_is_cudnn(o) && wc_wants_cudnn(o));
}

/* What cuDNN answers without a GPU: its version, the text of a status. */
static bool is_query(const char *function) {
    return wc_str_starts(function, "cudnnGet") || wc_str_ends(function, "VersionCheck");
}

static void read_failures(const struct wc_stack *s, struct signs *signs) {
    char missing[MISSING_NAME];
    struct wc_bad_file bad;

    for (size_t i = 0; i < s->failures.n; i++) {
        const struct wc_failure *f = &s->failures.p[i];
        /* bad-file and wrong-name emit it */
        if (!wc_is_load(f) || wc_failed_for_file(s, f, &bad) || wc_failed_for_name(s, f))
            continue;
        if (is_driver(f->r.name)) {
            if (!signs->request)
                signs->request = f;
            note_asker(s, f, signs);
        } else if (!signs->victim && wc_failed_dependency(f, missing, sizeof missing) &&
                   is_driver(missing)) {
            signs->victim = f;
        }
    }
}

static void read_calls(const struct wc_stack *s, struct signs *signs) {
    for (size_t i = 0; i < s->calls.n; i++) {
        const struct wc_call *call = &s->calls.p[i];
        if (call->r.function && !is_query(call->r.function))
            signs->gpu_wanted = true;
        if (!signs->call && not_initialized(s, call))
            signs->call = call;
    }
}

/* Nothing of a driver or a GPU to be seen: not in the kernel, not in /dev. */
static bool bare_machine(const struct wc_stack *s) {
    return s->has_machine && !s->machine.driver && s->machine.gpu_devices == 0;
}

static void machine_facts(struct wc_case *c) {
    const struct wc_machine_record *m = &c->d->s->machine;

    if (!c->d->s->has_machine)
        return;
    wc_case_fact(c, "kernel module", m->driver ? m->driver : "none loaded",
                 "/proc/driver/nvidia/version");
    if (m->gpu_devices != WC_NULL)
        wc_case_fact(c, "GPU devices", wc_format_number(c, m->gpu_devices), "/dev/nvidia*");
    wc_case_fact(c, "container", m->container, "marks of a container");
}

static void call_facts(struct wc_case *c) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->calls.n; i++) {
        const struct wc_call_record *r = &s->calls.p[i].r;
        if (not_initialized(s, &s->calls.p[i]))
            wc_case_fact(c, "init-failed",
                         wc_format(c, r->function ? r->function : "a call", " returned ",
                                   wc_format_number(c, r->status), " ",
                                   r->status_name ? r->status_name : "CUDNN_STATUS_NOT_INITIALIZED",
                                   NULL),
                         "returned status");
    }
}

static void failure_facts(struct wc_case *c, const struct wc_failure *f) {
    if (!f)
        return;
    wc_case_request(c, f);
    wc_case_fact(c, "asked by", f->r.caller, "loader request");
}

static void fixes(struct wc_case *c, const struct wc_object *stub) {
    const struct wc_stack *s = c->d->s;
    const char *driver = s->has_machine ? s->machine.driver : NULL;

    if (stub && !wc_fix_search_path(c, stub))
        wc_case_fix(
            c, WC_ACTION_REMOVE,
            wc_format(c, "take the stub out of the loader's search: ", wc_path_of(stub), NULL),
            NULL);
    if (s->has_machine && s->machine.container)
        wc_case_fix(c, WC_ACTION_DRIVER,
                    "start the container with its GPUs: docker and podman --gpus all, Kubernetes a "
                    "limit of nvidia.com/gpu, Apptainer --nv",
                    NULL);
    if (driver)
        wc_case_fix(
            c, WC_ACTION_DRIVER,
            wc_format(c, "install the driver's libraries of the release of the kernel module, ",
                      driver, NULL),
            NULL);
    else
        wc_case_fix(c, WC_ACTION_DRIVER,
                    "on a computer with an NVIDIA GPU: install NVIDIA's driver; without one there "
                    "is nothing to repair, cuDNN cannot run here",
                    NULL);
    wc_case_fix(c, WC_ACTION_CHECK, "ask the driver what it sees", "nvidia-smi");
}

static const char *title(struct wc_case *c, const struct signs *signs) {
    const struct wc_call_record *r = signs->call ? &signs->call->r : NULL;

    if (signs->stub)
        return wc_format(c, "no NVIDIA driver: the libcuda that is loaded is a stub for linking, ",
                         wc_path_of(signs->stub), NULL);
    if (signs->victim)
        return wc_format(c, wc_format_name(c, signs->victim->r.name),
                         " could not be loaded: no NVIDIA driver, libcuda.so.1 was not found",
                         NULL);
    if (r)
        return wc_format(
            c, "no NVIDIA driver here: ", r->function ? r->function : "a call", ", called by ",
            r->host_path ? wc_format_name(c, r->host_path) : "the host", ", failed", NULL);
    return wc_format(c, "no NVIDIA driver: ", wc_format_caller(c, signs->request), " asked for ",
                     wc_format_name(c, signs->request->r.name), ", which was not found", NULL);
}

void wc_find_driver_missing(struct wc_diagnosis *d) {
    struct signs signs = {.request = NULL};
    struct wc_case c;

    signs.stub = wc_driver_library(d->s);
    if (signs.stub &&
        !wc_is_stub(signs.stub->r.real_path ? signs.stub->r.real_path : signs.stub->r.path))
        return;
    read_failures(d->s, &signs);
    read_calls(d->s, &signs);
    if (!signs.stub && !signs.request && !signs.victim && !(signs.call && bare_machine(d->s)))
        return;
    bool felt = signs.stub || signs.victim || signs.call || signs.by_host ||
                (signs.by_cudnn && signs.gpu_wanted);
    if (!felt && signs.by_cudnn)
        return; /* a part asks when it is loaded, long before anybody needs the driver */
    wc_case_begin(&c, d);
    c.r.title = title(&c, &signs);
    /* A CUDA dependency's question whether there is a GPU, after which the host goes on: worth
     * knowing.
     */
    if (!felt)
        c.r.severity = WC_severity_NOTE;
    if (signs.call)
        c.r.host = signs.call->r.host;
    if (signs.stub)
        wc_case_fact(&c, "libcuda", wc_path_of(signs.stub), "link map");
    failure_facts(&c, signs.victim);
    failure_facts(&c, signs.request);
    machine_facts(&c);
    call_facts(&c);
    fixes(&c, signs.stub);
    wc_case_end(&c);
}
