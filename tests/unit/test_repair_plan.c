/* SPDX-License-Identifier: Apache-2.0 */
/* What is tried, and which of it is printed: tools/diagnose/candidates/, judge.c, plan.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support_environment.h"
#include "tools/diagnose/candidates/candidates.h"
#include "tools/diagnose/plan.h"
#include "tools/diagnose/wheels.h"

/* ---- candidates ---- */

static bool has(const struct candidates *c, const struct edit *edits, size_t n) {
    for (size_t i = 0; i < c->n; i++) {
        bool same = c->p[i].n == n;
        for (size_t k = 0; same && k < n; k++)
            same = c->p[i].p[k].kind == edits[k].kind &&
                   wc_str_same(c->p[i].p[k].name, edits[k].name) &&
                   wc_str_same(c->p[i].p[k].value, edits[k].value);
        if (same)
            return true;
    }
    return false;
}

/* The outcome outlives its candidates, which point to its texts (names of Debian packages). */
struct found {
    struct heap_arena memory;
    struct candidates c;
    struct outcome base;
    struct replay r;
};

static void play(struct environment *e, struct found *f) {
    heap_arena_begin(&f->memory);
    f->c = (struct candidates){.memory = &f->memory.arena};
    assert_null(replay_begin(&f->r, e->log, &f->base));
}

static void find(struct found *f) {
    candidates_make(&f->c, &f->r, &f->base, NULL);
}

/* Where the host has asked for that. */
static void find_for(struct environment *e, const char *name, struct found *f) {
    struct wc_sink to = source_sink(e->log);
    struct wc_record request;

    wc_record_begin(&request, WC_KIND_request);
    request.u.request.request = 2;
    request.u.request.operation = WC_operation_DLOPEN;
    request.u.request.name = name;
    request.u.request.caller = e->host;
    to.add(to.ctx, &request);
    play(e, f);
    find(f);
}

static void found_end(struct found *f) {
    free(f->c.p);
    outcome_end(&f->base);
    replay_end(&f->r);
    heap_arena_end(&f->memory);
}

