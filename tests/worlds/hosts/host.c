/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host of the worlds: does its arguments one by one and says what came of each. LINKED: cuDNN is
 * linked; else the first of name=A,B that can be opened is taken. PROGRAM: with a main.
 *
 *   name=A,B          where cuDNN is asked for, by these names in turn
 *   version create conv finalize    the calls; one that fails ends the process with status 1
 *   extra             calls the function IMPORTS, that not each release has
 *   wants:F           looks F up, and aborts where cuDNN has no such function
 *   verify:RULE:N     built with N: refuses what RULE (minor, exact) does not accept
 *   open:NAME         a library that it needs; try:NAME one that it does not; fd:N as many open
 *   driver            counts the GPUs as a framework does, by libcudart or libcuda
 *   cpu               from now on goes on without a GPU where something cannot be opened
 *   blame:TEXT        what it says in place of its own words
 *   fork:N            the rest is done by N children
 *   move:FROM:TO      renames a file, as an installer does; link:FROM:TO takes it by a copy's name
 *   maps:STEM         opens what the memory map says of STEM
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LINKED
extern size_t cudnnGetVersion(void);
extern int cudnnCreate(void **handle);
extern int cudnnConvolutionForward(void *handle, const void *alpha, void *xd, const void *x,
                                   void *wd, const void *w, void *convd, int algo, void *space,
                                   size_t bytes, const void *beta, void *yd, void *y);
#ifndef NO_FINALIZE
extern int cudnnBackendFinalize(void *descriptor);
#endif
#endif
#ifdef IMPORTS
extern size_t IMPORTS(void);
#endif

#ifdef STUBS /* As TensorFlow: names of cuDNN that the host exports and nobody else is meant to    \
                use. */
size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void) {
    return 0;
}
int cudnnCreate(void **handle);
int cudnnCreate(void **handle) {
    return handle ? 4000 : 2000;
}
#endif

static void *cudnn;
static int goes_on;
static const char *blame;

static void give_up(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, blame ? blame : why);
    if (goes_on) {
        puts("device cpu");
        fflush(stdout);
        _exit(0);
    }
    exit(1);
}

static void *must_open(const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        give_up("cannot load", dlerror());
    return handle;
}

static void open_cudnn(char *names) {
    char *rest = NULL;
    char why[512] = "no name";
    for (char *name = strtok_r(names, ",", &rest); name && !cudnn;
         name = strtok_r(NULL, ",", &rest)) {
        cudnn = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!cudnn)
            snprintf(why, sizeof why, "%s", dlerror());
    }
    if (!cudnn)
        give_up("cuDNN could not be loaded", why);
}

static void *function(const char *name) {
    void *found = cudnn ? dlsym(cudnn, name) : NULL;
    if (!found) {
        fprintf(stderr, "Expected symbol in library: %s\n", cudnn ? dlerror() : name);
        abort();
    }
    return found;
}

#ifdef LINKED
#define F(type, name) name
#else
#define F(type, name) ((type)function(#name))
#endif

static void done(const char *what, long status) {
    char why[64];
    printf("%s %ld\n", what, status);
    fflush(stdout);
    snprintf(why, sizeof why, "cuDNN error: status %ld of %s", status, what);
    if (status)
        give_up("host", why);
}

static size_t version(void) {
    return F(size_t(*)(void), cudnnGetVersion)();
}

static int create(void) {
    void *handle = NULL;
    return F(int (*)(void **), cudnnCreate)(&handle);
}

typedef int convolution(void *, const void *, void *, const void *, void *, const void *, void *,
                        int, void *, size_t, const void *, void *, void *);
static int conv(void) {
    return F(convolution *, cudnnConvolutionForward)((void *)1, (void *)2, (void *)3, (void *)4,
                                                     (void *)5, (void *)6, (void *)7, 8, (void *)9,
                                                     10, (void *)11, (void *)12, (void *)13);
}

static int finalize(void) {
#ifdef NO_FINALIZE
    return 0;
#else
    return F(int (*)(void *), cudnnBackendFinalize)(NULL);
#endif
}

static void parts(size_t v, size_t *major, size_t *minor, size_t *patch) {
    size_t base = v < 10000 ? 1000 : 10000;
    *major = v / base;
    *minor = v % base / 100;
    *patch = v % 100;
}

