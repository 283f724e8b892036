/* SPDX-License-Identifier: Apache-2.0 */
/* To which installation does a file belong? (identify.h) */
#include "identify.h"

#include "core/knowledge/frameworks.h"
#include "core/names/names.h"

enum { LEVELS = 6, ENVIRONMENT_LEVELS = 8, RECORDS = 16, STEM = 24, PACKAGES = 8, LINE = 128 };

#define DPKG "/var/lib/dpkg"

/* The version of a package whose name begins so is cuDNN's own. */
static const struct {
    enum wc_installation_kind kind;
    const char *prefix;
} cudnn_packages[] = {
    {WC_installation_kind_WHEEL, "nvidia-cudnn-cu"},
    {WC_installation_kind_WHEEL, "nvidia-cudnn-jit-cu"},
    {WC_installation_kind_CONDA, "cudnn"},
    {WC_installation_kind_CONDA, "libcudnn"},
    {WC_installation_kind_DEBIAN, "libcudnn"},
    {WC_installation_kind_DEBIAN, "nvidia-cudnn"},
};

/* Where RPM keeps what is installed, by release. It cannot be read without librpm: which package it
 * was stays unknown. */
static const char *const rpm_databases[] = {
    "/usr/lib/sysimage/rpm/rpmdb.sqlite",
    "/usr/lib/sysimage/rpm/Packages.db",
    "/var/lib/rpm/rpmdb.sqlite",
    "/var/lib/rpm/Packages.db",
    "/var/lib/rpm/Packages",
};

/* Its place: n bytes of the path. */
static void set(struct wc_identity *out, enum wc_installation_kind kind, const char *name,
                const char *version, const char *path, size_t n) {
    out->installation_kind = kind;
    wc_str_copy(out->installation, sizeof out->installation, name);
    wc_str_copy(out->installation_version, sizeof out->installation_version, version);
    wc_str_format(out->installation_path, sizeof out->installation_path, "%.*s", (int)n, path);
}

static bool begins(const char *name, const char *prefix) {
    while (*prefix && (*name == *prefix || (*name == '_' && *prefix == '-'))) {
        name++;
        prefix++;
    }
    return !*prefix;
}

bool wc_is_cudnn_package(enum wc_installation_kind kind, const char *name) {
    return WC_ANY(package, WC_ROWS(cudnn_packages),
                  name && kind == package->kind && begins(name, package->prefix));
}

/* ---- a wheel, or a framework's own copy in one ---- */

/* *changed: the file is not what the wheel installed. */
static bool in_wheel(struct wc_reading *r, const char *path, bool is_library,
                     struct wc_identity *out, bool *changed) {
    struct wc_distribution d;
    if (!wc_distribution_of(r, path, &d))
        return false;
    char installer[STEM];
    bool own = !is_library || wc_str_starts(d.name, "nvidia-");
    bool by_conda = wc_distribution_installer(r, &d, installer, sizeof installer) &&
                    wc_str_compare(installer, "conda") == 0;
    size_t site = wc_str_length(d.site), folder = wc_distribution_folder(d.relative);
    set(out,
        !own       ? WC_installation_kind_BUNDLED
        : by_conda ? WC_installation_kind_CONDA
                   : WC_installation_kind_WHEEL,
        d.name, d.version, path, folder ? site + 1 + folder : site);
    *changed = d.changed;
    return true;
}

/* ---- conda and Debian: the package's name holds the library's ---- */

/* "libcublasLt-37d11411.so.12" -> "cublas": the word that its package's name holds. Of what uses a
 * library that is its folder's name in site-packages: "visionkit/_C.so". */
static void library_stem(const char *path, bool is_library, char stem[STEM]) {
    static const char site[] = "/site-packages/";
    const char *name = is_library ? NULL : wc_str_find(path, site);
    size_t n = 0;
    name = name ? name + sizeof site - 1 : wc_base_name(path);
    if (wc_str_starts(name, "lib"))
        name += 3;
    while (n + 1 < STEM && name[n] >= 'a' && name[n] <= 'z')
        n++;
    wc_str_format(stem, STEM, "%.*s", (int)n, name);
}

