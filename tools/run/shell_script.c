/* SPDX-License-Identifier: Apache-2.0 */
#include "shell_script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/util/disk.h"
#include "tools/util/memory.h"

#define PROGRAMS_MOST 32
#define SCRIPT_MOST (64u << 10)
#define LEVELS_MOST 4 /* scripts that start scripts */

struct variable {
    char *name, *value;
    bool exported, unknown;
};

struct word {
    char *text;
    bool unknown;
};

struct words {
    struct word *p;
    size_t n;
};

struct shell {
    struct shell_programs *out;
    struct variable *variables;
    size_t n;
    struct words arguments; /* $0, $1 ... */
    char *directory;        /* NULL: not known */
    int blocks;             /* if, for ...: what is in them may not be done */
    int level;              /* of scripts */
    bool lost, ended;       /* lost: anything may have become of the variables */
    bool conditional;       /* behind && or || */
    bool unsure;            /* of what follows nobody can say whether it is done */
    bool strict, pipefail;  /* set -e, set -o pipefail */
    bool goes_on;           /* the status of the command that is read is passed on by nobody */
};

static void run_words(struct shell *s, const struct word *w, size_t n);
static void run_text(struct shell *s, const char *text);

static void words_end(struct words *w) {
    for (size_t i = 0; i < w->n; i++)
        free(w->p[i].text);
    free(w->p);
}

static bool is_one_of(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* ---- variables ---- */

static struct variable *find_variable(const struct shell *s, const char *name, size_t n) {
    for (size_t i = 0; i < s->n; i++)
        if (strlen(s->variables[i].name) == n && strncmp(s->variables[i].name, name, n) == 0)
            return &s->variables[i];
    return NULL;
}

static struct variable *need_variable(struct shell *s, const char *name, size_t n) {
    struct variable *v = find_variable(s, name, n);

    if (!v) {
        v = MUST_ADD(s->variables, s->n);
        *v = (struct variable){must_format("%.*s", (int)n, name), must_copy(""), false, false};
    }
    return v;
}

static void set_value(const struct shell *s, struct variable *v, const char *value, bool unknown) {
    free(v->value);
    v->value = must_copy(value ? value : "");
    v->unknown = unknown || s->blocks > 0;
}

static size_t name_length(const char *text) {
    size_t n = 0;

    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return isdigit((unsigned char)text[0]) ? 0 : n;
}

static bool is_assignment(const struct word *w) {
    size_t n = name_length(w->text);

    return n > 0 && w->text[n] == '=';
}

/* "NAME=value", or "NAME" alone, as export has it. */
static struct variable *assign(struct shell *s, const struct word *w) {
    size_t n = name_length(w->text);
    struct variable *v = n > 0 ? need_variable(s, w->text, n) : NULL;

    if (v && w->text[n] == '=')
        set_value(s, v, w->text + n + 1, w->unknown);
    return v;
}

static void assign_exported(struct shell *s, const struct word *w) {
    struct variable *v = assign(s, w);

    if (v)
        v->exported = true;
}

static void shell_begin(struct shell *s, const struct shell *from) {
    *s = (struct shell){.out = from->out,
                        .directory = must_copy(from->directory),
                        .level = from->level + 1,
                        .lost = from->lost,
                        .unsure = from->unsure || from->conditional || from->blocks > 0,
                        .goes_on = from->goes_on};
    for (size_t i = 0; i < from->n; i++) {
        const struct variable *v = &from->variables[i];
        if (v->exported)
            *MUST_ADD(s->variables, s->n) =
                (struct variable){must_copy(v->name), must_copy(v->value), true, v->unknown};
    }
    set_value(s, need_variable(s, "PWD", 3), s->directory, !s->directory);
}

static void shell_end(struct shell *s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->variables[i].name);
        free(s->variables[i].value);
    }
    free(s->variables);
    words_end(&s->arguments);
    free(s->directory);
}

/* ---- words ---- */

struct text {
    char *p; /* NULL: what is put is thrown away */
    size_t n;
    bool unknown;
};

