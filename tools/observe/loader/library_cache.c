/* SPDX-License-Identifier: Apache-2.0 */
#include "library_cache.h"

#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "core/demand/diagnose.h"
#include "core/demand/questions.h"
#include "core/elf/file_check.h"
#include "core/knowledge/frameworks.h"
#include "core/names/names.h"
#include "core/names/symbols.h"
#include "core/packages/identify.h"
#include "core/records/process.h"
#include "tools/util/memory.h"

#define NEEDED_MOST 1024
#define CACHE_MOST ((size_t)8 << 20)
#define SMALLEST_PAGE 4096
/* A part may be larger; the names that it opens are in its constants, which are only searched. */
#define OPENS_MOST_BYTES ((uint64_t)64 << 20)

static const char **keep_list(struct library_cache *w, const char *const *list, size_t n) {
    const char **kept = wc_arena_take(&w->memory.arena, (n + 1) * sizeof(*kept));

    for (size_t i = 0; i < n; i++)
        kept[i] = heap_copy(&w->memory, list[i]);
    return kept;
}

void library_cache_forget(struct library_cache *w) {
    for (struct library *b = w->libraries; b; b = b->hh.next)
        if (b->elf_file)
            elf_file_forget(b->elf_file);
}

/* ---- one library ---- */

/* A library of cuDNN opens what it has the names of. Another one (FACADE) opens all that it
 * declares; facades that it only has the names of serve in place of one another. */
static void take_opens(struct library_cache *w, struct library *b, enum wc_name_kind kind) {
    const bool is_host = kind == WC_NAME_FACADE;
    struct elf_prescan_name *to =
        wc_arena_take(&w->memory.arena, (w->prescan.names + 1) * sizeof(*to));
    bool or_else = false;
    size_t n = 0;

    for (size_t i = 0; i < w->prescan.names; i++) {
        const struct elf_prescan_name *name = &w->prescan.name[i];
        const bool is_declared = is_host && name->priority;
        if (!is_declared &&
            (wc_name_kind_of(name->text) != kind || (is_host && w->prescan.knows_declared)))
            continue;
        to[n] = *name;
        to[n++].or_else = is_declared ? name->or_else : or_else;
        or_else |= !is_declared;
    }
    b->opens = to;
    b->damaged_note = w->prescan.damaged_note;
}

/* Those are opened by the facade, and by the part that it hands cudnnGetVersion on to. */
static bool opens_parts(const struct library *b) {
    struct wc_name name = wc_name_read(b->search.soname ? b->search.soname : b->about.path);

    return b->about.role == WC_role_FACADE ||
           (b->about.role == WC_role_PART &&
            wc_str_same(name.part, wc_answering_part(name.version.major)));
}

static bool imports_dlopen(const struct wc_elf_image *e) {
    for (uint32_t i = 1; i < wc_elf_imports_end(e); i++)
        if (wc_str_same(wc_elf_symbol_name(e, i), "dlopen"))
            return true;
    return false;
}

/* Of a library of cuDNN's, the parts; of another one, the facade, which makes it a host. */
static void take_prescan(struct library_cache *w, struct library *b, enum elf_prescan_answer answer,
                         const struct elf_file *l) {
    const bool is_host = b->about.role == WC_role_HOST;

    if (wc_str_same(b->search.soname, WC_OWN_NAME)) {
        b->about.role =
            WC_role_OTHER; /* it names and defines what hosts do, and requires no cuDNN */
    } else if (opens_parts(b)) {
        elf_prescan_constants(&w->prescan, l, OPENS_MOST_BYTES);
        take_opens(w, b, WC_NAME_PART);
    } else if (is_host || b->about.role == WC_role_OTHER) {
        /* It may open libcudnn although only its search path has the name. */
        if (is_host || answer == ELF_PRESCAN_NAMES) {
            const bool may_open =
                is_host ? !b->needs_cudnn
                        : imports_dlopen(&l->image) &&
                              (l->image.file_size <= ELF_PRESCAN_CONSTANTS_MOST || w->named);
            elf_prescan_constants(&w->prescan, l, may_open ? OPENS_MOST_BYTES : 0);
        }
        take_opens(w, b, WC_NAME_FACADE);
        if (b->opens->text[0])
            b->about.role = WC_role_HOST;
    }
}

