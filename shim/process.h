/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the process and the machine, for the first two records of a log.
 */
#pragma once

#include <link.h>

#include "core/records/process.h"

/* Was it started by `whichcudnn run`? A forked child with the same pid (pid namespaces) was not. */
bool process_is_eager(void);
/* Read again after a fork. Strings are static and stay until the next call. */
void process_describe(struct wc_process *out);
void process_emit_machine(const struct wc_sink *to);

/* site-packages of the virtual environment of a Python process; NULL: none, or not a Python. */
const char *process_site(void);

/* A logged variable whose value was changed since the start: "NAME=value", or "NAME": it is unset.
 * Valid until the next call. NULL: it is unchanged, or unknown. */
const char *process_later_variable(const char *name);
/* The same of CUDA_VISIBLE_DEVICES, as it was at the last note: when libcuda was looked for, which
 * CUDA does when it reads it. At the end a sandbox may allow no more system calls. */
void process_note_visible_devices(void);
const char *process_visible_devices(void);

/* "2.36"; NULL: not known. */
const char *process_glibc(void);

/* Remembers libc.so.6, for its newest symbol version, and our own path. Called for each start-up
 * object; libc is never unloaded. */
void process_note_object(const struct dl_phdr_info *info);
