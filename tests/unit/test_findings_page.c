/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/findings.md against core/demand/findings.def and diagnose(): the page has one section for
 * each finding, in the order of the table, with its severity, its general sentence, and an example
 * that is word for word what diagnose() says of such a stack, with what usually repairs it.
 * WC_EXAMPLES=1: prints the examples, to be put into the page.
 * And tests/unit/golden/findings.txt has the text of each that people see; WC_TEXTS=1 prints it.
 */
#include "core/base/shown.h"
#include "core/demand/finding_text.h"
#include "support_stack.h"
#include "tools/diagnose/plan.h"
#include "tools/report/explain/explain.h"
#include "tools/report/render.h"

static char page[128 << 10];

static char texts[64 << 10];

static bool read_file(const char *name, char *to, size_t cap) {
    const char *root = getenv("WC_ROOT");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    FILE *from = fopen(path, "r");
    if (!from)
        return false;
    to[fread(to, 1, cap - 1, from)] = '\0';
    fclose(from);
    return true;
}

static int read_files(void **state) {
    (void)state;
    return read_file("docs/findings.md", page, sizeof page) &&
                   read_file("tests/unit/golden/findings.txt", texts, sizeof texts)
               ? 0
               : -1;
}

/* ---- the stacks of the examples: example_NAME(), by the first word of a row of the table ---- */

#define FINDING(name, id, severity, title)                                                         \
    void example_##name(struct scene *s) __attribute__((weak)); /* NULL: somebody forgot it */
#include "core/demand/findings.def"

static const char cuda13[] = "/usr/local/cuda-13.0";

static int64_t torch(struct scene *s) {
    int64_t host = add_host(s, "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so");
    struct want w = {host,
                     WC_demand_kind_REQUIRED,
                     .spec = "==9.26.0.51",
                     .rule = "torch",
                     .framework = "torch",
                     .framework_version = "2.15.0",
                     .source = "METADATA of torch 2.15.0"};
    add_demand(s, &w);
    return host;
}

static int64_t of_toolkit(struct scene *s, const char *part, struct wc_version v, int64_t by) {
    struct file f = {.role = part ? WC_role_PART : WC_role_FACADE,
                     .path = part ? print(s, "%s/lib64/libcudnn_%s.so.9", cuda13, part)
                                  : print(s, "%s/lib64/libcudnn.so.9", cuda13),
                     .part = part,
                     .version = v,
                     .source = part ? WC_version_source_DATA_SYMBOL : WC_version_source_ASKED_NAMES,
                     .installation = "cuda-13.0",
                     .installation_path = cuda13,
                     .kind = WC_installation_kind_CUDA_TOOLKIT,
                     .asked_by = by,
                     .how = part ? WC_operation_DLOPEN : WC_operation_NEEDED};
    return add_file(s, &f);
}

static int64_t of_wheel(struct scene *s, const char *part, struct wc_version v, int64_t by) {
    static const char directory[] = "/venv/lib/python3.12/site-packages/nvidia/cudnn";
    struct file f = {.role = part ? WC_role_PART : WC_role_FACADE,
                     .path = part ? print(s, "%s/lib/libcudnn_%s.so.%d", directory, part, v.major)
                                  : print(s, "%s/lib/libcudnn.so.%d", directory, v.major),
                     .part = part,
                     .version = v,
                     .source = part ? WC_version_source_DATA_SYMBOL : WC_version_source_ASKED_NAMES,
                     .installation = "nvidia-cudnn-cu12",
                     .installation_version = print(s, "%s.70", text_of(s, v)),
                     .installation_path = directory,
                     .kind = WC_installation_kind_WHEEL,
                     .asked_by = by,
                     .how = part ? WC_operation_DLOPEN : WC_operation_NEEDED};
    return add_file(s, &f);
}

