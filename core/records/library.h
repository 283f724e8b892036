/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of one library, file or mapping: the same for the shim, for a look from outside and
 * for a replay. They fill it in, core/records/emit.h makes the records of it. Texts are the
 * caller's.
 */
#pragma once

#include "core/elf/elf_image.h"
#include "core/names/names.h"
#include "core/packages/identify.h"

#define WC_NO_ADDRESS UINT64_MAX

struct wc_library {
    const char *path;                   /* as the loader has it, or as it was asked for */
    const char *real_path;              /* NULL: not known */
    const char *link;                   /* where the path leads, if it is a symbolic link */
    int64_t device, inode, size, mtime; /* of the file; WC_NULL: not known */

    const struct wc_elf_image *image;   /* NULL: it cannot be read */
    const struct wc_identity *identity; /* NULL: not asked for */
    struct wc_name name;                /* by file name, else by SONAME, else by symbol version */
    bool imports, defines;              /* cuDNN's functions; asked where the name says nothing */
    const char *framework;              /* that it is the main library of; NULL: none */
    const char *gpu_library;            /* what only its builds for CUDA have; NULL: not there */
    const char *required_by; /* where it is not: who requires the package; NULL: nobody */
    enum wc_role role;

    int64_t number; /* of its object record; WC_NULL: it has none */
    bool mapped;
    uint64_t base; /* load address; WC_NO_ADDRESS: not known */
    enum wc_operation asked_how;
    const char *asked_name, *asked_by;
    int64_t asked_by_object, request;
};

/* Nothing is known but the path. */
void wc_library_begin(struct wc_library *l, const char *path);
/* The canonical path where it is known. */
const char *wc_library_file(const struct wc_library *l);
void wc_library_set_stat(struct wc_library *l, const struct wc_file_stat *file);
/* Its name, functions, framework and role, by its image and this path. False: it has nothing to do
 * with cuDNN. */
bool wc_library_read(struct wc_library *l, const struct wc_elf_image *e, const char *path);
/* OTHER: a framework's main library that has none of cuDNN's functions. */
enum wc_role wc_library_role(const struct wc_library *l);
bool wc_library_is_cudnn(const struct wc_library *l);
/* How files of libraries are looked into. */
struct wc_reader {
    const struct wc_files *files;
    /* False: it cannot be read. Fills in what is known of the file; image NULL: no ELF file. */
    bool (*open)(void *ctx, const char *path, struct wc_library *out);
    bool (*close)(void *ctx); /* false: it changed meanwhile, what it said does not count */
    void *ctx;
    void *scratch; /* for wc_identify; NULL: no memory, what needs it is left out */
    size_t scratch_size;
};
/* Looks for what only a build for CUDA of its framework has, and for who requires one that has it
 * not. room: for a path. */
void wc_library_find_gpu(struct wc_library *l, const struct wc_reader *reader, char *room,
                         size_t cap);
/* Of an identity of the caller's. Nothing without scratch. */
void wc_library_identify(struct wc_library *l, const struct wc_reader *reader,
                         struct wc_identity *identity);
