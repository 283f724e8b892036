/* The records of a replayed start: see startup.h. */
#include <stdlib.h>
#include <string.h>

#include "startup.h"
#include "whichcudnn/file_look.h"
#include "whichcudnn/frameworks.h"
#include "whichcudnn/names.h"
#include "whichcudnn/symbols.h"

#define NEEDED_MOST 48

struct telling {
    struct startup *s;
    struct wc_replay_sink sink;
    struct disk_file file; /* of the candidate that is looked into */
    int64_t objects, searches, requests;
};

/* ---- objects ---- */

static bool imports_cudnn(const struct wc_elf_image *e) {
    uint32_t end = wc_elf_imports_end(e);
    struct wc_elf_symbol symbol;
    const char *name;

    for (uint32_t i = 1; i < end; i++)
        if ((name = wc_elf_symbol_name(e, i)) && wc_str_starts(name, "cudnn") &&
            wc_function_find(name) != WC_NO_FUNCTION && wc_elf_symbol_at(e, i, &symbol) &&
            !symbol.defined)
            return true;
    return false;
}

static bool needs_cudnn(const struct wc_elf_image *e) {
    const char *name;

    for (size_t i = 0; (name = wc_elf_needed(e, i)); i++)
        if (wc_name_kind_of(name) == WC_NAME_FACADE)
            return true;
    return false;
}

/* OTHER: it has nothing to do with cuDNN. */
static enum wc_role role_of(const struct startup_object *o, struct wc_name *name) {
    wc_name_read(o->search.path, name);
    if (name->kind == WC_NAME_OTHER && o->search.soname)
        wc_name_read(o->search.soname, name);
    switch (name->kind) {
    case WC_NAME_FACADE:
        return WC_role_FACADE;
    case WC_NAME_PART:
        return WC_role_PART;
    case WC_NAME_COMPANION:
    case WC_NAME_DRIVER:
        return WC_role_COMPANION;
    default:
        return o->file.is_elf && (imports_cudnn(&o->file.image) || needs_cudnn(&o->file.image))
                   ? WC_role_HOST
                   : WC_role_OTHER;
    }
}

static const char *or_null(const char *s) {
    return s[0] ? s : NULL;
}

static void add_image(const struct startup_object *o, struct wc_object_record *r,
                      const char **needed) {
    const struct wc_elf_image *e = &o->file.image;
    const char *name;
    size_t n = 0;

    if (!o->file.is_elf)
        return;
    while (n < NEEDED_MOST && (name = wc_elf_needed(e, n)))
        needed[n++] = name;
    r->needed = (struct wc_strings){needed, n};
    r->soname = o->search.soname;
    r->node = wc_elf_defined_node(e);
    r->rpath = o->search.rpath;
    r->runpath = o->search.runpath;
}

static const char *say_version(struct telling *t, struct wc_version v) {
    char text[WC_VERSION_TEXT];

    return wc_version_known(v) ? wc_arena_string(&t->s->memory.arena, wc_version_format(v, text))
                               : NULL;
}

static void add_identity(struct telling *t, const struct startup_object *o,
                         struct wc_object_record *r) {
    struct wc_identity *id = &t->s->replay->identity;

    wc_identify(&disk_files, o->real_path ? o->real_path : o->search.path,
                o->file.is_elf ? &o->file.image : NULL, r->role == WC_role_FACADE, t->sink.scratch,
                t->sink.scratch_size, id);
    if (r->role == WC_role_FACADE || r->role == WC_role_PART) {
        r->version = say_version(t, id->version);
        r->version_source = id->version_source;
        r->version_floor = say_version(t, id->floor);
        r->version_ceiling = say_version(t, id->ceiling);
    }
    r->installation_kind = id->installation_kind;
    r->installation = or_null(id->installation);
    r->installation_version = or_null(id->installation_version);
    r->installation_path = or_null(id->installation_path);
    r->mount = or_null(id->mount);
}

/* Nothing of it is mapped any more, or yet; but that is where it is when it is. */
static void tell_object(struct telling *t, struct startup_object *o) {
    const char *needed[NEEDED_MOST];
    struct wc_record record;
    struct wc_object_record *r = &record.u.object;
    struct wc_name name;
    enum wc_role role = role_of(o, &name);

    if (role == WC_role_OTHER)
        return;
    o->number = ++t->objects;
    wc_record_begin(&record, WC_KIND_object);
    r->object = o->number;
    r->role = role;
    r->is_host = role == WC_role_HOST;
    r->part = or_null(name.part);
    r->mapped = true;
    r->path = o->search.path;
    r->real_path = o->real_path;
    r->asked_name = o->asked_name;
    r->device = (int64_t)o->facts.device;
    r->inode = (int64_t)o->facts.inode;
    r->size = (int64_t)o->facts.size;
    r->mtime = o->facts.mtime;
    if (o->by) {
        r->asked_by = o->by->search.path;
        r->asked_by_object = o->by->number;
    }
    r->asked_how = o->by ? WC_operation_NEEDED : WC_operation_START;
    r->framework = wc_framework_of(o->search.path);
    add_image(o, r, needed);
    add_identity(t, o, r);
    t->sink.add(t->sink.ctx, &record);
}

