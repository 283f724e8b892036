/* SPDX-License-Identifier: Apache-2.0 */
#include "copier.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/util/memory.h"

/* Milliseconds: how often a terminal's size and modes are looked at; it has no more to give. */
enum { TICK = 100, QUIET = 20 };
#define SETTLE_MOST 64 /* reads of a terminal to which something else keeps writing */

/* ---- the copier ---- */

static void drop(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void keep(struct kept *k, const char *text, size_t n) {
    for (size_t some; n > 0; text += some, n -= some) {
        size_t at = k->n % KEPT_MOST, room = KEPT_MOST - at;
        some = n < room ? n : room;
        memcpy(k->text + at, text, some);
        k->n += some;
    }
}

/* False: nothing takes it any more. */
static bool put(int to, const char *text, size_t n) {
    while (n > 0) {
        ssize_t done = write(to, text, n);
        if (done < 0 && errno != EAGAIN)
            return false;
        if (done < 0)
            poll(&(struct pollfd){.fd = to, .events = POLLOUT}, 1, -1);
        text += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* A program that draws on its screen sets modes by the descriptor that it draws on. And the command
 * had the signal of the real terminal before: it may have seen the old size. */
static void follow_terminal(struct copied *s) {
    struct winsize size, own;
    struct termios now, real;

    if (ioctl(s->to, TIOCGWINSZ, &size) == 0 && ioctl(s->from, TIOCGWINSZ, &own) == 0 &&
        memcmp(&size, &own, sizeof(size)) != 0) {
        ioctl(s->from, TIOCSWINSZ, &size);
        kill(0, SIGWINCH);
    }
    if (tcgetpgrp(s->to) != getpgrp() || tcgetattr(s->from, &now) != 0 ||
        (now.c_lflag == s->modes.c_lflag && now.c_iflag == s->modes.c_iflag &&
         memcmp(now.c_cc, s->modes.c_cc, sizeof(now.c_cc)) == 0) ||
        tcgetattr(s->to, &real) != 0)
        return;
    s->modes = now;
    now.c_oflag = real.c_oflag;
    tcsetattr(s->to, TCSANOW, &now);
}

/* Where the reader has gone, the command is to see it: so our end is closed. 0: it is. */
static size_t copy(struct copied *s) {
    static char text[64 << 10];
    ssize_t n = read(s->from, text, sizeof(text));

    if (s->is_terminal)
        follow_terminal(s);
    if (n > 0)
        keep(s->kept, text, (size_t)n);
    if (n > 0 && put(s->to, text, (size_t)n))
        return (size_t)n;
    drop(&s->from);
    return 0;
}

/* What was printed until now. */
static void copy_rest(struct copied *s) {
    struct pollfd ready = {.fd = s->from, .events = POLLIN};
    int left = 0;

    if (!s->is_terminal && ioctl(s->from, FIONREAD, &left) == 0)
        while (left > 0 && s->from >= 0)
            left -= (int)copy(s);
    for (int i = 0; s->is_terminal && i < SETTLE_MOST && poll(&ready, 1, QUIET) > 0; i++)
        if (copy(s) == 0)
            return;
}

/* What it inherited may be a lock, or a pipe that something reads to its end. */
static void close_others(const struct copied *s) {
    OWNED_DIR DIR *open_ones = opendir("/proc/self/fd");
    struct dirent *entry;

    while (open_ones && (entry = readdir(open_ones))) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd != dirfd(open_ones) && fd != s->talk && fd != s->to && fd != s->from)
            close(fd);
    }
}

static _Noreturn void copy_all(struct copied *s) {
    char asked;

    close_others(s);
    while (s->from >= 0) {
        struct pollfd ready[] = {
            {.fd = s->from, .events = POLLIN}, {.fd = s->to}, {.fd = s->talk, .events = POLLIN}};
        poll(ready, 3, s->is_terminal ? TICK : -1);
        if (s->is_terminal)
            follow_terminal(s);
        if (ready[0].revents)
            copy(s);
        else if (ready[1].revents)
            drop(&s->from);
        if (!ready[2].revents)
            continue;
        copy_rest(s);
        if (read(s->talk, &asked, 1) != 1 || send(s->talk, &asked, 1, MSG_NOSIGNAL) != 1)
            drop(&s->talk);
    }
    _exit(0);
}

/* ---- both ends ---- */

/* No place of a standard stream that is closed. */
static int above(int fd) {
    int higher = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    drop(&fd);
    return higher;
}

static bool make_pipe(struct copied *s) {
    int ends[2] = {-1, -1};

    if (pipe(ends) != 0)
        return false;
    s->from = above(ends[0]);
    s->end = above(ends[1]);
    fcntl(s->from, F_SETPIPE_SZ, fcntl(s->to, F_GETPIPE_SZ));
    fcntl(s->end, F_SETFL, fcntl(s->to, F_GETFL) & O_NONBLOCK);
    return s->from >= 0 && s->end >= 0;
}

/* It is not a controlling terminal: keys, their signals and the shell's job control stay those of
 * the real one. That one turns line ends into what terminals expect, so this one does not. */
static bool make_terminal(struct copied *s) {
    struct winsize size = {.ws_row = 0};
    char name[64];

    s->from = above(posix_openpt(O_RDWR | O_NOCTTY));
    if (s->from < 0 || grantpt(s->from) != 0 || unlockpt(s->from) != 0 ||
        ptsname_r(s->from, name, sizeof(name)) != 0)
        return false;
    s->end = above(open(name, O_RDWR | O_NOCTTY));
    if (s->end < 0 || tcgetattr(s->to, &s->modes) != 0)
        return false;
    s->modes.c_oflag &= ~(tcflag_t)OPOST;
    ioctl(s->to, TIOCGWINSZ, &size);
    ioctl(s->from, TIOCSWINSZ, &size);
    return tcsetattr(s->end, TCSANOW, &s->modes) == 0 && tcgetattr(s->end, &s->modes) == 0;
}

/* Signals of the terminal and the shell are for the command. */
static bool start(struct copied *s) {
    int talk[2];
    sigset_t all, before;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) != 0)
        return false;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid = fork();
    if (pid == 0) {
        s->talk = above(talk[1]);
        copy_all(s);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(talk[1]);
    s->talk = above(talk[0]);
    return pid > 0;
}

const struct kept *copier_add(struct copier *c, int to) {
    struct copied *s = &c->of[c->n];

    *s = (struct copied){to, .also = -1, .from = -1, .end = -1, .is_terminal = isatty(to)};
    s->kept =
        mmap(NULL, sizeof(*s->kept), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->kept != MAP_FAILED && (s->is_terminal ? make_terminal : make_pipe)(s) && start(s)) {
        c->n++;
        return s->kept;
    }
    drop(&s->from);
    drop(&s->end);
    return NULL;
}

void copier_enter(const struct copier *c) {
    for (size_t i = 0; i < c->n; i++) {
        dup2(c->of[i].end, c->of[i].to);
        if (c->of[i].also >= 0)
            dup2(c->of[i].end, c->of[i].also);
    }
}

void copier_leave(struct copier *c) {
    for (size_t i = 0; i < c->n; i++) {
        drop(&c->of[i].from);
        drop(&c->of[i].end);
    }
}

void copier_settle(const struct copier *c) {
    char one = 0;

    for (size_t i = 0; i < c->n; i++)
        if (send(c->of[i].talk, &one, 1, MSG_NOSIGNAL) == 1)
            while (read(c->of[i].talk, &one, 1) < 0 && errno == EINTR)
                ;
}
