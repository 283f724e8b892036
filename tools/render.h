/*
 * The faces of a report.
 */
#ifndef WHICHCUDNN_TOOLS_RENDER_H
#define WHICHCUDNN_TOOLS_RENDER_H

#include <jansson.h>
#include <stdio.h>

#include "report.h"

/* For people: verdict, what was resolved, findings with facts and fixes. */
void render_text(FILE *to, const struct report *r, bool colour);
/* The same in few lines: verdict, findings with title and first fix. */
void render_brief(FILE *to, const struct report *r, bool colour);
/* The verdict's line alone: "error: libtorch_cuda.so got cuDNN 9.1.0, ...". */
void render_verdict(FILE *to, const struct report *r, bool colour);
/* Hosts, what each got, what that brought along: a part of render_text. */
void render_tree(FILE *to, const struct wc_stack *s);

/* The shape of docs/report.schema.json. New reference. */
json_t *render_json(const struct report *r);

#endif
