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

struct by_pid {
    const struct merged_process *process;
    size_t index;
};

static int pids_in_order(const void *a, const void *b) {
    const struct merged_process *x = ((const struct by_pid *)a)->process;
    const struct merged_process *y = ((const struct by_pid *)b)->process;
    int nodes = compare_texts(x->node, y->node);

    if (nodes != 0)
        return nodes;
    if (source_of(x)->pid != source_of(y)->pid)
        return source_of(x)->pid < source_of(y)->pid ? -1 : 1;
    return (x > y) - (x < y);
}

static int64_t parent_pid(const struct merged_process *p) {
    const struct wc_stack *s = &source_of(p)->stack;

    return s->has_process ? s->process.parent_pid : WC_NULL;
}

/* The newest process of the parent's number that began before it: numbers come again. */
static size_t find_parent(const struct by_pid *all, size_t n, const struct merged_process *child) {
    size_t low = 0, high = n, found = MERGED_NONE;
    int64_t pid = parent_pid(child), newest = INT64_MIN;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct merged_process *p = all[middle].process;
        int nodes = compare_texts(p->node, child->node);
        if (nodes < 0 || (nodes == 0 && source_of(p)->pid < pid))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n; low++) {
        const struct merged_process *p = all[low].process;
        int64_t time = source_of(p)->first_time;
        if (compare_texts(p->node, child->node) != 0 || source_of(p)->pid != pid)
            break;
        if (time < source_of(child)->first_time && time >= newest) {
            newest = time;
            found = all[low].index;
        }
    }
    return found;
}

static void find_parents(struct merged *m) {
    struct by_pid *all = must_allocate(m->n * sizeof(*all));

    for (size_t i = 0; i < m->n; i++)
        all[i] = (struct by_pid){&m->p[i], i};
    qsort(all, m->n, sizeof(*all), pids_in_order);
    for (size_t i = 0; i < m->n; i++)
        m->p[i].parent =
            parent_pid(&m->p[i]) == WC_NULL ? MERGED_NONE : find_parent(all, m->n, &m->p[i]);
    free(all);
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

/* The ranks of a group (MERGED_NONE: of all), sorted. The caller frees. */
static int64_t *ranks_of(const struct merged *m, size_t group, size_t *n) {
    int64_t *ranks = must_allocate(m->n * sizeof(*ranks));

    *n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (is_rank(m, i) && (group == MERGED_NONE || m->p[i].group == group))
            ranks[(*n)++] = m->p[i].rank;
    qsort(ranks, *n, sizeof(*ranks), numbers_in_order);
    return ranks;
}

/* Each rank once: else there are several runs, and a rank names nobody. */
static bool ranks_name(const struct merged *m) {
    size_t n;
    int64_t *ranks = ranks_of(m, MERGED_NONE, &n);
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

/* Processes of a node stand together, so a node is named at its first one. */
static char *name_nodes(const struct merged *m, size_t group) {
    struct sink t;
    FILE *to = sink_begin(&t);
    const char *last = NULL;
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++) {
        if (m->p[i].group != group || (last && strcmp(last, m->p[i].node) == 0))
            continue;
        last = m->p[i].node;
        if (n < NAMED_MOST)
            fprintf(to, "%s %s", n > 0 ? "," : "", last);
        n++;
    }
    if (n > NAMED_MOST)
        fprintf(to, " and %zu more", n - NAMED_MOST);
    char *names = sink_end(&t), *all = must_format("node%s%s", n > 1 ? "s" : "", names);
    free(names);
    return all;
}

static char *name_processes(const struct merged *m, size_t group) {
    struct sink t;
    FILE *to = sink_begin(&t);
    size_t n = m->groups[group].n, named = 0;

    fprintf(to, "process%s", n > 1 ? "es" : "");
    for (size_t i = 0; i < m->n && named < NAMED_MOST; i++)
        if (m->p[i].group == group)
            fprintf(to, "%s %lld", named++ > 0 ? "," : "", (long long)source_of(&m->p[i])->pid);
    if (n > named)
        fprintf(to, " and %zu more", n - named);
    return sink_end(&t);
}

static void name_group(struct merged *m, size_t group, bool by_rank, bool by_symbol_version) {
    size_t n = 0;
    int64_t *ranks = by_rank ? ranks_of(m, group, &n) : NULL;
    struct merged_group *g = &m->groups[group];

    if (n > 0)
        g->who = name_ranks(ranks, n);
    else if (!by_rank && by_symbol_version)
        g->who = name_nodes(m, group);
    else
        g->who = name_processes(m, group);
    free(ranks);
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
    bool by_rank, by_symbol_version;

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
    by_symbol_version = nodes_name(m);
    for (size_t g = 0; g < m->group_count; g++) {
        name_group(m, g, by_rank, by_symbol_version);
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
    free(m->p);
}
