/* SPDX-License-Identifier: Apache-2.0 */
/* See options.h. */
#include "options.h"

#include "command.h"
#include "tools/util/terminal.h"

/* argv[0] is "whichcudnn NAME": see main.c. getopt begins its own complaints with it. */
static int misused(char **argv) {
    complain("see %s --help", argv[0]);
    return EXIT_USAGE;
}

static int count_arguments(int n, char **argv, const struct options_kind *kind) {
    if (n < kind->least)
        complain("%s is expected", kind->arguments);
    else if (kind->most >= 0 && n > kind->most)
        complain("%s is expected, not also %s", kind->arguments, argv[optind + kind->most]);
    else
        return -1;
    return misused(argv);
}

int options_read(int argc, char **argv, const struct options_kind *kind,
                 struct options_common *common, void *own) {
    const char *colour = "auto";
    int c;

    while ((c = getopt_long(argc, argv, kind->letters, kind->known, NULL)) != -1) {
        if (c == 'h')
            return fputs(kind->usage, stdout) < 0 ? EXIT_USAGE : EXIT_NOTHING_WRONG;
        if (c == 'c')
            colour = optarg;
        else if (c == 'j')
            common->json = true;
        else if (c == '?' || !kind->take(c, optarg, own))
            return misused(argv);
    }
    if (!colour_choose(colour, kind->coloured, &common->colour)) {
        complain("--color takes auto, always or never, not %s", colour);
        return misused(argv);
    }
    return count_arguments(argc - optind, argv, kind);
}
