/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer of records: what is known of a library, a search, a package becomes a record here
 * and nowhere else, whoever saw it. Each function makes its records and hands them to the sink;
 * nothing of them is kept.
 */
#pragma once

#include "core/elf/file_check.h"
#include "core/search/replay.h"
#include "library.h"

void wc_emit_unobserved(const struct wc_sink *to, const char *what, const char *why,
                        const char *path);

/* candidates: names of requests that it may belong to; NULL: that is known. */
void wc_emit_object(const struct wc_sink *to, const struct wc_library *l,
                    const struct wc_strings *candidates);
/* What was emitted before, that it is no longer mapped, or of which version it is: known by the
 * names that it asked for. */
void wc_emit_unmapped(const struct wc_sink *to, const struct wc_object_record *known);
void wc_emit_asked_version(const struct wc_sink *to, const struct wc_object_record *known,
                           struct wc_version version);
/* A file in question, for its request; rule: by which the loader looks into its directory. */
void wc_emit_file(const struct wc_sink *to, const struct wc_library *l,
                  const struct wc_file_check *check, enum wc_search_rule rule);
/* target NULL: the functions lead into no library that is known. wrapped WC_NULL: not known. */
void wc_emit_binding(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_library *target, enum wc_binding_how how,
                     const struct wc_strings *functions, int64_t wrapped);

struct wc_search_question {
    int64_t search; /* its number */
    const char *name, *caller;
    int64_t caller_object, request;
    int64_t object;                       /* what it got; WC_NULL: nothing */
    bool was_loaded;                      /* the object was there before */
    bool by_replay;                       /* it got what the replay takes */
    const char *later_path, *later_takes; /* as in the record */
};
/* What the last run of a replay found, with the candidates that were not taken. */
void wc_emit_search(const struct wc_sink *to, const struct wc_search_question *q,
                    struct wc_replay *replay, const struct wc_reader *reader);

/* That it was preloaded: no search of a caller's led to it. */
void wc_emit_preload(const struct wc_sink *to, int64_t search, const struct wc_preload *p,
                     int64_t object, const char *path);

/* What a library wants as a host: by what it is linked with and imports, and by the metadata of its
 * package. */
void wc_emit_demands(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_reader *reader);
/* What a program printed that it was built with, and the rule by which it compares. */
void wc_emit_printed(const struct wc_sink *to, const struct wc_library *host, const char *source,
                     const char *framework, const char *rule, const char *built);
/* What somebody wrote down that it shall be: versions, or the one it was built with. */
void wc_emit_expectation(const struct wc_sink *to, const char *source, const char *spec,
                         const char *built);

/* Environments whose packages are told: those of two files in one are the same. All zero: none. */
#define WC_ENVIRONMENTS_MOST 32 /* more of them are not looked at */
struct wc_environments {
    uint64_t told[WC_ENVIRONMENTS_MOST];
    size_t n;
    bool dpkg; /* those of dpkg are, which has one list for all directories */
};
/* The packages of cuDNN in the environment of a file, once. */
void wc_emit_packages(const struct wc_sink *to, struct wc_environments *told, const char *path,
                      const struct wc_reader *reader);
/* Those around the places where a library of cuDNN's was searched in vain: one may list it. */
void wc_emit_packages_wanted(const struct wc_sink *to, struct wc_environments *told,
                             struct wc_replay *replay, const char *name,
                             const struct wc_reader *reader);
