/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include <string.h>

#include "core/base/shown.h"

char *layout_shortened(const char *s, size_t width) {
    struct wc_text t;
    size_t cap = strlen(s) + 1;

    wc_text_begin(&t, must_allocate(cap), cap);
    wc_text_add_shortened(&t, s, width);
    return t.p;
}

void layout_line(struct layout *l, int indent, int hang) {
    fprintf(l->to, "%*s", indent, "");
    l->column = l->indent = indent;
    l->hang = hang;
}

void layout_end(struct layout *l) {
    putc('\n', l->to);
    l->column = 0;
}

static bool at_start(const struct layout *l) {
    return l->column == l->indent;
}

/* text is harmless. */
static void put(struct layout *l, const char *text, const char *before, const char *after) {
    int start = at_start(l) && l->indent > l->hang ? l->indent : l->hang;
    OWNED char *shorter = l->whole ? NULL : layout_shortened(text, (size_t)(LAYOUT_WIDTH - start));
    const char *fits = shorter ? shorter : text;
    int n = (int)wc_columns(fits);

    if (!l->whole && !at_start(l) && l->column + 1 + n > LAYOUT_WIDTH) {
        putc('\n', l->to);
        layout_line(l, l->hang, l->hang);
    }
    if (!at_start(l)) {
        putc(' ', l->to);
        l->column++;
    }
    fprintf(l->to, "%s%s%s", before, fits, after);
    l->column += n;
}

static void put_untrusted(struct layout *l, const char *text, const char *before,
                          const char *after) {
    OWNED char *safe = harmless_text(text);

    if (*safe)
        put(l, safe, before, after);
}

void layout_word(struct layout *l, const char *text) {
    put_untrusted(l, text, "", "");
}

void layout_painted(struct layout *l, const char *text, enum paint p) {
    put_untrusted(l, text, paint_begin(l->colour, p), paint_end(l->colour));
}

void layout_label(struct layout *l, const char *text, enum paint p) {
    layout_painted(l, text, p);
    putc(':', l->to);
    l->column++;
}

#define PATH_LEAST 40

void layout_path(struct layout *l, const char *path, int reserve) {
    OWNED char *safe = harmless_text(path);
    int room = LAYOUT_WIDTH - l->column - 1 - reserve;
    OWNED char *shorter =
        l->whole || room < PATH_LEAST ? NULL : layout_shortened(safe, (size_t)room);

    put(l, shorter ? shorter : safe, "", "");
}

void layout_put(struct layout *l, char *text, bool together) {
    OWNED char *owned = text, *safe = harmless_text(owned);
    char *rest = safe, *word;

    if (l->whole || (together && wc_columns(safe) <= (size_t)(LAYOUT_WIDTH - l->hang))) {
        if (*safe)
            put(l, safe, "", "");
        return;
    }
    while ((word = strsep(&rest, " ")))
        if (*word)
            put(l, word, "", "");
}

void layout_put_row(struct layout *l, int indent, int hang, char *text) {
    layout_line(l, indent, hang);
    layout_put(l, text, false);
    layout_end(l);
}

void layout_key(struct layout *l, const char *word) {
    l->column = fprintf(l->to, "  %-*s ", LAYOUT_KEYS - 3, word);
    l->indent = l->hang = LAYOUT_KEYS;
}

void layout_put_fact(struct layout *l, const char *word, char *text) {
    layout_key(l, word);
    layout_put(l, text, false);
    layout_end(l);
}

void layout_screen(struct layout *l, void (*print)(struct layout *l, const void *what),
                   const void *what) {
    struct sink sink;
    struct layout inside = *l;
    size_t lines = 0, all = 0;

    if (l->whole) {
        print(l, what);
        return;
    }
    inside.to = sink_begin(&sink);
    print(&inside, what);
    OWNED char *text = sink_end(&sink);
    char *end = text;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        all++;
    for (; *end && (all <= LAYOUT_SCREEN || lines < LAYOUT_SCREEN - 1); lines++)
        end = strchr(end, '\n') + 1;
    fprintf(l->to, "%.*s", (int)(end - text), text);
    if (all > lines)
        fprintf(l->to, "and %zu more lines: whichcudnn report -v\n", all - lines);
}
