/* SPDX-License-Identifier: Apache-2.0 */
/* What glibc 2.17 has not as functions of their own, for the portable command alone: by system
 * call. On both processors the kernel's struct stat is glibc's. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_newfstatat
#define STAT_AT SYS_newfstatat
#else
#define STAT_AT SYS_fstatat
#endif

int fstatat(int directory, const char *restrict path, struct stat *restrict facts, int flags) {
    return (int)syscall(STAT_AT, directory, path, facts, flags);
}

int stat(const char *restrict path, struct stat *restrict facts) {
    return fstatat(AT_FDCWD, path, facts, 0);
}

int lstat(const char *restrict path, struct stat *restrict facts) {
    return fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *facts) {
    return (int)syscall(SYS_fstat, fd, facts);
}

int memfd_create(const char *name, unsigned flags) {
    return (int)syscall(SYS_memfd_create, name, flags);
}
