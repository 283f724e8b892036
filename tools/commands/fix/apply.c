/* SPDX-License-Identifier: Apache-2.0 */
#include "fix.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commands/child.h"
#include "tools/commands/options.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/preload.h"
#include "tools/util/program.h"
#include "tools/util/terminal.h"

/* ---- what a repair may overwrite, saved before it ---- */

/* As hard links: they hold whatever installs, is killed or loses power. In
 * ENVIRONMENT/.whichcudnn-undo, with a journal that is there only while the saved files are whole
 * and the repair is not finished; a link to it is next to the log. */
struct saved {
    char *folder, *journal, *link; /* NULL: nothing is saved */
    json_t *paths;                 /* the keys: directories and files; the first has the folder */
    int lock;                      /* held by what changes them, too */
};

static const char *first_path(const json_t *paths) {
    return json_object_iter_key(json_object_iter((json_t *)paths));
}

/* "." of a bare name. The caller frees. */
static char *directory_of(const char *path) {
    return strchr(path, '/') ? must_format("%.*s", (int)wc_dir_length(path), path) : must_copy(".");
}

/* Of a repair that was cut off, in that directory of logs or environment. NULL: none; the caller
 * frees. */
static char *journal_in(const char *directory) {
    OWNED_GLOB glob_t found =
        glob_below(directory, "/", "{" COMMAND_UNDO "/journal.json,whichcudnn-undo-*}", GLOB_BRACE);

    for (size_t i = 0; i < found.gl_pathc; i++)
        if (access(found.gl_pathv[i], F_OK) == 0)
            return must_copy(found.gl_pathv[i]);
    return NULL;
}

/* Not closed on exec: a pip that outlives us holds it. False: something else does. Some file
 * systems have no locks. */
static bool lock(struct saved *s, int how) {
    OWNED char *directory = directory_of(s->folder);

    fd_end(&s->lock);
    s->lock = open(directory, O_RDONLY | O_DIRECTORY); /* NOLINT(android-cloexec-open) */
    return s->lock < 0 || flock(s->lock, how) == 0 || errno != EWOULDBLOCK;
}

static void saved_forget(struct saved *s) {
    fd_end(&s->lock);
    free(s->folder);
    free(s->journal);
    free(s->link);
    json_decref(s->paths);
    *s = (struct saved){.lock = -1};
}

/* ---- the same files in two places ---- */

/* What is there already stays. A project's files, which are only named, are written in place: they
 * are copied. So is all where a file system has no hard links, or none of what others own. Pipes,
 * sockets and devices are of a process, and not a part of what a package installs. NULL: done. */
static char *link_tree(const char *from, const char *to) {
    FTS *walk = fts_open((char *const[]){(char *)from, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    char *trouble = walk ? NULL : trouble_of(from);

    for (FTSENT *e; !trouble && (e = fts_read(walk));) {
        OWNED char *copy = must_format("%s%s", to, e->fts_path + strlen(from));
        if (strcmp(e->fts_name, COMMAND_UNDO) == 0)
            fts_set(walk, e, FTS_SKIP);
        else if (e->fts_info == FTS_DNR || e->fts_info == FTS_NS)
            trouble = must_format("%s: %s", e->fts_path, strerror(e->fts_errno));
        else if (e->fts_info == FTS_D &&
                 mkdir(copy, (e->fts_statp->st_mode & 07777) | S_IRWXU) != 0 && errno != EEXIST)
            trouble = trouble_of(copy);
        else if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) &&
                 (e->fts_level == 0 || (link(e->fts_path, copy) != 0 && errno != EEXIST)))
            trouble = copy_tree(e->fts_path, copy);
    }
    if (walk)
        fts_close(walk);
    return trouble;
}

