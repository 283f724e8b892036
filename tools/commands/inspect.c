/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn inspect: running processes into text or JSON. */

#include "tools/observe/inspect/inspect.h"
#include "input.h"
#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/log/redact.h"
#include "tools/report/render.h"
#include "tools/util/layout.h"

static bool verbose, redact;

static const struct option_row rows[] = {
    {"verbose", NULL, "everything that is known, nothing shortened", 'v', .flag = &verbose},
    {"json", NULL, "the same as JSON (docs/report.schema.json); of several a list",
     .flag = &options.json},
    {"redact", NULL, "users, their home directories and nodes get other names", .flag = &redact},
    OPTION_COLOR("auto (on a terminal, unless NO_COLOR is set), always, never"),
    OPTIONS_END,
};

static int inspect_arguments(int n, char **arguments) {
    struct layout layout = {.to = stdout, .colour = options.colour, .whole = verbose};
    enum exit_code found = EXIT_NOTHING_OBSERVED;
    json_t *list = json_array();
    struct logs all = {.file_count = 0};
    struct redaction *names = NULL;
    int64_t pid;
    int told;

    for (int i = 0; i < n; i++) {
        OWNED char *trouble = NULL;
        struct source *source =
            input_read_pid(arguments[i], &pid) ? inspect_process(pid, &trouble) : NULL;
        if (source)
            logs_add(&all, source);
        else
            complain("%s: %s", arguments[i], trouble ?: "the number of a process is expected");
    }
    told = (int)all.process_count;
    if (redact)
        names = redaction_of_logs(&all);
    for (int i = 0; i < told; i++) {
        struct report report;
        report_make(&report, all.processes[i]);
        report_plan(&report);
        if (names) {
            redaction_apply(names, all.processes[i]);
            report_redact(&report, names);
        }
        if (i > 0 && !options.json)
            putchar('\n');
        if (options.json)
            json_array_append_new(list, render_json(&report));
        else
            render_text(&layout, &report);
        found = exit_code_of_both(found, report_exit_code(&report));
        report_end(&report);
    }
    logs_end(&all);
    if (names)
        redaction_free(names);
    /* One that was asked for is an object, several are a list. */
    if (options.json && told > 0)
        json_print(stdout, json_incref(n > 1 ? list : json_array_get(list, 0)));
    json_decref(list);
    return told == n ? (int)found : EXIT_USAGE;
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
