/* SPDX-License-Identifier: Apache-2.0 */
/* whichcudnn scan: what is installed, and what each host would get, before anything runs. */
#include <argz.h>
#include <envz.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/log/redact.h"
#include "tools/observe/scan/scan.h"
#include "tools/report/render.h"
#include "tools/util/terminal.h"

static const char *root, *environment_file, *searched;
static bool whole_computer, verbose, redact;

static const struct option_row rows[] = {
    {"root", " DIR",
     "paths are inside of this image (its loader cache, its\nlinks); the environment is empty, but "
     "for --env",
     .value = &root},
    {"env", " FILE",
     "variables in place of the own ones: NAME=value, a line or\na NUL each, as `env` or "
     "/proc/PID/environ gives them",
     .value = &environment_file},
    {"ld-library-path", " PATHS", "in place of LD_LIBRARY_PATH", .value = &searched},
    {"all", NULL, "the whole machine, except network and virtual disks", .flag = &whole_computer},
    {"verbose", NULL, "nothing is shortened; all that is known", 'v', .flag = &verbose},
    {"json", NULL, "as JSON (docs/scan.schema.json)", .flag = &options.json},
    {"redact", NULL, "users, their home directories and nodes get other names", .flag = &redact},
    OPTION_FAIL_ON(
        "error, warning: 1 where such is found, or something is\nunexplained or cannot be "
        "looked at; otherwise 0"),
    OPTIONS_END("auto (on a terminal, unless NO_COLOR is set), always,\nnever"),
};

/* ---- the environment ---- */

/* Of an image it is not known. With a NUL anywhere the file is /proc/PID/environ, or `env -0`.
 * NULL: the file cannot be read, which is printed; else the caller frees it and *text. */
static char **make_variables(char **text) {
    OWNED_FILE FILE *from = environment_file ? fopen(environment_file, "re") : NULL;
    size_t room = 0;
    const ssize_t read = from ? getdelim(text, &room, EOF, from) : -1;
    size_t n = read > 0 ? (size_t)read + 1 : 0;

    if (environment_file && (!from || ferror(from))) {
        complain("%s: %s", environment_file, strerror(errno));
        return NULL;
    }
    if (read > 0 && !memchr(*text, '\0', (size_t)read))
        for (char *at = *text; (at = strchr(at, '\n'));)
            *at++ = '\0';
    if ((!environment_file && !root && argz_create(environ, text, &n) != 0) ||
        (searched && envz_add(text, &n, "LD_LIBRARY_PATH", searched) != 0))
        must_fail();
    char **list = must_allocate((argz_count(*text, n) + 1) * sizeof(*list));
    argz_extract(*text, n, list);
    return list;
}

/* ---- on the way ---- */

#define BAR_WIDTH 30
static bool bar_shown;

static void show_progress(size_t done, size_t known) {
    static int64_t last;
    int64_t now = clock_now(CLOCK_MONOTONIC);
    int full = known ? (int)(BAR_WIDTH * done / known) : 0;

    if (now - last < CLOCK_SECOND / 10)
        return;
    last = now;
    fprintf(stderr, "\r[%.*s%*s] %zu of %zu directories", full, "##############################",
            BAR_WIDTH - full, "", done, known);
    bar_shown = true;
}

static void end_progress(void) {
    if (bar_shown)
        fputs("\r\x1b[K", stderr);
    bar_shown = false;
}

/* ---- what to scan ---- */

struct scans {
    struct scan **list;
    size_t n;
    char *const *inside; /* the environment of images */
};

/* An image unpacked into a directory: it has a loader's cache, or says what system it is. */
static bool is_image(const char *path) {
    char real[PATH_MAX];

    if (!realpath(path, real) || strcmp(real, "/") == 0)
        return false;
    OWNED_GLOB glob_t marks =
        glob_below(real, "/", "{etc/ld.so.cache,etc/os-release,usr/lib/os-release}", GLOB_BRACE);
    return marks.gl_pathc > 0;
}

