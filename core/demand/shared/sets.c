/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which library belongs to which, which release it is, and for which CUDA it is made: which library
 * a host's calls end in, which parts work for which facade. Several facades in one process are
 * usual, and a framework's own stubs may stand between.
 */
#include "core/demand/finding.h"
#include "core/packages/identify.h"

enum { LAYERS_MOST = 4, CHAIN_MOST = 8, USES_MOST = 4, HOSTS_MOST = 256 };

/* ---- a facade's parts ---- */

static bool same_major(const struct wc_object *a, const struct wc_object *b) {
    int32_t x = wc_major_of(a), y = wc_major_of(b);

    return x < 0 || y < 0 || x == y;
}

/* The first cuDNN facade on the way from a part to its requester. */
static const struct wc_object *asking_facade(const struct wc_stack *s, const struct wc_object *o) {
    for (int i = 0; o && i < CHAIN_MOST; i++) {
        o = wc_object_of(s, o->r.asked_by_object, o->r.asked_by);
        if (o && o->r.role == WC_role_FACADE)
            return o;
    }
    return NULL;
}

/* How many facades could a part that cuDNN did not request work for? near: in its installation. */
static size_t rivals(const struct wc_stack *s, const struct wc_object *part, bool near) {
    size_t n = 0;

    WC_EACH(o, s->objects)
        n += o->r.role == WC_role_FACADE && o->r.mapped && same_major(o, part) &&
             (!near || wc_same_installation(o, part));
    return n;
}

bool wc_in_set(const struct wc_stack *s, const struct wc_object *part,
               const struct wc_object *facade) {
    if (part->r.role != WC_role_PART || (facade->r.mapped && !part->r.mapped))
        return false;
    const struct wc_object *asking = asking_facade(s, part);
    if (asking)
        return asking == facade;
    if (!same_major(part, facade))
        return false;
    return rivals(s, part, false) < 2 ||
           (wc_same_installation(part, facade) && rivals(s, part, true) < 2);
}

const struct wc_object *wc_facade_of(const struct wc_stack *s, const struct wc_object *library) {
    if (!library || library->r.role == WC_role_FACADE)
        return library;
    const struct wc_object *asking = asking_facade(s, library);
    if (asking)
        return asking;
    return WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE && wc_in_set(s, library, o));
}

/* ---- a host's libraries ---- */

struct uses {
    const struct wc_object *p[USES_MOST];
    size_t n;
};

/* A facade that is still mapped beats one that is gone, a facade beats a part: what is weaker than
 * what is there is not taken, what is stronger replaces it. */
static int strength(const struct wc_object *o) {
    return 2 * o->r.mapped + (o->r.role == WC_role_FACADE);
}

static void add(struct uses *out, const struct wc_object *library) {
    if (WC_ANY(known, *out, *known == library))
        return;
    if (out->n && strength(library) > strength(out->p[0]))
        out->n = 0;
    if (out->n < USES_MOST && (!out->n || strength(library) == strength(out->p[0])))
        out->p[out->n++] = library;
}

/* host -> its framework's stubs -> facade: follows up to LAYERS_MOST layers. */
static void by_bindings(const struct wc_stack *s, const struct wc_object *host, int layers,
                        struct uses *out) {
    const struct wc_object *via = NULL;

    WC_EACH(b, s->bindings) {
        if (!wc_is_binding_of(b, host))
            continue;
        const struct wc_object *target = wc_object_of(s, b->r.target, b->r.target_path);
        if (wc_is_cudnn(target))
            add(out, target);
        else if (target && target != host)
            via = target;
    }
    if (out->n || !via)
        return;
    if (layers > 0)
        by_bindings(s, via, layers - 1, out);
    for (size_t i = 0; !out->n && i < s->objects.n; i++)
        if (wc_is_cudnn(&s->objects.p[i]) &&
            wc_brought_by(s, &s->objects.p[i], via->r.object, via->r.path))
            add(out, &s->objects.p[i]);
}

static struct uses uses_of(const struct wc_stack *s, const struct wc_object *host) {
    struct uses out = {.n = 0};

