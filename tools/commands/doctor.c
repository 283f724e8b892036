/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn doctor: can the shim do its work here? */
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "core/names/names.h"
#include "core/names/version.h"
#include "core/records/process.h"
#include "cudnn_knowledge.inc"
#include "options.h"
#include "tools/commands/probe/gpus.h"
#include "tools/commands/probe/trial.h"
#include "tools/observe/elf/elf_prescan.h"
#include "tools/observe/log/log_reader.h"
#include "tools/observe/log/newest_log.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/preload.h"
#include "tools/util/disk.h"
#include "tools/util/terminal.h"

#define OLDEST_GLIBC 17        /* 2.17 */
#define LITTLE_ROOM (1L << 20) /* bytes; a log is far smaller, but there may be many */
#define PATIENCE 20            /* seconds for the small child */
#define DAY (24L * 60 * 60)    /* seconds */
#define TABLES_KEEP 365        /* days */

static const struct option_row rows[] = {
    {"json", NULL, "as JSON", .flag = &options.json},
    OPTION_COLOR("auto, always, never"),
    OPTIONS_END,
};

static const struct usage usage = {
    .begin = "Usage: whichcudnn doctor [--json] [--color=WHEN] [LOG...]\n\n"
             "Can libwhichcudnn.so do its work here? One line per check, and what to do:\n\n"
             "  library       is it found, is it for this processor and this C library?\n"
             "  preload       is LD_PRELOAD honoured? A small child is started to see\n"
             "  others        what else is preloaded\n"
             "  variables     do the WHICHCUDNN_ variables hold what they can hold?\n"
             "  place         can logs be written where they would go?\n"
             "  system, driver, gpu\n"
             "  tables        up to which release of cuDNN they know; older than a year?\n"
             "  log           problems of a log (default: your newest one)\n\n",
    .options = rows,
    .end = "Exit status: 0 it can (warnings or not), 1 it cannot, 2 usage, or a LOG cannot\n"
           "be read.\n",
    .most = -1,
};

/* ---- what was found out, a line each ---- */

enum check_state { CHECK_OK, CHECK_WARNING, CHECK_ERROR };

struct check {
    enum check_state state;
    const char *name, *fix; /* constants; fix: NULL where nothing is to be done */
    char *text;
};

struct checks { /* all zero: none yet */
    struct check *p;
    size_t n;
};

static void __attribute__((format(printf, 5, 6)))
add(struct checks *c, const char *name, enum check_state state, const char *fix, const char *format,
    ...) {
    va_list args;

    va_start(args, format);
    *MUST_ADD(c->p, c->n) = (struct check){state, name, fix, must_format_list(format, args)};
    va_end(args);
}

static enum check_state worst_of(const struct checks *c) {
    enum check_state worst = CHECK_OK;

    for (size_t i = 0; i < c->n; i++)
        if (c->p[i].state > worst)
            worst = c->p[i].state;
    return worst;
}

static const char *const words[] = {"ok", "warning", "error"};

static void print_checks(const struct checks *c) {
    static const enum paint paints[] = {PAINT_OK, PAINT_WARNING, PAINT_ERROR};

    for (size_t i = 0; i < c->n; i++) {
        const struct check *k = &c->p[i];
        printf("%s%-7s%s  %-12s  ", paint_begin(options.colour, paints[k->state]), words[k->state],
               paint_end(options.colour), k->name);
        print_format(stdout, "%s\n", k->text);
        if (k->fix)
            printf("%23s%s\n", "", k->fix);
    }
}

static void print_json(const struct checks *c) {
    static const char *const verdicts[] = {"ok", "warnings", "errors"};
    json_t *list = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s?}", "name", c->p[i].name,
                                              "state", words[c->p[i].state], "text",
                                              text_to_json(c->p[i].text), "fix", c->p[i].fix));
    json_print(stdout, json_pack("{s:s, s:o}", "verdict", verdicts[worst_of(c)], "checks", list));
}

/* ---- the library ---- */

/* NULL: no library could be preloaded. The caller frees. */
static char *check_library(struct checks *c) {
    const char *advice = "make install, or set WHICHCUDNN_SHIM to its path";
    char *trouble, *shim = preload_find_shim(&trouble);

    if (!trouble) {
        advice = "install the whichcudnn that is built for this machine";
        trouble = shim_file_trouble(shim);
    }
    if (!trouble) {
        add(c, "library", CHECK_OK, NULL, "%s", shim);
        return shim;
    }
    add(c, "library", CHECK_ERROR, advice, "%s", trouble);
    free(trouble);
    free(shim);
    return NULL;
}

