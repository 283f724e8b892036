/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage ROOT [bind=FROM:TO]... [noexec=DIR] [uid=N] [cwd=DIR] [set=NAME=VALUE]... -- COMMAND...:
 * runs COMMAND in ROOT, in a mount namespace of its own. /proc is the computer's; ROOT/.driver
 * stands for /proc/driver.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root;

static void fail(const char *what) {
    perror(what);
    exit(125);
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file))
        fail(path);
}

static void bind(const char *from, const char *to) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s", root, to);
    if (mount(from, path, NULL, MS_BIND | MS_REC, NULL))
        fail(path);
}

int main(int argc, char **argv) {
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/full"};
    char path[4096], map[64];
    const char *cwd = "/";
    unsigned uid = 0, user = geteuid(), group = getegid();
    int i = 2;

    if (argc < 4)
        return 125;
    root = argv[1];
    if (unshare(CLONE_NEWNS | (user ? CLONE_NEWUSER : 0)))
        fail("unshare");
    if (user) {
        put("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", user);
        put("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "0 %u 1", group);
        put("/proc/self/gid_map", map);
    }
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        fail("private");
    bind("/proc", "/proc");
    for (unsigned n = 0; n < sizeof devices / sizeof *devices; n++)
        bind(devices[n], devices[n]);
    snprintf(path, sizeof path, "%s/.driver", root);
    if (access("/proc/driver", F_OK) == 0)
        bind(path, "/proc/driver");
    for (; i < argc && strcmp(argv[i], "--"); i++) {
        char *to = strchr(argv[i], ':');
        if (!strncmp(argv[i], "bind=", 5) && to) {
            *to = 0;
            bind(argv[i] + 5, to + 1);
            /* They are the computer's. A user may be kept from that, and from writing there, too.
             */
            snprintf(path, sizeof path, "%s%s", root, to + 1);
            mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
        } else if (!strncmp(argv[i], "uid=", 4)) {
            uid = (unsigned)atoi(argv[i] + 4);
        } else if (!strncmp(argv[i], "cwd=", 4)) {
            cwd = argv[i] + 4;
        } else if (!strncmp(argv[i], "set=", 4)) {
            putenv(argv[i] + 4);
        } else if (!strncmp(argv[i], "noexec=", 7)) {
            snprintf(path, sizeof path, "%s%s", root, argv[i] + 7);
            bind(path, argv[i] + 7);
            if (mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_NOEXEC, NULL))
                fail("noexec");
        }
    }
    if (i + 1 >= argc || chroot(root) || chdir(cwd))
        fail(cwd);
    if (uid && !user && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
        fail("uid");
    execvp(argv[i + 1], argv + i + 1);
    perror(argv[i + 1]);
    return 127;
}
