/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn report: logs into text, JSON, Markdown or a page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "options.h"
#include "tools/log/log_reader.h"
#include "tools/log/newest_log.h"
#include "tools/log/record_json.h"
#include "tools/log/redact.h"
#include "tools/report/layout.h"
#include "tools/report/render.h"

static const char usage[] =
    "Usage: whichcudnn report [options] [LOG...]\n"
    "\n"
    "Reads logs of libwhichcudnn.so and says which cuDNN each process got, from\n"
    "where, and what does not match. LOG is a log, a lock, or a directory: then each\n"
    "whichcudnn-*.jsonl in it. Several are told together: who agrees, what differs.\n"
    "Without LOG: your newest one in $WHICHCUDNN_LOG, here, in $TMPDIR and /tmp.\n"
    "\n"
    "  -v, --verbose  nothing is shortened; the time line, and all that is known\n"
    "  --json         as JSON (docs/report.schema.json); several logs give a list\n"
    "  --markdown     to be pasted into an issue\n"
    "  --html FILE    as a page with a picture; nothing else is needed to show it\n"
    "  --redact       users, their home directories and nodes get other names\n"
    "  --color=WHEN   auto (default: on a terminal, unless NO_COLOR is set), always,\n"
    "                 never\n"
    "  -h, --help     this text\n"
    "\n"
    "Exit status: 0 nothing wrong, 1 errors found, 2 usage or unreadable, 3 nothing\n"
    "observed.\n";

struct options {
    struct options_common common;
    bool verbose, markdown, redact;
    const char *html; /* file */
};

static void print_text_of(const struct report *one, const struct merged *m,
                          const struct options *options) {
    struct layout l = {.to = stdout, .colour = options->common.colour, .whole = options->verbose};

    if (m)
        render_merged(&l, m);
    else
        render_text(&l, one);
}

static void print_markdown(const struct report *one, const struct merged *m) {
    if (m)
        render_merged_markdown(stdout, m);
    else
        render_markdown(stdout, one);
}

static bool write_html(const char *path, const struct report *one, const struct merged *m) {
    FILE *to = fopen(path, "we");
    bool good = to != NULL;

    if (to) {
        render_html(to, one, m);
        good = !ferror(to);
        good = fclose(to) == 0 && good;
    }
    if (!good)
        complain("%s: %s", path, strerror(errno));
    return good;
}

/* False: it could not be written, which is printed. */
static bool print_all(struct report *reports, size_t n, const struct options *options) {
    struct merged merged, *m = n > 1 ? &merged : NULL;
    bool good = true;

    if (m)
        merge(m, reports, n);
    if (options->html)
        good = write_html(options->html, reports, m);
    else if (options->common.json)
        json_print(stdout, m ? render_merged_json(m) : render_json(reports));
    else if (options->markdown)
        print_markdown(reports, m);
    else
        print_text_of(reports, m, options);
    if (m)
        merged_end(m);
    return good;
}

static enum exit_code report_all(const struct logs *logs, const struct options *options) {
    size_t n = logs->process_count;
    struct report *reports = must_allocate(n * sizeof(*reports));
    enum exit_code answer = EXIT_NOTHING_OBSERVED;

    for (size_t i = 0; i < n; i++) {
        report_make(&reports[i], logs->processes[i]);
        answer = exit_code_of_both(answer, report_exit_code(&reports[i]));
    }
    if (!print_all(reports, n, options))
        answer = EXIT_USAGE;
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    free(reports);
    return answer;
}

static bool take_option(int c, char *value, void *own) {
    struct options *options = own;

    if (c == 'f')
        options->html = value;
    options->verbose = options->verbose || c == 'v';
    options->markdown = options->markdown || c == 'm';
    options->redact = options->redact || c == 'r';
    return true;
}

static void report_troubles(const struct inputs *in, const struct redaction *names) {
    for (size_t i = 0; i < in->trouble_count; i++) {
        char *text = names ? redaction_text(names, in->troubles[i]) : must_copy(in->troubles[i]);
        complain("%s", text);
        free(text);
    }
}

static enum exit_code report(struct inputs *in, const struct options *options) {
    struct redaction *names = options->redact ? redact_logs(&in->logs) : NULL;
    enum exit_code answer = EXIT_USAGE;

    report_troubles(in, names);
    if (in->logs.process_count > 0)
        answer = report_all(&in->logs, options);
    if (names)
        redaction_free(names);
    return in->trouble_count > 0 ? EXIT_USAGE : answer;
}

/* No log named: the newest one. */
static enum exit_code report_newest(struct inputs *in, const struct options *options) {
    char *looked, *path = newest_log(&looked);
    enum exit_code answer = EXIT_NOTHING_OBSERVED;

    if (path) {
        input_read_files(in, path);
        answer = report(in, options);
    } else {
        complain("nothing observed: no log of yours in %s", looked);
    }
    free(path);
    free(looked);
    return answer;
}

int cmd_report(int argc, char **argv) {
    static const struct option known[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"markdown", no_argument, NULL, 'm'},
                                          {"html", required_argument, NULL, 'f'},
                                          {"redact", no_argument, NULL, 'r'},
                                          OPTIONS_JSON,
                                          OPTIONS_ALL};
    const struct options_kind kind = {usage, "hv", known, take_option, stdout, 0, -1, ""};
    struct options options = {.verbose = false};
    struct inputs in = {.troubles = NULL};
    int answer = options_read(argc, argv, &kind, &options.common, &options);

    if (answer >= 0)
        return answer;
    if (options.common.json + options.markdown + (options.html != NULL) > 1) {
        complain("--json, --markdown and --html are forms of a report; one of them is expected");
        return EXIT_USAGE;
    }
    in.logs.keep_events = options.verbose || options.markdown || options.html;
    for (int i = optind; i < argc; i++)
        input_read_files(&in, argv[i]);
    answer = optind < argc ? report(&in, &options) : report_newest(&in, &options);
    inputs_end(&in);
    return answer;
}
