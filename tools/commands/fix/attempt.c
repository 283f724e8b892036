/* SPDX-License-Identifier: Apache-2.0 */
#include "apply.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"
#include "steps.h"
#include "tools/commands/probe/trial.h"
#include "tools/commands/run/supervise.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/terminal.h"

#define ROUNDS_MOST 4

struct stage { /* in the process of its own */
    const struct attempt *a;
    int told; /* its outcome, as JSON */
    struct heap_arena memory;
    struct sandbox sandbox;
    json_t *steps;
    char *keep;                                           /* the commands that make it permanent */
    const struct wc_finding_record *targets[ROUNDS_MOST]; /* the findings that are to go */
    enum wc_severity worst;                               /* of them */
    size_t rounds;
    struct job now; /* of the last round */
    int status;
    bool stopped; /* by a signal that ends processes */
};

/* ---- the repair ---- */

/* What may fail gives why it did, which the caller frees; NULL: it did not. */
static char *run_step(struct sandbox *s, const char *command) {
    char *arguments[] = {"sh", "-c", (char *)command, NULL}, *trouble = NULL;
    struct trial t = {
        .program = "/bin/sh", .arguments = arguments, .prepare = sandbox_guard, .arg = s};

    fflush(NULL);
    if (!trial_run(&t))
        return must_format("no process can be made: %s", strerror(errno));
    if (WIFSIGNALED(t.status)) {
        trouble = must_format("%s: ended by signal %d", command, WTERMSIG(t.status));
    } else if (t.status != 0) {
        const char *chosen = "";
        /* Its first line that says what went wrong, else the last. */
        for (const char *line = *t.errors ? t.errors : t.output; *line;
             line += strcspn(line, "\n"), line += *line == '\n') {
            if (line[strspn(line, " \t")] != '\n')
                chosen = line;
            if (strncasecmp(line, "error", 5) == 0 && line[strcspn(line, "\n") - 1] != ':')
                break;
        }
        trouble = must_format("%s: status %d: %.*s%s", command, WEXITSTATUS(t.status),
                              (int)strcspn(chosen, "\n"), chosen, sandbox_room(s));
    }
    trial_end(&t);
    return trouble;
}

/* Python runs it before the first line of any program, and then whatever has that name elsewhere:
 * code that imports us requires a module of that name. */
static const char startup[] = "import sys\n"
                              "try:\n    %s\nexcept ImportError:\n    pass\n"
                              "sys.path = [p for p in sys.path if p != '%s']\n"
                              "own = sys.modules.pop('sitecustomize', None)\n"
                              "try:\n    import sitecustomize\nexcept ImportError:\n    pass\n"
                              "sys.modules.setdefault('sitecustomize', own)\n";

/* Texts of this process end with it. */
static char *there(const struct stage *s, const char *text) {
    return text ? sandbox_there(&s->sandbox, text) : NULL;
}

static char *do_step(struct stage *s, const struct step *step) {
    const struct edit *e = step->edit;

    if (step->kind == STEP_PYTHON) {
        OWNED char *directory = must_format("%s/python-%zu", s->sandbox.work, s->rounds);
        OWNED char *path = must_format("%s/sitecustomize.py", directory);
        FILE *to = mkdir(directory, S_IRWXU) == 0 || errno == EEXIST ? fopen(path, "ae") : NULL;
        if (!to || fprintf(to, startup, step->text, directory) < 0 || fclose(to) != 0)
            return trouble_of(path);
        sandbox_put_in_front("PYTHONPATH", directory);
    } else if (step->kind == STEP_COMMAND) {
        if (s->sandbox.how == SANDBOX_COPIES && e->environment)
            sandbox_put_in_front("PYTHONPATH", e->environment);
        return run_step(&s->sandbox, step->text);
    } else if (e->kind == EDIT_SET) {
        setenv(e->name, e->value, 1);
    } else {
        unsetenv(e->name);
    }
    return NULL;
}

