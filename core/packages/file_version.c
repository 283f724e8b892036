/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of a file, source after source. Each was tried on the releases of PyPI from 8.5 to
 * 9.28, and on the 7.6.5 of a CuPy wheel. Nothing inside contains the version of an 8.x facade,
 * of 8.x adv_train on aarch64, of 9.x heuristic and ext, and of 9.x cnn on aarch64.
 */
#include "core/elf/elf_inside.h"
#include "core/names/names.h"
#include "core/names/symbols.h"
#include "core/names/version_code.h"
#include "identify.h"

enum { LINE = 64, BUILD_TEXT_LENGTH = 64 };

/* The texts lie near the beginning of .rodata, which follows .fini in every release seen. */
#define BUILD_TEXT_WITHIN (4u << 20)

struct version_query {
    struct wc_reading *r;
    const char *path;                 /* real path */
    const struct wc_elf_image *image; /* NULL: not readable */
    struct wc_version package;        /* what its package states; NONE: nothing */
    int32_t major;                    /* by its symbol version, SONAME or name; -1: unknown */
    bool facade;
};

/* The major that symbol version, SONAME and name contain; -1: none does. */
static int32_t major_by_names(const struct wc_elf_image *image, const char *path) {
    const char *const names[] = {image ? wc_elf_defined_symbol_version(image) : NULL,
                                 image ? image->soname : NULL, path};
    WC_EACH_ROW(text, names) {
        struct wc_name name = wc_name_read(*text);
        /* The SONAMEs of cuDNN 2 and 3 have the numbers of their toolkits. */
        bool old = wc_str_same(*text, "libcudnn.so.6.5") || wc_str_same(*text, "libcudnn.so.7.0");
        if (wc_kind_is_cudnn(name.kind) && wc_version_known(name.version))
            return name.version.major - (old ? 4 : 0);
    }
    return -1;
}

static struct wc_version by_data_symbol(const struct version_query *q) {
    const struct wc_elf_image *e = q->image;
    struct wc_elf_symbol s;
    for (uint32_t i = e ? e->first_defined : 0; e && i < e->symbols; i++) {
        const char *name = wc_elf_symbol_name(e, i);
        if (!name || !wc_str_starts(name, "cudnn_") || !wc_str_ends(name, "_version") ||
            !wc_elf_symbol_at(e, i, &s))
            continue;
        uint32_t packed;
        const void *value = s.defined && s.type == STT_OBJECT && s.size == sizeof packed
                                ? wc_elf_at(e, s.value, sizeof packed)
                                : NULL;
        if (!value)
            continue;
        wc_mem_copy(&packed, value, sizeof packed);
        const struct wc_version v = wc_version_from_packed(packed);
        if (q->major <= 0 || v.major == q->major) /* else it is something else */
            return v;
    }
    return WC_VERSION_NONE;
}

static struct wc_version by_asked_names(const struct version_query *q) {
    return q->image && q->facade && q->major > 0 ? wc_version_in_names(q->image, q->major)
                                                 : WC_VERSION_NONE;
}

static struct wc_version by_code(const struct version_query *q) {
    const int functions = q->image && q->major > 0 ? wc_function_count() : 0;
    struct wc_version v = WC_VERSION_NONE;
    for (int f = 0; f < functions && !wc_version_known(v); f++) {
        const char *name = wc_function_name(f);
        if (wc_str_same(name, "cudnnGetVersion") || wc_str_ends(name, "VersionCheck"))
            v = wc_version_in_function(q->image, name, q->major);
    }
    return v;
}

/* Does s[0..n) begin with shape? Its numbers go to number[0..3). */
static bool has_shape(const char *s, size_t n, const char *shape, uint64_t number[3]) {
    size_t at = 0, numbers = 0;
    for (; *shape; shape++) {
        size_t used = 1;
        if (*shape == '#')
            used = numbers < 3 ? wc_parse_number(s + at, n - at, &number[numbers++]) : 0;
        else if (at >= n || s[at] != *shape)
            used = 0;
        if (!used)
            return false;
        at += used;
    }
    return numbers == 3;
}

