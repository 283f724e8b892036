/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/demand/questions.h"
#include "core/packages/identify.h"

static const char unknown_content[] = "what a file of this package holds is not known";
static const char no_list[] = "its list of files is missing, so it cannot be uninstalled";
static const char no_package[] = "it is not installed there";
static const char status_of_dpkg[] = "/var/lib/dpkg/status";

static bool put_text(struct overlay *o, const char *path, const char *text) {
    return overlay_put_file(o, path, image_of_bytes(text, strlen(text), 0));
}

/* ---- where packages are installed ---- */

struct where {
    enum { WHEELS, CONDA, DEBIAN } kind;
    const char *path; /* a site, a prefix; "": the whole system */
};

/* Where lib64 is not a link, NVIDIA's wheels go to lib all the same: they count as pure. */
static const char *site_for(struct overlay *o, const char *site, const char *package) {
    const char *at = wc_str_starts(package, "nvidia-") ? strstr(site, "/lib64/python") : NULL;
    const char *pure =
        at ? overlay_format(o, "%.*s/lib%s", (int)(at - site), site, at + strlen("/lib64")) : NULL;

    return pure && overlay_is_there(o, pure) ? pure : site;
}

static bool find_where(struct overlay *o, const struct edit *e, struct where *w) {
    *w = (struct where){DEBIAN, ""};
    if (wc_str_same(e->environment, "/"))
        return true;
    w->path = e->environment ? overlay_real_path(o, e->environment) ?: e->path : NULL;
    if (!w->path)
        return overlay_fail(o, "into which environment it goes is not known");
    w->path = site_for(o, w->path, e->name);
    w->kind = view_is_conda(o->view, w->path) ? CONDA : WHEELS;
    return true;
}

/* ---- what is installed ---- */

struct installed {
    const char *record;  /* a dist-info folder, a file of conda-meta, dpkg's list; NULL: none */
    const char *version; /* "": not said */
};

static bool find_package(struct overlay *o, const struct where *w, const char *package,
                         struct installed *p) {
    const char *list = overlay_format(o, "/var/lib/dpkg/info/%s.list", package), *info = NULL;
    char scratch[16 << 10];
    struct wc_reading reading;
    struct wc_distribution d;

    *p = (struct installed){.version = ""};
    if (w->kind == DEBIAN && overlay_is_there(o, list)) {
        wc_reading_begin(&reading, o->view.files, scratch, sizeof(scratch));
        wc_debian_package(&reading, list, &d);
        *p = (struct installed){list, wc_arena_string(&o->memory.arena, d.version)};
    }
    if (w->kind != DEBIAN)
        p->version = wheel_installed(o->view, w->path, package, &info);
    if (info)
        p->record = overlay_format(o, "%s/%s", w->path, info);
    return p->record;
}

/* The packages of a site, or a prefix, as they are without any edit. */
static const struct site *packages_of(struct overlay *o, const char *path) {
    struct disk *disk = &o->library_cache->disk;

    disk->is_bare = true;
    const struct site *site = site_of(o->sites, &disk->files, path);
    disk->is_bare = false;
    return site;
}

static const char *const stating[] = {"cuda-version", "cudatoolkit", "cuda-cudart", "libcublas"};

/* Which CUDA a build of conda's is for: by its name ("cuda12_0"), else by the packages that say it
 * for the whole environment, else by what any of them requires. A solver keeps to that.
 * "libcudnn9-cuda-12", "libcudnn8" of 8.9.7.29-1+cuda12.2. -1: nothing says it. */