    by_bindings(s, host, LAYERS_MOST, &out);
    if (!out.n)
        WC_EACH(o, s->objects)
            if (wc_is_cudnn(o) && wc_means(host, o->r.asked_by_object, o->r.asked_by))
                add(&out, o);
    if (!out.n)
        WC_EACH(o, s->objects)
            if (wc_is_cudnn(o) && WC_ANY(name, host->r.needed,
                                         *name && (wc_str_same(*name, o->r.soname) ||
                                                   wc_str_same(*name, o->r.asked_name))))
                add(&out, o);
    /* cuDNN linked into the host itself, or requested without success: another one's facade is none
     * of its business. */
    if (!out.n &&
        !WC_ANY(b, s->bindings, b->r.how == WC_binding_how_ITSELF && wc_is_binding_of(b, host)) &&
        !WC_ANY(f, s->failures,
                wc_name_kind_of(f->r.name) == WC_NAME_FACADE &&
                    wc_means(host, f->r.caller_object, f->r.caller))) {
        WC_EACH(o, s->objects)
            if (o->r.role == WC_role_FACADE)
                add(&out, o);
        out.n = out.n > 1 ? 0 : out.n; /* the only one */
    }
    return out;
}

void wc_find_uses(struct wc_diagnosis *d) {
    size_t hosts = 0;

    WC_EACH(o, d->s->objects)
        hosts += wc_wants_cudnn(o);
    hosts = hosts < HOSTS_MOST ? hosts : HOSTS_MOST;
    d->uses.p = hosts ? wc_arena_take(d->scratch, hosts * USES_MOST * sizeof *d->uses.p) : NULL;
    d->out->lost += hosts && !d->uses.p;
    WC_EACH(host, d->s->objects) {
        if (!d->uses.p || !hosts || !wc_wants_cudnn(host))
            continue;
        hosts--;
        struct uses uses = uses_of(d->s, host);
        WC_EACH(library, uses)
            d->uses.p[d->uses.n++] = (struct wc_use){host, *library};
    }
}

/* ---- versions, as ranges ---- */

/* What a file is, and what cudnnGetVersion would say. Unknown
 * fields make a range wide, never a guess. Greatest fields that CUDNN_VERSION has room for: one
 * digit for the minor before 9, two since. */
enum { NEW_NUMBERS = 9, PATCH_MOST = 99, MINOR_MOST = 99, OLD_MINOR_MOST = 9 };

static struct wc_range range_between(struct wc_version low, struct wc_version high,
                                     const char *source) {
    const int32_t minor = high.major < NEW_NUMBERS ? OLD_MINOR_MOST : MINOR_MOST;
    struct wc_range r = {.low = wc_version_filled(low, 0, 0),
                         .high = wc_version_filled(high, minor, PATCH_MOST),
                         .floor = low,
                         .ceiling = high,
                         .source = source};

    if (!wc_version_known(r.low) || !wc_version_known(r.high))
        r.low = r.high = WC_VERSION_NONE;
    else
        r.exact = wc_version_compare(r.low, r.high) == 0;
    return r;
}

struct wc_range wc_exactly(struct wc_version v) {
    return (struct wc_range){.low = v, .high = v, .floor = v, .ceiling = v, .exact = true};
}

static const char *source_word(enum wc_version_source source) {
    return wc_enum_word(WC_ENUM_version_source, source);
}

/* Seen with 9.1.0 over the graph part of 9.28.0 and with 8.9.2 over the ops_infer of 8.5.0. */
const char *wc_answering_part(int32_t major) {
    return major >= 9 ? "graph" : major == 8 ? "ops_infer" : NULL;
}

static struct wc_range by_bounds(const struct wc_object *o) {
    int32_t major = wc_major_of(o);
    struct wc_version low = o->floor, high = o->ceiling, bare = {major, -1, -1, -1};
    bool bounded = wc_version_known(low) || wc_version_known(high);

    if (major >= 0 && !wc_version_known(low))
        low = bare;
    if (major >= 0 && !wc_version_known(high))
        high = bare;
    return range_between(low, high, bounded ? source_word(WC_version_source_EXPORTS) : "SONAME");
}

struct wc_range wc_own_range(const struct wc_object *o) {
    struct wc_range bounds = by_bounds(o), told;

    /* The number that such a facade returned is not its own. */
    if (!wc_version_known(o->version) ||
        (o->r.role == WC_role_FACADE && wc_answering_part(o->version.major) &&
         o->r.version_source == WC_version_source_RETURNED))
        return bounds;
    told = range_between(o->version, o->version, source_word(o->r.version_source));
    return wc_version_is_claim(o->r.version_source) && !wc_ranges_meet(told, bounds) ? bounds
                                                                                     : told;
}

struct wc_range wc_seen_range(const struct wc_object *o) {
    return wc_version_is_claim(o->r.version_source) ? by_bounds(o) : wc_own_range(o);
}

bool wc_ranges_meet(struct wc_range a, struct wc_range b) {
    if (!wc_version_known(a.low) || !wc_version_known(b.low))
        return true;
    return wc_version_compare(a.low, b.high) <= 0 && wc_version_compare(b.low, a.high) <= 0;
}

