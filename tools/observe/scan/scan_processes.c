/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hosts of each environment would get: see scan.h. Each host is loaded by itself, so that
 * what comes out is its own search and not the order; what is the same file is one object.
 */
#include <stdlib.h>
#include <string.h>

#include "core/knowledge/frameworks.h"
#include "core/names/version.h"
#include "core/packages/identify.h"
#include "scan_inside.h"
#include "tools/observe/preload.h"
#include "tools/util/disk.h"

/* ---- what of all that was seen loads a host ---- */

/* An extension of Python, or a program, needs it, or needs what needs it: its DT_RPATH then counts
 * in the host's own searches, and wheels rely on that. */
#define GRAFTED ".libs/" /* after the name of what auditwheel repaired */

void scan_host_add(struct scan *s, struct library *b, const char *path, bool is_program) {
    size_t n = is_program ? strlen(path) : wc_environment_length(path);

    if (b->listed && WC_ANY(h, s->hosts, !is_program || strcmp(h->path, path) == 0))
        return;
    b->listed = true;
    *MUST_ADD(s->hosts.p, s->hosts.n) = (struct scan_host){
        KEEP(s, "%s", path), b, KEEP(s, "%.*s", (int)n, path), is_program, false};
}

/* One of that name; NULL: the environment has none. */
static const char *file_in(const struct scan *s, const char *environment, const char *name) {
    const size_t n = strlen(environment);
    const struct scan_file *file =
        WC_FIRST(f, s->seen,
                 strncmp(f->path, environment, n) == 0 && f->path[n] == '/' &&
                     strcmp(wc_base_name(f->path), name) == 0);

    return file ? file->path : NULL;
}

bool scan_is_site(const char *environment) {
    const char *name = wc_base_name(environment);

    return strcmp(name, "site-packages") == 0 || strcmp(name, "dist-packages") == 0;
}

/* ---- where they lie ---- */

/* Files of a package have its folder's name, and then one of these: "x/_ext.so", "x.abi3.so",
 * "x.libs/libx-1a2b3c4d.so". */
static bool is_within(const char *path, const char *stem) {
    size_t n = strlen(stem);

    return strncmp(path, stem, n) == 0 && (path[n] == '/' || path[n] == '.');
}

char *scan_package(const char *path, const char *environment) {
    size_t site = strlen(environment), n = wc_dir_length(path);

    if (scan_is_site(environment))
        n = site + 1 + strcspn(path + site + 1, "/.");
    else if (wc_dir_above(path, n) > 1)
        n = wc_dir_above(path, n); /* of lib/ and bin/ */
    return must_format("%.*s", (int)n, path);
}

/* The folder of grafted libraries has the name of the distribution, which may be another than that
 * of what Python imports. */
static char *scope_of(const struct scan *s, const struct scan_host *h) {
    char *package = scan_package(h->path, h->environment);
    size_t n = strlen(package);

    if (!scan_is_site(h->environment) ||
        WC_ANY(f, s->seen,
               is_within(f->path, package) &&
                   strncmp(f->path + n, GRAFTED, sizeof(GRAFTED) - 1) != 0))
        return package;
    free(package);
    return must_copy(h->environment);
}

/* ---- what needs what ---- */

static bool needs(const struct library *b, const struct library *wanted) {
    const char *soname = wanted->search.soname;

    for (const char **name = b->needed; *name; name++)
        if (strcmp(*name, soname ? soname : wc_base_name(wanted->about.path)) == 0)
            return true;
    return false;
}

struct importers {
    struct scan_copy *p;
    size_t n;
};

static void add(struct importers *to, const char *path, struct library *b) {
    if (!WC_ANY(one, *to, one->library == b))
        *MUST_ADD(to->p, to->n) = (struct scan_copy){path, b};
}

/* Python's own, by their names. */
static bool is_extension(const char *path) {
    const char *name = wc_base_name(path);

    return strstr(name, ".cpython-") || strstr(name, ".abi3.");
}

