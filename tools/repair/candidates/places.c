/* SPDX-License-Identifier: Apache-2.0 */
#include "places_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/findings/finding.h"
#include "core/model/symbols.h"
#include "core/search/loader_words.h"

static void add_one(struct finding_places *f, struct edit edit) {
    candidates_add(f->out, &(struct candidate){{edit}, 1});
}

struct names {
    struct wc_version release; /* that all names with a whole one have */
    bool differ;
};

static bool read_name(void *arg, const char *entry) {
    struct names *n = arg;
    const struct wc_name name = wc_name_read(entry);

    if (!wc_kind_is_cudnn(name.kind) || name.version.patch < 0)
        return true;
    n->differ = wc_version_known(n->release) && wc_version_compare(n->release, name.version) != 0;
    n->release = name.version;
    return !n->differ;
}

/* As an archive has it: "libcudnn_graph.so.9.8.0". */
static const char *release_by_names(struct finding_places *f, const char *directory) {
    struct names n = {.release = WC_VERSION_NONE};
    char text[WC_VERSION_TEXT];

    f->files->list(f->files->ctx, directory, read_name, &n);
    return wc_version_known(n.release) && !n.differ
               ? places_format(f, "==%s", wc_version_format(n.release, text))
               : NULL;
}

/* What the libraries of that directory are, as far as any of them says. */
static const char *release_in(struct finding_places *f, const char *directory) {
    WC_EACH(o, f->s->objects) {
        struct wc_version v = wc_own_range(o).low;
        char text[WC_VERSION_TEXT];
        if (!wc_name_is_cudnn(o->r.soname) || !wc_own_range(o).exact ||
            !(wc_lies_in(wc_real_path_of(o), directory, strlen(directory)) ||
              wc_lies_in(wc_path_of(o), directory, strlen(directory))))
            continue;
        v.build = -1;
        return places_format(f, "==%s", wc_version_format(v, text));
    }
    return release_by_names(f, directory);
}

/* Then it is the same once more that is wanted, of whatever release it was. */
static bool has_damaged(struct finding_places *f, const char *directory) {
    return WC_ANY(file, f->s->files,
                  file->r.fault != WC_file_fault_UNKNOWN && places_is_ours(file->r.path) &&
                      wc_lies_in(file->r.path, directory, strlen(directory)));
}

/* Where there is one, it is that one which is put in order: two that are searched get mixed. */
static bool is_second(struct finding_places *f, const char *directory) {
    bool other = false;

    if (places_has_file(f, directory, wc_name_is_cudnn))
        return false;
    for (size_t i = 0; i < f->directories; i++)
        other = other || places_has_file(f, f->directory[i], wc_name_is_cudnn);
    return other;
}

static void add_releases(struct finding_places *f, const char *directory) {
    const char *there = release_in(f, directory);
    const enum edit_kind kind = !there && has_damaged(f, directory) ? EDIT_RESTORE : EDIT_PLACE;

    for (size_t i = 0; i < f->cudas; i++) {
        const char *cuda = places_cuda_for(f, i, directory);
        if (there)
            add_one(f, (struct edit){.kind = EDIT_RESTORE,
                                     .name = "cudnn",
                                     .value = there,
                                     .path = directory,
                                     .target = cuda});
        for (size_t k = 0; k < f->specs; k++) {
            const char *spec = places_spec_for(f, places_newest_of(f, f->spec[k], cuda), cuda);
            if (spec)
                add_one(f, (struct edit){.kind = kind,
                                         .name = "cudnn",
                                         .value = spec,
                                         .path = directory,
                                         .target = cuda});
        }
    }
}

struct having {
    int32_t major;
    bool found;
};

static bool is_of_major(void *having, const char *entry) {
    struct having *h = having;
    const struct wc_name name = wc_name_read(entry);

    h->found = wc_kind_is_cudnn(name.kind) && name.version.major == h->major;
    return !h->found;
}

/* Those of several majors may lie beside one another; of one major the one that is there is put in
 * order. */
