/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repair as what is to be done, one after the other, and which directories that changes.
 */
#pragma once

#include <jansson.h>

#include "tools/commands/input.h"
#include "tools/commands/run/trust.h"
#include "tools/diagnose/command.h"

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
