/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/finding_text.h"
#include "core/demand/questions.h"
#include "tools/util/terminal.h"

#define NAMED_MOST 8 /* processes that are named one by one */

/* As the shim has it for %r (shim/log.c). */
static const char *const rank_variables[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
                                             "PMI_RANK"};

static const struct source *source_of(const struct merged_process *p) {
    return p->report->source;
}

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ?: "", b ?: "");
}

WC_COMPARE(in_order, struct merged_process,
           compare_texts(x->node, y->node) ?: WC_ORDER(x->rank, y->rank)
           ?: WC_ORDER(source_of(x)->first_time, source_of(y)->first_time)
           ?: WC_ORDER(x->report, y->report));

/* ---- the process tree ---- */

/* Of its node, whose processes stand together, the newest of the parent's number that began before
 * the child: numbers come again. */
static void find_parents(struct merged *m) {
    size_t begin = 0;

    for (size_t i = 0; i < m->n; i++) {
        const struct source *s = source_of(&m->p[i]);
        const int64_t parent = s->stack.has_process ? s->stack.process.parent_pid : WC_NULL;
        int64_t newest = INT64_MIN;
        begin = compare_texts(m->p[begin].node, m->p[i].node) == 0 ? begin : i;
        for (size_t k = begin; parent != WC_NULL && k < m->n; k++) {
            const struct source *other = source_of(&m->p[k]);
            if (compare_texts(m->p[k].node, m->p[i].node) != 0)
                break;
            if (other->pid == parent && other->first_time < s->first_time &&
                other->first_time >= newest) {
                newest = other->first_time;
                m->p[i].parent = k;
            }
        }
    }
}

/* Children behind their parent, otherwise as they are. A parent is older than its child, so there
 * is not a circle. */
static void into_tree(struct merged *m) {
    struct merged_process *sorted = must_allocate(m->n * sizeof(*sorted));
    size_t *first = must_allocate(3 * m->n * sizeof(*first)), *next = first + m->n;
    size_t *place = next + m->n, roots = 0, n = 0;

    for (size_t i = m->n; i-- > 0;) {
        size_t *list = m->p[i].parent == MERGED_NONE ? &roots : &first[m->p[i].parent];
        next[i] = *list;
        *list = i + 1; /* 0: the end */
    }
    for (size_t at = roots; at > 0; n++) {
        size_t i = at - 1, parent = m->p[i].parent;
        sorted[n] = m->p[i];
        if (parent != MERGED_NONE) {
            sorted[n].parent = place[parent];
            sorted[n].depth = sorted[place[parent]].depth + 1;
        }
        place[i] = n;
        for (at = first[i] ?: next[i]; !at && m->p[i].parent != MERGED_NONE; at = next[i])
            i = m->p[i].parent;
    }
    free(first);
    free(m->p);
    m->p = sorted;
}

/* ---- groups ---- */

/* The number of a key, from 0 in the order in which keys come. keys: a JSON object of them. */
static size_t number_of_key(json_t *keys, const char *key) {
    const json_t *known = json_object_get(keys, key);
    size_t n = json_object_size(keys);

    if (known)
        return (size_t)json_integer_value(known);
    json_object_set_new_nocheck(keys, key, json_integer((json_int_t)n));
    return n;
}

WC_COMPARE(larger_first, struct merged_group,
           WC_ORDER(y->n, x->n) ?: WC_ORDER(x->members[0], y->members[0]));

/* By libraries and findings; what was requested without success, or called, is in the findings
 * where it matters. */
