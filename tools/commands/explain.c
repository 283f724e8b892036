/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn explain: the page of a finding; or which messages a saved or pasted text has, and what
 * to do about them. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/demand/diagnose.h"
#include "input.h"
#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/report/explain/explain.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

#define RANKED_SHOWN 4 /* of what fits a text */
#define QUOTE_MOST 300 /* bytes of the text that are shown */

static const char *text_file, *scanned;

static const struct option_row rows[] = {
    {"text", " FILE",
     "a saved error text or traceback (- for standard input): the line\nthat matters, likely "
     "causes, "
     "what to run next; with LOG, of\nthe same run: both judged together",
     .value = &text_file},
    {"scan", " ENV",
     "with --text: joined with what the libraries of ENV, as for\nwhichcudnn scan, would get; ends "
     "in a repair",
     .value = &scanned},
    {"json", NULL,
     "id, severity, title, page (as in docs/findings.md); of a text\nits messages and the findings "
     "that fit",
     .flag = &options.json},
    OPTIONS_END("auto (on a terminal, unless NO_COLOR is set), always, never"),
};

/* ---- a text ---- */

/* n: its bytes. The caller frees; NULL: it cannot be read, which is printed. */
static char *read_text(const char *path, size_t *n) {
    OWNED_FILE FILE *from = strcmp(path, "-") == 0 ? fdopen(dup(0), "r") : fopen(path, "re");
    char *text = must_allocate(MESSAGES_TEXT_MOST + 1);

    *n = from ? fread(text, 1, MESSAGES_TEXT_MOST + 1, from) : 0;
    if (from && !ferror(from) && *n <= MESSAGES_TEXT_MOST)
        return text;
    if (!from || ferror(from))
        complain("%s: %s", path, strerror(errno));
    else
        complain("%s: more than %zu MiB; give the part around the error", path,
                 MESSAGES_TEXT_MOST >> 20);
    free(text);
    return NULL;
}

static bool fits(const struct messages *m, const char *id) {
    return WC_ANY(f, m->ranked, strcmp(f->id, id) == 0);
}

static const struct {
    const char *word, *means;
    enum paint paint;
} effects[] = {
    [EFFECT_FATAL] = {"fatal", "the program or the call ends with it", PAINT_ERROR},
    [EFFECT_FALLBACK] = {"fallback", "the program continues without the GPU", PAINT_WARNING},
    [EFFECT_NOISE] = {"noise", "by itself, it does not indicate a fault", PAINT_OK},
    [EFFECT_DEPENDS] = {"depends", "look at what else was printed", PAINT_NOTE},
    [EFFECT_ELSEWHERE] = {"elsewhere", "printed on another system than Linux", PAINT_NOTE},
};

static const struct {
    const char *word, *means;
} fits_words[] = {
    [WC_FITS] = {"fits", "accepted by that rule: a patch, or another release's rule, may count"},
    [WC_TOO_OLD] = {"too-old", "too old"},
    [WC_TOO_NEW] = {"too-new", "too new"},
    [WC_OTHER_MAJOR] = {"other-major", "another major version"},
    [WC_FIT_UNKNOWN] = {"unknown", "not decided by that rule"},
};

/* 5005 is what cudnnGetVersion gives for 5.0.5. */
static void print_version(struct layout *l, const char *key, const char *text,
                          struct wc_version v) {
    char plain[WC_VERSION_TEXT];

    if (text && wc_version_known(v))
        layout_fact(l, key, "%s (%s)", text, wc_version_format(v, plain));
    else if (text)
        layout_fact(l, key, "%s", text);
}

