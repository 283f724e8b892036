/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    for (; *format; format++) {
        if (*format != '%' || !format[1]) {
            putc(*format, to);
            continue;
        }
        switch (*++format) {
        case 's':
            text(to, va_arg(*args, const char *));
            break;
        case 'd':
            fprintf(to, "%d", va_arg(*args, int));
            break;
        case 'z':
            fprintf(to, "%zu", va_arg(*args, size_t));
            format++;
            break;
        case 'l':
            fprintf(to, "%lld", va_arg(*args, long long));
            format += 2;
            break;
        default:
            putc(*format, to);
        }
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

bool colour_choose(const char *when, FILE *to, bool *colour) {
    const char *no_color = getenv("NO_COLOR");

    *colour = strcmp(when, "always") == 0;
    if (strcmp(when, "auto") == 0)
        *colour = isatty(fileno(to)) && !(no_color && *no_color);
    return strcmp(when, "auto") == 0 || strcmp(when, "always") == 0 || strcmp(when, "never") == 0;
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
