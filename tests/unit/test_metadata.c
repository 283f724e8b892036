/* SPDX-License-Identifier: Apache-2.0 */
/* core/packages/metadata.c: what made packages demand. Each text is as that framework's packages
 * write it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/packages/identify.h"
#include "support_own_tree.h"
#include "support_seed.h"

enum { SCRATCH = 16384, MOST = 6 };

#define SITE "/venv/lib/python3.12/site-packages"

static struct wc_metadata_demand found[MOST];
static size_t count;
static const char *site; /* of the process */

static void ask_for(const char *host, size_t most) {
    unsigned char *scratch = malloc(SCRATCH);
    struct wc_metadata_demand *exact = malloc(most * sizeof *exact + 1);
    assert_non_null(scratch);
    assert_non_null(exact);
    count = wc_metadata_demands(&tree.files, host, site, scratch, SCRATCH, exact, most);
    assert_true(count <= most);
    memcpy(found, exact, count * sizeof *exact);
    free(exact);
    free(scratch);
}

static void ask(const char *host) {
    ask_for(host, MOST);
}

/* A distribution that owns `file` (below site-packages). */
static void add(const char *name, const char *version, const char *file, const char *metadata) {
    char path[256], text[2048];
    snprintf(path, sizeof path, SITE "/%s-%s.dist-info/METADATA", name, version);
    snprintf(text, sizeof text, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s\n\nText.\n", name,
             version, metadata);
    tree_write(&tree, path, text);
    snprintf(path, sizeof path, SITE "/%s-%s.dist-info/RECORD", name, version);
    snprintf(text, sizeof text, "a.py,,\n%s,sha256=x,3\nz.py,sha256=y,1\n", file);
    tree_write(&tree, path, text);
    snprintf(path, sizeof path, SITE "/%s", file);
    tree_write(&tree, path, "elf");
}

static void assert_demand(size_t i, enum wc_demand_kind kind, const char *spec, const char *built,
                          const char *framework, const char *version, const char *source) {
    assert_true(i < count);
    assert_int_equal(found[i].kind, kind);
    assert_string_equal(found[i].spec, spec);
    assert_string_equal(found[i].built, built);
    assert_string_equal(found[i].framework, framework);
    assert_string_equal(found[i].framework_version, version);
    assert_string_equal(found[i].source, source);
    struct wc_file_stat facts;
    assert_true(tree.files.facts(&tree, found[i].source_path, &facts));
}

/* ---- Requires-Dist ---- */

static void a_torch_pin_is_what_it_was_built_with(void **state) {
    (void)state;
    for (int i = 0; i < 30; i++) {
        int v[4] = {8 + rand() % 3, rand() % 30, rand() % 10, rand() % 100};
        char pin[64], line[256], built[64];
        snprintf(pin, sizeof pin, "==%d.%d.%d.%d", v[0], v[1], v[2], v[3]);
        snprintf(built, sizeof built, "%d.%d.%d", v[0], v[1], v[2]);
        snprintf(line, sizeof line,
                 i % 2 ? "Requires-Dist: numpy\nRequires-Dist: nvidia-cudnn-cu13%s; "
                         "platform_system == \"Linux\""
                       : "Requires-Dist: nvidia-cudnn-cu12 (%s) ; platform_system == \"Linux\" and "
                         "platform_machine == \"x86_64\"",
                 pin);
        add("torch", "2.3.1+cu121", "torch/lib/libtorch_cuda.so", line);
        ask(SITE "/torch/lib/libtorch_cuda.so");
        assert_int_equal(count, 1);
        assert_demand(0, WC_demand_kind_REQUIRED, pin, built, "torch", "2.3.1+cu121",
                      "METADATA of torch 2.3.1+cu121");
        assert_string_equal(found[0].package, i % 2 ? "nvidia-cudnn-cu13" : "nvidia-cudnn-cu12");
    }
}

