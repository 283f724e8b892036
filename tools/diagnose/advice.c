/* SPDX-License-Identifier: Apache-2.0 */
#include "advice.h"

#include <string.h>

#include "cause.h"
#include "causes/driver.h"
#include "command.h"
#include "core/demand/finding.h"
#include "core/knowledge/frameworks.h"
#include "core/knowledge/programs.h"
#include "core/names/symbols.h"
#include "core/packages/identify.h"
#include "wheels.h"

/* The conditions of findings.def see it as `a`. */
struct asked {
    enum advice_after after;
    const struct wc_stack *s;
    const struct wc_finding_record *f;
    const struct wc_object *host, *object; /* NULL: it is about none */
    struct wc_arena *memory;
};

/* ---- what is known ---- */

static const char *fact(const struct asked *a, enum wc_fact_role role) {
    return wc_fact_value(a->f, role);
}

/* There is no object for what was not loaded: its Python module names it. */
static const char *module_of(const struct asked *a) {
    static const char site[] = "/site-packages/";
    const char *asked = fact(a, WC_FACT_ASKED_FOR), *in = asked ? strstr(asked, site) : NULL;

    in = in ? in + strlen(site) : NULL;
    return in && strchr(in, '/') ? wc_arena_format(a->memory, "%.*s", (int)strcspn(in, "/"), in)
                                 : NULL;
}

static const char *host_name(const struct asked *a) {
    const struct wc_object *host = a->host;
    const struct wc_demand *demand =
        host ? WC_FIRST(d, a->s->demands, d->r.framework && wc_is_demand_by(d, host)) : NULL;
    struct wc_diagnosis d = {.s = a->s, .scratch = a->memory};
    struct wc_case c = {.d = &d};

    if (!host)
        return module_of(a);
    if (wc_is_cudnn(host))
        return NULL;
    return host->r.installation ? host->r.installation
           : demand             ? demand->r.framework
           : wc_path_of(host)   ? wc_format_asker(&c, wc_path_of(host))
                                : NULL;
}

/* What requests a copy that the finding names by a path, of which no other one can make a name. */
static const char *opener_of(const struct asked *a) {
    WC_EACH(o, a->s->objects) {
        const struct wc_object *by = wc_object_of(a->s, o->r.asked_by_object, o->r.asked_by);
        if (o->r.asked_by && o->r.asked_name && strchr(o->r.asked_name, '/') &&
            WC_ANY(one, a->f->facts,
                   wc_fact_role_of(&a->f->facts, one) == WC_FACT_COPY &&
                       wc_has_path(o, one->value)))
            return by && by->r.installation ? by->r.installation : wc_base_name(o->r.asked_by);
    }
    return NULL;
}

/* The first part that was loaded, from another directory than its object, the facade; a package
 * opens its own by their paths. */
static const char *early_part(const struct asked *a) {
    const struct wc_object *o =
        WC_FIRST(part, a->s->objects, part->r.role == WC_role_PART && part->r.mapped);
    const bool is_it = o && a->object && o->r.asked_name && strchr(o->r.asked_name, '/') &&
                       o->r.asked_how == WC_operation_DLOPEN &&
                       !wc_is_of_environment(o->r.installation_kind) &&
                       !wc_is_cudnn(wc_object_of(a->s, o->r.asked_by_object, o->r.asked_by)) &&
                       !wc_same_directory(wc_real_path_of(o), wc_real_path_of(a->object));

    return is_it ? wc_path_of(o) : NULL;
}

/* What opened its object, if the host did not; what it is bundled with. */
static const char *first_of(const struct asked *a) {
    const struct wc_object *o = a->object,
                           *by = o ? wc_object_of(a->s, o->r.asked_by_object, o->r.asked_by) : NULL;

    return by && by != a->host && by->r.installation                     ? by->r.installation
           : o && o->r.installation_kind == WC_installation_kind_BUNDLED ? o->r.installation
                                                                         : NULL;
}

static const char *wheel_of(const struct asked *a) {
    const char *missing = fact(a, WC_FACT_MISSING) ?: fact(a, WC_FACT_ASKED_FOR), *spec;
    const bool has_wheels =
        module_of(a) ||
        WC_ANY(p, a->s->packages, p->r.installation_kind == WC_installation_kind_WHEEL) ||
        WC_ANY(o, a->s->objects, o->r.installation_kind == WC_installation_kind_WHEEL);

    return missing && has_wheels ? wheel_with(a->memory, wc_base_name(missing), -1, &spec) : NULL;
}

