/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is that stands where a library was looked for. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/elf/file_check.h"
#include "core/records/library.h"
#include "support_tree.h"

static struct tree tree;
static struct wc_file_check elf_file;

static int begin(void **state) {
    (void)state;
    tree_begin(&tree);
    tree_write(&tree, "/d/neighbour", "");
    return 0;
}

static int end(void **state) {
    (void)state;
    tree_end(&tree);
    return 0;
}

static void expect(enum wc_file_fault fault, const char *what, int64_t size, int64_t needs) {
    assert_true(wc_file_check(&tree.files, "/d/lib.so", EM_X86_64, &elf_file));
    assert_string_equal(elf_file.what, what);
    assert_int_equal(elf_file.fault, fault);
    assert_int_equal(elf_file.size, size);
    assert_int_equal(elf_file.needs, needs);
}

static void expect_text(const char *bytes, size_t n, enum wc_file_fault fault, const char *what) {
    tree_put(&tree, "/d/lib.so", bytes, n);
    expect(fault, what, (int64_t)n, WC_NULL);
}

/* ---- ELF ---- */

enum { PAGE = 4096, SEGMENT = 3000, DYNAMIC = 3100, END = 4000 };

struct library {
    Elf64_Ehdr header;
    Elf64_Phdr segment[4];
    char rest[END - sizeof(Elf64_Ehdr) - 4 * sizeof(Elf64_Phdr)];
};

static struct library library(void) {
    const Elf64_Dyn first = {.d_tag = DT_SONAME};
    struct library l;
    memset(&l, 0, sizeof l);
    memcpy(l.header.e_ident, ELFMAG, SELFMAG);
    l.header.e_ident[EI_CLASS] = ELFCLASS64;
    l.header.e_ident[EI_DATA] = ELFDATA2LSB;
    l.header.e_ident[EI_VERSION] = EV_CURRENT;
    l.header.e_version = EV_CURRENT;
    l.header.e_type = ET_DYN;
    l.header.e_machine = EM_X86_64;
    l.header.e_phoff = sizeof l.header;
    l.header.e_phentsize = sizeof(Elf64_Phdr);
    l.header.e_phnum = 4;
    l.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = SEGMENT, .p_align = PAGE};
    l.segment[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                .p_offset = SEGMENT,
                                .p_vaddr = PAGE + SEGMENT,
                                .p_filesz = END - SEGMENT,
                                .p_align = PAGE};
    l.segment[2] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = END, .p_filesz = 50};
    l.segment[3] = (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = DYNAMIC, .p_filesz = 64};
    memcpy((char *)&l + DYNAMIC, &first, sizeof first);
    return l;
}

static void put(const struct library *l, size_t n) {
    tree_put(&tree, "/d/lib.so", l, n);
}

static void a_whole_library_has_no_fault(void **state) {
    (void)state;
    struct library l = library();
    put(&l, END);
    expect(WC_file_fault_UNKNOWN, "a library", END, WC_NULL);
}

/* By its segments; what lies behind them (section headers) does not count. */
static void one_that_is_cut_short_tells_how_much_is_there(void **state) {
    (void)state;
    struct library l = library();
    size_t headers = sizeof l.header + sizeof l.segment;
    put(&l, END - 1);
    expect(WC_file_fault_CUT, "a library that is cut short: 3999 of 4000 bytes are there", END - 1,
           END);
    put(&l, headers);
    expect(WC_file_fault_CUT, "a library that is cut short: 288 of 4000 bytes are there",
           (int64_t)headers, END);
    put(&l, headers - 1);
    expect(WC_file_fault_CUT, "a library that is cut short: 287 bytes are there",
           (int64_t)headers - 1, WC_NULL);
    put(&l, sizeof l.header - 1);
    expect(WC_file_fault_CUT, "a library that is cut short: 63 bytes are there",
           sizeof l.header - 1, WC_NULL);
    put(&l, 4);
    expect(WC_file_fault_CUT, "a library that is cut short: 4 bytes are there", 4, WC_NULL);
}

/* A copy that makes room for the whole file first, and ends early. */
static void one_whose_tables_are_zeros_was_not_written_to_its_end(void **state) {
    (void)state;
    struct library l = library();
    memset((char *)&l + DYNAMIC, 0, sizeof(Elf64_Dyn));
    put(&l, END);
    expect(WC_file_fault_MALFORMED,
           "a library that was not written to its end: its tables are zeros", END, WC_NULL);
}

