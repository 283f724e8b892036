/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faces of a report.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "merge.h"
#include "report.h"

struct layout;

/* For people: verdict, what was resolved, findings with facts and fixes. With l->whole the time
 * line and everything else that is known, too. */
void render_text(struct layout *l, const struct report *r);
/* To be pasted into an issue of somebody's project. */
void render_markdown(FILE *to, const struct report *r);
/* The shape of docs/report.schema.json. New reference. */
json_t *render_json(const struct report *r);
/* The same in few lines: verdict, findings with title and first fix. */
void render_brief(FILE *to, const struct report *r, bool colour);
/* The verdict alone: "error: libtorch_cuda.so got cuDNN 9.1.0, ...". The caller frees. */
char *render_verdict_text(const struct report *r);

/* The same of one process or several: who agrees, what differs, the processes, then a report for
 * each, or as text for each group; with l->whole for each process. */
void render_merged(struct layout *l, const struct merged *m);
void render_merged_markdown(FILE *to, const struct merged *m);
json_t *render_merged_json(const struct merged *m); /* of several: a list */
/* A page that needs no other file. Wants sources that kept their events. */
void render_html(FILE *to, const struct merged *m);

/* Parts of these. */
void render_verdict_words(struct layout *l, const struct report *r); /* within a line */
/* Hosts, what each got, what that brought along: a line for each library. */
void render_tree(struct layout *l, const struct report *r);
void render_timeline(struct layout *l, const struct report *r);
/* Who agrees and what differs; the processes, by node, rank and who started whom. */
void render_agreement(struct layout *l, const struct merged *m);
void render_processes(struct layout *l, const struct merged *m);
/* "damaged: line 3 could not be read: cut off", each such sentence; NULL past the last. The caller
 * frees. */
char *render_gap(const struct report *r, size_t i);
