/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of records: whole JSON with every key that is needed, whatever it is given and however
 * little room. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "core/base/shown.h"
#include "support_record.h"
#include "tools/observe/log/record_json.h"
#include "tools/util/memory.h"
#include "whichcudnn/record.h"

#define GUARD 0x5A

static const char *const head_keys[] = {"v", "kind", "time", "seq", "pid", "tid", "cut"};
#define ALWAYS 6 /* of them */

struct line {
    json_t *json;
    size_t n;
    char text[WC_RECORD_MAX * 2];
};

static long long int_of(const struct line *l, const char *key) {
    const json_t *value = json_object_get(l->json, key);

    if (!value && strcmp(key, "cut") == 0)
        return 0;
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

/* Writes with nothing allowed behind cap, nor behind a line that had room at once, and parses what
 * is there. */
static void write_record(const struct wc_record *r, size_t cap, struct line *l) {
    json_error_t error;
    size_t room = cap < WC_RECORD_MAX ? cap : WC_RECORD_MAX;

    memset(l->text, GUARD, sizeof(l->text));
    l->n = wc_record_write(r, l->text, cap);
    assert_in_range(l->n, 1, room);
    assert_int_equal(l->text[l->n - 1], '\n');
    assert_null(memchr(l->text, '\n', l->n - 1));
    l->json = json_loadb(l->text, l->n, JSON_REJECT_DUPLICATES, &error);
    if (!l->json)
        fail_msg("%s: %.*s", error.text, (int)l->n, l->text);
    for (size_t i = int_of(l, "cut") ? room : l->n; i < sizeof(l->text); i++)
        assert_int_equal(l->text[i], GUARD);
}

static struct line *new_line(void) {
    return test_malloc(sizeof(struct line));
}

static void free_line(struct line *l) {
    json_decref(l->json);
    test_free(l);
}

static const char *text_of(const struct line *l, const char *key) {
    return json_string_value(json_object_get(l->json, key));
}

/* ---- keys ---- */

/* The first heads, and of the fields those that are not empty, in their order. */
static void assert_keys(const struct wc_record *r, json_t *json, size_t heads) {
    size_t n, i = 0, at = 0;
    const struct wc_field *fields = wc_kind_fields(r->kind, &n);
    const char *key;
    json_t *value;

    json_object_foreach(json, key, value) {
        while (i >= heads && at < n && wc_field_is_empty(r, &fields[at]))
            at++;
        assert_true(i < heads || at < n);
        assert_string_equal(key, i < heads ? head_keys[i] : fields[at++].name);
        i++;
    }
    for (; at < n; at++)
        assert_true(wc_field_is_empty(r, &fields[at]));
    assert_true(i >= heads);
}

static void what_is_not_known_is_left_out(void **state) {
    struct line *l = new_line();
    (void)state;

    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        struct wc_record r;

        wc_record_begin(&r, kind);
        write_record(&r, WC_RECORD_MAX, l);
        assert_int_equal(json_object_size(l->json), ALWAYS);
        assert_keys(&r, l->json, ALWAYS);
        assert_string_equal(text_of(l, "kind"), wc_kind_name(kind));
        assert_int_equal(int_of(l, "v"), WC_LOG_VERSION);
        json_decref(l->json);
    }
    test_free(l);
}

/* One record of a kind, its texts as given; read from its line and as JSON, it is the same. */
static void there_and_back(struct wc_record *r, struct line *l) {
    char trouble[RECORD_TROUBLE], room[WC_RECORD_MAX + 1];
    struct line *again = new_line();
    struct heap_arena lists;
    struct wc_record back;

    heap_arena_begin(&lists);
    write_record(r, WC_RECORD_MAX, l);
    assert_int_equal(record_from_json(l->json, &lists.arena, &back, trouble), RECORD_READ);
    write_record(&back, WC_RECORD_MAX, again);
    assert_int_equal(l->n, again->n);
    assert_memory_equal(l->text, again->text, l->n);
    json_decref(again->json);
    l->text[l->n - 1] = '\0';
    assert_true(record_from_line(l->text, l->n - 1, room, &lists.arena, &back));
    l->text[l->n - 1] = '\n';
    write_record(&back, WC_RECORD_MAX, again);
    assert_int_equal(l->n, again->n);
    assert_memory_equal(l->text, again->text, l->n);
    heap_arena_end(&lists);
    free_line(again);
}

