/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An auditor that is told of each call through a PLT and of each return: the loader puts its
 * profiling resolver into the GOT, which reads the return address and copies words of the stack.
 * For x86-64.
 */
#include <link.h>
#include <stdio.h>
#include <string.h>

unsigned la_version(unsigned version) {
    (void)version;
    return LAV_CURRENT;
}

unsigned la_objopen(struct link_map *m, Lmid_t space, uintptr_t *cookie) {
    (void)m, (void)space, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

ElfW(Addr) la_x86_64_gnu_pltenter(ElfW(Sym) * symbol, unsigned index, uintptr_t *from,
                                  uintptr_t *to, La_x86_64_regs *registers, unsigned *flags,
                                  const char *name, long *frame) {
    (void)index, (void)from, (void)to, (void)registers, (void)flags;
    if (!strncmp(name, "cudnn", 5)) {
        fprintf(stderr, "enter %s\n", name);
        *frame = 64;
    }
    return symbol->st_value;
}

unsigned la_x86_64_gnu_pltexit(ElfW(Sym) * symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                               const La_x86_64_regs *before, La_x86_64_retval *after,
                               const char *name) {
    (void)symbol, (void)index, (void)from, (void)to, (void)before;
    if (!strncmp(name, "cudnn", 5))
        fprintf(stderr, "leave %s: %u\n", name, (unsigned)after->lrv_rax);
    return 0;
}
