/* SPDX-License-Identifier: Apache-2.0 */
/* What requires a distribution: see identify.h. PyPA: "Core metadata specifications". */
#include "distribution.h"
#include "identify.h"

struct requiring {
    struct wc_reading *r;
    const char *site, *wanted; /* normalised */
    bool found;
    char *to;
    size_t cap;
};

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
    if (!is_header(line))
        return false;
    if (!wc_requirement_read(line, &read) || (read.marker && wc_str_find(read.marker, "extra")))
        return true;
    q->found = wc_str_same(read.normal, q->wanted);
    return !q->found;
}

static bool see_info(void *arg, const char *info) {
    struct requiring *q = arg;
    size_t mark = q->r->memory.used;
    struct wc_distribution d;
    if (!wc_distribution_take(&d, q->site, info, ""))
        return true;
    wc_reading_each(q->r, wc_reading_format(q->r, "%s/%s/METADATA", q->site, info), "\n", see_line,
                    q);
    q->r->memory.used = mark;
    q->found = q->found && wc_str_format(q->to, q->cap, "%s %s", d.name, d.version);
    return !q->found;
}

bool wc_required_by(const struct wc_files *files, const char *path, const char *distribution,
                    void *scratch, size_t scratch_size, char *to, size_t cap) {
    struct wc_reading r;
    char wanted[64];
    if (!scratch)
        return false;
    wc_reading_begin(&r, files, scratch, scratch_size);
    wc_distribution_normalise(distribution, wc_str_length(distribution), wanted, sizeof wanted);
    struct requiring q = {&r, wc_distribution_site(&r, path), wanted, false, to, cap};
    if (q.site)
        files->list(files->ctx, q.site, see_info, &q);
    return q.found;
}