static void ranges_stay_ranges(void **state) {
    (void)state;
    add("jax_cuda12_plugin", "0.10.2", "jax_cuda12_plugin/_versions.so",
        "Requires-Dist: nvidia-cudnn-cu12<10.0,>=9.8; sys_platform == \"linux\" and extra == "
        "\"with-cuda\"");
    ask(SITE "/jax_cuda12_plugin/_versions.so");
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_REQUIRED, "<10.0,>=9.8", "9.8", "jax", "0.10.2",
                  "METADATA of jax-cuda12-plugin 0.10.2");
    /* Its other half owns the plugin itself and says nothing. */
    add("jax_cuda12_pjrt", "0.10.2", "jax_plugins/xla_cuda12/xla_cuda_plugin.so", "");
    ask(SITE "/jax_plugins/xla_cuda12/xla_cuda_plugin.so");
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_REQUIRED, "<10.0,>=9.8", "9.8", "jax", "0.10.2",
                  "METADATA of jax-cuda12-plugin 0.10.2");
    add("onnxruntime_gpu", "1.31.1", "onnxruntime/capi/libonnxruntime_providers_cuda.so",
        "Provides-Extra: cudnn\nRequires-Dist: nvidia-cudnn-cu13~=9.0; extra == \"cudnn\"");
    ask(SITE "/onnxruntime/capi/libonnxruntime_providers_cuda.so");
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_REQUIRED, "~=9.0", "", "onnxruntime", "1.31.1",
                  "METADATA of onnxruntime-gpu 1.31.1");
}

static void only_cudnn_of_this_system_counts(void **state) {
    (void)state;
    add("torch", "2.0", "torch/x.so",
        "Requires-Dist: nvidia-cudnn-frontend>=1.0\nRequires-Dist: nvidia-cublas-cu12==12.1\n"
        "Requires-Dist: nvidia-cudnn-cu12==9.1.0.70; sys_platform == \"win32\"\n"
        "Requires-Dist: nvidia-cudnn-cu12 @ https://example.org/x.whl\n"
        "Requires-Dist: nvidia-cudnn-cu12\n"
        "X-Requires-Dist: nvidia-cudnn-cu12==9.2.0.1\n"
        "Requires-Dist: NVIDIA_cuDNN_cu12[x] == 9.3.0.1 ; sys_platform != \"win32\"\n"
        "Requires-Dist: nvidia_cudnn.cu12[x] == 9.4.0.1 ; sys_platform != \"win32\"\n"
        "Requires-Dist: nvidia-cudnn-cu12 ==9.4.0.1; platform_machine == \"x86_64\"\n"
        "Requires-Dist: nvidia-cudnn-cu12==nonsense");
    ask(SITE "/torch/x.so");
    assert_int_equal(count, 3);
    assert_string_equal(found[0].spec, "== 9.3.0.1");
    assert_string_equal(found[1].spec, "== 9.4.0.1");
    assert_demand(2, WC_demand_kind_REQUIRED, "==9.4.0.1", "9.4.0", "torch", "2.0",
                  "METADATA of torch 2.0");
}

/* Python's ctypes and cffi ask for others: for packages of Python files, in the process's site or
 * beside the interpreter's lib-dynload. */
static void who_may_ask_by_a_library_of_python(void **state) {
    static const struct {
        const char *site, *library;
    } known[] = {
        {SITE "/", "/usr/lib/python3.12/lib-dynload/_ctypes.cpython-312-x86_64-linux-gnu.so"},
        {NULL, "/venv/lib/python3.12/lib-dynload/_ctypes.cpython-312-x86_64-linux-gnu.so"},
        {NULL, SITE "/_cffi_backend.cpython-312-x86_64-linux-gnu.so"},
    };
    (void)state;
    add("torch", "2.9.0", "torch/lib/libtorch_cuda.so", "Requires-Dist: nvidia-cudnn-cu12==9.1");
    add("extras", "1.0", "extras/a.py", "Requires-Dist: nvidia-cudnn-cu12>=9.9; extra == \"cuda\"");
    add("idle", "1.0", "idle/a.py", "Requires-Dist: numpy");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        site = known[i].site;
        ask(known[i].library);
        assert_int_equal(count, 0);
    }
    add("wave_gen", "2.1", "wave_gen/a.py",
        "Requires-Dist: nvidia-cudnn-cu12<10,>=9.8\n"
        "Requires-Dist: nvidia-cudnn-cu13; extra == \"next\"");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        site = known[i].site;
        ask(known[i].library);
        assert_int_equal(count, 1);
        assert_demand(0, WC_demand_kind_REQUIRED, "<10,>=9.8", "", "", "",
                      "METADATA of wave-gen 2.1");
        assert_string_equal(found[0].source_path, SITE "/wave_gen-2.1.dist-info/METADATA");
    }
    add("tts", "1.0", "tts/a.py", "Requires-Dist: nvidia-cudnn-cu12>=9.5");
    ask(known[2].library);
    assert_int_equal(count, 2);
    site = NULL;
}

