/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that were cut, changed and made in bad faith: tools/report/lock/lock.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support_place.h"
#include "tools/report/lock/lock.h"
#include "tools/report/report.h"

#define MUTATIONS 2000

struct place {
    char path[64];
    char *text; /* a good lock */
    size_t n;
};

static struct source *make_stack(void) {
    static const char *const variables[] = {"LD_LIBRARY_PATH=/x", "RANK=1"};
    struct source *s = source_new(SOURCE_LOG, "a.jsonl");
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_process);
    r.u.process.environment = (struct wc_strings){variables, 2};
    source_add(s, &r);
    wc_record_begin(&r, WC_KIND_object);
    r.u.object.object = 1;
    r.u.object.role = WC_role_FACADE;
    r.u.object.soname = "libcudnn.so.9";
    r.u.object.path = "/v/\"quoted\\\n\x1b\xe2\x80\xae/libcudnn.so.9";
    r.u.object.version = "9.8.0";
    source_add(s, &r);
    return s;
}

static int begin(void **state) {
    struct place *p = must_allocate(sizeof(*p));
    struct source *s = make_stack();
    FILE *to = open_memstream(&p->text, &p->n);

    temporary_name(p->path, sizeof(p->path));
    close(mkstemp(p->path));
    lock_write(to, s, true);
    fclose(to);
    source_free(s);
    *state = p;
    return 0;
}

static int end(void **state) {
    struct place *p = *state;

    unlink(p->path);
    free(p->text);
    free(p);
    return 0;
}

/* What was read; NULL: refused, with a reason. */
static struct source *read_bytes(const struct place *p, const void *text, size_t n) {
    FILE *to = fopen(p->path, "w");
    char *trouble = NULL;
    struct source *s;

    assert_int_equal(fwrite(text, 1, n, to), n);
    fclose(to);
    s = lock_read(p->path, &trouble);
    assert_true(s ? !trouble : trouble && *trouble);
    free(trouble);
    return s;
}

static void assert_refused(const struct place *p, const char *text, const char *why) {
    FILE *to = fopen(p->path, "w");
    char *trouble = NULL;

    fputs(text, to);
    fclose(to);
    assert_null(lock_read(p->path, &trouble));
    assert_string_equal(trouble, why);
    free(trouble);
}

static void what_was_written_is_read(void **state) {
    struct place *p = *state;
    struct source *s = read_bytes(p, p->text, p->n);

    assert_non_null(s);
    assert_int_equal(s->type, SOURCE_LOCK);
    assert_int_equal(s->stack.objects.n, 1);
    assert_string_equal(s->stack.objects.p[0].r.path,
                        "/v/\"quoted\\\n\x1b\xe2\x80\xae/libcudnn.so.9");
    assert_false(s->stack.objects.p[0].r.mapped);
    assert_int_equal(s->stack.process.environment.n, 1);
    assert_string_equal(s->stack.process.environment.p[0], "LD_LIBRARY_PATH=/x");
    assert_true(lock_begins(p->path));
    source_free(s);
}

/* All but the last newline is needed. */
static void one_that_was_cut_is_refused_wherever(void **state) {
    struct place *p = *state;

    for (size_t n = 0; n + 1 < p->n; n++)
        assert_null(read_bytes(p, p->text, n));
    source_free(read_bytes(p, p->text, p->n - 1));
}

static void changed_bytes_are_refused_or_read(void **state) {
    struct place *p = *state;
    unsigned seed = (unsigned)time(NULL);
    char *text = must_allocate(p->n);

    print_message("seed %u\n", seed);
    for (int i = 0; i < MUTATIONS; i++) {
        memcpy(text, p->text, p->n);
        for (int k = 0; k <= i % 3; k++)
            text[(size_t)rand_r(&seed) % p->n] = (char)rand_r(&seed);
        struct source *s = read_bytes(p, text, p->n);
        if (s)
            source_free(s);
    }
    free(text);
}

