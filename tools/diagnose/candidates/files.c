/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/elf/file_check.h"
#include "making.h"

/* ---- links ---- */

/* Under such a name it would be taken for what it is not. What CUDA's libraries have behind the
 * major is no release: libcudart.so.11.0 is of 11.8. */
static bool is_of_other_release(struct making *m, const char *name, const char *file) {
    const struct wc_object *known =
        WC_FIRST(o, m->s->objects, wc_str_same(wc_real_path_of(o), file));
    struct wc_version asked = wc_name_read(name).version;

    if (!wc_name_is_cudnn(name))
        asked.minor = asked.patch = asked.build = -1;
    else if (known && !wc_version_agree(asked, known->version))
        return true;
    return !wc_version_agree(asked, wc_name_read(wc_base_name(file)).version);
}

/* What stands there is of no use: an empty directory, as `docker run -v FILE:FILE` makes one where
 * the computer has no such file, or a file that the loader refuses and no package has put there: a
 * link that was copied as its text. */
static bool is_in_the_way(struct making *m, const char *path) {
    if (wc_is_directory(m->files, path))
        return make_entries(m, path).n == 0;
    for (size_t i = 0; i < 2; i++)
        if (WC_ANY(file, m->stacks[i]->files,
                   file->r.fault != WC_file_fault_UNKNOWN && !file->r.installation &&
                       wc_str_same(file->r.path, path) &&
                       (!file->r.real_path || wc_str_same(file->r.real_path, path))))
            return true;
    return false;
}

/* By a shorter name, which the next release has, too. */
static bool is_offered(struct making *m, const char *directory, const struct edit *link,
                       const char *file) {
    for (size_t i = 0; i < m->out->n; i++) {
        struct edit *e = &m->out->p[i].edit[0];
        if (e->kind != EDIT_LINK || !wc_str_same(e->path, link->path) ||
            !wc_str_same(make_real_path(m, make_format(m, "%s/%s", directory, e->target)), file))
            continue;
        if (strlen(link->target) >= strlen(e->target))
            return true;
        e->target = link->target;
    }
    return false;
}

/* "libcudnn.so.9.1.0" for "libcudnn.so.9", "libcudnn.so.9" for "libcudnn.so", and the other way
 * about. */
static void link_in(struct making *m, const char *directory, const char *name) {
    const char *stem = strstr(name, ".so");
    const size_t n = stem ? (size_t)(stem - name) + 3 : 0;
    struct entries all = {NULL, 0};

    if (n && directory && directory[0] == '/')
        all = make_entries(m, directory);
    WC_EACH(entry, all) {
        const struct edit links = {.kind = EDIT_LINKS, .path = directory};
        struct edit e = {.kind = EDIT_LINK, .target = *entry};
        const char *file;
        if (strncmp(*entry, name, n) != 0 || ((*entry)[n] && (*entry)[n] != '.') ||
            strcmp(*entry, name) == 0)
            continue;
        e.path = make_format(m, "%s/%s", directory, name);
        file = make_real_path(m, make_format(m, "%s/%s", directory, *entry));
        if (is_of_other_release(m, name, file) || is_offered(m, directory, &e, file))
            continue;
        make_one(m, e);
        if (is_in_the_way(m, e.path))
            make_two(m, (struct edit){.kind = EDIT_DELETE, .path = e.path}, e);
        make_two(m, e, make_path_with(m, directory));
        if (!wc_str_ends(name, ".so")) { /* there may be more of them */
            make_one(m, links);
            make_two(m, links, make_path_with(m, directory));
        }
    }
}

/* The name without a number leads to one of several majors that lie there: Debian's alternatives.
 */
static void turn_alternative(struct making *m, const struct wc_object *o) {
    char target[PATH_MAX];
    const ssize_t n = o->r.path ? readlink(o->r.path, target, sizeof(target)) : -1;
    const char *directory = make_directory_of(m, o->r.path), *link;
    struct entries all;

    if (n <= 0 || n == (ssize_t)sizeof(target) || !o->r.real_path || !directory)
        return;
    link = make_format(m, "%.*s", (int)n, target);
    if (!wc_str_starts(link, "/etc/alternatives/"))
        return;
    all = make_entries(m, directory);
    WC_EACH(entry, all) {
        const struct wc_name name = wc_name_read(*entry);
        if (name.kind == WC_NAME_FACADE && name.version.major >= 0 && name.version.minor < 0 &&
            name.version.major != wc_name_read(o->r.real_path).version.major)
            make_one(m, (struct edit){.kind = EDIT_LINK,
                                      .name = wc_base_name(o->r.path),
                                      .path = link,
                                      .target = make_format(m, "%s/%s", directory, *entry)});
    }
}

static void link_in_packages(struct making *m, const char *name) {
    WC_EACH(p, m->s->packages)
        if (p->r.installation_path)
            link_in(m, make_format(m, "%s/lib", p->r.installation_path), name);
}

