/* SPDX-License-Identifier: Apache-2.0 */
#include "next.h"

#include <link.h>

#include "auxv.h"
#include "listed.h"
#include "self.h"
#include "signals.h"
#include "sys.h"
#include "thread.h"

extern __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

static uintptr_t found[ENTRIES];

/* Characters, not pointers, which would need relocation. In the order of entry.h. */
static const char entry_names[ENTRIES][8] = {"dlopen",  "dlmopen", "dlsym",  "dlvsym",
                                             "dlclose", "dlerror", "dladdr", "dladdr1"};

struct search {
    unsigned entry;
    bool behind_us;
    uintptr_t result;
};

static uintptr_t defined_in(const struct wc_elf_image *image, const char *name) {
    struct wc_elf_symbol symbol;
    if (!wc_elf_find_defined(image, name, &symbol))
        return 0;
    return symbol.type == STT_FUNC ? (uintptr_t)(image->base + symbol.value) : 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
    struct search *s = argument;
    struct wc_elf_image image;
    (void)size;
    if (!s->behind_us) {
        s->behind_us = listed_contains(info, (uintptr_t)&__ehdr_start);
        return 0;
    }
    if (listed_image(info, &image))
        s->result = defined_in(&image, entry_names[s->entry]);
    return s->result != 0;
}

static void *volatile own_address = (void *)&own_address;

bool next_are_we_relocated(void) {
    return own_address == (void *)&own_address;
}

uintptr_t next_definition(unsigned entry) {
    if (!next_are_we_relocated())
        return shim_hook_unrelocated(entry, NULL, 0).jump;
    uintptr_t known = __atomic_load_n(&found[entry], __ATOMIC_RELAXED);
    if (known)
        return known;
    if (this_thread.searching || !next_may_walk())
        return shim_hook_unrelocated(entry, NULL, 0).jump;
    struct search s = {entry, false, 0};
    this_thread.searching = true;
    next_walk(look, &s);
    this_thread.searching = false;
    __atomic_store_n(&found[entry], s.result, __ATOMIC_RELAXED);
    return s.result;
}

/* phdr are the loader's own headers: it was started with the program as an argument. */
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
 * Before our own relocation no import works and no pointer in our data is right. The loader's list
 * is reached through the program's DT_DEBUG, the program's headers through the auxiliary vector;
 * those are the loader's where it was started with the program as an argument, and it defines
 * _r_debug. Start-up objects stand first in it and never leave it: up to the C library it can be
 * read without a lock.
 */
static const struct link_map *first_link_map(void) {
    const ElfW(Phdr) *phdr = (const void *)auxv_value(AT_PHDR);
    size_t n = auxv_value(AT_PHNUM);
    uint64_t base = 0;
    bool based = false; /* a program that has an interpreter has PT_PHDR, the loader has it not */
    for (size_t i = 0; phdr && i < n; i++)
        if (phdr[i].p_type == PT_PHDR) {
            base = (uintptr_t)phdr - phdr[i].p_vaddr;
            based = true;
        }
    return based ? listed_by(base, phdr, n) : list_of_loader(phdr, n);
}

/* The headers of a mapped library, where its first segment begins with the ELF header. A load bias
 * is no address: a library that was linked for a base of its own and got another one has its bias
 * where nothing, or something else, is mapped. */
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

typedef int walk_function(int (*each)(struct dl_phdr_info *, size_t, void *), void *argument);

static bool is_other_libc; /* known before a walk is, and the same for every thread */

static int look_for_glibc(struct dl_phdr_info *info, size_t size, void *argument) {
    struct wc_elf_image image;
    (void)size, (void)argument;
    return listed_image(info, &image) && wc_str_same(wc_elf_soname(&image), "libc.so.6");
}

/* Where it cannot be found: whatever the name leads to. The libc may be another, which answers to
 * libc.so.6 under a name of its own. */
static walk_function *find_walk(void) {
    struct wc_elf_image image;
    for (const struct link_map *m = first_link_map(); m; m = m->l_next) {
        if (!wc_str_same(wc_base_name(m->l_name), "libc.so.6") || !image_of(m, &image))
            continue;
        uintptr_t found = defined_in(&image, "dl_iterate_phdr");
        return found ? (walk_function *)found : dl_iterate_phdr;
    }
    is_other_libc = !dl_iterate_phdr(look_for_glibc, NULL);
    return dl_iterate_phdr;
}

static walk_function *known_walk(void) {
    static walk_function *found;
    walk_function *walk = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (!walk) {
        walk = find_walk();
        __atomic_store_n(&found, walk, __ATOMIC_RELEASE);
    }
    return walk;
}

static unsigned walks_in; /* process in which the loader's list could be walked */

bool next_may_walk(void) {
    unsigned known = __atomic_load_n(&walks_in, __ATOMIC_RELAXED);
    return !known || !__atomic_load_n(&thread_others, __ATOMIC_RELAXED) || known == self_process();
}

void next_walks_in(unsigned process) {
    __atomic_store_n(&walks_in, process, __ATOMIC_RELAXED);
}

struct held_walk {
    int (*each)(struct dl_phdr_info *, size_t, void *);
    void *argument;
    bool held;
};

/* From here on, not before: a thread that waits for the loader's lock must stay interruptible. */
static int hold_and_see(struct dl_phdr_info *info, size_t size, void *argument) {
    struct held_walk *w = argument;
    if (!w->held)
        signals_hold();
    w->held = true;
    return w->each(info, size, w->argument);
}

int next_walk(int (*each)(struct dl_phdr_info *, size_t, void *), void *argument) {
    walk_function *walk = known_walk();
    struct held_walk w = {each, argument, false};
    int result = walk(hold_and_see, &w);
    if (w.held)
        signals_release();
    return result;
}

bool next_is_glibc(void) {
    (void)known_walk();
    return !is_other_libc;
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
            answer.jump = defined_in(&image, entry_names[entry]);
    }
    return answer;
}
