/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was asked for and did not come in, and what works together: library-not-found,
 * dependency-missing, part-missing, the mixed sets, two-copies-loaded.
 */
#include "support_stack.h"

static const char ctypes[] = "/usr/lib/python3.11/lib-dynload/_ctypes.so";

/* ---- library-not-found ---- */

static void names_that_are_tried_in_turn_are_no_finding(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/paddle/libphi.so");
    add_failure(s, host, NULL, "/venv/nvidia/cudnn/lib/libcudnn.so",
                not_found(s, "/venv/nvidia/cudnn/lib/libcudnn.so"));
    add_failure(s, host, NULL, "libcudnn.so.9", NULL);
    assert_finds(s, "library-not-found");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_int_equal(r->host, host);
    assert_true(has_fact(r, "asked for", "/venv/nvidia/cudnn/lib/libcudnn.so"));
    assert_true(has_fact(r, "asked for", "libcudnn.so.9"));
    add_facade(s, "/usr/local/cuda/lib64", draw_release(9), host);
    assert_finds(s, "");
}

static void a_miss_after_the_hit_is_a_finding(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/eight", draw_release(8), host);
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    assert_finds(s, "library-not-found");
    /* A later record of what was there before makes it no newer. */
    struct wc_record again = begin(WC_KIND_object);
    again.u.object = wc_stack_object(&s->stack, 2)->r;
    apply(s, &again);
    assert_finds(s, "library-not-found");
    /* It goes on with the one that came, until it ends badly. */
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    add_outcome(s, 0, NULL);
    assert_finds(s, "");
    add_outcome(s, 1, NULL);
    assert_finds(s, "library-not-found");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
}

static void what_another_host_got_does_not_help(void **state) {
    (void)state;
    static const char *const create[] = {"cudnnCreate"};
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so"), other = add_host(s, "/opt/b/libother.so");
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    int64_t facade = add_facade(s, "/opt/nine", draw_release(9), other);
    assert_finds(s, "library-not-found");
    assert_true(has_fact(&s->found.p[0], "in the process by another way", "/opt/nine"));
    /* Unless it looked it up there by another name. */
    add_binding(s, host, facade, WC_binding_how_DLSYM, create, 1);
    assert_finds(s, "");
}

/* torch's own start: a library that needs cuDNN fails, Python loads cuDNN by path, tries again. */
static void a_need_that_is_met_by_path_is_no_finding(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_failure(s, NOBODY, ctypes, "/venv/torch/lib/libtorch_global_deps.so",
                not_found(s, "libcudnn.so.9"));
    assert_finds(s, "library-not-found");
    assert_non_null(strstr(s->found.p[0].title, "libtorch_global_deps.so needs libcudnn.so.9"));
    struct file f = {.role = WC_role_FACADE,
                     .path = "/venv/nvidia/cudnn/lib/libcudnn.so.9",
                     .version = draw_release(9),
                     .asked_by = NOBODY,
                     .asked_path = ctypes,
                     .how = WC_operation_DLOPEN};
    add_file(s, &f);
    assert_finds(s, "");
}

/* Who opens for everybody makes nothing up for others. */
static void what_another_got_later_is_no_amends(void **state) {
    (void)state;
    static const struct {
        const char *failed, *later;
        bool amends;
    } cases[] = {
        {"/v/onnxruntime/capi/libonnxruntime_providers_cuda.so", "/v/torch/lib/libtorch_cuda.so",
         false},
        {"/opt/trt8/lib/libnvinfer.so.8", "/opt/trt10/lib/libnvinfer.so.10", true},
        {"/opt/plugins/a.so", "/opt/plugins/b.so", true},
        {"/opt/a/x.so", NULL, true}, /* by whom is not known */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = new_scene();
        add_failure(s, NOBODY, ctypes, cases[i].failed, not_found(s, "libcudnn.so.8"));
        struct file host = {.role = WC_role_HOST,
                            .path = cases[i].later ? cases[i].later : "/opt/b/y.so",
                            .version = WC_VERSION_NONE,
                            .asked_by = NOBODY,
                            .asked_path = ctypes,
                            .how = WC_operation_DLOPEN};
        int64_t by = add_file(s, &host);
        struct file facade = {.role = WC_role_FACADE,
                              .path = "/opt/cudnn/libcudnn.so.9",
                              .version = draw_release(9),
                              .asked_by = by,
                              .asked_path = cases[i].later,
                              .how = WC_operation_NEEDED};
        add_file(s, &facade);
        if (!cases[i].later)
            s->stack.objects.p[s->stack.objects.n - 1].r.asked_by = NULL;
        assert_finds(s, cases[i].amends ? "" : "library-not-found");
    }
}

/* Transformer Engine's start: a name that the loader does not know, then the wheel's files by their
 * paths. */
static void what_the_copy_found_next_lacks_is_the_cause(void **state) {
    (void)state;
    struct scene *s = new_scene();
    const char *part = "/venv/nvidia/cudnn/lib/libcudnn_engines_runtime_compiled.so.9";
    add_failure(s, NOBODY, ctypes, part, not_found(s, "libcuda.so.1"));
    add_failure(s, NOBODY, ctypes, "libcudnn.so", not_found(s, "libcudnn.so"));
    assert_finds(s, "library-not-found driver-missing");
    s = new_scene();
    add_failure(s, NOBODY, ctypes, "libcudnn.so", not_found(s, "libcudnn.so"));
    assert_finds(s, "library-not-found");
    add_failure(s, NOBODY, ctypes, part, not_found(s, "libcuda.so.1"));
    assert_finds(s, "driver-missing");
}

