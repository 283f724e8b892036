/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that several findings give: what a library is, and what the replays of the loader's search
 * report about it and about its neighbours. */
#include "core/demand/finding.h"
#include "core/knowledge/programs.h"
#include "core/packages/identify.h"

const struct wc_searched *wc_search_of(const struct wc_stack *s, const struct wc_object *o) {
    return WC_FIRST(f, s->searches,
                    o->r.object != WC_NULL && f->r.object == o->r.object &&
                        f->r.rule != WC_search_rule_UNKNOWN && f->r.rule != WC_search_rule_LOADED);
}

const struct wc_candidate *wc_candidate_of(const struct wc_stack *s, const struct wc_searched *f,
                                           const char *path) {
    return WC_FIRST(b, s->candidates,
                    f && b->r.search == f->r.search && b->r.file_state == WC_file_state_FITS &&
                        (path ? wc_str_same(b->r.path, path) : b->r.beaten));
}

/* "LD_LIBRARY_PATH, /opt/lib", "DT_RPATH of libhost.so, $ORIGIN/lib", "ld.so.cache". */
static const char *format_rule(struct wc_case *c, enum wc_search_rule rule, const char *of,
                               const char *element) {
    const char *word = wc_enum_word(WC_ENUM_search_rule, rule);

    return wc_format(c, "%s%s%s%s%s", word ? word : "?", of ? " of " : "",
                     of ? wc_format_name(c, of) : "", element ? ", " : "",
                     element && !*element ? "the empty element" : element);
}

static const char *format_candidate(struct wc_case *c, const struct wc_candidate *b) {
    const char *state = b->r.file_state == WC_file_state_FITS
                            ? NULL
                            : wc_enum_word(WC_ENUM_file_state, b->r.file_state);
    const char *installation = b->r.installation ? wc_format_name(c, b->r.installation) : NULL;

    return wc_format(c, "%s%s%s%s%s%s%s", b->r.path, b->r.version ? "  " : "", b->r.version,
                     state ? "  " : "", state, installation ? "  " : "", installation);
}

void wc_case_own_search(struct wc_case *c, const struct wc_searched *f) {
    const struct wc_candidate *own = f ? wc_candidate_of(c->d->s, f, f->r.takes) : NULL;

    if (f)
        wc_case_fact_at(c, WC_FACT_ITS_OWN_SEARCH_FINDS, f->r.takes,
                        own ? format_candidate(c, own) : f->r.takes, "the loader's rules");
}

const struct wc_candidate *wc_later_of(const struct wc_stack *s, const struct wc_searched *f) {
    return f && f->r.later_path && f->r.later_takes ? wc_candidate_of(s, f, f->r.later_takes)
                                                    : NULL;
}

void wc_case_later(struct wc_case *c, const struct wc_searched *f) {
    const struct wc_candidate *later = wc_later_of(c->d->s, f);

    if (!later)
        return;
    wc_case_fact(c, WC_FACT_SET_TOO_LATE,
                 *f->r.later_path ? wc_format(c, "LD_LIBRARY_PATH=%s", f->r.later_path)
                                  : "LD_LIBRARY_PATH is unset");
    wc_case_fact_at(c, WC_FACT_WOULD_HAVE_GIVEN, later->r.path, format_candidate(c, later),
                    "the loader's rules");
}

static void candidates(struct wc_case *c, const struct wc_searched *f) {
    WC_EACH(b, c->d->s->candidates) {
        enum wc_fact_role role = b->r.rule == WC_search_rule_NOT_SEARCHED ? WC_FACT_A_COPY_IS_IN
                                 : b->r.beaten                            ? WC_FACT_BEHIND_IT
                                                                          : WC_FACT_PASSED_OVER;
        if (b->r.search == f->r.search && !wc_str_same(b->r.path, f->r.takes) &&
            !(b->r.rule == WC_search_rule_NOT_SEARCHED && wc_str_same(b->r.path, f->r.later_takes)))
            wc_case_fact_at(c, role, b->r.path, format_candidate(c, b),
                            format_rule(c, b->r.rule, b->r.of, b->r.element));
    }
}

void wc_case_searched(struct wc_case *c, const struct wc_searched *f) {
    if (!f)
        return;
    WC_EACH(directory, f->r.searched)
        wc_case_fact(c, WC_FACT_SEARCHED, *directory);
    candidates(c, f);
    wc_case_later(c, f);
}

