#include "searches.h"

#include "arch.h"
#include "auxv.h"
#include "chain.h"
#include "config.h"
#include "files.h"
#include "hash.h"
#include "journal.h"
#include "memory.h"
#include "process.h"
#include "sys.h"
#include "view.h"
#include "whichcudnn/identify.h"
#include "whichcudnn/names.h"

#define SEARCHED_MOST 64   /* directories told of one search */
#define CANDIDATES_MOST 16 /* of one search */
#define QUESTIONS_MOST 256 /* different ones of a process */
#define CACHE_MOST (8 << 20)

/* ---- the loader's world ---- */

static struct wc_search_world world;
static struct wc_search_memory missing = {&memory_arena, NULL};

static void take_library_path(void *arg, const char *variable) {
    static const char name[] = "LD_LIBRARY_PATH=";
    const char **value = arg;
    if (wc_str_starts(variable, name))
        *value = wc_arena_string(&memory_arena, variable + sizeof name - 1);
}

/* Started by the kernel, or as a program ("ld.so PROGRAM"): then the program's headers are its own.
 */
static bool read_loader(struct wc_elf_image *e) {
    uintptr_t base = auxv_value(AT_BASE);
    const Elf64_Ehdr *h;
    if (!base)
        base = auxv_value(AT_PHDR) & ~(auxv_page_size() - 1);
    h = (const void *)base;
    return base && wc_mem_compare(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           wc_elf_from_memory(e, base, (const void *)(base + h->e_phoff), h->e_phnum) == WC_ELF_OK;
}

/* Read once: the loader, too, keeps what it was when it was first asked. */
static void read_cache(void) {
    struct stat st;
    size_t n = 0;
    int fd = files_open("/etc/ld.so.cache", &st);
    void *bytes =
        fd >= 0 && st.st_size > 0 && st.st_size <= CACHE_MOST ? sys_map((size_t)st.st_size) : NULL;
    if (bytes && files_read(fd, 0, bytes, (size_t)st.st_size, &n))
        world.cache = (struct wc_span){bytes, n};
    if (fd >= 0)
        sys_close(fd);
}

static void begin_world(void) {
    static struct wc_search_system system;
    static struct wc_elf_image loader;
    if (world.files)
        return;
    bool known = read_loader(&loader);
    wc_search_system_read(&system, process_glibc_minor(), (const char *)auxv_value(AT_PLATFORM),
                          auxv_value(AT_HWCAP), known ? &loader : NULL);
    wc_search_system_use(&system, &world);
    config_each_logged(take_library_path, &world.library_path);
    read_cache();
    world.machine = ARCH_MACHINE;
    world.whole = world.sparse = true;
    world.files = &shim_files;
}

/* ---- one replay ---- */

struct file {
    struct wc_candidate c; /* its texts are kept */
    struct wc_file_facts facts;
};

static struct replay {
    struct wc_buffer_arena memory;
    const char *searched[SEARCHED_MOST];
    const char *directory[SEARCHED_MOST]; /* the same, bare; NULL: it is not there */
    enum wc_search_rule rule[SEARCHED_MOST];
    size_t searched_count, searched_more;
    struct file taken, other[CANDIDATES_MOST];
    bool found;
    size_t others, others_more;
    char texts[64 << 10];
} * replay;

static const char *keep(const char *text) {
    return wc_arena_string(&replay->memory.arena, text);
}

static void note_directory(const struct wc_candidate *c) {
    static char text[SYS_PATH + 64];
    struct wc_text t;
    if (!c->directory || c->in_subdirectory)
        return;
    if (replay->searched_count == SEARCHED_MOST) {
        replay->searched_more++;
        return;
    }
    wc_text_begin(&t, text, sizeof text);
    wc_text_join(&t, wc_enum_word(WC_ENUM_search_rule, c->rule), " ",
                 c->directory[0] ? c->directory : "./", c->no_directory ? " (not there)" : "",
                 NULL);
    replay->directory[replay->searched_count] =
        c->no_directory ? NULL : keep(c->directory[0] ? c->directory : ".");
    replay->rule[replay->searched_count] = c->rule;
    replay->searched[replay->searched_count++] = keep(text);
}

static bool same_file(const struct wc_file_facts *a, const struct wc_file_facts *b) {
    return a->inode == b->inode && a->device == b->device;
}

/* By another way to the same file it is no other candidate. */
static bool is_noted(const struct wc_file_facts *facts) {
    if (replay->found && same_file(&replay->taken.facts, facts))
        return true;
    for (size_t i = 0; i < replay->others; i++)
        if (same_file(&replay->other[i].facts, facts))
            return true;
    return false;
}

static void keep_file(struct file *f, const struct wc_candidate *c) {
    f->c = *c;
    f->c.path = keep(c->path);
    f->c.element = keep(c->element);
}

static bool note_candidate(void *arg, const struct wc_candidate *c) {
    struct wc_file_facts facts;
    (void)arg;
    if (!c->beaten)
        note_directory(c);
    if (c->state == WC_file_state_NOTHING || !shim_files.facts(NULL, c->path, &facts))
        return true;
    if (c->state == WC_file_state_FITS && !c->beaten && c->rule != WC_search_rule_NOT_SEARCHED) {
        keep_file(&replay->taken, c);
        replay->taken.facts = facts;
        replay->found = true;
    } else if (is_noted(&facts)) {
        return true;
    } else if (replay->others == CANDIDATES_MOST) {
        replay->others_more++;
    } else {
        struct file *f = &replay->other[replay->others++];
        keep_file(f, c);
        f->facts = facts;
    }
    return true;
}

static bool run(const struct wc_search_object *caller, const char *name,
                struct wc_search_memory *memory) {
    void *scratch = memory_scratch_search();
    if (!caller || !scratch || (!replay && !(replay = sys_map(sizeof *replay))))
        return false;
    begin_world();
    wc_buffer_arena_begin(&replay->memory, replay->texts, sizeof replay->texts);
    replay->searched_count = replay->searched_more = replay->others = replay->others_more = 0;
    replay->found = false;
    world.memory = memory;
    world.program = chain_program();
    world.library_path_origin = world.program ? world.program->origin : NULL;
    wc_search(&world, caller, name, scratch, WC_SEARCH_SCRATCH, note_candidate, NULL);
    return true;
}

/* What the loader has tried is not for these to say: it may have asked for something else. */
bool searches_replay(const struct wc_search_object *caller, const char *name) {
    return run(caller, name, NULL);
}

const char *searches_taken(void) {
    return replay->found ? replay->taken.c.path : NULL;
}

const char *searches_passed(size_t i) {
    for (size_t k = 0; k < replay->others; k++) {
        const struct wc_candidate *c = &replay->other[k].c;
        if (!c->beaten && c->state != WC_file_state_FITS && i-- == 0)
            return c->path;
    }
    return NULL;
}

const char *searches_directory(size_t i, enum wc_search_rule *rule) {
    for (size_t k = 0; k < replay->searched_count; k++)
        if (replay->directory[k] && i-- == 0) {
            *rule = replay->rule[k];
            return replay->directory[k];
        }
    return NULL;
}

const char *searches_cached(const char *name) {
    return wc_search_cache(&world, name);
}

/* ---- its records ---- */

static const char *version_text(struct wc_version v, char *to) {
    return wc_version_known(v) ? wc_version_format(v, to) : NULL;
}

static const char *or_null(const char *s) {
    return s[0] ? s : NULL;
}

static bool is_facade(const char *name) {
    return wc_name_kind_of(name) == WC_NAME_FACADE;
}

/* What a facade is, as far as that can be read without loading it. Parts lie beside theirs. */
static void identify(const struct file *f, struct wc_candidate_record *r) {
    static char version[WC_VERSION_TEXT], soname[256];
    static struct wc_identity id;
    static struct wc_elf_image image;
    void *scratch = memory_scratch_file();
    struct wc_text t;
    struct view v;
    if (!scratch || !view_open(&v, f->c.path))
        return;
    bool good = f->c.state == WC_file_state_FITS &&
                wc_elf_from_pieces(&image, v.bytes, v.size, 0, view_fetch, &v) == WC_ELF_OK;
    wc_identify(&shim_files, r->real_path ? r->real_path : f->c.path, good ? &image : NULL, true,
                scratch, SCRATCH_FILE, &id);
    wc_text_begin(&t, soname, sizeof soname);
    wc_text_add(&t, good ? wc_elf_soname(&image) : NULL);
    view_close(&v);
    r->soname = or_null(soname);
    r->version = version_text(id.version, version);
    r->version_source = id.version_source;
    r->installation_kind = id.installation_kind;
    r->installation = or_null(id.installation);
    r->installation_version = or_null(id.installation_version);
    r->installation_path = or_null(id.installation_path);
}

static void add_candidate(int64_t search, const struct file *f) {
    static char real_path[SYS_PATH];
    struct wc_record r;
    struct wc_candidate_record *c = &r.u.candidate;
    wc_record_begin(&r, WC_KIND_candidate);
    if (shim_files.real_path(NULL, f->c.path, real_path, sizeof real_path))
        c->real_path = real_path;
    c->search = search;
    c->path = f->c.path;
    c->rule = f->c.rule;
    c->element = f->c.element;
    c->index = f->c.element ? (int64_t)f->c.index : WC_NULL;
    c->of = f->c.of ? f->c.of->path : NULL;
    c->beaten = f->c.beaten;
    c->state = f->c.state;
    if (is_facade(f->c.path))
        identify(f, c);
    journal_add(&r);
}

static void set_rule(struct wc_search_record *s, const struct wc_candidate *c) {
    s->rule = c->rule;
    s->element = c->element;
    s->index = c->element ? (int64_t)c->index : WC_NULL;
    s->of = c->of ? c->of->path : NULL;
}

/* What the record says of who asks and what came of it is set; the replay is over. */
static void add_search(struct wc_record *r) {
    struct wc_search_record *s = &r->u.search;
    static int64_t searches;
    s->search = ++searches;
    s->takes = replay->found ? replay->taken.c.path : NULL;
    s->searched.p = replay->searched;
    s->searched.n = replay->searched_count;
    r->cut = (int64_t)(replay->searched_more + replay->others_more);
    journal_add(r);
    if (s->rule == WC_search_rule_LOADED && replay->found)
        add_candidate(s->search, &replay->taken);
    for (size_t i = 0; i < replay->others; i++)
        add_candidate(s->search, &replay->other[i]);
}

static bool is_taken(const struct object *o) {
    return replay->found && (wc_str_same(replay->taken.c.path, o->path) ||
                             (o->inode && replay->taken.facts.inode == o->inode &&
                              replay->taken.facts.device == o->device));
}

/* ---- copies that the loader does not look at ---- */

#define SITES_MOST 8

struct roots {
    const char *site[SITES_MOST + 1], *conda[2], *cuda[3];
};

static void take_variable(const char **list, size_t most, const char *name, const char *variable) {
    size_t n = wc_str_length(name), i = 0;
    while (i < most && list[i])
        i++;
    if (i < most && wc_str_starts(variable, name) && variable[n])
        list[i] = keep(variable + n);
}

static void take_root(void *arg, const char *variable) {
    struct roots *r = arg;
    take_variable(r->conda, 1, "CONDA_PREFIX=", variable);
    take_variable(r->cuda, 2, "CUDA_HOME=", variable);
    take_variable(r->cuda, 2, "CUDA_PATH=", variable);
}

static void take_site(struct roots *r, const char *path) {
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *at = wc_str_find(path, names[k]);
        size_t n = at ? (size_t)(at - path) + wc_str_length(names[k]) : 0, i = 0;
        while (n && i < SITES_MOST && r->site[i] &&
               (wc_str_length(r->site[i]) != n || wc_mem_compare(r->site[i], path, n) != 0))
            i++;
        if (n && i < SITES_MOST && !r->site[i])
            r->site[i] = wc_arena_string_n(&replay->memory.arena, path, n);
    }
}

