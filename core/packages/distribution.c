/* SPDX-License-Identifier: Apache-2.0 */
/* Python distributions (identify.h). PyPA: "Recording installed projects". */

#include "core/knowledge/frameworks.h"
#include "identify.h"

enum { NAME = 64, CANDIDATES = 24, LINE = 512, LEVELS = 8 };

/* Directories that several distributions share; their own folder is the one below. */
static const char *const namespaces[] = {"jax_plugins", "nvidia"};

void wc_distribution_normalise(const char *name, size_t n, char *to, size_t cap) {
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < cap; i++) {
        char c = name[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c == '-' || c == '.')
            c = '_';
        if (c != '_' || !used || to[used - 1] != '_')
            to[used++] = c;
    }
    to[used] = 0;
}

static size_t component(const char *path) {
    const char *slash = wc_str_find_char(path, '/');
    return slash ? (size_t)(slash - path) : wc_str_length(path);
}

static bool is_namespace(const char *relative) {
    return WC_ANY(name, WC_ROWS(namespaces),
                  component(relative) == wc_str_length(*name) && wc_str_starts(relative, *name));
}

size_t wc_distribution_folder(const char *relative) {
    size_t n = component(relative);
    if (relative[n] && is_namespace(relative))
        n += 1 + component(relative + n + 1);
    return relative[n] ? n : 0;
}

/* ---- candidates: dist-info directories, the likeliest owner first ---- */

struct candidate {
    const char *info;
    int likeness;
};

struct candidates {
    struct wc_reading *r;
    const char *relative; /* of the file; NULL: fits() decides */
    wc_distribution_fits *fits;
    void *ctx;
    char top[NAME], sub[NAME]; /* normalised first and second component */
    struct candidate p[CANDIDATES];
    size_t n;
};

static int likeness(const struct candidates *c, const char *name) {
    size_t n = wc_str_length(c->top);
    if (!c->relative)
        return c->fits(c->ctx, name);
    if (wc_str_compare(name, c->top) == 0)
        return 4;
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->folders, folder)
            if (wc_str_same(c->top, row->folder) && wc_str_starts(name, row->distribution))
                return 3;
    if (!n || !wc_str_starts(name, c->top) || name[n] != '_')
        return 0;
    return c->sub[0] && wc_str_find(name, c->sub) ? 3 : 2;
}

static bool consider(void *arg, const char *info) {
    struct candidates *c = arg;
    const char *dash = wc_str_find_char(info, '-');
    char name[NAME];
    if (!dash || !wc_str_ends(dash, ".dist-info"))
        return true;
    wc_distribution_normalise(info, (size_t)(dash - info), name, sizeof name);
    int like = likeness(c, name);
    if (!like || c->n == CANDIDATES)
        return true;
    const char *kept = wc_reading_copy(c->r, info, wc_str_length(info));
    size_t at = c->n;
    if (!kept)
        return true;
    for (; at && c->p[at - 1].likeness < like; at--)
        c->p[at] = c->p[at - 1];
    c->p[at] = (struct candidate){kept, like};
    c->n++;
    return true;
}

/* ---- the owner among them ---- */

bool wc_distribution_take(struct wc_distribution *out, const char *site, const char *info,
                          const char *relative) {
    const char *dash = wc_str_find_char(info, '-');
    if (!dash || !wc_str_ends(dash, ".dist-info"))
        return false;
    size_t version = wc_str_length(dash + 1) - wc_str_length(".dist-info");
    out->site = site;
    out->info = info;
    out->relative = relative;
    wc_distribution_normalise(info, (size_t)(dash - info), out->name, sizeof out->name);
    for (char *p = out->name; *p; p++)
        if (*p == '_')
            *p = '-';
    return wc_str_format(out->version, sizeof out->version, "%.*s", (int)version, dash + 1);
}

static bool owns(struct wc_reading *r, const char *path, const char *site,
                 const struct candidate *c, const char *relative, struct wc_distribution *out) {
    char line[LINE];
    size_t mark = r->memory.used;
    const char *record = wc_reading_format(r, "%s/%s/RECORD", site, c->info);
    const char *key = wc_reading_format(r, "%s,", relative), *comma;
    struct wc_file_stat facts;
    uint64_t size;
    bool found = c->likeness > 2, changed = false; /* without a RECORD the name is enough */
    if (wc_reading_exists(r, record)) {
        found = wc_reading_value(r, record, 0, key, true, line, sizeof line);
        comma = found ? wc_str_find_last_char(line, ',') : NULL; /* path,hash,size */
        changed = comma && wc_parse_number(comma + 1, wc_str_length(comma + 1), &size) &&
                  r->files->facts(r->files->ctx, path, &facts) && facts.size != size;
    }
    r->memory.used = mark;
    if (!found || !wc_distribution_take(out, site, c->info, relative))
        return false;
    out->changed = changed;
    return true;
}

const char *wc_behind_last(const char *text, const char *mark) {
    const char *found = NULL;
    for (const char *s = text; (s = wc_str_find(s, mark)); s++)
        found = s + wc_str_length(mark);
    return found;
}

/* Length of the part of path that ends in such a directory; 0: none. */
static size_t site_by_name(const char *path) {
    const char *site = wc_behind_last(path, "/site-packages/");
    site = site ? site : wc_behind_last(path, "/dist-packages/");
    return site ? (size_t)(site - path) - 1 : 0;
}

size_t wc_environment_length(const char *path) {
    size_t length = site_by_name(path);
    return length ? length : wc_dir_length(path);
}

