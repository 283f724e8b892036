/* SPDX-License-Identifier: Apache-2.0 */
/* The shim's view of the file system: what is read, listed, linked, mapped, and what is not there.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/files.h"
#include "support_place.h"
#include "support_tree.h"

static void put(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void regular_files_are_read_at_any_offset(void **state) {
    char to[16] = "";
    size_t n = 77;
    (void)state;
    put("file", "0123456789");
    assert_true(shim_files.read(NULL, "file", 0, to, sizeof(to), &n));
    assert_int_equal(n, 10);
    assert_memory_equal(to, "0123456789", 10);
    assert_true(shim_files.read(NULL, "file", 7, to, 2, &n));
    assert_int_equal(n, 2);
    assert_memory_equal(to, "78", 2);
    assert_true(shim_files.read(NULL, "file", 100, to, sizeof(to), &n));
    assert_int_equal(n, 0);
}

/* Who waits for a reader goes on waiting: what it wrote would be lost. */
static void no_writer_is_woken(const char *fifo) {
    char to[16];
    size_t n;
    int status;
    pid_t writer = fork();
    if (writer == 0)
        _exit(open(fifo, O_WRONLY) < 0);
    for (int i = 0; i < 200; i++) { /* it may take a while to get there */
        assert_false(shim_files.read(NULL, fifo, 0, to, sizeof(to), &n));
        usleep(1000);
    }
    assert_int_equal(waitpid(writer, &status, WNOHANG), 0);
    kill(writer, SIGKILL);
    assert_int_equal(waitpid(writer, &status, 0), writer);
}

static void what_is_no_regular_file_is_not_read(void **state) {
    char to[16];
    size_t n = 77;
    (void)state;
    assert_false(shim_files.read(NULL, "none", 0, to, sizeof(to), &n));
    assert_int_equal(n, 0);
    assert_int_equal(mkfifo("fifo", 0600), 0); /* nobody waits for a writer */
    assert_false(shim_files.read(NULL, "fifo", 0, to, sizeof(to), &n));
    no_writer_is_woken("fifo");
    assert_false(shim_files.read(NULL, ".", 0, to, sizeof(to), &n));
    put("file", "text"); /* no such memory: the kernel says so */
    assert_false(shim_files.read(NULL, "file", 0, (void *)8, 4, &n));
}

static void facts_are_those_of_stat(void **state) {
    struct wc_file_stat facts;
    struct stat st;
    (void)state;
    put("file", "text");
    assert_int_equal(symlink("file", "link"), 0);
    assert_true(shim_files.facts(NULL, "link", &facts));
    assert_int_equal(stat("file", &st), 0);
    assert_true(facts.inode == st.st_ino && facts.device == st.st_dev);
    assert_int_equal(facts.size, 4);
    assert_true(facts.regular && !facts.directory);
    assert_true(shim_files.facts(NULL, ".", &facts));
    assert_true(!facts.regular && facts.directory);
    assert_false(shim_files.facts(NULL, "none", &facts));
}

struct seen {
    unsigned count, most, dots;
};

static bool see(void *arg, const char *name) {
    struct seen *s = arg;
    s->dots += strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    return ++s->count < s->most;
}

static void a_directory_is_listed_to_its_end_or_as_far_as_asked(void **state) {
    struct seen all = {0, 1000, 0}, some = {0, 5, 0}, none = {0, 1000, 0};
    char name[64];
    (void)state;
    for (int i = 0; i < 200; i++) { /* more than one answer of the kernel holds */
        snprintf(name, sizeof(name), "a-file-with-quite-a-long-name-%03d", i);
        put(name, "");
    }
    assert_true(shim_files.list(NULL, ".", see, &all));
    assert_int_equal(all.count, 200);
    assert_int_equal(all.dots, 0);
    assert_true(shim_files.list(NULL, ".", see, &some));
    assert_int_equal(some.count, 5);
    assert_false(shim_files.list(NULL, "none", see, &none));
    assert_false(shim_files.list(NULL, name, see, &none));
    assert_int_equal(none.count, 0);
}

static void a_directory_of_data_is_not_listed_to_its_end(void **state) {
    const unsigned bound = 32768;
    struct seen all = {0, 1000000, 0};
    char name[16];
    (void)state;
    put("0", "");
    for (unsigned i = 1; i < bound + 10; i++) {
        snprintf(name, sizeof(name), "%u", i);
        assert_int_equal(symlink("0", name), 0);
    }
    assert_true(shim_files.list(NULL, ".", see, &all));
    assert_int_equal(all.count, bound);
}

