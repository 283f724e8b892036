/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hosts demand against what they got: major-differs, runtime-too-old, runtime-too-new,
 * missing-symbols, expectation-not-met, at their boundaries.
 */
#include "support_stack.h"

enum { ROUNDS = 60 };

/* The part that answers cudnnGetVersion, as real ones were seen to do it; NULL: the facade. */
static const char *answering(int32_t major) {
    return major >= 9 ? "graph" : major == 8 ? "ops_infer" : NULL;
}

/* A host that got `v` by its own dlopen, with the part beside it that answers. */
static struct scene *host_with(struct wc_version v, int64_t *host) {
    struct scene *s = new_scene();
    *host = add_host(s, "/opt/app/libhost.so");
    int64_t facade = add_facade(s, "/opt/cudnn", v, *host);
    if (answering(v.major))
        add_part(s, "/opt/cudnn", answering(v.major), v, facade);
    return s;
}

static void assert_built(const char *framework, const char *release, struct wc_version built,
                         struct wc_version got, const char *ids) {
    int64_t host;
    struct scene *s = host_with(got, &host);
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, built),
                     .rule = rule_of(framework, release), .framework = framework};
    add_demand(s, &w);
    assert_finds(s, ids);
}

static void assert_required(const char *spec, struct wc_version got, const char *ids) {
    int64_t host;
    struct scene *s = host_with(got, &host);
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = spec, .rule = "nvidia"};
    add_demand(s, &w);
    assert_finds(s, ids);
}

static void a_rule_of_same_or_higher_minor(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct wc_version v = draw_release(round % 2 ? 8 : 9), w = v;
        assert_built("torch", "2.3.1", v, v, "");
        w.patch = v.patch - 1;
        assert_built("torch", "2.3.1", v, w, "");
        w = version_of(v.major, v.minor - 1, 99);
        assert_built("torch", "2.3.1", v, w, "runtime-too-old");
        assert_built("torch", "2.3.1", w, v, "");
        w = version_of(v.major + 1, v.minor, v.patch);
        assert_built("torch", "2.3.1", v, w, "major-differs");
        assert_built("torch", "2.3.1", w, v, "major-differs");
    }
}

static void an_exact_rule_refuses_what_is_newer(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct wc_version v = draw_release(draw(5, 9)), w = v;
        assert_built("mxnet", "1.5.1", v, v, "");
        w.patch = v.patch + 1;
        assert_built("mxnet", "1.5.1", v, w, "runtime-too-new");
        assert_int_equal(the_scene.found.p[0].severity, WC_severity_ERROR);
        w.patch = v.patch - 1;
        assert_built("mxnet", "1.5.1", v, w, "runtime-too-old");
        assert_int_equal(the_scene.found.p[0].severity, WC_severity_ERROR);
    }
}

/* What a host only warns of, and NVIDIA promises to work, is no error. */
static void a_check_that_only_warns(void **state) {
    static const char *const hosts[][2] = {
        {"mxnet", "1.9.1"}, {"paddle", "3.0.0"}, {"opencv", "4.5.0"}};
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const char *const *host = hosts[draw(0, 2)];
        struct wc_version v = draw_release(draw(7, 9)), w = v;
        w.patch = v.patch - 1;
        assert_built(host[0], host[1], v, w, "runtime-too-old");
        assert_int_equal(the_scene.found.p[0].severity, WC_severity_WARNING);
        add_outcome(&the_scene, 0, NULL); /* it went on to a good end */
        assert_finds(&the_scene, "runtime-too-old");
        assert_int_equal(the_scene.found.p[0].severity, WC_severity_NOTE);
        assert_built(host[0], host[1], v, other_minor(v, -1), "runtime-too-old");
        assert_int_equal(the_scene.found.p[0].severity, WC_severity_ERROR);
    }
}

/* "5005 (compatibility 5000) but compiled with 5103 (5100)", in a drawn release. */
static void old_tensorflow_compares_its_compatibility_numbers(void **state) {
    (void)state;
    int64_t host;
    struct wc_version built = draw_release(5), got = other_minor(built, -1);
    struct scene *s = host_with(got, &host);
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, built),
                     .rule = rule_of("tensorflow", "1.0.0")};
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old");
    int have = 5000 + 100 * got.minor + got.patch, want = 5000 + 100 * built.minor + built.patch;
    assert_true(has_fact(&s->found.p[0], "numbers",
                         print(s, "runtime %d (compatibility %d), built %d (compatibility %d)",
                               have, have / 100 * 100, want, want / 100 * 100)));
}

