/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrong-name: the name of a file says one library, what it is (its SONAME) another. Either it was
 * loaded under a name that is not its own, as through a forged link, or it was not found for it:
 * the right one lies where the loader looked, under another name.
 */
#include "finding.h"

enum { MISSING_NAME = 128 };

/* ---- loaded under a name that is not its own ---- */

/* Does the SONAME belong to another library than this name, or to another major of it? */
static bool is_other(const char *name, const char *soname) {
    return wc_kind_is_ours(wc_name_kind_of(name)) && !wc_same_library(name, soname, true);
}

/* The name under which it was taken for what it is not; NULL: none. */
static const char *false_name(const struct wc_object *o) {
    const char *names[] = {o->r.asked_name, o->r.path};
    /* One of another maker may be called as it likes, as long as it has cuDNN's functions. */
    bool stands_in = wc_name_kind_of(o->r.soname) == WC_NAME_OTHER &&
                     (wc_version_known(o->floor) || wc_version_known(o->version));

    WC_EACH_ROW(name, names)
        if (o->r.soname && *name && is_other(*name, o->r.soname) && !stands_in)
            return *name;
    return NULL;
}

static void report_false(struct wc_diagnosis *d, const struct wc_object *o, const char *name) {
    const struct wc_object *by = wc_object_of(d->s, o->r.asked_by_object, o->r.asked_by);
    const char *who;
    struct wc_case *c = wc_case_begin(d);

    who = o->r.asked_by ? wc_format_name(c, o->r.asked_by) : "the program";
    c->r.title = wc_format(c,
                           o->r.asked_how == WC_operation_NEEDED
                               ? "%s needs %s and got %s under that name"
                               : "%s asked for %s and got %s under that name",
                           who, wc_format_name(c, name), wc_format_name(c, o->r.soname));
    c->r.object = o->r.object;
    if (by && !wc_is_cudnn(by))
        c->r.host = by->r.object;
    wc_case_library(c, "got", o);
    wc_case_fact(c, "SONAME", o->r.soname, "dynamic section");
    if (o->r.role == WC_role_FACADE && !wc_version_known(o->floor) && !wc_version_known(o->version))
        wc_case_fact(c, "functions of cuDNN", "none", "exported functions");
    wc_case_end(c);
}

/* The library that it took for one that it is not, where the loader names it; where it names a
 * function alone, the one that was found by the name of the symbol version, or of cuDNN. */
static const struct wc_file_record *
refused_file(const struct wc_stack *s, const struct wc_failure *f, const struct wc_unmet *unmet) {
    if (!unmet->library[0] && wc_function_find(unmet->symbol) == WC_NO_FUNCTION)
        return NULL;
    if (!unmet->library[0])
        return wc_file_like(s, f, unmet->version[0] ? unmet->version : "libcudnn.so");
    WC_EACH(file, s->files)
        if (wc_str_same(file->r.path, unmet->library) && wc_file_belongs(s, &file->r, f))
            return &file->r;
    return NULL;
}

/* The loader found a file by its name and refused it, since it has other symbol versions or none of
 * the functions: those of the library that it really is. */
const struct wc_file_record *wc_false_file(const struct wc_stack *s, const struct wc_failure *f) {
    const struct wc_file_record *r;
    struct wc_unmet unmet;

    if (!wc_is_load(f) || !wc_text_unmet(f->r.text, &unmet))
        return NULL;
    r = refused_file(s, f, &unmet);
    return r && r->soname && is_other(r->path, r->soname) ? r : NULL;
}

