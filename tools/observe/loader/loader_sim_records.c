/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a replayed loading: see loader_sim.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/records/library.h"
#include "loader_sim.h"

/* ---- what does not load ---- */

/* With which that one is loaded. */
static const struct loaded *root_of(const struct loaded *o) {
    while (o->by && o->about.asked_how == WC_operation_NEEDED)
        o = o->by;
    return o;
}

/* The library that was opened and needs, or has others that need, what is missing. NULL: none, or
 * one of cuDNN, whose facade goes on. */
static const struct loaded *opened_for(const struct loader_sim *g,
                                       const struct loader_sim_missing *m) {
    const struct loaded *root = m->by ? root_of(m->by) : NULL;

    return !g->opens.may && root && m->how == WC_operation_NEEDED && !m->damaged && !m->found &&
                   root->about.asked_how == WC_operation_DLOPEN &&
                   !wc_name_is_cudnn(root->about.path)
               ? root
               : NULL;
}

/* The library or program that does not load because of a miss: the loader refuses it by its path.
 * NULL: the miss is a request of its own. */
static const struct loaded *refused_for(const struct loader_sim *g,
                                        const struct loader_sim_missing *m) {
    const enum wc_name_kind kind = wc_name_kind_of(m->name);
    const struct loaded *opened = opened_for(g, m);

    /* A tree without a C library is not a whole system, and nothing in it can start: only what it
     * has of cuDNN and CUDA can be compared. */
    if (kind == WC_NAME_OTHER &&
        (!m->by || WC_ANY(other, g->missing, strcmp(other->name, "libc.so.6") == 0)))
        return NULL;
    /* What it lacks next to cuDNN and CUDA the process may have already, or what was opened is an
     * optional plug-in (onnxruntime's for TensorRT). */
    if (opened)
        return kind == WC_NAME_FACADE || kind == WC_NAME_DRIVER ||
                       WC_ANY(other, g->missing,
                              other->by && opened_for(g, other) == opened &&
                                  wc_name_kind_of(other->name) == WC_NAME_OTHER &&
                                  !wc_name_is_cudnn(other->by->about.path))
                   ? NULL
                   : opened;
    return !g->opens.may && kind == WC_NAME_OTHER && m->how == WC_operation_NEEDED && !m->damaged &&
                   !m->found && root_of(m->by)->about.asked_how != WC_operation_DLOPEN
               ? m->by
               : NULL;
}

/* ---- objects ---- */

/* Nothing of it is mapped any more, or yet; but that is where it is when it is. */
static void emit_object(struct loader_sim *g, struct loader_sim_emitter *t, struct loaded *o) {
    const struct wc_reader *reader = &t->reader.reader;
    struct wc_library l = o->about;

    for (size_t i = 0; i < t->n; i++)
        if (t->objects[i] == o->library) {
            o->about.number = (int64_t)i + 1;
            return;
        }
    if (!library_identify(g->library_cache, o->library, &l))
        return;
    *MUST_ADD(t->objects, t->n) = o->library;
    l.number = o->about.number = (int64_t)t->n;
    /* The loader takes all of what it refuses away again. */
    l.mapped = root_of(o)->about.asked_how != WC_operation_DLOPEN ||
               !WC_ANY(m, g->missing, refused_for(g, m) == root_of(o));
    l.asked_name = o->by || l.asked_how == WC_operation_PRELOAD ? l.asked_name : NULL;
    l.asked_by = o->by ? o->by->about.path : NULL;
    l.asked_by_object = o->by ? o->by->about.number : WC_NULL;
    wc_emit_object(&t->to, &l, NULL);
    l.path = o->library->about.path;
    if (l.role == WC_role_HOST)
        wc_emit_demands(&t->to, &l, reader);
    if (l.role == WC_role_HOST || wc_name_is_cudnn(o->about.path))
        wc_emit_packages(&t->to, &t->environments, wc_library_file(&l), reader);
}

/* ---- searches ---- */

