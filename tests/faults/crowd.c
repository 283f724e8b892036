/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd SECONDS DIR COUNTS: 64 threads that open and close a library of their own
 * (DIR/own/N/libcublas.so.12), ask for names and functions that are not there, elf_file functions
 * up in one of eight facades (DIR/facade/N/libcudnn.so.9) and call them; each checks what it gets.
 * Beside them the main thread forks: children that only call, at any moment, and children that
 * open, ask and call, between the others' dl calls (a fork amid those may hang in the loader, as
 * bare). What each thread did how often goes into the file COUNTS, a line a thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64
#define FACADES 8
#define NAMES 8 /* that a thread asks for in vain, one after another */
#define LOST 2  /* functions likewise */

typedef long function(long, long, long, long, long, long, long, long, long, long, long, long, long);

static const char *const functions[16] = {"cudnnCreate",
                                          "cudnnGetVersion",
                                          "cudnnGetCudartVersion",
                                          "cudnnGetProperty",
                                          "cudnnGraphVersionCheck",
                                          "cudnnOpsVersionCheck",
                                          "cudnnCnnVersionCheck",
                                          "cudnnAdvVersionCheck",
                                          "cudnnConvolutionForward",
                                          "cudnnConvolutionBackwardData",
                                          "cudnnConvolutionBackwardFilter",
                                          "cudnnBackendExecute",
                                          "cudnnGetErrorString",
                                          "cudnnBatchNormalizationForwardInference",
                                          "cudnnRNNForward",
                                          "cudnnMultiHeadAttnForward"};

static const char *directory;
static double seconds;
static struct timespec began;
static void *facades[FACADES];
static function *quiet_call, *loud_call; /* those that only children call */
static pthread_rwlock_t gate;

struct thread {
    uint32_t tid;
    unsigned cycles, asked[NAMES], missed[LOST], called[2];
};
static struct thread threads[THREADS];

static void must(int good, const char *what, int number) {
    if (good)
        return;
    fprintf(stderr, "crowd: %d: %s: %s\n", number, what, dlerror());
    _exit(3);
}

/* How much of the time is over, 0 to 1. */
static double elapsed(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9) /
           seconds;
}

static long call(function *f) {
    char text[64];
    return f((long)text, (long)sizeof text, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void open_and_close(int number) {
    char name[256];
    snprintf(name, sizeof name, "%s/own/%d/libcublas.so.12", directory, number);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    must(!!library, name, number);
    must(dlclose(library) == 0, "dlclose", number);
    must(!dlopen(name, RTLD_NOW | RTLD_NOLOAD), "it stayed", number);
    dlerror();
}

static void ask_in_vain(const char *name, int number) {
    char expected[256];
    snprintf(expected, sizeof expected,
             "%s: cannot open shared object file: No such file or directory", name);
    must(!dlopen(name, RTLD_NOW), name, number);
    const char *words = dlerror();
    must(words && !strcmp(words, expected), "other words", number);
    must(!dlerror(), "words twice", number);
}

static void miss(void *library, const char *name, int number) {
    must(!dlsym(library, name), name, number);
    const char *words = dlerror();
    must(words && strstr(words, "undefined symbol: ") && strstr(words, name), "other words",
         number);
}

/* As the kind of function and library that is this thread's alone. */
static void look_up_and_call(int number, int which) {
    const char *name = functions[number / FACADES + which * FACADES];
    function *f = (function *)dlsym(facades[number % FACADES], name);
    must(!!f, name, number);
    long result = call(f);
    must(strcmp(name, "cudnnGetVersion") || result == 90100, "another version", number);
}

static void *work(void *argument) {
    int number = (int)(intptr_t)argument;
    struct thread *t = &threads[number];
    char name[64];
    t->tid = (uint32_t)syscall(SYS_gettid);
    for (double now; (now = elapsed()) < 1; t->cycles++) {
        int name_now = (int)(now * NAMES), lost_now = (int)(now * LOST);
        pthread_rwlock_rdlock(&gate);
        open_and_close(number);
        snprintf(name, sizeof name, "libcudnn_crowd_%d_%d.so.9", number, name_now);
        ask_in_vain(name, number);
        t->asked[name_now]++;
        snprintf(name, sizeof name, "cudnnCrowd_%d_%d", number, lost_now);
        miss(facades[number % FACADES], name, number);
        t->missed[lost_now]++;
        look_up_and_call(number, (int)(t->cycles % 2));
        t->called[t->cycles % 2]++;
        pthread_rwlock_unlock(&gate);
    }
    return NULL;
}

/* ---- children ---- */

#define AT_ONCE 8
static unsigned children, running;

static void be_child(int loud) {
    alarm(120);
    if (!loud)
        _exit(call(quiet_call) != 0);
    open_and_close(0);
    ask_in_vain("libcudnn_crowd_child.so.9", -1);
    exit(call(loud_call) != 0);
}

static void reap(int options) {
    int status;
    pid_t pid;
    while (running && (pid = waitpid(-1, &status, options)) > 0) {
        running--;
        if (status != 0) {
            fprintf(stderr, "crowd: a child ended with %#x\n", status);
            _exit(4);
        }
    }
}

static void fork_one(int loud) {
    if (loud)
        pthread_rwlock_wrlock(&gate);
    pid_t pid = fork();
    if (pid == 0)
        be_child(loud);
    if (loud)
        pthread_rwlock_unlock(&gate);
    must(pid > 0, "fork", -1);
    children++;
    running++;
}

/* ---- what the process has ---- */

static long count_lines(const char *name) {
    long n = 0;
    FILE *in = fopen(name, "re");
    for (int c; in && (c = getc(in)) != EOF;)
        n += c == '\n';
    if (in)
        fclose(in);
    return n;
}

static long private_kilobytes(void) {
    char line[256];
    long dirty = -1;
    FILE *in = fopen("/proc/self/smaps_rollup", "re");
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, "Private_Dirty:", 14))
            dirty = atol(line + 14);
    if (in)
        fclose(in);
    return dirty;
}

