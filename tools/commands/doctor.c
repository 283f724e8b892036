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
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/names/version.h"
#include "core/records/process.h"
#include "cudnn_knowledge.inc"
#include "options.h"
#include "tools/commands/child.h"
#include "tools/commands/probe/gpus.h"
#include "tools/observe/elf/elf_prescan.h"
#include "tools/observe/log/log_reader.h"
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
    OPTIONS_END("auto, always, never"),
};

/* ---- what was found out, a line each ---- */

enum check_state { CHECK_OK, CHECK_WARNING, CHECK_ERROR };

static json_t *checks; /* as JSON; NULL: they are printed */
static size_t check_count;
static enum check_state worst; /* of them */

/* fix: NULL where nothing is to be done. */
static void __attribute__((format(printf, 4, 5)))
add(const char *name, enum check_state state, const char *fix, const char *format, ...) {
    static const enum paint paints[] = {PAINT_OK, PAINT_WARNING, PAINT_ERROR};
    static const char *const words[] = {"ok", "warning", "error"};
    va_list args;

    va_start(args, format);
    OWNED char *text = wc_arena_format_list(&must_memory, format, args);
    va_end(args);
    check_count++;
    worst = state > worst ? state : worst;
    if (checks) {
        json_array_append_new(checks,
                              json_pack("{s:s, s:s, s:o, s:s?}", "name", name, "state",
                                        words[state], "text", text_to_json(text), "fix", fix));
        return;
    }
    printf("%s%-7s%s  %-12s  ", paint_begin(options.colour, paints[state]), words[state],
           paint_end(options.colour), name);
    print_format(stdout, "%s\n", text);
    if (fix)
        printf("%23s%s\n", "", fix);
}

/* ---- is it in a child that is started with it? ---- */

struct tried {
    struct wc_arena *memory;
    const char *preload, *log;
    bool awake; /* it wrote a log */
    bool has_libcuda;
    const char *version; /* of the library, as that log says; NULL: it does not */
    const char *words;   /* the loader's, on standard error; NULL: none */
};

static void set_environment(void *arg) {
    const struct tried *t = arg;

    unsetenv("WHICHCUDNN_DISABLE");
    unsetenv("WHICHCUDNN_EXPECT");
    trial_watch(t->preload, t->log);
}

static void try_preload(struct tried *t) {
    char *arguments[] = {"whichcudnn", "doctor", "--child", NULL};
    ENDED_BY(trial_end)
    struct trial trial = {
        .arguments = arguments, .prepare = set_environment, .arg = t, .patience = PATIENCE};
    ENDED_BY(logs_end) struct logs logs = {.file_count = 0};
    OWNED char *trouble = NULL;

    unlink(t->log);
    if (!trial_run(&trial))
        return;
    t->has_libcuda = strstr(trial.output, "libcuda found") != NULL;
    size_t n = strcspn(trial.errors, "\n");
    t->words = n > 0 ? wc_arena_string_n(t->memory, trial.errors, n) : NULL;
    t->awake = logs_read(&logs, t->log, &trouble);
    if (logs.process_count > 0)
        t->version = wc_arena_string(t->memory, logs.processes[0]->stack.process.shim_version);
}

static void check_preload(const char *shim, bool *has_libcuda) {
    ENDED_BY(trial_directory_end) char *directory = trial_directory();
    ENDED_BY(heap_arena_end) struct heap_arena memory = HEAP_ARENA(memory);
    struct tried t = {.memory = &memory.arena}, alone = {.memory = &memory.arena, .preload = shim};

    if (!directory) {
        add("preload", CHECK_WARNING, "set TMPDIR to a directory that can be written",
            "not tried, no directory can be made: %s", strerror(errno));
        return;
    }
    OWNED char *list = preload_list(getenv("LD_PRELOAD"), shim);
    OWNED char *log = must_format("%s/log.jsonl", directory);
    t.preload = list;
    t.log = alone.log = log;
    try_preload(&t);
    *has_libcuda = t.has_libcuda;
    if (!t.awake)
        try_preload(&alone);
    if (t.awake && t.version && strcmp(t.version, WHICHCUDNN_VERSION) != 0)
        add("preload", CHECK_WARNING, "install both from one release",
            "the library is whichcudnn %s, the command " WHICHCUDNN_VERSION, t.version);
    else if (t.awake)
        add("preload", CHECK_OK, NULL, "LD_PRELOAD is honoured: a small child wrote a log");
    else if (alone.awake)
        add("preload", CHECK_ERROR,
            "remove the other libraries from LD_PRELOAD one by one, to find which conflicts",
            "it does not work after the libraries that LD_PRELOAD names already");
    else if (t.words)
        add("preload", CHECK_ERROR, "install the whichcudnn that is built for this machine",
            "a small child had none: %s", t.words);
    else
        add("preload", CHECK_ERROR,
            "is this command itself of glibc, and is its environment handed on?",
            "a small child that was started with it wrote no log");
    if (t.awake && t.words)
        add("preload", CHECK_WARNING, "it would say so in each process", "the loader says: %s",
            t.words);
}