#define LOCK(rest) "{\n\"whichcudnn-lock\": 3" rest "\n}\n"
#define OBJECT(facts) LOCK(",\n\"object\": [{\n\"name\": \"libcudnn.so.9\",\n" facts "\n}]")
#define FOREIGN "not a lock of whichcudnn"
#define OLDER                                                                                      \
    "a lock in the format of an older whichcudnn, which is read no longer; `whichcudnn lock -o "   \
    "FILE LOG` makes a new one"
#define SECTIONS                                                                                   \
    "a lock has lists of binding, demand, machine, object, package, process, search, and "         \
    "complete and whichcudnn-lock"

static void each_mistake_is_told_with_its_place(void **state) {
    struct place *p = *state;

    assert_refused(p, "", FOREIGN);
    assert_refused(p, "{}", FOREIGN);
    assert_refused(p, "{\"v\": 1}\n", FOREIGN);
    assert_refused(p, "{\"object\": []}\n", "\"whichcudnn-lock\": 3 is missing");
    assert_refused(p, "{\n\"whichcudnn-lock\": 9}\n", "a newer format than this whichcudnn reads");
    assert_refused(p, "{\"whichcudnn-lock\": \"3\"}\n", "\"whichcudnn-lock\": 3 is missing");
    assert_refused(p, LOCK("\n<<<<<<< HEAD"), "line 3: '}' expected near '<'");
    assert_refused(p, OBJECT("\"version\": \"9.8\",\n\"version\": \"9.8\""),
                   "line 6: duplicate object key near '\"version\"'");
    assert_refused(p, OBJECT("\"version\": null"), "object 1: version: not what belongs there");
    assert_refused(p, OBJECT("\"build_id\": \"version\",\n\"version\": {}"),
                   "object 1: version: not what belongs there");
    assert_refused(p, OBJECT("\"is_host\": \"true\""), "object 1: is_host: not what belongs there");
    assert_refused(p, OBJECT("\"role\": \"hosts\""), "object 1: role: not what belongs there");
    assert_refused(p, LOCK(",\n\"search\": [{\"name\": \"a\"}, {\"name\": \"a\", \"index\": 1}]"),
                   "search 2: index: no fact of that name is known");
    assert_refused(p, LOCK(",\n\"search\": [{\"rule\": \"DT_RPATH\"}]"),
                   "search 1: name: is missing");
    assert_refused(p, LOCK(",\n\"object\": [{\"version\": \"9\"}]"),
                   "object 1: name: a text is expected");
    assert_refused(p, LOCK(",\n\"object\": [{\"name\": \"a\"}, {\"name\": \"a\"}]"),
                   "object 2: name: another object has it, too");
    assert_refused(p, LOCK(",\n\"package\": [1]"),
                   "package 1: an object is expected: {\"fact\": \"text\", ...}");
    assert_refused(p, LOCK(",\n\"complete\": {\"calls\": 1}"),
                   "complete: calls: no section is counted so");
    assert_refused(p, LOCK(",\n\"complete\": {\"object\": true}"),
                   "complete: object: no section is counted so");
    assert_refused(p, LOCK(",\n\"complete\": []"),
                   "complete: an object is expected: {\"section\": number, ...}");
    assert_refused(p, LOCK(",\n\"object\": {}"), "object: " SECTIONS);
    assert_refused(p, LOCK(",\n\"machine\": [{\n\"gpus\": \"A\"}]"),
                   "machine 1: gpus: not what belongs there");
    assert_refused(p, LOCK(",\n\"process\": [{\n\"environment\": [1]}]"),
                   "process 1: environment: not what belongs there");
    assert_refused(p, LOCK(",\n\"call\": []"), "call: " SECTIONS);
    assert_refused(p, LOCK("") "{}", "line 4: end of file expected near '{'");
    assert_null(read_bytes(p, LOCK("") "\0", sizeof(LOCK("") "\0") - 1));
}

