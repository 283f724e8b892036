/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of one library, file or mapping. The shim, `inspect`, a scan and a replay fill it
 * in; core/records/emit.h makes records of it. Texts are the caller's.
 */
#pragma once

#include "core/elf/file_check.h"
#include "core/names/names.h"
#include "core/packages/identify.h"

#define WC_NO_ADDRESS UINT64_MAX

struct wc_library {
    const char *path;                   /* as the loader has it, or as it was asked for */
    const char *real_path;              /* NULL: not known */
    const char *link;                   /* the link's target, if path is a symbolic link */
    int64_t device, inode, size, mtime; /* of the file; WC_NULL: not known */

    const struct wc_elf_image *image;   /* NULL: it cannot be read */
    const struct wc_identity *identity; /* NULL: not asked for */
    struct wc_name name;                /* by file name, else by SONAME, else by symbol version */
    bool imports, defines;              /* cuDNN functions; set only if the name is WC_NAME_OTHER */
    const char *framework;              /* whose main library it is; NULL: none */
    const char *gpu_library;            /* a file that only CUDA builds of it have; NULL: none */
    const char *required_by; /* without one: a package that requires its wheel; NULL: none */
    enum wc_role role;

    int64_t number; /* of its object record; WC_NULL: it has none */
    bool mapped;
    uint64_t base; /* load address; WC_NO_ADDRESS: not known */
    enum wc_operation asked_how;
    const char *asked_name, *asked_by;
    int64_t asked_by_object, request;
};

/* Clears l: only the path is known. */
void wc_library_begin(struct wc_library *l, const char *path);
/* The canonical path where it is known. */
const char *wc_library_file(const struct wc_library *l);
void wc_library_set_stat(struct wc_library *l, const struct wc_file_stat *file);
/* The next import of a listed function after the symbol *at, from 0 on; WC_NO_FUNCTION: no more. */
int wc_next_import(const struct wc_elf_image *e, uint32_t *at, struct wc_elf_symbol *out);
/* Reads name, functions, framework and role from the image and this path. False: the library has
 * nothing to do with cuDNN. */
bool wc_library_read(struct wc_library *l, const struct wc_elf_image *e, const char *path);
/* By name, imports and definitions. OTHER: a framework's main library without cuDNN functions. */
enum wc_role wc_library_role(const struct wc_library *l);
bool wc_library_is_cudnn(const struct wc_library *l);
/* Opens library files, one inside another. */
struct wc_reader {
    const struct wc_files *files;
    /* Clears *out and sets its image; NULL: no ELF file. False: the file cannot be read. */
    bool (*open)(void *ctx, const char *path, struct wc_library *out);
    bool (*close)(
        void *ctx); /* false: the file changed meanwhile, so what was read does not count */
    void *ctx;
    void *scratch; /* for wc_identify; NULL: no memory, what needs it is left out */
    size_t scratch_size;
    const char *(*site)(void); /* as wc_process_site, of the process; NULL: not known */
};
/* Sets gpu_library to a file that only CUDA builds of its framework have; if there is none,
 * required_by to a package that requires this CPU-only wheel. room: memory for either text. */
void wc_library_find_gpu(struct wc_library *l, const struct wc_reader *reader, char *room,
                         size_t cap);
/* Fills in *identity, and l->identity. Does nothing without scratch memory. */
void wc_library_identify(struct wc_library *l, const struct wc_reader *reader,
                         struct wc_identity *identity);
/* Replaces fault and text of a sound file if the kernel does not let the loader map it, as far as
 * /proc of the process shows: how its file system is mounted, and how much address space the
 * process may have. path: canonical. refused: the loader says that the system refused to map it;
 * otherwise the address space counts as used up only if the file itself needs more than the limit.
 */
void wc_check_mapping(const struct wc_reader *reader, const char *path, bool refused,
                      struct wc_file_check *check);