static int32_t cuda_of(struct overlay *o, const struct where *w, const char *package,
                       const char *version) {
    const char *const texts[] = {w->kind == DEBIAN ? package : NULL, version};
    struct installed said;
    int32_t cuda;

    WC_EACH_ROW(text, texts)
        if ((cuda = wc_cuda_in_package(*text)) > 0)
            return cuda;
    WC_EACH_ROW(name, stating)
        if (w->kind == CONDA && find_package(o, w, *name, &said))
            return wheel_version(said.version).major;
    if (w->kind != CONDA)
        return -1;
    WC_EACH(q, packages_of(o, w->path)->requires) {
        const char *set = overlay_format(o, "%.*s", (int)strcspn(q->spec, "|"), q->spec);
        cuda = -1; /* "cuda-version>=12,<13.0a0", "cudatoolkit==11.8|11.8.*" */
        if (WC_ANY(name, WC_ROWS(stating), wc_str_same(q->package, *name)))
            cuda = wc_text_floor(set).major;
        if (cuda > 0 && wc_text_accepts(set, (struct wc_version){cuda + 1, 0, 0, -1}) == WC_NO)
            return cuda;
        if (wc_str_same(q->package, "cudnn") && (cuda = wc_cuda_in_package(q->info)) > 0)
            return cuda; /* "visionkit-2.1.0-cuda118_py311_0" */
    }
    return -1;
}

/* The wheel with the same libraries; below 11: of a CUDA that is not known, or older. */
static const char *same_wheel(struct overlay *o, int32_t cuda) {
    return overlay_format(o, "nvidia-cudnn-cu%d", cuda < 11 ? 12 : cuda);
}

/* ---- its files ---- */

/* The libraries that a package's list names; p NULL: there is no list. */
static struct listed files_of(struct overlay *o, const struct where *w, const struct installed *p) {
    const struct listed list = list_of(o->view, p->record);
    struct listed all = {list.p, 0};

    WC_EACH(file, list) {
        const bool is_whole = file->path[0] == '/';
        if (w->kind == CONDA && !wc_str_starts(file->path, "lib/"))
            continue;
        all.p[all.n] = *file;
        all.p[all.n++].path = overlay_placed(
            o, is_whole ? file->path : overlay_format(o, "%s/%s", w->path, file->path));
    }
    for (size_t i = 0; w->kind == DEBIAN && i < all.n; i++) {
        /* The longest name of a library is the file, the shorter ones are links to it. */
        const char *name = wc_base_name(all.p[i].path);
        all.p[i].link = WC_ANY(file, all,
                               wc_str_starts(wc_base_name(file->path), name) &&
                                   wc_base_name(file->path)[strlen(name)] == '.');
    }
    return all;
}

/* A link points to the longest name of the same library that is listed. */
static void put_link_of(struct overlay *o, const struct listed *files, const char *link) {
    const char *name = wc_base_name(link), *target = NULL;

    WC_EACH(file, *files) {
        const char *other = wc_base_name(file->path);
        if (!file->link && wc_str_starts(other, name) &&
            (!target || strlen(other) > strlen(target)))
            target = other;
    }
    if (target)
        overlay_put_link(o, link, target);
}

static bool has_list(struct overlay *o, const struct installed *p) {
    return overlay_is_there(o, overlay_format(o, "%s/RECORD", p->record));
}

/* As the manager takes a package away, with what another one has put at the same paths. */
static bool take_away(struct overlay *o, const struct where *w, const struct installed *p) {
    /* Without its list only what says that it is installed goes, what it has put there stays. */
    const bool unlisted = w->kind == WHEELS && !has_list(o, p);
    struct listed files = unlisted ? (struct listed){NULL, 0} : files_of(o, w, p);

    if (!unlisted && (!files.p || (w->kind == DEBIAN && !files.n)))
        return overlay_fail(o, no_list);
    WC_EACH(file, files)
        overlay_hide(o, file->path);
    if (w->kind == WHEELS)
        EACH_ENTRY(entry, overlay_entries(o, p->record))
            overlay_hide(o, overlay_format(o, "%s/%s", p->record, *entry));
    overlay_hide(o, p->record);
    return true;
}

/* ---- what wheels require of one another ---- */

/* NONE: it goes. */
static bool is_refused(const char *spec, struct wc_version old, struct wc_version release) {
    return !wc_version_known(release) ||
           (wc_text_accepts(spec, old) == WC_YES && wc_text_accepts(spec, release) == WC_NO);
}

static bool is_listed(struct overlay *o, const struct where *w, const char *record,
                      const char *file) {
    const char *path = file && *file == '/' ? overlay_real_path(o, file) : NULL;

    return record && wc_is_below(path, w->path, strlen(w->path)) &&
           strstr(record, overlay_format(o, w->kind == CONDA ? "\"%s\"" : "%s,",
                                         path + strlen(w->path) + 1));
}

