/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a wrapper calls while its slot is lazy: x16 = the slot's address, as the host's own PLT entry
 * would have left it, and on to the first PLT entry, which hands x16 to the loader's resolver. One
 * for each instance of each watched function, in the order of watched.def; all else is data.
 */
#include "../../watched.h"
#include "lazy.h"

        .text
        .hidden shim_lazy, shim_lazy_entries
        .globl  shim_lazy, shim_lazy_entries

        .set    lazy_count, 0
        .macro  LAZY_ENTRIES
        .rept   CALL_INSTANCES
        hint    34 /* bti c */
        adrp    x17, shim_lazy + lazy_count * 16
        ldr     x16, [x17, :lo12:shim_lazy + lazy_count * 16]
        ldr     x17, [x17, :lo12:shim_lazy + lazy_count * 16 + 8]
        br      x17
        .set    lazy_count, lazy_count + 1
        .endr
        .endm

        .p2align 4
        .type   shim_lazy_entries, %function
shim_lazy_entries:
        .cfi_startproc
#define WATCH(name, result, parameters, arguments, first, last) LAZY_ENTRIES
#include "../../watched.def"
        .cfi_endproc
        .size   shim_lazy_entries, . - shim_lazy_entries
        .if     . - shim_lazy_entries != lazy_count * SHIM_LAZY_ENTRY_SIZE
        .error  "SHIM_LAZY_ENTRY_SIZE is wrong"
        .endif

        /* struct arch_lazy of each; aligned, so that none lies across a page. */
        .bss
        .p2align 4
        .type   shim_lazy, %object
shim_lazy:
        .zero   lazy_count * 16
        .size   shim_lazy, . - shim_lazy

#include "notes.S.inc"
