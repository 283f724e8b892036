/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cuDNN of a few functions. Those that return a status count how their calls arrived: through a
 * wrapper of the preloaded library, or straight from the host (of the others' wrappers a compiler
 * may make jumps). With SLOW_RESOLVER cudnnCreate is an indirect function whose resolver takes
 * longer each time, so that threads which resolve one lazy slot at once finish one after the other.
 */
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uintptr_t shim_low, shim_high;
static atomic_ulong watched, direct;

static int find_shim(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    if (!strstr(info->dlpi_name, "libwhichcudnn"))
        return 0;
    shim_low = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            shim_high = shim_low + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    dl_iterate_phdr(find_shim, NULL);
}

static void count(const void *return_address) {
    uintptr_t at = (uintptr_t)return_address;
    atomic_fetch_add(at >= shim_low && at < shim_high ? &watched : &direct, 1);
}

void calls_arrived(unsigned long *through_wrapper, unsigned long *without);
void calls_arrived(unsigned long *through_wrapper, unsigned long *without) {
    *through_wrapper = watched;
    *without = direct;
}

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void) {
    return 90100;
}

size_t cudnnGetCudartVersion(void);
size_t cudnnGetCudartVersion(void) {
    return 12040;
}

int cudnnOpsVersionCheck(void);
int cudnnOpsVersionCheck(void) {
    count(__builtin_return_address(0));
    return 1;
}

int cudnnCnnVersionCheck(void);
int cudnnCnnVersionCheck(void) {
    count(__builtin_return_address(0));
    return 2;
}

/* READS_LOG names a directory: a first call that no log in it tells of ends the process. */
static void check_log(const char *call) {
    char text[1 << 16]; /* of each thread */
    const char *directory = getenv("READS_LOG");
    DIR *list = directory ? opendir(directory) : NULL;
    bool told = !list;
    for (struct dirent *entry; list && (entry = readdir(list));) {
        int fd = openat(dirfd(list), entry->d_name, O_RDONLY);
        ssize_t n = read(fd, text, sizeof text - 1);
        text[n > 0 ? n : 0] = 0;
        told = told || strstr(text, call);
        close(fd);
    }
    if (list)
        closedir(list);
    if (!told)
        _exit(77);
}

#ifdef SLOW_RESOLVER
static int create(void **handle) {
#else
int cudnnCreate(void **handle);
int cudnnCreate(void **handle) {
#endif
    static int it;
    check_log("\"function\":\"cudnnCreate\",\"phase\":\"before\"");
    count(__builtin_return_address(0));
    *handle = &it;
    return 0;
}

#ifdef SLOW_RESOLVER
static int (*choose(void))(void **) {
    static atomic_int times;
    usleep(40000 + 20000 * (useconds_t)atomic_fetch_add(&times, 1));
    return create;
}
int cudnnCreate(void **handle) __attribute__((ifunc("choose")));
#endif
