/* SPDX-License-Identifier: Apache-2.0 */
/* tools/diagnose/causes/packages.c: packages whose files are missing or are another package's. */
#include "support_stack.h"

#define SITE "/venv/lib/python3.12/site-packages"
#define LIB "nvidia/cudnn/lib/"

static const char wheel[] = "nvidia-cudnn-cu12";
static const char directory[] = SITE "/nvidia/cudnn";

static struct bought bought(struct scene *s, struct wc_version v) {
    return (struct bought){.kind = WC_installation_kind_WHEEL,
                           .name = wheel,
                           .version = print(s, "%s.70", text_of(s, v)),
                           .path = directory,
                           .environment = SITE,
                           .files = 2};
}

static int64_t of_wheel(struct scene *s, const char *part, struct wc_version v, const char *name,
                        struct wc_version stated, int64_t by) {
    struct file f = {.role = part ? WC_role_PART : WC_role_FACADE,
                     .path = part ? print(s, "%s/lib/libcudnn_%s.so.%d", directory, part, v.major)
                                  : print(s, "%s/lib/libcudnn.so.%d", directory, v.major),
                     .part = part,
                     .version = v,
                     .source = part ? WC_version_source_DATA_SYMBOL : WC_version_source_ASKED_NAMES,
                     .installation = name,
                     .installation_version = print(s, "%s.70", text_of(s, stated)),
                     .installation_path = directory,
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = by,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

static int64_t torch(struct scene *s) {
    return add_host(s, SITE "/torch/lib/libtorch_cuda.so");
}

/* ---- installation-incomplete ---- */

static void what_is_listed_and_gone_is_why_the_load_failed(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    struct bought b = bought(s, v);
    b.missing[0] = LIB "libcudnn.so.9";
    b.missing[1] = LIB "libcudnn_graph.so.9";
    add_failure(s, NOBODY, "/usr/lib/python3.12/lib-dynload/_ctypes.so",
                SITE "/torch/lib/libtorch_global_deps.so", not_found(s, "libcudnn.so.9"));
    add_package(s, &b);
    diagnose(s);
    const struct wc_finding_record *r = finding(s, "installation-incomplete");
    assert_non_null(r);
    assert_ptr_equal(r, &s->found.p[0]);
    assert_int_equal(r->severity, WC_severity_ERROR);
    assert_string_equal(r->title, print(s,
                                        "%s %s.70 is listed as installed, but all of its 2 cuDNN "
                                        "libraries are missing",
                                        wheel, text_of(s, v)));
    assert_true(has_fact(r, "missing", LIB "libcudnn_graph.so.9"));
    assert_advised(s, r, "reinstall",
                   print(s, "listed as installed: %s %s.70", wheel, text_of(s, v)));
    r = finding(s, "library-not-found");
    assert_non_null(r);
    assert_string_equal(r->explained_by, "installation-incomplete");
}

static void a_part_that_is_gone_explains_why_none_was_found(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    struct bought b = bought(s, v);
    b.missing[0] = LIB "libcudnn_graph.so.9";
    int64_t facade = of_wheel(s, NULL, v, wheel, v, torch(s));
    add_failed_part(s, facade, "graph", v, 4);
    add_package(s, &b);
    diagnose(s);
    const struct wc_finding_record *r = finding(s, "installation-incomplete");
    assert_non_null(r);
    assert_ptr_equal(r, &s->found.p[0]);
    assert_int_equal(r->severity, WC_severity_ERROR);
    assert_string_equal(r->title, print(s, "1 of the 2 cuDNN libraries of %s %s.70 is missing",
                                        wheel, text_of(s, v)));
    assert_string_equal(finding(s, "part-missing")->explained_by, "installation-incomplete");
}

/* The host found another copy: it works by luck. */
static void without_a_failure_it_is_a_warning(void **state) {
    (void)state;
    for (int near = 0; near < 2; near++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9);
        struct bought b = bought(s, v);
        int64_t host = near ? torch(s) : add_host(s, "/opt/app/host");
        b.missing[0] = LIB "libcudnn.so.9";
        add_failure(s, NOBODY, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
        add_facade(s, "/usr/local/cuda-13.0/lib64", v, host);
        add_package(s, &b);
        diagnose(s);
        const struct wc_finding_record *r = finding(s, "installation-incomplete");
        assert_int_equal(r != NULL, near);
        if (r)
            assert_int_equal(r->severity, WC_severity_WARNING);
    }
}

/* The wheel's files are links to nowhere, and the loader has taken the system's cuDNN instead. */
static void a_facade_in_its_place_with_which_the_process_failed_is_named(void **state) {
    (void)state;
    for (int status = -1; status < 2; status++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9);
        struct bought b = bought(s, v);
        b.missing[0] = LIB "libcudnn.so.9";
        add_facade(s, "/usr/local/cuda-13.0/lib64", v, torch(s));
        add_package(s, &b);
        if (status >= 0)
            add_outcome(s, status, NULL);
        diagnose(s);
        const struct wc_finding_record *r = finding(s, "installation-incomplete");
        assert_int_equal(r->severity, status > 0 ? WC_severity_ERROR : WC_severity_WARNING);
        assert_int_equal(has_fact(r, "in the place of a missing one", "/usr/local/cuda-13.0/lib64"),
                         status > 0);
    }
}

/* The part came from elsewhere, and is of another release: that is what the missing one did. */
static void what_took_a_missing_parts_place_is_named(void **state) {
    (void)state;
    for (int differs = 0; differs < 2; differs++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), w = differs ? other_minor(v, 1) : v;
        struct bought b = bought(s, v);
        int64_t facade = of_wheel(s, NULL, v, wheel, v, torch(s));
        b.missing[0] = LIB "libcudnn_graph.so.9";
        add_part(s, "/usr/local/cuda-13.0/lib64", "graph", w, facade);
        add_package(s, &b);
        diagnose(s);
        const struct wc_finding_record *r = finding(s, "installation-incomplete");
        assert_non_null(r);
        assert_int_equal(r->severity, differs ? WC_severity_ERROR : WC_severity_WARNING);
        if (!differs)
            continue;
        assert_ptr_equal(r, &s->found.p[0]);
        assert_true(has_fact(r, "in the place of a missing one", "/usr/local/cuda-13.0/lib64"));
        assert_string_equal(finding(s, "facade-and-parts-differ")->explained_by,
                            "installation-incomplete");
    }
}

