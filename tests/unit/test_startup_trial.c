/* SPDX-License-Identifier: Apache-2.0 */
/* Does the system let the loader have a file? What is no file is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "support_own_tree.h"
#include "tools/commands/run/startup.h"
#include "tools/util/memory.h"

static int error_of(const char *path) {
    alarm(20); /* it may be held up for ever */
    return startup_trial(&path, 1).error;
}

static void a_library_may_be_had_and_one_that_is_gone_is_told_by_others(void **state) {
    OWNED char *gone = must_format("%s/gone", tree.root);

    (void)state;
    assert_int_equal(error_of("/proc/self/exe"), 0);
    assert_int_equal(error_of(gone), 0);
}

static void what_cannot_be_opened_is_refused(void **state) {
    OWNED char *loop = must_format("%s/loop", tree.root);

    (void)state;
    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(error_of(loop), ELOOP);
}

/* In the place of a library that was found a moment before, another user may put something else. */
static void a_pipe_is_not_waited_for_and_a_device_not_opened(void **state) {
    OWNED char *pipe = must_format("%s/libcudnn.so.9", tree.root);

    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(error_of(pipe), 0);
    assert_int_equal(error_of("/dev/tty"), 0); /* without a terminal ENXIO */
    assert_int_equal(error_of(tree.root), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(a_library_may_be_had_and_one_that_is_gone_is_told_by_others),
        WITH_TREE(what_cannot_be_opened_is_refused),
        WITH_TREE(a_pipe_is_not_waited_for_and_a_device_not_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
