/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's rows as lines (finding_text.h), and directories that paths share as letters. */
#include "finding_text.h"
#include "core/base/shown.h"

enum {
    INDENT = 2,
    BRIEF = 8, /* lines, below which only the finding is printed */
    FIRST = 4, /* lines, in which a fix begins */
    TITLE_LINES = 2,
    TAIL_LINES = 2,
    WORD_LEAST = 24,   /* columns that are left of a path */
    ID_MOST = 40,      /* bytes; a noted one may be anything */
    LEGEND_LEAST = 12, /* bytes of a directory that is worth a letter */
    CANDIDATES = 32,
    ANCESTORS = 12
};

#define BLANKS "            "
_Static_assert(sizeof(BLANKS) - 1 == WC_PAGE_KEYS, "as many as before a value");

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

/* The rest of a line from `column` on, and more of them behind `hang`, `most` in all. out NULL:
 * nothing is put. Returns how many there are. */
static size_t put_lines(struct wc_text *out, const char *s, size_t column, size_t hang, size_t most,
                        bool command) {
    size_t width = WC_FINDING_COLUMNS - column, lines = 1;

    for (;; lines++) {
        size_t n = wc_columns(s) <= width ? wc_str_length(s)
                                          : line_length(s, width - (command ? 2 : 0), command);
        bool cut = !command && (wc_columns_n(s, n) > width || (lines == most && s[n]));
        if (out && cut)
            wc_text_format(out, "%.*s...", (int)wc_bytes_of(s, width - 3), s);
        else if (out)
            wc_text_add_n(out, s, n - (n > 0 && s[n] && s[n - 1] == ' '));
        for (s += n; *s == ' ';)
            s++;
        if (!*s || (cut && lines == most))
            break;
        if (out)
            wc_text_format(out, "%s\n%.*s", command ? " \\" : "", (int)hang, BLANKS);
        width = WC_FINDING_COLUMNS - hang;
    }
    if (out)
        wc_text_add_char(out, '\n');
    return lines;
}

size_t wc_page_lines(const char *value, size_t column, bool command) {
    return put_lines(NULL, value, column, WC_PAGE_KEYS, SIZE_MAX, command);
}

/* The longest path of a text loses directories in its middle, by `over` columns if that can be. */
static const char *without_middle(struct wc_finding_page *page, const char *text, size_t over) {
    const char *longest = NULL;
    size_t length = 0, most = WORD_LEAST;
    struct wc_text t, path;

    for (const char *p = text; *p;) {
        size_t n = 0;
        while (p[n] && p[n] != ' ' && p[n] != ',')
            n++;
        if (wc_columns_n(p, n) > most && n < sizeof page->raw) {
            most = wc_columns_n(p, n);
            longest = p;
            length = n;
        }
        p += n + (p[n] != '\0');
    }
    if (!longest)
        return text;
    wc_text_begin(&path, page->raw, sizeof page->raw);
    wc_text_add_n(&path, longest, length);
    wc_text_begin(&t, page->shown, sizeof page->shown);
    wc_text_add_n(&t, text, (size_t)(longest - text));
    wc_text_add_shortened(&t, page->raw, most > over + WORD_LEAST ? most - over : WORD_LEAST);
    wc_text_add(&t, longest + length);
    return t.cut ? text : wc_arena_string(&page->arena.arena, t.p) ?: text;
}

/* What is too long for `most` lines is shortened. */
static void put_value(struct wc_finding_page *page, const char *text, size_t column, size_t hang,
                      size_t most) {
    size_t room = WC_FINDING_COLUMNS - column + (most - 1) * (WC_FINDING_COLUMNS - hang);

    while (wc_columns(text) > room) {
        const char *shorter = without_middle(page, text, wc_columns(text) - room);
        if (shorter == text || wc_columns(shorter) >= wc_columns(text))
            break;
        text = shorter;
    }
    put_lines(&page->out, text, column, hang, most, false);
}

/* ---- letters for directories ---- */

static size_t path_length(const char *path) {
    size_t n = 0;

    while (wc_of_path(path[n]))
        n++;
    return n;
}

/* The next path in a text from `from` on; NULL: there is none. */
static const char *next_path(const char *text, const char *from) {
    for (const char *p = from; *p; p++)
        if (*p == '/' && (p == text || !wc_of_path(p[-1])))
            return p;
    return NULL;
}

