/* SPDX-License-Identifier: Apache-2.0 */
#include "inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bindings.h"
#include "core/knowledge/frameworks.h"
#include "core/records/emit.h"
#include "core/records/process.h"
#include "process_library.h"
#include "tools/observe/loader/library_cache.h"

#define TRIES_MOST 4

struct inspection {
    struct process process;
    struct process_libraries list;
    struct source *source;
    struct wc_sink to; /* the same */
    struct elf_reader reader;
    struct wc_environments environments;
    struct wrappers wrappers;
    char glibc[16]; /* "": not known */

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

/* ---- the process and its machine ---- */

static void emit_process(struct inspection *in) {
    const struct process *p = &in->process;
    struct utsname names;

    wc_emit_process(&in->to, &(struct wc_process){
                                 .node = p->same_node && uname(&names) == 0 ? names.nodename : NULL,
                                 .start_ticks = p->start_ticks,
                                 .parent_pid = p->parent,
                                 .forked = p->forked,
                                 .executable = p->executable,
                                 .arguments = p->arguments.p,
                                 .arguments_size = p->arguments.n,
                                 .directory = p->working_directory,
                                 .environment = (const char *const *)p->environment,
                                 .run_pid = WC_NULL});
}

static void read_glibc(struct inspection *in) {
    for (size_t i = 0; i < in->list.n && !in->glibc[0]; i++) {
        const struct wc_elf_image *e = in->list.p[i]->library->image;
        if (e && wc_str_same(wc_elf_soname(e), "libc.so.6"))
            wc_glibc_release(e, in->glibc);
    }
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
    bool taken;

    if (!in->replays || strchr(name, '/') || wc_name_kind_of(name) == WC_NAME_OTHER)
        return;
    taken = leads_to(in, by, name, m);
    if (taken && !is_new) /* it would have got the same */
        return;
    wc_emit_search(&in->to,
                   &(struct wc_search_question){.search = ++in->searches,
                                                .name = name,
                                                .caller = by->library->path,
                                                .caller_object = by->library->number,
                                                .request = WC_NULL,
                                                .object = m->library->number,
                                                .was_loaded = !is_new,
                                                .by_replay = taken},
                   &in->replay, &in->reader.reader);
}

/* ---- what was preloaded ---- */

static bool is_preloaded(const struct inspection *in, const struct process_library *m,
                         struct wc_preload *out) {
    const struct wc_library *l = m->library;

