/* SPDX-License-Identifier: Apache-2.0 */
/* The model: records in, newest wins, nothing is lost when memory ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/model/stack.h"
#include "tools/util/memory.h"

struct model {
    struct heap_arena memory;
    struct wc_stack s;
};

static int begin(void **state) {
    struct model *m = must_allocate(sizeof(*m));

    heap_arena_begin(&m->memory);
    wc_stack_begin(&m->s, &m->memory.arena);
    *state = m;
    return 0;
}

static int end(void **state) {
    struct model *m = *state;

    heap_arena_end(&m->memory);
    free(m);
    return 0;
}

static struct wc_record object_record(int64_t number, enum wc_role role, const char *path) {
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_object);
    r.u.object.object = number;
    r.u.object.role = role;
    r.u.object.path = path;
    r.u.object.mapped = true;
    return r;
}

static void add_object(struct wc_stack *s, int64_t number, enum wc_role role, const char *path,
                       const char *version) {
    struct wc_record r = object_record(number, role, path);

    r.u.object.version = version;
    assert_true(wc_stack_apply(s, &r));
}

static void add_binding(struct wc_stack *s, int64_t host, int64_t target, enum wc_binding_how how) {
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.host = host;
    r.u.binding.target = target;
    r.u.binding.how = how;
    assert_true(wc_stack_apply(s, &r));
}

/* ---- what is kept ---- */

static void strings_and_lists_are_copies(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    char path[] = "/a/libcudnn.so.9", needed[] = "libz.so.1";
    const char *list[] = {needed, needed};
    struct wc_record r = object_record(1, WC_role_FACADE, path);

    r.u.object.needed = (struct wc_strings){list, 2};
    assert_true(wc_stack_apply(s, &r));
    memset(path, 'x', sizeof(path) - 1);
    memset(needed, 'x', sizeof(needed) - 1);
    list[0] = list[1] = NULL;
    assert_string_equal(s->objects.p[0].r.path, "/a/libcudnn.so.9");
    assert_int_equal(s->objects.p[0].r.needed.n, 2);
    assert_string_equal(s->objects.p[0].r.needed.p[1], "libz.so.1");
}

static const void *stored(const struct wc_stack *s, enum wc_kind kind) {
    switch (kind) {
#define LIST(kind, list)                                                                           \
    case WC_KIND_##kind:                                                                           \
        assert_int_equal(s->list.n, 1);                                                            \
        assert_true(s->list.p[0].seq == 77);                                                       \
        return &s->list.p[0].r
        LIST(object, objects);
        LIST(package, packages);
        LIST(demand, demands);
        LIST(binding, bindings);
        LIST(failure, failures);
        LIST(file, files);
        LIST(call, calls);
        LIST(unobserved, unobserved);
        LIST(finding, findings);
#undef LIST
    case WC_KIND_process:
        return &s->process;
    case WC_KIND_machine:
        return &s->machine;
    case WC_KIND_summary:
        return &s->summary;
    case WC_KIND_outcome:
        return &s->outcome;
    default:
        return NULL;
    }
}

static char words[3][8];
static const char *list_of_words[] = {words[0], words[1]};
static struct wc_fact facts_of_words[] = {{words[0], words[1], words[2]}, {words[2], NULL, NULL}};

static void set_words(const char *a, const char *b, const char *c) {
    strcpy(words[0], a);
    strcpy(words[1], b);
    strcpy(words[2], c);
}

static void fill_every_field(struct wc_record *r) {
    size_t n;
    const struct wc_field *f = wc_kind_fields(r->kind, &n);

    for (; n > 0; n--, f++) {
        void *value = (char *)&r->u + f->offset;
        if (f->type == WC_FIELD_STR)
            *(const char **)value = words[n % 3];
        else if (f->type == WC_FIELD_INT)
            *(int64_t *)value = (int64_t)n;
        else if (f->type == WC_FIELD_STRS)
            *(struct wc_strings *)value = (struct wc_strings){list_of_words, 2};
        else if (f->type == WC_FIELD_FACTS)
            *(struct wc_facts *)value = (struct wc_facts){.p = facts_of_words, .n = 2};
    }
}