/* NULL: not known, or a newer release does not have one of them. */
static const char *least_release(const struct asked *a) {
    struct wc_version least = WC_VERSION_NONE;
    char text[WC_VERSION_TEXT];

    WC_EACH(x, a->f->facts) {
        const int function = wc_function_find(x->name);
        if (function == WC_NO_FUNCTION)
            continue;
        if (wc_version_known(wc_function_last(function)))
            return NULL;
        if (wc_version_compare(wc_function_first(function), least) > 0)
            least = wc_function_first(function);
    }
    return wc_version_known(least) ? wc_arena_string(a->memory, wc_version_format(least, text))
                                   : NULL;
}

static bool is_mounted(const struct wc_object *o) {
    return o->r.installation_kind == WC_installation_kind_CONTAINER_MOUNT;
}

/* Of its object; of a facade also that of the part that is mounted next to it. */
static const char *mount_of(const struct asked *a) {
    const struct wc_object *o = a->object;

    if (o && !is_mounted(o) && o->r.role == WC_role_FACADE)
        o = WC_FIRST(part, a->s->objects,
                     part->r.role == WC_role_PART && part->r.mapped && is_mounted(part));
    return o && is_mounted(o) ? o->r.mount : NULL;
}

/* What was looked at of a file; NULL: nothing was. */
static const struct wc_file_record *file_at(const struct wc_stack *s, const char *path) {
    const struct wc_file *found =
        path ? WC_FIRST(one, s->files, wc_str_same(one->r.path, path)) : NULL;

    return found ? &found->r : NULL;
}

static enum wc_file_fault fault_of(const struct asked *a) {
    const struct wc_file_record *file = file_at(a->s, fact(a, WC_FACT_FILE));

    return file ? file->fault : WC_file_fault_UNKNOWN;
}

static enum wc_system_refusal refusal_of(const struct asked *a) {
    const char *path = fact(a, WC_FACT_FILE);
    const struct wc_failure *failure =
        WC_FIRST(f, a->s->failures, f->reason == WC_REASON_SYSTEM && wc_str_same(f->culprit, path));

    return failure ? failure->refusal : WC_SYSTEM_NOTHING;
}

/* Of the copy with which that fact begins: does nothing refuse it, as far as that is known? */
static bool suits(const struct asked *a, enum wc_fact_role role) {
    const char *path = wc_fact_path(a->f, role);
    const struct wc_candidate *copy =
        path ? WC_FIRST(c, a->s->candidates, wc_str_same(c->r.path, path)) : NULL;

    return path && !(copy && wc_version_known(copy->version) &&
                     WC_ANY(d, a->s->demands,
                            (d->r.demand_kind == WC_demand_kind_EXPECTATION || !a->host ||
                             wc_is_demand_by(d, a->host)) &&
                                wc_demand_refuses(&d->r, copy->version)));
}

static bool is_package(const struct wc_object *o) {
    return o->r.installation && wc_is_of_environment(o->r.installation_kind);
}

/* The package that is the build for GPUs of the package for only the processor: of another name, or
 * its own; NULL: it is of no package, or of one with unknown builds. */
static const char *gpu_build_of(const struct wc_object *o) {
    if (!o || !is_package(o))
        return NULL;
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->gpu_builds, package)
            if (row->kind == o->r.installation_kind && wc_str_same(row->package, o->r.installation))
                return row->of_gpu;
    return o->r.installation;
}

/* ---- when a sentence holds ---- */

/* A facade that a package contains without parts works with parts in a folder of their own. */
static bool is_in_conflict(const struct asked *a) {
    return a->after == ADVICE_CONFLICT &&
           (a->f->severity == WC_severity_ERROR || fact(a, WC_FACT_SHARED_WITH)) &&
           !(a->object && wc_is_grafted(a->object));
}

/* The variable put the loaded one before another. */
static bool has_one_behind(const struct asked *a) {
    const struct wc_searched *search = a->object ? wc_search_of(a->s, a->object) : NULL;

    return search && search->r.rule == WC_search_rule_LIBRARY_PATH && suits(a, WC_FACT_BEHIND_IT);
}

static bool is_in_variable(const struct asked *a) {
    const char *path = fact(a, WC_FACT_FILE)  ?: fact(a, WC_FACT_GOT)
                       ?: fact(a, WC_FACT_LIBCUDA) ?: fact(a, WC_FACT_LIBRARY);
    const struct wc_object o = wc_file_as_object(file_at(a->s, fact(a, WC_FACT_FILE)), path);

    return path && wc_in_search_path(a->s, &o);
}

/* A file was there, and the loader had other words than that it was not found. */
static bool is_refused(const struct asked *a) {
    const char *said = fact(a, WC_FACT_LOADER_SAID);
    char room[WC_SAID_ROOM];

    return said && wc_said_read(said, room).what != WC_SAID_NOT_FOUND;
}

