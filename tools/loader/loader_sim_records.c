/* The records of a replayed loading: see loader_sim.h. */
#include <stdlib.h>
#include <string.h>

#include "core/elf/file_check.h"
#include "core/model/names.h"
#include "loader_sim.h"

#define SCRATCH_SIZE ((size_t)64 << 10) /* what wc_identify asks for */

struct emitted_object {
    struct library_key key;
    int64_t number;
    UT_hash_handle hh;
};

struct emitting {
    struct loader_sim *g;
    struct loader_sim_emitter *t;
    struct wc_replay_sink sink;
    struct elf_file *candidate;
};

/* ---- objects ---- */

static bool matters(const struct library *b) {
    return b->role != WC_role_OTHER || b->framework;
}

/* The packages near files of one environment are the same. */
static bool is_new_environment(struct loader_sim_emitter *t, const char *path) {
    size_t n = wc_environment_length(path);

    for (size_t i = 0; i < t->environment_count; i++)
        if (strlen(t->environments[i]) == n && strncmp(t->environments[i], path, n) == 0)
            return false;
    t->environments =
        must_grow(t->environments, (t->environment_count + 1) * sizeof(*t->environments));
    t->environments[t->environment_count++] = must_format("%.*s", (int)n, path);
    return true;
}

/* Nothing of it is mapped any more, or yet; but that is where it is when it is. */
static void emit_object(struct emitting *s, struct loaded *o) {
    struct emitted_object *told;
    struct wc_object_record *r;
    struct wc_record record;
    struct elf_file *l;

    HASH_FIND(hh, s->t->told, &o->library->key, sizeof(o->library->key), told);
    if (told) {
        o->number = told->number;
        return;
    }
    l = library_cache_elf_file(s->g->library_cache, o->library);
    if (!l)
        return;
    o->number = ++s->t->objects;
    elf_file_object(l, &record);
    r = &record.u.object;
    r->object = o->number;
    r->role = o->library->role;
    r->is_host = r->role == WC_role_HOST;
    r->path = o->search.path;
    r->asked_name = o->by ? o->asked_name : NULL;
    r->asked_by = o->by ? o->by->search.path : NULL;
    r->asked_by_object = o->by ? o->by->number : WC_NULL;
    r->asked_how = o->how;
    s->t->add(s->t->ctx, &record);
    if (r->is_host)
        elf_file_demands(l, o->number, s->t->add, s->t->ctx);
    if ((r->is_host || wc_kind_is_cudnn(wc_name_kind_of(o->search.path))) &&
        is_new_environment(s->t, o->library->real_path))
        elf_file_packages(l, s->t->add, s->t->ctx);
    library_cache_elf_file_end(o->library, l);
    told = must_allocate(sizeof(*told));
    told->key = o->library->key;
    told->number = o->number;
    HASH_ADD(hh, s->t->told, key, sizeof(told->key), told);
}

/* ---- searches ---- */

static void emit_search(struct emitting *s, const char *name, const struct loaded *by,
                        const struct loaded *got, int64_t request) {
    struct wc_record record;
    struct wc_search_record *r = &record.u.search;
    struct loader_sim *g = s->g;

    /* That the loader has tried a directory in vain counts for its own search alone. */
    g->search.memory = NULL;
    g->search.loaded = NULL;
    wc_replay_run(g->replay, &g->search, by ? &by->search : NULL, name, g->scratch,
                  WC_SEARCH_SCRATCH);
    wc_record_begin(&record, WC_KIND_search);
    r->search = ++s->t->searches;
    r->name = name;
    r->caller = by ? by->search.path : NULL;
    r->caller_object = by ? by->number : WC_NULL;
    r->request = request;
    r->object = got ? got->number : WC_NULL;
    if (!got && wc_kind_is_cudnn(wc_name_kind_of(name))) {
        for (char *const *v = g->environment; *v; v++)
            wc_replay_root(g->replay, *v);
        for (size_t i = 0; i < g->n; i++)
            wc_replay_site(g->replay, g->objects[i]->search.path);
        wc_replay_copies(g->replay, name, by ? by->search.path : "");
    }
    wc_replay_emit(g->replay, &record, got != NULL, &s->sink);
}

/* ---- what is missing ---- */

static const char *or_null(const char *s) {
    return s[0] ? s : NULL;
}

/* The loader ends at a file that is damaged, and passes over one for another machine. */
static void emit_file(struct emitting *s, const char *path, int64_t request) {
    struct wc_file_check elf_file;
    struct wc_record record;

    if (!wc_file_check(&s->g->library_cache->disk.files, path, s->g->search.machine, &elf_file))
        return;
    wc_record_begin(&record, WC_KIND_file);
    record.u.file.path = path;
    record.u.file.request = request;
    record.u.file.fault = elf_file.fault;
    record.u.file.content = or_null(elf_file.what);
    record.u.file.size = elf_file.size;
    record.u.file.needs = elf_file.needs;
    s->t->add(s->t->ctx, &record);
}

