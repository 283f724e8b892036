/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running process as /proc shows it. It is only read: never stopped, never traced, nothing is
 * written to it. What needs more rights than the rest is its memory (PTRACE_MODE_ATTACH; all else
 * PTRACE_MODE_READ).
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/util/disk.h"
#include "whichcudnn/record.h"

/* A line of /proc/PID/maps: what is mapped where. */
struct mapping {
    uint64_t start, end, offset, inode;
    uint64_t device; /* as stat gives it */
    bool readable, executable;
    /* Of the file, as the kernel has it; NULL: no file. It spells a newline \012 and puts
     * " (deleted)" after the name of a file that has no name any more, and a file's own name may
     * hold both: which it is, only the file can emit. */
    char *path;
};

struct maps { /* all zero: none */
    struct mapping *p;
    size_t n;
};

/* Adds all that is understood of a whole text; what is not is left out. */
void maps_read(struct maps *m, const char *text, size_t n);
void maps_end(struct maps *m);
bool maps_same(const struct maps *a, const struct maps *b);

#define MAPS_NAMES 4
/* What a path of the kernel's may mean, likeliest first: as it stands, without " (deleted)", each
 * with newlines for \012. Returns how many there are; the caller frees each. gone[i]: that reading
 * takes the file for deleted. */
size_t maps_names(const char *path, char *name[MAPS_NAMES], bool gone[MAPS_NAMES]);

#define PROCESS_AUXV 64

struct process_text {
    char *p; /* with a NUL behind; NULL: it could not be read */
    size_t n;
};

struct process {
    int64_t pid;
    int64_t parent, start_ticks;
    bool forked;
    char *directory;  /* "/proc/PID" */
    int handle;       /* that directory: stays the same process's when the number is given again */
    struct disk disk; /* its files: below its root; relative paths begin at its working directory */
    char *root;       /* as the kernel names it to us, without a '/' at its end; "": "/" */
    bool same_mounts; /* the same mount namespace as ours */
    bool same_node;   /* it has the same host name as we do */
    char *executable; /* NULL: not known */
    char *working_directory;
    char **environment;                              /* NAME=value, NULL at the end */
    struct process_text environment_text, arguments; /* as in /proc: each text ends with a NUL */
    Elf64_auxv_t auxv[PROCESS_AUXV + 1];             /* the last one is AT_NULL */
    struct maps maps;
    int memory; /* -1: it may not be read */
};

enum process_state {
    PROCESS_READ,
    PROCESS_EMPTY,     /* there is one, and nothing is to be seen of it */
    PROCESS_UNREADABLE /* there is none, or we may not look at it */
};
/* *trouble: why it is empty or unreadable; the caller frees. Of an empty one pid, parent and
 * start_ticks are known. process_end in all cases. */
enum process_state process_begin(struct process *p, int64_t pid, char **trouble);
void process_end(struct process *p);

/* Are its files mapped as they were when it was read, and is it still there? */
bool process_is_as_it_was(const struct process *p);

/* A path of the kernel's as one below the process's root. The kernel's begin at our root, else at
 * the top of the process's mount namespace: either way p->root begins there, too. */
const char *process_path(const struct process *p, const char *path);

/* n bytes at an address of its memory. False: they do not exist, or may not be read. */
bool process_read(const struct process *p, uint64_t address, void *to, size_t n);
/* The text at an address, up to cap - 1 bytes. */
bool process_read_text(const struct process *p, uint64_t address, char *to, size_t cap);
/* 0: it has no such entry. */
uint64_t process_auxv(const struct process *p, uint64_t type);