static char *make_repair(struct stage *s, const struct repair *r) {
    struct wc_arena *memory = &s->memory.arena;
    const size_t n = r->edits.n;
    OWNED char *before = s->keep;
    char *trouble = NULL;
    struct steps steps;

    s->keep = must_format("%s%s%s", before ? before : "", before ? ", then " : "",
                          r->command ? r->command : r->text);
    steps_make(&steps, memory, &r->edits, NULL);
    if (steps.why)
        return must_copy(steps.why);
    steps_json(&steps, memory, s->steps);
    for (size_t i = 0; i < steps.place_count && !trouble; i++)
        trouble = sandbox_cover(&s->sandbox, steps.places[i]);
    if (!trouble && s->sandbox.how == SANDBOX_COPIES) {
        /* The same edits, of the copies. */
        struct edit *moved = must_allocate((n + 1) * sizeof(*moved));
        for (size_t i = 0; i < n; i++) {
            const struct edit *e = &r->edits.p[i];
            moved[i] = *e;
            moved[i].path = there(s, e->path);
            moved[i].target = there(s, e->target);
            moved[i].environment = there(s, e->environment);
            if (e->kind == EDIT_SET)
                moved[i].value = there(s, e->value);
        }
        steps_make(&steps, memory, &(const struct edits){moved, n}, NULL);
    }
    for (size_t i = 0; i < steps.n && !trouble; i++)
        trouble = do_step(s, &steps.p[i]);
    return trouble;
}

/* ---- what came of it ---- */

/* "9.8.0, 9.1.0" of all processes; "": none was loaded. The caller frees. */
static char *versions_of(const struct job *j) {
    char *list = must_copy("");

    for (size_t i = 0; i < j->n; i++)
        WC_EACH(o, j->reports[i].source->stack.objects) {
            OWNED char *before = list;
            const bool is_new = o->r.role == WC_role_FACADE && o->r.mapped && o->r.version &&
                                !strstr(list, o->r.version);
            list = must_format("%s%s%s", before, is_new && *before ? ", " : "",
                               is_new ? o->r.version : "");
        }
    return list;
}

/* What the command lived with before: it was a warning then, whatever it is without the error. */
static bool was_outlived(const struct stage *s, const struct wc_finding_record *f) {
    return WC_ANY(row, s->a->before->found,
                  (*row)->finding->severity < WC_severity_ERROR &&
                      wc_str_same((*row)->finding->title, f->title));
}

static bool has_targets(const struct stage *s) {
    for (size_t i = 0; i < s->rounds; i++)
        if (WC_ANY(row, s->now.found,
                   strcmp((*row)->finding->id, s->targets[i]->id) == 0 &&
                       (wc_str_same((*row)->finding->title, s->targets[i]->title) ||
                        !was_outlived(s, (*row)->finding))))
            return true;
    return false;
}

static bool is_cured(const struct stage *s) {
    OWNED char *before = versions_of(s->a->before), *versions = versions_of(&s->now);
    const bool is_worse = WC_ANY(
        row, s->now.found,
        ((*row)->finding->severity >= WC_severity_ERROR && !was_outlived(s, (*row)->finding)) ||
            ((*row)->finding->severity >= s->worst &&
             !WC_ANY(old, s->a->before->found,
                     strcmp((*old)->finding->id, (*row)->finding->id) == 0)));

    if (is_worse || has_targets(s) || (*before && !*versions))
        return false;
    return s->status == 0 || (s->worst < WC_severity_ERROR && s->status == s->a->status_before);
}

static json_t *outcome(const struct stage *s, bool cures) {
    const bool in_front = s->sandbox.how == SANDBOX_COPIES;
    const struct wc_finding_record *first = s->now.found.n ? s->now.found.p[0]->finding : NULL;
    OWNED char *versions = versions_of(&s->now);
    OWNED char *more = s->now.found.n > 1 ? must_format(" and %zu more are", s->now.found.n - 1)
                                          : must_copy(" is");
    OWNED char *left =
        first ? must_format("%s[%s]%s left", wc_enum_word_raw(WC_ENUM_severity, first->severity),
                            first->id, more)
              : must_copy("no finding");
    OWNED char *words = must_format(
        "status %d, %s%s, %s%s", s->status, *versions ? "cuDNN " : "no cuDNN", versions, left,
        in_front ? " (with a copy in front: what has a whole path is not in it)" : "");

    return json_pack("{s:b, s:b, s:n, s:i, s:o, s:o, s:o, s:O, s:o, s:I}", "cures", cures,
                     "stopped", s->stopped, "trouble", "status", s->status, "cudnn",
                     text_to_json(*versions ? versions : NULL), "outcome", text_to_json(words),
                     "left", JSON_EACH(row, s->now.found, text_to_json((*row)->finding->id)),
                     "steps", s->steps, "keep", text_to_json(s->keep), "rounds",
                     (json_int_t)s->rounds);
}

