/* SPDX-License-Identifier: Apache-2.0 */
/* core/records/process.c: of a command line the program and its script, and nothing private. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/records/process.h"

/* "a|b|": what is kept of the arguments, which stand between '|' as well. */
static void keeps(const char *expected, const char *arguments, const char *executable) {
    char line[1024] = "", kept[1024] = "";
    const char *out[8];
    size_t n = strlen(arguments);
    assert_true(n > 0 && arguments[n - 1] == '|');
    memcpy(line, arguments, n);
    for (size_t i = 0; i < n; i++)
        line[i] = line[i] == '|' ? '\0' : line[i];
    const struct wc_process from = {
        .arguments = line, .arguments_size = n, .r.executable = executable};
    size_t count = wc_arguments_keep(&from, out, 8);
    for (size_t i = 0; i < count; i++)
        strcat(strcat(kept, out[i]), "|");
    assert_string_equal(kept, expected);
}

struct line {
    const char *arguments, *kept;
};

static void each_keeps(const struct line *lines, size_t n) {
    for (size_t i = 0; i < n; i++)
        keeps(lines[i].kept, lines[i].arguments, NULL);
}
#define KEEP(...)                                                                                  \
    const struct line lines_[] = {__VA_ARGS__};                                                    \
    each_keeps(lines_, sizeof(lines_) / sizeof(lines_[0]))

static void python(void **state) {
    (void)state;
    KEEP({"python3|train.py|--token|SECRET|", "python3|train.py|"},
         {"/v/bin/python3.11|-u|train.py|SECRET|", "/v/bin/python3.11|train.py|"},
         {"python3.13t|-IBu|train.py|", "python3.13t|train.py|"},
         {"pypy3|-m|pdb|SECRET|", "pypy3|-m|pdb|"}, {"python|-um|pdb|SECRET|", "python|-m|pdb|"},
         {"python|-umpdb|SECRET|", "python|-m|pdb|"}, {"python|-mpdb|SECRET|", "python|-m|pdb|"},
         {"python|-m|", "python|"}, {"python|-c|SECRET|SECRET|", "python|-c|"},
         {"python|-uc|SECRET|", "python|-c|"}, {"python|-IBc|SECRET|", "python|-c|"},
         {"python|-cSECRET|SECRET|", "python|-c|"}, {"python|-BIucSECRET|SECRET|", "python|-c|"},
         {"python|-W|ignore|train.py|", "python|train.py|"},
         {"python|-Wignore|train.py|", "python|train.py|"},
         {"python|-Wc|train.py|", "python|train.py|"},
         {"python|-uW|ignore::X:y|-X|dev|-X|importtime|train.py|", "python|train.py|"},
         {"python|-X|dev|-c|SECRET|", "python|-c|"}, {"python|-Xdev|-uc|SECRET|", "python|-c|"},
         {"python|-W|-c|SECRET|", "python|"}, {"python|-|SECRET|", "python|"},
         {"python|--|train.py|SECRET|", "python|train.py|"},
         {"python|--check-hash-based-pycs|always|train.py|", "python|train.py|"},
         {"python|--check-hash-based-pycs=always|train.py|", "python|train.py|"},
         {"python|--of-tomorrow|SECRET|", "python|"}, {"python|-uz|SECRET|", "python|"},
         {"python|-u|", "python|"}, {"python|", "python|"}, {"python||SECRET|", "python|"},
         {"pythonic|SECRET|", "pythonic|"});
}

static void shells(void **state) {
    (void)state;
    KEEP({"bash|train.sh|SECRET|", "bash|train.sh|"}, {"/bin/sh|-c|SECRET|SECRET|", "/bin/sh|-c|"},
         {"bash|-lc|SECRET|", "bash|-c|"}, {"bash|-xeuo|pipefail|-c|SECRET|", "bash|-c|"},
         {"bash|-ceuo|pipefail|SECRET|", "bash|-c|"},
         {"bash|-euo|pipefail|train.sh|", "bash|train.sh|"},
         {"bash|-O|extglob|+O|nullglob|train.sh|", "bash|train.sh|"},
         {"bash|+x|+e|train.sh|", "bash|train.sh|"},
         {"bash|-oO|pipefail|extglob|train.sh|", "bash|train.sh|"},
         {"bash|--login|-c|SECRET|", "bash|-c|"},
         {"bash|--rcfile|mine|train.sh|", "bash|train.sh|"},
         {"bash|--norc|--noprofile|-c|SECRET|", "bash|-c|"}, {"bash|-s|SECRET|", "bash|"},
         {"bash|-o|-c|SECRET|", "bash|"}, {"bash-5.2|train.sh|", "bash-5.2|train.sh|"},
         {"-bash|-c|SECRET|", "-bash|"}, {"dash|-|SECRET|", "dash|"},
         {"zsh|-fc|SECRET|", "zsh|-c|"}, {"fish|-Nc|SECRET|", "fish|"});
}

