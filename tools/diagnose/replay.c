/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "core/base/hash.h"
#include "core/demand/questions.h"
#include "core/knowledge/frameworks.h"
#include "core/knowledge/programs.h"
#include "tools/observe/loader/library_cache.h"
#include "tools/observe/loader/loader_sim.h"

/* ---- what the process asked for ---- */

static bool is_dlopen(enum wc_operation how) {
    return how == WC_operation_DLOPEN || how == WC_operation_DLMOPEN;
}

static void add_request(struct replay *r, enum wc_operation how, int64_t seq, int64_t request,
                        const char *name, const char *caller) {
    const struct source_request *known =
        WC_FIRST(q, r->source->requests, request != WC_NULL && q->r.request == request);

    if (!name || !is_dlopen(how) || (caller && strcmp(wc_base_name(caller), WC_OWN_NAME) == 0))
        return;
    if ((request != WC_NULL || r->source->type == SOURCE_SCAN) &&
        WC_ANY(q, r->requests, q->request == request && strcmp(q->name, name) == 0))
        return;
    *MUST_ADD(r->requests.p, r->requests.n) = (struct replay_request){
        .seq = seq,
        .request = request,
        .name = name,
        .caller = caller,
        .failure = WC_FIRST(f, r->source->stack.failures,
                            is_dlopen(f->r.operation) && f->r.request == request &&
                                wc_str_same(f->r.name, name)),
        .for_all = !known || known->r.flags == WC_NULL || (known->r.flags & RTLD_GLOBAL),
        .by_known_library = wc_name_kind_of(caller) != WC_NAME_OTHER};
}

WC_COMPARE(by_order, struct replay_request,
           x->request != WC_NULL && y->request != WC_NULL && x->request != y->request
               ? WC_ORDER(x->request, y->request)
               : WC_ORDER(x->seq, y->seq));

/* What loaded a host, and its loader, and so on. */
static const struct wc_object *root_of(const struct wc_stack *s, const struct wc_object *o) {
    for (int i = 0; o && i < 8; i++) {
        const struct wc_object *by = wc_object_of(s, o->r.asked_by_object, o->r.asked_by);
        if (!by || by == o || o->r.asked_how != WC_operation_NEEDED)
            break;
        o = by;
    }
    return o;
}

/* Nothing of a scan has asked for anything: each host is loaded by itself. */
static void find_hosts(struct replay *r) {
    const struct wc_stack *s = &r->source->stack;

    WC_EACH(o, s->objects) {
        const struct wc_object *root = o->r.is_host || o->r.framework ? root_of(s, o) : NULL;
        const bool by_loader =
            root && root->r.asked_by && (root != o || root->r.asked_how == WC_operation_NEEDED);
        const char *path = by_loader ? root->r.asked_by : root ? root->r.path : NULL;
        if (path && root->r.asked_how != WC_operation_START)
            add_request(r, WC_operation_DLOPEN, o->seq, WC_NULL, path, NULL);
        else if (path && r->requests.n == 0) /* the program itself */
            *MUST_ADD(r->requests.p, r->requests.n) =
                (struct replay_request){.name = path, .request = WC_NULL};
    }
    WC_EACH(f, s->failures) /* of a host that could not be loaded, so is not an object */
        if (f->r.caller && f->r.caller[0] == '/' && f->r.operation != WC_operation_DLOPEN &&
            !wc_object_of(s, f->r.caller_object, f->r.caller))
            add_request(r, WC_operation_DLOPEN, f->seq, WC_NULL, f->r.caller, NULL);
}

static void find_requests(struct replay *r) {
    const struct wc_stack *s = &r->source->stack;

    WC_EACH(q, r->source->requests)
        if (!(q->r.flags & RTLD_NOLOAD)) /* which searches for nothing; not known: WC_NULL */
            add_request(r, q->r.operation, q->seq, q->r.request, q->r.name, q->r.caller);
    WC_EACH(f, s->failures)
        add_request(r, f->r.operation, f->seq, f->r.request, f->r.name, f->r.caller);
    WC_EACH(o, s->objects)
        add_request(r, o->r.asked_how, o->seq, o->r.request, o->r.asked_name, o->r.asked_by);
    /* What unpacks its libraries (PyInstaller, Java) removes them at its end. The program asks for
     * what such a file missed. */
    for (struct replay_request *q = r->requests.p; q < r->requests.p + r->requests.n; q++) {
        const char *file = !q->failure ? NULL : q->failure->needs ? q->name : q->caller;
        if (!file || !strchr(file, '/') || library_cache_get(r->library_cache, file, NULL))
            continue;
        q->gone = file;
        q->name = wc_missing_of(q->failure);
        q->caller = s->process.executable;
        q->by_known_library = false;
    }
    SORT(r->requests, by_order);
}

/* ---- names that a variable begins ---- */

