/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file that can be reached answers a request that failed: where it is, by the variable, or
 * by an import of the package that has it (extension-cpp#127); under another name, by a link.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "making.h"

static const char *const driver_places[] = {
#define DRIVER_PLACE(directory, who, source) directory,
#include "tools/knowledge/driver_places.def"
};
static const struct usual_place {
    const char *directory; /* "~": a home of the process's files */
    const char *stem;      /* of what is in it */
} usual_places[] = {
#define ARCHIVE_PLACE(directory, stem, source) {directory, stem},
#include "tools/knowledge/archive_places.def"
};

/* ---- where ---- */

/* The trees in which places have their usual names: "", and what is before "/usr/" or "/opt/" of a
 * program or a requester: an image that is unpacked there. */
static struct entries trees_of(struct making *m, const char *caller) {
    const char *const files[] = {caller, m->s->process.executable};
    struct entries trees = {NULL, 0};

    make_add(m, &trees, "");
    WC_EACH_ROW(file, files) {
        const char *at = *file ? strstr(*file, "/usr/") ?: strstr(*file, "/opt/") : NULL;
        make_add(m, &trees, at ? make_format(m, "%.*s", (int)(at - *file), *file) : NULL);
    }
    return trees;
}

static void add_wheels(struct making *m, struct entries *to, const char *site) {
    EACH_ENTRY(wheel, make_entries(m, make_format(m, "%s/nvidia", site)))
        make_add(m, to, make_format(m, "%s/nvidia/%s/lib", site, *wheel));
}

/* The whole set, of which a directory has a part by links (snapd#13504). */
static void add_behind_links(struct making *m, struct entries *to, const char *directory) {
    EACH_ENTRY(entry, make_entries(m, directory))
        if (wc_kind_is_ours(wc_name_kind_of(*entry)))
            make_add(m, to,
                     make_directory_of(
                         m, make_real_path(m, make_format(m, "%s/%s", directory, *entry))));
}

/* The directories that may have it. A library of neither cuDNN nor CUDA may be in any package. */
static struct entries places_of(struct making *m, const struct wc_failure *failure,
                                const char *name) {
    const enum wc_name_kind kind = wc_name_kind_of(name);
    struct entries all = make_searched(m, failure);
    const size_t searched = all.n;

    EACH_ENTRY(environment, make_environments(m, failure)) {
        add_wheels(m, &all, *environment);
        make_add(m, &all, /* what no wheel has: the libstdc++ of conda */
                 make_is_conda(m, *environment)
                     ? make_format(m, "%s/lib", *environment)
                     : make_directory_of(m, make_directory_of(m, *environment)));
        EACH_ENTRY(folder, make_entries(m, *environment))
            if (kind == WC_NAME_OTHER && !make_is_conda(m, *environment)) {
                make_add(m, &all, make_format(m, "%s/%s", *environment, *folder));
                make_add(m, &all, make_format(m, "%s/%s/lib", *environment, *folder));
            }
    }
    if (kind == WC_NAME_OTHER)
        return all;
    for (size_t i = 0; i < searched; i++)
        add_behind_links(m, &all, all.p[i]);
    WC_EACH(o, m->s->objects)
        if (o->r.mapped && (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY))
            make_add(m, &all, make_real_path(m, make_directory_of(m, wc_path_of(o))));
    WC_EACH(p, m->s->packages)
        if (p->r.installation_path)
            make_add(m, &all, make_format(m, "%s/lib", p->r.installation_path));
    WC_EACH(file, m->s->files)
        if (file->r.request == failure->r.request)
            make_add(m, &all, make_directory_of(m, file->r.path));
    EACH_ENTRY(tree, trees_of(m, failure->r.caller))
        WC_EACH_ROW(place, driver_places)
            if (kind == WC_NAME_DRIVER)
                make_add(m, &all, make_format(m, "%s%s", *tree, *place));
    return all;
}

/* ---- nearby ---- */

enum { LEVELS_UP = 2, LEVELS_DOWN = 4, LOOKED_MOST = 256 };

static bool is_of_others(const char *directory) { /* of the system, of packages, of all */
    return is_of_system(directory) || strstr(directory, "-packages") || !strchr(directory + 1, '/');
}

/* Stubs, to which LIBRARY_PATH leads in NVIDIA's images, are only for the linker. */
static bool is_sound(struct making *m, const char *file) {
    const struct library *l = library_cache_get(m->libraries, file, NULL);

    return l && !wc_lies_in_a(file, "stubs") && l->is_elf && !l->damaged &&
           l->machine == OWN_MACHINE;
}

/* The directories below one that have such a file, without that of the present one. */
static void add_below(struct making *m, struct entries *to, const char *base, const char *name,
                      const char *own) {
    struct entries all = {NULL, 0};
    size_t i = 0;

    make_add(m, &all, base);
    for (int level = 0; level < LEVELS_DOWN; level++)
        for (const size_t end = all.n; i < end; i++) {
            const struct entries some = make_entries(m, all.p[i]);
            if (is_sound(m, make_format(m, "%s/%s", all.p[i], name)) &&
                !wc_str_same(all.p[i], own) &&
                !WC_ANY(known, *to, wc_is_same_file(m->view.files, *known, all.p[i])))
                make_add(m, to, all.p[i]);
            for (size_t k = 0; k < some.n && k < LOOKED_MOST && all.n < LOOKED_MOST; k++) {
                const char *path = make_format(m, "%s/%s", all.p[i], some.p[k]);
                if (some.p[k][0] != '.' && !strchr(path, ':') && !is_of_others(path) &&
                    wc_is_directory(m->view.files, path))
                    make_add(m, &all, path);
            }
        }
}

/* Around directories, of which the first few were searched, the nearest that have it: of the
 * library that asks less, as its user's home may be near. Only its name says what is required: the
 * newest comes first. */
static struct entries nearby(struct making *m, struct entries at, size_t searched, const char *name,
                             const char *own) {
    struct entries seen = {NULL, 0}, all = {NULL, 0};
    const char *top = m->s->process.directory;

    for (int level = 0; level <= LEVELS_UP && all.n == 0; level++)
        for (size_t i = 0; i < at.n; i++) {
            /* As it is spelt: a link may point to what a package manager shares. */
            const char *base = strstr(at.p[i], "/..") ? make_real_path(m, at.p[i]) : at.p[i];
            const size_t before = seen.n;
            at.p[i] = wc_str_same(base, top) ? "/" : make_directory_of(m, base) ?: "/";
            if (!is_of_others(base) &&
                (level < 2 || i < searched || wc_is_below(base, top, strlen(top ?: ""))))
                make_add(m, &seen, base);
            if (seen.n > before)
                add_below(m, &all, base, name, own);
        }
    for (size_t i = 1; i < all.n; i++)
        if (wc_version_compare(
                library_release(m->libraries, make_format(m, "%s/%s", all.p[i], name)),
                library_release(m->libraries, make_format(m, "%s/%s", all.p[0], name))) > 0) {
            const char *newer = all.p[i];
            all.p[i] = all.p[0];
            all.p[0] = newer;
        }
    return all;
}

/* The user's own, or "/home/NAME", also within another tree; NULL: it is in none. */
static const char *home_of(struct making *m, const char *path) {
    static const char homes[] = "/home/";
    const char *own = getenv("HOME") ?: "", *at = path ? strstr(path, homes) : NULL;
    const size_t n = at ? (size_t)(at - path) + strlen(homes) : 0;

    if (path && own[0] && wc_is_below(path, own, strlen(own)))
        return make_format(m, "%s", own);
    return at ? make_format(m, "%.*s", (int)(n + strcspn(path + n, "/")), path) : NULL;
}

/* A home may have any release of it: one does that was damaged elsewhere (its path; NULL: none
 * was), and any where it is known what the program was built with. */
static bool is_required(struct making *m, const char *file, const char *damaged) {
    const struct wc_version is = library_release(m->libraries, file);
    const char *name = damaged ? wc_base_name(make_real_path(m, damaged)) : "";

    return WC_ANY(d, m->stacks[1]->demands,
                  wc_version_of(d->r.built).minor >= 0 ||
                      d->r.demand_kind == WC_demand_kind_EXPECTATION) ||
           (is.patch >= 0 && wc_version_compare(is, wc_name_read(name).version) == 0);
}

/* The directories with such a file where an archive is unpacked: "/opt/cudnn-9.8". */
static void add_usual(struct making *m, struct entries *to, const char *caller, const char *name,
                      const char *own, const char *damaged) {
    const char *const files[] = {caller, m->s->process.directory, m->s->process.executable};
    struct entries homes = {NULL, 0};

    make_add(m, &homes, "");
    WC_EACH_ROW(file, files)
        make_add(m, &homes, home_of(m, *file));
    WC_EACH(home, homes)
        WC_EACH_ROW(place, usual_places) {
            const bool is_home = **home;
            const char *base = is_home == (place->directory[0] == '~')
                                   ? make_format(m, "%s%s", *home, place->directory + is_home)
                                   : NULL;
            struct entries found = {NULL, 0};
            EACH_ENTRY(entry, make_entries(m, base))
                if (wc_str_starts(*entry, place->stem))
                    add_below(m, &found, make_format(m, "%s/%s", base, *entry), name, own);
            WC_EACH(at, found)
                if (!is_home || is_required(m, make_format(m, "%s/%s", *at, name), damaged))
                    make_add(m, to, *at);
        }
}

/* What variables name for builds, or for other programs: CUDNN_PATH, CUDA_HOME, LIBRARY_PATH. */
static void add_named(struct making *m, struct entries *to, const char *name, const char *own) {
    static const char *const below[] = {"", "/lib", "/lib64"};

    WC_EACH(text, m->s->process.environment)
        WC_EACH_ELEMENT(e,
                        wc_str_starts(*text, "CUDNN_") || wc_str_starts(*text, "CUDA_") ||
                                wc_str_starts(*text, "LIBRARY_PATH=")
                            ? strchr(*text, '=') + 1
                            : NULL,
                        ":")
            WC_EACH_ROW(folder, below) {
                const char *place = make_format(m, "%.*s%s", (int)e.n, e.p, *folder);
                if (place[0] == '/' && !wc_str_same(place, own) &&
                    is_sound(m, make_format(m, "%s/%s", place, name)))
                    make_add(m, to, place);
            }
}

/* The directories of the requester and the program; and the working directory, if one of these is
 * below it: otherwise it has nothing to do with them. */
static void add_own(struct making *m, struct entries *to, const char *caller, const char *name) {
    const char *const files[] = {caller, name, m->s->process.executable};
    const char *top = m->s->process.directory;
    bool below = false;

    WC_EACH_ROW(file, files) {
        const char *directory = make_directory_of(m, *file);
        make_add(m, to, directory);
        below = below || (directory && top && wc_is_below(directory, top, strlen(top)));
    }
    make_add(m, to, below ? top : NULL);
}

/* Of several toolkits side by side ("/usr/local/cuda-11.1") the variable mostly names one. */
static void add_toolkits(struct making *m, struct entries *to, const char *caller,
                         const char *name) {
    const char *paths = m->path ? m->path : "";

    EACH_ENTRY(tree, trees_of(m, caller))
        paths = make_format(m, "%s/usr/local/cuda:%s", *tree, paths);
    WC_EACH_ELEMENT(e, paths, ":") {
        const char *path = make_format(m, "%.*s", (int)e.n, e.p), *at = strstr(path, "/cuda");
        const char *base = at && at > path ? make_format(m, "%.*s", (int)(at - path), path) : NULL;
        EACH_ENTRY(entry, make_entries(m, base))
            if (wc_str_starts(*entry, "cuda-"))
                add_below(m, to, make_format(m, "%s/%s", base, *entry), name, NULL);
    }
}

static struct entries near_failure(struct making *m, const struct wc_failure *failure,
                                   const char *name) {
    struct entries at = make_searched(m, failure);
    const size_t searched = at.n;
    const char *file = failure->r.name[0] == '/' ? failure->r.name : failure->r.caller;

    add_own(m, &at, failure->r.caller, failure->r.name);
    at = nearby(m, at, searched, name, NULL);
    add_named(m, &at, name, NULL);
    if (wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY)
        add_toolkits(m, &at, file, name);
    /* Of releases before 8 there is no wheel. */
    if (wc_name_is_cudnn(name) &&
        (make_environments(m, failure).n == 0 || wc_name_read(name).version.major < 8))
        add_usual(m, &at, file, name, NULL,
                  failure->reason == WC_REASON_BAD_FILE ? failure->culprit : NULL);
    return at;
}

/* Another copy of a loaded file, where something is wrong with it. */
static void add_other_copies(struct making *m, const struct wc_object *o) {
    const char *name = wc_base_name(o->r.asked_name ?: o->r.soname ?: wc_path_of(o));
    const char *own = make_directory_of(m, o->r.path);
    const bool is_of_package = make_environment_of(m, wc_path_of(o)); /* which has to be right */
    struct entries at = {NULL, 0};

    make_add(m, &at, own);
    if (!is_of_package)
        add_own(m, &at, o->r.asked_by, NULL);
    at = nearby(m, at, 1, name, own);
    if (!is_of_package) {
        add_named(m, &at, name, own);
        add_usual(m, &at, o->r.asked_by, name, own, NULL);
    }
    WC_EACH(place, at)
        make_path_to(m, make_format(m, "%s/%s", *place, name));
}

/* A directory that only the requester searches does not exist: only it is concerned. */
static bool link_searched(struct making *m, const struct wc_failure *failure,
                          const struct entries *places) {
    bool any = false;

    EACH_ENTRY(directory, make_searched(m, failure)) {
        const char *parent = make_real_path(m, make_directory_of(m, *directory));
        if (is_of_others(*directory) || make_is_there(m, *directory) || !make_is_there(m, parent) ||
            path_has_element(m->path, *directory, strlen(*directory)))
            continue;
        WC_EACH(place, *places)
            make_one(
                m, (struct edit){.kind = EDIT_LINK,
                                 .path = make_format(m, "%s/%s", parent, wc_base_name(*directory)),
                                 .target = *place});
        any = true;
    }
    return any;
}

/* ---- under another name ---- */

/* Under such a name it would be taken for what it is not. What CUDA's libraries have after the
 * major is not a release: libcudart.so.11.0 is the SONAME of 11.8, too. But what was linked with
 * libnvrtc.so.11.2 may call what libnvrtc.so.11.1 lacks (mxnet#20279). */
static bool is_of_other_release(struct making *m, const char *name, const char *file) {
    const bool ours = wc_name_is_cudnn(name);
    const struct wc_object *known =
        WC_FIRST(o, m->s->objects, ours && wc_str_same(wc_real_path_of(o), file));
    const struct wc_version asked = wc_name_read(name).version;
    const char *own = (ours ? NULL : library_soname(m->libraries, file)) ?: wc_base_name(file);

    return wc_name_kind_of(name) != WC_NAME_DRIVER && /* libcuda.so.1 is of all */
           !((!known || wc_version_agree(asked, known->version)) &&
             wc_version_agree(asked, wc_name_read(own).version));
}

/* What is there is of no use: an empty directory, as `docker run -v FILE:FILE` makes one where
 * the machine has no such file, or a file that the loader refuses and no package has put there: a
 * link that was copied as its text. */
static bool is_in_the_way(struct making *m, const char *path) {
    if (wc_is_directory(m->view.files, path))
        return make_entries(m, path).n == 0;
    return WC_ANY(
        s, WC_ROWS(m->stacks),
        WC_ANY(file, (*s)->files,
               file->r.fault != WC_file_fault_UNKNOWN &&
                   (!file->r.installation ||
                    file->r.installation_kind == WC_installation_kind_CUDA_TOOLKIT) &&
                   wc_is_same_file(m->view.files, file->r.path, path) &&
                   wc_str_same(wc_base_name(make_real_path(m, path)), wc_base_name(path))));
}

/* Links are their texts: unpacked or cloned where there are no links. False: one at most is. */
static bool link_all(struct making *m, const char *directory) {
    const struct entries all = make_entries(m, directory);
    struct candidate links = {.n = 0};

    WC_EACH(entry, all) {
        const char *path = make_format(m, "%s/%s", directory, *entry);
        if (links.n + 1 == CANDIDATE_EDITS || !wc_name_is_cudnn(*entry) ||
            wc_str_ends(*entry, ".so") || is_sound(m, path) || wc_is_directory(m->view.files, path))
            continue;
        if (WC_ANY(other, all,
                   wc_str_starts(*other, make_format(m, "%s.", *entry)) &&
                       is_sound(m, make_format(m, "%s/%s", directory, *other))))
            links.p[links.n++] = (struct edit){.kind = EDIT_DELETE, .path = path};
    }
    links.p[links.n++] = (struct edit){.kind = EDIT_LINKS, .path = directory};
    if (links.n > 2)
        candidates_add(m->out, &links);
    return links.n > 2;
}

/* For a library that is opened by its whole path, which no variable changes: a link there, or,
 * where that directory does not exist, one of its name ("lib64" to "lib"). */
static void link_path(struct making *m, const char *path, const char *place) {
    const char *directory = make_directory_of(m, path), *up = make_directory_of(m, directory);
    const char *name = wc_base_name(path);

    if (!up || is_of_others(directory) || (make_is_there(m, path) && !is_in_the_way(m, path)))
        return;
    EACH_ENTRY(entry, make_entries(m, place)) {
        const char *file = make_format(m, "%s/%s", place, *entry);
        const bool is_same = strcmp(*entry, name) == 0;
        struct candidate c = {.n = 0};
        if ((!is_same && (!wc_same_library(*entry, name, false) ||
                          !wc_str_same(library_soname(m->libraries, file), *entry) ||
                          is_of_other_release(m, name, make_real_path(m, file)))) ||
            !is_sound(m, file))
            continue;
        if (make_is_there(m, path))
            c.p[c.n++] = (struct edit){.kind = EDIT_DELETE, .path = path};
        if (make_is_there(m, directory)) {
            c.p[c.n++] = (struct edit){.kind = EDIT_LINK, .path = path, .target = file};
            candidates_add(m->out, &c);
            c.p[c.n++] = make_path_with(m, place); /* for the parts */
            candidates_add(m->out, &c);
        } else if (is_same && make_is_there(m, up))
            make_one(m, (struct edit){.kind = EDIT_LINK, .path = directory, .target = place});
    }
}

/* The lowest is the best: a name without a number mostly leads back to the link, a shorter one the
 * next release has, too. */
static size_t rank_of_target(const char *link, const char *target) {
    return strlen(target) + (strlen(target) > strlen(wc_base_name(link)) ? 0 : PATH_MAX);
}

/* To the same file. */
static bool is_offered(struct making *m, const char *directory, const struct edit *link,
                       const char *file) {
    for (size_t i = 0; i < m->out->n; i++) {
        struct edit *e = &m->out->p[i].p[0];
        if (e->kind != EDIT_LINK || !wc_str_same(e->path, link->path) ||
            !wc_str_same(make_real_path(m, make_format(m, "%s/%s", directory, e->target)), file))
            continue;
        if (rank_of_target(e->path, link->target) >= rank_of_target(e->path, e->target))
            return true;
        e->target = link->target;
    }
    return false;
}

/* "libcudnn.so.9.1.0" for "libcudnn.so.9", "libcudnn.so.9" for "libcudnn.so", and the other way
 * about; what auditwheel renamed "libcudart-c3a75b33.so.12". */
static void link_in(struct making *m, const char *directory, const char *name) {
    const bool counts = directory && directory[0] == '/';

    EACH_ENTRY(entry, make_entries(m, counts ? directory : NULL)) {
        const struct edit links = {.kind = EDIT_LINKS, .path = directory};
        struct edit e = {.kind = EDIT_LINK, .target = *entry};
        if (!wc_same_library(*entry, name, false) || strcmp(*entry, name) == 0)
            continue;
        e.path = make_format(m, "%s/%s", directory, name);
        const char *file = make_real_path(m, make_format(m, "%s/%s", directory, *entry));
        if (wc_str_same(make_real_path(m, e.path), file) || is_of_other_release(m, name, file) ||
            is_offered(m, directory, &e, file))
            continue;
        make_one(m, e);
        /* ldconfig makes no name without a number. */
        if (is_in_the_way(m, e.path) && (!link_all(m, directory) || wc_str_ends(name, ".so")))
            make_two(m, (struct edit){.kind = EDIT_DELETE, .path = e.path}, e);
        make_two(m, e, make_path_with(m, directory));
        if (!wc_str_ends(name, ".so")) { /* there may be more of them */
            make_one(m, links);
            make_two(m, links, make_path_with(m, directory));
        }
    }
}

/* The name without a number points to one of several majors there: Debian's alternatives. */
static void turn_alternative(struct making *m, const struct wc_object *o) {
    const char *directory = make_directory_of(m, o->r.path);
    OWNED char *link = directory ? disk_link(o->r.path) : NULL;

    if (!link || !o->r.real_path || !wc_str_starts(link, "/etc/alternatives/"))
        return;
    EACH_ENTRY(entry, make_entries(m, directory)) {
        const struct wc_name name = wc_name_read(*entry);
        if (name.kind == WC_NAME_FACADE && name.version.major >= 0 && name.version.minor < 0 &&
            name.version.major != wc_name_read(o->r.real_path).version.major)
            make_one(m, (struct edit){.kind = EDIT_LINK,
                                      .name = wc_base_name(o->r.path),
                                      .path = make_format(m, "%s", link),
                                      .target = make_format(m, "%s/%s", directory, *entry)});
    }
}

/* A link on the way to a file points to one of several directories: /usr/local/cuda to that of a
 * toolkit (Paddle#34987). */
static void turn_link(struct making *m, const char *path) {
    for (const char *on = make_directory_of(m, path); on && on[1]; on = make_directory_of(m, on)) {
        const char *real = make_real_path(m, on), *up = make_directory_of(m, on);
        const bool is_link = up && strcmp(wc_base_name(real), wc_base_name(on)) != 0 &&
                             wc_same_directory(real, make_format(m, "%s/-", make_real_path(m, up)));
        EACH_ENTRY(entry, make_entries(m, is_link ? up : NULL)) {
            const char *to = make_format(m, "%s/%s", up, *entry);
            if (wc_str_starts(*entry, wc_base_name(on)) &&
                !wc_str_same(make_real_path(m, to), real) &&
                make_is_there(m, make_format(m, "%s%s", to, path + strlen(on))))
                make_one(m, (struct edit){.kind = EDIT_LINK, .path = on, .target = *entry});
        }
    }
}

/* ---- under its own ---- */

static const char *joined(struct making *m, const struct entries *directories) {
    const char *all = NULL;

    WC_EACH(directory, *directories)
        all = all ? make_format(m, "%s:%s", all, *directory) : *directory;
    return all;
}

/* With all that the wheels next to it have of cuDNN and CUDA; then with all of them: a host may
 * need what is in no table (libnvToolsExt.so.1). */
static void add_site(struct making *m, const char *directory) {
    const char *site = make_environment_of(m, make_format(m, "%s/", directory));
    struct entries wheels = {NULL, 0}, known = {NULL, 0}, all = {NULL, 0};

    if (!site || !wc_str_ends(make_directory_of(m, make_directory_of(m, directory)), "/nvidia"))
        return;
    add_wheels(m, &wheels, site);
    WC_EACH(wheel, wheels) {
        const struct entries files = make_entries(m, *wheel);
        if (WC_ANY(file, files,
                   wc_name_is_cudnn(*file) || wc_name_kind_of(*file) == WC_NAME_CUDA_DEPENDENCY))
            make_add(m, &known, *wheel);
        if (WC_ANY(file, files, strstr(*file, ".so")))
            make_add(m, &all, *wheel);
    }
    if (known.n > 1)
        make_one(m, make_path_with(m, joined(m, &known)));
    if (all.n > known.n && all.n > 1)
        make_one(m, make_path_with(m, joined(m, &all)));
}

void make_reached(struct making *m) {
    struct entries together = {NULL, 0};

    WC_EACH(o, m->s->objects) { /* a wheel has no name without a number, which was asked for */
        const char *name = wc_is_cudnn(o) ? wc_base_name(o->r.asked_name) : NULL;
        if (!name || !wc_str_ends(name, ".so"))
            continue;
        turn_alternative(m, o);
        WC_EACH(other, m->s->objects) /* the set that another name found */
            if (other->r.role == WC_role_FACADE && other->r.mapped)
                link_in(m, make_directory_of(m, other->r.path), name);
        WC_EACH(p, m->s->packages)
            if (p->r.installation_path)
                link_in(m, make_format(m, "%s/lib", p->r.installation_path), name);
    }
    WC_EACH(o, m->s->objects)
        if (o->r.role == WC_role_FACADE && o->r.mapped &&
            WC_ANY(f, m->base->of_end, f->severity >= WC_severity_WARNING)) {
            add_other_copies(m, o);
            if (o->r.real_path) /* its link may be to the wrong one of several there */
                link_in(m, make_directory_of(m, o->r.path), wc_base_name(o->r.path));
            turn_link(m, o->r.path);
        }
    WC_EACH_ROW(stack, m->stacks) /* the same of one for which a host was refused */
        WC_EACH(file, (*stack)->files)
            if (file->r.link && wc_name_kind_of(file->r.path) == WC_NAME_FACADE)
                link_in(m, make_directory_of(m, file->r.path), wc_base_name(file->r.path));
    WC_EACH(o, m->s->objects) /* the loaded driver may be another system's (cuml#6218) */
        if (o->r.mapped && wc_name_kind_of(wc_path_of(o)) == WC_NAME_DRIVER) {
            link_in(m, make_directory_of(m, o->r.path), wc_base_name(o->r.path));
            WC_EACH_ROW(place, driver_places) {
                const char *file = make_format(m, "%s/libcuda.so.1", *place);
                if (make_is_there(m, file))
                    make_path_to(m, file);
            }
        }
    WC_EACH(failure, m->s->failures) {
        /* That the library found does not have; NULL: versions do not matter. */
        const char *version = failure->said.what == WC_SAID_UNMET ? failure->said.version : NULL;
        const bool needs_damaged = failure->reason == WC_REASON_BAD_FILE &&
                                   wc_name_is_cudnn(failure->culprit) &&
                                   !wc_name_is_cudnn(failure->r.name);
        const char *missing = version ? wc_base_name(failure->said.library ?: failure->said.version)
                              : needs_damaged ? wc_base_name(failure->culprit)
                                              : wc_missing_of(failure);
        const char *name = wc_base_name(missing);
        const bool ours = wc_name_kind_of(missing) != WC_NAME_OTHER;
        if (!name || !(ours || make_matters(m, name) || (version && make_matters(m, version))))
            continue;
        struct entries places = places_of(m, failure, missing);
        if (!WC_ANY(place, places,
                    is_sound(m, make_format(m, "%s/%s", *place, name)) &&
                        /* the system refused the culprit */ !wc_str_same(
                            make_format(m, "%s/%s", *place, name), failure->culprit)) &&
            !version && make_matters(m, name) &&
            !WC_ANY(file, m->s->files, file->r.fault == WC_file_fault_CLOSED)) {
            const struct entries near = near_failure(m, failure, name);
            const bool linked = link_searched(m, failure, &near);
            for (size_t i = 0; !linked && i < near.n; i++)
                make_add(m, &places, near.p[i]);
        }
        WC_EACH(place, places) {
            const char *file = make_format(m, "%s/%s", *place, name);
            if (!make_is_there(m, file))
                continue;
            add_site(m, *place);
            make_path_to(m, file);
            make_add(m, &together, *place);
            if (!ours && !wc_str_same(make_module_of(m, file), name)) /* it is in one */
                make_import_before(m, file, failure->r.name, file);
        }
        if (!ours || version || wc_name_is_one_of_many(name) || strchr(name, ' '))
            continue;
        if (missing[0] == '/') { /* asked for by its path */
            WC_EACH_ELEMENT(e, m->path, ":")
                make_add(m, &places, make_format(m, "%.*s", (int)e.n, e.p));
            link_in(m, make_directory_of(m, missing), name);
            WC_EACH(place, places)
                link_path(m, missing, *place);
            continue;
        }
        WC_EACH(place, places)
            link_in(m, *place, name);
        if (wc_str_ends(name, ".so")) /* the cache has it by its SONAME */
            EACH_ENTRY(place, ldconfig_directories(m->view))
                link_in(m, *place, name);
    }
    if (together.n > 1)
        make_one(m, make_path_with(m, joined(m, &together)));
}

/* ---- in the loader's cache ---- */

/* What is missing in a directory that ldconfig reads, by its name, or before ldconfig has made the
 * link of that name: copied there, or mounted into a container, without ldconfig. */
void make_cached(struct making *m) {
    const struct entries all = ldconfig_directories(m->view);

    WC_EACH(failure, m->s->failures) {
        const bool is_unmet = failure->said.what == WC_SAID_UNMET && failure->said.version;
        const char *name = is_unmet ? NULL : wc_missing_of(failure);
        const char *so = name ? strstr(name, ".so") : NULL;
        const size_t stem = so ? (size_t)(so - name) + strlen(".so") : 0;
        if (!so || strchr(name, '/') ||
            !(wc_name_kind_of(name) != WC_NAME_OTHER || make_matters(m, name)))
            continue;
        WC_EACH(directory, all) {
            const struct entries files = make_entries(m, *directory);
            const char *file = make_format(m, "%s/%s", *directory, name);
            const bool is_there = make_is_there(m, file);
            const char *const *unlinked =
                WC_FIRST(one, files,
                         strncmp(*one, name, stem) == 0 &&
                             wc_str_same(library_soname(m->libraries,
                                                        make_format(m, "%s/%s", *directory, *one)),
                                         name));
            if (!is_there)
                file = unlinked ? make_format(m, "%s/%s", *directory, *unlinked) : NULL;
            if (file && !(is_there && is_of_system(*directory))) { /* one run is for all of them */
                make_one(m, (struct edit){.kind = EDIT_CACHE, .path = *directory, .target = file});
                break;
            }
        }
    }
}
