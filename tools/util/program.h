/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What any part of the command may say, how it ends, and its clock.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#ifndef WHICHCUDNN_VERSION
#define WHICHCUDNN_VERSION "unknown"
#endif

/* The same for every subcommand, except that `run` gives its child's status. */
enum exit_code {
    EXIT_NOTHING_WRONG = 0,
    EXIT_ERRORS_FOUND = 1,
    EXIT_USAGE = 2, /* also: what was named cannot be read */
    EXIT_NOTHING_OBSERVED = 3,
    EXIT_UNEXPLAINED = 4,
    EXIT_NOT_REPAIRED = 5 /* no repair is known, or no tried one holds */
};

/* "whichcudnn: ..." and a newline on stderr, with control characters of the arguments escaped.
 * Returns EXIT_USAGE. */
enum exit_code complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says that there is no more memory, and ends the program. */
void must_fail(void) __attribute__((noreturn));
extern void (*must_fail_instead)(void); /* called first; NULL: nothing */

#define CLOCK_SECOND INT64_C(1000000)

/* Microseconds: CLOCK_REALTIME since the epoch, CLOCK_MONOTONIC since whenever. */
static inline int64_t clock_now(clockid_t clock) {
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * CLOCK_SECOND + t.tv_nsec / 1000;
}