bool replay_names_by(const char *variable, const char *element, size_t n, const char *name,
                     const char *caller) {
    static const char standard[] = "/usr/local/cuda";
    const bool of_modules = wc_str_starts(variable, REPLAY_MODULES "=");

    if (wc_str_starts(variable, "LD_") || wc_str_starts(variable, "WHICHCUDNN_") ||
        element[0] != '/' || strncmp(name, element, n) != 0 || (name[n] && name[n] != '/'))
        return false;
    return of_modules ||
           !((n == strlen(standard) && strncmp(element, standard, n) == 0) ||
             strstr(name + n, "-packages/") || (caller && wc_is_below(caller, element, n)));
}

/* ---- one play ---- */

#define format(p, ...) wc_arena_format(&(p)->r->memory.arena, __VA_ARGS__)

struct play {
    struct replay *r;
    const struct wc_stack *s; /* of the process */
    struct overlay overlay;
    struct loader_sim sim;
    struct loader_sim_emitter emitter;
    const struct edits *edits;
    struct outcome *out;
    struct wc_sink sink; /* of the new source */
    bool first;
};

static bool is_path_of(const struct loaded *o, const char *path) {
    return wc_str_same(o->about.path, path) || wc_str_same(o->about.real_path, path);
}

static bool is_object(const struct loaded *o, const struct wc_object *known) {
    return is_path_of(o, known->r.path) || is_path_of(o, known->r.real_path);
}

/* or_same: or, as after an edit, another file of that library: "libcudnn_graph.so.9.1.0",
 * "libcudnn_graph.so.9". */
static const struct loaded *loaded_as(const struct play *p, const char *path, bool or_same) {
    const struct library *file = path ? library_cache_get(p->r->library_cache, path, NULL) : NULL;
    const struct loaded *same = NULL;

    for (size_t i = 0; path && i < p->sim.n; i++) {
        const struct loaded *o = p->sim.objects[i];
        if (is_path_of(o, path) || (file && o->library == file))
            return o;
        if (!same && or_same && wc_name_kind_of(path) != WC_NAME_OTHER &&
            (wc_name_fits(path, o->about.path, o->search.soname) ||
             wc_same_library(path, o->search.soname ?: o->about.path, true)))
            same = o;
    }
    return same;
}

/* The model of the process knows it for a host. */
static void mark_hosts(struct play *p, size_t from) {
    for (size_t i = from; i < p->sim.n; i++) {
        struct loaded *o = p->sim.objects[i];
        if (o->about.role == WC_role_OTHER &&
            WC_ANY(host, p->s->objects, host->r.is_host && is_object(o, host)))
            o->about.role = WC_role_HOST;
    }
}

static const struct loaded *caller_of(struct play *p, const char *path) {
    const struct loaded *o = path ? loaded_as(p, path, true) : p->sim.program;
    const size_t objects = p->sim.n;

    if (o || !path || wc_name_kind_of(path) != WC_NAME_OTHER)
        return o;
    o = loader_sim_open(&p->sim, path, NULL);
    mark_hosts(p, objects);
    return o;
}

/* That object itself, or one that is loaded with it; not what it opens by itself later. */
static bool is_needed_by(const struct loaded *one, const struct loaded *o) {
    while (one && one != o && one->about.asked_how == WC_operation_NEEDED)
        one = one->by;
    return one == o;
}

static struct replay_got got_of(const struct play *p, const struct loaded *o, size_t objects,
                                size_t missing) {
    struct replay_got got = {WC_HASH_START, WC_HASH_START,    true,
                             missing,       p->sim.missing.n, objects};
    bool fails = !o;

    if (o)
        got.files = wc_hash_bytes(got.files, &o->library, sizeof(o->library));
    for (size_t i = objects; i < p->sim.n; i++)
        if (is_needed_by(p->sim.objects[i], o))
            got.files = wc_hash_bytes(got.files, &p->sim.objects[i]->library, sizeof(o->library));
    for (size_t i = missing; i < p->sim.missing.n; i++) {
        const struct loader_sim_missing *m = &p->sim.missing.p[i];
        got.missing = wc_hash_text(got.missing, m->name);
        fails = fails || ((m->how == WC_operation_NEEDED || m->damaged) && is_needed_by(m->by, o));
    }
    if (fails)
        got.files = 0;
    return got;
}

/* It had a facade, which no host had used yet. */
static bool is_idle(const struct wc_stack *s) {
    return wc_first_facade(s) && !WC_ANY(o, s->objects, o->r.role == WC_role_PART && o->r.mapped);
}

/* Of two facades in a process each asks for what its own host needs; not so where one of them was
 * preloaded and is no more. */
static bool is_of_another(const struct play *p, const struct loaded *by, const char *caller) {
    return by->about.role == WC_role_FACADE &&
           WC_ANY(
               o, p->s->objects,
               o->r.role == WC_role_FACADE && wc_means(o, WC_NULL, caller) && !is_object(by, o) &&
                   (o->r.asked_how != WC_operation_PRELOAD || loaded_as(p, wc_path_of(o), false)));
}

/* A facade asks for parts when it first needs them: those that it asked for in the process, and
 * always the part that answers for its version. */
