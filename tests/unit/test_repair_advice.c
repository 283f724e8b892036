/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a finding that nothing which was played repairs: which sentence holds when. Of
 * each kind's example tests/unit/test_findings_page.c has the sentence.
 */
#include "support_stack.h"
#include "tools/diagnose/advice.h"
#include "tools/diagnose/cause.h"
#include "tools/util/memory.h"

static struct advice advised(const struct wc_stack *s, const struct wc_finding_record *f) {
    static char memory[16 << 10];
    static struct wc_buffer_arena arena;
    wc_buffer_arena_begin(&arena, memory, sizeof memory);
    return advice_for(s, f, false, &arena.arena);
}

static void every_finding_has_a_sentence_of_its_own(void **state) {
    (void)state;
    static const struct wc_fact known[] = {{"wanted", "requires 9.1", NULL},
                                           {"file", "/opt/libcudnn.so.9", NULL},
                                           {"got", "/opt/libcudnn.so.9", NULL},
                                           {"wanted symbol version", "libcudnn.so.9", NULL},
                                           {"missing", "libcublas.so.12", NULL},
                                           {"asked for", "libcublas.so.12", NULL},
                                           {"package", "nvidia-cudnn-cu12 9.1.0.70", NULL},
                                           {"kernel module", "550.90", NULL},
                                           {"least driver", "550.90", NULL},
                                           {"expected", "9.8", NULL},
                                           {"its own search finds", "/opt/x", NULL},
                                           {"its environment has", "/venv/lib  x 9.1", NULL}};
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct wc_object_record *o = &s->stack.objects.p[0].r;
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    o->framework = "torch";
    for (size_t i = 0; i < n; i++) {
        const struct wc_finding_record f = {
            .id = kind[i].id,
            .facts = {.p = known, .n = sizeof known / sizeof *known},
            .host = host,
            .object = host};
        struct advice advice = advised(&s->stack, &f);
        if (strstr(advice.text, "explain describes"))
            fail_msg("%s needs a row ADVICE in core/demand/findings.def", kind[i].id);
        assert_null(strchr(advice.text, '{'));
    }
    const struct wc_finding_record other = {.id = "of-a-newer-build"};
    assert_string_equal(action_rows[advised(&s->stack, &other).action].word, "check");
}

static void a_path_of_the_computer_that_built_it_is_linked_anew(void **state) {
    static const struct wc_fact needs[] = {{"needs", "/home/ci/cudnn/libcudnn.so.9", NULL}};
    const struct wc_finding_record f = {.id = "library-not-found",
                                        .facts = {.p = needs, .n = 1},
                                        .host = WC_NULL,
                                        .object = WC_NULL};
    (void)state;
    assert_non_null(strstr(advised(&new_scene()->stack, &f).text,
                           "put the library at /home/ci/cudnn/libcudnn.so.9, or link"));
}

/* ctypes.CDLL(None) is the program itself. */
static void of_a_lookup_in_the_program_what_to_open(void **state) {
    static const struct wc_fact said = {"loader said",
                                        "venv/bin/python: undefined symbol: cudnnGetVersion", NULL};
    const struct wc_finding_record f = {
        .id = "missing-symbols", .facts = {.p = &said, .n = 1}, .host = WC_NULL, .object = WC_NULL};
    struct scene *s = new_scene();
    (void)state;
    assert_non_null(strstr(advised(&s->stack, &f).text, "and run ldconfig"));
    add_facade(s, "/opt", wc_version_of("9.8.0"), WC_NULL);
    assert_non_null(strstr(advised(&s->stack, &f).text, "(RTLD_GLOBAL)")); /* it was opened */
}

static void a_status_about_the_gpu_is_not_looked_for_in_the_driver(void **state) {
    (void)state;
    struct wc_fact status = {"status", "6 CUDNN_STATUS_ARCH_MISMATCH", NULL};
    const struct wc_finding_record f = {
        .id = "init-failed", .facts = {.p = &status, .n = 1}, .host = WC_NULL, .object = WC_NULL};
    assert_non_null(strstr(advised(&new_scene()->stack, &f).text, "of the host for this GPU"));
    status.value = "4 CUDNN_STATUS_INTERNAL_ERROR";
    assert_non_null(strstr(advised(&new_scene()->stack, &f).text, "run nvidia-smi"));
}

