/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu-stack-not-reached, cpu-only-build: a framework is in the process and has no cuDNN. Either it
 * is a build without CUDA, or something that it asked for did not exist and it continues without.
 */
#include "core/knowledge/frameworks.h"
#include "core/demand/finding.h"
#include "core/packages/identify.h"

static bool is_first_of_framework(const struct wc_stack *s, const struct wc_object *main) {
    return main->r.framework && main->r.mapped &&
           WC_FIRST(o, s->objects, o->r.mapped && wc_str_same(o->r.framework, main->r.framework)) ==
               main;
}

static void framework_facts(struct wc_case *c, const struct wc_object *o) {
    wc_case_fact(c, WC_FACT_FRAMEWORK, wc_path_of(o));
    wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, o));
}

/* "NAME 2.5.1+cpu" */
static const char *format_framework(struct wc_case *c, const struct wc_object *o) {
    const char *version = o->r.installation_version;

    return wc_format(c, "%s%s%s", o->r.framework, version ? " " : "", version);
}

/* ---- gpu-stack-not-reached ---- */

static bool is_of_cuda(const char *name, const struct wc_object *main) {
    return wc_name_kind_of(name) != WC_NAME_OTHER ||
           (name && wc_str_same(wc_base_name(name), wc_base_name(main->r.gpu_library)));
}

static bool stopped(const struct wc_stack *s, const struct wc_failure *f,
                    const struct wc_object *main) {
    return wc_is_load(f) && f->r.name && !wc_mapped_as(s, f->r.name) &&
           (is_of_cuda(f->r.name, main) || is_of_cuda(f->needs, main));
}

static void look_for_what_stopped(struct wc_diagnosis *d, const struct wc_object *main) {
    const struct wc_failure *first =
        WC_FIRST(f, d->s->failures, main->r.gpu_library && stopped(d->s, f, main));
    const char *missing = first ? wc_base_name(wc_missing_of(first)) : NULL;
    const bool is_driver = wc_name_kind_of(missing) == WC_NAME_DRIVER;

    /* It is reported by an error, or by what is none where the process does well without. */
    if (!first || wc_has_error(d) ||
        WC_ANY(r, *d->out,
               wc_str_same(r->id, "library-not-found") ||
                   wc_str_same(r->id, "dependency-missing") ||
                   (is_driver && wc_str_same(r->id, "driver-missing"))))
        return;
    struct wc_case *c = wc_case_begin(d, main, NULL);
    c->r.title = wc_format(c, "%s has loaded no cuDNN: %s, which it asked for, could not be loaded",
                           format_framework(c, main), wc_format_name(c, missing));
    framework_facts(c, main);
    wc_case_fact(c, WC_FACT_LIBRARY_FOR_GPUS, main->r.gpu_library);
    WC_EACH(f, d->s->failures)
        if (stopped(d->s, f, main)) {
            wc_case_request(c, f);
            wc_case_asked_by(c, f);
        }
    wc_case_variable(c, "LD_LIBRARY_PATH");
    wc_case_variable(c, "CUDA_VISIBLE_DEVICES");
    wc_case_end(c);
}

void wc_find_gpu_stack_not_reached(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects)
        if (is_first_of_framework(d->s, o) && !WC_ANY(any, d->s->objects, wc_is_cudnn(any)))
            look_for_what_stopped(d, o);
}

/* ---- cpu-only-build ---- */

/* Not by its library for GPUs, which a program may open by itself. */
static bool is_by_framework(const struct wc_object *by, const struct wc_object *main) {
    return by && wc_str_same(by->r.framework, main->r.framework) &&
           !wc_str_same(by->r.path, main->r.gpu_library);
}

/* In the folder of a framework, by its main library. */
static bool is_in_module(const char *file, const struct wc_object *main) {
    const char *path = wc_path_of(main) ?: "";
    const size_t site = wc_environment_length(path);
    const char *end = site ? wc_str_find_char(path + site + 1, '/') : NULL;

    return end && file && wc_is_below(file, path, (size_t)(end - path));
}

