/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver against the kernel module and against CUDA, the stub that is none, releases with a
 * known defect: driver-mixed, driver-too-old, driver-missing, known-bad-release.
 */
#include "support_stack.h"

static int64_t add_libcuda(struct scene *s, const char *real) {
    struct file f = {.role = WC_role_CUDA_DEPENDENCY,
                     .path = real,
                     .soname = "libcuda.so.1",
                     .asked_by = NOBODY,
                     .how = WC_operation_DLOPEN};
    return add_file(s, &f);
}

static void add_cuda(struct scene *s, const char *soname) {
    struct file f = {.role = WC_role_CUDA_DEPENDENCY,
                     .path = print(s, "/opt/cuda/lib64/%s", soname),
                     .part = "cudart",
                     .asked_by = NOBODY,
                     .how = WC_operation_NEEDED};
    add_file(s, &f);
}

/* A computer with this kernel module, of this architecture. */
static struct scene *computer(const char *driver, const char *architecture) {
    struct scene *s = new_scene();
    struct wc_record r = begin(WC_KIND_machine);
    r.u.machine.driver = driver;
    r.u.machine.architecture = architecture;
    r.u.machine.gpu_devices = 1;
    apply(s, &r);
    return s;
}

static const char *library(struct scene *s, const char *driver) {
    return print(s, "/usr/lib/x86_64-linux-gnu/libcuda.so.%s", driver);
}

/* ---- driver-mixed ---- */

static void one_release_of_the_driver(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct scene *s = computer(NULL, "x86_64");
        const char *driver = print(s, "%d.%d.%02d", draw(450, 599), draw(10, 199), draw(1, 9));
        s->stack.machine.driver = driver;
        assert_finds(s, "");
        int64_t libcuda = add_libcuda(s, library(s, driver));
        assert_finds(s, "");
        s->stack.machine.driver = print(s, "%d.10.01", draw(600, 650));
        assert_finds(s, "driver-mixed");
        assert_int_equal(s->found.p[0].object, libcuda);
        assert_true(has_fact(&s->found.p[0], "its release", driver));
        assert_true(has_fact(&s->found.p[0], "kernel module", s->stack.machine.driver));
        s->stack.machine.driver = print(s, "%d.10.01", draw(400, 449));
        assert_finds(s, "driver-mixed");
        s->stack.machine.driver = NULL;
        assert_finds(s, "");
    }
}

static void what_tells_no_release(void **state) {
    (void)state;
    const char *const paths[] = {"/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/tegra/libcuda.so.1.1",
                                 "/usr/lib/libcuda.so", "/usr/lib/libcuda.so.535"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct scene *s = computer("550.54.14", "x86_64");
        add_libcuda(s, paths[i]);
        add_cuda(s, "libcudart.so.13");
        assert_finds(s, "");
    }
}

/* NVIDIA's cuda-compat: a newer libcuda over an older module; never the reverse. */
static void a_newer_libcuda_made_for_that(void **state) {
    (void)state;
    struct scene *s = computer("470.57.02", "x86_64");
    add_libcuda(s, "/usr/local/cuda-12.4/compat/libcuda.so.550.54.14");
    add_cuda(s, "libcudart.so.12");
    assert_finds(s, "");
    s = computer("580.65.06", "x86_64");
    add_libcuda(s, "/usr/local/cuda-12.4/compat/libcuda.so.550.54.14");
    assert_finds(s, "driver-mixed");
}

/* ---- driver-too-old ---- */

static const struct {
    const char *cuda, *driver, *architecture;
} rows[] = {
#define CUDA_DRIVER(cuda, driver, architecture) {cuda, driver, architecture},
#include "core/knowledge/drivers.def"
};

/* The release just before: its last number one less. */
static const char *before(struct scene *s, const char *driver) {
    struct wc_version v;
    assert_true(wc_version_parse(driver, strlen(driver), &v));
    if (v.patch > 0)
        v.patch--;
    else
        v.minor--;
    return text_of(s, v);
}

