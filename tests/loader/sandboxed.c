/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandboxed WHAT LIBRARY [FUNCTION]: opens a library that has nothing to do with cuDNN, gives up
 * all system calls but write and exit_group, and does one thing more: a dlsym, a dlclose, a
 * dlerror, an orderly exit. "strict": the kernel's own strict mode, and a dlsym; "again": a dlsym
 * before and one behind.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support.h"

#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LET(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), ALLOW

static void enter_sandbox(int strict) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        LET(write),
        LET(exit_group),
        LET(munmap), /* of a library that is closed; free's */
        LET(brk),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
               : prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
                     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(9);
}

static void say(const char *text) {
    if (write(1, text, strlen(text)) < 0)
        _exit(8);
}

int main(int argc, char **argv) {
    const char *what = argv[1], *name = argc > 3 ? argv[3] : "starter_run";
    void *library = open_library(argv[2]);
    int strict = !strcmp(what, "strict");
    if (!strcmp(what, "again"))
        dlsym(library, name);
    enter_sandbox(strict);
    if (strict || !strcmp(what, "dlsym") || !strcmp(what, "again"))
        say(dlsym(library, name) ? "found\n" : "not found\n");
    else if (!strcmp(what, "dlclose"))
        say(dlclose(library) ? "not closed\n" : "closed\n");
    else if (!strcmp(what, "dlerror"))
        say(dlerror() ? "an error\n" : "no error\n");
    if (strict) /* it does not allow exit_group */
        syscall(__NR_exit, 0);
    return 0;
}