const char *wc_format_installation(struct wc_case *c, const struct wc_object *o) {
    const char *kind = wc_enum_word(WC_ENUM_installation_kind, o->r.installation_kind);
    const char *name = o->r.installation, *version = o->r.installation_version;

    if (!name) /* that it is in a directory is known */
        return o->r.installation_kind == WC_installation_kind_DIRECTORY ? NULL : kind;
    if (version && wc_str_ends(name, version)) /* cuda-13.0 */
        version = NULL;
    return wc_format(c, "%s%s%s%s%s%s", name, version ? " " : "", version, kind ? " (" : "", kind,
                     kind ? ")" : "");
}

/* "wavegen 2.1", the one package that asks by this library; NULL: several may, or none. */
static const char *package_behind(struct wc_case *c, const char *library) {
    struct wc_distribution found;
    const char *path = NULL;

    WC_EACH(d, c->d->s->demands)
        if (d->r.demand_kind == WC_demand_kind_REQUIRED && wc_str_same(d->r.host_path, library)) {
            if (!d->r.source_path || (path && !wc_str_same(path, d->r.source_path)))
                return NULL;
            path = d->r.source_path;
        }
    if (path)
        path = wc_base_name(wc_format(c, "%.*s", (int)wc_dir_length(path), path));
    return path && wc_distribution_take(&found, "", path, "")
               ? wc_format(c, "%s %s", found.name, found.version)
               : NULL;
}

/* The package that it is of, or that asks by it; "main.py" for the library by which scripts open
 * others. */
const char *wc_format_asker(struct wc_case *c, const char *path) {
    const struct wc_strings *arguments = &c->d->s->process.arguments;
    const char *name = package_behind(c, path);

    if (!name && !wc_program_is(path, WC_PROGRAM_LIBRARY))
        return wc_format_name(c, path);
    for (size_t i = 1; !name && i < arguments->n; i++)
        name = arguments->p[i][0] != '-' ? arguments->p[i] : NULL;
    return wc_format_name(c, name ? name : "python");
}

const char *wc_format_who(struct wc_case *c, const struct wc_object *o) {
    enum wc_installation_kind kind = o->r.installation_kind;
    bool package = wc_is_of_environment(kind) || wc_is_of_system(kind);
    bool scripted = wc_program_is(wc_path_of(o), WC_PROGRAM_LIBRARY); /* cffi's */
    const char *name = package && !scripted ? o->r.installation : NULL;
    const char *version = o->r.installation_version;

    if (wc_is_cudnn(o) || o->r.role == WC_role_CUDA_DEPENDENCY)
        return wc_format_name(c, wc_name_of(o));
    if (!name) {
        const struct wc_demand *demand =
            WC_FIRST(d, c->d->s->demands, d->r.framework && wc_is_demand_by(d, o));
        name = demand ? demand->r.framework : NULL;
        version = demand ? demand->r.framework_version : NULL;
    }
    if (!name)
        return wc_format_asker(c, wc_path_of(o));
    return version ? wc_format(c, "%s %s", wc_format_name(c, name), wc_format_name(c, version))
                   : wc_format_name(c, name);
}

void wc_case_asker(struct wc_case *c, const struct wc_object *o) {
    const char *name = o->r.asked_name ? o->r.asked_name : "it";

    if (o->r.asked_how == WC_operation_PRELOAD)
        wc_case_fact(c, WC_FACT_ASKED_BY, wc_format(c, "LD_PRELOAD names %s", name));
    if (!o->r.asked_by)
        return;
    bool needed = o->r.asked_how == WC_operation_NEEDED;
    wc_case_fact_from(c, WC_FACT_ASKED_BY,
                      wc_format(c, needed ? "%s needs %s" : "%s asked for %s", o->r.asked_by, name),
                      needed ? "DT_NEEDED" : "loader request");
}

