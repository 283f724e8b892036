/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a host: found, read, rewritten, told. The host is made here and put where a loader
 * would have put it; wrappers, journal and the table of objects are the test's own. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "core/names/symbols.h"
#include "shim/calls.h"
#include "shim/config.h"
#include "shim/journal.h"
#include "shim/objects.h"
#include "shim/rewrite.h"
#include "shim/slots.h"
#include "shim/start.h"
#include "shim/watched.h"
#include "support_elf.h"

enum { FUNC = STT_FUNC | STB_GLOBAL << 4 };

#ifdef __x86_64__
enum {
    JUMP_SLOT = R_X86_64_JUMP_SLOT,
    GLOB_DAT = R_X86_64_GLOB_DAT,
    ABSOLUTE = R_X86_64_64,
    RELATIVE = R_X86_64_RELATIVE,
    MARKS_PLT = 0x40 /* -z mark-plt leaves that in the addend */
};
#else
enum {
    JUMP_SLOT = R_AARCH64_JUMP_SLOT,
    GLOB_DAT = R_AARCH64_GLOB_DAT,
    ABSOLUTE = R_AARCH64_ABS64,
    RELATIVE = R_AARCH64_RELATIVE,
    MARKS_PLT = 0
};
#endif

/* ---- the parts beside it ---- */

#define LIBRARY ((uintptr_t)0x10000000) /* a function there is at an address of its own */
#define OTHER ((uintptr_t)0x20000000)
#define NOWHERE ((uintptr_t)0x30000000)
#define WRAPPERS ((uintptr_t)0x40000000) /* plus what they forward to */
#define LAZY ((uintptr_t)0x1000000000)   /* likewise, to an entry of the PLT */

static struct object host, program, library, other;
static struct {
    struct wc_binding_record bindings[8];
    char functions[8][256];
    size_t count;
    const char *unobserved, *blind_path;
} told;
static struct wc_stack stack;
static uintptr_t lazy_slot, wrapped_slot, resolver;
static bool are_wrappers_left;
static unsigned char *memory; /* of the host, a mapping of its own: its pages are protected */

static void add_record(void *ctx, struct wc_record *r) {
    (void)ctx;
    assert_int_equal(r->kind, WC_KIND_binding);
    assert_in_range(told.count, 0, 7);
    const struct wc_binding_record *b = &r->u.binding;
    told.functions[told.count][0] = 0;
    for (size_t i = 0; i < b->functions.n; i++)
        strcat(strcat(told.functions[told.count], i ? " " : ""), b->functions.p[i]);
    told.bindings[told.count++] = *b;
}
const struct wc_sink journal_sink = {add_record, NULL};
void journal_unobserved(const char *what, const char *why, const char *path) {
    (void)why;
    told.unobserved = what;
    told.blind_path = path;
}
struct wc_stack *journal_stack(void) {
    return &stack;
}
static struct object *const objects[] = {&host, &program, &library, &other};
struct object *objects_get(size_t i) {
    return i < 4 ? objects[i] : NULL;
}
struct object *objects_at(uintptr_t address) {
    for (size_t i = 0; i < 4; i++)
        if (address - objects[i]->low < objects[i]->high - objects[i]->low)
            return objects[i];
    return NULL;
}
bool object_is_emitted_enough(const struct object *o) {
    return o->records >= 16;
}
int watched_row(const char *function, int major) {
    return major == 9 && strcmp(function, "cudnnSetStream") != 0 ? 7 : NOT_WATCHED;
}
uintptr_t call_wrapper(int row, uintptr_t target, const struct object *of) {
    assert_int_equal(row, 7);
    assert_ptr_equal(of, &library);
    return are_wrappers_left ? WRAPPERS + target : 0;
}
uintptr_t call_wrapper_lazy(int row, const struct slot *slot, const struct object *of,
                            const uintptr_t *got) {
    struct wc_elf_reloc r;
    assert_int_equal(row, 7);
    assert_true(of == &host || of == &program);
    assert_true(wc_elf_reloc_at(&of->image, slot->number, &r) && r.jump_slot_table);
    assert_int_equal(slot->address, of->base + r.slot);
    assert_int_equal(got[2], resolver);
    lazy_slot = slot->address;
    return LAZY + slot->target;
}
struct instance *watched_instance_of(int row, uintptr_t slot, uintptr_t target) {
    static struct instance one;
    assert_int_equal(row, 7);
    assert_int_equal(target, 0);
    return slot == wrapped_slot ? &one : NULL;
}
uintptr_t watched_target_of(uintptr_t address) {
    if (address >= WRAPPERS + LIBRARY && address < WRAPPERS + NOWHERE)
        return address - WRAPPERS;
    return address >= LAZY + host.low && address < LAZY + host.high && address > LAZY
               ? address - LAZY
               : 0;
}