static void emit_search(struct loader_sim *g, struct loader_sim_emitter *t, const char *name,
                        const struct loaded *by, const struct loaded *got, int64_t request,
                        bool was_loaded) {
    const struct wc_search_question q = {.r.search = ++t->searches,
                                         .r.name = name,
                                         .r.caller = by ? by->about.path : NULL,
                                         .r.caller_object = by ? by->about.number : WC_NULL,
                                         .r.request = request,
                                         .r.object = got ? got->about.number : WC_NULL,
                                         .was_loaded = was_loaded,
                                         .by_replay = got != NULL};

    /* That the loader has tried a directory without success counts only for its own search. */
    g->search.memory = NULL;
    g->search.loaded = NULL;
    const char *taken = loader_sim_search(g, name, by);
    if (was_loaded &&
        (!taken || wc_replay_takes(&g->replay, got->about.path, (uint64_t)got->about.device,
                                   (uint64_t)got->about.inode))) {
        t->searches--; /* it would have got the same */
        return;
    }
    if (!got && wc_name_kind_of(name) != WC_NAME_DRIVER && wc_name_kind_of(name) != WC_NAME_OTHER) {
        for (char *const *v = g->environment; *v; v++)
            wc_replay_root(&g->replay, *v);
        for (size_t i = 0; i < g->n; i++)
            wc_replay_site(&g->replay, g->objects[i]->about.path);
        wc_replay_copies(&g->replay, name, by ? by->about.path : "");
    }
    wc_emit_search(&t->to, &q, &g->replay, &t->reader.reader);
}

/* Where a host would have got another facade than the loaded one. */
static void emit_own_search(struct loader_sim *g, struct loader_sim_emitter *t,
                            const struct loaded *host, const char *name) {
    const struct loaded *got = loader_sim_answering(g, name, true);

    if (got && got->by != host && got->about.number != WC_NULL)
        emit_search(g, t, name, host, got, WC_NULL, true);
}

/* ---- what is missing ---- */

/* refused: errno with which the system refused to map it, 0: it did not. */
static void emit_file(struct loader_sim *g, struct loader_sim_emitter *t, const char *path,
                      int64_t request, enum wc_search_rule rule, int refused) {
    const struct wc_files *files = &g->library_cache->disk.files;
    OWNED char *link = g->library_cache->disk.root[0] ? NULL : disk_link(path);
    char real_path[PATH_MAX];
    struct wc_file_check check;
    struct wc_identity id;
    struct wc_library l;

    if (!wc_file_check(files, path, g->search.machine, &check))
        return;
    const struct library *library =
        check.fault ? NULL : library_cache_get(g->library_cache, path, NULL);
    if (library && library->is_program) { /* only its dynamic section says so */
        check.fault = WC_file_fault_NOT_A_LIBRARY;
        snprintf(check.what, sizeof(check.what), "a program");
    }
    wc_library_begin(&l, path);
    if (files->real_path(files->ctx, path, real_path, sizeof(real_path)))
        l.real_path = real_path;
    l.link = link;
    l.request = request;
    if (refused) {
        struct wc_file_check mapped = check;

        wc_check_mapping(&t->reader.reader, wc_library_file(&l), true, &mapped);
        /* What limits and mounts say about it is the reason only where the system said so. */
        if (mapped.fault == WC_file_fault_NO_ROOM ? refused == ENOMEM
                                                  : refused == EPERM || refused == EACCES)
            check = mapped;
    }
    /* Its package puts it back. */
    l.role = wc_name_kind_of(l.path) == WC_NAME_FACADE ? WC_role_FACADE : WC_role_OTHER;
    wc_library_identify(&l, &t->reader.reader, &id);
    wc_emit_file(&t->to, &l, &check, rule);
}

/* A link that leads nowhere is there like nothing. */
static void emit_dead_links(struct loader_sim *g, struct loader_sim_emitter *t, const char *name,
                            int64_t request) {
    const char *path, *cached = wc_search_cache(&g->search, name);

    if (cached)
        emit_file(g, t, cached, request, WC_search_rule_CACHE, 0);
    for (size_t i = 0; (path = wc_replay_wanted(&g->replay, i, name)); i++)
        emit_file(g, t, path, request, g->replay.rule[i], 0);
}

