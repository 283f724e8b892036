/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is asked of a repair that was played before it is planned: that its finding is gone, nothing
 * as bad is new, and nothing is lost that was not seen. For plan*.c and tools/repair/cures/ alone.
 */
#pragma once

#include "core/findings/diagnose.h"
#include "tools/repair/candidates/candidates.h"
#include "tools/repair/plan.h"
#include "tools/repair/replay.h"

struct played {
    struct candidate edits;
    struct outcome outcome;
    struct outcome newest; /* of a set, with its newest release; all zero: it was not played */
    bool harmless;         /* what worked still works, with both */
    struct left {          /* of what is found, by the files alone */
        size_t errors, warnings;
        size_t of_end;   /* errors, were it to end as it did */
        size_t pins;     /* of packages, that what comes in is none of */
        size_t suspects; /* notes of what a variable has: the next run would advise again */
    } left;
};

struct planning {
    struct plan *plan;
    const struct source *source;
    const struct wc_findings *findings;
    struct replay replay;
    struct outcome base;
    struct candidates candidates;
    struct played *played;
    size_t n;
    const char *why; /* nothing can be played; NULL: it can */
};

/* ---- what is found then (tools/repair/cures/findings.c) ---- */

/* NULL: of no object (WC_NULL), or of one that has none. */
const char *cures_path_of(const struct wc_stack *s, int64_t object);
/* Is something there that is as bad and was not there before? That now the other one of two copies
 * stands in front is no more than a note. */
bool cures_brings(const struct planning *p, const struct played *x, const struct outcome *o,
                  bool of_end, enum wc_severity severity);
/* What is told of a program that fails alone counts, too: it may go on to fail. */
bool cures_brings_never(const struct planning *p, const struct outcome *o);
/* The same for another library, or of it put anew under another path, is no cure either: as bad as
 * the replay had it, which knows less of how it ended than the process. But of two copies one
 * always stands before the other. */
bool cures_is_gone(const struct planning *p, const struct outcome *o, bool of_end,
                   const struct wc_finding_record *f);
/* Does the replay show it, if only with the process's own end? */
bool cures_is_shown(const struct planning *p, const struct wc_finding_record *f, bool *of_end);
/* Does what explains it stay as it is? */
bool cures_leaves_cause(const struct planning *p, const struct outcome *o, bool of_end,
                        const struct wc_finding_record *f);

/* ---- what its edits are (tools/repair/cures/edits.c) ---- */

/* What the system refuses it refuses to new files of the same kind, too, which none of them shows,
 * whichever finding it is that is told with it. */
bool cures_is_beyond_files(const struct planning *p, const struct candidate *c,
                           const struct wc_finding_record *f);
/* The system does not let this user write to where the edit does, for that reason, an errno. */
bool cures_is_refused(struct planning *p, const struct edit *e, int reason);
/* On a file system that nobody writes to, whatever rights he has. */
bool cures_is_read_only(struct planning *p, const struct candidate *c);
/* What was built for a newer system than this one is so in its package, too; which other release is
 * not, nobody knows. A part alone may be somebody else's. Nor is it known what a single library of
 * CUDA wants of those beside which it is put. */
bool cures_wants_unknown(const struct candidate *c, const struct wc_finding_record *f);
/* What a library of cuDNN's needs of other makers, and what stands in no table, it still needs when
 * it is put there anew; and of CUDA, where it is for the same. */
bool cures_needs_the_same(const struct candidate *c, const struct wc_finding_record *f);
/* What was asked of whichcudnn itself is of no weight for the process. */
bool cures_takes_back(const struct candidate *c);
/* To take a package away that is in nobody's way, or that lacks something, hides what is wrong. */
bool cures_removes_unused(const struct planning *p, const struct candidate *c,
                          const struct wc_finding_record *f);
bool cures_is_variables_alone(const struct candidate *c);
/* Of what no package manages? */
bool cures_is_by_hand(const struct candidate *c);
/* Of a set the oldest is played, and the newest that is known. */
bool cures_is_set(const struct candidate *c);

/* ---- what a path variable loses (tools/repair/cures/path_variable.c) ---- */

/* A directory that has more than CUDA's libraries may serve what was not seen. */
bool cures_loses_others(const struct planning *p, const struct candidate *c);
/* A process that has not come to its first call on a GPU has not asked for all of CUDA yet: what
 * lies in a directory that the path loses, and does not come in from elsewhere, it may be about to
 * ask for. */
bool cures_loses_cuda(const struct planning *p, const struct played *x);
/* To silence a note nothing is put into a variable, which counts for all else that is started. */
bool cures_adds_to_variable(const struct planning *p, const struct candidate *c);

/* ---- what comes in then (tools/repair/cures/libraries.c) ---- */

/* What failed in the process worked in none of the replays. */
bool cures_is_harmless(const struct planning *p, const struct outcome *o);
/* The same libraries come in for the same requests: a finding less, and nothing else. */
bool cures_changes_nothing(const struct planning *p, const struct played *x);
/* What a package lacks no variable brings: another copy may be of another release. */
bool cures_leaves_installation(const struct planning *p, const struct candidate *c,
                               const struct wc_finding_record *f);
/* Who was built with the facade that is there refuses an older one: of a mixed set it is the parts
 * that a variable has to bring. Where a demand is known it says who refuses it. */
bool cures_takes_older(const struct planning *p, const struct played *x,
                       const struct wc_finding_record *f);
/* The very same cuDNN is made for the same CUDA then, and so is the same release for that CUDA, put
 * there anew. */
bool cures_keeps_cuda(const struct planning *p, const struct played *x,
                      const struct wc_finding_record *f);
/* Does it take a file away that was asked for, and no other one comes in for it? */
bool cures_removes_wanted(const struct planning *p, const struct played *x);

/* ---- what a mere note may change (tools/repair/cures/notes.c) ---- */

/* The one that the finding has in a fact. */
bool cures_takes_own(const struct played *x, const struct wc_finding_record *f);
bool cures_suits_note(const struct planning *p, const struct played *x,
                      const struct wc_finding_record *f);
/* Of two packages that have put their files at one path the one whose release comes in is that with
 * which the process failed. */
bool cures_keeps_failed(const struct planning *p, const struct played *x,
                        const struct wc_finding_record *f);

/* ---- all that is asked of one (tools/repair/cures/cures.c) ---- */

/* The facade that a host (its path) gets then; of no host (NULL) the first; NULL: none. */
const struct wc_object *cures_facade_of(const struct wc_stack *s, const char *host);
/* What an outcome leaves. */
struct left cures_left_by(const struct outcome *o);
/* All that is asked of one. of_end: as of cures_is_shown(). */
bool cures_finding(const struct planning *p, const struct played *x,
                   const struct wc_finding_record *f, bool of_end);
/* By what they leave; above 0: a leaves more. */
int cures_compare_left(const struct played *a, const struct played *b);
