/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process between a stream of the command and where it goes: it copies what comes, unchanged, and
 * keeps the last part for `run`. It ends when nothing has the other end open any
 * more, so what the command leaves behind can still print after `run` has ended.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#define KEPT_MOST ((size_t)512 << 10) /* bytes of a stream that are kept: its last ones */

struct kept {             /* in memory that `run` and the copier share */
    size_t n;             /* bytes that came */
    char text[KEPT_MOST]; /* a ring */
};

struct copier {
    struct copied {
        int to, also;         /* where it goes: a descriptor of ours; another for the same, -1 */
        int from, end;        /* that the copier reads; that the command gets in place of `to` */
        int talk;             /* a socket to the copier */
        bool is_terminal;     /* else a pipe */
        struct termios modes; /* of `end`, as they were last */
        struct kept *kept;
    } of[2];
    size_t n;
};

/* Makes one for a pipe or a terminal. NULL: none could be made (errno), and nothing changed. */
const struct kept *copier_add(struct copier *c, int to);
/* In the command, before exec. */
void copier_enter(const struct copier *c);
/* When the command was started: `run` keeps no end of its streams. */
void copier_leave(struct copier *c);
/* Returns when all that was printed until now has been copied: as long as the reader takes, for
 * which the command itself would wait. */
void copier_settle(const struct copier *c);
