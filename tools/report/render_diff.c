/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison: see render.h. */

#include "render.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/layout.h"

#define SIDES 9 /* columns of "  A      " */

static void begin_side(struct layout *l, int indent, int hang, const char *name) {
    fprintf(l->to, "%*s%-*s", indent, "", hang - indent, name);
    layout_line(l, 0, hang);
    l->column = l->indent = hang;
}

/* "A  ok: everything seen fits together", and where that comes from. */
static void print_side(struct layout *l, const char *name, const struct report *r) {
    const struct source *s = r->source;
    const struct wc_process_record *p = &s->stack.process;
    const struct plan_of_finding *fixes = report_fixes(r, r->findings.p);

    begin_side(l, 2, SIDES, name);
    render_verdict_words(l, r);
    layout_end(l);
    begin_side(l, 2, SIDES, "");
    layout_words(l, "%s", source_type_word(s->type));
    layout_path(l, s->path, 0);
    layout_end(l);
    if (s->type == SOURCE_LOCK || !s->stack.has_process)
        return;
    begin_side(l, 2, SIDES, "");
    layout_words(l, "process %lld", (long long)s->pid);
    if (p->node)
        layout_words(l, "on %s", p->node);
    if (p->arguments.n > 0)
        layout_words(l, "(%s%s%s)", p->arguments.p[0], p->arguments.n > 1 ? " " : "",
                     p->arguments.n > 1 ? p->arguments.p[1] : "");
    layout_end(l);
    WC_EACH(fix, *fixes) {
        if (!fix->command && fix != fixes->p) /* a command each; else one sentence */
            continue;
        begin_side(l, 2, SIDES, "");
        layout_words(l, "%s", fix == fixes->p ? repair_label(fix) : "or");
        if (fix->command)
            layout_together(l, "%s", fix->command);
        else
            layout_words(l, "%s", fix->text);
        layout_end(l);
    }
}

void render_comparison(struct layout *l, const struct comparison *c, const char *word,
                       const struct compared_side sides[2]) {
    if (c->n > 0) {
        OWNED char *text = difference_text(&c->p[0]);
        layout_line(l, 0, 4);
        layout_label(l, word, PAINT_ERROR);
        layout_words(l, "%s", text);
        if (c->n > 1)
            layout_together(l, "(and %zu more)", c->n - 1);
        layout_end(l);
    }
    for (size_t i = 0; i < 2; i++)
        if (sides[i].report)
            print_side(l, sides[i].name, sides[i].report);
    WC_EACH(d, *c) {
        if (d == c->p || d->kind != d[-1].kind)
            fprintf(l->to, "\n%s\n", difference_words[d->kind].heading);
        layout_row(l, 2, 4, "%s%s%s", d->attribute, d->attribute ? " of " : "", d->what);
        for (size_t i = 0; i < 2; i++) {
            begin_side(l, 4, 4 + SIDES - 2, sides[i].name);
            layout_words(l, "%s", difference_value(i == 0 ? d->a : d->b));
            layout_end(l);
        }
    }
}

/* ---- JSON ---- */

json_t *side_json(const struct report *r) {
    const struct source *s = r->source;
    const struct wc_finding_record *f = r->findings.n > 0 ? &r->findings.p[0] : NULL;
    bool running = s->type != SOURCE_LOCK && s->stack.has_process;

    return json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:o}", "type", source_type_word(s->type),
                     "path", text_to_json(s->path), "pid",
                     running ? json_integer(s->pid) : json_null(), "node",
                     text_to_json(running ? s->stack.process.node : NULL), "verdict",
                     wc_enum_word_raw(WC_ENUM_verdict, r->conclusion.verdict), "first_finding",
                     text_to_json(f ? f->id : NULL), "fix",
                     JSON_EACH(fix, *report_fixes(r, r->findings.p), repair_json(fix)));
}

json_t *differences_json(const struct comparison *c) {
    return JSON_EACH(d, *c,
                     json_pack("{s:s, s:o, s:o, s:o, s:o}", "kind", difference_words[d->kind].word,
                               "what", text_to_json(d->what), "attribute",
                               text_to_json(d->attribute), "a", text_to_json(d->a), "b",
                               text_to_json(d->b)));
}