static bool note_copy(void *arg, const char *path) {
    struct wc_candidate c = {.rule = WC_search_rule_NOT_SEARCHED, .state = WC_file_state_FITS};
    (void)arg;
    c.path = path;
    return note_candidate(NULL, &c);
}

static void note_beside(const char *name, const char *caller, char *room) {
    struct wc_file_facts facts;
    struct wc_text t;
    size_t n = wc_dir_length(caller);
    wc_text_begin(&t, room, WC_SEARCH_PATH);
    wc_text_add_n(&t, caller, n);
    wc_text_join(&t, n ? "/" : "./", name, NULL);
    if (!t.cut && shim_files.facts(NULL, room, &facts) && facts.regular)
        note_copy(NULL, room);
}

/* What a host wants and does not find may be installed all the same. */
static void note_copies(const char *name, const char *caller) {
    struct roots *r = wc_arena_take(&replay->memory.arena, sizeof *r);
    char *room = wc_arena_take(&replay->memory.arena, WC_SEARCH_PATH);
    struct wc_search_roots roots;
    const char *path;
    if (!r || !room)
        return;
    wc_mem_set(r, 0, sizeof *r);
    config_each_logged(take_root, r);
    take_site(r, caller);
    for (size_t i = 0; (path = chain_path(i)); i++)
        take_site(r, path);
    note_beside(name, caller, room);
    roots = (struct wc_search_roots){r->site, r->conda, r->cuda};
    wc_search_places(&shim_files, &roots, name, room, note_copy, NULL);
}

