/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs into stacks. A file usually holds one process; where a place was shared, each `process`
 * record begins the next one. Damaged lines are counted and reported, and the rest is still read.
 */
#pragma once

#include <sys/types.h>

#include "source.h"

#define LOG_DAMAGED_TOLD 20 /* damaged lines that are reported one by one */

struct damaged_line {
    size_t line; /* from 1 */
    char *reason;
};

struct log_file {
    char *path;
    dev_t device;
    ino_t inode;
    size_t lines, records;
    size_t damaged_lines;
    WC_LIST(damaged_line, damaged); /* the first LOG_DAMAGED_TOLD */
    bool open_end;                  /* the last line has no newline */
};

struct logs { /* all zero: none yet */
    struct log_file **files;
    size_t file_count;
    struct source **processes;
    size_t process_count;
    size_t keep_events;      /* so many records for time lines, of all; to be set before reading */
    size_t events;           /* kept */
    struct log_texts *texts; /* of all their processes: those of a job say much the same */
};

/* Adds what the file holds, packed or not; "-" is standard input. False: it cannot be read or is no
 * log, and *trouble (the caller frees) says why; nothing was added then. */
bool logs_read(struct logs *logs, const char *path, char **trouble);
/* The same of an open descriptor, which is closed; negative: errno says why. */
bool logs_read_descriptor(struct logs *logs, int fd, const char *path, char **trouble);
/* To be read: a regular file, not after a link, of an owner that counts. Negative: none, and *why
 * (the caller frees) says why. */
int log_open_of(const char *path, bool (*counts)(const void *arg, uid_t owner), const void *arg,
                char **why);
/* Adds what was read in another way, and takes it. */
void logs_add(struct logs *logs, struct source *process);
void logs_end(struct logs *logs);
