/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <poll.h>
#include <signal.h>

#include "config.h"
#include "files.h"
#include "signals.h"
#include "sys.h"

#define NAME_TAKEN "the name is taken"
#define DIRECTORIES_TRIED 10
#define NAMES_TRIED 100 /* each exec of one process leaves a file */
#define ENDING ".jsonl"
#define OPEN_FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static char path[SYS_PATH];
static const char *trouble;
static bool passing; /* the file could not be created for a reason that may pass */
static uid_t user;   /* owner of the file */
static bool others;  /* other users may replace the file */

const char *log_path(void) {
    return path;
}

const char *log_trouble(void) {
    return trouble;
}

bool log_may_come(void) {
    return !path[0] && passing;
}

/* If the host has closed 0 to 2, our descriptor must not be one of them: other threads print there.
 */
static int above_standard(int fd) {
    if (fd < 0 || fd > 2)
        return fd;
    int higher = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
    sys_close(fd);
    return higher < 0 ? -EMFILE : higher;
}

/* Writes so that the host gets no SIGPIPE, SIGXFSZ or SIGTTOU of this write; writes nothing if
 * signals cannot be held. A signal that the host does not block cannot have been pending before. */
static long write_quietly(int fd, const char *p, size_t n) {
    uint64_t ours = SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ) | SIGNAL_BIT(SIGTTOU);
    uint64_t before = 0, after = 0;
    long written = -1;
    signals_hold();
    bool known = !(this_thread.host_mask & ours) || sys_signal_pending(&before) == 0;
    if (this_thread.held && known) {
        do
            written = sys_write(fd, p, n);
        while (written == -EINTR);
        if (written < 0 && sys_signal_pending(&after) == 0) {
            uint64_t fresh = after & ~before & ours;
            if (fresh)
                sys_signal_take(&fresh);
        }
    }
    signals_release();
    return written;
}

/* Not in a directory of ours or root's that no other user may write to, or that has the sticky bit.
 */
static bool others_may_replace(const char *file) {
    static char directory[SYS_PATH];
    struct stat st;
    wc_str_format(directory, sizeof directory, "%.*s", (int)wc_dir_length(file), file);
    if (sys_stat(directory[0] ? directory : "/", &st) != 0)
        return true;
    return (st.st_uid != user && st.st_uid != 0) || ((st.st_mode & 022) && !(st.st_mode & S_ISVTX));
}

static bool try_create(const char *candidate) {
    struct stat st;
    int opened = sys_open(candidate, OPEN_FLAGS | O_CREAT | O_EXCL, 0644);
    int fd = above_standard(opened);
    if (opened >= 0 && fd < 0)
        sys_unlink(candidate);
    passing = fd == -EMFILE || fd == -ENFILE || fd == -ENOSPC || fd == -EDQUOT;
    if (fd < 0) {
        trouble = fd == -EEXIST ? NAME_TAKEN : "the log file cannot be created";
        return false;
    }
    bool known = sys_fstat(fd, &st) == 0; /* open_own() compares with it */
    sys_close(fd);
    if (!known) {
        sys_unlink(candidate);
        trouble = "the log file cannot be looked at";
        return false;
    }
    user = st.st_uid;
    others = others_may_replace(candidate);
    wc_str_copy(path, sizeof path, candidate);
    trouble = NULL;
    return true;
}

/* name-NUMBER.jsonl. */
static bool with_number(char *to, size_t cap, const char *name, int64_t number) {
    size_t n = wc_str_length(name) - (wc_str_ends(name, ENDING) ? sizeof ENDING - 1 : 0);
    return wc_str_format(to, cap, "%.*s-%jd" ENDING, (int)n, name, (intmax_t)number);
}

