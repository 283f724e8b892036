/* SPDX-License-Identifier: Apache-2.0 */
#include "failures.h"

#include "core/base/hash.h"
#include "core/names/names.h"
#include "failed_files.h"
#include "journal.h"
#include "process.h"
#include "reader.h"
#include "requests.h"
#include "searches.h"

/* Failed lookups that get a record; each gets two, at once and with the loader's message. cuDNN has
 * had 346 functions in all (core/data/cudnn_symbols.tsv), so a host needs no more. Further lookups,
 * of names made up by the thousand, are only counted. */
#define LOOKUPS_RECORDED (2 * 512)
static unsigned lookups_recorded;

void failures_emit_request(struct request *r, const char *text) {
    struct wc_record record;
    struct wc_failure_record *f = &record.u.failure;
    r->ended = true;
    /* A failure of a CUDA library, or of a name that hints at one, opens the log. */
    bool worth_a_log =
        wc_name_kind_of(r->name) != WC_NAME_OTHER || wc_name_hints(r->name) || wc_name_hints(text);
    if (worth_a_log)
        journal_open_relevant();
    else if (!journal_is_open())
        return;
    if (repeats_leave_out(WC_KIND_failure, wc_hash_text(requests_hash(r), text), worth_a_log))
        return; /* the text is part of the hash: with another message it is another failure */
    requests_log(r);
    wc_record_begin(&record, WC_KIND_failure);
    f->request = r->number;
    f->operation = r->operation;
    f->name = r->name;
    f->caller = r->caller;
    f->caller_object = r->caller_object;
    f->text = text;
    f->inferred = !text;
    journal_add(&record);
    failed_files_after_failure(r, text); /* may hang, on a network file system */
    if (wc_str_find(r->name, "cudnn") || (text && wc_str_find(text, "cudnn"))) {
        const char *near = wc_str_find_char(r->name, '/') ? r->name : r->caller;
        wc_emit_packages(&journal_sink, &reader_environments, near, reader());
        wc_emit_packages(&journal_sink, &reader_environments, process_site(), reader());
    }
    failed_files_in_search(r, searches_emit_failed(r));
    if (!text && (f->text = failed_files_words(r))) {
        journal_add(&record); /* replaces the first one in the model */
        failed_files_after_failure(r, f->text);
    }
    /* Only for such names: a host may try thousands of others. */
    if (worth_a_log && !wc_name_is_one_of_many(r->name))
        journal_diagnose_if_due();
}

void failures_emit_lookup(int64_t number, const char *function, const char *caller,
                          int64_t caller_object, const char *text) {
    struct wc_record record;
    struct wc_failure_record *f = &record.u.failure;
    journal_open_relevant();
    uint64_t what =
        wc_hash_text(repeats_hash(WC_operation_DLSYM, function, 0, caller_object), text);
    bool first = !repeats_knows(what);
    if (first && lookups_recorded == LOOKUPS_RECORDED) {
        journal_leave_out(WC_KIND_failure, 1);
        return;
    }
    if (repeats_leave_out(WC_KIND_failure, what, true))
        return;
    lookups_recorded += first;
    wc_record_begin(&record, WC_KIND_failure);
    f->request = number;
    f->operation = WC_operation_DLSYM;
    f->function = function;
    f->caller = caller;
    f->caller_object = caller_object;
    f->text = text;
    f->inferred = !text;
    journal_add(&record);
    journal_diagnose_if_due();
}
