/* SPDX-License-Identifier: Apache-2.0 */
/* mold's first PLT entry hands r11, the slot's number, to the loader's resolver. Others' entries push
 * that number themselves. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif
#include "../../watched.h"
#include "lazy_size.h"

        .macro  LAZY_ENTRY data
        _CET_ENDBR
        movl    \data(%rip), %r11d
        jmpq    *8+\data(%rip)
        .endm

#include "../lazy.inc"

        .section .note.GNU-stack, "", @progbits
