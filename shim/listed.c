/* SPDX-License-Identifier: Apache-2.0 */
#include "listed.h"

#include "start.h"

/* Three fields of the link map that <link.h> hides. In every glibc they stand together. */
struct headers {
    const ElfW(Phdr) * first;
    ElfW(Addr) entry;
    ElfW(Half) count;
};
#define OFFSET_END 1024

static const struct headers *headers_at(const struct link_map *m, size_t offset) {
    return (const void *)((const char *)m + offset);
}

/* Their offset: our own link map has them where our program headers' address and number stand. */
static size_t find_headers(void) {
    uintptr_t first = (uintptr_t)&__ehdr_start + __ehdr_start.e_phoff;
    const struct link_map *own = start_list();
    while (own && own->l_addr != (uintptr_t)&__ehdr_start)
        own = own->l_next;
    for (size_t at = sizeof *own; own && at < OFFSET_END; at += sizeof first)
        if ((uintptr_t)headers_at(own, at)->first == first &&
            headers_at(own, at)->count == __ehdr_start.e_phnum)
            return at;
    return 0;
}

#define NOT_SOUGHT ((size_t)1)
static size_t headers_offset = NOT_SOUGHT;

/* 0: not known, since we are not relocated yet, or this is not glibc. */
static size_t known_headers(void) {
    size_t known = __atomic_load_n(&headers_offset, __ATOMIC_RELAXED);
    if (known == NOT_SOUGHT) {
        if (!start_list())
            return 0;
        known = find_headers();
        __atomic_store_n(&headers_offset, known, __ATOMIC_RELAXED);
    }
    return known;
}

const struct link_map *listed_first(void) {
    return known_headers() ? start_list() : NULL;
}

void listed_info(const struct link_map *m, struct dl_phdr_info *info) {
    const struct headers *h = headers_at(m, known_headers());
    *info = (struct dl_phdr_info){.dlpi_addr = m->l_addr,
                                  .dlpi_name = m->l_name,
                                  .dlpi_phdr = h->first,
                                  .dlpi_phnum = h->count};
}
