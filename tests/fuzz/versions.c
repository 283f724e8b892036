/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/packages/file_version.c, version_code.c: which version a library says it has. The input is
 * the library's file, then the text of a header that lies beside it, then settings.
 */
#include "core/names/symbols.h"
#include "core/packages/identify.h"
#include "support_fuzz.h"

enum { SCRATCH = 16384 };

static const char *const paths[] = {
    "/opt/cudnn/lib/libcudnn.so.9",     "/opt/lib/libcudnn_graph.so.9.1.0",
    "/opt/lib/libcudnn_cnn_train.so.8", "/opt/lib/libcudnn.so.7.6.5",
    "/opt/lib/libcudnn_cnn.so",         "/libcudnn.so",
    "libcudnn-1234abcd.so.8.9.7",       "/opt/lib/other.so",
};

struct header {
    const uint8_t *p;
    size_t n;
};

static bool read_header(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                        size_t *n) {
    const struct header *h = ctx;
    (void)path;
    *n = offset < h->n ? h->n - offset : 0;
    *n = *n < cap ? *n : cap;
    if (*n)
        memcpy(to, h->p + offset, *n);
    return h->n > 0;
}

static bool no_facts(void *ctx, const char *path, struct wc_file_stat *out) {
    (void)ctx, (void)path, (void)out;
    return false;
}

static bool no_list(void *ctx, const char *dir, bool (*each)(void *, const char *), void *arg) {
    (void)ctx, (void)dir, (void)each, (void)arg;
    return false;
}

static bool no_real_path(void *ctx, const char *path, char *to, size_t cap) {
    (void)ctx, (void)path, (void)to, (void)cap;
    return false;
}

static void check(struct wc_version v, bool known) {
    char text[WC_VERSION_TEXT];
    struct wc_version again;
    MUST(known == wc_version_known(v));
    wc_version_format(v, text);
    if (!known)
        return;
    MUST(v.minor >= 0 && v.patch >= 0 && v.build == -1);
    MUST(wc_version_parse(text, strlen(text), &again) && wc_version_compare(v, again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct wc_elf_image e;
    struct controls c = {data, size};
    unsigned how = take_control(&c), header = take_control(&c);
    struct header h = {NULL, header < c.size ? header : c.size};
    c.size -= h.n;
    h.p = c.data + c.size;
    struct wc_files files = {&h, read_header, no_facts, no_list, no_real_path, NULL, NULL};
    const char *path = paths[how % (sizeof paths / sizeof *paths)];
    /* In a piece of its own: what lies behind the file is not the file's. */
    uint8_t *file = malloc(c.size + !c.size);
    unsigned char *scratch = malloc(SCRATCH);
    MUST(file && scratch);
    memcpy(file, data, c.size);
    bool good = wc_elf_from_pieces(&e, file, c.size, NULL, NULL) == WC_ELF_OK;
    struct wc_identity id;
    wc_identify(&files, path, good ? &e : NULL, how & 16, scratch, SCRATCH, &id);
    check(id.version, id.version_source != WC_version_source_UNKNOWN);
    free(scratch);
    free(file);
    return 0;
}
