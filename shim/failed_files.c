/* SPDX-License-Identifier: Apache-2.0 */
#include "failed_files.h"

#include "arch.h"
#include "core/model/loader_words.h"
#include "core/records/emit.h"
#include "core/records/library.h"
#include "files.h"
#include "journal.h"
#include "load_chain.h"
#include "reader.h"
#include "searches.h"
#include "sys.h"

#define BESIDE_MOST 8 /* files of one directory that get a record */
#define NEEDS_MOST 4
#define MAJORS_MOST 20 /* of cuDNN: more than exist */

static char link_of_file[SYS_PATH], real_path[SYS_PATH];

/* Has the file a record for that request? r NULL: one that it was replaced, for any request? */
static bool is_emitted(const struct request *r, const char *path) {
    return WC_ANY(f, journal_stack()->files,
                  wc_str_same(f->r.path, path) &&
                      (r ? f->r.request == r->number : f->r.fault == WC_file_fault_REPLACED));
}

/* Writes the record while the file is open, because its SONAME points into it. A file that is no
 * library has an installation, too: reinstalling its package repairs it. */
static void emit_contents(struct wc_library *l, const struct wc_file_check *check,
                          enum wc_search_rule rule) {
    static struct wc_identity id;
    const struct wc_reader *files = reader();
    const char *path = wc_library_file(l);
    struct wc_library file;
    bool sound = !check->fault || check->fault == WC_file_fault_NO_EXECUTION ||
                 check->fault == WC_file_fault_NO_ROOM || check->fault == WC_file_fault_REPLACED;
    bool open = sound && files->open(files->ctx, path, &file);
    l->image = open ? file.image : NULL;
    l->role = wc_name_kind_of(path) == WC_NAME_FACADE ? WC_role_FACADE : WC_role_OTHER;
    wc_library_identify(l, files, &id);
    wc_emit_file(&journal_sink, l, check, rule);
    if (open)
        files->close(files->ctx);
}

/* About the request that is being examined. */
static bool is_unmapped; /* the loader's message says that the system refused to map the file */
static bool is_silent;   /* the host did not call dlerror */

/* Writes a record of the file. False: there is no file. */
static bool examine_file(const struct request *r, const char *path, enum wc_search_rule rule) {
    static struct wc_file_check check;
    struct wc_library l;
    if (is_emitted(r, path))
        return true;
    if (!wc_file_check(&shim_files, path, ARCH_MACHINE, &check))
        return false;
    wc_library_begin(&l, path);
    if (shim_files.real_path(NULL, path, real_path, sizeof real_path))
        l.real_path = real_path;
    if (files_read_link(path, link_of_file, sizeof link_of_file))
        l.link = link_of_file;
    if (is_unmapped || is_silent)
        wc_check_mapping(reader(), wc_library_file(&l), is_unmapped, &check);
    l.request = r->number;
    emit_contents(&l, &check, rule);
    return true;
}

/* ---- what the asker required, where it is not a host of this process ---- */

/* The demands of a library that failed to get a cuDNN, or was itself refused. number: of its object
 * record; WC_NULL: it has none. */
static void emit_demands(int64_t number, const char *path) {
    const struct wc_reader *files = reader();
    struct wc_library l;
    if (!path || WC_ANY(d, journal_stack()->demands, wc_str_same(d->r.host_path, path)) ||
        wc_name_is_cudnn(path) || !files->open(files->ctx, path, &l))
        return;
    l.number = number;
    if (shim_files.real_path(NULL, path, real_path, sizeof real_path))
        l.real_path = real_path;
    wc_emit_demands(&journal_sink, &l, files);
    files->close(files->ctx);
}

/* ---- other names of the same library, in a directory that was searched ---- */

struct beside {
    const struct request *request;
    struct wc_name wanted;
    const char *name, *directory;
    enum wc_search_rule rule;
    size_t examined;
};

static bool look_beside(void *arg, const char *entry) {
    static char path[SYS_PATH];
    struct beside *b = arg;
    struct wc_name name = wc_name_read(entry);
    /* For a missing part its facade counts, too: it shows which cuDNN lacks the part. */
    bool facade = b->wanted.kind == WC_NAME_PART && name.kind == WC_NAME_FACADE;
    if (!facade && (name.kind != b->wanted.kind || !wc_str_same(name.part, b->wanted.part) ||
                    wc_str_same(entry, b->name)))
        return true;
    if (wc_str_format(path, sizeof path, "%s/%s", b->directory, entry))
        examine_file(b->request, path, b->rule);
    return ++b->examined < BESIDE_MOST;
}

