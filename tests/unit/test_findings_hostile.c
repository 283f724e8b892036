/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that no process has: random records, names meant to do harm, too little memory. What must
 * hold is that diagnose() ends, stays within its memory, and that what it says is sound.
 */
#include "core/demand/finding.h"
#include "core/demand/finding_text.h"
#include "support_stack.h"

enum { STACKS = 3000, RECORDS = 40 };

/* Anything a name may be, the words that diagnose() looks for more often than not. */
static const char *any_name(struct scene *s) {
    static const char *const names[] = {"libcudnn.so.9",
                                        "libcudnn.so.8",
                                        "libcudnn.so",
                                        "libcudnn_graph.so.9.1.0",
                                        "libcudnn_graph.so",
                                        "libcudnn_ops_infer.so.8",
                                        "libcudnn_cnn.so",
                                        "libcuda.so.1",
                                        "libcublasLt.so.12",
                                        "/a/libcudnn.so.9",
                                        "/b/libcudnn_ops.so.9",
                                        "/a/libhost.so",
                                        "",
                                        "/",
                                        "/a/",
                                        ":",
                                        "\x1b[2J\x01\n/libcudnn.so.9",
                                        "/x/\xe4\xb8",
                                        "libcudnn.so.4294967296.1"};
    int k = draw(0, (int)(sizeof names / sizeof *names) + 2);
    if (k < (int)(sizeof names / sizeof *names))
        return names[k];
    return k % 2 ? NULL : print(s, "/%0*d/lib%d.so", draw(1, 1500), 7, draw(0, 9));
}

static const char *any_text(struct scene *s) {
    static const char *const words[] = {"cannot open shared object file", "file too short",
                                        "failed to map segment from shared object"};
    const char *name;
    switch (draw(0, 5)) {
    case 0:
        return "9.1.0";
    case 1:
        return "<10.0,>=9.8";
    case 2:
        return print(s, "==%d.%d.%d.%d", draw(-1, 11), draw(0, 12), draw(0, 300), draw(0, 99));
    case 3:
        name = any_name(s);
        return print(s, "%s: %s", name ? name : "x", words[draw(0, 2)]);
    case 4:
        return any_name(s);
    default:
        return NULL;
    }
}

static int64_t any_number(void) {
    static const int64_t extremes[] = {INT64_MAX, -1, 0, 1001, 1, 1002, 1008, 14, 90100, INT64_MIN};
    return draw(0, 2) ? draw(1, 12) : extremes[draw(0, 9)];
}

static void fill(struct scene *s, struct wc_record *r) {
    static const char *lists[4][4];
    static int list;
    size_t n;
    const struct wc_field *f = wc_kind_fields(r->kind, &n);
    for (; n > 0; n--, f++) {
        void *value = (char *)&r->u + f->offset;
        if (f->type == WC_FIELD_STR) {
            bool name = draw(0, 2);
            *(const char **)value = name ? any_name(s) : any_text(s);
        } else if (f->type == WC_FIELD_INT) {
            *(int64_t *)value = any_number();
        } else if (f->type == WC_FIELD_BOOL) {
            *(bool *)value = draw(0, 3) > 0;
        } else if (f->type == WC_FIELD_ENUM) {
            *(unsigned *)value = (unsigned)draw(0, (int)wc_enum_count(f->enumeration) - 1);
        } else if (f->type == WC_FIELD_STRS) {
            struct wc_strings *strings = value;
            list = (list + 1) % 4;
            for (int i = 0; i < 4; i++)
                lists[list][i] = draw(0, 3) ? wc_function_name(draw(0, wc_function_count() - 1))
                                            : "LD_LIBRARY_PATH=/a:/b";
            strings->p = lists[list];
            strings->n = (size_t)draw(0, 4);
        }
    }
}

static void make_plausible(struct wc_record *r) {
    static const char *const parts[] = {"graph", "ops", "ops_infer", "cudart"};
    static const char *const calls[] = {"cudnnCreate", "cudnnGetVersion", "cudnnBackendFinalize"};
    if (r->kind == WC_KIND_object)
        r->u.object.part = parts[draw(0, 3)];
    if (r->kind == WC_KIND_call)
        r->u.call.function = calls[draw(0, 2)];
}

