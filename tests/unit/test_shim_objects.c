/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a process: which have to do with cuDNN, as what, and which is which after some
 * came and went. The objects are made here, and put where a loader would have put them. */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/listed.h"
#include "shim/memory.h"
#include "shim/objects.h"
#include "support_elf.h"

static int64_t numbers;
static const char *unobserved;

int64_t journal_new_object(void) {
    return ++numbers;
}
void journal_unobserved(const char *what, const char *why, const char *path) {
    (void)why, (void)path;
    unobserved = what;
}

/* ---- making and loading ---- */

enum { FUNC = STT_FUNC | STB_GLOBAL << 4 };

struct library {
    const char *path, *soname, *needed, *node;
    const char *import, *import_node, *define;
    int id; /* build-id, 0: none */
};

static struct elf_maker made;

static size_t add_note(int id) {
    const uint32_t note[] = {4, 20, NT_GNU_BUILD_ID, 0x00554e47, (uint32_t)id, 2, 3, 4, 5};
    return elf_put(&made, note, id ? sizeof(note) : 0, 4);
}

static void add_nodes(const char *import_node, const char *node) {
    struct elf_maker *m = &made;
    if (import_node) {
        struct {
            Elf64_Verneed n;
            Elf64_Vernaux a;
        } needed = {{1, 1, elf_string(m, import_node), sizeof(Elf64_Verneed), 0},
                    {0, 0, 2, elf_string(m, import_node), 0}};
        elf_dynamic(m, DT_VERNEED, elf_put(m, &needed, sizeof(needed), 8));
        elf_dynamic(m, DT_VERNEEDNUM, 1);
    }
    if (node) {
        struct {
            Elf64_Verdef d;
            Elf64_Verdaux a;
        } defined = {{1, 0, 3, 1, 0, sizeof(Elf64_Verdef), 0}, {elf_string(m, node), 0}};
        elf_dynamic(m, DT_VERDEF, elf_put(m, &defined, sizeof(defined), 8));
        elf_dynamic(m, DT_VERDEFNUM, 1);
    }
}

static void make(const struct library *l) {
    struct elf_maker *m = &made;
    elf_begin(m);
    size_t note = add_note(l->id), note_size = m->n - note;
    elf_symbol(m, "puts", FUNC, 0, 0, 0, 1);
    if (l->import)
        elf_symbol(m, l->import, FUNC, 0, 0, 0, l->import_node ? 2 : 1);
    elf_symbol(m, "own", FUNC, 1, 0x100, 4, l->node ? 3 : 1);
    if (l->define)
        elf_symbol(m, l->define, FUNC, 1, 0x200, 4, 1);
    elf_symbol_table(m);
    elf_gnu_hash(m, (uint32_t)m->first_defined);
    add_nodes(l->import_node, l->node);
    if (l->soname)
        elf_dynamic(m, DT_SONAME, elf_string(m, l->soname));
    elf_dynamic(m, DT_NEEDED, elf_string(m, "libc.so.6"));
    if (l->needed)
        elf_dynamic(m, DT_NEEDED, elf_string(m, l->needed));
    elf_end(m, note, note_size);
}

struct loaded {
    _Alignas(4096) unsigned char bytes[ELF_ROOM + ELF_SHIFT];
    Elf64_Phdr phdr[5];
    struct dl_phdr_info info;
    struct link_map map;
};
static struct loaded place[4];

static struct dl_phdr_info *load(int at, const struct library *l) {
    struct loaded *to = &place[at];
    make(l);
    memset(to, 0, sizeof(*to));
    memcpy(to->phdr, made.bytes + sizeof(Elf64_Ehdr), sizeof(to->phdr));
    memcpy(to->bytes, made.bytes, to->phdr[0].p_filesz);
    memcpy(to->bytes + to->phdr[1].p_vaddr, made.bytes + to->phdr[1].p_offset,
           to->phdr[1].p_filesz);
    Elf64_Dyn *dynamic = (Elf64_Dyn *)(to->bytes + to->phdr[2].p_vaddr);
    for (Elf64_Dyn *d = dynamic; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SYMTAB || d->d_tag == DT_STRTAB || d->d_tag == DT_GNU_HASH ||
            d->d_tag == DT_VERSYM)
            d->d_un.d_ptr += (uintptr_t)to->bytes;
    to->info = (struct dl_phdr_info){.dlpi_addr = (uintptr_t)to->bytes,
                                     .dlpi_name = l->path,
                                     .dlpi_phdr = to->phdr,
                                     .dlpi_phnum = 5};
    to->map = (struct link_map){
        .l_addr = (uintptr_t)to->bytes, .l_name = (char *)l->path, .l_ld = dynamic};
    return &to->info;
}

