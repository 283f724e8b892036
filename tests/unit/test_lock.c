/* Locks that were cut, changed and made in bad faith: tools/lock/lock_read.c. */
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

#include "tools/lock/lock.h"

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

    strcpy(p->path, "/tmp/test_lock-XXXXXX");
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

#define HEAD "whichcudnn-lock = 1\n"

static void each_mistake_is_told_with_its_line(void **state) {
    struct place *p = *state;

    assert_refused(p, "", "not a lock of whichcudnn (line 0: whichcudnn-lock is expected)");
    assert_refused(p, "end = true\n",
                   "not a lock of whichcudnn (line 1: whichcudnn-lock is expected first)");
    assert_refused(p, "whichcudnn-lock = 9\nx\n",
                   "line 1: a newer format than this whichcudnn reads");
    assert_refused(p, "whichcudnn-lock = \"1\"\n",
                   "not a lock of whichcudnn (line 1: whichcudnn-lock: a number is expected)");
    assert_refused(p, HEAD "object.a.role = \"facade\"\nobject.a.role = \"part\"\n",
                   "line 3: told a second time");
    assert_refused(p, HEAD "object.a.role = 3\n", "line 2: not what belongs there");
    assert_refused(p, HEAD "object.a.role = null\n", "line 2: not what belongs there");
    assert_refused(p, HEAD "object.a.base = \"1\"\n", "line 2: a fact of that name is not known");
    assert_refused(p, HEAD "object.role = \"part\"\n", "line 2: a fact of that name is not known");
    assert_refused(p, HEAD "call.a.status = 1\n", "line 2: a fact of that name is not known");
    assert_refused(p, HEAD "environment.A = 1\n", "line 2: a text is expected");
    assert_refused(p, HEAD "environment.A = \"1\"\nenvironment.A = \"2\"\n",
                   "line 3: told a second time");
    assert_refused(p, HEAD "end = false\n", "line 2: not what belongs there");
    assert_refused(p, HEAD "machine.gpus = [1]\n", "line 2: not what belongs there");
    assert_refused(p, HEAD "a.b.c.d = 1\n",
                   "line 2: no fact; `key = value` is expected, with a value of one line");
    assert_refused(p, HEAD "end = true x\n",
                   "line 2: no fact; `key = value` is expected, with a value of one line");
    assert_null(read_bytes(p, HEAD "end = true\0\n", sizeof(HEAD "end = true\0\n") - 1));
}

static void more_than_a_process_can_have_is_refused(void **state) {
    struct place *p = *state;
    FILE *to = fopen(p->path, "w");
    char *trouble = NULL;

    fputs(HEAD, to);
    for (int i = 0; i <= WC_STACK_MOST; i++)
        fprintf(to, "object.a%d.role = \"part\"\n", i);
    fputs("end = true\n", to);
    fclose(to);
    assert_null(lock_read(p->path, &trouble));
    assert_string_equal(trouble, "more than a process can have");
    free(trouble);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read, begin, end),
        cmocka_unit_test_setup_teardown(one_that_was_cut_is_refused_wherever, begin, end),
        cmocka_unit_test_setup_teardown(changed_bytes_are_refused_or_read, begin, end),
        cmocka_unit_test_setup_teardown(each_mistake_is_told_with_its_line, begin, end),
        cmocka_unit_test_setup_teardown(more_than_a_process_can_have_is_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
