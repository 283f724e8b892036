/* SPDX-License-Identifier: Apache-2.0 */
#include "gpus.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/util/clock.h"

#define PATIENCE (5 * CLOCK_SECOND)
#define NAME_MOST 64 /* bytes */

/* ---- the process that asks ---- */

/* NVML's functions by the names of their stable versions; 0 is success everywhere. */
struct nvml {
    int (*init)(void);
    int (*count)(unsigned *);
    int (*device)(unsigned, void **);
    int (*name)(void *, char *, unsigned);
    int (*capability)(void *, int *, int *);
};

bool look_up_function(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static bool load(struct nvml *n) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

    return library && look_up_function(library, "nvmlInit_v2", &n->init) &&
           look_up_function(library, "nvmlDeviceGetCount_v2", &n->count) &&
           look_up_function(library, "nvmlDeviceGetHandleByIndex_v2", &n->device) &&
           look_up_function(library, "nvmlDeviceGetName", &n->name) &&
           look_up_function(library, "nvmlDeviceGetCudaComputeCapability", &n->capability);
}

static void report_device(const struct nvml *n, unsigned i, int to) {
    char name[NAME_MOST] = "", line[NAME_MOST + 16];
    void *device;
    int major, minor, length;

    if (n->device(i, &device) != 0 || n->capability(device, &major, &minor) != 0 ||
        n->name(device, name, sizeof(name)) != 0)
        return;
    name[sizeof(name) - 1] = '\0';
    name[strcspn(name, "\n")] = '\0';
    length = snprintf(line, sizeof(line), "%s, %d.%d\n", name, major, minor);
    if (length > 0 && (size_t)length < sizeof(line) && write(to, line, (size_t)length) != length)
        _exit(1);
}

/* What NVML may have to print itself goes nowhere. */
static void be_silent(void) {
    int nowhere = open("/dev/null", O_RDWR);

    for (int fd = 0; nowhere >= 0 && fd < 3; fd++)
        dup2(nowhere, fd);
}

_Noreturn static void ask(int to) {
    struct nvml n;
    unsigned count = 0;

    be_silent();
    if (load(&n) && n.init() == 0 && n.count(&count) == 0)
        for (unsigned i = 0; i < count && i < GPUS_MOST; i++)
            report_device(&n, i, to);
    _exit(0);
}

/* ---- the one that waits ---- */

/* False: nothing more within that time. */
static bool may_read(int from, int64_t deadline) {
    struct pollfd p = {.fd = from, .events = POLLIN};
    int64_t left;
    int ready;

    do {
        left = deadline - clock_now(CLOCK_MONOTONIC);
        ready = left > 0 ? poll(&p, 1, (int)(left / 1000) + 1) : 0;
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

static size_t read_all(int from, char *to, size_t cap) {
    int64_t deadline = clock_now(CLOCK_MONOTONIC) + PATIENCE;
    size_t n = 0;
    ssize_t got = 1;

    while (n < cap && got > 0 && may_read(from, deadline)) {
        got = read(from, to + n, cap - n);
        n += got > 0 ? (size_t)got : 0;
    }
    return n;
}

/* Whole lines only: who was cut off in one has not printed it. */
static void split(struct gpus *g, size_t n) {
    char *line = g->text, *end;

    g->text[n] = '\0';
    while (g->n < GPUS_MOST && (end = strchr(line, '\n'))) {
        *end = '\0';
        g->name[g->n++] = line;
        line = end + 1;
    }
}

void gpus_ask(struct gpus *out) {
    int ends[2];
    pid_t child;

    out->n = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    child = fork();
    if (child == 0)
        ask(ends[1]);
    close(ends[1]);
    if (child > 0) {
        split(out, read_all(ends[0], out->text, sizeof(out->text) - 1));
        kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
}
