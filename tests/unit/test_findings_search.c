/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the replays of the loader's search add: already-loaded-by-soname, shadowed-copy,
 * search-path-suspect, where a library was not found, and which fix comes first.
 */
#include "support_stack.h"

static const char wheel[] = "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9";

static int64_t add_pinned_host(struct scene *s, struct wc_version v) {
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = print(s, "==%s", text_of(s, v)),
                     .package = "nvidia-cudnn-cu12", .source = "METADATA of host 1.0"};
    add_demand(s, &w);
    return host;
}

/* A facade found in /opt/first by LD_LIBRARY_PATH, with another one behind it. */
static void add_shadowing(struct scene *s, int64_t host, struct wc_version v,
                          struct wc_version behind, enum wc_search_rule rule) {
    int64_t facade = add_facade(s, "/opt/first", v, host);
    struct sought f = {.name = "libcudnn.so.9",
                       .by = host,
                       .object = facade,
                       .rule = rule,
                       .element = "/opt/first",
                       .takes = "/opt/first/libcudnn.so.9"};
    struct beside b = {.path = wheel, .rule = WC_search_rule_RUNPATH, .version = behind};
    add_part(s, "/opt/first", "graph", v, facade);
    add_beside(s, add_search(s, &f), &b);
}

/* ---- runtime-too-old: the fix ---- */

static void the_way_to_the_right_copy_comes_before_an_installation(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version wanted = draw_release(9);
    add_variable(s, "LD_LIBRARY_PATH=/opt/first:/opt/other");
    add_shadowing(s, add_pinned_host(s, wanted), other_minor(wanted, -1), wanted,
                  WC_search_rule_LIBRARY_PATH);
    assert_finds(s, "runtime-too-old");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_advised(
        s, r, "set-variable",
        print(s, "remove /opt/first from LD_LIBRARY_PATH: then the loader finds %s", wheel));
    assert_true(has_fact(r, "found by", "LD_LIBRARY_PATH, /opt/first"));
    assert_true(has_fact(r, "behind it", wheel));
}

static void a_copy_behind_that_is_no_better_is_no_way(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version wanted = draw_release(9), old = other_minor(wanted, -1);
    add_variable(s, "LD_LIBRARY_PATH=/opt/first:/opt/other");
    add_shadowing(s, add_pinned_host(s, wanted), old, old, WC_search_rule_LIBRARY_PATH);
    assert_finds(s, "runtime-too-old");
    assert_advised(s, &s->found.p[0], "install", text_of(s, wanted));
}

/* ---- the same for what is expected, and for parts ---- */

static void what_is_expected_may_stand_behind(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version wanted = draw_release(9);
    struct want w = {WC_NULL, WC_demand_kind_EXPECTATION,
                     .spec = print(s, "==%s", text_of(s, wanted))};
    add_variable(s, "LD_LIBRARY_PATH=/opt/first");
    add_demand(s, &w);
    add_shadowing(s, add_host(s, "/opt/app/libhost.so"), other_minor(wanted, -1), wanted,
                  WC_search_rule_LIBRARY_PATH);
    assert_finds(s, "expectation-not-met shadowed-copy");
    assert_advised(s, &s->found.p[0], "set-variable", "remove /opt/first from LD_LIBRARY_PATH");
}

/* A graph part of another release in /opt/first; behind it, one in the directory `behind`. */
static struct scene *foreign_part(const char *behind) {
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/own", v, add_host(s, "/opt/app/libhost.so"));
    int64_t graph = add_part(s, "/opt/first", "graph", other_minor(v, 1), facade);
    struct sought f = {.name = "libcudnn_graph.so.9",
                       .by = facade,
                       .object = graph,
                       .rule = WC_search_rule_LIBRARY_PATH,
                       .element = "/opt/first",
                       .takes = "/opt/first/libcudnn_graph.so.9"};
    struct beside b = {.path = behind, .rule = WC_search_rule_RUNPATH, .version = v};
    int64_t search = add_search(s, &f);
    add_variable(s, "LD_LIBRARY_PATH=/opt/first");
    if (behind)
        add_beside(s, search, &b);
    return s;
}