/* By DT_NEEDED, that of others between them included: libraries that no one needs in turn, those
 * that Python imports first, and programs. Lists of the caller's. */
static void importers_of(struct scan *s, const struct scan_host *h, struct importers *roots,
                         struct importers *programs) {
    OWNED char *scope = scope_of(s, h);
    struct importers known = {.n = 0};

    add(&known, NULL, h->library);
    for (size_t i = 0; i < known.n; i++) {
        const struct scan_copy one = known.p[i];
        bool is_needed = false;

        WC_EACH(f, s->seen) {
            struct library *b = is_within(f->path, scope)
                                    ? library_cache_get(&s->library_cache, f->path, NULL)
                                    : NULL;

            if (!b || !b->is_elf || b == one.library || !needs(b, one.library))
                continue;
            is_needed = true;
            add(f->is_program ? programs : &known, f->path, b);
        }
        if (!is_needed && i > 0)
            *MUST_ADD(roots->p, roots->n) = one;
    }
    /* The first that Python imports is before the others. */
    for (size_t i = 1; i < roots->n && !is_extension(roots->p[0].path); i++)
        if (is_extension(roots->p[i].path)) {
            const struct scan_copy first = roots->p[i];
            roots->p[i] = roots->p[0];
            roots->p[0] = first;
        }
    free(known.p);
}

#define SCRIPT_MOST 262144 /* bytes of a Python file */
#define ROUNDS_MOST 4      /* of packages that others rely on */
#define IMPORTERS_MOST 16  /* that are tried for a host */

/* ---- the program ---- */

/* PREFIX/lib/python3.12/site-packages is of PREFIX/bin/python3.12; Debian's dist-packages below
 * /usr/local are of the one in /usr. NULL: not known. */
static char *interpreter_of(struct scan *s, const char *environment) {
    const size_t above = wc_dir_length(environment), lib = wc_dir_above(environment, above);
    OWNED char *directory = must_format("%.*s", (int)above, environment);
    OWNED char *prefix = must_format("%.*s", (int)wc_dir_above(environment, lib), environment);
    const char *const roots[] = {prefix, "/usr"};
    const char *const names[] = {wc_base_name(directory), "python3", "python"};

    for (size_t i = 0; i < 6; i++) {
        OWNED char *path = must_format("%s/bin/%s", roots[i / 3], names[i % 3]);
        const struct library *b = library_cache_get(&s->library_cache, path, NULL);
        if (b && b->interpreter)
            return must_copy(path);
    }
    return NULL;
}

/* ---- what a host opens by itself ---- */

/* The major that its package or its own symbols demand, as host 1; -1: not known. */
static int32_t major_of(const struct source *source) {
    WC_EACH(demand, source->stack.demands) {
        const struct wc_demand_record *d = &demand->r;
        struct wc_version v = wc_version_of(d->built);
        struct wc_spec spec;
        if (!d->built && wc_spec_read(d->spec, &spec)) {
            v = wc_spec_floor(&spec);
            v = v.major < 0 && spec.n ? spec.clause[0].version : v;
        }
        if (d->host == 1 && v.major > 0)
            return v.major;
    }
    return -1;
}

/* What is demanded of cuDNN for it, as host 1; NULL: it cannot be read. The caller ends it. */
static struct source *demands_of(struct scan *s, struct library *b) {
    struct elf_reader reader;
    struct wc_library host = b->about;

    if (!library_identify(&s->library_cache, b, &host))
        return NULL;
    struct source *demands = source_new(SOURCE_SCAN, b->about.path);
    struct wc_sink to = source_sink(demands);
    host.number = 1;
    elf_reader_begin(&reader, &s->library_cache.disk);
    wc_emit_demands(&to, &host, &reader.reader);
    return demands;
}