/* ---- is it in a child that is started with it? ---- */

/* The child itself: it asks for something that is relevant, and reports what it finds of the
 * driver.
 */
static int be_the_child(void) {
    void *libcuda = dlopen("libcuda.so.1", RTLD_LAZY);

    printf("libcuda %s\n", libcuda ? "found" : "missing");
    if (!dlopen(ELF_PRESCAN_OF_COMMAND, RTLD_LAZY))
        (void)dlerror();
    return EXIT_NOTHING_WRONG;
}

struct tried {
    const char *preload, *log;
    bool awake; /* it wrote a log */
    bool has_libcuda;
    char *version; /* of the library, as that log says; NULL: it does not */
    char *words;   /* the loader's, on standard error; NULL: none */
};

static void set_environment(void *arg) {
    const struct tried *t = arg;

    unsetenv("WHICHCUDNN_DISABLE");
    unsetenv("WHICHCUDNN_EXPECT");
    trial_watch(t->preload, t->log);
}

static void try_preload(struct tried *t) {
    char *arguments[] = {"whichcudnn", "doctor", "--child", NULL};
    struct trial trial = {
        .arguments = arguments, .prepare = set_environment, .arg = t, .patience = PATIENCE};
    struct logs logs = {.file_count = 0};
    OWNED char *trouble = NULL;
    size_t n;

    unlink(t->log);
    if (!trial_run(&trial))
        return;
    t->has_libcuda = strstr(trial.output, "libcuda found") != NULL;
    n = strcspn(trial.errors, "\n");
    t->words = n > 0 ? must_format("%.*s", (int)n, trial.errors) : NULL;
    trial_end(&trial);
    t->awake = logs_read(&logs, t->log, &trouble);
    if (logs.process_count > 0)
        t->version = must_copy(logs.processes[0]->stack.process.shim_version);
    logs_end(&logs);
}

static void tried_end(struct tried *t) {
    free(t->version);
    free(t->words);
}

static void check_refused(struct checks *c, const struct tried *t, const char *shim) {
    struct tried alone = {.preload = shim, .log = t->log};

    try_preload(&alone);
    if (alone.awake)
        add(c, "preload", CHECK_ERROR,
            "remove the other libraries from LD_PRELOAD one by one, to find which conflicts",
            "it does not work after the libraries that LD_PRELOAD names already");
    else if (t->words)
        add(c, "preload", CHECK_ERROR, "install the whichcudnn that is built for this machine",
            "a small child had none: %s", t->words);
    else
        add(c, "preload", CHECK_ERROR,
            "is this command itself of glibc, and is its environment handed on?",
            "a small child that was started with it wrote no log");
    tried_end(&alone);
}

static void check_preload(struct checks *c, const char *shim, bool *has_libcuda) {
    char *directory = trial_directory();
    OWNED char *list = NULL, *log = NULL;
    struct tried t = {.preload = NULL};

    if (!directory) {
        add(c, "preload", CHECK_WARNING, "set TMPDIR to a directory that can be written",
            "not tried, no directory can be made: %s", strerror(errno));
        return;
    }
    list = preload_list(getenv("LD_PRELOAD"), shim);
    log = must_format("%s/log.jsonl", directory);
    t.preload = list;
    t.log = log;
    try_preload(&t);
    *has_libcuda = t.has_libcuda;
    if (!t.awake)
        check_refused(c, &t, shim);
    else if (t.version && strcmp(t.version, WHICHCUDNN_VERSION) != 0)
        add(c, "preload", CHECK_WARNING, "install both from one release",
            "the library is whichcudnn %s, the command " WHICHCUDNN_VERSION, t.version);
    else
        add(c, "preload", CHECK_OK, NULL, "LD_PRELOAD is honoured: a small child wrote a log");
    if (t.awake && t.words)
        add(c, "preload", CHECK_WARNING, "it would say so in each process", "the loader says: %s",
            t.words);
    tried_end(&t);
    trial_directory_end(directory);
}

/* ---- what else is preloaded ---- */

