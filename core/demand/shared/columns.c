/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the model that are computed once, before any finding is made: why each request
 * failed, because of which library, and whether that was made good. */
#include "core/demand/questions.h"

#define DELETED " (deleted)"

/* ---- files that were looked at ---- */

/* The same question of the same object is searched for once, and reported again. */
static bool file_belongs(const struct wc_stack *s, const struct wc_file_record *file,
                         const struct wc_failure *f) {
    if (file->request == f->r.request)
        return true;
    const struct wc_searched *search =
        WC_FIRST(one, s->searches, file->request != WC_NULL && one->r.request == file->request);

    return search && wc_str_same(search->r.name, f->r.name) &&
           search->r.caller_object == f->r.caller_object &&
           wc_str_same(search->r.caller, f->r.caller);
}

const struct wc_file_record *wc_file_like(const struct wc_stack *s, const struct wc_failure *f,
                                          const char *name) {
    const bool other = wc_name_kind_of(name) == WC_NAME_OTHER;
    const struct wc_file *like =
        WC_FIRST(file, s->files,
                 file->r.path && !file->r.fault && file_belongs(s, &file->r, f) &&
                     (other ? wc_str_same(wc_base_name(file->r.path), wc_base_name(name))
                            : wc_same_library(file->r.path, name, false)));

    return like ? &like->r : NULL;
}

/* The library that was not found. NULL: the loader had other words. */
static const char *missing_of(const struct wc_failure *f) {
    return f->needs || wc_was_not_found(f) ? wc_missing_of(f) ?: f->said.file : NULL;
}

bool wc_file_matters(const char *file) {
    return file && (wc_name_kind_of(file) != WC_NAME_OTHER || wc_name_hints(wc_base_name(file)));
}

/* A process that others ended by a signal has not failed. */
bool wc_was_fatal(const struct wc_stack *s, const struct wc_failure *f) {
    return f->fate == WC_FATE_FELT || (f->fate == WC_FATE_LAST && wc_failed_itself(s));
}

/* ---- why a request failed ---- */

bool wc_is_false_name(const char *name, const char *soname) {
    return wc_kind_is_ours(wc_name_kind_of(name)) && !wc_same_library(name, soname, true);
}

/* cuDNN's own needs count, too, and those of its hosts: an old libstdc++, say. */
bool wc_symbol_version_matters(const struct wc_stack *s, const struct wc_said *u) {
    const struct wc_object *by = wc_object_of(s, WC_NULL, u->file);

    return (by && wc_wants_cudnn(by)) ||
           wc_kind_is_ours(wc_name_kind_of(u->library ? u->library : u->version)) ||
           wc_kind_is_ours(wc_name_kind_of(u->file)) || wc_name_hints(wc_base_name(u->file));
}

/* glibc's text is "NAME: WHAT", where NAME is the library that stopped it, not always the requested
 * one. */
static bool is_torn_cudnn(const struct wc_failure *f) {
    return f->said.what == WC_SAID_UNMET && f->said.symbol && f->said.version &&
           wc_name_is_cudnn(f->said.file) && wc_name_is_cudnn(f->said.version);
}

static bool is_of_deleted_file(const char *path) {
    char bare[256];
    const char *name = wc_base_name(path);
    size_t n = name ? wc_str_length(name) : 0, end = sizeof DELETED - 1;

    return n > end && wc_str_ends(name, DELETED) &&
           wc_str_format(bare, sizeof bare, "%.*s", (int)(n - end), name) && wc_file_matters(bare);
}

/* BAD_FILE or SYSTEM: because of a file that the loader refused, or skipped without a word, by its
 * path or bare name: one with a fault; else, where the loader refused it, any. */
static enum wc_reason reason_of_file(const struct wc_stack *s, struct wc_failure *f) {
    const bool refused = f->said.what == WC_SAID_REFUSED;
    const char *name = refused ? f->said.file : missing_of(f);
    const bool bare = name && !wc_str_find_char(name, '/');

