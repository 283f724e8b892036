/* SPDX-License-Identifier: Apache-2.0 */
/* One answer about several processes as text: see render.h and summary.h. */
#include <string.h>

#include "render.h"
#include "tools/util/layout.h"

/* Lines of a finding: the first of a job is reported on one screen with what comes after it. */
#define FIRST_LINES 13
#define OTHER_LINES 8 /* the least with which its processes are reported */
#define TOLD_LINES 4  /* of one that was printed while the command ran: what repairs it */

static void print_finding(struct layout *l, const struct summary *s, size_t i,
                          const struct summary_view *view) {
    const struct summary_row *row = &s->rows[i];
    bool same = i > 0 && row[-1].n == row->n &&
                memcmp(row[-1].members, row->members, row->n * sizeof(*row->members)) == 0;
    OWNED char *processes = summary_processes(s, row);
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

static void print_verdict(struct layout *l, const struct summary *s, size_t i,
                          const struct summary_view *view) {
    const struct summary_row *row = &s->rows[i];
    OWNED char *who = summary_who(s, row), *processes = who ? summary_processes(s, row) : NULL;

    render_verdict(l, row->report, view->before, who);
    render_known(l, row->report);
    if (who && row->report->conclusion.verdict != WC_verdict_OK)
        layout_fact(l, row->n > 1 ? "processes" : "process", "%s", processes);
}

void render_summary(struct layout *l, const struct summary *s, const struct summary_view *view) {
    size_t told = s->n < view->most ? s->n : view->most;
    const struct summary_row *first = s->rows;

    for (size_t i = 0; i < told; i++) {
        const struct summary_row *row = &s->rows[i];
        render_copies(l, row->report, view->before, i > 0 ? row[-1].report : NULL);
        (s->rows[i].finding ? print_finding : print_verdict)(l, s, i, view);
    }
    if (s->n > told)
        layout_row(l, 0, 4, "%sand %zu more", view->before, s->n - told);
    if (view->log && (!first->finding || first->told || report_is_notice(first->finding)))
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
        render_verdict_words(&l, row->report);
    if (who && inside)
        layout_words(&l, "in %s", who);
    else if (who)
        print_format(l.to, "; in %s", who);
    return sink_end(&sink);
}
