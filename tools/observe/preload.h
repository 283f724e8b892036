/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `run` puts into its child's environment: which library, where its log goes. Where logs are
 * looked for, and in which programs the library cannot wake.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Why LD_PRELOAD cannot hold this name (ld.so(8)); NULL: it can. The caller frees. */
char *preload_name_trouble(const char *path);
/* $WHICHCUDNN_SHIM, else libwhichcudnn.so next to the command, where each kind of package has it,
 * in the directory of the installation. NULL: nowhere, or under a name that LD_PRELOAD cannot hold;
 * then *trouble is the complaint, which is made where trouble is NULL. The caller frees both. */
char *preload_find_shim(char **trouble);
/* The list with shim at its end, where it does not hide other preloads; as it was if it is in there
 * already. before: the old value, NULL: none. The caller frees. */
char *preload_list(const char *before, const char *shim);
/* The list without the shim, and without other copies of it. NULL: nothing is left. */
char *preload_without(const char *list, const char *shim);
/* Of a process: neither its environment has the shim (a path) any more nor its memory. False also
 * where that cannot be seen. */
bool preload_is_gone(pid_t pid, const char *shim);

struct log_place {
    char *value;     /* for WHICHCUDNN_LOG; absolute */
    char *directory; /* where the files will be; NULL: does not follow from value */
    char *prefix;    /* how their names begin */
    bool named;      /* by the user; else it is a default */
    bool passing;    /* no log is to be left there */
};
/* given: --log, NULL: none; then $WHICHCUDNN_LOG, else a directory of the user's own, which is
 * made: $XDG_STATE_HOME/whichcudnn, /tmp/whichcudnn-UID. A name with a slash at its end is made
 * one, too. */
void log_place_choose(struct log_place *place, const char *given);
/* Where the library puts logs of its own accord: a directory below /tmp, else below $TMPDIR, which
 * it makes; `directory` is what is there of it. */
void log_place_of_library(struct log_place *place);
/* For a log whose name is taken: NAME-NUMBER.jsonl, as the shim has it. The caller frees. */
char *log_place_other_name(const char *name, int64_t number);
/* The same place, for looking only: nothing is made or complained of. */
void log_place_read(struct log_place *place, const char *given);
/* /dev/null: no log is wanted. */
bool log_place_is_none(const struct log_place *place);
/* Its files can be made, as far as is known. */
bool log_place_is_good(const struct log_place *place);
void log_place_end(struct log_place *place);

/* Is that file a library that processes of this machine can have preloaded? Only by its header:
 * of this processor, whole. NULL: yes; else why not, as a sentence without its full stop, which the
 * caller frees. */
char *shim_file_trouble(const char *path);

/* The log to read if none is named: the newest of this user in the places where `run` and the shim
 * put them: $WHICHCUDNN_LOG, the working directory, $TMPDIR, /tmp, and directories of the user's
 * own in those two. NULL: there is none, and *looked says where it was looked for. The caller frees
 * both. */
char *newest_log(char **looked);

/* Why a preloaded library cannot wake in a program, as far as its file shows. command: as given to
 * exec. NULL: nothing in the file speaks against it. *program: the file that is run, for a script
 * its interpreter; NULL: there is none. The caller frees both. */
char *unobserved_reason(const char *command, char **program);
/* The part of that which is for rights that the program itself has. The caller frees. */
char *unobserved_rights(const char *path);
/* The program of that name in a list as PATH has it, as execvp finds it; one with a slash is where
 * it says. NULL: there is none. The caller frees. */
char *find_program(const char *name, const char *list);
