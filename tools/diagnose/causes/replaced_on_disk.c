/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replaced-on-disk: a library that is mapped is not the file any more that has its name: a user
 * installed another release while the process ran. What it opens from now on is of the new one.
 */
#include "core/demand/finding.h"

static void report_mapped(struct wc_diagnosis *d, const struct wc_file_record *file,
                          const struct wc_object *o) {
    /* Did what was loaded after it turn out to be of another release? */
    const bool differs = o->r.role == WC_role_FACADE &&
                         WC_ANY(part, d->s->objects,
                                part->r.role == WC_role_PART && wc_in_set(d->s, part, o) &&
                                    !wc_ranges_meet(wc_seen_range(part), wc_seen_range(o)));
    struct wc_case *c = wc_case_begin(d);

    if (!differs && !wc_ended_badly(d->s) && !wc_a_call_failed(d->s))
        c->effect = WC_EFFECT_DOUBTED;
    c->r.title = wc_format(c, "%s was replaced on disk since the process loaded it",
                           wc_format_name(c, wc_name_of(o)));
    c->r.object = o->r.object;
    wc_case_library(c, WC_FACT_GOT, o);
    wc_case_fact_from(c, WC_FACT_THERE_IS_NOW, file->version ? file->version : file->content,
                      file->path);
    wc_case_fact(c, WC_FACT_MIND,
                 "the process keeps the mapped file; files that it opens from now on are new");
    wc_case_end(c);
}

void wc_find_replaced_on_disk(struct wc_diagnosis *d) {
    WC_EACH(file, d->s->files) {
        const struct wc_object *o =
            file->r.fault == WC_file_fault_REPLACED
                ? WC_FIRST(o, d->s->objects, o->r.mapped && wc_str_same(o->r.path, file->r.path))
                : NULL;
        if (o && !WC_ANY(r, *d->out, wc_str_same(r->id, d->kind->id) && r->object == o->r.object))
            report_mapped(d, &file->r, o);
    }
    WC_EACH(f, d->s->failures)
        if (f->reason == WC_REASON_REPLACED && !wc_reported_before(d, f->r.name)) {
            struct wc_case *c = wc_case_begin(d);
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
