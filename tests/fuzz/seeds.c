/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds DIRECTORY: the inputs that the corpora began with, a folder for each target. What fuzzing
 * made of them, cut down to what reaches something, is tests/fuzz/corpus; this is for whoever
 * changes what an input means.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/unit/support_elf.h"
#include "tests/unit/support_record.h"

enum { FUNC = STT_FUNC | STB_GLOBAL << 4, OBJECT = STT_OBJECT | STB_GLOBAL << 4 };

static const char *root;
static struct elf_maker made;
static unsigned char input[1 << 18];

static void save(const char *target, const char *name, const void *p, size_t n) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, target);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        exit(1);
    snprintf(path, sizeof path, "%s/%s/%s", root, target, name);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
        exit(1);
}

/* ---- ELF ---- */

static void end_elf(bool gnu, bool sysv) {
    elf_symbol_table(&made);
    if (gnu)
        elf_gnu_hash(&made, made.first_defined ? (uint32_t)made.first_defined : 1);
    if (sysv)
        elf_hash(&made);
}

static size_t add_note(void) {
    const uint32_t property[] = {4, 8, NT_GNU_PROPERTY_TYPE_0, 0x00554e47, 0, 0};
    const uint32_t id[] = {4, 20, NT_GNU_BUILD_ID, 0x00554e47, 0x44332211, 0x88776655, 3, 4, 5};
    size_t at = elf_put(&made, property, sizeof property, 4);
    elf_put(&made, id, sizeof id, 4);
    return at;
}

static void add_versions(void) {
    struct {
        Elf64_Verneed n;
        Elf64_Vernaux a, b;
    } needed = {{1, 2, elf_string(&made, "libcudnn.so.9"), sizeof(Elf64_Verneed), 0},
                {0, 0, 2, elf_string(&made, "libcudnn.so.9"), sizeof(Elf64_Vernaux)},
                {0, 0, 4, elf_string(&made, "OTHER"), 0}};
    struct {
        Elf64_Verdef d;
        Elf64_Verdaux a;
    } defined[2] = {
        {{1, VER_FLG_BASE, 1, 1, 0, sizeof(Elf64_Verdef), sizeof defined[0]},
         {elf_string(&made, "libmade.so.1"), 0}},
        {{1, 0, 3, 1, 0, sizeof(Elf64_Verdef), 0}, {elf_string(&made, "MADE_1"), 0}},
    };
    elf_dynamic(&made, DT_VERNEED, elf_put(&made, &needed, sizeof needed, 8));
    elf_dynamic(&made, DT_VERNEEDNUM, 1);
    elf_dynamic(&made, DT_VERDEF, elf_put(&made, defined, sizeof defined, 8));
    elf_dynamic(&made, DT_VERDEFNUM, 2);
}

enum { SLOTS = 6 };

/* Relocations whose slots lie behind the dynamic section; where those are is known at the end. */
static size_t add_relocs(void) {
    const Elf64_Rela rela[SLOTS + 2] = {
        {0, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x10},
        {0, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x20},
        {0, ELF64_R_INFO(1, R_X86_64_GLOB_DAT), 0},
        {0, ELF64_R_INFO(2, R_X86_64_GLOB_DAT), 0},
        {0, ELF64_R_INFO(3, R_X86_64_64), 0},
        {0, ELF64_R_INFO(4, R_X86_64_64), 7},
        {0, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0},
        {0, ELF64_R_INFO(3, R_X86_64_JUMP_SLOT), 0},
    };
    size_t at = elf_put(&made, rela, sizeof rela, 8);
    elf_dynamic(&made, DT_RELA, at);
    elf_dynamic(&made, DT_RELASZ, sizeof rela);
    elf_dynamic(&made, DT_RELAENT, sizeof *rela);
    elf_dynamic(&made, DT_RELACOUNT, 2);
    elf_dynamic(&made, DT_JMPREL, at + 6 * sizeof *rela);
    elf_dynamic(&made, DT_PLTRELSZ, 2 * sizeof *rela);
    return at;
}

