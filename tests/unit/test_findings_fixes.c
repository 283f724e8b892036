/* SPDX-License-Identifier: Apache-2.0 */
/* What the findings advise: which package, which variable, and when there is no command to paste.
 */
#include "support_stack.h"

#include "core/findings/finding.h"

/* A host of some installation, a facade of some installation; the host refuses what it got. */
struct refused {
    struct file host, facade;
    struct want want;
    const char *cudart; /* SONAME of a libcudart in the process */
};

static const struct wc_finding_record *advice(const struct refused *r) {
    struct scene *s = new_scene();
    struct refused copy = *r;
    copy.host.role = WC_role_HOST;
    copy.host.path = "/venv/libhost.so";
    copy.host.asked_by = NOBODY;
    copy.want.host = add_file(s, &copy.host);
    copy.facade.role = WC_role_FACADE;
    copy.facade.path = copy.facade.path ? copy.facade.path : "/opt/cudnn/libcudnn.so.9";
    copy.facade.asked_by = copy.want.host;
    add_file(s, &copy.facade);
    if (r->cudart) {
        struct file cuda = {.role = WC_role_CUDA_DEPENDENCY,
                            .part = "cudart",
                            .path = "/cuda/lib.so",
                            .soname = r->cudart,
                            .version = WC_VERSION_NONE,
                            .asked_by = NOBODY};
        add_file(s, &cuda);
    }
    copy.want.rule = "torch";
    add_demand(s, &copy.want);
    diagnose(s);
    /* A cuDNN for another CUDA than the host's is told, too. */
    size_t told = finding(s, "cuda-major-differs") != NULL;
    assert_int_equal(s->found.n, 1 + told);
    return &s->found.p[told];
}

/* Without a pip command: the sentence alone. */
static bool has_pip(const struct wc_finding_record *r) {
    for (size_t i = 0; i < r->fix.n; i++)
        if (r->fix.p[i].command && strncmp(r->fix.p[i].command, "pip ", 4) == 0)
            return true;
    return false;
}

static struct refused plain_case(void) {
    struct refused r = {
        .facade = {.version = version_of(9, 1, 0), .source = WC_version_source_ASKED_NAMES},
        .want = {.kind = WC_demand_kind_REQUIRED, .spec = ">=9.14,<10"}};
    return r;
}