static void the_same_said_twice_is_one_demand(void **state) {
    (void)state;
    add("torch", "2.0", "torch/x.so",
        "Requires-Dist: nvidia-cudnn-cu12==9.4.0.1; platform_machine == \"x86_64\"\n"
        "Requires-Dist: nvidia-cudnn-cu12==9.4.0.1; platform_machine == \"aarch64\"");
    ask(SITE "/torch/x.so");
    assert_int_equal(count, 1);
}

/* METADATA does not show which extra was asked for: what is installed does. */
static void of_extras_the_one_that_is_installed_counts(void **state) {
    (void)state;
    add("ortkit", "1.22.0", "ortkit/x.so",
        "Requires-Dist: nvidia-cudnn-cu12~=9.0; extra == \"cudnn\"\n"
        "Requires-Dist: nvidia_cudnn_cu11<9; extra == \"cu11\"\n"
        "Requires-Dist: nvidia-cudnn-cu12<9; extra == \"old\"");
    add("nvidia_cudnn_cu12_tools", "9.10.2", "tools/x.py", ""); /* another one */
    ask(SITE "/ortkit/x.so");
    assert_int_equal(count, 0);
    add("nvidia_cudnn_cu12", "9.10.2.21", "nvidia/cudnn/lib/libcudnn.so.9", "");
    ask(SITE "/ortkit/x.so");
    assert_int_equal(count, 1);
    assert_string_equal(found[0].spec, "~=9.0");
    /* With a release that none accepts all of that package count. */
    add("wavekit", "1.0", "wavekit/x.so",
        "Requires-Dist: nvidia-cudnn-cu12<9; extra == \"old\"\n"
        "Requires-Dist: nvidia-cudnn-cu12>=9.11; extra == \"new\"\n"
        "Requires-Dist: nvidia-cudnn-cu13; extra == \"next\"\n"
        "Requires-Dist: nvidia-cudnn-cu13>=9.12; extra == \"last\"");
    ask(SITE "/wavekit/x.so");
    assert_int_equal(count, 2);
    assert_string_equal(found[1].spec, ">=9.11");
    /* A single one, and what no extra stands before, counts in any case. */
    add("onekit", "1.0", "onekit/x.so",
        "Requires-Dist: nvidia-cudnn-cu13>=9.12; extra == \"gpu\"\n"
        "Requires-Dist: nvidia-cudnn-cu11<9");
    ask(SITE "/onekit/x.so");
    assert_int_equal(count, 2);
}

static void an_unknown_owner_still_requires(void **state) {
    (void)state;
    add("my_package", "0.1", "my_package/ext.so", "Requires-Dist: nvidia-cudnn-cu12>=9.1");
    ask(SITE "/my_package/ext.so");
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_REQUIRED, ">=9.1", "", "", "", "METADATA of my-package 0.1");
    ask(SITE "/my_package/other.so");
    assert_int_equal(count, 0);
    ask("/usr/lib/x86_64-linux-gnu/libhost.so");
    assert_int_equal(count, 0);
}

/* ---- files of the package ---- */

static void tensorflow_says_the_major_and_pins(void **state) {
    (void)state;
    add("tensorflow", "2.15.0", "tensorflow/libtensorflow_cc.so.2",
        "Requires-Dist: nvidia-cudnn-cu12 (==8.9.4.25) ; extra == 'and-cuda'");
    tree_write(&tree, SITE "/tensorflow/python/platform/build_info.py",
               "import collections\n\nbuild_info = collections.OrderedDict([('cuda_version', "
               "'12.2'), ('cudnn_version', '8'), ('is_cuda_build', True)])\n");
    ask(SITE "/tensorflow/libtensorflow_cc.so.2");
    assert_int_equal(count, 2);
    assert_demand(0, WC_demand_kind_BUILT, "", "8", "tensorflow", "2.15.0",
                  "tensorflow/python/platform/build_info.py of tensorflow 2.15.0");
    assert_demand(1, WC_demand_kind_REQUIRED, "==8.9.4.25", "8.9.4", "tensorflow", "2.15.0",
                  "METADATA of tensorflow 2.15.0");
    tree_write(&tree, SITE "/tensorflow/python/platform/build_info.py",
               "cuda_version_number = '10.1'\ncudnn_version_number = '7.6'\n");
    ask(SITE "/tensorflow/libtensorflow_cc.so.2");
    assert_string_equal(found[0].built, "7.6");
    tree_write(&tree, SITE "/tensorflow/python/platform/build_info.py",
               "build_info = OrderedDict([('is_cuda_build', False)])\n");
    ask(SITE "/tensorflow/libtensorflow_cc.so.2");
    assert_int_equal(count, 1);
}

