/* SPDX-License-Identifier: Apache-2.0 */
#include "beside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[SIGNALS];
static const char *volatile unfinished;

/* Comes once, and then the signal does what it did before. */
static void remove_it(int number) {
    unlink(unfinished);
    raise(number);
}

/* What was ignored stays so. */
static void watch_signals(const char *path) {
    unfinished = path;
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction own = {.sa_handler = signals[i] == SIGXFSZ ? SIG_IGN : remove_it,
                                .sa_flags = (int)SA_RESETHAND};
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &own, NULL);
    }
}

static void leave_signals(void) {
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

bool beside_begin(struct beside *b, const char *path, mode_t mode) {
    const char *base = wc_base_name(path);
    int error;

    b->path = must_format("%.*s.%s.XXXXXX", (int)(base - path), path, base);
    b->fd = mkostemp(b->path, O_CLOEXEC);
    if (b->fd < 0) {
        error = errno;
        free(b->path);
        errno = error;
        return false;
    }
    watch_signals(b->path);
    if (fchmod(b->fd, mode) == 0)
        return true;
    beside_end(b, path, false);
    return false;
}

bool beside_write(struct beside *b, const void *bytes, size_t n) {
    const char *at = bytes;
    ssize_t done;

    for (; n > 0; at += done, n -= (size_t)done)
        if ((done = write(b->fd, at, n)) < 0)
            return false;
    return true;
}

bool beside_end(struct beside *b, const char *path, bool whole) {
    int error = errno;

    if (close(b->fd) != 0 && whole) {
        error = errno;
        whole = false;
    }
    if (whole && rename(b->path, path) != 0) {
        error = errno;
        whole = false;
    }
    if (!whole)
        unlink(b->path);
    leave_signals();
    free(b->path);
    errno = error;
    return whole;
}
