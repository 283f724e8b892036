/* SPDX-License-Identifier: Apache-2.0 */
#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox.h"
#include "steps.h"
#include "tools/commands/command.h"
#include "tools/commands/probe/trial.h"
#include "tools/commands/run/outcome.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/terminal.h"

#define ROUNDS_MOST 4
#define ROOM_LEAST ((fsblkcnt_t)16 << 20)

/* ---- a command under `run` ---- */

int observe(char *const *command, const char *logs) {
    const struct supervision with = {.prepare = NULL};
    OWNED char *place = must_format("%s/", logs);
    struct child child = {.pid = 0};
    sigset_t before;
    char **words;
    int n;

    words = run_quietly(place, (char **)command, &n);
    words[0] = "/proc/self/exe";
    fflush(NULL);
    sigprocmask(SIG_SETMASK, NULL, &before);
    if (!supervise(words, &with, &child))
        child.exec_error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(words);
    return outcome_exit_code(&child);
}

static bool was_stopped(int status) {
    return status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP ||
           status == 128 + SIGQUIT;
}

/* ---- in the process of its own ---- */

struct stage {
    struct attempt *a;
    int told; /* its outcome, as JSON */
    struct heap_arena memory;
    struct sandbox sandbox;
    json_t *steps;
    char *keep;                       /* the commands that make it for good */
    const char *targets[ROUNDS_MOST]; /* ids of the findings that are to go */
    enum wc_severity worst;           /* of them */
    size_t rounds;
    struct job now; /* of the last round */
    int status;
};

static void tell(struct stage *s, json_t *outcome) {
    if (json_dumpfd(outcome, s->told, JSON_COMPACT) != 0)
        complain("what was tried could not be told: %s", strerror(errno));
    json_decref(outcome);
}

/* Takes the text. */
static int tell_trouble(struct stage *s, char *trouble) {
    tell(s, json_pack("{s:b, s:o}", "cures", 0, "trouble", text_to_json(trouble)));
    free(trouble);
    return 0;
}

/* ---- the repair ---- */

/* What went wrong, by what it said: its first line that says so, else the last. The caller frees.
 */
static char *complaint(const char *command, int status, const char *said, const char *room) {
    const char *chosen = "";

    for (const char *line = said; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (line[strspn(line, " \t")] != '\n')
            chosen = line;
        if (strncasecmp(line, "error", 5) == 0 && line[strcspn(line, "\n") - 1] != ':')
            break;
    }
    return must_format("%s: status %d: %.*s%s", command, status, (int)strcspn(chosen, "\n"), chosen,
                       room);
}

/* An overlay on a full disk says what it likes: an input/output error. */
static const char *about_room(const char *work) {
    struct statvfs facts;

    return statvfs(work, &facts) == 0 && facts.f_bavail * facts.f_frsize < ROOM_LEAST
               ? "; there is hardly any room left for the try (TMPDIR says where it is made)"
               : "";
}

/* False: *trouble. */
static bool run_step(struct sandbox *s, const char *command, char **trouble) {
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    struct trial t = {
        .program = "/bin/sh", .arguments = arguments, .prepare = sandbox_guard, .arg = s};
    bool good;

    fflush(NULL);
    if (!trial_run(&t)) {
        *trouble = must_format("no process can be made: %s", strerror(errno));
        return false;
    }
    good = t.status == 0;
    if (!good)
        *trouble = WIFSIGNALED(t.status)
                       ? must_format("%s: ended by signal %d", command, WTERMSIG(t.status))
                       : complaint(command, WEXITSTATUS(t.status), *t.errors ? t.errors : t.output,
                                   about_room(s->work));
    trial_end(&t);
    return good;
}

/* Python runs it before the first line of any program, and then whatever has that name elsewhere.
 */
static bool write_python(struct stage *s, const char *lines, char **trouble) {
    OWNED char *directory = must_format("%s/python-%zu", s->sandbox.work, s->rounds);
    OWNED char *path = must_format("%s/sitecustomize.py", directory);
    FILE *to = mkdir(directory, S_IRWXU) == 0 || errno == EEXIST ? fopen(path, "ae") : NULL;
    bool good = to != NULL;

    if (to) {
        fputs("import sys\ntry:\n", to);
        for (const char *line = lines; *line; line += strcspn(line, "\n") + 1)
            fprintf(to, "    %.*s\n", (int)strcspn(line, "\n"), line);
        fprintf(to,
                "except ImportError:\n    pass\n"
                "sys.path = [p for p in sys.path if p != '%s']\n"
                "own = sys.modules.pop('sitecustomize', None)\n"
                "try:\n    import sitecustomize\nexcept ImportError:\n    pass\n"
                "sys.modules.setdefault('sitecustomize', own)\n", /* who imports us wants one */
                directory);
        good = fclose(to) == 0;
    }
    if (good)
        sandbox_put_in_front("PYTHONPATH", directory);
    else
        *trouble = must_format("%s: %s", path, strerror(errno));
    return good;
}

