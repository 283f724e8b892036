/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <string.h>

static void set_usual(struct wc_record *r, const struct wc_field *f, const struct wc_usual *u) {
    void *value = (char *)&r->u + f->offset;
    const char *text = f->type == WC_FIELD_STR ? wc_usual_text(r, u) : NULL;
    int64_t number = u->value;

    switch (f->type) {
    case WC_FIELD_STR:
        memcpy(value, &text, sizeof(text));
        break;
    case WC_FIELD_INT:
        memcpy(value, &number, sizeof(number));
        break;
    default:
        memcpy(value, &u->value, sizeof(u->value)); /* an enum */
    }
}

void record_complete(struct wc_record *r, uint64_t there) {
    size_t n, rows;
    const struct wc_field *f = wc_kind_fields(r->kind, &n);
    const struct wc_usual *u = wc_usual_values(&rows);

    for (; rows > 0; rows--, u++)
        for (size_t i = 0; u->kind == r->kind && i < n; i++)
            if (f[i].offset == u->field && !(there >> i & 1))
                set_usual(r, &f[i], u);
}