/* An image has a libcuda of its own: that it is old is not what is wrong. */
static void where_there_is_no_driver_none_is_too_old(void **state) {
    (void)state;
    for (int64_t devices = 0; devices < 2; devices++) {
        struct scene *s = computer(NULL, "x86_64");
        s->stack.machine.gpu_devices = devices;
        add_libcuda(s, library(s, "418.87.00"));
        add_cuda(s, "libcudart.so.13");
        assert_finds(s, "driver-too-old");
        add_outcome(s, 0, NULL);
        assert_finds(s, devices ? "driver-too-old" : "driver-missing");
    }
}

static void the_least_driver_of_each_cuda(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int loaded = 0; loaded < 2; loaded++) {
            const char *drivers[2];
            for (int old = 0; old < 2; old++) {
                struct scene *s = computer(NULL, "x86_64");
                drivers[0] = rows[i].driver;
                drivers[1] = before(s, rows[i].driver);
                s->stack.machine.driver = drivers[old];
                add_cuda(s, print(s, "libcudart.so.%s", rows[i].cuda));
                int64_t libcuda = loaded ? add_libcuda(s, library(s, drivers[old])) : WC_NULL;
                assert_finds(s, old ? "driver-too-old" : "");
                if (!old)
                    continue;
                assert_int_equal(s->found.p[0].object, libcuda);
                assert_int_equal(s->found.p[0].predicted, !loaded);
                assert_true(has_fact(&s->found.p[0], "least driver", rows[i].driver));
                assert_true(has_fact(&s->found.p[0], "CUDA in use", rows[i].cuda));
            }
        }
    }
}

