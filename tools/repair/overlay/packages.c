/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_inside.h"

#include "tools/repair/wheels.h"

static const char *environment_of(struct overlay *o, const struct edit *e) {
    const char *real = e->environment ? overlay_real_path(o, e->environment) : NULL;

    real = real ? overlay_site_for(o, real, e->name) : NULL;

    if (!real)
        overlay_fail(o, "into which environment it goes is not known");
    else
        overlay_note_environment(o, real);
    return real;
}

bool overlay_install(struct overlay *o, const struct edit *e) {
    const char *environment = overlay_is_debian(e) ? NULL : environment_of(o, e);
    struct wc_version release = wheel_release(e->name, e->value ? e->value : "");
    struct distribution there;

    if (overlay_is_debian(e))
        return overlay_install_debian(o, e);
    if (!environment)
        return false;
    if (overlay_is_conda(o, environment))
        return overlay_install_conda(o, environment, e);
    if (overlay_is_satisfied(o, environment, e, &there))
        return overlay_install_required(o, environment, &there) &&
               (o->changes || overlay_fail(o, overlay_satisfied));
    if (!wc_version_known(release))
        return overlay_fail(o, "no release of it is known");
    if (overlay_find_distribution(o, environment, e->name, &there) &&
        overlay_breaks_another(o, environment, e->name, there.version, release))
        return overlay_fail(o, "another package there requires the major that is installed");
    return overlay_install_wheel(o, environment, e->name, release) &&
           overlay_find_distribution(o, environment, e->name, &there) &&
           overlay_install_required(o, environment, &there);
}

bool overlay_remove_package(struct overlay *o, const struct edit *e) {
    const char *environment = overlay_is_debian(e) ? NULL : environment_of(o, e);
    struct distribution d;

    if (overlay_is_debian(e))
        return overlay_remove_debian(o, e);
    if (!environment)
        return false;
    if (overlay_is_conda(o, environment))
        return overlay_remove_conda(o, environment, e->name) ||
               overlay_fail(o, "it is not installed there");
    if (!overlay_find_distribution(o, environment, e->name, &d))
        return overlay_fail(o, "it is not installed there");
    o->lacks = o->lacks || overlay_breaks_another(o, environment, e->name, d.version,
                                                  (struct wc_version){.major = 0});
    return overlay_remove_wheel(o, environment, &d);
}

bool overlay_reinstall(struct overlay *o, const struct edit *e) {
    const char *environment = overlay_is_debian(e) ? NULL : environment_of(o, e);

    if (overlay_is_debian(e))
        return overlay_reinstall_debian(o, e);
    if (!environment)
        return false;
    return overlay_is_conda(o, environment) ? overlay_reinstall_conda(o, environment, e)
                                            : overlay_reinstall_wheel(o, environment, e);
}
