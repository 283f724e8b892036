/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the loader would do, replayed over files: which libraries are loaded at the start of a
 * program and by each dlopen after it, by whose DT_NEEDED, and what is missing. For programs that
 * ended before the shim woke in them, and for those that have not been started yet. Nothing is
 * loaded.
 */
#pragma once

#include "core/model/stack.h"
#include "core/records/emit.h"
#include "library_cache.h"

struct loaded {
    struct wc_library about; /* asked_name NULL: the program */
    struct library *library;
    struct wc_search_object search;
    const struct loaded *by;     /* what needs or opens it; NULL: the program, a preload, unknown */
    const struct loaded *facade; /* that its own request loaded; NULL: not known */
    const char *facade_name;     /* by which it asked for it */
    bool for_all;                /* RTLD_GLOBAL: all see its functions; the caller sets it */
};

struct loader_sim_missing {
    const char *name;
    const struct loaded *by;
    enum wc_operation how;
    bool damaged;               /* it is there, and mapping it fails or ends the process */
    const struct loaded *found; /* it was loaded, and lacks this symbol version; NULL: it did not */
    const char *version;
    const char *function; /* has that version, and lacks this function; NULL: it lacks all of it */
    int refused; /* errno of the system, which does not let the loader have what it found; 0: no */
    enum wc_priority priority; /* by a .note.dlopen; UNKNOWN: of the loader's, or of no note */
};

/* What libraries open by themselves, where the caller knows what hosts ask for: these open nothing
 * then, a library of cuDNN the parts that `may` lets it, each before the next. */
struct loader_sim_opens {
    bool (*may)(void *ctx, const struct loaded *by, const char *name);
    bool (*was_missed)(void *ctx, const char *name); /* the process ended for lack of it */
    void *ctx;
    bool in_turn; /* a wrapper of the loader's dlopen calls it: the search path of what
                   * asks is not heeded */
};

struct loader_sim {
    struct heap_arena memory;
    struct library_cache *library_cache;
    struct wc_search_context search;
    struct wc_search_memory tried;
    struct wc_replay replay;
    unsigned char scratch[WC_SEARCH_SCRATCH];
    char *const *environment;     /* the caller's */
    char *directory;              /* working directory; NULL: unknown */
    const struct loaded *program; /* NULL: unknown */
    struct loaded **objects;      /* in the loader's order */
    size_t n;
    const struct wc_search_object **loaded;
    WC_LIST(loader_sim_missing, missing); /* each name once since missing_from */
    size_t missing_from;
    struct asked_name *asked; /* the object that answers to the request */
    const char *undefined;    /* a function of cuDNN's that is imported; NULL: none was found */
    bool ended;               /* at a damaged library: nothing is loaded any more */
    struct loader_sim_opens opens;
};

/* program: path of an ELF file, NULL: unknown. environment: NAME=value as it is given, NULL at the
 * end; it has to live as long as *g. opens: NULL: hosts open what they have the names of, the
 * libraries of cuDNN all parts, in no order that is known. False: no loader of this
 * machine starts; there is nothing to end then. */
bool loader_sim_begin(struct loader_sim *g, struct library_cache *library_cache,
                      const char *program, char *const *environment,
                      const struct loader_sim_opens *opens);
void loader_sim_end(struct loader_sim *g);

/* As dlopen(name) in that object (NULL: in an unknown one), with all that it loads, and
 * all that these open in turn. NULL: not found, damaged, or no library. */
const struct loaded *loader_sim_open(struct loader_sim *g, const char *name,
                                     const struct loaded *by);
/* The file that its search takes, into g->replay. NULL: none. */
const char *loader_sim_search(struct loader_sim *g, const char *name, const struct loaded *by);
/* For what the loader refuses a library, or ends a program: a library is missing, too, that lacks a
 * symbol version, or a function of one, with which another was linked, where one of them is of
 * cuDNN, of CUDA or of a framework; a function of cuDNN's that no object defines is noted. start:
 * functions count for what is loaded at the start, too, which is not bound by then as a rule. */
void loader_sim_check_symbols(struct loader_sim *g, bool start);
/* The first function without a symbol version that no object defines, imported by what is loaded
 * with that object (NULL: by any). NULL: there is none, or a library that is missing may have it.
 */