static void add_random_record(struct scene *s) {
    static const enum wc_kind kinds[] = {
        WC_KIND_object, WC_KIND_object,     WC_KIND_object,  WC_KIND_demand,
        WC_KIND_demand, WC_KIND_binding,    WC_KIND_failure, WC_KIND_failure,
        WC_KIND_call,   WC_KIND_unobserved, WC_KIND_machine, WC_KIND_process,
        WC_KIND_file,   WC_KIND_package,    WC_KIND_search,  WC_KIND_candidate};
    struct wc_record r = begin(kinds[draw(0, sizeof kinds / sizeof *kinds - 1)]);
    fill(s, &r);
    make_plausible(&r);
    apply(s, &r);
}

static void assert_same(const struct wc_findings *a, const struct wc_findings *b) {
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_string_equal(a->p[i].id, b->p[i].id);
        assert_string_equal(a->p[i].title, b->p[i].title);
        assert_int_equal(a->p[i].facts.n, b->p[i].facts.n);
    }
}

/* For people: the verdict, and each finding, which in a log may lack any of its words. */
static void say_it(struct scene *s, const struct wc_findings *found) {
    static unsigned char memory[1 << 20];
    static struct wc_finding_page page;
    const struct wc_finding_view view = {.stack = &s->stack, .lines = draw(0, 1) ? 3 : 0};
    const struct wc_outside runs = {.end = WC_END_FAILED};
    struct wc_buffer_arena more;
    struct wc_conclusion conclusion;
    wc_buffer_arena_begin(&more, memory, sizeof memory);
    wc_conclude(&s->stack, found, &runs, &more.arena, &conclusion);
    assert_non_null(conclusion.text);
    for (size_t i = 0; i < found->n; i++) {
        static const char *const names[] = {"got", "real path", "version", NULL};
        struct wc_finding_record f = found->p[i];
        struct wc_fact facts[4];
        assert_non_null(advice_for(&s->stack, &f, false, &more.arena).text);
        assert_non_null(wc_finding_text(&page, &f, &view));
        for (int k = 0; k < 4; k++)
            facts[k] = (struct wc_fact){names[draw(0, 3)], any_text(s), any_text(s)};
        f.facts.p = facts;
        f.facts.typed = NULL;
        f.facts.n = 4;
        f.title = f.id = NULL;
        assert_non_null(wc_finding_text(&page, &f, &view));
    }
}

static void random_stacks_give_sound_findings(void **state) {
    (void)state;
    static unsigned char memory[1 << 20];
    size_t printed = 0;
    for (int i = 0; i < STACKS; i++) {
        struct scene *s = new_scene();
        struct wc_buffer_arena more;
        struct wc_findings again;
        for (int k = draw(0, RECORDS); k > 0; k--)
            add_random_record(s);
        memset(memory, 0, sizeof memory);
        wc_buffer_arena_begin(&more, memory, sizeof memory);
        wc_diagnose(&s->stack, &more.arena, &again);
        assert_sound(&again);
        for (size_t k = 0; k < again.n; k++)
            assert_true(printable(again.p[k].title));
        say_it(s, &again);
        wc_buffer_arena_begin(&s->printed, s->scratch, sizeof s->scratch);
        memset(s->scratch, 0, sizeof s->scratch);
        wc_diagnose(&s->stack, &s->printed.arena, &s->found);
        if (!s->found.lost && !again.lost)
            assert_same(&s->found, &again);
        printed += again.n;
    }
    assert_true(printed > STACKS); /* the random records are not all beside the point */
}

static struct scene *a_full_stack(void) {
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), w = other_minor(v, -1);
    int64_t host = add_host(s, "/opt/app/libhost.so");
    struct want d = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &d);
    int64_t facade = add_facade(s, "/opt/cudnn", v, host);
    add_part(s, "/opt/other", "graph", w, facade);
    add_facade(s, "/opt/other", w, host);
    add_machine(s, NULL, 0);
    add_call(s, "cudnnCreate", host, facade, 1001, WC_NULL);
    add_blind(s, "a slot", "its page cannot be written");
    return s;
}

/* With less and less memory fewer findings come, never half ones, and the loss is counted. */
static void too_little_memory_loses_whole_findings(void **state) {
    (void)state;
    struct scene *s = a_full_stack();
    diagnose(s);
    size_t all = s->found.n, used = s->printed.used;
    assert_true(all >= 5);
    for (size_t cap = 0; cap <= used; cap += draw(1, 40)) {
        struct wc_findings found;
        memset(s->scratch, 0, sizeof s->scratch);
        wc_buffer_arena_begin(&s->printed, s->scratch, cap);
        wc_diagnose(&s->stack, &s->printed.arena, &found);
        assert_true(found.n <= all);
        assert_true(found.n == all || found.lost > 0);
        for (size_t i = 0; i < found.n; i++)
            assert_true(found.p[i].title && found.p[i].facts.p);
        if (!found.n)
            assert_int_equal(verdict_of(&s->stack, &found), WC_verdict_NOT_OBSERVED);
    }
}

