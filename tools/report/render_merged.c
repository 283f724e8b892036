/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes in one report: see render.h and merge.h. */

#include "render.h"
#include "tools/util/layout.h"

#define DIFFERENCES_TOLD 5
#define ROWS_TOLD 12

static void print_differences(struct layout *l, const struct merged *m, size_t group) {
    const struct comparison *c = &m->groups[group].differences;
    const size_t told = l->whole || c->n < DIFFERENCES_TOLD ? c->n : DIFFERENCES_TOLD;

    for (size_t i = 0; i < told; i++) {
        OWNED char *text = difference_text(&c->p[i]);
        layout_row(l, 2, 4, "%s", text);
    }
    if (c->n > told)
        layout_row(l, 2, 4, "and %zu more", c->n - told);
    if (c->n == 0)
        layout_row(l, 2, 4, "in what was found about it, not in its libraries");
}

/* Which agree and what differs. */
static void print_agreement(struct layout *l, const struct merged *m) {
    for (size_t g = m->group_count > 1 ? 1 : 0; g < m->group_count; g++) {
        OWNED char *text = merged_agreement(m, g);
        layout_row(l, 0, 2, "%s%s", text, g > 0 ? ":" : "");
        if (g > 0)
            print_differences(l, m, g);
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

/* By node, rank and parent. */
static void print_processes(struct layout *l, const struct merged *m) {
    fputs("\nprocesses\n", l->to);
    for (size_t i = 0; i < m->n; i++) {
        if (i == 0 || !wc_str_same(m->p[i].node, m->p[i - 1].node))
            layout_row(l, 2, 4, "node %s", m->p[i].node ? m->p[i].node : "not known");
        print_process(l, &m->p[i]);
    }
}

static void print_report(struct layout *l, const struct merged *m, const struct merged_process *p) {
    const struct merged_group *g = &m->groups[p->group];

    putc('\n', l->to);
    layout_line(l, 0, 4);
    layout_painted(l, g->who, PAINT_BOLD);
    if (g->n > 1)
        layout_words(l, "(of these, process %lld)", (long long)p->report->source->pid);
    layout_end(l);
    render_text(l, p->report);
}

/* The one answer about all of them, and a blank line. */
static void print_job(struct layout *l, const struct merged *m) {
    struct summary s;

    summary_make(&s, m);
    render_summary(l, &s,
                   &(struct summary_view){.most = l->whole || s.n < ROWS_TOLD ? s.n : ROWS_TOLD});
    summary_end(&s);
    putc('\n', l->to);
}

static void print_all(struct layout *l, const void *what) {
    const struct merged *m = what;

    print_job(l, m);
    print_agreement(l, m);
    print_processes(l, m);
    for (size_t i = 0; l->whole && i < m->n; i++)
        print_report(l, m, &m->p[i]);
}

void render_merged(struct layout *l, const struct merged *m) {
    if (m->n == 1)
        render_text(l, m->p[0].report);
    else
        layout_screen(l, print_all, m);
}
