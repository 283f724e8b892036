/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/findings/finding.h"
#include "core/packages/distribution.h"
#include "image.h"
#include "tools/util/memory.h"
#include "wheels.h"

#define LIST_MOST ((size_t)16 << 20) /* of a package's list of files */

static const char unknown_content[] = "what a file of this package holds is not known";
static const char no_list[] = "its list of files is gone, without which nothing takes it away";
static const char satisfied[] = "what is installed is such a release already";

struct overlay_file {
    UT_hash_handle hh;
    const char *path; /* without links, inside of the root */
    struct disk_entry entry;
};

struct overlay_name {
    UT_hash_handle hh;
    const char *name;
};

struct overlay_made {
    UT_hash_handle hh;
    char *key;
    int fd;
};

/* ---- the layer ---- */

static struct disk_entry at(void *overlay, const char *path) {
    struct overlay *o = overlay;
    struct overlay_file *f;

    f = hash_find_text(o->files, path);
    return f ? f->entry : (struct disk_entry){.kind = DISK_AS_IT_IS};
}

static bool lies_in(const struct overlay_file *f, const char *dir, size_t n) {
    return strncmp(f->path, dir, n) == 0 && f->path[n] == '/' && !strchr(f->path + n + 1, '/');
}

static size_t length_of(const char *dir) {
    return strcmp(dir, "/") == 0 ? 0 : strlen(dir);
}

static bool is_in(void *overlay, const char *dir) {
    const size_t n = length_of(dir);
    struct overlay *o = overlay;

    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (lies_in(f, dir, n))
            return true;
    return false;
}

static bool list(void *overlay, const char *dir, bool (*each)(void *arg, const char *name),
                 void *arg) {
    const size_t n = length_of(dir);
    struct overlay *o = overlay;

    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (f->entry.kind != DISK_GONE && lies_in(f, dir, n) && !each(arg, f->path + n + 1))
            return false;
    return true;
}

/* "libcudnn.so" of "libcudnn.so.9.1.0": links of a library lead from one of its names to another.
 */
static size_t stem_length(const char *name) {
    const char *end = strstr(name, ".so");

    return end ? (size_t)(end - name) + strlen(".so") : strlen(name);
}

static bool concerns(void *overlay, const char *name) {
    struct overlay *o = overlay;
    struct overlay_name *found;

    if (!*name) /* a directory, with a '/' behind */
        return o->files != NULL;
    found = hash_find(o->names, name, stem_length(name));
    return found != NULL;
}

/* ---- what it is made of ---- */

#define format(o, ...) wc_arena_format(&(o)->memory.arena, __VA_ARGS__)

static bool fail(struct overlay *o, const char *why) {
    if (!o->why)
        o->why = why;
    return false;
}

static void add_text(struct overlay_names *to, const char *text) {
    to->p = must_grow(to->p, (to->n + 2) * sizeof(*to->p));
    to->p[to->n++] = text;
    to->p[to->n] = NULL;
}

/* The file is to be looked at anew. */
static void note_name(struct overlay *o, const char *path) {
    const char *name = wc_base_name(path);
    struct overlay_name *n;

    n = hash_find(o->names, name, stem_length(name));
    if (n || !(n = wc_arena_take(&o->memory.arena, sizeof(*n))))
        return;
    n->name = name;
    hash_add(&o->names, n, n->name, stem_length(n->name));
}

static const struct wc_files *disk_of(const struct overlay *o) {
    return &o->library_cache->disk.files;
}

static bool is_there(const struct overlay *o, const char *path) {
    struct wc_file_stat facts;

    return disk_of(o)->facts(disk_of(o)->ctx, path, &facts);
}

/* As a container's runtime mounts libraries. */
static bool is_library_point(const char *point, const struct wc_mount_line *line) {
    (void)line;
    return strstr(wc_base_name(point), ".so") != NULL;
}

static bool is_mount(const struct overlay *o, const char *path) {
    if (!o->kept->mounts_read && !o->library_cache->disk.root[0])
        mount_points_read(&o->kept->mounts, is_library_point);
    o->kept->mounts_read = true;
    return mount_points_have(&o->kept->mounts, path);
}

static bool is_directory(struct overlay *o, const char *path) {
    return wc_is_directory(disk_of(o), path);
}

static void put(struct overlay *o, const char *path, struct disk_entry entry);

/* Directories on the way to it that are not there. */
static void put_directories(struct overlay *o, const char *path) {
    size_t n = wc_dir_length(path);
    char *directory = n > 1 ? format(o, "%.*s", (int)n, path) : NULL;

    if (directory && !is_there(o, directory))
        put(o, directory, (struct disk_entry){.kind = DISK_DIRECTORY});
}

static void put(struct overlay *o, const char *path, struct disk_entry entry) {
    struct overlay_file *f;

    if (!path)
        return;
    if (is_mount(o, path)) /* EBUSY */
        fail(o, "a file that it would replace is mounted there, which nobody can take away");
    if ((entry.kind == DISK_FILE || entry.kind == DISK_LINK) && is_directory(o, path))
        fail(o, "a directory stands in the place of a file that it would bring");
    if (entry.kind != DISK_GONE)
        put_directories(o, path);
    f = hash_find_text(o->files, path);
    if (f) {
        if (f->entry.kind == DISK_FILE)
            close(f->entry.fd);
    } else if ((f = wc_arena_take(&o->memory.arena, sizeof(*f)))) {
        f->path = path;
        hash_add(&o->files, f, f->path, strlen(f->path));
    }
    if (f)
        f->entry = entry;
    o->library_cache->disk.changed++;
    note_name(o, path);
    o->changes = true;
}

static void hide(struct overlay *o, const char *path) {
    put(o, path, (struct disk_entry){.kind = DISK_GONE});
}

static bool put_file(struct overlay *o, const char *path, int fd) {
    if (fd < 0)
        return fail(o, "no memory for the files that it would bring");
    put(o, path, (struct disk_entry){.kind = DISK_FILE, .fd = fd});
    return true;
}

static bool put_text(struct overlay *o, const char *path, const char *text) {
    return put_file(o, path, image_of_bytes(text, strlen(text), 0));
}