static bool begins_with(const char *path, const char *prefix, size_t n) {
    return wc_str_length(path) >= n && wc_mem_compare(path, prefix, n) == 0 &&
           (path[n] == '/' || !wc_of_path(path[n]));
}

/* What is to be done is printed in full, the rest may be shortened. */
static bool may_shorten(const struct wc_finding_row *row) {
    return row->chosen && row->rank != RANK_FIX;
}

/* A path on the page: in one of its rows, or after the last of them in the title. */
struct place {
    size_t row;
    const char *path; /* NULL: none yet in this row */
};

/* The next path that may be shortened; `cut`: of the rows that do not fit. False: there is none. */
static bool next_place(const struct wc_finding_page *page, bool cut, struct place *at) {
    for (; at->row <= page->rows.n; at->row++, at->path = NULL) {
        const struct wc_finding_row *row = at->row < page->rows.n ? &page->rows.p[at->row] : NULL;
        const char *text = row ? row->value : page->title;
        bool counts =
            row ? may_shorten(row) && (!cut || wc_page_lines(text, WC_PAGE_KEYS, false) > row->most)
                : !cut;
        const char *from = at->path ? at->path + path_length(at->path) : text;
        if (counts && (at->path = next_path(text, from)))
            return true;
    }
    return false;
}

struct prefix {
    const char *p;
    size_t n, saved; /* bytes, by a letter for it */
};

static void consider(const struct wc_finding_page *page, bool cut, struct prefix *best,
                     const char *path, size_t n) {
    size_t times = 0, saved;

    for (struct place at = {0, NULL}; next_place(page, false, &at);)
        times += begins_with(at.path, path, n);
    /* In a path that does not fit, a directory is worth its letter even if it comes once. */
    saved = n >= LEGEND_LEAST ? n * (cut || !times ? times : times - 1) : 0;
    if (saved > best->saved)
        *best = (struct prefix){path, n, saved};
}

/* The best directory in which Python's packages lie, which is known to all; and of a path that does
 * not fit the best one above it. */
static void find_prefixes(const struct wc_finding_page *page, bool cut, struct prefix *packages,
                          struct prefix *other) {
    static const char *const known[] = {"/site-packages", "/dist-packages"};
    int tried = 0;

    *packages = *other = (struct prefix){NULL, 0, 0};
    for (struct place at = {0, NULL}; tried <= CANDIDATES && next_place(page, cut, &at); tried++) {
        size_t n = path_length(at.path);
        WC_EACH_ROW(name, known) {
            const char *found = wc_str_find(at.path, *name);
            size_t end = found ? (size_t)(found - at.path) + wc_str_length(*name) : n + 1;
            if (end <= n && begins_with(at.path, at.path, end))
                consider(page, cut, packages, at.path, end);
        }
        for (int i = 0; cut && i < ANCESTORS; i++)
            if ((n = wc_dir_above(at.path, n)) >= LEGEND_LEAST)
                consider(page, cut, other, at.path, n);
    }
}

static const char *with_letter(struct wc_finding_page *page, const char *text,
                               const char *directory, char letter) {
    size_t n = wc_str_length(directory);
    const char *from = text;
    struct wc_text t;

    wc_text_begin(&t, page->shown, sizeof page->shown);
    for (const char *p = text; (p = next_path(text, p)); p += path_length(p)) {
        if (!begins_with(p, directory, n))
            continue;
        wc_text_add_n(&t, from, (size_t)(p - from));
        wc_text_add_char(&t, letter);
        from = p + n;
    }
    if (from == text)
        return text;
    wc_text_add(&t, from);
    return t.cut ? text : wc_arena_string(&page->arena.arena, t.p) ?: text;
}

/* What several paths share gets the first letter; then each path that would be cut its own, so that
 * none of them has to be guessed. */
