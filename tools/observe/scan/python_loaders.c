/* SPDX-License-Identifier: Apache-2.0 */
/* See scan.h. What a package opens is opened in a replay of its interpreter. */
#include "scan.h"

#include <fnmatch.h>
#include <string.h>

#include "tools/util/disk.h"

#define LIBRARY(name, needed, ...)                                                                 \
    { name, needed, ROWS(place, __VA_ARGS__) }
#define ROWS(type, ...) ((const struct python_loader_##type[]){__VA_ARGS__, {0}})

static const struct python_loader loaders[] = {
#define PYTHON_LOADER(named, ...) {.name = named, __VA_ARGS__},
#include "tools/knowledge/python_loaders.def"
};

#define ENTRIES_MOST 100000 /* of a directory that is searched at any depth */
#define LINKS_MOST 40       /* that lead in a circle, as the system has it */
#define TEXT_MOST 65536     /* bytes of a file of settings */

struct paths {
    const char *p[64];
    size_t n;
};

struct call {
    struct library_cache *w;
    const struct python_loader *l;
    struct python_loading *out;
    char *const *environment;
    struct loader_sim g;
    const struct loaded *asks; /* for ctypes.CDLL */
    struct paths sites;        /* of the interpreter, in cuda-pathfinder's order */
    const char *purelib;
};

#define FORMAT(c, ...) wc_arena_format(&(c)->w->memory.arena, __VA_ARGS__)

static void add(struct paths *to, const char *path) {
    if (to->n < sizeof(to->p) / sizeof(to->p[0]))
        to->p[to->n++] = path;
}

static const char *variable(const struct call *c, const char *name) {
    return wc_str_or_null(loader_variable(c->environment, name) ?: "");
}

static const char *above(const struct call *c, const char *path) {
    return FORMAT(c, "%.*s", (int)wc_dir_length(path), path);
}

/* ---- the interpreter's directories ---- */

/* site.getsitepackages(), with the lines that Debian adds. */
static void add_prefix(struct call *c, const char *prefix, const char *version, bool is_venv) {
    const size_t first = c->sites.n;
    const char *debian = FORMAT(c, "%s/lib/python3/dist-packages", prefix);
    const bool of_debian = wc_is_directory(&c->w->disk.files, debian);

    if (is_venv || !of_debian)
        add(&c->sites, FORMAT(c, "%s/lib/%s/site-packages", prefix, version));
    if (of_debian) {
        add(&c->sites, FORMAT(c, "%s/local/lib/%s/dist-packages", prefix, version));
        add(&c->sites, debian);
        add(&c->sites, FORMAT(c, "%s/lib/%s/dist-packages", prefix, version));
    }
    if (!c->purelib)
        c->purelib = c->sites.p[first];
}

/* Of a line "key = value" of pyvenv.cfg; NULL: there is none. */
static const char *setting(const struct call *c, const char *text, const char *key) {
    WC_EACH_ELEMENT(line, text, "\n") {
        const char *at = line.p + strlen(key);
        if (strncmp(line.p, key, strlen(key)) == 0 && at[strspn(at, " ")] == '=')
            return FORMAT(c, "%.*s", (int)strcspn(at, "\n"), at) + strspn(at, " =");
    }
    return NULL;
}

static void find_sites(struct call *c, const char *program) {
    const char *prefix = above(c, above(c, program)), *version = wc_base_name(program);
    const char *base = variable(c, "PYTHONUSERBASE"), *user = variable(c, "HOME");
    OWNED char *file = must_format("%s%s/pyvenv.cfg", c->w->disk.root, prefix);
    OWNED char *settings = disk_text(file, TEXT_MOST, NULL);
    const char *home = setting(c, settings, "home");
    const char *with_system = setting(c, settings, "include-system-site-packages");
    char real[PATH_MAX];

    if (!wc_str_starts(version, "python3.") &&
        c->w->disk.files.real_path(c->w->disk.files.ctx, program, real, sizeof(real)))
        version = heap_copy(&c->w->memory, wc_base_name(real));
    if (settings)
        add_prefix(c, prefix, version, true);
    if (settings && (!with_system || strcasecmp(with_system, "true") != 0))
        return;
    if (!variable(c, "PYTHONNOUSERSITE") && (base || user))
        add(&c->sites, FORMAT(c, "%s%s/lib/%s/site-packages", base ? base : user,
                              base ? "" : "/.local", version));
    add_prefix(c, home ? above(c, home) : prefix, version, false);
}

/* ---- files ---- */

/* glob.glob("DIRECTORY/" "**" "/FILES"), of which the last one by its name is taken, of equal ones
 * the first: a directory's own files are before those of the ones in it. *left: entries that are
 * still looked at; 0: there are too many to see all. */
