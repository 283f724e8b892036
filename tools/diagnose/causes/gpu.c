/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu-unsupported: the machine's GPUs against what the release of cuDNN in use has code for, as it
 * is made for its CUDA: packages of one release differ. The GPUs are known only where `whichcudnn
 * run` has asked NVML for them.
 */
#include "gpu.h"

#include <string.h>

#include "core/demand/finding.h"

static const struct gpu_row rows[] = {
#define GPUS(first, last, cuda, least, most, goes_on) {first, last, least, most, cuda, goes_on},
#include "core/knowledge/gpus.def"
};
const struct gpu_table gpu_table = {rows, sizeof(rows) / sizeof(rows[0])};

struct wc_version gpu_row_end(const struct gpu_row *row) {
    struct wc_version v = wc_version_of(row->last);

    if (wc_version_known(v))
        ++*(v.minor < 0 ? &v.major : &v.minor);
    return v;
}

const struct gpu_row *gpu_row_of(struct wc_version release, int32_t cuda) {
    return WC_FIRST(row, gpu_table,
                    (!row->cuda || row->cuda == cuda) &&
                        wc_version_compare(release, wc_version_of(row->first)) >= 0 &&
                        (!*row->last || wc_version_compare(release, gpu_row_end(row)) < 0));
}

enum gpu_fit gpu_fit_of(const struct gpu_row *row, const char *gpu) {
    const char *comma = gpu ? strrchr(gpu, ',') : NULL;
    const struct wc_version v = wc_version_of(comma && comma[1] == ' ' ? comma + 2 : NULL);

    if (v.minor < 0)
        return GPU_UNKNOWN;
    if (wc_version_compare(v, wc_version_of(row->least)) < 0)
        return GPU_TOO_OLD;
    return *row->most && v.major > wc_version_of(row->most).major ? GPU_TOO_NEW : GPU_FITS;
}

static void look(struct wc_diagnosis *d, const struct wc_object *facade) {
    struct wc_runtime runtime = wc_runtime_of(d->s, facade);
    int32_t cuda = wc_cuda_of_set(d->s, facade).major; /* that it is made for; -1: not known */
    const struct gpu_row *row = runtime.range.exact ? gpu_row_of(runtime.range.low, cuda) : NULL;
    const char *first = NULL; /* the first GPU that does not fit */
    bool fitting = false, old = false;

    WC_EACH(text, d->s->machine.gpus) {
        const enum gpu_fit fit = row ? gpu_fit_of(row, *text) : GPU_UNKNOWN;
        fitting = fitting || fit == GPU_FITS;
        old = old || fit == GPU_TOO_OLD;
        if (fit > GPU_FITS && !first)
            first = *text;
    }
    if (!first)
        return;
    struct wc_case *c = wc_case_begin(d, facade, NULL);
    const char *range =
        wc_format(c, *row->most ? "%s to %s" : "%s and later%s", row->least, row->most);
    /* One of several, or a GPU on which part of it runs: it may have no effect. */
    if (fitting || (!old && row->goes_on && !wc_a_call_failed(d->s)))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c,
                           old || !row->goes_on
                               ? "cuDNN %s%s has no code for %s: it is made for %s"
                               : "cuDNN %s%s has no code of its own for %s: it is made for %s",
                           wc_format_range(c, runtime.range),
                           row->cuda ? wc_format(c, " for CUDA %d", row->cuda) : "", first, range);
    c->r.predicted = runtime.predicted;
    wc_case_library(c, WC_FACT_CUDNN, facade);
    wc_case_runtime(c, &runtime);
    if (row->cuda)
        wc_case_cuda(c, facade);
    wc_case_fact(c, WC_FACT_COMPUTE_CAPABILITY, range);
    WC_EACH(gpu, d->s->machine.gpus)
        wc_case_fact(c, WC_FACT_GPU, *gpu);
    wc_case_variable(c, "CUDA_VISIBLE_DEVICES");
    wc_case_end(c);
}

void wc_find_gpu_unsupported(struct wc_diagnosis *d) {
    wc_each_facade(d, true, look);
}