static void make_legend(struct wc_finding_page *page) {
    int which = 0;

    for (bool cut = false; which < WC_LEGEND_LETTERS; cut = true) {
        struct prefix packages, other;
        find_prefixes(page, cut, &packages, &other);
        const struct prefix *best = packages.saved > 0 ? &packages : &other;
        char letter = "VW"[which];
        if (best->saved > 0) {
            const char *directory = wc_arena_string_n(&page->arena.arena, best->p, best->n);
            if (!directory)
                return;
            page->letter[which++] = directory;
            page->title = with_letter(page, page->title, directory, letter);
            for (size_t i = 0; i < page->rows.n; i++)
                if (may_shorten(&page->rows.p[i]))
                    page->rows.p[i].value =
                        with_letter(page, page->rows.p[i].value, directory, letter);
        } else if (cut) {
            return;
        }
    }
}

/* ---- rows ---- */

/* A row's value stands after its key. */
static size_t column_of(const char *key) {
    size_t column = INDENT + wc_columns(key) + 1;

    return column > WC_PAGE_KEYS ? column : WC_PAGE_KEYS;
}

/* Lines of a text that has at most `most` of them; 0 of NULL. */
static size_t lines_of(const char *value, size_t column, size_t most, bool command) {
    size_t n = value ? wc_page_lines(value, column, command) : 0;

    return n < most ? n : most;
}

static size_t lines_for(const struct wc_finding_row *row) {
    return lines_of(row->value, column_of(row->key), row->most, row->command);
}

/* By weight; in the order of the rows where that is the same. */
static void choose(struct wc_finding_page *page, size_t lines) {
    for (int weight = 0; weight <= RANK_MIND; weight++)
        for (size_t i = 0; i < page->rows.n; i++) {
            struct wc_finding_row *row = &page->rows.p[i];
            /* What a fix gives is not printed without the fix. */
            bool alone =
                i > 0 && row->rank == RANK_FIX && !row->key[0] && !page->rows.p[i - 1].chosen;
            if (row->weight != weight || alone)
                continue;
            if (row->shorter && lines_for(row) > lines) {
                row->value = row->shorter;
                row->command = false;
            }
            if (lines && i == 0 && row->rank == RANK_FIX && lines_for(row) > lines)
                row->most = lines; /* cut rather than left out */
            row->chosen = lines_for(row) <= lines;
            lines -= row->chosen ? lines_for(row) : 0;
        }
}

/* One row of each rank before the fix, more where there is room: it begins in the first lines. */
static void order_rows(struct wc_finding_page *page, size_t title_lines) {
    size_t room = FIRST - 1 - title_lines;
    bool taken[WC_FINDING_ROWS] = {false};

    for (int round = 0; round < 2; round++)
        for (int rank = RANK_GOT; rank <= RANK_WANTED; rank++)
            for (size_t i = 0; i < page->rows.n && room > 0; i++) {
                struct wc_finding_row *row = &page->rows.p[i];
                if (!row->chosen || taken[i] || row->rank != rank || lines_for(row) > room)
                    continue;
                taken[i] = true;
                room -= lines_for(row);
                if (round == 0)
                    break;
            }
    for (size_t i = 0; i < page->rows.n; i++)
        if (page->rows.p[i].rank <= RANK_WANTED && !taken[i])
            page->rows.p[i].rank = RANK_BEHIND;
}

static void put_key(struct wc_text *out, size_t indent, const char *key) {
    size_t n = indent + wc_columns(key) + 1;

    wc_text_format(out, "%.*s%s ", (int)indent, BLANKS, key);
    if (n < WC_PAGE_KEYS)
        wc_text_add_n(out, BLANKS, WC_PAGE_KEYS - n);
}

static void put_rows(struct wc_finding_page *page) {
    const char *before = NULL;

    for (int rank = 0; rank <= RANK_MIND; rank++)
        WC_EACH(row, page->rows) {
            bool again = row->rank != RANK_FIX && wc_str_same(row->key, before);
            const char *key = again ? "" : row->key;
            if (!row->chosen || row->rank != rank)
                continue;
            put_key(&page->out, INDENT, key);
            if (row->command)
                put_lines(&page->out, row->value, column_of(key), WC_PAGE_KEYS, SIZE_MAX, true);
            else
                put_value(page, row->value, column_of(key), WC_PAGE_KEYS, row->most);
            before = row->key;
        }
}

/* ---- the whole ---- */

