/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes all records about libraries, searches and packages, for the shim and for the command. Each
 * function passes its records to the sink and keeps nothing.
 */
#pragma once

#include "core/elf/file_check.h"
#include "core/search/replay.h"
#include "library.h"

void wc_emit_unobserved(const struct wc_sink *to, const char *what, const char *why,
                        const char *path);

/* candidates: names of the requests that may have loaded it; NULL: the request is known, or none.
 */
void wc_emit_object(const struct wc_sink *to, const struct wc_library *l,
                    const struct wc_strings *candidates);
/* Another record of an object: it is no longer mapped, or its version (NONE: not) is known from the
 * names of the parts that it requested. */
void wc_emit_known(const struct wc_sink *to, const struct wc_object_record *known, bool mapped,
                   struct wc_version asked);
/* A file that may explain why l->request failed. rule: the one by which the loader searches its
 * directory. */
void wc_emit_file(const struct wc_sink *to, const struct wc_library *l,
                  const struct wc_file_check *check, enum wc_search_rule rule);
/* target NULL: the functions are bound into no known library. wrapped WC_NULL: not known. */
void wc_emit_binding(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_library *target, enum wc_binding_how how,
                     const struct wc_strings *functions, int64_t wrapped);

struct wc_search_question {
    struct wc_search_record r; /* but what the replay says */
    bool was_loaded;           /* the object was loaded before */
    bool by_replay;            /* the object is the file that the replay takes */
};
/* The result of the last run of a replay: a search record, and one for each file not taken. */
void wc_emit_search(const struct wc_sink *to, const struct wc_search_question *q,
                    struct wc_replay *replay, const struct wc_reader *reader);

/* The search record of an object that LD_PRELOAD named: no caller searched for it. */
void wc_emit_preload(const struct wc_sink *to, int64_t search, const struct wc_preload *p,
                     int64_t object, const char *path);

/* What a host requires: by its DT_NEEDED and imports, and by the metadata of its package. */
void wc_emit_demands(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_reader *reader);
/* The version that a program printed that it was built with, and its rule to compare versions. */
void wc_emit_printed(const struct wc_sink *to, const struct wc_library *host, const char *source,
                     const char *framework, const char *rule, const char *built);
/* The versions that the user expects (WHICHCUDNN_EXPECT), or that a host was built with. */
void wc_emit_expectation(const struct wc_sink *to, const char *source, const char *spec,
                         const char *built);

/* The environments whose packages have their records. All zero: none. */
#define WC_ENVIRONMENTS_MOST 32 /* further ones are ignored */
struct wc_environments {
    uint64_t hash[WC_ENVIRONMENTS_MOST]; /* of the path of each */
    size_t n;
    bool dpkg; /* the packages of dpkg, which has one list for all directories */
    bool cuda; /* wanted: the incomplete wheels of CUDA, too */
};
/* The packages of cuDNN in the environment of a file; nothing if they have their records. */
void wc_emit_packages(const struct wc_sink *to, struct wc_environments *known, const char *path,
                      const struct wc_reader *reader);
/* The packages around the directories where a cuDNN library was not found: one may list it. */
void wc_emit_packages_wanted(const struct wc_sink *to, struct wc_environments *known,
                             struct wc_replay *replay, const char *name,
                             const struct wc_reader *reader);