/* Stubs open the library of the major that they were built for, by a name that is put together when
 * they run. */
static void name_what_it_opens(struct scan *s, struct library *b) {
    const struct wc_framework *f = wc_framework_opening(b->about.path);
    ENDED_BY(source_end) struct source *demands = NULL;

    if (f && f->makes_name)
        b->opens = NULL;
    if (b->needs_cudnn || (b->opens && b->opens->text[0]) || !(b->about.defines || f) ||
        !(demands = demands_of(s, b)))
        return;
    int32_t major = major_of(demands);
    if (major > 0 &&
        (b->opens = wc_arena_take(&s->library_cache.memory.arena, 2 * sizeof(*b->opens))))
        snprintf(b->opens->text, sizeof(b->opens->text), "libcudnn.so.%d", major);
}

/* Does its package require one of cuDNN's? */
static bool requires_package(struct scan *s, struct library *b) {
    ENDED_BY(source_end) struct source *demands = demands_of(s, b);

    return demands && WC_ANY(d, demands->stack.demands, d->r.package);
}

/* ---- one host ---- */

/* False: none of them was loaded. */
static bool preload_files(struct loader_sim *g, const char *directory,
                          const struct wc_framework_file *p) {
    struct library_cache *w = g->library_cache;
    OWNED char *below = must_format("%s/", directory);
    OWNED_GLOB glob_t found = glob_below(w->disk.root, below, p->file, GLOB_BRACE | GLOB_NOSORT);
    bool opened = false;

    for (size_t i = 0; i < found.gl_pathc && (i == 0 || (p->how & WC_FRAMEWORK_FILE_ALL)); i++)
        opened |= loader_sim_open(g, found.gl_pathv[i] + strlen(w->disk.root), NULL) != NULL;
    return opened;
}

static bool preload_on_path(struct loader_sim *g, const struct wc_framework_file *p) {
    WC_EACH_ELEMENT(e, loader_variable(g->environment, "LD_LIBRARY_PATH"), ":") {
        OWNED char *directory = must_format("%.*s", (int)e.n, e.p);
        if (*directory && preload_files(g, directory, p))
            return true;
    }
    return false;
}

static void preload(struct scan *s, struct loader_sim *g, const struct scan_host *h,
                    bool if_missing) {
    const char *below = h->path + strlen(h->environment) + 1;
    const struct wc_files *files = &g->library_cache->disk.files;
    const struct wc_framework_file *p;
    struct wc_file_stat facts;
    bool opened = false;

    if (!scan_is_site(h->environment))
        return;
    for (size_t i = 0; (p = wc_framework_preload(below, strcspn(below, "/"), if_missing, i)); i++)
        if ((p->by && !files->facts(files->ctx, KEEP(s, "%s/%s", h->environment, p->by), &facts)) ||
            (opened && (p->how & WC_FRAMEWORK_FILE_OTHERWISE)) ||
            ((p->how & WC_FRAMEWORK_FILE_IF_REQUIRED) && !requires_package(s, h->library)))
            continue;
        else if (p->how & WC_FRAMEWORK_FILE_ON_PATH)
            opened |= preload_on_path(g, p);
        else if (!strchr(p->file, '/'))
            opened |= loader_sim_open(g, p->file, NULL) != NULL;
        else
            opened |= preload_files(g, h->environment, p);
}

/* Is that done by a function that is there to be called (onnxruntime.preload_dlls)? */
static bool has_preloader(const char *text, size_t n) {
    WC_EACH_FRAMEWORK(f)
        if (f->preloader.function &&
            memmem(text, n, f->preloader.function, strlen(f->preloader.function)))
            return true;
    return false;
}

/* Do the Python files of its package name one of these? A package opens libraries by their names,
 * or all that are in the folders of NVIDIA's wheels (tensorrt_libs). */