const char *wc_finding_text(struct wc_finding_page *page, const struct wc_finding_record *f,
                            const struct wc_finding_view *view) {
    const char *word = wc_enum_word(WC_ENUM_severity, f->severity) ?: "?";
    struct {
        const char *key, *value;
        size_t most; /* lines */
    } tail[] = {{"loaded", NULL, TAIL_LINES},
                {"process", NULL, TAIL_LINES},
                {"processes", NULL, TAIL_LINES},
                {"no log", NULL, 1}};
    size_t lines = view->lines ? view->lines : WC_FINDING_LINES, column, title, others;
    bool brief = lines < BRIEF;

    page->rows.n = 0;
    for (size_t i = 0; i < WC_LEGEND_LETTERS; i++)
        page->letter[i] = NULL;
    wc_buffer_arena_begin(&page->arena, page->memory, sizeof page->memory);
    wc_text_begin(&page->out, page->text, sizeof page->text);
    page->id = wc_page_keep(page, "%.*s", ID_MOST, f->id) ?: "?";
    page->title =
        wc_page_keep(page, "%s%s", f->title, f->predicted ? " (predicted)" : "") ?: page->id;
    if (!brief) {
        tail[0].value = wc_page_loaded(page, f, view->stack);
        tail[1].value = wc_page_keep(page, "%s", view->process);
        tail[2].value = wc_page_keep(page, "%s", view->processes);
        tail[3].value = wc_page_keep(page, "%s", view->no_log);
    }
    if (view->put_fixes) /* first: where memory ends, they are there */
        view->put_fixes(page, view->fixes);
    wc_page_fill(page, f, view->stack);
    /* The title begins behind "error[runtime-too-old]: ". */
    column =
        (view->before ? wc_columns(view->before) : 0) + wc_columns(word) + wc_columns(page->id) + 4;
    others = title = lines_of(page->title, column, TITLE_LINES, false);
    if (!brief) /* a legend may have two lines, `more` has one */
        others += (view->log != NULL) + 3;
    WC_EACH_ROW(row, tail)
        others += lines_of(row->value, WC_PAGE_KEYS, row->most, false);
    choose(page, lines > others ? lines - others : 0);
    if (!brief)
        make_legend(page);
    wc_text_format(&page->out, "%s%s%s[%s]%s: ", view->before, view->paint, word, page->id,
                   view->unpaint);
    put_value(page, page->title, column, (size_t)2 * INDENT, TITLE_LINES);
    for (size_t i = 0; i < WC_LEGEND_LETTERS; i++)
        if (page->letter[i])
            wc_text_format(&page->out, "  %c = %s\n", 'V' + (int)i, page->letter[i]);
    order_rows(page, title);
    put_rows(page);
    if (brief)
        return page->text;
    WC_EACH_ROW(row, tail)
        if (row->value) {
            put_key(&page->out, 0, row->key);
            put_value(page, row->value, WC_PAGE_KEYS, WC_PAGE_KEYS, row->most);
        }
    /* As the legend, it is whole: it is to be opened. */
    if (view->log && *view->log) {
        put_key(&page->out, 0, "log");
        wc_text_add_shown(&page->out, view->log);
        wc_text_add_char(&page->out, '\n');
    }
    if (view->put_fixes || !view->log)
        wc_text_format(&page->out, "more        whichcudnn explain %s%s\n", page->id,
                       view->put_fixes ? "; whichcudnn report -v" : "");
    else
        wc_text_format(&page->out, "more        whichcudnn report has the repair; explain %s\n",
                       page->id);
    return page->text;
}

void wc_finding_process(struct wc_text *t, int64_t pid, const struct wc_process_record *p,
                        const char *ending) {
    if (pid > 0)
        wc_text_format(t, "%jd", pid);
    if (p->node)
        wc_text_format(t, "%s%s", t->n ? " on " : "on ", p->node);
    const char *separator = t->n ? ": " : "";
    WC_EACH(argument, p->arguments) {
        wc_text_format(t, "%s%s", separator,
                       argument == p->arguments.p ? wc_base_name(*argument) : *argument);
        separator = " ";
    }
    if (p->arguments.n == 0 && p->executable)
        wc_text_format(t, "%s%s", separator, wc_base_name(p->executable));
    if (ending)
        wc_text_format(t, "%s%s", t->n ? ", " : "", ending);
}