static size_t size_of(const struct wc_field *f) {
    static const size_t sizes[] = {
        [WC_FIELD_STR] = sizeof(char *),    [WC_FIELD_INT] = sizeof(int64_t),
        [WC_FIELD_BOOL] = sizeof(bool),     [WC_FIELD_STRS] = sizeof(struct wc_strings),
        [WC_FIELD_ENUM] = sizeof(unsigned), [WC_FIELD_FACTS] = sizeof(struct wc_facts),
    };

    return sizes[f->type];
}

/* The line of a record is a way to compare all of it. */
static size_t line_of(enum wc_kind kind, const void *fields, char line[WC_RECORD_MAX]) {
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);
    struct wc_record r;

    wc_record_begin(&r, kind);
    for (; n > 0; n--, f++)
        memcpy((char *)&r.u + f->offset, (const char *)fields + f->offset, size_of(f));
    return wc_record_write(&r, line, WC_RECORD_MAX);
}

static void every_field_of_every_kind_is_a_copy(void **state) {
    static char expected[WC_RECORD_MAX], kept[WC_RECORD_MAX];
    struct wc_stack *s = &((struct model *)*state)->s;
    size_t n;

    s->keep_findings = true;
    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        struct wc_record r;
        const void *in_stack;

        wc_record_begin(&r, kind);
        r.seq = 77;
        set_words("one", "two", "three");
        fill_every_field(&r);
        n = line_of(kind, &r.u, expected);
        assert_true(wc_stack_apply(s, &r));
        set_words("lost", "lost", "lost");
        if (!(in_stack = stored(s, kind)))
            continue;
        assert_int_equal(line_of(kind, in_stack, kept), n);
        assert_memory_equal(kept, expected, n);
    }
}

static void a_list_is_kept_anew_where_any_of_it_changed(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    const char *list[] = {"liba.so", "libb.so"};
    struct wc_record r = object_record(1, WC_role_FACADE, "/a");

    r.u.object.needed = (struct wc_strings){list, 2};
    assert_true(wc_stack_apply(s, &r));
    list[0] = "libc.so";
    assert_true(wc_stack_apply(s, &r));
    assert_string_equal(s->objects.p[0].r.needed.p[0], "libc.so");
    list[1] = "libd.so";
    assert_true(wc_stack_apply(s, &r));
    assert_string_equal(s->objects.p[0].r.needed.p[0], "libc.so");
    assert_string_equal(s->objects.p[0].r.needed.p[1], "libd.so");
}

static void who_did_it_and_when_is_kept(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_record r;

    s->keep_findings = true;
    wc_record_begin(&r, WC_KIND_call);
    r.seq = 5, r.tid = 6, r.time = 7;
    assert_true(wc_stack_apply(s, &r));
    wc_record_begin(&r, WC_KIND_finding);
    r.seq = 5, r.tid = 6, r.time = 7;
    assert_true(wc_stack_apply(s, &r));
    wc_record_begin(&r, WC_KIND_failure);
    r.seq = 5, r.tid = 6, r.time = 7;
    assert_true(wc_stack_apply(s, &r));
    assert_true(s->calls.p[0].seq == 5 && s->calls.p[0].tid == 6);
    assert_true(s->findings.p[0].seq == 5 && s->findings.p[0].time == 7);
    assert_true(s->failures.p[0].seq == 5 && s->failures.p[0].tid == 6);
}

