/* SPDX-License-Identifier: Apache-2.0 */
/* core/packages/packages.c: made environments, each with its lists of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/packages/identify.h"
#include "core/records/library.h"
#include "support_own_tree.h"
#include "support_seed.h"

enum { SCRATCH = 64 << 10, TOLD = 8 };

#define SITE "/venv/lib/python3.12/site-packages"
#define LIB "nvidia/cudnn/lib/"

/* What was told, as text that outlives the call. */
static struct told {
    enum wc_installation_kind kind;
    enum wc_package_state state;
    char name[64], version[64], path[256], environment[256], list[256];
    char missing[1024], changed[1024], foreign[1024], shared_with[256];
    int64_t files, absent;
} told[TOLD];
static size_t count;

static void join(char *to, size_t cap, const struct wc_strings *from) {
    to[0] = 0;
    for (size_t i = 0; i < from->n; i++)
        snprintf(to + strlen(to), cap - strlen(to), "%s%s", i ? " " : "", from->p[i]);
}

static void copy(char *to, size_t cap, const char *from) {
    snprintf(to, cap, "%s", from ? from : "");
}

static void keep(void *ctx, struct wc_record *record) {
    const struct wc_package_record *p = &record->u.package;
    assert_ptr_equal(ctx, &tree);
    assert_true(count < TOLD);
    struct told *t = &told[count++];
    t->kind = p->installation_kind;
    t->state = p->package_state;
    t->files = p->file_count;
    t->absent = p->missing_count;
    copy(t->name, sizeof t->name, p->package);
    copy(t->version, sizeof t->version, p->package_version);
    copy(t->path, sizeof t->path, p->installation_path);
    copy(t->environment, sizeof t->environment, p->prefix);
    copy(t->list, sizeof t->list, p->list);
    join(t->missing, sizeof t->missing, &p->missing);
    join(t->changed, sizeof t->changed, &p->changed);
    join(t->foreign, sizeof t->foreign, &p->foreign);
    join(t->shared_with, sizeof t->shared_with, &p->shared_with);
}

static bool dpkg_told;

static void look_with(const char *path, size_t size) {
    unsigned char *scratch = malloc(size); /* so that a sanitizer sees its ends */
    assert_non_null(scratch);
    count = 0;
    wc_packages_near(&tree.files, path, false, &dpkg_told, scratch, size,
                     &(struct wc_sink){keep, &tree});
    free(scratch);
}

static void elf_file(const char *path) {
    dpkg_told = false;
    look_with(path, SCRATCH);
}

static const struct told *package(const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(told[i].name, name) == 0)
            return &told[i];
    fail_msg("%s was not told", name);
    return NULL;
}

/* ---- wheels ---- */

static void add_record(const char *name, const char *version, const char *lines) {
    char path[256], text[4096];
    snprintf(path, sizeof path, SITE "/%s-%s.dist-info/RECORD", name, version);
    snprintf(text, sizeof text,
             "nvidia/__init__.py,sha256=x,0\nnvidia/cudnn/include/cudnn.h,sha256=x,99\n%s"
             "%s-%s.dist-info/RECORD,,\n",
             lines, name, version);
    tree_write(&tree, path, text);
}

static void add_file(const char *relative, size_t size) {
    char path[256], bytes[64] = "";
    snprintf(path, sizeof path, SITE "/%s", relative);
    assert_true(size <= sizeof bytes);
    tree_put(&tree, path, bytes, size);
}

static const char both[] = LIB "libcudnn.so.9,sha256=a,5\n" LIB "libcudnn_graph.so.9,sha256=b,7\n";

