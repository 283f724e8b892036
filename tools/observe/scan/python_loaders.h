/* SPDX-License-Identifier: Apache-2.0 */
/* Python packages that look for cuDNN by rules of their own: which file each would take. */
#pragma once

#include "tools/observe/loader/loader_sim.h"

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