static void a_known_object_is_replaced(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_record r = object_record(7, WC_role_FACADE, "/a/libcudnn.so.9");

    r.seq = 3;
    assert_true(wc_stack_apply(s, &r));
    add_object(s, 8, WC_role_PART, "/a/libcudnn_graph.so.9", "9.1.0");
    r.seq = 9;
    r.u.object.version = "9.1.0";
    r.u.object.version_ceiling = "9.1";
    r.u.object.mapped = false;
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->objects.n, 2);
    assert_ptr_equal(wc_stack_object(s, 7), &s->objects.p[0]);
    assert_int_equal(s->objects.p[0].seq, 9);
    assert_false(s->objects.p[0].r.mapped);
    assert_int_equal(s->objects.p[0].version.minor, 1);
    assert_int_equal(s->objects.p[0].ceiling.patch, -1);
    assert_false(wc_version_known(s->objects.p[0].floor));
    assert_null(wc_stack_object(s, 9));
    assert_null(wc_stack_object(s, WC_NULL));
}

static void objects_without_a_number_are_all_kept(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;

    add_object(s, WC_NULL, WC_role_PART, "/a", NULL);
    add_object(s, WC_NULL, WC_role_PART, "/b", "no version");
    assert_int_equal(s->objects.n, 2);
    assert_false(wc_version_known(s->objects.p[1].version));
}

static void bindings_are_one_for_host_target_and_way(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;

    add_binding(s, 1, 2, WC_binding_how_SLOT);
    add_binding(s, 1, 2, WC_binding_how_SLOT);
    assert_int_equal(s->bindings.n, 1);
    add_binding(s, 1, 2, WC_binding_how_LAZY);
    add_binding(s, 1, 3, WC_binding_how_SLOT);
    add_binding(s, 4, 2, WC_binding_how_SLOT);
    assert_int_equal(s->bindings.n, 4);
}

static void bindings_gather_functions(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    char name[32];
    const char *one[] = {name, "cudnnGetVersion"};
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.host = r.u.binding.target = 1;
    r.u.binding.functions = (struct wc_strings){one, 2};
    r.u.binding.wrapped = 1;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "cudnnFunction%d", i);
        assert_true(wc_stack_apply(s, &r));
        assert_true(wc_stack_apply(s, &r)); /* told twice, one function */
    }
    assert_int_equal(s->bindings.n, 1);
    assert_int_equal(s->bindings.p[0].r.functions.n, 101);
    assert_int_equal(s->bindings.p[0].r.wrapped, 100);
    assert_string_equal(s->bindings.p[0].r.functions.p[1], "cudnnGetVersion");
    assert_string_equal(s->bindings.p[0].r.functions.p[100], "cudnnFunction99");
}

/* A log may print any number. */
static void wrapped_functions_are_added_up_as_far_as_numbers_go(void **state) {
    static const int64_t told[] = {INT64_MAX, 5, INT64_MIN + 1, INT64_MIN + 1, 1};
    struct wc_stack *s = &((struct model *)*state)->s;
    char name[32];
    const char *one[] = {name};
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.host = r.u.binding.target = 1;
    r.u.binding.functions = (struct wc_strings){one, 1};
    for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++) {
        snprintf(name, sizeof(name), "cudnnFunction%zu", i);
        r.u.binding.wrapped = told[i];
        assert_true(wc_stack_apply(s, &r));
        if (i < 2)
            assert_true(s->bindings.p[0].r.wrapped == INT64_MAX);
    }
    assert_int_equal(s->bindings.n, 1);
}

static void functions_of_a_binding_are_bounded(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    char name[32];
    const char *one[] = {name};
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.host = r.u.binding.target = 1;
    r.u.binding.functions = (struct wc_strings){one, 1};
    for (int i = 0; i < WC_STACK_MOST + 10; i++) {
        snprintf(name, sizeof(name), "cudnnFunction%d", i);
        assert_int_equal(wc_stack_apply(s, &r), i < WC_STACK_MOST);
    }
    assert_int_equal(s->bindings.p[0].r.functions.n, WC_STACK_MOST);
    assert_int_equal(s->dropped, 10);
}