static void put(struct text *to, const char *from, size_t n) {
    if (!to->p)
        return;
    to->p = must_grow(to->p, to->n + n + 1);
    memcpy(to->p + to->n, from, n);
    to->p[to->n += n] = '\0';
}

static const char *skip_to(const char *at, char end) {
    const char *found = strchr(at, end);

    return found ? found + 1 : at + strlen(at);
}

static const char *expand(const struct shell *s, const char *at, struct text *to);

/* Behind "${NAME:-": up to the brace. */
static const char *expand_to_brace(const struct shell *s, const char *at, struct text *to) {
    while (*at && *at != '}')
        if (*at == '$') {
            at = expand(s, at + 1, to);
        } else {
            if (*at != '"')
                put(to, at, 1);
            at++;
        }
    return at + (*at == '}');
}

static void put_variable(const struct shell *s, const char *name, size_t n, struct text *to) {
    const struct variable *v = find_variable(s, name, n);

    if (v && v->unknown && to->p)
        to->unknown = true;
    if (v)
        put(to, v->value, strlen(v->value));
}

static const char *expand_in_braces(const struct shell *s, const char *name, struct text *to) {
    size_t n = name_length(name);
    const char *rest = name + n;
    bool colon = *rest == ':';
    const struct variable *v = find_variable(s, name, n);
    bool set = v && (*v->value || (!colon && v->exported));
    struct text none = {NULL, 0, false};

    if (n && *rest == '}') {
        put_variable(s, name, n, to);
        return rest + 1;
    }
    rest += colon;
    if (!n || (*rest != '-' && *rest != '+')) {
        to->unknown = true;
        return skip_to(name, '}');
    }
    to->unknown = to->unknown || (v && v->unknown && to->p);
    if (*rest == '-' && set)
        put_variable(s, name, n, to);
    return expand_to_brace(s, rest + 1, set == (*rest == '+') ? to : &none);
}

/* at: behind the '$'. */
static const char *expand(const struct shell *s, const char *at, struct text *to) {
    size_t n = name_length(at), number;

    if (*at == '{')
        return expand_in_braces(s, at + 1, to);
    if (n) {
        put_variable(s, at, n, to);
        return at + n;
    }
    if (isdigit((unsigned char)*at)) {
        number = (size_t)(*at - '0');
        if (number < s->arguments.n)
            put(to, s->arguments.p[number].text, strlen(s->arguments.p[number].text));
        return at + 1;
    }
    to->unknown = to->unknown || to->p;
    return *at == '(' ? skip_to(at, ')') : at + (*at != '\0');
}

static void add_word(struct words *w, const char *text, bool unknown) {
    *MUST_ADD(w->p, w->n) = (struct word){must_copy(text), unknown};
}

static const char *read_word(const struct shell *s, const char *at, struct words *w) {
    struct text t = {must_copy(""), 0, false};
    bool quoted = false;

    while (*at && (quoted || !strchr(" \t\n;&|()<>", *at)))
        if (*at == '"') {
            quoted = !quoted;
            at++;
        } else if (*at == '\'' && !quoted) {
            size_t n = strcspn(at + 1, "'");
            put(&t, at + 1, n);
            at += 1 + n + (at[1 + n] == '\'');
        } else if (*at == '\\' && at[1]) {
            put(&t, at + 1, at[1] != '\n');
            at += 2;
        } else if (*at == '$') {
            at = expand(s, at + 1, &t);
        } else if (*at == '`') {
            t.unknown = true;
            at = skip_to(at + 1, '`');
        } else {
            put(&t, at++, 1);
        }
    add_word(w, t.p, t.unknown);
    free(t.p);
    return at;
}

static const char *all_arguments(const char *at) {
    static const char *const forms[] = {"\"$@\"", "$@", "$*"};

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strncmp(at, forms[i], strlen(forms[i])) == 0)
            return at + strlen(forms[i]);
    return NULL;
}

