/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn check: is a process still what a lock says? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"
#include "options.h"
#include "tools/lock/lock.h"
#include "tools/log/record_json.h"
#include "tools/probe/trial.h"
#include "tools/report/ends.h"
#include "tools/report/library.h"
#include "tools/report/render.h"
#include "tools/util/json_make.h"
#include "tools/util/layout.h"

static char **command; /* NULL: none was given */

static const struct option_row rows[] = {
    {"json", NULL, "as JSON (docs/lock.md)", .flag = &options.json},
    OPTION_COLOR("auto (on a terminal, unless NO_COLOR is set), always, never"),
    OPTIONS_END,
};

static const struct usage usage = {
    .begin = "Usage: whichcudnn check [--json] [--color=WHEN] LOCK [LOG|PID|-- COMMAND...]\n\n"
             "Says what is no longer as `whichcudnn lock` kept it, cause first. Checked is\n"
             "each process of a log or a directory of logs, a running process, your newest log\n"
             "where nothing is named, or COMMAND, which is started and watched as by\n"
             "`whichcudnn run`. What LOCK does not say is not checked: a line that may change\n"
             "can be taken out. Parts and CUDA libraries that were not asked for this time are\n"
             "told, and are no drift.\n\n",
    .options = rows,
    .end = "Exit status: 0 as locked, 1 drifted, 2 usage or unreadable, 3 no cuDNN, 4 as\n"
           "locked, but its end is unexplained; with COMMAND its own, where that is not 0.\n"
           "What is said of COMMAND goes to standard error, JSON to standard output behind\n"
           "what COMMAND prints.\n",
    .least = 1,
    .most = 2,
    .arguments = "a lock and one log or process",
};

/* ---- what counts ---- */

static bool was_refused(const struct wc_stack *s, const char *name) {
    return WC_ANY(f, s->failures, f->r.name && strcmp(wc_base_name(f->r.name), name) == 0);
}

/* Parts and CUDA libraries are loaded when the first call wants them: a short run has fewer. */
static bool is_loaded_late(const struct wc_stack *lock, const char *name) {
    return WC_ANY(o, lock->objects,
                  (o->r.role == WC_role_PART || o->r.role == WC_role_CUDA_DEPENDENCY) &&
                      strcmp(library_name(&o->r), name) == 0);
}

static bool is_missed(const struct source *lock, const struct source *now,
                      const struct difference *d) {
    return d->kind != DIFFERENCE_LIBRARY || d->attribute || d->b ||
           !is_loaded_late(&lock->stack, d->what) || was_refused(&now->stack, d->what);
}

/* Takes the parts that were not loaded this time out of the comparison. */
static struct comparison take_not_loaded(struct comparison *drift, const struct source *lock,
                                         const struct source *now) {
    struct comparison not_loaded = {must_allocate((drift->n + 1) * sizeof(*drift->p)), 0};
    size_t kept = 0;

    for (size_t i = 0; i < drift->n; i++)
        if (is_missed(lock, now, &drift->p[i]))
            drift->p[kept++] = drift->p[i];
        else
            not_loaded.p[not_loaded.n++] = drift->p[i];
    drift->n = kept;
    return not_loaded;
}

/* ---- what is printed ---- */

static void print_one(FILE *to, const struct report *now, const struct comparison *drift,
                      const struct comparison *not_loaded) {
    struct layout l = {.to = to, .colour = options.colour};

    if (drift->n > 0) {
        render_first_difference(&l, "drifted", drift);
    } else {
        layout_line(&l, 0, 4);
        layout_painted(&l, "as locked", PAINT_OK);
        layout_end(&l);
    }
    render_side(&l, "now", now);
    render_differences(&l, drift, "lock", "now");
    if (not_loaded->n > 0)
        fputs("\nnot loaded this time, so not checked\n", to);
    for (size_t i = 0; i < not_loaded->n; i++) {
        layout_line(&l, 2, 4);
        layout_words(&l, "%s", not_loaded->p[i].what);
        layout_end(&l);
    }
}

static json_t *one_json(const struct report *now, const struct comparison *drift,
                        const struct comparison *not_loaded) {
    json_t *names = json_array();

    for (size_t i = 0; i < not_loaded->n; i++)
        json_array_append_new(names, text_to_json(not_loaded->p[i].what));
    return json_make("ooo", "now", side_json(now), "differences", differences_json(drift),
                     "not_loaded", names);
}

