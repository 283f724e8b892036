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

/* The major in a facade's name; 0: there is none. libcudnn.so.7.0 is cuDNN 3, numbered after CUDA.
 */
static int major_named(const char *name) {
    struct wc_name read = wc_name_read(name);
    return read.kind == WC_NAME_FACADE && read.version.major > 0 && read.version.minor < 0
               ? (int)read.version.major
               : 0;
}

static void emit_major(const struct wc_sink *to, const struct wc_library *host,
                       enum wc_demand_kind kind, const char *source, const char *name) {
    char spec[32];
    int major = major_named(name);
    struct wc_record r;
    if (!major)
        return;
    wc_str_format(spec, sizeof spec, "==%d.*", major);
    begin_demand(&r, host, kind, source);
    r.u.demand.spec = spec;
    to->add(to->ctx, &r);
}

struct imports {
    int functions;
    struct wc_release_range range;
    const char *symbol_version; /* of the first import that has one */
    const char *newest[8];
    size_t newest_count;
};

/* Keeps the names of the functions that came last: they set the oldest possible release. */
static void note_newest(struct imports *in, int function) {
    struct wc_version before = in->range.floor;
    wc_release_range_imports(&in->range, function);
    struct wc_version first = wc_function_first(function);
    if (wc_version_compare(in->range.floor, before) != 0)
        in->newest_count = 0;
    if (wc_version_compare(first, in->range.floor) == 0 && in->newest_count < 8)
        in->newest[in->newest_count++] = wc_function_name(function);
}

static void read_imports(const struct wc_elf_image *e, struct imports *in) {
    uint32_t end = wc_elf_imports_end(e);
    wc_mem_set(in, 0, sizeof *in);
    in->range.floor = in->range.ceiling = WC_VERSION_NONE;
    for (uint32_t i = 1; i < end; i++) {
        int function = wc_function_find(wc_elf_symbol_name(e, i));
        struct wc_elf_symbol s;
        if (function == WC_NO_FUNCTION || !wc_elf_symbol_at(e, i, &s) || s.defined)
            continue;
        in->functions++;
        in->symbol_version = in->symbol_version ? in->symbol_version : s.version;
        note_newest(in, function);
    }
}

static void emit_symbols(const struct wc_sink *to, const struct wc_library *host,
                         const struct imports *in) {
    char spec[WC_VERSION_TEXT + 4], version[WC_VERSION_TEXT];
    struct wc_record r;
    begin_demand(&r, host, WC_demand_kind_SYMBOLS, "imported functions");
    wc_str_format(spec, sizeof spec, ">=%s", wc_version_format(in->range.floor, version));
    r.u.demand.spec = wc_version_known(in->range.floor) ? spec : NULL;
    r.u.demand.function_count = in->functions;
    r.u.demand.newest_functions = (struct wc_strings){in->newest, in->newest_count};
    to->add(to->ctx, &r);
}

static void emit_of_image(const struct wc_sink *to, const struct wc_library *host) {
    struct imports in;
    const char *needed;
    for (size_t i = 0; (needed = wc_elf_needed(host->image, i)); i++)
        emit_major(to, host, WC_demand_kind_NEEDED, "DT_NEEDED", needed);
    read_imports(host->image, &in);
    if (in.symbol_version)
        emit_major(to, host, WC_demand_kind_SYMBOL_VERSION, "symbol version of its imports",
                   in.symbol_version);
    if (in.functions)
        emit_symbols(to, host, &in);
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
        int major = major_named(needed);
        if (major && major != wc_version_of(d->built).major)
            return true;
    }
    return false;
}

static void emit_of_package(const struct wc_sink *to, const struct wc_library *host,
                            const struct wc_reader *reader) {
    struct found *found = reader->scratch;
    struct wc_reader rest = *reader;
    char version[WC_VERSION_TEXT];
    rest.scratch = found + 1;
    rest.scratch_size -= sizeof *found;
    size_t n =
        wc_metadata_demands(rest.files, wc_library_file(host), rest.site ? rest.site() : NULL,
                            rest.scratch, rest.scratch_size, found->demand, DEMANDS_MOST);
    for (size_t i = 0; i < n; i++) {
        const struct wc_metadata_demand *d = &found->demand[i];
        if (is_of_another_build(d, host))
            continue;
        if (!d->by_file)
            emit_metadata(to, host, d, d->built);
        else if (version_of(d->source_path, &rest, &found->identity, version))
            emit_metadata(to, host, d, version);
    }
}

void wc_emit_demands(const struct wc_sink *to, const struct wc_library *host,
                     const struct wc_reader *reader) {
    if (host->image)
        emit_of_image(to, host);
    if (reader->scratch)
        emit_of_package(to, host, reader);
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
