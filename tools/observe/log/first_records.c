/* SPDX-License-Identifier: Apache-2.0 */
#include "first_records.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/records/process.h"
#include "tools/util/memory.h"
#include "tools/util/program.h"

static bool is_own(const struct first_records *f) {
    return !f->disk || !f->disk->root[0];
}

void first_records_emit(const struct first_records *f, const struct wc_sink *to) {
    const struct wc_files *files = f->disk ? &f->disk->files : &disk_files;
    char *directory = is_own(f) ? getcwd(NULL, 0) : NULL;
    struct wc_machine *machine = must_allocate(sizeof(*machine));
    struct utsname computer;

    if (uname(&computer) == 0) {
        wc_emit_process(
            to, &(struct wc_process){.node = is_own(f) ? computer.nodename : NULL,
                                     .start_ticks = WC_NULL,
                                     .parent_pid = f->run_pid == WC_NULL ? WC_NULL : getpid(),
                                     .executable = f->program,
                                     .directory = directory,
                                     .environment = (const char *const *)f->environment,
                                     .shim_version = WHICHCUDNN_VERSION,
                                     .run_pid = f->run_pid});
        machine->kernel = is_own(f) ? computer.release : NULL;
        machine->architecture = computer.machine;
        machine->glibc = f->glibc;
        wc_emit_machine(to, files, machine);
    }
    free(machine);
    free(directory);
}
