/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a loader would see, each read once: libraries, and what the loader itself adds to
 * a search (ld.so.cache, its own directories). Of this machine, or below another root.
 */
#pragma once

#include <uthash.h>

#include "core/base/files.h"
#include "core/search/search.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/observe/elf/elf_prescan.h"
#include "tools/util/memory.h"

struct library {
    UT_hash_handle hh;
    const char *key; /* device, inode, path without links: uv puts hard links in environments */
    /* Without image and identity. Its path: by which it was first read; HOST: it needs, imports,
     * defines or opens cuDNN. */
    struct wc_library about;
    bool is_elf;      /* of 64 bits, with a dynamic section, whole as far as looked at */
    bool needs_cudnn; /* a facade or a part */
    bool is_program;  /* a PIE: the loader does not load it as a library */
    uint16_t machine;
    bool damaged;                   /* the loader refuses it, or cannot map all of it */
    struct wc_search_object search; /* as far as its image says */
    struct library_import *imports; /* once asked for */
    const char *interpreter;        /* NULL: none */
    const char **needed;            /* NULL at the end */
    const char **version_files;     /* of which it requires symbol versions; NULL at the end */
    /* cuDNN's libraries that it has the names of in its constants, "libcudnn.so.9",
     * "libcudnn_graph.so", or in its .note.dlopen: it opens them itself, with or_else only where
     * the one before was not found. An empty text at the end. */
    struct elf_prescan_name *opens;
    bool damaged_note;         /* of that kind, which names cuDNN */
    struct elf_file *elf_file; /* kept open, once asked for or reported of */
    bool listed;               /* by a scan, as a copy or a host */
    int32_t cuda_named;        /* as library_cuda_named() says; 0: it was not asked */
};

struct library_import {
    const char *name, *version, *version_file; /* the last: one of the library's, or NULL */
    bool is_of_cudnn;
};

struct library_cache {
    struct disk disk; /* which looks at each path once: a search asks again */
    struct heap_arena memory;
    struct library *libraries;
    struct elf_prescan prescan;
    struct wc_span cache;
    const char *const *listed; /* as of struct wc_search_context; not the library_cache's own */
    const char *interpreter;   /* of which `system` is */
    char glibc[16];            /* "2.36"; "": not known */
    struct wc_search_system system;
    bool named;          /* what is read was named by the user: it may cost more */
    struct library_fit { /* that one has all that the other requires of it */
        const struct library *by, *found;
        bool versions, functions;
    } fits[1024];
};

/* *w must not move. root: as for disk_begin. */
void library_cache_begin(struct library_cache *w, const char *root);
void library_cache_end(struct library_cache *w);

/* What packages say about files is another thing now. */
void library_cache_forget(struct library_cache *w);
/* NULL: no regular file that can be read (errno). Lives as long as the library_cache. answer: of a
 * prescan that was made already; NULL: none was. */
struct library *library_cache_get(struct library_cache *w, const char *path,
                                  const enum elf_prescan_answer *answer);
/* What it imports and cannot go without, of whatever version; a NULL for a name at the end. */
const struct library_import *library_imports(struct library_cache *w, struct library *b);
/* The first symbol version that `found` lacks of those that `by` requires of the i-th of its
 * version_files. NULL: none, or one of them cannot be read. */
const char *library_lacks_version(struct library_cache *w, struct library *by, size_t i,
                                  struct library *found);
/* From the first import of that file's on that it does not define; else from the end on. */
const struct library_import *library_lacks_functions(struct library_cache *w, struct library *by,
                                                     size_t i, struct library *found);
/* The one CUDA whose libraries it has names of in its constants ("libcublas.so.12"), as what opens
 * them has; -1: none, or several. */
int32_t library_cuda_named(struct library_cache *w, struct library *b);
bool library_defines(struct library_cache *w, struct library *b, const char *function);
/* What an edit puts there: it has a library's name and version, and not all of its functions. */
static inline bool library_is_put(struct library_cache *w, const struct wc_library *l) {
    return disk_layered(&w->disk, wc_library_file(l)).kind == DISK_FILE;
}
/* All of it, to be reported. NULL: it cannot be read any more. */
struct elf_file *library_cache_elf_file(struct library_cache *w, struct library *b);
/* As elf_file_identify. False: it cannot be read any more. */
bool library_identify(struct library_cache *w, struct library *b, struct wc_library *out);
/* Of variables, NAME=value with NULL at the end; NULL: not set. */
const char *loader_variable(char *const *environment, const char *name);
/* Fills in what a loader adds: interpreter is the path of ld.so, NULL: that of the own machine. */
void library_cache_use(struct library_cache *w, const char *interpreter,
                       struct wc_search_context *search);

/* The file of its environment that a package opens by itself before it asks for that library by
 * bare names (cudnn-frontend). module: a path of the package's. NULL: none is there. */
char *package_file(const struct wc_files *files, const char *module, const char *name);
