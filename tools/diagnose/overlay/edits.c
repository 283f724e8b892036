/* SPDX-License-Identifier: Apache-2.0 */
/* How each edit is played over an overlay; those of packages: packages.c. */
#include <string.h>
#include <sys/stat.h>

#include "core/demand/questions.h"
#include "core/knowledge/frameworks.h"
#include "overlay_inside.h"

/* ---- what no package manages ---- */

/* For whatever CUDA: their files are the same. */
static const char any_wheel[] = "nvidia-cudnn-cu12";

/* As NVIDIA's archives have them: each library under its SONAME, and links without the number and
 * with all of it, where that is known (is_exact). */
static bool place_cudnn(struct overlay *o, const char *directory, const char *package,
                        struct wc_version release, bool is_exact) {
    const struct wheel_list files = overlay_cudnn_files(o, any_wheel, release);

    release.build = -1;
    if (wheel_list(&o->memory.arena, package, release).n == 0)
        package = "";
    /* Libraries of another major stay next to it. */
    EACH_ENTRY(entry, overlay_entries(o, directory)) {
        const struct wc_name name = wc_name_read(*entry);
        const char *path = overlay_format(o, "%s/%s", directory, *entry);
        const char *real = overlay_real_path(o, path) ?: path;
        const int32_t major = name.version.major >= 0  ? name.version.major
                              : wc_name_is_cudnn(real) ? wc_name_read(real).version.major
                                                       : -1;
        if (wc_kind_is_cudnn(name.kind) && (major < 0 || major == release.major) &&
            !wc_is_directory(o->view.files, path))
            overlay_hide(o, path);
    }
    WC_EACH(file, files) {
        const char *name = wc_base_name(file->file);
        if (!overlay_put_library(o, package, overlay_format(o, "%s/%s", directory, name), release,
                                 0))
            return false;
        const char *link =
            overlay_format(o, "%s/%.*s", directory, (int)(strstr(name, ".so") - name) + 3, name);
        if (!overlay_is_there(o, link)) /* of another major */
            overlay_put_link(o, link, name);
        if (is_exact)
            overlay_put_link(o, overlay_format(o, "%s.%s", link, view_version(o->view, release)),
                             name);
    }
    return true;
}

/* Each library of that release is there, by the number in its own name, and none for another CUDA
 * (-1: any). */
static bool is_whole(struct overlay *o, const char *directory, struct wc_version release,
                     int32_t cuda) {
    const struct wheel_list files = overlay_cudnn_files(o, any_wheel, release);

    WC_EACH(file, files) {
        const char *path =
            overlay_real_path(o, overlay_format(o, "%s/%s", directory, wc_base_name(file->file)));
        if (!path || wc_version_compare(wc_name_read(path).version, release) != 0 ||
            !overlay_is_sound(o, path, release))
            return false;
        const int32_t is_for = cuda > 0 ? library_cuda(o->library_cache, path) : -1;
        if (is_for > 0 && is_for != cuda)
            return false;
    }
    return true;
}

static bool place(struct overlay *o, const struct edit *e) {
    const char *directory = overlay_real_path(o, e->path), *spec = e->value ?: "", *package;

    if (wc_name_kind_of(e->name) == WC_NAME_CUDA_DEPENDENCY) {
        package = wheel_with(&o->memory.arena, e->name, -1, &spec);
        return overlay_put_library(o, package ?: "", overlay_format(o, "%s/%s", directory, e->name),
                                   wc_name_read(e->name).version, 0);
    }
    package = e->target ? overlay_format(o, "nvidia-cudnn-cu%s", e->target) : "";
    /* Every release of the set must do: the oldest, too. */
    struct wc_version release = wc_version_filled(wc_text_floor(spec), 0, 0);
    if (e->kind == EDIT_RESTORE && is_whole(o, directory, release, wc_cuda_in_package(package)))
        return overlay_fail(o, "all of it is there");
    const struct wc_version next = {release.major, release.minor, release.patch + 1, -1};
    return release.major >= 0 && release.major <= wheel_release("nvidia-cudnn-cu12", "").major
               ? place_cudnn(o, directory, package, release, wc_text_accepts(spec, next) == WC_NO)
               : overlay_fail(o, "no release of it is known");
}

static bool copy_cudnn(struct overlay *o, const struct edit *e) {
    const char *directory = overlay_real_path(o, e->path);

    EACH_ENTRY(entry, overlay_entries(o, e->target)) {
        const char *to = overlay_format(o, "%s/%s", directory, *entry);
        const char *real = overlay_real_path(o, overlay_format(o, "%s/%s", e->target, *entry));
        struct stat facts;
        if (!wc_str_starts(*entry, "libcudnn"))
            continue;
        OWNED char *link =
            disk_link(overlay_format(o, "%s%s/%s", o->library_cache->disk.root, e->target, *entry));
        if (link) /* which leads from there as it is: to nowhere, it may be */
            overlay_put_link(o, to, overlay_format(o, "%s", link));
        else if (!real ||
                 !overlay_put_file(o, to, disk_open(&o->library_cache->disk, real, &facts)))
            return overlay_fail(o, "a file that it would copy cannot be read");
    }
    return true;
}

