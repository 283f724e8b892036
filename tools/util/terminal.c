/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/shown.h"
#include "memory.h"
#include "program.h"

static void print_text(FILE *to, const char *s) {
    char shown[WC_SHOWN_MOST];
    size_t n, used;

    for (; s && (n = wc_shown(s, shown, &used)) > 0; s += used)
        fwrite(shown, 1, n, to);
}

char *harmless_text(const char *s) {
    struct sink sink;

    print_text(sink_begin(&sink), s);
    return sink_end(&sink);
}

void print_format_by(FILE *to, void (*text)(FILE *to, const char *s), const char *format,
                     va_list *args) {
    for (; *format; format++)
        if (*format != '%' || !format[1]) {
            putc(*format, to);
        } else if (*++format == 's') {
            text(to, va_arg(*args, const char *));
        } else if (*format == 'd') {
            fprintf(to, "%d", va_arg(*args, int));
        } else if (*format == '%') {
            putc('%', to);
        } else { /* zu or jd */
            fprintf(to, "%jd", va_arg(*args, intmax_t));
            format++;
        }
}

void print_format(FILE *to, const char *format, ...) {
    va_list args;

    va_start(args, format);
    print_format_by(to, print_text, format, &args);
    va_end(args);
}

enum exit_code complain(const char *format, ...) {
    va_list args;

    fflush(stdout);
    fputs("whichcudnn: ", stderr);
    va_start(args, format);
    print_format_by(stderr, print_text, format, &args);
    va_end(args);
    putc('\n', stderr);
    return EXIT_USAGE;
}

void (*must_fail_instead)(void);

void must_fail(void) {
    complain("out of memory");
    if (must_fail_instead)
        must_fail_instead();
    exit(EXIT_USAGE);
}

FILE *sink_begin(struct sink *s) {
    s->text = NULL;
    s->to = open_memstream(&s->text, &s->n);
    if (!s->to)
        must_fail();
    return s->to;
}

char *sink_end(struct sink *s) {
    if (fclose(s->to) != 0 || !s->text)
        must_fail();
    return s->text;
}

const char *paint_begin(bool colour, enum paint p) {
    static const char *const sequences[] = {"\x1b[1;31m", "\x1b[1;33m", "\x1b[36m", "\x1b[1;32m",
                                            "\x1b[1m"};

    return colour ? sequences[p] : "";
}

const char *paint_end(bool colour) {
    return colour ? "\x1b[0m" : "";
}

enum paint paint_of_severity(enum wc_severity severity) {
    return severity == WC_severity_ERROR     ? PAINT_ERROR
           : severity == WC_severity_WARNING ? PAINT_WARNING
                                             : PAINT_NOTE;
}

char *shell_words(char *const *words) {
    struct sink line;
    FILE *to = sink_begin(&line);

    for (; *words; words++) {
        bool is_plain = **words && !strpbrk(*words, " \t\n'\"\\$`*?[]{}()<>|&;#~!");
        fputs(is_plain ? " " : " '", to);
        for (const char *c = *words; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (const char[]){*c, '\0'}, to);
        fputs(is_plain ? "" : "'", to);
    }
    return sink_end(&line);
}

char *layout_shortened(const char *s, size_t width) {
    struct wc_text t;
    size_t cap = strlen(s) + 1;
    char *room = calloc(1, cap);

    if (!room)
        must_fail();
    wc_text_begin(&t, room, cap);
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

void layout_painted(struct layout *l, const char *text, enum paint p) {
    OWNED char *safe = harmless_text(text);

    if (*safe)
        put(l, safe, paint_begin(l->colour, p), paint_end(l->colour));
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

void layout_key(struct layout *l, const char *word) {
    l->column = fprintf(l->to, "  %-*s ", LAYOUT_KEYS - 3, word);
    l->indent = l->hang = LAYOUT_KEYS;
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
