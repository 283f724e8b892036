/* SPDX-License-Identifier: Apache-2.0 */
/* tools/diagnose/command.c: edits as a command and as a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support_user.h"
#include "tools/commands/fix/fix.h"
#include "tools/diagnose/command.h"

#define NAME "nvidia-cudnn-cu12"
#define SITE "/p/.venv/lib/python3.11/site-packages"
#define CONDA "/opt/conda/envs/e"

static const char *command(const struct edit *p, size_t n) {
    user.files = &tree.files;
    return command_of(&memory.arena, &(struct edits){p, n}, &user);
}

static void assert_made(const char *made, const char *expected) {
    if (!expected) {
        if (made)
            print_message("%s\n", made);
        assert_null(made);
        return;
    }
    assert_non_null(made);
    assert_string_equal(made, expected);
}

static void assert_command(struct edit edit, const char *expected) {
    assert_made(command(&edit, 1), expected);
}

static struct edit install(const char *name, const char *value, const char *environment) {
    return (struct edit){
        .kind = EDIT_INSTALL, .name = name, .value = value, .environment = environment};
}

static struct edit reinstall(const char *name, const char *value, const char *environment) {
    return (struct edit){
        .kind = EDIT_REINSTALL, .name = name, .value = value, .environment = environment};
}

static struct edit without(const char *name, const char *environment) {
    return (struct edit){.kind = EDIT_REMOVE, .name = name, .environment = environment};
}

static void put_venv(const char *installer, const char *lock) {
    tree_write(&tree, "/p/.venv/pyvenv.cfg", "home = /usr/bin\n");
    tree_write(&tree, "/p/.venv/bin/python", "");
    tree_write(&tree, SITE "/pip/__init__.py", "");
    tree_write(&tree, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/INSTALLER", installer);
    tree_write(&tree, SITE "/nvidia_cudnn_cu12-9.1.0.70.dist-info/RECORD", "");
    if (lock)
        tree_write(&tree, lock, "");
}

/* Install with a range and with a release, put back, take out. */
static void assert_commands(const char *name, const char *environment, const char *const made[4]) {
    assert_command(install(name, ">=9.8,<10", environment), made[0]);
    assert_command(install(name, "==9.8.0.87", environment), made[1]);
    assert_command(reinstall(name, "9.1.0.70", environment), made[2]);
    assert_command(without(name, environment), made[3]);
}

static void pip(void **state) {
    (void)state;
    assert_commands(NAME, NULL,
                    (const char *[]){
                        "pip install 'nvidia-cudnn-cu12>=9.8,<10'",
                        "pip install nvidia-cudnn-cu12==9.8.0.87",
                        "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70",
                        "pip uninstall -y nvidia-cudnn-cu12",
                    });
    put_venv("pip", NULL);
#define PIP "/p/.venv/bin/python -m pip "
    assert_commands(NAME, SITE,
                    (const char *[]){
                        PIP "install 'nvidia-cudnn-cu12>=9.8,<10'",
                        PIP "install nvidia-cudnn-cu12==9.8.0.87",
                        PIP "install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70",
                        PIP "uninstall -y nvidia-cudnn-cu12",
                    });
    assert_command(install(NAME, "", SITE), PIP "install nvidia-cudnn-cu12");
    assert_command(install(NAME, NULL, SITE), PIP "install nvidia-cudnn-cu12");
    assert_command(install(NAME, "==9.8.*", SITE), PIP "install 'nvidia-cudnn-cu12==9.8.*'");
    /* pip takes nothing away whose list of files is gone. */
    tree_write(&tree, SITE "/b-1.dist-info/INSTALLER", "pip");
    assert_command(reinstall("b", "1", SITE), PIP "install --ignore-installed --no-deps b==1");
    assert_command(install("b", "==2", SITE),
                   "rm -r " SITE "/b-1.dist-info && " PIP "install b==2");
    assert_command(without("b", SITE), NULL);
    assert_command(install("jax[cuda12]", "", SITE), PIP "install 'jax[cuda12]'");
    assert_command(reinstall(NAME, NULL, SITE),
                   PIP "install --force-reinstall --no-deps nvidia-cudnn-cu12");
    assert_command(
        (struct edit){.kind = EDIT_HOST, .name = "torch", .value = ">=2.9", .environment = SITE},
        PIP "install 'torch>=2.9'");
    user.path = "/p/.venv/bin";
    tree_write(&tree, "/p/.venv/bin/pip", "");
    assert_command(install(NAME, "", SITE), "pip install nvidia-cudnn-cu12");
}

