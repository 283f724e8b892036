/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter ROOT [--with DIR]... [--put FILE PATH]... [--set NAME=VALUE]... [--] PROGRAM ARGUMENT...
 *
 * Runs a program in another userland: chroot to ROOT, where this machine's /proc, /dev, /tmp and
 * each DIR are seen under their own names and each FILE at PATH, in a mount namespace of its own.
 * By exec, so that signals and statuses are the program's; linked statically, so that nothing is
 * preloaded into it. Variables that only the program is to have come with --set. Status 125: this
 * is not allowed here.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "enter: %s: %s\n", what, strerror(errno));
    exit(125);
}

static void write_file(const char *path, const char *format, unsigned value) {
    FILE *file = fopen(path, "we");
    if (!file || fprintf(file, format, value) < 0 || fclose(file) != 0)
        fail(path);
}

/* Without root: as root of a user namespace. */
static void part(void) {
    unsigned uid = getuid(), gid = getgid();
    if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
        fail("unshare");
    if (uid != 0) {
        write_file("/proc/self/uid_map", "0 %u 1", uid);
        write_file("/proc/self/setgroups", "deny", 0);
        write_file("/proc/self/gid_map", "0 %u 1", gid);
    } else if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        fail("mount");
    }
}

static void make_directories(char *path) {
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(path, 0755);
        *p = '/';
    }
    mkdir(path, 0755);
}

/* What is mounted over has to be there; what is put there stays, empty. */
static void show(const char *root, const char *what, const char *path) {
    struct stat facts;
    char *there;
    if (asprintf(&there, "%s%s", root, path) < 0)
        fail("asprintf");
    if (stat(what, &facts) != 0)
        fail(what);
    if (S_ISDIR(facts.st_mode))
        make_directories(there);
    else
        close(open(there, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (mount(what, there, NULL, MS_BIND | MS_REC, NULL) != 0)
        fail(there);
    free(there);
}

static char *option(char ***at, const char *name) {
    char *value = NULL;
    if (**at && strcmp(**at, name) == 0 && (value = (*at)[1]))
        *at += 2;
    return value;
}

int main(int argc, char **argv) {
    char cwd[4096], **at = argv + 2, *value;
    if (argc < 3 || !getcwd(cwd, sizeof cwd)) {
        fprintf(stderr, "usage: enter ROOT [option]... COMMAND...\n");
        return 125;
    }
    part();
    show(argv[1], "/proc", "/proc");
    show(argv[1], "/dev", "/dev");
    show(argv[1], "/tmp", "/tmp");
    while ((value = option(&at, "--with")))
        show(argv[1], value, value);
    while ((value = option(&at, "--put")) && *at)
        show(argv[1], value, *at++);
    if (chroot(argv[1]) != 0)
        fail(argv[1]);
    if (chdir(cwd) != 0 && chdir("/") != 0)
        fail(cwd);
    while ((value = option(&at, "--set")))
        putenv(value);
    if (*at && strcmp(*at, "--") == 0)
        at++;
    if (*at)
        execvp(*at, at);
    fprintf(stderr, "enter: %s: %s\n", *at ? *at : "no command", strerror(errno));
    return errno == ENOENT ? 127 : 126;
}