/* A walk over those of the first places; bit i: place i is loaded. */
static void walk(unsigned loaded) {
    objects_walk_begin();
    for (int i = 0; i < 4; i++)
        if (loaded >> i & 1)
            objects_walk_see(&place[i].info);
    objects_walk_end();
}

static int begin(void **state) {
    (void)state;
    walk(0);
    objects_forget();
    numbers = 0;
    return 0;
}

static struct object *the_object(const struct library *l) {
    begin(NULL);
    load(0, l);
    walk(1);
    struct object *o = objects_get(0);
    assert_null(objects_get(1));
    assert_ptr_equal(objects_find(&place[0].info), o);
    assert_int_equal(objects_have_news(), o != NULL);
    return o;
}

/* ---- what they are ---- */

static void names_make_cudnn_and_its_cuda_dependencies(void **state) {
    static const struct {
        struct library l;
        enum wc_role role;
        const char *part;
        int major;
    } cases[] = {
        {{.path = "/x/libcudnn.so.9", .soname = "libcudnn.so.9"}, WC_role_FACADE, "", 9},
        {{.path = "/x/libcudnn.so", .soname = "libcudnn.so.8"}, WC_role_FACADE, "", 8},
        {{.path = "/x/renamed.so", .soname = "libcudnn.so.7"}, WC_role_FACADE, "", 7},
        {{.path = "/x/renamed.so", .node = "libcudnn.so.8"}, WC_role_FACADE, "", 8},
        {{.path = "/x/libcudnn.so.9"}, WC_role_FACADE, "", 9},
        {{.path = "/x/libcudnn.so.7.0", .soname = "libcudnn.so.7.0"}, WC_role_FACADE, "", -1},
        {{.path = "/x/libcudnn_graph.so.9", .soname = "libcudnn_graph.so.9"},
         WC_role_PART,
         "graph",
         9},
        {{.path = "/x/renamed.so", .soname = "libcudnn_ops_infer.so.8"},
         WC_role_PART,
         "ops_infer",
         8},
        {{.path = "/x/libcublasLt.so.12", .soname = "libcublasLt.so.12"},
         WC_role_CUDA_DEPENDENCY,
         "cublasLt",
         12},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct object *o = the_object(&cases[i].l);
        print_message("# %s %s\n", cases[i].l.path, cases[i].l.soname ? cases[i].l.soname : "-");
        assert_non_null(o);
        assert_int_equal(o->l.role, cases[i].role);
        assert_string_equal(o->l.name.part, cases[i].part);
        assert_int_equal(o->major, cases[i].major);
        assert_string_equal(o->l.path, cases[i].l.path);
        assert_int_equal(object_is_cudnn(o), cases[i].role != WC_role_CUDA_DEPENDENCY);
        assert_true(o->l.mapped && !o->described && !o->program);
        assert_true(!o->l.imports && !o->l.defines);
        if (cases[i].l.soname)
            assert_string_equal(o->soname, cases[i].l.soname);
        else
            assert_null(o->soname);
        assert_int_equal(objects_have_relevant_news(), cases[i].role != WC_role_CUDA_DEPENDENCY);
    }
}