static void pip_of_the_system(void **state) {
    (void)state;
#define SYSTEM "/usr/local/lib/python3.11/dist-packages"
#define HOME "/home/u/.local/lib/python3.11/site-packages"
    tree_write(&tree, "/usr/bin/python3.11", "");
    tree_write(&tree, "/usr/bin/pip", "");
    tree_write(&tree, SYSTEM "/x", "");
    tree_write(&tree, HOME "/x", "");
    assert_command(install(NAME, "", SYSTEM),
                   "/usr/bin/python3.11 -m pip install nvidia-cudnn-cu12");
    user.path = "/usr/bin";
    tree_write(&tree, "/usr/lib/python3.11/EXTERNALLY-MANAGED", "");
    assert_command(install(NAME, "", SYSTEM),
                   "pip install --break-system-packages nvidia-cudnn-cu12");
    setenv("HOME", "/home/u", true);
    assert_command(install(NAME, "", HOME),
                   "pip install --break-system-packages --user nvidia-cudnn-cu12");
    assert_command(without(NAME, HOME),
                   "pip uninstall --break-system-packages -y nvidia-cudnn-cu12");
    setenv("HOME", "/root", true); /* of the one who pastes it: the process had another */
    user.python = "/opt/python/bin/python3.11";
    assert_command(install(NAME, "", HOME),
                   "env HOME=/home/u /opt/python/bin/python3.11 -m pip install --user "
                   "nvidia-cudnn-cu12");
    user.python = NULL;
}

static void pip_into_a_directory(void **state) {
    (void)state;
#define FOLDER "/srv/my app"
#define INFO FOLDER "/nvidia_cudnn_cu12-9.1.0.70.dist-info"
#define PREFIX "/srv/lib/python3.11/site-packages"
#define STAGED "--upgrade --target cudnn-wheels nvidia-cudnn-cu12==9.8.0.87 && "
    tree_write(&tree, FOLDER "/x", "");
    assert_command(install(NAME, "==9.8.0.87", FOLDER),
                   "pip install " STAGED "cp -a --remove-destination cudnn-wheels/. '" FOLDER "'");
    assert_command(without(NAME, FOLDER), NULL); /* pip cannot */
    /* The release that is there goes, and comes with what it requires, if that is not there. */
    tree_write(&tree, INFO "/METADATA", "Name: x\nRequires-Dist: nvidia-cublas-cu12\n");
    tree_write(&tree, INFO "/INSTALLER", "pip\n");
    tree_write(&tree, INFO "/RECORD", "");
    assert_command(install(NAME, "==9.8.0.87", FOLDER),
                   "pip install " STAGED "rm -r '" INFO
                   "' && cp -a --remove-destination cudnn-wheels/. '" FOLDER "'");
    tree_write(&tree, FOLDER "/nvidia_cublas_cu12-12.8.4.1.dist-info/METADATA", "Name: y\n");
    assert_command(install(NAME, "==9.8.0.87", FOLDER),
                   "pip install --no-deps " STAGED "rm -r '" INFO
                   "' && cp -a --remove-destination cudnn-wheels/. '" FOLDER "'");
    assert_command(reinstall(NAME, "9.8.0.87", FOLDER),
                   "pip install --no-deps " STAGED "rm -r '" INFO
                   "' && cp -a --remove-destination cudnn-wheels/. '" FOLDER "'");
    tree_write(&tree, INFO "/INSTALLER", "uv\n");
    assert_command(install(NAME, "==9.8.0.87", FOLDER),
                   "uv pip install --target '" FOLDER "' nvidia-cudnn-cu12==9.8.0.87");
    /* Of pip install --prefix: each pip would install into its own environment. */
    tree_write(&tree, PREFIX "/x", "");
    tree_write(&tree, "/usr/bin/python3.11", "");
    tree_write(&tree, "/p/.venv/pyvenv.cfg", "");
    tree_write(&tree, "/p/.venv/bin/python3.11", "");
    assert_command(install(NAME, "==9.8.0.87", PREFIX),
                   "pip install " STAGED "cp -a --remove-destination cudnn-wheels/. " PREFIX);
    user.path = "/p/.venv/bin";
    assert_command(install(NAME, "==9.8.0.87", PREFIX),
                   "pip install " STAGED "cp -a --remove-destination cudnn-wheels/. " PREFIX);
}

static void pip_of_elsewhere(void **state) {
    (void)state;
    tree_write(&tree, "/p/.venv/pyvenv.cfg", "");
    tree_write(&tree, "/p/.venv/bin/python", "");
    tree_write(&tree, SITE "/x", "");
    assert_command(install(NAME, "", SITE),
                   "pip --python /p/.venv/bin/python install nvidia-cudnn-cu12");
}

