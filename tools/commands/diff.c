/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn diff: two processes next to each other. */
#include <stdio.h>

#include "input.h"
#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

static bool redact;

static const struct option_row rows[] = {
    {"json", NULL, "as JSON (docs/lock.md)", .flag = &options.json},
    {"redact", NULL, "users, their home directories and nodes get other names", .flag = &redact},
    OPTIONS_END("auto (on a terminal, unless NO_COLOR is set), always, never"),
};

static int diff(int n, char **arguments) {
    ENDED_BY(job_end) struct job j = {.plans = PLAN_ALL_BUT_LOCKS};
    const struct source *a = input_read_one(&j.in, arguments[0]);
    const struct source *b = a ? input_read_one(&j.in, arguments[n - 1]) : NULL;
    struct layout l = {.to = stdout, .colour = options.colour};

    if (!b)
        return EXIT_USAGE;
    j.names = redact ? redaction_of_logs(&j.in.logs) : NULL;
    job_judge(&j);
    if (!j.reports[0].conclusion.concerned && !j.reports[1].conclusion.concerned) {
        complain("nothing to compare: nothing was observed in either");
        return EXIT_NOTHING_OBSERVED;
    }
    ENDED_BY(comparison_end) struct comparison c;
    compare(&c, a, b);
    if (options.json)
        json_print(stdout, json_pack("{s:b, s:o, s:o, s:o}", "same", c.n == 0, "a",
                                     side_json(&j.reports[0]), "b", side_json(&j.reports[1]),
                                     "differences", differences_json(&c)));
    else if (c.n == 0)
        printf("%ssame%s: nothing differs of what both know\n", paint_begin(l.colour, PAINT_OK),
               paint_end(l.colour));
    if (!options.json)
        render_comparison(
            &l, &c, "differs",
            (const struct compared_side[2]){{"A", &j.reports[0]}, {"B", &j.reports[1]}});
    return c.n > 0 ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;
}

const struct usage cmd_diff = {
    .begin = "Usage: whichcudnn diff [--json] [--redact] [--color=WHEN] A B\n\n"
             "Prints what differs between two processes, cause first: \"works in the container,\n"
             "not on the host\". A and B are each a log, a directory of logs, a lock, or the\n"
             "number of a running process (./123 is a file). Where there are several, A:PID\n"
             "takes one.\n\n"
             "Compares only facts that both contain: a running process has no calls, a lock no\n"
             "directories. Paths, ranks and the preloaded library are ignored.\n\n",
    .options = rows,
    .end = "Exit status: 0 no difference, 1 they differ, 2 usage or unreadable, 3 nothing to\n"
           "compare: nothing was observed in either.\n",
    .least = 2,
    .most = 2,
    .arguments = "two logs, locks or processes",
    .run = diff,
};
