/* SPDX-License-Identifier: Apache-2.0 */
#include "explain_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/demand/diagnose.h"
#include "input.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/scan/scan.h"
#include "tools/report/ends.h"
#include "tools/report/explain/messages.h"
#include "tools/report/explain/page.h"
#include "tools/report/explain/text_into_log.h"
#include "tools/report/render.h"
#include "tools/report/summary.h"
#include "tools/util/layout.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

#define ROWS_SHOWN 8   /* of the logs' summary */
#define RANKED_SHOWN 4 /* of what fits a text */
#define QUOTE_MOST 300 /* bytes of the text that are shown */

/* n: its bytes. The caller frees; NULL: it cannot be read, which is printed. */
static char *read_text(const char *path, size_t *n) {
    bool standard = strcmp(path, "-") == 0, good = false;
    FILE *from = standard ? stdin : fopen(path, "re");
    char *text = must_allocate(MESSAGES_TEXT_MOST + 1);

    *n = from ? fread(text, 1, MESSAGES_TEXT_MOST + 1, from) : 0;
    if (!from || ferror(from))
        complain("%s: %s", path, strerror(errno));
    else if (*n > MESSAGES_TEXT_MOST)
        complain("%s: more than %zu MiB; give the part around the error", path,
                 MESSAGES_TEXT_MOST >> 20);
    else
        good = true;
    if (from && !standard)
        fclose(from);
    if (good)
        return text;
    free(text);
    return NULL;
}

/* ---- what fits, over all of the text ---- */

static bool fits(const struct messages *m, const char *id) {
    return WC_ANY(f, m->ranked, strcmp(f->id, id) == 0);
}

/* ---- as text ---- */

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

/* What fits, the likeliest first, with what it is; else why nothing does. */
static void print_ranked(struct layout *l, const struct messages *m) {
    const struct message_match *main = &m->p[m->main];

    WC_EACH(f, m->ranked)
        if (f < m->ranked.p + RANKED_SHOWN)
            layout_fact(l,
                        f == m->ranked.p       ? "likely"
                        : f == m->ranked.p + 1 ? "or"
                                               : "",
                        "%s: %s", f->id, title_of(f->id));
    if (m->ranked.n > 0)
        layout_fact(l, "more", "whichcudnn explain %s", m->ranked.p[0].id);
    else if (main->message->effect != EFFECT_ELSEWHERE)
        layout_fact(l, "likely", "%s",
                    *main->message->findings
                        ? "unknown library; `whichcudnn run` shows which library needs it"
                        : "none: not a matter of which cuDNN");
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
    print_ranked(&l, all);
    for (const char *next = message->next, *label = "next"; *next; label = "") {
        size_t n = strcspn(next, "\n");
        printf("  %-*s%.*s\n", LAYOUT_KEYS - 2, label, (int)n, next);
        next += n + (next[n] == '\n');
    }
    if (all->n > 1)
        layout_fact(&l, "others", "%zu more message%s that %s known; --json has %s", all->n - 1,
                    all->n > 2 ? "s" : "", all->n > 2 ? "are" : "is", all->n > 2 ? "them" : "it");
}

/* ---- as JSON ---- */

static json_t *words_json(const char *words, const char *separator) {
    json_t *array = json_array();
    OWNED char *copy = must_copy(words);
    char *rest = NULL;

    for (char *w = strtok_r(copy, separator, &rest); w; w = strtok_r(NULL, separator, &rest))
        json_array_append_new(array, text_to_json(w));
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

static void print_json_of(const struct messages *m, const struct merged *logs) {
    json_t *all = json_pack("{s:o, s:o}", "messages", JSON_EACH(match, *m, match_json(match)),
                            "findings", JSON_EACH(f, m->ranked, json_string(f->id)));

    if (logs)
        json_object_set_new(all, "report", render_merged_json(logs));
    json_print(stdout, all);
}

/* ---- with logs, or a scan ---- */

struct judged {
    struct inputs in;
    struct scan scan; /* else logs were read */
    struct report *reports;
    size_t n;
    struct merged merged;
    enum exit_code answer;
};

static bool is_of_text(const struct messages *m, const struct source *s) {
    struct report r;
    bool any;

    report_make(&r, s);
    any = WC_ANY(f, r.findings, fits(m, f->id));
    report_end(&r);
    return any;
}

/* Of a scan's environments only those that have what fits the text, if there are any. */
static void judge(struct judged *j, const struct messages *m, const struct explain_with *with,
                  struct source **sources, size_t n) {
    OWNED char *of =
        strcmp(with->text, "-") == 0 ? must_copy("") : must_format(" of %s", with->text);
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        const struct wc_sink to = source_sink(sources[i]);
        text_into_log(m, &(struct text_view){.name = "what it printed", .of = of}, sources[i], &to);
        any = any || (with->scan && is_of_text(m, sources[i]));
    }
    j->reports = must_allocate((n + 1) * sizeof(*j->reports));
    for (size_t i = 0; i < n; i++) {
        struct report *r = &j->reports[j->n];
        if (any && !is_of_text(m, sources[i]))
            continue;
        report_make(r, sources[i]);
        report_plan(r);
        if (r->conclusion.verdict == WC_verdict_UNEXPLAINED) /* not this command again */
            r->conclusion.next =
                with->scan ? "whichcudnn run -- COMMAND" : "whichcudnn report -v LOG";
        j->answer = exit_code_of_both(j->answer, report_exit_code(r));
        j->n++;
    }
    if (j->n > 0)
        merge(&j->merged, j->reports, j->n);
}

