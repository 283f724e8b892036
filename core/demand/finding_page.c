/* SPDX-License-Identifier: Apache-2.0 */
/* What rows, legend and lines share: see core/demand/finding_page.h. */
#include "finding_page.h"

#include "core/base/shown.h"

_Static_assert(sizeof(WC_PAGE_BLANKS) - 1 == WC_PAGE_KEYS, "as many as before a value");

const char *wc_page_keep(struct wc_finding_page *page, const char *format, ...) {
    struct wc_text raw, shown;
    va_list list;

    wc_text_begin(&raw, page->raw, sizeof page->raw);
    va_start(list, format);
    wc_text_format_list(&raw, format, list);
    va_end(list);
    wc_text_begin(&shown, page->shown, sizeof page->shown - 3);
    wc_text_add_shown(&shown, page->raw);
    shown.cap += 3;
    if (raw.cut || shown.cut)
        wc_text_add(&shown, "...");
    return shown.n ? wc_arena_string(&page->arena.arena, page->shown) : NULL;
}

bool wc_of_path(char c) {
    return wc_is_alphanumeric(c) || (c && wc_str_find_char("/._-+@~$%", c)) || (c & 0x80);
}

/* ---- lines ---- */

/* Bytes of s for a line of so many columns: up to a blank, which in a command is within no quotes.
 * A word that is longer is not broken. */
static size_t line_length(const char *s, size_t width, bool command) {
    size_t best = 0, columns = 0, n = 0;
    char quote = '\0';

    for (; s[n]; n++) {
        if (command && (s[n] == '\'' || s[n] == '"') && (!quote || quote == s[n]))
            quote = quote ? '\0' : s[n];
        if (s[n] == ' ' && !quote) {
            if (best > 0 && columns > width)
                return best;
            best = n;
        }
        columns += wc_columns_n(s + n, 1);
    }
    return columns <= width || best == 0 ? n : best;
}

static void put_cut(struct wc_text *out, const char *s, size_t width) {
    size_t n = 0, columns = 0;

    for (; s[n] && columns + wc_columns_n(s + n, 1) <= width - 3; n++)
        columns += wc_columns_n(s + n, 1);
    wc_text_add_n(out, s, n);
    wc_text_add(out, "...");
}

size_t wc_page_put_lines(struct wc_text *out, const char *s, size_t column, size_t hang,
                         size_t most, bool command) {
    size_t width = WC_FINDING_COLUMNS - column, lines = 1;

    for (;; lines++) {
        size_t n = wc_columns(s) <= width ? wc_str_length(s)
                                          : line_length(s, width - (command ? 2 : 0), command);
        bool cut = !command && (wc_columns_n(s, n) > width || (lines == most && s[n]));
        if (out && cut)
            put_cut(out, s, width);
        else if (out)
            wc_text_add_n(out, s, n - (n > 0 && s[n] && s[n - 1] == ' '));
        for (s += n; *s == ' ';)
            s++;
        if (!*s || (cut && lines == most))
            break;
        if (out)
            wc_text_format(out, "%s\n%.*s", command ? " \\" : "", (int)hang, WC_PAGE_BLANKS);
        width = WC_FINDING_COLUMNS - hang;
    }
    if (out)
        wc_text_add_char(out, '\n');
    return lines;
}

size_t wc_page_lines(const char *value, size_t column, bool command) {
    return wc_page_put_lines(NULL, value, column, WC_PAGE_KEYS, SIZE_MAX, command);
}
