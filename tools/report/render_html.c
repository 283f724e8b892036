/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one page that needs nothing else: see render.h. What is written here can be read
 * without a script: verdict, findings, time line, everything that is known. The script of the page
 * (html/page.js) draws the picture from the JSON of each report. Page, style and script come from
 * tools/report/html through generate_html.py.
 */
#include <stdlib.h>
#include <string.h>

#include "render.h"
#include "tools/diagnose/plan.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/terminal.h"

#define LEFT_OUT "and more: whichcudnn report -v lists all"
/* Bytes of the page, which stays below 10 MB: lines as of a terminal, rows of processes, reports.
 */
#define LINES_MOST 1000000
#define ROWS_MOST 3000000
#define ARTICLES_MOST 4000000

/* ---- text that is harmless between tags; in attributes stand words of ours ---- */

static void put_escaped(FILE *to, const char *s) {
    for (; *s; s++)
        if (*s == '&' || *s == '<' || *s == '>')
            fputs(*s == '&' ? "&amp;" : *s == '<' ? "&lt;" : "&gt;", to);
        else
            putc(*s, to);
}

/* Controls and marks that reorder text are spelled out, as on a terminal. */
static void put_text(FILE *to, const char *s) {
    OWNED char *spelled = harmless_text(s);

    put_escaped(to, spelled);
}

/* As print_format, but the arguments of %s are untrusted text between tags; what is ours prints as
 * it is. */