#define UV "uv pip install --python /p/.venv/bin/python "
#define UV_AGAIN UV "--reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70"
#define UV_AWAY "uv pip uninstall --python /p/.venv/bin/python nvidia-cudnn-cu12"

static void uv(void **state) {
    (void)state;
    put_venv("uv", NULL);
    assert_commands(NAME, SITE,
                    (const char *[]){
                        UV "'nvidia-cudnn-cu12>=9.8,<10'",
                        UV "nvidia-cudnn-cu12==9.8.0.87",
                        UV_AGAIN,
                        UV_AWAY,
                    });
}

/* The project's tool alone changes the project's list; the rest is pip's or uv's. */
static void environments_of_projects(void **state) {
    (void)state;
    static const struct {
        const char *lock, *made[4];
    } rows[] = {
        {"/p/uv.lock",
         {"env -C /p uv add 'nvidia-cudnn-cu12>=9.8,<10'",
          "env -C /p uv add nvidia-cudnn-cu12==9.8.0.87", UV_AGAIN, UV_AWAY}},
        {"/p/poetry.lock",
         {"env -C /p poetry add 'nvidia-cudnn-cu12>=9.8,<10'",
          "env -C /p poetry add nvidia-cudnn-cu12==9.8.0.87",
          PIP "install --force-reinstall --no-deps nvidia-cudnn-cu12==9.1.0.70",
          PIP "uninstall -y nvidia-cudnn-cu12"}},
    };
    WC_EACH_ROW(row, rows) {
        put_venv("pip", row->lock);
        assert_commands(NAME, SITE, row->made);
        end_tree(NULL);
        begin_tree(NULL);
    }
    /* Whatever is added, uv installs what the list of overrides has. */
    put_venv("pip", "/p/uv.lock");
    tree_write(&tree, "/p/pyproject.toml",
               "[tool.uv]\noverride-dependencies = [\n  \"numpy<3\",\n  \"" NAME "<9.2\",\n]\n");
    assert_command(install(NAME, ">=9.8,<10", SITE),
                   "sed -i 's/\"" NAME "[^\"]*\"/\"" NAME ">=9.8,<10\"/' /p/pyproject.toml && "
                   "env -C /p uv sync");
    tree_write(&tree, "/p/pyproject.toml",
               "dependencies = [\"" NAME
               "\"]\n[tool.uv]\nconstraint-dependencies = [\"numpy<3\"]\n");
    assert_command(install(NAME, ">=9.8,<10", SITE),
                   "env -C /p uv add 'nvidia-cudnn-cu12>=9.8,<10'");
}

static void conda(void **state) {
    (void)state;
    tree_write(&tree, CONDA "/conda-meta/history", "");
    assert_commands("cudnn", CONDA,
                    (const char *[]){
                        "conda install -p " CONDA " 'cudnn>=9.8,<10'",
                        "conda install -p " CONDA " cudnn==9.8.0.87",
                        "conda install -p " CONDA " --force-reinstall cudnn=9.1.0.70",
                        "conda remove -p " CONDA " --force cudnn",
                    });
    /* "==9.8.*" is another thing to conda. */
    assert_command(install("cudnn", "==9.8.*,!=9.8.1", CONDA),
                   "conda install -p " CONDA " 'cudnn=9.8,!=9.8.1'");
    tree_write(&tree, CONDA "/conda-meta/history", "# cmd: /opt/conda/bin/mamba create\n");
    tree_write(&tree, "/opt/conda/bin/mamba", "");
    user.yes = true;
    assert_command(install("cudnn", "", CONDA),
                   "/opt/conda/bin/mamba install -y -p " CONDA " cudnn");
}

static void pixi(void **state) {
    (void)state;
#define PIXI "/w/.pixi/envs/default"
    tree_write(&tree, PIXI "/conda-meta/pixi", "{}");
    tree_write(&tree, PIXI "/bin/python3.11", "");
    tree_write(&tree, PIXI "/lib/python3.11/site-packages/torch-2.dist-info/INSTALLER", "uv-pixi");
    assert_commands("cudnn", PIXI, (const char *[4]){NULL});
    assert_commands(NAME, PIXI "/lib/python3.11/site-packages", (const char *[4]){NULL});
}

