/* SPDX-License-Identifier: Apache-2.0 */
#include "shell_script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "core/knowledge/programs.h"
#include "tools/observe/not_preloadable.h"
#include "tools/util/disk.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

#define PROGRAMS_MOST 32
#define SCRIPT_MOST (64u << 10)
#define LEVELS_MOST 4 /* scripts that start scripts */
#define UNKNOWN '\1'  /* stands for what only a shell could know, and goes along with the text */

struct variable {
    char *text; /* NAME=value */
    bool exported;
};

struct shell {
    struct shell_programs *out;
    struct variable *p; /* variables */
    size_t n;
    char *const *arguments; /* $0, $1 ... NULL */
    char *directory;        /* NULL: not known */
    int blocks, level;      /* if, for ...: what is in them may not be done; scripts */
    bool lost;              /* anything may have become of the variables */
    bool ended, unsure;     /* of what follows nobody can say whether it is done */
    bool conditional;       /* behind && or || */
    bool strict, pipefail;  /* set -e, set -o pipefail */
    bool goes_on;           /* the status of the command that is read is passed on by nobody */
};

static void run_words(struct shell *s, char **w);
static void run_text(struct shell *s, const char *text);

/* In a list of words with blanks around each. */
static bool is_one_of(const char *name, const char *list) {
    OWNED char *word = must_format(" %s ", name);

    return strstr(list, word) != NULL;
}

/* ---- variables ---- */

static size_t name_length(const char *text) {
    size_t n = 0;

    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return isdigit((unsigned char)text[0]) ? 0 : n;
}

static bool is_assignment(const char *word) {
    size_t n = name_length(word);

    return n > 0 && word[n] == '=';
}

static struct variable *find_variable(const struct shell *s, const char *name) {
    size_t n = name_length(name);

    for (size_t i = 0; n > 0 && i < s->n; i++)
        if (name_length(s->p[i].text) == n && memcmp(s->p[i].text, name, n) == 0)
            return &s->p[i];
    return NULL;
}

/* "NAME=value", or NAME alone: what it has stays. */
static void assign(struct shell *s, const char *word, bool exported) {
    struct variable *v = find_variable(s, word);

    if (name_length(word) == 0)
        return;
    if (!v) {
        v = MUST_ADD(s->p, s->n);
        *v = (struct variable){must_format("%s%s", word, is_assignment(word) ? "" : "="), false};
    } else if (is_assignment(word)) {
        free(v->text);
        v->text = must_copy(word);
    }
    if (s->blocks > 0) {
        free(v->text);
        v->text = must_format("%.*s=\1", (int)name_length(word), word);
    }
    v->exported = v->exported || exported;
}

static void unset(struct shell *s, const char *name) {
    struct variable *v = find_variable(s, name);

    if (v && s->blocks > 0) {
        s->lost = true;
    } else if (v) {
        free(v->text);
        *v = s->p[--s->n];
    }
}

static void set_directory(struct shell *s) {
    OWNED char *word = must_format("PWD=%s", s->directory ? s->directory : "\1");

    assign(s, word, false);
}

/* A process of it, with its exported variables. */
static void shell_begin(struct shell *s, const struct shell *from) {
    *s = *from;
    s->p = NULL;
    s->n = 0;
    s->unsure = from->unsure || from->conditional || from->blocks > 0;
    s->blocks = s->conditional = s->strict = s->pipefail = false;
    s->directory = must_copy(from->directory);
    for (size_t i = 0; i < from->n; i++)
        if (from->p[i].exported)
            *MUST_ADD(s->p, s->n) = (struct variable){must_copy(from->p[i].text), true};
    set_directory(s);
}

static void shell_end(struct shell *s) {
    for (size_t i = 0; i < s->n; i++)
        free(s->p[i].text);
    free(s->p);
    free(s->directory);
}

/* ---- words ---- */

/* Between two '"': as it is; else a word of a shell. */
static void put_argument(FILE *to, const char *text, bool quoted) {
    fputs(quoted ? "" : "\"", to);
    for (; *text; text++)
        fprintf(to, strchr("\"$`\\", *text) ? "\\%c" : "%c", *text);
    fputs(quoted ? "" : "\"", to);
}

/* at: a '$' or a '`'. Puts arguments, and UNKNOWN for what a shell would have to run. Where it
 * ends; NULL: wordexp knows. */
