/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What earlier lines of a log said, by which later ones are short. Most paths of a log lie beside
 * others: a line writes one as N/K/REST: of the path of record N all up to its K-th slash from
 * behind, and behind that REST. A text that begins with a digit is 0/0/TEXT. Which
 * keys are paths, and which is its record's path, says record.def.
 */
#pragma once

#include "whichcudnn/record.h"

#define WC_TOLD_MOST 64
#define WC_TOLD_ROOM 6144
#define WC_TOLD_NEAR 20000 /* microseconds: a line that comes sooner has no time */
#define WC_PATH_BEFORE 64  /* bytes that N/K/ fits in, behind a word */

struct wc_told { /* all zero: nothing yet */
    struct wc_told_last {
        int64_t pid, time;
        size_t n; /* of paths */
    } last;       /* to be put back where a line did not come into the file */
    struct wc_told_path {
        int64_t seq;
        size_t at, length;
    } p[WC_TOLD_MOST];
    char room[WC_TOLD_ROOM];
};

/* What comes before REST: the word, and N/K/; returns where REST begins, or the text where it is
 * not changed. told NULL: nothing. */
const char *wc_path_short(const struct wc_told *told, const char *text, size_t word,
                          char before[WC_PATH_BEFORE]);
/* In a list a path stands behind a word and a blank: where. */
size_t wc_path_begins(const char *text);
bool wc_told_time_is_near(const struct wc_told *told, const struct wc_record *r);
/* Its line was written, and nothing of it cut. */
void wc_told_note(struct wc_told *told, const struct wc_record *r);

/* The record's path; NULL: it has none. */
const char *wc_record_path(const struct wc_record *r);
/* Is it a path that a line may make short? Not of what logs are asked for by other tools. */
bool wc_field_is_path(const struct wc_record *r, const struct wc_field *f);
