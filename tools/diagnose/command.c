/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/shown.h"
#include "entries.h"
#include "wheels.h"

enum { NAME_MOST = 64, SPEC_MOST = 96, COMMAND_MOST = 8192 };

struct making {
    struct view view;
    const struct user *user;
    const struct edits *all;
    const struct edit *edit; /* of them */
    struct manager manager;
    const struct edit *gone; /* a package that is removed before this one is installed */
    bool failed;             /* something may not be in a command */
};

static const char *fail(struct making *m) {
    m->failed = true;
    return "";
}

#define format(m, ...) view_format((m)->view, __VA_ARGS__)

static const struct manager_row *row_of(const struct making *m) {
    return &manager_rows[m->manager.kind];
}

/* ---- texts with places ---- */

const char *template_filled(struct wc_arena *memory, const char *text,
                            const char *(*value)(void *ctx, const char *word), void *ctx) {
    const char *made = "";

    while (made && *text) {
        const size_t n = strcspn(text, "{"), place = text[n] ? strcspn(text + n, "}") : 0;
        const char *word = place ? wc_arena_string_n(memory, text + n + 1, place - 1) : NULL;
        const char *others = word ? strchr(word, '|') : NULL, *found = "";
        if (others)
            word = wc_arena_string_n(memory, word, (size_t)(others - word));
        if (word)
            found = value(ctx, word) ?: others ? others + 1 : NULL;
        made = found ? wc_arena_format(memory, "%s%.*s%s", made, (int)n, text, found) : NULL;
        text += n + place + (place > 0);
    }
    return made;
}

/* ---- what may be in a command ---- */

/* Letters, digits and the characters of a literal only. */
#define is_of(text, also) (!(text)[strspn(text, ALPHANUMERIC also)])

/* As it is, or between quotes. */
static const char *quoted(struct making *m, const char *text) {
    char shown[WC_SHOWN_MOST];
    size_t used;

    if (!text)
        return fail(m);
    for (const char *s = text; *s; s += used)
        if (*s == '\'' || wc_shown(s, shown, &used) != used)
            return fail(m); /* such a name of a directory is a trick */
    return *text && is_of(text, "_@%+=:,./-") ? text : format(m, "'%s'", text);
}

static const char *quoted_path(struct making *m, const char *path) {
    return path && path[0] == '/' ? quoted(m, path) : fail(m);
}

static const char *name_of(struct making *m) {
    const char *name = m->edit->name;

    if (!name || !wc_is_alphanumeric(name[0]) || strlen(name) > NAME_MOST ||
        !is_of(name, "-_.+:[],"))
        return fail(m);
    return name;
}

/* ---- releases ---- */

/* Conda's "=9.8" is PEP 440's "==9.8.*"; ".*" behind "==" it does not know. */
static const char *conda_spec(struct making *m, const char *spec) {
    const char *made = "";

    while (*spec) {
        const size_t n = strcspn(spec, ",");
        const bool any = n > 4 && wc_str_starts(spec, "==") && strncmp(spec + n - 2, ".*", 2) == 0;
        made = format(m, "%s%s%.*s", made, *made ? "," : "", (int)n - (any ? 3 : 0), spec + any);
        spec += n + (spec[n] != '\0');
    }
    return made;
}

/* The release that exists, as each of them writes it; "": the name is enough. */
static const char *exact(struct making *m) {
    const char *name = name_of(m), *release = m->edit->value ?: "";
    const char *sign = row_of(m)->sign;

    if (strncmp(release, "==", 2) == 0)
        release += 2;
    if (m->failed || strlen(release) > SPEC_MOST || !is_of(release, ".+-~:_"))
        return fail(m);
    return *release ? quoted(m, format(m, "%s%s%s", name, sign, release)) : quoted(m, name);
}

