/* SPDX-License-Identifier: Apache-2.0 */
#include "readable.h"

#include "auxv.h"
#include "sys.h"

/* Pages that are, by their number: what is asked for often is asked for once. */
enum { PAGES = 1024 };
static uintptr_t known[PAGES];
static bool trusted;

void readable_begin(void) {
    wc_mem_set(known, 0, sizeof known);
}

void readable_trust(bool untouched) {
    trusted = untouched;
}

bool readable_are_trusted(void) {
    return trusted;
}

bool readable(const void *p, size_t n) {
    uintptr_t size = auxv_page_size();
    uintptr_t last = ((uintptr_t)p + n - 1) / size;
    for (uintptr_t page = (uintptr_t)p / size; !trusted && n && page <= last; page++) {
        if (known[page % PAGES] == page)
            continue;
        if (!sys_is_readable((const void *)(page * size)))
            return false;
        known[page % PAGES] = page;
    }
    return true;
}

static bool fetch(void *base, uint64_t offset, uint64_t n) {
    return readable((const char *)base + offset, n);
}

bool readable_image(struct wc_elf_image *e, uint64_t base, const ElfW(Phdr) * headers, size_t n) {
    void *at = (void *)(uintptr_t)base;
    return wc_elf_from_elsewhere(e, base, headers, n, at, 0, SIZE_MAX, fetch, at) == WC_ELF_OK;
}