    WC_EACH(file, s->files) {
        const struct wc_file_record *r = &file->r;
        if (name && r->path && (r->fault || refused) && !(f->file && f->file->fault) &&
            wc_str_same(bare ? wc_base_name(r->path) : r->path, name) && file_belongs(s, r, f))
            f->file = r;
    }
    f->culprit = f->file ? f->file->path : name;
    f->refusal = f->said.system;
    if (f->refusal || refused || !f->file)
        return f->refusal ? WC_REASON_SYSTEM : refused ? WC_REASON_BAD_FILE : WC_REASON_UNKNOWN;
    switch (f->file->fault) {
    case WC_file_fault_UNKNOWN:
    case WC_file_fault_REPLACED:
        return WC_REASON_UNKNOWN;
    case WC_file_fault_NO_EXECUTION:
    case WC_file_fault_NO_ROOM:
        f->refusal = WC_SYSTEM_MAPPING; /* the loader was not asked why */
        return WC_REASON_SYSTEM;
    case WC_file_fault_CLOSED:
        /* Whether it is in a closed directory cannot be seen: what is tried in case it is there is
         * missed by no host. */
        if (wc_name_kind_of(f->culprit) != WC_NAME_FACADE && !wc_ended_badly(s))
            return WC_REASON_UNKNOWN;
        __attribute__((fallthrough));
    case WC_file_fault_UNREADABLE:
        f->refusal = WC_SYSTEM_RIGHTS; /* skipped without a word */
        return WC_REASON_SYSTEM;
    default:
        return WC_REASON_BAD_FILE;
    }
}

/* Would this file have been the right one under the name asked for? A name without a number takes
 * any release. */
static bool is_right(const struct wc_file_record *file, const char *asked) {
    if (!file->soname || file->fault)
        return false;
    struct wc_name wanted = wc_name_read(asked);
    if (wanted.kind == WC_NAME_DRIVER &&
        wc_lies_in_a(file->real_path ? file->real_path : file->path, "stubs"))
        return false;
    return wc_same_library(asked, file->soname, false) &&
           (wanted.version.major < 0 || wc_str_same(wc_base_name(asked), file->soname));
}

static bool has_its_own_name(const struct wc_file_record *file) {
    return wc_str_same(wc_base_name(file->path), file->soname);
}

static bool library_has_other_name(const struct wc_stack *s, struct wc_failure *f) {
    const char *asked = f->r.name ? wc_base_name(missing_of(f)) : NULL;
    const enum wc_name_kind kind = wc_name_kind_of(asked);

    f->file = NULL;
    /* With libcuda in the process no host lacks it: a repeated request tries its names. But
     * cuDNN 8 takes the loader's words on the one without a number for its own failure. */
    if (kind == WC_NAME_OTHER || (kind == WC_NAME_DRIVER && wc_driver_library(s) &&
                                  !(wc_asked_by_cudnn(s, f) && wc_was_fatal(s, f))))
        return false;
    WC_EACH(file, s->files) {
        const struct wc_file_record *r = &file->r;
        if (r->path && is_right(r, asked) && file_belongs(s, r, f) &&
            !wc_str_same(wc_base_name(r->path), asked) &&
            (!f->file || (has_its_own_name(r) && !has_its_own_name(f->file))))
            f->file = r;
    }
    return f->file != NULL;
}

/* The library that it took for one that it is not, where the loader names it; where it names a
 * function, the library that was found by the name of the symbol version, or of cuDNN. */
static bool name_has_other_library(const struct wc_stack *s, struct wc_failure *f) {
    const struct wc_said *said = &f->said;

    f->file = NULL;
    if (said->what != WC_SAID_UNMET)
        return false;
    if (said->library) {
        WC_EACH(file, s->files)
            if (wc_str_same(file->r.path, said->library) && file_belongs(s, &file->r, f))
                f->file = &file->r;
    } else if (wc_function_find(said->symbol) != WC_NO_FUNCTION) {
        f->file = wc_file_like(s, f, said->version ? said->version : "libcudnn.so");
    }
    return f->file && f->file->soname && wc_is_false_name(f->file->path, f->file->soname);
}

bool wc_is_alternative(const char *a, const char *b) {
    const char *x = wc_base_name(a), *y = wc_base_name(b);

    for (;; x++, y++) {
        while (wc_is_digit(*x) || *x == '_') /* "libcublas64_12.so", too */
            x++;
        while (wc_is_digit(*y) || *y == '_')
            y++;
        if (*x != *y || !*x)
            return *x == *y;
    }
}

