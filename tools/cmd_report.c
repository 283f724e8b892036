/* whichcudnn report: logs into text or JSON. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log_reader.h"
#include "options.h"
#include "render.h"
#include "terminal.h"

#define LOG_NAMES "whichcudnn-*.jsonl*"

static const char usage[] =
    "Usage: whichcudnn report [--json] [--color=auto|always|never] LOG...\n"
    "\n"
    "Reads logs of libwhichcudnn.so and says which cuDNN each process got, from where, and what\n"
    "does not match. LOG is a log, or a directory: then each whichcudnn-*.jsonl in it.\n"
    "\n"
    "  --json    the same as JSON (docs/report.schema.json); several logs give a list\n"
    "  --color   default auto: on a terminal, unless NO_COLOR is set\n"
    "  --help    this text\n"
    "\n"
    "Exit status: 0 nothing wrong, 1 errors found, 2 usage or unreadable, 3 nothing observed.\n";

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

static void print_reports(const struct report *reports, size_t n,
                          const struct options_common *options) {
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            putchar('\n');
        render_text(stdout, &reports[i], options->colour);
    }
}

/* One report is an object, several are a list of them. */
static void print_json(const struct report *reports, size_t n) {
    json_t *value = n == 1 ? render_json(&reports[0]) : json_array();

    for (size_t i = 0; i < n && n > 1; i++)
        json_array_append_new(value, render_json(&reports[i]));
    json_dumpf(value, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(value);
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

static enum exit_code report_all(const struct logs *logs, const struct options_common *options) {
    size_t n = logs->process_count;
    struct report *reports = must_allocate(n * sizeof(*reports));
    enum exit_code answer;

    for (size_t i = 0; i < n; i++)
        report_make(&reports[i], logs->processes[i]);
    if (options->json)
        print_json(reports, n);
    else
        print_reports(reports, n, options);
    answer = worst(reports, n);
    for (size_t i = 0; i < n; i++)
        report_end(&reports[i]);
    free(reports);
    return answer;
}

int cmd_report(int argc, char **argv) {
    static const struct option known[] = {OPTIONS_JSON, OPTIONS_ALL};
    const struct options_kind kind = {usage,  "h", known, NULL,
                                      stdout, 1,   -1,    "a log or a directory"};
    struct options_common options = {false, false};
    struct logs logs = {NULL, 0, NULL, 0};
    int answer = options_read(argc, argv, &kind, &options, NULL);
    bool good = true;

    if (answer >= 0)
        return answer;
    for (int i = optind; i < argc; i++)
        good = read_argument(&logs, argv[i]) && good;
    answer = logs.process_count > 0 ? report_all(&logs, &options) : EXIT_USAGE;
    logs_end(&logs);
    return good ? answer : EXIT_USAGE;
}
