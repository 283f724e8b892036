/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int registers_kept(void *(*call)(void *), void *argument)
 * Calls it with all callee-saved registers, and the floating point modes, set to values of our own;
 * returns the number of the first that came back changed, 0: none did.
 */
#if defined(__x86_64__)
        .text
        .globl registers_kept
        .type registers_kept, @function
registers_kept:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        subq $24, %rsp
        stmxcsr (%rsp)
        fnstcw 4(%rsp)
        movl $0x9fc0, 8(%rsp)           /* flush to zero, round up: not the usual ones */
        ldmxcsr 8(%rsp)
        movw $0x0b7f, 12(%rsp)
        fldcw 12(%rsp)
        movq %rdi, %rax
        movq %rsi, %rdi
        movabsq $0x1111111111111111, %rbx
        movabsq $0x2222222222222222, %rbp
        movabsq $0x3333333333333333, %r12
        movabsq $0x4444444444444444, %r13
        movabsq $0x5555555555555555, %r14
        movq %rsp, %r15
        cld
        call *%rax
        movl $1, %eax
        cmpq %rsp, %r15
        jne 9f
        movl $2, %eax
        movabsq $0x1111111111111111, %rcx
        cmpq %rcx, %rbx
        jne 9f
        movl $3, %eax
        movabsq $0x2222222222222222, %rcx
        cmpq %rcx, %rbp
        jne 9f
        movl $4, %eax
        movabsq $0x3333333333333333, %rcx
        cmpq %rcx, %r12
        jne 9f
        movl $5, %eax
        movabsq $0x4444444444444444, %rcx
        cmpq %rcx, %r13
        jne 9f
        movl $6, %eax
        movabsq $0x5555555555555555, %rcx
        cmpq %rcx, %r14
        jne 9f
        movl $7, %eax
        stmxcsr 16(%rsp)
        movl 16(%rsp), %ecx
        andl $0xffc0, %ecx              /* without the flags of what happened */
        cmpl $0x9fc0, %ecx
        jne 9f
        movl $8, %eax
        fnstcw 16(%rsp)
        cmpw $0x0b7f, 16(%rsp)
        jne 9f
        movl $9, %eax
        pushfq
        popq %rcx
        testl $0x400, %ecx              /* direction */
        jne 9f
        xorl %eax, %eax
9:      ldmxcsr (%rsp)
        fldcw 4(%rsp)
        addq $24, %rsp
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret
        .size registers_kept, . - registers_kept
#elif defined(__aarch64__)
        .text
        .globl registers_kept
        .type registers_kept, %function
registers_kept:
        stp x29, x30, [sp, #-176]!
        mov x29, sp
        stp x19, x20, [sp, #16]
        stp x21, x22, [sp, #32]
        stp x23, x24, [sp, #48]
        stp x25, x26, [sp, #64]
        stp x27, x28, [sp, #80]
        stp d8, d9, [sp, #96]
        stp d10, d11, [sp, #112]
        stp d12, d13, [sp, #128]
        stp d14, d15, [sp, #144]
        mov x9, x0
        mov x0, x1
        mov x19, #19
        mov x20, #20
        mov x21, #21
        mov x22, #22
        mov x23, #23
        mov x24, #24
        mov x25, #25
        mov x26, #26
        mov x27, #27
        mov x28, sp
        fmov d8, x19
        fmov d9, x20
        fmov d10, x21
        fmov d11, x22
        fmov d12, x23
        fmov d13, x24
        fmov d14, x25
        fmov d15, x26
        blr x9
        mov w0, #1
        mov x9, sp
        cmp x28, x9
        b.ne 9f
        .irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27
        mov w0, #\n
        cmp x\n, #\n
        b.ne 9f
        .endr
        mov w0, #8
        fmov x9, d8
        cmp x9, #19
        b.ne 9f
        .irp n, 9, 10, 11, 12, 13, 14, 15
        mov w0, #\n
        fmov x9, d\n
        sub x9, x9, #11
        cmp x9, #\n
        b.ne 9f
        .endr
        mov w0, #0
9:      ldp x19, x20, [sp, #16]
        ldp x21, x22, [sp, #32]
        ldp x23, x24, [sp, #48]
        ldp x25, x26, [sp, #64]
        ldp x27, x28, [sp, #80]
        ldp d8, d9, [sp, #96]
        ldp d10, d11, [sp, #112]
        ldp d12, d13, [sp, #128]
        ldp d14, d15, [sp, #144]
        ldp x29, x30, [sp], #176
        ret
        .size registers_kept, . - registers_kept
#endif
        .section .note.GNU-stack, "", %progbits