/* The loader searches for no name that has a slash. */
static bool is_by_path(const struct asked *a) {
    const char *asked = fact(a, WC_FACT_ASKED_FOR) ?: fact(a, WC_FACT_NEEDS);

    return asked && strchr(asked, '/') && wc_name_is_cudnn(asked);
}

/* What was built for one major, where another is in the process, or where it looks and nothing that
 * was played is a way out; and no copy of its own is known. */
static bool is_of_other_build(const struct asked *a) {
    const int32_t wants = wc_name_read(fact(a, WC_FACT_WHICH_NEEDS)).version.major;

    if (wants < 0 || fact(a, WC_FACT_A_COPY_IS_IN))
        return false;
    return (a->after != ADVICE_UNPLAYED && fact(a, WC_FACT_ANOTHER_MAJOR_IS_THERE)) ||
           WC_ANY(o, a->s->objects,
                  o->r.role == WC_role_FACADE && o->r.mapped && wc_major_of(o) >= 0 &&
                      wc_major_of(o) != wants);
}

/* Something next to cuDNN was built for another CUDA. */
static bool is_of_other_cuda(const struct asked *a) {
    const int32_t wants = wc_name_cuda(fact(a, WC_FACT_MISSING));
    /* By what is in the process, else by the packages near it, else by what was searched. */
    int32_t there = wc_cuda_of_dependencies(a->s);

    WC_EACH(p, a->s->packages)
        if (there < 0 && p->r.package)
            there = wc_cuda_in_package(p->r.package);
    WC_EACH(file, a->s->files)
        if (there < 0 && !file->r.fault)
            there = wc_name_cuda(wc_base_name(file->r.path));
    return a->after != ADVICE_UNPLAYED && wants > 0 && there > 0 && wants != there &&
           wc_name_kind_of(fact(a, WC_FACT_ASKED_FOR)) == WC_NAME_OTHER;
}

/* A function that releases before the found one had (dlib#2140). */
static bool is_gone(const struct asked *a) {
    const char *function = fact(a, WC_FACT_WANTED_FUNCTION), *found = fact(a, WC_FACT_VERSION);
    const struct wc_version last = wc_function_last(wc_function_find(function));

    return wc_version_known(last) && found &&
           wc_version_compare(wc_version_filled(last, INT32_MAX, INT32_MAX), wc_version_of(found)) <
               0;
}

/* A part that requires another CUDA than its package is made for did not come with that package. */
static bool is_of_other_package(const struct asked *a) {
    int32_t wants = wc_name_cuda(fact(a, WC_FACT_MISSING));
    int32_t made_for = a->object ? wc_cuda_in_package(a->object->r.installation) : -1;

    return wants >= 0 && made_for >= 0 && wants != made_for;
}

/* ---- the sentence ---- */

static const char *directory_of(const struct asked *a, const char *path) {
    return path ? wc_arena_format(a->memory, "%.*s", (int)wc_dir_length(path), path) : NULL;
}

static const char *value_of(void *asked, const char *word) {
    const struct asked *a = asked;
    const struct wc_object *o = a->object;
    const char *package = fact(a, WC_FACT_PACKAGE); /* "NAME VERSION (wheel) in PATH" */
#define IS(known) (strcmp(word, known) == 0)
    const char *value =
        IS("host")      ? host_name(a)
        : IS("package") ? package ?: (o ? o->r.installation : NULL)
        : IS("release")
            ? (package ? wc_arena_format(a->memory, "%.*s", (int)strcspn(package, "("), package)
                       : NULL)
        : IS("framework")                 ? (o ? o->r.framework : NULL)
        : IS("directory")                 ? (o ? directory_of(a, wc_path_of(o)) : NULL)
        : IS("mount")                     ? mount_of(a)
        : IS("opener")                    ? opener_of(a)
        : IS("early part")                ? early_part(a)
        : IS("first")                     ? first_of(a)
        : IS("wheel")                     ? wheel_of(a)
        : IS("least release")             ? least_release(a)
        : IS("cause")                     ? a->f->explained_by
        : IS("gpu build")                 ? gpu_build_of(o)
        : IS("machine")                   ? a->s->machine.architecture
        : wc_str_starts(word, "path of ") ? wc_fact_path(a->f, wc_fact_role_named(word + 8))
        : wc_str_starts(word, "directory of ")
            ? directory_of(a, wc_fact_path(a->f, wc_fact_role_named(word + 13)))
            : fact(a, wc_fact_role_named(word));
#undef IS

    return value && *value ? value : NULL;
}

