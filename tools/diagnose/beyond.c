/* SPDX-License-Identifier: Apache-2.0 */
#include "beyond.h"

#include <string.h>

#include "cause.h"
#include "core/knowledge/frameworks.h"
#include "core/packages/identify.h"
#include "wheels.h"

/* Those that require what is there, of a host whose pins are known. */
static const char *releases_for(struct wc_arena *memory, const struct wc_stack *s,
                                const struct wc_object *host, const struct wc_object *library) {
    const char *installation = library ? library->r.installation : NULL, *extra;
    const struct wc_version there = library ? wc_runtime_of(s, library).range.low : WC_VERSION_NONE;
    const int32_t cuda = wc_cuda_of_host(s, host).major;
    const char *wheel = /* NVIDIA's that has the cuDNN, or would */
        installation && wc_str_starts(installation, "nvidia-cudnn-")
            ? wc_arena_format(memory, "%.*s", (int)strcspn(installation, " "), installation)
        : cuda > 0 ? wc_arena_format(memory, "nvidia-cudnn-cu%d", cuda)
                   : NULL;
    const char *releases = wheel && host->r.installation && wc_version_known(there)
                               ? host_releases(memory, host->r.installation, wheel, there, &extra)
                               : NULL;

    /* What it has itself is not the way out. */
    return releases &&
                   wc_text_accepts(releases, wc_version_of(host->r.installation_version)) != WC_YES
               ? releases
               : "";
}

static bool is_package(const struct wc_object *o) {
    return o->r.installation && wc_is_of_environment(o->r.installation_kind);
}

static const char *site_of(struct wc_arena *memory, const struct wc_object *host) {
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
        e.environment = site_of(memory, host);
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

/* An older release of a cuDNN that was built for a newer system; false: no package has it. */
static bool older_edit(struct wc_arena *memory, const struct wc_stack *s,
                       const struct wc_finding_record *f, struct edit *out) {
    const char *refused = wc_fact_value(f, WC_FACT_REFUSED);
    const struct wc_package *p = WC_FIRST(
        one, s->packages,
        refused && one->r.installation_path &&
            wc_is_below(refused, one->r.installation_path, strlen(one->r.installation_path)));
    const struct wc_version there =
        p && p->r.package_version ? wc_version_of(p->r.package_version) : WC_VERSION_NONE;

    if (!is_a(f, "symbol-version-not-found") || !wc_version_known(there) || !p->r.package)
        return false;
    *out = (struct edit){.kind = EDIT_INSTALL,
                         .name = p->r.package,
                         .value =
                             wc_arena_format(memory, ">=%d,<%s", there.major, p->r.package_version),
                         .environment = p->r.prefix};
    return true;
}

const char *beyond_gpu_build(const struct wc_object *o) {
    if (!o || !is_package(o))
        return NULL;
    WC_EACH_FRAMEWORK(f)
        WC_EACH_KNOWN(row, f->gpu_builds, package)
            if (row->kind == o->r.installation_kind && wc_str_same(row->package, o->r.installation))
                return row->of_gpu;
    return o->r.installation;
}

/* The release is not stated: that is the framework's affair. */
static bool gpu_build_edit(struct wc_arena *memory, const struct wc_stack *s,
                           const struct wc_finding_record *f, struct edit *out) {
    const struct wc_object *o = wc_stack_object(s, f->object);
    const char *name = beyond_gpu_build(o);

    if (!is_a(f, "cpu-only-build") || !name)
        return false;
    *out = (struct edit){.kind = EDIT_HOST, .name = name, .value = ""};
    if (!wc_str_same(name, o->r.installation)) /* of the same name it counts as installed */
        out->environment = site_of(memory, o);
    return true;
}

bool beyond_edit(struct wc_arena *memory, const struct wc_stack *s,
                 const struct wc_finding_record *f, enum wc_action action, const char *text,
                 struct edit *out) {
    const char *least = wc_fact_value(f, WC_FACT_LEAST_DRIVER);

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
        return gpu_build_edit(memory, s, f, out) || older_edit(memory, s, f, out);
    case WC_ACTION_RESTART:
        *out = (struct edit){.kind = EDIT_RESTART};
        return true;
    default:
        return false;
    }
}