/* By the files, a library does not load: nothing of it comes after that. */
bool wc_was_the_end(const struct wc_stack *s, const struct wc_failure *f) {
    if (s->replayed && f->r.text)
        return true;
    return f->fate == WC_FATE_LAST && wc_failed_itself(s) && f->r.name &&
           !WC_ANY(other, s->failures,
                   other->seq > f->seq ||
                       (other->r.name && !wc_str_same(other->r.name, f->r.name) &&
                        wc_is_alternative(other->r.name, f->r.name)));
}

static void blame(struct wc_failure *f, enum wc_reason reason, const char *culprit) {
    f->reason = reason;
    f->culprit = culprit;
}

/* Why it failed, and because of which library: the first that holds owns it. */
static void claim(const struct wc_stack *s, struct wc_failure *f) {
    const struct wc_said *said = &f->said;
    const bool unmet = said->what == WC_SAID_UNMET,
               of_cudnn = wc_is_function_of_cudnn(said->symbol);

    blame(f, WC_REASON_UNKNOWN, NULL);
    f->refusal = WC_SYSTEM_NOTHING;
    f->file = NULL;
    if (!wc_is_load(f))
        return;
    if (is_of_deleted_file(f->r.name))
        blame(f, WC_REASON_REPLACED, f->r.name);
    else if ((f->reason = reason_of_file(s, f)) != WC_REASON_UNKNOWN)
        return;
    else if (library_has_other_name(s, f) || name_has_other_library(s, f))
        blame(f, WC_REASON_WRONG_NAME, f->file->path);
    else if (is_torn_cudnn(f) && wc_is_cudnn(wc_caller_of(s, f)))
        blame(f, WC_REASON_PART_REFUSED, said->file); /* the two are of different releases */
    else if (unmet && ((said->version && wc_symbol_version_matters(s, said)) ||
                       ((said->version || !of_cudnn) && wc_was_the_end(s, f))))
        blame(f, WC_REASON_SYMBOL_VERSION, said->file);
    else if (unmet && !said->version && of_cudnn && !wc_name_is_cudnn(said->file))
        blame(f, WC_REASON_SYMBOL, said->file);
    else if (f->needs)
        blame(f, WC_REASON_NEEDS, f->needs);
    else if (wc_was_not_found(f))
        blame(f, WC_REASON_NOT_FOUND, f->r.name);
    else
        blame(f, WC_REASON_UNKNOWN, NULL);
    if (f->reason < WC_REASON_BAD_FILE || f->reason > WC_REASON_WRONG_NAME)
        f->file = NULL;
}

/* ---- whether it was made good ---- */

/* Is o what was requested under this name: the same library, or what answers to the name? */
static bool is_same_library(const struct wc_object *o, const char *name) {
    const char *path = wc_path_of(o);

    return name &&
           (wc_answers_to(o, name) || wc_same_library(path, name, false) ||
            (wc_name_kind_of(path) == WC_NAME_OTHER && wc_same_library(o->r.soname, name, false)));
}

/* A library of cuDNN that was found and not loaded: it lacks something. */
static bool lacks_something(const struct wc_failure *f) {
    return wc_name_is_cudnn(f->r.name) &&
           (is_torn_cudnn(f) || (f->needs && !wc_name_is_cudnn(f->needs)));
}

/* A caller that is not known got whatever was loaded. */
static bool is_for_caller(const struct wc_stack *s, const struct wc_object *o,
                          const struct wc_failure *f) {
    return (f->r.caller_object == WC_NULL && !f->r.caller) ||
           wc_brought_by(s, o, f->r.caller_object, f->r.caller);
}

/* A facade that another host had loaded is found without a new object: the caller's binding to it
 * shows. */