/* Tries name, then name-2, ...: an earlier program of this process may have created it. */
static bool try_with_numbers(const char *name) {
    static char candidate[SYS_PATH];
    bool created = try_create(name);
    for (int i = 2; !created && i < NAMES_TRIED && wc_str_same(trouble, NAME_TAKEN) &&
                    with_number(candidate, sizeof candidate, name, i);
         i++)
        created = try_create(candidate);
    return created;
}

static const char *const rank_variables[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
                                             "PMI_RANK"};

struct name_parts {
    const char *node;
    int64_t pid, start_ticks;
};

/* Begins an absolute path: the working directory may change or be removed later. */
static void begin_absolute(struct wc_text *t, char candidate[SYS_PATH], const char *name) {
    static char directory[SYS_PATH];
    wc_text_begin(t, candidate, SYS_PATH);
    if (name[0] != '/' && sys_getcwd(directory, sizeof directory) > 0 && directory[0] == '/')
        wc_text_format(t, "%s%s", directory, wc_str_ends(directory, "/") ? "" : "/");
    wc_text_add(t, name);
}

static bool create_in(const char *directory, const struct name_parts *parts) {
    static char candidate[SYS_PATH];
    struct wc_text t;
    begin_absolute(&t, candidate, directory);
    wc_text_format(&t, "%swhichcudnn-%s-%jd-%jd.jsonl", wc_str_ends(directory, "/") ? "" : "/",
                   parts->node, (intmax_t)parts->pid,
                   (intmax_t)(parts->start_ticks > 0 ? parts->start_ticks : 0));
    return !t.cut && try_with_numbers(candidate);
}

/* A file that the user named. If it exists, another process with the same variable has created it,
 * and this one adds its pid to the name; but not next to a device. */
static bool create_named(const char *pattern, const struct name_parts *parts) {
    static char candidate[SYS_PATH], expanded[SYS_PATH];
    const char *rank = NULL;
    struct wc_text t;
    wc_text_begin(&t, expanded, sizeof expanded);
    WC_EACH_ROW(variable, rank_variables)
        rank = rank ? rank : config_variable(*variable);
    for (const char *s = pattern; *s; s++) {
        char code = s[0] == '%' ? s[1] : 0;
        if (code == 'p')
            wc_text_format(&t, "%jd", (intmax_t)parts->pid);
        else if (code == 'n')
            wc_text_add(&t, parts->node);
        else if (code == 'r')
            for (const char *c = rank ? rank : "0"; *c; c++)
                wc_text_add_char(&t, *c == '/' ? '_' : *c);
        else
            wc_text_add_char(&t, *s);
        s += code == 'p' || code == 'n' || code == 'r';
    }
    if (t.cut)
        return false;
    if (wc_str_ends(expanded, "/") || wc_is_directory(&shim_files, expanded))
        return create_in(expanded, parts);
    begin_absolute(&t, candidate, expanded);
    if (!t.cut && try_create(candidate))
        return true;
    bool device =
        wc_str_starts(candidate, "/dev/") && wc_dir_length(candidate) == sizeof "/dev" - 1;
    if (t.cut || wc_str_compare(trouble, NAME_TAKEN) != 0 || device)
        return false;
    wc_str_copy(expanded, sizeof expanded, candidate);
    return with_number(candidate, sizeof candidate, expanded, parts->pid) &&
           try_with_numbers(candidate);
}

/* In a directory that we make, or that is a real directory of ours. No other user can replace it in
 * a directory with the sticky bit. */
static bool create_below(const char *temporary, const struct name_parts *parts) {
    static char directory[SYS_PATH];
    uid_t own = (uid_t)sys_call(__NR_geteuid);
    struct wc_text t;
    struct stat st;
    for (int i = 1; temporary && temporary[0] == '/' && i < DIRECTORIES_TRIED; i++) {
        wc_text_begin(&t, directory, sizeof directory);
        wc_text_format(&t, "%s/whichcudnn-%jd", temporary, (intmax_t)own);
        if (i > 1)
            wc_text_format(&t, ".%d", i);
        if (t.cut)
            return false;
        int made = sys_make_directory(directory, 0700);
        passing = made == -ENOSPC || made == -EDQUOT;
        trouble = "the directory for logs cannot be made";
        if (sys_link_stat(directory, &st) != 0)
            continue;
        trouble = "other users may write to the directory for logs";
        if (S_ISDIR(st.st_mode) && st.st_uid == own && !(st.st_mode & 022))
            return create_in(directory, parts);
    }
    return false;
}