static void a_foreign_part_is_taken_out_of_the_way_of_the_own_one(void **state) {
    (void)state;
    struct scene *s = foreign_part("/opt/own/libcudnn_graph.so.9");
    assert_finds(s, "facade-and-parts-differ part-from-other-installation");
    assert_advised(s, &s->found.p[0], "reinstall", "into /opt/own, and make sure that no other");
}

static void a_part_that_the_host_needs_itself_is_told_so(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct file f = {.role = WC_role_PART,
                     .path = "/opt/first/libcudnn_graph.so.9",
                     .part = "graph",
                     .version = other_minor(v, -1),
                     .source = WC_version_source_DATA_SYMBOL,
                     .asked_by = host,
                     .how = WC_operation_NEEDED};
    add_file(s, &f);
    int64_t facade = add_facade(s, "/opt/own", v, host);
    add_part(s, "/opt/own", "ops", WC_VERSION_NONE, facade);
    assert_finds(s, "facade-and-parts-differ part-from-other-installation");
    assert_true(
        has_fact(&s->found.p[0], "asked by", "/opt/app/libhost.so needs libcudnn_graph.so.9"));
    assert_false(has_fact(&s->found.p[0], "asked by", "libcudnn_ops"));
}

/* ---- shadowed-copy ---- */

static void a_copy_of_another_release_that_is_passed_by_is_noted(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    add_variable(s, "LD_LIBRARY_PATH=/opt/first");
    add_shadowing(s, add_host(s, "/opt/app/libhost.so"), v, other_minor(v, 1),
                  WC_search_rule_LIBRARY_PATH);
    assert_finds(s, "shadowed-copy");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    assert_advised(s, &s->found.p[0], "set-variable", "/opt/first");
}

static void one_release_in_two_places_is_not(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    add_variable(s, "LD_LIBRARY_PATH=/opt/first");
    add_shadowing(s, add_host(s, "/opt/app/libhost.so"), v, v, WC_search_rule_LIBRARY_PATH);
    assert_finds(s, "");
}

static void nor_is_what_a_library_names_itself(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    add_shadowing(s, add_host(s, "/opt/app/libhost.so"), v, other_minor(v, 1),
                  WC_search_rule_RPATH);
    assert_finds(s, "");
}

/* A facade of the host's own search path, with another one behind it. */
static struct scene *search_path_of_host(struct wc_version v, const struct beside *b) {
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    int64_t facade = add_facade(s, "/opt/my first", v, host);
    struct sought f = {.name = "libcudnn.so.9",
                       .by = host,
                       .object = facade,
                       .rule = WC_search_rule_RPATH,
                       .element = "/opt/my first",
                       .of = "/opt/app/libhost.so",
                       .takes = "/opt/my first/libcudnn.so.9"};
    add_part(s, "/opt/my first", "graph", v, facade);
    add_beside(s, add_search(s, &f), b);
    return s;
}

static void a_package_behind_in_the_hosts_own_search_path_is_noted(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    struct beside b = {.path = wheel,
                       .rule = WC_search_rule_RPATH,
                       .of = "/opt/app/libhost.so",
                       .kind = WC_installation_kind_WHEEL,
                       .installation = "nvidia-cudnn-cu12",
                       .version = other_minor(v, 1)};
    struct scene *s = search_path_of_host(v, &b);
    assert_finds(s, "shadowed-copy");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->severity, WC_severity_NOTE);
    assert_non_null(strstr(r->title, "DT_RPATH of libhost.so"));
    assert_true(has_fact(r, "mind", "an upgrade of nvidia-cudnn-cu12 changes nothing"));
    assert_advised(s, r, "remove",
                   "nothing if this copy is intended; otherwise remove the cuDNN in /opt/my first");
    /* Not where the host would not take the other one. */
    struct want w = {1, WC_demand_kind_REQUIRED, .spec = print(s, "==%s", text_of(s, v)),
                     .source = "METADATA of host 1.0"};
    b.version = other_minor(v, -1);
    s = search_path_of_host(v, &b);
    w.spec = print(s, "==%s", text_of(s, v));
    add_demand(s, &w);
    assert_finds(s, "shadowed-copy");
    assert_advised(s, &s->found.p[0], "install", "nothing if this copy is intended");
}