/* The numbers of the three majors in use, by hand. */
static void minor_versions_share_one(void **state) {
    (void)state;
    static const struct {
        const char *soname, *driver, *finds;
    } cases[] = {
        {"libcudart.so.11.0", "450.80.02", ""},
        {"libcudart.so.11.0", "450.80.01", "driver-too-old"},
        {"libcudart.so.12", "525.60.13", ""},
        {"libcudart.so.12", "525.60.12", "driver-too-old"},
        {"libcudart.so.13", "580.65.06", ""},
        {"libcudart.so.13", "580.65.05", "driver-too-old"},
        {"libcudart.so.14", "580.65.06", ""},
        {"libcudart.so.10.1", "418.39", ""},
        {"libcublas.so.10", "418.39", ""}, /* of 10.1 or of 10.2 */
        {"libcufft.so.12", "410.48", ""},
        {"libcudart.so.10.1", "410.48", "driver-too-old"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene *s = computer(cases[i].driver, "x86_64");
        add_cuda(s, cases[i].soname);
        assert_finds(s, cases[i].finds);
    }
    /* libcudart.so.11.0 is of any release of CUDA 11. */
    struct scene *s = computer("440.33", "x86_64");
    add_cuda(s, "libcudart.so.11.0");
    assert_finds(s, "driver-too-old");
    assert_non_null(strstr(s->found.p[0].title, "CUDA 11 needs"));
    /* Before 11 nothing is known of other architectures. */
    s = computer("410.48", "aarch64");
    add_cuda(s, "libcudart.so.10.1");
    assert_finds(s, "");
    s = computer("450.80.02", "aarch64");
    add_cuda(s, "libcudart.so.12");
    assert_finds(s, "driver-too-old");
}

static void cudnn_itself_tells_its_cuda(void **state) {
    (void)state;
    struct scene *s = computer("470.57.02", "x86_64");
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct file f = {.role = WC_role_FACADE,
                     .path = "/venv/libcudnn.so.9",
                     .version = draw_release(9),
                     .source = WC_version_source_ASKED_NAMES,
                     .installation = "nvidia-cudnn-cu12",
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = host,
                     .how = WC_operation_DLOPEN};
    int64_t facade = add_file(s, &f);
    assert_finds(s, "driver-too-old");
    add_call(s, "cudnnCreate", host, facade, 1001, WC_NULL);
    assert_finds(s, "driver-too-old init-failed");
    assert_string_equal(s->found.p[1].explained_by, "driver-too-old");
    s->stack.machine.driver = "535.104.05";
    assert_finds(s, "init-failed");
}

/* ---- the stub ---- */

static void a_library_for_linking_is_no_driver(void **state) {
    (void)state;
    struct scene *s = computer("535.104.05", "x86_64");
    add_variable(s, "LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/opt/lib");
    struct wc_record r = begin(WC_KIND_machine);
    apply(s, &r);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    int64_t facade = add_facade(s, "/opt/cudnn", draw_release(9), host);
    struct file f = {.role = WC_role_CUDA_DEPENDENCY,
                     .path = "/usr/local/cuda/lib64/stubs/libcuda.so",
                     .soname = "libcuda.so.1",
                     .asked_by = facade,
                     .how = WC_operation_DLOPEN};
    add_file(s, &f);
    assert_finds(s, "driver-missing");
    s->stack.objects.p[s->stack.objects.n - 1].r.mapped = false; /* closed again */
    assert_finds(s, "driver-missing");
    add_libcuda(s, "/usr/lib/libcuda.so.535.104.05"); /* and so was the driver's own */
    s->stack.objects.p[s->stack.objects.n - 1].r.mapped = false;
    assert_finds(s, "");
    s->stack.objects.n--;
    assert_finds(s, "driver-missing");
    assert_int_equal(s->found.p[0].severity, WC_severity_ERROR);
    assert_non_null(strstr(s->found.p[0].title, "stub"));
    assert_true(has_fact(&s->found.p[0], "libcuda", "/usr/local/cuda/lib64/stubs/libcuda.so"));
    assert_advised(s, &s->found.p[0], "set-variable",
                   "remove /usr/local/cuda/lib64/stubs from LD_LIBRARY_PATH");
    add_call(s, "cudnnCreate", host, facade, 1001, WC_NULL);
    assert_finds(s, "driver-missing");
}

/* libcuda is there and reaches no GPU: what the computer shows of it counts once somebody fails for
 * it, and nothing else explains that. */
static void a_driver_that_reaches_no_gpu(void **state) {
    static const struct {
        const char *module, *fault, *variable, *says;
        int64_t devices;
    } rows[] = {
        {NULL, NULL, NULL, "kernel module is not loaded", 0},
        {"550.54.14", "/dev/nvidia-uvm is not there", NULL, "/dev/nvidia-uvm is not there", 1},
        {"550.54.14", "no fabric manager is seen to run for /dev/nvidia-nvswitch0", NULL,
         "no fabric manager is seen to run for /dev/nvidia-nvswitch0", 1},
        {"550.54.14", "no MPS daemon has its pipe /tmp/mps/control",
         "CUDA_MPS_PIPE_DIRECTORY=/tmp/mps", "no MPS daemon has its pipe /tmp/mps/control", 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=", "CUDA_VISIBLE_DEVICES hides all", 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=-1", "CUDA_VISIBLE_DEVICES hides all", 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=[1,2,3]", "CUDA_VISIBLE_DEVICES hides all", 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=cuda:0", "CUDA_VISIBLE_DEVICES hides all", 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=0", NULL, 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=1,[2]", NULL, 2},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=1,0",
         "CUDA_VISIBLE_DEVICES names a GPU that does not exist", 1},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=18446744073709551616",
         "CUDA_VISIBLE_DEVICES names a GPU that does not exist", 8},
        {"550.54.14", NULL, "CUDA_VISIBLE_DEVICES=MIG-0b3c1f6e", NULL, 1},
        {"550.54.14", NULL, NULL, NULL, 1},
        {NULL, NULL, NULL, NULL, 1}, /* a sandbox that shows the devices alone */
        {"Tegra", NULL, NULL, NULL, 0},
    };

    (void)state;
    WC_EACH_ROW(row, rows) {
        for (int by_call = -2; by_call < 2; by_call++) {
            struct scene *s = computer(row->module, "x86_64");
            s->stack.machine.gpu_devices = row->devices;
            s->stack.machine.device_fault = row->fault;
            if (row->variable)
                add_variable(s, row->variable);
            int64_t host = add_host(s, "/opt/app/libhost.so");
            int64_t facade = add_facade(s, "/opt/cudnn", draw_release(9), host);
            add_libcuda(s, library(s, "550.54.14"));
            assert_finds(s, "");
            if (by_call < 0) { /* it goes on, and ends well: who hides the GPUs may mean it */
                if (by_call == -2)
                    s->stack.has_summary = true; /* what a script started: nobody waited for it */
                else
                    add_outcome(s, 0, NULL);
                const bool device = (row->fault && strncmp(row->fault, "/dev/", 5) == 0) ||
                                    (row->says && strstr(row->says, "does not exist"));
                assert_finds(s, device || !(row->module || row->devices) ? "driver-missing" : "");
                if (s->found.n)
                    assert_int_equal(s->found.p[0].severity,
                                     device ? WC_severity_WARNING : WC_severity_NOTE);
                add_variable(s, "CUDA_VISIBLE_DEVICES=");
                assert_finds(s, "");
                continue;
            }
            if (by_call)
                add_call(s, "cudnnCreate", host, facade, 1001, WC_NULL);
            else
                add_outcome(s, 1, NULL);
            assert_finds(s, row->says ? "driver-missing" : by_call ? "init-failed" : "");
            if (row->says) {
                assert_non_null(strstr(s->found.p[0].title, row->says));
                assert_int_equal(s->found.p[0].severity,
                                 by_call ? WC_severity_ERROR : WC_severity_WARNING);
            }
        }
    }
}

