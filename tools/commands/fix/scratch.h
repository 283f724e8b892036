/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for what is thrown away, which goes however this process ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct scratch {
    char *path; /* of this user alone; real, absolute */
    pid_t keeper;
    int alive; /* as long as it is open, the directory stays */
};

/* False: none can be made (errno). */
bool scratch_begin(struct scratch *s);
void scratch_end(struct scratch *s);