static void expect_malformed(const struct library *l, const char *what) {
    put(l, END);
    expect(WC_file_fault_MALFORMED, what, END, WC_NULL);
}

/* Stripped behind a tool that had changed it: "ELF load command address/offset not page-aligned".
 */
static void segments_lie_on_pages(void **state) {
    (void)state;
    static const char torn[] = "a library whose segments do not lie on pages";
    struct library l = library();
    l.segment[1].p_vaddr -= 0x40;
    expect_malformed(&l, torn);
    /* Nobody asks that of what is not mapped; glibc 2.35 and newer take any alignment. */
    l = library();
    l.segment[0].p_align = 8;
    l.segment[3].p_vaddr = 8;
    put(&l, END);
    expect(WC_file_fault_UNKNOWN, "a library", END, WC_NULL);
}

/* As glibc's open_verify does. */
static void headers_that_the_loader_refuses(void **state) {
    (void)state;
    static const char senseless[] = "a library whose headers make no sense";
    static const struct {
        unsigned at;
        unsigned char byte;
        bool refused;
    } rows[] = {
        {EI_VERSION, 2, true},
        {EI_OSABI, ELFOSABI_FREEBSD, true},
        {EI_OSABI, ELFOSABI_GNU, false},
        {EI_ABIVERSION, 1, true},
        {EI_PAD, 1, true},
        {EI_NIDENT - 1, 1, true},
        {offsetof(Elf64_Ehdr, e_version), 2, true},
        {offsetof(Elf64_Ehdr, e_phentsize), 8, true},
        {offsetof(Elf64_Ehdr, e_phnum), 0, true},
        {offsetof(Elf64_Ehdr, e_phnum), 2, true}, /* no dynamic section */
    };
    struct library l;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        l = library();
        ((unsigned char *)&l)[rows[i].at] = rows[i].byte;
        put(&l, END);
        expect(rows[i].refused ? WC_file_fault_MALFORMED : WC_file_fault_UNKNOWN,
               rows[i].refused ? senseless : "a library", END, WC_NULL);
    }
    l = library();
    l.header.e_ident[EI_OSABI] = ELFOSABI_GNU;
    l.header.e_ident[EI_ABIVERSION] = 3;
    put(&l, END);
    expect(WC_file_fault_UNKNOWN, "a library", END, WC_NULL);
    l.header.e_ident[EI_PAD] = 1;
    expect_malformed(&l, senseless);
    l = library();
    l.segment[0].p_type = l.segment[1].p_type = PT_NOTE; /* nothing to load */
    expect_malformed(&l, senseless);
}

static void one_for_another_process_tells_for_which(void **state) {
    (void)state;
    struct library l = library();
    l.header.e_machine = EM_AARCH64;
    put(&l, END);
    expect(WC_file_fault_OTHER_MACHINE,
           "a 64-bit library for aarch64, in a 64-bit process for x86-64", END, WC_NULL);
    l.header.e_machine = 4711;
    put(&l, END);
    expect(WC_file_fault_OTHER_MACHINE,
           "a 64-bit library for machine 4711, in a 64-bit process for x86-64", END, WC_NULL);
    l.header.e_machine = EM_386;
    l.header.e_ident[EI_CLASS] = ELFCLASS32;
    put(&l, END);
    expect(WC_file_fault_OTHER_CLASS, "a 32-bit library for i386, in a 64-bit process for x86-64",
           END, WC_NULL);
    l = library();
    l.header.e_ident[EI_DATA] = ELFDATA2MSB;
    l.header.e_machine = EM_PPC64 << 8;
    put(&l, END);
    expect(
        WC_file_fault_OTHER_BYTE_ORDER,
        "a 64-bit library of big-endian byte order for PowerPC 64, in a 64-bit process for x86-64",
        END, WC_NULL);
}

static void what_is_no_library_is_called_by_its_name(void **state) {
    (void)state;
    struct library l = library();
    l.header.e_type = ET_REL;
    put(&l, END);
    expect(WC_file_fault_NOT_A_LIBRARY, "an object file that was not linked", END, WC_NULL);
    l.header.e_type = ET_EXEC;
    put(&l, END);
    expect(WC_file_fault_NOT_A_LIBRARY, "a program", END, WC_NULL);
    l.header.e_type = ET_CORE;
    put(&l, END);
    expect(WC_file_fault_NOT_A_LIBRARY, "an ELF file, but no library", END, WC_NULL);
}