static void a_file_that_the_loader_refused_is_not_called_missing(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_failure(s, add_host(s, "/opt/app/libhost.so"), NULL, "libcudnn.so.9",
                "/opt/x/libcudnn.so.9: words that no loader known here has");
    assert_finds(s, "library-not-found");
    assert_null(strstr(s->found.p[0].title, "not found"));
    assert_true(has_fact(&s->found.p[0], "asked for", "libcudnn.so.9"));
}

static void each_caller_has_its_own(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_failure(s, NOBODY, "/a/liba.so", "libcudnn.so.9", NULL);
    add_failure(s, NOBODY, "/b/libb.so", "libcudnn.so.9", NULL);
    add_failure(s, NOBODY, "/a/liba.so", "libcudnn.so", NULL);
    assert_finds(s, "library-not-found library-not-found");
    assert_true(has_fact(&s->found.p[0], "asked for", "libcudnn.so.9"));
    assert_int_equal(s->found.p[0].facts.n, s->found.p[1].facts.n + 1);
}

/* The file's name, its path or its SONAME may be what was asked for. */
static void what_came_in_later_is_known_by_any_name(void **state) {
    (void)state;
    for (int by = 0; by < 2; by++) {
        struct scene *s = new_scene();
        const char *caller = "/ort/state.so";
        add_failure(s, NOBODY, caller, "/ort/libprovider.so", not_found(s, "libcublasLt.so.13"));
        struct file f = {.role = WC_role_HOST,
                         .asked_by = NOBODY,
                         .asked_path = caller,
                         .path = by ? "/ort/libprovider.so" : "/ort/real-provider-1.so",
                         .soname = by ? "libother.so.1" : "libprovider.so",
                         .how = WC_operation_DLOPEN};
        add_file(s, &f);
        assert_finds(s, "");
    }
}

/* Who asks is no host before it got a cuDNN, and a library that was refused is no object at all. */
static void what_was_not_loaded_wants_something_all_the_same(void **state) {
    (void)state;
    static const char plugin[] = "/venv/jax_plugins/xla_cuda_plugin.so", *program = "/venv/bin/app";
    int minor = draw(1, 20), major = draw(8, 9);
    for (int refused = 0; refused < 3; refused++) {
        struct scene *s = new_scene();
        const char *name = print(s, "libcudnn.so.%d", major);
        const char *asked[] = {name, plugin, wc_base_name(plugin)};
        struct want w = {NOBODY,
                         WC_demand_kind_REQUIRED,
                         .spec = print(s, ">=%d.%d,<%d", major, minor, major + 1),
                         .package = "nvidia-cudnn-cu12",
                         .source = "METADATA of plugin 1",
                         .host_path = plugin};
        struct want elses = {NOBODY, WC_demand_kind_REQUIRED, .spec = "==7.1.4",
                             .package = "nvidia-cudnn-cu11", .host_path = "/other.so"};
        add_demand(s, &elses);
        add_demand(s, &w);
        add_failure(s, NOBODY, refused ? program : plugin, asked[refused], not_found(s, name));
        assert_finds(s, "library-not-found");
        assert_true(has_fact(&s->found.p[0], "wanted", w.spec));
        assert_false(has_fact(&s->found.p[0], "wanted", "7.1.4"));
        assert_advised(s, &s->found.p[0], "install", w.spec);
    }
}

/* What it was built with is as good as what its package requires. */
static void what_it_was_built_with_is_to_be_installed(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    struct want w = {NOBODY, WC_demand_kind_BUILT, .built = text_of(s, v),
                     .host_path = "/venv/tensorflow/libtensorflow_cc.so.2"};
    add_demand(s, &w);
    add_failure(s, NOBODY, w.host_path, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    assert_finds(s, "library-not-found");
    assert_advised(s, &s->found.p[0], "install", print(s, "built with %s", w.built));
}

/* A wheel of another major lies where it was searched: for its CUDA there is one of this major. */
static void another_major_tells_which_cuda_is_meant(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct looked_at l = {.path = "/venv/nvidia/cudnn/lib/libcudnn.so.9",
                          .soname = "libcudnn.so.9",
                          .kind = WC_installation_kind_WHEEL,
                          .installation = "nvidia-cudnn-cu12"};
    add_looked_at(s, &l);
    add_failure(s, NOBODY, "/v/libhost.so", "libcudnn.so.8", not_found(s, "libcudnn.so.8"));
    assert_finds(s, "library-not-found");
    assert_true(has_fact(&s->found.p[0], "another major is there", l.path));
}

static void what_has_nothing_to_do_with_cudnn_is_no_finding(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_failure(s, host, NULL, "libnvrtc.so", not_found(s, "libnvrtc.so"));
    add_failure(s, host, NULL, "libother.so", not_found(s, "libelse.so.1"));
    struct wc_record r = begin(WC_KIND_failure);
    r.u.failure.operation = WC_operation_DLSYM;
    r.u.failure.function = "cudnnCreate";
    r.u.failure.name = "libcudnn.so.9";
    r.u.failure.caller_object = host;
    apply(s, &r);
    assert_finds(s, "");
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_OK);
}

/* ---- dependency-missing ---- */