static struct bought cudnn_of_wheel(void) {
    return (struct bought){.kind = WC_installation_kind_WHEEL,
                           .name = "nvidia-cudnn-cu12",
                           .version = "9.1.0.70",
                           .path = "/venv/lib/python3.12/site-packages/nvidia/cudnn",
                           .environment = "/venv/lib/python3.12/site-packages",
                           .files = 8};
}

void example_installation_incomplete(struct scene *s) {
    struct bought b = cudnn_of_wheel();
    add_failure(s, NOBODY, "/usr/lib/python3.12/lib-dynload/_ctypes.so",
                "/venv/lib/python3.12/site-packages/torch/lib/libtorch_global_deps.so",
                not_found(s, "libcudnn.so.9"));
    b.missing[0] = "nvidia/cudnn/lib/libcudnn.so.9";
    b.missing[1] = "nvidia/cudnn/lib/libcudnn_graph.so.9";
    add_package(s, &b);
}

void example_installation_mixed(struct scene *s) {
    struct bought b = cudnn_of_wheel(), other = cudnn_of_wheel();
    other.name = "nvidia-cudnn-cu11";
    other.version = "9.10.2.21";
    b.shared_with[0] = "nvidia-cudnn-cu11 9.10.2.21";
    b.changed[0] = "nvidia/cudnn/lib/libcudnn_graph.so.9";
    other.shared_with[0] = "nvidia-cudnn-cu12 9.1.0.70";
    other.changed[0] = "nvidia/cudnn/lib/libcudnn.so.9";
    other.changed[1] = "nvidia/cudnn/lib/libcudnn_ops.so.9";
    add_package(s, &b);
    add_package(s, &other);
    of_wheel(s, NULL, version_of(9, 1, 0), add_host(s, "/opt/app/host"));
}

void example_bad_file(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/libengine.so");
    struct looked_at l = {.path = "/opt/models/lib/libcudnn.so.9",
                          .fault = WC_file_fault_POINTER,
                          .what = "a git-LFS pointer to a file of 104664 bytes",
                          .size = 131};
    add_variable(s, "LD_LIBRARY_PATH=/opt/models/lib:/usr/local/cuda/lib64");
    add_looked_at(s, &l);
    add_failure(s, host, NULL, "libcudnn.so.9", print(s, "%s: invalid ELF header", l.path));
}

void example_refused_by_system(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/libengine.so");
    struct looked_at l = {
        .path = "/opt/cudnn/lib/libcudnn.so.9",
        .fault = WC_file_fault_NO_ROOM,
        .what = "a library that takes 512 MiB of address space; the process may have 390 MiB in "
                "all"};
    add_looked_at(s, &l);
    add_failure(s, host, NULL, "libcudnn.so.9",
                print(s, "%s: failed to map segment from shared object", l.path));
}

void example_replaced_on_disk(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/libengine.so");
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), host);
    struct looked_at l = {.path = wc_stack_object(&s->stack, facade)->r.path,
                          .fault = WC_file_fault_REPLACED,
                          .what = "another file than the mapped file",
                          .version = "9.26.0"};
    add_looked_at(s, &l);
    of_wheel(s, "graph", version_of(9, 26, 0), facade);
}

void example_wrong_name(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/libengine.so");
    struct wc_record r = begin(WC_KIND_object);
    struct wc_object_record *o = &r.u.object;
    o->object = ++s->objects;
    o->role = WC_role_FACADE;
    o->mapped = true;
    o->path = "/usr/local/lib/libcudnn.so.8";
    o->real_path = "/usr/lib/x86_64-linux-gnu/libcuda.so.515.43.04";
    o->asked_name = "libcudnn.so.8";
    o->soname = "libcuda.so.1";
    o->asked_by = "/opt/app/libengine.so";
    o->asked_by_object = host;
    o->asked_how = WC_operation_DLOPEN;
    apply(s, &r);
}

