/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/findings/finding.h"
#include "tools/repair/image.h"
#include "tools/repair/wheels.h"

struct overlay_made {
    UT_hash_handle hh;
    char *key;
    int fd;
};

bool overlay_is_library(const char *path) {
    return strstr(wc_base_name(path), ".so") != NULL;
}

/* The same file of the same release is made once, and read once. */
static struct overlay_made *made_before(struct overlay *o, const char *package, const char *path,
                                        struct wc_version release, uint64_t size) {
    char version[WC_VERSION_TEXT];
    char *key = overlay_format(o, "%s %s %s %ju", package, path,
                               wc_version_format(release, version), (uintmax_t)size);
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

bool overlay_put_library(struct overlay *o, const char *package, const char *path,
                         struct wc_version release, uint64_t size) {
    struct overlay_made *m = made_before(o, package, path, release, size);
    struct image image;

    if (m->fd < 0) {
        if (!wheel_image(&o->memory.arena, package, path, release, &image))
            return overlay_fail(o, overlay_unknown_content);
        image.size = size;
        m->fd = image_make(&image);
    }
    return overlay_put_file(o, path, m->fd < 0 ? -1 : fcntl(m->fd, F_DUPFD_CLOEXEC, 0));
}

bool overlay_is_sound(struct overlay *o, const char *path, struct wc_version release) {
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

bool overlay_put_back(struct overlay *o, const char *package, const char *path,
                      struct wc_version release, uint64_t size) {
    const bool ours = wc_kind_is_ours(wc_name_kind_of(path));
    struct wc_file_stat facts;
    const bool there = overlay_disk_of(o)->facts(overlay_disk_of(o)->ctx, path, &facts);

    if (ours && !(there && size && facts.size == size && overlay_is_sound(o, path, release)))
        return overlay_put_library(o, package, path, release, size);
    return ours || (there && (!size || facts.size == size)) ||
           overlay_fail(o, overlay_unknown_content);
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

const char *overlay_conda_wheel(struct overlay *o, int32_t cuda) {
    return overlay_format(o, "nvidia-cudnn-cu%d", cuda < 11 ? 12 : cuda);
}

void overlay_put_link_of(struct overlay *o, const struct listed_files *files, const char *link) {
    const char *name = wc_base_name(link), *target = NULL;

    WC_EACH(file, *files) {
        const char *other = wc_base_name(file->path);
        if (!file->link && strncmp(other, name, strlen(name)) == 0 &&
            (!target || strlen(other) > strlen(target)))
            target = other;
    }
    if (target)
        overlay_put(o, link, (struct disk_entry){.kind = DISK_LINK, .target = target});
}
