/* See core/model/object.h. */
#include "object.h"

#include "frameworks.h"
#include "symbols.h"

/* ---- what is relevant ---- */

/* A library that has these is cuDNN, or a host that has cuDNN or stubs of it inside. */
static bool defines_cudnn(const struct wc_elf_image *e) {
    struct wc_elf_symbol s;
    return wc_elf_find_defined(e, "cudnnCreate", &s) ||
           wc_elf_find_defined(e, "cudnnGetVersion", &s) ||
           wc_elf_find_defined(e, "cudnnBackendFinalize", &s);
}

static bool imports_cudnn(const struct wc_elf_image *e) {
    uint32_t end = wc_elf_imports_end(e);
    for (uint32_t i = 1; i < end; i++) {
        const char *name = wc_elf_symbol_name(e, i);
        struct wc_elf_symbol s;
        if (name && name[0] == 'c' && wc_str_starts(name, "cudnn") &&
            wc_function_find(name) != WC_NO_FUNCTION && wc_elf_symbol_at(e, i, &s) && !s.defined)
            return true;
    }
    return false;
}

static void read_name(const struct wc_elf_image *e, const char *path, struct wc_name *out) {
    const char *version;
    wc_name_read(path, out);
    if (out->kind == WC_NAME_OTHER && wc_elf_soname(e))
        wc_name_read(wc_elf_soname(e), out);
    if (out->kind == WC_NAME_OTHER && (version = wc_elf_defined_symbol_version(e)))
        wc_name_read(version, out);
}

bool wc_relevance_read(const struct wc_elf_image *e, const char *path, struct wc_relevance *out) {
    read_name(e, path, &out->name);
    out->imports = false;
    out->defines = false;
    out->framework = NULL;
    if (out->name.kind == WC_NAME_OTHER) {
        out->defines = defines_cudnn(e);
        out->imports = imports_cudnn(e);
        out->framework = wc_framework_of(path);
    }
    return out->name.kind != WC_NAME_OTHER || out->imports || out->defines || out->framework;
}

enum wc_role wc_role_of(const struct wc_relevance *r) {
    switch (r->name.kind) {
    case WC_NAME_FACADE:
        return WC_role_FACADE;
    case WC_NAME_PART:
        return WC_role_PART;
    case WC_NAME_CUDA_DEPENDENCY:
    case WC_NAME_DRIVER:
        return WC_role_CUDA_DEPENDENCY;
    default:
        return r->framework && !r->imports && !r->defines ? WC_role_OTHER : WC_role_HOST;
    }
}

/* ---- fields of the record ---- */

static const char *hexadecimal(const unsigned char *p, size_t n, char *to, size_t cap) {
    struct wc_text t;
    wc_text_begin(&t, to, cap);
    for (size_t i = 0; i < n; i++) {
        wc_text_add_char(&t, "0123456789abcdef"[p[i] >> 4]);
        wc_text_add_char(&t, "0123456789abcdef"[p[i] & 15]);
    }
    return n ? to : NULL;
}

void wc_object_take_image(struct wc_object_record *r, const struct wc_elf_image *e,
                          struct wc_object_room *room) {
    size_t n = 0;
    for (const char *name; n < WC_NEEDED_MOST && (name = wc_elf_needed(e, n)); n++)
        room->needed[n] = name;
    r->needed.p = room->needed;
    r->needed.n = n;
    r->soname = wc_elf_soname(e);
    r->symbol_version = wc_elf_defined_symbol_version(e);
    r->rpath = wc_elf_rpath(e);
    r->runpath = wc_elf_runpath(e);
    r->build_id = hexadecimal(e->build_id, e->build_id_size, room->build_id, sizeof room->build_id);
}

void wc_object_take_identity(struct wc_object_record *r, const struct wc_identity *id,
                             struct wc_object_room *room) {
    if (r->role == WC_role_FACADE || r->role == WC_role_PART) {
        r->version = wc_version_text(id->version, room->version[0]);
        r->version_source = id->version_source;
        r->version_floor = wc_version_text(id->floor, room->version[1]);
        r->version_ceiling = wc_version_text(id->ceiling, room->version[2]);
    }
    WC_TAKE_INSTALLATION(r, id);
    r->mount = wc_str_or_null(id->mount);
}

void wc_object_take_framework(struct wc_object_record *r, const char *framework,
                              const struct wc_files *files, const char *path,
                              struct wc_object_room *room) {
    struct wc_file_stat facts;
    const char *name;
    struct wc_text t;
    r->framework = framework;
    if (r->is_host)
        r->gpu_library = path;
    for (size_t i = 0;
         framework && path && !r->gpu_library && (name = wc_framework_gpu_library(framework, i));
         i++) {
        wc_text_begin(&t, room->beside, sizeof room->beside);
        wc_text_add_n(&t, path, (size_t)(wc_base_name(path) - path));
        wc_text_add(&t, name);
        if (*name && !t.cut && files->facts(files->ctx, room->beside, &facts))
            r->gpu_library = room->beside;
    }
}
