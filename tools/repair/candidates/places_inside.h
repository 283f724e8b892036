/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How candidates of what no package manages are found: for places*.c alone. Texts that are given
 * back live as long as the candidates' memory.
 */
#pragma once

#include "places.h"

enum { DIRECTORIES_MOST = 4, SPECS_MOST = 4, CUDAS_MOST = 2 };

struct finding_places {
    struct candidates *out;
    const struct wc_stack *s;
    const struct wc_files *files;
    const char *directory[DIRECTORIES_MOST];
    size_t directories;
    const char *spec[SPECS_MOST]; /* sets of releases that might do */
    size_t specs;
    const char *cuda[CUDAS_MOST]; /* its major; NULL: not known */
    size_t cudas;
    bool for_gpu; /* the GPU may be what is wrong */
};

#define places_format(f, ...) wc_arena_format((f)->out->memory, __VA_ARGS__)

/* ---- which directories (tools/repair/candidates/places_directories.c) ---- */

/* Once each, up to a bound; how many there are then. text: NULL counts as a text. */
size_t places_add_text(const char **list, size_t n, size_t most, const char *text);
/* Does somebody look after what is installed so? */
bool places_is_managed(enum wc_installation_kind kind);
/* One of the directories that the loader searches by itself. */
bool places_is_of_system(const char *directory);
/* A file in that directory whose name fits. */
bool places_has_file(struct finding_places *f, const char *directory,
                     bool (*fits)(const char *name));
/* Of cuDNN, or a CUDA dependency of it, by its name; NULL: no. */
bool places_is_ours(const char *name);
/* What a failed request lacked: a dependency, else the library itself; NULL: not known. */
const char *places_missing_of(struct finding_places *f, const struct wc_failure *failure);
/* f->directory: those that no package manages. */
void places_find_directories(struct finding_places *f);

/* ---- which releases (tools/repair/candidates/places_releases.c) ---- */

/* f->spec: what hosts, demands and failed requests want. */
void places_find_specs(struct finding_places *f);

/* ---- for which CUDA (tools/repair/candidates/places_cuda.c) ---- */

/* A directory of CUDA's libraries, and of which CUDA. */
struct toolkit {
    const char *directory;
    int32_t cuda;
};

/* f->cuda: one at least. */
void places_find_cudas(struct finding_places *f);
/* Of a set without the releases that were not made for that CUDA (its major; NULL: not known) yet;
 * NULL: none is left. */
const char *places_spec_for(struct finding_places *f, const char *spec, const char *cuda);
/* Where the name alone says what is wanted, which release of its major it was built with is not
 * known: the newest takes the place of all before it. cuda: as in places_spec_for(). */
const char *places_newest_of(struct finding_places *f, const char *spec, const char *cuda);
/* Where nothing in the process says which CUDA it is for, the directory may, "cuda-12.4/lib64", or
 * what lies in those that are searched. */
const char *places_cuda_for(struct finding_places *f, size_t i, const char *directory);
/* Is there one, outside of the system's directories? */
bool places_is_toolkit(const struct toolkit *t);
/* What the process has of CUDA, else what its variables name, else the one where NVIDIA's packages
 * put it. */
struct toolkit places_toolkit_of(struct finding_places *f);
