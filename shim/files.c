/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include "clock.h"
#include "core/base/hash.h"
#include "sys.h"

#define ENTRIES_MOST 32768 /* of a directory, which may have millions of data files */

/* Checks the type first: opening a FIFO wakes its writer, and opening a tape may rewind it. */
int files_open(const char *path, struct stat *st) {
    int error = sys_stat(path, st);
    if (error == -ENOENT || (error == 0 && !S_ISREG(st->st_mode)))
        return -1;
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd >= 0 && (sys_fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
        sys_close(fd);
        return -1;
    }
    return fd;
}

bool files_read(int fd, uint64_t offset, void *to, size_t cap, size_t *n) {
    *n = 0;
    while (*n < cap) {
        long got = sys_pread(fd, (char *)to + *n, cap - *n, offset + *n);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        *n += (size_t)got;
    }
    return true;
}

static bool read_at(WC_UNUSED void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                    size_t *n) {
    struct stat st;
    int fd = files_open(path, &st);
    *n = 0;
    if (fd < 0)
        return false;
    bool good = files_read(fd, offset, to, cap, n);
    sys_close(fd);
    return good;
}

static bool facts_of(WC_UNUSED void *ctx, const char *path, struct wc_file_stat *out) {
    struct stat st;
    int error = sys_stat(path, &st);
    out->closed = error == -EACCES;
    if (error != 0)
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

/* Directories without a dist-info, by a hash of path, inode and time of change. All directories of
 * each library are asked about, up to the root, and some hold thousands of files. */
enum { PLAIN_MOST = 64, SETTLED = 2 /* seconds after which a change has a new time */ };
static uint64_t plain[PLAIN_MOST];

static uint64_t state_of(const char *dir) {
    struct stat st;
    bool known = sys_stat(dir, &st) == 0 && st.st_ctim.tv_sec > 0; /* some file systems have none */
    if (!known || clock_now() / 1000000 < st.st_ctim.tv_sec + SETTLED)
        return 0;
    const uint64_t words[] = {st.st_dev, st.st_ino, (uint64_t)st.st_ctim.tv_sec,
                              (uint64_t)st.st_ctim.tv_nsec};
    return wc_hash_bytes(wc_hash_text(WC_HASH_START, dir), words, sizeof words);
}

static bool no_dist_info(WC_UNUSED void *ctx, const char *dir) {
    uint64_t state = state_of(dir);
    return state && plain[state % PLAIN_MOST] == state;
}

static bool list(WC_UNUSED void *ctx, const char *dir, bool (*each)(void *arg, const char *name),
                 void *arg) {
    _Alignas(8) char buffer[2048];
    uint64_t state = state_of(dir); /* before it is read, as it may change meanwhile */
    int fd = sys_open(dir, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
    if (fd < 0)
        return false;
    bool more = true, any = false;
    long n = 0;
    int entries = 0;
    while (more && (n = sys_list(fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; more && at < n;) {
            const struct entry *e = (const void *)(buffer + at);
            at += e->length;
            if (wc_str_compare(e->name, ".") != 0 && wc_str_compare(e->name, "..") != 0)
                more = each(arg, e->name) && ++entries < ENTRIES_MOST;
            any = any || wc_str_ends(e->name, ".dist-info");
        }
    }
    sys_close(fd);
    if (state && n == 0 && !any)
        plain[state % PLAIN_MOST] = state;
    return n >= 0;
}

bool files_read_link(const char *path, char *to, size_t cap) {
    long n = sys_readlink(path, to, cap);
    bool is_whole = n > 0 && (size_t)n < cap;
    to[is_whole ? n : 0] = 0;
    return is_whole;
}

/* As the kernel resolves it: the link of a descriptor that is opened with O_PATH. */
static bool real_path(WC_UNUSED void *ctx, const char *path, char *to, size_t cap) {
    int fd = sys_open(path, O_PATH | O_CLOEXEC, 0);
    char name[40];
    if (fd < 0)
        return false;
    wc_str_format(name, sizeof name, "/proc/self/fd/%d", fd);
    bool good = files_read_link(name, to, cap) && to[0] == '/';
    sys_close(fd);
    return good;
}

const struct wc_files shim_files = {NULL, read_at, facts_of, list, real_path, NULL, no_dist_info};

bool files_read_text(const char *path, char *to, size_t cap) {
    int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    long n = sys_pread(fd, to, cap - 1, 0);
    sys_close(fd);
    to[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* ---- /proc/self/maps ---- */

static uintptr_t read_hexadecimal(const char **p) {
    uintptr_t n = 0;
    for (char c = **p; wc_is_digit(c) || (c >= 'a' && c <= 'f'); c = *++*p)
        n = n << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    return n;
}

/* A line that does not fit is skipped in pieces, which do not begin with an address. */
bool files_mapped_at(uintptr_t address, char *to, size_t cap) {
    char line[1024];
    bool found = false;
    uint64_t offset = 0;
    int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    for (long n; fd >= 0 && !found && (n = sys_pread(fd, line, sizeof line - 1, offset)) > 0;) {
        line[n] = 0;
        char *end = (char *)wc_str_find_char(line, '\n');
        if (end)
            *end = 0;
        /* "START-END rwxp OFFSET DEVICE INODE   /path" */
        const char *s = line, *path = wc_str_find_char(line, '/');
        uintptr_t low = read_hexadecimal(&s);
        uintptr_t high = *s == '-' ? (s++, read_hexadecimal(&s)) : 0;
        found = address >= low && address < high && path && wc_str_copy(to, cap, path);
        offset += end ? (uint64_t)(end - line) + 1 : (uint64_t)n;
    }
    if (fd >= 0)
        sys_close(fd);
    return found;
}
