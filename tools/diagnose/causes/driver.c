/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver-mixed, driver-too-old: libcuda against the kernel module, and both against the CUDA in
 * use. libcuda's release is in its real file name, the module's in /proc/driver/nvidia/version.
 */
#include "driver.h"

#include "core/demand/finding.h"

static const struct {
    const char *cuda, *driver, *architecture;
} drivers[] = {
#define CUDA_DRIVER(cuda, driver, architecture) {cuda, driver, architecture},
#include "core/knowledge/drivers.def"
};

/* Drivers have three-digit numbers: a plain libcuda.so.1, as WSL has it, has none. */
enum { DRIVER_LEAST = 100 };

struct release {
    const char *text; /* NULL: not known */
    struct wc_version v;
};

static struct release release_of(const char *text) {
    struct release r = {text, wc_version_of(text)};

    if (r.v.major < DRIVER_LEAST || r.v.minor < 0)
        r.text = NULL;
    return r;
}

static struct release of_library(const struct wc_object *libcuda) {
    const char *path = libcuda ? libcuda->r.real_path : NULL;
    const char *at = path ? wc_str_find(wc_base_name(path), ".so.") : NULL;

    return release_of(at ? at + 4 : NULL);
}

/* The libcuda of WSL has no release in its name: one that has is Linux's. */
static bool is_wsl(const struct wc_stack *s) {
    return wc_str_same(s->machine.driver, "WSL");
}

static void driver_facts(struct wc_case *c, const struct wc_object *libcuda, struct release library,
                         struct release module) {
    if (libcuda) {
        wc_case_fact(c, WC_FACT_LIBCUDA, wc_path_of(libcuda));
        wc_case_fact_from(c, WC_FACT_ITS_RELEASE, library.text,
                          wc_format(c, "file name, %s", libcuda->r.real_path));
    }
    wc_case_fact(c, WC_FACT_KERNEL_MODULE, module.text);
}

/* ---- whether it can be reached ---- */

bool lacks_driver(const struct wc_stack *s) {
    return s->has_machine && !s->machine.driver && s->machine.gpu_devices == 0;
}

/* CUDA reads a list of numbers and of "GPU-UUID", "MIG-UUID", up to the first that is none of
 * these: of "-1", "[0,1]", "cuda:0" nothing (CUDA C++ Programming Guide, "CUDA Environment
 * Variables"; pytorch#1504). */
enum hiding hides_gpus(const struct wc_stack *s) {
    const char *visible = wc_variable(s, "CUDA_VISIBLE_DEVICES");
    const int64_t gpus = s->has_machine ? s->machine.gpu_devices : 0;
    int64_t first = 0;

    while (visible && *visible == ' ')
        visible++;
    if (!visible || wc_str_starts(visible, "GPU-") || wc_str_starts(visible, "MIG-"))
        return HIDES_NOTHING;
    if (!wc_is_digit(*visible))
        return HIDES_ALL;
    while (wc_is_digit(*visible) && first < gpus)
        first = first * 10 + (*visible++ - '0');
    return gpus > 0 && first >= gpus ? NAMES_NO_GPU : HIDES_NOTHING;
}

/* ---- driver-mixed ---- */

/* CUDA's errors for it, 803 and 804: a module that is not to be seen has another
 * release then, and the package for newer CUDA is of no use to this GPU. */
static bool is_printed(const struct wc_stack *s) {
    static const char *const errors[] = {"display driver / cuda driver combination",
                                         "forward compatibility was attempted",
                                         "DRIVER_MISMATCH",
                                         "DriverMismatch",
                                         "COMPAT_NOT_SUPPORTED",
                                         "CompatNotSupported"};

    return WC_ANY(error, WC_ROWS(errors),
                  WC_ANY(words, s->outcome.printed, *words && wc_str_find(*words, *error)));
}