static void report_build(struct wc_diagnosis *d, const struct wc_object *o) {
    const struct wc_framework *f = wc_framework_named(o->r.framework);
    /* Where others have the GPU it may be intended: surely where a package requires this build. */
    bool may_be_meant = !o->r.gpu_library && WC_ANY(any, d->s->objects, wc_is_cudnn(any));

    if (may_be_meant &&
        (o->r.required_by ||
         WC_ANY(host, d->s->objects,
                wc_wants_cudnn(host) && wc_str_same(host->r.framework, o->r.framework))))
        return;
    /* A framework whose CUDA builds are not known cannot lack it. */
    if (!f || !f->gpu_libraries)
        return;
    /* A scan, or a program, that loads it by itself shows nothing of what the package asks for. */
    const struct wc_object *gpu =
        WC_FIRST(got, d->s->objects, got->r.mapped && wc_str_same(got->r.path, o->r.gpu_library));
    const bool is_alone =
        d->s->replayed || !gpu ||
        (gpu->r.asked_by &&
         !is_by_framework(wc_object_of(d->s, gpu->r.asked_by_object, gpu->r.asked_by), o));
    const bool is_put_over = o->r.gpu_library && f->put_over && is_alone &&
                             o->r.installation_kind == WC_installation_kind_WHEEL &&
                             wc_str_same(o->r.installation, f->put_over);
    /* What asks for CUDA or the driver is built with it, and so is a package that names a CUDA:
     * cuDNN may be linked into it (apache/mxnet#8800). */
    if ((o->r.gpu_library && !is_put_over) ||
        (o->r.installation && wc_cuda_in_package(o->r.installation) > 0) ||
        WC_ANY(a, d->s->failures,
               stopped(d->s, a, o) && is_by_framework(wc_caller_of(d->s, a), o)) ||
        WC_ANY(got, d->s->objects,
               wc_name_kind_of(got->r.soname) != WC_NAME_OTHER &&
                   is_by_framework(wc_object_of(d->s, got->r.asked_by_object, got->r.asked_by), o)))
        return;
    struct wc_case *c = wc_case_begin(d, o, NULL);
    /* Of the build with CUDA libraries are there, too, and asked for (tensorflow#13973). */
    const struct wc_failure *felt =
        WC_FIRST(a, d->s->failures,
                 wc_ended_badly(d->s) && (stopped(d->s, a, o) || a->reason == WC_REASON_SYMBOL) &&
                     is_in_module(a->said.file ?: a->r.name, o));
    c->effect = may_be_meant ? WC_EFFECT_NONE : felt ? WC_EFFECT_FELT : WC_EFFECT_DOUBTED;
    c->r.title =
        wc_format(c,
                  is_put_over ? "%s, a build without CUDA, overwrote files of the one with CUDA"
                              : "%s is a build without CUDA: it never loads cuDNN",
                  format_framework(c, o));
    framework_facts(c, o);
    wc_case_fact(c, WC_FACT_OF_ANOTHER_PACKAGE, o->r.gpu_library);
    WC_EACH_TEXT(beside, o->r.gpu_library ? NULL : f->gpu_libraries)
        wc_case_fact_from(c, WC_FACT_IS_NOT_THERE, **beside ? *beside : "cuDNN's functions",
                          **beside ? "files next to it" : "function table");
    wc_case_fact(c, WC_FACT_REQUIRED_BY, o->r.required_by);
    if (felt)
        wc_case_request(c, felt);
    for (size_t i = 0; felt && i < d->out->n; i++)
        if (is_in_module(wc_fact_value(&d->out->p[i], WC_FACT_ASKED_FOR), o))
            d->out->p[i].explained_by = c->r.id;
    wc_case_end(c);
}

void wc_find_cpu_only_build(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects)
        if (is_first_of_framework(d->s, o))
            report_build(d, o);
}
