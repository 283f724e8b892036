/* SPDX-License-Identifier: Apache-2.0 */
/* A report as JSON: docs/report.schema.json, made from record.def as this is. */
#include "render.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/log/record_json.h"

static json_t *entry_json(enum wc_kind kind, const void *fields, int64_t seq) {
    json_t *one = record_to_json(kind, fields, NULL);

    json_object_set_new(one, "seq", seq == WC_NULL ? json_null() : json_integer(seq));
    return one;
}

#define LIST(stack, object, list, kind)                                                            \
    json_object_set_new(                                                                           \
        object, #list,                                                                             \
        JSON_EACH(one, (stack)->list, entry_json(WC_KIND_##kind, &one->r, one->seq)))
#define SINGLE(stack, object, kind)                                                                \
    json_object_set_new(object, #kind,                                                             \
                        (stack)->has_##kind ? record_to_json(WC_KIND_##kind, &(stack)->kind, NULL) \
                                            : json_null())

static json_t *stack_json(const struct report *r) {
    const struct wc_stack *s = &r->source->stack;
    json_t *object = json_object();

    json_object_set_new(object, "fingerprint", text_to_json(r->fingerprint));
    SINGLE(s, object, process);
    SINGLE(s, object, machine);
    LIST(s, object, objects, object);
    LIST(s, object, searches, search);
    LIST(s, object, candidates, candidate);
    LIST(s, object, packages, package);
    LIST(s, object, demands, demand);
    LIST(s, object, bindings, binding);
    LIST(s, object, failures, failure);
    LIST(s, object, files, file);
    LIST(s, object, calls, call);
    LIST(s, object, unobserved, unobserved);
    SINGLE(s, object, outcome);
    json_object_set_new(object, "requests", json_integer(s->requests));
    json_object_set_new(object, "dropped", json_integer(s->dropped));
    return object;
}

static json_t *source_json(const struct source *s) {
    static const struct log_file none;
    const struct log_file *file = s->file ?: &none; /* of one that is not a log */
    json_t *damaged = JSON_EACH(
        d, file->damaged,
        json_pack("{s:I, s:o}", "line", (json_int_t)d->line, "reason", text_to_json(d->reason)));
    json_t *in_flight = text_to_json(in_flight_last(&s->in_flight, NULL));

    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:I, s:I}", "type",
                     source_type_word(s->type), "path", text_to_json(s->path), "pid",
                     (json_int_t)s->pid, "first_time", (json_int_t)s->first_time, "last_time",
                     (json_int_t)s->last_time, "records", (json_int_t)s->records, "in_flight",
                     in_flight, "damaged_lines", (json_int_t)file->damaged_lines, "damaged",
                     damaged, "missing", (json_int_t)source_missing(s), "cut", (json_int_t)s->cut);
}

/* ---- fixes, with how far they were played ---- */

json_t *repair_json(const struct repair *fix) {
    OWNED char *gives =
        fix->gives && fix->from ? must_format("%s from %s", fix->gives, fix->from) : NULL;
    json_t *edits =
        JSON_EACH(e, fix->edits,
                  json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "edit", edit_rows[e->kind].word,
                            "name", text_to_json(e->name), "value", text_to_json(e->value), "path",
                            text_to_json(e->path), "target", text_to_json(e->target), "environment",
                            text_to_json(e->environment), "by", text_to_json(e->by)));

    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "action",
                     text_to_json(fix->action), "text", text_to_json(fix->text), "edits", edits,
                     "command", text_to_json(fix->command), "checked",
                     repair_checked_word(fix->checked), "why", text_to_json(fix->why), "gives",
                     text_to_json(gives), "but", text_to_json(fix->but));
}

/* What replaces what matters in a log; in a report everything holds. */
static json_t *finding_json(const struct report *r, const struct wc_finding_record *f) {
    json_t *one = record_to_json(WC_KIND_finding, f, "supersedes");
    const struct plan_of_finding *of = report_fixes(r, f);

    json_object_set_new(one, "fix", JSON_EACH(fix, *of, repair_json(fix)));
    json_object_set_new(
        one, "rejected",
        JSON_EACH(no, of->rejected,
                  json_pack("{s:o, s:s}", "text", text_to_json(no->text), "because", no->because)));
    return one;
}

json_t *render_json(const struct report *r) {
    const struct wc_stack *s = &r->source->stack;
    const struct wc_conclusion *c = &r->conclusion;
    json_t *limits = json_array();

    for (unsigned i = 1; i < WC_limit_COUNT; i++)
        if (c->limits & 1u << i)
            json_array_append_new(limits, text_to_json(wc_enum_word_raw(WC_ENUM_limit, (int)i)));
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:[o]}", "verdict",
        wc_enum_word_raw(WC_ENUM_verdict, c->verdict), "text", text_to_json(c->text), "limits",
        limits, "known", JSON_EACH(sentence, c->known, text_to_json(*sentence)), "next",
        text_to_json(c->next), "findings", JSON_EACH(f, r->findings, finding_json(r, f)), "stack",
        stack_json(r), "node", text_to_json(s->has_process ? s->process.node : NULL), "sources",
        source_json(r->source));
}

json_t *render_merged_json(const struct merged *m) {
    if (m->n == 1)
        return render_json(m->p[0].report);
    return JSON_EACH(p, *m, render_json(p->report));
}
