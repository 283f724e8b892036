/* SPDX-License-Identifier: Apache-2.0 */
/* The log's file: its name, what stands in its place, what becomes of a line, and descriptor 2. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/config.h"
#include "shim/log.h"
#include "support_place.h"
#include "support_tree.h"

static int enter(void **state) {
    memset(config.log, 0, sizeof(config.log));
    umask(022);
    return enter_place(state);
}

static bool create(const char *pattern) {
    strcpy(config.log, pattern);
    return log_create("node", 123, 456);
}

static void is_at(const char *name) {
    char expected[PATH_MAX];
    snprintf(expected, sizeof(expected), "%s/%s", place, name);
    assert_string_equal(log_path(), expected);
    assert_int_equal(access(expected, F_OK), 0);
    assert_null(log_trouble());
}

static void put(const char *name) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

static void holds(const char *name, const char *text) {
    char found[256] = "";
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    found[fread(found, 1, sizeof(found) - 1, f)] = 0;
    fclose(f);
    assert_string_equal(found, text);
}

static bool add(const char *line) {
    return log_append(line, strlen(line));
}

/* ---- its name ---- */

static void a_name_is_made_absolute_and_filled_in(void **state) {
    (void)state;
    assert_true(create("mine.jsonl"));
    is_at("mine.jsonl");
    assert_true(create("%n-%p-%r-%x%"));
    is_at("node-123-3_4-%x%"); /* SLURM_PROCID=3/4 */
}

static void a_directory_gets_the_default_name(void **state) {
    (void)state;
    assert_int_equal(mkdir("logs", 0700), 0);
    assert_true(create("logs"));
    is_at("logs/whichcudnn-node-123-456.jsonl");
    assert_true(create("logs/"));
    is_at("logs/whichcudnn-node-123-456-2.jsonl");
    assert_true(log_create("node", 123, -1)); /* not known, without /proc */
    is_at("logs/whichcudnn-node-123-0.jsonl");
    assert_true(log_create("node", 123, 1));
    is_at("logs/whichcudnn-node-123-1.jsonl");
    assert_false(create("none/"));
    assert_string_equal(log_trouble(), "the log file cannot be created");
    assert_string_equal(log_path(), "");
}

/* The program's working directory may be one that it wants to remove. */
static void without_a_name_it_is_in_a_directory_of_the_user_s_own(void **state) {
    char directory[64], name[128];
    struct stat st;
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/whichcudnn-%u", geteuid());
    snprintf(name, sizeof(name), "%s/whichcudnn-node-123-456.jsonl", directory);
    unlink(name); /* of a run that failed here */
    assert_true(create(""));
    assert_string_equal(log_path(), name);
    assert_int_equal(lstat(directory, &st), 0);
    assert_true(S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022));
    log_remove();
    assert_string_equal(log_path(), "");
    assert_int_equal(access(name, F_OK), -1);
    assert_int_equal(rmdir(place), 0); /* nothing is in there */
    assert_int_equal(mkdir(place, 0700), 0);
}

static void dev_null_is_no_log(void **state) {
    (void)state;
    assert_false(create("/dev/null"));
    assert_null(log_trouble()); /* as it was wanted */
    assert_false(log_may_come());
    assert_false(create("/dev/full"));
    assert_string_equal(log_trouble(), "the name is taken");
    assert_false(add("line\n"));
}

static void a_taken_name_gets_the_pid_then_numbers(void **state) {
    char name[32];
    (void)state;
    assert_true(create("mine"));
    assert_true(create("mine"));
    is_at("mine-123.jsonl");
    for (int i = 2; i < 100; i++) {
        assert_true(create("mine"));
        snprintf(name, sizeof(name), "mine-123-%d.jsonl", i);
        is_at(name);
    }
    assert_false(create("mine"));
    assert_string_equal(log_trouble(), "the name is taken");
    assert_true(create("its.jsonl"));
    assert_true(create("its.jsonl"));
    is_at("its-123.jsonl");
    assert_false(create("none/mine"));
    assert_string_equal(log_trouble(), "the log file cannot be created");
}