static const char *put_special(const struct shell *s, const char *at, bool quoted, FILE *to) {
    char *const none[] = {NULL}, *const *arguments = s->arguments ? s->arguments : none;
    const char *end = at + 2;
    size_t n = 0, number = isdigit((unsigned char)at[1]) ? (size_t)(at[1] - '0') : 1;

    while (arguments[n])
        n++;
    if (*at == '$' && (at[1] == '@' || at[1] == '*' || isdigit((unsigned char)at[1]))) {
        bool all = !isdigit((unsigned char)at[1]);
        for (size_t i = number; i < n && (all || i == number); i++) {
            put_argument(to, arguments[i], quoted);
            fputs(!all || i + 1 == n ? "" : quoted ? "\" \"" : " ", to);
        }
        return end;
    }
    if (*at == '$' && (n = name_length(at + 1 + (at[1] == '{'))) > 0) {
        const char *behind = at + 2 + n + (at[1] == '{' && at[2 + n] == ':');
        if (at[1] != '{' || (*behind != '?' && *behind != '=')) /* these print, or set */
            return NULL;
    }
    fputc(UNKNOWN, to);
    if (*at == '`' || at[1] == '(' || at[1] == '{') {
        end = strchr(at + 1, *at == '`' ? '`' : at[1] == '(' ? ')' : '}');
        return end ? end + 1 : at + strlen(at);
    }
    return at[1] ? end : at + 1;
}

/* One command, up to what ends it, for wordexp: without comments and redirections, and without what
 * would have it look for files or users. */
static const char *read_command(const struct shell *s, const char *at, FILE *to) {
    bool quoted = false, begins = true; /* a word */
    int braces = 0;

    while (*at && (quoted || !strchr("\n;&|()", *at))) {
        const char *end = *at == '$' || *at == '`' ? put_special(s, at, quoted, to) : NULL;
        size_t n = at[0] == '\\' && at[1] ? 2 : 1;
        if (!quoted && *at == '\'')
            n = strcspn(at + 1, "'") + 1 + (strchr(at + 1, '\'') != NULL);
        if (end) {
            at = end;
        } else if (!quoted && begins && *at == '#') {
            at += strcspn(at, "\n");
        } else if (!quoted && (*at == '<' || *at == '>')) { /* the file is no word */
            at += strspn(at, "<>&|");
            at += strspn(at, " \t");
            at += strcspn(at, " \t\n;&|()<>");
        } else {
            quoted = quoted != (*at == '"');
            begins = *at == ' ' || *at == '\t';
            braces += at[0] == '$' && at[1] == '{';
            braces -= *at == '}' && braces > 0;
            if (!quoted && !braces && (strchr("*?[", *at) || (at[0] == '~' && at[1] != '/')))
                fputc('\\', to);
            fprintf(to, "%.*s", at[0] == '\\' && at[1] == '\n' ? 0 : (int)n, at);
            at += n;
        }
    }
    return at;
}

