/* SPDX-License-Identifier: Apache-2.0 */
#include "template.h"

#include <string.h>

const char *template_filled(struct wc_arena *memory, const char *text,
                            const char *(*value)(void *ctx, const char *word), void *ctx) {
    const char *made = "";

    while (made && *text) {
        const size_t n = strcspn(text, "{"), place = text[n] ? strcspn(text + n, "}") : 0;
        const char *word = place ? wc_arena_string_n(memory, text + n + 1, place - 1) : NULL;
        const char *others = word ? strchr(word, '|') : NULL, *found = "";
        if (others)
            word = wc_arena_string_n(memory, word, (size_t)(others - word));
        if (word)
            found = value(ctx, word) ?: others ? others + 1 : NULL;
        made = found ? wc_arena_format(memory, "%s%.*s%s", made, (int)n, text, found) : NULL;
        text += n + place + (place > 0);
    }
    return made;
}
