/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <errno.h>
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

static const int descriptors[] = {STDERR_FILENO, STDOUT_FILENO};

/* ---- its streams ---- */

void words_begin(struct words *w, bool copies) {
    struct stat facts, first = {.st_ino = 0};
    bool is_copied;

    for (size_t i = 0; i < 2; i++) {
        const int fd = descriptors[i];
        struct words_stream *s = &w->of[i];
        if (fstat(fd, &facts) != 0)
            continue;
        is_copied = copies && (S_ISFIFO(facts.st_mode) || isatty(fd));
        errno = 0;
        if (i > 0 && facts.st_ino == first.st_ino && facts.st_dev == first.st_dev) {
            w->copier.of[0].also = fd;
            continue;
        }
        first = facts;
        s->is_file = S_ISREG(facts.st_mode);
        if (s->is_file) /* its position is shared with the command and stays as it is */
            s->from = fcntl(fd, F_GETFL) & O_APPEND ? facts.st_size : lseek(fd, 0, SEEK_CUR);
        else if (is_copied)
            s->kept = copier_add(&w->copier, fd);
        if (copies && !s->is_file && !s->kept && fd == STDERR_FILENO)
            complain("--text: standard error is not read: %s",
                     errno ? strerror(errno) : "it is not a terminal, pipe or regular file");
    }
}

/* A shell opens the file for writing only; so it is opened again. NULL: it cannot be. */
static struct kept *read_file(const struct words_stream *s, int descriptor) {
    OWNED char *path = must_format("/proc/self/fd/%d", descriptor);
    OWNED_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct kept *k = fd < 0 ? NULL : must_allocate(sizeof(*k));
    int64_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    bool cut = end - s->from > (int64_t)KEPT_MOST;
    ssize_t n = k ? pread(fd, k->text, KEPT_MOST, cut ? end - (int64_t)KEPT_MOST : s->from) : 0;

    if (n > 0) /* more than there is room for: a ring that ends where it begins */
        k->n = cut ? 2 * KEPT_MOST : (size_t)n;
    return k;
}

static void recognize(struct words_stream *s) {
    const struct kept *k = s->kept;
    size_t begin = k->n > KEPT_MOST ? k->n % KEPT_MOST : 0;
    size_t n = k->n > KEPT_MOST ? KEPT_MOST : k->n;
    OWNED char *text = must_allocate(n + 1);

    memcpy(text, k->text + begin, n - begin);
    memcpy(text + n - begin, k->text, begin);
    messages_find(text, n, &s->found);
}

/* ---- what is recognized ---- */

static const char *name_of(const struct words *w, const struct words_stream *s) {
    static const char *const names[][2] = {
        {"standard error", "standard error (its last 512 KiB)"},
        {"standard output", "standard output (its last 512 KiB)"}};

    return names[s - w->of][s->kept && s->kept->n > KEPT_MOST];
}

void words_read(struct words *w) {
    copier_settle(&w->copier);
    for (size_t i = 0; i < 2; i++) {
        struct words_stream *s = &w->of[i];
        s->kept = s->is_file ? read_file(s, descriptors[i]) : s->kept;
        w->were_read = w->were_read || s->kept;
        if (s->kept)
            recognize(s);
        WC_EACH(m, s->found) {
            enum message_effect effect = m->message->effect;
            w->name_cudnn = w->name_cudnn || wc_name_is_cudnn(m->library);
            if (w->line_count < WORDS_LINES &&
                (effect == EFFECT_FATAL || effect == EFFECT_FALLBACK))
                w->lines[w->line_count++] = must_format(
                    "%s, line %zu: \"%.*s%s\": %s", name_of(w, s), m->line, QUOTE_MOST, m->text,
                    strlen(m->text) > QUOTE_MOST ? " ..." : "", m->message->means);
        }
    }
}

void words_end(struct words *w) {
    for (size_t i = 0; i < 2; i++)
        messages_end(&w->of[i].found);
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

/* Another program had the same release: nobody knows which of the two printed it. */
static bool is_of_two(struct source *const *logs, size_t n, const struct source *log) {
    const struct wc_object *own = wc_first_facade(&log->stack), *other;

    for (size_t i = 0; own && i < n; i++) {
        other = wc_first_facade(&logs[i]->stack);
        if (other && wc_ranges_meet(wc_own_range(own), wc_own_range(other)) &&
            !wc_str_same(logs[i]->stack.process.executable, log->stack.process.executable))
            return true;
    }
    return false;
}

/* It is the word of the processes that nothing explains; where there is none, of those that ended
 * well, if it says that the program continues without the GPU, or refuses its cuDNN (a child). */
void words_into_logs(const struct words *w, struct source **logs, struct report *reports, size_t n,
                     bool quiet) {
    bool unexplained = false;

    for (size_t i = 0; i < n; i++)
        unexplained = unexplained || reports[i].conclusion.verdict == WC_verdict_UNEXPLAINED;
    for (size_t i = 0; i < n; i++) {
        const struct wc_sink to = {add_record, logs[i]};
        enum wc_verdict verdict = reports[i].conclusion.verdict;
        if (unexplained ? verdict != WC_verdict_UNEXPLAINED : verdict == WC_verdict_ERRORS)
            continue;
        if (is_of_two(logs, n, logs[i]))
            continue;
        WC_EACH_ROW(s, w->of)
            text_into_log(&s->found,
                          &(struct text_view){name_of(w, s), "", !unexplained, quiet || n > 1},
                          logs[i], &to);
        report_judge(&reports[i]);
    }
}
