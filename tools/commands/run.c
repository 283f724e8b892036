/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn run: a command with the shim preloaded, and what was found at its end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "core/names/version.h"
#include "options.h"
#include "tools/commands/run/run.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"

static struct run run;
static const char *log_given;
static bool stop_on_error, text;
static sigset_t held, mask_before;
static bool command_ended;
static pid_t own;          /* as we are; not that of a process that we start */
static int status_at_once; /* of a run that ends before it has said all */

#define END_PATIENCE 3 /* seconds */

/* A warning is not a reason to end a command. */
static bool take_stop_on(const char *value) {
    stop_on_error = strcmp(value, "error") == 0;
    if (!stop_on_error)
        complain("--stop-on takes error, not %s", value);
    return stop_on_error;
}

static bool take_expectation(const char *value) {
    struct wc_spec spec;

    run.expect = value;
    if (*value && wc_spec_read(value, &spec))
        return true;
    complain("--expect takes a version such as 9.1, '>=9.8,<10' or 90800, not %s", value);
    return false;
}

static const struct option_row rows[] = {
    {"log", " PLACE",
     "where logs go: a directory, or a file name (%p pid,\n%n node, %r rank). Default: "
     "$WHICHCUDNN_LOG, else\n$XDG_STATE_HOME/whichcudnn, /tmp/whichcudnn-UID",
     .value = &log_given},
    {"expect", " VERSION", "what should be there: 9.1, '>=9.8,<10', 90800",
     .take = take_expectation},
    OPTION_FAIL_ON(
        "error, warning: 1 where COMMAND gave 0 and such was\nfound, or it is not observed "
        "or unexplained"),
    {"stop-on", " error", "ends COMMAND at the first error: SIGTERM, 10 s later\nSIGKILL",
     .take = take_stop_on},
    {"verdict-file", " FILE", "one line into FILE, as for /dev/termination-log",
     .value = &run.verdict_file},
    {"text", NULL,
     "what COMMAND prints to a terminal or a pipe is read, as\nis what it prints to a file",
     .flag = &text},
    {"quiet", NULL, "say nothing", 'q', .flag = &run.quiet},
    OPTIONS_END("auto, always, never"),
};