static void place_slots(size_t relocs) {
    static const uint64_t empty[SLOTS + 2];
    Elf64_Phdr p;
    memcpy(&p, made.bytes + sizeof(Elf64_Ehdr) + sizeof p, sizeof p);
    size_t at = elf_put(&made, empty, sizeof empty, 8);
    elf_phdr(&made, 1, PT_LOAD, PF_R | PF_W, p.p_offset, p.p_vaddr, made.n - p.p_offset);
    for (size_t i = 0; i < SLOTS + 2; i++) {
        uint64_t slot = at + made.gap + 8 * i;
        memcpy(made.bytes + relocs + i * sizeof(Elf64_Rela), &slot, sizeof slot);
    }
}

static void make_host(bool gnu, bool sysv, bool program, bool defines) {
    elf_begin(&made);
    size_t note = add_note(), note_size = made.n - note;
    elf_symbol(&made, "cudnnCreate", FUNC, 0, 0, 0, 2);
    elf_symbol(&made, "cudnnGetVersion", FUNC, 0, 0, 0, 2);
    elf_symbol(&made, "cudnnDestroy", FUNC, defines, defines ? 0x80 : 0, 4, defines ? 3 : 2);
    elf_symbol(&made, "puts", FUNC, defines, defines ? 0x80 : 0, 0, 1);
    elf_symbol(&made, "twice", FUNC, 1, 0x100, 4, 0x8003);
    elf_symbol(&made, "twice", FUNC, 1, 0x200, 4, 3);
    end_elf(gnu, sysv);
    add_versions();
    size_t relocs = add_relocs();
    elf_put(&made, "cudnn_version_9_1_0_70_ %s.%d.%d.%d", 36, 1);
    elf_dynamic(&made, DT_NEEDED, elf_string(&made, "libcudnn.so.9"));
    elf_dynamic(&made, DT_SONAME, elf_string(&made, "libmade.so.1"));
    elf_dynamic(&made, DT_RUNPATH, elf_string(&made, "$ORIGIN/../lib"));
    elf_dynamic(&made, DT_RPATH, elf_string(&made, "/opt"));
    elf_dynamic(&made, DT_FLAGS, DF_BIND_NOW);
    if (program)
        elf_dynamic(&made, DT_DEBUG, 0);
    elf_end(&made, note, note_size);
    place_slots(relocs);
}

static void save_host(const char *name, const uint8_t *controls, size_t n) {
    memcpy(input, made.bytes, made.n);
    memcpy(input + made.n, controls, n);
    save("elf_file", name, made.bytes, made.n);
    save("elf_memory", name, input, made.n + n);
    save("slots", name, input, made.n + n);
}

static void save_hosts(void) {
    static const uint8_t controls[] = {5, 1, 3, 4, 1, 3, 2, 1, 1, 3, 3, 0, 6, 1, 1, 64 | 1};
    static const uint8_t plain[] = {1, 1, 3, 1, 1, 1, 1, 3, 3, 3, 0, 1, 3, 1, 1};
    make_host(true, false, false, false);
    save_host("gnu-hash", plain, sizeof plain);
    save_host("gnu-hash-and-program", controls, sizeof controls);
    make_host(false, true, false, false);
    save_host("hash", plain, sizeof plain);
    make_host(false, false, false, true);
    save_host("no-hash", (const uint8_t[]){1, 3, 1, 3, 1, 3, 1, 3, 3}, 9);
    make_host(true, true, true, false);
    save_host("program", controls, sizeof controls);
}

/* ---- versions ---- */

static void begin_library(const char *soname) {
    elf_begin(&made);
    elf_dynamic(&made, DT_SONAME, elf_string(&made, soname));
}

static void save_library(const char *name, const char *header, uint8_t how) {
    size_t n = strlen(header);
    end_elf(true, false);
    elf_end(&made, 0, 0);
    memcpy(input, made.bytes, made.n);
    memcpy(input + made.n, header, n);
    input[made.n + n] = (uint8_t)n;
    input[made.n + n + 1] = how;
    save("versions", name, input, made.n + n + 2);
}