/* ---- which questions are told ---- */

/* A host may ask for ever. */
static bool is_told(const char *name, const char *caller, int64_t object) {
    static uint64_t told[QUESTIONS_MOST];
    static size_t count;
    uint64_t hash = hash_text(hash_text(HASH_START, name), caller);
    hash = hash_word(hash, (uint64_t)object);
    for (size_t i = 0; i < count; i++)
        if (told[i] == hash)
            return true;
    if (count < QUESTIONS_MOST)
        told[count++] = hash;
    return count == QUESTIONS_MOST;
}

bool searches_matter(const char *name) {
    return wc_name_kind_of(name) != WC_NAME_OTHER && !wc_str_find_char(name, '/');
}

struct question {
    const char *name, *caller;
    int64_t caller_object, request;
};

static bool tell_from(const struct question *q, const struct wc_search_object *from,
                      struct wc_search_memory *memory, const struct object *o, bool is_new) {
    struct wc_record r;
    struct wc_search_record *s = &r.u.search;
    if (!searches_matter(q->name) || is_told(q->name, q->caller, o ? o->number : WC_NULL) ||
        !run(from, q->name, memory))
        return false;
    wc_record_begin(&r, WC_KIND_search);
    s->name = q->name;
    s->caller = q->caller;
    s->caller_object = q->caller_object;
    s->request = q->request;
    s->object = o ? o->number : WC_NULL;
    if (!o && !replay->found && wc_kind_is_cudnn(wc_name_kind_of(q->name)))
        note_copies(q->name, q->caller);
    if (o && !is_new)
        s->rule = WC_search_rule_LOADED;
    else if (o && is_taken(o))
        set_rule(s, &replay->taken.c);
    if (is_new || !o || !is_taken(o)) /* else it would have got the same */
        add_search(&r);
    return true;
}

