/* SPDX-License-Identifier: Apache-2.0 */
#include "undo.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "apply.h"
#include "saved.h"
#include "steps.h"
#include "tools/log/newest_log.h"
#include "tools/util/program.h"
#include "tools/util/terminal.h"

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
 * the environment in which it lies. NULL: so it does. */
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

static bool is_agreed(const struct saved *s, bool yes) {
    const char *path;
    json_t *unused;

    complain("found %s, which puts back:", s->journal);
    json_object_foreach(s->paths, path, unused) print_format(stderr, "  %s\n", path);
    return apply_agreed(yes);
}

int undo(const char *where, bool yes) {
    bool named;
    OWNED char *path = find_journal(where, &named), *trouble = NULL;
    struct saved s = {.lock = -1};
    struct trust trust = {.why = NULL};
    int answer = EXIT_USAGE;

    trouble = path ? read_journal(&s, path, &trust)
                   : must_copy("no journal of a repair that was cut off");
    if (!trouble && !trust_refused(&trust, &answer) && (named || is_agreed(&s, yes)) &&
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
