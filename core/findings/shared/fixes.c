/*
 * Fixes that several findings offer, as commands to paste. What stands in a command comes from
 * files that nobody has vetted: only text of a narrow alphabet gets into one.
 */
#include "core/findings/finding.h"

enum {
    NAME_MOST = 48,
    SPEC_MOST = 96,
};

static const struct {
    int32_t cuda;
    const char *first, *last;
} wheels[] = {
#define WHEEL(cuda, first, last) {cuda, first, last},
#include "wheels.def"
};

static bool of_alphabet(const char *s, const char *also) {
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || wc_str_find_char(also, *s)))
            return false;
    return true;
}

/* ---- which distribution ---- */

bool wc_is_for_other_cuda(const struct wc_object *library, int32_t cuda) {
    int32_t made_for = wc_cuda_in_package(library->r.installation);

    return made_for >= 0 && cuda >= 0 && made_for != cuda;
}

int32_t wc_cuda_of_dependencies(const struct wc_stack *s) {
    int32_t cuda;

    for (size_t i = 0; i < s->objects.n; i++)
        if (wc_is_cuda_dependency(&s->objects.p[i], &cuda))
            return cuda;
    return -1;
}

static int32_t cuda_for(const struct wc_stack *s, const struct wc_object *host,
                        const struct wc_object *library) {
    int32_t cuda = host ? wc_cuda_in_package(host->r.installation) : -1;

    if (cuda < 0 && host)
        cuda = wc_cuda_in_package(host->r.installation_version);
    if (cuda < 0 && library)
        cuda = wc_cuda_in_package(library->r.installation);
    return cuda < 0 ? wc_cuda_of_dependencies(s) : cuda;
}

/* "nvidia-cudnn-cu13" where the demand itself names it. */
static bool named_in(const char *package, char *out) {
    struct wc_text t;
    const char *p = package;

    if (!p || !wc_str_starts(p, "nvidia-cudnn-"))
        return false;
    wc_text_begin(&t, out, NAME_MOST);
    while ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-')
        wc_text_add_char(&t, *p++);
    return !t.cut;
}

/* Is there a wheel that satisfies the set? Of the wheels the first and the last are known: the
 * set's floor lies between them, or the first one is in the set. */
static bool offered(int32_t cuda, const struct wc_spec *wanted) {
    struct wc_version first, last, floor = wc_spec_floor(wanted);

    for (size_t i = 0; i < sizeof wheels / sizeof *wheels; i++) {
        const char *end = wheels[i].last;
        if (wheels[i].cuda != cuda ||
            !wc_version_parse(wheels[i].first, wc_str_length(wheels[i].first), &first))
            continue;
        if (*end && wc_version_parse(end, wc_str_length(end), &last) &&
            wc_version_compare(floor, last) > 0)
            return false;
        return wc_spec_accepts(wanted, first) == WC_YES || wc_version_compare(floor, first) > 0;
    }
    return wheels[0].cuda < cuda; /* a CUDA that the table does not know yet */
}

