/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cuDNN or a CUDA library that no package manages: of an archive below /opt, of a module tree, of
 * a toolkit, of an application with its own.
 */
#include <string.h>

#include "core/knowledge/programs.h"
#include "making.h"

enum { DIRECTORIES_MOST = 4 };

/* ---- where ---- */

/* Does a user maintain what is installed so? */
static bool is_managed(enum wc_installation_kind kind) {
    return wc_is_of_environment(kind) || wc_is_of_system(kind) ||
           kind == WC_installation_kind_CONTAINER_MOUNT; /* what is inside cannot be changed */
}

/* That of an interpreter's own libraries: its packages come from a package manager. */
static bool is_of_interpreter(const struct making *m, const char *directory) {
    const char *program = m->s->process.executable;
    const size_t n = program ? wc_dir_above(program, wc_dir_length(program)) : 0;

    return n && wc_program_is(program, WC_PROGRAM_PYTHON) && strncmp(directory, program, n) == 0 &&
           strcmp(directory + n, "/lib") == 0;
}

static bool is_ours(const char *name) {
    return name && wc_kind_is_ours(wc_name_kind_of(name));
}

static void add_directory(struct making *m, struct entries *to, const char *file) {
    const char *directory = file && file[0] == '/' ? make_directory_of(m, file) : NULL;
    const char *real = make_real_path(m, directory);

    /* "pip install --target" makes no site-packages. */
    if (directory && directory[1] && to->n < DIRECTORIES_MOST && !make_environment_of(m, file) &&
        make_is_there(m, directory) &&
        !WC_ANY(o, m->stacks[1]->objects,
                o->r.installation_kind == WC_installation_kind_WHEEL &&
                    wc_lies_in(wc_real_path_of(o), real, strlen(real))))
        make_add(m, to, directory);
}

static struct entries directories_of(struct making *m) {
    struct entries all = {NULL, 0};

    WC_EACH(o, m->s->objects) /* a link may point to another library than its name says */
        if (wc_is_cudnn(o) && !is_managed(o->r.installation_kind))
            add_directory(m, &all, is_ours(o->r.real_path) ? o->r.real_path : o->r.path);
    WC_EACH(file, m->s->files)
        if (is_ours(file->r.path) && !is_managed(file->r.installation_kind))
            add_directory(m, &all, file->r.path);
    WC_EACH(failure, m->s->failures) {
        const struct wc_searched *search = wc_search_in_vain(m->s, failure);
        EACH_ENTRY(directory, make_searched(m, failure))
            if (is_ours(search->r.name) && !is_of_system(*directory) &&
                !is_of_interpreter(m, *directory))
                add_directory(m, &all, make_format(m, "%s/", *directory));
        if (is_ours(failure->r.name)) /* by its path */
            add_directory(m, &all, failure->r.name);
    }
    return all;
}

/* ---- for which CUDA ---- */

/* By the libraries in a directory, and what cuDNN's open; else by its name; -1: not known. */
static int32_t cuda_in(struct making *m, const char *directory) {
    int32_t cuda = -1;

    EACH_ENTRY(name, make_entries(m, directory)) {
        const int32_t is =
            wc_name_is_cudnn(*name)
                ? library_cuda(m->libraries, make_format(m, "%s/%s", directory, *name))
                : wc_name_cuda(*name);
        if (is > 0 && cuda > 0 && is != cuda)
            return wc_cuda_in_package(directory);
        cuda = is > 0 ? is : cuda;
    }
    return cuda > 0 ? cuda : wc_cuda_in_package(directory);
}

/* A directory of CUDA's libraries, and of which CUDA. */
struct toolkit {
    const char *directory; /* NULL: users put libraries into none */
    int32_t cuda;
};

/* What the process has of CUDA, else the one where NVIDIA's packages put it. For CUDA in
 * the system's directories /usr/local/lib: no package manager writes there. */
