/* See inspect.h. */
#include "inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/model/process_facts.h"
#include "inspect_inside.h"

#define TRIES_MOST 4
#define TEXTS_MOST 64

void inspect_unobserved(struct inspection *in, const char *what, const char *why,
                        const char *path) {
    const struct wc_stack *s = &in->source->stack;
    struct wc_record r;

    for (size_t i = 0; i < s->unobserved.n; i++)
        if (wc_str_same(s->unobserved.p[i].r.what, what) &&
            wc_str_same(s->unobserved.p[i].r.path, path))
            return;
    wc_record_begin(&r, WC_KIND_unobserved);
    r.u.unobserved.what = what;
    r.u.unobserved.why = why;
    r.u.unobserved.path = path;
    source_add(in->source, &r);
}

/* ---- the process and its computer ---- */

void inspect_emit_process(struct inspection *in) {
    const struct process *p = &in->process;
    const char *variables[TEXTS_MOST], *arguments[TEXTS_MOST];
    struct utsname names;
    struct wc_record r;
    struct wc_process_record *out = &r.u.process;
    size_t n = 0;

    for (size_t at = 0; at < p->environment.n && n < TEXTS_MOST;
         at += strlen(p->environment.p + at) + 1)
        if (wc_variable_is_logged(p->environment.p + at))
            variables[n++] = p->environment.p + at;
    wc_record_begin(&r, WC_KIND_process);
    out->node = p->same_node && uname(&names) == 0 ? names.nodename : NULL;
    out->start_ticks = p->start_ticks;
    out->parent_pid = p->parent;
    out->executable = p->executable;
    out->directory = p->working_directory;
    out->environment = (struct wc_strings){variables, n};
    out->arguments.p = arguments;
    out->arguments.n = p->arguments.p ? wc_arguments_kept(p->arguments.p, p->arguments.n, false,
                                                          arguments, TEXTS_MOST)
                                      : 0;
    source_add(in->source, &r);
}

static void read_glibc(struct inspection *in) {
    for (size_t i = 0; i < in->list.n && !in->glibc[0]; i++) {
        const struct wc_elf_image *e = process_library_image(in->list.p[i]);
        if (e && wc_str_same(wc_elf_soname(e), "libc.so.6"))
            wc_glibc_release(e, in->glibc);
    }
}

void inspect_emit_machine(struct inspection *in) {
    struct wc_machine_texts *texts = must_allocate(sizeof(*texts));
    struct utsname names;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_machine);
    if (uname(&names) == 0) {
        r.u.machine.kernel = names.release;
        r.u.machine.architecture = names.machine;
    }
    r.u.machine.glibc = in->glibc[0] ? in->glibc : NULL;
    wc_machine_read(&in->process.files, texts, &r.u.machine);
    source_add(in->source, &r);
    free(texts);
}

/* ---- objects ---- */

static enum wc_name_kind kind_of(const struct process_library *m) {
    return m->elf_file && m->elf_file->relevance.name.kind != WC_NAME_OTHER
               ? m->elf_file->relevance.name.kind
               : wc_name_kind_of(m->name);
}

static bool is_cudnn(const struct process_library *m) {
    return wc_kind_is_cudnn(kind_of(m));
}

static bool is_host(const struct process_library *m) {
    return m->elf_file && kind_of(m) == WC_NAME_OTHER &&
           (m->opens || m->elf_file->relevance.imports || m->elf_file->relevance.defines);
}

static bool is_relevant(const struct process_library *m) {
    return kind_of(m) != WC_NAME_OTHER || is_host(m) ||
           (m->elf_file && m->elf_file->relevance.framework);
}

/* What another program only reads, or an emulator runs, its loader knows nothing of. */
static bool is_loaded(struct inspection *in, const struct process_library *m) {
    const struct process_library *program = process_library_program(&in->list);
    const struct wc_elf_image *own = program ? process_library_image(program) : NULL,
                              *e = process_library_image(m);

    if (own && e && own->machine && e->machine && own->machine != e->machine)
        inspect_unobserved(in, "a library for another architecture",
                           "an emulator runs it, or it is only read", m->path);
    else if (!m->executable)
        inspect_unobserved(in, "a library without code",
                           "no part of it is mapped to be run: it is only read", m->path);
    else
        return true;
    return false;
}

