/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is printed of one object in a few words, the same in every report and comparison.
 */
#pragma once

#include "core/model/stack.h"

/* Canonical path, else the loader's, else the SONAME. Never NULL. */
const char *library_path(const struct wc_object_record *o);
/* "host", "facade", "graph", "cublasLt": its role, or which part or CUDA dependency it is. */
const char *library_label(const struct wc_object_record *o);
/* By which it is the same in another process: SONAME without directories, of a host the file's.
 * Never NULL. */
const char *library_name(const struct wc_object_record *o);
/* It requires cuDNN, or is of cuDNN or CUDA. */
bool library_counts(const struct wc_object_record *o);

/* How the loader found this very file; NULL: not known. */
const struct wc_search_record *library_search(const struct wc_stack *s,
                                              const struct wc_object_record *o);

/* The caller frees these; NULL where there is nothing to print. */
char *library_version(const struct wc_object_record *o); /* "9.1.0", "not older than 9.2.0" */
/* By which rule the loader found it, and in which element of the list that the rule reads. */
char *library_rule(const struct wc_search_record *found, bool element);
char *library_source(const struct wc_object_record *o);       /* "wheel NAME" */
char *library_installation(const struct wc_object_record *o); /* "wheel NAME VERSION" */
