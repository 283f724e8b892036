/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "tools/diagnose/ldconfig.h"

/* ---- libraries in place of others ---- */

bool overlay_is_library(const char *path) {
    return strstr(wc_base_name(path), ".so") != NULL;
}

bool overlay_put_library(struct overlay *o, const char *package, const char *path,
                         struct wc_version release, uint64_t size) {
    char version[WC_VERSION_TEXT];
    char *key = overlay_format(o, "%s %s %s %ju", package, path,
                               wc_version_format(release, version), (uintmax_t)size);
    const struct overlay_made *made = WC_FIRST(m, o->kept->made, wc_str_same(m->key, key));
    int fd = made ? made->fd : -1;
    struct image image;

    if (!made) {
        if (!wheel_image(&o->memory.arena, package, path, release, &image))
            return overlay_fail(o, "what a file of this package holds is not known");
        image.size = size;
        /* A library of other makers that is put there is one that has what the process lacked. */
        struct entries wanted = {NULL, 0};
        if (o->stack && !image.functions && wc_name_kind_of(path) == WC_NAME_OTHER)
            WC_EACH(f, o->stack->failures)
                entries_add(&o->memory.arena, &wanted, f->said.symbol);
        if (wanted.n)
            image.functions = wanted.p;
        fd = image_make(&image);
        if (fd >= 0)
            *MUST_ADD(o->kept->made.p, o->kept->made.n) = (struct overlay_made){must_copy(key), fd};
    }
    return overlay_put_file(o, path, fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

void overlay_kept_end(struct overlay_kept *kept) {
    mount_points_end(&kept->mounts);
    sites_end(&kept->sites);
    WC_EACH(made, kept->made) {
        close(made->fd);
        free(made->key);
    }
    free(kept->made.p);
}

/* Nothing that the loader refuses, or is for other machines, and of no other release than that. */
static bool is_sound(struct overlay *o, const char *path, struct wc_version release) {
    const struct library *l = library_cache_get(o->library_cache, path, NULL);
    struct wc_version own;

    if (!l || !l->is_elf || l->damaged || l->machine != OWN_MACHINE)
        return false;
    own = library_release(o->library_cache, path);
    own.build = release.build = -1;
    return !wc_version_known(own) || wc_version_compare(own, release) == 0;
}

bool overlay_put_back(struct overlay *o, const char *package, const char *path,
                      struct wc_version release, uint64_t size) {
    struct wc_file_stat facts;
    const bool there = overlay_disk_of(o)->facts(overlay_disk_of(o)->ctx, path, &facts);

    if (!wc_kind_is_ours(wc_name_kind_of(path)) && there && (!size || facts.size == size))
        return true;
    return (there && size && facts.size == size && is_sound(o, path, release)) ||
           overlay_put_library(o, package, path, release, size);
}

/* ---- what no package manages ---- */

/* For whatever CUDA: their files are the same. */
static const char any_wheel[] = "nvidia-cudnn-cu12";

struct wheel_list overlay_cudnn_files(struct overlay *o, const char *wheel,
                                      struct wc_version release) {
    struct wheel_file *monolith = wc_arena_take(&o->memory.arena, sizeof(*monolith));

    if (release.major >= 8 || !monolith) /* before there was one */
        return wheel_list(&o->memory.arena, wheel, release);
    *monolith = (struct wheel_file){.file = overlay_format(o, "libcudnn.so.%d", release.major)};
    return (struct wheel_list){monolith, 1};
}

/* As NVIDIA's archives have them: each library under its SONAME, and links without the number and
 * with all of it. */
static bool place_cudnn(struct overlay *o, const char *directory, const char *package,
                        struct wc_version release) {
    const struct wheel_list files = overlay_cudnn_files(o, any_wheel, release);
    const struct entries there = overlay_entries(o, directory);
    char number[WC_VERSION_TEXT];

    release.build = -1;
    if (wheel_list(&o->memory.arena, package, release).n == 0)
        package = "";
    WC_EACH(entry, there) { /* libraries of another major stay next to it */
        const struct wc_name name = wc_name_read(*entry);
        const char *path = overlay_format(o, "%s/%s", directory, *entry);
        if (wc_kind_is_cudnn(name.kind) &&
            (name.version.major < 0 || name.version.major == release.major) &&
            !wc_is_directory(overlay_disk_of(o), path))
            overlay_hide(o, path);
    }
    WC_EACH(file, files) {
        const char *name = wc_base_name(file->file);
        if (!overlay_put_library(o, package, overlay_format(o, "%s/%s", directory, name), release,
                                 0))
            return false;
        const char *link =
            overlay_format(o, "%s/%.*s", directory, (int)(strstr(name, ".so") - name) + 3, name);
        overlay_put_link(o, link, name);
        overlay_put_link(o, overlay_format(o, "%s.%s", link, wc_version_format(release, number)),
                         name);
    }
    return true;
}

/* Each library of that release is there, by the number in its own name. */
static bool is_whole(struct overlay *o, const char *directory, struct wc_version release) {
    const struct wheel_list files = overlay_cudnn_files(o, any_wheel, release);

    WC_EACH(file, files) {
        const char *path =
            overlay_real_path(o, overlay_format(o, "%s/%s", directory, wc_base_name(file->file)));
        if (!path || wc_version_compare(wc_name_read(path).version, release) != 0 ||
            !is_sound(o, path, release))
            return false;
    }
    return true;
}

bool overlay_place(struct overlay *o, const struct edit *e) {
    const char *directory = overlay_real_path(o, e->path), *spec = e->value ? e->value : "",
               *package;
    struct wc_version release;

    if (!directory)
        return overlay_fail(o, "that directory does not exist");
    overlay_note_environment(o, directory);
    if (wc_name_kind_of(e->name) == WC_NAME_CUDA_DEPENDENCY) {
        package = wheel_with(&o->memory.arena, e->name, -1, &spec);
        return overlay_put_library(o, package ? package : "",
                                   overlay_format(o, "%s/%s", directory, e->name),
                                   wc_name_read(e->name).version, 0);
    }
    package = e->target ? overlay_format(o, "nvidia-cudnn-cu%s", e->target) : "";
    /* Every release of the set must do: the oldest, too. */
    release = wc_version_filled(wc_text_floor(spec), 0, 0);
    if (e->kind == EDIT_RESTORE && is_whole(o, directory, release))
        return overlay_fail(o, "all of it is there");
    return release.major >= 0 && release.major <= wheel_release("nvidia-cudnn-cu12", "").major
               ? place_cudnn(o, directory, package, release)
               : overlay_fail(o, "no release of it is known");
}

bool overlay_copy(struct overlay *o, const struct edit *e) {
    const char *directory = overlay_real_path(o, e->path);
    const struct entries all = overlay_entries(o, e->target);

    if (!directory)
        return overlay_fail(o, "that directory does not exist");
    overlay_note_environment(o, directory);
    WC_EACH(entry, all) {
        const char *to = overlay_format(o, "%s/%s", directory, *entry);
        const char *real = overlay_real_path(o, overlay_format(o, "%s/%s", e->target, *entry));
        struct stat facts;
        if (!wc_str_starts(*entry, "libcudnn"))
            continue;
        if (real && strcmp(wc_base_name(real), *entry) != 0)
            overlay_put_link(o, to, wc_base_name(real));
        else if (!real ||
                 !overlay_put_file(o, to, disk_open(&o->library_cache->disk, real, &facts)))
            return overlay_fail(o, "a file that it would copy cannot be read");
    }
    return true;
}

/* ---- what may not be read ---- */

/* What is after it was never searched: what was asked for there, of cuDNN all that belongs to it,
 * of which no more than the major need be known. */
static bool open_directory(struct overlay *o, const struct edit *e, struct wc_version release) {
    WC_EACH_ELEMENT(one, e->target, ":") {
        const char *path = overlay_placed(o, overlay_format(o, "%.*s", (int)one.n, one.p));
        const struct wc_name name = wc_name_read(path);
        const bool is_cudnn = wc_kind_is_cudnn(name.kind);
        struct wc_version own = is_cudnn ? release : name.version;
        struct wheel_list files = {NULL, 0};
        if (!wc_version_known(own))
            own.major = name.version.major;
        if (overlay_is_there(o, path)) /* with its package, or with another file of the set */
            continue;
        if (!overlay_put_library(o, "", path, own, 0))
            return false;
        if (is_cudnn)
            files = overlay_cudnn_files(
                o, any_wheel, own.minor < 0 ? release_newest(&o->memory.arena, own.major) : own);
        WC_EACH(file, files)
            if (!overlay_put_library(o, "",
                                     overlay_format(o, "%s/%s", overlay_directory(o, path),
                                                    wc_base_name(file->file)),
                                     own, 0))
                return false;
    }
    return true;
}

static bool allow_set(struct overlay *o, const struct edit *e, struct wc_version release) {
    const struct entries all = overlay_entries(o, e->path);

    WC_EACH(entry, all) {
        const char *path = overlay_format(o, "%s/%s", e->path, *entry);
        const char *real = wc_name_is_cudnn(*entry) ? overlay_real_path(o, path) : NULL;
        if (real && strcmp(wc_base_name(real), *entry) == 0 &&
            !overlay_put_library(o, "", real, release, 0))
            return false;
    }
    return true;
}

bool overlay_allow_reading(struct overlay *o, const struct edit *e) {
    struct wc_version release = e->value ? wc_version_of(e->value) : WC_VERSION_NONE;
    const char *real = overlay_real_path(o, e->path);
    const bool is_set = e->kind == EDIT_MODES;

    if (e->target && !is_set)
        return open_directory(o, e, release);
    if (e->name)
        return true;
    if (!wc_version_known(release)) /* its name says more than nothing */
        release.major = wc_name_read(wc_base_name(is_set ? e->target : e->path)).version.major;
    if (is_set)
        return allow_set(o, e, release);
    return overlay_put_library(o, "", real ? real : overlay_placed(o, e->path), release, 0);
}

/* ---- links ---- */

/* As the disk has it, behind no link; 0: nothing. */
static mode_t mode_of(const struct overlay *o, const char *path) {
    OWNED char *disk = must_format("%s%s", o->library_cache->disk.root, path);
    struct stat facts;

    return lstat(disk, &facts) == 0 ? facts.st_mode : 0;
}

bool overlay_make_link(struct overlay *o, const struct edit *e) {
    const char *path = overlay_placed(o, e->path);
    const struct disk_entry made = disk_layered(&o->library_cache->disk, path);

    /* What `ln -s` does not replace: a file that is none itself. */
    if (made.kind == DISK_FILE || (made.kind == DISK_AS_IT_IS && S_ISREG(mode_of(o, path))))
        return overlay_fail(o, "a file exists where the link would be");
    overlay_put_link(o, path, e->target);
    return true;
}

static const char *soname_of(struct overlay *o, const char *directory, const char *entry) {
    const struct library *library =
        library_cache_get(o->library_cache, overlay_format(o, "%s/%s", directory, entry), NULL);

    return library && library->is_elf ? library->search.soname : NULL;
}

/* NULL: ldconfig takes no file of that name for a library, or it has no SONAME. */
static const char *listed_soname(struct overlay *o, const char *directory, const char *entry) {
    return wc_str_starts(entry, "lib") && overlay_is_library(entry) ? soname_of(o, directory, entry)
                                                                    : NULL;
}

/* As ldconfig makes them: each SONAME, where nothing stands, points to the newest file that has it.
 */
static void make_links_in(struct overlay *o, const char *directory) {
    const struct entries all = overlay_entries(o, directory);

    WC_EACH(entry, all) {
        const char *soname = listed_soname(o, directory, *entry);
        const char *newest = NULL;
        if (!soname || strchr(soname, '/') ||
            overlay_is_there(o, overlay_format(o, "%s/%s", directory, soname)))
            continue;
        /* "libcudnn.so", a link for building: ldconfig makes no other name of it. */
        if (wc_str_ends(*entry, ".so") && wc_str_starts(soname, *entry) &&
            S_ISLNK(mode_of(o, overlay_format(o, "%s/%s", directory, *entry))))
            continue;
        WC_EACH(other, all)
            if (wc_str_same(soname_of(o, directory, *other), soname) &&
                (!newest || strverscmp(*other, newest) > 0))
                newest = *other;
        if (newest)
            overlay_put_link(o, overlay_format(o, "%s/%s", directory, soname), newest);
    }
}

bool overlay_make_links(struct overlay *o, const struct edit *e) {
    const char *directory = overlay_real_path(o, e->path);

    if (!directory)
        return overlay_fail(o, "that directory does not exist");
    make_links_in(o, directory);
    return o->changes || overlay_fail(o, "all of its libraries have their links");
}

/* Without the system's directories, which the loader searches by itself: they have thousands of
 * libraries. */
bool overlay_make_cache(struct overlay *o, const struct edit *e) {
    (void)e;
    const struct wc_files *files = overlay_disk_of(o);
    const struct entries directories = ldconfig_directories(&o->memory.arena, files);
    struct ldconfig_entry *added = NULL;
    size_t n = 0, size;
    unsigned char *cache;

    WC_EACH(directory, directories) {
        const char *real = is_of_system(*directory) ? NULL : overlay_real_path(o, *directory);
        if (!real)
            continue;
        make_links_in(o, real);
        const struct entries all = overlay_entries(o, real);
        WC_EACH(entry, all) {
            const char *soname = listed_soname(o, real, *entry);
            if (!soname || !(wc_str_same(soname, *entry) || wc_str_ends(*entry, ".so")))
                continue;
            *MUST_ADD(added, n) =
                (struct ldconfig_entry){*entry, overlay_format(o, "%s/%s", *directory, *entry)};
        }
    }
    cache = ldconfig_cache((struct wc_span){o->library_cache->cache, o->library_cache->cache_size},
                           files, &directories, added, n, &size);
    free(added);
    if (!cache)
        return overlay_fail(o, "the loader's cache lists all libraries already");
    overlay_use_cache(o, cache, size);
    o->changes = true;
    return true;
}
