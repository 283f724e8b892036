/*
 * What there is to say about one process: its stack, what diagnose() finds in the whole of it, the
 * verdict. Every renderer reads this and nothing else.
 */
#ifndef WHICHCUDNN_TOOLS_REPORT_H
#define WHICHCUDNN_TOOLS_REPORT_H

#include "command.h"
#include "log_reader.h"
#include "whichcudnn/diagnose.h"

struct report {
    const struct log_process *log;
    struct heap_arena memory; /* of the findings */
    struct wc_findings findings;
    enum wc_verdict verdict;
};

/* *r must not move until report_end. */
void report_make(struct report *r, const struct log_process *log);
void report_end(struct report *r);
enum exit_code report_exit_code(const struct report *r);

/* "killed by SIGSEGV, during cudnnCreate", "with status 1", "normally"; never NULL, the caller
 * frees. */
char *report_ending(const struct report *r);

#endif