static void examine_beside(const struct request *r, const char *name, const char *directory,
                           size_t length, enum wc_search_rule rule) {
    static char text[SYS_PATH];
    struct beside b = {
        .request = r, .wanted = wc_name_read(name), .name = name, .directory = text, .rule = rule};
    /* Not for names with a whole version, which cuDNN tries before the name that its parts have. */
    if (b.wanted.kind != WC_NAME_OTHER && b.wanted.version.minor < 0 &&
        wc_str_format(text, sizeof text, "%.*s", (int)length, directory))
        shim_files.list(NULL, text, look_beside, &b);
}

/* ---- the places where the loader looked ---- */

/* The cache may be outdated, so its file may be missing or broken by now. And if libcudnn.so
 * without a number was requested, the cache may have it with one. */
static void look_into_cache(const struct request *r, const char *name) {
    static struct wc_file_check check;
    static char beside[SYS_PATH];
    char numbered[64];
    struct wc_name read = wc_name_read(name);
    const char *known = searches_cached(name);
    if (known && wc_file_check(&shim_files, known, ARCH_MACHINE, &check) && check.fault)
        examine_file(r, known, WC_search_rule_CACHE);
    if ((read.kind != WC_NAME_FACADE && read.kind != WC_NAME_DRIVER) || read.version.major >= 0)
        return;
    for (int major = 1; major < MAJORS_MOST; major++) {
        const char *path = wc_str_format(numbered, sizeof numbered, "%s.%d", name, major)
                               ? searches_cached(numbered)
                               : NULL;
        /* The cache may not know the file of that name next to it: ldconfig enters a copy only by
         * its SONAME. */
        if (path && examine_file(r, path, WC_search_rule_CACHE) &&
            wc_str_format(beside, sizeof beside, "%.*s%s", (int)(wc_base_name(path) - path), path,
                          name) &&
            wc_file_check(&shim_files, beside, ARCH_MACHINE, &check) && !check.fault)
            examine_file(r, beside, WC_search_rule_CACHE);
    }
}

/* found: the loader takes the file that the replay takes; otherwise the loader found none. */
static void look_for(const struct request *r, const char *name, struct wc_replay *replay,
                     bool found) {
    const char *place, *taken = replay ? wc_replay_taken(replay) : NULL;
    if (!replay)
        return;
    if (taken)
        examine_file(r, taken, WC_search_rule_UNKNOWN);
    for (size_t i = 0; (place = wc_replay_passed(replay, i)); i++)
        examine_file(r, place, WC_search_rule_UNKNOWN);
    if (found && taken)
        return;
    for (size_t i = 0; (place = wc_replay_wanted(replay, i, name)); i++)
        if (replay->is_there[i] && !examine_file(r, place, replay->rule[i]))
            examine_beside(r, name, place, wc_dir_length(place), replay->rule[i]);
    look_into_cache(r, name);
}

void failed_files_in_search(const struct request *r, struct wc_replay *replay) {
    look_for(r, r->name, replay, false);
}

/* ---- what a file needs that was not loaded ---- */

struct needs {
    struct wc_search_object object;
    const char *name[NEEDS_MOST];
    size_t names;
    bool has; /* what is wanted is one of all */
    struct wc_buffer_arena memory;
    char texts[8 << 10];
};

/* Copies what is needed from the file, because only two files can be open at a time. */
static bool read_needs(struct needs *n, const char *path, const char *wanted) {
    const struct wc_reader *files = reader();
    struct wc_arena *a = &n->memory.arena;
    struct wc_library l;
    const char *name;
    n->object = (struct wc_search_object){.path = path};
    n->names = n->has = 0;
    wc_buffer_arena_begin(&n->memory, n->texts, sizeof n->texts);
    if (!files->open(files->ctx, path, &l))
        return false;
    bool fits = l.image && l.image->machine == ARCH_MACHINE;
    n->object.origin = wc_search_origin(a, path, NULL); /* the loader follows no link here */
    if (fits)
        wc_search_object_read(&n->object, l.image, a);
    for (size_t i = 0; fits && n->names < NEEDS_MOST && (name = wc_elf_needed(l.image, i)); i++)
        if (wc_str_same(name, wanted) || wc_name_is_cudnn(name)) {
            n->has = n->has || wc_str_same(name, wanted);
            n->name[n->names++] = wc_arena_string(a, name);
        }
    return files->close(files->ctx) && fits;
}