/* CUDA reads the variable at its first call: what the program itself has set until then counts. */
static void what_the_program_sets_itself(void **state) {
    static const struct {
        const char *start, *later, *says; /* says NULL: this is not it */
    } rows[] = {{"CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES=-1", "hides all"},
                {"CUDA_HOME=/usr/local/cuda", "CUDA_VISIBLE_DEVICES=7", "does not exist"},
                {"CUDA_VISIBLE_DEVICES=-1", "CUDA_VISIBLE_DEVICES=0", NULL},
                {"CUDA_VISIBLE_DEVICES=-1", "CUDA_VISIBLE_DEVICES", NULL}};

    (void)state;
    WC_EACH_ROW(row, rows) {
        struct scene *s = computer("550.54.14", "x86_64");
        struct wc_record r = begin(WC_KIND_summary);
        r.u.summary.later_environment = (struct wc_strings){&row->later, 1};
        s->stack.machine.gpu_devices = 1;
        add_variable(s, row->start);
        int64_t host = add_host(s, "/opt/app/libhost.so");
        add_facade(s, "/opt/cudnn", draw_release(9), host);
        add_libcuda(s, library(s, "550.54.14"));
        add_outcome(s, 1, NULL);
        assert_finds(s, strstr(row->start, "-1") ? "driver-missing" : "");
        apply(s, &r);
        assert_finds(s, row->says ? "driver-missing" : "");
        if (!row->says)
            continue;
        const struct wc_finding_record *f = &s->found.p[0];
        assert_non_null(strstr(f->title, row->says));
        assert_true(has_fact(f, "CUDA_VISIBLE_DEVICES", strchr(row->later, '=') + 1));
        assert_advised(s, f, "set-variable", "the program sets CUDA_VISIBLE_DEVICES itself");
    }
}

/* Nothing is said beside a program that had its GPU and failed for something else, as another
 * status than NOT_INITIALIZED says, too (argman/EAST#24). */
