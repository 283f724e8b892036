/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn fix: what repairs it, tried where it can be thrown away, or done. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"
#include "tools/commands/child.h"
#include "tools/commands/fix/fix.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

static bool try, apply, yes, undo_it, scan_it;
static const char *proposed; /* a command that is checked */
static char **command;       /* NULL: none was given */

static const struct option_row rows[] = {
    {"try", NULL, "makes the best repair in a temporary overlay, and runs\nCOMMAND with it",
     .flag = &try},
    {"apply", NULL, "makes the best repair, after asking; with --try the one\nthat held",
     .flag = &apply},
    {"yes", NULL, "does not ask", 'y', .flag = &yes},
    {"check", " TEXT", "whether the command TEXT repairs: it is read, not run", .value = &proposed},
    {"scan", NULL, "with --check: LOG is a directory or program to scan", .flag = &scan_it},
    OPTION_AS_OWNER("for root: what belongs to another user is run as that user"),
    {"undo", NULL,
     "restores what an interrupted --apply has changed: LOG is its\njournal, or the log next to "
     "it",
     .flag = &undo_it},
    {"json", NULL, "as JSON (docs/fixing.md)", .flag = &options.json},
    OPTIONS_END("auto (on a terminal, unless NO_COLOR is set), always, never"),
};

/* ---- a directory for what is thrown away, which goes however this process ends ---- */

#define DESCRIPTORS_MOST 1024 /* close_range is younger than the systems that this is built on */

static struct {
    char *path; /* owned by this user only; real, absolute */
    pid_t keeper;
    int alive; /* as long as it is open, the directory stays */
} scratch = {.keeper = -1, .alive = -1};

/* False: errno. */
static bool scratch_begin(void) {
    int ends[2];
    sigset_t all;
    char byte;

    scratch.path = trial_directory();
    if (!scratch.path || pipe2(ends, O_CLOEXEC) != 0)
        return scratch.path != NULL;
    fflush(NULL);
    scratch.keeper = fork();
    if (scratch.keeper == 0) {
        /* A process that waits for our output or our group's end does not wait for it. */
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        setsid();
        dup2(ends[0], 0);
        for (int fd = 1; fd < DESCRIPTORS_MOST; fd++)
            close(fd);
        while (read(0, &byte, 1) < 0 && errno == EINTR)
            ;
        remove_tree(scratch.path);
        _exit(0);
    }
    close(ends[0]);
    scratch.alive = ends[1];
    return true;
}

/* The report about a command goes where it does not mix with what that prints. */
static FILE *words(void) {
    return command ? stderr : stdout;
}

/* ---- a command that is checked ---- */

static json_t *checked_json(const struct checked *c) {
    return json_pack("{s:s, s:o}", "verdict", check_word(c), "because", text_to_json(c->because));
}

/* Of the worst finding, if no equally bad one stays and no process is broken. */
static struct checked check_all(const struct job *j) {
    struct checked all = j->reports[0].plan->checked;

    WC_EACH(row, j->found) {
        const struct checked *one = &report_fixes((*row)->report, (*row)->finding)->checked;
        const bool as_bad = (*row)->finding->severity == j->found.p[0]->finding->severity;
        if (row == j->found.p ||
            (as_bad && one->verdict > all.verdict && one->verdict < CHECK_UNKNOWN))
            all = *one;
    }
    for (size_t i = 0; i < j->n; i++)
        if (j->reports[i].plan->checked.verdict == CHECK_BREAKS)
            all = j->reports[i].plan->checked;
    return all;
}

/* ---- the plan ---- */

static void print_plan(const struct job *j) {
    struct layout l = {.to = words(), .colour = options.colour, .whole = true};
    const bool notes =
        !(try || apply) || !WC_ANY(row, j->found, (*row)->finding->severity > WC_severity_NOTE);
    size_t told = 0;

    WC_EACH(row, j->found) {
        const struct wc_finding_record *f = (*row)->finding;
        const struct plan_of_finding *of = report_fixes((*row)->report, f);
        if (!notes && f->severity <= WC_severity_NOTE) /* it is not what the repair is about */
            continue;
        if (told++ >= SUMMARY_ROWS)
            continue;
        fprintf(l.to, "%s%s%s%s[%s]: ", command ? "whichcudnn: " : "",
                paint_begin(l.colour, paint_of_severity(f->severity)),
                wc_enum_word_raw(WC_ENUM_severity, f->severity), paint_end(l.colour), f->id);
        print_format(l.to, "%s\n", f->title ?: f->id);
        WC_EACH(r, *of) {
            OWNED char *label = must_format("  %zu  ", (size_t)(r - of->p) + 1);
            OWNED char *outcome = repair_outcome(r, 0);
            if (r->command)
                print_format(l.to, "%s%s\n", label, r->command);
            else
                layout_row(&l, 0, 5, "%s%s", label, r->text);
            layout_row(&l, 5, 5, "%s", outcome);
        }
        if (of->n == 0)
            layout_row(&l, 5, 5, "%s", proposed ? of->checked.because : "no repair is known");
    }
    if (told > SUMMARY_ROWS)
        layout_row(&l, 0, 4, "and %zu more", told - SUMMARY_ROWS);
}

