/* SPDX-License-Identifier: Apache-2.0 */
/* tools/diagnose/manager.c: whose an environment is. Each is laid out as that program lays it out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support_user.h"
#include "tools/diagnose/manager.h"

#define CUDNN "nvidia-cudnn-cu12"
#define VENV "/p/.venv"
#define SITE VENV "/lib/python3.11/site-packages"

static struct manager of_package(const char *environment, const char *package) {
    struct manager m;
    heap_arena_end(&memory);
    user.files = &tree.files;
    manager_of(&memory.arena, &user, environment, package, &m);
    return m;
}

static struct manager of(const char *environment) {
    return of_package(environment, CUDNN);
}

static void put_python(const char *bin, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", bin, name);
    tree_write(&tree, path, "elf");
}

static void put_package(const char *site, const char *info, const char *installer) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s.dist-info/INSTALLER", site, info);
    tree_write(&tree, path, installer);
}

/* A virtual environment, with pip or without. */
static void put_venv(const char *venv, const char *cfg, bool pip) {
    char path[256];
    snprintf(path, sizeof path, "%s/pyvenv.cfg", venv);
    tree_write(&tree, path, cfg);
    snprintf(path, sizeof path, "%s/bin", venv);
    put_python(path, "python");
    snprintf(path, sizeof path, "%s/lib/python3.11/site-packages/%s/__init__.py", venv,
             pip ? "pip" : "six");
    tree_write(&tree, path, "");
    if (pip)
        snprintf(path, sizeof path, "%s/bin", venv), put_python(path, "pip");
}

static void a_venv_is_pips(void **state) {
    (void)state;
    put_venv(VENV, "home = /usr/bin\n", true);
    put_package(SITE, "nvidia_cudnn_cu12-9.1.0.70", "pip\n");
    struct manager m = of(SITE);
    assert_int_equal(m.kind, MANAGER_PIP);
    assert_string_equal(m.python, VENV "/bin/python");
    assert_true(m.with_python);
    assert_false(m.without_pip || m.of_user || m.protected);
    assert_null(m.folder);
    user.path = "/usr/bin:" VENV "/bin:/bin";
    assert_false(of(SITE).with_python); /* the plain word is enough */
    put_python("/usr/bin", "pip");
    assert_true(of(SITE).with_python); /* another one stands before it */
    assert_string_equal(manager_rows[m.kind].word, "pip");
}

static void a_venv_without_pip_takes_that_of_elsewhere(void **state) {
    (void)state;
    put_venv(VENV, "home = /usr/bin\n", false);
    struct manager m = of(SITE);
    assert_int_equal(m.kind, MANAGER_PIP);
    assert_true(m.without_pip);
    assert_false(m.with_python);
}

static void a_venv_of_uv(void **state) {
    (void)state;
    put_venv(VENV, "home = /usr/bin\nuv = 0.13.9\n", false);
    assert_int_equal(of(SITE).kind, MANAGER_UV); /* nothing is installed yet, and there is no pip */
    put_package(SITE, "torch-2.8.0", "uv");
    assert_int_equal(of(SITE).kind, MANAGER_UV);
    put_package(SITE, "nvidia_cudnn_cu12-9.1.0.70", "pip\n");
    assert_int_equal(of_package(SITE, "numpy").kind, MANAGER_UV);
}

static void uv_in_a_venv_of_another(void **state) {
    (void)state;
    put_venv(VENV, "home = /usr/bin\n", true);
    put_package(SITE, "nvidia_cudnn_cu12-9.1.0.70", "uv");
    assert_int_equal(of(SITE).kind, MANAGER_UV);
    put_package(SITE, "torch-2.8.0", "pip");
    assert_int_equal(of_package(SITE, "nvidia_cudnn.cu12").kind, MANAGER_UV);
    assert_int_equal(of_package(SITE, "nvidia-cudnn-cu12[x]").kind, MANAGER_UV);
    assert_int_equal(of_package(SITE, "torch[x]").kind, MANAGER_PIP);
}

