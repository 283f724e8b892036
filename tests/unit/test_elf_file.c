/* SPDX-License-Identifier: Apache-2.0 */
/* What is on disk: the tree below another root, and what a library there says of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/records/emit.h"
#include "support_elf.h"
#include "support_tree.h"
#include "tools/observe/elf/elf_file.h"
#include "tools/observe/elf/elf_prescan.h"
#include "tools/observe/log/source.h"

struct setting {
    struct tree tree;
    struct disk disk;
};

static int begin(void **state) {
    struct setting *s = must_allocate(sizeof(*s));

    tree_begin(&s->tree);
    disk_begin(&s->disk, s->tree.root);
    *state = s;
    return 0;
}

static int end(void **state) {
    struct setting *s = *state;

    tree_end(&s->tree);
    disk_end(&s->disk);
    free(s);
    return 0;
}

static void link_to(const struct setting *s, const char *target, const char *path) {
    char real[PATH_MAX];

    tree_path(&s->tree, path, real);
    assert_int_equal(symlink(target, real), 0);
}

static void assert_leads(const struct setting *s, const char *path, const char *expected) {
    char found[PATH_MAX];

    assert_true(s->disk.files.real_path(s->disk.files.ctx, path, found, sizeof(found)));
    assert_string_equal(found, expected);
}

static void assert_leads_nowhere(const struct setting *s, const char *path, int error) {
    char found[PATH_MAX];

    assert_false(s->disk.files.real_path(s->disk.files.ctx, path, found, sizeof(found)));
    assert_int_equal(errno, error);
}

static void links_stay_below_the_root(void **state) {
    struct setting *s = *state;

    tree_write(&s->tree, "/usr/lib/libx.so.1", "x");
    tree_write(&s->tree, "/usr/lib/deep/y", "y");
    link_to(s, "/usr/lib", "/lib");
    link_to(s, "libx.so.1", "/usr/lib/libx.so");
    link_to(s, "../../../../../../usr/lib/libx.so", "/usr/lib/up");
    link_to(s, "../deep/../libx.so", "/usr/lib/deep/back");
    assert_leads(s, "/lib/libx.so", "/usr/lib/libx.so.1");
    assert_leads(s, "/lib/up", "/usr/lib/libx.so.1");
    assert_leads(s, "/../..//usr/./lib/deep/back", "/usr/lib/libx.so.1");
    assert_leads(s, "/", "/");
    assert_leads(s, "/..", "/");
    assert_leads(s, "/lib/", "/usr/lib");
}

static void what_leads_nowhere_is_told(void **state) {
    struct setting *s = *state;

    tree_write(&s->tree, "/file", "x");
    link_to(s, "b", "/a");
    link_to(s, "a", "/b");
    link_to(s, "/etc/passwd", "/passwd"); /* it is there outside of the root alone */
    assert_leads_nowhere(s, "/a", ELOOP);
    assert_leads_nowhere(s, "/passwd", ENOENT);
    assert_leads_nowhere(s, "/file/below", ENOTDIR);
}