static void verify(const char *rule, size_t built) {
    size_t v = version(), major, minor, patch, want_major, want_minor, want_patch;
    parts(v, &major, &minor, &patch);
    parts(built, &want_major, &want_minor, &want_patch);
    if (!strncmp(rule, "exact", 5) ? v == built : major == want_major && minor >= want_minor)
        return;
    char why[512];
    snprintf(why, sizeof why,
             "Loaded runtime CuDNN library: %zu.%zu.%zu but source was compiled with: %zu.%zu.%zu."
             "  CuDNN library needs to have matching major version and equal or higher minor "
             "version.",
             major, minor, patch, want_major, want_minor, want_patch);
    give_up("host", why);
}

static void driver(void) {
    int count = 0;
    void *handle = NULL;
    int (*devices)(int *) = (int (*)(int *))dlsym(RTLD_DEFAULT, "cudaGetDeviceCount");
    for (int major = 13; !devices && major > 10; major--) {
        char name[32];
        snprintf(name, sizeof name, "libcudart.so.%d", major);
        if ((handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)))
            devices = (int (*)(int *))dlsym(handle, "cudaGetDeviceCount");
    }
    if (devices) {
        devices(&count);
    } else if ((handle = dlopen("libcuda.so.1", RTLD_NOW))) {
        int (*init)(unsigned) = (int (*)(unsigned))dlsym(handle, "cuInit");
        count = init && !init(0);
    }
    printf("gpus %d\n", count);
    fflush(stdout);
    if (!count)
        give_up("host", "no CUDA-capable device is detected");
}

static void open_mapped(const char *stem) {
    char line[4096], path[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *begin = strchr(line, '/');
        if (begin && strstr(begin, stem)) {
            snprintf(path, sizeof path, "%s", begin);
            path[strcspn(path, "\n")] = 0;
            break;
        }
    }
    if (maps)
        fclose(maps);
    must_open(path[0] ? path : stem);
    puts("again");
}

/* The rest in children: the parent's status is the worst of theirs. */
static int fork_children(int n, int argc, char **argv);

static int run(int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        char *what = argv[i], *value = strpbrk(what, ":=");
        value = value ? value + 1 : what;
        if (!strncmp(what, "name=", 5))
            open_cudnn(value);
        else if (!strcmp(what, "version"))
            printf("version %zu\n", version()), fflush(stdout);
        else if (!strcmp(what, "create"))
            done(what, create());
        else if (!strcmp(what, "conv"))
            done(what, conv());
        else if (!strcmp(what, "finalize"))
            done(what, finalize());
#ifdef IMPORTS
        else if (!strcmp(what, "extra"))
            printf("extra %d\n", IMPORTS() == 0), fflush(stdout);
#endif
        else if (!strncmp(what, "wants:", 6))
            function(value), printf("has %s\n", value), fflush(stdout);
        else if (!strncmp(what, "verify:", 7))
            verify(value, (size_t)atol(strchr(value, ':') + 1));
        else if (!strncmp(what, "open:", 5))
            must_open(value);
        else if (!strncmp(what, "try:", 4))
            dlopen(value, RTLD_LAZY), dlerror();
        else if (!strncmp(what, "fd:", 3))
            for (int n = atoi(value); n > 0; n--)
                (void)!open("/dev/null", O_RDONLY);
        else if (!strcmp(what, "driver"))
            driver();
        else if (!strcmp(what, "cpu"))
            goes_on = 1;
        else if (!strncmp(what, "blame:", 6))
            blame = value;
        else if (!strncmp(what, "maps:", 5))
            open_mapped(value);
        else if (!strncmp(what, "move:", 5)) {
            char *to = strchr(value, ':');
            *to++ = 0;
            if (rename(value, to))
                perror(to);
        } else if (!strncmp(what, "fork:", 5))
            return fork_children(atoi(value), argc - i - 1, argv + i + 1);
        else
            fprintf(stderr, "host: %s?\n", what);
    }
    puts("done");
    fflush(stdout);
    return 0;
}

static int fork_children(int n, int argc, char **argv) {
    int worst = 0, status;
    fflush(stdout);
    for (int child = 0; child < n; child++) {
        pid_t pid = fork();
        if (!pid)
            exit(run(argc, argv));
        if (pid > 0 && waitpid(pid, &status, 0) == pid && status)
            worst = 1;
    }
    if (worst)
        fprintf(stderr, "DataLoader worker is killed\n");
    return worst;
}

int host_run(int argc, char **argv);
int host_run(int argc, char **argv) {
    return run(argc - 1, argv + 1);
}

#ifdef PROGRAM
int main(int argc, char **argv) {
    return host_run(argc, argv);
}
#endif