/* A command whose program PATH does not have says so; one that is started by its path needs none.
 */
static void a_program_that_is_not_in_path(void **state) {
    (void)state;
    static const struct {
        const char *cfg;
        bool pip;
        const char *lacks, *program;
    } rows[] = {
        {"home = /usr/bin\n", true, NULL, NULL}, /* PYTHON -m pip */
        {"home = /usr/bin\n", false, "pip", "/usr/bin/pip"},
        {"home = /usr/bin\nuv = 0.13.9\n", false, "uv", "/usr/bin/uv"},
    };
    user.path = "/usr/bin:/bin";
    WC_EACH_ROW(row, rows) {
        put_venv(VENV, row->cfg, row->pip);
        assert_true(wc_str_same(of(SITE).lacks, row->lacks));
        if (row->program)
            tree_write(&tree, row->program, "");
        assert_null(of(SITE).lacks);
        end_tree(NULL);
        begin_tree(NULL);
    }
    tree_write(&tree, "/opt/conda/envs/e/conda-meta/history", "# cmd: /x/bin/mamba create\n");
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").lacks, "mamba");
    tree_write(&tree, "/usr/bin/micromamba", "");
    assert_null(of_package("/opt/conda/envs/e", "cudnn").lacks);
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").program, "micromamba");
    user.path = NULL; /* not known */
    put_venv(VENV, "home = /usr/bin\n", false);
    assert_null(of(SITE).lacks);
}

/* What reads a project's list installs; all else in the environment is pip's or uv's. */
static void environments_of_projects(void **state) {
    (void)state;
    static const struct {
        const char *root, *file, *add;
        enum manager_kind kind;
    } rows[] = {
        {VENV, "/p/uv.lock", "uv add", MANAGER_UV},
        {VENV, "/p/poetry.lock", "poetry add", MANAGER_PIP},
        {VENV, "/p/pdm.lock", "pdm add", MANAGER_PIP},
        {VENV, "/p/Pipfile.lock", "pipenv install", MANAGER_PIP},
        {VENV, "/p/pyproject.toml", NULL, MANAGER_PIP},
        {"/p/env", "/p/uv.lock", NULL, MANAGER_PIP}, /* uv keeps a project in .venv alone */
        {"/p/.venv-3", "/p/uv.lock", NULL, MANAGER_PIP},
        {"/home/u/.cache/pypoetry/virtualenvs/p-Ab3_-py3.11", "/x", "", MANAGER_PIP},
        {"/home/u/.local/share/virtualenvs/p-x", "/x", "", MANAGER_PIP},
    };
    WC_EACH_ROW(row, rows) {
        char site[256];
        put_venv(row->root, "home = /usr/bin\n", true);
        tree_write(&tree, row->file, "");
        snprintf(site, sizeof(site), "%s/lib/python3.11/site-packages", row->root);
        struct manager m = of(site);
        assert_int_equal(m.kind, row->kind);
        assert_true(wc_str_same(m.add, row->add));
        end_tree(NULL);
        begin_tree(NULL);
    }
}

static void a_conda_prefix(void **state) {
    (void)state;
    tree_write(&tree, "/opt/conda/envs/e/conda-meta/history", "==> 2026 <==\n");
    struct manager m = of_package("/opt/conda/envs/e", "cudnn");
    assert_int_equal(m.kind, MANAGER_CONDA);
    assert_string_equal(m.prefix, "/opt/conda/envs/e");
    assert_string_equal(m.program, "conda"); /* none is seen */
    put_python("/opt/conda/bin", "conda");
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").program, "/opt/conda/bin/conda");
    put_python("/opt/conda/bin", "mamba");
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").program, "/opt/conda/bin/conda");
    tree_write(&tree, "/opt/conda/envs/e/conda-meta/history",
               "==> 2026 <==\n# cmd: /opt/conda/bin/mamba create -n e\n");
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").program, "/opt/conda/bin/mamba");
    user.path = "/opt/conda/bin";
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").program, "mamba");
    tree_write(&tree, "/opt/conda/envs/e/conda-meta/history", "# cmd: micromamba create\n");
    assert_string_equal(of_package("/opt/conda/envs/e", "cudnn").program, "conda"); /* has gone */
}

