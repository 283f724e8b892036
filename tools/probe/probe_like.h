/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `probe --like LOG` takes over from a process: its environment, and which files it had.
 */
#pragma once

#include "tools/commands/input.h"
#include "tools/run/trust.h"

struct like {
    struct inputs in;
    const struct source *process; /* the one with a cuDNN; NULL: there is none in it */
    const struct wc_object *facade;
};

/* place: a log, or a directory of them. False: nothing of it can be read. */
bool like_read(struct like *l, const char *place);
void like_end(struct like *l);

/* Whose is the log, and what it has a process load? */
void like_trust(const struct like *l, struct trust *t);
/* In the child: the variables that logs keep are as they were there, and so is the directory. */
void like_set_environment(const struct like *l);
/* What is not as it was: files that are gone or changed, and, where `now` is not NULL, parts that
 * came from elsewhere this time. A text for each; returns how many. The caller frees them. */
size_t like_differences(const struct like *l, const struct wc_stack *now, char **out, size_t most);