/* ---- a host ---- */

enum {
    PAGE = 4096,
    RELRO = 4 * PAGE,
    DATA = 5 * PAGE,
    ENTRY = DATA + 1024,
    GOT = DATA + 2048,
    END = 6 * PAGE
};
static struct elf_maker made;

/* How the code behind a lazy slot begins, by each linker, for the first slot. */
#ifdef __x86_64__
static const char lazy_code[][10] = {
    "\x68\0\0\0\0\xe9", "\xf3\x0f\x1e\xfa\x68\0\0\0\0",     /* bfd, gold, lld */
    "\x41\x53\xff\x35", "\xf3\x0f\x1e\xfa\x41\x53\xff\x35", /* mold */
};
#else
static const char lazy_code[][10] = {"\xf0\x7b\xbf\xa9", "\x5f\x24\x03\xd5\xf0\x7b\xbf\xa9"};
#endif
enum { LAZY_CODES = sizeof(lazy_code) / sizeof(*lazy_code) };

struct reloc {
    const char *function;
    uint32_t type;
    uint32_t at;
    uintptr_t value; /* what the loader put there; 1: an entry of the host's own PLT */
    bool defined;
    int64_t addend;
};
#define PLT 1

static uintptr_t *slot(uint32_t at) {
    return (uintptr_t *)(memory + at);
}

static void add_relocs(const struct reloc *relocs, size_t n) {
    Elf64_Rela jump[16], address[16];
    size_t jumps = 0, addresses = 0;
    for (size_t i = 0; i < n; i++) {
        size_t symbol = elf_symbol(&made, relocs[i].function, FUNC, relocs[i].defined, 0x100, 4, 1);
        Elf64_Rela r = {relocs[i].at, ELF64_R_INFO(symbol, relocs[i].type), relocs[i].addend};
        if (relocs[i].type == JUMP_SLOT)
            jump[jumps++] = r;
        else
            address[addresses++] = r;
    }
    elf_symbol_table(&made);
    elf_dynamic(&made, DT_RELA, elf_put(&made, address, addresses * sizeof(*address), 8));
    elf_dynamic(&made, DT_RELASZ, addresses * sizeof(*address));
    elf_dynamic(&made, DT_JMPREL, elf_put(&made, jump, jumps * sizeof(*jump), 8));
    elf_dynamic(&made, DT_PLTRELSZ, jumps * sizeof(*jump));
    elf_dynamic(&made, DT_PLTGOT, GOT);
}