/* Files of that package were loaded, or failed: the replay shows what becomes of them. */
static bool is_of_process(struct overlay *o, const struct where *w, const char *info) {
    const char *record = view_text(
        o->view, overlay_format(o, w->kind == CONDA ? "%s/%s" : "%s/%s/RECORD", w->path, info));

    return o->stack &&
           (WC_ANY(object, o->stack->objects, is_listed(o, w, record, wc_path_of(object))) ||
            WC_ANY(f, o->stack->failures,
                   is_listed(o, w, record, f->r.caller) || is_listed(o, w, record, f->r.name) ||
                       is_listed(o, w, record, f->said.file)));
}

/* What other packages accept is there, and not that release (NONE: it goes). Of a newer cuDNN of
 * the same major NVIDIA promises that it works: a package that does not accept it is named
 * ("torch 2.9.0 requires ==9.20.0.48"). The other major stays, too, where nothing says which one a
 * package requires. */
static void note_broken(struct overlay *o, const struct where *w, const char *package,
                        const char *installed, struct wc_version release) {
    const struct wc_version old = wc_version_of(installed);
    const bool is_newer = wc_is_cudnn_package(WC_installation_kind_WHEEL, package) &&
                          wc_version_known(release) && release.major == old.major &&
                          wc_version_compare(release, old) > 0;

    WC_EACH(q, packages_of(o, w->path)->requires) {
        if (!wheel_is_name(q->package, strlen(q->package), package) ||
            !overlay_is_there(o, overlay_format(o, "%s/%s", w->path, q->info)) ||
            (w->kind == CONDA && wc_str_starts(q->by, "cudnn "))) /* has builds for each CUDA */
            continue;
        const char *by = overlay_format(o, "%s requires", q->by);
        if (is_newer && is_refused(q->spec, old, release)) {
            o->breaks = overlay_format(o, "%s%s%s %s", o->breaks ?: "", o->breaks ? " and " : "",
                                       by, q->spec);
        } else if (is_refused(q->spec, old, release) ||
                   (!*q->spec && release.major != old.major && !is_of_process(o, w, q->info))) {
            o->lacks = package;
            o->refused_by = overlay_format(o, "%s %s%s", by, package, q->spec);
        }
    }
}

/* What another package requires is removed. */
static void note_lack(struct overlay *o, const struct where *w, const char *package) {
    struct installed p;

    if (w->kind != DEBIAN && find_package(o, w, package, &p))
        note_broken(o, w, package, p.version, WC_VERSION_NONE);
}

/* It comes, or comes back. NVIDIA's wheels of cuDNN have their files at the same paths, for
 * whichever CUDA they are: another one goes. */
static void note_place(struct overlay *o, const struct where *w, const char *package) {
    if (wc_str_same(o->lacks, package))
        o->lacks = NULL;
    for (int32_t cuda = 11; wc_str_starts(package, "nvidia-cudnn-cu") && cuda <= 13; cuda++)
        if (!wc_str_same(same_wheel(o, cuda), package))
            note_lack(o, w, same_wheel(o, cuda));
}

/* What a package is made of that the tables do not have. If a package there requires that release,
 * and not the present one: the same files, with what the process lacks. Of conda's else what files
 * need of that CUDA that could not be loaded. */
static struct wheel_list files_of_unknown(struct overlay *o, const struct where *w,
                                          const char *package, struct wc_version release,
                                          const struct installed *old) {
    const bool is_required =
        old && WC_ANY(q, packages_of(o, w->path)->requires,
                      wheel_is_name(q->package, strlen(q->package), package) &&
                          wc_text_accepts(q->spec, wc_version_of(old->version)) == WC_NO &&
                          wc_text_accepts(q->spec, release) != WC_NO);
    const struct listed files = is_required ? files_of(o, w, old) : (struct listed){NULL, 0};
    struct entries names = {NULL, 0};

    WC_EACH(file, files)
        if (wc_is_below(file->path, w->path, strlen(w->path)))
            entries_add(&o->memory.arena, &names, file->path + strlen(w->path) + 1);
    for (size_t i = 0; w->kind == CONDA && !is_required && o->stack && i < o->stack->failures.n;
         i++) {
        const struct wc_failure *f = &o->stack->failures.p[i];
        const char *by = f->r.name && f->r.name[0] == '/' ? f->r.name : f->r.caller;
        const struct library *l = library_cache_get(o->library_cache, by ?: "", NULL);
        for (const char **name = l ? l->needed : NULL; name && *name; name++)
            if (wc_name_cuda(*name) == release.major)
                entries_add_new(&o->memory.arena, &names, overlay_format(o, "lib/%s", *name));
    }
    struct wheel_file *p = wc_arena_take(&o->memory.arena, (names.n + 1) * sizeof(*p));
    for (size_t i = 0; i < names.n; i++)
        p[i] = (struct wheel_file){.file = names.p[i]};
    return (struct wheel_list){p, names.n};
}