static void a_range_is_judged_by_itself(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct wc_version v = draw_release(9);
        char at[64], above[64], below[64];
        snprintf(at, sizeof at, ">=9.%d.%d,<10.0", v.minor, v.patch);
        snprintf(above, sizeof above, "<10.0,>=9.%d.%d.5", v.minor, v.patch + 1);
        snprintf(below, sizeof below, ">=9.0,<9.%d", v.minor);
        assert_required(at, v, "");
        assert_required(above, v, "runtime-too-old");
        assert_required(below, v, "runtime-too-new");
        assert_required("<10.0,>=9.0", version_of(10, 0, 0), "major-differs");
        assert_required("<10.0,>=9.0", version_of(8, 9, 9), "major-differs");
        assert_required("~=9.0", v, "");
        snprintf(below, sizeof below, "<=9.%d", v.minor - 1);
        assert_required(below, v, "runtime-too-new");
        assert_required(below, version_of(10, 0, 0), "major-differs");
    }
    assert_required(">=9.0,!=9.11.0", version_of(9, 11, 0), "runtime-too-old");
    assert_required("no range at all", version_of(9, 11, 0), "");
}

/* The wheel's fourth field says nothing about what cuDNN itself can emit. */
static void a_pin_is_judged_by_the_rule(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    char pin[64];
    snprintf(pin, sizeof pin, "==9.%d.%d.51", v.minor, v.patch);
    assert_required(pin, v, "");
    assert_required(pin, other_minor(v, 1), "");
    assert_required(pin, version_of(9, v.minor, v.patch - 1), "");
    assert_required(pin, other_minor(v, -1), "runtime-too-old");
}

/* A host bound to a part of one set and then to the facade of another uses that facade. */
static void a_facade_is_used_rather_than_a_part(void **state) {
    (void)state;
    static const char *const check[] = {"cudnnOpsVersionCheck"}, *const create[] = {"cudnnCreate"};
    struct wc_version v = draw_release(9);
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so"), other = add_host(s, "/opt/b/libother.so");
    int64_t newer = add_facade(s, "/opt/newer", v, other);
    int64_t part = add_part(s, "/opt/newer", "ops", v, newer);
    int64_t older = add_facade(s, "/opt/older", other_minor(v, -1), host);
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = print(s, ">=9.%d", v.minor)};
    add_demand(s, &w);
    add_binding(s, host, part, WC_binding_how_SLOT, check, 1);
    add_binding(s, host, older, WC_binding_how_SLOT, create, 1);
    assert_finds(s, "runtime-too-old two-copies-loaded");
}

static void only_the_major_of_a_node_counts(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t host;
        int wanted = draw(4, 8), got = draw(wanted + 1, 10);
        struct scene *s = host_with(draw_release(round % 2 ? got : wanted), &host);
        struct want w = {host, WC_demand_kind_SYMBOL_VERSION,
                         .spec = print(s, "==%d.*", round % 2 ? wanted : got)};
        add_demand(s, &w);
        assert_finds(s, "major-differs");
        assert_false(s->found.p[0].predicted);
        assert_non_null(strstr(s->found.p[0].title, "its imports demand cuDNN"));
        s = host_with(draw_release(got), &host);
        w = (struct want){host, WC_demand_kind_NEEDED, .spec = print(s, "==%d.*", got)};
        add_demand(s, &w);
        assert_finds(s, "");
    }
}

/* Demands of one host may fail in different ways: another major is the graver one. */
static void another_major_counts_before_an_older_minor(void **state) {
    (void)state;
    for (int first = 0; first < 2; first++) {
        int64_t host;
        struct wc_version v = draw_release(9);
        struct scene *s = host_with(v, &host);
        struct want range = {host, WC_demand_kind_REQUIRED,
                             .spec = print(s, ">=9.%d", v.minor + 1)};
        struct want node = {host, WC_demand_kind_SYMBOL_VERSION, .spec = "==8.*"};
        add_demand(s, first ? &range : &node);
        add_demand(s, first ? &node : &range);
        assert_finds(s, "major-differs");
        assert_true(has_fact(&s->found.p[0], "wanted", "its imports demand cuDNN 8"));
        assert_true(has_fact(&s->found.p[0], "wanted", range.spec));
    }
}

/* A file of which nothing but the SONAME is known has a major. */
static void a_bare_soname_tells_the_major(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/x/libcudnn.so.9",
                     .version = WC_VERSION_NONE,
                     .asked_by = host};
    add_file(s, &f);
    struct want w = {host, WC_demand_kind_SYMBOL_VERSION, .spec = "==9.*"};
    struct want exact = {host, WC_demand_kind_BUILT, .built = "9.7.1", .rule = "torch"};
    add_demand(s, &w);
    add_demand(s, &exact);
    assert_finds(s, "");
    w.spec = "==8.*";
    add_demand(s, &w);
    assert_finds(s, "major-differs");
    /* cuDNN 3 called itself libcudnn.so.7.0, after CUDA: nobody knows its major from that. */
    s = new_scene();
    host = add_host(s, "/opt/app/libhost.so");
    f.path = "/opt/x/libcudnn.so.7.0";
    f.asked_by = host;
    add_file(s, &f);
    w = (struct want){host, WC_demand_kind_SYMBOL_VERSION, .spec = "==7.*"};
    add_demand(s, &w);
    w = (struct want){host, WC_demand_kind_NEEDED, .spec = "==3.*"};
    add_demand(s, &w);
    assert_finds(s, "");
    /* Nor does such a name demand one. */
    s = host_with(version_of(3, 0, 7), &host);
    w = (struct want){host, WC_demand_kind_NEEDED, .spec = "==7.0"};
    add_demand(s, &w);
    assert_finds(s, "");
}

