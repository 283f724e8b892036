/*
 * The pages of docs/findings.md, built into the command.
 */
#ifndef WHICHCUDNN_TOOLS_PAGE_H
#define WHICHCUDNN_TOOLS_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PAGE_WIDTH 80 /* columns */

/* The section below the heading of an id, as it stands there, in Markdown. NULL: there is none. */
const char *page_of(const char *id);
/* i-th id that has a page, in the order of docs/findings.md; NULL past the last. */
const char *page_id(size_t i);

/*
 * Markdown for a terminal: paragraphs filled up to PAGE_WIDTH columns, blocks of code indented,
 * marks left out. What is one word longer than a line stays one. Knows what docs/findings.md uses:
 * paragraphs, lists, blocks between ```, tables (as they are), **bold**, `code`, [links](there).
 */
void page_print(FILE *to, const char *markdown, bool colour);

#endif
