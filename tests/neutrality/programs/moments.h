/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps (steps.h) taken at moments: what stands in the environment variable NAME_MOMENT, divided by
 * "; ". NAME is whose moments they are; further steps:
 *
 *   version, create            cudnnGetVersion, cudnnCreate through own slots (with CUDNN)
 *   frames                     files of a backtrace's frames, each run of equal ones once
 *   thread MOMENT, join        threads of this object; join waits for all
 *   set N, await N             flags that all objects of the process share (the program's)
 *   at-exit MOMENT, at-quick-exit MOMENT       handlers; they run as this object's
 *   exit N, _exit N, quick-exit N, abort, raise N, leave (pthread_exit)
 *   child MOMENT               forks; what the child does not end by itself it goes on with
 *   child-of-vfork N
 *   exec ARGV, spawn ARGV, system COMMAND      words divided by spaces
 *   exec-loader ARGV           the loader is the program, with it as argument
 *   pause N                    milliseconds
 *   count                      a thread-local number goes up
 */
#ifndef MOMENTS_H
#define MOMENTS_H

#include <execinfo.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "steps.h"

#ifdef CUDNN
#ifdef BY_ADDRESS /* the loader fills address slots first */
#define SLOT __attribute__((noplt))
#else
#define SLOT
#endif
SLOT size_t cudnnGetVersion(void);
SLOT int cudnnCreate(void **handle);
#endif

#ifndef TLS_MODEL
#define TLS_MODEL
#endif
#ifndef TLS_SIZE
#define TLS_SIZE 1
#endif

extern char **environ;
extern atomic_int moments_flags[8];
extern int moments_mallocs(void);

/* Those of the thread that does them: no two threads share handles. */
static struct steps moments_main, moments_threads[16];
static pthread_t moments_started[16];
static int moments_thread_count;

static __thread TLS_MODEL long moments_counted[TLS_SIZE] = {40};

static void moments_do(struct steps *s, const char *step);

static void moments_at(struct steps *s, const char *moment) {
    char name[64], step[512];
    snprintf(name, sizeof name, "%s_%s", NAME, moment);
    const char *at = getenv(name);
    while (at && *at) {
        const char *end = strstr(at, "; ");
        size_t n = end ? (size_t)(end - at) : strlen(at);
        snprintf(step, sizeof step, "%.*s", (int)n, at);
        moments_do(s, step);
        at = end ? end + 2 : NULL;
    }
}

/* ---- cuDNN ---- */

static void moments_cudnn(const char *verb) {
#ifdef CUDNN
    void *handle = NULL;
    if (!strcmp(verb, "version"))
        see("version", "%zu", cudnnGetVersion());
    else
        see("create", "%d", cudnnCreate(&handle));
#else
    steps_fail("not linked to cuDNN", verb);
#endif
}

/* ---- stack ---- */

static void moments_frames(void) {
    void *frames[64];
    char line[900] = "";
    const char *before = "";
    int n = backtrace(frames, 64);
    for (int i = 0; i < n; i++) {
        Dl_info info = {.dli_fname = NULL};
        const char *name = dladdr(frames[i], &info) ? see_base_name(info.dli_fname) : "?";
        if (strcmp(name, before) != 0)
            snprintf(line + strlen(line), sizeof line - strlen(line), " %s", name);
        before = name;
    }
    see("frames", "%d%s", n, line);
}

/* ---- threads ---- */

struct moments_order {
    struct steps *steps;
    char moment[32];
};
static struct moments_order moments_orders[16];

static void *moments_thread(void *argument) {
    struct moments_order *order = argument;
    moments_at(order->steps, order->moment);
    return NULL;
}

static void moments_start(const char *moment) {
    int i = moments_thread_count++;
    if (i == 16)
        steps_fail("too many threads", moment);
    moments_orders[i].steps = &moments_threads[i];
    snprintf(moments_orders[i].moment, sizeof moments_orders[i].moment, "%s", moment);
    if (pthread_create(&moments_started[i], NULL, moments_thread, &moments_orders[i]) != 0)
        steps_fail("no thread", moment);
}

/* Bound when the program starts: the loader's trace of a lazy slot would tear what it writes for
 * another thread. */
static int (*volatile moments_wait_for)(pthread_t, void **) = pthread_join;
static int (*volatile moments_sleep)(useconds_t) = usleep;

static void moments_join(void) {
    for (int i = 0; i < moments_thread_count; i++)
        if (moments_wait_for(moments_started[i], NULL) != 0)
            steps_fail("not joined", NAME);
    moments_thread_count = 0;
}

static void moments_await(const char *number) {
    for (int i = 0; !moments_flags[atoi(number)]; i++) {
        if (i == 30000)
            steps_fail("waited too long for", number);
        moments_sleep(1000);
    }
}

/* ---- ends ---- */

static char moments_last[4][32], moments_quick[4][32];
static int moments_last_count, moments_quick_count;

static void moments_at_exit(void) {
    moments_at(&moments_main, moments_last[--moments_last_count]);
}

static void moments_at_quick_exit(void) {
    moments_at(&moments_main, moments_quick[--moments_quick_count]);
}

static void moments_register(bool quick, const char *moment) {
    char *to = quick ? moments_quick[moments_quick_count++] : moments_last[moments_last_count++];
    snprintf(to, sizeof moments_last[0], "%s", moment);
    if (quick ? at_quick_exit(moments_at_quick_exit) : atexit(moments_at_exit))
        steps_fail("not registered", moment);
}

static bool moments_end(const char *verb, const char *rest) {
    if (!strcmp(verb, "exit"))
        exit(atoi(rest));
    if (!strcmp(verb, "_exit"))
        _exit(atoi(rest));
    if (!strcmp(verb, "quick-exit"))
        quick_exit(atoi(rest));
    if (!strcmp(verb, "abort"))
        abort();
    if (!strcmp(verb, "leave"))
        pthread_exit(NULL);
    if (!strcmp(verb, "raise"))
        raise(atoi(rest));
    else if (!strcmp(verb, "at-exit"))
        moments_register(false, rest);
    else if (!strcmp(verb, "at-quick-exit"))
        moments_register(true, rest);
    else
        return false;
    return true;
}

/* ---- children ---- */

static void moments_tell_child(const char *what, pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        see(what, "failed");
    else if (WIFSIGNALED(status))
        see(what, "signal %d", WTERMSIG(status));
    else
        see(what, "status %d", WEXITSTATUS(status));
}

static pid_t moments_fork(struct steps *s, const char *moment) {
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        moments_at(s, moment);
        alarm(0); /* it goes on as the child, out of whatever it is in */
    }
    return child;
}