static void find_deep(const struct call *c, const char *directory, const char *files, int depth,
                      size_t *left, const char **best) {
    OWNED char *outside = must_format("%s%s", c->w->disk.root, directory);
    OWNED_DIR DIR *d = below_list(&c->w->disk.below, outside);

    for (int below = 0; d && below < 2; below++, rewinddir(d))
        for (struct dirent *e; *left > 0 && (e = readdir(d));) {
            const char *name = e->d_name;
            OWNED char *path =
                must_format("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
            *left -= !below;
            if (below && name[0] != '.' && depth < LINKS_MOST &&
                wc_is_directory(&c->w->disk.files, path))
                find_deep(c, path, files, depth + 1, left, best);
            else if (!below && fnmatch(files, name, 0) == 0 && !strstr(path, "stub") &&
                     strcmp(name, wc_base_name(*best)) > 0)
                *best = FORMAT(c, "%s", path);
        }
}

/* What stands below a directory by such names; a name without '*' is that of a file. */
static void find_below(const struct call *c, const char *directory, const char *files,
                       bool resolved, struct paths *to) {
    const struct wc_files *disk = &c->w->disk.files;
    OWNED char *below = must_format("%s/", directory);
    OWNED_GLOB glob_t found = glob_below(c->w->disk.root, below, files, GLOB_BRACE | GLOB_NOSORT);

    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i] + strlen(c->w->disk.root), *parent = above(c, path);
        struct wc_file_stat facts;
        char real[PATH_MAX];
        if (resolved && disk->real_path(disk->ctx, parent, real, sizeof(real)))
            parent = real;
        if (strchr(files, '*') || (disk->facts(disk->ctx, path, &facts) && facts.regular))
            add(to, FORMAT(c, "%s/%s", parent, wc_base_name(path)));
    }
}

/* ---- places ---- */

static bool open_nothing(void *ctx, const struct loaded *by, const char *name) {
    (void)ctx, (void)by, (void)name;
    return false;
}

/* NULL: ctypes.CDLL raises OSError. */
static const struct loaded *open_library(struct call *c, const char *name) {
    const size_t objects = c->g.n;

    c->g.missing_from = c->g.missing.n;
    const struct loaded *o = loader_sim_open(&c->g, name, c->asks);
    if (c->g.missing.n == c->g.missing_from)
        return o;
    loader_sim_undo(&c->g, objects);
    return NULL;
}

static const struct loaded *facade_of(const struct call *c, const struct loaded *o) {
    const char **name = o->library->needed;

    while (*name && wc_name_kind_of(*name) != WC_NAME_FACADE)
        name++;
    return *name ? loader_sim_answering(&c->g, *name, false) : NULL;
}

static void add_directories(const struct call *c, const struct python_loader_place *p,
                            struct paths *to) {
    if (p->where == PLACE_SITES)
        *to = c->sites;
    else if (p->where == PLACE_PURELIB)
        add(to, c->purelib);
    else if (p->where == PLACE_OWN_SITE)
        add(to, c->out->site);
    else if (p->where == PLACE_FIXED)
        add(to, p->root);
    else if (p->where == PLACE_VARIABLE)
        WC_EACH_ELEMENT(e, p->root, ":") {
            const char *name = FORMAT(c, "%.*s", (int)e.n, e.p);
            const bool is_home = name[0] == '~';
            const char *value = loader_variable(c->environment, is_home ? "HOME" : name);
            /* An empty variable counts where the package makes a path of it unseen. */
            if (value && !*value)
                value = p->how & PLACE_DEEP ? "/" : NULL;
            if (value && to->n == 0)
                add(to, FORMAT(c, "%s%s", value, is_home ? name + 1 : ""));
        }
    else if (p->where == PLACE_DIRECTORIES)
        WC_EACH_ELEMENT(e, variable(c, p->root), ":")
            if (e.n > 0)
                add(to, FORMAT(c, "%.*s", (int)e.n, e.p));
}

enum outcome { NOT_THERE, TAKEN, ENDED };

static enum outcome take(struct call *c, const char *path, const struct loaded *o) {
    c->out->path = path ? path : heap_copy(&c->w->memory, o->about.path);
    wc_version_text(loader_sim_version(&c->g, o), c->out->cudnn);
    return TAKEN;
}

