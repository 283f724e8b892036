/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>

#include "core/knowledge/frameworks.h"
#include "core/names/symbols.h"
#include "core/records/emit.h"
#include "tools/observe/loader/library_cache.h"
#include "whichcudnn/wrappers.h"

#define TRIES_MOST 4
#define SLOTS_MOST 4096
#define WRAPPERS_MOST 65536
#define INSTANCE_MOST 4096

struct wrapper {
    uint64_t at, target;
};

struct inspection {
    struct process process;
    struct process_libraries list;
    struct source *source;
    struct wc_sink to; /* the same */
    struct elf_reader reader;
    struct wc_environments environments;
    WC_LIST(wrapper, wrappers); /* of the shim's; none: the process does not have it */
    char glibc[16];             /* "": not known */

    bool replays; /* the rules are known by which its loader looks */
    struct library_cache
        files; /* what its loader adds to a search, and what opens cuDNN by a name */
    struct wc_search_context search;
    struct wc_replay replay;
    unsigned char scratch[WC_SEARCH_SCRATCH];
    int64_t searches;
};

static void note_unobserved(struct inspection *in, const char *what, const char *why,
                            const char *path) {
    if (!wc_stack_has_unobserved(&in->source->stack, what, path))
        wc_emit_unobserved(&in->to, what, why, path);
}

/* ---- objects ---- */

static enum wc_name_kind kind_of(const struct process_library *m) {
    return m->library->name.kind;
}

static bool is_cudnn(const struct process_library *m) {
    return wc_kind_is_cudnn(kind_of(m));
}

static bool is_host(const struct process_library *m) {
    return m->elf_file && kind_of(m) == WC_NAME_OTHER &&
           (m->opens || m->library->imports || m->library->defines);
}

/* What another program only reads, or an emulator runs, its loader knows nothing of. */
static bool is_loaded(struct inspection *in, const struct process_library *m) {
    const struct process_library *program = process_library_program(&in->list);
    const struct wc_elf_image *own = program ? program->library->image : NULL,
                              *e = m->library->image;

    if (own && e && own->machine && e->machine && own->machine != e->machine)
        note_unobserved(in, "a library for another architecture",
                        "an emulator runs it, or it is only read", m->path);
    else if (!m->executable)
        note_unobserved(in, "a library without code",
                        "no part of it is mapped to be run: it is only read", m->path);
    else
        return true;
    return false;
}

/* ---- by which rule each was found ---- */

/* The rules are those of glibc. The loader was started by the kernel, or as a program ("ld.so
 * PROGRAM"): then the program's headers are its own. */
static void begin_searches(struct inspection *in) {
    struct wc_search_context *w = &in->search;
    const uint64_t base = process_auxv(&in->process, AT_BASE);
    const struct process_library *program = process_library_program(&in->list),
                                 *loader = process_library_at(
                                     &in->list, base ? base : process_auxv(&in->process, AT_PHDR));
    const struct wc_elf_image *e = loader ? loader->library->image : NULL;

    library_cache_begin(&in->files, in->process.disk.root);
    in->replays = in->glibc[0] && e && program;
    if (!in->replays)
        return;
    library_cache_use(&in->files, loader->path, w);
    w->files = &in->process.disk.files;
    w->library_path = loader_variable(in->process.environment, "LD_LIBRARY_PATH");
    w->secure = process_auxv(&in->process, AT_SECURE) != 0;
    w->machine = e->machine;
    w->program = &program->search;
    w->library_path_origin = program->search.origin;
}

/* Would the loader take what is mapped, where `by` asks for it by that name? */
static bool leads_to(struct inspection *in, const struct process_library *by, const char *name,
                     const struct process_library *m) {
    const struct wc_library *l = m->library;

    if (!in->replays)
        return false;
    wc_replay_run(&in->replay, &in->search, &by->search, name, in->scratch, sizeof(in->scratch));
    return m->file == PROCESS_LIBRARY_FILE &&
           wc_replay_takes(&in->replay, l->path, (uint64_t)l->device, (uint64_t)l->inode);
}

