/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include "arch.h"
#include "core/names/symbols.h"
#include "core/records/emit.h"
#include "journal.h"
#include "memory.h"
#include "objects.h"
#include "watched.h"

/* ---- finding the slots of a host ---- */

#define SLOTS_MOST 4096

/* Listed functions among the dynamic symbols, by symbol number. */
struct wanted {
    uint32_t low, high; /* symbol numbers lie in [low, high] */
    short *function;    /* of symbol low + i, WC_NO_FUNCTION if not listed */
};

/* A host that defines listed functions itself has these symbols after its imports. */
static bool find_wanted(const struct object *host, struct wanted *w) {
    const struct wc_elf_image *e = &host->image;
    uint32_t end = host->l.defines ? e->symbols : wc_elf_imports_end(e);
    w->low = UINT32_MAX;
    w->high = 0;
    for (uint32_t i = 1; i < end; i++)
        if (wc_function_find(wc_elf_symbol_name(e, i)) != WC_NO_FUNCTION) {
            w->low = i < w->low ? i : w->low;
            w->high = i;
        }
    if (w->low > w->high)
        return false;
    size_t n = (size_t)(w->high - w->low) + 1;
    short *list = memory_scratch_file();
    if (!list || n > SCRATCH_FILE / sizeof *list)
        return false;
    for (size_t i = 0; i < n; i++)
        list[i] = (short)wc_function_find(wc_elf_symbol_name(e, w->low + (uint32_t)i));
    w->function = list;
    return true;
}

/* Puts at most `room` slots of wanted functions into `to`. Returns how many there are. */
static size_t each_slot(const struct object *host, const struct wanted *w, struct slot *to,
                        size_t room) {
    struct wc_elf_symbol s;
    struct wc_elf_reloc r;
    size_t n = 0;
    for (size_t i = 0; wc_elf_reloc_at(&host->image, i, &r); i++) {
        bool jump = r.type == ARCH_RELOC_JUMP_SLOT, address = r.type == ARCH_RELOC_GLOB_DAT;
        /* On x86-64 the addend of a jump slot does not count: linkers put the PLT entry's address
         * there (-z mark-plt). */
        bool relative = r.addend != 0 && !(ARCH_JUMP_SLOT_MARKS_PLT && jump);
        if (r.symbol < w->low || r.symbol > w->high || relative ||
            w->function[r.symbol - w->low] == WC_NO_FUNCTION ||
            !(jump || address || r.type == ARCH_RELOC_ABSOLUTE) ||
            (host->base + r.slot) % sizeof(uintptr_t) != 0 || /* not one that any linker makes */
            !wc_elf_at(&host->image, r.slot, sizeof(uintptr_t)))
            continue;
        if (n < room)
            to[n] =
                (struct slot){.function = w->function[r.symbol - w->low],
                              .kind = jump      ? SLOT_JUMP
                                      : address ? SLOT_ADDRESS
                                                : SLOT_TABLE,
                              .defined = wc_elf_symbol_at(&host->image, r.symbol, &s) && s.defined,
                              .address = host->base + r.slot,
                              .number = i};
        n++;
    }
    return n;
}

static void find_slots(struct object *host) {
    struct wanted w;
    host->slots_known = true;
    host->slot_count = 0;
    if (!find_wanted(host, &w))
        return;
    size_t n = each_slot(host, &w, NULL, 0);
    n = n < SLOTS_MOST ? n : SLOTS_MOST;
    if (n > host->slot_room) {
        host->slots = wc_arena_take(&memory_arena, n * sizeof *host->slots);
        host->slot_room = host->slots ? n : 0;
    }
    if (!host->slots)
        return;
    host->slot_count = n;
    each_slot(host, &w, host->slots, n);
    for (size_t i = 0; i < n; i++) {
        struct slot *s = &host->slots[i];
        s->only = s->kind != SLOT_JUMP;
        for (size_t k = 0; s->only && k < n; k++)
            s->only = host->slots[k].function != s->function || host->slots[k].kind != SLOT_JUMP;
    }
}

/* ---- reading ---- */

/* In a program that is not position independent the address of a function is its PLT entry, and the
 * program's own slot has the binding. NULL: this address is not such an entry. */
static const struct slot *program_slot(uintptr_t address, int function) {
    const struct object *to = objects_at(address);
    if (!to || !to->program)
        return NULL;
    return WC_FIRST(slot, WC_ITEMS(to->slots, to->slot_count),
                    slot->function == function && slot->kind == SLOT_JUMP && !slot->defined);
}

