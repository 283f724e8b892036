/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn doctor: can the shim do its work here? */
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "checks.h"
#include "command.h"
#include "core/model/names.h"
#include "core/records/process.h"
#include "core/version/version.h"
#include "options.h"
#include "tools/elf/elf_file.h"
#include "tools/log/log_reader.h"
#include "tools/log/newest_log.h"
#include "tools/log/record_json.h"
#include "tools/probe/gpus.h"
#include "tools/probe/trial.h"
#include "tools/run/preload.h"

#ifdef __aarch64__
#define OWN_MACHINE EM_AARCH64
#define OWN_NAME "aarch64"
#else
#define OWN_MACHINE EM_X86_64
#define OWN_NAME "x86-64"
#endif
#define OLDEST_GLIBC 17        /* 2.17 */
#define LITTLE_ROOM (1L << 20) /* bytes; a log is far smaller, but there may be many */
#define PATIENCE 20            /* seconds for the small child */

static const struct option_row rows[] = {
    {"json", NULL, "as JSON", .flag = &options.json},
    {"color", "=WHEN", "auto, always, never", .value = &options.when},
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
             "  log           what a log says of its own trouble; without LOG your newest one\n\n",
    .options = rows,
    .end = "Exit status: 0 it can (warnings or not), 1 it cannot, 2 usage, or a LOG cannot\n"
           "be read.\n",
    .most = -1,
};

/* ---- the library ---- */

static bool check_architecture(struct checks *c, const char *shim) {
    struct elf_file *file;
    struct disk disk;
    char *text = NULL;

    disk_begin(&disk, NULL);
    file = elf_file_open(&disk, shim, true);
    if (!file)
        text = must_format("%s cannot be read: %s", shim, strerror(errno));
    else if (file->error != WC_ELF_OK)
        text = must_format("%s is no library of 64 bits, or is cut off", shim);
    else if (file->image.machine != OWN_MACHINE)
        text = must_format("%s is for another processor than this one, " OWN_NAME, shim);
    elf_file_close(file);
    disk_end(&disk);
    if (text)
        checks_add(c, "library", CHECK_ERROR, text,
                   must_copy("install the whichcudnn that is built for this computer"));
    return !text;
}

/* NULL: there is none that could be preloaded. The caller frees. */
static char *check_library(struct checks *c) {
    char *trouble, *shim = preload_search_shim(&trouble);

    if (trouble) {
        checks_add(c, "library", CHECK_ERROR, trouble,
                   must_copy("make install, or set WHICHCUDNN_SHIM to its path"));
        return NULL;
    }
    if (check_architecture(c, shim)) {
        checks_add(c, "library", CHECK_OK, must_copy(shim), NULL);
        return shim;
    }
    free(shim);
    return NULL;
}

/* ---- is it in a child that is started with it? ---- */

/* The child itself: it asks for something that is relevant, and tells what it finds of the driver.
 */
static int be_the_child(void) {
    void *libcuda = dlopen("libcuda.so.1", RTLD_LAZY);

    printf("libcuda %s\n", libcuda ? "found" : "missing");
    if (!dlopen("libcudnn.so.of-doctor", RTLD_LAZY))
        (void)dlerror();
    return EXIT_NOTHING_WRONG;
}

struct small_child {
    const char *preload, *log;
};

static void set_environment(void *arg) {
    const struct small_child *s = arg;

    unsetenv("WHICHCUDNN_DISABLE");
    unsetenv("WHICHCUDNN_EXPECT");
    trial_watch(s->preload, s->log);
}

struct tried {
    bool awake; /* it wrote a log */
    bool has_libcuda;
    char *version; /* of the library, as that log says; NULL: it does not */
    char *words;   /* the loader's, on standard error */
};

static void read_trial_log(struct tried *t, const char *path) {
    struct logs logs = {.file_count = 0};
    char *trouble = NULL;

    t->awake = logs_read(&logs, path, &trouble);
    for (size_t i = 0; i < logs.process_count; i++)
        if (!t->version && logs.processes[i]->stack.process.shim_version)
            t->version = must_copy(logs.processes[i]->stack.process.shim_version);
    free(trouble);
    logs_end(&logs);
}

