/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of one process: its software stack (not its call stack), which is what is known of its
 * objects, bindings, demands and failures. The shim, the reader of a log, `inspect`, a scan and a
 * replay make records and apply them here; wc_diagnose() reads the model.
 */
#pragma once

#include "core/names/version.h"
#include "loader_words.h"
#include "whichcudnn/record.h"

/* Why a request failed: the first of these that matches owns the failure, and only its finding
 * reports it. */
enum wc_reason {
    WC_REASON_UNKNOWN,        /* of a lookup, or of an unknown message of the loader */
    WC_REASON_REPLACED,       /* asked for by the name that a memory map gives a deleted file */
    WC_REASON_BAD_FILE,       /* no library, cut, of another machine, a dangling link */
    WC_REASON_SYSTEM,         /* rights, limits, mounts: the file may be sound */
    WC_REASON_WRONG_NAME,     /* the right library has another name, or the name another library */
    WC_REASON_PART_REFUSED,   /* a part requires a symbol that another cuDNN library lacks */
    WC_REASON_SYMBOL_VERSION, /* linked with another release of what it found */
    WC_REASON_SYMBOL,         /* a host imports a function of cuDNN that does not exist */
    WC_REASON_NEEDS,          /* the file is there, another library that it needs is not */
    WC_REASON_NOT_FOUND
};

/* How the process went on after a failed request. "Used" is: loaded, bound, called or requested. */
enum wc_fate {
    WC_FATE_OPEN,      /* the process still runs */
    WC_FATE_MADE_GOOD, /* later the same library was loaded, or another in its place */
    WC_FATE_WENT_ON,   /* later more of cuDNN or CUDA was loaded, bound or called */
    WC_FATE_LEFT,      /* no more of it was used; the process ended well, or its end is unknown */
    WC_FATE_LAST,      /* no more of it was used; the process failed or was killed */
    WC_FATE_FELT       /* the cuDNN call that made the request failed */
};

/* An entry of the model: the newest record of a thing, with its head. */
#define WC_ENTRY(name, kind, ...)                                                                  \
    struct name {                                                                                  \
        int64_t seq, tid, time;                                                                    \
        struct wc_##kind##_record r; /* its texts live in the stack's arena */                     \
        __VA_ARGS__                                                                                \
    }
WC_ENTRY(wc_object, object, struct wc_version version, floor, ceiling;); /* parsed from r */
WC_ENTRY(wc_package, package);
WC_ENTRY(wc_demand, demand);
WC_ENTRY(wc_binding, binding);
WC_ENTRY(wc_failure, failure, int64_t asked; /* seq of its request; its own where not known */
         struct wc_said said;                /* its text, parsed once */
         const char *needs;     /* a library that was not found, unless it is r.name; NULL: none */
         enum wc_reason reason; /* from here on: columns that wc_fill_columns fills */
         const char *culprit;   /* the library because of which it failed: a path, or a bare name */
         const struct wc_file_record *file; /* the culprit, if it was examined */
         enum wc_system_refusal refusal;    /* of SYSTEM */
         enum wc_fate fate;);
WC_ENTRY(wc_searched, search);
WC_ENTRY(wc_candidate, candidate, struct wc_version version;); /* not taken; parsed from r */
WC_ENTRY(wc_file, file);
WC_ENTRY(wc_call, call);
WC_ENTRY(wc_unobserved, unobserved);
WC_ENTRY(wc_noted_finding, finding); /* as the shim logged it; wc_diagnose() does not read it */

#define WC_LIST(type, name)                                                                        \
    struct {                                                                                       \
        struct type *p;                                                                            \
        size_t n, room;                                                                            \
    } name

/* Finds the entry of a thing in a list by a hash of its number or names. */
struct wc_stack_index {
    uint32_t *p; /* numbers of entries + 1, 0: free */
    size_t room; /* a power of 2; 0: the list is searched */
};

