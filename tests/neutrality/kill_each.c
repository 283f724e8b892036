/*
 * kill_each FIRST STEP TO DIR [NAME=VALUE]... COMMAND...: runs a command again and again, kills it
 * with SIGKILL when it is about to make its n-th system call, for n = FIRST, FIRST + STEP, ... up
 * to TO (0: until a run gets to its end). strace can inject a signal too, but counts each kind of
 * system call for itself.
 *
 * DIR/n is an empty directory for that run, which WHICHCUDNN_LOG names; DIR/n.trace has what that
 * very run did before: "open FLAGS PATH" and "write TEXT" for each such call, "end STATUS" if it
 * was not killed. Prints the number of runs. The command must be one thread of one process: status
 * 3 if it is not.
 */
#define _GNU_SOURCE
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

/* False: it came to its end before. */
static int run_until(pid_t pid, long n, FILE *trace) {
    long calls = 0;
    int status, signal = 0;
    for (;;) {
        struct __ptrace_syscall_info call;
        if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal) || waitpid(pid, &status, 0) < 0)
            fail("PTRACE_SYSCALL");
        signal = 0;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            fprintf(trace, "end %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
            return 0;
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
        if (++calls == n) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return 1;
        }
        note(trace, pid, &call);
    }
}

int main(int argc, char **argv) {
    if (argc < 6)
        return 2;
    long first = atol(argv[1]), step = atol(argv[2]), to = atol(argv[3]), runs = 0;
    int killed = 1;
    for (long n = first; killed && (to == 0 || n <= to); n += step, runs++) {
        char directory[4096], name[4096 + 8];
        snprintf(directory, sizeof directory, "%s/%ld", argv[4], n);
        snprintf(name, sizeof name, "%s.trace", directory);
        if (mkdir(directory, 0755))
            fail(directory);
        FILE *trace = fopen(name, "w");
        if (!trace)
            fail(name);
        killed = run_until(start(argv + 5, directory), n, trace);
        fclose(trace);
    }
    printf("%ld\n", runs);
    return 0;
}
