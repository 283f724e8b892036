/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "beside.h"
#include "tools/util/program.h"

static bool write_and_close(FILE *to, const char *text) {
    bool good = to && fputs(text, to) >= 0;

    if (to)
        good = fclose(to) == 0 && good;
    return good;
}

/* The mode that a file has, or that a new one gets. */
static mode_t mode_of(const struct stat *old) {
    mode_t mask = umask(0);

    umask(mask);
    return old ? old->st_mode & 0777 : 0666 & ~mask;
}

static bool replace(const char *path, const struct stat *old, const char *text) {
    struct beside b;

    return beside_begin(&b, path, mode_of(old)) &&
           beside_end(&b, path, beside_write(&b, text, strlen(text)));
}

/* Nothing can be put beside it or in its place: the directory is not ours, or it is mounted alone.
 */
static bool stays_where_it_is(int error) {
    return error == EACCES || error == EPERM || error == EROFS || error == EBUSY;
}

bool print_into(const char *path, const char *text) {
    struct stat old;
    bool is_there = path && lstat(path, &old) == 0, good;

    if (!path)
        good = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    else if (is_there && !S_ISREG(old.st_mode)) /* a pipe, a device, a link to somewhere */
        good = write_and_close(fopen(path, "we"), text);
    else
        good = replace(path, is_there ? &old : NULL, text) ||
               (is_there && stays_where_it_is(errno) && write_and_close(fopen(path, "we"), text));
    if (!good)
        complain("%s: %s", path ? path : "standard output", strerror(errno));
    return good;
}