/* Of a library of CUDA's, in the directories that were searched. */
static void emit_other_releases(struct loader_sim *g, struct loader_sim_emitter *t,
                                const struct loader_sim_missing *m, int64_t request) {
    const char *name = m->name, *path, *end = strstr(name, ".so.");
    const char *root = g->library_cache->disk.root;
    const bool is_of_cuda = wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY;

    loader_sim_search(g, name, m->by);
    for (size_t i = 0; end && is_of_cuda && (path = wc_replay_wanted(&g->replay, i, name)); i++) {
        OWNED char *directory = must_format("%.*s", (int)wc_dir_length(path), path);
        OWNED char *pattern = must_format("/%.*s.so.[0-9]*", (int)(end - name), name);
        OWNED_GLOB glob_t others = glob_below(root, directory, pattern, 0);
        for (size_t k = 0; k < others.gl_pathc; k++)
            emit_file(g, t, others.gl_pathv[k] + strlen(root), request, g->replay.rule[i], 0);
    }
}

/* The loader names the first library that another one lacks. */
static bool is_behind(const struct loader_sim *g, const struct loader_sim_missing *m) {
    const struct loaded *opened = opened_for(g, m), *refused = refused_for(g, m);

    for (const struct loader_sim_missing *a = g->missing.p; a < m; a++)
        if ((refused && refused_for(g, a) == refused) ||
            (opened && opened_for(g, a) == opened &&
             (refused_for(g, a) || wc_name_kind_of(a->name) == WC_NAME_FACADE)))
            return true;
    return false;
}

/* In the loader's words, by which findings know it; NULL: the request found nothing. */
static char *error_of(const struct loader_sim_missing *m, const struct loaded *refused) {
    const int error = m->refused == ENFILE ? EMFILE : m->refused;

    if (m->found && (error == EMFILE || error == EIO || error == ESTALE))
        return must_format("%s: cannot open shared object file: %s", m->found->about.path,
                           strerror(error));
    if (m->found && error)
        return must_format("%s: failed to map segment from shared object", m->found->about.path);
    if (m->found && m->by && m->function)
        return must_format("%s: undefined symbol: %s%s%s", m->by->about.path, m->function,
                           m->version ? ", version " : "", m->version ? m->version : "");
    if (m->found && m->by)
        return must_format("%s: version `%s' not found (required by %s)", m->found->about.path,
                           m->version, m->by->about.path);
    return refused ? loader_sim_not_found(m->name) : NULL;
}

static void add_failure(const struct loader_sim_emitter *t, struct wc_failure_record f) {
    struct wc_record record;

    wc_record_begin(&record, WC_KIND_failure);
    record.u.failure = f;
    t->to.add(t->to.ctx, &record);
}

/* The loader ends at a file that is damaged, and skips one for another machine. */
static void emit_missing(struct loader_sim *g, struct loader_sim_emitter *t,
                         const struct loader_sim_missing *m) {
    const struct wc_replay *replay = &g->replay;
    const struct loaded *refused = refused_for(g, m);
    OWNED char *text = error_of(m, refused);
    int64_t request = t->requests + 1;
    const char *passed;

    add_failure(t,
                (struct wc_failure_record){.request = request,
                                           .operation = m->how,
                                           .name = refused ? refused->about.path : m->name,
                                           .text = text,
                                           .caller = m->by ? m->by->about.path : NULL,
                                           .caller_object = m->by ? m->by->about.number : WC_NULL,
                                           .inferred = true,
                                           .priority = m->priority});
    if (m->found && (m->refused || m->by)) {
        /* What limits and mounts say holds for what is too large, and for what may not run. */
        emit_file(g, t, m->found->about.path, request, WC_search_rule_UNKNOWN, m->refused);
        return;
    }
    emit_search(g, t, m->name, m->by, NULL, request, false);
    wc_emit_packages_wanted(&t->to, &t->environments, &g->replay, m->name, &t->reader.reader);
    if (m->damaged && wc_replay_taken(replay))
        emit_file(g, t, wc_replay_taken(replay), request, WC_search_rule_UNKNOWN, 0);
    for (size_t i = 0; (passed = wc_replay_passed(replay, i)); i++)
        emit_file(g, t, passed, request, WC_search_rule_UNKNOWN, 0);
    if (!m->damaged && !strchr(m->name, '/'))
        emit_dead_links(g, t, m->name, request);
}

/* ---- all of it ---- */

