/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill_each STEP DIR [NAME=VALUE]... COMMAND...: what a command has written down when SIGKILL comes
 * at its n-th system call, for every n.
 *
 * The first run comes to its end. DIR/whole is an empty directory for it, which WHICHCUDNN_LOG
 * names; before each of its system calls the file in there is what a kill at that moment would
 * leave, and is copied to DIR/whole.LOG, LOG counting how often it changed. DIR/whole.trace has a
 * line "call LOG" for each system call, behind it "open FLAGS PATH" or "write TEXT" if it is one,
 * and "end STATUS" at last. Further runs show that a kill leaves just that: each STEP-th call has a
 * run which is killed there, with DIR/n and DIR/n.trace. strace can inject a signal too, but counts
 * each kind of system call for itself.
 *
 * Prints the number of system calls. The command must be one thread of one process: status 3 if it
 * is not.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_MOST 400
#define LOG_MOST (1 << 20)

static void fail(const char *what) {
    fprintf(stderr, "kill_each: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* Text of the other process, up to a NUL, a newline, or n bytes; never more than its page has. */
static const char *text_at(pid_t pid, unsigned long long address, size_t n) {
    static char text[TEXT_MOST + 1];
    size_t got = 0;
    n = n < TEXT_MOST ? n : TEXT_MOST;
    while (got < n) {
        size_t piece = 4096 - (address + got) % 4096;
        struct iovec to = {text + got, piece < n - got ? piece : n - got};
        struct iovec from = {(void *)(address + got), to.iov_len};
        ssize_t read = process_vm_readv(pid, &to, 1, &from, 1, 0);
        if (read <= 0)
            break;
        got += (size_t)read;
        if (memchr(to.iov_base, 0, (size_t)read))
            break;
    }
    text[got] = 0;
    text[strcspn(text, "\n")] = 0;
    return text;
}

/* Of the one file in a directory, "" of none: up to as many bytes as there is room for. */
static size_t content_of(const char *directory, char *to, size_t room) {
    size_t got = 0;
    DIR *entries = opendir(directory);
    if (!entries)
        fail(directory);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (entry->d_name[0] == '.')
            continue;
        int file = openat(dirfd(entries), entry->d_name, O_RDONLY);
        ssize_t n = file < 0 ? -1 : read(file, to, room);
        if (n < 0 || got || (size_t)n == room)
            fail(entry->d_name);
        got = (size_t)n;
        close(file);
    }
    closedir(entries);
    return got;
}

/* Copies the log if it is another one than at the last call; returns its number. */
static int keep_log(const char *directory) {
    static char last[LOG_MOST], now[LOG_MOST];
    static size_t length;
    static int number;
    size_t n = content_of(directory, now, sizeof now);
    if (n == length && memcmp(now, last, n) == 0)
        return number;
    char name[4096 + 16];
    snprintf(name, sizeof name, "%s.%d", directory, ++number);
    FILE *copy = fopen(name, "w");
    if (!copy || fwrite(now, 1, n, copy) != n || fclose(copy))
        fail(name);
    memcpy(last, now, n);
    length = n;
    return number;
}

static void note(FILE *trace, pid_t pid, const struct __ptrace_syscall_info *call) {
    const __uint64_t *a = call->entry.args;
    if (call->entry.nr == SYS_openat)
        fprintf(trace, "open %x %s\n", (unsigned)a[2], text_at(pid, a[1], TEXT_MOST));
    else if (call->entry.nr == SYS_write)
        fprintf(trace, "write %s\n", text_at(pid, a[1], a[2]));
}

static void become(char **command, const char *directory) {
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close(null);
    personality(ADDR_NO_RANDOMIZE); /* where it is allowed: runs differ less */
    for (; strchr(command[0], '='); command++)
        putenv(command[0]);
    setenv("WHICHCUDNN_LOG", directory, 1);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        execvp(command[0], command);
    _exit(127);
}

static pid_t start(char **command, const char *directory) {
    int status;
    pid_t pid = fork();
    if (pid == 0)
        become(command, directory);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        fail(command[0]);
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK))
        fail("PTRACE_SETOPTIONS");
    return pid;
}

/*
 * Kills it at the n-th call; 0: never, its log is kept. Returns how many calls there were before,
 * or in all.
 */
static long run_until(pid_t pid, long n, FILE *trace, const char *directory) {
    long calls = 0;
    int status, signal = 0;
    for (;;) {
        struct __ptrace_syscall_info call;
        if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal) || waitpid(pid, &status, 0) < 0)
            fail("PTRACE_SYSCALL");
        signal = 0;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            fprintf(trace, "end %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
            return calls;
        }
        if (status >> 16) {
            fprintf(stderr, "kill_each: a second thread or process: that is not counted\n");
            exit(3);
        }
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
            continue;
        }
        if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof call, &call) < 0)
            fail("PTRACE_GET_SYSCALL_INFO");
        if (call.op != PTRACE_SYSCALL_INFO_ENTRY)
            continue;
        if (calls + 1 == n) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return calls;
        }
        calls++;
        if (n == 0)
            fprintf(trace, "call %d\n", keep_log(directory));
        note(trace, pid, &call);
    }
}

static long run(char **argv, const char *name, long n) {
    char directory[4096], file[4096 + 8];
    snprintf(directory, sizeof directory, "%s/%s", argv[2], name);
    snprintf(file, sizeof file, "%s.trace", directory);
    if (mkdir(directory, 0755))
        fail(directory);
    FILE *trace = fopen(file, "w");
    if (!trace)
        fail(file);
    long calls = run_until(start(argv + 3, directory), n, trace, directory);
    fclose(trace);
    return calls;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    long step = atol(argv[1]), calls = run(argv, "whole", 0);
    for (long n = step; n <= calls; n += step) {
        char name[32];
        snprintf(name, sizeof name, "%ld", n);
        run(argv, name, n);
    }
    printf("%ld\n", calls);
    return 0;
}
