/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn lock: what lasts of a process, into a file. */

#include "tools/report/lock/lock.h"
#include "input.h"
#include "options.h"
#include "tools/util/beside.h"
#include "tools/util/terminal.h"

static const char *output, *scanned;
static bool paths, requirements;

static const struct option_row rows[] = {
    {"output", " FILE", "instead of standard output", 'o', .value = &output},
    {"scan", " DIR", "of what would be loaded there, before anything runs", .value = &scanned},
    {"paths", NULL, "with directories of this machine, and the environment", .flag = &paths},
    {"requirements", NULL, "instead of the lock: what pip installs to get the same",
     .flag = &requirements},
    OPTIONS_END("auto, always, never"),
};

/* What an environment would get. NULL: it is not one, which was complained of. */
static struct source *scan_one(struct inputs *in, const char *path) {
    input_scan(in, (char *[]){(char *)path, NULL});
    inputs_complain(in);
    struct source **found = in->logs.processes;
    size_t n = in->logs.process_count;
    if (n == 0 && in->trouble_count == 0)
        complain("%s: no host in it requires cuDNN", path);
    else if (n > 1)
        complain("%s: %zu environments (%s, %s%s) where one is expected", path, n, found[0]->path,
                 found[1]->path, n > 2 ? ", ..." : "");
    return n == 1 ? found[0] : NULL;
}

static int lock_argument(int n, char **arguments) {
    ENDED_BY(inputs_end) struct inputs inputs = {.troubles = NULL};
    struct sink sink;
    size_t facts = 1;

    if (scanned && n > 0)
        return complain("--scan and %s are two stacks; one of them is expected", arguments[0]);
    const struct source *source =
        scanned ? scan_one(&inputs, scanned) : input_read_one(&inputs, arguments[0]);
    if (!source)
        return EXIT_USAGE;
    ENDED_BY(report_end) struct report r;
    report_make(&r, source);
    if (requirements)
        facts = lock_write_requirements(sink_begin(&sink), source);
    else
        lock_write(sink_begin(&sink), source, paths);
    OWNED char *text = sink_end(&sink);
    if (!r.conclusion.concerned || facts == 0) {
        complain("%s: %s", source->path,
                 r.conclusion.concerned ? "nothing in it comes from pip"
                                        : "nothing was observed in it");
        return EXIT_NOTHING_OBSERVED;
    }
    const bool is_written = print_into(output, text),
               is_good = r.conclusion.verdict != WC_verdict_ERRORS;
    if (!is_good)
        complain("errors were found in what is kept; the first: %s", r.findings.p[0].title);
    return !is_written ? EXIT_USAGE : is_good ? EXIT_NOTHING_WRONG : EXIT_ERRORS_FOUND;
}

const struct usage cmd_lock = {
    .begin = "Usage: whichcudnn lock [option]... [LOG|LOCK|PID]\n\n"
             "Keeps which cuDNN a process got in a small file to be kept with a project:\n"
             "hosts, libraries, versions, build-ids, rules, installations, the driver; one\n"
             "fact a line, the same for the same stack (docs/lock.md). `whichcudnn check` says\n"
             "what is no longer so; diff and report read it, too. Without LOG: your newest.\n"
             "DIR:PID takes one process of a directory of logs.\n\n",
    .options = rows,
    .end = "Exit status: 0 written, 1 written though errors were found, 2 usage, unreadable,\n"
           "or not written, 3 nothing written: nothing was observed, or nothing is of pip.\n",
    .most = 1,
    .arguments = "one process",
    .run = lock_argument,
};
