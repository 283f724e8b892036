/* SPDX-License-Identifier: Apache-2.0 */
/*
 * does STEP...: a host that does one thing after another and reports each with what it got and what
 * became of errno. A step is NAME or NAME=ARGUMENT (see `steps` at the end).
 */
#include <dirent.h>
#include <grp.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "refuse.h"
#include "report.h"

#define UNTOUCHED 77 /* an errno number that nothing here sets */

static void *library;
static int descriptors_kept[64];

static void fail(const char *what) {
    report("cannot %s: %s\n", what, strerror(errno));
    _exit(3);
}

static void must(int result, const char *what) {
    if (result < 0)
        fail(what);
}

/* ---- the loader, and cuDNN ---- */

static void open_library(const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    int error = errno;
    if (handle)
        library = handle;
    report("%s errno %d\n", handle ? "opened" : dlerror(), error);
}

/* Every file of a directory, in the order of their names. */
static void open_all(const char *directory) {
    struct dirent **list;
    int n = scandir(directory, &list, NULL, alphasort), opened = 0;
    must(n, directory);
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", directory, list[i]->d_name);
        opened += list[i]->d_name[0] != '.' && dlopen(name, RTLD_NOW | RTLD_LOCAL) != NULL;
        free(list[i]);
    }
    free(list);
    report("opened %d\n", opened);
}

static void ask_whether_loaded(const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    report("%s errno %d\n", handle ? "is loaded" : "is not loaded", errno);
    if (handle)
        dlclose(handle);
}

static void close_library(const char *unused) {
    (void)unused;
    int result = dlclose(library);
    report("%d errno %d\n", result, errno);
}

static void look_up(const char *name) {
    void *p = dlsym(library ? library : RTLD_DEFAULT, name);
    int error = errno;
    report("%s errno %d\n", p ? "found" : dlerror(), error);
}

/* Looks a function up and calls it; what it gives is the stand-in's. */
static void call(const char *name) {
    void *handle = NULL;
    long (*function)(void *) = (long (*)(void *))dlsym(library ? library : RTLD_DEFAULT, name);
    if (!function) {
        report("%s\n", dlerror());
        return;
    }
    errno = UNTOUCHED;
    long result = function(&handle);
    report("%ld errno %d\n", result, errno);
}

/* keep=NAME looks a function up; `strict` calls it, without looking it up. */
static long (*kept)(void *);
static void keep(const char *name) {
    kept = (long (*)(void *))dlsym(library, name);
    report("%s\n", kept ? "kept" : dlerror());
}

static void version(const char *unused) {
    (void)unused;
    call("cudnnGetVersion");
}
static void create(const char *unused) {
    (void)unused;
    call("cudnnCreate");
}

/* ---- descriptors ---- */

static void tell_descriptors(const char *unused) {
    (void)unused;
    report("open:");
    for (int fd = 0; fd < 2048; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            report(" %d", fd);
    report("\n");
}

static void close_from(const char *first) {
    must(syscall(SYS_close_range, (unsigned)atoi(first), ~0u, 0), "close_range");
    report("closed\n");
}

/* Takes all descriptors that the limit leaves. */
static void fill_descriptors(const char *unused) {
    (void)unused;
    int n = 0;
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        n++;
    report("%s full\n", n || errno == EMFILE ? "now" : "not");
}

/* Descriptors 0 to 2 become one end each of socket pairs; what arrives at the other ends is told by
 * `heard`. */
static void become_sockets(const char *unused) {
    (void)unused;
    for (int fd = 0; fd < 3; fd++) {
        int pair[2];
        must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), "socketpair");
        descriptors_kept[fd] = fcntl(pair[1], F_DUPFD_CLOEXEC, 40);
        close(pair[1]);
        if (pair[0] != fd) {
            dup2(pair[0], fd);
            close(pair[0]);
        }
    }
    report("0 to 2 are sockets\n");
}