static void older_formats_are_told_with_the_way_out(void **state) {
    struct place *p = *state;

    assert_refused(p, "# Which cuDNN\nwhichcudnn-lock = 1\nend = true\n", OLDER);
    assert_true(lock_begins(p->path));
    assert_refused(p, "{\"objects\": {\"a\": {}}, \"whichcudnn-lock\": 2}\n", OLDER);
    assert_true(lock_begins(p->path));
}

static void one_of_a_few_lines_by_hand_is_read(void **state) {
    struct place *p = *state;
    const char text[] =
        "{ \"object\": [{\"name\": \"(2)/libcudnn_graph.so.9\", \"version\": \"9.1.0\"},\r\n"
        "  {\"name\": \"a.so\"}],\r\n"
        "  \"machine\": [{\"gpus\": [\"A\", \"B\"]}],\n  \"whichcudnn-lock\": 3}";
    struct source *s = read_bytes(p, text, sizeof(text) - 1);
    const struct wc_object_record *o;

    assert_non_null(s);
    assert_true(lock_begins(p->path));
    o = &s->stack.objects.p[0].r;
    assert_int_equal(o->role, WC_role_PART);
    assert_string_equal(o->part, "graph");
    assert_string_equal(library_name(o), "libcudnn_graph.so.9");
    assert_string_equal(o->version, "9.1.0");
    assert_true(o->mapped);
    assert_int_equal(s->stack.objects.p[1].r.role, WC_role_HOST);
    assert_int_equal(s->stack.machine.gpus.n, 2);
    assert_string_equal(s->stack.machine.gpus.p[1], "B");
    assert_true(s->in_part[WC_KIND_object] && s->in_part[WC_KIND_package] &&
                s->in_part[WC_KIND_demand]);
    source_free(s);
}

static void what_is_counted_is_complete_until_something_is_taken_out(void **state) {
    static const struct {
        const char *text;
        bool in_part;
    } locks[] = {
        {LOCK(", \"complete\": {\"object\": 2}, \"object\": [{\"name\": \"a\"}, {\"name\": "
              "\"b\", \"mapped\": false}]"),
         false},
        {LOCK(", \"complete\": {\"object\": 2}, \"object\": [{\"name\": \"a\"}]"), true},
        {LOCK(", \"complete\": {}, \"object\": [{\"name\": \"a\"}]"), true}};
    struct place *p = *state;
    struct source *s;

    for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
        s = read_bytes(p, locks[i].text, strlen(locks[i].text));
        assert_non_null(s);
        assert_int_equal(s->in_part[WC_KIND_object], locks[i].in_part);
        source_free(s);
    }
}

static void more_than_a_process_can_have_is_refused(void **state) {
    struct place *p = *state;
    FILE *to = fopen(p->path, "w");
    char *trouble = NULL;

    fputs("{\"whichcudnn-lock\": 3, \"object\": [", to);
    for (int i = 0; i <= WC_STACK_MOST; i++)
        fprintf(to, "%s\n{\"name\": \"a%d\"}", i > 0 ? "," : "", i);
    fputs("]}\n", to);
    fclose(to);
    assert_null(lock_read(p->path, &trouble));
    assert_string_equal(trouble, "object 4097: more than a process can have");
    free(trouble);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read, begin, end),
        cmocka_unit_test_setup_teardown(one_that_was_cut_is_refused_wherever, begin, end),
        cmocka_unit_test_setup_teardown(changed_bytes_are_refused_or_read, begin, end),
        cmocka_unit_test_setup_teardown(each_mistake_is_told_with_its_place, begin, end),
        cmocka_unit_test_setup_teardown(older_formats_are_told_with_the_way_out, begin, end),
        cmocka_unit_test_setup_teardown(one_of_a_few_lines_by_hand_is_read, begin, end),
        cmocka_unit_test_setup_teardown(what_is_counted_is_complete_until_something_is_taken_out,
                                        begin, end),
        cmocka_unit_test_setup_teardown(more_than_a_process_can_have_is_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