/* ---- what else is preloaded ---- */

static void check_others(const char *ours) {
    size_t before = check_count;
    OWNED char *variable = must_copy(getenv("LD_PRELOAD")),
               *file = disk_text("/etc/ld.so.preload", 4096, NULL);
    const char *const names[] = {"LD_PRELOAD", "/etc/ld.so.preload"};
    char *lists[] = {variable, file}, *one;

    for (int i = 0; i < 2; i++)
        while ((one = strsep(&lists[i], " :\t\n"))) {
            bool same_name = ours && strcmp(wc_base_name(one), wc_base_name(ours)) == 0;
            OWNED char *here = ours ? realpath(one, NULL) : NULL;
            if (*one && same_name && here && strcmp(here, ours) != 0)
                add("others", CHECK_WARNING, "take one of them out: a process would have both",
                    "%s in %s is another copy of %s", one, names[i], ours);
            else if (*one == '/' && !same_name && access(one, R_OK) != 0)
                add("others", CHECK_WARNING,
                    "take it out: the loader complains of it in each process", "%s in %s: %s", one,
                    names[i], strerror(errno));
            else if (*one && !same_name)
                add("others", CHECK_OK, NULL, "%s, in %s", one, names[i]);
        }
    if (check_count == before)
        add("others", CHECK_OK, NULL, "nothing else is preloaded");
}

/* ---- variables, place, system ---- */

static void check_variables(void) {
    static const struct {
        const char *name, *fix; /* behind whose colon the values are */
    } known[] = {{"WHICHCUDNN_STDERR", "it takes one of: finding all off "},
                 {"WHICHCUDNN_CALLS", "it takes one of: on off "},
                 {"WHICHCUDNN_ARGV", "it takes one of: 0 1  "},
                 {"WHICHCUDNN_DISABLE", "it takes one of: 0 1  "}};
    const char *disabled = getenv("WHICHCUDNN_DISABLE"), *version = getenv("WHICHCUDNN_EXPECT");
    size_t before = check_count;
    struct wc_spec spec;

    WC_EACH_ROW(row, known) {
        const char *value = getenv(row->name);
        OWNED char *word = must_format(" %s ", value);
        if (value && !strstr(strchr(row->fix, ':') + 1, word))
            add("variables", CHECK_WARNING, row->fix, "%s=%s is not understood", row->name, value);
    }
    if (version && !(*version && wc_spec_read(version, &spec)))
        add("variables", CHECK_WARNING, "it takes a version: 9.1, '>=9.8,<10', 90800",
            "WHICHCUDNN_EXPECT=%s is not understood", version);
    if (disabled && strcmp(disabled, "1") == 0)
        add("variables", CHECK_ERROR, "unset WHICHCUDNN_DISABLE",
            "WHICHCUDNN_DISABLE=1: the library does nothing");
    if (check_count == before)
        add("variables", CHECK_OK, NULL, "all understood");
}

static void check_place(void) {
    const char *named = getenv("WHICHCUDNN_LOG");
    ENDED_BY(log_place_end) struct log_place place;

    if (named && *named)
        log_place_read(&place, named);
    else
        log_place_of_library(&place);
    if (log_place_is_none(&place))
        add("place", CHECK_WARNING, "unset WHICHCUDNN_LOG",
            "WHICHCUDNN_LOG=/dev/null: no log is written");
    else if (!place.directory)
        add("place", CHECK_OK, NULL, "%s: each process has its own directory", place.value);
    else if (!log_place_is_good(&place))
        add("place", CHECK_ERROR, "make it, or set WHICHCUDNN_LOG to another directory",
            "%s: logs cannot be written here", place.directory);
    else if (has_little_room(place.directory, LITTLE_ROOM))
        add("place", CHECK_WARNING, "make room, or set WHICHCUDNN_LOG to another directory",
            "%s: hardly any room is left", place.directory);
    else
        add("place", CHECK_OK, NULL, "%s can be written",
            place.named ? place.directory : place.value);
}

