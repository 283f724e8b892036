/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cuDNN imports of a host in another process are bound to, by the slots that the loader
 * filled there. The shim's wrappers are looked through.
 */
#pragma once

#include "process_library.h"

struct wrappers { /* all zero: the process has no shim */
    uint64_t *wrapper, *target;
    size_t n;
};
void wrappers_find(struct wrappers *w, const struct process *p,
                   const struct process_libraries *list);
void wrappers_end(struct wrappers *w);

/* As binding records. False: its memory cannot be read. */
bool bindings_emit(const struct process_library *host, const struct process *p,
                   const struct process_libraries *list, const struct wrappers *wrappers,
                   const struct wc_sink *to);
