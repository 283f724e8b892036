/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that the shim makes, without libc: no library can interpose them, and errno is
 * the host's. Each returns what the kernel does: a result, or a negative errno number.
 * docs/limits.md lists them.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "arch.h"

#define SYS_PATH 4096 /* PATH_MAX */

/* MemorySanitizer does not see what the kernel reads and writes; the tests build the shim with it.
 */
#if defined __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define SYS_WROTE(p, n) __msan_unpoison(p, n)
#define SYS_READS(p, n) __msan_check_mem_is_initialized(p, n)
#endif
#endif
#ifndef SYS_WROTE
#define SYS_WROTE(p, n) ((void)(p), (void)(n))
#define SYS_READS(p, n) ((void)(p), (void)(n))
#endif
/* For calls that return how many bytes they wrote, and calls that wrote n bytes if they return 0.
 */
static inline long sys_wrote(void *p, long result) {
    if (result > 0)
        SYS_WROTE(p, (size_t)result);
    return result;
}
static inline int sys_filled(void *p, size_t n, long result) {
    if (result == 0 && p)
        SYS_WROTE(p, n);
    return (int)result;
}

/* A sandbox refused close: that descriptor stays open, and no other one is opened. */
extern __attribute__((visibility("hidden"))) bool sys_cannot_close;

/* Arguments that are left out are 0. */
#define SYS_SIX(n, a, b, c, d, e, f, ...)                                                          \
    arch_syscall(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define sys_call(...) SYS_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

struct sys_time {
    int64_t seconds, nanoseconds;
};

static inline int sys_open(const char *path, int flags, int mode) {
    if (sys_cannot_close)
        return -1;
    return (int)sys_call(__NR_openat, AT_FDCWD, path, flags, mode);
}
static inline void sys_close(int fd) {
    long result = sys_call(__NR_close, fd);
    if (result == -EPERM || result == -EACCES || result == -ENOSYS)
        sys_cannot_close = true;
}
static inline long sys_pread(int fd, void *to, size_t n, uint64_t offset) {
    return sys_wrote(to, sys_call(__NR_pread64, fd, to, n, offset));
}
static inline long sys_write(int fd, const void *from, size_t n) {
    SYS_READS(from, n);
    return sys_call(__NR_write, fd, from, n);
}
static inline int sys_fcntl(int fd, int command, long argument) {
    return (int)sys_call(__NR_fcntl, fd, command, argument);
}
static inline int sys_fstat(int fd, struct stat *out) {
    return sys_filled(out, sizeof *out, sys_call(__NR_fstat, fd, out));
}
static inline int sys_stat(const char *path, struct stat *out) {
    return sys_filled(out, sizeof *out, sys_call(__NR_newfstatat, AT_FDCWD, path, out));
}
static inline int sys_link_stat(const char *path, struct stat *out) {
    return sys_filled(out, sizeof *out,
                      sys_call(__NR_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW));
}
static inline int sys_make_directory(const char *path, int mode) {
    return (int)sys_call(__NR_mkdirat, AT_FDCWD, path, mode);
}
static inline int sys_unlink(const char *path) {
    return (int)sys_call(__NR_unlinkat, AT_FDCWD, path);
}
static inline long sys_readlink(const char *path, char *to, size_t n) {
    return sys_wrote(to, sys_call(__NR_readlinkat, AT_FDCWD, path, to, n));
}
static inline long sys_list(int fd, void *to, size_t n) {
    return sys_wrote(to, sys_call(__NR_getdents64, fd, to, n));
}
static inline long sys_getcwd(char *to, size_t n) {
    return sys_wrote(to, sys_call(__NR_getcwd, to, n));
}
/* At that address if it is free, else anywhere. */
static inline void *sys_map_at(uintptr_t address, size_t n, int protection, int flags) {
    long p = sys_call(__NR_mmap, address, n, protection, flags | MAP_PRIVATE | MAP_ANONYMOUS, -1);
    return p < 0 && p > -4096 ? NULL : (void *)p;
}
/* Address space that reads as zeros and uses no memory until it is made writable. */
static inline void *sys_reserve(size_t n) {
    return sys_map_at(0, n, PROT_READ, MAP_NORESERVE);
}
static inline int sys_advise(void *p, size_t n, int advice) {
    return (int)sys_call(__NR_madvise, p, n, advice);
}
static inline void sys_unmap(void *p, size_t n) {
    sys_call(__NR_munmap, p, n);
}
static inline int sys_protect(void *p, size_t n, int protection) {
    return (int)sys_call(__NR_mprotect, p, n, protection);
}
static inline int sys_getpid(void) {
    return (int)sys_call(__NR_getpid);
}
static inline int sys_gettid(void) {
    int tid = (int)sys_call(__NR_gettid);
    return tid > 0 ? tid : sys_getpid(); /* a sandbox may refuse gettid */
}
static inline int sys_getppid(void) {
    return (int)sys_call(__NR_getppid);
}
/* Does the process have other rights than the user that started it? */
static inline bool sys_has_other_rights(void) {
    return sys_call(__NR_getuid) != sys_call(__NR_geteuid) ||
           sys_call(__NR_getgid) != sys_call(__NR_getegid);
}
static inline int sys_uname(void *out, size_t size) {
    return sys_filled(out, size, sys_call(__NR_uname, out));
}
/* Asks the kernel to compare the word at p and then to wake and move 0 threads. It fails if the
 * word is not readable. */
static inline bool sys_is_readable(const void *p) {
    uintptr_t word = (uintptr_t)p & ~(uintptr_t)3;
    return sys_call(__NR_futex, word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, word) != -EFAULT;
}
/* Asks the kernel to add 0 to the word at p, which fails if it is not writable. */
static inline bool sys_is_writable(const void *p) {
    return sys_call(__NR_futex, p, FUTEX_WAKE_OP_PRIVATE, 0, 0, p, FUTEX_OP_ADD << 28) >= 0;
}
static inline void sys_sleep_microseconds(int64_t n) {
    const struct sys_time time = {0, n * 1000};
    sys_call(__NR_nanosleep, &time);
}

/* Asks valgrind's race detectors (helgrind, drd), which do not know the shim's lock, to ignore this
 * memory of the shim. An annotated lock would order the host's threads and hide races of the host.
 * Outside of valgrind it is a few instructions without effect. */
static inline void sys_leave_unchecked(const void *p, size_t n) {
    const uintptr_t request[6] = {0x48470127 /* VALGRIND_HG_DISABLE_CHECKING */, (uintptr_t)p, n};
    arch_ask_valgrind(request);
}

/* Waits a little for another thread, the i-th time. A caller gives up after SYS_WAITS times, which
 * are two seconds in all. */
#define SYS_WAITS 40200
static inline void sys_wait(long i) {
    if (i < 200)
        arch_relax();
    else
        sys_sleep_microseconds(50);
}
/* Signal sets are the kernel's: one bit a signal, bit 0 is signal 1. */
#define SIGNAL_BIT(signal) ((uint64_t)1 << ((signal)-1))
static inline int sys_signal_mask(int how, const uint64_t *set, uint64_t *old) {
    return sys_filled(old, sizeof *old, sys_call(__NR_rt_sigprocmask, how, set, old, 8));
}
static inline int sys_signal_pending(uint64_t *out) {
    return sys_filled(out, sizeof *out, sys_call(__NR_rt_sigpending, out, 8));
}
/* Takes one pending signal of the set, without waiting. */
static inline int sys_signal_take(const uint64_t *set) {
    const struct sys_time none = {0, 0};
    return (int)sys_call(__NR_rt_sigtimedwait, set, 0, &none, 8);
}
