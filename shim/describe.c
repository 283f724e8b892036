#include "describe.h"

#include "core/model/names.h"
#include "core/model/object.h"
#include "core/packages/identify.h"
#include "demands.h"
#include "files.h"
#include "identity.h"
#include "journal.h"
#include "memory.h"
#include "objects.h"
#include "packages.h"
#include "requests.h"
#include "searches.h"
#include "sys.h"
#include "view.h"

static char real_path[SYS_PATH];
static struct wc_object_room room;

/* ---- who asked ---- */

static struct request *request_that_fits(const struct object *o, const char **candidates,
                                         size_t *n) {
    struct request *r, *found = NULL;
    *n = 0;
    for (size_t i = 0; (r = requests_recent(i)); i++) {
        if (r->ended || !wc_name_fits(r->name, o->path, o->soname))
            continue;
        found = r;
        if (*n < 4)
            candidates[(*n)++] = r->name;
    }
    return *n == 1 ? found : NULL;
}

static void attribute(struct object *o, const char **candidates, size_t *n) {
    struct request *own = requests_open_of_thread(sys_gettid());
    struct request *r = own;
    *n = 0;
    if (!r || !wc_name_fits(r->name, o->path, o->soname))
        r = request_that_fits(o, candidates, n);
    if (r) {
        *n = 0;
        o->asked_how = r->operation;
        o->asked_by = r->caller;
        o->asked_by_object = r->caller_object;
        o->asked_name = wc_arena_string(&memory_arena, r->name);
        o->request = r->number;
        requests_log(r);
    } else if (o->asked_how == WC_operation_NEEDED && own) {
        o->request = own->number;
        requests_log(own);
    }
}

/* ---- the object's record ---- */

static void add_file_facts(struct object *o, struct wc_object_record *r) {
    struct wc_file_stat facts;
    if (shim_files.real_path(NULL, o->path, real_path, sizeof real_path))
        r->real_path = real_path;
    if (!shim_files.facts(NULL, o->path, &facts))
        return;
    r->device = (int64_t)(o->device = facts.device);
    r->inode = (int64_t)(o->inode = facts.inode);
    r->size = (int64_t)(o->file_size = facts.size);
    r->mtime = o->mtime = facts.mtime;
}

static void add_identity(struct object *o, const struct wc_elf_image *e,
                         struct wc_object_record *r) {
    struct wc_identity *id =
        identity_of(r->real_path ? r->real_path : o->path, e, o->role == WC_role_FACADE);
    if (!id)
        return;
    if (object_is_cudnn(o)) {
        if (!wc_version_known(id->version) && wc_version_known(o->asked_version)) {
            id->version = o->asked_version;
            id->version_source = WC_version_source_ASKED_NAMES;
        }
        if (o->major < 0 && id->version.major > 0)
            o->major = id->version.major;
    }
    wc_object_take_identity(r, id, &room);
}

static void add_base(const struct object *o, struct wc_object_record *r) {
    static char base[24];
    struct wc_text t;
    wc_text_begin(&t, base, sizeof base);
    wc_text_add(&t, "0x");
    wc_text_add_hex(&t, o->base);
    r->base = base;
}

static void begin_object(const struct object *o, struct wc_record *r) {
    wc_record_begin(r, WC_KIND_object);
    struct wc_object_record *out = &r->u.object;
    out->object = o->number;
    out->role = o->role;
    out->is_host = o->is_host;
    out->part = wc_str_or_null(o->part);
    out->mapped = o->mapped;
    out->path = o->path;
    out->asked_name = o->asked_name;
    out->asked_by = o->asked_by;
    out->asked_by_object = o->asked_by_object;
    out->asked_how = o->asked_how;
    out->request = o->request;
}