/* The words of a command, by wordexp(3), which sees the variables in its environment. */
static bool expand(struct shell *s, const char *text, wordexp_t *words) {
    char **own = environ;
    size_t n = 0;
    int trouble;

    environ = NULL;
    WC_EACH(v, *s)
        *MUST_ADD(environ, n) = v->text;
    *MUST_ADD(environ, n) = NULL;
    trouble = wordexp(text, words, WRDE_NOCMD);
    free(environ);
    environ = own;
    if (trouble == WRDE_NOSPACE)
        wordfree(words);
    return trouble == 0;
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

static void run_text(struct shell *s, const char *at) {
    const bool passed_over = s->goes_on;

    s->unsure = s->unsure || strstr(at, "<<"); /* lines that are no commands */
    while (*at && !s->ended) {
        struct sink command;
        FILE *to = sink_begin(&command);
        const char *behind = read_command(s, at, to), *end = strstr(behind, "\n}");
        OWNED char *text = sink_end(&command);
        wordexp_t words;
        bool is_some = text[strspn(text, " \t")] && text[strcspn(text, "{}")] != '}';
        s->goes_on = passed_over || is_passed_over(s, behind);
        at = behind + strspn(behind, "\n;&|()");
        if (strncmp(behind, "()", 2) == 0) /* a function: it may be called */
            at = end ? end + 2 : at + strlen(at);
        else if (is_some && expand(s, text, &words)) {
            run_words(s, words.we_wordv);
            wordfree(&words);
        } else if (is_some) {
            s->unsure = s->lost = true;
        }
        if (strncmp(behind, "&&", 2) == 0 || strncmp(behind, "||", 2) == 0)
            s->conditional = true;
        else if (is_some)
            s->conditional = false;
        s->unsure = s->unsure || (s->conditional && memchr(behind, '(', (size_t)(at - behind)));
    }
    s->goes_on = passed_over;
}

/* ---- what is started ---- */

static char *below(const struct shell *s, const char *path) {
    return path[0] == '/' ? must_copy(path)
           : s->directory ? must_format("%s/%s", s->directory, path)
                          : NULL;
}

/* As the shell finds it. NULL: it does not. The caller frees. */
static char *program_of(const struct shell *s, const char *name) {
    const struct variable *list = find_variable(s, "PATH");

    return find_program(name, list ? list->text + strlen("PATH=") : "",
                        s->directory ? s->directory : "/not known");
}

static void add_program(const struct shell *s, const char *path, bool by_script) {
    bool sure = by_script && !s->unsure && !s->conditional && s->blocks == 0;
    struct shell_program program = {.path = must_copy(path),
                                    .by_script = by_script,
                                    .sure = sure,
                                    .passed_over = sure && s->goes_on};
    size_t n = 0;

    if (s->out->n == PROGRAMS_MOST)
        return;
    WC_EACH(v, *s)
        if (v->exported)
            *MUST_ADD(program.environment, n) = must_copy(v->text);
    *MUST_ADD(program.environment, n) = NULL;
    *MUST_ADD(s->out->p, s->out->n) = program;
}

static void run_script(const struct shell *from, const char *text, bool strict, char **arguments) {
    struct shell s;

    if (from->level == LEVELS_MOST)
        return;
    shell_begin(&s, from);
    s.level++;
    s.strict =
        strict || (strncmp(text, "#!", 2) == 0 && memmem(text, strcspn(text, "\n"), " -e", 3));
    s.arguments = arguments;
    run_text(&s, text);
    shell_end(&s);
}

static char *text_of(const char *path) {
    size_t n;

    return path ? disk_text(path, SCRIPT_MOST, &n) : NULL;
}

/* "#!/usr/bin/env bash", "#!/bin/sh -e" */
static bool is_for_shell(const char *script) {
    OWNED char *line = must_format("%.*s", (int)strcspn(script, "\n"), script);
    char *rest = line + strspn(line, "#!"), *word;
    bool found = false;

    while (wc_str_starts(script, "#!") && (word = strsep(&rest, " \t")))
        found = found || wc_program_is(wc_base_name(word), WC_PROGRAM_SHELL);
    return found;
}

/* "bash -ec TEXT NAME ARGUMENT...", "sh FILE ARGUMENT..." */
static void run_shell(const struct shell *s, char **w) {
    bool is_text = false, strict = false;

    for (w++; *w && (**w == '-' || **w == '+') && (*w)[1]; w++) {
        is_text = is_text || ((*w)[1] != '-' && strchr(*w, 'c'));
        strict = strict || ((*w)[1] != '-' && strchr(*w, 'e'));
    }
    if (*w && is_text) {
        run_script(s, *w, strict, w + 1);
    } else if (*w) {
        OWNED char *path = below(s, *w), *text = text_of(path);
        if (text)
            run_script(s, text, strict, w);
    }
}

/* What is started with variables of its own, "A=b program", or by something that starts what its
 * arguments name. "python launch.py ./program" may pass on how that ended, too. */
static void start(struct shell *s, char **w) {
    OWNED char *path = program_of(s, *w), *text = text_of(path);
    const char *name = wc_base_name(*w);
    const struct variable *libraries = find_variable(s, "LD_LIBRARY_PATH"),
                          *preload = find_variable(s, "LD_PRELOAD");

    if (wc_program_is(name, WC_PROGRAM_LAUNCHER)) {
        bool is_env = strcmp(name, "env") == 0;
        for (w++; *w; w++) {
            OWNED char *program = **w == '-' ? NULL : program_of(s, *w);
            if (is_env && (strcmp(*w, "-") == 0 || strcmp(*w, "-i") == 0 ||
                           strcmp(*w, "--ignore-environment") == 0))
                for (size_t i = 0; i < s->n; i++)
                    s->p[i].exported = false;
            else if (is_env && strcmp(*w, "-u") == 0 && w[1])
                unset(s, *++w);
            else if (is_env && is_assignment(*w))
                assign(s, *w, true);
            else if (program || (is_env && **w == '-'))
                break;
        }
        if (*w && **w != '-')
            start(s, w);
    } else if (text && wc_program_is(name, WC_PROGRAM_SHELL)) {
        run_shell(s, w);
    } else if (text && is_for_shell(text)) {
        run_script(s, text, false, w);
    } else if (text && !s->lost && !(libraries && strchr(libraries->text, UNKNOWN)) &&
               !(preload && strchr(preload->text, UNKNOWN))) {
        if (wc_str_starts(text, "\177ELF"))
            add_program(s, path, s->level > 0);
        for (w++; *w; w++) {
            OWNED char *named = strchr(*w, '/') ? program_of(s, *w) : NULL;
            OWNED char *inside = text_of(named);
            if (inside && wc_str_starts(inside, "\177ELF"))
                add_program(s, named, false);
        }
    }
}

/* ---- what a shell does by itself ---- */

/* failing: with a status that says so. */
static void end_here(struct shell *s, bool failing) {
    s->ended = s->blocks == 0 && !s->conditional;
    s->unsure = s->unsure || (!s->ended && !failing);
}

/* False: it is none of these. */
static bool run_builtin(struct shell *s, char **w) {
    OWNED char *path = w[1] && !strchr(w[1], UNKNOWN) ? below(s, w[1]) : NULL;

    if (is_one_of(*w, " export declare typeset ")) {
        while (*++w)
            assign(s, *w, true);
    } else if (strcmp(*w, "unset") == 0) {
        while (*++w)
            unset(s, *w);
    } else if (strcmp(*w, "cd") == 0) {
        free(s->directory);
        s->directory = s->blocks || !path || w[1][0] == '-' || w[2] ? NULL : must_copy(path);
        set_directory(s);
    } else if (is_one_of(*w, " source . ")) {
        OWNED char *text = s->level < LEVELS_MOST ? text_of(path) : NULL;
        s->lost = s->lost || !text;
        s->level++;
        run_text(s, text ? text : "");
        s->level--;
    } else if (strcmp(*w, "set") == 0) {
        while (*++w) {
            s->strict = s->strict || strcmp(*w, "errexit") == 0 || (**w == '-' && strchr(*w, 'e'));
            s->pipefail = s->pipefail || strcmp(*w, "pipefail") == 0;
        }
    } else if (strcmp(*w, "exit") == 0) {
        end_here(s, w[1] && w[1][0] != UNKNOWN && strcmp(w[1], "0") != 0);
    } else if (is_one_of(*w, " eval module ml spack conda mamba micromamba use ")) {
        s->lost = true;
    } else {
        return false;
    }
    return true;
}

/* Control flow is not followed: what is in it may be done or not. */
static void run_words(struct shell *s, char **w) {
    bool is_exec = false;
    char **first;
    struct shell own;

    for (; *w; w++) {
        s->blocks += is_one_of(*w, " for case select if while until ");
        if (is_one_of(*w, " for case select "))
            return;
        s->blocks -= is_one_of(*w, " fi done esac ") && s->blocks > 0;
        is_exec = is_exec || strcmp(*w, "exec") == 0;
        if (!is_one_of(*w, " if while until fi done esac then else elif do ! command time builtin "
                           "exec "))
            break;
    }
    for (first = w; *first && is_assignment(*first);)
        first++;
    if (!*first)
        for (; *w; w++)
            assign(s, *w, false);
    if (!*first || strchr(*first, UNKNOWN) || (first == w && run_builtin(s, first)))
        return;
    shell_begin(&own, s);
    for (; w < first; w++)
        assign(&own, *w, true);
    start(&own, first);
    shell_end(&own);
    if (is_exec)
        end_here(s, false);
}

/* ---- the command ---- */

void shell_programs_of(struct shell_programs *out, char *const *command, char *const *environment) {
    struct shell s = {.out = out, .directory = getcwd(NULL, 0)};
    size_t n = 0;
    char **words = NULL;

    *out = (struct shell_programs){NULL, 0};
    for (; *environment; environment++)
        assign(&s, *environment, true);
    for (; *command; command++)
        *MUST_ADD(words, n) = *command;
    *MUST_ADD(words, n) = NULL;
    run_words(&s, words);
    free(words);
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
