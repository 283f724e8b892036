/* SPDX-License-Identifier: Apache-2.0 */
/* Demand records: which cuDNN a host requires (emit.h). */
#include "core/names/compat.h"
#include "core/names/symbols.h"
#include "emit.h"

#define DEMANDS_MOST 4

static void begin_demand(struct wc_record *r, const struct wc_library *host,
                         enum wc_demand_kind kind, const char *source) {
    wc_record_begin(r, WC_KIND_demand);
    r->u.demand.host = host->number;
    r->u.demand.host_path = host->path;
    r->u.demand.demand_kind = kind;
    r->u.demand.source = source;
    r->u.demand.source_path = host->path;
}

static void emit_major(const struct wc_sink *to, const struct wc_library *host,
                       enum wc_demand_kind kind, const char *source, const char *name) {
    char spec[32];
    int major = wc_name_major(name);
    struct wc_record r;
    if (major <= 0 || wc_name_kind_of(name) != WC_NAME_FACADE)
        return;
    wc_str_format(spec, sizeof spec, "==%d.*", major);
    begin_demand(&r, host, kind, source);
    r.u.demand.spec = spec;
    to->add(to->ctx, &r);
}

static void emit_of_image(const struct wc_sink *to, const struct wc_library *host) {
    struct wc_release_range range = {WC_VERSION_NONE, WC_VERSION_NONE};
    const char *newest[8], *symbol_version = NULL, *needed;
    char spec[WC_VERSION_TEXT + 4], version[WC_VERSION_TEXT];
    struct wc_elf_symbol s;
    struct wc_record r;
    size_t n = 0; /* of the newest: the functions that came last set the oldest possible release */
    int functions = 0, function;
    for (size_t i = 0; (needed = wc_elf_needed(host->image, i)); i++)
        emit_major(to, host, WC_demand_kind_NEEDED, "DT_NEEDED", needed);
    for (uint32_t at = 0; (function = wc_next_import(host->image, &at, &s)) != WC_NO_FUNCTION;) {
        struct wc_version before = range.floor;
        functions++;
        symbol_version = symbol_version ? symbol_version : s.version;
        wc_release_range_imports(&range, function);
        if (wc_version_compare(range.floor, before) != 0)
            n = 0;
        if (wc_version_compare(wc_function_first(function), range.floor) == 0 && n < 8)
            newest[n++] = wc_function_name(function);
    }
    if (symbol_version)
        emit_major(to, host, WC_demand_kind_SYMBOL_VERSION, "symbol version of its imports",
                   symbol_version);
    if (!functions)
        return;
    begin_demand(&r, host, WC_demand_kind_SYMBOLS, "imported functions");
    wc_str_format(spec, sizeof spec, ">=%s", wc_version_format(range.floor, version));
    r.u.demand.spec = wc_version_known(range.floor) ? spec : NULL;
    r.u.demand.function_count = functions;
    r.u.demand.newest_functions = (struct wc_strings){newest, n};
    to->add(to->ctx, &r);
}

/* ---- its package ---- */

static void emit_metadata(const struct wc_sink *to, const struct wc_library *host,
                          const struct wc_metadata_demand *d, const char *built) {
    struct wc_version framework = WC_VERSION_NONE;
    struct wc_record r;
    begin_demand(&r, host, d->kind, d->source);
    r.u.demand.spec = wc_str_or_null(d->spec);
    r.u.demand.package = wc_str_or_null(d->package);
    r.u.demand.built = wc_str_or_null(built);
    r.u.demand.framework = wc_str_or_null(d->framework);
    r.u.demand.framework_version = wc_str_or_null(d->framework_version);
    r.u.demand.source_path = wc_str_or_null(d->source_path);
    wc_version_parse_start(d->framework_version, wc_str_length(d->framework_version), &framework);
    r.u.demand.compatibility_rule = wc_rule_name(wc_rule_of_framework(d->framework, framework));
    to->add(to->ctx, &r);
}

/* At the beginning of the reader's scratch memory. */
struct found {
    struct wc_metadata_demand demand[DEMANDS_MOST];
    struct wc_identity identity;
};

/* The version of a library that need not be loaded, from its contents or name. False: unknown. */
static bool version_of(const char *path, const struct wc_reader *reader,
                       struct wc_identity *identity, char version[WC_VERSION_TEXT]) {
    struct wc_library l;
    if (!reader->open(reader->ctx, path, &l))
        return false;
    bool known = l.image != NULL;
    l.role = wc_name_kind_of(path) == WC_NAME_FACADE ? WC_role_FACADE : WC_role_OTHER;
    if (known)
        wc_library_identify(&l, reader, identity);
    return reader->close(reader->ctx) && known && wc_version_text(identity->version, version);
}

/* A table, or a package's name, shows what the makers of a release built with. A host that is
 * linked with another major was built by others: the demand does not apply to it. */
static bool is_of_another_build(const struct wc_metadata_demand *d, const struct wc_library *host) {
    const char *needed;
    if (d->kind != WC_demand_kind_BUILT || d->by_file || !host->image)
        return false;
    for (size_t i = 0; (needed = wc_elf_needed(host->image, i)); i++) {
        int32_t major = wc_name_kind_of(needed) == WC_NAME_FACADE ? wc_name_major(needed) : -1;
        if (major > 0 && major != wc_version_of(d->built).major)
            return true;
    }
    return false;
}

void wc_emit_demands(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_reader *reader) {
    if (host->image)
        emit_of_image(to, host);
    if (!reader->scratch)
        return;
    struct found *found = reader->scratch;
    struct wc_reader rest = *reader;
    char version[WC_VERSION_TEXT];
    rest.scratch = found + 1;
    rest.scratch_size -= sizeof *found;
    size_t n =
        wc_metadata_demands(rest.files, wc_library_file(host), rest.site ? rest.site() : NULL,
                            rest.scratch, rest.scratch_size, found->demand, DEMANDS_MOST);
    WC_EACH(d, WC_ITEMS(found->demand, n)) {
        if (is_of_another_build(d, host))
            continue;
        if (!d->by_file)
            emit_metadata(to, host, d, d->built);
        else if (version_of(d->source_path, &rest, &found->identity, version))
            emit_metadata(to, host, d, version);
    }
}

void wc_emit_printed(const struct wc_sink *to, const struct wc_library *host, const char *source,
                     const char *framework, const char *rule, const char *built) {
    struct wc_record r;
    begin_demand(&r, host, WC_demand_kind_BUILT, source);
    r.u.demand.source_path = NULL;
    r.u.demand.framework = framework;
    r.u.demand.compatibility_rule = rule;
    r.u.demand.built = built;
    to->add(to->ctx, &r);
}

void wc_emit_expectation(const struct wc_sink *to, const char *source, const char *spec,
                         const char *built) {
    struct wc_record r;
    wc_record_begin(&r, WC_KIND_demand);
    r.u.demand.demand_kind = WC_demand_kind_EXPECTATION;
    r.u.demand.source = source;
    r.u.demand.spec = spec;
    r.u.demand.built = built;
    to->add(to->ctx, &r);
}