/* In place of the old package (NULL: of none). As listed with that before and behind each file;
 * NULL: what is in them is not known. directory: where their names go; NULL: they are paths below
 * w. */
static const char *put_files(struct overlay *o, const struct where *w, const struct installed *old,
                             const char *directory, const char *package, struct wc_version release,
                             const struct wheel_list *files, const char *before,
                             const char *after) {
    const char *listed = "";

    if (old && !take_away(o, w, old))
        return NULL;
    WC_EACH(file, *files) {
        const char *name = directory ? wc_base_name(file->file) : file->file;
        const char *path = overlay_format(o, "%s/%s", directory ?: w->path, name);
        if (!overlay_put_library(o, package, overlay_placed(o, path), release, 0))
            return NULL;
        listed = overlay_format(o, "%s%s%s%s", listed, before, name, after);
    }
    return listed;
}

/* old: what is there; NULL: nothing. */
static bool install_wheel(struct overlay *o, const struct where *w, const char *package,
                          struct wc_version release, const struct installed *old) {
    const char *version = view_version(o->view, release), *info;
    char name[96];
    struct wheel_list files = wheel_list(&o->memory.arena, package, release);
    const char *record, *required = "";

    if (!files.n)
        files = files_of_unknown(o, w, package, release, old);
    if (!files.n)
        return overlay_fail(o, "the contents of this package are not known");
    if (old && wc_version_compare(wc_version_of(old->version), release) == 0)
        return overlay_fail(o, "that release is installed already");
    record = put_files(o, w, old, NULL, package, release, &files, "", ",,\n");
    EACH_ENTRY(other, wheel_required(&o->memory.arena, package, release))
        required = overlay_format(o, "%sRequires-Dist: %s\n", required, *other);
    wc_distribution_normalise(package, strlen(package), name, sizeof(name));
    info = overlay_format(o, "%s/%s-%s.dist-info", w->path, name, version);
    return record && put_text(o, overlay_format(o, "%s/RECORD", info), record) &&
           put_text(o, overlay_format(o, "%s/INSTALLER", info), "pip\n") &&
           put_text(o, overlay_format(o, "%s/METADATA", info),
                    overlay_format(o, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s", package,
                                   version, required));
}

/* What it requires comes along, where it does not exist. What others are made of is not known. */
static bool install_required(struct overlay *o, const struct where *w, const struct installed *p) {
    struct requirements all = {NULL, 0};
    struct installed there;
    bool good = true;

    requirements_add(&all, &o->memory.arena,
                     view_text(o->view, overlay_format(o, "%s/METADATA", p->record)));
    WC_EACH(q, all) {
        const struct where to = {WHEELS, site_for(o, w->path, q->package)};
        good =
            good && (!requirement_is_known(q) || find_package(o, &to, q->package, &there) ||
                     install_wheel(o, &to, q->package, wheel_release(q->package, q->spec), NULL));
    }
    free(all.p);
    return good;
}

/* ---- by manager ---- */

/* old: the installed package, which is replaced; NULL: none. */
static bool install_in_site(struct overlay *o, const struct where *w, const struct edit *e,
                            const struct installed *old) {
    const struct wc_version release = wheel_release(e->name, e->value ? e->value : "");
    struct installed new;

    if (!wc_version_known(release))
        return overlay_fail(o, "no release of it is known");
    note_place(o, w, e->name);
    if (old)
        note_broken(o, w, e->name, old->version, release);
    return install_wheel(o, w, e->name, release, old) && find_package(o, w, e->name, &new) &&
           install_required(o, w, &new);
}