void wc_find_driver_mixed(struct wc_diagnosis *d) {
    const struct wc_object *libcuda = wc_driver_library(d->s);
    struct release library = of_library(libcuda), module = release_of(d->s->machine.driver);
    bool wsl = is_wsl(d->s), printed = is_printed(d->s);
    int order = wc_version_compare(library.v, module.v);

    if (!library.text || (!module.text && !wsl && !printed))
        return;
    /* A package of NVIDIA's has a newer libcuda for an older module, in a directory called so. */
    if (!wsl && module.text &&
        (!order || (order > 0 && !printed && wc_lies_in_a(libcuda->r.real_path, "compat"))))
        return;
    struct wc_case *c = wc_case_begin(d, libcuda, NULL);
    c->r.title = wc_format(c, "libcuda is of driver %s, the kernel module is %s", library.text,
                           wsl           ? "WSL's, whose libcuda is in /usr/lib/wsl/lib"
                           : module.text ?: "of another one, by CUDA's own error");
    driver_facts(c, libcuda, library, module);
    wc_case_fact(c, WC_FACT_CONTAINER, d->s->machine.container);
    wc_case_end(c);
}

/* ---- driver-too-old ---- */

/* A CUDA in use, and its source. */
struct use {
    struct wc_version cuda;
    const struct wc_object *by;
    const char *what, *source;
    struct release least;
};

/* Of the rows that a version can mean, the most modest one counts. */
static void demand_more(const struct wc_stack *s, struct use *most, struct wc_version cuda,
                        const struct wc_object *by, const char *what, const char *source) {
    struct use u = {cuda, by, what, source, {NULL, WC_VERSION_NONE}};

    WC_EACH_ROW(row, drivers) {
        struct release r = release_of(row->driver);
        bool counts =
            !*row->architecture || wc_str_same(row->architecture, s->machine.architecture);
        if (counts && wc_version_agree(wc_version_of(row->cuda), cuda) &&
            (!u.least.text || wc_version_compare(r.v, u.least.v) < 0))
            u.least = r;
    }
    if (u.least.text && (!most->least.text || wc_version_compare(u.least.v, most->least.v) > 0))
        *most = u;
}

/* The CUDA that requires the newest driver: of the loaded CUDA dependencies, and of each cuDNN. */
static struct use newest_use(const struct wc_stack *s) {
    struct use most = {.by = NULL};

    WC_EACH(o, s->objects) {
        struct wc_version v = {wc_cuda_of(o), -1, -1, -1};
        struct wc_name n = wc_name_read(o->r.soname);
        if (v.major < 11) /* libcudart.so.11.0 was the name in all of CUDA 11 */
            v.minor = n.version.minor;
        if (v.major > 0)
            demand_more(s, &most, v, o, o->r.soname ?: wc_path_of(o), "SONAME");
        if (o->r.role == WC_role_FACADE && o->r.mapped) {
            struct wc_cuda cuda = wc_cuda_of_set(s, o);
            v = (struct wc_version){cuda.major, -1, -1, -1};
            if (cuda.major > 0)
                demand_more(s, &most, v, cuda.of, cuda.by, cuda.source);
        }
    }
    return most;
}

/* libcuda is what programs talk to; while none is loaded the module shows its release. */
void wc_find_driver_too_old(struct wc_diagnosis *d) {
    const struct wc_object *libcuda = wc_driver_library(d->s);
    struct release library = of_library(libcuda), module = release_of(d->s->machine.driver);
    struct release driver = libcuda ? library : module;

    if (!driver.text || is_wsl(d->s)) /* driver-mixed reports that one */
        return;
    if (lacks_driver(d->s) && wc_has_ended(d->s))
        return; /* there is none, which driver-missing reports at the end */
    struct use use = newest_use(d->s);
    if (!use.least.text || wc_version_compare(driver.v, use.least.v) >= 0)
        return;
    struct wc_case *c = wc_case_begin(d, libcuda, NULL);
    const char *cuda = wc_format_version(c, use.cuda);
    c->r.title = wc_format(c, "the driver is %s, CUDA %s needs %s or newer", driver.text, cuda,
                           use.least.text);
    c->r.predicted = !libcuda;
    driver_facts(c, libcuda, library, module);
    wc_case_fact_from(c, WC_FACT_CUDA_IN_USE,
                      wc_format(c, "%s: %s, %s", cuda, use.what, wc_path_of(use.by)), use.source);
    wc_case_fact(c, WC_FACT_LEAST_DRIVER, use.least.text);
    wc_case_fact(c, WC_FACT_MIND,
                 "nvidia-smi's \"CUDA Version\" is the newest that the driver "
                 "supports, not the installed one");
    wc_case_end(c);
}
