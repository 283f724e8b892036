/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn inspect: running processes into text or JSON. */

#include "input.h"
#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

static bool verbose, redact;

static const struct option_row rows[] = {
    {"verbose", NULL, "everything that is known, nothing shortened", 'v', .flag = &verbose},
    {"json", NULL, "the same as JSON (docs/report.schema.json); of several a list",
     .flag = &options.json},
    {"redact", NULL, "users, their home directories and nodes get other names", .flag = &redact},
    OPTIONS_END("auto (on a terminal, unless NO_COLOR is set), always, never"),
};

static int inspect_arguments(int n, char **arguments) {
    struct layout layout = {.to = stdout, .colour = options.colour, .whole = verbose};
    ENDED_BY(job_end) struct job j = {.n = 0};
    json_auto_t *list = json_array();
    int64_t pid;

    for (int i = 0; i < n; i++)
        if (input_read_pid(arguments[i], &pid))
            input_read(&j.in, arguments[i]);
        else
            complain("%s: the number of a process is expected", arguments[i]);
    inputs_complain(&j.in);
    j.names = redact ? redaction_of_logs(&j.in.logs) : NULL;
    job_judge(&j);
    for (size_t i = 0; i < j.n; i++) {
        if (i > 0 && !options.json)
            putchar('\n');
        if (options.json)
            json_array_append_new(list, render_json(&j.reports[i]));
        else
            render_text(&layout, &j.reports[i]);
    }
    /* One that was asked for is an object, several are a list. */
    if (options.json && j.n > 0)
        json_print(stdout, json_incref(n > 1 ? list : json_array_get(list, 0)));
    return (int)(j.n == (size_t)n ? j.answer : EXIT_USAGE);
}

const struct usage cmd_inspect = {
    .begin = "Usage: whichcudnn inspect [-v] [--json] [--redact] [--color=WHEN] PID...\n\n"
             "Reports which cuDNN each running process got, from where, and what does not\n"
             "match, whether it was started with whichcudnn or not. Past events are unknown:\n"
             "failed requests, calls, their order. Reads /proc and the mapped files; the\n"
             "process is neither stopped nor changed.\n\n",
    .options = rows,
    .end = "Another user's process requires root. The bindings of hosts are read from the\n"
           "memory of the process: if kernel.yama.ptrace_scope is not 0, only its parent or\n"
           "root may read it.\n\n"
           "Exit status: 0 nothing wrong, 1 errors found, 2 usage, no such process or not\n"
           "permitted, 3 not observed, 4 unexplained.\n",
    .least = 1,
    .most = -1,
    .arguments = "the number of a process",
    .run = inspect_arguments,
};