/* Which facade it gets: what it needs or opens by name, else the first that its process has. */
static const struct loaded *facade_of(const struct loader_sim *g, const struct loaded *host) {
    const struct elf_prescan_name *own = host->library->opens;
    const struct loaded *found = host->facade;

    for (const char **name = host->library->needed; *name && !found; name++)
        found = loader_sim_answering(g, *name, true);
    for (; own && own->text[0] && !found; own++)
        found = loader_sim_answering(g, own->text, true);
    struct loaded *const *first =
        WC_FIRST(o, WC_ITEMS(g->objects, g->n), (*o)->about.role == WC_role_FACADE);
    return found ?: first ? *first : NULL;
}

void loader_sim_emit(struct loader_sim *g, struct loader_sim_emitter *t) {
    const int64_t known = (int64_t)t->n;

    elf_reader_begin(&t->reader, &g->library_cache->disk);
    EACH_POINTER(o, g->objects, g->n)
        if (o->about.role != WC_role_OTHER || o->about.framework)
            emit_object(g, t, o);
    EACH_POINTER(o, g->objects, g->n) {
        const struct wc_library *l = &o->about;
        struct wc_preload p;
        if (l->number > known && l->asked_how == WC_operation_PRELOAD) {
            if (wc_search_preload(loader_variable(g->environment, "LD_PRELOAD"), l->path,
                                  o->search.soname, &p))
                wc_emit_preload(&t->to, ++t->searches, &p, l->number, l->path);
        } else if (l->number > known && l->asked_name && !strchr(l->asked_name, '/'))
            emit_search(g, t, l->asked_name, o->by, o, WC_NULL, false);
    }
    EACH_POINTER(host, g->objects, g->n) {
        if (host->about.number <= known || host->about.role != WC_role_HOST)
            continue;
        const struct loaded *facade = facade_of(g, host);
        if (facade && facade->about.number != WC_NULL) {
            OWNED const char **list = NULL;
            const bool put = library_is_put(g->library_cache, &facade->about);
            const size_t n = put ? 0 : loader_sim_undefined(g, host, &list);
            wc_emit_binding(&t->to, &host->about, &facade->about, WC_binding_how_UNKNOWN, NULL,
                            WC_NULL);
            if (n) /* the call of a function that no library has ends the process */
                wc_emit_binding(&t->to, &host->about, NULL, WC_binding_how_UNDEFINED,
                                &(struct wc_strings){list, n}, WC_NULL);
        }
        for (const char **name = host->library->needed; g->opens.may && *name; name++)
            if (wc_name_kind_of(*name) == WC_NAME_FACADE)
                emit_own_search(g, t, host, *name);
        if (g->opens.may && host->facade_name && !strchr(host->facade_name, '/'))
            emit_own_search(g, t, host, host->facade_name);
    }
    WC_EACH(m, g->missing) {
        const bool concerns_us =
            wc_name_kind_of(m->name) != WC_NAME_OTHER || m->found ||
            wc_name_hints(wc_base_name(m->name)) || (m->by && m->by->about.role != WC_role_OTHER) ||
            (g->opens.was_missed && g->opens.was_missed(g->opens.ctx, m->name));
        if (concerns_us && !is_behind(g, m))
            emit_missing(g, t, m);
        t->requests++;
    }
}

bool loader_sim_emit_some(struct loader_sim *g, struct loader_sim_emitter *t, bool lookups) {
    bool any = false;

    elf_reader_begin(&t->reader, &g->library_cache->disk);
    WC_EACH(m, g->missing) {
        if (lookups ? m->function != NULL : m->damaged || m->refused) {
            emit_missing(g, t, m);
            any = true;
        }
        t->requests++;
    }
    return any;
}

const char *loader_sim_unbound(struct loader_sim *g, const struct loaded *o,
                               const struct loaded **by) {
    if (o && WC_ANY(m, g->missing, m->by && root_of(m->by) == root_of(o)))
        return NULL;
    for (size_t i = 0; i < g->n; i++) {
        const struct library_import *import =
            library_imports(g->library_cache, g->objects[i]->library);
        *by = g->objects[i];
        for (; import->name && (!o || root_of(*by) == root_of(o)); import++)
            if (!import->version_file && !loader_sim_defines(g, NULL, import->name, true))
                return import->name;
    }
    return NULL;
}

