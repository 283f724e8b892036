/* SPDX-License-Identifier: Apache-2.0 */
#include "shim_file.h"

#include <errno.h>
#include <string.h>

#include "tools/elf/elf_file.h"
#include "tools/util/memory.h"

#ifdef __aarch64__
#define OWN_MACHINE EM_AARCH64
#define OWN_NAME "aarch64"
#else
#define OWN_MACHINE EM_X86_64
#define OWN_NAME "x86-64"
#endif

char *shim_file_trouble(const char *path) {
    struct elf_file *file;
    struct disk disk;
    char *trouble = NULL;

    disk_begin(&disk, NULL);
    file = elf_file_open(&disk, path, true);
    if (!file)
        trouble = must_format("%s cannot be read: %s", path, strerror(errno));
    else if (file->error != WC_ELF_OK)
        trouble = must_format("%s is no library of 64 bits, or is cut off", path);
    else if (file->image.machine != OWN_MACHINE)
        trouble = must_format("%s is for another processor than this one, " OWN_NAME, path);
    elf_file_close(file);
    disk_end(&disk);
    return trouble;
}
