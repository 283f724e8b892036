/* SPDX-License-Identifier: Apache-2.0 */
/* Which process and thread this is, and what time, without a system call for it. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include "shim/clock.h"
#include "shim/self.h"

static int status_of(pid_t child) {
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

static bool is_whole(unsigned process) {
    return self_process() == process && self_pid() == getpid() && self_tid() == gettid();
}

/* A grandchild has a number of its own, too; a child that did nothing has none. */
static void each_process_has_a_number(void **state) {
    (void)state;
    assert_true(self_enter());
    assert_true(is_whole(1));
    pid_t child = fork();
    if (child == 0) {
        if (self_process() != 0 || !self_enter() || !is_whole(2))
            _exit(1);
        pid_t inner = fork();
        if (inner == 0)
            _exit(self_process() == 0 && self_enter() && is_whole(3) ? 0 : 1);
        _exit(status_of(inner));
    }
    assert_int_equal(status_of(child), 0);
    assert_true(self_enter() && is_whole(1));
}

/* Process 1 of a namespace, and in there again: the inner one is another process. */
static int be_process_1(unsigned depth) {
    if (unshare(CLONE_NEWPID) != 0)
        return depth ? 1 : 77; /* nobody lets us */
    pid_t child = fork();
    if (child == 0) {
        bool well = self_process() == 0 && self_enter() && self_pid() == 1 && is_whole(depth + 3);
        _exit(!well ? 2 : depth ? 0 : be_process_1(depth + 1));
    }
    return status_of(child);
}

static void not_even_the_same_pid_makes_it_the_same(void **state) {
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(self_enter() ? be_process_1(0) : 3);
    int status = status_of(child);
    assert_true(status == 0 || status == 77);
}

static void *note_tid(void *good) {
    *(bool *)good = self_tid() == gettid() && self_tid() != getpid();
    return NULL;
}

static void each_thread_has_its_number(void **state) {
    pthread_t thread;
    bool good = false;
    (void)state;
    assert_true(self_enter());
    assert_int_equal(pthread_create(&thread, NULL, note_tid, &good), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(good);
}

/* Microseconds of libc's clock. */
static int64_t now(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static void time_is_told(void **state) {
    (void)state;
    int64_t before = now(), between = clock_now(), after = now();
    assert_true(before <= between && between <= after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_process_has_a_number),
        cmocka_unit_test(not_even_the_same_pid_makes_it_the_same),
        cmocka_unit_test(each_thread_has_its_number),
        cmocka_unit_test(time_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