static void moments_child_of_vfork(const char *status) {
    int number = atoi(status);
    pid_t child = vfork();
    if (child == 0)
        _exit(number);
    moments_tell_child("vfork", child);
}

/* words[1] is the command's first. */
static char **moments_words(const char *command) {
    static char text[512], *words[17];
    int n = 1;
    snprintf(text, sizeof text, "%s", command);
    for (char *at = text; n < 16 && (words[n] = strsep(&at, " ")); n++)
        ;
    words[n] = NULL;
    return words;
}

static void moments_exec(bool by_loader, const char *command) {
    Dl_info loader = {.dli_fname = NULL};
    char **words = moments_words(command);
    if (by_loader && dladdr((void *)getauxval(AT_BASE), &loader)) {
        words[0] = (char *)loader.dli_fname;
        execv(words[0], words);
    }
    execv(words[1], words + 1);
    steps_fail("not there", command);
}

static bool moments_children(struct steps *s, const char *verb, const char *rest) {
    pid_t child = 0;
    if (!strcmp(verb, "child")) {
        if ((child = moments_fork(s, rest)))
            moments_tell_child("child", child);
    } else if (!strcmp(verb, "child-of-vfork")) {
        moments_child_of_vfork(rest);
    } else if (!strcmp(verb, "exec") || !strcmp(verb, "exec-loader")) {
        moments_exec(verb[4] == '-', rest);
    } else if (!strcmp(verb, "spawn")) {
        char **words = moments_words(rest) + 1;
        if (posix_spawn(&child, words[0], NULL, NULL, words, environ) != 0)
            child = -1;
        moments_tell_child("spawn", child);
    } else if (!strcmp(verb, "system")) {
        int status = system(rest);
        see("system", "%d", WEXITSTATUS(status));
    } else {
        return false;
    }
    return true;
}

/* ---- */

static void moments_do(struct steps *s, const char *step) {
    char verb[16];
    const char *rest = step;
    steps_word(&rest, verb, sizeof verb);
    if (moments_end(verb, rest) || moments_children(s, verb, rest))
        return;
    if (!strcmp(verb, "version") || !strcmp(verb, "create"))
        moments_cudnn(verb);
    else if (!strcmp(verb, "frames"))
        moments_frames();
    else if (!strcmp(verb, "thread"))
        moments_start(rest);
    else if (!strcmp(verb, "join"))
        moments_join();
    else if (!strcmp(verb, "set"))
        moments_flags[atoi(rest)] = 1;
    else if (!strcmp(verb, "await"))
        moments_await(rest);
    else if (!strcmp(verb, "pause"))
        usleep((useconds_t)atoi(rest) * 1000);
    else if (!strcmp(verb, "count"))
        see("count", "%ld", ++moments_counted[0]);
#ifdef OWN_MALLOC
    else if (!strcmp(verb, "mallocs"))
        see("mallocs", "%d", moments_mallocs());
#endif
    else
        steps_do(s, step);
}

#endif
