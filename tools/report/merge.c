/* SPDX-License-Identifier: Apache-2.0 */
/* See merge.h. */
#include "merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "tools/util/terminal.h"

#define NAMED_MOST 8 /* processes that are named one by one */

/* As the shim has it for %r (shim/log.c). */
static const char *const rank_variables[] = {
    "RANK=", "SLURM_PROCID=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK="};

static int64_t rank_of(const struct wc_stack *s) {
    const struct wc_strings *environment = &s->process.environment;

    for (size_t v = 0; v < sizeof(rank_variables) / sizeof(rank_variables[0]); v++)
        for (size_t i = 0; s->has_process && i < environment->n; i++) {
            const char *e = environment->p[i];
            size_t n = strlen(rank_variables[v]);
            uint64_t rank;
            if (strncmp(e, rank_variables[v], n) == 0 && e[n] &&
                wc_parse_number(e + n, strlen(e + n), &rank) == strlen(e + n))
                return (int64_t)rank;
        }
    return WC_NULL;
}

static const struct source *source_of(const struct merged_process *p) {
    return p->report->source;
}

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static int in_order(const void *a, const void *b) {
    const struct merged_process *x = a, *y = b;
    int nodes = compare_texts(x->node, y->node);

    if (nodes != 0)
        return nodes;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (source_of(x)->first_time != source_of(y)->first_time)
        return source_of(x)->first_time < source_of(y)->first_time ? -1 : 1;
    return (x->report > y->report) - (x->report < y->report);
}

/* ---- the process tree ---- */

/* Processes of one number on one node: numbers come again. */
struct same_pid {
    char *key;
    size_t *processes, n;
    UT_hash_handle hh;
};

static struct same_pid *find_pid(struct same_pid **all, const char *node, int64_t pid) {
    char *key = must_format("%lld %s", (long long)pid, node ? node : "");
    struct same_pid *one;

    HASH_FIND_STR(*all, key, one);
    if (!one) {
        one = must_allocate(sizeof(*one));
        one->key = key;
        HASH_ADD_KEYPTR(hh, *all, key, strlen(key), one);
    } else {
        free(key);
    }
    return one;
}

/* The newest of them that began before their child. */
static size_t newest_before(const struct merged *m, const struct same_pid *some, int64_t time) {
    size_t found = MERGED_NONE;

    for (size_t i = 0; i < some->n; i++) {
        int64_t began = source_of(&m->p[some->processes[i]])->first_time;
        if (began < time && (found == MERGED_NONE || began >= source_of(&m->p[found])->first_time))
            found = some->processes[i];
    }
    return found;
}

static void find_parents(struct merged *m) {
    struct same_pid *all = NULL, *one, *next;

    for (size_t i = 0; i < m->n; i++) {
        one = find_pid(&all, m->p[i].node, source_of(&m->p[i])->pid);
        one->processes = must_grow(one->processes, (one->n + 1) * sizeof(*one->processes));
        one->processes[one->n++] = i;
    }
    for (size_t i = 0; i < m->n; i++) {
        const struct wc_stack *s = &source_of(&m->p[i])->stack;
        if (s->has_process && s->process.parent_pid != WC_NULL)
            m->p[i].parent = newest_before(m, find_pid(&all, m->p[i].node, s->process.parent_pid),
                                           source_of(&m->p[i])->first_time);
    }
    HASH_ITER(hh, all, one, next) {
        HASH_DEL(all, one);
        free(one->processes);
        free(one->key);
        free(one);
    }
}

/* Children behind their parent, otherwise as they are. A parent is older than its child, so there
 * is no circle. */
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

struct seen_group {
    char *key;
    size_t group;
    UT_hash_handle hh;
};

/* Libraries and findings; what was asked for in vain, or called, is in the findings where it
 * matters. */
static char *key_of(const struct report *r) {
    char *key = must_format("%s %d", r->fingerprint, (int)r->verdict), *longer;

    for (size_t i = 0; i < r->findings.n; i++) {
        longer = must_format("%s %s/%d", key, r->findings.p[i].id, (int)r->findings.p[i].severity);
        free(key);
        key = longer;
    }
    return key;
}

static void add_to_group(struct merged *m, size_t i, struct seen_group **seen) {
    char *key = key_of(m->p[i].report);
    struct seen_group *one;

    HASH_FIND_STR(*seen, key, one);
    if (one) {
        free(key);
    } else {
        one = must_allocate(sizeof(*one));
        one->key = key;
        one->group = m->group_count++;
        HASH_ADD_KEYPTR(hh, *seen, one->key, strlen(one->key), one);
        m->groups = must_grow(m->groups, m->group_count * sizeof(*m->groups));
        m->groups[one->group] = (struct merged_group){.first = i};
    }
    m->p[i].group = one->group;
    m->groups[one->group].n++;
}

