/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commands/child.h"
#include "tools/commands/run/startup.h"
#include "tools/observe/inspect/inspect.h"
#include "tools/observe/log/source.h"
#include "tools/observe/preload.h"
#include "tools/report/lock/lock.h"
#include "tools/util/program.h"
#include "tools/util/terminal.h"

#define LOG_NAMES "whichcudnn-*.jsonl*"
#define NAMED_MOST 8 /* processes that a complaint names */

/* Takes trouble. */
static bool note_trouble(struct inputs *s, const char *path, char *trouble) {
    *MUST_ADD(s->troubles, s->trouble_count) = must_format("%s: %s", path, trouble);
    free(trouble);
    return false;
}

/* Takes source, or where it is NULL (it could not be read) trouble. */
static bool add_source(struct inputs *s, const char *path, struct source *source, char *trouble) {
    if (source)
        logs_add(&s->logs, source);
    return source || note_trouble(s, path, trouble);
}

static bool read_file(struct inputs *s, const char *path) {
    char *trouble = NULL;

    if (!lock_begins(path))
        return logs_read(&s->logs, path, &trouble) || note_trouble(s, path, trouble);
    struct source *lock = lock_read(path, &trouble);
    return add_source(s, path, lock, trouble);
}

/* ---- directories ---- */

/* Where others may put files, only those count that cannot be forged. */
static bool counts(const void *directory, uid_t owner) {
    const struct stat *d = directory;

    return !(d->st_mode & 022) || owner == geteuid() || owner == d->st_uid || owner == 0;
}

static bool read_directory(struct inputs *s, const char *directory, const struct stat *facts) {
    size_t passed_over = 0, before = s->logs.process_count;
    OWNED_GLOB glob_t found = glob_below(directory, "/", LOG_NAMES, 0);
    const bool is_readable = access(directory, R_OK) == 0;
    bool empty = is_readable && found.gl_pathc == 0 && s->may_be_empty;
    bool good = found.gl_pathc > 0 || empty;

    if (!good)
        note_trouble(s, directory,
                     must_copy(is_readable ? "no logs in this directory" : strerror(errno)));
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        char *trouble = NULL;
        int fd = log_open_of(path, counts, facts, &trouble);
        if (fd < 0) {
            if (passed_over++ < NAMED_MOST)
                complain("skipped: %s: %s", path, trouble);
            free(trouble);
        } else if (lock_begins(path)) {
            close(fd);
            good = read_file(s, path) && good;
        } else if (!logs_read_descriptor(&s->logs, fd, path, &trouble)) {
            good = note_trouble(s, path, trouble);
        }
    }
    if (passed_over > NAMED_MOST)
        complain("skipped: %zu more", passed_over - NAMED_MOST);
    if (good && !empty && s->logs.process_count == before)
        return note_trouble(
            s, directory, must_copy("no logs that count; name them one by one to have them read"));
    return good;
}

bool input_read_files(struct inputs *s, char *const *arguments, size_t n) {
    struct logs *logs = &s->logs;
    size_t before = logs->process_count, kept = before;
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        struct stat facts;
        bool is_directory = stat(arguments[i], &facts) == 0 && S_ISDIR(facts.st_mode);
        good =
            (is_directory ? read_directory(s, arguments[i], &facts) : read_file(s, arguments[i])) &&
            good;
    }
    for (size_t i = before; i < logs->process_count; i++) {
        struct source *p = logs->processes[i];
        const struct wc_sink to = source_sink(p);
        struct stat facts;
        /* Its end was not seen, and `run` has not looked at its files: if they are of this machine,
         * and the log is our own. */
        if (!p->stack.has_summary && !p->stack.has_outcome && writer_state(p) == WRITER_GONE &&
            stat(p->path, &facts) == 0 && facts.st_uid == geteuid())
            last_request_emit(p, false, &to);
    }
    /* What was read before belongs to another reading: `diff` has handed it out. */
    if (logs->process_count > before)
        kept += images_join(logs->processes + before, logs->process_count - before);
    while (logs->process_count > kept)
        source_free(logs->processes[--logs->process_count]);
    return good;
}

