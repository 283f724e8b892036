/*
 * What a library says of itself, as fields of an object record and as demands: the same for what is
 * mapped and for what lies in a file. Texts live as long as the image and the room given.
 */
#ifndef WHICHCUDNN_OBJECT_H
#define WHICHCUDNN_OBJECT_H

#include "core/elf/elf_image.h"
#include "core/packages/identify.h"
#include "names.h"

/* Why an object matters. */
struct wc_relevance {
    struct wc_name name;   /* by file name, else by SONAME, else by the symbol version it defines */
    bool imports, defines; /* cuDNN's functions; asked only where the name says nothing */
    const char *framework; /* that it is the main library of; NULL: none */
};
/* False: it has nothing to do with cuDNN. */
bool wc_relevance_read(const struct wc_elf_image *e, const char *path, struct wc_relevance *out);
/* OTHER: a framework's main library that has none of cuDNN's functions. */
enum wc_role wc_role_of(const struct wc_relevance *r);

#define WC_NEEDED_MOST 48
struct wc_object_room {
    const char *needed[WC_NEEDED_MOST];
    char build_id[72];
    char version[3][WC_VERSION_TEXT];
    char beside[4096];
};
/* SONAME, node, build-id, DT_NEEDED and the search tags. */
void wc_object_take_image(struct wc_object_record *r, const struct wc_elf_image *e,
                          struct wc_object_room *room);
/* Installation, and of cuDNN's own libraries (r->role) the version. id must live as long. */
void wc_object_take_identity(struct wc_object_record *r, const struct wc_identity *id,
                             struct wc_object_room *room);
/* What only a build for CUDA has, of a framework's main library at `path`. */
void wc_object_take_framework(struct wc_object_record *r, const char *framework,
                              const struct wc_files *files, const char *path,
                              struct wc_object_room *room);

/* ---- core/model/host_demands.c ---- */

struct wc_host {
    int64_t number; /* of its object record; WC_NULL: it has none */
    const char *path;
    void (*emit)(void *ctx, struct wc_record *demand);
    void *ctx;
};
/* By what it is linked with and imports. */
void wc_host_demands_of_image(const struct wc_host *host, const struct wc_elf_image *e);
/* What is needed to elf_file at its package: scratch as for wc_identify, and room for what is
 * found. */
struct wc_package_reader {
    const struct wc_files *files;
    void *scratch;
    size_t scratch_size;
    struct wc_metadata_demand *found; /* not in scratch: version_of may use that */
    size_t most;
    /* Of a library that nobody loaded; false: not known. ctx is the host's. */
    bool (*version_of)(void *ctx, const char *path, char version[WC_VERSION_TEXT]);
};
/* By the metadata of its package. */
void wc_host_demands_of_package(const struct wc_host *host,
                                const struct wc_package_reader *elf_file, const char *real_path);

#endif
