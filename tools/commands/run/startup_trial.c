/* SPDX-License-Identifier: Apache-2.0 */
#include "startup_trial.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Contiguous, of the size for which the loader first takes room; code where a segment is code. */
static int map_file(int fd) {
    uint64_t low = UINT64_MAX, high = 0;
    int protection = PROT_READ;
    Elf64_Ehdr h;
    Elf64_Phdr p;

    if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || h.e_phentsize != sizeof(p))
        return 0;
    for (size_t i = 0; i < h.e_phnum; i++) {
        if (pread(fd, &p, sizeof(p), (off_t)(h.e_phoff + i * sizeof(p))) != sizeof(p) ||
            p.p_type != PT_LOAD)
            continue;
        low = p.p_vaddr < low ? p.p_vaddr : low;
        high = p.p_vaddr + p.p_memsz > high ? p.p_vaddr + p.p_memsz : high;
        protection |= p.p_flags & PF_X ? PROT_EXEC : 0;
    }
    if (high <= low || mmap(NULL, high - low, protection, MAP_PRIVATE, fd, 0) != MAP_FAILED)
        return 0;
    return errno;
}

/* Others report what is not a library, or damaged. */
static int try_file(const char *path) {
    OWNED_FD int found = open(path, O_PATH | O_CLOEXEC), fd = -1;
    OWNED char *again = must_format("/proc/self/fd/%d", found);
    struct stat facts;

    if (found < 0)
        return errno == ENOENT ? 0 : errno;
    /* A pipe would hold us up, and a device may do something when it is opened. */
    if (fstat(found, &facts) != 0 || !S_ISREG(facts.st_mode))
        return 0;
    fd = open(again, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : errno;
    return map_file(fd);
}

struct trial_end startup_trial(const char *const *paths, size_t n) {
    struct trial_end end = {0, 0};
    struct rlimit limit;
    char line[64];
    int ends[2];
    pid_t child;

    if (n == 0 || pipe2(ends, O_CLOEXEC) != 0)
        return end;
    child = fork();
    if (child == 0) {
        OWNED_FILE FILE *sizes = fopen("/proc/self/statm", "re");
        /* The program was smaller than this command is: what this one has counts for nothing, as
         * far as its limits may be raised. */
        if (sizes && fgets(line, sizeof(line), sizes) && getrlimit(RLIMIT_AS, &limit) == 0 &&
            limit.rlim_cur != RLIM_INFINITY) {
            limit.rlim_cur += strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
            if (limit.rlim_cur > limit.rlim_max)
                limit.rlim_cur = limit.rlim_max;
            setrlimit(RLIMIT_AS, &limit);
        }
        owned_file_end(&sizes);
        sizes = NULL;
        for (size_t i = 0; i < n && !end.error; i++)
            end = (struct trial_end){i, try_file(paths[i])};
        _exit(write(ends[1], &end, sizeof(end)) == sizeof(end) ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &end, sizeof(end)) != sizeof(end))
        end = (struct trial_end){0, 0};
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return end;
}

void startup_trial_objects(struct loader_sim *s, size_t from, size_t n) {
    const char **paths = must_allocate((n + 1) * sizeof(*paths));
    struct trial_end end;

    for (size_t i = 0; i < n; i++)
        paths[i] = s->objects[from + i]->about.path;
    end = startup_trial(paths, n);
    if (end.error)
        loader_sim_refuse(s, from + end.number, end.error);
    free(paths);
}
