/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "tools/util/memory.h"

#define ROWS_MOST 16
#define SHOWN_MOST 32
#define COLUMN_MOST 20 /* an option wider than that does not move the texts of the others */

struct options options = {.when = "auto"};

/* ---- --help ---- */

/* "-o, --output FILE"; returns its length. */
static int show(const struct option_row *o, char to[SHOWN_MOST]) {
    const char letter[] = {'-', o->letter, ',', ' ', '\0'};

    return snprintf(to, SHOWN_MOST, "%s--%s%s", o->letter ? letter : "", o->name,
                    o->argument ?: "");
}

static int print_help(const struct usage *u) {
    char shown[SHOWN_MOST];
    int column = 0;

    for (const struct option_row *o = u->options; o->name; o++) {
        int width = o->help ? show(o, shown) : 0;
        if (width > column && width <= COLUMN_MOST)
            column = width;
    }
    fputs(u->begin, stdout);
    for (const struct option_row *o = u->options; o->name; o++) {
        if (!o->help)
            continue;
        show(o, shown);
        printf("  %-*s  ", column, shown);
        for (const char *p = o->help; *p; p++)
            if (*p == '\n')
                printf("\n%*s", column + 4, "");
            else
                putchar(*p);
        putchar('\n');
    }
    putchar('\n');
    return fputs(u->end, stdout) < 0 ? EXIT_USAGE : EXIT_NOTHING_WRONG;
}

/* ---- what was given ---- */

/* typed: what getopt complained of, "--jsno=x". Of one that it knows as the beginning of another,
 * or that lacks its argument, it has said all. */
static int not_taken(char **argv, const struct option_row *rows, const char *typed) {
    OWNED char *name = must_format("%.*s", (int)strcspn(typed, "="), typed);
    struct nearest meant = {.word = NULL};
    bool known = strncmp(name, "--", 2) != 0;

    for (int i = 0; rows[i].name && !known; i++) {
        known = strstr(rows[i].name, name + 2) == rows[i].name;
        nearest_look(&meant, name + 2, rows[i].name);
    }
    if (known || !meant.word)
        return complain("see %s --help", argv[0]);
    return complain("did you mean --%s? see %s --help", meant.word, argv[0]);
}

/* By which getopt_long names a row. */
static int code_of(const struct option_row *rows, int i) {
    return rows[i].letter ?: UCHAR_MAX + 1 + i;
}

bool options_take_fail_on(const char *value) {
    options.fail_on = strcmp(value, "error") == 0     ? WC_severity_ERROR
                      : strcmp(value, "warning") == 0 ? WC_severity_WARNING
                                                      : WC_severity_NONE;
    if (options.fail_on == WC_severity_NONE)
        complain("--fail-on takes error or warning, not %s", value);
    return options.fail_on != WC_severity_NONE;
}

/* Auto: `to` is a terminal and NO_COLOR is unset or empty (no-color.org). */
static bool choose_colour(FILE *to) {
    const char *no_color = getenv("NO_COLOR"), *when = options.when;
    const bool is_auto = strcmp(when, "auto") == 0, is_always = strcmp(when, "always") == 0;

    options.colour = is_always || (is_auto && isatty(fileno(to)) && !(no_color && *no_color));
    return is_auto || is_always || strcmp(when, "never") == 0;
}

int options_run(int argc, char **argv, const struct usage *u) {
    const struct option_row *rows = u->options;
    struct option known[ROWS_MOST] = {{.name = NULL}};
    char letters[2 * ROWS_MOST] = "", *letter = letters;
    bool has_command = false, is_before;
    int code, n, most, at;

    if (u->child && argc > 1 && strcmp(argv[1], "--child") == 0)
        return u->child(argv[2]);
    for (int i = 1; u->command && i < argc && !has_command; i++)
        if (strcmp(argv[i], "--") == 0) {
            has_command = true;
            *u->command = argv + i + 1;
            argc = i;
        }
    if (u->is_prefix)
        *letter++ = '+';
    for (int i = 0; rows[i].name; i++) {
        known[i] = (struct option){rows[i].name, rows[i].argument ? 1 : 0, NULL, code_of(rows, i)};
        if (rows[i].letter)
            *letter++ = rows[i].letter;
        if (rows[i].letter && rows[i].argument)
            *letter++ = ':';
    }
    while ((code = getopt_long(argc, argv, letters, known, NULL)) != -1) {
        if (code == '?')
            return not_taken(argv, rows, argv[optind - 1]);
        for (at = 0; rows[at].name && code_of(rows, at) != code;)
            at++;
        /* It lacks its argument, or that is bad: that was complained of. */
        if (!rows[at].name || (rows[at].take && !rows[at].take(optarg)))
            return complain("see %s --help", argv[0]);
        if (rows[at].flag)
            *rows[at].flag = true;
        else if (rows[at].value)
            *rows[at].value = optarg;
        if (options.help)
            return print_help(u);
    }
    if (!choose_colour(u->colours_stderr || has_command ? stderr : stdout)) {
        complain("--color takes auto, always or never, not %s", options.when);
        return complain("see %s --help", argv[0]);
    }
    n = argc - optind;
    is_before = has_command && u->before_command;
    most = is_before ? 1 : u->most;
    if (n < u->least || (most >= 0 && n > most)) {
        complain("%s is expected%s%s", is_before ? u->before_command : u->arguments,
                 n < u->least ? "" : ", not also ", n < u->least ? "" : argv[optind + most]);
        return complain("see %s --help", argv[0]);
    }
    if (has_command && !**u->command)
        return complain("a command is expected after --");
    return u->run(n, argv + optind);
}

/* ---- which word was meant ---- */

#define WORD_MOST 48

/* By the optimal string alignment distance. Both are shorter than WORD_MOST. */
static size_t changes_between(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b), d[WORD_MOST][WORD_MOST];

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] =
                MIN(MIN(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

void nearest_look(struct nearest *n, const char *typed, const char *word) {
    if (!*typed || strlen(typed) >= WORD_MOST || strlen(word) >= WORD_MOST)
        return;
    size_t changes = strstr(word, typed) ? 1 : changes_between(typed, word);
    if (changes > strlen(word) / 3)
        return;
    if (!n->word || changes < n->changes) {
        n->second = n->word;
        n->second_changes = n->changes;
        n->word = word;
        n->changes = changes;
    } else if (!n->second || changes < n->second_changes) {
        n->second = word;
        n->second_changes = changes;
    }
}

char *nearest_question(const struct nearest *n, const char *otherwise) {
    return n->word
               ? must_format("; did you mean %s%s%s?", n->word, n->second ? " or " : "", n->second)
               : must_copy(otherwise);
}