/* What `by` got by that name: m. is_new: it was loaded for that. */
static void emit_search(struct inspection *in, const struct process_library *by, const char *name,
                        const struct process_library *m, bool is_new) {
    if (!in->replays || strchr(name, '/') || wc_name_kind_of(name) == WC_NAME_OTHER)
        return;
    bool taken = leads_to(in, by, name, m);
    if (taken && !is_new) /* it would have got the same */
        return;
    wc_emit_search(&in->to,
                   &(struct wc_search_question){.r.search = ++in->searches,
                                                .r.name = name,
                                                .r.caller = by->library->path,
                                                .r.caller_object = by->library->number,
                                                .r.request = WC_NULL,
                                                .r.object = m->library->number,
                                                .was_loaded = !is_new,
                                                .by_replay = taken},
                   &in->replay, &in->reader.reader);
}

/* ---- what was preloaded ---- */

static bool is_preloaded(const struct inspection *in, const struct process_library *m,
                         struct wc_preload *out) {
    const struct wc_library *l = m->library;

    return wc_search_preload(loader_variable(in->process.environment, "LD_PRELOAD"), l->path,
                             l->image ? l->image->soname : NULL, out);
}

static void find_preloaded(struct inspection *in) {
    struct wc_preload p;

    EACH_POINTER(m, in->list.p, in->list.n) {
        if (kind_of(m) == WC_NAME_OTHER || !is_preloaded(in, m, &p))
            continue;
        m->needed = true;
        m->asked_by = NULL;
        m->library->asked_how = WC_operation_PRELOAD;
        m->library->asked_name = heap_copy(&in->list.memory, p.element);
    }
}

/* ---- what opened libraries that none needs ---- */

/* A library that has the name of another in its constants may open it. */
static bool may_open(struct inspection *in, const struct process_library *by,
                     const struct process_library *m) {
    if (by == m)
        return false;
    if (kind_of(m) == WC_NAME_PART)
        return kind_of(by) == WC_NAME_FACADE;
    if (kind_of(m) != WC_NAME_FACADE || kind_of(by) != WC_NAME_OTHER)
        return false;
    const struct library *b =
        by->file == PROCESS_LIBRARY_FILE ? library_cache_get(&in->files, by->path, NULL) : NULL;
    for (const struct elf_prescan_name *name = b ? b->opens : NULL; name && name->text[0]; name++)
        if (process_library_answers(m, name->text))
            return true;
    return wc_framework_opening(by->path);
}

/* A library that was opened is asked for by its SONAME, else its file's name. The only one for
 * which the loader would take just this file has opened it. A framework's libraries that are known
 * to open it have all got it. */
static void find_openers(struct inspection *in) {
    EACH_POINTER(m, in->list.p, in->list.n) {
        struct process_library *found = NULL;
        const struct wc_elf_image *e = m->library->image;
        const char *name = e ? e->soname : NULL;
        size_t n = 0;
        if (!is_cudnn(m) || m->needed || !m->executable)
            continue;
        name = name ? name : wc_base_name(m->library->path);
        EACH_POINTER(by, in->list.p, in->list.n) {
            if (!may_open(in, by, m) || !leads_to(in, by, name, m))
                continue;
            by->opens = by->opens || wc_framework_opening(by->path);
            found = by;
            n++;
        }
        if (n != 1)
            continue;
        m->asked_by = found;
        m->library->asked_how = WC_operation_DLOPEN;
        m->library->asked_name = name;
        found->opens = true;
    }
}

/* ---- what the cuDNN imports of a host are bound to ---- */

/* That the loader filled. The shim does the same from inside (shim/slots.c), and its wrappers are
 * looked through. */
struct slot {
    const char *function; /* NULL: it is none of cuDNN's */
    bool jump, defined;   /* defined: by the host itself */
    uint64_t address;
    enum wc_binding_how how;
    const struct process_library *library; /* NULL: it leads into none */
    bool wrapped, told;
};