void wc_conda_take(struct wc_distribution *out, const char *prefix, const char *record) {
    const char *file = wc_base_name(record);
    size_t end = wc_str_length(file) - wc_str_length(".json"), build = end, version, name;
    while (build && file[build - 1] != '-')
        build--;
    version = build ? build - 1 : 0;
    while (version && file[version - 1] != '-')
        version--;
    name = version ? version - 1 : 0;
    out->site = prefix;
    out->list = record;
    wc_str_format(out->name, sizeof out->name, "%.*s", (int)name, file);
    wc_str_format(out->version, sizeof out->version, "%.*s",
                  build > version ? (int)(build - 1 - version) : 0, file + version);
    wc_str_format(out->build, sizeof out->build, "%.*s", (int)(end - build), file + build);
}

size_t wc_conda_packages(struct wc_reading *r, const char *path, bool owner,
                         wc_distribution_fits *fits, void *ctx, struct wc_distribution *out,
                         size_t most) {
    const char *record[RECORDS];
    size_t start = r->memory.used, length = wc_dir_length(path), n = 0, records;
    bool is_environment = false;
    for (int level = 0; level < ENVIRONMENT_LEVELS && length > 1 && !n; level++) {
        r->memory.used = start;
        const char *prefix = wc_reading_copy(r, path, length);
        const char *meta = prefix ? wc_reading_format(r, "%s/conda-meta", prefix) : NULL;
        is_environment = wc_reading_names(r, meta, ".json", fits, ctx, record, RECORDS, &records);
        for (size_t i = 0; is_environment && i < records && n < most; i++) {
            wc_conda_take(&out[n], prefix, record[i]);
            size_t mark = r->memory.used;
            const char *quoted = wc_reading_format(r, "\"%s\"", path + length + 1);
            n += !owner || wc_reading_find(r, record[i], 0, quoted, false) != WC_NOWHERE;
            r->memory.used = mark;
        }
        if (is_environment && !owner)
            break;
        length = wc_dir_above(path, length);
    }
    if (!n)
        r->memory.used = start;
    return n;
}

static bool names_stem(void *ctx, const char *record) {
    return wc_str_find(record, ctx) != NULL;
}

const struct wc_framework *wc_conda_framework(const char *record) {
    WC_EACH_FRAMEWORK(f)
        WC_EACH_TEXT(start, f->conda)
            if (wc_str_starts(record, *start))
                return f;
    return NULL;
}

static bool may_own(void *stem, const char *record) {
    return (*(char *)stem && names_stem(stem, record)) || wc_conda_framework(record);
}

bool wc_conda_owner(struct wc_reading *r, const char *path, struct wc_distribution *out) {
    char stem[STEM];
    library_stem(path, wc_name_kind_of(path) != WC_NAME_OTHER, stem);
    return wc_conda_packages(r, path, true, may_own, stem, out, 1) > 0;
}

static bool in_conda(struct wc_reading *r, const char *path, struct wc_identity *out) {
    struct wc_distribution p;
    if (!wc_conda_owner(r, path, &p))
        return false;
    set(out, WC_installation_kind_CONDA, p.name, p.version, p.site, wc_str_length(p.site));
    if (wc_str_starts(p.build, "cuda")) /* as conda writes it: 7.6.5=cuda10.0_0 */
        wc_str_format(out->installation_version, sizeof out->installation_version, "%s=%s",
                      p.version, p.build);
    return true;
}

size_t wc_debian_lists(struct wc_reading *r, wc_distribution_fits *fits, void *ctx,
                       const char **list, size_t most) {
    size_t n;
    wc_reading_names(r, DPKG "/info", ".list", fits, ctx, list, most, &n);
    return n;
}

static bool has_line(struct wc_reading *r, const char *list, const char *path, bool *begins) {
    char rest[2];
    uint64_t at = wc_reading_find(r, list, 0, path, true);
    *begins = at != WC_NOWHERE;
    return *begins &&
           (!wc_reading_line(r, list, at + wc_str_length(path), rest, sizeof rest) || !rest[0]);
}

void wc_debian_package(struct wc_reading *r, const char *list, struct wc_distribution *out) {
    const char *file = wc_base_name(list), *colon = wc_str_find_char(file, ':');
    int whole = (int)(wc_str_length(file) - wc_str_length(".list"));
    const char *key =
        wc_reading_format(r, "Package: %.*s\n", colon ? (int)(colon - file) : whole, file);
    uint64_t at = wc_reading_find(r, DPKG "/status", 0, key, true);
    out->site = "/";
    out->list = list;
    wc_str_format(out->name, sizeof out->name, "%.*s", whole, file);
    if (!wc_reading_value(r, DPKG "/status", at, "Version: ", true, out->version,
                          sizeof out->version))
        out->version[0] = 0;
}