static const char *wanted(struct making *m) {
    const char *name = name_of(m), *spec = m->edit->value ?: "";

    if (m->failed || strlen(spec) > SPEC_MOST || !is_of(spec, "=<>!~.,*+-:_") ||
        (*spec && !strchr("=<>!~", *spec)))
        return fail(m);
    if (row_of(m)->whose == OF_SYSTEM)
        return exact(m);
    return quoted(
        m, format(m, "%s%s", name, row_of(m)->whose == OF_CONDA ? conda_spec(m, spec) : spec));
}

/* ---- a manager's command ---- */

/* What pip's configuration says for names of that pattern; NULL: nothing. */
static const char *configured(struct making *m, const char *pattern) {
    const char *home = getenv("HOME") ?: "";
    const char *const files[] = {getenv("PIP_CONFIG_FILE"),
                                 format(m, "%s/../../../pip.conf", m->edit->environment),
                                 format(m, "%s/.config/pip/pip.conf", home),
                                 format(m, "%s/.pip/pip.conf", home), "/etc/pip.conf"};

    if (wc_str_same(files[0], "/dev/null"))
        return NULL;
    WC_EACH_ROW(file, files)
        for (char *rest = *file ? view_text(m->view, *file) : NULL, *line;
             (line = strsep(&rest, "\n"));)
            if (fits(pattern, line))
                return strchr(line, '=') + 1;
    return NULL;
}

/* A file of constraints names that package: with another release, or the requirement
 * would be met. */
static bool is_constrained(struct making *m) {
    const char *files = getenv("PIP_CONSTRAINT") ?: configured(m, "constraint*( )=*");

    WC_EACH_ELEMENT(e, m->edit->kind == EDIT_REMOVE ? NULL : files, " ") {
        char *rest = view_text(m->view, format(m, "%.*s", (int)e.n, e.p));
        for (const char *line; (line = strsep(&rest, "\n"));)
            if (wheel_is_name(line, strcspn(line, " =<>!~;[#"), m->edit->name))
                return true;
    }
    return false;
}

/* What of the user's settings would send pip elsewhere, to another release, or refuse what is asked
 * for, is not heeded. */
static const char *settings(struct making *m) {
    static const char *const elsewhere[] = {
        "PIP_TARGET",    "PIP_PREFIX",  "PIP_ROOT",           "PIP_USER",
        "PIP_PYTHON",    "PIP_DRY_RUN", "PIP_REQUIRE_HASHES", "PIP_REQUIRE_VIRTUALENV",
        "PIP_NO_BINARY", "PYTHONPATH"};
    const char *made = "", *at = strstr(m->edit->environment ?: "", "/.local/");
    const char *home =
        at ? format(m, "%.*s", (int)(at - m->edit->environment), m->edit->environment) : "";

    WC_EACH_ROW(name, elsewhere)
        if (getenv(*name))
            made = format(m, "%s-u %s ", made, *name);
    if (m->manager.of_user && !wc_str_same(home, getenv("HOME")))
        made = format(m, "%sHOME=%s ", made, quoted_path(m, home));
    if (configured(m, "@(target|prefix|root|user|python|dry-run|require-*|no-binary)*( )=*"))
        made = format(m, "%sPIP_CONFIG_FILE=/dev/null ", made);
    if (is_constrained(m)) /* which replaces that of a file, too */
        made = format(m, "%sPIP_CONSTRAINT=/dev/null ", made);
    return *made ? format(m, "env %s", made) : "";
}

static const char *pip(struct making *m) {
    const char *before = settings(m);

    if (m->manager.with_python)
        return format(m, "%s%s -m pip", before, quoted_path(m, m->manager.python));
    if (m->manager.without_pip)
        return format(m, "%spip --python %s", before, quoted_path(m, m->manager.python));
    return format(m, "%spip", before);
}

/* A pasted command has it in the working directory: it can be written to, or nothing is
 * fetched and nothing removed. */
static const char *folder(struct making *m) {
    const char *environment = m->edit->environment, *name = "cudnn-wheels";

    for (int n = 2; !m->user->yes && access(name, F_OK) == 0; n++) /* all that it has is copied */
        name = format(m, "cudnn-wheels-%d", n);
    if (!m->user->yes)
        return name;
    return environment ? quoted_path(m, format(m, "%s/" COMMAND_UNDO "/fetched", environment))
                       : fail(m);
}