/* The path without links in its directories; its own last element stays. Directories that are not
 * there have none. */
static const char *placed(struct overlay *o, const char *path) {
    size_t n = wc_dir_length(path);
    char *directory = format(o, "%.*s", (int)n, path), room[PATH_MAX];

    if (!directory || n <= 1)
        return path;
    if (disk_of(o)->real_path(disk_of(o)->ctx, directory, room, sizeof(room)))
        return format(o, "%s/%s", strcmp(room, "/") == 0 ? "" : room, path + n + 1);
    return format(o, "%s/%s", placed(o, directory), path + n + 1);
}

/* What leads to a file goes with the path; the file behind a link stays. */
static const char *real_path(struct overlay *o, const char *path) {
    char room[PATH_MAX];

    return disk_of(o)->real_path(disk_of(o)->ctx, path, room, sizeof(room))
               ? wc_arena_string(&o->memory.arena, room)
               : NULL;
}

static char *read_all(struct overlay *o, const char *path) {
    struct wc_file_stat facts;
    char *text;
    size_t n;

    if (!disk_of(o)->facts(disk_of(o)->ctx, path, &facts) || facts.size > LIST_MOST ||
        !(text = wc_arena_take(&o->memory.arena, (size_t)facts.size + 1)) ||
        !disk_of(o)->read(disk_of(o)->ctx, path, 0, text, (size_t)facts.size, &n))
        return NULL;
    text[n] = '\0';
    return text;
}

/* ---- wheels ---- */

struct distribution {
    const char *info, *version; /* "nvidia_cudnn_cu12-9.1.0.70.dist-info" below its site */
};

struct looking {
    struct overlay *o;
    char name[96];
    struct distribution *out;
    bool found;
};

static bool is_of_package(void *arg, const char *entry) {
    struct looking *l = arg;
    const char *dash = strchr(entry, '-');
    size_t end = strlen(entry), suffix = strlen(".dist-info");
    char name[96];

    if (!dash || !wc_str_ends(entry, ".dist-info"))
        return true;
    wc_distribution_normalise(entry, (size_t)(dash - entry), name, sizeof(name));
    if (strcmp(name, l->name) != 0)
        return true;
    l->out->info = wc_arena_string(&l->o->memory.arena, entry);
    l->out->version =
        wc_arena_string_n(&l->o->memory.arena, dash + 1, end - suffix - (size_t)(dash + 1 - entry));
    l->found = true;
    return false;
}

static bool find_distribution(struct overlay *o, const char *site, const char *package,
                              struct distribution *out) {
    struct looking l = {.o = o, .out = out};

    wc_distribution_normalise(package, strlen(package), l.name, sizeof(l.name));
    return disk_of(o)->list(disk_of(o)->ctx, site, is_of_package, &l) && l.found;
}

/* A line of RECORD: the path, and the size; 0: none. */
static const char *record_line(struct overlay *o, const char *site, char *line, uint64_t *size) {
    char *comma = strrchr(line, ','), *end;
    const char *path;

    *size = comma ? strtoull(comma + 1, NULL, 10) : 0;
    end = line[0] == '"' ? strchr(line + 1, '"') : strchr(line, ',');
    if (!end)
        return NULL;
    *end = '\0';
    path = line[0] == '"' ? line + 1 : line;
    return path[0] == '/' ? placed(o, path) : placed(o, format(o, "%s/%s", site, path));
}

static bool is_library(const char *path) {
    return strstr(wc_base_name(path), ".so") != NULL;
}

static bool hide_directory_entry(void *arg, const char *name) {
    struct looking *l = arg;

    hide(l->o, format(l->o, "%s/%s", l->out->info, name));
    return true;
}

/* As pip takes a package away, with what another one has put at the same paths. */
static bool remove_wheel(struct overlay *o, const char *site, const struct distribution *d) {
    struct distribution folder = {.info = format(o, "%s/%s", site, d->info)};
    struct looking l = {.o = o, .out = &folder};
    char *record = read_all(o, format(o, "%s/RECORD", folder.info)), *line;
    uint64_t size;

    if (!record)
        return fail(o, no_list);
    while (record && (line = strsep(&record, "\n"))) {
        const char *path = *line ? record_line(o, site, line, &size) : NULL;
        if (path && is_library(path))
            hide(o, path);
    }
    disk_of(o)->list(disk_of(o)->ctx, folder.info, hide_directory_entry, &l);
    hide(o, folder.info);
    return true;
}

static void note_environment(struct overlay *o, const char *path) {
    add_text(&o->environments, path);
}

static void note_directory(struct overlay *o, const char *file) {
    const char *directory = format(o, "%.*s", (int)wc_dir_length(file), file);
    const struct overlay_names *known = &o->environments;

    if (known->n == 0 || !wc_str_same(known->p[known->n - 1], directory))
        note_environment(o, directory);
}

static const char *info_name(struct overlay *o, const char *package, const char *version) {
    char name[96];

    wc_distribution_normalise(package, strlen(package), name, sizeof(name));
    return format(o, "%s-%s.dist-info", name, version);
}

/* The same file of the same release is made once, and read once. */
static struct overlay_made *made_before(struct overlay *o, const char *package, const char *path,
                                        struct wc_version release, uint64_t size) {
    char version[WC_VERSION_TEXT];
    char *key = format(o, "%s %s %s %ju", package, path, wc_version_format(release, version),
                       (uintmax_t)size);
    struct overlay_made *m;

    m = hash_find_text(o->kept->made, key);
    if (m)
        return m;
    m = must_allocate(sizeof(*m));
    m->key = must_copy(key);
    m->fd = -1;
    hash_add(&o->kept->made, m, m->key, strlen(m->key));
    return m;
}

static bool put_library(struct overlay *o, const char *package, const char *path,
                        struct wc_version release, uint64_t size) {
    struct overlay_made *m = made_before(o, package, path, release, size);
    struct image image;

    if (m->fd < 0) {
        if (!wheel_image(&o->memory.arena, package, path, release, &image))
            return fail(o, unknown_content);
        image.size = size;
        m->fd = image_make(&image);
    }
    return put_file(o, path, m->fd < 0 ? -1 : fcntl(m->fd, F_DUPFD_CLOEXEC, 0));
}

