/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/findings/finding.h"

struct beside {
    struct finding_of *f;
    const char *directory, *name;
};

/* Under such a name it would be taken for what it is not. What CUDA's libraries have behind the
 * major is no release: libcudart.so.11.0 is of 11.8. */
static bool is_of_other_release(const char *name, const char *file) {
    struct wc_version asked = wc_name_read(name).version;

    if (!wc_name_is_cudnn(name))
        asked.minor = asked.patch = asked.build = -1;
    return !wc_version_agree(asked, wc_name_read(wc_base_name(file)).version);
}

static bool is_any(void *found, const char *entry) {
    (void)entry;
    *(bool *)found = true;
    return false;
}

/* As `docker run -v FILE:FILE` makes one where the computer has no such file. */
static bool is_empty_directory(struct finding_of *f, const char *path) {
    bool found = false;

    if (!wc_is_directory(f->files, path))
        return false;
    f->files->list(f->files->ctx, path, is_any, &found);
    return !found;
}

/* A file that the loader refuses, and no package has put there: a link that was copied as its text.
 */
static bool is_nobodys(struct finding_of *f, const char *path) {
    for (size_t i = 0; i < 2; i++)
        if (WC_ANY(file, f->stacks[i]->files,
                   file->r.fault != WC_file_fault_UNKNOWN && !file->r.installation &&
                       wc_str_same(file->r.path, path) &&
                       (!file->r.real_path || wc_str_same(file->r.real_path, path))))
            return true;
    return false;
}

/* By a shorter name, which the next release has, too. */
static bool is_offered(struct beside *b, const char *link, const char *entry, const char *file) {
    const struct candidates *c = b->f->out;

    for (size_t i = 0; i < c->n; i++) {
        struct edit *e = &c->p[i].edit[0];
        if (e->kind != EDIT_LINK || !wc_str_same(e->path, link) ||
            !wc_str_same(find_real_path(b->f, find_format(b->f, "%s/%s", b->directory, e->target)),
                         file))
            continue;
        if (strlen(entry) >= strlen(e->target))
            return true;
        e->target = entry;
    }
    return false;
}

/* "libcudnn.so.9.1.0" for "libcudnn.so.9", "libcudnn.so.9" for "libcudnn.so", and the other way
 * about. */
static bool is_beside(void *arg, const char *entry) {
    struct beside *b = arg;
    const char *stem = strstr(b->name, ".so");
    size_t n = stem ? (size_t)(stem - b->name) + 3 : 0;
    struct edit e = {.kind = EDIT_LINK};
    const char *file;

    if (!n || strncmp(entry, b->name, n) != 0 || (entry[n] && entry[n] != '.') ||
        strcmp(entry, b->name) == 0)
        return true;
    e.path = find_format(b->f, "%s/%s", b->directory, b->name);
    e.target = find_format(b->f, "%s", entry);
    file = find_real_path(b->f, find_format(b->f, "%s/%s", b->directory, entry));
    if (is_of_other_release(b->name, file) || is_offered(b, e.path, e.target, file))
        return true;
    find_add(b->f, e);
    if (is_empty_directory(b->f, e.path) || is_nobodys(b->f, e.path))
        find_add_two(b->f, (struct edit){.kind = EDIT_DELETE, .path = e.path}, e);
    find_add_two(b->f, e, find_with_directory(b->f, b->directory));
    if (!wc_str_ends(b->name, ".so")) { /* there may be more of them */
        const struct edit all = {.kind = EDIT_LINKS, .path = b->directory};
        find_add(b->f, all);
        find_add_two(b->f, all, find_with_directory(b->f, b->directory));
    }
    return true;
}

static void find_links_in(struct finding_of *f, const char *directory, const char *name) {
    struct beside b = {f, directory, name};

    if (directory && directory[0] == '/')
        f->files->list(f->files->ctx, directory, is_beside, &b);
}

struct turned {
    struct finding_of *f;
    const struct wc_object *o;
    const char *directory, *link;
};