/* Everything but the saved file itself goes. */
static void remove_new(const char *path, const char *saved) {
    FTS *walk = fts_open((char *const[]){(char *)path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    struct stat was;

    for (FTSENT *e; walk && (e = fts_read(walk));) {
        OWNED char *kept = must_format("%s%s", saved, e->fts_path + strlen(path));
        const struct stat *facts = e->fts_statp;
        if (e->fts_info == FTS_DP ||
            (strcmp(e->fts_name, COMMAND_UNDO) != 0 && lstat(kept, &was) == 0 &&
             ((S_ISDIR(was.st_mode) && S_ISDIR(facts->st_mode)) ||
              (was.st_ino == facts->st_ino && was.st_dev == facts->st_dev))))
            continue;
        fts_set(walk, e, FTS_SKIP);
        if (strcmp(e->fts_name, COMMAND_UNDO) != 0)
            remove_tree(e->fts_path);
    }
    if (walk)
        fts_close(walk);
}

/* ---- saving, and putting back ---- */

static char *trouble_of_room(const char *path) {
    return access(path, F_OK) != 0 ? trouble_of(path)
           : !has_little_room(path, ROOM_LEAST)
               ? NULL
               : must_format("%s: less than %d MiB are free", path, ROOM_LEAST >> 20);
}

static char *save_all(struct saved *s, const json_t *steps) {
    OWNED char *fresh = must_format("%s.new", s->journal);
    const char *path;
    json_t *unused;
    int n = 0;

    if (!lock(s, LOCK_EX | LOCK_NB))
        return must_format("%s: another repair is still at work there", s->folder);
    if (access(s->journal, F_OK) == 0)
        return must_format("an earlier repair was cut off: whichcudnn fix --undo %s", s->journal);
    remove_tree(s->folder); /* of one that was cut off before it changed anything */
    if (mkdir(s->folder, S_IRWXU) != 0)
        return trouble_of(s->folder);
    json_object_foreach(s->paths, path, unused) {
        OWNED char *to = must_format("%s/%d", s->folder, n++);
        char *trouble = access(path, W_OK) == 0 ? trouble_of_room(path) : trouble_of(path);
        trouble = trouble ?: link_tree(path, to);
        if (trouble)
            return trouble;
    }
    json_auto_t *journal = json_pack("{s:i, s:O, s:O, s:o}", "version", 1, "paths", s->paths,
                                     "steps", steps, "link", text_to_json(s->link));
    bool good = json_dump_file(journal, fresh, JSON_INDENT(1)) == 0 && syncfs(s->lock) == 0;
    /* All of it is on the disk before the name is, and that is before anything changes. */
    if (good && symlink(s->journal, s->link) != 0)
        complain("no link to the journal: %s: %s", s->link, strerror(errno));
    good = good && rename(fresh, s->journal) == 0 && syncfs(s->lock) == 0;
    return good ? NULL : trouble_of(s->journal);
}

/* Takes the paths. NULL: done; else why not, and nothing is changed (the caller frees). near: of
 * the log, where --undo finds a link to the journal: it is made first, for after a SIGKILL. */
static char *saved_begin(struct saved *s, json_t *paths, const json_t *steps, const char *near) {
    const char *temporary = getenv("TMPDIR"), *first = first_path(paths);
    char *trouble = trouble_of_room(temporary && *temporary ? temporary : "/tmp");

    *s = (struct saved){.paths = paths, .lock = -1};
    if (first && !trouble) {
        s->folder = must_format("%s/" COMMAND_UNDO, first);
        s->journal = must_format("%s/journal.json", s->folder);
        s->link = must_format("%s/whichcudnn-undo-%d.json", near, (int)getpid());
        trouble = save_all(s, steps);
        if (trouble)
            unlink(s->link);
        if (trouble && access(s->journal, F_OK) != 0)
            remove_tree(s->folder);
    }
    if (trouble)
        saved_forget(s);
    return trouble;
}

/* NULL: all is as it was; else why not (the caller frees), and undo() may try again. */
static char *put_back(struct saved *s) {
    const char *path;
    json_t *unused;
    int n = 0;

    lock(s, LOCK_EX); /* what a step has left running is waited for */
    for (int i = 0; i < (int)json_object_size(s->paths); i++) {
        OWNED char *saved = must_format("%s/%d", s->folder, i);
        if (access(saved, F_OK) != 0)
            return trouble_of(saved);
    }
    json_object_foreach(s->paths, path, unused) {
        OWNED char *saved = must_format("%s/%d", s->folder, n++);
        remove_new(path, saved);
        char *trouble = link_tree(saved, path);
        if (trouble)
            return trouble;
    }
    syncfs(s->lock);
    return NULL;
}

/* What was saved is not needed any more. */
static void saved_end(struct saved *s) {
    OWNED char *journal = s->link ? realpath(s->link, NULL) : NULL;

    if (journal && strcmp(journal, s->journal) == 0)
        unlink(s->link);
    if (s->folder && unlink(s->journal) == 0)
        remove_tree(s->folder);
    saved_forget(s);
}

/* ---- making the repair ---- */

static bool is_kind(const json_t *step, const char *kind) {
    return wc_str_same(json_string_value(json_object_get(step, "kind")), kind);
}

static const char *text_of_step(const json_t *step) {
    return json_string_value(json_object_get(step, "text"));
}

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

/* In the child. With --json a command's words are not the JSON's. */
static void begin_step(void *before) {
    sigprocmask(SIG_SETMASK, before, NULL);
    if (options.json)
        dup2(2, 1);
}

/* On the user's terminal, as if it had been typed there. A signal ends it at once: what it has
 * changed is put back. False: it failed, which was complained of; *asked: the signal. */
static bool do_step(const char *command, sigset_t *before, int *asked) {
    /* Then it gets signals, not its shell, which several commands need. */
    OWNED char *line = must_format("%s%s", strstr(command, " && ") ? "" : "exec ", command);
    char *words[] = {"/bin/sh", "-c", line, NULL};
    const struct supervision with = {.prepare = begin_step, .whole_group = true, .arg = before};
    struct child child = {.pid = 0};

    (void)supervise(words, &with, &child);
    int status = child_exit_code(&child);
    *asked = child.asked;
    if (status != 0)
        complain("failed with status %d: %s%s", status, command,
                 status == 127 ? " (is that program there?)" : "");
    return status == 0;
}

/* The status: 0, or of a signal, and then all is as it was. Signals wait meanwhile. */
static int do_all(const json_t *steps, const char *near) {
    json_t *paths = json_object(), *step, *path;
    sigset_t all, before;
    struct saved saved;
    size_t i, j;
    int asked = 0;

    json_array_foreach(steps, i, step)
        json_array_foreach(json_object_get(step, "changes"), j, path)
            if (access(json_string_value(path), F_OK) == 0)
                json_object_set_new(paths, json_string_value(path), json_true());
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    OWNED char *trouble = saved_begin(&saved, paths, steps, near);
    bool good = !trouble;
    if (trouble)
        complain("nothing was done: %s", trouble);
    json_array_foreach(steps, i, step)
        if (good && is_kind(step, "command"))
            good = !asked && do_step(text_of_step(step), &before, &asked);
    if (!trouble && !good && saved.journal) {
        trouble = put_back(&saved);
        complain("%s%s%s%s", trouble ? "not put back: " : "put back what was there", trouble ?: "",
                 trouble ? "; this does it: whichcudnn fix --undo " : "",
                 trouble ? saved.journal : "");
    }
    if (!trouble)
        saved_end(&saved);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good ? EXIT_NOTHING_WRONG : asked ? 128 + asked : EXIT_USAGE;
}

/* No environment is changed by what was not played. */
int apply_best(const struct job *j, const json_t *held, char *const *command, bool yes,
               json_t **applied) {
    const char *log = command ? "" : j->in.logs.processes[0]->path; /* a command's goes away */
    OWNED char *near = directory_of(log), *journal = journal_in(near);
    OWNED char *line = command && *command ? shell_words(command) : must_copy(" COMMAND");
    const struct repair *best = held ? NULL : job_best_repair(j, true, NULL);
    json_auto_t *steps = json_array();
    json_t *step;
    const json_t *refused = NULL; /* the first that is not made here */
    size_t commands = 0, i;
    int answer = EXIT_USAGE;

    json_array_extend(steps, json_object_get(held, "steps"));
    if (best) {
        ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
        struct steps made;
        steps_make(&made, &memory.arena, &best->edits, NULL);
        steps_json(&made, &memory.arena, steps);
    }
    json_array_foreach(steps, i, step) {
        commands += is_kind(step, "command");
        if (!refused && json_is_string(json_object_get(step, "refused")))
            refused = step;
    }
    if (journal) {
        complain("nothing was done: an earlier repair was cut off: whichcudnn fix --undo %s",
                 journal);
    } else if (!held && !best) {
        complain("no repair is known that could be made");
        return EXIT_NOT_REPAIRED;
    } else if (refused) {
        complain("nothing was done: %s", json_string_value(json_object_get(refused, "refused")));
        if (text_of_step(refused))
            complain("for you to do: %s", text_of_step(refused));
    } else if (commands == 0) {
        answer = EXIT_NOTHING_WRONG;
    } else {
        json_array_foreach(steps, i, step)
            if (is_kind(step, "command"))
                print_format(stderr, "%s%s\n", yes ? "+ " : "  ", text_of_step(step));
        if (is_agreed(yes))
            answer = do_all(steps, near);
    }
    *applied = json_pack("{s:b, s:O}", "done", commands > 0 && answer == EXIT_NOTHING_WRONG,
                         "steps", steps);
    if (answer == EXIT_NOTHING_WRONG) {
        if (commands > 0)
            complain("done");
        json_array_foreach(steps, i, step)
            if (is_kind(step, "variable"))
                complain("to be typed in your shell, whose variables are its own: %s",
                         text_of_step(step));
            else if (is_kind(step, "said"))
                complain("for you to do: %s", text_of_step(step));
        complain("to see that it holds: whichcudnn run --%s", line);
        if (commands < json_array_size(steps)) /* what only the user can do is not done */
            answer = EXIT_ERRORS_FOUND;
    }
    return answer;
}

/* ---- putting back what was cut off ---- */

/* *named: the user knows which repair that is. NULL: there is none. */
static char *find_journal(const char *where, bool *named) {
    OWNED char *looked = NULL, *newest = where ? NULL : newest_log(&looked), *directory = NULL;
    char *found = where ? NULL : journal_in(".");
    struct stat facts;

    *named = where && wc_str_ends(where, ".json");
    if (*named)
        return must_copy(where);
    where = where ?: newest;
    if (found || !where)
        return found;
    bool is_directory = stat(where, &facts) == 0 && S_ISDIR(facts.st_mode);
    directory = is_directory ? must_copy(where) : directory_of(where);
    found = journal_in(directory);
    *named = found && is_directory && strcmp(wc_base_name(found), "journal.json") == 0;
    return found;
}

/* A journal is data, which a repository may hold: it names nothing but what --apply would save of
 * the environment in which it is. NULL: so it is, in *s. */
static char *read_journal(struct saved *s, const char *from, struct trust *t) {
    char *trouble = NULL;
    const char *path, *changes[STEP_CHANGES];
    struct stat facts;
    json_t *unused;

    trust_path(t, from);
    s->journal = realpath(from, NULL);
    if (!s->journal || stat(s->journal, &facts) != 0)
        return trouble_of(from);
    s->folder = directory_of(s->journal);
    if (t->why)
        return NULL;
    json_auto_t *journal = S_ISREG(facts.st_mode) ? json_load_file(s->journal, 0, NULL) : NULL;
    s->link = must_copy(json_string_value(json_object_get(journal, "link")));
    s->paths = json_incref(json_object_get(journal, "paths"));
    OWNED char *environment = directory_of(s->folder);
    if (!wc_str_same(first_path(s->paths), environment) ||
        strcmp(wc_base_name(s->folder), COMMAND_UNDO) != 0)
        return must_format("%s: no journal of a repair", s->journal);
    ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
    steps_changes(&memory.arena, environment, changes);
    json_object_foreach(s->paths, path, unused) {
        if (!trouble && !WC_ANY(change, WC_ROWS(changes), wc_str_same(*change, path)))
            trouble = must_format("%s: no journal of a repair: a repair of %s does not change %s",
                                  s->journal, environment, path);
        trust_path(t, path);
    }
    return trouble;
}

int undo(const char *where, bool yes) {
    bool named;
    OWNED char *journal = find_journal(where, &named), *trouble = NULL;
    ENDED_BY(saved_forget) struct saved s = {.lock = -1};
    struct trust trust = {.why = NULL};
    const char *path;
    json_t *unused;
    int answer = EXIT_USAGE;

    trouble = journal ? read_journal(&s, journal, &trust)
                      : must_copy("no journal of a repair that was cut off");
    if (!trouble && s.folder && !trust_refused(&trust, &answer)) {
        if (!named) {
            complain("found %s, which puts back:", s.journal);
            json_object_foreach(s.paths, path, unused)
                print_format(stderr, "  %s\n", path);
        }
        if ((named || is_agreed(yes)) && !(trouble = put_back(&s))) {
            complain("as it was: %s", first_path(s.paths));
            saved_end(&s);
            answer = EXIT_NOTHING_WRONG;
        }
    }
    free(trust.why);
    if (trouble)
        complain("nothing was undone: %s", trouble);
    return answer;
}
