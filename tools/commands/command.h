/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a subcommand is. One file in commands/ each; main.c has the table.
 */
#pragma once

#ifndef WHICHCUDNN_VERSION
#define WHICHCUDNN_VERSION "unknown"
#endif

/* The same for every subcommand, except that `run` gives its child's status. */
enum exit_code {
    EXIT_NOTHING_WRONG = 0,
    EXIT_ERRORS_FOUND = 1,
    EXIT_USAGE = 2, /* also: what was named cannot be read */
    EXIT_NOTHING_OBSERVED = 3,
    EXIT_UNEXPLAINED = 4,
    EXIT_NOT_REPAIRED = 5 /* no repair is known, or none that was tried holds */
};

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

/* The words of `whichcudnn run --quiet --log PLACE -- COMMAND...`; *n of them, a NULL behind. The
 * caller frees the list. */
char **run_quietly(char *place, char **command, int *n);

/* "whichcudnn: ..." and a newline on stderr, with control characters of the arguments escaped. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says that there is no more memory, and ends the program. */
void must_fail(void) __attribute__((noreturn));
extern void (*must_fail_instead)(void); /* called first; NULL: nothing */