static void paddle_says_it_exactly(void **state) {
    (void)state;
    add("paddlepaddle_gpu", "3.3.1", "paddle/base/libpaddle.so",
        "Requires-Dist: nvidia-cudnn-cu12==9.5.1.17");
    tree_write(&tree, SITE "/paddle/version/__init__.py",
               "cuda_version     = '12.6'\ncudnn_version    = '9.9.0'\ncommit = '1'\n");
    ask(SITE "/paddle/base/libpaddle.so");
    assert_int_equal(count, 2);
    assert_demand(0, WC_demand_kind_BUILT, "", "9.9.0", "paddle", "3.3.1",
                  "paddle/version/__init__.py of paddlepaddle-gpu 3.3.1");
    assert_demand(1, WC_demand_kind_REQUIRED, "==9.5.1.17", "", "paddle", "3.3.1",
                  "METADATA of paddlepaddle-gpu 3.3.1");
    tree_write(&tree, SITE "/paddle/version/__init__.py",
               "cudnn_version    = 'False'\nxpu_version = '5.1.2'\n");
    ask(SITE "/paddle/base/libpaddle.so");
    assert_int_equal(count, 1);
}

static void cupy_says_it_in_json_or_in_its_header(void **state) {
    (void)state;
    const char *host = SITE "/cupy_backends/cuda/libs/cudnn.so";
    add("cupy_cuda11x", "13.6.0", "cupy_backends/cuda/libs/cudnn.so", "");
    tree_write(&tree, SITE "/cupy/.data/_wheel.json",
               "{\"cuda\": \"11.x\", \"nccl\": {\"version\": \"2.16.5\"}, \"cudnn\": {\"version\": "
               "\"8.8.1\", \"filenames\": [\"libcudnn.so.8.8.1\"]}}");
    ask(host);
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_BUILT, "", "8.8.1", "cupy", "13.6.0",
                  "cupy/.data/_wheel.json of cupy-cuda11x 13.6.0");
    tree_write(&tree, SITE "/cupy/.data/_wheel.json", "{\"cuda\": \"11.x\"}");
    tree_write(&tree, SITE "/cupy/.data/include/cudnn.h",
               "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n");
    ask(host);
    assert_int_equal(count, 1);
    assert_string_equal(found[0].built, "7.6.5");
}

static void jaxlib_says_it_in_its_version(void **state) {
    (void)state;
    static const char *const printed[][2] = {
        {"0.4.11+cuda11.cudnn86", "8.6"}, {"0.3.0+cuda11.cudnn805", "8.0.5"},
        {"0.4.20+cuda12.cudnn89", "8.9"}, {"0.1.0+cuda11.cudnn8", "8"},
        {"0.1.0+cuda12", NULL},           {"0.1.0+cudnnx", NULL}};
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        char source[128];
        end_tree(NULL);
        begin_tree(NULL);
        add("jaxlib", printed[i][0], "jaxlib/xla_extension.so", "");
        ask(SITE "/jaxlib/xla_extension.so");
        assert_int_equal(count, printed[i][1] != NULL);
        snprintf(source, sizeof source, "version of jaxlib %s", printed[i][0]);
        if (printed[i][1])
            assert_demand(0, WC_demand_kind_BUILT, "", printed[i][1], "jax", printed[i][0], source);
    }
}

/* ---- conda ---- */

static void conda_says_it_in_depends_and_in_the_build(void **state) {
    (void)state;
    const char *host = "/conda/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so";
    const char *files = "\"files\": [\"lib/python3.10/site-packages/torch/lib/libtorch_cuda.so\"]";
    char text[512];
    snprintf(
        text, sizeof text,
        "{\"constrains\": [\"cudnn <1\"], \"depends\": [\"cuda\", \"cudnn >=9.3.0.75,<10.0a0\","
        " \"python\"], %s}",
        files);
    tree_write(&tree, "/conda/conda-meta/pytorch-2.5.1-cuda126_py310h1_300.json", text);
    ask(host);
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_REQUIRED, ">=9.3.0.75,<10.0", "", "torch", "2.5.1",
                  "conda package of pytorch 2.5.1");
    end_tree(NULL);
    begin_tree(NULL);
    snprintf(text, sizeof text, "{\"depends\": [\"cudnnx 1\"], %s}", files);
    tree_write(&tree, "/conda/conda-meta/pytorch-2.1.0-py3.10_cuda12.1_cudnn8.9.2_0.json", text);
    ask(host);
    assert_int_equal(count, 1);
    assert_demand(0, WC_demand_kind_BUILT, "", "8.9.2", "torch", "2.1.0",
                  "conda package of pytorch 2.1.0");
}

