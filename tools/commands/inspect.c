/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn inspect: running processes into text or JSON. */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "options.h"
#include "tools/inspect/inspect.h"
#include "tools/log/record_json.h"
#include "tools/report/layout.h"
#include "tools/report/render.h"

static const char usage[] =
    "Usage: whichcudnn inspect [-v] [--json] [--color=WHEN] PID...\n"
    "\n"
    "Says of running processes, started with whichcudnn or without, which cuDNN each\n"
    "got, from where, and what does not match: the same as report, but for what is\n"
    "over (requests that failed, calls, their order). Reads /proc and the files that\n"
    "are mapped; the process is neither stopped nor changed.\n"
    "\n"
    "  -v, --verbose  everything that is known, nothing shortened\n"
    "  --json         the same as JSON (docs/report.schema.json); of several a list\n"
    "  --color=WHEN   auto (on a terminal, unless NO_COLOR is set), always, never\n"
    "  --help         this text\n"
    "\n"
    "For another user's process root is needed. What hosts are bound to stands in the\n"
    "memory of the process: where kernel.yama.ptrace_scope is not 0, only its parent\n"
    "or root may read that.\n"
    "\n"
    "Exit status: 0 nothing wrong, 1 errors found, 2 usage, no such process or not\n"
    "permitted, 3 nothing observed.\n";

static bool take_option(int c, char *value, void *verbose) {
    (void)c;
    (void)value;
    *(bool *)verbose = true;
    return true;
}

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
static enum exit_code emit(const struct source *source, const struct options_common *options,
                           bool verbose, json_t *list) {
    struct layout layout = {.to = stdout, .colour = options->colour, .whole = verbose};
    struct report report;
    enum exit_code answer;

    report_make(&report, source);
    if (options->json)
        json_array_append_new(list, render_json(&report));
    else
        render_text(&layout, &report);
    answer = report_exit_code(&report);
    report_end(&report);
    return answer;
}

int cmd_inspect(int argc, char **argv) {
    static const struct option known[] = {
        {"verbose", no_argument, NULL, 'v'}, OPTIONS_JSON, OPTIONS_ALL};
    const struct options_kind kind = {usage,  "hv", known, take_option,
                                      stdout, 1,    -1,    "the number of a process"};
    struct options_common options = {false, false};
    bool verbose = false;
    int answer = options_read(argc, argv, &kind, &options, &verbose), told = 0;
    enum exit_code found = EXIT_NOTHING_OBSERVED;
    json_t *list;

    if (answer >= 0)
        return answer;
    list = json_array();
    for (int i = optind; i < argc; i++) {
        struct source *source = inspect_argument(argv[i]);
        if (!source)
            continue;
        if (told++ > 0 && !options.json)
            putchar('\n');
        found = exit_code_of_both(found, emit(source, &options, verbose, list));
        source_free(source);
    }
    /* One that was asked for is an object, several are a list. */
    if (options.json && told > 0)
        json_print(stdout, json_incref(argc - optind > 1 ? list : json_array_get(list, 0)));
    json_decref(list);
    return told == argc - optind ? found : EXIT_USAGE;
}
