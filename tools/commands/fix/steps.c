/* SPDX-License-Identifier: Apache-2.0 */
#include "fix.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/observe/log/record_json.h"
#include "tools/util/disk.h"

#define PLACES_MOST (sizeof(((struct steps *)0)->places) / sizeof(const char *))

bool is_within(const char *path, const char *top) {
    const size_t n = strlen(top);

    return strncmp(path, top, n) == 0 && (!path[n] || path[n] == '/');
}

/* A variable that something between the user and the process sets is changed in its line, if that
 * is one word there. What manages a package has the command for it. Where no package manages what
 * is there, only the user knows what may be replaced. */
static enum step_kind kind_of(const struct edit *e) {
    const struct edit_row *row = &edit_rows[e->kind];
    const bool is_of_package = row->writes == WRITES_SITE || e->kind == EDIT_HOST;

    return e->kind == EDIT_PLACE || e->kind == EDIT_RESTORE ? STEP_SAID
           : e->by                                          ? (e->target ? STEP_COMMAND : STEP_SAID)
           : row->action == WC_ACTION_SET_VARIABLE          ? STEP_VARIABLE
           : row->action == WC_ACTION_LOAD_ORDER            ? STEP_PYTHON
           : *row->command || is_of_package                 ? STEP_COMMAND
                                                            : STEP_SAID;
}

struct making {
    struct steps *out;
    struct wc_arena *memory;
    const struct user *user;
    struct trust *trust;
};

/* One below another is changed with it. */
static void add_place(struct making *m, const char *directory) {
    struct steps *s = m->out;
    char real[PATH_MAX];
    size_t kept = 0;

    trust_path(m->trust, directory);
    if (!directory || !realpath(directory, real) || s->place_count == PLACES_MOST)
        return;
    if (strcmp(real, "/") == 0) {
        s->why = "it changes the root directory";
        return;
    }
    for (size_t i = 0; i < s->place_count; i++) {
        if (is_within(real, s->places[i]))
            return;
        if (!is_within(s->places[i], real))
            s->places[kept++] = s->places[i];
    }
    s->place_count = kept;
    s->places[s->place_count++] = wc_arena_string(m->memory, real);
}

static const char *above(struct making *m, const char *path, int levels) {
    const char *directory = path;

    for (; directory && levels > 0; levels--)
        directory = wc_arena_format(m->memory, "%.*s", (int)wc_dir_length(directory), directory);
    return directory;
}

/* The virtual environment or conda's around a file; NULL: none. */
static const char *environment_around(struct making *m, const char *path) {
    for (const char *at = above(m, path, 1); at && at[0] && at[1]; at = above(m, at, 1)) {
        OWNED_GLOB glob_t marks = glob_below(at, "/", "{pyvenv.cfg,conda-meta}", GLOB_BRACE);
        if (marks.gl_pathc > 0)
            return at;
    }
    return NULL;
}

/* A link's mode is that of its target. */
static void add_places_of_file(struct making *m, const char *path) {
    char real[PATH_MAX];
    const char *both[] = {path, realpath(path, real) ? real : NULL};

    trust_path(m->trust, above(m, path, 1));
    trust_path(m->trust, both[1]);
    WC_EACH_ROW(one, both)
        if (*one)
            add_place(m, environment_around(m, *one) ?: above(m, *one, 1));
}

/* "/venv/lib/python3.11/site-packages": all of /venv, which has programs, too. */
static const char *root_of(struct making *m, const char *site) {
    const char *version = above(m, site, 1), *root = above(m, site, 3);

    return version && strncmp(wc_base_name(version), "python", 6) == 0 ? root : site;
}