/* False: no distribution can be named for sure. */
static bool distribution(const struct wc_stack *s, const struct wc_object *host,
                         const struct wc_object *library, const char *package, const char *spec,
                         char out[NAME_MOST]) {
    struct wc_spec wanted;
    struct wc_text t;
    int32_t cuda;

    if (named_in(package, out))
        return true;
    cuda = cuda_for(s, host, library);
    if (cuda < 0 || !wc_spec_parse(spec, wc_str_length(spec), &wanted) || !offered(cuda, &wanted))
        return false;
    wc_text_begin(&t, out, NAME_MOST);
    wc_text_add(&t, "nvidia-cudnn-cu");
    wc_text_add_int(&t, cuda);
    return true;
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

static void by_conda(struct wc_case *c, const char *spec) {
    const char *package = wc_format(c, "cudnn", spec, NULL);
    const char *quoted = package ? wc_format_quoted(c, package) : NULL;

    wc_case_fix(c, WC_ACTION_INSTALL, "install a cuDNN that fits into the conda environment",
                quoted ? wc_format(c, "conda install ", quoted, NULL) : NULL);
}

void wc_fix_install(struct wc_case *c, const struct wc_object *host,
                    const struct wc_object *library, const char *spec, const char *package) {
    char name[NAME_MOST];
    const char *bare = bare_spec(spec), *wheel, *quoted;

    if (!bare) {
        wc_case_fix(c, WC_ACTION_INSTALL, "install a cuDNN that the host accepts", NULL);
        return;
    }
    if (in_conda(host) || in_conda(library))
        by_conda(c, bare);
    if (!distribution(c->d->s, host, library, package, bare, name)) {
        wc_case_fix(c, WC_ACTION_INSTALL,
                    wc_format(c, "install a cuDNN that satisfies ", bare,
                              ", where the host looks for it", NULL),
                    NULL);
        return;
    }
    wheel = wc_format(c, name, bare, NULL);
    quoted = wheel ? wc_format_quoted(c, wheel) : NULL;
    if (wc_incomplete_package(c->d->s, name)) { /* pip takes it for installed */
        wc_case_fix(c, WC_ACTION_REINSTALL, wc_format(c, "reinstall ", name, bare, NULL),
                    quoted ? wc_format(c, "pip install --force-reinstall --no-deps ", quoted, NULL)
                           : NULL);
        return;
    }
    wc_case_fix(c, WC_ACTION_INSTALL, wc_format(c, "install ", name, bare, NULL),
                quoted ? wc_format(c, "pip install ", quoted, NULL) : NULL);
}

/* ---- for which CUDA ---- */

static const struct cuda_dependency_wheel {
    const char *part, *wheel, *directory;
} cuda_dependency_wheels[] = {
#define CUDA_DEPENDENCY_WHEEL(part, wheel, directory) {part, wheel, directory},
#include "wheels.def"
};

/* Wheels have the numbered names alone. NULL: none has it. */
static const struct cuda_dependency_wheel *cuda_dependency_wheel(const char *part,
                                                                 const char *library) {
    if (wc_name_cuda(library) < 11)
        return NULL;
    for (size_t i = 0; i < sizeof cuda_dependency_wheels / sizeof *cuda_dependency_wheels; i++)
        if (wc_str_same(part, cuda_dependency_wheels[i].part))
            return &cuda_dependency_wheels[i];
    return NULL;
}

/* Up to CUDA 12 the wheels are numbered, since 13 their names emit no CUDA. */
static const char *pip_cuda_dependency(struct wc_case *c, const struct cuda_dependency_wheel *w,
                                       int32_t cuda) {
    const char *number = wc_format_number(c, cuda);

    if (cuda < 13)
        return wc_format(c, "pip install ", w->wheel, "-cu", number, NULL);
    return wc_format(c, "pip install '", w->wheel, "==", number, ".*'", NULL);
}

void wc_fix_cuda_dependency(struct wc_case *c, const char *part, int32_t cuda,
                            const char *library) {
    const struct cuda_dependency_wheel *wheel = cuda_dependency_wheel(part, library);
    const char *number = cuda > 0 ? wc_format_number(c, cuda) : NULL;

    wc_case_fix(c, WC_ACTION_INSTALL,
                wc_format(c, c->fixes ? "or " : "", "install the package that has ",
                          wc_format_name(c, library), " where the loader finds it",
                          number ? ", for CUDA " : "", number, NULL),
                wheel ? pip_cuda_dependency(c, wheel, wc_name_cuda(library)) : NULL);
}

void wc_fix_cuda_dependency_path(struct wc_case *c, const struct wc_object *cudnn, const char *part,
                                 const char *library) {
    const struct cuda_dependency_wheel *wheel = cuda_dependency_wheel(part, library);
    const char *path = cudnn && cudnn->r.installation_kind == WC_installation_kind_WHEEL
                           ? cudnn->r.installation_path
                           : NULL;
    const char *old = wc_variable(c->d->s, "LD_LIBRARY_PATH");
    const char *at = path ? wc_str_find(path, "/nvidia/cudnn") : NULL;
    const char *directory, *list;
    int32_t cuda = wc_name_cuda(library);
    char site[512];
    struct wc_text t;

    wc_text_begin(&t, site, sizeof site);
    wc_text_add_n(&t, path, at ? (size_t)(at - path) : 0);
    if (!wheel || !t.n || t.cut)
        return;
    directory = cuda < 13
                    ? wc_format(c, site, "/nvidia/", wheel->directory, "/lib", NULL)
                    : wc_format(c, site, "/nvidia/cu", wc_format_number(c, cuda), "/lib", NULL);
    list = wc_format(c, directory, old && *old ? ":" : "", old ? old : "", NULL);
    list = list ? wc_format_quoted(c, list) : NULL;
    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                wc_format(c, "let LD_LIBRARY_PATH name the directory that has ",
                          wc_format_name(c, library), ": ", directory,
                          ", if its wheel is installed beside that of cuDNN", NULL),
                list ? wc_format(c, "export LD_LIBRARY_PATH=", list, NULL) : NULL);
}

