/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What objects may take away of their own memory: their headers, the tables that only the loader
 * reads. The kernel is asked for each page before it is touched, but where the loader has just
 * mapped the object and nothing of it has run. The shim's lock is held.
 */
#pragma once

#include <link.h>

#include "core/elf/elf_image.h"

/* What was asked before is asked anew: the host's code ran meanwhile. */
void readable_begin(void);
/* Until the other is said: what is looked at is as the loader has just mapped it. */
void readable_trust(bool untouched);
bool readable_are_trusted(void);
/* Is each page of p[0..n)? */
bool readable(const void *p, size_t n);
/* The image of an object, which goes on asking. False: it is damaged. */
bool readable_image(struct wc_elf_image *e, uint64_t base, const ElfW(Phdr) * headers, size_t n);
