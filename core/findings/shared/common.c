/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that several findings give about a library. */
#include "core/findings/finding.h"

const char *wc_format_installation(struct wc_case *c, const struct wc_object *o) {
    const char *kind = wc_enum_word(WC_ENUM_installation_kind, o->r.installation_kind);
    const char *name = o->r.installation, *version = o->r.installation_version;

    if (!name) /* that it is in a directory is no news */
        return o->r.installation_kind == WC_installation_kind_DIRECTORY ? NULL : kind;
    if (version && wc_str_ends(name, version)) /* cuda-13.0 */
        version = NULL;
    return wc_format(c, "%s%s%s%s%s%s", name, version ? " " : "", version, kind ? " (" : "", kind,
                     kind ? ")" : "");
}

void wc_case_asker(struct wc_case *c, const struct wc_object *o) {
    const char *name = o->r.asked_name ? o->r.asked_name : "it";

    if (!o->r.asked_by)
        return;
    if (o->r.asked_how == WC_operation_NEEDED)
        wc_case_fact(c, "asked by", wc_format(c, "%s needs %s", o->r.asked_by, name), "DT_NEEDED");
    else
        wc_case_fact(c, "asked by", wc_format(c, "%s asked for %s", o->r.asked_by, name),
                     "loader request");
}

void wc_case_library(struct wc_case *c, const char *name, const struct wc_object *o) {
    struct wc_range own = wc_own_range(o);

    wc_case_fact(c, name, wc_path_of(o), "link map");
    if (o->r.path && o->r.real_path && wc_str_compare(o->r.path, o->r.real_path) != 0)
        wc_case_fact(c, "real path", o->r.real_path, "link map");
    wc_case_fact(c, "version", wc_format_range(c, own), own.source);
    wc_case_fact(c, "installation", wc_format_installation(c, o), "files beside it");
    wc_case_fact(c, "mounted from elsewhere", o->r.mount, "/proc/self/mountinfo");
    wc_case_asker(c, o);
    wc_case_found(c, o);
}

struct wc_object wc_file_as_object(const struct wc_file_record *f, const char *path) {
    struct wc_object o;

    wc_mem_set(&o, 0, sizeof o);
    o.version = o.floor = o.ceiling = WC_VERSION_NONE;
    o.r.path = path && *path ? path : NULL;
    if (f) {
        o.r.path = f->path;
        o.r.real_path = f->real_path;
        o.r.soname = f->soname;
        o.r.installation_kind = f->installation_kind;
        o.r.installation = f->installation;
        o.r.installation_version = f->installation_version;
        o.r.installation_path = f->installation_path;
    }
    return o;
}

void wc_case_file(struct wc_case *c, const char *name, const struct wc_file_record *f,
                  const char *source) {
    struct wc_object o = wc_file_as_object(f, NULL);

    wc_case_fact(c, name, f->path, source);
    wc_case_fact(c, "leads to", f->link, "symbolic link");
    if (f->real_path && !wc_str_same(f->real_path, f->path))
        wc_case_fact(c, "real path", f->real_path, "file");
    wc_case_fact(c, "SONAME", f->soname, "dynamic section");
    wc_case_fact(c, "version", f->version, wc_enum_word(WC_ENUM_version_source, f->version_source));
    wc_case_fact(c, "installation", wc_format_installation(c, &o), "files beside it");
}
