/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a library wants that is no host of this process: it asked for a cuDNN in vain, or was itself
 * refused. The shim's lock is held; nothing here calls the loader.
 */
#pragma once

#include <stdint.h>

/* number: of its object record, WC_NULL where it has none. Nothing if that was written before, if
 * it is cuDNN itself, or NULL. */
void demands_emit_file(int64_t number, const char *path);
