/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn fix: what repairs it, tried where it can be thrown away, or done. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "options.h"
#include "tools/commands/fix/apply.h"
#include "tools/commands/fix/attempt.h"
#include "tools/commands/fix/steps.h"
#include "tools/commands/run/trust.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/render.h"
#include "tools/util/layout.h"

#define ROWS_SHOWN 8

static bool try, apply, yes, undo_it;
static char **command; /* NULL: none was given */

static const struct option_row rows[] = {
    {"try", NULL, "makes the best repair where it is thrown away, and runs\nCOMMAND with it",
     .flag = &try},
    {"apply", NULL, "makes the best repair, after asking; with --try the one\nthat held",
     .flag = &apply},
    {"yes", NULL, "does not ask", 'y', .flag = &yes},
    OPTION_AS_OWNER("for root: what belongs to another user is run as that user"),
    {"undo", NULL,
     "puts back what an --apply that was cut off has changed: LOG\nis its journal, or lies next to "
     "it",
     .flag = &undo_it},
    {"json", NULL, "as JSON (docs/fixing.md)", .flag = &options.json},
    OPTION_COLOR("auto (on a terminal, unless NO_COLOR is set), always, never"),
    OPTIONS_END,
};

static const struct usage usage = {
    .begin = "Usage: whichcudnn fix [options] [LOG...] [-- COMMAND...]\n\n"
             "Says what repairs each finding, the cheapest first: of your newest log, of LOG,\n"
             "or of COMMAND, which is started and watched as by `whichcudnn run`. With --try\n"
             "COMMAND runs once more with the repair made: variables in its environment alone,\n"
             "packages and files in an overlay that nobody else sees and that goes again.\n\n",
    .options = rows,
    .end = "Exit status: 0 nothing to repair, or repaired (by --try: it would be), 1 there\n"
           "is something to repair, 2 usage, unreadable, not to be tried or done, 3 not\n"
           "observed, 4 unexplained, 5 no repair is known, or none that was tried holds.\n",
    .most = -1,
    .command = &command,
};

/* What is said of a command goes where it does not mix with what that prints. */
static FILE *words(void) {
    return command ? stderr : stdout;
}

/* ---- the plan ---- */

static void print_repair(struct layout *l, size_t number, const struct repair *r) {
    OWNED char *label = must_format("  %zu  ", number);
    OWNED char *outcome = repair_outcome(r, 0);

    if (r->command)
        print_format(l->to, "%s%s\n", label, r->command);
    else
        layout_row(l, 0, 5, "%s%s", label, r->text);
    layout_row(l, 5, 5, "%s", outcome);
}

static void print_row(struct layout *l, const struct summary_row *row) {
    const struct plan_of_finding *of = job_repairs(row);
    const struct wc_finding_record *f = row->finding;

    fprintf(l->to, "%s%s%s%s[%s]: ", command ? "whichcudnn: " : "",
            paint_begin(l->colour, paint_of_severity(f->severity)),
            wc_enum_word_raw(WC_ENUM_severity, f->severity), paint_end(l->colour), f->id);
    print_format(l->to, "%s\n", f->title ? f->title : f->id);
    for (size_t i = 0; of && i < of->n; i++)
        print_repair(l, i + 1, &of->p[i]);
    if (!of || of->n == 0)
        layout_row(l, 5, 5, "no repair is known");
}

static void print_plan(const struct job *j) {
    struct layout l = {.to = words(), .colour = options.colour, .whole = true};
    enum wc_severity worst = WC_severity_NONE;
    size_t told = 0, more = 0;

    for (size_t i = 0; i < j->summary.n; i++)
        if (j->summary.rows[i].finding && j->summary.rows[i].finding->severity > worst)
            worst = j->summary.rows[i].finding->severity;
    /* Before a repair is made, notes are not what it is about. */
    for (size_t i = 0; i < j->summary.n; i++)
        if (!j->summary.rows[i].finding ||
            ((try || apply) && j->summary.rows[i].finding->severity <= WC_severity_NOTE &&
             worst != WC_severity_NOTE))
            continue;
        else if (told < ROWS_SHOWN && ++told)
            print_row(&l, &j->summary.rows[i]);
        else
            more++;
    if (more > 0)
        layout_row(&l, 0, 4, "and %zu more", more);
}

/* ---- as JSON ---- */