static void candidates_of_a_path_and_of_packages(void **state) {
    struct environment *e = *state;
    const char *variable = "LD_LIBRARY_PATH=/a:/b";
    struct found f;

    put_library(e, "/a/libcudnn.so.9", "9.0.0");
    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu12 <10, >=9.8");
    observe(e, NULL, variable);
    play(e, &f);
    find(&f);
    const struct edit without_a = {.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = "/b"};
    const struct edit without = {.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"};
    const struct edit with = {.kind = EDIT_SET,
                              .name = "LD_LIBRARY_PATH",
                              .value = in(e, "%s/nvidia/cudnn/lib:/a:/b", e->site)};
    const struct edit pinned[] = {
        {.kind = EDIT_INSTALL, .name = "nvidia-cudnn-cu12", .value = "<10,>=9.8"},
        {.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"},
    };
    assert_true(has(&f.c, &without_a, 1));
    assert_true(has(&f.c, &without, 1));
    assert_true(has(&f.c, &with, 1));
    assert_true(has(&f.c, pinned, 1));
    assert_true(has(&f.c, pinned, 2));
    for (size_t i = 0; i < f.c.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(f.c.p[i].n == f.c.p[k].n && f.c.p[i].n == 1 &&
                         memcmp(&f.c.p[i].p[0], &f.c.p[k].p[0], sizeof(f.c.p[i].p[0])) == 0);
    found_end(&f);
}

/* By _ctypes a script asks for the facade that a package has brought already (ctranslate2). */
static void nothing_is_imported_before_who_opened_none(void **state) {
    struct environment *e = *state;
    struct wc_sink to;
    struct found f;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu12 <10, >=9.8");
    observe(e, NULL, NULL);
    e->host = in(e, "/usr/lib/python3.12/lib-dynload/_ctypes.cpython-312-x86_64-linux-gnu.so");
    write_image(e->host, &(struct image){.soname = "_ctypes.so", .version = WC_VERSION_NONE});
    to = source_sink(e->log);
    observe_host(e, &to, 9);
    find_for(e, in(e, "%s/nvidia/cudnn/lib/libcudnn.so.9", e->site), &f);
    assert_true(f.c.n > 0);
    for (size_t i = 0; i < f.c.n; i++)
        assert_int_not_equal(f.c.p[i].p[0].kind, EDIT_IMPORT_FIRST);
    found_end(&f);
}

/* One library after another would be asked for. */
static void where_nothing_of_cuda_is_all_of_it_comes_at_once(void **state) {
    static const struct {
        const char *asked, *there, *package[3];
        size_t folders; /* that the variable has to name */
    } cases[] = {
        {"libcudart.so.11.0",
         NULL,
         {"nvidia-cuda-runtime-cu11", "nvidia-cublas-cu11", "nvidia-cuda-nvrtc-cu11"},
         3},
        {"libcublas.so.12",
         "nvidia/cuda_runtime/lib/libcudart.so.11.0", /* another CUDA's */
         {"nvidia-cuda-runtime-cu12", "nvidia-cublas-cu12", "nvidia-cuda-nvrtc-cu12"},
         3},
        {"libcudart.so.13", NULL, {"nvidia-cuda-runtime", "nvidia-cublas", "nvidia-cuda-nvrtc"}, 1},
        {"libcublas.so.12", "nvidia/cuda_runtime/lib/libcudart.so.12", {"nvidia-cublas-cu12"}, 0},
        {"libcublas.so.12", "../../libcudart.so.12", {"nvidia-cublas-cu12"}, 0}, /* of conda */
        {"libnvJitLink.so.12", NULL, {"nvidia-nvjitlink-cu12"}, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct environment *e = another(state);
        struct found f;
        if (cases[i].there)
            write_bytes(in(e, "%s/%s", e->site, cases[i].there), "", 0);
        put_host(e, NULL, NULL);
        observe(e, NULL, NULL);
        find_for(e, cases[i].asked, &f);
        bool whole = false, single = false;
        for (size_t k = 0; k < f.c.n; k++) {
            const struct candidate *x = &f.c.p[k];
            size_t folders = 0;
            single = single || (x->p[0].kind == EDIT_INSTALL && x->n == 1 &&
                                wc_str_same(x->p[0].name, cases[i].package[0]));
            if (x->n != 4)
                continue;
            whole = true;
            for (size_t m = 0; m < 3; m++)
                assert_string_equal(x->p[m].name, cases[i].package[m]);
            for (const char *at = x->p[3].value; (at = strstr(at, "/nvidia/")); at++)
                folders++;
            assert_int_equal(folders, cases[i].folders);
        }
        assert_int_equal(whole, cases[i].folders > 0);
        assert_int_equal(single, cases[i].folders == 0);
        found_end(&f);
    }
}

static void a_driver_that_nobody_looks_for_is_led_to(void **state) {
    const struct edit led = {
        .kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = "/run/opengl-driver/lib:/a"};

    for (int there = 0; there < 2; there++) {
        struct environment *e = another(state);
        struct found f;
        if (there)
            write_bytes("/run/opengl-driver/lib/libcuda.so.1", "", 0);
        put_host(e, NULL, NULL);
        observe(e, NULL, "LD_LIBRARY_PATH=/a");
        find_for(e, "libcuda.so.1", &f);
        assert_int_equal(has(&f.c, &led, 1), there);
        found_end(&f);
    }
}

static void a_missing_name_is_linked_to_what_lies_beside_it(void **state) {
    struct environment *e = *state;
    struct found f;
    bool linked = false;

    put_library(e, "/lib/libcudnn.so.9.1.0", "9.1.0");
    put_host(e, "/lib", NULL);
    observe(e, NULL, NULL);
    play(e, &f);
    assert_int_equal(f.base.got[0].files, 0);
    find(&f);
    for (size_t i = 0; i < f.c.n; i++)
        linked = linked || (f.c.p[i].p[0].kind == EDIT_LINK &&
                            wc_str_same(f.c.p[i].p[0].target, "libcudnn.so.9.1.0") &&
                            wc_str_ends(f.c.p[i].p[0].path, "/lib/libcudnn.so.9"));
    assert_true(linked);
    found_end(&f);
}

/* ---- the plan ---- */

struct planned {
    struct outcome seen; /* as whose findings */
    struct plan plan;
};

/* The findings are those that the replay without edits has, in a stack of their own. */
static void make(struct environment *e, struct planned *x) {
    struct wc_record request;
    struct replay r;

    (void)replay_begin(&r, e->log, &x->seen);
    replay_end(&r);
    assert_non_null(x->seen.source);
    x->seen.source->root = must_copy(place);
    wc_record_begin(&request, WC_KIND_request);
    request.u.request = e->log->requests.p[0].r;
    source_add(x->seen.source, &request);
    plan_make(&x->plan, x->seen.source, &x->seen.findings, NULL, NULL);
}

static void end(struct planned *x) {
    plan_end(&x->plan);
    outcome_end(&x->seen);
}

static const struct plan_of_finding *plan_of(const struct planned *x, const char *id) {
    for (size_t i = 0; i < x->seen.findings.n; i++)
        if (strcmp(x->seen.findings.p[i].id, id) == 0)
            return &x->plan.of[i];
    return NULL;
}

static bool offers(const struct plan_of_finding *of, enum edit_kind kind) {
    for (size_t i = 0; of && i < of->n; i++)
        WC_EACH(edit, of->p[i].edits)
            if (edit->kind == kind)
                return true;
    return false;
}

/* The host's search path leads to a wheel that is older than the host requires. */
static const struct plan_of_finding *plan_of_too_old(struct environment *e, const char *path,
                                                     struct planned *x) {
    const struct plan_of_finding *of;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    put_host(e, path, "nvidia-cudnn-cu12<10,>=9.8");
    observe(e, NULL, NULL);
    make(e, x);
    of = plan_of(x, "runtime-too-old");
    assert_non_null(of);
    return of;
}

static void the_pin_of_the_host_is_installed(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    of = plan_of_too_old(e, "$ORIGIN/../nvidia/cudnn/lib", &x);
    assert_true(of->n > 0);
    assert_int_equal(of->p[0].checked, REPAIR_REPLAYED);
    assert_null(of->p[0].why);
    assert_string_equal(of->p[0].action, "install");
    assert_non_null(
        strstr(of->p[0].command, "--target cudnn-wheels 'nvidia-cudnn-cu12<10,>=9.8' &&"));
    assert_non_null(strstr(of->p[0].from, "/nvidia/cudnn/lib"));
    assert_null(strstr(of->p[0].gives, "9.1.0"));
    assert_false(offers(of, EDIT_REINSTALL));
    end(&x);
}

/* The newest that a list of apt has, for the same CUDA, and what has to be of the same release. */
static void of_debian_comes_what_apt_knows(void **state) {
    static const struct edit edits[] = {
        {.kind = EDIT_INSTALL, .name = "libcudnn9-cuda-12", .value = "==9.10.2.21-1"},
        {.kind = EDIT_INSTALL, .name = "libcudnn9-dev-cuda-12", .value = "==9.10.2.21-1"},
    };
    static const char names[] = "/usr/lib/libcudnn.so.9\n", dev[] = "/usr/lib/libcudnn.so\n",
                      lists[] = "Package: libcudnn9-cuda-12\nVersion: 9.1.0.70-1\n\n"
                                "Package: libcudnn9-cuda-12\nVersion: 9.10.2.21-1\n\n"
                                "Package: libcudnn9-cuda-12\nVersion: 10.0.0.1-1\n\n"
                                "Package: libcudnn9-cuda-12\n\n"
                                "Package: libcudnn9-cuda-13\nVersion: 9.12.0.46-1\n";
    struct environment *e = *state;
    struct found f;

    put_library(e, "/usr/lib/libcudnn.so.9", "9.1.0");
    put_library(e, "/usr/lib/libcudnn.so", "9.1.0");
    write_bytes("/var/lib/dpkg/info/libcudnn9-cuda-12.list", names, strlen(names));
    write_bytes("/var/lib/dpkg/info/libcudnn9-dev-cuda-12.list", dev, strlen(dev));
    write_bytes("/var/lib/apt/lists/x_Packages", lists, strlen(lists));
    put_host(e, "/usr/lib", "nvidia-cudnn-cu12<10,>=9.8");
    observe(e, NULL, NULL);
    find_for(e, "libcudnn.so.9", &f);
    assert_true(has(&f.c, edits, 2));
    found_end(&f);
}

/* Both have the same files: over those of the one pip would put those of the other, and keep both.
 */
static void the_wheel_for_another_cuda_goes_before_the_right_one_comes(void **state) {
    static const struct edit edits[] = {
        {.kind = EDIT_REMOVE, .name = "nvidia-cudnn-cu12"},
        {.kind = EDIT_INSTALL, .name = "nvidia-cudnn-cu13", .value = "==9.12.0.46"},
    };
    struct environment *e = *state;
    struct found f;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu13==9.12.0.46");
    observe(e, NULL, NULL);
    find_for(e, "libcudnn.so.9", &f);
    assert_true(has(&f.c, edits, 2));
    found_end(&f);
}

static void what_takes_a_finding_away_and_is_no_repair_says_why(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    bool found = false;
    struct planned x;

    of = plan_of_too_old(e, "$ORIGIN/../nvidia/cudnn/lib", &x);
    assert_false(offers(of, EDIT_REMOVE));
    for (size_t i = 0; i < of->rejected.n; i++) {
        const struct rejected *no = &of->rejected.p[i];
        found =
            found || (strcmp(no->text, "uninstall nvidia-cudnn-cu12") == 0 &&
                      strcmp(no->because, "a library that is found now would not be found") == 0);
    }
    assert_true(found);
    end(&x);
}

/* Another copy lies where the host looks later: a variable takes less of the user than a package.
 */
static void the_cheapest_comes_first(void **state) {
    static const char *const parts[] = {"",
                                        "_graph",
                                        "_ops",
                                        "_cnn",
                                        "_adv",
                                        "_heuristic",
                                        "_engines_precompiled",
                                        "_engines_runtime_compiled"};
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    WC_EACH_ROW(part, parts)
        put_library(e, in(e, "/other/libcudnn%s.so.9", *part), "9.10.2");
    of = plan_of_too_old(e, "$ORIGIN/../nvidia/cudnn/lib:/other", &x);
    assert_true(of->n > 1);
    assert_string_equal(of->p[0].command, "export LD_LIBRARY_PATH=/other");
    assert_string_equal(of->p[0].gives, "9.10.2");
    assert_string_equal(of->p[0].from, "/other");
    assert_true(offers(of, EDIT_INSTALL));
    for (size_t i = 1; i < of->n; i++)
        assert_true(edit_cost(&of->p[i - 1].edits) <= edit_cost(&of->p[i].edits));
    end(&x);
}

/* The process had all parts of its facade. */
static void a_directory_that_lacks_parts_is_no_repair(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    put_library(e, "/other/libcudnn.so.9", "9.10.2");
    put_library(e, "/other/libcudnn_graph.so.9", "9.10.2");
    of = plan_of_too_old(e, "$ORIGIN/../nvidia/cudnn/lib:/other", &x);
    assert_true(of->n > 0);
    assert_false(offers(of, EDIT_SET));
    end(&x);
}

/* A path variable wins over the wheel: to install the wheel once more changes nothing. */
static void where_a_variable_wins_it_is_the_variable(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    put_library(e, "/module/libcudnn.so.9", "9.1.0");
    put_library(e, "/module/libcudnn_graph.so.9", "9.1.0");
    put_wheel(e, "nvidia-cudnn-cu12", "9.8.0.87", NULL);
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu12<10,>=9.8");
    observe(e, NULL, "LD_LIBRARY_PATH=/module");
    make(e, &x);
    of = plan_of(&x, "runtime-too-old");
    assert_non_null(of);
    assert_true(of->n > 0);
    assert_string_equal(of->p[0].command, "unset LD_LIBRARY_PATH");
    assert_string_equal(of->p[0].gives, "9.8.0");
    assert_false(offers(of, EDIT_REINSTALL));
    assert_false(offers(of, EDIT_INSTALL));
    end(&x);
}

/* A file that the list never had is not brought by installing the package once more. */
static void a_reinstallation_brings_what_is_on_the_list_alone(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", "libcudnn.so.9");
    put_host(e, "$ORIGIN/../nvidia/cudnn/lib", "nvidia-cudnn-cu12==9.1.0.70");
    observe(e, NULL, NULL);
    make(e, &x);
    of = plan_of(&x, "library-not-found");
    assert_non_null(of);
    assert_true(offers(of, EDIT_REINSTALL));
    end(&x);
    /* The same, of a list without the facade. */
    put_metadata(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL,
                 "nvidia/cudnn/lib/libcudnn_graph.so.9,,1\n");
    source_free(e->log);
    observe(e, NULL, NULL);
    make(e, &x);
    of = plan_of(&x, "library-not-found");
    assert_non_null(of);
    assert_false(offers(of, EDIT_REINSTALL));
    assert_false(offers(of, EDIT_INSTALL)); /* pip says that it is there */
    end(&x);
}

/* No package manages the directory: by hand, or with another host. */
static void what_nobody_manages_is_put_there_by_hand(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    put_library(e, "/opt/lib/libcudnn.so.9", "9.1.0");
    put_library(e, "/opt/lib/libcudnn_graph.so.9", "9.1.0");
    put_host(e, "/opt/lib", "nvidia-cudnn-cu12<10,>=9.8");
    observe(e, NULL, NULL);
    make(e, &x);
    of = plan_of(&x, "runtime-too-old");
    assert_non_null(of);
    assert_true(offers(of, EDIT_PLACE));
    for (size_t i = 0; i < of->n; i++) {
        const struct repair *r = &of->p[i];
        assert_null(strstr(r->command ? r->command : "", "/opt/lib/libcudnn"));
        if (r->edits.p[0].kind == EDIT_PLACE) {
            assert_string_equal(r->edits.p[0].value, ">=9.8,<10");
            assert_string_equal(r->gives, "9.8.0 or newer");
            assert_string_equal(r->from, "/opt/lib");
            assert_int_equal(r->checked, REPAIR_REPLAYED);
            assert_null(r->command);
        }
    }
    end(&x);
}

/* Releases that nothing is known of, and such as have no code for it, would be found nothing of. */
static void a_gpu_gets_releases_that_have_code_for_it(void **state) {
    static const char *const gpus[] = {"NVIDIA GeForce GTX 1080 Ti, 6.1"};
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct wc_record r;
    struct planned x;

    put_library(e, "/opt/lib/libcudnn.so.9", "9.19.0");
    put_library(e, "/opt/lib/libcudnn_graph.so.9", "9.19.0");
    put_host(e, "/opt/lib", NULL);
    observe(e, NULL, NULL);
    wc_record_begin(&r, WC_KIND_machine);
    r.u.machine.gpus = (struct wc_strings){(const char **)gpus, 1};
    source_add(e->log, &r);
    make(e, &x);
    of = plan_of(&x, "gpu-unsupported");
    assert_non_null(of);
    assert_true(offers(of, EDIT_PLACE));
    for (size_t i = 0; i < of->n; i++)
        if (of->p[i].edits.n && of->p[i].edits.p[0].kind == EDIT_PLACE) {
            struct wc_spec set;
            assert_true(wc_spec_read(of->p[i].edits.p[0].value, &set));
            assert_int_equal(wc_spec_accepts(&set, wc_version_of("9.11.0")), WC_NO);
        }
    end(&x);
}

/* Nothing in the process says for which CUDA: the toolkit that it lies in does. */
static void a_toolkit_says_its_cuda(void **state) {
    struct environment *e = *state;
    const struct plan_of_finding *of;
    struct planned x;

    put_library(e, "/usr/local/cuda-12.4/lib64/libcudnn.so.9", "9.1.0");
    put_library(e, "/usr/local/cuda-12.4/lib64/libcudnn_graph.so.9", "9.1.0");
    put_host(e, "/usr/local/cuda-12.4/lib64", "nvidia-cudnn-cu12<10,>=9.8");
    observe(e, NULL, NULL);
    make(e, &x);
    of = plan_of(&x, "runtime-too-old");
    assert_non_null(of);
    assert_true(offers(of, EDIT_PLACE));
    for (size_t i = 0; i < of->n; i++)
        if (of->p[i].edits.p[0].kind == EDIT_PLACE)
            assert_string_equal(of->p[i].edits.p[0].target, "12");
    end(&x);
}

/* A toolkit of a CUDA for which that release never was made is another program's. */
static void a_newer_toolkit_says_nothing_of_an_older_cudnn(void **state) {
    struct environment *e = *state;
    struct found f;
    size_t n = 0;

    write_image("/usr/local/cuda/lib64/libcudart.so.13",
                &(struct image){.soname = "libcudart.so.13", .version = WC_VERSION_NONE});
    put_library(e, "/opt/lib/libcudnn.so.9", "9.1.0");
    put_host(e, "/opt/lib", NULL);
    observe(e, NULL, NULL);
    play(e, &f);
    find(&f);
    for (size_t i = 0; i < f.c.n; i++)
        if (f.c.p[i].p[0].kind == EDIT_RESTORE) {
            assert_string_equal(f.c.p[i].p[0].value, "==9.1.0");
            assert_null(f.c.p[i].p[0].target);
            n++;
        }
    assert_int_equal(n, 1);
    found_end(&f);
}

/* Nothing but a name says what is wanted, and nothing but CUDA's libraries which of them. */
static void
where_only_the_major_is_known_it_is_the_newest_for_the_cuda_that_lies_there(void **state) {
    const char *newest = wheel_newest("nvidia-cudnn-cu12", ">=9,<10");
    struct environment *environment = *state;
    const struct plan_of_finding *of;
    struct planned x;
    struct wc_spec set;

    write_bytes("/opt/lib/libcudart.so.12", "", 0);
    put_host(environment, "/opt/lib", NULL);
    observe(environment, NULL, NULL);
    make(environment, &x);
    of = plan_of(&x, "library-not-found");
    assert_non_null(of);
    assert_true(offers(of, EDIT_PLACE));
    for (size_t i = 0; i < of->n; i++) {
        const struct edit *e = of->p[i].edits.p;
        if (e->kind != EDIT_PLACE)
            continue;
        assert_string_equal(e->target, "12");
        assert_true(wc_spec_read(e->value, &set));
        assert_int_equal(wc_spec_accepts(&set, wc_version_of(newest)), WC_YES);
        assert_int_equal(wc_spec_accepts(&set, wc_version_of("9.1.0")), WC_NO);
        assert_int_equal(wc_spec_accepts(&set, wc_version_of("10.0.0")), WC_NO);
    }
    end(&x);
}

/* Of two directories that are searched the one that has a cuDNN is put in order. */
static void no_second_cudnn_is_put_beside_the_first(void **state) {
    struct environment *e = *state;
    struct found f;
    size_t placed = 0;

    put_library(e, "/opt/lib/libcudnn.so.9.1.0", "9.1.0");
    write_bytes("/opt/other/libx.so", "", 0);
    put_host(e, "/opt/lib:/opt/other", NULL);
    observe(e, NULL, NULL);
    play(e, &f);
    find(&f);
    for (size_t i = 0; i < f.c.n; i++)
        if (candidate_is_by_hand(&f.c.p[i])) {
            assert_string_equal(f.c.p[i].p[0].path, "/opt/lib");
            placed++;
        }
    assert_true(placed > 0);
    found_end(&f);
}

/* A Python has a package manager: nothing is put among its own libraries. */
static void nothing_is_put_into_an_interpreter(void **state) {
    static const char *const programs[] = {"/opt/py/bin/program", "/opt/py/bin/python3.12"};
    struct environment *e = *state;

    write_bytes("/opt/py/lib/libx.so", "", 0);
    put_host(e, "/opt/py/lib", NULL);
    observe(e, NULL, NULL);
    for (size_t python = 0; python < 2; python++) {
        struct found f;
        size_t placed = 0;
        play(e, &f);
        f.base.source->stack.process.executable = programs[python];
        find(&f);
        for (size_t i = 0; i < f.c.n; i++)
            placed +=
                candidate_is_by_hand(&f.c.p[i]) && wc_str_same(f.c.p[i].p[0].path, "/opt/py/lib");
        assert_int_equal(placed > 0, !python);
        found_end(&f);
    }
}

/* No replay runs ldconfig, and the loader's cache is what led to the toolkit. */
static void to_a_toolkit_that_gets_a_cudnn_leads_the_variable(void **state) {
    static const char toolkit[] = "/usr/local/cuda-12.4/lib64";
    struct environment *e = *state;
    struct found f;
    struct wc_record record;
    size_t found = 0, whole = 0;

    write_bytes("/usr/local/cuda-12.4/lib64/libcudart.so.12", "", 0);
    put_host(e, "/opt/lib", NULL);
    observe(e, NULL, NULL);
    play(e, &f);
    wc_record_begin(&record, WC_KIND_object);
    record.u.object.object = 99;
    record.u.object.role = WC_role_CUDA_DEPENDENCY;
    record.u.object.mapped = true;
    record.u.object.path = "/usr/local/cuda-12.4/lib64/libcudart.so.12";
    record.u.object.soname = "libcudart.so.12";
    source_add(f.base.source, &record);
    /* Of CUDA's own libraries those come there that it does not have. */
    wc_record_begin(&record, WC_KIND_failure);
    record.u.failure.request = 99;
    record.u.failure.name = "libcublas.so.12";
    source_add(f.base.source, &record);
    find(&f);
    for (size_t i = 0; i < f.c.n; i++)
        if (f.c.p[i].n == 2 && wc_str_same(f.c.p[i].p[0].name, "libcublas.so.12")) {
            assert_string_equal(f.c.p[i].p[0].path, toolkit);
            assert_string_equal(f.c.p[i].p[1].value, toolkit);
            whole++;
        } else if (f.c.p[i].n == 2 && f.c.p[i].p[0].kind == EDIT_PLACE) {
            assert_string_equal(f.c.p[i].p[0].path, toolkit);
            assert_string_equal(f.c.p[i].p[0].target, "12");
            assert_int_equal(f.c.p[i].p[1].kind, EDIT_SET);
            assert_string_equal(f.c.p[i].p[1].value, toolkit);
            found++;
        }
    assert_true(found > 0);
    assert_int_equal(whole, 1);
    found_end(&f);
}

/* $ORIGIN is where the link is: the parts belong there, of the release that it leads to. */
static void beside_a_link_belongs_the_release_that_it_leads_to(void **state) {
    struct environment *e = *state;
    struct planned x;

    put_library(e, "/opt/lib/libcudnn.so.9", "9.1.0");
    write_bytes("/top/libx.so", "", 0);
    assert_int_equal(symlink("../opt/lib/libcudnn.so.9", in(e, "%s/top/libcudnn.so.9", place)), 0);
    put_host(e, "/top", NULL);
    observe(e, NULL, NULL);
    make(e, &x);
    for (size_t i = 0; i < x.seen.findings.n; i++)
        WC_EACH(edit, x.plan.of[i].p[0].edits)
            if (edit->kind == EDIT_PLACE || edit->kind == EDIT_RESTORE)
                assert_string_equal(edit->value, "==9.1.0");
    end(&x);
}

static void what_cannot_be_played_says_why_and_has_no_command(void **state) {
    static const struct wc_fact wanted = {"wanted", "requires nvidia-cudnn-cu12>=9.8,<10", NULL};
    struct environment *e = *state;
    struct wc_finding_record f[] = {{.id = "library-not-found", .facts = {.p = &wanted, .n = 1}},
                                    {.id = "driver-too-old", .facts = {.p = &wanted, .n = 1}},
                                    {.id = "replaced-on-disk"}};
    const struct wc_findings findings = {f, 3, 0};
    struct plan plan;

    put_host(e, "/nowhere", NULL);
    observe(e, "another-node", NULL);
    plan_make(&plan, e->log, &findings, NULL, NULL);
    assert_int_equal(plan.n, 3);
    for (size_t i = 0; i < plan.n; i++) {
        assert_int_equal(plan.of[i].n, 1);
        assert_int_equal(plan.of[i].p[0].checked, REPAIR_NOT_CHECKED);
        assert_null(plan.of[i].p[0].command);
    }
    assert_string_equal(plan.of[0].p[0].action, "install");
    assert_non_null(strstr(plan.of[0].p[0].text, wanted.value));
    assert_string_equal(plan.of[0].p[0].why, "the program ran on another machine");
    assert_string_equal(plan.of[1].p[0].action, "check"); /* which driver is not known */
    assert_string_equal(plan.of[2].p[0].action, "restart");
    assert_non_null(strstr(plan.of[2].p[0].why, "would have to be started again"));
    assert_int_equal(plan.of[0].p[0].edits.n, 0);
    assert_int_equal(plan.of[2].p[0].edits.n, 1);
    assert_int_equal(plan.of[2].p[0].edits.p[0].kind, EDIT_RESTART);
    plan_end(&plan);
}

static void assert_outcome(struct repair r, size_t columns, const char *expected) {
    OWNED char *text = repair_outcome(&r, columns);
    assert_string_equal(text, expected);
}

static void what_is_known_of_a_repair_in_a_line(void **state) {
    struct repair r = {.checked = REPAIR_REPLAYED};

    (void)state;
    assert_outcome(r, 0, "replayed");
    r.gives = "9.8.0";
    r.from = "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib";
    assert_outcome(r, 0,
                   "replayed: gives 9.8.0 from "
                   "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib");
    assert_outcome(r, 60, "replayed: gives 9.8.0 from /venv/.../nvidia/cudnn/lib");
    r.checked = REPAIR_TRIED;
    assert_outcome(r, 60, "tried: gives 9.8.0 from /venv/.../nvidia/cudnn/lib");
    r = (struct repair){.why = "the program ran on another machine"};
    assert_outcome(r, 20, "not replayed: the program ran on another machine");
    r.why = NULL;
    assert_outcome(r, 0, "not replayed: not requested");
}

#define IN_ENVIRONMENT(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, begin_environment, end_environment)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_ENVIRONMENT(candidates_of_a_path_and_of_packages),
        IN_ENVIRONMENT(of_debian_comes_what_apt_knows),
        IN_ENVIRONMENT(nothing_is_imported_before_who_opened_none),
        IN_ENVIRONMENT(where_nothing_of_cuda_is_all_of_it_comes_at_once),
        IN_ENVIRONMENT(a_driver_that_nobody_looks_for_is_led_to),
        IN_ENVIRONMENT(a_missing_name_is_linked_to_what_lies_beside_it),
        IN_ENVIRONMENT(the_pin_of_the_host_is_installed),
        IN_ENVIRONMENT(the_wheel_for_another_cuda_goes_before_the_right_one_comes),
        IN_ENVIRONMENT(what_takes_a_finding_away_and_is_no_repair_says_why),
        IN_ENVIRONMENT(the_cheapest_comes_first),
        IN_ENVIRONMENT(a_directory_that_lacks_parts_is_no_repair),
        IN_ENVIRONMENT(where_a_variable_wins_it_is_the_variable),
        IN_ENVIRONMENT(a_reinstallation_brings_what_is_on_the_list_alone),
        IN_ENVIRONMENT(what_nobody_manages_is_put_there_by_hand),
        IN_ENVIRONMENT(a_gpu_gets_releases_that_have_code_for_it),
        IN_ENVIRONMENT(a_toolkit_says_its_cuda),
        IN_ENVIRONMENT(a_newer_toolkit_says_nothing_of_an_older_cudnn),
        IN_ENVIRONMENT(where_only_the_major_is_known_it_is_the_newest_for_the_cuda_that_lies_there),
        IN_ENVIRONMENT(nothing_is_put_into_an_interpreter),
        IN_ENVIRONMENT(no_second_cudnn_is_put_beside_the_first),
        IN_ENVIRONMENT(to_a_toolkit_that_gets_a_cudnn_leads_the_variable),
        IN_ENVIRONMENT(beside_a_link_belongs_the_release_that_it_leads_to),
        IN_ENVIRONMENT(what_cannot_be_played_says_why_and_has_no_command),
        cmocka_unit_test(what_is_known_of_a_repair_in_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