static void judged_begin(struct judged *j, const struct messages *m,
                         const struct explain_with *with) {
    OWNED char *trouble = NULL;
    size_t n = 0;

    *j = (struct judged){.answer = EXIT_NOTHING_OBSERVED};
    if (with->scan) {
        scan_begin(&j->scan, NULL, with->scan, environ);
        if (scan_add(&j->scan, with->scan, &trouble))
            scan_make(&j->scan);
        else
            complain("%s: %s", with->scan, trouble);
        judge(j, m, with, j->scan.processes, j->scan.process_count);
    } else {
        while (with->logs[n])
            n++;
        input_read_files(&j->in, with->logs, n);
        inputs_complain(&j->in);
        ends_settle(j->in.logs.processes, j->in.logs.process_count);
        judge(j, m, with, j->in.logs.processes, j->in.logs.process_count);
    }
    if (trouble || j->in.trouble_count > 0)
        j->answer = EXIT_USAGE;
}

static void judged_end(struct judged *j, bool scanned) {
    if (j->n > 0)
        merged_end(&j->merged);
    for (size_t i = 0; i < j->n; i++)
        report_end(&j->reports[i]);
    free(j->reports);
    inputs_end(&j->in);
    if (scanned)
        scan_end(&j->scan);
}

/* What both say is the cause; what only the log says may be one, too. */
static void print_both(const struct messages *m, const struct judged *j, const char *what) {
    bool any = false;

    putchar('\n');
    for (size_t i = 0; i < j->n; i++)
        WC_EACH(f, j->reports[i].findings)
            if (fits(m, f->id)) {
                print_format(stdout, any ? ", %s" : "text and %s say: %s", any ? f->id : what,
                             f->id);
                any = true;
            }
    print_format(stdout, any ? "\n" : "The %s has none of the findings that fit the text.\n", what);
}

static void print_logs(const struct messages *m, const struct judged *j,
                       const struct explain_with *with, bool colour) {
    struct layout l = {.to = stdout, .colour = colour};
    struct summary s;

    if (j->n == 0 && with->scan)
        complain("%s: no library there uses cuDNN, and none is there", with->scan);
    if (j->n == 0)
        return;
    if (m->n > 0)
        print_both(m, j, with->scan ? "scan" : "log");
    putchar('\n');
    summary_make(&s, &j->merged);
    render_summary(
        &l, &s,
        &(struct summary_view){.log = j->n == 1 && !with->scan ? j->reports[0].source->path : NULL,
                               .most = ROWS_SHOWN});
    summary_end(&s);
}

static enum exit_code explain_found(const struct messages *m, const struct explain_with *with,
                                    const struct options *options) {
    const bool joined = with->scan || *with->logs;
    enum exit_code answer = m->n > 0 ? EXIT_NOTHING_WRONG : EXIT_NOTHING_OBSERVED;
    struct judged j;

    if (joined)
        judged_begin(&j, m, with);
    if (options->json)
        print_json_of(m, joined && j.n > 0 ? &j.merged : NULL);
    else if (m->n > 0)
        print_text_of(m, options->colour);
    else
        complain("%s: no message that is known here, which proves nothing. Run it again, watched: "
                 "whichcudnn run -- COMMAND",
                 with->text);
    if (!joined)
        return answer;
    if (!options->json)
        print_logs(m, &j, with, options->colour);
    answer = j.answer;
    judged_end(&j, with->scan);
    return answer;
}

enum exit_code explain_text(const struct explain_with *with, const struct options *options) {
    enum exit_code answer;
    struct messages found;
    size_t n;
    OWNED char *text = read_text(with->text, &n);

    if (!text)
        return EXIT_USAGE;
    messages_find(text, n, &found);
    answer = explain_found(&found, with, options);
    messages_end(&found);
    return answer;
}
