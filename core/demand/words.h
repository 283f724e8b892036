/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a finding: texts in the scratch arena, bounded; NULL when memory ended.
 */
#pragma once

#include "finding.h"

/* ---- a finding in the making ---- */

/* A text in the scratch arena, by wc_text_format; NULL when memory ended (then the whole finding is
 * counted as lost). */
const char *wc_format(struct wc_case *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *wc_format_version(struct wc_case *c, struct wc_version v);
/* The last element of a path for a sentence: short, no control characters; "?" for NULL. */
const char *wc_format_name(struct wc_case *c, const char *path);
/* Such names, with commas between; NULL of none. */
const char *wc_format_list(struct wc_case *c, const char *const *names, size_t n);

/* ---- objects ---- */

const char *wc_format_directory(struct wc_case *c, const char *path); /* of a file */

/* ---- versions ---- */

const char *wc_format_range(struct wc_case *c, struct wc_range r);
const char *wc_format_own(struct wc_case *c, const struct wc_object *o);

/* ---- demands ---- */

/* "requires 9.26.0": for a title. */
const char *wc_format_demand(struct wc_case *c, const struct wc_demand_record *r);
/* As its source has it. */
const char *wc_format_demand_whole(struct wc_case *c, const struct wc_demand_record *r);
/* Sets of releases, for a package manager: that which the demand surely accepts, NULL if that is
 * not known; "==9.*"; ">=9.8,<10". */
const char *wc_format_acceptable(struct wc_case *c, const struct wc_demand_record *r);

/* ---- facts that several findings give ---- */

/* The name that people know: "jaxlib 0.10.2", which has that host; else its framework, else the
 * file; of libraries of cuDNN and CUDA the file. */
const char *wc_format_who(struct wc_case *c, const struct wc_object *o);
/* Of a file that asks: the script, where it is what scripts ask by. */
const char *wc_format_asker(struct wc_case *c, const char *path);
/* "nvidia-cudnn-cu12 9.1.0.70 (wheel)"; NULL: unknown. */
const char *wc_format_installation(struct wc_case *c, const struct wc_object *o);

/* ---- the loader's words ---- */

const char *wc_format_caller(struct wc_case *c, const struct wc_failure *f);
/* "jaxlib 0.10.2 asked for libcudnn.so.9", "libcudnn.so.9 needs libcublas.so.12": for a title.
 * library: because of which f failed. */
const char *wc_format_wanted(struct wc_case *c, const struct wc_failure *f, const char *library);
