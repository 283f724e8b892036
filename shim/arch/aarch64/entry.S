/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the caller-sensitive dl functions: save the arguments, ask the hook where to go,
 * restore them and branch. x30 stays the host's, so that its RUNPATH, $ORIGIN, namespace and
 * RTLD_NEXT answer as without us (docs/design.md, "entries").
 *
 * struct entry_answer shim_hook(enum entry, uintptr_t *arguments, uintptr_t return_address)
 *     x0: where to branch; 0: return x1 to the host instead.
 */
#include "../../entry.h"

        .text

        .macro ENTRY name, number
        .globl  \name
        .type   \name, %function
        .p2align 4
\name:
        .cfi_startproc
        hint    34 /* bti c */
        stp     x29, x30, [sp, -64]!
        .cfi_def_cfa_offset 64
        .cfi_offset 29, -64
        .cfi_offset 30, -56
        mov     x29, sp
        stp     x0, x1, [sp, 16]
        stp     x2, x3, [sp, 32]
        str     x8, [sp, 48]
        mov     w0, \number
        add     x1, sp, 16
        mov     x2, x30
        /* An IFUNC resolver of the host may call before the loader has relocated us. */
        adrp    x9, shim_relocated
        add     x9, x9, :lo12:shim_relocated
        ldr     x10, [x9]
        cmp     x9, x10
        b.ne    1f
        bl      shim_hook
        b       2f
1:      bl      shim_hook_unrelocated
2:      mov     x16, x0
        mov     x17, x1
        ldp     x0, x1, [sp, 16]
        ldp     x2, x3, [sp, 32]
        ldr     x8, [sp, 48]
        ldp     x29, x30, [sp], 64
        .cfi_restore 29
        .cfi_restore 30
        .cfi_def_cfa_offset 0
        cbz     x16, 3f
        br      x16
3:      mov     x0, x17
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

#include "../entries.inc"

#include "notes.S.inc"
