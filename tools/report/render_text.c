/* SPDX-License-Identifier: Apache-2.0 */
/* A report for people: see render.h. */
#include <string.h>

#include "core/demand/finding_text.h"
#include "render.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/layout.h"

/* ---- the verdict ---- */

void render_verdict_words(struct layout *l, const struct report *r) {
    static const char *const words[] = {[WC_verdict_OK] = "ok",
                                        [WC_verdict_UNEXPLAINED] = "unexplained",
                                        [WC_verdict_NOT_OBSERVED] = "not observed"};
    const struct wc_conclusion *c = &r->conclusion;

    if (c->finding)
        layout_label(l, wc_enum_word_raw(WC_ENUM_severity, c->finding->severity),
                     paint_of_severity(c->finding->severity));
    else
        layout_label(l, words[c->verdict], c->verdict == WC_verdict_OK ? PAINT_OK : PAINT_WARNING);
    layout_words(l, "%s", c->text ? c->text : "there was no memory for more words");
}

void render_copies(struct layout *l, const struct report *r, const char *before,
                   const struct report *last) {
    WC_EACH(copy, r->conclusion.copies)
        if (!last || !WC_ANY(same, last->conclusion.copies, strcmp(*same, *copy) == 0))
            layout_row(l, 0, 4, "%s%s", before, *copy);
}

void render_verdict(struct layout *l, const struct report *r, const char *before, const char *who) {
    const bool ok = r->conclusion.verdict == WC_verdict_OK;

    layout_line(l, 0, 4);
    if (before)
        layout_words(l, "%.*s", (int)strlen(before) - 1, before);
    if (ok)
        layout_painted(l, "ok", PAINT_OK);
    else
        render_verdict_words(l, r);
    if (ok && who)
        layout_words(l, "in %s", who);
    layout_end(l);
}

void render_known(struct layout *l, const struct report *r) {
    const struct wc_conclusion *c = &r->conclusion;

    WC_EACH(sentence, c->known)
        layout_fact(l, "known", "%s", *sentence);
    if (c->next)
        layout_fact(l, "next", "%s", c->next);
}

char *render_verdict_text(const struct report *r) {
    struct sink sink;
    struct layout l = {.to = sink_begin(&sink), .whole = true};

    render_verdict_words(&l, r);
    return sink_end(&sink);
}

/* ---- where it comes from ---- */

/* "30555 on vm: python train.py, exited 1" */
static char *process_of(const struct report *r) {
    static const char with[] = "with status ";
    char text[1024];
    struct wc_text t;
    bool exited = r->ending && wc_str_starts(r->ending, with);
    OWNED char *ending =
        exited ? must_format("exited %s", r->ending + sizeof(with) - 1)
               : must_copy(wc_str_same(r->ended, ENDED_NORMALLY) ? r->ended : r->ending);

    if (r->source->type == SOURCE_LOCK)
        return NULL;
    wc_text_begin(&t, text, sizeof(text));
    wc_finding_process(&t, r->source->pid, &r->source->stack.process, ending);
    return must_copy(text);
}

/* With a finding the process stands below that, and nothing is reported as ok. */
static void print_origin(struct layout *l, const struct report *r, bool found) {
    const struct source *s = r->source;
    OWNED char *process = found ? NULL : process_of(r);

    if (process && *process)
        layout_fact(l, "process", "%s", process);
    render_known(l, r);
    for (unsigned i = 1; i < WC_limit_COUNT; i++)
        if (r->conclusion.limits & 1u << i &&
            (!found || l->whole || i == WC_limit_NEWER_THAN_TABLE))
            layout_fact(l, "limit", "%s", wc_limit_text((enum wc_limit)i));
    if (s->stack.outcome.reason && found)
        layout_fact(l, "note", "%s", s->stack.outcome.reason);
    if (!found || l->whole)
        layout_fact(l, s->type == SOURCE_PROCESS ? "seen in" : source_type_word(s->type),
                    "%s (%zu records)", s->path, s->records);
    WC_EACH(gap, r->gaps)
        layout_row(l, LAYOUT_KEYS, LAYOUT_KEYS, "%s", *gap);
}

/* ---- findings ---- */

enum { FIXES = 3, COMMAND_LINES = 8 };

