/* SPDX-License-Identifier: Apache-2.0 */
#include "next.h"

#include <link.h>

#include "auxv.h"
#include "listed.h"
#include "start.h"
#include "sys.h"

static uintptr_t defined_in(const struct wc_elf_image *image, const char *name, unsigned type) {
    struct wc_elf_symbol symbol;
    if (!wc_elf_find_defined(image, name, &symbol))
        return 0;
    return symbol.type == type ? (uintptr_t)(image->base + symbol.value) : 0;
}

/* Searches the objects after us; the C library has all these names. They are start-up objects,
 * which are never unloaded, so no lock is needed. */
static uintptr_t defined_behind_us(const char *name, unsigned type, bool (*fits)(const char *)) {
    struct dl_phdr_info info;
    struct wc_elf_image image;
    uintptr_t found = 0;
    bool behind_us = false;
    for (const struct link_map *m = listed_first(); m && !found; m = m->l_next) {
        listed_info(m, &info);
        if (!behind_us)
            behind_us = m->l_addr == (uintptr_t)&__ehdr_start;
        else if ((!fits || fits(wc_base_name(m->l_name))) && listed_image(&info, &image))
            found = defined_in(&image, name, type);
    }
    return found;
}

static bool is_of_libc(const char *file) {
    return wc_str_same(file, "libc.so.6") || wc_str_same(file, "libdl.so.2");
}

uintptr_t next_of_libc(unsigned entry) {
    static uintptr_t of_libc[ENTRIES];
    uintptr_t known = __atomic_load_n(&of_libc[entry], __ATOMIC_RELAXED);
    if (!known) {
        known = defined_behind_us(entry_names[entry], STT_FUNC, is_of_libc);
        __atomic_store_n(&of_libc[entry], known, __ATOMIC_RELAXED);
    }
    return known;
}

uintptr_t next_resolver(const char *name) {
    return defined_behind_us(name, STT_GNU_IFUNC, NULL);
}

/* `environ` is the program's if the program defines one: the C library then uses it, too. */
const char *const *next_environment(void) {
    static const void *of_libc;
    struct dl_phdr_info info;
    struct wc_elf_image image;
    for (const struct link_map *m = of_libc ? NULL : listed_first(); m && !of_libc; m = m->l_next) {
        listed_info(m, &info);
        if ((m == listed_first() || is_of_libc(wc_base_name(m->l_name))) &&
            listed_image_asked(&info, &image))
            of_libc = (const void *)defined_in(&image, "environ", STT_OBJECT);
    }
    return of_libc && readable_asked(of_libc, sizeof(void *)) ? *(const char *const *const *)of_libc
                                                              : NULL;
}

/* The loader's list by the program's DT_DEBUG; NULL: it has none. */
static const struct link_map *list_of_program(uintptr_t base, const ElfW(Phdr) * phdr, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (phdr[i].p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *d = (const void *)(base + phdr[i].p_vaddr); d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
                return ((const struct r_debug *)d->d_un.d_ptr)->r_map;
    }
    return NULL;
}

/* The loader's list by its own symbols: phdr are the loader's headers if it was started with the
 * program as an argument. */
static const struct link_map *list_of_loader(const ElfW(Phdr) * phdr, size_t n) {
    struct wc_elf_image image;
    struct wc_elf_symbol list;
    const ElfW(Ehdr) *header = (const void *)((uintptr_t)phdr & ~(uintptr_t)4095);
    if (!phdr || wc_mem_compare(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        (uintptr_t)header + header->e_phoff != (uintptr_t)phdr ||
        wc_elf_from_memory(&image, (uintptr_t)header, phdr, n) != WC_ELF_OK ||
        !wc_elf_find_defined(&image, "_r_debug", &list) || list.size < sizeof(struct r_debug))
        return NULL;
    return ((const struct r_debug *)((uintptr_t)header + list.value))->r_map;
}

/*
 * The first object on the loader's list, found before we are relocated, when no import and no
 * pointer in our data works. The auxiliary vector has the program's headers, whose DT_DEBUG leads
 * to the list. If the loader was started with the program as an argument, the headers are the
 * loader's, which defines _r_debug. Start-up objects come first and are never unloaded, so up to
 * the C library the list can be read without a lock.
 */
static const struct link_map *first_link_map(void) {
    const ElfW(Phdr) *phdr = (const void *)auxv_value(AT_PHDR);
    size_t n = auxv_value(AT_PHNUM);
    uint64_t base = 0;
    bool based = false; /* a program with an interpreter has PT_PHDR, the loader has none */
    for (size_t i = 0; phdr && i < n; i++)
        if (phdr[i].p_type == PT_PHDR) {
            base = (uintptr_t)phdr - phdr[i].p_vaddr;
            based = true;
        }
    return based ? list_of_program(base, phdr, n) : list_of_loader(phdr, n);
}

/* The image of a mapped library whose first segment begins with the ELF header. The load bias need
 * not be the address of that header: for a library that is linked for a base of its own, nothing or
 * something else may be mapped there. */
static bool image_of(const struct link_map *m, struct wc_elf_image *image) {
    const ElfW(Ehdr) *header = (const void *)m->l_addr;
    if (!m->l_addr || m->l_addr % 4096 != 0 || (uintptr_t)m->l_ld < m->l_addr ||
        !wc_str_find_char(m->l_name, '/') || !sys_is_readable(header) ||
        wc_mem_compare(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return false;
    const ElfW(Phdr) *phdr = (const void *)(m->l_addr + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++)
        if (phdr[i].p_type == PT_DYNAMIC && m->l_addr + phdr[i].p_vaddr == (uintptr_t)m->l_ld)
            return wc_elf_from_memory(image, m->l_addr, phdr, header->e_phnum) == WC_ELF_OK;
    return false;
}

struct entry_answer shim_hook_unrelocated(unsigned entry, const uintptr_t *arguments,
                                          uintptr_t return_address) {
    struct entry_answer answer = {0, 0};
    struct wc_elf_image image;
    bool behind_us = false;
    (void)arguments, (void)return_address;
    for (const struct link_map *m = first_link_map(); m && !answer.jump; m = m->l_next) {
        if (!behind_us)
            behind_us = m->l_addr == (uintptr_t)&__ehdr_start;
        else if (image_of(m, &image))
            answer.jump = defined_in(&image, entry_names[entry], STT_FUNC);
    }
    return answer;
}