/* Descriptors 1 and 2 become two ends of one pipe, or two files without a name of their own. */
static void become_ends(const char *what) {
    int ends[2] = {-1, -1};
    syscall(SYS_close_range, 0, 2, 0);
    must(open("/dev/null", O_RDWR), "open");
    if (!strcmp(what, "pipe")) {
        must(pipe2(ends, O_NONBLOCK), "pipe2");
    } else {
        ends[0] = epoll_create1(0);
        ends[1] = eventfd(0, EFD_NONBLOCK);
    }
    if (ends[0] != 1 || ends[1] != 2)
        fail(what);
    descriptors_kept[0] = descriptors_kept[1] = -1;
    descriptors_kept[2] = fcntl(ends[!strcmp(what, "pipe") ? 0 : 1], F_DUPFD_CLOEXEC, 40);
    report("1 and 2 are ends\n");
}

static void tell_heard(const char *unused) {
    (void)unused;
    for (int fd = 0; fd < 3; fd++) {
        char text[64];
        ssize_t n = read(descriptors_kept[fd], text, sizeof text);
        report("%d heard %zd\n", fd, n < 0 ? 0 : n);
    }
}

/* Descriptors 0 to 2 become data files of the host in that directory: data0, ... */
static void become_files(const char *directory) {
    for (int fd = 0; fd < 3; fd++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/data%d", directory, fd);
        close(fd);
        if (open(name, O_RDWR | O_CREAT | O_TRUNC, 0666) != fd)
            fail(name);
    }
    report("0 to 2 are files\n");
}

/* Standard error becomes a pipe that nobody reads from. */
static void break_standard_error(const char *how) {
    int ends[2];
    must(pipe2(ends, O_CLOEXEC), "pipe2");
    must(dup2(ends[1], 2), "dup2");
    close(ends[1]);
    if (!strcmp(how, "broken")) {
        close(ends[0]);
    } else { /* full */
        char page[4096] = {0};
        fcntl(2, F_SETFL, O_NONBLOCK);
        while (write(2, page, sizeof page) > 0)
            continue;
        fcntl(2, F_SETFL, 0);
    }
    report("standard error is %s\n", how);
}

/* ---- signals ---- */

static volatile sig_atomic_t arrived[65];
static void count(int number) {
    int error = errno;
    if (arrived[number] < 1000000)
        arrived[number]++;
    errno = error;
}

static const struct {
    const char *name;
    int number;
} signals[] = {{"PIPE", SIGPIPE}, {"XFSZ", SIGXFSZ}, {"ALRM", SIGALRM}, {"TTOU", SIGTTOU}};

/* signal=PIPE:dfl|ign|count|block */
static void set_signal(const char *what) {
    const char *how = strchr(what, ':') + 1;
    int number = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!strncmp(what, signals[i].name, strlen(signals[i].name)))
            number = signals[i].number;
    if (!strcmp(how, "block")) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        must(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
    } else {
        struct sigaction action = {.sa_handler = !strcmp(how, "dfl")   ? SIG_DFL
                                                 : !strcmp(how, "ign") ? SIG_IGN
                                                                       : count};
        must(sigaction(number, &action, NULL), "sigaction");
    }
    report("set\n");
}

/* One that the host itself has pending must stay so. */
static void raise_signal(const char *name) {
    must(raise(!strcmp(name, "PIPE") ? SIGPIPE : SIGXFSZ), "raise");
    report("raised\n");
}

static void tell_signals(const char *unused) {
    sigset_t pending, blocked;
    (void)unused;
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number != SIGALRM)
            report("%s arrived %d pending %d blocked %d\n", signals[i].name,
                   (int)arrived[signals[i].number], sigismember(&pending, signals[i].number),
                   sigismember(&blocked, signals[i].number));
}