static void number_objects(struct inspection *in) {
    int64_t number = 0;

    for (size_t i = 0; i < in->list.n; i++)
        if (is_relevant(in->list.p[i]) && is_loaded(in, in->list.p[i]))
            in->list.p[i]->number = ++number;
}

/* ---- who opened what nobody needs ---- */

static bool may_open(struct inspection *in, const struct process_library *by,
                     const struct process_library *m) {
    if (by == m || kind_of(m) == WC_NAME_CUDA_DEPENDENCY)
        return false;
    if (kind_of(m) == WC_NAME_PART)
        return kind_of(by) == WC_NAME_FACADE;
    return kind_of(m) == WC_NAME_FACADE && kind_of(by) == WC_NAME_OTHER && inspect_opens(in, by, m);
}

/* By the name under which libraries of that kind are asked for: its SONAME, else its file's. */
static const char *usual_name(const struct process_library *m) {
    const struct wc_elf_image *e = process_library_image(m);

    return e && wc_elf_soname(e) ? wc_elf_soname(e) : wc_base_name(m->name);
}

/* The only one for whom the loader would take just this file. */
static struct process_library *opener_of(struct inspection *in, const struct process_library *m) {
    struct process_library *found = NULL;

    for (size_t i = 0; i < in->list.n; i++) {
        struct process_library *by = in->list.p[i];
        if (!may_open(in, by, m) || !inspect_leads_to(in, by, usual_name(m), m))
            continue;
        if (found)
            return NULL;
        found = by;
    }
    return found;
}

static void find_openers(struct inspection *in) {
    for (size_t i = 0; i < in->list.n; i++) {
        struct process_library *m = in->list.p[i];
        if (is_cudnn(m) && !m->needed && m->executable)
            m->opener = opener_of(in, m);
        if (m->opener)
            m->opener->opens = true;
    }
}

/* ---- records ---- */

static enum wc_role role_by_name(const struct process_library *m) {
    struct wc_relevance r = {.framework = NULL};

    wc_name_read(m->name, &r.name);
    return wc_role_of(&r);
}

/* Neither file nor memory: what its name says. */
static void object_by_name(const struct process_library *m, struct wc_record *r,
                           struct wc_name *name) {
    wc_record_begin(r, WC_KIND_object);
    wc_name_read(m->name, name);
    r->u.object.role = role_by_name(m);
    r->u.object.part = name->part[0] ? name->part : NULL;
    r->u.object.mapped = true;
    r->u.object.real_path = m->path;
    r->u.object.device = (int64_t)m->first->device;
    r->u.object.inode = (int64_t)m->first->inode;
}

static void emit_object(struct inspection *in, const struct process_library *m) {
    char base[24];
    struct wc_name name;
    struct wc_record r;
    struct wc_object_record *o = &r.u.object;

    if (m->elf_file)
        elf_file_object(m->elf_file, &r);
    else
        object_by_name(m, &r, &name);
    o->object = m->number;
    o->path = m->name;
    snprintf(base, sizeof(base), "0x%llx", (unsigned long long)m->base);
    o->base = base;
    if (m->needed_by) {
        o->asked_how = WC_operation_NEEDED;
        o->asked_name = m->needed_as;
        o->asked_by = m->needed_by->name;
        o->asked_by_object = m->needed_by->number;
    } else if (m->opener) {
        o->asked_how = WC_operation_DLOPEN;
        o->asked_name = usual_name(m);
        o->asked_by = m->opener->name;
        o->asked_by_object = m->opener->number;
    }
    if (m->opens && is_host(m)) {
        o->role = WC_role_HOST;
        o->is_host = true;
    }
    source_add(in->source, &r);
}

static bool is_new_environment(const struct inspection *in, size_t end, const char *path) {
    size_t n = wc_environment_length(path);

    for (size_t i = 0; i < end; i++) {
        const struct process_library *m = in->list.p[i];
        if (m->number != WC_NULL && (is_host(m) || is_cudnn(m)) &&
            wc_environment_length(m->path) == n && strncmp(m->path, path, n) == 0)
            return false;
    }
    return true;
}

