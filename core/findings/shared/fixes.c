/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixes that several findings offer, as commands to paste. What stands in a command comes from
 * files that nobody has vetted: only text of a narrow alphabet gets into one.
 */
#include "core/findings/finding.h"
#include "core/search/search.h"

enum {
    NAME_MOST = 48,
    SPEC_MOST = 96,
    SITE_MOST = 512,
    DIRECTORY_MOST = 512,
    LIST_MOST = 800,
};

static const struct {
    char release[12];
    bool has[3]; /* nvidia-cudnn-cu11 and the next two */
} releases[] = {
#define CUDNN_RELEASE(release, cu11, cu12, cu13) {release, {cu11, cu12, cu13}},
#include "core/packages/wheel_files.def"
};

static size_t length_in_alphabet(const char *s, const char *also) {
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || wc_is_digit(s[n]) ||
           (s[n] && wc_str_find_char(also, s[n])))
        n++;
    return n;
}

static bool of_alphabet(const char *s, const char *also) {
    return !s[length_in_alphabet(s, also)];
}

/* ---- which distribution ---- */

static int32_t cuda_for(const struct wc_stack *s, const struct wc_object *host,
                        const struct wc_object *library) {
    int32_t cuda = host ? wc_cuda_in_package(host->r.installation) : -1;

    if (cuda < 0 && host)
        cuda = wc_cuda_in_package(host->r.installation_version);
    if (cuda < 0 && library)
        cuda = wc_cuda_in_package(library->r.installation);
    return cuda < 0 ? wc_cuda_of_dependencies(s) : cuda;
}

/* Is there a wheel that satisfies the set? Its floor lies between the first and the last of them,
 * or the first one is in the set. Those for CUDA 11 have ended; what is newer than the others, or
 * for a CUDA that the table does not know yet, may be there. */
static bool offered(int32_t cuda, const char *spec) {
    struct wc_version first = WC_VERSION_NONE, last = WC_VERSION_NONE, floor;
    struct wc_spec wanted;

    if (cuda < 11 || !wc_spec_read(spec, &wanted))
        return false;
    if (cuda > 13)
        return true;
    WC_EACH_ROW(row, releases)
        if (row->has[cuda - 11]) {
            last = wc_version_of(row->release);
            first = wc_version_known(first) ? first : last;
        }
    floor = wc_spec_floor(&wanted);
    if (cuda == 11 && wc_version_compare(floor, last) > 0)
        return false;
    return wc_spec_accepts(&wanted, first) == WC_YES || wc_version_compare(floor, first) > 0;
}

/* ---- install ---- */

/* "==9.26.0.51" out of "nvidia-cudnn-cu13==9.26.0.51" or itself; NULL: not for a command. */
static const char *bare_spec(const char *spec) {
    const char *p = spec;

    if (!spec)
        return NULL;
    while (*p && !wc_str_find_char("=<>!~", *p))
        p++;
    return *p && wc_str_length(p) < SPEC_MOST && of_alphabet(p, "=<>!~.,*+") ? p : NULL;
}

static bool in_conda(const struct wc_object *o) {
    return o && o->r.installation_kind == WC_installation_kind_CONDA;
}

void wc_fix_install(struct wc_case *c, const struct wc_object *host,
                    const struct wc_object *library, const char *spec, const char *package) {
    const char *bare = bare_spec(spec), *name = NULL, *wheel;
    int32_t cuda = cuda_for(c->d->s, host, library);
    bool named = package && wc_str_starts(package, "nvidia-cudnn-");
    size_t n = named ? length_in_alphabet(package, "-") : 0;

    if (!bare) {
        wc_case_advice(c, WC_ACTION_INSTALL, "install a cuDNN that the host accepts");
        return;
    }
    if (in_conda(host) || in_conda(library))
        wc_case_fix(c, WC_ACTION_INSTALL, "install a cuDNN that fits into the conda environment",
                    wc_format_command(c, "conda install ", wc_format(c, "cudnn%s", bare), NULL));
    if (n && n < NAME_MOST)
        name = wc_format(c, "%.*s", (int)n, package);
    else if (cuda >= 0 && offered(cuda, bare))
        name = wc_format(c, "nvidia-cudnn-cu%d", cuda);
    if (!name) {
        wc_case_advice(c, WC_ACTION_INSTALL,
                       "install a cuDNN that satisfies %s, where the host looks for it", bare);
        return;
    }
    wheel = wc_format(c, "%s%s", name, bare);
    if (WC_ANY(p, c->d->s->packages,
               p->r.missing.n && wc_str_same(p->r.package, name))) /* pip takes it for installed */
        wc_case_fix(c, WC_ACTION_REINSTALL, wc_format(c, "reinstall %s", wheel),
                    wc_format_command(c, "pip install --force-reinstall --no-deps ", wheel, NULL));
    else
        wc_case_fix(c, WC_ACTION_INSTALL, wc_format(c, "install %s", wheel),
                    wc_format_command(c, "pip install ", wheel, NULL));
}

