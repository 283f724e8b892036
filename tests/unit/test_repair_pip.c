/* SPDX-License-Identifier: Apache-2.0 */
/* What the overlay makes of an environment, beside what pip makes of it, and uv where it is there:
 * wheels with the names and lists of real ones, which hold no more than who they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>

#include "support_environment.h"
#include "tools/diagnose/overlay/overlay.h"

#define CU12 "nvidia-cudnn-cu12"
#define CU13 "nvidia-cudnn-cu13"
#define LIB "nvidia/cudnn/lib/libcudnn"
#define WHOLE "install " CU12 "==9.1.0.70"
#define LACKS_ONE WHOLE "; rm " LIB "_graph.so.9"

static const struct step {
    const char *before, *command; /* by pip */
    struct edit edits[2];         /* the same for the overlay */
} steps[] = {
    {WHOLE,
     "install " CU12 "==9.8.0.87",
     {{.kind = EDIT_INSTALL, .name = CU12, .value = "==9.8.0.87"}}},
    {LACKS_ONE,
     "install '" CU12 ">=9,<10'",
     {{.kind = EDIT_INSTALL, .name = CU12, .value = ">=9,<10"}}},
    {LACKS_ONE,
     "again " CU12 "==9.1.0.70",
     {{.kind = EDIT_REINSTALL, .name = CU12, .value = "9.1.0.70"}}},
    {WHOLE "; rm " LIB "_ops.so.9; echo x 9.5.1.17 >" LIB "_ops.so.9",
     "again " CU12 "==9.1.0.70",
     {{.kind = EDIT_REINSTALL, .name = CU12, .value = "9.1.0.70"}}},
    {WHOLE "; install " CU13 "==9.13.0.50",
     "uninstall " CU13,
     {{.kind = EDIT_REMOVE, .name = CU13}}},
    {WHOLE "; install " CU13 "==9.13.0.50",
     "uninstall " CU13 "; again " CU12 "==9.1.0.70",
     {{.kind = EDIT_REMOVE, .name = CU13},
      {.kind = EDIT_REINSTALL, .name = CU12, .value = "9.1.0.70"}}},
    {WHOLE,
     "install " CU13 "==9.13.0.50",
     {{.kind = EDIT_INSTALL, .name = CU13, .value = "==9.13.0.50"}}},
    {WHOLE "; uninstall nvidia-cublas-cu12",
     "install '" CU12 ">=9,<9.5'",
     {{.kind = EDIT_INSTALL, .name = CU12, .value = ">=9,<9.5"}}},
    {WHOLE "; echo x 9.5.1.17 >" LIB "_foreign.so.9",
     "install " CU12 "==9.8.0.87",
     {{.kind = EDIT_INSTALL, .name = CU12, .value = "==9.8.0.87"}}},
    {LACKS_ONE "; rm *cudnn*/RECORD",
     "over " CU12 "==9.1.0.70",
     {{.kind = EDIT_REINSTALL, .name = CU12, .value = "9.1.0.70"}}},
    {LACKS_ONE "; rm *cudnn*/RECORD",
     "rm -r *cudnn*-info; install " CU12 "==9.8.0.87",
     {{.kind = EDIT_INSTALL, .name = CU12, .value = "==9.8.0.87"}}},
    {WHOLE "; rm *cudnn*/RECORD", "uninstall " CU12, {{.kind = EDIT_REMOVE, .name = CU12}}},
};

static char *directory;

static int play_pip(void **state) {
    OWNED char *file = NULL, *command = NULL;
    FILE *to;

    (void)state;
    directory = must_format("%s/pip-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", getpid());
    file = must_format("%s.steps", directory);
    to = fopen(file, "we");
    if (!to)
        return -1;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        fprintf(to, "%zu\t%s\t%s\n", i, steps[i].before, steps[i].command);
    fclose(to);
    command =
        must_format("mkdir '%s' && \"${WC_PYTHON:-python3}\" tests/unit/pip_oracle.py '%s' '%s'",
                    directory, directory, file);
    return system(command);
}

static int forget_pip(void **state) {
    OWNED char *command = must_format("rm -rf '%s' '%s.steps'", directory, directory);

    (void)state;
    free(directory);
    return system(command);
}

/* ---- what there is, in words ---- */

struct listing {
    const struct wc_files *files; /* as the overlay has them */
    struct library_cache *cache;
    char *directory;
    char *line[64];
    size_t n;
};