static void a_need_outside_of_cudnn(void **state) {
    (void)state;
    struct scene *s = new_scene();
    const char *provider = "/ort/libonnxruntime_providers_cuda.so", *loader = "/ort/state.so";
    add_failure(s, NOBODY, loader, provider, not_found(s, "libcublasLt.so.13"));
    add_failure(s, NOBODY, loader, provider, not_found(s, "libcublasLt.so.13"));
    assert_finds(s, "dependency-missing");
    assert_non_null(strstr(s->found.p[0].title, "libcublasLt.so.13"));
    /* Somebody else's copy later does not undo it; one that the same caller loads does. */
    struct file lt = {.role = WC_role_CUDA_DEPENDENCY,
                      .part = "cublasLt",
                      .path = "/cuda/libcublasLt.so.13",
                      .version = WC_VERSION_NONE,
                      .asked_by = NOBODY,
                      .asked_path = "/torch/x.so",
                      .how = WC_operation_DLOPEN};
    add_file(s, &lt);
    assert_finds(s, "dependency-missing");
    lt.asked_path = loader;
    add_file(s, &lt);
    assert_finds(s, "");
}

/* A library of nobody's: none of our business, but where it is the program itself that lacks it. */
static void a_program_that_lacks_its_own_need(void **state) {
    (void)state;
    for (int own = 0; own < 2; own++) {
        struct scene *s = new_scene();
        const char *program = "/opt/vision/engine";
        add_failure(s, NOBODY, program, own ? program : "/opt/vision/plugin.so",
                    not_found(s, "libnvdla_compiler.so"));
        assert_finds(s, own ? "dependency-missing" : "");
    }
}

/* A framework's own library is the last thing that anybody asked for before a bad end. */
static void a_framework_that_gets_no_further(void **state) {
    static const struct {
        const char *name, *missing;
        bool told;
    } rows[] = {
        {"libonnxruntime_providers_shared.so", "libonnxruntime_providers_shared.so", true},
        {"/opt/triton/libtriton_onnxruntime.so", "libonnxruntime.so.1", true},
        {"/opt/torchaudio/lib/libtorchaudio_ffmpeg6.so", "libavutil.so.58", true},
        {"libnvinfer.so.7", "libnvinfer.so.7", false}, /* optional for some */
        {"libnvidia-ml.so.1", "libnvidia-ml.so.1", false},
        {"libicudata.so.72", "libicudata.so.72", true},
        {"/opt/app/plugin.so", "libicudata.so.72", true},
    };

    (void)state;
    WC_EACH_ROW(row, rows) {
        enum { LAST, WITH_CUDA, NOT_LAST, CASES };
        for (int which = 0; which < CASES; which++) {
            struct scene *s = new_scene();
            struct wc_record r = begin(WC_KIND_request);
            if (which == WITH_CUDA) /* it has come further than that */
                add_file(s, &(struct file){.role = WC_role_CUDA_DEPENDENCY,
                                           .part = "cudart",
                                           .path = "/cuda/libcudart.so.12",
                                           .version = WC_VERSION_NONE,
                                           .asked_by = NOBODY,
                                           .how = WC_operation_DLOPEN});
            r.u.request.name = row->name;
            r.u.request.request = s->requests + 1;
            apply(s, &r);
            add_failure(s, NOBODY, "/opt/app/service", row->name, not_found(s, row->missing));
            r.u.request.request = s->requests + 1;
            if (which == NOT_LAST) /* of another path it is there */
                apply(s, &r);
            assert_finds(s, "");
            add_outcome(s, 1, NULL);
            const bool is_there = strcmp(row->missing, row->name) != 0; /* and lacks something */
            assert_finds(s, row->told && which != NOT_LAST ? "dependency-missing" : "");
            if (s->found.n) {
                assert_non_null(strstr(s->found.p[0].title, row->missing));
                assert_int_equal(s->found.p[0].severity,
                                 is_there ? WC_severity_ERROR : WC_severity_WARNING);
            }
            add_outcome(s, 0, NULL);
            assert_finds(s, "");
        }
    }
}

/* Another release of the major that is there: a question in passing, where nothing came of it; of
 * one that opens for all also where it comes later (CuPy 13.6). What a file needs is none. */
static void another_release_of_what_is_there(void **state) {
    static const char script[] = "/usr/bin/python3", host[] = "/opt/app/libhost.so";
    static const struct {
        const char *caller, *name;
        int64_t status;
        bool later, told;
        const char *file;
    } rows[] = {
        {script, "libcudnn.so.9.99.0", 0, false, false, NULL},
        {script, "libcudnn.so.9.99.0", 1, false, true, NULL},
        {script, "libcudnn.so.9.99.0", 0, true, true, NULL},
        {ctypes, "libcudnn.so.9.99.0", 0, true, false, NULL},
        {ctypes, "libcudnn.so.9.99.0", 1, true, false, NULL},
        {host, "libcudnn.so.9.99.0", 1, true, true, NULL},
        {ctypes, "libcudnn-0b1c2d3e.so.9.99.0", 1, true, true, "/s/paddle/libpaddle.so"},
        {script, "libcudnn.so.8.8.1", 0, false, true, NULL}, /* of another major there is none */
        {ctypes, "libcudnn.so.8.8.1", 1, true, true, NULL},
    };
    (void)state;
    WC_EACH_ROW(row, rows) {
        struct scene *s = new_scene();
        int64_t by = add_host(s, "/opt/app/host");
        if (!row->later)
            add_facade(s, "/opt/cudnn", version_of(9, 8, 0), by);
        add_failure(s, NOBODY, row->caller, row->file ?: row->name, not_found(s, row->name));
        if (row->later)
            add_facade(s, "/opt/cudnn", version_of(9, 8, 0), by);
        add_outcome(s, row->status, NULL);
        assert_finds(s, row->told ? "library-not-found" : "");
    }
}

