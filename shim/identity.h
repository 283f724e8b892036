/*
 * What a library is (core/packages/identify.h), with the shim's own means. Its lock is held.
 */
#ifndef SHIM_IDENTITY_H
#define SHIM_IDENTITY_H

#include "core/packages/identify.h"

/* path: the real path. image NULL: it cannot be read. NULL: no memory; else valid until the next
 * call. */
struct wc_identity *identity_of(const char *path, const struct wc_elf_image *image, bool facade);

#endif
