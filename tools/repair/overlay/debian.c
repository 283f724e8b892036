/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <stdlib.h>
#include <string.h>

/* The libraries that dpkg's list of a package names, where nothing but names is listed. */
static struct listed_files debian_files(struct overlay *o, const char *list) {
    char *text = overlay_read_all(o, list), *line;
    struct listed_files all = {.n = 0};
    size_t most = 1;

    for (const char *s = text; s && *s; s++)
        most += *s == '\n';
    all.p = text ? wc_arena_take(&o->memory.arena, most * sizeof(*all.p)) : NULL;
    while (all.p && (line = strsep(&text, "\n")))
        if (line[0] == '/' && overlay_is_library(line))
            all.p[all.n++] = (struct listed_file){.path = overlay_placed(o, line)};
    return all;
}

static const char *debian_list(struct overlay *o, const char *package) {
    return overlay_format(o, "/var/lib/dpkg/info/%s.list", package);
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

bool overlay_reinstall_debian(struct overlay *o, const struct edit *e) {
    struct listed_files files = debian_files(o, debian_list(o, e->name));
    const char *wheel = overlay_conda_wheel(o, debian_cuda(e));
    struct wc_version release = WC_VERSION_NONE;

    if (!files.n)
        return overlay_fail(o, overlay_no_list);
    if (e->value)
        wc_version_parse_start(e->value, strlen(e->value), &release);
    WC_EACH(file, files) {
        const bool bare = wc_str_ends(file->path, ".so"); /* of another package's library */
        if (is_link_of(&files, file->path))
            overlay_put_link_of(o, &files, file->path);
        else if (bare ? !overlay_is_there(o, file->path)
                      : !overlay_put_back(o, wheel, file->path, release, file->size))
            return overlay_fail(o, overlay_unknown_content);
        overlay_note_directory(o, file->path);
    }
    return !o->why;
}

bool overlay_install_debian(struct overlay *o, const struct edit *e) {
    const char *at = strpbrk(e->name, "0123456789");
    const size_t n = at ? strspn(at, "0123456789") : 0;
    const struct listed_files links =
        at ? debian_files(o, debian_list(o, overlay_format(o, "%.*s-dev%s",
                                                           (int)(at - e->name + (ptrdiff_t)n),
                                                           e->name, at + n)))
           : (struct listed_files){.n = 0};
    struct wc_version release = WC_VERSION_NONE;
    const char *link = links.n ? links.p[0].path : NULL, *text = e->value ? e->value : "";

    text += wc_str_starts(text, "==") ? strlen("==") : 0;
    wc_version_parse_start(text, strlen(text), &release);
    if (!link || !wc_version_known(release))
        return overlay_fail(o, overlay_unknown_content);
    if (overlay_is_there(o, debian_list(o, e->name)))
        return overlay_fail(o, overlay_satisfied);
    overlay_note_directory(o, link);
    return overlay_place_cudnn(o, overlay_format(o, "%.*s", (int)wc_dir_length(link), link),
                               overlay_conda_wheel(o, debian_cuda(e)), release);
}

bool overlay_remove_debian(struct overlay *o, const struct edit *e) {
    const char *list = debian_list(o, e->name);
    struct listed_files files = debian_files(o, list);

    if (!files.n)
        return overlay_fail(o, overlay_no_list);
    WC_EACH(file, files) {
        overlay_hide(o, file->path);
        overlay_note_directory(o, file->path);
    }
    overlay_hide(o, list);
    return true;
}

bool overlay_is_debian(const struct edit *e) {
    return wc_str_same(e->environment, "/");
}