static bool has_major_of(struct finding_places *f, const char *directory, const char *spec) {
    struct wc_spec set;
    struct having h = {.major = wc_spec_read(spec, &set) ? wc_spec_floor(&set).major : -1};

    f->files->list(f->files->ctx, directory, is_of_major, &h);
    for (size_t i = 0; i < f->directories && !h.found; i++)
        f->files->list(f->files->ctx, f->directory[i], is_of_major, &h);
    return h.found;
}

/* A toolkit without such a cuDNN, which the loader's cache leads to. What is put there gets into
 * the cache by ldconfig, which no replay runs: the variable leads there, too. */
static void add_beside_cuda(struct finding_places *f) {
    const char *path = wc_variable(f->s, "LD_LIBRARY_PATH");
    const struct toolkit t = places_toolkit_of(f);

    if (!places_is_toolkit(&t) || WC_ANY(one, f->s->objects, wc_is_cudnn(one)))
        return;
    for (size_t k = 0; k < f->specs; k++) {
        const char *cuda = places_format(f, "%d", (int)t.cuda);
        const char *spec = places_spec_for(f, places_newest_of(f, f->spec[k], cuda), cuda);
        const struct edit place = {.kind = EDIT_PLACE,
                                   .name = "cudnn",
                                   .value = spec,
                                   .path = t.directory,
                                   .target = cuda};
        const struct edit set = {.kind = EDIT_SET,
                                 .name = "LD_LIBRARY_PATH",
                                 .value = candidates_path_with(f->out->memory, path, t.directory)};
        if (spec && !has_major_of(f, t.directory, spec))
            candidates_add(f->out, &(struct candidate){{place, set}, 2});
    }
}

/* What a cuDNN for another CUDA asks for does not make it the right one. */
static bool is_for_other_cuda(struct finding_places *f, const struct wc_failure *failure,
                              const char *name) {
    const int32_t cuda = wc_name_cuda(name);

    for (size_t i = 0; i < f->cudas; i++)
        if (!f->cuda[i] || strtol(f->cuda[i], NULL, 10) == cuda)
            return false;
    return cuda > 0 && wc_asked_by_cudnn(f->s, failure);
}

struct siblings {
    const char *name;
    bool found;
};

static bool is_sibling(void *siblings, const char *entry) {
    struct siblings *s = siblings;

    s->found = wc_name_kind_of(entry) == WC_NAME_CUDA_DEPENDENCY &&
               wc_name_cuda(entry) == wc_name_cuda(s->name) && strcmp(entry, s->name) != 0;
    return !s->found;
}

/* Where no other library of that CUDA is searched, the next one would be missing then. */
static bool has_siblings(struct finding_places *f, const char *name) {
    struct siblings s = {name, false};

    for (size_t i = 0; i < f->directories && !s.found; i++)
        f->files->list(f->files->ctx, f->directory[i], is_sibling, &s);
    return s.found;
}

static void add_missing(struct finding_places *f, const char *directory) {
    WC_EACH(failure, f->s->failures) {
        const char *name = places_missing_of(f, failure);
        /* Without a number it is a link, which find_links() has. */
        if (name && wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && !wc_str_ends(name, ".so") &&
            !is_for_other_cuda(f, failure, wc_base_name(name)) &&
            has_siblings(f, wc_base_name(name)))
            add_one(f, (struct edit){.kind = EDIT_PLACE,
                                     .name = places_format(f, "%s", wc_base_name(name)),
                                     .path = directory});
    }
}

/* What frameworks ask for, one library after another. */
static const struct {
    int32_t cuda;
    const char *names[3];
} always[] = {
    {11, {"libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.11"}},
    {12, {"libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12"}},
    {13, {"libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13"}},
};

/* A library of CUDA that was asked for in vain; NULL: it was another. */
static const char *cuda_in_vain(struct finding_places *f, const struct wc_failure *failure) {
    const char *name = places_missing_of(f, failure);

    return name && wc_name_kind_of(name) == WC_NAME_CUDA_DEPENDENCY && wc_name_cuda(name) > 0 &&
                   !is_for_other_cuda(f, failure, wc_base_name(name))
               ? wc_base_name(name)
               : NULL;
}

