/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/elf/file_check.h"
#include "core/findings/finding.h"

/* The release that its own name has, else its package. That of a toolkit is CUDA's. */
static const char *release_of(struct finding_of *f, const struct wc_file_record *r) {
    const struct wc_version named = wc_name_read(r->real_path ? r->real_path : r->path).version;
    char text[WC_VERSION_TEXT];

    if (named.minor >= 0)
        return find_format(f, "%s", wc_version_format(named, text));
    return r->installation_kind == WC_installation_kind_CUDA_TOOLKIT ? NULL
                                                                     : r->installation_version;
}

/* What is not to be entered on the way to a file, behind all links, as the disk has it. NULL:
 * nothing. */
static const char *closed_on_way(struct finding_of *f, const char *path) {
    enum { LINKS_MOST = 8 };
    char at[PATH_MAX], target[PATH_MAX];
    bool is_link;

    for (int i = 0; i < LINKS_MOST; i++) {
        ssize_t n;
        if (!wc_closed_directory(&disk_files, path, at, sizeof(at), &is_link))
            return NULL;
        if (!is_link)
            return find_real_path(f, find_format(f, "%s", at));
        n = readlink(at, target, sizeof(target));
        if (n <= 0 || n == (ssize_t)sizeof(target))
            return NULL;
        path = target[0] == '/' ? find_format(f, "%.*s%s", (int)n, target, path + strlen(at))
                                : find_format(f, "%s/%.*s%s", find_directory_of(f, at), (int)n,
                                              target, path + strlen(at));
    }
    return NULL;
}

/* The package whose list has the file: with it comes all that belongs there. */
static struct edit allow(struct finding_of *f, const struct wc_file_record *r, const char *path) {
    const struct wc_package *p = WC_FIRST(one, f->s->packages,
                                          one->r.package && one->r.installation_path &&
                                              wc_is_below(r->path, one->r.installation_path,
                                                          wc_str_length(one->r.installation_path)));
    const char *prefix = p ? find_prefix_of(f, &p->r) : NULL;
    struct edit e =
        prefix ? find_reinstall(&p->r, prefix) : (struct edit){.value = release_of(f, r)};

    e.kind = EDIT_MODE;
    e.path = path;
    return e;
}

static bool is_opened(struct finding_of *f, const char *directory) {
    for (size_t i = 0; i < f->out->n; i++)
        if (f->out->p[i].edit[0].kind == EDIT_MODE &&
            wc_str_same(f->out->p[i].edit[0].path, directory))
            return true;
    return false;
}

/* With all that was asked for behind the same directory. */
static void add_opening(struct finding_of *f, const struct wc_file_record *r) {
    const char *directory = closed_on_way(f, r->path), *paths = "", *way;
    struct edit e;

    if (!directory || is_opened(f, directory))
        return;
    for (size_t i = 0; i < 2; i++)
        WC_EACH(file, f->stacks[i]->files)
            if (file->r.fault == WC_file_fault_CLOSED && !strchr(file->r.path, ':') &&
                !candidates_path_has(paths, file->r.path, strlen(file->r.path)) &&
                (way = closed_on_way(f, file->r.path)) && strcmp(way, directory) == 0)
                paths = find_format(f, "%s%s%s", paths, *paths ? ":" : "", file->r.path);
    e = allow(f, r, directory);
    e.target = paths;
    if (*paths)
        find_add(f, e);
}

void find_files(struct finding_of *f) {
    WC_EACH(file, f->s->files) {
        const struct wc_file_record *r = &file->r;
        const char *path =
            r->real_path && r->fault != WC_file_fault_DANGLING ? r->real_path : r->path;
        if (r->fault == WC_file_fault_CLOSED && r->path)
            add_opening(f, r);
        else if (r->fault == WC_file_fault_UNREADABLE && r->path)
            find_add(f, allow(f, r, path));
        else if (r->fault != WC_file_fault_UNKNOWN && !r->installation && path)
            find_add(f, (struct edit){.kind = EDIT_DELETE, .path = path});
    }
}
