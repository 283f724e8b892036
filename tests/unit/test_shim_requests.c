/* SPDX-License-Identifier: Apache-2.0 */
/* What was asked of the loader: what is kept, when it is told, whose answer a file is. The journal
 * and the table of objects are the test's own. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/failed_files.h"
#include "shim/failures.h"
#include "shim/journal.h"
#include "shim/objects.h"
#include "shim/requests.h"
#include "shim/searches.h"
#include "support_place.h"

static struct {
    bool open;
    int64_t numbers;
    unsigned requests, failures, diagnoses, questions, searches;
    int left_out[WC_KINDS];
    struct wc_failure_record failure;
} journal;
static struct object *known;

int64_t journal_new_request(void) {
    return ++journal.numbers;
}
bool journal_is_open(void) {
    return journal.open;
}
void journal_open_relevant(void) {
    journal.open = true;
}
void journal_diagnose_if_due(void) {
    journal.diagnoses++;
}
void journal_add(struct wc_record *r) {
    journal.requests += r->kind == WC_KIND_request;
    journal.failures += r->kind == WC_KIND_failure;
    if (r->kind == WC_KIND_failure)
        journal.failure = r->u.failure;
}
const struct wc_sink journal_sink = {NULL, NULL}; /* nothing here describes libraries */
void journal_leave_out(enum wc_kind kind, int n) {
    journal.left_out[kind] += n;
}
/* Behind the failure: to look at the file may take for ever. */
void failed_files_after_failure(const struct request *r, const char *text) {
    (void)text;
    assert_true(r->logged && r->ended);
    assert_int_equal(++journal.questions, journal.failures);
}
struct wc_replay *searches_emit_failed(const struct request *r) {
    static struct wc_replay replay;
    (void)r;
    return ++journal.searches % 2 == 1 ? &replay : NULL;
}
/* What was replayed, and only that. */
void failed_files_in_search(const struct request *r, struct wc_replay *replay) {
    assert_true(r->ended);
    assert_int_equal(replay != NULL, journal.searches % 2);
}
const char *failed_files_words(const struct request *r) {
    assert_true(r->ended);
    return NULL;
}
struct object *objects_at(uintptr_t address) {
    return known && address - known->low < known->high - known->low ? known : NULL;
}
struct object *objects_get(size_t i) {
    return i == 0 ? known : NULL;
}

static int begin(void **state) {
    static struct object object;
    (void)state;
    int64_t numbers = journal.numbers;
    memset(&journal, 0, sizeof(journal));
    memset(&object, 0, sizeof(object));
    journal.numbers = numbers; /* entries of the test before stay in the ring */
    object.low = 0x1000;
    object.high = 0x2000;
    object.l.number = 5;
    object.l.path = "/lib/libhost.so";
    known = &object;
    return 0;
}

static struct request *ask(const char *name, bool hints) {
    return requests_note(WC_operation_DLOPEN, name, RTLD_NOW, 0x9000, "/bin/program", hints);
}

static void what_was_asked_is_kept(void **state) {
    (void)state;
    struct request *r =
        requests_note(WC_operation_DLMOPEN, "liba.so", RTLD_NOLOAD, 0x1800, "x", false);
    assert_string_equal(r->name, "liba.so");
    assert_string_equal(r->caller, "/lib/libhost.so"); /* the object's own word */
    assert_int_equal(r->caller_object, 5);
    assert_true(r->named && !r->cut && !r->ended && !r->logged);
    assert_true(r->time > 0 && r->tid == gettid());
    r = ask(NULL, false);
    assert_string_equal(r->caller, "/bin/program");
    assert_int_equal(r->caller_object, WC_NULL);
    assert_true(!r->named && r->name[0] == 0);
    assert_int_equal(journal.requests, 0);
}

static void it_is_told_ahead_where_there_is_a_log(void **state) {
    (void)state;
    assert_true(ask("libcudnn-ahead.so", true)->logged); /* opens one */
    assert_true(ask("libb-ahead.so", false)->logged);
    assert_int_equal(journal.requests, 2);
    requests_log(requests_recent(0));
    assert_int_equal(journal.requests, 2);
}

static void a_long_name_is_cut(void **state) {
    char name[REQUEST_NAME + 1];
    (void)state;
    memset(name, 'a', sizeof(name));
    name[REQUEST_NAME] = 0;
    assert_true(ask(name, false)->cut);
    name[REQUEST_NAME - 1] = 0;
    assert_false(ask(name, false)->cut);
}