#define CONDA_SITE "/opt/conda/envs/e/lib/python3.11/site-packages"

static void wheels_within_a_conda_prefix(void **state) {
    (void)state;
    tree_write(&tree, "/opt/conda/envs/e/conda-meta/history", "");
    put_python("/opt/conda/envs/e/bin", "python3.11");
    put_package(CONDA_SITE, "nvidia_cudnn_cu12-9.1.0.70", "pip");
    put_package(CONDA_SITE, "torch-2.8.0", "conda");
    tree_write(&tree, CONDA_SITE "/pip/__init__.py", "");
    struct manager m = of(CONDA_SITE);
    assert_int_equal(m.kind, MANAGER_PIP);
    assert_string_equal(m.python, "/opt/conda/envs/e/bin/python3.11");
    assert_true(m.with_python);
    m = of_package(CONDA_SITE, "torch");
    assert_int_equal(m.kind, MANAGER_CONDA);
    assert_string_equal(m.prefix, "/opt/conda/envs/e");
}

#define PIXI "/w/.pixi/envs/default"
#define PIXI_SITE PIXI "/lib/python3.11/site-packages"

static void a_workspace_of_pixi(void **state) {
    (void)state;
    tree_write(&tree, PIXI "/conda-meta/pixi", "{}");
    put_python(PIXI "/bin", "python3.11");
    put_package(PIXI_SITE, "nvidia_cudnn_cu12-9.1.0.70", "uv-pixi");
    assert_string_equal(of_package(PIXI, "cudnn").add, "");
    assert_string_equal(of(PIXI_SITE).add, "");
    put_package(PIXI_SITE, "nvidia_cudnn_cu12-9.1.0.70", "pip");
    assert_int_equal(of(PIXI_SITE).kind, MANAGER_PIP);
    assert_null(of(PIXI_SITE).add);
}

static void the_systems_python(void **state) {
    (void)state;
    put_python("/usr/bin", "python3.11");
    put_package("/usr/local/lib/python3.11/dist-packages", "torch-2.8.0", "pip");
    struct manager m = of("/usr/local/lib/python3.11/dist-packages");
    assert_int_equal(m.kind, MANAGER_PIP);
    assert_string_equal(m.python, "/usr/bin/python3.11");
    assert_false(m.protected || m.of_user);
    tree_write(&tree, "/usr/lib/python3.11/EXTERNALLY-MANAGED", "");
    assert_true(of("/usr/local/lib/python3.11/dist-packages").protected);
    /* Its own Python there: the mark is not for that one. */
    put_python("/usr/local/bin", "python3.11");
    m = of("/usr/local/lib/python3.11/dist-packages");
    assert_string_equal(m.python, "/usr/local/bin/python3.11");
    assert_false(m.protected);
}

static void packages_of_a_user(void **state) {
    (void)state;
    put_python("/opt/py/bin", "python3.11");
    put_package("/home/u/.local/lib/python3.11/site-packages", "torch-2.8.0", "pip");
    user.path = "/usr/bin:/opt/py/bin";
    struct manager m = of("/home/u/.local/lib/python3.11/site-packages");
    assert_true(m.of_user);
    assert_string_equal(m.python, "/opt/py/bin/python3.11");
}