/* Nothing that the loader refuses, or is for other computers, and of no other release than that. */
static bool is_sound(struct overlay *o, const char *path, struct wc_version release) {
    const struct library *l = library_cache_get(o->library_cache, path, NULL);
    struct elf_file *file = l && l->is_elf && !l->damaged && l->machine == OWN_MACHINE
                                ? library_cache_elf_file(o->library_cache, l)
                                : NULL;
    struct wc_library about;
    struct wc_version own;

    if (!file)
        return false;
    about = l->about;
    elf_file_identify(file, &about);
    own = about.identity->version;
    library_cache_elf_file_end(l, file);
    own.build = release.build = -1;
    return !wc_version_known(own) || wc_version_compare(own, release) == 0;
}

/* As the package has it: what is there in its size already. What is not cuDNN's or CUDA's may have
 * any other fault. */
static bool put_back(struct overlay *o, const char *package, const char *path,
                     struct wc_version release, uint64_t size) {
    const bool ours = wc_kind_is_ours(wc_name_kind_of(path));
    struct wc_file_stat facts;
    const bool there = disk_of(o)->facts(disk_of(o)->ctx, path, &facts);

    if (ours && !(there && size && facts.size == size && is_sound(o, path, release)))
        return put_library(o, package, path, release, size);
    return ours || (there && (!size || facts.size == size)) || fail(o, unknown_content);
}

void overlay_kept_end(struct overlay_kept *kept) {
    struct overlay_made *next;

    mount_points_end(&kept->mounts);
    for (struct overlay_made *m = kept->made; m; m = next) {
        next = m->hh.next;
        hash_remove(&kept->made, m);
        if (m->fd >= 0)
            close(m->fd);
        free(m->key);
        free(m);
    }
}

static bool install_wheel(struct overlay *o, const char *site, const char *package,
                          struct wc_version release) {
    char version[WC_VERSION_TEXT];
    const char *text = wc_version_format(release, version), *info = info_name(o, package, text);
    struct wheel_list files = wheel_list(&o->memory.arena, package, text);
    const char *const *requires = wheel_required(&o->memory.arena, package, text);
    char *record = format(o, "%s", ""), *required = record;
    struct distribution old;

    if (!files.n)
        return fail(o, "what this package brings is not known");
    if (find_distribution(o, site, package, &old)) {
        if (wc_version_compare(wc_version_of(old.version), release) == 0)
            return fail(o, "that release is installed already");
        if (!remove_wheel(o, site, &old))
            return false;
    }
    WC_EACH(file, files) {
        const char *path = placed(o, format(o, "%s/%s", site, file->file));
        struct wc_file_stat facts;
        if (!put_library(o, package, path, release, 0) ||
            !disk_of(o)->facts(disk_of(o)->ctx, path, &facts))
            return false;
        record = format(o, "%s%s,,%ju\n", record, file->file, (uintmax_t)facts.size);
    }
    for (; *requires; requires ++)
        required = format(o, "%sRequires-Dist: %s\n", required, *requires);
    return put_text(o, format(o, "%s/%s/RECORD", site, info), record) &&
           put_text(o, format(o, "%s/%s/INSTALLER", site, info), "pip\n") &&
           put_text(o, format(o, "%s/%s/METADATA", site, info),
                    format(o, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s", package, version,
                           required));
}

/* Does the METADATA of another package accept what is installed, and not that release? */
struct requiring {
    struct overlay *o;
    const char *site;
    char name[96];
    struct wc_version old, new;
    bool found;
};

static bool is_required(const struct requiring *r, const char *line) {
    static const char key[] = "Requires-Dist: ";
    const char *name = line + strlen(key), *marker = strchr(line, ';');
    const size_t n = strcspn(name, " (<>=!~;[");
    char normalised[96];
    struct wc_spec spec;

    if (!wc_str_starts(line, key))
        return false;
    wc_distribution_normalise(name, n, normalised, sizeof(normalised));
    name = format(r->o, "%.*s", (int)((marker ? (size_t)(marker - name) : strlen(name)) - n),
                  name + n);
    return strcmp(normalised, r->name) == 0 && wc_spec_read(name, &spec) && spec.n > 0 &&
           wc_spec_accepts(&spec, r->old) == WC_YES && wc_spec_accepts(&spec, r->new) == WC_NO;
}

static bool requires_old(void *requiring, const char *entry) {
    struct requiring *r = requiring;
    char *metadata, *line;

    if (!wc_str_ends(entry, ".dist-info"))
        return true;
    metadata = read_all(r->o, format(r->o, "%s/%s/METADATA", r->site, entry));
    while (!r->found && metadata && (line = strsep(&metadata, "\n")))
        r->found = is_required(r, line);
    return !r->found;
}

/* A major takes the place of another that nobody else may lose. */
static bool breaks_another(struct overlay *o, const char *site, const char *package,
                           const char *installed, struct wc_version release) {
    struct requiring r = {.o = o, .site = site, .old = wc_version_of(installed), .new = release};

    wc_distribution_normalise(package, strlen(package), r.name, sizeof(r.name));
    if (r.old.major != release.major)
        disk_of(o)->list(disk_of(o)->ctx, site, requires_old, &r);
    return r.found;
}

/* Where lib64 is no link, NVIDIA's wheels go to lib all the same: they count as pure. */
static const char *site_for(struct overlay *o, const char *site, const char *package) {
    const char *at = wc_str_starts(package, "nvidia-") ? strstr(site, "/lib64/python") : NULL;
    const char *pure =
        at ? format(o, "%.*s/lib%s", (int)(at - site), site, at + strlen("/lib64")) : NULL;

    return pure && is_there(o, pure) ? pure : site;
}

static bool may_have_libraries(const char *package) {
    return wc_str_starts(package, "nvidia-") || wc_str_starts(package, "cuda-");
}