/* ---- for which CUDA ---- */

static const struct wheel_file {
    const char *wheel, *file;
} wheel_files[] = {
#define WHEEL_FILE(distribution, from, to, file, needs) {distribution, file},
#include "core/packages/wheel_files.def"
};

/* Wheels have the numbered names alone. NULL: none has it. */
static const struct wheel_file *wheel_with(const char *library) {
    if (wc_name_cuda(library) < 11)
        return NULL;
    library = wc_base_name(library);
    WC_EACH_ROW(row, wheel_files) {
        const char *name = wc_base_name(row->file), *minor = wc_str_find(name, "%m");
        size_t n = minor ? (size_t)(minor - name) : wc_str_length(name) + 1;
        if (wc_str_length(library) >= n - !minor && wc_mem_compare(library, name, n) == 0)
            return row;
    }
    return NULL;
}

void wc_fix_cuda_dependency(struct wc_case *c, int32_t cuda, const char *library) {
    const struct wheel_file *file = wheel_with(library);
    const char *name = wc_format_name(c, library), *command = NULL;
    int32_t named = wc_name_cuda(library);

    if (file) /* up to CUDA 12 the wheels' names have its number, since 13 their releases alone */
        command = named < 13 ? wc_format(c, "pip install %s", file->wheel)
                             : wc_format(c, "pip install '%s==%d.*'", file->wheel, named);
    wc_case_fix(
        c, WC_ACTION_INSTALL,
        cuda > 0
            ? wc_format(c,
                        "or install the package that has %s where the loader finds it, for CUDA %d",
                        name, cuda)
            : wc_format(c, "or install the package that has %s where the loader finds it", name),
        command);
}

void wc_fix_cuda_dependency_path(struct wc_case *c, const struct wc_object *cudnn,
                                 const char *library) {
    const struct wheel_file *file = wheel_with(library);
    const char *path = cudnn && cudnn->r.installation_kind == WC_installation_kind_WHEEL
                           ? cudnn->r.installation_path
                           : NULL;
    const char *old = wc_variable(c->d->s, "LD_LIBRARY_PATH");
    const char *at = path ? wc_str_find(path, "/nvidia/cudnn") : NULL;
    const char *directory;
    int32_t site = at ? (int32_t)(at - path) : 0;

    if (!file || site <= 0 || site >= SITE_MOST)
        return;
    directory = wc_format(c, "%.*s/%.*s", site, path, (int)wc_dir_length(file->file), file->file);
    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                wc_format(c,
                          "let LD_LIBRARY_PATH name the directory that has %s: %s, if its wheel is "
                          "installed beside that of cuDNN",
                          wc_format_name(c, library), directory),
                wc_format_command(c, "export LD_LIBRARY_PATH=",
                                  wc_format(c, "%s%s%s", directory, old && *old ? ":" : "", old),
                                  NULL));
}

/* What a package of that CUDA asks for; else any release of the facade's major. */
static const char *spec_for_cuda(struct wc_case *c, const struct wc_object *facade, int32_t cuda) {
    WC_EACH(demand, c->d->s->demands) {
        const struct wc_demand_record *r = &demand->r;
        if (r->demand_kind == WC_demand_kind_REQUIRED && r->package &&
            wc_cuda_in_package(r->package) == cuda && bare_spec(r->spec))
            return bare_spec(r->spec);
    }
    return wc_format_major(c, wc_major_of(facade));
}

static bool is_wheel_of_nvidia(const struct wc_object *o) {
    return o->r.installation_kind == WC_installation_kind_WHEEL && o->r.installation &&
           wc_str_starts(o->r.installation, "nvidia-cudnn") && of_alphabet(o->r.installation, "-");
}