static bool opens_part(void *play, const struct loaded *by, const char *name) {
    const struct play *p = play;
    struct wc_name part = wc_name_read(name), own = wc_name_read(by->search.soname);
    const char *answering = wc_answering_part(own.version.major);
    const struct replay_request *asked =
        WC_FIRST(q, p->r->requests, wc_str_same(wc_name_read(q->name).part, part.part));

    /* A host opens it first, by its own search path; or a program opens some part by itself, which
     * fails, before its facade has opened any: what that would open later does not help. */
    if ((asked && !asked->by_known_library && !asked->failure) ||
        (is_idle(p->s) &&
         WC_ANY(q, p->r->requests,
                q->failure && !q->by_known_library && wc_name_kind_of(q->name) == WC_NAME_PART)))
        return false;
    if (wc_str_same(part.part, answering))
        return true;
    /* One that the loader refused for a symbol is refused without an edit: see is_refused(). */
    if (p->first && WC_ANY(q, p->r->requests,
                           q->failure && q->failure->said.symbol && is_path_of(by, q->caller) &&
                               wc_str_same(wc_name_read(q->name).part, part.part)))
        return false;
    return (!is_idle(p->s) && !WC_ANY(o, p->s->objects, is_object(by, o))) ||
           WC_ANY(q, p->r->requests,
                  wc_str_same(wc_name_read(q->name).part, part.part) &&
                      !is_of_another(p, by, q->caller)) ||
           WC_ANY(o, p->s->objects,
                  wc_str_same(o->r.part, part.part) && o->r.mapped &&
                      !is_of_another(p, by, o->r.asked_by));
}

/* Whatever its name. */
static bool was_missed(void *play, const char *name) {
    const struct wc_stack *s = ((const struct play *)play)->s;

    return WC_ANY(f, s->failures, wc_str_same(wc_missing_of(f), name) && wc_was_the_end(s, f));
}

static bool has_directory(struct play *p, const char *root, size_t n, const char *rest) {
    return wc_is_directory(&p->r->library_cache->disk.files,
                           format(p, "%.*s%.*s", (int)n, root, (int)wc_dir_length(rest), rest));
}

/* Where Python finds a module: in the first place of a list that has its folder, then in an
 * environment. gone: where it was. */
static const char *first_place(struct play *p, const char *list, const char *gone, size_t n,
                               const char *rest) {
    WC_EACH_ELEMENT(e, list, ":")
        if (has_directory(p, e.p, e.n, rest))
            return format(p, "%.*s%s", (int)e.n, e.p, rest);
    WC_EACH(q, p->r->requests) {
        const size_t site = wc_environment_length(q->name);
        if (!wc_is_below(q->name, gone, n) && has_directory(p, q->name, site, rest))
            return format(p, "%.*s%s", (int)site, q->name, rest);
    }
    return format(p, "%.*s-is-not-searched%s", (int)n, gone, rest);
}

/* What a host asks for once the variable that the name begins with has another value. */
static const char *name_now(struct play *p, const char *name, const char *caller) {
    WC_EACH(text, p->s->process.environment) {
        const size_t n = strcspn(*text, "=");
        const char *value = (*text)[n] ? *text + n + 1 : NULL;
        const char *now = loader_variable((char *const *)p->overlay.environment.p,
                                          format(p, "%.*s", (int)n, *text));
        WC_EACH_ELEMENT(e, !name || wc_str_same(value, now) ? NULL : value, ":") {
            if (!replay_names_by(*text, e.p, e.n, name, caller))
                continue;
            return now && !strchr(value, ':') && !strchr(now, ':')
                       ? format(p, "%s%s", now, name + e.n)
                       : first_place(p, now, e.p, e.n, name + e.n);
        }
    }
    return name;
}

/* Parts for another CUDA ask for its libraries by other names. */
static const char *name_for(struct play *p, const struct replay_request *q,
                            const struct loaded *by) {
    struct wc_name name = wc_name_read(q->name);
    const int32_t asked = wc_name_cuda(q->name);
    struct wc_library l = by ? by->about : (struct wc_library){.path = NULL};
    int32_t cuda = -1;

    if (p->first || !q->by_known_library || !by || name.kind != WC_NAME_CUDA_DEPENDENCY ||
        asked < 11 || !library_identify(p->r->library_cache, by->library, &l))
        return q->name;
    if (l.identity)
        cuda = wc_cuda_in_package(l.identity->installation);
    if (cuda < 0)
        cuda = library_cuda_named(p->r->library_cache, by->library);
    return cuda < 11 || cuda == asked ? q->name : format(p, "lib%s.so.%d", name.part, cuda);
}