/* What stands on a line does not depend on another key of it, or on a value being common. */
static void what_is_known_is_there(void **state) {
    struct line *l = new_line();
    struct wc_record r;
    (void)state;

    wc_record_begin(&r, WC_KIND_object);
    r.pid = r.tid = 7;
    r.cut = 9;
    r.u.object.path = r.u.object.real_path = r.u.object.asked_name = "/a/libx.so.1";
    r.u.object.soname = r.u.object.symbol_version = "libx.so.1";
    r.u.object.asked_how = WC_operation_DLOPEN;
    r.u.object.mapped = true;
    r.u.object.size = 0;
    there_and_back(&r, l);
    assert_int_equal(json_object_size(l->json), ALWAYS + 1 + 8);
    assert_int_equal(int_of(l, "tid"), 7);
    assert_int_equal(int_of(l, "cut"), 9);
    assert_int_equal(int_of(l, "size"), 0);
    assert_string_equal(text_of(l, "real_path"), "/a/libx.so.1");
    assert_string_equal(text_of(l, "symbol_version"), "libx.so.1");
    assert_string_equal(text_of(l, "asked_how"), "dlopen");
    assert_true(json_is_true(json_object_get(l->json, "mapped")));
    free_line(l);
}

static void a_kind_that_is_none_is_not_written(void **state) {
    struct wc_record r;
    char out[WC_RECORD_MAX];
    size_t n;
    (void)state;

    wc_record_begin(&r, WC_KIND_NONE);
    assert_int_equal(wc_record_write(&r, out, sizeof(out)), 0);
    r.kind = WC_KINDS;
    assert_int_equal(wc_record_write(&r, out, sizeof(out)), 0);
    assert_null(wc_kind_fields(WC_KINDS, &n));
    assert_int_equal(n, 0);
    assert_int_equal(wc_kind_from_name("no such kind"), WC_KIND_NONE);
    assert_int_equal(wc_kind_from_name("none"), WC_KIND_NONE);
    assert_int_equal(wc_kind_from_name(NULL), WC_KIND_NONE);
}

static void kinds_and_words_lead_back(void **state) {
    (void)state;
    for (unsigned k = WC_KIND_NONE + 1; k < WC_KINDS; k++)
        assert_int_equal(wc_kind_from_name(wc_kind_name(k)), k);
    for (unsigned e = 0; e < WC_ENUMERATIONS; e++) {
        assert_null(wc_enum_word(e, 0));
        assert_non_null(wc_enum_word_raw(e, 0));
        assert_int_equal(wc_enum_value(e, wc_enum_word_raw(e, 0)), 0);
        for (unsigned v = 1; v < wc_enum_count(e); v++)
            assert_int_equal(wc_enum_value(e, wc_enum_word(e, v)), v);
        assert_null(wc_enum_word(e, wc_enum_count(e)));
    }
    assert_int_equal(wc_enum_value(WC_ENUM_role, "no such role"), 0);
    assert_int_equal(wc_enum_value(WC_ENUM_role, NULL), 0);
}

/* ---- values ---- */

static void numbers_are_whole(void **state) {
    static const int64_t values[] = {0, 1, -1, 9, 10, INT64_MAX, INT64_MIN + 1, 4503599627370497};
    struct line *l = new_line();
    struct wc_record r;
    (void)state;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        wc_record_begin(&r, WC_KIND_object);
        r.time = INT64_MAX;
        r.u.object.inode = values[i];
        write_record(&r, WC_RECORD_MAX, l);
        assert_true(int_of(l, "inode") == values[i]);
        assert_true(int_of(l, "time") == INT64_MAX);
        json_decref(l->json);
    }
    test_free(l);
}

static void words_out_of_range_are_unknown(void **state) {
    struct line *l = new_line();
    struct wc_record r;
    (void)state;

    wc_record_begin(&r, WC_KIND_object);
    r.u.object.role = (enum wc_role)WC_role_COUNT;
    r.u.object.asked_how = WC_operation_NEEDED;
    write_record(&r, WC_RECORD_MAX, l);
    assert_true(json_is_null(json_object_get(l->json, "role")));
    assert_string_equal(text_of(l, "asked_how"), "needed");
    free_line(l);
}

