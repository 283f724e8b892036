/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packages of cuDNN around a file against their own lists of files (identify.h). A wheel's list
 * is RECORD (PyPA: "Recording installed projects"), conda's is the package's record in conda-meta;
 * dpkg's lists have no sizes. A killed installer leaves the list without the files; a second
 * package that owns the same path leaves the list with another package's files.
 */
#include "core/elf/file_check.h"
#include "core/names/names.h"
#include "identify.h"

enum { PACKAGES = 20, FILES = 24, TOLD = 12, RELATIVE = 256 };

struct listed {
    const char *path; /* as the list has it */
    uint64_t size;    /* 0: not stated */
    bool there, changed;
    bool closed; /* that it is missing is not to be seen */
    uint64_t device, inode;
};

struct package {
    enum wc_installation_kind kind;
    struct wc_distribution of;
    struct listed file[FILES];
    size_t n, whole; /* others that are there */
};

struct looking {
    struct wc_reading *r;
    bool of_cuda; /* of CUDA and of frameworks, and what is missing; not of cuDNN */
    struct package *package[PACKAGES];
    size_t n;
    struct package *now;  /* whose list is being read */
    struct listed *entry; /* the file that the next size in conda's list belongs to */
    const char *directory;
    struct names {
        const char *p[TOLD];
        size_t n;
    } foreign;
};

static struct listed *find_file(struct package *p, const char *path) {
    for (size_t i = 0; i < p->n; i++)
        if (wc_str_compare(p->file[i].path, path) == 0)
            return &p->file[i];
    return NULL;
}

static const char *absolute(struct looking *l, const struct package *p, const char *path) {
    return path[0] == '/' ? path : wc_reading_format(l->r, "%s/%s", p->of.site, path);
}

/* NULL: not one of the libraries that are looked at, or no room. */
static struct listed *add_file(struct looking *l, const char *path, size_t n) {
    char copy[RELATIVE];
    struct package *p = l->now;
    if (p->n == FILES || !wc_str_format(copy, sizeof copy, "%.*s", (int)n, path) ||
        !(!l->of_cuda ? wc_name_is_cudnn(copy)
          : wc_str_starts(p->of.name, "nvidia")
              ? wc_name_kind_of(copy) == WC_NAME_CUDA_DEPENDENCY
              : wc_str_ends(copy, ".so") ||
                    (wc_str_find(copy, ".so.") && wc_is_digit(path[n - 1]))))
        return NULL;
    struct listed *f = find_file(p, copy);
    size_t mark = l->r->memory.used;
    bool is_there = l->of_cuda && wc_reading_exists(l->r, absolute(l, p, copy));
    l->r->memory.used = mark;
    p->whole += is_there;
    if (f || is_there)
        return f;
    p->file[p->n].path = wc_reading_copy(l->r, copy, wc_str_length(copy));
    return p->file[p->n].path ? &p->file[p->n++] : NULL;
}

/* ---- the lists ---- */

/* path,sha256=...,size; of dpkg the path */
static bool line_of_list(void *ctx, const char *line) {
    const char *first = wc_str_find_char(line, ','), *last = wc_str_find_last_char(line, ',');
    struct listed *f = add_file(ctx, line, first ? (size_t)(first - line) : wc_str_length(line));
    if (f && first && last != first &&
        !wc_parse_number(last + 1, wc_str_length(last + 1), &f->size))
        f->size = 0;
    return true;
}

/* The text after a key, with its quotes. NULL: another key. */
static const char *value_of(const char *piece, const char *key) {
    const char *s = wc_str_find(piece, key);
    if (!s)
        return NULL;
    s += wc_str_length(key);
    while (*s == ' ' || *s == ':')
        s++;
    return s;
}

/* "files": ["lib/libcudnn.so.9"], "paths": [{"_path": "lib/libcudnn.so.9", "path_type": "softlink",
 * "size_in_bytes": 123}]. Of a link it is the link's own size, or none. */
static bool piece_of_conda(void *ctx, const char *piece) {
    struct looking *l = ctx;
    const char *path = value_of(piece, "\"_path\""), *size, *type;
    while (!path && (*piece == ' ' || *piece == '\t'))
        piece++;
    if (path || *piece == '"') {
        const char *from = path ? path : piece;
        const char *end = *from == '"' ? wc_str_find_char(from + 1, '"') : NULL;
        bool whole = end && (path || !wc_str_find_char(end, ':'));
        struct listed *f = whole ? add_file(l, from + 1, (size_t)(end - from - 1)) : NULL;
        if (path || f)
            l->entry = path ? f : NULL;
    }
    type = value_of(piece, "\"path_type\"");
    if (type && wc_str_starts(type, "\"softlink"))
        l->entry = NULL;
    size = value_of(piece, "\"size_in_bytes\"");
    if (size && l->entry && !wc_parse_number(size, wc_str_length(size), &l->entry->size))
        l->entry->size = 0;
    return true;
}

