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
#include "tools/run/outcome.h"
#include "tools/run/run_end.h"

static const char usage[] =
    "Usage: whichcudnn run [option]... [--] COMMAND [argument...]\n"
    "\n"
    "Starts COMMAND with libwhichcudnn.so preloaded, hands signals on to it, and says\n"
    "at its end, however it ended, which cuDNN it got and what does not match.\n"
    "\n"
    "  --log PLACE          where logs go: a directory, or a file name (%p pid,\n"
    "                       %n node, %r rank). Default: $WHICHCUDNN_LOG, else the\n"
    "                       working directory, $TMPDIR, /tmp\n"
    "  --expect VERSION     what should be there: 9.1, '>=9.8,<10', 90800\n"
    "  --fail-on SEVERITY   error, warning: 1 where COMMAND gave 0 and such was found\n"
    "  --stop-on error      ends COMMAND at the first error: SIGTERM, 10 s later\n"
    "                       SIGKILL\n"
    "  --verdict-file FILE  one line into FILE, as for /dev/termination-log\n"
    "  -q, --quiet          say nothing\n"
    "  --color WHEN         auto, always, never\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit status: that of COMMAND; 128 + n if signal n ended it; 127 if it was not\n"
    "found, 126 if it could not be started; 1 by --fail-on, and if --stop-on ended\n"
    "it; 2 usage.\n";

struct options {
    const char *log, *expect, *verdict_file;
    enum wc_severity fail_on, stop_on; /* NONE: not at all */
    bool quiet;
    struct options_common common;
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

static int finish(struct run *run, const struct options *options) {
    int status = outcome_exit_code(&run->child);
    enum wc_severity worst;

    if (run->child.exec_error) {
        run_not_started(run);
        return status;
    }
    worst = run_conclude(run);
    if (run->live.stopped)
        return EXIT_ERRORS_FOUND;
    if (status == 0 && options->fail_on && worst >= options->fail_on)
        return EXIT_ERRORS_FOUND;
    return status;
}

static int run_command(char **command, const char *shim, const struct options *options) {
    struct environment environment = {preload_list(getenv("LD_PRELOAD"), shim), NULL,
                                      options->expect, false};
    struct run run = {.command = command[0],
                      .preload = environment.preload,
                      .start = now(),
                      .verdict_file = options->verdict_file,
                      .quiet = options->quiet,
                      .colour = options->common.colour};
    int answer = 126;

    log_place_choose(&run.place, options->log);
    environment.log = run.place.value;
    environment.silent = run.quiet || log_place_is_good(&run.place);
    run.live.place = &run.place;
    run.live.shim = shim;
    run.live.start = run.start;
    run.live.stop = options->stop_on != WC_severity_NONE;
    run.live.print = !run.quiet && !getenv("WHICHCUDNN_STDERR");
    run.live.colour = run.colour;
    if (start_and_wait(&run, command, &environment))
        answer = finish(&run, options);
    run_monitor_end(&run.live);
    log_place_end(&run.place);
    free(environment.preload);
    return answer;
}

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

static bool take_expectation(const char *value, struct options *options) {
    struct wc_spec spec;

    options->expect = value;
    if (*value && wc_spec_parse(value, strlen(value), &spec))
        return true;
    complain("--expect takes a version such as 9.1, '>=9.8,<10' or 90800, not %s", value);
    return false;
}

static bool take_option(int c, char *value, void *own) {
    struct options *options = own;

    switch (c) {
    case 'l':
        options->log = value;
        return true;
    case 'e':
        return take_expectation(value, options);
    case 'f':
        return take_severity("fail-on", value, WC_severity_WARNING, &options->fail_on);
    case 's':
        return take_severity("stop-on", value, WC_severity_ERROR, &options->stop_on);
    case 'v':
        options->verdict_file = value;
        return true;
    default:
        options->quiet = true;
        return true;
    }
}

int cmd_run(int argc, char **argv) {
    static const struct option known[] = {{"log", required_argument, NULL, 'l'},
                                          {"expect", required_argument, NULL, 'e'},
                                          {"fail-on", required_argument, NULL, 'f'},
                                          {"stop-on", required_argument, NULL, 's'},
                                          {"verdict-file", required_argument, NULL, 'v'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          OPTIONS_ALL};
    const struct options_kind kind = {usage, "+hq", known, take_option, stderr, 1, -1, "a command"};
    struct options options = {.log = NULL};
    int answer = options_read(argc, argv, &kind, &options.common, &options);
    char *shim;

    if (answer >= 0)
        return answer;
    shim = preload_find_shim();
    if (!shim)
        return EXIT_USAGE;
    answer = run_command(argv + optind, shim, &options);
    free(shim);
    return answer;
}
