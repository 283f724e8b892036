/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn explain: the page of a finding. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "core/demand/diagnose.h"
#include "explain_text.h"
#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/explain/page.h"
#include "tools/util/memory.h"
#include "tools/util/nearest.h"
#include "tools/util/terminal.h"

static const char *text, *scanned;

static const struct option_row rows[] = {
    {"text", " FILE",
     "a saved error text or traceback (- for standard input): the line\nthat matters, likely "
     "causes, "
     "what to run next; with LOG, of\nthe same run: both judged together",
     .value = &text},
    {"scan", " ENV",
     "with --text: joined with what the libraries of ENV, as for\nwhichcudnn scan, would get; ends "
     "in a repair",
     .value = &scanned},
    {"json", NULL,
     "id, severity, title, page (as in docs/findings.md); of a text\nits messages and the findings "
     "that fit",
     .flag = &options.json},
    OPTION_COLOR("auto (on a terminal, unless NO_COLOR is set), always, never"),
    OPTIONS_END,
};

static const struct usage usage = {
    .begin = "Usage: whichcudnn explain [options] [ID | --text FILE [--scan ENV | LOG...]]\n\n"
             "The page of a finding: what it means, how it is seen, why it comes about, what\n"
             "to do, how to check that it is repaired. Without ID: all findings.\n\n",
    .options = rows,
    .end = "Exit status: 0; 2 usage, an unknown id, a text that cannot be read; 3 a text in\n"
           "which nothing is known. With LOG or --scan, that of `whichcudnn report`.\n",
    .most = -1,
};

static const char *word_of(const struct wc_finding_kind *kind) {
    return wc_enum_word(WC_ENUM_severity, kind->severity);
}

static enum exit_code unknown(const char *given) {
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    OWNED char *question = NULL;
    struct nearest meant = {.word = NULL};

    for (size_t i = 0; i < n; i++)
        nearest_look(&meant, given, kind[i].id);
    question = nearest_question(&meant);
    complain("explain: no finding is called %s%s", given,
             meant.word ? question : "; whichcudnn explain lists them");
    return EXIT_USAGE;
}

/* ---- what is printed ---- */

static json_t *finding_json(const struct wc_finding_kind *kind) {
    return json_pack("{s:s, s:s, s:s, s:o}", "id", kind->id, "severity", word_of(kind), "title",
                     title_of(kind->id), "page", text_to_json(page_of(kind->id)));
}

static enum exit_code list(void) {
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    json_t *array = options.json ? json_array() : NULL;

    for (size_t i = 0; i < n; i++) {
        if (array)
            json_array_append_new(array, finding_json(&kind[i]));
        else
            printf("%s%-7s%s  %s\n           %s\n",
                   paint_begin(options.colour, paint_of_severity(kind[i].severity)),
                   word_of(&kind[i]), paint_end(options.colour), kind[i].id, title_of(kind[i].id));
    }
    if (array)
        json_print(stdout, array);
    return EXIT_NOTHING_WRONG;
}

static enum exit_code explain(const char *id) {
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);

    while (n > 0 && strcmp(kind->id, id) != 0)
        kind++, n--;
    if (n == 0)
        return unknown(id);
    if (options.json) {
        json_print(stdout, finding_json(kind));
        return EXIT_NOTHING_WRONG;
    }
    printf("%s%s%s\n\n", paint_begin(options.colour, PAINT_BOLD), id, paint_end(options.colour));
    page_print(stdout, id, options.colour);
    return EXIT_NOTHING_WRONG;
}

static int explain_argument(int n, char **arguments) {
    if (n > 1 && !text) {
        complain("one id is expected, not also %s; see whichcudnn explain --help", arguments[1]);
        return EXIT_USAGE;
    }
    if (text && n > 0 && title_of(arguments[0]) && access(arguments[0], F_OK) != 0) {
        complain("either an id or --text FILE is expected; see whichcudnn explain --help");
        return EXIT_USAGE;
    }
    if (scanned && (!text || n > 0)) {
        complain("--scan goes with --text FILE, and without a log");
        return EXIT_USAGE;
    }
    if (text)
        return (int)explain_text(&(struct explain_with){text, scanned, arguments}, &options);
    return (int)(n > 0 ? explain(arguments[0]) : list());
}

int cmd_explain(int argc, char **argv) {
    return options_run(argc, argv, &usage, explain_argument);
}