/* True: it has drifted. Adds it to the list where JSON is wanted, else prints it. */
static bool check_one(const struct source *lock, const struct report *now, json_t *list, FILE *to) {
    struct comparison drift, not_loaded;
    bool has_drifted;

    compare(&drift, lock, now->source);
    not_loaded = take_not_loaded(&drift, lock, now->source);
    has_drifted = drift.n > 0;
    if (options.json)
        json_array_append_new(list, one_json(now, &drift, &not_loaded));
    else
        print_one(to, now, &drift, &not_loaded);
    comparison_end(&drift);
    comparison_end(&not_loaded);
    return has_drifted;
}

static enum exit_code check(const struct source *lock, const struct logs *logs, FILE *to) {
    OWNED char *nothing = NULL;
    json_t *list = json_array();
    size_t observed = 0, drifted = 0, unexplained = 0;

    ends_settle(logs->processes, logs->process_count);
    for (size_t i = 0; i < logs->process_count; i++) {
        struct report now;
        report_make(&now, logs->processes[i]);
        if (now.conclusion.concerned) {
            if (observed++ > 0 && !options.json)
                putc('\n', to);
            report_plan(&now);
            drifted += check_one(lock, &now, list, to);
            unexplained += now.conclusion.verdict == WC_verdict_UNEXPLAINED;
        } else if (!nothing) {
            nothing = render_verdict_text(&now);
        }
        report_end(&now);
    }
    if (observed == 0)
        complain("%s", nothing ? nothing : "not observed: no cuDNN was loaded or asked for");
    else if (options.json)
        json_print(stdout, json_make("boO", "drifted", drifted > 0, "lock",
                                     text_to_json(lock->path), "processes", list));
    json_decref(list);
    return observed == 0     ? EXIT_NOTHING_OBSERVED
           : drifted > 0     ? EXIT_ERRORS_FOUND
           : unexplained > 0 ? EXIT_UNEXPLAINED
                             : EXIT_NOTHING_WRONG;
}

/* ---- what is checked ---- */

static int check_command(const struct source *lock) {
    char *directory = trial_directory();
    struct inputs now = {.troubles = NULL};
    char **run;
    int n, status, found;

    if (!directory) {
        complain("no directory can be made for the logs: %s", strerror(errno));
        return EXIT_USAGE;
    }
    run = run_quietly(directory, command, &n);
    optind = 0;
    status = cmd_run(n - 1, run + 1);
    free(run);
    if (rmdir(directory) != 0) /* it is not empty */
        input_read_files(&now, &directory, 1);
    inputs_complain(&now);
    found = (int)check(lock, &now.logs, stderr);
    inputs_end(&now);
    trial_directory_end(directory);
    return status ? status : found;
}

static enum exit_code check_logs(const struct source *lock, char *argument) {
    struct inputs now = {.troubles = NULL};
    enum exit_code answer = EXIT_USAGE;

    if (input_read(&now, argument))
        answer = check(lock, &now.logs, stdout);
    inputs_complain(&now);
    inputs_end(&now);
    return answer;
}

static int check_arguments(int n, char **arguments) {
    char *trouble = NULL;
    struct source *lock;
    int answer;

    if (command && !*command) {
        complain("a command is expected behind --");
        return EXIT_USAGE;
    }
    lock = lock_read(arguments[0], &trouble);
    if (!lock) {
        complain("%s: %s", arguments[0], trouble);
        free(trouble);
        return EXIT_USAGE;
    }
    answer = command ? check_command(lock) : (int)check_logs(lock, n > 1 ? arguments[1] : NULL);
    source_free(lock);
    return answer;
}

/* Behind the first "--" is the command. */
int cmd_check(int argc, char **argv) {
    struct usage with_command = usage;
    int at = 1;

    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at == argc)
        return options_run(argc, argv, &usage, check_arguments);
    with_command.most = 1;
    with_command.arguments = "a lock before --";
    with_command.colours_stderr = true;
    command = argv + at + 1;
    return options_run(at, argv, &with_command, check_arguments);
}
