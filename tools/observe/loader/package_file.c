/* SPDX-License-Identifier: Apache-2.0 */
#include "package_file.h"

#include <fnmatch.h>
#include <string.h>

#include "core/knowledge/frameworks.h"
#include "core/names/names.h"
#include "core/packages/identify.h"
#include "tools/util/memory.h"

struct looking {
    const char *pattern;
    char *found;
};

static bool take_entry(void *ctx, const char *entry) {
    struct looking *l = ctx;

    if (fnmatch(l->pattern, entry, 0) == 0)
        l->found = must_copy(entry);
    return l->found == NULL;
}

char *package_file(const struct wc_files *files, const char *module, const char *name) {
    const size_t n = wc_environment_length(module);
    const char *below = n ? module + n + 1 : "";
    const struct wc_framework_file *row;

    for (size_t i = 0; (row = wc_framework_preload(below, strcspn(below, "/"), false, i)); i++) {
        struct looking l = {.pattern = wc_base_name(row->file)};
        OWNED char *directory =
            must_format("%.*s/%.*s", (int)n, module, (int)wc_dir_length(row->file), row->file);
        if (l.pattern != row->file && strncmp(l.pattern, name, strcspn(l.pattern, ".")) == 0)
            files->list(files->ctx, directory, take_entry, &l);
        if (l.found) {
            OWNED char *entry = l.found;
            return must_format("%s/%s", directory, entry);
        }
    }
    return NULL;
}
