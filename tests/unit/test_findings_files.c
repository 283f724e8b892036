/*
 * Files that are not what their name says: bad-file.
 */
#include "support_stack.h"

static const char a_library[] = "libcudnn.so.9";

/* A request that failed, and what was seen of the file behind it. */
static void fail_for(struct scene *s, int64_t by, const char *name, const char *words,
                     struct looked_at l) {
    add_looked_at(s, &l);
    add_failure(s, by, NULL, name, words ? say(s, "%s: %s", l.path, words) : not_found(s, name));
}

static void a_refused_file_is_told_alone_with_what_it_is(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct looked_at l = {.path = "/x/lib/libcudnn.so.9",
                          .fault = WC_file_fault_CUT,
                          .what = "a library that is cut short: 5 of 9 bytes are there",
                          .size = 5};
    add_variable(s, "LD_LIBRARY_PATH=/x/lib:/y");
    fail_for(s, host, a_library, "file too short", l);
    add_failure(s, host, NULL, "libcudnn.so", not_found(s, "libcudnn.so"));
    assert_finds(s, "bad-file");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_string_equal(r->title, "libhost.so asked for libcudnn.so.9, which is a library that is "
                                  "cut short: 5 of 9 bytes are there");
    assert_int_equal(r->host, host);
    assert_true(has_fact(r, "file", "/x/lib/libcudnn.so.9"));
    assert_true(has_fact(r, "size", "5 bytes"));
    assert_true(has_fact(r, "loader said", "file too short"));
    assert_true(has_command(r, "export LD_LIBRARY_PATH=/y"));
    /* Frameworks try copies in turn; another one came in. */
    add_facade(s, "/y", draw_release(9), host);
    assert_finds(s, "");
}

static void each_file_is_told_once(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct looked_at l = {
        .path = "/x/libcudnn.so.9", .fault = WC_file_fault_EMPTY, .what = "empty"};
    fail_for(s, host, a_library, "file too short", l);
    fail_for(s, add_host(s, "/opt/app/libother.so"), "/x/libcudnn.so.9", "file too short", l);
    assert_finds(s, "bad-file");
    l.path = "/y/libcudnn.so.9";
    fail_for(s, host, "/y/libcudnn.so.9", "file too short", l);
    assert_finds(s, "bad-file bad-file");
}

/* "No such file or directory" of a file that is there. */
static void a_file_that_was_passed_over_is_told(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct looked_at l = {.path = "/x/libcudnn.so.9",
                          .fault = WC_file_fault_OTHER_MACHINE,
                          .what = "a 64-bit library for aarch64, in a 64-bit process for x86-64"};
    fail_for(s, host, a_library, NULL, l);
    assert_finds(s, "bad-file");
    assert_true(has_fact(&s->found.p[0], "mind", "without a word"));
    assert_non_null(strstr(s->found.p[0].fix.p[0].text, "the build there that is made for"));
    /* A sound file of that name says nothing about the failure. */
    s = new_scene();
    l.fault = WC_file_fault_UNKNOWN;
    fail_for(s, add_host(s, "/opt/app/libhost.so"), a_library, NULL, l);
    assert_finds(s, "library-not-found");
    /* Nor does one that another request met. */
    s = new_scene();
    l.fault = WC_file_fault_OTHER_MACHINE;
    add_looked_at(s, &l);
    s->requests++;
    add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, a_library, not_found(s, a_library));
    assert_finds(s, "library-not-found");
}

static void a_file_that_the_asked_one_needs_is_told(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct looked_at l = {.path = "/x/libcublas.so.12",
                          .fault = WC_file_fault_DANGLING,
                          .what = "a link that leads nowhere",
                          .link = "libcublas.so.12.4"};
    add_looked_at(s, &l);
    add_failure(s, host, NULL, "libtorch_cuda.so", not_found(s, "libcublas.so.12"));
    assert_finds(s, "bad-file");
    assert_string_equal(s->found.p[0].title, "libtorch_cuda.so needs libcublas.so.12, which is a "
                                             "link that leads nowhere");
    assert_true(has_fact(&s->found.p[0], "leads to", "libcublas.so.12.4"));
}