static struct toolkit toolkit_of(struct making *m) {
    const struct wc_object *o =
        WC_FIRST(one, m->s->objects,
                 one->r.role == WC_role_CUDA_DEPENDENCY && !is_managed(one->r.installation_kind) &&
                     one->r.installation_kind != WC_installation_kind_BUNDLED &&
                     wc_cuda_of(one) > 0 && wc_path_of(one) && wc_path_of(one)[0] == '/');
    const char *usual = "/usr/local/cuda/lib64", *local = "/usr/local/lib";

    if (o && !is_of_system(wc_path_of(o)))
        return (struct toolkit){make_real_path(m, make_directory_of(m, wc_path_of(o))),
                                wc_cuda_of(o)};
    if (o)
        return (struct toolkit){make_is_there(m, local) ? local : NULL, wc_cuda_of(o)};
    if (WC_ANY(one, m->s->objects, one->r.role == WC_role_CUDA_DEPENDENCY) ||
        !make_is_there(m, usual))
        return (struct toolkit){NULL, -1}; /* what goes with a wheel's, conda's, is theirs, too */
    usual = make_real_path(m, usual);
    return (struct toolkit){is_of_system(usual) ? NULL : usual, cuda_in(m, usual)};
}

int32_t make_toolkit_cuda(struct making *m) {
    return toolkit_of(m).cuda;
}

/* ---- which releases ---- */

/* The set as archives for that CUDA (NULL: not known) have it: only those that are made for it.
 * Where only the name says what is required, which release of its major it was built with is not
 * known: the newest takes the place of all before it. NULL: none is left. */
static const char *spec_for(struct making *m, const char *spec, const char *cuda) {
    static const char *const before_wheels[] = {"4.0.7", "5.1.10", "6.0.21", "7.6.5"};
    const char *package = make_format(m, "nvidia-cudnn-cu%s", cuda ?: "12");
    const char *end = strchr(spec, ','), *newest;
    struct wc_version floor = wc_text_floor(spec);

    if (!wc_version_known(floor))
        return spec;
    if (floor.minor < 0) {
        newest = wheel_newest(package, spec);
        WC_EACH_ROW(row, before_wheels)
            if (wc_version_of(*row).major == floor.major)
                newest = *row;
        floor = newest ? wc_version_of(newest) : floor;
    }
    struct wc_version first = cuda ? wc_version_of(wheel_oldest(package)) : WC_VERSION_NONE;
    if (wc_version_known(first) && wc_version_compare(floor, first) < 0)
        floor = first;
    floor.build = -1;
    if (wc_version_compare(floor, wc_text_floor(spec)) == 0)
        return spec;
    return wc_text_accepts(spec, floor) == WC_YES
               ? make_format(m, ">=%s%s", view_version(m->view, floor), end)
               : NULL;
}

struct wc_version make_release_in(struct making *m, const char *directory, int32_t major) {
    struct wc_version one = WC_VERSION_NONE;

    EACH_ENTRY(entry, make_entries(m, directory)) {
        const struct wc_name name = wc_name_read(*entry);
        if (!wc_kind_is_cudnn(name.kind) || (major >= 0 && name.version.major != major))
            continue;
        struct wc_version v =
            library_release(m->libraries, make_format(m, "%s/%s", directory, *entry));
        v = v.patch < 0 ? name.version : v;
        if (v.patch < 0)
            continue;
        v.build = -1;
        if (wc_version_known(one) && wc_version_compare(one, v) != 0)
            return WC_VERSION_NONE;
        one = v;
    }
    return one;
}

/* As a set; of a mixture that of the first one that is loaded. NULL: none is known. */
static const char *release_in(struct making *m, const char *directory, int32_t major) {
    const struct wc_object *loaded =
        WC_FIRST(o, m->s->objects,
                 wc_name_is_cudnn(o->r.soname) && wc_own_range(o).exact &&
                     (major < 0 || wc_own_range(o).low.major == major) &&
                     (wc_lies_in(wc_real_path_of(o), directory, strlen(directory)) ||
                      wc_lies_in(wc_path_of(o), directory, strlen(directory))));
    struct wc_version v = loaded ? wc_own_range(loaded).low : make_release_in(m, directory, major);

    v.build = -1;
    return wc_version_known(v) ? make_format(m, "==%s", view_version(m->view, v)) : NULL;
}

