/* SPDX-License-Identifier: Apache-2.0 */
/* See explain_text.h. */
#include "explain_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/findings/diagnose.h"
#include "messages.h"
#include "tools/log/record_json.h"
#include "tools/report/layout.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

#define QUOTE_MOST 300 /* bytes of the text that are shown */

/* ---- reading ---- */

/* Up to `most` + 1 bytes. The caller frees. */
static char *read_all(FILE *from, size_t most, size_t *n) {
    char *text = NULL;
    size_t room = 0;

    *n = 0;
    do {
        room = room ? 2 * room : 65536;
        text = must_grow(text, room);
        *n += fread(text + *n, 1, room - *n, from);
    } while (*n == room && *n <= most);
    return text;
}

static char *read_text(const char *path, size_t *n) {
    bool standard = strcmp(path, "-") == 0;
    FILE *from = standard ? stdin : fopen(path, "re");
    char *text = NULL;

    if (from)
        text = read_all(from, MESSAGES_TEXT_MOST, n);
    if (!from || ferror(from)) {
        complain("%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (*n > MESSAGES_TEXT_MOST) {
        complain("%s: more than %zu MiB; give the part around the error", path,
                 MESSAGES_TEXT_MOST >> 20);
        free(text);
        text = NULL;
    }
    if (from && !standard)
        fclose(from);
    return text;
}

/* ---- what fits, over all of the text ---- */

static bool has_word(const char *words, const char *word) {
    size_t n = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += n)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0))
            return true;
    return false;
}

static bool is_of_use(const struct message_match *m) {
    return m->message->effect != EFFECT_NOISE;
}

static bool fits(const struct messages *m, const char *id) {
    for (size_t i = 0; i < m->n; i++)
        if (is_of_use(&m->p[i]) && has_word(m->p[i].findings, id))
            return true;
    return false;
}

/* ---- as text ---- */

static const char *effect_text(enum message_effect effect) {
    static const char *const texts[] = {
        [EFFECT_FATAL] = "fatal: the program or the call ends with it",
        [EFFECT_FALLBACK] = "fallback: the program goes on without the GPU",
        [EFFECT_NOISE] = "noise: by itself it tells of nothing wrong",
        [EFFECT_DEPENDS] = "depends: look at what else was printed",
    };

    return texts[effect];
}

static enum paint paint_of(enum message_effect effect) {
    static const enum paint paints[] = {
        [EFFECT_FATAL] = PAINT_ERROR,
        [EFFECT_FALLBACK] = PAINT_WARNING,
        [EFFECT_NOISE] = PAINT_OK,
        [EFFECT_DEPENDS] = PAINT_NOTE,
    };

    return paints[effect];
}

/* Nothing where there is no text. What the text itself says stays whole. */
static void print_row(const char *key, const char *text, bool whole) {
    struct layout l = {.to = stdout, .whole = whole};

    if (!text)
        return;
    layout_key(&l, key);
    layout_words(&l, "%s", text);
    layout_end(&l);
}

/* 5005 is what cudnnGetVersion gives for 5.0.5. */
static void print_version(const char *key, const char *text, struct wc_version v) {
    char plain[WC_VERSION_TEXT];
    char *both = text && wc_version_known(v)
                     ? must_format("%s (%s)", text, wc_version_format(v, plain))
                     : NULL;

    print_row(key, both ? both : text, true);
    free(both);
}

static void print_next(const char *next) {
    for (const char *label = "next"; *next; label = "") {
        size_t n = strcspn(next, "\n");
        printf("  %-*s%.*s\n", LAYOUT_KEYS - 2, label, (int)n, next);
        next += n + (next[n] == '\n');
    }
}

