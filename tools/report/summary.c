/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/finding_text.h"
#include "tools/util/terminal.h"

#define ENDINGS_MOST 6

/* ---- rows ---- */

/* What one process adds: a finding, or (NULL) its verdict. Takes the key: equal ones are one row.
 */
static void add_row(struct summary *s, json_t *keys, char *key, size_t process, size_t place,
                    const struct wc_finding_record *finding) {
    /* Errors, what is unexplained, warnings, what was not observed, notes, what is well. */
    static const int of_severity[WC_severity_COUNT] = {
        [WC_severity_NOTE] = 1, [WC_severity_WARNING] = 3, [WC_severity_ERROR] = 5};
    static const int of_verdict[WC_verdict_COUNT] = {
        [WC_verdict_UNEXPLAINED] = 4, [WC_verdict_NOT_OBSERVED] = 2};
    const struct report *r = s->m->p[process].report;
    size_t at = number_of_key(keys, key);
    struct summary_row *row;

    free(key);
    if (at == s->n)
        *MUST_ADD(s->rows, s->n) = (struct summary_row){
            .finding = finding,
            .report = r,
            .weight = finding ? of_severity[finding->severity] : of_verdict[r->conclusion.verdict],
            .place = place};
    row = &s->rows[at];
    if (row->n == 0 || row->members[row->n - 1] != process)
        *MUST_ADD(row->members, row->n) = process;
}

/* Its failure is that of a process that it, or the command, started and that has a finding. */
static bool failed_with_another(const struct merged *m, const struct merged_process *p) {
    const int64_t pid = p->report->source->pid;

    return WC_ANY(other, *m,
                  other != p && report_exit_code(other->report) == EXIT_ERRORS_FOUND &&
                      (other->report->source->stack.process.parent_pid == pid ||
                       other->report->source->stack.process.run_pid == pid) &&
                      wc_str_same(other->node, p->node));
}

/* Does it add one? */
static bool add_process(struct summary *s, json_t *keys, size_t process) {
    const struct report *r = s->m->p[process].report;
    const struct wc_conclusion *c = &r->conclusion;
    bool by_verdict =
        c->verdict == WC_verdict_OK ||
        (c->verdict == WC_verdict_UNEXPLAINED && !failed_with_another(s->m, &s->m->p[process])) ||
        (c->verdict == WC_verdict_NOT_OBSERVED && c->concerned);
    size_t findings = c->verdict == WC_verdict_NOT_OBSERVED && !c->concerned ? 0 : r->findings.n;

    if (by_verdict)
        add_row(s, keys, must_format("%d %s", (int)c->verdict, c->text), process, 0, NULL);
    for (size_t i = 0; i < findings; i++) {
        const struct wc_finding_record *f = &r->findings.p[i];
        add_row(s, keys, must_format("%s %d %s", f->id, (int)f->severity, f->title), process, i, f);
    }
    return by_verdict || findings > 0;
}

WC_COMPARE(worst_first, struct summary_row,
           WC_ORDER(y->weight, x->weight) ?: WC_ORDER(x->place, y->place) ?: WC_ORDER(y->n, x->n)
           ?: WC_ORDER(x->members[0], y->members[0]));

void summary_make(struct summary *s, const struct merged *m) {
    json_t *keys = json_object();
    size_t first = 0;

    *s = (struct summary){.m = m};
    for (size_t i = 0; i < m->n; i++)
        s->counted += add_process(s, keys, i);
    /* The command itself, else the first, says why nothing was seen. */
    while (s->n == 0 && first < m->n && !m->p[first].report->source->stack.process.eager)
        first++;
    if (s->n == 0)
        add_row(s, keys, must_copy(""), first < m->n ? first : 0, 0, NULL);
    json_decref(keys);
    qsort(s->rows, s->n, sizeof(*s->rows), worst_first);
}

void summary_end(struct summary *s) {
    for (size_t i = 0; i < s->n; i++)
        free(s->rows[i].members);
    free(s->rows);
}

/* ---- which process ---- */

