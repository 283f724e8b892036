/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scan has seen, and what of that loads a host. An extension of Python, or a program,
 * needs it, or needs what needs it: its DT_RPATH then counts in the host's own searches, and wheels
 * rely on that.
 */
#include <stdlib.h>
#include <string.h>

#include "scan_inside.h"

#define GRAFTED ".libs/" /* after the name of what auditwheel repaired */

void scan_host_add(struct scan *s, struct library *b, const char *path, bool is_program) {
    size_t n = is_program ? strlen(path) : wc_environment_length(path);

    if (b->listed && WC_ANY(h, s->hosts, !is_program || strcmp(h->path, path) == 0))
        return;
    b->listed = true;
    *MUST_ADD(s->hosts.p, s->hosts.n) = (struct scan_host){
        KEEP(s, "%s", path), b, KEEP(s, "%.*s", (int)n, path), is_program, false};
}

const char *scan_file_in(const struct scan *s, const char *environment, const char *name) {
    const size_t n = strlen(environment);
    const struct scan_file *file =
        WC_FIRST(f, s->seen,
                 strncmp(f->path, environment, n) == 0 && f->path[n] == '/' &&
                     strcmp(wc_base_name(f->path), name) == 0);

    return file ? file->path : NULL;
}

bool scan_is_site(const char *environment) {
    const char *name = wc_base_name(environment);

    return strcmp(name, "site-packages") == 0 || strcmp(name, "dist-packages") == 0;
}

/* ---- where they lie ---- */

/* Files of a package have its folder's name, and then one of these: "x/_ext.so", "x.abi3.so",
 * "x.libs/libx-1a2b3c4d.so". */
static bool is_within(const char *path, const char *stem) {
    size_t n = strlen(stem);

    return strncmp(path, stem, n) == 0 && (path[n] == '/' || path[n] == '.');
}

char *scan_package(const char *path, const char *environment) {
    size_t site = strlen(environment), n = wc_dir_length(path);

    if (scan_is_site(environment))
        n = site + 1 + strcspn(path + site + 1, "/.");
    else if (wc_dir_above(path, n) > 1)
        n = wc_dir_above(path, n); /* of lib/ and bin/ */
    return must_format("%.*s", (int)n, path);
}

/* The folder of grafted libraries has the name of the distribution, which may be another than that
 * of what Python imports. */
static char *scope_of(const struct scan *s, const struct scan_host *h) {
    char *package = scan_package(h->path, h->environment);
    size_t n = strlen(package);

    if (!scan_is_site(h->environment))
        return package;
    if (WC_ANY(f, s->seen,
               is_within(f->path, package) &&
                   strncmp(f->path + n, GRAFTED, sizeof(GRAFTED) - 1) != 0))
        return package;
    free(package);
    return must_copy(h->environment);
}

/* ---- what needs what ---- */

static bool needs(const struct library *b, const struct library *wanted) {
    const char *soname = wanted->search.soname;

    for (const char **name = b->needed; *name; name++)
        if (strcmp(*name, soname ? soname : wc_base_name(wanted->about.path)) == 0)
            return true;
    return false;
}

static void add(struct scan_importers *to, const struct scan_file *f, struct library *b) {
    if (!WC_ANY(one, *to, one->library == b))
        *MUST_ADD(to->p, to->n) = (struct scan_importer){f ? f->path : NULL, b};
}

/* Python's own, by their names. */
static bool is_extension(const char *path) {
    const char *name = wc_base_name(path);

    return strstr(name, ".cpython-") || strstr(name, ".abi3.");
}

/* Those that need `at`; how many. */
static size_t add_importers(struct scan *s, const char *scope, const struct library *at,
                            struct scan_importers *known, struct scan_importers *programs) {
    size_t found = 0;

    WC_EACH(f, s->seen) {
        struct library *b =
            is_within(f->path, scope) ? library_cache_get(&s->library_cache, f->path, NULL) : NULL;
        if (!b || !b->is_elf || b == at || !needs(b, at))
            continue;
        found++;
        add(f->is_program ? programs : known, f, b);
    }
    return found;
}

void scan_importers_of(struct scan *s, const struct scan_host *h, struct scan_importers *roots,
                       struct scan_importers *programs) {
    OWNED char *scope = scope_of(s, h);
    struct scan_importers known = {.n = 0};

    add(&known, NULL, h->library);
    for (size_t i = 0; i < known.n; i++) {
        struct scan_importer one = known.p[i];
        if (add_importers(s, scope, one.library, &known, programs) == 0 && i > 0)
            *MUST_ADD(roots->p, roots->n) = one;
    }
    /* The first that Python imports is before the others. */
    for (size_t i = 1; i < roots->n && !is_extension(roots->p[0].path); i++)
        if (is_extension(roots->p[i].path)) {
            struct scan_importer first = roots->p[i];
            roots->p[i] = roots->p[0];
            roots->p[0] = first;
        }
    free(known.p);
}
