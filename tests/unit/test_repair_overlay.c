/* SPDX-License-Identifier: Apache-2.0 */
/* Files and variables as edits would leave them: tools/diagnose/overlay/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/reading.h"
#include "core/elf/elf_image.h"
#include "support_environment.h"
#include "support_seed.h"
#include "tools/diagnose/overlay/overlay.h"

struct overlaid {
    struct library_cache cache;
    struct sites sites;
    struct overlay overlay;
};

static void begin(struct overlaid *x, const struct wc_strings *variables) {
    memset(x, 0, sizeof(*x));
    library_cache_begin(&x->cache, place);
    overlay_begin(&x->overlay, &x->cache, &x->sites, variables);
}

static void end(struct overlaid *x) {
    overlay_end(&x->overlay);
    sites_end(&x->sites);
    library_cache_end(&x->cache);
}

static bool is_there(struct overlaid *x, const char *path) {
    struct wc_file_stat facts;

    return x->cache.disk.files.facts(x->cache.disk.files.ctx, path, &facts);
}

static void assert_version(struct overlaid *x, const char *path, const char *expected) {
    struct library *library = library_cache_get(&x->cache, path, NULL);
    struct wc_library about;
    struct elf_file *file;
    char text[WC_VERSION_TEXT];

    assert_non_null(library);
    about = library->about;
    file = library_cache_elf_file(&x->cache, library);
    elf_file_identify(file, &about);
    assert_string_equal(wc_version_format(about.identity->version, text), expected);
}

static struct edit edit(enum edit_kind kind, const char *name, const char *value,
                        const char *environment) {
    return (struct edit){.kind = kind, .name = name, .value = value, .environment = environment};
}

static const struct wc_strings no_variables = {NULL, 0};

static void install_replaces_the_old_release_until_the_end(void **state) {
    struct environment *e = *state;
    struct overlaid x;
    char *facade = in(e, "%s/nvidia/cudnn/lib/libcudnn.so.9", e->site);
    const struct edit to_9_8 = edit(EDIT_INSTALL, "nvidia-cudnn-cu12", "==9.8.*", e->site);

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    begin(&x, &no_variables);
    assert_version(&x, facade, "9.1.0");
    assert_true(overlay_apply(&x.overlay, &to_9_8));
    assert_version(&x, facade, "9.8.0");
    assert_false(is_there(&x, in(e, "%s/nvidia_cudnn_cu12-9.1.0.70.dist-info/METADATA", e->site)));
    assert_true(is_there(&x, in(e, "%s/nvidia_cudnn_cu12-9.8.0.87.dist-info/METADATA", e->site)));
    /* With it comes what it requires. */
    assert_true(is_there(&x, in(e, "%s/nvidia/cublas/lib/libcublasLt.so.12", e->site)));
    overlay_end(&x.overlay);
    assert_version(&x, facade, "9.1.0");
    assert_false(is_there(&x, in(e, "%s/nvidia/cublas/lib/libcublasLt.so.12", e->site)));
    overlay_begin(&x.overlay, &x.cache, &x.sites, &no_variables);
    end(&x);
}

static void what_is_installed_is_not_installed_again(void **state) {
    struct environment *e = *state;
    const struct edit again = edit(EDIT_INSTALL, "nvidia-cudnn-cu12", ">=9,<10", e->site);
    struct overlaid x;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", "libcudnn_graph.so.9");
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &again));
    assert_non_null(x.overlay.why);
    end(&x);
}

/* Of a set the oldest release, as an archive has it. */
static void a_release_is_put_into_a_directory(void **state) {
    struct environment *e = *state;
    const struct edit place_9_8 = {
        .kind = EDIT_PLACE, .name = "cudnn", .value = ">=9.8,<10", .path = "/opt/lib"};
    const struct edit nowhere = {
        .kind = EDIT_PLACE, .name = "cudnn", .value = ">=9.8", .path = "/none"};
    const struct edit exact = {
        .kind = EDIT_PLACE, .name = "cudnn", .value = "==9.8.0", .path = "/opt/lib"};
    const struct edit nvrtc = {.kind = EDIT_PLACE, .name = "libnvrtc.so.12", .path = "/opt/lib"};
    const struct edit of_nobody = {
        .kind = EDIT_PLACE, .name = "cudnn", .value = ">=90,<91", .path = "/opt/lib"};
    struct overlaid x;

    put_library(e, "/opt/lib/libcudnn.so.9", "9.1.0");
    put_library(e, "/opt/lib/libcudnn_old.so.9", "9.1.0");
    put_library(e, "/opt/lib/libcudnn.so.8", "8.9.2");
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &nowhere));
    assert_string_equal(x.overlay.why, "that directory does not exist");
    x.overlay.why = NULL;
    assert_false(overlay_apply(&x.overlay, &of_nobody));
    x.overlay.why = NULL;
    assert_true(overlay_apply(&x.overlay, &place_9_8));
    assert_version(&x, "/opt/lib/libcudnn.so.9", "9.8.0");
    assert_version(&x, "/opt/lib/libcudnn.so", "9.8.0");
    assert_true(is_there(&x, "/opt/lib/libcudnn_graph.so.9"));
    assert_false(is_there(&x, "/opt/lib/libcudnn_old.so.9"));
    assert_true(is_there(&x, "/opt/lib/libcudnn.so.8"));
    /* The names with all of the number are links, which are made where that is known. */
    assert_false(is_there(&x, "/opt/lib/libcudnn_graph.so.9.8.0"));
    assert_true(overlay_apply(&x.overlay, &exact));
    assert_version(&x, "/opt/lib/libcudnn_graph.so.9.8.0", "9.8.0");
    assert_true(overlay_apply(&x.overlay, &nvrtc));
    assert_true(is_there(&x, "/opt/lib/libnvrtc.so.12"));
    end(&x);
}

