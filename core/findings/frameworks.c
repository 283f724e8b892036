/*
 * gpu-stack-not-reached, cpu-only-build: a framework is in the process and no cuDNN is. Either it
 * is a build without CUDA, or something that it asked for was not there and it goes on without.
 */
#include "core/model/frameworks.h"
#include "finding.h"

enum { MISSING_NAME = 128, FRAMEWORKS_MOST = 8 };

static bool has_cudnn(const struct wc_stack *s) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (wc_is_cudnn(&s->objects.p[i]))
            return true;
    return false;
}

static void each_framework(struct wc_diagnosis *d,
                           void (*elf_file)(struct wc_diagnosis *, const struct wc_object *)) {
    const char *seen[FRAMEWORKS_MOST];
    size_t n = 0;

    if (has_cudnn(d->s))
        return;
    for (size_t i = 0; i < d->s->objects.n && n < FRAMEWORKS_MOST; i++) {
        const struct wc_object *o = &d->s->objects.p[i];
        bool told = false;
        if (!o->r.framework || !o->r.mapped)
            continue;
        for (size_t k = 0; k < n; k++)
            told = told || wc_str_same(seen[k], o->r.framework);
        if (told)
            continue;
        seen[n++] = o->r.framework;
        elf_file(d, o);
    }
}

static void framework_facts(struct wc_case *c, const struct wc_object *o) {
    wc_case_fact(c, "framework", wc_path_of(o), "link map");
    wc_case_fact(c, "installation", wc_format_installation(c, o), "files beside it");
}

/* "torch 2.5.1+cpu" */
static const char *format_framework(struct wc_case *c, const struct wc_object *o) {
    const char *version = o->r.installation_version;

    return wc_format(c, o->r.framework, version ? " " : "", version, NULL);
}

/* ---- gpu-stack-not-reached ---- */

static bool is_of_cuda(const char *name, const struct wc_object *main) {
    struct wc_name n;

    wc_name_read(name, &n);
    return n.kind != WC_NAME_OTHER ||
           (name && main->r.gpu_library &&
            wc_str_same(wc_base_name(name), wc_base_name(main->r.gpu_library)));
}

static bool answered(const struct wc_stack *s, const char *name) {
    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.mapped && wc_answers_to(&s->objects.p[i], name))
            return true;
    return false;
}

static bool stopped(const struct wc_stack *s, const struct wc_failure *f,
                    const struct wc_object *main) {
    char missing[MISSING_NAME];

    if (!wc_is_load(f) || !f->r.name || answered(s, f->r.name))
        return false;
    return is_of_cuda(f->r.name, main) ||
           (wc_failed_dependency(f, missing, sizeof missing) && is_of_cuda(missing, main));
}

/* What an error says already needs no second finding. */
static bool is_emitted(const struct wc_diagnosis *d) {
    for (size_t i = 0; i < d->out->n; i++)
        if (d->out->p[i].severity == WC_severity_ERROR)
            return true;
    return false;
}

static void report_stopped(struct wc_diagnosis *d, const struct wc_object *main, size_t first) {
    const struct wc_stack *s = d->s;
    const struct wc_failure *f = &s->failures.p[first];
    char missing[MISSING_NAME];
    struct wc_name n;
    struct wc_case c;

    if (!wc_failed_dependency(f, missing, sizeof missing)) {
        struct wc_text t;
        wc_text_begin(&t, missing, sizeof missing);
        wc_text_add(&t, wc_base_name(f->r.name));
    }
    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, format_framework(&c, main),
                          " has loaded no cuDNN: ", wc_format_name(&c, missing),
                          ", which it asked for, could not be loaded", NULL);
    c.r.object = main->r.object;
    framework_facts(&c, main);
    wc_case_fact(&c, "library for GPUs", main->r.gpu_library, "files beside it");
    for (size_t i = first; i < s->failures.n; i++)
        if (stopped(s, &s->failures.p[i], main)) {
            wc_case_request(&c, &s->failures.p[i]);
            wc_case_fact(&c, "asked by", s->failures.p[i].r.caller, "loader request");
        }
    wc_case_fact(&c, "LD_LIBRARY_PATH", wc_variable(s, "LD_LIBRARY_PATH"),
                 "environment at process start");
    wc_case_fact(&c, "CUDA_VISIBLE_DEVICES", wc_variable(s, "CUDA_VISIBLE_DEVICES"),
                 "environment at process start");
    wc_name_read(missing, &n);
    if (n.kind == WC_NAME_CUDA_DEPENDENCY)
        wc_fix_cuda_dependency(&c, n.part, wc_name_cuda(missing), wc_format(&c, missing, NULL));
    wc_case_fix(&c, WC_ACTION_SET_VARIABLE,
                wc_format(&c, c.fixes ? "or " : "",
                          "let LD_LIBRARY_PATH name the directory that has ",
                          wc_format_name(&c, missing), " before the process starts", NULL),
                NULL);
    wc_case_end(&c);
}

static void look_for_what_stopped(struct wc_diagnosis *d, const struct wc_object *main) {
    if (!main->r.gpu_library || is_emitted(d))
        return;
    for (size_t i = 0; i < d->s->failures.n; i++)
        if (stopped(d->s, &d->s->failures.p[i], main)) {
            report_stopped(d, main, i);
            return;
        }
}

void wc_find_gpu_stack_not_reached(struct wc_diagnosis *d) {
    each_framework(d, look_for_what_stopped);
}

/* ---- cpu-only-build ---- */

/* The release without what follows "+": another build of the same is wanted. */
static const char *same_release(struct wc_case *c, const struct wc_object *o) {
    struct wc_version v;
    const char *version = o->r.installation_version;

    if (!wc_str_same(o->r.framework, o->r.installation) || !version ||
        !wc_version_parse_start(version, wc_str_length(version), &v) || v.patch < 0)
        return "";
    return wc_format(c, "==", wc_format_version(c, v), NULL);
}

static void fix_build(struct wc_case *c, const struct wc_object *o) {
    const char *package, *install, *command = NULL;

    if (wc_framework_gpu_build(o->r.framework, &package, &install))
        command = wc_format(c, *package ? "pip uninstall -y " : "", package, *package ? " && " : "",
                            "pip install '", install,
                            wc_str_same(package, install) ? same_release(c, o) : "", "'", NULL);
    wc_case_fix(c, WC_ACTION_INSTALL,
                wc_format(c, "install a build of ", o->r.framework,
                          " with CUDA; where the CPU is to do the work there is nothing to repair",
                          NULL),
                command);
}

static void report_build(struct wc_diagnosis *d, const struct wc_object *o) {
    const char *beside;
    struct wc_case c;

    if (o->r.gpu_library)
        return;
    wc_case_begin(&c, d);
    c.r.title = wc_format(&c, format_framework(&c, o),
                          " is a build without CUDA: it never loads cuDNN", NULL);
    c.r.object = o->r.object;
    framework_facts(&c, o);
    for (size_t i = 0; (beside = wc_framework_gpu_library(o->r.framework, i)); i++)
        wc_case_fact(&c, "is not there", *beside ? beside : "cuDNN's functions",
                     *beside ? "files beside it" : "function table");
    fix_build(&c, o);
    wc_case_end(&c);
}

void wc_find_cpu_only_build(struct wc_diagnosis *d) {
    each_framework(d, report_build);
}