/* Examines what the file would find, by its own search path, for the cuDNN libraries that it needs
 * and for one other: `wanted`, which was found, or `missing`, which was not. */
static void examine_needs(const struct request *r, const char *file, const char *wanted,
                          const char *missing) {
    static char path[SYS_PATH];
    static struct needs needs, deeper;
    const struct needs *by = &needs;
    if (!read_needs(&needs, file, missing ? missing : wanted))
        return;
    for (size_t i = 0; missing && !by->has && i < needs.names; i++) {
        const char *taken = searches_taken(&needs.object, needs.name[i]);
        if (taken && wc_str_copy(path, sizeof path, taken) && read_needs(&deeper, path, missing) &&
            deeper.has)
            by = &deeper;
    }
    if (missing)
        searches_emit_missing(r, &by->object, missing);
    for (size_t i = 0; i < needs.names; i++)
        if (needs.name[i])
            look_for(r, needs.name[i], searches_replay(&needs.object, needs.name[i]),
                     !wc_str_same(needs.name[i], missing));
}

/* The file of a request, by its path or by a search for its name; NULL: none. */
static const char *file_of(const struct request *r) {
    return wc_str_find_char(r->name, '/') ? r->name
                                          : searches_taken(load_chain_of(r->caller), r->name);
}

/* ---- a symbol version or a library that a file requires, and that is missing ---- */

/* The file that the loader has loaded for that name; NULL: none. */
static const char *loaded_as(const char *name) {
    const struct wc_search_object *o;
    const char *path;
    for (size_t i = 0; (path = load_chain_path(i)); i++)
        if ((o = load_chain_of(path)) && wc_search_answers(o, name))
            return path;
    return NULL;
}

/* The same, or the file that it would take. */
static const char *library_for(const struct wc_search_object *by, const char *name) {
    const char *path = loaded_as(name);
    return path ? path : searches_taken(by, name);
}

/* Puts the loader's message into text if the i-th library of the file lacks a required version, or,
 * with RTLD_NOW (now), a required symbol of cuDNN's. */
static bool lacks_symbol(const struct wc_search_object *by, const struct wc_elf_image *e, size_t i,
                         bool now, char *text, size_t cap) {
    const struct wc_reader *files = reader();
    const char *name = wc_elf_version_file(e, i), *path = library_for(by, name), *version;
    const bool checked = (now || e->bind_now) && wc_name_is_cudnn(name);
    const uint32_t end = checked ? wc_elf_imports_end(e) : 0;
    struct wc_elf_symbol import;
    struct wc_library l;
    if (!path || !files->open(files->ctx, path, &l))
        return false;
    version = l.image ? wc_elf_version_lacking(e, i, l.image) : NULL;
    bool lacks = version && wc_str_format(text, cap, "%s: version `%s' not found (required by %s)",
                                          path, version, by->path);
    for (uint32_t k = 1; l.image && !lacks && k < end; k++)
        lacks = wc_elf_symbol_at(e, k, &import) && !import.defined && !import.weak &&
                wc_str_same(import.version_file, name) && !wc_elf_defines(l.image, import.name) &&
                wc_str_format(text, cap, "%s: undefined symbol: %s, version %s", by->path,
                              import.name, import.version);
    return files->close(files->ctx) && lacks;
}

static const char *words_of(struct needs *needs, const char *file, bool now) {
    static char text[3 * 512];
    const struct wc_reader *files = reader();
    const char *name;
    struct wc_library l;
    bool lacks = false;
    if (!read_needs(needs, file, NULL) || !files->open(files->ctx, file, &l))
        return NULL;
    for (size_t i = 0; l.image && !lacks && (name = wc_elf_needed(l.image, i)); i++)
        lacks = !wc_name_is_cudnn(name) && !library_for(&needs->object, name) &&
                wc_str_format(text, sizeof text, "%s: cannot open shared object file", name);
    for (size_t i = 0; l.image && !lacks && wc_elf_version_file(l.image, i); i++)
        lacks = lacks_symbol(&needs->object, l.image, i, now, text, sizeof text);
    return files->close(files->ctx) && lacks ? text : NULL;
}