/* Not only of frameworks; what is not on its list says nothing. */
static void any_package_of_condas_says_what_it_depends_on(void **state) {
    static const char *const hosts[] = {"lib/python3.10/site-packages/lens/_C.so",
                                        "lib/liblens_core.so", "bin/lens"};
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        char text[256], host[128];
        snprintf(text, sizeof text, "{\"depends\": [\"cudnn >=9.8,<10.0a0\"], \"files\": [\"%s\"]}",
                 hosts[i]);
        snprintf(host, sizeof host, "/conda/%s", hosts[i]);
        tree_write(&tree, "/conda/conda-meta/py-lens-1.0-cuda118_0.json", text);
        ask(host);
        assert_int_equal(count, 1);
        assert_demand(0, WC_demand_kind_REQUIRED, ">=9.8,<10.0", "", "", "",
                      "conda package of py-lens 1.0");
        ask("/conda/lib/liblens_other.so");
        assert_int_equal(count, 0);
    }
}

/* pip writes over conda's files and leaves conda's record: the file is not the one of that. */
static void what_pip_put_over_condas_conda_does_not_speak_of(void **state) {
    static const char *const installers[] = {"conda", "pip\n", "uv", NULL};
    (void)state;
    add("torch", "2.5.1", "torch/lib/libtorch_cuda.so",
        "Requires-Dist: nvidia-cudnn-cu12==9.1.0.70");
    tree_write(&tree, "/venv/conda-meta/pytorch-2.1.0-py3.12_cuda12.1_cudnn8.9.2_0.json",
               "{\"files\": [\"lib/python3.12/site-packages/torch/lib/libtorch_cuda.so\"]}");
    for (size_t i = 0; i < sizeof installers / sizeof *installers; i++) {
        char path[] = SITE "/torch-2.5.1.dist-info/INSTALLER", real[PATH_MAX];
        tree_path(&tree, path, real);
        if (installers[i])
            tree_write(&tree, path, installers[i]);
        else
            assert_int_equal(unlink(real), 0);
        ask(SITE "/torch/lib/libtorch_cuda.so");
        assert_int_equal(count, i == 1 || i == 2 ? 1 : 2);
        assert_string_equal(found[0].spec, "==9.1.0.70");
    }
}

/* ---- where the package says nothing ---- */

