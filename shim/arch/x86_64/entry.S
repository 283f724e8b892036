/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the caller-sensitive dl functions: save the arguments, ask the hook where to go,
 * restore them and jump. The return address stays the host's, so that its RUNPATH, $ORIGIN,
 * namespace and RTLD_NEXT answer as without us (shim/README.md, "Entries").
 *
 * struct entry_answer shim_hook(enum entry, uintptr_t *arguments, uintptr_t return_address)
 *     rax: where to jump; 0: return rdx to the host instead.
 */
#include "macros.inc"
#include "shim/asleep.h"
#include "shim/entry.h"

        .text
        .hidden shim_state, shim_next, shim_relocated, this_thread, shim_hook, shim_hook_unrelocated

        /* Asleep: the next definition in r11. Awake, or if it is not known: on at 8. */
        .macro  NEXT number
        cmpl    $SHIM_AWAKE, shim_state(%rip)
        je      8f
        movq    shim_next + 8 * \number(%rip), %r11
        testq   %r11, %r11
        jz      8f
        .endm

        /* Forgets the thread's last dlopen (struct thread: kept) and jumps to the next definition. */
        .macro  GO_ON
        movq    this_thread@gottpoff(%rip), %r10
        movq    $0, %fs:(%r10)
        jmpq    *%r11
        .endm

        /* Asleep: on at 8, where the name is looked at; but not without a name, nor when we are off. */
        .macro  ASLEEP_OPENS number, name
        NEXT    \number
        testq   \name, \name
        jz      7f
        cmpl    $SHIM_OFF, shim_state(%rip)
        jne     8f
7:      GO_ON
        .endm

        /* Asleep: a name that begins with cudn wakes us. */
        .macro  ASLEEP_LOOKS_UP number
        NEXT    \number
        testq   %rsi, %rsi
        jz      7f
        cmpb    $'c', (%rsi)
        jne     7f
        cmpb    $'u', 1(%rsi)
        jne     7f
        cmpb    $'d', 2(%rsi)
        jne     7f
        cmpb    $'n', 3(%rsi)
        je      8f
7:      GO_ON
        .endm

        .macro  ENTRY name, number, asleep, argument:vararg
        BEGIN   \name
        \asleep \number \argument
8:      /* An IFUNC resolver of the host may call before the loader has relocated us. */
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
        END     \name
        .endm

#define NAME_FIRST , %rdi
#define NAME_SECOND , %rsi
#include "../entries.inc"

        .section .note.GNU-stack, "", @progbits