static void add_code(const char *name, const void *code, size_t n) {
    uint64_t at = elf_put(&made, code, n, 16);
    if (name)
        elf_symbol(&made, name, FUNC, 1, at, n, 1);
}

static void save_libraries(void) {
    static const unsigned char x86[] = {0x6a, 3,    0x90, 0x45, 0x31, 0xc9, 0x41, 0xb8, 9, 0, 0, 0,
                                        0x90, 0xe8, 0,    1,    0,    0,    0x41, 0xb9, 1, 0, 0, 0};
    static const uint32_t arm[] = {0x528000c6, 0xd503201f, 0x2a0603e5, 0x52800124, 0x94000010};
    static const unsigned char whole[] = {0xb8, 0xdd, 0x1d, 0, 0, 0xc3};
    static const unsigned char store[] = {0xc7, 0x85, 0x50, 0xff, 0xfe, 0xff, 0xfc, 0x5f, 1,
                                          0,    0xc7, 0x44, 0x24, 8,    0xfc, 0x5f, 1,    0,
                                          0xc7, 0x45, 8,    0xfc, 0x5f, 1,    0,    0xc7, 0x84,
                                          0x24, 1,    1,    1,    1,    0xfc, 0x5f, 1,    0};
    uint32_t packed = 9 << 16 | 1 << 8;
    begin_library("libcudnn.so.9");
    add_code(NULL, x86, sizeof x86);
    add_code("cudnnGetVersion", whole, sizeof whole);
    elf_put(&made, "%s.%d.%d.%d", 12, 1);
    save_library("names-x86_64", "", 16);
    begin_library("libcudnn.so.9");
    add_code(NULL, arm, sizeof arm);
    elf_put(&made, "%s.%d.%d.%d", 12, 1);
    end_elf(true, false);
    elf_end(&made, 0, 0);
    made.bytes[18] = EM_AARCH64;
    memcpy(input, made.bytes, made.n);
    memcpy(input + made.n, "\0\x10", 2);
    save("versions", "names-aarch64", input, made.n + 2);
    begin_library("libcudnn_cnn.so.9");
    add_code("cudnnCnnVersionCheck", store, sizeof store);
    save_library("code", "", 4);
    begin_library("libcudnn_graph.so.9");
    elf_symbol(&made, "cudnn_graph_version", OBJECT, 1, elf_put(&made, &packed, 4, 4), 4, 1);
    save_library("data-symbol", "", 1);
    begin_library("libcudnn_x.so.9");
    elf_put(&made, "cudnn_version != (9 * 10000 + 28 * 100 + 1)", 44, 1);
    elf_put(&made, "cudnn_version_9_1_0_70_c1", 26, 1);
    save_library("build-string", "", 4);
    begin_library("libcudnn.so.9");
    save_library("header",
                 "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n", 20);
}

/* ---- file systems ---- */

#define SITE "/v/site-packages/"
#define END "\xff"

static void save_paths(const char *name, const char *text) {
    save("metadata", name, text, strlen(text) + 1);
}

