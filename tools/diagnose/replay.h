/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process again, by its files: the program with the variables of its start, then all that it
 * asked the loader for, in that order, over files and variables as edits would leave them.
 */
#pragma once

#include "core/demand/diagnose.h"
#include "overlay/overlay.h"
#include "tools/observe/log/source.h"

struct replay_got {   /* by its request */
    uint64_t files;   /* a mark of the loaded libraries; 0: it failed */
    uint64_t missing; /* a mark of those that were missing */
    bool asked;       /* in that play; then: */
    size_t from, to;  /* what it missed, of all that is missing */
    size_t objects;   /* how many were loaded before it */
};

struct replay_request {
    int64_t seq, request;
    const char *name, *caller;
    const struct wc_failure *failure; /* it failed in the process; NULL: it did not */
    const char *gone;      /* what failed is no longer there, this was missing; or NULL */
    bool for_all;          /* all see what it loads; also where that is not known */
    bool by_known_library; /* whose files may be others after an edit */
    bool elsewhere;        /* it was found though a file of its package was there */
    bool refused;          /* it failed though all files were there: by the first play */
    bool unseen; /* of these: a function of cuDNN's that it imports is nowhere to be seen */
    struct replay_got first;
    const struct library *unmet; /* that lacked the symbol version; NULL: none did */
};

struct replay {
    const struct source *source;
    struct heap_arena memory;
    struct library_cache *library_cache, own_cache; /* the first is the source's where it has one */
    struct sites sites;                             /* what the disk has of packages */
    WC_LIST(replay_request, requests);
    struct {
        const struct wc_demand **p;
        size_t n;
    } stated; /* of the source, and of no file */
    struct {
        struct library **p;
        size_t n;
    } first;      /* what the first play has loaded */
    bool goes_on; /* an edit that changes nothing is not a reason not to play the others */
    bool in_turn; /* a wrapper was before dlopen and called it in turn */
};

/* What came of it; all zero: not played. */
struct outcome {
    struct source *source;
    struct heap_arena memory; /* of the findings */
    struct wc_findings findings;
    struct wc_findings of_end; /* the same, were it to fail and end as the process did */
    struct replay_got *got;    /* as many as there are requests */
    bool starts;               /* the program, with all that it needs; a scan has none */
    bool loses;                /* what it needs at its start, and found without the edits */
    size_t torn;               /* parts that are there and lack other parts */
    const char *why;           /* it could not be played; NULL: it was */
    const char *open;          /* the same, where a package manager may know more */
    const char *shadows;       /* a library that is loaded in place of another, without all that was
                                * required of that; NULL: none does */
    const char *breaks;        /* as of the overlay, in the outcome's memory */
    const char *lacks;         /* which package requires what goes, or is overwritten; NULL: none */
    bool changes;              /* the edits change something of what it reads */
    const char *idle;          /* why one of them changes nothing; NULL: all do something */
};

/* The variable of the places in which Python looks for modules first. */
#define REPLAY_MODULES "PYTHONPATH"
/* Has the host made that name of an element of that variable (NAME=value)? Not where the loader
 * heeds the variable itself, nor where the host, or Python's environment, has the name of its own
 * place; /usr/local/cuda is a name that programs know without a variable. */
bool replay_names_by(const char *variable, const char *element, size_t n, const char *name,
                     const char *caller);
/* Of its folder, or the one next to it into which its libraries were grafted. path may be NULL. */
bool replay_lies_in_module(const char *path, const char *module);
/* With the first play, which has no edits. NULL: it can be replayed; else why not. *r must not move
 * until replay_end, which is called in either case, as is outcome_end(base); that is zero before.
 */
const char *replay_begin(struct replay *r, const struct source *source, struct outcome *base);
void replay_end(struct replay *r);
/* What failed in the first play for reasons that no file shows fails in the others, too, as long as
 * the same files are loaded. */
void replay_play(struct replay *r, const struct edits *edits, struct outcome *out);
static inline const struct replay_got *
replay_got_by(const struct replay *r, const struct outcome *o, const struct replay_request *q) {
    return &o->got[q - r->requests.p];
}
void outcome_end(struct outcome *o);
