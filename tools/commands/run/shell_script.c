/* SPDX-License-Identifier: Apache-2.0 */
#include "startup.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

#include "core/knowledge/programs.h"
#include "tools/observe/preload.h"
#include "tools/util/disk.h"
#include "tools/util/terminal.h"

enum { PROGRAMS_MOST = 32, SCRIPT_MOST = 64 << 10, LINE_MOST = 256, NESTED_MOST = 16 };
#define BEFORE "@(!|command|if|time|until|while)"
#define ALWAYS "@(:|cd|echo|export|true) *"
#define MUTED "*@(2>/dev/null|&>/dev/null|>/dev/null 2>&1)*"
#define RUNS_IT "@(chrt|flock|ionice|nice|nohup|numactl|setsid|stdbuf|taskset|time|timeout)"
#define NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

#define OWN "(0|BASH_SOURCE(\\[0\\])?)"
#define OWN_PLACE "(\\$\\(dirname( --)? \"?\\$\\{?" OWN "\\}?\"?\\)|\\$\\{" OWN "%/\\*\\})"

struct shell { /* its variables are in environ while it is read */
    struct shell_programs *out;
    char **arguments; /* those of "$@"; NULL: it is the command itself */
    const char *file; /* "$0"; NULL: not known */
    int level;
    bool strict, ended; /* strict: a failure ends it, too (set -e), or may (set) */
    bool sure_strict;   /* set -e */
};

static bool start(struct shell s, char **w);
static void run_text(struct shell *s, const char *at);

/* Of the name with which the word begins. */
static bool is_named(const char *variable, const char *word) {
    size_t n = strspn(word, NAME);

    return n > 0 && strncmp(variable, word, n) == 0 && variable[n] == '=';
}

/* "NAME=value", or NAME to unset it, or "" to unset all but what the command was given: in a new
 * list, as programs have the one before. */
static void assign(const struct shell *s, const char *word) {
    struct wc_arena *memory = &s->out->memory.arena;
    char **before = environ;
    size_t n = 0;

    while (before[n])
        n++;
    environ = wc_arena_take(memory, (n + 2) * sizeof(*before));
    for (n = 0; *before; before++)
        if (*word ? !is_named(*before, word) : wc_str_starts(*before, "WHICHCUDNN_RUN_"))
            environ[n++] = *before;
    if (is_named(word, word))
        environ[n] = wc_arena_string(memory, word);
}

/* The text of a script, in which directories replace $(dirname "$0") and
 * $(cd "$(dirname "$0")/.." && pwd): scripts find other files by them. file: "$0"; NULL: not known.
 * NULL: the script cannot be read. */
static char *read_script(const char *path, const char *file) {
    enum { ALL, IS_CD = 2, BELOW = 8, GROUPS };
    OWNED char *text = disk_text(path, SCRIPT_MOST, NULL);
    struct sink filled;
    regmatch_t m[GROUPS];
    regex_t regex;

    if (!text || !file ||
        regcomp(&regex,
                "\\$\\(cd( --)? \"?" OWN_PLACE "([^\"$) ]*)\"?( &?>/dev/null( 2>&1)?)? && "
                "pwd( -P)?\\)|" OWN_PLACE,
                REG_EXTENDED) != 0)
        return must_copy(text);
    FILE *to = sink_begin(&filled);
    const char *at = text;
    for (; regexec(&regex, at, GROUPS, m, 0) == 0; at += m[ALL].rm_eo) {
        const char *of =
            memchr(at + m[ALL].rm_so, 'B', (size_t)(m[ALL].rm_eo - m[ALL].rm_so)) ? path : file;
        const int length = (int)wc_dir_length(of);
        OWNED char *directory = must_format("%.*s", length ?: 1, length ? of : ".");
        OWNED char *below = must_format("%s%.*s", directory, (int)(m[BELOW].rm_eo - m[BELOW].rm_so),
                                        at + (m[BELOW].rm_so >= 0 ? m[BELOW].rm_so : 0));
        OWNED char *whole = realpath(below, NULL);
        fprintf(to, "%.*s%s", (int)m[ALL].rm_so, at,
                m[IS_CD].rm_so < 0 ? directory : whole ?: "`" /* unsure */);
    }
    fputs(at, to);
    regfree(&regex);
    return sink_end(&filled);
}