/* ---- cuDNN ---- */

static bool has_cudnn(struct making *m, const char *directory, int32_t major) {
    return ANY_ENTRY(entry, make_entries(m, directory),
                     wc_name_is_cudnn(*entry) &&
                         (major < 0 || wc_name_read(*entry).version.major == major));
}

static void add_releases(struct making *m, const struct entries *specs, const char *directory,
                         const char *cuda) {
    /* The same is wanted again, of whatever release it was. */
    const struct wc_file *damaged =
        WC_FIRST(file, m->s->files,
                 file->r.fault != WC_file_fault_UNKNOWN && is_ours(file->r.path) &&
                     wc_lies_in(file->r.path, directory, strlen(directory)));
    const char *there =
        release_in(m, directory, damaged ? wc_name_read(damaged->r.path).version.major : -1);
    struct edit e = {.kind = EDIT_RESTORE, .name = "cudnn", .value = there, .path = directory};
    const int32_t of_directory = cuda_in(m, directory); /* "cuda-12.4/lib64" */
    const int32_t known = of_directory > 0 ? of_directory : toolkit_of(m).cuda;

    e.target = cuda || known <= 0 ? cuda : make_format(m, "%d", known);
    /* A toolkit of a CUDA for which there was none yet is another program's. */
    if (there && !cuda && e.target && !spec_for(m, there, e.target))
        e.target = NULL;
    if (there)
        make_one(m, e);
    e.kind = damaged && !there ? EDIT_RESTORE : EDIT_PLACE;
    if (e.kind == EDIT_PLACE && has_cudnn(m, directory, -1))
        e.because = ", replacing the installed release";
    WC_EACH(spec, *specs)
        if ((e.value = spec_for(m, *spec, e.target)))
            make_one(m, e);
}

/* A toolkit without such a cuDNN, which the loader's cache points to. What is put there gets into
 * the cache by ldconfig, which no replay runs: the variable leads there, too. Those of several
 * majors may lie next to one another; of one major the installed one is put in order. */
static void add_beside_cuda(struct making *m, const struct toolkit *t,
                            const struct entries *directories, const struct entries *specs) {
    if (WC_ANY(one, m->s->objects, wc_is_cudnn(one)))
        return;
    WC_EACH(wanted, *specs) {
        const char *cuda = make_format(m, "%d", (int)t->cuda), *spec = spec_for(m, *wanted, cuda);
        const int32_t major = wc_text_floor(spec).major;
        if (major >= 0 && !has_cudnn(m, t->directory, major) &&
            !WC_ANY(other, *directories,
                    has_cudnn(m, *other, major) ||
                        wc_is_same_file(m->view.files, *other, t->directory)))
            make_two(m,
                     (struct edit){.kind = EDIT_PLACE,
                                   .name = "cudnn",
                                   .value = spec,
                                   .path = t->directory,
                                   .target = cuda},
                     make_path_with(m, t->directory));
    }
}

/* Each library of the release that those there are of; none: some are missing. */
static struct wheel_list whole_set(struct making *m, const char *directory) {
    const struct wheel_list files =
        wheel_list(m->view.memory, "nvidia-cudnn-cu12", make_release_in(m, directory, -1));

    return WC_ANY(file, files,
                  !make_is_there(m, make_format(m, "%s/%s", directory, wc_base_name(file->file))))
               ? (struct wheel_list){NULL, 0}
               : files;
}

/* Not from a package, which is updated in its place. Not into a directory that is named for its
 * release or for another CUDA: hosts count on the name. A set of the same release may be another
 * maker's (gvirtus). */
static bool may_copy(struct making *m, const char *from, const char *to) {
    const char *there = release_in(m, to, -1);
    const int32_t of = wc_cuda_in_package(make_real_path(m, from)),
                  cuda = wc_cuda_in_package(make_real_path(m, to));

    return !is_of_system(from) && !make_environment_of(m, make_format(m, "%s/", from)) &&
           !wc_is_same_file(m->view.files, from, to) && (of < 0 || cuda < 0 || of == cuda) &&
           !(there &&
             (strstr(to, there + strlen("==")) || wc_str_same(release_in(m, from, -1), there)));
}

