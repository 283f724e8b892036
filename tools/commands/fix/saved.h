/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a repair may overwrite, saved before as hard links: they hold whatever installs, is killed
 * or loses power. In ENVIRONMENT/.whichcudnn-undo, with a journal that is there only while the
 * saved files are whole and the repair is not finished; a link to it is next to the log.
 */
#pragma once

#include <jansson.h>

struct saved {
    char *folder, *journal, *link; /* NULL: nothing is saved */
    json_t *paths;                 /* the keys: directories and files; the first has the folder */
    int lock;                      /* held by what changes them, too */
};

/* Takes the paths. NULL: done; else why not, and nothing is changed (the caller frees). near: the
 * directory of the log. */
char *saved_begin(struct saved *s, json_t *paths, const json_t *steps, const char *near);
/* NULL: all is as it was; else why not (the caller frees), and undo (undo.h) may try again. */
char *saved_put_back(struct saved *s);
/* What was saved is not needed any more. */
void saved_end(struct saved *s);
/* Of a repair that was cut off, in that directory of logs or environment. NULL: none; the caller
 * frees. */
char *saved_journal_in(const char *directory);
/* Nothing is done with it. */
void saved_forget(struct saved *s);
/* "." of a bare name. The caller frees. */
char *directory_of(const char *path);
