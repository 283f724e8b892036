/* SPDX-License-Identifier: Apache-2.0 */
#include "told.h"

/* clang-format off */
static const struct {
    enum wc_kind kind : 8;
    enum { ALONE, LIST, WHOLE } how : 8;
    unsigned field : 16; /* its offset */
} paths[] = {
#define PATH_(k, n, how) {WC_KIND_##k, how, offsetof(struct wc_##k##_record, n)},
#include "whichcudnn/record.def"
};
/* clang-format on */

bool wc_field_is_path(const struct wc_record *r, const struct wc_field *f) {
    WC_EACH_ROW(row, paths)
        if (row->kind == r->kind && row->field == f->offset)
            return row->how != WHOLE ||
                   (r->kind == WC_KIND_object && r->u.object.role == WC_role_CUDA_DEPENDENCY);
    return false;
}

const char *wc_record_path(const struct wc_record *r) {
    WC_EACH_ROW(row, paths) {
        const char *text = *(const char *const *)(const void *)((const char *)&r->u + row->field);
        if (row->kind == r->kind && row->how != LIST && text && text[0] == '/')
            return text;
    }
    return NULL;
}

size_t wc_path_begins(const char *text) {
    const char *slash = wc_str_find_char(text, '/');
    size_t n = slash ? (size_t)(slash - text) : 0;

    while (n > 0 && text[n - 1] != ' ')
        n--;
    return n;
}

static size_t slashes(const char *s) {
    size_t n = 0;

    for (; *s; s++)
        n += *s == '/';
    return n;
}

const char *wc_path_short(const struct wc_told *told, const char *text, size_t word,
                          char before[WC_PATH_BEFORE]) {
    const char *path = text + word, *rest = text;
    size_t saved = 0;
    char tried[WC_PATH_BEFORE];

    before[0] = '\0';
    if (word > WC_PATH_BEFORE / 2)
        return text;
    if (path[0] >= '0' && path[0] <= '9') {
        wc_str_format(before, WC_PATH_BEFORE, "%.*s0/0/", (int)word, text);
        return path;
    }
    for (size_t i = 0; told && path[0] == '/' && i < told->last.n; i++) {
        const char *other = told->room + told->p[i].at;
        size_t behind = 0, n;
        while (other[behind] && other[behind] == path[behind])
            behind++;
        while (behind > 0 && other[behind - 1] != '/')
            behind--;
        wc_str_format(tried, sizeof tried, "%.*s%jd/%zu/", (int)word, text,
                      (intmax_t)told->p[i].seq, slashes(other + behind) + 1);
        n = wc_str_length(tried) - word;
        if (behind > n + saved) {
            saved = behind - n;
            rest = path + behind;
            wc_str_copy(before, WC_PATH_BEFORE, tried);
        }
    }
    return rest;
}

bool wc_told_time_is_near(const struct wc_told *told, const struct wc_record *r) {
    int64_t since = told ? told->last.time : 0;

    return since > 0 && r->time >= since && r->time - since < WC_TOLD_NEAR;
}

/* Another path of a directory helps nobody. */
void wc_told_note(struct wc_told *told, const struct wc_record *r) {
    const char *path = wc_record_path(r);
    size_t n = told->last.n, length = path ? (size_t)(wc_base_name(path) - path) : 0;
    size_t at = n ? told->p[n - 1].at + told->p[n - 1].length + 1 : 0;

    told->last.pid = r->pid;
    if (!wc_told_time_is_near(told, r))
        told->last.time = r->time;
    if (!path || n == WC_TOLD_MOST || length >= WC_TOLD_ROOM - at)
        return;
    for (size_t i = 0; i < n; i++)
        if (told->p[i].length == length &&
            wc_mem_compare(told->room + told->p[i].at, path, length) == 0)
            return;
    told->p[told->last.n++] = (struct wc_told_path){r->seq, at, length};
    wc_str_copy(told->room + at, length + 1, path);
}
