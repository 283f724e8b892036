/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "core/knowledge/programs.h"

#define BESIDE_MOST 64 /* processes of a job that are compared with one another */
#define SCRIPTED (WC_PROGRAM_PYTHON | WC_PROGRAM_SCRIPTED)

static bool same_node(const struct source *a, const struct source *b) {
    return wc_str_same(a->stack.process.node, b->stack.process.node);
}

WC_COMPARE(by_pid, struct source *const, WC_ORDER((*x)->pid, (*y)->pid));

struct job {
    struct source **p; /* by pid */
    size_t n;
};

/* The first with that number, of which several may be there; NULL: none. */
static struct source *const *first_of(const struct job *job, int64_t pid) {
    const struct source wanted = {.pid = pid}, *key = &wanted;
    struct source *const *found = bsearch(&key, job->p, job->n, sizeof(*job->p), by_pid);

    while (found > job->p && found[-1]->pid == pid)
        found--;
    return found;
}

#define EACH_WITH(other, job, number)                                                              \
    for (struct source *const *other = first_of(job, number);                                      \
         other && other < (job)->p + (job)->n && (*other)->pid == (number); other++)

/* A parent of workers sees their ends, and says so by its own end. What multiprocessing spawns is a
 * "python -c"; those that wait for it look at its status. */
static bool has_keeper(const struct job *job, const struct source *s) {
    const struct wc_process_record *p = &s->stack.process;
    const struct wc_strings *a = &p->arguments;
    const bool spawned = a->n > 1 && wc_program_is(a->p[0], SCRIPTED) && !strcmp(a->p[1], "-c");

    if (!p->forked && p->parent_name &&
        (wc_program_is(p->parent_name, WC_PROGRAM_SHELL | WC_PROGRAM_KEEPER) ||
         (wc_program_is(p->parent_name, SCRIPTED) && !spawned)))
        return false;
    EACH_WITH(parent, job, p->parent_pid)
        if (same_node(*parent, s) &&
            (wc_ended_well(&(*parent)->stack) ||
             (!(*parent)->stack.has_outcome && (*parent)->stack.has_summary)))
            return true;
    return s->of_command == WC_END_WELL && (p->forked || (p->parent_name && p->parent_pid > 1));
}

static enum wc_end end_of(const struct job *job, const struct source *s) {
    if (s->of_command == WC_END_FAILED)
        return WC_END_FAILED;
    if (s->stack.has_summary)
        return WC_END_NORMAL;
    if (writer_state(s) == WRITER_RUNS)
        return WC_END_RUNS;
    EACH_WITH(other, job, s->pid) /* it went on as another program */
        if (*other != s && same_node(*other, s) && (*other)->first_time > s->last_time &&
            (*other)->stack.process.start_ticks == s->stack.process.start_ticks)
            return WC_END_WELL;
    return has_keeper(job, s) ? WC_END_ASSUMED : WC_END_UNKNOWN;
}

/* Its script, by its own name; NULL: it has none (what multiprocessing spawns is a "python -c"). */
static const char *program_of(const struct wc_process_record *p) {
    const char *script = p->arguments.n > 1 && wc_program_is(p->arguments.p[0], SCRIPTED)
                             ? p->arguments.p[1]
                             : p->executable;

    return script && *script != '-' ? script : NULL;
}

static bool has_started(const struct source *s, const struct source *other) {
    return other->stack.process.parent_pid == s->pid && s->first_time <= other->first_time;
}

/* It gets each variable that the command gets, too. */
static bool is_beside(const struct source *other, const struct source *s) {
    const struct wc_process_record *p = &s->stack.process, *q = &other->stack.process;

    return p->run_pid != WC_NULL && p->run_pid == q->run_pid && same_node(other, s) &&
           !has_started(s, other) && !has_started(other, s) && program_of(p) && program_of(q) &&
           !wc_str_same(program_of(p), program_of(q)) && wc_first_facade(&other->stack);
}

void ends_settle(struct source *const *processes, size_t n) {
    struct job job = {must_allocate(n * sizeof(struct source *)), n};

    for (size_t i = 0; i < n; i++)
        job.p[i] = processes[i];
    qsort(job.p, n, sizeof(struct source *), by_pid);
    for (size_t i = 0; i < n; i++) {
        struct source *s = processes[i];
        const int64_t parents[] = {s->stack.process.parent_pid, s->stack.process.run_pid};
        if (s->type == SOURCE_LOG && !s->stack.has_outcome)
            s->end = end_of(&job, s);
        s->stack.is_kept = has_keeper(&job, s);
        for (size_t k = 0; k < n && n <= BESIDE_MOST && !s->stack.beside; k++)
            s->stack.beside =
                is_beside(processes[k], s) ? program_of(&processes[k]->stack.process) : NULL;
        /* Its parent, or the command that it is of, outlived what itself had requested before. */
        WC_EACH_ROW(pid, parents)
            EACH_WITH(parent, &job, *pid)
                if (*parent != s && same_node(*parent, s) &&
                    (*parent)->stack.failed_child < s->first_time &&
                    WC_ANY(f, s->stack.failures, wc_name_is_cudnn(wc_missing_of(f))))
                    (*parent)->stack.failed_child = s->first_time;
    }
    free(job.p);
}
