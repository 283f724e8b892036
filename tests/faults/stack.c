/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack WHERE CUDNN: how much stack the dl functions and calls take, in bytes, one line each.
 * WHERE: thread (a stack of its own, painted), or handler=BYTES (a signal handler on a stack of
 * that size beside the kernel's own frame, which ends where nobody may touch anything).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE ((size_t)512 << 10)
#define PAINT 0xa5

static const char *cudnn;
static void *library;
static long (*version)(void);
static long (*create)(void *);

static void open_cudnn(void) {
    library = dlopen(cudnn, RTLD_NOW);
}
static void open_again(void) {
    dlclose(dlopen(cudnn, RTLD_NOW));
}
static void open_missing(void) {
    dlopen("libcudnn_missing.so.9", RTLD_NOW);
}
static void ask_why(void) {
    dlerror();
}
static void look_up(void) {
    version = (long (*)(void))dlsym(library, "cudnnGetVersion");
    create = (long (*)(void *))dlsym(library, "cudnnCreate");
}
static void look_up_other(void) {
    dlsym(library, "environ");
    dlsym(RTLD_DEFAULT, "environ");
}
static void look_up_missing(void) {
    dlsym(library, "cudnnNoSuchFunction");
}
static void call_first(void) {
    version();
}
static void call_failing(void) {
    void *handle;
    create(&handle);
}
static void call_again(void) {
    version();
}
static void ask_address(void) {
    Dl_info info;
    dladdr((void *)version, &info);
}
static void close_cudnn(void) {
    dlclose(library);
}

static const struct {
    const char *name;
    void (*does)(void);
} operations[] = {
    {"dlopen", open_cudnn},
    {"dlopen-again", open_again},
    {"dlopen-missing", open_missing},
    {"dlerror", ask_why},
    {"dlsym", look_up},
    {"dlsym-other", look_up_other},
    {"dlsym-missing", look_up_missing},
    {"dlerror-2", ask_why},
    {"first-call", call_first},
    {"failing-call", call_failing},
    {"call-again", call_again},
    {"dladdr", ask_address},
    {"dlclose", close_cudnn},
};
#define OPERATIONS (sizeof operations / sizeof *operations)

static unsigned char *stack;
static size_t used[OPERATIONS];

/* The stack between its end and what is in use now is painted before each. */
static __attribute__((noinline)) void measure(size_t i) {
    unsigned char *here = __builtin_frame_address(0), *p = stack;
    unsigned char *top = here - 1024; /* this frame, and memset's */
    for (; p < top; p++)
        *(volatile unsigned char *)p = PAINT;
    operations[i].does();
    for (p = stack; p < top && *p == PAINT;)
        p++;
    used[i] = (size_t)(here - p);
}

static void *in_thread(void *unused) {
    for (size_t i = 0; i < OPERATIONS; i++)
        measure(i);
    return unused;
}

/* SIZE bytes, below them as many that nobody may touch. */
static unsigned char *take_stack(void) {
    unsigned char *p =
        mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, SIZE, PROT_NONE))
        abort();
    return p + SIZE;
}

static void measure_in_thread(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    stack = take_stack();
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, SIZE) ||
        pthread_create(&thread, &attributes, in_thread, NULL))
        abort();
    pthread_join(thread, NULL);
    for (size_t i = 0; i < OPERATIONS; i++)
        printf("%s %zu\n", operations[i].name, used[i]);
}

/* ---- in a signal handler ---- */

static volatile sig_atomic_t next_operation;
static void handle(int number) {
    (void)number;
    operations[next_operation].does();
}

static unsigned char *top;
static size_t kernels;
static void measure_kernels(int number) {
    (void)number;
    kernels = (size_t)(top - (unsigned char *)__builtin_frame_address(0));
}

/* SIGUSR1 is handled where so many bytes may be used. */
static void handle_on(size_t room, void (*handler)(int)) {
    unsigned char *lowest = take_stack();
    size_t size = (room + 63) & ~(size_t)63; /* so that the kernel aligns its frame alike */
    stack_t alternative = {.ss_sp = lowest - SIZE, .ss_size = SIZE + size};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    top = lowest + size;
    if (size > SIZE || sigaltstack(&alternative, NULL) || sigaction(SIGUSR1, &action, NULL))
        abort();
}

/* The kernel's frame is measured: AT_MINSIGSTKSZ depends on the processor in another way. It may be
 * less than the kernel accepts as the size of a stack (1776 without AVX-512, MINSIGSTKSZ is 2048),
 * or 8 KiB more than the frame (AMX, whose registers only those have who ask for them). */
static void run_in_handler(size_t beside) {
    handle_on(SIZE, measure_kernels);
    raise(SIGUSR1);
    handle_on(kernels + beside, handle);
    for (size_t i = 0; i < OPERATIONS; i++) {
        next_operation = (int)i;
        raise(SIGUSR1);
        printf("%s done\n", operations[i].name);
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    cudnn = argv[2];
    if (!strncmp(argv[1], "handler=", 8))
        run_in_handler(strtoul(argv[1] + 8, NULL, 0));
    else
        measure_in_thread();
    return 0;
}