/* Of which version the shim may be: what it states has to make sense. */
static void find_wrappers(struct inspection *in) {
    for (size_t i = 0; i < in->list.n && in->wrappers.n == 0; i++) {
        const struct wc_library *l = in->list.p[i]->library;
        struct wc_wrappers shim = {.count = 0};
        uint64_t from = 0, at = 0;
        const void *mark = NULL;

        if (l->image && wc_str_same(l->image->soname, WC_OWN_NAME))
            at = wc_elf_find_bytes(l->image, WC_WRAPPERS_MARK, sizeof(shim.mark), &from, SIZE_MAX);
        if (at && (mark = wc_elf_at(l->image, at, sizeof(shim))))
            memcpy(&shim, mark, sizeof(shim));
        if (shim.count == 0 || shim.count > WRAPPERS_MOST || shim.size > INSTANCE_MOST ||
            shim.size < sizeof(uint64_t) || shim.target > shim.size - sizeof(uint64_t))
            continue;
        at += l->base;
        OWNED char *instances = must_allocate((size_t)shim.count * shim.size);
        if (!process_read(&in->process,
                          at + offsetof(struct wc_wrappers, instances) + (uint64_t)shim.instances,
                          instances, (size_t)shim.count * shim.size))
            continue;
        for (size_t k = 0; k < shim.count; k++) {
            struct wrapper *w = MUST_ADD(in->wrappers.p, in->wrappers.n);

            w->at = at + offsetof(struct wc_wrappers, wrappers) + (uint64_t)shim.wrappers +
                    k * shim.wrapper_size;
            memcpy(&w->target, instances + k * shim.size + shim.target, sizeof(w->target));
        }
    }
}

/* False: past the last. */
static bool read_reloc(const struct process_library *m, size_t i, struct slot *out) {
    const struct wc_elf_image *e = m->library->image;
    const bool arm = e->machine == EM_AARCH64;
    struct wc_elf_symbol symbol;
    struct wc_elf_reloc r;
    int function;

    memset(out, 0, sizeof(*out));
    if (!wc_elf_reloc_at(e, i, &r))
        return false;
    out->jump = r.type == (arm ? R_AARCH64_JUMP_SLOT : R_X86_64_JUMP_SLOT);
    /* A jump slot's addend is not part of its value on x86-64 (-z mark-plt). */
    if (!r.symbol || (r.addend != 0 && !(out->jump && !arm)) ||
        !(out->jump || r.type == (arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT) ||
          r.type == (arm ? R_AARCH64_ABS64 : R_X86_64_64)) ||
        (m->library->base + r.slot) % sizeof(uint64_t) != 0 ||
        !wc_elf_symbol_at(e, r.symbol, &symbol) ||
        (function = wc_function_find(symbol.name)) == WC_NO_FUNCTION)
        return true;
    out->function = wc_function_name(function);
    out->defined = symbol.defined;
    out->address = m->library->base + r.slot;
    return true;
}

static void read_value(const struct inspection *in, const struct process_library *of,
                       struct slot *s, uint64_t value) {
    const struct wrapper *w = WC_FIRST(one, in->wrappers, one->at == value && one->target);

    s->wrapped = w != NULL;
    s->library = process_library_at(&in->list, w ? w->target : value);
    s->how = value == 0         ? WC_binding_how_UNDEFINED
             : s->library != of ? WC_binding_how_SLOT
             : s->defined       ? WC_binding_how_ITSELF
                                : WC_binding_how_LAZY;
}

/* In a program that is not position independent the address of a function is its PLT entry: what
 * it is bound to is in the program's own slot. */
static void go_through_program(const struct inspection *in, const struct process_library *host,
                               struct slot *s) {
    const struct process_library *program = s->library;
    struct slot own;
    uint64_t value;

    if (s->how != WC_binding_how_SLOT || !program || !program->program || program == host)
        return;
    for (size_t i = 0; read_reloc(program, i, &own); i++)
        if (own.function && own.jump && !own.defined && strcmp(own.function, s->function) == 0 &&
            process_read(&in->process, own.address, &value, sizeof(value))) {
            read_value(in, program, s, value);
            return;
        }
}