/* Definitions come last: as in a real symbol table. */
static void load(const struct reloc *relocs, size_t n) {
    Elf64_Phdr phdr[5];
    elf_begin(&made);
    elf_symbol(&made, "puts", FUNC, 0, 0, 0, 1);
    add_relocs(relocs, n);
    elf_hash(&made);
    elf_end(&made, 0, 0);
    memcpy(phdr, made.bytes + sizeof(Elf64_Ehdr), sizeof(phdr));
    assert_int_equal(mprotect(memory, END, PROT_READ | PROT_WRITE), 0);
    memset(memory, 0, END);
    memcpy(memory, made.bytes, phdr[0].p_filesz);
    memcpy(memory + phdr[1].p_vaddr, made.bytes + phdr[1].p_offset, phdr[1].p_filesz);
    assert_in_range(phdr[1].p_vaddr + phdr[1].p_filesz, 0, RELRO);
    phdr[1].p_memsz = END - phdr[1].p_vaddr;
    phdr[4].p_vaddr = RELRO; /* ends within the next page, which stays writable */
    phdr[4].p_memsz = PAGE + 24;
    assert_int_equal(wc_elf_from_memory(&host.image, (uintptr_t)memory, phdr, 5), WC_ELF_OK);
    for (size_t i = 0; i < n; i++) {
        uintptr_t value = relocs[i].value == PLT ? (uintptr_t)memory + ENTRY : relocs[i].value;
        memcpy(memory + relocs[i].at, &value, sizeof(value)); /* it may lie anywhere */
    }
    *slot(GOT + 16) = resolver;
    memcpy(memory + ENTRY, lazy_code[LAZY_CODES - 1], sizeof(*lazy_code));
    assert_int_equal(mprotect(memory + RELRO, PAGE, PROT_READ), 0);
    for (size_t i = 0; i < n; i++)
        host.l.defines |= relocs[i].defined;
}
#define LOAD(...)                                                                                  \
    do {                                                                                           \
        const struct reloc relocs[] = {__VA_ARGS__};                                               \
        load(relocs, sizeof(relocs) / sizeof(*relocs));                                            \
    } while (0)

static int begin(void **state) {
    static const char *path[] = {"/x/host.so", "/x/program", "/x/libcudnn.so.9", "/x/other.so"};
    (void)state;
    memset(&told, 0, sizeof(told));
    memset(&config, 0, sizeof(config));
    config.calls = true;
    are_wrappers_left = true;
    lazy_slot = wrapped_slot = 0;
    resolver = loader_list.r_brk; /* a function of the loader */
    if (!memory)
        memory = mmap(NULL, END + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++) {
        memset(objects[i], 0, sizeof(*objects[i]));
        objects[i]->l.number = i + 1;
        objects[i]->l.path = path[i];
        objects[i]->l.mapped = true;
        objects[i]->major = 9;
    }
    host.l.role = program.l.role = WC_role_HOST;
    host.base = host.low = (uintptr_t)memory;
    host.high = host.low + END;
    library.l.role = WC_role_FACADE;
    library.low = LIBRARY;
    library.high = LIBRARY + PAGE;
    other.low = OTHER;
    other.high = OTHER + PAGE;
    return memory == MAP_FAILED ? -1 : 0;
}

static void is_emitted(size_t i, enum wc_binding_how how, const char *functions,
                       const struct object *target, int64_t wrapped) {
    assert_in_range(i, 0, told.count - 1);
    const struct wc_binding_record *b = &told.bindings[i];
    assert_int_equal(b->how, how);
    assert_string_equal(told.functions[i], functions);
    assert_int_equal(b->target, target ? target->l.number : WC_NULL);
    if (target)
        assert_string_equal(b->target_path, target->l.path);
    else
        assert_null(b->target_path);
    assert_int_equal(b->wrapped, wrapped);
    assert_int_equal(b->host, host.l.number);
    assert_string_equal(b->host_path, host.l.path);
}

/* ---- reading and rewriting ---- */

static void of_many_functions_the_first_are_named(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, LIBRARY + 16, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA + 8, LIBRARY + 32, false, 0},
         {"cudnnSetStream", JUMP_SLOT, DATA + 16, LIBRARY + 48, false, 0},
         {"cudnnGetStream", JUMP_SLOT, DATA + 24, LIBRARY + 64, false, 0},
         {"cudnnGetVersion", JUMP_SLOT, DATA + 32, LIBRARY + 80, false, 0},
         {"cudnnGetProperty", JUMP_SLOT, DATA + 40, LIBRARY + 96, false, 0},
         {"cudnnSetTensor", JUMP_SLOT, DATA + 48, LIBRARY + 112, false, 0},
         {"cudnnScaleTensor", JUMP_SLOT, DATA + 56, LIBRARY + 128, false, 0},
         {"cudnnAddTensor", JUMP_SLOT, DATA + 64, LIBRARY + 144, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.bindings[0].functions.n, 8);
    assert_int_equal(told.bindings[0].function_count, 9);
}

