/* SPDX-License-Identifier: Apache-2.0 */
#include "searches.h"

#include "arch.h"
#include "auxv.h"
#include "config.h"
#include "core/base/hash.h"
#include "core/records/emit.h"
#include "files.h"
#include "journal.h"
#include "load_chain.h"
#include "memory.h"
#include "process.h"
#include "reader.h"
#include "sys.h"

#define QUESTIONS_MOST 256 /* different searches that a process gets records of */
#define CACHE_MOST (8 << 20)

/* ---- what the loader of this process adds to a search ---- */

static struct wc_search_context context;
static struct wc_search_memory missing = {&memory_arena, NULL};

static void begin_context(void) {
    static struct wc_search_system system;
    static struct wc_elf_image loader;
    struct stat st;
    size_t n = 0;
    if (context.files)
        return;
    /* In "ld.so PROGRAM" the loader is the program that the kernel started, so AT_PHDR has its
     * headers. */
    uintptr_t base = auxv_value(AT_BASE);
    if (!base)
        base = auxv_value(AT_PHDR) & ~(auxv_page_size() - 1);
    const Elf64_Ehdr *h = (const void *)base;
    bool known = base && wc_mem_compare(h->e_ident, ELFMAG, SELFMAG) == 0 &&
                 wc_elf_from_memory(&loader, base, (const void *)(base + h->e_phoff), h->e_phnum) ==
                     WC_ELF_OK;
    wc_search_system_read(&system, wc_glibc_minor(process_glibc()),
                          (const char *)auxv_value(AT_PLATFORM), auxv_value(AT_HWCAP),
                          known ? &loader : NULL);
    context.system = &system;
    context.library_path = wc_arena_string(&memory_arena, config_variable("LD_LIBRARY_PATH"));
    /* The cache is read once, as the loader does. */
    int fd = files_open("/etc/ld.so.cache", &st);
    void *bytes = fd >= 0 && st.st_size > 0 && st.st_size <= CACHE_MOST
                      ? memory_map((size_t)st.st_size)
                      : NULL;
    if (bytes && files_read(fd, 0, bytes, (size_t)st.st_size, &n))
        context.cache = (struct wc_span){bytes, n};
    if (fd >= 0)
        sys_close(fd);
    context.machine = ARCH_MACHINE;
    context.sparse = true;
    context.files = &shim_files;
}

/* ---- one replay ---- */

static struct wc_replay *replay;

/* whole: also find the files after the taken file. */
static bool run_replay(const struct wc_search_object *caller, const char *name,
                       struct wc_search_memory *memory, bool whole) {
    void *scratch = memory_scratch_search();
    if (!caller || !scratch || (!replay && !(replay = memory_map(sizeof *replay))))
        return false;
    begin_context();
    context.memory = memory;
    context.whole = whole;
    context.program = load_chain_program();
    context.library_path_origin = context.program ? context.program->origin : NULL;
    wc_replay_run(replay, &context, caller, name, scratch, WC_SEARCH_SCRATCH);
    return true;
}

/* Without `missing` (memory NULL): the loader may not have made this very search. */
struct wc_replay *searches_replay(const struct wc_search_object *caller, const char *name) {
    return run_replay(caller, name, NULL, false) ? replay : NULL;
}

const char *searches_taken(const struct wc_search_object *caller, const char *name) {
    return searches_replay(caller, name) ? wc_replay_taken(replay) : NULL;
}

const char *searches_cached(const char *name) {
    return wc_search_cache(&context, name);
}

/* ---- which searches get a record ---- */

static int64_t searches;
static uint64_t recorded[QUESTIONS_MOST];
static size_t recorded_count;

void searches_forget(void) {
    recorded_count = 0;
}

