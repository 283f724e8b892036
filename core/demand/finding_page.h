/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page on which a finding's text is made (core/demand/finding_text.h): its facts become rows
 * (finding_rows.c), rows become lines (finding_text.c).
 */
#pragma once

#include "facts.h"
#include "finding_text.h"

enum {
    WC_PAGE_KEYS = 12, /* columns before a row's value */
    WC_PAGE_VALUE = WC_FINDING_COLUMNS - WC_PAGE_KEYS
};

/* Harmless, on the page; NULL: there is no room for it, or nothing in it. */
const char *wc_page_keep(struct wc_finding_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Rows of its facts, none chosen yet. */
void wc_page_fill(struct wc_finding_page *page, const struct wc_finding_record *f,
                  const struct wc_stack *s);
/* A row behind those that are there; NULL: there is no room for it, or nothing in it. */
struct wc_finding_row *wc_page_add_row(struct wc_finding_page *page, const char *key,
                                       enum rank rank, const char *value);
/* "facade, graph 9.1.0" where the finding is about a cuDNN of the stack, else NULL. */
const char *wc_page_loaded(struct wc_finding_page *page, const struct wc_finding_record *f,
                           const struct wc_stack *s);
/* Lines that a value fills that begins in that column. */
size_t wc_page_lines(const char *value, size_t column, bool command);
bool wc_of_path(char c); /* may it be in a path? */