static void the_cuda_of_the_host_names_the_wheel(void **state) {
    (void)state;
    static const struct {
        const char *installation, *version, *facade, *cudart, *wheel;
    } cases[] = {
        {"jax-cuda12-plugin", "0.10.2", "nvidia-cudnn-cu13", NULL, "nvidia-cudnn-cu12"},
        {"torch", "2.8.0+cu129", "nvidia-cudnn-cu13", NULL, "nvidia-cudnn-cu12"},
        {"torch", "2.15.0", "nvidia-cudnn-cu13", "libcudart.so.12", "nvidia-cudnn-cu13"},
        {NULL, NULL, "cuda-13.0", NULL, "nvidia-cudnn-cu13"},
        {NULL, NULL, NULL, "libcudart.so.13", "nvidia-cudnn-cu13"},
        {NULL, NULL, NULL, "libcudart.so.14", "nvidia-cudnn-cu14"},
        {NULL, NULL, "cudnn-of-somebody", "libcudart.so.12", "nvidia-cudnn-cu12"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct refused r = plain_case();
        char command[96];
        r.host.installation = cases[i].installation;
        r.host.installation_version = cases[i].version;
        r.facade.installation = cases[i].facade;
        r.cudart = cases[i].cudart;
        snprintf(command, sizeof command, "pip install '%s>=9.14,<10'", cases[i].wheel);
        if (!has_command(advice(&r), command))
            print_findings(&the_scene);
        assert_true(has_command(advice(&r), command));
    }
}

static void what_the_demand_names_is_installed(void **state) {
    (void)state;
    struct refused r = plain_case();
    r.want.package = "nvidia-cudnn-cu11";
    r.host.installation = "jax-cuda12-plugin";
    assert_true(has_command(advice(&r), "pip install 'nvidia-cudnn-cu11>=9.14,<10'"));
}

static void no_command_for_a_wheel_that_does_not_exist(void **state) {
    (void)state;
    struct refused r = plain_case();
    assert_false(has_pip(advice(&r))); /* nothing tells the CUDA */
    r.cudart = "libcudart.so.11.0";
    assert_false(has_pip(advice(&r))); /* the wheels for CUDA 11 ended before */
    r.want.spec = ">=9.2,<10";
    assert_true(has_pip(advice(&r)));
    r.cudart = "libcudart.so.13";
    assert_true(has_pip(advice(&r))); /* a later one satisfies the range */
    r.want.spec = "==9.2.0";
    assert_false(has_pip(advice(&r))); /* those for CUDA 13 began later */
    r.cudart = "libcudart.so.10.2";
    r.want.spec = ">=9.14,<10";
    assert_false(has_pip(advice(&r)));
    assert_non_null(strstr(the_scene.found.p[0].fix.p[0].text, ">=9.14,<10"));
}

static void what_it_was_built_with_is_always_accepted(void **state) {
    (void)state;
    struct refused r = plain_case();
    struct wc_version v = version_of(9, draw(13, 40), draw(0, 9));
    char built[WC_VERSION_TEXT], command[96];
    r.want.kind = WC_demand_kind_BUILT;
    r.want.built = wc_version_format(v, built);
    r.want.spec = NULL;
    r.cudart = "libcudart.so.13";
    snprintf(command, sizeof command, "pip install 'nvidia-cudnn-cu13==%s.*'", built);
    assert_true(has_command(advice(&r), command));
}

static void conda_comes_first_in_a_conda_environment(void **state) {
    (void)state;
    struct refused r = plain_case();
    r.host.kind = WC_installation_kind_CONDA;
    r.cudart = "libcudart.so.12";
    const struct wc_finding_record *f = advice(&r);
    assert_string_equal(f->fix.p[0].command, "conda install 'cudnn>=9.14,<10'");
    assert_true(has_pip(f));
    r.host.kind = WC_installation_kind_UNKNOWN;
    assert_string_not_equal(advice(&r)->fix.p[0].command, "conda install 'cudnn>=9.14,<10'");
}

/* A requirement in two demands: what fails may be told by one, what is odd in the other. */
static void only_text_of_the_trade_gets_into_a_command(void **state) {
    (void)state;
    static const char *const odd[] = {"==9.14.0;reboot", "==$(reboot)", "==9\n", "==`reboot`"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct scene *s = new_scene();
        struct file f = {.role = WC_role_HOST,
                         .path = "/venv/x.so",
                         .asked_by = NOBODY,
                         .installation = "jax-cuda12-plugin"};
        int64_t host = add_file(s, &f);
        struct want w = {host, WC_demand_kind_REQUIRED, .spec = odd[i]};
        add_demand(s, &w);
        add_failure(s, host, NULL, "libcudnn.so.9", NULL);
        assert_finds(s, "library-not-found");
        assert_false(has_pip(&s->found.p[0]));
    }
}

/* ---- reinstalling ---- */

static struct scene *mixed(const struct file *facade_like) {
    struct scene *s = new_scene();
    struct file f = *facade_like;
    f.role = WC_role_FACADE;
    f.path = "/venv/nvidia/cudnn/lib/libcudnn.so.9";
    f.version = version_of(9, 1, 0);
    f.source = WC_version_source_ASKED_NAMES;
    f.asked_by = NOBODY;
    int64_t facade = add_file(s, &f);
    add_part(s, "/venv/nvidia/cudnn/lib", "graph", version_of(9, 2, 0), facade);
    assert_finds(s, "facade-and-parts-differ");
    return s;
}

/* What another object looked up in vain says nothing of the parts. */
static void only_the_facades_own_lookups_tell_of_parts(void **state) {
    const struct file f = {.part = NULL};
    (void)state;
    for (int own = 0; own < 2; own++) {
        struct scene *s = mixed(&f);
        struct wc_record r = begin(WC_KIND_failure);
        r.u.failure.operation = WC_operation_DLSYM;
        r.u.failure.function = "cudnnSomething";
        r.u.failure.caller = own ? "/venv/nvidia/cudnn/lib/libcudnn.so.9" : "/opt/app/libother.so";
        r.u.failure.caller_object = own ? 1 : 77;
        r.u.failure.text = "undefined symbol: cudnnSomething";
        apply(s, &r);
        diagnose(s);
        assert_int_equal(has_fact(&s->found.p[0], "not found in a part", "cudnnSomething"), own);
    }
}

static void nvidias_wheel_is_put_back_as_it_was(void **state) {
    (void)state;
    struct file f = {.installation = "nvidia-cudnn-cu12",
                     .installation_version = "9.1.0.70",
                     .kind = WC_installation_kind_WHEEL};
    assert_true(has_command(&mixed(&f)->found.p[0],
                            "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70"));
    f.installation_version = "9.1.0; reboot";
    assert_true(has_command(&mixed(&f)->found.p[0],
                            "pip install --force-reinstall --no-deps nvidia-cudnn-cu12"));
    f.installation_version = NULL;
    assert_true(has_command(&mixed(&f)->found.p[0],
                            "pip install --force-reinstall --no-deps nvidia-cudnn-cu12"));
    f.installation = "nvidia-cudnn-cu12; reboot";
    assert_false(has_pip(&mixed(&f)->found.p[0]));
    f.installation = "torch"; /* bundled: not by pip install of cuDNN */
    assert_false(has_pip(&mixed(&f)->found.p[0]));
    f.installation = "nvidia-cudnn-cu12";
    f.kind = WC_installation_kind_DIRECTORY;
    assert_false(has_pip(&mixed(&f)->found.p[0]));
}

/* A part that wants another CUDA than its package is made for is not the package's own. */
static void a_part_of_another_cuda_is_put_back(void **state) {
    (void)state;
    static const struct {
        const char *installation, *missing;
        bool again;
        const char *command;
    } cases[] = {
        {"nvidia-cudnn-cu12", "libcublas.so.11", true, NULL},
        {"nvidia-cudnn-cu12", "libcublas.so.12", false, "pip install nvidia-cublas-cu12"},
        {"nvidia-cudnn-cu12", "libz.so.1", false, NULL},
        {NULL, "libcublas.so.11", false, "pip install nvidia-cublas-cu11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = new_scene();
        struct file f = {.role = WC_role_FACADE,
                         .path = "/venv/nvidia/cudnn/lib/libcudnn.so.8",
                         .version = version_of(8, 9, 2),
                         .installation = cases[i].installation,
                         .kind = WC_installation_kind_WHEEL,
                         .asked_by = NOBODY};
        int64_t facade = add_file(s, &f);
        add_failure(s, facade, NULL, "libcudnn_ops_infer.so.8", not_found(s, cases[i].missing));
        assert_finds(s, "dependency-missing");
        const struct wc_fix *first = &s->found.p[0].fix.p[0];
        assert_int_equal(strcmp(first->action, "reinstall") == 0, cases[i].again);
        if (!cases[i].again)
            assert_true(wc_str_same(first->command, cases[i].command));
    }
}

/* Where that CUDA is in the process, cuDNN is the wrong one; else its library is what is missing.
 */
static void another_cuda_in_the_process_makes_cudnn_the_wrong_one(void **state) {
    (void)state;
    for (int loaded = 0; loaded < 2; loaded++) {
        struct scene *s = new_scene();
        struct file cudart = {.role = WC_role_CUDA_DEPENDENCY,
                              .part = "cudart",
                              .path = "/opt/cuda/lib64/libcudart.so.12",
                              .soname = "libcudart.so.12",
                              .asked_by = NOBODY};
        if (loaded)
            add_file(s, &cudart);
        add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, "libcudnn.so.8",
                    not_found(s, "libcublas.so.11"));
        assert_finds(s, "dependency-missing");
        const struct wc_fix *first = &s->found.p[0].fix.p[0];
        assert_int_equal(strncmp(first->text, "take a cuDNN made for", 21) == 0, loaded);
    }
}

static void an_installation_is_named_once(void **state) {
    (void)state;
    struct file f = {.installation = "cuda-13.0",
                     .installation_version = "13.0",
                     .kind = WC_installation_kind_CUDA_TOOLKIT};
    assert_true(has_fact(&mixed(&f)->found.p[0], "facade", "cuda-13.0 (cuda-toolkit)"));
    f = (struct file){.kind = WC_installation_kind_DIRECTORY};
    assert_false(has_fact(&mixed(&f)->found.p[0], "facade", "directory"));
    f.kind = WC_installation_kind_DEBIAN;
    assert_true(has_fact(&mixed(&f)->found.p[0], "facade", "debian"));
}

/* ---- LD_LIBRARY_PATH ---- */

static const char *set_variable(const char *value) {
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    const char *alone = print(s, "LD_LIBRARY_PATH=%s", value);
    struct wc_record r = begin(WC_KIND_process);
    static int times;
    if (times++ % 2) {
        add_variable(s, alone);
    } else {
        r.u.process.environment = (struct wc_strings){&alone, 1};
        apply(s, &r);
    }
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    add_facade(s, "/opt/cudnn", other_minor(v, -1), host);
    assert_finds(s, "runtime-too-old");
    for (size_t i = 0; i < s->found.p[0].fix.n; i++)
        if (strcmp(s->found.p[0].fix.p[i].action, "set-variable") == 0)
            return s->found.p[0].fix.p[i].command ? s->found.p[0].fix.p[i].command : "(none)";
    return "(no advice)";
}

static void a_directory_is_taken_out_of_the_path(void **state) {
    (void)state;
    assert_string_equal(set_variable("/opt/cudnn"), "unset LD_LIBRARY_PATH");
    assert_string_equal(set_variable("/opt/cudnn//"), "unset LD_LIBRARY_PATH");
    assert_string_equal(set_variable("/a:/opt/cudnn:/b"), "export LD_LIBRARY_PATH=/a:/b");
    assert_string_equal(set_variable("/a:/opt/cudnn"), "export LD_LIBRARY_PATH=/a");
    assert_string_equal(set_variable("/opt/cudnn:/b c"), "export LD_LIBRARY_PATH='/b c'");
    assert_string_equal(set_variable("/opt/cudnn:/b\nc"), "(none)");
    assert_string_equal(set_variable("/opt/cudnn:/b'c"), "(none)");
    assert_string_equal(set_variable("/opt/cudnn2:/opt/cudn:/opt"), "(no advice)");
    assert_string_equal(set_variable(""), "(no advice)");
}

/* A library that was not found is asked for as the host's package wants it. */
static void the_hosts_own_requirement_is_what_to_install(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct file f = {.role = WC_role_HOST,
                     .path = "/venv/x.so",
                     .asked_by = NOBODY,
                     .installation = "jax-cuda12-plugin"};
    int64_t host = add_file(s, &f), other = add_host(s, "/opt/b/libother.so");
    struct want elses = {other, WC_demand_kind_REQUIRED, .spec = "==9.1.0"};
    struct want node = {host, WC_demand_kind_SYMBOL_VERSION, .spec = "==8.*"};
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = ">=9.8,<10"};
    add_demand(s, &elses);
    add_demand(s, &node);
    add_failure(s, host, NULL, "libcudnn.so.9", NULL);
    assert_finds(s, "library-not-found");
    assert_true(has_command(&s->found.p[0], "pip install 'nvidia-cudnn-cu12==9.*'"));
    add_demand(s, &w);
    assert_finds(s, "library-not-found");
    assert_true(has_command(&s->found.p[0], "pip install 'nvidia-cudnn-cu12>=9.8,<10'"));
}

