/* SPDX-License-Identifier: Apache-2.0 */
/* Settling by eight threads at once, each of which opens and closes libraries, without the entries,
 * so that a sanitizer sees all of it. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include "shim/config.h"
#include "shim/log.h"
#include "shim/readable.h"
#include "shim/rescan.h"
#include "shim/state.h"
#include "shim/thread.h"
#include "support_place.h"
#include "whichcudnn/record.h"

enum { THREADS = 8, ROUNDS = 25, LIBRARIES = 4 };

static char library[LIBRARIES][128];
static pthread_barrier_t together;

static void copy(const char *from, const char *to) {
    static char buffer[1 << 16];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_true(in && out);
    for (size_t n; (n = fread(buffer, 1, sizeof(buffer), in)) > 0;)
        assert_int_equal(fwrite(buffer, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* By their names two are cuDNN's and two are nobody's. */
static int enter(void **state) {
    static const char *const names[LIBRARIES] = {"libcudnn.so.9", "libcudnn_graph.so.9",
                                                 "libother.so", "libanother.so"};
    static char variable[96];
    static const char *const envp[] = {"WHICHCUDNN_STDERR=off", variable, NULL};
    Dl_info cmocka;
    if (enter_place(state) != 0 || !dladdr((void *)_cmocka_run_group_tests, &cmocka))
        return -1;
    for (int i = 0; i < LIBRARIES; i++) {
        snprintf(library[i], sizeof(library[i]), "%s/%s", place, names[i]);
        copy(cmocka.dli_fname, library[i]);
    }
    snprintf(variable, sizeof(variable), "WHICHCUDNN_LOG=%s/log", place);
    config_load(envp);
    return 0;
}

/* What a hook does: pass on what it calls itself, notice the news, note what comes. */
static void rescan(void (*note)(void)) {
    if (!thread_enter())
        return;
    this_thread.walk = WALK_ASKS;
    rescan_second_chance();
    note();
    this_thread.walk = WALK_NEVER;
    thread_leave();
}

static bool is_answered(const char *path) {
    this_thread.walk = WALK_ASKS;
    const char *found = rescan_path_at((uintptr_t)is_answered);
    bool known = rescan_load_chain();
    bool yes =
        state_take() && rescan_answers(path, known) && found && strstr(found, "test_shim_rescan");
    state_leave();
    this_thread.walk = WALK_NEVER;
    return yes;
}

static void *open_and_close(void *arg) {
    size_t thread = (uintptr_t)arg;
    pthread_barrier_wait(&together);
    for (size_t i = 0; i < ROUNDS; i++) {
        const char *path = library[(thread + i) % LIBRARIES];
        rescan(rescan_note_open);
        void *handle = dlopen(path, RTLD_NOW);
        bool answered = handle && is_answered(path);
        rescan(rescan_note_close); /* nothing may come between that and the close itself */
        if (!answered || dlclose(handle) != 0)
            return (void *)1;
    }
    return NULL;
}

struct lines {
    int64_t all, objects, others;
};

static struct lines read_log(void) {
    static char line[WC_RECORD_MAX + 1];
    struct lines n = {0, 0, 0};
    FILE *f = fopen(log_path(), "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        const char *seq = strstr(line, "\"seq\":");
        n.all++;
        assert_non_null(seq);
        assert_int_equal(strtoll(seq + 6, NULL, 10), n.all);
        if (!strstr(line, "\"kind\":\"object\""))
            continue;
        bool cudnn = strstr(line, library[0]) || strstr(line, library[1]);
        n.objects += cudnn;
        n.others += !cudnn;
    }
    fclose(f);
    return n;
}

static void threads_settle_at_once(void **state) {
    pthread_t threads[THREADS];
    void *failed;
    (void)state;
    assert_true(thread_enter());
    rescan_note_start(); /* as where the shim wakes */
    rescan_if_never();
    thread_leave();
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, (void *)(uintptr_t)i),
                         0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_true(thread_others);
    void *last = dlopen(library[0], RTLD_NOW);
    assert_non_null(last);
    rescan(rescan_note_open);
    struct lines n = read_log();
    assert_true(n.objects >= 2);
    assert_int_equal(n.others, 0);
    dlclose(last);
}

/* An object may protect its own headers between two looks. */
static void the_next_look_asks_again_what_is_readable(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(p != MAP_FAILED);
    assert_true(readable_asked(p, page));
    assert_int_equal(mprotect(p, page, PROT_NONE), 0);
    rescan(rescan_note_open);
    assert_false(readable_asked(p, page));
    munmap(p, page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_settle_at_once, enter, leave_place),
        cmocka_unit_test(the_next_look_asks_again_what_is_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