/* One command, for wordexp, without redirections; where it ends. NULL: only a shell knows. */
static const char *read_command(const struct shell *s, const char *at, FILE *to) {
    bool quoted = false, begins = true; /* a word */

    while (*at && (quoted || (!strchr("\n;|)", *at) && (*at != '&' || at[1] == '>')))) {
        size_t n = *at == '\\' ? 2 : *at == '\'' && !quoted ? strcspn(at + 1, "'") + 2 : 1;
        /* Of "$NAME", "${NAME:-word}" and similar; wordexp would print or set with "?" and "=". */
        const char *name = at + 1 + (at[1] == '{'),
                   *past = name + (*at == '$' ? strspn(name, NAME) : 0);
        if (begins && strncmp(at, "\"$@\"", 4) == 0) {
            for (char **a = s->arguments; *a; a++)
                fprintf(to, strchr(*a, '\'') ? "(" : " '%s'", *a); /* wordexp takes no '(' */
            at += 4;
        } else if (strnlen(at, n) < n ||
                   (*at == '$' && (name == past || wc_is_digit(*name) ||
                                   (at[1] == '{' && strchr("?=", past[*past == ':'])))) ||
                   (!quoted && (strchr("*?[~(", *at) || strncmp(at, "<<", 2) == 0))) {
            return NULL;
        } else if (begins && *at == '#') {
            at += strcspn(at, "\n");
        } else if (!quoted && strchr("<>&", *at)) { /* the file is not a word */
            at += strspn(at, "<>&|");
            at += strspn(at, " \t");
            at += strcspn(at, " \t\n;&|()<>");
        } else {
            quoted = quoted != (*at == '"');
            fprintf(to, "%.*s", strncmp(at, "\\\n", 2) == 0 ? 0 : (int)n, at);
            at += n;
        }
        begins = !quoted && strchr(" \t\n", at[-1]);
    }
    return at;
}

/* False: what follows is unsure. What is set and not exported no program has. */
static bool run_words(struct shell *s, char **w) {
    char **before = environ;
    bool is_sure = true, is_for_loader = false, is_exec, is_unset;

    for (; *w && is_named(*w, *w); assign(s, *w++))
        is_for_loader = is_for_loader || wc_str_starts(*w, "LD_");
    if (!*w)
        return !is_for_loader;
    is_unset = strcmp(*w, "unset") == 0;
    if (is_unset || strcmp(*w, "export") == 0) {
        while (*++w && **w != '-')
            if (is_unset || is_named(*w, *w))
                assign(s, *w);
        return !*w;
    }
    is_exec = strcmp(*w, "exec") == 0 && w[1] && w[1][strspn(w[1], "0123456789")]; /* 2>file */
    w += is_exec;
    s->ended = is_exec || strcmp(*w, "exit") == 0;
    s->strict = s->strict || strcmp(*w, "set") == 0;
    s->sure_strict = s->sure_strict || (strcmp(*w, "set") == 0 && w[1] && strchr(w[1], 'e'));
    if ((strcmp(*w, ".") == 0 || strcmp(*w, "source") == 0) && w[1] && s->arguments &&
        s->level < NESTED_MOST) {
        OWNED char *text = read_script(w[1], s->file);
        s->level++;
        run_text(s, text ?: ""); /* which may end the shell */
        s->level--;
        return text && !s->out->unsure;
    }
    if (strcmp(*w, "cd") == 0) {
        OWNED char *pwd = NULL, *here = NULL;
        is_sure = w[1] && *w[1] != '-' && chdir(w[1]) == 0 && (here = get_current_dir_name());
        pwd = must_format("PWD=%s", here);
        assign(s, pwd);
        return is_sure;
    }
    if (strcmp(*w, "set") == 0)
        is_sure = w[1] && w[1][0] == '-' && w[1][1] != '-';
    else if (fnmatch("@(:|echo|exec|exit|false|printf|test|true|ulimit)", *w, FNM_EXTMATCH))
        is_sure = fnmatch("@(*conda|*mamba|module|spack|wait)", *w, FNM_EXTMATCH) && start(*s, w);
    environ = before;
    const char *pwd = getenv("PWD");
    return is_sure && (!pwd || chdir(pwd) == 0);
}