static bool is_named_by_package(const struct scan *s, const struct scan_host *h,
                                const char *const *words) {
    OWNED char *package = scan_package(h->path, h->environment);
    OWNED_GLOB glob_t found = glob_below(s->library_cache.disk.root, package, "/*.py", GLOB_NOSORT);
    bool named = false;

    for (size_t i = 0; i < found.gl_pathc && !named; i++) {
        size_t n;
        OWNED char *text = disk_text(found.gl_pathv[i], SCRIPT_MOST, &n);
        for (const char *const *word = words; text && *word && !named; word++)
            named = memmem(text, n, *word, strlen(*word)) && !has_preloader(text, n);
    }
    return named;
}

/* Libraries of the environment that this one relies on, which other packages load. */
struct before {
    const char **p;
    size_t n;
};

/* importer: what loads it; NULL: it is opened by its own path. */
static bool load(struct scan *s, const struct scan_host *h, const char *importer,
                 const char *program, const struct before *b, bool if_missing,
                 struct loader_sim *g) {
    if (!loader_sim_begin(g, &s->library_cache, h->is_program ? h->path : program, s->environment,
                          NULL))
        return false;
    preload(s, g, h, false);
    if (if_missing)
        preload(s, g, h, true);
    for (size_t i = b->n; i > 0; i--)
        loader_sim_open(g, b->p[i - 1], NULL);
    if (!h->is_program)
        loader_sim_open(g, importer ? importer : h->path, NULL);
    return true;
}

/* Does another host of the environment load that, so that it is loaded where that one is
 * imported first? */
static bool is_brought(struct scan *s, const struct scan_host *h, const char *program,
                       const struct library *wanted) {
    const struct before none = {NULL, 0};
    bool found = false;
    struct loader_sim g;

    WC_EACH(other, s->hosts) {
        if (found || other == h || other->is_program ||
            strcmp(other->environment, h->environment) != 0 ||
            !load(s, other, NULL, program, &none, true, &g))
            continue;
        found = loader_sim_of(&g, wanted) != NULL;
        loader_sim_end(&g);
    }
    return found;
}

/* Of CUDA it counts only where something opens it: else a search path should lead there. A host
 * that finds no cuDNN is looked at as if it came first: no other host has loaded anything yet. */
static bool note_before(struct scan *s, const struct loader_sim *g, const struct scan_host *h,
                        const char *program, struct before *b) {
    const bool is_first =
        WC_ANY(m, g->missing, wc_name_kind_of(m->name) == WC_NAME_FACADE && m->by);
    size_t n = b->n;

    if (!scan_is_site(h->environment))
        return false;
    WC_EACH(missing, g->missing) {
        const struct wc_name name = wc_name_read(missing->name);
        const char *path = file_in(s, h->environment, missing->name);
        const char *const words[] = {"nvidia", name.part, NULL};
        if ((name.kind != WC_NAME_OTHER && name.kind != WC_NAME_CUDA_DEPENDENCY) || !path ||
            WC_ANY(one, *b, strcmp(*one, path) == 0) || strcmp(path, h->path) == 0)
            continue;
        if (name.kind == WC_NAME_OTHER || is_named_by_package(s, h, words) ||
            (!is_first &&
             is_brought(s, h, program, library_cache_get(&s->library_cache, path, NULL))))
            *MUST_ADD(b->p, b->n) = path;
    }
    return b->n > n;
}

/* As far as `run` would know it, too: a static program has no loader. */
char *scan_why_not(const struct scan *s, const char *path, const char *otherwise) {
    OWNED char *program = NULL;
    char *reason = s->library_cache.disk.root[0] ? NULL : unobserved_reason(path, &program);

    return reason ?: must_copy(otherwise);
}

/* Python binds all that a library imports when it opens that. What another library of the tree
 * defines may be there by then. */
