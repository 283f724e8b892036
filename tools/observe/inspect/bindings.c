/* SPDX-License-Identifier: Apache-2.0 */
/* See bindings.h; the shim does the same from inside (shim/slots.c). */
#include "bindings.h"

#include <stdlib.h>
#include <string.h>

#include "core/names/symbols.h"
#include "core/records/emit.h"
#include "whichcudnn/wrappers.h"

#define SLOTS_MOST 4096
#define WRAPPERS_MOST 65536
#define INSTANCE_MOST 4096

/* ---- the shim's wrappers ---- */

/* Of which version the shim may be: what it states has to make sense. */
static bool find_mark(const struct process_library *m, struct wc_wrappers *out, uint64_t *at) {
    const struct wc_elf_image *e = m->library->image;
    uint64_t from = 0, found;
    const void *mark;

    found = wc_elf_find_bytes(e, WC_WRAPPERS_MARK, sizeof(out->mark), &from, SIZE_MAX);
    if (!found || !(mark = wc_elf_at(e, found, sizeof(*out))))
        return false;
    memcpy(out, mark, sizeof(*out));
    *at = m->library->base + found;
    return out->count > 0 && out->count <= WRAPPERS_MOST && out->size <= INSTANCE_MOST &&
           out->size >= sizeof(uint64_t) && out->target <= out->size - sizeof(uint64_t);
}

static void read_wrappers(struct wrappers *w, const struct process *p,
                          const struct process_library *m) {
    struct wc_wrappers shim;
    unsigned char *instances;
    uint64_t at;

    if (!find_mark(m, &shim, &at))
        return;
    instances = must_allocate((size_t)shim.count * shim.size);
    w->wrapper = must_allocate(shim.count * sizeof(*w->wrapper));
    w->target = must_allocate(shim.count * sizeof(*w->target));
    if (process_read(p, at + offsetof(struct wc_wrappers, instances) + (uint64_t)shim.instances,
                     instances, (size_t)shim.count * shim.size))
        w->n = shim.count;
    for (size_t i = 0; i < w->n; i++) {
        w->wrapper[i] = at + offsetof(struct wc_wrappers, wrappers) + (uint64_t)shim.wrappers +
                        i * shim.wrapper_size;
        memcpy(&w->target[i], instances + i * shim.size + shim.target, sizeof(*w->target));
    }
    free(instances);
}

void wrappers_find(struct wrappers *w, const struct process *p,
                   const struct process_libraries *list) {
    *w = (struct wrappers){NULL, NULL, 0};
    for (size_t i = 0; i < list->n && w->n == 0; i++)
        if (list->p[i]->library->image &&
            wc_str_same(wc_elf_soname(list->p[i]->library->image), WC_OWN_NAME))
            read_wrappers(w, p, list->p[i]);
}

void wrappers_end(struct wrappers *w) {
    free(w->wrapper);
    free(w->target);
}

/* 0: it is not a wrapper. */
static uint64_t behind_wrapper(const struct wrappers *w, uint64_t address) {
    for (size_t i = 0; i < w->n; i++)
        if (w->wrapper[i] == address)
            return w->target[i];
    return 0;
}

/* ---- one slot ---- */

struct slot {
    const char *function;
    bool jump, defined; /* defined: by the host itself */
    uint64_t address;
    enum wc_binding_how how;
    uint64_t target;
    const struct process_library *library; /* NULL: it leads into none */
    bool wrapped, told;
};

struct reading {
    const struct process_library *host;
    const struct process *p;
    const struct process_libraries *list;
    const struct wrappers *wrappers;
    struct slot *slots;
    size_t n;
};

static bool is_slot(const struct wc_elf_image *e, const struct wc_elf_reloc *r, bool *jump) {
    bool arm = e->machine == EM_AARCH64;

    *jump = r->type == (arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT);
    /* A jump slot's addend is not part of its value on x86-64 (-z mark-plt). */
    if (r->addend != 0 && !(*jump && !arm))
        return false;
    return *jump || r->type == (arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT) ||
           r->type == (arm ? R_AARCH64_ABS64 : R_X86_64_64);
}

