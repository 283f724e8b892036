/* SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "core/base/hash.h"
#include "core/names/names.h"

#define WC_NEEDED_MOST 48
#define WC_SLOTS_NAMED 8

void wc_emit_unobserved(const struct wc_sink *to, const char *what, const char *why,
                        const char *path) {
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_unobserved);
    r.u.unobserved.what = what;
    r.u.unobserved.why = why;
    r.u.unobserved.path = path;
    to->add(to->ctx, &r);
}

/* ---- libraries ---- */

/* Three kinds of records have these fields. */
#define SET_INSTALLATION(record, id)                                                               \
    ((record)->installation_kind = (id)->installation_kind,                                        \
     (record)->installation = wc_str_or_null((id)->installation),                                  \
     (record)->installation_version = wc_str_or_null((id)->installation_version),                  \
     (record)->installation_path = wc_str_or_null((id)->installation_path))
#define SET_VERSION(record, id, text)                                                              \
    ((record)->version = wc_version_text((id)->version, text),                                     \
     (record)->version_source = (id)->version_source)
#define SET_RULE(record, found)                                                                    \
    ((record)->rule = (found)->rule, (record)->element = (found)->element,                         \
     (record)->index = (found)->element ? (int64_t)(found)->index : WC_NULL,                       \
     (record)->of = (found)->of ? (found)->of->path : NULL)

/* Nearly every library needs these. */
static bool is_everywhere(const char *name) {
    static const char *const names[] = {"libc.so.",      "libm.so.",     "libdl.so.",
                                        "librt.so.",     "libutil.so.",  "libgcc_s.so",
                                        "libpthread.so", "libstdc++.so", "ld-linux-"};
    return WC_ANY(row, WC_ROWS(names), wc_str_starts(name, *row));
}

static const char *format_hexadecimal(const unsigned char *p, size_t n, char *to, size_t cap) {
    struct wc_text t;
    wc_text_begin(&t, to, cap);
    for (size_t i = 0; i < n; i++) {
        wc_text_add_char(&t, "0123456789abcdef"[p[i] >> 4]);
        wc_text_add_char(&t, "0123456789abcdef"[p[i] & 15]);
    }
    return n ? to : NULL;
}

void wc_emit_object(const struct wc_sink *to, const struct wc_library *l,
                    const struct wc_strings *candidates) {
    const struct wc_elf_image *e = l->image;
    const struct wc_identity *id = l->identity;
    char build_id[72], base[24], version[4][WC_VERSION_TEXT];
    const char *needed[WC_NEEDED_MOST];
    struct wc_record r;
    struct wc_object_record *o = &r.u.object;
    wc_record_begin(&r, WC_KIND_object);
    o->object = l->number;
    o->role = l->role;
    o->is_host = l->role == WC_role_HOST;
    o->part = wc_str_or_null(l->name.part);
    o->mapped = l->mapped;
    o->path = l->path;
    o->real_path = l->real_path;
    o->device = l->device;
    o->inode = l->inode;
    o->size = l->size;
    o->mtime = l->mtime;
    if (e) {
        const char *name;
        o->needed.p = needed;
        for (size_t i = 0; o->needed.n < WC_NEEDED_MOST && (name = wc_elf_needed(e, i)); i++)
            if (!is_everywhere(name))
                needed[o->needed.n++] = name;
        o->soname = e->soname;
        o->symbol_version = wc_elf_defined_symbol_version(e);
        o->rpath = e->rpath;
        o->runpath = e->runpath;
        o->build_id = format_hexadecimal(e->build_id, e->build_id_size, build_id, sizeof build_id);
    }
    if (l->base != WC_NO_ADDRESS) {
        wc_str_format(base, sizeof base, "0x%jx", l->base);
        o->base = base;
    }
    if (id && wc_library_is_cudnn(l)) {
        SET_VERSION(o, id, version[0]);
        o->version_floor = wc_version_text(id->floor, version[1]);
        o->version_ceiling = wc_version_text(id->ceiling, version[2]);
        o->header_version = wc_version_text(id->header, version[3]);
    }
    if (id) {
        SET_INSTALLATION(o, id);
        o->mount = wc_str_or_null(id->mount);
    }
    o->framework = l->framework;
    o->gpu_library = l->gpu_library;
    o->required_by = l->required_by;
    o->asked_how = l->asked_how;
    o->asked_name = l->asked_name;
    o->asked_by = l->asked_by;
    o->asked_by_object = l->asked_by_object;
    o->request = l->request;
    if (candidates)
        o->candidates = *candidates;
    to->add(to->ctx, &r);
}

void wc_emit_known(const struct wc_sink *to, const struct wc_object_record *known, bool mapped,
                   struct wc_version asked) {
    char text[WC_VERSION_TEXT];
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_object);
    r.u.object = *known;
    r.u.object.mapped = mapped;
    if (wc_version_known(asked)) {
        r.u.object.version = wc_version_format(asked, text);
        r.u.object.version_source = WC_version_source_ASKED_NAMES;
    }
    to->add(to->ctx, &r);
}

void wc_emit_file(const struct wc_sink *to, const struct wc_library *l,
                  const struct wc_file_check *check, enum wc_search_rule rule) {
    char version[WC_VERSION_TEXT];
    struct wc_record r;
    struct wc_file_record *f = &r.u.file;
    wc_record_begin(&r, WC_KIND_file);
    f->path = l->path;
    f->real_path = l->real_path;
    f->link = l->link;
    f->request = l->request;
    f->rule = rule;
    f->fault = check->fault;
    f->content = wc_str_or_null(check->what);
    f->size = check->size;
    f->needs = check->needs;
    f->soname = l->image ? l->image->soname : NULL;
    if (l->identity)
        SET_INSTALLATION(f, l->identity);
    if (l->identity && l->image)
        SET_VERSION(f, l->identity, version);
    to->add(to->ctx, &r);
}

