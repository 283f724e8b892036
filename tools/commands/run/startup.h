/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ended in the loader, before anything of it ran: the command, or what its script started, as
 * their files explain it (loader_sim.h).
 */
#pragma once

#include "run_end.h"

/* A source like a log, which is written where the place was named, with the outcome in it. logged:
 * others of the command left logs. NULL: cuDNN has no part in it; then *reason (the caller frees)
 * says which library is missing, if one is. The caller frees with source_free. */
struct source *startup_source(struct run *run, struct wc_record *outcome, bool logged,
                              char **reason);
/* The loader preloads nothing for a program with these rights, and removes LD_LIBRARY_PATH out of
 * its environment: which library it then did not find. NULL: that is not why it ended. */
char *startup_missing(const struct wc_outcome_record *o, const char *program);