/* False: past the last. *is_one: it is a slot of cuDNN's. */
static bool read_reloc(const struct process_library *m, size_t i, struct slot *out, bool *is_one) {
    const struct wc_elf_image *e = m->library->image;
    struct wc_elf_symbol symbol;
    struct wc_elf_reloc r;
    int function;

    *is_one = false;
    memset(out, 0, sizeof(*out));
    if (!wc_elf_reloc_at(e, i, &r))
        return false;
    if (!r.symbol || !is_slot(e, &r, &out->jump) ||
        (m->library->base + r.slot) % sizeof(uint64_t) != 0 ||
        !wc_elf_symbol_at(e, r.symbol, &symbol) ||
        (function = wc_function_find(symbol.name)) == WC_NO_FUNCTION)
        return true;
    out->function = wc_function_name(function);
    out->defined = symbol.defined;
    out->address = m->library->base + r.slot;
    *is_one = true;
    return true;
}

static void read_value(const struct reading *r, const struct process_library *in, struct slot *s,
                       uint64_t value) {
    uint64_t behind = behind_wrapper(r->wrappers, value);

    s->target = behind ? behind : value;
    s->wrapped = behind != 0;
    s->library = process_library_at(r->list, s->target);
    if (value == 0)
        s->how = WC_binding_how_UNDEFINED;
    else if (s->library == in)
        s->how = s->defined ? WC_binding_how_ITSELF : WC_binding_how_LAZY;
    else
        s->how = WC_binding_how_SLOT;
}

/* In a program that is not position independent the address of a function is its PLT entry: what
 * it is bound to is in the program's own slot. */
static void go_through_program(const struct reading *r, struct slot *s) {
    const struct process_library *program = s->library;
    struct slot own;
    uint64_t value;
    bool is_one;

    if (s->how != WC_binding_how_SLOT || !program || !program->program || program == r->host)
        return;
    for (size_t i = 0; read_reloc(program, i, &own, &is_one); i++)
        if (is_one && own.jump && !own.defined && strcmp(own.function, s->function) == 0 &&
            process_read(r->p, own.address, &value, sizeof(value))) {
            read_value(r, program, s, value);
            return;
        }
}

/* ---- emitting ---- */

/* All that lead where the first of them leads, as one record. */
static void emit_group(struct reading *r, size_t first, const struct wc_sink *to) {
    struct {
        const char **p;
        size_t n;
    } names = {must_allocate(r->n * sizeof(char *)), 0};
    const struct slot *s = &r->slots[first];
    const struct process_library *target = s->how == WC_binding_how_SLOT     ? s->library
                                           : s->how == WC_binding_how_ITSELF ? r->host
                                                                             : NULL;
    int64_t wrapped = 0;

    for (size_t i = first; i < r->n; i++) {
        struct slot *other = &r->slots[i];
        if (other->told || other->how != s->how ||
            (s->how == WC_binding_how_SLOT && other->library != s->library))
            continue;
        wrapped += other->wrapped;
        if (!WC_ANY(name, names, *name == other->function))
            names.p[names.n++] = other->function;
        other->told = true;
    }
    wc_emit_binding(to, r->host->library, target ? target->library : NULL, s->how,
                    &(struct wc_strings){names.p, names.n}, wrapped);
    free(names.p);
}

bool bindings_emit(const struct process_library *host, const struct process *p,
                   const struct process_libraries *list, const struct wrappers *wrappers,
                   const struct wc_sink *to) {
    struct reading r = {host, p, list, wrappers, NULL, 0};
    bool is_one, good = true;
    struct slot one;
    uint64_t value;

    for (size_t i = 0;
         host->library->image && r.n < SLOTS_MOST && good && read_reloc(host, i, &one, &is_one);
         i++) {
        if (!is_one)
            continue;
        good = process_read(p, one.address, &value, sizeof(value));
        if (good) {
            read_value(&r, host, &one, value);
            go_through_program(&r, &one);
            *MUST_ADD(r.slots, r.n) = one;
        }
    }
    for (size_t i = 0; i < r.n && good; i++)
        if (!r.slots[i].told)
            emit_group(&r, i, to);
    free(r.slots);
    return good;
}
