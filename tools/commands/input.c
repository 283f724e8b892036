/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "last_request.h"
#include "tools/commands/run/supervise.h"
#include "tools/observe/inspect/inspect.h"
#include "tools/observe/log/images.h"
#include "tools/observe/log/newest_log.h"
#include "tools/report/lock/lock.h"
#include "tools/util/terminal.h"

#define LOG_NAMES "whichcudnn-*.jsonl*"
#define NAMED_MOST 8 /* processes that a complaint names */

static int is_log_name(const struct dirent *entry) {
    return fnmatch(LOG_NAMES, entry->d_name, 0) == 0;
}

/* Takes text. */
static bool add_trouble(struct inputs *s, char *text) {
    *MUST_ADD(s->troubles, s->trouble_count) = text;
    return false;
}

/* Takes trouble. */
static bool note_trouble(struct inputs *s, const char *path, char *trouble) {
    add_trouble(s, must_format("%s: %s", path, trouble));
    free(trouble);
    return false;
}

/* Takes source (NULL: it could not be read) and trouble. */
static bool add_source(struct inputs *s, const char *path, struct source *source, char *trouble) {
    if (!source)
        return note_trouble(s, path, trouble);
    free(trouble);
    logs_add(&s->logs, source);
    return true;
}

/* Its end was not seen, and `run` has not looked at its files: if they are of this machine, and
 * the log is our own. */
static bool may_be_looked_at(const struct source *p) {
    struct utsname computer;
    struct stat facts;

    return !p->stack.has_summary && !p->stack.has_outcome && p->stack.process.node &&
           uname(&computer) == 0 && strcmp(computer.nodename, p->stack.process.node) == 0 &&
           stat(p->path, &facts) == 0 && facts.st_uid == geteuid() && p->pid > 0 &&
           kill((pid_t)p->pid, 0) != 0 && errno == ESRCH;
}

/* since: the first that was not looked at before. */
static void look_at_last_requests(struct inputs *s, size_t since) {
    for (size_t i = since; i < s->logs.process_count; i++) {
        const struct wc_sink to = source_sink(s->logs.processes[i]);
        if (may_be_looked_at(s->logs.processes[i]))
            last_request_emit(s->logs.processes[i], false, &to);
    }
}

static bool read_file(struct inputs *s, const char *path) {
    char *trouble = NULL;
    struct source *lock;

    if (!lock_begins(path))
        return logs_read(&s->logs, path, &trouble) || note_trouble(s, path, trouble);
    lock = lock_read(path, &trouble);
    return add_source(s, path, lock, trouble);
}

/* ---- directories ---- */

/* Where others may put files, only those count that cannot be forged. */
static bool counts(const void *directory, uid_t owner) {
    const struct stat *d = directory;

    return !(d->st_mode & 022) || owner == geteuid() || owner == d->st_uid || owner == 0;
}

static bool read_entry(struct inputs *s, const struct stat *directory, const char *path,
                       size_t *passed_over) {
    char *trouble = NULL;
    int fd = log_open_of(path, counts, directory, &trouble);

    if (fd < 0) {
        if ((*passed_over)++ < NAMED_MOST)
            complain("skipped: %s: %s", path, trouble);
        free(trouble);
        return true;
    }
    if (lock_begins(path)) {
        close(fd);
        return read_file(s, path);
    }
    return logs_read_descriptor(&s->logs, fd, path, &trouble) || note_trouble(s, path, trouble);
}

static bool read_directory(struct inputs *s, const char *directory, const struct stat *facts) {
    size_t passed_over = 0, before = s->logs.process_count;
    struct dirent **entries;
    int n = scandir(directory, &entries, is_log_name, alphasort);
    bool empty = n == 0 && s->may_be_empty, good = n > 0 || empty;

    if (!good)
        note_trouble(s, directory,
                     must_copy(n < 0 ? strerror(errno) : "no logs in this directory"));
    for (int i = 0; i < n; i++) {
        OWNED char *path = must_format("%s/%s", directory, entries[i]->d_name);
        good = read_entry(s, facts, path, &passed_over) && good;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    if (passed_over > NAMED_MOST)
        complain("skipped: %zu more", passed_over - NAMED_MOST);
    if (good && !empty && s->logs.process_count == before)
        return add_trouble(s, must_format("%s: no logs that count; name them one by one to have "
                                          "them read",
                                          directory));
    return good;
}

/* What was read before belongs to another reading: `diff` has handed it out. */
static void settle(struct inputs *s, size_t since) {
    struct logs *logs = &s->logs;
    size_t kept = since;

    look_at_last_requests(s, since);
    if (logs->process_count > since)
        kept += images_join(logs->processes + since, logs->process_count - since);
    while (logs->process_count > kept)
        source_free(logs->processes[--logs->process_count]);
}

bool input_read_files(struct inputs *s, char *const *arguments, size_t n) {
    size_t before = s->logs.process_count;
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        struct stat facts;
        bool is_directory = stat(arguments[i], &facts) == 0 && S_ISDIR(facts.st_mode);
        good =
            (is_directory ? read_directory(s, arguments[i], &facts) : read_file(s, arguments[i])) &&
            good;
    }
    settle(s, before);
    return good;
}