/* All slots with the same target are one record. False: its memory cannot be read. */
static bool emit_bindings(struct inspection *in, const struct process_library *host) {
    WC_LIST(slot, slots) = {.n = 0};
    struct slot one;
    uint64_t value;
    bool good = true;

    for (size_t i = 0;
         host->library->image && slots.n < SLOTS_MOST && good && read_reloc(host, i, &one); i++)
        if (one.function &&
            (good = process_read(&in->process, one.address, &value, sizeof(value)))) {
            read_value(in, host, &one, value);
            go_through_program(in, host, &one);
            *MUST_ADD(slots.p, slots.n) = one;
        }
    OWNED const char **names = must_allocate((slots.n + 1) * sizeof(*names));
    WC_EACH(s, slots) {
        const struct process_library *target = s->how == WC_binding_how_SLOT     ? s->library
                                               : s->how == WC_binding_how_ITSELF ? host
                                                                                 : NULL;
        struct wc_strings functions = {names, 0};
        int64_t wrapped = 0;

        if (!good || s->told)
            continue;
        for (struct slot *other = slots.p; other < slots.p + slots.n; other++) {
            if (other->told || other->how != s->how ||
                (s->how == WC_binding_how_SLOT && other->library != s->library))
                continue;
            wrapped += other->wrapped;
            if (!WC_ANY(name, functions, *name == other->function))
                names[functions.n++] = other->function;
            other->told = true;
        }
        wc_emit_binding(&in->to, host->library, target ? target->library : NULL, s->how, &functions,
                        wrapped);
    }
    free(slots.p);
    return good;
}

/* ---- records ---- */

static void emit_searches(struct inspection *in, const struct process_library *m) {
    const struct wc_elf_image *e = m->library->image;
    struct wc_preload p;
    const char *name;

    if (m->library->asked_how == WC_operation_PRELOAD && is_preloaded(in, m, &p))
        wc_emit_preload(&in->to, ++in->searches, &p, m->library->number, m->library->path);
    else if (m->asked_by)
        emit_search(in, m->asked_by, m->library->asked_name, m, true);
    else if (is_cudnn(m) && !m->needed)
        note_unobserved(in, "by which rule a library was found",
                        "no library needs it: it was opened, and the caller cannot be seen from "
                        "outside",
                        m->path);
    for (size_t i = 0; is_host(m) && e && (name = wc_elf_needed(e, i)); i++)
        for (size_t k = 0; wc_name_kind_of(name) == WC_NAME_FACADE && k < in->list.n; k++) {
            const struct process_library *got = in->list.p[k];
            if (got->library->number != WC_NULL && got->asked_by != m &&
                process_library_answers(got, name))
                emit_search(in, m, name, got, false);
        }
}

static void emit_file(struct inspection *in, const struct process_library *m) {
    if (m->file == PROCESS_LIBRARY_FILE)
        return;
    const bool gone = m->file == PROCESS_LIBRARY_GONE;
    OWNED char *why = must_format(
        "%s%s",
        gone ? "it was deleted or replaced since it was loaded"
             : "the path that the kernel reports for it is another file: something is mounted "
               "over it, it was unmounted, or it is outside of the root of the process",
        m->elf_file ? "; only the mapped memory was read"
                    : ", and the memory of the process may not be read");
    note_unobserved(in, "the file of a library that is mapped", why, m->path);
    if (gone && is_cudnn(m)) {
        struct wc_library l;
        wc_library_begin(&l, m->library->path);
        wc_emit_file(
            &in->to, &l,
            &(struct wc_file_check){.fault = WC_file_fault_REPLACED,
                                    .what = "another file than the mapped file, or no file",
                                    .size = WC_NULL,
                                    .needs = WC_NULL},
            WC_search_rule_UNKNOWN);
    }
}

