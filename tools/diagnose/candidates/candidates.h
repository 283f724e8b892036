/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What might repair a process: every copy that is known, what its packages demand and lack, its
 * variables. Liberal: most of it is of no use, which the replay shows.
 */
#pragma once

#include "tools/diagnose/replay.h"

#define CANDIDATE_EDITS 24

struct candidate {
    struct edit p[CANDIDATE_EDITS];
    size_t n;
};

struct candidates {
    struct wc_arena *memory;
    struct candidate *p; /* their owner frees */
    size_t n;
};

/* Of what no package manages? */
bool candidate_is_by_hand(const struct candidate *c);
/* Any release of a set does; the oldest is played. */
bool candidate_is_set(const struct candidate *c);
/* Once each, up to a bound. */
void candidates_add(struct candidates *c, const struct candidate *one);
/* What of LD_LIBRARY_PATH comes behind that which a launcher, or the program itself, has put before
 * what it was given, as PyInstaller's programs and R do. NULL: none was, or it is not passed on. */
const char *candidates_given_part(const struct wc_stack *s);
/* What a command that a user was given would change: it is read, and never run. */
struct proposal {
    const char *command;
    struct candidate edits;
    const char *why;       /* they are unknown; NULL: they are known */
    const char *idle;      /* why a part of it changes nothing; NULL: all of it does */
    const char *directory; /* that `cd` went to; NULL: it stays where it is, which is not known */
};
/* base: the play without edits. proposal: a command to be read; NULL: none. */
void candidates_make(struct candidates *c, struct replay *r, const struct outcome *base,
                     struct proposal *proposal);
