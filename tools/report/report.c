/* SPDX-License-Identifier: Apache-2.0 */
/* See report.h. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

void report_make(struct report *r, const struct source *source) {
    r->source = source;
    heap_arena_begin(&r->memory);
    wc_diagnose(&source->stack, &r->memory.arena, &r->findings);
    r->verdict = wc_verdict_of(&source->stack, &r->findings);
    wc_stack_fingerprint(&source->stack, r->fingerprint);
}

void report_end(struct report *r) {
    heap_arena_end(&r->memory);
}

enum exit_code report_exit_code(const struct report *r) {
    switch (r->verdict) {
    case WC_verdict_ERRORS:
        return EXIT_ERRORS_FOUND;
    case WC_verdict_NOTHING_OBSERVED:
    case WC_verdict_UNKNOWN:
        return EXIT_NOTHING_OBSERVED;
    default:
        return EXIT_NOTHING_WRONG;
    }
}

enum exit_code exit_code_of_both(enum exit_code a, enum exit_code b) {
    return a == EXIT_NOTHING_OBSERVED || b == EXIT_ERRORS_FOUND ? b : a;
}

/* Of a call it is known that it had not returned; of a request only that it was the last one. */
static char *in_flight_text(const char *what) {
    if (!what)
        return must_copy("");
    if (strncmp(what, "cudnn", 5) == 0)
        return must_format(", during %s", what);
    return must_format(", last request: %s", what);
}

static char *outcome_text(const struct wc_outcome_record *o) {
    char *during = in_flight_text(o->during), *text = NULL;

    if (o->ending == WC_ending_NOT_STARTED)
        text = must_copy("never started");
    else if (o->ending == WC_ending_SIGNALED)
        text = must_format("killed by %s%s", o->signal_name ? o->signal_name : "a signal", during);
    else if (o->ending == WC_ending_EXITED && o->exit_status != WC_NULL)
        text = must_format("with status %lld%s", (long long)o->exit_status, during);
    free(during);
    return text ? text : must_copy("in a way that is not known");
}

char *report_ending(const struct report *r) {
    const struct wc_stack *s = &r->source->stack;
    char *during, *text;
    int64_t seq;

    if (r->source->type != SOURCE_LOG)
        return NULL;
    if (s->has_outcome)
        return outcome_text(&s->outcome);
    if (s->has_summary)
        return must_copy("normally");
    during = in_flight_text(in_flight_last(&r->source->in_flight, &seq));
    text = must_format("not in the log: it was killed, or goes on%s", during);
    free(during);
    return text;
}