static void emit_refused(struct wc_diagnosis *d, const struct wc_failure *f,
                         const struct wc_file_record *file) {
    const struct wc_object *by = wc_caller_of(d->s, f);
    struct wc_unmet unmet;
    struct wc_case *c = wc_case_begin(d);

    (void)wc_text_unmet(f->r.text, &unmet);
    c->r.title =
        wc_format(c, "%s needs %s and found %s under that name", wc_format_name(c, unmet.file),
                  wc_format_name(c, file->path), wc_format_name(c, file->soname));
    if (by && !wc_is_cudnn(by))
        c->r.host = by->r.object;
    wc_case_file(c, "found", file, "dlerror");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

/* ---- not found for its name ---- */

/* Would this file have been the right one under the name asked for? A name without a number takes
 * any release. */
static bool is_right(const struct wc_file_record *f, const char *asked) {
    struct wc_name wanted = wc_name_read(asked);

    if (wanted.kind == WC_NAME_DRIVER &&
        wc_lies_in_a(f->real_path ? f->real_path : f->path, "stubs"))
        return false;
    return f->soname && !f->fault && wc_same_library(asked, f->soname, false) &&
           (wanted.version.major < 0 || wc_str_same(wc_base_name(asked), f->soname));
}

/* The library that was not found: the one asked for, or one that it needs. NULL: the loader had
 * other words. */
static const char *missing_name(const struct wc_failure *f, char *out, size_t cap) {
    if (!wc_is_load(f) || !f->r.name)
        return NULL;
    if (!f->r.text)
        return wc_base_name(f->r.name);
    return wc_text_not_found(f->r.text, out, cap) ? out : NULL;
}

const struct wc_file_record *wc_failed_for_name(const struct wc_stack *s,
                                                const struct wc_failure *f) {
    char missing[MISSING_NAME];
    const char *asked = missing_name(f, missing, sizeof missing);
    const struct wc_file_record *best = NULL;

    /* With libcuda in the process nobody is without it: who asks once more tries its names. But
     * cuDNN 8 takes the loader's words on the one without a number for its own failure. */
    if (!asked || (wc_name_kind_of(asked) == WC_NAME_DRIVER && wc_driver_library(s) &&
                   !(wc_asked_by_cudnn(s, f) && wc_was_fatal(s, f))))
        return NULL;
    WC_EACH(file, s->files) {
        const struct wc_file_record *r = &file->r;
        if (!r->path || !is_right(r, asked) || !wc_file_belongs(s, r, f) ||
            wc_str_same(wc_base_name(r->path), asked))
            continue;
        /* The one that is called as its SONAME first. */
        if (!best || (wc_str_same(wc_base_name(r->path), r->soname) &&
                      !wc_str_same(wc_base_name(best->path), best->soname)))
            best = r;
    }
    return best;
}

/* A cache has what is no link under its SONAME alone, whatever lies there. */
static void other_name_fact(struct wc_case *c, const struct wc_file_record *file,
                            const char *asked) {
    char path[600];
    int directory = (int)(wc_base_name(file->path) - file->path);

    if (wc_str_format(path, sizeof path, "%.*s%s", directory, file->path, asked) &&
        WC_ANY(f, c->d->s->files, !f->r.fault && wc_str_same(f->r.path, path)))
        wc_case_fact(c, "mind",
                     wc_format(c,
                               "%s is there, too: the loader's cache has a file that is no link "
                               "under its SONAME alone",
                               path),
                     "file");
}

static void emit_missing(struct wc_diagnosis *d, const struct wc_failure *f,
                         const struct wc_file_record *file) {
    const struct wc_object *by = wc_caller_of(d->s, f);
    char missing[MISSING_NAME];
    const char *asked = missing_name(f, missing, sizeof missing), *who;
    struct wc_case *c = wc_case_begin(d);
    bool itself = wc_str_same(asked, wc_base_name(f->r.name));
    bool driver = wc_name_kind_of(asked) == WC_NAME_DRIVER;
    bool of_others = itself && !(by && (wc_is_cudnn(by) || wc_wants_cudnn(by)));

    asked = wc_format_name(c, asked);
    who = itself ? wc_format_caller(c, f) : wc_format_name(c, f->r.name);
    c->r.title = wc_format(c,
                           itself ? "%s asked for %s, which is there under the name %s"
                                  : "%s needs %s, which is there under the name %s",
                           who, asked, wc_format_name(c, file->path));
    if (!driver || !wc_is_cudnn(by))
        wc_case_about(c, by);
    /* Others may ask whether there is a GPU, and go on without; or, as cuSPARSELt does, for a
     * compiler that they may never need, and then nobody asked the loader why there is none. */
    if (driver && of_others)
        c->r.severity = WC_severity_WARNING;
    else if (wc_name_kind_of(asked) == WC_NAME_CUDA_DEPENDENCY && of_others && !f->r.text)
        c->r.severity = WC_severity_NOTE;
    wc_case_file(c, "file", file,
                 file->rule ? wc_enum_word(WC_ENUM_search_rule, file->rule)
                            : "directory asked for");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    other_name_fact(c, file, asked);
    wc_case_end(c);
}

/* ---- all three ---- */

void wc_find_wrong_name(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects) {
        const char *name = false_name(o);
        if (name)
            report_false(d, o, name);
    }
    WC_EACH(f, d->s->failures) {
        const struct wc_file_record *missing = wc_failed_for_name(d->s, f);
        const struct wc_file_record *file = missing ? missing : wc_false_file(d->s, f);
        if (file && !wc_reported_before(d, file->path) && !wc_found_another(d->s, f) &&
            !wc_came_in_later(d->s, f, file->path))
            (missing ? emit_missing : emit_refused)(d, f, file);
    }
}
