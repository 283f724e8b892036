/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader that maps a damaged file: its segments lie where they print, within a place of fixed
 * size, and every byte that is in none of them is poisoned. What the real loader would not have
 * mapped cannot come: its kernel refuses segments outside of the file and of the address space.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_MAPPED_H
#define WHICHCUDNN_TESTS_SUPPORT_MAPPED_H

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include "core/elf/elf_image.h"
#include "support_fuzz.h"

enum { MAPPED_SIZE = 128 << 10, MAPPED_PHDRS = 24 };

struct process_library {
    unsigned char *at; /* MAPPED_SIZE bytes */
    uint64_t base;     /* load bias: at is the address of link-time `low` */
    uint64_t low;
    Elf64_Phdr phdr[MAPPED_PHDRS];
    size_t phnum;
};

/* The same addresses in every run. */
static inline void mapped_begin(struct process_library *m, uintptr_t place) {
    m->at = mmap((void *)place, MAPPED_SIZE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    MUST(m->at == (void *)place);
}

/* Cuts a segment to the place and copies its bytes. */
static inline void mapped_load(struct process_library *m, const uint8_t *file, size_t size,
                               Elf64_Phdr *p) {
    if (p->p_vaddr < m->low || p->p_vaddr - m->low >= MAPPED_SIZE)
        p->p_vaddr = m->low + p->p_vaddr % MAPPED_SIZE;
    p->p_vaddr &= ~(uint64_t)7; /* a sanitizer marks eights */
    uint64_t in = p->p_vaddr - m->low;
    if (p->p_memsz > MAPPED_SIZE - in)
        p->p_memsz = MAPPED_SIZE - in;
    uint64_t n = p->p_filesz < p->p_memsz ? p->p_filesz : p->p_memsz;
    if (p->p_offset >= size)
        n = 0;
    else if (n > size - p->p_offset)
        n = size - p->p_offset;
    if (n)
        memcpy(m->at + in, file + p->p_offset, n);
}

/* What glibc adds the bias to, in place. */
static inline void mapped_relocate(struct process_library *m, const Elf64_Phdr *dynamic) {
    uint64_t in = dynamic->p_vaddr - m->low;
    for (; in % 8 == 0 && in <= MAPPED_SIZE - sizeof(Elf64_Dyn); in += sizeof(Elf64_Dyn)) {
        Elf64_Dyn *d = (Elf64_Dyn *)(void *)(m->at + in);
        switch (d->d_tag) {
        case DT_NULL:
            return;
        case DT_HASH:
        case DT_GNU_HASH:
        case DT_STRTAB:
        case DT_SYMTAB:
        case DT_RELA:
        case DT_JMPREL:
        case DT_VERSYM:
        case DT_PLTGOT:
            d->d_un.d_ptr += m->base;
            break;
        default:
            break;
        }
    }
}

/* True: there are program headers. */
static inline bool process_library_file(struct process_library *m, const uint8_t *file, size_t size,
                                        uint64_t low, bool relocate) {
    Elf64_Ehdr h;
    ASAN_UNPOISON_MEMORY_REGION(m->at, MAPPED_SIZE);
    MUST(mprotect(m->at, MAPPED_SIZE, PROT_READ | PROT_WRITE) == 0);
    memset(m->at, 0, MAPPED_SIZE);
    m->low = low;
    m->base = (uintptr_t)m->at - low;
    m->phnum = 0;
    if (size < sizeof h)
        return false;
    memcpy(&h, file, sizeof h);
    while (m->phnum < h.e_phnum && m->phnum < MAPPED_PHDRS && h.e_phoff < size &&
           (m->phnum + 1) * sizeof *m->phdr <= size - h.e_phoff) {
        Elf64_Phdr *p = &m->phdr[m->phnum];
        memcpy(p, file + h.e_phoff + m->phnum * sizeof *p, sizeof *p);
        if (p->p_type == PT_LOAD)
            mapped_load(m, file, size, p);
        m->phnum++;
    }
    for (size_t i = 0; relocate && i < m->phnum; i++)
        if (m->phdr[i].p_type == PT_DYNAMIC)
            mapped_relocate(m, &m->phdr[i]);
    return m->phnum > 0;
}

static inline void mapped_poison(const struct process_library *m) {
    ASAN_POISON_MEMORY_REGION(m->at, MAPPED_SIZE);
    for (size_t i = 0; i < m->phnum; i++)
        if (m->phdr[i].p_type == PT_LOAD && m->phdr[i].p_flags & PF_R)
            ASAN_UNPOISON_MEMORY_REGION(m->at + (m->phdr[i].p_vaddr - m->low), m->phdr[i].p_memsz);
}

#endif
