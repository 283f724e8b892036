/* SPDX-License-Identifier: Apache-2.0 */
#include "preloaded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* Of a file of /proc/PID: does a piece of it that begins so have the name in it? *read: it has a
 * piece at all. */
static bool mentions(pid_t pid, const char *file, int end, const char *begin, const char *name,
                     bool *read) {
    OWNED char *path = must_format("/proc/%d/%s", (int)pid, file), *piece = NULL;
    OWNED_FILE FILE *from = fopen(path, "re");
    bool found = false;
    size_t room = 0;

    *read = false;
    while (from && !found && getdelim(&piece, &room, end, from) > 0) {
        *read = true;
        found = strncmp(piece, begin, strlen(begin)) == 0 && strstr(piece, name);
    }
    return found;
}

/* Before its exec, and while the loader works, it is only in the environment; a process that
 * writes its title over its environment has it only in memory. */
bool preload_is_gone(pid_t pid, const char *shim) {
    const char *name = wc_base_name(shim);
    bool environment, maps;

    return !mentions(pid, "environ", '\0', "LD_PRELOAD=", name, &environment) &&
           !mentions(pid, "maps", '\n', "", name, &maps) && maps;
}
