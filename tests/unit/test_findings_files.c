/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are not what their name says, or not of the release that is wanted: bad-file,
 * wrong-name, symbol-version-not-found, and missing-symbols where the loader's words emit it.
 */
#include "support_stack.h"

static const char a_library[] = "libcudnn.so.9";

/* A request that failed, and what was seen of the file behind it. */
static void fail_for(struct scene *s, int64_t by, const char *name, const char *words,
                     struct looked_at l) {
    add_looked_at(s, &l);
    add_failure(s, by, NULL, name, words ? print(s, "%s: %s", l.path, words) : not_found(s, name));
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
    assert_advised(s, r, "set-variable", "remove /x/lib from LD_LIBRARY_PATH");
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
    assert_true(has_fact(&s->found.p[0], "mind", "without a message"));
    assert_advised(s, &s->found.p[0], "install", "the file with its build for");
    /* Of one for 32 bits it says so at the end of a search. */
    s = new_scene();
    l.fault = WC_file_fault_OTHER_CLASS;
    fail_for(s, add_host(s, "/opt/app/libhost.so"), a_library, NULL, l);
    assert_finds(s, "bad-file");
    assert_false(has_fact(&s->found.p[0], "mind", ""));
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
    assert_advised(s, &s->found.p[0], "reinstall", "git-LFS");
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
        const char *installation, *action, *text;
    } rows[] = {
        {WC_file_fault_POINTER, 0, NULL, "reinstall", "git-LFS"},
        {WC_file_fault_CUT, WC_installation_kind_WHEEL, "nvidia-cudnn-cu12", "reinstall",
         "what the file belongs to, nvidia-cudnn-cu12 9.1.0.70"},
        {WC_file_fault_CUT, 0, NULL, "reinstall", "copy /x/libcudnn.so.9 again"},
        {WC_file_fault_DANGLING, 0, NULL, "remove", "the link /x/libcudnn.so.9"},
        {WC_file_fault_DIRECTORY, 0, NULL, "remove", "the directory /x/libcudnn.so.9"},
        {WC_file_fault_OTHER_CLASS, 0, NULL, "install", "the file with its build"},
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
        assert_advised(s, &s->found.p[0], rows[i].action, rows[i].text);
    }
}

static void a_cuda_dependency_is_brought_back_by_its_own_package(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at l = {.path = "/v/nvidia/cublas/lib/libcublas.so.12",
                          .fault = WC_file_fault_EMPTY,
                          .what = "empty",
                          .kind = WC_installation_kind_WHEEL,
                          .installation = "nvidia-cublas-cu12",
                          .installation_version = "12.4.5.8"};
    fail_for(s, add_host(s, "/opt/app/libhost.so"), l.path, "file too short", l);
    assert_finds(s, "bad-file");
    assert_advised(s, &s->found.p[0], "reinstall", "nvidia-cublas-cu12 12.4.5.8");
}

/* ---- refused-by-system ---- */

