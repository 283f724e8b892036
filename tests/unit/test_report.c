/* SPDX-License-Identifier: Apache-2.0 */
/* What reports are made with: lines read quickly, lines filled, names taken out. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_record.h"
#include "support_seed.h"
#include "tools/observe/log/record_json.h"
#include "tools/observe/log/redact.h"
#include "tools/report/report.h"
#include "tools/util/memory.h"
#include "tools/util/terminal.h"

/* ---- the quick reader and jansson ---- */

static char line[WC_RECORD_MAX + 1];

/* 1: read alike by both, 0: left to jansson. Where the quick one reads, jansson must, and the same.
 */
static int read_both(const char *text, size_t n) {
    static char room[WC_RECORD_MAX + 1];
    char trouble[RECORD_TROUBLE];
    struct heap_arena lists;
    struct wc_record quick, slow;
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL), *a, *b;
    int answer = 0;

    heap_arena_begin(&lists);
    if (record_from_line(text, n, room, &lists.arena, &quick)) {
        assert_non_null(json);
        assert_int_equal(record_from_json(json, &lists.arena, &slow, trouble), RECORD_READ);
        assert_int_equal(quick.kind, slow.kind);
        assert_int_equal(quick.time, slow.time);
        assert_int_equal(quick.seq, slow.seq);
        assert_int_equal(quick.cut, slow.cut);
        a = record_to_json(quick.kind, &quick.u, NULL);
        b = record_to_json(slow.kind, &slow.u, NULL);
        assert_true(json_equal(a, b));
        json_decref(a);
        json_decref(b);
        answer = 1;
    }
    heap_arena_end(&lists);
    json_decref(json);
    return answer;
}

static const char *const texts[] = {"",
                                    "plain",
                                    "a \"quoted\" \\ one",
                                    "line\nand\ttab\r",
                                    "\x01\x1f\x7f",
                                    "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80",
                                    "/a/path/that/is/longer/than/eight/bytes",
                                    "1234567",
                                    "12345678",
                                    "123456789\""};
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

static const char *draw_text(void) {
    return texts[rand() % TEXTS];
}

static void draw_field(struct wc_record *r, const struct wc_field *f, const char **list) {
    const struct sample s = {.text = rand() % 4 ? draw_text() : NULL,
                             .number = rand() % 4 ? rand() - RAND_MAX / 2 : WC_NULL,
                             .flag = rand() % 2,
                             .word = (unsigned)rand() % words_of(f),
                             .texts = {list, (size_t)(rand() % 40)},
                             .facts = {.p = (void *)list, .n = (size_t)(rand() % 13)}};
    fill_field(r, f, &s);
}

static size_t draw_line(void) {
    static const char *list[40];
    struct wc_record r;
    size_t n, fields;
    const struct wc_field *f;

    for (size_t i = 0; i < 40; i++)
        list[i] = draw_text();
    wc_record_begin(&r, (enum wc_kind)(WC_KIND_NONE + 1 + rand() % (WC_KINDS - 1)));
    r.time = rand();
    r.seq = rand();
    r.pid = r.tid = 1;
    f = wc_kind_fields(r.kind, &fields);
    for (size_t i = 0; i < fields; i++)
        draw_field(&r, &f[i], list);
    n = wc_record_write(&r, line, WC_RECORD_MAX);
    assert_true(n > 0);
    return n - 1;
}

static void what_the_writer_writes_is_read_quickly(void **state) {
    (void)state;
    for (int i = 0; i < 3000; i++)
        assert_int_equal(read_both(line, draw_line()), 1);
}

static void what_is_changed_is_never_read_otherwise(void **state) {
    static const char changes[] = "\"\\{}[],:0 9nut-e.\x01\xFF\xC3x";
    int quick = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t n = draw_line();
        line[(size_t)rand() % n] = changes[(size_t)rand() % (sizeof(changes) - 1)];
        quick += read_both(line, rand() % 8 ? n : (size_t)rand() % n);
    }
    /* Letters within texts change what is read, and nothing else does. */
    assert_in_range(quick, 1, 19999);
}

/* ---- lines of 80 columns ---- */

static void assert_shortened(const char *text, size_t width, const char *expected) {
    char *got = layout_shortened(text, width);

    assert_string_equal(got, expected);
    free(got);
}

static void a_path_keeps_its_ends(void **state) {
    (void)state;
    assert_shortened("/a/b/c.so", 9, "/a/b/c.so");
    assert_shortened("/first/second/third/c.so", 20, "/first/.../c.so");
    assert_shortened("/first/second/third/c.so", 22, "/first/.../third/c.so");
    assert_shortened("/longfirst/second/c.so", 10, ".../c.so");
    assert_shortened("/a/libverylongname.so", 12, "libv...me.so");
    assert_shortened("no-directory-at-all", 10, "no-...-all");
    assert_shortened("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 8,
                     "\xC3\xA9\xC3\xA9...\xC3\xA9\xC3\xA9\xC3\xA9");
}