static void check_preloaded(struct checks *c, const char *one, const char *from, const char *ours) {
    bool same_name = ours && strcmp(wc_base_name(one), wc_base_name(ours)) == 0;
    OWNED char *here = ours ? realpath(one, NULL) : NULL;

    if (same_name && here && strcmp(here, ours) != 0)
        add(c, "others", CHECK_WARNING, "take one of them out: a process would have both",
            "%s in %s is another copy of %s", one, from, ours);
    else if (!same_name && one[0] == '/' && access(one, R_OK) != 0)
        add(c, "others", CHECK_WARNING, "take it out: the loader complains of it in each process",
            "%s in %s: %s", one, from, strerror(errno));
    else if (!same_name)
        add(c, "others", CHECK_OK, NULL, "%s, in %s", one, from);
}

static void check_others(struct checks *c, const char *ours) {
    size_t before = c->n, n;
    OWNED char *variable = must_copy(getenv("LD_PRELOAD")),
               *file = disk_text("/etc/ld.so.preload", 4096, &n);
    const char *const names[] = {"LD_PRELOAD", "/etc/ld.so.preload"};
    char *lists[] = {variable, file}, *one;

    for (int i = 0; i < 2; i++)
        while ((one = strsep(&lists[i], " :\t\n")))
            if (*one)
                check_preloaded(c, one, names[i], ours);
    if (c->n == before)
        add(c, "others", CHECK_OK, NULL, "nothing else is preloaded");
}

/* ---- variables, place, system ---- */

static void check_variables(struct checks *c) {
    static const struct {
        const char *name, *fix; /* behind whose colon the values are */
    } known[] = {{"WHICHCUDNN_STDERR", "it takes one of: finding all off "},
                 {"WHICHCUDNN_CALLS", "it takes one of: on off "},
                 {"WHICHCUDNN_ARGV", "it takes one of: 0 1  "},
                 {"WHICHCUDNN_DISABLE", "it takes one of: 0 1  "}};
    const char *disabled = getenv("WHICHCUDNN_DISABLE"), *version = getenv("WHICHCUDNN_EXPECT");
    size_t before = c->n;
    struct wc_spec spec;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const char *value = getenv(known[i].name);
        OWNED char *word = must_format(" %s ", value);
        if (value && !strstr(strchr(known[i].fix, ':') + 1, word))
            add(c, "variables", CHECK_WARNING, known[i].fix, "%s=%s is not understood",
                known[i].name, value);
    }
    if (version && !(*version && wc_spec_parse(version, strlen(version), &spec)))
        add(c, "variables", CHECK_WARNING, "it takes a version: 9.1, '>=9.8,<10', 90800",
            "WHICHCUDNN_EXPECT=%s is not understood", version);
    if (disabled && strcmp(disabled, "1") == 0)
        add(c, "variables", CHECK_ERROR, "unset WHICHCUDNN_DISABLE",
            "WHICHCUDNN_DISABLE=1: the library does nothing");
    if (c->n == before)
        add(c, "variables", CHECK_OK, NULL, "all understood");
}

static void check_place(struct checks *c) {
    const char *named = getenv("WHICHCUDNN_LOG");
    struct log_place place;
    struct statvfs room;

    if (named && *named)
        log_place_read(&place, named);
    else
        log_place_of_library(&place);
    if (log_place_is_none(&place))
        add(c, "place", CHECK_WARNING, "unset WHICHCUDNN_LOG",
            "WHICHCUDNN_LOG=/dev/null: no log is written");
    else if (!place.directory)
        add(c, "place", CHECK_OK, NULL, "%s: each process has its own directory", place.value);
    else if (!log_place_is_good(&place))
        add(c, "place", CHECK_ERROR, "make it, or set WHICHCUDNN_LOG to another directory",
            "%s: logs cannot be written here", place.directory);
    else if (statvfs(place.directory, &room) == 0 &&
             room.f_bavail < LITTLE_ROOM / (room.f_frsize ? room.f_frsize : 1))
        add(c, "place", CHECK_WARNING, "make room, or set WHICHCUDNN_LOG to another directory",
            "%s: hardly any room is left", place.directory);
    else
        add(c, "place", CHECK_OK, NULL, "%s can be written",
            place.named ? place.directory : place.value);
    log_place_end(&place);
}

static void check_system(struct checks *c, const struct wc_machine_record *machine) {
    const char *release = gnu_get_libc_version();
    struct utsname names;
    bool old = wc_glibc_minor(release) < OLDEST_GLIBC;

    if (uname(&names) != 0)
        names.release[0] = '\0';
    add(c, "system", old ? CHECK_ERROR : CHECK_OK,
        old ? "2.17 is the oldest glibc that it knows" : NULL, "glibc %s, Linux %s, %s%s%s",
        release, names.release,
        machine->operating_system ? machine->operating_system : names.machine,
        machine->container ? ", in a container: " : "",
        machine->container ? machine->container : "");
}