/* Each in its own words, with what helps against it; a new copy would not. */
static void what_the_system_refuses_is_no_fault_of_the_file(void **state) {
    (void)state;
    static const struct {
        const char *words;
        enum wc_file_fault fault;
        const char *reason, *action, *text;
    } rows[] = {
        {"cannot allocate memory in static TLS block", WC_file_fault_UNKNOWN, "static TLS",
         "set-variable", "load /x/libcudnn.so.9 at the start"},
        {"cannot enable executable stack as shared object requires: Invalid argument",
         WC_file_fault_UNKNOWN, "executable stack", "allow", "flag of /x/libcudnn.so.9 (patchelf"},
        {"failed to map segment from shared object", WC_file_fault_NO_ROOM, "address space",
         "allow", "limit of address space"},
        {"failed to map segment from shared object: Operation not permitted",
         WC_file_fault_NO_EXECUTION, "noexec", "allow", "without noexec"},
        {"failed to map segment from shared object", WC_file_fault_UNKNOWN, "does not map", "check",
         "SELinux"},
        {"cannot map zero-fill pages", WC_file_fault_NO_ROOM, "address space", "allow",
         "limit of address space"},
        {"cannot open shared object file: Permission denied", WC_file_fault_UNREADABLE,
         "may not read", "allow", "let all users read /x/libcudnn.so.9"},
        {"cannot open shared object file: Too many open files", WC_file_fault_UNKNOWN,
         "too many files", "allow", "limit of open files"},
        {"cannot open shared object file: Stale file handle", WC_file_fault_UNKNOWN, "the disk",
         "check", "the kernel log"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct looked_at l = {
            .path = "/x/libcudnn.so.9", .fault = rows[i].fault, .what = "a library"};
        fail_for(s, host, a_library, rows[i].words, l);
        assert_finds(s, "refused-by-system");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_non_null(strstr(r->title, rows[i].reason));
        assert_advised(s, r, rows[i].action, rows[i].text);
        add_facade(s, "/y", draw_release(9), host);
        assert_finds(s, "");
    }
}

/* In a search the loader passes over what it may not read, and says that there is none. */
static void what_may_not_be_read_is_passed_over_without_a_word(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at l = {.path = "/x/libcudnn.so.9",
                          .fault = WC_file_fault_UNREADABLE,
                          .what = "a file that this process may not read"};
    fail_for(s, add_host(s, "/opt/app/libhost.so"), a_library, NULL, l);
    assert_finds(s, "refused-by-system");
    assert_advised(s, &s->found.p[0], "allow", "let all users read /x/libcudnn.so.9");
}

/* Whether it is there nobody can see: of a facade that is the reason; what somebody tries in case
 * it is there is missed only where the process ended over it. One directory is told once. */
static void what_may_be_behind_a_closed_directory(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct looked_at l = {.path = "/x/libcudnn.so.9",
                          .fault = WC_file_fault_CLOSED,
                          .what = "behind /x, which this process may not enter"};
    fail_for(s, host, a_library, NULL, l);
    assert_finds(s, "refused-by-system");
    assert_non_null(strstr(s->found.p[0].title, "may be in a directory"));
    assert_advised(s, &s->found.p[0], "allow", "enter the directories above it");
    l.path = "/x/libcudart.so.12";
    fail_for(s, host, "libcudart.so.12", NULL, l);
    assert_finds(s, "refused-by-system");
    s = new_scene();
    fail_for(s, add_host(s, "/opt/app/libhost.so"), "libcudart.so.12", NULL, l);
    assert_finds(s, "");
}

/* ---- replaced-on-disk ---- */

static void another_file_in_the_place_of_a_mapped_one(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), w = other_minor(v, 1);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    struct looked_at l = {.path = "/opt/cudnn/libcudnn.so.9",
                          .fault = WC_file_fault_REPLACED,
                          .what = "another file",
                          .version = text_of(s, w)};
    add_looked_at(s, &l);
    assert_finds(s, "replaced-on-disk");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    assert_int_equal(s->found.p[0].object, facade);
    assert_true(has_fact(&s->found.p[0], "there is now", l.version));
    assert_advised(s, &s->found.p[0], "restart", "restart the process");
    add_part(s, "/opt/cudnn", "graph", w, facade);
    assert_finds(s, "replaced-on-disk facade-and-parts-differ");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_string_equal(s->found.p[1].explained_by, "replaced-on-disk");
}

static void a_name_that_the_kernel_gives_what_is_gone(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_failure(s, host, NULL, "/v/libm.so.6 (deleted)", NULL);
    assert_finds(s, "");
    add_failure(s, host, NULL, "/v/torchvision.libs/libcudart.41118559.so.12 (deleted)", NULL);
    assert_finds(s, "replaced-on-disk");
    assert_int_equal(s->found.p[0].host, host);
}

/* ---- wrong-name ---- */

/* soname: what the file really is; "": a file without one. */
static int64_t add_named(struct scene *s, enum wc_role role, const char *asked, const char *path,
                         const char *real_path, const char *soname, int64_t by) {
    struct wc_record r = begin(WC_KIND_object);
    struct wc_object_record *o = &r.u.object;
    o->object = ++s->objects;
    o->role = role;
    o->mapped = true;
    o->path = path;
    o->real_path = real_path;
    o->asked_name = asked;
    o->soname = *soname ? soname : NULL;
    o->asked_by_object = by;
    o->asked_by = "/opt/app/libhost.so";
    o->asked_how = WC_operation_NEEDED;
    apply(s, &r);
    return o->object;
}

