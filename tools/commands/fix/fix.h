/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repair made: what is to be done, one step after the other, and which directories that changes;
 * permanently, by the commands of what manages the environment, or for a try, where it can be
 * thrown away.
 */
#pragma once

#include <jansson.h>

#include "tools/commands/input.h"
#include "tools/commands/run/trust.h"
#include "tools/diagnose/command.h"

#define ROOM_LEAST (16 << 20) /* bytes */

#define STEP_CHANGES 4

enum step_kind {
    STEP_VARIABLE, /* of the command's environment */
    STEP_COMMAND,  /* a shell's */
    STEP_PYTHON,   /* a statement that Python is to run before all others */
    STEP_SAID      /* only the user can do it */
};

struct step {
    enum step_kind kind;
    const struct edit *edit;
    const char *text; /* a command, "export NAME=value", a statement of Python, a sentence */
    const char *changes[STEP_CHANGES]; /* real paths, the directory of packages first; NULL: none */
    const char *refused;               /* why it is not for --apply; NULL: it is */
};

struct steps {
    struct step *p;
    size_t n;
    const char *places[16]; /* directories whose content they change; real paths */
    size_t place_count;
    const char *why; /* it cannot be tried; NULL: it can */
};

/* Is it below that directory, or the same? */
bool is_within(const char *path, const char *top);
/* Of kinds that can be made, and tried before. */
bool steps_are_ours(const struct edits *edits);
/* Of the first finding that has one: its cheapest repair that can be made by commands and
 * variables; played: and that was replayed. NULL: there is none. row: whose; NULL: not wanted. */
const struct repair *job_best_repair(const struct job *j, bool played,
                                     const struct summary_row **row);
/* Texts live in the arena, edits where they were. What the steps run or change is added to t; NULL:
 * then a step that may not be trusted keeps them from being tried. */
void steps_make(struct steps *s, struct wc_arena *memory, const struct edits *edits,
                struct trust *t);
/* What a command may leave half done of an environment (a real path), and what decides which
 * program runs: not more, for users keep work of their own in environments, too. */
void steps_changes(struct wc_arena *memory, const char *site, const char **changes);
/* Whose is what they run, change, and have others load? */
void steps_trust(struct trust *t, const struct edits *edits);
/* Adds to a list {kind: "variable", "command" or "said", text, changes, refused} of each. */
void steps_json(const struct steps *s, struct wc_arena *memory, json_t *list);

struct attempt {
    char *const *command;
    char *work; /* a directory for what is thrown away; not there yet */
    const struct job *before;
    const struct summary_row *row; /* whose finding */
    const struct repair *repair;
    int status_before; /* -1: not known */
};

/* The command watched again, with the repair made for real in a process of its own, whose variables
 * and directories no other process sees. Where it takes a finding away and the next cause comes to
 * light, that one's repair is made on top. Gives what came of it: {cures, stopped, trouble, status,
 * cudnn, outcome, left: [...], steps: [{kind, text}], keep, rounds}. trouble: it could not be
 * tried; outcome: a sentence; keep: what to do for it to stay; steps: the same, one by one, as
 * apply has them. New reference. */
json_t *attempt_make(const struct attempt *a);

/* held: what an attempt reported about the repair that held; NULL: nothing was tried, the first one
 * is taken. command: by which it can be seen, NULL: not known. *applied becomes what was done. An
 * exit code; after a signal all is as it was, and it is the signal's. */
int apply_best(const struct job *j, const json_t *held, char *const *command, bool yes,
               json_t **applied);
/* Puts back what a repair that was cut off has left half done. where: a journal, an environment, a
 * log or a directory of logs; NULL: here, or the newest log. yes: a journal that was not named by
 * the user is not asked about. An exit code. */
int undo(const char *where, bool yes);
