/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in question: not loaded, and the reason may lie in what they are. Each is looked at where
 * it lies and told once. The shim's lock is held in all functions.
 */
#pragma once

#include "core/search/replay.h"
#include "objects.h"
#include "requests.h"

/* Before the loader opens it: is the library that the name leads to cut short? Mapping it may end
 * the process, and then nobody has words for it. */
void failed_files_ahead(const struct request *r);
/* Before cuDNN opens more of itself: is what lies where `o` was loaded from another file by now? */
void failed_files_replaced(const struct request *r, const struct object *o);
/* The file that the loader's words name (text, NULL: nobody asked for them), or that stands where
 * the request's own path leads, or beside that. */
void failed_files_after_failure(const struct request *r, const char *text);
/* What stands where a replay (NULL: there was none) looked for the request's name. */
void failed_files_in_search(const struct request *r, const struct wc_replay *replay);
/* A request that failed, and nobody asked for the loader's words. These, where the file that it
 * leads to wants a symbol version, or a library outside of cuDNN, that is not there; valid until
 * the next call. NULL: it does not. */
const char *failed_files_words(const struct request *r);