void wc_emit_binding(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_library *target, enum wc_binding_how how,
                     const struct wc_strings *functions, int64_t wrapped) {
    struct wc_record r;
    struct wc_binding_record *b = &r.u.binding;
    wc_record_begin(&r, WC_KIND_binding);
    b->host = host->number;
    b->host_path = host->path;
    b->target = target ? target->number : WC_NULL;
    b->target_path = target ? target->path : NULL;
    b->how = how;
    if (functions)
        b->functions = *functions;
    if (how == WC_binding_how_SLOT && b->functions.n > WC_SLOTS_NAMED) {
        b->function_count = (int64_t)b->functions.n;
        b->functions.n = WC_SLOTS_NAMED;
    }
    b->wrapped = wrapped;
    to->add(to->ctx, &r);
}

/* ---- searches ---- */

/* Reads what a candidate is, without loading it. Called for facades only: parts lie next to theirs.
 */
static void identify_candidate(struct wc_replay *r, const struct wc_reader *reader,
                               struct wc_candidate_record *c) {
    struct wc_library l;
    if (!reader->scratch || !reader->open(reader->ctx, c->path, &l))
        return;
    if (c->file_state != WC_file_state_FITS)
        l.image = NULL;
    wc_identify(r->files, c->real_path ? c->real_path : c->path, l.image, true, reader->scratch,
                reader->scratch_size, &r->identity);
    wc_str_copy(r->soname, sizeof r->soname, l.image ? l.image->soname : NULL);
    reader->close(reader->ctx);
    c->soname = wc_str_or_null(r->soname);
    SET_VERSION(c, &r->identity, r->version);
    SET_INSTALLATION(c, &r->identity);
}

static void emit_candidate(const struct wc_sink *to, struct wc_replay *r, int64_t search,
                           const struct wc_search_candidate *found,
                           const struct wc_reader *reader) {
    struct wc_record record;
    struct wc_candidate_record *c = &record.u.candidate;
    wc_record_begin(&record, WC_KIND_candidate);
    if (r->files->real_path(r->files->ctx, found->path, r->room, WC_SEARCH_PATH))
        c->real_path = r->room;
    c->search = search;
    c->path = found->path;
    SET_RULE(c, found);
    c->beaten = found->beaten;
    c->file_state = found->state;
    if (wc_name_kind_of(found->path) == WC_NAME_FACADE)
        identify_candidate(r, reader, c);
    to->add(to->ctx, &record);
}

void wc_emit_search(const struct wc_sink *to, const struct wc_search_question *q,
                    struct wc_replay *replay, const struct wc_reader *reader) {
    const struct wc_search_candidate *taken = replay->taken.c.path ? &replay->taken.c : NULL;
    struct wc_record r;
    struct wc_search_record *s = &r.u.search;
    wc_record_begin(&r, WC_KIND_search);
    r.u.search = q->r;
    s->index = WC_NULL;
    if (q->was_loaded) {
        s->rule = WC_search_rule_LOADED;
    } else if (q->by_replay && taken) {
        SET_RULE(s, taken);
    }
    s->takes = taken ? taken->path : NULL;
    s->searched = (struct wc_strings){replay->searched, replay->searched_count};
    r.cut = (int64_t)(replay->searched_more + replay->others_more);
    to->add(to->ctx, &r);
    if (q->was_loaded && taken)
        emit_candidate(to, replay, q->r.search, taken, reader);
    for (size_t i = 0; i < replay->others; i++)
        emit_candidate(to, replay, q->r.search, &replay->other[i].c, reader);
}

void wc_emit_preload(const struct wc_sink *to, int64_t search, const struct wc_preload *p,
                     int64_t object, const char *path) {
    struct wc_record r;
    struct wc_search_record *s = &r.u.search;
    wc_record_begin(&r, WC_KIND_search);
    s->search = search;
    s->name = wc_base_name(p->element);
    s->object = object;
    s->rule = WC_search_rule_PRELOAD;
    s->element = p->element;
    s->index = (int64_t)p->index;
    s->takes = path;
    to->add(to->ctx, &r);
}

/* ---- packages ---- */

void wc_emit_packages(const struct wc_sink *to, struct wc_environments *known, const char *path,
                      const struct wc_reader *reader) {
    uint64_t hash = wc_hash_bytes(WC_HASH_START, path, path ? wc_environment_length(path) : 0);
    if (!path || path[0] != '/' || known->n == WC_ENVIRONMENTS_MOST ||
        WC_ANY(one, WC_ITEMS(known->hash, known->n), *one == hash))
        return;
    known->hash[known->n++] = hash;
    for (int of_cuda = 0; reader->scratch && of_cuda <= known->cuda; of_cuda++)
        wc_packages_near(reader->files, path, of_cuda, &known->dpkg, reader->scratch,
                         reader->scratch_size, to);
}

void wc_emit_packages_wanted(const struct wc_sink *to, struct wc_environments *known,
                             struct wc_replay *replay, const char *name,
                             const struct wc_reader *reader) {
    if (!wc_name_is_cudnn(name))
        return;
    for (size_t i = 0; i < replay->searched_count; i++)
        wc_emit_packages(to, known, wc_replay_wanted(replay, i, name), reader);
}