/* In the loader's words. NULL: there is none. */
static char *unbound(struct loader_sim *g) {
    const struct loaded *by;
    const char *function = loader_sim_unbound(g, NULL, &by);

    return function ? must_format("%s: undefined symbol: %s", by->about.path, function) : NULL;
}

/* NULL: nothing is there, or nothing is wrong with it. */
static char *fault_of(const struct loader_sim *g, const char *path) {
    const struct wc_files *files = &g->library_cache->disk.files;
    struct wc_file_check check;
    struct stat facts;
    const int error = stat(path, &facts) == 0 ? 0 : errno;

    if (error == ENOTDIR)
        return must_format("%.*s is not a directory", (int)wc_dir_length(path), path);
    if (!wc_file_check(files, path, g->search.machine, &check) || !check.fault)
        return NULL;
    return must_format("%s is %s", path,
                       error == ELOOP ? "a link that points to itself" : check.what);
}

char *loader_sim_why_ended(struct loader_sim *g) {
    const struct loader_sim_missing *m = g->missing.p;
    const char *path;
    OWNED char *fault = NULL;

    if (!g->missing.n)
        return unbound(g);
    if (m->refused)
        return must_format("the system does not let it have %s: %s", m->found->about.path,
                           strerror(m->refused));
    loader_sim_search(g, m->name, m->by);
    for (size_t i = 0; !fault && (path = wc_replay_wanted(&g->replay, i, m->name)); i++)
        fault = fault_of(g, path);
    return must_format("%s, which %s needs, was not found%s%s", m->name, m->by->search.path,
                       fault ? ": " : "", fault ? fault : "");
}

bool loader_sim_emit_unbound(struct loader_sim *g, struct loader_sim_emitter *t,
                             const struct wc_failure_record *last) {
    OWNED char *text = unbound(g);
    struct wc_failure_record f = *last;

    if (!text) {
        loader_sim_check_versions(g, 0);
        return loader_sim_emit_some(g, t, true);
    }
    f.text = text;
    f.inferred = true;
    add_failure(t, f);
    return true;
}

bool loader_sim_emit_reason(struct loader_sim *g, struct loader_sim_emitter *t,
                            const struct wc_failure_record *f, int64_t number, const char *needer) {
    const struct loader_sim_missing *m = NULL;
    struct wc_failure_record failure = *f;

    for (size_t i = g->missing_from; i < g->missing.n && !m; i++)
        if (g->missing.p[i].how == WC_operation_NEEDED && !g->missing.p[i].found &&
            !g->missing.p[i].damaged &&
            (!f->text || wc_str_starts(f->text, g->missing.p[i].name))) /* "NAME: cannot open" */
            m = &g->missing.p[i];
    if (!m) /* all that a part needs is there, and a function of it may be nowhere */
        return !f->text && wc_name_is_cudnn(f->caller) && g->missing.n == g->missing_from &&
               loader_sim_emit_unbound(g, t, f);
    elf_reader_begin(&t->reader, &g->library_cache->disk);
    const struct loaded *root = root_of(m->by);
    struct wc_library l = root->about;
    /* Then the log has the file that was opened, and where what it needs itself was looked for. */
    const bool by_shim = f->text && wc_name_kind_of(m->name) != WC_NAME_OTHER;
    if (!by_shim && l.role == WC_role_HOST &&
        library_identify(g->library_cache, root->library, &l)) {
        l.number = number;
        l.mapped = false;
        l.asked_name = f->name;
        l.asked_by = f->caller;
        l.asked_by_object = f->caller_object;
        l.request = f->request;
        wc_emit_object(&t->to, &l, NULL);
        wc_emit_demands(&t->to, &l, &t->reader.reader);
    }
    if (f->text && !by_shim)
        return true;
    if (!by_shim || !wc_str_same(needer, m->by->about.path)) {
        OWNED char *words = loader_sim_not_found(m->name);
        failure.text = words;
        if (!f->text)
            add_failure(t, failure);
        emit_search(g, t, m->name, m->by, NULL, f->request, false);
        emit_dead_links(g, t, m->name, f->request);
        wc_emit_packages_wanted(&t->to, &t->environments, &g->replay, m->name, &t->reader.reader);
    }
    emit_other_releases(g, t, m, f->request);
    return true;
}

void loader_sim_emitter_end(struct loader_sim_emitter *t) {
    free(t->objects);
}