static void nobody_expects_what_lies_elsewhere_or_is_no_package(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    const struct beside package = {.path = wheel,
                                   .rule = WC_search_rule_RPATH,
                                   .of = "/opt/app/libhost.so",
                                   .kind = WC_installation_kind_WHEEL,
                                   .installation = "nvidia-cudnn-cu12",
                                   .version = other_minor(v, 1)};
    struct beside b[4] = {package, package, package, package};
    b[0].version = v;
    b[1].of = NULL;
    b[1].rule = WC_search_rule_CACHE;
    b[2].of = "/opt/app/other";
    b[3].kind = WC_installation_kind_CUDA_TOOLKIT;
    for (size_t i = 0; i < 4; i++)
        assert_finds(search_path_of_host(v, &b[i]), "");
}

/* A facade of the loader cache, in no package unless `installation`, with another one behind. */
static struct scene *left_in_cache(struct wc_version v, const char *installation,
                                   const struct beside *b, int64_t status) {
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/host");
    struct file facade = {.role = WC_role_FACADE,
                          .path = "/usr/local/lib/libcudnn.so.9",
                          .soname = "libcudnn.so.9",
                          .version = v,
                          .source = WC_version_source_CODE,
                          .asked_by = host,
                          .asked_name = "libcudnn.so.9",
                          .installation = installation};
    struct sought f = {
        .name = "libcudnn.so.9", .by = host, .rule = WC_search_rule_CACHE, .takes = facade.path};
    f.object = add_file(s, &facade);
    add_part(s, "/usr/local/lib", "graph", v, f.object);
    add_beside(s, add_search(s, &f), b);
    if (status != WC_NULL)
        add_outcome(s, status, NULL);
    return s;
}

static void
an_older_one_left_by_hand_before_the_systems_is_told_when_the_program_fails(void **state) {
    (void)state;
    const struct wc_version v = version_of(9, 5, 1), newer = version_of(9, 13, 0);
    const struct beside package = {.path = "/usr/lib/x86_64-linux-gnu/libcudnn.so.9",
                                   .rule = WC_search_rule_DEFAULT,
                                   .version = newer,
                                   .kind = WC_installation_kind_DEBIAN,
                                   .installation = "libcudnn9-cuda-12"};
    struct beside other = package;
    struct scene *s = left_in_cache(v, NULL, &package, 1);
    assert_finds(s, "shadowed-copy");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    assert_non_null(strstr(s->found.p[0].title, "9.5.1 in /usr/local/lib, of no package"));
    assert_non_null(strstr(s->found.p[0].title, "9.13.0 of libcudnn9-cuda-12"));
    assert_advised(s, &s->found.p[0], "remove", "remove the cuDNN in /usr/local/lib");
    other.kind = WC_installation_kind_RPM;
    other.rule = WC_search_rule_CACHE;
    assert_finds(left_in_cache(v, NULL, &other, 134), "shadowed-copy");

    /* It ended well; nobody knows how; the newer one is in front; they are the same. */
    assert_finds(left_in_cache(v, NULL, &package, 0), "");
    assert_finds(left_in_cache(v, NULL, &package, WC_NULL), "");
    assert_finds(left_in_cache(version_of(9, 14, 0), NULL, &package, 1), "");
    assert_finds(left_in_cache(newer, NULL, &package, 1), "");
    /* An error says why. */
    const struct want w = {WC_NULL, WC_demand_kind_EXPECTATION, .spec = "==9.13.0"};
    s = left_in_cache(v, NULL, &package, 1);
    add_demand(s, &w);
    assert_finds(s, "expectation-not-met");
    /* Both are of packages; neither is. */
    assert_finds(left_in_cache(v, "cudnn9-local", &package, 1), "");
    other = package;
    other.kind = WC_installation_kind_DIRECTORY;
    other.installation = NULL;
    assert_finds(left_in_cache(v, NULL, &other, 1), "");
    other = package;
    other.kind = WC_installation_kind_WHEEL;
    assert_finds(left_in_cache(v, NULL, &other, 1), "");
}