/* The wheel that has the libraries of an archive. None is for a Jetson. */
static const char *archived(struct making *m) {
    const struct edit *e = m->edit;
    const char *package = format(m, "nvidia-cudnn-cu%s", e->target);
    const char *set = e->value ?: "", *pinned = wc_str_starts(set, "==") ? ".*" : "";
    const char *release = wheel_newest(package, format(m, "%s%s", set, pinned));
    struct manager of_new_folder;

    manager_of(m->view.memory, m->user, "/new folder", package, &of_new_folder);
    if (!e->target || !release || of_new_folder.lacks || !wc_str_same(e->name, "cudnn") ||
        view_has(m->view, "/etc/nv_tegra_release"))
        return fail(m);
    return quoted(m, format(m, "%s%s%s", package, *pinned ? "==" : "", *pinned ? release : set));
}

/* The names that a wheel does not have: that without a number, which may be another major's, and
 * those with all of it, where the release is known: the facade asks for its parts by them first. */
static const char *links(struct making *m) {
    const char *set = m->edit->value ?: "", *path = quoted_path(m, m->edit->path);
    const struct wc_version of = wc_text_floor(set), release = {of.major, of.minor, of.patch, -1},
                            next = {of.major, of.minor, of.patch + 1, -1};
    const char *real = view_real_path(m->view, format(m, "%s/libcudnn.so", m->edit->path));
    const int32_t there = wc_name_is_cudnn(real) ? wc_name_read(real).version.major : -1;
    const char *made =
        there > 0 && there != of.major
            ? ""
            : format(m, " && ln -sfn libcudnn.so.%d %s/libcudnn.so", (int)of.major, path);

    return of.patch >= 0 && wc_text_accepts(set, next) == WC_NO
               ? format(m,
                        "%s && find %s -maxdepth 1 -name 'libcudnn*.so.%d' "
                        "-execdir ln -sfn {} {}%s \\;",
                        made, path, (int)of.major, strchr(view_version(m->view, release), '.'))
               : made;
}

static const char *gone(struct making *m) {
    struct making of = {.view = m->view, .user = m->user, .edit = m->gone};
    const char *name = name_of(&of);

    m->failed = m->failed || of.failed || !wc_str_same(m->gone->environment, m->edit->environment);
    return name;
}

static const char *expand(struct making *m, const char *text);

/* ---- what is in the command of an edit ---- */

static const char *variable(struct making *m) {
    const char *name = m->edit->name;

    if (!name || !*name || wc_is_digit(name[0]) || strlen(name) > NAME_MOST || !is_of(name, "_"))
        return fail(m);
    return name;
}

static const char *target(struct making *m) {
    const char *to = m->edit->target;

    return to && to[0] && to[0] != '-' ? quoted(m, to) : fail(m);
}

/* The kernel lets its owner do so, and root. */
static bool may_change(const char *path) {
    struct stat facts;

    return geteuid() == 0 || stat(path, &facts) != 0 || facts.st_uid == geteuid();
}

static bool is_replaced(const struct making *m, const struct edit *e, const struct edit *by) {
    return edit_is_replaced(e, by) && !wc_is_directory(m->view.files, e->path);
}

static bool is_file_removed(const struct making *m, const struct edit *e) {
    return e && e->kind == EDIT_DELETE && !wc_is_directory(m->view.files, e->path);
}

static const char *removal(struct making *m) {
    return format(m, "%s %s", is_file_removed(m, m->edit) ? "rm" : "rmdir",
                  quoted_path(m, m->edit->path));
}

/* Is one of the files that are to be read in directory `path`, by a name that begins so? */
static bool has_target(const struct edit *e, const char *beginning) {
    const char *path = e->path ?: "";
    const size_t n = strlen(path);

    WC_EACH_ELEMENT(one, n ? e->target : NULL, ":")
        if (strncmp(one.p, path, n) == 0 && one.p[n] == '/' &&
            wc_str_starts(one.p + n + 1, beginning) && !memchr(one.p + n + 1, '/', one.n - n - 1))
            return true;
    return false;
}