/* ---- what may not be read ---- */

/* All of cuDNN next to `path` that is of its major. Where nothing of it is seen: what belongs to
 * that release, of which no more than the major need be known. */
static bool let_read_cudnn(struct overlay *o, const char *path, struct wc_version release) {
    const char *directory = overlay_directory(o, path);
    const struct wheel_list files = overlay_cudnn_files(o, any_wheel, release);
    bool is_seen = false;

    EACH_ENTRY(entry, overlay_entries(o, directory)) {
        const char *real = wc_name_is_cudnn(*entry)
                               ? overlay_real_path(o, overlay_format(o, "%s/%s", directory, *entry))
                               : NULL;
        if (!real || strcmp(wc_base_name(real), *entry) != 0 ||
            wc_name_read(real).version.major != wc_name_read(path).version.major)
            continue;
        is_seen = true;
        if (!overlay_put_library(o, "", real, release, 0))
            return false;
    }
    if (is_seen)
        return true;
    WC_EACH(file, files)
        if (!overlay_put_library(
                o, "", overlay_format(o, "%s/%s", directory, wc_base_name(file->file)), release, 0))
            return false;
    return overlay_put_library(o, "", path, release, 0);
}

static bool let_read(struct overlay *o, const struct edit *e) {
    const struct wc_version release = e->value ? wc_version_of(e->value) : WC_VERSION_NONE;

    if (e->name && !overlay_reinstall(o, e))
        return false;
    WC_EACH_ELEMENT(one, e->target ?: e->name ? "" : e->path, ":") {
        const char *file = overlay_format(o, "%.*s", (int)one.n, one.p);
        const char *path =
            (e->target ? NULL : overlay_real_path(o, file)) ?: overlay_placed(o, file);
        const struct wc_name name = wc_name_read(path);
        const bool is_cudnn = wc_kind_is_cudnn(name.kind);
        struct wc_version own = is_cudnn || !e->target ? release : name.version;
        if (!wc_version_known(own)) /* its name says more than nothing */
            own.major = name.version.major;
        if (e->name && overlay_is_there(o, path)) /* with its package */
            continue;
        if (!(e->target && is_cudnn ? let_read_cudnn(o, path, own)
                                    : overlay_put_library(o, "", path, own, 0)))
            return false;
    }
    return true;
}

/* ---- links ---- */

/* As the disk has it, behind no link; 0: nothing. */
static mode_t mode_of(const struct overlay *o, const char *path) {
    OWNED char *disk = must_format("%s%s", o->library_cache->disk.root, path);
    struct stat facts;

    return lstat(disk, &facts) == 0 ? facts.st_mode : 0;
}

static bool make_link(struct overlay *o, const struct edit *e) {
    const char *path = overlay_placed(o, e->path);
    const struct disk_entry made = disk_layered(&o->library_cache->disk, path);

    /* What `ln -s` does not replace: a file that is none itself. */
    if (made.kind == DISK_FILE || (made.kind == DISK_AS_IT_IS && S_ISREG(mode_of(o, path))))
        return overlay_fail(o, "a file exists where the link would be");
    overlay_put_link(o, path, e->target);
    return overlay_real_path(o, path) || overlay_fail(o, "the link would lead nowhere");
}

/* NULL: ldconfig takes no file of that name for a library, or it has no SONAME. */
static const char *soname_of(struct overlay *o, const char *directory, const char *entry) {
    return fits("lib*.so*", entry)
               ? library_soname(o->library_cache, overlay_format(o, "%s/%s", directory, entry))
               : NULL;
}

/* As ldconfig makes them: each SONAME points to the newest file that has it, unless a file has that
 * name; of links that are there those of cuDNN and CUDA. False: all are there. */
static bool make_links_in(struct overlay *o, const char *directory) {
    const struct entries all = overlay_entries(o, directory);
    bool made = false;

    WC_EACH(entry, all) {
        const char *soname = soname_of(o, directory, *entry), *newest = *entry;
        const char *link = overlay_format(o, "%s/%s", directory, soname ?: "");
        /* "libcudnn.so", a link for building: ldconfig makes no other name of it. */
        if (!soname || strchr(soname, '/') ||
            (overlay_is_there(o, link) &&
             (wc_name_kind_of(soname) == WC_NAME_OTHER || !S_ISLNK(mode_of(o, link)))) ||
            (wc_str_ends(*entry, ".so") && wc_str_starts(soname, *entry) &&
             S_ISLNK(mode_of(o, overlay_format(o, "%s/%s", directory, *entry)))))
            continue;
        WC_EACH(other, all)
            if (strverscmp(*other, newest) > 0 &&
                wc_str_same(soname_of(o, directory, *other), soname))
                newest = *other;
        const char *file = overlay_real_path(o, overlay_format(o, "%s/%s", directory, newest));
        if (wc_str_same(overlay_real_path(o, link), file))
            continue; /* also where it leads elsewhere, and no file here has the SONAME */
        overlay_put_link(o, link, newest);
        made = true;
    }
    return made;
}

