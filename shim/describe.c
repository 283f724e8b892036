#include "describe.h"

#include "files.h"
#include "journal.h"
#include "memory.h"
#include "objects.h"
#include "packages.h"
#include "requests.h"
#include "searches.h"
#include "sys.h"
#include "view.h"
#include "whichcudnn/compat.h"
#include "whichcudnn/identify.h"
#include "whichcudnn/names.h"
#include "whichcudnn/object.h"
#include "whichcudnn/symbols.h"

static char real_path[SYS_PATH];
static struct wc_object_room room;

/* ---- who asked ---- */

static struct request *request_that_fits(const struct object *o, const char **candidates,
                                         size_t *n) {
    struct request *r, *found = NULL;
    *n = 0;
    for (size_t i = 0; (r = requests_recent(i)); i++) {
        if (r->ended || !requests_name_fits(r->name, o->path, o->soname))
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
    if (!r || !requests_name_fits(r->name, o->path, o->soname))
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

static const char *or_null(const char *s) {
    return s[0] ? s : NULL;
}

static void add_file_facts(struct object *o, struct wc_object_record *r) {
    struct wc_file_facts facts;
    if (shim_files.real_path(NULL, o->path, real_path, sizeof real_path))
        r->real_path = real_path;
    if (!shim_files.facts(NULL, o->path, &facts))
        return;
    r->device = (int64_t)(o->device = facts.device);
    r->inode = (int64_t)(o->inode = facts.inode);
    r->size = (int64_t)(o->file_size = facts.size);
    r->mtime = o->mtime = facts.mtime;
}

static const char *version_text(struct wc_version v, char *to) {
    return wc_version_known(v) ? wc_version_format(v, to) : NULL;
}

static void add_identity(struct object *o, const struct wc_elf_image *e,
                         struct wc_object_record *r) {
    static struct wc_identity id;
    void *scratch = memory_scratch_file();
    if (!scratch)
        return;
    wc_identify(&shim_files, r->real_path ? r->real_path : o->path, e, o->role == WC_role_FACADE,
                scratch, SCRATCH_FILE, &id);
    if (object_is_cudnn(o)) {
        if (!wc_version_known(id.version) && wc_version_known(o->asked_version)) {
            id.version = o->asked_version;
            id.version_source = WC_version_source_ASKED_NAMES;
        }
        if (o->major < 0 && id.version.major > 0)
            o->major = id.version.major;
    }
    wc_object_take_identity(r, &id, &room);
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
    out->part = or_null(o->part);
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
        searches_tell_object(o);
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

/* ---- a host's demands ---- */

static void begin_demand(struct wc_record *r, const struct object *host, enum wc_demand_kind kind,
                         const char *source) {
    wc_record_begin(r, WC_KIND_demand);
    r->u.demand.host = host->number;
    r->u.demand.host_path = host->path;
    r->u.demand.demand_kind = kind;
    r->u.demand.source = source;
    r->u.demand.source_path = host->path;
}

static void add_major(const struct object *host, enum wc_demand_kind kind, const char *source,
                      const char *name) {
    char spec[32];
    struct wc_text t;
    struct wc_name read;
    struct wc_record r;
    wc_name_read(name, &read);
    /* libcudnn.so.7.0 is cuDNN 3, numbered after CUDA. */
    if (read.kind != WC_NAME_FACADE || read.version.major <= 0 || read.version.minor >= 0)
        return;
    wc_text_begin(&t, spec, sizeof spec);
    wc_text_add(&t, "==");
    wc_text_add_int(&t, read.version.major);
    wc_text_add(&t, ".*");
    begin_demand(&r, host, kind, source);
    r.u.demand.spec = spec;
    journal_add(&r);
}

struct imports {
    int functions;
    struct wc_release_range range;
    const char *node; /* version node that they ask for */
    const char *newest[8];
    size_t newest_count;
};

/* Keeps the names whose first release is the newest of all. */
static void note_newest(struct imports *in, int function) {
    struct wc_version before = in->range.floor;
    wc_release_range_imports(&in->range, function);
    struct wc_version first = wc_function_first(function);
    if (wc_version_compare(in->range.floor, before) != 0)
        in->newest_count = 0;
    if (wc_version_compare(first, in->range.floor) == 0 && in->newest_count < 8)
        in->newest[in->newest_count++] = wc_function_name(function);
}

static void read_imports(const struct wc_elf_image *e, struct imports *in) {
    uint32_t end = wc_elf_imports_end(e);
    wc_mem_set(in, 0, sizeof *in);
    in->range.floor = in->range.ceiling = WC_VERSION_NONE;
    for (uint32_t i = 1; i < end; i++) {
        const char *name = wc_elf_symbol_name(e, i);
        struct wc_elf_symbol s;
        int function;
        if (!name || name[0] != 'c' || !wc_str_starts(name, "cudnn") ||
            (function = wc_function_find(name)) == WC_NO_FUNCTION || !wc_elf_symbol_at(e, i, &s) ||
            s.defined)
            continue;
        in->functions++;
        in->node = in->node ? in->node : s.version;
        note_newest(in, function);
    }
}

static void add_symbols(const struct object *host, const struct imports *in) {
    char spec[WC_VERSION_TEXT + 4], version[WC_VERSION_TEXT];
    struct wc_text t;
    struct wc_record r;
    begin_demand(&r, host, WC_demand_kind_SYMBOLS, "imported functions");
    wc_text_begin(&t, spec, sizeof spec);
    wc_text_join(&t, ">=", wc_version_format(in->range.floor, version), NULL);
    r.u.demand.spec = wc_version_known(in->range.floor) ? spec : NULL;
    r.u.demand.functions = in->functions;
    r.u.demand.newest_functions.p = in->newest;
    r.u.demand.newest_functions.n = in->newest_count;
    journal_add(&r);
}

static void add_image_demands(const struct object *host, const struct wc_elf_image *e) {
    struct imports in;
    const char *needed;
    for (size_t i = 0; (needed = wc_elf_needed(e, i)); i++)
        add_major(host, WC_demand_kind_NEEDED, "DT_NEEDED", needed);
    read_imports(e, &in);
    if (in.node)
        add_major(host, WC_demand_kind_NODE, "version node of its imports", in.node);
    if (in.functions)
        add_symbols(host, &in);
}

/* Of a library that nobody loaded, by what it holds or is called. False: it does not tell. */
static bool version_of_file(const char *path, char version[WC_VERSION_TEXT]) {
    static struct wc_elf_image image;
    static struct wc_identity id;
    void *scratch = memory_scratch_file();
    struct wc_name name;
    struct view v;
    wc_name_read(path, &name);
    if (!scratch || !view_open(&v, path))
        return false;
    bool good = wc_elf_from_pieces(&image, v.bytes, v.size, 0, view_fetch, &v) == WC_ELF_OK;
    wc_identify(&shim_files, path, good ? &image : NULL, name.kind == WC_NAME_FACADE, scratch,
                SCRATCH_FILE, &id);
    view_close(&v);
    return good && !v.damaged && version_text(id.version, version);
}

static void add_metadata_demand(const struct object *host, struct wc_metadata_demand *d) {
    struct wc_version framework = WC_VERSION_NONE;
    struct wc_record r;
    if (d->by_file && !version_of_file(d->source_path, d->built))
        return;
    begin_demand(&r, host, d->kind, d->source);
    r.u.demand.spec = or_null(d->spec);
    r.u.demand.package = or_null(d->package);
    r.u.demand.built = or_null(d->built);
    r.u.demand.framework = or_null(d->framework);
    r.u.demand.framework_version = or_null(d->framework_version);
    r.u.demand.source_path = or_null(d->source_path);
    wc_version_parse_start(d->framework_version, wc_str_length(d->framework_version), &framework);
    r.u.demand.rule = wc_rule_name(wc_rule_of_framework(d->framework, framework));
    journal_add(&r);
}

static void add_metadata_demands(const struct object *host) {
    static struct wc_metadata_demand found[4];
    void *scratch = memory_scratch_file();
    const struct wc_object *known = wc_stack_object(journal_stack(), host->number);
    const char *path = known && known->r.real_path ? known->r.real_path : host->path;
    size_t n = scratch ? wc_metadata_demands(&shim_files, path, scratch, SCRATCH_FILE, found,
                                             sizeof found / sizeof *found)
                       : 0;
    for (size_t i = 0; i < n; i++)
        add_metadata_demand(host, &found[i]);
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
    if (e) {
        add_image_demands(o, e);
        searches_tell_needed(o, e);
    }
    add_metadata_demands(o);
}

/* Where the mapped object may vanish meanwhile. */
static void describe_from_file(struct object *o) {
    static struct wc_elf_image image;
    struct view v;
    if (!view_open(&v, o->path)) {
        describe_with(o, NULL);
        return;
    }
    bool good = wc_elf_from_pieces(&image, v.bytes, v.size, 0, view_fetch, &v) == WC_ELF_OK;
    describe_with(o, good && !v.damaged ? &image : NULL);
    view_close(&v);
}

/* What a segment is to have and the file does not is a SIGBUS to whoever touches it. The loader
 * maps it all the same. */
static bool is_whole(const struct object *o) {
    struct wc_file_facts facts;
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
    if (object_is_told_enough(o))
        return;
    o->told++;
    if (!o->mapped) {
        add_unmapped(o);
    } else if (!is_whole(o)) {
        describe_with(o, NULL);
        journal_blind("what is in a library", "it is damaged", o->path);
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
    objects_told();
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