static bool is_other_number(void *arg, const char *entry) {
    struct turned *t = arg;
    const struct wc_name name = wc_name_read(entry);
    const char *path = find_format(t->f, "%s/%s", t->directory, entry);

    if (name.kind == WC_NAME_FACADE && name.version.major >= 0 && name.version.minor < 0 &&
        name.version.major != wc_name_read(t->o->r.real_path).version.major)
        find_add(t->f, (struct edit){.kind = EDIT_LINK,
                                     .name = wc_base_name(t->o->r.path),
                                     .path = t->link,
                                     .target = path});
    return true;
}

/* The name without a number leads to one of several majors that lie there: Debian's alternatives.
 */
static void add_turned(struct finding_of *f, const struct wc_object *o) {
    char target[PATH_MAX];
    const ssize_t n = o->r.path ? readlink(o->r.path, target, sizeof(target)) : -1;
    struct turned t = {.f = f, .o = o, .directory = find_directory_of(f, o->r.path)};

    if (n <= 0 || n == (ssize_t)sizeof(target) || !o->r.real_path || !t.directory)
        return;
    t.link = find_format(f, "%.*s", (int)n, target);
    if (wc_str_starts(t.link, "/etc/alternatives/"))
        f->files->list(f->files->ctx, t.directory, is_other_number, &t);
}

/* A wheel has no name without a number, which is what was asked for. */
static void find_bare_names(struct finding_of *f) {
    WC_EACH(o, f->s->objects) {
        const char *name = wc_is_cudnn(o) && o->r.asked_name ? wc_base_name(o->r.asked_name) : NULL;
        if (!name || !wc_str_ends(name, ".so"))
            continue;
        add_turned(f, o);
        WC_EACH(p, f->s->packages)
            if (p->r.installation_path)
                find_links_in(f, find_format(f, "%s/lib", p->r.installation_path), name);
    }
}

static bool find_links_of_wheel(void *arg, const char *entry) {
    struct beside *b = arg;

    find_links_in(b->f, find_format(b->f, "%s/nvidia/%s/lib", b->directory, entry), b->name);
    return true;
}

/* A CUDA library is asked for without a number: beside cuDNN, and where others of CUDA come from,
 * it may stand with one. */
static void find_plain_names(struct finding_of *f, const struct wc_failure *failure,
                             const char *name) {
    struct environments all;

    if (wc_name_kind_of(name) != WC_NAME_CUDA_DEPENDENCY || !wc_str_ends(name, ".so"))
        return;
    WC_EACH(o, f->s->objects)
        if (o->r.mapped && (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY))
            find_links_in(f, find_real_path(f, find_directory_of(f, wc_path_of(o))), name);
    all = find_environments_of(f, failure);
    for (size_t i = 0; i < all.n; i++) {
        struct beside b = {f, all.p[i], name};
        f->files->list(f->files->ctx, find_format(f, "%s/nvidia", all.p[i]), find_links_of_wheel,
                       &b);
    }
}

void find_links(struct finding_of *f) {
    find_bare_names(f);
    WC_EACH(failure, f->s->failures) {
        char dependency[512];
        const char *name = wc_failed_dependency(failure, dependency, sizeof(dependency))
                               ? find_format(f, "%s", dependency)
                               : failure->r.name;
        if (!name || wc_name_kind_of(name) == WC_NAME_OTHER || wc_name_is_one_of_many(name) ||
            strchr(name, ' '))
            continue;
        if (name[0] == '/') { /* asked for by its path */
            find_links_in(f, find_directory_of(f, name), wc_base_name(name));
            continue;
        }
        find_in_searched(f, failure, name, find_links_in);
        find_plain_names(f, failure, name);
        WC_EACH(p, f->s->packages)
            if (p->r.installation_path)
                find_links_in(f, find_format(f, "%s/lib", p->r.installation_path), name);
        WC_EACH(file, f->s->files)
            if (file->r.request == failure->r.request)
                find_links_in(f, find_directory_of(f, file->r.path), name);
    }
}