static void a_link_is_read_where_it_fits(void **state) {
    char to[16];
    (void)state;
    put("file", "");
    assert_int_equal(symlink("0123456789", "link"), 0);
    assert_true(files_read_link("link", to, sizeof(to)));
    assert_string_equal(to, "0123456789");
    assert_true(files_read_link("link", to, 11));
    assert_false(files_read_link("link", to, 10));
    assert_false(files_read_link("file", to, sizeof(to)));
    assert_false(files_read_link("none", to, sizeof(to)));
}

static void the_real_path_is_that_behind_links(void **state) {
    char to[PATH_MAX], expected[PATH_MAX];
    (void)state;
    put("file", "");
    assert_int_equal(symlink("file", "link"), 0);
    assert_non_null(realpath("file", expected));
    assert_true(shim_files.real_path(NULL, "link", to, sizeof(to)));
    assert_string_equal(to, expected);
    assert_false(shim_files.real_path(NULL, "link", to, 5));
    assert_false(shim_files.real_path(NULL, "none", to, sizeof(to)));
}

static void a_small_text_is_read_whole_or_cut(void **state) {
    char to[8];
    (void)state;
    put("file", "0123456789");
    put("empty", "");
    assert_true(files_read_text("file", to, sizeof(to)));
    assert_string_equal(to, "0123456");
    put("one", "1");
    assert_true(files_read_text("one", to, sizeof(to)));
    assert_string_equal(to, "1");
    assert_false(files_read_text("empty", to, sizeof(to)));
    assert_string_equal(to, "");
    assert_false(files_read_text("none", to, sizeof(to)));
    strcpy(to, "x");
    assert_false(files_read_text(".", to, sizeof(to))); /* opens, cannot be read */
    assert_string_equal(to, "");
}

/* A file whose path is longer than what one elf_file at the list holds. */
static void *map_deep_file(int *top) {
    char name[201];
    void *p;
    int fd;
    memset(name, 'd', 200);
    name[200] = 0;
    *top = open(".", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(mkdir(name, 0700), 0);
        assert_int_equal(chdir(name), 0);
    }
    put("deep", "text");
    fd = open("deep", O_RDONLY);
    p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_true(p != MAP_FAILED);
    return p;
}

static void the_mapped_file_at_an_address_is_found(void **state) {
    char to[PATH_MAX], self[PATH_MAX], small[4];
    int top, local = 0;
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *deep;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    (void)state;
    assert_true(n > 0 && page != MAP_FAILED);
    self[n] = 0;
    assert_true(files_mapped_at((uintptr_t)&map_deep_file, to, sizeof(to)));
    assert_string_equal(to, self);
    assert_false(files_mapped_at((uintptr_t)&map_deep_file, small, sizeof(small)));
    assert_false(files_mapped_at((uintptr_t)page, to, sizeof(to)));
    assert_false(files_mapped_at(1, to, sizeof(to)));
    deep = map_deep_file(&top);
    /* The long line hides nothing behind it: "[stack]" has no path, libc has one. */
    assert_false(files_mapped_at((uintptr_t)&local, to, sizeof(to)));
    assert_true(files_mapped_at((uintptr_t)&files_read_text, to, sizeof(to)));
    assert_string_equal(to, self);
    munmap(deep, 4096);
    munmap(page, 4096);
    assert_int_equal(fchdir(top), 0);
    close(top);
}

/* A host may have closed the first descriptors: ours are those then, and closed again. */
static void no_descriptor_is_left_open(void **state) {
    char to[PATH_MAX];
    size_t n;
    struct wc_file_stat facts;
    (void)state;
    put("file", "text");
    int input = fcntl(0, F_DUPFD, 10);
    close(0);
    bool all = shim_files.read(NULL, "file", 0, to, sizeof(to), &n) &&
               shim_files.facts(NULL, "file", &facts) &&
               shim_files.real_path(NULL, "file", to, sizeof(to)) &&
               shim_files.list(NULL, ".", see, &(struct seen){0, 1000, 0}) &&
               files_read_text("file", to, sizeof(to)) &&
               files_mapped_at((uintptr_t)&files_read_text, to, sizeof(to));
    bool is_closed = fcntl(0, F_GETFD) == -1;
    if (input >= 0) {
        dup2(input, 0);
        close(input);
    }
    assert_true(all);
    assert_true(is_closed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(regular_files_are_read_at_any_offset, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(what_is_no_regular_file_is_not_read, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(facts_are_those_of_stat, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(a_directory_is_listed_to_its_end_or_as_far_as_asked,
                                        enter_place, leave_place),
        cmocka_unit_test_setup_teardown(a_directory_of_data_is_not_listed_to_its_end, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_link_is_read_where_it_fits, enter_place, leave_place),
        cmocka_unit_test_setup_teardown(the_real_path_is_that_behind_links, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(a_small_text_is_read_whole_or_cut, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(the_mapped_file_at_an_address_is_found, enter_place,
                                        leave_place),
        cmocka_unit_test_setup_teardown(no_descriptor_is_left_open, enter_place, leave_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