void example_symbol_version_not_found(struct scene *s) {
    struct looked_at l = {.path = "/opt/cudnn/lib/libcudnn.so.8",
                          .soname = "libcudnn.so.8",
                          .version = "8.5.0",
                          .version_source = WC_version_source_FILE_NAME};
    add_looked_at(s, &l);
    add_failure(s, NOBODY, "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311.so",
                "/opt/app/libengine.so",
                "/opt/app/libengine.so: undefined symbol: cudnnGetMaxDeviceVersion, version "
                "libcudnn.so.8");
}

void example_library_not_found(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/libengine.so");
    add_failure(s, host, NULL, "libcudnn.so.9", not_found(s, "libcudnn.so.9"));
    add_failure(s, host, NULL, "libcudnn.so", not_found(s, "libcudnn.so"));
}

static int64_t of_cuda(struct scene *s, const char *part, const char *directory, const char *name,
                       enum wc_installation_kind kind, int cuda, int64_t by) {
    struct file f = {.role = WC_role_CUDA_DEPENDENCY,
                     .path = print(s, "%s/lib%s.so.%d", directory, part, cuda),
                     .part = part,
                     .installation = name,
                     .installation_path = directory,
                     .kind = kind,
                     .asked_by = by,
                     .how = WC_operation_NEEDED};
    return add_file(s, &f);
}

void example_cuda_major_differs(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/host");
    of_cuda(s, "cudart", "/usr/local/cuda-13.0/lib64", "cuda-13.0",
            WC_installation_kind_CUDA_TOOLKIT, 13, host);
    int64_t facade = of_wheel(s, NULL, version_of(9, 21, 1), host);
    add_failure(s, facade, NULL, "libcublasLt.so.12", not_found(s, "libcublasLt.so.12"));
}

void example_cuda_dependency_differs(struct scene *s) {
    add_variable(s, "LD_LIBRARY_PATH=/usr/local/cuda-12.1/lib64");
    int64_t host = torch(s);
    of_wheel(s, NULL, version_of(9, 26, 0), host);
    of_cuda(s, "cudart", "/venv/lib/python3.12/site-packages/nvidia/cuda_runtime/lib",
            "nvidia-cuda-runtime-cu12", WC_installation_kind_WHEEL, 12, host);
    struct sought f = {.name = "libcublas.so.12",
                       .by = host,
                       .object = of_cuda(s, "cublas", "/usr/local/cuda-12.1/lib64", "cuda-12.1",
                                         WC_installation_kind_CUDA_TOOLKIT, 12, host),
                       .rule = WC_search_rule_LIBRARY_PATH,
                       .element = "/usr/local/cuda-12.1/lib64",
                       .takes = "/usr/local/cuda-12.1/lib64/libcublas.so.12"};
    struct beside own = {.path =
                             "/venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12",
                         .rule = WC_search_rule_RUNPATH};
    add_beside(s, add_search(s, &f), &own);
}

void example_dependency_missing(struct scene *s) {
    int64_t facade = of_wheel(s, NULL, version_of(8, 9, 2), add_host(s, "/opt/app/host"));
    add_failure(s, facade, NULL, "libcudnn_ops_infer.so.8", not_found(s, "libcublas.so.11"));
}

void example_part_missing(struct scene *s) {
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), add_host(s, "/opt/app/host"));
    add_failed_part(s, facade, "graph", version_of(9, 1, 0), 4);
}

void example_major_differs(struct scene *s) {
    int64_t host = add_host(s, "/venv/lib/python3.12/site-packages/old/libold.so");
    struct want w = {host, WC_demand_kind_SYMBOL_VERSION, .spec = "==8.*",
                     .source = "symbol version of its imports"};
    add_demand(s, &w);
    of_wheel(s, NULL, version_of(9, 1, 0), host);
}

void example_facade_and_parts_differ(struct scene *s) {
    add_variable(s, "LD_LIBRARY_PATH=/usr/local/cuda-13.0/lib64");
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), add_host(s, "/opt/app/host"));
    of_toolkit(s, "graph", version_of(9, 19, 0), facade);
}

void example_parts_differ(struct scene *s) {
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), add_host(s, "/opt/app/host"));
    of_wheel(s, "graph", version_of(9, 1, 0), facade);
    of_wheel(s, "ops", version_of(9, 28, 0), facade);
}