/* o: the object that was found; NULL: none. */
static bool emit_from(struct wc_search_question *q, const struct wc_search_object *from,
                      struct wc_search_memory *memory, const struct object *o) {
    static char takes[SYS_PATH];
    uint64_t hash = wc_hash_text(wc_hash_text(WC_HASH_START, q->r.name), q->r.caller);
    hash = wc_hash_word(hash, (uint64_t)(o ? o->l.number : WC_NULL));
    if (!searches_matter(q->r.name) || recorded_count == QUESTIONS_MOST ||
        WC_ANY(one, WC_ITEMS(recorded, recorded_count), *one == hash))
        return false;
    recorded[recorded_count++] = hash;
    begin_context();
    const char *was = context.library_path, *path;
    if (wc_name_kind_of(q->r.name) == WC_NAME_DRIVER)
        process_note_visible_devices();
    const char *later = q->was_loaded ? NULL : process_later_variable("LD_LIBRARY_PATH");
    const char *value = later ? wc_str_find_char(later, '=') : NULL;
    q->r.later_path = value ? value + 1 : later ? "" : NULL;
    if (q->r.later_path) {
        /* What the search would have found, had it been set at the start. */
        context.library_path = *q->r.later_path ? q->r.later_path : NULL;
        if (wc_str_copy(takes, sizeof takes, searches_taken(from, q->r.name)) && takes[0])
            q->r.later_takes = takes;
        context.library_path = was;
    }
    if (o && wc_str_same(q->r.later_takes, o->l.path)) /* it would have changed nothing */
        q->r.later_takes = NULL;
    if (!run_replay(from, q->r.name, memory, true))
        return false;
    if (q->r.later_takes)
        wc_replay_copy(replay, q->r.later_takes);
    bool taken = o && wc_replay_takes(replay, o->l.path, o->l.device, o->l.inode);
    if (taken && q->was_loaded) /* a search would have found the same object */
        return true;
    if (!o && !wc_replay_taken(replay) && wc_name_kind_of(q->r.name) != WC_NAME_DRIVER) {
        for (const char *const *variable = config_logged(); *variable; variable++)
            wc_replay_root(replay, *variable);
        wc_replay_site(replay, q->r.caller);
        for (size_t i = 0; (path = load_chain_path(i)); i++)
            wc_replay_site(replay, path);
        if (process_site())
            wc_replay_site(replay, process_site());
        wc_replay_copies(replay, q->r.name, q->r.caller);
    }
    q->r.search = ++searches;
    q->r.object = o ? o->l.number : WC_NULL;
    q->by_replay = taken;
    wc_emit_search(&journal_sink, q, replay, reader());
    if (!o)
        wc_emit_packages_wanted(&journal_sink, &reader_environments, replay, q->r.name, reader());
    return true;
}

static bool emit_search(const char *name, const char *caller, int64_t caller_object,
                        int64_t request, const struct object *o, bool was_loaded) {
    struct wc_search_question q = {.r.name = name,
                                   .r.caller = caller,
                                   .r.caller_object = caller_object,
                                   .r.request = request,
                                   .was_loaded = was_loaded};
    return emit_from(&q, load_chain_of(caller), &missing, o);
}

/* The mapped facade that answers to a name; NULL: none, or not the name of a facade. */
static const struct object *facade_named(const char *name) {
    return wc_name_kind_of(name) == WC_NAME_FACADE ? objects_named(name) : NULL;
}

void searches_emit_object(const struct object *o) {
    static struct wc_preload p;
    if (o->l.asked_how == WC_operation_PRELOAD &&
        wc_search_preload(config_variable("LD_PRELOAD"), o->l.path, o->soname, &p))
        wc_emit_preload(&journal_sink, ++searches, &p, o->l.number, o->l.path);
    if (o->l.asked_name && o->l.asked_by)
        emit_search(o->l.asked_name, o->l.asked_by, o->l.asked_by_object, o->l.request, o, false);
}

void searches_emit_needed(const struct object *host, const struct wc_elf_image *e) {
    const char *needed;
    for (size_t i = 0; (needed = wc_elf_needed(e, i)); i++) {
        const struct object *o = facade_named(needed);
        if (o && o->l.asked_by_object != host->l.number)
            emit_search(needed, host->l.path, host->l.number, WC_NULL, o, true);
    }
}

void searches_emit_answered(const struct request *r) {
    const struct object *o = facade_named(r->name);
    if (o && !(r->flags & RTLD_NOLOAD) && o->l.request != r->number) /* it was loaded before */
        emit_search(r->name, r->caller, r->caller_object, r->number, o, true);
}

struct wc_replay *searches_emit_failed(const struct request *r) {
    return !wc_name_is_one_of_many(r->name) &&
                   emit_search(r->name, r->caller, r->caller_object, r->number, NULL, false)
               ? replay
               : NULL;
}

void searches_emit_missing(const struct request *r, const struct wc_search_object *file,
                           const char *name) {
    struct wc_search_question q = {
        .r.name = name, .r.caller = file->path, .r.caller_object = WC_NULL, .r.request = r->number};
    emit_from(&q, file, NULL, NULL);
}