static void the_systems_packages(void **state) {
    (void)state;
#define DEBIAN "libcudnn9-cuda-12"
    tree_write(&tree, "/usr/bin/dnf", "");
    assert_command(install(DEBIAN, "==9.8.0.87-1", "/"), "dnf install " DEBIAN "-9.8.0.87-1");
    assert_command(reinstall(DEBIAN, "9.8.0.87-1", "/"), "dnf reinstall " DEBIAN "-9.8.0.87-1");
    assert_command(without(DEBIAN, "/"), "dnf remove " DEBIAN);
    tree_write(&tree, "/var/lib/dpkg/status", "");
    assert_command(install(DEBIAN, "==9.8.0.87-1", "/"), "apt-get install " DEBIAN "=9.8.0.87-1");
    assert_command(install(DEBIAN, ">=9.8", "/"), NULL); /* it takes one release, or any */
    assert_command(reinstall(DEBIAN, "9.8.0.87-1", "/"),
                   "apt-get install --reinstall " DEBIAN "=9.8.0.87-1");
    assert_command(reinstall("libcudnn8:amd64", "8.9.7.29-1+cuda12.2", NULL),
                   "apt-get install --reinstall libcudnn8:amd64=8.9.7.29-1+cuda12.2");
    user.yes = true;
    assert_command(without(DEBIAN, "/"), "apt-get remove -y " DEBIAN);
}

static void variables_and_files(void **state) {
    (void)state;
    assert_command((struct edit){.kind = EDIT_SET, .name = "LD_LIBRARY_PATH", .value = "/a:/b c"},
                   "export LD_LIBRARY_PATH='/a:/b c'");
    assert_command((struct edit){.kind = EDIT_SET, .name = "X", .value = ""}, "export X=''");
    assert_command((struct edit){.kind = EDIT_SET, .name = "X", .value = "$(id)`id`"},
                   "export X='$(id)`id`'");
    assert_command((struct edit){.kind = EDIT_UNSET, .name = "LD_PRELOAD"}, "unset LD_PRELOAD");
    assert_command((struct edit){.kind = EDIT_MODE, .path = "/a/libcudnn.so.9"},
                   "chmod a+r /a/libcudnn.so.9");
    assert_command(
        (struct edit){.kind = EDIT_MODE, .path = "/a b", .target = "/a b/c/libcudnn.so.9"},
        "chmod a+x '/a b'");
    assert_command((struct edit){.kind = EDIT_MODE, .path = "/a b", .target = "/a b/libx.so"},
                   "chmod a+rx '/a b'");
    assert_command((struct edit){.kind = EDIT_MODE,
                                 .path = "/proc/self/cwd",
                                 .target = "/x.so:/proc/self/cwd/libcudnn.so.9:/y.so"},
                   "chmod a+rx /proc/self/cwd && chmod a+r /proc/self/cwd/libcudnn*");
    assert_command((struct edit){.kind = EDIT_LINK, .path = "/a b/l.so.9", .target = "l.so.9.1"},
                   "ln -s l.so.9.1 '/a b/l.so.9'");
    assert_command((struct edit){.kind = EDIT_LINK, .path = "/proc/self", .target = "l.so.9.1"},
                   "ln -sfn l.so.9.1 /proc/self"); /* a link stands there */
    assert_command((struct edit){.kind = EDIT_LINKS, .path = "/a b"}, "/sbin/ldconfig -n '/a b'");
    assert_command((struct edit){.kind = EDIT_CACHE, .path = "/a b"}, "/sbin/ldconfig");
    assert_command((struct edit){.kind = EDIT_DELETE, .path = "/ä/x;y"}, "rm '/ä/x;y'");
    const struct edit texts[] = {{.kind = EDIT_DELETE, .path = "/a b/l.so.9"},
                                 {.kind = EDIT_DELETE, .path = "/a b/m.so.9"},
                                 {.kind = EDIT_DELETE, .path = "/c/m.so.9"},
                                 {.kind = EDIT_LINKS, .path = "/a b"}};
    assert_made(command(texts, 4),
                "rm '/a b/l.so.9' '/a b/m.so.9' /c/m.so.9 && /sbin/ldconfig -n '/a b'");
}

