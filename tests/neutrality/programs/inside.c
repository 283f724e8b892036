/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside WHAT: what a host may do within a call of cuDNN, and whether all is as before afterwards.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "answers.h"
#include "see.h"

static jmp_buf away;
static int depth, calls_until;
static atomic_int done;

static int create(void) {
    void *handle = NULL;
    int status = cudnnCreate(&handle);
    return status == 0 && handle == answers_who ? 0 : 1;
}

static void tell_after(const char *what) {
    answers_inside = NULL;
    see(what, "%d %zu", create(), cudnnGetVersion());
    see(what, "%d %zu", create(), cudnnGetVersion());
    void *host = see_open("answers/layout.so", RTLD_NOW);
    long (*run)(void) = (long (*)(void))see_sym(host, "host_run");
    if (run)
        run();
    see_sym(host, "no_such_function");
    see_close("host", host);
    see_open("answers/no-such-file.so", RTLD_NOW);
}

/* ---- calls ---- */

static void call_back(const char *function) {
    if (depth == 3)
        return;
    depth++;
    see("inside", "%s, depth %d", function, depth);
    see("inside", "%d %zu %s", create(), cudnnGetVersion(), cudnnGetErrorString(0));
    depth--;
}

static void go_deeper(const char *function) {
    (void)function;
    if (++depth < 300)
        done += create() == 0;
}

static void load(const char *function) {
    void (*inside)(const char *) = answers_inside;
    answers_inside = NULL;
    see("inside", "%s", function);
    void *host = see_open("answers/layout.so", RTLD_NOW);
    long (*run)(void) = (long (*)(void))see_sym(host, "host_run");
    if (run)
        run();
    see_close("host", host);
    answers_inside = inside;
}

/* ---- ways out ---- */

static void jump(const char *function) {
    (void)function;
    if (calls_until-- == 0)
        longjmp(away, 1);
}

static void jump_out_of(int call) {
    calls_until = call;
    answers_inside = jump;
    for (volatile int i = 0; i < 4; i++)
        if (setjmp(away) == 0)
            see("call", "%d came back with %d", i, create());
        else
            see("call", "%d was left", i);
}

static void leave_thread(const char *function) {
    (void)function;
    pthread_exit((void *)"left");
}

static void wait_for_ever(const char *function) {
    (void)function;
    done = 1;
    for (;;)
        pause();
}

static void *call_in_thread(void *argument) {
    create();
    return argument;
}

static void clean(void *word) {
    see("cleaned", "%s", (const char *)word);
}

static void *call_and_clean(void *argument) {
    pthread_cleanup_push(clean, (void *)"the thread's");
    create();
    pthread_cleanup_pop(0);
    return argument;
}

static void end_in_thread(void *(*body)(void *), int cancel) {
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        abort();
    while (cancel && !done)
        usleep(500);
    if (cancel)
        pthread_cancel(thread);
    pthread_join(thread, &result);
    see("thread", "%s", result == PTHREAD_CANCELED ? "cancelled" : (const char *)result);
}

static void fork_here(const char *function) {
    answers_inside = NULL;
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        see("child", "%s: %d %zu", function, create(), cudnnGetVersion());
        return; /* out of the call, in the child */
    }
    if (waitpid(child, &status, 0) == child)
        see("parent", "%s: child's status %d", function, WEXITSTATUS(status));
}

static void exit_here(const char *function) {
    see("inside", "%s", function);
    exit(7);
}

static void exit_at_once(const char *function) {
    see("inside", "%s", function);
    _exit(8);
}

static void crash(const char *function) {
    see("inside", "%s", function);
    *(volatile int *)8 = 1;
}

static void end_by_abort(const char *function) {
    see("inside", "%s", function);
    abort();
}

/* ---- signals ---- */

static volatile sig_atomic_t rang;
static size_t version_seen;

static void ring(int signal) {
    (void)signal;
    version_seen = cudnnGetVersion();
    version_seen += (size_t)create();
    rang++;
}

static void wait_for_bell(const char *function) {
    struct itimerval soon = {.it_value.tv_usec = 2000};
    answers_inside = NULL;
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!rang)
        usleep(500);
    see("inside", "%s: %zu", function, version_seen);
}

static void ring_often(void) {
    struct itimerval often = {.it_value.tv_usec = 200, .it_interval.tv_usec = 200};
    int wrong = 0;
    setitimer(ITIMER_REAL, &often, NULL);
    while (rang < 40)
        wrong += create() + (cudnnGetVersion() != 90100) + (cudnnOpsVersionCheck() != 0);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    see("rang", "often, %d wrong, %zu", wrong, version_seen);
}

static void run(const char *what) {
    static const struct {
        const char *what;
        void (*inside)(const char *);
    } simple[] = {
        {"calls", call_back},     {"loads", load},       {"exits", exit_here},
        {"_exits", exit_at_once}, {"crashes", crash},    {"aborts", end_by_abort},
        {"forks", fork_here},     {"deeper", go_deeper}, {"waits", wait_for_bell},
    };
    signal(SIGALRM, ring);
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (!strcmp(what, simple[i].what)) {
            answers_inside = simple[i].inside;
            see("outside", "%d", create());
        }
    if (!strcmp(what, "deeper"))
        see("deeper", "%d times, %d well", depth, done);
    if (!strcmp(what, "jumps"))
        jump_out_of(0);
    if (!strcmp(what, "jumps-later"))
        jump_out_of(2);
    if (!strcmp(what, "leaves-thread")) {
        answers_inside = leave_thread;
        end_in_thread(call_in_thread, 0);
        end_in_thread(call_and_clean, 0);
    }
    if (!strcmp(what, "cancelled")) {
        answers_inside = wait_for_ever;
        end_in_thread(call_and_clean, 1);
    }
    if (!strcmp(what, "often"))
        ring_often();
    /* Here where cuDNN itself does it; deep inside it goes through cuDNN's own slots. */
    if (!strcmp(what, "itself"))
        see("itself", "%d %d", cudnnCnnVersionCheck(), cudnnCnnVersionCheck());
}

int main(int argc, char **argv) {
    run(argc > 1 ? argv[1] : "");
    tell_after("after");
    return 0;
}
