/* See report.h. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

void report_make(struct report *r, const struct log_process *log) {
    r->log = log;
    heap_arena_begin(&r->memory);
    wc_diagnose(&log->stack, &r->memory.arena, &r->findings);
    r->verdict = wc_verdict_of(&log->stack, &r->findings);
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

/* Of a call it is known that it had not returned; of a request only that it was the last one. */
static char *when_it_ended(const struct wc_outcome_record *o) {
    if (!o->during)
        return must_copy("");
    if (strncmp(o->during, "dl", 2) == 0)
        return must_format("; last request: %s", o->during);
    return must_format(" during %s", o->during);
}

char *report_ending(const struct report *r) {
    const struct wc_outcome_record *o = &r->log->stack.outcome;
    char *when, *text = NULL;

    if (!r->log->stack.has_outcome)
        return r->log->stack.has_summary ? must_copy("normally") : NULL;
    when = when_it_ended(o);
    if (o->ending == WC_ending_NOT_STARTED)
        text = must_copy("never started");
    else if (o->ending == WC_ending_SIGNALED)
        text = must_format("killed by %s%s", o->signal_name ? o->signal_name : "a signal", when);
    else if (o->ending == WC_ending_EXITED)
        text = must_format("with status %lld%s", (long long)o->status, when);
    free(when);
    return text;
}