static void demands_are_one_for_host_kind_and_source(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_demand);
    r.u.demand.host = 1;
    r.u.demand.demand_kind = WC_demand_kind_REQUIRED;
    r.u.demand.source = "METADATA of x 1";
    r.u.demand.spec = ">=9.1";
    assert_true(wc_stack_apply(s, &r));
    r.u.demand.spec = ">=9.8";
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->demands.n, 1);
    assert_string_equal(s->demands.p[0].r.spec, ">=9.8");
    r.u.demand.source = "METADATA of y 1";
    assert_true(wc_stack_apply(s, &r));
    r.u.demand.host = WC_NULL;
    r.u.demand.host_path = "/a";
    assert_true(wc_stack_apply(s, &r));
    r.u.demand.host_path = "/b";
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->demands.n, 4);
    /* It was no object when it was first told; what is known of it stays. */
    r.u.demand.host = 2;
    assert_true(wc_stack_apply(s, &r));
    r.u.demand.host = WC_NULL;
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->demands.n, 4);
    assert_int_equal(s->demands.p[3].r.host, 2);
    r.u.demand.host = 3; /* another library of that path */
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->demands.n, 5);
}

static void words_of_the_loader_replace_an_inferred_failure(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_failure);
    r.u.failure.request = 5;
    r.u.failure.operation = WC_operation_DLOPEN;
    r.u.failure.name = "libcudnn.so.8";
    r.u.failure.inferred = true;
    assert_true(wc_stack_apply(s, &r));
    r.u.failure.inferred = false;
    r.u.failure.text = "libcudnn.so.8: cannot open shared object file";
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->failures.n, 1);
    assert_string_equal(s->failures.p[0].r.text, r.u.failure.text);
    r.u.failure.request = 6; /* the same answer to the same question of the same object */
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->failures.n, 1);
    r.u.failure.caller = "/other";
    assert_true(wc_stack_apply(s, &r));
    r.u.failure.text = "another answer";
    assert_true(wc_stack_apply(s, &r));
    r.u.failure.name = "libcudnn.so.9";
    assert_true(wc_stack_apply(s, &r));
    r.u.failure.operation = WC_operation_DLSYM;
    assert_true(wc_stack_apply(s, &r));
    r.u.failure.function = "cudnnCreate";
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->failures.n, 6);
}

static void single_records_and_counts(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_process);
    r.u.process.node = "first";
    assert_true(wc_stack_apply(s, &r));
    r.u.process.node = "second";
    assert_true(wc_stack_apply(s, &r));
    assert_true(s->has_process && !s->has_machine && !s->has_summary && !s->has_outcome);
    assert_string_equal(s->process.node, "second");
    wc_record_begin(&r, WC_KIND_request);
    assert_true(wc_stack_apply(s, &r));
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->requests, 2);
    wc_record_begin(&r, WC_KIND_outcome);
    r.u.outcome.signal = 9;
    assert_true(wc_stack_apply(s, &r));
    assert_true(s->has_outcome);
    assert_int_equal(s->outcome.signal, 9);
    wc_record_begin(&r, WC_KIND_summary);
    assert_true(wc_stack_apply(s, &r));
    wc_record_begin(&r, WC_KIND_machine);
    assert_true(wc_stack_apply(s, &r));
    assert_true(s->has_summary && s->has_machine);
}

static void findings_are_kept_where_wanted(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_fact fact = {"found", "9.1.0", "slot"};
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_finding);
    r.u.finding.facts = (struct wc_facts){.p = &fact, .n = 1};
    assert_true(wc_stack_apply(s, &r));
    assert_int_equal(s->findings.n, 0);
    s->keep_findings = true;
    assert_true(wc_stack_apply(s, &r));
    fact.value = "gone";
    assert_int_equal(s->findings.n, 1);
    assert_string_equal(s->findings.p[0].r.facts.p[0].value, "9.1.0");
}

/* ---- memory ---- */

