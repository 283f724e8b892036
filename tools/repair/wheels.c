/* SPDX-License-Identifier: Apache-2.0 */
#include "wheels.h"

#include <string.h>

#include "core/findings/finding.h"
#include "core/model/names.h"
#include "core/model/symbols.h"

static const struct {
    const char *release;
    bool has[3]; /* nvidia-cudnn-cu11 and the next two */
} releases[] = {
#define CUDNN_RELEASE(release, cu11, cu12, cu13) {release, {cu11, cu12, cu13}},
#include "core/packages/wheel_files.def"
};

static const struct row {
    const char *package, *from, *to, *file, *needs;
} rows[] = {
#define WHEEL_FILE(package, from, to, file, needs) {package, from, to, file, needs},
#include "core/packages/wheel_files.def"
};

enum tag { RPATH, RUNPATH };
static const struct {
    const char *package, *from, *to, *file;
    enum tag tag;
    const char *path;
} paths[] = {
#define WHEEL_PATH(package, from, to, file, tag, path) {package, from, to, file, tag, path},
#include "core/packages/wheel_files.def"
};

static bool is_within(struct wc_version v, const char *from, const char *to) {
    return !(*from && wc_version_compare(v, wc_version_of(from)) < 0) &&
           !(*to && wc_version_compare(v, wc_version_of(to)) >= 0);
}

/* ---- releases ---- */

static bool is_cudnn(const char *package) {
    static const char stem[] = "nvidia-cudnn-cu";

    return strncmp(package, stem, sizeof(stem) - 1) == 0;
}

struct wc_version wheel_release(const char *package, const char *spec) {
    const int32_t cuda = wc_cuda_in_package(package);
    struct wc_version newest = WC_VERSION_NONE, pinned;
    struct wc_spec set;

    if (!wc_spec_read(spec, &set))
        set.n = 0;
    if (wc_spec_pins(spec, &pinned) && pinned.build >= 0)
        return pinned;
    WC_EACH_ROW(row, releases) {
        struct wc_version v = wc_version_of(row->release);
        if (is_cudnn(package) && cuda >= 11 && cuda <= 13 && row->has[cuda - 11] &&
            wc_spec_accepts(&set, v) == WC_YES)
            newest = v;
    }
    if (wc_version_known(newest) || is_cudnn(package))
        return newest;
    return wc_version_known(wc_spec_floor(&set)) ? wc_spec_floor(&set)
                                                 : (struct wc_version){cuda, -1, -1, -1};
}

/* ---- lists ---- */

struct list {
    struct wc_arena *memory;
    const char **p;
    size_t n, room;
};

static void add(struct list *l, const char *text) {
    if (l->n + 1 >= l->room) {
        const char **grown;
        l->room = l->room ? 2 * l->room : 16;
        grown = wc_arena_take(l->memory, l->room * sizeof(*grown));
        if (!grown)
            return;
        if (l->n)
            memcpy(grown, l->p, l->n * sizeof(*grown));
        l->p = grown;
    }
    l->p[l->n++] = text;
    l->p[l->n] = NULL;
}

/* Words of a text. */
static void add_words(struct list *l, const char *text) {
    while (*text) {
        size_t n = strcspn(text, " ");
        const char *word = n ? wc_arena_string_n(l->memory, text, n) : NULL;
        if (word && wc_name_kind_of(word) != WC_NAME_DRIVER) /* no package has it */
            add(l, word);
        text += n + (text[n] != '\0');
    }
}

/* ---- wheels ---- */

/* %m: the release's second number. */
static const char *file_of(struct wc_arena *memory, const struct row *row,
                           struct wc_version release) {
    const char *mark = strstr(row->file, "%m");

    if (!mark)
        return row->file;
    return wc_arena_format(memory, "%.*s%d%s", (int)(mark - row->file), row->file,
                           release.minor < 0 ? 0 : release.minor, mark + 2);
}

struct wheel_files wheel_files(struct wc_arena *memory, const char *package,
                               struct wc_version release) {
    struct list l = {.memory = memory};

    WC_EACH_ROW(row, rows)
        if (strcmp(row->package, package) == 0 && is_within(release, row->from, row->to))
            add(&l, file_of(memory, row, release));
    return (struct wheel_files){l.p, l.n};
}

const char *wheel_requires(struct wc_arena *memory, const char *package) {
    int32_t cuda = wc_cuda_in_package(package);

    if (!is_cudnn(package) || cuda < 11)
        return NULL;
    return cuda < 13 ? wc_arena_format(memory, "nvidia-cublas-cu%d", cuda) : "nvidia-cublas";
}