/* LD_LIBRARY_PATH should have replaced it, and comes behind DT_RPATH. */
static void an_older_one_before_the_variable_is_told_when_the_program_fails(void **state) {
    (void)state;
    for (int status = -1; status < 2; status++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/opt/app/host");
        struct sought f = {.name = "libcudnn.so.9",
                           .by = host,
                           .rule = WC_search_rule_RPATH,
                           .of = "/opt/app/host",
                           .takes = "/opt/app/lib/libcudnn.so.9"};
        struct beside b = {.path = "/opt/new/libcudnn.so.9",
                           .rule = WC_search_rule_LIBRARY_PATH,
                           .version = version_of(9, 13, 0)};
        f.object = add_facade(s, "/opt/app/lib", version_of(9, 5, 1), host);
        add_beside(s, add_search(s, &f), &b);
        if (status >= 0)
            add_outcome(s, status, NULL);
        assert_finds(s, status == 1 ? "shadowed-copy" : "");
        if (status != 1)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
        /* That a call failed is what an older one does. */
        add_call(s, "cudnnCreate", host, f.object, 3, WC_NULL);
        diagnose(s);
        assert_non_null(finding(s, "shadowed-copy"));
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
        s->stack.calls.n = 0;
        s->stack.candidates.p[0].r.rule = WC_search_rule_CACHE; /* a toolkit that is just there */
        assert_finds(s, "");
    }
}

/* ---- already-loaded-by-soname ---- */

/* `by` finds the facade that is loaded; by itself it would find `own`. */
static void add_found(struct scene *s, int64_t by, int64_t facade, struct wc_version own) {
    struct sought f = {.name = "libcudnn.so.9",
                       .by = by,
                       .object = facade,
                       .rule = WC_search_rule_LOADED,
                       .takes = wheel};
    struct beside b = {
        .path = wheel, .rule = WC_search_rule_RUNPATH, .passed_over = true, .version = own};
    add_beside(s, add_search(s, &f), &b);
}

/* The second host finds what the first has loaded. */
static int64_t add_second(struct scene *s, struct wc_version loaded, struct wc_version own) {
    int64_t first = add_host(s, "/opt/one/libone.so");
    int64_t facade = add_facade(s, "/opt/one", loaded, first);
    int64_t second = add_host(s, "/opt/two/libtwo.so");
    add_part(s, "/opt/one", "graph", loaded, facade);
    add_found(s, second, facade, own);
    return second;
}

static void a_library_that_another_host_loaded_is_told(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t second = add_second(s, v, other_minor(v, 1));
    assert_finds(s, "already-loaded-by-soname");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->severity, WC_severity_WARNING);
    assert_int_equal(r->host, second);
    assert_true(has_fact(r, "its own search finds", wheel));
    assert_advised(s, r, "load-order", "load libtwo.so first");
    /* The host looked at the version, and the process failed. */
    add_outcome(s, 1, NULL);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_call(s, "cudnnGetVersion", second, s->found.p[0].object, WC_NULL, 90100);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    add_call(s, "cudnnCreate", second, s->found.p[0].object, 0, WC_NULL);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
}

static void of_one_release_it_is_a_note(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    add_second(s, v, v);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
}

/* By its path (onnxruntime.preload_dlls), and then by its name. */
static void what_the_host_itself_had_loaded_is_a_note(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/one/libone.so");
    int64_t facade = add_facade(s, "/opt/one", v, host);
    add_part(s, "/opt/one", "graph", v, facade);
    add_found(s, host, facade, other_minor(v, 1));
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
}

/* The more demanding of two hosts came first: the other one got more than it asked for. */
static void what_serves_the_host_is_a_note(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version own = draw_release(9);
    add_second(s, other_minor(own, 1), own);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    /* Before 7 nobody promised that. */
    s = new_scene();
    own = draw_release(6);
    add_second(s, other_minor(own, 1), own);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    /* An older one may serve, too: its package says so. */
    s = new_scene();
    own = draw_release(9);
    struct want w = {add_second(s, other_minor(own, -1), own), WC_demand_kind_REQUIRED,
                     .spec = ">=9,<10", .source = "METADATA of two 1.0"};
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_demand(s, &w);
    assert_finds(s, "already-loaded-by-soname");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
}

