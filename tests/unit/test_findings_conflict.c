/* SPDX-License-Identifier: Apache-2.0 */
/* tools/diagnose/causes/demands_conflict.c and core/demand/shared/agreement.c: what several hosts
 * accept.
 */
#include "core/demand/questions.h"
#include "support_stack.h"

static int64_t host_of(struct scene *s, const char *path, const char *framework,
                       const char *release, struct wc_version built) {
    int64_t host = add_host(s, path);
    struct want w = {host,
                     WC_demand_kind_BUILT,
                     .built = text_of(s, built),
                     .rule = rule_of(framework, release),
                     .framework = framework,
                     .source = print(s, "build of %s %s", framework, release)};
    add_demand(s, &w);
    return host;
}

static void require(struct scene *s, int64_t host, const char *spec, const char *source) {
    struct want w = {host,
                     WC_demand_kind_REQUIRED,
                     .spec = spec,
                     .package = "nvidia-cudnn-cu12",
                     .rule = "nvidia",
                     .source = source};
    add_demand(s, &w);
}

/* One facade that both hosts use. */
static int64_t shared(struct scene *s, struct wc_version v, int64_t one, int64_t two) {
    static const char *const function[] = {"cudnnCreate"};
    int64_t facade = add_facade(s, "/opt/cudnn", v, one);
    if (v.major == 9)
        add_part(s, "/opt/cudnn", "graph", v, facade);
    if (v.major == 8)
        add_part(s, "/opt/cudnn", "ops_infer", v, facade);
    add_binding(s, one, facade, WC_binding_how_SLOT, function, 1);
    add_binding(s, two, facade, WC_binding_how_SLOT, function, 1);
    return facade;
}

static void an_exact_check_conflicts_with_a_newer_build(void **state) {
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(8), w = other_minor(v, 1);
        int64_t one = host_of(s, "/a/libmxnet.so", "mxnet", "1.9", v);
        int64_t two = host_of(s, "/a/libtorch_cuda.so", "torch", "1.13", w);
        bool second = i % 2;
        shared(s, second ? w : v, one, two);
        diagnose(s);
        const struct wc_finding_record *r = finding(s, "demands-conflict");
        assert_non_null(r);
        assert_int_equal(r->severity, WC_severity_WARNING);
        assert_string_equal(r->title, "no release of cuDNN suits both mxnet and torch");
        assert_int_equal(r->host, second ? one : two);
        assert_true(has_fact(r, "wants", text_of(s, v)));
        assert_true(has_fact(r, "wants", text_of(s, w)));
        assert_string_equal(r->facts.p[1].source, "build of mxnet 1.9");
        assert_true(has_fact(r, "accepts", print(s, ">=%d.%d,<9", w.major, w.minor)));
        assert_advised(s, r, "upgrade-host", "in two processes");
        assert_true(fact_index(r, "got, and refuses") > 0);
    }
}

static void each_host_is_told_with_the_copy_that_it_got(void **state) {
    static const char *const function[] = {"cudnnCreate"};
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(8), w = other_minor(v, 1);
    int64_t one = host_of(s, "/a/libmxnet.so", "mxnet", "1.9", v);
    int64_t two = host_of(s, "/a/libtorch_cuda.so", "torch", "1.13", w);
    int64_t first = add_facade(s, "/opt/one", v, one), second = add_facade(s, "/opt/two", v, two);
    add_part(s, "/opt/one", "ops_infer", v, first);
    add_part(s, "/opt/two", "ops_infer", v, second);
    add_binding(s, one, first, WC_binding_how_SLOT, function, 1);
    add_binding(s, two, second, WC_binding_how_SLOT, function, 1);
    diagnose(s);
    const struct wc_finding_record *r = finding(s, "demands-conflict");
    assert_non_null(r);
    assert_true(has_fact(r, "got", "/opt/one/"));
    assert_true(has_fact(r, "got, and refuses", "/opt/two/"));
}