static void save_trees(void) {
    save_paths("torch",
               SITE "torch/lib/libtorch.so\nx" END SITE
                    "torch-2.3.1+cu121.dist-info/METADATA\nName: torch\nRequires-Dist: "
                    "nvidia-cudnn-cu12[x] (==9.1.0.70) ; platform_system == \"Linux\"\n"
                    "Requires-Dist: nvidia-cudnn-cu12>=8,<9; sys_platform == 'win32'\n" END SITE
                    "torch-2.3.1+cu121.dist-info/RECORD\ntorch/lib/libtorch.so,,1\n");
    save_paths("tensorflow",
               SITE "tensorflow/libtensorflow_cc.so.2\n" END SITE
                    "tensorflow-2.16.0rc1.dist-info/METADATA\nx\n" END SITE
                    "tensorflow/python/platform/build_info.py\n'cudnn_version': '8'\n");
    save_paths("paddle", SITE "paddle/base/libpaddle.so\n" END SITE
                              "paddlepaddle_gpu-3.3.1.dist-info/METADATA\nRequires-Dist: "
                              "nvidia-cudnn-cu12 == 9.5.1.17\n" END SITE
                              "paddle/version/__init__.py\ncudnn_version    = '9.5'\n");
    save_paths("cupy",
               SITE "cupy_backends/x.so\n" END SITE "cupy_cuda12x-13.0.dist-info/METADATA\n"
                    "x\n" END SITE "cupy/.data/_wheel.json\n{\"cudnn\": \"8.8.1\"}\n" END SITE
                    "cupy/.data/include/cudnn.h\n#define CUDNN_MAJOR 7\n#define CUDNN_MINOR "
                    "6\n#define CUDNN_PATCHLEVEL 5\n");
    save_paths("jax", SITE "jax_plugins/xla_cuda12/xla.so\n" END SITE
                           "jax_cuda12_pjrt-0.5.0.dist-info/METADATA\nx\n" END SITE
                           "jax_cuda12_plugin-0.5.0.dist-info/METADATA\nRequires-Dist: "
                           "nvidia-cudnn-cu12<10.0,>=9.8\n");
    save_paths("jaxlib",
               SITE "jaxlib/x.so\n" END SITE "jaxlib-0.4.11+cuda11.cudnn86.dist-info/METADATA\n");
    save_paths("wheel", SITE "nvidia/cudnn/lib/libcudnn.so.9\nelf" END SITE
                             "nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD\n"
                             "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,3\n" END SITE
                             "nvidia_cublas_cu12-9.1.dist-info/RECORD\n");
    save_paths("unpacked", "/c/w/nvidia/cudnn/lib/libcudnn.so.9\nelf" END
                           "/c/w/nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA\n");
    save_paths(
        "conda",
        "/c/envs/e/lib/libcudnn.so.9\n" END
        "/c/envs/e/conda-meta/cudnn-9.3.0.75-h0_0.json\n{\"files\":[\"lib/libcudnn.so.9\"]}\n");
    save_paths("conda-host",
               "/c/lib/libtorch.so\n" END "/c/conda-meta/pytorch-2.1-py3_cuda12_cudnn8.9_0.json\n{"
               "\"depends\": [\n\"cudnn >=9.3.0.75,<10.0a0\",\n\"libcudnn >=9\"],\"files\": "
               "[\"lib/libtorch.so\"]}\n");
    save_paths("debian",
               "/usr/lib/x/libcudnn.so.9\n" END "/var/lib/dpkg/info/libcudnn9-cuda-12.list\n"
               "/lib/x/libcudnn.so.9\n" END "/var/lib/dpkg/status\nPackage: libcudnn9-cuda-12\n"
               "Version: 9.1.0.70-1\n");
    save_paths("toolkit", "/usr/local/cuda-13.0/lib64/libcudnn.so.9\n" END
                          "/usr/local/cuda-13.0/version.json\n{\"cuda\" : {\"version\" : "
                          "\"13.0.2\"}}\n");
    save_paths("toolkit-old", "/opt/cuda/lib64/libcudnn.so.7\n" END "/opt/cuda/version.txt\n");
    save_paths("toolkit-no-json", "/opt/cuda-11.2/lib64/libcudnn.so.8\n");
    save_paths("mounts", "/opt/a b/libcudnn.so.8\n" END "/proc/self/mountinfo\n"
                         "22 1 8:1 / / rw - ext4 /dev/root rw\n"
                         "30 22 8:1 /x /opt/a\\040b/libcudnn.so.8 ro - ext4 /dev/root rw\n");
    save_paths("rpm", "/usr/lib64/libcudnn.so.9\n" END "/var/lib/rpm/Packages\nx\n");
    save_paths("two-wheels",
               SITE "torch/lib/libtorch.so\n" END SITE "nvidia/cudnn/lib/libcudnn.so.9\nx" END SITE
                    "nvidia/cudnn/lib/libcudnn_x.so.9\nx" END SITE
                    "nvidia_cudnn_cu11-9.1.0.70.dist-info/RECORD\n"
                    "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,3\n" END SITE
                    "nvidia_cudnn_cu12-9.2.0.70.dist-info/RECORD\n"
                    "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,1\n"
                    "nvidia/cudnn/lib/libcudnn_graph.so.9,sha256=x,1\n");
    save_paths("conda-files",
               "/c/lib/libcudnn.so.9\nx" END "/c/conda-meta/cudnn-9.3.0.75-h0_0.json\n"
               "{\"files\":[\"lib/libcudnn.so.9\"],\"paths\":[{\"_path\":\"lib/libcudnn.so.9\","
               "\"path_type\":\"hardlink\",\"size_in_bytes\":3}]}\n");
    save_paths("bundled", SITE "torch/lib/libtorch.so\n" END SITE
                               "torch-1.12.1.dist-info/METADATA\nx\n" END SITE
                               "torch/lib/libcudnn_ops_infer.so.8\nelf" END SITE
                               "torch-1.12.1.dist-info/INSTALLER\npip\n");
    save_paths("build-script",
               SITE "ctranslate2/x.so\n" END SITE "ctranslate2-4.5.0.dist-info/METADATA\nx\n");
    save_paths("bundle", "/opt/libtorch/lib/libcudnn.so.8\n");
}