static void a_name_that_does_not_fit_is_no_name(void **state) {
    char name[4096];
    (void)state;
    memset(name, 'a', sizeof(name));
    name[4095] = 0;
    memcpy(name, "%n", 2); /* longer once filled in */
    assert_false(create(name));
    memcpy(name, "aa", 2); /* longer once absolute */
    assert_false(create(name));
    name[0] = '/'; /* the kernel's limit for one name */
    assert_false(create(name));
    memset(name, 0, sizeof(name));
    for (int i = 0; i < 4080; i += 2)
        memcpy(name + i, "./", 2);
    assert_false(create(name)); /* a directory; the default name does not fit */
    assert_string_equal(log_path(), "");
}

/* ---- its lines ---- */

static void only_what_passes_is_tried_again(void **state) {
    struct rlimit all, none;
    (void)state;
    assert_false(create("no/such/directory/log"));
    assert_string_equal(log_trouble(), "the log file cannot be created");
    assert_false(log_may_come());
    getrlimit(RLIMIT_NOFILE, &all);
    none = all;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    assert_false(create("log"));
    setrlimit(RLIMIT_NOFILE, &all);
    assert_true(log_may_come());
    assert_true(create("log"));
    is_at("log");
    assert_false(log_may_come()); /* it is there */
    assert_false(create("no/such/directory/log"));
    assert_false(log_may_come());
}

