/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader said of a failed request. glibc's text is "NAME: WHAT", where NAME is the
 * library that stopped it, which need not be the one that was asked for.
 */
#include "core/findings/finding.h"

bool wc_failed_dependency(const struct wc_failure *f, char *out, size_t cap) {
    return wc_text_not_found(f->r.text, out, cap) && f->r.name &&
           wc_str_compare(out, wc_base_name(f->r.name)) != 0;
}

bool wc_refused_for_symbol(const struct wc_failure *f, struct wc_refusal *out) {
    struct wc_name wants, has;
    struct wc_unmet unmet;
    if (!wc_text_unmet(f->r.text, &unmet) || !unmet.symbol[0] || !unmet.version[0])
        return false;
    wants = wc_name_read(unmet.file);
    has = wc_name_read(unmet.version);
    wc_str_copy(out->file, sizeof out->file, unmet.file);
    wc_str_copy(out->part, sizeof out->part, has.kind == WC_NAME_PART ? has.part : "facade");
    return wc_kind_is_cudnn(wants.kind) && wc_kind_is_cudnn(has.kind);
}

/* The same question of the same object is searched for once, and told again. */
bool wc_file_belongs(const struct wc_stack *s, const struct wc_file_record *file,
                     const struct wc_failure *f) {
    if (file->request == f->r.request)
        return true;
    WC_EACH(search, s->searches) {
        const struct wc_search_record *r = &search->r;
        if (file->request != WC_NULL && r->request == file->request)
            return wc_str_same(r->name, f->r.name) && r->caller_object == f->r.caller_object &&
                   wc_str_same(r->caller, f->r.caller);
    }
    return false;
}

const struct wc_file_record *wc_file_like(const struct wc_stack *s, const struct wc_failure *f,
                                          const char *name) {
    bool other = wc_name_kind_of(name) == WC_NAME_OTHER;

    WC_EACH(file, s->files) {
        const struct wc_file_record *r = &file->r;
        if (r->path && !r->fault && wc_file_belongs(s, r, f) &&
            (other ? wc_str_same(wc_base_name(r->path), wc_base_name(name))
                   : wc_same_library(r->path, name, false)))
            return r;
    }
    return NULL;
}

/* The file that was looked at for this request under that path, or that bare name: one with a
 * fault; else, where the loader had words against it, any. */
static const struct wc_file_record *looked_at(const struct wc_stack *s, const struct wc_failure *f,
                                              const struct wc_bad_file *bad) {
    bool bare = !wc_str_find_char(bad->name, '/');
    const struct wc_file_record *found = NULL;

    WC_EACH(file, s->files) {
        const struct wc_file_record *r = &file->r;
        if (!r->path || !wc_str_same(bare ? wc_base_name(r->path) : r->path, bad->name) ||
            !wc_file_belongs(s, r, f))
            continue;
        if (r->fault)
            return r;
        found = bad->refused ? r : found;
    }
    return found;
}

/* The library that was not found: the one asked for, by the path it was asked for, or the one that
 * it needs. False: the loader had other words. */
static bool missing_name(const struct wc_failure *f, char *out, size_t cap) {
    if (f->r.text && !wc_text_not_found(f->r.text, out, cap))
        return false;
    if (f->r.text && !wc_str_same(out, f->r.name ? wc_base_name(f->r.name) : NULL))
        return *out;
    return wc_str_copy(out, cap, f->r.name) && *out;
}

static bool is_of_system(enum wc_file_fault fault) {
    return fault == WC_file_fault_UNREADABLE || fault == WC_file_fault_NO_EXECUTION ||
           fault == WC_file_fault_NO_ROOM || fault == WC_file_fault_REPLACED ||
           fault == WC_file_fault_CLOSED;
}

bool wc_file_matters(const char *file) {
    return file && (wc_name_kind_of(file) != WC_NAME_OTHER || wc_name_hints(wc_base_name(file)));
}

/* Whether it is there cannot be seen. What is tried in case it is there is missed by nobody. */
static bool may_be_there(const struct wc_stack *s, const char *name) {
    return wc_name_kind_of(name) == WC_NAME_FACADE || wc_ended_badly(s);
}