static void assert_spelled(const char *text, const char *expected) {
    struct line *l = new_line();
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_unobserved);
    r.u.unobserved.path = text;
    write_record(&r, WC_RECORD_MAX, l);
    assert_string_equal(text_of(l, "path"), expected);
    assert_int_equal(int_of(l, "cut"), 0);
    free_line(l);
}

static void every_byte_can_be_in_a_text(void **state) {
    (void)state;
    for (int c = 1; c < 256; c++) {
        char text[4] = {'a', (char)c, 'z', '\0'};
        assert_spelled(text, c < 0x80 ? text : "a\xEF\xBF\xBDz");
    }
}

/* The boundaries of table 3-7 of the Unicode standard; each bad byte becomes one U+FFFD. */
static void only_well_formed_utf8_passes(void **state) {
    static const char *const good[] = {
        "\xC2\x80",         "\xDF\xBF",         "\xE0\xA0\x80",
        "\xED\x9F\xBF",     "\xEE\x80\x80",     "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\xC3\xA9\xE2\x82\xAC",
        "\xE0\xBF\xBF",     "\xED\x80\x80",     "\xF0\xBF\xBF\xBF",
        "\xF4\x80\x80\x80"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80",
                                      "\xC3",
                                      "\xE2\x82",
                                      "\xF0\x9F\x98",
                                      "\xE2\x28\xA1",
                                      "\xF5\x80\x80\x80",
                                      "\xFF\xBF\xBF\xBF"};
    (void)state;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_spelled(good[i], good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char expected[16] = "";
        for (const char *s = bad[i]; *s; s++)
            strcat(expected, (unsigned char)*s < 0x80 ? (char[]){*s, '\0'} : "\xEF\xBF\xBD");
        assert_spelled(bad[i], expected);
    }
}

static void a_string_keeps_exactly_its_room(void **state) {
    static const struct {
        const char *text, *spelled;
        size_t most;
        int64_t cut;
    } rows[] = {
        {"abc", "\"abc\"", 3, 0},   {"abc", "\"ab\"", 2, 1},   {"abc", "\"\"", 0, 3},
        {"a b", "\"a b\"", 3, 0},   {"\n\n", "\"\\n\"", 3, 1}, {"", "\"\"", 0, 0},
        {"\xC3\xA9", "\"\"", 1, 2}, {NULL, "null", 0, 0},
    };
    char out[16];
    (void)state;

    assert_int_equal(wc_utf8_length(""), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wc_json j = {out, sizeof(out), 0, 0};
        wc_json_add_string(&j, rows[i].text, rows[i].most);
        out[j.n] = '\0';
        assert_string_equal(out, rows[i].spelled);
        assert_int_equal(j.cut, rows[i].cut);
    }
}

static void a_full_sink_only_counts(void **state) {
    char out[] = "........";
    struct wc_json j = {out, 4, 0, 0}, counting = {NULL, 4, 0, 0};
    (void)state;

    wc_json_add(&j, "ab", 2);
    wc_json_add(&j, "cde", 3);
    wc_json_add(&j, "f", 1);
    assert_int_equal(j.n, 6);
    assert_string_equal(out, "abcd....");
    wc_json_add(&counting, "ab", 2);
    assert_int_equal(counting.n, 2);
}

static void control_characters_never_reach_the_file(void **state) {
    struct wc_json j;
    char out[64];
    (void)state;

    j = (struct wc_json){out, sizeof(out), 0, 0};
    wc_json_add_string(&j, "\x1b\x7f\n\"\\/", 60);
    out[j.n] = '\0';
    assert_string_equal(out, "\"\\u001b\\u007f\\n\\\"\\\\/\"");
}

