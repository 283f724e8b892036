/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch MEASURE ROUNDS VARIANT [NAME=VALUE]... [, VARIANT [NAME=VALUE]...]... -- COMMAND...
 *
 * Runs the command once per variant and round, A B C, B C A, ..., so that whatever else the machine
 * does hits all alike, and prints one line per run: "MEASURE VARIANT ROUND ms VALUE" from before
 * the process is made until it is gone, "... cpu_ms VALUE" for the time it spent on a processor,
 * and "... faults VALUE" for the pages that it touched first. The command finds "MEASURE VARIANT
 * ROUND" in BENCH and may print lines of its own; its standard error goes to /dev/null, its
 * standard output to ours. Round 0, which warms up, comes on top of ROUNDS; whoever adds up leaves
 * it out. BEFORE=WORDS among a variant's variables is none: its words, split at spaces, stand
 * before the command.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VARIANTS_MOST 8
#define VARIABLES_MOST 4
#define WORDS_MOST 64 /* of a command */

extern char **environ;

struct variant {
    const char *name;
    char *variables[VARIABLES_MOST];
    int count;
    char *before[WORDS_MOST / 2];
    int before_count;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double milliseconds(struct timeval t) {
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* Ours, the variant's variables, and BENCH. */
static char **environment_of(const struct variant *v, char *bench) {
    int n = 0, at = 0;
    while (environ[n])
        n++;
    char **all = calloc((size_t)n + VARIABLES_MOST + 2, sizeof *all);
    if (!all)
        exit(1);
    for (int i = 0; i < n; i++)
        all[at++] = environ[i];
    for (int i = 0; i < v->count; i++)
        all[at++] = v->variables[i];
    all[at++] = bench;
    return all;
}

static void put_before(const struct variant *v, char **command, char **to) {
    int n = 0;
    for (; n < v->before_count; n++)
        to[n] = v->before[n];
    while (*command && n < WORDS_MOST - 1)
        to[n++] = *command++;
    to[n] = NULL;
}

static void run(const char *measure, const struct variant *v, int round, char **command,
                posix_spawn_file_actions_t *files) {
    char bench[256], *words[WORDS_MOST];
    struct rusage used;
    pid_t child;
    int status;
    snprintf(bench, sizeof bench, "BENCH=%s\t%s\t%d", measure, v->name, round);
    char **environment = environment_of(v, bench);
    put_before(v, command, words);
    double start = now();
    int error = posix_spawn(&child, words[0], files, NULL, words, environment);
    if (error || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "launch: %s, %s: %s\n", measure, v->name,
                error ? strerror(error) : "the command failed");
        exit(1);
    }
    double took = now() - start;
    free(environment);
    printf("%s\t%s\t%d\tms\t%.6f\n", measure, v->name, round, took);
    printf("%s\t%s\t%d\tcpu_ms\t%.6f\n", measure, v->name, round,
           milliseconds(used.ru_utime) + milliseconds(used.ru_stime));
    printf("%s\t%s\t%d\tfaults\t%ld\n", measure, v->name, round, used.ru_minflt);
    fflush(stdout);
}

static void read_before(struct variant *v, char *words) {
    char *save = NULL, *word;
    for (; (word = strtok_r(words, " ", &save)) && v->before_count < WORDS_MOST / 2; words = NULL)
        v->before[v->before_count++] = word;
}

static int read_variants(char **words, struct variant *to, char ***command) {
    int n = 0;
    for (; *words && strcmp(*words, "--"); words++) {
        if (!strcmp(*words, ","))
            continue;
        if (n && !strncmp(*words, "BEFORE=", 7))
            read_before(&to[n - 1], *words + 7);
        else if (!strchr(*words, '=') && n < VARIANTS_MOST)
            to[n++] = (struct variant){.name = *words};
        else if (strchr(*words, '=') && n && to[n - 1].count < VARIABLES_MOST)
            to[n - 1].variables[to[n - 1].count++] = *words;
        else
            return 0;
    }
    *command = words + 1;
    return *words && words[1] ? n : 0;
}

int main(int argc, char **argv) {
    struct variant variants[VARIANTS_MOST] = {0};
    char **command = NULL;
    posix_spawn_file_actions_t files;
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    int n = argc > 3 ? read_variants(argv + 3, variants, &command) : 0;
    if (n == 0 || rounds < 1) {
        fputs("usage: launch MEASURE ROUNDS VARIANT [NAME=VALUE]... [, ...] -- COMMAND...\n",
              stderr);
        return 2;
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    for (int round = 0; round <= rounds; round++)
        for (int i = 0; i < n; i++)
            run(argv[1], &variants[(round + i) % n], round, command, &files);
    return 0;
}
