/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What might repair a process: every copy that is known, what its packages demand and lack, its
 * variables. Liberal: most of it is of no use, which the replay shows.
 */
#pragma once

#include "core/demand/questions.h"
#include "tools/diagnose/replay.h"

#define CANDIDATE_EDITS 5

struct candidate {
    struct edit edit[CANDIDATE_EDITS];
    size_t n;
};

struct candidates {
    struct wc_arena *memory;
    struct candidate *p;
    size_t n;
};

/* Of what no package manages? */
bool candidate_is_by_hand(const struct candidate *c);
/* Of a set the oldest is played, and the newest that is known. */
bool candidate_is_set(const struct candidate *c);
/* Once each, up to a bound. */
void candidates_add(struct candidates *c, const struct candidate *one);
/* Is that one of the elements of a list of paths (NULL: of none)? n: its length. */
bool candidates_path_has(const char *path, const char *element, size_t n);
/* Has that release code for all GPUs, for all that is known? False also where nothing is. */
bool candidates_has_gpu_code(const struct wc_stack *s, struct wc_version release);
/* By the makers that are asked for such findings. base: the play without edits. */
void candidates_make(struct candidates *c, struct replay *r, const struct outcome *base,
                     const struct wc_findings *findings);
void candidates_end(struct candidates *c);