/* What libraries lie in is listed, too; what is above it is passed through. */
static const char *mode_of(const struct edit *e) {
    return !e->target ? "r" : has_target(e, "") ? "rx" : "x";
}

/* After the directory, which the shell has to read for it. Not where the owner may not enter it:
 * other owners' files may be in it. */
static const char *cudnn(struct making *m) {
    const struct edit *e = m->edit;

    return has_target(e, "libcudnn") &&
                   (geteuid() == 0 || !may_change(e->path) || access(e->path, X_OK) == 0)
               ? format(m, " && chmod a+r %s/libcudnn*", quoted_path(m, e->path))
               : "";
}

static const char *cleared(struct making *m) {
    return m->edit->path
               ? format(m, "find %s -maxdepth 1 -type l ! -exec test -e {} \\; -delete && ",
                        quoted_path(m, m->edit->path))
               : "";
}

/* Otherwise pip installs another release of it than is there. */
static const char *nodeps(struct making *m) {
    const char *release = wheel_newest(m->edit->name, m->edit->value ?: "");
    const char *site = m->edit->environment;
    const struct entries known =
        wheel_required(m->view.memory, m->edit->name, wheel_version(release ?: ""));
    struct requirements all = {NULL, 0};

    if (m->manager.info)
        requirements_add(&all, m->view.memory,
                         view_text(m->view, format(m, "%s/METADATA", m->manager.info)));
    const bool lacks =
        m->manager.info
            ? WC_ANY(q, all,
                     requirement_is_known(q) && !wheel_installed(m->view, site, q->package, NULL))
            : WC_ANY(other, known, !wheel_installed(m->view, site, *other, NULL));
    free(all.p);
    return lacks && m->edit->kind == EDIT_INSTALL ? "" : " --no-deps";
}

static const char *unlisted(struct making *m) {
    return m->manager.info && (m->manager.no_list || m->manager.kind == MANAGER_FOLDER)
               ? format(m, "rm -r %s && ", quoted_path(m, m->manager.info))
               : "";
}

static const char *replacing(struct making *m) {
    const struct edit *e = m->edit;
    struct stat facts; /* of a link that leads nowhere, or to itself: then the name is taken */

    return (e->path && lstat(e->path, &facts) == 0 && S_ISLNK(facts.st_mode)) ||
                   (e > m->all->p && is_replaced(m, e - 1, e))
               ? "-sfn"
               : "-s";
}

#define IS(known) (strcmp(word, known) == 0) /* of a place */
static const char *value_of(void *making, const char *word) {
    static const struct {
        const char *word;
        const char *(*value)(struct making *);
    } made[] = {{"wanted", wanted},     {"exact", exact},         {"pip", pip},
                {"gone", gone},         {"folder", folder},       {"cudnn", cudnn},
                {"variable", variable}, {"target", target},       {"cleared", cleared},
                {"unlisted", unlisted}, {"removal", removal},     {"nodeps", nodeps},
                {"archived", archived}, {"replacing", replacing}, {"links", links}};
    struct making *m = making;
    const struct manager *by = &m->manager;
    const struct edit *e = m->edit;
    const bool again = e->kind == EDIT_REINSTALL;

    WC_EACH_ROW(row, made)
        if (strcmp(row->word, word) == 0)
            return row->value(m);
    return IS("yes")       ? (m->user->yes ? " -y" : "")
           : IS("forced")  ? (by->no_list ? "--ignore-installed" : "--force-reinstall")
           : IS("deps")    ? (again ? " --no-deps" : "")
           : IS("options") ? format(m, "%s%s", by->protected ? " --break-system-packages" : "",
                                    by->of_user && e->kind != EDIT_REMOVE ? " --user" : "")
           : IS("into")    ? format(m, "--%s %s", by->folder ? "target" : "python",
                                    quoted_path(m, by->folder ?: by->python))
           : IS("name")    ? quoted(m, name_of(m))
           : IS("major")   ? format(m, "%d", (int)wc_text_floor(e->value ?: "").major)
           : IS("mode")    ? (may_change(e->path) ? mode_of(e) : fail(m))
           : IS("path")    ? quoted_path(m, e->path)
           : IS("prefix")  ? quoted_path(m, by->prefix)
           : IS("site")    ? quoted_path(m, e->environment)
           : IS("spec")    ? (again ? exact(m) : wanted(m))
           : IS("fetched") ? (m->gone ? expand(m, row_of(m)->fetched) : "")
                           : quoted(m, IS("program") ? by->program : e->value);
}