/* ---- searches ---- */

static void tell_search(struct telling *t, const char *name, const struct startup_object *by,
                        const struct startup_object *got, int64_t request) {
    const struct wc_search_object *from = by ? &by->search : NULL;
    struct wc_record record;
    struct wc_search_record *r = &record.u.search;

    /* That the loader has tried a directory in vain counts for its own search alone. */
    t->s->world.memory = NULL;
    t->s->world.loaded = NULL;
    wc_replay_run(t->s->replay, &t->s->world, from, name, t->s->scratch, WC_SEARCH_SCRATCH);
    wc_record_begin(&record, WC_KIND_search);
    r->search = ++t->searches;
    r->name = name;
    r->caller = by ? by->search.path : NULL;
    r->caller_object = by ? by->number : WC_NULL;
    r->request = request;
    r->object = got ? got->number : WC_NULL;
    if (!got && wc_kind_is_cudnn(wc_name_kind_of(name))) {
        for (char *const *v = t->s->environment; *v; v++)
            wc_replay_root(t->s->replay, *v);
        for (size_t i = 0; i < t->s->n; i++)
            wc_replay_site(t->s->replay, t->s->objects[i]->search.path);
        wc_replay_copies(t->s->replay, name, by ? by->search.path : "");
    }
    wc_replay_tell(t->s->replay, &record, got != NULL, &t->sink);
}

/* ---- what is missing ---- */

/* The loader ends at a file that is damaged, and passes over one for another machine. */
static void tell_file(struct telling *t, const char *path, int64_t request) {
    struct wc_file_look look;
    struct wc_record record;

    if (!wc_file_look(&disk_files, path, t->s->world.machine, &look))
        return;
    wc_record_begin(&record, WC_KIND_file);
    record.u.file.path = path;
    record.u.file.request = request;
    record.u.file.fault = look.fault;
    record.u.file.what = or_null(look.what);
    record.u.file.size = look.size;
    record.u.file.needs = look.needs;
    t->sink.add(t->sink.ctx, &record);
}

static void tell_missing(struct telling *t, const struct startup_missing *m) {
    int64_t request = ++t->requests;
    struct wc_record record;
    const char *passed;

    wc_record_begin(&record, WC_KIND_failure);
    record.u.failure.request = request;
    record.u.failure.operation = WC_operation_NEEDED;
    record.u.failure.name = m->name;
    record.u.failure.caller = m->by->search.path;
    record.u.failure.caller_object = m->by->number;
    record.u.failure.inferred = true;
    t->sink.add(t->sink.ctx, &record);
    tell_search(t, m->name, m->by, NULL, request);
    for (size_t i = 0; (passed = wc_replay_passed(t->s->replay, i)); i++)
        tell_file(t, passed, request);
}

/* ---- all of it ---- */

static bool open_file(void *ctx, const char *path, const struct wc_elf_image **image) {
    struct telling *t = ctx;

    if (!disk_file_open(&t->file, path))
        return false;
    *image = t->file.is_elf ? &t->file.image : NULL;
    return true;
}

static void close_file(void *ctx) {
    disk_file_close(&((struct telling *)ctx)->file);
}

struct forwarding {
    struct telling t; /* first: it is the sink's context */
    void (*add)(void *ctx, struct wc_record *r);
    void *ctx;
};

static void forward(void *ctx, struct wc_record *r) {
    struct forwarding *f = ctx;

    f->add(f->ctx, r);
}

void startup_tell(struct startup *s, void (*add)(void *ctx, struct wc_record *r), void *ctx) {
    enum { SCRATCH = 64 << 10 };
    struct forwarding *f = must_allocate(sizeof(*f));

    f->add = add;
    f->ctx = ctx;
    f->t.s = s;
    f->t.sink =
        (struct wc_replay_sink){f, forward, open_file, close_file, must_allocate(SCRATCH), SCRATCH};
    for (size_t i = 0; i < s->n; i++)
        tell_object(&f->t, s->objects[i]);
    for (size_t i = 0; i < s->n; i++)
        if (s->objects[i]->number != WC_NULL && s->objects[i]->by)
            tell_search(&f->t, s->objects[i]->asked_name, s->objects[i]->by, s->objects[i],
                        WC_NULL);
    for (size_t i = 0; i < s->missing_count; i++)
        tell_missing(&f->t, &s->missing[i]);
    free(f->t.sink.scratch);
    free(f);
}
