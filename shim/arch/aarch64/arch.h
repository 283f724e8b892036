/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aarch64: system calls, relocation types, lazy slots. Each architecture has such a folder; no
 * other code of the shim depends on the architecture.
 */
#pragma once

#include <asm/unistd.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "wrappers.h"

#define ARCH_NAME "aarch64"
#define ARCH_MACHINE EM_AARCH64
#define ARCH_RELOC_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define ARCH_RELOC_GLOB_DAT R_AARCH64_GLOB_DAT
#define ARCH_RELOC_ABSOLUTE R_AARCH64_ABS64
/* Is a jump slot's addend the address of its PLT entry, which does not count? */
#define ARCH_JUMP_SLOT_MARKS_PLT 0
/* How shim_call_lazy passes to the loader which slot it is: by an address that is as far behind
 * instance.map as the slot is after the link map in the host's GOT. */
#define ARCH_LAZY_PASSES(in, number) ((uintptr_t)(&(in)->map + 2 + (number)))
/* The code after a lazy slot begins with stp x16, x30, [sp, -16]!: x16 is the slot's address. */
#define ARCH_LAZY_CODE 8
static inline bool arch_is_lazy_code(const unsigned char *code, uint32_t number) {
    (void)number;
    code += wc_mem_compare(code, "\x5f\x24\x03\xd5", 4) == 0 ? 4 : 0; /* bti c */
    return wc_mem_compare(code, "\xf0\x7b\xbf\xa9", 4) == 0;
}
#define ARCH_VDSO_CLOCK "__kernel_clock_gettime"

static inline long arch_syscall(long n, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

/* Valgrind recognizes the request by these rotations, which have no effect. */
static inline void arch_ask_valgrind(const uintptr_t request[6]) {
    register uintptr_t x3 __asm__("x3") = 0;
    register const uintptr_t *x4 __asm__("x4") = request;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(x3)
                     : "r"(x4)
                     : "cc", "memory");
}

static inline void arch_relax(void) {
    __asm__ volatile("yield");
}
