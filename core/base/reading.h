/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads text files, which may be damaged or hostile, through struct wc_files, in scratch memory of
 * the caller. For core/ only.
 */
#pragma once

#include "files.h"

#define WC_NOWHERE UINT64_MAX
#define WC_READING_MOST (16 << 20) /* no metadata is that long */

struct wc_reading {
    const struct wc_files *files;
    struct wc_buffer_arena memory; /* names and paths; set `used` back to free them */
    char *window;                  /* a piece of a file */
    size_t window_size;
};

/* Half of scratch is for names, half for the window. */
void wc_reading_begin(struct wc_reading *r, const struct wc_files *files, void *scratch,
                      size_t size);
/* As wc_arena_format and wc_arena_string_n, in r's memory. */
#define wc_reading_format(r, ...) wc_arena_format(&(r)->memory.arena, __VA_ARGS__)
#define wc_reading_copy(r, s, n) wc_arena_string_n(&(r)->memory.arena, s, n)

bool wc_reading_exists(struct wc_reading *r, const char *path);
/* Offset of the first `text` at or behind `from`; at_line: only where a line begins. WC_NOWHERE:
 * there is none, also behind WC_NOWHERE, of a NULL, or in a file that cannot be read. */
uint64_t wc_reading_find(struct wc_reading *r, const char *path, uint64_t from, const char *text,
                         bool at_line);
/* The rest of the line at an offset, cut to cap - 1 bytes, NUL-terminated. False: nothing there. */
bool wc_reading_line(struct wc_reading *r, const char *path, uint64_t at, char *to, size_t cap);
/* The rest of the line after the text that wc_reading_find() finds. False: there is none. */
bool wc_reading_value(struct wc_reading *r, const char *path, uint64_t from, const char *text,
                      bool at_line, char *to, size_t cap);
/* The paths of the entries of dir that end so and whose names fit, up to most, in r's memory; *n:
 * how many. False: there is no such directory. */
bool wc_reading_names(struct wc_reading *r, const char *dir, const char *ending,
                      bool (*fits)(void *ctx, const char *name), void *ctx, const char **path,
                      size_t most, size_t *n);
/* Calls each() with each piece of a file between characters of `separators`, until it returns
 * false. Pieces longer than the window are left out. each() may use r's memory, but not read
 * through r. False: the file cannot be read. */
bool wc_reading_each(struct wc_reading *r, const char *path, const char *separators,
                     bool (*each)(void *ctx, const char *piece), void *ctx);