static void a_row_says_what_is_asked(void **state) {
    const struct wc_finding_record torn = {.id = "parts-differ"},
                                   other = {.id = "part-from-other-installation"},
                                   driver = {.id = "driver-missing"},
                                   unknown = {.id = "of-a-newer-build"};
    (void)state;
    assert_true(asks(&torn, MIXTURE | TORN));
    assert_false(asks(&other, MIXTURE | TORN));
    assert_false(asks(&unknown, TORN));
    assert_true(asks(&driver, OF_DRIVER));
}

/* A sentence of which a word is not known is passed over. */
static void what_is_not_known_is_not_in_it(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_fact wanted = {"wanted", "requires >=9.8,<10", NULL};
    struct wc_finding_record f = {.id = "library-not-found", .host = NOBODY, .object = NOBODY};
    f.facts = (struct wc_facts){.p = &wanted, .n = 1};
    assert_non_null(strstr(advised(&s->stack, &f).text, "looks for it: requires >=9.8,<10"));
    wanted = (struct wc_fact){"asked for", "libcudnn.so.9", NULL};
    assert_non_null(
        strstr(advised(&s->stack, &f).text, "a cuDNN that contains libcudnn.so.9 where"));
    wanted.value = NULL;
    assert_non_null(strstr(advised(&s->stack, &f).text, "the cuDNN that the program needs where"));
}

/* A part that wants another CUDA than its package is made for is not the package's own. */
static void a_part_of_another_cuda_is_put_back(void **state) {
    (void)state;
    static const struct {
        const char *installation, *missing;
        bool again;
    } cases[] = {
        {"nvidia-cudnn-cu12", "libcublas.so.11", true},
        {"nvidia-cudnn-cu12", "libcublas.so.12", false},
        {"nvidia-cudnn-cu12", "libz.so.1", false},
        {NULL, "libcublas.so.11", false},
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
        assert_advised(s, &s->found.p[0], cases[i].again ? "reinstall" : "install",
                       cases[i].missing);
    }
}

