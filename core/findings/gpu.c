/*
 * gpu-unsupported: the computer's GPUs against what the release of cuDNN in use has code for. The
 * GPUs are known only where `whichcudnn run` has asked NVML for them.
 */
#include "finding.h"

enum { FACADES_MOST = 16 };

static const struct row {
    const char *first, *last, *least, *most;
    bool goes_on;
} rows[] = {
#define GPUS(first, last, least, most, goes_on) {first, last, least, most, goes_on},
#include "core/findings/shared/gpus.def"
};

static struct wc_version parsed(const char *text) {
    struct wc_version v = WC_VERSION_NONE;

    wc_version_parse(text, wc_str_length(text), &v);
    return v;
}

/* A last release of two fields has all its patches. */
static const struct row *row_of(struct wc_version release) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wc_version last = parsed(rows[i].last);
        if (wc_version_compare(release, parsed(rows[i].first)) >= 0 &&
            (!*rows[i].last || wc_version_agree(release, last) ||
             wc_version_compare(release, last) < 0))
            return &rows[i];
    }
    return NULL;
}

/* "NVIDIA A100-SXM4-40GB, 8.0": what stands behind the last comma. */
static struct wc_version capability_of(const char *gpu) {
    const char *at = NULL;

    for (const char *p = gpu; p && *p; p++)
        if (p[0] == ',' && p[1] == ' ')
            at = p + 2;
    return at ? parsed(at) : WC_VERSION_NONE;
}

static bool is_too_old(const struct row *row, struct wc_version gpu) {
    return wc_version_compare(gpu, parsed(row->least)) < 0;
}

static bool is_too_new(const struct row *row, struct wc_version gpu) {
    return *row->most && gpu.major > parsed(row->most).major;
}

struct fit {
    size_t known, old, new;
    const char *first; /* the first GPU that does not fit */
};

static struct fit fit_of(const struct wc_stack *s, const struct row *row) {
    struct fit f = {.known = 0};

    for (size_t i = 0; i < s->machine.gpus.n; i++) {
        struct wc_version gpu = capability_of(s->machine.gpus.p[i]);
        bool old, new;
        if (gpu.minor < 0)
            continue;
        old = is_too_old(row, gpu);
        new = is_too_new(row, gpu);
        f.known++;
        f.old += old;
        f.new += new;
        if ((old || new) && !f.first)
            f.first = s->machine.gpus.p[i];
    }
    return f;
}

static const char *format_range(struct wc_case *c, const struct row *row) {
    return wc_format(c, row->least, *row->most ? " to " : " and later", row->most, NULL);
}

/* The releases of this major, on the side of this one where they must be, that know the GPU. */
static const char *releases_for(struct wc_case *c, struct wc_version release, struct wc_version gpu,
                                bool newer) {
    const struct row *low = NULL, *high = NULL;
    struct wc_version end = {release.major + 1, -1, -1, -1};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wc_version first = parsed(rows[i].first);
        if (first.major != release.major || is_too_old(&rows[i], gpu) ||
            is_too_new(&rows[i], gpu) || (wc_version_compare(first, release) > 0) != newer)
            continue;
        low = low ? low : &rows[i];
        high = &rows[i];
    }
    if (!low)
        return NULL;
    if (*high->last) {
        end = parsed(high->last);
        end.minor++;
    }
    return wc_format(c, ">=", low->first, ",<", wc_format_version(c, end), NULL);
}

static void fixes(struct wc_case *c, const struct wc_object *facade, struct wc_version release,
                  const struct fit *f) {
    const char *spec = releases_for(c, release, capability_of(f->first), f->new != 0);

    if (spec)
        wc_fix_install(c, NULL, facade, spec, NULL);
    wc_case_fix(c, WC_ACTION_UPGRADE_HOST,
                wc_format(c, spec ? "or take" : "take",
                          f->new
                              ? " a newer release of the host, with a cuDNN that knows this GPU"
                              : " an older release of the host, with a cuDNN that still has code "
                                "for this GPU",
                          NULL),
                NULL);
    if (f->old + f->new < f->known)
        wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                    "or let the process see the other GPUs alone: CUDA_VISIBLE_DEVICES",
                    "nvidia-smi -L");
}

static void emit(struct wc_diagnosis *d, const struct wc_object *facade,
                 const struct wc_runtime *runtime, const struct row *row, const struct fit *f) {
    const struct wc_stack *s = d->s;
    struct wc_case c;

    wc_case_begin(&c, d);
    /* One of several, or a GPU on which part of it runs: it may not be felt. */
    if (f->old + f->new < f->known || (!f->old && row->goes_on && !wc_a_call_failed(s)))
        c.r.severity = WC_severity_WARNING;
    c.r.title = wc_format(&c, "cuDNN ", wc_format_range(&c, &runtime->range), " has no code",
                          f->old || !row->goes_on ? "" : " of its own", " for ", f->first,
                          ": it is made for ", format_range(&c, row), NULL);
    c.r.object = facade->r.object;
    c.r.predicted = runtime->predicted;
    wc_case_library(&c, "cuDNN", facade);
    wc_case_fact(&c, "runtime version", wc_format_range(&c, &runtime->range),
                 runtime->range.source);
    wc_case_fact(&c, "compute capability", format_range(&c, row), "NVIDIA, cuDNN support matrix");
    for (size_t i = 0; i < s->machine.gpus.n; i++)
        wc_case_fact(&c, "GPU", s->machine.gpus.p[i], "NVML");
    wc_case_fact(&c, "CUDA_VISIBLE_DEVICES", wc_variable(s, "CUDA_VISIBLE_DEVICES"),
                 "environment at process start");
    fixes(&c, facade, runtime->range.low, f);
    wc_case_end(&c);
}

static void elf_file(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct wc_runtime runtime = wc_runtime_of(d->s, facade);
    const struct row *row = runtime.range.exact ? row_of(runtime.range.low) : NULL;
    struct fit f;

    if (!row)
        return;
    f = fit_of(d->s, row);
    if (f.first)
        emit(d, facade, &runtime, row, &f);
}

void wc_find_gpu_unsupported(struct wc_diagnosis *d) {
    size_t facades = 0;

    if (!d->s->has_machine)
        return;
    for (size_t i = 0; i < d->s->objects.n && facades < FACADES_MOST; i++) {
        if (d->s->objects.p[i].r.role != WC_role_FACADE || !d->s->objects.p[i].r.mapped)
            continue;
        facades++;
        elf_file(d, &d->s->objects.p[i]);
    }
}