static void what_is_not_seen_is_spelled_out(void **state) {
    static const struct {
        const char *text, *spelled;
    } rows[] = {
        {"\xC2\x9B", "\"\\u009b\""},
        {"a\xE2\x80\x8B"
         "b",
         "\"a\\u200bb\""},
        {"\xE2\x80\xAE", "\"\\u202e\""},
        {"\xE2\x81\xA0", "\"\\u2060\""},
        {"\xE2\x81\xA9", "\"\\u2069\""},
        {"\xEF\xB8\x8F", "\"\\ufe0f\""},
        {"\xEF\xBB\xBF", "\"\\ufeff\""},
        {"\xF3\xA0\x80\x81", "\"\\udb40\\udc01\""}, /* tag characters */
        {"\xF3\xA0\x81\xBF", "\"\\udb40\\udc7f\""},
        {"\xF3\xA0\x84\x80", "\"\\udb40\\udd00\""}, /* variation selector 17 */
        {"\xC3\xA9\xE2\x80\x90\xE2\x82\xAC\xF0\x9F\x98\x80",
         "\"\xC3\xA9\xE2\x80\x90\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char out[64];
        struct wc_json j = {out, sizeof(out), 0, 0};
        wc_json_add_string(&j, rows[i].text, 60);
        out[j.n] = '\0';
        assert_string_equal(out, rows[i].spelled);
        assert_spelled(rows[i].text, rows[i].text);
    }
}

/* ---- there and back ---- */

static const char *const sample_texts[] = {"one", "", "tw\xC3\xB6 \"2\""};
static const struct wc_fact sample_facts[] = {{"n", "v", "s"}, {"n2", NULL, NULL}};

static void every_field_comes_back_as_it_was(void **state) {
    struct line *l = new_line();
    (void)state;

    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        struct wc_record r;
        size_t n;
        const struct wc_field *fields = wc_kind_fields(kind, &n);

        wc_record_begin(&r, kind);
        r.time = 1, r.seq = 2, r.pid = 3, r.tid = 4, r.cut = 5;
        for (unsigned i = 0; i < n; i++) {
            unsigned words = words_of(&fields[i]);
            const struct sample s = {.text = fields[i].name,
                                     .number = 1000 + i,
                                     .flag = true,
                                     .word = words > 1 ? 1 + i % (words - 1) : 0,
                                     .texts = {sample_texts, 3},
                                     .facts = {.p = sample_facts, .n = 2}};
            fill_field(&r, &fields[i], &s);
        }
        there_and_back(&r, l);
        for (size_t i = 0; i < n; i++)
            assert_true(json_object_get(l->json, fields[i].name) ||
                        strcmp(fields[i].name, "mapped") == 0); /* usually true */
        json_decref(l->json);
    }
    test_free(l);
}

/* ---- too long ---- */

#define LONG ((size_t)40000)

static void a_long_text_is_cut_and_counted(void **state) {
    static const size_t caps[] = {1024, 1025, 4096, WC_RECORD_MAX, LONG};
    char *text = test_malloc(LONG + 1);
    struct line *l = new_line();
    struct wc_record r;
    (void)state;

    memset(text, 'x', LONG);
    text[LONG] = '\0';
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
        size_t room = caps[i] < WC_RECORD_MAX ? caps[i] : WC_RECORD_MAX;
        wc_record_begin(&r, WC_KIND_object);
        r.u.object.path = text;
        r.u.object.soname = "libcudnn.so.9";
        write_record(&r, caps[i], l);
        assert_int_equal(l->n, room); /* not a byte is wasted */
        assert_string_equal(text_of(l, "soname"), "libcudnn.so.9");
        assert_int_equal(strlen(text_of(l, "path")) + (size_t)int_of(l, "cut"), LONG);
        json_decref(l->json);
    }
    test_free(l);
    test_free(text);
}

static void what_just_fits_is_not_cut(void **state) {
    char *text = test_malloc(LONG + 1);
    struct line *l = new_line();
    struct wc_record r;
    size_t rest;
    (void)state;

    wc_record_begin(&r, WC_KIND_unobserved);
    r.u.unobserved.path = "";
    write_record(&r, WC_RECORD_MAX, l);
    rest = WC_RECORD_MAX - l->n;
    json_decref(l->json);
    memset(text, 'y', LONG);
    r.u.unobserved.path = text;
    text[rest] = '\0';
    write_record(&r, WC_RECORD_MAX, l);
    assert_int_equal(l->n, WC_RECORD_MAX);
    assert_int_equal(int_of(l, "cut"), 0);
    json_decref(l->json);
    text[rest] = 'y';
    text[rest + 1] = '\0';
    write_record(&r, WC_RECORD_MAX, l);
    assert_int_equal(int_of(l, "cut") + (long long)strlen(text_of(l, "path")), rest + 1);
    assert_true(int_of(l, "cut") > 0);
    free_line(l);
    test_free(text);
}

