/* See facts.h. */
#include "dump.h"

#include <stdlib.h>

#include "render.h"
#include "tools/util/terminal.h"

struct facts {
    facts_head *head;
    facts_one *one;
    void *arg;
};

static void tell(const struct facts *f, const char *key, const json_t *value) {
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
static void tell_member(const struct facts *f, const char *key, const json_t *value) {
    const json_t *one, *inner;
    const char *name;
    char *longer;
    size_t i;

    if (!json_is_array(value)) {
        tell(f, key, value);
        return;
    }
    json_array_foreach(value, i, one) {
        if (!json_is_object(one)) {
            tell(f, key, one);
            continue;
        }
        json_object_foreach((json_t *)(uintptr_t)one, name, inner) {
            longer = must_format("%s, %s", key, name);
            tell(f, longer, inner);
            free(longer);
        }
    }
}

static void tell_object(const struct facts *f, const char *list, size_t number,
                        const json_t *object) {
    const json_t *value;
    const char *key;

    f->head(f->arg, list, number);
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        tell_member(f, key, value);
    }
}

static void tell_list(const struct facts *f, const char *list, const json_t *value) {
    const json_t *one;
    size_t i;

    json_array_foreach(value, i, one) {
        tell_object(f, list, i + 1, one);
    }
}

static void tell_stack(const struct facts *f, const json_t *stack) {
    const json_t *value;
    const char *key;

    json_object_foreach((json_t *)(uintptr_t)stack, key, value) {
        if (json_is_array(value))
            tell_list(f, key, value);
        else if (json_is_object(value))
            tell_object(f, key, 0, value);
    }
    f->head(f->arg, "stack", 0);
    json_object_foreach((json_t *)(uintptr_t)stack, key, value) {
        tell(f, key, value);
    }
}

void facts_each(const struct report *r, facts_head *head, facts_one *one, void *arg) {
    const struct facts f = {head, one, arg};
    json_t *report = render_json(r);

    tell_list(&f, "findings", json_object_get(report, "findings"));
    tell_stack(&f, json_object_get(report, "stack"));
    tell_list(&f, "sources", json_object_get(report, "sources"));
    head(arg, "report", 0);
    tell(&f, "verdict", json_object_get(report, "verdict"));
    tell(&f, "node", json_object_get(report, "node"));
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

void facts_print(FILE *to, const struct report *r) {
    facts_each(r, print_head, print_one, to);
}
