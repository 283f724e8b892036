/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A framework's library, as far as cuDNN sees it: it does what its words print, one after another,
 * and says what that framework says where something is wrong. library_cache.py compiles it, with
 * HOST_LINKED where it imports cuDNN's functions (HOST_IMPORTS: CALL(name) for those without
 * arguments), and program.c opens it.
 *
 *   version            prints what cudnnGetVersion says
 *   create             cudnnCreate; a status ends it with HOST_REFUSES, if there are such words
 *   check:RULE:NUMBER  the framework's own check, built with that CUDNN_VERSION; ends if it refuses
 *   call:NAME          as create, a function without arguments
 *   need:NAME          looks it up in what the last open brought, and aborts where it is not there
 *   open:NAME[:TEXT]   dlopen; ends where it fails. TEXT: its words, with {name} and {error}
 *   try:NAME           the same without an end and without words
 *   set:NAME=VALUE     in this process's environment, too late for the loader
 *   abort              as after a fault that nobody handles
 *   swap:FROM=TO       exchanges the files of two directories, name by name
 *   maps               the files of cuDNN and CUDA that are mapped
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* World.constants puts them here, for who looks at this file before it runs. */
__attribute__((used)) static const char names_that_it_opens[512] =
    "no names: host.c, names_that_it_opens";

static void *library; /* of the last open: that worked */

#ifdef HOST_LINKED
extern size_t cudnnGetVersion(void);
extern int cudnnCreate(void **handle);
#define CALL(name) extern int name(void);
HOST_IMPORTS
#undef CALL
#endif

static void *look_up(const char *name) {
    void *found = library ? dlsym(library, name) : NULL;

    if (!found) {
        fprintf(stderr, "could not find %s in cudnn DSO; dlerror: %s\n", name,
                library ? dlerror() : "no handle");
        exit(1);
    }
    return found;
}

/* As a language's own loader does, which looks up all that it may ever want. */
static int need(const char *name) {
    if (dlsym(library, name))
        return 0;
    fprintf(stderr, "panic: Expected symbol in library: %s\n", name);
    abort();
}

static size_t version(void) {
#ifdef HOST_LINKED
    if (!library)
        return cudnnGetVersion();
#endif
    return ((size_t(*)(void))look_up("cudnnGetVersion"))();
}

static int create(void) {
    void *handle = NULL;
#ifdef HOST_LINKED
    if (!library)
        return cudnnCreate(&handle);
#endif
    return ((int (*)(void **))look_up("cudnnCreate"))(&handle);
}

