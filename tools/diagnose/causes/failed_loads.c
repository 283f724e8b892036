/* SPDX-License-Identifier: Apache-2.0 */
/* refused-by-system, symbol-version-not-found, replaced-on-disk: loads that failed for a reason of
 * their own (enum wc_reason). */
#include "core/demand/finding.h"

/* ---- refused-by-system ---- */

/* The library that was asked for may be sound, and the system did not give the loader what it
 * needs: room, rights, a descriptor. Another copy would fail, too. */

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

static void report_refused(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_file_record *file = f->file;
    struct wc_object o = wc_file_as_object(file, f->culprit);
    struct wc_case *c = wc_case_begin(d, NULL, NULL);

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
            report_refused(d, f);
}

/* ---- symbol-version-not-found ---- */

/* A library could not be loaded, because it was linked against another release of a library than it
 * found: there is no such symbol version in it, or that has no such function. (Among parts of one
 * cuDNN parts-differ reports it, after a false name wrong-name does.) */

/* What has to have the symbol version: the file, or the library that it is named after; NULL: any
 * may have the function. */
static const char *library_of(const struct wc_said *u) {
    return u->library ?: u->version;
}

static void report_symbol_version(struct wc_diagnosis *d, const struct wc_failure *f) {
    const struct wc_said *u = &f->said;
    /* The library that does not have it, where it was there before. */
    const struct wc_object *library = wc_mapped_as(d->s, library_of(u));
    const struct wc_file_record *file = wc_file_like(d->s, f, library_of(u));
    const struct wc_object *by = wc_caller_of(d->s, f);
    int function = wc_function_find(u->symbol);
    struct wc_case *c = wc_case_begin(d, library, by && !wc_is_cudnn(by) ? by : NULL);
    const char *lacks = wc_format_name(c, u->symbol ?: u->version);
    const char *refused = wc_format_name(c, u->file);

    if (!wc_symbol_version_matters(d->s, u) && !wc_was_the_end(d->s, f))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title =
        library_of(u)
            ? wc_format(c, "%s was linked with another %s than it found: %s%s is not in %s",
                        refused, wc_format_name(c, library_of(u)),
                        u->symbol ? "" : "symbol version ", lacks,
                        !library && file && file->version ? file->version : "it")
            : wc_format(c, "%s was linked with other libraries than it found: %s is in none",
                        refused, lacks);
    wc_case_fact(c, WC_FACT_REFUSED, u->file);
    wc_case_fact(c, WC_FACT_WANTED_SYMBOL_VERSION, u->version);
    wc_case_fact(c, WC_FACT_WANTED_FUNCTION, u->symbol);
    if (function != WC_NO_FUNCTION)
        wc_case_fact(c, WC_FACT_CAME_WITH, wc_format_version(c, wc_function_first(function)));
    if (library)
        wc_case_library(c, WC_FACT_LIBRARY, library);
    else if (file)
        wc_case_file(c, WC_FACT_LIBRARY, file, u->library ? "dlerror" : "replay of the search");
    wc_case_request(c, f);
    wc_case_asked_by(c, f);
    wc_case_end(c);
}

void wc_find_symbol_version_not_found(struct wc_diagnosis *d) {
    WC_EACH(f, d->s->failures) {
        const struct wc_said *u = &f->said;
        /* A facade asks for a part by up to four names, which may point to one file. */
        if (wc_is_unreported(d, f, WC_REASON_SYMBOL_VERSION) &&
            !WC_ANY(r, *d->out,
                    wc_str_same(r->id, d->kind->id) && r->facts.n > 1 && !u->symbol &&
                        wc_str_same(r->facts.p[1].value, u->version) &&
                        wc_same_library(r->facts.p[0].value, u->file, true) &&
                        wc_same_directory(r->facts.p[0].value, u->file)))
            report_symbol_version(d, f);
    }
}

/* ---- replaced-on-disk ---- */

/* A library that is mapped is not the file any more that has its name: a user installed another
 * release while the process ran. What it opens from now on is of the new one. */

void wc_find_replaced_on_disk(struct wc_diagnosis *d) {
    WC_EACH(file, d->s->files) {
        const struct wc_object *o =
            file->r.fault == WC_file_fault_REPLACED
                ? WC_FIRST(o, d->s->objects, o->r.mapped && wc_str_same(o->r.path, file->r.path))
                : NULL;
        if (!o || WC_ANY(r, *d->out, wc_str_same(r->id, d->kind->id) && r->object == o->r.object))
            continue;
        /* Did what was loaded after it turn out to be of another release? */
        const bool differs = o->r.role == WC_role_FACADE &&
                             WC_ANY(part, d->s->objects,
                                    part->r.role == WC_role_PART && wc_in_set(d->s, part, o) &&
                                        !wc_ranges_meet(wc_seen_range(part), wc_seen_range(o)));
        struct wc_case *c = wc_case_begin(d, o, NULL);

        if (!differs && !wc_ended_badly(d->s) && !wc_a_call_failed(d->s))
            c->effect = WC_EFFECT_DOUBTED;
        c->r.title = wc_format(c, "%s was replaced on disk since the process loaded it",
                               wc_format_name(c, wc_name_of(o)));
        wc_case_library(c, WC_FACT_GOT, o);
        wc_case_fact_from(c, WC_FACT_THERE_IS_NOW, file->r.version ?: file->r.content,
                          file->r.path);
        wc_case_fact(c, WC_FACT_MIND,
                     "the process keeps the mapped file; files that it opens from now on are new");
        wc_case_end(c);
    }
    WC_EACH(f, d->s->failures)
        if (f->reason == WC_REASON_REPLACED && !wc_reported_before(d, f->r.name)) {
            struct wc_case *c = wc_case_begin(d, NULL, NULL);
            /* A host read the name in its memory map. */
            c->r.title = wc_format(c, "%s asked for %s: the file was replaced since it was loaded",
                                   wc_format_caller(c, f), wc_format_name(c, f->r.name));
            wc_case_about(c, wc_caller_of(d->s, f));
            wc_case_request(c, f);
            wc_case_asked_by(c, f);
            wc_case_fact(c, WC_FACT_MIND,
                         "so the process's memory map names a file that is no longer there");
            wc_case_end(c);
        }
}