/* What it requires comes along, where it is not there. What others are made of is not known. */
static bool install_required(struct overlay *o, const char *site, const struct distribution *d) {
    char *metadata = read_all(o, format(o, "%s/%s/METADATA", site, d->info)), *line;
    bool installed = true;

    while (installed && metadata && (line = strsep(&metadata, "\n"))) {
        static const char key[] = "Requires-Dist: ";
        const char *name = line + strlen(key), *spec, *to;
        struct distribution there;
        if (!wc_str_starts(line, key) || strstr(line, "extra =="))
            continue;
        spec = name + strcspn(name, " (<>=!~;[");
        name = format(o, "%.*s", (int)(spec - name), name);
        spec += strspn(spec, " (");
        spec = format(o, "%.*s", (int)strcspn(spec, " );["), spec);
        to = site_for(o, site, name);
        installed = find_distribution(o, to, name, &there) || !may_have_libraries(name) ||
                    install_wheel(o, to, name, wheel_release(name, spec));
    }
    return installed;
}

/* ---- conda ---- */

static bool is_conda(const struct overlay *o, const char *environment) {
    bool conda;
    char *meta = must_format("%s/conda-meta", environment);

    conda = is_there(o, meta);
    free(meta);
    return conda && !strstr(environment, "/site-packages");
}

struct conda_record {
    struct overlay *o;
    const char *meta, *package;
    const char *name; /* of the file; NULL: none */
};

/* PACKAGE-VERSION-BUILD.json */
static bool is_record(void *record, const char *name) {
    struct conda_record *r = record;
    size_t n = strlen(r->package), dashes = 0;

    if (strncmp(name, r->package, n) != 0 || name[n] != '-' || !wc_str_ends(name, ".json"))
        return true;
    for (const char *s = name + n; *s; s++)
        dashes += *s == '-';
    if (dashes != 2)
        return true;
    r->name = wc_arena_string(&r->o->memory.arena, name);
    return false;
}

static struct conda_record find_conda(struct overlay *o, const char *prefix, const char *package) {
    struct conda_record r = {
        .o = o, .meta = format(o, "%s/conda-meta", prefix), .package = package};

    disk_of(o)->list(disk_of(o)->ctx, r.meta, is_record, &r);
    return r;
}

/* A library of a list; link: it is a link to another one. */
struct listed_file {
    const char *path;
    uint64_t size; /* 0: not stated */
    bool link;
};

struct listed_files {
    struct listed_file *p;
    size_t n;
};

static void add_conda_file(struct overlay *o, struct listed_files *to, const char *prefix,
                           const char *file, const json_t *facts) {
    const char *type = json_string_value(json_object_get(facts, "path_type"));

    if (file && strncmp(file, "lib/", 4) == 0 && is_library(file))
        to->p[to->n++] = (struct listed_file){
            .path = placed(o, format(o, "%s/%s", prefix, file)),
            .size = (uint64_t)json_integer_value(json_object_get(facts, "size_in_bytes")),
            .link = wc_str_same(type, "softlink")};
}

/* The libraries that a record names: by "paths_data", which older ones do not have. */
static struct listed_files conda_files(struct overlay *o, const char *prefix,
                                       const struct conda_record *r) {
    const char *text = read_all(o, format(o, "%s/%s", r->meta, r->name));
    json_t *record = text ? json_loads(text, 0, NULL) : NULL, *entry;
    const json_t *paths = json_object_get(json_object_get(record, "paths_data"), "paths");
    const json_t *files = json_object_get(record, "files");
    const size_t most = json_array_size(paths) + json_array_size(files);
    struct listed_files all = {wc_arena_take(&o->memory.arena, (most + 1) * sizeof(*all.p)), 0};
    size_t i;

    if (!all.p)
        fail(o, "no memory for the list of the package");
    else if (json_array_size(paths) > 0)
        json_array_foreach(paths, i, entry) add_conda_file(
            o, &all, prefix, json_string_value(json_object_get(entry, "_path")), entry);
    else
        json_array_foreach(files, i, entry)
            add_conda_file(o, &all, prefix, json_string_value(entry), NULL);
    json_decref(record);
    return all;
}

static bool remove_conda(struct overlay *o, const char *prefix, const char *package) {
    struct conda_record r = find_conda(o, prefix, package);
    struct listed_files files;

    if (!r.name)
        return false;
    files = conda_files(o, prefix, &r);
    WC_EACH(file, files)
        hide(o, file->path);
    hide(o, format(o, "%s/%s", r.meta, r.name));
    return true;
}

static struct wc_version conda_version(const struct conda_record *r) {
    struct wc_version v = WC_VERSION_NONE;

    if (r->name)
        wc_version_parse_start(r->name + strlen(r->package) + 1, strlen(r->name), &v);
    return v;
}

/* Which CUDA a build is for: by its name ("cuda12_0"), else by the package that says it for the
 * whole environment. A solver keeps to that. -1: nothing says it. */
static int32_t conda_cuda(struct overlay *o, const char *prefix, const struct conda_record *r) {
    static const char *const stating[] = {"cuda-version", "cudatoolkit"};
    const char *build = r->name ? strstr(r->name, "-cuda") : NULL;

    if (build && wc_is_digit(build[strlen("-cuda")]))
        return (int32_t)strtol(build + strlen("-cuda"), NULL, 10);
    WC_EACH_ROW(name, stating) {
        struct conda_record said = find_conda(o, prefix, *name);
        if (said.name)
            return conda_version(&said).major;
    }
    return -1;
}

/* The wheel with the same libraries. */
static const char *conda_wheel(struct overlay *o, int32_t cuda) {
    return format(o, "nvidia-cudnn-cu%d", cuda < 11 ? 12 : cuda);
}

/* For CUDA 12 and older channels have older ones, too. */
static struct wc_version conda_release(const char *wheel, int32_t cuda, const char *spec) {
    struct wc_version v = wheel_release(wheel, spec);
    struct wc_spec set;

    if (!wc_version_known(v) && cuda <= 12 && wc_spec_read(spec, &set))
        v = wc_spec_floor(&set);
    return v;
}

