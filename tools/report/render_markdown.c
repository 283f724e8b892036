/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report to be pasted into an issue. What is untrusted stands in code: between backticks, of
 * which there are more than in the text itself, or in a block with a fence longer than any in it.
 * There neither tags nor links nor mentions of people mean anything.
 */
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "layout.h"
#include "library.h"
#include "render.h"

static size_t longest_run(const char *s, char c) {
    size_t longest = 0, n = 0;

    for (; *s; s++) {
        n = *s == c ? n + 1 : 0;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static void repeat(FILE *to, char c, size_t n) {
    while (n-- > 0)
        putc(c, to);
}

/* A pipe would end the cell of a table, in code too, and what a backslash before it does, is
 * another question with each reader. */
static void print_code(FILE *to, const char *s, bool in_table) {
    char *text = harmless_text(s);
    size_t ticks = longest_run(text, '`') + 1;
    bool pad = text[0] == '`' || text[0] == ' ' || !text[0] || text[strlen(text) - 1] == '`';

    repeat(to, '`', ticks);
    fputs(pad ? " " : "", to);
    for (const char *p = text; *p; p++) {
        if (*p == '|' && in_table)
            fputs("\\x7c", to);
        else
            putc(*p, to);
    }
    fputs(pad ? " " : "", to);
    repeat(to, '`', ticks);
    free(text);
}

/* ---- blocks: text as the terminal would have it ---- */

static void block_print(FILE *to, const char *text) {
    size_t run = longest_run(text, '`'), fence = run < 3 ? 3 : run + 1;

    text += strspn(text, "\n");
    repeat(to, '`', fence);
    fprintf(to, "\n%s", text);
    repeat(to, '`', fence);
    putc('\n', to);
}

static struct layout block_layout(struct sink *s) {
    return (struct layout){.to = sink_begin(s), .whole = true};
}

/* Takes the text; nothing where there is none. */
static void details(FILE *to, const char *what, char *text) {
    if (*text) {
        fprintf(to, "\n<details><summary>%s</summary>\n\n", what);
        block_print(to, text);
        fputs("\n</details>\n", to);
    }
    free(text);
}

/* ---- the table of what is in use ---- */

/* A cell that holds several values, each once. */
struct cell {
    FILE *to;
    const char *name;
    char *printed[64];
    size_t n;
};

static void cell_add(struct cell *c, const char *text) {
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->printed[i], text) == 0)
            return;
    if (c->n < sizeof(c->printed) / sizeof(c->printed[0]))
        c->printed[c->n++] = must_copy(text);
}

static void cell_add_pair(struct cell *c, const char *a, const char *between, const char *b) {
    char *text;

    if (!a && !b)
        return;
    text = must_format("%s%s%s", a ? a : "", a && b ? between : "", b ? b : "");
    cell_add(c, text);
    free(text);
}

static void cell_end(struct cell *c, const char *else_text) {
    fprintf(c->to, "| %s | ", c->name);
    for (size_t i = 0; i < c->n; i++) {
        if (i > 0)
            fputs("<br>", c->to);
        print_code(c->to, c->printed[i], true);
        free(c->printed[i]);
    }
    if (c->n == 0)
        fputs(else_text, c->to);
    fputs(" |\n", c->to);
}

static void frameworks_row(FILE *to, const struct wc_stack *s) {
    struct cell c = {.to = to, .name = "framework"};

    for (size_t i = 0; i < s->demands.n; i++)
        if (s->demands.p[i].r.framework)
            cell_add_pair(&c, s->demands.p[i].r.framework, " ",
                          s->demands.p[i].r.framework_version);
    for (size_t i = 0; i < s->objects.n && c.n == 0; i++)
        if (s->objects.p[i].r.framework)
            cell_add(&c, s->objects.p[i].r.framework);
    cell_end(&c, "none seen");
}

static void cudnn_row(FILE *to, const struct wc_stack *s) {
    struct cell c = {.to = to, .name = "cuDNN"};

    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object_record *o = &s->objects.p[i].r;
        char *version = library_version(o);
        if (o->role == WC_role_FACADE)
            cell_add_pair(&c, version ? version : "version not known", " ", library_path(o));
        free(version);
    }
    cell_end(&c, "none loaded");
}

static void cuda_row(FILE *to, const struct wc_stack *s) {
    struct cell c = {.to = to, .name = "CUDA"};

    for (size_t i = 0; i < s->objects.n; i++) {
        const struct wc_object_record *o = &s->objects.p[i].r;
        char *installation = library_installation(o);
        if (o->role == WC_role_CUDA_DEPENDENCY)
            cell_add_pair(&c, wc_base_name(library_path(o)), " of ", installation);
        free(installation);
    }
    cell_end(&c, "no library of it loaded");
}

static void driver_row(FILE *to, const struct wc_machine_record *m) {
    struct cell c = {.to = to, .name = "driver"};

    if (m->driver)
        cell_add(&c, m->driver);
    cell_end(&c, "none seen");
}

static void gpus_row(FILE *to, const struct wc_machine_record *m) {
    struct cell c = {.to = to, .name = "GPU"};
    char *count = NULL;

    for (size_t i = 0; i < m->gpus.n; i++)
        cell_add(&c, m->gpus.p[i]);
    if (m->gpu_devices != WC_NULL && m->gpu_devices > 0)
        count = must_format("number of devices: %lld", (long long)m->gpu_devices);
    cell_end(&c, count ? count : "none seen");
    free(count);
}