static void print_match(const struct message_match *m, bool colour) {
    const char *text = effect_text(m->message->effect);
    char *quote = must_format("%.*s", QUOTE_MOST, m->text);

    print_format(stdout, "line %zu", m->line);
    if (m->times > 1)
        printf(" (%zu times)", m->times);
    print_format(stdout, ": %s%s\n", quote, strlen(m->text) > QUOTE_MOST ? " ..." : "");
    free(quote);
    printf("  %-*s%s%.*s%s%s\n", LAYOUT_KEYS - 2, "effect",
           paint_begin(colour, paint_of(m->message->effect)), (int)strcspn(text, ":"), text,
           paint_end(colour), text + strcspn(text, ":"));
    print_row("means", m->message->means, false);
    print_row("library", m->library, true);
    print_version("wanted", m->wanted, m->wanted_version);
    print_version("found", m->found, m->found_version);
    print_row("findings", *m->findings ? m->findings : "none: not a matter of which cuDNN", false);
    print_next(m->message->next);
}

static void print_summary(const struct messages *m) {
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    const char *title =
        "\nfindings that fit, causes first; which of them it is, `whichcudnn run` sees\n";

    for (size_t i = 0; i < n; i++)
        if (fits(m, kind[i].id)) {
            printf("%s  %s: %s\n", title, kind[i].id, kind[i].title);
            title = "";
        }
    if (!*title)
        puts("  (whichcudnn explain ID: more of each)");
}

static void print_text_of(const struct messages *m, bool colour) {
    for (size_t i = 0; i < m->n; i++) {
        if (i > 0)
            putchar('\n');
        print_match(&m->p[i], colour);
    }
    print_summary(m);
}

/* ---- as JSON ---- */

static json_t *words_json(const char *words, const char *separator) {
    json_t *array = json_array();
    char *copy = must_copy(words), *rest = NULL;

    for (char *w = strtok_r(copy, separator, &rest); w; w = strtok_r(NULL, separator, &rest))
        json_array_append_new(array, text_to_json(w));
    free(copy);
    return array;
}

/* "8.3.2"; where it is not understood, the text's own words. */
static json_t *version_json(const char *text, struct wc_version v) {
    char plain[WC_VERSION_TEXT];

    return text_to_json(text && wc_version_known(v) ? wc_version_format(v, plain) : text);
}

static json_t *match_json(const struct message_match *m) {
    json_t *object = json_object();

    json_object_set_new(object, "id", text_to_json(m->message->id));
    json_object_set_new(object, "line", json_integer((json_int_t)m->line));
    json_object_set_new(object, "times", json_integer((json_int_t)m->times));
    json_object_set_new(object, "text", text_to_json(m->text));
    json_object_set_new(object, "effect", text_to_json(message_effect_word(m->message->effect)));
    json_object_set_new(object, "means", text_to_json(m->message->means));
    json_object_set_new(object, "library", text_to_json(m->library));
    json_object_set_new(object, "wanted", version_json(m->wanted, m->wanted_version));
    json_object_set_new(object, "found", version_json(m->found, m->found_version));
    json_object_set_new(object, "findings", words_json(m->findings, " "));
    json_object_set_new(object, "next", words_json(m->message->next, "\n"));
    return object;
}

static void print_json_of(const struct messages *m) {
    json_t *object = json_object(), *matches = json_array(), *findings = json_array();
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);

    for (size_t i = 0; i < m->n; i++)
        json_array_append_new(matches, match_json(&m->p[i]));
    for (size_t i = 0; i < n; i++)
        if (fits(m, kind[i].id))
            json_array_append_new(findings, text_to_json(kind[i].id));
    json_object_set_new(object, "messages", matches);
    json_object_set_new(object, "findings", findings);
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

enum exit_code explain_text(const char *path, const struct options *options) {
    struct messages found;
    size_t n;
    char *text = read_text(path, &n);

    if (!text)
        return EXIT_USAGE;
    messages_find(text, n, &found);
    n = found.n;
    if (options->json)
        print_json_of(&found);
    else if (n > 0)
        print_text_of(&found, options->colour);
    else
        complain("%s: no message that is known here; whichcudnn run -- COMMAND looks itself", path);
    messages_end(&found);
    free(text);
    return n > 0 ? EXIT_NOTHING_WRONG : EXIT_NOTHING_OBSERVED;
}