const char *wc_format_range(struct wc_case *c, struct wc_range r) {
    char low[WC_VERSION_TEXT], high[WC_VERSION_TEXT];
    bool no_least = r.floor.minor < 0, no_greatest = r.ceiling.minor < 0;

    wc_version_format(r.floor, low);
    wc_version_format(r.ceiling, high);
    if (!wc_version_known(r.low))
        return "unknown";
    if (no_least && no_greatest)
        return wc_format(c, "%s (which release is unknown)", low);
    if (wc_str_same(low, high))
        return wc_format(c, "%s", low);
    if (no_greatest)
        return wc_format(c, "%s or newer", low);
    if (no_least)
        return wc_format(c, "%s or older", high);
    return wc_format(c, "between %s and %s", low, high);
}

const char *wc_format_own(struct wc_case *c, const struct wc_object *o) {
    return wc_format_range(c, wc_own_range(o));
}

/* A toolkit's file has it in its name, a wheel's package in its version. */
const char *wc_cuda_release(struct wc_case *c, const struct wc_object *o) {
    struct wc_name n = wc_name_read(wc_real_path_of(o));

    if (n.version.minor >= 0)
        return wc_format_version(c, n.version);
    return o->r.installation_kind == WC_installation_kind_CUDA_TOOLKIT ? NULL
                                                                       : o->r.installation_version;
}

/* ---- what cudnnGetVersion says ---- */

/* A stub of a framework returns 0 while it has not found cuDNN. */
static struct wc_version returned_by(const struct wc_stack *s, const struct wc_object *library) {
    for (size_t i = s->calls.n; i > 0; i--) {
        const struct wc_call_record *r = &s->calls.p[i - 1].r;
        if (r->phase == WC_phase_AFTER && r->returned_version > 0 &&
            wc_str_same(r->function, "cudnnGetVersion") &&
            wc_means(library, r->target, r->target_path))
            return wc_version_from_number((uint64_t)r->returned_version);
    }
    return WC_VERSION_NONE;
}

/* Which part answers follows from the facade's major, and from the part's own where that is not
 * known. */
static bool answers(const struct wc_object *part, const struct wc_object *facade) {
    int32_t major = wc_major_of(facade);

    return part->r.role == WC_role_PART &&
           wc_str_same(part->r.part, wc_answering_part(major < 0 ? wc_major_of(part) : major));
}

struct wc_runtime wc_runtime_of(const struct wc_stack *s, const struct wc_object *library) {
    struct wc_runtime r = {.predicted = false};
    struct wc_version returned = returned_by(s, library);
    const struct wc_object *facade = wc_facade_of(s, library);
    const struct wc_object *part =
        WC_FIRST(o, s->objects, facade && answers(o, facade) && wc_in_set(s, o, facade));

    if (wc_version_known(returned)) {
        r.range = range_between(returned, returned, source_word(WC_version_source_RETURNED));
        return r;
    }
    const bool by_part = part && wc_own_range(part).exact;
    r.decided_by = by_part ? part : facade ?: library;
    r.range = wc_own_range(r.decided_by);
    r.predicted = !by_part && wc_answering_part(wc_major_of(r.decided_by)) &&
                  !answers(r.decided_by, r.decided_by);
    return r;
}

void wc_case_runtime(struct wc_case *c, const struct wc_runtime *runtime) {
    wc_case_fact_from(c, WC_FACT_RUNTIME_VERSION, wc_format_range(c, runtime->range),
                      runtime->range.source);
}

/*
 * For which CUDA major a cuDNN or a host is made: the CUDA dependencies that it names, those that
 * it asked for, its package. CUDA dependencies say theirs by their names
 * (core/knowledge/names.def).
 */

enum { LEAST_WITH_MINOR = 65 }; /* cu65 was 6.5: from here on the last digit is the minor */

enum way { NEEDED, ASKED, PACKAGE, WAYS };
static const char *const sources[WAYS] = {"DT_NEEDED", "names it asked for", "package"};

int32_t wc_cuda_of(const struct wc_object *o) {
    if (o->r.role != WC_role_CUDA_DEPENDENCY || !o->r.mapped)
        return -1;
    const int32_t cuda = wc_name_cuda(o->r.soname);
    return cuda > 0 ? cuda : wc_name_cuda(o->r.path);
}

int32_t wc_cuda_of_dependencies(const struct wc_stack *s) {
    const struct wc_object *first = WC_FIRST(o, s->objects, wc_cuda_of(o) > 0);

    return first ? wc_cuda_of(first) : -1;
}

