/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compares [program] FILE|default|CUDNN=FILE...: is the address of cudnnGetVersion everywhere the
 * same? Each way to take it is compared with the first one named: in the program's code ("program";
 * "table": in its table), in that library's, by dlsym with RTLD_DEFAULT or with the handle of
 * cuDNN. Then each address is called, and is a key of a table.
 */
#include <stdlib.h>

#include "see.h"

typedef size_t version_function(void);

#ifdef LINKED
extern size_t cudnnGetVersion(void);
static version_function *const volatile in_table[] = {cudnnGetVersion};
#else
#define cudnnGetVersion NULL
static version_function *const volatile in_table[] = {NULL};
#endif

static version_function *taken_by(const char *how) {
    if (!strcmp(how, "program"))
        return cudnnGetVersion;
    if (!strcmp(how, "table"))
        return in_table[0];
    if (!strcmp(how, "default"))
        return (version_function *)dlsym(RTLD_DEFAULT, "cudnnGetVersion");
    if (!strncmp(how, "cudnn=", 6))
        return (version_function *)dlsym(dlopen(how + 6, RTLD_LAZY), "cudnnGetVersion");
    void *library = dlopen(how, RTLD_LAZY);
    version_function *(*address)(void) =
        library ? (version_function * (*)(void)) dlsym(library, "host_address") : NULL;
    long (*run)(void) = library ? (long (*)(void))dlsym(library, "host_run") : NULL;
    if (run)
        see("calls", "%s %ld", how, run());
    return address ? address() : NULL;
}

/* A table keyed by function, as registries of kernels are. */
static struct {
    version_function *key;
    int hits;
} table[16];

static int enter(version_function *key) {
    int i = 0;
    while (table[i].key && table[i].key != key)
        i++;
    table[i].key = key;
    table[i].hits++;
    return i;
}

int main(int argc, char **argv) {
    version_function *first = argc > 1 ? taken_by(argv[1]) : NULL;
    for (int i = 1; i < argc; i++) {
        version_function *it = taken_by(argv[i]);
        see("address", "%s: %s, entry %d, %zu", argv[i],
            !it           ? "none"
            : it == first ? "same"
                          : "another",
            enter(it), it ? it() : 0);
        if (getenv("NAMES"))
            see_address(argv[i], (const void *)it);
    }
    return 0;
}
