/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn inspect: running processes into text or JSON. */
#include <stdlib.h>

#include "command.h"
#include "input.h"
#include "options.h"
#include "tools/observe/inspect/inspect.h"
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

static const struct usage usage = {
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
};

static struct source *inspect_argument(const char *text) {
    struct source *source;
    char *trouble;
    int64_t pid;

    if (!input_read_pid(text, &pid)) {
        complain("%s: the number of a process is expected", text);
        return NULL;
    }
    source = inspect_process(pid, &trouble);
    if (!source)
        complain("%s: %s", text, trouble);
    free(trouble);
    return source;
}

/* Adds it to the list where JSON is wanted, else prints it. */
static enum exit_code emit(struct source *source, json_t *list, struct redaction *names) {
    struct layout layout = {.to = stdout, .colour = options.colour, .whole = verbose};
    struct report report;
    enum exit_code answer;

    report_make(&report, source);
    report_plan(&report);
    if (names) {
        redaction_apply(names, source);
        report_redact(&report, names);
    }
    if (options.json)
        json_array_append_new(list, render_json(&report));
    else
        render_text(&layout, &report);
    answer = report_exit_code(&report);
    report_end(&report);
    return answer;
}

static int inspect_arguments(int n, char **arguments) {
    enum exit_code found = EXIT_NOTHING_OBSERVED;
    json_t *list = json_array();
    struct logs all = {.file_count = 0};
    struct redaction *names = NULL;
    int told;

    for (int i = 0; i < n; i++) {
        struct source *source = inspect_argument(arguments[i]);
        if (source)
            logs_add(&all, source);
    }
    told = (int)all.process_count;
    if (redact)
        names = redaction_of_logs(&all);
    for (int i = 0; i < told; i++) {
        if (i > 0 && !options.json)
            putchar('\n');
        found = exit_code_of_both(found, emit(all.processes[i], list, names));
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

int cmd_inspect(int argc, char **argv) {
    return options_run(argc, argv, &usage, inspect_arguments);
}
