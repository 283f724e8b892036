/*
 * What a library is, as it lies on disk: the same facts as the shim records of what is mapped.
 */
#ifndef WHICHCUDNN_TOOLS_LOOK_H
#define WHICHCUDNN_TOOLS_LOOK_H

#include "core/model/object.h"
#include "tools/util/disk.h"

/* Takes a record that has no head yet. */
typedef void look_add(void *ctx, struct wc_record *r);

struct look {
    const struct disk *disk;
    char *path;      /* as it was asked for */
    char *real_path; /* NULL: not known */
    struct wc_file_facts facts;
    enum wc_elf_error error;   /* WC_ELF_OK: image can be used */
    struct wc_elf_image image; /* else empty */
    struct wc_relevance relevance;
    struct look_file *file;
};

/* A regular file that can be read; NULL: errno says why it is none. What is no ELF object, or a
 * damaged one, is a look with an error. The file is mapped; who
 * cuts it meanwhile does no harm. */
struct look *look_open(const struct disk *disk, const char *path);
/* The same of one that is known to have none of cuDNN's functions: its symbols are not read. */
struct look *look_open_other(const struct disk *disk, const char *path);
void look_close(struct look *l);

/* Where there is no file any more: what another process has mapped. */
struct look_memory {
    uint64_t base;
    const Elf64_Phdr *headers;
    size_t header_count;
    int64_t device, inode;
    bool (*read)(const void *owner, uint64_t address, void *to, size_t n);
    const void *owner; /* of read; lives as long as the look */
};
/* Of such a one, size and mtime are not known, nor what its package's metadata would say of the
 * file that was. path: what its name was. Never NULL. */
struct look *look_open_memory(const struct disk *disk, const char *path,
                              const struct look_memory *memory);

/*
 * An object record, as good as the file tells: role, is_host, part, mapped, paths, device to mtime,
 * SONAME, node, build-id, DT_NEEDED, search tags, version, installation, framework. number, who
 * asked and the load address are the caller's to add. Its texts live until look_close.
 */
void look_object(struct look *l, struct wc_record *out);

/* What it wants as a host, as demand records; host: the number of its object record. */
void look_demands(struct look *l, int64_t host, look_add *add, void *ctx);

/* The packages of cuDNN near this file, as records. */
void look_packages(struct look *l, look_add *add, void *ctx);

#endif