static int call(const char *name) {
#ifdef HOST_LINKED
#define CALL(function)                                                                             \
    if (!library && !strcmp(name, #function))                                                      \
        return function();
    HOST_IMPORTS
#undef CALL
#endif
    return ((int (*)(void))look_up(name))();
}

/* ---- the frameworks' own checks ---- */

struct number {
    int whole, major, minor, patch;
};

/* 5110, 8902, 90100: the weights changed with 9. */
static struct number number(size_t n) {
    int v = (int)n;

    if (v >= 10000)
        return (struct number){v, v / 10000, v / 100 % 100, v % 100};
    return (struct number){v, v / 1000, v / 100 % 10, v % 100};
}

static int older_minor(struct number built, struct number found) {
    return found.major != built.major || found.minor < built.minor;
}

/* 1 and its words where a framework of that kind does not take what it found. */
static int refused(const char *rule, struct number b, struct number f) {
    if (!strcmp(rule, "torch"))
        return older_minor(b, f) &&
               printf("RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against "
                      "(%d, %d, %d) but found runtime version (%d, %d, %d). PyTorch already comes "
                      "bundled with cuDNN.\n",
                      b.major, b.minor, b.patch, f.major, f.minor, f.patch);
    if (!strcmp(rule, "torch-old")) /* to 0.4 */
        return b.whole / 100 != f.whole / 100 &&
               printf("RuntimeError: cuDNN version mismatch: PyTorch was compiled against %d but "
                      "linked against %d\n",
                      b.whole, f.whole);
    if (!strcmp(rule, "tensorflow-old")) /* to 1.5 */
        return b.whole / 100 != f.whole / 100 &&
               printf("Loaded runtime CuDNN library: %d (compatibility version %d) but source was "
                      "compiled with %d (compatibility version %d).\n",
                      f.whole, f.whole / 100 * 100, b.whole, b.whole / 100 * 100);
    if (!strcmp(rule, "xla"))
        return older_minor(b, f) &&
               printf("Loaded runtime CuDNN library: %d.%d.%d but source was compiled with: "
                      "%d.%d.%d. CuDNN library needs to have matching major version and equal or "
                      "higher minor version.\n",
                      f.major, f.minor, f.patch, b.major, b.minor, b.patch);
    if (!strcmp(rule, "mxnet"))
        return b.whole != f.whole &&
               printf("cuDNN library mismatch: linked-against version %d != compiled-against "
                      "version %d\n",
                      f.whole, b.whole);
    if (!strcmp(rule, "jax"))
        return f.whole < b.whole &&
               printf("RuntimeError: Outdated cuDNN installation found. Version JAX was built "
                      "against: %d Minimum supported: %d Installed version: %d\n",
                      b.whole, b.whole, f.whole);
    if (!strcmp(rule, "theano"))
        return b.whole != f.whole &&
               printf("RuntimeError: Mixed dnn version. The header is version %d while the library "
                      "is version %d.\n",
                      b.whole, f.whole);
    if (!strcmp(rule, "caffe2"))
        return b.whole / 100 != f.whole / 100 &&
               printf("[enforce fail at common_cudnn.h:108] cuDNN compiled (%d) and runtime (%d) "
                      "versions mismatch\n",
                      b.whole, f.whole);
    if (!strcmp(rule, "paddle")) /* a warning; what is older fails later */
        return f.whole / 100 < b.whole / 100 &&
               printf("W device_context.cc: WARNING: device: 0. The installed Paddle is compiled "
                      "with CUDNN %d.%d, but CUDNN version in your machine is %d.%d\n",
                      b.major, b.minor, f.major, f.minor);
    if (!strcmp(rule, "tensorrt"))
        return b.whole > f.whole &&
               printf("[TRT] TensorRT was linked against cuDNN %d.%d.%d but loaded cuDNN "
                      "%d.%d.%d\n",
                      b.major, b.minor, b.patch, f.major, f.minor, f.patch);
    if (!strcmp(rule, "dlib"))
        return f.whole < b.whole &&
               printf("cudnnGetVersion() : %d , CUDNN_VERSION from cudnn.h : %d (%d.%d.%d)\n",
                      f.whole, b.whole, b.major, b.minor, b.patch);
    if (!strcmp(rule, "opencv-4.10")) /* reads 90101 as if the weights were those before 9 */
        return f.whole / 1000 != b.major &&
               printf("cuDNN reports version %d.%d which is not compatible with the version %d.%d "
                      "with which OpenCV was built\n",
                      f.whole / 1000, f.whole / 100 % 10, b.major, b.minor);
    fprintf(stderr, "host: no rule %s\n", rule);
    exit(3);
}

static int check(char *what) {
    char *built = strchr(what, ':');

    *built++ = 0;
    return refused(what, number((size_t)atol(built)), number(version())) != 0;
}

/* ---- loading ---- */

static void print(const char *words, const char *name, const char *error) {
    while (*words) {
        if (!strncmp(words, "{name}", 6))
            fputs(name, stderr), words += 6;
        else if (!strncmp(words, "{error}", 7))
            fputs(error, stderr), words += 7;
        else
            fputc(*words++, stderr);
    }
    fputc('\n', stderr);
}

static int load(char *what, int must) {
    char *words = strchr(what, ':');
    void *handle;

    if (words)
        *words++ = 0;
    handle = dlopen(what, RTLD_LAZY | RTLD_LOCAL);
    if (handle)
        library = handle;
    else if (must)
        print(words ? words : "{error}", what, dlerror());
    else
        dlerror(); /* as who wants to try the next one */
    return !handle && must;
}

static void print_maps(void) {
    static char line[8192];
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        char *name = path ? strrchr(path, '/') : NULL;
        if (name && (!strncmp(name, "/libcu", 6) || !strncmp(name, "/libnv", 6)))
            printf("mapped %s", path);
    }
    if (maps)
        fclose(maps);
}

static int failed(const char *name, int status) {
    printf("%s %d\n", name, status);
    if (!status)
        return 0;
#ifdef HOST_REFUSES
    fprintf(stderr, "%s\n", HOST_REFUSES);
    return 1;
#else
    return 0;
#endif
}

/* As a package manager puts another release in the place of one that is in use; done twice, all is
 * as it was. */
static int swap(char *from) {
    char *to = strchr(from, '='), old[4096], new[4096];
    struct dirent *entry;
    DIR *directory;

    *to++ = 0;
    directory = opendir(from);
    while (directory && (entry = readdir(directory))) {
        snprintf(old, sizeof old, "%s/%s", from, entry->d_name);
        snprintf(new, sizeof new, "%s/%s", to, entry->d_name);
        if (entry->d_name[0] != '.' &&
            renameat2(AT_FDCWD, old, AT_FDCWD, new, RENAME_EXCHANGE) != 0)
            perror(new);
    }
    return !directory || closedir(directory);
}

static int one(char *word) {
    char *rest = strchr(word, ':');

    if (!strcmp(word, "version"))
        return printf("version %zu\n", version()) < 0;
    if (!strcmp(word, "create"))
        return failed("cudnnCreate", create());
    if (!strcmp(word, "abort"))
        abort();
    if (!strcmp(word, "fail"))
        return 1;
    if (!strcmp(word, "maps"))
        return print_maps(), 0;
    if (!rest)
        return 3;
    *rest++ = 0;
    if (!strcmp(word, "check"))
        return check(rest);
    if (!strcmp(word, "call"))
        return failed(rest, call(rest));
    if (!strcmp(word, "need"))
        return need(rest);
    if (!strcmp(word, "open"))
        return load(rest, 1);
    if (!strcmp(word, "try"))
        return load(rest, 0);
    if (!strcmp(word, "swap"))
        return swap(rest);
    if (!strcmp(word, "set"))
        return putenv(rest);
    return 3;
}

int host_run(int argc, char **argv);
int host_run(int argc, char **argv) {
    int status = 0;

    for (int i = 0; i < argc && !status; i++) {
        status = one(argv[i]);
        fflush(stdout);
    }
    return status;
}
