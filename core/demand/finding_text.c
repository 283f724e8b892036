/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's rows as lines: see core/demand/finding_page.h. */
#include "core/base/shown.h"
#include "finding_page.h"

enum {
    INDENT = 2,
    BRIEF = 8, /* lines, below which only the finding is printed */
    FIRST = 4, /* lines, in which a fix begins */
    TITLE_LINES = 2,
    TAIL_LINES = 2,
    WORD_LEAST = 24 /* columns that are left of a path */
};

/* ---- lines ---- */

/* The longest path of a text loses directories in its middle, by `over` columns if that can be. */
static const char *without_middle(struct wc_finding_page *page, const char *text, size_t over) {
    const char *longest = NULL;
    size_t most = WORD_LEAST, width;
    struct wc_text t, path;

    for (const char *p = text; *p;) {
        size_t n = 0;
        while (p[n] && p[n] != ' ' && p[n] != ',')
            n++;
        if (wc_columns_n(p, n) > most && n < sizeof page->raw) {
            most = wc_columns_n(p, n);
            longest = p;
        }
        p += n + (p[n] != '\0');
    }
    if (!longest)
        return text;
    width = most > over + WORD_LEAST ? most - over : WORD_LEAST;
    wc_text_begin(&path, page->raw, sizeof page->raw);
    for (size_t n = 0; longest[n] && longest[n] != ' ' && longest[n] != ','; n++)
        wc_text_add_char(&path, longest[n]);
    wc_text_begin(&t, page->shown, sizeof page->shown);
    wc_text_add_n(&t, text, (size_t)(longest - text));
    wc_text_add_shortened(&t, page->raw, width);
    wc_text_add(&t, longest + path.n);
    return t.cut ? text : wc_arena_string(&page->arena.arena, t.p) ?: text;
}

static const char *fitted(struct wc_finding_page *page, const char *text, size_t width) {
    const char *shorter;

    while (wc_columns(text) > width) {
        shorter = without_middle(page, text, wc_columns(text) - width);
        if (shorter == text || wc_columns(shorter) >= wc_columns(text))
            break;
        text = shorter;
    }
    return text;
}

/* What is too long for `most` lines is shortened. */
static void put_value(struct wc_finding_page *page, const char *text, size_t column, size_t hang,
                      size_t most) {
    size_t room = WC_FINDING_COLUMNS - column + (most - 1) * (WC_FINDING_COLUMNS - hang);

    wc_page_put_lines(&page->out, fitted(page, text, room), column, hang, most, false);
}

/* ---- what has room ---- */

/* A row's value stands after its key. */
static size_t column_of(const char *key) {
    size_t column = INDENT + wc_columns(key) + 1;

    return column > WC_PAGE_KEYS ? column : WC_PAGE_KEYS;
}

static size_t lines_for(const struct wc_finding_row *row) {
    size_t n = wc_page_lines(row->value, column_of(row->key), row->command);

    return n < row->most ? n : row->most;
}

/* " or" needs something before it. */
static void drop_alternatives(struct wc_finding_page *page) {
    bool has_fix = false;

    for (size_t i = 0; i < page->rows; i++) {
        struct wc_finding_row *row = &page->row[i];
        if (row->rank != RANK_FIX)
            continue;
        if (row->key[0] > ' ')
            has_fix = row->chosen;
        row->chosen = row->chosen && has_fix;
    }
}

/* What a fix gives, without the fix. */
static bool is_rest(const struct wc_finding_page *page, size_t i) {
    return i > 0 && page->row[i].rank == RANK_FIX && !page->row[i].key[0] &&
           !page->row[i - 1].chosen;
}

/* By weight; in the order of the rows where that is the same. */
static void choose(struct wc_finding_page *page, size_t lines) {
    for (int weight = 0; weight <= RANK_MIND; weight++)
        for (size_t i = 0; i < page->rows; i++) {
            struct wc_finding_row *row = &page->row[i];
            if (row->weight != weight || lines_for(row) > lines || is_rest(page, i))
                continue;
            row->chosen = true;
            lines -= lines_for(row);
        }
    drop_alternatives(page);
}

static void put_key(struct wc_text *out, size_t indent, const char *key) {
    size_t n = indent + wc_columns(key) + 1;

    wc_text_format(out, "%.*s%s ", (int)indent, WC_PAGE_BLANKS, key);
    if (n < WC_PAGE_KEYS)
        wc_text_add_n(out, WC_PAGE_BLANKS, WC_PAGE_KEYS - n);
}

static void put_row(struct wc_finding_page *page, const struct wc_finding_row *row,
                    const char *before) {
    bool again = row->rank != RANK_FIX && wc_str_same(row->key, before);
    const char *key = again ? "" : row->key;

    put_key(&page->out, INDENT, key);
    if (row->command)
        wc_page_put_lines(&page->out, row->value, column_of(key), WC_PAGE_KEYS, SIZE_MAX, true);
    else
        put_value(page, row->value, column_of(key), WC_PAGE_KEYS, row->most);
}

/* One row of each rank before the fix, more where there is room: it begins in the first lines. */
static void order_rows(struct wc_finding_page *page, size_t title_lines) {
    size_t room = FIRST - 1 - title_lines;
    bool taken[WC_FINDING_ROWS] = {false};

    for (int round = 0; round < 2; round++)
        for (int rank = RANK_GOT; rank <= RANK_WANTED; rank++)
            for (size_t i = 0; i < page->rows && room > 0; i++) {
                struct wc_finding_row *row = &page->row[i];
                if (!row->chosen || taken[i] || row->rank != rank || lines_for(row) > room)
                    continue;
                taken[i] = true;
                room -= lines_for(row);
                if (round == 0)
                    break;
            }
    for (size_t i = 0; i < page->rows; i++)
        if (page->row[i].rank <= RANK_WANTED && !taken[i])
            page->row[i].rank = RANK_BEHIND;
}

