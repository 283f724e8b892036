/* SPDX-License-Identifier: Apache-2.0 */
#include "below.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"

#define OPENAT2 437 /* younger than the C library's headers may be; alike everywhere */
#define IN_ROOT 0x10

static int open2(int at, const char *path, int flags, uint64_t resolve) {
    const struct { uint64_t flags, mode, resolve; } how = {(uint64_t)flags | O_CLOEXEC, 0, resolve};

    return (int)syscall(OPENAT2, at, path, &how, sizeof(how));
}

void below_begin(struct below *b, const char *root) {
    b->cut = strlen(root);
    b->fd = root[0] ? open2(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0) : -1;
}

void below_end(struct below *b) {
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
}

int below_open(const struct below *b, const char *path, int flags) {
    if (!b || b->fd < 0)
        return open(path, flags | O_CLOEXEC);
    return open2(b->fd, path[b->cut] ? path + b->cut : ".", flags, IN_ROOT);
}

DIR *below_list(const struct below *b, const char *path) {
    int fd = below_open(b, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !d)
        close(fd);
    return d;
}

size_t below_read(int fd, uint64_t offset, void *to, size_t n) {
    size_t done = 0;
    ssize_t got;

    while (done < n) {
        got = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

bool below_lstat(const struct below *b, const char *path, struct stat *facts) {
    OWNED_FD int fd = b->fd < 0 ? -1 : below_open(b, path, O_PATH | O_NOFOLLOW);

    return b->fd < 0 ? lstat(path, facts) == 0 : fd >= 0 && fstat(fd, facts) == 0;
}

ssize_t below_readlink(const struct below *b, const char *path, char *to, size_t cap) {
    OWNED_FD int fd = b->fd < 0 ? -1 : below_open(b, path, O_PATH | O_NOFOLLOW);

    return b->fd < 0 ? readlink(path, to, cap) : fd < 0 ? -1 : readlinkat(fd, "", to, cap);
}

glob_t glob_below(const char *root, const char *directory, const char *pattern, int flags) {
    OWNED char *fixed = must_format("%s%s", root, directory);
    OWNED char *whole = must_allocate(2 * strlen(fixed) + strlen(pattern) + 1);
    glob_t found = {.gl_pathc = 0};
    char *to = whole;

    for (const char *p = fixed; *p; p++) {
        if (strchr("*?[]{},\\~", *p))
            *to++ = '\\';
        *to++ = *p;
    }
    stpcpy(to, pattern);
    glob(whole, flags, NULL, &found);
    return found;
}
