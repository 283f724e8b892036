/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks WHERE: first calls of cuDNN, and what comes after, on small stacks.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "answers.h"
#include "see.h"

#define THREADS 16

static atomic_int good, together;

/* A stack with a page below it that nothing may touch. */
static void *make_stack(size_t size) {
    char *at = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, 4096, PROT_NONE) != 0)
        abort();
    return at + 4096;
}

static int call_all(void) {
    void *handle = NULL;
    int property = 0;
    return cudnnCreate(&handle) == 0 && handle == answers_who && cudnnGetVersion() == 90100 &&
           cudnnGetCudartVersion() == 0x123456789abcdef0 && cudnnGetProperty(0, &property) == 0 &&
           property == 9 && cudnnOpsVersionCheck() == 0 && cudnnCnnVersionCheck() == 0 &&
           !strcmp(cudnnGetErrorString(0), "answers");
}

static void *call_in_thread(void *argument) {
    for (together++; together < THREADS;)
        sched_yield();
    for (int i = 0; i < 100; i++)
        good += call_all();
    return argument;
}

static void in_threads(size_t size) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setstack(&a, make_stack(size), size);
        if (pthread_create(&threads[i], &a, call_in_thread, NULL) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    see("good", "%d", good);
}

static void handle_signal(int number) {
    (void)number;
    good += call_all();
}

static void on_signal_stack(size_t size) {
    stack_t stack = {.ss_sp = make_stack(size), .ss_size = size};
    struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        abort();
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    see("good", "%d", good);
}

static ucontext_t outside, coroutine[2];

static void call_in_coroutine(void) {
    for (int i = 0; i < 3; i++) {
        good += call_all();
        swapcontext(&coroutine[i % 2], &outside);
    }
}

static void yield_inside(const char *function) {
    answers_inside = NULL;
    see("inside", "%s", function);
    swapcontext(&coroutine[0], &outside);
}

/* Left in the middle of a call, while another one calls. */
static void call_and_yield(void) {
    void *handle = NULL;
    answers_inside = yield_inside;
    see("returned", "%d", cudnnCreate(&handle));
}

static void make_coroutine(ucontext_t *c, void (*body)(void), size_t size) {
    getcontext(c);
    c->uc_stack.ss_sp = make_stack(size);
    c->uc_stack.ss_size = size;
    c->uc_link = &outside;
    makecontext(c, body, 0);
}

static void in_coroutines(size_t size) {
    make_coroutine(&coroutine[0], call_in_coroutine, size);
    swapcontext(&outside, &coroutine[0]);
    see("good", "%d", good);
    make_coroutine(&coroutine[0], call_and_yield, size);
    swapcontext(&outside, &coroutine[0]);
    see("outside", "%d", call_all());
    swapcontext(&outside, &coroutine[0]);
    see("outside", "%d", call_all());
}

static void open_in_coroutine(void) {
    void *host = see_open("answers/layout.so", RTLD_NOW);
    long (*run)(void) = (long (*)(void))see_sym(host, "host_run");
    if (run)
        run();
    see_close("host", host);
}

int main(int argc, char **argv) {
    const char *where = argc > 1 ? argv[1] : "";
    if (!strcmp(where, "threads"))
        in_threads(64 << 10);
    else if (!strcmp(where, "threads-16"))
        in_threads(16 << 10);
    else if (!strcmp(where, "signal"))
        on_signal_stack(16 << 10);
    else if (!strcmp(where, "coroutine"))
        in_coroutines(16 << 10);
    else if (!strcmp(where, "opens")) {
        make_coroutine(&coroutine[0], open_in_coroutine, 32 << 10);
        swapcontext(&outside, &coroutine[0]);
    }
    return 0;
}