/* alarms=MICROSECONDS or MICROSECONDS:restart; 0 ends them. */
static void alarms(const char *how) {
    long every = atol(how);
    struct itimerval timer = {{0, every}, {0, every}};
    struct sigaction action = {.sa_handler = count, .sa_flags = strchr(how, ':') ? SA_RESTART : 0};
    sigaction(SIGALRM, &action, NULL);
    must(setitimer(ITIMER_REAL, &timer, NULL), "setitimer");
    if (!every)
        report("%s\n", arrived[SIGALRM] > 20 ? "many came" : "few came");
    else
        report("they come\n");
}

/* Is a read cut short, a sleep ended early, by those alarms? */
static void tell_interruptions(const char *unused) {
    struct timespec time = {2, 0}, rest = {0, 0};
    int ends[2];
    char byte;
    (void)unused;
    int slept = nanosleep(&time, &rest);
    report("sleep %d %s\n", slept, slept ? strerror(errno) : "");
    must(pipe2(ends, O_CLOEXEC), "pipe2");
    pid_t pid = fork();
    if (pid == 0) {
        struct timespec pause = {0, 300000000}; /* a child has no timer */
        nanosleep(&pause, NULL);
        _exit(write(ends[1], "x", 1) != 1);
    }
    ssize_t got = read(ends[0], &byte, 1);
    report("read %zd %s\n", got, got < 0 ? strerror(errno) : "");
    close(ends[0]);
    close(ends[1]);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* ---- limits and rights ---- */

static size_t mapped_now(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        fail("read statm");
    fclose(file);
    return pages * 4096;
}

static const struct {
    const char *name;
    int number;
} limits[] = {{"NOFILE", RLIMIT_NOFILE},  {"FSIZE", RLIMIT_FSIZE}, {"AS", RLIMIT_AS},
              {"NPROC", RLIMIT_NPROC},    {"STACK", RLIMIT_STACK}, {"DATA", RLIMIT_DATA},
              {"MEMLOCK", RLIMIT_MEMLOCK}};

/* limit=NOFILE:3, limit=AS:+65536 (beyond what is mapped now); the soft one. */
static void set_limit(const char *what) {
    const char *value = strchr(what, ':') + 1;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!strncmp(what, limits[i].name, strlen(limits[i].name))) {
            struct rlimit limit;
            must(getrlimit(limits[i].number, &limit), "getrlimit");
            if (!strcmp(value, "max"))
                limit.rlim_cur = limit.rlim_max;
            else
                limit.rlim_cur = strtoul(value, NULL, 0) + (*value == '+' ? mapped_now() : 0);
            must(setrlimit(limits[i].number, &limit), "setrlimit");
        }
    report("limited\n");
}

static void change_directory(const char *to) {
    must(chdir(to), to);
    report("there\n");
}
/* As a program does that wants to work in a directory of its own. */
static char temporary[] = "own-XXXXXX";
static void make_temporary(const char *unused) {
    (void)unused;
    if (!mkdtemp(temporary))
        fail("mkdtemp");
    must(chdir(temporary), "chdir");
    report("is made\n");
}
static void remove_temporary(const char *unused) {
    (void)unused;
    must(chdir(".."), "chdir");
    must(rmdir(temporary), "rmdir");
    report("is gone\n");
}

static void change_root(const char *to) {
    must(chroot(to), to);
    must(chdir("/"), "chdir");
    report("rooted\n");
}
static void become_user(const char *id) {
    gid_t number = (gid_t)atoi(id);
    must(setgroups(0, NULL), "setgroups");
    must(setresgid(number, number, number), "setresgid");
    must(setresuid(number, number, number), "setresuid");
    report("user %d dumpable %d\n", (int)geteuid(), prctl(PR_GET_DUMPABLE));
}
static void set_process(const char *what) {
    if (!strcmp(what, "not-dumpable"))
        must(prctl(PR_SET_DUMPABLE, 0), what);
    else if (!strcmp(what, "no-new-privileges"))
        must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), what);
    else if (!strcmp(what, "own-mounts"))
        must(unshare(CLONE_NEWNS), what);
    else if (!strcmp(what, "own-pids")) /* of its next child on */
        must(unshare(CLONE_NEWPID), what);
    else if (!strcmp(what, "own-user"))
        must(unshare(CLONE_NEWUSER), what);
    else
        fail(what);
    report("set\n");
}

