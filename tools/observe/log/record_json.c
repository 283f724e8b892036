/* SPDX-License-Identifier: Apache-2.0 */
#include "record_json.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/shown.h"
#include "tools/util/memory.h"

/* ---- from text, as our own writer spells it ---- */

struct reading {
    const char *p, *end;
    char *room;
    struct wc_arena *arena;
};

static bool take(struct reading *in, const char *text, size_t n) {
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, text, n) != 0)
        return false;
    in->p += n;
    return true;
}
#define TAKE(in, literal) take(in, literal, sizeof(literal) - 1)

/* What is before a value. */
static bool take_key(struct reading *in, const char *name) {
    const char *p = in->p;
    size_t n = strlen(name);

    if ((size_t)(in->end - p) < n + 4 || p[0] != ',' || p[1] != '"' ||
        memcmp(p + 2, name, n) != 0 || p[n + 2] != '"' || p[n + 3] != ':')
        return false;
    in->p += n + 4;
    return true;
}

/* ---- texts ---- */

/* What begins with a backslash, as the writers spell it. */
static bool copy_escaped(struct reading *in) {
    static const char letters[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
    size_t left = (size_t)(in->end - in->p);
    char c = left < 2 ? 0 : in->p[1];

    if (c == 'u') {
        char hex[5] = ""; /* of a control character: the writers spell nothing else so */

        memcpy(hex, in->p + 2, left < 6 ? 0 : 4);
        c = strspn(hex, "0123456789abcdefABCDEF") == 4 && strtoul(hex, NULL, 16) < 0x80
                ? (char)strtoul(hex, NULL, 16)
                : 0;
        in->p += 4;
    } else {
        const char *letter = memchr(letters, c, sizeof(letters) - 1);
        c = letter ? meant[letter - letters] : 0;
    }
    *in->room++ = c;
    in->p += 2;
    return c != 0;
}

/* Copies what is spelled as it is: nearly all of any text. */
static void copy_plain(struct reading *in) {
    static const bool is_plain[256] = {
        [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... 0x7f] = true};
    const char *p = in->p;

    while (p < in->end && is_plain[(unsigned char)*p])
        *in->room++ = *p++;
    in->p = p;
}

/* One character of more than a byte. The line ends with a NUL. */
static bool copy_wide(struct reading *in) {
    size_t n = wc_utf8_length(in->p);

    if (n < 2 || (size_t)(in->end - in->p) < n)
        return false;
    memcpy(in->room, in->p, n);
    in->room += n;
    in->p += n;
    return true;
}

static bool read_string(struct reading *in, const char **out) {
    if (!TAKE(in, "\""))
        return false;
    *out = in->room;
    for (;;) {
        copy_plain(in);
        if (in->p == in->end)
            return false;
        if (*in->p == '"')
            break;
        if (!(*in->p == '\\' ? copy_escaped(in) : copy_wide(in)))
            return false;
    }
    in->p++;
    *in->room++ = '\0'; /* in the place of the two quotes */
    return true;
}

static bool read_text(struct reading *in, const char **out) {
    *out = NULL;
    return TAKE(in, "null") || read_string(in, out);
}

/* ---- other values ---- */

static bool read_number(struct reading *in, int64_t *out) {
    bool negative = TAKE(in, "-");
    const char *start = in->p;
    int64_t v = 0;

    for (; in->p < in->end && *in->p >= '0' && *in->p <= '9'; in->p++) {
        int digit = negative ? '0' - *in->p : *in->p - '0';
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return in->p > start && v != WC_NULL && !(*start == '0' && (in->p - start > 1 || negative));
}

static bool read_enum(struct reading *in, enum wc_enumeration e, void *out) {
    const char *word;

    if (!read_text(in, &word))
        return false;
    unsigned v = wc_enum_value(e, word);
    memcpy(out, &v, sizeof(v));
    return v > 0 || !word;
}

/* Its members in any order. */
static bool read_fact(struct reading *in, const char **out) {
    static const char *const members[] = {"\"name\":", "\"value\":", "\"source\":"};
    int there = 0;

    for (int n = 0; n < 3; n++) {
        int i = 0;
        if (!take(in, n ? "," : "{", 1))
            return false;
        while (i < 3 && !take(in, members[i], strlen(members[i])))
            i++;
        if (i == 3 || !read_text(in, &out[i]))
            return false;
        there |= 1 << i;
    }
    return there == 7 && TAKE(in, "}");
}

/* Of texts, or of facts, which are three texts each. */
static bool read_list(struct reading *in, bool of_facts, struct wc_strings *texts) {
    OWNED const char **p = NULL;
    size_t n = 0;

    if (!TAKE(in, "["))
        return false;
    while (!TAKE(in, "]")) {
        p = must_grow(p, (n + 3) * sizeof(*p));
        if ((n > 0 && !TAKE(in, ",")) || !(of_facts ? read_fact : read_string)(in, p + n))
            return false;
        n += of_facts ? 3 : 1;
    }
    const size_t size = n * sizeof(*p);
    *texts = (struct wc_strings){n > 0 ? memcpy(wc_arena_take(in->arena, size), p, size) : NULL, n};
    return true;
}

static bool read_value(struct reading *in, const struct wc_field *f, void *out) {
    struct wc_strings texts;
    _Static_assert(sizeof(struct wc_fact) == 3 * sizeof(char *), "a fact is three texts");

    switch (f->type) {
    case WC_FIELD_STR:
        return read_text(in, out);
    case WC_FIELD_INT:
        *(int64_t *)out = WC_NULL;
        return TAKE(in, "null") || read_number(in, out);
    case WC_FIELD_BOOL:
        *(bool *)out = TAKE(in, "true");
        return *(bool *)out || TAKE(in, "false");
    case WC_FIELD_STRS:
        return read_list(in, false, out);
    case WC_FIELD_ENUM:
        return read_enum(in, f->enumeration, out);
    case WC_FIELD_FACTS:
        if (!read_list(in, true, &texts))
            return false;
        *(struct wc_facts *)out = (struct wc_facts){.p = (const void *)texts.p, .n = texts.n / 3};
        return true;
    }
    return false;
}

bool record_from_line(const char *line, size_t n, char *room, struct wc_arena *arena,
                      struct wc_record *out) {
    static const char *const keys[] = {"time", "seq", "pid", "tid"};
    struct reading in = {line, line + n, room, arena};
    int64_t v, *to[] = {&out->time, &out->seq, &out->pid, &out->tid};
    const char *word;
    size_t count;

    if (!TAKE(&in, "{\"v\":") || !read_number(&in, &v) || v != WC_LOG_VERSION ||
        !take_key(&in, "kind") || !read_string(&in, &word) || !wc_kind_from_name(word))
        return false;
    wc_record_begin(out, wc_kind_from_name(word));
    for (int i = 0; i < 4; i++)
        if (!take_key(&in, keys[i]) || !read_number(&in, to[i]))
            return false;
    if (take_key(&in, "cut") && !read_number(&in, &out->cut))
        return false;
    const struct wc_field *fields = wc_kind_fields(out->kind, &count);
    for (size_t i = 0; i < count; i++)
        if (take_key(&in, fields[i].name) &&
            !read_value(&in, &fields[i], (char *)&out->u + fields[i].offset))
            return false;
    return TAKE(&in, "}") && in.p == in.end;
}

/* ---- from JSON ---- */

bool record_field_from_json(const json_t *value, const struct wc_field *f, struct wc_arena *arena,
                            void *out) {
    OWNED char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    const size_t n = text ? strlen(text) : 0;
    struct reading in = {text, text + n, wc_arena_take(arena, n + 1), arena};

    return text && read_value(&in, f, out) && in.p == in.end;
}

static enum record_read damaged(char trouble[RECORD_TROUBLE], const char *key, const char *what) {
    snprintf(trouble, RECORD_TROUBLE, "%s%s%s", key, *key ? ": " : "", what);
    return RECORD_DAMAGED;
}

enum record_read record_from_json(const json_t *line, struct wc_arena *arena, struct wc_record *out,
                                  char trouble[RECORD_TROUBLE]) {
    static const char *const keys[] = {"seq", "time", "pid", "tid", "cut"};
    const json_t *v = json_object_get(line, "v"), *value;
    const json_int_t version = json_integer_value(v);
    int64_t *to[] = {&out->seq, &out->time, &out->pid, &out->tid, &out->cut};
    size_t n;

    if (!json_is_integer(v))
        return damaged(trouble, "v", "missing, so this is not a record");
    if (version > 0 && version != WC_LOG_VERSION) {
        const bool older = version < WC_LOG_VERSION;

        snprintf(trouble, RECORD_TROUBLE,
                 "a log of version %lld, written by %s libwhichcudnn; this command reads version "
                 "%d%s",
                 (long long)version, older ? "an older" : "a newer", WC_LOG_VERSION,
                 older ? " (run the program again)" : "");
        return RECORD_OTHER_VERSION;
    }
    enum wc_kind kind = wc_kind_from_name(json_string_value(json_object_get(line, "kind")));
    if (version != WC_LOG_VERSION || kind == WC_KIND_NONE)
        return damaged(trouble, "kind", "missing or not known");
    wc_record_begin(out, kind);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        value = json_object_get(line, keys[i]);
        *to[i] = json_integer_value(value);
        if ((!json_is_integer(value) && (value || to[i] != &out->cut)) || *to[i] == WC_NULL)
            return damaged(trouble, keys[i], "missing or not a number");
    }
    const struct wc_field *fields = wc_kind_fields(out->kind, &n);
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

void json_print_as(FILE *to, json_t *value, size_t flags) {
    json_dump_callback(value, put_json, to, JSON_INDENT(2) | JSON_ENSURE_ASCII | flags);
    putc('\n', to);
    json_decref(value);
}