static const char *there(struct stage *s, const char *text) {
    OWNED char *made = text ? sandbox_there(&s->sandbox, text) : NULL;

    return made ? wc_arena_string(&s->memory.arena, made) : NULL;
}

/* The same edits, of the copies. */
static struct edits edits_there(struct stage *s, const struct edits *edits) {
    struct edit *moved = wc_arena_take(&s->memory.arena, (edits->n + 1) * sizeof(*moved));

    for (size_t i = 0; moved && i < edits->n; i++) {
        const struct edit *e = &edits->p[i];
        moved[i] = *e;
        moved[i].path = there(s, e->path);
        moved[i].target = there(s, e->target);
        moved[i].environment = there(s, e->environment);
        if (e->kind == EDIT_SET)
            moved[i].value = there(s, e->value);
    }
    return (struct edits){moved, moved ? edits->n : 0};
}

static bool do_step(struct stage *s, const struct step *step, char **trouble) {
    const struct edit *e = step->edit;

    switch (step->kind) {
    case STEP_VARIABLE:
        if (e->kind == EDIT_SET)
            setenv(e->name, e->value, 1);
        else
            unsetenv(e->name);
        return true;
    case STEP_PYTHON:
        return write_python(s, step->text, trouble);
    case STEP_COMMAND:
        if (s->sandbox.how == SANDBOX_COPIES && e->environment)
            sandbox_put_in_front("PYTHONPATH", e->environment);
        return run_step(&s->sandbox, step->text, trouble);
    default:
        return true;
    }
}

static void keep_steps(struct stage *s, const struct steps *steps, const struct repair *r) {
    json_t *list = steps_json(steps, &s->memory.arena);
    OWNED char *before = s->keep;

    json_array_extend(s->steps, list);
    json_decref(list);
    s->keep = must_format("%s%s%s", before ? before : "", before ? ", then " : "",
                          r->command ? r->command : r->text);
}

/* False: *trouble. */
static bool make_repair(struct stage *s, const struct repair *r, char **trouble) {
    struct wc_arena *memory = &s->memory.arena;
    struct steps steps;
    struct edits moved;

    steps_make(&steps, memory, &r->edits);
    if (steps.why) {
        *trouble = must_copy(steps.why);
        return false;
    }
    keep_steps(s, &steps, r);
    if (!sandbox_cover(&s->sandbox, steps.places, steps.place_count)) {
        *trouble = must_copy(s->sandbox.why);
        return false;
    }
    if (s->sandbox.how == SANDBOX_COPIES) {
        moved = edits_there(s, &r->edits);
        steps_make(&steps, memory, &moved);
    }
    for (size_t i = 0; i < steps.n; i++)
        if (!do_step(s, &steps.p[i], trouble))
            return false;
    return true;
}

/* ---- what came of it ---- */

static const struct summary_row *row_with(const struct job *j, const char *id) {
    for (size_t i = 0; j->n > 0 && i < j->summary.n; i++)
        if (j->summary.rows[i].finding && strcmp(j->summary.rows[i].finding->id, id) == 0)
            return &j->summary.rows[i];
    return NULL;
}

static bool has_targets(const struct stage *s, const struct job *now) {
    for (size_t i = 0; i < s->rounds; i++)
        if (row_with(now, s->targets[i]))
            return true;
    return false;
}

static bool is_cured(const struct stage *s, const struct job *now, int status) {
    OWNED char *before = job_versions(s->a->before), *versions = job_versions(now);

    for (size_t i = 0; now->n > 0 && i < now->summary.n; i++) {
        const struct wc_finding_record *f = now->summary.rows[i].finding;
        if (f && (f->severity >= WC_severity_ERROR ||
                  (f->severity >= s->worst && !row_with(s->a->before, f->id))))
            return false;
    }
    if (has_targets(s, now) || (*before && !*versions))
        return false;
    return status == 0 || (s->worst < WC_severity_ERROR && status == s->a->status_before);
}

static char *left_in_words(const struct job *now) {
    const struct wc_finding_record *first = NULL;
    size_t n = 0;

    for (size_t i = 0; now->n > 0 && i < now->summary.n; i++) {
        const struct wc_finding_record *f = now->summary.rows[i].finding;
        first = first ? first : f;
        n += f != NULL;
    }
    if (!first)
        return must_copy("no finding");
    if (n == 1)
        return must_format("%s[%s] is left", wc_enum_word_raw(WC_ENUM_severity, first->severity),
                           first->id);
    return must_format("%s[%s] and %zu more are left",
                       wc_enum_word_raw(WC_ENUM_severity, first->severity), first->id, n - 1);
}

static char *outcome_in_words(const struct job *now, int status, bool in_front) {
    OWNED char *versions = job_versions(now), *left = left_in_words(now);

    return must_format(
        "status %d, %s%s, %s%s", status, *versions ? "cuDNN " : "no cuDNN", versions, left,
        in_front ? " (with a copy in front: what has a whole path is not in it)" : "");
}

