/* SPDX-License-Identifier: Apache-2.0 */
/* Names of libraries (names.h). */
#include "names.h"

enum numbered { ITSELF, BY_CUDA };

static const struct {
    const char *stem;
    enum numbered numbered;
} cuda_dependencies[] = {
#define CUDA_DEPENDENCY(stem, numbered) {stem, numbered},
#include "core/knowledge/names.def"
};

static bool is_hexadecimal(char c) {
    return wc_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* auditwheel puts "-" or "." and at least 8 hexadecimal digits after the name of what it copies. */
static size_t without_hash(const char *stem, size_t n) {
    size_t digits = 0;
    while (digits < n && is_hexadecimal(stem[n - 1 - digits]))
        digits++;
    bool hash = digits >= 8 && digits < n && wc_str_find_char("-.", stem[n - 1 - digits]);
    return hash ? n - 1 - digits : n;
}

static bool is_word(const char *s, size_t n, const char *word) {
    size_t i = 0;
    while (i < n && word[i] == s[i])
        i++;
    return i == n && !word[i];
}

static void set_name(struct wc_name *out, enum wc_name_kind kind, const char *part, size_t n) {
    out->kind = kind;
    if (n >= sizeof out->part)
        n = sizeof out->part - 1;
    wc_mem_copy(out->part, part, n);
    out->part[n] = 0;
}

static bool read_stem(const char *stem, size_t n, struct wc_name *out) {
    if (is_word(stem, n, "cudnn")) {
        set_name(out, WC_NAME_FACADE, "", 0);
    } else if (is_word(stem, n, "cuda")) {
        set_name(out, WC_NAME_DRIVER, "", 0);
    } else if (n > 6 && is_word(stem, 6, "cudnn_")) {
        set_name(out, WC_NAME_PART, stem + 6, n - 6);
    } else {
        WC_EACH_ROW(row, cuda_dependencies)
            if (is_word(stem, n, row->stem))
                set_name(out, WC_NAME_CUDA_DEPENDENCY, stem, n);
    }
    return out->kind != WC_NAME_OTHER;
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
    if (read_stem(name, without_hash(name, (size_t)(so - name)), &read) && so[3] == '.')
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

int32_t wc_name_cuda(const char *name) {
    struct wc_name n = wc_name_read(name);
    WC_EACH_ROW(row, cuda_dependencies)
        if (n.kind == WC_NAME_CUDA_DEPENDENCY && row->numbered == BY_CUDA &&
            wc_str_same(n.part, row->stem))
            return n.version.major;
    return -1;
}

bool wc_name_fits(const char *asked, const char *path, const char *soname) {
    const char *name = wc_base_name(asked);
    return name && asked[0] && path &&
           (wc_str_same(name, wc_base_name(path)) || wc_str_same(name, soname));
}
