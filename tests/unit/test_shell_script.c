/* SPDX-License-Identifier: Apache-2.0 */
/* tools/commands/run/shell_script.c: what scripts start, and with which LD_LIBRARY_PATH. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/commands/run/startup.h"
#include "tools/util/memory.h"

static char place[] = "/tmp/whichcudnn-shell-XXXXXX";

static void write_file(const char *name, const char *text) {
    FILE *to = fopen(name, "we");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(name, 0755), 0);
}

static int begin(void **state) {
    char own[4096];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    (void)state;
    assert_true(n > 0);
    own[n] = '\0';
    assert_non_null(mkdtemp(place));
    assert_int_equal(chdir(place), 0);
    assert_int_equal(symlink(own, "app") | symlink(own, "other") | symlink(own, "timeout"), 0);
    write_file("sets.sh", "export LD_LIBRARY_PATH=/from/file\n");
    assert_int_equal(mkdir("sub", 0700), 0);
    write_file("ends.sh", "./app\nexit 0\n");
    write_file("inner.sh", "#!/usr/bin/env bash\n./app \"$@\"\n");
    write_file("plain.sh", "#!/bin/sh\n./app\n");
    write_file("tool.py", "#!/opt/josh/bin/python3\n./app\n");
    return 0;
}

static int end(void **state) {
    const char *const names[] = {"app",      "other",    "timeout", "sets.sh", "tool.py",
                                 "inner.sh", "plain.sh", "job.sh",  "ends.sh"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    rmdir("sub");
    return chdir("/") | rmdir(place);
}

/* "app /a/lib, other -" of a command; with a "?" where the rest is unsure. */
static char *started(char **command) {
    OWNED char *path = must_format("PATH=%s:/bin", place);
    char *environment[] = {path, "PWD=/elsewhere", "HOME=/home/ada", "LD_LIBRARY_PATH=/was", NULL};
    struct shell_programs programs;
    char *text = must_copy("");

    shell_programs_of(&programs, command, environment);
    for (size_t i = 0; i < programs.n; i++) {
        const char *value = "-";
        for (char *const *v = programs.p[i].environment; *v; v++)
            if (strncmp(*v, "LD_LIBRARY_PATH=", 16) == 0)
                value = *v + 16;
        char *more = must_format("%s%s%s %s", text, i ? ", " : "",
                                 strrchr(programs.p[i].path, '/') + 1, value);
        free(text);
        text = more;
    }
    if (programs.unsure) {
        char *more = must_format("%s%s?", text, programs.n > 0 ? ", " : "");
        free(text);
        text = more;
    }
    shell_programs_end(&programs);
    return text;
}

static void expect(const char *script, const char *expected) {
    char *command[] = {"./job.sh", "./other", "b c", NULL};
    OWNED char *whole = must_format("#!/bin/bash -e\n%s\n", script);
    write_file("job.sh", whole);
    OWNED char *got = started(command);
    if (strcmp(got, expected) != 0)
        print_message("# %s\n", script);
    assert_string_equal(got, expected);
}

/* Its %s is the directory of the script. */
static void expect_in_place(const char *script, const char *format) {
    OWNED char *expected = must_format(format, place);
    expect(script, expected);
}