static void read_slot(const struct object *host, struct slot *s) {
    uintptr_t value = __atomic_load_n((uintptr_t *)s->address, __ATOMIC_ACQUIRE);
    uintptr_t behind = watched_target_of(value);
    struct slot before = *s;
    s->target = behind ? behind : value;
    s->wrapped = behind != 0;
    if (value == 0) {
        s->how = WC_binding_how_UNDEFINED;
    } else if (s->target - host->low < host->high - host->low) {
        s->how = s->defined ? WC_binding_how_ITSELF : WC_binding_how_LAZY;
    } else {
        const struct slot *further = program_slot(s->target, s->function);
        s->through_program = further != NULL;
        s->how = further ? further->how : WC_binding_how_SLOT;
        s->target = further ? further->target : s->target;
        s->wrapped = further ? further->wrapped : s->wrapped;
    }
    s->recorded = s->recorded && before.how == s->how && before.target == s->target;
}

void slots_read(struct object *host) {
    if (!host->slots_known)
        find_slots(host);
    for (size_t i = 0; i < host->slot_count; i++)
        read_slot(host, &host->slots[i]);
}

/* ---- emitting ---- */

/* One record for all slots without one that are bound to the same library as the first of them. */
static void emit_group(struct object *host, size_t first) {
    static const char *list[512];
    struct wc_strings names = {list, 0};
    struct slot *s = &host->slots[first];
    const struct object *library = s->how == WC_binding_how_SLOT     ? objects_at(s->target)
                                   : s->how == WC_binding_how_ITSELF ? host
                                                                     : NULL;
    int64_t wrapped = 0;
    for (size_t i = first; i < host->slot_count; i++) {
        struct slot *other = &host->slots[i];
        if (other->recorded || other->how != s->how ||
            (s->how == WC_binding_how_SLOT && objects_at(other->target) != library))
            continue;
        const char *name = wc_function_name(other->function);
        wrapped += other->wrapped;
        if (names.n < sizeof list / sizeof *list && !WC_ANY(known, names, *known == name))
            list[names.n++] = name;
        other->recorded = true;
    }
    wc_emit_binding(&journal_sink, &host->l, library ? &library->l : NULL, s->how, &names, wrapped);
}

void slots_emit(struct object *host) {
    bool tables = false;
    if (object_is_emitted_enough(host))
        return;
    for (size_t i = 0; i < host->slot_count; i++) {
        const struct slot *s = &host->slots[i];
        tables = tables || (s->kind == SLOT_TABLE && s->how == WC_binding_how_SLOT);
        if (!s->recorded && s->how != WC_binding_how_UNKNOWN)
            emit_group(host, i);
    }
    if (tables) /* only its bindings are seen */
        journal_unobserved("calls through a table of function pointers",
                           "only jump slots and addresses are rewritten", host->l.path);
}

static void emit_resolved(const struct object *host, const struct object *library,
                          const char *function) {
    bool news = false;
    for (size_t i = 0; i < host->slot_count; i++) {
        struct slot *s = &host->slots[i];
        if (s->how != WC_binding_how_LAZY || !wc_str_same(wc_function_name(s->function), function))
            continue;
        read_slot(host, s);
        news = news || s->how == WC_binding_how_SLOT;
        s->recorded = s->recorded || s->how == WC_binding_how_SLOT;
    }
    if (news)
        wc_emit_binding(&journal_sink, &host->l, library ? &library->l : NULL, WC_binding_how_SLOT,
                        &(struct wc_strings){&function, 1}, 1);
}

void slots_emit_resolved(const struct object *host, const struct object *library,
                         const char *function) {
    const struct object *o;
    emit_resolved(host, library, function);
    for (size_t i = 0; host->program && (o = objects_get(i)); i++)
        if (o != host && o->l.mapped && o->l.role == WC_role_HOST)
            emit_resolved(o, library, function);
}

void slots_emit_lookup(const struct object *host, const struct object *library,
                       const char *function, bool wrapped) {
    /* Some hosts look a function up again for each call. */
    if (!WC_ANY(b, journal_stack()->bindings,
                b->r.how == WC_binding_how_DLSYM && b->r.target == library->l.number &&
                    b->r.host == host->l.number &&
                    WC_ANY(f, b->r.functions, wc_str_same(*f, function))))
        wc_emit_binding(&journal_sink, &host->l, &library->l, WC_binding_how_DLSYM,
                        &(struct wc_strings){&function, 1}, wrapped);
}
