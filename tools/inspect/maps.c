/* SPDX-License-Identifier: Apache-2.0 */
/* See maps.h. The format: fs/proc/task_mmu.c of the kernel, show_map_vma. */
#include "maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "tools/util/memory.h"

#define DELETED " (deleted)"
#define NEWLINE "\\012"

/* ---- one line: "START-END rwxp OFFSET MAJOR:MINOR INODE   /path" ---- */

struct cursor {
    const char *at, *end;
    bool good;
};

static uint64_t number(struct cursor *c, unsigned base) {
    const char *from = c->at;
    uint64_t n = 0;

    for (; c->at < c->end; c->at++) {
        char digit = *c->at;
        unsigned v = digit >= '0' && digit <= '9'   ? (unsigned)(digit - '0')
                     : digit >= 'a' && digit <= 'f' ? (unsigned)(digit - 'a') + 10
                                                    : base;
        if (v >= base || n > (UINT64_MAX - v) / base)
            break;
        n = n * base + v;
    }
    c->good = c->good && c->at > from;
    return n;
}

static void expect(struct cursor *c, char wanted) {
    c->good = c->good && c->at < c->end && *c->at == wanted;
    c->at += c->good;
}

static void rights(struct cursor *c, struct mapping *m) {
    c->good = c->good && c->end - c->at > 4;
    if (!c->good)
        return;
    m->readable = c->at[0] == 'r';
    m->executable = c->at[2] == 'x';
    c->at += 4;
}

/* Names in brackets are none of files. */
static char *path_of(const struct cursor *c) {
    const char *at = c->at;

    while (at < c->end && *at == ' ')
        at++;
    return at < c->end && *at == '/' ? must_format("%.*s", (int)(c->end - at), at) : NULL;
}

static bool read_line(const char *line, size_t n, struct mapping *m) {
    struct cursor c = {line, line + n, memchr(line, '\0', n) == NULL};
    unsigned high, low;

    memset(m, 0, sizeof(*m));
    m->start = number(&c, 16);
    expect(&c, '-');
    m->end = number(&c, 16);
    expect(&c, ' ');
    rights(&c, m);
    expect(&c, ' ');
    m->offset = number(&c, 16);
    expect(&c, ' ');
    high = (unsigned)number(&c, 16);
    expect(&c, ':');
    low = (unsigned)number(&c, 16);
    expect(&c, ' ');
    m->inode = number(&c, 10);
    if (!c.good || m->end <= m->start || (c.at < c.end && *c.at != ' '))
        return false;
    m->device = makedev(high, low);
    m->path = path_of(&c);
    return true;
}

/* ---- all of them ---- */

void maps_read(struct maps *m, const char *text, size_t n) {
    size_t room = m->n;

    for (const char *line = text, *end = text + n, *stop; line < end; line = stop + 1) {
        stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        if (m->n == room) {
            room = room ? room * 2 : 256;
            m->p = must_grow(m->p, room * sizeof(*m->p));
        }
        m->n += read_line(line, (size_t)(stop - line), &m->p[m->n]);
    }
}

void maps_end(struct maps *m) {
    for (size_t i = 0; i < m->n; i++)
        free(m->p[i].path);
    free(m->p);
    *m = (struct maps){NULL, 0};
}

const struct mapping *maps_at(const struct maps *m, uint64_t address) {
    for (size_t i = 0; i < m->n; i++)
        if (address >= m->p[i].start && address < m->p[i].end)
            return &m->p[i];
    return NULL;
}

static bool same_path(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Files alone: heaps and stacks grow. */
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
            a->p[i].inode != b->p[k].inode || !same_path(a->p[i].path, b->p[k].path))
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