static void a_plain_install_is_not_offered_where_it_does_nothing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    struct bought b = bought(s, v);
    int64_t host = torch(s);
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = print(s, "==%s.70", text_of(s, v)),
                     .package = wheel, .source = "METADATA of torch 2.0"};
    add_demand(s, &w);
    b.missing[0] = LIB "libcudnn.so.9";
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    diagnose(s);
    assert_advised(s, finding(s, "library-not-found"), "install", w.spec);
    add_package(s, &b);
    diagnose(s);
    assert_advised(s, finding(s, "library-not-found"), "check",
                   "repair installation-incomplete first");
}

/* ---- installation-mixed ---- */

static void files_of_another_size_are_somebody_elses(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    struct bought b = bought(s, v);
    b.changed[0] = LIB "libcudnn_ops.so.9";
    add_package(s, &b);
    diagnose(s);
    assert_null(finding(s, "installation-mixed")); /* nothing of it is in the process */
    of_wheel(s, NULL, v, wheel, v, torch(s));
    diagnose(s);
    const struct wc_finding_record *r = finding(s, "installation-mixed");
    assert_non_null(r);
    assert_int_equal(r->severity, WC_severity_WARNING);
    assert_true(has_fact(r, "other size than listed", LIB "libcudnn_ops.so.9"));
}

/* Two packages own one path: it is told of the one that a host wants, else of the whole one. */
static void of_two_owners_one_tells(void **state) {
    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), w = other_minor(v, 1);
        struct bought b = bought(s, v), other = bought(s, w);
        int64_t host = torch(s);
        struct want want = {host, WC_demand_kind_REQUIRED, .spec = ">=9.0",
                            .package = wanted ? "nvidia-cudnn-cu11" : wheel,
                            .source = "METADATA of torch 2.0"};
        other.name = "nvidia-cudnn-cu11";
        b.shared_with[0] = print(s, "nvidia-cudnn-cu11 %s", other.version);
        other.shared_with[0] = print(s, "%s %s", wheel, b.version);
        add_demand(s, &want);
        of_wheel(s, NULL, v, wheel, v, host);
        add_package(s, &b);
        add_package(s, &other);
        diagnose(s);
        assert_string_equal(s->found.p[0].id, "installation-mixed");
        assert_int_equal(s->found.n, 1);
        const struct wc_finding_record *r = finding(s, "installation-mixed");
        assert_true(has_fact(r, "package", wanted ? "nvidia-cudnn-cu11" : wheel));
        assert_advised(s, r, "reinstall", "uninstall the package that no other package requires");
    }
}

