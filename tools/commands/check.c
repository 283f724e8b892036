/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn check: is a process still what a lock says? */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "input.h"
#include "options.h"
#include "tools/commands/child.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/lock/lock.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

static char **command; /* that is checked; NULL: none was given */

static const struct option_row rows[] = {
    {"json", NULL, "as JSON (docs/lock.md)", .flag = &options.json},
    OPTIONS_END("auto (on a terminal, unless NO_COLOR is set), always, never"),
};

/* Parts and CUDA libraries are loaded when the first call requires them, and a short run has fewer:
 * they are not drift unless they were refused. Removes them from the comparison. New reference. */
static json_t *take_not_loaded(struct comparison *drift, const struct wc_stack *lock,
                               const struct wc_stack *now) {
    json_t *not_loaded = json_array();
    size_t kept = 0;

    WC_EACH(d, *drift) {
        bool is_late = d->kind == DIFFERENCE_LIBRARY && !d->attribute && !d->b &&
                       WC_ANY(o, lock->objects,
                              (o->r.role == WC_role_PART || o->r.role == WC_role_CUDA_DEPENDENCY) &&
                                  strcmp(library_name(&o->r), d->what) == 0);
        if (is_late &&
            !WC_ANY(f, now->failures, f->r.name && strcmp(wc_base_name(f->r.name), d->what) == 0)) {
            json_array_append_new(not_loaded, text_to_json(d->what));
        } else {
            drift->p[kept++] = *d;
        }
    }
    drift->n = kept;
    return not_loaded;
}

/* True: it has drifted. Adds it to the list where JSON is wanted, else prints it. */
static bool check_one(const struct source *lock, const struct report *now, json_t *list, FILE *to) {
    struct layout l = {.to = to, .colour = options.colour};
    ENDED_BY(comparison_end) struct comparison drift;
    const json_t *name;
    size_t i;

    compare(&drift, lock, now->source);
    json_auto_t *not_loaded = take_not_loaded(&drift, &lock->stack, &now->source->stack);
    bool has_drifted = drift.n > 0;
    if (options.json) {
        json_array_append_new(list,
                              json_pack("{s:o, s:o, s:O}", "now", side_json(now), "differences",
                                        differences_json(&drift), "not_loaded", not_loaded));
    } else {
        if (!has_drifted)
            fprintf(to, "%sas locked%s\n", paint_begin(l.colour, PAINT_OK), paint_end(l.colour));
        render_comparison(&l, &drift, "drifted",
                          (const struct compared_side[2]){{"lock", NULL}, {"now", now}});
        if (json_array_size(not_loaded) > 0)
            fputs("\nnot loaded this time, so not checked\n", to);
        json_array_foreach(not_loaded, i, name)
            layout_row(&l, 2, 4, "%s", json_string_value(name));
    }
    return has_drifted;
}

static enum exit_code check(const struct source *lock, struct job *j, FILE *to) {
    OWNED char *nothing = NULL;
    json_auto_t *list = json_array();
    size_t observed = 0, drifted = 0, unexplained = 0;

    job_judge(j);
    WC_EACH(now, WC_ITEMS(j->reports, j->n)) {
        if (now->conclusion.concerned) {
            if (observed++ > 0 && !options.json)
                putc('\n', to);
            drifted += check_one(lock, now, list, to);
            unexplained += now->conclusion.verdict == WC_verdict_UNEXPLAINED;
        } else if (!nothing) {
            nothing = render_verdict_text(now);
        }
    }
    if (observed == 0)
        complain("%s", nothing ?: "not observed: no cuDNN was loaded or asked for");
    else if (options.json)
        json_print(stdout, json_pack("{s:b, s:o, s:O}", "drifted", drifted > 0, "lock",
                                     text_to_json(lock->path), "processes", list));
    return observed == 0     ? EXIT_NOTHING_OBSERVED
           : drifted > 0     ? EXIT_ERRORS_FOUND
           : unexplained > 0 ? EXIT_UNEXPLAINED
                             : EXIT_NOTHING_WRONG;
}

static int check_arguments(int n, char **arguments) {
    ENDED_BY(job_end) struct job now = {.n = 0};
    OWNED char *trouble = NULL;
    ENDED_BY(source_end) struct source *lock = lock_read(arguments[0], &trouble);
    int answer = EXIT_USAGE;

    if (!lock)
        return complain("%s: %s", arguments[0], trouble);
    if (!command) {
        if (input_read(&now.in, n > 1 ? arguments[1] : NULL))
            answer = (int)check(lock, &now, stdout);
        inputs_complain(&now.in);
        return answer;
    }
    ENDED_BY(trial_directory_end) char *directory = trial_directory();
    const int status = directory ? input_observe(&now.in, command, directory) : -1;
    if (status < 0)
        return complain("no directory can be made for the logs: %s", strerror(errno));
    inputs_complain(&now.in);
    answer = (int)check(lock, &now, stderr);
    return status > 0 ? status : answer;
}

const struct usage cmd_check = {
    .begin = "Usage: whichcudnn check [--json] [--color=WHEN] LOCK [LOG|PID|-- COMMAND...]\n\n"
             "Prints what differs from the state that `whichcudnn lock` recorded, cause first.\n"
             "Checks each process of a log or a directory of logs, a running process, your\n"
             "newest log if nothing is named, or COMMAND, which it starts and watches like\n"
             "`whichcudnn run`. Delete a line of LOCK that may change: it is not checked then.\n"
             "Parts and CUDA libraries that were not requested this time are not drift.\n\n",
    .options = rows,
    .end = "Exit status: 0 as locked, 1 drifted, 2 usage or unreadable, 3 no cuDNN, 4 as\n"
           "locked, but its end is unexplained; with COMMAND its own, if that is not 0. The\n"
           "report about COMMAND goes to standard error, JSON to standard output after the\n"
           "output of COMMAND.\n",
    .least = 1,
    .most = 2,
    .arguments = "a lock and one log or process",
    .command = &command,
    .before_command = "a lock before --",
    .run = check_arguments,
};