/* Numbers out of a hostile file neither wrap around nor ask for reads without end. */
static void numbers_that_make_no_sense_do_no_harm(void **state) {
    (void)state;
    struct library l = library();
    l.segment[0].p_filesz = UINT64_MAX;
    l.segment[0].p_offset = l.segment[0].p_vaddr = 2;
    put(&l, END);
    expect(WC_file_fault_UNKNOWN, "a library", END, WC_NULL);
    l.segment[0].p_filesz = INT64_MAX;
    put(&l, END);
    assert_true(wc_file_check(&tree.files, "/d/lib.so", EM_X86_64, &elf_file));
    assert_int_equal(elf_file.fault, WC_file_fault_CUT);
    assert_int_equal(elf_file.needs, INT64_MAX);
    l = library();
    l.header.e_phoff = UINT64_MAX - 8;
    l.header.e_phnum = UINT16_MAX;
    put(&l, END);
    long before = tree.calls;
    assert_true(wc_file_check(&tree.files, "/d/lib.so", EM_X86_64, &elf_file));
    assert_in_range(tree.calls - before, 1, 140);
}

/* ---- other files ---- */

static void a_pointer_of_git_lfs_tells_the_size_of_the_file(void **state) {
    (void)state;
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\n"
                                  "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daa\n"
                                  "size 73728\n";
    tree_write(&tree, "/d/lib.so", pointer);
    expect(WC_file_fault_POINTER, "a git-LFS pointer to a file of 73728 bytes", sizeof pointer - 1,
           73728);
    expect_text(pointer, 50, WC_file_fault_POINTER, "a git-LFS pointer");
}

static void files_of_other_kinds_are_called_by_their_name(void **state) {
    (void)state;
    expect_text("/* GNU ld script */\n", 20, WC_file_fault_NOT_ELF, "a linker script");
    expect_text("<!DOCTYPE html><html>", 21, WC_file_fault_NOT_ELF, "an HTML page");
    expect_text("PK\x03\x04zip", 7, WC_file_fault_NOT_ELF, "a zip archive");
    expect_text("\xfd"
                "7zXZ\0",
                6, WC_file_fault_NOT_ELF, "an xz archive");
    expect_text("!<arch>\nx", 9, WC_file_fault_NOT_ELF, "a static archive");
    expect_text("404: Not Found\n", 15, WC_file_fault_NOT_ELF, "text");
    expect_text("\0\0\0\0\0\0\0\0", 8, WC_file_fault_NOT_ELF, "zeros");
    expect_text("abc\0\x01\x7f", 6, WC_file_fault_NOT_ELF, "no ELF file");
    expect_text("", 0, WC_file_fault_EMPTY, "empty");
}

/* The system refused it: by the process's limit, where it has one. */
static void a_limit_of_address_space_is_told(void **state) {
    static const char few[] =
        "Max address space         409600000            409600000            bytes\n";
    static const struct {
        const char *limit;
        uint64_t maps;
        const char *what;
    } rows[] = {
        {"Max address space         unlimited            unlimited            bytes\n", 2 << 20,
         ""},
        {few, 2 << 20,
         "a library that takes 2 MiB of address space; the process may have 390 MiB in all"},
        {few, (uint64_t)1 << 47, ""}, /* a damaged table: no process has that much */
    };
    static unsigned char scratch[16 << 10];
    const struct wc_reader reader = {
        .files = &tree.files, .scratch = scratch, .scratch_size = sizeof scratch};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct wc_file_check check = {.maps = rows[i].maps};
        tree_write(&tree, "/proc/self/limits", rows[i].limit);
        wc_check_mapping(&reader, "/d/lib.so", true, &check);
        assert_string_equal(check.what, rows[i].what);
        assert_int_equal(check.fault,
                         *rows[i].what ? WC_file_fault_NO_ROOM : WC_file_fault_UNKNOWN);
    }
}

