/* SPDX-License-Identifier: Apache-2.0 */
/* What threads share of the shim, without the entries, so that a sanitizer sees all of it: eight of
 * them note requests, write lines, take memory, fork, and call through wrappers at once. The table
 * of objects is the test's own. */
#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include "shim/calls.h"
#include "shim/config.h"
#include "shim/failed_files.h"
#include "shim/journal.h"
#include "shim/log.h"
#include "shim/memory.h"
#include "shim/objects.h"
#include "shim/requests.h"
#include "shim/searches.h"
#include "shim/slots.h"
#include "shim/state.h"
#include "shim/thread.h"
#include "shim/watched.h"
#include "support_place.h"

enum {
    THREADS = 8,
    ROUNDS = 120,
    FORK_EACH = 30,
    PIECES = 60,
    CALLS = 20,
    TARGETS = 50,
    ALL = THREADS + 1
};

/* ---- the objects: a host that everything is called from, a library of the targets ---- */

static size_t version_0(void) {
    return 90100;
}
static size_t version_1(void) {
    return 90200;
}
static size_t (*const targets[])(void) = {version_0, version_1};

static struct object host = {
    .l.number = 1, .l.role = WC_role_HOST, .l.mapped = true, .l.path = "/lib/host.so"};
static struct object library = {.l.number = 2,
                                .l.role = WC_role_FACADE,
                                .l.mapped = true,
                                .major = 9,
                                .l.path = "/lib/libcudnn.so.9"};
static unsigned resolved;

struct object *objects_at(uintptr_t address) {
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
        if (address == (uintptr_t)targets[i])
            return &library;
    return &host;
}
struct object *objects_number(int64_t number) {
    return number == 1 ? &host : number == 2 ? &library : NULL;
}
struct object *objects_get(size_t i) {
    return i == 0 ? &host : i == 1 ? &library : NULL;
}
bool object_is_emitted_enough(const struct object *o) {
    (void)o;
    return false;
}
void objects_forget(void) {}
void searches_forget(void) {}
struct wc_replay *searches_emit_failed(const struct request *r) {
    (void)r;
    return NULL;
}
void failed_files_after_failure(const struct request *r, const char *text) {
    (void)r, (void)text;
}
void failed_files_in_search(const struct request *r, struct wc_replay *replay) {
    (void)r, (void)replay;
}
const char *failed_files_words(const struct request *r) {
    (void)r;
    return NULL;
}
void slots_emit_resolved(const struct object *o, const struct object *to, const char *function) {
    (void)o, (void)to, (void)function;
    resolved++;
}

/* ---- threads that begin together ---- */

static pthread_barrier_t together;

static void run_threads(void *(*work)(void *)) {
    pthread_t threads[THREADS];
    void *failed;
    assert_int_equal(pthread_barrier_init(&together, NULL, ALL), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i), 0);
    pthread_barrier_wait(&together);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    pthread_barrier_destroy(&together);
}

/* ---- the log ---- */

struct lines {
    int64_t all, requests, before, after;
};

static int64_t number_behind(const char *line, const char *key) {
    const char *p = strstr(line, key);
    assert_non_null(p);
    return strtoll(p + strlen(key), NULL, 10);
}

/* Each line is whole, and none is there twice or missing. */
static struct lines read_log(void) {
    static char line[WC_RECORD_MAX + 1];
    struct lines n = {0, 0, 0, 0};
    FILE *f = fopen(log_path(), "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        n.all++;
        assert_int_equal(line[0], '{');
        assert_string_equal(line + strlen(line) - 2, "}\n");
        assert_int_equal(number_behind(line, "\"seq\":"), n.all);
        if (n.all == 1 || strstr(line, "\"pid\":")) /* else as in the line before */
            assert_int_equal(number_behind(line, "\"pid\":"), getpid());
        n.requests += strstr(line, "\"kind\":\"request\"") != NULL;
        n.before += strstr(line, "\"phase\":\"before\"") != NULL;
        n.after += strstr(line, "\"phase\":\"after\"") != NULL;
    }
    fclose(f);
    return n;
}

/* ---- requests, lines, memory, forks ---- */

static unsigned char *pieces[THREADS][PIECES];

static size_t size_of_piece(size_t thread, size_t i) {
    return 1 + (thread * 131 + i * 977) % 9000;
}

static bool note_one(size_t thread, int i) {
    char name[64];
    snprintf(name, sizeof(name), "libnone_%zu_%d.so", thread, i);
    bool known = journal_is_open(); /* asked without the lock, too */
    if (!state_take())
        return false;
    struct request *r =
        requests_note(WC_operation_DLOPEN, name, RTLD_NOW, 0x1000, known ? "caller" : NULL, true);
    int64_t number = r->number;
    bool good = r == requests_recent(0) && r == requests_find(number) &&
                r == requests_open_of_thread(gettid()) && strcmp(r->name, name) == 0;
    this_thread.request = number;
    state_leave();
    if (!state_take())
        return false;
    /* Others noted theirs since; more than are kept at once there are not. */
    r = requests_find(number);
    good = good && r && strcmp(r->name, name) == 0 && r->tid == gettid();
    if (r)
        r->ended = true;
    state_leave();
    return good;
}