static void a_host_that_refuses_it_is_told_first_with_the_order_of_loading(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), wanted = other_minor(v, 1);
    struct want w = {add_second(s, v, wanted), WC_demand_kind_REQUIRED,
                     .spec = print(s, "==%s", text_of(s, wanted)), .source = "METADATA of two 1.0"};
    add_demand(s, &w);
    assert_finds(s, "runtime-too-old already-loaded-by-soname");
    assert_int_equal(s->found.p[1].severity, WC_severity_WARNING);
    assert_advised(s, &s->found.p[0], "load-order", "load libtwo.so first");
    assert_true(has_fact(&s->found.p[0], "its own search finds", wheel));
}

/* ---- library-not-found ---- */

static void where_the_loader_looked_is_told_and_where_a_copy_is(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_variable(s, "LD_LIBRARY_PATH=/opt/none");
    ++s->requests;
    add_search(s, &(struct sought){.name = "libother.so",
                                   .by = host,
                                   .object = NOBODY,
                                   .searched = {"path /opt/other/ (not there)"}});
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    struct sought f = {
        .name = "libcudnn.so.9",
        .by = host,
        .object = NOBODY,
        .searched = {"LD_LIBRARY_PATH /opt/none/ (not there)", "default directory /lib/"}};
    int64_t search = add_search(s, &f);
    assert_finds(s, "library-not-found search-path-suspect");
    assert_true(has_fact(&s->found.p[0], "searched", "LD_LIBRARY_PATH /opt/none/ (not there)"));
    assert_false(has_fact(&s->found.p[0], "searched", "path /opt/other/ (not there)"));
    assert_advised(s, &s->found.p[0], "install",
                   "contains libcudnn.so.9 where the host looks for it");
    assert_true(has_fact(&s->found.p[1], "no such directory", "/opt/none"));
    struct beside b = {.path = wheel,
                       .rule = WC_search_rule_NOT_SEARCHED,
                       .passed_over = true,
                       .version = draw_release(9)};
    add_beside(s, search, &b);
    assert_finds(s, "library-not-found search-path-suspect");
    assert_true(has_fact(&s->found.p[0], "a copy is in", wheel));
    assert_advised(s, &s->found.p[0], "set-variable",
                   "add /venv/lib/python3.12/site-packages/nvidia/cudnn/lib to LD_LIBRARY_PATH: a "
                   "copy is there");
}

static void a_copy_that_the_host_would_refuse_is_no_way(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version wanted = draw_release(9);
    int64_t host = add_pinned_host(s, wanted);
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    struct sought f = {.name = "libcudnn.so.9", .by = host, .object = NOBODY};
    struct beside b = {.path = wheel,
                       .rule = WC_search_rule_NOT_SEARCHED,
                       .passed_over = true,
                       .version = other_minor(wanted, -1)};
    add_beside(s, add_search(s, &f), &b);
    assert_finds(s, "library-not-found");
    assert_advised(s, &s->found.p[0], "install", text_of(s, wanted));
    assert_true(has_fact(&s->found.p[0], "a copy is in", wheel));
}

/* A program that ended in the loader, as its files emit it. */
static void what_a_host_needs_is_not_asked_for(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct wc_record r = begin(WC_KIND_failure);
    r.u.failure.request = ++s->requests;
    r.u.failure.operation = WC_operation_NEEDED;
    r.u.failure.name = "libcudnn.so.9";
    r.u.failure.caller = "/opt/app/libhost.so";
    r.u.failure.caller_object = host;
    r.u.failure.inferred = true;
    apply(s, &r);
    assert_finds(s, "library-not-found");
    assert_string_equal(s->found.p[0].title, "libhost.so needs libcudnn.so.9, which was not found");
    assert_true(has_fact(&s->found.p[0], "needs", "libcudnn.so.9"));
}

/* ---- search-path-suspect ---- */