/* Up to what ends a command. */
static const char *read_command(const struct shell *s, const char *at, struct words *w) {
    const char *behind;

    for (;;) {
        at += strspn(at, " \t");
        if (at[0] == '\\' && at[1] == '\n') {
            at += 2;
        } else if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (*at == '<' || *at == '>') { /* and the file, which is no word of the command */
            struct words file = {NULL, 0};
            at += strspn(at, "<>&|");
            at = read_word(s, at + strspn(at, " \t"), &file);
            words_end(&file);
        } else if (!*at || strchr("\n;&|()", *at)) {
            return at;
        } else if ((behind = all_arguments(at))) {
            for (size_t i = 1; i < s->arguments.n; i++)
                add_word(w, s->arguments.p[i].text, s->arguments.p[i].unknown);
            at = behind;
        } else {
            at = read_word(s, at, w);
        }
    }
}

/* "name() {": what is in it is done where it is called, if it is. */
static const char *skip_function(const char *at) {
    const char *end = strstr(at, "\n}");

    return end ? end + 2 : at + strlen(at);
}

/* Does what stands behind a command let its status go? */
static bool is_passed_over(const struct shell *s, const char *behind) {
    const char *rest = behind + strspn(behind, " \t\n;&|()");

    if (!*rest || strstr(rest, "$?") || strstr(rest, "wait"))
        return false;
    if (strncmp(behind, "&&", 2) == 0) /* with what is behind it, it fails */
        return behind[strcspn(behind, "\n;")] && behind[strcspn(behind, "\n;") + 1];
    if (behind[0] == '|' && behind[1] != '|')
        return !s->pipefail;
    return *behind == '&' || *behind == '|' || !s->strict;
}

static void run_text(struct shell *s, const char *text) {
    const char *at = text, *behind;
    const bool passed_over = s->goes_on;

    s->unsure = s->unsure || strstr(text, "<<"); /* lines that are no commands */
    while (*at && !s->ended) {
        struct words w = {NULL, 0};
        behind = at = read_command(s, at, &w);
        s->goes_on = passed_over || is_passed_over(s, behind);
        if (w.n == 1 && at[0] == '(' && at[1] == ')')
            at = skip_function(at);
        else if (w.n > 0)
            run_words(s, w.p, w.n);
        at += strspn(at, "\n;&|()");
        if (strncmp(behind, "&&", 2) == 0 || strncmp(behind, "||", 2) == 0)
            s->conditional = true;
        else if (w.n > 0)
            s->conditional = false;
        s->unsure =
            s->unsure || (s->conditional && strchr(behind, '(') && strchr(behind, '(') < at);
        words_end(&w);
    }
    s->goes_on = passed_over;
}

/* ---- files ---- */

static char *below(const struct shell *s, const char *path) {
    if (path[0] == '/')
        return must_copy(path);
    return s->directory ? must_format("%s/%s", s->directory, path) : NULL;
}