static bool install_in_conda(struct overlay *o, const struct where *w, const struct edit *e,
                             const struct installed *old) {
    const int32_t cuda = cuda_of(o, w, e->name, old ? wc_base_name(old->record) : NULL);
    const bool is_cudnn = wc_is_cudnn_package(WC_installation_kind_CONDA, e->name);
    const char *wheel = is_cudnn ? same_wheel(o, cuda) : e->name, *listed;
    const struct wc_version least = wc_text_floor(e->value ? e->value : "");
    const bool is_old = least.major > 0 && least.major < 8; /* one library, for any CUDA */
    struct wc_version release = is_old ? least : wheel_release(wheel, e->value ? e->value : "");

    if (!wc_version_known(release))
        return overlay_fail(o, "no release of it is known");
    const struct wheel_list other = files_of_unknown(o, w, e->name, release, old);
    if (!is_cudnn && !other.n)
        return overlay_fail(o, "the contents of this package are not known");
    /* With a cuDNN for an older CUDA than the tables have the solver takes that of any. */
    if (is_cudnn && cuda < 11 && !is_old)
        return overlay_fail(o, o->open = "nothing there says for which CUDA conda would take it");
    if (old)
        note_broken(o, w, e->name, old->version, release);
    const struct wheel_list files = is_cudnn ? overlay_cudnn_files(o, wheel, release) : other;
    listed = put_files(o, w, old, is_cudnn ? overlay_format(o, "%s/lib", w->path) : NULL, wheel,
                       release, &files, is_cudnn ? ",\n    \"lib/" : ",\n    \"", "\"");
    release.build = -1;
    return listed && put_text(o,
                              overlay_format(o, "%s/conda-meta/%s-%s-0.json", w->path, e->name,
                                             view_version(o->view, release)),
                              overlay_format(o, "{\n  \"files\": [\"lib\"%s\n  ]\n}\n", listed));
}

/* To where the installed release is, or the package for developers, which has only links, or that
 * of another major; else to where NVIDIA's packages have it. */
static const char *debian_directory(struct overlay *o, const struct where *w, const char *package) {
    const size_t n = strcspn(package, "0123456789"), digits = strspn(package + n, "0123456789");
    const char *directory = NULL, *usual = "/usr/lib/" OWN_TRIPLET;

    EACH_ENTRY(list, overlay_entries(o, "/var/lib/dpkg/info")) {
        const struct installed p = {.record = overlay_format(o, "/var/lib/dpkg/info/%s", *list)};
        struct listed files = {NULL, 0};
        if (wc_str_starts(*list, "libcudnn") && wc_str_ends(*list, ".list"))
            files = files_of(o, w, &p);
        if (files.n && (!directory || strncmp(*list, package, n + digits) == 0))
            directory = overlay_directory(o, files.p[0].path);
    }
    return directory || !overlay_is_there(o, usual) ? directory : usual;
}

static bool install_in_debian(struct overlay *o, const struct where *w, const struct edit *e,
                              const struct installed *old) {
    const char *text = e->value && wc_str_starts(e->value, "==") ? e->value + 2 : "";
    const struct wc_version release = wheel_version(text);
    const char *directory = debian_directory(o, w, e->name), *listed;

    if (old && strstr(e->name, "-dev")) /* its links point to whichever release is there */
        return true;
    if (!directory || !wc_version_known(release))
        return overlay_fail(o, unknown_content);
    const char *wheel = same_wheel(o, cuda_of(o, w, e->name, text));
    const struct wheel_list files = overlay_cudnn_files(o, wheel, release);
    listed = put_files(o, w, old, directory, wheel, release, &files,
                       overlay_format(o, "%s/", directory), "\n");
    /* The first that names it counts. */
    return listed &&
           put_text(o, status_of_dpkg,
                    overlay_format(o, "Package: %s\nVersion: %s\n\n%s", e->name, text,
                                   view_text(o->view, status_of_dpkg))) &&
           put_text(o, overlay_format(o, "/var/lib/dpkg/info/%s.list", e->name), listed);
}

