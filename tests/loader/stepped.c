/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepped FILE HOST: opens cuDNN and a host, looks functions up, calls them, and stops behind each
 * instruction. Where a signal that profilers use could come in the shim or in cuDNN, the frames are
 * walked: from each such place they lead to main, or to the loader's call of an _init, which has no
 * table.
 */
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>
#include <x86intrin.h>

#include "support.h"

static unsigned long astray, in_shim;
static uintptr_t last_astray;
static unsigned char seen[1 << 20];

/* The shim's code, and cuDNN's once it is there. */
static struct range { uintptr_t start, end; } shim, cudnn;

static bool is_in(const struct range *r, uintptr_t at) {
    return at >= r->start && at < r->end;
}

struct search {
    uintptr_t at;
    const char *name;
    struct range code;
};
static int find(struct dl_phdr_info *object, size_t size, void *argument) {
    struct search *s = argument;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        struct range code = {object->dlpi_addr + p->p_vaddr,
                             object->dlpi_addr + p->p_vaddr + p->p_memsz};
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
            !(s->name ? strstr(object->dlpi_name, s->name) != NULL : is_in(&code, s->at)))
            continue;
        s->code = code;
        return 1;
    }
    return 0;
}
static struct range code_of(const char *name) {
    struct search s = {0, name, {0, 0}};
    dl_iterate_phdr(find, &s);
    return s.code;
}
static bool is_code(uintptr_t at) {
    struct search s = {at, NULL, {0, 0}};
    return dl_iterate_phdr(find, &s) == 1;
}

static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *last) {
    if (_Unwind_GetIP(frame)) /* behind _start */
        *(uintptr_t *)last = _Unwind_GetIP(frame);
    return _URC_NO_REASON;
}

#define TRAP 0x100 /* of the flags: behind the next instruction */

static void go_on(int signal, siginfo_t *info, void *context) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP;
}

static void behind_instruction(int signal, siginfo_t *info, void *context) {
    ucontext_t *interrupted = context;
    uintptr_t at = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP], last = 0;
    if (sigismember(&interrupted->uc_sigmask, SIGPROF)) { /* it comes when it may */
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
        raise(SIGPROF);
        return;
    }
    if (!is_in(&shim, at) && !is_in(&cudnn, at))
        return;
    /* Each place for two of its callers. */
    if (is_in(&shim, at) && (at - shim.start >= sizeof seen || seen[at - shim.start]++ >= 2))
        return;
    _Unwind_Backtrace(look, &last);
    in_shim += is_in(&shim, at);
    if (!is_in(&shim, last - 1) && is_code(last - 1))
        return;
    astray++;
    last_astray = is_in(&shim, at) ? at - shim.start : 0;
}

static void step(bool on) {
    __writeeflags(on ? __readeflags() | TRAP : __readeflags() & ~TRAP);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = behind_instruction, .sa_flags = SA_SIGINFO};
    struct sigaction later = {.sa_sigaction = go_on, .sa_flags = SA_SIGINFO};
    uintptr_t any;
    Dl_info info;
    if (argc < 3)
        return 2;
    _Unwind_Backtrace(look, &any);
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGPROF, &later, NULL);
    shim = code_of("libwhichcudnn");
    step(true); /* the shim sleeps */
    dlclose(open_library("./plain.so"));
    bool nowhere = dlsym(RTLD_DEFAULT, "nowhere");
    void *library = open_library(argv[1]), *host = open_library(argv[2]);
    run_function *run = runner(host);
    step(false);
    cudnn = code_of("libcudnn");
    step(true);
    dlclose(open_library("./plain.so"));
    size_t (*version)(void) = (size_t(*)(void))need(dlsym(library, "cudnnGetVersion"), "version");
    nowhere = nowhere || dlsym(library, "cudnnNowhere");
    const char *words = dlerror();
    bool named = dladdr((void *)(uintptr_t)version, &info);
    long numbers[] = {(long)version(), (long)version(), run(), run()};
    step(false);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        printf("%ld ", numbers[i]);
    printf("%d %d %s\n", nowhere, named, words);
    printf("%lu places lead astray, the last at %#lx\n", astray, last_astray);
    if (getenv("COUNTS"))
        printf("%lu places in the shim\n", in_shim);
    return 0;
}