static void only_regular_files_are_opened(void **state) {
    struct setting *s = *state;
    char real[PATH_MAX], byte;
    struct stat facts;
    size_t n;

    tree_write(&s->tree, "/d/file", "x");
    tree_path(&s->tree, "/fifo", real);
    assert_int_equal(mkfifo(real, 0600), 0);
    assert_int_equal(disk_open(&s->disk, "/d", &facts), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(disk_open(&s->disk, "/fifo", &facts), -1); /* it does not wait for a writer */
    assert_int_equal(errno, EINVAL);
    assert_false(s->disk.files.read(s->disk.files.ctx, "/fifo", 0, &byte, 1, &n));
    assert_true(s->disk.files.read(s->disk.files.ctx, "/d/file", 0, &byte, 1, &n));
    assert_int_equal(n, 1);
    assert_true(s->disk.files.read(s->disk.files.ctx, "/d/file", 9, &byte, 1, &n));
    assert_int_equal(n, 0);
}

/* ---- libraries ---- */

static void put_library(struct setting *s, const char *path, const char *soname, const char *needed,
                        const char *imported) {
    struct elf_maker *m = must_allocate(sizeof(*m));

    elf_begin(m);
    if (soname)
        elf_dynamic(m, DT_SONAME, elf_string(m, soname));
    if (needed)
        elf_dynamic(m, DT_NEEDED, elf_string(m, needed));
    elf_dynamic(m, DT_RUNPATH, elf_string(m, "$ORIGIN/../lib"));
    if (imported)
        elf_symbol(m, imported, STT_FUNC | STB_GLOBAL << 4, 0, 0, 0, 1);
    elf_hash(m);
    elf_symbol_table(m);
    elf_end(m, 0, 0);
    tree_put(&s->tree, path, m->bytes, m->n);
    free(m);
}

static struct wc_object_record object;
static char version[WC_VERSION_TEXT], needed[64], framework[32];

static void keep(void *ctx, struct wc_record *r) {
    (void)ctx;
    object = r->u.object;
    snprintf(version, sizeof(version), "%s", object.version ? object.version : "");
    snprintf(needed, sizeof(needed), "%s", object.needed.n > 0 ? object.needed.p[0] : "");
    snprintf(framework, sizeof(framework), "%s", object.framework ? object.framework : "");
}

/* As it is logged, but for texts that live no longer. */
static void log_object(struct elf_file *l) {
    static struct wc_library library; /* its name is the record's */

    library = l->library;
    elf_file_identify(l, &library);
    wc_emit_object(&(struct wc_sink){keep, NULL}, &library, NULL);
}

static void a_host_is_what_imports_cudnn(void **state) {
    struct setting *s = *state;
    struct source *source = source_new(SOURCE_SCAN, s->tree.root);
    const struct wc_sink to = source_sink(source);
    struct elf_reader reader;
    struct wc_library host;
    struct elf_file *l;

    put_library(s, "/opt/app/lib/libhost.so", "libhost.so.1", "libcudnn.so.9",
                "cudnnGetMaxDeviceVersion");
    link_to(s, "libhost.so", "/opt/app/lib/link.so");
    l = elf_file_open(&s->disk, "/opt/app/lib/link.so", false);
    assert_non_null(l);
    assert_int_equal(l->error, WC_ELF_OK);
    log_object(l);
    assert_int_equal(object.role, WC_role_HOST);
    assert_true(object.is_host);
    assert_string_equal(object.path, "/opt/app/lib/link.so");
    assert_string_equal(object.real_path, "/opt/app/lib/libhost.so");
    assert_string_equal(object.soname, "libhost.so.1");
    assert_string_equal(object.runpath, "$ORIGIN/../lib");
    assert_int_equal(object.needed.n, 1);
    assert_string_equal(needed, "libcudnn.so.9");
    assert_null(object.version);
    host = l->library;
    elf_file_identify(l, &host);
    host.number = 7;
    elf_reader_begin(&reader, &s->disk);
    wc_emit_demands(&to, &host, &reader.reader);
    assert_int_equal(source->stack.demands.n, 2);
    assert_int_equal(source->stack.demands.p[0].r.host, 7);
    assert_int_equal(source->stack.demands.p[0].r.demand_kind, WC_demand_kind_NEEDED);
    assert_string_equal(source->stack.demands.p[0].r.spec, "==9.*");
    const struct wc_demand_record *symbols = &source->stack.demands.p[1].r;
    assert_int_equal(symbols->demand_kind, WC_demand_kind_SYMBOLS);
    assert_string_equal(symbols->spec, ">=8.6.0");
    assert_int_equal(symbols->newest_functions.n, 1);
    assert_string_equal(symbols->newest_functions.p[0], "cudnnGetMaxDeviceVersion");
    elf_file_close(l);
    source_free(source);
}

static void a_framework_is_named_in_the_record(void **state) {
    struct setting *s = *state;
    static const char *const names[][2] = {{"libtorch_cpu.so", "torch"}, {"libhost.so", ""}};

    for (size_t i = 0; i < 2; i++) {
        char path[64];
        struct elf_file *l;
        snprintf(path, sizeof(path), "/opt/app/lib/%s", names[i][0]);
        put_library(s, path, names[i][0], "libcudnn.so.9", "cudnnCreate");
        l = elf_file_open(&s->disk, path, false);
        assert_non_null(l);
        log_object(l);
        assert_string_equal(framework, names[i][1]);
        elf_file_close(l);
    }
}

#define SITE "/v/lib/python3.12/site-packages"
#define INFO SITE "/onnxruntime_gpu-1.16.3.dist-info"

/* What that host demands. */
static struct source *demands_of(struct setting *s, const char *path) {
    struct source *source = source_new(SOURCE_SCAN, s->tree.root);
    const struct wc_sink to = source_sink(source);
    struct elf_file *l = elf_file_open(&s->disk, path, false);
    struct elf_reader reader;
    struct wc_library host;

    assert_non_null(l);
    host = l->library;
    elf_file_identify(l, &host);
    elf_reader_begin(&reader, &s->disk);
    wc_emit_demands(&to, &host, &reader.reader);
    elf_file_close(l);
    return source;
}

/* The table says what the makers' file was built with: another one lies here. */
static void a_table_does_not_speak_of_another_build(void **state) {
    static const char host_path[] = SITE "/onnxruntime/capi/libonnxruntime_providers_cuda.so";
    static const char *const names[] = {"libcudnn.so.8", "libcudnn.so.9"};
    struct setting *s = *state;

    tree_write(&s->tree, INFO "/METADATA",
               "Metadata-Version: 2.1\nName: onnxruntime-gpu\nVersion: 1.16.3\n");
    tree_write(&s->tree, INFO "/INSTALLER", "pip\n");
    tree_write(&s->tree, INFO "/RECORD",
               "onnxruntime/capi/libonnxruntime_providers_cuda.so,sha256=x,3\n");
    for (size_t i = 0; i < 2; i++) {
        struct source *source;

        put_library(s, host_path, NULL, names[i], NULL);
        source = demands_of(s, host_path);
        assert_int_equal(source->stack.demands.n, i == 0 ? 2 : 1);
        assert_int_equal(source->stack.demands.p[0].r.demand_kind, WC_demand_kind_NEEDED);
        if (i == 0) {
            assert_int_equal(source->stack.demands.p[1].r.demand_kind, WC_demand_kind_BUILT);
            assert_string_equal(source->stack.demands.p[1].r.built, "8.2.4");
        }
        source_free(source);
    }
}

/* The rule follows from the release: 1.5 compares otherwise than 1.12. */
static void the_release_of_a_framework_has_its_rule(void **state) {
    static const char file[] = "tensorflow/python/_pywrap_tensorflow_internal.so";
    static const char *const rows[][2] = {{"1.5.0", "tensorflow-compatibility-number"},
                                          {"1.12.0", "tensorflow"}};
    struct setting *s = *state;

    for (size_t i = 0; i < 2; i++) {
        struct source *source;
        char host_path[128], path[128], text[256];

        snprintf(host_path, sizeof(host_path), "/v%zu/site-packages/%s", i, file);
        snprintf(path, sizeof(path), "/v%zu/site-packages/tensorflow_gpu-%s.dist-info/RECORD", i,
                 rows[i][0]);
        snprintf(text, sizeof(text), "%s,sha256=x,3\n", file);
        tree_write(&s->tree, path, text);
        snprintf(path, sizeof(path), "/v%zu/site-packages/tensorflow_gpu-%s.dist-info/INSTALLER", i,
                 rows[i][0]);
        tree_write(&s->tree, path, "pip\n");
        put_library(s, host_path, NULL, "libcudnn.so.7", NULL);
        source = demands_of(s, host_path);
        assert_int_equal(source->stack.demands.n, 2);
        assert_string_equal(source->stack.demands.p[1].r.framework_version, rows[i][0]);
        assert_string_equal(source->stack.demands.p[1].r.compatibility_rule, rows[i][1]);
        source_free(source);
    }
}

static void a_copy_tells_its_version_and_installation(void **state) {
    struct setting *s = *state;
    struct elf_file *l;

    put_library(s, "/opt/cuda-12.4/lib64/libcudnn.so.9.3.1", "libcudnn.so.9", NULL, NULL);
    link_to(s, "libcudnn.so.9.3.1", "/opt/cuda-12.4/lib64/libcudnn.so.9");
    l = elf_file_open(&s->disk, "/opt/cuda-12.4/lib64/libcudnn.so.9", false);
    assert_non_null(l);
    log_object(l);
    assert_int_equal(object.role, WC_role_FACADE);
    assert_false(object.is_host);
    assert_string_equal(version, "9.3.1");
    assert_int_equal(object.version_source, WC_version_source_FILE_NAME);
    assert_string_equal(object.installation, "cuda-12.4");
    elf_file_close(l);
}

static void what_is_no_library_is_told_by_its_name_alone(void **state) {
    struct setting *s = *state;
    char real[PATH_MAX];
    struct elf_file *l;

    tree_write(&s->tree, "/libcudnn_ops.so.9", "version https://git-lfs");
    l = elf_file_open(&s->disk, "/libcudnn_ops.so.9", false);
    assert_non_null(l);
    assert_int_equal(l->error, WC_ELF_NOT_ELF);
    log_object(l);
    assert_int_equal(object.role, WC_role_PART);
    assert_string_equal(object.part, "ops");
    assert_null(object.soname);
    elf_file_close(l);

    tree_write(&s->tree, "/libcudnn.so.9", "");
    l = elf_file_open(&s->disk, "/libcudnn.so.9", false);
    assert_int_equal(l->error, WC_ELF_EMPTY);
    elf_file_close(l);
    tree_path(&s->tree, "/libcudnn.so.9", real);
    assert_int_equal(truncate(real, (off_t)1 << 42), 0); /* holes alone: nothing of it is read */
    l = elf_file_open(&s->disk, "/libcudnn.so.9", false);
    assert_int_equal(l->error, WC_ELF_NOT_ELF);
    log_object(l);
    assert_int_equal(object.role, WC_role_FACADE);
    elf_file_close(l);
    assert_null(elf_file_open(&s->disk, "/nothing", false));
}

/* Its segment is longer than what is left of it. */
static void a_file_that_is_cut_meanwhile_is_damaged(void **state) {
    struct setting *s = *state;
    char real[PATH_MAX];
    struct elf_file *l;

    put_library(s, "/libcudnn.so.9", "libcudnn.so.9", NULL, NULL);
    l = elf_file_open(&s->disk, "/libcudnn.so.9", false);
    assert_int_equal(l->error, WC_ELF_OK);
    tree_path(&s->tree, "/libcudnn.so.9", real);
    assert_int_equal(truncate(real, 0), 0);
    log_object(l); /* which touches what was never read before */
    assert_int_equal(object.role, WC_role_FACADE);
    elf_file_close(l);
    l = elf_file_open(&s->disk, "/libcudnn.so.9", false);
    assert_int_equal(l->error, WC_ELF_EMPTY);
    elf_file_close(l);
}

/* ---- glances ---- */

static enum elf_prescan_answer glance(const struct setting *s, struct elf_prescan *g,
                                      const char *path) {
    struct elf_file *l = elf_file_open(&s->disk, path, true);
    enum elf_prescan_answer answer;

    assert_non_null(l);
    answer = elf_prescan_at(g, l, false);
    elf_file_close(l);
    return answer;
}

static void a_glance_finds_what_may_matter(void **state) {
    struct setting *s = *state;
    struct elf_prescan g;

    put_library(s, "/needs.so", NULL, "libcudnn.so.9", NULL);
    put_library(s, "/imports.so", NULL, "libc.so.6", "cudnnCreate");
    put_library(s, "/mangled.so", NULL, "libc.so.6", "_ZN5cudnn4callE");
    put_library(s, "/opens.so", "x", "libc.so.6", "dlopen");
    assert_int_equal(glance(s, &g, "/needs.so"), ELF_PRESCAN_NAMES);
    assert_int_equal(glance(s, &g, "/imports.so"), ELF_PRESCAN_NAMES);
    assert_int_equal(glance(s, &g, "/mangled.so"), ELF_PRESCAN_NOTHING);
    assert_int_equal(glance(s, &g, "/opens.so"), ELF_PRESCAN_NOTHING); /* but nothing of cuDNN */
    tree_write(&s->tree, "/text.so", "INPUT(libx.so.1)");
    assert_int_equal(glance(s, &g, "/text.so"), ELF_PRESCAN_NOTHING);
}

/* Cut anywhere, it is nothing or damaged, or the cut is behind all that counts. */
static void a_cut_file_is_no_danger(void **state) {
    struct setting *s = *state;
    char real[PATH_MAX];
    struct wc_file_stat facts;
    struct elf_prescan g;
    size_t damaged = 0;

    put_library(s, "/needs.so", NULL, "libcudnn.so.9", "dlopen");
    assert_true(s->disk.files.facts(&s->disk, "/needs.so", &facts));
    tree_path(&s->tree, "/needs.so", real);
    for (off_t n = (off_t)facts.size; n-- > 0;) {
        assert_int_equal(truncate(real, n), 0);
        damaged += glance(s, &g, "/needs.so") == ELF_PRESCAN_DAMAGED;
    }
    assert_true(damaged > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_stay_below_the_root, begin, end),
        cmocka_unit_test_setup_teardown(what_leads_nowhere_is_told, begin, end),
        cmocka_unit_test_setup_teardown(only_regular_files_are_opened, begin, end),
        cmocka_unit_test_setup_teardown(a_host_is_what_imports_cudnn, begin, end),
        cmocka_unit_test_setup_teardown(a_framework_is_named_in_the_record, begin, end),
        cmocka_unit_test_setup_teardown(a_table_does_not_speak_of_another_build, begin, end),
        cmocka_unit_test_setup_teardown(the_release_of_a_framework_has_its_rule, begin, end),
        cmocka_unit_test_setup_teardown(a_copy_tells_its_version_and_installation, begin, end),
        cmocka_unit_test_setup_teardown(what_is_no_library_is_told_by_its_name_alone, begin, end),
        cmocka_unit_test_setup_teardown(a_file_that_is_cut_meanwhile_is_damaged, begin, end),
        cmocka_unit_test_setup_teardown(a_glance_finds_what_may_matter, begin, end),
        cmocka_unit_test_setup_teardown(a_cut_file_is_no_danger, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
