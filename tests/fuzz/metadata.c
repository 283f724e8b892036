/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/packages/metadata.c, distribution.c, installation.c, reading.c: what packages
 * around a file print. The input is a file system (support_paths.h), of which the first file is the
 * host, then a setting: the call at which the file system breaks down.
 */
#include "core/packages/identify.h"
#include "support_paths.h"

enum { SCRATCH = 16384, MOST = 4, PATH = 1024 };

#define ENDED(text) (memchr(text, 0, sizeof(text)) != NULL)

static void check(const struct wc_metadata_demand *d) {
    struct wc_version v;
    struct wc_spec spec;
    MUST(d->kind == WC_demand_kind_BUILT || d->kind == WC_demand_kind_REQUIRED);
    MUST(ENDED(d->spec) && ENDED(d->built) && ENDED(d->package) && ENDED(d->framework));
    MUST(ENDED(d->framework_version) && ENDED(d->source) && ENDED(d->source_path));
    MUST(d->built[0] == 0 || wc_version_parse(d->built, strlen(d->built), &v));
    MUST(d->kind != WC_demand_kind_BUILT || d->built[0] || d->by_file);
    MUST(d->kind != WC_demand_kind_REQUIRED || wc_spec_read(d->spec, &spec));
}

static void check_identity(const struct wc_identity *id) {
    MUST(ENDED(id->installation) && ENDED(id->installation_version));
    MUST(ENDED(id->installation_path));
    MUST(id->version_source == WC_version_source_UNKNOWN || wc_version_known(id->version));
}

static void check_strings(const struct wc_strings *s) {
    for (size_t i = 0; i < s->n; i++)
        MUST(s->p[i] && strlen(s->p[i]) < PATH * 2);
}

static void check_package(void *ctx, struct wc_record *record) {
    const struct wc_package_record *p = &record->u.package;
    (void)ctx;
    MUST(p->package && p->prefix && p->list && p->file_count > 0);
    MUST(p->missing_count <= p->file_count);
    MUST(p->package_state > WC_package_state_UNKNOWN);
    MUST(p->package_state < WC_package_state_COUNT);
    check_strings(&p->missing);
    check_strings(&p->changed);
    check_strings(&p->foreign);
    check_strings(&p->shared_with);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct controls c = {data, size};
    struct paths p = {.calls = 0, .fails_at = take_control(&c)};
    struct wc_files files = {&p, paths_read, paths_facts, paths_list, paths_real_path, NULL, NULL};
    struct wc_identity id;
    char path[PATH];
    paths_read_from(&p, data, c.size);
    if (!p.files || p.file[0].path_n >= sizeof path)
        return 0;
    memcpy(path, p.file[0].path, p.file[0].path_n);
    path[p.file[0].path_n] = 0;
    size_t most = 1 + size % MOST;
    unsigned char *scratch = malloc(SCRATCH);
    bool dpkg_told = false;
    struct wc_metadata_demand *found = calloc(most, sizeof *found);
    MUST(scratch && found);
    size_t n = wc_metadata_demands(&files, path, NULL, scratch, SCRATCH, found, most);
    MUST(n <= most);
    for (size_t i = 0; i < n; i++)
        check(&found[i]);
    free(found);
    p.calls = 0;
    wc_identify(&files, path, NULL, size & 1, scratch, SCRATCH, &id);
    check_identity(&id);
    p.calls = 0;
    wc_packages_near(&files, path, false, &dpkg_told, scratch, SCRATCH,
                     &(struct wc_sink){check_package, NULL});
    free(scratch);
    return 0;
}