static void what_is_written_is_started(void **state) {
    (void)state;
    expect("./app x", "app /was");
    expect("app; other", "app /was, other /was");
    expect("cd \"$PWD\"\n\"$@\"", "other /was");
    expect("exec ./app \"$@\" # ./app\n./app", "app /was, other /was");
    expect("./app >out 2>&1 <in; ./other &>out", "app /was, other /was");
    expect("./app & ./other | ./app", "app /was, other /was, app /was");
    expect("exec >out 2>&1\necho \"a # b\"; exit 0\n./app", "");
    expect("timeout -k 5 20 ./app", "timeout /was, app /was");
    expect("timeout 20 env LD_LIBRARY_PATH=/a app; nice 5 bash -c './other'",
           "timeout /was, app /a, nice /was, other /was");
    expect("time ./app; command ./other; ! ./app; ./other",
           "app /was, other /was, app /was, other /was");
    expect("{ ./app; } >out; (./other; ./app)\n./other",
           "app /was, other /was, app /was, other /was");
    expect("echo x && ./app", "app /was");
    expect("./inner.sh y\n./tool.py", "app /was, ?");
    expect("./app --with ./other ./job.sh app", "app /was, other /was");
    expect("/bin/sh -ec './app; other' x\n/bin/sh inner.sh", "app /was, other /was, app /was");
    expect("/bin/sh -c '\"$@\"' x ./app y", "app /was");
    expect("name=app\n./$name \\\n  more\n'./other' \"a;b\"", "app /was, other /was");
    expect("X=/b/app; \"./${X##*/}\"", "app /was");
    expect("here=$(dirname \"$0\")\nexec \"$here/app\"", "app /was");
    expect("cd sub; \"$(dirname -- \"$0\")\"/../other; \"${0%/*}/../app\"", "other /was, app /was");
    expect_in_place(
        "here=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/sub\" >/dev/null 2>&1 && pwd)\"\n"
        "$here/../app; export LD_LIBRARY_PATH=$here; ./other",
        "app /was, other %s/sub");
    expect("DIR=$(cd $(dirname $0)/gone && pwd); ./app", "?");
}

static void with_what_is_set_before_it(void **state) {
    (void)state;
    expect("export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH\n./app", "app /a:/was");
    expect("export LD_LIBRARY_PATH=\"/b${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n./app",
           "app /b:/was");
    expect("A=/c\nLD_LIBRARY_PATH=$A/lib ./app; ./other", "app /c/lib, other /was");
    expect("unset LD_LIBRARY_PATH\n./app\nexport LD_LIBRARY_PATH=/d${LD_LIBRARY_PATH:+:x}; ./app",
           "app -, app /d");
    expect("env LD_LIBRARY_PATH=${NONE:-/e} ./app", "app /e");
    expect("/usr/bin/env -u LD_LIBRARY_PATH ./app; env -u HOME ./app", "app -, app /was");
    expect("env - A=b ./app; /usr/bin/env -i LD_LIBRARY_PATH=/f ./app", "app -, app /f");
    expect("./sets.sh\n./app", "app /was");
    expect("(export LD_LIBRARY_PATH=/g; ./app)\n./app", "app /g, ?");
    expect("{ export LD_LIBRARY_PATH=/h; }; ./app", "app /h");
    expect(". ./sets.sh\n./app\nsource sets.sh; ./app", "app /from/file, app /from/file");
    expect(". ./ends.sh\n./other", "app /was");
    expect("cd sub && ../app\n../inner.sh; ../other", "app /was, other /was, ?");
    expect_in_place("cd sub\nLD_LIBRARY_PATH=$PWD ../app", "app %s/sub");
    expect("bash -c 'cd sub; ../app'; ./app", "app /was, app /was");
}

/* Nothing is said of what only a shell could know, nor of what stands behind it. */
static void what_only_a_shell_knows_is_not_guessed(void **state) {
    static const char *const unsure[] = {
        "module load cuda",
        "conda activate x",
        "eval \"$x\"",
        "source ./gone.sh",
        "export LD_LIBRARY_PATH=$(pwd)/lib",
        "export LD_LIBRARY_PATH=`pwd`",
        "export LD_LIBRARY_PATH=$((1 + 1))",
        "export -n LD_LIBRARY_PATH",
        "LD_LIBRARY_PATH=/not/exported",
        "if true; then export LD_LIBRARY_PATH=/a; fi",
        "while true; do ./app; done",
        "[ -x app ] && ./app",
        "cd . || exit 1",
        "false && ./app",
        "helper () {\n  ./other\n}",
        "((./app))",
        "command -v ./app",
        "! (./app)",
        "cat <<END\n./app\nEND",
        "$(which app) x",
        "cd /nowhere",
        "cd -",
        "set -- ./other",
        "set a b",
        "read x",
        "./nothing",
        "./*",
        "echo ~root",
        "exec \"$1\"",
        "echo \"x \"$@\"\"",
        "env -S './app'",
        "bash -l",
        "${X:?is not set}",
        "echo ${LD_LIBRARY_PATH:=/x}",
        "echo ${LD_LIBRARY_PATH=y}",
        "\"",
        "${",
        "'",
        "${X:-${Y",
        "echo `",
    };
    (void)state;
    for (size_t i = 0; i < sizeof unsure / sizeof *unsure; i++) {
        OWNED char *script = must_format("./app\n%s\n./other", unsure[i]);
        expect(script, "app /was, ?");
    }
}