static struct scene *bounded(const char *floor, const char *ceiling, const char *spec) {
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/x/neutral.bin",
                     .soname = "libcudnn.so.9",
                     .version = WC_VERSION_NONE,
                     .floor = floor,
                     .ceiling = ceiling,
                     .asked_by = host};
    add_file(s, &f);
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = spec};
    add_demand(s, &w);
    return s;
}

/* NVIDIA promises that a newer one works. A package whose own check nobody knows may see it
 * otherwise: where its process gave up and nothing else was found, that is told. */
static void a_single_release_that_was_not_met_counts_where_a_process_gave_up(void **state) {
    (void)state;
    enum { NEWER, PATCH, COMMAND, FINE, KILLED, MET, KNOWN, RANGE, EXPLAINED, HOWS };
    for (int how = 0; how < HOWS; how++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), got = how == MET ? v : other_minor(v, 1);
        int64_t host = add_host(s, "/venv/lib/python3.12/site-packages/visionkit/_engine.so");
        struct want w = {host,
                         WC_demand_kind_REQUIRED,
                         .spec = print(s, how == RANGE ? ">=%s" : "==%s.70", text_of(s, v)),
                         .package = "nvidia-cudnn-cu12",
                         .rule = how == KNOWN ? "torch" : "nvidia",
                         .framework = how == KNOWN ? "torch" : NULL,
                         .source = "METADATA of visionkit 1.4.2"};
        if (how == PATCH)
            got.minor = v.minor, got.patch = v.patch - 1;
        add_demand(s, &w);
        int64_t facade = add_facade(s, "/opt/cudnn", got, host);
        assert_finds(s, "");
        if (how == COMMAND)
            s->stack.command_failed = true;
        else
            add_outcome(s, how != FINE, how == KILLED ? "SIGKILL" : NULL);
        if (how == EXPLAINED)
            add_call(s, "cudnnCreate", host, facade, 4003, WC_NULL);
        assert_finds(s, how == NEWER || how == COMMAND ? "runtime-too-new"
                        : how == PATCH                 ? "runtime-too-old"
                        : how == EXPLAINED             ? "init-failed runtime-too-new"
                                                       : "");
        if (how > COMMAND)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
        assert_true(has_fact(&s->found.p[0], "wanted", w.spec));
    }
}

/* A newer release was laid over an older one, to which the name still leads. */
static void an_older_file_than_the_header_counts_where_a_process_gave_up(void **state) {
    (void)state;
    enum { GAVE_UP, CRASHED, FINE, KILLED, SAME, OLDER_HEADER, SAID, EXPLAINED, HOWS };
    for (int how = 0; how < HOWS; how++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(8);
        int64_t host = add_host(s, "/home/ada/build/engine");
        int64_t facade = add_facade(s, "/usr/local/cuda/lib64", v, host);
        struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v)};
        s->stack.objects.p[facade - 1].r.header_version =
            text_of(s, how == SAME ? v : other_minor(v, how == OLDER_HEADER ? -1 : 1));
        if (how == SAID)
            add_demand(s, &w);
        add_outcome(s, how != FINE, how == KILLED ? "SIGKILL" : how == CRASHED ? "SIGSEGV" : NULL);
        if (how == EXPLAINED)
            add_call(s, "cudnnCreate", host, facade, 4003, WC_NULL);
        assert_finds(s, how <= CRASHED     ? "runtime-too-old"
                        : how == EXPLAINED ? "init-failed runtime-too-old"
                                           : "");
        if (how > CRASHED)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
        assert_int_equal(s->found.p[0].host, host);
        assert_non_null(
            strstr(s->found.p[0].title, s->stack.objects.p[facade - 1].r.header_version));
    }
}

static void bounds_decide_only_where_both_ends_agree(void **state) {
    (void)state;
    struct scene *s = bounded("9.1.0", "9.6", ">=9.7,<10");
    assert_finds(s, "runtime-too-old");
    assert_non_null(strstr(s->found.p[0].title, "got cuDNN between 9.1.0 and 9.6, "));
    assert_true(s->found.p[0].predicted);
    assert_finds(bounded("9.1.0", "9.7.2", ">=9.7,<10"), "");
    assert_finds(bounded("9.7.0", NULL, ">=9.7,<10"), "");
    s = bounded("9.8.0", NULL, ">=9.0,<9.8");
    assert_finds(s, "runtime-too-new");
    assert_non_null(strstr(s->found.p[0].title, "got cuDNN 9.8.0 or newer, "));
    s = bounded(NULL, "9.6", ">=9.7");
    assert_finds(s, "runtime-too-old");
    assert_non_null(strstr(s->found.p[0].title, "got cuDNN 9.6 or older, "));
    assert_finds(bounded(NULL, NULL, ">=9.0,<9.8"), "");
    assert_finds(bounded("9.1.0", "9.6", "==9.4.0"), "");
}

/* ---- which number is the runtime's ---- */

