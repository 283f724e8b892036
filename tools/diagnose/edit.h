/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change that a user can make, as data: nothing of it is text to be parsed. See edit.def for what
 * each kind means by its fields. Texts live in the arena of the plan that has the edit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum edit_kind {
#define EDIT(name, ...) EDIT_##name,
#include "edit.def"
    EDITS
};

/* What a fix asks for, in a word. */
enum wc_action {
#define ACTION(name, ...) WC_ACTION_##name,
#include "core/demand/findings.def"
    WC_ACTIONS
};
extern const struct action_row {
    const char *word;
    const char *never; /* why such a fix is not played; NULL: it may be */
} action_rows[WC_ACTIONS];

/* Where an edit writes: nothing, its environment, its path, the directory that has it, /etc. */
enum edit_writes { WRITES_NONE, WRITES_SITE, WRITES_PATH, WRITES_PARENT, WRITES_ETC };

/* As edit.def has it. */
extern const struct edit_row {
    const char *word;
    enum wc_action action;
    int cost;
    enum edit_writes writes;
    const char *command, *sentence;
} edit_rows[EDITS];

struct edit {
    enum edit_kind kind;
    const char *name;        /* a variable, a package, a module; NULL: the kind has none */
    const char *value;       /* the whole new value; releases as in PEP 440, "" any */
    const char *path;        /* a file; of a variable: that line's, or, without such a line, a
                                script whose other programs get it, too */
    const char *target;      /* of a link; of a line: for sed, an end of line for the value; of a
                                package, the CUDA that is assumed; NULL: none is */
    const char *environment; /* of a package: its site-packages, or a conda prefix; NULL: the
                                system's, or not known */
    const char *because;     /* of a package: what requires it; of EDIT_OPEN: what is not known */
    const char *by;          /* of a variable: what starts the process with another value than the
                                user gave, the only place where it can be changed; NULL: the user;
                                of a pin, of what opens a library: the line */
};

struct edits {
    const struct edit *p; /* in the order in which they are made */
    size_t n;
};

/* A release of cuDNN for a CUDA that nothing says? */
bool edit_assumes(const struct edit *e);
/* Does the command that installs the one before install this one as well? before: NULL: there is
 * none. One after the other some ways to install remove what the one before has installed. */
bool edit_comes_with(const struct edit *before, const struct edit *e);
/* A file that becomes a link, which is one step: ln(1) replaces it. */
bool edit_is_replaced(const struct edit *e, const struct edit *by);
/* The same; any: whatever release is installed, or value is set. */
bool edit_is_same(const struct edit *a, const struct edit *b, bool any);
bool edit_is_variable(const struct edit *e);
int edit_cost(const struct edits *edits); /* 0: texts become links again, which is one step */