/* The one line that matters; the others are counted. */
static void print_text_of(const struct messages *all, bool colour) {
    const struct message_match *m = &all->p[all->main];
    const struct message *message = m->message;
    OWNED char *quote = must_format("%.*s", QUOTE_MOST, m->text);
    struct layout l = {.to = stdout, .colour = colour};

    print_format(stdout, "line %zu", m->line);
    if (m->times > 1)
        printf(" (%zu times)", m->times);
    print_format(stdout, ": %s%s\n", quote, strlen(m->text) > QUOTE_MOST ? " ..." : "");
    layout_key(&l, "effect");
    layout_painted(&l, effects[message->effect].word, effects[message->effect].paint);
    printf(": %s\n", effects[message->effect].means);
    layout_fact(&l, "means", "%s", message->means);
    l.whole = true; /* what the text itself says */
    if (m->library)
        layout_fact(&l, "library", "%s", m->library);
    print_version(&l, "wanted", m->wanted, m->wanted_version);
    print_version(&l, "found", m->found, m->found_version);
    l.whole = false;
    if (m->rule != WC_RULE_NONE) /* the two versions by the rule of the program that prints them */
        layout_fact(&l, "judged", "%s is %s for %s. %s", m->found, fits_words[m->fit].means,
                    m->wanted, message->compares ?: wc_rule_explanation(m->rule));
    /* What fits, the likeliest first, with what it is; else why nothing does. */
    for (size_t i = 0; i < all->ranked.n && i < RANKED_SHOWN; i++)
        layout_fact(&l,
                    i == 0   ? "likely"
                    : i == 1 ? "or"
                             : "",
                    "%s: %s", all->ranked.p[i].id, all->ranked.p[i].title);
    if (all->ranked.n > 0)
        layout_fact(&l, "more", "whichcudnn explain %s", all->ranked.p[0].id);
    else if (message->effect != EFFECT_ELSEWHERE)
        layout_fact(&l, "likely", "%s",
                    *message->findings
                        ? "unknown library; `whichcudnn run` shows which library needs it"
                        : "none: not a matter of which cuDNN");
    for (const char *next = message->next, *label = "next"; *next; label = "") {
        size_t n = strcspn(next, "\n");
        printf("  %-*s%.*s\n", LAYOUT_KEYS - 2, label, (int)n, next);
        next += n + (next[n] == '\n');
    }
    if (all->n > 1)
        layout_fact(&l, "others", "%zu more message%s that %s known; --json has %s", all->n - 1,
                    all->n > 2 ? "s" : "", all->n > 2 ? "are" : "is", all->n > 2 ? "them" : "it");
}

static json_t *words_json(const char *words, const char *separator) {
    json_t *array = json_array();

    WC_EACH_ELEMENT(word, words, separator)
        if (word.n > 0)
            json_array_append_new(array, json_stringn(word.p, word.n));
    return array;
}

/* "8.3.2"; where it is not understood, the text itself. */
static json_t *version_json(const char *text, struct wc_version v) {
    char plain[WC_VERSION_TEXT];

    return text_to_json(text && wc_version_known(v) ? wc_version_format(v, plain) : text);
}

static json_t *match_json(const struct message_match *m) {
    return json_pack(
        "{s:s, s:I, s:I, s:o, s:s, s:s, s:o, s:o, s:o, s:s?, s:s?, s:o, s:o}", "id", m->message->id,
        "line", (json_int_t)m->line, "times", (json_int_t)m->times, "text", text_to_json(m->text),
        "effect", effects[m->message->effect].word, "means", m->message->means, "library",
        text_to_json(m->library), "wanted", version_json(m->wanted, m->wanted_version), "found",
        version_json(m->found, m->found_version), "rule", m->rule ? wc_rule_name(m->rule) : NULL,
        "fit", m->rule ? fits_words[m->fit].word : NULL, "findings", words_json(m->findings, " "),
        "next", words_json(m->message->next, "\n"));
}

/* ---- with logs, or a scan ---- */

static bool is_of_text(const struct messages *m, const struct source *s) {
    ENDED_BY(report_end) struct report r;

    report_make(&r, s);
    return WC_ANY(f, r.findings, fits(m, f->id));
}

/* Of a scan's environments only those that have what fits the text, if there are any. */
static void judge(struct job *j, const struct messages *m, char **logs, size_t n) {
    OWNED char *of = strcmp(text_file, "-") == 0 ? must_copy("") : must_format(" of %s", text_file);
    struct logs *read = &j->in.logs;
    size_t fitting = 0, kept = 0;

    if (scanned)
        input_scan(&j->in, (char *[]){(char *)scanned, NULL});
    else
        input_read_files(&j->in, logs, n);
    inputs_complain(&j->in);
    ends_settle(read->processes, read->process_count);
    for (size_t i = 0; i < read->process_count; i++) {
        const struct wc_sink to = source_sink(read->processes[i]);
        text_into_log(m, &(struct text_view){.name = "what it printed", .of = of},
                      read->processes[i], &to);
        fitting += scanned && is_of_text(m, read->processes[i]);
    }
    for (size_t i = 0; i < read->process_count; i++)
        if (fitting == 0 || is_of_text(m, read->processes[i]))
            read->processes[kept++] = read->processes[i];
        else
            source_free(read->processes[i]);
    read->process_count = kept;
    job_make(j);
    for (size_t i = 0; i < j->n; i++)
        if (j->reports[i].conclusion.verdict == WC_verdict_UNEXPLAINED) /* not this command again */
            j->reports[i].conclusion.next =
                scanned ? "whichcudnn run -- COMMAND" : "whichcudnn report -v LOG";
    if (j->in.trouble_count > 0)
        j->answer = EXIT_USAGE;
}