static void a_facade_exports_what_its_release_has(void **state) {
    struct environment *e = *state;
    char *facade = in(e, "%s/nvidia/cudnn/lib/libcudnn.so.9", e->site);
    struct library *library;
    struct elf_file *file;
    struct overlaid x;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    begin(&x, &no_variables);
    library = library_cache_get(&x.cache, facade, NULL);
    file = library_cache_elf_file(&x.cache, library);
    assert_int_equal(file->error, WC_ELF_OK);
    assert_true(wc_elf_defines(&file->image, "cudnnGetVersion"));
    assert_true(wc_elf_defines(&file->image, "cudnnAdvVersionCheck"));
    assert_false(wc_elf_defines(&file->image, "cudnnB2BCausalConv1dForward")); /* 9.24 */
    assert_false(wc_elf_defines(&file->image, "cudnnAdvInferVersionCheck"));   /* gone with 9 */
    assert_string_equal(wc_elf_defined_symbol_version(&file->image), "libcudnn.so.9");
    assert_string_equal(library->opens->text, "libcudnn_graph.so");
    end(&x);
}

static void reinstall_puts_back_what_the_list_has(void **state) {
    struct environment *e = *state;
    char *graph = in(e, "%s/nvidia/cudnn/lib/libcudnn_graph.so.9", e->site);
    const struct edit again = edit(EDIT_REINSTALL, "nvidia-cudnn-cu12", "9.1.0.70", e->site);
    const struct edit other = edit(EDIT_REINSTALL, "nvidia-cudnn-cu12", "9.2.0.82", e->site);
    struct overlaid x;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", "libcudnn_graph.so.9");
    begin(&x, &no_variables);
    assert_false(is_there(&x, graph));
    assert_true(overlay_apply(&x.overlay, &again));
    assert_version(&x, graph, "9.1.0");
    /* It is not on the list. */
    assert_false(is_there(&x, in(e, "%s/nvidia/cudnn/lib/libcudnn.so", e->site)));
    assert_true(x.overlay.changes);
    end(&x);
    /* Of two that count as installed it is not the other one. */
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &other));
    end(&x);
    /* Where all is there, nothing is another way than it was. */
    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    begin(&x, &no_variables);
    assert_true(overlay_apply(&x.overlay, &again));
    assert_false(x.overlay.changes);
    end(&x);
}

static void what_is_whole_is_not_put_there_again(void **state) {
    struct environment *e = *state;
    const struct edit again = {
        .kind = EDIT_RESTORE, .name = "cudnn", .value = "==7.6.5", .path = "/opt/seven"};
    struct overlaid x;

    put_library(e, "/opt/seven/libcudnn.so.7.6.5", "7.6.5");
    assert_int_equal(symlink("libcudnn.so.7.6.5", in(e, "%s/opt/seven/libcudnn.so.7", place)), 0);
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &again));
    assert_string_equal(x.overlay.why, "all of it is there");
    end(&x);
}

static void remove_takes_what_two_packages_have_at_one_path(void **state) {
    struct environment *e = *state;
    char *facade = in(e, "%s/nvidia/cudnn/lib/libcudnn.so.9", e->site);
    const struct edit away = edit(EDIT_REMOVE, "nvidia_cudnn.cu11", NULL, e->site);
    const struct edit back = edit(EDIT_REINSTALL, "nvidia-cudnn-cu12", "9.1.0.70", e->site);
    struct overlaid x;

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    put_wheel(e, "nvidia-cudnn-cu11", "9.2.0.82", NULL);
    begin(&x, &no_variables);
    assert_version(&x, facade, "9.2.0");
    assert_true(overlay_apply(&x.overlay, &away));
    assert_false(is_there(&x, facade));
    assert_true(overlay_apply(&x.overlay, &back));
    assert_version(&x, facade, "9.1.0");
    end(&x);
}

