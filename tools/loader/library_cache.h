/*
 * The files that a loader would see, each read once: libraries, and what the loader itself adds to
 * a search (ld.so.cache, its own directories). Of this computer, or below another root.
 */
#ifndef WHICHCUDNN_TOOLS_WORLD_H
#define WHICHCUDNN_TOOLS_WORLD_H

#include <uthash.h>

#include "core/search/search.h"
#include "tools/elf/elf_file.h"
#include "tools/elf/elf_prescan.h"
#include "tools/util/memory.h"

#define WORLD_OPENS_MOST 24

struct library_key {
    uint64_t device, inode;
};

struct library {
    struct library_key key;
    const char *path, *real_path; /* by which it was first read; canonical, else the same */
    bool is_elf;               /* of 64 bits, with a dynamic section, whole as far as looked at */
    bool needs_cudnn, defines; /* a facade or a part; cuDNN's functions, or stubs of them */
    bool no_default;
    uint16_t machine;
    enum wc_role role; /* HOST: it needs, imports, defines or opens cuDNN */
    const char *framework;
    const char *soname, *rpath, *runpath, *interpreter; /* NULL: none */
    const char **needed;                                /* NULL at the end */
    /* cuDNN's libraries that it has the names of in its constants, "libcudnn.so.9",
     * "libcudnn_graph.so": it opens them itself. NULL at the end. */
    const char **opens;
    struct look *look; /* kept open: it will be told of; NULL: not kept */
    bool listed;       /* by a scan, as a copy or a host */
    UT_hash_handle hh;
};

struct world {
    struct disk disk;
    struct wc_files files; /* the disk's, with what was looked up kept: a search asks again */
    struct world_entry *entries;
    struct heap_arena memory;
    struct library *libraries;
    struct glance glance;
    unsigned char *cache;
    size_t cache_size;
    char *interpreter; /* of which `system` is */
    char glibc[16];    /* "2.36"; "": not known */
    struct wc_search_system system;
    size_t looks; /* that are kept open */
    bool named;   /* what is read was named by the user: it may cost more */
};

/* *w must not move. root: as for disk_begin. */
void world_begin(struct world *w, const char *root);
void world_end(struct world *w);

/* NULL: no regular file that can be read (errno). Lives as long as the world. */
struct library *world_library(struct world *w, const char *path);
/* The same where a glance has been taken already. */
struct library *world_library_after(struct world *w, const char *path, enum glance_answer answer);
/* All of it, to be told; to be given back. NULL: it cannot be read any more. */
struct look *world_look(struct world *w, const struct library *b);
void world_look_end(const struct library *b, struct look *l);
void world_add_open(struct world *w, struct library *b, const char *name);
/* Fills in what a loader adds: interpreter is the path of ld.so, NULL: that of the own machine. */
void world_use(struct world *w, const char *interpreter, struct wc_search_world *search);

#endif
