/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faces of a report.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "core/demand/finding_text.h"
#include "report.h"

struct layout;
struct scan;

/* For people: findings or verdict, what was resolved. With l->whole all facts with their sources,
 * the time line and everything else that is known, too. */
void render_text(struct layout *l, const struct report *r);
/* The shape of docs/report.schema.json. New reference. */
json_t *render_json(const struct report *r);
/* One repair, as in a report. */
struct repair;
json_t *repair_json(const struct repair *fix);
/* One of its findings as core/demand/finding_text.h has it, with its fixes; its paint is that of
 * its severity. */
void render_finding(FILE *to, const struct report *r, const struct wc_finding_record *f,
                    struct wc_finding_view view, bool colour);
/* What repairs a finding as rows of it, for wc_finding_view.put_fixes; fixes: a struct
 * plan_of_finding. */
void put_fix_rows(struct wc_finding_page *page, const void *fixes);
/* Only the verdict: "error: libhost.so got cuDNN 9.1.0, ...". The caller frees. */
char *render_verdict_text(const struct report *r);

/* The same of one process or several: which agree, what differs, the processes, then a report for
 * each, or as text for each group; with l->whole for each process. */
void render_merged(struct layout *l, const struct merged *m);
json_t *render_merged_json(const struct merged *m); /* of several: a list */
/* A page that needs no other file. Requires sources that kept their events. */
void render_html(FILE *to, const struct merged *m);

/* Counts over all of them in Prometheus' text format. unreadable: logs that gave no report. */
void render_prometheus(FILE *to, const struct report *reports, size_t n, size_t unreadable);

/* The one answer about all of them. */
#define SUMMARY_ROWS 8
struct summary_view {
    const char *before; /* what each row begins with, and a blank; NULL: nothing */
    const char *log;    /* where it comes from; NULL: it is not printed */
    size_t most;        /* rows; 0: SUMMARY_ROWS */
};
void render_summary(struct layout *l, const struct merged *m, const struct summary_view *view);
/* A row in one line. The caller frees. */
char *render_summary_text(const struct merged *m, const struct summary_row *row);

/* Parts of these. */
/* A line for each copy of cuDNN that `last` has not, the report before it. before: as below. */
void render_copies(struct layout *l, const struct report *r, const char *before,
                   const struct report *last);
/* The verdict below them, of an ok only that word; of: the processes that it is of, or NULL. */
void render_verdict(struct layout *l, const struct report *r, const char *before, const char *who);
void render_verdict_words(struct layout *l, const struct report *r); /* within a line */
/* Where it comes from, and what limits it. report: a struct report. */
void render_origin(struct layout *l, const void *report);
/* Which groups agree, and what differs. merged: a struct merged. */
void render_agreement(struct layout *l, const void *merged);
/* What is known where nothing explains it, and what to do. */
void render_known(struct layout *l, const struct report *r);

/* What happened, in time order: requests and their answers, calls, and when a finding that holds
 * was noted. Needs a source that kept its events; else there is none. report: a struct report. */
void render_timeline(struct layout *l, const void *report);

/* A scan as text, or as JSON in the shape of docs/scan.schema.json; what of it --fail-on asks. */
enum exit_code render_scans(struct layout *l, struct scan *const *scans, size_t n, bool json,
                            struct gate *gate);

/* ---- a comparison ---- */

struct compared_side {
    const char *name;
    const struct report *report; /* NULL: its verdict is not printed */
};
/* "differs: version of libcudnn.so.9: 9.1.0, not 9.8.0 (and 2 more)" by that word, where something
 * does; the sides' verdicts; the differences, under a heading for each kind. */
void render_comparison(struct layout *l, const struct comparison *c, const char *word,
                       const struct compared_side sides[2]);
json_t *side_json(const struct report *r); /* new references, these two */
json_t *differences_json(const struct comparison *c);