static void equal_strings_are_stored_once(void **state) {
    static unsigned char memory[64 << 10];
    const char *needed[] = {"libm.so.6", "libc.so.6"};
    struct wc_buffer_arena b;
    struct wc_stack s;
    size_t used;
    (void)state;

    wc_buffer_arena_begin(&b, memory, sizeof(memory));
    wc_stack_begin(&s, &b.arena);
    for (int round = 0; round < 1000; round++) {
        char path[] = "/venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
        struct wc_record r = object_record(1, WC_role_FACADE, path);
        r.u.object.needed = (struct wc_strings){needed, 2};
        assert_true(wc_stack_apply(&s, &r));
        if (round == 0)
            used = b.used;
    }
    assert_int_equal(b.used, used);
}

/* Applies records of one kind until memory ends; every entry that was accepted must stay. */
static void fill_memory_of(size_t size) {
    unsigned char *memory = test_malloc(size);
    struct wc_buffer_arena b;
    struct wc_stack s;
    char path[64];
    int64_t kept = 0;

    wc_buffer_arena_begin(&b, memory, size);
    wc_stack_begin(&s, &b.arena);
    for (int64_t i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "/directory/lib%lld.so", (long long)i);
        struct wc_record r = object_record(i, WC_role_PART, path);
        if (wc_stack_apply(&s, &r))
            kept++;
        assert_int_equal(s.objects.n, kept);
        assert_int_equal(s.dropped, i + 1 - kept);
    }
    for (size_t i = 0; i < s.objects.n; i++) {
        snprintf(path, sizeof(path), "/directory/lib%lld.so", (long long)s.objects.p[i].r.object);
        assert_string_equal(s.objects.p[i].r.path, path);
    }
    test_free(memory);
}

static void nothing_is_lost_when_memory_ends(void **state) {
    (void)state;
    for (size_t size = 0; size < 24000; size += 1111)
        fill_memory_of(size);
}

static void a_failed_replacement_leaves_the_old(void **state) {
    static unsigned char memory[8192];
    char text[9000];
    struct wc_buffer_arena b;
    struct wc_stack s;
    struct wc_record r;
    (void)state;

    wc_buffer_arena_begin(&b, memory, sizeof(memory));
    wc_stack_begin(&s, &b.arena);
    r = object_record(1, WC_role_FACADE, "/a/libcudnn.so.9");
    assert_true(wc_stack_apply(&s, &r));
    memset(text, 't', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    r.u.object.path = text;
    r.u.object.soname = "changed";
    assert_false(wc_stack_apply(&s, &r));
    assert_string_equal(s.objects.p[0].r.path, "/a/libcudnn.so.9");
    assert_null(s.objects.p[0].r.soname);
    wc_record_begin(&r, WC_KIND_process);
    r.u.process.node = "n";
    assert_true(wc_stack_apply(&s, &r));
    r.u.process.node = text;
    assert_false(wc_stack_apply(&s, &r));
    assert_string_equal(s.process.node, "n");
    assert_int_equal(s.dropped, 2);
}

static void a_function_without_memory_is_counted(void **state) {
    static unsigned char memory[8192];
    static char name[9000];
    const char *one[] = {"cudnnCreate"}, *long_one[] = {name};
    struct wc_buffer_arena b;
    struct wc_stack s;
    struct wc_record r;
    (void)state;

    wc_buffer_arena_begin(&b, memory, sizeof(memory));
    wc_stack_begin(&s, &b.arena);
    memset(name, 'n', sizeof(name) - 1);
    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.host = r.u.binding.target = 1;
    r.u.binding.functions = (struct wc_strings){one, 1};
    assert_true(wc_stack_apply(&s, &r));
    r.u.binding.functions = (struct wc_strings){long_one, 1};
    assert_false(wc_stack_apply(&s, &r));
    assert_int_equal(s.dropped, 1);
    assert_int_equal(s.bindings.p[0].r.functions.n, 1);
    assert_string_equal(s.bindings.p[0].r.functions.p[0], "cudnnCreate");
}

static void lists_are_bounded(void **state) {
    struct wc_stack *s = &((struct model *)*state)->s;
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_call);
    r.u.call.function = "cudnnCreate";
    for (size_t i = 0; i < WC_STACK_MOST; i++)
        assert_true(wc_stack_apply(s, &r));
    assert_false(wc_stack_apply(s, &r));
    assert_int_equal(s->calls.n, WC_STACK_MOST);
    assert_int_equal(s->dropped, 1);
    wc_record_begin(&r, WC_KIND_unobserved); /* other lists go on */
    assert_true(wc_stack_apply(s, &r));
}

