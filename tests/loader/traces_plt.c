/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What uftrace does, preloaded: the third word of the program's GOT leads to code of this library.
 * A slot that holds something else than its lazy value is taken for resolved: its value is kept as
 * the function and the slot gets the lazy value again, so that each call comes by. TRACED=1 prints
 * at the end how many did. For x86-64.
 */
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 256, CALLS_MOST = 100000 };

static uintptr_t base, functions[SLOTS], lazy[SLOTS];
static const ElfW(Rela) * slots;
static size_t slot_count;
static int calls;
__attribute__((visibility("hidden"))) uintptr_t traced_resolver;

/* Called as the loader's resolver is: the link map and the slot's number lie on the stack. */
__attribute__((visibility("hidden"))) void enter_tracer(void);
__asm__("enter_tracer: endbr64\n"
        "    push %rax; push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9\n"
        "    mov 64(%rsp), %rdi\n"
        "    sub $8, %rsp; call trace_call; add $8, %rsp\n"
        "    mov %rax, %r11\n"
        "    pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi; pop %rax\n"
        "    test %r11, %r11; jz 1f\n"
        "    add $16, %rsp; jmp *%r11\n"
        "1:  jmp *traced_resolver(%rip)\n");

static uintptr_t *slot_of(size_t i) {
    return (uintptr_t *)(base + slots[i].r_offset);
}

/* 0: the loader's resolver goes on. */
__attribute__((visibility("hidden"), used)) uintptr_t trace_call(size_t i) {
    if (++calls > CALLS_MOST)
        _exit(99); /* the function calls its own slot, without an end */
    if (functions[i])
        return functions[i];
    return *slot_of(i) != lazy[i] ? *slot_of(i) : 0;
}

static uintptr_t page_of(const void *p) {
    return (uintptr_t)p & ~4095UL;
}

static void make_writable(const void *p) {
    mprotect((void *)page_of(p), 4096, PROT_READ | PROT_WRITE);
}

/* As the file of the program has it. */
static uintptr_t lazy_value(const struct dl_phdr_info *info, int file, size_t i) {
    uintptr_t value = 0, at = slots[i].r_offset;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type == PT_LOAD && at - p->p_vaddr < p->p_filesz &&
            pread(file, &value, sizeof value, (off_t)(p->p_offset + at - p->p_vaddr)) < 0)
            _exit(98);
    }
    return base + value;
}

static int hook_program(struct dl_phdr_info *info, size_t size, void *argument) {
    uintptr_t *got = NULL;
    const ElfW(Dyn) *dynamic = NULL;
    (void)size, (void)argument;
    base = info->dlpi_addr;
    for (int k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_DYNAMIC)
            dynamic = (const void *)(base + info->dlpi_phdr[k].p_vaddr);
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        got = d->d_tag == DT_PLTGOT ? (uintptr_t *)d->d_un.d_ptr : got;
        slots = d->d_tag == DT_JMPREL ? (const void *)d->d_un.d_ptr : slots;
        slot_count = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val / sizeof *slots : slot_count;
    }
    if (!got || !got[2] || !slot_count || slot_count > SLOTS)
        return 1;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < slot_count; i++) {
        lazy[i] = lazy_value(info, file, i);
        if (*slot_of(i) == lazy[i])
            continue;
        functions[i] = *slot_of(i);
        make_writable(slot_of(i));
        *slot_of(i) = lazy[i];
    }
    close(file);
    traced_resolver = got[2];
    make_writable(&got[2]);
    got[2] = (uintptr_t)enter_tracer;
    if (page_of(&got[2]) != page_of(slot_of(0))) /* it is the end of PT_GNU_RELRO */
        mprotect((void *)page_of(&got[2]), 4096, PROT_READ);
    return 1;
}

__attribute__((constructor)) static void hook(void) {
    dl_iterate_phdr(hook_program, NULL);
}

__attribute__((destructor)) static void tell(void) {
    if (getenv("TRACED"))
        printf("traced %d\n", calls);
}