static void read_image(struct library_cache *w, struct library *b, struct elf_file *l) {
    const struct wc_elf_image *e = &l->image;
    const size_t n = e->interpreter_size;
    const char *text = n > 1 && n < PATH_MAX ? wc_elf_at(e, e->interpreter, n) : NULL;
    const char *needed[NEEDED_MOST], *name;
    size_t count = 0;

    b->machine = e->machine;
    wc_search_object_read(&b->search, e, &w->memory.arena);
    while (count < NEEDED_MOST && (name = wc_elf_needed(e, count))) {
        needed[count++] = name;
        b->needs_cudnn = b->needs_cudnn || wc_name_is_cudnn(name);
    }
    b->needed = keep_list(w, needed, count);
    for (count = 0; count < NEEDED_MOST && (name = wc_elf_version_file(e, count));)
        needed[count++] = name;
    b->version_files = keep_list(w, needed, count);
    if (text && !text[n - 1])
        b->interpreter = heap_copy(&w->memory, text);
    if (b->about.role == WC_role_HOST && !b->about.imports && !b->about.defines && !b->needs_cudnn)
        b->about.role = WC_role_OTHER;
}

/* Of most files the headers, which were read, say that all is there. */
static bool is_damaged(const struct library_cache *w, const char *path, const struct elf_file *l) {
    const struct wc_elf_image *e = &l->image;
    uint64_t size = (uint64_t)l->library.size;
    bool whole = l->error == WC_ELF_OK && e->string_table && !wc_file_matters(path);
    struct wc_file_check check;

    for (size_t i = 0; whole && i < e->loads; i++)
        whole = e->load[i].filesz <= size && e->load[i].offset <= size - e->load[i].filesz &&
                (e->load[i].vaddr - e->load[i].offset) % SMALLEST_PAGE == 0;
    return !whole && wc_file_check(&w->disk.files, path, OWN_MACHINE, &check) &&
           (check.fault == WC_file_fault_CUT || check.fault == WC_file_fault_MALFORMED ||
            check.fault == WC_file_fault_NOT_A_LIBRARY);
}

/* What elf_file.h knows of it: most have no symbol of cuDNN's, which a prescan shows. */
static struct library *read_library(struct library_cache *w, const char *path,
                                    const enum elf_prescan_answer *known) {
    bool is_other = wc_name_kind_of(path) == WC_NAME_OTHER;
    enum elf_prescan_answer answer = known ? *known : ELF_PRESCAN_NAMES;
    struct elf_file *l = elf_file_open(&w->disk, path, is_other);

    if (!l)
        return NULL;
    if (is_other && !known)
        answer = elf_prescan_at(&w->prescan, l, w->named);
    if (is_other && (answer == ELF_PRESCAN_NAMES || answer == ELF_PRESCAN_DAMAGED))
        elf_file_read(l, false);
    struct library *b = wc_arena_take(&w->memory.arena, sizeof(*b));
    b->about = l->library;
    b->about.path = heap_copy(&w->memory, path);
    b->about.real_path = heap_copy(&w->memory, l->library.real_path);
    b->about.image = NULL;
    b->is_elf = l->error == WC_ELF_OK;
    b->is_program = b->is_elf && l->image.flags_1 & DF_1_PIE;
    b->damaged = is_damaged(w, path, l);
    b->needed = b->version_files = keep_list(w, NULL, 0);
    if (b->is_elf) {
        read_image(w, b, l);
        take_prescan(w, b, answer, l);
    } else if (b->about.role == WC_role_HOST) {
        b->about.role = WC_role_OTHER;
    }
    /* What is reported of later stays open: its symbols are asked for again. */
    if (b->is_elf && (b->about.role != WC_role_OTHER || b->about.framework))
        b->elf_file = l;
    else
        elf_file_close(l);
    return b;
}

struct elf_file *library_cache_elf_file(struct library_cache *w, struct library *b) {
    return b->elf_file = b->elf_file ?: elf_file_open(&w->disk, b->about.path, false);
}

bool library_identify(struct library_cache *w, struct library *b, struct wc_library *out) {
    if (library_cache_elf_file(w, b))
        elf_file_identify(b->elf_file, out);
    return b->elf_file;
}