static void a_part_has_the_runtime_number_of_eight_and_nine(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene *s = new_scene();
        struct wc_version wanted = draw_release(8 + round % 2), old = other_minor(wanted, -1);
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, wanted), .rule = "torch"};
        add_demand(s, &w);
        int64_t facade = add_facade(s, "/opt/cudnn", wanted, host);
        assert_finds(s, "");
        add_part(s, "/opt/cudnn", "heuristic", wanted, facade);
        assert_finds(s, "");
        add_part(s, "/opt/cudnn", answering(wanted.major), old, facade);
        assert_finds(s, "parts-differ runtime-too-old");
        assert_string_equal(s->found.p[1].explained_by, "parts-differ");
        assert_true(has_fact(&s->found.p[1], "runtime version", text_of(s, old)));
    }
}

static void it_is_predicted_before_that_part_is_loaded(void **state) {
    (void)state;
    for (int major = 7; major <= 9; major++) {
        struct scene *s = new_scene();
        struct wc_version wanted = draw_release(major), old = other_minor(wanted, -1);
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, wanted), .rule = "exact"};
        add_demand(s, &w);
        int64_t facade = add_facade(s, "/opt/cudnn", old, host);
        assert_finds(s, "runtime-too-old");
        assert_int_equal(s->found.p[0].predicted, major > 7);
        if (major > 7) {
            const char *printed = print(s, "that of the %s part", answering(major));
            assert_true(has_fact(&s->found.p[0], "predicted", printed));
            add_part(s, "/opt/cudnn", answering(major), old, facade);
            assert_finds(s, "runtime-too-old");
            assert_false(s->found.p[0].predicted);
        }
    }
}

static void what_was_returned_beats_what_was_read(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version wanted = draw_release(9), old = other_minor(wanted, -1);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, wanted), .rule = "torch"};
    add_demand(s, &w);
    int64_t facade = add_facade(s, "/opt/cudnn", old, host);
    assert_finds(s, "runtime-too-old");
    assert_true(s->found.p[0].predicted);
    add_call(s, "cudnnGetVersion", host, facade, WC_NULL, 0); /* a stub's answer */
    assert_finds(s, "runtime-too-old");
    add_call(s, "cudnnGetVersion", host, facade, WC_NULL, (int64_t)wc_version_to_number(wanted));
    assert_finds(s, "");
    add_call(s, "cudnnGetVersion", host, facade, WC_NULL, (int64_t)wc_version_to_number(old));
    assert_finds(s, "runtime-too-old");
    assert_false(s->found.p[0].predicted);
    assert_true(has_fact(&s->found.p[0], "runtime version", text_of(s, old)));
}

/* A facade whose number is known only from the call does not differ from its parts by it. */
static void a_returned_number_is_not_the_facades_own(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/x/libcudnn.so.9",
                     .version = draw_release(9),
                     .source = WC_version_source_RETURNED,
                     .asked_by = NOBODY};
    int64_t facade = add_file(s, &f);
    add_part(s, "/opt/x", "graph", other_minor(f.version, 1), facade);
    assert_finds(s, "");
}

static void a_claim_that_the_file_contradicts_does_not_count(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/x/libcudnn.so.8",
                     .version = version_of(8, 9, 2),
                     .floor = "8.2.0",
                     .ceiling = "8.5",
                     .source = WC_version_source_PACKAGE_METADATA,
                     .asked_by = host};
    add_file(s, &f);
    struct want w = {host, WC_demand_kind_BUILT, .built = "8.9.0", .rule = "torch"};
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old");
    f.ceiling = "8.9";
    s = new_scene();
    f.asked_by = w.host = add_host(s, "/opt/app/libhost.so");
    add_file(s, &f);
    add_demand(s, &w);
    assert_finds(s, "");
}

/* ---- functions ---- */

/* A function that came with a minor release of that major, newest of all drawn. */
static const char *function_since(int major, struct wc_version *first) {
    for (int tries = 0; tries < 100000; tries++) {
        int f = draw(0, wc_function_count() - 1);
        *first = wc_function_first(f);
        if (first->major == major && first->minor > 0 && !wc_version_known(wc_function_last(f)))
            return wc_function_name(f);
    }
    fail_msg("no function of that kind");
    return NULL;
}

static void functions_that_the_release_does_not_have(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct wc_version first, old;
        const char *name = function_since(9, &first);
        int64_t host;
        old = version_of(9, first.minor - 1, draw(0, 9));
        struct scene *s = host_with(old, &host);
        struct want w = {host, WC_demand_kind_SYMBOLS, .spec = print(s, ">=%s", text_of(s, first)),
                         .newest = {name}, .functions = draw(1, 90)};
        add_demand(s, &w);
        assert_finds(s, "missing-symbols");
        assert_true(s->found.p[0].predicted);
        assert_non_null(strstr(s->found.p[0].title, name));
        assert_true(has_fact(&s->found.p[0], name, text_of(s, first)));
        add_binding(s, host, NOBODY, WC_binding_how_UNDEFINED, &name, 1);
        assert_finds(s, "missing-symbols");
        assert_false(s->found.p[0].predicted);
        s = host_with(first, &host);
        w.host = host;
        w.spec = print(s, ">=%s", text_of(s, first));
        add_demand(s, &w);
        assert_finds(s, "");
    }
}

