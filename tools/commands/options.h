/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that every subcommand has, and how options are read: --help, --json, --color.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

/* The last rows of a table of options; --json is left out by a subcommand that prints none. */
#define OPTIONS_JSON                                                                               \
    { "json", no_argument, NULL, 'j' }
#define OPTIONS_ALL                                                                                \
    {"color", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {                   \
        NULL, 0, NULL, 0                                                                           \
    }

/* An own option is handed to `take`; false: its value is bad, and `take` has complained. */
typedef bool options_take(int c, char *value, void *own);

struct options_kind {
    const char *usage;          /* what --help prints: a screen of 80 columns */
    const char *letters;        /* as getopt's; "+" first: what follows is another's command line */
    const struct option *known; /* ends with OPTIONS_ALL; 'j', 'c', 'h' and '?' are taken */
    options_take *take;         /* NULL: no options of its own */
    FILE *coloured;             /* where colour would go */
    int least, most;            /* how many arguments; most -1: any number */
    const char *arguments;      /* what is expected of them, for the complaint: "a log" */
};

struct options_common {
    bool json, colour;
};

/* -1: go on, the arguments begin at argv[optind]; else the exit code, all printed. */
int options_read(int argc, char **argv, const struct options_kind *kind,
                 struct options_common *common, void *own);