static void what_keeps_a_driver_from_the_gpus(void **state) {
    enum { FAILED, HAD, INTERNAL_ERROR, NO_MEMORY, EXECUTION_FAILED, IN_THE_CALL, CASES };
    static const int64_t returns[] = {1001, 0, 4000, 4003, 5000};
    static const char *const finds[] = {
        "driver-missing", "", "init-failed", "init-failed", "init-failed", "driver-missing"};
    static const struct {
        const char *fault, *action, *says;
    } rows[] = {
        {"/dev/nvidia-uvm is not there", "driver", "nvidia-modprobe"},
        {"no fabric manager is seen to run for /dev/nvidia-nvswitch0", "driver",
         "systemctl start nvidia-fabricmanager"},
        {"no MPS daemon has its pipe /tmp/mps/control, where CUDA_MPS_PIPE_DIRECTORY leads",
         "set-variable", "unset CUDA_MPS_PIPE_DIRECTORY"},
    };

    (void)state;
    WC_EACH_ROW(row, rows) {
        for (int which = 0; which < CASES; which++) {
            struct scene *s = computer("550.54.14", "x86_64");
            s->stack.machine.device_fault = row->fault;
            int64_t host = add_host(s, "/opt/app/libhost.so");
            int64_t facade = add_facade(s, "/opt/cudnn", draw_release(9), host);
            add_libcuda(s, library(s, "550.54.14"));
            if (which == IN_THE_CALL)
                add_call_before(s, "cudnnCreate", host, facade);
            else
                add_call(s, "cudnnCreate", host, facade, returns[which], WC_NULL);
            add_outcome(s, 1, NULL);
            assert_finds(s, finds[which]);
            if (strcmp(finds[which], "driver-missing") != 0)
                continue;
            assert_true(has_fact(&s->found.p[0], "driver's state", row->fault));
            assert_advised(s, &s->found.p[0], row->action, row->says);
        }
    }
}

/* What a child inherited stands first in its log, behind what is said of it and of the computer. */
static void a_driver_does_not_live_on_in_a_forked_child(void **state) {
    enum { HERE, NOT_FORKED, NOT_ASKED_FOR, AFTER_THE_FORK, OTHER_STATUS, CASES };

    (void)state;
    for (int which = 0; which < CASES; which++) {
        struct scene *s = new_scene();
        struct wc_record process = begin(WC_KIND_process), machine = begin(WC_KIND_machine);
        struct file f = {.role = WC_role_CUDA_DEPENDENCY,
                         .path = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14",
                         .soname = "libcuda.so.1",
                         .asked_by = NOBODY,
                         .how = which == NOT_ASKED_FOR ? WC_operation_NEEDED : WC_operation_DLOPEN};
        process.u.process.forked = which != NOT_FORKED;
        apply(s, &process);
        machine.u.machine.driver = "550.54.14";
        machine.u.machine.gpu_devices = 1;
        apply(s, &machine);
        if (which != AFTER_THE_FORK)
            add_file(s, &f);
        int64_t host = add_host(s, "/opt/app/libhost.so");
        int64_t facade = add_facade(s, "/opt/cudnn", draw_release(9), host);
        add_call_before(s, "cudnnCreate", host, facade);
        if (which == AFTER_THE_FORK)
            add_file(s, &f);
        add_call(s, "cudnnCreate", host, facade, which == OTHER_STATUS ? 4000 : 1001, WC_NULL);
        assert_finds(s, "init-failed");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_int_equal(has_fact(r, "before the fork", "libcuda.so.550.54.14"), which == HERE);
        assert_int_equal(strstr(r->title, ", in a child forked after the driver was loaded") !=
                             NULL,
                         which == HERE);
        assert_advised(s, r, "check", which == HERE ? "set_start_method('spawn')" : "nvidia-smi");
    }
}

/* WSL has Windows' driver, whose libcuda has no release in its name. */
static void a_driver_of_linux_in_wsl(void **state) {
    (void)state;
    struct scene *s = computer("WSL", "x86_64");
    int64_t libcuda = add_libcuda(s, "/usr/lib/wsl/lib/libcuda.so.1.1");
    add_cuda(s, "libcudart.so.13");
    assert_finds(s, "");
    s = computer("WSL", "x86_64");
    libcuda = add_libcuda(s, library(s, "470.10.01"));
    add_cuda(s, "libcudart.so.13");
    assert_finds(s, "driver-mixed");
    assert_int_equal(s->found.p[0].object, libcuda);
    assert_non_null(strstr(s->found.p[0].title, "/usr/lib/wsl/lib"));
}