/* ---- as JSON ---- */

static json_t *row_json(const struct summary_row *row, const struct merged *m) {
    const struct wc_finding_record *f = row->finding;
    json_t *pids =
        JSON_EACH(i, WC_ITEMS(row->members, row->n), json_integer(m->p[*i].report->source->pid));

    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "id", text_to_json(f->id), "severity",
                     wc_enum_word_raw(WC_ENUM_severity, f->severity), "title",
                     text_to_json(f->title), "pids", pids, "fix",
                     JSON_EACH(fix, *report_fixes(row->report, f), repair_json(fix)), "checked",
                     proposed ? checked_json(&report_fixes(row->report, f)->checked) : json_null());
}

/* ---- trying ---- */

/* status: of the command before; *held becomes the result of the repair that holds. What came of
 * each is printed. */
static int try_all(const struct job *j, int status, json_t *tried, const json_t **held) {
    const struct summary_row *row;
    bool ran = false;

    if (!job_best_repair(j, false, &row)) {
        complain("no repair is known that could be tried");
        return EXIT_NOT_REPAIRED;
    }
    for (size_t i = 0; i < report_fixes(row->report, row->finding)->n; i++) {
        struct repair *r = &report_fixes(row->report, row->finding)->p[i];
        OWNED char *work = must_format("%s/%zu", scratch.path, i + 1);
        if (!steps_are_ours(&r->edits))
            continue;
        if (!options.json)
            complain("trying: %s", r->command ?: r->text);
        json_t *of = attempt_make(&(struct attempt){command, work, j, row, r, status});
        json_object_set_new(of, "repair", json_integer((json_int_t)i));
        json_array_append_new(tried, of);
        const char *trouble = json_string_value(json_object_get(of, "trouble"));
        const char *outcome = json_string_value(json_object_get(of, "outcome"));
        bool cures = json_is_true(json_object_get(of, "cures"));
        bool stopped = json_is_true(json_object_get(of, "stopped"));
        ran = ran || outcome;
        if (trouble)
            complain("not tried: %s", trouble);
        else if (!options.json && stopped)
            complain("stopped: %s; nothing was kept", outcome);
        else if (!options.json && cures)
            complain("tried: %s. To keep it: %s", outcome,
                     json_string_value(json_object_get(of, "keep")));
        else if (!options.json)
            complain("tried: %s: it does not hold", outcome);
        if (stopped)
            return (int)json_integer_value(json_object_get(of, "status"));
        if (cures) {
            r->checked = REPAIR_TRIED;
            *held = of;
            return EXIT_NOTHING_WRONG;
        }
    }
    if (ran)
        complain("none of what was tried holds");
    return ran ? EXIT_NOT_REPAIRED : EXIT_USAGE;
}

/* ---- all of it ---- */

/* status: of the command; -1: not known. */
static int fix_job(struct job *j, int status) {
    json_auto_t *tried = json_array(), *applied = json_null();
    const json_t *held = NULL;
    const struct repair *read = proposed && j->n > 0 ? &j->reports[0].plan->read : NULL;
    const struct checked all = read ? check_all(j) : (struct checked){.because = NULL};
    int answer = (int)j->answer;

    if (read) {
        answer = (const enum exit_code[]){EXIT_NOTHING_WRONG, EXIT_ERRORS_FOUND, EXIT_NOT_REPAIRED,
                                          EXIT_UNEXPLAINED}[all.verdict];
        if (!options.json)
            print_format(words(), "%s: %s\n", check_word(&all), all.because ?: read->text);
        if (!options.json)
            print_plan(j);
    } else if (j->found.n > 0) {
        answer = WC_ANY(row, j->found, report_fixes((*row)->report, (*row)->finding)->n > 0)
                     ? EXIT_ERRORS_FOUND
                     : EXIT_NOT_REPAIRED;
        if (!options.json)
            print_plan(j);
        if (try)
            answer = try_all(j, status, tried, &held);
        if (apply && (!try || held))
            answer = apply_best(j, held, command, yes, &applied);
    } else if (!options.json && j->n == 0) {
        complain("not observed: no cuDNN was loaded or asked for");
    } else if (!options.json) {
        render_summary(&(struct layout){.to = words(), .colour = options.colour}, &j->merged,
                       &(struct summary_view){.before = command ? "whichcudnn: " : NULL});
    }
    if (options.json)
        json_print(stdout,
                   json_pack("{s:o, s:O, s:O, s:o, s:o}", "findings",
                             JSON_EACH(row, j->found, row_json(*row, &j->merged)), "tried", tried,
                             "applied", applied, "checked", read ? checked_json(&all) : json_null(),
                             "read", read ? repair_json(read) : json_null()));
    return answer;
}