static json_t *row_json(const struct summary *s, const struct summary_row *row) {
    const struct plan_of_finding *of = job_repairs(row), none = {.n = 0};
    const struct wc_finding_record *f = row->finding;

    return json_pack("{s:o, s:s, s:o, s:o, s:o}", "id", text_to_json(f->id), "severity",
                     wc_enum_word_raw(WC_ENUM_severity, f->severity), "title",
                     text_to_json(f->title), "pids",
                     JSON_EACH(member, ((struct {
                                   const size_t *p;
                                   size_t n;
                               }){row->members, row->n}),
                               json_integer(s->m->p[*member].report->source->pid)),
                     "fix", JSON_EACH(fix, of ? *of : none, repair_json(fix)));
}

static json_t *findings_json(const struct job *j) {
    json_t *list = json_array();

    for (size_t i = 0; j->n > 0 && i < j->summary.n; i++)
        if (j->summary.rows[i].finding)
            json_array_append_new(list, row_json(&j->summary, &j->summary.rows[i]));
    return list;
}

/* ---- trying ---- */

static void print_attempt(const struct attempt *a) {
    const char *trouble = json_string_value(json_object_get(a->outcome, "trouble"));
    const char *keep = json_string_value(json_object_get(a->outcome, "keep"));
    const char *outcome = json_string_value(json_object_get(a->outcome, "outcome"));
    const bool cures = json_is_true(json_object_get(a->outcome, "cures"));
    const bool stopped = json_is_true(json_object_get(a->outcome, "stopped"));

    if (trouble)
        complain("not tried: %s", trouble);
    else if (stopped)
        complain("stopped: %s; nothing was kept", outcome);
    else if (cures)
        complain("tried: %s. To keep it: %s", outcome, keep);
    else
        complain("tried: %s: it does not hold", outcome);
}

struct trying {
    const struct job *job;
    const struct summary_row *row;
    int status;         /* of the command before */
    json_t *tried;      /* what came of each */
    const json_t *held; /* of them the one that holds; NULL: none does */
    size_t ran;
    int stopped; /* by a signal, with that status */
};

/* False: nothing is to be tried behind it. */
static bool try_one(struct trying *t, const struct scratch *scratch, size_t number) {
    struct repair *r = &job_repairs(t->row)->p[number];
    struct attempt a = {command, scratch, t->job, t->row, r, number + 1, t->status, NULL};

    if (!options.json)
        complain("trying: %s", r->command ? r->command : r->text);
    attempt_make(&a);
    if (!options.json || json_is_string(json_object_get(a.outcome, "trouble")))
        print_attempt(&a);
    json_object_set_new(a.outcome, "repair", json_integer((json_int_t)number));
    json_array_append_new(t->tried, a.outcome);
    t->ran += json_is_string(json_object_get(a.outcome, "outcome"));
    if (json_is_true(json_object_get(a.outcome, "stopped")))
        t->stopped = (int)json_integer_value(json_object_get(a.outcome, "status"));
    if (json_is_true(json_object_get(a.outcome, "cures"))) {
        r->checked = REPAIR_TRIED;
        t->held = a.outcome;
    }
    return !t->held && !t->stopped;
}

static int try_all(struct trying *t) {
    const struct plan_of_finding *of;
    struct scratch scratch;
    bool more = true;

    t->row = job_first_to_repair(t->job);
    if (!t->row) {
        complain("no repair is known that could be tried");
        return EXIT_NOT_REPAIRED;
    }
    if (!scratch_begin(&scratch)) {
        complain("no temporary directory can be made: %s", strerror(errno));
        return EXIT_USAGE;
    }
    of = job_repairs(t->row);
    for (size_t i = 0; i < of->n && more; i++)
        more = !steps_are_ours(&of->p[i].edits) || try_one(t, &scratch, i);
    scratch_end(&scratch);
    if (t->stopped)
        return t->stopped;
    if (more && t->ran > 0)
        complain("none of what was tried holds");
    return t->held ? EXIT_NOTHING_WRONG : t->ran > 0 ? EXIT_NOT_REPAIRED : EXIT_USAGE;
}

/* ---- all of it ---- */

static bool has_findings(const struct job *j) {
    for (size_t i = 0; j->n > 0 && i < j->summary.n; i++)
        if (j->summary.rows[i].finding)
            return true;
    return false;
}

static void tell_nothing(const struct job *j) {
    struct layout l = {.to = words(), .colour = options.colour};

    if (j->n == 0)
        complain("not observed: no cuDNN was loaded or asked for");
    else
        render_summary(&l, &j->summary,
                       &(struct summary_view){command ? "whichcudnn: " : NULL, NULL, ROWS_SHOWN});
}