static bool add_all(struct scans *all, int n, char **paths, char *const *variables) {
    const char *venv = getenv("VIRTUAL_ENV"), *conda = getenv("CONDA_PREFIX");
    const char *standard = root || whole_computer ? "/"
                           : venv && *venv        ? venv
                           : conda && *conda      ? conda
                                                  : ".";
    struct scan *own = NULL, *s;
    bool good = true;

    for (int i = 0; i < n || (i == 0 && n == 0); i++) {
        const char *path = n > 0 ? paths[i] : standard;
        const bool image = !root && !whole_computer && is_image(path);
        s = image ? NULL : own;
        if (!s) {
            s = must_allocate(sizeof(*s));
            scan_begin(s, image ? path : root, image || !root ? path : root,
                       image ? all->inside : variables);
            s->progress = isatty(STDERR_FILENO) ? show_progress : NULL;
            *MUST_ADD(all->list, all->n) = s;
        }
        own = image ? own : s;
        path = image ? "/" : path;
        OWNED char *trouble = NULL;
        if (!scan_add(s, path, &trouble)) {
            end_progress();
            complain("%s: %s", path, trouble);
            good = false;
        }
    }
    return good;
}

/* ---- all of it ---- */

static enum exit_code print_scans(const struct scans *all, FILE *to) {
    struct layout l = {.to = to, .colour = options.colour, .whole = verbose};
    struct gate gate;
    enum exit_code answer = render_scans(&l, all->list, all->n, options.json, &gate);

    if (options.fail_on == WC_severity_NONE)
        return answer;
    return gate_fails(&gate, options.fail_on) ? EXIT_ERRORS_FOUND : EXIT_NOTHING_WRONG;
}

/* A scan holds more than models of processes: what is printed of it is changed. */
static enum exit_code print_redacted(const struct scans *all) {
    struct redaction *names = redaction_of_nobody();
    struct sink sink;
    enum exit_code answer = print_scans(all, sink_begin(&sink));
    OWNED char *text = sink_end(&sink), *other = NULL;

    redaction_learn_text(names, text);
    for (size_t i = 0; i < all->n; i++) {
        redaction_learn(names, all->list[i]->copies);
        for (size_t k = 0; k < all->list[i]->process_count; k++)
            redaction_learn(names, all->list[i]->processes[k]);
    }
    redaction_learn_own(names);
    if (options.json) {
        json_auto_t *value = json_loads(text, 0, NULL);
        json_print(stdout, redaction_json(names, value));
    } else {
        other = redaction_text(names, text);
        fputs(other, stdout);
    }
    redaction_free(names);
    return answer;
}

static int scan_arguments(int n, char **paths) {
    OWNED char *given = searched ? must_format("LD_LIBRARY_PATH=%s", searched) : NULL;
    OWNED char *text = NULL, **variables = NULL;

    if (whole_computer && (root || n > 0))
        return complain("--all takes neither --root nor a directory; see whichcudnn scan --help");
    if (!(variables = make_variables(&text)))
        return EXIT_USAGE;
    struct scans all = {.inside = environment_file ? variables : (char *[]){given, NULL}};
    const bool good = add_all(&all, n, paths, variables);
    for (size_t i = 0; i < all.n; i++)
        scan_make(all.list[i]);
    end_progress();
    const enum exit_code answer = redact ? print_redacted(&all) : print_scans(&all, stdout);
    for (size_t i = 0; i < all.n; i++) {
        scan_end(all.list[i]);
        free(all.list[i]);
    }
    free(all.list);
    return good ? (int)answer : EXIT_USAGE;
}

const struct usage cmd_scan = {
    .begin = "Usage: whichcudnn scan [option]... [DIR|PROGRAM|LIBRARY]...\n\n"
             "Before anything runs: every copy of cuDNN below DIR, and what every host there\n"
             "would get by the loader's rules, with the findings of a run. DIR: a virtual\n"
             "environment, an unpacked image, any directory. Default: $VIRTUAL_ENV,\n"
             "$CONDA_PREFIX, or here.\n\n",
    .options = rows,
    .end = "Exit status: 0 nothing wrong, 1 errors found, 2 usage or unreadable, 3 nothing\n"
           "of cuDNN there, 4 unexplained.\n",
    .most = -1,
    .run = scan_arguments,
};
