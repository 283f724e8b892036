/* SPDX-License-Identifier: Apache-2.0 */
/* A report for people: see render.h. */
#include <stdlib.h>
#include <string.h>

#include "fix_rows.h"
#include "render.h"
#include "timeline.h"
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

void render_known(struct layout *l, const struct report *r) {
    const struct wc_conclusion *c = &r->conclusion;

    WC_EACH(sentence, c->known)
        layout_fact(l, "known", "%s", *sentence);
    if (c->next)
        layout_fact(l, "next", "%s", c->next);
}

static void print_limits(struct layout *l, const struct report *r) {
    unsigned limits = r->conclusion.limits;

    if (!limits)
        return;
    layout_key(l, "limits");
    for (unsigned i = 1; i < WC_limit_COUNT; i++)
        if (limits & 1u << i)
            layout_words(l, "%s%s", wc_limit_text((enum wc_limit)i), limits >> i > 1 ? ";" : "");
    layout_end(l);
}

char *render_verdict_text(const struct report *r) {
    struct sink sink;
    struct layout l = {.to = sink_begin(&sink), .whole = true};

    render_verdict_words(&l, r);
    return sink_end(&sink);
}

/* ---- where it comes from ---- */

static void print_process(struct layout *l, const struct report *r) {
    const struct wc_process_record *p = &r->source->stack.process;

    layout_key(l, "process");
    if (r->source->pid > 0)
        layout_words(l, "%lld%s%s%s", (long long)r->source->pid, p->node ? " on " : "", p->node,
                     p->arguments.n > 0 || p->executable ? ":" : "");
    WC_EACH(argument, p->arguments)
        layout_word(l, *argument);
    if (p->arguments.n == 0)
        layout_word(l, p->executable);
    layout_end(l);
}

static void print_origin(struct layout *l, const struct report *r) {
    const struct source *s = r->source;
    bool told = r->conclusion.finding; /* with the first finding */

    if (told)
        putc('\n', l->to);
    if (!told && s->stack.has_process && s->type != SOURCE_LOCK)
        print_process(l, r);
    if (!told && r->ending)
        layout_fact(l, "ended", "%s", r->ending);
    render_known(l, r);
    print_limits(l, r);
    if (s->stack.outcome.reason && told)
        layout_fact(l, "mind", "%s", s->stack.outcome.reason);
    layout_key(l, s->type == SOURCE_PROCESS ? "seen in" : source_type_word(s->type));
    layout_word(l, s->path);
    layout_words(l, "(%zu records)", s->records);
    layout_end(l);
    WC_EACH(gap, r->gaps)
        layout_row(l, LAYOUT_KEYS, LAYOUT_KEYS, "%s", *gap);
}

/* ---- findings ---- */

void render_finding(FILE *to, const struct report *r, const struct wc_finding_record *f,
                    struct wc_finding_view view, bool colour) {
    static struct wc_finding_page page;

    view.paint = paint_begin(colour, paint_of_severity(f->severity));
    view.unpaint = paint_end(colour);
    view.put_fixes = put_fix_rows;
    view.fixes = report_fixes(r, f);
    fputs(wc_finding_text(&page, f, &view), to);
}

/* Each with its source. */
static void print_facts(struct layout *l, const struct wc_finding_record *f) {
    fputs("facts\n", l->to);
    WC_EACH(fact, f->facts) {
        layout_line(l, 2, 4);
        layout_words(l, "%s: %s", fact->name, fact->value ? fact->value : "not known");
        if (fact->source)
            layout_together(l, "(%s)", fact->source);
        layout_end(l);
    }
}

/* Their process is told once. */
static void print_findings(struct layout *l, const struct report *r, bool whole) {
    static const char with[] = "with status "; /* "exited 1" */
    char process[1024];
    struct wc_text t;
    bool exited = r->ending && wc_str_starts(r->ending, with);
    OWNED char *ending = r->ending && (exited || strcmp(r->ending, "normally") == 0)
                             ? must_format("%s %s", exited ? "exited" : "ended",
                                           exited ? r->ending + sizeof(with) - 1 : r->ending)
                             : must_copy(r->ending);
    struct wc_finding_view view = {.stack = &r->source->stack};
    bool told = r->conclusion.finding && r->source->type != SOURCE_LOCK;

    wc_text_begin(&t, process, sizeof(process));
    wc_finding_process(&t, r->source->pid, &r->source->stack.process, ending);
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct wc_finding_record *f = &r->findings.p[i];
        if (i > 0)
            putc('\n', l->to);
        view.process = i == 0 && told ? process : NULL;
        render_finding(l->to, r, f, view, l->colour);
        if (whole)
            print_facts(l, f);
    }
}

static void print_unobserved(struct layout *l, const struct wc_stack *s) {
    if (s->unobserved.n > 0)
        fputs("\nnot observed\n", l->to);
    WC_EACH(u, s->unobserved)
        layout_row(l, 2, 4, "%s: %s%s%s%s", u->r.what ? u->r.what : "something",
                   u->r.why ? u->r.why : "?", u->r.path ? " (" : "", u->r.path,
                   u->r.path ? ")" : "");
}

/* ---- what happened when ---- */

static void print_timeline(struct layout *l, const struct report *r) {
    struct timeline t;

    timeline_make(&t, r);
    const bool threads = WC_ANY(m, t, m->tid != t.p[0].tid);
    if (t.n > 0)
        fprintf(l->to, "\ntime line: seconds%s, what happened\n", threads ? ", thread" : "");
    WC_EACH(m, t) {
        layout_line(l, 2, 16);
        fprintf(l->to, "%+12.6f", m->seconds);
        l->column += 12;
        if (threads)
            layout_words(l, "%lld", (long long)m->tid);
        if (m->severity != WC_severity_NONE)
            layout_painted(l, wc_enum_word(WC_ENUM_severity, m->severity),
                           paint_of_severity(m->severity));
        layout_words(l, "%s", m->text);
        layout_end(l);
    }
    timeline_end(&t);
}

void render_text(struct layout *l, const struct report *r) {
    bool found = r->conclusion.finding;

    if (found) {
        print_findings(l, r, l->whole);
    } else {
        layout_line(l, 0, 4);
        render_verdict_words(l, r);
        layout_end(l);
    }
    print_origin(l, r);
    render_tree(l, r);
    if (!found && r->findings.n > 0) {
        putc('\n', l->to);
        print_findings(l, r, l->whole);
    }
    print_unobserved(l, &r->source->stack);
    if (l->whole) {
        print_timeline(l, r);
        fputs("\neverything that is known, as in --json\n", l->to);
        json_print(l->to, render_json(r));
    }
}