void example_runtime_too_old(struct scene *s) {
    int64_t facade = of_toolkit(s, NULL, version_of(9, 19, 0), torch(s));
    of_toolkit(s, "graph", version_of(9, 19, 0), facade);
}

void example_runtime_too_new(struct scene *s) {
    int64_t host = add_host(s, "/venv/lib/python3.8/site-packages/mxnet/libmxnet.so");
    struct want w = {host,
                     WC_demand_kind_BUILT,
                     .built = "7.6.0",
                     .rule = "exact",
                     .framework = "mxnet",
                     .framework_version = "1.6.0",
                     .source = "build string"};
    add_demand(s, &w);
    struct file f = {.role = WC_role_FACADE,
                     .path = "/usr/lib/x86_64-linux-gnu/libcudnn.so.7",
                     .version = version_of(7, 6, 5),
                     .source = WC_version_source_FILE_NAME,
                     .asked_by = host,
                     .how = WC_operation_NEEDED};
    add_file(s, &f);
}

void example_missing_symbols(struct scene *s) {
    static const char *const name[] = {"cudnnGetMaxDeviceVersion"};
    int64_t host = add_host(s, "/opt/app/libengine.so");
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/cudnn/libcudnn.so.8",
                     .version = version_of(8, 5, 0),
                     .source = WC_version_source_FILE_NAME,
                     .asked_by = host,
                     .how = WC_operation_NEEDED};
    add_file(s, &f);
    add_binding(s, host, NOBODY, WC_binding_how_UNDEFINED, name, 1);
}

void example_driver_missing(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/host");
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), host);
    int64_t graph = of_wheel(s, "graph", version_of(9, 1, 0), facade);
    add_machine(s, NULL, 0);
    add_failure(s, graph, NULL, "libcuda.so.1", not_found(s, "libcuda.so.1"));
    add_call(s, "cudnnCreate", host, facade, 1001, WC_NULL);
}

void example_init_failed(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/host");
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), host);
    add_machine(s, "535.104.05", 1);
    add_call(s, "cudnnCreate", host, facade, 1001, WC_NULL);
}

void example_call_failed(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/host");
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), host);
    of_wheel(s, "graph", version_of(9, 1, 0), facade);
    of_wheel(s, "ops", version_of(9, 28, 0), facade);
    add_call(s, "cudnnOpsVersionCheck", host, facade, 1002, WC_NULL);
}

void example_expectation_not_met(struct scene *s) {
    struct want w = {NOBODY, WC_demand_kind_EXPECTATION, .spec = ">=9.8,<10",
                     .source = "WHICHCUDNN_EXPECT"};
    add_demand(s, &w);
    int64_t facade = of_wheel(s, NULL, version_of(9, 1, 0), add_host(s, "/opt/app/host"));
    of_wheel(s, "graph", version_of(9, 1, 0), facade);
}

void example_demands_conflict(struct scene *s) {
    int64_t one = add_host(s, "/opt/conda/lib/libopencv_dnn.so.4.5.5");
    int64_t two =
        add_host(s, "/opt/conda/lib/python3.10/site-packages/torch/lib/libtorch_cuda_cpp.so");
    struct want exactly = {one,
                           WC_demand_kind_BUILT,
                           .built = "8.2.1",
                           .rule = "opencv-exact",
                           .framework = "opencv",
                           .framework_version = "4.5.5",
                           .source = "conda package of libopencv 4.5.5"};
    struct want later = {two,
                         WC_demand_kind_REQUIRED,
                         .spec = "==8.5.0.96",
                         .package = "nvidia-cudnn-cu11",
                         .rule = "torch",
                         .framework = "torch",
                         .framework_version = "1.13.1",
                         .source = "METADATA of torch 1.13.1"};
    add_demand(s, &exactly);
    add_demand(s, &later);
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/conda/lib/libcudnn.so.8",
                     .version = version_of(8, 2, 1),
                     .source = WC_version_source_PACKAGE_METADATA,
                     .asked_by = one,
                     .how = WC_operation_NEEDED};
    add_file(s, &f);
}

