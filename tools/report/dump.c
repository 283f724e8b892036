/* SPDX-License-Identifier: Apache-2.0 */
/* See dump.h. */
#include "dump.h"

#include <stdlib.h>

#include "render.h"
#include "tools/util/terminal.h"

struct facts {
    dump_head *head;
    dump_one *one;
    void *arg;
};

static void emit(const struct facts *f, const char *key, const json_t *value) {
    char *text;

    if (json_is_string(value)) {
        f->one(f->arg, key, json_string_value(value));
    } else if (json_is_integer(value)) {
        text = must_format("%lld", (long long)json_integer_value(value));
        f->one(f->arg, key, text);
        free(text);
    } else if (json_is_boolean(value)) {
        f->one(f->arg, key, json_is_true(value) ? "yes" : "no");
    }
}

/* A member: a value, or a list of texts, or one of small objects (facts, fixes, damaged lines). */
static void report_member(const struct facts *f, const char *key, const json_t *value) {
    const json_t *one, *inner;
    const char *name;
    char *longer;
    size_t i;

    if (!json_is_array(value)) {
        emit(f, key, value);
        return;
    }
    json_array_foreach(value, i, one) {
        if (!json_is_object(one)) {
            emit(f, key, one);
            continue;
        }
        json_object_foreach((json_t *)(uintptr_t)one, name, inner) {
            longer = must_format("%s, %s", key, name);
            emit(f, longer, inner);
            free(longer);
        }
    }
}

static void emit_object(const struct facts *f, const char *list, size_t number,
                        const json_t *object) {
    const json_t *value;
    const char *key;

    f->head(f->arg, list, number);
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        report_member(f, key, value);
    }
}

static void report_list(const struct facts *f, const char *list, const json_t *value) {
    const json_t *one;
    size_t i;

    json_array_foreach(value, i, one) {
        emit_object(f, list, i + 1, one);
    }
}

static void report_stack(const struct facts *f, const json_t *stack) {
    const json_t *value;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)stack, key, value) {
        if (json_is_array(value))
            report_list(f, key, value);
        else if (json_is_object(value))
            emit_object(f, key, 0, value);
    }
    f->head(f->arg, "stack", 0);
    json_object_foreach((json_t *)(uintptr_t)stack, key, value) {
        emit(f, key, value);
    }
}

void dump_each(const struct report *r, dump_head *head, dump_one *one, void *arg) {
    const struct facts f = {head, one, arg};
    json_t *report = render_json(r);

    report_list(&f, "findings", json_object_get(report, "findings"));
    report_stack(&f, json_object_get(report, "stack"));
    report_list(&f, "sources", json_object_get(report, "sources"));
    head(arg, "report", 0);
    emit(&f, "verdict", json_object_get(report, "verdict"));
    emit(&f, "node", json_object_get(report, "node"));
    json_decref(report);
}

static void print_head(void *arg, const char *list, size_t number) {
    if (number)
        print_format(arg, "  %s %zu\n", list, number);
    else
        print_format(arg, "  %s\n", list);
}

static void print_one(void *arg, const char *key, const char *value) {
    print_format(arg, "    %s: %s\n", key, value);
}

void dump_print(FILE *to, const struct report *r) {
    dump_each(r, print_head, print_one, to);
}
