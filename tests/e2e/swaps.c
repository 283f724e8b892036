/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swaps PLACE LINK COMMAND...: runs it, with its status. PLACE is a directory and LINK a symbolic
 * link elsewhere; before each system call that takes a path they are exchanged or not, so that a
 * call on PLACE itself finds the directory, and one on what is below PLACE finds the link.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *place, *other;
static int swapped;

static void before(pid_t child, const struct __ptrace_syscall_info *info) {
    char path[4096] = "";
    struct iovec to = {path, sizeof(path) - 1}, from = {NULL, 512};
    const char *found, *name = strstr(place, "/opt/");
    int wanted;

    switch (info->entry.nr) {
#ifdef SYS_open
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_readlink:
        from.iov_base = (void *)(size_t)info->entry.args[0];
        break;
#endif
    case SYS_openat:
    case 437: /* openat2 */
    case SYS_newfstatat:
    case SYS_readlinkat:
    case SYS_statx:
        from.iov_base = (void *)(size_t)info->entry.args[1];
        break;
    default:
        return;
    }
    from.iov_len = 4096 - (size_t)from.iov_base % 4096; /* the page behind may not be there */
    process_vm_readv(child, &to, 1, &from, 1, 0);
    found = strstr(path, name);
    if (!found || (found[strlen(name)] && found[strlen(name)] != '/'))
        return;
    wanted = found[strlen(name)] == '/';
    if (wanted != swapped && syscall(SYS_renameat2, -100, place, -100, other, 2) != 0)
        perror("swaps"), exit(98); /* 2: RENAME_EXCHANGE */
    swapped = wanted;
}

int main(int argc, char **argv) {
    struct __ptrace_syscall_info info;
    pid_t child = argc > 3 ? fork() : -1;
    int status, signal;

    if (child < 0)
        return 2;
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    place = argv[1];
    other = argv[2];
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    while (WIFSTOPPED(status)) {
        signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80) &&
            ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) > 0 &&
            info.op == PTRACE_SYSCALL_INFO_ENTRY)
            before(child, &info);
        if (signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP)
            signal = 0;
        ptrace(PTRACE_SYSCALL, child, 0, signal);
        waitpid(child, &status, 0);
    }
    if (swapped)
        syscall(SYS_renameat2, -100, place, -100, other, 2);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
