/*
 * What the first two records of a log print of a process and its computer, read out of texts that
 * the kernel and the system give. Pure; for the shim in its own process, for the command in
 * others.
 */
#ifndef WHICHCUDNN_PROCESS_FACTS_H
#define WHICHCUDNN_PROCESS_FACTS_H

#include "core/base/files.h"
#include "core/elf/elf_image.h"
#include "whichcudnn/record.h"

/* "NAME=value": is it one of core/model/logged_variables.def? */
bool wc_variable_is_logged(const char *variable);

/* Of a command line as /proc/PID/cmdline has it (each argument ends with a NUL; text[size] is
 * one, too): program and script or module, since what follows may be private. whole: all of it.
 * Puts pointers into text into out, and returns how many. */
size_t wc_arguments_kept(const char *text, size_t size, bool whole, const char **out, size_t most);

/* Field 22 of /proc/PID/stat; WC_NULL: it is not there. */
int64_t wc_start_ticks(const char *stat);

/* "2.36": the newest release that libc.so.6 defines a symbol version for. NULL: not known. */
const char *wc_glibc_release(const struct wc_elf_image *libc, char out[16]);
/* 36 of "2.36"; 0: not known. */
unsigned wc_glibc_minor(const char *release);

struct wc_machine_texts {
    char operating_system[128], driver[48], read[4096];
};
/* Sets the operating system, container, driver and number of GPUs; the texts live in t. */
void wc_machine_read(const struct wc_files *files, struct wc_machine_texts *t,
                     struct wc_machine_record *out);

#endif