void input_scan(struct inputs *s, char *const *paths) {
    char *trouble;

    scan_begin(&s->scan, NULL, *paths, environ);
    for (; *paths; paths++)
        if (!scan_add(&s->scan, *paths, &trouble))
            note_trouble(s, *paths, trouble);
    scan_make(&s->scan);
    for (size_t i = 0; i < s->scan.process_count; i++)
        logs_add(&s->logs, s->scan.processes[i]);
    s->scan.process_count = 0;
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
    struct logs *logs = &s->logs;
    size_t before = logs->process_count, kept = before;
    OWNED char *path = NULL;
    const char *colon = argument ? strrchr(argument, ':') : NULL;
    char *trouble = NULL;
    struct stat facts;
    int64_t pid = 0;

    if (!argument)
        return (path = input_read_newest(s)) && s->trouble_count == 0;
    if (input_read_pid(argument, &pid)) {
        struct source *process = inspect_process(pid, &trouble);
        return add_source(s, argument, process, trouble);
    }
    /* "DIR:4711", where no file is called so. */
    if (!colon || !input_read_pid(colon + 1, &pid) || lstat(argument, &facts) == 0)
        return input_read_files(s, &argument, 1);
    path = must_format("%.*s", (int)(colon - argument), argument);
    if (!input_read_files(s, &path, 1))
        return false;
    for (size_t i = before; i < logs->process_count; i++)
        if (logs->processes[i]->pid == pid)
            logs->processes[kept++] = logs->processes[i];
        else
            source_free(logs->processes[i]);
    logs->process_count = kept;
    return kept > before ||
           note_trouble(s, path, must_format("no process %lld in there", (long long)pid));
}

struct source *input_read_one(struct inputs *s, char *argument) {
    const size_t before = s->logs.process_count;
    struct sink names;

    if (!input_read(s, argument)) {
        inputs_complain(s);
        return NULL;
    }
    struct source **found = s->logs.processes + before;
    size_t n = s->logs.process_count - before;
    if (n == 1)
        return *found;
    sink_begin(&names);
    for (size_t i = 0; i < n && i < NAMED_MOST; i++)
        fprintf(names.to, "%s%lld", i > 0 ? ", " : "", (long long)found[i]->pid);
    if (n > NAMED_MOST)
        fputs(", ...", names.to);
    OWNED char *text = sink_end(&names);
    argument = argument ?: (char *)(*found)->path;
    complain("%s: %zu processes (%s) where one is expected; name it, as in %s:%jd", argument, n,
             text, argument, (*found)->pid);
    return NULL;
}

char **run_quietly(char *place, char **command) {
    char *head[] = {"whichcudnn", "run", "--quiet", "--log", place, "--"};
    char **list = NULL;
    size_t n = 0;

    WC_EACH_ROW(word, head)
        *MUST_ADD(list, n) = *word;
    while ((*MUST_ADD(list, n) = *command++))
        ;
    return list;
}

int input_observe(struct inputs *s, char *const *command, const char *directory) {
    const struct supervision with = {.prepare = NULL};
    OWNED char *logs = must_format("%s/logs-XXXXXX", directory), *place = NULL;
    struct child child = {.pid = 0};

    if (!mkdtemp(logs))
        return -1;
    place = must_format("%s/", logs);
    OWNED char **words = run_quietly(place, (char **)command);
    words[0] = "/proc/self/exe";
    (void)supervise(words, &with, &child);
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
    if (s->scan.copies) /* it was begun */
        scan_end(&s->scan);
}

/* ---- what they report ---- */

void job_judge(struct job *j) {
    struct logs *logs = &j->in.logs;

    j->n = logs->process_count;
    j->answer = EXIT_NOTHING_OBSERVED;
    j->reports = must_allocate(j->n * sizeof(*j->reports));
    ends_settle(logs->processes, j->n);
    for (size_t i = 0; i < j->n; i++) {
        report_make(&j->reports[i], logs->processes[i]);
        j->answer = exit_code_of_both(j->answer, report_exit_code(&j->reports[i]));
        j->reports[i].command = j->command;
        if (j->plans == PLAN_ALL ||
            (j->plans == PLAN_ALL_BUT_LOCKS && logs->processes[i]->type != SOURCE_LOCK))
            report_plan(&j->reports[i]);
    }
    if (j->names)
        redaction_apply_all(j->names, logs);
    for (size_t i = 0; j->names && i < j->n; i++)
        report_redact(&j->reports[i], j->names);
}

void job_make(struct job *j) {
    job_judge(j);
    if (j->n == 0)
        return;
    merge(&j->merged, j->reports, j->n);
    WC_EACH(row, j->merged.rows)
        if (row->finding)
            *MUST_ADD(j->found.p, j->found.n) = row;
}

void job_end(struct job *j) {
    merged_end(&j->merged);
    for (size_t i = 0; i < j->n; i++)
        report_end(&j->reports[i]);
    if (j->names)
        redaction_free(j->names);
    free(j->found.p);
    free(j->reports);
    inputs_end(&j->in);
}