static const char *expand(struct making *m, const char *text) {
    return template_filled(m->view.memory, text, value_of, m) ?: fail(m);
}

/* ---- of a package ---- */

static bool installs(const struct edit *e) {
    return e->kind == EDIT_INSTALL || e->kind == EDIT_REINSTALL || e->kind == EDIT_HOST;
}

/* The file of the project that has a release of the package for uv, whatever else asks for it:
 * `uv add` then changes nothing, or is refused. NULL: there is none. */
static const char *overriding(struct making *m) {
    const char *file = format(m, "%s/pyproject.toml", m->manager.project);
    const char *text = view_text(m->view, file) ?: "";
    const char *at =
        strstr(text, "override-dependencies") ?: strstr(text, "constraint-dependencies");
    const char *named = at ? strstr(at, format(m, "\"%s", m->edit->name)) : NULL;

    return named && !memchr(at, ']', (size_t)(named - at)) ? file : NULL;
}

static const char *of_package(struct making *m, bool fetches) {
    const struct edit *e = m->edit;

    manager_of(m->view.memory, m->user, e->environment, e->name, &m->manager);
    if (manager_is_tool(&m->manager, e->kind)) {
        /* Only the project's tool may add to what its project asks for; it cannot fetch before. */
        const struct manager *by = &m->manager;
        if (m->gone || !*by->add)
            return fail(m);
        if (fetches)
            return "";
        const char *in = by->within ? "" : format(m, "env -C %s ", quoted_path(m, by->project));
        const char *spec = wanted(m), *file = overriding(m);
        return file ? format(m, "sed -i 's/\"%s[^\"]*\"/\"%s%s\"/' %s && %suv sync", e->name,
                             e->name, e->value ?: "", quoted_path(m, file), in)
                    : format(m, "%s%s %s", in, by->add, spec);
    }
    /* What has no list pip and uv refuse to remove. */
    if (m->manager.is_foreign || *(m->manager.lacks ?: "") == '/' ||
        (e->kind == EDIT_REMOVE && (m->manager.no_list || !*row_of(m)->remove)))
        return fail(m);
    if (e->kind == EDIT_INSTALL && e->path)
        return format(m, "%s install --no-deps --target %s %s", pip(m), quoted_path(m, e->path),
                      wanted(m));
    if (m->gone && (m->manager.folder || !*row_of(m)->fetched)) /* there may be less than before */
        return fail(m);
    return expand(m, fetches                                              ? row_of(m)->fetch
                     : e->kind == EDIT_REMOVE                             ? row_of(m)->remove
                     : e->kind == EDIT_REINSTALL && *row_of(m)->reinstall ? row_of(m)->reinstall
                                                                          : row_of(m)->install);
}

/* Is it done by the command of the next edit? apt-get removes a package in the transaction that
 * installs the other. */
static bool is_in_next(struct making *m) {
    const struct edit *e = m->edit, *next = e + 1;

    if (next == m->all->p + m->all->n)
        return false;
    if (is_replaced(m, e, next))
        return true;
    if (e->kind != EDIT_REMOVE || !installs(next))
        return false;
    manager_of(m->view.memory, m->user, next->environment, next->name, &m->manager);
    return strstr(row_of(m)->fetched, "{gone}") != NULL;
}