static void of_two_libraries_of_one_host_the_first_tells_what_is_missing(void **state) {
    (void)state;
    struct wc_version first, old;
    const char *name = function_since(9, &first);
    int64_t host;
    old = version_of(9, first.minor - 1, 0);
    struct scene *s = host_with(old, &host);
    int64_t second = add_facade(s, "/opt/second", old, host);
    add_part(s, "/opt/second", "graph", old, second);
    add_binding(s, host, NOBODY, WC_binding_how_UNDEFINED, &name, 1);
    diagnose(s);
    size_t n = 0;
    for (size_t i = 0; i < s->found.n; i++)
        n += strcmp(s->found.p[i].id, "missing-symbols") == 0;
    assert_int_equal(n, 1);
}

static void a_lazy_slot_foretells_what_a_bound_one_denies(void **state) {
    (void)state;
    struct wc_version first;
    const char *name = function_since(9, &first);
    int64_t host;
    struct scene *s = host_with(version_of(9, first.minor - 1, 0), &host);
    add_binding(s, host, NOBODY, WC_binding_how_LAZY, &name, 1);
    assert_finds(s, "missing-symbols");
    assert_true(s->found.p[0].predicted);
    /* A release that has it, and a file that has not. */
    s = host_with(first, &host);
    add_binding(s, host, NOBODY, WC_binding_how_LAZY, &name, 1);
    assert_finds(s, "");
    add_binding(s, host, NOBODY, WC_binding_how_UNDEFINED, &name, 1);
    assert_finds(s, "missing-symbols");
    s = host_with(version_of(9, first.minor - 1, 0), &host);
    add_binding(s, host, 2, WC_binding_how_SLOT, &name, 1);
    struct want w = {host, WC_demand_kind_SYMBOLS, .spec = print(s, ">=%s", text_of(s, first)),
                     .newest = {name}};
    add_demand(s, &w);
    assert_finds(s, ""); /* it has it: the table or the version is wrong, not the host */
    s = host_with(version_of(9, first.minor - 1, 0), &host);
    add_binding(s, host, 2, WC_binding_how_SLOT, (const char *const[]){"cudnnCreate"}, 1);
    add_demand(s, &w);
    assert_finds(s, "missing-symbols");
    s->stack.bindings.p[0].r.function_count = 9; /* it may be one of those that are not named */
    assert_finds(s, "");
}

/* A host that was bound to one that is gone, and to another that is there. */
static void the_cudnn_that_is_there_counts(void **state) {
    static const char *const names[] = {"cudnnCreate"};
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/libhost.so");
        struct want w = {host, WC_demand_kind_BUILT, .built = "9.5.0", .rule = "torch"};
        add_demand(s, &w);
        struct file old = {.role = WC_role_FACADE,
                           .path = "/old/libcudnn.so.9",
                           .version = version_of(9, 1, 0),
                           .source = WC_version_source_FILE_NAME,
                           .asked_by = host,
                           .how = WC_operation_NEEDED,
                           .unmapped = gone};
        int64_t before = add_file(s, &old);
        int64_t now = add_facade(s, "/new", version_of(9, 6, 0), host);
        add_binding(s, host, before, WC_binding_how_SLOT, names, 1);
        add_binding(s, host, now, WC_binding_how_SLOT, names, 1);
        diagnose(s);
        bool too_old = false;
        for (size_t i = 0; i < s->found.n; i++)
            too_old = too_old || strcmp(s->found.p[i].id, "runtime-too-old") == 0;
        assert_int_equal(too_old, !gone);
    }
}

static void an_older_release_explains_missing_functions(void **state) {
    (void)state;
    struct wc_version first;
    const char *name = function_since(9, &first);
    int64_t host;
    struct scene *s = host_with(version_of(9, first.minor - 1, 0), &host);
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, first), .rule = "torch"};
    add_demand(s, &w);
    add_binding(s, host, NOBODY, WC_binding_how_UNDEFINED, &name, 1);
    assert_finds(s, "runtime-too-old missing-symbols");
    assert_string_equal(s->found.p[1].explained_by, "runtime-too-old");
    w = (struct want){host, WC_demand_kind_SYMBOLS, .spec = print(s, ">=%s", text_of(s, first)),
                      .newest = {name}};
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old missing-symbols");
    assert_true(
        has_fact(&s->found.p[0], "wanted",
                 print(s, "imports functions that came with %s: %s", text_of(s, first), name)));
}

static void a_function_removed_since_is_missing(void **state) {
    (void)state;
    int removed = 0;
    for (int f = 0; f < wc_function_count(); f++) {
        const char *name = wc_function_name(f);
        int64_t host;
        if (wc_function_last(f).major != 8)
            continue;
        struct scene *s = host_with(draw_release(9), &host);
        add_binding(s, host, NOBODY, WC_binding_how_UNDEFINED, &name, 1);
        assert_finds(s, "missing-symbols");
        assert_true(has_fact(&s->found.p[0], name, "last in 8."));
        assert_advised(s, &s->found.p[0], "install", "with all functions that");
        /* The last patch of the last minor that had it still has it. */
        struct wc_version last = wc_function_last(f);
        s = host_with(version_of(8, last.minor, last.patch < 0 ? 7 : last.patch), &host);
        add_binding(s, host, NOBODY, WC_binding_how_LAZY, &name, 1);
        assert_finds(s, "");
        removed++;
    }
    assert_true(removed > 0);
}