/* For a while, as some daemons do around what users name. */
static void be_for_now(const char *id) {
    must(seteuid((uid_t)atoi(id)), "seteuid");
    report("user %d\n", (int)geteuid());
}
static void tell_rights(const char *unused) {
    (void)unused;
    report("secure %d log %s\n", (int)getauxval(AT_SECURE),
           getenv("WHICHCUDNN_LOG") ? "asked for" : "not asked for");
}
/* Is such a file mapped? In both runs the same, but for the shim. */
static void tell_mapped(const char *name) {
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        found = found || strstr(line, name);
    if (maps)
        fclose(maps);
    report("%s\n", found ? "yes" : "no");
}

/* Only read, write, exit and sigreturn are left; no destructor runs. */
static void strict(const char *unused) {
    void *handle = NULL;
    (void)unused;
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), "strict seccomp");
    report("%ld\n", kept ? kept(&handle) : 0);
    syscall(SYS_exit, 5);
}

/* ---- system calls of the shim that a filter refuses ---- */

static void refuse_one(const char *what) { /* refuse=NUMBER:ERRNO, or refuse=all-but:N,N,... */
    refuse_in_shim(what);
    report("filtered\n");
}

/* ---- other processes ---- */

/* A command without the preload. */
/* Without an end of its own. */
static void leave(const char *unused) {
    (void)unused;
    report("leaves\n");
    report_end();
    _exit(0);
}

static void shell(const char *command) {
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    char *environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    pid_t pid;
    int status = 0;
    sigset_t none, all;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (posix_spawn(&pid, "/bin/sh", NULL, &attributes, arguments, environment) != 0)
        fail(command);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    report("status %d\n", status);
}

static pid_t parent_of_all;

/* The rest is done by a child; the parent tells how it ended, and ends. */
static void go_on_in_child(const char *unused) {
    (void)unused;
    report("forks\n");
    pid_t pid = fork();
    must(pid, "fork");
    if (pid) {
        int status;
        waitpid(pid, &status, 0);
        report_length = strlen(report_text);
        report("child ended with %#x\n", status);
        report_end();
        exit(0);
    }
}

/* Two threads at once elf_file a function up and call it, often. */
static void *look_up_often(void *name) {
    void *handle;
    for (int i = 0; i < 100; i++)
        ((long (*)(void *))dlsym(library, name))(&handle);
    return NULL;
}
static void both(const char *name) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, look_up_often, (void *)name);
    must(errno ? -1 : 0, "start a thread");
    look_up_often((void *)name);
    pthread_join(thread, NULL);
    report("done\n");
}

/* The rest is done by a child that its parent follows from system call to system call, as strace
 * does. */
static void go_on_traced(const char *unused) {
    int status, stops = 0;
    (void)unused;
    report("follows\n");
    pid_t pid = fork();
    must(pid, "fork");
    if (pid == 0) {
        must((int)ptrace(PTRACE_TRACEME, 0, NULL, NULL), "be traced");
        raise(SIGSTOP);
        return;
    }
    waitpid(pid, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (long signal = 0; !WIFEXITED(status) && !WIFSIGNALED(status); stops++) {
        must((int)ptrace(PTRACE_SYSCALL, pid, NULL, signal), "go on");
        waitpid(pid, &status, 0);
        signal = WIFSTOPPED(status) && !(WSTOPSIG(status) & 0x80) ? WSTOPSIG(status) : 0;
    }
    report_length = strlen(report_text);
    report("%s, child ended with %#x\n", stops > 20 ? "many stops" : "few stops", status);
    report_end();
    exit(0);
}

/* The rest is done by a thread with a stack of so many KiB, no more. */
static void do_the_rest(void);
static void *in_thread(void *unused) {
    do_the_rest();
    return unused;
}
static void go_on_in_thread(const char *kib) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    size_t size = strcmp(kib, "least") ? (size_t)atoi(kib) << 10 : (size_t)PTHREAD_STACK_MIN;
    errno = pthread_attr_setstacksize(&attributes, size);
    must(errno ? -1 : 0, "set the stack's size");
    report("starts\n");
    errno = pthread_create(&thread, &attributes, in_thread, NULL);
    must(errno ? -1 : 0, "start a thread");
    pthread_join(thread, NULL);
}