static json_t *left_json(const struct job *now) {
    json_t *list = json_array();

    for (size_t i = 0; now->n > 0 && i < now->summary.n; i++)
        if (now->summary.rows[i].finding)
            json_array_append_new(list, text_to_json(now->summary.rows[i].finding->id));
    return list;
}

static void tell_outcome(struct stage *s, const struct job *now, int status, bool cures) {
    OWNED char *versions = job_versions(now),
               *words = outcome_in_words(now, status, s->sandbox.how == SANDBOX_COPIES);

    tell(s, json_pack("{s:b, s:b, s:n, s:i, s:o, s:o, s:o, s:O, s:o, s:I}", "cures", cures,
                      "stopped", was_stopped(status), "trouble", "status", status, "cudnn",
                      text_to_json(*versions ? versions : NULL), "outcome", text_to_json(words),
                      "left", left_json(now), "steps", s->steps, "keep", text_to_json(s->keep),
                      "rounds", (json_int_t)s->rounds));
}

/* The next cause, where the last one is gone. In front of copies nothing but them could be seen. */
static const struct repair *next_repair(const struct stage *s, const struct job *now,
                                        const struct summary_row **row) {
    *row = s->rounds < ROUNDS_MOST && s->sandbox.how != SANDBOX_COPIES && !has_targets(s, now)
               ? job_first_to_repair(now)
               : NULL;
    return *row && (*row)->finding->severity >= WC_severity_WARNING ? job_best_repair(*row) : NULL;
}

/* Words of the command that lie in a directory of which there is a copy. */
static char **command_there(struct stage *s) {
    size_t n = 0;
    char **words;

    while (s->a->command[n])
        n++;
    words = wc_arena_take(&s->memory.arena, (n + 1) * sizeof(*words));
    for (size_t i = 0; words && i < n; i++)
        words[i] = (char *)there(s, s->a->command[i]);
    return words;
}

/* Makes the repair of a row's finding, and watches the command with it. False: *trouble. */
static bool play_round(struct stage *s, const struct summary_row *row, const struct repair *r,
                       char **trouble) {
    OWNED char *logs = must_format("%s/logs-%zu", s->sandbox.work, s->rounds);

    if (!make_repair(s, r, trouble))
        return false;
    s->targets[s->rounds++] = row->finding->id;
    if (row->finding->severity > s->worst)
        s->worst = row->finding->severity;
    if (mkdir(logs, S_IRWXU) != 0) {
        *trouble = must_format("%s: %s", logs, strerror(errno));
        return false;
    }
    s->status = observe(command_there(s), logs);
    s->now = (struct job){.n = 0}; /* the one before has what this one points to */
    if (rmdir(logs) != 0)          /* it is not empty */
        input_read_files(&s->now.in, &logs, 1);
    job_make(&s->now);
    return true;
}

static int play(void *arg) {
    struct stage *s = arg;
    const struct summary_row *row = s->a->row;
    const struct repair *repair = s->a->repair;
    OWNED char *work = must_format("%s/%zu", s->a->scratch->path, s->a->number);
    char *trouble = NULL;
    bool cures = false;

    if (mkdir(work, S_IRWXU) != 0)
        return tell_trouble(s, must_format("%s: %s", work, strerror(errno)));
    s->sandbox.work = work;
    while (repair) {
        if (!play_round(s, row, repair, &trouble))
            return tell_trouble(s, trouble);
        cures = is_cured(s, &s->now, s->status);
        repair = cures || was_stopped(s->status) ? NULL : next_repair(s, &s->now, &row);
    }
    tell_outcome(s, &s->now, s->status, cures);
    return 0;
}

/* ---- from without ---- */

static json_t *without_word(const struct child *child) {
    const bool killed = WIFSIGNALED(child->status);
    const int signal = killed ? WTERMSIG(child->status) : 0, status = killed ? 128 + signal : 0;
    OWNED char *trouble = killed ? must_format("it was ended by signal %d", signal)
                                 : must_copy("it came to no end that could be told");

    return json_pack("{s:b, s:b, s:i, s:o}", "cures", 0, "stopped", killed, "status", status,
                     "trouble", text_to_json(trouble));
}

void attempt_make(struct attempt *a) {
    struct stage s = {
        .a = a, .told = memfd_create("whichcudnn", MFD_CLOEXEC), .steps = json_array()};
    const struct supervision with = {.instead = play, .arg = &s};
    struct child child = {.pid = 0};
    sigset_t before;

    heap_arena_begin(&s.memory);
    fflush(NULL);
    sigprocmask(SIG_SETMASK, NULL, &before);
    if (s.told >= 0 && supervise(NULL, &with, &child))
        a->outcome = lseek(s.told, 0, SEEK_SET) == 0 ? json_loadfd(s.told, 0, NULL) : NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!a->outcome)
        a->outcome = without_word(&child);
    json_decref(s.steps);
    heap_arena_end(&s.memory);
    if (s.told >= 0)
        close(s.told);
}
