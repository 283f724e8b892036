/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tree holds of cuDNN, before anything runs: every copy, every host, and for each
 * environment (a site-packages, another directory, a program) what its hosts would get, as the
 * model of a process.
 */
#pragma once

#include "tools/observe/loader/loader_sim.h"
#include "tools/observe/log/source.h"

/* All begin with the path, by which their lists are sorted. Texts live as long as the
 * library_cache. */
struct scan_note {
    const char *path, *why;
};

struct scan_site {
    const char *path;
};

struct scan_copy {
    const char *path;
    struct library *library;
};

struct scan_host {
    const char *path;
    struct library *library;
    const char *environment; /* its directory, or that of its Python packages; a program: itself */
    bool is_program;
    bool is_reported; /* with its environment, or with a program of the scan that loads it */
};

/* A package of cuDNN that a lock file next to an environment names. */
struct scan_locked {
    const char *site, *file, *package, *version;
    const char *installed; /* NULL: the package is not */
    bool as_locked;        /* one of the versions that the file has */
};

struct scan_file {
    const char *path;
    bool is_program;
};

/* ---- Python packages with a search of their own: which file each would take ---- */

/* Lists end with a row whose first field is NULL. */
struct python_loader {
    const char *name, *call, *distribution; /* normalised, as its dist-info has it */
    const char *releases, *read; /* the program of the rule; the newest one in which it was read */
    /* The exception where no place has the library, and where a file does not load, which then ends
     * the call. NULL: none is raised. */
    const char *not_found, *refused;
    const struct python_loader_library {
        const char *name;
        bool needed;
        const struct python_loader_place {
            const char *files;
            enum {
                PLACE_LOADED,      /* what LD_PRELOAD loaded, by the name `files` */
                PLACE_SYSTEM,      /* the loader's own search for that name */
                PLACE_SITES,       /* each site-packages of the interpreter */
                PLACE_PURELIB,     /* the one into which its pip installs */
                PLACE_OWN_SITE,    /* the one with the package */
                PLACE_VARIABLE,    /* the first variable of A:B that is set; ~/x is a directory */
                PLACE_DIRECTORIES, /* those of a variable like LD_LIBRARY_PATH */
                PLACE_FIXED,
            } where;
            const char *root, *found_via;
            enum {
                PLACE_RESOLVED = 1, /* links in the directory are resolved */
                PLACE_ONE = 2,      /* more than one file is an AssertionError */
                PLACE_ALL = 4,      /* all files are loaded */
                PLACE_DEEP = 8,     /* at any depth; the last one by its name */
                PLACE_NEEDED = 16,  /* the file is an extension that needs the library */
            } how;
        } * places;
    } * libraries;
};

/* Texts live as long as the library_cache. */
struct python_loading {
    const char *site;
    const struct python_loader *loader;
    const char *version;         /* of the package */
    const char *unpredicted;     /* why it is not predicted; NULL: it is */
    const char *path;            /* of the cuDNN that it takes; NULL: none */
    char cudnn[WC_VERSION_TEXT]; /* "": not known */
    const char *found_via;       /* the package's word, or the place; NULL: none */
    const char *raises;          /* an exception; NULL: none */
    const char *library;         /* the last one that was looked for */
};
struct python_loadings {
    struct python_loading *p;
    size_t n;
};

/* Of each package of the table that is installed in a site-packages. program: its interpreter, as
 * it is started; NULL: not known. */
void python_loaders_in(struct library_cache *w, const char *site, const char *program,
                       char *const *environment, struct python_loadings *to);

/* ---- all of it ---- */

struct scan {
    struct library_cache library_cache;
    char *const *environment; /* variables: NAME=value, NULL at the end; the caller's */
    void (*progress)(size_t done, size_t known); /* of directories; NULL: not wanted */
    WC_LIST(scan_copy, found);                   /* each library of cuDNN's, where it is */
    struct source *copies;                       /* an object for each of these */
    struct source **processes;                   /* one for each environment with a host */
    size_t process_count;
    WC_LIST(scan_host, hosts);
    WC_LIST(scan_note, notes); /* what was skipped, and why */
    size_t files, libraries;   /* directory entries seen, libraries looked at */
    WC_LIST(scan_file, seen);  /* libraries and programs, by their names and marks */
    WC_LIST(scan_site, sites); /* each site-packages */
    WC_LIST(scan_locked, locked);
    struct python_loadings loadings; /* of packages that are installed there */
};

/* *s must not move. root: as for disk_begin; path: what it is called. */
void scan_begin(struct scan *s, const char *root, const char *path, char *const *environment);
void scan_end(struct scan *s);
/* A directory with all that is below it, a program, or a library. False: *trouble says why not (the
 * caller frees). */
bool scan_add(struct scan *s, const char *path, char **trouble);
/* After all were added: fills in processes. */
void scan_make(struct scan *s);