const char *failed_files_words(const struct request *r) {
    static char file[SYS_PATH], needed[SYS_PATH];
    static struct needs first, second;
    const bool now = r->flags & RTLD_NOW;
    const char *path = wc_name_kind_of(r->name) == WC_NAME_OTHER ? NULL : file_of(r);
    if (!path || !wc_str_copy(file, sizeof file, path))
        return NULL;
    const char *text = words_of(&first, file, now);
    /* A part that the file needs may not fit either. */
    for (size_t i = 0; !text && i < first.names; i++) {
        path = loaded_as(first.name[i]) ? NULL : searches_taken(&first.object, first.name[i]);
        if (path && wc_str_copy(needed, sizeof needed, path))
            text = words_of(&second, needed, now);
    }
    return text;
}

void failed_files_ahead(const struct request *r) {
    static struct wc_file_check check;
    struct wc_file_stat facts;
    enum wc_name_kind kind = wc_name_kind_of(r->name);
    if (!r->logged || !(wc_kind_is_cudnn(kind) || kind == WC_NAME_CUDA_DEPENDENCY))
        return;
    const char *path = file_of(r);
    /* Of what does not exist the whole directory would be looked through. */
    if (path && shim_files.facts(NULL, path, &facts) &&
        wc_file_check(&shim_files, path, ARCH_MACHINE, &check) &&
        (check.fault == WC_file_fault_CUT || check.fault == WC_file_fault_MALFORMED))
        examine_file(r, path, WC_search_rule_UNKNOWN);
}

void failed_files_replaced(const struct request *r, const struct object *o) {
    static struct wc_file_check check;
    struct wc_file_stat now;
    struct wc_library l;
    if (!o->l.path || o->l.path[0] != '/' || o->l.inode == WC_NULL || is_emitted(NULL, o->l.path) ||
        !shim_files.facts(NULL, o->l.path, &now) || object_is_of_file(o, &now))
        return;
    wc_mem_set(&check, 0, sizeof check);
    check.fault = WC_file_fault_REPLACED;
    check.size = (int64_t)now.size;
    check.needs = WC_NULL;
    wc_str_copy(check.what, sizeof check.what, "another file than the mapped file");
    wc_library_begin(&l, o->l.path);
    l.request = r->number;
    emit_contents(&l, &check, WC_search_rule_UNKNOWN);
}

void failed_files_after_failure(const struct request *r, const char *text) {
    static char room[WC_SAID_ROOM], file[SYS_PATH];
    const enum wc_search_rule named = WC_search_rule_UNKNOWN;
    const struct wc_said said = wc_said_read(text, room);
    is_unmapped = said.system == WC_SYSTEM_MAPPING;
    is_silent = !text;
    if (said.what == WC_SAID_REFUSED) {
        if (wc_str_find_char(said.file, '/'))
            examine_file(r, said.file, named);
    } else if (said.what == WC_SAID_UNMET) {
        if (said.library && wc_str_find_char(said.library, '/'))
            examine_file(r, said.library, named);
        else if (wc_str_find_char(said.file, '/'))
            examine_needs(r, said.file, said.version, NULL);
        if (said.symbol && wc_str_starts(said.symbol, "cudnn"))
            emit_demands(WC_NULL, said.file);
    } else if (said.what == WC_SAID_NOT_FOUND && !wc_str_same(said.file, wc_base_name(r->name))) {
        /* The requested library exists, but a library that it needs does not. */
        const char *path = file_of(r);
        if (path && wc_str_copy(file, sizeof file, path)) {
            examine_needs(r, file, NULL, said.file);
            if (wc_name_kind_of(said.file) == WC_NAME_FACADE)
                emit_demands(WC_NULL, file);
        }
    } else if (wc_str_find_char(r->name, '/') && !examine_file(r, r->name, named)) {
        examine_beside(r, wc_base_name(r->name), r->name, wc_dir_length(r->name), named);
    }
    if (wc_name_kind_of(r->name) == WC_NAME_FACADE)
        emit_demands(r->caller_object, r->caller);
}
