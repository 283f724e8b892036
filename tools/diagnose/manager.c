/* SPDX-License-Identifier: Apache-2.0 */
/* INSTALLER: PyPA, "Recording installed projects". EXTERNALLY-MANAGED: PEP 668. pyvenv.cfg: PEP
 * 405; uv adds "uv = ". */
#include "manager.h"

#include <string.h>

#include "entries.h"
#include "wheels.h"

const struct manager_row manager_rows[] = {
#define MANAGER(name, word, whose, ...) {word, OF_##whose, __VA_ARGS__},
#define SYSTEM(...)
#define TOOL(...)
#include "tools/knowledge/managers.def"
};

static const struct {
    enum manager_kind kind;
    const char *file, *program;
} systems[] = {
#define MANAGER(...)
#define SYSTEM(name, ...) {MANAGER_##name, __VA_ARGS__},
#define TOOL(...)
#include "tools/knowledge/managers.def"
};

static const struct {
    const char *part, *file, *add;
} tools[] = {
#define MANAGER(...)
#define SYSTEM(...)
#define TOOL(...) {__VA_ARGS__},
#include "tools/knowledge/managers.def"
};

struct asking {
    struct view view;
    const struct user *user;
    const char *package; /* NULL: none */
    const char *site;    /* NULL: environment is a conda prefix */
    const char *root;    /* of the environment: site is root/lib/python3.11/site-packages */
    const char *version; /* "python3.11" in that; NULL: another layout */
    struct manager *out;
};

bool manager_is_tool(const struct manager *m, enum edit_kind kind) {
    return m->add && (m->prefix || kind == EDIT_INSTALL || kind == EDIT_HOST);
}

#define format(a, ...) view_format((a)->view, __VA_ARGS__)

static bool is_there(const struct asking *a, const char *path) {
    return *path && view_has(a->view, path);
}

#define above(a, path) view_directory((a)->view, path)

/* The first directory of PATH that has a program; NULL: none has. */
static const char *directory_with(struct asking *a, const char *program) {
    WC_EACH_ELEMENT(e, a->user->path, ":")
        if (e.n && is_there(a, format(a, "%.*s/%s", (int)e.n, e.p, program)))
            return format(a, "%.*s", (int)e.n, e.p);
    return NULL;
}

/* ---- what Python has there ---- */

/* INSTALLER of the package, or of another one of the environment; "": unknown. */
static const char *installer_of(struct asking *a) {
    const char *package = a->package ?: "", *info = NULL, *text;

    if (wheel_installed(a->view, a->site, format(a, "%.*s", (int)strcspn(package, "["), package),
                        &info)) {
        a->out->info = format(a, "%s/%s", a->site, info);
        a->out->no_list = !is_there(a, format(a, "%s/RECORD", a->out->info));
    }
    EACH_ENTRY(entry, view_entries(a->view, a->site))
        if (!info && wc_str_ends(*entry, ".dist-info") &&
            !fits("@(pip|setuptools|wheel)-*", *entry))
            info = *entry;
    text = info ? view_text(a->view, format(a, "%s/%s/INSTALLER", a->site, info)) : NULL;
    return text ? format(a, "%.*s", (int)strcspn(text, "\n"), text) : "";
}

static void find_python(struct asking *a) {
    const bool of_venv = is_there(a, format(a, "%s/pyvenv.cfg", a->root));
    const char *of_path = directory_with(a, a->version);
    /* Its pip would install into that environment, outside the search path. */
    const bool is_foreign =
        !of_venv && of_path && is_there(a, format(a, "%s/pyvenv.cfg", above(a, of_path)));
    const char *places[] = {format(a, "%s/bin", a->root), is_foreign ? NULL : of_path, "/usr/bin"};
    const char *names[] = {of_venv ? "python" : a->version, is_foreign ? a->version : "python3"};

    for (size_t i = 0; i < (of_venv ? 1 : 3); i++)
        WC_EACH_ROW(name, names) {
            const char *python = places[i] ? format(a, "%s/%s", places[i], *name) : "";
            if (!a->out->python && is_there(a, python))
                a->out->python = python;
        }
    a->out->is_foreign = is_foreign && !a->out->python;
    if (of_venv && !a->out->python &&
        ANY_ENTRY(name, view_entries(a->view, places[0]), wc_str_same(*name, "python")))
        a->out->lacks = format(a, "%s/python", places[0]); /* a link to a Python that has gone */
}

/* The pip that PATH points to, that of the environment, or any other one, given as such. */
static void find_pip(struct asking *a) {
    const char *at_hand = directory_with(a, "pip");
    const char *own = a->out->python ? above(a, a->out->python) : NULL;
    const bool is_apart =
        is_there(a, format(a, "%s/pyvenv.cfg", a->root)) || view_is_conda(a->view, a->root);
    const bool has_pip = !is_apart || is_there(a, format(a, "%s/pip", a->site));

    if (!at_hand && (!own || !has_pip) && !a->out->lacks)
        a->out->lacks = "pip";
    if (!own || (at_hand && has_pip && wc_is_same_file(a->view.files, at_hand, own)))
        return;
    a->out->with_python = has_pip;
    a->out->without_pip = !has_pip;
}

/* PEP 668: the mark is in the standard library. */
static bool is_protected(struct asking *a) {
    const char *real = a->out->python ? view_real_path(a->view, a->out->python) : NULL;

    if (!real)
        return false;
    return is_there(a,
                    format(a, "%s/lib/%s/EXTERNALLY-MANAGED", above(a, above(a, real)),
                           strcmp(a->version, "python3") == 0 ? wc_base_name(real) : a->version));
}

