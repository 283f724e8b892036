/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn: the command. Each subcommand is a row here and a file in commands/. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cudnn_knowledge.inc"
#include "tools/commands/options.h"
#include "tools/util/memory.h"

#ifndef WHICHCUDNN_COMMIT
#define WHICHCUDNN_COMMIT ""
#endif

static const struct {
    const char *name;
    const struct usage *usage;
    const char *what; /* one line for the list */
} commands[] = {
    {"run", &cmd_run, "start a command, watch it, say at its end what did not match"},
    {"report", &cmd_report, "say what a log shows: which cuDNN, from where, what does not match"},
    {"fix", &cmd_fix, "what repairs it: says it, tries it where nothing is lost, does it"},
    {"inspect", &cmd_inspect, "which cuDNN a running process got, preloaded or not"},
    {"scan", &cmd_scan, "look before anything runs: every copy, every host, what it would get"},
    {"diff", &cmd_diff, "what differs between two logs, locks or processes, cause first"},
    {"lock", &cmd_lock, "keep what a process got in a small file that git can compare"},
    {"check", &cmd_check, "say what is no longer as a lock has it"},
    {"explain", &cmd_explain, "the page of a finding: what it means, what to do, how to check"},
    {"probe", &cmd_probe, "does the cuDNN that this environment gives work? tries it"},
    {"doctor", &cmd_doctor, "can the library do its work here? what to do if not"},
    {"env", &cmd_env, "lines to source, by which a shell watches whatever it starts"},
    {"install", &cmd_install, "a copy of the library in a directory that others see, made safely"},
};

static int help(void) {
    puts("Usage: whichcudnn COMMAND [options]\n"
         "\n"
         "Which cuDNN did a process really get, from where, and does it fit its host?\n");
    WC_EACH_ROW(row, commands)
        printf("  %-8s  %s\n", row->name, row->what);
    puts("\n"
         "whichcudnn help COMMAND prints its options, whichcudnn --version the version.\n"
         "\n"
         "Exit status: 0 nothing wrong, 1 errors found, 2 usage or unreadable, 3 nothing\n"
         "observed; run gives the status of its command.");
    return EXIT_NOTHING_WRONG;
}

static int run_command(int argc, char **argv) {
    static char name[32];
    struct nearest meant = {.word = NULL};

    snprintf(name, sizeof(name), "whichcudnn %s", argv[0]);
    WC_EACH_ROW(row, commands) {
        nearest_look(&meant, argv[0], row->name);
        if (strcmp(argv[0], row->name) != 0)
            continue;
        argv[0] = name; /* what complaints about options begin with */
        optind = 0;     /* begin again: main has read options of its own */
        return options_run(argc, argv, row->usage);
    }
    OWNED char *question = nearest_question(&meant, "; see whichcudnn --help");
    return complain("no command called %s%s", argv[0], question);
}

int main(int argc, char **argv) {
    static const struct option known[] = {
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};
    char help_option[] = "--help", *asked[] = {NULL, help_option, NULL};
    int c, answer;

    /* A line is one write: among what others write there it stays together. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    while ((c = getopt_long(argc, argv, "+h", known, NULL)) != -1) {
        if (c == 'h')
            return help();
        if (c == 'V') {
            fputs("whichcudnn " WHICHCUDNN_VERSION, stdout);
            if (WHICHCUDNN_COMMIT[0]) /* it was built in a repository */
                fputs(" (" WHICHCUDNN_COMMIT ")", stdout);
            return puts("\nknows cuDNN up to " WC_NEWEST_CUDNN ", tables of " WC_TABLES_DATE) < 0;
        }
        return complain("see whichcudnn --help");
    }
    if (optind == argc)
        return complain("no command given; see whichcudnn --help");
    argc -= optind;
    argv += optind;
    options.words = argv - 1;
    asked[0] = argc > 1 ? argv[1] : NULL;
    answer = strcmp(argv[0], "help") != 0 ? run_command(argc, argv)
             : argc > 1                   ? run_command(2, asked) /* COMMAND --help */
                                          : help();
    if (fflush(stdout) != 0 || ferror(stdout))
        return complain("what was printed could not be written");
    return answer;
}
