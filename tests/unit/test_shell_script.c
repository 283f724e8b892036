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

#include "tools/commands/run/shell_script.h"
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
    write_file("inner.sh", "#!/usr/bin/env bash\n./app \"$1\"\n");
    write_file("tool.py", "#!/opt/josh/bin/python3\n./app\n");
    return 0;
}

static int end(void **state) {
    const char *const names[] = {"app",     "other",    "timeout", "sets.sh",
                                 "tool.py", "inner.sh", "job.sh"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    return chdir("/") | rmdir(place);
}

/* "app /a/lib, other -" of a command. */
static char *started(char *const *command) {
    OWNED char *path = must_format("PATH=%s:/nowhere", place);
    char *environment[] = {path, "HOME=/home/ada", "LD_LIBRARY_PATH=/was", NULL};
    struct shell_programs programs;
    char *text = must_copy("");

    shell_programs_of(&programs, command, environment);
    for (size_t i = 0; i < programs.n; i++) {
        const char *value = "-";
        for (char **v = programs.p[i].environment; *v; v++)
            if (strncmp(*v, "LD_LIBRARY_PATH=", 16) == 0)
                value = *v + 16;
        char *more = must_format("%s%s%s %s", text, i ? ", " : "",
                                 strrchr(programs.p[i].path, '/') + 1, value);
        free(text);
        text = more;
    }
    shell_programs_end(&programs);
    return text;
}

static void expect(const char *script, const char *expected) {
    char *const command[] = {"./job.sh", "./other", "b c", NULL};
    OWNED char *whole = must_format("#!/bin/bash -e\n%s\n", script);
    write_file("job.sh", whole);
    OWNED char *got = started(command);
    if (strcmp(got, expected) != 0)
        print_message("# %s\n", script);
    assert_string_equal(got, expected);
}

static void what_is_written_is_started(void **state) {
    (void)state;
    expect("./app x", "app /was");
    expect("app; other", "app /was, other /was");
    expect("cd \"$PWD\"\n\"$@\"", "other /was");
    expect("exec ./app \"$2\"\n./other", "app /was");
    expect("\"$1\" && $HOME/app || ./app >out 2>&1 <in", "other /was, app /was");
    expect("if [ -x app ]; then ./app & fi # ./other", "app /was");
    expect("helper () {\n  ./other\n}\nexit 0\n./app", "");
    expect("time timeout -k 5 20 ./app", "app /was");
    expect("./inner.sh y\n./tool.py\n./nothing", "app /was");
    expect("./tool.py --with ./other x\n./app ./job.sh app", "other /was, app /was");
    expect("/bin/sh -ec './app; $0' ./other\n/bin/sh inner.sh", "app /was, other /was, app /was");
    expect("cd /nowhere\n./app", "");
    expect("./*; ./app [a-z]* ~root", "app /was");
    expect("${0%/*}/app; X=/b/app; ./${X##*/}", "app /was");
    expect("name=app\n./$name \\\n  more\n'./other' \"a;b\"", "app /was, other /was");
}

static void with_what_is_set_before_it(void **state) {
    (void)state;
    expect("export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH\n./app", "app /a:/was");
    expect("LD_LIBRARY_PATH=\"/b${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n./app", "app /b:/was");
    expect("A=/c\nLD_LIBRARY_PATH=$A/lib ./app; ./other", "app /c/lib, other /was");
    expect("unset LD_LIBRARY_PATH\n./app\nLD_LIBRARY_PATH=/d${LD_LIBRARY_PATH:+:x}\n./app\n"
           "export LD_LIBRARY_PATH; ./app",
           "app -, app -, app /d");
    expect("env LD_LIBRARY_PATH=${NONE:-/e} ./app", "app /e");
    expect("env - A=b ./app; /usr/bin/env -i LD_LIBRARY_PATH=/f ./app", "app -, app /f");
    expect("env -u LD_LIBRARY_PATH ./app; env -u HOME ./app; env -S './app'", "app -, app /was");
    expect("source ./sets.sh\n./app", "app /from/file");
    expect("./sets.sh\n./app", "app /was");
}

/* Nothing is said of a program whose variables only a shell could know. */
static void what_only_a_shell_knows_is_not_guessed(void **state) {
    (void)state;
    expect("module load cuda\n./app", "");
    expect("./app\neval \"$x\"\n./other", "app /was");
    expect(". ./gone.sh\n./app", "");
    expect("export LD_LIBRARY_PATH=$(pwd)/lib\n./app", "");
    expect("export LD_LIBRARY_PATH=`pwd`\n./app\nLD_LIBRARY_PATH=/a ./other", "other /a");
    expect("if true; then export LD_LIBRARY_PATH=/a; fi\n./app", "");
    expect("$(which app) x\n./other", "other /was");
    expect("cd -P sub\nLD_LIBRARY_PATH=$PWD/lib app", "");
    expect("cd sub more\nLD_LIBRARY_PATH=$PWD/lib app", "");
    expect("cd -\nLD_LIBRARY_PATH=$PWD/lib app", "");
    expect("${X:?is not set}\n./app ${Y?} ${LD_LIBRARY_PATH:=/x} ${LD_LIBRARY_PATH=y}", "app /was");
    expect("\"", "");
    expect("${", "");
    expect("'", "");
    expect("${X:-${Y", "");
}

/* Which of them are started in any case, and end however they like. */
static void whose_end_is_passed_over(void **state) {
    (void)state;
    const char *const scripts[][2] = {
        {"./app; echo", "app"},
        {"./app", ""},
        {"./app; exit 0", "app"},
        {"./app; exit $?", ""},
        {"./app || true", "app"},
        {"./app || echo no\n./other", "app"},
        {"./app && echo; echo", "app"},
        {"./app && echo", ""},
        {"./app | cat", "app"},
        {"set -o pipefail; ./app | cat", ""},
        {"./app & echo", "app"},
        {"./app & wait $!", ""},
        {"set -eu\n./app\necho", ""},
        {"set -e; ./app || true", "app"},
        {"./inner.sh; echo", "app"},
        {"bash -e inner.sh; echo", "app"},
        {"if ./app; then echo; fi; echo", ""},
        {"[ -e x ] && ./app\necho", ""},
        {"[ -e x ] && (echo; ./app); echo", ""},
        {"[ -e x ] && { echo; ./app; }; echo", ""},
        {"[ -e x ] &&\n ./app\necho; ./other; echo", "other"},
        {"[ -e x ] && exit\n./app; echo", ""},
        {"cd . || exit 1\n./app; echo", "app"},
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
    char *const commands[][6] = {{"app", NULL},
                                 {"sh", "-c", "./app $0; other", "x", NULL},
                                 {"timeout", "--foreground", "5", "./app", NULL},
                                 {"gone", NULL},
                                 {"env", "LD_LIBRARY_PATH=/a", "./app", NULL}};
    const char *const expected[] = {"app /was", "", "app /was", "", "app /a"};
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