static void html(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void html(FILE *to, const char *format, ...) {
    va_list args;

    va_start(args, format);
    print_format_by(to, put_text, format, &args);
    va_end(args);
}

/* What `print` has for a terminal. */
static void put_lines(FILE *to, const char *class,
                      void (*print)(struct layout *l, const void *what), const void *what) {
    struct sink sink;
    struct layout l = {.to = sink_begin(&sink), .whole = true};

    print(&l, what);
    OWNED char *text = sink_end(&sink);
    if (sink.n > LINES_MOST)
        ((char *)memrchr(text, '\n', LINES_MOST))[1] = '\0';
    fprintf(to, "<pre class=\"%s\">", class);
    put_escaped(to, text);
    fputs(sink.n > LINES_MOST ? LEFT_OUT "\n</pre>\n" : "</pre>\n", to);
}

static const char *severity_word(enum wc_severity severity) {
    return wc_enum_word_raw(WC_ENUM_severity, severity);
}

static const char *verdict_word(const struct report *r) {
    return wc_enum_word_raw(WC_ENUM_verdict, r->conclusion.verdict);
}

/* ---- findings ---- */

static void put_fix(FILE *to, const struct repair *fix, const char *tag) {
    OWNED char *outcome = repair_outcome(fix, 0);

    html(to, "<%s>%s: %s</%s>", tag, repair_label(fix), fix->text, tag);
    if (fix->command)
        html(to, "<pre>%s</pre>", fix->command);
    if (fix->command || fix->why)
        html(to, "<p>%s</p>", outcome);
}

static void put_finding(FILE *to, const struct report *r, size_t i) {
    const struct wc_finding_record *f = &r->findings.p[i];
    const char *severity = severity_word(f->severity);

    html(to, "<li class=\"finding %s\" data-finding=\"%zu\">", severity, i);
    html(to, "<h3>%zu. <span class=\"severity\">%s</span>: <span>%s%s</span>", i + 1, severity,
         f->title ?: "?", f->predicted ? " (predicted)" : "");
    html(to, "<span class=\"id\"> %s</span></h3>\n<dl class=\"facts\">\n", f->id ?: "?");
    WC_EACH(fact, f->facts) {
        html(to, "<dt>%s</dt><dd><span>%s</span>", fact->name ?: "?", fact->value ?: "not known");
        if (fact->source)
            html(to, "<span class=\"source\"> (%s)</span>", fact->source);
        fputs("</dd>\n", to);
    }
    fputs("</dl>\n", to);
    if (f->explained_by)
        html(to, "<p>explained by: %s</p>", f->explained_by);
    fputs("<ul class=\"fix\">", to);
    WC_EACH(fix, *report_fixes(r, f)) {
        fputs("<li>", to);
        put_fix(to, fix, "span");
        fputs("</li>\n", to);
    }
    fputs("</ul></li>\n", to);
}

/* ---- what happened when, and all that is known ---- */

#define TIMELINE_OPEN_MOST 100 /* records; a longer time line is to be opened */

static void put_timeline(FILE *to, const struct report *r) {
    const struct source *s = r->source;

    if (s->events.n == 0)
        return;
    fprintf(to, "<details class=\"timeline\"%s><summary>Time line</summary>\n",
            s->events.n > TIMELINE_OPEN_MOST ? "" : " open");
    put_lines(to, "moments", render_timeline, r);
    fputs("</details>\n", to);
    if (s->events.n < s->records)
        html(to,
             "<p class=\"cut\">It is of the first %zu of %zu records. The log has them all: "
             "%s</p>\n",
             s->events.n, s->records, s->path);
}

static void put_report(FILE *to, const struct report *r, size_t n) {
    const struct wc_stack *s = &r->source->stack;
    OWNED char *text = render_verdict_text(r);
    struct sink sink;

    fprintf(to, "<article id=\"p%zu\" data-verdict=\"%s\">\n", n + 1, verdict_word(r));
    html(to, "<div class=\"verdict %s\">", verdict_word(r));
    WC_EACH(copy, r->conclusion.copies)
        if (r->conclusion.verdict != WC_verdict_OK) /* the program that printed them */
            html(to, "<p>%s</p>", *copy);
    html(to, "<h1>%s</h1>", text);
    if (r->conclusion.finding && report_fixes(r, r->findings.p)->n > 0)
        put_fix(to, &report_fixes(r, r->findings.p)->p[0], "p");
    fputs("</div>\n", to);
    put_lines(to, "origin", render_origin, r);
    fputs("<section class=\"picture\" hidden><h2>Picture</h2></section>\n"
          "<noscript><p>The picture of all libraries needs JavaScript; what it shows stands below "
          "in words.</p></noscript>\n",
          to);
    if (r->findings.n > 0)
        fputs("<section class=\"findings\"><h2>Findings, cause first</h2><ol>\n", to);
    for (size_t i = 0; i < r->findings.n; i++)
        put_finding(to, r, i);
    if (r->findings.n > 0)
        html(to, "</ol><p>more: whichcudnn explain %s</p></section>\n", r->findings.p[0].id);
    if (s->unobserved.n > 0)
        fputs("<section class=\"unobserved\"><h2>Not observed</h2><dl class=\"facts\">\n", to);
    WC_EACH(u, s->unobserved)
        html(to, "<dt>%s</dt><dd>%s%s%s%s</dd>", u->r.what ?: "something", u->r.why ?: "?",
             u->r.path ? " (" : "", u->r.path, u->r.path ? ")" : "");
    if (s->unobserved.n > 0)
        fputs("</dl></section>\n", to);
    put_timeline(to, r);
    fputs("<details class=\"everything\"><summary>Everything that is known, as in --json</summary>"
          "<pre>",
          to);
    json_print(sink_begin(&sink), render_json(r)); /* the script of the page draws from it */
    OWNED char *json = sink_end(&sink);
    put_escaped(to, json);
    fputs("</pre></details>\n</article>\n", to);
}

/* ---- several processes ---- */

struct page {
    const struct merged *m;
    bool *shown; /* each process: its report is in the page */
    size_t shown_count;
    char *articles; /* of those */
};

/* "python train.py", else the program's path, else "". The caller frees. */
static char *command_text(const struct wc_process_record *p) {
    return p->arguments.n > 0 ? joined(&p->arguments, " ") : must_copy(p->executable ?: "");
}

static void fill_processes(FILE *to, const struct page *page) {
    const struct merged *m = page->m;
    size_t i = 0;

    if (m->n < 2)
        return;
    fputs("<section class=\"processes\" aria-label=\"processes\">\n", to);
    WC_EACH(row, m->rows) { /* the one answer about all of them */
        OWNED char *text = render_summary_text(m, row);
        char *rest = text + strcspn(text, ":"); /* after the word of a severity or verdict */
        const char *separator = *rest ? ":" : "";
        *rest = '\0';
        html(to, "<p class=\"%s\"><span class=\"severity\">%s</span>%s%s</p>\n",
             row->finding ? severity_word(row->finding->severity) : verdict_word(row->report), text,
             separator, *separator ? rest + 1 : "");
    }
    put_lines(to, "agreement", render_agreement, m);
    if (page->shown_count < m->n)
        html(
            to,
            "<p class=\"cut\">%zu of %zu processes are shown whole, the first of each group before "
            "others. Another one: whichcudnn report --html FILE LOG; all: whichcudnn report "
            "--json</p>\n",
            page->shown_count, m->n);
    long most = ftell(to) + ROWS_MOST;
    fputs("<div "
          "class=\"list\"><table><thead><tr><th>node</th><th>rank</th><th>process</th><th>program</"
          "th>"
          "<th>verdict</th><th>ended</th><th>agrees with</th></tr></thead><tbody>\n",
          to);
    for (; i < m->n && ftell(to) < most; i++) {
        const struct merged_process *p = &m->p[i];
        OWNED char *command = command_text(&p->report->source->stack.process);
        html(to, "<tr class=\"%s\"><td>%s</td><td>", verdict_word(p->report),
             p->node ?: "not known");
        if (p->rank != WC_NULL)
            html(to, "rank %jd", p->rank);
        fprintf(to, "</td><td>%.*s", 2 * (p->depth < 16 ? p->depth : 16),
                "> > > > > > > > > > > > > > > > ");
        if (page->shown[i])
            fprintf(to, "<a href=\"#p%zu\">", i + 1);
        fprintf(to, "%lld%s</td>", (long long)p->report->source->pid, page->shown[i] ? "</a>" : "");
        html(to, "<td>%s</td><td class=\"severity\">%s</td><td>%s</td><td>%s</td></tr>\n", command,
             verdict_word(p->report), p->report->ending, m->groups.p[p->group].who);
    }
    fputs("</tbody></table></div>\n", to);
    if (i < m->n)
        fputs("<p class=\"cut\">" LEFT_OUT "</p>\n", to);
    fputs("</section>\n", to);
}

/* ---- all of it ---- */

/* False: the page has no room for it. */
static bool add_article(struct page *page, FILE *articles, size_t i) {
    struct sink article;

    put_report(sink_begin(&article), page->m->p[i].report, i);
    OWNED char *text = sink_end(&article);
    page->shown[i] = page->shown_count == 0 || ftell(articles) + (long)article.n <= ARTICLES_MOST;
    page->shown_count += page->shown[i];
    fputs(page->shown[i] ? text : "", articles);
    return page->shown[i];
}

/* What the holes of the page are filled with. */

static void fill_title(FILE *to, const struct page *page) {
    const struct merged *m = page->m;
    OWNED char *text =
        m->n > 1 ? render_summary_text(m, m->rows.p) : render_verdict_text(m->p[0].report);

    html(to, "whichcudnn: %s", text);
}

static void fill_reports(FILE *to, const struct page *page) {
    fputs(page->articles, to);
}

void render_html(FILE *to, const struct merged *m) {
    struct page page = {.m = m, .shown = must_allocate(m->n * sizeof(*page.shown))};
    struct sink sink;
    FILE *articles = sink_begin(&sink);
    bool more = true;

    /* Of each group the first, then all others, as long as there is room. */
    for (size_t g = 0; more && g < m->groups.n; g++)
        more = add_article(&page, articles, m->groups.p[g].members[0]);
    for (size_t i = 0; more && i < m->n; i++)
        more = page.shown[i] || add_article(&page, articles, i);
    page.articles = sink_end(&sink);
#define TEXT(text) fputs(text, to);
#define HOLE(name) fill_##name(to, &page);
#include "report_page.inc"
#undef TEXT
#undef HOLE
    free(page.shown);
    free(page.articles);
}