/* ---- which library is a host's ---- */

static void each_host_is_judged_by_its_own_library(void **state) {
    (void)state;
    static const char *const create[] = {"cudnnCreate"};
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), old = other_minor(v, -1);
    int64_t one = add_host(s, "/opt/one/libone.so"), two = add_host(s, "/opt/two/libtwo.so");
    int64_t new_one = add_facade(s, "/opt/new", v, one);
    int64_t old_one = add_facade(s, "/opt/old", old, two);
    struct want w = {one, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    w.host = two;
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old two-copies-loaded");
    assert_int_equal(s->found.p[0].host, two);
    assert_int_equal(s->found.p[0].object, old_one);
    /* What the slots print beats who asked. */
    add_binding(s, one, old_one, WC_binding_how_SLOT, create, 1);
    add_binding(s, two, new_one, WC_binding_how_DLSYM, create, 1);
    assert_finds(s, "runtime-too-old two-copies-loaded");
    assert_int_equal(s->found.p[0].host, one);
}

/* One host may use two libraries, and one library in two ways. */
static void a_host_of_two_libraries(void **state) {
    (void)state;
    static const char *const create[] = {"cudnnCreate"};
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), old = other_minor(v, -1);
    int64_t host = add_host(s, "/opt/one/libone.so");
    int64_t first = add_facade(s, "/opt/old", old, NOBODY);
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    add_binding(s, host, first, WC_binding_how_SLOT, create, 1);
    add_binding(s, host, first, WC_binding_how_DLSYM, create, 1);
    assert_finds(s, "runtime-too-old");
    int64_t second = add_facade(s, "/opt/new", v, NOBODY);
    add_binding(s, host, second, WC_binding_how_DLSYM, create, 1);
    assert_finds(s, "runtime-too-old two-copies-loaded");
    assert_int_equal(s->found.p[0].object, first);
}

/* Only what is the same in every respect is told once. */
static void two_hosts_of_one_package(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9), old = other_minor(v, -1);
        int64_t one = add_host(s, "/opt/p/libone.so"), two = add_host(s, "/opt/p/libtwo.so");
        struct want w = {one, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch",
                         .source = kind == 3 ? NULL : "METADATA of p 1.0"};
        add_facade(s, "/opt/a", old, one);
        if (kind == 1)
            add_facade(s, "/opt/b", old, two);
        add_demand(s, &w);
        w.host = two;
        if (kind == 2)
            w.built = print(s, "%s", text_of(s, version_of(9, v.minor, v.patch + 1)));
        add_demand(s, &w);
        assert_finds(s, kind == 0   ? "runtime-too-old"
                        : kind == 1 ? "runtime-too-old runtime-too-old two-copies-loaded"
                                    : "runtime-too-old runtime-too-old");
        assert_int_equal(has_fact(&s->found.p[0], "also wanted by", "libtwo.so"), kind == 0);
    }
}

static void stubs_of_a_framework_are_seen_through(void **state) {
    (void)state;
    static const char *const create[] = {"cudnnCreate"};
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), old = other_minor(v, -1);
    int64_t user = add_host(s, "/tf/libtensorflow_cc.so.2");
    int64_t stub = add_host(s, "/tf/libtensorflow_framework.so.2");
    int64_t other = add_host(s, "/opt/other/libother.so");
    add_facade(s, "/opt/new", v, other);
    int64_t facade = add_facade(s, "/opt/old", old, stub);
    add_binding(s, user, stub, WC_binding_how_SLOT, create, 1);
    add_binding(s, stub, stub, WC_binding_how_ITSELF, create, 1);
    struct want w = {user, WC_demand_kind_BUILT, .built = text_of(s, v),
                     .rule = rule_of("tensorflow", "2.15.0")};
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old two-copies-loaded");
    assert_int_equal(s->found.p[0].object, facade);
    add_binding(s, stub, facade, WC_binding_how_DLSYM, create, 1);
    assert_finds(s, "runtime-too-old two-copies-loaded");
    assert_int_equal(s->found.p[0].object, facade);
}

static void cudnn_inside_a_host_is_its_own(void **state) {
    (void)state;
    static const char *const create[] = {"cudnnCreate"};
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/static/libtorch.so");
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    add_facade(s, "/opt/cudnn", other_minor(v, -1), NOBODY);
    assert_finds(s, "runtime-too-old"); /* the only facade there is */
    add_binding(s, host, host, WC_binding_how_ITSELF, create, 1);
    assert_finds(s, "");
}

