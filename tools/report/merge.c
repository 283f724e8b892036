/* SPDX-License-Identifier: Apache-2.0 */
#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "tools/util/terminal.h"

#define NAMED_MOST 8 /* processes that are named one by one */

/* As the shim has it for %r (shim/log.c). */
static const char *const rank_variables[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
                                             "PMI_RANK"};

static int64_t rank_of(const struct wc_stack *s) {
    uint64_t rank;

    WC_EACH_ROW(variable, rank_variables) {
        const char *value = wc_variable(s, *variable);
        if (value && *value && wc_parse_number(value, strlen(value), &rank) == strlen(value))
            return (int64_t)rank;
    }
    return WC_NULL;
}

static const struct source *source_of(const struct merged_process *p) {
    return p->report->source;
}

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ?: "", b ?: "");
}

static int in_order(const void *a, const void *b) {
    const struct merged_process *x = a, *y = b;

    return compare_texts(x->node, y->node) ?: WC_ORDER(x->rank, y->rank)
           ?: WC_ORDER(source_of(x)->first_time, source_of(y)->first_time)
           ?: WC_ORDER(x->report, y->report);
}

/* ---- the process tree ---- */

struct start { /* of a process: numbers come again */
    const char *node;
    int64_t pid, time;
    size_t process;
};

static int starts_in_order(const void *a, const void *b) {
    const struct start *x = a, *y = b;

    return compare_texts(x->node, y->node) ?: WC_ORDER(x->pid, y->pid)
           ?: WC_ORDER(x->time, y->time) ?: WC_ORDER(x->process, y->process);
}

/* The newest process of that number that began before its child; n starts, in order. */
static size_t newest_before(const struct start *starts, size_t n, const struct start *child) {
    size_t before = 0;

    while (n > before) {
        size_t middle = before + (n - before) / 2;
        if (starts_in_order(&starts[middle], child) < 0)
            before = middle + 1;
        else
            n = middle;
    }
    if (before == 0 || starts[before - 1].pid != child->pid ||
        compare_texts(starts[before - 1].node, child->node) != 0)
        return MERGED_NONE;
    return starts[before - 1].process;
}

static void find_parents(struct merged *m) {
    struct start *starts = must_allocate(m->n * sizeof(*starts));

    for (size_t i = 0; i < m->n; i++) {
        const struct source *s = source_of(&m->p[i]);
        starts[i] = (struct start){m->p[i].node, s->pid, s->first_time, i};
    }
    qsort(starts, m->n, sizeof(*starts), starts_in_order);
    for (size_t i = 0; i < m->n; i++) {
        const struct source *s = source_of(&m->p[i]);
        if (s->stack.has_process && s->stack.process.parent_pid != WC_NULL)
            m->p[i].parent = newest_before(
                starts, m->n,
                &(struct start){m->p[i].node, s->stack.process.parent_pid, s->first_time, 0});
    }
    free(starts);
}

/* Children behind their parent, otherwise as they are. A parent is older than its child, so there
 * is not a circle. */
static void into_tree(struct merged *m) {
    struct merged_process *sorted = must_allocate(m->n * sizeof(*sorted));
    size_t *first = must_allocate(m->n * sizeof(*first)),
           *next = must_allocate(m->n * sizeof(*next));
    size_t *place = must_allocate(m->n * sizeof(*place));
    size_t n = 0, roots = 0;

    for (size_t i = m->n; i-- > 0;) {
        size_t *list = m->p[i].parent == MERGED_NONE ? &roots : &first[m->p[i].parent];
        next[i] = *list;
        *list = i + 1; /* 0: the end */
    }
    for (size_t at = roots, depth = 0; at > 0;) {
        size_t i = at - 1;
        place[i] = n;
        sorted[n] = m->p[i];
        sorted[n].depth = (int)depth;
        if (m->p[i].parent != MERGED_NONE)
            sorted[n].parent = place[m->p[i].parent];
        n++;
        if (first[i]) {
            at = first[i];
            depth++;
            continue;
        }
        while (!next[i] && m->p[i].parent != MERGED_NONE) {
            i = m->p[i].parent;
            depth--;
        }
        at = next[i];
    }
    free(first);
    free(next);
    free(place);
    free(m->p);
    m->p = sorted;
}

/* ---- groups ---- */

size_t number_of_key(json_t *keys, const char *key) {
    const json_t *known = json_object_get(keys, key);
    size_t n = json_object_size(keys);

    if (known)
        return (size_t)json_integer_value(known);
    json_object_set_new_nocheck(keys, key, json_integer((json_int_t)n));
    return n;
}

/* Libraries and findings; what was requested without success, or called, is in the findings where
 * it matters. */
static char *key_of(const struct report *r) {
    struct sink key;
    FILE *to = sink_begin(&key);

    fprintf(to, "%s %d", r->fingerprint, (int)r->conclusion.verdict);
    WC_EACH(f, r->findings)
        fprintf(to, " %s/%d", f->id, (int)f->severity);
    return sink_end(&key);
}

static int larger_first(const void *a, const void *b) {
    const struct merged_group *x = a, *y = b;

    return WC_ORDER(y->n, x->n) ?: WC_ORDER(x->members[0], y->members[0]);
}

