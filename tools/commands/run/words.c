/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

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
#include <sys/stat.h>
#include <unistd.h>

#include "core/demand/questions.h"

#define QUOTE_MOST 200 /* bytes of a message that are shown */
/* Milliseconds: how often a terminal's size and modes are looked at; it has no more to give. */
enum { TICK = 100, QUIET = 20 };
#define SETTLE_MOST 64 /* reads of a terminal to which something else keeps writing */
#define KEPT_MOST ((size_t)512 << 10) /* bytes of a stream that are kept: its last ones */

struct kept {             /* in memory that `run` and the copier share */
    size_t n;             /* bytes that came */
    char text[KEPT_MOST]; /* a ring */
};

/* ---- the copier: a process between a stream of the command and where it goes ---- */

/* It copies what comes, unchanged, and keeps the last part for `run`. It ends when nothing has the
 * other end open any more, so what the command leaves behind can still print after `run` has
 * ended. */

/* A program that draws on its screen sets modes by the descriptor that it draws on. And the command
 * had the signal of the real terminal before: it may have seen the old size. */
static void follow_terminal(struct words_stream *s) {
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
static size_t copy(struct words_stream *s) {
    static char text[64 << 10];
    ssize_t n = read(s->from, text, sizeof(text)), at = 0, done;

    if (s->is_terminal)
        follow_terminal(s);
    for (ssize_t i = 0; i < n; i++)
        s->kept->text[s->kept->n++ % KEPT_MOST] = text[i];
    while (at < n) {
        done = write(s->to, text + at, (size_t)(n - at));
        if (done >= 0)
            at += done;
        else if (errno == EAGAIN)
            poll(&(struct pollfd){.fd = s->to, .events = POLLOUT}, 1, -1);
        else
            n = 0;
    }
    if (n <= 0)
        fd_end(&s->from);
    return n > 0 ? (size_t)n : 0;
}

static _Noreturn void copy_all(struct words_stream *s) {
    OWNED_DIR DIR *open_ones = opendir("/proc/self/fd");
    struct dirent *entry;
    char asked;

    /* What it inherited may be a lock, or a pipe that something reads to its end. */
    while (open_ones && (entry = readdir(open_ones))) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (fd != dirfd(open_ones) && fd != s->talk && fd != s->to && fd != s->from)
            close(fd);
    }
    while (s->from >= 0) {
        struct pollfd ready[] = {
            {.fd = s->from, .events = POLLIN}, {.fd = s->to}, {.fd = s->talk, .events = POLLIN}};
        int left = 0;
        poll(ready, 3, s->is_terminal ? TICK : -1);
        if (s->is_terminal)
            follow_terminal(s);
        if (ready[0].revents)
            copy(s);
        else if (ready[1].revents)
            fd_end(&s->from);
        if (!ready[2].revents)
            continue;
        /* What was printed until now. */
        if (!s->is_terminal && ioctl(s->from, FIONREAD, &left) == 0)
            while (left > 0 && s->from >= 0)
                left -= (int)copy(s);
        for (int i = 0; s->is_terminal && i < SETTLE_MOST && poll(ready, 1, QUIET) > 0; i++)
            if (copy(s) == 0)
                break;
        if (read(s->talk, &asked, 1) != 1 || send(s->talk, &asked, 1, MSG_NOSIGNAL) != 1)
            fd_end(&s->talk);
    }
    _exit(0);
}

/* No place of a standard stream that is closed. */
static int above(int fd) {
    int higher = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    fd_end(&fd);
    return higher;
}