static void check_machine(bool has_libcuda) {
    struct wc_machine machine = {.r.kernel = NULL};
    const char *release = gnu_get_libc_version();
    const bool old = wc_glibc_minor(release) < OLDEST_GLIBC;
    struct utsname names;
    const struct wc_machine_record *m = &machine.r;
    struct gpus gpus;

    wc_machine_read(&disk_files, &machine);
    if (uname(&names) != 0)
        names.release[0] = '\0';
    add("system", old ? CHECK_ERROR : CHECK_OK,
        old ? "2.17 is the oldest glibc that it knows" : NULL, "glibc %s, Linux %s, %s%s%s",
        release, names.release, m->operating_system ?: names.machine,
        m->container ? ", in a container: " : "", m->container);
    if (!m->driver)
        add("driver", CHECK_WARNING,
            "cuDNN can be loaded here, not used; to see which one is loaded that is enough",
            "no NVIDIA kernel module is loaded");
    else if (!has_libcuda)
        add("driver", CHECK_WARNING,
            "start the container with --gpus all, or install the driver's libraries",
            "kernel module %s, but no libcuda.so.1", m->driver);
    else
        add("driver", CHECK_OK, NULL, "kernel module %s, and libcuda.so.1", m->driver);
    gpus_ask(&gpus);
    for (size_t i = 0; i < gpus.n; i++)
        add("gpu", CHECK_OK, NULL, "%s", gpus.name[i]);
    if (gpus.n == 0)
        add("gpu", CHECK_WARNING, NULL, "NVML names none; /dev has %lld",
            m->gpu_devices > 0 ? (long long)m->gpu_devices : 0LL);
}

/* ---- logs ---- */

/* False: it cannot be read. */
static bool check_log(const char *path) {
    ENDED_BY(logs_end) struct logs logs = {.file_count = 0};
    OWNED char *trouble = NULL;
    bool good = logs_read(&logs, path, &trouble);

    if (!good)
        add("log", CHECK_ERROR, NULL, "%s: %s", path, trouble);
    EACH_POINTER(log, logs.processes, logs.process_count) {
        const struct wc_stack *s = &log->stack;
        const size_t before = check_count;
        WC_EACH(u, s->unobserved)
            add("log", CHECK_WARNING, NULL, "%s: %s: %s", log->path, u->r.what, u->r.why);
        if (s->has_summary && s->summary.dropped > 0)
            add("log", CHECK_WARNING, NULL, "%s: %lld facts or records found no room", log->path,
                (long long)s->summary.dropped);
        if (log->file && log->file->damaged_lines > 0)
            add("log", CHECK_WARNING, NULL, "%s: %zu lines cannot be read, the first is line %zu",
                log->path, log->file->damaged_lines, log->file->damaged.p[0].line);
        if (check_count == before)
            add("log", CHECK_OK, NULL, "%s: no trouble", log->path);
    }
    return good;
}

/* ---- all of it ---- */

static int doctor(int n, char **logs) {
    static const char *const verdicts[] = {"ok", "warnings", "errors"};
    OWNED char *trouble = NULL, *shim = preload_find_shim(&trouble);
    OWNED char *looked = NULL, *newest = n > 0 ? NULL : newest_log(&looked);
    bool is_old = time(NULL) / DAY - WC_TABLES_DAY > TABLES_KEEP, has_libcuda = false;
    bool all_read = true;
    const char *fix = trouble ? "make install, or set WHICHCUDNN_SHIM to its path"
                              : "install the whichcudnn that is built for this machine";

    checks = options.json ? json_array() : NULL;
    trouble = trouble ?: shim_file_trouble(shim);
    add("library", trouble ? CHECK_ERROR : CHECK_OK, trouble ? fix : NULL, "%s", trouble ?: shim);
    if (!trouble)
        check_preload(shim, &has_libcuda);
    check_others(trouble ? NULL : shim);
    check_variables();
    check_place();
    check_machine(has_libcuda);
    add("tables", is_old ? CHECK_WARNING : CHECK_OK,
        is_old ? "a newer whichcudnn knows newer releases of cuDNN and of frameworks" : NULL,
        "know cuDNN up to " WC_NEWEST_CUDNN ", read on " WC_TABLES_DATE);
    for (int i = 0; i < n; i++)
        all_read = check_log(logs[i]) && all_read;
    if (newest)
        check_log(newest);
    if (checks)
        json_print(stdout, json_pack("{s:s, s:o}", "verdict", verdicts[worst], "checks", checks));
    return !all_read ? EXIT_USAGE : worst == CHECK_ERROR ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;
}

/* What try_preload starts: asks for something that is relevant, and reports what it finds of the
 * driver. */
static int be_the_child(const char *unused) {
    (void)unused;
    puts(dlopen("libcuda.so.1", RTLD_LAZY) ? "libcuda found" : "libcuda missing");
    if (!dlopen(ELF_PRESCAN_OF_COMMAND, RTLD_LAZY))
        (void)dlerror();
    return EXIT_NOTHING_WRONG;
}

const struct usage cmd_doctor = {
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
    .run = doctor,
    .child = be_the_child,
};
