/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/records/process.h"
#include "tools/util/memory.h"

/* ---- what is mapped: fs/proc/task_mmu.c of the kernel, show_map_vma ---- */

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

size_t maps_names(const char *path, char *name[MAPS_NAMES], bool gone[MAPS_NAMES]) {
    size_t n = 0, length = strlen(path), tail = strlen(DELETED);

    gone[n] = false;
    name[n++] = must_copy(path);
    if (length > tail && strcmp(path + length - tail, DELETED) == 0) {
        gone[n] = true;
        name[n++] = must_format("%.*s", (int)(length - tail), path);
    }
    for (size_t i = 0, plain = n; i < plain && strstr(path, NEWLINE); i++) {
        char *to = name[n] = must_copy(name[i]);

        gone[n++] = gone[i];
        for (const char *from = name[i]; *from; to++) {
            const bool is_escaped = wc_str_starts(from, NEWLINE);

            *to = is_escaped ? '\n' : *from;
            from += is_escaped ? strlen(NEWLINE) : 1;
        }
        *to = '\0';
    }
    return n;
}

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD of the kernel's include/linux/sched.h */
#define TEXT_MOST ((size_t)64 << 20)

/* ---- its files ---- */

const char *process_path(const struct process *p, const char *path) {
    size_t n = strlen(p->root);

    return n > 0 && strncmp(path, p->root, n) == 0 && path[n] == '/' ? path + n : path;
}

/* ---- texts of /proc ---- */

static struct process_text read_file(const struct process *p, const char *name) {
    OWNED_FD int fd = openat(p->handle, name, O_RDONLY | O_CLOEXEC);
    struct process_text t = {NULL, 0};

    if (fd < 0)
        return t;
    t.p = must_allocate(TEXT_MOST + 1); /* of which the system gives what is used */
    errno = 0;
    t.n = below_read(fd, 0, t.p, TEXT_MOST);
    if (errno == 0)
        return (struct process_text){must_grow(t.p, t.n + 1), t.n};
    const int error = errno;
    free(t.p);
    errno = error;
    return (struct process_text){NULL, 0};
}

static char *read_link(const struct process *p, const char *name) {
    char to[PATH_MAX];
    ssize_t n = readlinkat(p->handle, name, to, sizeof(to) - 1);

    if (n < 0)
        return NULL;
    to[n] = '\0';
    return must_copy(to);
}