static enum outcome open_files(struct call *c, const struct python_loader_place *p,
                               const struct paths *files) {
    enum outcome outcome = NOT_THERE;
    bool had_facade = false; /* whose functions all see: the first one's */

    if ((p->how & PLACE_ONE) && files->n > 1)
        c->out->raises = "AssertionError";
    for (size_t i = 0; i < files->n && !c->out->raises; i++) {
        const char *path = files->p[i];
        const struct loaded *o = open_library(c, path);
        const bool is_facade = o && o->about.role == WC_role_FACADE;
        const struct loaded *needed = o && p->how & PLACE_NEEDED ? facade_of(c, o) : NULL;
        if (needed)
            outcome = take(c, NULL, needed);
        else if (o && (outcome == NOT_THERE || (is_facade && !had_facade)))
            outcome = take(c, path, o);
        else if (!o)
            c->out->raises = c->l->refused;
        had_facade |= is_facade;
        if (outcome == TAKEN && !(p->how & PLACE_ALL))
            break;
    }
    return c->out->raises ? ENDED : outcome;
}

static enum outcome try_place(struct call *c, const struct python_loader_place *p) {
    struct paths directories = {.n = 0};
    enum outcome outcome = NOT_THERE;
    const struct loaded *o = p->where == PLACE_LOADED ? loader_sim_answering(&c->g, p->files, false)
                             : p->where == PLACE_SYSTEM ? open_library(c, p->files)
                                                        : NULL;

    if (o)
        return take(c, NULL, o);
    add_directories(c, p, &directories);
    for (size_t i = 0; i < directories.n && outcome == NOT_THERE; i++) {
        struct paths found = {.n = 0};
        size_t left = ENTRIES_MOST;
        const char *best = "";
        if (p->how & PLACE_DEEP)
            find_deep(c, directories.p[i], p->files, 0, &left, &best);
        else
            find_below(c, directories.p[i], p->files, p->how & PLACE_RESOLVED, &found);
        if (*best)
            add(&found, best);
        if (left == 0)
            c->out->unpredicted = "it searches a directory with too many files";
        outcome = c->out->unpredicted ? ENDED : open_files(c, p, &found);
    }
    return outcome;
}

/* False: the call ends there. */
static bool load_library(struct call *c, const struct python_loader_library *library) {
    const struct python_loader_place *p = library->places;
    enum outcome outcome = NOT_THERE;

    c->out->library = library->name;
    c->out->path = NULL;
    c->out->cudnn[0] = '\0';
    while (p->files && (outcome = try_place(c, p)) == NOT_THERE)
        p++;
    c->out->found_via = p->found_via;
    if (outcome == NOT_THERE && library->needed)
        c->out->raises = c->l->not_found;
    if (outcome == ENDED)
        c->out->path = c->out->found_via = NULL;
    return outcome == TAKEN || (outcome == NOT_THERE && !library->needed);
}

void python_loaders_in(struct library_cache *w, const char *site, const char *program,
                       char *const *environment, struct python_loadings *to) {
    const struct loader_sim_opens opens = {.may = open_nothing};

    WC_EACH_ROW(l, loaders) {
        OWNED char *pattern = must_format("/%s-*.dist-info", l->distribution);
        OWNED_GLOB glob_t found = glob_below(w->disk.root, site, pattern, 0);
        if (found.gl_pathc == 0)
            continue;
        const char *version = strchr(wc_base_name(found.gl_pathv[0]), '-') + 1;
        struct python_loading *out = MUST_ADD(to->p, to->n);
        struct call c = {.w = w, .l = l, .out = out, .environment = environment};
        *out = (struct python_loading){.site = heap_copy(&w->memory, site), .loader = l};
        out->version = FORMAT(&c, "%.*s", (int)(strlen(version) - strlen(".dist-info")), version);
        if (wc_text_accepts(l->releases, wc_version_of(out->version)) != WC_YES)
            out->unpredicted = "the rule of this release is not known";
        else if (!program || !loader_sim_begin(&c.g, w, program, environment, &opens))
            out->unpredicted = "its Python interpreter was not found";
        if (out->unpredicted)
            continue;
        find_sites(&c, program);
        /* ctypes is an extension, which may have a search path of its own (conda's), or built in.
         */
        const char *root = w->disk.root, *prefix = above(&c, above(&c, program));
        OWNED_GLOB glob_t ctypes =
            glob_below(root, prefix, "/lib/python3.*/lib-dynload/_ctypes.*.so", 0);
        if (ctypes.gl_pathc)
            c.asks = loader_sim_open(&c.g, ctypes.gl_pathv[0] + strlen(root), NULL);
        c.asks = c.asks ?: c.g.program;
        for (size_t i = 0; l->libraries[i].name && load_library(&c, &l->libraries[i]); i++)
            ;
        loader_sim_end(&c.g);
    }
}