static void a_character_is_never_split(void **state) {
    char *text = test_malloc(LONG + 1);
    struct line *l = new_line();
    struct wc_record r;
    (void)state;

    for (size_t shift = 0; shift < 4; shift++) {
        text[0] = '\0';
        memset(text, 'a', shift);
        for (size_t i = shift; i + 4 <= LONG; i += 4)
            memcpy(text + i, "\xF0\x9F\x98\x80", 5);
        wc_record_begin(&r, WC_KIND_unobserved);
        r.u.unobserved.path = text;
        write_record(&r, 2048, l);
        assert_null(strstr(text_of(l, "path"), "\xEF\xBF\xBD"));
        assert_int_equal((strlen(text_of(l, "path")) - shift) % 4, 0);
        json_decref(l->json);
    }
    test_free(l);
    test_free(text);
}

static void a_long_list_gives_before_a_short_text(void **state) {
    static const char *names[5000];
    struct line *l = new_line();
    struct wc_record r;
    size_t kept;
    (void)state;

    for (size_t i = 0; i < 5000; i++)
        names[i] = "cudnnCreateTensorDescriptor";
    wc_record_begin(&r, WC_KIND_binding);
    r.u.binding.functions = (struct wc_strings){names, 5000};
    r.u.binding.host_path = "/a/path/that/is/short";
    write_record(&r, WC_RECORD_MAX, l);
    assert_string_equal(text_of(l, "host_path"), "/a/path/that/is/short");
    kept = json_array_size(json_object_get(l->json, "functions"));
    assert_in_range(kept, 400, 600); /* 30 bytes each */
    assert_int_equal(kept + (size_t)int_of(l, "cut"), 5000);
    free_line(l);
}

static void long_facts_are_cut_and_counted(void **state) {
    static struct wc_fact facts[500];
    struct line *l = new_line();
    struct wc_record r;
    size_t kept;
    (void)state;

    for (size_t i = 0; i < 500; i++)
        facts[i] = (struct wc_fact){"found", "/a/path/of/some/length/libcudnn.so.9", "link map"};
    wc_record_begin(&r, WC_KIND_finding);
    r.u.finding.facts = (struct wc_facts){.p = facts, .n = 500};
    r.u.finding.title = "short";
    write_record(&r, WC_RECORD_MAX, l);
    kept = json_array_size(json_object_get(l->json, "facts"));
    assert_in_range(kept, 100, 250); /* 82 bytes each */
    assert_int_equal(kept + (size_t)int_of(l, "cut"), 500);
    assert_string_equal(text_of(l, "title"), "short");
    free_line(l);
}

static void the_texts_of_a_fact_share_its_room(void **state) {
    char *text = test_malloc(LONG + 1);
    struct wc_fact fact = {text, text, text};
    struct line *l = new_line();
    struct wc_record r;
    const char *name, *value, *source;
    (void)state;

    memset(text, 'x', LONG);
    text[LONG] = '\0';
    wc_record_begin(&r, WC_KIND_finding);
    r.u.finding.facts = (struct wc_facts){.p = &fact, .n = 1};
    write_record(&r, WC_RECORD_MAX, l);
    assert_int_equal(json_unpack(l->json, "{s:[{s:s,s:s,s:s}]}", "facts", "name", &name, "value",
                                 &value, "source", &source),
                     0);
    assert_int_equal(strlen(name), strlen(value));
    assert_int_equal(strlen(name), strlen(source));
    free_line(l);
    test_free(text);
}