void example_part_from_other_installation(struct scene *s) {
    int64_t facade = of_wheel(s, NULL, version_of(9, 19, 0), add_host(s, "/opt/app/host"));
    of_toolkit(s, "graph", version_of(9, 19, 0), facade);
}

void example_two_copies_loaded(struct scene *s) {
    of_wheel(s, NULL, version_of(9, 1, 0), add_host(s, "/opt/app/libone.so"));
    of_toolkit(s, NULL, version_of(9, 19, 0), add_host(s, "/opt/app/libtwo.so"));
}

void example_driver_mixed(struct scene *s) {
    struct file f = {.role = WC_role_CUDA_DEPENDENCY,
                     .path = "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14",
                     .soname = "libcuda.so.1",
                     .asked_by = NOBODY};
    add_machine(s, "550.90.07", 1);
    add_file(s, &f);
}

void example_driver_too_old(struct scene *s) {
    int64_t host = add_host(s, "/opt/app/host");
    add_machine(s, "470.57.02", 1);
    of_cuda(s, "cudart", "/venv/lib/python3.12/site-packages/nvidia/cuda_runtime/lib",
            "nvidia-cuda-runtime-cu12", WC_installation_kind_WHEEL, 12, host);
}

void example_gpu_unsupported(struct scene *s) {
    static const char *const gpus[] = {"NVIDIA GeForce GTX 1080 Ti, 6.1"};
    struct wc_record r = begin(WC_KIND_machine);
    r.u.machine.gpus = (struct wc_strings){gpus, 1};
    apply(s, &r);
    int64_t facade = of_wheel(s, NULL, version_of(9, 14, 0), add_host(s, "/opt/app/host"));
    of_wheel(s, "graph", version_of(9, 14, 0), facade);
}

static void of_framework(struct scene *s, const char *framework, const char *path,
                         const char *package, const char *version, const char *gpu_library) {
    struct wc_record r = begin(WC_KIND_object);
    r.u.object.object = ++s->objects;
    r.u.object.role = WC_role_OTHER;
    r.u.object.mapped = true;
    r.u.object.path = r.u.object.real_path = path;
    r.u.object.framework = framework;
    r.u.object.gpu_library = gpu_library;
    r.u.object.installation = package;
    r.u.object.installation_version = version;
    r.u.object.installation_kind = WC_installation_kind_WHEEL;
    apply(s, &r);
}

void example_gpu_stack_not_reached(struct scene *s) {
    static const char main[] =
        "/venv/lib/python3.12/site-packages/tensorflow/libtensorflow_framework.so.2";
    of_framework(s, "tensorflow", main, "tensorflow", "2.21.0", main);
    add_failure(s, NOBODY, main, "libcublas.so.12", not_found(s, "libcublas.so.12"));
}

void example_cpu_only_build(struct scene *s) {
    of_framework(s, "torch", "/venv/lib/python3.12/site-packages/torch/lib/libtorch_cpu.so",
                 "torch", "2.5.1+cpu", NULL);
}

void example_two_cuda_copies(struct scene *s) {
    static const char directory[] = "/venv/lib/python3.12/site-packages/nvidia/cuda_runtime";
    struct file own = {.role = WC_role_CUDA_DEPENDENCY,
                       .version = WC_VERSION_NONE,
                       .path = print(s, "%s/lib/libcudart.so.12", directory),
                       .part = "cudart",
                       .installation = "nvidia-cuda-runtime-cu12",
                       .installation_version = "12.4.127",
                       .installation_path = directory,
                       .kind = WC_installation_kind_WHEEL,
                       .asked_by = torch(s),
                       .how = WC_operation_NEEDED};
    struct file other = {.role = WC_role_CUDA_DEPENDENCY,
                         .version = WC_VERSION_NONE,
                         .path = "/usr/local/cuda-12.8/lib64/libcudart.so.12.8.57",
                         .soname = "libcudart.so.12",
                         .part = "cudart",
                         .installation = "cuda-12.8",
                         .installation_path = "/usr/local/cuda-12.8",
                         .kind = WC_installation_kind_CUDA_TOOLKIT,
                         .asked_by = add_host(s, "/opt/app/libengine.so"),
                         .how = WC_operation_DLOPEN};
    add_file(s, &own);
    add_file(s, &other);
}

