/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How candidates are made: for tools/diagnose/candidates/ only. Texts that are given back live as
 * long as the candidates' memory.
 */
#pragma once

#include "candidates.h"
#include "core/demand/questions.h"
#include "tools/diagnose/entries.h"

struct making {
    struct candidates *out;
    struct view view;
    struct library_cache *libraries;
    struct sites *sites;
    const struct wc_stack *s;         /* the replay's */
    const struct wc_stack *stacks[2]; /* that one, and the process's own */
    const struct outcome *base;       /* the play without edits */
    struct proposal *proposal;        /* NULL: none */
    const char *path;                 /* LD_LIBRARY_PATH; NULL: not set */
};

#define make_format(m, ...) view_format((m)->view, __VA_ARGS__)
#define make_entries(m, directory) view_entries((m)->view, directory)
#define make_is_there(m, path) view_has((m)->view, path)
#define make_is_conda(m, path) view_is_conda((m)->view, path)
/* Once each; NULL: nothing is added. */
#define make_add(m, to, text) entries_add_new((m)->out->memory, to, text)

/* ---- the makers ---- */

void make_without_element(struct making *m); /* set, unset: without each, or as it was before */
void make_cleaned(struct making *m);         /* set: without what a shell would have removed */
void make_unsplit(struct making *m);         /* link, set: a directory whose name has a colon */
void make_no_expectation(struct making *m);  /* unset: an expectation that nothing can meet */
void make_path_to_copy(struct making *m);    /* set: the directory of each copy that is known */
void make_package_anew(struct making *m);    /* reinstall, remove: packages that are there */
void make_releases(struct making *m);        /* install: what is wanted, into each environment */
void make_missing(struct making *m);         /* install, reinstall: packages of what is missing */
void make_readable(struct making *m);        /* mode, delete: what the loader refuses */
void make_reached(struct making *m);         /* set, import-first, link: what can be reached */
void make_cached(struct making *m);          /* cache: what ldconfig would find */
void make_order(struct making *m);           /* import-first, preloader: another order */
void make_opened(struct making *m);          /* open: by a line of a script, of a .pth file */
void make_by_hand(struct making *m);         /* place, restore: what no package manages */
void make_preload(struct making *m);         /* set: what has to be there at the start */
void make_roots(struct making *m);           /* set, unset: what a name that is asked for is of */
void make_proposed(struct making *m);        /* no candidate: what a user's command changes */

/* ---- what they share (tools/diagnose/candidates/candidates.c) ---- */

/* One edit, or two in that order; nothing where LD_LIBRARY_PATH has that value already. */
void make_one(struct making *m, struct edit edit);
void make_two(struct making *m, struct edit first, struct edit second);
/* The directory of a file of the process, without a '/' behind; NULL: of none. */
const char *make_directory_of(struct making *m, const char *path);
/* Behind all links; where that is not known, the path itself, which may be NULL. */
const char *make_real_path(struct making *m, const char *path);
/* The directories in which the loader looked for it. */
struct entries make_searched(struct making *m, const struct wc_failure *failure);
/* The directory of a file that does not exist, where a link of its name leads nowhere; NULL: there
 * is none. */
const char *make_place_of_dead_link(struct making *m, const char *file);
/* Is a finding about a library, or a symbol version? A host may ask for any number of others that
 * it can do without. */
bool make_matters(const struct making *m, const char *what);
/* The same release again. */
struct edit make_reinstall(struct making *m, const struct wc_package_record *p);
/* What Python imports: the folder below site-packages, or the module there; else the file. */
const char *make_module_of(struct making *m, const char *path);
/* The module of that file before the one of the other. file: a library that comes with the first;
 * NULL: the process has asked for its libraries. */
void make_import_before(struct making *m, const char *first, const char *then, const char *file);
/* spec: a set of releases. */
struct edit make_install(const char *package, const char *spec, const char *environment);

/* The conda environment that a file is in, behind all links; NULL: none. */
const char *make_prefix_of(struct making *m, const char *path);
/* Its site, behind all links, or the conda environment; NULL: neither. */
const char *make_environment_of(struct making *m, const char *path);

/* ---- packages (tools/diagnose/candidates/packages.c) ---- */

/* Those that a failed request is about: of the requester, or of the process. */
struct entries make_environments(struct making *m, const struct wc_failure *failure);

/* ---- cuDNN (tools/diagnose/candidates/by_hand.c) ---- */

/* What the libraries of that directory are (of that major; -1: of any), by what they state, or else
 * by their names, as archives have them: "libcudnn_graph.so.9.8.0". NONE: none says it, or they
 * differ. */
struct wc_version make_release_in(struct making *m, const char *directory, int32_t major);

/* ---- CUDA (tools/diagnose/candidates/cuda.c) ---- */

/* The CUDA major that what requires cuDNN there ("/": anywhere) is made for, else what the process
 * has of CUDA, a file needs that could not be loaded, or what requires cuDNN, or is of it, has the
 * names of; -1: nothing says it. */
int32_t make_cuda_for(struct making *m, const char *environment);
/* Of the toolkit that the process uses, or would find where NVIDIA's packages put it; -1: none. */
int32_t make_toolkit_cuda(struct making *m);
/* Does a directory have a library of that CUDA? */
bool make_has_cuda(struct making *m, const char *directory, int32_t cuda);
/* All of it that frameworks ask for one library after another, where neither the process nor the
 * site has any of that CUDA. wheel: the wheel that has the first of them. False: it has some, or
 * the wheel is none of these. */
bool make_whole_cuda(struct making *m, const char *site, const char *wheel, int32_t cuda);

/* ---- LD_LIBRARY_PATH (tools/diagnose/candidates/variables.c) ---- */

/* As that value; empty: it is unset. */
struct edit make_variable(const char *name, const char *value);
/* A list without its i-th element. */
const char *make_without(struct making *m, const char *list, const char *separators, size_t i);
/* The same of LD_LIBRARY_PATH. */
struct edit make_path(const char *value);
/* With those directories, a list, in front; none of them twice. */
struct edit make_path_with(struct making *m, const char *directories);
/* With the directory of a file in front. NULL: nothing is added. */
void make_path_to(struct making *m, const char *file);

/* ---- releases (tools/diagnose/candidates/releases.c) ---- */

enum { SPECS_MOST = 4 };

/* Sets of releases that hosts, demands and failed requests require. */
struct entries make_wanted(struct making *m);