/* Other files that a program tries have nothing to do with cuDNN; a framework's own have. */
static void only_files_of_cuda_and_frameworks_count(void **state) {
    (void)state;
    static const struct {
        const char *path, *found;
    } rows[] = {{"/venv/cuda-12/lib/libm.so", ""},
                {"/venv/torch/lib/libtorch_cpu.so", "bad-file"},
                {"/usr/lib32/libcuda.so.1", "bad-file"},
                {"/x/libcudnn_ops.so.9", "bad-file"},
                {"/x/libnvrtc.so.12", "bad-file"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        struct looked_at l = {.path = rows[i].path, .fault = WC_file_fault_NOT_ELF, .what = "text"};
        fail_for(s, add_host(s, "/opt/app/libhost.so"), rows[i].path, "invalid ELF header", l);
        assert_finds(s, rows[i].found);
    }
}

static void a_part_that_is_bad_is_not_missing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    struct looked_at l = {.path = "/opt/cudnn/libcudnn_ops.so.9",
                          .fault = WC_file_fault_POINTER,
                          .what = "a git-LFS pointer"};
    add_failed_part(s, facade, "ops", v, 2);
    fail_for(s, facade, "libcudnn_ops.so.9", "invalid ELF header", l);
    add_failure(s, facade, NULL, "libcudnn_ops.so", not_found(s, "libcudnn_ops.so"));
    assert_finds(s, "bad-file");
    assert_int_equal(s->found.p[0].object, facade);
    assert_true(has_command(&s->found.p[0], "git -C /opt/cudnn lfs pull"));
    /* The part came in by another name, after all. */
    add_part(s, "/opt/cudnn", "ops", v, facade);
    assert_finds(s, "");
}

/* Where nobody looked, the loader's words are all there is. */
static void words_alone_are_enough(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, "libcudnn.so.9",
                "libcudnn.so.9: wrong ELF class: ELFCLASS32");
    assert_finds(s, "bad-file");
    assert_string_equal(s->found.p[0].title, "libhost.so asked for libcudnn.so.9, a file that the "
                                             "loader refuses");
    assert_true(has_fact(&s->found.p[0], "loader said", "ELFCLASS32"));
}

static void what_to_do_follows_from_what_it_is(void **state) {
    (void)state;
    static const struct {
        enum wc_file_fault fault;
        enum wc_installation_kind kind;
        const char *installation, *action, *command;
    } rows[] = {
        {WC_file_fault_UNREADABLE, 0, NULL, "reinstall", "chmod a+r /x/libcudnn.so.9"},
        {WC_file_fault_POINTER, 0, NULL, "reinstall", "git -C /x lfs pull"},
        {WC_file_fault_CUT, WC_installation_kind_WHEEL, "nvidia-cudnn-cu12", "reinstall",
         "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70"},
        {WC_file_fault_CUT, 0, NULL, "reinstall", NULL},
        {WC_file_fault_DANGLING, 0, NULL, "remove", NULL},
        {WC_file_fault_DIRECTORY, 0, NULL, "remove", NULL},
        {WC_file_fault_OTHER_CLASS, 0, NULL, "install", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        struct looked_at l = {.path = "/x/libcudnn.so.9",
                              .fault = rows[i].fault,
                              .what = "what it is",
                              .kind = rows[i].kind,
                              .installation = rows[i].installation,
                              .installation_version = "9.1.0.70"};
        fail_for(s, add_host(s, "/opt/app/libhost.so"), a_library, "invalid ELF header", l);
        assert_finds(s, "bad-file");
        const struct wc_fix *fix = &s->found.p[0].fix.p[0];
        assert_string_equal(fix->action, rows[i].action);
        if (rows[i].command)
            assert_string_equal(fix->command, rows[i].command);
        else
            assert_null(fix->command);
    }
}

/* Nothing of a path gets into a command that could do more than it says. */
static void a_path_that_nobody_would_type_gets_no_command(void **state) {
    (void)state;
    static const char *const paths[] = {"/x'y/libcudnn.so.9", "/x\ny/libcudnn.so.9",
                                        "-rf/libcudnn.so.9"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct scene *s = new_scene();
        struct looked_at l = {
            .path = paths[i], .fault = WC_file_fault_POINTER, .what = "a pointer"};
        fail_for(s, add_host(s, "/opt/app/libhost.so"), paths[i], "invalid ELF header", l);
        l.fault = WC_file_fault_UNREADABLE;
        l.path = say(s, "%s.1", paths[i]);
        fail_for(s, 1, l.path, "cannot open shared object file: Permission denied", l);
        assert_finds(s, "bad-file bad-file");
        assert_null(s->found.p[0].fix.p[0].command);
        assert_null(s->found.p[1].fix.p[0].command);
    }
}

int main(void) {
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_file_is_told_alone_with_what_it_is),
        cmocka_unit_test(each_file_is_told_once),
        cmocka_unit_test(a_file_that_was_passed_over_is_told),
        cmocka_unit_test(a_file_that_the_asked_one_needs_is_told),
        cmocka_unit_test(only_files_of_cuda_and_frameworks_count),
        cmocka_unit_test(a_part_that_is_bad_is_not_missing),
        cmocka_unit_test(words_alone_are_enough),
        cmocka_unit_test(what_to_do_follows_from_what_it_is),
        cmocka_unit_test(a_path_that_nobody_would_type_gets_no_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