static void make_groups(struct merged *m) {
    json_auto_t *keys = json_object();

    for (size_t i = 0; i < m->n; i++) {
        const struct report *r = m->p[i].report;
        struct sink sink;
        FILE *to = sink_begin(&sink);
        fprintf(to, "%s %d", r->fingerprint, (int)r->conclusion.verdict);
        WC_EACH(f, r->findings)
            fprintf(to, " %s/%d", f->id, (int)f->severity);
        OWNED char *key = sink_end(&sink);
        size_t g = number_of_key(keys, key);
        if (g == m->groups.n)
            *MUST_ADD(m->groups.p, m->groups.n) = (struct merged_group){.n = 0};
        *MUST_ADD(m->groups.p[g].members, m->groups.p[g].n) = i;
    }
    SORT(m->groups, larger_first);
    for (size_t g = 0; g < m->groups.n; g++)
        for (size_t i = 0; i < m->groups.p[g].n; i++)
            m->p[m->groups.p[g].members[i]].group = g;
}

/* ---- names of groups ---- */

struct ranks {
    int64_t *p; /* sorted, each once */
    size_t n, processes;
};

WC_COMPARE(numbers_in_order, int64_t, WC_ORDER(*x, *y));

/* Of n processes (members; NULL: all). Of a launcher's: only of processes that it started, not of
 * what these started. The caller frees p. */
static struct ranks ranks_of(const struct merged *m, const size_t *members, size_t n,
                             bool of_launcher) {
    struct ranks ranks = {.p = must_allocate(n * sizeof(*ranks.p))};

    for (size_t i = 0; i < n; i++) {
        const struct merged_process *p = &m->p[members ? members[i] : i];
        if (!of_launcher ||
            (p->rank != WC_NULL && (p->parent == MERGED_NONE || m->p[p->parent].rank != p->rank)))
            ranks.p[ranks.processes++] = p->rank;
    }
    qsort(ranks.p, ranks.processes, sizeof(*ranks.p), numbers_in_order);
    for (size_t i = 0; i < ranks.processes; i++)
        if (i == 0 || ranks.p[i] != ranks.p[ranks.n - 1])
            ranks.p[ranks.n++] = ranks.p[i];
    return ranks;
}

/* "rank 7", "ranks 0-6, 9". */
static char *name_ranks(const struct ranks *of) {
    const int64_t *ranks = of->p;
    const size_t n = of->n;
    struct sink t;
    FILE *to = sink_begin(&t);

    fprintf(to, "rank%s", n > 1 ? "s" : "");
    for (size_t i = 0, last, named = 0; i < n; i = last + 1) {
        if (named++ == NAMED_MOST) {
            fprintf(to, " and %zu more", n - i);
            break;
        }
        for (last = i; last + 1 < n && ranks[last + 1] == ranks[last] + 1;)
            last++;
        fprintf(to, "%s %lld", i > 0 ? "," : "", (long long)ranks[i]);
        if (last > i)
            fprintf(to, "%s%lld", last == i + 1 ? ", " : "-", (long long)ranks[last]);
    }
    return sink_end(&t);
}

/* By node, or by number. Processes of a node stand together, so a node is named at its first. */
static char *name_processes(const struct merged *m, const struct merged_group *g, bool by_node) {
    const char *last = NULL;
    struct sink names;
    FILE *to = sink_begin(&names);
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        const struct merged_process *p = &m->p[g->members[i]];
        if (by_node && last && strcmp(last, p->node) == 0)
            continue;
        last = p->node;
        if (++n > NAMED_MOST)
            continue;
        fputs(n > 1 ? ", " : " ", to);
        if (by_node)
            fputs(p->node, to);
        else
            fprintf(to, "%lld", (long long)source_of(p)->pid);
    }
    if (n > NAMED_MOST)
        fprintf(to, " and %zu more", n - NAMED_MOST);
    OWNED char *named = sink_end(&names);
    return must_format("%s%s",
                       by_node  ? n == 1 ? "node" : "nodes"
                       : n == 1 ? "process"
                                : "processes",
                       named);
}

char *merged_agreement(const struct merged *m, size_t i) {
    const struct merged_group *first = &m->groups.p[0], *g = &m->groups.p[i];

    if (m->groups.n == 1 && first->n > NAMED_MOST && strncmp(first->who, "process", 7) == 0)
        return must_format("all %zu processes agree", m->n);
    if (i == 0)
        return must_format("%s%s", first->who, first->n > 1 ? " agree" : "");
    if (i > 1)
        return must_format("%s differ%s", g->who, g->n > 1 ? "" : "s");
    return must_format(first->n > 1 ? "%s agree; %s differ%s" : "%s; %s differ%s", first->who,
                       g->who, g->n > 1 ? "" : "s");
}

