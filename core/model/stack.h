/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model: what is known of one process. Every reader (the shim, a log, later a directory tree or
 * a running process) makes records and applies them here; diagnose() reads it.
 */
#pragma once

#include "core/names/version.h"
#include "loader_words.h"
#include "whichcudnn/record.h"

/* The loader's words of a failure, taken apart once. A text that they do not name is NULL. */
struct wc_said {
    enum { WC_SAID_NOTHING, WC_SAID_OTHER, WC_SAID_NOT_FOUND, WC_SAID_REFUSED, WC_SAID_UNMET } what;
    enum wc_system_refusal system; /* of REFUSED: the file may be sound */
    const char *file;              /* that was not found, was refused, or wants what is unmet */
    const char *library, *version, *symbol; /* of UNMET */
};

/* Why a request failed: the first of these that matches owns the failure, and only its finding
 * reports it. */
enum wc_reason {
    WC_REASON_UNKNOWN,        /* of a lookup, or the loader had other words */
    WC_REASON_REPLACED,       /* asked for by the name that a memory map gives a deleted file */
    WC_REASON_BAD_FILE,       /* no library, cut, of another machine, a dangling link */
    WC_REASON_SYSTEM,         /* rights, limits, mounts: the file may be sound */
    WC_REASON_WRONG_NAME,     /* the right library has another name, or the name another library */
    WC_REASON_PART_REFUSED,   /* a part wants what another library of cuDNN does not have */
    WC_REASON_SYMBOL_VERSION, /* linked with another release of what it found */
    WC_REASON_SYMBOL,         /* a host imports a function of cuDNN that is not there */
    WC_REASON_NEEDS,          /* the file is there, another library that it needs is not */
    WC_REASON_NOT_FOUND
};

/* What became of it. */
enum wc_fate {
    WC_FATE_OPEN,      /* the process still runs */
    WC_FATE_MADE_GOOD, /* later what was asked for was loaded, or another in its place */
    WC_FATE_WENT_ON,   /* more of cuDNN or CUDA was loaded, bound or called behind it */
    WC_FATE_LEFT, /* nothing was, nor asked for, and the process ended well, or nobody saw how */
    WC_FATE_LAST, /* nothing was, nor asked for, and the process failed or was killed */
    WC_FATE_FELT  /* the call within which it was asked for failed */
};

/* The newest record of a thing, with its head. */
#define WC_TOLD(name, kind, ...)                                                                   \
    struct name {                                                                                  \
        int64_t seq, tid, time;                                                                    \
        struct wc_##kind##_record r; /* its texts live in the stack's arena */                     \
        __VA_ARGS__                                                                                \
    }
WC_TOLD(wc_object, object, struct wc_version version, floor, ceiling;); /* parsed from r */
WC_TOLD(wc_package, package);
WC_TOLD(wc_demand, demand);
WC_TOLD(wc_binding, binding);
WC_TOLD(wc_failure, failure, int64_t asked; /* seq of its request; its own where not known */
        struct wc_said said;
        const char *needs;     /* not found, and another library than was asked for; NULL: none */
        enum wc_reason reason; /* from here on: columns that wc_fill_columns fills */
        const char *culprit;   /* the library because of which it failed: a path, or a bare name */
        const struct wc_file_record *file; /* the culprit, where it was looked at */
        enum wc_system_refusal refusal;    /* of SYSTEM */
        enum wc_fate fate;);
WC_TOLD(wc_searched, search);
WC_TOLD(wc_candidate, candidate, struct wc_version version;); /* not taken; parsed from r */
WC_TOLD(wc_file, file);
WC_TOLD(wc_call, call);
WC_TOLD(wc_unobserved, unobserved);
WC_TOLD(wc_noted_finding, finding); /* as given live; not input of diagnose() */

#define WC_LIST(type, name)                                                                        \
    struct {                                                                                       \
        struct type *p;                                                                            \
        size_t n, room;                                                                            \
    } name

/* Which entry of a list tells of a thing, by hashes of what it is known by. */
struct wc_stack_index {
    struct wc_stack_place {
        uint32_t hash, entry; /* its number + 1, 0: free */
    } * p;
    size_t n, room;
    bool lost; /* there was no memory for it: the list is searched */
};

/* Texts kept lately, by hash: equal ones are stored once, also of several stacks. */
struct wc_texts {
    struct wc_arena *arena;
    const char **seen; /* NULL: made with the first */
    size_t room;
};
#define WC_STACK_SEEN 128

