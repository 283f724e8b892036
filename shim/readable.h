/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is memory of an object readable? Its code may have unmapped or protected headers and tables that
 * only the loader reads. So the kernel is asked about each page before it is read, unless the
 * loader has just mapped the object and none of its code has run. The shim's lock is held.
 */
#pragma once

#include <link.h>

#include "core/elf/elf_image.h"

/* Begins a look at objects: pages are asked about again, and no object is trusted. */
void readable_begin(void);
/* From here on objects are read without asking (true: none of their code has run), or not. */
void readable_trust(bool untouched);
/* The number of this look, if the current object is trusted; else 0. */
unsigned readable_untouched(void);
/* Trusts an object again for which readable_untouched() gave this number in this look. */
void readable_trust_again(unsigned untouched);

extern __attribute__((visibility("hidden"))) bool readable_trusted;
/* Is each page of p[0..n) readable? Asks the kernel, once per look and page. */
bool readable_asked(const void *p, size_t n);
/* The same; asks nothing of a trusted object. */
static inline bool readable(const void *p, size_t n) {
    return readable_trusted || readable_asked(p, n);
}

/* The image of an object, for this look. False: it is damaged. */
bool readable_image(struct wc_elf_image *e, uint64_t base, const ElfW(Phdr) * headers, size_t n);
/* For an image that is kept: it goes on asking. */
void readable_keep(struct wc_elf_image *e);