static void texts_are_bounded(void **state) {
    enum { LENGTH = WC_STACK_TEXTS_MOST / WC_STACK_MOST - 1 }; /* with its NUL its share */
    struct wc_stack *s = &((struct model *)*state)->s;
    char name[LENGTH + 1];
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_call);
    r.u.call.function = name;
    for (int i = 0; i < WC_STACK_MOST; i++) {
        snprintf(name, sizeof(name), "%0*d", LENGTH, i);
        assert_true(wc_stack_apply(s, &r));
    }
    wc_record_begin(&r, WC_KIND_unobserved);
    r.u.unobserved.what = "one more";
    assert_false(wc_stack_apply(s, &r));
    assert_int_equal(s->dropped, 1);
}

/* ---- same installation ---- */

static void same_installation_by_path_else_directory(void **state) {
    static const struct {
        const char *a_installation, *a_real, *a_path, *b_installation, *b_real, *b_path;
        bool same;
    } rows[] = {
        {"/v/nvidia/cudnn", "/x/a", NULL, "/v/nvidia/cudnn", "/y/b", NULL, true},
        {"/v/nvidia/cudnn", "/x/a", NULL, "/usr/local/cuda", "/x/b", NULL, false},
        {"/v/nvidia/cudnn", "/x/a", NULL, NULL, "/x/b", NULL, true},
        {NULL, "/x/a", NULL, NULL, "/x/b", NULL, true},
        {NULL, "/x/a", NULL, NULL, "/xy/b", NULL, false},
        {NULL, "/x/a", NULL, NULL, "/y/b", NULL, false},
        {NULL, "/real/a", "/link/a", NULL, "/real/b", "/other/b", true},
        {NULL, NULL, "/link/a", NULL, NULL, "/link/b", true},
        {NULL, NULL, "/link/a", NULL, "/real/b", "/link/b", false},
        {NULL, NULL, NULL, NULL, "/real/b", NULL, true},
        {NULL, "/a", NULL, NULL, "/b", NULL, true},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wc_object a = {.r = {.installation_path = rows[i].a_installation,
                                    .real_path = rows[i].a_real,
                                    .path = rows[i].a_path}};
        struct wc_object b = {.r = {.installation_path = rows[i].b_installation,
                                    .real_path = rows[i].b_real,
                                    .path = rows[i].b_path}};
        assert_int_equal(wc_same_installation(&a, &b), rows[i].same);
        assert_int_equal(wc_same_installation(&b, &a), rows[i].same);
    }
}

/* ---- fingerprint ---- */

struct thing {
    int64_t number;
    enum wc_role role;
    const char *path, *version;
};

static void fingerprint_of(const struct thing *things, size_t n, const int64_t (*bindings)[2],
                           size_t bound, char out[17]) {
    void *state;
    struct wc_stack *s;

    begin(&state);
    s = &((struct model *)state)->s;
    for (size_t i = 0; i < n; i++)
        add_object(s, things[i].number, things[i].role, things[i].path, things[i].version);
    for (size_t i = 0; i < bound; i++)
        add_binding(s, bindings[i][0], bindings[i][1], WC_binding_how_SLOT);
    wc_stack_fingerprint(s, out);
    assert_int_equal(strspn(out, "0123456789abcdef"), 16);
    end(&state);
}

static void assert_fingerprints(bool equal, const struct thing *a, size_t a_n,
                                const struct thing *b, size_t b_n) {
    static const int64_t bound[][2] = {{1, 2}};
    char x[17], y[17];

    fingerprint_of(a, a_n, bound, 1, x);
    fingerprint_of(b, b_n, bound, 1, y);
    assert_int_equal(strcmp(x, y) == 0, equal);
}