/* What a .pth file opens at each start of Python stays in the process, whatever is reinstalled. */
static void a_part_that_was_opened_by_its_path_is_opened_no_more(void **state) {
    static const struct {
        const char *name;
        enum wc_installation_kind kind;
        bool early;
    } rows[] = {
        {"/usr/local/cuda/lib64/libcudnn_graph.so.9", WC_installation_kind_CUDA_TOOLKIT, true},
        {"/usr/local/cuda/lib64/libcudnn_graph.so.9", WC_installation_kind_WHEEL, false},
        {"libcudnn_graph.so.9", WC_installation_kind_CUDA_TOOLKIT, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        const int64_t facade = add_facade(s, "/venv/cudnn", wc_version_of("9.1.0"), NOBODY);
        add_part(s, "/usr/local/cuda/lib64", "graph", wc_version_of("9.19.0"), facade);
        struct wc_object_record *o = &s->stack.objects.p[s->stack.objects.n - 1].r;
        o->asked_name = rows[i].name;
        o->asked_how = WC_operation_DLOPEN;
        o->asked_by_object = NOBODY;
        o->asked_by = "/usr/lib/python3.11/lib-dynload/_ctypes.so";
        o->installation_kind = rows[i].kind;
        const struct wc_finding_record f = {
            .id = "facade-and-parts-differ", .host = NOBODY, .object = facade};
        assert_int_equal(!!strstr(advised(&s->stack, &f).text, "remove what opens /usr/local"),
                         rows[i].early);
    }
}

static void a_build_for_gpus_is_named(void **state) {
    (void)state;
    static const struct {
        const char *package, *named, *sentence;
        enum wc_installation_kind kind;
    } cases[] = {
        {"onnxruntime", "onnxruntime-gpu", "install onnxruntime-gpu instead of onnxruntime;",
         WC_installation_kind_WHEEL},
        {"tensorflow", "tensorflow-gpu", "install tensorflow-gpu instead of tensorflow;",
         WC_installation_kind_CONDA},
        {"torch", "torch", "install a build of torch with CUDA;", WC_installation_kind_WHEEL},
        {"onnxruntime", NULL, "install a build of torch with CUDA;", WC_installation_kind_DEBIAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = new_scene();
        int64_t host = add_host(s, "/v/lib/python3.12/site-packages/x/libx.so");
        struct wc_object_record *o = &s->stack.objects.p[0].r;
        const struct wc_finding_record f = {
            .id = "cpu-only-build", .object = host, .host = WC_NULL};
        struct heap_arena arena;
        struct edit e;
        heap_arena_begin(&arena);
        o->framework = "torch";
        o->installation = cases[i].package;
        o->installation_kind = cases[i].kind;
        assert_ptr_equal(strstr(advised(&s->stack, &f).text, cases[i].sentence),
                         advised(&s->stack, &f).text);
        assert_int_equal(beyond_edit(&arena.arena, &s->stack, &f, NULL, WC_ACTION_INSTALL, "", &e),
                         cases[i].named != NULL);
        if (cases[i].named) {
            assert_int_equal(e.kind, EDIT_HOST);
            assert_string_equal(e.name, cases[i].named);
            if (strcmp(cases[i].named, cases[i].package) == 0)
                assert_null(e.environment); /* it counts as installed there */
            else
                assert_string_equal(e.environment, "/v/lib/python3.12/site-packages");
        }
        heap_arena_end(&arena);
    }
}

/* Two packages with the same files, both required: also where that is a mere warning. A release of
 * the host ends it if it pins what is there. */
static void two_owners_of_the_same_files_need_two_environments(void **state) {
    static const struct wc_fact owners[] = {
        {"package", "nvidia-cudnn-cu12 9.10.2.21 (wheel) in /venv", NULL},
        {"shared with", "nvidia-cudnn-cu13 9.20.0.48", NULL}};
    static const struct {
        struct wc_version there;
        const char *host;
    } cases[] = {{{9, 20, 0, -1}, ">=2.12,<2.14"}, {{9, 28, 1, -1}, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = new_scene();
        struct file f = {.role = WC_role_FACADE,
                         .path = "/venv/nvidia/cudnn/lib/libcudnn.so.9",
                         .version = cases[i].there,
                         .installation = "nvidia-cudnn-cu13",
                         .kind = WC_installation_kind_WHEEL,
                         .asked_by = NOBODY};
        const int64_t host = add_host(s, "/venv/torch/lib/libtorch.so");
        struct wc_finding_record mixed = {.id = "installation-mixed",
                                          .severity = WC_severity_WARNING,
                                          .facts = {.p = owners, .n = 2},
                                          .host = host,
                                          .object = add_file(s, &f)};
        struct heap_arena arena;
        struct edit e;
        s->stack.objects.p[0].r.installation = "torch";
        s->stack.objects.p[0].r.installation_kind = WC_installation_kind_WHEEL;
        heap_arena_begin(&arena);
        assert_string_equal(
            advice_for(&s->stack, &mixed, ADVICE_CONFLICT, &arena.arena).text,
            "install what requires nvidia-cudnn-cu12 9.10.2.21 and what requires "
            "nvidia-cudnn-cu13 9.20.0.48 into separate environments: the two own the same files");
        assert_int_equal(beyond_host(&arena.arena, &s->stack, &mixed, &e), cases[i].host != NULL);
        if (cases[i].host)
            assert_string_equal(e.value, cases[i].host);
        mixed.facts.n = 1;
        assert_null(strstr(advice_for(&s->stack, &mixed, ADVICE_CONFLICT, &arena.arena).text,
                           "environments"));
        heap_arena_end(&arena);
    }
}

/* A package whose facade of 8 has no parts, beside the cuDNN 9 of another one: its release of 9. */
static void a_release_of_the_host_takes_the_other_cudnn(void **state) {
    (void)state;
    for (int32_t major = 9; major > 7; major--) {
        struct scene *s = new_scene();
        struct file own = {.role = WC_role_FACADE,
                           .path = "/v/ctranslate2.libs/libcudnn-463fd6d5.so.8.9.7",
                           .version = {8, 9, 7, -1},
                           .installation = "ctranslate2",
                           .kind = WC_installation_kind_WHEEL,
                           .asked_by = NOBODY};
        struct file other = {.role = WC_role_FACADE,
                             .path = "/v/nvidia/cudnn/lib/libcudnn.so.9",
                             .version = {major, major == 9 ? 1 : 9, 7, -1},
                             .installation = "nvidia-cudnn-cu12",
                             .kind = WC_installation_kind_WHEEL,
                             .asked_by = NOBODY};
        struct wc_finding_record f = {
            .id = "part-missing", .severity = WC_severity_ERROR, .host = WC_NULL};
        struct heap_arena arena;
        struct edit e;
        add_host(s, "/v/ctranslate2/_ext.so");
        s->stack.objects.p[0].r.installation = "ctranslate2";
        s->stack.objects.p[0].r.installation_kind = WC_installation_kind_WHEEL;
        s->stack.objects.p[0].r.installation_version = "4.4.0";
        f.object = add_file(s, &own);
        add_file(s, &other);
        heap_arena_begin(&arena);
        /* What is installed takes 8.9.7. */
        assert_int_equal(beyond_host(&arena.arena, &s->stack, &f, &e), major == 9);
        if (major == 9)
            assert_string_equal(e.value, ">=4.5,<4.6.3");
        heap_arena_end(&arena);
    }
}

/* In whose image is libcuda, and is there a driver at all? */
static void a_driver_is_to_be_had_in_several_ways(void **state) {
    (void)state;
    static const struct {
        const char *container, *module, *text;
    } cases[] = {
        {"docker", NULL, "--gpus all"},
        {NULL, "550.90.07", "the kernel module, 550.90.07"},
        {NULL, NULL, "install NVIDIA's driver"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_machine);
        r.u.machine.container = cases[i].container;
        r.u.machine.driver = cases[i].module;
        r.u.machine.gpu_devices = 0;
        apply(s, &r);
        add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, "libcuda.so.1",
                    not_found(s, "libcuda.so.1"));
        assert_finds(s, "driver-missing");
        assert_advised(s, &s->found.p[0], "driver", cases[i].text);
    }
}

/* Files of the driver of 0 bytes stay in an image that was built under NVIDIA's runtime, which
 * mounts its own over them (libnvidia-container#140). */
static void an_empty_driver_is_that_of_an_image(void **state) {
    (void)state;
    static const struct {
        const char *container, *name, *action, *text;
    } cases[] = {
        {"docker", "libcuda.so.1", "driver", "start the container with its GPUs"},
        {"docker", "libcudart.so.12", "reinstall", "copy /lib/libcudart.so.12 again"},
        {NULL, "libcuda.so.1", "reinstall", "copy /lib/libcuda.so.1 again"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = new_scene();
        struct wc_record r = begin(WC_KIND_machine);
        const char *path = print(s, "/lib/%s", cases[i].name);
        const struct looked_at empty = {.path = path, .fault = WC_file_fault_EMPTY};
        r.u.machine.container = cases[i].container;
        apply(s, &r);
        add_looked_at(s, &empty);
        add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, cases[i].name,
                    print(s, "%s: file too short", path));
        assert_finds(s, "bad-file");
        assert_advised(s, &s->found.p[0], cases[i].action, cases[i].text);
    }
}

/* What a release wants of the system is in its files alone: it is said, and has not been played. */
static void an_older_release_is_said_alone(void **state) {
    (void)state;
    static const struct wc_fact facts[] = {
        {"refused", "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9", NULL},
        {"library", "/lib/x86_64-linux-gnu/libc.so.6", NULL}};
    struct scene *s = new_scene();
    struct wc_finding_record f = {.id = "symbol-version-not-found",
                                  .facts = {.p = facts, .n = 2},
                                  .host = NOBODY,
                                  .object = NOBODY};
    struct wc_record r = begin(WC_KIND_package);
    char memory[4096];
    struct wc_buffer_arena arena;
    struct edit e;
    wc_buffer_arena_begin(&arena, memory, sizeof memory);
    assert_false(beyond_edit(&arena.arena, &s->stack, &f, NULL, WC_ACTION_INSTALL, "", &e));
    r.u.package.package = "nvidia-cudnn-cu12";
    r.u.package.package_version = "9.5.1.17";
    r.u.package.prefix = "/venv/lib/python3.12/site-packages";
    r.u.package.installation_path = "/venv/lib/python3.12/site-packages/nvidia/cudnn";
    apply(s, &r);
    assert_true(beyond_edit(&arena.arena, &s->stack, &f, NULL, WC_ACTION_INSTALL, "", &e));
    assert_int_equal(e.kind, EDIT_INSTALL);
    assert_string_equal(e.value, ">=9,<9.5.1.17");
    f.id = "library-not-found";
    assert_false(beyond_edit(&arena.arena, &s->stack, &f, NULL, WC_ACTION_INSTALL, "", &e));
}

/* dlib#2140: what it was compiled with had the function, and the found release has it no more. */
static void what_releases_have_dropped_asks_for_a_newer_host(void **state) {
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        const struct wc_fact facts[] = {
            {"wanted symbol version", "libcudnn.so.8", NULL},
            {"wanted function", "cudnnGetConvolutionBackwardDataAlgorithm", NULL},
            {"refused", "/opt/dlib/_dlib.so", NULL},
            {"library", "/usr/lib/libcudnn.so.8", NULL},
            {"version", gone ? "8.0.0" : "7.6.5", NULL}};
        const struct wc_finding_record f = {.id = "symbol-version-not-found",
                                            .facts = {.p = facts, .n = 5},
                                            .host = NOBODY,
                                            .object = NOBODY};
        const struct advice advice = advised(&new_scene()->stack, &f);
        assert_int_equal(strstr(advice.text, "built with cuDNN 8.0.0") != NULL, gone);
        assert_int_equal(advice.action == WC_ACTION_UPGRADE_HOST, gone);
    }
}

/* tensorflow#26182: only what cuDNN itself needs is for another cuDNN to bring. */
static void a_cudnn_for_another_cuda_is_advised_where_cudnn_needs_it(void **state) {
    (void)state;
    static const char *const needs[] = {"/usr/lib/libcudnn.so.7", "/opt/tf/_pywrap.so"};
    for (int i = 0; i < 2; i++) {
        const struct wc_fact facts[] = {{"asked for", "/opt/tf/_pywrap.so", NULL},
                                        {"missing", "libcublas.so.10.0", NULL},
                                        {"needed by", needs[i], NULL}};
        const struct wc_finding_record f = {.id = "dependency-missing",
                                            .facts = {.p = facts, .n = 3},
                                            .host = NOBODY,
                                            .object = NOBODY};
        const char *text = advised(&new_scene()->stack, &f).text;
        assert_non_null(strstr(text, "the package that contains libcublas.so.10.0"));
        assert_int_equal(strstr(text, "or a cuDNN for the CUDA") != NULL, i == 0);
    }
}

/* No replay asks a library of LD_AUDIT; and the package of a mixture is known by its directory. */
static void what_no_replay_shows(void **state) {
    (void)state;
    struct scene *s = new_scene();
    const char *audit = "LD_AUDIT=/opt/stage.so";
    const int64_t facade = add_facade(s, "/v/nvidia/cudnn/lib", draw_release(9), NOBODY);
    const struct wc_finding_record f = {.id = "parts-differ", .host = NOBODY, .object = facade};
    struct wc_record r = begin(WC_KIND_package);
    char memory[4096];
    struct wc_buffer_arena arena;
    struct edit e;
    wc_buffer_arena_begin(&arena, memory, sizeof memory);
    assert_int_equal(advised(&s->stack, &f).action, WC_ACTION_REINSTALL);
    assert_false(beyond_edit(&arena.arena, &s->stack, &f, NULL, WC_ACTION_REINSTALL, "", &e));
    r.u.package.package = "nvidia-cudnn-cu12";
    r.u.package.package_version = "9.1.0.70";
    r.u.package.prefix = "/v";
    r.u.package.installation_path = s->stack.objects.p[0].r.installation_path = "/v/nvidia/cudnn";
    apply(s, &r);
    assert_true(beyond_edit(&arena.arena, &s->stack, &f, NULL, WC_ACTION_REINSTALL, "", &e));
    assert_int_equal(e.kind, EDIT_REINSTALL);
    assert_string_equal(e.name, "nvidia-cudnn-cu12");
    assert_string_equal(e.value, "9.1.0.70");
    assert_string_equal(e.environment, "/v");
    s->stack.process.environment = (struct wc_strings){&audit, 1};
    assert_non_null(strstr(advised(&s->stack, &f).text, "without LD_AUDIT"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_releases_have_dropped_asks_for_a_newer_host),
        cmocka_unit_test(what_no_replay_shows),
        cmocka_unit_test(a_cudnn_for_another_cuda_is_advised_where_cudnn_needs_it),
        cmocka_unit_test(every_finding_has_a_sentence_of_its_own),
        cmocka_unit_test(a_path_of_the_computer_that_built_it_is_linked_anew),
        cmocka_unit_test(of_a_lookup_in_the_program_what_to_open),
        cmocka_unit_test(a_status_about_the_gpu_is_not_looked_for_in_the_driver),
        cmocka_unit_test(a_row_says_what_is_asked),
        cmocka_unit_test(what_is_not_known_is_not_in_it),
        cmocka_unit_test(a_part_of_another_cuda_is_put_back),
        cmocka_unit_test(an_older_release_is_said_alone),
        cmocka_unit_test(a_driver_is_to_be_had_in_several_ways),
        cmocka_unit_test(an_empty_driver_is_that_of_an_image),
        cmocka_unit_test(a_part_that_was_opened_by_its_path_is_opened_no_more),
        cmocka_unit_test(a_build_for_gpus_is_named),
        cmocka_unit_test(two_owners_of_the_same_files_need_two_environments),
        cmocka_unit_test(a_release_of_the_host_takes_the_other_cudnn),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
