/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is (identify.h). */
#include "identify.h"

#include "core/names/names.h"
#include "core/names/symbols.h"
#include "file_version.h"
#include "installation.h"

void wc_identify(const struct wc_files *files, const char *path, const struct wc_elf_image *image,
                 bool facade, void *scratch, size_t scratch_size, struct wc_identity *out) {
    struct wc_reading r;
    struct wc_version_query q = {.r = &r, .path = path, .image = image, .facade = facade};
    wc_mem_set(out, 0, sizeof *out);
    out->version = out->floor = out->ceiling = out->header = WC_VERSION_NONE;
    if (!path) /* of a program, where /proc is not readable */
        return;
    wc_reading_begin(&r, files, scratch, scratch_size);
    wc_installation_of(&r, path, out, &q.package);
    enum wc_name_kind kind = wc_name_kind_of(path);
    if (kind == WC_NAME_OTHER && image)
        kind = wc_name_kind_of(wc_elf_soname(image));
    if (facade || wc_kind_is_cudnn(kind)) {
        q.major = wc_major_by_names(image, path);
        out->version = wc_file_version(&q, &out->version_source);
    }
}

void wc_identify_bounds(const struct wc_elf_image *facade, struct wc_identity *out) {
    struct wc_release_range range = wc_release_bounds(facade);
    /* 9.2 had functions that 9.3 lacks and 9.5 has again: what the file says itself stands. */
    if (!wc_version_known(out->version) || wc_version_in_bounds(&range, out->version)) {
        out->floor = range.floor;
        out->ceiling = range.ceiling;
    }
}

void wc_identify_header(const struct wc_files *files, const char *facade, void *scratch,
                        size_t scratch_size, struct wc_identity *out) {
    struct wc_reading r;
    int32_t major = wc_version_known(out->version) ? -1 : wc_major_by_names(NULL, facade);
    wc_reading_begin(&r, files, scratch, scratch_size);
    struct wc_version header = wc_header_beside(&r, facade);
    bool known = wc_version_known(header);
    if (known && (wc_version_known(out->version) ? wc_version_compare(header, out->version) != 0
                                                 : major > 0 && header.major != major))
        out->header = header;
}