static void release_signals(void) {
    const struct timespec at_once = {0, 0};

    while (sigtimedwait(&held, NULL, &at_once) > 0)
        ;
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

/* In the child: its own pid is the mark by which the shim knows the process that was asked for.
 * Its findings are printed at the end of run, unless its environment asks it to print. */
static void set_environment(void *supervised) {
    char pid[24];

    release_signals();
    words_enter(&run.printed);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv("LD_PRELOAD", run.preload, 1);
    if (supervised)
        setenv("WHICHCUDNN_RUN_PID", pid, 1);
    setenv("WHICHCUDNN_LOG", run.place.value, 1);
    if (run.expect)
        setenv("WHICHCUDNN_EXPECT", run.expect, 1);
    if (run.quiet || (supervised && log_place_is_good(&run.place)))
        setenv("WHICHCUDNN_STDERR", "off", 0);
}

/* ---- where something is missing ---- */

static void drop_passing_place(void) {
    if (run.place.passing)
        remove_tree(run.place.directory);
    run.place.passing = false;
}

/* In place of `run`: the library keeps its log and says errors by itself. */
static int run_alone(char **command) {
    OWNED char *text = must_format("not supervised: no process could be made: %s", strerror(errno));

    complain("%s; the command runs in place of run, which says nothing at its end", text);
    run_leave_verdict(&run, text);
    set_environment(NULL);
    if (run.place.passing)
        setenv("WHICHCUDNN_LOG", "/dev/null", 1);
    drop_passing_place();
    execvp(command[0], command);
    run.child.exec_error = errno;
    run_not_started(&run);
    return child_exit_code(&run.child);
}

/* The command goes on, and its status counts, whatever is not printed. */
static void without_memory(void) {
    if (run.child.pid <= 0) {
        release_signals();
        execvp(run.words[0], run.words);
        _exit(126);
    }
    if (!command_ended)
        supervise_rest(&run.child);
    _exit(child_exit_code(&run.child));
}

/* What we do wrong ourselves costs the command neither its life nor its status. A signal that
 * a user sent is for the command. */
static void after_fault(int signal, siginfo_t *info, void *context) {
    static const char words[] = "whichcudnn: failed over the log, which is kept\n";

    (void)context;
    if (info->si_code <= 0 && info->si_pid != getpid()) {
        sigqueue(run.child.pid, signal, info->si_value);
        return;
    }
    if (getpid() != own) /* which has no command */
        _exit(128 + signal);
    (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
    without_memory();
}

static void answer(int signal, struct sigaction by) {
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, signal);
    sigaction(signal, &by, NULL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static void mind_faults(void) {
    static const int all[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char space[64 << 10];
    const stack_t stack = {.ss_sp = space, .ss_size = sizeof(space)};

    own = getpid();
    sigaltstack(&stack, NULL);
    WC_EACH_ROW(one, all)
        answer(*one, (struct sigaction){.sa_sigaction = after_fault,
                                        .sa_flags = SA_SIGINFO | SA_ONSTACK});
}

static int meanwhile(void *arg, pid_t child, bool is_readable) {
    mind_faults();
    words_leave(&run.printed);
    return run_monitor_check(arg, child, is_readable);
}

/* What it printed comes before the words of the shell. */
static void before_stop(void *arg) {
    (void)arg;
    words_settle(&run.printed);
}

static void end_at_once(int signal) {
    (void)signal;
    _exit(status_at_once);
}

static void end_soon(int signal) {
    (void)signal;
    alarm(END_PATIENCE);
}

/* The report at the end takes a moment, but for logs of gigabytes, disks that hang and pipes that
 * nothing reads. What was ignored stays so. */
static void mind_signals(void) {
    static const int all[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    struct sigaction before;

    status_at_once = child_exit_code(&run.child);
    answer(SIGALRM, (struct sigaction){.sa_handler = end_at_once, .sa_flags = SA_RESTART});
    WC_EACH_ROW(one, all)
        if (sigaction(*one, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            answer(*one, (struct sigaction){.sa_handler = end_soon, .sa_flags = SA_RESTART});
}

static int run_command(int n, char **command) {
    const struct supervision with = {.prepare = set_environment,
                                     .meanwhile = meanwhile,
                                     .ended = run_monitor_look_last,
                                     .stops = before_stop,
                                     .holds = true,
                                     .readable = &run.live.readable,
                                     .arg = &run.live};
    const char *path = getenv("LD_LIBRARY_PATH");
    int status;

    (void)n;
    /* A complaint into a closed pipe, or a file at its limit, is not a reason not to start the
     * command. */
    sigemptyset(&held);
    sigaddset(&held, SIGPIPE);
    sigaddset(&held, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &held, &mask_before);
    run.shim = preload_find_shim(NULL);
    if (!run.shim)
        return EXIT_USAGE;
    run.preload = preload_list(getenv("LD_PRELOAD"), run.shim);
    /* What the command starts with: where a process has another value, something between has set
     * it. In our own environment, too: it shows what never ran. Shims are pyenv's. */
    setenv("WHICHCUDNN_RUN_LD_PRELOAD", run.preload, 1);
    unsetenv("WHICHCUDNN_RUN_LD_LIBRARY_PATH");
    if (path)
        setenv("WHICHCUDNN_RUN_LD_LIBRARY_PATH", path, 1);
    unsetenv("WHICHCUDNN_RUN_SCRIPT");
    unsetenv("WHICHCUDNN_RUN_UNSURE");
    for (char **w = command; *w; w++) {
        OWNED char *found = w == command ? find_program(*w, getenv("PATH")) : NULL;
        OWNED char *file = realpath(found && !wc_lies_in_a(found, "shims") ? found : *w, NULL);
        OWNED char *begins = file ? disk_text(file, strlen("\177ELF"), NULL) : NULL;
        const char *before = getenv("WHICHCUDNN_RUN_SCRIPT");
        OWNED char *all = must_format("%s%s%s", before ?: "", before ? ":" : "", file ?: "");
        if (begins && strcmp(begins, "\177ELF") != 0 && strlen(all) < PATH_MAX)
            setenv("WHICHCUDNN_RUN_SCRIPT", all, 1);
    }
    run.words = command;
    must_fail_instead = without_memory;
    run.start = clock_now(CLOCK_REALTIME);
    log_place_choose(&run.place, log_given);
    if (log_place_is_none(&run.place)) { /* then, too, something has to be read at the end */
        OWNED char *directory = trial_directory();
        if (directory) {
            log_place_end(&run.place);
            log_place_choose(&run.place, directory);
            run.place.passing = true;
        }
    }
    words_begin(&run.printed, text);
    run.live.stop = stop_on_error;
    run_monitor_begin(&run.live, &run);
    if (!supervise(command, &with, &run.child)) {
        status = run_alone(command);
    } else {
        command_ended = true;
        status = child_exit_code(&run.child);
        mind_signals();
        mind_faults();
        if (run.child.exec_error) {
            run_not_started(&run);
        } else {
            const struct gate gate = run_conclude(&run);
            if (run.live.stopped || (status == 0 && gate_fails(&gate, options.fail_on)))
                status = EXIT_ERRORS_FOUND;
        }
    }
    run_monitor_end(&run.live);
    words_end(&run.printed);
    drop_passing_place();
    log_place_end(&run.place);
    free(run.preload);
    free(run.shim);
    return status;
}

const struct usage cmd_run = {
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
    .run = run_command,
};
