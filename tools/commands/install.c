/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn install: a copy of the shim for other processes, there whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "tools/commands/child.h"
#include "tools/observe/preload.h"
#include "tools/util/beside.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"

#define PATIENCE 20 /* seconds for the program that is run with the copy */

static const struct option_row rows[] = {OPTIONS_END(NULL)};

static void watch(void *path) {
    trial_watch(path, "/dev/null");
}

/* This very program, since an image may have no other one. NULL: it ran without output. */
static char *trouble_with_it(char *path) {
    char *arguments[] = {"whichcudnn", "--version", NULL};
    ENDED_BY(trial_end)
    struct trial trial = {
        .arguments = arguments, .prepare = watch, .arg = path, .patience = PATIENCE};
    char *trouble = shim_file_trouble(path);

    if (trouble)
        return trouble;
    if (!trial_run(&trial))
        return must_format("no program could be started with it: %s", strerror(errno));
    if (trial.errors[0])
        return must_format("a program that ran with it said: %.*s",
                           (int)strcspn(trial.errors, "\n"), trial.errors);
    if (trial.timed_out)
        return must_format("a program that ran with it did not end in %d seconds", PATIENCE);
    if (WIFSIGNALED(trial.status))
        return must_format("a program that ran with it was ended by %s",
                           strsignal(WTERMSIG(trial.status)));
    if (trial.status != 0)
        return must_format("a program that ran with it gave status %d", WEXITSTATUS(trial.status));
    return NULL;
}

/* Readable by all: a job runs as another user. What went wrong, or NULL; the caller frees it. */
static char *put(const char *shim, const char *directory, const char *path) {
    struct beside copy;
    char *trouble;
    size_t n;

    if (!beside_begin(&copy, path, 0644))
        return must_format("%s: nothing can be written there: %s", directory, strerror(errno));
    OWNED char *bytes = disk_text(shim, SIZE_MAX, &n);
    /* A pipe-like file system has nothing to flush: EINVAL. */
    if (!bytes || !beside_write(&copy, bytes, n) || (fsync(copy.fd) != 0 && errno != EINVAL))
        trouble = must_format("%s: the copy could not be written: %s", directory, strerror(errno));
    else
        trouble = trouble_with_it(copy.path);
    if (!beside_end(&copy, path, !trouble) && !trouble)
        trouble = must_format("%s: %s", path, strerror(errno));
    OWNED_FD int place = trouble ? -1 : open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place >= 0)
        (void)fsync(place);
    return trouble;
}

static int install(int n, char **arguments) {
    OWNED char *shim = preload_find_shim(NULL), *directory = NULL, *path = NULL, *trouble = NULL;

    (void)n;
    if (!shim)
        return EXIT_USAGE;
    directory = realpath(arguments[0], NULL);
    if (!directory)
        return complain("%s: %s", arguments[0], strerror(errno));
    path = must_format("%s/%s", directory, wc_base_name(shim));
    trouble = preload_name_trouble(path) ?: put(shim, directory, path);
    if (trouble)
        return complain("not installed: %s", trouble);
    puts(path);
    return EXIT_NOTHING_WRONG;
}

const struct usage cmd_install = {
    .begin = "Usage: whichcudnn install DIR\n\n"
             "Copies libwhichcudnn.so into DIR, a directory that others see too (a volume that\n"
             "containers share, a cluster's file system), and prints its path there:\n\n"
             "    LD_PRELOAD=$(whichcudnn install /shared) python train.py\n\n"
             "A partial library would end every program that preloads it. So the copy has a\n"
             "temporary name until it is complete and on disk, is for this processor, and a\n"
             "program ran with it preloaded; then it replaces an older one. Processes that\n"
             "have mapped the older one keep it.\n\n",
    .options = rows,
    .end = "Exit status: 0 it is there; 2 usage, or it could not be made: then DIR is as it\n"
           "was.\n",
    .least = 1,
    .most = 1,
    .arguments = "one directory",
    .run = install,
};