/* A CUDA library is asked for without a number: beside cuDNN, and where others of CUDA come from,
 * it may stand with one. */
static void link_plain_name(struct making *m, const struct wc_failure *failure, const char *name) {
    struct entries environments;

    if (wc_name_kind_of(name) != WC_NAME_CUDA_DEPENDENCY || !wc_str_ends(name, ".so"))
        return;
    WC_EACH(o, m->s->objects)
        if (o->r.mapped && (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY))
            link_in(m, make_real_path(m, make_directory_of(m, wc_path_of(o))), name);
    environments = make_environments(m, failure);
    WC_EACH(site, environments) {
        const struct entries wheels = make_entries(m, make_format(m, "%s/nvidia", *site));
        WC_EACH(wheel, wheels)
            link_in(m, make_format(m, "%s/nvidia/%s/lib", *site, *wheel), name);
    }
}

void make_link(struct making *m) {
    WC_EACH(o, m->s->objects) { /* a wheel has no name without a number, which was asked for */
        const char *name = wc_is_cudnn(o) && o->r.asked_name ? wc_base_name(o->r.asked_name) : NULL;
        if (!name || !wc_str_ends(name, ".so"))
            continue;
        turn_alternative(m, o);
        link_in_packages(m, name);
    }
    WC_EACH(failure, m->s->failures) {
        const char *name = wc_missing_of(failure);
        struct entries searched;
        if (!name || wc_name_kind_of(name) == WC_NAME_OTHER || wc_name_is_one_of_many(name) ||
            strchr(name, ' '))
            continue;
        if (name[0] == '/') { /* asked for by its path */
            link_in(m, make_directory_of(m, name), wc_base_name(name));
            continue;
        }
        searched = make_searched(m, failure);
        WC_EACH(directory, searched)
            link_in(m, *directory, name);
        link_plain_name(m, failure, name);
        link_in_packages(m, name);
        WC_EACH(file, m->s->files)
            if (file->r.request == failure->r.request)
                link_in(m, make_directory_of(m, file->r.path), name);
    }
}

/* ---- files that cannot be read, or that the loader refuses ---- */

/* The release that its own name has, else its package. That of a toolkit is CUDA's. */
static const char *release_of(struct making *m, const struct wc_file_record *r) {
    const struct wc_version named = wc_name_read(r->real_path ? r->real_path : r->path).version;
    char text[WC_VERSION_TEXT];

    if (named.minor >= 0)
        return make_format(m, "%s", wc_version_format(named, text));
    return r->installation_kind == WC_installation_kind_CUDA_TOOLKIT ? NULL
                                                                     : r->installation_version;
}

/* What is not to be entered on the way to a file, behind all links, as the disk has it. NULL:
 * nothing. */
static const char *closed_on_way(struct making *m, const char *path) {
    enum { LINKS_MOST = 8 };
    char at[PATH_MAX], target[PATH_MAX];
    bool is_link;

    for (int i = 0; i < LINKS_MOST; i++) {
        ssize_t n;
        if (!wc_closed_directory(&disk_files, path, at, sizeof(at), &is_link))
            return NULL;
        if (!is_link)
            return make_real_path(m, make_format(m, "%s", at));
        n = readlink(at, target, sizeof(target));
        if (n <= 0 || n == (ssize_t)sizeof(target))
            return NULL;
        path = target[0] == '/' ? make_format(m, "%.*s%s", (int)n, target, path + strlen(at))
                                : make_format(m, "%s/%.*s%s", make_directory_of(m, at), (int)n,
                                              target, path + strlen(at));
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

/* With all that was asked for behind the same directory. */
static void open_way(struct making *m, const struct wc_file_record *r) {
    const char *directory = closed_on_way(m, r->path), *paths = "", *way;
    struct edit e;

    for (size_t i = 0; directory && i < m->out->n; i++)
        if (m->out->p[i].edit[0].kind == EDIT_MODE &&
            wc_str_same(m->out->p[i].edit[0].path, directory))
            return;
    for (size_t i = 0; directory && i < 2; i++)
        WC_EACH(file, m->stacks[i]->files)
            if (file->r.fault == WC_file_fault_CLOSED && !strchr(file->r.path, ':') &&
                !candidates_path_has(paths, file->r.path, strlen(file->r.path)) &&
                (way = closed_on_way(m, file->r.path)) && strcmp(way, directory) == 0)
                paths = make_format(m, "%s%s%s", paths, *paths ? ":" : "", file->r.path);
    if (!*paths)
        return;
    e = allow(m, r, directory);
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
        else if (r->fault == WC_file_fault_UNREADABLE && r->path)
            make_one(m, allow(m, r, path));
        else if (r->fault != WC_file_fault_UNKNOWN && !r->installation && path)
            make_one(m, (struct edit){.kind = EDIT_DELETE, .path = path});
    }
}