static void jump_slots_lead_to_wrappers(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, LIBRARY + 16, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA + 8, LIBRARY + 32, false, 0},
         {"cudnnSetStream", JUMP_SLOT, DATA + 16, LIBRARY + 48, false, 0},
         {"free", JUMP_SLOT, DATA + 24, LIBRARY + 64, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(host.slot_count, 3);
    assert_int_equal(*slot(DATA), WRAPPERS + LIBRARY + 16);
    assert_int_equal(*slot(DATA + 8), WRAPPERS + LIBRARY + 32);
    assert_int_equal(*slot(DATA + 16), LIBRARY + 48); /* not watched */
    assert_int_equal(*slot(DATA + 24), LIBRARY + 64); /* none of cuDNN's */
    assert_int_equal(told.count, 1);
    is_emitted(0, WC_binding_how_SLOT, "cudnnCreate cudnnDestroy cudnnSetStream", &library, 2);
    assert_null(told.unobserved);
    rewrite_slots(&host); /* looked through, and not wrapped again */
    slots_emit(&host);
    assert_int_equal(*slot(DATA), WRAPPERS + LIBRARY + 16);
    assert_int_equal(told.count, 1);
}

static void nothing_is_rewritten_where_calls_are_not_wanted(void **state) {
    (void)state;
    config.calls = false;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, LIBRARY, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(*slot(DATA), LIBRARY);
    is_emitted(0, WC_binding_how_SLOT, "cudnnCreate", &library, 0);
}

static void nor_where_no_wrapper_is_left(void **state) {
    (void)state;
    are_wrappers_left = false;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, LIBRARY, false, 0});
    rewrite_slots(&host);
    assert_int_equal(*slot(DATA), LIBRARY);
    assert_null(told.unobserved);
}

static void an_address_is_rewritten_where_it_is_the_only_way(void **state) {
    (void)state;
    LOAD({"cudnnCreate", GLOB_DAT, DATA, LIBRARY, false, 0},
         {"cudnnDestroy", GLOB_DAT, DATA + 8, LIBRARY, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA + 16, LIBRARY, false, 0});
    rewrite_slots(&host);
    assert_int_equal(*slot(DATA), WRAPPERS + LIBRARY);
    assert_int_equal(*slot(DATA + 8), LIBRARY); /* it may be compared with another's */
    assert_int_equal(*slot(DATA + 16), WRAPPERS + LIBRARY);
}