const struct library_import *library_imports(struct library_cache *w, struct library *b) {
    struct elf_file *l = b->imports ? NULL : library_cache_elf_file(w, b);
    const uint32_t end = l ? wc_elf_imports_end(&l->image) : 0;
    struct wc_elf_symbol s;
    size_t n = 0;

    if (b->imports)
        return b->imports;
    b->imports = wc_arena_take(&w->memory.arena, (end + 1) * sizeof(*b->imports));
    for (uint32_t k = 1; k < end; k++) {
        const char **file = b->version_files;
        if (!wc_elf_symbol_at(&l->image, k, &s) || s.defined || s.weak)
            continue;
        while (*file && !wc_str_same(*file, s.version_file))
            file++;
        b->imports[n++] =
            (struct library_import){heap_copy(&w->memory, s.name), heap_copy(&w->memory, s.version),
                                    *file, wc_function_find(s.name) != WC_NO_FUNCTION};
    }
    return b->imports;
}

bool library_defines(struct library_cache *w, struct library *b, const char *function) {
    struct elf_file *l = b->is_elf ? library_cache_elf_file(w, b) : NULL;

    return l && wc_elf_defines(&l->image, function);
}

int32_t library_cuda_named(struct library_cache *w, struct library *b) {
    const struct elf_file *l = b->is_elf && !b->cuda_named ? library_cache_elf_file(w, b) : NULL;

    if (l) {
        elf_prescan_constants(&w->prescan, l, OPENS_MOST_BYTES);
        b->cuda_named = w->prescan.cuda;
    }
    return b->cuda_named = b->cuda_named ?: -1;
}

static struct library_fit *fit_of(struct library_cache *w, const struct library *by,
                                  const struct library *found) {
    struct library_fit *fit = &w->fits[(((uintptr_t)by >> 4) * 31 + ((uintptr_t)found >> 4)) %
                                       (sizeof(w->fits) / sizeof(*w->fits))];

    if (fit->by != by || fit->found != found)
        *fit = (struct library_fit){by, found, false, false};
    return fit;
}

const char *library_lacks_version(struct library_cache *w, struct library *by, size_t i,
                                  struct library *found) {
    struct library_fit *fit = fit_of(w, by, found);
    struct elf_file *l = fit->versions ? NULL : library_cache_elf_file(w, by);
    struct elf_file *other = l ? library_cache_elf_file(w, found) : NULL;
    const char *lacking = other ? wc_elf_version_lacking(&l->image, i, &other->image) : NULL;

    fit->versions = fit->versions || (other && !lacking);
    return lacking;
}

const struct library_import *library_lacks_functions(struct library_cache *w, struct library *by,
                                                     size_t i, struct library *found) {
    static const struct library_import none = {.name = NULL};
    struct library_fit *fit = fit_of(w, by, found);
    const struct library_import *import = fit->functions ? &none : library_imports(w, by);

    while (import->name && (import->version_file != by->version_files[i] ||
                            library_defines(w, found, import->name)))
        import++;
    fit->functions = !import->name;
    return import;
}

struct library *library_cache_get(struct library_cache *w, const char *path,
                                  const enum elf_prescan_answer *answer) {
    struct wc_file_stat facts;
    char real_path[PATH_MAX];
    struct library *b;

    if (!w->disk.files.facts(&w->disk, path, &facts) ||
        !w->disk.files.real_path(&w->disk, path, real_path, sizeof(real_path)))
        return NULL;
    OWNED char *key =
        must_format("%zu %zu %s", (size_t)facts.device, (size_t)facts.inode, real_path);
    HASH_FIND_STR(w->libraries, key, b);
    if (b || !(b = read_library(w, path, answer)))
        return b;
    b->key = heap_copy(&w->memory, key);
    HASH_ADD_KEYPTR(hh, w->libraries, b->key, strlen(b->key), b);
    return b;
}

/* ---- the loader ---- */

const char *loader_variable(char *const *environment, const char *name) {
    size_t n = strlen(name);

    for (char *const *v = environment; *v; v++)
        if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
            return *v + n + 1;
    return NULL;
}