/* Of two wheels at the same paths the one that somebody requires is lacking when the other one is
 * put there, or it goes; not so once it has come back. */
static void what_another_package_requires_is_lacking(void **state) {
    struct environment *e = *state;
    const struct edit away = edit(EDIT_REMOVE, "nvidia-cudnn-cu13", NULL, e->site);
    const struct edit other = edit(EDIT_REINSTALL, "nvidia-cudnn-cu12", "9.13.0.50", e->site);
    const struct edit back = edit(EDIT_REINSTALL, "nvidia-cudnn-cu13", "9.13.0.50", e->site);
    const struct edit *const rows[][3] = {
        {&other}, {&away}, {&back}, {&away, &back}, {&other, &back}};
    const char *const lacking[] = {"nvidia-cudnn-cu13", "nvidia-cudnn-cu13", NULL, NULL, NULL};
    struct overlaid x;

    put_wheel(e, "nvidia-cudnn-cu12", "9.13.0.50", NULL);
    put_wheel(e, "nvidia-cudnn-cu13", "9.13.0.50", NULL);
    for (int required = 0; required < 2; required++) {
        if (required)
            put_metadata(e, "flow", "2.0", "nvidia-cudnn-cu13", "");
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            begin(&x, &no_variables);
            for (size_t k = 0; k < 3 && rows[i][k]; k++)
                assert_true(overlay_apply(&x.overlay, rows[i][k]));
            if (required && lacking[i])
                assert_string_equal(x.overlay.lacks, lacking[i]);
            else
                assert_null(x.overlay.lacks);
            end(&x);
        }
    }
}

static void conda_has_its_own_list(void **state) {
    struct environment *e = *state;
    const char *prefix = "/conda", *facade = in(e, "%s/lib/libcudnn.so.8", prefix);
    const char *list = "{\"files\": [\n  \"lib/libcudnn.so.8\"\n]}\n";
    const struct edit newer = edit(EDIT_INSTALL, "cudnn", ">=8.9,<9", prefix);
    struct overlaid x;

    put_library(e, facade, "8.5.0");
    write_bytes(in(e, "%s/conda-meta/cudnn-8.5.0-0.json", prefix), list, strlen(list));
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &newer)); /* for which CUDA? */
    end(&x);
    write_bytes(in(e, "%s/conda-meta/libcublas-12.4.5-0.json", prefix), "{}", 2);
    begin(&x, &no_variables);
    assert_true(overlay_apply(&x.overlay, &newer));
    assert_version(&x, facade, "8.9.7");
    assert_false(is_there(&x, in(e, "%s/conda-meta/cudnn-8.5.0-0.json", prefix)));
    end(&x);
}