static void several_are_made_in_their_order(void **state) {
    (void)state;
    const struct edit edits[] = {
        without("nvidia-cudnn-cu13", NULL),
        reinstall(NAME, "9.1.0.70", NULL),
        {.kind = EDIT_UNSET, .name = "LD_LIBRARY_PATH"},
    };
    assert_string_equal(command(edits, 3),
                        "pip download --no-deps -d cudnn-wheels nvidia-cudnn-cu12==9.1.0.70 && "
                        "pip uninstall -y nvidia-cudnn-cu13 && "
                        "pip install --no-index --find-links cudnn-wheels --force-reinstall "
                        "--no-deps nvidia-cudnn-cu12==9.1.0.70 && unset LD_LIBRARY_PATH");
    const struct edit installs[] = {install("nvidia-cublas-cu11", "", NULL),
                                    install("nvidia-cuda-runtime-cu11", ">=11.8", NULL), edits[2],
                                    install(NAME, "", NULL)};
    assert_string_equal(command(installs, 4),
                        "pip install nvidia-cublas-cu11 'nvidia-cuda-runtime-cu11>=11.8' && unset "
                        "LD_LIBRARY_PATH && pip install nvidia-cudnn-cu12");
    assert_string_equal(text_of(&memory.arena, &(struct edits){installs, 3}),
                        "install nvidia-cublas-cu11, nvidia-cuda-runtime-cu11>=11.8, then unset "
                        "LD_LIBRARY_PATH");
    struct steps steps;
    steps_make(&steps, &memory.arena, &(struct edits){installs, 4}, NULL);
    assert_int_equal(steps.n, 3);
    assert_string_equal(steps.p[0].text,
                        "pip install nvidia-cublas-cu11 'nvidia-cuda-runtime-cu11>=11.8'");
    assert_int_equal(steps.p[1].kind, STEP_VARIABLE);
    assert_string_equal(steps.p[2].text, "pip install nvidia-cudnn-cu12");
    const struct edit apart[] = {install(NAME, "", "/usr/share"), install(NAME, "", "/usr/lib")};
    steps_make(&steps, &memory.arena, &(struct edits){apart, 2}, NULL);
    assert_int_equal(steps.n, 2);
    assert_string_equal(steps.p[0].changes[0], "/usr/share");
    assert_null(steps.p[0].refused);
    assert_non_null(strstr(steps.p[1].refused, "two environments"));
    const struct edit elsewhere[] = {installs[0], install(NAME, "", "/other/site-packages")};
    assert_non_null(strstr(command(elsewhere, 2), " && "));
    const struct edit mixed[] = {edits[2], {.kind = EDIT_IMPORT_FIRST, .name = "a", .value = "b"}};
    assert_null(command(mixed, 2)); /* half of it is no cure */
    assert_null(command(edits, 0));
}

/* A removal that an installation follows: what that needs is fetched before. */
static void assert_exchange(const char *environment, struct edit second, const char *expected) {
    const struct edit edits[] = {without("cudnn-x", environment), second};

    assert_made(command(edits, 2), expected);
}

static void nothing_is_removed_before_all_is_fetched(void **state) {
    (void)state;
    put_venv("uv", NULL);
    assert_exchange(SITE, install(NAME, ">=9.8", SITE),
                    "uv pip install --python /p/.venv/bin/python --target cudnn-wheels "
                    "'nvidia-cudnn-cu12>=9.8' && "
                    "uv pip uninstall --python /p/.venv/bin/python cudnn-x && "
                    "uv pip install --python /p/.venv/bin/python --offline "
                    "'nvidia-cudnn-cu12>=9.8'");
    put_venv("pip", NULL);
    assert_exchange(SITE, install(NAME, "==9.8.0.87", SITE),
                    PIP "download -d cudnn-wheels nvidia-cudnn-cu12==9.8.0.87 && " PIP
                        "uninstall -y cudnn-x && " PIP
                        "install --no-index --find-links cudnn-wheels nvidia-cudnn-cu12==9.8.0.87");
    user.yes = true; /* below the environment, where --apply keeps what was there */
    assert_exchange(SITE, reinstall(NAME, "9.8.0.87", SITE),
                    PIP "download --no-deps -d " SITE "/.whichcudnn-undo/fetched "
                        "nvidia-cudnn-cu12==9.8.0.87 && " PIP "uninstall -y cudnn-x && " PIP
                        "install --no-index --find-links " SITE "/.whichcudnn-undo/fetched "
                        "--force-reinstall --no-deps nvidia-cudnn-cu12==9.8.0.87");
    user.yes = false;
    tree_write(&tree, CONDA "/conda-meta/history", "");
    assert_exchange(CONDA, install("cudnn", "==9.8.*", CONDA),
                    "conda install --download-only -p " CONDA " cudnn=9.8 && "
                    "conda remove -p " CONDA " --force cudnn-x && "
                    "conda install --offline -p " CONDA " cudnn=9.8");
    /* One transaction, which fetches first. */
    tree_write(&tree, "/var/lib/dpkg/status", "");
    assert_exchange("/", reinstall("libcudnn9-cuda-12", "9.8.0.87-1", "/"),
                    "apt-get install --reinstall libcudnn9-cuda-12=9.8.0.87-1 cudnn-x-");
    /* Without a way to fetch there is no command that could end half way. */
    put_venv("pip", "/p/poetry.lock");
    assert_exchange(SITE, install(NAME, "", SITE), NULL);
    /* A file that a link replaces is replaced at once; a directory cannot be. */
    const struct edit link[] = {{.kind = EDIT_DELETE, .path = "/proc/version"},
                                {.kind = EDIT_LINK, .path = "/proc/version", .target = "v"}};
    assert_string_equal(command(link, 2), "ln -sfn v /proc/version");
}