/* ---- put back into one piece ---- */

/* "nvidia-cudnn-cu12" of "nvidia-cudnn-cu12 9.1.0.70"; NULL: not for a command. */
static const char *bare_name(struct wc_case *c, const char *package) {
    char name[NAME_MOST];
    struct wc_text t;

    wc_text_begin(&t, name, sizeof name);
    for (const char *p = package; *p && *p != ' '; p++)
        wc_text_add_char(&t, *p);
    return t.n && !t.cut && name[0] != '-' && of_alphabet(name, "-_.+:") ? wc_format(c, name, NULL)
                                                                         : NULL;
}

/* By what put it there. NULL: not known, or not for a command. */
static const char *again(struct wc_case *c, const struct wc_package_record *p, const char *name) {
    bool exact = p->package_version && of_alphabet(p->package_version, ".+-~");
    const char *version = exact ? p->package_version : "";

    switch (name ? p->installation_kind : WC_installation_kind_UNKNOWN) {
    case WC_installation_kind_WHEEL:
        return wc_format(c, "pip install --force-reinstall --no-deps ", name, exact ? "==" : "",
                         version, NULL);
    case WC_installation_kind_CONDA:
        return wc_format(c, "conda install --force-reinstall ", name, exact ? "=" : "", version,
                         NULL);
    case WC_installation_kind_DEBIAN:
        return wc_format(c, "apt-get install --reinstall ", name, exact ? "=" : "", version, NULL);
    default:
        return NULL;
    }
}

/* RPM itself says whose file it is. NULL: there is no such command. */
static const char *by_its_package(struct wc_case *c, const struct wc_object *o) {
    struct wc_package_record p = {.installation_kind = o->r.installation_kind,
                                  .package_version = o->r.installation_version};
    const char *path = o->r.real_path ? wc_format_quoted(c, o->r.real_path) : NULL;

    if (o->r.installation_kind == WC_installation_kind_RPM)
        return path ? wc_format(c, "dnf reinstall \"$(rpm -qf --qf '%{NAME}' ", path, ")\"", NULL)
                    : NULL;
    if (o->r.installation_kind == WC_installation_kind_WHEEL || !o->r.installation)
        return NULL;
    return again(c, &p, bare_name(c, o->r.installation));
}

static bool is_wheel_of_nvidia(const struct wc_object *o) {
    return o->r.installation_kind == WC_installation_kind_WHEEL && o->r.installation &&
           wc_str_starts(o->r.installation, "nvidia-cudnn") && of_alphabet(o->r.installation, "-");
}

/* Wheels of several CUDA majors put their files into the same directory: the wrong one goes first.
 */
/* What a package of that CUDA asks for; else any release of the facade's major. */
static const char *spec_for_cuda(struct wc_case *c, const struct wc_object *facade, int32_t cuda) {
    const struct wc_stack *s = c->d->s;

    for (size_t i = 0; i < s->demands.n; i++) {
        const struct wc_demand_record *r = &s->demands.p[i].r;
        if (r->demand_kind == WC_demand_kind_REQUIRED && r->package &&
            wc_cuda_in_package(r->package) == cuda && bare_spec(r->spec))
            return bare_spec(r->spec);
    }
    return wc_format(c, "==", wc_format_number(c, wc_major_of(facade)), ".*", NULL);
}

