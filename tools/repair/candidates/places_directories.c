/* SPDX-License-Identifier: Apache-2.0 */
#include "places_inside.h"

#include <string.h>

#include "core/findings/finding.h"
#include "core/packages/identify.h"

size_t places_add_text(const char **list, size_t n, size_t most, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (wc_str_same(list[i], text))
            return n;
    if (n < most)
        list[n++] = text;
    return n;
}

bool places_is_managed(enum wc_installation_kind kind) {
    return kind == WC_installation_kind_WHEEL || kind == WC_installation_kind_CONDA ||
           kind == WC_installation_kind_DEBIAN || kind == WC_installation_kind_RPM ||
           kind ==
               WC_installation_kind_CONTAINER_MOUNT; /* what is inside cannot be changed there */
}

bool places_is_of_system(const char *directory) {
    return wc_str_starts(directory, "/lib") || wc_str_starts(directory, "/usr/lib");
}

static bool is_of_python(const char *file) {
    static const char end[] = "-packages";
    const size_t n = wc_environment_length(file), length = sizeof(end) - 1;

    return n >= length && strncmp(file + n - length, end, length) == 0;
}

struct seeking {
    bool (*fits)(const char *name);
    bool found;
};

static bool seek(void *seeking, const char *name) {
    struct seeking *s = seeking;

    s->found = s->fits(name);
    return !s->found;
}

bool places_has_file(struct finding_places *f, const char *directory,
                     bool (*fits)(const char *name)) {
    struct seeking s = {.fits = fits};

    f->files->list(f->files->ctx, directory, seek, &s);
    return s.found;
}

static bool is_libpython(const char *name) {
    return wc_str_starts(name, "libpython");
}

/* What an interpreter finds by itself is its own. */
static bool is_of_interpreter(struct finding_places *f, const char *directory) {
    return places_has_file(f, directory, is_libpython);
}

static bool is_conda(struct finding_places *f, const char *directory) {
    struct wc_file_stat facts;

    for (size_t n = strlen(directory); n > 1; n = wc_dir_above(directory, n))
        if (f->files->facts(f->files->ctx, places_format(f, "%.*s/conda-meta", (int)n, directory),
                            &facts))
            return true;
    return false;
}

static void add_directory(struct finding_places *f, const char *file) {
    const size_t n = file && file[0] == '/' ? wc_dir_length(file) : 0;
    const char *directory = n > 1 ? places_format(f, "%.*s", (int)n, file) : NULL;
    struct wc_file_stat facts;

    if (directory && !is_of_python(file) && !is_conda(f, directory) &&
        !is_of_interpreter(f, directory) && f->files->facts(f->files->ctx, directory, &facts))
        f->directories = places_add_text(f->directory, f->directories, DIRECTORIES_MOST, directory);
}

/* "DT_RUNPATH /opt/cudnn/lib" */
static void add_searched(struct finding_places *f, const char *searched) {
    const char *at = strstr(searched, " /");
    size_t n = at ? strlen(at + 1) : 0;

    while (n > 1 && at[n] == '/')
        n--;
    if (n > 1 && !places_is_of_system(at + 1))
        add_directory(f, places_format(f, "%.*s/", (int)n, at + 1));
}

bool places_is_ours(const char *name) {
    return name && wc_kind_is_ours(wc_name_kind_of(name));
}

const char *places_missing_of(struct finding_places *f, const struct wc_failure *failure) {
    char dependency[512];

    return wc_failed_dependency(failure, dependency, sizeof(dependency))
               ? places_format(f, "%s", dependency)
               : failure->r.name;
}

void places_find_directories(struct finding_places *f) {
    WC_EACH(o, f->s->objects) /* a link may lead to another library than its name says */
        if (wc_is_cudnn(o) && !places_is_managed(o->r.installation_kind))
            add_directory(f, places_is_ours(o->r.real_path) ? o->r.real_path : o->r.path);
    WC_EACH(file, f->s->files)
        if (places_is_ours(file->r.path) && !places_is_managed(file->r.installation_kind))
            add_directory(f, file->r.path);
    WC_EACH(failure, f->s->failures) {
        const struct wc_searched *search = wc_search_in_vain(f->s, failure);
        if (places_is_ours(failure->r.name) && failure->r.name[0] == '/')
            add_directory(f, failure->r.name);
        if (search && places_is_ours(search->r.name))
            WC_EACH(searched, search->r.searched)
                add_searched(f, *searched);
    }
}