/* Below what was played stands what that gave, below what was not the reason why. */
static void put_fix(struct wc_finding_page *page, const struct repair *fix, const char *key) {
    OWNED char *outcome = repair_outcome(fix, WC_PAGE_VALUE - 1);
    const char *command = fix->command ? wc_page_keep(page, "%s", fix->command) : NULL;
    const bool first = key[0] != ' ';
    bool whole = command && strlen(command) < sizeof(page->raw) - 1 &&
                 wc_page_lines(command, WC_PAGE_KEYS, true) <= COMMAND_LINES;
    struct wc_finding_row *row =
        wc_page_add_row(page, key, RANK_FIX,
                        whole ? command
                              : wc_page_keep(page, "%s%s", fix->text ? fix->text : "?",
                                             command ? " (its command: report -v)" : ""));

    if (!row)
        return;
    row->command = whole;
    row->most = whole ? COMMAND_LINES : 4;
    row->weight = first ? RANK_GOT : RANK_FOUND;
    if ((whole || fix->why || fix->but) &&
        (row = wc_page_add_row(page, "", RANK_FIX, wc_page_keep(page, "%s", outcome)))) {
        row->most = 2;
        row->weight = first ? RANK_GOT : RANK_MIND;
    }
}

void put_fix_rows(struct wc_finding_page *page, const void *fixes) {
    const struct plan_of_finding *of = fixes;
    const char *label = NULL;

    for (size_t i = 0; i < of->n && i < FIXES; i++) {
        const bool again = wc_str_same(repair_label(&of->p[i]), label);
        label = repair_label(&of->p[i]);
        put_fix(page, &of->p[i], again ? " or" : label);
    }
}

void render_finding(FILE *to, const struct report *r, const struct wc_finding_record *f,
                    struct wc_finding_view view, bool colour) {
    static struct wc_finding_page page;

    view.paint = paint_begin(colour, paint_of_severity(f->severity));
    view.unpaint = paint_end(colour);
    view.put_fixes = put_fix_rows;
    view.fixes = report_fixes(r, f);
    fputs(wc_finding_text(&page, f, &view), to);
}

/* The first, with its process, and the titles of the others; with l->whole all of each. */
static void print_findings(struct layout *l, const struct report *r, bool found) {
    OWNED char *process = process_of(r);

    for (size_t i = 0; i < r->findings.n; i++) {
        const bool first = i == 0 && found;
        const struct wc_finding_view view = {
            .stack = &r->source->stack,
            .process = first ? process : NULL,
            .log = first && !l->whole && r->source->type == SOURCE_LOG ? r->source->path : NULL,
            .lines = l->whole ? 0
                     : first  ? WC_FINDING_LINES + 1 /* that of the log */
                              : 1};
        if (i > 0 && l->whole)
            putc('\n', l->to);
        render_finding(l->to, r, &r->findings.p[i], view, l->colour);
        if (!l->whole)
            continue;
        fputs("facts\n", l->to);
        WC_EACH(fact, r->findings.p[i].facts) {
            layout_line(l, 2, 4);
            layout_words(l, "%s: %s", fact->name, fact->value ? fact->value : "not known");
            if (fact->source)
                layout_together(l, "(%s)", fact->source);
            layout_end(l);
        }
    }
}

/* ---- what happened when ---- */

static void print_timeline(struct layout *l, const struct report *r) {
    struct timeline t;

    timeline_make(&t, r);
    const bool threads = WC_ANY(m, t, m->record->tid != t.p[0].record->tid);
    if (t.n > 0)
        fprintf(l->to, "\ntime line: seconds%s, what happened\n", threads ? ", thread" : "");
    WC_EACH(m, t) {
        layout_line(l, 2, 16);
        fprintf(l->to, "%+12.6f", m->seconds);
        l->column += 12;
        if (threads)
            layout_words(l, "%lld", (long long)m->record->tid);
        if (m->severity != WC_severity_NONE)
            layout_painted(l, wc_enum_word(WC_ENUM_severity, m->severity),
                           paint_of_severity(m->severity));
        layout_words(l, "%s", m->text);
        layout_end(l);
    }
    timeline_end(&t);
}

static void print_report(struct layout *l, const void *what) {
    const struct report *r = what;
    const struct wc_finding_record *first = r->conclusion.finding;
    const bool found = first && (l->whole || !report_is_notice(first));

    render_copies(l, r, "", NULL);
    if (found)
        print_findings(l, r, found);
    else if (!first)
        render_verdict(l, r, NULL, NULL);
    print_origin(l, r, found);
    if (!found)
        print_findings(l, r, found);
    if (!found || l->whole)
        render_tree(l, r);
    if (l->whole) {
        print_timeline(l, r);
        fputs("\neverything that is known, as in --json\n", l->to);
        json_print(l->to, render_json(r));
    }
}

void render_text(struct layout *l, const struct report *r) {
    layout_screen(l, print_report, r);
}