static void a_file_system_without_execution_is_told(void **state) {
    static const char *const options[] = {"rw", "rw,noexec"};
    static unsigned char scratch[16 << 10];
    const struct wc_reader reader = {
        .files = &tree.files, .scratch = scratch, .scratch_size = sizeof scratch};
    char mounts[128];
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct wc_file_check check = {.maps = 2 << 20};
        snprintf(mounts, sizeof mounts,
                 "22 1 8:1 / / rw - ext4 /dev/root rw\n33 22 0:41 / /d %s - tmpfs none rw\n",
                 options[i]);
        tree_write(&tree, "/proc/self/mountinfo", mounts);
        wc_check_mapping(&reader, "/d/lib.so", false, &check);
        assert_int_equal(check.fault, i ? WC_file_fault_NO_EXECUTION : WC_file_fault_UNKNOWN);
    }
}

static void what_is_no_file_is_told_too(void **state) {
    (void)state;
    char path[PATH_MAX];
    tree_path(&tree, "/d/lib.so", path);
    assert_false(wc_file_check(&tree.files, "/d/lib.so", EM_X86_64, &elf_file));
    assert_false(wc_file_check(&tree.files, "/no/such/directory/lib.so", EM_X86_64, &elf_file));
    assert_int_equal(symlink("nowhere", path), 0);
    expect(WC_file_fault_DANGLING, "a link that leads nowhere", WC_NULL, WC_NULL);
    unlink(path);
    assert_int_equal(symlink("neighbour", path), 0);
    expect(WC_file_fault_EMPTY, "empty", 0, WC_NULL);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect(WC_file_fault_NOT_ELF, "no regular file", 0, WC_NULL);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(wc_file_check(&tree.files, "/d/lib.so", EM_X86_64, &elf_file));
    assert_int_equal(elf_file.fault, WC_file_fault_DIRECTORY);
    assert_string_equal(elf_file.what, "a directory");
}

/* stat tells of it, open does not open it. */
static void one_that_may_not_be_read_is_told(void **state) {
    (void)state;
    struct library l = library();
    put(&l, END);
    tree.fails_at = tree.calls + 2;
    expect(WC_file_fault_UNREADABLE, "a file that this process may not read", END, WC_NULL);
}

/* "/e/link" leads to something behind a closed directory. */
static bool facts_with_link(void *ctx, const char *path, struct wc_file_stat *out) {
    out->closed = strncmp(path, "/e/link", strlen("/e/link")) == 0;
    return !out->closed && tree_facts(ctx, path, out);
}

static void what_is_behind_a_closed_directory_may_be_there(void **state) {
    (void)state;
    char at[64];
    bool is_link = true;
    tree_write(&tree, "/e/neighbour", "");
    assert_false(wc_closed_directory(&tree.files, "/e/none", at, sizeof at, &is_link));
    assert_false(wc_closed_directory(&tree.files, "/e/neighbour", at, sizeof at, &is_link));
    tree.closed = "/d";
    expect(WC_file_fault_CLOSED, "behind /d, which this process may not enter", WC_NULL, WC_NULL);
    assert_true(wc_closed_directory(&tree.files, "/d//sub/lib.so", at, sizeof at, &is_link));
    assert_string_equal(at, "/d");
    assert_false(is_link);
    assert_false(wc_closed_directory(&tree.files, "/d/lib.so", at, 4, &is_link));
    tree.closed = NULL;
    assert_false(wc_file_check(&tree.files, "/d/lib.so", EM_X86_64, &elf_file));
    tree.files.facts = facts_with_link;
    assert_true(wc_closed_directory(&tree.files, "/e/link/lib.so", at, sizeof at, &is_link));
    assert_string_equal(at, "/e/link");
    assert_true(is_link);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(a_whole_library_has_no_fault),
        TEST(one_that_is_cut_short_tells_how_much_is_there),
        TEST(one_whose_tables_are_zeros_was_not_written_to_its_end),
        TEST(segments_lie_on_pages),
        TEST(headers_that_the_loader_refuses),
        TEST(one_for_another_process_tells_for_which),
        TEST(what_is_no_library_is_called_by_its_name),
        TEST(numbers_that_make_no_sense_do_no_harm),
        TEST(a_pointer_of_git_lfs_tells_the_size_of_the_file),
        TEST(files_of_other_kinds_are_called_by_their_name),
        TEST(what_is_no_file_is_told_too),
        TEST(a_limit_of_address_space_is_told),
        TEST(a_file_system_without_execution_is_told),
        TEST(one_that_may_not_be_read_is_told),
        TEST(what_is_behind_a_closed_directory_may_be_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
