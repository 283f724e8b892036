/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files after a process's last request, from which it did not come back: mapping a library
 * that is cut short ends the process inside the loader, which has no words for it, and what the
 * asked one needs is known only to the loader.
 */
#pragma once

#include "core/records/library.h"
#include "tools/observe/log/source.h"

#define LOADER_STATUS                                                                              \
    127 /* with which glibc's loader ends a program that it cannot start, or bind */

/* What the loader would have met that is damaged, as records: a failure and the file each. The log
 * has what it asked for; files are looked at as they are now. binding: the status was the loader's;
 * where nothing is damaged, it may have ended at a function that is in no library. False: nothing.
 */
bool last_request_emit(const struct source *log, bool binding, const struct wc_sink *to);
/* Why requests of a process failed that did not ask the loader why, and what was refused so that
 * requires cuDNN: as records for a process that came to a failure. */
void failed_requests_tell(const struct source *log, const struct wc_sink *to);
/* Would what was requested without success, or what that needs, use cuDNN? The words of the loader
 * may name neither: libspeech.so, for another libstdc++. */
bool failed_requests_want_cudnn(const struct source *log);
