/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn report: logs into text, JSON, a page or counts. */
#include <string.h>

#include "input.h"
#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/render.h"
#include "tools/util/beside.h"
#include "tools/util/terminal.h"

static bool verbose, markdown, prometheus, redact;
static const char *html, *output; /* files */

/* Records of which time lines are made: 350 bytes each. */
#define EVENTS_MOST ((size_t)1 << 20)
#define EVENTS_OF_PAGE ((size_t)1 << 14)

static const struct option_row rows[] = {
    {"verbose", NULL, "nothing is shortened; the time line, and all that is known", 'v',
     .flag = &verbose},
    {"json", NULL, "as JSON (docs/report.schema.json); several logs give a list",
     .flag = &options.json},
    {"markdown", NULL, "the text as a block of code, to paste into an issue", .flag = &markdown},
    {"html", " FILE", "as a page with a picture; nothing else is needed to show it",
     .value = &html},
    {"prometheus", NULL, "how many processes have what, for its textfile collector",
     .flag = &prometheus},
    {"output", " FILE", "instead of standard output; it is there whole or not at all", 'o',
     .value = &output},
    {"redact", NULL, "users, their home directories and nodes get other names", .flag = &redact},
    OPTIONS_END("auto (default: on a terminal, unless NO_COLOR is set),\nalways, never"),
};

/* False: it could not be written, which is printed. */
static bool print_all(struct job *j) {
    const char *path = html ?: output;
    bool colour = options.colour && !markdown && (!output || strcmp(options.when, "always") == 0);
    struct sink text;
    FILE *to = path || markdown ? sink_begin(&text) : stdout;
    struct layout l = {.to = to, .colour = colour, .whole = verbose};
    size_t longest = 2;

    if (prometheus)
        render_prometheus(to, j->reports, j->n, j->in.trouble_count);
    else
        merge(&j->merged, j->reports, j->n);
    if (html)
        render_html(to, &j->merged);
    else if (options.json)
        json_print(to, render_merged_json(&j->merged));
    else if (!prometheus)
        render_merged(&l, &j->merged);
    if (to == stdout)
        return true;
    OWNED char *whole = sink_end(&text);
    if (!markdown)
        return print_into(path, whole);
    /* A block of Markdown. The fence is longer than each run of backticks in the text, which comes
     * from logs: so nothing in it is interpreted. */
    for (const char *p = whole; (p = strchr(p, '`')); p += strspn(p, "`"))
        longest = longest < strspn(p, "`") ? strspn(p, "`") : longest;
    OWNED char *fence = must_allocate(longest + 2);
    memset(fence, '`', longest + 1);
    OWNED char *fenced = must_format("%s\n%s%s\n", fence, whole, fence);
    return print_into(path, fenced);
}

static int report_arguments(int n, char **arguments) {
    const char *wrong =
        options.json + markdown + prometheus + (html != NULL) > 1
            ? "--json, --markdown, --html and --prometheus are forms of a report; one of them is "
              "expected"
        : html && output ? "--html and --output are two files; one of them is expected"
                         : NULL;
    ENDED_BY(job_end)
    struct job j = {.in = {.may_be_empty = prometheus}, .plans = prometheus ? PLAN_NONE : PLAN_ALL};
    struct inputs *in = &j.in;
    enum exit_code answer = EXIT_USAGE;

    if (wrong)
        return complain("%s", wrong);
    in->logs.keep_events = html ? EVENTS_OF_PAGE : verbose ? EVENTS_MOST : 0;
    input_read_files(in, arguments, (size_t)n);
    OWNED char *newest = n > 0 ? NULL : input_read_newest(in);
    j.names = redact ? redaction_of_logs(&in->logs) : NULL;
    for (size_t i = 0; i < in->trouble_count; i++) {
        OWNED char *text =
            j.names ? redaction_text(j.names, in->troubles[i]) : must_copy(in->troubles[i]);
        complain("%s", text);
    }
    if (n == 0 && !newest)
        answer = EXIT_NOTHING_OBSERVED;
    else if (in->logs.process_count > 0 || prometheus) {
        job_judge(&j);
        answer = print_all(&j) ? j.answer : EXIT_USAGE;
    }
    return (int)(in->trouble_count > 0 ? EXIT_USAGE : answer);
}

const struct usage cmd_report = {
    .begin = "Usage: whichcudnn report [options] [LOG...]\n\n"
             "Reads logs of libwhichcudnn.so and prints which cuDNN each process got, from\n"
             "where, and what does not match. LOG is a log, also packed by gzip or zstd, a\n"
             "lock, - for standard input, or a directory: then each whichcudnn-*.jsonl in it.\n"
             "Several are reported together: which agree, what differs.\n"
             "Without LOG: your newest one in $WHICHCUDNN_LOG, here, in $TMPDIR and /tmp, and\n"
             "in $XDG_STATE_HOME/whichcudnn and /tmp/whichcudnn-UID, where logs are put by\n"
             "default.\n\n",
    .options = rows,
    .end = "Exit status: 0 nothing wrong, 1 errors found, 2 usage or unreadable, 3 not\n"
           "observed, 4 unexplained.\n",
    .most = -1,
    .run = report_arguments,
};
