/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of what is read for a search and for metadata. (Its order is held by oracle/.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "core/base/reading.h"
#include "core/search/replay.h"
#include "support_elf.h"

static uint64_t bytes_read;

static bool facts_of_nothing(void *ctx, const char *path, struct wc_file_stat *out) {
    (void)ctx, (void)path, (void)out;
    return false;
}

static bool read_nothing(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                         size_t *n) {
    (void)ctx, (void)path, (void)offset, (void)to, (void)cap, (void)n;
    return false;
}

static bool read_without_end(void *ctx, const char *path, uint64_t offset, void *to, size_t cap,
                             size_t *n) {
    (void)ctx, (void)path, (void)offset;
    memset(to, 'x', cap);
    bytes_read += *n = cap;
    return true;
}

static const struct wc_files files = {.read = read_without_end, .facts = facts_of_nothing};
static const struct wc_search_system no_system;

static bool count_directory(void *count, const struct wc_search_candidate *c) {
    *(unsigned *)count += c->directory != NULL;
    return true;
}

/* Whoever sets DT_RUNPATH or the variable may write as much as he likes; the list ends here where
 * nobody may read. */
static void a_list_is_not_read_behind_its_bound(void **state) {
    enum { DIRECTORIES = WC_SEARCH_LIST + 1, ELEMENT = 6, PAGE = 4096, PAGES = 2 };
    static char scratch[WC_SEARCH_SCRATCH];
    char *memory =
        mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *list = memory + PAGES * PAGE - DIRECTORIES * ELEMENT;
    struct wc_search_context library_cache = {.files = &files, .system = &no_system};
    struct wc_search_object caller = {.path = "/caller", .runpath = list};
    unsigned count = 0;
    (void)state;
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + PAGES * PAGE, PAGE, PROT_NONE), 0);
    for (unsigned i = 0; i < DIRECTORIES; i++) {
        const char digits[] = {'0' + i / 100, '0' + i / 10 % 10, '0' + i % 10};
        memcpy(list + i * ELEMENT, "/d", 2);
        memcpy(list + i * ELEMENT + 2, digits, 3);
        list[i * ELEMENT + 5] = ':';
    }
    assert_false(wc_search(&library_cache, &caller, "name", scratch, sizeof scratch,
                           count_directory, &count));
    assert_int_equal(count, WC_SEARCH_LIST);
    munmap(memory, (PAGES + 1) * PAGE);
}

/* The loader ignores an empty variable or DT_RUNPATH. An empty element is the working directory. */
static void an_empty_list_has_no_element(void **state) {
    static char scratch[WC_SEARCH_SCRATCH];
    static const char *const lists[] = {"", "/a", "/a:"};
    const struct wc_search_object caller = {.path = "/caller", .runpath = ""};
    struct wc_search_context context = {.files = &files, .system = &no_system};
    (void)state;
    for (unsigned elements = 0; elements < 3; elements++) {
        unsigned count = 0;
        context.library_path = lists[elements];
        assert_false(
            wc_search(&context, &caller, "name", scratch, sizeof scratch, count_directory, &count));
        assert_int_equal(count, elements);
    }
}

static bool take_piece(void *ctx, const char *piece) {
    (void)ctx, (void)piece;
    return true;
}

static void a_file_without_end_is_read_to_a_bound(void **state) {
    static char scratch[64 << 10];
    const uint64_t bound = WC_READING_MOST;
    struct wc_reading r;
    (void)state;
    wc_reading_begin(&r, &files, scratch, sizeof scratch);
    bytes_read = 0;
    assert_true(wc_reading_find(&r, "endless", 0, "Name: ", true) == WC_NOWHERE);
    assert_in_range(bytes_read, bound, bound + bound / 16);
    bytes_read = 0;
    assert_true(wc_reading_each(&r, "endless", "\n", take_piece, NULL));
    assert_in_range(bytes_read, bound, bound + bound / 16);
}

#ifdef __x86_64__
#define TLS_BIT ((uint64_t)1 << 63)
#define HASWELL_BIT ((uint64_t)1 << 50)
#define XEON_PHI_BIT ((uint64_t)1 << 51)

/* What the oracle cannot ask a loader here: other releases of glibc, processors that qemu-user has
 * not. By glibc's elf/dl-hwcaps.c, elf/dl-cache.c and sysdeps/x86/cpu-features.c. */
