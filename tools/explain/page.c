/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <string.h>

#include "tools/util/terminal.h"

static const struct page {
    const char *id, *text, *filled;
} pages[] = {
#define PAGE(id, text, filled) {id, text, filled},
#include "findings_pages.inc"
#undef PAGE
};
#define PAGES (sizeof(pages) / sizeof(pages[0]))

const char *page_id(size_t i) {
    return i < PAGES ? pages[i].id : NULL;
}

static const struct page *find(const char *id) {
    for (size_t i = 0; i < PAGES; i++)
        if (strcmp(pages[i].id, id) == 0)
            return &pages[i];
    return NULL;
}

const char *page_of(const char *id) {
    const struct page *page = find(id);

    return page ? page->text : NULL;
}

bool page_print(FILE *to, const char *id, bool colour) {
    static const enum paint paints[] = {PAINT_BOLD, PAINT_ERROR, PAINT_WARNING, PAINT_NOTE};
    const struct page *page = find(id);

    for (const char *s = page ? page->filled : ""; *s; s++)
        if (*s >= '\1' && *s <= '\4')
            fputs(paint_begin(colour, paints[*s - '\1']), to);
        else if (*s == '\5')
            fputs(paint_end(colour), to);
        else
            putc(*s, to);
    return page != NULL;
}
