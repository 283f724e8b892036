/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ended in the loader, as its files explain it (loader_sim.h): before anything of it ran, or
 * at its last request. Mapping a library that is cut short ends the process inside the loader,
 * which has no words for it, and what the asked one needs is known only to the loader.
 */
#pragma once

#include "tools/observe/log/source.h"

struct run;

#define LOADER_STATUS 127 /* as glibc's loader ends what it cannot start, or bind */

/* Of the command, or what its script started: a source like a log, which is written where the place
 * was named, with the outcome in it. logged: others of the command left logs. NULL: cuDNN has no
 * part in it; then *reason (the caller frees) says which library is missing, if one is. The caller
 * frees with source_free. */
struct source *startup_source(struct run *run, struct wc_record *outcome, bool logged,
                              char **reason);
/* The loader preloads nothing for a program with these rights, and removes LD_LIBRARY_PATH out of
 * its environment: which library it then did not find. NULL: that is not why it ended. */
char *startup_missing(const struct wc_outcome_record *o, const char *program);

/* What the loader would have met that is damaged, as records: a failure and the file each. The log
 * has what it asked for; files are looked at as they are now. binding: the status was the loader's;
 * where nothing is damaged, it may have ended at a function that is in no library. False: nothing.
 */
bool last_request_emit(const struct source *log, bool binding, const struct wc_sink *to);
/* Why requests of a process failed that did not ask the loader why, and what was refused so that
 * requires cuDNN: as records for a process that came to a failure. */
void failed_requests_tell(const struct source *log, const struct wc_sink *to);
/* Which libraries are missing of the packages that its cuDNN, or what failed, came with. */
void own_packages_tell(const struct source *log, const struct wc_sink *to);
/* Would what was requested without success, or what that needs, use cuDNN? The words of the loader
 * may name neither: libspeech.so, for another libstdc++. */
bool failed_requests_want_cudnn(const struct source *log);

struct trial_end {
    size_t number; /* of the first file that is refused */
    int error;     /* errno; 0: none is */
};
/* Does the system let the loader have these files, in the loader's order? They are opened and
 * mapped as the loader does it, with the limits and rights that the command had, in a child that
 * ends at once: nothing of them runs. */
struct trial_end startup_trial(const char *const *paths, size_t n);

/* ---- which programs a command starts (shell_script.c) ---- */

/* As far as its scripts name them one after another. Nothing is run. After the first thing that
 * only a shell could follow (a branch, functions, `eval`, `module load`) nothing of a script is
 * read: it is unsure. */
struct shell_program {
    const char *path;
    char *const *environment; /* NAME=value, NULL at the end */
    bool by_script;           /* false: it is the command itself, or an argument of a program */
    bool passed_over;         /* its script goes on, however it ends */
    bool is_tested;           /* by `if`, `while`, `!` or "||" */
    bool is_muted;            /* what it prints on standard error is discarded */
};
struct shell_programs {
    struct shell_program *p; /* as they are started */
    size_t n;
    bool unsure;  /* there may be more */
    bool in_turn; /* one after another: none in a pipe or in the background */
    struct heap_arena memory;
};

/* environment: of the command. */
void shell_programs_of(struct shell_programs *out, char **command, char **environment);
void shell_programs_end(struct shell_programs *programs);
