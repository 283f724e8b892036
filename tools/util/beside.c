/* SPDX-License-Identifier: Apache-2.0 */
#include "beside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk.h"
#include "memory.h"
#include "program.h"

static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
static struct sigaction before[SIGNALS];
static const char *volatile unfinished;

/* Comes once, and then the signal does what it did before. */
static void remove_it(int number) {
    unlink(unfinished);
    raise(number);
}

/* The characters that mkostemp makes. */
#define RANDOM "[[:alnum:]][[:alnum:]][[:alnum:]][[:alnum:]][[:alnum:]][[:alnum:]]"
#define LEFTOVER 600 /* seconds: its writer is gone */

/* What a program left for the same file that was killed. The clock is the file system's. */
static void remove_leftovers(const struct beside *b) {
    OWNED char *same = must_format("%.*s", (int)(strrchr(b->path, '.') - b->path) + 1, b->path);
    OWNED_GLOB glob_t all = glob_below("", same, RANDOM, GLOB_NOSORT);
    struct stat ours, one;

    for (size_t i = 0; i < all.gl_pathc && fstat(b->fd, &ours) == 0; i++)
        if (lstat(all.gl_pathv[i], &one) == 0 && S_ISREG(one.st_mode) &&
            one.st_uid == ours.st_uid && one.st_nlink == 1 &&
            one.st_mtime + LEFTOVER < ours.st_mtime)
            unlink(all.gl_pathv[i]);
}

bool beside_begin(struct beside *b, const char *path, mode_t mode) {
    const char *base = wc_base_name(path);

    b->path = must_format("%.*s.%s.XXXXXX", (int)(base - path), path, base); /* RANDOM */
    b->fd = mkostemp(b->path, O_CLOEXEC);
    if (b->fd < 0) {
        int error = errno;
        free(b->path);
        errno = error;
        return false;
    }
    unfinished = b->path;
    for (size_t i = 0; i < SIGNALS; i++) { /* what was ignored stays so */
        struct sigaction own = {.sa_handler = signals[i] == SIGXFSZ ? SIG_IGN : remove_it,
                                .sa_flags = (int)SA_RESETHAND};
        if (sigaction(signals[i], NULL, &before[i]) == 0 && before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &own, NULL);
    }
    remove_leftovers(b);
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
    const bool is_closed = close(b->fd) == 0;

    if (whole && !(is_closed && rename(b->path, path) == 0)) {
        error = errno;
        whole = false;
    }
    if (!whole)
        unlink(b->path);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    free(b->path);
    errno = error;
    return whole;
}

/* ---- where --output leads ---- */

static bool write_and_close(FILE *to, const char *text) {
    const bool good = to && fputs(text, to) >= 0;

    return to && fclose(to) == 0 && good;
}

bool print_into(const char *path, const char *text) {
    struct stat old;
    bool is_there = path && lstat(path, &old) == 0, good;
    const mode_t mask = umask(0);
    struct beside b;

    umask(mask);
    if (!path)
        good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    else if (is_there && !S_ISREG(old.st_mode)) /* a pipe, a device, a link to somewhere */
        good = write_and_close(fopen(path, "we"), text);
    else
        good =
            (beside_begin(&b, path, is_there ? old.st_mode & 0777 : 0666 & ~mask) &&
             beside_end(&b, path, beside_write(&b, text, strlen(text)))) ||
            /* Nothing can be put next to it or in its place: the directory is not ours, or it
             * is a mount of its own. */
            (is_there && (errno == EACCES || errno == EPERM || errno == EROFS || errno == EBUSY) &&
             write_and_close(fopen(path, "we"), text));
    if (!good)
        complain("%s: %s", path ? path : "standard output", strerror(errno));
    return good;
}