void example_known_bad_release(struct scene *s) {
    int64_t facade = of_wheel(s, NULL, version_of(9, 10, 0), add_host(s, "/opt/app/host"));
    of_wheel(s, "graph", version_of(9, 10, 0), facade);
}

static const char wheel_s[] = "/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9";

void example_own_copy_unused(struct scene *s) {
    struct bought b = cudnn_of_wheel();
    struct file f = {.role = WC_role_FACADE,
                     .path = "/usr/lib/x86_64-linux-gnu/libcudnn.so",
                     .soname = "libcudnn.so.8",
                     .version = version_of(8, 9, 7),
                     .source = WC_version_source_CODE,
                     .installation = "libcudnn8",
                     .installation_version = "8.9.7.29-1+cuda12.2",
                     .kind = WC_installation_kind_DEBIAN,
                     .asked_by = add_host(s, "/usr/lib/python3.12/lib-dynload/_ctypes.so"),
                     .asked_name = "libcudnn.so",
                     .how = WC_operation_DLOPEN};
    struct sought by = {
        .name = "libcudnn.so", .by = f.asked_by, .rule = WC_search_rule_CACHE, .takes = f.path};
    add_package(s, &b);
    by.object = add_file(s, &f);
    add_search(s, &by);
}

void example_already_loaded_by_soname(struct scene *s) {
    int64_t facade = of_toolkit(s, NULL, version_of(9, 19, 0), add_host(s, "/opt/app/libone.so"));
    struct sought f = {.name = "libcudnn.so.9",
                       .by = add_host(s, "/opt/app/libtwo.so"),
                       .object = facade,
                       .rule = WC_search_rule_LOADED,
                       .takes = wheel_s};
    struct beside b = {.path = wheel_s,
                       .rule = WC_search_rule_RUNPATH,
                       .passed_over = true,
                       .version = version_of(9, 26, 0)};
    add_beside(s, add_search(s, &f), &b);
}

void example_shadowed_copy(struct scene *s) {
    add_variable(s, "LD_LIBRARY_PATH=/usr/local/cuda-13.0/lib64");
    int64_t host = add_host(s, "/opt/app/host");
    struct sought f = {.name = "libcudnn.so.9",
                       .by = host,
                       .object = of_toolkit(s, NULL, version_of(9, 19, 0), host),
                       .rule = WC_search_rule_LIBRARY_PATH,
                       .element = "/usr/local/cuda-13.0/lib64"};
    struct beside b = {.path = wheel_s,
                       .rule = WC_search_rule_RUNPATH,
                       .element = "$ORIGIN/../nvidia/cudnn/lib",
                       .version = version_of(9, 26, 0)};
    add_beside(s, add_search(s, &f), &b);
}

void example_search_path_suspect(struct scene *s) {
    add_variable(s, "LD_LIBRARY_PATH=:/usr/local/cuda-13.0/lib64");
    add_host(s, "/opt/app/host");
}

void example_not_observed(struct scene *s) {
    add_host(s, "/opt/app/host");
    add_blind(s, "another namespace", "the loader shows it only to those inside");
}

/* A new finding fails here before a function of its name, above, makes a stack for the example on
 * its page. */
static const struct {
    const char *id, *function;
    void (*make)(struct scene *);
} examples[] = {
#define FINDING(name, id, severity, title) {id, "example_" #name, example_##name},
#include "core/demand/findings.def"
};

/* ---- in words ---- */

