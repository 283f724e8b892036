/* SPDX-License-Identifier: Apache-2.0 */
#include "apply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.h"
#include "tools/commands/options.h"
#include "tools/log/record_json.h"
#include "tools/util/disk.h"
#include "tools/util/json_make.h"
#include "tools/util/terminal.h"

/* ---- what is to be done ---- */

/* Nobody's environment is changed by what was not played. */
const struct repair *best_played(const struct job *j) {
    for (size_t i = 0; i < j->summary.n; i++) {
        const struct summary_row *row = &j->summary.rows[i];
        const struct plan_of_finding *of = row->finding ? job_repairs(row) : NULL;
        for (size_t k = 0; of && k < of->n; k++)
            if (of->p[k].checked != REPAIR_NOT_CHECKED && steps_are_ours(&of->p[k].edits))
                return &of->p[k];
    }
    return NULL;
}

/* NULL: there is none. */
static json_t *steps_of_best(const struct job *j) {
    const struct repair *best = best_played(j);
    OWNED char *directory = getcwd(NULL, 0);
    const struct user user = {
        .files = &disk_files, .path = getenv("PATH"), .directory = directory, .yes = true};
    struct heap_arena memory;
    struct steps steps;
    json_t *list;

    if (!best)
        return NULL;
    heap_arena_begin(&memory);
    steps_make(&steps, &memory.arena, &best->edits, &user);
    list = steps_json(&steps, &memory.arena);
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

static size_t count(const json_t *steps, const char *kind) {
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(steps); i++)
        n += is_kind(json_array_get(steps, i), kind);
    return n;
}

/* ---- asking ---- */

static bool is_agreed(const json_t *steps, bool yes) {
    char answer[16] = "";

    for (size_t i = 0; i < json_array_size(steps); i++)
        if (is_kind(json_array_get(steps, i), "command"))
            print_format(stderr, "%s%s\n", yes ? "+ " : "  ",
                         text_of_step(json_array_get(steps, i)));
    if (yes)
        return true;
    if (!isatty(0)) {
        complain("nobody can be asked: standard input is no terminal; --yes does it all the same");
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

/* ---- doing ---- */

/* On the user's terminal, as if it had been typed there. With --json its words are not the JSON's.
 */
static int run_it(const char *command) {
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (options.json)
            dup2(2, 1);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child < 0 ? 126 : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool do_all(const json_t *steps) {
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        int status = is_kind(step, "command") ? run_it(text_of_step(step)) : 0;
        if (status == 0)
            continue;
        complain("failed with status %d: %s%s", status, text_of_step(step),
                 status == 127 ? " (is that program there?)" : "");
        return false;
    }
    return true;
}

/* ---- what is left to the user ---- */

/* As a shell would need it. */
static char *quoted(const char *word) {
    struct sink text;
    FILE *to;

    if (*word && !strpbrk(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!"))
        return must_copy(word);
    to = sink_begin(&text);
    putc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            putc(*word, to);
    putc('\'', to);
    return sink_end(&text);
}

static char *command_in_words(char *const *command) {
    char *line = must_copy(""), *longer;

    for (; command && *command; command++) {
        OWNED char *word = quoted(*command);
        longer = must_format("%s%s%s", line, *line ? " " : "", word);
        free(line);
        line = longer;
    }
    return line;
}

static void tell_rest(const json_t *steps, bool done, char *const *command) {
    OWNED char *line = command_in_words(command);

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
    complain("to see that it holds: whichcudnn run -- %s", *line ? line : "COMMAND");
}

enum exit_code apply_best(const struct job *j, const json_t *held, char *const *command, bool yes,
                          json_t **applied) {
    json_t *steps = held ? json_incref(json_object_get(held, "steps")) : steps_of_best(j);
    const size_t commands = steps ? count(steps, "command") : 0;
    enum exit_code answer = EXIT_NOTHING_WRONG;
    bool done = false;

    if (!steps) {
        complain("no repair is known that could be made");
        return EXIT_NOT_REPAIRED;
    }
    if (commands > 0)
        done = is_agreed(steps, yes) && do_all(steps);
    if (commands > 0 && !done)
        answer = EXIT_USAGE;
    else
        tell_rest(steps, done, command);
    /* What only the user can do is not done. */
    if (answer == EXIT_NOTHING_WRONG && commands < json_array_size(steps))
        answer = EXIT_ERRORS_FOUND;
    *applied = json_make("bo", "done", done, "steps", steps);
    return answer;
}