static void try_preload(struct tried *t, const char *preload, char *directory) {
    char *arguments[] = {"whichcudnn", "doctor", "--child", NULL};
    char *log = must_format("%s/log.jsonl", directory);
    struct small_child child = {preload, log};
    struct trial trial = {
        .arguments = arguments, .prepare = set_environment, .arg = &child, .patience = PATIENCE};

    memset(t, 0, sizeof(*t));
    unlink(log);
    if (trial_run(&trial)) {
        t->has_libcuda = strstr(trial.output, "libcuda found") != NULL;
        t->words = must_copy(trial.errors);
        t->words[strcspn(t->words, "\n")] = '\0';
        read_trial_log(t, log);
        trial_end(&trial);
    }
    free(log);
}

static void tried_end(struct tried *t) {
    free(t->version);
    free(t->words);
}

static void emit_refused(struct checks *c, const struct tried *t, const char *shim,
                         char *directory) {
    struct tried alone;

    try_preload(&alone, shim, directory);
    if (alone.awake)
        checks_add(c, "preload", CHECK_ERROR,
                   must_copy("it is not awake behind what LD_PRELOAD holds already"),
                   must_copy("take the others out of LD_PRELOAD, one by one, to see which it is"));
    else if (t->words && *t->words)
        checks_add(c, "preload", CHECK_ERROR, must_format("a small child had none: %s", t->words),
                   must_copy("install the whichcudnn that is built for this computer"));
    else
        checks_add(c, "preload", CHECK_ERROR,
                   must_copy("a small child that was started with it wrote no log"),
                   must_copy("is this command itself of glibc, and is its environment handed on?"));
    tried_end(&alone);
}

static void report_tried(struct checks *c, const struct tried *t) {
    if (t->version && strcmp(t->version, WHICHCUDNN_VERSION) != 0)
        checks_add(c, "preload", CHECK_WARNING,
                   must_format("the library is whichcudnn %s, the command %s", t->version,
                               WHICHCUDNN_VERSION),
                   must_copy("install both from one release"));
    else
        checks_add(c, "preload", CHECK_OK,
                   must_copy("LD_PRELOAD is honoured: a small child wrote a log"), NULL);
    if (t->words && *t->words)
        checks_add(c, "preload", CHECK_WARNING, must_format("the loader says: %s", t->words),
                   must_copy("it would say so in each process"));
}

static void check_preload(struct checks *c, const char *shim, bool *has_libcuda) {
    char *directory = trial_directory(), *list;
    struct tried t;

    if (!directory) {
        checks_add(c, "preload", CHECK_WARNING,
                   must_format("not tried, no directory can be made: %s", strerror(errno)),
                   must_copy("set TMPDIR to a directory that can be written"));
        return;
    }
    list = preload_list(getenv("LD_PRELOAD"), shim);
    try_preload(&t, list, directory);
    *has_libcuda = t.has_libcuda;
    if (t.awake)
        report_tried(c, &t);
    else
        emit_refused(c, &t, shim, directory);
    tried_end(&t);
    free(list);
    trial_directory_end(directory);
}

/* ---- what else is preloaded ---- */

static void check_preloaded(struct checks *c, const char *one, const char *from, const char *ours) {
    bool same_name = ours && strcmp(wc_base_name(one), wc_base_name(ours)) == 0;
    char *here = ours ? realpath(one, NULL) : NULL;

    if (same_name && here && strcmp(here, ours) != 0)
        checks_add(c, "others", CHECK_WARNING,
                   must_format("%s in %s is another copy of %s", one, from, ours),
                   must_copy("take one of them out: a process would have both"));
    else if (!same_name && one[0] == '/' && access(one, R_OK) != 0)
        checks_add(c, "others", CHECK_WARNING,
                   must_format("%s in %s: %s", one, from, strerror(errno)),
                   must_copy("take it out: the loader complains of it in each process"));
    else if (!same_name)
        checks_add(c, "others", CHECK_OK, must_format("%s, in %s", one, from), NULL);
    free(here);
}

static void check_list(struct checks *c, char *list, const char *from, const char *ours) {
    char *save, *one;

    for (char *at = list; (one = strtok_r(at, " :\t\n", &save)); at = NULL)
        check_preloaded(c, one, from, ours);
}