/* What both say is the cause; what is only in the log may be one, too. */
static void print_logs(const struct messages *m, const struct job *j) {
    const char *what = scanned ? "scan" : "log";
    struct layout l = {.to = stdout, .colour = options.colour};
    bool any = false;

    if (j->n == 0 && scanned)
        complain("%s: no library there uses cuDNN, and none is there", scanned);
    if (j->n == 0)
        return;
    if (m->n > 0) {
        putchar('\n');
        for (size_t i = 0; i < j->n; i++)
            WC_EACH(f, j->reports[i].findings)
                if (fits(m, f->id)) {
                    print_format(stdout, any ? ", %s" : "text and %s say: %s", any ? f->id : what,
                                 f->id);
                    any = true;
                }
        print_format(stdout, any ? "\n" : "The %s has none of the findings that fit the text.\n",
                     what);
    }
    putchar('\n');
    const char *log = j->n == 1 && !scanned ? j->reports[0].source->path : NULL;
    render_summary(&l, &j->merged, &(struct summary_view){.log = log});
}

/* 0: recognized; 3: nothing in it is known; 2: it cannot be read. With logs or a scan: what they
 * say with the text's numbers, and their status. */
static enum exit_code explain_text(char **logs, size_t n) {
    const bool joined = scanned || n > 0;
    ENDED_BY(job_end) struct job j = {.n = 0};
    size_t length;
    OWNED char *text = read_text(text_file, &length);

    if (!text)
        return EXIT_USAGE;
    ENDED_BY(messages_end) struct messages m;
    messages_find(text, length, &m);
    enum exit_code answer = m.n > 0 ? EXIT_NOTHING_WRONG : EXIT_NOTHING_OBSERVED;
    if (joined) {
        judge(&j, &m, logs, n);
        answer = j.answer;
    }
    if (options.json) {
        json_t *all = json_pack("{s:o, s:o}", "messages", JSON_EACH(match, m, match_json(match)),
                                "findings", JSON_EACH(f, m.ranked, json_string(f->id)));
        if (j.n > 0)
            json_object_set_new(all, "report", render_merged_json(&j.merged));
        json_print(stdout, all);
    } else if (m.n > 0) {
        print_text_of(&m, options.colour);
    } else {
        complain("%s: no message that is known here, which proves nothing. Run it again, watched: "
                 "whichcudnn run -- COMMAND",
                 text_file);
    }
    if (joined && !options.json)
        print_logs(&m, &j);
    return answer;
}

/* id: NULL for a list of all. */
static enum exit_code explain(const char *id) {
    size_t n, known = 0;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    struct nearest meant = {.word = NULL};
    json_auto_t *list = json_array();

    for (; n > 0; kind++, n--) {
        const char *severity = wc_enum_word(WC_ENUM_severity, kind->severity);
        if (id)
            nearest_look(&meant, id, kind->id);
        if (id && strcmp(kind->id, id) != 0)
            continue;
        known++;
        if (options.json) {
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "id", kind->id,
                                                  "severity", severity, "title", kind->title,
                                                  "page", text_to_json(page_of(kind->id, false))));
        } else if (!id) {
            printf("%s%-7s%s  %s\n           %s\n",
                   paint_begin(options.colour, paint_of_severity(kind->severity)), severity,
                   paint_end(options.colour), kind->id, kind->title);
        } else {
            printf("%s%s%s\n\n", paint_begin(options.colour, PAINT_BOLD), id,
                   paint_end(options.colour));
            page_print(stdout, page_of(id, true), options.colour);
        }
    }
    if (known == 0) {
        OWNED char *question = nearest_question(&meant, "; whichcudnn explain lists them");
        complain("explain: no finding is called %s%s", id, question);
    } else if (options.json) {
        json_print(stdout, json_incref(id ? json_array_get(list, 0) : list));
    }
    return known > 0 ? EXIT_NOTHING_WRONG : EXIT_USAGE;
}

static int explain_argument(int n, char **arguments) {
    const char *wrong =
        text_file && n > 0 && page_of(arguments[0], true) && access(arguments[0], F_OK) != 0
            ? "either an id or --text FILE is expected; see whichcudnn explain --help"
        : scanned && (!text_file || n > 0) ? "--scan goes with --text FILE, and without a log"
                                           : NULL;

    if (n > 1 && !text_file)
        return complain("one id is expected, not also %s; see whichcudnn explain --help",
                        arguments[1]);
    if (wrong)
        return complain("%s", wrong);
    return (int)(text_file ? explain_text(arguments, (size_t)n) : explain(arguments[0]));
}

const struct usage cmd_explain = {
    .begin = "Usage: whichcudnn explain [options] [ID | --text FILE [--scan ENV | LOG...]]\n\n"
             "The page of a finding: what it means, how it is seen, why it comes about, what\n"
             "to do, how to check that it is repaired. Without ID: all findings.\n\n",
    .options = rows,
    .end = "Exit status: 0; 2 usage, an unknown id, a text that cannot be read; 3 a text in\n"
           "which nothing is known. With LOG or --scan, that of `whichcudnn report`.\n",
    .most = -1,
    .run = explain_argument,
};
