/* SPDX-License-Identifier: Apache-2.0 */
/* The first PLT entry hands x16, the slot's address, to the loader's resolver. */
#include "../../watched.h"
#include "lazy_size.h"

        .macro  LAZY_ENTRY data
        hint    34 /* bti c */
        adrp    x17, \data
        ldr     x16, [x17, :lo12:\data]
        ldr     x17, [x17, :lo12:\data+8]
        br      x17
        .endm

#include "../lazy.inc"

#include "notes.S.inc"