static void a_wheel_as_it_was_installed_is_complete(void **state) {
    (void)state;
    add_record("nvidia_cudnn_cu12", "9.1.0.70", both);
    add_file(LIB "libcudnn.so.9", 5);
    add_file(LIB "libcudnn_graph.so.9", 7);
    add_file(LIB "__init__.py", 1);
    elf_file(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(count, 1);
    assert_int_equal(told[0].kind, WC_installation_kind_WHEEL);
    assert_int_equal(told[0].state, WC_package_state_COMPLETE);
    assert_string_equal(told[0].name, "nvidia-cudnn-cu12");
    assert_string_equal(told[0].version, "9.1.0.70");
    assert_string_equal(told[0].path, SITE "/nvidia/cudnn");
    assert_string_equal(told[0].environment, SITE);
    assert_string_equal(told[0].list, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD");
    assert_int_equal(told[0].files, 2);
    assert_int_equal(told[0].absent, 0);
    assert_string_equal(told[0].missing, "");
    assert_string_equal(told[0].changed, "");
    assert_string_equal(told[0].foreign, "");
    assert_string_equal(told[0].shared_with, "");
}

static void files_that_are_gone_are_missing(void **state) {
    (void)state;
    add_record("nvidia_cudnn_cu12", "9.1.0.70", both);
    elf_file(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(told[0].state, WC_package_state_INCOMPLETE);
    assert_int_equal(told[0].absent, 2);
    assert_string_equal(told[0].missing, LIB "libcudnn.so.9 " LIB "libcudnn_graph.so.9");
    add_file(LIB "libcudnn.so.9", 5);
    elf_file(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(told[0].state, WC_package_state_INCOMPLETE);
    assert_int_equal(told[0].absent, 1);
    assert_string_equal(told[0].missing, LIB "libcudnn_graph.so.9");
}

/* What cannot be looked at is not missing. */
static void files_behind_a_closed_directory_are_not_missing(void **state) {
    (void)state;
    add_record("nvidia_cudnn_cu12", "9.1.0.70", both);
    add_file(LIB "libcudnn.so.9", 5);
    tree.closed = SITE "/nvidia/cudnn/lib";
    elf_file(SITE "/torch/lib/libtorch_cuda.so");
    tree.closed = NULL;
    assert_int_equal(told[0].state, WC_package_state_UNKNOWN);
    assert_int_equal(told[0].absent, 0);
    assert_string_equal(told[0].missing, "");
}

static void another_size_is_another_file(void **state) {
    (void)state;
    add_record("nvidia_cudnn_cu12", "9.1.0.70", both);
    add_file(LIB "libcudnn.so.9", 5);
    add_file(LIB "libcudnn_graph.so.9", 8);
    elf_file(SITE "/x.so");
    assert_int_equal(told[0].state, WC_package_state_MIXED);
    assert_string_equal(told[0].changed, LIB "libcudnn_graph.so.9");
    assert_string_equal(told[0].missing, "");
    /* A RECORD may leave sizes out. */
    add_record("nvidia_cudnn_cu12", "9.1.0.70",
               LIB "libcudnn.so.9,,\n" LIB "libcudnn_graph.so.9,sha256=b,\n");
    elf_file(SITE "/x.so");
    assert_int_equal(told[0].state, WC_package_state_COMPLETE);
    assert_int_equal(told[0].files, 2);
}

static void two_wheels_may_own_one_path(void **state) {
    (void)state;
    add_record("nvidia_cudnn_cu11", "9.2.0.1", both);
    add_record("nvidia_cudnn_cu12", "9.1.0.70",
               LIB "libcudnn.so.9,sha256=a,6\n" LIB "libcudnn_graph.so.9,sha256=b,7\n");
    add_file(LIB "libcudnn.so.9", 5);
    add_file(LIB "libcudnn_graph.so.9", 7);
    elf_file(SITE "/x.so");
    assert_int_equal(count, 2);
    assert_string_equal(package("nvidia-cudnn-cu11")->shared_with, "nvidia-cudnn-cu12 9.1.0.70");
    assert_string_equal(package("nvidia-cudnn-cu12")->shared_with, "nvidia-cudnn-cu11 9.2.0.1");
    assert_string_equal(package("nvidia-cudnn-cu11")->changed, "");
    assert_string_equal(package("nvidia-cudnn-cu12")->changed, LIB "libcudnn.so.9");
    assert_int_equal(package("nvidia-cudnn-cu11")->state, WC_package_state_MIXED);
}

/* Two majors lie in one directory without harm, and the jit wheel has one of its own. */
static void wheels_without_a_common_file_are_complete(void **state) {
    (void)state;
    add_record("nvidia_cudnn_cu11", "8.9.2.26", LIB "libcudnn.so.8,sha256=a,5\n");
    add_record("nvidia_cudnn_cu12", "9.1.0.70", LIB "libcudnn.so.9,sha256=a,6\n");
    add_record("nvidia_cudnn_jit_cu12", "9.27.0.1",
               "nvidia/cudnn_jit/lib/libcudnn.so.9,sha256=a,7\n");
    add_record("nvidia_cudnn_frontend", "1.5", "cudnn/libcudnn.so.9,sha256=a,9\n");
    add_file(LIB "libcudnn.so.8", 5);
    add_file(LIB "libcudnn.so.9", 6);
    add_file("nvidia/cudnn_jit/lib/libcudnn.so.9", 7);
    elf_file(SITE "/x.so");
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(told[i].state, WC_package_state_COMPLETE);
    assert_string_equal(package("nvidia-cudnn-jit-cu12")->path, SITE "/nvidia/cudnn_jit");
}

static void what_is_on_no_list_is_foreign(void **state) {
    char real[PATH_MAX], link[PATH_MAX];
    (void)state;
    add_record("nvidia_cudnn_cu12", "9.1.0.70", both);
    add_file(LIB "libcudnn.so.9", 5);
    add_file(LIB "libcudnn_graph.so.9", 7);
    /* A link to its own file is how images give it a name without a number. */
    tree_path(&tree, SITE "/" LIB "libcudnn.so.9", real);
    tree_path(&tree, SITE "/" LIB "libcudnn.so", link);
    assert_int_equal(symlink(real, link), 0);
    elf_file(SITE "/x.so");
    assert_int_equal(told[0].state, WC_package_state_COMPLETE);
    add_file(LIB "libcudnn_ext.so.9", 7);
    add_file(LIB "libother.so.9", 7);
    elf_file(SITE "/x.so");
    assert_int_equal(told[0].state, WC_package_state_MIXED);
    assert_string_equal(told[0].foreign, SITE "/" LIB "libcudnn_ext.so.9");
}

static void other_packages_are_not_told(void **state) {
    (void)state;
    add_record("torch", "2.0", "torch/lib/libcudnn.so.9,sha256=a,1\n");
    add_record("nvidia_cublas_cu12", "12.1", "nvidia/cublas/lib/libcublas.so.12,sha256=a,1\n");
    add_record("nvidia_cudnn_cu12", "9.1.0.70", ""); /* lists no library */
    elf_file(SITE "/torch/lib/libtorch_cuda.so");
    assert_int_equal(count, 0);
    elf_file("relative.so");
    elf_file(NULL);
    assert_int_equal(count, 0);
}

static void a_target_directory_is_an_environment_too(void **state) {
    (void)state;
    tree_write(&tree, "/opt/app/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", both);
    elf_file("/opt/app/torch/lib/libtorch.so");
    assert_int_equal(count, 1);
    assert_string_equal(told[0].environment, "/opt/app");
    assert_int_equal(told[0].absent, 2);
}

static void a_long_record_is_read_to_its_end(void **state) {
    enum { LINES = 4000, WIDTH = 80 };
    char *text = calloc(LINES + 4, WIDTH), *end = text;
    (void)state;
    assert_non_null(text);
    for (int i = 0; i < LINES; i++)
        end += sprintf(end, "nvidia/cudnn/include/%d_%0*d.h,sha256=x,%d\n", i, rand() % 30, i, i);
    sprintf(end, "%s", both);
    tree_write(&tree, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", text);
    for (size_t size = 17 << 10; size < (17 << 10) + 40; size++) {
        look_with(SITE "/x.so", size); /* pieces end anywhere */
        assert_int_equal(count, 1);
        assert_int_equal(told[0].files, 2);
        assert_string_equal(told[0].missing, LIB "libcudnn.so.9 " LIB "libcudnn_graph.so.9");
    }
    /* A line that no window holds is passed over, with nothing of it taken for a name. */
    memset(text, 'x', LINES * WIDTH / 2);
    strcpy(text + LINES * WIDTH / 2, "libcudnn_cnn.so.9,sha256=x,1\n");
    strcat(text, both);
    tree_write(&tree, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", text);
    elf_file(SITE "/x.so");
    assert_int_equal(told[0].files, 2);
    free(text);
}

/* ---- conda, dpkg ---- */

static const char conda[] =
    "{\n  \"files\": [\n    \"lib/libcudnn.so.9\",\n    \"lib/libcudnn.so.9.1.0\"\n  ],\n"
    "  \"name\": \"cudnn\",\n  \"paths_data\": {\n    \"paths\": [\n"
    "      {\n        \"_path\": \"lib/libcudnn.so.9\",\n        \"path_type\": \"softlink\",\n"
    "        \"sha256\": \"a\",\n        \"size_in_bytes\": 3\n      },\n"
    "      {\n        \"_path\": \"include/cudnn.h\",\n        \"path_type\": \"hardlink\",\n"
    "        \"size_in_bytes\": 1\n      },\n"
    "      {\n        \"_path\": \"lib/libcudnn.so.9.1.0\",\n        \"path_type\": \"hardlink\",\n"
    "        \"size_in_bytes\": 6\n      }\n    ]\n  }\n}\n";

static void conda_has_names_and_sizes(void **state) {
    char text[sizeof conda], *to = text;
    (void)state;
    for (const char *s = conda; *s; s++) /* as one line, too */
        if (*s != '\n' && *s != ' ')
            *to++ = *s;
    *to = 0;
    for (int compact = 0; compact < 2; compact++) {
        tree_write(&tree, "/conda/conda-meta/cudnn-9.1.0.70-h1_0.json", compact ? text : conda);
        tree_write(&tree, "/conda/lib/libcudnn.so.9", "12345678");
        tree_write(&tree, "/conda/lib/libcudnn.so.9.1.0", "123456");
        elf_file("/conda/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so");
        assert_int_equal(count, 1);
        assert_int_equal(told[0].kind, WC_installation_kind_CONDA);
        assert_string_equal(told[0].name, "cudnn");
        assert_string_equal(told[0].version, "9.1.0.70");
        assert_string_equal(told[0].path, "/conda");
        assert_int_equal(told[0].files, 2);
        assert_int_equal(told[0].state, WC_package_state_COMPLETE);
        tree_write(&tree, "/conda/lib/libcudnn.so.9.1.0", "1234567");
        elf_file("/conda/lib/libcudnn.so.9.1.0");
        assert_string_equal(told[0].changed, "lib/libcudnn.so.9.1.0");
    }
    tree_write(&tree, "/conda/conda-meta/cudnn-9.1.0.70-h1_0.json",
               "{\"files\":[\"lib/libcudnn.so.9\",\"lib/libcudnn.so.9.1.0\"]}");
    elf_file("/conda/lib/libcudnn.so.9.1.0");
    assert_int_equal(told[0].files, 2);
}

static void dpkg_has_names(void **state) {
    (void)state;
    tree_write(&tree, "/var/lib/dpkg/status",
               "Package: libcudnn9-cuda-12\nStatus: install ok installed\nVersion: 9.1.0.70-1\n\n");
    tree_write(&tree, "/var/lib/dpkg/info/libcudnn9-cuda-12.list",
               "/.\n/usr/lib/x86_64-linux-gnu/libcudnn.so.9\n"
               "/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9\n");
    tree_write(&tree, "/var/lib/dpkg/info/libcudnn9-cuda-12.md5sums", "x");
    tree_write(&tree, "/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "12345");
    elf_file("/usr/lib/x86_64-linux-gnu/libcudnn.so.9");
    assert_int_equal(count, 1);
    assert_int_equal(told[0].kind, WC_installation_kind_DEBIAN);
    assert_string_equal(told[0].version, "9.1.0.70-1");
    assert_string_equal(told[0].path, "/usr/lib/x86_64-linux-gnu");
    assert_string_equal(told[0].missing, "/usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9");
    look_with("/lib/libcudnn_cnn.so.9", SCRATCH); /* all directories have one list */
    assert_int_equal(count, 0);
    elf_file("/usr/lib/x86_64-linux-gnu/libhost.so"); /* not for every library of the system */
    assert_int_equal(count, 0);
}

/* ---- whatever the file system does ---- */

static void everything(void) {
    add_record("nvidia_cudnn_cu11", "9.2.0.1", both);
    add_record("nvidia_cudnn_cu12", "9.1.0.70", both);
    add_file(LIB "libcudnn.so.9", 5);
    tree_write(&tree, "/venv/conda-meta/cudnn-9.1.0.70-h1_0.json", conda);
}

static void a_file_system_that_fails_at_any_call_is_survived(void **state) {
    (void)state;
    everything();
    tree.calls = 0;
    elf_file(SITE "/x.so");
    assert_int_equal(count, 3);
    long calls = tree.calls;
    for (tree.fails_at = 1; tree.fails_at <= calls; tree.fails_at++) {
        tree.calls = 0;
        elf_file(SITE "/x.so");
        assert_true(count <= 3);
    }
}

static const char *required_by(const char *description) {
    static char to[64];
    static unsigned char scratch[SCRATCH];
    char text[256];
    snprintf(text, sizeof text, "Metadata-Version: 2.1\nName: faster-whisper\n%s", description);
    tree_write(&tree, SITE "/faster_whisper-1.1.1.dist-info/METADATA", text);
    bool found = wc_required_by(&tree.files, SITE "/ctranslate2/libctranslate2.so", "CTranslate2",
                                scratch, sizeof scratch, to, sizeof to);
    return found ? to : NULL;
}

static void what_requires_a_package_is_in_its_headers(void **state) {
    (void)state;
    assert_string_equal(required_by("Requires-Dist: ctranslate2 (>=4.0)\n"),
                        "faster-whisper 1.1.1");
    assert_string_equal(required_by("Requires-Dist: numpy\nRequires-Dist: ctranslate2<5\n"),
                        "faster-whisper 1.1.1");
    assert_null(required_by("Requires-Dist: ctranslate2-extras\n"));
    assert_null(required_by("Requires-Dist: ctranslate2; extra == 'gpu'\n"));
    assert_null(required_by("\nIt says:\nthat is,\nRequires-Dist: ctranslate2\n"));
}

static void only_a_framework_with_builds_for_cuda_is_asked_for_by_others(void **state) {
    static const char *const frameworks[] = {"paddle", "torch"};
    static unsigned char scratch[SCRATCH];
    (void)state;
    tree_write(&tree, SITE "/user-1.0.dist-info/METADATA",
               "Metadata-Version: 2.1\nName: user\nRequires-Dist: paddle\nRequires-Dist: torch\n");
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        static char room[256];
        const struct wc_reader reader = {
            .files = &tree.files, .scratch = scratch, .scratch_size = sizeof scratch};
        struct wc_identity id = {.installation_kind = WC_installation_kind_WHEEL};
        struct wc_library l;
        snprintf(id.installation, sizeof id.installation, "%s", frameworks[i]);
        wc_library_begin(&l, SITE "/some/libsome.so");
        l.role = WC_role_OTHER;
        l.framework = frameworks[i];
        l.identity = &id;
        wc_library_find_gpu(&l, &reader, room, sizeof room);
        assert_null(l.gpu_library);
        if (i == 0)
            assert_null(l.required_by);
        else
            assert_string_equal(l.required_by, "user 1.0");
    }
}

static void any_amount_of_memory_is_enough_not_to_fail(void **state) {
    (void)state;
    everything();
    for (size_t size = 512; size < 12 << 10; size += 16)
        look_with(SITE "/x.so", size);
}

static void noise_is_survived(void **state) {
    static const char word[] = "libcudnn.so.9\",\n{}[]:_path size_in_bytes";
    char noise[2000];
    (void)state;
    for (int i = 0; i < 300; i++) {
        size_t n = (size_t)rand() % sizeof noise;
        for (size_t k = 0; k < n; k++)
            noise[k] = word[(size_t)rand() % (sizeof word - 1)];
        for (size_t k = 0; k + 100 < n; k += 100)
            memcpy(noise + k,
                   i % 2 ? "\n\"_path\":\"libcudnn.so.9\"," : "\nx/libcudnn_ops.so.9,a,1", 24);
        tree_put(&tree, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", noise, n);
        tree_put(&tree, "/venv/conda-meta/cudnn-9.1.0.70-h1_0.json", noise, n);
        elf_file(SITE "/x.so");
    }
}

static void environments_are_told_apart_by_their_path(void **state) {
    static const char *const near[] = {SITE "/torch/lib/x.so", SITE "/y.so"};
    (void)state;
    assert_int_equal(wc_environment_length(near[0]), strlen(SITE));
    assert_int_equal(wc_environment_length(near[1]), strlen(SITE));
    assert_int_equal(wc_environment_length("/usr/lib/x.so"), strlen("/usr/lib"));
    assert_int_equal(wc_environment_length("/usr/lib/python3/dist-packages/a/x.so"),
                     strlen("/usr/lib/python3/dist-packages"));
}

static void the_environment_of_a_python_is_where_it_was_started(void **state) {
    static const struct {
        const char *program, *variable, *site;
    } rows[] = {
        {"/srv/env/bin/python", NULL, "/srv/env/lib/python3.12/site-packages/"},
        {"/srv/env/bin/torchrun", "/srv/other", "/srv/env/lib/python3.12/site-packages/"},
        {"/usr/bin/python3", "/srv/env", "/srv/env/lib/python3.12/site-packages/"},
        {NULL, "/srv/env", "/srv/env/lib/python3.12/site-packages/"},
        {"/usr/bin/python3", NULL, NULL},
        {"/srv/empty/bin/python", NULL, NULL},
        {"python", "env", NULL},
        {"/python", NULL, NULL},
    };
    char site[4096];
    (void)state;
    tree_write(&tree, "/srv/env/pyvenv.cfg", "home = /usr/bin\n");
    tree_write(&tree, "/srv/env/lib/python3.12/site-packages/x", "");
    tree_write(&tree, "/srv/empty/pyvenv.cfg", "home = /usr/bin\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool found =
            wc_process_site(&tree.files, rows[i].program, rows[i].variable, site, sizeof site);
        assert_int_equal(found, rows[i].site != NULL);
        if (found)
            assert_string_equal(site, rows[i].site);
    }
    assert_false(wc_process_site(&tree.files, rows[0].program, NULL, site, 20));
}

int main(void) {
    seed_draws();
    const struct CMUnitTest tests[] = {
        WITH_TREE(a_wheel_as_it_was_installed_is_complete),
        WITH_TREE(files_that_are_gone_are_missing),
        WITH_TREE(files_behind_a_closed_directory_are_not_missing),
        WITH_TREE(another_size_is_another_file),
        WITH_TREE(two_wheels_may_own_one_path),
        WITH_TREE(wheels_without_a_common_file_are_complete),
        WITH_TREE(what_is_on_no_list_is_foreign),
        WITH_TREE(other_packages_are_not_told),
        WITH_TREE(a_target_directory_is_an_environment_too),
        WITH_TREE(a_long_record_is_read_to_its_end),
        WITH_TREE(conda_has_names_and_sizes),
        WITH_TREE(dpkg_has_names),
        WITH_TREE(the_environment_of_a_python_is_where_it_was_started),
        WITH_TREE(a_file_system_that_fails_at_any_call_is_survived),
        WITH_TREE(what_requires_a_package_is_in_its_headers),
        WITH_TREE(only_a_framework_with_builds_for_cuda_is_asked_for_by_others),
        WITH_TREE(any_amount_of_memory_is_enough_not_to_fail),
        WITH_TREE(noise_is_survived),
        cmocka_unit_test(environments_are_told_apart_by_their_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