static void read_system(struct library_cache *w, const char *interpreter) {
    const char *platform = (const char *)getauxval(AT_PLATFORM);
    struct elf_file *l = elf_file_open(&w->disk, interpreter, false), *libc = NULL;
    const struct wc_elf_image *loader = l && l->error == WC_ELF_OK ? &l->image : NULL;

    w->interpreter = heap_copy(&w->memory, interpreter);
    wc_search_system_read(&w->system, 0, platform, getauxval(AT_HWCAP), loader);
    w->glibc[0] = '\0';
    for (size_t i = 0; w->system.defaults[i] && !libc; i++) {
        OWNED char *path = must_format("%slibc.so.6", w->system.defaults[i]);
        libc = elf_file_open(&w->disk, path, false);
    }
    if (libc && libc->error == WC_ELF_OK)
        wc_glibc_release(&libc->image, w->glibc);
    elf_file_close(libc);
    wc_search_system_read(&w->system, wc_glibc_minor(w->glibc), platform, getauxval(AT_HWCAP),
                          loader);
    elf_file_close(l);
}

void library_cache_use(struct library_cache *w, const char *interpreter,
                       struct wc_search_context *search) {
    if (!interpreter)
        interpreter = OWN_INTERPRETER;
    if (!w->interpreter || strcmp(w->interpreter, interpreter) != 0)
        read_system(w, interpreter);
    search->system = &w->system;
    search->files = &w->disk.files;
    search->cache = w->cache;
    search->listed = w->listed;
    search->whole = search->sparse = true;
}

void library_cache_begin(struct library_cache *w, const char *root) {
    struct stat facts;

    memset(w, 0, sizeof(*w));
    disk_begin(&w->disk, root);
    heap_arena_begin(&w->memory);
    OWNED_FD int cache = disk_open(&w->disk, "/etc/ld.so.cache", &facts);
    if (cache >= 0 && facts.st_size > 0 && (uint64_t)facts.st_size <= CACHE_MOST) {
        void *bytes = wc_arena_take(&w->memory.arena, (size_t)facts.st_size);
        w->cache = (struct wc_span){bytes, below_read(cache, 0, bytes, (size_t)facts.st_size)};
    }
}

void library_cache_end(struct library_cache *w) {
    for (struct library *b = w->libraries; b; b = b->hh.next)
        elf_file_close(b->elf_file);
    HASH_CLEAR(hh, w->libraries);
    heap_arena_end(&w->memory);
    disk_end(&w->disk);
}

/* ---- what a package opens first ---- */

struct looking {
    const char *pattern, *directory;
    char *found;
};

static bool take_entry(void *ctx, const char *entry) {
    struct looking *l = ctx;

    if (fnmatch(l->pattern, entry, 0) == 0)
        l->found = must_format("%s/%s", l->directory, entry);
    return l->found == NULL;
}

char *package_file(const struct wc_files *files, const char *module, const char *name) {
    const struct wc_framework_file *row;
    struct wc_file_stat facts;

    const char *at = strstr(module, "-packages/") ? module + wc_environment_length(module) : module;
    for (; (at = strchr(at, '/')); at++) { /* any ends an environment (pip install --target) */
        const int n = (int)(at - module);
        OWNED char *folder = must_format("%.*s", (int)strcspn(at + 1, "/"), at + 1);
        const struct wc_framework *f = wc_framework_named(folder);
        WC_EACH_KNOWN(by_call, f ? f->preloaded : NULL, file) {
            OWNED char *path = must_format("%.*s/%s", n, module, by_call->file);
            if (strcmp(wc_base_name(path), name) == 0 && files->facts(files->ctx, path, &facts))
                return must_copy(path);
        }
        for (size_t i = 0; (row = wc_framework_preload(folder, strlen(folder), false, i)); i++) {
            OWNED char *directory =
                must_format("%.*s/%.*s", n, module, (int)wc_dir_length(row->file), row->file);
            struct looking l = {wc_base_name(row->file), directory, NULL};
            if (l.pattern != row->file && strncmp(l.pattern, name, strcspn(l.pattern, ".")) == 0)
                files->list(files->ctx, directory, take_entry, &l);
            if (l.found)
                return l.found;
        }
    }
    return NULL;
}