static bool is_of_cudnn(void *kind, const char *name) {
    return wc_is_cudnn_package(*(enum wc_installation_kind *)kind, name);
}

static bool is_of_cuda(void *kind, const char *name) {
    return *(enum wc_installation_kind *)kind == WC_installation_kind_CONDA
               ? wc_conda_framework(name) != NULL
               : (wc_str_starts(name, "nvidia_") && !is_of_cudnn(kind, name)) ||
                     wc_framework_of_package(name);
}

/* With the libraries that their lists name: each() takes a piece of a list. */
static void add_packages(struct looking *l, enum wc_installation_kind kind,
                         const struct wc_distribution *found, size_t n, const char *separators,
                         bool (*each)(void *ctx, const char *piece)) {
    for (size_t i = 0; i < n && l->n < PACKAGES; i++) {
        struct package *p = wc_arena_take(&l->r->memory.arena, sizeof *p);
        if (!p || !found[i].list)
            return;
        p->kind = kind;
        p->of = found[i];
        l->package[l->n++] = l->now = p;
        l->entry = NULL;
        wc_reading_each(l->r, p->of.list, separators, each, l);
    }
}

static void add_all(struct looking *l, const char *path, bool with_dpkg) {
    enum wc_installation_kind wheel = WC_installation_kind_WHEEL,
                              conda = WC_installation_kind_CONDA,
                              debian = WC_installation_kind_DEBIAN;
    struct wc_distribution *found = wc_arena_take(&l->r->memory.arena, PACKAGES * sizeof *found);
    const char *site = wc_distribution_site(l->r, path), *list[PACKAGES];
    wc_distribution_fits *fits = l->of_cuda ? is_of_cuda : is_of_cudnn;
    if (!found)
        return;
    size_t n = site ? wc_distributions_in(l->r, site, fits, &wheel, found, PACKAGES) : 0;
    add_packages(l, wheel, found, n, "\n\r", line_of_list);
    n = wc_conda_packages(l->r, path, false, fits, &conda, found, PACKAGES);
    add_packages(l, conda, found, n, ",{}[]\n", piece_of_conda);
    n = with_dpkg ? wc_debian_lists(l->r, is_of_cudnn, &debian, list, PACKAGES) : 0;
    for (size_t i = 0; i < n; i++)
        wc_debian_package(l->r, list[i], &found[i]);
    add_packages(l, debian, found, n, "\n\r", line_of_list);
}

/* ---- against the disk ---- */

static void compare(struct looking *l, struct package *p) {
    for (size_t i = 0; i < p->n; i++) {
        struct listed *f = &p->file[i];
        struct wc_file_stat facts = {.closed = false};
        struct wc_file_check check;
        size_t mark = l->r->memory.used;
        const char *path = absolute(l, p, f->path);
        f->there = path && l->r->files->facts(l->r->files->ctx, path, &facts);
        f->closed = !f->there && facts.closed;
        if (f->there) {
            f->changed = f->size && f->size != facts.size;
            f->device = facts.device;
            f->inode = facts.inode;
        } else {
            /* Debian's package for developers has only links, to what another package has. */
            f->there = p->kind == WC_installation_kind_DEBIAN && path &&
                       wc_file_check(l->r->files, path, 0, &check) &&
                       check.fault == WC_file_fault_DANGLING;
        }
        l->r->memory.used = mark;
    }
}

/* A file on no list, nor a link to one; "libcudnn_ops.so.9.bak" is never requested. */
static bool note_foreign(void *ctx, const char *name) {
    struct looking *l = ctx;
    struct wc_file_stat facts;
    size_t mark = l->r->memory.used;
    bool counts = wc_name_is_cudnn(name) &&
                  (wc_str_ends(name, ".so") || wc_version_known(wc_name_read(name).version));
    const char *path = counts ? wc_reading_format(l->r, "%s/%s", l->directory, name) : NULL;
    bool foreign = path && l->r->files->facts(l->r->files->ctx, path, &facts);
    for (size_t i = 0; foreign && i < l->n; i++)
        foreign = !WC_ANY(f, WC_ITEMS(l->package[i]->file, l->package[i]->n),
                          f->there && f->device == facts.device && f->inode == facts.inode);
    if (foreign)
        l->foreign.p[l->foreign.n++] = path;
    else
        l->r->memory.used = mark;
    return l->foreign.n < TOLD;
}

/* ---- what is reported ---- */

static void put(struct names *to, const char *name) {
    if (name && to->n < TOLD)
        to->p[to->n++] = name;
}

