/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused-by-system: the library that was asked for may be sound, and the system did not give the
 * loader what it needs: room, rights, a descriptor. Another copy would fail, too.
 */
#include "core/demand/finding.h"

/* What the loader said may be all that there is; what the file and the process are says more. */
static const char *reason(const struct wc_failure *f) {
    enum wc_file_fault fault = f->file ? f->file->fault : WC_file_fault_UNKNOWN;

    if (fault == WC_file_fault_NO_EXECUTION)
        return "whose file system is mounted noexec";
    if (fault == WC_file_fault_NO_ROOM)
        return "for which there is not enough address space";
    if (fault == WC_file_fault_CLOSED)
        return f->said.system ? "which is in a directory that this process may not enter"
                              : "which may be in a directory that this process may not enter";
    switch (f->refusal) {
    case WC_SYSTEM_STATIC_TLS:
        return "for which there is no room left in static TLS";
    case WC_SYSTEM_EXECUTABLE_STACK:
        return "which requires an executable stack";
    case WC_SYSTEM_RIGHTS:
        return "which this process may not read";
    case WC_SYSTEM_DESCRIPTORS:
        return "and has too many files open";
    case WC_SYSTEM_READING:
        return "of which the disk could not be read";
    default:
        return "which the system does not map";
    }
}

static const char *mind(enum wc_system_refusal what) {
    switch (what) {
    case WC_SYSTEM_STATIC_TLS:
        return "the loader has little room for thread-local data of libraries that are opened "
               "later; libraries that are loaded at the start get all that they need";
    case WC_SYSTEM_EXECUTABLE_STACK:
        return "since glibc 2.41 dlopen does not make the stack executable; most libraries request "
               "it by accident";
    case WC_SYSTEM_RIGHTS:
        return "the user needs the right to enter each directory of the path, too";
    default:
        return NULL;
    }
}

static void emit(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_file_record *file = f->file;
    struct wc_object o = wc_file_as_object(file, f->culprit);
    struct wc_case *c = wc_case_begin(d);

    c->r.title = wc_format(c, "%s, %s", wc_format_wanted(c, f, f->culprit), reason(f));
    wc_case_about(c, wc_caller_of(d->s, f));
    wc_case_fact(c, WC_FACT_FILE, f->culprit, f->said.system ? "dlerror" : "loader request");
    if (file) {
        if (!wc_str_same(file->real_path, file->path))
            wc_case_fact(c, WC_FACT_REAL_PATH, file->real_path, "file");
        wc_case_fact(c, WC_FACT_IS, file->content, "file, /proc/self");
        wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, &o), "files next to it");
    }
    wc_case_request(c, f);
    wc_case_fact(c, WC_FACT_MIND, mind(f->refusal), NULL);
    wc_case_fact(c, WC_FACT_GLIBC,
                 f->refusal == WC_SYSTEM_EXECUTABLE_STACK ? d->s->machine.glibc : NULL,
                 "symbol versions of libc.so.6");
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

/* What else is after the same directory is reported with the first of it. */
static bool is_behind_told(const struct wc_diagnosis *d, const struct wc_file_record *file) {
    return file && file->fault == WC_file_fault_CLOSED && file->content &&
           WC_ANY(r, *d->out,
                  wc_str_same(r->id, d->kind->id) &&
                      wc_str_same(wc_fact_value(r, WC_FACT_IS), file->content));
}

void wc_find_refused_by_system(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures)
        if (wc_is_unreported(d, f, WC_REASON_SYSTEM) &&
            (wc_file_matters(f->culprit) || wc_file_matters(f->r.name) ||
             wc_was_the_end(d->s, f)) &&
            !is_behind_told(d, f->file))
            emit(d, f);
}
