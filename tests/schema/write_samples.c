/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes three records of every kind with the shim's own writer: nothing known, everything known,
 * and everything known but far too long. Driven by the table, so a new field is in them at once.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/support_record.h"

#define LONG_TEXT 20000
#define LONG_LIST 3000

static char long_text[LONG_TEXT + 1];
static const char *texts[LONG_LIST];
static struct wc_fact facts[LONG_LIST];

static void fill_tables(const char *text) {
    for (size_t i = 0; i < LONG_LIST; i++) {
        texts[i] = text;
        facts[i] = (struct wc_fact){text, text, text};
    }
}

static bool print_record(enum wc_kind kind, const char *text, size_t n) {
    static int64_t seq;
    char line[WC_RECORD_MAX];
    struct wc_record r;
    size_t fields, length;
    const struct wc_field *f = wc_kind_fields(kind, &fields);

    wc_record_begin(&r, kind);
    r.time = 1700000000000000;
    r.seq = ++seq;
    r.pid = r.tid = 4711;
    for (size_t i = 0; text && i < fields; i++) {
        const struct sample s = {.text = text,
                                 .number = INT64_MAX,
                                 .flag = true,
                                 .word = words_of(&f[i]) - 1,
                                 .texts = {texts, n},
                                 .facts = {.p = facts, .n = n}};
        fill_field(&r, &f[i], &s);
    }
    length = wc_record_write(&r, line, sizeof(line));
    return length > 0 && fwrite(line, 1, length, stdout) == length;
}

int main(void) {
    bool good = true;

    memset(long_text, '\\', LONG_TEXT);
    for (unsigned kind = WC_KIND_NONE + 1; kind < WC_KINDS; kind++) {
        good = print_record(kind, NULL, 0) && good;
        fill_tables("a\"b\\c\x01\xFF\n\xC3\xA9");
        good = print_record(kind, texts[0], 2) && good;
        fill_tables(long_text);
        good = print_record(kind, long_text, LONG_LIST) && good;
    }
    return !good;
}
