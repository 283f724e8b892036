/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <string.h>

/* ---- paths ---- */

/* A log may be of any size. Its writer refers to the first path of each directory, and to
 * WC_TOLD_MOST of them. */
#define EARLIER_ALL ((size_t)4 * WC_TOLD_MOST)
#define EARLIER_MOST (2 * EARLIER_ALL)

void earlier_note(struct earlier *earlier, const struct wc_record *r) {
    const char *path = wc_record_path(r);

    earlier->pid = r->pid;
    earlier->time = r->time;
    if (!path || earlier->n == EARLIER_MOST ||
        (earlier->n > 0 && earlier->p[earlier->n - 1].seq >= r->seq))
        return;
    for (size_t i = 0; i < earlier->n && earlier->n >= EARLIER_ALL; i++)
        if (r->cut > 0 || wc_same_directory(earlier->p[i].text, path))
            return;
    if (earlier->n == 0)
        heap_arena_begin(&earlier->texts);
    path = wc_arena_string(&earlier->texts.arena, path);
    *MUST_ADD(earlier->p, earlier->n) = (struct earlier_path){r->seq, path};
}

void earlier_end(struct earlier *earlier) {
    if (earlier->n > 0)
        heap_arena_end(&earlier->texts);
    free(earlier->p);
    memset(earlier, 0, sizeof(*earlier));
}

static int by_number(const void *seq, const void *path) {
    int64_t a = *(const int64_t *)seq, b = ((const struct earlier_path *)path)->seq;

    return (a > b) - (a < b);
}

/* Digits and a slash behind them; NULL: it is something else. */
static const char *read_part(const char *s, int64_t *out) {
    size_t n = strspn(s, "0123456789");

    *out = n > 0 && n < 19 ? strtoll(s, NULL, 10) : 0;
    return n > 0 && n < 19 && s[n] == '/' ? s + n + 1 : NULL;
}

/* Bytes up to a slash, counted from behind; 0: all. */
static size_t without(const char *path, int64_t parts) {
    size_t n = strlen(path);

    for (int64_t i = 0; i < parts && n > 0; i++)
        for (n -= i > 0; n > 0 && path[n - 1] != '/';)
            n--;
    return n;
}

#define LOST "/?/" /* for that of a line that is not there */

static const char *whole_path(const char *text, const struct earlier *earlier,
                              struct wc_arena *arena) {
    const struct earlier_path *other = NULL;
    int64_t seq, parts;
    const char *rest = read_part(text, &seq);

    rest = rest ? read_part(rest, &parts) : NULL;
    if (!rest || seq == 0)
        return rest ? rest : text;
    if (earlier && earlier->n > 0)
        other = bsearch(&seq, earlier->p, earlier->n, sizeof(*earlier->p), by_number);
    if (!other)
        return wc_arena_format(arena, LOST "%s", rest);
    return wc_arena_format(arena, "%.*s%s", (int)without(other->text, parts), other->text, rest);
}

static void make_whole_list(struct wc_strings *list, const struct earlier *earlier,
                            struct wc_arena *arena) {
    const char **all = (const char **)(void *)(uintptr_t)list->p; /* they are the reader's own */

    for (size_t i = 0; i < list->n; i++) {
        size_t word = wc_path_begins(all[i]);
        const char *path =
            word > WC_PATH_BEFORE / 2 ? all[i] + word : whole_path(all[i] + word, earlier, arena);
        if (path != all[i] + word)
            all[i] = wc_arena_format(arena, "%.*s%s", (int)word, all[i], path);
    }
}

/* ---- values ---- */

static void set_usual(struct wc_record *r, const struct wc_field *f, const struct wc_usual *u) {
    void *value = (char *)&r->u + f->offset;
    const char *text = f->type == WC_FIELD_STR ? wc_usual_text(r, u) : NULL;
    int64_t number = u->value;

    switch (f->type) {
    case WC_FIELD_STR:
        memcpy(value, &text, sizeof(text));
        break;
    case WC_FIELD_INT:
        memcpy(value, &number, sizeof(number));
        break;
    case WC_FIELD_BOOL:
        *(bool *)value = true;
        break;
    default:
        memcpy(value, &u->value, sizeof(u->value)); /* an enum */
    }
}

const char *record_complete(struct wc_record *r, uint64_t there, const struct earlier *earlier,
                            struct wc_arena *arena) {
    size_t n, rows;
    const struct wc_field *f = wc_kind_fields(r->kind, &n);
    const struct wc_usual *u = wc_usual_values(&rows);
    bool first = !earlier || earlier->pid == 0;

    if (first && (r->pid == WC_NULL || r->time == WC_NULL))
        return r->pid == WC_NULL ? "pid" : "time";
    r->pid = r->pid == WC_NULL ? earlier->pid : r->pid;
    r->tid = r->tid == WC_NULL ? r->pid : r->tid;
    r->time = r->time == WC_NULL ? earlier->time : r->time;
    for (size_t i = 0; i < n; i++) {
        void *value = (char *)&r->u + f[i].offset;
        const char **text = value;
        if (!(there >> i & 1) || !wc_field_is_path(r, &f[i]))
            continue;
        if (f[i].type == WC_FIELD_STRS)
            make_whole_list(value, earlier, arena);
        else if (*text)
            *text = whole_path(*text, earlier, arena);
    }
    for (; rows > 0; rows--, u++)
        for (size_t i = 0; u->kind == r->kind && i < n; i++)
            if (f[i].offset == u->field && !(there >> i & 1))
                set_usual(r, &f[i], u);
    return NULL;
}