static bool tell(const char *name, const char *caller, int64_t caller_object, int64_t request,
                 const struct object *o, bool is_new) {
    struct question q = {name, caller, caller_object, request};
    return tell_from(&q, chain_of(caller), &missing, o, is_new);
}

void searches_tell_object(const struct object *o) {
    if (o->asked_name && o->asked_by)
        tell(o->asked_name, o->asked_by, o->asked_by_object, o->request, o, true);
}

/* NULL: nothing of cuDNN that is mapped has that name. */
static const struct object *object_named(const char *name) {
    const struct object *o;
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (o->mapped && requests_name_fits(name, o->path, o->soname))
            return o;
    return NULL;
}

void searches_tell_needed(const struct object *host, const struct wc_elf_image *e) {
    const char *needed;
    for (size_t i = 0; (needed = wc_elf_needed(e, i)); i++) {
        const struct object *o = is_facade(needed) ? object_named(needed) : NULL;
        if (o && o->asked_by_object != host->number)
            tell(needed, host->path, host->number, WC_NULL, o, false);
    }
}

void searches_tell_answered(const struct request *r) {
    const struct object *o = is_facade(r->name) ? object_named(r->name) : NULL;
    if (o && o->request != r->number)
        tell(r->name, r->caller, r->caller_object, r->number, o, false);
}

/* A facade asks for each part by four names and most often has to: that with the major alone is
 * told. */
static bool is_one_of_many(const char *name) {
    struct wc_name read;
    wc_name_read(name, &read);
    return read.kind == WC_NAME_PART && (read.version.major < 0 || read.version.minor >= 0);
}

bool searches_tell_failed(const struct request *r) {
    return !is_one_of_many(r->name) &&
           tell(r->name, r->caller, r->caller_object, r->number, NULL, false);
}

void searches_tell_missing(const struct request *r, const struct wc_search_object *file,
                           const char *name) {
    struct question q = {name, file->path, WC_NULL, r->number};
    tell_from(&q, file, NULL, NULL, false);
}
