/* SPDX-License-Identifier: Apache-2.0 */
/* See maps.h. The format: fs/proc/task_mmu.c of the kernel, show_map_vma. */
#include "maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "tools/util/memory.h"

#define DELETED " (deleted)"
#define NEWLINE "\\012"

/* "START-END rwxp OFFSET MAJOR:MINOR INODE   /path" */
static bool read_line(const char *line, struct mapping *m) {
    unsigned high, low;
    char rights[4];
    int n = 0;

    errno = 0; /* of a number that is too large; NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4c %" SCNx64 " %x:%x %" SCNu64 "%n", &m->start,
               &m->end, rights, &m->offset, &high, &low, &m->inode, &n) != 7 ||
        errno != 0 || m->end <= m->start || !strchr(" ", line[n]))
        return false;
    m->readable = rights[0] == 'r';
    m->executable = rights[2] == 'x';
    m->device = makedev(high, low);
    line += n + strspn(line + n, " ");
    m->path = *line == '/' ? must_copy(line) : NULL; /* names in brackets are none of files */
    return true;
}

/* ---- all of them ---- */

void maps_read(struct maps *m, const char *text, size_t n) {
    struct mapping one;

    for (const char *from = text, *end = text + n, *stop; from < end; from = stop + 1) {
        stop = memchr(from, '\n', (size_t)(end - from));
        stop = stop ? stop : end;
        OWNED char *line = must_format("%.*s", (int)(stop - from), from);
        if (!memchr(from, '\0', (size_t)(stop - from)) && read_line(line, &one))
            *MUST_ADD(m->p, m->n) = one;
    }
}

void maps_end(struct maps *m) {
    for (size_t i = 0; i < m->n; i++)
        free(m->p[i].path);
    free(m->p);
    *m = (struct maps){NULL, 0};
}

/* Only files: heaps and stacks grow. */
bool maps_same(const struct maps *a, const struct maps *b) {
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        while (i < a->n && !a->p[i].path)
            i++;
        while (k < b->n && !b->p[k].path)
            k++;
        if (i == a->n || k == b->n)
            return i == a->n && k == b->n;
        if (a->p[i].start != b->p[k].start || a->p[i].offset != b->p[k].offset ||
            a->p[i].inode != b->p[k].inode || !wc_str_same(a->p[i].path, b->p[k].path))
            return false;
    }
}

/* ---- names ---- */

static char *with_newlines(const char *path) {
    char *copy = must_copy(path), *to = copy;

    for (const char *from = path; *from;) {
        bool escaped = strncmp(from, NEWLINE, strlen(NEWLINE)) == 0;
        *to++ = escaped ? '\n' : *from;
        from += escaped ? strlen(NEWLINE) : 1;
    }
    *to = '\0';
    return copy;
}

size_t maps_names(const char *path, char *name[MAPS_NAMES], bool gone[MAPS_NAMES]) {
    size_t n = 0, length = strlen(path), tail = strlen(DELETED);

    gone[n] = false;
    name[n++] = must_copy(path);
    if (length > tail && strcmp(path + length - tail, DELETED) == 0) {
        gone[n] = true;
        name[n++] = must_format("%.*s", (int)(length - tail), path);
    }
    for (size_t i = 0, plain = n; i < plain && strstr(path, NEWLINE); i++) {
        gone[n] = gone[i];
        name[n++] = with_newlines(name[i]);
    }
    return n;
}