struct wc_stack {
    struct wc_arena *arena;
    struct wc_texts texts; /* in its own arena, unless its reader says otherwise */
    size_t kept;           /* bytes of texts */
    bool keep_findings; /* the command keeps finding records for the timeline; the shim does not */
    bool replayed;      /* nothing of it has run: files, and the loader's rules over them */
    struct wc_process_record process;
    struct wc_machine_record machine;
    struct wc_summary_record summary;
    struct wc_outcome_record outcome;
    bool has_process, has_machine, has_summary, has_outcome;
    /* The command that it belongs to ended badly; how the process itself did, only a parent knows
     * that tells nobody. The signal that its parent passed on as a status; 0: none. */
    bool command_failed;
    int64_t command_signal;
    bool command_ended; /* it is gone; how it ended may not be known */
    WC_LIST(wc_object, objects);
    WC_LIST(wc_package, packages);
    WC_LIST(wc_demand, demands);
    WC_LIST(wc_binding, bindings);
    WC_LIST(wc_failure, failures);
    WC_LIST(wc_searched, searches);
    WC_LIST(wc_candidate, candidates);
    WC_LIST(wc_file, files);
    WC_LIST(wc_call, calls);
    WC_LIST(wc_unobserved, unobserved);
    WC_LIST(wc_noted_finding, findings);
    struct wc_stack_index index[WC_KINDS];
    int64_t requests; /* request records applied */
    struct wc_asked {
        int64_t request, seq;
    } asked[16]; /* the latest requests: what is inferred is told late, behind calls that failed */
    int64_t dropped; /* facts that found no memory, or more than the limits below */
};
#define WC_STACK_MOST 4096 /* entries of each list */
#define WC_STACK_TEXTS_MOST                                                                        \
    ((size_t)16 << 20) /* bytes: a log may tell of one thing anew for ever */

/* The library that f did not find, if it found none. */
static inline const char *wc_missing_of(const struct wc_failure *f) {
    return f->needs ? f->needs : f->r.name;
}

/* By the loader's words, or it was not asked for any. Otherwise there was a file, which it refused.
 */
static inline bool wc_was_not_found(const struct wc_failure *f) {
    return f->said.what == WC_SAID_NOTHING || f->said.what == WC_SAID_NOT_FOUND;
}

/* How many functions, also those that are not named. */
static inline int64_t wc_bound_functions(const struct wc_binding_record *b) {
    return b->function_count == WC_NULL ? (int64_t)b->functions.n : b->function_count;
}

void wc_stack_begin(struct wc_stack *s, struct wc_arena *arena);
/* Copies all that it holds into its arena, which has been exchanged for another: as much room as
 * there are entries. False: no memory. */
bool wc_stack_settle(struct wc_stack *s);
/* Takes the record in, copying what it keeps. An object with a known number replaces the older
 * entry; so does the same package (name, environment) and the same demand (host, kind, source); a
 * binding with the same host, target and how adds its functions; a search with a known number
 * replaces the older one; a failure replaces the one inferred for its request, and the same one
 * told before; a file the one of its path and request. False: no room (counted in dropped), and
 * what was there stays. Of request records only the place of the latest is kept. */
bool wc_stack_apply(struct wc_stack *s, const struct wc_record *r);

const struct wc_object *wc_stack_object(const struct wc_stack *s, int64_t object); /* NULL */
/* What of unobserved records counts for the verdict, by name. */
#define WC_UNOBSERVED_RECORDS "records of this log"
#define WC_UNOBSERVED_MAPS "what was mapped meanwhile"
/* Was it written already that this was not observed? */
bool wc_stack_has_unobserved(const struct wc_stack *s, const char *what, const char *path);
const char *wc_real_path_of(const struct wc_object *o); /* else path */
/* Do two objects lie in one installation? By installation_path where both have one, else by the
 * directory of their real paths; true where neither is known: nothing says that they differ. */
bool wc_same_installation(const struct wc_object *a, const struct wc_object *b);
/* 64-bit mark of the stack as hexadecimal: hosts, facade, parts, cuda_dependencies with versions,
 * build-ids, bindings; no pids, times, addresses, absolute prefixes. */
void wc_stack_fingerprint(const struct wc_stack *s, char out[17]);
