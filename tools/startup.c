/*
 * See startup.h. The order is that of glibc's _dl_map_object_deps: the program, what is preloaded,
 * then each object's DT_NEEDED, breadth first.
 */
#include "startup.h"

#include <elf.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "whichcudnn/process_facts.h"

#define OBJECTS_MOST 4096

#ifdef __aarch64__
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

static const char *variable(const struct startup *s, const char *name) {
    size_t n = strlen(name);

    for (char *const *v = s->environment; *v; v++)
        if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
            return *v + n + 1;
    return NULL;
}

static char *keep(struct startup *s, const char *text) {
    return wc_arena_string(&s->memory.arena, text);
}

/* ---- the loader's world ---- */

static bool read_system(struct startup *s, const struct wc_elf_image *program) {
    const Elf64_Ehdr *header = (const void *)program->file;
    struct disk_file loader;
    bool known = false;

    if (header->e_phoff > program->file_size ||
        (program->file_size - header->e_phoff) / sizeof(Elf64_Phdr) < header->e_phnum)
        return false;
    for (size_t i = 0; i < header->e_phnum && !known; i++) {
        const Elf64_Phdr *p = (const void *)(program->file + header->e_phoff);
        if (p[i].p_type == PT_INTERP && p[i].p_filesz > 1 && p[i].p_offset < program->file_size &&
            p[i].p_filesz <= program->file_size - p[i].p_offset &&
            !program->file[p[i].p_offset + p[i].p_filesz - 1])
            known = disk_file_open(&loader, (const char *)program->file + p[i].p_offset);
    }
    if (!known)
        return false;
    wc_search_system_read(&s->system, wc_glibc_minor(gnu_get_libc_version()),
                          (const char *)getauxval(AT_PLATFORM), getauxval(AT_HWCAP),
                          loader.is_elf ? &loader.image : NULL);
    disk_file_close(&loader);
    wc_search_system_use(&s->system, &s->world);
    return true;
}

static void begin_world(struct startup *s) {
    s->has_cache = disk_file_open(&s->cache, "/etc/ld.so.cache");
    if (s->has_cache)
        s->world.cache = (struct wc_span){s->cache.bytes, s->cache.n};
    s->world.files = &disk_files;
    s->world.library_path = variable(s, "LD_LIBRARY_PATH");
    s->world.machine = OWN_MACHINE;
    s->world.whole = s->world.sparse = true;
    s->tried.arena = &s->memory.arena;
    s->world.memory = &s->tried;
}

/* ---- what is loaded ---- */

/* Below the working directory where the loader has it by a relative path. */
static const char *origin_of(struct startup *s, const char *path) {
    size_t n = wc_dir_length(path);
    char *origin, *kept;

    if (!n || (path[0] != '/' && !s->directory))
        return path[0] == '/' ? "/" : s->directory;
    origin = path[0] == '/' ? must_format("%.*s", (int)n, path)
                            : must_format("%s/%.*s", s->directory, (int)n, path);
    kept = keep(s, origin);
    free(origin);
    return kept;
}

static void note_name(struct startup *s, struct startup_object *o, const char *name) {
    size_t n = 0;

    while (o->names && o->names[n])
        n++;
    o->names = must_grow(o->names, (n + 2) * sizeof(*o->names));
    o->names[n] = keep(s, name);
    o->names[n + 1] = NULL;
    o->search.names = o->names;
}

/* NULL: it is no library that can be read. */
static struct startup_object *load(struct startup *s, const char *path, const char *asked_name,
                                   const struct startup_object *by) {
    struct startup_object *o = must_allocate(sizeof(*o));

    if (s->n == OBJECTS_MOST || !disk_file_open(&o->file, path)) {
        free(o);
        return NULL;
    }
    disk_files.facts(NULL, path, &o->facts);
    o->real_path = realpath(path, NULL);
    o->asked_name = asked_name;
    o->by = by;
    o->number = WC_NULL;
    o->search.path = keep(s, path);
    o->search.origin = origin_of(s, o->search.path);
    o->search.loaded_by = by ? &by->search : NULL;
    if (o->file.is_elf) {
        o->search.rpath = wc_elf_rpath(&o->file.image);
        o->search.runpath = wc_elf_runpath(&o->file.image);
        o->search.soname = wc_elf_soname(&o->file.image);
        o->search.no_default = (o->file.image.flags_1 & DF_1_NODEFLIB) != 0;
    }
    s->objects = must_grow(s->objects, (s->n + 1) * sizeof(struct startup_object *));
    s->loaded = must_grow(s->loaded, (s->n + 2) * sizeof(struct wc_search_object *));
    s->objects[s->n] = o;
    s->loaded[s->n++] = &o->search;
    s->loaded[s->n] = NULL;
    s->world.loaded = s->loaded;
    return o;
}