/* Wheels of several CUDA majors put their files into the same directory: the wrong one goes first.
 */
void wc_fix_cuda(struct wc_case *c, const struct wc_object *facade, int32_t cuda) {
    const char *spec = spec_for_cuda(c, facade, cuda), *command = NULL;

    if (is_wheel_of_nvidia(facade) && offered(cuda, spec))
        command = wc_format(
            c,
            "pip uninstall -y %s && pip install --force-reinstall --no-deps 'nvidia-cudnn-cu%d%s'",
            facade->r.installation, cuda, spec);
    wc_case_fix(
        c, WC_ACTION_INSTALL,
        wc_format(c, "install the cuDNN that is made for CUDA %d in place of this one", cuda),
        command);
}

/* ---- put back into one piece ---- */

/* "nvidia-cudnn-cu12" of "nvidia-cudnn-cu12 9.1.0.70"; NULL: not for a command. */
static const char *bare_name(struct wc_case *c, const char *package) {
    const char *end = package ? wc_str_find_char(package, ' ') : NULL;
    size_t n = !package ? 0 : end ? (size_t)(end - package) : wc_str_length(package);
    bool good =
        n && n < NAME_MOST && package[0] != '-' && length_in_alphabet(package, "-_.+:") == n;

    return good ? wc_format(c, "%.*s", (int)n, package) : NULL;
}

/* By what put it there. NULL: not known, or not for a command. */
static const char *again(struct wc_case *c, enum wc_installation_kind kind, const char *package,
                         const char *version) {
    const char *name = bare_name(c, package);

    if (version && !of_alphabet(version, ".+-~"))
        version = NULL;
    switch (name ? kind : WC_installation_kind_UNKNOWN) {
    case WC_installation_kind_WHEEL:
        return wc_format(c, "pip install --force-reinstall --no-deps %s%s%s", name,
                         version ? "==" : "", version);
    case WC_installation_kind_CONDA:
        return wc_format(c, "conda install --force-reinstall %s%s%s", name, version ? "=" : "",
                         version);
    case WC_installation_kind_DEBIAN:
        return wc_format(c, "apt-get install --reinstall %s%s%s", name, version ? "=" : "",
                         version);
    default:
        return NULL;
    }
}

bool wc_is_grafted(const struct wc_object *o) {
    const char *path = wc_path_of(o);

    return path && wc_str_starts(wc_base_name(path), "libcudnn-");
}

/* Its wheel has the facade alone: to install that once more changes nothing. */
static void fix_grafted(struct wc_case *c, const struct wc_object *facade) {
    struct wc_range own = wc_own_range(facade);

    own.low.build = -1;
    wc_fix_install(c, NULL, facade,
                   wc_version_known(own.low) ? wc_format(c, "==%s%s", wc_format_version(c, own.low),
                                                         own.low.patch >= 0 ? ".*" : "")
                                             : NULL,
                   NULL);
    wc_case_advice(c, WC_ACTION_SET_VARIABLE,
                   "and let LD_LIBRARY_PATH name the directory of its parts: %s has brought the "
                   "facade alone",
                   facade->r.installation ? facade->r.installation : "its package");
}

void wc_fix_reinstall(struct wc_case *c, const struct wc_object *library) {
    const char *directory = wc_directory_of(c, library);
    const char *installation = wc_format_installation(c, library), *text, *command = NULL;
    enum wc_installation_kind kind = library->r.installation_kind;

    if (kind == WC_installation_kind_CONTAINER_MOUNT) {
        wc_case_advice(
            c, WC_ACTION_REMOVE,
            "start the container without the mount of %s, or put one whole release there "
            "on the host: inside the container the file cannot be changed",
            library->r.mount ? library->r.mount : "this file");
        return;
    }
    if (wc_is_grafted(library)) {
        fix_grafted(c, library);
        return;
    }
    if (is_wheel_of_nvidia(library))
        text = wc_format(
            c, "reinstall %s, which puts facade and parts of one release into one directory",
            library->r.installation);
    else
        text = wc_format(c,
                         "reinstall the cuDNN in %s%s%s, so that facade and parts of one release "
                         "lie there together",
                         directory ? directory : "its directory", installation ? ", " : "",
                         installation);
    if (kind == WC_installation_kind_RPM) /* it says itself whose file it is */
        command = wc_format_command(c, "dnf reinstall \"$(rpm -qf --qf '%{NAME}' ",
                                    library->r.real_path, ")\"");
    else if (kind != WC_installation_kind_WHEEL || is_wheel_of_nvidia(library))
        command = again(c, kind, library->r.installation, library->r.installation_version);
    wc_case_fix(c, WC_ACTION_REINSTALL, text, command);
}