static struct wc_version by_build_string(const struct version_query *q) {
    static const char start[] = "cudnn_version";
    /* # means major, minor, patch. The last two are texts of an assertion, whose factors are
     * CUDNN_VERSION's. */
    static const char *const shapes[] = {"_#_#_#_", " != (# * 10000 + # * 100 + #)",
                                         " != (# * 1000 + # * 100 + #)"};
    const size_t length = sizeof start - 1;
    uint64_t at = q->image ? q->image->fini : 0, end = at + BUILD_TEXT_WITHIN, found;
    while (q->image && q->major > 0 && at < end &&
           (found = wc_elf_find_bytes(q->image, start, length, &at, (size_t)(end - at)))) {
        uint64_t room = wc_elf_room(q->image, found + length);
        size_t n = room < BUILD_TEXT_LENGTH ? room : BUILD_TEXT_LENGTH;
        const char *s = wc_elf_at(q->image, found + length, n);
        WC_EACH_ROW(shape, shapes) {
            uint64_t number[3];
            if (s && has_shape(s, n, *shape, number) && number[0] == (uint64_t)q->major &&
                number[1] < 100 && number[2] < 100)
                return (struct wc_version){q->major, (int32_t)number[1], (int32_t)number[2], -1};
        }
    }
    return WC_VERSION_NONE;
}

static struct wc_version by_file_name(const struct version_query *q) {
    struct wc_name name = wc_name_read(q->path);
    return name.version.major == q->major ? name.version : WC_VERSION_NONE;
}

static struct wc_version by_package(const struct version_query *q) {
    return q->package;
}

static int32_t macro(struct wc_reading *r, const char *header, const char *start) {
    char line[LINE];
    uint64_t number;
    if (!wc_reading_value(r, header, 0, start, true, line, sizeof line))
        return -1;
    const char *s = line;
    while (*s == ' ' || *s == '\t')
        s++;
    return wc_parse_number(s, wc_str_length(s), &number) && number < 1000 ? (int32_t)number : -1;
}

struct wc_version wc_header_version(struct wc_reading *r, const char *header) {
    int32_t major = macro(r, header, "#define CUDNN_MAJOR ");
    int32_t minor = major > 0 ? macro(r, header, "#define CUDNN_MINOR ") : -1;
    int32_t patch = minor >= 0 ? macro(r, header, "#define CUDNN_PATCHLEVEL ") : -1;
    return patch >= 0 ? (struct wc_version){major, minor, patch, -1} : WC_VERSION_NONE;
}

/* Of the first such header in the include directories next to a library's. */
static struct wc_version header_beside(struct wc_reading *r, const char *path) {
    static const char *const headers[] = {"/include/cudnn_version.h", "/include/cudnn.h"};
    struct wc_version v = WC_VERSION_NONE;
    size_t n = wc_dir_length(path);
    for (int i = 0; i < 4 && !wc_version_known(v); i++) {
        size_t mark = r->memory.used;
        if (i % 2 == 0 && n > 1) /* next to the library's directory, and one further up */
            n = wc_dir_above(path, n);
        const char *header = wc_reading_format(r, "%.*s%s", (int)n, path, headers[i % 2]);
        if (header)
            v = wc_header_version(r, header);
        r->memory.used = mark;
    }
    return v;
}

static struct wc_version by_header(const struct version_query *q) {
    struct wc_version v = header_beside(q->r, q->path);
    /* A header of another major was left by another installation. */
    return q->major > 0 && v.major != q->major ? WC_VERSION_NONE : v;
}

static bool has_export(void *ctx, int function) {
    return wc_elf_defines(ctx, wc_function_name(function));
}

/* Which releases have and lack what a facade exports and does not. */
static struct wc_release_range bounds_of(const struct wc_elf_image *facade) {
    struct wc_release_range range = {WC_VERSION_NONE, WC_VERSION_NONE};
    /* Nothing is changed through the context. */
    wc_release_range_exports(&range, has_export, (void *)(uintptr_t)facade);
    return range;
}

static bool is_too_old(const struct wc_release_range *r, struct wc_version v) {
    return wc_version_known(r->floor) && wc_version_compare(v, r->floor) < 0;
}

/* A ceiling of 9.4 holds for all its patches. */
bool wc_version_in_bounds(const struct wc_release_range *r, struct wc_version v) {
    return !is_too_old(r, v) && (!wc_version_known(r->ceiling) || wc_version_agree(v, r->ceiling) ||
                                 wc_version_compare(v, r->ceiling) <= 0);
}