/* status: of the command, or as `run` wrote it down; -1: not known. */
static int fix_inputs(struct job *j, int status) {
    struct trust trust = {.why = NULL};
    const struct summary_row *row;
    int answer;

    inputs_complain(&j->in);
    if (j->in.trouble_count > 0 && j->in.logs.process_count == 0)
        return EXIT_USAGE;
    job_make(j);
    if ((try || apply) && j->found.n > 0) {
        trust_logs(&trust, &j->in.logs);
        const struct repair *best = try ? NULL : job_best_repair(j, true, NULL);
        if (best)
            steps_trust(&trust, &best->edits);
        /* What is tried refuses one by one, as the next cause may be in another environment. */
        if (try && options.as_owner && job_best_repair(j, false, &row))
            WC_EACH(r, *report_fixes(row->report, row->finding))
                steps_trust(&trust, &r->edits);
        if (trust_refused(&trust, &answer))
            return answer;
    }
    for (size_t i = 0; i < j->n && status < 0; i++) {
        const struct wc_stack *s = &j->reports[i].source->stack;
        if (s->has_outcome && s->process.eager && s->outcome.ending == WC_ending_EXITED &&
            s->outcome.exit_status != WC_NULL)
            status = (int)s->outcome.exit_status;
    }
    answer = fix_job(j, status);
    return j->in.trouble_count > 0 ? EXIT_USAGE : answer;
}

static int fix_arguments(int n, char **arguments) {
    const char *wrong =
        try && !command             ? "--try requires a command: whichcudnn fix --try -- COMMAND"
        : yes && !apply && !undo_it ? "--yes goes with --apply or --undo"
        : (proposed && (try || apply || undo_it)) || (scan_it && (!proposed || command || n == 0))
            ? "--check goes without --try, --apply and --undo; --scan goes with --check"
        : undo_it && (try || apply || command || n > 1)
            ? "--undo takes no other option, and one journal or log at most"
            : NULL;
    ENDED_BY(job_end) struct job j = {.command = proposed};
    OWNED char *newest = NULL;
    int answer = EXIT_NOTHING_OBSERVED, status;

    if (wrong)
        return complain("%s", wrong);
    if (undo_it)
        return undo(arguments[0], yes);
    if (command && !scratch_begin())
        return complain("no temporary directory can be made: %s", strerror(errno));
    if (scan_it)
        input_scan(&j.in, arguments);
    else
        input_read_files(&j.in, arguments, (size_t)n);
    if (n > 0) {
        answer = fix_inputs(&j, -1);
    } else if (command) {
        status = input_observe(&j.in, command, scratch.path);
        answer = fix_inputs(&j, status);
        if ((status == 126 || status == 127) && answer == EXIT_NOTHING_OBSERVED)
            answer = status;
    } else if ((newest = input_read_newest(&j.in))) {
        if (apply)
            complain("no LOG was named; the newest of yours is %s", newest);
        answer = fix_inputs(&j, -1);
    }
    fd_end(&scratch.alive);
    if (scratch.keeper > 0)
        waitpid(scratch.keeper, NULL, 0);
    trial_directory_end(&scratch.path);
    return answer;
}

const struct usage cmd_fix = {
    .begin = "Usage: whichcudnn fix [options] [LOG...] [-- COMMAND...]\n\n"
             "Prints repairs of each finding, the cheapest first: of your newest log, of LOG,\n"
             "or of COMMAND, which it starts and watches like `whichcudnn run`. With --try,\n"
             "COMMAND runs again with the repair made: variables only in its environment,\n"
             "packages and files in a private overlay that is removed afterwards.\n\n",
    .options = rows,
    .end = "Exit status: 0 nothing to repair, or repaired (--try, --check: would be), 1 to\n"
           "be repaired, 2 usage, unreadable, not to be tried or done, 3 not observed,\n"
           "4 unexplained, or unknown, 5 no repair is known, none holds, or it breaks.\n",
    .most = -1,
    .command = &command,
    .run = fix_arguments,
};
