/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts over a directory of logs in Prometheus' text format, for the textfile collector: no sample
 * has a time stamp, which that collector refuses. All are gauges: logs come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "cudnn_knowledge.inc"
#include "library.h"
#include "render.h"
#include "tools/util/layout.h"

/* A server keeps each row for ever, and what is in a log may be anything. */
#define ROWS_MOST 200
#define VALUE_WIDTH 80

struct row {
    char *labels;
    size_t n, last; /* processes; the number of the last, which counts once */
};

struct rows {
    struct row *p;
    size_t n;
    json_t *keys; /* by their labels */
};

/* ---- what a process adds ---- */

/* As a label's value: spelled out as for a terminal, then by the rules of the format. */
static char *label_value(const char *text) {
    OWNED char *harmless = harmless_text(text), *shown = layout_shortened(harmless, VALUE_WIDTH);
    struct sink value;
    FILE *to = sink_begin(&value);

    for (const char *p = shown; *p; p++)
        fprintf(to, "%s%c", *p == '\\' || *p == '"' ? "\\" : "", *p);
    return sink_end(&value);
}

/* Takes the labels. */
static void count(struct rows *rows, size_t process, char *labels) {
    size_t at = number_of_key(rows->keys, labels);
    struct row *row;

    if (at < rows->n) {
        row = &rows->p[at];
        free(labels);
    } else {
        row = MUST_ADD(rows->p, rows->n);
        *row = (struct row){labels, 0, 0};
    }
    row->n += row->last != process;
    row->last = process;
}

/* Only the release: the build says nothing more, and not every source of a version has it. */
static char *version_of(const struct wc_object *o) {
    struct wc_version release = o->version;
    char text[WC_VERSION_TEXT];

    release.build = -1;
    if (wc_version_known(release))
        return must_copy(wc_version_format(release, text));
    return library_version(&o->r) ?: must_copy("unknown");
}

static void count_process(struct rows *facades, struct rows *findings, const struct report *r,
                          size_t process) {
    WC_EACH(o, r->source->stack.objects) {
        if (o->r.role != WC_role_FACADE || !o->r.mapped)
            continue;
        OWNED char *version = version_of(o),
                   *source = library_source(&o->r) ?: must_copy("unknown");
        OWNED char *version_value = label_value(version), *source_value = label_value(source);
        count(facades, process,
              must_format("version=\"%s\",source=\"%s\"", version_value, source_value));
    }
    WC_EACH(f, r->findings)
        count(findings, process,
              must_format("id=\"%s\",severity=\"%s\"", f->id,
                          wc_enum_word_raw(WC_ENUM_severity, f->severity)));
}

/* ---- families ---- */

static void begin_family(FILE *to, const char *name, const char *help) {
    fprintf(to, "# HELP whichcudnn_%s %s\n# TYPE whichcudnn_%s gauge\n", name, help, name);
}

static void print_family(FILE *to, const char *name, const char *help, long long value) {
    begin_family(to, name, help);
    fprintf(to, "whichcudnn_%s %lld\n", name, value);
}

WC_COMPARE(most_first, struct row, WC_ORDER(y->n, x->n) ?: strcmp(x->labels, y->labels));

/* Frees the rows. rest: labels of what is beyond them. */
static void print_rows(FILE *to, const char *name, struct rows *rows, const char *rest) {
    size_t told = 0, beyond = 0;

    if (rows->n > 0)
        qsort(rows->p, rows->n, sizeof(*rows->p), most_first);
    WC_EACH(row, *rows) {
        if (told++ < ROWS_MOST && strcmp(row->labels, rest) != 0) /* which two rows may not have */
            fprintf(to, "whichcudnn_%s{%s} %zu\n", name, row->labels, row->n);
        else
            beyond += row->n;
        free(row->labels);
    }
    free(rows->p);
    json_decref(rows->keys);
    if (beyond > 0)
        fprintf(to, "whichcudnn_%s{%s} %zu\n", name, rest, beyond);
}

void render_prometheus(FILE *to, const struct report *reports, size_t n, size_t unreadable) {
    struct rows facades = {.keys = json_object()}, findings = {.keys = json_object()};
    size_t verdicts[WC_verdict_COUNT] = {0};
    long long damaged = 0, newest = 0;

    for (size_t i = 0; i < n; i++) {
        const struct source *s = reports[i].source;
        count_process(&facades, &findings, &reports[i], i + 1);
        verdicts[reports[i].conclusion.verdict]++;
        damaged += reports[i].gaps.n > 0;
        newest = s->last_time > newest ? s->last_time : newest;
    }
    begin_family(to, "build_info",
                 "The whichcudnn that read the logs, the newest cuDNN and the day of its tables.");
    fputs("whichcudnn_build_info{version=\"" WHICHCUDNN_VERSION "\",newest_cudnn=\"" WC_NEWEST_CUDNN
          "\",tables=\"" WC_TABLES_DATE "\"} 1\n",
          to);
    begin_family(to, "processes",
                 "Processes that have a cuDNN mapped, by its release and installation; one with "
                 "two counts in each.");
    print_rows(to, "processes", &facades, "version=\"other\",source=\"other\"");
    begin_family(to, "findings", "Processes that have a finding, by its id and severity.");
    print_rows(to, "findings", &findings, "id=\"other\",severity=\"other\"");
    begin_family(to, "verdicts", "Processes by verdict, the worst of their findings.");
    for (int verdict = 1; verdict < WC_verdict_COUNT;
         verdict++) /* each: a rule can compare with 0 */
        fprintf(to, "whichcudnn_verdicts{verdict=\"%s\"} %zu\n",
                wc_enum_word_raw(WC_ENUM_verdict, verdict), verdicts[verdict]);
    print_family(to, "logs_damaged", "Processes of whose log something is lost.", damaged);
    print_family(to, "logs_unreadable", "Logs that could not be read at all.",
                 (long long)unreadable);
    print_family(to, "newest_record_timestamp_seconds",
                 "When the newest record was written; 0: no log.", newest / 1000000);
}
