/* SPDX-License-Identifier: Apache-2.0 */
/* core/packages/file_version.c: versions of made libraries, and installations in made trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/names/symbols.h"
#include "core/names/version_code.h"
#include "core/packages/identify.h"
#include "support_elf.h"
#include "support_own_tree.h"
#include "support_seed.h"

enum { FUNC = STT_FUNC | STB_GLOBAL << 4, OBJECT = STT_OBJECT | STB_GLOBAL << 4, SCRATCH = 16384 };

#define SITE "/venv/lib/python3.12/site-packages"
#define WHEEL SITE "/nvidia/cudnn/lib/"

static struct elf_maker made;
static struct wc_elf_image image;
static struct wc_identity id;

/* ---- a made library: begin(), add_*(), then identify() ---- */

static void begin_library(const char *soname) {
    elf_begin(&made);
    elf_dynamic(&made, DT_SONAME, elf_string(&made, soname));
}

static void add_data(const char *name, unsigned info, uint32_t value, uint64_t size) {
    uint64_t at = elf_put(&made, &value, sizeof value, 4);
    elf_symbol(&made, name, info, 1, at, size, 1);
}

static void add_code(const char *name, const void *code, size_t n) {
    uint64_t at = elf_put(&made, code, n, 16);
    if (name)
        elf_symbol(&made, name, FUNC, 1, at, n, 1);
}

static void add_text(const char *text) {
    elf_put(&made, text, strlen(text) + 1, 1);
}

static void add_function(const char *name) {
    elf_symbol(&made, name, FUNC, 1, 0x40, 1, 1);
}

static void end_library(void) {
    elf_symbol_table(&made);
    elf_gnu_hash(&made, made.first_defined ? (uint32_t)made.first_defined : 1);
    elf_end(&made, 0, 0);
    assert_int_equal(wc_elf_from_pieces(&image, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
}

static void identify(const char *path, bool with_image, bool facade) {
    unsigned char *scratch = malloc(SCRATCH); /* so that a sanitizer sees its ends */
    assert_non_null(scratch);
    memset(&id, 0x5a, sizeof id);
    wc_identify(&tree.files, path, with_image ? &image : NULL, facade, scratch, SCRATCH, &id);
    free(scratch);
}

static void assert_version(const char *version, enum wc_version_source source) {
    char text[WC_VERSION_TEXT];
    assert_string_equal(wc_version_format(id.version, text), version);
    assert_int_equal(id.version_source, source);
}

static void assert_installation(enum wc_installation_kind kind, const char *name,
                                const char *version, const char *path) {
    assert_int_equal(id.installation_kind, kind);
    assert_string_equal(id.installation, name);
    assert_string_equal(id.installation_version, version);
    assert_string_equal(id.installation_path, path);
}

static uint32_t packed(int major, int minor, int patch) {
    return (uint32_t)(major << 16 | minor << 8 | patch);
}

static uint32_t number(int major, int minor, int patch) {
    return (uint32_t)(major * (major < 9 ? 1000 : 10000) + minor * 100 + patch);
}

/* A version that its major can have, as text, too. */
static void draw(int major, int v[3], char text[32]) {
    v[0] = major;
    v[1] = rand() % (major < 9 ? 10 : 40);
    v[2] = rand() % 10;
    snprintf(text, 32, "%d.%d.%d", v[0], v[1], v[2]);
}

/* ---- what the file itself says ---- */

static void a_data_symbol_tells(void **state) {
    (void)state;
    for (int i = 0; i < 50; i++) {
        int v[3];
        char text[32];
        draw(8 + i % 2, v, text);
        begin_library(v[0] == 9 ? "libcudnn_graph.so.9" : "libcudnn_ops_infer.so.8");
        add_function("cudnnGetVersion");
        add_data(v[0] == 9 ? "cudnn_graph_version" : "cudnn_ops_infer_version", OBJECT,
                 packed(v[0], v[1], v[2]), 4);
        end_library();
        identify("/opt/lib/libcudnn_graph.so.9.99.9", true, false);
        assert_version(text, WC_version_source_DATA_SYMBOL);
        assert_int_equal(id.version.build, -1);
    }
}

static void other_symbols_do_not(void **state) {
    (void)state;
    begin_library("libcudnn_graph.so.9");
    elf_symbol(&made, "cudnn_ops_infer_version", OBJECT, 0, 0, 0, 1);
    add_data("cudnn_graph_version", OBJECT, packed(9, 1, 0), 8);
    add_data("cudnn_adv_version", FUNC, packed(9, 1, 0), 4);
    add_data("cudnn_graph_revision", OBJECT, packed(9, 1, 0), 4);
    add_data("graph_version", OBJECT, packed(9, 1, 0), 4);
    end_library();
    identify("/opt/lib/libcudnn_graph.so.9", true, false);
    assert_version("unknown", WC_version_source_UNKNOWN);
    begin_library("libcudnn_graph.so.9");
    add_data("cudnn_graph_version", OBJECT, 90100, 4); /* of another major than the SONAME */
    end_library();
    identify("/opt/lib/libcudnn_graph.so.9", true, false);
    assert_version("unknown", WC_version_source_UNKNOWN);
    begin_library("libcudnn_graph.so.9");
    add_data("cudnn_graph_version", OBJECT, 0, 4);
    end_library();
    identify("/opt/lib/libcudnn_graph.so.9", true, false);
    assert_version("unknown", WC_version_source_UNKNOWN);
}

/* mov $minor,%r9d; mov $major,%r8d; push $patch in some order, with other instructions between. */
static size_t name_call_x86_64(unsigned char *p, const int v[3], int shape) {
    size_t n = 0;
    unsigned char push[] = {0x6a, (unsigned char)v[2]};
    unsigned char major[] = {0x41, 0xb8, (unsigned char)v[0], 0, 0, 0};
    unsigned char minor[] = {0x41, 0xb9, (unsigned char)v[1], 0, 0, 0};
    static const unsigned char zero[] = {0x45, 0x31, 0xc9};
    static const unsigned char between[] = {0x48, 0x89, 0xe5, 0x48, 0x89, 0xfb, 0x31, 0xc0};
    static const unsigned char call[] = {0xe8, 0, 1, 0, 0, 0x90, 0x90, 0x90};
    const void *part[3] = {push, minor, major};
    size_t size[3] = {sizeof push, sizeof minor, sizeof major};
    if (!v[1]) {
        part[1] = zero;
        size[1] = sizeof zero;
    }
    for (int i = 0; i < 3; i++) {
        int k = shape == 2 ? 2 - i : (i + shape) % 3;
        memcpy(p + n, part[k], size[k]);
        n += size[k];
        memcpy(p + n, between, sizeof between);
        n += sizeof between;
    }
    memcpy(p + n, call, sizeof call);
    return n + sizeof call;
}

static void facade_with(const unsigned char *code, size_t n, const char *format) {
    begin_library("libcudnn.so.9");
    add_function("cudnnGraphVersionCheck");
    add_code(NULL, code, n);
    add_text(format);
    end_library();
}

static void a_facade_tells_by_the_names_it_makes(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        unsigned char code[256];
        int v[3];
        char text[32];
        draw(9, v, text);
        memset(code, 0x90, sizeof code);
        size_t n = name_call_x86_64(code, v, i % 3);
        facade_with(code, n, "%s.%d.%d.%d");
        identify("/opt/lib/libcudnn.so.9", true, true);
        assert_version(text, WC_version_source_ASKED_NAMES);
        /* Between .init and .fini, as it is, or elsewhere, with one text behind or before it. */
        image.init = image.load[0].vaddr;
        image.fini = image.init + (uint64_t)rand() % image.load[0].readable;
        identify("/opt/lib/libcudnn.so.9", true, true);
        assert_version(text, WC_version_source_ASKED_NAMES);
        identify("/opt/lib/libcudnn_x.so.9", true, false);
        assert_version("unknown", WC_version_source_UNKNOWN);
        facade_with(code, n, "%s.%d.%d.%u");
        identify("/opt/lib/libcudnn.so.9", true, true);
        assert_version("unknown", WC_version_source_UNKNOWN);
    }
}

/* An argument that the end of the segment cuts in two; what follows may not be read. */
static void code_is_not_read_behind_its_end(void **state) {
    static const unsigned char major[] = {0x41, 0xb8, 9, 0, 0, 0};
    unsigned char code[256];
    (void)state;
    memset(code, 0x90, sizeof code);
    facade_with(code, sizeof code, "%s.%d.%d.%d");
    const size_t n = image.load[0].readable, page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = (n + page - 1) / page * page;
    unsigned char *pages =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + room, page, PROT_NONE), 0);
    unsigned char *copy = pages + room - n;
    memcpy(copy, image.load[0].at, n);
    for (size_t i = 0; i < 8 * sizeof major; i++) {
        const size_t begin = i % 8, cut = i / 8;
        memcpy(copy + n - cut, major, cut);
        image.load[0].at = copy + begin;
        image.load[0].readable = n - begin;
        assert_false(wc_version_known(wc_version_in_names(&image, 9)));
    }
    assert_int_equal(munmap(pages, room + page), 0);
}

