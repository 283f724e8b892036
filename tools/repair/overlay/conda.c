/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tools/repair/wheels.h"

bool overlay_is_conda(const struct overlay *o, const char *environment) {
    OWNED char *meta = must_format("%s/conda-meta", environment);

    return overlay_is_there(o, meta) && !strstr(environment, "/site-packages");
}

struct conda_record {
    struct overlay *o;
    const char *meta, *package;
    const char *name; /* of the file; NULL: none */
};

/* PACKAGE-VERSION-BUILD.json */
static bool is_record(void *record, const char *name) {
    struct conda_record *r = record;
    size_t n = strlen(r->package), dashes = 0;

    if (strncmp(name, r->package, n) != 0 || name[n] != '-' || !wc_str_ends(name, ".json"))
        return true;
    for (const char *s = name + n; *s; s++)
        dashes += *s == '-';
    if (dashes != 2)
        return true;
    r->name = wc_arena_string(&r->o->memory.arena, name);
    return false;
}

static struct conda_record find_conda(struct overlay *o, const char *prefix, const char *package) {
    struct conda_record r = {
        .o = o, .meta = overlay_format(o, "%s/conda-meta", prefix), .package = package};

    overlay_disk_of(o)->list(overlay_disk_of(o)->ctx, r.meta, is_record, &r);
    return r;
}

static void add_conda_file(struct overlay *o, struct listed_files *to, const char *prefix,
                           const char *file, const json_t *facts) {
    const char *type = json_string_value(json_object_get(facts, "path_type"));

    if (file && strncmp(file, "lib/", 4) == 0 && overlay_is_library(file))
        to->p[to->n++] = (struct listed_file){
            .path = overlay_placed(o, overlay_format(o, "%s/%s", prefix, file)),
            .size = (uint64_t)json_integer_value(json_object_get(facts, "size_in_bytes")),
            .link = wc_str_same(type, "softlink")};
}

/* The libraries that a record names: by "paths_data", which older ones do not have. */
static struct listed_files conda_files(struct overlay *o, const char *prefix,
                                       const struct conda_record *r) {
    const char *text = overlay_read_all(o, overlay_format(o, "%s/%s", r->meta, r->name));
    json_t *record = text ? json_loads(text, 0, NULL) : NULL, *entry;
    const json_t *paths = json_object_get(json_object_get(record, "paths_data"), "paths");
    const json_t *files = json_object_get(record, "files");
    const size_t most = json_array_size(paths) + json_array_size(files);
    struct listed_files all = {wc_arena_take(&o->memory.arena, (most + 1) * sizeof(*all.p)), 0};
    size_t i;

    if (!all.p)
        overlay_fail(o, "no memory for the list of the package");
    else if (json_array_size(paths) > 0)
        json_array_foreach(paths, i, entry) add_conda_file(
            o, &all, prefix, json_string_value(json_object_get(entry, "_path")), entry);
    else
        json_array_foreach(files, i, entry)
            add_conda_file(o, &all, prefix, json_string_value(entry), NULL);
    json_decref(record);
    return all;
}

bool overlay_remove_conda(struct overlay *o, const char *prefix, const char *package) {
    struct conda_record r = find_conda(o, prefix, package);
    struct listed_files files;

    if (!r.name)
        return false;
    files = conda_files(o, prefix, &r);
    WC_EACH(file, files)
        overlay_hide(o, file->path);
    overlay_hide(o, overlay_format(o, "%s/%s", r.meta, r.name));
    return true;
}

static struct wc_version conda_version(const struct conda_record *r) {
    const char *version = r->name ? r->name + strlen(r->package) + 1 : "";
    struct wc_version v = WC_VERSION_NONE;

    wc_version_parse_start(version, strlen(version), &v);
    return v;
}

/* Which CUDA a build is for: by its name ("cuda12_0"), else by the packages that say it for the
 * whole environment. A solver keeps to that. -1: nothing says it. */
