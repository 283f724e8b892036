/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drives [now|lazy|global|local|nodelete|deep|keep|call|NAME]...: opens each host named with the
 * flags printed before it (lazy local), runs and closes it, and says whether it is gone. keep: does
 * not close those that follow.
 */
#include <string.h>

#include "see.h"

static const struct {
    const char *word;
    int add, remove;
} flag_words[] = {
    {"now", RTLD_NOW, RTLD_LAZY}, {"lazy", RTLD_LAZY, RTLD_NOW},  {"global", RTLD_GLOBAL, 0},
    {"local", 0, RTLD_GLOBAL},    {"nodelete", RTLD_NODELETE, 0}, {"deep", RTLD_DEEPBIND, 0},
};

static int is_flag(const char *word, int *flags) {
    for (size_t i = 0; i < sizeof flag_words / sizeof *flag_words; i++)
        if (!strcmp(word, flag_words[i].word)) {
            *flags = (*flags & ~flag_words[i].remove) | flag_words[i].add;
            return 1;
        }
    return 0;
}

static void drive(const char *name, int flags, int keep) {
    void *host = see_open(name, flags);
    long (*run)(void) = host ? (long (*)(void))dlsym(host, "host_run") : NULL;
    if (run)
        run();
    if (host && !keep) {
        see_close(see_base_name(name), host);
        see_mapped(name);
    }
}

int main(int argc, char **argv) {
    int flags = RTLD_LAZY, keep = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "keep"))
            keep = 1;
        else if (!is_flag(argv[i], &flags))
            drive(argv[i], flags, keep);
    return 0;
}
