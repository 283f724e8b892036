/* SPDX-License-Identifier: Apache-2.0 */
/* The table of cuDNN's functions, and the releases that fit a set of them (symbols.h). */
#include "symbols.h"

struct row {
    uint16_t name;       /* where it begins in `names` */
    uint8_t first, last; /* which of `releases` */
};

enum { NO_MAJOR = 0, PART_UNKNOWN = 255 };

#include "cudnn_symbols.inc" /* releases, names, rows; made by core/data/generate_symbols.py */

enum { COUNT = sizeof rows / sizeof *rows };

static bool is_listed(int function) {
    return function >= 0 && function < COUNT;
}

static struct wc_version release_at(uint8_t number) {
    const uint8_t *part = releases[number];
    if (part[0] == NO_MAJOR)
        return WC_VERSION_NONE;
    return (struct wc_version){part[0], part[1], part[2] == PART_UNKNOWN ? -1 : part[2], -1};
}

int wc_function_count(void) {
    return COUNT;
}

int wc_function_find(const char *name) {
    /* Called for each symbol of a host: the first letter excludes most. */
    bool may_be = name && name[0] == 'c' && wc_str_starts(name, "cudnn");
    int low = 0, high = may_be ? COUNT : 0;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = wc_str_compare(name, names + rows[middle].name);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return WC_NO_FUNCTION;
}

const char *wc_function_name(int function) {
    return is_listed(function) ? names + rows[function].name : NULL;
}

struct wc_version wc_function_first(int function) {
    return is_listed(function) ? wc_version_filled(release_at(rows[function].first), 0, 0)
                               : WC_VERSION_NONE;
}

struct wc_version wc_function_last(int function) {
    return is_listed(function) ? release_at(rows[function].last) : WC_VERSION_NONE;
}

/* As ceilings 9.1 and 9 mean all that begins with them. */
static void lower_ceiling(struct wc_release_range *r, struct wc_version v) {
    struct wc_version high = wc_version_filled(v, INT32_MAX, INT32_MAX);
    struct wc_version now = wc_version_filled(r->ceiling, INT32_MAX, INT32_MAX);
    if (wc_version_known(v) && (!wc_version_known(now) || wc_version_compare(high, now) < 0))
        r->ceiling = v;
}

static bool is_later(int function, struct wc_version floor) {
    struct wc_version first = wc_function_first(function);
    return wc_version_known(first) &&
           (!wc_version_known(floor) || wc_version_compare(first, floor) > 0);
}

void wc_release_range_imports(struct wc_release_range *r, int function) {
    if (is_later(function, r->floor))
        r->floor = wc_function_first(function);
    lower_ceiling(r, wc_function_last(function));
}

/* The newest release that is older than v: 9.5.1 -> 9.5.0, 9.5.0 -> any 9.4, 9.0.0 -> any 8. */
static struct wc_version older_than(struct wc_version v) {
    if (v.patch > 0)
        return (struct wc_version){v.major, v.minor, v.patch - 1, -1};
    if (v.minor > 0)
        return (struct wc_version){v.major, v.minor - 1, -1, -1};
    return v.major > 1 ? (struct wc_version){v.major - 1, -1, -1, -1} : WC_VERSION_NONE;
}

void wc_release_range_exports(struct wc_release_range *r, bool (*has)(void *ctx, int function),
                              void *ctx) {
    /* Only functions that could raise the floor are looked up: most of the hundreds cannot. */
    for (int f = 0; f < COUNT; f++)
        if (is_later(f, r->floor) && has(ctx, f))
            r->floor = wc_function_first(f);
    if (!wc_version_known(r->floor))
        return; /* it exports no cuDNN function: what it lacks proves nothing */
    for (int f = 0; f < COUNT; f++) {
        /* A function that it lacks, and that is not newer than the floor, was removed or is in
         * another part. So only newer functions bound it, and it has none of those. */
        if (is_later(f, r->floor))
            lower_ceiling(r, older_than(wc_function_first(f)));
        else if (wc_version_known(wc_function_last(f)) && has(ctx, f))
            lower_ceiling(r, wc_function_last(f));
    }
}

/* ---- parts ---- */

static const struct {
    const char *part, *asked, *shipped;
} added_parts[] = {
#define ADDED_PART(part, asked, shipped) {part, asked, shipped},
#include "core/knowledge/parts.def"
};

const char *wc_part_comes_with(const char *part, struct wc_version release) {
    WC_EACH_ROW(row, added_parts)
        if (wc_str_same(row->part, part) &&
            wc_version_compare(release, wc_version_of(row->asked)) >= 0 &&
            (!*row->shipped || wc_version_compare(release, wc_version_of(row->shipped)) < 0))
            return *row->shipped ? row->shipped : "a later release";
    return NULL;
}
