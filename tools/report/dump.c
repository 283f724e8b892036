/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is known: see render.h. */
#include <string.h>

#include "render.h"
#include "tools/util/terminal.h"

struct facts {
    dump_head *head;
    dump_one *one;
    void *arg;
};

/* A value, or a list of texts, or one of small objects (facts, fixes, damaged lines). */
static void emit(const struct facts *f, const char *key, json_t *value) {
    json_t *inner;
    const char *name;
    size_t i;

    if (json_is_string(value)) {
        f->one(f->arg, key, json_string_value(value));
    } else if (json_is_integer(value)) {
        OWNED char *text = must_format("%lld", (long long)json_integer_value(value));
        f->one(f->arg, key, text);
    } else if (json_is_boolean(value)) {
        f->one(f->arg, key, json_is_true(value) ? "yes" : "no");
    }
    json_array_foreach(value, i, inner) {
        emit(f, key, inner);
    }
    json_object_foreach(value, name, inner) {
        OWNED char *longer = must_format("%s, %s", key, name);
        emit(f, longer, inner);
    }
}

static void emit_object(const struct facts *f, const char *list, size_t number, json_t *object) {
    json_t *value;
    const char *key;

    f->head(f->arg, list, number);
    json_object_foreach(object, key, value) {
        emit(f, key, value);
    }
}

static void emit_list(const struct facts *f, const char *list, json_t *value) {
    json_t *one;
    size_t i;

    json_array_foreach(value, i, one) {
        emit_object(f, list, i + 1, one);
    }
}

static void emit_stack(const struct facts *f, json_t *stack) {
    json_t *value;
    const char *key;

    json_object_foreach(stack, key, value) {
        if (json_is_object(value))
            emit_object(f, key, 0, value);
        emit_list(f, key, value);
    }
    f->head(f->arg, "stack", 0);
    json_object_foreach(stack, key, value) {
        if (!json_is_object(value) && !json_is_array(value))
            emit(f, key, value);
    }
}

void dump_each(const struct report *r, dump_head *head, dump_one *one, void *arg) {
    const struct facts f = {head, one, arg};
    json_t *report = render_json(r), *value;
    const char *key;

    emit_list(&f, "findings", json_object_get(report, "findings"));
    emit_stack(&f, json_object_get(report, "stack"));
    emit_list(&f, "sources", json_object_get(report, "sources"));
    head(arg, "report", 0);
    json_object_foreach(report, key, value) {
        if (strcmp(key, "findings") != 0 && strcmp(key, "stack") != 0 &&
            strcmp(key, "sources") != 0)
            emit(&f, key, value);
    }
    json_decref(report);
}

static void print_head(void *arg, const char *list, size_t number) {
    print_format(arg, number ? "  %s %zu\n" : "  %s\n", list, number);
}

static void print_one(void *arg, const char *key, const char *value) {
    print_format(arg, "    %s: %s\n", key, value);
}

void dump_print(FILE *to, const struct report *r) {
    dump_each(r, print_head, print_one, to);
}
