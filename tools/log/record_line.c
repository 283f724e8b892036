/* SPDX-License-Identifier: Apache-2.0 */
/* See record_line.h. */
#include "record_line.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json_text.h"

#define FIELDS_MOST 64
#define KEY_MOST 40
#define DIGITS_MOST 18 /* surely in 63 bits */

struct reading {
    const char *p, *end;
    char *room;
    struct wc_arena *arena;
};

/* What stands before a value. */
struct key {
    char text[KEY_MOST];
    size_t n;
};
static struct key keys[WC_KINDS][FIELDS_MOST];

static bool make_key(struct key *key, const char *name) {
    size_t n = strlen(name);

    if (n + 5 > sizeof(key->text))
        return false;
    key->n = n + 4;
    memcpy(key->text, ",\"", 2);
    memcpy(key->text + 2, name, n);
    memcpy(key->text + 2 + n, "\":", 2);
    return true;
}

/* NULL: more than is known here. */
static const struct key *keys_of(enum wc_kind kind, const struct wc_field *fields, size_t n) {
    if (n == 0 || n > FIELDS_MOST)
        return NULL;
    for (size_t i = 0; keys[kind][n - 1].n == 0 && i < n; i++)
        if (!make_key(&keys[kind][i], fields[i].name))
            return NULL;
    return keys[kind];
}

static bool take(struct reading *in, const char *text, size_t n) {
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, text, n) != 0)
        return false;
    in->p += n;
    return true;
}
#define TAKE(in, literal) take(in, literal, sizeof(literal) - 1)

/* ---- texts ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind "\u": the writer spells control characters so, nothing else. 0: not that. */
static char control_character(const char *s) {
    int high, low;

    if (s[0] != '0' || s[1] != '0')
        return 0;
    high = hex_digit(s[2]);
    low = hex_digit(s[3]);
    return high >= 0 && high < 8 && low >= 0 ? (char)(high * 16 + low) : 0;
}

/* The character behind a backslash; *used: its bytes. 0: not the writer's. */
static char escaped(const struct reading *in, size_t *used) {
    *used = 2;
    if (in->end - in->p < 2)
        return 0;
    switch (in->p[1]) {
    case '"':
    case '\\':
        return in->p[1];
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'u':
        *used = 6;
        return in->end - in->p < 6 ? 0 : control_character(in->p + 2);
    default:
        return 0;
    }
}

static bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Eight bytes at once: all of them plain? Of each byte its highest bit tells. */
static bool all_plain(uint64_t v) {
    const uint64_t ones = 0x0101010101010101U, high = ones << 7;
    uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\', last = v ^ ones * 0x7F;

    return !((v | (v - ones * 0x20) | (quote - ones) | (backslash - ones) | (last - ones)) & high);
}

/* Copies what is spelled as it is: nearly all of any text. */
static void copy_plain(struct reading *in) {
    const char *p = in->p;
    uint64_t eight;

    for (; in->end - p >= 8; p += 8) {
        memcpy(&eight, p, 8);
        if (!all_plain(eight))
            break;
        memcpy(in->room + (p - in->p), &eight, 8);
    }
    for (; p < in->end && is_plain(*p); p++)
        in->room[p - in->p] = *p;
    in->room += p - in->p;
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
    size_t used;
    char c;

    if (!TAKE(in, "\""))
        return false;
    *out = in->room;
    for (;;) {
        copy_plain(in);
        if (in->p == in->end)
            return false;
        if (*in->p == '"')
            break;
        if (*in->p != '\\') {
            if (!copy_wide(in))
                return false;
            continue;
        }
        c = escaped(in, &used);
        if (!c)
            return false;
        *in->room++ = c;
        in->p += used;
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
        if (in->p - start == DIGITS_MOST)
            return false;
        v = v * 10 + (*in->p - '0');
    }
    if (in->p == start || (*start == '0' && (in->p - start > 1 || negative)))
        return false;
    *out = negative ? -v : v;
    return true;
}

static bool read_int(struct reading *in, int64_t *out) {
    *out = WC_NULL;
    return TAKE(in, "null") || read_number(in, out);
}

static bool read_bool(struct reading *in, bool *out) {
    *out = TAKE(in, "true");
    return *out || TAKE(in, "false");
}

