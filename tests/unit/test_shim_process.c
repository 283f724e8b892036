/* SPDX-License-Identifier: Apache-2.0 */
/* What the log says of its process and computer, beside what libc and /proc print of them. */
#include <elf.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/config.h"
#include "shim/process.h"

/* As it is logged. The texts of lists are kept, the lists themselves are the producer's. */
static struct wc_record logged;

static void keep_list(struct wc_strings *list, const char **room) {
    memcpy(room, list->p, list->n * sizeof(*room));
    list->p = room;
}

static void keep(void *ctx, struct wc_record *r) {
    static const char *arguments[64], *environment[64];
    (void)ctx;
    logged = *r;
    if (r->kind == WC_KIND_process) {
        keep_list(&logged.u.process.arguments, arguments);
        keep_list(&logged.u.process.environment, environment);
    }
}
static const struct wc_sink kept = {keep, NULL};

static struct wc_process_record described(void) {
    struct wc_process p;
    process_describe(&p);
    wc_emit_process(&kept, &p);
    return logged.u.process;
}

static void the_process_is_described(void **state) {
    char directory[4096], executable[4096] = "";
    struct wc_process_record p;
    struct utsname kernel;
    (void)state;
    config.run_pid = 0;
    assert_int_equal(uname(&kernel), 0);
    assert_non_null(getcwd(directory, sizeof(directory)));
    assert_true(readlink("/proc/self/exe", executable, sizeof(executable) - 1) > 0);
    p = described();
    assert_string_equal(p.node, kernel.nodename);
    assert_int_equal(p.parent_pid, getppid());
    assert_string_equal(p.executable, executable);
    assert_string_equal(p.directory, directory);
    assert_string_equal(p.shim_version, WHICHCUDNN_VERSION);
    assert_int_equal(p.run_pid, WC_NULL);
    assert_false(p.eager);
    config.run_pid = getpid();
    p = described();
    assert_int_equal(p.run_pid, getpid());
    assert_true(p.eager);
    config.run_pid = getpid() + 1;
    p = described();
    assert_int_equal(p.run_pid, getpid() + 1);
    assert_false(p.eager);
    config.run_pid = 0;
}

/* Clock ticks since the computer started: between the uptime now and the second before that. */
static void its_start_is_told(void **state) {
    struct wc_process_record p;
    double uptime;
    (void)state;
    FILE *f = fopen("/proc/uptime", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lf", &uptime), 1);
    fclose(f);
    p = described();
    assert_in_range(p.start_ticks, (uint64_t)((uptime - 60) * (double)sysconf(_SC_CLK_TCK)),
                    (uint64_t)((uptime + 1) * (double)sysconf(_SC_CLK_TCK)));
}

static void note_variable(void *list, const char *variable) {
    strcat(strcat(list, variable), " ");
}

static void the_logged_variables_are_listed(void **state) {
    struct wc_process_record p;
    char listed[4096] = "", expected[4096] = "";
    (void)state;
    for (const char *const *variable = config_logged(); *variable; variable++)
        note_variable(expected, *variable);
    assert_non_null(strstr(expected, "LD_LIBRARY_PATH=/there "));
    p = described();
    for (size_t i = 0; i < p.environment.n; i++)
        note_variable(listed, p.environment.p[i]);
    assert_string_equal(listed, expected);
}

/* ---- arguments: this very program under another name ---- */

static void print_arguments(void) {
    struct wc_process_record p;
    config.whole_arguments = getenv("WHOLE") != NULL;
    p = described();
    for (size_t i = 0; i < p.arguments.n; i++)
        printf("%s|", p.arguments.p[i]);
}

/* The program with these arguments tells of them; its own name is the first. */
static void tells(bool whole, const char *expected, char *const *arguments) {
    char told[1024] = "";
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        setenv("PRINT_ARGUMENTS", "1", 1);
        if (whole)
            setenv("WHOLE", "1", 1);
        execv("/proc/self/exe", arguments);
        _exit(99);
    }
    close(ends[1]);
    for (size_t n = 0; n < sizeof(told) - 1;) {
        ssize_t got = read(ends[0], told + n, sizeof(told) - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(told, expected);
}
#define TELLS(whole, expected, ...) tells(whole, expected, (char *[]){__VA_ARGS__, NULL})

static void arguments_of_an_interpreter_go_as_far_as_the_script(void **state) {
    (void)state;
    TELLS(false, "python3|train.py|", "python3", "train.py", "--token", "secret");
    TELLS(false, "/bin/python3.11|train.py|", "/bin/python3.11", "-u", "train.py", "secret");
    TELLS(false, "pypy|-m|package|", "pypy", "-B", "-m", "package", "secret");
    TELLS(false, "python3|-m|-odd|", "python3", "-m", "-odd", "secret");
    TELLS(false, "python3|-c|", "python3", "-c", "print('secret')", "x");
    TELLS(false, "python3|", "python3", "-u");
}

static void those_of_other_programs_are_kept_back(void **state) {
    (void)state;
    TELLS(false, "host|", "host", "secret", "-m", "x");
    TELLS(false, "not-python3|", "not-python3", "secret");
}

static void all_are_told_where_that_is_wanted(void **state) {
    char *many[80];
    char expected[256] = "";
    (void)state;
    TELLS(true, "host|secret|-m||x|", "host", "secret", "-m", "", "x");
    TELLS(true, "python3|-u|train.py|secret|", "python3", "-u", "train.py", "secret");
    for (int i = 0; i < 79; i++)
        many[i] = "a";
    many[79] = NULL;
    for (int i = 0; i < 64; i++) /* the most that is kept */
        strcat(expected, "a|");
    tells(true, expected, many);
}

/* More than is read: what was is told. */
static void a_long_command_line_is_cut(void **state) {
    static char script[9000], expected[1000];
    (void)state;
    memset(script, 's', sizeof(script) - 1);
    TELLS(false, "host|", "host", script);
    memset(script, 0, sizeof(script));
    memset(script, 's', 500);
    snprintf(expected, sizeof(expected), "python3|%.500s|", script);
    TELLS(false, expected, "python3", script, "secret");
}

/* ---- the computer ---- */

static int each_object(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    process_note_object(info);
    return 0;
}

static void os_release(char *pretty) {
    char line[512];
    FILE *f = fopen("/etc/os-release", "r");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "PRETTY_NAME=\"%127[^\"\n]", pretty) == 1)
            break;
    if (f)
        fclose(f);
}

