/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/demand/questions.h"
#include "outcome.h"
#include "tools/observe/log/process_state.h"
#include "tools/report/explain/text_into_log.h"

#define QUOTE_MOST 200 /* bytes of a message that are shown */

/* ---- regular files ---- */

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The file's position is shared with the command and stays as it is. */
void words_begin(struct words *w) {
    static const char *const names[] = {"standard error", "standard output"};
    static const int fds[] = {STDERR_FILENO, STDOUT_FILENO};
    struct stat facts[2];

    for (size_t i = 0; i < 2; i++) {
        struct words_stream *s = &w->of[i];
        int flags = fcntl(fds[i], F_GETFL);
        bool is_file = flags >= 0 && fstat(fds[i], &facts[i]) == 0 && S_ISREG(facts[i].st_mode);
        s->name = names[i];
        s->fd = is_file && (i == 0 || w->of[0].fd < 0 || !is_same_file(&facts[0], &facts[1]))
                    ? fds[i]
                    : -1;
        if (s->fd >= 0)
            s->from = flags & O_APPEND ? facts[i].st_size : (int64_t)lseek(s->fd, 0, SEEK_CUR);
    }
}

static void read_part(struct words_stream *s, int fd, int64_t at, size_t n) {
    ssize_t got = n > 0 ? pread(fd, s->text + s->n, n, at) : 0;

    s->n += got > 0 ? (size_t)got : 0;
}

/* A shell opens the file for writing only; so it is opened once more. */
static void read_file(struct words *w, struct words_stream *s) {
    OWNED char *path = must_format("/proc/self/fd/%d", s->fd);
    OWNED_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat facts;
    size_t grown, head;

    if (fd < 0 || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return;
    w->were_read = true;
    grown = facts.st_size > s->from ? (size_t)(facts.st_size - s->from) : 0;
    s->is_cut = grown > WORDS_HEAD + WORDS_TAIL;
    head = s->is_cut ? WORDS_HEAD : grown;
    s->text = must_allocate(WORDS_HEAD + WORDS_TAIL + 1);
    read_part(s, fd, s->from, head);
    if (s->is_cut) {
        s->text[s->n++] = '\n';
        read_part(s, fd, facts.st_size - (int64_t)WORDS_TAIL, WORDS_TAIL);
    }
}

/* ---- what is recognized ---- */

/* Our own findings, which quote what the loader said: a line that begins with our name, and the
 * indented ones behind it. */
static void blank_own_words(char *text, size_t n) {
    static const char name[] = "whichcudnn: ";
    bool is_own = false;
    size_t length;

    for (char *line = text; line < text + n; line += length) {
        size_t left = (size_t)(text + n - line);
        const char *end = memchr(line, '\n', left);
        length = end ? (size_t)(end + 1 - line) : left;
        is_own = (length >= sizeof(name) && memcmp(line, name, sizeof(name) - 1) == 0) ||
                 (is_own && length > 2 && memcmp(line, "  ", 2) == 0);
        if (is_own)
            memset(line, ' ', length - (end != NULL));
    }
}

static char *place_of(const struct words_stream *s, const struct message_match *m) {
    return must_format("%s%s, line %zu", s->name,
                       s->is_cut ? " (its first 64 KiB and its last 192)" : "", m->line);
}

static void add_lines(struct words *w, const struct words_stream *s, bool fatal) {
    WC_EACH(m, s->found) {
        enum message_effect effect = m->message->effect;
        OWNED char *place = place_of(s, m);
        if (effect != EFFECT_NOISE && (effect == EFFECT_FATAL) == fatal &&
            w->line_count < WORDS_LINES)
            w->lines[w->line_count++] =
                must_format("%s: \"%.*s%s\": %s", place, QUOTE_MOST, m->text,
                            strlen(m->text) > QUOTE_MOST ? " ..." : "", m->message->means);
    }
}

void words_read(struct words *w) {
    for (size_t i = 0; i < 2; i++) {
        struct words_stream *s = &w->of[i];
        if (s->fd >= 0)
            read_file(w, s);
        blank_own_words(s->text, s->n);
        messages_find(s->text, s->n, &s->found);
    }
    for (size_t i = 0; i < 4; i++)
        add_lines(w, &w->of[i % 2], i < 2);
}

void words_end(struct words *w) {
    for (size_t i = 0; i < 2; i++) {
        messages_end(&w->of[i].found);
        free(w->of[i].text);
    }
    for (size_t i = 0; i < w->line_count; i++)
        free(w->lines[i]);
}

/* ---- records ---- */

/* A process that still runs numbers its records itself. */
static void add_record(void *log, struct wc_record *r) {
    if (process_state(log) == PROCESS_RUNS)
        source_apply(log, r);
    else
        outcome_append(log, r);
}

static bool is_explained(const struct report *r) {
    return r->conclusion.verdict != WC_verdict_UNEXPLAINED;
}

/* Is this message the word of that process? Of one that nothing explains; where there is none, of
 * the only one, if it says that it goes on without the GPU. */
static bool may_be_of(const struct message_match *m, const struct report *r, bool all_explained,
                      size_t n) {
    if (!all_explained)
        return !is_explained(r);
    return n == 1 && m->message->effect == EFFECT_FALLBACK &&
           r->conclusion.verdict != WC_verdict_ERRORS;
}

static void add_match(const struct words_stream *s, const struct message_match *m,
                      struct source **logs, const struct report *reports, size_t n, bool quiet) {
    OWNED char *place = place_of(s, m);
    bool all_explained = true, candidate = false, taken = false;
    char version[WC_VERSION_TEXT];

    for (size_t i = 0; i < n; i++)
        all_explained = all_explained && is_explained(&reports[i]);
    for (size_t i = 0; i < n; i++) {
        const struct wc_sink to = {add_record, logs[i]};
        if (!may_be_of(m, &reports[i], all_explained, n) ||
            !WC_ANY(o, logs[i]->stack.objects, wc_is_cudnn(o)))
            continue;
        candidate = true;
        if (match_fits(m, &logs[i]->stack)) {
            taken = true;
            match_into_log(m, place, &logs[i]->stack, &to);
        }
    }
    if (candidate && !taken && !quiet)
        complain("%s, says that cuDNN %s was found, and no process that was observed had it", place,
                 wc_version_format(m->found_version, version));
}

void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet) {
    WC_EACH_ROW(s, w->of)
        WC_EACH(m, s->found)
            if (match_has_evidence(m))
                add_match(s, m, logs, reports, n, quiet);
    for (size_t i = 0; i < n; i++)
        report_judge(&reports[i]);
}
