/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "making.h"

/* Files that cannot be read, or that the loader refuses. */

/* The release that its own name has, else its package, or the libraries next to it. That of a
 * toolkit is CUDA's. */
static const char *release_of(struct making *m, const struct wc_file_record *r) {
    const char *path = r->real_path ?: r->path;
    struct wc_version release = wc_name_read(path).version;

    if (release.minor < 0 && !r->installation_version)
        release = make_release_in(m, make_directory_of(m, path), release.major);
    if (release.minor >= 0)
        return view_version(m->view, release);
    return r->installation_kind == WC_installation_kind_CUDA_TOOLKIT ? NULL
                                                                     : r->installation_version;
}

/* What is not to be entered on the way to a file, behind all links, as the disk has it. NULL:
 * nothing. */
static const char *closed_on_way(struct making *m, const char *path) {
    enum { LINKS_MOST = 8 };
    char at[PATH_MAX];
    bool is_link;

    for (int i = 0; i < LINKS_MOST; i++) {
        if (!wc_closed_directory(&disk_files, path, at, sizeof(at), &is_link))
            return NULL;
        if (!is_link)
            return make_real_path(m, make_format(m, "%s", at));
        OWNED char *target = disk_link(at);
        if (!target)
            return NULL;
        const char *in = target[0] == '/' ? NULL : make_format(m, "%s/", make_directory_of(m, at));
        path = make_format(m, "%s%s%s", in, target, path + strlen(at));
    }
    return NULL;
}

/* The package whose list has the file: with it comes all that belongs there. */
static struct edit allow(struct making *m, const struct wc_file_record *r, const char *path) {
    const struct wc_package *p = WC_FIRST(one, m->s->packages,
                                          one->r.package && one->r.installation_path &&
                                              wc_is_below(r->path, one->r.installation_path,
                                                          wc_str_length(one->r.installation_path)));
    struct edit e =
        p && p->r.prefix ? make_reinstall(m, &p->r) : (struct edit){.value = release_of(m, r)};

    e.kind = EDIT_MODE;
    e.path = path;
    return e;
}

/* With all that was asked for after the same directory. */
static void open_way(struct making *m, const struct wc_file_record *r) {
    const char *directory = closed_on_way(m, r->path), *paths = "", *way;

    if (WC_ANY(c, *m->out, c->p[0].kind == EDIT_MODE && wc_str_same(c->p[0].path, directory)))
        return;
    for (size_t i = 0; directory && i < 2; i++)
        WC_EACH(file, m->stacks[i]->files)
            if (file->r.fault == WC_file_fault_CLOSED && !strchr(file->r.path, ':') &&
                !path_has_element(paths, file->r.path, strlen(file->r.path)) &&
                (way = closed_on_way(m, file->r.path)) && strcmp(way, directory) == 0)
                paths = make_format(m, "%s%s%s", paths, *paths ? ":" : "", file->r.path);
    if (!*paths)
        return;
    struct edit e = allow(m, r, directory);
    e.target = paths;
    make_one(m, e);
}

void make_readable(struct making *m) {
    WC_EACH(file, m->s->files) {
        const struct wc_file_record *r = &file->r;
        const char *path =
            r->real_path && r->fault != WC_file_fault_DANGLING ? r->real_path : r->path;
        if (r->fault == WC_file_fault_CLOSED && r->path)
            open_way(m, r);
        else if (r->fault == WC_file_fault_UNREADABLE && r->path) {
            make_one(m, (struct edit){.kind = EDIT_MODE, .path = path, .value = release_of(m, r)});
            if (wc_name_is_cudnn(path)) { /* all of it may have been copied with root's umask */
                struct edit all = allow(m, r, make_directory_of(m, path));
                all.target = path;
                make_one(m, all);
            }
        } else if (r->fault != WC_file_fault_UNKNOWN && r->fault != WC_file_fault_NO_EXECUTION &&
                   !r->installation && path)
            make_one(m, (struct edit){.kind = EDIT_DELETE, .path = path});
    }
}
