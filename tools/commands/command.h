/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a subcommand is. One file in commands/ each; main.c has the table.
 */
#pragma once

#include "tools/util/program.h"

struct command {
    const char *name;
    int (*main)(int argc, char **argv); /* argv[0] is the name; returns the exit code */
    const char *what;                   /* one line for the list */
};

int cmd_check(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_fix(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_install(int argc, char **argv);
int cmd_lock(int argc, char **argv);
int cmd_probe(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_scan(int argc, char **argv);

/* The words of `whichcudnn run --quiet --log PLACE -- COMMAND...`, a NULL behind. The caller frees
 * the list. */
char **run_quietly(char *place, char **command);
