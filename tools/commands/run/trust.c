/* SPDX-License-Identifier: Apache-2.0 */
/* What is given up for --as-owner: setpriv(1), capabilities(7), ioctl_tty(2) of TIOCSTI. */
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/commands/child.h"
#include "tools/commands/options.h"
#include "tools/diagnose/entries.h"
#include "tools/util/disk.h"
#include "tools/util/program.h"

#define LINKS_MOST 400 /* the kernel follows 40; here those of a directory count each time */
#define FIRST_GROUP_OF_USERS 1000
#define NO_GROUP 65534 /* of a user without an entry in /etc/passwd */
#define DESCRIPTORS_MOST 1024

/* ---- which users may write ---- */

static bool is_other(uid_t user) {
    struct stat root = {.st_uid = 0};

    return user != geteuid() && user != 0 && (lstat("/", &root) != 0 || user != root.st_uid);
}

/* No other user is in the caller's own group, nor in one without members (Debian's
 * staff). Which users a directory service has need not be listed: their groups do not count. */
static bool has_others(gid_t group) {
    const struct group *g = getgrgid(group);
    const struct passwd *p = getpwuid(geteuid());
    bool others = !g || g->gr_mem[0] ||
                  (group >= FIRST_GROUP_OF_USERS && (!p || strcmp(g->gr_name, p->pw_name) != 0));

    setpwent();
    while (!others && (p = getpwent()))
        others = p->pw_gid == group && is_other(p->pw_uid);
    endpwent();
    return others;
}

/* ---- paths ---- */

/* What an access list gives shows in the bits of the group. */
static void check_writers(struct trust *t, const char *path, const struct stat *facts) {
    if (facts->st_mode & S_IWOTH)
        t->why = must_format("all users may write to %s", path);
    else if (facts->st_mode & S_IWGRP && ((facts->st_gid != 0 && has_others(facts->st_gid)) ||
                                          getxattr(path, "system.posix_acl_access", NULL, 0) > 0))
        t->why = must_format("other users may write to %s", path);
}

/* Its directory first: then what is found of it stays as it is. False: it is missing. */
static bool check(struct trust *t, const char *path, int *links) {
    OWNED char *above = must_format("%.*s", (int)wc_dir_length(path), path), *next = NULL;
    struct stat directory, facts;

    if (strcmp(path, "/") == 0)
        return true;
    if (!check(t, above, links) || t->why)
        return false;
    bool is_there = lstat(path, &facts) == 0;
    if (!is_there && errno != ENOENT && errno != ENOTDIR)
        t->why = must_format("%s: %s", path, strerror(errno));
    else if (stat(above, &directory) == 0 && !(is_there && directory.st_mode & S_ISVTX))
        check_writers(t, above, &directory);
    if (is_there && !t->why && is_other(facts.st_uid)) {
        const struct passwd *p = getpwuid(facts.st_uid);
        t->owner = facts.st_uid;
        t->why = must_format("%s belongs to user %s%s(uid %u), not to you or root", path,
                             p ? p->pw_name : "", p ? " " : "", facts.st_uid);
    }
    if (!is_there || t->why || !S_ISLNK(facts.st_mode))
        return is_there;
    OWNED char *target = disk_link(path);
    if (++*links > LINKS_MOST || !target) {
        t->why = must_format("%s: %s", path, strerror(ELOOP));
        return false;
    }
    next = must_format("%s%s%s", *target == '/' ? "" : above, *target == '/' ? "" : "/", target);
    return check(t, next, links);
}

void trust_path(struct trust *t, const char *path) {
    struct stat facts;
    int links = 0;

    if (!path || t->why)
        return;
    OWNED char *from = *path == '/' ? NULL : getcwd(NULL, 0);
    OWNED char *whole = from ? must_format("%s/%s", from, path) : must_copy(path);
    if (*whole != '/' || strlen(whole) >= PATH_MAX)
        t->why = must_format("%s: %s", path, strerror(ENAMETOOLONG));
    else if (check(t, whole, &links) && !t->why && stat(whole, &facts) == 0)
        check_writers(t, whole, &facts);
}