bool wc_is_debian_path(const char *path) {
    return wc_str_starts(path, "/usr/lib") || wc_str_starts(path, "/lib");
}

static bool in_debian(struct wc_reading *r, const char *path, char *stem, struct wc_identity *out) {
    struct wc_distribution package;
    const char *list[PACKAGES];
    size_t mark = r->memory.used, i = 0;
    size_t n = stem[0] && wc_is_debian_path(path)
                   ? wc_debian_lists(r, names_stem, stem, list, PACKAGES)
                   : 0;
    for (; i < n; i++) {
        bool begins, has = has_line(r, list[i], path, &begins);
        if (!begins && wc_str_starts(path, "/usr/")) /* by its old place, /lib */
            has = has_line(r, list[i], path + 4, &begins);
        if (has)
            break;
    }
    if (i < n) {
        wc_debian_package(r, list[i], &package);
        set(out, WC_installation_kind_DEBIAN, package.name, package.version, path,
            wc_dir_length(path));
    }
    r->memory.used = mark;
    return i < n;
}

/* ---- RPM: by the place and the system, since its database cannot be read ---- */

static bool in_rpm(struct wc_reading *r, const char *path, struct wc_identity *out) {
    if (!(wc_str_starts(path, "/usr/lib64/") || wc_str_starts(path, "/usr/lib/") ||
          wc_str_starts(path, "/lib64/")) ||
        wc_reading_exists(r, DPKG "/status") ||
        !WC_ANY(database, WC_ROWS(rpm_databases), wc_reading_exists(r, *database)))
        return false;
    set(out, WC_installation_kind_RPM, "", "", path, wc_dir_length(path));
    return true;
}

/* ---- what a container's runtime put over the image's files ---- */

/*
 * Container runtimes bind the driver's libraries, on Jetson CUDA's and cuDNN's too, from the host
 * over what the image has: the image's package list then describes another file. proc(5),
 * mountinfo: "36 35 98:0 /mnt1 /mnt/parent rw,noatime master:1 - ext3 /dev/root rw": root in its
 * file system, mount point, options, "-" after the optional fields, type. False: the point is too
 * long.
 */
static bool read_mount(const char *line, struct wc_mount *out) {
    enum { ROOT = 3, AT, OPTIONS, FIELDS };
    struct wc_element field[FIELDS] = {{"", 0}};
    size_t n = 0, used = 0;
    WC_EACH_ELEMENT(e, line, " ") {
        field[n++] = e;
        if (n == FIELDS)
            break;
    }
    const char *type = wc_str_find(line, " - "), *s = field[AT].p;
    out->no_execution = false;
    WC_EACH_ELEMENT(option, field[OPTIONS].p, ", ") {
        if (option.p >= field[OPTIONS].p + field[OPTIONS].n)
            break;
        out->no_execution |= option.n == 6 && wc_str_starts(option.p, "noexec");
    }
    out->bound = !(field[ROOT].n == 1 && field[ROOT].p[0] == '/') &&
                 !(type && wc_str_starts(type, " - btrfs ")); /* has volumes of other roots */
    n = field[AT].n;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (used == sizeof out->point - 1)
            return false;
        /* Blanks and backslashes stand as \040. */
        if (c == '\\' && n - i >= 4 && s[i + 1] >= '0' && s[i + 1] <= '3' && s[i + 2] >= '0' &&
            s[i + 2] <= '7' && s[i + 3] >= '0' && s[i + 3] <= '7') {
            c = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0'));
            i += 3;
        }
        out->point[used++] = c;
    }
    out->point[used] = 0;
    return true;
}

struct mounts {
    const char *path;
    struct wc_mount *best;
};

/* Of two on one point the later one is on top. */
static bool consider(void *ctx, const char *line) {
    struct mounts *m = ctx;
    struct wc_mount read;
    if (!read_mount(line, &read))
        return true;
    size_t n = wc_str_length(read.point);
    if (n <= 1 || n < wc_str_length(m->best->point) || !wc_str_starts(m->path, read.point) ||
        (m->path[n] != '/' && m->path[n]))
        return true;
    read.of_file = !m->path[n];
    read.bound |= read.of_file;
    *m->best = read;
    return true;
}

bool wc_mount_of(struct wc_reading *r, const char *path, struct wc_mount *out) {
    struct mounts m = {path, out};
    wc_mem_set(out, 0, sizeof *out);
    wc_reading_each(r, "/proc/self/mountinfo", "\n", consider, &m);
    return out->bound;
}

