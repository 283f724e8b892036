/* SPDX-License-Identifier: Apache-2.0 */
/* Who requires a distribution: see identify.h. PyPA: "Core metadata specifications". */
#include "distribution.h"
#include "identify.h"

enum { NAME = 64, INFOS_MOST = 512 };

struct infos {
    struct wc_reading *r;
    const char *p[INFOS_MOST];
    size_t n;
};

struct requiring {
    const char *wanted; /* normalised */
    bool found;
};

static bool note_info(void *arg, const char *name) {
    struct infos *all = arg;
    const char *kept =
        wc_str_ends(name, ".dist-info") ? wc_reading_copy(all->r, name, wc_str_length(name)) : NULL;
    if (kept)
        all->p[all->n++] = kept;
    return all->n < INFOS_MOST;
}

/* Headers come before the description, which may be long. */
static bool is_header(const char *line) {
    size_t n = 0;
    while (wc_is_alphanumeric(line[n]) || line[n] == '-')
        n++;
    return line[0] == ' ' || line[0] == '\t' || (n && line[n] == ':');
}

static bool see_line(void *ctx, const char *line) {
    struct requiring *q = ctx;
    struct wc_requirement read;
    char normal[NAME];
    if (!is_header(line))
        return false;
    if (!wc_requirement_read(line, &read) || (read.marker && wc_str_find(read.marker, "extra")))
        return true;
    wc_distribution_normalise(read.name, read.name_length, normal, sizeof normal);
    q->found = wc_str_same(normal, q->wanted);
    return !q->found;
}

static bool requires_it(struct wc_reading *r, const char *site, const char *info,
                        const char *wanted) {
    struct requiring q = {wanted, false};
    size_t mark = r->memory.used;
    const char *path = wc_reading_format(r, "%s/%s/METADATA", site, info);
    wc_reading_each(r, path, "\n", see_line, &q);
    r->memory.used = mark;
    return q.found;
}

bool wc_required_by(const struct wc_files *files, const char *path, const char *distribution,
                    void *scratch, size_t scratch_size, char *to, size_t cap) {
    struct wc_reading r;
    struct infos *all;
    char wanted[NAME];
    if (!scratch)
        return false;
    wc_reading_begin(&r, files, scratch, scratch_size);
    const char *site = wc_distribution_site(&r, path);
    all = site ? wc_arena_take(&r.memory.arena, sizeof *all) : NULL;
    if (!all)
        return false;
    all->r = &r;
    wc_distribution_normalise(distribution, wc_str_length(distribution), wanted, sizeof wanted);
    files->list(files->ctx, site, note_info, all);
    for (size_t i = 0; i < all->n; i++) {
        const char *dash = wc_str_find_char(all->p[i], '-');
        if (!requires_it(&r, site, all->p[i], wanted) || !dash)
            continue;
        size_t name = (size_t)(dash - all->p[i]), version = wc_str_length(dash + 1);
        if (!wc_str_format(to, cap, "%.*s %.*s", (int)name, all->p[i],
                           (int)(version - wc_str_length(".dist-info")), dash + 1))
            return false;
        for (size_t k = 0; k < name; k++)
            if (to[k] == '_')
                to[k] = '-';
        return true;
    }
    return false;
}