static void lines_are_added_one_by_one(void **state) {
    struct stat st;
    (void)state;
    assert_true(create("mine"));
    assert_true(add("first\n") && add("second\n"));
    holds("mine", "first\nsecond\n");
    assert_int_equal(stat("mine", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644);
    log_remove();
    assert_int_equal(access("mine", F_OK), -1);
    assert_false(add("third\n")); /* there is none */
}

static void what_stands_in_its_place_is_left_alone(void **state) {
    int reader;
    (void)state;
    assert_int_equal(chmod(place, 0777), 0); /* where others may put something there */
    assert_true(create("mine"));
    assert_int_equal(unlink("mine"), 0);
    assert_false(add("lost\n"));
    assert_string_equal(log_trouble(), "the log file cannot be opened any more");
    put("other");
    assert_int_equal(symlink("other", "mine"), 0);
    assert_false(add("lost\n"));
    holds("other", "");
    assert_int_equal(unlink("mine"), 0);
    assert_int_equal(mkfifo("mine", 0600), 0);
    assert_false(add("lost\n")); /* without waiting for a reader */
    reader = open("mine", O_RDONLY | O_NONBLOCK);
    assert_false(add("lost\n"));
    assert_string_equal(log_trouble(), "another file replaced the log file");
    close(reader);
    log_remove();
    assert_int_equal(access("mine", F_OK), 0); /* not ours to remove */
}

static void another_user_s_file_is_left_alone(void **state) {
    (void)state;
    if (geteuid() != 0)
        return; /* nobody else can give a file away */
    assert_int_equal(chmod(place, 0777), 0);
    assert_true(create("mine"));
    assert_int_equal(chown("mine", 65534, 65534), 0);
    assert_false(add("lost\n"));
    holds("mine", "");
}

static volatile sig_atomic_t signals_seen;

static void see(int signal) {
    (void)signal;
    signals_seen++;
}

static void a_line_that_does_not_fit_leaves_no_part(void **state) {
    struct rlimit before, now;
    bool added[4];
    (void)state;
    assert_true(create("mine"));
    assert_true(add("whole\n"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = 10;
    signal(SIGXFSZ, see);
    setrlimit(RLIMIT_FSIZE, &now);
    added[0] = add("too long to fit\n");
    added[1] = add("fit\n");
    added[2] = add("full\n"); /* not a byte: SIGXFSZ, which the host does not get */
    setrlimit(RLIMIT_FSIZE, &before);
    added[3] = add("again\n");
    signal(SIGXFSZ, SIG_DFL);
    assert_false(added[0]);
    assert_true(added[1]);
    assert_false(added[2]);
    assert_true(added[3]);
    holds("mine", "whole\nfit\nagain\n");
    assert_int_equal(signals_seen, 0);
}

static void a_signal_of_the_host_s_stays_pending(void **state) {
    struct rlimit before, now;
    sigset_t block, old, pending;
    (void)state;
    assert_true(create("mine"));
    sigemptyset(&block);
    sigaddset(&block, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &block, &old);
    raise(SIGXFSZ); /* the host's own, which it will take */
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &now);
    bool added = add("lost\n");
    setrlimit(RLIMIT_FSIZE, &before);
    bool again = add("kept\n");
    sigpending(&pending);
    signal(SIGXFSZ, SIG_IGN); /* also drops it */
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(added);
    assert_true(again);
    assert_true(sigismember(&pending, SIGXFSZ));
}

static void standard_descriptors_stay_free(void **state) {
    int kept, after;
    (void)state;
    kept = dup(0);
    close(0);
    bool created = create("mine"), added = add("line\n");
    after = fcntl(0, F_GETFD);
    if (kept >= 0) {
        dup2(kept, 0);
        close(kept);
    }
    assert_true(created && added);
    assert_int_equal(after, -1);
    holds("mine", "line\n");
}

/* ---- standard error ---- */

static size_t arrived(int fd) {
    char buffer[64];
    ssize_t n = read(fd, buffer, sizeof(buffer));
    return n > 0 ? (size_t)n : 0;
}

static void print(void) {
    log_to_standard_error("word\n", 5);
}

/* Nothing may be asserted while 1 and 2 lead elsewhere. */
static void standard_error_is_written_to_while_it_is_that(void **state) {
    int first[2], second[2], kept[2] = {dup(1), dup(2)};
    size_t n[6];
    (void)state;
    assert_int_equal(pipe2(first, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(pipe2(second, O_NONBLOCK | O_CLOEXEC), 0);
    dup2(first[1], 2);
    log_note_standard_error(NULL);
    print();
    n[0] = arrived(first[0]);
    dup2(second[1], 2); /* the host's own use of that number */
    print();
    n[1] = arrived(second[0]);
    dup2(second[1], 1); /* 2>&1 */
    print();
    n[2] = arrived(second[0]);
    close(2);
    print();
    dup2(first[1], 2);
    while (write(2, "x", 1) == 1)
        continue;
    print(); /* nobody empties it: not waited for */
    for (n[3] = 0; (n[4] = arrived(first[0]));)
        n[3] += n[4];
    close(first[0]);
    print(); /* no reader: no SIGPIPE */
    close(1);
    dup2(second[1], 2);
    print();
    n[5] = arrived(second[0]);
    dup2(kept[0], 1);
    dup2(kept[1], 2);
    assert_int_equal(n[0], 5);
    assert_int_equal(n[1], 0);
    assert_int_equal(n[2], 5);
    assert_int_equal(n[3] % 4096, 0); /* "x" alone */
    assert_int_equal(n[5], 0);
    close(first[1]), close(second[0]), close(second[1]), close(kept[0]), close(kept[1]);
}

static int load(void **state) {
    static const char *const envp[] = {"SLURM_PROCID=3/4", "PMI_RANK=9", "RANKED=1", NULL};
    (void)state;
    config_load(envp);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_is_made_absolute_and_filled_in, enter, leave_place),
        cmocka_unit_test_setup_teardown(a_directory_gets_the_default_name, enter, leave_place),
        cmocka_unit_test_setup_teardown(without_a_name_it_is_in_a_directory_of_the_user_s_own,
                                        enter, leave_place),
        cmocka_unit_test_setup_teardown(dev_null_is_no_log, enter, leave_place),
        cmocka_unit_test_setup_teardown(a_taken_name_gets_the_pid_then_numbers, enter, leave_place),
        cmocka_unit_test_setup_teardown(a_name_that_does_not_fit_is_no_name, enter, leave_place),
        cmocka_unit_test_setup_teardown(only_what_passes_is_tried_again, enter, leave_place),
        cmocka_unit_test_setup_teardown(lines_are_added_one_by_one, enter, leave_place),
        cmocka_unit_test_setup_teardown(what_stands_in_its_place_is_left_alone, enter, leave_place),
        cmocka_unit_test_setup_teardown(another_user_s_file_is_left_alone, enter, leave_place),
        cmocka_unit_test_setup_teardown(a_line_that_does_not_fit_leaves_no_part, enter,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_signal_of_the_host_s_stays_pending, enter, leave_place),
        cmocka_unit_test_setup_teardown(standard_descriptors_stay_free, enter, leave_place),
        cmocka_unit_test_setup_teardown(standard_error_is_written_to_while_it_is_that, enter,
                                        leave_place),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
