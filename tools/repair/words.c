/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

#include "core/base/json_text.h"
#include "core/findings/finding.h"

/* ---- as a sentence ---- */

static const char *environment_name(const struct edit *e) {
    return e->environment ? e->environment : "the system";
}

static const char *text_of(struct wc_arena *m, const struct edit *e) {
    switch (e->kind) {
    case EDIT_SET:
        return wc_arena_format(m, "set %s to %s before the process starts", e->name, e->value);
    case EDIT_UNSET:
        return wc_arena_format(m, "unset %s", e->name);
    case EDIT_IMPORT_FIRST:
        return wc_arena_format(
            m, "load %s before %s (import its package first), so that its own search decides",
            e->name, e->value);
    case EDIT_PRELOADER:
        return wc_arena_format(m, "call %s.%s() first, which loads what it finds in %s", e->name,
                               e->value, environment_name(e));
    case EDIT_REINSTALL:
        return wc_arena_format(m, "install %s%s%s once more, even though it counts as installed",
                               e->name, e->value ? " " : "", e->value);
    case EDIT_INSTALL:
        return wc_arena_format(m, "install %s%s", e->name, e->value);
    case EDIT_REMOVE:
        return wc_arena_format(m, "uninstall %s", e->name);
    case EDIT_MODE:
        return wc_arena_format(m, "let everybody read %s", e->path);
    case EDIT_LINK:
        return wc_arena_format(m, "let a link lead from %s to %s", e->path, e->target);
    case EDIT_DELETE:
        return wc_arena_format(m, "remove %s, which no package has put there", e->path);
    default:
        return NULL;
    }
}

const char *edits_text(struct wc_arena *memory, const struct edits *edits) {
    const char *text = NULL;

    WC_EACH(edit, *edits) {
        const char *one = text_of(memory, edit);
        text = text ? wc_arena_format(memory, "%s, and %s", text, one) : one;
    }
    return text;
}

/* ---- as what is typed ---- */

static bool is_plain(char c) {
    return wc_is_alphanumeric(c) || (c && strchr("/._-+:,=@%", c));
}

/* As it is, or between quotes; NULL: no terminal should get it pasted. */
static const char *quoted(struct wc_arena *m, const char *text) {
    bool plain = text && *text;

    for (const char *p = text; p && *p;) {
        size_t n = wc_utf8_length(p);
        if (n == 0 || wc_utf8_hidden(p, n) || *p == '\'')
            return NULL;
        plain = plain && n == 1 && is_plain(*p);
        p += n;
    }
    return !text ? NULL : plain ? text : wc_arena_format(m, "'%s'", text);
}

static const char *with(struct wc_arena *m, const char *before, const char *text) {
    const char *safe = quoted(m, text);

    return safe && text[0] != '-' ? wc_arena_format(m, "%s%s", before, safe) : NULL;
}

static bool is_conda(const struct edit *e) {
    return e->environment && !wc_str_ends(e->environment, "-packages");
}

static const char *install(struct wc_arena *m, const struct edit *e) {
    const char *what = wc_arena_format(m, "%s%s", e->name, e->value);

    return with(m, is_conda(e) ? "conda install " : "pip install ", what);
}

static const char *reinstall(struct wc_arena *m, const struct edit *e) {
    const char *what = wc_arena_format(m, "%s%s%s", e->name,
                                       !e->value     ? ""
                                       : is_conda(e) ? "="
                                                     : "==",
                                       e->value);

    return with(m,
                is_conda(e) ? "conda install --force-reinstall "
                            : "pip install --force-reinstall --no-deps ",
                what);
}

static const char *command_of(struct wc_arena *m, const struct edit *e) {
    const char *first;

    switch (e->kind) {
    case EDIT_SET:
        return with(m, wc_arena_format(m, "export %s=", e->name), e->value);
    case EDIT_UNSET:
        return with(m, "unset ", e->name);
    case EDIT_REINSTALL:
        return reinstall(m, e);
    case EDIT_INSTALL:
        return install(m, e);
    case EDIT_REMOVE:
        return with(m, is_conda(e) ? "conda remove " : "pip uninstall -y ", e->name);
    case EDIT_MODE:
        return with(m, "chmod a+r ", e->path);
    case EDIT_LINK:
        first = with(m, "ln -s ", e->target);
        return first ? with(m, wc_arena_format(m, "%s ", first), e->path) : NULL;
    case EDIT_DELETE:
        return with(m, "rm ", e->path);
    default:
        return NULL;
    }
}

const char *edits_command(struct wc_arena *memory, const struct edits *edits) {
    const char *command = NULL;

    WC_EACH(edit, *edits) {
        const char *one = command_of(memory, edit);
        if (!one)
            return NULL;
        command = command ? wc_arena_format(memory, "%s && %s", command, one) : one;
    }
    return command;
}

/* ---- the action ---- */

static const char *const words[] = {
#define ACTION(name, word, what) [WC_ACTION_##name] = word,
#include "core/findings/findings.def"
};

static const enum wc_action actions[] = {
#define EDIT(name, word, action, cost, what) WC_ACTION_##action,
#include "edit.def"
};

const char *edits_action(const struct edits *edits) {
    const struct edit *most = NULL;

    WC_EACH(edit, *edits)
        if (!most || edit_cost(&(struct edits){edit, 1}) > edit_cost(&(struct edits){most, 1}))
            most = edit;
    return most ? words[actions[most->kind]] : NULL;
}