static void a_bundled_copy_is_what_it_was_built_with(void **state) {
    (void)state;
    add("torch", "1.12.1+cu113", "torch/lib/libtorch_cuda.so", "Requires-Dist: typing-extensions");
    ask(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(count, 0);
    tree_write(&tree, SITE "/torch-1.12.1+cu113.dist-info/INSTALLER", "pip\n");
    ask(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(count, 1); /* the table of what the makers built with */
    assert_string_equal(found[0].built, "8.3.2");
    tree_write(&tree, SITE "/torch/lib/libcudnn.so.8", "elf");
    tree_write(&tree, SITE "/torch/lib/libcublas.so.11", "elf");
    ask(SITE "/torch/lib/libtorch_cuda.so");
    assert_demand(0, WC_demand_kind_BUILT, "", "", "torch", "1.12.1+cu113",
                  "libcudnn.so.8 of torch 1.12.1+cu113");
    assert_true(found[0].by_file);
    tree_write(&tree, SITE "/torch/lib/libcudnn_cnn_infer.so.8", "elf");
    tree_write(&tree, SITE "/torch/lib/libcudnn_ops_infer-0a1b2c3d.so.8", "elf");
    ask(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(count, 1);
    assert_string_equal(found[0].source_path, SITE "/torch/lib/libcudnn_ops_infer-0a1b2c3d.so.8");
    /* What it requires is stronger than what lies there. */
    add("torch", "1.12.1+cu113", "torch/lib/libtorch_cuda.so",
        "Requires-Dist: nvidia-cudnn-cu11==8.5.0.96");
    ask(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(count, 1);
    assert_string_equal(found[0].spec, "==8.5.0.96");
    assert_false(found[0].by_file);
}

/* ---- what the makers built with ---- */

static const struct {
    const char *framework, *from, *to, *cuda, *cudnn, *what, *source;
} built_with[] = {
#define BUILT_WITH(framework, from, to, cuda, cudnn, what, source)                                 \
    {framework, from, to, cuda, cudnn, what, source},
#include "core/knowledge/built_with.def"
};
#define ROWS (sizeof built_with / sizeof *built_with)

static const struct {
    const char *framework, *distribution, *with_cuda, *version; /* of the wheels with a CUDA */
} wheels[] = {
    {"tensorflow", "tensorflow_gpu", "", "%s"},
    {"torch", "torch", "", "%s+cu%s"},
    {"jax", "jaxlib", "jax_cuda%s_plugin", "%s+cuda%s"},
    {"onnxruntime", "onnxruntime_gpu", "", "%s"},
    {"mxnet", "mxnet", "mxnet_cu%smkl", "%s"},
    {"paddle", "paddlepaddle_gpu", "", "%s.post%s"},
    {"ctranslate2", "ctranslate2", "", "%s"},
};

/* What a wheel of that framework and CUDA is called. */
static void name_wheel(size_t row, const char *release, char name[64], char version[64]) {
    const char *cuda = built_with[row].cuda;
    size_t i = 0;
    while (strcmp(wheels[i].framework, built_with[row].framework) != 0)
        assert_true(++i < sizeof wheels / sizeof *wheels);
    bool by_name = *cuda && *wheels[i].with_cuda && strlen(cuda) < 4 &&
                   (wheels[i].framework[0] != 'j' || strlen(cuda) == 2);
    snprintf(name, 64, by_name ? wheels[i].with_cuda : "%s",
             by_name ? cuda : wheels[i].distribution);
    snprintf(version, 64, *cuda && !by_name ? wheels[i].version : "%s", release, cuda);
}

/* As `installer` put it there; NULL: nobody says who. */
static void ask_wheel_of(const char *installer, const char *name, const char *version) {
    end_tree(NULL);
    begin_tree(NULL);
    char file[96], path[160];
    snprintf(file, sizeof file, "%s/libhost.so", name);
    snprintf(path, sizeof path, SITE "/%s", file);
    add(name, version, file, "");
    snprintf(file, sizeof file, "/%s-%s.dist-info/INSTALLER", name, version);
    char listed[256];
    snprintf(listed, sizeof listed, SITE "%s", file);
    if (installer)
        tree_write(&tree, listed, installer);
    ask(path);
}

static void ask_wheel(const char *name, const char *version) {
    ask_wheel_of("pip\n", name, version);
}

static void each_row_says_what_a_release_was_built_with(void **state) {
    (void)state;
    assert_true(ROWS > 40);
    for (size_t i = 0; i < ROWS; i++) {
        struct wc_version from = wc_version_of(built_with[i].from);
        struct wc_version to = wc_version_of(built_with[i].to);
        struct wc_version cudnn = wc_version_of(built_with[i].cudnn);
        char name[64], version[64], distribution[64], source[256];
        assert_true(from.minor >= 0 && to.minor >= 0 && wc_version_compare(from, to) < 0);
        assert_true(cudnn.major >= 5 && cudnn.major <= 9 && cudnn.build < 0);
        assert_true(strlen(built_with[i].what) > 5);
        /* repository:file, or repository#thread */
        assert_non_null(strchr(built_with[i].source, '/'));
        assert_true(strpbrk(built_with[i].source, ":#") > strchr(built_with[i].source, '/'));
        name_wheel(i, built_with[i].from, name, version);
        ask_wheel(name, version);
        assert_int_equal(count, 1);
        assert_string_equal(found[0].built, built_with[i].cudnn);
        assert_int_equal(found[0].kind, WC_demand_kind_BUILT);
        assert_string_equal(found[0].framework, built_with[i].framework);
        assert_string_equal(found[0].framework_version, version);
        snprintf(distribution, sizeof distribution, "%s", name);
        for (char *c = distribution; *c; c++)
            *c = *c == '_' ? '-' : *c;
        snprintf(source, sizeof source, "%s of %s %s, %s", built_with[i].what, distribution,
                 version, built_with[i].source);
        assert_string_equal(found[0].source, source);
        assert_string_equal(found[0].source_path, "");
    }
}

static void no_release_is_in_two_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < i; k++) {
            bool apart = wc_version_compare(wc_version_of(built_with[i].from),
                                            wc_version_of(built_with[k].to)) >= 0 ||
                         wc_version_compare(wc_version_of(built_with[k].from),
                                            wc_version_of(built_with[i].to)) >= 0;
            if (!apart && strcmp(built_with[i].framework, built_with[k].framework) == 0)
                assert_string_not_equal(built_with[i].cuda, built_with[k].cuda);
        }
}

static void of_which_release_and_cuda_a_wheel_is(void **state) {
    static const char *const row[][3] = {
        {"tensorflow_gpu", "1.2.1", "5.1"},
        {"tensorflow_gpu", "1.4.0", "6.0"},
        {"tensorflow_gpu", "1.9.0", "7"},
        {"tensorflow_gpu", "1.14.0", "7.4"},
        {"tensorflow", "1.15.5", "7.6"},
        {"tensorflow", "2.0.0", NULL}, /* two sources disagree */
        {"tensorflow", "2.12.1", "8.6"},
        {"tensorflow", "2.22.0", NULL}, /* newer than the table */
        {"tensorflow", "0.9.0", NULL},
        {"tensorflow", "2.12.0rc1", NULL},
        {"tf_nightly", "2.12.0.dev20221001", NULL},
        {"tensorflow", "1.15.2+nv20.2", NULL}, /* NVIDIA's own, with another cuDNN */
        {"torch", "1.13.1+cu117", "8.5.0"},
        {"torch", "1.13.1+cu116", "8.3.2"},
        {"torch", "1.13.1+cpu", NULL},
        {"torch", "1.13.1", NULL},
        {"jaxlib", "0.1.69+cuda111", "8.0.5"},
        {"jax_cuda12_plugin", "0.5.0", "9.1.1"},
        {"jax_cuda12_plugin", "0.11.1", "9.8.0"},
        {"jax_cuda12_plugin", "0.12.0.1", "9.10.2"},
        {"jax_cuda13_plugin", "0.7.2", "9.12.0"},
        {"jax_cuda13_plugin", "0.12.0.1", "9.12.0"},
        {"jax_cuda13_plugin", "0.12.1", NULL}, /* newer than the table */
        {"jax_cuda13_plugin", "0.5.0", NULL},
        {"onnxruntime_gpu", "1.16.3", "8.2.4"},
        {"onnxruntime_gpu", "1.17.0", NULL},
        {"mxnet_cu101", "1.5.1.post0", "7.6.0"},
        {"mxnet_cu112", "1.9.1", "8.1.1"},
        {"mxnet", "1.9.1", NULL},
        {"paddlepaddle_gpu", "1.8.5", "7.3"},
        {"paddlepaddle_gpu", "1.8.5.post87", "7.1"},
        {"ctranslate2", "2.24.0", NULL},
        {"ctranslate2", "3.23.0", "8.1.1"},
        {"ctranslate2", "4.4.0", "8.9.7"},
        {"ctranslate2", "4.6.2", "9.1.0"},
        {"ctranslate2", "4.6.3", NULL}, /* from here on without cuDNN */
        {"ctranslate2", "4.8.1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ask_wheel(row[i][0], row[i][1]);
        assert_int_equal(count, row[i][2] != NULL);
        if (row[i][2])
            assert_string_equal(found[0].built, row[i][2]);
    }
}

static void the_table_is_of_the_makers_own_wheels(void **state) {
    static const struct {
        const char *installer;
        size_t demands;
    } row[] = {{"pip\n", 1},  {"uv", 1},      {"Poetry 1.8.3", 1},
               {"pdm\n", 1},  {"conda\n", 0}, {"installer\n", 0},
               {"debian", 0}, {"", 0},        {NULL, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ask_wheel_of(row[i].installer, "tensorflow_gpu", "1.14.0");
        assert_int_equal(count, row[i].demands);
    }
}

static void the_table_is_asked_where_the_wheel_tells_a_major_at_most(void **state) {
    static const char info[] = SITE "/tensorflow/python/platform/build_info.py";
    (void)state;
    add("tensorflow", "2.12.0", "tensorflow/libtensorflow_cc.so.2", "");
    tree_write(&tree, SITE "/tensorflow-2.12.0.dist-info/INSTALLER", "pip\n");
    tree_write(&tree, info, "build_info = {'cudnn_version': '8'}\n");
    ask(SITE "/tensorflow/libtensorflow_cc.so.2");
    assert_int_equal(count, 2);
    assert_string_equal(found[0].built, "8");
    assert_string_equal(found[1].built, "8.6");
    tree_write(&tree, info, "build_info = {'cudnn_version': '8.4'}\n");
    ask(SITE "/tensorflow/libtensorflow_cc.so.2");
    assert_int_equal(count, 1);
    assert_string_equal(found[0].built, "8.4");
    /* Of a file or a repository: pip writes down where it was from (PEP 610). */
    tree_write(&tree, info, "build_info = {'cudnn_version': '8'}\n");
    tree_write(&tree, SITE "/tensorflow-2.12.0.dist-info/direct_url.json", "{}");
    ask(SITE "/tensorflow/libtensorflow_cc.so.2");
    assert_int_equal(count, 1);
    assert_string_equal(found[0].built, "8");
}

/* ---- limits, damage ---- */

static void no_more_than_asked_for_are_written(void **state) {
    (void)state;
    char text[400] = "";
    for (int i = 0; i < 5; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "Requires-Dist: nvidia-cudnn-cu1%d>=9.%d\n", i, i);
    add("torch", "2.0", "torch/x.so", text);
    for (size_t most = 0; most <= MOST; most++) {
        ask_for(SITE "/torch/x.so", most);
        assert_int_equal(count, most < 5 ? most : 5);
    }
    add("paddlepaddle_gpu", "3.3.1", "paddle/x.so", "Requires-Dist: nvidia-cudnn-cu12==9.5.1.17");
    tree_write(&tree, SITE "/paddle/version/__init__.py", "cudnn_version = '9.9.0'\n");
    for (size_t most = 0; most <= 2; most++) {
        ask_for(SITE "/paddle/x.so", most);
        assert_int_equal(count, most);
    }
}

static void metadata_cut_anywhere_is_survived(void **state) {
    (void)state;
    static const char text[] = "Requires-Dist: nvidia-cudnn-cu12[a] (==8.9.2.26,<9) ; os == 'x'";
    for (size_t n = 0; n < sizeof text; n++) {
        add("torch", "2.0", "torch/x.so", "");
        tree_put(&tree, SITE "/torch-2.0.dist-info/METADATA", text, n);
        ask(SITE "/torch/x.so");
        assert_true(count <= 1);
        if (strchr(text, ';') && n > (size_t)(strchr(text, ')') - text))
            assert_string_equal(found[0].spec, "==8.9.2.26,<9");
    }
    for (int i = 0; i < 300; i++) {
        unsigned char noise[2000];
        size_t n = (size_t)rand() % sizeof noise;
        for (size_t k = 0; k < n; k++)
            noise[k] = (unsigned char)"Requires-Dist: nvidia-cudnn-cu12 ==9\n;()[]"[rand() % 43];
        for (size_t k = 0; k + 100 < n; k += 100)
            memcpy(noise + k, "\nRequires-Dist: nvidia-cudnn-cu12", 33);
        tree_put(&tree, SITE "/torch-2.0.dist-info/METADATA", noise, n);
        ask(SITE "/torch/x.so");
    }
}

static void a_file_system_that_fails_at_any_call_is_survived(void **state) {
    (void)state;
    add("paddlepaddle_gpu", "3.3.1", "paddle/base/libpaddle.so",
        "Requires-Dist: nvidia-cudnn-cu12==9.5.1.17");
    tree_write(&tree, SITE "/paddle/version/__init__.py", "cudnn_version    = '9.9.0'\n");
    tree.calls = 0;
    ask(SITE "/paddle/base/libpaddle.so");
    long calls = tree.calls;
    for (tree.fails_at = 1; tree.fails_at <= calls; tree.fails_at++) {
        tree.calls = 0;
        ask(SITE "/paddle/base/libpaddle.so");
        assert_true(count <= 2);
    }
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        WITH_TREE(a_torch_pin_is_what_it_was_built_with),
        WITH_TREE(ranges_stay_ranges),
        WITH_TREE(only_cudnn_of_this_system_counts),
        WITH_TREE(who_may_ask_by_a_library_of_python),
        WITH_TREE(the_same_said_twice_is_one_demand),
        WITH_TREE(of_extras_the_one_that_is_installed_counts),
        WITH_TREE(an_unknown_owner_still_requires),
        WITH_TREE(tensorflow_says_the_major_and_pins),
        WITH_TREE(paddle_says_it_exactly),
        WITH_TREE(cupy_says_it_in_json_or_in_its_header),
        WITH_TREE(jaxlib_says_it_in_its_version),
        WITH_TREE(conda_says_it_in_depends_and_in_the_build),
        WITH_TREE(any_package_of_condas_says_what_it_depends_on),
        WITH_TREE(what_pip_put_over_condas_conda_does_not_speak_of),
        WITH_TREE(a_bundled_copy_is_what_it_was_built_with),
        WITH_TREE(each_row_says_what_a_release_was_built_with),
        WITH_TREE(no_release_is_in_two_rows),
        WITH_TREE(of_which_release_and_cuda_a_wheel_is),
        WITH_TREE(the_table_is_of_the_makers_own_wheels),
        WITH_TREE(the_table_is_asked_where_the_wheel_tells_a_major_at_most),
        WITH_TREE(no_more_than_asked_for_are_written),
        WITH_TREE(metadata_cut_anywhere_is_survived),
        WITH_TREE(a_file_system_that_fails_at_any_call_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
