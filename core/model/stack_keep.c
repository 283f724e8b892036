/* SPDX-License-Identifier: Apache-2.0 */
/* Copies into the arena of a stack: see stack_keep.h. */
#include "stack_keep.h"

#include "core/base/hash.h"

#define FIRST_ROOM 8

/* Copies the texts of one record. */
struct keeper {
    struct wc_stack *s;
    bool failed; /* there was no memory for one */
};

#define SEEN_NEAR                                                                                  \
    4 /* places for one hash, so that two texts do not replace each other each time                \
       */
#define HASHED                                                                                     \
    48 /* bytes at its end, where paths differ; .cpython-311-x86_64-linux-gnu.so are 32 */

/* Most records repeat the same few paths: a copy with the same hash is used again if it is equal.
 */
static const char *keep_text(struct keeper *k, const char *text) {
    struct wc_texts *texts = &k->s->texts;
    const char **seen, *none = NULL;
    size_t n, at;

    if (!text || k->failed)
        return NULL;
    if (!texts->seen)
        texts->seen = wc_arena_take(texts->arena, texts->room * sizeof(*seen));
    n = wc_str_length(text);
    at = n > HASHED ? wc_hash_bytes(n, text + n - HASHED, HASHED) : wc_hash_bytes(n, text, n);
    seen = texts->seen ? &texts->seen[at % texts->room] : &none;
    for (size_t i = 1; i < SEEN_NEAR && *seen && !wc_str_same(*seen, text); i++)
        seen = &texts->seen[(at + i) % texts->room];
    if (wc_str_same(*seen, text))
        return *seen;
    k->s->kept += n + 1;
    text = k->s->kept > WC_STACK_TEXTS_MOST ? NULL : wc_arena_string_n(texts->arena, text, n);
    if (text)
        *seen = text;
    else
        k->failed = true;
    return text;
}

const char *wc_stack_keep_text(struct wc_stack *s, const char *text) {
    struct keeper k = {s, false};

    return keep_text(&k, text);
}

/* A list of n elements, each of which is as many pointers to text as `texts` says. */
static const void *keep_texts(struct keeper *k, const void *list, size_t n, size_t texts) {
    const char *const *from = list;
    const char **to;

    if (n == 0 || k->failed)
        return NULL;
    to = n <= WC_RECORD_MAX ? wc_arena_take(k->s->arena, n * texts * sizeof(*to)) : NULL;
    if (!to) {
        k->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < n * texts; i++)
        to[i] = keep_text(k, from[i]);
    return to;
}

static void keep_strings(struct keeper *k, struct wc_strings *list, const struct wc_strings *old) {
    bool same = old && old->n == list->n;

    for (size_t i = 0; same && i < list->n; i++)
        same = wc_str_same(old->p[i], list->p[i]);
    list->p = same ? old->p : keep_texts(k, list->p, list->n, 1);
}

bool wc_stack_keep(struct wc_stack *s, enum wc_kind kind, void *record, const void *old) {
    struct keeper k = {s, false};
    size_t n;
    const struct wc_field *f = wc_kind_fields(kind, &n);

    for (; n > 0; n--, f++) {
        void *value = (char *)record + f->offset;
        const void *before = old ? (const char *)old + f->offset : NULL;

        if (f->type == WC_FIELD_STR) {
            const char **text = value;
            bool same = before && wc_str_same(*(const char *const *)before, *text);
            *text = same ? *(const char *const *)before : keep_text(&k, *text);
        } else if (f->type == WC_FIELD_STRS) {
            keep_strings(&k, value, before);
        } else if (f->type == WC_FIELD_FACTS) {
            struct wc_facts *facts = value;
            facts->p = keep_texts(&k, facts->p, facts->n, 3);
            facts->typed = NULL;
        }
    }
    return !k.failed;
}

/* The old array stays in the arena unused; with doubling that is less than the new one. */
void *wc_stack_grow(struct wc_stack *s, void **p, size_t n, size_t *room, size_t size) {
    size_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *bigger;

    if (n >= WC_STACK_MOST)
        return NULL;
    if (n == *room) {
        bigger = wc_arena_take(s->arena, wanted * size);
        if (!bigger)
            return NULL;
        if (n)
            wc_mem_copy(bigger, *p, n * size);
        *p = bigger;
        *room = wanted;
    }
    wc_mem_set((char *)*p + n * size, 0, size);
    return (char *)*p + n * size;
}

static size_t room_for(size_t n) {
    size_t room = FIRST_ROOM;

    while (room < n)
        room *= 2;
    return room;
}

bool wc_has_text(const struct wc_strings *list, const char *text) {
    return WC_ANY(one, *list, wc_str_same(*one, text));
}

static bool add_text(struct wc_stack *s, struct wc_strings *list, const char *text) {
    struct keeper k = {s, false};
    const char **texts = (const char **)(uintptr_t)list->p;

    if (wc_has_text(list, text))
        return true;
    if (list->n >= WC_STACK_MOST)
        return false;
    if (list->n == 0 || room_for(list->n) < list->n + 1) {
        texts = wc_arena_take(s->arena, room_for(list->n + 1) * sizeof(*texts));
        if (!texts)
            return false;
        if (list->n)
            wc_mem_copy(texts, list->p, list->n * sizeof(*texts));
    }
    texts[list->n] = keep_text(&k, text);
    if (k.failed)
        return false;
    list->p = texts;
    list->n++;
    return true;
}

bool wc_stack_add_texts(struct wc_stack *s, struct wc_strings *to, const struct wc_strings *from) {
    bool all = true;

    for (size_t i = 0; i < from->n; i++)
        all = add_text(s, to, from->p[i]) && all;
    return all;
}
