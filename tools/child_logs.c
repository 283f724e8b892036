/* See child_logs.h. */
#include "child_logs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND 1000000

static bool could_be_new(const char *path, int64_t start) {
    struct stat facts;

    /* A file's time comes from a coarser clock than ours. */
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_mtim.tv_sec + 1 >= start / SECOND;
}

/* The mark is inherited: a process that the child started has its own pid and the child's mark. */
static bool belongs(const struct log_process *p, pid_t child, int64_t start) {
    return p->first_time >= start - SECOND &&
           (p->pid == child || (p->stack.has_process && p->stack.process.run_pid == child));
}

static int older_first(const void *a, const void *b) {
    const struct log_process *x = *(struct log_process *const *)a;
    const struct log_process *y = *(struct log_process *const *)b;

    return (x->first_time > y->first_time) - (x->first_time < y->first_time);
}

static void read_new(struct logs *logs, const struct log_place *place, int64_t start) {
    DIR *directory = opendir(place->directory);
    struct dirent *entry;
    char *path, *trouble;

    while (directory && (entry = readdir(directory))) {
        if (strncmp(entry->d_name, place->prefix, strlen(place->prefix)) != 0)
            continue;
        path = must_format("%s/%s", place->directory, entry->d_name);
        if (could_be_new(path, start) && !logs_read(logs, path, &trouble))
            free(trouble); /* something else under such a name */
        free(path);
    }
    if (directory)
        closedir(directory);
}

void child_logs_find(struct child_logs *c, const struct log_place *place, pid_t child,
                     int64_t start) {
    memset(c, 0, sizeof(*c));
    if (place->directory)
        read_new(&c->all, place, start);
    c->found = must_allocate(c->all.process_count * sizeof(struct log_process *));
    for (size_t i = 0; i < c->all.process_count; i++)
        if (belongs(c->all.processes[i], child, start))
            c->found[c->n++] = c->all.processes[i];
    qsort(c->found, c->n, sizeof(struct log_process *), older_first);
    for (size_t i = 0; i < c->n; i++)
        if (c->found[i]->pid == child)
            c->own = c->found[i];
}

void child_logs_end(struct child_logs *c) {
    free(c->found);
    logs_end(&c->all);
}