static void perl_and_ruby(void **state) {
    (void)state;
    KEEP({"perl|train.pl|SECRET|", "perl|train.pl|"}, {"perl|-e|SECRET|", "perl|-e|"},
         {"perl|-wE|SECRET|", "perl|-e|"}, {"perl|-lane|SECRET|", "perl|-e|"},
         {"perl|-0777ne|SECRET|", "perl|-e|"}, {"perl|-l012eSECRET|", "perl|-e|"},
         {"perl|-MList::Util=sum|-e|SECRET|", "perl|-e|"},
         {"perl|-MSECRET|-Ilib|-I|more|train.pl|", "perl|train.pl|"},
         {"perl|-F:|-wT|train.pl|", "perl|train.pl|"}, {"perl|-pie|SECRET|", "perl|"},
         {"perl|-i.bak|-pe|SECRET|", "perl|"}, {"perl|-0xFFe|SECRET|", "perl|"},
         {"perl5.36.0|-ne|SECRET|", "perl5.36.0|-e|"},
         {"ruby|-rjson|-I|lib|train.rb|", "ruby|train.rb|"}, {"ruby|-ne|SECRET|", "ruby|-e|"},
         {"ruby|-W0|--encoding|utf-8|train.rb|SECRET|", "ruby|train.rb|"},
         {"ruby3.1|-laneSECRET|", "ruby3.1|-e|"});
}

static void node_julia_and_r(void **state) {
    (void)state;
    KEEP({"node|train.js|SECRET|", "node|train.js|"}, {"node|-e|SECRET|", "node|-e|"},
         {"node|-pe|SECRET|", "node|-e|"}, {"node|--eval|SECRET|", "node|"},
         {"node|--eval=SECRET|SECRET|", "node|"}, {"node|--print|SECRET|", "node|"},
         {"nodejs|--require|x|-r|y|train.js|", "nodejs|train.js|"},
         {"node|--require=x|--max-old-space-size=4096|train.js|", "node|train.js|"},
         {"node|--max-old-space-size|-e|SECRET|", "node|"},
         {"node|--inspect=9229|--no-warnings|train.js|", "node|train.js|"},
         {"julia|train.jl|SECRET|", "julia|train.jl|"}, {"julia|-e|SECRET|", "julia|-e|"},
         {"julia|-O3|--project=@.|-p|4|-t4|train.jl|", "julia|train.jl|"},
         {"julia|-qE|SECRET|", "julia|-e|"},
         {"julia|-LSECRET.jl|--load|more.jl|-e|SECRET|", "julia|-e|"},
         {"Rscript|--vanilla|train.R|SECRET|", "Rscript|train.R|"},
         {"Rscript|-e|SECRET|", "Rscript|-e|"},
         {"/usr/lib/R/bin/exec/R|--no-echo|--no-restore|--file=train.R|--args|SECRET|",
          "/usr/lib/R/bin/exec/R|train.R|"},
         {"R|--no-echo|-e|SECRET|", "R|-e|"}, {"R|-q|-f|train.R|", "R|train.R|"});
}

static void java_and_others(void **state) {
    (void)state;
    KEEP({"java|-Dtoken=SECRET|-Xmx4g|-cp|a.jar:b.jar|org.Train|SECRET|", "java|org.Train|"},
         {"java|-ea:org...|-jar|train.jar|SECRET|", "java|train.jar|"},
         {"java|-javaagent:x.jar=SECRET|-jar|train.jar|", "java|train.jar|"},
         {"java|--module-path|m|--module=train/org.Train|SECRET|", "java|train/org.Train|"},
         {"java|-p|m|-m|train/org.Train|", "java|train/org.Train|"},
         {"java|-of-tomorrow|SECRET|", "java|"}, {"lua5.4|-l|mod|-e|SECRET|", "lua5.4|-e|"},
         {"luajit|train.lua|SECRET|", "luajit|train.lua|"}, {"php|-f|SECRET|", "php|"},
         {"train|SECRET|-m|SECRET|", "train|"}, {"env|python|-c|SECRET|", "env|"});
}

static void what_a_process_calls_itself(void **state) {
    (void)state;
    keeps("/usr/bin/python3.11|", "python -c SECRET||||", "/usr/bin/python3.11");
    keeps("/usr/bin/python3.11|", "/v/bin/python train.py --token SECRET||", "/usr/bin/python3.11");
    keeps("", "worker: SECRET|", NULL);
    keeps("/my v/bin/python|train.py|", "/my v/bin/python|train.py|SECRET|", "/usr/bin/python3.11");
    keeps("./my host|", "./my host|SECRET|", "/x/my host");
}

/* Whatever stands before it: what follows an option for code is never kept. */
static void code_behind_any_options(void **state) {
    static const char letters[] = "BEIOPRSWXbdhimqstuvx?";
    char line[128];
    (void)state;
    for (const char *a = letters; *a; a++)
        for (const char *b = letters; *b; b++)
            if (!strchr("WXm", *a) && !strchr("WXm", *b)) { /* these have values */
                snprintf(line, sizeof(line), "python|-%c%cc|SECRET|SECRET|", *a, *b);
                keeps("python|-c|", line, NULL);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python),
        cmocka_unit_test(shells),
        cmocka_unit_test(perl_and_ruby),
        cmocka_unit_test(node_julia_and_r),
        cmocka_unit_test(java_and_others),
        cmocka_unit_test(what_a_process_calls_itself),
        cmocka_unit_test(code_behind_any_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