static void emit_searches(struct inspection *in, const struct process_library *m) {
    const struct wc_elf_image *e = process_library_image(m);
    const char *name;

    if (m->needed_by)
        inspect_emit_search(in, m->needed_by, m->needed_as, m, true);
    else if (m->opener)
        inspect_emit_search(in, m->opener, usual_name(m), m, true);
    else if (is_cudnn(m) && !m->needed)
        inspect_unobserved(in, "by which rule a library was found",
                           "no library needs it: it was opened, and by whom is not to be seen from "
                           "outside",
                           m->path);
    for (size_t i = 0; is_host(m) && e && (name = wc_elf_needed(e, i)); i++)
        for (size_t k = 0; wc_name_kind_of(name) == WC_NAME_FACADE && k < in->list.n; k++) {
            const struct process_library *got = in->list.p[k];
            if (got->number != WC_NULL && got->needed_by != m && process_library_answers(got, name))
                inspect_emit_search(in, m, name, got, false);
        }
}

static void emit_file(struct inspection *in, const struct process_library *m) {
    if (m->file == PROCESS_LIBRARY_FILE)
        return;
    inspect_unobserved(
        in,
        m->file == PROCESS_LIBRARY_GONE ? "the file of a library that is mapped"
                                        : "the file of a library: another one has its name",
        m->elf_file ? "it was deleted or replaced since it was loaded; what is told of it is "
                      "what is mapped"
                    : "it was deleted or replaced since it was loaded, and the memory of the "
                      "process may not be read",
        m->path);
}

static void emit_host(struct inspection *in, const struct process_library *m) {
    elf_file_demands(m->elf_file, m->number, inspect_add, in);
    if (in->process.memory >= 0 &&
        !bindings_emit(m, &in->process, &in->list, &in->wrappers, in->source))
        inspect_unobserved(in, "what its functions are bound to", "its memory could not be read",
                           m->path);
}

static void emit_objects(struct inspection *in) {
    for (size_t i = 0; i < in->list.n; i++) {
        const struct process_library *m = in->list.p[i];
        if (m->number == WC_NULL)
            continue;
        emit_object(in, m);
        emit_file(in, m);
        if (m->elf_file && (is_host(m) || is_cudnn(m)) && is_new_environment(in, i, m->path))
            elf_file_packages(m->elf_file, inspect_add, in);
        emit_searches(in, m);
        if (is_host(m))
            emit_host(in, m);
    }
}

/* ---- the whole ---- */

static bool has_hosts(const struct inspection *in) {
    for (size_t i = 0; i < in->list.n; i++)
        if (in->list.p[i]->number != WC_NULL && is_host(in->list.p[i]))
            return true;
    return false;
}

static void emit_memory(struct inspection *in) {
    if (in->process.memory < 0 && has_hosts(in))
        inspect_unobserved(in, "what hosts are bound to, and in which order libraries came",
                           "its memory may not be read by this user: root may, or its parent",
                           NULL);
}

/* Where nothing of cuDNN is there, one may want to know whether it could be. */
static void emit_static(struct inspection *in) {
    for (size_t i = 0; i < in->list.n; i++) {
        const struct wc_elf_image *e = process_library_image(in->list.p[i]);
        if (!in->list.p[i]->program && e && e->dynamic && !e->program)
            return; /* the loader, if nothing else */
    }
    inspect_unobserved(
        in, "what is linked into the program",
        "it is linked statically: it has no libraries, and a cuDNN in it has no name",
        in->process.executable);
}

static void emit_all(struct inspection *in) {
    process_library_read(&in->list, &in->process);
    read_glibc(in);
    inspect_emit_process(in);
    inspect_emit_machine(in);
    inspect_begin_searches(in);
    find_openers(in);
    number_objects(in);
    wrappers_find(&in->wrappers, &in->process, &in->list);
    emit_objects(in);
    emit_memory(in);
    emit_static(in);
}

static void inspection_end(struct inspection *in) {
    inspect_end_searches(in);
    wrappers_end(&in->wrappers);
    process_library_end(&in->list);
    process_end(&in->process);
    free(in);
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
        in->source->pid = pid;
    }
    if (state == PROCESS_EMPTY) {
        inspect_emit_process(in);
        inspect_unobserved(in, "the process", *trouble, NULL);
    } else if (state == PROCESS_READ) {
        emit_all(in);
        same = process_is_as_it_was(&in->process);
        if (!same && last)
            inspect_unobserved(in, "what was mapped meanwhile",
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
    inspection_end(in);
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