static void tables_are_told_and_left(void **state) {
    (void)state;
    LOAD({"cudnnCreate", ABSOLUTE, DATA, LIBRARY, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(*slot(DATA), LIBRARY);
    is_emitted(0, WC_binding_how_SLOT, "cudnnCreate", &library, 0);
    assert_string_equal(told.unobserved, "calls through a table of function pointers");
    assert_string_equal(told.blind_path, host.l.path);
}

static void what_is_no_slot_is_left(void **state) {
    (void)state;
    LOAD({"cudnnCreate", RELATIVE, DATA, LIBRARY, false, 0},
         {"cudnnDestroy", GLOB_DAT, DATA + 12, LIBRARY, false, 0},    /* crooked */
         {"cudnnGetVersion", ABSOLUTE, DATA + 24, LIBRARY, false, 8}, /* behind it */
         {"cudnnGetStream", GLOB_DAT, END, LIBRARY, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(host.slot_count, 0);
    assert_int_equal(told.count, 0);
}

static void a_marked_plt_is_no_addend(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, LIBRARY, false, MARKS_PLT});
    rewrite_slots(&host);
    assert_int_equal(*slot(DATA), WRAPPERS + LIBRARY);
}

static void each_state_is_told(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, PLT, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA + 8, 0, false, 0},
         {"cudnnGetVersion", JUMP_SLOT, DATA + 16, OTHER, false, 0},
         {"cudnnGetStream", JUMP_SLOT, DATA + 24, NOWHERE, false, 0},
         {"cudnnSetTensor", JUMP_SLOT, DATA + 32, PLT, true, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(told.count, 5);
    is_emitted(0, WC_binding_how_LAZY, "cudnnCreate", NULL, 1);
    is_emitted(1, WC_binding_how_UNDEFINED, "cudnnDestroy", NULL, 0);
    is_emitted(2, WC_binding_how_SLOT, "cudnnGetVersion", &other, 0);
    is_emitted(3, WC_binding_how_SLOT, "cudnnGetStream", NULL, 0);
    is_emitted(4, WC_binding_how_ITSELF, "cudnnSetTensor", &host, 0);
    assert_int_equal(*slot(DATA), LAZY + (uintptr_t)memory + ENTRY);
    assert_int_equal(lazy_slot, (uintptr_t)slot(DATA));
    assert_int_equal(*slot(DATA + 8), 0);
    assert_int_equal(*slot(DATA + 16), OTHER);
    assert_int_equal(*slot(DATA + 24), NOWHERE);
}

static void a_lazy_slot_that_leads_to_a_tracer_is_left(void **state) {
    (void)state;
    resolver = (uintptr_t)&resolver; /* a tracer's */
    LOAD({"cudnnDestroy", JUMP_SLOT, DATA, LIBRARY, false, 0},
         {"cudnnCreate", JUMP_SLOT, DATA + 8, PLT, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(lazy_slot, 0);
    assert_int_equal(*slot(DATA + 8), (uintptr_t)memory + ENTRY);
    assert_int_equal(told.count, 2);
    is_emitted(1, WC_binding_how_LAZY, "cudnnCreate", NULL, 0);
    assert_string_equal(told.unobserved, "calls through a lazy slot");
    assert_string_equal(told.blind_path, host.l.path);
}

static uintptr_t wrapped_with(const char *code) {
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, PLT, false, 0});
    memcpy(memory + ENTRY, code, sizeof(*lazy_code));
    rewrite_slots(&host);
    uintptr_t wrapped = lazy_slot;
    lazy_slot = 0;
    host.slots_known = false;
    return wrapped;
}

static void a_wrapper_that_a_tracer_calls_is_no_blind_spot(void **state) {
    (void)state;
    resolver = (uintptr_t)&resolver; /* a tracer's */
    wrapped_slot = (uintptr_t)memory + DATA;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, PLT, false, 0});
    rewrite_slots(&host);
    assert_int_equal(*slot(DATA), (uintptr_t)memory + ENTRY);
    assert_null(told.unobserved);
}

/* A function that the host put into its slot itself begins otherwise, or pushes another number. */
static void a_lazy_slot_that_leads_to_another_function_is_left(void **state) {
    (void)state;
    for (size_t i = 0; i < LAZY_CODES; i++)
        for (size_t bit = 0; bit < 32; bit++) {
            char code[sizeof(*lazy_code)];
            memcpy(code, lazy_code[i], sizeof(code));
            assert_int_equal(wrapped_with(code), (uintptr_t)slot(DATA));
            code[bit / 8] ^= (char)(1 << bit % 8);
            assert_int_equal(wrapped_with(code), 0);
        }
}

/* A jump slot's relocation that is not in DT_JMPREL has no number there. */
static void a_lazy_slot_without_a_number_is_left(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, PLT, false, 0});
    host.image.relocs = host.image.jump_relocs;
    host.image.reloc_count = host.image.jump_reloc_count;
    host.image.jump_reloc_count = 0;
    rewrite_slots(&host);
    assert_int_equal(lazy_slot, 0);
    assert_int_equal(*slot(DATA), (uintptr_t)memory + ENTRY);
}