/* Which of them are started in any case, and end however they like. */
static void whose_end_is_passed_over(void **state) {
    (void)state;
    const char *const scripts[][2] = {
        {"./app; echo", "app"},
        {"./app", ""},
        {"./app; exit 0", "app"},
        {"./app; exit $?", ""},
        {"./app; # all\n\n", ""},
        {"./app || true", "app"},
        {"./app || echo no\n./other", "app"},
        {"exec ./app || true", ""},
        {"./app && echo", ""},
        {"./app | cat", "app"},
        {"set -o pipefail; ./app | cat", ""},
        {"./app & echo", "app"},
        {"./app & wait $!", ""},
        {"./app &>out", ""},
        {"set -eu\n./app\necho", ""},
        {"set -e; ./app || true", "app"},
        {"bash -e -c './app; echo'", ""},
        {"bash -e plain.sh; echo", "app"},
        {"./plain.sh; echo", "app"},
        {"if ./app; then echo; fi; echo", "app"},
        {"set -e; if ! ./app 2>out; then echo; fi", "app"},
        {"set -e; while time ./app; do echo; done", "app"},
        {"set -e; ! ./app", "app"},
        {"set -e; time ./app", ""},
        {"if true; then ./app; fi; echo", ""},
        {"set -e; (./app); echo", ""},
        {"(./app) || true", "app"},
        {"{ ./app; } 2>&1 | cat", "app"},
        {"[ -e x ] && ./app\necho", ""},
        {"[ -e x ] && (echo; ./app); echo", ""},
        {"[ -e x ] &&\n ./app\necho; ./other; echo", ""},
        {"cat <<END\n./app\nEND\necho", ""},
        {"exec ./app", ""},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        OWNED char *path = must_format("PATH=%s:/bin", place);
        char script[256];
        char *command[] = {"sh", "-c", script, NULL}, *environment[] = {path, NULL};
        struct shell_programs programs;
        OWNED char *got = must_copy("");
        snprintf(script, sizeof script, "%s", scripts[i][0]);
        shell_programs_of(&programs, command, environment);
        WC_EACH(p, programs) {
            const char *name = strrchr(p->path, '/') + 1;
            if (p->passed_over && (*name == 'a' || *name == 'o')) {
                free(got);
                got = must_copy(name);
            }
        }
        shell_programs_end(&programs);
        if (strcmp(got, scripts[i][1]) != 0)
            print_message("# %s\n", script);
        assert_string_equal(got, scripts[i][1]);
    }
}

static void the_command_itself_is_one(void **state) {
    char *commands[][6] = {{"app", NULL},
                           {"sh", "-c", "./app \"$@\"; other", "x", NULL},
                           {"timeout", "--foreground", "5", "./app", NULL},
                           {"gone", NULL},
                           {"env", "LD_LIBRARY_PATH=/a", "./app", NULL},
                           {"bash", "-lc", "./app", NULL}};
    const char *const expected[] = {
        "app /was", "app /was, other /was", "timeout /was, app /was", "", "app /a", "?"};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        OWNED char *got = started(commands[i]);
        assert_string_equal(got, expected[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_started),
        cmocka_unit_test(with_what_is_set_before_it),
        cmocka_unit_test(what_only_a_shell_knows_is_not_guessed),
        cmocka_unit_test(whose_end_is_passed_over),
        cmocka_unit_test(the_command_itself_is_one),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
