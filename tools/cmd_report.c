/* whichcudnn report: logs into text, JSON or Markdown. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "layout.h"
#include "log_reader.h"
#include "newest_log.h"
#include "options.h"
#include "redact.h"
#include "render.h"

#define LOG_NAMES "whichcudnn-*.jsonl*"

static const char usage[] =
    "Usage: whichcudnn report [options] [LOG...]\n"
    "\n"
    "Reads logs of libwhichcudnn.so and says which cuDNN each process got, from\n"
    "where, and what does not match. LOG is a log, or a directory: then each\n"
    "whichcudnn-*.jsonl in it. Several are told together: who agrees, what differs.\n"
    "Without LOG: your newest one in $WHICHCUDNN_LOG, here, in $TMPDIR and /tmp.\n"
    "\n"
    "  -v, --verbose  nothing is shortened; the time line, and all that is known\n"
    "  --json         as JSON (docs/report.schema.json); several logs give a list\n"
    "  --markdown     to be pasted into an issue\n"
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
};

static int is_log_name(const struct dirent *entry) {
    return fnmatch(LOG_NAMES, entry->d_name, 0) == 0;
}

static bool read_one(struct logs *logs, const char *path) {
    char *trouble = NULL;

    if (logs_read(logs, path, &trouble))
        return true;
    complain("%s: %s", path, trouble);
    free(trouble);
    return false;
}

static bool read_directory(struct logs *logs, const char *directory) {
    struct dirent **entries;
    int n = scandir(directory, &entries, is_log_name, alphasort);
    bool good = n > 0;

    if (n <= 0)
        complain("%s: %s", directory, n < 0 ? strerror(errno) : "no logs in this directory");
    for (int i = 0; i < n; i++) {
        char *path = must_format("%s/%s", directory, entries[i]->d_name);
        good = read_one(logs, path) && good;
        free(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return good;
}

static bool read_argument(struct logs *logs, const char *path) {
    struct stat facts;

    if (stat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        return read_directory(logs, path);
    return read_one(logs, path);
}

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

/* One report is an object, several are a list of them. */
static void print_json(const struct report *one, const struct merged *m) {
    json_t *value = m ? json_array() : render_json(one);

    for (size_t i = 0; m && i < m->n; i++)
        json_array_append_new(value, render_json(m->p[i].report));
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(value);
}

static void print_all(struct report *reports, size_t n, const struct options *options) {
    struct merged merged, *m = n > 1 ? &merged : NULL;

    if (m)
        merge(m, reports, n);
    if (options->common.json)
        print_json(reports, m);
    else if (options->markdown)
        print_markdown(reports, m);
    else
        print_text_of(reports, m, options);
    if (m)
        merged_end(m);
}

/* Errors outweigh all; nothing observed counts only where it is so for every process. */
static enum exit_code worst(const struct report *reports, size_t n) {
    enum exit_code answer = EXIT_NOTHING_OBSERVED;

    for (size_t i = 0; i < n; i++) {
        enum exit_code one = report_exit_code(&reports[i]);
        if (one == EXIT_ERRORS_FOUND)
            return one;
        if (one == EXIT_NOTHING_WRONG)
            answer = one;
    }
    return answer;
}

static enum exit_code report_all(const struct logs *logs, const struct options *options) {
    size_t n = logs->process_count;
    struct report *reports = must_allocate(n * sizeof(*reports));
    enum exit_code answer;

    for (size_t i = 0; i < n; i++)
        report_make(&reports[i], logs->processes[i]);
    print_all(reports, n, options);
    answer = worst(reports, n);
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    free(reports);
    return answer;
}

static bool take_option(int c, char *value, void *own) {
    struct options *options = own;

    (void)value;
    options->verbose = options->verbose || c == 'v';
    options->markdown = options->markdown || c == 'm';
    options->redact = options->redact || c == 'r';
    return true;
}

static enum exit_code report(struct logs *logs, const struct options *options, bool good) {
    enum exit_code answer = EXIT_USAGE;

    if (options->redact)
        redact_logs(logs);
    if (logs->process_count > 0)
        answer = report_all(logs, options);
    return good ? answer : EXIT_USAGE;
}

/* No log named: the newest one. */
static enum exit_code report_newest(struct logs *logs, const struct options *options) {
    char *looked, *path = newest_log(&looked);
    enum exit_code answer = EXIT_NOTHING_OBSERVED;

    if (path)
        answer = report(logs, options, read_one(logs, path));
    else
        complain("nothing observed: no log of yours in %s", looked);
    free(path);
    free(looked);
    return answer;
}

int cmd_report(int argc, char **argv) {
    static const struct option known[] = {{"verbose", no_argument, NULL, 'v'},
                                          {"markdown", no_argument, NULL, 'm'},
                                          {"redact", no_argument, NULL, 'r'},
                                          OPTIONS_JSON,
                                          OPTIONS_ALL};
    const struct options_kind kind = {usage, "hv", known, take_option, stdout, 0, -1, ""};
    struct options options = {.verbose = false};
    struct logs logs = {.files = NULL};
    int answer = options_read(argc, argv, &kind, &options.common, &options);
    bool good = true;

    if (answer >= 0)
        return answer;
    if (options.common.json && options.markdown) {
        complain("--json and --markdown are two forms; one of them is expected");
        return EXIT_USAGE;
    }
    logs.keep_events = options.verbose || options.markdown;
    for (int i = optind; i < argc; i++)
        good = read_argument(&logs, argv[i]) && good;
    answer = optind < argc ? report(&logs, &options, good) : report_newest(&logs, &options);
    logs_end(&logs);
    return answer;
}
