/* SPDX-License-Identifier: Apache-2.0 */
#include "driver_fault.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/findings/finding.h"
#include "tools/util/memory.h"

static bool has_driver(void) {
    return access("/proc/driver/nvidia/version", F_OK) == 0;
}

/* What libcuda opens first. */
static char *fault_of_devices(void) {
    static const char *const devices[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};

    WC_EACH_ROW(device, devices)
        if (access(*device, R_OK | W_OK) != 0 &&
            (errno == ENOENT || errno == EACCES || errno == EPERM))
            return must_format("%s %s", *device,
                               errno == ENOENT ? "is not there" : "may not be opened");
    return NULL;
}

/* The kernel keeps 15 bytes of a name. */
static bool is_fabric_manager(const char *pid) {
    char name[16] = "";
    OWNED char *path = must_format("/proc/%s/comm", pid);
    FILE *from = fopen(path, "re");

    if (!from)
        return false;
    if (!fgets(name, sizeof(name), from))
        name[0] = '\0';
    fclose(from);
    return strcmp(name, "nv-fabricmanage") == 0;
}

/* In a container its process is not seen; what it keeps in /run may be mounted there. */
static bool has_fabric_manager(void) {
    bool runs = access("/var/run/nvidia-fabricmanager/nv-fabricmanager.pid", F_OK) == 0 ||
                access("/var/run/nvidia-fabricmanager/socket", F_OK) == 0;
    OWNED_DIR DIR *d = runs ? NULL : opendir("/proc");
    struct dirent *e;

    while (!runs && d && (e = readdir(d)))
        runs = isdigit((unsigned char)e->d_name[0]) && is_fabric_manager(e->d_name);
    return runs;
}

/* GPUs behind NVSwitches are not ready (cuInit: 802) before it has set these up. */
static char *fault_of_switches(void) {
    static const char device[] = "/dev/nvidia-nvswitch0";

    if (access(device, F_OK) != 0 || has_fabric_manager())
        return NULL;
    return must_format("no fabric manager is seen to run for %s", device);
}

char *driver_fault(void) {
    char *fault;

    if (!has_driver())
        return NULL;
    fault = fault_of_devices();
    return fault ? fault : fault_of_switches();
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
