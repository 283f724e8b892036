/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what was played a repair of a finding? Four things are asked of each: the finding is gone,
 * what worked still works, nothing as bad is new, and the edit is of a kind that repairs such a
 * finding. What these do not see is a short table of objections, each with its witness (judge.c).
 */
#pragma once

#include "manager.h"
#include "plan.h"
#include "replay.h"
#include "tools/diagnose/candidates/candidates.h"

struct played {
    struct candidate edits;
    struct outcome outcome;
    const char *unsure;     /* why it may not repair what the replay says it does; NULL: it does */
    const char *plugin;     /* the same, and there is a command for it */
    const char *takes_over; /* a library of the system whose name is taken by a directory that comes
                             * into the search path: what asks for it later, a program that is
                             * started among it, gets another one; NULL: none */
    bool loses;             /* a directory of the search path, with what nothing else points to, and
                             * for which it may yet ask */
    bool harmless;          /* what worked still works, with the newest release of a set, too */
    bool steps;             /* it was made for what other edits leave */
    bool alone;             /* no other program of the command gets the variables */
    bool by_hand;           /* no command can change the line that sets a variable */
    const char *beside;     /* another program of the command that has the same fault; NULL: none */
    struct left {           /* of what is found, only by the files */
        size_t errors, warnings;
        size_t beside;   /* findings of other programs of the command */
        size_t of_end;   /* errors, were it to end as it did */
        size_t pins;     /* packages without a loaded file */
        size_t assumed;  /* edits that assume a CUDA */
        size_t suspects; /* notes of what a variable has: the next run would advise again */
        size_t missed;   /* libraries that hosts still ask for in vain */
    } left;
};

struct other { /* another program of the command */
    struct replay replay;
    struct outcome base;
};

struct planning {
    struct plan *plan;
    const struct source *source;
    const struct wc_findings *findings;
    struct replay replay;
    struct outcome base;
    struct other others[SOURCE_BESIDE_MOST];
    size_t others_n; /* of those that could be played */
    struct candidates candidates;
    WC_LIST(played, played);
    const char *why;           /* nothing can be played; NULL: it can */
    struct user user;          /* whose files are NULL then: they cannot be looked at either */
    struct proposal *proposal; /* only that is played; NULL: what the makers make */
    const char *read_only;     /* an environment that packages would go to; NULL: none is */
};

/* Does the replay show it, if only with the process's own end? */
bool judge_is_shown(const struct planning *p, const struct wc_finding_record *f);
/* Was all loaded that is loaded without edits? by_variable: no file was changed, so a part that the
 * release does not hold was another one's. */
bool judge_is_harmless(const struct replay *r, const struct outcome *base, const struct outcome *o,
                       bool by_variable);
/* How many errors are found in it, only by the files. */
size_t judge_errors(const struct outcome *o);
/* Does a variable get an element that it does not have? */
bool judge_adds(const struct wc_stack *s, const struct edit *e);
/* What it leaves, loses and takes over. */
void judge_weigh(const struct planning *p, struct played *x);
/* By what they leave; above 0: a leaves more. */
int judge_compare_left(const struct played *a, const struct played *b);
extern const char judge_remains[], judge_conflict[]; /* why not: another package requires it */
extern const char judge_lost[], judge_new[];         /* what worked, and another finding */
extern const char judge_hides[], judge_later[]; /* it may repair: nothing that was seen fails */
/* NULL: it repairs the finding, which is shown; else why it does not. */
const char *judge(const struct planning *p, const struct played *x,
                  const struct wc_finding_record *f);
/* The facade that the finding's host (of_f: its stack) gets then, else the first; NULL: none. */
const struct wc_object *judge_facade(const struct wc_stack *of_f, const struct played *x,
                                     const struct wc_finding_record *f);