/* What an archive has is in NVIDIA's wheel for the same CUDA. */
static void into_a_folder_of_no_package(void **state) {
    (void)state;
    struct edit e = {.kind = EDIT_PLACE,
                     .name = "cudnn",
                     .value = ">=9.8,<10",
                     .path = "/c/lib",
                     .target = "12"};
    const char *const path = user.path;

    assert_command(e, "pip install --no-deps --upgrade --target cudnn-wheels "
                      "'nvidia-cudnn-cu12>=9.8,<10' && rm -f /c/lib/libcudnn*.so.9* && "
                      "cp -a cudnn-wheels/nvidia/cudnn/lib/libcudnn* /c/lib && "
                      "ln -sfn libcudnn.so.9 /c/lib/libcudnn.so");
    e = (struct edit){.kind = EDIT_RESTORE,
                      .name = "cudnn",
                      .value = "==8.9.7",
                      .path = "/c/lib",
                      .target = "11"};
    assert_null(command(&e, 1)); /* none of that release is known for CUDA 11 */
    e.target = "12";
    assert_command(e, "pip install --no-deps --upgrade --target cudnn-wheels "
                      "nvidia-cudnn-cu12==8.9.7.29 && rm -f /c/lib/libcudnn*.so.8* && "
                      "cp -a cudnn-wheels/nvidia/cudnn/lib/libcudnn* /c/lib && "
                      "ln -sfn libcudnn.so.8 /c/lib/libcudnn.so && "
                      "find /c/lib -maxdepth 1 -name 'libcudnn*.so.8' "
                      "-execdir ln -sfn {} {}.9.7 \\;");
    user.yes = true;
    assert_null(command(&e, 1)); /* --apply changes what a manager has */
    user.yes = false;
    user.path = "/nowhere"; /* no pip */
    assert_null(command(&e, 1));
    user.path = path;
    e.target = NULL;
    assert_null(command(&e, 1));
    e.value = ">=8,<9";
    assert_null(command(&e, 1));
    e.target = "12";
    tree_write(&tree, "/etc/nv_tegra_release", "# R36");
    assert_null(command(&e, 1));
}

static void no_command_for_what_is_done_otherwise(void **state) {
    (void)state;
    for (int kind = 0; kind < EDITS; kind++) {
        const bool is_line = kind == EDIT_PIN || kind == EDIT_OPEN;
        struct edit e = {.kind = kind,
                         .name = "x",
                         .value = "1",
                         .path = "/x",
                         .target = is_line ? "2s#y#\n#" : "y",
                         .by = is_line ? "line 2 of /x" : NULL};
        bool none = kind == EDIT_IMPORT_FIRST || kind == EDIT_PRELOADER || kind == EDIT_DRIVER ||
                    kind == EDIT_SYSTEM || kind == EDIT_RESTART || kind == EDIT_RESTORE ||
                    kind == EDIT_PLACE;
        if (kind == EDIT_INSTALL || kind == EDIT_HOST)
            e.value = "";
        assert_int_equal(command(&e, 1) == NULL, none);
        assert_true(*text_of(&memory.arena, &(struct edits){&e, 1}));
    }
}

static void lines_of_files(void **state) {
    (void)state;
    struct edit e = {.kind = EDIT_PIN,
                     .name = "x",
                     .value = ">=9.8,<10",
                     .path = "/a b/requirements.txt",
                     .target = "2s#x==9.1#x\n#",
                     .by = "line 2 of /a b/requirements.txt"};

    assert_string_equal(command(&e, 1), "sed -i '2s#x==9.1#x>=9.8,<10#' '/a b/requirements.txt'");
    e.value = "==9'; id #";
    assert_null(command(&e, 1));
    e = (struct edit){.kind = EDIT_SET,
                      .name = "LD_LIBRARY_PATH",
                      .value = "/new",
                      .path = "/x",
                      .target = "3s#/old#\n#",
                      .by = "line 3 of /x"};
    assert_string_equal(command(&e, 1), "sed -i '3s#/old#/new#' /x");
    e.target = "3s#\\./p#env LD_LIBRARY_PATH=\n &#";
    assert_string_equal(command(&e, 1), "sed -i '3s#\\./p#env LD_LIBRARY_PATH=/new &#' /x");
    e.target = NULL;
    assert_null(command(&e, 1));
}

