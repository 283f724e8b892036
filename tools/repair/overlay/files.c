/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <string.h>
#include <sys/stat.h>

bool overlay_delete_file(struct overlay *o, const struct edit *e) {
    overlay_hide(o, overlay_placed(o, e->path));
    overlay_note_directory(o, e->path);
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

bool overlay_make_link(struct overlay *o, const struct edit *e) {
    if (is_plain(o, overlay_placed(o, e->path)))
        return overlay_fail(o, "a file stands in the place of the link");
    if (e->name)
        overlay_note_name(o, e->name);
    overlay_put(o, overlay_placed(o, e->path),
                (struct disk_entry){.kind = DISK_LINK, .target = e->target});
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
    const char *soname = soname_of(l->o, overlay_format(l->o, "%s/%s", l->directory, entry));

    if (wc_str_same(soname, l->soname) && (!l->newest || strverscmp(entry, l->newest) > 0))
        l->newest = wc_arena_string(&l->o->memory.arena, entry);
    return true;
}

/* "libcudnn.so", a link for who builds: ldconfig makes no other name of it. */
static bool is_for_builds(const struct linking *l, const char *entry, const char *soname) {
    return wc_str_ends(entry, ".so") && soname && wc_str_starts(soname, entry) &&
           S_ISLNK(mode_of(l->o, overlay_format(l->o, "%s/%s", l->directory, entry)));
}

/* As ldconfig makes them: each SONAME, where nothing stands, leads to the newest file that has it.
 */
static bool make_link_of(void *arg, const char *entry) {
    struct linking *l = arg;
    const char *soname = wc_str_starts(entry, "lib") && overlay_is_library(entry)
                             ? soname_of(l->o, overlay_format(l->o, "%s/%s", l->directory, entry))
                             : NULL;
    struct linking same = {l->o, l->directory, soname, NULL};

    if (!soname || strchr(soname, '/') || is_for_builds(l, entry, soname) ||
        overlay_is_there(l->o, overlay_format(l->o, "%s/%s", l->directory, soname)))
        return true;
    overlay_disk_of(l->o)->list(overlay_disk_of(l->o)->ctx, l->directory, is_of_soname, &same);
    if (same.newest)
        overlay_put(l->o, overlay_format(l->o, "%s/%s", l->directory, soname),
                    (struct disk_entry){.kind = DISK_LINK, .target = same.newest});
    return true;
}

bool overlay_make_links(struct overlay *o, const struct edit *e) {
    struct linking l = {.o = o, .directory = overlay_real_path(o, e->path)};

    if (!l.directory)
        return overlay_fail(o, "that directory is not there");
    overlay_disk_of(o)->list(overlay_disk_of(o)->ctx, l.directory, make_link_of, &l);
    return o->changes || overlay_fail(o, "all of its libraries have their links");
}