static void emit_missing(struct emitting *s, const struct loader_sim_missing *m) {
    int64_t request = ++s->t->requests;
    struct wc_record record;
    const char *passed;

    wc_record_begin(&record, WC_KIND_failure);
    record.u.failure.request = request;
    record.u.failure.operation = m->how;
    record.u.failure.name = m->name;
    record.u.failure.caller = m->by ? m->by->search.path : NULL;
    record.u.failure.caller_object = m->by ? m->by->number : WC_NULL;
    record.u.failure.inferred = true;
    s->t->add(s->t->ctx, &record);
    emit_search(s, m->name, m->by, NULL, request);
    for (size_t i = 0; (passed = wc_replay_passed(s->g->replay, i)); i++)
        emit_file(s, passed, request);
}

/* ---- all of it ---- */

static bool open_candidate(void *ctx, const char *path, const struct wc_elf_image **image) {
    struct emitting *s = ctx;

    s->candidate = elf_file_open(&s->g->library_cache->disk, path);
    if (!s->candidate)
        return false;
    *image = s->candidate->error == WC_ELF_OK ? &s->candidate->image : NULL;
    return true;
}

static void close_candidate(void *ctx) {
    elf_file_close(((struct emitting *)ctx)->candidate);
}

static void add(void *ctx, struct wc_record *r) {
    struct emitting *s = ctx;

    s->t->add(s->t->ctx, r);
}

/* Which facade it gets: what it needs or opens by name, else the first that its process has. */
static const struct loaded *facade_of(const struct loader_sim *g, const struct loaded *host) {
    const char **const lists[] = {host->library->needed, host->library->opens};

    for (size_t k = 0; k < 2; k++)
        for (const char **name = lists[k]; name && *name; name++)
            for (size_t i = 0; i < g->n; i++) {
                const struct loaded *o = g->objects[i];
                if (o->library->role != WC_role_FACADE)
                    continue;
                if (wc_str_same(o->search.soname, *name))
                    return o;
                for (const char *const *n = o->names; n && *n; n++)
                    if (strcmp(*n, *name) == 0)
                        return o;
            }
    for (size_t i = 0; i < g->n; i++)
        if (g->objects[i]->library->role == WC_role_FACADE)
            return g->objects[i];
    return NULL;
}

static void emit_binding(struct emitting *s, const struct loaded *host) {
    const struct loaded *facade = facade_of(s->g, host);
    struct wc_record record;

    if (!facade || facade->number == WC_NULL)
        return;
    wc_record_begin(&record, WC_KIND_binding);
    record.u.binding.host = host->number;
    record.u.binding.host_path = host->search.path;
    record.u.binding.target = facade->number;
    record.u.binding.target_path = facade->search.path;
    s->t->add(s->t->ctx, &record);
}

void loader_sim_emit(struct loader_sim *g, struct loader_sim_emitter *t) {
    struct emitting s = {.g = g, .t = t};
    int64_t known = t->objects;

    s.sink = (struct wc_replay_sink){
        &s, add, open_candidate, close_candidate, must_allocate(SCRATCH_SIZE), SCRATCH_SIZE};
    for (size_t i = 0; i < g->n; i++)
        if (matters(g->objects[i]->library))
            emit_object(&s, g->objects[i]);
    for (size_t i = 0; i < g->n; i++)
        if (g->objects[i]->number > known && g->objects[i]->asked_name &&
            !strchr(g->objects[i]->asked_name, '/'))
            emit_search(&s, g->objects[i]->asked_name, g->objects[i]->by, g->objects[i], WC_NULL);
    for (size_t i = 0; i < g->n; i++)
        if (g->objects[i]->number > known && g->objects[i]->library->role == WC_role_HOST)
            emit_binding(&s, g->objects[i]);
    for (size_t i = 0; i < g->missing_count; i++)
        if (wc_name_kind_of(g->missing[i].name) != WC_NAME_OTHER ||
            (g->missing[i].by && g->missing[i].by->library->role != WC_role_OTHER))
            emit_missing(&s, &g->missing[i]);
    free(s.sink.scratch);
}

void loader_sim_emitter_end(struct loader_sim_emitter *t) {
    struct emitted_object *told, *next;

    HASH_ITER(hh, t->told, told, next) {
        HASH_DEL(t->told, told);
        free(told);
    }
    for (size_t i = 0; i < t->environment_count; i++)
        free(t->environments[i]);
    free(t->environments);
}
