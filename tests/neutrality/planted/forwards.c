/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preload that is honest: like the shim it stands in front of the loader's functions and jumps on
 * to the next ones, so that the caller stays the caller. Every outcome under it must be as without
 * it.
 */
#include <dlfcn.h>
#include <stddef.h>

static void *next[5];

__attribute__((visibility("hidden"), used)) void *forwards_to(int which);
void *forwards_to(int which) {
    static const char *const names[] = {"dlopen", "dlmopen"};
    if (!next[which])
        next[which] = dlsym(RTLD_NEXT, names[which]);
    return next[which];
}

/* Arguments are kept over the elf_file-up, and the frame is gone again at the jump. */
#ifdef __x86_64__
#define FORWARD(name, which)                                                                       \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                       \
            "  .cfi_startproc\n  endbr64\n"                                                        \
            "  push %rdi\n  .cfi_adjust_cfa_offset 8\n  push %rsi\n  .cfi_adjust_cfa_offset 8\n"   \
            "  push %rdx\n  .cfi_adjust_cfa_offset 8\n  mov $" #which ", %edi\n"                   \
            "  call forwards_to\n"                                                                 \
            "  pop %rdx\n  .cfi_adjust_cfa_offset -8\n  pop %rsi\n  .cfi_adjust_cfa_offset -8\n"   \
            "  pop %rdi\n  .cfi_adjust_cfa_offset -8\n  jmp *%rax\n"                               \
            "  .cfi_endproc\n.size " name ", .-" name "\n")
#else
#define FORWARD(name, which)                                                                       \
    __asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n"                       \
            "  stp x29, x30, [sp, #-48]!\n  stp x0, x1, [sp, #16]\n  str x2, [sp, #32]\n"          \
            "  mov w0, #" #which "\n  bl forwards_to\n  mov x16, x0\n"                             \
            "  ldr x2, [sp, #32]\n  ldp x0, x1, [sp, #16]\n  ldp x29, x30, [sp], #48\n"            \
            "  br x16\n.size " name ", .-" name "\n")
#endif
FORWARD("dlopen", 0);
FORWARD("dlmopen", 1);