static void what_suits_both_is_no_conflict(void **state) {
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(8 + i % 2), w = other_minor(v, 1);
        int64_t one = host_of(s, "/a/libtorch_cuda.so", "torch", "2.3", v);
        int64_t two = host_of(s, "/a/libtensorflow.so", "tensorflow", "2.15", w);
        shared(s, v, one, two); /* the second refuses it, the newer suits both */
        assert_finds(s, "runtime-too-old");
        s = new_scene();
        one = host_of(s, "/a/libtorch_cuda.so", "torch", "2.3", v);
        two = host_of(s, "/a/libtensorflow.so", "tensorflow", "2.15", w);
        shared(s, w, one, two);
        assert_finds(s, "");
    }
}

/* What one is told to install has to suit the other, too. */
static void the_fix_takes_the_others_into_account(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = version_of(9, draw(10, 20), 0), w = version_of(9, draw(30, 40), 0);
    struct wc_version got = version_of(9, draw(2, 9), 0);
    int64_t one = add_host(s, "/a/libone.so"), two = add_host(s, "/a/libtwo.so");
    require(s, one, print(s, ">=%s,<10", text_of(s, v)), "METADATA of one 1.0");
    require(s, two, print(s, ">=%s,<10", text_of(s, w)), "METADATA of two 1.0");
    shared(s, got, one, two);
    diagnose(s);
    const char *range = print(s, ">=9.%d,<10", w.minor);
    assert_string_equal(s->found.p[0].id, "runtime-too-old");
    assert_true(has_fact(&s->found.p[0], "suits all hosts of it", range));
    assert_advised(s, &s->found.p[0], "install", range);
    assert_null(finding(s, "demands-conflict"));
}

static void two_majors_live_side_by_side(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(8), w = draw_release(9);
    int64_t one = host_of(s, "/a/libone.so", "torch", "2.0", v);
    int64_t two = host_of(s, "/a/libtwo.so", "torch", "2.6", w);
    int64_t eight = add_facade(s, "/opt/eight", v, one), nine = add_facade(s, "/opt/nine", w, two);
    add_part(s, "/opt/eight", "ops_infer", v, eight);
    add_part(s, "/opt/nine", "graph", w, nine);
    diagnose(s);
    assert_null(finding(s, "demands-conflict"));
    /* But where one of them got the other's, each is to find its own. */
    s = new_scene();
    one = host_of(s, "/a/libone.so", "torch", "2.0", v);
    two = host_of(s, "/a/libtwo.so", "torch", "2.6", w);
    shared(s, w, one, two);
    diagnose(s);
    assert_non_null(finding(s, "demands-conflict"));
}

static void hosts_of_one_wheel_are_one(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(8), w = other_minor(v, 1);
    int64_t one = host_of(s, "/a/libmxnet.so", "mxnet", "1.9", v);
    int64_t two = host_of(s, "/a/libtorch_cuda.so", "torch", "1.13", w);
    for (int i = 0; i < 20; i++)
        shared(s, v, one, host_of(s, print(s, "/a/libtorch_%d.so", i), "torch", "1.13", w));
    (void)two;
    size_t n = 0;
    diagnose(s);
    for (size_t i = 0; i < s->found.n; i++)
        n += strcmp(s->found.p[i].id, "demands-conflict") == 0;
    assert_int_equal(n, 1);
}

/* ---- sources of one host that disagree ---- */

static void sources_that_disagree_are_shown(void **state) {
    (void)state;
    for (int disagree = 0; disagree < 2; disagree++) {
        struct scene *s = new_scene();
        struct wc_version built = version_of(9, draw(20, 40), 1), pin = built, got = built;
        pin.minor = disagree ? draw(10, 19) : built.minor;
        got.minor = draw(1, 9);
        int64_t host = host_of(s, "/a/libpaddle.so", "paddle", "3.3.1", built);
        require(s, host, print(s, "==%s.17", text_of(s, pin)),
                "METADATA of paddlepaddle-gpu 3.3.1");
        int64_t facade = add_facade(s, "/opt/cudnn", got, host);
        add_part(s, "/opt/cudnn", "graph", got, facade);
        diagnose(s);
        const struct wc_finding_record *r = finding(s, "runtime-too-old");
        assert_int_equal(has_fact(r, "sources disagree", text_of(s, pin)), disagree);
        assert_int_equal(has_fact(r, "sources disagree", text_of(s, built)), disagree);
    }
}

/* ---- wc_common_releases ---- */

