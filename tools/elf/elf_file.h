/*
 * What a library is, as it lies on disk: the same facts as the shim records of what is mapped.
 */
#ifndef WHICHCUDNN_TOOLS_LOOK_H
#define WHICHCUDNN_TOOLS_LOOK_H

#include "core/model/object.h"
#include "tools/util/disk.h"

/* Takes a record that has no head yet. */
typedef void record_sink(void *ctx, struct wc_record *r);

struct elf_file {
    const struct disk *disk;
    char *path;      /* as it was asked for */
    char *real_path; /* NULL: not known */
    struct wc_file_stat facts;
    enum wc_elf_error error;   /* WC_ELF_OK: image can be used */
    struct wc_elf_image image; /* else empty */
    struct wc_relevance relevance;
    struct elf_file_contents *file;
};

/* A regular file that can be read; NULL: errno says why it is none. What is no ELF object, or a
 * damaged one, is a elf_file with an error. The file is mapped; who
 * cuts it meanwhile does no harm. */
struct elf_file *elf_file_open(const struct disk *disk, const char *path);
/* The same of one that is known to have none of cuDNN's functions: its symbols are not read. */
struct elf_file *elf_file_open_other(const struct disk *disk, const char *path);
void elf_file_close(struct elf_file *l);

/* Where there is no file any more: what another process has mapped. */
struct elf_file_memory {
    uint64_t base;
    const Elf64_Phdr *headers;
    size_t header_count;
    int64_t device, inode;
    bool (*read)(const void *owner, uint64_t address, void *to, size_t n);
    const void *owner; /* of read; lives as long as the elf_file */
};
/* Of such a one, size and mtime are not known, nor what its package's metadata would print of the
 * file that was. path: what its name was. Never NULL. */
struct elf_file *elf_file_open_memory(const struct disk *disk, const char *path,
                                      const struct elf_file_memory *memory);

/*
 * An object record, as good as the file tells: role, is_host, part, mapped, paths, device to mtime,
 * SONAME, node, build-id, DT_NEEDED, search tags, version, installation, framework. number, who
 * asked and the load address are the caller's to add. Its texts live until elf_file_close.
 */
void elf_file_object(struct elf_file *l, struct wc_record *out);

/* What it wants as a host, as demand records; host: the number of its object record. */
void elf_file_demands(struct elf_file *l, int64_t host, record_sink *add, void *ctx);

/* The packages of cuDNN near this file, as records. */
void elf_file_packages(struct elf_file *l, record_sink *add, void *ctx);

#endif
