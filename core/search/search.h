/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay of the loader's search for one name: which files it tries, in which order and by which
 * rule, and what is there. The rules are those of glibc 2.17 and up (elf/dl-load.c, dl-cache.c,
 * dl-hwcaps.c, ld.so(8)). Pure; reads through struct wc_files. No file is ever loaded.
 */
#pragma once

#include "core/base/files.h"
#include "core/elf/elf_image.h"
#include "whichcudnn/record.h"

/* An object that takes part: the caller, and those that loaded it. */
struct wc_search_object {
    const char *path;   /* as the loader has it; "" or NULL: the program without a known path */
    const char *origin; /* $ORIGIN: the directory of path (wc_search_origin); NULL: unknown */
    const char *rpath, *runpath, *soname; /* NULL: none */
    bool is_program, no_default;          /* no_default: DF_1_NODEFLIB */
    const char *const *names; /* by which it was asked for, NULL at the end; NULL: none known */
    const struct wc_search_object *loaded_by; /* NULL: by none (at start, or the program) */
};

/* What its image contains about it, in memory of that arena. */
void wc_search_object_read(struct wc_search_object *o, const struct wc_elf_image *e,
                           struct wc_arena *arena);
/* $ORIGIN: the directory of the path by which the loader has it, below the working directory where
 * that is a relative one. NULL: not known. */
const char *wc_search_origin(struct wc_arena *arena, const char *path, const char *directory);

/* Does the loader accept it as what is asked for by that name? */
bool wc_search_answers(const struct wc_search_object *o, const char *name);

/* What is the same for all requests of a process. */
struct wc_search_context {
    const struct wc_files *files;
    const char *library_path;        /* as at process start; NULL: not set */
    const char *library_path_origin; /* $ORIGIN in it: the program's */
    bool secure;                     /* AT_SECURE: LD_LIBRARY_PATH is not heeded */
    struct wc_span cache;            /* the bytes of /etc/ld.so.cache; n 0: there is none */
    const char *const *listed;       /* as if it began with: name, path, ..., NULL; NULL: nothing */
    const struct wc_search_system *system; /* what this loader adds by itself */
    uint16_t machine;                      /* EM_X86_64, EM_AARCH64 */
    bool whole;  /* go on after the file that is taken, or that ends the search */
    bool sparse; /* leave out subdirectories that do not exist: the loader tries in them once */
    const struct wc_search_object *program; /* NULL: unknown */
    /* What is there already, in the loader's order, NULL at the end; NULL: not to be looked at. */
    const struct wc_search_object *const *loaded;
    struct wc_search_memory *memory; /* NULL: a loader that has tried nothing yet */
};

/*
 * What the loader remembers: a directory that does not exist is tried once. One for a process,
 * cleared at the start; what finds no room is tried again.
 */
struct wc_search_memory {
    struct wc_arena *arena;
    struct wc_search_missing *missing;
};

struct wc_search_candidate {
    enum wc_search_rule rule;
    enum wc_file_state state;
    bool beaten;       /* an earlier one was taken, or ended the search */
    bool no_directory; /* nor is its directory there */
    bool tried;        /* false: that was known before, and the loader does not look again */
    bool in_subdirectory;
    const char *path; /* the file tried; valid for the time of the call, as are all texts here */
    const char *directory; /* of the list, with a '/' behind; NULL: no list */
    const char *element;   /* of the variable or the tag, as written there; NULL: no list */
    unsigned index;        /* of the element in its list, from 0, empty ones counted */
    const struct wc_search_object *of; /* whose tag, or what is there already; NULL: of no object */
};

/* Calls each() for every file that the loader would try, up to the file that it takes (FITS) or
 * fails on (DAMAGED); with context->whole also for those after it. each() may stop the
 * search by returning false. scratch: at least WC_SEARCH_SCRATCH bytes. True: one was taken. */
#define WC_SEARCH_SCRATCH (64u << 10)
#define WC_SEARCH_LIST 256 /* directories of one list, the others are left out */
bool wc_search(const struct wc_search_context *context, const struct wc_search_object *caller,
               const char *name, void *scratch, size_t scratch_size,
               bool (*each)(void *arg, const struct wc_search_candidate *candidate), void *arg);

/* The path that the cache gives for a name, not to be freed; NULL: none. */
const char *wc_search_cache(const struct wc_search_context *context, const char *name);

#define WC_SEARCH_PATH 4096

struct wc_preload {
    char element[WC_SEARCH_PATH]; /* as it is in the list */
    unsigned index;
};
/* Which element of LD_PRELOAD loaded a library that was there at the start? False: none. */
bool wc_search_preload(const char *list, const char *path, const char *soname,
                       struct wc_preload *out);

#define WC_SEARCH_DIRECTORIES 8     /* the loader's own */
#define WC_SEARCH_SUBDIRECTORIES 32 /* of each */

/* What a loader adds by itself. Lists end with NULL; directories have a '/' behind. */
struct wc_search_system {
    const char *defaults[WC_SEARCH_DIRECTORIES + 1];
    /* Of each directory, first to last: "glibc-hwcaps/x86-64-v3/", then before glibc 2.37 those by
     * the old rules, of which the same one may be there twice. */
    const char *subdirectories[WC_SEARCH_SUBDIRECTORIES + 1];
    const char *hwcaps[4]; /* names below glibc-hwcaps/ that this machine has, best first */
    char lib[64],
        platform[16];     /* $LIB, $PLATFORM; platform "": an element with it does not count */
    uint64_t cache_hwcap; /* bits of the old rules that this machine has, for the cache */
    char text[4096];      /* of the lists */
};
/* What the loader reads of a processor. */
struct wc_search_processor {
    unsigned level;       /* of x86-64-vN; 1: none above */
    const char *platform; /* glibc's name for it, "haswell" or "xeon_phi"; NULL: none */
    bool avx512_1;        /* glibc's word for what x86-64-v4 has, on an Intel processor */
};
/* Of that processor; of that of this code. glibc_minor: 36 for 2.36; platform, hwcap:
 * AT_PLATFORM (NULL: unknown) and AT_HWCAP; loader: the dynamic loader, NULL if unknown: then there
 * are not defaults. */
void wc_search_system_of(struct wc_search_system *out, const struct wc_search_processor *processor,
                         unsigned glibc_minor, const char *platform, uint64_t hwcap,
                         const struct wc_elf_image *loader);
void wc_search_system_read(struct wc_search_system *out, unsigned glibc_minor, const char *platform,
                           uint64_t hwcap, const struct wc_elf_image *loader);