static const struct thing usual[] = {
    {1, WC_role_HOST, "/v/torch/lib/libtorch_cuda.so", NULL},
    {2, WC_role_FACADE, "/v/nvidia/cudnn/lib/libcudnn.so.9", "9.1.0"},
    {3, WC_role_PART, "/v/nvidia/cudnn/lib/libcudnn_graph.so.9", "9.1.0"},
};

static void fingerprint_leaves_out_place_and_order(void **state) {
    static const struct thing elsewhere[] = {
        {3, WC_role_PART, "/opt/w/libcudnn_graph.so.9", "9.1.0"},
        {9, WC_role_OTHER, "/lib/libm.so.6", NULL},
        {2, WC_role_FACADE, "/opt/w/libcudnn.so.9", "9.1.0"},
        {1, WC_role_HOST, "/home/x/libtorch_cuda.so", NULL},
    };
    (void)state;
    assert_fingerprints(true, usual, 3, elsewhere, 4);
}

static void fingerprint_sees_versions_and_parts(void **state) {
    struct thing other[3];
    (void)state;

    assert_fingerprints(false, usual, 3, usual, 2);
    memcpy(other, usual, sizeof(other));
    other[2].version = "9.1.1";
    assert_fingerprints(false, usual, 3, other, 3);
    other[2].version = NULL;
    assert_fingerprints(false, usual, 3, other, 3);
    /* Versions changed places. */
    other[1].version = "9.2.0";
    other[2].version = "9.1.0";
    struct thing swapped[3];
    memcpy(swapped, other, sizeof(swapped));
    swapped[1].version = "9.1.0";
    swapped[2].version = "9.2.0";
    assert_fingerprints(false, other, 3, swapped, 3);
}

static void fingerprint_counts_what_is_loaded_again_once(void **state) {
    struct thing again[4];
    (void)state;

    memcpy(again, usual, sizeof(usual));
    again[3] = usual[2];
    again[3].number = 17;
    assert_fingerprints(true, usual, 3, again, 4);
    again[3].path = "/usr/lib/libcudnn_graph.so.9"; /* a second copy is another thing */
    assert_fingerprints(false, usual, 3, again, 4);
}

static void fingerprint_sees_who_uses_whom(void **state) {
    static const struct thing two[] = {
        {1, WC_role_HOST, "/a.so", NULL},
        {2, WC_role_FACADE, "/x/libcudnn.so.8", "8.9.2"},
        {3, WC_role_FACADE, "/y/libcudnn.so.9", "9.1.0"},
    };
    static const int64_t eight[][2] = {{1, 2}}, nine[][2] = {{1, 3}};
    char x[17], y[17], none[17];
    (void)state;

    fingerprint_of(two, 3, eight, 1, x);
    fingerprint_of(two, 3, nine, 1, y);
    fingerprint_of(two, 3, NULL, 0, none);
    assert_string_not_equal(x, y);
    assert_string_not_equal(x, none);
}

static void mark(const struct wc_record *object, const struct wc_record *bindings, size_t n,
                 char out[17]) {
    void *state;
    struct wc_stack *s;

    begin(&state);
    s = &((struct model *)state)->s;
    assert_true(wc_stack_apply(s, object));
    for (size_t i = 0; i < n; i++)
        assert_true(wc_stack_apply(s, &bindings[i]));
    wc_stack_fingerprint(s, out);
    end(&state);
}