/* What somebody else got is none of its business. */
static void a_host_that_found_none_has_none(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    add_failure(s, host, NULL, "libsomething.so", NULL);
    add_facade(s, "/opt/cudnn", other_minor(v, -1), NOBODY);
    assert_finds(s, "runtime-too-old");
    add_failure(s, add_host(s, "/opt/b/libother.so"), NULL, "libcudnn.so.9", NULL);
    assert_finds(s, "library-not-found runtime-too-old");
    add_failure(s, host, NULL, "libcudnn.so.9", NULL);
    assert_finds(s, "library-not-found library-not-found");
}

/* Whoever only stands by is no host, whatever is printed of it; a stub layer is one. */
static void only_hosts_are_judged(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct scene *s = new_scene();
        struct wc_version v = draw_release(9);
        struct file f = {.role = kind == 0 ? WC_role_CUDA_DEPENDENCY : WC_role_OTHER,
                         .path = "/opt/app/libcublas.so.12",
                         .part = "cublas",
                         .is_host = kind == 2,
                         .asked_by = NOBODY};
        int64_t object = add_file(s, &f);
        add_facade(s, "/opt/cudnn", other_minor(v, -1), object);
        struct want w = {object, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
        add_demand(s, &w);
        assert_finds(s, kind == 2 ? "runtime-too-old" : "");
    }
}

static void dt_needed_finds_the_facade_among_two(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(8), old = other_minor(v, -1);
    struct file host = {.role = WC_role_HOST,
                        .path = "/opt/app/libhost.so",
                        .needed = "libcudnn.so.8",
                        .asked_by = NOBODY};
    int64_t number = add_file(s, &host);
    add_facade(s, "/opt/nine", draw_release(9), NOBODY);
    int64_t facade = add_facade(s, "/opt/eight", old, NOBODY);
    struct want w = {number, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old two-copies-loaded");
    assert_int_equal(s->found.p[0].object, facade);
}

/* ---- expectation ---- */

static void assert_expected(const char *spec, const char *built, struct wc_version got,
                            const char *ids) {
    int64_t host;
    struct scene *s = host_with(got, &host);
    struct want w = {NOBODY, WC_demand_kind_EXPECTATION, .spec = spec, .built = built,
                     .source = "WHICHCUDNN_EXPECT"};
    add_demand(s, &w);
    assert_finds(s, ids);
}

static void an_expectation_is_a_prefix_a_range_or_a_number(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct wc_version v = draw_release(9);
        char prefix[32], range[64], built[64];
        snprintf(prefix, sizeof prefix, "9.%d", v.minor);
        snprintf(range, sizeof range, ">=9.%d,<10", v.minor);
        wc_version_format(v, built);
        assert_expected(prefix, NULL, v, "");
        assert_expected(prefix, NULL, other_minor(v, 1), "expectation-not-met");
        assert_expected(range, NULL, other_minor(v, 1), "");
        assert_expected(range, NULL, other_minor(v, -1), "expectation-not-met");
        assert_expected(range, NULL, draw_release(8), "expectation-not-met");
        assert_expected(NULL, built, v, "");
        assert_expected(NULL, built, other_minor(v, 1), "");
        assert_expected(NULL, built, other_minor(v, -1), "expectation-not-met");
        assert_true(has_fact(&the_scene.found.p[0], "check", "a higher one from 7 on"));
        assert_expected(NULL, built, draw_release(8), "expectation-not-met");
    }
    struct scene *s = new_scene();
    struct want w = {NOBODY, WC_demand_kind_EXPECTATION, .spec = "9.1"};
    add_demand(s, &w);
    assert_finds(s, ""); /* nothing to compare with */
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_NOT_OBSERVED);
}

