/* SPDX-License-Identifier: Apache-2.0 */
#include "gpus.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "tools/commands/child.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"

#define PATIENCE 5   /* seconds */
#define NAME_MOST 64 /* bytes */

bool look_up_function(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

/* What NVML may have to print itself goes nowhere. */
static int ask(void *unused) {
    /* NVML's functions by the names of their stable versions; 0 is success everywhere. */
    int (*init)(void), (*count)(unsigned *), (*get)(unsigned, void **);
    int (*get_name)(void *, char *, unsigned), (*get_capability)(void *, int *, int *);
    const struct {
        const char *name;
        void *function;
    } functions[] = {{"nvmlInit_v2", &init},
                     {"nvmlDeviceGetCount_v2", &count},
                     {"nvmlDeviceGetHandleByIndex_v2", &get},
                     {"nvmlDeviceGetName", &get_name},
                     {"nvmlDeviceGetCudaComputeCapability", &get_capability}};
    const int answer = dup(1);
    unsigned n = 0;
    void *library, *device;
    int major, minor;

    (void)unused;
    dup2(0, 1);
    dup2(0, 2);
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    WC_EACH_ROW(row, functions)
        if (!library || !look_up_function(library, row->name, row->function))
            return 1;
    if (init() != 0 || count(&n) != 0)
        return 1;
    for (unsigned i = 0; i < n && i < GPUS_MOST; i++) {
        char name[NAME_MOST] = "";
        if (get(i, &device) != 0 || get_capability(device, &major, &minor) != 0 ||
            get_name(device, name, sizeof(name)) != 0)
            continue;
        name[sizeof(name) - 1] = '\0';
        name[strcspn(name, "\n")] = '\0';
        dprintf(answer, "%s, %d.%d\n", name, major, minor);
    }
    return 0;
}

/* Whole lines only: a program cut off in one has not printed it. */
void gpus_ask(struct gpus *out) {
    ENDED_BY(trial_end) struct trial trial = {.instead = ask, .patience = PATIENCE};
    char *line, *end;

    out->n = 0;
    if (!trial_run(&trial))
        return;
    snprintf(out->text, sizeof(out->text), "%s", trial.output);
    for (line = out->text; out->n < GPUS_MOST && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        out->name[out->n++] = line;
    }
}

/* ---- why the driver may reach none ---- */

static bool has_driver(void) {
    return access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* In a container its process is not seen; what it keeps in /run may be mounted there. */
static bool has_fabric_manager(void) {
    bool runs = access("/var/run/nvidia-fabricmanager/nv-fabricmanager.pid", F_OK) == 0 ||
                access("/var/run/nvidia-fabricmanager/socket", F_OK) == 0;
    OWNED_GLOB glob_t names = glob_below("/proc/", "", "[0-9]*/comm", GLOB_NOSORT);

    for (size_t i = 0; i < names.gl_pathc && !runs; i++) {
        OWNED char *name = disk_text(names.gl_pathv[i], 15, NULL); /* all that the kernel keeps */
        runs = name && strcmp(name, "nv-fabricmanage") == 0;
    }
    return runs;
}

char *driver_fault(void) {
    /* What libcuda opens first. */
    static const char *const devices[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    static const char switches[] = "/dev/nvidia-nvswitch0";

    if (!has_driver())
        return NULL;
    WC_EACH_ROW(device, devices)
        if (access(*device, R_OK | W_OK) != 0 &&
            (errno == ENOENT || errno == EACCES || errno == EPERM))
            return must_format("%s %s", *device,
                               errno == ENOENT ? "does not exist" : "may not be opened");
    /* GPUs behind NVSwitches are not ready (cuInit: 802) before it has set these up. */
    if (access(switches, F_OK) == 0 && !has_fabric_manager())
        return must_format("no fabric manager is seen to run for %s", switches);
    return NULL;
}

/* Where no variable names it, a directory without a pipe was left by a daemon that has ended, and
 * libcuda does without. */
char *driver_fault_of_mps(const struct wc_stack *s) {
    const char *directory = wc_variable(s, "CUDA_MPS_PIPE_DIRECTORY");
    bool named = directory && *directory;
    OWNED char *pipe = must_format("%s/control", named ? directory : "/tmp/nvidia-mps");

    if (!has_driver() || access(pipe, R_OK | W_OK) == 0)
        return NULL;
    if (errno == EACCES || errno == EPERM)
        return must_format("%s of the MPS daemon may not be opened", pipe);
    return named && (errno == ENOENT || errno == ENOTDIR)
               ? must_format("no MPS daemon has its pipe %s, where CUDA_MPS_PIPE_DIRECTORY leads",
                             pipe)
               : NULL;
}