static bool is_refused(struct play *p, struct replay_request *q, const struct loaded *o,
                       const struct replay_got *got) {
    const struct wc_said *said = q->failure ? &q->failure->said : NULL;
    /* The loader refused it for a function: that depends on what was loaded before, and on what
     * sees it, not on the files of the request. Of cuDNN's any that is missing counts. */
    const bool unseen =
        o && said && !q->by_known_library && said->symbol && !said->version &&
        loader_sim_unseen(&p->sim, o, wc_is_function_of_cudnn(said->symbol) ? NULL : said->symbol);

    /* Of a symbol version it is another library's, which is in the sim's own check then. */
    const char *unmet = said && said->version ? wc_base_name(said->library ?: said->version) : NULL;
    const struct loaded *of = unmet ? loader_sim_answering(&p->sim, unmet, false) : NULL;

    if (p->first) {
        q->first = *got;
        /* Which functions of others another release of a part needs is not known. */
        q->refused = q->failure && got->files &&
                     !(q->by_known_library && said->symbol && !said->version &&
                       !wc_is_function_of_cudnn(said->symbol));
        q->unseen = q->refused && unseen;
        q->unmet = of ? of->library : NULL;
    }
    if (!q->refused || unseen)
        return q->refused;
    return !q->unseen && got->files == q->first.files && (!of || of->library == q->unmet);
}

/* Is it one of several that a call (onnxruntime.preload_dlls) opens one after another? */
static bool is_of_call(const struct play *p, const struct replay_request *q) {
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->preloaded, file)
            if (strcmp(wc_base_name(row->file), q->name) != 0 &&
                WC_ANY(other, p->r->requests,
                       wc_str_same(other->caller, q->caller) &&
                           strcmp(wc_base_name(other->name), wc_base_name(row->file)) == 0))
                return true;
    return false;
}

/* By ctypes a package asks for a bare name only where no file of its environment was there: the one
 * that is there now; NULL: none. The loader may have found another file by that name. */
static char *file_before(struct play *p, struct replay_request *q) {
    char *file = NULL;

    if (!q->elsewhere && !strchr(q->name, '/') && q->caller &&
        wc_program_is(q->caller, WC_PROGRAM_LIBRARY) && (q->failure || is_of_call(p, q)))
        for (const struct replay_request *of = p->r->requests.p; !file && of < q; of++)
            file = package_file(&p->r->library_cache->disk.files, of->name, q->name);
    q->elsewhere = q->elsewhere || (p->first && file && !q->failure);
    return file;
}

/* Another name for what is got now by the one before: for a part, or for a facade by a host that
 * ended well without one. */
static bool is_needless(const struct play *p, const struct replay_request *q) {
    const struct wc_name asked = wc_name_read(q->name);

    WC_EACH(before, p->r->requests) {
        const struct wc_name one = wc_name_read(before->name);
        if (before == q || !q->failure || !q->caller)
            return false;
        if (before->failure && replay_got_by(p->r, p->out, before)->files &&
            wc_str_same(before->caller, q->caller) && one.kind == asked.kind &&
            (one.kind == WC_NAME_PART ? wc_str_same(one.part, asked.part)
                                      : one.kind == WC_NAME_FACADE && wc_ended_well(p->s)))
            return true;
    }
    return false;
}

static void ask(struct play *p, struct replay_request *q) {
    OWNED char *file = file_before(p, q);
    struct replay_request moved = *q;
    struct replay_got *got = &p->out->got[q - p->r->requests.p];
    const struct edit *other = WC_FIRST(e, *p->edits,
                                        e->kind == EDIT_OPEN && wc_str_same(e->name, q->name) &&
                                            wc_program_is(q->caller, WC_PROGRAM_LIBRARY));
    const bool needless = is_needless(p, q) || (other && !other->value);

    moved.name = other && other->value ? other->value : name_now(p, q->name, q->caller);
    moved.caller = name_now(p, q->caller, q->caller);
    if (moved.name != q->name || moved.caller != q->caller)
        q = &moved;
    const struct loaded *by = caller_of(p, q->caller);
    const size_t objects = p->sim.n, missing = p->sim.missing.n;
    /* The parts of a facade are asked for by the facade that is there, by names of its own, as far
     * as its file has them, however its path is spelt. */
    const bool own_affair =
        q->by_known_library && wc_name_kind_of(q->name) == WC_NAME_PART &&
        (!by || ((!by->library->opens || by->library->opens->text[0]) &&
                 (!q->failure ||
                  !(is_path_of(by, q->caller) ||
                    library_cache_get(p->r->library_cache, q->caller, NULL) == by->library))));
    if ((q->caller && !by) || own_affair || needless) {
        got->files = WC_HASH_START; /* it is not requested */
        return;
    }
    p->sim.missing_from = missing;
    const struct loaded *o =
        loader_sim_open(&p->sim, file && !q->elsewhere ? file : name_for(p, q, by), by);
    p->sim.ended = false;
    /* After an edit, another library may have that version without the function, and one that was
     * elsewhere may lack it. */
    if (!p->first && q->failure &&
        (q->failure->said.version || wc_name_kind_of(wc_missing_of(q->failure)) == WC_NAME_OTHER))
        loader_sim_check_versions(&p->sim, objects);
    mark_hosts(p, objects);
    *got = got_of(p, o, objects, missing);
    if (is_refused(p, q, o, got))
        got->files = 0;
    if (!got->files && p->r->source->type != SOURCE_SCAN)
        loader_sim_undo(&p->sim, objects);
    else if (o && q->for_all)
        loader_sim_of(&p->sim, o->library)->for_all = true;
}

