/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that several paths share, as letters: see core/demand/finding_page.h. */
#include "finding_page.h"

/* The next path in a text from `from` on; NULL: there is none. */
static const char *next_path(const char *text, const char *from) {
    for (const char *p = from; *p; p++)
        if (*p == '/' && (p == text || !wc_of_path(p[-1])))
            return p;
    return NULL;
}

static size_t path_length(const char *path) {
    size_t n = 0;

    while (wc_of_path(path[n]))
        n++;
    return n;
}

static bool begins_with(const char *path, const char *prefix, size_t n) {
    return wc_str_length(path) >= n && wc_mem_compare(path, prefix, n) == 0 &&
           (path[n] == '/' || !wc_of_path(path[n]));
}

/* What is to be done is printed in full, the rest may be shortened. */
static bool may_shorten(const struct wc_finding_row *row) {
    return row->chosen && row->rank != RANK_FIX;
}

static bool is_cut(const struct wc_finding_row *row) {
    return may_shorten(row) && wc_page_lines(row->value, WC_PAGE_KEYS, false) > row->most;
}

/* Calls look() for each path on the page that may be shortened; `cut`: in the rows that do not fit.
 */
static void each_path(struct wc_finding_page *page, bool cut,
                      void (*look)(void *ctx, const char *path), void *ctx) {
    for (size_t i = 0; i <= page->rows; i++) {
        const struct wc_finding_row *row = i < page->rows ? &page->row[i] : NULL;
        const char *text = row ? row->value : page->title;
        if (row ? !(cut ? is_cut(row) : may_shorten(row)) : cut)
            continue;
        for (const char *p = text; (p = next_path(text, p)); p += path_length(p))
            look(ctx, p);
    }
}

struct prefix {
    const char *p;
    size_t n, count;
};

static void count_prefix(void *ctx, const char *path) {
    struct prefix *prefix = ctx;

    prefix->count += begins_with(path, prefix->p, prefix->n);
}

struct best {
    struct wc_finding_page *page;
    bool cut;  /* of a path that does not fit the letter is worth it, even if it comes once */
    int tried; /* paths, of which each is compared with all */
    struct prefix packages, other;
};

#define LEGEND_LEAST 12 /* bytes of a directory that is worth a letter */

static size_t saved(const struct best *best, const struct prefix *p) {
    size_t times = best->cut || p->count == 0 ? p->count : p->count - 1;

    return p->n >= LEGEND_LEAST ? times * p->n : 0;
}

static void consider(struct best *best, struct prefix *to, const char *path, size_t n) {
    struct prefix prefix = {path, n, 0};

    each_path(best->page, false, count_prefix, &prefix);
    if (saved(best, &prefix) > saved(best, to))
        *to = prefix;
}

#define CANDIDATES 32
#define ANCESTORS 12

/* Where Python's packages lie is known to all; else a directory above. */
static void look_at_path(void *ctx, const char *path) {
    static const char *const known[] = {"/site-packages", "/dist-packages"};
    struct best *best = ctx;
    size_t n = path_length(path);

    if (best->tried++ > CANDIDATES)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *at = wc_str_find(path, known[i]);
        size_t end = at ? (size_t)(at - path) + wc_str_length(known[i]) : n + 1;
        if (end <= n && begins_with(path, path, end))
            consider(best, &best->packages, path, end);
    }
    for (int i = 0; i < ANCESTORS && (n = wc_dir_above(path, n)) >= LEGEND_LEAST; i++)
        consider(best, &best->other, path, n);
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

static void put_letter(struct wc_finding_page *page, int which, const struct prefix *prefix) {
    const char *directory = wc_arena_string_n(&page->arena.arena, prefix->p, prefix->n);

    if (!directory)
        return;
    page->letter[which] = directory;
    page->title = with_letter(page, page->title, directory, "VW"[which]);
    for (size_t i = 0; i < page->rows; i++)
        if (may_shorten(&page->row[i]))
            page->row[i].value = with_letter(page, page->row[i].value, directory, "VW"[which]);
}

/* What several paths share gets the first letter; then each path that would be cut its own, so that
 * none of them has to be guessed. */
void wc_page_make_legend(struct wc_finding_page *page) {
    struct best best = {.page = page};
    int which = 0;

    each_path(page, false, look_at_path, &best);
    if (saved(&best, &best.packages) > 0)
        put_letter(page, which++, &best.packages);
    while (which < WC_LEGEND_LETTERS) {
        best = (struct best){.page = page, .cut = true};
        each_path(page, true, look_at_path, &best);
        if (saved(&best, &best.packages) > 0)
            put_letter(page, which++, &best.packages);
        else if (saved(&best, &best.other) > 0)
            put_letter(page, which++, &best.other);
        else
            break;
    }
}
