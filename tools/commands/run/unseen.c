/* SPDX-License-Identifier: Apache-2.0 */
#include "unseen.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outcome.h"
#include "tools/util/memory.h"

/* ---- why no log could be written ---- */

static bool may(const char *path, uid_t user, mode_t wanted) {
    struct stat facts;

    if (user == 0 || stat(path, &facts) != 0)
        return true;
    return ((facts.st_uid == user ? facts.st_mode >> 6 : facts.st_mode) & wanted) == wanted ||
           ((facts.st_mode >> 3) & wanted) == wanted; /* in which groups they are is not asked */
}

/* In it, and on the way there. */
static bool may_write_in(const char *directory, uid_t user) {
    char *path = must_copy(directory), *slash;
    bool good = may(path, user, 3);

    while (good && (slash = strrchr(path, '/')) && slash > path) {
        *slash = '\0';
        good = may(path, user, 1);
    }
    free(path);
    return good;
}

/* 0: a line more finds room there. */
static int try_to_write(const char *directory) {
    static const char zeros[4096];
    OWNED char *name = must_format("%s/whichcudnn-room-XXXXXX", directory);
    int fd = mkostemp(name, O_CLOEXEC), error = fd < 0 ? errno : 0;

    if (fd >= 0 && write(fd, zeros, sizeof(zeros)) != (ssize_t)sizeof(zeros))
        error = errno;
    if (fd >= 0) {
        unlink(name);
        close(fd);
    }
    return error;
}

/* NULL: nothing is known that would have kept it from that. */
static char *trouble_of_place(const struct log_place *place, uid_t user) {
    int error;

    if (!place->directory)
        return must_format("where logs go cannot be told from %s", place->value);
    if (user != geteuid() && !may_write_in(place->directory, user))
        return must_format("user %u may not write in %s", (unsigned)user, place->directory);
    error = try_to_write(place->directory);
    return error ? must_format("no log can be written in %s: %s", place->directory, strerror(error))
                 : NULL;
}

/* ---- the command itself ---- */

bool was_the_last(const struct source *log, const struct family *family) {
    const struct wc_process_record *p = &log->stack.process;

    return log->stack.has_summary || !family->last_name[0] ||
           family_is_last(family, p->executable) ||
           WC_ANY(a, p->arguments, family_is_last(family, *a)) ||
           (family->seen_program && wc_str_same(family->seen_program, p->executable) &&
            wc_str_same(family->seen_name, family->last_name));
}

/* NULL: it was seen to its end, as far as anybody can tell. */
static char *missing_of_command(const struct run *run, const struct child_logs *logs) {
    const struct family *family = &run->live.family;

    if (logs->own ? logs->own->stack.objects.n + logs->own->stack.failures.n > 0 ||
                        was_the_last(logs->own, family)
                  : logs->n > 0 || child_exit_code(&run->child) > 128)
        return NULL;
    if (run->live.preload_gone)
        return must_copy("the command went on without the library: something took LD_PRELOAD out "
                         "of its environment (env -i, sudo, a launcher)");
    if (logs->own)
        return must_format("the command went on as %s, of which the library left no log",
                           family->last_name);
    return must_copy("the library left no log of the command");
}

/* ---- what it started ---- */

static char *missing_of_others(const struct run *run, const struct child_logs *logs, uid_t *user) {
    const struct family *family = &run->live.family;

    for (size_t i = 0; i < family->with_cudnn_count; i++) {
        const struct relative *one = &family->with_cudnn[i];
        bool told = false;
        for (size_t k = 0; k < logs->n; k++)
            told = told || logs->found[k]->pid == one->pid;
        *user = one->user;
        if (!told)
            return must_format("process %lld had %s and left no log", (long long)one->pid,
                               one->library);
    }
    return NULL;
}

char *unseen_reason(const struct run *run, const struct child_logs *logs) {
    uid_t user = run->live.family.last_user;
    OWNED char *missing = missing_of_command(run, logs), *why = NULL;

    if (!missing)
        missing = missing_of_others(run, logs, &user);
    if (!missing)
        return NULL;
    why = trouble_of_place(&run->place, user);
    if (!why && logs->passed_over)
        why = must_format("passed over: %s", logs->passed_over);
    if (!why && !run->live.preload_gone)
        why = must_copy("it was not preloaded there, or could write none");
    return must_format("%s%s%s", missing, why ? ": " : "", why);
}

/* ---- what goes on behind it ---- */

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