static void check_others(struct checks *c, const char *ours) {
    const char *value = getenv("LD_PRELOAD");
    char *list = must_copy(value ? value : ""), text[4096];
    FILE *system = fopen("/etc/ld.so.preload", "re");
    size_t n = system ? fread(text, 1, sizeof(text) - 1, system) : 0, before = c->n;

    if (system)
        fclose(system);
    text[n] = '\0';
    check_list(c, list, "LD_PRELOAD", ours);
    check_list(c, text, "/etc/ld.so.preload", ours);
    if (c->n == before)
        checks_add(c, "others", CHECK_OK, must_copy("nothing else is preloaded"), NULL);
    free(list);
}

/* ---- variables, place, system ---- */

struct variable {
    const char *name, *values; /* those that it can hold, a space around each */
};

static bool is_understood(const struct variable *v, const char *value) {
    struct wc_spec spec;
    char *word;
    bool known;

    if (!v->values)
        return *value && wc_spec_parse(value, strlen(value), &spec);
    word = must_format(" %s ", value);
    known = strstr(v->values, word) != NULL;
    free(word);
    return known;
}

static void check_variables(struct checks *c) {
    static const struct variable known[] = {{"WHICHCUDNN_STDERR", " finding all off "},
                                            {"WHICHCUDNN_CALLS", " on off "},
                                            {"WHICHCUDNN_ARGV", " 0 1  "},
                                            {"WHICHCUDNN_DISABLE", " 0 1  "},
                                            {"WHICHCUDNN_EXPECT", NULL}};
    const char *disabled = getenv("WHICHCUDNN_DISABLE");
    size_t before = c->n;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const char *value = getenv(known[i].name);
        if (value && !is_understood(&known[i], value))
            checks_add(c, "variables", CHECK_WARNING,
                       must_format("%s=%s is not understood", known[i].name, value),
                       known[i].values ? must_format("it takes one of:%s", known[i].values)
                                       : must_copy("it takes a version: 9.1, '>=9.8,<10', 90800"));
    }
    if (disabled && strcmp(disabled, "1") == 0)
        checks_add(c, "variables", CHECK_ERROR,
                   must_copy("WHICHCUDNN_DISABLE=1: the library does nothing"),
                   must_copy("unset WHICHCUDNN_DISABLE"));
    if (c->n == before)
        checks_add(c, "variables", CHECK_OK, must_copy("all understood"), NULL);
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
        checks_add(c, "place", CHECK_WARNING,
                   must_copy("WHICHCUDNN_LOG=/dev/null: no log is written"),
                   must_copy("unset WHICHCUDNN_LOG"));
    else if (!place.directory)
        checks_add(c, "place", CHECK_OK,
                   must_format("%s: each process has its own directory", place.value), NULL);
    else if (!log_place_is_good(&place))
        checks_add(c, "place", CHECK_ERROR,
                   must_format("%s: logs cannot be written here", place.directory),
                   must_copy("make it, or set WHICHCUDNN_LOG to another directory"));
    else if (statvfs(place.directory, &room) == 0 &&
             room.f_bavail < LITTLE_ROOM / (room.f_frsize ? room.f_frsize : 1))
        checks_add(c, "place", CHECK_WARNING,
                   must_format("%s: hardly any room is left", place.directory),
                   must_copy("make room, or set WHICHCUDNN_LOG to another directory"));
    else
        checks_add(c, "place", CHECK_OK,
                   must_format("%s can be written", place.named ? place.directory : place.value),
                   NULL);
    log_place_end(&place);
}

static void check_system(struct checks *c, const struct wc_machine_record *machine) {
    const char *release = gnu_get_libc_version();
    struct utsname names;
    bool old = wc_glibc_minor(release) < OLDEST_GLIBC;

    if (uname(&names) != 0)
        names.release[0] = '\0';
    checks_add(c, "system", old ? CHECK_ERROR : CHECK_OK,
               must_format("glibc %s, Linux %s, %s%s%s", release, names.release,
                           machine->operating_system ? machine->operating_system : OWN_NAME,
                           machine->container ? ", in a container: " : "",
                           machine->container ? machine->container : ""),
               old ? must_copy("2.17 is the oldest glibc that it knows") : NULL);
    if (access("/lib/ld-musl-x86_64.so.1", F_OK) == 0 ||
        access("/lib/ld-musl-aarch64.so.1", F_OK) == 0)
        checks_add(c, "system", CHECK_OK,
                   must_copy("musl is here, too: nothing is seen in its programs"), NULL);
}