static void many_findings_are_cut_and_counted(void **state) {
    (void)state;
    static unsigned char memory[1 << 20];
    struct scene *s = new_scene();
    struct wc_buffer_arena more;
    for (int i = 0; i < 200; i++) {
        int64_t host = add_host(s, print(s, "/opt/%d/libhost.so", i));
        add_failure(s, host, NULL, "libcudnn.so.9", NULL);
    }
    add_blind(s, "a slot", "its page cannot be written");
    wc_buffer_arena_begin(&more, memory, sizeof memory);
    wc_diagnose(&s->stack, &more.arena, &s->found);
    assert_sound(&s->found);
    assert_true(s->found.n > 50 && s->found.n < 100);
    assert_true(s->found.lost > 0);
}

static void harmful_names_stay_out_of_titles(void **state) {
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9);
    const char *long_path = print(s, "/opt/%0900d/lib%0400d.so", 1, 2);
    int64_t host = add_host(s, long_path);
    struct file f = {.role = WC_role_FACADE,
                     .path = "/opt/a'; reboot #/libcudnn.so.9",
                     .soname = "lib\x1b]0;x\x07.so",
                     .version = other_minor(v, -1),
                     .source = WC_version_source_ASKED_NAMES,
                     .asked_by = host};
    add_file(s, &f);
    add_variable(s, "LD_LIBRARY_PATH=/opt/a'; reboot #:/opt/$(reboot)");
    struct want w = {host, WC_demand_kind_REQUIRED, .spec = "==99.0'; reboot #",
                     .source = "METADATA of nvidia-cudnn-cu12'; reboot"};
    struct want pinned = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    add_demand(s, &pinned);
    assert_finds(s, "runtime-too-old search-path-suspect");
    const struct wc_finding_record *r = &s->found.p[0];
    assert_true(printable(r->title) && strlen(r->title) < 400);
}

/* Stubs that lead to each other lead to no cuDNN: the host's own is found in another way. */
static void a_ring_of_stubs_is_left(void **state) {
    static const char *const function[] = {"cudnnCreate"};
    (void)state;
    struct scene *s = new_scene();
    struct wc_version v = draw_release(9), old = other_minor(v, -1);
    int64_t host = add_host(s, "/opt/libhost.so");
    int64_t one = add_host(s, "/opt/libone.so"), other = add_host(s, "/opt/libother.so");
    int64_t facade = add_facade(s, "/opt/cudnn", old, host);
    add_part(s, "/opt/cudnn", "graph", old, facade);
    struct want w = {host, WC_demand_kind_BUILT, .built = text_of(s, v), .rule = "torch"};
    add_demand(s, &w);
    add_binding(s, host, one, WC_binding_how_SLOT, function, 1);
    add_binding(s, one, other, WC_binding_how_SLOT, function, 1);
    add_binding(s, other, one, WC_binding_how_SLOT, function, 1);
    assert_finds(s, "runtime-too-old");
}

/* The page in front of a path of a log may not be readable. */
static void a_relative_path_is_not_read_before_its_beginning(void **state) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p, page, PROT_NONE), 0);
    strcpy(p + page, "stubs/libcuda.so.1");
    assert_false(wc_lies_in_a(p + page, "stubs"));
    strcpy(p + page, "/stubs/libcuda.so.1");
    assert_true(wc_lies_in_a(p + page, "stubs"));
    strcpy(p + page, "a/stubs/libcuda.so.1");
    assert_true(wc_lies_in_a(p + page, "stubs"));
    munmap(p, 2 * page);
}

static void what_finds_no_place_is_counted(void **state) {
    struct wc_case c = {.facts = 0};
    (void)state;
    for (int i = 0; i < WC_CASE_FACTS + 5; i++)
        wc_case_fact(&c, WC_FACT_GOT, i == 3 ? NULL : "value");
    assert_int_equal(c.facts, WC_CASE_FACTS - 1);
    assert_int_equal(c.more, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_stacks_give_sound_findings),
        cmocka_unit_test(too_little_memory_loses_whole_findings),
        cmocka_unit_test(many_findings_are_cut_and_counted),
        cmocka_unit_test(harmful_names_stay_out_of_titles),
        cmocka_unit_test(a_ring_of_stubs_is_left),
        cmocka_unit_test(a_relative_path_is_not_read_before_its_beginning),
        cmocka_unit_test(what_finds_no_place_is_counted),
    };
    seed_from_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
