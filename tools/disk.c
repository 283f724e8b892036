/* See disk.h. */
#include "disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_to_read(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static bool disk_read(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                      size_t *n) {
    int fd = open_to_read(path);
    ssize_t got = 0;

    (void)ctx;
    *n = 0;
    while (fd >= 0 && *n < cap &&
           (got = pread(fd, (char *)to + *n, cap - *n, (off_t)(offset + *n))) > 0)
        *n += (size_t)got;
    if (fd >= 0)
        close(fd);
    return fd >= 0 && got >= 0;
}

static bool disk_facts(void *ctx, const char *path, struct wc_file_facts *out) {
    struct stat st;

    (void)ctx;
    if (stat(path[0] ? path : ".", &st) != 0)
        return false;
    *out = (struct wc_file_facts){.device = st.st_dev,
                                  .inode = st.st_ino,
                                  .size = (uint64_t)st.st_size,
                                  .mtime = st.st_mtime,
                                  .regular = S_ISREG(st.st_mode),
                                  .directory = S_ISDIR(st.st_mode)};
    return true;
}

static bool disk_list(void *ctx, const char *directory, bool (*each)(void *arg, const char *name),
                      void *arg) {
    DIR *open_directory = opendir(directory);
    struct dirent *entry;

    (void)ctx;
    if (!open_directory)
        return false;
    while ((entry = readdir(open_directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !each(arg, entry->d_name))
            break;
    closedir(open_directory);
    return true;
}

static bool disk_real_path(void *ctx, const char *path, char *to, size_t cap) {
    char *real = realpath(path, NULL);
    bool good = real && strlen(real) < cap;

    (void)ctx;
    if (good)
        memcpy(to, real, strlen(real) + 1);
    free(real);
    return good;
}

const struct wc_files disk_files = {NULL, disk_read, disk_facts, disk_list, disk_real_path};

bool disk_file_open(struct disk_file *f, const char *path) {
    int fd = open_to_read(path);
    struct stat st;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return false;
    f->bytes = bytes;
    f->n = (size_t)st.st_size;
    f->is_elf = wc_elf_from_file(&f->image, f->bytes, f->n, 0) == WC_ELF_OK;
    return true;
}

void disk_file_close(struct disk_file *f) {
    munmap(f->bytes, f->n);
}