enum wc_system_refusal wc_failed_for_system(const struct wc_stack *s, const struct wc_failure *f,
                                            struct wc_bad_file *out) {
    enum wc_system_refusal what =
        wc_is_load(f) ? wc_text_system(f->r.text, out->name, sizeof out->name) : WC_SYSTEM_NOTHING;

    out->refused = what != WC_SYSTEM_NOTHING;
    if (!wc_is_load(f) || (!what && !missing_name(f, out->name, sizeof out->name)))
        return WC_SYSTEM_NOTHING;
    out->file = looked_at(s, f, out);
    if (what || !out->file)
        return what;
    if (out->file->fault == WC_file_fault_NO_EXECUTION || out->file->fault == WC_file_fault_NO_ROOM)
        return WC_SYSTEM_MAPPING; /* nobody asked the loader why */
    return out->file->fault == WC_file_fault_UNREADABLE ||
                   (out->file->fault == WC_file_fault_CLOSED && may_be_there(s, out->name))
               ? WC_SYSTEM_RIGHTS /* passed over without a word */
               : WC_SYSTEM_NOTHING;
}

bool wc_failed_for_file(const struct wc_stack *s, const struct wc_failure *f,
                        struct wc_bad_file *out) {
    if (!wc_is_load(f))
        return false;
    out->refused = wc_text_refuses(f->r.text, out->name, sizeof out->name);
    if (!out->refused && !missing_name(f, out->name, sizeof out->name))
        return false;
    out->file = looked_at(s, f, out);
    return out->refused || (out->file && out->file->fault && !is_of_system(out->file->fault));
}

/* Is o what was to be had under this name: the same library, or what answers to the name? */
static bool is_same_library(const struct wc_object *o, const char *name) {
    const char *path = wc_path_of(o);

    return name &&
           (wc_answers_to(o, name) || wc_same_library(path, name, false) ||
            (wc_name_kind_of(path) == WC_NAME_OTHER && wc_same_library(o->r.soname, name, false)));
}

bool wc_came_in_later(const struct wc_stack *s, const struct wc_failure *f, const char *file) {
    return WC_ANY(o, s->objects,
                  wc_came_after(o, f) &&
                      (is_same_library(o, f->r.name) || is_same_library(o, file)));
}

bool wc_is_load(const struct wc_failure *f) {
    return f->r.operation != WC_operation_DLSYM && f->r.operation != WC_operation_DLVSYM;
}

void wc_case_request(struct wc_case *c, const struct wc_failure *f) {
    if (f->r.operation == WC_operation_NEEDED)
        wc_case_fact(c, "needs", f->r.name, "DT_NEEDED; by the loader's rules there is none");
    else if (c->d->s->replayed)
        wc_case_fact(c, "opens", f->r.name,
                     "its own constants; by the loader's rules there is none");
    else
        wc_case_fact(c, "asked for", f->r.name,
                     f->r.text ? "loader request" : "loader request; no object answers to it");
    wc_case_fact(c, "loader said", f->r.text, "dlerror");
}

void wc_case_asked_by(struct wc_case *c, const struct wc_failure *f) {
    wc_case_fact(c, "asked by", f->r.caller, "loader request");
}

const char *wc_format_caller(struct wc_case *c, const struct wc_failure *f) {
    const struct wc_object *o = wc_caller_of(c->d->s, f);

    if (!o && !f->r.caller)
        return "the program";
    return o ? wc_format_who(c, o) : wc_format_name(c, f->r.caller);
}

bool wc_is_asked_for(const struct wc_failure *f, const char *name) {
    return f->r.name && wc_str_same(name, wc_base_name(f->r.name));
}

const char *wc_format_wanted(struct wc_case *c, const struct wc_failure *f, const char *library) {
    bool itself = wc_is_asked_for(f, wc_base_name(library));

    return wc_format(c, "%s %s %s", itself ? wc_format_caller(c, f) : wc_format_name(c, f->r.name),
                     itself && f->r.operation != WC_operation_NEEDED ? "asked for" : "needs",
                     wc_format_name(c, library));
}

static bool is_by_the_same(const struct wc_failure *a, const struct wc_failure *b) {
    return (a->r.caller_object != WC_NULL || a->r.caller) &&
           a->r.caller_object == b->r.caller_object && wc_str_same(a->r.caller, b->r.caller);
}

bool wc_found_another(const struct wc_stack *s, const struct wc_failure *f) {
    struct wc_refusal refusal;
    char missing[128];

    return WC_ANY(
        g, s->failures,
        g->seq > f->seq && is_by_the_same(f, g) && wc_name_is_cudnn(g->r.name) &&
            (wc_refused_for_symbol(g, &refusal) ||
             (wc_failed_dependency(g, missing, sizeof missing) && !wc_name_is_cudnn(missing))));
}