bool replay_lies_in_module(const char *path, const char *module) {
    OWNED char *folder = must_format("/%s/", module);
    OWNED char *grafted = must_format("/%s.libs/", module);

    return path && (strstr(path, folder) || strstr(path, grafted) ||
                    strcmp(wc_base_name(path), module) == 0);
}

static void ask_all(struct play *p) {
    for (size_t i = 0; i < p->overlay.first.n; i++)
        loader_sim_open(&p->sim, p->overlay.first.p[i], NULL);
    for (int before = 1; before >= 0; before--)
        WC_EACH(q, p->r->requests)
            if (WC_ANY(module, p->overlay.first_asked,
                       replay_lies_in_module(q->name, *module) ||
                           replay_lies_in_module(q->caller, *module)) == before)
                ask(p, &p->r->requests.p[q - p->r->requests.p]);
}

/* ---- its records ---- */

/* The request that failed in the process, and fails now for that library. same: for the same
 * libraries as then: it is reported as the process printed it. Else for another one, of which the
 * loader would name the first, in the words by which findings know it. NULL: there is none. */
static const struct replay_request *request_of(struct play *p, const struct wc_failure_record *f,
                                               bool same) {
    WC_EACH(q, p->r->requests) {
        const struct replay_got *got = replay_got_by(p->r, p->out, q);
        if (!q->failure || !got->asked || got->files ||
            (same ? q->refused || q->first.missing != got->missing
                  : f->text || f->operation != WC_operation_NEEDED))
            continue;
        for (size_t k = got->from; k < got->to && (same || k == got->from); k++) {
            const struct loader_sim_missing *m = &p->sim.missing.p[k];
            if (strcmp(m->name, f->name) == 0 && (same || m->by) &&
                wc_str_same(m->by ? m->by->about.path : NULL, f->caller))
                return q;
        }
    }
    return NULL;
}

static void emit_files(struct play *p, const struct wc_failure *f, int64_t request) {
    WC_EACH(file, p->s->files) {
        struct wc_record record = {.kind = WC_KIND_file, .u.file = file->r};
        if (file->r.request != f->r.request || !file->r.path)
            continue;
        record.u.file.request = request;
        p->sink.add(p->sink.ctx, &record);
    }
}

static int64_t number_of(const struct play *p, const char *path) {
    const struct loaded *o = loaded_as(p, path, false);

    return o ? o->about.number : WC_NULL;
}

/* A failure of the process, by which request it has now. */
static struct wc_record as_now(const struct play *p, const struct wc_failure *f, int64_t request) {
    struct wc_record record = {.kind = WC_KIND_failure, .u.failure = f->r};

    record.u.failure.request = request;
    record.u.failure.caller_object = number_of(p, f->r.caller);
    return record;
}

/* What is missing is numbered in its order, behind all objects: a facade was asked for after what
 * its request, and those before it, had missed. */
static int64_t asked_behind(const struct play *p, int64_t object) {
    int64_t request = WC_NULL;

    WC_EACH(q, p->r->requests) {
        const struct replay_got *got = replay_got_by(p->r, p->out, q);
        for (size_t k = got->objects; got->asked && k < p->sim.n; k++) {
            const int64_t after = p->emitter.requests + (int64_t)got->from + 1;
            if (p->sim.objects[k]->about.number == object && after > request)
                request = after;
        }
    }
    return request;
}

