/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn env: lines by which a shell has the shim in whatever it starts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "core/model/names.h"
#include "options.h"
#include "tools/run/preload.h"
#include "tools/util/memory.h"

static const char usage[] =
    "Usage: whichcudnn env [--fish] [--unset] [--log PLACE]\n"
    "\n"
    "Prints lines that put libwhichcudnn.so into whatever the shell starts from then\n"
    "on:\n"
    "\n"
    "    eval \"$(whichcudnn env --log ~/logs/)\"         sh, bash, zsh, dash, ksh\n"
    "    whichcudnn env --fish --log ~/logs/ | source   fish\n"
    "\n"
    "What LD_PRELOAD holds already stays in front; where the library is in it, it\n"
    "stays as it is. The lines may be kept in a file: they look when they are read.\n"
    "\n"
    "  --fish       for fish; without it for shells of POSIX\n"
    "  --unset      lines that take it out again, as things are now\n"
    "  --log PLACE  WHICHCUDNN_LOG, too: a directory (made, with a / at its end), or\n"
    "               a file name (%p pid, %n node, %r rank)\n"
    "  --help       this text\n"
    "\n"
    "Exit status: 0; 2 usage, or the library was not found.\n";

struct options {
    const char *log;
    bool fish, unset;
    struct options_common common;
};

/* One word of the shell. Within quotes of POSIX nothing is special but the quote itself; fish knows
 * a backslash there, too. */
static void print_quoted(const char *s, bool fish) {
    putchar('\'');
    for (; *s; s++) {
        if (fish && (*s == '\'' || *s == '\\'))
            printf("\\%c", *s);
        else if (*s == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*s);
    }
    putchar('\'');
}

static void print_set(const char *name, const char *value, bool fish) {
    printf(fish ? "set -gx %s " : "%s=", name);
    print_quoted(value, fish);
    if (!fish)
        printf("\nexport %s", name);
    putchar('\n');
}

static void print_unset(const char *name, bool fish) {
    printf(fish ? "set -e %s\n" : "unset %s\n", name);
}

/* Two copies of the library, of whatever path, would both be loaded. */
static void print_preload_sh(const char *shim) {
    fputs("case \" ${LD_PRELOAD-} \" in\n*[\\ :/]", stdout);
    print_quoted(wc_base_name(shim), false);
    fputs("[\\ :]*) ;;\n*) LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}\"", stdout);
    print_quoted(shim, false);
    fputs(" ;;\nesac\nexport LD_PRELOAD\n", stdout);
}

static void print_preload_fish(const char *shim) {
    fputs("if not contains -- ", stdout);
    print_quoted(wc_base_name(shim), true);
    fputs(" (string replace -r -- '.*/' '' (string split -- : (string replace -a -- ' ' : "
          "\"$LD_PRELOAD\")))\n    set -gx LD_PRELOAD (string join -- : $LD_PRELOAD ",
          stdout);
    print_quoted(shim, true);
    fputs(")\nend\n", stdout);
}

static void print_lines(const char *shim, const struct options *options) {
    struct log_place place;

    if (options->fish)
        print_preload_fish(shim);
    else
        print_preload_sh(shim);
    if (!options->log)
        return;
    log_place_choose(&place, options->log);
    print_set("WHICHCUDNN_LOG", place.value, options->fish);
    log_place_end(&place);
}

static void print_lines_back(const char *shim, const struct options *options) {
    char *rest = preload_without(getenv("LD_PRELOAD"), shim);

    if (rest)
        print_set("LD_PRELOAD", rest, options->fish);
    else
        print_unset("LD_PRELOAD", options->fish);
    print_unset("WHICHCUDNN_LOG", options->fish);
    free(rest);
}

static bool take_option(int c, char *value, void *own) {
    struct options *options = own;

    if (c == 'l')
        options->log = value;
    else if (c == 'f')
        options->fish = true;
    else
        options->unset = true;
    return c != 'l' || *value || (complain("--log takes a place"), false);
}

int cmd_env(int argc, char **argv) {
    static const struct option known[] = {{"fish", no_argument, NULL, 'f'},
                                          {"unset", no_argument, NULL, 'u'},
                                          {"log", required_argument, NULL, 'l'},
                                          OPTIONS_ALL};
    const struct options_kind kind = {usage, "h", known, take_option, stdout, 0, 0, "no argument"};
    struct options options = {.log = NULL};
    int answer = options_read(argc, argv, &kind, &options.common, &options);
    char *shim;

    if (answer >= 0)
        return answer;
    shim = preload_find_shim();
    if (!shim)
        return EXIT_USAGE;
    if (options.unset)
        print_lines_back(shim, &options);
    else
        print_lines(shim, &options);
    free(shim);
    return EXIT_NOTHING_WRONG;
}