/* As the shim logs it: the request, and that it failed. */
static void ask_in_vain(struct scene *s, const char *caller, const char *name,
                        const char *missing) {
    struct wc_record r = begin(WC_KIND_request);

    r.u.request.name = name;
    r.u.request.request = s->requests + 1;
    apply(s, &r);
    add_failure(s, NOBODY, caller, name, not_found(s, missing));
}

/* The failure with which it ended is the error; what it had caught before is a warning. */
static void what_was_caught_is_a_warning(void **state) {
    static const char old[] = "/v/old/lib/libold.so", speech[] = "/v/speech/lib/libspeech.so";
    static const char host[] = "/opt/app/libhost.so";
    static const struct {
        const char *caller, *asked[3], *missing[3], *first, *found;
    } rows[] = {
        {ctypes, {"libcudnn.so.8", "libcudnn.so.9"}, {NULL}, "asked for libcudnn.so.9", "E"},
        {host, {"libcudnn.so.8", "libcudnn.so.9"}, {NULL}, "asked for libcudnn.so.9", "E"},
        {ctypes,
         {"libcudnn.so.10", "libcudnn.so.9", "libcudnn.so.8"},
         {NULL},
         "asked for libcudnn.so.8",
         "E"},
        {ctypes,
         {old, speech},
         {"libcudnn.so.8", "libcudnn.so.9"},
         "libspeech.so needs libcudnn.so.9",
         "EW"},
        {ctypes, {speech, "libasound.so.99"}, {"libcudnn.so.9"}, "libspeech.so needs", "WW"},
        /* Who is no script may go on without an exception, to fail for it later. */
        {host, {speech, "libasound.so.99"}, {"libcudnn.so.9"}, "libspeech.so needs", "EW"},
        /* Parts of what is not there. */
        {host, {"libcudnn.so.9", "libcudnn_ops.so.9"}, {NULL}, "asked for libcudnn.so.9", "E"},
    };

    (void)state;
    WC_EACH_ROW(row, rows) {
        struct scene *s = new_scene();
        char found[4] = "";
        for (size_t i = 0; i < 3 && row->asked[i]; i++)
            ask_in_vain(s, row->caller, row->asked[i],
                        row->missing[i] ? row->missing[i] : row->asked[i]);
        add_outcome(s, 1, NULL);
        diagnose(s);
        for (size_t i = 0; i < s->found.n && i < 3; i++)
            found[i] = s->found.p[i].severity == WC_severity_ERROR ? 'E' : 'W';
        assert_string_equal(found, row->found);
        assert_non_null(strstr(s->found.p[0].title, row->first));
        assert_non_null(strstr(row->first, wc_base_name(s->found.p[0].facts.p[0].value)));
    }
}

/* What falls back to the CPU in silence is told as an error; what its worker died of comes first.
 */
static void what_was_survived_is_a_warning(void **state) {
    (void)state;
    struct scene *s = new_scene();
    ask_in_vain(s, ctypes, "libcudnn.so.9", "libcudnn.so.9");
    for (int status = -1; status < 2; status++) {
        if (status >= 0)
            add_outcome(s, status, NULL);
        assert_finds(s, "library-not-found");
        assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    }
    /* It went on to start the process that failed. */
    s->stack.failed_child = s->stack.failures.p[0].time + 1;
    assert_finds(s, "library-not-found");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
}