    return wc_search_preload(loader_variable(in->process.environment, "LD_PRELOAD"), l->path,
                             l->image ? wc_elf_soname(l->image) : NULL, out);
}

static void find_preloaded(struct inspection *in) {
    struct wc_preload p;

    for (size_t i = 0; i < in->list.n; i++) {
        struct process_library *m = in->list.p[i];
        if (kind_of(m) == WC_NAME_OTHER || !is_preloaded(in, m, &p))
            continue;
        m->needed = true;
        m->asked_by = NULL;
        m->library->asked_how = WC_operation_PRELOAD;
        m->library->asked_name = wc_arena_string(&in->list.memory.arena, p.element);
    }
}

/* ---- what opened libraries that none needs ---- */

/* A library that has the name of another in its constants may open it. */
static bool may_open(struct inspection *in, const struct process_library *by,
                     const struct process_library *m) {
    const struct library *b;

    if (by == m)
        return false;
    if (kind_of(m) == WC_NAME_PART)
        return kind_of(by) == WC_NAME_FACADE;
    if (kind_of(m) != WC_NAME_FACADE || kind_of(by) != WC_NAME_OTHER)
        return false;
    b = by->file == PROCESS_LIBRARY_FILE ? library_cache_get(&in->files, by->path, NULL) : NULL;
    for (size_t i = 0; b && b->opens && b->opens[i]; i++)
        if (process_library_answers(m, b->opens[i]))
            return true;
    return wc_framework_opens_cudnn(by->path);
}

/* A library that was opened is asked for by its SONAME, else its file's name. The only one for
 * which the loader would take just this file has opened it. A framework's libraries that are known
 * to open it have all got it. */
static void find_openers(struct inspection *in) {
    for (size_t i = 0; i < in->list.n; i++) {
        struct process_library *m = in->list.p[i], *found = NULL;
        const struct wc_elf_image *e = m->library->image;
        const char *name = e ? wc_elf_soname(e) : NULL;
        size_t n = 0;
        if (!is_cudnn(m) || m->needed || !m->executable)
            continue;
        name = name ? name : wc_base_name(m->library->path);
        for (size_t k = 0; k < in->list.n; k++) {
            struct process_library *by = in->list.p[k];
            if (!may_open(in, by, m) || !leads_to(in, by, name, m))
                continue;
            by->opens |= wc_framework_opens_cudnn(by->path);
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

/* ---- records ---- */

static void emit_object(struct inspection *in, const struct process_library *m) {
    struct wc_library *l = m->library;

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
}

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
    for (size_t i = 0; i < in->list.n; i++) {
        const struct process_library *m = in->list.p[i];
        if (m->library->number == WC_NULL)
            continue;
        emit_object(in, m);
        emit_file(in, m);
        if (m->elf_file && (is_host(m) || is_cudnn(m)))
            wc_emit_packages(&in->to, &in->environments, wc_library_file(m->library),
                             &in->reader.reader);
        emit_searches(in, m);
        if (!is_host(m))
            continue;
        struct wc_library l = *m->library;
        l.path = m->path;
        wc_emit_demands(&in->to, &l, &in->reader.reader);
        if (in->process.memory >= 0 &&
            !bindings_emit(m, &in->process, &in->list, &in->wrappers, &in->to))
            note_unobserved(in, "what its functions are bound to", "its memory could not be read",
                            m->path);
    }
}

/* ---- the whole ---- */

/* Without cuDNN, a user may ask whether it could be. */
static void emit_static(struct inspection *in) {
    for (size_t i = 0; i < in->list.n; i++) {
        const struct wc_elf_image *e = in->list.p[i]->library->image;
        if (!in->list.p[i]->program && e && e->dynamic && !e->program)
            return; /* the loader, if nothing else */
    }
    note_unobserved(in, "what is linked into the program",
                    "it is linked statically: it has no libraries, and a cuDNN in it has no name",
                    in->process.executable);
}

static void emit_all(struct inspection *in) {
    int64_t number = 0;

    process_library_read(&in->list, &in->process);
    read_glibc(in);
    emit_process(in);
    machine_emit(&in->to, &in->process.disk.files, wc_str_or_null(in->glibc), true);
    elf_reader_begin(&in->reader, &in->process.disk);
    begin_searches(in);
    find_preloaded(in);
    find_openers(in);
    for (size_t i = 0; i < in->list.n; i++) {
        struct process_library *m = in->list.p[i];
        bool matters = kind_of(m) != WC_NAME_OTHER || is_host(m) || m->library->framework;
        if (matters && is_loaded(in, m))
            m->library->number = ++number;
    }
    wrappers_find(&in->wrappers, &in->process, &in->list);
    emit_objects(in);
    if (in->process.memory < 0 &&
        WC_ANY(m, in->list, (*m)->library->number != WC_NULL && is_host(*m)))
        note_unobserved(in, "what hosts are bound to, and in which order libraries came",
                        "its memory may not be read by this user: root may, or its parent", NULL);
    emit_static(in);
}

/* False: it changed meanwhile. NULL source: see trouble. */
static bool inspect_once(int64_t pid, bool last, struct source **out, char **trouble) {
    struct inspection *in = must_allocate(sizeof(*in));
    enum process_state state = process_begin(&in->process, pid, trouble);
    bool same = true;

    *out = NULL;
    heap_arena_begin(&in->list.memory);
    if (state != PROCESS_UNREADABLE) {
        in->source = source_new(SOURCE_PROCESS, in->process.directory);
        in->source->root = must_copy(in->process.same_mounts ? in->process.root : "");
        in->source->pid = pid;
        in->to = source_sink(in->source);
    }
    if (state == PROCESS_EMPTY) {
        emit_process(in);
        note_unobserved(in, "the process", *trouble, NULL);
    } else if (state == PROCESS_READ) {
        emit_all(in);
        same = process_is_as_it_was(&in->process);
        if (!same && last)
            note_unobserved(in, WC_UNOBSERVED_MAPS,
                            "libraries came and went while it was looked at", NULL);
    }
    if (same || last) {
        *out = in->source;
    } else {
        source_free(in->source);
    }
    if (state != PROCESS_UNREADABLE) {
        free(*trouble);
        *trouble = NULL;
    }
    if (in->files.disk.root)
        library_cache_end(&in->files);
    wrappers_end(&in->wrappers);
    process_library_end(&in->list);
    process_end(&in->process);
    free(in);
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