static bool make_pipe(struct words_stream *s) {
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
static bool make_terminal(struct words_stream *s) {
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

/* Signals of the terminal and the shell are for the command. False: none could be made (errno), and
 * nothing changed. */
static bool start_copier(struct words_stream *s) {
    int talk[2];
    sigset_t all, before;
    pid_t pid = -1;

    s->from = s->end = -1;
    s->is_terminal = isatty(s->to);
    s->kept =
        mmap(NULL, sizeof(*s->kept), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->kept != MAP_FAILED && (s->is_terminal ? make_terminal : make_pipe)(s) &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) == 0) {
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
    }
    if (pid > 0)
        return true;
    fd_end(&s->from);
    fd_end(&s->end);
    s->kept = NULL;
    return false;
}

/* ---- its streams ---- */

void words_begin(struct words *w, bool copies) {
    static const int descriptors[] = {STDERR_FILENO, STDOUT_FILENO};
    struct stat facts, first = {.st_ino = 0};

    for (size_t i = 0; i < 2; i++) {
        struct words_stream *s = &w->of[i];
        *s = (struct words_stream){.to = descriptors[i], .also = -1};
        if (fstat(s->to, &facts) != 0)
            continue;
        bool can_be_copied = S_ISFIFO(facts.st_mode) || isatty(s->to);
        errno = 0;
        if (i > 0 && facts.st_ino == first.st_ino && facts.st_dev == first.st_dev) {
            w->of[0].also = s->to;
            continue;
        }
        first = facts;
        s->is_file = S_ISREG(facts.st_mode);
        if (s->is_file) /* its position is shared with the command and stays as it is */
            s->begin = fcntl(s->to, F_GETFL) & O_APPEND ? facts.st_size : lseek(s->to, 0, SEEK_CUR);
        else if (copies && can_be_copied)
            s->is_copied = start_copier(s);
        if (copies && !s->is_file && !s->is_copied && s->to == STDERR_FILENO)
            complain("--text: standard error is not read: %s",
                     errno ? strerror(errno) : "it is not a terminal, pipe or regular file");
    }
}

void words_enter(const struct words *w) {
    WC_EACH_ROW(s, w->of)
        if (s->is_copied) {
            dup2(s->end, s->to);
            if (s->also >= 0)
                dup2(s->end, s->also);
        }
}

void words_leave(struct words *w) {
    for (size_t i = 0; i < 2; i++)
        if (w->of[i].is_copied) {
            fd_end(&w->of[i].from);
            fd_end(&w->of[i].end);
        }
}

void words_settle(const struct words *w) {
    char one = 0;

    WC_EACH_ROW(s, w->of)
        if (s->is_copied && send(s->talk, &one, 1, MSG_NOSIGNAL) == 1)
            while (read(s->talk, &one, 1) < 0 && errno == EINTR)
                ;
}

/* ---- what is recognized ---- */

/* A shell opens the file for writing only; so it is opened again. NULL: it cannot be. */
static struct kept *read_file(const struct words_stream *s) {
    OWNED char *path = must_format("/proc/self/fd/%d", s->to);
    OWNED_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct kept *k = fd < 0 ? NULL : must_allocate(sizeof(*k));
    int64_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    bool cut = end - s->begin > (int64_t)KEPT_MOST;
    ssize_t n = k ? pread(fd, k->text, KEPT_MOST, cut ? end - (int64_t)KEPT_MOST : s->begin) : 0;

    if (n > 0) /* more than there is room for: a ring that ends where it begins */
        k->n = cut ? 2 * KEPT_MOST : (size_t)n;
    return k;
}

static const char *name_of(const struct words *w, const struct words_stream *s) {
    static const char *const names[][2] = {
        {"standard error", "standard error (its last 512 KiB)"},
        {"standard output", "standard output (its last 512 KiB)"}};

    return names[s - w->of][s->kept && s->kept->n > KEPT_MOST];
}

/* Of what ends a program, or leaves it without the GPU; or of what depends on how it went on. */
static void keep_lines(struct words *w, bool that_depend) {
    WC_EACH_ROW(s, w->of)
        WC_EACH(m, s->found) {
            const enum message_effect effect = m->message->effect;
            if (w->line_count < WORDS_LINES &&
                (that_depend ? effect == EFFECT_DEPENDS
                             : effect == EFFECT_FATAL || effect == EFFECT_FALLBACK))
                w->lines[w->line_count++] = must_format(
                    "%s, line %zu: \"%.*s%s\": %s", name_of(w, s), m->line, QUOTE_MOST, m->text,
                    strlen(m->text) > QUOTE_MOST ? " ..." : "", m->message->means);
        }
}

void words_read(struct words *w) {
    static const char refused[] = ": error while loading shared libraries: ";

    words_settle(w);
    for (size_t i = 0; i < 2; i++) {
        struct words_stream *s = &w->of[i];
        const struct kept *k = s->kept = s->is_file ? read_file(s) : s->kept;
        if (!k)
            continue;
        const bool is_ring = k->n > KEPT_MOST;
        const size_t begin = is_ring ? k->n % KEPT_MOST : 0, n = is_ring ? KEPT_MOST : k->n;
        OWNED char *text = must_allocate(n + 1);
        memcpy(text, k->text + begin, n - begin);
        memcpy(text + n - begin, k->text, begin);
        messages_find(text, n, &s->found);
        w->were_read = true;
        for (const char *at = text; (at = strstr(at, refused)); at += strlen(refused)) {
            const char *begin = memrchr(text, '\n', (size_t)(at - text));
            begin = begin ? begin + 1 : text;
            free(w->stopped);
            w->stopped = must_format("%.*s", (int)(at - begin), begin);
        }
        WC_EACH(m, s->found)
            w->name_cudnn = w->name_cudnn || wc_name_is_cudnn(m->library);
    }
    keep_lines(w, false);
    if (w->line_count == 0)
        keep_lines(w, true);
}

void words_end(struct words *w) {
    for (size_t i = 0; i < 2; i++)
        messages_end(&w->of[i].found);
    for (size_t i = 0; i < w->line_count; i++)
        free(w->lines[i]);
    free(w->stopped);
}

/* ---- records ---- */

bool words_ended_well(const struct words *w, struct source *const *logs, size_t n,
                      const struct source *log) {
    const struct wc_process_record *p = &log->stack.process;

    return w->in_turn && log->stack.has_summary && p->parent_pid == p->run_pid &&
           WC_ANY(other, WC_ITEMS(logs, n), (*other)->first_time > log->last_time);
}

/* Another program had the same release: it is unknown which of the two printed it. */
static bool is_of_two(const struct words *w, struct source *const *logs, size_t n,
                      const struct source *log) {
    const struct wc_object *own = wc_first_facade(&log->stack), *other;

    return own &&
           WC_ANY(o, WC_ITEMS(logs, n),
                  (other = wc_first_facade(&(*o)->stack)) &&
                      wc_ranges_meet(wc_own_range(own), wc_own_range(other)) &&
                      !wc_str_same((*o)->stack.process.executable, log->stack.process.executable) &&
                      (log->of_command == WC_END_WELL || !words_ended_well(w, logs, n, *o)));
}

/* A warning does not explain why a process failed. */
static bool is_unexplained(const struct source *log, const struct report *report) {
    const enum wc_verdict verdict = report->conclusion.verdict;

    return verdict == WC_verdict_UNEXPLAINED ||
           (verdict == WC_verdict_WARNINGS && wc_failed_itself(&log->stack));
}

/* It is the word of the processes that nothing explains; where there is none, of those that ended
 * well, if it says that the program continues without the GPU, or refuses its cuDNN (a child). */
void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet) {
    const bool any = WC_ANY(log, WC_ITEMS(logs, n), is_unexplained(*log, &reports[log - logs]));

    for (size_t i = 0; i < n; i++) {
        const struct wc_sink to = {outcome_tell, logs[i]};
        if ((any ? !is_unexplained(logs[i], &reports[i])
                 : reports[i].conclusion.verdict == WC_verdict_ERRORS) ||
            is_of_two(w, logs, n, logs[i]))
            continue;
        WC_EACH_ROW(s, w->of)
            text_into_log(&s->found, &(struct text_view){name_of(w, s), "", !any, quiet || n > 1},
                          logs[i], &to);
        report_judge(&reports[i]);
    }
}
