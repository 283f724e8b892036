/* SPDX-License-Identifier: Apache-2.0 */
#include "child_logs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "startup.h"
#include "tools/observe/log/images.h"
#include "tools/util/clock.h"

/* A file's time comes from a coarser clock than ours. */
static bool could_be_new(const struct stat *facts, int64_t start) {
    return facts->st_mtim.tv_sec + 1 >= start / CLOCK_SECOND;
}

static int older_first(const void *a, const void *b) {
    const struct source *x = *(struct source *const *)a;
    const struct source *y = *(struct source *const *)b;

    return WC_ORDER(x->first_time, y->first_time);
}

static bool is_of_family(const void *family, uid_t owner) {
    return family_has_user(family, owner);
}

static void find_own(struct child_logs *c, pid_t child) {
    c->own = NULL;
    for (size_t i = 0; i < c->n; i++)
        if (c->found[i]->pid == child)
            c->own = c->found[i];
}

void child_logs_find(struct child_logs *c, const struct log_place *place,
                     const struct family *family, pid_t child, int64_t start) {
    OWNED_DIR DIR *directory = place->directory ? opendir(place->directory) : NULL;
    struct dirent *entry;
    struct stat facts;

    memset(c, 0, sizeof(*c));
    while (directory && (entry = readdir(directory))) {
        if (!wc_str_starts(entry->d_name, place->prefix))
            continue;
        OWNED char *path = must_format("%s/%s", place->directory, entry->d_name), *trouble = NULL;
        int fd = log_open_of(path, is_of_family, family, &trouble);
        if (fd >= 0 && (fstat(fd, &facts) != 0 || !could_be_new(&facts, start)))
            close(fd);
        else if (fd >= 0) /* it may be something else under such a name */
            logs_read_descriptor(&c->all, fd, path, &trouble);
        else if (!c->passed_over && lstat(path, &facts) == 0 && could_be_new(&facts, start))
            c->passed_over = must_format("%s (%s)", path, trouble);
    }
    c->found = must_allocate(c->all.process_count * sizeof(struct source *));
    /* The mark is inherited: what the child started has its own pid and the child's mark. */
    for (size_t i = 0; i < c->all.process_count; i++) {
        struct source *p = c->all.processes[i];
        if (p->first_time >= start - CLOCK_SECOND &&
            (p->pid == child || (p->stack.has_process && p->stack.process.run_pid == child)))
            c->found[c->n++] = p;
    }
    qsort(c->found, c->n, sizeof(struct source *), older_first);
    c->replaced_count = c->n - images_join(c->found, c->n);
    c->n -= c->replaced_count;
    c->replaced = c->found + c->n;
    find_own(c, child);
}

/* A file that holds more than this one process is not ours to remove, nor is another one that has
 * come into its place. False: it is kept. */
static bool remove_if_nothing(const struct source *p) {
    struct stat facts;

    return p->stack.process.eager && p->file->records == p->records &&
           p->file->damaged_lines == 0 && !image_counts(p) && !failed_requests_want_cudnn(p) &&
           lstat(p->path, &facts) == 0 && facts.st_dev == p->file->device &&
           facts.st_ino == p->file->inode && unlink(p->path) == 0;
}

/* The last request that failed pointed to a file that is not a library of this machine. */
static bool met_bad_file(const struct source *p) {
    const struct wc_stack *s = &p->stack;
    const struct wc_failure *last = s->failures.n ? &s->failures.p[s->failures.n - 1] : NULL;

    return last && last->r.request != WC_NULL &&
           WC_ANY(file, s->files, file->r.fault && file->r.request == last->r.request);
}

void child_logs_drop_empty(struct child_logs *c, pid_t child, bool signaled, bool failed) {
    size_t kept = 0;

    for (size_t i = 0; i < c->n; i++) {
        struct source *p = c->found[i];
        bool counts = p == c->own && (signaled || (failed && met_bad_file(p)));
        if (p->pid != child || counts || !remove_if_nothing(p))
            c->found[kept++] = p;
    }
    for (size_t i = 0; i < c->replaced_count; i++)
        (void)remove_if_nothing(c->replaced[i]);
    c->n = kept;
    find_own(c, child);
}

void child_logs_end(struct child_logs *c) {
    free(c->found);
    free(c->passed_over);
    logs_end(&c->all);
}
