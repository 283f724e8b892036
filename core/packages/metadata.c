/* SPDX-License-Identifier: Apache-2.0 */
/* What a host's package metadata demands: see identify.h. */
#include "core/knowledge/frameworks.h"
#include "core/knowledge/programs.h"
#include "core/names/names.h"
#include "identify.h"

enum { LINE = 256, NAME = 64 };

/* Of several copies the one of these parts, whose version is that of the whole, before the
 * facade. */
static const char *const answering[] = {"graph", "ops_infer"};

static const struct {
    const char *framework, *from, *to, *cuda, *cudnn, *what, *source;
} built_with[] = {
#define BUILT_WITH(framework, from, to, cuda, cudnn, what, source)                                 \
    {framework, from, to, cuda, cudnn, what, source},
#include "core/knowledge/built_with.def"
};

struct asking {
    struct wc_reading *r;
    struct wc_metadata_demand *out;
    size_t n, most;
    const char *site; /* whose scripts ask: no extras count; NULL: a library asks */
};

/* Whose package is being read. */
struct package {
    const struct wc_framework *framework; /* NULL: unknown */
    const char *name, *version;           /* as for people */
};

/* Room for one more demand, its sources filled in: "METADATA of jaxlib 0.10.2". NULL: none. */
static struct wc_metadata_demand *begin(struct asking *a, const struct package *p, const char *what,
                                        const char *path) {
    struct wc_metadata_demand *d = &a->out[a->n];
    if (a->n == a->most || !path)
        return NULL;
    wc_mem_set(d, 0, sizeof *d);
    if (p->framework) {
        wc_str_copy(d->framework, sizeof d->framework, p->framework->name);
        wc_str_copy(d->framework_version, sizeof d->framework_version, p->version);
    }
    wc_str_format(d->source, sizeof d->source, "%s of %s %s", what, p->name, p->version);
    wc_str_copy(d->source_path, sizeof d->source_path, path);
    return d;
}

/* Two rows that say the same are one: the same pin for two machines. */
static void end(struct asking *a) {
    const struct wc_metadata_demand *d = &a->out[a->n];
    a->n += !WC_ANY(one, WC_ITEMS(a->out, a->n),
                    one->kind == d->kind && wc_str_same(one->spec, d->spec) &&
                        wc_str_same(one->built, d->built) && wc_str_same(one->source, d->source) &&
                        wc_str_same(one->package, d->package));
}

static void add_built(struct asking *a, const struct package *p, const char *what, const char *path,
                      struct wc_version built) {
    built.build = -1; /* of the wheel, not of cuDNN */
    struct wc_metadata_demand *d =
        wc_version_known(built) && built.major ? begin(a, p, what, path) : NULL;
    if (!d)
        return;
    d->kind = WC_demand_kind_BUILT;
    wc_version_format(built, d->built);
    end(a);
}

static bool begins(void *prefix, const char *name) {
    return wc_str_starts(name, prefix);
}

static bool is_named(void *normal, const char *name) {
    return wc_str_same(name, normal);
}

/* site: of Python; NULL: conda's. */
static void add_required(struct asking *a, const struct package *p, const char *site,
                         const char *path, struct wc_requirement *q) {
    struct wc_distribution installed;
    struct wc_spec parsed;
    struct wc_metadata_demand *d;
    const size_t mark = a->r->memory.used;
    if (!q->spec_length || q->spec_length >= sizeof d->spec)
        return;
    d = begin(a, p, site ? "METADATA" : "conda package", path);
    if (d)
        wc_mem_copy(d->spec, q->spec, q->spec_length);
    if (!d || !wc_spec_read(d->spec, &parsed) || !parsed.n)
        return;
    d->kind = WC_demand_kind_REQUIRED;
    if (q->name_length < sizeof d->package)
        wc_mem_copy(d->package, q->name, q->name_length);
    if (q->marker && wc_str_find(q->marker, "extra"))
        d->extra = !wc_distributions_in(a->r, site, is_named, q->normal, &installed, 1)
                       ? WC_EXTRA_ABSENT
                   : wc_spec_accepts(&parsed, wc_version_of(installed.version)) == WC_YES
                       ? WC_EXTRA_ACCEPTED
                       : WC_EXTRA_REFUSED;
    a->r->memory.used = mark;
    struct wc_version floor = wc_spec_floor(&parsed);
    floor.build = -1;
    if (site && p->framework && p->framework->floor_is_built && wc_version_known(floor))
        wc_version_format(floor, d->built);
    end(a);
}

