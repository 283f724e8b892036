/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See loader_sim.h. The order is that of glibc's _dl_map_object_deps: the program, what is
 * preloaded, then each object's DT_NEEDED, breadth first.
 */
#include "loader_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/demand/questions.h"

#define OBJECTS_MOST 4096

/* ---- what is loaded ---- */

struct asked_name {
    UT_hash_handle hh;
    struct loaded *o; /* answers to it */
};

static void note_name(struct loader_sim *g, struct loaded *o, const char *name) {
    struct asked_name *asked = wc_arena_take(&g->memory.arena, sizeof(*asked));
    const char **names, *kept = heap_copy(&g->memory, name);
    size_t n = 0;

    while (o->search.names && o->search.names[n])
        n++;
    names = wc_arena_take(&g->memory.arena, (n + 2) * sizeof(*names));
    memcpy(names, o->search.names ?: (const char *[]){NULL}, n * sizeof(*names));
    names[n] = kept;
    o->search.names = names;
    asked->o = o;
    HASH_ADD_KEYPTR(hh, g->asked, kept, strlen(kept), asked);
}

static struct loaded *add(struct loader_sim *g, const char *path, struct library *library,
                          const char *name, const struct loaded *by, enum wc_operation how) {
    struct loaded *o = g->n < OBJECTS_MOST ? wc_arena_take(&g->memory.arena, sizeof(*o)) : NULL;

    if (!o)
        return NULL;
    o->library = library;
    o->about = library->about;
    o->about.path = heap_copy(&g->memory, path);
    o->about.asked_how = how;
    o->about.asked_name = heap_copy(&g->memory, name);
    o->by = by;
    o->search = library->search;
    o->search.path = o->about.path;
    o->search.origin = wc_search_origin(&g->memory.arena, path, g->directory);
    o->search.loaded_by = by && how == WC_operation_NEEDED ? &by->search : NULL;
    g->loaded = must_grow(g->loaded, (g->n + 2) * sizeof(struct wc_search_object *));
    g->loaded[g->n] = &o->search;
    *MUST_ADD(g->objects, g->n) = o;
    g->loaded[g->n] = NULL;
    g->search.loaded = g->loaded;
    return o;
}

struct loaded *loader_sim_of(const struct loader_sim *g, const struct library *library) {
    EACH_POINTER(o, g->objects, g->n)
        if (o->about.device == library->about.device && o->about.inode == library->about.inode)
            return o;
    return NULL;
}

char *loader_sim_not_found(const char *name) {
    return must_format("%s: cannot open shared object file: No such file or directory", name);
}