static bool is_info(void *arg, const char *name) {
    bool *found = arg;
    *found = wc_str_ends(name, ".dist-info");
    return !*found;
}

const char *wc_distribution_site(struct wc_reading *r, const char *path) {
    size_t length = site_by_name(path), mark = r->memory.used;
    if (length)
        return wc_reading_copy(r, path, length);
    /* pip install --target, a cache of unpacked wheels: the nearest directory with dist-infos. */
    length = wc_dir_length(path);
    for (int level = 0; level < LEVELS && length > 1; level++) {
        bool found = false;
        const char *site = wc_reading_copy(r, path, length);
        if (site && !(r->files->no_dist_info && r->files->no_dist_info(r->files->ctx, site)) &&
            r->files->list(r->files->ctx, site, is_info, &found) && found)
            return site;
        r->memory.used = mark;
        length = wc_dir_above(path, length);
    }
    return NULL;
}

bool wc_distribution_of(struct wc_reading *r, const char *path, struct wc_distribution *out) {
    size_t mark = r->memory.used;
    const char *site = wc_distribution_site(r, path);
    struct candidates *c = site ? wc_arena_take(&r->memory.arena, sizeof *c) : NULL;
    bool found = false;
    if (c) {
        const char *relative = path + wc_str_length(site) + 1;
        size_t n = component(relative), top = n;
        c->r = r;
        c->relative = relative;
        if (n > 5 && wc_mem_compare(relative + n - 5, ".libs", 5) == 0)
            top -= 5; /* auditwheel's folder next to the package */
        wc_distribution_normalise(relative, relative[n] ? top : 0, c->top, sizeof c->top);
        if (relative[n] && is_namespace(relative)) {
            const char *below = relative + n + 1;
            c->sub[0] = '_';
            wc_distribution_normalise(below, component(below), c->sub + 1, sizeof c->sub - 1);
        }
        r->files->list(r->files->ctx, site, consider, c);
        for (size_t i = 0; i < c->n && !(found && !out->changed); i++)
            found = owns(r, path, site, &c->p[i], relative, out) || found;
    }
    if (!found)
        r->memory.used = mark;
    return found;
}

size_t wc_distributions_in(struct wc_reading *r, const char *site, wc_distribution_fits *fits,
                           void *ctx, struct wc_distribution *out, size_t most) {
    struct candidates *c = wc_arena_take(&r->memory.arena, sizeof *c);
    size_t n = 0;
    if (!c)
        return 0;
    c->r = r;
    c->fits = fits;
    c->ctx = ctx;
    r->files->list(r->files->ctx, site, consider, c);
    for (size_t i = 0; i < c->n && n < most; i++)
        if (wc_distribution_take(&out[n], site, c->p[i].info, ""))
            out[n++].list = wc_reading_format(r, "%s/%s/RECORD", site, c->p[i].info);
    return n;
}

bool wc_distribution_installer(struct wc_reading *r, const struct wc_distribution *d, char *to,
                               size_t cap) {
    size_t mark = r->memory.used;
    const char *path = wc_reading_format(r, "%s/%s/INSTALLER", d->site, d->info);
    bool says = wc_reading_line(r, path, 0, to, cap) && to[0];
    r->memory.used = mark;
    return says;
}

bool wc_requirement_read(const char *line, struct wc_requirement *out) {
    size_t n = 0;
    static const char requires[] = "Requires-Dist: ";
    if (!wc_str_starts(line, requires))
        return false;
    line += sizeof requires - 1;
    while (wc_is_alphanumeric(line[n]) || (line[n] && wc_str_find_char("-_.", line[n])))
        n++;
    const char *spec = line + n;
    if (*spec == '[' && wc_str_find_char(spec, ']'))
        spec = wc_str_find_char(spec, ']') + 1;
    while (*spec == ' ' || *spec == '(')
        spec++;
    *out = (struct wc_requirement){line, spec, wc_str_find_char(spec, ';'), n, 0, ""};
    wc_distribution_normalise(line, n, out->normal, sizeof out->normal);
    while (spec[out->spec_length] && spec[out->spec_length] != ';' && spec[out->spec_length] != ')')
        out->spec_length++;
    while (out->spec_length && spec[out->spec_length - 1] == ' ')
        out->spec_length--;
    return true;
}

bool wc_is_header(const char *line) {
    size_t n = 0;
    while (wc_is_alphanumeric(line[n]) || line[n] == '-')
        n++;
    return line[0] == ' ' || line[0] == '\t' || (n && line[n] == ':');
}

/* ---- what requires a distribution ---- */

struct requiring {
    struct wc_reading *r;
    const char *site, *wanted; /* normalised */
    bool found;
    char *to;
    size_t cap;
};

static bool see_line(void *ctx, const char *line) {
    struct requiring *q = ctx;
    struct wc_requirement read;
    q->found = wc_requirement_read(line, &read) && wc_str_same(read.normal, q->wanted) &&
               !(read.marker && wc_str_find(read.marker, "extra"));
    return !q->found && wc_is_header(line);
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
    wc_reading_begin(&r, files, scratch, scratch_size);
    wc_distribution_normalise(distribution, wc_str_length(distribution), wanted, sizeof wanted);
    struct requiring q = {&r, wc_distribution_site(&r, path), wanted, false, to, cap};
    if (q.site)
        files->list(files->ctx, q.site, see_info, &q);
    return q.found;
}