bool overlay_install(struct overlay *o, const struct edit *e) {
    struct installed old;
    struct where w;

    if (!find_where(o, e, &w))
        return false;
    const bool is_there = find_package(o, &w, e->name, &old);
    if (w.kind == DEBIAN && e->value && *e->value && !wc_str_starts(e->value, "=="))
        return overlay_fail(
            o, o->open = "no list of apt has such a release: apt-get update fetches them");
    if (is_there &&
        (!e->value || !*e->value || wc_str_same(e->value, overlay_format(o, "==%s", old.version)) ||
         wc_text_accepts(e->value, wheel_version(old.version)) == WC_YES)) {
        if (w.kind == WHEELS && !install_required(o, &w, &old)) /* is looked after, no more */
            return false;
        return (w.kind == WHEELS && o->changes) ||
               overlay_fail(o, o->idle = "what is installed is such a release already");
    }
    return (w.kind == DEBIAN  ? install_in_debian
            : w.kind == CONDA ? install_in_conda
                              : install_in_site)(o, &w, e, is_there ? &old : NULL);
}

bool overlay_remove_package(struct overlay *o, const struct edit *e) {
    struct installed p;
    struct where w;

    if (!find_where(o, e, &w))
        return false;
    if (!find_package(o, &w, e->name, &p))
        return overlay_fail(o, w.kind == DEBIAN ? no_list : (o->idle = no_package));
    if (w.kind == WHEELS && !has_list(o, &p))
        return overlay_fail(o, no_list);
    note_lack(o, &w, e->name);
    return take_away(o, &w, &p);
}

/* As the package has it: what is there in its size (in bytes; 0: not stated) already. */
static bool put_back(struct overlay *o, const char *package, const char *path,
                     struct wc_version release, uint64_t size) {
    struct wc_file_stat facts;
    const bool there = o->view.files->facts(o->view.files->ctx, path, &facts);

    /* A framework's release is not that of the cuDNN that its package brings (dust3r#198). */
    if (wc_name_is_cudnn(path) && *package && !wc_str_starts(package, "nvidia-cudnn-"))
        release = WC_VERSION_NONE;
    if (!wc_kind_is_ours(wc_name_kind_of(path)) && there && (!size || facts.size == size))
        return true;
    return (there && size && facts.size == size && overlay_is_sound(o, path, release)) ||
           overlay_put_library(o, package, path, release, size);
}

/* The files of a package, again. */
bool overlay_reinstall(struct overlay *o, const struct edit *e) {
    struct installed p;
    struct where w;
    const char *package = e->name, *version;

    if (!find_where(o, e, &w))
        return false;
    note_place(o, &w, e->name);
    if (!find_package(o, &w, e->name, &p))
        return w.kind == WHEELS && e->value && wc_version_known(wc_version_of(e->value))
                   ? install_wheel(o, &w, e->name, wc_version_of(e->value), NULL)
                   : overlay_fail(o, w.kind == DEBIAN ? no_list : no_package);
    if (w.kind == WHEELS && e->value && !wc_str_same(e->value, p.version))
        return overlay_fail(o, "another release of it counts as installed there");
    version = w.kind == DEBIAN ? e->value : p.version;
    if (w.kind == DEBIAN ||
        (w.kind == CONDA && wc_is_cudnn_package(WC_installation_kind_CONDA, e->name)))
        package = same_wheel(
            o, cuda_of(o, &w, e->name, w.kind == DEBIAN ? e->value : wc_base_name(p.record)));
    struct listed files = files_of(o, &w, &p);
    if (!files.p || (w.kind == DEBIAN && !files.n))
        return overlay_fail(o, no_list);
    WC_EACH(file, files) {
        /* "libcudnn.so" is of the package for developers, of another one's library. */
        const bool bare = w.kind == DEBIAN && wc_str_ends(file->path, ".so");
        if (file->link)
            put_link_of(o, &files, file->path);
        else if (bare ? !overlay_is_there(o, file->path)
                      : !put_back(o, package, file->path,
                                  version ? wheel_version(version) : WC_VERSION_NONE, file->size))
            return overlay_fail(o, unknown_content);
    }
    return true;
}