static char *render(struct scene *s, const struct wc_finding_record *r, char *to, size_t cap) {
    struct advice advice = advice_for(&s->stack, r, false, &s->printed.arena);
    FILE *out = fmemopen(to, cap, "w");
    fprintf(out, "%s: %s%s\n", wc_enum_word(WC_ENUM_severity, r->severity), r->title,
            r->predicted ? " (predicted)" : "");
    for (size_t i = 0; i < r->facts.n; i++) {
        const struct wc_fact *f = &r->facts.p[i];
        fprintf(out, "  %s: %s", f->name, f->value);
        fprintf(out, f->source ? "  (%s)\n" : "\n", f->source);
    }
    if (r->explained_by)
        fprintf(out, "  explained by: %s\n", r->explained_by);
    fprintf(out, "  suggestion: %s\n", advice.text);
    fclose(out);
    return to;
}

/* From the heading of an id to the next heading. */
static const char *section(const char *id, size_t *n) {
    char heading[96];
    snprintf(heading, sizeof heading, "\n## `%s`\n", id);
    const char *start = strstr(page, heading);
    const char *end = start ? strstr(start + strlen(heading), "\n## ") : NULL;
    *n = !start ? 0 : end ? (size_t)(end - start) : strlen(start);
    return start;
}

static bool in_section(const char *id, const char *text) {
    size_t n;
    const char *start = section(id, &n), *found = start ? strstr(start, text) : NULL;
    return found && found < start + n;
}

/* What it means and how it was seen is above; then these, the commands of the check, an example. */
static void has_its_parts(const char *id) {
    static const char *const parts[] = {
        "\nWhy: ", "\nWhat to do: ", "\nHow to check: ", "\n\n```sh\n", "\n```\n\n```text\n"};
    size_t n;
    const char *at = section(id, &n), *end = at + n;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *part = strstr(at, parts[i]);
        if (!part || part >= end)
            fail_msg("docs/findings.md, %s: no %s behind what comes before it", id, parts[i]);
        at = part;
    }
}

static void each_finding_has_its_section(void **state) {
    (void)state;
    size_t n, length;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    const char *before = page;
    for (size_t i = 0; i < n; i++) {
        char line[256];
        const char *at = section(kind[i].id, &length);
        if (!at || (at < before && i > 0))
            fail_msg("docs/findings.md needs the section ## `%s`, in the order of "
                     "core/demand/findings.def",
                     kind[i].id);
        before = at;
        snprintf(line, sizeof line, "\n**%s**: %s.\n",
                 wc_enum_word(WC_ENUM_severity, kind[i].severity), kind[i].title);
        if (!in_section(kind[i].id, line))
            fail_msg("docs/findings.md, %s: the section should begin with%s", kind[i].id, line);
        has_its_parts(kind[i].id);
    }
}

/* The command was built with this very page. */
static void each_page_is_in_the_command(void **state) {
    (void)state;
    size_t n, length;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        const char *built = page_of(kind[i].id, false), *at = section(kind[i].id, &length);
        assert_non_null(built);
        at = strchr(at + 1, '\n') + 1; /* below the heading, behind an empty line */
        assert_int_equal(strncmp(at + 1, built, strlen(built)), 0);
        assert_in_range(section(kind[i].id, &length) + length - at - strlen(built), 0, 2);
    }
    assert_null(page_of("no-such-finding", true));
}

static void no_section_is_of_an_unknown_finding(void **state) {
    (void)state;
    size_t n;
    const struct wc_finding_kind *kind = wc_finding_kinds(&n);
    for (const char *p = page; (p = strstr(p, "\n## `")); p++) {
        bool known = false;
        for (size_t i = 0; i < n; i++)
            known = known || (strncmp(p + 5, kind[i].id, strlen(kind[i].id)) == 0 &&
                              p[5 + strlen(kind[i].id)] == '`');
        if (!known)
            fail_msg("docs/findings.md has a section that core/demand/findings.def has no row "
                     "for: %.*s",
                     (int)strcspn(p + 4, "\n"), p + 4);
    }
}