/* dpkg's list has names alone: the longest of a library is the file. */
static void debian_has_lists_of_names(void **state) {
    struct environment *e = *state;
    const char *list = "/var/lib/dpkg/info/libcudnn9-cuda-12.list";
    const char *names = "/.\n/usr\n/usr/lib/libcudnn.so.9.8.0\n/usr/lib/libcudnn.so.9\n"
                        "/usr/lib/libcudnn_graph.so.9.8.0\n/usr/share/doc/libcudnn9/copyright\n";
    const struct edit back = edit(EDIT_REINSTALL, "libcudnn9-cuda-12", "9.8.0.87-1", "/");
    const struct edit away = edit(EDIT_REMOVE, "libcudnn9-cuda-12", NULL, "/");
    const struct edit unlisted = edit(EDIT_REINSTALL, "libcudnn8", "8.9.7.29-1", "/");
    const struct edit newer = edit(EDIT_INSTALL, "libcudnn9-cuda-12", "==9.10.2.21-1", "/");
    const struct edit beside = edit(EDIT_INSTALL, "libcudnn8", "==8.9.7.29-1+cuda12.2", "/");
    const struct edit of_a_set = edit(EDIT_INSTALL, "libcudnn9-cuda-12", ">=9.8,<10", "/");
    const char *status =
        "Package: libcudnn9-cuda-12\nVersion: 9.8.0.87-1\n\nPackage: z\nVersion: 1\n";
    struct overlaid x;

    put_library(e, "/usr/lib/libcudnn.so.9.8.0", "9.1.0"); /* as somebody copied it there */
    write_bytes(list, names, strlen(names));
    begin(&x, &no_variables);
    assert_true(overlay_apply(&x.overlay, &back));
    assert_version(&x, "/usr/lib/libcudnn.so.9.8.0", "9.8.0");
    assert_version(&x, "/usr/lib/libcudnn.so.9", "9.8.0");
    assert_version(&x, "/usr/lib/libcudnn_graph.so.9.8.0", "9.8.0");
    assert_true(overlay_apply(&x.overlay, &away));
    assert_false(is_there(&x, "/usr/lib/libcudnn.so.9"));
    assert_false(is_there(&x, "/usr/lib/libcudnn_graph.so.9.8.0"));
    assert_false(is_there(&x, list));
    assert_false(overlay_apply(&x.overlay, &unlisted));
    overlay_end(&x.overlay);
    write_bytes("/var/lib/dpkg/status", status, strlen(status));
    overlay_begin(&x.overlay, &x.cache, &x.sites, &no_variables);
    assert_true(overlay_apply(&x.overlay, &newer));
    assert_version(&x, "/usr/lib/libcudnn.so.9", "9.10.2");
    assert_false(is_there(&x, "/usr/lib/libcudnn.so.9.8.0"));
    assert_false(overlay_apply(&x.overlay, &newer)); /* by dpkg's status */
    assert_string_equal(x.overlay.why, x.overlay.idle);
    x.overlay.why = x.overlay.idle = NULL;
    assert_true(overlay_apply(&x.overlay, &beside));
    assert_version(&x, "/usr/lib/libcudnn.so.8", "8.9.7");
    assert_version(&x, "/usr/lib/libcudnn.so.9", "9.10.2");
    assert_null(x.overlay.open);
    assert_false(overlay_apply(&x.overlay, &of_a_set)); /* apt takes one release, or any */
    assert_non_null(x.overlay.open);
    end(&x);
}

/* What satisfies is left as it is; put back is what the record lists, links and sizes, too. */
static void conda_does_nothing_where_it_is_satisfied(void **state) {
    struct environment *e = *state;
    const char *prefix = "/conda", *facade = in(e, "%s/lib/libcudnn.so.9.8.0", prefix);
    const char *link = in(e, "%s/lib/libcudnn.so.9", prefix);
    const char *list = "{\"files\": [\"lib/libcudnn.so.9\", \"lib/libcudnn.so.9.8.0\"],"
                       " \"paths_data\": {\"paths\": ["
                       "{\"_path\": \"lib/libcudnn.so.9\", \"path_type\": \"softlink\"},"
                       "{\"_path\": \"lib/libcudnn.so.9.8.0\", \"path_type\": \"hardlink\","
                       " \"size_in_bytes\": 123456}]}}";
    const struct edit same = edit(EDIT_INSTALL, "cudnn", ">=9,<10", prefix);
    const struct edit back = edit(EDIT_REINSTALL, "cudnn", "9.8.0.87", prefix);
    char room[PATH_MAX];
    struct wc_file_stat facts;
    struct overlaid x;

    put_library(e, facade, "9.1.0"); /* as somebody copied it there */
    write_bytes(in(e, "%s/conda-meta/cudnn-9.8.0.87-cuda11_0.json", prefix), list, strlen(list));
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &same));
    assert_non_null(x.overlay.why);
    assert_version(&x, facade, "9.1.0");
    overlay_end(&x.overlay);
    overlay_begin(&x.overlay, &x.cache, &x.sites, &no_variables);
    assert_true(overlay_apply(&x.overlay, &back));
    assert_version(&x, facade, "9.8.0");
    assert_true(x.cache.disk.files.real_path(&x.cache.disk, link, room, sizeof(room)));
    assert_string_equal(room, facade);
    assert_true(x.cache.disk.files.facts(&x.cache.disk, facade, &facts));
    assert_int_equal(facts.size, 123456);
    end(&x);
}