/* The next descriptor that is free. */
static int descriptors(void) {
    int next = dup(0);
    close(next);
    return next;
}

static void tell_what_it_has(FILE *out, const char *when) {
    pthread_rwlock_wrlock(&gate);
    fprintf(out, "%s %ld %ld %d\n", when, private_kilobytes(), count_lines("/proc/self/maps"),
            descriptors());
    fflush(out); /* else children do so, too */
    pthread_rwlock_unlock(&gate);
}

/* ---- all of it ---- */

static void begin(void) {
    char name[256];
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&gate, &attributes);
    for (int i = 0; i < FACADES; i++) {
        snprintf(name, sizeof name, "%s/facade/%d/libcudnn.so.9", directory, i);
        must(!!(facades[i] = dlopen(name, RTLD_NOW | RTLD_LOCAL)), name, i);
    }
    /* Of a part: a facade would open it first. */
    snprintf(name, sizeof name, "%s/facade/0/libcudnn_ops.so.9", directory);
    void *part = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    must(!!part, name, -1);
    quiet_call = (function *)dlsym(part, "cudnnBatchNormalizationBackward");
    loud_call = (function *)dlsym(part, "cudnnBatchNormalizationForwardTraining");
    must(quiet_call && loud_call, "functions of children", -1);
    clock_gettime(CLOCK_MONOTONIC, &began);
}

static void tell_threads(FILE *out) {
    for (int i = 0; i < THREADS; i++) {
        const struct thread *t = &threads[i];
        fprintf(out, "thread %u %u", t->tid, t->cycles);
        for (int k = 0; k < NAMES; k++)
            fprintf(out, " %u", t->asked[k]);
        for (int k = 0; k < LOST; k++)
            fprintf(out, " %u", t->missed[k]);
        fprintf(out, " %u %u\n", t->called[0], t->called[1]);
    }
    fprintf(out, "children %u\n", children);
}

int main(int argc, char **argv) {
    pthread_t ids[THREADS];
    int told = 0;
    FILE *out = argc == 4 ? fopen(argv[3], "we") : NULL;
    if (!out)
        return 2;
    seconds = atof(argv[1]);
    directory = argv[2];
    begin();
    for (intptr_t i = 0; i < THREADS; i++)
        must(!pthread_create(&ids[i], NULL, work, (void *)i), "pthread_create", (int)i);
    for (double now; (now = elapsed()) < 1;) {
        struct timespec pause = {0, 60000000};
        if (running < AT_ONCE)
            fork_one(children % 2 != 0);
        nanosleep(&pause, NULL);
        reap(WNOHANG);
        if (now >= (told ? 0.95 : 0.5) && told < 2)
            tell_what_it_has(out, told++ ? "late" : "half");
    }
    while (told < 2) /* a busy machine: this thread came too late */
        tell_what_it_has(out, told++ ? "late" : "half");
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    reap(0);
    tell_threads(out);
    puts("all was well");
    return fclose(out);
}
