/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn env: lines by which a shell has the shim in whatever it starts. */
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "tools/observe/preload.h"
#include "tools/util/memory.h"

static bool fish, unset;
static const char *log_given;

static bool take_log(const char *place) {
    log_given = place;
    if (!*place)
        complain("--log takes a place");
    return *place;
}

static const struct option_row rows[] = {
    {"fish", NULL, "for fish; without it for shells of POSIX", .flag = &fish},
    {"unset", NULL, "lines that take it out again, as things are now", .flag = &unset},
    {"log", " PLACE",
     "WHICHCUDNN_LOG, too: a directory (made, with a / at its end), or\na file name (%p pid, %n "
     "node, %r rank)",
     .take = take_log},
    OPTIONS_END(NULL),
};

/* One word of any shell. fish knows a backslash within quotes, too. */
static void print_quoted(const char *s) {
    putchar('\'');
    for (; *s; s++)
        if (*s == '\'' || *s == '\\')
            printf("'\\%c'", *s);
        else
            putchar(*s);
    putchar('\'');
}

static void print_set(const char *name, const char *value) {
    printf(fish ? "set -gx %s " : "%s=", name);
    print_quoted(value);
    if (!fish)
        printf("\nexport %s", name);
    putchar('\n');
}

static int print_env(int n, char **arguments) {
    OWNED char *shim = preload_find_shim(NULL), *rest = NULL;
    const char *name = shim ? wc_base_name(shim) : NULL;

    (void)n;
    (void)arguments;
    if (!shim)
        return EXIT_USAGE;
    if (unset) {
        rest = preload_without(getenv("LD_PRELOAD"), shim);
        if (rest)
            print_set("LD_PRELOAD", rest);
        else
            puts(fish ? "set -e LD_PRELOAD" : "unset LD_PRELOAD");
        puts(fish ? "set -e WHICHCUDNN_LOG" : "unset WHICHCUDNN_LOG");
        return EXIT_NOTHING_WRONG;
    }
    /* Two copies of the library, of whatever path, would both be loaded. */
    fputs(fish ? "if not contains -- " : "case \" ${LD_PRELOAD-} \" in\n*[\\ :/]", stdout);
    print_quoted(name);
    fputs(fish ? " (string replace -r -- '.*/' '' (string split -- : (string replace -a -- ' ' : "
                 "\"$LD_PRELOAD\")))\n    set -gx LD_PRELOAD (string join -- : $LD_PRELOAD "
               : "[\\ :]*) ;;\n*) LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}\"",
          stdout);
    print_quoted(shim);
    fputs(fish ? ")\nend\n" : " ;;\nesac\nexport LD_PRELOAD\n", stdout);
    if (log_given) {
        ENDED_BY(log_place_end) struct log_place place;
        log_place_choose(&place, log_given);
        print_set("WHICHCUDNN_LOG", place.value);
    }
    return EXIT_NOTHING_WRONG;
}

const struct usage cmd_env = {
    .begin = "Usage: whichcudnn env [--fish] [--unset] [--log PLACE]\n\n"
             "Prints lines that put libwhichcudnn.so into whatever the shell starts from then\n"
             "on:\n\n"
             "    eval \"$(whichcudnn env --log ~/logs/)\"         sh, bash, zsh, dash, ksh\n"
             "    whichcudnn env --fish --log ~/logs/ | source   fish\n\n"
             "What LD_PRELOAD holds already stays in front; where the library is in it, it\n"
             "stays as it is. The lines may be kept in a file: they look when they are read.\n\n",
    .options = rows,
    .end = "Exit status: 0; 2 usage, or the library was not found.\n",
    .arguments = "no argument",
    .run = print_env,
};