/* ---- Requires-Dist (PEP 508): name[extras] (spec) ; marker ---- */

struct requirements {
    struct asking *a;
    const struct package *p;
    const char *site, *path;
};

static bool see_line(void *ctx, const char *line) {
    const struct requirements *of = ctx;
    struct wc_requirement q;
    if (!wc_requirement_read(line, &q))
        return wc_is_header(line);
    const char *marker = q.marker ? q.marker : "";
    bool for_another_system = !wc_str_find(marker, "!=") &&
                              (wc_str_find(marker, "win32") || wc_str_find(marker, "Windows") ||
                               wc_str_find(marker, "arwin"));
    if (wc_is_cudnn_package(WC_installation_kind_WHEEL, q.normal) && !for_another_system &&
        !(of->a->site && wc_str_find(marker, "extra")))
        add_required(of->a, of->p, of->site, of->path, &q);
    return of->a->n < of->a->most;
}

static void read_requirements(struct asking *a, const struct package *p, const char *site,
                              const char *info) {
    const char *path = wc_reading_format(a->r, "%s/%s/METADATA", site, info);
    const size_t first = a->n;
    size_t extras = 0;
    int best = WC_EXTRA_ABSENT;
    if (a->n < a->most)
        wc_reading_each(a->r, path, "\n", see_line, &(struct requirements){a, p, site, path});
    /* Of several extras (for CUDA 11 and 12) one at most was asked for, which METADATA does not
     * show: those count that what is installed fits best, and none without it. */
    for (size_t i = first; i < a->n; i++) {
        extras += a->out[i].extra != WC_NO_EXTRA;
        best = (int)a->out[i].extra > best ? (int)a->out[i].extra : best;
    }
    const size_t all = a->n;
    a->n = first;
    for (size_t i = first; i < all; i++)
        if (!a->out[i].extra || extras == 1 ||
            (best > WC_EXTRA_ABSENT && (int)a->out[i].extra == best))
            a->out[a->n++] = a->out[i];
}

/* ---- files of the package, and its version ---- */

/* The first number after the marker, on its line. */
static struct wc_version version_behind(struct wc_reading *r, const char *path,
                                        const char *marker) {
    char line[NAME];
    struct wc_version v = WC_VERSION_NONE;
    const char *s = line;
    if (!wc_reading_value(r, path, 0, marker, false, line, sizeof line))
        return v;
    while (*s && (*s < '0' || *s > '9'))
        s++;
    wc_version_parse_start(s, wc_str_length(s), &v);
    return v;
}

/* jaxlib 0.4.11+cuda11.cudnn86: one digit each for major and minor, the rest is the patch. */
static void read_version_suffix(struct asking *a, const struct package *p, const char *path) {
    const char *s = wc_str_find(p->version, "cudnn");
    struct wc_version v = WC_VERSION_NONE;
    uint64_t patch;
    if (!s || s[5] < '1' || s[5] > '9')
        return;
    s += 5;
    v.major = s[0] - '0';
    if (wc_is_digit(s[1])) {
        v.minor = s[1] - '0';
        if (wc_parse_number(s + 2, wc_str_length(s + 2), &patch) && patch < 100)
            v.patch = (int32_t)patch;
    }
    add_built(a, p, "version", path, v);
}

/* ---- where the package itself says nothing ---- */

struct copy {
    char name[NAME];
    int worth;
};

static bool consider_copy(void *arg, const char *name) {
    struct copy *best = arg;
    struct wc_name read = wc_name_read(name);
    if (!wc_kind_is_cudnn(read.kind))
        return true;
    bool answers = WC_ANY(part, WC_ROWS(answering), wc_str_same(read.part, *part));
    int worth = answers ? 2 : read.kind == WC_NAME_FACADE;
    if (worth > best->worth && wc_str_length(name) < sizeof best->name) {
        wc_str_copy(best->name, sizeof best->name, name);
        best->worth = worth;
    }
    return true;
}

static void read_bundled(struct asking *a, const struct package *p, const char *site) {
    WC_EACH_KNOWN(row, p->framework->copies, within) {
        size_t mark = a->r->memory.used;
        struct copy best = {"", 0};
        const char *within =
            row->by_soname ? wc_reading_format(a->r, "%s%s", site, row->within) : NULL;
        if (within) /* ends in '/' */
            a->r->files->list(a->r->files->ctx,
                              wc_reading_copy(a->r, within, wc_str_length(within) - 1),
                              consider_copy, &best);
        const char *path = best.worth ? wc_reading_format(a->r, "%s%s", within, best.name) : NULL;
        struct wc_metadata_demand *d = path ? begin(a, p, best.name, path) : NULL;
        a->r->memory.used = mark;
        if (!d)
            continue;
        d->kind = WC_demand_kind_BUILT;
        d->by_file = true;
        a->n++;
    }
}

