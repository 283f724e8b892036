/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asks FILE: opens it, looks a function up and calls it, then one that is not there, opens what is
 * not there, reads dlerror twice, closes, and exits with 7.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *asked_by;

/* Texts differ among C libraries: whether it names what was asked for is what they share. */
static void say_error(const char *asked) {
    const char *error = dlerror();
    printf("%s: %s", asked_by, error ? "error" : "no error");
    printf("%s\n", error && strstr(error, asked) ? " names it" : "");
    fprintf(stderr, "%s\n", error ? error : "none");
}

int main(int argc, char **argv) {
    size_t (*version)(void) = NULL;
    void *found, *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    printf("opened: %s\n", library ? "yes" : dlerror());
    if (!library)
        return 1;
    found = dlsym(library, "cudnnGetVersion");
    memcpy(&version, &found, sizeof version);
    printf("version: %zu\n", version ? version() : 0);
    asked_by = "dlsym";
    found = dlsym(library, "cudnnNowhere");
    printf("nowhere: %s\n", found ? "found" : "NULL");
    say_error("cudnnNowhere");
    asked_by = "dlopen";
    found = dlopen("./libcudnn_nowhere.so.9", RTLD_NOW);
    printf("missing: %s\n", found ? "opened" : "NULL");
    say_error("libcudnn_nowhere.so.9");
    asked_by = "then";
    say_error("again");
    printf("closed: %d\n", dlclose(library));
    return 7;
}
