/* SPDX-License-Identifier: Apache-2.0 */
/* An erratum of the Cortex-A53: where this lies so in a page the linker puts code of its own behind it. */
        .text
        .skip 16 + SKIP
        nop
        nop
        .rept 128
        adrp x0, here
        ldr x1, [x2]
        ldr x3, [x0]
        nop
        .endr
        .data
here:   .quad 0
