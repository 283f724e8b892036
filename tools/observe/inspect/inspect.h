/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running process as /proc shows it, and its ELF objects: which files are mapped where, under
 * which names the loader has them, and which needs which. It is only read: never stopped, never
 * traced, nothing is written to it. What needs more rights than the rest is its memory
 * (PTRACE_MODE_ATTACH; all else PTRACE_MODE_READ).
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <sys/utsname.h>

#include "core/records/process.h"
#include "core/search/search.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/observe/log/source.h"

/* A line of /proc/PID/maps: which file is mapped where. */
struct mapping {
    uint64_t start, end, offset, inode;
    uint64_t device; /* as stat gives it */
    bool executable;
    /* As the kernel has it. It spells a newline \012 and puts " (deleted)" after the name of a file
     * that has no name any more, and a file's own name may hold both: only the file shows it. */
    char *path;
};

struct maps { /* all zero: none */
    struct mapping *p;
    size_t n;
};

/* Adds all that is understood of a whole text. What is not, and memory without a file, is left out:
 * heaps and stacks grow. */
void maps_read(struct maps *m, const char *text, size_t n);
void maps_end(struct maps *m);
bool maps_same(const struct maps *a, const struct maps *b);

#define MAPS_NAMES 4
/* What a path of the kernel's may mean, likeliest first: as it stands, without " (deleted)", each
 * with newlines for \012. Returns how many there are; the caller frees each. gone[i]: that reading
 * takes the file for deleted. */
size_t maps_names(const char *path, char *name[MAPS_NAMES], bool gone[MAPS_NAMES]);

struct process {
    struct wc_process about; /* as its record has it */
    char *directory;         /* "/proc/PID" */
    int handle;       /* that directory: stays the same process's when the number is given again */
    struct disk disk; /* its files: below its root; relative paths begin at its working directory */
    char *root;       /* as the kernel names it to us, without a '/' at its end; "": "/" */
    bool same_mounts; /* the same mount namespace as ours */
    struct utsname host;    /* if it is on ours */
    char **environment;     /* NAME=value, NULL at the end */
    char *environment_text; /* as in /proc; NULL: it could not be read */
    size_t auxv_count;
    Elf64_auxv_t *auxv;
    struct maps maps;
    int memory; /* -1: it may not be read */
};

enum process_state {
    PROCESS_READ,
    PROCESS_EMPTY,     /* there is one, and nothing is to be seen of it */
    PROCESS_UNREADABLE /* there is none, or we may not look at it */
};
/* *trouble: why it is empty or unreadable; the caller frees. Of an empty one pid, parent and
 * start are known. process_end in all cases. */
enum process_state process_begin(struct process *p, int64_t pid, char **trouble);
void process_end(struct process *p);

/* Are its files mapped as they were when it was read, and is it still there? */
bool process_is_as_it_was(const struct process *p);

/* n bytes at an address of its memory. False: they do not exist, or may not be read. It is for
 * struct elf_file_memory, too: process is a struct process. */
bool process_read(const void *process, uint64_t address, void *to, size_t n);
/* 0: it has no such entry. */
uint64_t process_auxv(const struct process *p, uint64_t type);

/* ---- its ELF objects ---- */

enum process_library_file {
    PROCESS_LIBRARY_FILE, /* the file of that path is what is mapped */
    PROCESS_LIBRARY_GONE, /* it was deleted, or another one put in its place: the kernel says so */
    PROCESS_LIBRARY_UNREACHED /* no path that points to it is known */
};

struct process_library {
    struct wc_library *library; /* its path as the loader has it, else as the kernel */
    struct wc_library unread;   /* that, where it could not be read: what its name says */
    struct elf_file *elf_file;  /* NULL: neither its file nor its memory could be read */

    const struct mapping *first; /* of the file's first bytes */
    const char *path;            /* below the process's root, as the kernel has it */
    enum process_library_file file;
    bool executable;
    uint64_t low, high; /* mapped range [low, high) */
    size_t place;       /* on the loader's list, from 1; 0: it is not on it */
    bool program;
    bool needed; /* another needs it, even if the first is not known */
    bool opens;  /* needed by none: no other one can have, or its framework does */
    /* The object whose DT_NEEDED names it, or that opened it; NULL: unknown. */
    const struct process_library *asked_by;
    struct wc_search_object search;
};

struct process_libraries {      /* all zero: none */
    struct process_library **p; /* in the loader's order, then by address */
    size_t n;
    bool in_order; /* the loader's list could be read */
    struct heap_arena memory;
};

/* The process must outlive the list. */
void process_library_read(struct process_libraries *list, const struct process *process);
void process_library_end(struct process_libraries *list);

struct process_library *process_library_at(const struct process_libraries *list,
                                           uint64_t address); /* NULL: none */
struct process_library *
process_library_program(const struct process_libraries *list); /* NULL: unknown */
/* Does it answer to a name that was asked for? */
bool process_library_answers(const struct process_library *m, const char *name);

/* ---- all of it into the model ---- */

/* What a log would print of a process, but for what is over (requests that failed, calls, their
 * order). NULL: there is no such process, or it may not be looked at; *trouble (the caller frees)
 * says which. The caller frees with source_free. */
struct source *inspect_process(int64_t pid, char **trouble);