static bool make_links(struct overlay *o, const struct edit *e) {
    return make_links_in(o, overlay_real_path(o, e->path)) ||
           overlay_fail(o, "all of its libraries have their links");
}

/* Does ldconfig list a file of that directory before what the cache has of its name? */
static bool comes_first(struct overlay *o, const struct entries *directories, size_t number,
                        const char *old) {
    size_t rank = 0;

    if (!old || !overlay_is_there(o, old))
        return true;
    while (rank < directories->n &&
           !wc_lies_in(old, directories->p[rank], strlen(directories->p[rank])))
        rank++;
    return rank > number && !strstr(old, "/glibc-hwcaps/");
}

/* Of the system's directories, which the loader searches by itself, only the links of the named
 * one: they have thousands of libraries. */
static bool make_cache(struct overlay *o, const struct edit *e) {
    struct library_cache *w = o->library_cache;
    const struct entries directories = ldconfig_directories(o->view);
    struct wc_search_context search = {.machine = OWN_MACHINE};
    struct entries listed = {NULL, 0};
    bool linked = false;

    library_cache_use(w, w->interpreter, &search);
    WC_EACH(directory, directories) {
        const size_t number = (size_t)(directory - directories.p);
        const bool of_system = is_of_system(*directory);
        const char *real = of_system && !wc_str_same(*directory, e->path)
                               ? NULL
                               : overlay_real_path(o, *directory);
        if (!real)
            continue;
        linked = make_links_in(o, real) || linked;
        if (of_system)
            continue;
        const struct entries all = overlay_entries(o, real);
        WC_EACH(entry, all) {
            const char *soname = soname_of(o, real, *entry);
            if (!soname || !(wc_str_same(soname, *entry) || wc_str_ends(*entry, ".so")) ||
                !comes_first(o, &directories, number, wc_search_cache(&search, *entry)))
                continue;
            overlay_add_text(o, &listed, *entry);
            overlay_add_text(o, &listed, overlay_format(o, "%s/%s", *directory, *entry));
        }
    }
    if (!listed.n && !linked)
        return overlay_fail(o, "the loader's cache lists all libraries already");
    for (const char *const *old = w->listed; old && *old; old++) /* of an edit before */
        overlay_add_text(o, &listed, *old);
    w->listed = (const char *const *)listed.p;
    return o->changes = true;
}

/* ---- variables, and what is asked for first ---- */

/* Without a value it goes. */
static bool set_variable(struct overlay *o, const struct edit *e) {
    const char *name = e->name;
    size_t n = strlen(name), kept = 0;

    for (size_t i = 0; i < o->environment.n; i++)
        if (strncmp(o->environment.p[i], name, n) != 0 || o->environment.p[i][n] != '=')
            o->environment.p[kept++] = o->environment.p[i];
    o->environment.n = kept;
    o->environment.p[kept] = NULL;
    if (e->kind == EDIT_SET)
        overlay_add_text(o, &o->environment, overlay_format(o, "%s=%s", name, e->value));
    return o->changes = true;
}

static bool import_first(struct overlay *o, const struct edit *e) {
    overlay_add_text(o, &o->first_asked, e->name);
    overlay_add_text(o, &o->first, e->path);
    return o->changes = true;
}

/* Of whatever CUDA it is a build for: the others' files do not exist. */
static bool preload(struct overlay *o, const struct edit *e) {
    const struct wc_framework *f = e->environment ? wc_framework_named(e->name) : NULL;

    WC_EACH_KNOWN(row, f ? f->preloaded : NULL, file) {
        char *path = overlay_format(o, "%s/%s", e->environment, row->file);
        if (overlay_is_there(o, path))
            overlay_add_text(o, &o->first, path);
    }
    o->changes = o->changes || o->first.n > 0;
    return o->first.n > 0 || overlay_fail(o, "it finds nothing to load");
}

static bool delete (struct overlay *o, const struct edit *e) {
    overlay_hide(o, overlay_placed(o, e->path));
    return true;
}

/* The replay asks for the other one. */
static bool open_other(struct overlay *o, const struct edit *e) {
    return o->changes = e->path;
}

/* ---- all edits ---- */

bool overlay_apply(struct overlay *o, const struct edit *e) {
    static bool (*const plays[EDITS])(struct overlay * o, const struct edit *e) = {
#define EDIT(name, word, action, cost, writes, play, ...) play,
#include "tools/diagnose/edit.def"
    };
    bool good = edit_rows[e->kind].writes == WRITES_PATH && e->kind != EDIT_MODE &&
                        !overlay_real_path(o, e->path)
                    ? overlay_fail(o, "that directory does not exist")
                : plays[e->kind] ? plays[e->kind](o, e)
                                 : overlay_fail(o, "it cannot be played over files");

    if (o->changes_files)
        library_cache_forget(o->library_cache);
    return good && !o->why;
}