static void one_long_element_leaves_room_for_others(void **state) {
    char *text = test_malloc(LONG + 1);
    const char *list[3] = {text, "SECOND=2", "THIRD=3"};
    struct line *l = new_line();
    struct wc_record r;
    json_t *kept;
    (void)state;

    memset(text, 'x', LONG);
    text[LONG] = '\0';
    wc_record_begin(&r, WC_KIND_process);
    r.u.process.environment = (struct wc_strings){list, 3};
    write_record(&r, WC_RECORD_MAX, l);
    kept = json_object_get(l->json, "environment");
    assert_int_equal(json_array_size(kept), 3);
    assert_string_equal(json_string_value(json_array_get(kept, 2)), "THIRD=3");
    free_line(l);
    test_free(text);
}

static void what_the_caller_left_out_is_counted_too(void **state) {
    struct line *l = new_line();
    struct wc_record r;
    (void)state;

    wc_record_begin(&r, WC_KIND_unobserved);
    r.cut = 7;
    write_record(&r, WC_RECORD_MAX, l);
    assert_int_equal(int_of(l, "cut"), 7);
    free_line(l);
}

static void every_kind_fits_into_the_least_room(void **state) {
    static struct wc_fact facts[300];
    static const char *texts[300];
    char *text = test_malloc(LONG + 1);
    struct line *l = new_line();
    (void)state;

    memset(text, '\x01', LONG); /* six bytes each */
    text[LONG] = '\0';
    for (size_t i = 0; i < 300; i++) {
        texts[i] = text;
        facts[i] = (struct wc_fact){text, text, text};
    }
    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        struct wc_record r;
        size_t n;
        const struct wc_field *fields = wc_kind_fields(kind, &n);

        wc_record_begin(&r, kind);
        for (unsigned i = 0; i < n; i++) {
            unsigned words = words_of(&fields[i]);
            const struct sample s = {.text = text,
                                     .number = INT64_MIN + 1,
                                     .flag = true,
                                     .word = words > 2 ? 2 : words - 1,
                                     .texts = {texts, 300},
                                     .facts = {.p = facts, .n = 300}};
            fill_field(&r, &fields[i], &s);
        }
        write_record(&r, 1024, l);
        assert_string_equal(text_of(l, "kind"), wc_kind_name(kind));
        json_decref(l->json);
        write_record(&r, WC_RECORD_MAX, l);
        json_decref(l->json);
    }
    test_free(l);
    test_free(text);
}

static void too_little_room_gives_no_line(void **state) {
    char out[128];
    struct wc_record r;
    (void)state;

    memset(out, GUARD, sizeof(out));
    wc_record_begin(&r, WC_KIND_object);
    assert_int_equal(wc_record_write(&r, out, 32), 0);
    for (size_t i = 32; i < sizeof(out); i++)
        assert_int_equal(out[i], GUARD);
    /* The least line needs its own length and no more. */
    wc_record_begin(&r, WC_KIND_unobserved);
    r.u.unobserved.what = "\x01\x01";
    size_t cap = 32, n;
    while (!(n = wc_record_write(&r, out, cap)) && cap < sizeof(out))
        cap++;
    assert_int_equal(n, cap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_left_out),
        cmocka_unit_test(what_is_known_is_there),
        cmocka_unit_test(a_kind_that_is_none_is_not_written),
        cmocka_unit_test(kinds_and_words_lead_back),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(words_out_of_range_are_unknown),
        cmocka_unit_test(every_byte_can_be_in_a_text),
        cmocka_unit_test(only_well_formed_utf8_passes),
        cmocka_unit_test(a_string_keeps_exactly_its_room),
        cmocka_unit_test(a_full_sink_only_counts),
        cmocka_unit_test(control_characters_never_reach_the_file),
        cmocka_unit_test(what_is_not_seen_is_spelled_out),
        cmocka_unit_test(every_field_comes_back_as_it_was),
        cmocka_unit_test(a_long_text_is_cut_and_counted),
        cmocka_unit_test(what_just_fits_is_not_cut),
        cmocka_unit_test(a_character_is_never_split),
        cmocka_unit_test(a_long_list_gives_before_a_short_text),
        cmocka_unit_test(long_facts_are_cut_and_counted),
        cmocka_unit_test(the_texts_of_a_fact_share_its_room),
        cmocka_unit_test(one_long_element_leaves_room_for_others),
        cmocka_unit_test(what_the_caller_left_out_is_counted_too),
        cmocka_unit_test(every_kind_fits_into_the_least_room),
        cmocka_unit_test(too_little_room_gives_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
