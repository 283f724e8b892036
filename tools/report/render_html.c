/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report as one page that needs nothing else: see render.h. What is written here can be read
 * without a script: verdict, findings, time line, everything that is known. The script of the page
 * (html/page.js) draws the picture from the JSON that is embedded. Page, style and script come from
 * tools/report/html by way of generate_html.py.
 */
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "render.h"
#include "timeline.h"
#include "tools/util/terminal.h"

/* ---- text that is harmless as such and between tags ---- */

static void put_escaped(FILE *to, const char *s) {
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        const char *name = c < sizeof(names) / sizeof(names[0]) ? names[c] : NULL;
        if (name)
            fputs(name, to);
        else
            putc(c, to);
    }
}

/* Controls and marks that reorder text are spelled out, as on a terminal. */
static void put_text(FILE *to, const char *s) {
    char *spelled = harmless_text(s);

    put_escaped(to, spelled);
    free(spelled);
}

/* An element: `tag` is ours ("p class=ok"), the rest is untrusted text. */
static void element(FILE *to, const char *tag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void element(FILE *to, const char *tag, const char *format, ...) {
    va_list args;
    char *text;

    va_start(args, format);
    text = must_format_list(format, args);
    va_end(args);
    fprintf(to, "<%s>", tag);
    put_text(to, text);
    fprintf(to, "</%.*s>", (int)strcspn(tag, " "), tag);
    free(text);
}

static void row(FILE *to, const char *key, const char *value) {
    element(to, "dt", "%s", key);
    element(to, "dd", "%s", value);
    putc('\n', to);
}

static const char *severity_word(enum wc_severity severity) {
    return wc_enum_word_raw(WC_ENUM_severity, severity);
}

static const char *verdict_word(const struct report *r) {
    return wc_enum_word_raw(WC_ENUM_verdict, r->verdict);
}

/* ---- verdict, where it comes from ---- */

static void put_fix(FILE *to, const char *tag, const struct wc_fix *fix) {
    element(to, tag, "fix: %s", fix->text ? fix->text : fix->action);
    if (fix->command)
        element(to, "pre", "%s", fix->command);
}

static void put_verdict(FILE *to, const struct report *r) {
    char *text = render_verdict_text(r);

    fprintf(to, "<div class=\"verdict %s\">", verdict_word(r));
    element(to, "h1", "%s", text);
    if (r->verdict != WC_verdict_NOTHING_OBSERVED && r->findings.n > 0 &&
        r->findings.p[0].fix.n > 0)
        put_fix(to, "p", &r->findings.p[0].fix.p[0]);
    fputs("</div>\n", to);
    free(text);
}

/* "python train.py", else the program's path, else "". The caller frees. */
static char *command_text(const struct wc_process_record *p) {
    struct sink sink;
    FILE *to = sink_begin(&sink);

    for (size_t i = 0; i < p->arguments.n; i++)
        fprintf(to, "%s%s", i > 0 ? " " : "", p->arguments.p[i]);
    if (p->arguments.n == 0 && p->executable)
        fputs(p->executable, to);
    return sink_end(&sink);
}

static void put_process(FILE *to, const struct report *r) {
    const struct wc_process_record *p = &r->source->stack.process;
    char *command = command_text(p);
    char *text = must_format("%lld%s%s%s%s", (long long)r->source->pid, p->node ? " on " : "",
                             p->node ? p->node : "", *command ? ": " : "", command);

    row(to, "process", text);
    free(text);
    free(command);
}

static void put_origin(FILE *to, const struct report *r) {
    const struct source *s = r->source;
    char *ending = report_ending(r), *gap;
    char *source = must_format("%s (%zu records)", s->path, s->records);

    fputs("<dl class=\"origin\">\n", to);
    if (s->stack.has_process)
        put_process(to, r);
    if (ending)
        row(to, "ended", ending);
    if (s->stack.outcome.reason)
        row(to, "mind", s->stack.outcome.reason);
    row(to, source_type_word(s->type), source);
    for (size_t i = 0; (gap = render_gap(r, i)); i++) {
        row(to, "missing", gap);
        free(gap);
    }
    fputs("</dl>\n", to);
    free(source);
    free(ending);
}

/* ---- findings ---- */

static void put_facts(FILE *to, const struct wc_facts *facts) {
    fputs("<dl class=\"facts\">\n", to);
    for (size_t i = 0; i < facts->n; i++) {
        const struct wc_fact *f = &facts->p[i];
        element(to, "dt", "%s", f->name ? f->name : "?");
        fputs("<dd>", to);
        element(to, "span", "%s", f->value ? f->value : "not known");
        if (f->source)
            element(to, "span class=\"source\"", " (%s)", f->source);
        fputs("</dd>\n", to);
    }
    fputs("</dl>\n", to);
}

static void put_finding(FILE *to, const struct wc_finding_record *f, size_t number) {
    const char *severity = severity_word(f->severity);

    fprintf(to, "<li class=\"finding %s\" data-finding=\"%zu\">", severity, number - 1);
    fprintf(to, "<h3>%zu. <span class=\"severity\">%s</span>: ", number, severity);
    element(to, "span", "%s%s", f->title ? f->title : "?", f->predicted ? " (predicted)" : "");
    element(to, "span class=\"id\"", " %s", f->id ? f->id : "?");
    fputs("</h3>\n", to);
    put_facts(to, &f->facts);
    if (f->explained_by)
        element(to, "p", "explained by: %s", f->explained_by);
    fputs("<ul class=\"fix\">", to);
    for (size_t i = 0; i < f->fix.n; i++) {
        fputs("<li>", to);
        put_fix(to, "span", &f->fix.p[i]);
        fputs("</li>\n", to);
    }
    fputs("</ul></li>\n", to);
}

static void put_findings(FILE *to, const struct report *r) {
    if (r->findings.n == 0)
        return;
    fputs("<section class=\"findings\"><h2>Findings, cause first</h2><ol>\n", to);
    for (size_t i = 0; i < r->findings.n; i++)
        put_finding(to, &r->findings.p[i], i + 1);
    fputs("</ol>", to);
    element(to, "p", "more: whichcudnn explain %s", r->findings.p[0].id);
    fputs("</section>\n", to);
}

static void put_unobserved(FILE *to, const struct wc_stack *s) {
    if (s->unobserved.n == 0)
        return;
    fputs("<section class=\"unobserved\"><h2>Not observed</h2><dl class=\"facts\">\n", to);
    for (size_t i = 0; i < s->unobserved.n; i++) {
        const struct wc_unobserved_record *b = &s->unobserved.p[i].r;
        element(to, "dt", "%s", b->what ? b->what : "something");
        element(to, "dd", "%s%s%s%s", b->why ? b->why : "?", b->path ? " (" : "",
                b->path ? b->path : "", b->path ? ")" : "");
    }
    fputs("</dl></section>\n", to);
}

/* ---- what happened when, and all that is known ---- */

static void put_moment(FILE *to, const struct moment *m, int64_t start) {
    int64_t passed;

    if (__builtin_sub_overflow(m->time, start, &passed))
        passed = 0;
    fprintf(to, "<tr data-kind=\"%s\"><td>%+.6f</td><td class=\"thread\">%lld</td>",
            wc_kind_name(m->kind), (double)passed / 1e6, (long long)m->tid);
    fputs("<td>", to);
    if (m->severity != WC_severity_NONE)
        fprintf(to, "<span class=\"%s\"><span class=\"severity\">%s</span></span> ",
                severity_word(m->severity), severity_word(m->severity));
    put_text(to, m->text);
    fputs("</td></tr>\n", to);
}

#define TIMELINE_OPEN_MOST 100 /* moments; a longer time line is to be opened */

static void put_timeline(FILE *to, const struct report *r) {
    struct timeline t;

    timeline_make(&t, r->source);
    if (t.n > 0)
        fprintf(to,
                "<details class=\"timeline\"%s><summary>Time line: %zu moments</summary><table>"
                "<thead><tr><th>seconds</th><th>thread</th><th>what happened</th></tr></thead>"
                "<tbody>\n",
                t.n > TIMELINE_OPEN_MOST ? "" : " open", t.n);
    for (size_t i = 0; i < t.n; i++)
        put_moment(to, &t.p[i], t.p[0].time);
    if (t.n > 0)
        fputs("</tbody></table></details>\n", to);
    timeline_end(&t);
}

/* A list of facts is open from its heading to the next one. */
static void put_head(void *arg, const char *list, size_t number) {
    fputs("</dl>\n", arg);
    if (number)
        element(arg, "h3", "%s %zu", list, number);
    else
        element(arg, "h3", "%s", list);
    fputs("<dl class=\"record\">\n", arg);
}

static void put_one(void *arg, const char *key, const char *value) {
    row(arg, key, value);
}

static void put_everything(FILE *to, const struct report *r) {
    fputs("<details class=\"everything\"><summary>Everything that is known, as in --json</summary>"
          "<dl>",
          to);
    dump_each(r, put_head, put_one, to);
    fputs("</dl></details>\n", to);
}

static void put_report(FILE *to, const struct report *r, size_t i) {
    fprintf(to, "<article id=\"p%zu\" data-verdict=\"%s\">\n", i + 1, verdict_word(r));
    put_verdict(to, r);
    put_origin(to, r);
    fputs("<section class=\"picture\" hidden><h2>Picture</h2></section>\n"
          "<noscript><p>The picture of all libraries needs JavaScript; what it shows stands below "
          "in words.</p></noscript>\n",
          to);
    put_findings(to, r);
    put_unobserved(to, &r->source->stack);
    put_timeline(to, r);
    put_everything(to, r);
    fputs("</article>\n", to);
}

/* ---- several processes ---- */

#define DIFFERENCES_OPEN 5 /* of one group; further ones are to be unfolded */

static void put_differences(FILE *to, const struct comparison *c) {
    fputs("<ul>", to);
    for (size_t i = 0; i < c->n; i++) {
        if (i == DIFFERENCES_OPEN)
            fprintf(to, "</ul><details><summary>and %zu more</summary><ul>", c->n - i);
        char *text = difference_text(&c->p[i]);
        element(to, "li", "%s", text);
        free(text);
    }
    if (c->n == 0)
        element(to, "li", "in what was found about it, not in its libraries");
    fputs(c->n > DIFFERENCES_OPEN ? "</ul></details>\n" : "</ul>\n", to);
}

static void put_agreement(FILE *to, const struct merged *m) {
    for (size_t g = m->group_count > 1 ? 1 : 0; g < m->group_count; g++) {
        char *text = merged_agreement(m, g);
        element(to, "p class=\"agreement\"", "%s%s", text, g > 0 ? ":" : "");
        free(text);
        if (g > 0)
            put_differences(to, &m->groups[g].differences);
    }
    for (size_t g = 0; g < m->group_count; g++) {
        const struct report *r = m->p[m->groups[g].first].report;
        char *text = render_verdict_text(r);
        fprintf(to, "<p class=\"%s\">", verdict_word(r));
        element(to, "span class=\"severity\"", "%s", m->groups[g].who);
        element(to, "span", ": %s", text);
        fputs("</p>\n", to);
        free(text);
    }
}

static void put_process_row(FILE *to, const struct merged *m, size_t i) {
    const struct merged_process *p = &m->p[i];
    char *command = command_text(&p->report->source->stack.process);
    char *ending = report_ending(p->report);

    fprintf(to, "<tr class=\"%s\">", verdict_word(p->report));
    element(to, "td", "%s", p->node ? p->node : "not known");
    if (p->rank != WC_NULL)
        element(to, "td", "rank %lld", (long long)p->rank);
    else
        fputs("<td></td>", to);
    fprintf(to, "<td>%.*s<a href=\"#p%zu\">%lld</a></td>", 2 * (p->depth < 16 ? p->depth : 16),
            "> > > > > > > > > > > > > > > > ", i + 1, (long long)p->report->source->pid);
    element(to, "td", "%s", command);
    element(to, "td class=\"severity\"", "%s", verdict_word(p->report));
    element(to, "td", "%s", ending ? ending : "");
    element(to, "td", "%s", m->groups[p->group].who);
    fputs("</tr>\n", to);
    free(ending);
    free(command);
}

static void put_processes(FILE *to, const struct merged *m) {
    fputs("<section class=\"processes\" aria-label=\"processes\">\n", to);
    put_agreement(to, m);
    fputs("<div "
          "class=\"list\"><table><thead><tr><th>node</th><th>rank</th><th>process</th><th>program</"
          "th>"
          "<th>verdict</th><th>ended</th><th>agrees with</th></tr></thead><tbody>\n",
          to);
    for (size_t i = 0; i < m->n; i++)
        put_process_row(to, m, i);
    fputs("</tbody></table></div></section>\n", to);
}

/* ---- the data ---- */

/* ASCII alone, so of all that could end the element or begin a comment in it only these are left;
 * JSON has them nowhere but in texts, where they can be spelled otherwise. */
static int put_json(const char *text, size_t n, void *to) {
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '<' || text[i] == '>' || text[i] == '&')
            fprintf(to, "\\u%04x", (unsigned)text[i]);
        else
            putc(text[i], to);
    }
    return 0;
}