static void check_driver(struct checks *c, const struct wc_machine_record *machine,
                         bool has_libcuda) {
    static const char no_use[] = "cuDNN can be loaded here, not used; to see which one is loaded "
                                 "that is enough";
    struct gpus gpus;

    if (!machine->driver)
        checks_add(c, "driver", CHECK_WARNING, must_copy("no NVIDIA kernel module is loaded"),
                   must_copy(no_use));
    else if (!has_libcuda)
        checks_add(c, "driver", CHECK_WARNING,
                   must_format("kernel module %s, but no libcuda.so.1", machine->driver),
                   must_copy("start the container with --gpus all, or install the driver's "
                             "libraries"));
    else
        checks_add(c, "driver", CHECK_OK,
                   must_format("kernel module %s, and libcuda.so.1", machine->driver), NULL);
    gpus_ask(&gpus);
    for (size_t i = 0; i < gpus.n; i++)
        checks_add(c, "gpu", CHECK_OK, must_copy(gpus.name[i]), NULL);
    if (gpus.n == 0)
        checks_add(c, "gpu", CHECK_WARNING,
                   must_format("NVML names none; /dev has %lld",
                               (long long)(machine->gpu_devices > 0 ? machine->gpu_devices : 0)),
                   NULL);
}

/* ---- logs ---- */

static void check_process(struct checks *c, const struct source *log) {
    const struct wc_stack *s = &log->stack;
    size_t before = c->n;

    for (size_t i = 0; i < s->unobserved.n; i++)
        checks_add(c, "log", CHECK_WARNING,
                   must_format("%s: %s: %s", log->path, s->unobserved.p[i].r.what,
                               s->unobserved.p[i].r.why),
                   NULL);
    if (s->has_summary && s->summary.dropped > 0)
        checks_add(c, "log", CHECK_WARNING,
                   must_format("%s: %lld facts or records found no room", log->path,
                               (long long)s->summary.dropped),
                   NULL);
    if (log->file && log->file->damaged_lines > 0)
        checks_add(c, "log", CHECK_WARNING,
                   must_format("%s: %zu lines cannot be read, the first is line %zu", log->path,
                               log->file->damaged_lines, log->file->damaged[0].line),
                   NULL);
    if (c->n == before)
        checks_add(c, "log", CHECK_OK, must_format("%s: no trouble", log->path), NULL);
}

static bool check_log(struct checks *c, const char *path) {
    struct logs logs = {.file_count = 0};
    char *trouble = NULL;
    bool good = logs_read(&logs, path, &trouble);

    if (!good)
        checks_add(c, "log", CHECK_ERROR, must_format("%s: %s", path, trouble), NULL);
    for (size_t i = 0; i < logs.process_count; i++)
        check_process(c, logs.processes[i]);
    free(trouble);
    logs_end(&logs);
    return good;
}

static bool check_logs(struct checks *c, int n, char **paths) {
    char *looked = NULL, *newest;
    bool good = true;

    for (int i = 0; i < n; i++)
        good = check_log(c, paths[i]) && good;
    if (n > 0)
        return good;
    newest = newest_log(&looked);
    if (newest)
        check_log(c, newest);
    free(newest);
    free(looked);
    return true;
}

/* ---- all of it ---- */

static bool check_all(struct checks *c, int n, char **logs) {
    struct wc_machine machine = {.kernel = NULL};
    struct wc_record r;
    bool has_libcuda = false;
    char *shim = check_library(c);

    wc_record_begin(&r, WC_KIND_machine);
    wc_machine_read(&disk_files, &machine, &r.u.machine);
    if (shim)
        check_preload(c, shim, &has_libcuda);
    check_others(c, shim);
    check_variables(c);
    check_place(c);
    check_system(c, &r.u.machine);
    check_driver(c, &r.u.machine, has_libcuda);
    free(shim);
    return check_logs(c, n, logs);
}

static int doctor(int n, char **logs) {
    struct checks checks = {.n = 0};
    bool all_read = check_all(&checks, n, logs);
    int answer = checks_worst(&checks) == CHECK_ERROR ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;

    if (options.json)
        json_print(stdout, checks_json(&checks));
    else
        checks_print(&checks, options.colour);
    checks_end(&checks);
    return all_read ? answer : EXIT_USAGE;
}

int cmd_doctor(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--child") == 0) /* see try_preload */
        return be_the_child();
    return options_run(argc, argv, &usage, doctor);
}
