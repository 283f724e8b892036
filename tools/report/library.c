/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include "tools/util/memory.h"

const char *library_path(const struct wc_object_record *o) {
    if (o->real_path || o->path)
        return o->real_path ? o->real_path : o->path;
    return o->soname ? o->soname : "a file whose name is not known";
}

const char *library_label(const struct wc_object_record *o) {
    const char *role = wc_enum_word(WC_ENUM_role, o->role);

    return o->part ? o->part : role ? role : "object";
}

const char *library_name(const struct wc_object_record *o) {
    return wc_base_name(o->soname && o->role != WC_role_HOST ? o->soname : library_path(o));
}

bool library_counts(const struct wc_object_record *o) {
    return o->role != WC_role_OTHER || o->is_host;
}

char *library_version(const struct wc_object_record *o) {
    if (o->version)
        return must_copy(o->version);
    if (o->version_floor && o->version_ceiling)
        return must_format("%s to %s", o->version_floor, o->version_ceiling);
    if (o->version_floor || o->version_ceiling)
        return must_format("not %s than %s", o->version_floor ? "older" : "newer",
                           o->version_floor ? o->version_floor : o->version_ceiling);
    return NULL;
}

/* Only where the replay of the loader's rules pointed to this very file. A search that found the
 * object loaded shows less than its loader. */
const struct wc_search_record *library_search(const struct wc_stack *s,
                                              const struct wc_object_record *o) {
    const struct wc_searched *found =
        WC_FIRST(f, s->searches,
                 f->r.object != WC_NULL && f->r.object == o->object &&
                     f->r.rule != WC_search_rule_LOADED && (f->r.rule || f->r.of || f->r.element));

    return found ? &found->r : NULL;
}

char *library_rule(const struct wc_search_record *f, bool element) {
    if (!f)
        return NULL;
    return must_format("%s%s%s%s%s", wc_enum_word(WC_ENUM_search_rule, f->rule),
                       f->of ? " of " : "", wc_base_name(f->of), element && f->element ? ": " : "",
                       element ? f->element : NULL);
}

char *library_source(const struct wc_object_record *o) {
    const char *kind = wc_enum_word(WC_ENUM_installation_kind, o->installation_kind);

    if (!kind && !o->installation)
        return NULL;
    return must_format("%s%s%s", kind, kind && o->installation ? " " : "", o->installation);
}

char *library_installation(const struct wc_object_record *o) {
    const char *version = o->installation ? o->installation_version : NULL;
    OWNED char *source = library_source(o);

    return source ? must_format("%s%s%s", source, version ? " " : "", version) : NULL;
}