static bool put_conda(struct overlay *o, const char *prefix, const char *package, const char *wheel,
                      struct wc_version release) {
    char version[WC_VERSION_TEXT];
    struct wheel_list files =
        wheel_list(&o->memory.arena, wheel, wc_version_format(release, version));
    const struct wheel_file monolith = {.file = format(o, "libcudnn.so.%d", release.major)};
    char *listed = format(o, "%s", "");

    if (release.major < 8) /* there was one library */
        files = (struct wheel_list){&monolith, 1};
    release.build = -1;
    wc_version_format(release, version);
    WC_EACH(file, files) {
        const char *name = wc_base_name(file->file);
        if (!put_library(o, wheel, placed(o, format(o, "%s/lib/%s", prefix, name)), release, 0))
            return false;
        listed = format(o, "%s%s\n    \"lib/%s\"", listed, *listed ? "," : "", name);
    }
    return put_text(o, format(o, "%s/conda-meta/%s-%s-0.json", prefix, package, version),
                    format(o, "{\n  \"files\": [%s\n  ]\n}\n", listed));
}

static bool install_conda(struct overlay *o, const char *prefix, const struct edit *e) {
    struct conda_record r = find_conda(o, prefix, e->name);
    const char *spec = e->value ? e->value : "";
    const int32_t cuda = conda_cuda(o, prefix, &r);
    const char *wheel = conda_wheel(o, cuda);
    struct wc_version release = conda_release(wheel, cuda, spec);
    struct wc_spec set;

    if (r.name && (!*spec || (wc_spec_read(spec, &set) &&
                              wc_spec_accepts(&set, conda_version(&r)) == WC_YES)))
        return fail(o, satisfied);
    if (!wc_version_known(release))
        return fail(o, "no release of it is known");
    remove_conda(o, prefix, e->name);
    return put_conda(o, prefix, e->name, wheel, release);
}

/* A link leads to the longest name of the same library that is listed. */
static void put_link_of(struct overlay *o, const struct listed_files *files, const char *link) {
    const char *name = wc_base_name(link), *target = NULL;

    WC_EACH(file, *files) {
        const char *other = wc_base_name(file->path);
        if (!file->link && strncmp(other, name, strlen(name)) == 0 &&
            (!target || strlen(other) > strlen(target)))
            target = other;
    }
    if (target)
        put(o, link, (struct disk_entry){.kind = DISK_LINK, .target = target});
}

static bool reinstall_conda(struct overlay *o, const char *prefix, const struct edit *e) {
    struct conda_record r = find_conda(o, prefix, e->name);
    const struct wc_version release = conda_version(&r);
    const char *wheel = conda_wheel(o, conda_cuda(o, prefix, &r));
    struct listed_files files;

    if (!r.name)
        return fail(o, "it is not installed there");
    files = conda_files(o, prefix, &r);
    WC_EACH(file, files)
        if (file->link)
            put_link_of(o, &files, file->path);
        else if (!put_back(o, wheel, file->path, release, file->size))
            return false;
    return !o->why;
}

/* ---- Debian ---- */

/* The libraries that dpkg's list of a package names, where nothing but names is listed. */
static struct listed_files debian_files(struct overlay *o, const char *list) {
    char *text = read_all(o, list), *line;
    struct listed_files all = {.n = 0};
    size_t most = 1;

    for (const char *s = text; s && *s; s++)
        most += *s == '\n';
    all.p = text ? wc_arena_take(&o->memory.arena, most * sizeof(*all.p)) : NULL;
    while (all.p && (line = strsep(&text, "\n")))
        if (line[0] == '/' && is_library(line))
            all.p[all.n++] = (struct listed_file){.path = placed(o, line)};
    return all;
}

static const char *debian_list(struct overlay *o, const char *package) {
    return format(o, "/var/lib/dpkg/info/%s.list", package);
}

/* The longest listed name of a library is the file, the shorter ones are links to it. */
static bool is_link_of(const struct listed_files *files, const char *path) {
    const char *name = wc_base_name(path);
    const size_t n = strlen(name);

    return WC_ANY(file, *files,
                  strncmp(wc_base_name(file->path), name, n) == 0 &&
                      wc_base_name(file->path)[n] == '.');
}

/* "libcudnn9-cuda-12", "libcudnn8" of 8.9.7.29-1+cuda12.2: which CUDA it is for; -1: not said. */
static int32_t debian_cuda(const struct edit *e) {
    const char *of_name = strstr(e->name, "-cuda-");
    const char *of_version = e->value ? strstr(e->value, "+cuda") : NULL;
    const char *at = of_name      ? of_name + strlen("-cuda-")
                     : of_version ? of_version + strlen("+cuda")
                                  : NULL;

    return at && wc_is_digit(*at) ? (int32_t)strtol(at, NULL, 10) : -1;
}

static bool reinstall_debian(struct overlay *o, const struct edit *e) {
    struct listed_files files = debian_files(o, debian_list(o, e->name));
    const char *wheel = conda_wheel(o, debian_cuda(e));
    struct wc_version release = WC_VERSION_NONE;

    if (!files.n)
        return fail(o, no_list);
    if (e->value)
        wc_version_parse_start(e->value, strlen(e->value), &release);
    WC_EACH(file, files) {
        const bool bare = wc_str_ends(file->path, ".so"); /* of another package's library */
        if (is_link_of(&files, file->path))
            put_link_of(o, &files, file->path);
        else if (bare ? !is_there(o, file->path)
                      : !put_back(o, wheel, file->path, release, file->size))
            return fail(o, unknown_content);
        note_directory(o, file->path);
    }
    return !o->why;
}

static bool place_cudnn(struct overlay *o, const char *directory, const char *package,
                        struct wc_version release);

/* To where the package for developers, which has links alone, counts on it. */
static bool install_debian(struct overlay *o, const struct edit *e) {
    const char *at = strpbrk(e->name, "0123456789");
    const size_t n = at ? strspn(at, "0123456789") : 0;
    const struct listed_files links =
        at ? debian_files(o,
                          debian_list(o, format(o, "%.*s-dev%s", (int)(at - e->name + (ptrdiff_t)n),
                                                e->name, at + n)))
           : (struct listed_files){.n = 0};
    struct wc_version release = WC_VERSION_NONE;
    const char *link = links.n ? links.p[0].path : NULL, *text = e->value ? e->value : "";

    text += wc_str_starts(text, "==") ? strlen("==") : 0;
    wc_version_parse_start(text, strlen(text), &release);
    if (!link || !wc_version_known(release))
        return fail(o, unknown_content);
    if (is_there(o, debian_list(o, e->name)))
        return fail(o, satisfied);
    note_directory(o, link);
    return place_cudnn(o, format(o, "%.*s", (int)wc_dir_length(link), link),
                       conda_wheel(o, debian_cuda(e)), release);
}