static void what_changes_is_told_again(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, OTHER, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    *slot(DATA) = OTHER + 8;
    rewrite_slots(&host);
    slots_emit(&host);
    *slot(DATA) = LIBRARY;
    rewrite_slots(&host);
    slots_emit(&host);
    slots_emit(&host);
    assert_int_equal(told.count, 3);
    is_emitted(1, WC_binding_how_SLOT, "cudnnCreate", &other, 0);
    is_emitted(2, WC_binding_how_SLOT, "cudnnCreate", &library, 1);
    *slot(DATA) = OTHER;
    rewrite_slots(&host);
    host.records = 16; /* it came and went often enough */
    slots_emit(&host);
    assert_int_equal(told.count, 3);
}

/* ---- pages ---- */

static bool is_page_writable(uint32_t at) {
    char line[1024], flags[8] = "";
    uintptr_t start, end, address = (uintptr_t)memory + at;
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        if (sscanf(line, "%lx-%lx %7s", &start, &end, flags) == 3 && address >= start &&
            address < end)
            break;
    fclose(f);
    return flags[1] == 'w';
}

static void a_page_gets_its_protection_back(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, RELRO + 8, LIBRARY, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA - 8, LIBRARY, false, 0},
         {"cudnnGetVersion", JUMP_SLOT, DATA, LIBRARY, false, 0});
    assert_false(is_page_writable(RELRO) || rewrite_is_too_early(&host));
    rewrite_slots(&host);
    assert_int_equal(*slot(RELRO + 8), WRAPPERS + LIBRARY);
    assert_int_equal(*slot(DATA - 8), WRAPPERS + LIBRARY);
    assert_int_equal(*slot(DATA), WRAPPERS + LIBRARY);
    assert_false(is_page_writable(RELRO));
    assert_true(is_page_writable(DATA)); /* the region's end is rounded down */
    assert_null(told.unobserved);
}

static void pages_that_are_writable_yet_are_being_relocated(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, RELRO, LIBRARY, false, 0});
    assert_false(rewrite_is_too_early(&host));
    mprotect(memory + RELRO, PAGE, PROT_READ | PROT_WRITE);
    assert_true(rewrite_is_too_early(&host));
    host.image.relro_size = 0; /* nothing to wait for */
    assert_false(rewrite_is_too_early(&host));
    host.image.relro_size = PAGE - 8; /* less than a page: none is protected */
    assert_false(rewrite_is_too_early(&host));
}

static void a_slot_in_a_read_only_segment_is_a_blind_spot(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, 0x80, LIBRARY, false, 0});
    rewrite_slots(&host);
    assert_int_equal(*slot(0x80), LIBRARY);
    assert_string_equal(told.unobserved, "calls through a slot");
    assert_string_equal(told.blind_path, host.l.path);
}

/* ---- by way of a program that is not position independent ---- */

static void an_address_in_the_program_is_what_its_own_slot_says(void **state) {
    struct slot own[] = {
        {.kind = SLOT_ADDRESS, .how = WC_binding_how_SLOT, .target = OTHER},
        {.kind = SLOT_JUMP, .how = WC_binding_how_SLOT, .target = LIBRARY + 16, .wrapped = true},
        {.kind = SLOT_JUMP, .how = WC_binding_how_SLOT, .target = OTHER, .defined = true},
    };
    (void)state;
    own[0].function = own[1].function = wc_function_find("cudnnCreate");
    own[2].function = wc_function_find("cudnnDestroy");
    program.program = true;
    program.low = NOWHERE;
    program.high = NOWHERE + PAGE;
    program.slots = own;
    program.slot_count = 3;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, NOWHERE + 8, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA + 8, NOWHERE + 16, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    is_emitted(0, WC_binding_how_SLOT, "cudnnCreate", &library, 1);
    is_emitted(1, WC_binding_how_SLOT, "cudnnDestroy", &program, 0);
    assert_int_equal(*slot(DATA), NOWHERE + 8); /* seen where it arrives */
    own[1].how = WC_binding_how_LAZY;
    own[1].target = NOWHERE + 8;
    own[1].wrapped = false;
    rewrite_slots(&host);
    slots_emit(&host);
    is_emitted(2, WC_binding_how_LAZY, "cudnnCreate", NULL, 0);
}

