/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <limits.h>
#include <string.h>

#include "core/findings/finding.h"
#include "core/packages/distribution.h"
#include "core/packages/identify.h"

const char *find_environment_of(struct finding_of *f, const char *path) {
    size_t n = path ? wc_environment_length(path) : 0;
    const char *environment = n ? find_format(f, "%.*s", (int)n, path) : NULL;
    struct wc_file_stat facts;

    if (!environment)
        return NULL;
    if (wc_str_ends(environment, "-packages"))
        return find_real_path(f, environment);
    for (n = wc_dir_length(path); n > 1; n = wc_dir_above(path, n)) {
        const char *prefix = find_format(f, "%.*s", (int)n, path);
        if (f->files->facts(f->files->ctx, find_format(f, "%s/conda-meta", prefix), &facts))
            return find_real_path(f, prefix);
    }
    return NULL;
}

const char *find_prefix_of(struct finding_of *f, const struct wc_package_record *p) {
    return p->prefix ? find_real_path(f, p->prefix) : NULL;
}

bool find_is_conda(const char *environment) {
    return environment && !wc_str_ends(environment, "-packages");
}

/* The release of a wheel that counts as installed; NULL: none does. */
struct installed {
    struct finding_of *f;
    char name[96];
    const char *version;
};

static bool is_installed(void *installed, const char *entry) {
    struct installed *i = installed;
    const char *dash = strchr(entry, '-');
    const size_t suffix = strlen(".dist-info");
    char name[96];

    if (!dash || !wc_str_ends(entry, ".dist-info"))
        return true;
    wc_distribution_normalise(entry, (size_t)(dash - entry), name, sizeof(name));
    if (strcmp(name, i->name) == 0)
        i->version = find_format(i->f, "%.*s", (int)(strlen(dash + 1) - suffix), dash + 1);
    return !i->version;
}

const char *find_installed_version(struct finding_of *f, const char *site, const char *package) {
    struct installed i = {.f = f};

    wc_distribution_normalise(package, strlen(package), i.name, sizeof(i.name));
    f->files->list(f->files->ctx, site, is_installed, &i);
    return i.version;
}

void find_add_environment(struct environments *to, const char *environment) {
    for (size_t i = 0; i < to->n; i++)
        if (wc_str_same(to->p[i], environment))
            return;
    if (environment && to->n < ENVIRONMENTS_MOST)
        to->p[to->n++] = environment;
}

struct environments find_environments_of(struct finding_of *f, const struct wc_failure *failure) {
    const struct wc_object *caller = wc_caller_of(f->s, failure);
    const struct wc_searched *search = wc_search_in_vain(f->s, failure);
    const char *of_venv = wc_variable(f->s, "VIRTUAL_ENV");
    const char *of_conda = wc_variable(f->s, "CONDA_PREFIX");
    struct environments all = {.n = 0};
    char site[PATH_MAX];

    find_add_environment(&all,
                         find_environment_of(f, caller ? wc_path_of(caller) : failure->r.caller));
    if (failure->r.name && failure->r.name[0] == '/')
        find_add_environment(&all, find_environment_of(f, failure->r.name));
    if (search)
        WC_EACH(looked, search->r.searched) {
            const char *directory = strstr(*looked, " /");
            if (directory)
                find_add_environment(&all,
                                     find_environment_of(f, find_format(f, "%s/", directory + 1)));
        }
    if (wc_process_site(f->files, f->s->process.executable, of_venv, site, sizeof(site)))
        find_add_environment(&all, find_environment_of(f, find_format(f, "%s", site)));
    if (of_conda)
        find_add_environment(&all, find_environment_of(f, find_format(f, "%s/lib/", of_conda)));
    return all;
}
