/* A report for people: see render.h. */
#include <stdlib.h>
#include <string.h>

#include "log_reader.h"
#include "render.h"
#include "terminal.h"

static enum paint paint_of(enum wc_severity severity) {
    static const enum paint paints[] = {
        [WC_severity_NONE] = PAINT_NOTE,
        [WC_severity_NOTE] = PAINT_NOTE,
        [WC_severity_WARNING] = PAINT_WARNING,
        [WC_severity_ERROR] = PAINT_ERROR,
    };

    return severity < WC_severity_COUNT ? paints[severity] : PAINT_NOTE;
}

static void print_severity(FILE *to, enum wc_severity severity, bool colour) {
    fputs(paint_begin(colour, paint_of(severity)), to);
    print_text(to, wc_enum_word_raw(WC_ENUM_severity, severity));
    fputs(paint_end(colour), to);
}

/* Why there is nothing: `run` may know; else what the shim could not see. */
static const char *reason_for_nothing(const struct wc_stack *s) {
    if (s->has_outcome && s->outcome.reason)
        return s->outcome.reason;
    return s->blinds.n > 0 ? s->blinds.p[0].r.why : NULL;
}

static void print_nothing(FILE *to, const struct wc_stack *s) {
    const char *reason = reason_for_nothing(s);

    fputs("nothing observed: ", to);
    print_text(to, reason ? reason : "no cuDNN was loaded or asked for");
    putc('\n', to);
}

void render_verdict(FILE *to, const struct report *r, bool colour) {
    if (r->findings.n > 0) {
        print_severity(to, r->findings.p[0].severity, colour);
        print_format(to, ": %s\n", r->findings.p[0].title);
    } else if (r->verdict == WC_verdict_OK) {
        fprintf(to, "%sok%s: everything seen fits together\n", paint_begin(colour, PAINT_OK),
                paint_end(colour));
    } else {
        print_nothing(to, &r->source->stack);
    }
}

static void print_process(FILE *to, const struct wc_process_record *p, int64_t pid) {
    print_format(to, "  process  %lld", (long long)pid);
    if (p->node)
        print_format(to, " on %s", p->node);
    for (size_t i = 0; i < p->arguments.n; i++)
        print_format(to, "%s %s", i == 0 ? ":" : "", p->arguments.p[i]);
    if (p->arguments.n == 0 && p->executable)
        print_format(to, ": %s", p->executable);
    putc('\n', to);
}

static void print_damage(FILE *to, const struct log_file *file) {
    for (size_t i = 0; i < file->damaged_lines && i < LOG_DAMAGED_TOLD; i++)
        print_format(to, "           line %zu could not be read: %s\n", file->damaged[i].line,
                     file->damaged[i].reason);
    if (file->damaged_lines > LOG_DAMAGED_TOLD)
        print_format(to, "           and %zu lines more\n", file->damaged_lines - LOG_DAMAGED_TOLD);
}

/* The page of what comes first. */
static void print_more(FILE *to, const struct report *r) {
    if (r->findings.n > 0)
        print_format(to, "  more     whichcudnn explain %s\n", r->findings.p[0].id);
}

static void print_origin(FILE *to, const struct report *r) {
    const struct source *s = r->source;
    char *ending = report_ending(r);

    if (s->stack.has_process)
        print_process(to, &s->stack.process, s->pid);
    if (ending)
        print_format(to, "  ended    %s\n", ending);
    if (s->stack.outcome.reason && r->findings.n > 0)
        print_format(to, "  mind     %s\n", s->stack.outcome.reason);
    free(ending);
    print_format(to, "  %s", source_type_word(s->type));
    fprintf(to, "%*s", 9 - (int)strlen(source_type_word(s->type)), "");
    print_format(to, "%s (%zu records)\n", s->path, s->records);
    if (s->file)
        print_damage(to, s->file);
    print_more(to, r);
    if (s->stack.dropped)
        print_format(to, "  left out %lld facts that found no room\n", (long long)s->stack.dropped);
}

static void print_fix(FILE *to, const struct wc_fix *fix) {
    print_format(to, "       fix: %s\n", fix->text ? fix->text : fix->action);
    if (fix->command)
        print_format(to, "            %s\n", fix->command);
}

static void print_facts(FILE *to, const struct wc_facts *facts) {
    for (size_t i = 0; i < facts->n; i++) {
        print_format(to, "       %s: %s", facts->p[i].name,
                     facts->p[i].value ? facts->p[i].value : "not known");
        if (facts->p[i].source)
            print_format(to, "  (%s)", facts->p[i].source);
        putc('\n', to);
    }
}

static void print_finding(FILE *to, const struct wc_finding_record *f, size_t number, bool colour) {
    print_format(to, "  %zu. ", number);
    print_severity(to, f->severity, colour);
    print_format(to, " %s: %s%s\n", f->id, f->title, f->predicted ? " (predicted)" : "");
    print_facts(to, &f->facts);
    if (f->explained_by)
        print_format(to, "       explained by: %s\n", f->explained_by);
    for (size_t i = 0; i < f->fix.n; i++)
        print_fix(to, &f->fix.p[i]);
}

static void print_blind(FILE *to, const struct wc_stack *s) {
    if (s->blinds.n > 0)
        fputs("\nnot observed\n", to);
    for (size_t i = 0; i < s->blinds.n; i++) {
        const struct wc_blind_record *b = &s->blinds.p[i].r;
        print_format(to, "  %s: %s", b->what, b->why);
        if (b->path)
            print_format(to, " (%s)", b->path);
        putc('\n', to);
    }
}

void render_text(FILE *to, const struct report *r, bool colour) {
    render_verdict(to, r, colour);
    print_origin(to, r);
    render_tree(to, &r->source->stack);
    if (r->findings.n > 0)
        fputs("\nfindings, cause first\n", to);
    for (size_t i = 0; i < r->findings.n; i++)
        print_finding(to, &r->findings.p[i], i + 1, colour);
    print_blind(to, &r->source->stack);
}

void render_brief(FILE *to, const struct report *r, bool colour) {
    render_verdict(to, r, colour);
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct wc_finding_record *f = &r->findings.p[i];
        if (i > 0) {
            fputs("  also     ", to);
            print_severity(to, f->severity, colour);
            print_format(to, ": %s\n", f->title);
        }
        if (f->fix.n > 0)
            print_format(to, "  fix      %s\n",
                         f->fix.p[0].command ? f->fix.p[0].command : f->fix.p[0].text);
    }
    print_more(to, r);
}