static void subdirectories_follow_from_processor_and_release(void **state) {
    static const struct {
        unsigned minor;
        const char *at_platform;
        struct wc_search_processor processor;
        const char *subdirectories;
        uint64_t in_cache;
    } rows[] = {
        {25, "x86_64", {3, "haswell", false}, "tls/x86_64/ tls/ x86_64/ ", TLS_BIT},
        {28,
         "x86_64",
         {3, NULL, false},
         "tls/x86_64/x86_64/ tls/x86_64/ tls/x86_64/ tls/ x86_64/x86_64/ x86_64/ x86_64/ ",
         TLS_BIT | 2},
        {28, NULL, {3, NULL, false}, "tls/x86_64/ tls/ x86_64/ ", TLS_BIT | 2},
        {31,
         "x86_64",
         {3, "haswell", false},
         "tls/haswell/x86_64/ tls/haswell/ tls/x86_64/ tls/ haswell/x86_64/ haswell/ x86_64/ ",
         TLS_BIT | HASWELL_BIT | 2},
        {31,
         "x86_64",
         {3, "xeon_phi", false},
         "tls/xeon_phi/x86_64/ tls/xeon_phi/ tls/x86_64/ tls/ xeon_phi/x86_64/ xeon_phi/ x86_64/ ",
         TLS_BIT | XEON_PHI_BIT | 2},
        {32,
         "x86_64",
         {4, "haswell", true},
         "tls/haswell/avx512_1/x86_64/ tls/haswell/avx512_1/ tls/haswell/x86_64/ tls/haswell/ "
         "tls/avx512_1/x86_64/ tls/avx512_1/ tls/x86_64/ tls/ "
         "haswell/avx512_1/x86_64/ haswell/avx512_1/ haswell/x86_64/ haswell/ "
         "avx512_1/x86_64/ avx512_1/ x86_64/ ",
         TLS_BIT | HASWELL_BIT | 6},
        {36,
         "x86_64",
         {4, NULL, false},
         "glibc-hwcaps/x86-64-v4/ glibc-hwcaps/x86-64-v3/ glibc-hwcaps/x86-64-v2/ "
         "tls/x86_64/x86_64/ tls/x86_64/ tls/x86_64/ tls/ x86_64/x86_64/ x86_64/ x86_64/ ",
         TLS_BIT | 2},
        {39, "x86_64", {2, NULL, false}, "glibc-hwcaps/x86-64-v2/ ", TLS_BIT | 2},
        {40, "x86_64", {1, NULL, false}, "", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wc_search_system system;
        char list[1024] = "";
        wc_search_system_of(&system, &rows[i].processor, rows[i].minor, rows[i].at_platform, 0,
                            NULL);
        for (const char **s = system.subdirectories; *s; s++)
            strcat(strcat(list, *s), " ");
        assert_string_equal(list, rows[i].subdirectories);
        assert_int_equal(system.cache_hwcap, rows[i].in_cache);
    }
}
#endif

/* The loader's own directories stand one behind the other; other texts begin and end alike. */
static void directories_are_printable(void **state) {
    static struct elf_maker made;
    static const char texts[] = "\0/li\x01"
                                "b/\0/usr/li\x01"
                                "b/\0\0/lib64/\0/usr/lib64/\0";
    const struct wc_search_processor processor = {1, NULL, false};
    struct wc_search_system system;
    struct wc_elf_image e;
    (void)state;
    elf_begin(&made);
    elf_put(&made, texts, sizeof texts, 1);
    elf_symbol_table(&made);
    elf_end(&made, 0, 0);
    assert_int_equal(wc_elf_from_pieces(&e, made.bytes, made.n, NULL, NULL), WC_ELF_OK);
    wc_search_system_of(&system, &processor, 40, NULL, 0, &e);
    assert_string_equal(system.defaults[0], "/lib64/");
    assert_string_equal(system.defaults[1], "/usr/lib64/");
    assert_null(system.defaults[2]);
}

static bool note_default(void *list, const struct wc_search_candidate *c) {
    char element[64];
    snprintf(element, sizeof element, "%d %u %s, ", c->rule == WC_search_rule_DEFAULT, c->index,
             c->element ? c->element : "-");
    strcat(list, element);
    return true;
}

static void each_directory_of_the_loader_has_its_number(void **state) {
    static const struct wc_search_system system = {
        .defaults = {"/lib64/", "/usr/lib64/", "/lib/", NULL}};
    static unsigned char scratch[WC_SEARCH_SCRATCH];
    const struct wc_files none = {.read = read_nothing, .facts = facts_of_nothing};
    const struct wc_search_context context = {.files = &none, .system = &system};
    char list[256] = "";
    (void)state;
    assert_false(
        wc_search(&context, NULL, "libcudnn.so.9", scratch, sizeof scratch, note_default, list));
    assert_string_equal(list, "1 0 /lib64/, 1 1 /usr/lib64/, 1 2 /lib/, ");
}

/* ---- what was preloaded ---- */

static void an_element_of_the_list_brought_it_or_none(void **state) {
    static const struct {
        const char *list, *path, *soname, *element;
        unsigned index;
    } rows[] = {
        {"/a/libcudnn.so.9", "/a/libcudnn.so.9", "libcudnn.so.9", "/a/libcudnn.so.9", 0},
        {"libx.so:libcudnn.so.9", "/a/libcudnn.so.9.1.0", "libcudnn.so.9", "libcudnn.so.9", 1},
        {" libx.so  libcudnn.so", "/a/libcudnn.so", "libcudnn.so.9", "libcudnn.so", 1},
        {"/usr/$LIB/libcudnn.so.9", "/usr/lib64/libcudnn.so.9", NULL, "/usr/$LIB/libcudnn.so.9", 0},
        {"/b/libcudnn.so.9", "/a/libcudnn.so.9", "libcudnn.so.9", NULL, 0},
        {"libcudnn.so.8:", "/a/libcudnn.so.9", "libcudnn.so.9", NULL, 0},
        {"", "/a/libcudnn.so.9", "libcudnn.so.9", NULL, 0},
        {NULL, "/a/libcudnn.so.9", "libcudnn.so.9", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wc_preload p;
        bool found = wc_search_preload(rows[i].list, rows[i].path, rows[i].soname, &p);
        assert_int_equal(found, rows[i].element != NULL);
        if (found) {
            assert_string_equal(p.element, rows[i].element);
            assert_int_equal(p.index, rows[i].index);
        }
    }
}

static bool facts_of_all(void *ctx, const char *path, struct wc_file_stat *out) {
    static uint64_t files_seen;
    (void)ctx, (void)path;
    *out = (struct wc_file_stat){.regular = true, .inode = ++files_seen};
    return true;
}

static bool list_nothing(void *ctx, const char *directory,
                         bool (*each)(void *arg, const char *name), void *arg) {
    (void)ctx, (void)directory, (void)each, (void)arg;
    return false;
}

/* A process may have loaded thousands of modules of one site; what has no room is counted. */
static void a_site_is_noted_once(void **state) {
    static const struct wc_files all = {
        .read = read_nothing, .facts = facts_of_all, .list = list_nothing};
    static struct wc_replay r;
    static char scratch[WC_SEARCH_SCRATCH];
    const struct wc_search_context context = {.files = &files, .system = &no_system};
    const struct wc_search_object caller = {.path = "/caller"};
    (void)state;
    wc_replay_run(&r, &context, &caller, "libcudnn.so.9", scratch, sizeof scratch);
    r.files = &all;
    for (int i = 0; i < 5000; i++) {
        char path[128];
        snprintf(path, sizeof path, "/home/u/v/lib64/python3.11/site-packages/a/lib%d.so", i);
        wc_replay_site(&r, path);
    }
    assert_string_equal(r.site[0], "/home/u/v/lib64/python3.11/site-packages/");
    assert_string_equal(r.site[1], "/home/u/v/lib/python3.11/site-packages/");
    assert_null(r.site[2]);
    wc_replay_copies(&r, "libcudnn.so.9", "/x/host");
    const size_t others = r.others, more = r.others_more;
    assert_in_range(others, 2, WC_REPLAY_CANDIDATES - 1);
    for (size_t n = 4096; n; n /= 2)
        while (wc_arena_take(&r.memory.arena, n))
            ;
    wc_replay_copy(&r, "/nowhere/libcudnn.so.9");
    assert_int_equal(r.others, others);
    assert_int_equal(r.others_more, more + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_site_is_noted_once),
        cmocka_unit_test(an_element_of_the_list_brought_it_or_none),
        cmocka_unit_test(a_list_is_not_read_behind_its_bound),
        cmocka_unit_test(an_empty_list_has_no_element),
        cmocka_unit_test(a_file_without_end_is_read_to_a_bound),
        cmocka_unit_test(directories_are_printable),
        cmocka_unit_test(each_directory_of_the_loader_has_its_number),
#ifdef __x86_64__
        cmocka_unit_test(subdirectories_follow_from_processor_and_release),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