void wc_case_library(struct wc_case *c, enum wc_fact_role role, const struct wc_object *o) {
    if (!o)
        return;
    const struct wc_searched *f = wc_search_of(c->d->s, o);
    struct wc_range own = wc_own_range(o);

    wc_case_fact_from(c, role, wc_path_of(o), "link map");
    if (o->r.path && !wc_str_same(o->r.path, o->r.real_path))
        wc_case_fact_from(c, WC_FACT_REAL_PATH, o->r.real_path, "link map");
    if (o->r.role == WC_role_CUDA_DEPENDENCY)
        wc_case_fact(c, WC_FACT_VERSION, wc_cuda_release(c, o));
    else
        wc_case_fact_from(c, WC_FACT_VERSION, wc_format_range(c, own), own.source);
    wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, o));
    wc_case_fact(c, WC_FACT_HEADER_BESIDE_IT, o->r.header_version);
    wc_case_fact(c, WC_FACT_MOUNTED_FROM_ELSEWHERE, o->r.mount);
    wc_case_asker(c, o);
    if (f)
        wc_case_fact(c, WC_FACT_FOUND_BY, format_rule(c, f->r.rule, f->r.of, f->r.element));
    if (f && o->r.role == WC_role_FACADE)
        candidates(c, f);
    wc_case_later(c, f);
}

struct wc_object wc_file_as_object(const struct wc_file_record *f, const char *path) {
    const struct wc_file_record none = {.path = path && *path ? path : NULL};

    f = f ? f : &none;
    return (struct wc_object){.version = wc_version_of(f->version),
                              .floor = WC_VERSION_NONE,
                              .ceiling = WC_VERSION_NONE,
                              .r = {.path = f->path,
                                    .real_path = f->real_path,
                                    .soname = f->soname,
                                    .version = f->version,
                                    .version_source = f->version_source,
                                    .installation_kind = f->installation_kind,
                                    .installation = f->installation,
                                    .installation_version = f->installation_version,
                                    .installation_path = f->installation_path}};
}

void wc_case_file(struct wc_case *c, enum wc_fact_role role, const struct wc_file_record *f,
                  const char *source) {
    struct wc_object o = wc_file_as_object(f, NULL);

    wc_case_fact_from(c, role, f->path, source);
    wc_case_fact(c, WC_FACT_LEADS_TO, f->link);
    if (!wc_str_same(f->real_path, f->path))
        wc_case_fact(c, WC_FACT_REAL_PATH, f->real_path);
    wc_case_fact(c, WC_FACT_SONAME, f->soname);
    wc_case_fact_from(c, WC_FACT_VERSION, f->version,
                      wc_enum_word(WC_ENUM_version_source, f->version_source));
    wc_case_fact(c, WC_FACT_INSTALLATION, wc_format_installation(c, &o));
}

/* ---- what the loader reported about a failed request ---- */

void wc_case_request(struct wc_case *c, const struct wc_failure *f) {
    if (f->r.operation == WC_operation_NEEDED && !f->needs)
        wc_case_fact(c, WC_FACT_NEEDS, f->r.name);
    else if (f->r.priority)
        wc_case_fact(
            c, WC_FACT_DECLARED,
            wc_format(c, "%s, %s", f->r.name, wc_enum_word(WC_ENUM_priority, f->r.priority)));
    else if (c->d->s->replayed && !f->needs)
        wc_case_fact(c, WC_FACT_OPENS, f->r.name);
    else
        wc_case_fact_from(c, WC_FACT_ASKED_FOR, f->r.name,
                          f->r.text ? "loader request" : "loader request; no object answers to it");
    wc_case_fact(c, WC_FACT_LOADER_SAID, f->r.text);
}

void wc_case_asked_by(struct wc_case *c, const struct wc_failure *f) {
    wc_case_fact_from(c, WC_FACT_ASKED_BY, f->r.caller, "loader request");
}

const char *wc_format_caller(struct wc_case *c, const struct wc_failure *f) {
    const struct wc_object *o = wc_caller_of(c->d->s, f);

    return o ? wc_format_who(c, o) : f->r.caller ? wc_format_asker(c, f->r.caller) : "the program";
}

bool wc_is_asked_for(const struct wc_failure *f, const char *name) {
    return f->r.name && wc_str_same(name, wc_base_name(f->r.name));
}

const char *wc_format_wanted(struct wc_case *c, const struct wc_failure *f, const char *library) {
    bool itself = wc_is_asked_for(f, wc_base_name(library));

    return wc_format(c, "%s %s %s", itself ? wc_format_caller(c, f) : wc_format_name(c, f->r.name),
                     itself && f->r.operation != WC_operation_NEEDED ? "asked for" : "needs",
                     wc_format_name(c, library));
}
