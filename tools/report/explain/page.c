/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <string.h>

#include "core/base/base.h"
#include "tools/util/terminal.h"

static const struct {
    const char *id, *text, *filled;
} pages[] = {
#define PAGE(id, text, filled) {id, text, filled},
#include "findings_pages.inc"
#undef PAGE
};

static const struct {
    const char *id, *title;
} titles[] = {
#define FINDING(name, id, severity, title) {id, title},
#include "core/demand/findings.def"
};

const char *title_of(const char *id) {
    WC_EACH_ROW(row, titles)
        if (strcmp(row->id, id) == 0)
            return row->title;
    return NULL;
}

const char *page_of(const char *id) {
    WC_EACH_ROW(page, pages)
        if (strcmp(page->id, id) == 0)
            return page->text;
    return NULL;
}

/* What is marked stands between one of 1 to 4, which says how it is painted, and 5. */
bool page_print(FILE *to, const char *id, bool colour) {
    static const enum paint paints[] = {PAINT_BOLD, PAINT_ERROR, PAINT_WARNING, PAINT_NOTE};

    WC_EACH_ROW(page, pages) {
        if (strcmp(page->id, id) != 0)
            continue;
        for (const char *s = page->filled; *s; s++)
            if (*s < '\1' || *s > '\5')
                putc(*s, to);
            else
                fputs(*s == '\5' ? paint_end(colour) : paint_begin(colour, paints[*s - '\1']), to);
        return true;
    }
    return false;
}
