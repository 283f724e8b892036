/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a scan: for tools/observe/scan/ only.
 */
#pragma once

#include "scan.h"

#define SCAN_NOTES_MOST 1000 /* a damaged disk has more, and they are not read */

#define KEEP(s, ...) wc_arena_format(&(s)->library_cache.memory.arena, __VA_ARGS__)

void scan_host_add(struct scan *s, struct library *b, const char *path, bool is_program);
bool scan_is_site(const char *environment);
/* Where those lie that may need a file: with what its path begins, and '/' or '.' after it. */
char *scan_package(const char *path, const char *environment);

/* Why no loader takes a file. The caller frees. */
char *scan_why_not(const struct scan *s, const char *path, const char *otherwise);
static inline void scan_note_passed(struct scan *s, const char *path, const char *why) {
    if (s->notes.n < SCAN_NOTES_MOST)
        *MUST_ADD(s->notes.p, s->notes.n) =
            (struct scan_note){KEEP(s, "%s", path), KEEP(s, "%s", why)};
}
void scan_read_lock_files(struct scan *s, const char *site);
/* Of hosts that are in order. */
void scan_make_processes(struct scan *s);