static void what_depends_on_the_working_directory_is_noted(void **state) {
    (void)state;
    static const char *const suspect[] = {"/opt/a:", ":/opt/a", "/opt/a::/opt/b", "lib;/opt/a",
                                          "."};
    for (size_t i = 0; i < sizeof suspect / sizeof *suspect; i++) {
        struct scene *s = new_scene();
        add_variable(s, print(s, "LD_LIBRARY_PATH=%s", suspect[i]));
        add_host(s, "/opt/app/libhost.so");
        assert_finds(s, "search-path-suspect");
    }
}

static void absolute_directories_are_not_there_or_not(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_variable(s, "LD_LIBRARY_PATH=/opt/none:/opt/a:$ORIGIN/lib");
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct sought f = {.name = "libcudnn.so.9",
                       .by = host,
                       .object = add_facade(s, "/opt/a", draw_release(9), host),
                       .rule = WC_search_rule_LIBRARY_PATH,
                       .element = "/opt/a",
                       .searched = {"LD_LIBRARY_PATH /opt/none/ (not there)"}};
    add_search(s, &f);
    assert_finds(s, "");
}

/* ---- own-copy-unused ---- */

struct scattered {
    const char *host, *asked;
    struct wc_version got, own;
    enum wc_search_rule rule;
    int exit_status;
    bool broken;
};

/* A host, what came in from the system, and a package in /venv. */
static int64_t scatter(struct scene *s, const struct scattered *w) {
    struct bought b = {.kind = WC_installation_kind_WHEEL,
                       .name = "nvidia-cudnn-cu12",
                       .version = print(s, "%s.70", text_of(s, w->own)),
                       .path = "/venv/lib/python3.12/site-packages/nvidia/cudnn",
                       .environment = "/venv/lib/python3.12/site-packages",
                       .files = 8,
                       .missing = {w->broken ? "nvidia/cudnn/lib/libcudnn.so.9" : NULL}};
    struct wc_record end = begin(WC_KIND_outcome);
    int64_t host = add_host(s, w->host);
    struct file f = {.role = WC_role_FACADE,
                     .path = print(s, "/usr/lib/%s", w->asked),
                     .soname = print(s, "libcudnn.so.%d", w->got.major),
                     .version = w->got,
                     .source = WC_version_source_CODE,
                     .asked_by = host,
                     .asked_name = w->asked,
                     .how = WC_operation_DLOPEN};
    struct sought by = {.name = w->asked, .by = host, .rule = w->rule, .takes = f.path};
    add_package(s, &b);
    by.object = add_file(s, &f);
    add_search(s, &by);
    end.u.outcome.ending = WC_ending_EXITED;
    end.u.outcome.exit_status = w->exit_status;
    apply(s, &end);
    return host;
}