/* Nothing was promised before cuDNN 7: what frameworks asked for then decides. */
static void an_expected_number_is_judged_as_in_its_time(void **state) {
    static const struct {
        const char *built, *got, *ids;
    } row[] = {
        {"5.1.3", "5.0.5", "expectation-not-met"}, /* older than expected */
        {"5.1.3", "5.1.10", ""},
        {"5.1.3", "5.1.2", ""}, /* patches of one minor were taken by all */
        {"5.0.5", "5.1.3", "expectation-not-met"},
        {"5.1.3", "4.0.7", "expectation-not-met"},
        {"6.0.21", "7.0.5", "expectation-not-met"},
        {"7.4.1", "7.3.1", "expectation-not-met"},
        {"7.4.1", "7.6.5", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_expected(NULL, row[i].built, wc_version_of(row[i].got), row[i].ids);
}

/* What was compiled with the header beside the library was built with another number. */
static void the_header_beside_the_library_is_a_fact(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_record r = begin(WC_KIND_object);
    r.u.object.object = 1;
    r.u.object.role = WC_role_FACADE;
    r.u.object.mapped = true;
    r.u.object.path = "/usr/lib64/libcudnn.so.5";
    r.u.object.version = "5.0.5";
    r.u.object.header_version = "6.0.21";
    apply(s, &r);
    assert_finds(s, "");
    struct want w = {NOBODY, WC_demand_kind_EXPECTATION, .built = "6.0.21"};
    add_demand(s, &w);
    assert_finds(s, "expectation-not-met");
    assert_true(has_fact(&s->found.p[0], "header beside it", "6.0.21"));
    /* Without it the end stays unexplained, and this is known. */
    s = new_scene();
    apply(s, &r);
    struct wc_outside outside = {.end = WC_END_FAILED};
    struct wc_conclusion conclusion;
    diagnose(s);
    wc_conclude(&s->stack, &s->found, &outside, &s->printed.arena, &conclusion);
    assert_int_equal(conclusion.verdict, WC_verdict_UNEXPLAINED);
    bool known = false;
    for (size_t i = 0; i < conclusion.known.n; i++)
        known =
            known || strstr(conclusion.known.p[i], "/usr/lib64/libcudnn.so.5 is of cuDNN 6.0.21");
    assert_true(known);
}

static void an_expectation_that_is_no_version_is_told(void **state) {
    static const char *const texts[] = {"foo", "@constraints", "9.x", ">=", "9.1,", "v9.1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_expected(texts[i], NULL, draw_release(9), "expectation-not-met");
        assert_int_equal(the_scene.found.p[0].severity, WC_severity_WARNING);
        assert_true(has_fact(&the_scene.found.p[0], "expected", texts[i]));
    }
}

/* ---- what is known of the host ---- */

static bool limits_say(struct scene *s, enum wc_limit limit) {
    struct wc_outside outside = {.end = WC_END_WELL};
    struct wc_conclusion conclusion;
    diagnose(s);
    wc_conclude(&s->stack, &s->found, &outside, NULL, &conclusion);
    return conclusion.limits & 1u << limit;
}

/* A number without a minor says what the name says that a host asks for. */
static void a_major_alone_is_no_knowledge_of_the_host(void **state) {
    static const struct {
        const char *built, *expected;
        bool known;
    } row[] = {
        {"9", NULL, false},  {"9.3", NULL, true}, {"9", "9.1", true},
        {"9", "foo", false}, {NULL, NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int64_t host;
        struct scene *s = host_with(version_of(9, 3, 1), &host);
        struct want w = {host, WC_demand_kind_BUILT, .built = row[i].built, .rule = "xla"};
        struct want e = {NOBODY, WC_demand_kind_EXPECTATION, .spec = row[i].expected};
        if (row[i].built)
            add_demand(s, &w);
        if (row[i].expected)
            add_demand(s, &e);
        assert_int_equal(limits_say(s, WC_limit_HOST_UNKNOWN), !row[i].known);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_of_same_or_higher_minor),
        cmocka_unit_test(an_exact_rule_refuses_what_is_newer),
        cmocka_unit_test(a_check_that_only_warns),
        cmocka_unit_test(old_tensorflow_compares_its_compatibility_numbers),
        cmocka_unit_test(a_range_is_judged_by_itself),
        cmocka_unit_test(a_pin_is_judged_by_the_rule),
        cmocka_unit_test(a_facade_is_used_rather_than_a_part),
        cmocka_unit_test(only_the_major_of_a_node_counts),
        cmocka_unit_test(another_major_counts_before_an_older_minor),
        cmocka_unit_test(a_bare_soname_tells_the_major),
        cmocka_unit_test(a_single_release_that_was_not_met_counts_where_a_process_gave_up),
        cmocka_unit_test(an_older_file_than_the_header_counts_where_a_process_gave_up),
        cmocka_unit_test(bounds_decide_only_where_both_ends_agree),
        cmocka_unit_test(a_part_has_the_runtime_number_of_eight_and_nine),
        cmocka_unit_test(it_is_predicted_before_that_part_is_loaded),
        cmocka_unit_test(what_was_returned_beats_what_was_read),
        cmocka_unit_test(a_returned_number_is_not_the_facades_own),
        cmocka_unit_test(a_claim_that_the_file_contradicts_does_not_count),
        cmocka_unit_test(functions_that_the_release_does_not_have),
        cmocka_unit_test(of_two_libraries_of_one_host_the_first_tells_what_is_missing),
        cmocka_unit_test(a_lazy_slot_foretells_what_a_bound_one_denies),
        cmocka_unit_test(the_cudnn_that_is_there_counts),
        cmocka_unit_test(an_older_release_explains_missing_functions),
        cmocka_unit_test(a_function_removed_since_is_missing),
        cmocka_unit_test(each_host_is_judged_by_its_own_library),
        cmocka_unit_test(a_host_of_two_libraries),
        cmocka_unit_test(two_hosts_of_one_package),
        cmocka_unit_test(stubs_of_a_framework_are_seen_through),
        cmocka_unit_test(cudnn_inside_a_host_is_its_own),
        cmocka_unit_test(a_host_that_found_none_has_none),
        cmocka_unit_test(only_hosts_are_judged),
        cmocka_unit_test(dt_needed_finds_the_facade_among_two),
        cmocka_unit_test(an_expectation_is_a_prefix_a_range_or_a_number),
        cmocka_unit_test(an_expected_number_is_judged_as_in_its_time),
        cmocka_unit_test(the_header_beside_the_library_is_a_fact),
        cmocka_unit_test(an_expectation_that_is_no_version_is_told),
        cmocka_unit_test(a_major_alone_is_no_knowledge_of_the_host),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