static void the_newest_are_found(void **state) {
    (void)state;
    int64_t first = ask("first.so", false)->number;
    assert_int_equal(requests_find(first)->number, first);
    for (int i = 1; i < REQUESTS_KEPT; i++)
        ask("more.so", false);
    assert_string_equal(requests_find(first)->name, "first.so");
    assert_ptr_equal(requests_recent(REQUESTS_KEPT - 1), requests_find(first));
    assert_null(requests_open_of_thread(-1));
    assert_null(requests_recent(REQUESTS_KEPT));
    ask("one-more.so", false);
    assert_null(requests_find(first));
    assert_null(requests_find(0));
}

/* While a thread waits for its turn others may ask for more than is kept. */
static void what_is_over_makes_room_first(void **state) {
    (void)state;
    struct request *open = ask("open.so", false);
    int64_t first = open->number;
    for (int i = 0; i < 3 * REQUESTS_KEPT; i++) {
        ask("more.so", false)->ended = true;
        assert_ptr_equal(requests_find(first), open);
    }
    assert_string_equal(requests_recent(0)->name, "more.so");
    for (size_t i = 0; i + 1 < REQUESTS_KEPT; i++)
        assert_true(requests_recent(i)->number > requests_recent(i + 1)->number);
    assert_ptr_equal(requests_open_of_thread(gettid()), open);
    open->ended = true;
    assert_ptr_not_equal(requests_open_of_thread(gettid()), open);
}

static void another_name_of_the_same_file(void **state) {
    char path[80], link[80];
    struct stat st;
    (void)state;
    temporary_name(place, sizeof(place));
    assert_non_null(mkdtemp(place));
    snprintf(path, sizeof(path), "%s/liba.so.1", place);
    snprintf(link, sizeof(link), "%s/liba.so", place);
    fclose(fopen(path, "w"));
    assert_int_equal(symlink("liba.so.1", link), 0);
    assert_int_equal(stat(path, &st), 0);
    known->l.path = path;
    known->l.device = st.st_dev;
    known->l.inode = st.st_ino;
    assert_false(requests_same_file(ask("liba.so", false))); /* not mapped */
    known->l.mapped = true;
    bool beside = requests_same_file(ask("liba.so", false));
    bool whole = requests_same_file(ask(link, false));
    bool other = requests_same_file(ask("libb.so", false));
    known->l.inode++;
    bool replaced = requests_same_file(ask("liba.so", false));
    unlink(link), unlink(path), rmdir(place);
    assert_true(beside && whole);
    assert_false(other || replaced);
}

static void a_failure_of_another_library_opens_no_log(void **state) {
    (void)state;
    struct request *r = ask("libother-x.so", false);
    failures_emit_request(r, "libother-x.so: cannot open shared object file");
    assert_true(r->ended && !journal.open);
    assert_int_equal(journal.failures + journal.diagnoses, 0);
}

static void a_failure_that_matters_does(void **state) {
    (void)state;
    failures_emit_request(ask("libcudnn.so.9", false), "not there");
    assert_true(journal.open);
    assert_int_equal(journal.requests, 1);
    assert_int_equal(journal.failures, 1);
    assert_int_equal(journal.diagnoses, 1);
    assert_string_equal(journal.failure.name, "libcudnn.so.9");
    assert_string_equal(journal.failure.text, "not there");
    assert_false(journal.failure.inferred);
    /* The loader's words alone may name cuDNN. */
    journal.open = false;
    failures_emit_request(ask("libplain-y.so", false), "libcudnn.so.9: cannot open");
    assert_true(journal.open);
    /* With a log, others are told too; nobody asked for the words. */
    failures_emit_request(ask("libplain-z.so", false), NULL);
    assert_int_equal(journal.failures, 3);
    assert_int_equal(journal.diagnoses, 2);
    assert_true(journal.failure.inferred);
}