static void system_row(FILE *to, const struct wc_machine_record *m) {
    struct cell c = {.to = to, .name = "system"};
    char *glibc = m->glibc ? must_format("glibc %s", m->glibc) : NULL;
    const char *const words[] = {m->operating_system, m->kernel, m->architecture, glibc,
                                 m->container};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i])
            cell_add(&c, words[i]);
    cell_end(&c, "not known");
    free(glibc);
}

static void add_distribution(struct cell *c, const char *name, const char *version) {
    if (name && strncmp(name, "nvidia-", 7) == 0)
        cell_add_pair(c, name, "==", version);
}

/* Of whatever was loaded, or found beside it. */
static void distributions_row(FILE *to, const struct wc_stack *s) {
    struct cell c = {.to = to, .name = "nvidia-* distributions"};

    for (size_t i = 0; i < s->packages.n; i++)
        add_distribution(&c, s->packages.p[i].r.package, s->packages.p[i].r.package_version);
    for (size_t i = 0; i < s->objects.n; i++)
        add_distribution(&c, s->objects.p[i].r.installation,
                         s->objects.p[i].r.installation_version);
    for (size_t i = 0; i < s->candidates.n; i++)
        add_distribution(&c, s->candidates.p[i].r.installation,
                         s->candidates.p[i].r.installation_version);
    cell_end(&c, "none seen");
}

static void process_rows(FILE *to, const struct report *r) {
    const struct wc_process_record *p = &r->source->stack.process;
    char *ending = report_ending(r), *gap;
    struct cell c = {.to = to, .name = "command"}, e = {.to = to, .name = "ended"};
    struct cell gaps = {.to = to, .name = "missing"};

    for (size_t i = 0; i < p->arguments.n; i++)
        cell_add(&c, p->arguments.p[i]);
    if (p->arguments.n == 0 && p->executable)
        cell_add(&c, p->executable);
    cell_end(&c, "not known");
    if (ending) {
        cell_add(&e, ending);
        cell_end(&e, "");
    }
    for (size_t i = 0; (gap = render_gap(r, i)); i++) {
        cell_add(&gaps, gap);
        free(gap);
    }
    if (gaps.n > 0)
        cell_end(&gaps, "");
    free(ending);
}

static void print_table(FILE *to, const struct report *r) {
    const struct wc_stack *s = &r->source->stack;

    fputs("\n| | |\n|---|---|\n", to);
    frameworks_row(to, s);
    cudnn_row(to, s);
    cuda_row(to, s);
    driver_row(to, &s->machine);
    gpus_row(to, &s->machine);
    distributions_row(to, s);
    system_row(to, &s->machine);
    process_rows(to, r);
    fprintf(to, "| whichcudnn | " WHICHCUDNN_VERSION " |\n");
}

/* ---- findings ---- */

static void print_fact(FILE *to, const struct wc_fact *f) {
    fprintf(to, "   - ");
    print_code(to, f->name ? f->name : "?", false);
    fputs(": ", to);
    print_code(to, f->value ? f->value : "not known", false);
    if (f->source) {
        fputs(", by ", to);
        print_code(to, f->source, false);
    }
    putc('\n', to);
}

static void print_fix(FILE *to, const struct wc_fix *f) {
    fputs("   - fix: ", to);
    print_code(to, f->text ? f->text : f->action, false);
    if (f->command) {
        fputs("<br>", to);
        print_code(to, f->command, false);
    }
    putc('\n', to);
}

static void print_finding(FILE *to, const struct wc_finding_record *f, size_t number) {
    fprintf(to, "%zu. **%s** ", number, wc_enum_word_raw(WC_ENUM_severity, f->severity));
    print_code(to, f->id, false);
    fputs(": ", to);
    print_code(to, f->title, false);
    fputs(f->predicted ? " (predicted)\n" : "\n", to);
    for (size_t i = 0; i < f->facts.n; i++)
        print_fact(to, &f->facts.p[i]);
    if (f->explained_by) {
        fputs("   - explained by ", to);
        print_code(to, f->explained_by, false);
        putc('\n', to);
    }
    for (size_t i = 0; i < f->fix.n; i++)
        print_fix(to, &f->fix.p[i]);
}

/* ---- all of it ---- */

static void print_verdict(FILE *to, const struct report *r) {
    char *verdict = render_verdict_text(r);

    fputs("### ", to);
    print_code(to, verdict, false);
    putc('\n', to);
    free(verdict);
}

static void print_details(FILE *to, const struct report *r) {
    struct sink sink;
    struct layout l = block_layout(&sink);

    render_tree(&l, r);
    details(to, "Libraries", sink_end(&sink));
    l = block_layout(&sink);
    render_timeline(&l, r);
    details(to, "Time line", sink_end(&sink));
    dump_print(sink_begin(&sink), r);
    details(to, "Everything that is known, as in --json", sink_end(&sink));
}

void render_markdown(FILE *to, const struct report *r) {
    print_verdict(to, r);
    print_table(to, r);
    if (r->findings.n > 0)
        fputs("\n**Findings, cause first**\n\n", to);
    for (size_t i = 0; i < r->findings.n; i++)
        print_finding(to, &r->findings.p[i], i + 1);
    print_details(to, r);
}

void render_merged_markdown(FILE *to, const struct merged *m) {
    struct sink sink;
    struct layout l = block_layout(&sink);
    char *text;

    render_agreement(&l, m);
    render_processes(&l, m);
    text = sink_end(&sink);
    block_print(to, text);
    free(text);
    for (size_t i = 0; i < m->n; i++) {
        putc('\n', to);
        render_markdown(to, m->p[i].report);
    }
}
