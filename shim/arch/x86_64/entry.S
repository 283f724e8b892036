/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the caller-sensitive dl functions: save the arguments, ask the hook where to go,
 * restore them and jump. The return address stays the host's, so that its RUNPATH, $ORIGIN,
 * namespace and RTLD_NEXT answer as without us (docs/design.md, "entries").
 *
 * struct entry_answer shim_hook(enum entry, uintptr_t *arguments, uintptr_t return_address)
 *     rax: where to jump; 0: return rdx to the host instead.
 */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif
#include "../../entry.h"

        .text

        .macro ENTRY name, number
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        _CET_ENDBR
        /* An IFUNC resolver of the host may call before the loader has relocated us. */
        leaq    shim_relocated(%rip), %r11
        cmpq    %r11, shim_relocated(%rip)
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        movl    $\number, %edi
        movq    %rsp, %rsi
        movq    40(%rsp), %rdx
        jne     1f
        call    shim_hook
        jmp     2f
1:      call    shim_hook_unrelocated
2:      movq    %rdx, %r11
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        testq   %rax, %rax
        jz      3f
        jmpq    *%rax
3:      movq    %r11, %rax
        retq
        .cfi_endproc
        .size   \name, . - \name
        .endm

#include "../entries.inc"

        .section .note.GNU-stack, "", @progbits
