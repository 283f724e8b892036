/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of record.def and enums.def, and the writer of a record's line (record.h). */
#include "whichcudnn/record.h"

#include "core/base/shown.h"

/* Macros that open and close tables confuse the formatter. */
/* clang-format off */
#define ENUM(t) static const char *const t##_words[] = {
#define VALUE(t, id, word) word,
#define END_ENUM(t) };
#include "whichcudnn/enums.def"

static const struct {
    const char *const *words;
    unsigned n;
} enumerations[] = {
#define ENUM(t) {t##_words, WC_##t##_COUNT},
#define VALUE(t, id, word)
#define END_ENUM(t)
#include "whichcudnn/enums.def"
};

#define FIELD(k, type, n, doc, t) \
    {#n, offsetof(struct wc_##k##_record, n), WC_FIELD_##type, WC_ENUM_##t},
#define KIND(k, doc) static const struct wc_field k##_fields[] = {
#define END_KIND(k) };
#include "whichcudnn/record.def"

static const struct {
    const char *name;
    const struct wc_field *fields;
    size_t n;
} kinds[] = {
    {"none", NULL, 0},
#define KIND(k, doc) {#k, k##_fields, sizeof(k##_fields) / sizeof(k##_fields[0])},
#define END_KIND(k)
#include "whichcudnn/record.def"
};

/* clang-format on */

/* No limit on a value: far above any text, far below overflow. */
#define UNLIMITED (SIZE_MAX / 4)
/* A list ends if less than this is left for one more element. So every element fits, with its texts
 * cut to their shares. */
#define LEAST_STRING 64
#define LEAST_OBJECT 256

static bool known_kind(enum wc_kind kind) {
    return (unsigned)kind > WC_KIND_NONE && (unsigned)kind < WC_KINDS;
}

const struct wc_field *wc_kind_fields(enum wc_kind kind, size_t *n) {
    *n = known_kind(kind) ? kinds[kind].n : 0;
    return known_kind(kind) ? kinds[kind].fields : NULL;
}

const char *wc_kind_name(enum wc_kind kind) {
    return kinds[known_kind(kind) ? kind : WC_KIND_NONE].name;
}

enum wc_kind wc_kind_from_name(const char *name) {
    for (unsigned k = WC_KIND_NONE + 1; name && k < WC_KINDS; k++)
        if (wc_str_compare(kinds[k].name, name) == 0)
            return (enum wc_kind)k;
    return WC_KIND_NONE;
}

unsigned wc_enum_count(enum wc_enumeration e) {
    return (unsigned)e < WC_ENUMERATIONS ? enumerations[e].n : 0;
}

const char *wc_enum_word_raw(enum wc_enumeration e, unsigned value) {
    return value < wc_enum_count(e) ? enumerations[e].words[value] : NULL;
}

const char *wc_enum_word(enum wc_enumeration e, unsigned value) {
    return value == 0 ? NULL : wc_enum_word_raw(e, value);
}

unsigned wc_enum_value(enum wc_enumeration e, const char *word) {
    for (unsigned v = 1; word && v < wc_enum_count(e); v++)
        if (wc_str_compare(enumerations[e].words[v], word) == 0)
            return v;
    return 0;
}

void wc_record_begin(struct wc_record *r, enum wc_kind kind) {
    size_t n;
    const struct wc_field *fields = wc_kind_fields(kind, &n);

    wc_mem_set(r, 0, sizeof(*r));
    r->kind = kind;
    for (size_t i = 0; i < n; i++)
        if (fields[i].type == WC_FIELD_INT)
            *(int64_t *)(void *)((char *)&r->u + fields[i].offset) = WC_NULL;
}

static unsigned enum_at(const void *value) {
    unsigned v;

    _Static_assert(sizeof(enum wc_role) == sizeof(v), "an enum is an unsigned");
    wc_mem_copy(&v, value, sizeof(v));
    return v;
}

bool wc_field_is_empty(const struct wc_record *r, const struct wc_field *f) {
    const void *value = (const char *)&r->u + f->offset;

    switch (f->type) {
    case WC_FIELD_STR:
        return !*(const char *const *)value;
    case WC_FIELD_INT:
        return *(const int64_t *)value == WC_NULL;
    case WC_FIELD_BOOL:
        return !*(const bool *)value;
    case WC_FIELD_ENUM:
        return enum_at(value) == 0;
    case WC_FIELD_STRS:
        return ((const struct wc_strings *)value)->n == 0;
    case WC_FIELD_FACTS:
        return ((const struct wc_facts *)value)->n == 0;
    }
    return false;
}

static void add_member(struct wc_json *j, const char *before, const char *text, size_t most) {
    wc_json_add_text(j, before);
    wc_json_add_string(j, text, most);
}

/* list: struct wc_strings or struct wc_facts. */
static void add_list(struct wc_json *j, const void *list, bool of_facts, size_t most) {
    const struct wc_strings *strings = list;
    const struct wc_facts *facts = list;
    const size_t start = j->n, n = of_facts ? facts->n : strings->n;
    const size_t least = of_facts ? LEAST_OBJECT : LEAST_STRING;
    size_t i = 0;

    wc_json_add(j, "[", 1);
    for (; i < n && j->n - start + least <= most; i++) {
        size_t left = most - (j->n - start);
        wc_json_add(j, ",", i > 0);
        if (of_facts) {
            add_member(j, "{\"name\":", facts->p[i].name, left / 4);
            add_member(j, ",\"value\":", facts->p[i].value, left / 4);
            add_member(j, ",\"source\":", facts->p[i].source, left / 4);
            wc_json_add(j, "}", 1);
        } else {
            wc_json_add_string(j, strings->p[i], left / 2);
        }
    }
    j->cut += (int64_t)(n - i);
    wc_json_add(j, "]", 1);
}

static void add_body(struct wc_json *j, const struct wc_record *r, size_t most) {
    char digits[24];
    size_t n;
    const struct wc_field *fields = wc_kind_fields(r->kind, &n);

    for (size_t i = 0; i < n; i++) {
        const void *value = (const char *)&r->u + fields[i].offset;
        if (wc_field_is_empty(r, &fields[i]))
            continue;
        wc_json_add(j, ",\"", 2);
        wc_json_add_text(j, fields[i].name);
        wc_json_add(j, "\":", 2);
        switch (fields[i].type) {
        case WC_FIELD_STR:
            wc_json_add_string(j, *(const char *const *)value, most);
            break;
        case WC_FIELD_INT:
            wc_str_format(digits, sizeof digits, "%jd", *(const int64_t *)value);
            wc_json_add_text(j, digits);
            break;
        case WC_FIELD_BOOL:
            wc_json_add_text(j, "true"); /* false is empty */
            break;
        case WC_FIELD_ENUM:
            wc_json_add_string(j, wc_enum_word(fields[i].enumeration, enum_at(value)), UNLIMITED);
            break;
        case WC_FIELD_STRS:
        case WC_FIELD_FACTS:
            add_list(j, value, fields[i].type == WC_FIELD_FACTS, most);
            break;
        }
    }
    wc_json_add(j, "}\n", 2);
}

/* Each text and each list may take at most `most` bytes. Returns the bytes of the line; if they are
 * more than `room`, it is not whole. */
static size_t write_line(const struct wc_record *r, size_t most, char *out, size_t room) {
    struct wc_json j = {out, room, 0, 0}, body = {NULL, 0, 0, 0};
    char head[256];
    struct wc_text t;

    if (most < UNLIMITED) /* the head says how much that leaves out */
        add_body(&body, r, most);
    const int64_t cut = body.cut + (r->cut > 0 ? r->cut : 0);
    wc_text_begin(&t, head, sizeof head);
    wc_text_format(&t, "{\"v\":%d,\"kind\":\"%s\",\"time\":%jd,\"seq\":%jd,\"pid\":%jd,\"tid\":%jd",
                   WC_LOG_VERSION, wc_kind_name(r->kind), r->time, r->seq, r->pid, r->tid);
    if (cut)
        wc_text_format(&t, ",\"cut\":%jd", cut);
    wc_json_add_text(&j, head);
    add_body(&j, r, most);
    return j.n;
}

/* Where the line does not fit, each value gets the largest limit with which it does. So the longest
 * values are cut first: a path stays whole while a list is longer than the path. */
size_t wc_record_write(const struct wc_record *r, char *out, size_t cap) {
    const size_t room = cap < WC_RECORD_MAX ? cap : WC_RECORD_MAX;
    size_t fits = 0, exceeds = room, n;

    if (!known_kind(r->kind))
        return 0;
    n = write_line(r, UNLIMITED, out, room);
    if (n <= room)
        return n;
    if (write_line(r, 0, NULL, 0) > room)
        return 0;
    while (exceeds - fits > 1) {
        size_t middle = fits + (exceeds - fits) / 2;
        *(write_line(r, middle, NULL, 0) <= room ? &fits : &exceeds) = middle;
    }
    return write_line(r, fits, out, room);
}
