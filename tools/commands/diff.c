/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn diff: two processes beside each other. */
#include <stdio.h>

#include "input.h"
#include "options.h"
#include "tools/log/record_json.h"
#include "tools/report/render_diff.h"

static const char usage[] =
    "Usage: whichcudnn diff [--json] [--color=WHEN] A B\n"
    "\n"
    "Says what differs between two processes, cause first: \"works in the container,\n"
    "not on the host\". A and B are each a log, a directory of logs, a lock, or the\n"
    "number of a running process (./123 is a file). Where there are several, A:PID\n"
    "takes one.\n"
    "\n"
    "Compared is what both know: a running process has no calls, a lock has no\n"
    "directories. Paths, ranks, and the preloaded library itself are no difference.\n"
    "\n"
    "  --json        as JSON (docs/lock.md)\n"
    "  --color=WHEN  auto (on a terminal, unless NO_COLOR is set), always, never\n"
    "  -h, --help    this text\n"
    "\n"
    "Exit status: 0 no difference, 1 they differ, 2 usage or unreadable, 3 nothing to\n"
    "compare: nothing was observed in either.\n";

static void print_diff(const struct report *side, const struct comparison *c, bool colour) {
    struct layout l = {.to = stdout, .colour = colour};

    if (c->n > 0) {
        render_first_difference(&l, "differs", c);
    } else {
        layout_line(&l, 0, 4);
        layout_painted(&l, "same", PAINT_OK);
        layout_stick(&l, ":");
        layout_words(&l, "nothing differs of what both know");
        layout_end(&l);
    }
    render_side(&l, "A", &side[0]);
    render_side(&l, "B", &side[1]);
    render_differences(&l, c, "A", "B");
}

static bool observed_nothing(const struct report *r) {
    return report_exit_code(r) == EXIT_NOTHING_OBSERVED;
}

static enum exit_code diff(const struct source *a, const struct source *b,
                           const struct options_common *options) {
    struct report side[2];
    struct comparison c;
    enum exit_code answer;

    report_make(&side[0], a);
    report_make(&side[1], b);
    compare(&c, a, b);
    if (observed_nothing(&side[0]) && observed_nothing(&side[1])) {
        complain("nothing to compare: nothing was observed in either");
        answer = EXIT_NOTHING_OBSERVED;
    } else {
        if (options->json)
            json_print(stdout,
                       json_pack("{s:b, s:o, s:o, s:o}", "same", c.n == 0, "a", side_json(&side[0]),
                                 "b", side_json(&side[1]), "differences", differences_json(&c)));
        else
            print_diff(side, &c, options->colour);
        answer = c.n > 0 ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;
    }
    comparison_end(&c);
    report_end(&side[0]);
    report_end(&side[1]);
    return answer;
}

int cmd_diff(int argc, char **argv) {
    static const struct option known[] = {OPTIONS_JSON, OPTIONS_ALL};
    const struct options_kind kind = {usage,  "h", known, NULL,
                                      stdout, 2,   2,     "two logs, locks or processes"};
    struct options_common options = {false, false};
    struct inputs inputs = {.troubles = NULL};
    int answer = options_read(argc, argv, &kind, &options, NULL);
    struct source *a, *b;

    if (answer >= 0)
        return answer;
    a = input_read_one(&inputs, argv[optind]);
    b = a ? input_read_one(&inputs, argv[optind + 1]) : NULL;
    answer = a && b ? (int)diff(a, b, &options) : EXIT_USAGE;
    inputs_end(&inputs);
    return answer;
}
