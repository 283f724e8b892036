/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/packages/distribution.h"
#include "tools/repair/wheels.h"

struct looking {
    struct overlay *o;
    char name[96];
    struct distribution *out;
    bool found;
};

static bool is_of_package(void *arg, const char *entry) {
    struct looking *l = arg;
    const char *dash = strchr(entry, '-');
    size_t end = strlen(entry), suffix = strlen(".dist-info");
    char name[96];

    if (!dash || !wc_str_ends(entry, ".dist-info"))
        return true;
    wc_distribution_normalise(entry, (size_t)(dash - entry), name, sizeof(name));
    if (strcmp(name, l->name) != 0)
        return true;
    l->out->info = wc_arena_string(&l->o->memory.arena, entry);
    l->out->version =
        wc_arena_string_n(&l->o->memory.arena, dash + 1, end - suffix - (size_t)(dash + 1 - entry));
    l->found = true;
    return false;
}

bool overlay_find_distribution(struct overlay *o, const char *site, const char *package,
                               struct distribution *out) {
    struct looking l = {.o = o, .out = out};

    wc_distribution_normalise(package, strlen(package), l.name, sizeof(l.name));
    return overlay_disk_of(o)->list(overlay_disk_of(o)->ctx, site, is_of_package, &l) && l.found;
}

/* A line of RECORD: the path, and the size; 0: none. */
static const char *record_line(struct overlay *o, const char *site, char *line, uint64_t *size) {
    char *comma = strrchr(line, ','), *end;
    const char *path;

    *size = comma ? strtoull(comma + 1, NULL, 10) : 0;
    end = line[0] == '"' ? strchr(line + 1, '"') : strchr(line, ',');
    if (!end)
        return NULL;
    *end = '\0';
    path = line[0] == '"' ? line + 1 : line;
    return path[0] == '/' ? overlay_placed(o, path)
                          : overlay_placed(o, overlay_format(o, "%s/%s", site, path));
}

static bool hide_directory_entry(void *arg, const char *name) {
    struct looking *l = arg;

    overlay_hide(l->o, overlay_format(l->o, "%s/%s", l->out->info, name));
    return true;
}

bool overlay_remove_wheel(struct overlay *o, const char *site, const struct distribution *d) {
    struct distribution folder = {.info = overlay_format(o, "%s/%s", site, d->info)};
    struct looking l = {.o = o, .out = &folder};
    char *record = overlay_read_all(o, overlay_format(o, "%s/RECORD", folder.info)), *line;
    uint64_t size;

    if (!record)
        return overlay_fail(o, overlay_no_list);
    while (record && (line = strsep(&record, "\n"))) {
        const char *path = *line ? record_line(o, site, line, &size) : NULL;
        if (path && overlay_is_library(path))
            overlay_hide(o, path);
    }
    overlay_disk_of(o)->list(overlay_disk_of(o)->ctx, folder.info, hide_directory_entry, &l);
    overlay_hide(o, folder.info);
    return true;
}

static const char *info_name(struct overlay *o, const char *package, const char *version) {
    char name[96];

    wc_distribution_normalise(package, strlen(package), name, sizeof(name));
    return overlay_format(o, "%s-%s.dist-info", name, version);
}

bool overlay_install_wheel(struct overlay *o, const char *site, const char *package,
                           struct wc_version release) {
    char version[WC_VERSION_TEXT];
    const char *text = wc_version_format(release, version), *info = info_name(o, package, text);
    struct wheel_list files = wheel_list(&o->memory.arena, package, text);
    const char *const *requires = wheel_required(&o->memory.arena, package, text);
    char *record = overlay_format(o, "%s", ""), *required = record;
    struct distribution old;

    if (!files.n)
        return overlay_fail(o, "what this package brings is not known");
    if (overlay_find_distribution(o, site, package, &old)) {
        if (wc_version_compare(wc_version_of(old.version), release) == 0)
            return overlay_fail(o, "that release is installed already");
        if (!overlay_remove_wheel(o, site, &old))
            return false;
    }
    WC_EACH(file, files) {
        const char *path = overlay_placed(o, overlay_format(o, "%s/%s", site, file->file));
        struct wc_file_stat facts;
        if (!overlay_put_library(o, package, path, release, 0) ||
            !overlay_disk_of(o)->facts(overlay_disk_of(o)->ctx, path, &facts))
            return false;
        record = overlay_format(o, "%s%s,,%ju\n", record, file->file, (uintmax_t)facts.size);
    }
    for (; *requires; requires ++)
        required = overlay_format(o, "%sRequires-Dist: %s\n", required, *requires);
    return overlay_put_text(o, overlay_format(o, "%s/%s/RECORD", site, info), record) &&
           overlay_put_text(o, overlay_format(o, "%s/%s/INSTALLER", site, info), "pip\n") &&
           overlay_put_text(o, overlay_format(o, "%s/%s/METADATA", site, info),
                            overlay_format(o, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s",
                                           package, version, required));
}

bool overlay_reinstall_wheel(struct overlay *o, const char *site, const struct edit *e) {
    struct distribution d;
    struct wc_version release;
    char *record, *line;
    uint64_t size;

    if (!overlay_find_distribution(o, site, e->name, &d))
        return e->value && wc_version_known(wc_version_of(e->value))
                   ? overlay_install_wheel(o, site, e->name, wc_version_of(e->value))
                   : overlay_fail(o, "it is not installed there");
    if (e->value && !wc_str_same(e->value, d.version))
        return overlay_fail(o, "another release of it counts as installed there");
    wc_version_parse_start(d.version, strlen(d.version), &release);
    record = overlay_read_all(o, overlay_format(o, "%s/%s/RECORD", site, d.info));
    if (!record)
        return overlay_fail(o, overlay_no_list);
    while ((line = strsep(&record, "\n"))) {
        const char *path = *line ? record_line(o, site, line, &size) : NULL;
        if (path && overlay_is_library(path) && !overlay_put_back(o, e->name, path, release, size))
            return false;
    }
    return true;
}