static void name_groups(struct merged *m) {
    struct ranks ranks = ranks_of(m, NULL, m->n, true);
    bool several = false, one_group_each = true;

    /* Each rank once: else there are several runs, and a rank is not unique. */
    m->ranks_name = ranks.n > 0 && ranks.n == ranks.processes;
    free(ranks.p);
    /* Nodes, where no node is in two groups. */
    WC_EACH(p, *m) {
        const bool same = p > m->p && wc_str_same(p->node, p[-1].node);
        one_group_each = one_group_each && p->node && !(same && p->group != p[-1].group);
        several = several || (p > m->p && !same);
    }
    for (size_t i = 0; i < m->groups.n; i++) {
        struct merged_group *g = &m->groups.p[i];
        ranks = ranks_of(m, g->members, g->n, true);
        g->who = m->ranks_name && ranks.n > 0
                     ? name_ranks(&ranks)
                     : name_processes(m, g, !m->ranks_name && several && one_group_each);
        free(ranks.p);
    }
}

/* ---- rows ---- */

/* What one process adds: a finding, or (NULL) its verdict. Takes the key: equal ones are one row.
 */
static void add_row(struct merged *m, json_t *keys, char *key, size_t process, size_t place,
                    const struct wc_finding_record *finding) {
    /* Errors, what is unexplained, warnings, what was not observed, notes, what is well. */
    static const int of_severity[WC_severity_COUNT] = {
        [WC_severity_NOTE] = 1, [WC_severity_WARNING] = 3, [WC_severity_ERROR] = 5};
    static const int of_verdict[WC_verdict_COUNT] = {
        [WC_verdict_UNEXPLAINED] = 4, [WC_verdict_NOT_OBSERVED] = 2};
    const struct report *r = m->p[process].report;
    size_t at = number_of_key(keys, key);

    free(key);
    if (at == m->rows.n)
        *MUST_ADD(m->rows.p, m->rows.n) = (struct summary_row){
            .finding = finding,
            .report = r,
            .weight = finding ? of_severity[finding->severity] : of_verdict[r->conclusion.verdict],
            .place = place};
    struct summary_row *row = &m->rows.p[at];
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
static bool add_process(struct merged *m, json_t *keys, size_t process) {
    const struct report *r = m->p[process].report;
    const struct wc_conclusion *c = &r->conclusion;
    bool by_verdict =
        c->verdict == WC_verdict_OK ||
        (c->verdict == WC_verdict_UNEXPLAINED && !failed_with_another(m, &m->p[process])) ||
        (c->verdict == WC_verdict_NOT_OBSERVED && c->concerned);
    size_t findings = c->verdict == WC_verdict_NOT_OBSERVED && !c->concerned ? 0 : r->findings.n;

    if (by_verdict)
        add_row(m, keys, must_format("%d %s", (int)c->verdict, c->text), process, 0, NULL);
    for (size_t i = 0; i < findings; i++) {
        const struct wc_finding_record *f = &r->findings.p[i];
        add_row(m, keys, must_format("%s %d %s", f->id, (int)f->severity, f->title), process, i, f);
    }
    return by_verdict || findings > 0;
}

WC_COMPARE(worst_first, struct summary_row,
           WC_ORDER(y->weight, x->weight) ?: WC_ORDER(x->place, y->place) ?: WC_ORDER(y->n, x->n)
           ?: WC_ORDER(x->members[0], y->members[0]));

static void make_rows(struct merged *m) {
    json_auto_t *keys = json_object();
    size_t first = 0;

    for (size_t i = 0; i < m->n; i++)
        m->counted += add_process(m, keys, i);
    /* The command itself, else the first, says why nothing was seen. */
    while (m->rows.n == 0 && first < m->n && !source_of(&m->p[first])->stack.process.eager)
        first++;
    if (m->rows.n == 0)
        add_row(m, keys, must_copy(""), first < m->n ? first : 0, 0, NULL);
    SORT(m->rows, worst_first);
}

/* ---- all of it ---- */

void merge(struct merged *m, struct report *reports, size_t n) {
    *m = (struct merged){.n = n, .p = must_allocate(n * sizeof(*m->p))};
    for (size_t i = 0; i < n; i++) {
        const struct wc_stack *s = &reports[i].source->stack;
        uint64_t rank;
        m->p[i] = (struct merged_process){
            &reports[i], s->has_process ? s->process.node : NULL, WC_NULL, MERGED_NONE, 0, 0};
        WC_EACH_ROW(variable, rank_variables) {
            const char *value = wc_variable(s, *variable);
            if (m->p[i].rank == WC_NULL && value && *value &&
                wc_parse_number(value, strlen(value), &rank) == strlen(value))
                m->p[i].rank = (int64_t)rank;
        }
    }
    SORT(*m, in_order);
    find_parents(m);
    into_tree(m);
    make_groups(m);
    name_groups(m);
    for (size_t g = 1; g < m->groups.n; g++)
        compare(&m->groups.p[g].differences, source_of(&m->p[m->groups.p[0].members[0]]),
                source_of(&m->p[m->groups.p[g].members[0]]));
    make_rows(m);
}

void merged_end(struct merged *m) {
    for (size_t g = 0; g < m->groups.n; g++) {
        free(m->groups.p[g].who);
        free(m->groups.p[g].members);
        comparison_end(&m->groups.p[g].differences);
    }
    WC_EACH(row, m->rows)
        free(row->members);
    free(m->rows.p);
    free(m->groups.p);
    free(m->p);
}

/* ---- which process ---- */

#define ENDINGS_MOST 6

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
static char *name_several(const struct merged *m, const struct summary_row *row, const char *noun) {
    const char *node = m->p[row->members[0]].node;
    const struct ranks ranks = ranks_of(m, row->members, row->n, false);
    OWNED char *command = common_command(m, row), *endings = endings_of(m, row);
    const bool named =
        node && WC_ANY(p, *m, !wc_str_same(p->node, node)) &&
        !WC_ANY(i, WC_ITEMS(row->members, row->n), !wc_str_same(m->p[*i].node, node));

    /* "ranks 0-6", "9 processes of ranks 0, 1" */
    const bool by_rank = m->ranks_name && ranks.p[0] != WC_NULL;
    OWNED char *named_ranks = by_rank ? name_ranks(&ranks) : NULL;
    OWNED char *who = !by_rank            ? must_format("%zu%s", row->n, noun)
                      : ranks.n == row->n ? must_copy(named_ranks)
                                          : must_format("%zu processes of %s", row->n, named_ranks);
    free(ranks.p);
    return must_format("%s%s%s%s%s", who, named ? " on " : "", named ? node : "", command, endings);
}

char *summary_who(const struct merged *m, const struct summary_row *row) {
    const struct source *first = m->p[row->members[0]].report->source;

    if (m->counted <= 1 && first->stack.process.eager)
        return NULL;
    if (row->n == 1 && !m->ranks_name) {
        OWNED char *command = common_command(m, row), *endings = endings_of(m, row);
        return must_format("process %lld%s%s", (long long)first->pid, command, endings);
    }
    return name_several(m, row, " processes");
}

char *summary_processes(const struct merged *m, const struct summary_row *row) {
    const struct merged_process *first = &m->p[row->members[0]];
    char text[1024];
    struct wc_text t;

    if (row->n > 1 || m->ranks_name)
        return name_several(m, row, "");
    wc_text_begin(&t, text, sizeof(text));
    wc_finding_process(&t, first->report->source->pid, &first->report->source->stack.process,
                       first->report->ended);
    return must_copy(text);
}
