/* SPDX-License-Identifier: Apache-2.0 */
#include "places_inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/findings/finding.h"
#include "tools/repair/wheel_table.h"

static void add_cuda(struct finding_places *f, int32_t cuda) {
    if (cuda > 0)
        f->cudas = places_add_text(f->cuda, f->cudas, CUDAS_MOST, places_format(f, "%d", cuda));
}

void places_find_cudas(struct finding_places *f) {
    WC_EACH(host, f->s->objects)
        if (wc_wants_cudnn(host))
            add_cuda(f, wc_cuda_of_host(f->s, host).major);
    add_cuda(f, wc_cuda_of_dependencies(f->s));
    if (f->cudas == 0)
        f->cuda[f->cudas++] = NULL;
}

static const struct {
    const char *release;
    bool has[3]; /* for CUDA 11 and the next two */
} releases[] = {
#define CUDNN_RELEASE(release, cu11, cu12, cu13) {release, {cu11, cu12, cu13}},
#include "tools/knowledge/wheel_files.def"
};

/* Of one CUDA no more come out when there is a newer one: 9.10.2 was the last for 11. */
static bool is_past_last(const struct wc_spec *set, long column) {
    struct wc_version last = WC_VERSION_NONE, newest = WC_VERSION_NONE;

    WC_EACH_ROW(row, releases) {
        newest = wc_version_of(row->release);
        last = column >= 0 && column < 3 && row->has[column] ? newest : last;
    }
    return wc_version_known(last) && wc_version_compare(last, newest) < 0 &&
           wc_version_compare(wc_spec_floor(set), last) > 0;
}

const char *places_spec_for(struct finding_places *f, const char *spec, const char *cuda) {
    struct wc_version first = WC_VERSION_NONE;
    struct wc_spec set;
    char text[WC_VERSION_TEXT];
    const char *end = strchr(spec, ',');
    const long column = cuda ? strtol(cuda, NULL, 10) - 11 : -1; /* archives for 11 are older */

    WC_EACH_ROW(row, releases)
        if (column > 0 && column < 3 && row->has[column] && !wc_version_known(first))
            first = wc_version_of(row->release);
    if (column == 0 && wc_spec_read(spec, &set) && wc_spec_floor(&set).major < 8)
        first = wc_version_of("8.0.1"); /* no cuDNN before 8 came out for CUDA 11 */
    first.build = -1;
    if (wc_spec_read(spec, &set) && is_past_last(&set, column))
        return NULL;
    if (!wc_version_known(first) || !wc_spec_read(spec, &set) ||
        wc_version_compare(wc_spec_floor(&set), first) >= 0)
        return spec;
    spec = places_format(f, ">=%s%s", wc_version_format(first, text), end ? end : "");
    return wc_spec_read(spec, &set) && wc_spec_accepts(&set, first) == WC_YES ? spec : NULL;
}

/* Of cuDNN before the wheels (NVIDIA's cuDNN archive). */
static const char *const last_releases[] = {"4.0.7", "5.1.10", "6.0.21", "7.6.5"};

const char *places_newest_of(struct finding_places *f, const char *spec, const char *cuda) {
    const char *end = strchr(spec, ','), *newest;
    struct wc_version floor, last;
    struct wc_spec set;
    char text[WC_VERSION_TEXT];

    floor = wc_spec_read(spec, &set) ? wc_spec_floor(&set) : WC_VERSION_NONE;
    if (!wc_version_known(floor) || floor.minor >= 0)
        return spec;
    newest = wheel_newest(places_format(f, "nvidia-cudnn-cu%s", cuda ? cuda : "12"), spec);
    WC_EACH_ROW(row, last_releases)
        if (wc_version_of(*row).major == floor.major)
            newest = *row;
    last = newest ? wc_version_of(newest) : WC_VERSION_NONE;
    last.build = -1;
    return wc_version_known(last)
               ? places_format(f, ">=%s%s", wc_version_format(last, text), end ? end : "")
               : spec;
}

enum { CUDA_NONE = -1, CUDA_SEVERAL = 0 };

static bool read_cuda(void *cuda, const char *entry) {
    const int32_t is =
        wc_name_kind_of(entry) == WC_NAME_CUDA_DEPENDENCY ? wc_name_cuda(entry) : CUDA_NONE;
    int32_t *all = cuda;

    if (is > 0)
        *all = *all == CUDA_NONE || *all == is ? is : CUDA_SEVERAL;
    return *all != CUDA_SEVERAL;
}

static struct toolkit toolkit_in(struct finding_places *f, const char *directory) {
    char real[PATH_MAX];
    struct toolkit t = {.cuda = CUDA_NONE};

    if (!directory || !f->files->real_path(f->files->ctx, directory, real, sizeof(real)))
        return t;
    t.directory = places_format(f, "%s", real);
    f->files->list(f->files->ctx, t.directory, read_cuda, &t.cuda);
    if (t.cuda == CUDA_SEVERAL)
        t.cuda = wc_cuda_in_package(t.directory);
    return t;
}

bool places_is_toolkit(const struct toolkit *t) {
    return t->cuda > 0 && !places_is_of_system(t->directory);
}

struct toolkit places_toolkit_of(struct finding_places *f) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH"};
    const struct wc_object *o = WC_FIRST(
        one, f->s->objects,
        one->r.role == WC_role_CUDA_DEPENDENCY && !places_is_managed(one->r.installation_kind) &&
            one->r.installation_kind != WC_installation_kind_BUNDLED && wc_cuda_of(one) > 0 &&
            wc_path_of(one) && wc_path_of(one)[0] == '/' && !places_is_of_system(wc_path_of(one)));
    struct toolkit t = {.cuda = CUDA_NONE};

    if (o)
        return (struct toolkit){
            places_format(f, "%.*s", (int)wc_dir_length(wc_path_of(o)), wc_path_of(o)),
            wc_cuda_of(o)};
    if (WC_ANY(one, f->s->objects, one->r.role == WC_role_CUDA_DEPENDENCY))
        return t; /* a wheel's, conda's: what goes with it is theirs, too */
    WC_EACH_ROW(name, variables) {
        const char *home = wc_variable(f->s, *name);
        if (home && home[0] == '/' && !places_is_toolkit(&t))
            t = toolkit_in(f, places_format(f, "%s/lib64", home));
    }
    return places_is_toolkit(&t) ? t : toolkit_in(f, "/usr/local/cuda/lib64");
}

const char *places_cuda_for(struct finding_places *f, size_t i, const char *directory) {
    int32_t cuda = f->cuda[i] ? CUDA_NONE : wc_cuda_in_package(directory);

    if (f->cuda[i] == NULL && cuda <= 0) {
        cuda = CUDA_NONE;
        for (size_t k = 0; k < f->directories; k++)
            f->files->list(f->files->ctx, f->directory[k], read_cuda, &cuda);
        if (cuda == CUDA_NONE)
            cuda = places_toolkit_of(f).cuda;
    }
    return cuda > 0 ? places_format(f, "%d", cuda) : f->cuda[i];
}