/* " (python3 train.py)"; "" where several have not the same. The caller frees. */
static char *common_command(const struct merged *m, const struct summary_row *row) {
    const struct wc_strings *first = &m->p[row->members[0]].report->source->stack.process.arguments;

    for (size_t i = 0; i < row->n; i++) {
        const struct wc_strings *a = &m->p[row->members[i]].report->source->stack.process.arguments;
        if (a->n == 0 || !a->p[0] ||
            !wc_str_same(wc_base_name(a->p[0]), wc_base_name(first->p[0])) ||
            !wc_str_same(a->n > 1 ? a->p[1] : NULL, first->n > 1 ? first->p[1] : NULL))
            return must_copy("");
    }
    return must_format(" (%s%s%s)", wc_base_name(first->p[0]), first->n > 1 ? " " : "",
                       first->n > 1 ? first->p[1] : "");
}

/* ": 1 ended normally, 12 by _exit"; of one that ended normally nothing. */
static char *endings_of(const struct merged *m, const struct summary_row *row) {
    json_t *counts = json_object(), *count;
    const char *ending, *before = ": ";
    struct sink text;
    FILE *to = sink_begin(&text);
    size_t others = 0;

    for (size_t i = 0; i < row->n; i++) {
        const char *one = m->p[row->members[i]].report->ended;
        if (!one ||
            (row->n == 1 && (strcmp(one, ENDED_NORMALLY) == 0 || strcmp(one, ENDED_BY_EXIT) == 0)))
            continue;
        count = json_object_get(counts, one);
        if (count || json_object_size(counts) < ENDINGS_MOST)
            json_object_set_new_nocheck(counts, one, json_integer(json_integer_value(count) + 1));
        else
            others++;
    }
    json_object_foreach(counts, ending, count) {
        size_t n = (size_t)json_integer_value(count);
        fputs(before, to);
        if (n < row->n)
            fprintf(to, "%zu ", n);
        else if (row->n > 1)
            fputs("all ", to);
        fputs(ending, to);
        before = ", ";
    }
    if (others > 0)
        fprintf(to, ", %zu otherwise", others);
    json_decref(counts);
    return sink_end(&text);
}

/* "13 processes on node7 (python3 train.py): 1 ended normally, 12 by _exit"; the node where all of
 * them ran there, and others of the job elsewhere. */
static char *name_several(const struct summary *s, const struct summary_row *row,
                          const char *noun) {
    const char *node = s->m->p[row->members[0]].node;
    OWNED char *ranks = merged_ranks(s->m, row->members, row->n);
    OWNED char *command = common_command(s->m, row), *endings = endings_of(s->m, row);
    bool named = node && WC_ANY(p, *s->m, !wc_str_same(p->node, node));

    for (size_t i = 1; i < row->n; i++)
        named = named && wc_str_same(s->m->p[row->members[i]].node, node);
    OWNED char *who = ranks ? must_copy(ranks) : must_format("%zu%s", row->n, noun);
    return must_format("%s%s%s%s%s", who, named ? " on " : "", named ? node : "", command, endings);
}

char *summary_who(const struct summary *s, const struct summary_row *row) {
    const struct source *first = s->m->p[row->members[0]].report->source;

    if (s->counted <= 1 && first->stack.process.eager)
        return NULL;
    if (row->n == 1 && !s->m->ranks_name) {
        OWNED char *command = common_command(s->m, row), *endings = endings_of(s->m, row);
        return must_format("process %lld%s%s", (long long)first->pid, command, endings);
    }
    return name_several(s, row, " processes");
}

char *summary_processes(const struct summary *s, const struct summary_row *row) {
    const struct merged_process *first = &s->m->p[row->members[0]];
    char text[1024];
    struct wc_text t;

    if (row->n > 1 || s->m->ranks_name)
        return name_several(s, row, "");
    wc_text_begin(&t, text, sizeof(text));
    wc_finding_process(&t, first->report->source->pid, &first->report->source->stack.process,
                       first->report->ended);
    return must_copy(text);
}