void wc_fix_package(struct wc_case *c, const struct wc_package_record *p, const char *other) {
    const char *first = bare_name(c, other);
    const char *command = again(c, p->installation_kind, p->package, p->package_version);
    bool wheel = p->installation_kind == WC_installation_kind_WHEEL;

    if (other)
        wc_case_fix(c, WC_ACTION_REINSTALL,
                    wc_format(c, "uninstall %s, then put the files of %s back, which went with it",
                              wc_format_name(c, other), wc_format_name(c, p->package)),
                    command && first && wheel
                        ? wc_format(c, "pip uninstall -y %s && %s", first, command)
                        : NULL);
    else
        wc_case_fix(c, WC_ACTION_REINSTALL,
                    wc_format(c, "install %s once more, even though it counts as installed",
                              wc_format_name(c, p->package)),
                    command);
}

/* ---- the search path ---- */

/* Copies a colon-separated list without one of its elements. True if the element was there. */
static bool without(const char *list, const char *element, size_t n, struct wc_text *out) {
    bool found = false;

    while (*list) {
        const char *end = wc_str_find_char(list, ':');
        size_t length = end ? (size_t)(end - list) : wc_str_length(list);
        size_t bare = length;
        while (bare > 1 && list[bare - 1] == '/')
            bare--;
        if (bare == n && wc_mem_compare(list, element, n) == 0) {
            found = true;
        } else if (length) {
            wc_text_add(out, out->n ? ":" : "");
            wc_text_add_n(out, list, length);
        }
        list += length + (end != NULL);
    }
    return found;
}

/* LD_LIBRARY_PATH without the directory of that file. False: it does not name that directory. */
static bool without_directory_of(const struct wc_stack *s, const char *path, struct wc_text *out) {
    const char *list = wc_variable(s, "LD_LIBRARY_PATH");
    size_t n = path ? wc_dir_length(path) : 0;

    return list && n && n < DIRECTORY_MOST && without(list, path, n, out);
}

bool wc_in_search_path(const struct wc_stack *s, const struct wc_object *o) {
    char rest[LIST_MOST];
    struct wc_text t;

    wc_text_begin(&t, rest, sizeof rest);
    return without_directory_of(s, o->r.path, &t) || without_directory_of(s, o->r.real_path, &t);
}

static const char *set_to(struct wc_case *c, const char *name, const struct wc_text *value) {
    if (value->cut)
        return NULL;
    return value->n ? wc_format_command(c, wc_format(c, "export %s=", name), value->p, NULL)
                    : wc_format(c, "unset %s", name);
}

static void take_out(struct wc_case *c, const char *element, const struct wc_candidate *next,
                     const struct wc_text *rest) {
    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                wc_format(c, "take %s out of LD_LIBRARY_PATH%s%s", element,
                          next ? ": then the loader finds " : "",
                          next ? wc_format_candidate(c, next) : NULL),
                set_to(c, "LD_LIBRARY_PATH", rest));
}

/* LD_PRELOAD without that element, and without our own library, which comes and goes with us. */
static void without_preload(const char *list, const char *element, struct wc_text *out) {
    size_t own = sizeof WC_OWN_NAME - 1;
    struct wc_span e;

    while (wc_preload_next(&list, &e)) {
        const char *p = e.p;
        bool ours = e.n >= own && wc_mem_compare(p + e.n - own, WC_OWN_NAME, own) == 0;
        bool gone = wc_str_length(element) == e.n && wc_mem_compare(p, element, e.n) == 0;
        if (!ours && !gone) {
            wc_text_add(out, out->n ? ":" : "");
            wc_text_add_n(out, p, e.n);
        }
    }
}

/* What a host's own search would have led to, had it not been there already; NULL: not known. */
static const struct wc_candidate *own_of_hosts(const struct wc_stack *s,
                                               const struct wc_object *o) {
    const struct wc_searched *own =
        WC_FIRST(f, s->searches,
                 f->r.rule == WC_search_rule_LOADED && f->r.object == o->r.object && f->r.takes);

    return own ? wc_candidate_of(s, own, own->r.takes) : NULL;
}