static void add_places_of_package(struct making *m, const struct edit *e) {
    static const char *const of_system[] = {"/usr", "/etc", "/var", "/opt"};
    const char *home = getenv("HOME");
    struct manager manager;

    manager_of(m->memory, m->user, e->environment, e->name, &manager);
    if (manager_is_tool(&manager, e->kind))
        add_place(m, manager.project);
    trust_path(m->trust, manager.python);
    if (manager.program && strchr(manager.program, '/'))
        trust_path(m->trust, manager.program);
    if (e->environment && strcmp(e->environment, "/") != 0)
        trust_directory(m->trust, e->environment, ""); /* what pip imports, *.pth */
    trust_path(m->trust, ".");                         /* where uv and python -m pip look first */
    if (manager_rows[manager.kind].whose == OF_SYSTEM) {
        if (geteuid() != 0)
            m->out->why = "packages of the system are root's to change";
        WC_EACH_ROW(directory, of_system)
            add_place(m, *directory);
    } else if (!e->environment) {
        m->out->why = "it is not known where that package would go";
    } else if (manager.prefix) {
        add_place(m, manager.prefix);
    } else {
        add_place(m, root_of(m, e->environment));
    }
    /* pip goes there where it may not write elsewhere. */
    if (manager.kind == MANAGER_PIP && home && access(e->environment ?: "/", W_OK))
        add_place(m, wc_arena_format(m->memory, "%s/.local", home));
}

void steps_changes(struct wc_arena *memory, const char *site, const char **changes) {
    struct making m = {.memory = memory};
    const char *root = root_of(&m, site), *environment = environment_around(&m, site);

    changes[0] = site;
    changes[1] = environment && strcmp(environment, root) == 0 /* else there are others' programs */
                     ? wc_arena_format(memory, "%s/bin", root)
                     : NULL;
    changes[2] = changes[3] = NULL;
    if (wc_str_ends(root, "/.venv")) { /* of a project, by uv */
        int n = (int)wc_dir_length(root);
        changes[2] = wc_arena_format(memory, "%.*s/pyproject.toml", n, root);
        changes[3] = wc_arena_format(memory, "%.*s/uv.lock", n, root);
    }
}

static void add_changes(struct making *m, struct step *step) {
    struct manager of;
    char real[PATH_MAX];

    manager_of(m->memory, m->user, step->edit->environment, step->edit->name, &of);
    const char *by = manager_is_tool(&of, step->edit->kind) ? of.add : manager_rows[of.kind].word;
    if ((strcmp(by, "pip") != 0 && strncmp(by, "uv", 2) != 0) ||
        !realpath(step->edit->environment, real)) {
        step->refused = wc_arena_format(m->memory, "what `%s` changes could not be put back", by);
        return;
    }
    steps_changes(m->memory, wc_arena_string(m->memory, real), step->changes);
    if (strcmp(by, "uv add") != 0)
        step->changes[2] = step->changes[3] = NULL;
    WC_EACH(other, *m->out)
        if (other->changes[0] && strcmp(other->changes[0], real) != 0) /* one journal, one place */
            step->refused = "changes of two environments could not be put back";
    WC_EACH_ROW(path, step->changes)
        trust_path(m->trust, *path);
}

static struct step *add(struct making *m, const struct edit *e, enum step_kind kind,
                        const char *text) {
    struct step *step = &m->out->p[m->out->n++];

    *step = (struct step){.kind = kind, .edit = e, .text = text};
    return step;
}

static bool is_name(const char *text) {
    return text && !text[strspn(text, ALPHANUMERIC "._")];
}

