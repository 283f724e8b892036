/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim/slots.c and shim/rewrite.c over a damaged host. The input is the host's file, then what the
 * loader is to have put into its slots. What it calls in the rest of the shim is told here; the
 * pages are real, and so are the calls that protect them. Nothing may be written but slots of
 * functions that are listed, and nothing into them but wrappers.
 */
#include "shim/slots.h"

#include "core/names/symbols.h"
#include "shim/calls.h"
#include "shim/config.h"
#include "shim/journal.h"
#include "shim/memory.h"
#include "shim/objects.h"
#include "shim/rewrite.h"
#include "shim/start.h"
#include "shim/sys.h"
#include "shim/watched.h"
#include "support_mapped.h"

enum {
    HOST_AT_ZERO = 1,
    HOST_DEFINES = 2,
    IS_PROGRAM = 4,
    CALLS_OFF = 8,
    LITTLE_MEMORY = 16,
    NO_WRAPPERS = 32,
    PROGRAM_TOO = 64,
    TRACED = 128,
};

/* Places without memory: a cuDNN library, and the wrappers of its functions. */
#define LIBRARY ((uintptr_t)0x300000000000)
#define WRAPPERS ((uintptr_t)0x310000000000)
enum { LIBRARY_SIZE = 1 << 20 };

/* What a linker puts behind each lazy slot: mold on x86-64, all on aarch64. */
#ifdef __x86_64__
#define LAZY_CODE "\x41\x53\xff\x35"
#else
#define LAZY_CODE "\xf0\x7b\xbf\xa9"
#endif

static struct process_library host_at, program_at;
static struct object library, host, program;
static struct piecewise memory;
static unsigned char *before;
static unsigned settings, records;
static struct wc_stack stack;
static short scratch[SCRATCH_FILE / sizeof(short)];

struct config config;
struct wc_arena memory_arena;

/* ---- the rest of the shim ---- */

uintptr_t auxv_page_size(void);
uintptr_t auxv_page_size(void) {
    return 4096;
}

void *memory_scratch_file(void) {
    return settings & LITTLE_MEMORY && records % 3 == 1 ? NULL : scratch;
}

int watched_row(const char *function, int major) {
    MUST(function && major < 100);
    return strstr(function, "Create") ? 1 : NOT_WATCHED;
}

static uintptr_t wrapper(uintptr_t target) {
    return settings & NO_WRAPPERS ? 0 : WRAPPERS + target % LIBRARY_SIZE;
}

uintptr_t call_wrapper(int row, uintptr_t target, const struct object *o) {
    MUST(row == 1 && o == &library);
    return wrapper(target);
}

uintptr_t call_wrapper_lazy(int row, const struct slot *s, const struct object *o,
                            const uintptr_t *got) {
    MUST(got[2] == loader_list.r_brk && row == 1 && s->target - o->low < o->high - o->low &&
         s->address - o->low < o->high - o->low);
    return wrapper(s->target);
}

struct instance *watched_instance_of(int row, uintptr_t slot, uintptr_t target) {
    static struct instance one;
    MUST(row == 1 && slot % sizeof slot == 0 && target == 0);
    return settings & NO_WRAPPERS ? &one : NULL;
}

uintptr_t watched_target_of(uintptr_t address) {
    return address - WRAPPERS < LIBRARY_SIZE ? LIBRARY + (address - WRAPPERS) : 0;
}

static struct object *const objects[] = {&library, &program, &host};

struct object *objects_at(uintptr_t address) {
    for (size_t i = 0; i < 3; i++)
        if (objects[i]->l.mapped && address - objects[i]->low < objects[i]->high - objects[i]->low)
            return objects[i];
    return NULL;
}

struct object *objects_get(size_t i) {
    return i < 3 ? objects[i] : NULL;
}

bool object_is_emitted_enough(const struct object *o) {
    return o->records > 250;
}

void journal_unobserved(const char *what, const char *why, const char *path) {
    MUST(what && why && path);
    records++;
}

struct wc_stack *journal_stack(void) {
    return &stack;
}

static void add_record(void *ctx, struct wc_record *r) {
    (void)ctx;
    static char line[WC_RECORD_MAX];
    const struct wc_binding_record *b = &r->u.binding;
    MUST(r->kind == WC_KIND_binding && b->functions.n > 0);
    for (size_t i = 0; i < b->functions.n; i++)
        MUST(wc_function_find(b->functions.p[i]) != WC_NO_FUNCTION);
    MUST(b->wrapped >= 0);
    MUST(wc_record_write(r, line, sizeof line) > 0);
    wc_stack_apply(&stack, r);
    records++;
}
const struct wc_sink journal_sink = {add_record, NULL};

/* ---- the process ---- */

static bool make_host(struct object *o, struct process_library *m, const char *path, unsigned how) {
    memset(o, 0, sizeof *o);
    if (wc_elf_from_memory(&o->image, m->base, m->phdr, m->phnum) != WC_ELF_OK)
        return false;
    o->l.path = path;
    o->l.number = o == &program ? 2 : 3;
    o->l.role = WC_role_HOST;
    o->l.imports = o->l.mapped = true;
    o->l.defines = how & HOST_DEFINES;
    o->program = o == &program || how & IS_PROGRAM;
    o->major = 9;
    o->base = m->base;
    o->low = (uintptr_t)m->at;
    o->high = o->low + MAPPED_SIZE;
    return true;
}

