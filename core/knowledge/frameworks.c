/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks.h"

#define HINT(word, where, end)
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define ROWS(type, ...) ((const struct wc_framework_##type[]){__VA_ARGS__, {0}})
#define RULED(from, to, rule, source)                                                              \
    { rule, from, to }
#define PRELOADED(cuda, file)                                                                      \
    { file, cuda }
#define GPU_BUILD(kind, package, of_gpu, source)                                                   \
    { package, of_gpu, WC_installation_kind_##kind }

const struct wc_framework wc_frameworks[] = {
#define FRAMEWORK(named, hints, ...) {.name = named, __VA_ARGS__},
#include "frameworks.def"
    {0},
};

const struct wc_framework *wc_framework_named(const char *name) {
    WC_EACH_FRAMEWORK(f)
        if (wc_str_same(f->name, name))
            return f;
    return NULL;
}

static bool begins(const char *name, const char *stem) {
    return wc_str_starts(name, stem) && name[wc_str_length(stem)] == '.';
}

const char *wc_framework_of(const char *path) {
    const char *name = path ? wc_base_name(path) : "";

    if (name[0] != 'l' && name[0] != 'o' && name[0] != 'x') /* asked of every object there is */
        return NULL;
    WC_EACH_FRAMEWORK(f)
        WC_EACH_TEXT(stem, f->mains)
            if (begins(name, *stem))
                return f->name;
    return NULL;
}

const struct wc_framework *wc_framework_opening(const char *path) {
    const char *name = wc_base_name(path);

    WC_EACH_FRAMEWORK(f)
        WC_EACH_TEXT(stem, f->openers) {
            /* The last element, with the folder before it where the stem has one. */
            const char *slash = wc_str_find_char(*stem, '/');
            size_t n = slash ? (size_t)(slash - *stem) + 1 : 0;
            const char *end = (size_t)(name - path) < n ? "" : name - n;
            if ((end == path || !*end || end[-1] == '/') && begins(end, *stem))
                return f;
        }
    return NULL;
}

const struct wc_framework_file *wc_framework_preload(const char *folder, size_t length,
                                                     bool if_missing, size_t i) {
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->preloads, folder)
            if (!!(row->how & WC_FRAMEWORK_FILE_IF_MISSING) == if_missing &&
                wc_str_length(row->folder) == length &&
                wc_mem_compare(row->folder, folder, length) == 0 && i-- == 0)
                return row;
    return NULL;
}
