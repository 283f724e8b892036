/* See page.h. */
#include "page.h"

#include <stdlib.h>
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
#define INDENT 4

const char *page_id(size_t i) {
    return i < PAGES ? pages[i].id : NULL;
}

const char *page_of(const char *id) {
    for (size_t i = 0; i < PAGES; i++)
        if (strcmp(pages[i].id, id) == 0)
            return pages[i].text;
    return NULL;
}

/* ---- marks within a line ---- */

/* Bytes that stand for marks, which take no column. */
enum { BOLD = 1, PLAIN = 2 };

struct span {
    char *p;
    size_t n;
};

static void put(struct span *to, char c) {
    to->p[to->n++] = c;
}

/* "[text](target)": text, and where it leads to if that is elsewhere on the net. NULL: no link. */
static const char *put_link(struct span *to, const char *from) {
    const char *middle = strchr(from, ']'), *end = middle ? strchr(middle, ')') : NULL;

    if (!end || middle[1] != '(')
        return NULL;
    for (from++; from < middle; from++)
        if (*from != '`')
            put(to, *from);
    if (strncmp(middle + 2, "http", 4) == 0) {
        put(to, ' ');
        for (from = middle + 1; from <= end; from++)
            put(to, *from);
    }
    return end + 1;
}

/* Never longer than what it was made of. The caller frees. */
static char *without_marks(const char *s) {
    struct span to = {must_allocate(strlen(s) + 2), 0};
    bool bold = false;
    const char *next;

    while (*s) {
        if (s[0] == '`' || (s[0] == '*' && s[1] == '*')) {
            put(&to, bold ? PLAIN : BOLD);
            bold = !bold;
            s += s[0] == '`' ? 1 : 2;
        } else if (*s == '[' && (next = put_link(&to, s))) {
            s = next;
        } else {
            put(&to, *s++);
        }
    }
    put(&to, 0);
    return to.p;
}

/* ---- lines of a terminal ---- */

struct printer {
    FILE *to;
    bool colour;
    enum paint paint; /* of bold text */
    size_t column;
};

static void print_marked(struct printer *p, const char *word, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (word[i] == BOLD)
            fputs(paint_begin(p->colour, p->paint), p->to);
        else if (word[i] == PLAIN)
            fputs(paint_end(p->colour), p->to);
        else
            putc(word[i], p->to);
}

static size_t columns_of(const char *word, size_t n) {
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += word[i] != BOLD && word[i] != PLAIN;
    return columns;
}

static void begin_line(struct printer *p, size_t indent) {
    fprintf(p->to, "%*s", (int)indent, "");
    p->column = indent;
}

/* Fills lines with the words of a text: the first one begins at `indent`, the others at `hang`. */
static void print_filled(struct printer *p, const char *text, size_t indent, size_t hang) {
    bool first = true;

    begin_line(p, indent);
    while (*text) {
        size_t space = strspn(text, " "), n, wide;
        text += space;
        n = strcspn(text, " ");
        wide = columns_of(text, n);
        space = first ? 0 : space;
        if (!first && p->column + space + wide > PAGE_WIDTH) {
            putc('\n', p->to);
            begin_line(p, hang);
            space = 0;
        }
        fprintf(p->to, "%*s", (int)space, "");
        print_marked(p, text, n);
        p->column += space + wide;
        text += n;
        first = false;
    }
    putc('\n', p->to);
}

/* A line of a block of code: its own indentation, too, and what follows a break stands behind it.
 */
static void print_code(struct printer *p, const char *line) {
    size_t own = strspn(line, " ");

    if (line[own])
        print_filled(p, line + own, INDENT + own, INDENT + own + 2);
    else
        putc('\n', p->to);
}

/* ---- blocks ---- */

static enum paint paint_of_severity(const char *paragraph) {
    if (strncmp(paragraph, "**error**", 9) == 0)
        return PAINT_ERROR;
    if (strncmp(paragraph, "**warning**", 11) == 0)
        return PAINT_WARNING;
    return strncmp(paragraph, "**note**", 8) == 0 ? PAINT_NOTE : PAINT_BOLD;
}

static void end_paragraph(struct printer *p, char **paragraph) {
    char *text;

    if (!*paragraph)
        return;
    p->paint = paint_of_severity(*paragraph);
    text = without_marks(*paragraph);
    print_filled(p, text, 0, strncmp(text, "- ", 2) == 0 ? 2 : 0);
    free(text);
    free(*paragraph);
    *paragraph = NULL;
}

static void add_line(char **paragraph, const char *line) {
    char *longer = *paragraph ? must_format("%s %s", *paragraph, line) : must_copy(line);

    free(*paragraph);
    *paragraph = longer;
}

static void print_line(struct printer *p, const char *line, char **paragraph, bool *code) {
    bool fence = strncmp(line, "```", 3) == 0;

    if (fence || *code || !*line || *line == '|' || strncmp(line, "- ", 2) == 0)
        end_paragraph(p, paragraph);
    if (fence)
        *code = !*code;
    else if (*code)
        print_code(p, line);
    else if (*line == '|')
        fprintf(p->to, "%s\n", line);
    else if (*line)
        add_line(paragraph, line + strspn(line, " "));
    else
        putc('\n', p->to);
}

void page_print(FILE *to, const char *markdown, bool colour) {
    struct printer p = {to, colour, PAINT_BOLD, 0};
    char *paragraph = NULL;
    bool code = false;

    while (*markdown) {
        size_t n = strcspn(markdown, "\n");
        char *line = must_format("%.*s", (int)n, markdown);
        print_line(&p, line, &paragraph, &code);
        free(line);
        markdown += n + (markdown[n] == '\n');
    }
    end_paragraph(&p, &paragraph);
}
