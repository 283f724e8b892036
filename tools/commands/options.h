/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a subcommand is: its options, a row each, of which its --help and the reading of options are
 * made, and what it does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/util/program.h"
#include "whichcudnn/record.h"

struct option_row {
    const char *name, *argument; /* "color", "=WHEN" as --help shows it; NULL: it takes none */
    const char *help;            /* may be several lines; NULL: --help does not show it */
    char letter;                 /* 0: none */
    bool *flag;                  /* set where the option is given; or else */
    const char **value;          /* set to its argument; or else */
    bool (*take)(const char *);  /* reads its argument; false: that is bad, and complained of */
};

#define OPTION_AS_OWNER(help)                                                                      \
    { "as-owner", NULL, help, .flag = &options.as_owner }
#define OPTION_FAIL_ON(help)                                                                       \
    { "fail-on", " SEVERITY", help, .take = options_take_fail_on }
/* At the end of each table. colour: help of --color; NULL: nothing that is printed may have one. */
#define OPTIONS_END(colour)                                                                        \
    {"color", "=WHEN", colour, .value = &options.when},                                            \
        {"help", NULL, "this text", 'h', .flag = &options.help}, {                                 \
        .name = NULL                                                                               \
    }

struct usage {
    const char *begin, *end;             /* of --help, before and after the options */
    const struct option_row *options;    /* in a screen of 24 lines of 80 columns with the rest */
    int least, most;                     /* how many arguments; most -1: any number */
    const char *arguments;               /* what is expected of them, for the complaint: "a log" */
    bool is_prefix;                      /* the arguments are another's command line */
    char ***command;                     /* set to the one after the first "--"; NULL: takes none */
    const char *before_command;          /* the one argument before it; NULL: as without */
    bool colours_stderr;                 /* what may have colour is printed there */
    int (*run)(int n, char **arguments); /* n, with a NULL after them; returns the exit code */
    int (*child)(const char *argument);  /* of `NAME --child [ARGUMENT]`, which it starts; NULL */
};
/* Of NAME.c each; main.c has the table. */
extern const struct usage cmd_check, cmd_diff, cmd_doctor, cmd_env, cmd_explain, cmd_fix;
extern const struct usage cmd_inspect, cmd_install, cmd_lock, cmd_probe, cmd_report, cmd_run;
extern const struct usage cmd_scan;

/* To which rows of several subcommands point. */
struct options {
    bool json, help, as_owner;
    char **words;     /* the command line: a word, "whichcudnn NAME", its options and arguments */
    const char *when; /* of --color, which is read into: */
    bool colour;
    enum wc_severity fail_on; /* the least that fails (tools/report/report.h); NONE: nothing does */
};
extern struct options options;
bool options_take_fail_on(const char *value);

/* Reads the options in argv (argv[0] is "whichcudnn NAME") and runs it. Returns the exit code. */
int options_run(int argc, char **argv, const struct usage *u);

/* Which word was meant: the one with the fewest changes to become what was typed. */
struct nearest { /* all zero: nothing was looked at yet */
    const char *word, *second;
    size_t changes, second_changes;
};

/* Takes word in if it is similar enough: it has all of `typed`, or a third of its
 * characters at most are missing, wrong, too many or change places with the next one. */
void nearest_look(struct nearest *n, const char *typed, const char *word);
/* "; did you mean report or repair?"; `otherwise` where none is near. The caller frees. */
char *nearest_question(const struct nearest *n, const char *otherwise);