static void take(void *play, struct wc_record *r) {
    struct play *p = play;
    const struct replay_request *same = NULL, *other = NULL;
    OWNED char *words = NULL;

    if (r->kind == WC_KIND_object && r->u.object.role == WC_role_FACADE)
        r->u.object.request = asked_behind(p, r->u.object.object);
    if (r->kind == WC_KIND_object && !r->u.object.version) {
        /* Of the same file the process may have shown it. */
        struct wc_object_record *object = &r->u.object;
        const struct wc_object *shown =
            WC_FIRST(o, p->s->objects,
                     o->r.version && o->r.inode != WC_NULL && o->r.inode == object->inode &&
                         o->r.device == object->device && o->r.mtime == object->mtime);
        if (shown) {
            object->version = shown->r.version;
            object->version_source = shown->r.version_source;
        }
    }
    if (r->kind == WC_KIND_search) {
        /* What the process has set since its start counts for none of its searches. */
        struct wc_search_record *search = &r->u.search;
        const char *path =
            loader_variable((char *const *)p->overlay.environment.p, "LD_LIBRARY_PATH");
        const struct wc_searched *own =
            WC_FIRST(f, p->s->searches,
                     f->r.later_path && wc_str_same(f->r.name, search->name) &&
                         wc_str_same(f->r.caller, search->caller));
        if (own && strcmp(own->r.later_path, path ?: "") != 0) {
            search->later_path = own->r.later_path;
            search->later_takes = own->r.later_takes;
        }
    }
    if (r->kind == WC_KIND_failure) {
        const struct wc_failure_record *now = &r->u.failure;
        same = request_of(p, now, true);
        other = same ? NULL : request_of(p, now, false);
        words = other ? loader_sim_not_found(now->name) : NULL;
        /* Of a program that ended before it ran the loader named the file that needs it, which may
         * be another copy now. */
        const struct wc_failure *was =
            same ? same->failure
            : other
                ? other->failure
                : WC_FIRST(f, p->s->failures,
                           f->r.operation == WC_operation_NEEDED && f->r.name && f->r.text &&
                               now->operation == WC_operation_NEEDED && now->caller &&
                               wc_str_same(wc_base_name(f->r.name), wc_base_name(now->caller)) &&
                               wc_str_same(wc_missing_of(f), now->name));
        if (was) {
            const char *by = now->caller;
            *r = as_now(p, was, r->u.failure.request);
            if (!same && !other)
                r->u.failure.name = r->u.failure.caller = by;
        }
        if (words)
            r->u.failure.text = words;
    }
    p->sink.add(p->sink.ctx, r);
    if (same)
        emit_files(p, same->failure, r->u.failure.request);
}

/* Functions that were looked up and not found, of a library that does not have them. */
static bool has_function(struct play *p, const struct wc_failure_record *f) {
    const struct loaded *host = loaded_as(p, f->caller, false);
    const struct loaded *facade = host ? host->facade : NULL;

    for (size_t i = 0; !facade && i < p->sim.n; i++)
        if (p->sim.objects[i]->about.role == WC_role_FACADE)
            facade = p->sim.objects[i];
    return !facade || library_defines(p->r->library_cache, facade->library, f->function);
}

static void emit(struct play *p) {
    struct elf_reader reader;
    struct wc_record record;

    if (p->r->source->type != SOURCE_SCAN)
        loader_sim_emit(&p->sim, &p->emitter);
    /* The packages that the process had near: those of a host that was not loaded, too. */
    elf_reader_begin(&reader, &p->r->library_cache->disk);
    WC_EACH(file, p->s->files)
        wc_emit_packages(&p->emitter.to, &p->emitter.environments, file->r.path, &reader.reader);
    WC_EACH(failure, p->s->failures)
        wc_emit_packages(&p->emitter.to, &p->emitter.environments, failure->r.caller,
                         &reader.reader);
    WC_EACH(package, p->s->packages) {
        OWNED char *near = must_format("%s/lib/libcudnn.so", package->r.installation_path);
        if (package->r.installation_path)
            wc_emit_packages(&p->emitter.to, &p->emitter.environments, near, &reader.reader);
    }
    WC_EACH(q, p->r->requests)
        if (q->refused && !replay_got_by(p->r, p->out, q)->files) {
            record = as_now(p, q->failure, ++p->emitter.requests);
            p->sink.add(p->sink.ctx, &record);
            emit_files(p, q->failure, record.u.failure.request);
        }
    WC_EACH(f, p->s->failures) {
        record = as_now(p, f, f->r.request);
        if (f->r.function && !has_function(p, &f->r))
            p->sink.add(p->sink.ctx, &record);
    }
    if (p->first) /* what no file says: it was expected, or printed */
        WC_EACH(d, p->s->demands)
            if (!WC_ANY(known, p->out->source->stack.demands,
                        known->r.demand_kind == d->r.demand_kind &&
                            wc_str_same(known->r.source, d->r.source) &&
                            wc_str_same(known->r.host_path, d->r.host_path)))
                *MUST_ADD(p->r->stated.p, p->r->stated.n) = d;
    WC_EACH(d, p->r->stated) {
        record = (struct wc_record){.kind = WC_KIND_demand, .u.demand = (*d)->r};
        record.u.demand.host = number_of(p, (*d)->r.host_path);
        if (!WC_ANY(e, *p->edits, e->kind == EDIT_UNSET && wc_str_same(e->name, (*d)->r.source)))
            p->sink.add(p->sink.ctx, &record);
    }
}

/* Does an object import a function of a library that neither the other one of that name nor
 * anything else has? What is bound when it is called is not missed before. */
static bool lacks_function(struct play *p, struct library *by, struct library *was,
                           struct library *now) {
    struct library_cache *w = p->r->library_cache;
    const struct library_import *i = library_imports(w, by);

    while (i->name && (!library_defines(w, was, i->name) || library_defines(w, now, i->name) ||
                       loader_sim_defines(&p->sim, NULL, i->name, true)))
        i++;
    return i->name;
}

/* What a host imports of cuDNN's is compared as such (missing-symbols); not what an edit puts there
 * (nvidia-cublas reinstalled, over the libcublas of a toolkit). */