static void hostile_names(void **state) {
    (void)state;
    static const char *const names[] = {"",     "-rf",  "a b",   "a;id", "$(id)", "a'b",  "a\nb",
                                        "a\\b", "a|b",  "a&b",   "a>b",  "a<b",   "a\"b", "a`b",
                                        "a#b",  "a{b}", "a\033", "ä",    "~a",    "*",    "a!b"};
    static const char *const specs[] = {"9.8",     "==9;id", "== 9.8", ">=9\n", "==$(id)",
                                        "==9'",    "-r /x",  "==9|id", "[x]",   "@ file:///x",
                                        "==9&&id", "==\xc3", "==9\\",  "==9\"", "==9 #"};
    static const char *const paths[] = {
        "", "x", "./x", "-x", "/a'b", "/a\nb", "/a\033b", "/a\xe2\x80\xae/b", "/a\xff"};
    static char long_name[9000], long_release[200];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[0] = '/';
    memset(long_release, '1', sizeof long_release - 1);
    tree_write(&tree, "/var/lib/dpkg/status", "");
    tree_write(&tree, CONDA "/conda-meta/history", "");
    const char *environments[] = {NULL, "/", CONDA};
    WC_EACH_ROW(environment, environments) {
        WC_EACH_ROW(name, names) {
            assert_command(install(*name, "", *environment), NULL);
            assert_command(reinstall(*name, "9", *environment), NULL);
            assert_command(without(*name, *environment), NULL);
        }
        WC_EACH_ROW(spec, specs) {
            assert_command(install(NAME, *spec, *environment), NULL);
            if (spec != specs) /* "9.8" is a release */
                assert_command(reinstall(NAME, *spec, *environment), NULL);
        }
        assert_command(install(long_name + sizeof long_name - 100, "", *environment), NULL);
        assert_command(reinstall(NAME, long_release, *environment), NULL);
        assert_command(install(NULL, "", *environment), NULL);
        assert_command(without(NULL, *environment), NULL);
    }
    WC_EACH_ROW(path, paths) {
        assert_command((struct edit){.kind = EDIT_DELETE, .path = *path}, NULL);
        assert_command((struct edit){.kind = EDIT_MODE, .path = *path}, NULL);
        assert_command((struct edit){.kind = EDIT_LINK, .path = *path, .target = "x"}, NULL);
        assert_command((struct edit){.kind = EDIT_LINKS, .path = *path}, NULL);
    }
    WC_EACH_ROW(name, names)
        if (strcmp(*name, "a b") != 0) {
            assert_command((struct edit){.kind = EDIT_SET, .name = *name, .value = "x"}, NULL);
            assert_command((struct edit){.kind = EDIT_UNSET, .name = *name}, NULL);
        }
    assert_command((struct edit){.kind = EDIT_UNSET, .name = "A B"}, NULL);
    assert_command((struct edit){.kind = EDIT_UNSET, .name = "1A"}, NULL);
    assert_command((struct edit){.kind = EDIT_LINK, .path = "/x", .target = "-f"}, NULL);
    assert_command((struct edit){.kind = EDIT_LINK, .path = "/x", .target = ""}, NULL);
    assert_command((struct edit){.kind = EDIT_SET, .name = "X", .value = "a'b"}, NULL);
    assert_command((struct edit){.kind = EDIT_SET, .name = "X", .value = "a\nb"}, NULL);
    assert_command((struct edit){.kind = EDIT_SET, .name = "X"}, NULL);
    assert_command((struct edit){.kind = EDIT_DELETE}, NULL);
    assert_command((struct edit){.kind = EDIT_DELETE, .path = long_name}, NULL);
}

static void a_hostile_environment(void **state) {
    (void)state;
    tree_write(&tree, "/p'q/.venv/lib/python3.11/site-packages/pip/x", "");
    tree_write(&tree, "/p'q/.venv/bin/python", "");
    tree_write(&tree, "/p'q/.venv/pyvenv.cfg", "");
    assert_command(install(NAME, "", "/p'q/.venv/lib/python3.11/site-packages"), NULL);
    tree_write(&tree, "/p;id/.venv/lib/python3.11/site-packages/pip/x", "");
    tree_write(&tree, "/p;id/.venv/bin/python", "");
    tree_write(&tree, "/p;id/.venv/pyvenv.cfg", "");
    assert_command(install(NAME, "", "/p;id/.venv/lib/python3.11/site-packages"),
                   "'/p;id/.venv/bin/python' -m pip install nvidia-cudnn-cu12");
}