void trust_directory(struct trust *t, const char *path, const char *part) {
    OWNED char *pattern = must_format("/*%s*", part);
    OWNED_GLOB glob_t found = glob_below("", path, pattern, GLOB_NOSORT | GLOB_PERIOD);

    trust_path(t, path);
    for (size_t i = 0; path && i < found.gl_pathc; i++)
        if (!wc_str_ends(found.gl_pathv[i], "/.") && !wc_str_ends(found.gl_pathv[i], "/.."))
            trust_path(t, found.gl_pathv[i]);
}

void trust_list(struct trust *t, const char *list, const char *separators, const char *but) {
    WC_EACH_ELEMENT(e, list, separators) {
        OWNED char *element = must_format("%.*s", (int)e.n, e.p);
        if (!t->why && strchr(element, '$')) /* of which program? */
            t->why = must_format("%s depends on the program that searches it", element);
        else if (!path_has_element(but, e.p, e.n))
            trust_directory(t, *element ? element : ".", ".so");
    }
}

void trust_logs(struct trust *t, const struct logs *logs) {
    struct stat in = {.st_ino = 0};

    (void)fstat(STDIN_FILENO, &in);
    EACH_POINTER(f, logs->files, logs->file_count)
        trust_path(t, f->device == in.st_dev && f->inode == in.st_ino ? "/dev/stdin" : f->path);
    EACH_POINTER(s, logs->processes, logs->process_count)
        if (s->type == SOURCE_LOCK)
            trust_path(t, s->path);
}

/* ---- with the owner's rights ---- */

/* In the child. Of root's it keeps nothing: no variable but PATH, no descriptor, and no terminal to
 * put input into (TIOCSTI); it stays in the foreground, where Ctrl-C reaches it. */
static void become_owner(void *arg) {
    const struct __user_cap_data_struct none[2] = {{.effective = 0}};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const uid_t owner = *(const uid_t *)arg;
    const struct passwd *user = getpwuid(owner);
    const gid_t group = user ? user->pw_gid : NO_GROUP;
    OWNED char *path = must_copy(getenv("PATH"));

    ioctl(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC), TIOCNOTTY);
    for (int fd = 3; fd < DESCRIPTORS_MOST; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    clearenv();
    setenv("PATH", path ?: "/usr/bin:/bin", 1);
    setenv("HOME", user ? user->pw_dir : "/", 1);
    setenv("USER", user ? user->pw_name : "", 1);
    for (int i = 0; prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0; i++)
        ;
    if (setgroups(0, NULL) == 0 && setresgid(group, group, group) == 0 &&
        setresuid(owner, owner, owner) == 0 && syscall(SYS_capset, &header, none) == 0 &&
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && /* it ended with the change of user */
        (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 || errno == ENOSYS ||
         errno == EPERM)) /* a container's filter; then no key is available */
        return;
    complain("root's rights cannot be given up: %s", strerror(errno));
    _exit(EXIT_USAGE);
}

bool trust_refused(struct trust *t, int *answer) {
    OWNED char *why = t->why;
    const bool may_become = t->owner && geteuid() == 0;
    const struct supervision with = {.prepare = become_owner, .arg = &t->owner};
    struct child child = {.pid = 0};
    char **words = options.words;

    t->why = NULL;
    *answer = EXIT_USAGE;
    if (why && may_become && options.as_owner) {
        /* All of it again, as a log that the owner may change meanwhile is no more trusted then. */
        words[0] = "/proc/self/exe";
        words[1] = strchr(words[1], ' ') + 1; /* of "whichcudnn NAME" */
        (void)supervise(words, &with, &child);
        *answer = child_exit_code(&child);
    } else if (why) {
        complain("not run: %s%s", why,
                 may_become ? "; --as-owner runs it with that user's rights" : "");
    }
    return why != NULL;
}