static void what_lies_in_the_environment_and_is_not_found_is_told(void **state) {
    static const char lib[] = "/venv/lib/python3.12/site-packages/plain/libengine.so";
    static const char python[] = "/usr/lib/python3.12/lib-dynload/_ctypes.so";
    const struct wc_version seven = version_of(7, 6, 5), five = version_of(7, 5, 0);
    const struct wc_version six = version_of(6, 0, 21);
    const struct {
        struct scattered world;
        int severity; /* NONE: no finding */
    } rows[] = {
        {{lib, "libcudnn.so", six, seven, WC_search_rule_CACHE, 0, false}, WC_severity_WARNING},
        {{python, "libcudnn.so", six, seven, WC_search_rule_DEFAULT, 0, false},
         WC_severity_WARNING},
        {{lib, "libcudnn.so", six, seven, WC_search_rule_LIBRARY_PATH, 0, false},
         WC_severity_WARNING},
        {{lib, "libcudnn.so.7", five, seven, WC_search_rule_CACHE, 0, false}, WC_severity_NOTE},
        {{lib, "libcudnn.so.7", five, seven, WC_search_rule_CACHE, 1, false}, WC_severity_WARNING},
        /* Another host's; asked for by its number; the same; found where the host has it looked
         * for; not whole. */
        {{"/opt/app/host", "libcudnn.so", six, seven, WC_search_rule_CACHE, 0, false},
         WC_severity_NONE},
        {{lib, "libcudnn.so.6", six, seven, WC_search_rule_CACHE, 0, false}, WC_severity_NONE},
        {{lib, "libcudnn.so", seven, seven, WC_search_rule_CACHE, 0, false}, WC_severity_NONE},
        {{lib, "libcudnn.so", six, seven, WC_search_rule_RPATH, 0, false}, WC_severity_NONE},
        {{lib, "libcudnn.so", six, seven, WC_search_rule_CACHE, 0, true}, WC_severity_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        scatter(s, &rows[i].world);
        print_message("# row %zu\n", i);
        diagnose(s);
        const struct wc_finding_record *r = NULL;
        for (size_t k = 0; k < s->found.n; k++)
            if (strcmp(s->found.p[k].id, "own-copy-unused") == 0)
                r = &s->found.p[k];
        assert_int_equal(r ? r->severity : WC_severity_NONE, rows[i].severity);
        if (!r)
            continue;
        assert_true(has_fact(r, "its environment has", "site-packages/nvidia/cudnn/lib"));
        assert_advised(s, r, "set-variable", "site-packages/nvidia/cudnn/lib");
    }
}

static void a_demand_of_the_host_decides(void **state) {
    (void)state;
    for (int refuses = 0; refuses < 2; refuses++) {
        struct scene *s = new_scene();
        struct wc_version own = draw_release(7), got = other_minor(own, refuses ? -1 : 1);
        int64_t host = scatter(
            s, &(struct scattered){.host = "/venv/lib/python3.12/site-packages/a/libhost.so",
                                   .asked = "libcudnn.so.7",
                                   .got = got,
                                   .own = own,
                                   .rule = WC_search_rule_CACHE});
        struct want w = {host, WC_demand_kind_REQUIRED, .spec = print(s, "==%s", text_of(s, own)),
                         .source = "METADATA of host 1.0"};
        add_demand(s, &w);
        assert_finds(s, refuses ? "runtime-too-old" : "");
    }
}

/* ---- a variable that was set too late ---- */

static void add_late(struct scene *s, int64_t host, struct wc_version got, struct wc_version then) {
    int64_t facade = add_facade(s, "/opt/first", got, host);
    struct sought f = {.name = "libcudnn.so.9",
                       .by = host,
                       .object = facade,
                       .rule = WC_search_rule_CACHE,
                       .takes = "/opt/first/libcudnn.so.9",
                       .later_path = "/opt/then",
                       .later_takes = "/opt/then/libcudnn.so.9"};
    struct beside b = {.path = f.later_takes,
                       .rule = WC_search_rule_NOT_SEARCHED,
                       .passed_over = true,
                       .version = then};
    add_part(s, "/opt/first", "graph", got, facade);
    add_beside(s, add_search(s, &f), &b);
}

static void a_variable_set_too_late_is_noted_with_what_it_would_have_given(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version got = draw_release(9), then = other_minor(got, 1);
    add_late(s, add_host(s, "/opt/app/libhost.so"), got, then);
    assert_finds(s, "search-path-suspect");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->severity, WC_severity_NOTE);
    assert_true(has_fact(r, "set too late", "LD_LIBRARY_PATH=/opt/then"));
    assert_true(has_fact(r, "would have given", "/opt/then/libcudnn.so.9"));
    assert_false(has_fact(r, "a copy is in", "/opt/then"));
    assert_advised(s, r, "set-variable", "set LD_LIBRARY_PATH before the process starts");
}

static void a_host_that_refuses_what_came_has_it_as_a_fix_if_that_would_do(void **state) {
    (void)state;
    for (int good = 0; good < 2; good++) {
        struct scene *s = new_scene();
        struct wc_version wanted = draw_release(9), old = other_minor(wanted, -1);
        add_late(s, add_pinned_host(s, wanted), old, good ? wanted : old);
        assert_finds(s, "runtime-too-old");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_advised(s, r, good ? "set-variable" : "install",
                       good ? "before" : text_of(s, wanted));
        assert_true(has_fact(r, "set too late", "LD_LIBRARY_PATH=/opt/then"));
    }
}

/* ---- what LD_PRELOAD names ---- */