/* One that was preloaded by its name alone may be found by LD_LIBRARY_PATH once more. */
static bool fix_preload(struct wc_case *c, const struct wc_object *o) {
    const char *list = wc_variable(c->d->s, "LD_PRELOAD"), *element = o->r.asked_name;
    const struct wc_candidate *next = own_of_hosts(c->d->s, o);
    char buffer[LIST_MOST], path_buffer[LIST_MOST];
    struct wc_text rest, path;
    const char *command, *second = NULL;

    if (o->r.asked_how != WC_operation_PRELOAD || !list || !element)
        return false;
    wc_text_begin(&rest, buffer, sizeof buffer);
    wc_text_begin(&path, path_buffer, sizeof path_buffer);
    without_preload(list, element, &rest);
    command = set_to(c, "LD_PRELOAD", &rest);
    bool both = !next && without_directory_of(c->d->s, o->r.path, &path);
    if (both && (second = set_to(c, "LD_LIBRARY_PATH", &path)) && command)
        command = wc_format(c, "%s && %s", command, second);
    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                wc_format(c, "take %s out of LD_PRELOAD%s%s%s", element,
                          both ? ", and its directory out of LD_LIBRARY_PATH" : "",
                          next ? ": then the loader finds " : "",
                          next ? wc_format_candidate(c, next) : ""),
                both && !second ? NULL : command);
    return true;
}

bool wc_fix_set_before(struct wc_case *c, const struct wc_searched *f,
                       const struct wc_demand_record *r) {
    const struct wc_candidate *later = wc_later_of(c->d->s, f);

    if (!later || (r && wc_version_known(later->version) && wc_demand_refuses(r, later->version)))
        return false;
    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                "set LD_LIBRARY_PATH before the process starts: the loader reads it at the start "
                "alone, what is set later counts for children",
                *f->r.later_path
                    ? wc_format_command(c, "export LD_LIBRARY_PATH=", f->r.later_path, NULL)
                    : "unset LD_LIBRARY_PATH");
    return true;
}

bool wc_fix_search_path(struct wc_case *c, const struct wc_object *o) {
    const char *paths[] = {o->r.path, o->r.real_path};
    const char *list = wc_variable(c->d->s, "LD_LIBRARY_PATH");
    const struct wc_searched *f = wc_search_of(c->d->s, o);
    const struct wc_candidate *next = wc_candidate_of(c->d->s, f, NULL);
    char buffer[LIST_MOST];
    struct wc_text rest;

    if (fix_preload(c, o))
        return true;
    wc_text_begin(&rest, buffer, sizeof buffer);
    /* An element "" is the directory that the process was in; at the end of the list it is there
     * without a character. */
    if (list && f && f->r.rule == WC_search_rule_LIBRARY_PATH && f->r.element && !*f->r.element) {
        (void)without(list, "", 0, &rest);
        take_out(c, "the empty element", next, &rest);
        return true;
    }
    WC_EACH_ROW(path, paths) {
        wc_text_begin(&rest, buffer, sizeof buffer);
        if (without_directory_of(c->d->s, *path, &rest)) {
            take_out(c, wc_format(c, "%.*s", (int)wc_dir_length(*path), *path), next, &rest);
            return true;
        }
    }
    return false;
}

void wc_fix_with_copy(struct wc_case *c, const char *path, const char *what) {
    const char *directory = wc_format_directory(c, path);

    wc_case_fix(
        c, WC_ACTION_SET_VARIABLE,
        wc_format(c, "let LD_LIBRARY_PATH name %s, where %s is", directory ? directory : "?", what),
        wc_format_command(c, "export LD_LIBRARY_PATH=", directory,
                          "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"));
}

/* ---- the order of loading ---- */

void wc_fix_load_order(struct wc_case *c, const char *host, const struct wc_object *o) {
    if (fix_preload(c, o)) /* before all others, in whatever order these are loaded */
        return;
    wc_case_advice(c, WC_ACTION_LOAD_ORDER,
                   "load %s before %s (import its package first), so that its own search decides",
                   wc_format_name(c, host),
                   o->r.asked_by ? wc_format_name(c, o->r.asked_by) : "what loaded the other one");
    wc_case_advice(
        c, WC_ACTION_REMOVE,
        "or let both find one copy: remove the other, or install releases that share one");
}
