/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes in one report, and one answer about all of them: see render.h, report.h. */
#include <string.h>
#include <sys/param.h>

#include "render.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/terminal.h"

/* ---- the one answer ---- */

/* Lines of a finding: the first of a job is reported on one screen with what comes after it. */
#define FIRST_LINES 13
#define OTHER_LINES 8 /* the least with which its processes are reported */

static void print_finding(struct layout *l, const struct merged *m, size_t i,
                          const struct summary_view *view) {
    const struct summary_row *row = &m->rows.p[i];
    bool same = i > 0 && row[-1].n == row->n &&
                memcmp(row[-1].members, row->members, row->n * sizeof(*row->members)) == 0;
    OWNED char *processes = summary_processes(m, row);
    const bool alone = row->told || report_is_notice(row->finding);
    struct wc_finding_view with = {.before = view->before,
                                   .stack = i == 0 ? &row->report->source->stack : NULL,
                                   .process = row->n == 1 ? processes : NULL,
                                   .processes = row->n > 1 ? processes : NULL,
                                   .log = i == 0 ? view->log : NULL,
                                   .lines = alone    ? 1
                                            : i == 0 ? FIRST_LINES - !view->log
                                            : same   ? 1
                                                     : OTHER_LINES};

    render_finding(l->to, row->report, row->finding, with, l->colour);
    if (alone && row->n > 1)
        layout_fact(l, "processes", "%s", processes);
}

static void print_verdict(struct layout *l, const struct merged *m, size_t i,
                          const struct summary_view *view) {
    const struct summary_row *row = &m->rows.p[i];
    OWNED char *who = summary_who(m, row), *processes = who ? summary_processes(m, row) : NULL;

    render_verdict(l, row->report, view->before, who);
    if (who && row->report->conclusion.verdict != WC_verdict_OK)
        layout_fact(l, row->n > 1 ? "processes" : "process", "%s", processes);
}

void render_summary(struct layout *l, const struct merged *m, const struct summary_view *view) {
    const size_t told = MIN(m->rows.n, view->most ?: SUMMARY_ROWS);
    const struct summary_row *first = m->rows.p;

    for (size_t i = 0; i < told; i++) {
        const struct summary_row *row = &m->rows.p[i];
        render_copies(l, row->report, view->before, i > 0 ? row[-1].report : NULL);
        (row->finding ? print_finding : print_verdict)(l, m, i, view);
        if (i == 0 || !row->finding)
            render_known(l, row->report);
    }
    if (m->rows.n > told)
        layout_row(l, 0, 4, "%sand %zu more", view->before, m->rows.n - told);
    if (view->log && (!first->finding || first->told || report_is_notice(first->finding)))
        print_format(l->to, "  log      %s\n", view->log);
}

char *render_summary_text(const struct merged *m, const struct summary_row *row) {
    const struct wc_finding_record *f = row->finding;
    OWNED char *who = summary_who(m, row);
    struct sink sink;
    struct layout l = {.to = sink_begin(&sink), .whole = true};
    bool inside = !f && row->report->conclusion.verdict == WC_verdict_OK;

    if (f)
        print_format(l.to, "%s: %s", wc_enum_word_raw(WC_ENUM_severity, f->severity),
                     f->title ?: f->id);
    else
        render_verdict_words(&l, row->report);
    if (who)
        print_format(l.to, inside ? " in %s" : "; in %s", who);
    return sink_end(&sink);
}

/* ---- which agree, what differs, the processes ---- */

#define DIFFERENCES_TOLD 5
#define ROWS_TOLD 12

void render_agreement(struct layout *l, const void *merged) {
    const struct merged *m = merged;

    for (size_t g = m->groups.n > 1 ? 1 : 0; g < m->groups.n; g++) {
        const struct comparison *c = &m->groups.p[g].differences;
        const size_t told = l->whole ? c->n : MIN(c->n, DIFFERENCES_TOLD);
        OWNED char *agreement = merged_agreement(m, g);
        layout_row(l, 0, 2, "%s%s", agreement, g > 0 ? ":" : "");
        for (size_t i = 0; i < told; i++) {
            OWNED char *text = difference_text(&c->p[i]);
            layout_row(l, 2, 4, "%s", text);
        }
        if (c->n > told)
            layout_row(l, 2, 4, "and %zu more", c->n - told);
        if (c->n == 0 && g > 0)
            layout_row(l, 2, 4, "in what was found about it, not in its libraries");
    }
}

static void print_process(struct layout *l, const struct merged_process *p) {
    const struct wc_stack *s = &p->report->source->stack;
    const struct wc_strings *arguments = &s->process.arguments;
    int indent = 4 + 2 * (p->depth < 16 ? p->depth : 16);

    layout_line(l, indent, indent + 4);
    if (p->rank != WC_NULL)
        layout_words(l, "rank %lld,", (long long)p->rank);
    layout_words(l, "process %lld%s", (long long)p->report->source->pid,
                 arguments->n > 0 ? "" : ":");
    if (arguments->n > 0)
        layout_words(l, "(%s%s%s):", arguments->p[0], arguments->n > 1 ? " " : "",
                     arguments->n > 1 ? arguments->p[1] : "");
    layout_words(l, "%s", wc_enum_word_raw(WC_ENUM_verdict, p->report->conclusion.verdict));
    if (s->has_outcome && p->report->ending) /* of a normal end nothing */
        layout_together(l, "(ended %s)", p->report->ending);
    else if (p->report->source->type == SOURCE_LOG && !s->has_summary)
        layout_together(l, "(no end in the log)");
    layout_end(l);
}

static void print_all(struct layout *l, const void *what) {
    const struct merged *m = what;
    const char *node = NULL;

    render_summary(l, m, &(struct summary_view){.most = l->whole ? m->rows.n : ROWS_TOLD});
    putc('\n', l->to);
    render_agreement(l, m);
    fputs("\nprocesses\n", l->to);
    WC_EACH(p, *m) { /* by node, rank and parent */
        if (p == m->p || !wc_str_same(p->node, node))
            layout_row(l, 2, 4, "node %s", p->node ?: "not known");
        node = p->node;
        print_process(l, p);
    }
    for (const struct merged_process *p = m->p; l->whole && p < m->p + m->n; p++) {
        putc('\n', l->to);
        layout_line(l, 0, 4);
        layout_painted(l, m->groups.p[p->group].who, PAINT_BOLD);
        if (m->groups.p[p->group].n > 1)
            layout_words(l, "(of these, process %lld)", (long long)p->report->source->pid);
        layout_end(l);
        render_text(l, p->report);
    }
}

void render_merged(struct layout *l, const struct merged *m) {
    if (m->n == 1)
        render_text(l, m->p[0].report);
    else
        layout_screen(l, print_all, m);
}

/* ---- a comparison ---- */

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
