/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that `run` started and its descendants, as /proc shows them while they live: whose
 * logs are theirs, which may be signalled, and which had cuDNN. A log proves nothing of that: in
 * a shared directory any user can leave one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct family {
    uid_t *users; /* ours and theirs */
    size_t user_count;
    struct relative {
        pid_t pid;
        uid_t user;
        char *library; /* of cuDNN, that it has mapped */
    } * with_cudnn;
    size_t with_cudnn_count;
    uid_t last_user;    /* of the command itself */
    char last_name[16]; /* what the kernel calls it; "": never looked at */
    char *seen_program; /* that it ran when it was looked at and had our library; NULL */
    char seen_name[16]; /* what it was called then */
};

void family_begin(struct family *f);
void family_look(struct family *f, pid_t command);
/* Of a command that was seen to have our library. */
void family_note_program(struct family *f, pid_t command);
/* Of a command that has ended and was not waited for. */
void family_look_last(struct family *f, pid_t command);
bool family_has_user(const void *family, uid_t user);
/* What the kernel calls a process is its program's name, or its script's, until it takes another
 * one: had the command that name at its end? */
bool family_is_last(const struct family *f, const char *path);
void family_end(struct family *f);

/* A process that was seen to descend from the command: its number cannot come to mean another. */
struct held_process {
    pid_t pid;
    int fd; /* pidfd; -1: the kernel has none */
};
/* False: no such process that began then is a descendant now. */
bool family_hold(pid_t command, int64_t pid, int64_t start_ticks, struct held_process *out);
void held_process_signal(const struct held_process *p, int signal);
void held_process_end(const struct held_process *p);