static const char *find_shadowing(struct play *p) {
    WC_EACH(was, p->r->first) {
        const char *soname = (*was)->search.soname;
        const bool counts = soname && !wc_name_is_cudnn(soname);
        WC_EACH(now, WC_ITEMS(p->sim.objects, counts ? p->sim.n : 0))
            if ((*now)->library != *was && wc_str_same((*now)->search.soname, soname) &&
                !library_is_put(p->r->library_cache, &(*now)->about) &&
                WC_ANY(by, WC_ITEMS(p->sim.objects, p->sim.n),
                       lacks_function(p, (*by)->library, *was, (*now)->library)))
                return (*now)->about.path;
    }
    return NULL;
}

/* How calls went and the process ended: some findings count only where it did badly. */
static void add_end(struct play *p) {
    const struct wc_stack *s = p->s;
    const struct wc_object *had = wc_driver_library(s),
                           *has = wc_driver_library(&p->out->source->stack);
    struct wc_record outcome = {.kind = WC_KIND_outcome, .u.outcome = s->outcome};

    if (had && has && !wc_str_same(wc_real_path_of(had), wc_real_path_of(has)))
        outcome.u.outcome.printed.n = 0; /* CUDA's errors may be of the other one */
    WC_EACH(call, s->calls) {
        struct wc_record one = {.kind = WC_KIND_call, .u.call = call->r};
        one.u.call.host = one.u.call.target = WC_NULL;
        one.u.call.returned_version = WC_NULL;
        if (wc_sort_of_call(s, &call->r) == WC_STATUS_VERSIONS_DIFFER)
            one.u.call.target_path = NULL; /* about the contents of files, which no replay shows */
        wc_stack_apply(&p->out->source->stack, &one);
    }
    if (s->has_outcome)
        wc_stack_apply(&p->out->source->stack, &outcome);
    p->out->source->stack.outcome.printed = outcome.u.outcome.printed; /* by the command, too */
    p->out->source->stack.command_ended = s->command_ended;
    p->out->source->stack.command_failed = s->command_failed;
    p->out->source->stack.command_signal = s->command_signal;
    p->out->source->stack.is_kept = s->is_kept;
    p->out->source->stack.beside = s->beside;
}

/* ---- all of it ---- */

static bool is_program(struct replay *r, const char *path) {
    const struct library *b =
        path && path[0] == '/' ? library_cache_get(r->library_cache, path, NULL) : NULL;

    return b && b->interpreter;
}

/* A loader that was started as a program ("ld.so PROGRAM") is none itself. */
static const char *program_of(struct replay *r) {
    const char *executable = r->source->stack.process.executable;

    if (!executable || is_program(r, executable) || strncmp(wc_base_name(executable), "ld", 2) != 0)
        return executable;
    const struct replay_request *by = WC_FIRST(q, r->requests, is_program(r, q->caller));
    return by ? by->caller : executable;
}

static bool begin_sim(struct play *p) {
    const struct loader_sim_opens opens = {opens_part, was_missed, p, p->r->in_turn};

    if (!loader_sim_begin(&p->sim, p->r->library_cache, program_of(p->r),
                          (char *const *)p->overlay.environment.p,
                          p->r->source->type == SOURCE_SCAN ? NULL : &opens))
        return false;
    for (size_t i = 0; i < p->sim.n; i++) /* by the mount, which no file shows */
        if (WC_ANY(file, p->s->files,
                   file->r.fault == WC_file_fault_NO_EXECUTION &&
                       is_path_of(p->sim.objects[i], file->r.path)))
            loader_sim_refuse(&p->sim, i, EPERM);
    mark_hosts(p, 0);
    return true;
}

static void run_scan(struct play *p) {
    for (size_t i = 0; i < p->r->requests.n; i++) {
        if (i > 0 && !begin_sim(p))
            return;
        WC_EACH(o, p->s->objects) /* that a framework opens before its own */
            if (o->r.asked_how == WC_operation_DLOPEN && !o->r.asked_by && !o->r.is_host &&
                o->r.path && wc_kind_is_ours(wc_name_kind_of(o->r.path)))
                loader_sim_open(&p->sim, o->r.path, NULL);
        ask(p, &p->r->requests.p[i]);
        loader_sim_check_symbols(&p->sim, false);
        loader_sim_emit(&p->sim, &p->emitter);
        p->out->got[i].asked = false; /* of another sim */
        if (i + 1 < p->r->requests.n)
            loader_sim_end(&p->sim);
    }
}