static void calls_that_disagree_tell_nothing(void **state) {
    (void)state;
    unsigned char code[512];
    memset(code, 0x90, sizeof code);
    size_t n = 200 + name_call_x86_64(code + 200, (const int[]){9, 4, 1}, 0);
    name_call_x86_64(code, (const int[]){9, 4, 0}, 0);
    facade_with(code, n, "%s.%d.%d.%d");
    identify("/opt/lib/libcudnn.so.9", true, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    /* One patch that is pushed twice is one, another one is not known to be of the call. */
    for (unsigned char patch = 1; patch < 3; patch++) {
        memset(code, 0x90, sizeof code);
        n = name_call_x86_64(code, (const int[]){9, 4, 1}, 0);
        code[n] = 0x6a;
        code[n + 1] = patch;
        facade_with(code, n + 2, "%s.%d.%d.%d");
        identify("/opt/lib/libcudnn.so.9", true, true);
        assert_version(patch == 1 ? "9.4.1" : "unknown",
                       patch == 1 ? WC_version_source_ASKED_NAMES : WC_version_source_UNKNOWN);
    }
    /* An argument of another major is no part of such a call. */
    memset(code, 0x90, sizeof code);
    n = name_call_x86_64(code, (const int[]){8, 4, 1}, 0);
    facade_with(code, n, "%s.%d.%d.%d");
    identify("/opt/lib/libcudnn.so.9", true, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
}

static uint32_t mov_w(unsigned reg, unsigned value) {
    return 0x52800000u | value << 5 | reg;
}

static uint32_t copy_w(unsigned reg, unsigned from) {
    return 0x2a0003e0u | from << 16 | reg;
}

static void an_aarch64_facade_does_too(void **state) {
    (void)state;
    const uint32_t nop = 0xd503201f, call = 0x94000010;
    for (int i = 0; i < 200; i++) {
        int v[3];
        char text[32];
        draw(9, v, text);
        uint32_t w6 = mov_w(6, (unsigned)v[2]), w5 = mov_w(5, (unsigned)v[1]);
        if (v[1] == v[2])
            w5 = copy_w(5, 6);
        else if (v[1] == 9)
            w5 = copy_w(5, 4);
        uint32_t code[] = {mov_w(6, 77), call,        nop, w6,   nop,
                           w5,           mov_w(4, 9), nop, call, mov_w(5, 66)};
        if (i % 2) {
            code[6] = w6;
            code[3] = mov_w(4, 9);
        }
        facade_with((const unsigned char *)code, sizeof code, "%s.%d.%d.%d");
        image.machine = EM_AARCH64;
        identify("/opt/lib/libcudnn.so.9", true, true);
        assert_version(text, WC_version_source_ASKED_NAMES);
    }
    /* A minor has two digits. */
    for (unsigned minor = 99; minor <= 101; minor++) {
        uint32_t code[] = {mov_w(6, 1), mov_w(5, minor), mov_w(4, 9), call};
        facade_with((const unsigned char *)code, sizeof code, "%s.%d.%d.%d");
        image.machine = EM_AARCH64;
        identify("/opt/lib/libcudnn.so.9", true, true);
        if (minor == 99)
            assert_version("9.99.1", WC_version_source_ASKED_NAMES);
        else
            assert_version("unknown", WC_version_source_UNKNOWN);
    }
}

static void a_number_in_the_code_tells(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        int v[3];
        char text[32], soname[32];
        draw(7 + i % 3, v, text);
        uint32_t n = number(v[0], v[1], v[2]);
        unsigned char whole[] = {0xb8, 0, 0, 0, 0, 0xc3};
        unsigned char store[] = {0x55, 0x48, 0xc7, 0x85, 0x50, 0xff, 0xfe, 0xff, 0,
                                 0,    0,    0,    0xc7, 0x44, 0x24, 0x08, 0x10, 0,
                                 0x00, 0,    0x5d, 0xc3, 0x90, 0x90, 0x90};
        memcpy(whole + 1, &n, 4);
        memcpy(store + 8, &n, 4);
        snprintf(soname, sizeof soname, v[0] == 7 ? "libcudnn.so.7" : "libcudnn_cnn.so.%d", v[0]);
        begin_library(soname);
        if (v[0] == 7)
            add_code("cudnnGetVersion", whole, sizeof whole);
        else
            add_code(v[0] == 8 ? "cudnnCnnTrainVersionCheck" : "cudnnCnnVersionCheck", store,
                     sizeof store);
        end_library();
        identify("/opt/lib/libcudnn_cnn.so", true, v[0] == 7);
        assert_version(text, WC_version_source_CODE);
    }
}

static void a_number_in_another_instruction_tells_nothing(void **state) {
    unsigned char code[24];
    (void)state;
    for (int stores = 0; stores < 2; stores++) {
        uint32_t n = number(9, 1, 0);
        memset(code, 0x90, sizeof code);
        memcpy(code, stores ? "\xc7\x85\x50\xff\xfe\xff" : "\x81\x85\x50\xff\xfe\xff", 6);
        memcpy(code + 6, &n, 4);
        begin_library("libcudnn_cnn.so.9");
        add_code("cudnnCnnVersionCheck", code, sizeof code);
        end_library();
        identify("/opt/lib/libcudnn_cnn.so", true, false);
        assert_version(stores ? "9.1.0" : "unknown",
                       stores ? WC_version_source_CODE : WC_version_source_UNKNOWN);
    }
}

static void numbers_that_differ_tell_nothing(void **state) {
    (void)state;
    unsigned char store[32];
    memset(store, 0x90, sizeof store);
    for (int differ = 0; differ < 2; differ++) {
        for (size_t i = 0; i < 2; i++) {
            uint32_t n = number(9, 1, differ ? (int)i : 0);
            memcpy(store + 12 * i, "\xc7\x85\x50\xff\xfe\xff", 6);
            memcpy(store + 12 * i + 6, &n, 4);
        }
        begin_library("libcudnn_cnn.so.9");
        add_code("cudnnCnnVersionCheck", store, sizeof store);
        end_library();
        identify("/opt/lib/libcudnn_cnn.so.9", true, false);
        assert_version(differ ? "unknown" : "9.1.0",
                       differ ? WC_version_source_UNKNOWN : WC_version_source_CODE);
        image.machine = EM_AARCH64; /* these bytes are other instructions there */
        identify("/opt/lib/libcudnn_cnn.so.9", true, false);
        assert_version("unknown", WC_version_source_UNKNOWN);
    }
}

static void a_build_string_tells(void **state) {
    (void)state;
    for (int i = 0; i < 60; i++) {
        int v[3];
        char text[32], line[96];
        draw(8 + i % 2, v, text);
        if (i % 3)
            snprintf(line, sizeof line, "cudnn_version != (%d * %d + %d * 100 + %d)", v[0],
                     v[0] < 9 ? 1000 : 10000, v[1], v[2]);
        else
            snprintf(line, sizeof line, "cudnn_version_%d_%d_%d_%d_c1234_e0", v[0], v[1], v[2],
                     rand() % 1000);
        begin_library(v[0] == 8 ? "libcudnn_x.so.8" : "libcudnn_x.so.9");
        add_text("from_json(*it, cudnn_version)");
        add_text(v[0] == 8 ? "cudnn_version_9_1_0_70_" : "cudnn_version_8_9_2_26_");
        add_text(line);
        end_library();
        identify("/opt/lib/libcudnn_x.so", true, false);
        assert_version(text, WC_version_source_BUILD_STRING);
    }
}

/* ---- what stands around it ---- */

/* A program's path is not known where /proc is not readable. */
static void without_a_path_nothing_is_told(void **state) {
    struct wc_metadata_demand demand;
    unsigned char space[64];
    (void)state;
    identify(NULL, false, true);
    assert_int_equal(id.installation_kind, WC_installation_kind_UNKNOWN);
    assert_false(wc_version_known(id.version));
    assert_int_equal(wc_metadata_demands(&tree.files, NULL, NULL, space, sizeof space, &demand, 1),
                     0);
}

static void a_file_name_tells_where_the_file_does_not(void **state) {
    (void)state;
    int v[3];
    char text[32], path[96];
    draw(9, v, text);
    snprintf(path, sizeof path, "/usr/lib/libcudnn.so.%s", text);
    identify(path, false, true);
    assert_version(text, WC_version_source_FILE_NAME);
    assert_installation(WC_installation_kind_DIRECTORY, "", "", "/usr/lib");
    identify("/usr/lib/libcudnn.so.9", false, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    identify("/usr/lib/libcudnn.so.9.1", false, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    begin_library("libcudnn.so.8");
    add_function("cudnnGetMaxDeviceVersion"); /* came with 8.6.0 */
    end_library();
    identify("/usr/lib/libcudnn.so.8.5.0", true, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    identify("/usr/lib/libcudnn.so.8.6.0", true, true);
    assert_version("8.6.0", WC_version_source_FILE_NAME);
}

static void a_soname_numbered_after_the_toolkit_is_no_release(void **state) {
    (void)state;
    static const unsigned char code[] = {0xb8, 0xbf, 0x0b, 0, 0, 0xc3}; /* 3007 */
    begin_library("libcudnn.so.7.0");
    end_library();
    identify("/usr/lib/libcudnn.so.7.0.64", true, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    begin_library("libcudnn.so.7.0");
    add_code("cudnnGetVersion", code, sizeof code);
    end_library();
    identify("/usr/lib/libcudnn.so.7.0.64", true, true);
    assert_version("3.0.7", WC_version_source_CODE);
    begin_library("libcudnn.so.6.5");
    end_library();
    identify("/usr/lib/libcudnn.so.6.5.48", true, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    begin_library("libcudnn-900fef33.so.7.0.5"); /* as a wheel bundles it */
    end_library();
    identify("/usr/lib/libcudnn-900fef33.so.7.0.5", true, true);
    assert_version("7.0.5", WC_version_source_FILE_NAME);
}

static void add_wheel(const char *name, const char *version, const char *path, long size) {
    char record[256], text[512], other[256] = "";
    for (int i = 0; i < rand() % 3; i++)
        snprintf(other + strlen(other), sizeof other - strlen(other),
                 "nvidia/cudnn/include/cudnn_%d.h,sha256=x,%d\n", i, rand());
    snprintf(record, sizeof record, SITE "/%s-%s.dist-info/RECORD", name, version);
    snprintf(text, sizeof text, "%s%s,sha256=abc,%ld\n%s-%s.dist-info/RECORD,,\n", other,
             path + strlen(SITE) + 1, size, name, version);
    tree_write(&tree, record, text);
}

static void a_wheel_owns_what_its_record_lists(void **state) {
    (void)state;
    tree_write(&tree, WHEEL "libcudnn.so.8", "12345");
    tree_write(&tree, WHEEL "libcudnn_ops_infer.so.8", "123");
    add_wheel("nvidia_cudnn_cu12", "8.9.2.26", WHEEL "libcudnn.so.8", 5);
    identify(WHEEL "libcudnn.so.8", false, true);
    assert_version("8.9.2", WC_version_source_PACKAGE_METADATA);
    assert_installation(WC_installation_kind_WHEEL, "nvidia-cudnn-cu12", "8.9.2.26",
                        SITE "/nvidia/cudnn");
    /* Not listed: nobody's file in that directory. */
    identify(WHEEL "libcudnn_ops_infer.so.8", false, false);
    assert_version("unknown", WC_version_source_UNKNOWN);
    assert_int_equal(id.installation_kind, WC_installation_kind_DIRECTORY);
}

static void a_file_put_over_a_wheels_own_is_not_believed(void **state) {
    (void)state;
    tree_write(&tree, WHEEL "libcudnn.so.8", "123456");
    add_wheel("nvidia_cudnn_cu12", "8.9.2.26", WHEEL "libcudnn.so.8", 5);
    identify(WHEEL "libcudnn.so.8", false, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
    assert_installation(WC_installation_kind_WHEEL, "nvidia-cudnn-cu12", "8.9.2.26",
                        SITE "/nvidia/cudnn");
}

static void of_two_wheels_the_one_with_the_right_size_owns(void **state) {
    (void)state;
    for (long size = 4; size <= 5; size++) {
        tree_put(&tree, WHEEL "libcudnn.so.9", "12345", (size_t)size);
        add_wheel("nvidia_cudnn_cu12", "9.1.0.70", WHEEL "libcudnn.so.9", 4);
        add_wheel("nvidia_cudnn_cu13", "9.12.0.46", WHEEL "libcudnn.so.9", 5);
        identify(WHEEL "libcudnn.so.9", false, true);
        assert_string_equal(id.installation, size == 4 ? "nvidia-cudnn-cu12" : "nvidia-cudnn-cu13");
        assert_version(size == 4 ? "9.1.0" : "9.12.0", WC_version_source_PACKAGE_METADATA);
    }
}

static bool list_the_likelier_last(void *ctx, const char *dir, bool (*each)(void *, const char *),
                                   void *arg) {
    (void)ctx, (void)dir;
    return each(arg, "nvidia_extras-2.0.dist-info") &&
           each(arg, "nvidia_cudnn_cu12-9.1.0.70.dist-info");
}

static void the_likelier_owner_leaves_the_other_in_the_list(void **state) {
    (void)state;
    tree_write(&tree, WHEEL "libcudnn.so.9", "12345");
    add_wheel("nvidia_extras", "2.0", WHEEL "libcudnn.so.9", 5);
    add_wheel("nvidia_cudnn_cu12", "9.1.0.70", WHEEL "libcudnn_graph.so.9", 5);
    tree.files.list = list_the_likelier_last;
    identify(WHEEL "libcudnn.so.9", false, true);
    assert_string_equal(id.installation, "nvidia-extras");
}

static bool list_the_owner_behind_long_names(void *ctx, const char *dir,
                                             bool (*each)(void *, const char *), void *arg) {
    char name[256];
    (void)ctx, (void)dir;
    snprintf(name, sizeof name, "nvidia_%0230d-1.0.dist-info", 0);
    for (int i = 0; i < 23; i++)
        if (!each(arg, name))
            return true;
    return each(arg, "nvidia_cudnn_cu12-9.1.0.70.dist-info");
}

/* Names that fill the memory of the search hide no shorter one. */
static void an_owner_is_found_behind_names_that_find_no_room(void **state) {
    char path[2600] = "";
    (void)state;
    while (strlen(path) < 2300)
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%0200d", 0);
    strcat(path, "/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
    tree.files.list = list_the_owner_behind_long_names;
    identify(path, false, true);
    assert_int_equal(id.installation_kind, WC_installation_kind_WHEEL);
    assert_string_equal(id.installation, "nvidia-cudnn-cu12");
}

/* Directories below nvidia/ are of several wheels, each of which has its own. */
static void without_a_record_the_name_of_the_folder_decides(void **state) {
    (void)state;
    tree_write(&tree, WHEEL "libcudnn.so.9", "12345");
    tree_write(&tree, SITE "/nvidia_cublas_cu12-12.4.5.8.dist-info/INSTALLER", "pip\n");
    identify(WHEEL "libcudnn.so.9", false, true);
    assert_int_equal(id.installation_kind, WC_installation_kind_DIRECTORY);
    tree_write(&tree, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/INSTALLER", "pip\n");
    identify(WHEEL "libcudnn.so.9", false, true);
    assert_installation(WC_installation_kind_WHEEL, "nvidia-cudnn-cu12", "9.1.0.70",
                        SITE "/nvidia/cudnn");
}

static void a_long_record_is_read_to_its_end(void **state) {
    (void)state;
    enum { LINES = 3000, WIDTH = 64 };
    char *record = calloc(LINES + 2, WIDTH);
    size_t n = 0, lines = (size_t)(rand() % LINES), odd = 1 + (size_t)(rand() % 40);
    assert_non_null(record);
    for (size_t i = 0; i < lines; i++)
        n += (size_t)sprintf(record + n, "nvidia/cudnn/lib/libcudnn.so.9%0*zu,sha256=x,7\n",
                             (int)odd % 20, i);
    sprintf(record + n, "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,5");
    tree_write(&tree, WHEEL "libcudnn.so.9", "12345");
    tree_write(&tree, SITE "/nvidia_cudnn_cu12-9.3.0.75.dist-info/RECORD", record);
    free(record);
    identify(WHEEL "libcudnn.so.9", false, true);
    assert_version("9.3.0", WC_version_source_PACKAGE_METADATA);
}

/* Files are read in pieces of half the scratch: a line may begin or end in any of them. */
static void a_line_is_found_wherever_a_piece_ends(void **state) {
    (void)state;
    static const char line[] = "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,5\n";
    char record[SCRATCH];
    tree_write(&tree, WHEEL "libcudnn.so.9", "12345");
    for (size_t lead = SCRATCH / 2 - sizeof line - 2; lead < SCRATCH / 2 + 3; lead++) {
        for (int begins = 0; begins < 2; begins++) {
            memset(record, 'x', lead);
            record[lead - 1] = begins ? '\n' : '/';
            memcpy(record + lead, line, sizeof line - 1);
            tree_put(&tree, SITE "/nvidia_cudnn_cu12-9.3.0.75.dist-info/RECORD", record,
                     lead + sizeof line - 1);
            identify(WHEEL "libcudnn.so.9", false, true);
            assert_int_equal(id.installation_kind,
                             begins ? WC_installation_kind_WHEEL : WC_installation_kind_DIRECTORY);
        }
    }
}

static void the_jit_wheel_is_another_installation(void **state) {
    (void)state;
    const char *path = SITE "/nvidia/cudnn_jit/lib/libcudnn.so.9";
    tree_write(&tree, path, "12345");
    tree_write(&tree, WHEEL "libcudnn.so.9", "1234");
    add_wheel("nvidia_cudnn_jit_cu13", "9.27.0.42", path, 5);
    add_wheel("nvidia_cudnn_cu13", "9.26.0.51", WHEEL "libcudnn.so.9", 4);
    identify(path, false, true);
    assert_version("9.27.0", WC_version_source_PACKAGE_METADATA);
    assert_installation(WC_installation_kind_WHEEL, "nvidia-cudnn-jit-cu13", "9.27.0.42",
                        SITE "/nvidia/cudnn_jit");
    identify(WHEEL "libcudnn.so.9", false, true);
    assert_version("9.26.0", WC_version_source_PACKAGE_METADATA);
}

static void a_copy_in_a_frameworks_wheel_is_bundled(void **state) {
    (void)state;
    const char *copy = SITE "/ctranslate2.libs/libcudnn-74a4c495.so.9.1.0";
    const char *torch = SITE "/torch/lib/libcudnn.so.9", *host = SITE "/torch/lib/libtorch_cuda.so";
    tree_write(&tree, copy, "12345");
    tree_write(&tree, torch, "123");
    tree_write(&tree, host, "123");
    add_wheel("ctranslate2", "4.6.0", copy, 5);
    add_wheel("torch", "2.3.1+cu121", torch, 3);
    identify(copy, false, true);
    assert_installation(WC_installation_kind_BUNDLED, "ctranslate2", "4.6.0",
                        SITE "/ctranslate2.libs");
    assert_version("9.1.0", WC_version_source_FILE_NAME);
    identify(torch, false, true);
    assert_installation(WC_installation_kind_BUNDLED, "torch", "2.3.1+cu121", SITE "/torch");
    assert_version("unknown", WC_version_source_UNKNOWN);
    add_wheel("torch", "2.3.1+cu121", host, 3);
    identify(host, false, false);
    assert_installation(WC_installation_kind_WHEEL, "torch", "2.3.1+cu121", SITE "/torch");
    identify("/opt/libtorch/lib/libcudnn.so.9", false, true);
    assert_installation(WC_installation_kind_BUNDLED, "libtorch", "", "/opt/libtorch");
}

/* Too far below for a search from the file upwards: the directory's name tells. */
static void a_site_is_known_by_its_name_from_any_depth(void **state) {
    static const char *const sites[] = {SITE, "/usr/lib/python3/dist-packages"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char host[512], info[256], record[512], root[256];
        snprintf(host, sizeof(host), "%s/deep/a/b/c/d/e/f/g/h/i/j/k/l/m/libhost.so", sites[i]);
        snprintf(info, sizeof(info), "%s/deep-1.2.dist-info", sites[i]);
        snprintf(record, sizeof(record), "%s/RECORD", info);
        snprintf(root, sizeof(root), "%s/deep", sites[i]);
        tree_write(&tree, host, "123");
        tree_write(&tree, record, "deep/a/b/c/d/e/f/g/h/i/j/k/l/m/libhost.so,,3\n");
        identify(host, false, false);
        assert_installation(WC_installation_kind_WHEEL, "deep", "1.2", root);
    }
}

static void a_copy_in_a_frameworks_own_directory_is_bundled(void **state) {
    static const struct {
        const char *directory, *name, *root;
    } cases[] = {
        {"/srv/torch/lib", "torch", "/srv/torch"},
        {"/opt/libtorch/lib", "libtorch", "/opt/libtorch"},
        {"/srv/ctranslate2.libs", "ctranslate2", "/srv/ctranslate2.libs"},
        {"/home/u/cupy/.data/lib", "cupy", "/home/u/cupy"},
        {"/srv/tensorrt_libs", "tensorrt", "/srv/tensorrt_libs"},
        {"/srv/paddle/libs", "paddle", "/srv/paddle"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/libcudnn.so.9", cases[i].directory);
        identify(path, false, true);
        assert_installation(WC_installation_kind_BUNDLED, cases[i].name, "", cases[i].root);
    }
    identify("/srv/torch/library/libcudnn.so.9", false, true);
    assert_installation(WC_installation_kind_DIRECTORY, "", "", "/srv/torch/library");
}

static void a_target_directory_is_a_site_too(void **state) {
    (void)state;
    const char *path = "/srv/app/deps/nvidia/cudnn/lib/libcudnn.so.9";
    tree_write(&tree, path, "12345");
    tree_write(&tree, "/srv/app/deps/nvidia_cudnn_cu12-9.5.1.17.dist-info/RECORD",
               "nvidia/cudnn/lib/libcudnn.so.9,sha256=x,5\n");
    identify(path, false, true);
    assert_installation(WC_installation_kind_WHEEL, "nvidia-cudnn-cu12", "9.5.1.17",
                        "/srv/app/deps/nvidia/cudnn");
    assert_version("9.5.1", WC_version_source_PACKAGE_METADATA);
}

static void conda_lists_its_files(void **state) {
    (void)state;
    tree_write(&tree, "/conda/envs/x/conda-meta/libfoo-1.0-0.json",
               "{\"files\": [\"lib/libcudnn.so.8\"]}");
    tree_write(&tree, "/conda/envs/x/conda-meta/cudnn-8.9.7.29-hbc23b4c_3.json",
               "{\n \"files\": [\n  \"include/cudnn.h\",\n  \"lib/libcudnn.so.8\"\n ]\n}");
    identify("/conda/envs/x/lib/libcudnn.so.8", false, true);
    assert_installation(WC_installation_kind_CONDA, "cudnn", "8.9.7.29", "/conda/envs/x");
    assert_version("8.9.7", WC_version_source_PACKAGE_METADATA);
    /* Of cuDNN 7 the build alone says for which CUDA it is. */
    tree_write(&tree, "/conda/envs/x/conda-meta/cudnn-7.6.5-cuda10.0_0.json",
               "{\"files\": [\"lib/libcudnn.so.7\"]}");
    identify("/conda/envs/x/lib/libcudnn.so.7", false, true);
    assert_installation(WC_installation_kind_CONDA, "cudnn", "7.6.5=cuda10.0_0", "/conda/envs/x");
    assert_version("7.6.5", WC_version_source_PACKAGE_METADATA);
    identify("/conda/envs/x/lib/libcudnn.so.9", false, true);
    assert_int_equal(id.installation_kind, WC_installation_kind_DIRECTORY);
    identify("/conda/envs/x/bin/lens", false, false); /* so with what uses it */
    assert_int_equal(id.installation_kind, WC_installation_kind_DIRECTORY);
    tree_write(&tree, "/conda/envs/x/conda-meta/lens-1.0-cuda118_0.json",
               "{\"files\": [\"bin/lens\"]}");
    identify("/conda/envs/x/bin/lens", false, false);
    assert_installation(WC_installation_kind_CONDA, "lens", "1.0=cuda118_0", "/conda/envs/x");
}

static void dpkg_lists_its_files(void **state) {
    (void)state;
    const char *path = "/usr/lib/x86_64-linux-gnu/libcudnn.so.8";
    tree_write(&tree, path, "x");
    tree_write(&tree, "/var/lib/dpkg/info/libcudnn8-dev.list",
               "/usr/lib/x86_64-linux-gnu/libcudnn.so.8.h\n");
    tree_write(&tree, "/var/lib/dpkg/info/libcudnn8:amd64.list",
               "/.\n/usr/lib/x86_64-linux-gnu/libcudnn.so.8\n");
    tree_write(&tree, "/var/lib/dpkg/status",
               "Package: libcudnn8-dev\nVersion: 1\n\nPackage: libcudnn8\nStatus: ok\n"
               "Version: 8.9.6.50-1+cuda12.2\n\nPackage: z\nVersion: 3\n");
    identify(path, false, true);
    assert_installation(WC_installation_kind_DEBIAN, "libcudnn8:amd64", "8.9.6.50-1+cuda12.2",
                        "/usr/lib/x86_64-linux-gnu");
    assert_version("8.9.6", WC_version_source_PACKAGE_METADATA);
    tree_write(&tree, "/var/lib/dpkg/info/libcudnn8:amd64.list",
               "/lib/x86_64-linux-gnu/libcudnn.so.8\n");
    identify(path, false, true);
    assert_int_equal(id.installation_kind, WC_installation_kind_DEBIAN);
}

#define MOUNTS                                                                                     \
    "22 1 8:1 / / rw - ext4 /dev/root rw\n"                                                        \
    "30 22 8:1 /lib/libcudnn.so.8 /usr/lib/x86_64-linux-gnu/libcudnn.so.8 ro - ext4 /dev/root "    \
    "rw\n"                                                                                         \
    "31 22 8:1 /host /opt/with\\040blank rw shared:1 - ext4 /dev/root rw\n"                        \
    "35 22 8:1 /host /opt/ends\\040 rw shared:1 - ext4 /dev/root rw\n"                             \
    "36 22 8:1 /host /opt/no\\0-7octal rw shared:1 - ext4 /dev/root rw\n"                          \
    "32 22 0:40 /@home /home rw - btrfs /dev/sdb rw\n"                                             \
    "33 22 0:41 / /data rw - tmpfs none rw\n"                                                      \
    "34 33 8:1 /x /data/in/side rw master:1 - ext4 /dev/root rw"

static void a_mounted_file_is_not_the_images_own(void **state) {
    static const char *const mounted[][2] = {
        {"/usr/lib/x86_64-linux-gnu/libcudnn.so.8", "/usr/lib/x86_64-linux-gnu/libcudnn.so.8"},
        {"/usr/lib/x86_64-linux-gnu/libcudnn.so.9", ""},
        {"/usr/lib/x86_64-linux-gnu/libcudnn.so.8.1/libcudnn.so.9", ""},
        {"/opt/with blank/libcudnn.so.9", "/opt/with blank"},
        {"/opt/with/libcudnn.so.9", ""},
        {"/opt/ends /libcudnn.so.9", "/opt/ends "},
        {"/opt/no\\0-7octal/libcudnn.so.9", "/opt/no\\0-7octal"},
        {"/home/me/libcudnn.so.9", ""},
        {"/data/libcudnn.so.9", ""},
        {"/data/in/side/lib/libcudnn.so.9", "/data/in/side"},
        {"/opt/with blank/libhost.so", ""}, /* none of CUDA's libraries */
    };
    (void)state;
    tree_write(&tree, "/proc/self/mountinfo", MOUNTS);
    tree_write(&tree, "/var/lib/dpkg/status", "Package: libcudnn8\nVersion: 8.9.2.26-1\n\n");
    tree_write(&tree, "/var/lib/dpkg/info/libcudnn8.list",
               "/usr/lib/x86_64-linux-gnu/libcudnn.so.8\n");
    for (size_t i = 0; i < sizeof mounted / sizeof *mounted; i++) {
        identify(mounted[i][0], false, false);
        assert_string_equal(id.mount, mounted[i][1]);
        assert_int_equal(id.installation_kind,
                         i ? WC_installation_kind_DIRECTORY : WC_installation_kind_CONTAINER_MOUNT);
    }
    /* Without the mount it is the package's. */
    tree_write(&tree, "/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/root rw\n");
    identify(mounted[0][0], false, false);
    assert_installation(WC_installation_kind_DEBIAN, "libcudnn8", "8.9.2.26-1",
                        "/usr/lib/x86_64-linux-gnu");
    assert_string_equal(id.mount, "");
}

static void damaged_mount_lists_are_survived(void **state) {
    char text[sizeof MOUNTS];
    (void)state;
    for (size_t n = 0; n < sizeof MOUNTS; n++) {
        memcpy(text, MOUNTS, sizeof text);
        text[n] = "\\ /\n-0"[(size_t)rand() % 6];
        tree_put(&tree, "/proc/self/mountinfo", text, n);
        identify("/data/in/side/lib/libcudnn.so.9", false, false);
        tree_put(&tree, "/proc/self/mountinfo", text, sizeof text - 1);
        identify("/data/in/side/lib/libcudnn.so.9", false, false);
        assert_true(strlen(id.mount) < 20);
    }
}

static void a_system_of_rpm_is_known_by_its_database(void **state) {
    static const char *const where[] = {"/usr/lib64/libcudnn.so.9", "/usr/local/lib/libcudnn.so.9",
                                        "/opt/lib/libcudnn.so.9", "/usr/lib64/libhost.so"};
    (void)state;
    for (int system = 0; system < 3; system++) {
        if (system == 1)
            tree_write(&tree, "/usr/lib/sysimage/rpm/rpmdb.sqlite", "SQLite");
        if (system == 2)
            tree_write(&tree, "/var/lib/dpkg/status", "");
        for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
            identify(where[i], false, false);
            assert_int_equal(id.installation_kind, system == 1 && i == 0
                                                       ? WC_installation_kind_RPM
                                                       : WC_installation_kind_DIRECTORY);
            assert_string_equal(id.installation, ""); /* the database cannot be read */
        }
    }
}

static void what_conda_installed_is_condas(void **state) {
    (void)state;
    tree_write(&tree, SITE "/torch/lib/libtorch_cuda.so", "12345");
    add_wheel("torch", "2.5.1", SITE "/torch/lib/libtorch_cuda.so", 5);
    for (int conda = 0; conda < 2; conda++) {
        tree_write(&tree, SITE "/torch-2.5.1.dist-info/INSTALLER", conda ? "conda" : "pip\n");
        identify(SITE "/torch/lib/libtorch_cuda.so", false, false);
        assert_installation(conda ? WC_installation_kind_CONDA : WC_installation_kind_WHEEL,
                            "torch", "2.5.1", SITE "/torch");
    }
}

static void a_toolkit_is_one_installation(void **state) {
    (void)state;
    const char *root = "/usr/local/cuda-13.0";
    identify("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcudnn.so.9", false, true);
    assert_installation(WC_installation_kind_CUDA_TOOLKIT, "cuda-13.0", "13.0", root);
    tree_write(&tree, "/usr/local/cuda-13.0/version.json",
               "{ \"cuda\" : { \"name\" : \"CUDA SDK\", \"version\" : \"13.0.2\" },\n"
               " \"cuda_cccl\" : { \"version\" : \"13.0.85\" } }");
    identify("/usr/local/cuda-13.0/lib64/libcudnn_graph.so.9", false, false);
    assert_installation(WC_installation_kind_CUDA_TOOLKIT, "cuda-13.0", "13.0.2", root);
    identify("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublas.so.13", false, false);
    assert_installation(WC_installation_kind_CUDA_TOOLKIT, "cuda-13.0", "13.0.2", root);
    assert_version("unknown", WC_version_source_UNKNOWN);
    tree_write(&tree, "/opt/sdk/12.4/version.json",
               "{\n  \"cuda\" : {\n    \"version\" : \"12.4.1\"\n  }\n}");
    identify("/opt/sdk/12.4/lib64/libcudnn.so.9", false, true);
    assert_installation(WC_installation_kind_CUDA_TOOLKIT, "cuda-12.4", "12.4.1", "/opt/sdk/12.4");
    tree_write(&tree, "/usr/local/cuda/bin/nvcc", "");
    identify("/usr/local/cuda/lib64/libcudnn.so.7", false, true);
    assert_installation(WC_installation_kind_CUDA_TOOLKIT, "cuda", "", "/usr/local/cuda");
    identify("/home/u/cuda/lib64/libcudnn.so.7", false, true);
    assert_installation(WC_installation_kind_DIRECTORY, "", "", "/home/u/cuda/lib64");
}

static const char *header_of(const char *path) {
    static char text[WC_VERSION_TEXT];
    begin_library("libcudnn.so");
    end_library();
    identify(path, true, true);
    return wc_version_text(id.header, text);
}

/* Header of one installation, library of another: what is compiled with it gets another number. */
static void a_header_of_another_release_is_told(void **state) {
    static const char *const header = "#define CUDNN_MAJOR 6\n#define CUDNN_MINOR 0\n"
                                      "#define CUDNN_PATCHLEVEL 21\n";
    (void)state;
    assert_null(header_of("/usr/lib64/libcudnn.so.5.0.5"));
    tree_write(&tree, "/usr/include/cudnn.h", header);
    assert_string_equal(header_of("/usr/lib64/libcudnn.so.5.0.5"), "6.0.21");
    assert_string_equal(header_of("/usr/lib/x86_64-linux-gnu/libcudnn.so.5.0.5"), "6.0.21");
    assert_string_equal(header_of("/usr/lib64/libcudnn.so.5"), "6.0.21"); /* of another major */
    assert_string_equal(header_of("/usr/lib64/libcudnn.so.6.0.20"), "6.0.21");
    assert_null(header_of("/usr/lib64/libcudnn.so.6.0.21"));
    assert_null(header_of("/usr/lib64/libcudnn.so.6")); /* it is by the header that it is known */
    assert_null(header_of("/opt/cudnn/lib/libcudnn.so.5.0.5"));
    tree_write(&tree, "/usr/include/cudnn.h", "#define CUDNN_MAJOR 6\n");
    assert_null(header_of("/usr/lib64/libcudnn.so.5.0.5"));
}

static void a_header_beside_tells(void **state) {
    (void)state;
    static const char text[] = "#ifndef X\n#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n"
                               "#define CUDNN_PATCHLEVEL 4\n#define CUDNN_VERSION (CUDNN_MAJOR)\n";
    tree_write(&tree, "/opt/x/include/cudnn_version.h", text);
    identify("/opt/x/lib/libcudnn.so.8", false, true);
    assert_version("8.9.4", WC_version_source_HEADER);
    identify("/opt/x/lib/x86_64/libcudnn.so.8", false, true);
    assert_version("8.9.4", WC_version_source_HEADER);
    identify("/opt/x/lib/libcudnn.so.9", false, true); /* left by another one */
    assert_version("unknown", WC_version_source_UNKNOWN);
    tree_write(&tree, "/opt/y/include/cudnn.h",
               "#define CUDNN_MAJOR      7\n#define CUDNN_MINOR"
               "      6\n#define CUDNN_PATCHLEVEL 5\n");
    identify("/opt/y/lib64/libcudnn.so.7", false, true);
    assert_version("7.6.5", WC_version_source_HEADER);
    tree_write(&tree, "/opt/z/include/cudnn.h", "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n");
    identify("/opt/z/lib64/libcudnn.so.7", false, true);
    assert_version("unknown", WC_version_source_UNKNOWN);
}

/* The nearer to the bytes, the stronger: taken away one after the other, the next one answers. */
static void sources_have_their_order(void **state) {
    (void)state;
    const char *path = WHEEL "libcudnn_cnn.so.9.4.4";
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3};
    uint32_t n = number(9, 2, 2);
    memcpy(code + 1, &n, 4);
    tree_write(&tree, path, "12345");
    add_wheel("nvidia_cudnn_cu12", "9.5.5.55", path, 5);
    tree_write(&tree, SITE "/nvidia/cudnn/include/cudnn_version.h",
               "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 6\n");
    for (int left = 3; left >= 0; left--) {
        static const char *const version[] = {"9.4.4", "9.3.3", "9.2.2", "9.1.1"};
        begin_library("libcudnn_cnn.so.9");
        add_function("cudnnOther");
        if (left > 2)
            add_data("cudnn_cnn_version", OBJECT, packed(9, 1, 1), 4);
        if (left > 1)
            add_code("cudnnGetVersion", code, sizeof code);
        if (left > 0)
            add_text("cudnn_version_9_3_3_33_c1_e0");
        end_library();
        identify(path, true, false);
        assert_version(version[left], left == 3   ? WC_version_source_DATA_SYMBOL
                                      : left == 2 ? WC_version_source_CODE
                                      : left == 1 ? WC_version_source_BUILD_STRING
                                                  : WC_version_source_FILE_NAME);
    }
    tree_write(&tree, WHEEL "libcudnn_cnn.so.9", "12345");
    add_wheel("nvidia_cudnn_cu12", "9.5.5.55", WHEEL "libcudnn_cnn.so.9", 5);
    identify(WHEEL "libcudnn_cnn.so.9", true, false);
    assert_version("9.5.5", WC_version_source_PACKAGE_METADATA);
    tree_write(&tree, WHEEL "libcudnn_cnn.so.9", "1234567");
    identify(WHEEL "libcudnn_cnn.so.9", true, false);
    assert_version("9.6.6", WC_version_source_HEADER);
}

static void exports_bound_a_facade(void **state) {
    (void)state;
    begin_library("libcudnn.so.8");
    add_function("cudnnCreate");
    add_function("cudnnGetMaxDeviceVersion");
    end_library();
    identify("/opt/lib/libcudnn.so.8", true, true);
    struct wc_version first = wc_function_first(wc_function_find("cudnnGetMaxDeviceVersion"));
    assert_int_equal(wc_version_compare(id.floor, first), 0);
    assert_true(wc_version_known(id.ceiling));
    identify("/opt/lib/libcudnn_ops.so.8", true, false);
    assert_false(wc_version_known(id.floor) || wc_version_known(id.ceiling));
    /* With so few functions it would be of 8, and its name says 9. */
    begin_library("libcudnn.so.9");
    add_function("cudnnCreate");
    add_function("cudnnGetMaxDeviceVersion");
    end_library();
    identify("/opt/lib/libcudnn.so.9", true, true);
    assert_false(wc_version_known(id.floor) || wc_version_known(id.ceiling));
}

static void other_files_have_no_cudnn_version(void **state) {
    (void)state;
    begin_library("libmade.so.1");
    add_data("cudnn_graph_version", OBJECT, packed(9, 1, 0), 4);
    end_library();
    identify("/opt/lib/libmade.so.1.2.3", true, false);
    assert_version("unknown", WC_version_source_UNKNOWN);
    assert_installation(WC_installation_kind_DIRECTORY, "", "", "/opt/lib");
}

/* ---- whatever the file system does ---- */

static void add_everything(void) {
    tree_write(&tree, WHEEL "libcudnn.so.9", "12345");
    add_wheel("nvidia_cudnn_cu12", "9.5.1.17", WHEEL "libcudnn.so.9", 5);
    add_wheel("nvidia_cudnn_cu13", "9.12.0.46", WHEEL "libcudnn.so.9", 6);
    tree_write(&tree, SITE "/nvidia/cudnn/include/cudnn_version.h", "#define CUDNN_MAJOR 9\n");
    tree_write(&tree, "/venv/conda-meta/cudnn-9-0.json", "\"x\"");
}

static void a_file_system_that_fails_at_any_call_is_survived(void **state) {
    (void)state;
    add_everything();
    identify(WHEEL "libcudnn.so.9", false, true);
    assert_version("9.5.1", WC_version_source_PACKAGE_METADATA);
    long calls = tree.calls;
    assert_true(calls > 3);
    for (long at = 1; at <= calls; at++) {
        tree.calls = 0;
        tree.fails_at = at;
        identify(WHEEL "libcudnn.so.9", false, true);
        assert_true(id.version_source == WC_version_source_PACKAGE_METADATA ||
                    id.version_source == WC_version_source_UNKNOWN);
    }
}

static void long_paths_and_many_packages_fit(void **state) {
    (void)state;
    char path[PATH_MAX / 2] = "", name[128];
    while (strlen(path) < 900)
        strcat(path, "/directory-with-a-name");
    strcat(path, "/libcudnn.so.9.1.0");
    identify(path, false, true);
    assert_version("9.1.0", WC_version_source_FILE_NAME);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "nvidia_cudnn_and_%d_more_words_in_its_name", i);
        add_wheel(name, "1.0", WHEEL "libother.so.9", 5);
    }
    add_everything();
    identify(WHEEL "libcudnn.so.9", false, true); /* found or not: within its memory */
    assert_true(id.installation_kind == WC_installation_kind_WHEEL ||
                id.installation_kind == WC_installation_kind_DIRECTORY);
}

static void a_ceiling_holds_for_all_its_patches(void **state) {
    const struct wc_release_range q = {{9, 1, 0, -1}, {9, 4, -1, -1}},
                                  none = {WC_VERSION_NONE, WC_VERSION_NONE};
    (void)state;
    assert_false(wc_version_in_bounds(&q, (struct wc_version){9, 0, 9, -1}));
    assert_true(wc_version_in_bounds(&q, (struct wc_version){9, 1, 0, -1}));
    assert_true(wc_version_in_bounds(&q, (struct wc_version){9, 3, 9, -1}));
    assert_true(wc_version_in_bounds(&q, (struct wc_version){9, 4, 3, -1}));
    assert_false(wc_version_in_bounds(&q, (struct wc_version){9, 5, 0, -1}));
    assert_true(wc_version_in_bounds(&none, (struct wc_version){9, 5, 0, -1}));
}

/* A package record need not name it. */
static void no_package_is_of_cudnn_without_a_name(void **state) {
    (void)state;
    assert_true(wc_is_cudnn_package(WC_installation_kind_WHEEL, "nvidia-cudnn-cu12"));
    assert_false(wc_is_cudnn_package(WC_installation_kind_CONDA, "nvidia-cudnn-cu12"));
    assert_false(wc_is_cudnn_package(WC_installation_kind_WHEEL, NULL));
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        WITH_TREE(a_data_symbol_tells),
        WITH_TREE(other_symbols_do_not),
        WITH_TREE(a_facade_tells_by_the_names_it_makes),
        WITH_TREE(code_is_not_read_behind_its_end),
        WITH_TREE(calls_that_disagree_tell_nothing),
        WITH_TREE(an_aarch64_facade_does_too),
        WITH_TREE(a_number_in_the_code_tells),
        WITH_TREE(a_number_in_another_instruction_tells_nothing),
        WITH_TREE(numbers_that_differ_tell_nothing),
        WITH_TREE(a_build_string_tells),
        WITH_TREE(without_a_path_nothing_is_told),
        WITH_TREE(a_file_name_tells_where_the_file_does_not),
        WITH_TREE(a_soname_numbered_after_the_toolkit_is_no_release),
        WITH_TREE(a_wheel_owns_what_its_record_lists),
        WITH_TREE(a_file_put_over_a_wheels_own_is_not_believed),
        WITH_TREE(of_two_wheels_the_one_with_the_right_size_owns),
        WITH_TREE(the_likelier_owner_leaves_the_other_in_the_list),
        WITH_TREE(an_owner_is_found_behind_names_that_find_no_room),
        WITH_TREE(without_a_record_the_name_of_the_folder_decides),
        WITH_TREE(a_long_record_is_read_to_its_end),
        WITH_TREE(a_line_is_found_wherever_a_piece_ends),
        WITH_TREE(the_jit_wheel_is_another_installation),
        WITH_TREE(a_copy_in_a_frameworks_wheel_is_bundled),
        WITH_TREE(a_site_is_known_by_its_name_from_any_depth),
        WITH_TREE(a_copy_in_a_frameworks_own_directory_is_bundled),
        WITH_TREE(a_target_directory_is_a_site_too),
        WITH_TREE(conda_lists_its_files),
        WITH_TREE(dpkg_lists_its_files),
        WITH_TREE(a_mounted_file_is_not_the_images_own),
        WITH_TREE(damaged_mount_lists_are_survived),
        WITH_TREE(a_system_of_rpm_is_known_by_its_database),
        WITH_TREE(what_conda_installed_is_condas),
        WITH_TREE(a_toolkit_is_one_installation),
        WITH_TREE(a_header_beside_tells),
        WITH_TREE(a_header_of_another_release_is_told),
        WITH_TREE(sources_have_their_order),
        WITH_TREE(exports_bound_a_facade),
        WITH_TREE(other_files_have_no_cudnn_version),
        WITH_TREE(a_file_system_that_fails_at_any_call_is_survived),
        WITH_TREE(long_paths_and_many_packages_fit),
        cmocka_unit_test(no_package_is_of_cudnn_without_a_name),
        cmocka_unit_test(a_ceiling_holds_for_all_its_patches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
