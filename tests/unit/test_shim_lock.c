/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's lock: one at a time, taken over from a parent, given up in another's memory. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
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

#include "shim/state.h"
#include "shim/thread.h"

/* Its own elf_file after a child is not made for one in our memory. */
#if defined __SANITIZE_THREAD__
#define WITH_TSAN 1
#elif defined __has_feature
#define WITH_TSAN __has_feature(thread_sanitizer)
#else
#define WITH_TSAN 0
#endif

static bool is_blocked(int signal) {
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signal) == 1;
}

static void signals_wait_while_it_is_held(void **state) {
    (void)state;
    assert_true(state_take());
    assert_true(is_blocked(SIGUSR1) && is_blocked(SIGALRM));
    assert_false(is_blocked(SIGSEGV) || is_blocked(SIGSYS));
    state_leave();
    assert_false(is_blocked(SIGUSR1));
    assert_int_equal(state_epoch(), 1);
}

#define THREADS 4
#define TIMES 20000
static long counter;

static void *count(void *arg) {
    (void)arg;
    for (int i = 0; i < TIMES; i++) {
        if (!state_take())
            return (void *)1;
        counter++;
        state_leave();
    }
    return NULL;
}

static void one_thread_at_a_time(void **state) {
    pthread_t threads[THREADS];
    void *failed;
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(counter, (long)THREADS * TIMES);
}

static int status_of(pid_t child) {
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_child_takes_over_what_its_parent_held(void **state) {
    (void)state;
    assert_true(state_take());
    uint64_t epoch = state_epoch();
    pid_t child = fork();
    if (child == 0) {
        bool taken = state_take() && state_epoch() == epoch + 1;
        state_leave();
        _exit(taken && state_take() && state_epoch() == epoch + 1 ? 0 : 1);
    }
    int status = status_of(child);
    state_leave();
    assert_int_equal(status, 0);
    assert_true(state_take()); /* the child's way with it was the child's */
    assert_int_equal(state_epoch(), epoch);
    state_leave();
}

#if !WITH_TSAN
static int tries(void *arg) {
    (void)arg;
    return state_take() ? 1 : 0;
}

static void a_child_in_our_memory_gets_none(void **state) {
    static _Alignas(16) char stack[64 << 10];
    (void)state;
    assert_true(state_take());
    state_leave();
    pid_t child = clone(tries, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    assert_true(child > 0);
    assert_int_equal(status_of(child), 0);
    uint64_t epoch = state_epoch();
    assert_true(state_take());
    assert_int_equal(state_epoch(), epoch);
    state_leave();
}
#endif

/* In a child: the lock is broken then, for good. */
static void an_owner_that_never_comes_back_is_not_waited_for_again(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(state_take() && !state_take() && (state_leave(), !state_take()) ? 0 : 1);
    }
    assert_int_equal(status_of(child), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_wait_while_it_is_held),
        cmocka_unit_test(one_thread_at_a_time),
        cmocka_unit_test(a_child_takes_over_what_its_parent_held),
#if !WITH_TSAN
        cmocka_unit_test(a_child_in_our_memory_gets_none),
#endif
        cmocka_unit_test(an_owner_that_never_comes_back_is_not_waited_for_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