/* Makes the repair of a row's finding, and watches the command with it. */
static char *play_round(struct stage *s, const struct summary_row *row, const struct repair *r) {
    OWNED char *logs = must_format("%s/logs-%zu", s->sandbox.work, s->rounds);
    char *trouble = make_repair(s, r), **words = NULL;
    size_t n = 0;

    if (trouble)
        return trouble;
    s->targets[s->rounds++] = row->finding;
    if (row->finding->severity > s->worst)
        s->worst = row->finding->severity;
    s->now = (struct job){.n = 0}; /* the one before has what this one points to */
    do /* words of the command may lie in a directory of which there is a copy */
        words = must_grow(words, (n + 1) * sizeof(*words));
    while ((words[n] = there(s, s->a->command[n])) && ++n);
    s->status = input_observe(&s->now.in, words, logs);
    if (s->status < 0)
        return trouble_of(logs);
    job_make(&s->now);
    return NULL;
}

/* In the process of its own. */
static int play(void *arg) {
    struct stage *s = arg;
    const struct summary_row *row = s->a->row;
    const struct repair *repair = s->a->repair;
    char *trouble = mkdir(s->a->work, S_IRWXU) == 0 ? NULL : trouble_of(s->a->work);
    bool cures = false;

    while (repair && !trouble && !(trouble = play_round(s, row, repair))) {
        cures = is_cured(s);
        s->stopped = s->status == 128 + SIGINT || s->status == 128 + SIGTERM ||
                     s->status == 128 + SIGHUP || s->status == 128 + SIGQUIT;
        /* The next cause, where the last one is gone. In front of copies nothing but them could be
         * seen. */
        repair = !cures && !s->stopped && s->rounds < ROUNDS_MOST &&
                         s->sandbox.how != SANDBOX_COPIES && !has_targets(s)
                     ? job_best_repair(&s->now, false, &row)
                     : NULL;
        if (repair && row->finding->severity < WC_severity_WARNING)
            repair = NULL;
    }
    if (json_dumpfd(trouble ? json_pack("{s:b, s:o}", "cures", 0, "trouble", text_to_json(trouble))
                            : outcome(s, cures),
                    s->told, JSON_COMPACT) != 0)
        complain("the result of the try could not be reported: %s", strerror(errno));
    return 0;
}

/* ---- from without ---- */

json_t *attempt_make(const struct attempt *a) {
    struct stage s = {.a = a,
                      .told = memfd_create("whichcudnn", MFD_CLOEXEC),
                      .sandbox = {.work = a->work},
                      .steps = json_array()};
    const struct supervision with = {.instead = play, .arg = &s};
    struct child child = {.pid = 0};
    json_t *told = NULL;

    heap_arena_begin(&s.memory);
    if (s.told >= 0 && supervise(NULL, &with, &child) && lseek(s.told, 0, SEEK_SET) == 0)
        told = json_loadfd(s.told, 0, NULL);
    json_decref(s.steps);
    heap_arena_end(&s.memory);
    if (s.told >= 0)
        close(s.told);
    if (!told) {
        const bool killed = WIFSIGNALED(child.status);
        const int signal = killed ? WTERMSIG(child.status) : 0;
        OWNED char *trouble = killed ? must_format("it was ended by signal %d", signal)
                                     : must_copy("its end could not be determined");
        told = json_pack("{s:b, s:b, s:i, s:o}", "cures", 0, "stopped", killed, "status",
                         killed ? 128 + signal : 0, "trouble", text_to_json(trouble));
    }
    return told;
}
