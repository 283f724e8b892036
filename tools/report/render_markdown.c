/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report to be pasted into an issue. What is untrusted stands in code: between backticks, of
 * which there are more than in the text itself, or in a block with a fence longer than any in it.
 * There neither tags nor links nor mentions of people mean anything.
 */
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "render.h"
#include "tools/util/layout.h"

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

/* pipe: what stands for that character. */
static void print_code(FILE *to, const char *s, const char *pipe) {
    OWNED char *text = harmless_text(s);
    size_t ticks = longest_run(text, '`') + 1;
    bool pad = text[0] == '`' || text[0] == ' ' || !text[0] || text[strlen(text) - 1] == '`';

    repeat(to, '`', ticks);
    fputs(pad ? " " : "", to);
    for (const char *p = text; *p; p++) {
        if (*p == '|')
            fputs(pipe, to);
        else
            putc(*p, to);
    }
    fputs(pad ? " " : "", to);
    repeat(to, '`', ticks);
}

static void put_code(FILE *to, const char *s) {
    print_code(to, s, "|");
}

/* As print_format, but the arguments of %s stand in code. */
static void markdown(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void markdown(FILE *to, const char *format, ...) {
    va_list args;

    va_start(args, format);
    print_format_by(to, put_code, format, &args);
    va_end(args);
}

/* ---- blocks: text as the terminal would have it ---- */

static struct layout block_layout(struct sink *s) {
    return (struct layout){.to = sink_begin(s), .whole = true};
}

/* Nothing where no text is in the sink. */
static void put_block(FILE *to, struct sink *s, const char *before, const char *after) {
    OWNED char *text = sink_end(s);
    size_t run = longest_run(text, '`'), fence = run < 3 ? 3 : run + 1;

    if (!*text)
        return;
    fputs(before, to);
    repeat(to, '`', fence);
    fprintf(to, "\n%s", text + strspn(text, "\n"));
    repeat(to, '`', fence);
    fprintf(to, "\n%s", after);
}

/* ---- the table of what is in use ---- */

/* A cell that holds several values, each once. */
struct cell {
    char *texts[64];
    size_t n;
};

/* Of those that are there: a, between and b. */
static void add(struct cell *c, const char *a, const char *between, const char *b) {
    char *text = must_format("%s%s%s", a, a && b ? between : "", b);
    bool wanted = (a || b) && c->n < sizeof(c->texts) / sizeof(c->texts[0]);

    for (size_t i = 0; i < c->n; i++)
        wanted = wanted && strcmp(c->texts[i], text) != 0;
    if (wanted)
        c->texts[c->n++] = text;
    else
        free(text);
}

/* else_text: of a cell with nothing in it; NULL: then there is no row. Empties the cell. */
static void put_row(FILE *to, const char *name, struct cell *c, const char *else_text) {
    if (c->n == 0 && !else_text)
        return;
    fprintf(to, "| %s | ", name);
    for (size_t i = 0; i < c->n; i++) {
        /* A pipe would end the cell, in code too, and what a backslash before it does, is another
         * question with each reader. */
        fputs(i > 0 ? "<br>" : "", to);
        print_code(to, c->texts[i], "\\x7c");
        free(c->texts[i]);
    }
    fprintf(to, "%s |\n", c->n == 0 ? else_text : "");
    c->n = 0;
}

static void put_libraries(FILE *to, const struct wc_stack *s) {
    struct cell c = {.n = 0};

    WC_EACH(d, s->demands)
        if (d->r.framework)
            add(&c, d->r.framework, " ", d->r.framework_version);
    for (size_t i = 0; i < s->objects.n && c.n == 0; i++)
        add(&c, s->objects.p[i].r.framework, "", NULL);
    put_row(to, "framework", &c, "none seen");
    WC_EACH(o, s->objects) {
        OWNED char *version = library_version(&o->r);
        if (o->r.role == WC_role_FACADE)
            add(&c, version ? version : "version not known", " ", library_path(&o->r));
    }
    put_row(to, "cuDNN", &c, "none loaded");
    WC_EACH(o, s->objects) {
        OWNED char *installation = library_installation(&o->r);
        if (o->r.role == WC_role_CUDA_DEPENDENCY)
            add(&c, wc_base_name(library_path(&o->r)), " of ", installation);
    }
    put_row(to, "CUDA", &c, "no library of it loaded");
}

static void add_distribution(struct cell *c, const char *name, const char *version) {
    if (name && strncmp(name, "nvidia-", 7) == 0)
        add(c, name, "==", version);
}

/* Of whatever was loaded, or found beside it. */
static void put_distributions(FILE *to, const struct wc_stack *s) {
    struct cell c = {.n = 0};

    WC_EACH(p, s->packages)
        add_distribution(&c, p->r.package, p->r.package_version);
    WC_EACH(o, s->objects)
        add_distribution(&c, o->r.installation, o->r.installation_version);
    WC_EACH(l, s->candidates)
        add_distribution(&c, l->r.installation, l->r.installation_version);
    put_row(to, "nvidia-* distributions", &c, "none seen");
}

static void put_gpus(FILE *to, const struct wc_machine_record *m) {
    OWNED char *count = m->gpu_devices != WC_NULL && m->gpu_devices > 0
                            ? must_format("number of devices: %lld", (long long)m->gpu_devices)
                            : NULL;
    struct cell c = {.n = 0};

    add(&c, m->driver, "", NULL);
    put_row(to, "driver", &c, "none seen");
    WC_EACH(gpu, m->gpus)
        add(&c, *gpu, "", NULL);
    put_row(to, "GPU", &c, count ? count : "none seen");
}

static void put_system(FILE *to, const struct wc_machine_record *m) {
    struct cell c = {.n = 0};

    add(&c, m->operating_system, "", NULL);
    add(&c, m->kernel, "", NULL);
    add(&c, m->architecture, "", NULL);
    add(&c, m->glibc ? "glibc" : NULL, " ", m->glibc);
    add(&c, m->container, "", NULL);
    put_row(to, "system", &c, "not known");
}

static void put_process(FILE *to, const struct report *r) {
    const struct wc_process_record *p = &r->source->stack.process;
    struct cell c = {.n = 0};

    WC_EACH(argument, p->arguments)
        add(&c, *argument, "", NULL);
    if (p->arguments.n == 0)
        add(&c, p->executable, "", NULL);
    put_row(to, "command", &c, "not known");
    add(&c, r->ending, "", NULL);
    put_row(to, "ended", &c, NULL);
    WC_EACH(gap, r->gaps)
        add(&c, *gap, "", NULL);
    put_row(to, "missing", &c, NULL);
}

static void put_table(FILE *to, const struct report *r) {
    const struct wc_stack *s = &r->source->stack;

    fputs("\n| | |\n|---|---|\n", to);
    put_libraries(to, s);
    put_gpus(to, &s->machine);
    put_distributions(to, s);
    put_system(to, &s->machine);
    put_process(to, r);
    fputs("| whichcudnn | " WHICHCUDNN_VERSION " |\n", to);
}

/* ---- findings ---- */

static void put_findings(FILE *to, const struct report *r) {
    WC_EACH(f, r->findings) {
        struct wc_finding_view view = {.stack = &r->source->stack};
        struct sink sink;
        render_finding(sink_begin(&sink), r, f, view, false);
        put_block(to, &sink, "\n", "");
    }
}

/* ---- all of it ---- */

#define DETAILS(what) "\n<details><summary>" what "</summary>\n\n"
#define END_DETAILS "\n</details>\n"

void render_markdown(FILE *to, const struct report *r) {
    OWNED char *verdict = render_verdict_text(r);
    struct sink sink;
    struct layout l;

    markdown(to, "### %s\n", verdict);
    WC_EACH(sentence, r->conclusion.known)
        markdown(to, "\n- %s\n", *sentence);
    if (r->conclusion.next)
        markdown(to, "\n- next: %s\n", r->conclusion.next);
    put_table(to, r);
    if (r->findings.n > 0)
        fputs("\n**Findings, cause first**\n", to);
    put_findings(to, r);
    l = block_layout(&sink);
    render_tree(&l, r);
    put_block(to, &sink, DETAILS("Libraries"), END_DETAILS);
    l = block_layout(&sink);
    render_timeline(&l, r);
    put_block(to, &sink, DETAILS("Time line"), END_DETAILS);
    dump_print(sink_begin(&sink), r);
    put_block(to, &sink, DETAILS("Everything that is known, as in --json"), END_DETAILS);
}

void render_merged_markdown(FILE *to, const struct merged *m) {
    struct sink sink;
    struct layout l = block_layout(&sink);

    if (m->n > 1) {
        render_job(&l, m);
        render_agreement(&l, m);
        render_processes(&l, m);
    }
    put_block(to, &sink, "", "");
    for (size_t i = 0; i < m->n; i++) {
        fputs(m->n > 1 ? "\n" : "", to);
        render_markdown(to, m->p[i].report);
    }
}