static void what_was_preloaded_is_taken_out_whoever_is_loaded_first(void **state) {
    (void)state;
    static const char *const lists[] = {"/opt/first/libcudnn.so.9",
                                        "/opt/own/libwhichcudnn.so:/opt/first/libcudnn.so.9",
                                        "/opt/first/libcudnn.so.9 libother.so"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct scene *s = new_scene();
        struct wc_version wanted = draw_release(9), old = other_minor(wanted, -1);
        int64_t host = add_pinned_host(s, wanted);
        struct wc_record r = begin(WC_KIND_object);
        r.u.object.object = ++s->objects;
        r.u.object.role = WC_role_FACADE;
        r.u.object.mapped = true;
        r.u.object.path = r.u.object.asked_name = "/opt/first/libcudnn.so.9";
        r.u.object.soname = "libcudnn.so.9";
        r.u.object.version = text_of(s, old);
        r.u.object.version_source = WC_version_source_ASKED_NAMES;
        r.u.object.asked_how = WC_operation_PRELOAD;
        apply(s, &r);
        add_variable(s, print(s, "LD_PRELOAD=%s", lists[i]));
        struct sought f = {.name = "libcudnn.so.9",
                           .by = host,
                           .object = r.u.object.object,
                           .rule = WC_search_rule_LOADED,
                           .takes = wheel};
        struct beside b = {.path = wheel, .rule = WC_search_rule_RUNPATH, .version = wanted};
        b.passed_over = true;
        add_beside(s, add_search(s, &f), &b);
        assert_finds(s, "runtime-too-old already-loaded-by-soname");
        const struct wc_finding_record *found = &s->found.p[0];
        assert_true(has_fact(found, "asked by", "LD_PRELOAD names"));
        assert_advised(s, found, "set-variable", "from LD_PRELOAD: /opt/first/libcudnn.so.9");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_to_the_right_copy_comes_before_an_installation),
        cmocka_unit_test(a_copy_behind_that_is_no_better_is_no_way),
        cmocka_unit_test(what_is_expected_may_stand_behind),
        cmocka_unit_test(a_foreign_part_is_taken_out_of_the_way_of_the_own_one),
        cmocka_unit_test(a_part_that_the_host_needs_itself_is_told_so),
        cmocka_unit_test(a_copy_of_another_release_that_is_passed_by_is_noted),
        cmocka_unit_test(one_release_in_two_places_is_not),
        cmocka_unit_test(nor_is_what_a_library_names_itself),
        cmocka_unit_test(a_package_behind_in_the_hosts_own_search_path_is_noted),
        cmocka_unit_test(nobody_expects_what_lies_elsewhere_or_is_no_package),
        cmocka_unit_test(an_older_one_before_the_variable_is_told_when_the_program_fails),
        cmocka_unit_test(
            an_older_one_left_by_hand_before_the_systems_is_told_when_the_program_fails),
        cmocka_unit_test(a_library_that_another_host_loaded_is_told),
        cmocka_unit_test(of_one_release_it_is_a_note),
        cmocka_unit_test(what_the_host_itself_had_loaded_is_a_note),
        cmocka_unit_test(what_serves_the_host_is_a_note),
        cmocka_unit_test(a_host_that_refuses_it_is_told_first_with_the_order_of_loading),
        cmocka_unit_test(where_the_loader_looked_is_told_and_where_a_copy_is),
        cmocka_unit_test(a_copy_that_the_host_would_refuse_is_no_way),
        cmocka_unit_test(what_a_host_needs_is_not_asked_for),
        cmocka_unit_test(what_depends_on_the_working_directory_is_noted),
        cmocka_unit_test(what_lies_in_the_environment_and_is_not_found_is_told),
        cmocka_unit_test(a_demand_of_the_host_decides),
        cmocka_unit_test(a_variable_set_too_late_is_noted_with_what_it_would_have_given),
        cmocka_unit_test(a_host_that_refuses_what_came_has_it_as_a_fix_if_that_would_do),
        cmocka_unit_test(what_was_preloaded_is_taken_out_whoever_is_loaded_first),
        cmocka_unit_test(absolute_directories_are_not_there_or_not),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
