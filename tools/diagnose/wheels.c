/* SPDX-License-Identifier: Apache-2.0 */
#include "wheels.h"

#include <string.h>

#include "core/demand/questions.h"
#include "core/names/names.h"
#include "core/names/symbols.h"
#include "core/packages/installation.h"
#include "entries.h"

static bool is_cudnn(const char *package) {
    return wc_str_starts(package, "nvidia-cudnn-cu");
}

struct wc_version wheel_release(const char *package, const char *spec) {
    const char *newest = wheel_newest(package, spec);
    int32_t cuda = wc_cuda_in_package(package);
    struct wc_version pinned;

    if (wc_spec_pins(spec, &pinned) && pinned.build >= 0)
        return pinned;
    if (newest || is_cudnn(package))
        return newest ? wc_version_of(newest) : WC_VERSION_NONE;
    if (wc_version_known(wc_text_floor(spec)))
        return wc_text_floor(spec);
    if (cuda < 0 && wc_str_starts(package, "nvidia-"))
        cuda = 13; /* the first whose wheels go by the bare name */
    return (struct wc_version){cuda, -1, -1, -1};
}

/* ---- what a library states ---- */

/* A facade of 8 has its parts' names with the number, one of 9 without. */
static struct entries parts_of(struct wc_arena *memory, const struct wheel_list *files,
                               struct wc_version release) {
    struct entries parts = {NULL, 0};

    WC_EACH(file, *files) {
        const char *name = wc_base_name(file->file), *end = strstr(name, ".so");
        if (end && wc_name_kind_of(name) == WC_NAME_PART)
            entries_add(memory, &parts,
                        release.major < 9
                            ? name
                            : wc_arena_string_n(memory, name, (size_t)(end - name) + 3));
    }
    return parts;
}

struct wc_version release_newest(struct wc_arena *memory, int32_t major) {
    const char *set = wc_arena_format(memory, ">=%d,<%d", major, major + 1);
    struct wc_version newest = wheel_release("nvidia-cudnn-cu12", set);

    return wc_version_known(newest) ? newest : (struct wc_version){major, 0, 0, -1};
}

bool wheel_image(struct wc_arena *memory, const char *package, const char *file,
                 struct wc_version release, struct image *out) {
    struct wc_name name = wc_name_read(file);
    const struct wheel_file *found;
    struct wheel_list files;
    const char *own = wc_base_name(file);
    const bool known = wc_kind_is_cudnn(name.kind) ? is_cudnn(package) : *package != '\0';

    *out = (struct image){.soname = own, .version = WC_VERSION_NONE};
    if (name.kind == WC_NAME_DRIVER || !strstr(own, ".so"))
        return false;
    if (wc_kind_is_cudnn(name.kind)) {
        /* "libcudnn-a2b758a6.so.9.19.0", "libcudnn_graph-3fc2d8ff.so.9": of a wheel that bundles
         * cuDNN under a name of its own, which is its SONAME, too. */
        const size_t n =
            strlen("libcudnn") + (name.kind == WC_NAME_PART ? 1 + strlen(name.part) : 0);
        const char *renamed = strncmp(own + n, ".so", 3) != 0 ? own : NULL;
        if (wc_version_known(name.version) && (renamed || (*package && !is_cudnn(package))))
            release = name.version; /* not that of the package */
        if (release.major < 0)
            return false;
        if (release.minor >= 0)
            out->version = wc_version_filled(release, 0, 0);
        release = wc_version_filled(release, 0, 0);
        out->soname = own =
            name.kind == WC_NAME_FACADE
                ? wc_arena_format(memory, "libcudnn.so.%d", release.major)
                : wc_arena_format(memory, "libcudnn_%s.so.%d", name.part, release.major);
        out->soname = renamed ? renamed : own;
        out->version_symbol = wc_arena_format(memory, "cudnn_%s_version",
                                              name.kind == WC_NAME_FACADE ? "facade" : name.part);
        out->runpath = "$ORIGIN";
        struct entries functions = {NULL, 0};
        for (int f = 0; name.kind == WC_NAME_FACADE && f < wc_function_count(); f++) {
            struct wc_version last = wc_function_last(f);
            if (wc_version_compare(wc_function_first(f), release) <= 0 &&
                (!wc_version_known(last) || wc_version_agree(last, release) ||
                 wc_version_compare(last, release) >= 0))
                entries_add(memory, &functions, wc_function_name(f));
        }
        out->functions = functions.p;
        if (!is_cudnn(package)) /* of another package manager: the same libraries */
            package = "nvidia-cudnn-cu12";
    }
    files = wheel_list(memory, package, release);
    if (wc_kind_is_cudnn(name.kind) && release.major >= 8) /* before there was one library */
        out->constants = parts_of(memory, &files, release).p;
    found = WC_FIRST(f, files, strcmp(wc_base_name(f->file), own) == 0);
    if (found) {
        struct entries needs = {NULL, 0};
        /* Without the driver's, which no package has; of a package that is not known also without
         * CUDA's, which may be of any release. */
        WC_EACH_ELEMENT(e, found->needed, " ") {
            const char *one = wc_arena_string_n(memory, e.p, e.n);
            if (e.n && wc_name_kind_of(one) != WC_NAME_DRIVER &&
                (known || wc_name_kind_of(one) != WC_NAME_CUDA_DEPENDENCY))
                entries_add(memory, &needs, one);
        }
        out->needed = needs.p;
        out->rpath = found->is_rpath ? found->path : NULL;
        out->runpath = found->is_rpath ? NULL : found->path;
    }
    return true;
}

struct wc_version library_release(struct library_cache *libraries, const char *path) {
    struct library *l = library_cache_get(libraries, path, NULL);
    struct elf_file *file = l ? library_cache_elf_file(libraries, l) : NULL;
    struct wc_version release = WC_VERSION_NONE;
    struct wc_library about;

    if (file) {
        about = l->about;
        elf_file_identify(file, &about);
        release = about.identity->version;
        library_cache_elf_file_end(l, file);
    }
    return release;
}

/* ---- what is installed ---- */

bool wheel_is_name(const char *name, size_t n, const char *package) {
    char one[96], other[96];

    wc_distribution_normalise(name, n, one, sizeof(one));
    wc_distribution_normalise(package, strlen(package), other, sizeof(other));
    return strcmp(one, other) == 0;
}

const char *wheel_installed(struct wc_arena *memory, const struct wc_files *files, const char *site,
                            const char *package, const char **info) {
    const struct entries all = entries_of(memory, files, site);

    WC_EACH(entry, all) {
        const size_t n = strcspn(*entry, "-");
        if (!(*entry)[n] || !wc_str_ends(*entry, ".dist-info") ||
            !wheel_is_name(*entry, n, package))
            continue;
        if (info)
            *info = *entry;
        return wc_arena_string_n(memory, *entry + n + 1,
                                 strlen(*entry) - n - 1 - strlen(".dist-info"));
    }
    return NULL;
}