/* Unless it lies there already, or no more of them have room. */
static void add_place(struct finding_places *f, struct candidate *to, const char *name,
                      const char *directory) {
    struct wc_file_stat facts;

    for (size_t i = 0; i < to->n; i++)
        if (strcmp(to->edit[i].name, name) == 0)
            return;
    if (to->n + 1 < CANDIDATE_EDITS &&
        !f->files->facts(f->files->ctx, places_format(f, "%s/%s", directory, name), &facts))
        to->edit[to->n++] = (struct edit){.kind = EDIT_PLACE, .name = name, .path = directory};
}

/* A toolkit, in which CUDA's libraries are not, or not all of them: those that are not there. The
 * loader's cache leads there once ldconfig has run, the variable at once. */
static void add_cuda(struct finding_places *f) {
    const char *path = wc_variable(f->s, "LD_LIBRARY_PATH"), *name = NULL;
    struct candidate all = {.n = 0};
    struct toolkit t;
    int32_t cuda;

    for (size_t i = 0; i < f->s->failures.n && !name; i++)
        name = cuda_in_vain(f, &f->s->failures.p[i]);
    if (!name)
        return;
    cuda = wc_name_cuda(name);
    t = places_toolkit_of(f);
    if (!t.directory || places_is_of_system(t.directory) ||
        (t.cuda > 0 ? t.cuda : wc_cuda_in_package(t.directory)) != cuda)
        return;
    WC_EACH_ROW(row, always)
        for (size_t i = 0; row->cuda == cuda && i < sizeof(row->names) / sizeof(*row->names); i++)
            add_place(f, &all, row->names[i], t.directory);
    WC_EACH(failure, f->s->failures)
        if ((name = cuda_in_vain(f, failure)) && wc_name_cuda(name) == cuda)
            add_place(f, &all, name, t.directory);
    if (all.n == 0)
        return;
    all.edit[all.n++] =
        (struct edit){.kind = EDIT_SET,
                      .name = "LD_LIBRARY_PATH",
                      .value = candidates_path_with(f->out->memory, path, t.directory)};
    candidates_add(f->out, &all);
}

static void add_preload(struct finding_places *f, const char *path, const char *old) {
    if (path && path[0] == '/' && !strpbrk(path, ": "))
        add_one(f, (struct edit){.kind = EDIT_SET,
                                 .name = "LD_PRELOAD",
                                 .value = old && *old ? places_format(f, "%s:%s", path, old)
                                                      : places_format(f, "%s", path)});
}

/* What is there at the start gets all the thread-local room that it wants, and all see its
 * functions. */
static void find_preloads(struct finding_places *f, const char *old) {
    struct wc_unmet unmet;
    char path[512];

    WC_EACH(failure, f->s->failures) {
        if (wc_text_system(failure->r.text, path, sizeof(path)) == WC_SYSTEM_STATIC_TLS)
            add_preload(f, path, old);
        if (wc_is_load(failure) && wc_text_unmet(failure->r.text, &unmet) && !unmet.version[0] &&
            wc_function_find(unmet.symbol) != WC_NO_FUNCTION)
            WC_EACH(o, f->s->objects) /* not another library under its name */
                if (o->r.role == WC_role_FACADE && o->r.mapped && wc_name_is_cudnn(o->r.soname))
                    add_preload(f, wc_real_path_of(o), old);
    }
}

void places_find(struct candidates *c, const struct wc_stack *s, const struct wc_files *files,
                 const char *preload, bool for_gpu) {
    struct finding_places f = {.out = c, .s = s, .files = files, .for_gpu = for_gpu};

    places_find_directories(&f);
    places_find_specs(&f);
    places_find_cudas(&f);
    for (size_t i = 0; i < f.directories; i++) {
        if (!is_second(&f, f.directory[i]))
            add_releases(&f, f.directory[i]);
        add_missing(&f, f.directory[i]);
    }
    add_beside_cuda(&f);
    add_cuda(&f);
    find_preloads(&f, preload);
}
