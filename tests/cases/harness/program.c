/*
 * The program: opens each library that is named, as Python opens an extension, and has it do the
 * words that follow, up to "--" and the next library. "=" as a name: what the program itself is
 * linked to. Says "done" where all went well.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*run_function)(int, char **);

#ifdef PROGRAM_LINKED
extern int host_run(int argc, char **argv);
#endif

static run_function find(const char *path) {
    void *handle;

#ifdef PROGRAM_LINKED
    if (!strcmp(path, "="))
        return host_run;
#endif
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fprintf(stderr, "ImportError: %s\n", dlerror());
    return handle ? (run_function)dlsym(handle, "host_run") : NULL;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        run_function run = find(argv[i++]);
        int first = i, status;
        while (i < argc && strcmp(argv[i], "--"))
            i++;
        status = run ? run(i - first, argv + first) : 1;
        if (status)
            return status;
    }
    puts("done");
    return 0;
}
