/* SPDX-License-Identifier: Apache-2.0 */
#include "readable.h"

#include "auxv.h"
#include "sys.h"

/* Pages that are readable: the page's number and that of the look in one word. */
enum { PAGES = 1024, LOOKS = 1 << 16 };
static uintptr_t known[PAGES];
static unsigned look = 1;
bool readable_trusted;

void readable_begin(void) {
    readable_trusted = false;
    look = look % (LOOKS - 1) + 1;
    if (look == 1)
        wc_mem_set(known, 0, sizeof known);
}

void readable_trust(bool untouched) {
    readable_trusted = untouched;
}

unsigned readable_untouched(void) {
    return readable_trusted ? look : 0;
}

void readable_trust_again(unsigned untouched) {
    readable_trusted = untouched == look;
}

bool readable_asked(const void *p, size_t n) {
    uintptr_t size = auxv_page_size();
    uintptr_t last = ((uintptr_t)p + n - 1) / size;
    for (uintptr_t page = (uintptr_t)p / size; n && page <= last; page++) {
        if (known[page % PAGES] == page * LOOKS + look)
            continue;
        if (!sys_is_readable((const void *)(page * size)))
            return false;
        known[page % PAGES] = page * LOOKS + look;
    }
    return true;
}

static bool fetch(void *base, uint64_t offset, uint64_t n) {
    return readable((const char *)base + offset, n);
}

void readable_keep(struct wc_elf_image *e) {
    e->file = e->fetch_owner = (void *)(uintptr_t)e->base;
    e->fetch = fetch;
}

bool readable_image(struct wc_elf_image *e, uint64_t base, const ElfW(Phdr) * headers, size_t n) {
    void *at = (void *)(uintptr_t)base;
    enum wc_elf_error error =
        readable_trusted ? wc_elf_from_memory(e, base, headers, n)
                         : wc_elf_from_elsewhere(e, base, headers, n, at, 0, SIZE_MAX, fetch, at);
    return error == WC_ELF_OK;
}