/* In a line of a file: another value could be more than one word there. */
static const char *in_line(struct making *m) {
    const struct edit *e = m->edit;
    const char *value = e->value ?: "";
    const char *place = e->target ? strchr(e->target, '\n') : NULL;

    if (!place || !(e->kind == EDIT_PIN ? is_of(value, "=<>!~.,*+-_") : is_of(value, "_@%+=:,./-")))
        return fail(m);
    return format(m, "sed -i '%.*s%s%s' %s", (int)(place - e->target), e->target, value, place + 1,
                  quoted_path(m, e->path));
}

static const char *one(struct making *m) {
    const struct edit *e = m->edit;

    if (e->by)
        return in_line(m); /* no shell of the user's has a say in it */
    if (is_in_next(m))
        return "";
    if (installs(e) || e->kind == EDIT_REMOVE)
        return of_package(m, false);
    return *edit_rows[e->kind].command ? expand(m, edit_rows[e->kind].command) : fail(m);
}

/* Only the package, or file, after one that the same command of the same manager installs, each of
 * which ends with what is wanted; NULL: it takes a command of its own. */
static const char *one_more(struct making *m, const struct edit *before) {
    const struct manager was = m->manager, *by = &m->manager;

    if (is_file_removed(m, before) && is_file_removed(m, m->edit))
        return quoted_path(m, m->edit->path);
    if (!edit_comes_with(before, m->edit))
        return NULL;
    manager_of(m->view.memory, m->user, m->edit->environment, m->edit->name, &m->manager);
    if (by->kind != was.kind || by->kind == MANAGER_FOLDER)
        return NULL;
    return m->edit->kind == EDIT_INSTALL                  ? wanted(m)
           : by->no_list == was.no_list && !m->edit->path ? exact(m)
                                                          : NULL;
}

const char *command_of_some(struct wc_arena *memory, const struct edits *all, size_t from, size_t n,
                            bool fetches, const struct user *user) {
    struct making m = {.view = {memory, user->files}, .user = user, .all = all};
    const char *command = "", *more, *made;
    const struct edit *before = NULL;

    for (size_t i = 0; i < from + n; i++) {
        m.edit = &all->p[i];
        if (i >= from && (!fetches || (m.gone && installs(m.edit)))) {
            more = fetches ? NULL : one_more(&m, before);
            made = more ?: fetches ? of_package(&m, true) : one(&m);
            command = wc_arena_format(memory, "%s%s%s", command,
                                      !*command || !*made ? ""
                                      : more              ? " "
                                                          : " && ",
                                      made);
            before = m.edit;
        }
        if (m.edit->kind == EDIT_REMOVE)
            m.gone = m.edit;
    }
    return m.failed || strlen(command) > COMMAND_MOST ? NULL : command;
}

const char *command_of(struct wc_arena *memory, const struct edits *edits,
                       const struct user *user) {
    const char *fetch = command_of_some(memory, edits, 0, edits->n, true, user);
    const char *change = command_of_some(memory, edits, 0, edits->n, false, user);

    if (!fetch || !change || !*change)
        return NULL;
    return wc_arena_format(memory, "%s%s%s", fetch, *fetch ? " && " : "", change);
}

const char *command_lacks(struct wc_arena *memory, const struct edits *edits,
                          const struct user *user) {
    struct manager m;

    WC_EACH(e, *edits)
        if (installs(e) || e->kind == EDIT_REMOVE) {
            manager_of(memory, user, e->environment, e->name, &m);
            if (m.lacks && !manager_is_tool(&m, e->kind))
                return m.lacks;
        }
    return NULL;
}

/* ---- sentences ---- */

/* "NAME 2.8.0" of a release, "NAME>=2.8" of a set of them. */
static const char *package(struct wc_arena *memory, const struct edit *e) {
    const char *value = e->value ?: "";

    return wc_arena_format(memory, "%s%s%s", e->name ?: "the package",
                           wc_is_digit(*value) ? " " : "", value);
}

