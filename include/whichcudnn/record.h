/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record of the log: structs made from record.def, and the writer of its JSON line. The shim
 * writes them; the command reads them back with jansson through the same table.
 */
#pragma once

#include "core/base/base.h"

#define WC_LOG_VERSION 4
#define WC_RECORD_MAX 16384 /* bytes of a line with its newline */
#define WC_NULL INT64_MIN   /* an INT that is not known */

/* Macros that hold half a brace. */
/* clang-format off */
#define ENUM(t) enum wc_##t {
#define VALUE(t, id, word) WC_##t##_##id,
#define END_ENUM(t) WC_##t##_COUNT };
#include "enums.def"
/* Usage: WC_role_FACADE, WC_severity_ERROR. */

enum wc_enumeration {
#define ENUM(t) WC_ENUM_##t,
#define VALUE(t, id, word)
#define END_ENUM(t)
#include "enums.def"
    WC_ENUMERATIONS,
    WC_ENUM_none = 0 /* of a field that is not an enumeration */
};

struct wc_strings {
    const char *const *p;
    size_t n;
};
struct wc_fact {
    const char *name, *value, *source; /* source: "slot", "link map", "data symbol", ... */
};
struct wc_facts {
    const struct wc_fact *p;
    size_t n;
    const struct wc_typed_fact *typed; /* one for each; NULL: the facts were read from a log */
};

enum wc_kind {
    WC_KIND_NONE,
#define KIND(k, doc) WC_KIND_##k,
#define END_KIND(k)
#include "record.def"
    WC_KINDS
};

#define KIND(k, doc) struct wc_##k##_record {
#define FIELD(k, type, n, doc, t) WC_C_##type(t) n;
#define WC_C_STR(t) const char *
#define WC_C_INT(t) int64_t
#define WC_C_BOOL(t) bool
#define WC_C_STRS(t) struct wc_strings
#define WC_C_ENUM(t) enum wc_##t
#define WC_C_FACTS(t) struct wc_facts
#define END_KIND(k) };
#include "record.def"

struct wc_record {
    enum wc_kind kind;
    int64_t time; /* microseconds since the epoch */
    int64_t seq;  /* 1, 2, ... in this file */
    int64_t pid, tid;
    int64_t cut; /* list elements and bytes of text that were left out; the writer counts them */
    union {
#define KIND(k, doc) struct wc_##k##_record k;
#define END_KIND(k)
#include "record.def"
    } u;
};

/* clang-format on */

/* An empty record: all INT are WC_NULL, everything else NULL, false, empty. */
void wc_record_begin(struct wc_record *r, enum wc_kind kind);

/* Where records go. add() fills in the head: time, seq, pid, tid. */
struct wc_sink {
    void (*add)(void *ctx, struct wc_record *r);
    void *ctx;
};

enum wc_field_type {
    WC_FIELD_STR,
    WC_FIELD_INT,
    WC_FIELD_BOOL,
    WC_FIELD_STRS,
    WC_FIELD_ENUM,
    WC_FIELD_FACTS
};
struct wc_field {
    const char *name;
    uint16_t offset;     /* in its kind's struct */
    uint8_t type;        /* enum wc_field_type */
    uint8_t enumeration; /* of an ENUM: enum wc_enumeration */
};
/* The fields of a kind in the order of record.def; *n: how many. */
const struct wc_field *wc_kind_fields(enum wc_kind kind, size_t *n);
const char *wc_kind_name(enum wc_kind kind);

/* Null, false or an empty list: a line leaves it out. */
bool wc_field_is_empty(const struct wc_record *r, const struct wc_field *f);

enum wc_kind wc_kind_from_name(const char *name); /* NONE if unknown */
/* Word of a value; NULL for the first value (unknown) and for values out of range. */
const char *wc_enum_word(enum wc_enumeration e, unsigned value);
/* All words, the first ("unknown") included. */
unsigned wc_enum_count(enum wc_enumeration e);
const char *wc_enum_word_raw(enum wc_enumeration e, unsigned value);
/* Value of a word; 0 (unknown) if it is none. */
unsigned wc_enum_value(enum wc_enumeration e, const char *word);

/*
 * Writes the JSON line with its newline, without empty values. cap at least 1024. Lists and long
 * texts are cut so that the line fits into min(cap, WC_RECORD_MAX); its key `cut` says by how much.
 * Invalid UTF-8 becomes U+FFFD; control characters are escaped. Returns the bytes of the line,
 * which is never partial JSON; 0: kind unknown. The rest of `out` is undefined.
 */
size_t wc_record_write(const struct wc_record *r, char *out, size_t cap);