/* "==13.*" of a wheel whose name tells no CUDA. */
static const char *spec_of(struct wc_arena *memory, const char *package, const char *soname) {
    const int32_t cuda = wc_name_cuda(soname);

    return wc_cuda_in_package(package) < 0 && cuda >= 13 ? wc_arena_format(memory, "==%d.*", cuda)
                                                         : "";
}

const char *wheel_of_library(struct wc_arena *memory, const char *soname, const char **spec) {
    WC_EACH_ROW(row, rows) {
        const char *name = wc_base_name(row->file), *minor = strstr(name, "%m");
        size_t n = minor ? (size_t)(minor - name) : strlen(name) + 1;
        if (wc_kind_is_cudnn(wc_name_kind_of(name)) || strncmp(soname, name, n) != 0)
            continue;
        *spec = spec_of(memory, row->package, soname);
        if (minor && !**spec && wc_is_digit(soname[n]))
            *spec =
                wc_arena_format(memory, "==%d.%s.*", wc_cuda_in_package(row->package), soname + n);
        return row->package;
    }
    return NULL;
}

/* ---- what a library says of itself ---- */

static void add_functions(struct list *l, struct wc_version release) {
    for (int f = 0; f < wc_function_count(); f++) {
        struct wc_version last = wc_function_last(f);
        if (wc_version_compare(wc_function_first(f), release) > 0)
            continue;
        if (wc_version_known(last) && !wc_version_agree(last, release) &&
            wc_version_compare(last, release) < 0)
            continue;
        add(l, wc_function_name(f));
    }
}

/* A facade of 8 has its parts' names with the number, one of 9 without. */
static void add_parts(struct list *l, const char *package, struct wc_version release) {
    WC_EACH_ROW(row, rows) {
        const char *name = wc_base_name(row->file), *end = strstr(name, ".so");
        if (strcmp(row->package, package) == 0 && is_within(release, row->from, row->to) &&
            wc_name_kind_of(name) == WC_NAME_PART)
            add(l, release.major < 9
                       ? name
                       : wc_arena_string_n(l->memory, name, (size_t)(end - name) + 3));
    }
}

static void set_path(const char *package, struct wc_version release, const char *name,
                     struct image *out) {
    WC_EACH_ROW(row, paths)
        if (strcmp(row->package, package) == 0 && is_within(release, row->from, row->to) &&
            (!*row->file || strcmp(row->file, name) == 0)) {
            *(row->tag == RPATH ? &out->rpath : &out->runpath) = row->path;
            return;
        }
}

static void set_needs(struct list *l, const char *package, struct wc_version release,
                      const char *name) {
    WC_EACH_ROW(row, rows)
        if (strcmp(row->package, package) == 0 && is_within(release, row->from, row->to) &&
            strcmp(wc_base_name(row->file), name) == 0) {
            add_words(l, row->needs);
            return;
        }
}

static struct wc_version filled(struct wc_version v) {
    v.minor = v.minor < 0 ? 0 : v.minor;
    v.patch = v.patch < 0 ? 0 : v.patch;
    return v;
}

bool wheel_image(struct wc_arena *memory, const char *package, const char *file,
                 struct wc_version release, struct image *out) {
    struct wc_name name = wc_name_read(file);
    struct list functions = {.memory = memory}, constants = {.memory = memory},
                needs = {.memory = memory};
    const char *own = wc_base_name(file);

    *out = (struct image){.soname = own, .version = WC_VERSION_NONE};
    if (name.kind == WC_NAME_DRIVER || !strstr(own, ".so"))
        return false;
    if (wc_kind_is_cudnn(name.kind)) {
        if (release.major < 0)
            return false;
        if (release.minor >= 0)
            out->version = filled(release);
        release = filled(release);
        out->soname = own =
            name.kind == WC_NAME_FACADE
                ? wc_arena_format(memory, "libcudnn.so.%d", release.major)
                : wc_arena_format(memory, "libcudnn_%s.so.%d", name.part, release.major);
        out->version_symbol = wc_arena_format(memory, "cudnn_%s_version",
                                              name.kind == WC_NAME_FACADE ? "facade" : name.part);
        out->runpath = "$ORIGIN";
        if (name.kind == WC_NAME_FACADE)
            add_functions(&functions, release);
        if (!is_cudnn(package)) /* of another package manager: the same libraries */
            package = "nvidia-cudnn-cu12";
        add_parts(&constants, package, release);
    }
    set_needs(&needs, package, release, own);
    set_path(package, release, own, out);
    if (out->rpath)
        out->runpath = NULL;
    out->functions = functions.p;
    out->constants = constants.p;
    out->needed = needs.p;
    return true;
}