/* ---- all of it ---- */

struct page {
    const struct report *one;
    const struct merged *m; /* NULL: one alone */
};

static void fill_title(FILE *to, const struct page *page) {
    char *text = page->m ? merged_agreement(page->m, page->m->group_count > 1 ? 1 : 0)
                         : render_verdict_text(page->one);

    fputs("whichcudnn: ", to);
    put_text(to, text);
    free(text);
}

static void fill_processes(FILE *to, const struct page *page) {
    if (page->m)
        put_processes(to, page->m);
}

static void fill_reports(FILE *to, const struct page *page) {
    for (size_t i = 0; page->m && i < page->m->n; i++)
        put_report(to, page->m->p[i].report, i);
    if (!page->m)
        put_report(to, page->one, 0);
}

static void fill_footer(FILE *to, const struct page *page) {
    (void)page;
    element(to, "p", "whichcudnn %s", WHICHCUDNN_VERSION);
}

static void fill_data(FILE *to, const struct page *page) {
    json_t *value = page->m ? render_merged_json(page->m) : render_json(page->one);

    json_dump_callback(value, put_json, to, JSON_ENSURE_ASCII | JSON_COMPACT);
    putc('\n', to);
    json_decref(value);
}

void render_html(FILE *to, const struct report *one, const struct merged *m) {
    const struct page page = {one, m};

#define TEXT(text) fputs(text, to);
#define HOLE(name) fill_##name(to, &page);
#include "report_page.inc"
#undef TEXT
#undef HOLE
}