static void find_tool(struct asking *a, const char *root) {
    const char *whole = format(a, "%s/", root);

    WC_EACH_ROW(tool, tools) {
        const char *at = strstr(whole, tool->part);
        const char *project = at ? format(a, "%.*s", (int)(at - whole), whole) : NULL;
        if (!at || a->out->add || !is_there(a, format(a, "%s/%s", project, tool->file)))
            continue;
        a->out->add = tool->add;
        a->out->project = project;
        a->out->within = wc_is_same_file(a->view.files, project, ".");
    }
}

/* ---- conda ---- */

/* Which of conda's programs is installed: that which made the environment first. */
static void find_conda(struct asking *a) {
    const char *history = view_text(a->view, format(a, "%s/conda-meta/history", a->out->prefix));
    const char *places[] = {a->out->prefix,
                            above(a, above(a, a->out->prefix))}; /* BASE/envs/NAME */
    const char *made = history ? strstr(history, "# cmd: ") : NULL;

    made = wc_base_name(made ? format(a, "%.*s", (int)strcspn(made + 7, " \n"), made + 7) : "");
    if (!fits("@(conda|mamba|micromamba)", made))
        made = "conda";
    const char *const programs[] = {made, "conda", "mamba", "micromamba"};
    WC_EACH_ROW(program, programs) {
        if (!a->out->program && directory_with(a, *program))
            a->out->program = *program;
        WC_EACH_ROW(place, places)
            if (!a->out->program && is_there(a, format(a, "%s/bin/%s", *place, *program)))
                a->out->program = format(a, "%s/bin/%s", *place, *program);
    }
    if (!a->out->program)
        a->out->lacks = a->out->program = made;
    a->out->kind = MANAGER_CONDA;
    find_tool(a, a->out->prefix);
}

/* ---- all ---- */

/* What is in /usr/local/lib or in a home may be of another prefix's Python. */
static bool has_interpreter(struct asking *a) {
    const char *const marks[] = {"pyvenv.cfg", "conda-meta", "bin/python", "bin/python3",
                                 format(a, "bin/%s", a->version)};

    return WC_ANY(mark, WC_ROWS(marks), is_there(a, format(a, "%s/%s", a->root, *mark))) ||
           fits("@(/|/usr|/usr/local|*/.local)", a->root);
}

static void ask_python(struct asking *a) {
    /* "/venv/lib/python3.11/site-packages", Debian's "/usr/lib/python3/dist-packages". */
    const char *library = above(a, a->site), *lib = above(a, library), *root = above(a, lib);
    const char *installer = installer_of(a);

    a->version = wc_base_name(library);
    a->root = *root ? root : "/";
    if (!wc_str_starts(a->version, "python") || !wc_str_starts(wc_base_name(lib), "lib") ||
        !has_interpreter(a)) {
        const char *program = strcmp(installer, "uv") == 0 ? installer : "pip";
        a->out->folder = a->site;
        a->out->kind = program == installer ? MANAGER_UV : MANAGER_FOLDER;
        a->out->lacks = directory_with(a, program) ? NULL : program;
        return;
    }
    find_python(a);
    find_pip(a);
    if (view_is_conda(a->view, a->root)) {
        a->out->prefix = a->root;
        if (strcmp(installer, "conda") == 0)
            find_conda(a);
        else if (strcmp(installer, "pip") != 0)
            find_tool(a, a->root);
        return;
    }
    if (is_there(a, format(a, "%s/pyvenv.cfg", a->root))) {
        const char *made = view_text(a->view, format(a, "%s/pyvenv.cfg", a->root));
        find_tool(a, a->root);
        if (a->out->python &&
            ((a->out->add && wc_str_starts(a->out->add, "uv ")) || strcmp(installer, "uv") == 0 ||
             (made && strstr(made, "\nuv = ") && a->out->without_pip)))
            a->out->kind = MANAGER_UV;
        if (a->out->kind == MANAGER_UV)
            a->out->lacks = directory_with(a, "uv") ? NULL : "uv";
        return;
    }
    if ((a->out->of_user = strcmp(wc_base_name(a->root), ".local") == 0) && a->user->python) {
        a->out->python = a->user->python;
        a->out->with_python = true;
    }
    a->out->protected = is_protected(a);
}

void manager_of(struct wc_arena *memory, const struct user *user, const char *environment,
                const char *package, struct manager *out) {
    struct asking a = {.view = {memory, user->files},
                       .user = user,
                       .package = package,
                       .site = environment,
                       .out = out};

    *out = (struct manager){.kind = MANAGER_PIP};
    if (!environment || strcmp(environment, "/") == 0) {
        const bool of_system = environment || (package && wc_str_starts(package, "libcudnn"));
        WC_EACH_ROW(system, systems)
            if (of_system && !out->program && is_there(&a, system->file)) {
                out->kind = system->kind;
                out->program = system->program;
            }
    } else if (view_is_conda(a.view, environment)) {
        out->prefix = environment;
        find_conda(&a);
    } else if (is_there(&a, environment)) {
        ask_python(&a);
    } else {
        out->lacks = directory_with(&a, "pip") ? NULL : "pip";
    }
    if (!user->path)
        out->lacks = NULL;
}