/* PYTHONPATH leads out of an environment: its own Python installs nothing there. */
static void what_another_environment_reads_too(void **state) {
    (void)state;
    static const char shared[] = "/opt/shared/lib/python3.11/site-packages";
    static const char home[] = "/home/u/.local/lib/python3.11/site-packages";
    put_venv(VENV, "home = /opt/py/bin\n", true);
    put_python(VENV "/bin", "python3.11");
    put_package(shared, "nvidia_cudnn_cu12-9.1.0.70", "pip");
    put_package(home, "nvidia_cudnn_cu12-9.1.0.70", "pip");
    put_python("/usr/bin", "python3");
    user.path = VENV "/bin:/usr/bin";
    assert_true(of(home).is_foreign);
    put_python("/usr/bin", "python3.11");
    assert_int_equal(of(shared).kind, MANAGER_FOLDER);
    struct manager m = of(home);
    assert_false(m.is_foreign);
    assert_true(m.of_user);
    assert_string_equal(m.python, "/usr/bin/python3.11");
    assert_false(of(SITE).is_foreign);
}

static void a_bare_directory(void **state) {
    (void)state;
    put_package("/srv/app/vendor", "torch-2.8.0", "pip");
    struct manager m = of("/srv/app/vendor");
    assert_int_equal(m.kind, MANAGER_FOLDER);
    assert_string_equal(m.folder, "/srv/app/vendor");
    assert_null(m.python);
}

static void what_is_not_there(void **state) {
    (void)state;
    struct manager m = of(SITE);
    assert_int_equal(m.kind, MANAGER_PIP);
    assert_null(m.folder);
    assert_false(m.with_python || m.without_pip);
    assert_null(of("/gone").folder);
}

static void the_systems_packages(void **state) {
    (void)state;
    put_python("/usr/bin", "microdnf");
    struct manager m = of_package("/", "libcudnn9-cuda-12");
    assert_int_equal(m.kind, MANAGER_DNF);
    assert_string_equal(m.program, "microdnf");
    tree_write(&tree, "/var/lib/dpkg/status", "");
    assert_int_equal(of_package("/", "libcudnn9-cuda-12").kind, MANAGER_APT);
    assert_int_equal(of_package(NULL, "libcudnn9-cuda-12").kind, MANAGER_APT);
    assert_int_equal(of_package(NULL, CUDNN).kind, MANAGER_PIP);
    assert_int_equal(of_package(NULL, NULL).kind, MANAGER_PIP);
}

/* Whatever file cannot be read, and wherever memory ends: an answer. */
static void hostile_files(void **state) {
    (void)state;
    static char long_line[100000];
    memset(long_line, 'x', sizeof long_line - 1);
    put_venv(VENV, long_line, true);
    put_package(SITE, "nvidia_cudnn_cu12-9.1.0.70", long_line);
    tree_write(&tree, "/p/pyproject.toml", long_line);
    tree_write(&tree, VENV "/.project", long_line);
    tree_write(&tree, VENV "/conda-meta/history", long_line);
    of(SITE);
    of(VENV);
    of_package(SITE, "");
    of_package(SITE, long_line);
    of_package("relative/lib/python3/site-packages", "x");
    of_package("", "x");
    of_package("/", "");
    of_package("//////", long_line);
    for (tree.fails_at = 1; tree.fails_at < 60; tree.fails_at++) {
        tree.calls = 0;
        assert_true(of(SITE).kind < MANAGERS);
        tree.calls = 0;
        assert_true(of(VENV).kind < MANAGERS);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_user, end_user)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_venv_is_pips),
        TEST(a_venv_without_pip_takes_that_of_elsewhere),
        TEST(a_venv_of_uv),
        TEST(uv_in_a_venv_of_another),
        TEST(a_program_that_is_not_in_path),
        TEST(environments_of_projects),
        TEST(a_conda_prefix),
        TEST(wheels_within_a_conda_prefix),
        TEST(a_workspace_of_pixi),
        TEST(the_systems_python),
        TEST(packages_of_a_user),
        TEST(what_another_environment_reads_too),
        TEST(a_bare_directory),
        TEST(what_is_not_there),
        TEST(the_systems_packages),
        TEST(hostile_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