/* What is tested may end as it likes; without `set -e` what a further command follows, too. */
static void run_text(struct shell *s, const char *at) {
    const size_t first = s->out->n;
    char **outside = NULL; /* what is set within "(" ends with it */
    bool is_sure = true;

    while (is_sure && *(at += strspn(at, " \t\n;&|")) && !s->ended) {
        const size_t before = s->out->n;
        const char opens = strchr("(){}", *at) ? *at++ : ' ';
        struct sink command;
        OWNED char *line = must_format("%.*s", (int)strcspn(at, "\n"), at);
        const bool is_muted = fnmatch(MUTED, line, FNM_EXTMATCH) == 0;
        at = read_command(s, at, sink_begin(&command));
        OWNED char *text = sink_end(&command);
        bool is_or = at && strncmp(at, "||", 2) == 0, is_tested = is_or;
        wordexp_t words;
        is_sure = (opens == '(' ? !outside : opens != ')' || outside == environ) && at &&
                  wordexp(text, &words, WRDE_NOCMD) == 0;
        if (!is_sure)
            break;
        outside = opens == '(' ? environ : opens == ')' ? NULL : outside;
        char **w = words.we_wordv;
        for (; *w && w[1] && w[1][0] != '-' && fnmatch(BEFORE, *w, FNM_EXTMATCH) == 0; w++)
            is_tested = is_tested || !strchr("ct", **w);
        is_sure = !*w || run_words(s, w);
        for (size_t i = first; i < s->out->n && (*w || is_or); i++)
            if (i < before ? !s->strict : is_tested && !s->ended) {
                s->out->p[i].passed_over = true;
                s->out->p[i].is_tested = s->out->p[i].is_tested || i >= before;
                s->out->p[i].is_muted = s->out->p[i].is_muted || (i >= before && is_muted);
            }
        s->out->in_turn = s->out->in_turn && (!*w || before == first || s->sure_strict) &&
                          (!strchr("|&", *at) || !*at || at[1] == *at);
        wordfree(&words);
        is_sure = is_sure && !is_or &&
                  (strncmp(at, "&&", 2) != 0 || fnmatch(ALWAYS, text, FNM_EXTMATCH) == 0);
    }
    s->out->unsure = s->out->unsure || !is_sure || outside;
}

/* "env A=b program", "bash -ec TEXT NAME ARGUMENT...", "sh FILE ARGUMENT...", a script. "python
 * launch.py ./program" may pass on how that ended, too. False: it is not known what that is. */
static bool start(struct shell s, char **w) {
    bool runs_it = fnmatch(RUNS_IT, wc_base_name(*w), FNM_EXTMATCH) == 0, is_text = false;
    OWNED char *path = s.level++ < NESTED_MOST ? find_program(*w, getenv("PATH")) : NULL;
    struct shell within = {.out = s.out, .level = s.level};
    OWNED char *script = NULL, *text = path ? disk_text(path, LINE_MOST, NULL) : NULL;

    if (text && strcmp(wc_base_name(*w), "env") == 0) {
        for (w++; *w && fnmatch("@(-|-i|-u)", *w, FNM_EXTMATCH) == 0; w++)
            if ((*w)[1] != 'u')
                assign(&s, "");
            else if (w[1])
                assign(&s, *++w);
        return *w && run_words(&s, w);
    }
    if (text && wc_program_is(*w, WC_PROGRAM_SHELL)) {
        for (w++; *w && **w == '-' && !(*w)[1 + strspn(*w + 1, "ceux")]; w++) {
            is_text = is_text || strchr(*w, 'c');
            within.strict = within.sure_strict = within.strict || strchr(*w, 'e');
        }
        within.file = is_text ? NULL : *w;
        script = is_text || !*w ? must_copy(*w) : read_script(*w, *w);
        within.arguments = w + 1 + (is_text && *w && w[1]);
        s.out->unsure = s.out->unsure || !script;
    } else if (text && wc_str_starts(text, "#!")) {
        script = must_format("exec %.*s '%s' \"$@\"", (int)strcspn(text + 2, "\n"), text + 2, path);
        within.arguments = w + 1;
    }
    if (script)
        run_text(&within, script);
    for (size_t i = 0; text && !within.arguments && w[i]; i++) {
        OWNED char *at =
            !i || runs_it || strchr(w[i], '/') ? find_program(w[i], getenv("PATH")) : NULL;
        OWNED char *inside = at ? disk_text(at, LINE_MOST, NULL) : NULL;
        if (i && at && runs_it)
            return start(s, w + i);
        if (inside && wc_str_starts(inside, "\177ELF") && s.out->n < PROGRAMS_MOST)
            *MUST_ADD(s.out->p, s.out->n) =
                (struct shell_program){wc_arena_string(&s.out->memory.arena, at), environ,
                                       .by_script = s.arguments && i == 0};
    }
    return within.arguments ? script : text;
}

void shell_programs_of(struct shell_programs *out, char **command, char **environment) {
    OWNED char *here = get_current_dir_name(), *pwd = must_format("PWD=%s", here);
    char **real = environ;

    *out = (struct shell_programs){.in_turn = true, .memory = HEAP_ARENA(out->memory)};
    environ = environment;
    assign(&(struct shell){.out = out}, pwd); /* a shell sets it, whatever it was given */
    start((struct shell){.out = out}, command);
    environ = real;
    out->unsure = (here && chdir(here) != 0) || out->unsure;
}

void shell_programs_end(struct shell_programs *programs) {
    free(programs->p);
    heap_arena_end(&programs->memory);
}