static bool read_enum(struct reading *in, enum wc_enumeration e, void *out) {
    const char *word;
    unsigned v;

    if (!read_text(in, &word))
        return false;
    v = wc_enum_value(e, word);
    memcpy(out, &v, sizeof(v));
    return v > 0 || !word;
}

/* Makes room for the element n of a list, and for two more. */
static bool grow(struct wc_arena *arena, const char ***p, size_t n, size_t *room) {
    const char **bigger;

    if (n + 3 <= *room)
        return true;
    bigger = wc_arena_take(arena, (*room + 12) * 2 * sizeof(*bigger));
    if (bigger && n > 0)
        memcpy(bigger, *p, n * sizeof(*bigger));
    *room = (*room + 12) * 2;
    *p = bigger;
    return bigger != NULL;
}

static bool read_strings(struct reading *in, struct wc_strings *out) {
    const char **p = NULL;
    size_t n = 0, room = 0;

    if (!TAKE(in, "["))
        return false;
    while (!TAKE(in, "]")) {
        if ((n > 0 && !TAKE(in, ",")) || !grow(in->arena, &p, n, &room) || !read_string(in, &p[n]))
            return false;
        n++;
    }
    *out = (struct wc_strings){p, n};
    return true;
}

static bool read_triple(struct reading *in, const char *const members[3], const char **out) {
    for (int i = 0; i < 3; i++)
        if (!take(in, members[i], strlen(members[i])) || !read_text(in, &out[i]))
            return false;
    return TAKE(in, "}");
}

static bool read_triples(struct reading *in, const char *const members[3], const void **out,
                         size_t *count) {
    const char **p = NULL;
    size_t n = 0, room = 0;

    if (!TAKE(in, "["))
        return false;
    while (!TAKE(in, "]")) {
        if ((n > 0 && !TAKE(in, ",")) || !grow(in->arena, &p, n, &room) ||
            !read_triple(in, members, p + n))
            return false;
        n += 3;
    }
    *out = p;
    *count = n / 3;
    return true;
}

static bool read_value(struct reading *in, const struct wc_field *f, void *out) {
    static const char *const fact_members[] = {"{\"name\":", ",\"value\":", ",\"source\":"};
    static const char *const fix_members[] = {"{\"action\":", ",\"text\":", ",\"command\":"};
    struct wc_facts *facts = out;
    struct wc_fixes *fixes = out;
    const void *p = NULL;
    bool good;

    switch (f->type) {
    case WC_FIELD_STR:
        return read_text(in, out);
    case WC_FIELD_INT:
        return read_int(in, out);
    case WC_FIELD_BOOL:
        return read_bool(in, out);
    case WC_FIELD_STRS:
        return read_strings(in, out);
    case WC_FIELD_ENUM:
        return read_enum(in, f->enumeration, out);
    case WC_FIELD_FACTS:
        good = read_triples(in, fact_members, &p, &facts->n);
        facts->p = p;
        return good;
    case WC_FIELD_FIXES:
        good = read_triples(in, fix_members, &p, &fixes->n);
        fixes->p = p;
        return good;
    }
    return false;
}

static bool read_head(struct reading *in, struct wc_record *out) {
    static const char *const members[] = {
        ",\"time\":", ",\"seq\":", ",\"pid\":", ",\"tid\":", ",\"cut\":"};
    int64_t *to[] = {&out->time, &out->seq, &out->pid, &out->tid, &out->cut};
    const char *word;
    int64_t v;

    if (!TAKE(in, "{\"v\":") || !read_number(in, &v) || v != WC_LOG_VERSION ||
        !TAKE(in, ",\"kind\":") || !read_string(in, &word))
        return false;
    out->kind = wc_kind_from_name(word);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (!take(in, members[i], strlen(members[i])) || !read_number(in, to[i]))
            return false;
    return out->kind != WC_KIND_NONE;
}

bool record_from_line(const char *line, size_t n, char *room, struct wc_arena *arena,
                      struct wc_record *out) {
    struct reading in = {line, line + n, room, arena};
    const struct wc_field *fields;
    const struct key *key;
    size_t count;

    if (!read_head(&in, out))
        return false;
    fields = wc_kind_fields(out->kind, &count);
    key = keys_of(out->kind, fields, count);
    for (size_t i = 0; key && i < count; i++)
        if (!take(&in, key[i].text, key[i].n) ||
            !read_value(&in, &fields[i], (char *)&out->u + fields[i].offset))
            return false;
    return key && TAKE(&in, "}") && in.p == in.end;
}
