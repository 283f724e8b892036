/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn run: a command with the shim preloaded, and what was found at its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "core/version/version.h"
#include "options.h"
#include "tools/probe/trial.h"
#include "tools/run/outcome.h"
#include "tools/run/run_end.h"
#include "tools/util/memory.h"

static const char *log_given, *expected, *verdict_file;
static enum wc_severity fail_on, stop_on; /* NONE: not at all */
static bool quiet;

/* least: what the option takes at least; a warning is no reason to end a command. */
static bool take_severity(const char *option, const char *value, enum wc_severity least,
                          enum wc_severity *to) {
    static const enum wc_severity known[] = {WC_severity_WARNING, WC_severity_ERROR};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i] >= least && strcmp(value, wc_enum_word_raw(WC_ENUM_severity, known[i])) == 0) {
            *to = known[i];
            return true;
        }
    complain("--%s takes error%s, not %s", option,
             least == WC_severity_WARNING ? " or warning" : "", value);
    return false;
}

static bool take_fail_on(const char *value) {
    return take_severity("fail-on", value, WC_severity_WARNING, &fail_on);
}

static bool take_stop_on(const char *value) {
    return take_severity("stop-on", value, WC_severity_ERROR, &stop_on);
}

static bool take_expectation(const char *value) {
    struct wc_spec spec;

    expected = value;
    if (*value && wc_spec_parse(value, strlen(value), &spec))
        return true;
    complain("--expect takes a version such as 9.1, '>=9.8,<10' or 90800, not %s", value);
    return false;
}

static const struct option_row rows[] = {
    {"log", " PLACE",
     "where logs go: a directory, or a file name (%p pid,\n%n node, %r rank). Default: "
     "$WHICHCUDNN_LOG, else the\nworking directory, $TMPDIR, /tmp",
     .value = &log_given},
    {"expect", " VERSION", "what should be there: 9.1, '>=9.8,<10', 90800",
     .take = take_expectation},
    {"fail-on", " SEVERITY", "error, warning: 1 where COMMAND gave 0 and such was found",
     .take = take_fail_on},
    {"stop-on", " error", "ends COMMAND at the first error: SIGTERM, 10 s later\nSIGKILL",
     .take = take_stop_on},
    {"verdict-file", " FILE", "one line into FILE, as for /dev/termination-log",
     .value = &verdict_file},
    {"quiet", NULL, "say nothing", 'q', .flag = &quiet},
    {"color", " WHEN", "auto, always, never", .value = &options.when},
    OPTIONS_END,
};

static const struct usage usage = {
    .begin = "Usage: whichcudnn run [option]... [--] COMMAND [argument...]\n\n"
             "Starts COMMAND with libwhichcudnn.so preloaded, hands signals on to it, and says\n"
             "at its end, however it ended, which cuDNN it got and what does not match.\n\n",
    .options = rows,
    .end = "Exit status: that of COMMAND; 128 + n if signal n ended it; 127 if it was not\n"
           "found, 126 if it could not be started; 1 by --fail-on, and if --stop-on ended\n"
           "it; 2 usage.\n",
    .least = 1,
    .most = -1,
    .arguments = "a command",
    .is_prefix = true,
    .colours_stderr = true,
};

struct environment {
    char *preload;
    const char *log, *expect;
    bool silent;
};

static int64_t now(void) {
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* In the child: its own pid is the mark by which the shim knows the process that was asked for.
 * What it finds is ours to print, unless somebody told it to speak. */
static void set_environment(void *arg) {
    const struct environment *e = arg;
    char pid[24];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("LD_PRELOAD", e->preload, 1);
    setenv("WHICHCUDNN_RUN_PID", pid, 1);
    setenv("WHICHCUDNN_LOG", e->log, 1);
    if (e->expect)
        setenv("WHICHCUDNN_EXPECT", e->expect, 1);
    if (e->silent)
        setenv("WHICHCUDNN_STDERR", "off", 0);
}

struct started { /* what the callbacks of supervise want */
    struct environment *environment;
    struct run_monitor *live;
};

static void prepare(void *arg) {
    set_environment(((struct started *)arg)->environment);
}

static int meanwhile(void *arg, pid_t child, bool is_readable) {
    return run_monitor_check(((struct started *)arg)->live, child, is_readable);
}

static bool start_and_wait(struct run *run, char **command, struct environment *environment) {
    struct started started = {environment, &run->live};
    const struct supervision with = {prepare, meanwhile, &run->live.readable, &started};
    bool good;

    run_monitor_begin(&run->live);
    fflush(NULL);
    good = supervise(command, &with, &run->child);
    if (!good)
        complain("no process could be made: %s", strerror(errno));
    return good;
}

static int finish(struct run *run) {
    int status = outcome_exit_code(&run->child);
    enum wc_severity worst;

    if (run->child.exec_error) {
        run_not_started(run);
        return status;
    }
    worst = run_conclude(run);
    if (run->live.stopped)
        return EXIT_ERRORS_FOUND;
    if (status == 0 && fail_on && worst >= fail_on)
        return EXIT_ERRORS_FOUND;
    return status;
}

/* Also where no log is wanted something has to be read at the end. */
static void choose_place(struct log_place *place) {
    char *directory;

    log_place_choose(place, log_given);
    if (!log_place_is_none(place) || !(directory = trial_directory()))
        return;
    log_place_end(place);
    log_place_choose(place, directory);
    place->passing = true;
    free(directory);
}

static int run_command(char **command, const char *shim) {
    struct environment environment = {preload_list(getenv("LD_PRELOAD"), shim), NULL, expected,
                                      false};
    struct run run = {.command = command[0],
                      .preload = environment.preload,
                      .start = now(),
                      .verdict_file = verdict_file,
                      .quiet = quiet,
                      .colour = options.colour};
    int answer = 126;

    choose_place(&run.place);
    environment.log = run.place.value;
    environment.silent = run.quiet || log_place_is_good(&run.place);
    run.live.place = &run.place;
    run.live.shim = shim;
    run.live.start = run.start;
    run.live.stop = stop_on != WC_severity_NONE;
    run.live.print = !run.quiet && !getenv("WHICHCUDNN_STDERR");
    run.live.colour = run.colour;
    if (start_and_wait(&run, command, &environment))
        answer = finish(&run);
    run_monitor_end(&run.live);
    if (run.place.passing)
        trial_directory_end(must_copy(run.place.directory));
    log_place_end(&run.place);
    free(environment.preload);
    return answer;
}

static int run_arguments(int n, char **command) {
    char *shim = preload_find_shim();
    int answer = shim ? run_command(command, shim) : EXIT_USAGE;

    (void)n;
    free(shim);
    return answer;
}

char **run_quietly(char *place, char **command, int *n) {
    char *head[] = {"whichcudnn", "run", "--quiet", "--log", place, "--"};
    size_t heads = sizeof(head) / sizeof(head[0]), words = 0;
    char **list;

    while (command[words])
        words++;
    list = must_allocate((heads + words + 1) * sizeof(*list));
    memcpy(list, head, sizeof(head));
    memcpy(list + heads, command, words * sizeof(*list));
    *n = (int)(heads + words);
    return list;
}

int cmd_run(int argc, char **argv) {
    return options_run(argc, argv, &usage, run_arguments);
}
