/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tree holds of cuDNN, before anything runs: every copy, every host, and for each
 * environment (a site-packages, another directory, a program) what its hosts would get, as the
 * model of a process.
 */
#pragma once

#include "python_loaders.h"
#include "tools/observe/loader/library_cache.h"
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
    bool is_loaded; /* by a program of the scan, with which it is reported */
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
