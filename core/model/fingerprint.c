/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fingerprint of a process (wc_stack_fingerprint). It is a sum over the entries, because the
 * order in which threads load objects and bind slots does not matter. An entry counts once, however
 * often it was unloaded and loaded again.
 */
#include "stack.h"

static uint64_t mix(uint64_t h, const char *text) {
    size_t n = text ? wc_str_length(text) : 0;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 0x100000001B3U;
    /* An end mark that no text contains: "ab" "c" differs from "a" "bc", NULL from "". */
    return (h ^ (text ? 0x100U : 0x200U)) * 0x100000001B3U;
}

/* What the object is, without its directory. */
static uint64_t object_mark(const struct wc_object *o) {
    const char *path = wc_real_path_of(o);
    uint64_t h = 0xCBF29CE484222325U;

    h = mix(h, wc_enum_word(WC_ENUM_role, o->r.role));
    h = mix(h, o->r.part);
    h = mix(h, path ? wc_base_name(path) : o->r.soname);
    h = mix(h, o->r.soname);
    h = mix(h, o->r.version);
    h = mix(h, o->r.build_id);
    h = mix(h, o->r.installation);
    h = mix(h, o->r.installation_version);
    return (h ^ h >> 29) * 0xBF58476D1CE4E5B9U;
}

static bool counted_before(const struct wc_stack *s, size_t object) {
    const struct wc_object *o = &s->objects.p[object];

    for (const struct wc_object *e = s->objects.p; e < o; e++)
        if (e->r.role == o->r.role && wc_str_same(wc_real_path_of(e), wc_real_path_of(o)) &&
            object_mark(e) == object_mark(o))
            return true;
    return false;
}

static uint64_t end_mark(const struct wc_stack *s, int64_t object, const char *path) {
    const struct wc_object *o = wc_stack_object(s, object);

    return o ? object_mark(o) : mix(0, path ? wc_base_name(path) : NULL);
}

/* Only host and target count, not how the binding was made. */
static uint64_t binding_mark(const struct wc_stack *s, const struct wc_binding_record *b) {
    uint64_t host = end_mark(s, b->host, b->host_path);

    return (host ^ (end_mark(s, b->target, b->target_path) * 3)) * 0x9E3779B97F4A7C15U;
}

static bool bound_before(const struct wc_stack *s, size_t binding) {
    const struct wc_binding_record *b = &s->bindings.p[binding].r;

    for (size_t i = 0; i < binding; i++) {
        const struct wc_binding_record *e = &s->bindings.p[i].r;
        if (wc_str_same(e->host_path, b->host_path) &&
            wc_str_same(e->target_path, b->target_path) && binding_mark(s, e) == binding_mark(s, b))
            return true;
    }
    return false;
}

void wc_stack_fingerprint(const struct wc_stack *s, char out[17]) {
    static const char hex[] = "0123456789abcdef";
    uint64_t sum = 0;

    for (size_t i = 0; i < s->objects.n; i++)
        if (s->objects.p[i].r.role != WC_role_OTHER && !counted_before(s, i))
            sum += object_mark(&s->objects.p[i]);
    for (size_t i = 0; i < s->bindings.n; i++)
        if (s->bindings.p[i].r.target != WC_NULL && !bound_before(s, i))
            sum += binding_mark(s, &s->bindings.p[i].r);
    for (size_t i = 0; i < 16; i++)
        out[i] = hex[sum >> (60 - 4 * i) & 15];
    out[16] = '\0';
}