/* People know the script, not the library by which it asks. */
static void a_script_is_who_asked(void **state) {
    static const char *const arguments[] = {"/usr/bin/python3", "/home/ada/train.py"};
    static const char bridge[] =
        "/usr/lib/python3.12/lib-dynload/_ctypes.cpython-312-x86_64-linux-gnu.so";
    (void)state;
    for (size_t known = 0; known < 2; known++) {
        struct scene *s = new_scene();
        s->stack.process.arguments = (struct wc_strings){arguments, 1 + known};
        add_failure(s, NOBODY, bridge, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
        assert_finds(s, "library-not-found");
        assert_non_null(
            strstr(s->found.p[0].title, known ? "train.py asked for" : "python asked for"));
        assert_true(has_fact(&s->found.p[0], "asked by", bridge));
    }
    /* By its requirement a package is who asked, unless there are two of them; by a module of its
     * own, too. */
    for (size_t i = 0; i < 4; i++) {
        static const char *const titles[] = {"wavegen 2.1 asked for", "train.py asked for",
                                             "wavegen 2.1 asked for", "_core.so asked for"};
        const char *asker = i < 2 ? bridge : "/site/wavegen/_core.so";
        const size_t packages = 1 + i % 2;
        struct scene *s = new_scene();
        s->stack.process.arguments = (struct wc_strings){arguments, 2};
        add_failure(s, NOBODY, asker, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
        for (size_t d = 0; d < 2 * packages; d++)
            add_demand(s, &(struct want){
                              .host = WC_NULL,
                              .host_path = asker,
                              .kind = WC_demand_kind_REQUIRED,
                              .spec = d % 2 ? ">=9.8" : "<10",
                              .source = d < 2 ? "METADATA of wavegen 2.1" : "METADATA of tts 1.0",
                              .source_path = d < 2 ? "/site/wavegen-2.1.dist-info/METADATA"
                                                   : "/site/tts-1.0.dist-info/METADATA"});
        assert_finds(s, "library-not-found");
        assert_non_null(strstr(s->found.p[0].title, titles[i]));
    }
}

/* Who tries one after another lacks none of them for certain. */
static void one_of_several_that_are_tried(void **state) {
    struct scene *s = new_scene();
    (void)state;
    add_failure(s, NOBODY, "/opt/app/service", "/opt/torchaudio/lib/libtorchaudio_ffmpeg6.so",
                not_found(s, "libavutil.so.58"));
    add_outcome(s, 1, NULL);
    assert_finds(s, "dependency-missing");
    add_failure(s, NOBODY, "/opt/app/service", "/opt/torchaudio/lib/libtorchaudio_ffmpeg5.so",
                not_found(s, "libavutil.so.57"));
    add_outcome(s, 1, NULL);
    assert_finds(s, "");
}

static void a_facade_that_lacks_its_own_need(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libz.so.1"));
    assert_finds(s, "dependency-missing");
    assert_int_equal(s->found.p[0].host, host);
    assert_int_equal(s->found.p[0].object, WC_NULL);
    assert_false(has_fact(&s->found.p[0], "needed by", ""));
    /* The search for what it needs begins at the file that was found. */
    struct wc_record r = begin(WC_KIND_search);
    r.u.search.search = 1;
    r.u.search.request = s->requests;
    r.u.search.name = "libz.so.1";
    r.u.search.caller = "/opt/cudnn/libcudnn.so.9";
    r.u.search.searched = (struct wc_strings){(const char *[]){"default directory /lib/"}, 1};
    apply(s, &r);
    assert_finds(s, "dependency-missing");
    assert_true(has_fact(&s->found.p[0], "needed by", "/opt/cudnn/libcudnn.so.9"));
    assert_true(has_fact(&s->found.p[0], "searched", "default directory /lib/"));
}

/* cuDNN 9 goes through all names: the one that was there tells why it was of no use. */
static void a_part_whose_need_is_missing_is_not_missing_itself(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    add_part(s, "/opt/cudnn", "graph", v, facade);
    add_failed_part(s, facade, "ops", v, 2);
    add_failure(s, facade, NULL, "libcudnn_ops.so.9", not_found(s, "libcublasLt.so.12"));
    add_failure(s, facade, NULL, "libcudnn_ops.so", not_found(s, "libcudnn_ops.so"));
    assert_finds(s, "dependency-missing");
    assert_int_equal(s->found.p[0].object, facade);
    assert_int_equal(s->found.p[0].host, WC_NULL);
}

/* ---- part-missing ---- */

static void a_part_is_missing_when_its_last_name_failed(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    for (size_t names = 1; names <= 4; names++) {
        struct scene *s = new_scene();
        int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
        add_failed_part(s, facade, "graph", v, names);
        assert_finds(s, names < 4 ? "" : "part-missing");
        add_part(s, "/opt/cudnn", "graph", v, facade);
        assert_finds(s, "");
    }
}

static void optional_parts_are_missed_only_by_a_call(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/app/host");
    int64_t facade = add_facade(s, "/opt/cudnn", v, host);
    int64_t graph = add_part(s, "/opt/cudnn", "graph", v, facade);
    add_failed_part(s, graph, "engines_tensor_ir", v, 4);
    add_failed_part(s, graph, "ext", v, 4);
    assert_finds(s, "");
    add_call(s, "cudnnBackendFinalize", host, facade, 3000, WC_NULL);
    assert_finds(s, "");
    add_call(s, "cudnnBackendFinalize", host, facade, 1008, WC_NULL);
    assert_finds(s, "part-missing call-failed");
    assert_string_equal(s->found.p[1].explained_by, "part-missing");
    assert_non_null(strstr(s->found.p[0].title, "engines_tensor_ir, ext"));
    assert_int_equal(s->found.p[0].object, facade);
}

/* nvidia-cudnn-cu13 9.20 looks for engines_tensor_ir, which its wheel lacks. */
static void a_part_that_the_release_never_had_is_said(void **state) {
    (void)state;
    for (int minor = 19; minor <= 21; minor++) {
        struct scene *s = new_scene();
        const struct wc_version v = {9, minor, 0, -1};
        int64_t host = add_host(s, "/opt/app/host");
        int64_t facade = add_facade(s, "/opt/cudnn", v, host);
        int64_t graph = add_part(s, "/opt/cudnn", "graph", v, facade);
        add_failed_part(s, graph, "engines_tensor_ir", v, 4);
        add_call(s, "cudnnBackendFinalize", host, facade, 1008, WC_NULL);
        assert_finds(s, "part-missing call-failed");
        assert_int_equal(has_fact(&s->found.p[0], "mind",
                                  "cuDNN 9.20.0 looks for engines_tensor_ir, which its packages "
                                  "hold from 9.21 on"),
                         minor == 20);
    }
}

static void a_host_that_asks_for_a_part_is_not_cudnn(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/app/host");
    add_failed_part(s, host, "graph", v, 4);
    assert_finds(s, "library-not-found");
    assert_advised(s, &s->found.p[0], "install", "libcudnn_graph.so");
    /* It works without, unless that was the last that it asked for. */
    add_facade(s, "/opt/cudnn", v, host);
    assert_finds(s, "");
    add_failed_part(s, host, "adv", v, 4);
    assert_finds(s, "");
    add_outcome(s, 0, NULL);
    assert_finds(s, "");
    add_outcome(s, 1, NULL);
    assert_finds(s, "library-not-found");
    assert_advised(s, &s->found.p[0], "reinstall", "libcudnn_adv.so");
    add_part(s, "/opt/cudnn", "adv", v, host);
    assert_finds(s, "");
}

/* The parts of 8 are asked for where there is a 9: another part of that name will never come. */
static void names_of_another_major_are_not_to_be_installed(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/app/host");
    add_facade(s, "/opt/cudnn", v, host);
    add_failure(s, host, NULL, "libcudnn_ops_infer.so", not_found(s, "libcudnn_ops_infer.so"));
    add_outcome(s, 0, "SIGABRT");
    assert_finds(s, "library-not-found");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_true(has_fact(r, "mind", "is a part of cuDNN 8, the last that has one of that name"));
    assert_true(has_fact(r, "mind", text_of(s, v)));
    assert_advised(s, r, "upgrade-host", "host");
}

/* ---- sets ---- */

static void two_sets_are_not_mixed_up(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), w = other_minor(v, 1);
    int64_t host = add_host(s, "/opt/app/host");
    int64_t a = add_facade(s, "/opt/a", v, host), b = add_facade(s, "/opt/b", w, host);
    add_part(s, "/opt/a", "graph", v, a);
    int64_t graph = add_part(s, "/opt/b", "graph", w, b);
    add_part(s, "/opt/b", "engines_precompiled", w, graph);
    assert_finds(s, "two-copies-loaded");
    /* One that cuDNN did not ask for goes by its directory. */
    struct file f = {.role = WC_role_PART,
                     .path = "/opt/b/libcudnn_ops.so.9",
                     .part = "ops",
                     .version = w,
                     .source = WC_version_source_DATA_SYMBOL,
                     .asked_by = host};
    add_file(s, &f);
    assert_finds(s, "two-copies-loaded");
    f.path = "/opt/a/libcudnn_cnn.so.9";
    f.part = "cnn";
    add_file(s, &f);
    assert_finds(s, "parts-differ two-copies-loaded");
    assert_int_equal(s->found.p[0].object, a);
}

static void what_is_unknown_does_not_differ(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, NOBODY);
    add_part(s, "/opt/cudnn", "graph", v, facade);
    struct file f = {.role = WC_role_PART,
                     .path = "/opt/cudnn/libcudnn_heuristic.so.9",
                     .part = "heuristic",
                     .version = WC_VERSION_NONE,
                     .asked_by = facade};
    add_file(s, &f);
    assert_finds(s, "");
    /* Bounds that exclude the others' release count. */
    f.floor = print(s, "9.%d.0", v.minor + 1);
    f.path = "/opt/cudnn/libcudnn_ops.so.9";
    f.part = "ops";
    add_file(s, &f);
    assert_finds(s, "parts-differ");
}