static void each_example_is_what_diagnose_says(void **state) {
    (void)state;
    static char text[16 << 10], block[17 << 10];
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct scene *s = new_scene();
        if (!examples[i].make)
            fail_msg("%s needs a stack in which it is found: %s(), above", examples[i].id,
                     examples[i].function);
        examples[i].make(s);
        diagnose(s);
        if (!finding(s, examples[i].id))
            print_findings(s);
        assert_non_null(finding(s, examples[i].id));
        memset(text, 0, sizeof text);
        render(s, finding(s, examples[i].id), text, sizeof text - 1);
        snprintf(block, sizeof block, "\n```text\n%s```\n", text);
        if (getenv("WC_EXAMPLES"))
            printf("=== %s%s", examples[i].id, block);
        else if (!in_section(examples[i].id, block))
            fail_msg("docs/findings.md, %s: the example should read\n%s", examples[i].id, text);
    }
}

/* Who, got what, wanted what, and what to do: a line with a version or a file, and one that begins
 * a fix. */
static void assert_first_lines_say_it(const char *text) {
    const char *fix = strstr(text, "\n  suggestion "), *end = text;
    for (int line = 0; line < 4 && end;
         line += strncmp(end, "\n  V = ", 7) && strncmp(end, "\n  W = ", 7))
        end = strchr(end + 1, '\n');
    if (!fix || !end || fix >= end)
        fail_msg("there is no fix within the first four lines, those of letters apart:\n%s", text);
    for (const char *p = text; p < end; p++)
        if ((*p >= '0' && *p <= '9') || *p == '/')
            return;
    fail_msg("there is no version and no file within the first four lines:\n%s", text);
}

static void assert_fits_a_screen(const char *text) {
    size_t lines = 0;
    for (const char *p = text; *p; lines++) {
        size_t n = strcspn(p, "\n");
        if (wc_columns_n(p, n) > 100)
            fail_msg("a line is longer than 100 columns:\n%s", text);
        p += n + (p[n] == '\n');
    }
    if (lines > 16)
        fail_msg("there are more than 16 lines:\n%s", text);
}

static void each_finding_fits_a_screen(void **state) {
    (void)state;
    static struct wc_finding_page made;
    static char block[17 << 10];
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct scene *s = new_scene();
        struct wc_finding_view view = {.put_fixes = put_fix_rows,
                                       .stack = &s->stack,
                                       .process = "30555 on node7: python train.py, exited 1"};
        examples[i].make(s);
        diagnose(s);
        const struct wc_finding_record *f = finding(s, examples[i].id);
        struct advice advice = advice_for(&s->stack, f, false, &s->printed.arena);
        struct repair repair = {.text = advice.text};
        view.fixes = &(struct plan_of_finding){.p = &repair, .n = 1};
        const char *text = wc_finding_text(&made, f, &view);
        if (getenv("WC_TEXTS")) {
            printf("%s\n", text);
            continue;
        }
        assert_fits_a_screen(text);
        assert_first_lines_say_it(text);
        snprintf(block, sizeof block, "%s\n", text);
        if (!strstr(texts, block))
            fail_msg("tests/unit/golden/findings.txt, %s: the text should read\n%s", examples[i].id,
                     text);
    }
}

static void each_action_is_listed(void **state) {
    (void)state;
    static const char *const words[] = {
#define ACTION(name, word, what, never) "\n| `" word "` | " what " |\n",
#include "core/demand/findings.def"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(page, words[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_finding_has_its_section),
        cmocka_unit_test(each_page_is_in_the_command),
        cmocka_unit_test(no_section_is_of_an_unknown_finding),
        cmocka_unit_test(each_example_is_what_diagnose_says),
        cmocka_unit_test(each_finding_fits_a_screen),
        cmocka_unit_test(each_action_is_listed),
    };
    return cmocka_run_group_tests(tests, read_files, NULL);
}
