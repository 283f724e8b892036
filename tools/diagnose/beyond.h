/* SPDX-License-Identifier: Apache-2.0 */
/* Edits of what no replay over files shows: another release of the host, the driver, what the
 * system allows, a new start. They are printed, with why they were not checked. */
#pragma once

#include "core/demand/questions.h"
#include "edit.h"

/* What a sentence with that action asks for, as an edit; false: nothing is changed by it. */
bool beyond_edit(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, enum wc_action action, const char *text,
                 struct edit *out);
/* The package that is the build for GPUs of the package for only the processor: of another name,
 * or its own; NULL: it is of no package, or of one with unknown builds. */
const char *beyond_gpu_build(const struct wc_object *o);
/* Another release of the host that the finding is about, for the cuDNN that is there; false: it is
 * about none, or that would be no way out. */
bool beyond_host(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, struct edit *out);
