/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a file shown by a mount of its own? Container runtimes bind the driver's libraries, on
 * Jetson CUDA's and cuDNN's too, from the host over what the image has: the image's package list
 * then describes another file. proc(5), mountinfo:
 * "36 35 98:0 /mnt1 /mnt/parent rw,noatime master:1 - ext3 /dev/root rw": root in its file system,
 * mount point, "-" after the optional fields, type.
 */
#include "installation.h"

enum { POINT = 256 };

struct mounts {
    const char *path;
    struct wc_mount *best;
    size_t length; /* of the best mount point */
};

/* The next field; *s goes after it. */
static const char *field(const char **s, size_t *n) {
    const char *from = *s;
    *n = 0;
    while (from[*n] && from[*n] != ' ')
        (*n)++;
    *s = from + *n + (from[*n] == ' ');
    return from;
}

bool wc_mount_read(const char *line, char *point, size_t cap, struct wc_mount_line *out) {
    const char *root = line, *s, *rest = line, *type, *options;
    size_t root_length = 0, n, options_length, used = 0;
    for (int i = 0; i < 4; i++) /* id, parent, device, root */
        root = field(&rest, &root_length);
    s = field(&rest, &n);
    options = field(&rest, &options_length);
    out->no_execution = false;
    WC_EACH_ELEMENT(option, options, ", ") {
        if (option.p >= options + options_length)
            break;
        out->no_execution |= option.n == 6 && wc_str_starts(option.p, "noexec");
    }
    type = wc_str_find(options, " - ");
    out->of_root = root_length == 1 && root[0] == '/';
    out->type = type ? type + 3 : "";
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (used == cap - 1)
            return false;
        /* Blanks and backslashes stand as \040. */
        if (c == '\\' && n - i >= 4 && s[i + 1] >= '0' && s[i + 1] <= '3' && s[i + 2] >= '0' &&
            s[i + 2] <= '7' && s[i + 3] >= '0' && s[i + 3] <= '7') {
            c = (char)((s[i + 1] - '0') << 6 | (s[i + 2] - '0') << 3 | (s[i + 3] - '0'));
            i += 3;
        }
        point[used++] = c;
    }
    point[used] = 0;
    return true;
}

/* Of two on one point the later one is on top. */
static bool consider(void *ctx, const char *line) {
    struct mounts *m = ctx;
    struct wc_mount_line read;
    char point[POINT];
    size_t n;
    if (!wc_mount_read(line, point, sizeof point, &read))
        return true;
    n = wc_str_length(point);
    if (n <= 1 || n < m->length || !wc_str_starts(m->path, point) ||
        (m->path[n] != '/' && m->path[n]))
        return true;
    bool volume = wc_str_starts(read.type, "btrfs "); /* has volumes of other roots */
    m->length = n;
    wc_mem_copy(m->best->point, point, n + 1);
    m->best->of_file = !m->path[n];
    m->best->no_execution = read.no_execution;
    m->best->bound = m->best->of_file || (!volume && !read.of_root);
    return true;
}

bool wc_mount_of(struct wc_reading *r, const char *path, struct wc_mount *out) {
    struct mounts m = {path, out, 0};
    wc_mem_set(out, 0, sizeof *out);
    wc_reading_each(r, "/proc/self/mountinfo", "\n", consider, &m);
    return out->bound;
}