static void what_finds_no_place_is_left_out(void **state) {
    static char text[2 * WC_CASE_FIXES][24];
    struct wc_case c = {.fixes = 0};
    (void)state;
    for (int i = 0; i < 2 * WC_CASE_FIXES; i++) {
        snprintf(text[i], sizeof text[i], "text %d", i);
        wc_case_fix(&c, WC_ACTION_SET_VARIABLE, i % 2 ? text[i] : NULL, NULL);
        wc_case_fix(&c, WC_ACTION_SET_VARIABLE, i % 2 ? text[i] : NULL, NULL); /* counts once */
        assert_int_equal(c.fixes, (i + 1) / 2);
    }
    assert_int_equal(c.fixes, WC_CASE_FIXES);
    wc_case_fix(&c, WC_ACTION_SET_VARIABLE, "one more", NULL);
    assert_int_equal(c.fixes, WC_CASE_FIXES);
    for (int i = 0; i < WC_CASE_FACTS + 5; i++)
        wc_case_fact(&c, "name", i == 3 ? NULL : "value", NULL);
    assert_int_equal(c.facts, WC_CASE_FACTS - 1);
    assert_int_equal(c.more, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cuda_of_the_host_names_the_wheel),
        cmocka_unit_test(what_the_demand_names_is_installed),
        cmocka_unit_test(no_command_for_a_wheel_that_does_not_exist),
        cmocka_unit_test(what_it_was_built_with_is_always_accepted),
        cmocka_unit_test(conda_comes_first_in_a_conda_environment),
        cmocka_unit_test(only_text_of_the_trade_gets_into_a_command),
        cmocka_unit_test(only_the_facades_own_lookups_tell_of_parts),
        cmocka_unit_test(nvidias_wheel_is_put_back_as_it_was),
        cmocka_unit_test(a_part_of_another_cuda_is_put_back),
        cmocka_unit_test(another_cuda_in_the_process_makes_cudnn_the_wrong_one),
        cmocka_unit_test(an_installation_is_named_once),
        cmocka_unit_test(a_directory_is_taken_out_of_the_path),
        cmocka_unit_test(the_hosts_own_requirement_is_what_to_install),
        cmocka_unit_test(what_finds_no_place_is_left_out),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