static void the_same_is_told_so_many_times(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) { /* however often, it is one name */
        failures_emit_request(ask("libcudnn-again.so.9", true), "not there");
    }
    assert_int_equal(journal.requests, REPEATS_RECORDED);
    assert_int_equal(journal.failures, REPEATS_RECORDED);
    assert_int_equal(journal.searches, REPEATS_RECORDED);
    assert_int_equal(journal.left_out[WC_KIND_request], 2000 - REPEATS_RECORDED);
    assert_int_equal(journal.left_out[WC_KIND_failure], 2000 - REPEATS_RECORDED);
    failures_emit_request(ask("libcudnn-once.so.9", true), "not there");
    assert_int_equal(journal.failures, REPEATS_RECORDED + 1);
    for (int i = 0; i < 3 * REPEATS_RECORDED; i++)
        failures_emit_lookup(1, "cudnnAgain", NULL, 5, "not there");
    assert_int_equal(journal.failures, 2 * REPEATS_RECORDED + 1);
    assert_int_equal(journal.left_out[WC_KIND_failure], 2000 + REPEATS_RECORDED);
}

static void a_failure_in_other_words_is_told_with_its_request(void **state) {
    (void)state;
    for (int i = 0; i < 2 * REPEATS_RECORDED; i++)
        failures_emit_request(ask("libcudnn-words.so.9", true), "not there");
    struct request *r = ask("libcudnn-words.so.9", true);
    assert_false(r->logged);
    failures_emit_request(r, "file too short");
    assert_true(r->logged);
    assert_string_equal(journal.failure.text, "file too short");
    assert_int_equal(journal.requests, REPEATS_RECORDED + 1);
    assert_int_equal(journal.left_out[WC_KIND_request], REPEATS_RECORDED);
    failures_emit_lookup(1, "cudnnWords", NULL, 5, "not there");
    failures_emit_lookup(1, "cudnnWords", NULL, 5, "wrong version");
    assert_int_equal(journal.failures, REPEATS_RECORDED + 3);
}

static void who_asks_for_ever_is_kept_once(void **state) {
    (void)state;
    struct request *r = ask("liba-kept.so", false);
    const char *first = r->caller;
    r->ended = true; /* its entry is used again */
    assert_ptr_equal(ask("liba-kept.so", false)->caller, first);
    requests_note(WC_operation_DLOPEN, "libb-kept.so", RTLD_NOW, 0x9000, "/bin/other", false);
    assert_ptr_equal(ask("libc-kept.so", false)->caller, first);
    assert_string_equal(first, "/bin/program");
}

static void a_failed_lookup_is_told(void **state) {
    (void)state;
    failures_emit_lookup(1, "cudnnNew", "/bin/program", WC_NULL, NULL);
    assert_true(journal.open && journal.failure.inferred);
    assert_string_equal(journal.failure.function, "cudnnNew");
    assert_int_equal(journal.failure.operation, WC_operation_DLSYM);
    assert_int_equal(journal.failure.request, 1);
    failures_emit_lookup(1, "cudnnNew", NULL, 5, "undefined symbol: cudnnNew");
    assert_false(journal.failure.inferred);
    assert_int_equal(journal.failure.caller_object, 5);
    assert_int_equal(journal.diagnoses, 2);
}

/* The last test: the table stays full. */
static void too_many_names_are_told_no_more(void **state) {
    char name[32];
    (void)state;
    journal.open = true;
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "libother-%d.so", i);
        ask(name, false);
    }
    assert_in_range(journal.requests, 1000, 2048);
    assert_int_equal(journal.requests + journal.left_out[WC_KIND_request], 5000);
    assert_false(ask("libother-newest.so", false)->logged);
    /* For cuDNN there is more room. */
    unsigned others = journal.requests;
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "libcudnn-%d.so", i);
        ask(name, true);
    }
    assert_in_range(journal.requests - others, 1000, 2048);
    assert_false(ask("libcudnn-newest.so", true)->logged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_was_asked_is_kept, begin),
        cmocka_unit_test_setup(it_is_told_ahead_where_there_is_a_log, begin),
        cmocka_unit_test_setup(a_long_name_is_cut, begin),
        cmocka_unit_test_setup(the_newest_are_found, begin),
        cmocka_unit_test_setup(what_is_over_makes_room_first, begin),
        cmocka_unit_test_setup(another_name_of_the_same_file, begin),
        cmocka_unit_test_setup(a_failure_of_another_library_opens_no_log, begin),
        cmocka_unit_test_setup(a_failure_that_matters_does, begin),
        cmocka_unit_test_setup(the_same_is_told_so_many_times, begin),
        cmocka_unit_test_setup(a_failure_in_other_words_is_told_with_its_request, begin),
        cmocka_unit_test_setup(who_asks_for_ever_is_kept_once, begin),
        cmocka_unit_test_setup(a_failed_lookup_is_told, begin),
        cmocka_unit_test_setup(too_many_names_are_told_no_more, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
