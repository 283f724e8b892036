/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the caller-sensitive dl functions: save the arguments, ask the hook where to go,
 * restore them and branch. x30 stays the host's, so that its RUNPATH, $ORIGIN, namespace and
 * RTLD_NEXT answer as without us (shim/README.md, "Entries").
 *
 * struct entry_answer shim_hook(enum entry, uintptr_t *arguments, uintptr_t return_address)
 *     x0: where to branch; 0: return x1 to the host instead.
 */
#include "macros.inc"
#include "shim/asleep.h"
#include "shim/entry.h"

        .text
        .hidden shim_state, shim_next, shim_relocated, this_thread, shim_hook, shim_hook_unrelocated

        /* Asleep: the next definition in x16. Awake, or if it is not known: on at 8. */
        .macro  NEXT number
        adrp    x9, shim_state
        ldr     w9, [x9, :lo12:shim_state]
        cmp     w9, SHIM_AWAKE
        b.eq    8f
        adrp    x16, shim_next + 8 * \number
        ldr     x16, [x16, :lo12:shim_next + 8 * \number]
        cbz     x16, 8f
        .endm

        /* Forgets the thread's last dlopen (struct thread: kept) and jumps to the next definition. */
        .macro  GO_ON
        adrp    x9, :gottprel:this_thread
        ldr     x9, [x9, :gottprel_lo12:this_thread]
        mrs     x10, tpidr_el0
        str     xzr, [x10, x9]
        br      x16
        .endm

        /* Asleep: on at 8, where the name is looked at; but not without a name, nor when we are off. */
        .macro  ASLEEP_OPENS number, name
        NEXT    \number
        cbz     \name, 7f
        cmp     w9, SHIM_OFF
        b.ne    8f
7:      GO_ON
        .endm

        /* Asleep: a name that begins with cudn wakes us. */
        .macro  ASLEEP_LOOKS_UP number
        NEXT    \number
        cbz     x1, 7f
        ldrb    w9, [x1]
        cmp     w9, 'c'
        b.ne    7f
        ldrb    w9, [x1, 1]
        cmp     w9, 'u'
        b.ne    7f
        ldrb    w9, [x1, 2]
        cmp     w9, 'd'
        b.ne    7f
        ldrb    w9, [x1, 3]
        cmp     w9, 'n'
        b.eq    8f
7:      GO_ON
        .endm

        .macro  ENTRY name, number, asleep, argument:vararg
        BEGIN   \name
        \asleep \number \argument
8:      stp     x29, x30, [sp, -64]!
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
        END     \name
        .endm

#define NAME_FIRST , x0
#define NAME_SECOND , x1
#include "../entries.inc"

#include "notes.S.inc"
