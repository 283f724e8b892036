/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/elf_*.c over a file: the input is the file. Once as a whole, and once so that only those
 * bytes may be touched that the view asked for before; both must print the same.
 */
#include <sanitizer/asan_interface.h>

#include "support_image.h"

struct pieces {
    const uint8_t *data;
    uint8_t *copy;
    size_t size;
};

static bool fetch(void *owner, uint64_t offset, uint64_t n) {
    struct pieces *p = owner;
    MUST(offset <= p->size && n <= p->size - offset);
    if (n) {
        ASAN_UNPOISON_MEMORY_REGION(p->copy + offset, n);
        memcpy(p->copy + offset, p->data + offset, n);
    }
    return true;
}

static void ask_pieces(const struct wc_elf_image *whole, enum wc_elf_error error,
                       const uint8_t *data, size_t size) {
    static struct wc_elf_image e;
    struct pieces p = {data, malloc(size + !size), size};
    MUST(p.copy);
    ASAN_POISON_MEMORY_REGION(p.copy, size);
    MUST(wc_elf_from_pieces(&e, p.copy, size, fetch, &p) == error);
    if (error == WC_ELF_OK) {
        ask_everything(&e);
        MUST(e.symbols == whole->symbols && e.first_defined == whole->first_defined);
        MUST(wc_str_same(e.soname, whole->soname));
        MUST(wc_str_same(wc_elf_defined_symbol_version(&e), wc_elf_defined_symbol_version(whole)));
    }
    ASAN_UNPOISON_MEMORY_REGION(p.copy, size);
    free(p.copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct wc_elf_image e;
    enum wc_elf_error error = wc_elf_from_pieces(&e, data, size, NULL, NULL);
    MUST(error <= WC_ELF_MALFORMED);
    if (error == WC_ELF_OK)
        ask_everything(&e);
    ask_pieces(&e, error, data, size);
    return 0;
}