static void run(struct play *p) {
    const struct source *source = p->r->source;
    struct outcome *out = p->out;
    struct wc_record process = {.kind = WC_KIND_process, .u.process = source->stack.process};
    struct wc_record machine = {.kind = WC_KIND_machine, .u.machine = source->stack.machine};

    process.u.process.environment =
        (struct wc_strings){p->overlay.environment.p, p->overlay.environment.n};
    out->source = source_new(source->type, source->path);
    out->source->stack.replayed = source->stack.replayed;
    p->sink = source_sink(out->source);
    p->emitter.to = (struct wc_sink){take, p};
    p->emitter.environments.cuda =
        WC_ANY(one, source->stack.packages,
               !wc_is_cudnn_package(one->r.installation_kind, one->r.package)) ||
        source->type == SOURCE_SCAN;
    out->got = must_allocate((p->r->requests.n + 1) * sizeof(*out->got));
    p->sink.add(p->sink.ctx, &process);
    if (source->stack.has_machine)
        p->sink.add(p->sink.ctx, &machine);
    out->starts = !p->sim.program || got_of(p, p->sim.program, 0, 0).files != 0;
    out->loses = !p->first &&
                 WC_ANY(m, p->sim.missing,
                        m->how == WC_operation_NEEDED && !m->damaged &&
                            WC_ANY(was, p->r->first, wc_str_same((*was)->search.soname, m->name)));
    (source->type == SOURCE_SCAN ? run_scan : ask_all)(p);
    emit(p);
    out->torn = loader_sim_torn(&p->sim);
    for (size_t i = 0; p->first && i < p->sim.n; i++)
        *MUST_ADD(p->r->first.p, p->r->first.n) = p->sim.objects[i]->library;
    out->shadows = wc_arena_string(&out->memory.arena, find_shadowing(p));
    loader_sim_emitter_end(&p->emitter);
    wc_diagnose(&out->source->stack, &out->memory.arena, &out->findings);
    add_end(p);
    wc_diagnose(&out->source->stack, &out->memory.arena, &out->of_end);
}

void replay_play(struct replay *r, const struct edits *edits, struct outcome *out) {
    struct play p = {
        .r = r, .s = &r->source->stack, .edits = edits, .out = out, .first = edits->n == 0};

    *out = (struct outcome){.memory = HEAP_ARENA(out->memory)};
    overlay_begin(&p.overlay, r->library_cache, &r->sites, &p.s->process.environment);
    p.overlay.stack = p.s;
    for (size_t i = 0; i < edits->n && !p.overlay.why; i++)
        if (!overlay_apply(&p.overlay, &edits->p[i]) && p.overlay.idle && r->goes_on) {
            out->idle = p.overlay.idle;
            p.overlay.why = p.overlay.idle = NULL;
        }
    out->why = wc_arena_string(&out->memory.arena, p.overlay.why);
    out->open = p.overlay.open;
    out->changes = p.overlay.changes;
    out->lacks = p.overlay.lacks ? wc_arena_string(&out->memory.arena, p.overlay.refused_by) : NULL;
    out->breaks = wc_arena_string(&out->memory.arena, p.overlay.breaks);
    if (!out->why && !begin_sim(&p)) {
        out->why = "its program does not exist any more, or cannot be started on this machine";
    } else if (!out->why) {
        run(&p);
        loader_sim_end(&p.sim);
    }
    overlay_end(&p.overlay);
}

void outcome_end(struct outcome *o) {
    if (o->source)
        source_free(o->source);
    free(o->got);
    heap_arena_end(&o->memory);
}

const char *replay_begin(struct replay *r, const struct source *source, struct outcome *base) {
    const struct wc_stack *s = &source->stack;
    const char *why = NULL;
    struct utsname here;

    if (source->type == SOURCE_LOCK)
        why = "a lock has no files that could be looked at";
    else if (!s->has_process || (!s->process.executable && source->type != SOURCE_SCAN))
        why = "which program it was is not known";
    else if (s->process.node && uname(&here) == 0 && strcmp(here.nodename, s->process.node) != 0)
        why = "the program ran on another machine";
    *r = (struct replay){.source = source,
                         .memory = HEAP_ARENA(r->memory),
                         .library_cache = source->libraries ?: &r->own_cache};
    if (!source->libraries)
        library_cache_begin(&r->own_cache, source->root);
    r->library_cache->disk.directory = s->process.directory;
    /* A wrapper that calls the loader's dlopen is the requester; one that jumps is not. The
     * requester's search path pointed to it, and the loader did not find it. cuDNN keeps the
     * loader's words for itself. */
    WC_EACH(f, s->failures) {
        const struct wc_searched *search =
            is_dlopen(f->r.operation) ? wc_search_in_vain(s, f) : NULL;
        r->in_turn = r->in_turn || (search && search->r.takes && !f->file && f->r.name &&
                                    !strchr(f->r.name, '/') &&
                                    (f->r.text ? f->said.what == WC_SAID_NOT_FOUND && !f->needs
                                               : f->r.inferred && wc_asked_by_cudnn(s, f)));
    }
    if (why)
        return why;
    (source->type == SOURCE_SCAN ? find_hosts : find_requests)(r);
    replay_play(r, &(struct edits){NULL, 0}, base);
    return base->why;
}

void replay_end(struct replay *r) {
    sites_end(&r->sites);
    r->library_cache->disk.directory = NULL;
    if (r->library_cache == &r->own_cache)
        library_cache_end(&r->own_cache);
    heap_arena_end(&r->memory);
    free(r->requests.p);
    free(r->stated.p);
    free(r->first.p);
}