static bool remove_debian(struct overlay *o, const struct edit *e) {
    const char *list = debian_list(o, e->name);
    struct listed_files files = debian_files(o, list);

    if (!files.n)
        return fail(o, no_list);
    WC_EACH(file, files) {
        hide(o, file->path);
        note_directory(o, file->path);
    }
    hide(o, list);
    return true;
}

static bool is_debian(const struct edit *e) {
    return wc_str_same(e->environment, "/");
}

/* ---- edits of packages ---- */

static const char *environment_of(struct overlay *o, const struct edit *e) {
    const char *real = e->environment ? real_path(o, e->environment) : NULL;

    real = real ? site_for(o, real, e->name) : NULL;

    if (!real)
        fail(o, "into which environment it goes is not known");
    else
        note_environment(o, real);
    return real;
}

/* Then what it requires is looked after, and no more. */
static bool is_satisfied(struct overlay *o, const char *site, const struct edit *e,
                         struct distribution *there) {
    struct wc_version v;
    struct wc_spec spec;

    if (!find_distribution(o, site, e->name, there))
        return false;
    wc_version_parse_start(there->version, strlen(there->version), &v);
    return !e->value || !*e->value || wc_str_same(e->value, format(o, "==%s", there->version)) ||
           (wc_spec_read(e->value, &spec) && wc_spec_accepts(&spec, v) == WC_YES);
}

static bool install(struct overlay *o, const struct edit *e) {
    const char *environment = is_debian(e) ? NULL : environment_of(o, e);
    struct wc_version release = wheel_release(e->name, e->value ? e->value : "");
    struct distribution there;

    if (is_debian(e))
        return install_debian(o, e);
    if (!environment)
        return false;
    if (is_conda(o, environment))
        return install_conda(o, environment, e);
    if (is_satisfied(o, environment, e, &there))
        return install_required(o, environment, &there) && (o->changes || fail(o, satisfied));
    if (!wc_version_known(release))
        return fail(o, "no release of it is known");
    if (find_distribution(o, environment, e->name, &there) &&
        breaks_another(o, environment, e->name, there.version, release))
        return fail(o, "another package there requires the major that is installed");
    return install_wheel(o, environment, e->name, release) &&
           find_distribution(o, environment, e->name, &there) &&
           install_required(o, environment, &there);
}

static bool remove_package(struct overlay *o, const struct edit *e) {
    const char *environment = is_debian(e) ? NULL : environment_of(o, e);
    struct distribution d;

    if (is_debian(e))
        return remove_debian(o, e);
    if (!environment)
        return false;
    if (is_conda(o, environment))
        return remove_conda(o, environment, e->name) || fail(o, "it is not installed there");
    if (!find_distribution(o, environment, e->name, &d))
        return fail(o, "it is not installed there");
    return remove_wheel(o, environment, &d);
}

static bool reinstall_wheel(struct overlay *o, const char *site, const struct edit *e) {
    struct distribution d;
    struct wc_version release;
    char *record, *line;
    uint64_t size;

    if (!find_distribution(o, site, e->name, &d))
        return e->value && wc_version_known(wc_version_of(e->value))
                   ? install_wheel(o, site, e->name, wc_version_of(e->value))
                   : fail(o, "it is not installed there");
    if (e->value && !wc_str_same(e->value, d.version))
        return fail(o, "another release of it counts as installed there");
    wc_version_parse_start(d.version, strlen(d.version), &release);
    record = read_all(o, format(o, "%s/%s/RECORD", site, d.info));
    if (!record)
        return fail(o, no_list);
    while ((line = strsep(&record, "\n"))) {
        const char *path = *line ? record_line(o, site, line, &size) : NULL;
        if (path && is_library(path) && !put_back(o, e->name, path, release, size))
            return false;
    }
    return true;
}

static bool reinstall(struct overlay *o, const struct edit *e) {
    const char *environment = is_debian(e) ? NULL : environment_of(o, e);

    if (is_debian(e))
        return reinstall_debian(o, e);
    if (!environment)
        return false;
    return is_conda(o, environment) ? reinstall_conda(o, environment, e)
                                    : reinstall_wheel(o, environment, e);
}

/* ---- edits of files ---- */

static bool delete_file(struct overlay *o, const struct edit *e) {
    hide(o, placed(o, e->path));
    note_directory(o, e->path);
    return true;
}

/* As the disk has it, behind no link; 0: nothing. */
static mode_t mode_of(const struct overlay *o, const char *path) {
    OWNED char *disk = must_format("%s%s", o->library_cache->disk.root, path);
    struct stat facts;

    return lstat(disk, &facts) == 0 ? facts.st_mode : 0;
}

/* What `ln -s` does not replace: a file that is none itself. */
static bool is_plain(const struct overlay *o, const char *path) {
    const struct overlay_file *made = hash_find_text(o->files, path);

    return made ? made->entry.kind == DISK_FILE : S_ISREG(mode_of(o, path));
}

static bool make_link(struct overlay *o, const struct edit *e) {
    if (is_plain(o, placed(o, e->path)))
        return fail(o, "a file stands in the place of the link");
    if (e->name)
        note_name(o, e->name);
    put(o, placed(o, e->path), (struct disk_entry){.kind = DISK_LINK, .target = e->target});
    return true;
}

struct linking {
    struct overlay *o;
    const char *directory, *soname;
    const char *newest; /* of the files with that SONAME */
};

static const char *soname_of(struct overlay *o, const char *path) {
    const struct library *library = library_cache_get(o->library_cache, path, NULL);

    return library && library->is_elf ? library->search.soname : NULL;
}

static bool is_of_soname(void *arg, const char *entry) {
    struct linking *l = arg;
    const char *soname = soname_of(l->o, format(l->o, "%s/%s", l->directory, entry));

    if (wc_str_same(soname, l->soname) && (!l->newest || strverscmp(entry, l->newest) > 0))
        l->newest = wc_arena_string(&l->o->memory.arena, entry);
    return true;
}