/* The digits of "+cu118", "+cuda111", "-cu101mkl", ".post97": of which CUDA a wheel is. False: it
 * is not a release of the framework's makers. */
static bool flavour_of(const char *name, const char *version, char out[8]) {
    const char *local = wc_str_find_char(version, '+'), *s = NULL;
    size_t n = 0;
    while (wc_is_digit(version[n]) || version[n] == '.')
        n++;
    if (version[n] && version[n] != '+' && !wc_str_starts(version + n, "post"))
        return false; /* 2.0rc0, 2.0.0.dev20220901 */
    if (local && !(s = wc_str_starts(local, "+cu") ? local + 3 : NULL))
        return false; /* +cpu, +nv20.2 */
    if (!s)
        s = wc_behind_last(name, "_cu");
    if (!s)
        s = wc_behind_last(version, ".post");
    if (s && wc_str_starts(s, "da"))
        s += 2;
    for (n = 0; s && n < 7 && wc_is_digit(s[n]); n++)
        out[n] = s[n];
    out[n == 1 ? 0 : n] = 0; /* .post1 is not a CUDA */
    return true;
}

/* What these put there comes from an index, and so from the framework's makers, unless they wrote
 * down another origin (PEP 610): conda, Debian and others build for themselves. */
static const char *const index_installers[] = {"pip", "uv", "poetry", "Poetry", "pdm"};

static bool is_of_an_index(struct asking *a, const struct wc_distribution *d) {
    char installer[NAME];
    bool known = wc_distribution_installer(a->r, d, installer, sizeof installer) &&
                 WC_ANY(name, WC_ROWS(index_installers), wc_str_starts(installer, *name));
    const char *path = wc_reading_format(a->r, "%s/%s/direct_url.json", d->site, d->info);
    return known && path && !wc_reading_exists(a->r, path);
}

static void read_table(struct asking *a, const struct package *p, const char *normal,
                       const struct wc_distribution *distribution) {
    char cuda[8];
    struct wc_version v;
    if (!flavour_of(normal, p->version, cuda) || !is_of_an_index(a, distribution) ||
        !wc_version_parse_start(p->version, wc_str_length(p->version), &v))
        return;
    WC_EACH_ROW(row, built_with) {
        struct wc_metadata_demand *d = &a->out[a->n];
        size_t before = a->n;
        if (wc_str_same(p->framework->name, row->framework) && wc_str_same(cuda, row->cuda) &&
            wc_version_compare(v, wc_version_of(row->from)) >= 0 &&
            wc_version_compare(v, wc_version_of(row->to)) < 0)
            add_built(a, p, row->what, "", wc_version_of(row->cudnn));
        if (a->n > before)
            wc_str_format(d->source + wc_str_length(d->source),
                          sizeof d->source - wc_str_length(d->source), ", %s", row->source);
    }
}

const struct wc_framework *wc_framework_of_package(const char *distribution) {
    WC_EACH_FRAMEWORK(f)
        WC_EACH_TEXT(pattern, f->distributions) {
            size_t n = wc_str_length(*pattern) - 1;
            if ((*pattern)[n] == '*' ? wc_str_length(distribution) >= n &&
                                           wc_mem_compare(distribution, *pattern, n) == 0
                                     : wc_str_same(distribution, *pattern))
                return f;
        }
    return NULL;
}