/* ---- later ---- */

static void a_lazy_slot_that_got_its_target_is_told_once(void **state) {
    (void)state;
    LOAD({"cudnnCreate", JUMP_SLOT, DATA, PLT, false, 0},
         {"cudnnDestroy", JUMP_SLOT, DATA + 8, PLT, false, 0});
    rewrite_slots(&host);
    slots_emit(&host);
    assert_int_equal(told.count, 1);
    slots_emit_resolved(&host, &library, "cudnnCreate"); /* not yet */
    assert_int_equal(told.count, 1);
    *slot(DATA) = WRAPPERS + LIBRARY;
    slots_emit_resolved(&host, &library, "cudnnDestroy");
    assert_int_equal(told.count, 1);
    slots_emit_resolved(&host, &library, "cudnnCreate");
    assert_int_equal(told.count, 2);
    is_emitted(1, WC_binding_how_SLOT, "cudnnCreate", &library, 1);
    slots_emit_resolved(&host, &library, "cudnnCreate");
    slots_emit(&host);
    assert_int_equal(told.count, 2);
}

static void a_lookup_is_told_once_for_each_target(void **state) {
    static struct wc_binding known;
    static const char *functions[] = {"cudnnGetVersion"};
    (void)state;
    slots_emit_lookup(&host, &library, "cudnnCreate", true);
    is_emitted(0, WC_binding_how_DLSYM, "cudnnCreate", &library, 1);
    known.r = (struct wc_binding_record){.how = WC_binding_how_DLSYM,
                                         .host = host.l.number,
                                         .target = library.l.number,
                                         .functions = {functions, 1}};
    stack.bindings.p = &known;
    stack.bindings.n = 1;
    slots_emit_lookup(&host, &library, "cudnnGetVersion", true);
    assert_int_equal(told.count, 1);
    slots_emit_lookup(&host, &library, "cudnnDestroy", false);
    is_emitted(1, WC_binding_how_DLSYM, "cudnnDestroy", &library, 0);
    slots_emit_lookup(&host, &other, "cudnnGetVersion", true);
    is_emitted(2, WC_binding_how_DLSYM, "cudnnGetVersion", &other, 1);
    known.r.how = WC_binding_how_SLOT;
    slots_emit_lookup(&host, &library, "cudnnGetVersion", true);
    assert_int_equal(told.count, 4);
    known.r.how = WC_binding_how_DLSYM;
    known.r.host = 99;
    slots_emit_lookup(&host, &library, "cudnnGetVersion", true);
    assert_int_equal(told.count, 5);
    stack.bindings.n = 0;
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(of_many_functions_the_first_are_named),
        TEST(jump_slots_lead_to_wrappers),
        TEST(nothing_is_rewritten_where_calls_are_not_wanted),
        TEST(nor_where_no_wrapper_is_left),
        TEST(an_address_is_rewritten_where_it_is_the_only_way),
        TEST(tables_are_told_and_left),
        TEST(what_is_no_slot_is_left),
        TEST(a_marked_plt_is_no_addend),
        TEST(each_state_is_told),
        TEST(a_lazy_slot_that_leads_to_a_tracer_is_left),
        TEST(a_wrapper_that_a_tracer_calls_is_no_blind_spot),
        TEST(a_lazy_slot_that_leads_to_another_function_is_left),
        TEST(a_lazy_slot_without_a_number_is_left),
        TEST(what_changes_is_told_again),
        TEST(a_page_gets_its_protection_back),
        TEST(pages_that_are_writable_yet_are_being_relocated),
        TEST(a_slot_in_a_read_only_segment_is_a_blind_spot),
        TEST(an_address_in_the_program_is_what_its_own_slot_says),
        TEST(a_lazy_slot_that_got_its_target_is_told_once),
        TEST(a_lookup_is_told_once_for_each_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