#define MISSING(called, asker, operation, ...)                                                     \
    ((struct loader_sim_missing){.name = called, .by = asker, .how = operation, ##__VA_ARGS__})

/* Of several objects that miss a library, the object that depends most on it is noted. */
static void note_missing(struct loader_sim *g, struct loader_sim_missing new) {
    for (size_t i = g->missing_from; i < g->missing.n; i++)
        if (strcmp(g->missing.p[i].name, new.name) == 0) {
            if (new.priority >= g->missing.p[i].priority)
                return;
            new.name = g->missing.p[i].name;
            g->missing.p[i] = new;
            return;
        }
    if (g->ended)
        return;
    g->ended = new.damaged;
    new.name = heap_copy(&g->memory, new.name);
    *MUST_ADD(g->missing.p, g->missing.n) = new;
}

const char *loader_sim_search(struct loader_sim *g, const char *name, const struct loaded *by) {
    wc_replay_run(&g->replay, &g->search, by ? &by->search : NULL, name, g->scratch,
                  WC_SEARCH_SCRATCH);
    return wc_replay_taken(&g->replay);
}

/* *path: where it is. */
static struct library *find(struct loader_sim *g, const char *name, const struct loaded *by,
                            enum wc_operation how, const char **path) {
    if (g->opens.in_turn && how == WC_operation_DLOPEN)
        by = NULL;
    g->search.whole = false; /* the loader does not look after what it takes */
    *path = loader_sim_search(g, name, by);
    g->search.whole = true;
    return *path ? library_cache_get(g->library_cache, *path, NULL) : NULL;
}

/* The same file by another name is the same object. NULL: it is missing, or damaged, which is
 * noted. */
static struct loaded *want(struct loader_sim *g, const char *name, const struct loaded *by,
                           enum wc_operation how) {
    const struct asked_name *asked;
    const char *path = NULL;

    if (g->ended)
        return NULL;
    HASH_FIND_STR(g->asked, name, asked);
    struct library *library = asked ? asked->o->library : find(g, name, by, how, &path);
    if (!library)
        return NULL;
    if (library->damaged || (library->is_program && how == WC_operation_NEEDED)) {
        note_missing(g, MISSING(name, by, how, .damaged = true));
        return NULL;
    }
    if (asked)
        return asked->o;
    struct loaded *o = loader_sim_of(g, library);
    if (!o)
        o = add(g, path, library, name, by, how);
    if (o)
        note_name(g, o, name);
    return o;
}

static void note_lacking(struct loader_sim *g, const char *name, const struct loaded *by,
                         const struct loaded *found, const char *version, const char *function) {
    note_missing(g, MISSING(name, by, WC_operation_NEEDED, .found = found,
                            .version = heap_copy(&g->memory, version), .function = function));
}

/* of_nobody: only of files that are neither cuDNN's nor CUDA's. */
static void check_versions(struct loader_sim *g, const struct loaded *by, bool of_nobody) {
    const char **name = by->library->version_files;

    for (size_t i = 0; name[i]; i++) {
        const bool matters = wc_file_matters(name[i]);
        const bool is_asked = of_nobody ? !matters : matters || wc_file_matters(by->about.path);
        const struct loaded *o = is_asked ? loader_sim_answering(g, name[i], false) : NULL;
        const char *lacking =
            o ? library_lacks_version(g->library_cache, by->library, i, o->library) : NULL;
        if (lacking)
            note_lacking(g, name[i], by, o, lacking, NULL);
    }
}

/* A host whose own search points to what cuDNN needs of CUDA, without needing that, opens it by
 * name before (TensorFlow, CTranslate2). */
static bool is_opened_by_host(struct loader_sim *g, const char *name, const struct loaded *by) {
    if (g->opens.may || wc_name_kind_of(name) != WC_NAME_CUDA_DEPENDENCY)
        return false;
    while (by && wc_name_is_cudnn(by->about.path))
        by = by->by;
    return by && by->about.role == WC_role_HOST && want(g, name, by, WC_operation_DLOPEN);
}

static void load_needed(struct loader_sim *g, size_t from) {
    for (size_t i = from; i < g->n; i++)
        for (const char **name = g->objects[i]->library->needed; *name; name++)
            if (!want(g, *name, g->objects[i], WC_operation_NEEDED) &&
                !is_opened_by_host(g, *name, g->objects[i]))
                note_missing(g, MISSING(*name, g->objects[i], WC_operation_NEEDED));
    for (size_t i = from; i < g->n; i++) /* what was built for a newer libc, say */
        if (g->objects[i]->about.role == WC_role_HOST ||
            wc_kind_is_ours(wc_name_kind_of(g->objects[i]->about.path)))
            check_versions(g, g->objects[i], true);
}

/* ---- what these open in turn ---- */

struct wc_version loader_sim_version(struct loader_sim *g, const struct loaded *o) {
    struct wc_library b = o->about;

    if (library_identify(g->library_cache, o->library, &b) && wc_library_is_cudnn(&b) &&
        wc_version_known(b.identity->version))
        return b.identity->version;
    return wc_name_read(o->library->search.soname ?: o->search.path).version;
}

/* cuDNN 9 has "libcudnn_ops.so" and adds .MAJOR.MINOR.PATCH, .MAJOR.MINOR, .MAJOR and nothing in
 * turn; 8 has the name with its major. */
static const struct loaded *open_part(struct loader_sim *g, const char *name,
                                      const struct loaded *by, struct wc_version version) {
    const int32_t fields[] = {version.major, version.minor, version.patch};
    const struct loaded *o = NULL;
    struct wc_name read = wc_name_read(name);
    int known = 0;

    if (wc_version_known(read.version))
        return want(g, name, by, WC_operation_DLOPEN);
    while (known < 3 && fields[known] >= 0)
        known++;
    for (int n = known; n >= 0 && !o; n--) {
        char full[128];
        int at = snprintf(full, sizeof(full), "%s", name);
        for (int i = 0; i < n; i++)
            at += snprintf(full + at, sizeof(full) - (size_t)at, ".%d", (int)fields[i]);
        o = want(g, full, by, WC_operation_DLOPEN);
    }
    return o;
}

/* A flavour of cuDNN may leave parts out and never ask for them. What cudnnGetVersion is handed on
 * to is always asked for, in a process by the bare name in the end. A part that lacks something is
 * not loaded. */
static void open_parts(struct loader_sim *g, const struct loaded *by) {
    const char *soname = by->library->search.soname;
    struct wc_version version = loader_sim_version(g, by);
    const char *answering = wc_answering_part(version.major);

    for (const struct elf_prescan_name *part = by->library->opens; part->text[0]; part++) {
        const char *name = part->text;
        const size_t objects = g->n, missing = g->missing.n;
        struct wc_name read = wc_name_read(name);
        if (wc_str_same(name, soname) || (g->opens.may && !g->opens.may(g->opens.ctx, by, name)))
            continue;
        if (open_part(g, name, by, version)) {
            if (g->opens.may)
                load_needed(g, objects);
            if (g->opens.may && g->missing.n > missing)
                loader_sim_undo(g, objects);
        } else if (answering && strcmp(read.part, answering) == 0) {
            OWNED char *asked = g->opens.may || wc_version_known(read.version)
                                    ? must_copy(name)
                                    : must_format("%s.%d", name, version.major);
            note_missing(g, MISSING(asked, by, WC_operation_DLOPEN));
        }
    }
}

static void note_facade(struct loader_sim *g, const struct loaded *by, const char *name,
                        const struct loaded *got) {
    struct loaded *host = loader_sim_of(g, by->library);

    if (!host || host->facade || got->about.role != WC_role_FACADE)
        return;
    host->facade = got;
    host->facade_name = heap_copy(&g->memory, name);
}

/* Of names that serve in place of one another it takes the first that is there. */
static void open_its_own(struct loader_sim *g, const struct loaded *by) {
    const struct elf_prescan_name *at = by->library->opens;

    while (at->text[0]) {
        const struct elf_prescan_name *const first = at;
        const struct loaded *got = NULL;
        do
            if (!got && (got = want(g, at->text, by, WC_operation_DLOPEN)))
                note_facade(g, by, at->text, got);
        while ((++at)->or_else);
        if (!got)
            note_missing(
                g, MISSING(first->text, by, WC_operation_DLOPEN, .priority = first->priority));
    }
}

static void load_rest(struct loader_sim *g, size_t from) {
    load_needed(g, from);
    for (size_t i = from; i < g->n; i++) {
        size_t before = g->n;
        if (!g->objects[i]->library->opens)
            continue;
        if (g->objects[i]->about.role != WC_role_HOST)
            open_parts(g, g->objects[i]);
        else if (!g->opens.may)
            open_its_own(g, g->objects[i]);
        load_needed(g, before);
    }
}

const struct loaded *loader_sim_open(struct loader_sim *g, const char *name,
                                     const struct loaded *by) {
    size_t before = g->n;
    const struct loaded *o = want(g, name, by, WC_operation_DLOPEN);

    if (!o)
        note_missing(g, MISSING(name, by, WC_operation_DLOPEN));
    else if (by)
        note_facade(g, by, name, o);
    load_rest(g, before);
    return o;
}

/* ---- symbols ---- */

const struct loaded *loader_sim_answering(const struct loader_sim *g, const char *name,
                                          bool facade) {
    EACH_POINTER(o, g->objects, g->n)
        if ((!facade || o->about.role == WC_role_FACADE) && wc_search_answers(&o->search, name))
            return o;
    return NULL;
}

void loader_sim_lack(struct loader_sim *g, const struct loaded *by, const char *function) {
    note_lacking(g, by->about.path, by, by, NULL, function);
}

/* Does dlopen point to another than the loader's, of those that are there at the start? */
static bool has_another_dlopen(struct loader_sim *g) {
    EACH_POINTER(o, g->objects, g->n)
        if (library_defines(g->library_cache, o->library, "dlopen"))
            return !wc_str_same(o->search.soname, "libc.so.6") &&
                   !wc_str_same(o->search.soname, "libdl.so.2");
    return false;
}

bool loader_sim_defines(struct loader_sim *g, const bool *seen, const char *function, bool all) {
    return WC_ANY(o, WC_ITEMS(g->objects, g->n),
                  (!seen || seen[o - g->objects]) && (all || (*o)->about.role != WC_role_OTHER) &&
                      library_defines(g->library_cache, (*o)->library, function));
}

/* Most objects bind all that they import at their start; the others, when it is called. all: of
 * whatever library; else of cuDNN or CUDA. */
static void check_functions(struct loader_sim *g, const struct loaded *by, bool all) {
    struct library_cache *w = g->library_cache;
    const char **file = by->library->version_files;
    const struct library_import *first = NULL, *import;
    const struct loaded *lacks = NULL;

    for (size_t i = 0; file[i]; i++) {
        const bool is_asked = all || wc_name_kind_of(file[i]) != WC_NAME_OTHER;
        const struct loaded *o = is_asked ? loader_sim_answering(g, file[i], false) : NULL;
        if (!o || library_is_put(w, &o->about))
            continue;
        import = library_lacks_functions(w, by->library, i, o->library);
        while (import->name &&
               (import->version_file != file[i] || loader_sim_defines(g, NULL, import->name, true)))
            import++;
        if (import->name && (!first || import < first)) {
            first = import;
            lacks = o;
        }
    }
    if (first)
        note_lacking(g, first->version_file, by, lacks, first->version, first->name);
}

/* From this import on the next function of cuDNN's that loader_sim_defines() says no to. */
static const struct library_import *
next_undefined(struct loader_sim *g, const struct library_import *i, const bool *seen, bool all) {
    while (i->name && !(i->is_of_cudnn && !loader_sim_defines(g, seen, i->name, all)))
        i++;
    return i;
}

static const char *undefined(struct loader_sim *g, const struct loaded *by, const bool *seen) {
    return next_undefined(g, library_imports(g->library_cache, by->library), seen, false)->name;
}

size_t loader_sim_undefined(struct loader_sim *g, const struct loaded *by, const char ***list) {
    const struct library_import *import = library_imports(g->library_cache, by->library);
    size_t n = 0;

    for (*list = NULL; (import = next_undefined(g, import, NULL, true))->name; import++)
        *MUST_ADD(*list, n) = import->name;
    return n;
}

void loader_sim_check_symbols(struct loader_sim *g, bool start) {
    const char *now = loader_variable(g->environment, "LD_BIND_NOW");
    const size_t lazy = start || (now && *now) ? 0 : loader_sim_startup(g);

    for (size_t i = 0; i < g->n; i++) {
        const struct loaded *by = g->objects[i];
        if (by->library->needs_cudnn || wc_file_matters(by->about.path)) {
            check_versions(g, by, false);
            if (i >= lazy)
                check_functions(g, by, false);
        }
        if ((by->library->needs_cudnn || by->library->about.imports) && !g->undefined)
            g->undefined = undefined(g, by, NULL);
    }
}

void loader_sim_check_versions(struct loader_sim *g, size_t from) {
    for (size_t i = from; i < g->n; i++) {
        check_versions(g, g->objects[i], true);
        check_versions(g, g->objects[i], false);
        check_functions(g, g->objects[i], true);
    }
}

/* ---- whose functions an object sees ---- */

/* With what it needs. */
static void see(const struct loader_sim *g, size_t i, bool *seen) {
    seen[i] = true;
    for (const char **name = g->objects[i]->library->needed; *name; name++) {
        size_t k = 0;
        while (k < g->n && !wc_search_answers(&g->objects[k]->search, *name))
            k++;
        if (k < g->n && !seen[k])
            see(g, k, seen);
    }
}

const char *loader_sim_unseen(struct loader_sim *g, const struct loaded *o, const char *function) {
    OWNED bool *seen = must_allocate((g->n + 1) * sizeof(*seen));

    for (size_t i = 0; i < g->n; i++) {
        const enum wc_operation how = g->objects[i]->about.asked_how;
        if (g->objects[i] == o || g->objects[i]->for_all || how == WC_operation_START ||
            how == WC_operation_PRELOAD)
            see(g, i, seen);
    }
    if (!function)
        return undefined(g, o, seen);
    return loader_sim_defines(g, seen, function, true) ? NULL : function;
}

size_t loader_sim_torn(struct loader_sim *g) {
    const struct loaded *last = NULL;
    size_t torn = 0;

    WC_EACH(m, g->missing) {
        const struct loaded *facade = m->by ? m->by->by : NULL;
        if (m->how != WC_operation_NEEDED || !facade || m->by == last ||
            m->by->about.role != WC_role_PART || !wc_name_is_cudnn(m->name) ||
            !WC_ANY(o, WC_ITEMS(g->objects, g->n), *o == facade) ||
            loader_sim_search(g, m->name, facade))
            continue;
        last = m->by;
        torn++;
    }
    EACH_POINTER(o, g->objects, g->n)
        torn += o->by && o->about.asked_how == WC_operation_NEEDED &&
                wc_name_is_cudnn(o->about.path) && wc_name_is_cudnn(o->by->about.path) &&
                !wc_is_below(o->about.path, o->by->about.path, wc_dir_length(o->by->about.path));
    return torn;
}

void loader_sim_undo(struct loader_sim *g, size_t objects) {
    while (g->n > objects) {
        struct loaded *o = g->objects[--g->n];
        struct asked_name *asked;
        for (const char *const *name = o->search.names; name && *name; name++) {
            HASH_FIND_STR(g->asked, *name, asked);
            if (asked)
                HASH_DEL(g->asked, asked);
        }
        for (size_t k = 0; k < objects; k++)
            if (g->objects[k]->facade == o)
                g->objects[k]->facade = NULL;
    }
    if (g->loaded)
        g->loaded[g->n] = NULL;
}

size_t loader_sim_startup(const struct loader_sim *g) {
    size_t n = 0;

    while (n < g->n && g->objects[n]->about.asked_how != WC_operation_DLOPEN)
        n++;
    return n;
}

void loader_sim_refuse(struct loader_sim *g, size_t object, int error) {
    const struct loaded *o = g->objects[object];

    g->missing.n = 0; /* what comes after it is not asked for any more */
    note_missing(g, MISSING(o->about.asked_name ? o->about.asked_name : o->about.path, o->by,
                            o->about.asked_how, .found = o, .refused = error));
    loader_sim_undo(g, object);
}

/* ---- the start ---- */

static bool start(struct loader_sim *g, const char *program) {
    struct library *library = library_cache_get(g->library_cache, program, NULL);

    if (!library || !library->is_elf || library->machine != OWN_MACHINE || !library->interpreter ||
        strstr(library->interpreter, "ld-musl"))
        return false;
    library_cache_use(g->library_cache, library->interpreter, &g->search);
    struct loaded *o =
        add(g, wc_library_file(&library->about), library, NULL, NULL, WC_operation_START);
    o->search.is_program = true;
    g->program = o;
    g->search.program = &o->search;
    g->search.library_path_origin = o->search.origin;
    return true;
}

bool loader_sim_begin(struct loader_sim *g, struct library_cache *library_cache,
                      const char *program, char *const *environment,
                      const struct loader_sim_opens *opens) {
    memset(g, 0, sizeof(*g));
    if (opens)
        g->opens = *opens;
    heap_arena_begin(&g->memory);
    g->library_cache = library_cache;
    g->environment = environment;
    g->directory = library_cache->disk.directory ? must_copy(library_cache->disk.directory)
                   : library_cache->disk.root[0] ? NULL
                                                 : getcwd(NULL, 0);
    g->search.library_path = loader_variable(g->environment, "LD_LIBRARY_PATH");
    g->search.machine = OWN_MACHINE;
    g->tried.arena = &g->memory.arena;
    g->search.memory = &g->tried;
    if (!program) {
        library_cache_use(library_cache, NULL, &g->search);
    } else if (!start(g, program)) {
        loader_sim_end(g);
        return false;
    }
    const char *list = loader_variable(g->environment, "LD_PRELOAD");
    WC_EACH_ELEMENT(e, list, " :") { /* one that is not found is skipped */
        OWNED char *name = must_format("%.*s", (int)e.n, e.p);
        if (*name)
            want(g, name, NULL, WC_operation_PRELOAD);
    }
    if (g->opens.in_turn) {
        load_needed(g, 0);
        g->opens.in_turn = has_another_dlopen(g);
    }
    load_rest(g, 0);
    return true;
}

void loader_sim_end(struct loader_sim *g) {
    HASH_CLEAR(hh, g->asked);
    free(g->objects);
    free(g->loaded);
    free(g->missing.p);
    free(g->directory);
    heap_arena_end(&g->memory);
}