/* ---- one process ---- */

bool input_read_pid(const char *text, int64_t *pid) {
    uint64_t number;
    size_t n = strlen(text);

    if (n == 0 || wc_parse_number(text, n, &number) != n || number == 0 || number > INT32_MAX)
        return false;
    *pid = (int64_t)number;
    return true;
}

/* "DIR:4711", where no file is called so. */
static char *split(const char *argument, int64_t *pid) {
    const char *colon = strrchr(argument, ':');
    struct stat facts;

    if (!colon || !input_read_pid(colon + 1, pid) || lstat(argument, &facts) == 0)
        return NULL;
    return must_format("%.*s", (int)(colon - argument), argument);
}

static size_t keep_one(struct logs *logs, size_t from, int64_t pid) {
    size_t kept = from;

    for (size_t i = from; i < logs->process_count; i++)
        if (logs->processes[i]->pid == pid)
            logs->processes[kept++] = logs->processes[i];
        else
            source_free(logs->processes[i]);
    logs->process_count = kept;
    return kept - from;
}

char *input_read_newest(struct inputs *s) {
    OWNED char *looked = NULL;
    char *path = newest_log(&looked);

    if (path)
        input_read_files(s, &path, 1);
    else
        complain("not observed: no log of yours in %s", looked);
    return path;
}

bool input_read(struct inputs *s, char *argument) {
    size_t before = s->logs.process_count;
    OWNED char *looked = NULL, *path = argument ? NULL : newest_log(&looked);
    char *trouble = NULL;
    int64_t pid = 0;

    if (!argument)
        return path ? input_read_files(s, &path, 1)
                    : add_trouble(s, must_format("no log of yours in %s", looked));
    if (input_read_pid(argument, &pid)) {
        struct source *process = inspect_process(pid, &trouble);
        return add_source(s, argument, process, trouble);
    }
    path = split(argument, &pid);
    if (!input_read_files(s, path ? &path : &argument, 1))
        return false;
    return !path || keep_one(&s->logs, before, pid) > 0 ||
           note_trouble(s, path, must_format("no process %lld in there", (long long)pid));
}

static void complain_of_several(const struct logs *logs, size_t from, const char *argument) {
    size_t n = logs->process_count - from;
    struct sink names;
    FILE *to = sink_begin(&names);
    OWNED char *text = NULL;

    for (size_t i = 0; i < n && i < NAMED_MOST; i++)
        fprintf(to, "%s%lld", i > 0 ? ", " : "", (long long)logs->processes[from + i]->pid);
    if (n > NAMED_MOST)
        fputs(", ...", to);
    text = sink_end(&names);
    complain("%s: %zu processes (%s) where one is expected; name it, as in %s:%lld", argument, n,
             text, argument, (long long)logs->processes[from]->pid);
}

struct source *input_read_one(struct inputs *s, char *argument) {
    size_t before = s->logs.process_count;

    if (!input_read(s, argument)) {
        inputs_complain(s);
        return NULL;
    }
    if (s->logs.process_count - before == 1)
        return s->logs.processes[before];
    complain_of_several(&s->logs, before, argument ? argument : s->logs.processes[before]->path);
    return NULL;
}

int input_observe(struct inputs *s, char *const *command, char *logs) {
    const struct supervision with = {.prepare = NULL};
    OWNED char *place = must_format("%s/", logs);
    struct child child = {.pid = 0};
    sigset_t before;
    char **words;
    int n;

    if (mkdir(logs, S_IRWXU) != 0)
        return -1;
    words = run_quietly(place, (char **)command, &n);
    words[0] = "/proc/self/exe";
    fflush(NULL);
    sigprocmask(SIG_SETMASK, NULL, &before);
    if (!supervise(words, &with, &child))
        child.exec_error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(words);
    if (rmdir(logs) != 0) /* it is not empty */
        input_read_files(s, &logs, 1);
    return child_exit_code(&child);
}

void inputs_complain(const struct inputs *s) {
    for (size_t i = 0; i < s->trouble_count; i++)
        complain("%s", s->troubles[i]);
}

void inputs_end(struct inputs *s) {
    for (size_t i = 0; i < s->trouble_count; i++)
        free(s->troubles[i]);
    free(s->troubles);
    logs_end(&s->logs);
}
