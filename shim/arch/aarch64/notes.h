/* What each assembly file says of itself: no executable stack; landing pads where the C files have
 * them, since one file without the mark takes it from the whole library. */
        .section .note.GNU-stack, "", %progbits
#ifdef __ARM_FEATURE_BTI_DEFAULT
        .section .note.gnu.property, "a", %note
        .p2align 3
        .word   4, 16, 5 /* sizes of name and content, NT_GNU_PROPERTY_TYPE_0 */
        .asciz  "GNU"
        .word   0xc0000000, 4, 1, 0 /* GNU_PROPERTY_AARCH64_FEATURE_1_AND: BTI; padding */
#endif
