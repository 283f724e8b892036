/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include <string.h>

#include "core/packages/distribution.h"
#include "tools/repair/wheels.h"

/* Does the METADATA of another package accept what is installed, and not that release? */
struct requiring {
    struct overlay *o;
    const char *site;
    char name[96];
    struct wc_version old, new;
    bool found;
};

static bool is_required(const struct requiring *r, const char *line) {
    static const char key[] = "Requires-Dist: ";
    const char *name, *marker = strchr(line, ';');
    char normalised[96];
    struct wc_spec spec;
    size_t n;

    if (!wc_str_starts(line, key))
        return false;
    name = line + strlen(key);
    n = strcspn(name, " (<>=!~;[");
    wc_distribution_normalise(name, n, normalised, sizeof(normalised));
    name = overlay_format(r->o, "%.*s",
                          (int)((marker ? (size_t)(marker - name) : strlen(name)) - n), name + n);
    return strcmp(normalised, r->name) == 0 && wc_spec_read(name, &spec) && spec.n > 0 &&
           wc_spec_accepts(&spec, r->old) == WC_YES && wc_spec_accepts(&spec, r->new) == WC_NO;
}

static bool requires_old(void *requiring, const char *entry) {
    struct requiring *r = requiring;
    char *metadata, *line;

    if (!wc_str_ends(entry, ".dist-info"))
        return true;
    metadata = overlay_read_all(r->o, overlay_format(r->o, "%s/%s/METADATA", r->site, entry));
    while (!r->found && metadata && (line = strsep(&metadata, "\n")))
        r->found = is_required(r, line);
    return !r->found;
}

bool overlay_breaks_another(struct overlay *o, const char *site, const char *package,
                            const char *installed, struct wc_version release) {
    struct requiring r = {.o = o, .site = site, .old = wc_version_of(installed), .new = release};

    wc_distribution_normalise(package, strlen(package), r.name, sizeof(r.name));
    if (r.old.major != release.major)
        overlay_disk_of(o)->list(overlay_disk_of(o)->ctx, site, requires_old, &r);
    return r.found;
}

const char *overlay_site_for(struct overlay *o, const char *site, const char *package) {
    const char *at = wc_str_starts(package, "nvidia-") ? strstr(site, "/lib64/python") : NULL;
    const char *pure =
        at ? overlay_format(o, "%.*s/lib%s", (int)(at - site), site, at + strlen("/lib64")) : NULL;

    return pure && overlay_is_there(o, pure) ? pure : site;
}

static bool may_have_libraries(const char *package) {
    return wc_str_starts(package, "nvidia-") || wc_str_starts(package, "cuda-");
}

bool overlay_install_required(struct overlay *o, const char *site, const struct distribution *d) {
    char *metadata = overlay_read_all(o, overlay_format(o, "%s/%s/METADATA", site, d->info)), *line;
    bool installed = true;

    while (installed && metadata && (line = strsep(&metadata, "\n"))) {
        static const char key[] = "Requires-Dist: ";
        const char *name = line + strlen(key), *spec, *to;
        struct distribution there;
        if (!wc_str_starts(line, key) || strstr(line, "extra =="))
            continue;
        spec = name + strcspn(name, " (<>=!~;[");
        name = overlay_format(o, "%.*s", (int)(spec - name), name);
        spec += strspn(spec, " (");
        spec = overlay_format(o, "%.*s", (int)strcspn(spec, " );["), spec);
        to = overlay_site_for(o, site, name);
        installed = overlay_find_distribution(o, to, name, &there) || !may_have_libraries(name) ||
                    overlay_install_wheel(o, to, name, wheel_release(name, spec));
    }
    return installed;
}

bool overlay_is_satisfied(struct overlay *o, const char *site, const struct edit *e,
                          struct distribution *there) {
    struct wc_version v;
    struct wc_spec spec;

    if (!overlay_find_distribution(o, site, e->name, there))
        return false;
    wc_version_parse_start(there->version, strlen(there->version), &v);
    return !e->value || !*e->value ||
           wc_str_same(e->value, overlay_format(o, "==%s", there->version)) ||
           (wc_spec_read(e->value, &spec) && wc_spec_accepts(&spec, v) == WC_YES);
}