static void read_distribution(struct asking *a, const struct wc_distribution *d) {
    char normal[NAME];
    wc_distribution_normalise(d->name, wc_str_length(d->name), normal, sizeof normal);
    struct package p = {wc_framework_of_package(normal), d->name, d->version};
    WC_EACH_KNOWN(file, p.framework ? p.framework->version_files : NULL, path) {
        size_t mark = a->r->memory.used;
        const char *path = wc_reading_format(a->r, "%s/%s", d->site, file->path);
        if (path)
            add_built(a, &p, file->path, path,
                      file->marker ? version_behind(a->r, path, file->marker)
                                   : wc_header_version(a->r, path));
        a->r->memory.used = mark;
    }
    read_version_suffix(a, &p, wc_reading_format(a->r, "%s/%s", d->site, d->info));
    read_requirements(a, &p, d->site, d->info);
    if (!p.framework)
        return;
    WC_EACH_KNOWN(row, p.framework->related, distribution) {
        struct wc_distribution other;
        if (wc_str_same(normal, row->distribution) &&
            wc_distributions_in(a->r, d->site, begins, (void *)row->other, &other, 1)) {
            struct package q = {p.framework, other.name, other.version};
            read_requirements(a, &q, other.site, other.info);
        }
    }
    if (!a->n)
        read_bundled(a, &p, d->site);
    WC_EACH(told, WC_ITEMS(a->out, a->n)) {
        struct wc_spec spec;
        if (told->by_file || wc_version_of(told->built).minor >= 0 ||
            (wc_spec_read(told->spec, &spec) && wc_spec_floor(&spec).minor >= 0))
            return; /* it contains more than a major */
    }
    read_table(a, &p, normal, d);
}

/* Python files that require a cuDNN, without a library to ask for it, may ask as a script does. */
static bool read_script(void *arg, const char *info) {
    struct asking *a = arg;
    size_t mark = a->r->memory.used, before = a->n;
    const char *record = wc_reading_format(a->r, "%s/%s/RECORD", a->site, info);
    struct wc_distribution d;
    if (wc_distribution_take(&d, a->site, info, ""))
        read_requirements(a, &(struct package){NULL, d.name, d.version}, a->site, info);
    if (a->n > before && (wc_reading_find(a->r, record, 0, ".so", false) != WC_NOWHERE ||
                          wc_reading_find(a->r, record, 0, ".py", false) == WC_NOWHERE))
        a->n = before;
    a->r->memory.used = mark;
    return a->n < a->most;
}

/* ---- conda ---- */

static void read_conda(struct asking *a, const char *path) {
    static const char *const names[] = {"\"cudnn ", "\"libcudnn "};
    struct wc_distribution c;
    char line[LINE];
    if (!wc_conda_owner(a->r, path, &c))
        return;
    struct package p = {wc_conda_framework(wc_base_name(c.list)), c.name, c.version};
    const char *build = wc_str_find(c.build, "cudnn");
    struct wc_version v = WC_VERSION_NONE;
    if (build)
        wc_version_parse_start(build + 5, wc_str_length(build + 5), &v);
    add_built(a, &p, "conda package", c.list, v);
    uint64_t depends = wc_reading_find(a->r, c.list, 0, "\"depends\"", false);
    WC_EACH_ROW(name, names) {
        if (!wc_reading_value(a->r, c.list, depends, *name, false, line, sizeof line))
            continue;
        /* "cudnn >=9.3.0.75,<10.0a0": the pre-release mark that conda puts behind upper bounds
         * goes. */
        size_t n = 0;
        for (const char *s = line; *s && *s != '"' && *s != ' '; s++)
            if (*s == 'a' && s[1] == '0' && (s[2] == ',' || s[2] == '"' || s[2] == ' '))
                s++;
            else
                line[n++] = *s;
        add_required(a, &p, NULL, c.list,
                     &(struct wc_requirement){
                         .name = "cudnn", .name_length = 5, .spec = line, .spec_length = n});
    }
}

size_t wc_metadata_demands(const struct wc_files *files, const char *host_path, const char *site,
                           void *scratch, size_t scratch_size, struct wc_metadata_demand *out,
                           size_t most) {
    struct wc_reading r;
    struct asking a = {&r, out, 0, most, NULL};
    struct wc_distribution d;
    char installer[NAME];
    if (!host_path) /* as in wc_identify */
        return 0;
    wc_reading_begin(&r, files, scratch, scratch_size);
    bool found = wc_distribution_of(&r, host_path, &d);
    if (wc_program_is(host_path, WC_PROGRAM_LIBRARY)) {
        size_t above = wc_dir_above(host_path, wc_dir_length(host_path));
        a.site = wc_distribution_site(&r, site ? site : host_path);
        if (!a.site) /* lib-dynload is next to it */
            a.site = wc_reading_format(&r, "%.*s/site-packages", (int)above, host_path);
        if (a.site)
            files->list(files->ctx, a.site, read_script, &a);
        return a.n;
    }
    if (found)
        read_distribution(&a, &d);
    /* What pip put over conda's files conda's record does not list. */
    if (!found || !wc_distribution_installer(&r, &d, installer, sizeof installer) ||
        wc_str_compare(installer, "conda") == 0)
        read_conda(&a, host_path);
    return a.n;
}
