/* SPDX-License-Identifier: Apache-2.0 */
/* A wrapper puts its instance into x16, where it stays until the target is called: x16 holds no
 * argument. */
#include "macros.inc"
#include "shim/watched.h"
#include "whichcudnn/wrappers.h"
#include "wrappers.h"

        .macro  LOAD instance
        adrp    x16, \instance
        add     x16, x16, :lo12:\instance
        .endm
        /* ldar: later reads of the instance come after that of the entry. */
        .macro  LOAD_ENTRY
        ldar    x17, [x16] /* INSTANCE_ENTRY */
        .endm
        .macro  JUMP_TO_ENTRY
        LOAD_ENTRY
        br      x17
        .endm
        .macro  BEGIN_FRAME
        stp     x29, x30, [sp, -32]!
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        mov     x29, sp
        str     x16, [sp, 16]
        .endm
        .macro  END_FRAME
        ldp     x29, x30, [sp], 32
        .cfi_restore 29
        .cfi_restore 30
        .cfi_def_cfa 31, 0
        ret
        .endm
        .macro  CALL_ENTRY
        BEGIN_FRAME
        LOAD_ENTRY
        blr     x17
        cbnz    w0, shim_call_failed
        END_FRAME
        .endm

        .macro  HEED which
        adrp    x17, shim_heeders + \which
        ldr     x17, [x17, :lo12:shim_heeders + \which]
        blr     x17
        .endm

        .macro  CALL_WITH words
        BEGIN_FRAME
        .cfi_def_cfa_register 29
        sub     sp, sp, (\words + \words % 2) * 8
        .set    word, 0
        .rept   \words / 2
        ldp     x9, x10, [x29, 32 + word * 8]
        stp     x9, x10, [sp, word * 8]
        .set    word, word + 2
        .endr
        .if     \words % 2
        ldr     x9, [x29, 32 + word * 8]
        str     x9, [sp, word * 8]
        .endif
        LOAD_ENTRY
        blr     x17
        mov     sp, x29
        cbnz    w0, shim_call_failed
        END_FRAME
        .endm

        .macro  EACH_PAIR move
        \move   x0, x1, 32
        \move   x2, x3, 48
        \move   x4, x5, 64
        \move   x6, x7, 80
        \move   q0, q1, 112
        \move   q2, q3, 144
        \move   q4, q5, 176
        \move   q6, q7, 208
        .endm
        .macro  KEEP first, second, at
        stp     \first, \second, [x29, \at]
        .endm
        .macro  RESTORE first, second, at
        ldp     \first, \second, [x29, \at]
        .endm

        .text
        .hidden shim_call_failed, shim_call_heeded, shim_call_lazy, shim_heeders
        /* In the frame of a wrapper. */
        BEGIN   shim_call_failed
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        ldr     x1, [sp, 8]
        mov     x2, x0
        str     x0, [sp, 24]
        ldr     x0, [sp, 16]
        HEED    16
        ldr     x0, [sp, 24]
        END_FRAME
        END     shim_call_failed

        BEGIN   shim_call_lazy
        ldr     x17, [x16, INSTANCE_PASSED]
        stp     x17, x30, [sp, -16]!
        .cfi_def_cfa_offset 16
        .cfi_offset 30, -8
        ldr     x17, [x16, INSTANCE_RESOLVER]
        add     x16, x16, INSTANCE_MAP + 8
        br      x17
        END     shim_call_lazy

        BEGIN   shim_call_heeded
        stp     x29, x30, [sp, -240]!
        .cfi_def_cfa_offset 240
        .cfi_offset 29, -240
        .cfi_offset 30, -232
        mov     x29, sp
        .cfi_def_cfa_register 29
        str     x19, [sp, 16]
        .cfi_offset 19, -224
        EACH_PAIR KEEP
        str     x8, [sp, 96]
        mov     x19, x16
        mov     x0, x16
        mov     x1, x29
        HEED    0
        add     x9, x0, 1
        and     x9, x9, -2
        sub     sp, sp, x9, lsl 3
        mov     x10, sp
        add     x11, x29, 240
1:      cbz     x0, 2f
        sub     x0, x0, 1
        ldr     x9, [x11, x0, lsl 3]
        str     x9, [x10, x0, lsl 3]
        b       1b
2:      EACH_PAIR RESTORE
        ldr     x8, [x29, 96]
        mov     x16, x19
        ldr     x17, [x16, INSTANCE_NEXT]
        blr     x17
        str     x0, [x29, 32]
        mov     x2, x0
        mov     x0, x19
        mov     x1, x29
        HEED    8
        mov     sp, x29
        ldr     x0, [sp, 32]
        ldr     x19, [sp, 16]
        ldp     x29, x30, [sp], 240
        .cfi_restore 19
        .cfi_restore 29
        .cfi_restore 30
        .cfi_def_cfa 31, 0
        ret
        END     shim_call_heeded

#include "../wrappers.inc"

#include "notes.S.inc"
