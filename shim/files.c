#include "files.h"

#include "sys.h"

static bool read_at(void *ctx, const char *path, uint64_t offset, void *to, size_t cap, size_t *n) {
    (void)ctx;
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    *n = 0;
    if (fd < 0)
        return false;
    struct stat st;
    bool good = sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    while (good && *n < cap) {
        long got = sys_pread(fd, (char *)to + *n, cap - *n, offset + *n);
        if (got == -4 /* EINTR */)
            continue;
        good = got >= 0;
        if (got <= 0)
            break;
        *n += (size_t)got;
    }
    sys_close(fd);
    return good;
}

static bool facts_of(void *ctx, const char *path, struct wc_file_facts *out) {
    struct stat st;
    (void)ctx;
    if (sys_stat(path, &st) != 0)
        return false;
    out->device = st.st_dev;
    out->inode = st.st_ino;
    out->size = (uint64_t)st.st_size;
    out->mtime = st.st_mtim.tv_sec;
    out->regular = S_ISREG(st.st_mode);
    out->directory = S_ISDIR(st.st_mode);
    return true;
}

/* struct linux_dirent64 of the kernel: inode, offset, record length, type, name. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static bool list(void *ctx, const char *dir, bool (*each)(void *arg, const char *name), void *arg) {
    _Alignas(8) char buffer[2048];
    int fd = sys_open(dir, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
    (void)ctx;
    if (fd < 0)
        return false;
    bool more = true;
    for (long n; more && (n = sys_list(fd, buffer, sizeof buffer)) > 0;) {
        for (long at = 0; more && at < n;) {
            const struct entry *e = (const void *)(buffer + at);
            at += e->length;
            if (wc_str_compare(e->name, ".") != 0 && wc_str_compare(e->name, "..") != 0)
                more = each(arg, e->name);
        }
    }
    sys_close(fd);
    return true;
}

bool files_read_link(const char *path, char *to, size_t cap) {
    long n = sys_readlink(path, to, cap);
    if (n <= 0 || (size_t)n >= cap)
        return false;
    to[n] = 0;
    return true;
}

/* The kernel's own word: where a descriptor opened only by path leads to. */
static bool real_path(void *ctx, const char *path, char *to, size_t cap) {
    int fd = sys_open(path, O_PATH | O_CLOEXEC, 0);
    char name[40];
    struct wc_text t;
    (void)ctx;
    if (fd < 0)
        return false;
    wc_text_begin(&t, name, sizeof name);
    wc_text_add(&t, "/proc/self/fd/");
    wc_text_add_int(&t, fd);
    bool good = files_read_link(name, to, cap) && to[0] == '/';
    sys_close(fd);
    return good;
}

const struct wc_files shim_files = {NULL, read_at, facts_of, list, real_path};

bool files_read_text(const char *path, char *to, size_t cap) {
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    long n = sys_pread(fd, to, cap - 1, 0);
    sys_close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}
