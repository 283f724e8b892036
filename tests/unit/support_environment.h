/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Python environment in a tree of its own, whose root is the test's place: nothing of this
 * computer is found in it. Its wheels' libraries say of themselves what real ones would; and what a
 * process that loaded a host out of it has told.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_ENVIRONMENT_H
#define WHICHCUDNN_TESTS_SUPPORT_ENVIRONMENT_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "core/demand/diagnose.h"
#include "support_place.h"
#include "tools/diagnose/image.h"
#include "tools/diagnose/wheels.h"
#include "tools/observe/log/source.h"

struct environment {
    struct heap_arena memory;
    char *site, *host;
    struct source *log;
    struct wc_findings findings;
};

#define in(e, ...) wc_arena_format(&(e)->memory.arena, __VA_ARGS__)

/* Paths are those inside of the tree. */
static inline void write_bytes(const char *path, const void *bytes, size_t n) {
    OWNED char *outside = must_format("%s%s", place, path);
    OWNED char *command = must_format("mkdir -p \"$(dirname '%s')\"", outside);
    FILE *to;

    assert_int_equal(system(command), 0);
    to = fopen(outside, "we");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, n, to), n);
    assert_int_equal(fclose(to), 0);
}

static inline void write_image(const char *path, const struct image *image) {
    static char bytes[1 << 20];
    int fd = image_make(image);
    ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

    assert_true(n > 0 && (size_t)n < sizeof(bytes));
    close(fd);
    write_bytes(path, bytes, (size_t)n);
}

static inline int64_t size_of(const char *path) {
    OWNED char *outside = must_format("%s%s", place, path);
    struct stat facts;

    return stat(outside, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

/* A library of cuDNN's, of that release. */
static inline void put_library(struct environment *e, const char *path, const char *release) {
    const char *package = strstr(path, "-packages/") ? "nvidia-cudnn-cu12" : "";
    struct image image;

    assert_true(wheel_image(&e->memory.arena, package, path, wc_version_of(release), &image));
    write_image(path, &image);
}

static inline void put_metadata(struct environment *e, const char *name, const char *version,
                                const char *requires, const char *record) {
    char *info = in(e, "%s/%s-%s.dist-info", e->site, name, version), *text;

    for (char *p = info + strlen(e->site); *p && *p != '.'; p++)
        if (*p == '-' && wc_is_alphanumeric(p[1]) && !wc_is_digit(p[1]))
            *p = '_';
    text = in(e, "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s%s\n", name, version,
              requires ? "Requires-Dist: " : "", requires ? requires : "");
    write_bytes(in(e, "%s/METADATA", info), text, strlen(text));
    write_bytes(in(e, "%s/RECORD", info), record, strlen(record));
    write_bytes(in(e, "%s/INSTALLER", info), "pip\n", 4);
}

/* The wheel with all of its libraries but one (NULL: all). */
static inline void put_wheel(struct environment *e, const char *name, const char *release,
                             const char *without) {
    struct wheel_list files = wheel_list(&e->memory.arena, name, wheel_version(release));
    const char *record = "";

    assert_true(files.n > 0);
    for (size_t i = 0; i < files.n; i++) {
        char *path = in(e, "%s/%s", e->site, files.p[i].file);
        put_library(e, path, release);
        record = in(e, "%s%s,,%jd\n", record, files.p[i].file, (intmax_t)size_of(path));
        if (wc_str_same(wc_base_name(path), without))
            assert_int_equal(unlink(in(e, "%s%s", place, path)), 0);
    }
    put_metadata(e, name, release, NULL, record);
}

/* A framework's library that needs cuDNN, found by that DT_RUNPATH, in a package that requires it.
 */
static inline void put_host(struct environment *e, const char *runpath, const char *requires) {
    const char *needed[] = {"libcudnn.so.9", NULL};

    e->host = in(e, "%s/frame/libframe.so", e->site);
    write_image(e->host, &(struct image){.soname = "libframe.so",
                                         .needed = {needed, 1},
                                         .runpath = runpath,
                                         .version = WC_VERSION_NONE});
    put_metadata(e, "frame", "1.0", requires, "frame/libframe.so,,\n");
}

/* Its program has opened e->host, by a request and as an object of that number. */
static inline void observe_host(struct environment *e, const struct wc_sink *to, int64_t number) {
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_request);
    r.u.request.request = number;
    r.u.request.operation = WC_operation_DLOPEN;
    r.u.request.name = e->host;
    r.u.request.caller = "/bin/program";
    to->add(to->ctx, &r);
    wc_record_begin(&r, WC_KIND_object);
    r.u.object.object = r.u.object.request = number;
    r.u.object.role = WC_role_HOST;
    r.u.object.is_host = r.u.object.mapped = true;
    r.u.object.path = r.u.object.real_path = r.u.object.asked_name = e->host;
    r.u.object.asked_how = WC_operation_DLOPEN;
    to->add(to->ctx, &r);
}

/* What its log would hold: who it was, and that it opened the host. */
static inline void observe(struct environment *e, const char *node, const char *variable) {
    struct wc_record r;
    struct utsname here;
    const char *variables[1] = {variable}, *program = "/bin/program";
    OWNED char *copy =
        must_format("mkdir -p %s/bin && cp /proc/%d/exe %s%s", place, getpid(), place, program);
    struct wc_sink to;

    assert_int_equal(system(copy), 0);

    e->log = source_new(SOURCE_LOG, "log");
    e->log->root = must_copy(place);
    to = source_sink(e->log);
    assert_int_equal(uname(&here), 0);
    wc_record_begin(&r, WC_KIND_process);
    r.u.process.node = node ? node : here.nodename;
    r.u.process.executable = program;
    r.u.process.environment = (struct wc_strings){variables, variable != NULL};
    to.add(to.ctx, &r);
    observe_host(e, &to, 1);
}

/* A setup and a teardown of cmocka's. */
static inline int begin_environment(void **state) {
    struct environment *e = must_allocate(sizeof(*e));

    heap_arena_begin(&e->memory);
    *state = e;
    if (enter_place(NULL) != 0)
        return -1;
    e->site = in(e, "/venv/lib/python3.12/site-packages");
    return 0;
}

static inline int end_environment(void **state) {
    struct environment *e = *state;

    if (e->log)
        source_free(e->log);
    heap_arena_end(&e->memory);
    free(e);
    return leave_place(NULL);
}

/* In place of the one that there is. */
static inline struct environment *another(void **state) {
    assert_int_equal(end_environment(state), 0);
    assert_int_equal(begin_environment(state), 0);
    return *state;
}

#endif
