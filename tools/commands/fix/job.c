/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <string.h>

#include "steps.h"
#include "tools/report/ends.h"

void job_judge(struct job *j) {
    struct logs *logs = &j->in.logs;

    j->n = logs->process_count;
    j->answer = EXIT_NOTHING_OBSERVED;
    j->reports = must_allocate(j->n * sizeof(*j->reports));
    ends_settle(logs->processes, j->n);
    for (size_t i = 0; i < j->n; i++) {
        report_make(&j->reports[i], logs->processes[i]);
        j->answer = exit_code_of_both(j->answer, report_exit_code(&j->reports[i]));
        j->reports[i].command = j->command;
        if (!j->unplanned)
            report_plan(&j->reports[i]);
    }
    if (j->names)
        redaction_apply_all(j->names, logs);
    for (size_t i = 0; j->names && i < j->n; i++)
        report_redact(&j->reports[i], j->names);
}

void job_make(struct job *j) {
    job_judge(j);
    if (j->n == 0)
        return;
    merge(&j->merged, j->reports, j->n);
    summary_make(&j->summary, &j->merged);
    for (size_t i = 0; i < j->summary.n; i++)
        if (j->summary.rows[i].finding)
            *MUST_ADD(j->found.p, j->found.n) = &j->summary.rows[i];
}

void job_end(struct job *j) {
    summary_end(&j->summary);
    merged_end(&j->merged);
    for (size_t i = 0; i < j->n; i++)
        report_end(&j->reports[i]);
    if (j->names)
        redaction_free(j->names);
    free(j->found.p);
    free(j->reports);
    inputs_end(&j->in);
}

const struct repair *job_best_repair(const struct job *j, bool played,
                                     const struct summary_row **row) {
    WC_EACH(found, j->found)
        WC_EACH(r, *report_fixes((*found)->report, (*found)->finding))
            if (steps_are_ours(&r->edits) && (!played || r->checked != REPAIR_NOT_CHECKED)) {
                if (row)
                    *row = *found;
                return r;
            }
    return NULL;
}

char *job_versions(const struct job *j) {
    char *list = must_copy("");

    for (size_t i = 0; i < j->n; i++)
        WC_EACH(o, j->reports[i].source->stack.objects) {
            OWNED char *before = list;
            const bool is_new = o->r.role == WC_role_FACADE && o->r.mapped && o->r.version &&
                                !strstr(list, o->r.version);
            list = must_format("%s%s%s", before, is_new && *before ? ", " : "",
                               is_new ? o->r.version : "");
        }
    return list;
}
