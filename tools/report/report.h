/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is to print about one process: its stack, what diagnose() finds in the whole of it,
 * the verdict. Every renderer reads this and nothing else.
 */
#pragma once

#include "core/model/stack.h"
#include "tools/diagnose/verdict.h"
#include "tools/observe/log/source.h"
#include "tools/util/program.h"

/* ---- what is printed of one object in a few words, the same in every report ---- */

/* Canonical path, else the loader's, else the SONAME. Never NULL. */
const char *library_path(const struct wc_object_record *o);
/* "host", "facade", "graph", "cublasLt": its role, or which part or CUDA dependency it is. */
const char *library_label(const struct wc_object_record *o);
/* By which it is the same in another process: SONAME without directories, of a host the file's.
 * Never NULL. */
const char *library_name(const struct wc_object_record *o);
/* It requires cuDNN, or is of cuDNN or CUDA. */
bool library_counts(const struct wc_object_record *o);

/* How the loader found this very file; NULL: not known. */
const struct wc_search_record *library_search(const struct wc_stack *s,
                                              const struct wc_object_record *o);

/* The caller frees these; NULL where there is nothing to print. */
char *library_version(const struct wc_object_record *o); /* "9.1.0", "not older than 9.2.0" */
/* By which rule the loader found it, and in which element of the list that the rule reads. */
char *library_rule(const struct wc_search_record *found, bool element);
char *library_source(const struct wc_object_record *o);       /* "wheel NAME" */
char *library_installation(const struct wc_object_record *o); /* "wheel NAME VERSION" */

struct plan;
struct redaction;
struct plan_of_finding;

struct report {
    const struct source *source;
    struct heap_arena memory; /* of the findings */
    struct wc_findings findings;
    struct wc_conclusion conclusion; /* the verdict, and what limits it */
    bool was_cut_off;                /* killed, by what it was in the middle of */
    char fingerprint[17];
    /* "killed by SIGSEGV, during cudnnCreate", "with status 1", "by exit"; and after the name of a
     * process: "ended with status 1". NULL: the source is no log, nothing has ended. */
    const char *ending, *ended;
#define ENDED_NORMALLY "ended normally"
#define ENDED_BY_EXIT "exited" /* with which status only its parent has seen */
    const char *command;        /* of a user: the plan says what that does; NULL: none */
    struct plan *plan;          /* what repairs its findings; NULL: not requested */
    struct wc_strings gaps;     /* "line 3 could not be read: cut off": what the log lacks */
};

/* How processes ended whose logs do not say it, from what the other logs of their job say: sets
 * `end` of each. */
void ends_settle(struct source *const *processes, size_t n);

/* *r must not move until report_end. */
void report_make(struct report *r, const struct source *source);
void report_end(struct report *r);
/* What repairs its findings (tools/diagnose/plan.h); of a command's reports the first few with
 * findings are played. */
void report_plan(struct report *r);
/* Judges again a source whose names have been changed, and changes those of the plan: a repair is
 * played over the real ones. */
void report_redact(struct report *r, struct redaction *names);
/* Of one of its findings; none before report_plan. */
const struct plan_of_finding *report_fixes(const struct report *r,
                                           const struct wc_finding_record *f);
/* Findings and verdict again, of a source that knows more than before. */
void report_judge(struct report *r);
/* Of only the machine, as of each one without a GPU: screens print only its title. */
bool report_is_notice(const struct wc_finding_record *f);
enum exit_code report_exit_code(const struct report *r);

/* What --fail-on asks of all reports: .passes is true in the beginning. */
struct gate {
    enum wc_severity worst; /* of all findings */
    bool passes; /* as far as findings do not speak against it: all that matters was seen */
};
void gate_add(struct gate *gate, const struct report *r);
/* least: WC_severity_NONE where it was not requested; then it never holds. */
bool gate_fails(const struct gate *gate, enum wc_severity least);

/* Of several: errors outweigh what is unexplained, and that all else; not observed counts only
 * where it is so for each. */
enum exit_code exit_code_of_both(enum exit_code a, enum exit_code b);