static void the_computer_is_described(void **state) {
    const struct wc_machine_record *m = &logged.u.machine;
    struct utsname kernel;
    char pretty[128] = "";
    int own_minor = -1, told_minor = -1;
    (void)state;
    process_emit_machine(&kept);
    assert_null(m->glibc); /* nobody has printed yet where it lies */
    dl_iterate_phdr(each_object, NULL);
    process_emit_machine(&kept);
    assert_int_equal(uname(&kernel), 0);
    assert_string_equal(m->kernel, kernel.release);
    assert_string_equal(m->architecture, kernel.machine);
    os_release(pretty);
    if (pretty[0])
        assert_string_equal(m->operating_system, pretty);
    /* The newest node: not every release has one. */
    assert_int_equal(sscanf(gnu_get_libc_version(), "2.%d", &own_minor), 1);
    assert_int_equal(sscanf(m->glibc, "2.%d", &told_minor), 1);
    assert_in_range(told_minor, own_minor - 3, own_minor);
    if (access("/proc/driver/nvidia/version", F_OK) != 0)
        assert_null(m->driver);
    if (access("/dev/nvidia0", F_OK) != 0)
        assert_int_equal(m->gpu_devices, 0);
    bool contained = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
                     access("/var/run/secrets/kubernetes.io", F_OK) == 0 ||
                     access("/.singularity.d", F_OK) == 0;
    assert_int_equal(m->container != NULL, contained);
}

/* The program is not the library: its path is known only where the loader says it of the object
 * that has our header. */
static void the_shims_own_path_is_the_loaders_word(void **state) {
    extern const char __ehdr_start;
    struct wc_process_record p;
    struct dl_phdr_info other = {.dlpi_addr = 1, .dlpi_name = "/lib/other.so"},
                        own = {.dlpi_addr = (uintptr_t)&__ehdr_start, .dlpi_name = "/lib/own.so"};
    (void)state;
    process_note_object(&other);
    p = described();
    assert_null(p.shim_path);
    process_note_object(&own);
    p = described();
    assert_string_equal(p.shim_path, "/lib/own.so");
}

int main(void) {
    if (getenv("PRINT_ARGUMENTS")) {
        print_arguments();
        return 0;
    }
    setenv("LD_LIBRARY_PATH", "/there", 1);
    config_load((const char *const *)environ);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_is_described),
        cmocka_unit_test(its_start_is_told),
        cmocka_unit_test(the_logged_variables_are_listed),
        cmocka_unit_test(arguments_of_an_interpreter_go_as_far_as_the_script),
        cmocka_unit_test(those_of_other_programs_are_kept_back),
        cmocka_unit_test(all_are_told_where_that_is_wanted),
        cmocka_unit_test(a_long_command_line_is_cut),
        cmocka_unit_test(the_shims_own_path_is_the_loaders_word),
        cmocka_unit_test(the_computer_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