static void functions_make_hosts(void **state) {
    static const struct {
        struct library l;
        bool imports, defines;
        int major;
    } cases[] = {
        {{.import = "cudnnCreate"}, true, false, -1},
        {{.import = "cudnnSetStream", .needed = "libcudnn.so.8"}, true, false, 8},
        {{.import = "cudnnSetStream", .needed = "libcudnn.so.7.0"}, true, false, -1},
        {{.import = "cudnnCreate", .import_node = "libcudnn.so.9"}, true, false, 9},
        {{.define = "cudnnCreate"}, false, true, -1},
        {{.define = "cudnnGetVersion"}, false, true, -1},
        {{.define = "cudnnBackendFinalize"}, false, true, -1},
        {{.define = "cudnnCreate", .import = "cudnnDestroy"}, true, true, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct library l = cases[i].l;
        l.path = "/x/host.so";
        const struct object *o = the_object(&l);
        print_message("# %s %s\n", l.import ? l.import : "-", l.define ? l.define : "-");
        assert_non_null(o);
        assert_int_equal(o->l.role, WC_role_HOST);
        assert_int_equal(o->l.imports, cases[i].imports);
        assert_int_equal(o->l.defines, cases[i].defines);
        assert_int_equal(o->major, cases[i].major);
        assert_true(o->l.mapped && !object_is_cudnn(o));
        assert_true(objects_have_relevant_news());
    }
}

static void others_are_none_of_ours(void **state) {
    static const struct library cases[] = {
        {.path = "/x/other.so", .soname = "libother.so.1", .node = "OTHER_1"},
        {.path = "/x/other.so", .import = "cublasCreate_v2"},
        {.path = "/x/other.so", .import = "cudnnNotListedAnywhere"}, /* cuDNN's own kernels are */
        {.path = "/x/other.so", .import = "cuInit", .define = "cudnnNotListedAnywhere"},
        {.path = "/x/other.so", .needed = "libcudnn.so.9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_null(the_object(&cases[i]));
}

static void walk_finds_nothing(void) {
    walk(1);
    assert_null(objects_get(0));
    assert_null(objects_find(&place[0].info));
}

static void a_table_that_cannot_be_bounded_leads_nowhere(void **state) {
    (void)state;
    load(0, &(struct library){.path = "/x/other.so"});
    Elf64_Dyn *d = (Elf64_Dyn *)(place[0].bytes + place[0].phdr[2].p_vaddr);
    while (d->d_tag != DT_STRTAB)
        d++;
    d->d_tag = DT_DEBUG;
    walk_finds_nothing();
    begin(NULL);
    d->d_tag = DT_STRTAB;
    d->d_un.d_ptr -= (uintptr_t)place[0].bytes; /* never relocated */
    walk_finds_nothing();
}

/* The loader asks for the strings' size no more than for symbols' versions that nobody wants. */
static void damaged_tables_lead_nowhere(void **state) {
    static const Elf64_Sxword tags[] = {DT_STRSZ, DT_VERSYM};
    (void)state;
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        for (int bit = 20; bit < 64; bit++) {
            begin(NULL);
            load(0, &(struct library){.path = "/x/other.so", .import = "cublasCreate_v2"});
            Elf64_Dyn *d = (Elf64_Dyn *)(place[0].bytes + place[0].phdr[2].p_vaddr);
            while (d->d_tag != tags[i])
                d++;
            d->d_un.d_val ^= (Elf64_Xword)1 << bit;
            walk_finds_nothing();
        }
}

/* ---- where they are ---- */

static void addresses_lead_to_them(void **state) {
    (void)state;
    load(0, &(struct library){.path = "/x/libcudnn.so.9"});
    load(1, &(struct library){.path = "/x/host.so", .import = "cudnnCreate"});
    load(2, &(struct library){.path = "/x/other.so"});
    walk(7);
    const struct object *facade = objects_get(0), *host = objects_get(1);
    const Elf64_Phdr *last = &place[0].phdr[1];
    uintptr_t low = (uintptr_t)place[0].bytes, high = low + last->p_vaddr + last->p_memsz;
    assert_int_equal(facade->base, low);
    assert_int_equal(facade->low, low);
    assert_int_equal(facade->high, high);
    assert_ptr_equal(objects_at(low), facade);
    assert_ptr_equal(objects_at(high - 1), facade);
    assert_null(objects_at(high));
    assert_null(objects_at(low - 1));
    assert_ptr_equal(objects_at((uintptr_t)place[1].bytes + 1), host);
    assert_null(objects_at((uintptr_t)place[2].bytes + 1));
    assert_int_equal(facade->l.number, 1);
    assert_int_equal(host->l.number, 2);
    assert_ptr_equal(objects_number(2), host);
    assert_null(objects_number(3));
    assert_null(objects_number(WC_NULL));
    assert_true(listed_contains(&place[0].info, low));
    assert_true(listed_contains(&place[0].info, high - 1));
    assert_false(listed_contains(&place[0].info, high));
    assert_false(listed_contains(&place[0].info, low + place[0].phdr[0].p_memsz)); /* between */
    walk(2);
    assert_null(objects_at(low)); /* it is gone */
}

static void the_program_has_the_path_that_was_started(void **state) {
    char expected[4096] = "";
    (void)state;
    assert_true(readlink("/proc/self/exe", expected, sizeof(expected) - 1) > 0);
    assert_string_equal(objects_program_path((uintptr_t)begin), expected);
    load(0, &(struct library){.path = "", .import = "cudnnCreate"});
    walk(1);
    assert_true(objects_get(0)->program);
    assert_string_equal(objects_get(0)->l.path, expected);
}

/* ---- coming and going ---- */

static void what_is_not_seen_any_more_is_gone(void **state) {
    (void)state;
    load(0, &(struct library){.path = "/x/libcudnn.so.9", .id = 1});
    load(1, &(struct library){.path = "/x/host.so", .import = "cudnnCreate", .id = 2});
    walk(3);
    struct object *facade = objects_get(0), *host = objects_get(1);
    facade->described = host->described = true;
    assert_false(objects_have_news() || objects_have_relevant_news());
    walk(3);
    assert_false(objects_have_news());
    assert_false(facade->gone || host->gone);
    host->l.asked_how = WC_operation_DLOPEN;
    walk(1);
    assert_true(objects_have_news() && objects_have_relevant_news());
    assert_true(host->gone && !facade->gone);
    assert_true(facade->l.mapped && facade->described && !host->l.mapped && !host->described);
    assert_null(objects_find(&place[1].info));
    host->described = true;
    walk(3);
    assert_ptr_equal(objects_find(&place[1].info), host); /* the same entry again */
    assert_true(host->l.mapped && host->gone && objects_have_news());
    assert_int_equal(host->l.asked_how,
                     WC_operation_UNKNOWN); /* how it was loaded before is over */
    assert_int_equal(host->l.number, 2);
    assert_null(objects_get(2));
}

static void another_file_in_the_same_place_is_another(void **state) {
    static const struct library before = {.path = "/x/host.so", .import = "cudnnCreate", .id = 1},
                                other_id = {.path = "/x/host.so", .import = "cudnnCreate", .id = 2},
                                elsewhere = {
                                    .path = "/y/host.so", .import = "cudnnCreate", .id = 1};
    const struct library *others[] = {&other_id, &elsewhere};
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(NULL);
        load(0, &before);
        walk(1);
        struct object *first = objects_get(0);
        load(0, others[i]);
        walk(1);
        assert_ptr_not_equal(objects_find(&place[0].info), first);
        assert_ptr_equal(objects_find(&place[0].info), objects_get(1));
        assert_false(first->l.mapped);
        load(0, &before);
        walk(1);
        assert_ptr_equal(objects_find(&place[0].info), first);
        assert_true(first->l.mapped && !objects_get(1)->l.mapped);
    }
}

static void without_a_build_id_its_names_tell(void **state) {
    static const struct library before = {.path = "/x/host.so", .import = "cudnnCreate"},
                                after = {.path = "/x/host.so", .import = "cudnnSetRNN"},
                                listed = {.path = "/x/host.so", .import = "cudnnDestroy"};
    (void)state;
    load(0, &before);
    walk(1);
    struct object *first = objects_get(0);
    load(0, &before);
    walk(1);
    assert_ptr_equal(objects_find(&place[0].info), first);
    assert_null(objects_get(1));
    load(0, &after); /* as long, and irrelevant */
    walk(1);
    assert_null(objects_find(&place[0].info));
    assert_false(first->l.mapped);
    load(0, &listed);
    walk(1);
    assert_non_null(objects_find(&place[0].info));
    assert_ptr_not_equal(objects_find(&place[0].info), first);
}

static void an_irrelevant_one_may_become_a_host(void **state) {
    (void)state;
    load(0, &(struct library){.path = "/x/other.so"});
    load(1, &(struct library){.path = "/x/libcudnn.so.9"});
    walk(3);
    assert_null(objects_find(&place[0].info));
    struct object *host = objects_promote(&place[0].info);
    assert_non_null(host);
    assert_int_equal(host->l.role, WC_role_HOST);
    assert_true(!host->l.imports && !host->l.defines && host->l.mapped);
    assert_ptr_equal(objects_find(&place[0].info), host);
    assert_ptr_equal(objects_promote(&place[0].info), host);
    assert_ptr_equal(objects_promote(&place[1].info), objects_get(0));
    assert_int_equal(objects_get(0)->l.role, WC_role_FACADE);
    walk(3);
    assert_true(host->l.mapped);
    load(2, &(struct library){.path = "/x/new.so"}); /* not seen in any walk yet */
    assert_int_equal(objects_promote(&place[2].info)->l.role, WC_role_HOST);
    walk(7);
    assert_true(objects_get(2)->l.mapped);
    assert_null(objects_get(3));
}

static void objects_come_and_go_for_ever(void **state) {
    (void)state;
    load(0, &(struct library){.path = "/x/a.so"});
    load(1, &(struct library){.path = "/x/b.so"});
    load(3, &(struct library){.path = "/x/stays.so"});
    walk(8 | 3);
    walk(8);
    char *before = wc_arena_take(&memory_arena, 16);
    for (int i = 0; i < 1000; i++) {
        walk(8 | 3);
        walk(8);
    }
    assert_ptr_equal(wc_arena_take(&memory_arena, 16), before + 16); /* no memory was taken */
    load(0, &(struct library){.path = "/x/libcudnn.so.9"});
    load(1, &(struct library){.path = "/x/host.so", .import = "cudnnCreate"});
    load(2, &(struct library){.path = "/x/libcublas.so.12"});
    walk(7);
    assert_non_null(objects_get(2));
}

/* The last test: the table is full after it. */
static void more_than_there_is_room_for_are_told(void **state) {
    static char path[32];
    (void)state;
    unobserved = NULL;
    for (int i = 0; i < 1024; i++) {
        snprintf(path, sizeof(path), "/%d/libcudnn.so.9", i);
        load(0, &(struct library){.path = path, .id = i + 1});
        walk(1);
        assert_non_null(objects_find(&place[0].info));
        assert_null(unobserved);
    }
    load(0, &(struct library){.path = "/x/libcudnn.so.9", .id = 5000});
    walk(1);
    assert_null(objects_find(&place[0].info));
    assert_string_equal(unobserved, "further objects");
}

static void all_is_new_once_it_was_forgotten(void **state) {
    (void)state;
    load(0, &(struct library){.path = "/x/libcudnn.so.9"});
    walk(1);
    assert_true(objects_have_news());
    objects_forget();
    assert_false(objects_have_news());
    assert_null(objects_get(0));
    assert_null(objects_find(&place[0].info));
    walk(1);
    assert_non_null(objects_get(0));
    assert_int_equal(objects_get(0)->l.number, 2);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(names_make_cudnn_and_its_cuda_dependencies),
        TEST(functions_make_hosts),
        TEST(others_are_none_of_ours),
        TEST(a_table_that_cannot_be_bounded_leads_nowhere),
        TEST(damaged_tables_lead_nowhere),
        TEST(addresses_lead_to_them),
        TEST(the_program_has_the_path_that_was_started),
        TEST(what_is_not_seen_any_more_is_gone),
        TEST(another_file_in_the_same_place_is_another),
        TEST(without_a_build_id_its_names_tell),
        TEST(an_irrelevant_one_may_become_a_host),
        TEST(objects_come_and_go_for_ever),
        TEST(all_is_new_once_it_was_forgotten),
        TEST(more_than_there_is_room_for_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
