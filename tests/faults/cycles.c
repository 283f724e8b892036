/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cycles N FILE [WHAT]: opens the file, looks functions up, calls two and closes it, N times; by
 * WHAT also `absent` (asks for a library and a function that are not there, and why), or only
 * `ask` (RTLD_NOLOAD) or `elf_file` (a function that is not there). Reports what the process has of
 * descriptors, mappings and memory more at the end than at half time.
 */
#include <dirent.h>

#include "report.h"

#define MEMORY_MORE 16 /* KiB: a few pages of the stack and of stdio */

static const char *file, *what;

static int count_lines(const char *name) {
    FILE *in = fopen(name, "re");
    int n = 0, c;
    while (in && (c = getc(in)) != EOF)
        n += c == '\n';
    if (in)
        fclose(in);
    return n;
}

static int count_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    int n = -3; /* ".", ".." and the directory itself */
    while (directory && readdir(directory))
        n++;
    if (directory)
        closedir(directory);
    return n;
}

/* The process's private memory. */
static long kilobytes(const char *key) {
    char line[256];
    long value = -1;
    FILE *in = fopen("/proc/self/smaps_rollup", "re");
    while (in && fgets(line, sizeof line, in))
        if (!strncmp(line, key, strlen(key)))
            value = atol(line + strlen(key));
    if (in)
        fclose(in);
    return value;
}

static void must(int good, const char *step) {
    if (good)
        return;
    report("%s: %s\n", step, dlerror());
    report_end();
    exit(3);
}

static void ask_for_absent(void *library) {
    must(!dlopen("libcudnn_absent.so.9", RTLD_NOW), "what is absent was opened");
    must(!!dlerror(), "no words");
    must(!dlsym(library, "cudnnAbsent"), "what is absent was found");
    must(!!dlerror(), "no words");
}

static void cycle(void) {
    void *handle = NULL;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    must(!!library, "dlopen");
    size_t (*version)(void) = (size_t(*)(void))dlsym(library, "cudnnGetVersion");
    int (*create)(void **) = (int (*)(void **))dlsym(library, "cudnnCreate");
    must(version && create, "dlsym");
    must(version() == 90100 && create(&handle) == 1001, "calls");
    if (!strcmp(what, "absent"))
        ask_for_absent(library);
    must(dlclose(library) == 0, "dlclose");
}

static void ask(void *library) {
    void *again = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    must(again == library, "RTLD_NOLOAD");
    dlclose(again);
}

struct has {
    int descriptors, mappings;
    long kilobytes;
};

static struct has count(void) {
    return (struct has){count_descriptors(), count_lines("/proc/self/maps"),
                        kilobytes("Private_Dirty:")};
}

int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[1]) : 0;
    struct has half = {0, 0, 0};
    file = argv[2];
    what = argc > 3 ? argv[3] : "";
    report_begin();
    void *kept = !strcmp(what, "ask") || !strcmp(what, "look") ? dlopen(file, RTLD_NOW) : NULL;
    for (int i = 0; i < n; i++) {
        if (i == n / 2)
            half = count();
        if (!kept)
            cycle();
        else if (!strcmp(what, "ask"))
            ask(kept);
        else
            must(!dlsym(kept, "cudnnAbsent"), "what is absent was found");
    }
    struct has end = count();
    fprintf(stderr, "cycles: descriptors %d mappings %d KiB %ld, then %d %d %ld\n",
            half.descriptors, half.mappings, half.kilobytes, end.descriptors, end.mappings,
            end.kilobytes);
    report("descriptors %+d mappings %+d memory %s\n", end.descriptors - half.descriptors,
           end.mappings - half.mappings,
           end.kilobytes - half.kilobytes <= MEMORY_MORE ? "the same" : "more");
    report_end();
    return 0;
}