/* A solver keeps to the CUDA of the environment. */
static void conda_has_builds_for_each_cuda(void **state) {
    static const char *const records[][3] = {
        {"cuda-version-11.8-h70ddcb2_3", "9.10.2", ""},
        {"cudnn-8.9.7.29-cuda11_0", "9.10.2", ""},
        {"cuda-version-12.4-h3060b56_3", "9.28.0", ""},
        {"cudnn-7.4.1.5-cuda10_0", NULL, ""}, /* it has none for that one */
        {"cudnn-8.9.7.29-h0_0", "9.10.2", "cuda-version >=11.2,<12.0a0"},
        {"lens-1.0-h0_0", "9.10.2", "cudatoolkit 11.8|11.8.*"},
        {"lens-1.0-h0_0", "9.28.0", "cuda-version >=12,<13"},
        {"lens-1.0-h0_0", NULL, "cuda-version >=11.2"}, /* a solver may take 12 */
        {"lens-1.0-cuda118_0", "9.10.2", "cudnn >=9"},
        {"lens-1.0-cuda118_0", NULL, "libfoo"}, /* nothing of cuDNN's */
    };
    struct environment *e = *state;

    WC_EACH_ROW(row, records) {
        const char *prefix = in(e, "/%s", (*row)[0]);
        const struct edit newest = edit(EDIT_INSTALL, "cudnn", ">=9,<9.28.1", prefix);
        struct overlaid x;

        const char *text = in(e, "{\"depends\": [\"%s\"]}", (*row)[2]);
        write_bytes(in(e, "%s/conda-meta/%s.json", prefix, (*row)[0]), text, strlen(text));
        begin(&x, &no_variables);
        assert_int_equal(overlay_apply(&x.overlay, &newest), (*row)[1] != NULL);
        if ((*row)[1])
            assert_version(&x, in(e, "%s/lib/libcudnn.so.9", prefix), (*row)[1]);
        end(&x);
    }
}

/* Of a newer release of the same major NVIDIA promises that it works. */
static void what_another_package_requires_stays(void **state) {
    static const struct {
        const char *requires, *install;
        bool lacks;
        const char *breaks;
    } rows[] = {
        {"nvidia-cudnn-cu12>=9", "==9.8.*", false, NULL},
        {"nvidia-cudnn-cu12==9.1.0.70", "==9.8.*", false, "lens 1.0 requires ==9.1.0.70"},
        {"nvidia-cudnn-cu12==9.1.0.70", "==9.0.*", true, NULL},
        {"nvidia-cudnn-cu12<10,>=9", ">=8,<9", true, NULL},
        {"nvidia-cudnn-cu12", ">=8,<9", true, NULL},            /* which one nobody says */
        {"nvidia-cudnn-cu12==8.9.7.29", ">=8,<9", false, NULL}, /* it lacks it now */
        {"nvidia-cublas-cu12==1.0", ">=8,<9", false, NULL},
    };
    struct environment *e = *state;

    WC_EACH_ROW(row, rows) {
        const struct edit other = edit(EDIT_INSTALL, "nvidia-cudnn-cu12", row->install, e->site);
        const char *text = in(e, "Name: lens\nRequires-Dist: %s\n", row->requires);
        struct overlaid x;

        put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
        write_bytes(in(e, "%s/lens-1.0.dist-info/METADATA", e->site), text, strlen(text));
        begin(&x, &no_variables);
        assert_true(overlay_apply(&x.overlay, &other));
        assert_int_equal(x.overlay.lacks != NULL, row->lacks);
        if (row->breaks)
            assert_string_equal(x.overlay.breaks, row->breaks);
        else
            assert_null(x.overlay.breaks);
        end(&x);
    }
}

/* A record of conda's says it as a METADATA does: "10.2.*" is any of 10.2. */
static void so_does_what_condas_packages_require(void **state) {
    static const struct {
        const char *requires, *package, *installed, *install;
        bool can, lacks;
    } rows[] = {
        {"cudnn >=8.9,<9.0a0", "cudnn", "8.9.7.29-cuda12_0", ">=9,<9.28.1", true, true},
        {"cudnn >=8.9", "cudnn", "8.9.7.29-cuda12_0", ">=9,<9.28.1", true, false},
        {"cudatoolkit >=10.2,<10.3", "cudatoolkit", "10.1.243-h0_6", ">=10.2,<10.3", true, false},
        {"cudatoolkit 10.2.*", "cudatoolkit", "10.1.243-h0_6", "==10.2.*", true, false},
        {"cudatoolkit 10.1.* *_6", "cudatoolkit", "10.1.243-h0_6", "==10.2.*", false, false},
        {"fastrlock >=0.3", "cudatoolkit", "10.1.243-h0_6", "==10.2.*", false, false},
    };
    struct environment *e = *state;

    WC_EACH_ROW(row, rows) {
        const char *prefix = in(e, "/conda%d", (int)(row - rows));
        const struct edit other = edit(EDIT_INSTALL, row->package, row->install, prefix);
        const char *record = in(e, "%s/conda-meta/%s-%s", prefix, row->package, row->installed);
        const char *text = "{\"depends\": [], \"files\": [\"lib/libcusparse.so.10\"]}";
        struct overlaid x;

        write_bytes(in(e, "%s.json", record), text, strlen(text));
        text = in(e, "{\"depends\": [\n\"python\",\n\"%s\"], \"files\": []}", row->requires);
        write_bytes(in(e, "%s/conda-meta/cupy-8.2.0-py38_0.json", prefix), text, strlen(text));
        begin(&x, &no_variables);
        assert_int_equal(overlay_apply(&x.overlay, &other), row->can);
        assert_int_equal(x.overlay.lacks != NULL, row->lacks);
        if (row->lacks)
            assert_string_equal(x.overlay.refused_by, "cupy 8.2.0 requires cudnn>=8.9,<9.0a0");
        end(&x);
    }
}

