/* SPDX-License-Identifier: Apache-2.0 */
#include "apply.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "saved.h"
#include "steps.h"
#include "tools/commands/options.h"
#include "tools/commands/run/outcome.h"
#include "tools/observe/log/newest_log.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/program.h"
#include "tools/util/terminal.h"

/* ---- what is to be done ---- */

/* No environment is changed by what was not played. NULL: there is none. */
static json_t *steps_of_best(const struct job *j) {
    const struct repair *best = job_best_repair(j, true, NULL);
    struct heap_arena memory;
    struct steps steps;
    json_t *list;

    if (!best)
        return NULL;
    heap_arena_begin(&memory);
    steps_make(&steps, &memory.arena, &best->edits);
    list = steps_json(&steps, &memory.arena);
    if (steps.why)
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "kind", "said", "refused", text_to_json(steps.why)));
    heap_arena_end(&memory);
    return list;
}

static bool is_kind(const json_t *step, const char *kind) {
    const char *of = json_string_value(json_object_get(step, "kind"));

    return of && strcmp(of, kind) == 0;
}

static const char *text_of_step(const json_t *step) {
    return json_string_value(json_object_get(step, "text"));
}

/* ---- asking ---- */

/* Asks the user about what was shown; yes: the answer is known. False is complained of. */
static bool is_agreed(bool yes) {
    char answer[16] = "";

    if (yes)
        return true;
    if (!isatty(0)) {
        complain("cannot ask: standard input is not a terminal; --yes does it without asking");
        return false;
    }
    fputs("Do that? [y/N] ", stderr);
    if (fgets(answer, sizeof(answer), stdin))
        answer[strcspn(answer, "\n")] = '\0';
    if (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0)
        return true;
    complain("nothing was done");
    return false;
}

static bool agrees_to_steps(const json_t *steps, bool yes) {
    const json_t *step;
    size_t i;

    json_array_foreach(steps, i, step)
        if (is_kind(step, "command"))
            print_format(stderr, "%s%s\n", yes ? "+ " : "  ", text_of_step(step));
    return is_agreed(yes);
}

/* ---- doing ---- */

/* With --json a command's words are not the JSON's. */
static void begin_step(void *before) {
    sigprocmask(SIG_SETMASK, before, NULL);
    if (options.json)
        dup2(2, 1);
}

/* On the user's terminal, as if it had been typed there. A signal ends it at once: what it has
 * changed is put back. False: it failed, which was complained of; *asked: the signal. */
static bool do_step(const char *command, sigset_t *before, int *asked) {
    OWNED char *line = must_format("exec %s", command); /* then it gets signals, not its shell */
    char *words[] = {"/bin/sh", "-c", line, NULL};
    const struct supervision with = {.prepare = begin_step, .whole_group = true, .arg = before};
    struct child child = {.pid = 0};
    int status;

    fflush(NULL);
    status = supervise(words, &with, &child) ? child_exit_code(&child) : 126;
    *asked = child.asked;
    if (status != 0)
        complain("failed with status %d: %s%s", status, command,
                 status == 127 ? " (is that program there?)" : "");
    return status == 0;
}

/* The status: 0, or of a signal, and then all is as it was. Signals wait meanwhile. */
static int do_all(const json_t *steps, const char *near) {
    json_t *paths = json_object(), *step, *path;
    OWNED char *trouble = NULL;
    sigset_t all, before;
    struct saved saved;
    size_t i, j;
    int asked = 0;
    bool good = true;

    json_array_foreach(steps, i, step)
        json_array_foreach(json_object_get(step, "changes"), j, path)
            if (access(json_string_value(path), F_OK) == 0)
                json_object_set_new(paths, json_string_value(path), json_true());
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    trouble = saved_begin(&saved, paths, steps, near);
    if (trouble)
        complain("nothing was done: %s", trouble);
    json_array_foreach(steps, i, step)
        if (good && !trouble && is_kind(step, "command"))
            good = !asked && do_step(text_of_step(step), &before, &asked);
    good = good && !trouble;
    if (!trouble && !good && saved.journal) {
        trouble = saved_put_back(&saved);
        complain("%s%s%s%s", trouble ? "not put back: " : "put back what was there",
                 trouble ? trouble : "", trouble ? "; this does it: whichcudnn fix --undo " : "",
                 trouble ? saved.journal : "");
    }
    if (!trouble)
        saved_end(&saved);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good ? EXIT_NOTHING_WRONG : asked ? 128 + asked : EXIT_USAGE;
}

/* ---- what is left to the user ---- */

static void tell_rest(const json_t *steps, bool done, char *const *command) {
    OWNED char *line = command && *command ? shell_words(command) : must_copy(" COMMAND");

    if (done)
        complain("done");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        if (is_kind(step, "variable"))
            complain("to be typed in your shell, whose variables are its own: %s",
                     text_of_step(step));
        else if (is_kind(step, "said"))
            complain("for you to do: %s", text_of_step(step));
    }
    complain("to see that it holds: whichcudnn run --%s", line);
}