static int larger_first(const void *a, const void *b) {
    const struct merged_group *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void list_members(struct merged *m) {
    size_t *end = m->members = must_allocate(m->n * sizeof(*m->members));

    for (size_t g = 0; g < m->group_count; g++) {
        m->groups[g].members = end;
        end += m->groups[g].n;
        m->groups[g].n = 0;
    }
    for (size_t i = 0; i < m->n; i++) {
        struct merged_group *g = &m->groups[m->p[i].group];
        m->members[g->members - m->members + g->n++] = i;
    }
}

static void make_groups(struct merged *m) {
    struct seen_group *seen = NULL, *one, *next;
    size_t *renamed;

    for (size_t i = 0; i < m->n; i++)
        add_to_group(m, i, &seen);
    HASH_ITER(hh, seen, one, next) {
        HASH_DEL(seen, one);
        free(one->key);
        free(one);
    }
    renamed = must_allocate(m->group_count * sizeof(*renamed));
    qsort(m->groups, m->group_count, sizeof(*m->groups), larger_first);
    for (size_t g = 0; g < m->group_count; g++)
        renamed[m->p[m->groups[g].first].group] = g;
    for (size_t i = 0; i < m->n; i++)
        m->p[i].group = renamed[m->p[i].group];
    free(renamed);
    list_members(m);
}

/* ---- names of groups ---- */

/* The process that a launcher started for a rank, not what that started. */
static bool is_rank(const struct merged *m, size_t i) {
    const struct merged_process *p = &m->p[i];

    return p->rank != WC_NULL && (p->parent == MERGED_NONE || m->p[p->parent].rank != p->rank);
}

static int numbers_in_order(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Of n processes (members NULL: of all), sorted; how many. The caller frees *ranks. */
static size_t ranks_of(const struct merged *m, const size_t *members, size_t n, int64_t **ranks) {
    size_t found = 0;

    *ranks = must_allocate(n * sizeof(**ranks));
    for (size_t i = 0; i < n; i++) {
        size_t process = members ? members[i] : i;
        if (is_rank(m, process))
            (*ranks)[found++] = m->p[process].rank;
    }
    qsort(*ranks, found, sizeof(**ranks), numbers_in_order);
    return found;
}

/* Each rank once: else there are several runs, and a rank names nobody. */
static bool ranks_name(const struct merged *m) {
    int64_t *ranks;
    size_t n = ranks_of(m, NULL, m->n, &ranks);
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
    struct sink t;
    FILE *to = sink_begin(&t);
    size_t n = 0;
    char *names, *all;

    for (size_t i = 0; i < g->n; i++) {
        const struct merged_process *p = &m->p[g->members[i]];
        if (by_node && last && strcmp(last, p->node) == 0)
            continue;
        last = p->node;
        if (n++ >= NAMED_MOST)
            continue;
        fputs(n > 1 ? ", " : " ", to);
        if (by_node)
            fputs(p->node, to);
        else
            fprintf(to, "%lld", (long long)source_of(p)->pid);
    }
    if (n > NAMED_MOST)
        fprintf(to, " and %zu more", n - NAMED_MOST);
    names = sink_end(&t);
    all = must_format("%s%s%s", by_node ? "node" : "process",
                      n == 1    ? ""
                      : by_node ? "s"
                                : "es",
                      names);
    free(names);
    return all;
}

static char *name_group(const struct merged *m, const struct merged_group *g, bool by_rank,
                        bool by_node) {
    int64_t *ranks;
    size_t n = ranks_of(m, g->members, g->n, &ranks);
    char *name =
        by_rank && n > 0 ? name_ranks(ranks, n) : name_processes(m, g, !by_rank && by_node);

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
    bool by_rank, by_node;

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
    by_rank = ranks_name(m);
    by_node = nodes_name(m);
    for (size_t g = 0; g < m->group_count; g++) {
        m->groups[g].who = name_group(m, &m->groups[g], by_rank, by_node);
        if (g > 0)
            compare(&m->groups[g].differences, source_of(&m->p[m->groups[0].first]),
                    source_of(&m->p[m->groups[g].first]));
    }
}

void merged_end(struct merged *m) {
    for (size_t g = 0; g < m->group_count; g++) {
        free(m->groups[g].who);
        comparison_end(&m->groups[g].differences);
    }
    free(m->groups);
    free(m->members);
    free(m->p);
}