/* Its release is known, and so is what it contains; the managers refuse to remove it. */
static void without_its_list_a_wheel_is_not_removed(void **state) {
    struct environment *e = *state;
    const struct edit edits[] = {edit(EDIT_REINSTALL, "nvidia-cudnn-cu12", "9.1.0.70", e->site),
                                 edit(EDIT_INSTALL, "nvidia-cudnn-cu12", "==9.8.*", e->site),
                                 edit(EDIT_REMOVE, "nvidia-cudnn-cu12", NULL, e->site)};

    put_wheel(e, "nvidia-cudnn-cu12", "9.1.0.70", NULL);
    assert_int_equal(
        unlink(in(e, "%s%s/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", place, e->site)), 0);
    WC_EACH_ROW(one, edits) {
        struct overlaid x;
        begin(&x, &no_variables);
        assert_int_equal(overlay_apply(&x.overlay, one), one->kind != EDIT_REMOVE);
        end(&x);
    }
}

struct names {
    char text[256];
};

static bool add_name(void *arg, const char *name) {
    struct names *n = arg;

    strncat(strncat(n->text, name, 64), " ", 2);
    return true;
}

static void links_and_what_is_deleted(void **state) {
    struct environment *e = *state;
    const char *facade = "/lib/libcudnn.so.9";
    char room[PATH_MAX];
    const struct edit link = {
        .kind = EDIT_LINK, .path = "/lib/libcudnn.so", .target = "libcudnn.so.9"};
    const struct edit away = {.kind = EDIT_DELETE, .path = "/lib/other"};
    struct names names = {""};
    struct overlaid x;

    put_library(e, facade, "9.1.0");
    write_bytes(away.path, "", 0);
    begin(&x, &no_variables);
    assert_true(overlay_apply(&x.overlay, &link));
    assert_true(overlay_apply(&x.overlay, &away));
    assert_true(x.cache.disk.files.real_path(&x.cache.disk, link.path, room, sizeof(room)));
    assert_string_equal(room, facade);
    assert_version(&x, link.path, "9.1.0");
    assert_true(x.cache.disk.files.list(&x.cache.disk, "/lib", add_name, &names));
    assert_string_equal(names.text, "libcudnn.so.9 libcudnn.so ");
    end(&x);
}

/* Of two releases in one directory the newest, as ldconfig has it, also where a link leads to the
 * other one. */
static void links_of_a_whole_directory(void **state) {
    static const struct {
        const char *path, *release;
    } files[] = {{"/opt/libcudnn.so.9.8.0", "9.8.0"},
                 {"/opt/libcudnn.so.9.10.2", "9.10.2"},
                 {"/opt/libcudnn_graph.so.9.8.0", "9.8.0"},
                 {"/opt/libcudnn_ops.so.9", "9.8.0"}};
    struct environment *e = *state;
    const struct edit links = {.kind = EDIT_LINKS, .path = "/opt"};
    struct overlaid x;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put_library(e, files[i].path, files[i].release);
    /* A name that ldconfig does not read. */
    write_image("/opt/saved-libcudnn.so.9.22.0", &(struct image){.soname = "libcudnn.so.9"});
    begin(&x, &no_variables);
    assert_true(overlay_apply(&x.overlay, &links));
    assert_version(&x, "/opt/libcudnn.so.9", "9.10.2");
    assert_version(&x, "/opt/libcudnn_graph.so.9", "9.8.0");
    assert_version(&x, "/opt/libcudnn_ops.so.9", "9.8.0");
    end(&x);
    assert_int_equal(symlink("libcudnn.so.9.8.0", in(e, "%s/opt/libcudnn.so.9", place)), 0);
    assert_int_equal(symlink("libcudnn_graph.so.9.8.0", in(e, "%s/opt/libcudnn_graph.so.9", place)),
                     0);
    begin(&x, &no_variables);
    assert_true(overlay_apply(&x.overlay, &links));
    assert_version(&x, "/opt/libcudnn.so.9", "9.10.2");
    end(&x);
    assert_int_equal(unlink(in(e, "%s/opt/libcudnn.so.9", place)), 0);
    assert_int_equal(symlink("libcudnn.so.9.10.2", in(e, "%s/opt/libcudnn.so.9", place)), 0);
    /* The only one of its SONAME stays, wherever it leads. */
    put_library(e, "/else/libcudnn_cnn.so.9", "9.8.0");
    assert_int_equal(symlink("../else/libcudnn_cnn.so.9", in(e, "%s/opt/libcudnn_cnn.so.9", place)),
                     0);
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &links)); /* nothing is missing */
    assert_version(&x, "/opt/libcudnn_cnn.so.9", "9.8.0");
    end(&x);
}