static bool caller_got_facade(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_object *caller = wc_caller_of(s, f);

    WC_EACH(o, s->objects) {
        if (!wc_came_after(o, f) || !is_for_caller(s, o, f))
            continue;
        if (f->needs ? wc_answers_to(o, f->r.name) : o->r.role == WC_role_FACADE)
            return true;
        /* It is for the file that lacked one: opened by its caller itself, or needed by another
         * file of its name, or of its directory. A caller that opens for all (RTLD_GLOBAL), as
         * Python's ctypes does, got the others' facades for others. */
        const size_t n = wc_dir_length(f->r.name);
        const char *by = o->r.asked_by;
        if (f->needs && f->r.caller && o->r.role == WC_role_FACADE &&
            (!n || !by || wc_str_same(by, f->r.caller) || wc_is_below(by, f->r.name, n) ||
             wc_is_alternative(by, f->r.name)))
            return true;
    }
    return !f->needs && WC_ANY(b, s->bindings,
                               caller && b->seq > f->seq && wc_is_binding_of(b, caller) &&
                                   wc_is_cudnn(wc_object_of(s, b->r.target, b->r.target_path)));
}

/* last: the last failure of all that lacks something. */
static bool was_made_good(const struct wc_stack *s, const struct wc_failure *f,
                          const struct wc_failure *last) {
    /* The caller found another library of cuDNN's later, which was not loaded: what that one lacks
     * is the cause. */
    if ((f->r.caller_object != WC_NULL || f->r.caller) && last && last->seq > f->seq &&
        WC_ANY(g, s->failures,
               g->seq > f->seq && lacks_something(g) && f->r.caller_object == g->r.caller_object &&
                   wc_str_same(f->r.caller, g->r.caller)))
        return true;
    if (f->reason >= WC_REASON_NEEDS && wc_name_is_cudnn(f->culprit) && !wc_asked_by_cudnn(s, f))
        return caller_got_facade(s, f);
    /* A facade that passes over a damaged part may find one of another release elsewhere. */
    const struct wc_object *by = f->reason == WC_REASON_BAD_FILE ? wc_caller_of(s, f) : NULL;
    return WC_ANY(o, s->objects,
                  wc_came_after(o, f) && (f->reason < WC_REASON_NEEDS || is_for_caller(s, o, f)) &&
                      (!wc_is_cudnn(by) || wc_ranges_meet(wc_own_range(o), wc_own_range(by))) &&
                      (is_same_library(o, f->r.name) ||
                       (f->culprit != f->r.name && is_same_library(o, f->culprit))));
}

/* ---- what became of it ---- */

static enum wc_fate fate_of(const struct wc_stack *s, const struct wc_failure *f) {
    const size_t n = s->failures.n < 32 ? s->failures.n : 32; /* those of the latest requests */
    const bool ended = wc_has_ended(s);
    const struct wc_call *within =
        WC_FIRST(call, s->calls, call->seq > f->asked && call->r.phase == WC_phase_AFTER);
    /* Was nothing of cuDNN or CUDA loaded, bound or called behind f, and nothing else asked for? */
    bool last = !within && f->time >= s->failed_child &&
                !WC_ANY(o, s->objects,
                        (o->r.role != WC_role_OTHER || o->r.framework) && wc_came_after(o, f)) &&
                !WC_ANY(b, s->bindings, b->seq > f->seq) &&
                !WC_ANY(call, s->calls, call->seq > f->seq);

    WC_EACH_ROW(a, s->asked) /* another name of it, without success, is not a step on */
        last = last && !(wc_is_load(f) && f->r.request != WC_NULL && a->request > f->r.request &&
                         !WC_ANY(other, WC_ITEMS(s->failures.p + s->failures.n - n, n),
                                 other->r.request == a->request && other->r.name && f->r.name &&
                                     wc_is_alternative(other->r.name, f->r.name)));
    if (within && wc_call_failed(s, &within->r))
        return WC_FATE_FELT;
    if (last)
        return wc_ended_badly(s) ? WC_FATE_LAST : ended ? WC_FATE_LEFT : WC_FATE_OPEN;
    return ended ? WC_FATE_WENT_ON : WC_FATE_OPEN;
}

void wc_fill_columns(const struct wc_stack *s) {
    struct wc_failure *f = s->failures.p;
    const struct wc_failure *last = NULL;

    for (size_t i = 0; i < s->failures.n; i++) {
        f[i].fate = fate_of(s, &f[i]);
        last = lacks_something(&f[i]) ? &f[i] : last;
        claim(s, &f[i]);
    }
    for (size_t i = 0; i < s->failures.n; i++)
        if (was_made_good(s, &f[i], last))
            f[i].fate = WC_FATE_MADE_GOOD;
}