static void emit_package(struct looking *l, const struct package *p, const struct wc_sink *to) {
    struct names missing = {.n = 0}, changed = {.n = 0}, sharing = {.n = 0};
    struct wc_record record;
    struct wc_package_record *r = &record.u.package;
    size_t closed = 0;
    wc_record_begin(&record, WC_KIND_package);
    r->missing_count = 0;
    WC_EACH(f, WC_ITEMS(p->file, p->n)) {
        bool is_missing = !f->there && !f->closed;
        closed += f->closed;
        r->missing_count += is_missing;
        put(f->there ? &changed : &missing, is_missing || f->changed ? f->path : NULL);
    }
    if (l->of_cuda && !missing.n)
        return;
    for (size_t i = 0; i < l->n; i++) {
        struct package *other = l->package[i];
        if (other != p && other->kind == p->kind &&
            WC_ANY(f, WC_ITEMS(p->file, p->n), find_file(other, f->path)))
            put(&sharing, wc_reading_format(l->r, "%s %s", other->of.name, other->of.version));
    }
    /* Foreign files are looked for in the directory of the package's first library. */
    const char *file = p->file[0].path, *first = absolute(l, p, file);
    const size_t folder = p->kind == WC_installation_kind_WHEEL ? wc_distribution_folder(file) : 0;
    l->foreign.n = 0;
    l->directory = first ? wc_reading_copy(l->r, first, wc_dir_length(first)) : NULL;
    if (l->directory && !l->of_cuda) /* of these only what is missing is kept */
        l->r->files->list(l->r->files->ctx, l->directory, note_foreign, l);
    r->installation_kind = p->kind;
    r->package = p->of.name;
    r->package_version = wc_str_or_null(p->of.version);
    /* As of the objects in it. */
    r->installation_path = p->kind == WC_installation_kind_DEBIAN ? l->directory
                           : folder
                               ? wc_reading_format(l->r, "%s/%.*s", p->of.site, (int)folder, file)
                               : p->of.site;
    r->prefix = p->of.site;
    r->list = p->of.list;
    r->file_count = (int64_t)(p->n + p->whole);
    r->missing = (struct wc_strings){missing.p, missing.n};
    r->changed = (struct wc_strings){changed.p, changed.n};
    r->shared_with = (struct wc_strings){sharing.p, sharing.n};
    r->foreign = (struct wc_strings){l->foreign.p, l->foreign.n};
    r->package_state = changed.n || l->foreign.n || sharing.n ? WC_package_state_MIXED
                       : r->missing_count                     ? WC_package_state_INCOMPLETE
                       : closed                               ? WC_package_state_UNKNOWN
                                                              : WC_package_state_COMPLETE;
    to->add(to->ctx, &record);
}

void wc_packages_near(const struct wc_files *files, const char *path, bool of_cuda, bool *dpkg_told,
                      void *scratch, size_t scratch_size, const struct wc_sink *to) {
    struct wc_reading r;
    if (!path || path[0] != '/')
        return;
    wc_reading_begin(&r, files, scratch, scratch_size);
    struct looking *l = wc_arena_take(&r.memory.arena, sizeof *l);
    if (!l)
        return;
    l->r = &r;
    l->of_cuda = of_cuda;
    bool with_dpkg = !*dpkg_told && wc_name_is_cudnn(path) && wc_is_debian_path(path) && !of_cuda;
    *dpkg_told |= with_dpkg;
    add_all(l, path, with_dpkg);
    for (size_t i = 0; i < l->n; i++)
        compare(l, l->package[i]);
    for (size_t i = 0; i < l->n; i++) {
        size_t mark = r.memory.used;
        if (l->package[i]->n)
            emit_package(l, l->package[i], to);
        r.memory.used = mark;
    }
}

/* ---- the environment of a process ---- */

enum { PYTHON = 32 };

static bool take_python(void *python, const char *name) {
    if (wc_str_starts(name, "python3"))
        wc_str_copy(python, PYTHON, name);
    return !*(char *)python;
}

/* The environment is the first n bytes. */
static bool find_site(const struct wc_files *files, const char *environment, size_t n, char *to,
                      size_t cap) {
    struct wc_file_stat facts;
    char python[PYTHON] = "";
    if (!wc_str_format(to, cap, "%.*s/pyvenv.cfg", (int)n, environment) ||
        !files->facts(files->ctx, to, &facts) ||
        !wc_str_format(to, cap, "%.*s/lib", (int)n, environment))
        return false;
    files->list(files->ctx, to, take_python, python);
    return python[0] &&
           wc_str_format(to, cap, "%.*s/lib/%s/site-packages/", (int)n, environment, python);
}

bool wc_process_site(const struct wc_files *files, const char *program, const char *virtual_env,
                     char *to, size_t cap) {
    size_t bin = program && program[0] == '/' ? wc_dir_length(program) : 0;
    return (bin && find_site(files, program, wc_dir_above(program, bin), to, cap)) ||
           (virtual_env && virtual_env[0] == '/' &&
            find_site(files, virtual_env, wc_str_length(virtual_env), to, cap));
}
