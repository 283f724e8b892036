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

static const struct {
    const char *id, *title;
} titles[] = {
#define FINDING(name, id, severity, title) {id, title},
#include "core/demand/findings.def"
};

const char *title_of(const char *id) {
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
        if (strcmp(titles[i].id, id) == 0)
            return titles[i].title;
    return NULL;
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

/* What is marked stands between one of 1 to 4, which says how it is painted, and 5. */
bool page_print(FILE *to, const char *id, bool colour) {
    static const enum paint paints[] = {PAINT_BOLD, PAINT_ERROR, PAINT_WARNING, PAINT_NOTE};
    const struct page *page = find(id);

    for (const char *s = page ? page->filled : ""; *s; s++)
        if (*s < '\1' || *s > '\5')
            putc(*s, to);
        else
            fputs(*s == '\5' ? paint_end(colour) : paint_begin(colour, paints[*s - '\1']), to);
    return page != NULL;
}
