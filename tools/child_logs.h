/*
 * The logs that a child of `run`, and what it started, has left.
 */
#ifndef WHICHCUDNN_TOOLS_CHILD_LOGS_H
#define WHICHCUDNN_TOOLS_CHILD_LOGS_H

#include <sys/types.h>

#include "log_reader.h"
#include "preload.h"

struct child_logs {
    struct logs all; /* files read */
    struct log_process **found;
    size_t n;                /* those that belong to the child, oldest first */
    struct log_process *own; /* the child itself (its last program); NULL: it left none */
};

/* start: microseconds since the epoch, older logs are of others. */
void child_logs_find(struct child_logs *c, const struct log_place *place, pid_t child,
                     int64_t start);
void child_logs_end(struct child_logs *c);

#endif
