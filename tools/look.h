/*
 * What a library is, as it lies on disk: the same facts as the shim records of what is mapped.
 */
#ifndef WHICHCUDNN_TOOLS_LOOK_H
#define WHICHCUDNN_TOOLS_LOOK_H

#include "disk.h"
#include "source.h"
#include "whichcudnn/object.h"

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
 * damaged one, is a look with an error. The file is read as it is asked for, and not mapped: who
 * cuts it meanwhile does no harm. */
struct look *look_open(const struct disk *disk, const char *path);
void look_close(struct look *l);

/*
 * An object record, as good as the file tells: role, is_host, part, mapped, paths, device to mtime,
 * SONAME, node, build-id, DT_NEEDED, search tags, version, installation, framework. number, who
 * asked and the load address are the caller's to add. Its texts live until look_close.
 */
void look_object(struct look *l, struct wc_record *out);

/* What it wants as a host, as demand records into `to`; host: its number there. */
void look_demands(struct look *l, struct source *to, int64_t host);

/* The packages of cuDNN near this file, as records. */
void look_packages(struct look *l, struct source *to);

#endif