/* ---- logs ---- */

static const char *texts[] = {"a", "/opt/cudnn/libcudnn.so.9", "LD_LIBRARY_PATH=/opt"};
static const struct wc_fact facts[] = {{"host", "libtorch.so", "slot"}, {"x", "y", NULL}};

static size_t put_record(size_t at, enum wc_kind kind, unsigned variant, bool empty) {
    static int64_t seq;
    struct wc_record r;
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);
    wc_record_begin(&r, kind);
    r.seq = ++seq;
    r.time = 1700000000000000;
    r.pid = r.tid = 4711;
    for (size_t i = 0; i < n && !empty; i++) {
        unsigned drawn = variant + (unsigned)i;
        const struct sample s = {.text = texts[drawn % 3],
                                 .number = drawn % 3 + 1,
                                 .flag = drawn & 1,
                                 .word = drawn % words_of(&f[i]),
                                 .texts = {texts, 3},
                                 .facts = {.p = facts, .n = 2}};
        fill_field(&r, &f[i], &s);
    }
    return at + wc_record_write(&r, (char *)input + at, WC_RECORD_MAX);
}

static void save_logs(void) {
    size_t n = 0;
    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        char name[64];
        size_t one = put_record(0, kind, kind, false);
        input[one] = '\0';
        snprintf(name, sizeof name, "one-%s", wc_kind_name(kind));
        save("log", name, input, one + 1);
    }
    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        n = put_record(n, kind, 0, true);
        n = put_record(n, kind, 2, false);
    }
    n = put_record(n, WC_KIND_process, 1, false);
    save("log", "all", input, n);
    save("log", "cut", input, n - 40);
    save("log", "older", "{\"v\":2}\n", 9);
    save("log", "newer", "{\"v\":5}\n", 9);
    save("log", "none", "x\n{}\n[]\n{\"v\":4}\n", 16);
}

/* ---- stacks: any bytes build one ---- */

static void save_stacks(void) {
    uint32_t x = 2463534242;
    for (int i = 0; i < 24; i++) {
        char name[16];
        for (size_t k = 0; k < 1500; k++) {
            x ^= x << 13, x ^= x >> 17, x ^= x << 5;
            input[k] = (unsigned char)(x >> 11);
        }
        snprintf(name, sizeof name, "any-%d", i);
        save("diagnose", name, input, 300 + 50 * (size_t)i);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: seeds DIRECTORY\n", stderr);
        return 2;
    }
    root = argv[1];
    save_hosts();
    save_libraries();
    save_trees();
    save_logs();
    save_stacks();
    return 0;
}
