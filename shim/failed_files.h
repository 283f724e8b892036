/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that may explain why a request failed. Each file that was not loaded is examined on disk,
 * and gets one record. The shim's lock is held in all functions.
 */
#pragma once

#include "core/search/replay.h"
#include "objects.h"
#include "requests.h"

/* Before the loader opens the requested library: is the file truncated? Mapping it may kill the
 * process before the loader can report an error. */
void failed_files_ahead(const struct request *r);
/* Before cuDNN opens a part: was the file of the loaded object `o` replaced by another one? */
void failed_files_replaced(const struct request *r, const struct object *o);
/* After a failure: the file that the loader's message names (text; NULL: the host did not call
 * dlerror), or the file at the requested path and those next to it. */
void failed_files_after_failure(const struct request *r, const char *text);
/* The files at the places where a replay (may be NULL) looked for the request's name. */
void failed_files_in_search(const struct request *r, struct wc_replay *replay);
/* The message that the loader would give for a failed request whose host did not call dlerror: the
 * file, or a part that it needs, requires a symbol version, a symbol of cuDNN's, or a library other
 * than cuDNN's, that is missing. NULL: it does not. Valid until the next call. */
const char *failed_files_words(const struct request *r);
