/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How candidates are found: for tools/repair/candidates/ alone. Texts that are given back live as
 * long as the candidates' memory.
 */
#pragma once

#include "candidates.h"

struct finding_of {
    struct candidates *out;
    const struct wc_files *files;
    struct library_cache *libraries;
    const struct wc_stack *stacks[2]; /* the process's own, and the replay's */
    const struct wc_stack *s;         /* of these: the one that is looked through */
    const char *path;                 /* LD_LIBRARY_PATH; NULL: not set */
    bool for_gpu;                     /* the GPU may be what is wrong */
    bool for_release;                 /* the release has a documented defect */
};

#define find_format(f, ...) wc_arena_format((f)->out->memory, __VA_ARGS__)

/* ---- one candidate (tools/repair/candidates/candidate.c) ---- */

/* One edit; nothing is added where LD_LIBRARY_PATH has that value already. */
void find_add(struct finding_of *f, struct edit edit);
/* Two, in that order. */
void find_add_two(struct finding_of *f, struct edit first, struct edit second);
/* The directory of a file, without a '/' behind; NULL: of none. */
const char *find_directory_of(struct finding_of *f, const char *path);
/* Behind all links; where that is not known, the path itself. */
const char *find_real_path(struct finding_of *f, const char *path);

/* ---- where packages are installed (tools/repair/candidates/environments.c) ---- */

enum { ENVIRONMENTS_MOST = 4 };

/* Where who asked for it, or the process, may have it installed. */
struct environments {
    const char *p[ENVIRONMENTS_MOST];
    size_t n;
};

/* site-packages, or the conda environment, that a file lies in; NULL: none. */
const char *find_environment_of(struct finding_of *f, const char *path);
/* Where a package is installed, as find_environment_of() has it; NULL: not known. */
const char *find_prefix_of(struct finding_of *f, const struct wc_package_record *p);
/* Is it one of conda? NULL: no. */
bool find_is_conda(const char *environment);
/* The release of a wheel that counts as installed in a site; NULL: none does. */
const char *find_installed_version(struct finding_of *f, const char *site, const char *package);
/* Once each; NULL: nothing is added. */
void find_add_environment(struct environments *to, const char *environment);
/* Those that a failed request is about. */
struct environments find_environments_of(struct finding_of *f, const struct wc_failure *failure);

/* ---- LD_LIBRARY_PATH (tools/repair/candidates/search_path.c) ---- */

/* LD_LIBRARY_PATH as that value; empty: it is unset. */
struct edit find_set_path(const char *value);
/* LD_LIBRARY_PATH with that directory in front. */
struct edit find_with_directory(struct finding_of *f, const char *directory);
/* LD_LIBRARY_PATH with such directories, a list, in front of the others. */
struct edit find_in_front(struct finding_of *f, const char *directories);
/* The directory of a file in front of LD_LIBRARY_PATH. file: NULL: nothing is added. */
void find_add_directory(struct finding_of *f, const char *file);
/* LD_LIBRARY_PATH: each element that is a whole path, without what a shell would have taken away.
 */
void find_cleaned(struct finding_of *f);
/* Elements that are one directory, which a colon in its name has split. */
void find_split(struct finding_of *f);
/* The directory of each copy that is known. */
void find_copies(struct finding_of *f);
/* find() for each directory in which the loader looked for it, as in "DT_RUNPATH /x/lib/". */
void find_in_searched(struct finding_of *f, const struct wc_failure *failure, const char *name,
                      void (*find)(struct finding_of *f, const char *directory, const char *name));
/* An archive has "lib", a toolkit "lib64", and a folder that was copied lies in the other one. */
void find_neighbours(struct finding_of *f);

/* ---- variables (tools/repair/candidates/variables.c) ---- */

/* Variables without each of their elements, or as they were when the process searched. */
void find_variables(struct finding_of *f);
/* An expectation that is no version: nothing can meet it. */
void find_expectations(struct finding_of *f);

/* ---- the driver (tools/repair/candidates/drivers.c) ---- */

/* Where systems and containers put it, and no loader looks by itself. */
void find_drivers(struct finding_of *f);

/* ---- packages (tools/repair/candidates/packages.c) ---- */

/* The same release once more; prefix: as of find_prefix_of(). */
struct edit find_reinstall(const struct wc_package_record *p, const char *prefix);
/* spec: a set of releases. */
struct edit find_install(const char *package, const char *spec, const char *environment);
/* Packages that are there: put back, taken away, without what others have put there. */
void find_packages(struct finding_of *f);
/* A release of such a set, also with what it may take to come in: another package gone, the
 * variable set. Any of them may be NULL: nothing is added. */
void find_add_install(struct finding_of *f, const char *package, const char *spec,
                      const char *environment);
/* The CUDA major that the process is made for, as far as its host (NULL: none) or the libraries of
 * CUDA in it say it; -1: they do not. */
int32_t find_cuda_of_process(struct finding_of *f, const struct wc_object *host);
/* The package that has cuDNN in an environment: the one that is there, where it is for the CUDA of
 * the process. host: who wants it; NULL: not known. NULL: no such package is known. */
const char *find_package_for(struct finding_of *f, const char *environment,
                             const struct wc_object *host);

/* ---- which releases (tools/repair/candidates/releases.c) ---- */

/* Without the zeros at its end, and without its build. */
const char *find_short_version(struct candidates *c, struct wc_version v);
/* In place of a facade whose release is bad, or has no code for the GPUs. */
void find_other_releases(struct finding_of *f, const struct wc_object *facade);

/* ---- what is demanded (tools/repair/candidates/installs.c) ---- */

/* Releases that hosts and their packages demand. */
void find_installs(struct finding_of *f);
/* Releases that have the functions that were missing. */
void find_functions(struct finding_of *f);

/* ---- libraries that are missing (tools/repair/candidates/missing.c) ---- */

/* Libraries that were asked for in vain: where they lie, which package has them. */
void find_missing(struct finding_of *f);

/* ---- CUDA (tools/repair/candidates/cuda.c) ---- */

/* All of it that frameworks ask for one library after another, where neither the process nor the
 * site has any of that CUDA, with a cuDNN that who lacks it accepts. wheel: the one that has the
 * first of them. False: it has some, or the wheel is none of these. */
bool find_whole_cuda(struct finding_of *f, const char *site, const struct wc_failure *failure,
                     const char *wheel, int32_t cuda);

/* ---- files (tools/repair/candidates/files.c) ---- */

/* Files that cannot be read, or that the loader refuses. */
void find_files(struct finding_of *f);

/* ---- links (tools/repair/candidates/links.c) ---- */

/* Where the loader looked, the very library may stand under another name. */
void find_links(struct finding_of *f);

/* ---- order (tools/repair/candidates/order.c) ---- */

/* Another order of imports. */
void find_orders(struct finding_of *f);