static struct startup_object *loaded_as(const struct startup *s, const char *path) {
    struct wc_file_facts facts;

    if (!disk_files.facts(NULL, path, &facts))
        return NULL;
    for (size_t i = 0; i < s->n; i++)
        if (s->objects[i]->facts.inode == facts.inode &&
            s->objects[i]->facts.device == facts.device)
            return s->objects[i];
    return NULL;
}

/* The same file by another name is the same object. False: it is missing. */
static bool want(struct startup *s, const char *name, const struct startup_object *by) {
    struct startup_object *o;
    const char *path;

    wc_replay_run(s->replay, &s->world, by ? &by->search : NULL, name, s->scratch,
                  WC_SEARCH_SCRATCH);
    path = wc_replay_taken(s->replay);
    if (!path)
        return false;
    o = loaded_as(s, path);
    if (!o)
        o = load(s, path, keep(s, name), by);
    if (o)
        note_name(s, o, name);
    return o;
}

/* One that is not found is passed over. */
static void preload(struct startup *s) {
    const char *list = variable(s, "LD_PRELOAD");
    char *copy = must_copy(list ? list : ""), *rest = copy, *name;

    while ((name = strsep(&rest, " :")))
        if (*name)
            want(s, name, NULL);
    free(copy);
}

static void note_missing(struct startup *s, const char *name, const struct startup_object *by) {
    for (size_t i = 0; i < s->missing_count; i++)
        if (strcmp(s->missing[i].name, name) == 0)
            return;
    s->missing = must_grow(s->missing, (s->missing_count + 1) * sizeof(*s->missing));
    s->missing[s->missing_count++] = (struct startup_missing){keep(s, name), by};
}

static void load_needed(struct startup *s, const struct startup_object *by) {
    const char *name;

    for (size_t i = 0; by->file.is_elf && (name = wc_elf_needed(&by->file.image, i)); i++)
        if (!want(s, name, by))
            note_missing(s, name, by);
}

bool startup_replay(struct startup *s, const char *program, char *const *environment) {
    char *real = realpath(program, NULL);
    struct startup_object *o;

    memset(s, 0, sizeof(*s));
    heap_arena_begin(&s->memory);
    s->environment = environment;
    s->directory = getcwd(NULL, 0);
    s->replay = must_allocate(sizeof(*s->replay));
    s->scratch = must_allocate(WC_SEARCH_SCRATCH);
    begin_world(s);
    o = real ? load(s, real, NULL, NULL) : NULL;
    free(real);
    if (!o || !o->file.is_elf || o->file.image.machine != OWN_MACHINE ||
        !read_system(s, &o->file.image)) {
        startup_end(s);
        return false;
    }
    o->search.is_program = true;
    s->world.program = &o->search;
    s->world.library_path_origin = o->search.origin;
    preload(s);
    for (size_t i = 0; i < s->n; i++)
        load_needed(s, s->objects[i]);
    return true;
}

void startup_end(struct startup *s) {
    for (size_t i = 0; i < s->n; i++) {
        disk_file_close(&s->objects[i]->file);
        free(s->objects[i]->real_path);
        free(s->objects[i]->names);
        free(s->objects[i]);
    }
    if (s->has_cache)
        disk_file_close(&s->cache);
    free(s->objects);
    free(s->loaded);
    free(s->missing);
    free(s->replay);
    free(s->scratch);
    free((char *)s->directory);
    heap_arena_end(&s->memory);
}
