/* SPDX-License-Identifier: Apache-2.0 */
#include "copy_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/diagnose/command.h"
#include "tools/util/memory.h"

#define FILES_OPEN 32
#define PIECE ((size_t)1 << 30)

/* nftw hands nothing on. */
static struct {
    size_t from;
    const char *to;
    char *failed;
    bool links;
} now;

static bool copy_bytes(int from, int to) {
    ssize_t n = 0;

    if (ioctl(to, FICLONE, from) != 0)
        while ((n = sendfile(to, from, NULL, PIECE)) > 0 || (n < 0 && errno == EINTR))
            ;
    return n == 0;
}

static bool copy_file(const char *from, const char *to, const struct stat *facts) {
    const struct timespec times[] = {facts->st_atim, facts->st_mtim};
    OWNED_FD int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;

    if (in < 0)
        return false;
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return out >= 0 && copy_bytes(in, out) && fchmod(out, facts->st_mode & 07777) == 0 &&
           futimens(out, times) == 0;
}

static bool copy_link(const char *from, const char *to) {
    char target[PATH_MAX];
    ssize_t n = readlink(from, target, sizeof(target) - 1);

    if (n < 0)
        return false;
    target[n] = '\0';
    return symlink(target, to) == 0;
}

/* Pipes, sockets and devices are of a process, and no part of what a package brings. */
static int copy_one(const char *path, const struct stat *facts, int what, struct FTW *at) {
    OWNED char *to = must_format("%s%s", now.to, path + now.from);
    bool good = true;

    if (now.links && strcmp(path + at->base, COMMAND_UNDO) == 0)
        return FTW_SKIP_SUBTREE;
    if (what == FTW_D)
        good = mkdir(to, (facts->st_mode & 07777) | S_IRWXU) == 0 || (now.links && errno == EEXIST);
    /* A project's files are written in place; else a file system may have no hard links, or none of
     * what others own. */
    else if (now.links && at->level > 0 && (link(path, to) == 0 || errno == EEXIST))
        good = true;
    else if (what == FTW_SL || what == FTW_SLN)
        good = copy_link(path, to);
    else if (what == FTW_F && S_ISREG(facts->st_mode))
        good = copy_file(path, to, facts);
    else if (what == FTW_DNR || what == FTW_NS)
        good = (errno = EACCES, false);
    if (!good)
        now.failed = must_copy(path);
    return good ? 0 : -1;
}

bool copy_tree(const char *from, const char *to, bool by_links, char **at) {
    int error, answer;

    now.from = strlen(from);
    now.to = to;
    now.failed = NULL;
    now.links = by_links;
    answer = nftw(from, copy_one, FILES_OPEN, FTW_PHYS | FTW_ACTIONRETVAL);
    error = errno;
    *at = now.failed ? now.failed : answer ? must_copy(from) : NULL;
    errno = error;
    return answer == 0;
}
