/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lazy slot leads to: code of the host's linker, which expects what its own PLT entry left
 * in a register. Only where that code is known can a wrapper call it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/elf/elf_image.h"

/* Is it what linkers put there? value: what the slot holds, a link-time address; number: the slot's
 * in DT_JMPREL. */
bool lazy_is_known(const struct wc_elf_image *host, uint64_t value, size_t number);
