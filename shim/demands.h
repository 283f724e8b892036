/*
 * What a host wants, as records: by what it is linked with and imports, and by the metadata of its
 * package. number: of its object record, WC_NULL where it has none. The shim's lock is held;
 * nothing here calls the loader.
 */
#ifndef SHIM_DEMANDS_H
#define SHIM_DEMANDS_H

#include "core/elf/elf_image.h"

/* e NULL: its file cannot be read. */
void demands_emit(int64_t number, const char *path, const char *real_path,
                  const struct wc_elf_image *e);
/* All of it, of a library that is no host of this process: it asked for a cuDNN in vain, or was
 * itself refused. Nothing if that was told, if it is cuDNN itself, or NULL. */
void demands_emit_file(int64_t number, const char *path);

#endif
