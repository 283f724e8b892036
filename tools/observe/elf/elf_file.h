/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library as it is on disk, or as another process has it mapped: the same facts as the shim has
 * of its own (core/records/library.h).
 */
#pragma once

#include "core/records/library.h"
#include "tools/util/disk.h"

/* The machine that this is built for, as headers, sentences, Debian and glibc have it. */
#ifdef __aarch64__
#define OWN_MACHINE EM_AARCH64
#define OWN_PROCESSOR "aarch64"
#define OWN_TRIPLET "aarch64-linux-gnu"
#define OWN_INTERPRETER "/lib/ld-linux-aarch64.so.1"
#else
#define OWN_MACHINE EM_X86_64
#define OWN_PROCESSOR "x86-64"
#define OWN_TRIPLET "x86_64-linux-gnu"
#define OWN_INTERPRETER "/lib64/ld-linux-x86-64.so.2"
#endif

struct elf_file {
    struct wc_library library; /* its texts live until elf_file_close */
    enum wc_elf_error error;   /* WC_ELF_OK: image can be used */
    struct wc_elf_image image; /* else empty */
    struct elf_file_contents *contents;
};

/* A regular file that can be read; NULL: errno says why. disk: NULL: this machine's. What is not an
 * ELF object, or a damaged one, has an error. The file is mapped; truncating it meanwhile does no
 * harm. other: it is known to have none of cuDNN's functions, and its symbols are not read. */
struct elf_file *elf_file_open(const struct disk *disk, const char *path, bool other);
/* Its image, as that is done when it is opened; one that was opened as `other` may have them all
 * the same. */
void elf_file_read(struct elf_file *l, bool other);
void elf_file_close(struct elf_file *l);

/* Where there is no file any more: what another process has mapped. */
struct elf_file_memory {
    uint64_t start, end; /* of the file's first bytes */
    int64_t device, inode;
    bool (*read)(const void *owner, uint64_t address, void *to, size_t n);
    const void *owner; /* of read; lives as long as the elf_file */
};
/* Of such a one, size and mtime are not known, nor what its package's metadata says about the file
 * that was. path: what its name was. NULL: its headers cannot be read. */
struct elf_file *elf_file_open_memory(const struct disk *disk, const char *path,
                                      const struct elf_file_memory *memory);

/* Adds to what is known of it: its image, version, installation, what identifies a build for CUDA.
 * They live until elf_file_close. */
void elf_file_identify(struct elf_file *l, struct wc_library *out);
/* Its neighbours changed. */
void elf_file_forget(struct elf_file *l);

/* Looks into files of a disk for core/, one at a time; not to be moved. */
struct elf_reader {
    struct wc_reader reader;
    const struct disk *disk;
    struct elf_file *open;
};
void elf_reader_begin(struct elf_reader *r, const struct disk *disk);