static void check_symbols(struct scan *s, const struct scan_host *h, const char *program,
                          struct loader_sim *g) {
    const struct loaded *o = loader_sim_of(g, h->library), *by;

    loader_sim_check_symbols(g, false);
    if (!o || !program || !scan_is_site(h->environment))
        return;
    const char *function = loader_sim_unbound(g, o, &by);
    for (size_t i = 0; i < s->seen.n && function; i++) {
        struct library *b = library_cache_get(&s->library_cache, s->seen.p[i].path, NULL);
        if (b && library_defines(&s->library_cache, b, function))
            function = NULL;
    }
    if (function)
        loader_sim_lack(g, by, function);
}

/* False: it was not loaded. Of an importer that loads another one nothing is reported. */
static bool emit_by(struct scan *s, const struct scan_host *h, const char *importer,
                    const char *program, struct loader_sim_emitter *emitter) {
    struct before b = {NULL, 0};
    const char *below = h->path + strlen(h->environment) + 1;
    bool if_missing = false, again, loaded = false;
    struct loader_sim g;

    for (int round = 0; load(s, h, importer, program, &b, if_missing, &g); round++) {
        bool more = note_before(s, &g, h, program, &b);
        again = round < ROUNDS_MOST && g.missing.n > 0 &&
                (more || (!if_missing && scan_is_site(h->environment) &&
                          wc_framework_preload(below, strcspn(below, "/"), true, 0)));
        if_missing = g.missing.n > 0;
        if (!again) {
            loaded = loader_sim_of(&g, h->library) != NULL;
            check_symbols(s, h, program, &g);
            /* What a program has loaded is reported with it. */
            for (size_t i = 0; i < s->hosts.n && h->is_program; i++)
                if (!s->hosts.p[i].is_program && !scan_is_site(s->hosts.p[i].environment) &&
                    loader_sim_of(&g, s->hosts.p[i].library))
                    s->hosts.p[i].is_reported = true;
            if (loaded || !importer)
                loader_sim_emit(&g, emitter);
        }
        loader_sim_end(&g);
        if (!again)
            break;
    }
    free(b.p);
    return loaded;
}

static void emit_host(struct scan *s, const struct scan_host *h, const char *program,
                      struct loader_sim_emitter *emitter) {
    static const char otherwise[] = "it is for another architecture, or another C library";
    struct importers roots = {.n = 0}, programs = {.n = 0};
    bool emitted = false;

    if (!h->is_program)
        importers_of(s, h, &roots, &programs);
    for (size_t i = 0; i < roots.n && i < IMPORTERS_MOST && !emitted; i++)
        emitted = emit_by(s, h, roots.p[i].path, program, emitter);
    if (!emitted && !emit_by(s, h, NULL, program, emitter)) {
        OWNED char *reason =
            h->is_program ? scan_why_not(s, h->path, otherwise) : must_copy(otherwise);
        wc_emit_unobserved(&emitter->to, "what it would get", reason, h->path);
    }
    free(roots.p);
    free(programs.p);
}

/* ---- an environment ---- */

/* With what is the same for all that is in it. */
static struct source *begin_process(struct scan *s, const char *environment, const char *program) {
    struct source *source = source_new(SOURCE_SCAN, environment);
    const struct wc_sink to = source_sink(source);
    struct wc_search_context unused = {.files = NULL};

    source->root = s->library_cache.disk.root[0] ? must_copy(s->library_cache.disk.root) : NULL;
    source->libraries = &s->library_cache;
    library_cache_use(&s->library_cache, NULL, &unused);
    first_records_emit(&to, &s->library_cache.disk, program, wc_str_or_null(s->library_cache.glibc),
                       s->environment, WC_NULL);
    return source;
}

