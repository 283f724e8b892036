/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What objects may take away of their own memory: their headers, the tables that only the loader
 * reads. The kernel is asked for each page before it is touched, but where the loader has just
 * mapped the object and nothing of it has run. The shim's lock is held.
 */
#pragma once

#include <link.h>

#include "core/elf/elf_image.h"

/* A look at objects begins: what was asked before is asked anew, nothing is trusted. */
void readable_begin(void);
/* Until the other is said: what is looked at is as the loader has just mapped it. */
void readable_trust(bool untouched);
/* Of this look, if so; else 0. */
unsigned readable_untouched(void);
/* Trusts again what was untouched in this very look. */
void readable_trust_again(unsigned untouched);

extern __attribute__((visibility("hidden"))) bool readable_trusted;
bool readable_asked(const void *p, size_t n);
/* Is each page of p[0..n)? */
static inline bool readable(const void *p, size_t n) {
    return readable_trusted || readable_asked(p, n);
}

/* The image of an object, for this look. False: it is damaged. */
bool readable_image(struct wc_elf_image *e, uint64_t base, const ElfW(Phdr) * headers, size_t n);
/* It is kept, and goes on asking. */
void readable_keep(struct wc_elf_image *e);