void wc_fix_cuda(struct wc_case *c, const struct wc_object *facade, int32_t cuda) {
    const char *number = wc_format_number(c, cuda), *command = NULL;
    const char *spec = spec_for_cuda(c, facade, cuda);
    struct wc_spec wanted;

    if (is_wheel_of_nvidia(facade) && spec && wc_spec_parse(spec, wc_str_length(spec), &wanted) &&
        offered(cuda, &wanted))
        command = wc_format(c, "pip uninstall -y ", facade->r.installation,
                            " && pip install --force-reinstall --no-deps 'nvidia-cudnn-cu", number,
                            spec, "'", NULL);
    wc_case_fix(c, WC_ACTION_INSTALL,
                wc_format(c, "install the cuDNN that is made for CUDA ", number,
                          " in place of this one", NULL),
                command);
}

static const char *pip_again(struct wc_case *c, const struct wc_object *o) {
    const char *version = o->r.installation_version;
    bool exact = version && of_alphabet(version, ".+");

    return wc_format(c, "pip install --force-reinstall --no-deps ", o->r.installation,
                     exact ? "==" : "", exact ? version : "", NULL);
}

void wc_fix_reinstall(struct wc_case *c, const struct wc_object *library) {
    const char *directory = wc_directory_of(c, library);
    const char *installation = wc_format_installation(c, library);

    if (is_wheel_of_nvidia(library)) {
        wc_case_fix(c, WC_ACTION_REINSTALL,
                    wc_format(c, "reinstall ", library->r.installation,
                              ", which puts facade and parts of one release into one directory",
                              NULL),
                    pip_again(c, library));
        return;
    }
    if (library->r.installation_kind == WC_installation_kind_CONTAINER_MOUNT) {
        wc_case_fix(
            c, WC_ACTION_REMOVE,
            wc_format(c, "start the container without the mount of ",
                      library->r.mount ? library->r.mount : "this file",
                      ", or put one whole release there on the host: inside the container the "
                      "file cannot be changed",
                      NULL),
            NULL);
        return;
    }
    wc_case_fix(c, WC_ACTION_REINSTALL,
                wc_format(c, "reinstall the cuDNN in ", directory ? directory : "its directory",
                          installation ? ", " : "", installation ? installation : "",
                          ", so that facade and parts of one release lie there together", NULL),
                by_its_package(c, library));
}

void wc_fix_package(struct wc_case *c, const struct wc_package_record *p, const char *other) {
    const char *name = p->package ? bare_name(c, p->package) : NULL;
    const char *first = other ? bare_name(c, other) : NULL;
    const char *command = again(c, p, name);
    bool wheel = p->installation_kind == WC_installation_kind_WHEEL;

    if (other)
        wc_case_fix(c, WC_ACTION_REINSTALL,
                    wc_format(c, "uninstall ", wc_format_name(c, other), ", then put the files of ",
                              wc_format_name(c, p->package), " back, which went with it", NULL),
                    command && first && wheel
                        ? wc_format(c, "pip uninstall -y ", first, " && ", command, NULL)
                        : NULL);
    else
        wc_case_fix(c, WC_ACTION_REINSTALL,
                    wc_format(c, "install ", wc_format_name(c, p->package),
                              " once more, even though it counts as installed", NULL),
                    command);
}

const struct wc_package_record *wc_incomplete_package(const struct wc_stack *s, const char *name) {
    for (size_t i = 0; i < s->packages.n; i++)
        if (s->packages.p[i].r.missing.n && wc_str_same(s->packages.p[i].r.package, name))
            return &s->packages.p[i].r;
    return NULL;
}

/* ---- the search path ---- */

