/* SPDX-License-Identifier: Apache-2.0 */
/* A wrapper puts its instance into r11, where it stays until the target is called: r11 holds no
 * argument. */
#include "macros.inc"
#include "shim/watched.h"
#include "whichcudnn/wrappers.h"
#include "wrappers.h"

        .macro  LOAD instance
        leaq    \instance(%rip), %r11
        .endm
        .macro  JUMP_TO_ENTRY
        jmpq    *INSTANCE_ENTRY(%r11)
        .endm
        .macro  CALL_ENTRY
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        call    *INSTANCE_ENTRY(%r11)
        testl   %eax, %eax
        jne     shim_call_failed
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        retq
        .endm

        /* Pushes the instance, then a copy of the arguments on the stack, the last one first. Each is
         * at the same distance from the stack's top, which moves by the same distance. */
        .macro  CALL_WITH words
        .set    space, (\words + \words % 2) * 8
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        .if     \words % 2
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        .endif
        .rept   \words
        pushq   space + 8(%rsp)
        .cfi_adjust_cfa_offset 8
        .endr
        call    *INSTANCE_ENTRY(%r11)
        testl   %eax, %eax
        jne     9f
        addq    $space + 8, %rsp
        .cfi_adjust_cfa_offset -(space + 8)
        retq
9:      .cfi_adjust_cfa_offset space + 8
        addq    $space, %rsp
        .cfi_adjust_cfa_offset -space
        jmp     shim_call_failed
        .endm

        .macro  EACH_VECTOR move
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
        \move   \number
        .endr
        .endm
        .macro  KEEP number
        movaps  %xmm\number, 16 * \number(%rsp)
        .endm
        .macro  RESTORE number
        movaps  -192 + 16 * \number(%rbp), %xmm\number
        .endm

        .text
        .hidden shim_call_failed, shim_call_heeded, shim_call_lazy, shim_heeders
        /* The instance is on the stack's top, then the return address of the host. */
        BEGIN   shim_call_failed
        .cfi_adjust_cfa_offset 8
        movq    (%rsp), %rdi
        movq    8(%rsp), %rsi
        movq    %rax, (%rsp)
        movq    %rax, %rdx
        call    *shim_heeders + 16(%rip)
        popq    %rax
        .cfi_adjust_cfa_offset -8
        retq
        END     shim_call_failed

        BEGIN   shim_call_lazy
        pushq   INSTANCE_PASSED(%r11)
        .cfi_adjust_cfa_offset 8
        pushq   INSTANCE_MAP(%r11)
        .cfi_adjust_cfa_offset 8
        jmpq    *INSTANCE_RESOLVER(%r11)
        END     shim_call_lazy

        BEGIN   shim_call_heeded
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset 6, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register 6
        pushq   %rbx
        .cfi_offset 3, -24
        pushq   %r9
        pushq   %r8
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        subq    $136, %rsp
        EACH_VECTOR KEEP
        movq    %r11, %rbx
        movq    %r11, %rdi
        movq    %rbp, %rsi
        call    *shim_heeders(%rip)
        leaq    1(%rax), %rcx
        andq    $-2, %rcx
        shlq    $3, %rcx
        subq    %rcx, %rsp
1:      decq    %rax
        js      2f
        movq    16(%rbp, %rax, 8), %rcx
        movq    %rcx, (%rsp, %rax, 8)
        jmp     1b
2:      EACH_VECTOR RESTORE
        movq    -56(%rbp), %rdi
        movq    -48(%rbp), %rsi
        movq    -40(%rbp), %rdx
        movq    -32(%rbp), %rcx
        movq    -24(%rbp), %r8
        movq    -16(%rbp), %r9
        movq    %rbx, %r11
        call    *INSTANCE_NEXT(%r11)
        movq    %rax, -16(%rbp)
        movq    %rbx, %rdi
        movq    %rbp, %rsi
        movq    %rax, %rdx
        call    *shim_heeders + 8(%rip)
        movq    -16(%rbp), %rax
        movq    -8(%rbp), %rbx
        leave
        .cfi_restore 3
        .cfi_restore 6
        .cfi_def_cfa 7, 8
        retq
        END     shim_call_heeded

#include "../wrappers.inc"

        .section .note.GNU-stack, "", @progbits