/* "libcudnn.so", a link for who builds: ldconfig makes no other name of it. */
static bool is_for_builds(const struct linking *l, const char *entry, const char *soname) {
    return wc_str_ends(entry, ".so") && soname && wc_str_starts(soname, entry) &&
           S_ISLNK(mode_of(l->o, format(l->o, "%s/%s", l->directory, entry)));
}

/* As ldconfig makes them: each SONAME, where nothing stands, leads to the newest file that has it.
 */
static bool make_link_of(void *arg, const char *entry) {
    struct linking *l = arg;
    const char *soname = wc_str_starts(entry, "lib") && is_library(entry)
                             ? soname_of(l->o, format(l->o, "%s/%s", l->directory, entry))
                             : NULL;
    struct linking same = {l->o, l->directory, soname, NULL};

    if (!soname || strchr(soname, '/') || is_for_builds(l, entry, soname) ||
        is_there(l->o, format(l->o, "%s/%s", l->directory, soname)))
        return true;
    disk_of(l->o)->list(disk_of(l->o)->ctx, l->directory, is_of_soname, &same);
    if (same.newest)
        put(l->o, format(l->o, "%s/%s", l->directory, soname),
            (struct disk_entry){.kind = DISK_LINK, .target = same.newest});
    return true;
}

static bool make_links(struct overlay *o, const struct edit *e) {
    struct linking l = {.o = o, .directory = real_path(o, e->path)};

    if (!l.directory)
        return fail(o, "that directory is not there");
    disk_of(o)->list(disk_of(o)->ctx, l.directory, make_link_of, &l);
    return o->changes || fail(o, "all of its libraries have their links");
}

/* ---- edits of what no package manages ---- */

/* Of cuDNN for whatever CUDA: they are the same everywhere. */
static struct wheel_list libraries_of(struct overlay *o, struct wc_version release) {
    struct wheel_file *monolith = wc_arena_take(&o->memory.arena, sizeof(*monolith));
    char version[WC_VERSION_TEXT];

    if (release.major >= 8 || !monolith) /* before there was one */
        return wheel_list(&o->memory.arena, "nvidia-cudnn-cu12",
                          wc_version_format(release, version));
    *monolith = (struct wheel_file){.file = format(o, "libcudnn.so.%d", release.major)};
    return (struct wheel_list){monolith, 1};
}

struct replacing {
    struct overlay *o;
    const char *directory;
    int32_t major;
};

/* Libraries of another major stay beside it. */
static bool hide_replaced(void *arg, const char *entry) {
    struct replacing *r = arg;
    const struct wc_name name = wc_name_read(entry);

    if (wc_kind_is_cudnn(name.kind) && (name.version.major < 0 || name.version.major == r->major) &&
        !is_directory(r->o, format(r->o, "%s/%s", r->directory, entry)))
        hide(r->o, format(r->o, "%s/%s", r->directory, entry));
    return true;
}

/* As NVIDIA's archives have them: each library under its SONAME, and a link without the number. */
static bool place_cudnn(struct overlay *o, const char *directory, const char *package,
                        struct wc_version release) {
    struct replacing r = {o, directory, release.major};
    struct wheel_list files = libraries_of(o, release);
    char version[WC_VERSION_TEXT];

    release.build = -1;
    if (wheel_list(&o->memory.arena, package, wc_version_format(release, version)).n == 0)
        package = "";
    disk_of(o)->list(disk_of(o)->ctx, directory, hide_replaced, &r);
    WC_EACH(file, files) {
        const char *name = wc_base_name(file->file);
        if (!put_library(o, package, format(o, "%s/%s", directory, name), release, 0))
            return false;
        put(o, format(o, "%s/%.*s", directory, (int)(strstr(name, ".so") - name) + 3, name),
            (struct disk_entry){.kind = DISK_LINK, .target = name});
    }
    return true;
}

/* Each library of that release is there, by the number in its own name. */
static bool is_whole(struct overlay *o, const char *directory, struct wc_version release) {
    struct wheel_list files = libraries_of(o, release);

    WC_EACH(file, files) {
        const char *path = real_path(o, format(o, "%s/%s", directory, wc_base_name(file->file)));
        if (!path || wc_version_compare(wc_name_read(path).version, release) != 0 ||
            !is_sound(o, path, release))
            return false;
    }
    return true;
}

static bool place(struct overlay *o, const struct edit *e) {
    const char *directory = real_path(o, e->path), *spec = e->value ? e->value : "", *package;
    struct wc_version release;
    struct wc_spec set;

    if (!directory)
        return fail(o, "that directory is not there");
    note_environment(o, directory);
    if (wc_name_kind_of(e->name) == WC_NAME_CUDA_DEPENDENCY) {
        package = wheel_with(&o->memory.arena, e->name, -1, &spec);
        return put_library(o, package ? package : "", format(o, "%s/%s", directory, e->name),
                           wc_name_read(e->name).version, 0);
    }
    package = e->target ? format(o, "nvidia-cudnn-cu%s", e->target) : "";
    /* Whichever release of the set somebody takes must do: the oldest, too. */
    release = wc_spec_read(spec, &set) ? release_filled(wc_spec_floor(&set)) : WC_VERSION_NONE;
    if (e->kind == EDIT_RESTORE && is_whole(o, directory, release))
        return fail(o, "all of it is there");
    return release.major >= 0 && release.major <= wheel_release("nvidia-cudnn-cu12", "").major
               ? place_cudnn(o, directory, package, release)
               : fail(o, "no release of it is known");
}

/* All libraries of cuDNN, of which no more than the major need be known. */
static bool put_set(struct overlay *o, const char *directory, struct wc_version release) {
    struct wheel_list files = libraries_of(
        o, release.minor < 0 ? release_newest(&o->memory.arena, release.major) : release);

    WC_EACH(file, files)
        if (!put_library(o, "", format(o, "%s/%s", directory, wc_base_name(file->file)), release,
                         0))
            return false;
    return true;
}

