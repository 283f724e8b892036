/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad-file: a file has the name of the library that was requested, but not one that this process
 * can load. The loader says so, or passes it over without a word: another machine's, a link that
 * leads nowhere. What the file is was looked at when the request failed.
 */
#include "finding.h"

static void emit(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_file_record *file = f->file;
    struct wc_object o = wc_file_as_object(file, f->culprit);
    bool needed = f->r.operation == WC_operation_NEEDED;
    struct wc_case *c = wc_case_begin(d);
    const char *wanted = wc_format_wanted(c, f, f->culprit);

    c->r.title = file && file->fault && file->content
                     ? wc_format(c, "%s, which is %s", wanted, file->content)
                     : wc_format(c, "%s, a file that the loader refuses", wanted);
    wc_case_about(c, wc_caller_of(d->s, f));
    wc_case_fact_from(c, WC_FACT_FILE, f->culprit,
                      f->said.what == WC_SAID_REFUSED ? "dlerror"
                      : needed                        ? "the loader's rules for DT_NEEDED"
                                                      : "loader request");
    if (file) {
        wc_case_fact(c, WC_FACT_LEADS_TO, file->link);
        if (file->real_path && !wc_str_same(file->real_path, file->path))
            wc_case_fact(c, WC_FACT_REAL_PATH, file->real_path);
        wc_case_fact(c, WC_FACT_IS, file->content);
        if (file->size != WC_NULL)
            wc_case_fact(c, WC_FACT_SIZE, wc_format(c, "%jd bytes", file->size));
        wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, &o));
    }
    if (needed)
        wc_case_fact(c, WC_FACT_NEEDED_BY, f->r.caller);
    else
        wc_case_request(c, f);
    /* Of another class the loader says so if it finds no other; a whole path is not searched. */
    if (f->said.what != WC_SAID_REFUSED && wc_base_name(f->r.name) == f->r.name &&
        !(file && file->fault == WC_file_fault_OTHER_CLASS))
        wc_case_fact(
            c, WC_FACT_MIND,
            file && (file->fault == WC_file_fault_CUT || file->fault == WC_file_fault_MALFORMED)
                ? "the loader refuses it, or a process that reads the missing bytes is "
                  "killed by SIGBUS"
                : "the loader skips such a file without a message");
    if (!needed)
        wc_case_asked_by(c, f);
    wc_case_variable(c, "LD_LIBRARY_PATH");
    wc_case_end(c);
}

void wc_find_bad_file(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures)
        if (wc_is_unreported(d, f, WC_REASON_BAD_FILE) &&
            (wc_file_matters(f->culprit) || wc_file_matters(f->r.name) || wc_was_the_end(d->s, f)))
            emit(d, f);
}