static void put_rows(struct wc_finding_page *page) {
    const char *before = NULL;

    for (int rank = 0; rank <= RANK_MIND; rank++)
        for (size_t i = 0; i < page->rows; i++)
            if (page->row[i].chosen && page->row[i].rank == rank) {
                put_row(page, &page->row[i], before);
                before = page->row[i].key;
            }
}

static const char *word_of(const struct wc_finding_record *f) {
    const char *word = wc_enum_word(WC_ENUM_severity, f->severity);

    return word ? word : "?";
}

/* Where the title begins, behind "error[runtime-too-old]: ". */
static size_t title_column(const struct wc_finding_page *page, const struct wc_finding_record *f,
                           const struct wc_finding_view *view) {
    return (view->before ? wc_columns(view->before) : 0) + wc_columns(word_of(f)) +
           wc_columns(page->id) + 4;
}

static void put_title(struct wc_finding_page *page, const struct wc_finding_record *f,
                      const struct wc_finding_view *view) {
    wc_text_format(&page->out, "%s%s%s[%s]%s: ", view->before, view->paint, word_of(f), page->id,
                   view->unpaint);
    put_value(page, page->title, title_column(page, f, view), (size_t)2 * INDENT, TITLE_LINES);
}

/* A line of the finding's process. */
static void put_tail(struct wc_finding_page *page, const char *key, const char *value,
                     size_t most) {
    if (!value)
        return;
    put_key(&page->out, 0, key);
    put_value(page, value, WC_PAGE_KEYS, WC_PAGE_KEYS, most);
}

/* A path to be opened is whole. */
static void put_log(struct wc_finding_page *page, const char *log) {
    if (!log)
        return;
    put_key(&page->out, 0, "log");
    wc_text_add_shown(&page->out, log);
    wc_text_add_char(&page->out, '\n');
}

/* Whole, too: it is for this that the rows could be short. */
static void put_legend(struct wc_finding_page *page) {
    for (size_t i = 0; i < WC_LEGEND_LETTERS; i++)
        if (page->letter[i])
            wc_text_format(&page->out, "%c = %s\n", 'V' + (int)i, page->letter[i]);
}

/* ---- the whole ---- */

/* The rows of its process. */
struct tail {
    const char *libraries, *process, *processes, *no_log;
    size_t lines;
};

static size_t tail_lines(const char *value) {
    size_t n = value ? wc_page_lines(value, WC_PAGE_KEYS, false) : 0;

    return n < TAIL_LINES ? n : TAIL_LINES;
}

/* A legend may have two lines, `more` has one. */
static struct tail tail_of(struct wc_finding_page *page, const struct wc_finding_record *f,
                           const struct wc_finding_view *view) {
    struct tail t = {.libraries = wc_page_loaded(page, f, view->stack),
                     .process = wc_page_keep(page, "%s", view->process),
                     .processes = wc_page_keep(page, "%s", view->processes),
                     .no_log = wc_page_keep(page, "%s", view->no_log)};

    t.lines = tail_lines(t.libraries) + tail_lines(t.process) + tail_lines(t.processes) +
              (t.no_log != NULL) + (view->log != NULL) + 3;
    return t;
}

static void put_process(struct wc_finding_page *page, const struct tail *t,
                        const struct wc_finding_view *view) {
    put_tail(page, "loaded", t->libraries, TAIL_LINES);
    put_tail(page, "process", t->process, TAIL_LINES);
    put_tail(page, "processes", t->processes, TAIL_LINES);
    put_legend(page);
    put_log(page, view->log);
    put_tail(page, "no log", t->no_log, 1);
    if (view->put_fixes || view->no_report)
        wc_text_format(&page->out, "more        whichcudnn explain %s%s\n", page->id,
                       view->no_report ? "" : "; report -v");
    else
        wc_text_format(&page->out, "more        whichcudnn report has the repair; explain %s\n",
                       page->id);
}

const char *wc_finding_text(struct wc_finding_page *page, const struct wc_finding_record *f,
                            const struct wc_finding_view *view) {
    size_t lines = view->lines ? view->lines : WC_FINDING_LINES, title, others;
    bool brief = lines < BRIEF;
    struct tail tail = {.lines = 0};

    wc_page_begin(page, f);
    if (!brief)
        tail = tail_of(page, f, view);
    if (view->put_fixes) /* first: where memory ends, they are there */
        view->put_fixes(page, view->fixes);
    wc_page_fill(page, f, view->stack);
    title = wc_page_lines(page->title, title_column(page, f, view), false);
    title = title < TITLE_LINES ? title : TITLE_LINES;
    others = title + tail.lines;
    choose(page, lines > others ? lines - others : 0);
    if (!brief)
        wc_page_make_legend(page);
    put_title(page, f, view);
    order_rows(page, title);
    put_rows(page);
    if (!brief)
        put_process(page, &tail, view);
    return page->text;
}

void wc_finding_process(struct wc_text *t, int64_t pid, const struct wc_process_record *p,
                        const char *ending) {
    const char *separator = "";

    if (pid > 0)
        wc_text_format(t, "%jd", pid);
    if (p->node)
        wc_text_format(t, "%s%s", t->n ? " on " : "on ", p->node);
    if (p->arguments.n || p->executable)
        separator = t->n ? ": " : "";
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