static void sentences(void **state) {
    (void)state;
    static const struct {
        struct edit edit;
        const char *text;
    } rows[] = {
        {{.kind = EDIT_SET, .name = "X", .value = "/a"}, "set X to /a"},
        {{.kind = EDIT_SET, .name = "X", .value = ""}, "set X to an empty value"},
        {{.kind = EDIT_UNSET, .name = "X"}, "unset X"},
        {{.kind = EDIT_IMPORT_FIRST, .name = "torch", .value = "jax"}, "import torch before jax"},
        {{.kind = EDIT_PRELOADER, .name = "onnxruntime", .value = "preload_dlls"},
         "call onnxruntime.preload_dlls() before the first use, which loads the cuDNN of "
         "onnxruntime"},
        {{.kind = EDIT_REINSTALL, .name = NAME, .value = "9.1.0.70"},
         "reinstall nvidia-cudnn-cu12 9.1.0.70"},
        {{.kind = EDIT_INSTALL, .name = NAME, .value = ">=9.8"}, "install nvidia-cudnn-cu12>=9.8"},
        {{.kind = EDIT_REMOVE, .name = NAME}, "uninstall nvidia-cudnn-cu12"},
        {{.kind = EDIT_MODE, .path = "/x"}, "let all users read /x"},
        {{.kind = EDIT_LINK, .path = "/x", .target = "y"}, "make /x a link to y"},
        {{.kind = EDIT_LINKS, .path = "/x"},
         "make the links in /x by which its libraries are requested"},
        {{.kind = EDIT_DELETE, .path = "/x"}, "remove /x, which no package has put there"},
        {{.kind = EDIT_PLACE, .name = "cudnn", .value = ">=8,<9", .path = "/x", .target = "12"},
         "copy cuDNN >=8,<9 for CUDA 12 into /x"},
        {{.kind = EDIT_PLACE,
          .name = "cudnn",
          .value = ">=8.9.7,<9",
          .path = "/x",
          .because = ", replacing the installed release"},
         "copy the newest cuDNN 8 (8.9.7 or later) into /x, replacing the installed release"},
        {{.kind = EDIT_COPY, .path = "/x", .target = "/y"}, "copy the cuDNN of /y into /x"},
        {{.kind = EDIT_RESTORE, .name = "cudnn", .value = "==9.1.0", .path = "/x"},
         "copy all of cuDNN 9.1.0 into /x"},
        {{.kind = EDIT_PLACE, .name = "libnvrtc.so.12", .path = "/x"},
         "copy libnvrtc.so.12 into /x"},
        {{.kind = EDIT_HOST, .name = "torch", .value = ">=2.9"}, "install torch>=2.9"},
        {{.kind = EDIT_HOST, .name = "torch"}, "install another release of torch"},
        {{.kind = EDIT_DRIVER, .value = "580.65.06 or newer"},
         "install driver 580.65.06 or newer, or let the container have it"},
        {{.kind = EDIT_DRIVER}, "install the driver, or let the container have it"},
        {{.kind = EDIT_SYSTEM, .value = "mount it without noexec"}, "mount it without noexec"},
        {{.kind = EDIT_RESTART}, "restart the process"},
    };
    WC_EACH_ROW(row, rows)
        assert_string_equal(text_of(&memory.arena, &(struct edits){&row->edit, 1}), row->text);
    const struct edit two[] = {rows[2].edit, rows[7].edit};
    assert_string_equal(text_of(&memory.arena, &(struct edits){two, 2}),
                        "unset X, then uninstall nvidia-cudnn-cu12");
    const struct edit libraries[] = {
        {.kind = EDIT_PLACE, .name = "libcudart.so.12", .path = "/x"},
        {.kind = EDIT_PLACE, .name = "libcublas.so.12", .path = "/x"},
        {.kind = EDIT_PLACE, .name = "libnvrtc.so.12", .path = "/y"},
        rows[2].edit,
    };
    assert_string_equal(text_of(&memory.arena, &(struct edits){libraries, 4}),
                        "copy libcudart.so.12, libcublas.so.12 into /x, then copy libnvrtc.so.12 "
                        "into /y, then unset X");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin_user, end_user)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(pip),
        TEST(pip_of_the_system),
        TEST(pip_into_a_directory),
        TEST(pip_of_elsewhere),
        TEST(uv),
        TEST(environments_of_projects),
        TEST(conda),
        TEST(pixi),
        TEST(the_systems_packages),
        TEST(variables_and_files),
        TEST(several_are_made_in_their_order),
        TEST(nothing_is_removed_before_all_is_fetched),
        TEST(into_a_folder_of_no_package),
        TEST(no_command_for_what_is_done_otherwise),
        TEST(lines_of_files),
        TEST(hostile_names),
        TEST(a_hostile_environment),
        TEST(sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