struct advice advice_for(const struct wc_stack *s, const struct wc_finding_record *f,
                         enum advice_after after, struct wc_arena *memory) {
    const struct wc_object *o = wc_stack_object(s, f->object);
    struct asked asked = {after, s, f, wc_stack_object(s, f->host), o, memory}, *a = &asked;
    const char *text;
    bool is_of_it = true;

#define HAS(role) fact(a, WC_FACT_##role)
#define KIND(role) wc_name_kind_of(HAS(role))
#define IS_CUDNN(role) (HAS(role) && wc_name_is_cudnn(HAS(role)))
#define SUITS(role) suits(a, WC_FACT_##role)
#define FAULT(name) (fault_of(a) == WC_file_fault_##name)
#define REFUSAL(name) (refusal_of(a) == WC_SYSTEM_##name)
#define STATE(words) (HAS(DRIVER_STATE) && strstr(HAS(DRIVER_STATE), words))
#define FINDING(name, id, severity, title) is_of_it = is_a(f, id);
#define ADVICE(holds, act, words)                                                                  \
    if (is_of_it && (holds) && (text = template_filled(memory, words, value_of, a)))               \
        return (struct advice){WC_ACTION_##act, text};
#include "core/demand/findings.def"
    return (struct advice){WC_ACTION_CHECK,
                           "whichcudnn explain describes the causes of such findings"};
}

/* ---- what it asks for, as an edit ---- */

/* Those that require what is there, of a host whose pins are known. */
static const char *releases_for(struct wc_arena *memory, const struct wc_stack *s,
                                const struct wc_object *host, const struct wc_object *library) {
    const char *installation = library ? library->r.installation : NULL;
    const struct wc_version there = library ? wc_runtime_of(s, library).range.low : WC_VERSION_NONE;
    const int32_t cuda = wc_cuda_of_host(s, host).major;
    const char *wheel = /* NVIDIA's that has the cuDNN, or would */
        installation && wc_str_starts(installation, "nvidia-cudnn-")
            ? wc_arena_format(memory, "%.*s", (int)strcspn(installation, " "), installation)
        : cuda > 0 ? wc_arena_format(memory, "nvidia-cudnn-cu%d", cuda)
                   : NULL;
    const char *releases = wheel && host->r.installation && wc_version_known(there)
                               ? host_releases(memory, host->r.installation, wheel, there)
                               : NULL;

    /* What it has itself is not the way out. */
    return releases &&
                   wc_text_accepts(releases, wc_version_of(host->r.installation_version)) != WC_YES
               ? releases
               : "";
}

static const char *site_with(struct wc_arena *memory, const struct wc_object *host) {
    const char *path = wc_path_of(host);
    const size_t n = path ? wc_environment_length(path) : 0;
    const char *site = n ? wc_arena_format(memory, "%.*s", (int)n, path) : NULL;

    return site && wc_str_ends(site, "-packages") ? site : NULL;
}

static struct edit host_edit(struct wc_arena *memory, const struct wc_stack *s,
                             const struct wc_finding_record *f) {
    const struct wc_object *host = wc_stack_object(s, f->host),
                           *library = wc_stack_object(s, f->object);
    const char *file = wc_fact_value(f, WC_FACT_WHICH_NEEDS) || wc_fact_value(f, WC_FACT_MISSING)
                           ? wc_fact_value(f, WC_FACT_ASKED_FOR)
                           : NULL;
    struct edit e = {.kind = EDIT_HOST, .value = ""};

    if (file) { /* it was not loaded, and the host opened it */
        e.name = wc_arena_format(memory, "%s", wc_base_name(file));
        return e;
    }
    if (!host && library && wc_is_grafted(library)) { /* a package's own; another has one, too */
        host =
            WC_FIRST(o, s->objects,
                     wc_wants_cudnn(o) && wc_str_same(o->r.installation, library->r.installation));
        library = WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE && !wc_is_grafted(o));
    }
    if (!host)
        host = library;
    if (!host || wc_is_cudnn(host))
        return e;
    if (!wc_is_cudnn(library))
        library = WC_FIRST(o, s->objects, o->r.role == WC_role_FACADE);
    e.name = is_package(host) ? host->r.installation : wc_base_name(wc_name_of(host));
    if (is_package(host))
        e.value = releases_for(memory, s, host, library);
    if (*e.value) /* without, the package to install is unknown */
        e.environment = site_with(memory, host);
    return e;
}