bool log_create(const char *node, int64_t pid, int64_t start_ticks) {
    struct name_parts parts = {node, pid, start_ticks};
    path[0] = 0;
    trouble = NULL;
    passing = false;
    if (wc_str_same(config.log, "/dev/null"))
        return false;
    if (config.log[0])
        return create_named(config.log, &parts);
    /* Not the working directory, which the program may remove at its end. The same is true of
     * $TMPDIR, and `whichcudnn report` may have another one: so /tmp comes first. */
    return create_below("/tmp", &parts) || create_below(config.temporary_directory, &parts);
}

/* Opens our file, unless another user has replaced it. */
static int open_own(void) {
    struct stat st;
    if (!path[0])
        return -1;
    int fd = above_standard(sys_open(path, OPEN_FLAGS, 0));
    if (fd < 0) {
        trouble = "the log file cannot be opened any more";
        return fd;
    }
    if (!others || (sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == user))
        return fd;
    trouble = "another file replaced the log file";
    sys_close(fd);
    return -1;
}

bool log_append(const char *line, size_t n) {
    struct stat st;
    int fd = open_own();
    if (fd < 0)
        return false;
    long written = write_quietly(fd, line, n);
    bool good = written == (long)n;
    if (!good)
        trouble = "the log file takes no more";
    /* Removes the part of a line that was written before the disk was full. */
    if (written > 0 && !good && sys_fstat(fd, &st) == 0 && st.st_size >= written)
        sys_call(__NR_ftruncate, fd, st.st_size - written);
    sys_close(fd);
    return good;
}

void log_remove(void) {
    int fd = open_own();
    if (fd >= 0) {
        sys_unlink(path);
        sys_close(fd);
    }
    path[0] = 0;
}

/* Descriptor 2 as it was at the start: a host may close it and open a data file there. */
static struct stat standard_error;

void log_note_standard_error(const struct stat *at_start) {
    if (at_start)
        standard_error = *at_start;
    else
        sys_fstat(2, &standard_error);
}

/* If descriptor 2 was redirected since, it has to be where standard output is, too. */
static bool is_standard_error(void) {
    struct stat error, output;
    if (sys_fstat(2, &error) != 0)
        return false;
    if (error.st_dev == standard_error.st_dev && error.st_ino == standard_error.st_ino)
        return true;
    int flags = sys_fcntl(2, F_GETFL, 0), access = flags < 0 ? O_RDONLY : flags & O_ACCMODE;
    /* A terminal, a pipe, or a file that is appended to. Not a socket, an eventfd, timerfd or epoll
     * (which share one inode), the reading end of a pipe, or a data file. */
    bool is_for_text = S_ISCHR(error.st_mode) || S_ISFIFO(error.st_mode) ||
                       (S_ISREG(error.st_mode) && (flags & O_APPEND));
    return (access == O_WRONLY || access == O_RDWR) && is_for_text &&
           flags == sys_fcntl(1, F_GETFL, 0) && sys_fstat(1, &output) == 0 &&
           error.st_dev == output.st_dev && error.st_ino == output.st_ino;
}

void log_to_standard_error(const char *text, size_t n) {
    struct pollfd ask = {2, POLLOUT, 0};
    const struct sys_time none = {0, 0};
    /* A full pipe would block the host. If poll finds room there is a page, more than we print. */
    if (is_standard_error() && sys_call(__NR_ppoll, &ask, 1, &none, 0, 8) == 1)
        write_quietly(2, text, n);
}
