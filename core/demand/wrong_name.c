/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrong-name: the name of a file says one library, what it is (its SONAME) another. Either it was
 * loaded under a name that is not its own, as through a forged link, or it was not found for it:
 * the right one is where the loader looked, under another name.
 */
#include "finding.h"

/* ---- loaded under a name that is not its own ---- */

/* The name under which it was taken for what it is not; NULL: none. */
static const char *false_name(const struct wc_object *o) {
    const char *names[] = {o->r.asked_name, o->r.path};
    /* One of another maker may be called as it likes, as long as it has cuDNN's functions. */
    bool stands_in = wc_name_kind_of(o->r.soname) == WC_NAME_OTHER &&
                     (wc_version_known(o->floor) || wc_version_known(o->version));

    WC_EACH_ROW(name, names)
        if (o->r.soname && *name && wc_is_false_name(*name, o->r.soname) && !stands_in)
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
    wc_case_library(c, WC_FACT_GOT, o);
    wc_case_fact(c, WC_FACT_SONAME, o->r.soname);
    if (o->r.role == WC_role_FACADE && !wc_version_known(o->floor) && !wc_version_known(o->version))
        wc_case_fact(c, WC_FACT_FUNCTIONS_OF_CUDNN, "none");
    wc_case_end(c);
}

/* ---- found by its name, and refused for what it really is ---- */

static void report_refused(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_object *by = wc_caller_of(d->s, f);
    struct wc_case *c = wc_case_begin(d);

    c->r.title =
        wc_format(c, "%s needs %s and found %s under that name", wc_format_name(c, f->said.file),
                  wc_format_name(c, f->culprit), wc_format_name(c, f->file->soname));
    if (by && !wc_is_cudnn(by))
        c->r.host = by->r.object;
    wc_case_file(c, WC_FACT_FOUND, f->file, "dlerror");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

/* ---- not found for its name ---- */

static void report_missing(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_file_record *file = f->file;
    const struct wc_object *by = wc_caller_of(d->s, f);
    const char *asked = wc_base_name(wc_missing_of(f)), *who;
    const int directory = (int)(wc_base_name(file->path) - file->path);
    struct wc_case *c = wc_case_begin(d);
    const char *other = wc_format(c, "%.*s%s", directory, file->path, asked);
    bool itself = !f->needs;
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
    /* Others may ask whether there is a GPU, and continue without; or, as cuSPARSELt does, for a
     * compiler that they may never need, and then the loader was not asked why there is none. */
    if (driver && of_others)
        c->effect = WC_EFFECT_DOUBTED;
    else if (wc_name_kind_of(asked) == WC_NAME_CUDA_DEPENDENCY && of_others && !f->r.text)
        c->effect = WC_EFFECT_NONE;
    wc_case_file(c, WC_FACT_FILE, file,
                 file->rule ? wc_enum_word(WC_ENUM_search_rule, file->rule)
                            : "directory asked for");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    /* A cache lists a file that is not a link only by its SONAME, whatever is there. */
    if (WC_ANY(one, d->s->files, !one->r.fault && wc_str_same(one->r.path, other)))
        wc_case_fact_from(
            c, WC_FACT_MIND,
            wc_format(c,
                      "%s exists, too, but is not a link: the loader's cache lists it "
                      "only by its SONAME",
                      other),
            "file");
    wc_case_end(c);
}

/* ---- all three ---- */

void wc_find_wrong_name(struct wc_diagnosis *d) {
    WC_EACH(o, d->s->objects) {
        const char *name = false_name(o);
        if (name)
            report_false(d, o, name);
    }
    WC_EACH(f, d->s->failures)
        if (wc_is_unreported(d, f, WC_REASON_WRONG_NAME))
            (f->said.what == WC_SAID_UNMET ? report_refused : report_missing)(d, f);
}