const char *loader_sim_unbound(struct loader_sim *g, const struct loaded *o,
                               const struct loaded **by);
/* By an object that is seen (NULL: any), of cuDNN or CUDA, or (all) any: a preloaded one may do. */
bool loader_sim_defines(struct loader_sim *g, const bool *seen, const char *function, bool all);
/* For lack of that function `by` does not load. */
void loader_sim_lack(struct loader_sim *g, const struct loaded *by, const char *function);
/* A library is missing, too, that lacks a symbol version, or a function of one, which an object
 * from the from-th on imports. */
void loader_sim_check_versions(struct loader_sim *g, size_t from);
/* All functions of cuDNN's that it imports and no object defines: the caller frees the list, not
 * the names. Returns how many. */
size_t loader_sim_undefined(struct loader_sim *g, const struct loaded *by, const char ***list);
/* A function of cuDNN's that the object imports (NULL), or that one, and finds nowhere: neither in
 * what was there at the start, nor in what all see, nor in what it needs. NULL: there is none. */
const char *loader_sim_unseen(struct loader_sim *g, const struct loaded *o, const char *function);
/* What the loader reports about a library that it did not find; the caller frees. */
char *loader_sim_not_found(const char *name);
/* What ended it in the loader, a clause: what was not found, and why a file of that name does not
 * serve ("PATH is empty"), or was refused, or a function that no library has. By this machine's
 * files. NULL: nothing is known. The caller frees. */
char *loader_sim_why_ended(struct loader_sim *g);
/* How many objects are loaded before anything of the program runs. */
size_t loader_sim_startup(const struct loader_sim *g);
/* The system refuses that one of them: the loader ends there. */
void loader_sim_refuse(struct loader_sim *g, size_t object, int error);
/* How many parts of cuDNN are there and need other parts that are not found, not by the library
 * that opens them either, or are needed by a part of another directory: no set that is whole. */
size_t loader_sim_torn(struct loader_sim *g);
/* What was loaded since there were `objects` of them goes again. */
void loader_sim_undo(struct loader_sim *g, size_t objects);
/* The file's own version, for the names that a facade makes of it. */
struct wc_version loader_sim_version(struct loader_sim *g, const struct loaded *o);
/* The object that a file is; NULL: it is not loaded. */
struct loaded *loader_sim_of(const struct loader_sim *g, const struct library *library);

/* The first object, or the first facade, that answers to a name; NULL: nothing that is loaded. */
const struct loaded *loader_sim_answering(const struct loader_sim *g, const char *name,
                                          bool facade);

/* Records of several loadings into one place: what is the same file is one object. All zero: none
 * yet. */
struct loader_sim_emitter {
    struct wc_sink to;
    struct elf_reader reader;
    const struct library **objects; /* by their numbers, from 1 */
    size_t n;
    int64_t searches, requests;
    struct wc_environments environments;
};
/* What is known by that, as records without a head: each library of cuDNN or CUDA and each object
 * that requires cuDNN, with its demands; what is missing, where it was looked for, and copies that
 * are elsewhere. */
void loader_sim_emit(struct loader_sim *g, struct loader_sim_emitter *t);
/* The same of what a process ended with, whatever its name: what lacks only a function (lookups),
 * else what is damaged or refused. False: nothing is. */
bool loader_sim_emit_some(struct loader_sim *g, struct loader_sim_emitter *t, bool lookups);
/* A function that an object imports and none defines ended the process: bound lazily, when it was
 * called. Reported as if the last request had been refused for it; of one with a symbol version,
 * which that library lacks, as it is. False: there is none. */
bool loader_sim_emit_unbound(struct loader_sim *g, struct loader_sim_emitter *t,
                             const struct wc_failure_record *last);
/* Why that request failed, the last since missing_from: what its file lacks, unless the log has the
 * loader's words, and the search for that, unless it is that of needer, which the log has; and the
 * file, if it is a host, as an object of that number that is not mapped; of cuDNN's own requests
 * also a function that is nowhere. False: it does not exist, or lacks nothing. */
bool loader_sim_emit_reason(struct loader_sim *g, struct loader_sim_emitter *t,
                            const struct wc_failure_record *f, int64_t number, const char *needer);
void loader_sim_emitter_end(struct loader_sim_emitter *t);
