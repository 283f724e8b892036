/* SPDX-License-Identifier: Apache-2.0 */
#include "rewrite.h"

#include "arch.h"
#include "auxv.h"
#include "calls.h"
#include "config.h"
#include "core/names/symbols.h"
#include "journal.h"
#include "objects.h"
#include "slots.h"
#include "start.h"
#include "sys.h"
#include "watched.h"

/* glibc protects whole pages from PT_GNU_RELRO, both ends rounded down. */
static bool is_read_only_after_relocation(const struct object *host, uintptr_t address) {
    uintptr_t start = host->base + host->image.relro_vaddr;
    uintptr_t end = start + host->image.relro_size;
    uintptr_t page = auxv_page_size();
    return address >= (start & ~(page - 1)) && address < (end & ~(page - 1));
}

bool rewrite_is_too_early(const struct object *host) {
    uintptr_t page = auxv_page_size();
    uintptr_t start = (host->base + host->image.relro_vaddr) & ~(page - 1);
    return host->image.relro_size && is_read_only_after_relocation(host, start) &&
           sys_is_writable((const void *)start);
}

static bool write_slot(const struct object *host, uintptr_t address, uintptr_t value) {
    uintptr_t page = auxv_page_size();
    void *start = (void *)(address & ~(page - 1));
    bool protected = is_read_only_after_relocation(host, address);
    size_t i = 0;
    while (i < host->image.loads &&
           address - host->base - host->image.load[i].vaddr >= host->image.load[i].memsz)
        i++;
    if (i == host->image.loads || !(host->image.load[i].flags & PF_W))
        return false;
    if (protected && sys_protect(start, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n((uintptr_t *)address, value, __ATOMIC_RELEASE);
    if (protected)
        sys_protect(start, page, PROT_READ);
    return true;
}

/* Is this the loader's code? A tracer of the PLT replaces the resolver by its own. */
static bool is_the_loaders(uintptr_t code) {
    const struct link_map *m = start_list();
    while (m && m->l_addr != loader_list.r_ldbase)
        m = m->l_next;
    return m && code - m->l_addr < (uintptr_t)m->l_ld - m->l_addr;
}

static uintptr_t wrapper_for_lazy(const struct object *host, const struct slot *s, int row) {
    if (s->kind != SLOT_JUMP || row == NOT_WATCHED)
        return 0;
    const uintptr_t *got = wc_elf_at(&host->image, host->image.pltgot, 3 * sizeof *got);
    const void *code = wc_elf_at(&host->image, s->target - host->base, ARCH_LAZY_CODE);
    if (got && (uintptr_t)got % sizeof *got == 0 && is_the_loaders(got[2]) && code &&
        arch_is_lazy_code(code, (uint32_t)s->number) && s->number < host->image.jump_reloc_count)
        return call_wrapper_lazy(row, s, host, got);
    if (!watched_instance_of(row, s->address, 0)) /* else a tracer calls our wrapper */
        journal_unobserved("calls through a lazy slot", "the slot or the host's PLT was redirected",
                           host->l.path);
    return 0;
}

static uintptr_t wrapper_for(const struct object *host, const struct slot *s) {
    const char *function = wc_function_name(s->function);
    const struct object *library = objects_at(s->target);
    if (s->how == WC_binding_how_LAZY)
        return wrapper_for_lazy(host, s, watched_row(function, host->major));
    if (s->how != WC_binding_how_SLOT || !library || !object_is_cudnn(library))
        return 0;
    int row = watched_row(function, library->major);
    return row == NOT_WATCHED ? 0 : call_wrapper(row, s->target, library);
}

void rewrite_slots(struct object *host) {
    slots_read(host);
    for (size_t i = 0; config.calls && i < host->slot_count; i++) {
        struct slot *s = &host->slots[i];
        /* Not a slot that leads through the program's PLT: its calls are seen there, and the
         * function keeps one address in all objects. */
        bool rewritable = !s->wrapped && !s->through_program &&
                          (s->kind == SLOT_JUMP || (s->kind == SLOT_ADDRESS && s->only));
        uintptr_t wrapper = rewritable ? wrapper_for(host, s) : 0;
        if (!wrapper)
            continue;
        s->wrapped = write_slot(host, s->address, wrapper);
        if (!s->wrapped)
            journal_unobserved("calls through a slot", "its page cannot be written", host->l.path);
    }
}
