/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused-by-system: the library that was asked for may be sound, and the system did not give the
 * loader what it needs: room, rights, a descriptor. Another copy would fail, too.
 */
#include "core/demand/finding.h"

static const struct {
    const char *reason, *mind;
} refusals[] = {
    [WC_SYSTEM_NOTHING] = {"which the system does not map", NULL},
    [WC_SYSTEM_MAPPING] = {"which the system does not map", NULL},
    [WC_SYSTEM_STATIC_TLS] = {"for which there is no room left in static TLS",
                              "the loader has little room for thread-local data of libraries that "
                              "are opened later; libraries that are loaded at the start get all "
                              "that they need"},
    [WC_SYSTEM_EXECUTABLE_STACK] = {"which requires an executable stack",
                                    "since glibc 2.41 dlopen does not make the stack executable; "
                                    "most libraries request it by accident"},
    [WC_SYSTEM_RIGHTS] = {"which this process may not read",
                          "the user needs the right to enter each directory of the path, too"},
    [WC_SYSTEM_DESCRIPTORS] = {"and has too many files open", NULL},
    [WC_SYSTEM_READING] = {"of which the disk could not be read", NULL},
};

/* What the loader said may be all that there is; what the file and the process are says more. */
static const char *reason(const struct wc_failure *f) {
    switch (f->file ? f->file->fault : WC_file_fault_UNKNOWN) {
    case WC_file_fault_NO_EXECUTION:
        return "whose file system is mounted noexec";
    case WC_file_fault_NO_ROOM:
        return "for which there is not enough address space";
    case WC_file_fault_CLOSED:
        return f->said.system ? "which is in a directory that this process may not enter"
                              : "which may be in a directory that this process may not enter";
    default:
        return refusals[f->refusal].reason;
    }
}

static void emit(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_file_record *file = f->file;
    struct wc_object o = wc_file_as_object(file, f->culprit);
    struct wc_case *c = wc_case_begin(d);

    c->r.title = wc_format(c, "%s, %s", wc_format_wanted(c, f, f->culprit), reason(f));
    wc_case_about(c, wc_caller_of(d->s, f));
    wc_case_fact_from(c, WC_FACT_FILE, f->culprit, f->said.system ? "dlerror" : "loader request");
    if (file) {
        if (!wc_str_same(file->real_path, file->path))
            wc_case_fact(c, WC_FACT_REAL_PATH, file->real_path);
        wc_case_fact_from(c, WC_FACT_IS, file->content, "file, /proc/self");
        wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, &o));
    }
    wc_case_request(c, f);
    wc_case_fact(c, WC_FACT_MIND, refusals[f->refusal].mind);
    wc_case_fact(c, WC_FACT_GLIBC,
                 f->refusal == WC_SYSTEM_EXECUTABLE_STACK ? d->s->machine.glibc : NULL);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

void wc_find_refused_by_system(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures)
        if (wc_is_unreported(d, f, WC_REASON_SYSTEM) &&
            (wc_file_matters(f->culprit) || wc_file_matters(f->r.name) ||
             wc_was_the_end(d->s, f)) &&
            /* What else is after the same directory is reported with the first of it. */
            !(f->file && f->file->fault == WC_file_fault_CLOSED && f->file->content &&
              WC_ANY(r, *d->out,
                     wc_str_same(r->id, d->kind->id) &&
                         wc_str_same(wc_fact_value(r, WC_FACT_IS), f->file->content))))
            emit(d, f);
}