static void emit_objects(struct inspection *in) {
    EACH_POINTER(m, in->list.p, in->list.n) {
        struct wc_library *l = m->library;
        if (l->number == WC_NULL)
            continue;
        if (m->elf_file)
            elf_file_identify(m->elf_file, l);
        l->mapped = true;
        if (m->asked_by) {
            l->asked_by = m->asked_by->library->path;
            l->asked_by_object = m->asked_by->library->number;
        }
        if (m->opens && is_host(m))
            l->role = WC_role_HOST;
        wc_emit_object(&in->to, l, NULL);
        emit_file(in, m);
        if (m->elf_file && (is_host(m) || is_cudnn(m)))
            wc_emit_packages(&in->to, &in->environments, wc_library_file(m->library),
                             &in->reader.reader);
        emit_searches(in, m);
        if (!is_host(m))
            continue;
        struct wc_library host = *l;
        host.path = m->path;
        wc_emit_demands(&in->to, &host, &in->reader.reader);
        if (in->process.memory >= 0 && !emit_bindings(in, m))
            note_unobserved(in, "what its functions are bound to", "its memory could not be read",
                            m->path);
    }
}

/* ---- the whole ---- */

static void emit_all(struct inspection *in) {
    int64_t number = 0;

    process_library_read(&in->list, &in->process);
    EACH_POINTER(m, in->list.p, in->list.n) {
        const struct wc_elf_image *e = m->library->image;
        if (e && !in->glibc[0] && wc_str_same(e->soname, "libc.so.6"))
            wc_glibc_release(e, in->glibc);
    }
    wc_emit_process(&in->to, &in->process.about);
    machine_emit(&in->to, &in->process.disk.files, wc_str_or_null(in->glibc), true);
    elf_reader_begin(&in->reader, &in->process.disk);
    begin_searches(in);
    find_preloaded(in);
    find_openers(in);
    EACH_POINTER(m, in->list.p, in->list.n) {
        bool matters = kind_of(m) != WC_NAME_OTHER || is_host(m) || m->library->framework;
        if (matters && is_loaded(in, m))
            m->library->number = ++number;
    }
    find_wrappers(in);
    emit_objects(in);
    if (in->process.memory < 0 &&
        WC_ANY(m, in->list, (*m)->library->number != WC_NULL && is_host(*m)))
        note_unobserved(in, "what hosts are bound to, and in which order libraries came",
                        "its memory may not be read by this user: root may, or its parent", NULL);
    /* Without cuDNN, a user may ask whether it could be. The loader would be there, if nothing
     * else. */
    if (!WC_ANY(m, in->list,
                !(*m)->program && (*m)->library->image && (*m)->library->image->dynamic &&
                    !(*m)->library->image->program))
        note_unobserved(
            in, "what is linked into the program",
            "it is linked statically: it has no libraries, and a cuDNN in it has no name",
            in->process.about.r.executable);
}

/* False: it changed meanwhile. NULL source: see trouble. */
static bool inspect_once(int64_t pid, bool last, struct source **out, char **trouble) {
    OWNED struct inspection *in = must_allocate(sizeof(*in));
    enum process_state state = process_begin(&in->process, pid, trouble);
    bool same = true;

    *out = NULL;
    if (state != PROCESS_UNREADABLE) {
        in->source = source_new(SOURCE_PROCESS, in->process.directory);
        in->source->root = must_copy(in->process.same_mounts ? in->process.root : "");
        in->source->pid = pid;
        in->to = source_sink(in->source);
    }
    if (state == PROCESS_EMPTY) {
        wc_emit_process(&in->to, &in->process.about);
        note_unobserved(in, "the process", *trouble, NULL);
    } else if (state == PROCESS_READ) {
        emit_all(in);
        same = process_is_as_it_was(&in->process);
        if (!same && last)
            note_unobserved(in, WC_UNOBSERVED_MAPS,
                            "libraries came and went while it was looked at", NULL);
    }
    if (same || last)
        *out = in->source;
    else
        source_free(in->source);
    if (state != PROCESS_UNREADABLE) {
        free(*trouble);
        *trouble = NULL;
    }
    if (in->files.disk.root)
        library_cache_end(&in->files);
    free(in->wrappers.p);
    process_library_end(&in->list);
    process_end(&in->process);
    return same;
}

struct source *inspect_process(int64_t pid, char **trouble) {
    struct source *source = NULL;

    *trouble = NULL;
    for (int i = 1; i <= TRIES_MOST; i++)
        if (inspect_once(pid, i == TRIES_MOST, &source, trouble))
            break;
    return source;
}