static enum exit_code answer_of_plan(const struct job *j) {
    for (size_t i = 0; i < j->summary.n; i++) {
        const struct summary_row *row = &j->summary.rows[i];
        const struct plan_of_finding *of = row->finding ? job_repairs(row) : NULL;
        if (of && of->n > 0)
            return EXIT_ERRORS_FOUND;
    }
    return EXIT_NOT_REPAIRED;
}

/* What is tried refuses one by one, as the next cause may be in another environment. */
static bool is_refused(const struct job *j, int *answer) {
    const struct summary_row *row = try && options.as_owner ? job_first_to_repair(j) : NULL;
    const struct plan_of_finding *of = row ? job_repairs(row) : NULL;
    const struct repair *best = apply && !try ? best_played(j) : NULL;
    struct trust trust = {.why = NULL};

    trust_logs(&trust, &j->in.logs);
    if (best)
        steps_trust(&trust, &best->edits);
    for (size_t i = 0; of && i < of->n; i++)
        steps_trust(&trust, &of->p[i].edits);
    return trust_refused(&trust, answer);
}

/* status: of the command; -1: not known. */
static int fix_job(struct job *j, int status) {
    struct trying trying = {.job = j, .status = status, .tried = json_array()};
    json_t *applied = json_null();
    int answer = (int)j->answer;

    if (has_findings(j)) {
        answer = answer_of_plan(j);
        if (!options.json)
            print_plan(j);
        if (try)
            answer = try_all(&trying);
        if (apply && (!try || trying.held))
            answer = apply_best(j, trying.held, command, yes, &applied);
    } else if (!options.json) {
        tell_nothing(j);
    }
    if (options.json)
        json_print(stdout, json_pack("{s:o, s:O, s:o}", "findings", findings_json(j), "tried",
                                     trying.tried, "applied", applied));
    else
        json_decref(applied);
    json_decref(trying.tried);
    return answer;
}

static int fix_inputs(struct job *j, int status) {
    int answer;

    inputs_complain(&j->in);
    if (j->in.trouble_count > 0 && j->in.logs.process_count == 0)
        return EXIT_USAGE;
    job_make(j);
    if ((try || apply) && has_findings(j) && is_refused(j, &answer))
        return answer;
    answer = fix_job(j, status >= 0 ? status : job_status(j));
    return j->in.trouble_count > 0 ? EXIT_USAGE : answer;
}

static int fix_command(struct job *j) {
    OWNED char *logs = NULL;
    struct scratch scratch;
    int answer;
    int status;

    if (!scratch_begin(&scratch)) {
        complain("no temporary directory can be made: %s", strerror(errno));
        return EXIT_USAGE;
    }
    logs = must_format("%s/logs", scratch.path);
    mkdir(logs, S_IRWXU);
    status = observe(command, logs);
    if (rmdir(logs) != 0) /* it is not empty */
        input_read_files(&j->in, &logs, 1);
    answer = fix_inputs(j, status);
    if ((status == 126 || status == 127) && answer == EXIT_NOTHING_OBSERVED)
        answer = status;
    scratch_end(&scratch);
    return answer;
}

static int fix_newest(struct job *j) {
    OWNED char *path = input_read_newest(&j->in);

    if (path && apply)
        complain("no LOG was named; the newest of yours is %s", path);
    return path ? fix_inputs(j, -1) : EXIT_NOTHING_OBSERVED;
}

static int fix_arguments(int n, char **arguments) {
    struct job j = {.n = 0};
    int answer;

    if (command && !*command) {
        complain("a command is expected behind --");
        return EXIT_USAGE;
    }
    if (try && !command) {
        complain("--try wants a command to try it with: whichcudnn fix --try -- COMMAND");
        return EXIT_USAGE;
    }
    if (yes && !apply && !undo_it) {
        complain("--yes goes with --apply or --undo");
        return EXIT_USAGE;
    }
    if (undo_it && (try || apply || command || n > 1)) {
        complain("--undo goes alone, with one journal or log at most");
        return EXIT_USAGE;
    }
    if (undo_it)
        return undo(arguments[0], yes);
    input_read_files(&j.in, arguments, (size_t)n);
    answer = n > 0 ? fix_inputs(&j, -1) : command ? fix_command(&j) : fix_newest(&j);
    job_end(&j);
    return answer;
}

int cmd_fix(int argc, char **argv) {
    return options_run(argc, argv, &usage, fix_arguments);
}
