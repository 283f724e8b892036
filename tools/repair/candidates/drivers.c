/* SPDX-License-Identifier: Apache-2.0 */
#include "core/findings/finding.h"
#include "find.h"

static const char *const places[] = {
#define DRIVER_PLACE(directory, who, source) directory,
#include "tools/knowledge/driver_places.def"
};

static bool is_driver(const struct wc_failure *failure) {
    char dependency[512];

    return wc_name_kind_of(failure->r.name) == WC_NAME_DRIVER ||
           (wc_failed_dependency(failure, dependency, sizeof(dependency)) &&
            wc_name_kind_of(dependency) == WC_NAME_DRIVER);
}

void find_drivers(struct finding_of *f) {
    struct wc_file_stat facts;

    if (!WC_ANY(failure, f->s->failures, is_driver(failure)))
        return;
    WC_EACH_ROW(place, places)
        if (f->files->facts(f->files->ctx, find_format(f, "%s/libcuda.so.1", *place), &facts))
            find_add(f, find_with_directory(f, *place));
}