/* The latest texts, by hash: equal texts are stored once. Several models may share them. */
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
    bool replayed;      /* made from files by the loader's rules: no process has run */
    struct wc_process_record process;
    struct wc_machine_record machine;
    struct wc_summary_record summary;
    struct wc_outcome_record outcome;
    bool has_process, has_machine, has_summary, has_outcome;
    /* The end of the command that the process belongs to. Only its parent knows how the process
     * itself ended. command_signal: the signal that a parent reports by its exit status; 0: none.
     * is_kept: it is a worker; its parent waited for it and ended well. */
    bool command_ended, command_failed, is_kept; /* ended: how may be unknown */
    const char *beside; /* another program of the command that got cuDNN; NULL: none is known */
    int64_t command_signal;
    int64_t failed_child; /* time at which it started its last child that lacked a library; 0 */
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
    } asked[16]; /* the latest requests: an inferred failure is logged after calls that failed */
    int64_t dropped; /* records that found no memory, or are more than the limits below */
};
#define WC_STACK_MOST 4096 /* entries of each list */
#define WC_STACK_TEXTS_MOST                                                                        \
    ((size_t)16 << 20) /* bytes: a hostile log may change the texts of one thing for ever */

/* The library that was not found: one that the requested one needs, or the requested one. */
static inline const char *wc_missing_of(const struct wc_failure *f) {
    return f->needs ? f->needs : f->r.name;
}

/* Was the file not found? By the loader's message, or because the host did not call dlerror. */
static inline bool wc_was_not_found(const struct wc_failure *f) {
    return f->said.what == WC_SAID_NOTHING || f->said.what == WC_SAID_NOT_FOUND;
}

/* Number of bound functions, which may be more than the record names. */
static inline int64_t wc_bound_functions(const struct wc_binding_record *b) {
    return b->function_count == WC_NULL ? (int64_t)b->functions.n : b->function_count;
}

void wc_stack_begin(struct wc_stack *s, struct wc_arena *arena);
/* Copies the record into the model. It replaces an older record of the same thing: an object or a
 * search with that number, a package (name, environment), a demand (host, kind, source), a file
 * (path, request), a failure (the one inferred for its request, or an equal one). A binding with
 * the same host, target and how adds its functions. Of requests only the seq of the latest is kept.
 * False: no room (counted in dropped), and the model stays as it was. */
bool wc_stack_apply(struct wc_stack *s, const struct wc_record *r);

/* Calls each() for the record of each kind of which there is one, which is all zero where none
 * came, and for those of all entries. */
void wc_stack_each(struct wc_stack *s, void (*each)(void *ctx, enum wc_kind kind, void *record),
                   void *ctx);
/* Replaces every pointer of `record` (a struct of that kind) by one to a copy in the arena, or to
 * the equal text of `old` (may be NULL). False: no memory, and `record` must not be used. */
bool wc_stack_keep(struct wc_stack *s, enum wc_kind kind, void *record, const void *old);

const struct wc_object *wc_stack_object(const struct wc_stack *s, int64_t object); /* NULL */
/* `what` of the unobserved records that count for the verdict. */
#define WC_UNOBSERVED_RECORDS "records of this log"
#define WC_UNOBSERVED_MAPS "what was mapped meanwhile"
/* Is there an unobserved record for this? */
bool wc_stack_has_unobserved(const struct wc_stack *s, const char *what, const char *path);
const char *wc_real_path_of(const struct wc_object *o); /* real_path, else path */
/* Do two objects lie in one installation? By installation_path if both have one, else by the
 * directory of their real paths; true if a path is unknown: nothing shows that they differ. */
bool wc_same_installation(const struct wc_object *a, const struct wc_object *b);
/* A 64-bit hash in hexadecimal that is equal for two processes with the same libraries: over hosts,
 * facade, parts, CUDA dependencies, versions, build-ids and bindings, not over pids, times,
 * addresses and directories. */
void wc_stack_fingerprint(const struct wc_stack *s, char out[17]);
