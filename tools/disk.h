/*
 * The files of this computer, as core/ reads them, and ELF files of it as a whole.
 */
#ifndef WHICHCUDNN_TOOLS_DISK_H
#define WHICHCUDNN_TOOLS_DISK_H

#include "whichcudnn/elf_image.h"
#include "whichcudnn/files.h"

extern const struct wc_files disk_files;

/* The whole of a file for as long as it is open. */
struct disk_file {
    void *bytes;
    size_t n;
    struct wc_elf_image image; /* where is_elf */
    bool is_elf;               /* one of 64 bits, little-endian, whole as far as its tables go */
};
/* False: no regular file with bytes in it that can be read. */
bool disk_file_open(struct disk_file *f, const char *path);
void disk_file_close(struct disk_file *f);

#endif