static void assert_common(struct scene *s, size_t n, const char *range) {
    struct wc_hosts hosts = {.n = n};
    struct wc_version low, high;
    char a[WC_VERSION_TEXT], b[WC_VERSION_TEXT];
    for (size_t i = 0; i < n; i++)
        hosts.p[i] = wc_stack_object(&s->stack, (int64_t)i + 1);
    bool any = wc_common_releases(&s->stack, &hosts, &low, &high);
    assert_int_equal(any, range != NULL);
    if (range)
        assert_string_equal(print(s, "%s %s", wc_version_format(low, a),
                                  wc_version_known(high) ? wc_version_format(high, b) : "-"),
                            range);
}

static void each_rule_has_its_range(void **state) {
    static const struct {
        const char *framework, *release, *range;
    } row[] = {
        {"torch", "2.3", "9.8.0 10.0.0"},     {"tensorflow", "2.15", "9.8.0 10.0.0"},
        {"mxnet", "1.9", "9.8.3 9.8.4"},      {"opencv", "4.5", "9.8.3 9.8.4"},
        {"paddle", "3.3", "9.8.3 10.0.0"},    {"paddle", "2.6", "9.8.0 10.0.0"},
        {"tensorflow", "1.5", "9.8.0 9.9.0"}, {"cupy", "13.0", "9.8.0 10.0.0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct scene *s = new_scene();
        host_of(s, "/a/host", row[i].framework, row[i].release, version_of(9, 8, 3));
        assert_common(s, 1, row[i].range);
    }
}

static void sets_of_versions_have_theirs(void **state) {
    static const struct {
        const char *one, *two, *range;
    } row[] = {
        {">=9.8,<10", ">=9.3.0.75,<10.0", "9.8.0 10.0.0"},
        {">=9.8,<9.10", ">=9.10", NULL},
        {"~=9.1", "==9.4.*", "9.4.0 9.5.0"},
        {">=9.1,!=9.1.0", ">9.0", "9.1.1 -"},
        {"==8.*", "==9.*", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct scene *s = new_scene();
        require(s, add_host(s, "/a/one"), row[i].one, "METADATA of one 1.0");
        require(s, add_host(s, "/a/two"), row[i].two, "METADATA of two 1.0");
        assert_common(s, 2, row[i].range);
    }
    struct scene *s = new_scene();
    add_host(s, "/a/one");
    assert_common(s, 1, NULL); /* nothing is demanded */
}

/* The range and the rules print the same of any release. */
static void the_range_is_what_the_rules_accept(void **state) {
    static const char *const framework[] = {"torch", "tensorflow", "mxnet", "paddle", "opencv"};
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct scene *s = new_scene();
        struct wc_hosts hosts = {.n = 2};
        struct wc_version low, high;
        for (int k = 0; k < 2; k++)
            host_of(s, k ? "/a/two" : "/a/one", framework[draw(0, 4)], "4.5",
                    version_of(draw(8, 9), draw(0, 5), draw(0, 3)));
        for (size_t k = 0; k < 2; k++)
            hosts.p[k] = wc_stack_object(&s->stack, (int64_t)k + 1);
        bool any = wc_common_releases(&s->stack, &hosts, &low, &high);
        for (int n = 0; n < 40; n++) {
            struct wc_version v = version_of(draw(8, 10), draw(0, 6), draw(0, 4));
            bool good = true;
            for (size_t k = 0; k < s->stack.demands.n; k++)
                good = good && !wc_demand_refuses(&s->stack.demands.p[k].r, v);
            bool inside = any && wc_version_compare(v, low) >= 0 &&
                          (!wc_version_known(high) || wc_version_compare(v, high) < 0);
            assert_int_equal(good, inside);
        }
    }
}

int main(void) {
    seed_from_environment();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exact_check_conflicts_with_a_newer_build),
        cmocka_unit_test(each_host_is_told_with_the_copy_that_it_got),
        cmocka_unit_test(what_suits_both_is_no_conflict),
        cmocka_unit_test(the_fix_takes_the_others_into_account),
        cmocka_unit_test(two_majors_live_side_by_side),
        cmocka_unit_test(hosts_of_one_wheel_are_one),
        cmocka_unit_test(sources_that_disagree_are_shown),
        cmocka_unit_test(each_rule_has_its_range),
        cmocka_unit_test(sets_of_versions_have_theirs),
        cmocka_unit_test(the_range_is_what_the_rules_accept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