/* ---- known-bad-release ---- */

static const struct {
    const char *releases, *framework;
} bad[] = {
#define BAD_RELEASE(releases, framework, of_it, what, instead, source) {releases, framework},
#include "core/knowledge/bad_releases.def"
};

static void a_release_with_a_defect(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct wc_version v;
        if (bad[i].framework)
            continue; /* below */
        assert_int_equal(strncmp(bad[i].releases, "==", 2), 0);
        assert_true(wc_version_parse(bad[i].releases + 2, strlen(bad[i].releases + 2), &v));
        struct scene *s = new_scene();
        int64_t facade = add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/libhost.so"));
        assert_finds(s, "known-bad-release");
        assert_true(s->found.p[0].predicted);
        add_part(s, "/opt/cudnn", "graph", v, facade);
        assert_finds(s, "known-bad-release");
        const struct wc_finding_record *r = &s->found.p[0];
        assert_false(r->predicted);
        assert_int_equal(r->severity, WC_severity_WARNING);
        assert_int_equal(r->object, facade);
        assert_true(r->facts.p[fact_index(r, "defect")].source[0]);
        v.patch++;
        s = new_scene();
        add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/libhost.so"));
        assert_finds(s, "");
        v.patch = -1; /* perhaps */
        s = new_scene();
        add_facade(s, "/opt/cudnn", v, add_host(s, "/opt/app/libhost.so"));
        assert_finds(s, "");
    }
}

/* What its own package pins is a note, until the process ends badly over it. */
static void a_release_may_be_bad_for_one_framework_alone(void **state) {
    (void)state;
    static const struct {
        const char *framework, *version;
        int minor;
        bool bad;
    } rows[] = {{"torch", "2.9.1+cu128", 13, true},
                {"torch", "2.9.0", 15, false},
                {"torch", "2.10.0", 13, false},
                {"jax", "2.9.1", 13, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scene *s = new_scene();
        struct file f = {.role = WC_role_HOST,
                         .path = "/v/torch/lib/libtorch_cuda.so",
                         .version = WC_VERSION_NONE,
                         .framework = rows[i].framework,
                         .installation = rows[i].framework,
                         .installation_version = rows[i].version,
                         .asked_by = NOBODY};
        add_facade(s, "/opt/cudnn", version_of(9, rows[i].minor, draw(0, 9)), add_file(s, &f));
        assert_finds(s, rows[i].bad ? "known-bad-release" : "");
        if (!rows[i].bad)
            continue;
        assert_int_equal(s->found.p[0].severity, WC_severity_NOTE);
        add_outcome(s, 1, NULL);
        assert_finds(s, "known-bad-release");
        assert_int_equal(s->found.p[0].severity, WC_severity_WARNING);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_may_be_bad_for_one_framework_alone),
        cmocka_unit_test(one_release_of_the_driver),
        cmocka_unit_test(what_tells_no_release),
        cmocka_unit_test(a_newer_libcuda_made_for_that),
        cmocka_unit_test(where_there_is_no_driver_none_is_too_old),
        cmocka_unit_test(the_least_driver_of_each_cuda),
        cmocka_unit_test(minor_versions_share_one),
        cmocka_unit_test(cudnn_itself_tells_its_cuda),
        cmocka_unit_test(a_library_for_linking_is_no_driver),
        cmocka_unit_test(a_driver_that_reaches_no_gpu),
        cmocka_unit_test(what_the_program_sets_itself),
        cmocka_unit_test(what_keeps_a_driver_from_the_gpus),
        cmocka_unit_test(a_driver_does_not_live_on_in_a_forked_child),
        cmocka_unit_test(a_driver_of_linux_in_wsl),
        cmocka_unit_test(a_release_with_a_defect),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
