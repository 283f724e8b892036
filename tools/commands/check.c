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
#include "tools/report/library.h"
#include "tools/report/render.h"
#include "tools/report/render_diff.h"

static char **command; /* NULL: none was given */

static const struct option_row rows[] = {
    {"json", NULL, "as JSON (docs/lock.md)", .flag = &options.json},
    {"color", "=WHEN", "auto (on a terminal, unless NO_COLOR is set), always, never",
     .value = &options.when},
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
    .end = "Exit status: 0 as locked, 1 drifted, 2 usage or unreadable, 3 nothing observed;\n"
           "with COMMAND its own, where that is not 0. What is said of COMMAND goes to\n"
           "standard error, JSON to standard output behind what COMMAND prints.\n",
    .least = 1,
    .most = 2,
    .arguments = "a lock and one log or process",
};

struct checked {
    const struct source *source;
    struct report report;
    struct comparison drift, not_loaded;
};

/* ---- what counts ---- */

static bool was_refused(const struct wc_stack *s, const char *name) {
    for (size_t i = 0; i < s->failures.n; i++) {
        const char *asked = s->failures.p[i].r.name;
        if (asked && strcmp(wc_base_name(asked), name) == 0)
            return true;
    }
    return false;
}

/* Parts and cuda_dependencies are loaded when the first call wants them: a short run has fewer. */
static bool is_loaded_late(const struct wc_stack *lock, const char *name) {
    for (size_t i = 0; i < lock->objects.n; i++) {
        const struct wc_object_record *o = &lock->objects.p[i].r;
        if ((o->role == WC_role_PART || o->role == WC_role_CUDA_DEPENDENCY) &&
            strcmp(library_name(o), name) == 0)
            return true;
    }
    return false;
}

static bool is_missed(const struct source *lock, const struct source *now,
                      const struct difference *d) {
    return d->kind != DIFFERENCE_LIBRARY || d->attribute || d->b ||
           !is_loaded_late(&lock->stack, d->what) || was_refused(&now->stack, d->what);
}

static void check_one(struct checked *k, const struct source *lock, const struct source *now) {
    struct comparison all;

    k->source = now;
    report_make(&k->report, now);
    compare(&all, lock, now);
    k->drift.p = must_allocate((all.n + 1) * sizeof(*all.p));
    k->not_loaded.p = must_allocate((all.n + 1) * sizeof(*all.p));
    for (size_t i = 0; i < all.n; i++) {
        struct comparison *to = is_missed(lock, now, &all.p[i]) ? &k->drift : &k->not_loaded;
        to->p[to->n++] = all.p[i];
    }
    free(all.p);
}

static void checked_end(struct checked *k) {
    comparison_end(&k->drift);
    comparison_end(&k->not_loaded);
    report_end(&k->report);
}

static bool was_observed(const struct checked *k) {
    return report_exit_code(&k->report) != EXIT_NOTHING_OBSERVED;
}

/* ---- what is printed ---- */

static void print_one(struct layout *l, const struct checked *k) {
    if (k->drift.n > 0) {
        render_first_difference(l, "drifted", &k->drift);
    } else {
        layout_line(l, 0, 4);
        layout_painted(l, "as locked", PAINT_OK);
        layout_end(l);
    }
    render_side(l, "now", &k->report);
    render_differences(l, &k->drift, "lock", "now");
    if (k->not_loaded.n > 0)
        fputs("\nnot loaded this time, so not checked\n", l->to);
    for (size_t i = 0; i < k->not_loaded.n; i++) {
        layout_line(l, 2, 4);
        layout_words(l, "%s", k->not_loaded.p[i].what);
        layout_end(l);
    }
}

static json_t *one_json(const struct checked *k) {
    json_t *names = json_array();

    for (size_t i = 0; i < k->not_loaded.n; i++)
        json_array_append_new(names, text_to_json(k->not_loaded.p[i].what));
    return json_pack("{s:o, s:o, s:o}", "now", side_json(&k->report), "differences",
                     differences_json(&k->drift), "not_loaded", names);
}

static void print_json(const struct source *lock, const struct checked *p, size_t n, bool drifted) {
    json_t *processes = json_array();

    for (size_t i = 0; i < n; i++)
        if (was_observed(&p[i]))
            json_array_append_new(processes, one_json(&p[i]));
    json_print(stdout, json_pack("{s:b, s:o, s:o}", "drifted", drifted, "lock",
                                 text_to_json(lock->path), "processes", processes));
}

static void print_checks(const struct checked *p, size_t n, FILE *to) {
    struct layout l = {.to = to, .colour = options.colour};
    size_t told = 0;

    for (size_t i = 0; i < n; i++) {
        if (!was_observed(&p[i]))
            continue;
        if (told++ > 0)
            putc('\n', to);
        print_one(&l, &p[i]);
    }
}

static void print_nothing_observed(const struct checked *p, size_t n, FILE *to) {
    struct layout l = {.to = to, .whole = true};

    fputs("whichcudnn: ", to);
    if (n > 0)
        render_verdict_words(&l, &p[0].report);
    else
        fputs("nothing observed: no cuDNN was loaded or asked for", to);
    layout_end(&l);
}

static enum exit_code emit(const struct source *lock, const struct checked *p, size_t n, FILE *to) {
    size_t observed = 0, drifted = 0;

    for (size_t i = 0; i < n; i++) {
        observed += was_observed(&p[i]);
        drifted += was_observed(&p[i]) && p[i].drift.n > 0;
    }
    if (observed == 0) {
        print_nothing_observed(p, n, stderr);
        return EXIT_NOTHING_OBSERVED;
    }
    if (options.json)
        print_json(lock, p, n, drifted > 0);
    else
        print_checks(p, n, to);
    return drifted > 0 ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;
}

static enum exit_code check(const struct source *lock, const struct logs *logs, FILE *to) {
    size_t n = logs->process_count;
    struct checked *p = must_allocate((n + 1) * sizeof(*p));
    enum exit_code answer;

    for (size_t i = 0; i < n; i++)
        check_one(&p[i], lock, logs->processes[i]);
    answer = emit(lock, p, n, to);
    for (size_t i = 0; i < n; i++)
        checked_end(&p[i]);
    free(p);
    return answer;
}

/* ---- what is checked ---- */

/* `run`, with its logs in a place of ours. */
static int run_command(char *directory) {
    static char name[] = "whichcudnn run", log[] = "--log", quiet[] = "--quiet", end[] = "--";
    char *const head[] = {name, quiet, log, directory, end};
    size_t heads = sizeof(head) / sizeof(head[0]), n = 0;
    char **argv;
    int answer;

    while (command[n])
        n++;
    argv = must_allocate((heads + n + 1) * sizeof(*argv));
    memcpy(argv, head, sizeof(head));
    memcpy(argv + heads, command, n * sizeof(*argv));
    optind = 0;
    answer = cmd_run((int)(heads + n), argv);
    free(argv);
    return answer;
}

static int check_command(const struct source *lock) {
    char *directory = trial_directory();
    struct inputs now = {.troubles = NULL};
    int status, found;

    if (!directory) {
        complain("no directory can be made for the logs: %s", strerror(errno));
        return EXIT_USAGE;
    }
    status = run_command(directory);
    if (rmdir(directory) != 0) /* it is not empty */
        input_read_files(&now, directory);
    inputs_complain(&now);
    found = (int)check(lock, &now.logs, stderr);
    inputs_end(&now);
    trial_directory_end(directory);
    return status ? status : found;
}

static enum exit_code check_logs(const struct source *lock, const char *argument) {
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