int32_t wc_cuda_in_package(const char *text) {
    const char *p = text;

    while (p && (p = wc_str_find(p, "cu"))) {
        uint64_t n;
        p += wc_str_starts(p, "cuda") ? 4 : 2;
        p += *p == '-';
        size_t digits = wc_parse_number(p, wc_str_length(p), &n);
        if (digits == 2 || digits == 3)
            return (int32_t)(n < LEAST_WITH_MINOR ? n : n / 10);
    }
    return -1;
}

bool wc_asked_by_cudnn(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_object *o = wc_caller_of(s, f);

    return o ? wc_is_cudnn(o) : wc_name_is_cudnn(f->r.caller);
}

/* What o says it by; NULL, or a text without a CUDA: it does not show it in this way. */
static const char *said_by(const struct wc_stack *s, const struct wc_object *o, enum way way) {
    if (way == NEEDED) {
        WC_EACH(name, o->r.needed)
            if (wc_name_cuda(*name) > 0)
                return *name;
        return NULL;
    }
    /* Debian's package of cuDNN 8 has it in the version: 8.9.3.28-1+cuda12.1; so have wheels. */
    if (way == PACKAGE)
        return wc_cuda_in_package(o->r.installation) > 0 ? o->r.installation
                                                         : o->r.installation_version;
    /* Asked for by it and loaded, or without success. */
    WC_EACH(other, s->objects) {
        const struct wc_object_record *r = &other->r;
        if (r->role == WC_role_CUDA_DEPENDENCY && wc_means(o, r->asked_by_object, r->asked_by) &&
            r->asked_how != WC_operation_NEEDED && wc_name_cuda(r->asked_name) > 0)
            return r->asked_name;
    }
    WC_EACH(f, s->failures)
        if (wc_is_load(f) && wc_means(o, f->r.caller_object, f->r.caller) &&
            wc_name_cuda(f->r.name) > 0)
            return f->r.name;
    return NULL;
}

static struct wc_cuda claim_of(const struct wc_stack *s, const struct wc_object *o, enum way way) {
    const char *by = said_by(s, o, way);
    int32_t major = way == PACKAGE ? wc_cuda_in_package(by) : wc_name_cuda(by);

    return (struct wc_cuda){major > 0 ? major : -1, by, sources[way], o, false};
}

static bool belongs_to(const struct wc_stack *s, const struct wc_object *o,
                       const struct wc_object *facade) {
    return o == facade || /* a part of another release from elsewhere says nothing of it */
           (wc_in_set(s, o, facade) && (wc_same_installation(o, facade) ||
                                        wc_ranges_meet(wc_own_range(o), wc_own_range(facade))));
}

struct wc_cuda wc_cuda_of_set(const struct wc_stack *s, const struct wc_object *facade) {
    for (enum way way = NEEDED; way < WAYS; way++)
        WC_EACH(o, s->objects)
            if (belongs_to(s, o, facade) && claim_of(s, o, way).major > 0)
                return claim_of(s, o, way);
    return (struct wc_cuda){.major = -1};
}

struct wc_cuda wc_cuda_of_host(const struct wc_stack *s, const struct wc_object *host) {
    struct wc_cuda cuda = claim_of(s, host, NEEDED);

    if (cuda.major <= 0)
        cuda = claim_of(s, host, PACKAGE);
    if (cuda.major > 0)
        return cuda;
    WC_EACH(d, s->demands) { /* nvidia-cudnn-cu12; of several CUDAs each is for an option */
        int32_t major = wc_cuda_in_package(d->r.package);
        if (major <= 0 || !wc_is_demand_by(d, host))
            continue;
        if ((cuda.major > 0 && cuda.major != major) ||
            WC_ANY(p, s->packages, p->r.shared_with.n > 0)) /* whose files there are is not known */
            return (struct wc_cuda){.major = -1};
        cuda = (struct wc_cuda){major, d->r.package, d->r.source, host, true};
    }
    return cuda;
}

void wc_case_cuda(struct wc_case *c, const struct wc_object *facade) {
    const struct wc_stack *s = c->d->s;
    const char *told = NULL;

    for (enum way way = NEEDED; way < WAYS; way++)
        WC_EACH(o, s->objects) {
            struct wc_cuda cuda = claim_of(s, o, way);
            if (!belongs_to(s, o, facade) || cuda.major <= 0 || wc_str_same(told, cuda.by))
                continue;
            told = cuda.by;
            wc_case_fact_from(c, WC_FACT_MADE_FOR,
                              wc_format(c, "CUDA %d: %s, %s", cuda.major, cuda.by,
                                        wc_format_name(c, wc_path_of(o))),
                              cuda.source);
        }
}
