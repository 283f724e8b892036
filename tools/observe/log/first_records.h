/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first two records of what the command writes itself: the process as it would be started, or
 * was, and this machine.
 */
#pragma once

#include "tools/util/disk.h"
#include "whichcudnn/record.h"

struct first_records {
    const struct disk *disk;  /* NULL: this machine's */
    const char *program;      /* NULL: unknown */
    const char *glibc;        /* "2.36"; NULL: unknown */
    char *const *environment; /* as the process is given it */
    int64_t run_pid;          /* WC_NULL: it was not started by `run` */
};
void first_records_emit(const struct first_records *f, const struct wc_sink *to);