static void a_file_that_says_another_version_is_not_the_packages(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), w = other_minor(v, 1);
    struct bought b = bought(s, v);
    int64_t facade = of_wheel(s, NULL, w, wheel, v, torch(s));
    of_wheel(s, "graph", w, wheel, v, facade);
    add_package(s, &b);
    diagnose(s);
    const struct wc_finding_record *r = finding(s, "installation-mixed");
    assert_non_null(r);
    assert_int_equal(r->severity, WC_severity_WARNING); /* they agree among themselves */
    assert_true(has_fact(r, "version", text_of(s, w)));
}

/* Where two packages own the same files that is the cause, and its repair another one. A file that
 * was put there otherwise is told by what it does, and beside it. */
static void a_torn_set_is_explained_by_two_owners(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), w = other_minor(v, 1);
        struct bought b = bought(s, v);
        if (how)
            b.changed[0] = LIB "libcudnn_graph.so.9";
        if (how > 1)
            b.shared_with[0] = print(s, "nvidia-cudnn-cu11 %s.1", text_of(s, w));
        int64_t facade = of_wheel(s, NULL, v, wheel, v, torch(s));
        of_wheel(s, "graph", w, wheel, v, facade);
        add_package(s, &b);
        assert_finds(s, how == 0   ? "facade-and-parts-differ"
                        : how == 1 ? "facade-and-parts-differ installation-mixed"
                                   : "installation-mixed facade-and-parts-differ");
        const struct wc_finding_record *r = finding(s, "facade-and-parts-differ");
        assert_int_equal(r->explained_by != NULL, how == 2);
        if (how == 2)
            assert_string_equal(r->explained_by, "installation-mixed");
    }
}

/* A facade of cuDNN 8 says no release: its package does, whose list tells that it is the one
 * installed, and a part beside it is not. Where the list has no sizes, or it is the facade that was
 * changed, nobody knows. */
static void the_list_says_whose_claim_holds(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(8), w = other_minor(v, 1);
        struct bought b = bought(s, v);
        struct file facade = {.role = WC_role_FACADE,
                              .path = print(s, "%s/lib/libcudnn.so.8", directory),
                              .version = v,
                              .source = WC_version_source_PACKAGE_METADATA,
                              .installation = wheel,
                              .installation_version = b.version,
                              .installation_path = directory,
                              .kind = WC_installation_kind_WHEEL,
                              .asked_by = torch(s),
                              .how = WC_operation_DLOPEN};
        if (how < 2)
            b.changed[0] = how ? LIB "libcudnn.so.8" : LIB "libcudnn_ops_infer.so.8";
        of_wheel(s, "ops_infer", w, wheel, v, add_file(s, &facade));
        add_package(s, &b);
        diagnose(s);
        assert_int_equal(finding(s, "facade-and-parts-differ") != NULL, how == 0);
        assert_non_null(finding(s, "installation-mixed"));
    }
}

/* A library that tells nobody its release tells cuDNN itself: by the status alone it is known that
 * what was changed does not fit. Without one, or with any other, it may. */
static void a_set_that_cudnn_refuses_is_explained_by_what_was_changed(void **state) {
    (void)state;
    for (int how = 0; how < 5; how++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(how == 1 ? 8 : 9);
        struct bought b = bought(s, v);
        int64_t host = torch(s), facade = of_wheel(s, NULL, v, wheel, v, host);
        if (how == 2)
            b.foreign[0] = SITE "/" LIB "libcudnn_engines_precompiled.so.9";
        else
            b.changed[0] = LIB "libcudnn_engines_precompiled.so.9";
        add_package(s, &b);
        if (how < 4)
            add_call(s, "cudnnBackendFinalize", host, facade,
                     how == 1   ? 14
                     : how == 3 ? 4000
                                : 1002,
                     WC_NULL);
        assert_finds(s, how == 4   ? "installation-mixed"
                        : how == 3 ? "call-failed installation-mixed"
                                   : "installation-mixed call-failed");
        assert_int_equal(finding(s, "installation-mixed")->severity,
                         how < 3 ? WC_severity_ERROR : WC_severity_WARNING);
        if (how < 3)
            assert_string_equal(finding(s, "call-failed")->explained_by, "installation-mixed");
    }
}

