/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What manages an environment: pip, uv, conda, the system's package manager, a project's tool; and
 * for the user that pastes a command. Files are read through the user's view, so that it may be
 * of an overlay or another root.
 */
#pragma once

#include "core/base/files.h"
#include "edit.h"

enum manager_kind {
#define MANAGER(name, ...) MANAGER_##name,
#define SYSTEM(...)
#define TOOL(...)
#include "tools/knowledge/managers.def"
    MANAGERS
};

struct user {
    const struct wc_files *files;
    const char *path;   /* PATH; NULL: not known */
    const char *python; /* with which the site of a user was used; NULL: not known */
    bool yes;           /* no question again */
};

struct manager {
    enum manager_kind kind;
    const char *python;  /* of the environment; NULL: not known */
    const char *program; /* of conda's and rpm's, which one there is */
    const char *lacks;   /* a program of the command that is not in PATH, or the environment's
                            python, by its path; NULL: none */
    const char *prefix;  /* of conda */
    const char *add;     /* as of TOOL in managers.def; NULL: there is no such tool */
    const char *project; /* of that tool */
    bool within;         /* the user is in it */
    const char *folder;  /* of packages, which is of no interpreter; NULL: it is of one */
    bool with_python;    /* pip is "python -m pip" */
    bool without_pip;    /* pip is "pip --python python" */
    bool of_user;        /* site-packages of a user */
    bool is_foreign;     /* another environment reads it: pip would install into that one */
    const char *info;    /* dist-info of the package; NULL: not known */
    bool no_list;        /* which has no RECORD */
    bool protected;      /* PEP 668: pip requires an explicit option */
};

/* A row of MANAGER in managers.def, which explains it. */
struct manager_row {
    const char *word;
    enum { OF_PYTHON, OF_CONDA, OF_SYSTEM } whose;
    const char *sign, *install, *reinstall, *remove, *fetch, *fetched;
};
extern const struct manager_row manager_rows[MANAGERS];

/* environment: site-packages, a conda prefix, or "/" of the system's packages; NULL: not known.
 * package: which one it is about. Texts live in the arena. */
void manager_of(struct wc_arena *memory, const struct user *user, const char *environment,
                const char *package, struct manager *out);
/* Does only that tool make such an edit? */
bool manager_is_tool(const struct manager *m, enum edit_kind kind);
