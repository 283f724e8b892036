/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <string.h>

#include "tools/util/memory.h"
#include "tools/util/terminal.h"

static const struct page {
    const char *id, *text;
} pages[] = {
#define PAGE(id, text) {id, text},
#include "findings_pages.inc"
#undef PAGE
};
#define PAGES (sizeof(pages) / sizeof(pages[0]))

static const struct {
    const char *id, *title;
} titles[] = {
#define FINDING(name, id, severity, title) {id, title},
#include "core/findings/findings.def"
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

/* ---- for a terminal ---- */

#define WIDTH 80
#define INDENT 4 /* of code */

/* In a paragraph: here begins what is painted so, which END ends. */
static const enum paint paints[] = {PAINT_BOLD, PAINT_ERROR, PAINT_WARNING, PAINT_NOTE};
#define IS_BEGIN(c) ((c) >= '\1' && (c) <= '\4')
#define END '\5'
#define IS_MARK(c) (IS_BEGIN(c) || (c) == END)

static bool begins(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

/* What is marked in a paragraph that begins with a severity is painted as that is. */
static char begin_of(const char *paragraph) {
    return begins(paragraph, "**error**")     ? '\2'
           : begins(paragraph, "**warning**") ? '\3'
           : begins(paragraph, "**note**")    ? '\4'
                                              : '\1';
}

/* n bytes of a paragraph as one line, with begin and END for its marks. Of a link the text is left,
 * and where it leads if that is elsewhere on the net. */
static char *without_marks(const char *from, size_t n) {
    char *to = must_allocate(n + 1), *out = to, begin = begin_of(from);
    bool open = false, in_link = false;

    for (const char *s = from; s < from + n; s++) {
        if (*s == '\n') {
            *out++ = ' ';
            s += strspn(s + 1, " ");
        } else if (*s == '`' || begins(s, "**")) {
            s += *s == '*';
            if (!in_link)
                *out++ = (open = !open) ? begin : END;
        } else if (*s == '[' && begins(s + strcspn(s, "]"), "](")) {
            in_link = true;
        } else if (*s == ']' && in_link) {
            size_t leads = strcspn(s + 2, ")");

            if (begins(s + 2, "http"))
                out += sprintf(out, " (%.*s)", (int)leads, s + 2);
            s += 2 + leads;
            in_link = false;
        } else {
            *out++ = *s;
        }
    }
    return to;
}

static void put_word(FILE *to, const char *word, size_t n, bool colour) {
    for (const char *s = word; s < word + n; s++)
        if (IS_BEGIN(*s))
            fputs(paint_begin(colour, paints[*s - '\1']), to);
        else if (*s == END)
            fputs(paint_end(colour), to);
        else
            putc(*s, to);
}

static size_t columns(const char *word, size_t n) {
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += !IS_MARK(word[i]);
    return columns;
}

/* Lines of its words: the first one begins at indent, the others at hang. A longer word has a line
 * of its own. */
static void fill(FILE *to, const char *text, size_t indent, size_t hang, bool colour) {
    size_t column = 0, n;

    for (const char *word = text; *word; word += n) {
        size_t space = strspn(word, " "), width;

        word += space;
        n = strcspn(word, " ");
        width = columns(word, n);
        if (column == 0) {
            space = column = indent;
        } else if (column + space + width > WIDTH) {
            putc('\n', to);
            space = column = hang;
        } else {
            column += space;
        }
        fprintf(to, "%*s", (int)space, "");
        put_word(to, word, n, colour);
        column += width;
    }
    putc('\n', to);
}

static void put_code(FILE *to, const char *line, size_t n) {
    OWNED char *text = must_format("%.*s", (int)n, line);
    size_t own = INDENT + strspn(text, " ");

    fill(to, text, own, own + 2, false);
}

/* The length of a paragraph: up to a line that is empty, or begins something else. */
static size_t paragraph_length(const char *text) {
    size_t n = strcspn(text, "\n");

    while (text[n] && text[n + 1] && !strchr("\n|", text[n + 1]) && !begins(text + n + 1, "- ") &&
           !begins(text + n + 1, "```"))
        n += 1 + strcspn(text + n + 1, "\n");
    return n;
}

static void put_paragraph(FILE *to, const char *from, size_t n, bool colour) {
    OWNED char *text = without_marks(from, n);

    fill(to, text, 0, begins(text, "- ") ? 2 : 0, colour);
}

bool page_print(FILE *to, const char *id, bool colour) {
    const struct page *page = find(id);
    bool in_code = false;
    size_t n;

    for (const char *s = page ? page->text : ""; *s; s += n + 1) {
        n = strcspn(s, "\n");
        if (begins(s, "```"))
            in_code = !in_code;
        else if (in_code)
            put_code(to, s, n);
        else if (n == 0 || *s == '|')
            fprintf(to, "%.*s\n", (int)n, s);
        else
            put_paragraph(to, s, n = paragraph_length(s), colour);
    }
    return page != NULL;
}