/* What the loader puts into a slot, of the kinds that there are. */
static uintptr_t resolved(struct controls *c, const struct object *o) {
    unsigned kind = take_control(c);
    switch (kind % 8) {
    case 0:
        return 0;
    case 1:
    case 2:
        return LIBRARY + kind * 16;
    case 3:
        if (kind & 32)
            memcpy((void *)(o->low + kind * 16), LAZY_CODE, sizeof LAZY_CODE - 1);
        return o->low + kind * 16;
    case 4: /* the program's PLT, most likely */
        return program.l.mapped ? program.low + kind * 16 : LIBRARY;
    case 5:
        return WRAPPERS + kind * 16;
    case 6:
        return 0x7fff00000000 + kind;
    default:
        return LIBRARY + LIBRARY_SIZE - 1;
    }
}

static void resolve(struct controls *c, const struct object *o) {
    struct wc_elf_reloc r;
    for (size_t i = 0; i < 512 && wc_elf_reloc_at(&o->image, i, &r); i++) {
        void *slot = (void *)(uintptr_t)wc_elf_at(&o->image, r.slot, sizeof(uintptr_t));
        uintptr_t value = resolved(c, o);
        if (slot && r.symbol)
            memcpy(slot, &value, sizeof value);
    }
    uintptr_t *got = (uintptr_t *)(uintptr_t)wc_elf_at(&o->image, o->image.pltgot, 3 * sizeof *got);
    if (got && !(settings & TRACED))
        memcpy(got + 2, &loader_list.r_brk, sizeof *got);
}

/* ---- what holds ---- */

static bool listed_at(const struct object *o, uint64_t slot) {
    struct wc_elf_reloc r;
    for (size_t i = 0; wc_elf_reloc_at(&o->image, i, &r); i++) {
        const char *name = wc_elf_symbol_name(&o->image, r.symbol);
        if (r.slot == slot && name && wc_function_find(name) != WC_NO_FUNCTION &&
            (r.type == ARCH_RELOC_JUMP_SLOT || r.type == ARCH_RELOC_GLOB_DAT))
            return true;
    }
    return false;
}

static void check_writes(const struct object *o, const struct process_library *m) {
    for (size_t i = 0; i < MAPPED_SIZE; i += sizeof(uintptr_t)) {
        uintptr_t old, now;
        memcpy(&old, before + i, sizeof old);
        memcpy(&now, m->at + i, sizeof now);
        if (old == now)
            continue;
        MUST(now - WRAPPERS < LIBRARY_SIZE);
        MUST(listed_at(o, m->low + i));
    }
}

static void check_slots(const struct object *o) {
    for (size_t i = 0; i < o->slot_count; i++) {
        const struct slot *s = &o->slots[i];
        MUST(s->function >= 0 && s->function < wc_function_count());
        MUST(s->how != WC_binding_how_UNKNOWN || !o->slots_known);
        MUST(s->address % sizeof(uintptr_t) == 0); /* they are read and written at once */
        MUST(!s->wrapped || s->target);
    }
}

static void attend(struct object *o, struct process_library *m) {
    ASAN_UNPOISON_MEMORY_REGION(m->at, MAPPED_SIZE);
    memcpy(before, m->at, MAPPED_SIZE);
    mapped_poison(m);
    rewrite_is_too_early(o);
    rewrite_slots(o);
    ASAN_UNPOISON_MEMORY_REGION(m->at, MAPPED_SIZE);
    check_writes(o, m);
    check_slots(o);
    mapped_poison(m);
}

static void emit(struct object *o) {
    slots_emit(o);
    for (size_t i = 0; i < o->slot_count; i++)
        MUST(o->slots[i].recorded || object_is_emitted_enough(o));
    for (size_t i = 0; i < o->slot_count && i < 4; i++)
        slots_emit_resolved(o, &library, wc_function_name(o->slots[i].function));
    if (o->slot_count)
        slots_emit_lookup(o, &library, wc_function_name(o->slots[0].function), true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct controls c = {data, size};
    settings = take_control(&c);
    uint64_t low = settings & HOST_AT_ZERO ? 0 : 0x400000;
    records = 0;
    memset(scratch, 0x5a, sizeof scratch); /* as a file left it that was read before */
    if (!before) {
        before = malloc(MAPPED_SIZE);
        mapped_begin(&host_at, 0x200000000000);
        mapped_begin(&program_at, 0x210000000000);
    }
    library = (struct object){.l.number = 1,
                              .l.role = WC_role_FACADE,
                              .l.mapped = true,
                              .major = 9,
                              .l.path = "/l/libcudnn.so.9",
                              .low = LIBRARY,
                              .high = LIBRARY + LIBRARY_SIZE};
    config.calls = !(settings & CALLS_OFF);
    piecewise_begin(&memory, settings & LITTLE_MEMORY ? 200 : 1 << 20);
    memory_arena = memory.arena;
    wc_stack_begin(&stack, &memory_arena);
    memset(&program, 0, sizeof program);
    memset(&host, 0, sizeof host);
    if (settings & PROGRAM_TOO && process_library_file(&program_at, data, size, low, false) &&
        make_host(&program, &program_at, "/p/program", settings)) {
        resolve(&c, &program);
        attend(&program, &program_at);
    }
    if (process_library_file(&host_at, data, size, low, true) &&
        make_host(&host, &host_at, "/h/host", settings)) {
        resolve(&c, &host);
        attend(&host, &host_at);
        emit(&host);
        ASAN_UNPOISON_MEMORY_REGION(host_at.at, MAPPED_SIZE);
        mprotect(host_at.at, MAPPED_SIZE, PROT_READ | PROT_WRITE);
        resolve(&c, &host); /* meanwhile the loader resolved some more */
        attend(&host, &host_at);
        emit(&host);
    }
    ASAN_UNPOISON_MEMORY_REGION(host_at.at, MAPPED_SIZE);
    ASAN_UNPOISON_MEMORY_REGION(program_at.at, MAPPED_SIZE);
    piecewise_end(&memory);
    return 0;
}