/* The loader's word that one part lacks what another imports: they are not of one release. */
static void a_part_that_the_loader_refused_differs(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    for (int far = 0; far < 2; far++) {
        struct scene *s = new_scene();
        const char *file = far ? "/opt/other/libcudnn_ops.so.9" : "/opt/cudnn/libcudnn_ops.so.9";
        int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
        add_part(s, "/opt/cudnn", "graph", v, facade);
        add_failed_part(s, facade, "cnn", v, 2);
        add_failure(s, facade, NULL, "libcudnn_cnn.so.9",
                    print(s, "%s: undefined symbol: _Z1f, version libcudnn_graph.so.9", file));
        add_failure(s, facade, NULL, "libcudnn_cnn.so", not_found(s, "libcudnn_cnn.so"));
        assert_finds(s, "parts-differ");
        assert_string_equal(s->found.p[0].title,
                            "libcudnn_ops.so.9 does not fit the other parts of libcudnn.so.9: it "
                            "needs a function that is missing in graph");
        /* It did come in by another name, after all. */
        add_part(s, "/opt/cudnn", "cnn", v, facade);
        assert_finds(s, "");
    }
}

/* What lacks the function, or wants it, is none of cuDNN: nothing is known about releases. */
static void a_refusal_that_is_not_among_parts_is_another_finding(void **state) {
    (void)state;
    struct wc_version v = draw_release(9);
    static const struct {
        const char *words, *found;
    } rows[] = {
        {"/opt/cudnn/libcudnn_ops.so.9: undefined symbol: f, version libcublasLt.so.12",
         "symbol-version-not-found"},
        {"/opt/cuda/libcublas.so.12: undefined symbol: f, version libcudnn_graph.so.9",
         "symbol-version-not-found"},
        {"/opt/cudnn/libcudnn_ops.so.9: undefined symbol: f", "part-missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
        add_failed_part(s, facade, "ops", v, 2);
        add_failure(s, facade, NULL, "libcudnn_ops.so.9", rows[i].words);
        add_failure(s, facade, NULL, "libcudnn_ops.so", not_found(s, "libcudnn_ops.so"));
        assert_finds(s, rows[i].found);
    }
    assert_string_equal(the_scene.found.p[0].title, "libcudnn.so.9 could not load its ops part");
}

/* cuDNN does not call dlerror: the file was there, and the reason is not known. */
static void a_part_that_was_there_was_refused(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/host"));
    struct looked_at l = {.path = "/opt/cudnn/libcudnn_ops.so.9", .soname = "libcudnn_ops.so.9"};
    add_failed_part(s, facade, "ops", v, 2);
    add_looked_at(s, &l);
    add_failure(s, facade, NULL, "libcudnn_ops.so.9", NULL);
    add_failure(s, facade, NULL, "libcudnn_ops.so", NULL);
    assert_finds(s, "part-missing");
    assert_string_equal(s->found.p[0].title, "libcudnn.so.9 could not load its ops part");
    assert_true(has_fact(&s->found.p[0], "found", l.path));
    assert_true(has_fact(&s->found.p[0], "mind",
                         "cuDNN did not ask for the loader's reason; LD_DEBUG=files prints it"));
}

/* One that is gone, or of another major, is no part of the set. */
static void what_does_not_belong_does_not_differ(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t facade = add_facade(s, "/opt/cudnn", v, NOBODY);
    struct file f = {.role = WC_role_PART,
                     .path = "/opt/cudnn/libcudnn_ops.so.9",
                     .part = "ops",
                     .version = other_minor(v, 1),
                     .source = WC_version_source_DATA_SYMBOL,
                     .unmapped = true,
                     .asked_by = facade};
    add_file(s, &f);
    f.unmapped = false;
    f.path = "/opt/cudnn/libcudnn_ops_infer.so.8";
    f.part = "ops_infer";
    f.version = draw_release(8);
    f.asked_by = NOBODY;
    add_file(s, &f);
    assert_finds(s, "");
}

/* A patch is a difference, the fourth field of a wheel is none. */
static void three_fields_make_a_release(void **state) {
    (void)state;
    struct wc_version v = draw_release(9), w = v;
    struct scene *s = new_scene();
    v.build = 51;
    int64_t facade = add_facade(s, "/opt/cudnn", v, NOBODY);
    w.build = 52;
    add_part(s, "/opt/cudnn", "graph", w, facade);
    assert_finds(s, "");
    w.patch++;
    s = new_scene();
    facade = add_facade(s, "/opt/cudnn", v, NOBODY);
    add_part(s, "/opt/cudnn", "graph", w, facade);
    assert_finds(s, "facade-and-parts-differ");
}

static void a_claim_counts_only_across_installations(void **state) {
    (void)state;
    struct wc_version v = draw_release(9), w = other_minor(v, 1);
    for (int far = 0; far < 2; far++) {
        struct scene *s = new_scene();
        int64_t facade = add_facade(s, "/opt/cudnn", v, NOBODY);
        add_part(s, "/opt/cudnn", "graph", v, facade);
        struct file f = {.role = WC_role_PART,
                         .part = "cnn",
                         .version = w,
                         .path =
                             far ? "/opt/other/libcudnn_cnn.so.9" : "/opt/cudnn/libcudnn_cnn.so.9",
                         .source = WC_version_source_PACKAGE_METADATA,
                         .asked_by = facade};
        add_file(s, &f);
        assert_finds(s, far ? "parts-differ part-from-other-installation" : "");
    }
}

static void a_variable_that_brings_foreign_parts_is_named(void **state) {
    (void)state;
    struct wc_version v = draw_release(9), w = other_minor(v, 1);
    struct scene *s = new_scene();
    add_variable(s, "LD_LIBRARY_PATH=/opt/keep:/opt/other/::/opt/more");
    int64_t facade = add_facade(s, "/opt/cudnn", v, NOBODY);
    add_part(s, "/opt/other", "graph", w, facade);
    assert_finds(s, "facade-and-parts-differ part-from-other-installation search-path-suspect");
}

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

/* ---- two-copies-loaded ---- */

static void two_copies_of_one_release_are_worth_a_note(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t one = add_host(s, "/opt/one/libone.so"), two = add_host(s, "/opt/two/libtwo.so");
    add_facade(s, "/opt/a", v, one);
    assert_finds(s, "");
    add_facade(s, "/opt/b", v, two);
    assert_finds(s, "two-copies-loaded");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    assert_int_equal(verdict_of(&s->stack, &s->found), WC_verdict_NOTES);
    assert_true(has_fact(&s->found.p[0], "used by", "/opt/one/libone.so"));
    assert_true(has_fact(&s->found.p[0], "used by", "/opt/two/libtwo.so"));
    add_facade(s, "/opt/c", other_minor(v, 1), two);
    assert_finds(s, "two-copies-loaded");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    assert_non_null(strstr(s->found.p[0].title, "3 cuDNN facades"));
}

/* cupy-cuda11x with cuDNN 8 and JAX with cuDNN 9: each has names of its own. */
static void copies_of_two_majors_are_worth_a_note(void **state) {
    (void)state;
    struct scene *s = new_scene();
    add_facade(s, "/opt/a", draw_release(8), add_host(s, "/opt/one/libone.so"));
    add_facade(s, "/opt/b", draw_release(9), add_host(s, "/opt/two/libtwo.so"));
    assert_finds(s, "two-copies-loaded");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    add_outcome(s, 0, "SIGSEGV");
    assert_finds(s, "two-copies-loaded");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
}

static void functions_of_a_library_that_is_no_cudnn(void **state) {
    (void)state;
    struct scene *s = new_scene();
    int64_t one = add_host(s, "/opt/one/libone.so"), two = add_host(s, "/opt/two/libtwo.so");
    int64_t facade = add_facade(s, "/opt/a", draw_release(9), two);
    add_binding(s, two, facade, WC_binding_how_SLOT, (const char *[]){"cudnnGetVersion"}, 1);
    add_binding(s, one, one, WC_binding_how_SLOT, (const char *[]){"cudnnCreate"}, 1);
    assert_finds(s, "");
    add_binding(s, two, one, WC_binding_how_SLOT, (const char *[]){"cudnnCreate"}, 1);
    assert_finds(s, ""); /* it may be the way to a facade of its own */
    add_demand(s, &(struct want){.host = two, .kind = WC_demand_kind_NEEDED, .spec = "==9.*"});
    assert_finds(s, "two-copies-loaded");
    assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
    assert_true(has_fact(&s->found.p[0], "answers", "/opt/one/libone.so"));
    assert_string_equal(s->found.p[0].title,
                        "libtwo.so gets cudnnCreate of libone.so, not of libcudnn.so.9");
    add_outcome(s, 1, NULL);
    assert_finds(s, "two-copies-loaded");
    assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
}

/* Some installers make files of links. */
static void the_same_bytes_under_two_names_are_one_copy(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/a/libcudnn.so.9",
                     .version = draw_release(9),
                     .asked_by = NOBODY,
                     .build_id = "5e5e"};
    add_file(s, &f);
    f.path = "/opt/a/libcudnn.so.9.1.0";
    add_file(s, &f);
    assert_finds(s, "");
    f.build_id = "1f1f";
    add_file(s, &f);
    assert_finds(s, "two-copies-loaded");
}