static void no_text_makes_a_line_longer(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct sink sink;
        struct layout l = {.to = sink_begin(&sink)};
        char word[400], *text;

        layout_line(&l, rand() % 30, rand() % 40);
        for (int k = rand() % 20; k >= 0; k--) {
            size_t n = (size_t)(rand() % 10 ? rand() % 30 : rand() % 399);
            for (size_t c = 0; c < n; c++)
                word[c] = "ab/-\x1b\n"[rand() % 6];
            word[n] = '\0';
            if (k % 2)
                layout_painted(&l, word, PAINT_BOLD);
            else
                layout_words(&l, "%s and %d", word, k);
        }
        layout_end(&l);
        text = sink_end(&sink);
        for (char *at = text, *one; (one = strsep(&at, "\n"));)
            assert_in_range(strlen(one), 0, LAYOUT_WIDTH);
        assert_null(strchr(text, '\x1b'));
        free(text);
    }
}

/* ---- names ---- */

static struct source *source_of(const char *node, const char *path) {
    struct source *s = source_new(SOURCE_LOG, "x.jsonl");
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_process);
    r.u.process.node = node;
    r.u.process.directory = path;
    source_add(s, &r);
    return s;
}

static void assert_redacted(const struct redaction *r, const char *text, const char *expected) {
    char *got = redaction_text(r, text);

    assert_string_equal(got, expected);
    free(got);
}

static void a_name_is_changed_where_it_is_one(void **state) {
    struct source *s, *t;
    struct redaction *r;

    (void)state;
    r = redaction_of_nobody();
    s = source_of("gpu-7.example.org", "/home/zoe.q/work");
    t = source_of("gpu-70", "/home/cudnn/work");
    redaction_learn(r, s);
    redaction_learn(r, t);
    assert_redacted(r, "/home/zoe.q/x: /data/zoe.q/y by zoe.q",
                    "/home/user1/x: /data/user1/y by user1");
    assert_redacted(r, "zoe.qq azoe.q zoe", "zoe.qq azoe.q zoe");
    assert_redacted(r, "gpu-7.example.org gpu-7 gpu-70 gpu-700", "node1 node1 node2 gpu-700");
    assert_redacted(r, "whichcudnn-gpu-70-1-2.jsonl", "whichcudnn-node2-1-2.jsonl");
    assert_redacted(r, "/home/cudnn/nvidia/cudnn/lib", "/home/user2/nvidia/cudnn/lib");
    assert_redacted(r, "", "");
    redaction_apply_all(r, &(struct logs){.processes = &s, .process_count = 1});
    assert_string_equal(s->stack.process.node, "node1");
    assert_string_equal(s->stack.process.directory, "/home/user1/work");
    source_free(s);
    source_free(t);
    redaction_free(r);
}

enum { CHAIN = 5000 };

static void *merge_chain(void *reports) {
    static struct merged merged;

    merge(&merged, reports, CHAIN);
    return &merged;
}

/* Each process started the next one, as in a directory of any number of logs. */
static void however_deep_a_tree_is_it_takes_no_stack(void **state) {
    (void)state;
    struct source *sources = must_allocate(CHAIN * sizeof(*sources));
    struct report *reports = must_allocate(CHAIN * sizeof(*reports));
    pthread_attr_t small;
    pthread_t thread;
    void *made;

    for (int i = 0; i < CHAIN; i++) {
        sources[i].pid = i + 1;
        sources[i].first_time = i;
        sources[i].stack.has_process = true;
        sources[i].stack.process.parent_pid = i ? i : WC_NULL;
        reports[i].source = &sources[i];
    }
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)128 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, merge_chain, reports), 0);
    assert_int_equal(pthread_join(thread, &made), 0);
    const struct merged *m = made;
    for (int i = 0; i < CHAIN; i++) {
        assert_int_equal(m->p[i].depth, i);
        assert_ptr_equal(m->p[i].report, &reports[i]);
    }
    merged_end(made);
    free(reports);
    free(sources);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_writer_writes_is_read_quickly),
        cmocka_unit_test(what_is_changed_is_never_read_otherwise),
        cmocka_unit_test(a_path_keeps_its_ends),
        cmocka_unit_test(no_text_makes_a_line_longer),
        cmocka_unit_test(a_name_is_changed_where_it_is_one),
        cmocka_unit_test(however_deep_a_tree_is_it_takes_no_stack),
    };
    seed_draws();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
