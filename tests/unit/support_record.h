/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills the fields of a record as the table of kinds has them, so that what is tested of all kinds
 * of record is tested of a new field at once.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_RECORD_H
#define WHICHCUDNN_TESTS_SUPPORT_RECORD_H

#include <string.h>

#include "whichcudnn/record.h"

/* A field takes the member of its type. */
struct sample {
    const char *text;
    int64_t number;
    bool flag;
    unsigned word; /* of an enumeration */
    struct wc_strings texts;
    struct wc_facts facts;
};

static inline void fill_field(struct wc_record *r, const struct wc_field *f,
                              const struct sample *s) {
    void *value = (char *)&r->u + f->offset;

    switch (f->type) {
    case WC_FIELD_STR:
        *(const char **)value = s->text;
        break;
    case WC_FIELD_INT:
        *(int64_t *)value = s->number;
        break;
    case WC_FIELD_BOOL:
        *(bool *)value = s->flag;
        break;
    case WC_FIELD_ENUM:
        memcpy(value, &s->word, sizeof(s->word));
        break;
    case WC_FIELD_STRS:
        *(struct wc_strings *)value = s->texts;
        break;
    case WC_FIELD_FACTS:
        *(struct wc_facts *)value = s->facts;
        break;
    }
}

/* How many words a field has to choose from; 1 where it is no enumeration. */
static inline unsigned words_of(const struct wc_field *f) {
    return f->type == WC_FIELD_ENUM ? wc_enum_count(f->enumeration) : 1;
}

#endif