static int32_t conda_cuda(struct overlay *o, const char *prefix, const struct conda_record *r) {
    static const char *const stating[] = {"cuda-version", "cudatoolkit", "cuda-cudart",
                                          "libcublas"};
    const char *build = r->name ? strstr(r->name, "-cuda") : NULL;

    if (build && wc_is_digit(build[strlen("-cuda")]))
        return (int32_t)strtol(build + strlen("-cuda"), NULL, 10);
    WC_EACH_ROW(name, stating) {
        struct conda_record said = find_conda(o, prefix, *name);
        if (said.name)
            return conda_version(&said).major;
    }
    return -1;
}

/* For CUDA 12 and older channels have older ones, too. */
static struct wc_version conda_release(const char *wheel, int32_t cuda, const char *spec) {
    struct wc_version v = wheel_release(wheel, spec);
    struct wc_spec set;

    if (!wc_version_known(v) && cuda <= 12 && wc_spec_read(spec, &set))
        v = wc_spec_floor(&set);
    return v;
}

static bool put_conda(struct overlay *o, const char *prefix, const char *package, const char *wheel,
                      struct wc_version release) {
    char version[WC_VERSION_TEXT];
    struct wheel_list files =
        wheel_list(&o->memory.arena, wheel, wc_version_format(release, version));
    const struct wheel_file monolith = {.file = overlay_format(o, "libcudnn.so.%d", release.major)};
    char *listed = overlay_format(o, "%s", "");

    if (release.major < 8) /* there was one library */
        files = (struct wheel_list){&monolith, 1};
    release.build = -1;
    wc_version_format(release, version);
    WC_EACH(file, files) {
        const char *name = wc_base_name(file->file);
        if (!overlay_put_library(o, wheel,
                                 overlay_placed(o, overlay_format(o, "%s/lib/%s", prefix, name)),
                                 release, 0))
            return false;
        listed = overlay_format(o, "%s%s\n    \"lib/%s\"", listed, *listed ? "," : "", name);
    }
    return overlay_put_text(
        o, overlay_format(o, "%s/conda-meta/%s-%s-0.json", prefix, package, version),
        overlay_format(o, "{\n  \"files\": [%s\n  ]\n}\n", listed));
}

bool overlay_install_conda(struct overlay *o, const char *prefix, const struct edit *e) {
    struct conda_record r = find_conda(o, prefix, e->name);
    const char *spec = e->value ? e->value : "";
    const int32_t cuda = conda_cuda(o, prefix, &r);
    const char *wheel = overlay_conda_wheel(o, cuda);
    struct wc_version release = conda_release(wheel, cuda, spec);
    struct wc_spec set;

    if (r.name && (!*spec || (wc_spec_read(spec, &set) &&
                              wc_spec_accepts(&set, conda_version(&r)) == WC_YES)))
        return overlay_fail(o, overlay_satisfied);
    if (!wc_version_known(release))
        return overlay_fail(o, "no release of it is known");
    if (cuda < 0)
        return overlay_fail(o, "nothing there says for which CUDA conda would take it");
    overlay_remove_conda(o, prefix, e->name);
    return put_conda(o, prefix, e->name, wheel, release);
}

bool overlay_reinstall_conda(struct overlay *o, const char *prefix, const struct edit *e) {
    struct conda_record r = find_conda(o, prefix, e->name);
    const struct wc_version release = conda_version(&r);
    const char *wheel = overlay_conda_wheel(o, conda_cuda(o, prefix, &r));
    struct listed_files files;

    if (!r.name)
        return overlay_fail(o, "it is not installed there");
    files = conda_files(o, prefix, &r);
    WC_EACH(file, files)
        if (file->link)
            overlay_put_link_of(o, &files, file->path);
        else if (!overlay_put_back(o, wheel, file->path, release, file->size))
            return false;
    return !o->why;
}