static void check_driver(struct checks *c, const struct wc_machine_record *machine,
                         bool has_libcuda) {
    long long devices = machine->gpu_devices > 0 ? machine->gpu_devices : 0;
    struct gpus gpus;

    if (!machine->driver)
        add(c, "driver", CHECK_WARNING,
            "cuDNN can be loaded here, not used; to see which one is loaded that is enough",
            "no NVIDIA kernel module is loaded");
    else if (!has_libcuda)
        add(c, "driver", CHECK_WARNING,
            "start the container with --gpus all, or install the driver's libraries",
            "kernel module %s, but no libcuda.so.1", machine->driver);
    else
        add(c, "driver", CHECK_OK, NULL, "kernel module %s, and libcuda.so.1", machine->driver);
    gpus_ask(&gpus);
    for (size_t i = 0; i < gpus.n; i++)
        add(c, "gpu", CHECK_OK, NULL, "%s", gpus.name[i]);
    if (gpus.n == 0)
        add(c, "gpu", CHECK_WARNING, NULL, "NVML names none; /dev has %lld", devices);
}

/* ---- logs ---- */

static void check_process(struct checks *c, const struct source *log) {
    const struct wc_stack *s = &log->stack;
    size_t before = c->n;

    for (size_t i = 0; i < s->unobserved.n; i++)
        add(c, "log", CHECK_WARNING, NULL, "%s: %s: %s", log->path, s->unobserved.p[i].r.what,
            s->unobserved.p[i].r.why);
    if (s->has_summary && s->summary.dropped > 0)
        add(c, "log", CHECK_WARNING, NULL, "%s: %lld facts or records found no room", log->path,
            (long long)s->summary.dropped);
    if (log->file && log->file->damaged_lines > 0)
        add(c, "log", CHECK_WARNING, NULL, "%s: %zu lines cannot be read, the first is line %zu",
            log->path, log->file->damaged_lines, log->file->damaged[0].line);
    if (c->n == before)
        add(c, "log", CHECK_OK, NULL, "%s: no trouble", log->path);
}

/* False: it cannot be read. */
static bool check_log(struct checks *c, const char *path) {
    struct logs logs = {.file_count = 0};
    OWNED char *trouble = NULL;
    bool good = logs_read(&logs, path, &trouble);

    if (!good)
        add(c, "log", CHECK_ERROR, NULL, "%s: %s", path, trouble);
    for (size_t i = 0; i < logs.process_count; i++)
        check_process(c, logs.processes[i]);
    logs_end(&logs);
    return good;
}

/* ---- all of it ---- */

static void check_computer(struct checks *c) {
    struct wc_machine machine = {.kernel = NULL};
    OWNED char *shim = check_library(c);
    bool has_libcuda = false, is_old = time(NULL) / DAY - WC_TABLES_DAY > TABLES_KEEP;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_machine);
    wc_machine_read(&disk_files, &machine, &r.u.machine);
    if (shim)
        check_preload(c, shim, &has_libcuda);
    check_others(c, shim);
    check_variables(c);
    check_place(c);
    check_system(c, &r.u.machine);
    check_driver(c, &r.u.machine, has_libcuda);
    add(c, "tables", is_old ? CHECK_WARNING : CHECK_OK,
        is_old ? "a newer whichcudnn knows newer releases of cuDNN and of frameworks" : NULL,
        "know cuDNN up to " WC_NEWEST_CUDNN ", read on " WC_TABLES_DATE);
}

static int doctor(int n, char **logs) {
    struct checks checks = {.n = 0};
    OWNED char *looked = NULL, *newest = n > 0 ? NULL : newest_log(&looked);
    bool all_read = true;
    int answer;

    check_computer(&checks);
    for (int i = 0; i < n; i++)
        all_read = check_log(&checks, logs[i]) && all_read;
    if (newest)
        check_log(&checks, newest);
    answer = worst_of(&checks) == CHECK_ERROR ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;
    (options.json ? print_json : print_checks)(&checks);
    for (size_t i = 0; i < checks.n; i++)
        free(checks.p[i].text);
    free(checks.p);
    return all_read ? answer : EXIT_USAGE;
}

int cmd_doctor(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--child") == 0) /* see try_preload */
        return be_the_child();
    return options_run(argc, argv, &usage, doctor);
}