static void fingerprint_sees_each_mark_of_an_object(void **state) {
    const char *texts[] = {"a", "b"};
    char marks[2][17];
    struct wc_record base = object_record(1, WC_role_PART, "/x/libcudnn_ops.so.9"), r;
    (void)state;

#define DIFFERS(field)                                                                             \
    for (int i = 0; i < 2; i++) {                                                                  \
        r = base;                                                                                  \
        r.u.object.field = texts[i];                                                               \
        mark(&r, NULL, 0, marks[i]);                                                               \
    }                                                                                              \
    assert_string_not_equal(marks[0], marks[1])
    DIFFERS(part);
    DIFFERS(soname);
    DIFFERS(path);
    DIFFERS(real_path);
    DIFFERS(version);
    DIFFERS(build_id);
    DIFFERS(installation);
    DIFFERS(installation_version);
#undef DIFFERS
    r = base;
    r.u.object.role = WC_role_FACADE;
    mark(&r, NULL, 0, marks[0]);
    mark(&base, NULL, 0, marks[1]);
    assert_string_not_equal(marks[0], marks[1]);
    r = base;
    r.u.object.base = "7f0000000000";
    r.u.object.installation_path = "/elsewhere";
    mark(&r, NULL, 0, marks[0]);
    assert_string_equal(marks[0], marks[1]);
}

static void fingerprint_leaves_out_how_and_how_often_bound(void **state) {
    struct wc_record object = object_record(1, WC_role_HOST, "/x/host"), bound[3];
    char once[17], often[17], other[17], nobody[17], none[17];
    (void)state;

    for (int i = 0; i < 3; i++) {
        wc_record_begin(&bound[i], WC_KIND_binding);
        bound[i].u.binding.host_path = "/x/host";
        bound[i].u.binding.target_path = "/x/libcudnn.so.9";
        bound[i].u.binding.host = i + 10;
        bound[i].u.binding.target = 5;
        bound[i].u.binding.how = WC_binding_how_SLOT + i;
    }
    mark(&object, bound, 1, once);
    mark(&object, bound, 3, often);
    assert_string_equal(once, often);
    bound[2].u.binding.target_path = "/x/libcudnn.so.8";
    mark(&object, bound, 3, other);
    assert_string_not_equal(once, other);
    bound[2].u.binding.target_path = "/x/libcudnn.so.9";
    bound[2].u.binding.host_path = "/y/another";
    mark(&object, bound, 3, other);
    assert_string_not_equal(once, other);
    bound[0].u.binding.target = WC_NULL; /* bound to nothing yet */
    mark(&object, bound, 1, nobody);
    mark(&object, NULL, 0, none);
    assert_string_equal(nobody, none);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(strings_and_lists_are_copies),
        TEST(every_field_of_every_kind_is_a_copy),
        TEST(a_list_is_kept_anew_where_any_of_it_changed),
        TEST(who_did_it_and_when_is_kept),
        TEST(a_known_object_is_replaced),
        TEST(objects_without_a_number_are_all_kept),
        TEST(bindings_are_one_for_host_target_and_way),
        TEST(bindings_gather_functions),
        TEST(wrapped_functions_are_added_up_as_far_as_numbers_go),
        TEST(functions_of_a_binding_are_bounded),
        TEST(demands_are_one_for_host_kind_and_source),
        TEST(words_of_the_loader_replace_an_inferred_failure),
        TEST(single_records_and_counts),
        TEST(findings_are_kept_where_wanted),
        cmocka_unit_test(equal_strings_are_stored_once),
        cmocka_unit_test(nothing_is_lost_when_memory_ends),
        cmocka_unit_test(a_failed_replacement_leaves_the_old),
        TEST(a_function_without_memory_is_counted),
        TEST(lists_are_bounded),
        TEST(texts_are_bounded),
        cmocka_unit_test(same_installation_by_path_else_directory),
        cmocka_unit_test(fingerprint_leaves_out_place_and_order),
        cmocka_unit_test(fingerprint_sees_versions_and_parts),
        cmocka_unit_test(fingerprint_counts_what_is_loaded_again_once),
        cmocka_unit_test(fingerprint_sees_who_uses_whom),
        cmocka_unit_test(fingerprint_sees_each_mark_of_an_object),
        cmocka_unit_test(fingerprint_leaves_out_how_and_how_often_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
