/* SPDX-License-Identifier: Apache-2.0 */
#include "tree_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/util/memory.h"
#include "tools/util/mount_points.h"

/* Which file systems hold no files of this machine's. From the kernel's documentation of them. */
static const char *const elsewhere[] = {
    "proc",        "sysfs",      "devtmpfs",   "devpts",       "cgroup",
    "cgroup2",     "securityfs", "debugfs",    "tracefs",      "bpf",
    "mqueue",      "hugetlbfs",  "pstore",     "configfs",     "efivarfs",
    "binfmt_misc", "autofs",     "rpc_pipefs", "nsfs",         "fusectl",
    "nfs",         "nfs4",       "cifs",       "smb3",         "ceph",
    "lustre",      "gpfs",       "beegfs",     "afs",          "9p",
    "glusterfs",   "fuse.sshfs", "fuse.s3fs",  "fuse.gcsfuse", "fuse.glusterfs",
};

struct walking {
    struct tree_walk *w;
    char **waiting; /* to be read: the newest first, so that few wait at a time */
    size_t waiting_count;
    struct mount_points mounts;
    size_t done;
};

/* "libx.so", "libx.so.1.2", "_C.cpython-313-x86_64-linux-gnu.so". */
static bool is_library_name(const char *name) {
    for (const char *s = name; (s = strstr(s, ".so")); s += 3)
        if (s[3] == '\0' || s[3] == '.')
            return s != name;
    return false;
}

/* ---- mounts ---- */

static bool is_elsewhere(const char *point, const struct wc_mount_line *line) {
    (void)point;
    WC_EACH_ROW(one, elsewhere)
        if (strncmp(line->type, *one, strlen(*one)) == 0 && line->type[strlen(*one)] == ' ')
            return true;
    return false;
}

/* ---- directories ---- */

static char *join(const char *directory, const char *name) {
    return must_format("%s%s%s", directory, wc_str_ends(directory, "/") ? "" : "/", name);
}

static void add_directory(struct walking *g, const char *directory, const char *name) {
    OWNED char *path = join(directory, name);

    if (strlen(path) + strlen(g->w->disk->root) + NAME_MAX + 2 >= PATH_MAX)
        g->w->trouble(g->w->ctx, path, "its path is too long");
    else if (!mount_points_have(&g->mounts, path))
        *MUST_ADD(g->waiting, g->waiting_count) = must_copy(path);
}

static unsigned char type_of(int at, const struct dirent *entry) {
    struct stat facts;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(at, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(facts.st_mode);
}

static bool is_executable(int at, const char *name) {
    struct stat facts;

    return fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && (facts.st_mode & 0111);
}

static void see(struct walking *g, const char *directory, int at, const struct dirent *entry) {
    const char *name = entry->d_name;
    unsigned char type = type_of(at, entry);
    bool is_library = is_library_name(name) && (type == DT_REG || type == DT_LNK);

    g->w->files++;
    if (type == DT_DIR) {
        add_directory(g, directory, name);
    } else if (is_library || (type == DT_REG && is_executable(at, name))) {
        OWNED char *path = join(directory, name);
        g->w->file(g->w->ctx, path, at, name,
                   !is_library      ? TREE_PROGRAM
                   : type == DT_LNK ? TREE_LINK
                                    : TREE_LIBRARY);
    }
}

static bool read_directory(struct walking *g, const char *path) {
    OWNED char *outside = must_format("%s%s", g->w->disk->root, path);
    DIR *d = below_list(&g->w->disk->below, outside);

    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            see(g, path, dirfd(d), e);
    closedir(d);
    return true;
}

bool tree_walk(struct tree_walk *w, const char *directory) {
    struct walking g = {.w = w};
    bool good = true;

    if (!w->disk->root[0])
        mount_points_read(&g.mounts, is_elsewhere);
    *MUST_ADD(g.waiting, g.waiting_count) = must_copy(directory);
    while (g.waiting_count > 0) {
        OWNED char *path = g.waiting[--g.waiting_count];
        bool readable = read_directory(&g, path);
        if (!readable && g.done == 0)
            good = false;
        else if (!readable)
            w->trouble(w->ctx, path, strerror(errno));
        if (readable && w->directory)
            w->directory(w->ctx, path);
        g.done++;
        if (w->progress)
            w->progress(w->ctx, g.done, g.done + g.waiting_count);
    }
    mount_points_end(&g.mounts);
    free(g.waiting);
    return good;
}