static void a_file_is_known_by_its_soname(void **state) {
    (void)state;
    static const struct {
        enum wc_role role;
        const char *asked, *path, *soname, *found;
    } rows[] = {
        {WC_role_FACADE, "libcudnn.so.8", "/x/libcudnn.so.8", "libcudnn.so.9", "wrong-name"},
        {WC_role_FACADE, "libcudnn.so.8", "/x/libcudnn.so.8", "libcuda.so.1", "wrong-name"},
        {WC_role_FACADE, "libcudnn.so.8", "/x/libcudnn.so.8", "libother.so", "wrong-name"},
        {WC_role_PART, "libcudnn_ops.so.9", "/x/libcudnn_ops.so.9", "libcudnn_cnn.so.9",
         "wrong-name"},
        {WC_role_CUDA_DEPENDENCY, "libcublas.so.11", "/x/libcublas.so.11", "libcublas.so.12",
         "wrong-name"},
        /* Right ones. */
        {WC_role_FACADE, "libcudnn.so", "/x/libcudnn.so", "libcudnn.so.9", ""},
        {WC_role_FACADE, "libcudnn.so.9", "/x/libcudnn.so.9.1.0", "libcudnn.so.9", ""},
        {WC_role_FACADE, "/x/renamed.so", "/x/renamed.so", "libcudnn.so.9", ""},
        {WC_role_FACADE, "libcudnn.so.8", "/x/libcudnn.so.8", "", ""},
        {WC_role_FACADE, "libcudnn-1a2b3c4d.so.8.9.2", "/x/libcudnn-1a2b3c4d.so.8.9.2",
         "libcudnn-1a2b3c4d.so.8.9.2", ""},
        {WC_role_CUDA_DEPENDENCY, "libnvrtc.so.11.8.89", "/x/libnvrtc.so.11.8.89",
         "libnvrtc.so.11.2", ""},
        {WC_role_HOST, "libcuda.so.535.104.05", "/x/libcuda.so.535.104.05", "libcuda.so.1", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        add_named(s, rows[i].role, rows[i].asked, rows[i].path, rows[i].path, rows[i].soname,
                  NOBODY);
        assert_finds(s, rows[i].found);
    }
}

static void a_false_link_is_to_be_removed(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_variable(s, "LD_LIBRARY_PATH=x");
    add_named(s, WC_role_FACADE, "libcudnn.so.8", "x/libcudnn.so.8", "/usr/lib/libcuda.so.515",
              "libcuda.so.1", host);
    assert_finds(s, "wrong-name search-path-suspect");
    assert_advised(s, &s->found.p[0], "check", "whichcudnn explain"); /* x may be anywhere */
    s = new_scene();
    host = add_host(s, "/opt/app/libhost.so");
    add_variable(s, "LD_LIBRARY_PATH=/x");
    add_named(s, WC_role_FACADE, "libcudnn.so.8", "/x/libcudnn.so.8", "/usr/lib/libcuda.so.515",
              "libcuda.so.1", host);
    assert_finds(s, "wrong-name");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_string_equal(r->title, "libhost.so needs libcudnn.so.8 and got libcuda.so.1 under that "
                                  "name");
    assert_int_equal(r->host, host);
    assert_advised(s, r, "remove", "remove /x/libcudnn.so.8");
    assert_true(has_fact(r, "functions of cuDNN", "none"));
}

/* What has cuDNN's functions may be called as it likes. */
static void a_stand_in_of_another_maker_is_none(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct file f = {.role = WC_role_FACADE,
                     .path = "/x/libcudnn.so.8",
                     .soname = "libzluda_dnn.so",
                     .floor = "8.0.0",
                     .asked_by = NOBODY};
    add_file(s, &f);
    assert_finds(s, "");
}

static void another_major_under_a_false_name_explains_the_host(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct want w = {host, WC_demand_kind_SYMBOL_VERSION, .spec = "==8.*",
                     .source = "symbol version of its imports"};
    add_demand(s, &w);
    struct file f = {.role = WC_role_FACADE,
                     .path = "/x/libcudnn.so.8",
                     .soname = "libcudnn.so.9",
                     .version = draw_release(9),
                     .source = WC_version_source_ASKED_NAMES,
                     .asked_by = host};
    add_file(s, &f);
    assert_finds(s, "wrong-name major-differs");
    assert_string_equal(s->found.p[1].explained_by, "wrong-name");
}

static void the_right_file_has_another_name(void **state) {
    (void)state;
    static const struct {
        const char *asked, *there, *soname, *found;
    } rows[] = {
        {"libcudnn.so", "/x/libcudnn.so.9", "libcudnn.so.9", "wrong-name"},
        {"libcudnn.so.9", "/x/libcudnn.so", "libcudnn.so.9", "wrong-name"},
        {"libcudnn.so.9", "/x/libcudnn.so.9.1.0", "libcudnn.so.9", "wrong-name"},
        {"libcudnn.so.9", "/x/libcudnn.so.8", "libcudnn.so.8", "library-not-found"},
        {"libcudnn.so.9", "/x/libcudnn.so.8", "libcudnn.so.9", "wrong-name"},
        {"libcudnn.so.9", "/x/libcudnn.so.9.1", "libother.so", "library-not-found"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct looked_at l = {.path = rows[i].there, .soname = rows[i].soname};
        fail_for(s, host, rows[i].asked, NULL, l);
        assert_finds(s, rows[i].found);
        if (strcmp(rows[i].found, "wrong-name") != 0)
            continue;
        assert_advised(s, &s->found.p[0], "reinstall", print(s, "points to %s", rows[i].there));
        add_facade(s, "/y", draw_release(9), host);
        assert_finds(s, "");
    }
}

/* Of several places that are tried it is the last one that counts. */
static void a_name_is_not_why_the_copy_found_next_failed(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    const char *part = "/venv/nvidia/cudnn/lib/libcudnn_heuristic.so.9";
    fail_for(s, host, "libcudnn.so", NULL,
             (struct looked_at){.path = "/x/libcudnn.so.9", .soname = "libcudnn.so.9"});
    assert_finds(s, "wrong-name");
    add_failure(s, host, NULL, part,
                print(s, "%s: undefined symbol: _ZTV, version libcudnn_graph.so.9", part));
    diagnose(s);
    assert_null(finding(s, "wrong-name"));
    assert_null(finding(s, "library-not-found"));
}

/* The linker had recorded the SONAME, and the file is called otherwise. */
static void what_a_library_needs_has_another_name(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at l = {.path = "/x/libcudnn.so", .soname = "libcudnn.so.5", .version = "5.1.10"};
    add_looked_at(s, &l);
    add_failure(s, add_host(s, "/opt/app/python"), NULL, "/v/libengine.so",
                not_found(s, "libcudnn.so.5"));
    assert_finds(s, "wrong-name");
    assert_string_equal(s->found.p[0].title, "libengine.so needs libcudnn.so.5, which is there "
                                             "under the name libcudnn.so");
    assert_true(has_fact(&s->found.p[0], "version", "5.1.10"));
    assert_advised(s, &s->found.p[0], "reinstall", "points to /x/libcudnn.so");
    add_host(s, "/v/libengine.so");
    assert_finds(s, "");
}

/* The cache knows a file by its name. */
static void a_link_that_the_cache_must_know_of(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_record r = begin(WC_KIND_file);
    r.u.file.request = 1;
    r.u.file.path = "/usr/lib/libcudnn.so.5";
    r.u.file.soname = "libcudnn.so.5";
    r.u.file.rule = WC_search_rule_CACHE;
    apply(s, &r);
    add_failure(s, add_host(s, "/opt/app/host"), NULL, "libcudnn.so", not_found(s, "libcudnn.so"));
    assert_finds(s, "wrong-name");
    assert_true(has_fact(&s->found.p[0], "file", "/usr/lib/libcudnn.so.5"));
    assert_advised(s, &s->found.p[0], "reinstall", "points to /usr/lib/libcudnn.so.5");
}

/* The driver's library counts, too; but a toolkit's, which is for the linker, is none. */
static void the_driver_has_another_name(void **state) {
    (void)state;
    static const struct {
        const char *asked, *there, *found;
    } rows[] = {
        {"libcuda.so", "/wsl/libcuda.so.1", "wrong-name"},
        {"libcuda.so.1", "/wsl/libcuda.so", "wrong-name"},
        {"libcuda.so.1", "/wsl/libcuda.so.550.54", "wrong-name"},
        {"libcuda.so.1", "/toolkit/stubs/libcuda.so", "driver-missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct looked_at l = {.path = rows[i].there, .soname = "libcuda.so.1"};
        fail_for(s, host, rows[i].asked, NULL, l);
        assert_finds(s, rows[i].found);
        if (strcmp(rows[i].found, "wrong-name") != 0)
            continue;
        assert_advised(s, &s->found.p[0], "reinstall", print(s, "points to %s", rows[i].there));
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
        assert_int_equal(s->found.p[0].host, host);
        struct file f = {.role = WC_role_CUDA_DEPENDENCY, .path = rows[i].there, .asked_by = host};
        add_file(s, &f);
        assert_finds(s, "");
    }
}

/* cuDNN 8 took the loader's words on the first name that a part asks for as its own failure. */
static void a_name_of_the_driver_that_cudnn_died_for(void **state) {
    (void)state;
    static const struct {
        const char *signal, *found;
    } rows[] = {{NULL, ""}, {"SIGINT", ""}, {"SIGABRT", "wrong-name"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        int64_t facade = add_facade(s, "/opt/cudnn", draw_release(8), host);
        struct looked_at l = {.path = "/wsl/libcuda.so.1", .soname = "libcuda.so.1"};
        struct file f = {.role = WC_role_CUDA_DEPENDENCY, .path = l.path, .asked_by = facade};
        add_file(s, &f);
        fail_for(s, facade, "libcuda.so", NULL, l);
        add_outcome(s, 0, rows[i].signal);
        assert_finds(s, rows[i].found);
    }
}

/* Who is no host may go on without a GPU; what needs the library cannot. What a part asks for is
 * told once it has tried all names. */
static void who_misses_the_driver_for_its_name(void **state) {
    (void)state;
    struct looked_at l = {.path = "/wsl/libcuda.so.1", .soname = "libcuda.so.1"};
    struct scene *s = new_scene();
    fail_for(s, NOBODY, "libcuda.so", NULL, l);
    assert_finds(s, "wrong-name");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    s = new_scene();
    add_looked_at(s, &l);
    add_failure(s, NOBODY, "/usr/bin/python3", "/v/libengine.so", not_found(s, "libcuda.so"));
    assert_finds(s, "wrong-name");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    s = new_scene();
    int64_t facade = add_facade(s, "/opt/cudnn", draw_release(8), add_host(s, "/opt/app/host"));
    fail_for(s, facade, "libcuda.so", NULL, l);
    assert_finds(s, "wrong-name");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_int_equal(s->found.p[0].object, WC_NULL);
}

/* Others go on without a CUDA library as long as nobody asks why there is none: cuDNN 8 takes these
 * words for its own part's. */
static void who_misses_a_cuda_library_for_its_name(void **state) {
    (void)state;
    static const struct {
        bool host, asked_why;
        enum wc_severity severity;
    } rows[] = {{false, false, WC_severity_NOTE},
                {false, true, WC_severity_ERROR},
                {true, false, WC_severity_ERROR}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        struct looked_at l = {.path = "/x/libnvrtc.so.12", .soname = "libnvrtc.so.12"};
        add_looked_at(s, &l);
        add_failure(s, rows[i].host ? add_host(s, "/opt/app/libhost.so") : NOBODY,
                    rows[i].host ? NULL : "/v/libcusparseLt.so.0", "libnvrtc.so",
                    rows[i].asked_why ? not_found(s, "libnvrtc.so") : NULL);
        assert_finds(s, "wrong-name");
        assert_int_equal(s->found.p[0].severity, rows[i].severity);
    }
}

/* WSL: copies in place of links, of which the cache has one name. */
static void a_copy_that_the_cache_does_not_know(void **state) {
    (void)state;
    for (int copies = 1; copies <= 2; copies++) {
        struct scene *s = new_scene();
        for (int i = 0; i < copies; i++) {
            struct wc_record r = begin(WC_KIND_file);
            r.u.file.request = 1;
            r.u.file.path = i ? "/wsl/lib/libcuda.so" : "/wsl/lib/libcuda.so.1";
            r.u.file.soname = "libcuda.so.1";
            r.u.file.rule = WC_search_rule_CACHE;
            apply(s, &r);
        }
        add_failure(s, add_host(s, "/opt/app/host"), NULL, "libcuda.so", NULL);
        assert_finds(s, "wrong-name");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_int_equal(has_fact(r, "mind", "/wsl/lib/libcuda.so exists"), copies == 2);
    }
}

/* The second time the same is asked, nothing is looked at anew. */
static void the_same_question_again_has_the_same_answer(void **state) {
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct looked_at l = {.path = "/x/libcudnn.so.9",
                              .fault = WC_file_fault_OTHER_MACHINE,
                              .what = "a library for another machine"};
        struct wc_record r = begin(WC_KIND_search);
        fail_for(s, host, a_library, NULL, l);
        r.u.search.search = 1;
        r.u.search.request = s->requests;
        r.u.search.name = a_library;
        r.u.search.caller_object = host;
        r.u.search.caller = "/opt/app/libhost.so";
        apply(s, &r);
        add_failure(s, other ? add_host(s, "/opt/app/libother.so") : host, NULL, a_library,
                    not_found(s, a_library));
        assert_finds(s, other ? "bad-file library-not-found" : "bad-file");
    }
}

static void another_major_that_is_there_is_no_wrong_name(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at l = {.path = "/x/libcudnn.so.6", .soname = "libcudnn.so.6"};
    fail_for(s, add_host(s, "/opt/app/libhost.so"), "libcudnn.so.5", NULL, l);
    assert_finds(s, "library-not-found");
    assert_true(has_fact(&s->found.p[0], "another major is there", "/x/libcudnn.so.6"));
}

/* The loader names a function alone; what it found by the name says why that is not there. */
static void a_library_that_is_none_of_cudnn_lacks_its_functions(void **state) {
    const char *const words[] = {"undefined symbol: cudnnCreate, version libcudnn.so.9",
                                 "undefined symbol: cudnnCreate"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct scene *s = new_scene();
        struct looked_at l = {.path = "/x/libcudnn.so.9",
                              .soname = i < 2 ? "libcuda.so.1" : "libcudnn.so.9"};
        fail_for(s, add_host(s, "/opt/app/host"), "/v/_C.so",
                 print(s, "/v/_C.so: %s", words[i % 2]), l);
        assert_finds(s, i < 2    ? "wrong-name"
                        : i == 2 ? "symbol-version-not-found"
                                 : "missing-symbols");
        if (i < 2)
            assert_string_equal(s->found.p[0].title,
                                "_C.so needs libcudnn.so.9 and found libcuda.so.1 under that name");
    }
}

/* Another file that was looked at for the same request is none of the loader's words. */
static void the_file_that_the_loader_names_is_the_false_one(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at other = {.path = "/y/libcudnn.so.9", .soname = "libcudnn.so.9"};
    struct looked_at named = {.path = "/x/libcudnn.so.9", .soname = "libcuda.so.1"};
    add_looked_at(s, &other);
    add_looked_at(s, &named);
    add_failure(s, add_host(s, "/opt/app/host"), NULL, "/v/_C.so",
                "/x/libcudnn.so.9: version `libcudnn.so.9' not found (required by /v/_C.so)");
    assert_finds(s, "wrong-name");
    assert_string_equal(s->found.p[0].title,
                        "_C.so needs libcudnn.so.9 and found libcuda.so.1 under that name");
}

/* A record may name its caller by the path alone. */
static void a_caller_is_found_by_its_path(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_failure(s, NOBODY, "/opt/app/libhost.so", "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    assert_finds(s, "library-not-found");
    assert_int_equal(s->found.p[0].host, host);
}

static void a_part_of_another_name_is_not_missing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    struct looked_at l = {.path = print(s, "/opt/cudnn/libcudnn_ops.so.%s", text_of(s, v)),
                          .soname = "libcudnn_ops.so.9"};
    add_failed_part(s, facade, "ops", other_minor(v, 1), 2);
    fail_for(s, facade, "libcudnn_ops.so.9", NULL, l);
    add_failure(s, facade, NULL, "libcudnn_ops.so", not_found(s, "libcudnn_ops.so"));
    assert_finds(s, "wrong-name");
    assert_int_equal(s->found.p[0].object, facade);
}

/* ---- symbol-version-not-found ---- */

static const char python[] = "/usr/lib/python3.11/lib-dynload/_ctypes.so";

static void a_symbol_version_that_is_not_there_is_told_with_the_file(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at l = {
        .path = "/x/libcudnn.so.7", .soname = "libcudnn.so.7", .version = "7.6.5"};
    add_looked_at(s, &l);
    add_failure(
        s, NOBODY, python, "/opt/libhost.so",
        "/x/libcudnn.so.7: version `libcudnn.so.8' not found (required by /opt/libhost.so)");
    assert_finds(s, "symbol-version-not-found");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_string_equal(r->title, "libhost.so was linked with another libcudnn.so.7 than it found: "
                                  "symbol version libcudnn.so.8 is not in 7.6.5");
    assert_true(has_fact(r, "library", "/x/libcudnn.so.7"));
    assert_advised(s, r, "install",
                   "libcudnn.so.8: what was found under that name is /x/libcudnn.so.7");
    /* Behind a false name that is the cause. */
    s = new_scene();
    l.soname = "libcudnn.so.9";
    l.link = "libcudnn.so.9";
    add_looked_at(s, &l);
    add_failure(
        s, NOBODY, python, "/opt/libhost.so",
        "/x/libcudnn.so.7: version `libcudnn.so.7' not found (required by /opt/libhost.so)");
    assert_finds(s, "wrong-name");
    assert_true(has_fact(&s->found.p[0], "leads to", "libcudnn.so.9"));
    /* It came in after all. */
    add_host(s, "/opt/libhost.so");
    assert_finds(s, "");
}

static void a_function_of_a_node_is_told_with_its_release(void **state) {
    (void)state;
    static const char *const words[] = {
        "/opt/libhost.so: undefined symbol: %s, version libcudnn.so.%d",
        "/opt/libhost.so: symbol %s, version libcudnn.so.%d not defined in file libcudnn.so.%d "
        "with link time reference"};
    int f = wc_function_find("cudnnGetMaxDeviceVersion");
    char first[WC_VERSION_TEXT];
    int major = wc_function_first(f).major;
    wc_version_format(wc_function_first(f), first);
    for (size_t i = 0; i < 2; i++) {
        struct scene *s = new_scene();
        add_facade(s, "/opt/cudnn", version_of(major, 0, 1), add_host(s, "/opt/app/other"));
        add_failure(s, NOBODY, python, "/opt/libhost.so",
                    print(s, words[i], wc_function_name(f), major, major));
        assert_finds(s, "symbol-version-not-found");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_true(has_fact(r, "came with", first));
        assert_true(has_fact(r, "library", "/opt/cudnn/libcudnn.so.8"));
        assert_advised(s, r, "install", wc_function_name(f));
    }
}

/* libstdc++ and the like count where cuDNN or a framework needs them, or nothing came behind. */
static void nodes_of_other_libraries_count_for_cudnn_and_frameworks(void **state) {
    (void)state;
    static const struct {
        const char *file, *found;
    } rows[] = {{"/x/libcudnn_graph.so.9", "symbol-version-not-found"},
                {"/v/torch/lib/libtorch_cuda.so", "symbol-version-not-found"},
                {"/usr/lib/libQt5Core.so.5", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        add_host(s, "/opt/app/host");
        add_failure(s, NOBODY, python, rows[i].file,
                    print(s,
                          "/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by "
                          "%s)",
                          rows[i].file));
        assert_finds(s, rows[i].found);
        if (*rows[i].found)
            assert_advised(s, &s->found.p[0], "install", "has GLIBCXX_3.4.30");
        /* Whatever it was, with it the program ended. */
        add_outcome(s, 1, NULL);
        assert_finds(s, "symbol-version-not-found");
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
        add_failure(s, NOBODY, python, "libfoo.so", "libfoo.so: cannot open shared object file");
        assert_finds(s, *rows[i].found ? "symbol-version-not-found dependency-missing"
                                       : "dependency-missing");
    }
}

/* No library repairs a libc. */
static void a_host_for_a_newer_libc_wants_another_build(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_host(s, "/opt/app/host");
    add_failure(s, NOBODY, python, "/v/torch/lib/libtorch_cuda.so",
                "/lib/libc.so.6: version `GLIBC_2.34' not found (required by "
                "/v/torch/lib/libtorch_cuda.so)");
    assert_finds(s, "symbol-version-not-found");
    assert_advised(s, &s->found.p[0], "install", "has no GLIBC_2.34");
}

/* A function that no library is named for: it is told of what a process ended with, alone. */
static void a_function_of_nobody(void **state) {
    (void)state;
    static const char text[] =
        "/v/flash_attn/flash_attn_2_cuda.so: undefined symbol: _ZN3c106check";
    for (int status = 0; status < 2; status++) {
        struct scene *s = new_scene();
        struct looked_at sound = {.path = "/v/flash_attn/flash_attn_2_cuda.so"};
        add_facade(s, "/opt/cudnn", version_of(9, 1, 0), add_host(s, "/opt/app/host"));
        add_looked_at(s, &sound);
        add_failure(s, NOBODY, python, "/v/flash_attn/flash_attn_2_cuda.so", text);
        assert_finds(s, "");
        add_outcome(s, status, NULL);
        assert_finds(s, status ? "symbol-version-not-found" : "");
        if (!status)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
        assert_non_null(strstr(s->found.p[0].title, "_ZN3c106check is in none"));
        assert_advised(s, &s->found.p[0], "upgrade-host", "install a build of /v/flash_attn");
        add_failure(s, NOBODY, python, "libfoo.so", "libfoo.so: cannot open shared object file");
        assert_finds(s, "dependency-missing");
    }
}

/* A facade asks for its part by several names: one file, one finding, and the part is not missing.
 */
static void a_part_for_a_newer_libc_is_told_once(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t facade = add_facade(s, "/opt/cudnn", version_of(9, 1, 0), add_host(s, "/opt/app/host"));
    static const char *const names[] = {"libcudnn_graph.so.9.1.0", "libcudnn_graph.so.9",
                                        "libcudnn_graph.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_failure(
            s, facade, NULL, names[i],
            print(s, "/lib/libc.so.6: version `GLIBC_2.99' not found (required by /opt/cudnn/%s)",
                  names[i]));
    assert_finds(s, "symbol-version-not-found");
    assert_int_equal(s->found.n, 1);
}

/* cuDNN before 7 has no nodes. */
static void a_function_without_a_node_is_a_missing_symbol(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int f = wc_function_find("cudnnSetConvolutionGroupCount");
    char first[WC_VERSION_TEXT];
    wc_version_format(wc_function_first(f), first);
    add_failure(s, NOBODY, python, "/v/torch/_C.so",
                "/v/torch/_C.so: undefined symbol: cudnnSetConvolutionGroupCount");
    assert_finds(s, "missing-symbols");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_true(has_fact(r, "cudnnSetConvolutionGroupCount", first));
    assert_advised(s, r, "install", "install cuDNN 7.0.1 or newer, where the host looks for it");
    assert_false(r->predicted);
    /* With the file that its search leads to. */
    struct looked_at l = {
        .path = "/x/libcudnn.so.6", .soname = "libcudnn.so.6", .version = "6.0.21"};
    add_variable(s, "LD_LIBRARY_PATH=/x");
    fail_for(s, NOBODY, "/v/torch/_D.so", NULL, l);
    s->stack.failures.p[1].said = (struct wc_said){
        .what = WC_SAID_UNMET, .file = "/v/torch/_D.so", .symbol = "cudnnSetConvolutionGroupCount"};
    assert_finds(s, "missing-symbols missing-symbols");
    assert_true(has_fact(&s->found.p[1], "library", "/x/libcudnn.so.6"));
    assert_true(has_fact(&s->found.p[1], "version", "6.0.21"));
    add_host(s, "/v/torch/_D.so");
    /* It came in after all; and another function is nobody's business. */
    add_host(s, "/v/torch/_C.so");
    assert_finds(s, "");
    s = new_scene();
    add_failure(s, NOBODY, python, "/v/torch/_C.so", "/v/torch/_C.so: undefined symbol: cublasFoo");
    assert_finds(s, "");
}

/* Linked with 6 and compiled with the header of 7: it asks for 6, and no 6 has the function. */
static void a_host_of_two_majors_must_be_built_again(void **state) {
    (void)state;
    static const struct {
        const char *linked_with;
        bool torn;
    } rows[] = {{"==6.*", true}, {"==7.*", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        struct want w = {NOBODY, WC_demand_kind_NEEDED, .spec = rows[i].linked_with,
                         .source = "DT_NEEDED", .host_path = "/v/torch/_C.so"};
        add_variable(s, "LD_LIBRARY_PATH=/x");
        add_demand(s, &w);
        struct looked_at l = {.path = "/x/libcudnn.so.6", .soname = "libcudnn.so.6"};
        fail_for(s, NOBODY, w.host_path, NULL, l);
        s->stack.failures.p[0].said = (struct wc_said){.what = WC_SAID_UNMET,
                                                       .file = "/v/torch/_C.so",
                                                       .symbol = "cudnnSetConvolutionGroupCount"};
        assert_finds(s, "missing-symbols");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_advised(s, r, rows[i].torn ? "upgrade-host" : "install", "host");
        assert_int_equal(has_fact(r, "linked with", "cuDNN 6"), rows[i].torn);
    }
}

/* A front that sends calls elsewhere has cuDNN's name and number, and not each of its functions. */
static void a_function_that_its_release_has_may_not_be_in_the_file(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_record r = begin(WC_KIND_failure);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/front", version_of(9, draw(1, 9), draw(0, 9)), host);
    r.u.failure.request = 77;
    r.u.failure.operation = WC_operation_DLSYM;
    r.u.failure.function = "cudnnConvolutionForward";
    r.u.failure.caller_object = host;
    r.u.failure.text = "/opt/front/libcudnn.so.9: undefined symbol: cudnnConvolutionForward";
    apply(s, &r);
    add_outcome(s, 0, NULL);
    assert_finds(s, "");
    add_outcome(s, 0, "SIGABRT");
    assert_finds(s, "missing-symbols");
    assert_true(has_fact(&s->found.p[0], "cudnnConvolutionForward", "not in this file"));
}

/* What a host looks up may be there or not; the last one before a bad end was a need. */
static void the_last_lookup_in_vain_before_a_bad_end_is_told(void **state) {
    (void)state;
    for (int went_on = 0; went_on < 2; went_on++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_failure);
        int64_t host = add_host(s, "/opt/app/libhost.so");
        int64_t facade = add_facade(s, "/opt/cudnn", version_of(9, 1, draw(0, 9)), host);
        r.u.failure.request = 77;
        r.u.failure.operation = WC_operation_DLSYM;
        r.u.failure.function = "cudnnBackendUpdateCudaGraph";
        r.u.failure.caller_object = host;
        r.u.failure.inferred = true;
        apply(s, &r);
        /* The same in the loader's words is the same. */
        r.u.failure.text =
            "/opt/cudnn/libcudnn.so.9: undefined symbol: cudnnBackendUpdateCudaGraph";
        r.u.failure.inferred = false;
        apply(s, &r);
        assert_int_equal(s->stack.failures.n, 1);
        if (went_on)
            add_call(s, "cudnnCreate", host, facade, 0, WC_NULL);
        assert_finds(s, "");
        add_outcome(s, 0, NULL); /* it may do without */
        assert_finds(s, went_on ? "" : "missing-symbols");
        assert_true(went_on || s->found.p[0].severity == WC_severity_WARNING);
        add_outcome(s, 0, "SIGABRT");
        assert_finds(s, went_on ? "" : "missing-symbols");
        if (went_on)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
        assert_int_equal(s->found.p[0].object, facade);
        assert_true(has_fact(&s->found.p[0], "cudnnBackendUpdateCudaGraph", "came with 9.5.0"));
    }
}

int main(void) {
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_that_its_release_has_may_not_be_in_the_file),
        cmocka_unit_test(the_last_lookup_in_vain_before_a_bad_end_is_told),
        cmocka_unit_test(a_refused_file_is_told_alone_with_what_it_is),
        cmocka_unit_test(each_file_is_told_once),
        cmocka_unit_test(a_file_that_was_passed_over_is_told),
        cmocka_unit_test(a_file_that_the_asked_one_needs_is_told),
        cmocka_unit_test(only_files_of_cuda_and_frameworks_count),
        cmocka_unit_test(a_part_that_is_bad_is_not_missing),
        cmocka_unit_test(words_alone_are_enough),
        cmocka_unit_test(what_to_do_follows_from_what_it_is),
        cmocka_unit_test(what_the_system_refuses_is_no_fault_of_the_file),
        cmocka_unit_test(what_may_not_be_read_is_passed_over_without_a_word),
        cmocka_unit_test(what_may_be_behind_a_closed_directory),
        cmocka_unit_test(another_file_in_the_place_of_a_mapped_one),
        cmocka_unit_test(a_name_that_the_kernel_gives_what_is_gone),
        cmocka_unit_test(a_cuda_dependency_is_brought_back_by_its_own_package),
        cmocka_unit_test(a_file_is_known_by_its_soname),
        cmocka_unit_test(a_false_link_is_to_be_removed),
        cmocka_unit_test(a_stand_in_of_another_maker_is_none),
        cmocka_unit_test(another_major_under_a_false_name_explains_the_host),
        cmocka_unit_test(the_right_file_has_another_name),
        cmocka_unit_test(a_name_is_not_why_the_copy_found_next_failed),
        cmocka_unit_test(what_a_library_needs_has_another_name),
        cmocka_unit_test(a_link_that_the_cache_must_know_of),
        cmocka_unit_test(the_driver_has_another_name),
        cmocka_unit_test(a_name_of_the_driver_that_cudnn_died_for),
        cmocka_unit_test(who_misses_the_driver_for_its_name),
        cmocka_unit_test(who_misses_a_cuda_library_for_its_name),
        cmocka_unit_test(a_copy_that_the_cache_does_not_know),
        cmocka_unit_test(the_same_question_again_has_the_same_answer),
        cmocka_unit_test(another_major_that_is_there_is_no_wrong_name),
        cmocka_unit_test(a_library_that_is_none_of_cudnn_lacks_its_functions),
        cmocka_unit_test(the_file_that_the_loader_names_is_the_false_one),
        cmocka_unit_test(a_caller_is_found_by_its_path),
        cmocka_unit_test(a_part_of_another_name_is_not_missing),
        cmocka_unit_test(a_symbol_version_that_is_not_there_is_told_with_the_file),
        cmocka_unit_test(a_function_of_a_node_is_told_with_its_release),
        cmocka_unit_test(a_part_for_a_newer_libc_is_told_once),
        cmocka_unit_test(nodes_of_other_libraries_count_for_cudnn_and_frameworks),
        cmocka_unit_test(a_host_for_a_newer_libc_wants_another_build),
        cmocka_unit_test(a_function_of_nobody),
        cmocka_unit_test(a_function_without_a_node_is_a_missing_symbol),
        cmocka_unit_test(a_host_of_two_majors_must_be_built_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