/* Takes the path. NULL: there is none. */
static char *only_program(char *path) {
    struct stat facts;

    if (path && stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* As a shell finds it. NULL: it does not. */
static char *find_program(const struct shell *s, const char *name) {
    const struct variable *list = find_variable(s, "PATH", 4);
    OWNED char *copy = must_copy(list && !list->unknown ? list->value : "");
    char *rest = copy, *directory, *path = NULL;

    if (strchr(name, '/'))
        return only_program(below(s, name));
    while (!path && (directory = strsep(&rest, ":"))) {
        OWNED char *in = must_format("%s/%s", *directory ? directory : ".", name);
        path = only_program(below(s, in));
    }
    return path;
}

/* NULL: it cannot be read. */
static char *read_text(const char *path) {
    size_t n;

    return path ? disk_text(path, SCRIPT_MOST, &n) : NULL;
}

static bool is_shell(const char *path) {
    static const char *const shells[] = {"sh", "bash", "dash", "ash", "zsh", "ksh", NULL};

    return is_one_of(wc_base_name(path), shells);
}

/* "#!/usr/bin/env bash", "#!/bin/sh -e" */
static bool is_for_shell(const char *script) {
    OWNED char *line = must_format("%.*s", (int)strcspn(script + 2, "\n"), script + 2);
    char *rest = line, *word;

    while ((word = strsep(&rest, " \t")))
        if (is_shell(word))
            return true;
    return false;
}

/* ---- what is started ---- */

static void set_argument(struct shell *s, const struct word *w, size_t n) {
    for (size_t i = 0; i < n; i++)
        add_word(&s->arguments, w[i].text, w[i].unknown);
}

static void run_script(const struct shell *from, const char *text, bool strict,
                       const struct word *arguments, size_t n) {
    struct shell s;

    if (from->level == LEVELS_MOST)
        return;
    shell_begin(&s, from);
    s.strict =
        strict || (strncmp(text, "#!", 2) == 0 && memmem(text, strcspn(text, "\n"), " -e", 3));
    set_argument(&s, arguments, n);
    run_text(&s, text);
    shell_end(&s);
}

/* "bash -ec TEXT NAME ARGUMENT...", "sh FILE ARGUMENT..." */
static void run_shell(const struct shell *s, const struct word *w, size_t n) {
    size_t i = 1;
    bool is_text = false, strict = false;

    for (; i < n && (w[i].text[0] == '-' || w[i].text[0] == '+') && w[i].text[1]; i++) {
        is_text = is_text || (w[i].text[1] != '-' && strchr(w[i].text, 'c'));
        strict = strict || (w[i].text[1] != '-' && strchr(w[i].text, 'e'));
    }
    if (i == n || w[i].unknown)
        return;
    if (is_text) {
        run_script(s, w[i].text, strict, w + i + 1, n - i - 1);
    } else {
        OWNED char *path = below(s, w[i].text), *text = read_text(path);
        if (text)
            run_script(s, text, strict, w + i, n - i);
    }
}

static bool is_known_environment(const struct shell *s) {
    static const char *const heeded[] = {"LD_LIBRARY_PATH", "LD_PRELOAD"};

    for (size_t i = 0; i < sizeof(heeded) / sizeof(heeded[0]); i++) {
        const struct variable *v = find_variable(s, heeded[i], strlen(heeded[i]));
        if (v && v->unknown)
            return false;
    }
    return !s->lost;
}

static void add_program(const struct shell *s, const char *path, bool by_script) {
    struct shell_programs *out = s->out;
    struct shell_program program = {.path = must_copy(path),
                                    .by_script = by_script,
                                    .sure = by_script && !s->unsure && !s->conditional &&
                                            s->blocks == 0};
    size_t n = 0;

    if (out->n == PROGRAMS_MOST)
        return;
    program.passed_over = program.sure && s->goes_on;
    for (size_t i = 0; i < s->n; i++)
        if (s->variables[i].exported)
            *MUST_ADD(program.environment, n) =
                must_format("%s=%s", s->variables[i].name, s->variables[i].value);
    *MUST_ADD(program.environment, n) = NULL;
    *MUST_ADD(out->p, out->n) = program;
}

/* What starts what its own arguments name, behind options of its own. */
static bool is_launcher(const char *path) {
    static const char *const launchers[] = {"timeout", "nice",    "ionice",   "setsid", "stdbuf",
                                            "numactl", "taskset", "nohup",    "srun",   "mpirun",
                                            "mpiexec", "time",    "unbuffer", NULL};

    return is_one_of(wc_base_name(path), launchers);
}

static void start(const struct shell *s, const struct word *w, size_t n);

static void start_behind(const struct shell *s, const struct word *w, size_t n) {
    for (size_t i = 1; i < n; i++) {
        OWNED char *path = w[i].unknown || w[i].text[0] == '-' ? NULL : find_program(s, w[i].text);
        if (path) {
            start(s, w + i, n - i);
            return;
        }
    }
}

static void unset_all(struct shell *s, const struct word *w, size_t n) {
    for (size_t i = 1; i < n; i++) {
        struct variable *v = find_variable(s, w[i].text, strlen(w[i].text));
        if (!v)
            continue;
        set_value(s, v, "", false);
        v->exported = v->exported && v->unknown;
    }
}

/* env(1), as far as it is used for that: "env - A=b program". */
static void start_env(const struct shell *from, const struct word *w, size_t n) {
    static const char *const clearing[] = {"-", "-i", "--ignore-environment", NULL};
    struct shell s;

    shell_begin(&s, from);
    s.level = from->level;
    for (size_t i = 1; i < n && !w[i].unknown; i++) {
        if (is_one_of(w[i].text, clearing)) {
            for (size_t k = 0; k < s.n; k++)
                s.variables[k].exported = false;
        } else if (strcmp(w[i].text, "-u") == 0 && i + 1 < n) {
            unset_all(&s, w + i, 2);
            i++;
        } else if (is_assignment(&w[i])) {
            assign_exported(&s, &w[i]);
        } else {
            if (w[i].text[0] != '-')
                start(&s, w + i, n - i);
            break;
        }
    }
    shell_end(&s);
}

static bool is_elf(const char *text) {
    return strncmp(text, "\177ELF", 4) == 0;
}

/* "python launch.py ./program": who starts what it is given may pass on how that ended. */
static void add_named(const struct shell *s, const struct word *w, size_t n) {
    for (size_t i = 1; i < n; i++) {
        OWNED char *path =
            !w[i].unknown && strchr(w[i].text, '/') ? find_program(s, w[i].text) : NULL;
        OWNED char *text = read_text(path);
        if (text && is_elf(text))
            add_program(s, path, false);
    }
}

static void start_file(const struct shell *s, const struct word *w, size_t n) {
    OWNED char *path = find_program(s, w[0].text), *text = read_text(path);

    if (!text)
        return;
    if (is_shell(path)) {
        run_shell(s, w, n);
    } else if (is_launcher(path)) {
        start_behind(s, w, n);
    } else if (strncmp(text, "#!", 2) == 0 && is_for_shell(text)) {
        run_script(s, text, false, w, n);
    } else if (is_known_environment(s)) {
        if (is_elf(text))
            add_program(s, path, s->level > 0);
        add_named(s, w, n);
    }
}

static void start(const struct shell *s, const struct word *w, size_t n) {
    if (strcmp(wc_base_name(w[0].text), "env") == 0)
        start_env(s, w, n);
    else
        start_file(s, w, n);
}

/* With variables of its own: "A=b program". */
static void start_with(const struct shell *from, const struct word *assignments, size_t n,
                       const struct word *w, size_t words) {
    struct shell s;

    shell_begin(&s, from);
    s.level = from->level;
    for (size_t i = 0; i < n; i++)
        assign_exported(&s, &assignments[i]);
    start(&s, w, words);
    shell_end(&s);
}

/* ---- what a shell does by itself ---- */

static void change_directory(struct shell *s, const struct word *w, size_t n) {
    char *to = n == 2 && !w[1].unknown && !s->blocks && w[1].text[0] ? below(s, w[1].text) : NULL;

    free(s->directory);
    s->directory = to;
    if (to)
        set_value(s, need_variable(s, "PWD", 3), to, false);
}

static void export_all(struct shell *s, const struct word *w, size_t n) {
    for (size_t i = 1; i < n; i++)
        assign_exported(s, &w[i]);
}

static void read_file(struct shell *s, const struct word *w, size_t n) {
    OWNED char *path = n > 1 && !w[1].unknown ? below(s, w[1].text) : NULL,
               *text = s->level < LEVELS_MOST ? read_text(path) : NULL;

    s->lost = s->lost || !text;
    if (!text)
        return;
    s->level++;
    run_text(s, text);
    s->level--;
}

/* failing: with a status that says so. */
static void end_here(struct shell *s, bool failing) {
    s->ended = s->blocks == 0 && !s->conditional;
    s->unsure = s->unsure || (!s->ended && !failing);
}

static void set_options(struct shell *s, const struct word *w, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const char *text = w[i].text;
        s->strict =
            s->strict || strcmp(text, "errexit") == 0 || (*text == '-' && strchr(text, 'e'));
        s->pipefail = s->pipefail || strcmp(text, "pipefail") == 0;
    }
}

/* False: it is none of these. */
static bool run_builtin(struct shell *s, const struct word *w, size_t n) {
    static const char *const changing[] = {"eval",  "module",     "ml",  "spack", "conda",
                                           "mamba", "micromamba", "use", NULL};
    static const char *const exporting[] = {"export", "declare", "typeset", NULL};
    const char *name = w[0].text;

    if (is_one_of(name, exporting))
        export_all(s, w, n);
    else if (strcmp(name, "unset") == 0)
        unset_all(s, w, n);
    else if (strcmp(name, "cd") == 0)
        change_directory(s, w, n);
    else if (strcmp(name, "source") == 0 || strcmp(name, ".") == 0)
        read_file(s, w, n);
    else if (strcmp(name, "set") == 0)
        set_options(s, w, n);
    else if (strcmp(name, "exit") == 0)
        end_here(s, n > 1 && !w[1].unknown && strcmp(w[1].text, "0") != 0);
    else if (is_one_of(name, changing))
        s->lost = true;
    else
        return false;
    return true;
}

/* Those that stand before a command. False: what follows is none. */
static bool take_keyword(struct shell *s, const char *word, bool *is_keyword) {
    static const char *const begin[] = {"if", "while", "until", NULL};
    static const char *const lists[] = {"for", "case", "select", NULL};
    static const char *const end[] = {"fi", "done", "esac", NULL};
    static const char *const others[] = {"then", "else",    "elif", "do",      "!", "{",
                                         "}",    "command", "time", "builtin", NULL};

    s->blocks += is_one_of(word, begin) || is_one_of(word, lists);
    s->blocks -= is_one_of(word, end) && s->blocks > 0;
    *is_keyword = is_one_of(word, begin) || is_one_of(word, end) || is_one_of(word, others);
    return !is_one_of(word, lists);
}

static void run_words(struct shell *s, const struct word *w, size_t n) {
    bool is_keyword = true, is_exec = false;
    size_t from = 0, first;

    while (from < n && is_keyword && !w[from].unknown) {
        if (!take_keyword(s, w[from].text, &is_keyword))
            return;
        s->unsure = s->unsure || (s->conditional && strcmp(w[from].text, "{") == 0);
        if (!is_keyword && strcmp(w[from].text, "exec") == 0)
            is_exec = is_keyword = true;
        from += is_keyword;
    }
    for (first = from; first < n && is_assignment(&w[first]);)
        first++;
    if (first == n) {
        for (size_t i = from; i < n; i++)
            assign(s, &w[i]);
        return;
    }
    if (w[first].unknown || (first == from && run_builtin(s, w + first, n - first)))
        return;
    start_with(s, w + from, first - from, w + first, n - first);
    if (is_exec)
        end_here(s, false);
}

/* ---- the command ---- */

void shell_programs_of(struct shell_programs *out, char *const *command, char *const *environment) {
    struct shell s = {.out = out, .directory = getcwd(NULL, 0)};
    struct words w = {NULL, 0};

    *out = (struct shell_programs){NULL, 0};
    for (; *environment; environment++) {
        const char *value = strchr(*environment, '=');
        if (value) {
            struct variable *v = need_variable(&s, *environment, (size_t)(value - *environment));
            set_value(&s, v, value + 1, false);
            v->exported = true;
        }
    }
    for (; *command; command++)
        add_word(&w, *command, false);
    run_words(&s, w.p, w.n);
    words_end(&w);
    shell_end(&s);
}

void shell_programs_end(struct shell_programs *programs) {
    for (size_t i = 0; i < programs->n; i++) {
        for (char **v = programs->p[i].environment; *v; v++)
            free(*v);
        free(programs->p[i].environment);
        free(programs->p[i].path);
    }
    free(programs->p);
}
