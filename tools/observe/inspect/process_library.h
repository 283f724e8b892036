/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF objects of a running process: which files are mapped where, under which names the loader
 * has them, and which needs which.
 */
#pragma once

#include "core/search/search.h"
#include "process.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/util/memory.h"

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
    uint64_t low, high;  /* mapped range [low, high) */
    Elf64_Phdr *headers; /* of memory, NULL: it was not asked */
    size_t place;        /* on the loader's list, from 1; 0: it is not on it */
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