/* Among what this computer's own ldconfig has listed, with the sections behind its texts. */
static void the_cache_as_ldconfig_leaves_it(void **state) {
    static const char conf[] = "# none\ninclude /etc/ld.so.conf.d/*.conf\n/opt/b/\n",
                      named[] = "/opt/a # first\n/opt/gone\n";
    struct environment *e = *state;
    const struct edit anew = {.kind = EDIT_CACHE, .path = "/opt/a"};
    struct wc_search_context search = {.machine = OWN_MACHINE};
    const char *libc;
    struct overlaid x;

    put_library(e, "/opt/a/libcudnn.so.8.9.2", "8.9.2");
    put_library(e, "/opt/b/libcudnn.so.8", "8.5.0");
    put_library(e, "/opt/b/libcudnn_ops_infer.so.8", "8.5.0");
    put_library(e, "/opt/c/libcudnn.so.8", "8.5.0"); /* which no line names */
    write_bytes("/etc/ld.so.conf", conf, strlen(conf));
    write_bytes("/etc/ld.so.conf.d/cudnn.conf", named, strlen(named));
    write_bytes("/etc/ld.so.conf.d/cudnn.conf.old", "/opt/c\n", 7);
    for (int i = 0; i < 20; i++) /* each includes all of them */
        write_bytes(in(e, "/etc/ld.so.conf.d/more-%d.conf", i), conf, strlen(conf));
    assert_int_equal(system(in(e, "cp /etc/ld.so.cache '%s/etc/'", place)), 0);
    begin(&x, &no_variables);
    library_cache_use(&x.cache, NULL, &search);
    libc = in(e, "%s", wc_search_cache(&search, "libc.so.6"));
    assert_null(wc_search_cache(&search, "libcudnn_ops_infer.so.8"));
    assert_true(overlay_apply(&x.overlay, &anew));
    library_cache_use(&x.cache, NULL, &search);
    assert_string_equal(wc_search_cache(&search, "libcudnn.so.8"), "/opt/a/libcudnn.so.8");
    assert_string_equal(wc_search_cache(&search, "libcudnn_ops_infer.so.8"),
                        "/opt/b/libcudnn_ops_infer.so.8");
    assert_string_equal(wc_search_cache(&search, "libc.so.6"), libc);
    assert_version(&x, "/opt/a/libcudnn.so.8", "8.9.2");
    assert_false(overlay_apply(&x.overlay, &anew)); /* all is listed */
    overlay_end(&x.overlay);
    library_cache_use(&x.cache, NULL, &search);
    assert_null(wc_search_cache(&search, "libcudnn_ops_infer.so.8"));
    overlay_begin(&x.overlay, &x.cache, &x.sites, &no_variables);
    end(&x);
}

static void variables_without_our_own_library(void **state) {
    const char *const before[] = {"LD_PRELOAD=/opt/libwhichcudnn.so:/opt/other.so",
                                  "LD_LIBRARY_PATH=/a:/b", "HOME=/h"};
    const struct edit set = {.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = "/c"};
    const struct edit unset = {.kind = EDIT_UNSET, .name = "HOME"};
    struct overlaid x;

    (void)state;
    begin(&x, &(struct wc_strings){before, 3});
    assert_true(overlay_apply(&x.overlay, &set));
    assert_true(overlay_apply(&x.overlay, &unset));
    assert_int_equal(x.overlay.environment.n, 2);
    assert_string_equal(x.overlay.environment.p[0], "LD_PRELOAD=/opt/other.so");
    assert_string_equal(x.overlay.environment.p[1], "LD_LIBRARY_PATH=/c");
    assert_null(x.overlay.environment.p[2]);
    end(&x);
}

static void a_driver_is_not_played(void **state) {
    const struct edit driver = {.kind = EDIT_DRIVER, .value = "570"};
    struct overlaid x;

    (void)state;
    begin(&x, &no_variables);
    assert_false(overlay_apply(&x.overlay, &driver));
    assert_non_null(x.overlay.why);
    end(&x);
}

#define IN_ENVIRONMENT(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, begin_environment, end_environment)

/* ---- what is remembered ---- */

static bool count_name(void *count, const char *name) {
    (void)name;
    ++*(size_t *)count;
    return true;
}