/* "cuDNN >=9.8,<10 for CUDA 12". A set that begins at the newest known
 * release is not a requirement: the release that the host was made with is not known. */
static const char *placed(struct wc_arena *memory, const struct edit *e) {
    const bool is_cudnn = wc_str_same(e->name, "cudnn");
    const char *set = e->value && wc_str_starts(e->value, "==") ? e->value + 2 : e->value ?: "";
    const char *newest =
        is_cudnn && wc_str_starts(set, ">=")
            ? wheel_newest(wc_arena_format(memory, "nvidia-cudnn-cu%s", e->target ?: "12"), set)
            : NULL;
    struct wc_version v = wheel_version(newest ?: "");
    char text[WC_VERSION_TEXT];

    v.build = -1;
    if (newest && wc_version_compare(v, wheel_version(set + 2)) == 0)
        set = wc_arena_format(memory, "%d (%s or later)", (int)v.major, wc_version_format(v, text));
    else
        newest = NULL;
    return wc_arena_format(memory, "%s%s%s%s%s%s", newest ? "the newest " : "",
                           is_cudnn ? "cuDNN" : e->name, *set ? " " : "", set,
                           e->target ? " for CUDA " : "", e->target);
}

static const char *plain_of(void *making, const char *word) {
    struct making *m = making;
    const struct edit *e = m->edit;
    const bool has_value = e->value && *e->value;
    const char *path = quoted_path(m, e->path); /* that may not be in a command: it fails */

    return IS("name")      ? e->name ?: "?"
           : IS("value")   ? (has_value ? e->value : NULL)
           : IS("path")    ? e->path ?: "?"
           : IS("target")  ? e->target ?: "?"
           : IS("by")      ? e->by
           : IS("package") ? package(m->view.memory, e)
           : IS("required")
               ? (!e->because             ? ""
                  : e->kind == EDIT_PLACE ? e->because
                                          : format(m, ", which %s requires", e->because))
           : IS("apart")    ? (e->path ? format(m, " into %s", e->path) : "")
           : IS("placed")   ? placed(m->view.memory, e)
           : IS("allowed")  ? (e->target ? "enter" : "read")
           : IS("cudnn")    ? (has_target(e, "libcudnn") ? " and read its cuDNN" : "")
           : IS("as owner") ? (m->failed || may_change(e->path)
                                   ? ""
                                   : format(m, ", as its owner or root: chmod a+%s %s%s",
                                            mode_of(e), path, cudnn(m)))
           : IS("host")     ? (has_value ? package(m->view.memory, e)
                                         : format(m, "another release of %s", e->name ?: "?"))
           : IS("driver")   ? (has_value ? format(m, "driver %s", e->value) : "the driver")
                            : NULL;
}

const char *text_of(struct wc_arena *memory, const struct edits *edits) {
    const char *text = "", *names = NULL;
    const struct edit *before = NULL;

    for (size_t i = 0; i < edits->n; i++) {
        struct edit e = edits->p[i];
        const bool more = edit_comes_with(before, &e);
        before = &edits->p[i];
        if (names)
            e.name = wc_arena_format(memory, "%s, %s", names, e.name);
        const struct edit *next = i + 1 < edits->n ? before + 1 : NULL;
        const bool together = next && e.kind == EDIT_PLACE && next->kind == EDIT_PLACE &&
                              !e.value && !next->value && wc_str_same(e.path, next->path);
        names = together ? e.name : NULL; /* libraries that are put into one directory */
        if (names)
            continue;
        struct making m = {.view.memory = memory, .edit = &e};
        const char *sentence =
            e.by && e.kind == EDIT_SET     ? "let {by} start the process with {name}={value|}"
            : e.by && e.kind == EDIT_UNSET ? "let {by} start the process without {name}"
                                           : edit_rows[e.kind].sentence;
        text = wc_arena_format(memory, "%s%s%s", text,
                      more    ? ", "
                      : *text ? ", then "
                              : "",
                      more ? package(memory, &e)
                           : template_filled(memory, sentence, plain_of, &m) ?: "");
    }
    return text;
}
