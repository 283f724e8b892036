/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include "core/knowledge/frameworks.h"
#include "core/names/symbols.h"

void wc_library_begin(struct wc_library *l, const char *path) {
    wc_mem_set(l, 0, sizeof *l);
    l->path = path;
    l->device = l->inode = l->size = l->mtime = WC_NULL;
    l->number = l->asked_by_object = l->request = WC_NULL;
    l->base = WC_NO_ADDRESS;
}

const char *wc_library_file(const struct wc_library *l) {
    return l->real_path ? l->real_path : l->path;
}

void wc_library_set_stat(struct wc_library *l, const struct wc_file_stat *file) {
    l->device = (int64_t)file->device;
    l->inode = (int64_t)file->inode;
    l->size = (int64_t)file->size;
    l->mtime = file->mtime;
}

int wc_next_import(const struct wc_elf_image *e, uint32_t *at, struct wc_elf_symbol *out) {
    const uint32_t end = wc_elf_imports_end(e);
    while (++*at < end) {
        int function = wc_function_find(wc_elf_symbol_name(e, *at));
        if (function != WC_NO_FUNCTION && wc_elf_symbol_at(e, *at, out) && !out->defined)
            return function;
    }
    return WC_NO_FUNCTION;
}

bool wc_library_read(struct wc_library *l, const struct wc_elf_image *e, const char *path) {
    const char *const names[] = {path, e->soname, wc_elf_defined_symbol_version(e)};
    struct wc_elf_symbol s;
    uint32_t at = 0;
    l->name.kind = WC_NAME_OTHER;
    for (size_t i = 0; i < 3 && l->name.kind == WC_NAME_OTHER; i++)
        l->name = wc_name_read(names[i]);
    bool other = l->name.kind == WC_NAME_OTHER;
    /* It is cuDNN, or a host with cuDNN, or stubs of it, linked in. */
    l->defines =
        other && (wc_elf_defines(e, "cudnnCreate") || wc_elf_defines(e, "cudnnGetVersion") ||
                  wc_elf_defines(e, "cudnnBackendFinalize"));
    l->imports = other && wc_next_import(e, &at, &s) != WC_NO_FUNCTION;
    l->framework = other ? wc_framework_of(path) : NULL;
    l->role = wc_library_role(l);
    return !other || l->imports || l->defines || l->framework;
}

enum wc_role wc_library_role(const struct wc_library *l) {
    static const enum wc_role roles[] = {[WC_NAME_FACADE] = WC_role_FACADE,
                                         [WC_NAME_PART] = WC_role_PART,
                                         [WC_NAME_CUDA_DEPENDENCY] = WC_role_CUDA_DEPENDENCY,
                                         [WC_NAME_DRIVER] = WC_role_CUDA_DEPENDENCY};
    if (l->name.kind != WC_NAME_OTHER)
        return roles[l->name.kind];
    return l->framework && !l->imports && !l->defines ? WC_role_OTHER : WC_role_HOST;
}

bool wc_library_is_cudnn(const struct wc_library *l) {
    return l->role == WC_role_FACADE || l->role == WC_role_PART;
}

void wc_library_find_gpu(struct wc_library *l, const struct wc_reader *reader, char *room,
                         size_t cap) {
    const char *path = wc_library_file(l);
    const struct wc_files *files = reader->files;
    struct wc_file_stat facts;
    const struct wc_framework *f = l->framework && path ? wc_framework_named(l->framework) : NULL;
    bool has_builds = f && f->gpu_libraries;
    l->gpu_library = l->framework && l->role == WC_role_HOST ? path : NULL;
    WC_EACH_TEXT(name, has_builds ? f->gpu_libraries : NULL)
        if (!l->gpu_library && **name &&
            wc_str_format(room, cap, "%.*s%s", (int)(wc_base_name(path) - path), path, *name) &&
            files->facts(files->ctx, room, &facts))
            l->gpu_library = room;
    if (has_builds && !l->gpu_library && l->identity &&
        l->identity->installation_kind == WC_installation_kind_WHEEL &&
        wc_required_by(files, path, l->identity->installation, reader->scratch,
                       reader->scratch_size, room, cap))
        l->required_by = room;
}

void wc_library_identify(struct wc_library *l, const struct wc_reader *reader,
                         struct wc_identity *identity) {
    if (!reader->scratch)
        return;
    wc_identify(reader->files, wc_library_file(l), l->image, l->role == WC_role_FACADE,
                reader->scratch, reader->scratch_size, identity);
    l->identity = identity;
}

/* ---- may the kernel map it? ---- */

enum { MIB = 1 << 20 };

/* "Max address space         409600000            409600000            bytes": the first number is
 * the limit; "unlimited" is none. */
static bool read_limit(struct wc_reading *r, uint64_t *out) {
    char line[128];
    const char *at = line;

    if (!wc_reading_value(r, "/proc/self/limits", 0, "Max address space", true, line, sizeof line))
        return false;
    while (*at == ' ')
        at++;
    return wc_parse_number(at, wc_str_length(at), out) > 0;
}

void wc_check_mapping(const struct wc_reader *reader, const char *path, bool refused,
                      struct wc_file_check *check) {
    struct wc_reading reading;
    struct wc_mount mount;
    uint64_t limit;

    if (check->fault || !reader->scratch)
        return;
    wc_reading_begin(&reading, reader->files, reader->scratch, reader->scratch_size);
    (void)wc_mount_of(&reading, path, &mount);
    if (mount.no_execution) {
        check->fault = WC_file_fault_NO_EXECUTION;
        (void)wc_str_format(check->what, sizeof check->what,
                            "a library on a file system that is mounted noexec: %s", mount.point);
    } else if (check->maps >> 47 == 0 && /* else it is damaged: no process has that much */
               read_limit(&reading, &limit) && (refused || check->maps > limit)) {
        check->fault = WC_file_fault_NO_ROOM;
        (void)wc_str_format(check->what, sizeof check->what,
                            "a library that takes %ju MiB of address space; the process may have "
                            "%ju MiB in all",
                            (uintmax_t)(check->maps / MIB), (uintmax_t)(limit / MIB));
    }
}