/* As a daemon: fork twice, a session of its own, /, no descriptors (or what daemon(3) does, and
 * /dev/null). The first process waits until the last one is gone, by a pipe. */
static void become_daemon(const char *how) {
    int ends[2];
    char byte;
    report("becomes a daemon\n");
    must(pipe(ends), "pipe");
    pid_t pid = fork();
    if (pid) {
        close(ends[1]);
        waitpid(pid, NULL, 0);
        while (read(ends[0], &byte, 1) > 0)
            continue;
        exit(0);
    }
    if (!strcmp(how, "libc")) {
        must(daemon(0, 0), "daemon");
        return;
    }
    setsid();
    if (fork())
        _exit(0);
    must(chdir("/"), "chdir");
    dup2(ends[1], 100);
    syscall(SYS_close_range, 0, 99, 0);
    syscall(SYS_close_range, 101, ~0u, 0);
}

static void tell_time(const char *unused) { /* since the process began: bounded, not told */
    struct timespec now;
    (void)unused;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    report("%s\n", now.tv_sec < 2 ? "in time" : "took too long");
}

static const struct step {
    const char *name;
    void (*does)(const char *argument);
} steps[] = {
    {"open", open_library},
    {"open-all", open_all},
    {"loaded", ask_whether_loaded},
    {"close", close_library},
    {"sym", look_up},
    {"call", call},
    {"keep", keep},
    {"version", version},
    {"create", create},
    {"descriptors", tell_descriptors},
    {"close-from", close_from},
    {"fill-descriptors", fill_descriptors},
    {"sockets", become_sockets},
    {"ends", become_ends},
    {"heard", tell_heard},
    {"files", become_files},
    {"stderr", break_standard_error},
    {"signal", set_signal},
    {"raise", raise_signal},
    {"signals", tell_signals},
    {"alarms", alarms},
    {"interruptions", tell_interruptions},
    {"limit", set_limit},
    {"chdir", change_directory},
    {"mkdtemp", make_temporary},
    {"rmdir", remove_temporary},
    {"chroot", change_root},
    {"user", become_user},
    {"for-now", be_for_now},
    {"rights", tell_rights},
    {"mapped", tell_mapped},
    {"process", set_process},
    {"strict", strict},
    {"refuse", refuse_one},
    {"leave", leave},
    {"sh", shell},
    {"fork", go_on_in_child},
    {"both", both},
    {"traced", go_on_traced},
    {"thread", go_on_in_thread},
    {"daemon", become_daemon},
    {"time", tell_time},
};

static void do_step(const char *text) {
    size_t n = strcspn(text, "=");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strlen(steps[i].name) == n && !strncmp(text, steps[i].name, n)) {
            report("%.*s ", (int)n, text);
            errno = UNTOUCHED;
            steps[i].does(text[n] ? text + n + 1 : "");
            return;
        }
    fail(text);
}

static char **to_do;
static void do_the_rest(void) {
    while (*to_do)
        do_step(*to_do++);
}

int main(int argc, char **argv) {
    (void)argc;
    parent_of_all = getpid();
    report_begin();
    to_do = argv + 1;
    do_the_rest();
    report_end();
    return 0;
}