static void add_object(struct object *o, const struct wc_elf_image *e) {
    const char *candidates[4];
    size_t n;
    struct wc_record r;
    attribute(o, candidates, &n);
    begin_object(o, &r);
    if (n > 1) {
        r.u.object.candidates.p = candidates;
        r.u.object.candidates.n = n;
    }
    add_file_facts(o, &r.u.object);
    if (e) {
        wc_object_take_image(&r.u.object, e, &room);
        add_base(o, &r.u.object);
    }
    add_identity(o, e, &r.u.object);
    if (o->framework) {
        wc_object_take_framework(&r.u.object, o->framework, &shim_files,
                                 r.u.object.real_path ? r.u.object.real_path : o->path, &room);
        journal_open_relevant();
    }
    journal_add(&r);
    if (o->role != WC_role_OTHER)
        searches_emit_object(o);
}

static void add_unmapped(const struct object *o) {
    const struct wc_object *known = wc_stack_object(journal_stack(), o->number);
    struct wc_record r;
    if (!known)
        return;
    wc_record_begin(&r, WC_KIND_object);
    r.u.object = known->r;
    r.u.object.mapped = false;
    journal_add(&r);
}

/* ---- all of them ---- */

static void describe_with(struct object *o, const struct wc_elf_image *e) {
    const struct wc_object *known;
    add_object(o, e);
    known = wc_stack_object(journal_stack(), o->number);
    if (o->is_host || object_is_cudnn(o))
        packages_note(known && known->r.real_path ? known->r.real_path : o->path);
    if (!o->is_host)
        return;
    if (e)
        searches_emit_needed(o, e);
    demands_emit(o->number, o->path, known && known->r.real_path ? known->r.real_path : o->path, e);
}

/* Where the mapped object may vanish meanwhile. */
static void describe_from_file(struct object *o) {
    static struct view v;
    bool open = view_open(&v, o->path);
    const struct wc_elf_image *e = open ? view_image(&v, 0) : NULL;
    describe_with(o, open && !v.damaged ? e : NULL);
    if (open)
        view_close(&v);
}

/* What a segment is to have and the file does not is a SIGBUS to whoever touches it. The loader
 * maps it all the same. */
static bool is_whole(const struct object *o) {
    struct wc_file_stat facts;
    if (!shim_files.facts(NULL, o->path, &facts))
        return true; /* removed since: what is mapped stays */
    for (size_t i = 0; i < o->image.loads; i++)
        if (o->image.load[i].filesz > facts.size ||
            o->image.load[i].offset > facts.size - o->image.load[i].filesz)
            return false;
    return o->image.loads != 0;
}

static void describe(struct object *o, bool memory_stays) {
    o->described = true;
    if (object_is_emitted_enough(o))
        return;
    o->told++;
    if (!o->mapped) {
        add_unmapped(o);
    } else if (!is_whole(o)) {
        describe_with(o, NULL);
        journal_unobserved("what is in a library", "it is damaged", o->path);
    } else if (memory_stays) {
        describe_with(o, &o->image);
    } else {
        describe_from_file(o);
    }
}

void describe_news(bool memory_stays) {
    struct object *o;
    bool relevant = objects_have_relevant_news();
    if (relevant)
        journal_open_relevant();
    else if (objects_have_framework_news())
        journal_open_if_eager();
    if (!relevant && !journal_is_open())
        return;
    for (size_t i = 0; (o = objects_get(i)); i++)
        if (!o->described)
            describe(o, memory_stays);
    objects_emitted();
}

void describe_asked_version(struct object *facade, const char *asked) {
    const struct wc_object *known = wc_stack_object(journal_stack(), facade->number);
    char text[WC_VERSION_TEXT];
    struct wc_name name;
    struct wc_record r;
    wc_name_read(asked, &name);
    if (name.kind != WC_NAME_PART || name.version.patch < 0 ||
        wc_version_known(facade->asked_version))
        return;
    facade->asked_version = name.version;
    if (!known || known->r.version)
        return;
    wc_record_begin(&r, WC_KIND_object);
    r.u.object = known->r;
    r.u.object.version = wc_version_format(name.version, text);
    r.u.object.version_source = WC_version_source_ASKED_NAMES;
    journal_add(&r);
}