/* Those from that one on, n that are made by one command. */
static void add_edit(struct making *m, const struct edits *all, size_t from, size_t n) {
    const struct edit *e = &all->p[from];
    const char *text = text_of(m->memory, &(const struct edits){e, n});
    const char *command = command_of_some(m->memory, all, from, n, false, m->user);
    enum step_kind kind = kind_of(e);

    if (kind == STEP_SAID) {
        m->out->why = "no command can do it";
        add(m, e, kind, text);
        return;
    }
    /* Before all else that Python does, which is before any program's own first import. */
    if (kind == STEP_PYTHON && is_name(e->name) && e->kind == EDIT_IMPORT_FIRST)
        command = wc_arena_format(m->memory, "import %s", e->name);
    else if (kind == STEP_PYTHON && is_name(e->name) && is_name(e->value))
        command = wc_arena_format(m->memory, "import %s; %s.%s()", e->name, e->name, e->value);
    if (!command)
        m->out->why = wc_arena_format(m->memory, "no command is known that can %s", text);
    if (!command || !*command) /* the next one does it */
        return;
    if (e->kind == EDIT_LINKS || e->kind == EDIT_COPY) {
        add_place(m, e->path);
        trust_directory(m->trust, e->kind == EDIT_COPY ? e->target : e->path, ".so");
    } else if (e->kind == EDIT_CACHE) {
        add_place(m, "/etc");
        add_place(m, "/var/cache/ldconfig");
        add_place(m, e->path);
        trust_directory(m->trust, e->path, ".so");
    } else if (kind == STEP_COMMAND && e->path) {
        add_places_of_file(m, e->path);
    } else if (kind == STEP_COMMAND) {
        add_places_of_package(m, e);
    }
    if (e->kind == EDIT_LINK)
        trust_path(m->trust,
                   e->target[0] == '/'
                       ? e->target
                       : wc_arena_format(m->memory, "%s/%s", above(m, e->path, 1), e->target));
    else if (e->kind == EDIT_SET && strchr(e->value, '/'))
        trust_list(m->trust, e->value, strcmp(e->name, "LD_PRELOAD") == 0 ? ": " : ":;",
                   getenv(e->name));
    struct step *step = add(m, e, kind, command);
    if (kind == STEP_COMMAND && !e->path)
        add_changes(m, step);
}

bool steps_are_ours(const struct edits *edits) {
    return edits->n > 0 && !WC_ANY(e, *edits, kind_of(e) == STEP_SAID);
}

const struct repair *job_best_repair(const struct job *j, bool played,
                                     const struct summary_row **row) {
    WC_EACH(found, j->found)
        WC_EACH(r, *report_fixes((*found)->report, (*found)->finding))
            if (steps_are_ours(&r->edits) && (!played || r->checked != REPAIR_NOT_CHECKED)) {
                if (row)
                    *row = *found;
                return r;
            }
    return NULL;
}

void steps_make(struct steps *s, struct wc_arena *memory, const struct edits *edits,
                struct trust *trust) {
    const struct user user = {.files = &disk_files, .path = getenv("PATH"), .yes = true};
    struct trust own = {.why = NULL};
    struct making making = {s, memory, &user, trust ?: &own}, *m = &making;

    *s = (struct steps){.p = wc_arena_take(m->memory, (2 * edits->n + 1) * sizeof(*s->p))};
    if (edits->n == 0)
        s->why = "no command can make this change";
    /* All that is fetched is fetched before the first change. */
    for (size_t i = 0; s->p && i < edits->n; i++) {
        const char *command = command_of_some(memory, edits, i, 1, true, &user);
        if (!command || !*command)
            continue;
        add_places_of_package(m, &edits->p[i]);
        add(m, &edits->p[i], STEP_COMMAND, command);
    }
    for (size_t i = 0, n; s->p && i < edits->n; i += n) {
        for (n = 1; i + n < edits->n && edit_comes_with(&edits->p[i + n - 1], &edits->p[i + n]);)
            n++;
        add_edit(m, edits, i, n);
    }
    if (own.why)
        s->why = wc_arena_string(memory, own.why);
    free(own.why);
}

void steps_trust(struct trust *t, const struct edits *edits) {
    ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
    struct steps steps;

    steps_make(&steps, &memory.arena, edits, t);
}

void steps_json(const struct steps *s, struct wc_arena *memory, json_t *list) {
    static const char *const kinds[] = {"variable", "command", "said", "said"};

    WC_EACH(step, *s) {
        json_t *changes = json_array();
        WC_EACH_ROW(path, step->changes)
            if (*path)
                json_array_append_new(changes, text_to_json(*path));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o}", "kind", kinds[step->kind], "text",
                            text_to_json(step->kind >= STEP_PYTHON
                                             ? text_of(memory, &(struct edits){step->edit, 1})
                                             : step->text),
                            "changes", changes, "refused", text_to_json(step->refused)));
    }
    if (s->why)
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "kind", "said", "refused", text_to_json(s->why)));
}