static void one_file_mapped_twice_is_one_copy(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/a/libcudnn.so.9",
                     .version = draw_release(9),
                     .asked_by = NOBODY,
                     .inode = 7};
    add_file(s, &f);
    f.path = "/opt/b/libcudnn.so.9"; /* a hard link */
    add_file(s, &f);
    assert_finds(s, "");
    f.device = 2;
    add_file(s, &f);
    assert_finds(s, "two-copies-loaded");
    s = new_scene();
    f.inode = WC_NULL; /* then the path tells */
    add_file(s, &f);
    add_file(s, &f);
    assert_finds(s, "");
    f.inode = 8;
    s = new_scene(); /* nothing else in the process */
    add_file(s, &f);
    f.inode++;
    add_file(s, &f);
    assert_finds(s, "two-copies-loaded");
}

static void a_copy_that_is_gone_is_none(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    add_facade(s, "/opt/a", v, host);
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/b/libcudnn.so.9",
                     .unmapped = true,
                     .version = other_minor(v, -1),
                     .asked_by = host};
    add_file(s, &f);
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    assert_finds(s, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_tried_in_turn_are_no_finding),
        cmocka_unit_test(a_miss_after_the_hit_is_a_finding),
        cmocka_unit_test(what_the_copy_found_next_lacks_is_the_cause),
        cmocka_unit_test(what_another_host_got_does_not_help),
        cmocka_unit_test(a_need_that_is_met_by_path_is_no_finding),
        cmocka_unit_test(what_another_got_later_is_no_amends),
        cmocka_unit_test(a_file_that_the_loader_refused_is_not_called_missing),
        cmocka_unit_test(each_caller_has_its_own),
        cmocka_unit_test(what_came_in_later_is_known_by_any_name),
        cmocka_unit_test(what_was_not_loaded_wants_something_all_the_same),
        cmocka_unit_test(what_it_was_built_with_is_to_be_installed),
        cmocka_unit_test(another_major_tells_which_cuda_is_meant),
        cmocka_unit_test(what_has_nothing_to_do_with_cudnn_is_no_finding),
        cmocka_unit_test(a_need_outside_of_cudnn),
        cmocka_unit_test(a_program_that_lacks_its_own_need),
        cmocka_unit_test(a_framework_that_gets_no_further),
        cmocka_unit_test(one_of_several_that_are_tried),
        cmocka_unit_test(a_script_is_who_asked),
        cmocka_unit_test(what_was_caught_is_a_warning),
        cmocka_unit_test(what_was_survived_is_a_warning),
        cmocka_unit_test(another_release_of_what_is_there),
        cmocka_unit_test(a_facade_that_lacks_its_own_need),
        cmocka_unit_test(a_part_whose_need_is_missing_is_not_missing_itself),
        cmocka_unit_test(a_part_is_missing_when_its_last_name_failed),
        cmocka_unit_test(optional_parts_are_missed_only_by_a_call),
        cmocka_unit_test(a_part_that_the_release_never_had_is_said),
        cmocka_unit_test(a_host_that_asks_for_a_part_is_not_cudnn),
        cmocka_unit_test(names_of_another_major_are_not_to_be_installed),
        cmocka_unit_test(two_sets_are_not_mixed_up),
        cmocka_unit_test(what_is_unknown_does_not_differ),
        cmocka_unit_test(a_part_that_the_loader_refused_differs),
        cmocka_unit_test(a_refusal_that_is_not_among_parts_is_another_finding),
        cmocka_unit_test(a_part_that_was_there_was_refused),
        cmocka_unit_test(what_does_not_belong_does_not_differ),
        cmocka_unit_test(three_fields_make_a_release),
        cmocka_unit_test(a_claim_counts_only_across_installations),
        cmocka_unit_test(a_variable_that_brings_foreign_parts_is_named),
        cmocka_unit_test(two_copies_of_one_release_are_worth_a_note),
        cmocka_unit_test(copies_of_two_majors_are_worth_a_note),
        cmocka_unit_test(functions_of_a_library_that_is_no_cudnn),
        cmocka_unit_test(the_same_bytes_under_two_names_are_one_copy),
        cmocka_unit_test(one_file_mapped_twice_is_one_copy),
        cmocka_unit_test(a_copy_that_is_gone_is_none),
        cmocka_unit_test(only_the_facades_own_lookups_tell_of_parts),
        cmocka_unit_test(an_installation_is_named_once),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
