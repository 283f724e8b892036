/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"
#include "find.h"

#include <string.h>

#include "core/findings/finding.h"

const char *find_short_version(struct candidates *c, struct wc_version v) {
    char text[WC_VERSION_TEXT];

    v.build = -1;
    if (v.patch == 0)
        v.patch = -1;
    if (v.patch < 0 && v.minor == 0)
        v.minor = -1;
    return wc_arena_string(c->memory, wc_version_format(v, text));
}

const char *candidates_common(struct candidates *c, const struct wc_stack *s,
                              const struct wc_hosts *hosts) {
    struct wc_version low, high;

    if (!wc_common_releases(s, hosts, &low, &high))
        return NULL;
    if (!wc_version_known(high))
        return wc_arena_format(c->memory, ">=%s", find_short_version(c, low));
    return wc_arena_format(c->memory, ">=%s,<%s", find_short_version(c, low),
                           find_short_version(c, high));
}

const char *candidates_accepted(struct candidates *c, const struct wc_demand_record *demand) {
    const struct wc_version built = wc_version_of(demand->built);
    struct wc_version end = {built.major, built.minor, built.patch + 1, -1};

    if (demand->spec || built.patch < 0 || wc_demand_refuses(demand, built))
        return NULL;
    if (!wc_demand_refuses(demand, end))
        end = (struct wc_version){built.major, built.minor + 1, 0, -1};
    if (!wc_demand_refuses(demand, end))
        end = (struct wc_version){built.major + 1, 0, 0, -1};
    return wc_arena_format(c->memory, ">=%s,<%s", find_short_version(c, built),
                           find_short_version(c, end));
}

/* Releases that NVIDIA's own words are about: in place of a bad one, or for another GPU. */
static const struct {
    const char *bad, *instead;
} bad_releases[] = {
#define BAD_RELEASE(releases, framework, of_it, what, instead, source) {releases, instead},
#include "core/knowledge/bad_releases.def"
};

static const struct gpu_row {
    const char *first, *last, *least, *most;
    int32_t cuda;
} gpu_releases[] = {
#define GPUS(first, last, cuda, least, most, goes_on) {first, last, least, most, cuda},
#include "core/knowledge/gpus.def"
};

/* Of all GPUs it must be known that they have code: "NVIDIA B200, 10.0". What goes on without an
 * end has it for later ones, too. */
static bool knows_gpus(const struct wc_stack *s, const struct gpu_row *row) {
    WC_EACH(gpu, s->machine.gpus) {
        const char *at = strrchr(*gpu, ',');
        struct wc_version capability = wc_version_of(at && at[1] == ' ' ? at + 2 : NULL);
        if (!wc_version_known(capability) ||
            wc_version_compare(capability, wc_version_of(row->least)) < 0 ||
            (*row->most ? capability.major > wc_version_of(row->most).major : *row->last != 0))
            return false;
    }
    return s->machine.gpus.n > 0;
}

/* The first row that speaks of its releases, made for that CUDA. */
static bool is_row_for(const struct gpu_row *row, int32_t cuda) {
    if (row->cuda && row->cuda != cuda)
        return false;
    WC_EACH_ROW(other, gpu_releases)
        if (other < row && strcmp(other->first, row->first) == 0 && other->cuda == cuda)
            return false;
    return true;
}

static struct wc_version end_of(const struct gpu_row *row) {
    struct wc_version end = wc_version_of(row->last);

    if (wc_version_known(end))
        end.minor++;
    return end;
}

bool candidates_gpu_releases(const struct wc_stack *s, size_t i, struct wc_version *first,
                             struct wc_version *end) {
    const int32_t cuda = wc_cuda_of_dependencies(s);

    WC_EACH_ROW(row, gpu_releases)
        if (is_row_for(row, cuda) && knows_gpus(s, row) && i-- == 0) {
            *first = wc_version_of(row->first);
            *end = end_of(row);
            return true;
        }
    return false;
}

bool candidates_has_gpu_code(const struct wc_stack *s, struct wc_version release) {
    struct wc_version first, end;

    for (size_t i = 0; candidates_gpu_releases(s, i, &first, &end); i++)
        if (wc_version_compare(release, first) >= 0 &&
            (!wc_version_known(end) || wc_version_compare(release, end) < 0))
            return true;
    return false;
}

void find_other_releases(struct finding_of *f, const struct wc_object *facade) {
    const char *environment = find_environment_of(f, wc_path_of(facade));
    const char *package = environment ? find_package_for(f, environment, NULL) : NULL;

    if (!package)
        return;
    WC_EACH_ROW(row, bad_releases) {
        struct wc_spec bad;
        if (f->for_release && wc_spec_read(row->bad, &bad) &&
            wc_spec_accepts(&bad, facade->version) == WC_YES)
            find_add(f, find_install(package, row->instead, environment));
    }
    WC_EACH_ROW(row, gpu_releases) {
        if (!f->for_gpu || wc_version_of(row->first).major != facade->version.major ||
            !is_row_for(row, wc_cuda_in_package(package)) || !knows_gpus(f->s, row))
            continue;
        find_add(f, find_install(package,
                                 *row->last ? find_format(f, ">=%s,<%s", row->first,
                                                          find_short_version(f->out, end_of(row)))
                                            : find_format(f, ">=%s", row->first),
                                 environment));
    }
}