/* Of the copies to which a candidate lets the variable lead each whole one, where it leaves no
 * part of another release: what is opened by its path, or found before, is changed there. */
static void add_copies(struct making *m, const char *directory) {
    const struct entries there = make_entries(m, directory);
    struct entries all = {NULL, 0};

    /* A facade without parts may be another maker's, which passes calls on. */
    if (is_of_system(directory) || !WC_ANY(entry, there, wc_name_kind_of(*entry) == WC_NAME_PART))
        return;
    WC_EACH(c, *m->out)
        WC_EACH_ELEMENT(e, c->p[0].kind == EDIT_SET ? c->p[0].value : NULL, ":")
            if (e.p[0] == '/')
                make_add(m, &all, make_format(m, "%.*s", (int)e.n, e.p));
    WC_EACH(from, all) {
        const struct wheel_list files =
            may_copy(m, *from, directory) ? whole_set(m, *from) : (struct wheel_list){NULL, 0};
        const char *number = files.n ? strrchr(files.p[0].file, '.') : NULL;
        if (number && !WC_ANY(old, there,
                              wc_name_is_cudnn(*old) && wc_str_ends(*old, number) &&
                                  !make_is_there(m, make_format(m, "%s/%s", *from, *old))))
            make_one(m,
                     (struct edit){
                         .kind = EDIT_COPY, .name = "cudnn", .path = directory, .target = *from});
    }
}

/* ---- CUDA ---- */

/* All that is missing of a CUDA of which others lie there: where none does, the next one would be
 * missing then. To a toolkit (its CUDA; -1: it is searched) the loader's cache leads once ldconfig
 * has run, the variable at once. Without a number it is a link, which make_reached() has. */
static void add_cuda(struct making *m, const char *directory, int32_t toolkit) {
    struct candidate all = {.n = 0};
    int32_t cuda = -1;

    WC_EACH(failure, m->s->failures) {
        const char *name = wc_base_name(wc_missing_of(failure));
        const bool again = name && WC_ANY(e, all, strcmp(e->name, name) == 0);
        if (!name || again || all.n + 1 == CANDIDATE_EDITS ||
            wc_name_kind_of(name) != WC_NAME_CUDA_DEPENDENCY || wc_str_ends(name, ".so") ||
            (all.n && wc_name_cuda(name) != cuda) ||
            !((toolkit > 0 && wc_name_cuda(name) == toolkit) ||
              make_has_cuda(m, directory, wc_name_cuda(name))) ||
            make_is_there(m, make_format(m, "%s/%s", directory, name)))
            continue;
        cuda = wc_name_cuda(name);
        all.p[all.n++] = (struct edit){
            .kind = EDIT_PLACE, .name = make_format(m, "%s", name), .path = directory};
    }
    if (all.n && toolkit > 0)
        all.p[all.n++] = make_path_with(m, directory);
    if (all.n)
        candidates_add(m->out, &all);
}

void make_by_hand(struct making *m) {
    const struct entries directories = directories_of(m), specs = make_wanted(m);
    const int32_t cuda = make_cuda_for(m, "/");
    const struct toolkit toolkit = toolkit_of(m);

    WC_EACH(directory, directories) {
        /* Where there is one, it is that one which is put in order: two that are searched get
         * mixed. */
        const bool second =
            !has_cudnn(m, *directory, -1) && WC_ANY(other, directories, has_cudnn(m, *other, -1));
        if (!second)
            add_releases(m, &specs, *directory, cuda > 0 ? make_format(m, "%d", cuda) : NULL);
        add_copies(m, *directory);
        add_cuda(m, *directory, -1);
    }
    if (!toolkit.directory || toolkit.cuda <= 0)
        return;
    add_beside_cuda(m, &toolkit, &directories, &specs);
    add_cuda(m, toolkit.directory, toolkit.cuda);
}
