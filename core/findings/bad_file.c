/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad-file: a file has the name of the library that was asked for, and is none that this process
 * can load. The loader says so, or passes it over without a word: another machine's, a link that
 * leads nowhere. What the file is was looked at when the request failed.
 */
#include "finding.h"

static const char *path_of(const struct wc_bad_file *bad) {
    return bad->file ? bad->file->path : bad->name;
}

static const char *title(struct wc_case *c, const struct wc_failure *f,
                         const struct wc_bad_file *bad) {
    const char *is = bad->file && bad->file->fault ? bad->file->content : NULL;
    const char *wanted = wc_format_wanted(c, f, bad->name);

    return is ? wc_format(c, "%s, which is %s", wanted, is)
              : wc_format(c, "%s, a file that the loader refuses", wanted);
}

/* What the loader makes of such a file. */
static const char *mind(const struct wc_bad_file *bad) {
    if (bad->refused)
        return NULL;
    if (bad->file &&
        (bad->file->fault == WC_file_fault_CUT || bad->file->fault == WC_file_fault_MALFORMED))
        return "the loader refuses it, or who touches what is not there is ended by a signal";
    return "the loader passes such a file over without a word";
}

static void emit(struct wc_diagnosis *d, const struct wc_failure *f,
                 const struct wc_bad_file *bad) {
    const struct wc_file_record *file = bad->file;
    struct wc_object o = wc_file_as_object(file, path_of(bad));
    bool needed = f->r.operation == WC_operation_NEEDED;
    struct wc_case *c = wc_case_begin(d);

    c->r.title = title(c, f, bad);
    wc_case_about(c, wc_caller_of(d->s, f));
    wc_case_fact(c, "file", wc_format(c, "%s", path_of(bad)),
                 bad->refused ? "dlerror"
                 : needed     ? "the loader's rules for DT_NEEDED"
                              : "loader request");
    if (file) {
        wc_case_fact(c, "leads to", file->link, "symbolic link");
        if (file->real_path && !wc_str_same(file->real_path, file->path))
            wc_case_fact(c, "real path", file->real_path, "file");
        wc_case_fact(c, "is", file->content, "file");
        if (file->size != WC_NULL)
            wc_case_fact(c, "size", wc_format(c, "%jd bytes", file->size), "file");
        wc_case_fact(c, "installation", wc_format_installation(c, &o), "files beside it");
    }
    if (needed)
        wc_case_fact(c, "needed by", f->r.caller, "DT_NEEDED");
    else
        wc_case_request(c, f);
    wc_case_fact(c, "mind", mind(bad), NULL);
    if (!needed)
        wc_case_asked_by(c, f);
    wc_case_variable(c, "LD_LIBRARY_PATH");
    wc_case_end(c);
}

void wc_find_bad_file(struct wc_diagnosis *d) {
    struct wc_bad_file bad;

    WC_EACH(f, d->s->failures)
        if (wc_failed_for_file(d->s, f, &bad) && wc_file_matters(bad.name) &&
            !wc_came_in_later(d->s, f, bad.name) && !wc_reported_before(d, path_of(&bad)))
            emit(d, f, &bad);
}