int apply_best(const struct job *j, const json_t *held, char *const *command, bool yes,
               json_t **applied) {
    const char *log = command ? "" : j->in.logs.processes[0]->path; /* a command's goes away */
    OWNED char *near = directory_of(log);
    OWNED char *journal = saved_journal_in(near);
    json_t *steps = held ? json_incref(json_object_get(held, "steps")) : steps_of_best(j), *step;
    const json_t *refused = NULL; /* the first that is not made here */
    size_t commands = 0, i;
    int answer = EXIT_USAGE;

    json_array_foreach(steps, i, step) {
        commands += is_kind(step, "command");
        if (!refused && json_is_string(json_object_get(step, "refused")))
            refused = step;
    }
    if (journal) {
        complain("nothing was done: an earlier repair was cut off: whichcudnn fix --undo %s",
                 journal);
    } else if (!steps) {
        complain("no repair is known that could be made");
        return EXIT_NOT_REPAIRED;
    } else if (refused) {
        complain("nothing was done: %s", json_string_value(json_object_get(refused, "refused")));
        if (text_of_step(refused))
            complain("for you to do: %s", text_of_step(refused));
    } else if (commands == 0) {
        answer = EXIT_NOTHING_WRONG;
    } else if (agrees_to_steps(steps, yes)) {
        answer = do_all(steps, near);
    }
    *applied = json_pack("{s:b, s:o}", "done", commands > 0 && answer == EXIT_NOTHING_WRONG,
                         "steps", steps ? json_incref(steps) : json_array());
    if (answer == EXIT_NOTHING_WRONG) {
        tell_rest(steps, commands > 0, command);
        /* What only the user can do is not done. */
        if (commands < json_array_size(steps))
            answer = EXIT_ERRORS_FOUND;
    }
    json_decref(steps);
    return answer;
}

/* ---- putting back what was cut off ---- */

/* *named: the user knows which repair that is. NULL: there is none. */
static char *find_journal(const char *where, bool *named) {
    OWNED char *looked = NULL, *newest = where ? NULL : newest_log(&looked), *directory = NULL;
    char *found = where ? NULL : saved_journal_in(".");
    struct stat facts;
    bool is_directory;

    *named = where && wc_str_ends(where, ".json");
    if (*named)
        return must_copy(where);
    where = where ? where : newest;
    if (found || !where)
        return found;
    is_directory = stat(where, &facts) == 0 && S_ISDIR(facts.st_mode);
    directory = is_directory ? must_copy(where) : directory_of(where);
    found = saved_journal_in(directory);
    *named = found && is_directory && strcmp(wc_base_name(found), "journal.json") == 0;
    return found;
}

/* A journal is data, which a repository may hold: it names nothing but what --apply would save of
 * the environment in which it is. NULL: so it does. */
static char *check_paths(const struct saved *s, struct trust *t) {
    OWNED char *environment = directory_of(s->folder);
    const char *first = json_object_iter_key(json_object_iter(s->paths)), *path;
    const char *changes[STEP_CHANGES];
    struct heap_arena memory;
    char *trouble = NULL;
    json_t *unused;

    if (!first || strcmp(first, environment) != 0 ||
        strcmp(wc_base_name(s->folder), COMMAND_UNDO) != 0)
        return must_format("%s: no journal of a repair", s->journal);
    heap_arena_begin(&memory);
    steps_changes(&memory.arena, environment, changes);
    json_object_foreach(s->paths, path, unused) {
        bool known = false;
        WC_EACH_ROW(change, changes)
            known = known || wc_str_same(*change, path);
        if (!known && !trouble)
            trouble = must_format("%s: no journal of a repair: a repair of %s does not change %s",
                                  s->journal, environment, path);
        trust_path(t, path);
    }
    heap_arena_end(&memory);
    return trouble;
}

/* NULL: it is a journal of a repair, in *s. */
static char *read_journal(struct saved *s, const char *path, struct trust *t) {
    struct stat facts;
    json_t *journal;

    trust_path(t, path);
    s->journal = realpath(path, NULL);
    if (!s->journal || stat(s->journal, &facts) != 0)
        return must_format("%s: %s", path, strerror(errno));
    if (t->why)
        return NULL;
    journal = S_ISREG(facts.st_mode) ? json_load_file(s->journal, 0, NULL) : NULL;
    s->folder = directory_of(s->journal);
    s->link = must_copy(json_string_value(json_object_get(journal, "link")));
    s->paths = json_incref(json_object_get(journal, "paths"));
    json_decref(journal);
    return check_paths(s, t);
}

static bool agrees_to_undo(const struct saved *s, bool yes) {
    const char *path;
    json_t *unused;

    complain("found %s, which puts back:", s->journal);
    json_object_foreach(s->paths, path, unused)
        print_format(stderr, "  %s\n", path);
    return is_agreed(yes);
}

int undo(const char *where, bool yes) {
    bool named;
    OWNED char *path = find_journal(where, &named), *trouble = NULL;
    struct saved s = {.lock = -1};
    struct trust trust = {.why = NULL};
    int answer = EXIT_USAGE;

    trouble = path ? read_journal(&s, path, &trust)
                   : must_copy("no journal of a repair that was cut off");
    if (!trouble && !trust_refused(&trust, &answer) && (named || agrees_to_undo(&s, yes)) &&
        !(trouble = saved_put_back(&s))) {
        complain("as it was: %s", json_object_iter_key(json_object_iter(s.paths)));
        saved_end(&s);
        answer = EXIT_NOTHING_WRONG;
    }
    free(trust.why);
    if (trouble)
        complain("nothing was undone: %s", trouble);
    saved_forget(&s);
    return answer;
}
