/* SPDX-License-Identifier: Apache-2.0 */
/* One answer about several processes as text: see render.h and summary.h. */
#include <string.h>

#include "render.h"
#include "tools/util/layout.h"

/* Lines of a finding: the first of a job is told on one screen with what comes behind it. */
#define FIRST_LINES 13
#define OTHER_LINES 8 /* the least with which its processes are told */
#define ALSO_LINES 4

static void print_told(struct layout *l, const struct summary *s, const struct summary_row *row,
                       const char *before) {
    OWNED char *who = summary_who(s, row);

    layout_line(l, 0, 4);
    layout_words(l, "%s%s: told above (%s)%s%s", before,
                 wc_enum_word_raw(WC_ENUM_severity, row->finding->severity), row->finding->id,
                 who ? ", in " : "", who);
    layout_end(l);
}

static void print_finding(struct layout *l, const struct summary *s, size_t i,
                          const struct summary_view *view) {
    const struct summary_row *row = &s->rows[i];
    bool same = i > 0 && row[-1].n == row->n &&
                memcmp(row[-1].members, row->members, row->n * sizeof(*row->members)) == 0;
    OWNED char *processes = summary_processes(s, row);
    struct wc_finding_view with = {.before = view->before,
                                   .stack = i == 0 ? &row->report->source->stack : NULL,
                                   .process = row->n == 1 ? processes : NULL,
                                   .processes = row->n > 1 ? processes : NULL,
                                   .log = i == 0 ? view->log : NULL,
                                   .lines = i == 0 ? FIRST_LINES - !view->log
                                            : same ? ALSO_LINES
                                                   : OTHER_LINES};

    if (row->told)
        print_told(l, s, row, view->before);
    else
        render_finding(l->to, row->report, row->finding, with, l->colour);
}

/* "ok: ... in 13 processes: ..." */
static void add_verdict(struct layout *l, const struct summary_row *row, const char *who) {
    render_verdict_words(l, row->report);
    if (who && row->report->conclusion.verdict == WC_verdict_OK)
        layout_words(l, "in %s", who);
}

static void print_verdict(struct layout *l, const struct summary *s, size_t i,
                          const struct summary_view *view) {
    const struct summary_row *row = &s->rows[i];
    OWNED char *who = summary_who(s, row), *processes = who ? summary_processes(s, row) : NULL;

    layout_line(l, 0, 4);
    if (view->before)
        layout_words(l, "%.*s", (int)strlen(view->before) - 1, view->before);
    add_verdict(l, row, who);
    layout_end(l);
    render_known(l, row->report);
    if (who && row->report->conclusion.verdict != WC_verdict_OK)
        layout_fact(l, row->n > 1 ? "processes" : "process", "%s", processes);
}

void render_summary(struct layout *l, const struct summary *s, const struct summary_view *view) {
    size_t told = s->n < view->most ? s->n : view->most;

    for (size_t i = 0; i < told; i++)
        (s->rows[i].finding ? print_finding : print_verdict)(l, s, i, view);
    if (s->n > told)
        layout_row(l, 0, 4, "%sand %zu more", view->before, s->n - told);
    if (view->log && (!s->rows[0].finding || s->rows[0].told))
        print_format(l->to, "  log      %s\n", view->log);
}

char *render_summary_text(const struct summary *s, const struct summary_row *row) {
    const struct wc_finding_record *f = row->finding;
    OWNED char *who = summary_who(s, row);
    struct sink sink;
    struct layout l = {.to = sink_begin(&sink), .whole = true};
    bool inside = !f && row->report->conclusion.verdict == WC_verdict_OK;

    if (f)
        print_format(l.to, "%s: %s", wc_enum_word_raw(WC_ENUM_severity, f->severity),
                     f->title ? f->title : f->id);
    else
        add_verdict(&l, row, who);
    if (who && !inside)
        print_format(l.to, "; in %s", who);
    return sink_end(&sink);
}