/* The strongest first: what the file itself holds, then what stands around it. */
static const struct {
    enum wc_version_source source;
    /* What says so: the file's own bytes; its name; another file, while this one may have been
     * replaced since. What comes from outside is not believed where the file exports a function
     * of a later release. */
    enum { INSIDE, NAME, BESIDE } where;
    struct wc_version (*read)(const struct version_query *q);
} sources[] = {
    /* Objects of four bytes called cudnn_*_version, 0x00MMmmpp: 8.x ops_infer, ops_train,
     * cnn_infer, adv_infer; 9.x graph, ops, adv. */
    {WC_version_source_DATA_SYMBOL, INSIDE, by_data_symbol},
    /* A 9.x facade makes "libcudnn_graph.so.9.1.0" with snprintf from constants in its code. */
    {WC_version_source_ASKED_NAMES, INSIDE, by_asked_names},
    /* CUDNN_VERSION as a constant in a function that reports it: 7.x cudnnGetVersion, the parts'
     * version checks, which log it (x86-64; aarch64 loads it from a table). */
    {WC_version_source_CODE, INSIDE, by_code},
    /* 9.x engines_precompiled, engines_runtime_compiled, engines_tensor_ir; 7.x; 8.x ops_infer. */
    {WC_version_source_BUILD_STRING, INSIDE, by_build_string},
    {WC_version_source_FILE_NAME, NAME, by_file_name},
    {WC_version_source_PACKAGE_METADATA, BESIDE, by_package},
    {WC_version_source_HEADER, BESIDE, by_header},
};

bool wc_version_is_claim(enum wc_version_source source) {
    return WC_ANY(row, WC_ROWS(sources), row->source == source && row->where == BESIDE);
}

/* The first source that knows major, minor and patch; NONE and UNKNOWN: none does. */
static struct wc_version file_version(const struct version_query *q,
                                      enum wc_version_source *source) {
    WC_EACH_ROW(row, sources) {
        struct wc_version v = row->read(q);
        v.build = -1; /* of the package, not of cuDNN */
        *source = row->source;
        if (v.patch < 0)
            continue;
        if (row->where == INSIDE || !q->facade || !q->image)
            return v;
        /* The ceiling refutes nothing: a library may be cut down. */
        struct wc_release_range range = bounds_of(q->image);
        if (!is_too_old(&range, v))
            return v;
    }
    *source = WC_version_source_UNKNOWN;
    return WC_VERSION_NONE;
}

/* ---- what a file is ---- */

/* What a facade exports bounds its version, as a part exports only its share. */
static void add_bounds(const struct version_query *q, struct wc_identity *out) {
    struct wc_release_range range = bounds_of(q->image);
    const bool known = wc_version_known(out->version);
    const int32_t major = known ? -1 : major_by_names(NULL, q->path);
    /* 9.2 had functions that 9.3 lacks and 9.5 has again: what the file says itself stands. So does
     * its name, of one that is cut down to a few functions. */
    if (known ? wc_version_in_bounds(&range, out->version)
              : !wc_version_known(range.ceiling) ||
                    range.ceiling.major >= major_by_names(q->image, NULL)) {
        out->floor = range.floor;
        out->ceiling = range.ceiling;
    }
    struct wc_version header = header_beside(q->r, q->path);
    if (wc_version_known(header) && (known ? wc_version_compare(header, out->version) != 0
                                           : major > 0 && header.major != major))
        out->header = header;
}

void wc_identify(const struct wc_files *files, const char *path, const struct wc_elf_image *image,
                 bool facade, void *scratch, size_t scratch_size, struct wc_identity *out) {
    struct wc_reading r;
    struct version_query q = {.r = &r, .path = path, .image = image, .facade = facade};
    wc_mem_set(out, 0, sizeof *out);
    out->version = out->floor = out->ceiling = out->header = WC_VERSION_NONE;
    if (!path) /* of a program, where /proc is not readable */
        return;
    wc_reading_begin(&r, files, scratch, scratch_size);
    wc_installation_of(&r, path, out, &q.package);
    enum wc_name_kind kind = wc_name_kind_of(path);
    if (kind == WC_NAME_OTHER && image)
        kind = wc_name_kind_of(image->soname);
    if (facade || wc_kind_is_cudnn(kind)) {
        q.major = major_by_names(image, path);
        out->version = file_version(&q, &out->version_source);
    }
    if (facade && image)
        add_bounds(&q, out);
}
