/*
 * Is the shim in a process that runs?
 */
#ifndef WHICHCUDNN_TOOLS_PRELOADED_H
#define WHICHCUDNN_TOOLS_PRELOADED_H

#include <stdbool.h>
#include <sys/types.h>

/* True: neither its environment has the shim (a path) any more nor its memory. False also where
 * that cannot be seen. */
bool preload_is_gone(pid_t pid, const char *shim);

#endif