static bool is_same(const struct process *p, const char *name) {
    char own[64];
    struct stat a, b;

    snprintf(own, sizeof(own), "/proc/self/%s", name);
    return stat(own, &a) == 0 && fstatat(p->handle, name, &b, 0) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* ---- may it be looked at? ---- */

static char *refused(int error) {
    if (error == EACCES || error == EPERM)
        return must_copy("may not be looked at: it is another user's, or protected; try as root");
    if (error == ESRCH || error == ENOENT)
        return must_copy("it ended while it was looked at");
    return must_copy(strerror(error));
}

static enum process_state empty(char **trouble, const char *why) {
    *trouble = must_copy(why);
    return PROCESS_EMPTY;
}

static enum process_state read_state(struct process *p, char **trouble) {
    struct process_text stat = read_file(p, "stat");
    enum process_state state = PROCESS_READ;

    if (!stat.p) {
        *trouble = refused(errno);
        return PROCESS_UNREADABLE;
    }
    p->parent = strtoll(wc_stat_field(stat.p, 4), NULL, 10);
    p->start_ticks = wc_start_ticks(stat.p);
    p->forked = wc_is_forked(stat.p);
    if (strchr("ZXx", *wc_stat_field(stat.p, 3)))
        state = empty(trouble, "it has ended: what is left is its status, for its parent to fetch");
    else if (strtoull(wc_stat_field(stat.p, 9), NULL, 10) & KERNEL_THREAD)
        state = empty(trouble, "it is a thread of the kernel");
    free(stat.p);
    return state;
}

static bool read_maps(struct process *p) {
    struct process_text text = read_file(p, "maps");

    if (!text.p)
        return false;
    maps_end(&p->maps);
    maps_read(&p->maps, text.p, text.n);
    free(text.p);
    return true;
}

/* Of another class or machine nothing could be understood; what qemu runs is a program of ours. */
static const char *foreign(const struct process *p) {
    Elf64_Ehdr own, other;
    OWNED_FD int fd = openat(p->handle, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    OWNED_FD int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const char *why = NULL;

    if (fd >= 0 && self >= 0 && pread(fd, &other, sizeof(other), 0) == sizeof(other) &&
        pread(self, &own, sizeof(own), 0) == sizeof(own)) {
        if (other.e_ident[EI_CLASS] != own.e_ident[EI_CLASS])
            why = "its program is a 32-bit one";
        else if (other.e_machine != own.e_machine)
            why = "its program is for another architecture";
    }
    return why;
}

static enum process_state read_all(struct process *p, char **trouble) {
    const struct process_text *t = &p->environment_text;
    const size_t room = PROCESS_AUXV * sizeof(p->auxv[0]);
    struct process_text auxv;
    const char *why;
    size_t n = 0;

    OWNED char *root = must_format("%s/root", p->directory), *place = read_link(p, "root");
    p->same_node = is_same(p, "ns/uts");
    p->same_mounts = is_same(p, "ns/mnt");
    free(p->root);
    p->root = must_copy(place && strcmp(place, "/") != 0 ? place : "");
    disk_end(&p->disk);
    /* Of a root that we are outside of, being in a chroot, "/" is the name, too. */
    disk_begin(&p->disk, p->same_mounts && !p->root[0] && is_same(p, "root") ? NULL : root);
    if (!read_maps(p)) {
        *trouble = refused(errno);
        return PROCESS_UNREADABLE;
    }
    if (p->maps.n == 0)
        return empty(trouble, "nothing is mapped in it: it is about to end");
    if ((why = foreign(p)))
        return empty(trouble, why);
    p->executable = read_link(p, "exe");
    p->working_directory = read_link(p, "cwd");
    p->disk.directory = p->working_directory ? process_path(p, p->working_directory) : "";
    p->environment_text = read_file(p, "environ");
    p->arguments = read_file(p, "cmdline");
    auxv = read_file(p, "auxv");
    for (size_t at = 0; at < t->n; at += strlen(t->p + at) + 1)
        *MUST_ADD(p->environment, n) = t->p + at;
    *MUST_ADD(p->environment, n) = NULL;
    if (auxv.p)
        memcpy(p->auxv, auxv.p, auxv.n < room ? auxv.n - auxv.n % sizeof(p->auxv[0]) : room);
    free(auxv.p);
    p->memory = openat(p->handle, "mem", O_RDONLY | O_CLOEXEC);
    return PROCESS_READ;
}

enum process_state process_begin(struct process *p, int64_t pid, char **trouble) {
    memset(p, 0, sizeof(*p));
    p->pid = pid;
    p->root = must_copy("");
    p->memory = -1;
    p->parent = p->start_ticks = WC_NULL;
    p->directory = must_format("/proc/%lld", (long long)pid);
    p->handle = open(p->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    disk_begin(&p->disk, NULL);
    if (p->handle < 0) {
        *trouble =
            must_copy(access("/proc/self", F_OK) == 0 ? "no such process" : "/proc is not mounted");
        return PROCESS_UNREADABLE;
    }
    enum process_state state = read_state(p, trouble);
    return state == PROCESS_READ ? read_all(p, trouble) : state;
}

void process_end(struct process *p) {
    if (p->handle >= 0)
        close(p->handle);
    if (p->memory >= 0)
        close(p->memory);
    disk_end(&p->disk);
    maps_end(&p->maps);
    free(p->directory);
    free(p->root);
    free(p->executable);
    free(p->working_directory);
    free(p->environment);
    free(p->environment_text.p);
    free(p->arguments.p);
}

bool process_is_as_it_was(const struct process *p) {
    struct process now = {.handle = p->handle};
    bool same = read_maps(&now) && maps_same(&p->maps, &now.maps);

    maps_end(&now.maps);
    return same;
}

/* ---- its memory ---- */

bool process_read(const struct process *p, uint64_t address, void *to, size_t n) {
    return p->memory >= 0 && address <= INT64_MAX && below_read(p->memory, address, to, n) == n;
}

/* By pages: what is after its page may not be there. */
bool process_read_text(const struct process *p, uint64_t address, char *to, size_t cap) {
    size_t n = 0, piece;

    while (n + 1 < cap) {
        piece = 256 - (address + n) % 256;
        if (piece > cap - 1 - n)
            piece = cap - 1 - n;
        if (!process_read(p, address + n, to + n, piece))
            return false;
        if (memchr(to + n, '\0', piece))
            return true;
        n += piece;
    }
    to[n] = '\0';
    return false;
}

uint64_t process_auxv(const struct process *p, uint64_t type) {
    for (size_t i = 0; i < PROCESS_AUXV && p->auxv[i].a_type != AT_NULL; i++)
        if (p->auxv[i].a_type == type)
            return p->auxv[i].a_un.a_val;
    return 0;
}