static void make_groups(struct merged *m) {
    json_t *keys = json_object();

    for (size_t i = 0; i < m->n; i++) {
        OWNED char *key = key_of(m->p[i].report);
        size_t g = number_of_key(keys, key);
        if (g == m->group_count)
            *MUST_ADD(m->groups, m->group_count) = (struct merged_group){.n = 0};
        *MUST_ADD(m->groups[g].members, m->groups[g].n) = i;
    }
    json_decref(keys);
    qsort(m->groups, m->group_count, sizeof(*m->groups), larger_first);
    for (size_t g = 0; g < m->group_count; g++)
        for (size_t i = 0; i < m->groups[g].n; i++)
            m->p[m->groups[g].members[i]].group = g;
}

/* ---- names of groups ---- */

static int numbers_in_order(const void *a, const void *b) {
    const int64_t *x = a, *y = b;

    return WC_ORDER(*x, *y);
}

/* Of n processes (members; NULL: all), sorted; how many. Of a launcher's: only of processes that it
 * started, not of what these started. The caller frees *ranks. */
static size_t ranks_of(const struct merged *m, const size_t *members, size_t n, bool of_launcher,
                       int64_t **ranks) {
    size_t found = 0;

    *ranks = must_allocate(n * sizeof(**ranks));
    for (size_t i = 0; i < n; i++) {
        const struct merged_process *p = &m->p[members ? members[i] : i];
        if (!of_launcher ||
            (p->rank != WC_NULL && (p->parent == MERGED_NONE || m->p[p->parent].rank != p->rank)))
            (*ranks)[found++] = p->rank;
    }
    qsort(*ranks, found, sizeof(**ranks), numbers_in_order);
    return found;
}

/* Each rank once: else there are several runs, and a rank is not unique. */
static bool ranks_name(const struct merged *m) {
    int64_t *ranks;
    size_t n = ranks_of(m, NULL, m->n, true, &ranks);
    bool once = n > 0;

    for (size_t i = 1; i < n; i++)
        once = once && ranks[i] != ranks[i - 1];
    free(ranks);
    return once;
}

/* "rank 7", "ranks 0-6, 9". */
static char *name_ranks(const int64_t *ranks, size_t n) {
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

/* Nodes, where no node is in two groups. */
static bool nodes_name(const struct merged *m) {
    bool several = false;

    for (size_t i = 0; i < m->n; i++) {
        if (!m->p[i].node)
            return false;
        if (i > 0 && strcmp(m->p[i].node, m->p[i - 1].node) == 0 &&
            m->p[i].group != m->p[i - 1].group)
            return false;
        several = several || strcmp(m->p[i].node, m->p[0].node) != 0;
    }
    return several;
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

static char *name_group(const struct merged *m, const struct merged_group *g, bool by_node) {
    int64_t *ranks;
    size_t n = ranks_of(m, g->members, g->n, true, &ranks);
    char *name = m->ranks_name && n > 0 ? name_ranks(ranks, n)
                                        : name_processes(m, g, !m->ranks_name && by_node);

    free(ranks);
    return name;
}

char *merged_ranks(const struct merged *m, const size_t *members, size_t n) {
    int64_t *ranks;
    size_t all = ranks_of(m, members, n, false, &ranks), different = 0;
    char *name = NULL;

    for (size_t i = 0; i < all; i++)
        if (i == 0 || ranks[i] != ranks[different - 1])
            ranks[different++] = ranks[i];
    if (m->ranks_name && ranks[0] != WC_NULL) {
        OWNED char *named = name_ranks(ranks, different);
        name = different == n ? must_copy(named) : must_format("%zu processes of %s", n, named);
    }
    free(ranks);
    return name;
}

char *merged_agreement(const struct merged *m, size_t i) {
    const struct merged_group *first = &m->groups[0], *g = &m->groups[i];

    if (m->group_count == 1 && first->n > NAMED_MOST && strncmp(first->who, "process", 7) == 0)
        return must_format("all %zu processes agree", m->n);
    if (i == 0)
        return must_format("%s%s", first->who, first->n > 1 ? " agree" : "");
    if (i > 1)
        return must_format("%s differ%s", g->who, g->n > 1 ? "" : "s");
    return must_format(first->n > 1 ? "%s agree; %s differ%s" : "%s; %s differ%s", first->who,
                       g->who, g->n > 1 ? "" : "s");
}

void merge(struct merged *m, struct report *reports, size_t n) {
    bool by_node;

    *m = (struct merged){.n = n};
    m->p = must_allocate(n * sizeof(*m->p));
    for (size_t i = 0; i < n; i++) {
        const struct wc_stack *s = &reports[i].source->stack;
        m->p[i] = (struct merged_process){
            &reports[i], s->has_process ? s->process.node : NULL, rank_of(s), MERGED_NONE, 0, 0};
    }
    qsort(m->p, n, sizeof(*m->p), in_order);
    find_parents(m);
    into_tree(m);
    make_groups(m);
    m->ranks_name = ranks_name(m);
    by_node = nodes_name(m);
    for (size_t g = 0; g < m->group_count; g++) {
        m->groups[g].who = name_group(m, &m->groups[g], by_node);
        if (g > 0)
            compare(&m->groups[g].differences, source_of(&m->p[m->groups[0].members[0]]),
                    source_of(&m->p[m->groups[g].members[0]]));
    }
}

void merged_end(struct merged *m) {
    for (size_t g = 0; g < m->group_count; g++) {
        free(m->groups[g].who);
        free(m->groups[g].members);
        comparison_end(&m->groups[g].differences);
    }
    free(m->groups);
    free(m->p);
}