/* Copies a colon-separated list without one of its elements. True if the element was there. */
static bool without(const char *list, const char *element, struct wc_text *out) {
    size_t n = wc_str_length(element);
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

/* LD_LIBRARY_PATH without the directory of path; false: it does not name it. */
static bool search_path_without(const struct wc_stack *s, const char *path, struct wc_text *rest,
                                char directory[512]) {
    const char *list = wc_variable(s, "LD_LIBRARY_PATH");
    struct wc_text d;

    wc_text_begin(&d, directory, 512);
    wc_text_add_n(&d, path ? path : "", path ? wc_dir_length(path) : 0);
    return list && d.n && !d.cut && without(list, directory, rest);
}

bool wc_in_search_path(const struct wc_stack *s, const struct wc_object *o) {
    char rest[800], directory[512];
    struct wc_text t;

    wc_text_begin(&t, rest, sizeof rest);
    return search_path_without(s, o->r.path, &t, directory) ||
           search_path_without(s, o->r.real_path, &t, directory);
}

/* rest: the list without it; next: what is found then, NULL: not known. */
static void report_without(struct wc_case *c, const char *what, const struct wc_text *rest,
                           const char *text, const char *next) {
    const char *quoted = rest->cut ? NULL : wc_format_quoted(c, text);

    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                wc_format(c, "take ", what, " out of LD_LIBRARY_PATH",
                          next ? ": then the loader finds " : "", next, NULL),
                !rest->n && !rest->cut ? "unset LD_LIBRARY_PATH"
                : quoted               ? wc_format(c, "export LD_LIBRARY_PATH=", quoted, NULL)
                                       : NULL);
}

static bool take_out(struct wc_case *c, const char *path, const char *next) {
    char rest[800], directory[512];
    struct wc_text t;

    wc_text_begin(&t, rest, sizeof rest);
    if (!search_path_without(c->d->s, path, &t, directory))
        return false;
    report_without(c, directory, &t, rest, next);
    return true;
}

/* An empty element of the list is the directory that the process was in. */
static bool take_out_empty(struct wc_case *c, const struct wc_searched *f, const char *next) {
    const char *list = wc_variable(c->d->s, "LD_LIBRARY_PATH");
    char rest[800];
    struct wc_text t;

    if (!list || !f || f->r.rule != WC_search_rule_LIBRARY_PATH || !f->r.element || *f->r.element)
        return false;
    wc_text_begin(&t, rest, sizeof rest);
    without(list, "", &t);
    report_without(c, "the empty element", &t, rest, next);
    return true;
}

bool wc_fix_search_path(struct wc_case *c, const struct wc_object *o) {
    const struct wc_searched *f = wc_search_of(c->d->s, o);
    const struct wc_candidate *b = f ? wc_candidate_of(c->d->s, f, NULL) : NULL;
    const char *next = b ? wc_format_candidate(c, b) : NULL;

    return take_out_empty(c, f, next) || take_out(c, o->r.path, next) ||
           take_out(c, o->r.real_path, next);
}

void wc_fix_with_copy(struct wc_case *c, const char *path, const char *what) {
    const char *directory = wc_format_directory(c, path);
    const char *quoted = directory ? wc_format_quoted(c, directory) : NULL;

    wc_case_fix(c, WC_ACTION_SET_VARIABLE,
                wc_format(c, "let LD_LIBRARY_PATH name ", directory ? directory : "?", ", where ",
                          what, " is", NULL),
                quoted ? wc_format(c, "export LD_LIBRARY_PATH=", quoted,
                                   "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}", NULL)
                       : NULL);
}

/* ---- the order of loading ---- */

void wc_fix_load_order(struct wc_case *c, const char *host, const struct wc_object *o) {
    wc_case_fix(
        c, WC_ACTION_LOAD_ORDER,
        wc_format(c, "load ", wc_format_name(c, host), " before ",
                  o->r.asked_by ? wc_format_name(c, o->r.asked_by) : "what loaded the other one",
                  " (import its package first), so that its own search decides", NULL),
        NULL);
    wc_case_fix(c, WC_ACTION_REMOVE,
                "or let both find one copy: remove the other, or install releases that share one",
                NULL);
}