static void files_are_what_they_were_at_the_first_look(void **state) {
    struct environment *e = *state;
    const struct wc_files *files;
    struct wc_file_stat facts;
    struct overlaid x;
    char text[8];
    size_t n = 0;

    write_bytes("/a/file", "before", 6);
    write_bytes("/a/other", "", 0);
    begin(&x, &no_variables);
    files = &x.cache.disk.files;
    assert_true(files->read(files->ctx, "/a/file", 0, text, sizeof(text), &n));
    assert_int_equal(n, 6);
    assert_false(files->facts(files->ctx, "/b/file", &facts));
    n = 0;
    assert_true(files->list(files->ctx, "/a", count_name, &n));
    assert_int_equal(n, 2);
    write_bytes("/a/file", "afterwards", 10);
    write_bytes("/a/third", "", 0);
    write_bytes("/b/file", "", 0);
    assert_true(files->read(files->ctx, "/a/file", 2, text, sizeof(text), &n));
    assert_int_equal(n, 4);
    assert_memory_equal(text, "fore", 4);
    assert_true(files->read(files->ctx, "/a/file", 6, text, sizeof(text), &n));
    assert_int_equal(n, 0);
    assert_false(files->facts(files->ctx, "/b/file", &facts));
    n = 0;
    assert_true(files->list(files->ctx, "/a", count_name, &n));
    assert_int_equal(n, 2);
    /* An edit counts all the same, in directories, too, and for as long as it is there. */
    assert_true(overlay_apply(
        &x.overlay, &(struct edit){.kind = EDIT_LINK, .path = in(e, "/b"), .target = "a"}));
    assert_true(files->facts(files->ctx, "/b/file", &facts));
    assert_int_equal(facts.size, 6);
    end(&x);
}

static void what_is_found_in_memory_is_what_reading_finds(void **state) {
    static const char letters[] = "ab\n";
    unsigned char scratch[256];
    struct wc_reading found, read;
    struct wc_files bare;
    struct overlaid x;
    char text[600];

    (void)state;
    for (int turn = 0; turn < 50; turn++) {
        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = letters[rand() % 3];
        write_bytes("/text", text, sizeof(text));
        begin(&x, &no_variables);
        bare = x.cache.disk.files;
        bare.find = NULL;
        wc_reading_begin(&found, &x.cache.disk.files, scratch, sizeof(scratch));
        wc_reading_begin(&read, &bare, scratch, sizeof(scratch));
        for (int i = 0; i < 100; i++) {
            const bool at_line = rand() % 2;
            const uint64_t from = rand() % 2 ? (uint64_t)(rand() % 700) : 0;
            char needle[10] = "";
            for (int k = rand() % 9 + 1; k-- > 0;)
                needle[k] = letters[rand() % 3];
            assert_int_equal(wc_reading_find(&found, "/text", from, needle, at_line),
                             wc_reading_find(&read, "/text", from, needle, at_line));
        }
        end(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_ENVIRONMENT(install_replaces_the_old_release_until_the_end),
        IN_ENVIRONMENT(what_is_installed_is_not_installed_again),
        IN_ENVIRONMENT(a_release_is_put_into_a_directory),
        IN_ENVIRONMENT(a_facade_exports_what_its_release_has),
        IN_ENVIRONMENT(reinstall_puts_back_what_the_list_has),
        IN_ENVIRONMENT(what_is_whole_is_not_put_there_again),
        IN_ENVIRONMENT(remove_takes_what_two_packages_have_at_one_path),
        IN_ENVIRONMENT(what_another_package_requires_is_lacking),
        IN_ENVIRONMENT(conda_has_its_own_list),
        IN_ENVIRONMENT(debian_has_lists_of_names),
        IN_ENVIRONMENT(conda_does_nothing_where_it_is_satisfied),
        IN_ENVIRONMENT(conda_has_builds_for_each_cuda),
        IN_ENVIRONMENT(what_another_package_requires_stays),
        IN_ENVIRONMENT(so_does_what_condas_packages_require),
        IN_ENVIRONMENT(without_its_list_a_wheel_is_not_removed),
        IN_ENVIRONMENT(links_and_what_is_deleted),
        IN_ENVIRONMENT(links_of_a_whole_directory),
        IN_ENVIRONMENT(the_cache_as_ldconfig_leaves_it),
        IN_ENVIRONMENT(files_are_what_they_were_at_the_first_look),
        IN_ENVIRONMENT(what_is_found_in_memory_is_what_reading_finds),
        cmocka_unit_test(variables_without_our_own_library),
        cmocka_unit_test(a_driver_is_not_played),
    };

    seed_draws();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