/* "9.8.0" of a wheel's own words, or of a library that the overlay has made. */
static char *release_of(struct listing *l, const char *path) {
    char text[256] = "", version[WC_VERSION_TEXT], *at;
    struct library *library;
    struct wc_version release = WC_VERSION_NONE;
    struct wc_library about;
    struct elf_file *file;
    size_t n = 0;

    l->files->read(l->files->ctx, path, 0, text, sizeof(text) - 1, &n);
    if (text[0] != '\177') {
        at = strchr(text, ' ');
        assert_non_null(at);
        wc_version_parse_start(at + 1, strlen(at + 1), &release);
    } else {
        library = library_cache_get(l->cache, path, NULL);
        assert_non_null(library);
        about = library->about;
        file = library_cache_elf_file(l->cache, library);
        elf_file_identify(file, &about);
        release = about.identity->version;
    }
    release.build = -1;
    return must_copy(wc_version_format(release, version));
}

static bool add_line(void *arg, const char *name) {
    struct listing *l = arg;
    OWNED char *path = must_format("%s/%s", l->directory, name);
    OWNED char *metadata = must_format("%s/METADATA", path);
    struct wc_file_stat facts;
    const bool is_info = wc_str_ends(name, ".dist-info");

    if (is_info && !l->files->facts(l->files->ctx, metadata, &facts))
        return true;
    if (!is_info && !strstr(name, ".so."))
        return true;
    assert_true(l->n < 64);
    if (is_info) /* which release of what comes along is the index's affair */
        l->line[l->n++] =
            must_format("%.*s", (int)strcspn(name, strstr(name, "cudnn") ? "" : "-"), name);
    else if (strstr(name, "cudnn")) {
        OWNED char *release = release_of(l, path);
        l->line[l->n++] = must_format("%s %s", name, release);
    } else
        l->line[l->n++] = must_copy(name);
    return true;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of an environment. */
static char *list(struct library_cache *cache, const char *site) {
    static const char *const below[] = {"", "/nvidia/cudnn/lib", "/nvidia/cublas/lib",
                                        "/nvidia/cu13/lib"};
    struct listing l = {.files = &cache->disk.files, .cache = cache};
    char *all = must_copy("");

    WC_EACH_ROW(one, below) {
        l.directory = must_format("%s%s", site, *one);
        l.files->list(l.files->ctx, l.directory, add_line, &l);
        free(l.directory);
    }
    qsort(l.line, l.n, sizeof(l.line[0]), by_text);
    for (size_t i = 0; i < l.n; i++) {
        char *more = must_format("%s%s\n", all, l.line[i]);
        free(all);
        free(l.line[i]);
        all = more;
    }
    return all;
}

/* ---- both ---- */

static char *list_after(const char *before, const struct step *step) {
    const struct wc_strings none = {NULL, 0};
    struct sites sites = {.first = NULL};
    struct library_cache cache;
    struct overlay overlay;
    bool good = true;
    char *all;

    library_cache_begin(&cache, "");
    overlay_begin(&overlay, &cache, &sites, &none);
    for (size_t i = 0; good && i < 2 && step->edits[i].name; i++) {
        struct edit edit = step->edits[i];
        edit.environment = before;
        good = overlay_apply(&overlay, &edit);
    }
    all = list(&cache, before);
    overlay_end(&overlay);
    sites_end(&sites);
    library_cache_end(&cache);
    return all;
}

static void compare(size_t number, const char *by) {
    OWNED char *before = must_format("%s/%zu%s/before", directory, number, by);
    OWNED char *after = must_format("%s/%zu%s/after", directory, number, by);
    OWNED char *made = list_after(before, &steps[number]), *expected = NULL;
    struct library_cache cache;

    library_cache_begin(&cache, "");
    expected = list(&cache, after);
    library_cache_end(&cache);
    if (strcmp(made, expected) != 0)
        print_error("%zu%s: %s, then %s\n", number, by, steps[number].before,
                    steps[number].command);
    assert_string_equal(made, expected);
}

static void the_overlay_does_what_pip_does(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        compare(i, "");
}

static void the_overlay_does_what_uv_does(void **state) {
    OWNED char *first = must_format("%s/0.uv/after", directory);

    (void)state;
    if (access(first, F_OK) != 0)
        return;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        compare(i, ".uv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overlay_does_what_pip_does),
        cmocka_unit_test(the_overlay_does_what_uv_does),
    };

    return cmocka_run_group_tests(tests, play_pip, forget_pip);
}
