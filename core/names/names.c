/* SPDX-License-Identifier: Apache-2.0 */
/* Names of libraries (names.h). */
#include "names.h"

enum numbered { ITSELF, BY_CUDA };

static const struct {
    const char *stem;
    enum numbered numbered;
} cuda_dependencies[] = {
#define CUDA_DEPENDENCY(stem, numbered, hint) {stem, numbered},
#include "core/knowledge/names.def"
};

static bool is_word(const char *s, size_t n, const char *word) {
    return wc_str_length(word) == n && wc_mem_compare(s, word, n) == 0;
}

static enum wc_name_kind kind_of_stem(const char *stem, size_t n) {
    if (is_word(stem, n, "cudnn"))
        return WC_NAME_FACADE;
    if (is_word(stem, n, "cuda"))
        return WC_NAME_DRIVER;
    if (n > 6 && is_word(stem, 6, "cudnn_"))
        return WC_NAME_PART;
    return WC_ANY(row, WC_ROWS(cuda_dependencies), is_word(stem, n, row->stem))
               ? WC_NAME_CUDA_DEPENDENCY
               : WC_NAME_OTHER;
}

struct wc_name wc_name_read(const char *name) {
    struct wc_name read = {.kind = WC_NAME_OTHER, .version = WC_VERSION_NONE};
    name = name ? wc_base_name(name) : "";
    if (!wc_str_starts(name, "lib"))
        return read;
    name += 3;
    const char *so = wc_str_find(name, ".so");
    if (!so || (so[3] && so[3] != '.'))
        return read;
    /* auditwheel puts "-" or "." and at least 8 hexadecimal digits after the name of what it
     * copies. */
    size_t n = (size_t)(so - name), stem = n;
    while (stem &&
           (wc_is_digit(name[stem - 1]) || (name[stem - 1] >= 'a' && name[stem - 1] <= 'f')))
        stem--;
    if (n - stem >= 8 && stem && wc_str_find_char("-.", name[stem - 1]))
        n = stem - 1;
    read.kind = kind_of_stem(name, n);
    size_t front = read.kind == WC_NAME_PART ? wc_str_length("cudnn_") : 0;
    size_t part = n - front < sizeof read.part ? n - front : sizeof read.part - 1;
    if (read.kind == WC_NAME_PART || read.kind == WC_NAME_CUDA_DEPENDENCY)
        wc_mem_copy(read.part, name + front, part);
    if (read.kind != WC_NAME_OTHER && so[3] == '.')
        wc_version_parse(so + 4, wc_str_length(so + 4), &read.version);
    return read;
}

bool wc_name_is_one_of_many(const char *name) {
    struct wc_name read = wc_name_read(name);
    return read.kind == WC_NAME_PART && (read.version.major < 0 || read.version.minor >= 0);
}

enum wc_name_kind wc_name_kind_of(const char *name) {
    return wc_name_read(name).kind;
}

bool wc_kind_is_cudnn(enum wc_name_kind kind) {
    return kind == WC_NAME_FACADE || kind == WC_NAME_PART;
}

bool wc_name_is_cudnn(const char *name) {
    return wc_kind_is_cudnn(wc_name_kind_of(name));
}

int32_t wc_name_major(const char *name) {
    struct wc_name n = wc_name_read(name);
    return wc_kind_is_cudnn(n.kind) && n.version.minor < 0 ? n.version.major : -1;
}

int32_t wc_name_cuda(const char *name) {
    struct wc_name n = wc_name_read(name);
    bool by_cuda = WC_ANY(row, WC_ROWS(cuda_dependencies),
                          row->numbered == BY_CUDA && wc_str_same(n.part, row->stem));
    return n.kind == WC_NAME_CUDA_DEPENDENCY && by_cuda ? n.version.major : -1;
}

bool wc_name_fits(const char *asked, const char *path, const char *soname) {
    const char *name = wc_base_name(asked);
    return name && asked[0] && path &&
           (wc_str_same(name, wc_base_name(path)) || wc_str_same(name, soname));
}
