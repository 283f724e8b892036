/*
 * The ELF objects of a running process: which files are mapped where, under which names the loader
 * has them, and who needs whom.
 */
#ifndef WHICHCUDNN_TOOLS_MAPPED_H
#define WHICHCUDNN_TOOLS_MAPPED_H

#include "core/search/search.h"
#include "process.h"
#include "tools/elf/elf_file.h"
#include "tools/util/memory.h"

enum mapped_file {
    MAPPED_FILE,   /* the file of that path is what is mapped */
    MAPPED_GONE,   /* it was deleted, or another one put in its place */
    MAPPED_CHANGED /* another one stands there */
};

struct mapped {
    const struct mapping *first; /* of the file's first bytes */
    char *path;                  /* below the process's root, as the kernel has it */
    char *name;                  /* as the loader has it; where its list is not known: path */
    enum mapped_file file;
    bool executable;
    uint64_t base, low, high; /* load bias; mapped range [low, high) */
    struct look *look;        /* NULL: neither its file nor its memory could be read */
    Elf64_Phdr *headers;      /* of memory, NULL: it was not asked */
    size_t place;             /* on the loader's list, from 1; 0: it is not on it */
    bool program;
    const struct mapped
        *needed_by; /* by whose DT_NEEDED it came in; NULL: by nobody's, or unknown */
    const char *needed_as;
    bool needed; /* somebody needs it, even if it is not known who was first */
    struct wc_search_object search;
    int64_t number; /* of its object record; WC_NULL: it has none */
    struct mapped
        *opener; /* of what nobody needs, the only one who can have opened it; NULL: unknown */
    bool opens;  /* it is such a one */
};

struct mapped_list {   /* all zero: none */
    struct mapped **p; /* in the loader's order, then by address */
    size_t n;
    bool in_order; /* the loader's list could be read */
    struct heap_arena memory;
};

/* The process must outlive the list. */
void mapped_read(struct mapped_list *list, const struct process *process);
void mapped_end(struct mapped_list *list);

struct mapped *mapped_at(const struct mapped_list *list, uint64_t address); /* NULL: none */
struct mapped *mapped_program(const struct mapped_list *list);              /* NULL: unknown */
const struct wc_elf_image *mapped_image(const struct mapped *m); /* NULL: it cannot be read */
/* Does it answer to a name that was asked for? */
bool mapped_answers(const struct mapped *m, const char *name);

#endif
