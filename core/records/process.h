/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first two records of a log, the process and its machine, from texts of the kernel and from
 * system files. The shim describes its own process, the command others.
 */
#pragma once

#include "core/base/files.h"
#include "core/elf/elf_image.h"
#include "whichcudnn/record.h"

/* "NAME=value": is it one of core/records/logged_variables.def? */
bool wc_variable_is_logged(const char *variable);

struct wc_process {
    struct wc_process_record r; /* but its arguments and environment, of which it keeps some */
    const char *arguments;      /* as /proc/PID/cmdline has them, with a NUL behind */
    size_t arguments_size;
    bool all_arguments;             /* the log keeps all of them (WHICHCUDNN_ARGV=1) */
    const char *const *environment; /* NAME=value, NULL at the end; the listed ones are logged */
};
void wc_emit_process(const struct wc_sink *to, const struct wc_process *p);
/* What the log keeps of the arguments: the program, and the script or module that it runs. Options,
 * their values, code, and arguments of the script may be private. Puts at most `most` texts into
 * out, which point into the arguments or are constants. Returns how many. */
size_t wc_arguments_keep(const struct wc_process *from, const char **out, size_t most);

/* The n-th field of /proc/PID/stat, from 3 on; "": it does not exist. */
const char *wc_stat_field(const char *stat, int n);
/* Field 22; WC_NULL: it does not exist. */
int64_t wc_start_ticks(const char *stat);
/* Of field 9: was it made by fork, without exec? */
bool wc_is_forked(const char *stat);

/* "2.36": the newest release that libc.so.6 defines a symbol version for. NULL: not known. */
const char *wc_glibc_release(const struct wc_elf_image *libc, char out[16]);
/* 36 of "2.36"; 0: not known. */
unsigned wc_glibc_minor(const char *release);

struct wc_machine {
    struct wc_machine_record r; /* kernel, architecture and glibc are set by others */
    char operating_system[128], driver[48], read[4096]; /* room */
};
/* Sets the operating system, container, driver and number of GPUs. */
void wc_machine_read(const struct wc_files *files, struct wc_machine *m);
void wc_emit_machine(const struct wc_sink *to, const struct wc_files *files, struct wc_machine *m);
