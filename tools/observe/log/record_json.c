/* SPDX-License-Identifier: Apache-2.0 */
#include "record_json.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/shown.h"
#include "record_line.h"
#include "tools/util/memory.h"

/* ---- from JSON ---- */

bool record_field_from_json(const json_t *value, const struct wc_field *f, struct wc_arena *arena,
                            void *out) {
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    size_t n = text ? strlen(text) : 0;
    char *room = wc_arena_take(arena, n + 1);
    bool good = text && room && record_value_from_text(text, n, room, f, arena, out);

    free(text);
    return good;
}

static enum record_read damaged(char trouble[RECORD_TROUBLE], const char *key, const char *what) {
    snprintf(trouble, RECORD_TROUBLE, "%s%s%s", key, *key ? ": " : "", what);
    return RECORD_DAMAGED;
}

static enum record_read other_version(char trouble[RECORD_TROUBLE], json_int_t version) {
    bool older = version < WC_LOG_VERSION;

    snprintf(trouble, RECORD_TROUBLE,
             "a log of version %lld, written by %s libwhichcudnn; this command reads version %d%s",
             (long long)version, older ? "an older" : "a newer", WC_LOG_VERSION,
             older ? " (run the program again)" : "");
    return RECORD_OTHER_VERSION;
}

static enum record_read read_head(const json_t *line, struct wc_record *out,
                                  char trouble[RECORD_TROUBLE]) {
    static const char *const keys[] = {"seq", "time", "pid", "tid", "cut"};
    const json_t *v = json_object_get(line, "v");
    int64_t *to[] = {&out->seq, &out->time, &out->pid, &out->tid, &out->cut};
    enum wc_kind kind;

    if (!json_is_integer(v))
        return damaged(trouble, "v", "missing, so this is not a record");
    if (json_integer_value(v) > 0 && json_integer_value(v) != WC_LOG_VERSION)
        return other_version(trouble, json_integer_value(v));
    kind = wc_kind_from_name(json_string_value(json_object_get(line, "kind")));
    if (json_integer_value(v) != WC_LOG_VERSION || kind == WC_KIND_NONE)
        return damaged(trouble, "kind", "missing or not known");
    wc_record_begin(out, kind);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const json_t *value = json_object_get(line, keys[i]);
        *to[i] = json_integer_value(value);
        if ((!json_is_integer(value) && (value || to[i] != &out->cut)) || *to[i] == WC_NULL)
            return damaged(trouble, keys[i], "missing or not a number");
    }
    return RECORD_READ;
}

enum record_read record_from_json(const json_t *line, struct wc_arena *arena, struct wc_record *out,
                                  char trouble[RECORD_TROUBLE]) {
    enum record_read answer = read_head(line, out, trouble);
    const struct wc_field *fields;
    const json_t *value;
    size_t n;

    if (answer != RECORD_READ)
        return answer;
    fields = wc_kind_fields(out->kind, &n);
    for (size_t i = 0; i < n; i++) {
        value = json_object_get(line, fields[i].name);
        if (value &&
            !record_field_from_json(value, &fields[i], arena, (char *)&out->u + fields[i].offset))
            return damaged(trouble, fields[i].name, "not what belongs there");
    }
    return RECORD_READ;
}

/* ---- to JSON ---- */

json_t *text_to_json(const char *s) {
    struct wc_json j = {NULL, 0, 0, 0};
    json_t *value;

    if (!s || (value = json_string(s)))
        return s ? value : json_null();
    /* Not UTF-8: through the spelling of our own writer. */
    wc_json_add_string(&j, s, SIZE_MAX / 4);
    j = (struct wc_json){must_allocate(j.n + 1), j.n, 0, 0};
    wc_json_add_string(&j, s, SIZE_MAX / 4);
    value = json_loadb(j.p, j.n, JSON_DECODE_ANY, NULL);
    free(j.p);
    return value;
}

static json_t *field_to_json(const struct wc_field *f, const void *value) {
    unsigned v;
    int64_t i;

    switch (f->type) {
    case WC_FIELD_STR:
        return text_to_json(*(const char *const *)value);
    case WC_FIELD_INT:
        i = *(const int64_t *)value;
        return i == WC_NULL ? json_null() : json_integer(i);
    case WC_FIELD_BOOL:
        return json_boolean(*(const bool *)value);
    case WC_FIELD_STRS:
        return JSON_EACH(text, *(const struct wc_strings *)value, text_to_json(*text));
    case WC_FIELD_ENUM:
        memcpy(&v, value, sizeof(v));
        return text_to_json(wc_enum_word(f->enumeration, v));
    case WC_FIELD_FACTS:
        return JSON_EACH(fact, *(const struct wc_facts *)value,
                         json_pack("{s:o, s:o, s:o}", "name", text_to_json(fact->name), "value",
                                   text_to_json(fact->value), "source",
                                   text_to_json(fact->source)));
    }
    return json_null();
}

json_t *record_to_json(enum wc_kind kind, const void *fields, const char *without) {
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);
    json_t *object = json_object();

    for (; n > 0; n--, f++)
        if (!without || strcmp(f->name, without) != 0)
            json_object_set_new(object, f->name,
                                field_to_json(f, (const char *)fields + f->offset));
    return object;
}

/* DEL is ASCII, but a terminal obeys it. */
static int put_json(const char *text, size_t n, void *to) {
    for (size_t i = 0; i < n; i++)
        fprintf(to, text[i] == '\x7f' ? "\\u007f" : "%c", text[i]);
    return 0;
}

static void print_json(FILE *to, json_t *value, size_t flags) {
    json_dump_callback(value, put_json, to, JSON_INDENT(2) | JSON_ENSURE_ASCII | flags);
    putc('\n', to);
    json_decref(value);
}

void json_print(FILE *to, json_t *value) {
    print_json(to, value, 0);
}

void json_print_sorted(FILE *to, json_t *value) {
    print_json(to, value, JSON_SORT_KEYS);
}