static void a_file_on_no_list_is_to_be_taken_away(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    struct bought b = bought(s, v);
    b.foreign[0] = SITE "/" LIB "libcudnn_ext.so.9";
    of_wheel(s, NULL, v, wheel, v, torch(s));
    add_package(s, &b);
    diagnose(s);
    const struct wc_finding_record *r = finding(s, "installation-mixed");
    assert_non_null(r);
    assert_true(has_fact(r, "on no list", SITE "/" LIB "libcudnn_ext.so.9"));
    assert_advised(s, r, "remove", "remove " SITE "/" LIB "libcudnn_ext.so.9");
}

/* ---- what puts a torn set back, by what brought it ---- */

static void a_torn_set_is_put_back_by_what_brought_it(void **state) {
    static const struct {
        enum wc_installation_kind kind;
        const char *name, *mount, *action, *text;
    } row[] = {
        {WC_installation_kind_CONDA, "cudnn", NULL, "reinstall", "reinstall cudnn, so that"},
        {WC_installation_kind_CONTAINER_MOUNT, NULL, "/usr/lib64", "remove", "mount of /usr/lib64"},
        {WC_installation_kind_DIRECTORY, NULL, NULL, "reinstall", "one release into /usr/lib64"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9);
        struct file f = {.role = WC_role_FACADE,
                         .path = "/usr/lib64/libcudnn.so.9",
                         .version = v,
                         .source = WC_version_source_ASKED_NAMES,
                         .installation = row[i].name,
                         .mount = row[i].mount,
                         .installation_path = "/usr/lib64",
                         .kind = row[i].kind,
                         .asked_by = add_host(s, "/opt/app/host"),
                         .how = WC_operation_NEEDED};
        int64_t facade = add_file(s, &f);
        add_part(s, "/usr/lib64", "graph", other_minor(v, 1), facade);
        diagnose(s);
        const struct wc_finding_record *r = finding(s, "facade-and-parts-differ");
        assert_non_null(r);
        assert_advised(s, r, row[i].action, row[i].text);
    }
}

/* ---- health ---- */

static void a_complete_package_is_not_told(void **state) {
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(8 + i % 2);
        struct bought b = bought(s, v);
        int64_t facade = of_wheel(s, NULL, v, wheel, v, torch(s));
        of_wheel(s, v.major == 8 ? "ops_infer" : "graph", v, wheel, v, facade);
        add_package(s, &b);
        diagnose(s);
        assert_int_equal(s->found.n, 0);
    }
}

int main(void) {
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_listed_and_gone_is_why_the_load_failed),
        cmocka_unit_test(a_part_that_is_gone_explains_why_none_was_found),
        cmocka_unit_test(without_a_failure_it_is_a_warning),
        cmocka_unit_test(a_facade_in_its_place_with_which_the_process_failed_is_named),
        cmocka_unit_test(what_took_a_missing_parts_place_is_named),
        cmocka_unit_test(a_plain_install_is_not_offered_where_it_does_nothing),
        cmocka_unit_test(files_of_another_size_are_somebody_elses),
        cmocka_unit_test(of_two_owners_one_tells),
        cmocka_unit_test(a_file_that_says_another_version_is_not_the_packages),
        cmocka_unit_test(a_torn_set_is_explained_by_two_owners),
        cmocka_unit_test(the_list_says_whose_claim_holds),
        cmocka_unit_test(a_set_that_cudnn_refuses_is_explained_by_what_was_changed),
        cmocka_unit_test(a_file_on_no_list_is_to_be_taken_away),
        cmocka_unit_test(a_torn_set_is_put_back_by_what_brought_it),
        cmocka_unit_test(a_complete_package_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
