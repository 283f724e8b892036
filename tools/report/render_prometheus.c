/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts over a directory of logs in Prometheus' text format, for the textfile collector: no sample
 * has a time stamp, which that collector refuses. All are gauges: logs come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "cudnn_knowledge.inc"
#include "render.h"
#include "tools/util/terminal.h"

/* A server keeps each row for ever, and what is in a log may be anything. */
#define ROWS_MOST 200
#define VALUE_WIDTH 80

/* ---- what a process adds ---- */

/* Takes it (NULL: not known), as a label's value: spelled out as for a terminal, then by the rules
 * of the format. */
static char *label_value(char *text) {
    OWNED char *owned = text, *harmless = harmless_text(owned ?: "unknown"),
               *shown = layout_shortened(harmless, VALUE_WIDTH);
    struct sink value;
    FILE *to = sink_begin(&value);

    for (const char *p = shown; *p; p++)
        fprintf(to, "%s%c", *p == '\\' || *p == '"' ? "\\" : "", *p);
    return sink_end(&value);
}

/* Takes the labels of a row. own: those in which the process was counted, which it is once. */
static void count(json_t *rows, json_t *own, char *labels) {
    OWNED char *owned = labels;
    const json_int_t before = json_integer_value(json_object_get(rows, owned));

    if (!json_object_get(own, owned))
        json_object_set_new_nocheck(rows, owned, json_integer(before + 1));
    json_object_set_new_nocheck(own, owned, json_true());
}

/* Only the release: the build says nothing more, and not every source of a version has it. */
static char *version_of(const struct wc_object *o) {
    struct wc_version release = o->version;
    char text[WC_VERSION_TEXT];

    release.build = -1;
    if (wc_version_known(release))
        return must_copy(wc_version_format(release, text));
    return library_version(&o->r);
}

static void count_process(json_t *facades, json_t *findings, const struct report *r) {
    json_auto_t *own = json_object();

    WC_EACH(o, r->source->stack.objects) {
        if (o->r.role != WC_role_FACADE || !o->r.mapped)
            continue;
        OWNED char *version = label_value(version_of(o));
        OWNED char *source = label_value(library_source(&o->r));
        count(facades, own, must_format("version=\"%s\",source=\"%s\"", version, source));
    }
    WC_EACH(f, r->findings)
        count(findings, own,
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

struct row {
    const char *labels;
    json_int_t n; /* processes */
};

WC_COMPARE(most_first, struct row, WC_ORDER(y->n, x->n) ?: strcmp(x->labels, y->labels));

/* Takes the rows. rest: labels of what is beyond them. */
static void print_rows(FILE *to, const char *name, json_t *rows, const char *rest) {
    OWNED struct row *sorted = must_allocate(json_object_size(rows) * sizeof(*sorted));
    json_int_t beyond = 0;
    const char *labels;
    size_t n = 0;
    json_t *count;

    json_object_foreach(rows, labels, count)
        sorted[n++] = (struct row){labels, json_integer_value(count)};
    qsort(sorted, n, sizeof(*sorted), most_first);
    for (size_t i = 0; i < n; i++)
        if (i < ROWS_MOST && strcmp(sorted[i].labels, rest) != 0) /* which two rows may not have */
            fprintf(to, "whichcudnn_%s{%s} %lld\n", name, sorted[i].labels, sorted[i].n);
        else
            beyond += sorted[i].n;
    json_decref(rows);
    if (beyond > 0)
        fprintf(to, "whichcudnn_%s{%s} %lld\n", name, rest, beyond);
}

void render_prometheus(FILE *to, const struct report *reports, size_t n, size_t unreadable) {
    json_t *facades = json_object(), *findings = json_object();
    size_t verdicts[WC_verdict_COUNT] = {0};
    long long damaged = 0, newest = 0;

    for (size_t i = 0; i < n; i++) {
        const struct source *s = reports[i].source;
        count_process(facades, findings, &reports[i]);
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
    print_rows(to, "processes", facades, "version=\"other\",source=\"other\"");
    begin_family(to, "findings", "Processes that have a finding, by its id and severity.");
    print_rows(to, "findings", findings, "id=\"other\",severity=\"other\"");
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
