/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64: system calls, relocation types, lazy slots. Each architecture has such a folder; no other
 * code of the shim depends on the architecture.
 */
#pragma once

#include <asm/unistd.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "wrappers.h"

#define ARCH_NAME "x86_64"
#define ARCH_MACHINE EM_X86_64
#define ARCH_RELOC_JUMP_SLOT R_X86_64_JUMP_SLOT
#define ARCH_RELOC_GLOB_DAT R_X86_64_GLOB_DAT
#define ARCH_RELOC_ABSOLUTE R_X86_64_64
/* Is a jump slot's addend the address of its PLT entry, which does not count? */
#define ARCH_JUMP_SLOT_MARKS_PLT 1
/* How shim_call_lazy passes to the loader which slot it is: by its number. */
#define ARCH_LAZY_PASSES(in, number) ((void)(in), number)
/* The code after a lazy slot begins with a push of the slot's number, or of r11, which holds it
 * (mold), and of the second word of the GOT. */
#define ARCH_LAZY_CODE 9
static inline bool arch_is_lazy_code(const unsigned char *code, uint32_t number) {
    code += wc_mem_compare(code, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0; /* endbr64 */
    return *code == 0x68 ? wc_mem_compare(code + 1, &number, 4) == 0
                         : wc_mem_compare(code, "\x41\x53\xff\x35", 4) == 0;
}
#define ARCH_VDSO_CLOCK "__vdso_clock_gettime"

static inline long arch_syscall(long n, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Valgrind recognizes the request by these rotations, which have no effect. */
static inline void arch_ask_valgrind(const uintptr_t request[6]) {
    uintptr_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
}

static inline void arch_relax(void) {
    __asm__ volatile("pause");
}