/* What is behind it nobody could see: what was asked for there, of cuDNN all that belongs to it. */
static bool open_directory(struct overlay *o, const struct edit *e, struct wc_version release) {
    const char *rest = e->target, *whole = "";

    for (; *rest; rest += strcspn(rest, ":"), rest += *rest == ':') {
        const char *path = placed(o, format(o, "%.*s", (int)strcspn(rest, ":"), rest));
        const char *directory = format(o, "%.*s", (int)wc_dir_length(path), path);
        const struct wc_name name = wc_name_read(path);
        struct wc_version own = wc_kind_is_cudnn(name.kind) ? release : name.version;
        if (!wc_version_known(own))
            own.major = name.version.major;
        if (is_there(o, path)) /* with its package */
            continue;
        if (!put_library(o, "", path, own, 0))
            return false;
        if (wc_kind_is_cudnn(name.kind) && strcmp(whole, directory) != 0 &&
            !put_set(o, directory, own))
            return false;
        whole = wc_kind_is_cudnn(name.kind) ? directory : whole;
    }
    return true;
}

static bool allow_reading(struct overlay *o, const struct edit *e) {
    struct wc_version release = e->value ? wc_version_of(e->value) : WC_VERSION_NONE;
    const char *real = real_path(o, e->path);

    if (e->name && !reinstall(o, e))
        return false;
    if (e->target)
        return open_directory(o, e, release);
    if (e->name)
        return true;
    if (!wc_version_known(release)) /* its name says more than nothing */
        release.major = wc_name_read(wc_base_name(e->path)).version.major;
    return put_library(o, e->name ? e->name : "", real ? real : placed(o, e->path), release, 0);
}

/* ---- edits of variables ---- */

static bool set_variable(struct overlay *o, const char *name, const char *value) {
    size_t n = strlen(name), kept = 0;

    for (size_t i = 0; i < o->environment.n; i++)
        if (strncmp(o->environment.p[i], name, n) != 0 || o->environment.p[i][n] != '=')
            o->environment.p[kept++] = o->environment.p[i];
    o->environment.n = kept;
    o->environment.p[kept] = NULL;
    if (value)
        add_text(&o->environment, format(o, "%s=%s", name, value));
    o->changes = true;
    return true;
}

/* ---- edits of the order ---- */

static const struct {
    const char *module, *file;
} preloaded[] = {
#define PRELOADED(module, cuda, file) {module, file},
#include "preloaders.def"
};

/* Of whatever CUDA it is a build for: the others' files are not there. */
static bool preload(struct overlay *o, const struct edit *e) {
    WC_EACH_ROW(row, preloaded) {
        char *path = strcmp(row->module, e->name) == 0 && e->environment
                         ? format(o, "%s/%s", e->environment, row->file)
                         : NULL;
        if (path && is_there(o, path))
            add_text(&o->first, path);
    }
    o->changes = o->changes || o->first.n > 0;
    return o->first.n > 0 || fail(o, "it finds nothing to load");
}

/* ---- all ---- */

static bool apply(struct overlay *o, const struct edit *e) {
    switch (e->kind) {
    case EDIT_SET:
        return set_variable(o, e->name, e->value);
    case EDIT_UNSET:
        return set_variable(o, e->name, NULL);
    case EDIT_IMPORT_FIRST:
        add_text(&o->first_asked, e->name);
        o->changes = true;
        return true;
    case EDIT_PRELOADER:
        return preload(o, e);
    case EDIT_REINSTALL:
        return reinstall(o, e);
    case EDIT_INSTALL:
        return install(o, e);
    case EDIT_REMOVE:
        return remove_package(o, e);
    case EDIT_MODE:
        return allow_reading(o, e);
    case EDIT_LINK:
        return make_link(o, e);
    case EDIT_LINKS:
        return make_links(o, e);
    case EDIT_DELETE:
        return delete_file(o, e);
    case EDIT_RESTORE:
    case EDIT_PLACE:
        return place(o, e);
    default:
        return fail(o, "it cannot be played over files");
    }
}

bool overlay_apply(struct overlay *o, const struct edit *e) {
    bool good = apply(o, e) && !o->why;

    library_cache_forget(o->library_cache, concerns, o, o->environments.p);
    return good;
}

static bool is_own_preload(const char *element, size_t n) {
    const size_t own = strlen(WC_OWN_NAME);

    return n >= own && strncmp(element + n - own, WC_OWN_NAME, own) == 0;
}

/* LD_PRELOAD without our own library. */
static const char *without_own(struct overlay *o, const char *variable) {
    static const char name[] = "LD_PRELOAD=";
    const char *rest = variable + sizeof(name) - 1;
    char *list = format(o, "%s", name);

    if (strncmp(variable, name, sizeof(name) - 1) != 0)
        return variable;
    while (*rest) {
        size_t n = strcspn(rest, " :");
        if (n && !is_own_preload(rest, n))
            list = format(o, "%s%s%.*s", list, list[sizeof(name) - 1] ? ":" : "", (int)n, rest);
        rest += n + (rest[n] != '\0');
    }
    return list[sizeof(name) - 1] ? list : NULL;
}

void overlay_begin(struct overlay *o, struct library_cache *library_cache,
                   struct overlay_kept *kept, const struct wc_strings *environment) {
    memset(o, 0, sizeof(*o));
    o->kept = kept;
    heap_arena_begin(&o->memory);
    o->library_cache = library_cache;
    o->layer = (struct disk_layer){o, at, is_in, list};
    library_cache->disk.layer = &o->layer;
    library_cache->disk.changed++;
    o->environment.p = must_allocate(sizeof(*o->environment.p));
    WC_EACH(variable, *environment) {
        const char *kept = *variable ? without_own(o, *variable) : NULL;
        if (kept)
            add_text(&o->environment, kept);
    }
}

void overlay_end(struct overlay *o) {
    library_cache_forget(o->library_cache, concerns, o, o->environments.p);
    o->library_cache->disk.layer = NULL;
    o->library_cache->disk.changed++;
    for (struct overlay_file *f = o->files; f; f = f->hh.next)
        if (f->entry.kind == DISK_FILE)
            close(f->entry.fd);
    hash_clear(&o->files);
    hash_clear(&o->names);
    free(o->environment.p);
    free(o->environments.p);
    free(o->first.p);
    free(o->first_asked.p);
    heap_arena_end(&o->memory);
}