bool beyond_host(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, struct edit *out) {
    if (!asks(f, OTHER_HOST))
        return false;
    *out = host_edit(memory, s, f);
    /* Of two packages in one folder the host is to require the other one. */
    return out->name &&
           (*out->value || !(wc_fact_value(f, WC_FACT_SHARED_WITH) || is_a(f, "part-missing")));
}

/* A newer release of the package that has the library in which a function is not; where nothing of
 * a package is in the way, an older one of a cuDNN that was built for a newer system, and which of
 * them, nothing says. false: no package has it. */
static bool release_edit(struct wc_arena *memory, const struct wc_stack *s,
                         const struct wc_finding_record *f, struct edit *out) {
    const char *refused = wc_fact_value(f, WC_FACT_REFUSED);
    const char *library = wc_fact_path(f, WC_FACT_LIBRARY);
    const struct wc_object looked_at = wc_file_as_object(file_at(s, library), library),
                           *o = wc_stack_object(s, f->object) ?: &looked_at;
    const bool is_newer = is_package(o) && !wc_is_cudnn(o) &&
                          !(refused && wc_name_is_cudnn(refused)) &&
                          wc_fact_value(f, WC_FACT_WANTED_FUNCTION) &&
                          wc_same_library(wc_base_name(wc_real_path_of(o)),
                                          wc_fact_value(f, WC_FACT_WANTED_SYMBOL_VERSION), true);
    const struct wc_package *p = WC_FIRST(
        one, s->packages,
        refused && one->r.installation_path &&
            wc_is_below(refused, one->r.installation_path, strlen(one->r.installation_path)));
    const char *version = is_newer ? o->r.installation_version : p ? p->r.package_version : NULL;
    const int32_t major = version ? wc_version_of(version).major : -1;

    if (!is_a(f, "symbol-version-not-found") || major < 0 || !(is_newer || p->r.package))
        return false;
    *out = is_newer ? (struct edit){.kind = EDIT_INSTALL,
                                    .name = o->r.installation,
                                    .value = wc_arena_format(memory, ">%s,<%d", version, major + 1),
                                    .environment = site_with(memory, o) ?: o->r.installation_path}
                    : (struct edit){.kind = EDIT_INSTALL,
                                    .name = p->r.package,
                                    .value = wc_arena_format(memory, ">=%d,<%s", major, version)};
    return true;
}

/* Where both are installed, what the other one overwrote is put back; that one stays, since a
 * package may require it. Where only that one is, which release is wanted is the user's affair. */
static bool gpu_build_edit(struct wc_arena *memory, const struct wc_stack *s,
                           const struct wc_finding_record *f, const struct wc_files *files,
                           struct edit *out) {
    const struct wc_object *o = wc_stack_object(s, f->object);
    const char *name = gpu_build_of(o);

    if (!is_a(f, "cpu-only-build") || !name)
        return false;
    const bool is_same = wc_str_same(name, o->r.installation); /* it counts as installed */
    const char *site = is_same ? NULL : site_with(memory, o);
    const char *there =
        files && site ? wheel_installed((struct view){memory, files}, site, name, NULL) : NULL;
    *out = (struct edit){.kind = there ? EDIT_REINSTALL : EDIT_HOST,
                         .name = name,
                         .value = there ? wc_arena_format(memory, "==%s", there) : "",
                         .environment = site};
    return true;
}

bool beyond_edit(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, const struct wc_files *files,
                 enum wc_action action, const char *text, struct edit *out) {
    const char *least = wc_fact_value(f, WC_FACT_LEAST_DRIVER);
    const struct wc_object *o = wc_stack_object(s, f->object);
    const struct wc_package *package = WC_FIRST(
        p, s->packages,
        o && p->r.installation_path && wc_str_same(p->r.installation_path, o->r.installation_path));

    switch (action) {
    case WC_ACTION_UPGRADE_HOST:
        *out = host_edit(memory, s, f);
        return true;
    case WC_ACTION_DRIVER:
        *out = (struct edit){.kind = EDIT_DRIVER,
                             .value = least ? wc_arena_format(memory, ">=%s", least) : ""};
        return true;
    case WC_ACTION_ALLOW:
        *out = (struct edit){.kind = EDIT_SYSTEM, .value = text};
        return true;
    case WC_ACTION_INSTALL:
        return gpu_build_edit(memory, s, f, files, out) || release_edit(memory, s, f, out);
    case WC_ACTION_REINSTALL:
        if (package)
            *out = (struct edit){.kind = EDIT_REINSTALL,
                                 .name = package->r.package,
                                 .value = package->r.package_version,
                                 .environment = package->r.prefix};
        return package;
    case WC_ACTION_RESTART:
        *out = (struct edit){.kind = EDIT_RESTART};
        return true;
    default:
        return false;
    }
}
