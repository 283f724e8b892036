/* SPDX-License-Identifier: Apache-2.0 */
#include "left_running.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/util/memory.h"

/* Those of other users cannot be read. */
static bool has_variable(const char *process, const char *variable) {
    OWNED char *path = must_format("/proc/%s/environ", process), *piece = NULL;
    OWNED_FILE FILE *from = fopen(path, "re");
    bool found = false;
    size_t room = 0;

    while (from && !found && getdelim(&piece, &room, '\0', from) > 0)
        found = strcmp(piece, variable) == 0;
    return found;
}

size_t left_running(pid_t command, pid_t *one) {
    OWNED char *mark = must_format("WHICHCUDNN_RUN_PID=%d", (int)command);
    OWNED_DIR DIR *processes = opendir("/proc");
    struct dirent *entry;
    size_t n = 0;

    while (processes && (entry = readdir(processes)))
        if (wc_is_digit(entry->d_name[0]) && has_variable(entry->d_name, mark)) {
            *one = (pid_t)strtol(entry->d_name, NULL, 10);
            n++;
        }
    return n;
}