static bool is_mounted(struct wc_reading *r, const char *path, struct wc_identity *out) {
    struct wc_mount m;
    if (!wc_mount_of(r, path, &m))
        return false;
    wc_str_copy(out->mount, sizeof out->mount, m.point);
    if (!m.of_file)
        return false;
    set(out, WC_installation_kind_CONTAINER_MOUNT, "", "", path, wc_dir_length(path));
    return true;
}

/* ---- a CUDA toolkit, a framework's folder, a directory ---- */

/* version.json of CUDA 11 and later: "cuda" : { "name" : ..., "version" : "13.0.2" }. to: "" if
 * there is none. */
static bool version_of_toolkit(struct wc_reading *r, const char *root, char *to, size_t cap) {
    char line[LINE];
    const char *json = wc_reading_format(r, "%s/version.json", root);
    uint64_t at = wc_reading_find(r, json, 0, "\"cuda\"", false);
    to[0] = 0;
    if (!wc_reading_value(r, json, at, "\"version\"", false, line, sizeof line))
        return false;
    const char *from = line;
    while (*from == ' ' || *from == ':' || *from == '"')
        from++;
    int n = 0;
    while (wc_is_digit(from[n]) || from[n] == '.')
        n++;
    wc_str_format(to, cap, "%.*s", n, from);
    return n != 0;
}

/* A directory named cuda-13.0, or any with a toolkit's version.json, or "cuda" with a compiler. */
static bool is_toolkit(struct wc_reading *r, const char *root, char *version, size_t cap) {
    const char *name = wc_base_name(root);
    bool numbered = wc_str_starts(name, "cuda-") && wc_is_digit(name[5]);
    if (version_of_toolkit(r, root, version, cap))
        return true;
    if (numbered)
        wc_str_copy(version, cap, name + 5);
    return numbered || (wc_str_compare(name, "cuda") == 0 &&
                        (wc_reading_exists(r, wc_reading_format(r, "%s/bin/nvcc", root)) ||
                         wc_reading_exists(r, wc_reading_format(r, "%s/version.txt", root))));
}

static bool in_toolkit(struct wc_reading *r, const char *path, struct wc_identity *out) {
    char version[WC_VERSION_TEXT];
    size_t length = wc_dir_length(path), mark = r->memory.used;
    for (int level = 0; level < LEVELS && length > 1; level++) {
        const char *root = wc_reading_copy(r, path, length);
        bool found = root && is_toolkit(r, root, version, sizeof version);
        r->memory.used = mark;
        if (found) {
            /* "cuda-13.0" of 13.0.2: how NVIDIA names the directory. */
            const char *dot = wc_str_find_char(version, '.');
            dot = dot ? wc_str_find_char(dot + 1, '.') : NULL;
            set(out, WC_installation_kind_CUDA_TOOLKIT, "", version, path, length);
            wc_str_format(out->installation, sizeof out->installation, "cuda%s%.*s",
                          version[0] ? "-" : "",
                          (int)(dot ? (size_t)(dot - version) : wc_str_length(version)), version);
            return true;
        }
        length = wc_dir_above(path, length);
    }
    return false;
}

static bool in_bundle(const char *path, struct wc_identity *out) {
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->copies, within) {
            const char *at = wc_str_find(path, row->within);
            if (!at)
                continue;
            const char *end = wc_str_find_char(at + 1, '/');
            set(out, WC_installation_kind_BUNDLED, row->installation, "", path,
                (size_t)(end - path));
            return true;
        }
    return false;
}

void wc_installation_of(struct wc_reading *r, const char *path, struct wc_identity *out,
                        struct wc_version *cudnn) {
    char stem[STEM];
    bool is_library = wc_name_kind_of(path) != WC_NAME_OTHER, changed = false;
    library_stem(path, is_library, stem);
    if (!in_wheel(r, path, is_library, out, &changed) &&
        !(is_library && is_mounted(r, path, out)) && !in_conda(r, path, out) &&
        !in_toolkit(r, path, out) &&
        !(is_library &&
          (in_debian(r, path, stem, out) || in_bundle(path, out) || in_rpm(r, path, out))))
        set(out, WC_installation_kind_DIRECTORY, "", "", path, wc_dir_length(path));
    *cudnn = WC_VERSION_NONE;
    if (!changed && wc_is_cudnn_package(out->installation_kind, out->installation))
        /* Debian and others append "-1", "~cuda12". */
        wc_version_parse_start(out->installation_version, wc_str_length(out->installation_version),
                               cudnn);
}