static void make_process(struct scan *s, size_t first) {
    const char *environment = s->hosts.p[first].environment;
    OWNED char *program = s->hosts.p[first].is_program
                              ? must_copy(wc_library_file(&s->hosts.p[first].library->about))
                          : scan_is_site(environment) ? interpreter_of(s, environment)
                                                      : NULL;
    struct source *source = begin_process(s, environment, program);
    ENDED_BY(loader_sim_emitter_end)
    struct loader_sim_emitter emitter = {.to = source_sink(source), .environments.cuda = true};

    for (size_t i = first; i < s->hosts.n; i++)
        if (strcmp(s->hosts.p[i].environment, environment) == 0 && !s->hosts.p[i].is_reported) {
            s->hosts.p[i].is_reported = true;
            name_what_it_opens(s, s->hosts.p[i].library);
            emit_host(s, &s->hosts.p[i], program, &emitter);
        }
    *MUST_ADD(s->processes, s->process_count) = source;
}

/* ---- packages that no host is next to ---- */

static bool is_known(const struct scan *s, const struct wc_package *p) {
    for (size_t i = 0; i < s->process_count; i++)
        if (WC_ANY(known, s->processes[i]->stack.packages,
                   wc_str_same(known->r.prefix, p->r.prefix) &&
                       wc_str_same(known->r.package, p->r.package)))
            return true;
    return false;
}

/* Of cuDNN in the environment of a file. A damaged one is damaged for every host. */
static void add_packages(struct scan *s, const char *file) {
    struct source *source = begin_process(s, file, NULL);
    const struct wc_sink to = source_sink(source);
    struct wc_environments told = {.cuda = true};
    struct elf_reader reader;

    elf_reader_begin(&reader, &s->library_cache.disk);
    wc_emit_packages(&to, &told, file, &reader.reader);
    const struct wc_package *p =
        WC_FIRST(one, source->stack.packages,
                 (one->r.missing.n > 0 || one->r.changed.n > 0 || one->r.shared_with.n > 0) &&
                     !is_known(s, one));
    if (p) {
        OWNED char *path = source->path;
        source->path = must_copy(p->r.prefix ?: path);
        *MUST_ADD(s->processes, s->process_count) = source;
    } else {
        source_free(source);
    }
}

/* Where a library of cuDNN is, and in each site-packages, once. */
static void add_all_packages(struct scan *s) {
    const char *last = "";
    size_t n = 0;

    WC_EACH(copy, s->found) {
        if (wc_dir_length(copy->path) != n || strncmp(copy->path, last, n) != 0)
            add_packages(s, copy->path);
        last = copy->path;
        n = wc_dir_length(last);
    }
    WC_EACH(file, s->seen) {
        const char *path = file->path;
        const size_t length = wc_environment_length(path);
        OWNED char *site = must_format("%.*s", (int)length, path);
        if (scan_is_site(site) && (length != n || strncmp(path, last, n) != 0))
            add_packages(s, path);
        last = path;
        n = length;
    }
}

WC_COMPARE(by_path, struct source *const, strcmp((*x)->path, (*y)->path));

void scan_make_processes(struct scan *s) {
    struct importers roots = {.n = 0}, loaders = {.n = 0};

    /* A program that has nothing of cuDNN's itself loads a library that has. */
    WC_EACH(h, s->hosts)
        if (!h->is_program && !scan_is_site(h->environment))
            importers_of(s, h, &roots, &loaders);
    WC_EACH(loader, loaders)
        scan_host_add(s, loader->library, loader->path, true);
    free(roots.p);
    free(loaders.p);
    for (int programs = 1; programs >= 0; programs--)
        for (size_t i = 0; i < s->hosts.n; i++)
            if (s->hosts.p[i].is_program == programs && !s->hosts.p[i].is_reported)
                make_process(s, i);
    add_all_packages(s);
    WC_EACH(site, s->sites) {
        OWNED char *program = interpreter_of(s, site->path);
        python_loaders_in(&s->library_cache, site->path, program, s->environment, &s->loadings);
        scan_read_lock_files(s, site->path);
    }
    if (s->process_count > 0)
        qsort(s->processes, s->process_count, sizeof(*s->processes), by_path);
}