static bool take_piece(size_t thread, size_t i) {
    size_t n = size_of_piece(thread, i);
    if (!state_take())
        return false;
    unsigned char *p = wc_arena_take(&memory_arena, n);
    state_leave();
    for (size_t k = 0; p && k < n; k++)
        if (p[k])
            return false;
    if (p)
        memset(p, (int)(1 + thread), n);
    pieces[thread][i] = p;
    return p != NULL;
}

/* In a forked child, whatever the other threads were doing: its own log, begun anew. */
static int begin_anew(size_t thread) {
    char mine[16];
    alarm(120);
    snprintf(mine, sizeof(mine), "-%d-", getpid());
    if (journal_is_open())
        return 2;
    if (!note_one(thread, ROUNDS))
        return 3;
    return journal_is_open() && strstr(log_path(), mine) ? 0 : 4;
}

static bool fork_one(size_t thread) {
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(begin_anew(thread));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void *ask_write_take_fork(void *arg) {
    size_t thread = (uintptr_t)arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        if (!note_one(thread, i) || (i < PIECES && !take_piece(thread, (size_t)i)))
            return (void *)1;
        if (i % FORK_EACH == FORK_EACH - 1 && !fork_one(thread))
            return (void *)2;
    }
    return NULL;
}

static void nothing_is_lost_or_doubled(void **state) {
    (void)state;
    run_threads(ask_write_take_fork);
    assert_int_equal(read_log().requests, THREADS * ROUNDS);
    for (size_t t = 0; t < THREADS; t++)
        for (size_t i = 0; i < PIECES; i++)
            for (size_t k = 0; k < size_of_piece(t, i); k++)
                assert_int_equal(pieces[t][i][k], 1 + t);
    assert_true(journal_new_request() == THREADS * ROUNDS + 1);
}

/* ---- calls ---- */

static uintptr_t slot, wrapper;

static size_t call(uintptr_t address) {
    return ((size_t(*)(void))address)();
}

static void *call_wrapper_often(void *arg) {
    (void)arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < CALLS; i++)
        if (call(wrapper) != 90100 || watched_target_of(wrapper) != (uintptr_t)version_0)
            return (void *)1;
    return NULL;
}

static void first_calls_at_once_are_told_once(void **state) {
    int row = watched_row("cudnnGetVersion", 9);
    (void)state;
    assert_true(state_take());
    journal_open_relevant();
    state_leave();
    for (int i = 0; i < TARGETS; i++) {
        struct lines before = read_log(), now;
        assert_true(state_take());
        wrapper = call_wrapper(row, (uintptr_t)version_0, &library);
        state_leave();
        assert_true(wrapper != 0 && wrapper != (uintptr_t)version_0);
        run_threads(call_wrapper_often);
        now = read_log();
        assert_int_equal(now.before - before.before, 1);
        assert_int_equal(now.after - before.after, 1);
        assert_true(state_take());
        watched_forget(&library);
        state_leave();
        assert_int_equal(watched_target_of(wrapper), 0);
    }
}

/* As the loader's resolver does: what it finds is put into the slot and called. */
__attribute__((used)) static size_t resolve(void) {
    sched_yield();
    __atomic_store_n(&slot, (uintptr_t)version_1, __ATOMIC_RELEASE);
    sched_yield();
    return version_1();
}

/* Two words lie on the stack: which slot of which object it is. */
extern const char resolver[] __attribute__((visibility("hidden")));
__asm__("resolver:\n"
#ifdef __x86_64__
        "endbr64; add $16, %rsp; jmp resolve\n"
#else
        "ldp x16, x30, [sp], 16; b resolve\n"
#endif
);

static void *call_through_slot(void *arg) {
    (void)arg;
    pthread_barrier_wait(&together);
    for (int i = 0; i < CALLS; i++)
        if (call(__atomic_load_n(&slot, __ATOMIC_ACQUIRE)) != 90200)
            return (void *)1;
    return NULL;
}

static void a_slot_that_all_resolve_at_once_is_watched_again(void **state) {
    int row = watched_row("cudnnGetVersion", 9);
    (void)state;
    for (int i = 0; i < TARGETS; i++) {
        assert_true(state_take());
        journal_open_relevant();
        const struct slot lazy = {.address = (uintptr_t)&slot, .target = (uintptr_t)resolve};
        slot = call_wrapper_lazy(row, &lazy, &host, (const uintptr_t[]){0, 0, (uintptr_t)resolver});
        resolved = 0;
        state_leave();
        assert_true(slot != 0 && slot != (uintptr_t)resolve);
        struct lines before = read_log(), now;
        run_threads(call_through_slot);
        now = read_log();
        assert_int_equal(resolved, 1);
        assert_int_equal(watched_target_of(slot), (uintptr_t)version_1);
        assert_int_equal(now.before - before.before, 1);
        assert_int_equal(now.after - before.after, 1);
        assert_true(state_take());
        watched_forget(&library);
        watched_forget(&host);
        state_leave();
    }
}

static int enter(void **state) {
    static char variable[96];
    /* Literals lie below: no auxiliary vector is looked for between this and its strings. */
    static const char *const envp[] = {"WHICHCUDNN_STDERR=off", variable, NULL};
    if (enter_place(state) != 0)
        return -1;
    snprintf(variable, sizeof(variable), "WHICHCUDNN_LOG=%s", place);
    config_load(envp);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_doubled),
        cmocka_unit_test(first_calls_at_once_are_told_once),
        cmocka_unit_test(a_slot_that_all_resolve_at_once_is_watched_again),
    };
    return cmocka_run_group_tests(tests, enter, leave_place);
}
